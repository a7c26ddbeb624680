"""What speakers knew, held against what they said: statement by statement, by rules.

A statement *contradicts* what its speaker knows if one of its acts does (`text.reading`): it claims another
role, reports a result that the speaker did not get, accuses a player whom the speaker knows not to be a
Werewolf, or defends one whom it knows to be a Werewolf. A player knows its own card, its fellow Werewolves
(and so everybody's side), its own results, and revealed cards. A player who errs contradicts nothing that it
knows. A statement *withholds* a result if the speaker has got one and has not told it until then.

This counts what is observable, and no intentions: a Werewolf who accuses a Villager may do so by habit.
`benchmarks/deception.py` measures precision and recall on labelled talk of language models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ...rules import ROLES
from ...text.reading import WEREWOLF, Accusation, Act, Claim, Defence, Report
from .detector_view import DetectorView, Statement

ContradictionKind = Literal["role", "result", "accusation", "defence"]
"""The kind of the act that contradicts what the speaker knows."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a speaker knows. seat, role: its own. wolves: seat → whether it is a Werewolf, for seats whose
    side the speaker knows. results: (kind of a report, target) → what the speaker learned; "" if an action
    shows nothing.
    """

    seat: int
    role: str
    wolves: Mapping[int, bool]
    results: Mapping[tuple[str, int], str]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An act that contradicts what the speaker knows. about: the player whose role or side it is about."""

    kind: ContradictionKind
    about: int
    why: str


@dataclass(frozen=True, slots=True)
class StatementTruth:
    """A statement against what its speaker knew. withheld: the targets of checks that the speaker has not
    told. has_results: whether it has any.
    """

    statement: Statement
    contradictions: tuple[Contradiction, ...]
    withheld: tuple[int, ...]
    has_results: bool


def contradictions(acts: Iterable[Act], known: Knowledge) -> tuple[Contradiction, ...]:
    """The speaker's own acts that contradict what it knows, one for each kind and player."""
    found: dict[tuple[ContradictionKind, int], Contradiction] = {}
    for act in acts:
        if act.speaker == known.seat and (wrong := _contradiction(act, known)) is not None:
            found.setdefault((wrong.kind, wrong.about), wrong)
    return tuple(found.values())


def _contradiction(act: Act, known: Knowledge) -> Contradiction | None:
    match act:
        case Claim(_, role, denied) if denied == (role == known.role):
            return Contradiction("role", known.seat, f"{'denies' if denied else 'claims'} to be the {role}")
        case Report(_, kind, target, shown) if not _got(known, kind, target, shown):
            return Contradiction("result", target, f"reports a result that it did not get ({shown or kind})")
        case Accusation(_, target) if known.wolves.get(target) is False:
            return Contradiction("accusation", target, "accuses a player whom it knows not to be a Werewolf")
        case Defence(_, target) if known.wolves.get(target) is True:
            return Contradiction("defence", target, "defends a player whom it knows to be a Werewolf")
        case _:
            return None


def _got(known: Knowledge, kind: str, target: int, shown: str) -> bool:
    """Whether the speaker got a result, as far as the report says what it was."""
    learned = known.results.get((kind, target))
    if learned is None:
        return False
    if not shown or not learned:
        return True
    return (shown == WEREWOLF) == (learned == WEREWOLF)


def withheld(known: Knowledge, told: Collection[int]) -> tuple[int, ...]:
    """The targets of checks that the speaker has not told. told: those that it has."""
    return tuple(sorted(target for kind, target in known.results if kind == "see" and target not in told))


def statement_truths(view: DetectorView) -> Iterator[StatementTruth]:
    """Every statement of a game that could be read, in order."""
    told: dict[int, set[int]] = {}
    for statement in view.statements:
        if statement.unread:
            continue
        known = knowledge_of(view, statement)
        mine = told.setdefault(statement.seat, set())
        mine |= {act.target for act in statement.reports if act.kind == "see"}
        wrong = contradictions((*statement.acts, *statement.reports), known)
        checked = any(kind == "see" for kind, _ in known.results)
        yield StatementTruth(statement, wrong, withheld(known, mine), checked)


def knowledge_of(view: DetectorView, statement: Statement) -> Knowledge:
    """What the speaker of a statement knew when it spoke."""
    seat, role = statement.seat, view.roles[statement.seat]
    results = {
        ("see", learned.target): learned.what
        for round, learned in view.checks
        if learned.seat == seat and round <= statement.round
    }
    results |= {
        (kind, action.target): ""
        for action in view.night_actions
        if action.seat == seat and action.round <= statement.round
        for kind in _reported_as(action.kind)
    }
    wolves = {target: what == WEREWOLF for (kind, target), what in results.items() if kind == "see"}
    wolves |= {other: ROLES[card].wolf for other, card in enumerate(statement.public.roles) if card}
    wolves[seat] = ROLES[role].wolf
    if ROLES[role].pack:
        wolves = {other: other in view.wolves for other in range(len(view.roles))}
    return Knowledge(seat, role, wolves, results)


def _reported_as(kind: str) -> tuple[str, ...]:
    """The kinds of reports that may tell of a night action of that kind."""
    if kind == "poison":
        return ("poison",)
    return ("protect", "antidote") if kind in ("protect", "save", "antidote") else ()
