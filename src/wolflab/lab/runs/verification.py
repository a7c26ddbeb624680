"""Verifies a run: whether all planned games are stored, and whether their data are consistent.

`replay.verify_game` checks one game; games are independent, so several processes may share them. This module
checks the run: the plan, the settings that it began with, calls without a game, and the file itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...errors import ExperimentError, ModelError, WolflabError
from ...usage import totals_alike
from ..engines import pool_of
from ..engines.local import rare_collection
from ..plans.experiment import Experiment
from ..storage.call_store import CallStore
from ..storage.run_files import readable
from ..storage.store import GIVEN_UP, GameRow, Store, asker
from .casting import PlayerBuilder
from .forks import fork_games
from .replay import GameCheck, verify_game
from .runner import further_games, planned_games
from .tournament_games import experiment_due, is_tournament

_NAMED = 10
"""The number of missing games that are listed."""
_CHUNK = 25
"""The number of games in a task for a worker process."""
_FEW = 100
"""Up to this number of games, starting processes takes longer than they save."""


@dataclass
class RunVerification:
    """The result. planned: the number of games due so far; over: finished ones; missing: the others, in
    words. good, bad: games with a valid, an invalid record. faults: one sentence each. unseen: what could not
    be checked, and why. erased: game → number of erased statements. decided, otherwise: as in `GameCheck`.
    """

    planned: int = 0
    over: int = 0
    missing: list[str] = field(default_factory=list)
    good: int = 0
    bad: int = 0
    faults: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    erased: dict[int, int] = field(default_factory=dict)
    decided: int = 0
    otherwise: int = 0

    @property
    def holds(self) -> bool:
        """Whether the run is complete and valid."""
        return not self.faults and not self.missing


class _CheckedGame(NamedTuple):
    """What was found in one game. fault: "" if its record is valid. unseen: why its settings could not be
    compared, else "". erased: the number of erased statements.
    """

    number: int
    fault: str = ""
    unseen: str = ""
    erased: int = 0
    check: GameCheck = GameCheck()


def verify_run(
    store: Store, agents: bool, tell: Callable[[str], None] = lambda fault: None, workers: int = 1
) -> RunVerification:
    """Check a run and all its games. tell: called with each fault when it is found, in the order of games.
    workers: processes that check games; few games are checked in this one.
    """
    found = RunVerification()

    def fault(sentence: str) -> None:
        found.faults.append(sentence)
        tell(sentence)

    for sentence in _of_the_run(store):
        fault(sentence)
    rows, experiment = store.games(), store.experiment
    try:
        experiment = experiment_due(store) if is_tournament(store) else experiment
    except WolflabError as error:
        fault(str(error))
    _compare_with_plan(_games_to_be(store, experiment, rows), rows, found)
    with closing(_checked(store, [row.id for row in rows if row.over], agents, workers)) as games:
        for game in games:
            found.good += not game.fault
            found.bad += bool(game.fault)
            found.decided += game.check.decided
            found.otherwise += game.check.otherwise
            if game.erased:
                found.erased[game.number] = game.erased
            if game.unseen and game.unseen not in found.unseen:
                found.unseen.append(game.unseen)
            if game.fault:
                fault(game.fault)
    return found


def _checked(
    store: Store, games: Sequence[int], agents: bool, workers: int
) -> Generator[_CheckedGame, None, None]:
    """What was found in each of these games, in their order."""
    chunks = [games[at : at + _CHUNK] for at in range(0, len(games), _CHUNK)]
    if workers > 1 and len(games) > _FEW:
        with pool_of(workers, _checking, store.path, agents) as pool:
            for checked in pool.map(chunks):
                yield from checked
    else:
        builder = PlayerBuilder(store.experiment, store.path, reading=True)
        try:
            with rare_collection():
                for number in games:
                    yield _check_game(store, number, agents, builder)
        finally:
            builder.close_cache()


def _checking(path: Path, agents: bool) -> Callable[[Sequence[int]], list[_CheckedGame]]:
    """What checks games in a worker process. agents: whether they are run again."""
    store = Store.open_for_reading(path)
    builder = PlayerBuilder(store.experiment, path, reading=True)

    def check(games: Sequence[int]) -> list[_CheckedGame]:
        with readable(path), rare_collection():
            return [_check_game(store, number, agents, builder) for number in games]

    return check


def _check_game(store: Store, number: int, agents: bool, builder: PlayerBuilder) -> _CheckedGame:
    erased = 0
    try:
        erased = store.record(number).erased_words
        return _CheckedGame(
            number, erased=erased, check=verify_game(store, store.game(number), agents, builder)
        )
    except (ModelError, ExperimentError) as error:  # weights or a policy missing on this machine
        if not agents:
            return _CheckedGame(number, unseen=str(error), erased=erased)
        return _CheckedGame(number, f"game {number}: {error}", erased=erased)
    except WolflabError as error:
        return _CheckedGame(number, f"game {number}: {error}", erased=erased)


def _compare_with_plan(
    planned: Sequence[tuple[str, int, int]], rows: Sequence[GameRow], found: RunVerification
) -> None:
    places = {(row.condition, row.deal, row.repeat): row for row in rows}
    found.planned = len(planned)
    missing = [place for place in planned if place not in places or not places[place].over]
    found.over = len(planned) - len(missing)
    for place in missing[:_NAMED]:
        row = places.get(place)
        condition, deal, repeat = place
        how = "not in the run" if row is None else f"game {row.id}, {row.status}"
        found.missing.append(f"{condition}, deal {deal}, repeat {repeat} ({how})")
    if len(missing) > _NAMED:
        found.missing.append(f"and {len(missing) - _NAMED} more")


def _games_to_be(store: Store, experiment: Experiment, rows: Sequence[GameRow]) -> list[tuple[str, int, int]]:
    """The games due so far. With people, games are planned one by one, and abandoned ones have failed."""
    if store.has_people:
        return [(row.condition, row.deal, row.repeat) for row in rows if row.status != "failed"]
    return [*_without_forks(experiment, rows), *fork_games(store, experiment)]


def _without_forks(experiment: Experiment, rows: Sequence[GameRow]) -> Iterable[tuple[str, int, int]]:
    """The planned games; the deals that replace void ones, batch by batch as the run plans them; and those in
    the run, because the batch that a missing game belongs to does not tell what follows.
    """
    there = {(row.condition, row.deal, row.repeat): row for row in rows}
    due = fresh = planned_games(experiment)
    last = {condition: deal for condition, deal, _ in due}
    while fresh:
        known = [there.get(place) or GameRow(0, *place, "planned", None) for place in due]
        fresh = further_games(experiment, known)
        due = [*due, *fresh]
    in_run = (place for place, row in there.items() if row.deal > last.get(row.condition, row.deal))
    return dict.fromkeys([*due, *in_run])


def _of_the_run(store: Store) -> Iterator[str]:
    """Faults that belong to no single game."""
    yield from store.damage()
    for condition in store.experiment.conditions:
        begun = store.meta(f"condition {condition}")
        if begun is not None and begun != store.experiment.identity(condition):
            yield (
                f"experiment.yaml: condition {condition!r} is not the one that the run began with; copy the "
                "right file back"
            )
    for number in store.orphaned_games():
        yield f"game {number} was deleted: there are still numbers or calls of it; copy the run back"
    # Finished games are checked one by one, and calls of abandoned ones are deleted.
    apart = {asker(row.id) for row in store.games() if row.over or row.error == GIVEN_UP}
    yield from totals_that_differ(store, [who for who in store.askers() if who not in apart])


def totals_that_differ(store: CallStore, askers: Sequence[str]) -> Iterator[str]:
    """Faults of these askers' stored totals."""
    for who in askers:
        kept, counted = store.spent_by(who).get(who, {}), store.summed_totals_of(who)
        if kept.keys() != counted.keys() or not all(totals_alike(kept[name], counted[name]) for name in kept):
            yield f"{who}: what is kept of its cost is not what its calls come to; copy the directory back"
