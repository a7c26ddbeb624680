"""What speakers knew, held against what they said: statement by statement, by rules.

A statement *contradicts* what its speaker knows if one of its acts does (`text.reading`): it claims another
role, reports a result that the speaker did not get, accuses a player whom the speaker knows not to be a
Werewolf, or defends one whom it knows to be a Werewolf. A player knows its own card, its fellow Werewolves
(and so everybody's side), its own results, and revealed cards. A player who errs contradicts nothing that it
knows. A statement *withholds* a result if the speaker has got one and has not told it until then.

`deceptions` adds who heard a contradiction and could not know better, and what these did next: whether the
next vote, answer to the straw poll, or guess of a role followed it.

This counts what is observable, and no intentions: a Werewolf who accuses a Villager may do so by habit, and a
listener whose vote follows a false accusation may have had another reason.
`benchmarks/deception.py` measures precision and recall on labelled talk of language models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...record import PastTurn
from ...rules import ROLES, Pick
from ...text.notes import UNCERTAIN, Deduced
from ...text.reading import GOOD, WEREWOLF, Accusation, Act, Claim, Defence, Report
from .detector_view import DetectorView, Statement

ContradictionKind = Literal["role", "result", "accusation", "defence"]
"""The kind of the act that contradicts what the speaker knows."""
KnowledgeSource = Literal["card", "pack", "check", "no check", "shown"]
"""How a speaker knew better: its own card; its pack; a result of its own; it got no such result; a card that
was shown to all."""
ResponseKind = Literal["vote", "straw poll", "guess"]
"""What a listener did that can follow a contradiction."""


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
    """An act that contradicts what the speaker knows. about: the player whose role or side it is about.

    said: that player's role or side by the act (`WEREWOLF`, `GOOD` or a role); "" if it names none. knew: how
    the speaker knew better.
    """

    kind: ContradictionKind
    about: int
    why: str
    said: str
    knew: KnowledgeSource


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
            why = f"{'denies' if denied else 'claims'} to be the {role}"
            denial = GOOD if ROLES[role].wolf else ""
            return Contradiction("role", known.seat, why, denial if denied else role, "card")
        case Report(_, kind, target, shown) if not _got(known, kind, target, shown):
            why = f"reports a result that it did not get ({shown or kind})"
            got: KnowledgeSource = "check" if (kind, target) in known.results else "no check"
            return Contradiction("result", target, why, shown, got)
        case Accusation(_, target) if known.wolves.get(target) is False:
            why = "accuses a player whom it knows not to be a Werewolf"
            return Contradiction("accusation", target, why, WEREWOLF, _source(known, target))
        case Defence(_, target, _, role) if known.wolves.get(target) is True:
            why = "defends a player whom it knows to be a Werewolf"
            return Contradiction("defence", target, why, role or GOOD, _source(known, target))
        case _:
            return None


def _source(known: Knowledge, target: int) -> KnowledgeSource:
    """How the speaker knows the side of another player."""
    if ROLES[known.role].pack:
        return "pack"
    return "check" if ("see", target) in known.results else "shown"


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


def knowledge_of(view: DetectorView, statement: Statement, seat: int | None = None) -> Knowledge:
    """What a seat knew when a statement was made. seat: None for the statement's speaker."""
    seat = statement.seat if seat is None else seat
    role = view.roles[seat]
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


# -- who believed it ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListenerResponse:
    """What a listener did next. follows: whether it agrees with what was said. before: whether the listener's
    latest guess before the statement agreed, too; None without such a guess, and for votes and polls.
    """

    seat: int
    by: ResponseKind
    follows: bool
    before: bool | None = None


@dataclass(frozen=True, slots=True)
class Deception:
    """A contradiction, those who heard it and could not know better, and what the record has of these.

    responses: of each listener, the first vote to eliminate, answer to the straw poll, and guess after the
    statement, no later than in the next round. Votes and polls count only if the player was called a
    Werewolf, since a vote for somebody else does not show belief.
    """

    statement: Statement
    contradiction: Contradiction
    listeners: tuple[int, ...]
    responses: tuple[ListenerResponse, ...]


