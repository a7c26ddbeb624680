"""Translate yes/no questions in English into claims about the rules that the engine can decide. A question is
first simplified (`plain_words`), then put into a mood (can, do, must, is). The result has to match a complete
pattern of `question_claims.txt`. A question that matches none is not understood, and skipped: better to leave
out two questions than to misread one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from .rule_claims import COMPARISONS, RuleClaim

# -- few words ---------------------------------------------------------------------------------

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
WORD_LISTS = msgspec.yaml.decode(Path(__file__).with_name("words.yaml").read_bytes())
"""Synonyms, from `words.yaml`."""
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
    """A simplified question: one word for each thing and each action, without filler words.

    "Is it possible for the Guard to save himself during the night round?" → "can guard protect self @night".
    Only words listed here and in `words.yaml` are dropped. An unknown word stays, so that the question is not
    understood.
    """
    text = unicodedata.normalize("NFKC", question).casefold()
    for pattern, instead in _SPELLING:
        text = re.sub(pattern, instead, text)
    text = " ".join(_WORDS.get(word, word) for word in text.split())
    for pattern, instead in _PHRASES:
        text = " ".join(re.sub(pattern, instead, text).split())
    return text


# -- claims -------------------------------------------------------------------------------------


class ClaimAsked(NamedTuple):
    """The claim of a question. positive: whether Yes means that the claim holds."""

    claim: RuleClaim
    positive: bool


_NAMES = {
    **{
        name.casefold(): name
        for name in ("Villager", "Seer", "Guard", "Sheriff", "Witch", "Hunter", "Doctor")
    },
    **dict.fromkeys(("wolf", "allwolf"), "Werewolf"),
    "allvillager": "Villager",
    **dict.fromkeys(("everyone", "someone"), "player"),
    "night1": "night 1",
}
"""Words of a question → their names in claims; other words are unchanged."""

_CAN = "able|allowed|permitted|eligible|free"
_CANNOT = "unable|not able|not allowed|not permitted|forbidden|prohibited|banned|barred|excluded"
_MUST = "required|obliged|obligated|forced|compelled"
_SUBJECT = (
    "wolf|village|villager|seer guard and villager|game|that player|player be|announcement|moderator|it"
)
_MOODS: tuple[tuple[str, str, bool], ...] = (
    (r"is it (?:possible|allowed|permitted|legal) for (.+?) to (.+)", r"can \1 \2", True),
    (r"is it possible that (.+?) is (.+)", r"can \1 be \2", True),
    (r"is it possible that (.+)", r"can \1", True),
    (rf"is it (?:impossible|{_CANNOT}|against rules) for (.+?) to (.+)", r"can \1 \2", False),
    (rf"is (.+?) (?:{_CAN}) to (.+)", r"can \1 \2", True),
    (rf"is (.+?) (?:{_CANNOT}) from (?:voting|vote)(.*)", r"can \1 vote\2", False),
    (rf"is (.+?) (?:{_CANNOT}) (?:to|from) (.+)", r"can \1 \2", False),
    (r"do (.+?) have (?:special )?(?:power|right|option|opportunity|chance) to (.+)", r"can \1 \2", True),
    (rf"is (.+?) (?:{_MUST}) to (.+)", r"must \1 \2", True),
    (r"do (.+?) (?:have|need) to (.+)", r"must \1 \2", True),
    (r"is it (?:mandatory|compulsory|obligatory|necessary) for (.+?) to (.+)", r"must \1 \2", True),
    (r"with (.+) (?:left|remaining) ((?:do|have|is) .+)", r"\2 if \1 left", True),
    (rf"if (.+?)(?: then)? ((?:do|have|is) (?:{_SUBJECT}) .+)", r"\2 if \1", True),
)


_LONGEST = 300
"""The most characters of a question; longer ones are about a situation."""


def claim_asked(question: str) -> ClaimAsked | None:
    """The claim of a yes/no question, by its first reading; None if it is not understood."""
    return next(readings(question), None)


def readings(question: str) -> Iterator[ClaimAsked]:
    """The claims of a question by each matching pattern, in their order."""
    if len(question) > _LONGEST:
        return
    for text, positive in _moods(plain_words(question)):
        for pattern, says in patterns():
            found = pattern.fullmatch(text)
            if found is not None:
                sense, *words = says
                yield ClaimAsked(rule_claim(words, found.groupdict()), positive == (sense == "yes"))


def _moods(text: str) -> Iterator[tuple[str, bool]]:
    """The question in other moods, each with whether that keeps its meaning; the unchanged question is
    last.
    """
    for pattern, instead, positive in _MOODS:
        found = re.fullmatch(pattern, text)
        if found is not None:
            yield found.expand(instead), positive
    yield text, True


def rule_claim(words: Sequence[str], found: Mapping[str, str | None]) -> RuleClaim:
    """A claim: a fact, its arguments, and perhaps a comparison.

    words: as `question_claims.txt` has them. {name} is the pattern's group of that name, _ a space.
    """

    def filled(word: str) -> str | int:
        if word.startswith("{"):
            word = found[word.strip("{}")] or ""
            word = _NAMES.get(word, word)
        return int(word) if word.isdecimal() else word.replace("_", " ")

    fact, *more = words
    at = next((k for k, word in enumerate(more) if word in COMPARISONS), len(more))
    about, said = tuple(map(filled, more[:at])), tuple(map(filled, more[at + 1 :]))
    return RuleClaim(fact, about, "".join(more[at : at + 1]), said)


@cache
def patterns() -> tuple[tuple[re.Pattern[str], list[str]], ...]:
    """The patterns, each with the words of its claim: its polarity, its fact, its comparison."""
    text = Path(__file__).with_name("question_claims.txt").read_text(encoding="utf-8")
    macros: dict[str, str] = {}
    patterns: list[tuple[re.Pattern[str], list[str]]] = []
    waiting: list[re.Pattern[str]] = []
    for line in text.splitlines():
        if line.startswith(("yes ", "no ")):
            patterns += ((pattern, line.split()) for pattern in waiting)
            waiting = []
        elif line and not line.startswith("#"):
            for macro, choices in macros.items():
                line = line.replace(macro, choices)
            name, defines, choices = line.partition(" := ")
            if defines:
                macros[f"<{name}>"] = choices
            else:
                waiting.append(re.compile(line))
    assert not waiting, f"question_claims.txt: {waiting[0].pattern} claims nothing"
    return tuple(patterns)
