"""Forks: games that go on from a turn of another game of the run, with that turn changed.

Everything before the turn is the parent's, and nobody is asked for it. A call after it is made if the parent
did not make the same. The parent is a finished game of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import RecordError
from ...match import Draws
from ...metrics.leadership import recommended_in
from ...record import GameRecord, PastTurn
from ...record.chain import hash_of
from ...rules import ROLES, Pick, Say, SheriffNamed, facts_of, pick
from ...text.clean import clean
from ..plans.experiment import Experiment
from ..plans.specs import BLANKS, STATEMENT, ForkSpec
from ..storage.store import GameRow, Place, Store
from .casting import PlayerBuilder

SHERIFF = "sheriff"
"""The seat of a turn whose seat is that of the Sheriff then."""


@dataclass(frozen=True, slots=True)
class Fork:
    """past: the answers that it shares with its parent, with the changed ones, by ask. header: what the
    record's header says of it.
    """

    past: Mapping[str, PastTurn]
    header: dict[str, Any]


def fork_at(builder: PlayerBuilder, place: Place) -> Fork | None:
    """The fork of a place; None for a game that is no fork. RecordError if its parent has no such turn."""
    spec, parent = builder.experiment.fork(place.condition), builder.parent(place)
    if spec is None or parent is None:
        return None
    fork = fork_of(spec, parent, spec.continuation(place.repeat))
    if fork is None:
        raise RecordError(f"{place.condition}: the game that it goes on from has no turn {spec.at!r} for it")
    return fork


def fork_of(spec: ForkSpec, parent: GameRecord, continuation: int = 0) -> Fork | None:
    """A fork of a finished game. None if the game has no such turn, or the change nothing to change."""
    turn = forked_turn(parent, spec.at)
    if turn is None:
        return None
    living = facts_of(parent.ruleset, parent.events[: turn.at]).living
    header: dict[str, Any] = {"parent": hash_of(parent.lines[-1]), "at": turn.ask, **spec.changed}
    pair = _two_others(parent, turn, living)
    if pair is not None:
        header |= {"x": pair[0], "y": pair[1]}
    changed: Sequence[PastTurn] | None = [turn]
    if spec.changed:
        changed = _changed(spec, parent, turn, living, pair)
    if changed is None:
        return None
    if changed[0].ask != turn.ask:
        header["from"] = changed[0].ask
    if spec.change == "other-sheriff" and isinstance(changed[0].action, Pick):
        header["sheriff"] = changed[0].action.seat
    header["continuation"] = continuation
    past = {each.ask: each for each in (*parent.turns, *parent.probes) if each.at <= changed[0].at}
    return Fork(past | {each.ask: each for each in changed}, header)


def forked_turn(record: GameRecord, at: str) -> PastTurn | None:
    """The turn of an ask ("1/statement/3"); with the seat "sheriff", that of the Sheriff then."""
    before, _, seat = at.rpartition("/")
    for turn in record.turns:
        if turn.seat < 0 or turn.ask.endswith("/fallback"):
            continue
        if turn.ask == at:
            return turn
        if seat == SHERIFF and turn.ask == f"{before}/{turn.seat}" and _leads(record, turn):
            return turn
    return None


def _leads(record: GameRecord, turn: PastTurn) -> bool:
    """Whether the seat of a turn was that of the Sheriff then."""
    return facts_of(record.ruleset, record.events[: turn.at]).sheriff == turn.seat


def _two_others(parent: GameRecord, turn: PastTurn, living: Sequence[int]) -> tuple[int, int] | None:
    """X and Y: the player whom the statement recommends to vote for, and another living one. Who is not named
    is drawn by the game. None without two.
    """
    others = [seat for seat in living if seat != turn.seat]
    if len(others) < 2:
        return None
    draws, said = Draws(parent.header["play"]), turn.action.text if isinstance(turn.action, Say) else ""
    x = recommended_in(said, parent.ruleset.names, turn.seat, living)
    if x is None:
        x = others[draws.below(len(others), f"{turn.ask}|x")]
    others.remove(x)
    return x, others[draws.below(len(others), f"{turn.ask}|y")]


def _changed(
    spec: ForkSpec,
    parent: GameRecord,
    turn: PastTurn,
    living: Sequence[int],
    pair: tuple[int, int] | None,
) -> Sequence[PastTurn] | None:
    """The changed turns in order; None where there is nothing to change."""
    names, words = parent.ruleset.names, turn.action.text if isinstance(turn.action, Say) else ""
    if spec.say is not None:
        words = spec.say
        if pair is None and any(blank in words for blank in BLANKS):
            return None
        for blank, seat in zip(BLANKS, pair or (), strict=False):
            words = words.replace(blank, names[seat])
    match spec.change:
        case "silent":
            words = ""
        case "stance":
            target = recommended_in(words, names, turn.seat, living)
            if target is None:
                return None
            words = f"Vote for {names[target]}."
        case "other-seat":
            day = [each for each in parent.turns if each.kind == STATEMENT and each.round == turn.round]
            named = pair[0] if pair is not None else None
            earlier = [each for each in day[: day.index(turn)] if each.seat != named]
            if not words or not earlier:
                return None
            before = earlier[-1]
            own = before.action.text if isinstance(before.action, Say) else ""
            return [_saying(before, f"{own} {words}"), _saying(turn, "")]
        case "other-sheriff":
            given = _given_to_another(parent, turn, living, pair)
            return None if given is None else [given, _saying(turn, words)]
        case "none":
            pass
    return [_saying(turn, words)]


_GIVEN: Mapping[str, str] = {"assigned": "sheriff", "drawn": "drawn", "succeeded": "succeed"}
"""How a Sheriff is named (`SheriffNamed`) → the kind of the ask whose answer gives the office."""


def _given_to_another(
    parent: GameRecord, turn: PastTurn, living: Sequence[int], pair: tuple[int, int] | None
) -> PastTurn | None:
    """The turn that made the seat of a statement Sheriff, with another answer: a player who could be Sheriff
    as well, lives at the statement, and is not X. In a stratified design it is on the same side. None if that
    seat is not Sheriff, if votes made it so, or if there is no other.
    """
    named = [event for event in parent.events[: turn.at] if isinstance(event, SheriffNamed)]
    if not named or named[-1].seat != turn.seat or named[-1].how not in _GIVEN:
        return None
    kind, rules, roles = _GIVEN[named[-1].how], parent.ruleset, parent.roles
    given = [each for each in parent.turns if each.kind == kind and each.at < turn.at][-1]
    role = rules.sheriff_role if kind == "sheriff" else None
    others = [
        seat
        for seat in living
        if seat not in (turn.seat, *(pair or ())[:1])
        and rules.eligible >> seat & 1
        and role in (None, roles[seat])
        and ("sheriff_side" not in parent.header or ROLES[roles[seat]].wolf == ROLES[roles[turn.seat]].wolf)
    ]
    if not others:
        return None
    drawn = Draws(parent.header["play"]).below(len(others), f"{turn.ask}|sheriff")
    return replace(given, action=pick(others[drawn]), invalid=None)


def _saying(turn: PastTurn, words: str) -> PastTurn:
    """The turn with other words."""
    return replace(turn, action=Say(clean(words)), invalid=None)


# -- the forks of a run -------------------------------------------------------------------------------


def fork_games(store: Store, experiment: Experiment) -> list[tuple[str, int, int]]:
    """(condition, deal, repeat) of the forks of all games that are done, planned or not.

    A game without such a turn has none.
    """
    there = {(row.condition, row.deal, row.repeat) for row in store.games()}
    return [place for name in experiment.conditions for place in _forks_of(store, experiment, name, there)]


def _forks_of(
    store: Store, experiment: Experiment, name: str, there: set[tuple[str, int, int]]
) -> Iterator[tuple[str, int, int]]:
    spec = experiment.fork(name)
    if spec is None:
        return
    for row in store.games("done"):
        if row.condition == spec.games_of:
            places = [
                (name, row.deal, row.repeat * spec.continuations + k) for k in range(spec.continuations)
            ]
            if there.issuperset(places) or fork_of(spec, store.record(row.id)) is not None:
                yield from places


def check_fork(store: Store, row: GameRow, record: GameRecord, where: str) -> None:
    """RecordError unless a fork's record says what it is, and has its parent's answers up to its turn."""
    spec, parent = store.experiment.fork(row.condition), store.parent(Place.of(row))
    if spec is None or parent is None:
        if record.fork is not None:
            raise RecordError(f"{where}: the record is that of a fork, and {row.condition} is none")
        return
    fork = fork_of(spec, store.record(parent.id), spec.continuation(row.repeat))
    if fork is None or record.fork != fork.header:
        due = "no fork" if fork is None else fork.header
        raise RecordError(f"{where}: the record says it is {record.fork}, game {parent.id} gives {due}")
    for turn in (*record.turns, *record.probes):
        then = fork.past.get(turn.ask)
        if then is not None and (turn.action, turn.notes) != (then.action, then.notes):
            raise RecordError(f"{where}: {turn.ask} is not what it was in game {parent.id}, its parent")
