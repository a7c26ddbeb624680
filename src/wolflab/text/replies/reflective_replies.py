"""Replies in plain text: plans, questions, answers, reflections, suggestions, the `paper` wording's response.

003 separates questions by '#' and marks what is said aloud by "My concise talking content:". Pure and
tolerant: a JSON object with the text inside is taken too, any text is allowed, none raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ...rules import Ruleset, Say
from ..asking.options import labels
from ..asking.reflective_prompts import example_of_reflection
from ..asking.wording import wants_reasoning
from ..clean import clean, is_silence
from ..questions import (
    AnswerQuestion,
    AskQuestions,
    ChooseQuestions,
    Decide,
    Extract,
    Interview,
    Judge,
    Plan,
    Question,
    Reflect,
)
from .chosen_action import read_action
from .echo import repeats_options, unechoed, words_of
from .extract import find_object
from .parsed import REASONING, REASONING_LIMIT, Decided, Listed, Problem, Verdict, Written, field_of, text_of

TEXT_LIMIT = 1200
"""Characters of an answer, a reflection or a suggestion that are kept."""
QUESTION_LIMIT = 300
_READ = 20_000
_PIECES = 60
"""Pieces of a list of questions that are looked at."""
_ALIKE = 0.72
"""Minimum similarity of a repeated question to a candidate (difflib's ratio)."""

_NOTHING = ("null", "none", "nil", "n/a", "undefined")
"""Words for no text."""

_STEPS = (ChooseQuestions, AskQuestions, AnswerQuestion, Reflect, Extract, Interview, Plan)


def is_free(question: Question) -> bool:
    """Whether the reply is to be plain text, for which there is no schema."""
    task = question.task
    if isinstance(task, _STEPS):
        return True
    return isinstance(task, Decide) and task.aids is not None and question.wording == "paper"


def read_free(question: Question, text: str) -> Listed | Written | Decided | Problem:
    """The answer in a plain-text reply, or why it has none."""
    task = question.task
    plain = _plain(text)
    if not any(char.isalnum() for char in plain) or plain.strip(" .").casefold() in _NOTHING:
        return Problem("the reply is empty; answer in plain text")
    match task:
        case ChooseQuestions():
            return _chosen(task, plain, question.situation.ruleset)
        case AskQuestions():
            return _asked(task, plain)
        case Extract():
            return _suggestion(plain)
        case Decide():
            return _responded(question, task, plain)
        case Plan():
            return _written(plain, REASONING_LIMIT)
        case Reflect() if words_of(plain) == words_of(
            example_of_reflection(question.situation.role, question.wording)
        ):
            return Problem("the reply repeats the example; sum up the situation in your own words")
        case _:
            return _written(plain)


def unwrapped(text: str) -> str:
    """A reflection without the tag of that name around it, which elsewhere marks thoughts."""
    within = text.strip()
    if within[:12].casefold() != "<reflection>":
        return text
    return within[12:-13] if within[-13:].casefold() == "</reflection>" else within[12:]


def _written(text: str, limit: int = TEXT_LIMIT) -> Written | Problem:
    said = clean(text, limit)
    if not any(char.isalnum() for char in said):
        return Problem("the reply is empty; answer in plain text")
    return Written(said)


def _plain(text: str) -> str:
    """The text without code fences; for a JSON object, its text or its list."""
    text = text[:_READ].strip()
    if text[:1] == "{" or text[:7] == "```json":
        reply = find_object(text)
        for value in (reply or {}).values():
            if isinstance(value, list):
                return " # ".join(_item(entry) for entry in value[:_PIECES])
        texts = {str(key): text_of(value) for key, value in (reply or {}).items()}
        said = [text for key, text in texts.items() if key.casefold() not in REASONING]
        longest = max(said, key=len, default="") or max(texts.values(), key=len, default="")
        if longest or _OBJECT.match(text):
            return longest
    return re.sub(r"```\w*", "", text)


_OBJECT = re.compile(r"(?:```json\s*+)?\{\s*+[\"'}]")
"""The beginning of a JSON object, cut short or not; "{Player 3} lies" is none."""


def _item(value: object) -> str:
    return text_of(next(iter(value.values()), "")) if isinstance(value, dict) else text_of(value)


# -- questions --------------------------------------------------------------------------------

_LEAD = re.compile(r"\A[\s\-*•·>\"']*+(?:(?:question|q)?\s*\(?\d{1,2}[.):]\s*)?[\s\-*•\"']*", re.IGNORECASE)


_HOW_MANY = re.compile(r"\b\d{1,2}(?=\s++(?:most\s++)?(?:important\s++)?questions?\b)", re.IGNORECASE)
"""A number of questions ("the 5 questions are …"), which is not the number of one."""


_NUMBERED = (
    r"players?|days?|nights?|rounds?|seats?|werew(?:olf|olves)|wolf|wolves|seers?|guards?|doctors?|"
    r"witch(?:es)?|villagers?|p"
)
"""Words whose numbers are not a question's."""


@lru_cache(64)
def _no_question(player_name: str) -> re.Pattern[str]:
    """Numbers in prose that are no question's: "Player 2, 3 and 6", "on day 1"."""
    called = re.escape(player_name.partition("{")[0].strip(" _-#"))
    return re.compile(
        rf"\b(?:{_NUMBERED}{f'|{called}' if called else ''})(?:[ _\-]|\s*+#\s*+)?\d{{1,3}}\b"
        r"(?>(?:\s*+(?:,(?:\s*+(?:and|or)\b)?|&|\b(?:and|or|to)\b)\s*+\d{1,3}\b)*)",
        re.IGNORECASE,
    )


def _pieces(text: str) -> list[str]:
    """The parts between '#'s or on lines of their own, without bullets and numbers."""
    pieces = []
    for piece in re.split(r"#|\n|(?<=\?)\s++(?=[A-Z])", text)[:_PIECES]:
        piece = clean(_LEAD.sub("", piece), QUESTION_LIMIT).strip(" \"'")
        if any(char.isalpha() for char in piece):
            pieces.append(piece)
    return pieces


def _chosen(task: ChooseQuestions, text: str, ruleset: Ruleset) -> Listed | Problem:
    text = _HOW_MANY.sub("", text)
    prose = _no_question(ruleset.player_name).sub(" ", text)
    if not re.search(r"[a-z]{3}", re.sub(r"(?i)\b(?:and|questions?|numbers?|are|the|no)\b", "", text)):
        numbers = [int(n) for n in re.findall(r"\d{1,3}", prose)]
    else:
        numbers = [number for piece in _candidates_in(text) if (number := _like(piece, task.candidates))]
        if len(numbers) < task.count:
            numbers += [int(n) for n in re.findall(r"(?m)(?:^|[#,\s])\(?(\d{1,2})(?=[.):,\s#]|$)", prose)]
    chosen = [n for n in dict.fromkeys(numbers) if 1 <= n <= len(task.candidates)][: task.count]
    if len(chosen) < task.count:
        return Problem(
            f"the reply names {len(chosen)} of the listed questions; name {task.count} of them by number"
        )
    return Listed(tuple(task.candidates[n - 1] for n in chosen))


def _candidates_in(text: str) -> list[str]:
    """Pieces between '#'s and line ends; a candidate may hold two sentences, so '?' separates nothing."""
    return [clean(_LEAD.sub("", piece), 2 * QUESTION_LIMIT) for piece in re.split(r"#|\n", text)[:_PIECES]]


def _like(piece: str, candidates: tuple[str, ...]) -> int | None:
    """The number, from 1, of the candidate that `piece` repeats."""
    flat = _words(piece)
    if not flat:
        return None
    ratios = [max(_likeness(flat, text), _likeness(flat, _first_sentence(text))) for text in candidates]
    best = max(range(len(ratios)), key=ratios.__getitem__)
    return best + 1 if ratios[best] >= _ALIKE else None


def _likeness(flat: list[str], text: str) -> float:
    return SequenceMatcher(None, flat, _words(text), autojunk=False).ratio()


def _first_sentence(text: str) -> str:
    """A question of two sentences is often repeated by its first alone."""
    return re.split(r"(?<=[.?!])\s", text, maxsplit=1)[0]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.casefold())[:80]


