"""Replies that act, propose and choose: an action or a statement, several candidates, one of them (004 C.6).

Tolerant, as all reading of replies is: candidates come as a list, as an object keyed by number or by action,
as objects in a row, with or without reasonings, and a choice as a number or in the candidate's own words.
Pure; any text is allowed and none raises; never an action that the ask does not list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...rules import Ask, Ruleset, Say
from ..asking.options import NUMBER_WORDS, label, labels
from ..clean import clean, is_silence
from ..questions import Choose, Propose
from .chosen_action import mentions, read_action
from .echo import is_echo, repeats_options, unechoed, words_of
from .extract import READ, find_object, objects_in
from .parsed import (
    ACTION,
    REASONING,
    REASONING_LIMIT,
    STATEMENT,
    Decided,
    Preferred,
    Problem,
    Proposals,
    bare,
    field_of,
    object_schema,
    several,
    text_of,
    text_schema,
)

_ENTRIES = 24
"""Candidates of one reply that are looked at."""
_DEPTH = 4
"""The depth in a reply to which candidates are looked for."""
_VALUES = 200
"""JSON values of one reply that are looked at."""
_FAILURES = 1000
"""Places at which JSON is tried and is none."""

_DECODER = json.JSONDecoder(strict=False)
_MANY = (
    "candidates",
    "actions",
    "options",
    "statements",
    "proposals",
    "choices",
    "strategies",
    "alternatives",
    "answers",
    "responses",
)
"""Names of a list of candidates."""
_ONE = frozenset((*ACTION, *STATEMENT, "candidate", "proposal"))
"""Names of a candidate's action."""


# -- an action or a statement ------------------------------------------------------------------


def acting_fields(ask: Ask, ruleset: Ruleset, reasoning: bool = True) -> dict[str, Any]:
    """Reasoning if it is wanted, then "statement", or "action" out of the ask's options."""
    fields = {"reasoning": text_schema()} if reasoning else {}
    if ask.options is None:
        return fields | {"statement": text_schema()}
    return fields | {"action": text_schema(*labels(ask, ruleset))}


def strategic_schema(task: Propose | Choose, ruleset: Ruleset) -> dict[str, Any]:
    """The JSON schema of a proposal (one candidate stands for itself) or of a choice."""
    if isinstance(task, Choose):
        numbers = list(range(1, len(task.candidates) + 1))
        return object_schema({"reasoning": text_schema(), "choice": {"type": "integer", "enum": numbers}})
    form = object_schema(acting_fields(task.ask, ruleset))
    if task.count == 1:
        return form
    wanted = _candidates_wanted(task)
    listed = {"type": "array", "items": form, "minItems": wanted, "maxItems": wanted}
    return object_schema({"candidates": listed})


def _candidates_wanted(task: Propose) -> int:
    """The number of candidates wanted: no more than the options that are left."""
    left = task.count if task.ask.options is None else len(task.ask.options) - len(task.earlier)
    return max(1, min(task.count, left))


def read_decided(entry: Mapping[str, Any], ask: Ask, ruleset: Ruleset) -> Decided | Problem:
    """The action or statement of one object, with its reasoning."""
    reasoning = unechoed(clean(text_of(field_of(entry, REASONING)), REASONING_LIMIT))
    if ask.options is None:
        value = field_of(entry, STATEMENT)
        if not isinstance(value, str):
            return Problem('the reply has no "statement" of text; put what you say aloud there')
        statement = clean(value)
        if is_silence(statement):
            return Decided(Say(""), reasoning)
        if not any(char.isalnum() for char in statement):
            return Problem('the "statement" is empty; say something, or "(silence)" to stay silent')
        if is_echo(statement):
            return Problem('the "statement" repeats the form; put what you say aloud there')
        return Decided(Say(statement), reasoning)
    value = field_of(entry, ACTION)
    if isinstance(value, dict):
        value = field_of(value, ACTION) or field_of(value, ("name",))
    if value is None:
        return Problem(f'the reply has no "action"; choose one of: {", ".join(labels(ask, ruleset))}')
    chosen = text_of(value)
    if not words_of(chosen):
        return Problem(f'the "action" is empty; choose one of: {", ".join(labels(ask, ruleset))}')
    if chosen not in labels(ask, ruleset) and repeats_options(chosen, ask, ruleset):
        return Problem(f'the "action" repeats all options; choose one of: {", ".join(labels(ask, ruleset))}')
    action = read_action(chosen, ask, ruleset)
    if isinstance(action, str):
        return Problem(action)
    return Decided(action, reasoning)