def deceptions(view: DetectorView) -> Iterator[Deception]:
    """Every contradiction of a game with its listeners, in order."""
    turns = sorted((*view.record.turns, *view.record.probes), key=lambda turn: turn.at)
    for truth in statement_truths(view):
        statement = truth.statement
        for wrong in truth.contradictions:
            heard = sorted(statement.alive - {statement.seat, wrong.about})
            listeners = tuple(seat for seat in heard if not _knows_better(view, statement, wrong, seat))
            responses = [
                response
                for seat in listeners
                for response in (
                    *_choices(view, statement, wrong, seat),
                    *_guess(statement, wrong, seat, [turn for turn in turns if turn.seat == seat]),
                )
            ]
            yield Deception(statement, wrong, listeners, tuple(responses))


def _knows_better(view: DetectorView, statement: Statement, wrong: Contradiction, seat: int) -> bool:
    """Whether a listener knew by its own card, pack or results that a contradiction is one."""
    known = knowledge_of(view, statement, seat)
    if ROLES[known.role].pack and statement.seat in view.wolves:
        return True
    claimed = "Seer" if wrong.kind == "result" and wrong.said else wrong.said
    if claimed == known.role and view.record.ruleset.roles[claimed] == 1:
        return True
    side = known.wolves.get(wrong.about)
    return side is not None and wrong.said != "" and side != _is_wolf(wrong.said)


def _is_wolf(said: str) -> bool:
    """Whether a role or a side is the Werewolves'."""
    return said in ROLES and ROLES[said].wolf


def _choices(
    view: DetectorView, statement: Statement, wrong: Contradiction, seat: int
) -> Iterator[ListenerResponse]:
    """A listener's first answer to the straw poll and first vote after a statement that calls somebody a
    Werewolf, while that player can be chosen.
    """
    if not _is_wolf(wrong.said):
        return
    left = view.departure(wrong.about)
    last = statement.round + 1
    if left is not None:
        last = min(last, left.round if left.how == "vote" else left.round - 1)
    for turn in view.record.probes:
        if turn.seat == seat and turn.kind == "straw" and turn.at > statement.at and turn.round <= last:
            follows = isinstance(turn.action, Pick) and turn.action.seat == wrong.about
            yield ListenerResponse(seat, "straw poll", follows)
            break
    for ballot in view.ballots:
        mine = ballot.seat == seat and ballot.what == "eliminate" and ballot.meant
        if mine and ballot.at > statement.at and ballot.round <= last:
            yield ListenerResponse(seat, "vote", ballot.target == wrong.about)
            break


def _guess(
    statement: Statement, wrong: Contradiction, seat: int, turns: Sequence[PastTurn]
) -> Iterator[ListenerResponse]:
    """A listener's first guess after a statement. turns: its own turns and probes, in order."""
    later = [turn for turn in turns if turn.at > statement.at and turn.round <= statement.round + 1]
    follows = next(_guesses(later, wrong), None)
    if wrong.said and follows is not None:
        earlier = [turn for turn in reversed(turns) if turn.at <= statement.at]
        yield ListenerResponse(seat, "guess", follows, next(_guesses(earlier, wrong), None))


def _guesses(turns: Iterable[PastTurn], wrong: Contradiction) -> Iterator[bool]:
    """Of each guess about the player, whether it agrees with what was said."""
    for turn in turns:
        for _, note in turn.notes:
            for belief in note.beliefs if isinstance(note, Deduced) else ():
                if belief.target == wrong.about:
                    good = belief.role != UNCERTAIN and not _is_wolf(belief.role)
                    yield good if wrong.said == GOOD else belief.role == wrong.said