def _asked(task: AskQuestions, text: str) -> Listed | Problem:
    known = {" ".join(_words(piece)) for piece in task.chosen}
    pieces = [piece for piece in _pieces(text) if len(_words(piece)) >= 3]
    if any("?" in piece for piece in pieces):
        pieces = [piece for piece in pieces if "?" in piece]
    asked = [piece for piece in dict.fromkeys(pieces) if " ".join(_words(piece)) not in known]
    if not asked:
        return Problem(f"the reply asks no further question; ask {task.count}, parted by '#'")
    return Listed(tuple(asked[: task.count]))


# -- suggestions ------------------------------------------------------------------------------

_NONE = re.compile(r"no (?:useful )?experience (?:can|could)(?: not)? be used", re.IGNORECASE)
_BEST = re.compile(r"the best way\b.*", re.IGNORECASE | re.DOTALL)
_OR = re.compile(r",? or (?:to )?(?:pass|not)\b.*", re.IGNORECASE | re.DOTALL)


def _suggestion(text: str) -> Written | Problem:
    """From "The best way" on, without an "or pass" that takes it back; "" where there is none."""
    if _NONE.search(text):
        return Written("")
    best = _BEST.search(text)
    said = _written(best[0] if best else text)
    return Written(_OR.sub(".", said.text)) if best and isinstance(said, Written) else said


