"""Verifies a run: whether all planned games are stored, and whether their data are consistent.

`replay.verify_game` checks one game. This module checks the run: the plan, the settings that it began with,
calls without a game, and the file itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...errors import ExperimentError, ModelError, WolflabError
from ...usage import totals_alike
from ..plans.experiment import Experiment
from ..storage.call_store import CallStore
from ..storage.store import GIVEN_UP, GameRow, Store, asker
from .casting import PlayerBuilder
from .forks import fork_games
from .replay import verify_game
from .runner import further_games, planned_games
from .tournament_games import experiment_due, is_tournament

_NAMED = 10
"""The number of missing games that are listed."""


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


def verify_run(
    store: Store, agents: bool, tell: Callable[[str], None] = lambda fault: None
) -> RunVerification:
    """Check a run and all its games. tell: called with each fault when it is found."""
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
    builder = PlayerBuilder(store.experiment, store.path, reading=True)
    try:
        for row in rows:
            if row.over:
                _check_game(store, row, agents, builder, found, fault)
    finally:
        builder.close_cache()
    return found


def _check_game(
    store: Store,
    row: GameRow,
    agents: bool,
    builder: PlayerBuilder,
    found: RunVerification,
    fault: Callable[[str], None],
) -> None:
    try:
        if n := store.record(row.id).erased_words:
            found.erased[row.id] = n
        checked = verify_game(store, row, agents, builder)
        found.good += 1
        found.decided += checked.decided
        found.otherwise += checked.otherwise
    except (ModelError, ExperimentError) as error:  # weights or a policy missing on this machine
        if agents:
            found.bad += 1
            fault(f"game {row.id}: {error}")
        else:
            found.good += 1
            found.unseen += [why for why in [str(error)] if why not in found.unseen]
    except WolflabError as error:
        found.bad += 1
        fault(f"game {row.id}: {error}")


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