# -- candidates -------------------------------------------------------------------------------


def read_proposals(task: Propose, text: str, ruleset: Ruleset) -> Proposals | Problem:
    """The legal, different candidates of a reply, in its order: as many as were asked for.

    Of two with the same action the first stays; one that repeats an earlier candidate word for word is
    dropped. Too few are a Problem, with them as `usable`. Objects with one candidate each are one answer;
    several objects with the full number each are several answers.
    """
    wanted = _candidates_wanted(task)
    lists = _lists(text, task.ask, ruleset)
    if len(lists) > 1:
        complete = [found for one in lists if len(found := _proposed(task, one, ruleset)[0]) >= wanted]
        if any(found.keys() != complete[-1].keys() for found in complete):
            return several(Proposals(tuple(complete[-1].values())))
    entries = [entry for one in lists for entry in one]
    proposed, problem = _proposed(task, entries[:_ENTRIES], ruleset)
    if proposed:
        usable = Proposals(tuple(proposed.values()))
        if len(proposed) >= wanted:
            return usable
        few = f"{len(proposed)} of {wanted} candidates: propose {wanted} different ones"
        return Problem(few if problem is None else f"{few} ({problem.reason})", usable)
    return problem or Problem("the reply holds no candidate; answer with the JSON object asked for")


def _proposed(
    task: Propose, entries: Sequence[Mapping[str, Any]], ruleset: Ruleset
) -> tuple[dict[str, Decided], Problem | None]:
    """The candidates among objects by their words, and the problem of one that is none."""
    ask = task.ask
    earlier = {words_of(past.action): number for number, past in reversed(list(enumerate(task.earlier, 1)))}
    proposed: dict[str, Decided] = {}
    problem: Problem | None = None
    for entry in entries:
        candidate = read_decided(entry, ask, ruleset)
        if isinstance(candidate, Problem):
            problem = problem or candidate
            continue
        said = words_of(label(candidate.action, ask.kind, ruleset))
        if said in earlier:
            problem = Problem(f"it repeats candidate {earlier[said]}; propose another")
            continue
        proposed.setdefault(said, candidate)
        if len(proposed) == task.count:
            break
    return proposed, problem


def _lists(text: str, ask: Ask, ruleset: Ruleset) -> list[list[Mapping[str, Any]]]:
    """The objects in a reply that may be candidates, in order; those of each JSON value are a list."""
    asked = _as_asked(text, "statement" if ask.options is None else "action")
    if asked is not None:
        return [asked]
    for values in (_values(text), [find_object(text)]):
        lists = [entries for value in values if (entries := list(_flat(value, ask, ruleset)))]
        if lists:
            return lists
    return []


def _as_asked(text: str, name: str) -> list[Mapping[str, Any]] | None:
    """The candidates of a reply in exactly the form that was asked for, which most have: this is fast."""
    if text[:1] != "{" or len(text) > READ:
        return None
    try:
        reply = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    entries = reply.get("candidates")
    if isinstance(entries, list) and all(
        isinstance(entry, dict) and isinstance(entry.get(name), str) for entry in entries
    ):
        return entries
    return [reply] if isinstance(reply.get(name), str) and reply.keys() <= {"reasoning", name} else None