# -- the response -----------------------------------------------------------------------------

_CONTENT = re.compile(r"(?:my\s++)?(?:concise\s++)?talking\s++content\s*+(?:is\b)?\s*+:?", re.IGNORECASE)
_PROCESS = re.compile(r"\A\s*+(?:my\s++)?step[- ]by[- ]step\s++thought\s++process\s*+:?", re.IGNORECASE)


def _responded(question: Question, task: Decide, text: str) -> Decided | Problem:
    """The `paper` wording's final response: thoughts, then what is said (003 Table 3)."""
    marks = list(_CONTENT.finditer(text))
    thinks = wants_reasoning(task)
    if not marks and thinks:
        return Problem('the reply has no "My concise talking content:"; put what you say or choose after it')
    said = text[marks[-1].end() :] if marks else text
    thought = _PROCESS.sub("", text[: marks[-1].start()]) if marks and thinks else ""
    said = clean(re.sub(r"(?m)^[^\S\n]*+[-*•·]\s*", "", said).replace("<EOS>", "")).strip(" '")
    reasoning = unechoed(clean(thought, REASONING_LIMIT))
    if task.ask.options is not None:
        ruleset = question.situation.ruleset
        if repeats_options(said, task.ask, ruleset):
            return Problem(f"all options are repeated; choose one of: {', '.join(labels(task.ask, ruleset))}")
        action = read_action(said, task.ask, ruleset)
        if isinstance(action, str):
            return Problem(action)
        return Decided(action, reasoning)
    if is_silence(said):
        return Decided(Say(""), reasoning)
    if not any(char.isalnum() for char in said):
        return Problem("nothing is said; say something, or (silence) to stay silent")
    return Decided(Say(said), reasoning)


# -- a judge's verdict ------------------------------------------------------------------------

_YES = re.compile(r"\W*(?:yes|true|1)\b", re.IGNORECASE)
_NO = re.compile(r"\W*(?:no|false|0)\b", re.IGNORECASE)


def read_verdict(task: Judge, reply: Mapping[str, Any]) -> Verdict | Problem:
    """The labels of a judge's JSON object; every criterion has to be answered."""
    labelled, answers = {}, {str(key).strip().casefold(): value for key, value in reply.items()}
    for name, _ in task.criteria:
        value = text_of(answers.get(name.casefold()))
        if _YES.match(value):
            labelled[name] = True
        elif _NO.match(value):
            labelled[name] = False
        else:
            return Problem(f'"{name}" is not answered with yes or no')
    reasoning = unechoed(clean(text_of(field_of(reply, REASONING)), REASONING_LIMIT))
    return Verdict(MappingProxyType(labelled), reasoning)
