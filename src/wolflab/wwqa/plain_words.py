"""A question in few words: one word for each thing and each deed, and none for what carries no meaning.

"Is it possible for the Guard to save himself during the night round?" → "can guard protect self @night".
Nothing is dropped but what is listed here and in `words.yaml`. A word that is not known stays, and keeps the
question from being understood (`mapping`).
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import msgspec

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
WORD_LISTS = msgspec.yaml.decode(Path(__file__).with_name("words.yaml").read_bytes())
"""Words that stand for one another: the file tells which."""
_WORDS = {word: head for head, words in WORD_LISTS["synonyms"].items() for word in words.split()}
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
