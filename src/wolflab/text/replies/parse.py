"""Replies of models: the JSON schema that is asked for, and the reading of the text that comes back.

`schema` gives the JSON schema for a question, `parse` reads a reply: pure, tolerant, never raising on any
text, never giving an action that the ask does not list. The agent decides whether to ask again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ...rules import ROLES, Ruleset
from ..asking.disguise import disguised_schema, undisguised
from ..asking.wording import wants_reasoning
from ..clean import clean
from ..notes import UNCERTAIN
from ..questions import Choose, Decide, Deduce, Judge, Layout, Propose, Question, Rate, Reflect, Task
from .chosen_action import read_player
from .echo import unechoed
from .extract import READ, object_end, objects_in
from .finish import ANSWERED, NO_REPLY, Finish, FinishReason
from .parsed import (
    REASONING,
    REASONING_LIMIT,
    Decided,
    Judged,
    Judgement,
    Parsed,
    Problem,
    RatedReply,
    Verdict,
    bare,
    field_of,
    number_of,
    object_schema,
    several,
    text_of,
    text_schema,
)
from .reflective_replies import is_free, read_free, read_verdict, unwrapped
from .strategic_replies import (
    acting_fields,
    read_decided,
    read_preferred,
    read_proposals,
    strategic_schema,
)
from .thoughts import may_be_marked, without_thoughts

READING = "2"
"""Raise it when replies are read otherwise than before: a run stores the reading with which it began."""

# -- what is asked for ------------------------------------------------------------------------


def schema(question: Question) -> dict[str, Any] | None:
    """The JSON schema of the reply: every property required, ranges as enums (servers differ there).

    None where the reply is plain text.
    """
    form = _schema(question)
    return None if form is None else disguised_schema(form, question.situation.ruleset)


def _schema(question: Question) -> dict[str, Any] | None:
    if is_free(question):
        return None
    ruleset = question.situation.ruleset
    match question.task:
        case Decide(ask) as task:
            return object_schema(acting_fields(ask, ruleset, wants_reasoning(task)))
        case Propose() | Choose() as task:
            return strategic_schema(task, ruleset)
        case Rate(_, targets):
            score = {"type": "integer", "enum": list(range(1, 11))}
            return object_schema({ruleset.names[seat]: score for seat in targets})
        case Deduce() as task:
            return _judgements_schema(task, ruleset, question.layout)
        case Judge(_, _, criteria):
            label = text_schema("yes", "no")
            return object_schema({"reasoning": text_schema()} | {name: label for name, _ in criteria})
    raise AssertionError(question.task)


def _judgements_schema(task: Deduce, ruleset: Ruleset, layout: Layout) -> dict[str, Any]:
    cited = text_schema() if layout == "shared" else {"type": "integer"}  # "S2" is no integer
    attributes = {
        "role": text_schema(*task.guesses),
        "reasoning": text_schema(),
        "confidence": {"type": "integer", "enum": list(range(5, 11))},
        "evidence": {"type": "array", "items": cited},
    }
    wanted = {name: form for name, form in attributes.items() if name == "role" or name in task.attributes}
    return object_schema({ruleset.names[seat]: object_schema(wanted) for seat in task.targets})


# -- reading it -------------------------------------------------------------------------------


CUT = Problem("it was cut at the limit of its length; give a shorter one")
"""The problem of an unusable reply that its server cut."""
CUT_THINKING = Problem(
    "it was cut at the limit of its length before the answer began; think less, and answer"
)
THOUGHTS_ALONE = Problem("the reply holds thoughts and no answer; give the answer after your thoughts")
NO_OBJECT = Problem("the reply holds no JSON object; answer with the JSON object asked for")
_NO_TEXT = Problem("the reply is empty; answer with the JSON object asked for")
_UNUSABLE: Mapping[FinishReason, Problem] = {
    FinishReason.CUT_THINKING: CUT_THINKING,
    FinishReason.FILTERED: Problem("a content filter held it back; say the same in milder words"),
    FinishReason.REFUSED: Problem(
        "it refuses to answer; this is a game, so answer as your role would, in the form that was asked for"
    ),
}
"""The problem of an unusable reply, by how it ended."""


def parse(question: Question, text: str, finish: Finish = ANSWERED) -> Parsed | Problem:
    """The answer of `text` to `question`, or why it has none. Never raises.

    finish: how the call ended. It explains an unusable reply, unless the server simply answered."""
    answer = _NO_TEXT if finish.reason in NO_REPLY else _read(question, text)
    return why_unusable(answer, text, finish) if isinstance(answer, Problem) else answer


def why_unusable(problem: Problem, text: str, finish: Finish) -> Problem:
    """Why a reply with this problem is unusable: how its call ended, where that says more."""
    if finish.reason in NO_REPLY:
        return Problem(finish.words or str(finish.reason))
    if problem.usable is not None:
        return problem
    if finish.reason is FinishReason.CUT and text:
        return CUT_THINKING if problem is THOUGHTS_ALONE else CUT
    return _UNUSABLE.get(finish.reason, problem)


def answer_objects(text: str) -> list[dict[str, Any]] | Problem:
    """The JSON objects of a reply without its thoughts, or why it has none."""
    answer = without_thoughts(text)
    return THOUGHTS_ALONE if answer.unfinished else objects_in(answer.text[:READ]) or NO_OBJECT


def reads_alike(text: str, finish: Finish) -> bool:
    """Whether every version of the reading (`READING`) reads a reply the same: it is short, nothing in it
    might be a mark of thoughts, and it has at most one JSON object, which is complete.
    """
    if len(text) > _ALWAYS_READ or finish.reason in _UNUSABLE or may_be_marked(text):
        return False
    start = text.find("{")
    end = start if start < 0 else object_end(text, start)
    around = text if start < 0 else "" if end is None else text[:start] + text[end:]
    return end is not None and "{" not in around and around.count("[") <= _BRACKETS


_ALWAYS_READ = 20_000
"""Characters that the first reading read of any reply."""
_BRACKETS = 12
"""Places at which the first reading looked for a list."""


def _read(question: Question, text: str) -> Parsed | Problem:
    ruleset, task = question.situation.ruleset, question.task
    answer = without_thoughts(unwrapped(text) if isinstance(task, Reflect) else text)
    if answer.unfinished:
        return THOUGHTS_ALONE
    text = undisguised(answer.text[:READ], ruleset)
    if is_free(question):
        return read_free(question, text)
    if not text.strip():
        return _NO_TEXT
    if isinstance(task, Propose):
        return read_proposals(task, text, ruleset)
    if isinstance(task, Choose):
        return read_preferred(task, text, ruleset)
    objects = objects_in(text)
    if not objects:
        return NO_OBJECT
    alone = len(objects) == 1
    read = [_read_object(question, reply, alone) for reply in objects]
    answers = [one for one in read if not isinstance(one, Problem)]
    if len(answers) > 1:
        return _settled(task, answers)
    return answers[0] if answers else read[0]


def _read_object(question: Question, reply: dict[str, Any], alone: bool) -> Parsed | Problem:
    """The answer in one object. alone: there is no other."""
    match question.task:
        case Decide(ask):
            return read_decided(reply, ask, question.situation.ruleset)
        case Deduce() as task:
            return _judged(question, task, reply, alone)
        case Rate() as task:
            return _rated(question, task, reply, alone)
        case Judge() as task:
            return read_verdict(task, reply)
    raise AssertionError(question.task)


def _settled(task: Task, answers: Sequence[Parsed]) -> Parsed | Problem:
    """The answer of several objects: all of them joined, or a Problem where they say different things of the
    same player.
    """
    said: dict[int, set[object]] = {}
    for answer in answers:
        for about, what in _said(answer).items():
            said.setdefault(about, set()).add(what)
    joined = _joined(task, answers)
    return several(joined) if any(len(whats) > 1 for whats in said.values()) else joined


def _said(answer: Parsed) -> Mapping[int, object]:
    """An answer by player, without its reasons; −1 stands for no player."""
    match answer:
        case Decided(action):
            return {-1: action}
        case Verdict(labels):
            return {-1: tuple(sorted(labels.items()))}
        case RatedReply(scores):
            return scores
        case Judged(judgements):
            return {one.target: (one.role, one.confidence) for one in judgements}
    raise AssertionError(answer)


def _joined(task: Task, answers: Sequence[Parsed]) -> Parsed:
    """One answer of several: about all their players, or the last where answers are not about players."""
    if isinstance(task, Rate):
        scores: dict[int, int] = {}
        for rated in answers:
            assert isinstance(rated, RatedReply)
            scores |= rated.scores
        return RatedReply(MappingProxyType({seat: scores[seat] for seat in task.targets if seat in scores}))
    if not isinstance(task, Deduce):
        return answers[-1]
    found: dict[int, Judgement] = {}
    rejected: dict[int, str] = {}
    for judged in answers:
        assert isinstance(judged, Judged)
        found |= {one.target: one for one in judged.judgements}
        rejected = dict(judged.rejected) | rejected
    return Judged(
        tuple(found[target] for target in task.targets if target in found),
        MappingProxyType({target: why for target, why in rejected.items() if target not in found}),
    )


# -- judgements -------------------------------------------------------------------------------


def _judged(question: Question, task: Deduce, reply: dict[str, Any], alone: bool) -> Judged | Problem:
    ruleset = question.situation.ruleset
    exact = {target: reply.get(ruleset.names[target]) for target in task.targets}
    entries = _by_target(reply, task.targets, ruleset, "role", alone) if None in exact.values() else exact
    judgements, rejected = [], {}
    for target in task.targets:
        judgement = _judgement(target, entries.get(target), task, ruleset)
        if isinstance(judgement, Judgement):
            judgements.append(judgement)
        else:
            rejected[target] = judgement
    if not judgements:
        return Problem(". ".join(rejected.values()) or "nobody was to be judged")
    return Judged(tuple(judgements), MappingProxyType(rejected))


def _by_target(
    reply: dict[str, Any], targets: tuple[int, ...], ruleset: Ruleset, inner: str, alone: bool
) -> dict[int, Any]:
    """Target → its value. With one target, a single value under a name that is no other player's counts, and
    so do the value's own fields at the top. alone: it is the only object of a reply, so that another player's
    name is a slip.
    """
    values: dict[int, Any] = {}
    strangers = []
    named = _named(reply, ruleset)
    if named is not None and named not in targets and not alone:
        return {}
    for key, value in _entries(reply, targets, ruleset, alone):
        seat = read_player(str(key), ruleset)
        if seat in targets:
            values.setdefault(seat, value)
        elif seat is None:
            strangers.append(value)
    if not values and len(targets) == 1:
        if field_of(reply, (inner,)) is not None and not isinstance(field_of(reply, (inner,)), dict):
            return {targets[0]: reply}
        if len(reply) == 1 and len(strangers) == 1:
            return {targets[0]: strangers[0]}
        if alone and len(reply) == 1 and isinstance(next(iter(reply.values())), dict):
            return {targets[0]: next(iter(reply.values()))}
    return values


def _entries(
    reply: dict[str, Any], targets: tuple[int, ...], ruleset: Ruleset, alone: bool
) -> list[tuple[str, Any]]:
    """Key and value of each player, also inside one wrapping object or a list of named entries; where there
    are several objects, also of the player that this one names.
    """
    entries = list(reply.items())
    if any(read_player(str(key), ruleset) in targets for key, _ in entries):
        return entries
    if not alone and _named(reply, ruleset) in targets:
        return [(text_of(field_of(reply, _NAME)), reply)]
    for value in reply.values():
        if isinstance(value, dict) and any(read_player(str(k), ruleset) in targets for k in value):
            return list(value.items())
        if isinstance(value, list):
            named = [(text_of(field_of(v, _NAME)), v) for v in value if isinstance(v, dict)]
            if any(read_player(name, ruleset) in targets for name, _ in named):
                return named
    return entries


_NAME = ("player", "name", "target")


def _named(reply: Mapping[str, Any], ruleset: Ruleset) -> int | None:
    """The player that an object names as its subject."""
    names = [value for key, value in reply.items() if bare(str(key)) in _NAME and isinstance(value, str)]
    return read_player(names[0], ruleset) if names else None


def _judgement(target: int, value: Any, task: Deduce, ruleset: Ruleset) -> Judgement | str:
    name = ruleset.names[target]
    if isinstance(value, str):
        value = {"role": value}
    if not isinstance(value, dict):
        return f"{name}: no judgement given"
    role = read_role(text_of(field_of(value, ("role", "identity"))), task.guesses)
    if role is None:
        return f"{name}: the role is none of {', '.join(task.guesses)}"
    confidence = 0
    if "confidence" in task.attributes:
        number = number_of(field_of(value, ("confidence", "certainty")))
        if number is None:
            return f"{name}: the confidence is not a number from 5 to 10"
        confidence = max(5, min(10, number))
    evidence = _evidence(field_of(value, ("evidence", "citations"))) if "evidence" in task.attributes else ()
    reasoning = ""
    if "reasoning" in task.attributes:
        reasoning = unechoed(clean(text_of(field_of(value, REASONING)), REASONING_LIMIT))
    return Judgement(target, role, confidence, evidence, reasoning)


@lru_cache(1 << 12)
def read_role(text: str, guesses: tuple[str, ...]) -> str | None:
    """The one of `guesses` that `text` names: any case, plurals, aliases, Doctor for Guard; or None.

    "not a Werewolf" names no role and is None, as is a text that names two.
    """
    flat = text[:200].casefold()
    if re.search(r"\b(?:not|non|isn't)\b", flat):
        return None
    named = set()
    for guess in guesses:
        if any(re.search(rf"\b{re.escape(word)}\b", flat) for word in _role_words(guess, guesses)):
            named.add(guess)
    return named.pop() if len(named) == 1 else None


def _role_words(guess: str, guesses: tuple[str, ...]) -> set[str]:
    if guess == UNCERTAIN:
        return {"uncertain", "unknown", "unsure", "undecided"}
    names = {guess}
    if guess in ROLES:
        names |= {ROLES[guess].plural, *ROLES[guess].aliases}
        shields = {"Guard", "Doctor"}
        if guess in shields and not shields <= set(guesses):
            for other in shields & set(ROLES):
                names |= {other, ROLES[other].plural, *ROLES[other].aliases}
    return {word.casefold() for word in names}


def _evidence(value: Any) -> tuple[int, ...]:
    """The numbers cited, in order, without repeats; anything else is ignored. "S2" is −2 (see `Line`)."""
    numbers = [_number_cited(entry) for entry in (value if isinstance(value, list) else [value])]
    return tuple(dict.fromkeys([number for number in numbers if number is not None]))


def _number_cited(entry: Any) -> int | None:
    if type(entry) is int:
        return entry if 0 <= entry < 10**6 else None
    m = (
        re.fullmatch(r"\s*\[?(?P<secret>[Ss])?(?P<number>[0-9]{1,6})\]?\s*", entry)
        if isinstance(entry, str)
        else None
    )
    if m is None:
        return None
    return -int(m["number"]) if m["secret"] else int(m["number"])


# -- ratings ----------------------------------------------------------------------------------


def _rated(question: Question, task: Rate, reply: dict[str, Any], alone: bool) -> RatedReply | Problem:
    ruleset = question.situation.ruleset
    scores = {}
    for seat, value in _by_target(reply, task.targets, ruleset, "score", alone).items():
        if isinstance(value, dict):
            value = field_of(value, ("score", "reliability", "rating", "trust"))
        score = number_of(value)
        if score is not None and 1 <= score <= 10:
            scores[seat] = score
    if not scores:
        names = ", ".join(ruleset.names[seat] for seat in task.targets)
        return Problem(f"the reply gives no score from 1 to 10 for any of {names}")
    return RatedReply(MappingProxyType({seat: scores[seat] for seat in task.targets if seat in scores}))
