"""Read a reply to a question: its answer, and whether that is right. A reply is read from its beginning,
after its thoughts, by the kind of answer that was asked for; an ambiguous one is unreadable. This file and
`thoughts.py` need only Python: they are exported with questions, so that other programs read replies in the
same way.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

if __name__.startswith("wolflab."):
    from ..text.replies.thoughts import without_thoughts
else:  # in an export the other file lies beside this copy
    import runpy
    from pathlib import Path

    without_thoughts = runpy.run_path(str(Path(__file__).with_name("thoughts.py")))["without_thoughts"]

LETTERS = "ABCDEFGHIJKLMNOP"
"""The options' letters, in order."""


class Reading(NamedTuple):
    """said: the answer in the form that all spellings of it share; "" where none could be read. right: it is
    the item's. readable: it was read and not drawn by lot.
    """

    said: str
    right: bool
    readable: bool = True


UNREADABLE = Reading("", False, False)

_TEX = re.compile(r"\\(?:boxed|text|textbf|mathrm)\s*\{")
_LEAD = re.compile(
    r"[\W_]*+(?:(?>(?:(?:the|my|final|correct|short|best)\W++)*)answer\b[\W_]*+"
    r"(?:(?:is|would be)\b[\W_]*+)?)?",
    re.IGNORECASE,
)
_YES_NO = re.compile(r"(?>(?:a\W++)?)(yes|no)\b(?!\s*(?:/|,?\s*or\b)\s*(?:yes|no)\b)", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|neither|nor|cannot)\b|n['’]t\b", re.IGNORECASE)


def read_reply(
    reply: str,
    answer: str,
    form: str = "yes_no",
    choices: Sequence[str] = (),
    answer_type: str = "text",
    words: Mapping[str, str] | None = None,
) -> Reading:
    """The answer in a reply, and whether it is right. answer, form, choices, answer_type: the item's. words:
    for open answers that are a side or a role, each word (in lower case) and its meaning.
    """
    whole = _without_thoughts(reply)
    if form == "open" and answer_type in ("exact", "json"):
        read = _exact if answer_type == "exact" else _object
        said = read(whole)
        return Reading(said, said == read(answer)) if said else UNREADABLE
    text = whole[_end(_LEAD, whole) :].rstrip()
    if form == "yes_no":
        said = _yes_no(text)
    elif form == "choice":
        said = _choice(choices, text)
    else:
        said = _open(text, answer_type, words or {})
    if not said:
        return UNREADABLE
    if form != "open":
        return Reading(said, said == answer)
    right = _open(answer, answer_type, words or {})
    return Reading(said, said == right or normal_form(said) == normal_form(answer))


def normal_form(text: str) -> str:
    """A text for comparison: letters and digits in one case and one spelling, separated by single spaces."""
    return _exact(unicodedata.normalize("NFKC", text).casefold())


def _without_thoughts(reply: str) -> str:
    """The reply after its thoughts; "" where it only thinks."""
    text: str = without_thoughts(unicodedata.normalize("NFKC", _TEX.sub(" ", reply))).text
    return text


def _end(pattern: re.Pattern[str], text: str, at: int = 0) -> int:
    """The end of a pattern's match at a place; the place itself without a match."""
    found = pattern.match(text, at)
    return found.end() if found else at


def _yes_no(text: str) -> str:
    found = _YES_NO.match(text)
    return found[1].capitalize() if found else ""


# -- choices ----------------------------------------------------------------------------------


def _choice(choices: Sequence[str], text: str) -> str:
    """The option whose letter or text the reply begins with, else the only one that begins with the reply."""
    letters = LETTERS[: len(choices)]
    found = re.match(rf"((?:option|choice|letter)?[\W_]*+)([{letters}])(?![\w'’])", text, re.IGNORECASE)
    if found and _is_letter(found, text):
        if re.match(rf"[\s)\].*]*+(?:,|/|&|and\b|or\b)\s*+[(\[]?[{letters}]\b", text[found.end() :]):
            return ""  # two of them
        return choices[letters.index(found[2].upper())]
    said = normal_form(text) + " "
    whole = [choice for choice in choices if said.startswith(normal_form(choice) + " ")]
    begun = [choice for choice in choices if text and f"{normal_form(choice)} ".startswith(said)]
    return max(whole, key=len, default="") or (begun[0] if len(begun) == 1 else "")


def _is_letter(found: re.Match[str], text: str) -> bool:
    """Whether a single letter names an option; "A" and "I" are words, and so are lower-case letters."""
    alone = re.match(r"\s*+(?:[).:\],;*}–-]|\Z|\n)", text[found.end() :]) is not None
    return alone or bool(found[1]) or (found[2].isupper() and found[2] not in "AI")


# -- open answers -----------------------------------------------------------------------------

_NOBODY = re.compile(r"(?:nobody|no[ -]?one|no players?|none|not any(?:one|body))\b", re.IGNORECASE)
_ITEM = re.compile(r"(?<!\s)(\A|[^\S\n]*+\n)\s*+(?:[-*•]|\d{1,2}[.)])[^\S\n]++(?=[^\d\n])")
"""The mark of a list's item, with the blank lines before it (which are scanned only once)."""
_MARKS = str.maketrans("", "", '*`"“”[]{}()')
_NAMED = re.compile(r"(?:players?|seats?|numbers?|p)[\s_#-]*+(\d{1,3})\b", re.IGNORECASE)
_PLAYER = re.compile(rf"{_NAMED.pattern}|#?(\d{{1,3}})\b", re.IGNORECASE)
_AND = re.compile(
    r"[^\S\n]*+(?:,|;|&|/|->|→|>|\band\b|\bthen\b|\n)(?>(?:\s|,|\band\b|\bthen\b)*)", re.IGNORECASE
)
_CLAUSE = re.compile(r"(?>(?:(?!\b(?:because|since|as)\b)[^,.;:\n])*)", re.IGNORECASE)
"""A clause: up to a full stop, or to a reason."""
_OR = re.compile(r"\s*+,?\s*+or\b", re.IGNORECASE)
_COUNTED = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty
"""
_NUMBERS = _COUNTED.split()
_NUMBER = re.compile(rf"(?<![\w.,-])(\d++|{'|'.join(_NUMBERS)})\b(?![.,]?\d)", re.IGNORECASE)
_RANGE = re.compile(r"\s*+(?:or|to|-|–|/)\s*+(?:\d|" + "|".join(_NUMBERS) + ")", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|an?)\s++", re.IGNORECASE)


def _open(text: str, kind: str, words: Mapping[str, str]) -> str:
    """An open answer in a normal form; "" if it cannot be read."""
    if kind == "text":
        return text.strip().partition("\n")[0].strip()
    if kind == "words":
        return _last_named(text)
    text = _ITEM.sub(r"\1", text.translate(_MARKS)).strip()
    if _NOBODY.match(text):
        return "0" if kind == "number" else "nobody"
    if kind == "number":
        return _number(text)
    if kind in ("side", "role"):
        return _thing(text.partition("\n")[0], words)
    seats = _players(text)
    if kind == "player" and len(set(seats)) != 1:
        return ""
    kept = seats if kind == "order" else sorted(set(seats))
    return ", ".join(f"player_{seat}" for seat in kept)


def _number(text: str) -> str:
    """The number that the reply begins with, else the only one of its first sentence."""
    sentence = re.split(r"\n|[.!?](?:\s|$)", text, maxsplit=1)[0]
    found = list(_NUMBER.finditer(sentence))
    first = found[0] if found else None
    if first is None or _RANGE.match(sentence, first.end()) or (first.start() and len(found) > 1):
        return ""
    word = first[1].casefold()
    return str(_NUMBERS.index(word) if word in _NUMBERS else int(word[:18]))


def _players(text: str) -> tuple[int, ...]:
    """The list of players that the reply begins with, else the only one of its first line.

    None if other players follow in the same clause: "player_1 protects player_2" names none of them.
    """
    seats, end = _listed(text, 0)
    if seats:
        clause = _CLAUSE.match(text, end)
        others = clause and {int(one[1]) for one in _NAMED.finditer(clause[0])} - set(seats)
        return () if others or _OR.match(text, end) else seats
    line = text.partition("\n")[0]
    named = list(_NAMED.finditer(line))
    if not named or _NOT.search(line, 0, named[0].start()):
        return ()
    seats, end = _listed(line, named[0].start())
    whole = {int(one[1]) for one in named} <= set(seats)
    return seats if whole and not _OR.match(line, end) else ()


def _listed(text: str, at: int) -> tuple[tuple[int, ...], int]:
    """The players of a list that begins at a place, and its end."""
    seats: list[int] = []
    end = at
    while found := _PLAYER.match(text, at):
        seats.append(int(found[1] or found[2]))
        end = found.end()
        at = _end(_AND, text, end)
        if at == end:
            break
    return tuple(seats), end


def _thing(line: str, words: Mapping[str, str]) -> str:
    """The side or the role that a line begins with, else the only one in it."""
    one_of = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    named = list(re.finditer(rf"\b(?:{one_of})\b", line, re.IGNORECASE))
    if not named:
        return ""
    things = {words[one[0].casefold()] for one in named}
    if named[0].start() == _end(_ARTICLE, line):
        return "" if len(things) > 1 and _OR.match(line, named[0].end()) else words[named[0][0].casefold()]
    return things.pop() if len(things) == 1 and not _NOT.search(line, 0, named[0].start()) else ""


# -- answers in words, and in a form that was asked for ---------------------------------------

_NAMING = re.compile(r".*(?:\b(?:is|are)\b|:)")
"""An introduction of words in a sentence: "The third word is", "In reverse order:"."""
_FENCE = re.compile(r"\s*```\w*\n(.*)```\s*", re.DOTALL)


def _last_named(text: str) -> str:
    """The words of the first line, or those that it names at its end."""
    line = text.strip().partition("\n")[0]
    return normal_form(line[_end(_NAMING, line) :]) or normal_form(line)


def _exact(text: str) -> str:
    """Letters and digits unchanged, separated by single spaces; punctuation does not count."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text).split())


def _object(text: str) -> str:
    """The text's JSON object in one spelling; "" if the text is anything else. It may be in a code fence."""
    fenced = _FENCE.fullmatch(text)
    try:
        found = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return ""
    return json.dumps(found, sort_keys=True) if isinstance(found, dict) else ""
