"""A question in few words: one word for each thing and each deed, and none for what carries no meaning.

"Is it possible for the Guard to save himself during the night round?" → "can guard protect self @night".
Nothing is dropped but what is listed here. A word that is not known stays, and keeps the question from being
understood (`mapping`).
"""

from __future__ import annotations

import re
import unicodedata

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_SYNONYMS = {
    "wolf": "werewolf werewolves wolves wolf",
    "villager": "villagers",
    "seer": "seers",
    "guard": "guards bodyguard",
    "sheriff": "sheriffs",
    "moderator": "host",
    "player": "players participant participants",
    "self": "themselves themself himself herself itself oneself",
    "protect": "protects protecting save saves saving shield shields shielding defend defends",
    "protected": "saved shielded defended",
    "see": "check checks checking investigate investigates investigating verify verifies verifying inspect "
    "inspects examine examines",
    "seen": "checked investigated verified inspected examined",
    "kill": "kills killing attack attacks attacking murder murders",
    "killed": "attacked murdered slain",
    "eliminate": "eliminates eliminating remove removes removing",
    "eliminated": "removed",
    "choose": "chooses choosing select selects selecting pick picks picking",
    "chosen": "selected picked chose",
    "vote": "votes",
    "speak": "speaks talk talks talking speaking",
    "know": "knows knowing",
    "learn": "learns",
    "win": "wins",
    "become": "becomes",
    "end": "ends stop stops over",
    "announce": "announces reveal reveals disclose discloses",
    "announced": "disclosed revealed",
    "act": "acts",
    "die": "dies",
    "begin": "begins start starts beginning",
    "role": "roles identity identities",
    "power": "ability abilities powers",
    "have": "has",
    "do": "does did will would",
    "can": "could may might",
    "must": "should",
    "is": "are was were",
    "decide": "decides determine determines",
    "everyone": "everybody",
    "phase": "phases",
    "round": "rounds",
    "result": "results findings outcome",
    "target": "targets victim victims",
    "if": "when once",
    "abstain": "abstaining",
    "fewest": "least lowest",
    "exact": "precise",
    "side": "team camp sides",
}
_WORDS = {word: head for head, words in _SYNONYMS.items() for word in words.split()}
_WORDS |= {word: str(n) for n, word in enumerate(_NUMBERS.split())}

_SPELLING = (
    (r"n['’]t\b", " not"),
    (r"\bcannot\b", "can not"),
    (r"\b(no one|no player|nobody)\b", "nobody"),
    (r"\bat once\b", "at the same time"),
    (r"\bas soon as\b|\bthe moment\b", "if"),
    (r"(?<=speak|peaks) once\b", " one time"),
    (r"\btwice\b|\bmore than once\b|\bseveral times\b", "2 time"),
    (r"(?<=s)['’](?= )|['’]s\b", " of_"),
    (r"[^\w\s@]", " "),
)
_ROUND = r"( round| phase)?"
_PHRASES = (
    (r"\b(the|a|an|their|his|her|its|very|also|ever|still|any|successfully|simply|actually)\b", ""),
    (r"\bplayer_i\b", "player"),
    (r"\b(at|from|before) begin( of game)?\b", "@start"),
    (r"\b(in|of|during|for|to|from|by) (this )?(version of )?(wolf )?game( of wolf)?\b", ""),
    (r"\baccording to (game )?rules\b|\bin total\b", ""),
    (r"\bwolf game\b", "game"),
    (r"\b(remaining|living|alive|surviving|other|another|ordinary) (?=player|villager|wolf)", ""),
    (r"\b(everyone|each|every|all) (of )?(7 )?player\b", "everyone"),
    (r"\b(dead|eliminated|killed) player\b|\bplayer who (is|have been) (dead|eliminated|killed)\b", "dead"),
    (r"\b(both|all) (2 )?(of )?wolf\b", "allwolf"),
    (r"\b(all|every) (3 )?villager\b", "allvillager"),
    (r"\bmore than 1|\bseveral|\bmultiple\b", "2 or_more"),
    (rf"\b(on|during|in|at) first night{_ROUND}\b", "@night1"),
    (rf"\b(at|during|in|on) ((each|every|1|single|same|given|that) )*night{_ROUND}\b", "@night"),
    (rf"\b(each|every|per) night{_ROUND}\b|\bovernight\b", "@night"),
    (rf"\b(on|during|in) first day{_ROUND}\b", "@day1"),
    (rf"\b(on|during|in) second day{_ROUND}\b", "@day2"),
    (rf"\b(on|during|in) third day{_ROUND}\b", "@day3"),
    (rf"\b(on )?(each|every) day{_ROUND}\b", "@everyday"),
    (rf"\b(at|during|in|by) (following |next |normal )?(day|daytime){_ROUND}\b", "@day"),
    (r"\b(discussion|announcement|voting|election) phase\b", r"\1"),
    (r"\b(in|during) ((1|single|same|given|each) )*(discussion|announcement|voting|election)\b", r"@\4"),
    (r"\b(of|for) sheriff election\b|\bsheriff election\b|\belection (for|of) sheriff\b", "election"),
    (r"\bin @?election\b", "@election"),
)


def plain_words(question: str) -> str:
    """See the module."""
    text = unicodedata.normalize("NFKC", question).casefold()
    for pattern, instead in _SPELLING:
        text = re.sub(pattern, instead, text)
    text = " ".join(_WORDS.get(word, word) for word in text.split())
    for pattern, instead in _PHRASES:
        text = " ".join(re.sub(pattern, instead, text).split())
    return text