def _values(text: str) -> list[Any]:
    """The JSON objects and lists in `text`, one after the other; of a broken one, its complete parts."""
    values: list[Any] = []
    at = failures = 0
    while len(values) < _VALUES and failures < _FAILURES:
        opening = re.compile(r"[\[{]").search(text, at)
        if opening is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or too deep
            at, failures = opening.start() + 1, failures + 1
        else:
            values.append(value)
    return values


def _flat(value: Any, ask: Ask, ruleset: Ruleset, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The candidates in a JSON value, whatever they are wrapped in."""
    if depth > _DEPTH:
        return
    if isinstance(value, str):
        yield {"action": value}
    elif isinstance(value, list):
        for entry in value[:_ENTRIES]:
            if isinstance(entry, dict | list) or (isinstance(entry, str) and depth < 2):
                yield from _flat(entry, ask, ruleset, depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(value, ask, ruleset, depth)


def _of_object(reply: dict[str, Any], ask: Ask, ruleset: Ruleset, depth: int) -> Iterator[Mapping[str, Any]]:
    """The candidates in an object: itself, a list in it, or values keyed by number or by action."""
    names = {bare(str(key)): key for key in reversed(list(reply))}
    wrapped = [reply[names[name]] for name in _MANY if isinstance(names.get(name), str)]
    wrapped = [entry for entry in wrapped if isinstance(entry, dict | list)]
    numbered = _by_number(reply, ruleset)
    keyed = _by_action(reply, ask, ruleset)
    if wrapped:
        for entry in wrapped:
            yield from _flat(entry, ask, ruleset, depth + 1)
    elif numbered:
        for entry in numbered:
            yield from _flat(entry, ask, ruleset, depth + 1)
    elif keyed:
        yield from keyed
    elif any(name in _ONE and reply[key] is not None for name, key in names.items()):
        yield _renamed(reply, names)
    else:
        for entry in reply.values():
            if isinstance(entry, dict | list):
                yield from _flat(entry, ask, ruleset, max(depth + 1, 2))


def _renamed(entry: dict[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """A candidate with its action under "action". names: the keys as the object has them, by `bare` key."""
    for name in ("candidate", "proposal"):
        if name in names and "action" not in names and "statement" not in names:
            return {**entry, "action": entry[names[name]]}
    return entry


_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>\d{1,2})[\W_]*+", re.DOTALL)


def _by_number(reply: dict[str, Any], ruleset: Ruleset) -> list[Any]:
    """Values under "1", "candidate 2" or "action_3", with what "reasoning_3" says beside it."""
    groups: dict[int, Any] = {}
    for key, value in reply.items():
        match = _NUMBERED.fullmatch(str(key)[:60])
        if match is None or mentions(str(key)[:60], ruleset):
            continue
        number, stem = int(match["number"]), bare(match["stem"])
        if isinstance(value, dict | list):
            groups[number] = value
        elif isinstance(groups.get(number, {}), dict):
            name = "reasoning" if stem in REASONING else "action"
            groups.setdefault(number, {})[name] = value
    return [groups[number] for number in sorted(groups)]


def _by_action(reply: dict[str, Any], ask: Ask, ruleset: Ruleset) -> list[Mapping[str, Any]]:
    """Values under the actions' own words: {"kill player_2": "the Seer must go"}."""
    if ask.options is None:
        return []
    labels_by_words = {words_of(action_label): action_label for action_label in labels(ask, ruleset)}
    entries: list[Mapping[str, Any]] = []
    for key, value in reply.items():
        action = labels_by_words.get(words_of(str(key)[:80]))
        if action is not None:
            why = field_of(value, REASONING) if isinstance(value, dict) else value
            entries.append({"action": action, "reasoning": text_of(why)})
    return entries


# -- a choice ---------------------------------------------------------------------------------

_CHOICE = ("choice", "candidate", "number", "chosen", "choose", "selected", "selection", "best", "preferred")
_OTHERS = (*ACTION, *STATEMENT)
_NUMBER = re.compile(
    r"(?:the\s++)?(?:(?:action|statement)\s++)?(?:candidate|number|option|choice|action|statement|no)?"
    rf"[\s.:_#(]*+(?:(?P<digits>\d{{1,3}})|(?P<word>{'|'.join(NUMBER_WORDS)}))\b[\s.)]*+",
    re.IGNORECASE,
)
_LED = re.compile(r"(?:(?:action|statement)\s++)?(?:candidate\s*+)?#?(\d{1,2})\s*+[:.)-]\s", re.IGNORECASE)
"""The number before a candidate's words: "2: do not vote"."""
_CITED = re.compile(r"\b(?:candidate|option|number)\s*+#?(\d{1,2})\b", re.IGNORECASE)


def read_preferred(task: Choose, text: str, ruleset: Ruleset) -> Preferred | Problem:
    """Which candidate a reply takes: by number, or by its own words."""
    objects = objects_in(text)
    if not objects:
        return _taken(text[:REASONING_LIMIT], "", task, ruleset)
    read = [_preferred_in(reply, task, ruleset) for reply in objects]
    answers = [one for one in read if not isinstance(one, Problem)]
    if len({answer.number for answer in answers}) > 1:
        return several(answers[-1])
    return answers[-1] if answers else read[0]


def _preferred_in(reply: Mapping[str, Any], task: Choose, ruleset: Ruleset) -> Preferred | Problem:
    value = field_of(reply, _CHOICE)
    value = field_of(reply, _OTHERS) if value is None else value
    reasoning = unechoed(clean(text_of(field_of(reply, REASONING)), REASONING_LIMIT))
    return _taken(value, reasoning, task, ruleset)


def _taken(value: Any, reasoning: str, task: Choose, ruleset: Ruleset) -> Preferred | Problem:
    if isinstance(value, dict):
        value = field_of(value, (*_CHOICE, *_OTHERS))
    if isinstance(value, float) and value == value and abs(value) < 100:
        value = int(value)
    number = _preferred(text_of(value).strip(" \n\t\"'*"), task, ruleset)
    return number if isinstance(number, Problem) else Preferred(number, reasoning)


def _preferred(said: str, task: Choose, ruleset: Ruleset) -> int | Problem:
    """The number, from 0, of the candidate that `said` names."""
    count = len(task.candidates)
    numbered = _NUMBER.fullmatch(said)
    if numbered is not None:
        digits, word = numbered["digits"], numbered["word"]
        number = int(digits) if digits else NUMBER_WORDS.index(word.casefold()) + 1
        if 1 <= number <= count:
            return number - 1
        return Problem(f"there is no candidate {number}; choose a number from 1 to {count}")
    actions = [words_of(candidate.action) for candidate in task.candidates]
    if said and words_of(said) in actions:
        return actions.index(words_of(said))
    led = _LED.match(said)
    cited = {int(led[1])} if led else {int(digits) for digits in _CITED.findall(said[:REASONING_LIMIT])}
    if len(cited) == 1 and 1 <= min(cited) <= count:
        return min(cited) - 1
    return _in_words(said, actions, task, ruleset)


def _in_words(said: str, actions: list[str], task: Choose, ruleset: Ruleset) -> int | Problem:
    """The one candidate whose action `said` names in other words, or whose statement it repeats."""
    problem = Problem(f'the reply has no "choice"; choose a number from 1 to {len(actions)}')
    if is_echo(said, len(actions)):
        return problem
    if task.ask.options is None:
        flat = words_of(said)
        near = [n for n, text in enumerate(actions) if len(text) > 20 and (text in flat or flat in text)]
        silent = is_silence(clean(said)) and "" in actions
        if silent:
            return actions.index("")
        return near[0] if len(near) == 1 and len(flat) > 20 else problem
    action = read_action(said, task.ask, ruleset)
    if isinstance(action, str):
        return problem
    flat = words_of(label(action, task.ask.kind, ruleset))
    return (
        actions.index(flat) if flat in actions else Problem(f'"{clean(said, 80)}" is none of the candidates')
    )
