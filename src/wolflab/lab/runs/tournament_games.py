"""Plays a tournament's games up to a barrier, analyses them, and continues where nothing is decided yet.

Interim analyses take place only at declared numbers of deals, when every game up to there is over. Decisions
follow from the results and not from the order in which games finished, so they are the same at any
concurrency and after any interruption: a resumed run first recomputes them.
"""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import ExperimentError, StoreError
from ...files import read_text
from ...match import Draws, dealt
from ...metrics.behaviours import SideName
from ...metrics.frontier import EntrantUsage
from ...metrics.mixed_tables import MixedGame, mixed_standings
from ...metrics.standings import (
    VERSUS,
    CellGame,
    Matchup,
    Standings,
    StopReason,
    deal_means,
    differences_by_deal,
    pair_of,
    standings,
)
from ...rules import ROLES
from ...stats.sequential import Interval, sequence
from ...usage import Usage
from ..plans.experiment import Experiment
from ..plans.matching import matched_rows
from ..plans.meanings import as_meant
from ..plans.numbering import numbering
from ..plans.prices import prices_of, unpriced
from ..plans.rotations import Rotations
from ..plans.sources import read_fields
from ..plans.tournament_plan import FILE, Stop, Tournament, make_tournament
from ..storage.store import GameRow, Place, Store
from . import runner
from .counting import rows_of
from .first_decisions import FirstDecisions
from .game import keys

_LOOKS = "looks"
"""The key in `meta` of the rule for stopping and the last deal, which decide where interim analyses take
place.
"""
_ROTATIONS = "rotations"
"""The key in `meta` of the rotations of mixed tables; a tournament of cells has none."""


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """The tournament in a run's directory. pairs: its cells; () with mixed tables."""

    pairs: tuple[Matchup, ...]
    stop: Stop | None = None
    tables: tuple[str, ...] = ()
    """Names of published tables."""
    werewolves: tuple[str, ...] = ()
    """The entrants that play them, in order; () without a tournament's file."""
    rotations: Rotations = field(default_factory=dict)
    """Of mixed tables."""


def start_tournament(path: Path, tournament: Tournament, experiment: Experiment | None = None) -> Store:
    """Start a tournament's run in an empty directory. experiment: a shard of the tournament's, or the same
    with other settings of its servers; None: the tournament's.
    """
    experiment = experiment or tournament.experiment()
    if experiment.shard is not None and tournament.stop is not None:
        raise ExperimentError(
            f"--shard {experiment.shard}: when this tournament stops depends on the results of all its games "
            "(stop), which no shard has; take out stop, or play it without --shard"
        )
    beside, facts = {FILE: tournament.written()}, {_LOOKS: _rule_for_looks(tournament)}
    if tournament.rotations:
        facts[_ROTATIONS] = json.dumps(tournament.rotations)
    return Store.create(path, experiment, beside, facts)


def is_tournament(store: Store) -> bool:
    """Whether a run began as a tournament and still has its file."""
    return store.meta(_LOOKS) is not None and (store.path / FILE).is_file()


def rotations_of(store: Store) -> Rotations:
    """The rotations of a tournament with mixed tables; none for any other run."""
    return {name: tuple(who) for name, who in json.loads(store.meta(_ROTATIONS) or "{}").items()}


def entrants_at(rotations: Rotations, condition: str, roles: Sequence[str]) -> tuple[str, ...]:
    """The entrant on each seat of a game. roles: by seat."""
    if condition in rotations:
        return rotations[condition]
    pair = _pair(condition)
    return tuple(pair[ROLES[role].wolf] for role in roles)


def written_of(store: Store) -> str:
    """The text of the tournament's file, or of the experiment whose conditions are cells."""
    file = store.path / (FILE if is_tournament(store) else "experiment.yaml")
    return read_text(file)


def plan_of(store: Store) -> TournamentPlan:
    """The tournament of a run: from its file, or from its rotations, or from the names of an experiment's
    conditions.

    Raises StoreError for any other run, and for a file that was changed.
    """
    if is_tournament(store):
        made = tournament_in(store)
        tables = tuple(made.published)
        return TournamentPlan(made.pairs, made.stop, tables, made.werewolves, made.rotations)
    if rotations := rotations_of(store):
        return TournamentPlan((), rotations=rotations)
    pairs = []
    for name in store.experiment.conditions:
        pair = pair_of(name)
        if pair is None:
            raise StoreError(
                f"{store.path} is no tournament: its condition {name!r} is no pair of entrants; show it by: "
                f"wolflab report {store.path}"
            )
        pairs.append(pair)
    looks = json.loads(store.meta(_LOOKS) or "{}")
    return TournamentPlan(tuple(pairs), Stop(**looks["stop"]) if looks else None)


def tournament_in(store: Store) -> Tournament:
    """The tournament that a run began as, from its file. StoreError if the file was changed."""
    file = store.path / FILE
    data, where = read_fields(file, "tournament")
    # In files of older versions; now published entrants are matched by who plays.
    data.pop("called", None)
    made = make_tournament(as_meant(data, store.meanings), where=where)
    _check_begun(store, made, file)
    return made


def _rule_for_looks(made: Tournament) -> str:
    """The rule for stopping and the last deal, which decide the deals of interim analyses, as JSON."""
    if made.stop is None:
        return "{}"
    stop = made.stop.model_dump(mode="json", exclude_none=True)
    return json.dumps({"deals": made.deals, "stop": stop}, sort_keys=True)


def _check_begun(store: Store, made: Tournament, file: Path) -> None:
    """StoreError if the tournament's file does not fit the run's experiment."""
    undo = "undo the change, or start a new run"
    begun, now = store.experiment, made.experiment(str(file))
    if list(now.conditions) != list(begun.conditions):
        other = sorted(set(now.conditions) ^ set(begun.conditions))
        which = "the pairs stand in another order"
        if other:
            which = f"{other[0]!r} is a {'pair' if pair_of(other[0]) else 'rotation'} only in one of them"
        raise StoreError(
            f"{file}: entrants, tables, sides or mirror are no longer those of experiment.yaml, by which the "
            f"run goes ({which}); {undo}"
        )
    if made.rotations != rotations_of(store):
        raise StoreError(f"{file}: the names of entrants are no longer those that the run began with; {undo}")
    for name in ("deals", "repeats"):
        here, there = getattr(made, name), getattr(begun, name)
        if here != there:
            raise StoreError(
                f"{file}: {name} is {here} here and {there} in experiment.yaml, by which the run goes; write "
                "the same number in both"
            )
    for name in begun.conditions:
        if now.identity(name) != begun.identity(name):
            raise StoreError(
                f"{file}: entrants, rules or seed of {name!r} are no longer those of experiment.yaml, by "
                f"which the run goes; {undo}"
            )
    looks = store.meta(_LOOKS)
    if looks != _rule_for_looks(made):
        raise StoreError(
            f"{file}: the deals of interim analyses cannot change once a run has begun, and it began with "
            f"{'no stop' if looks == '{}' else looks}; {undo}"
        )


@dataclass(frozen=True, slots=True)
class TournamentProgress:
    """The progress of a tournament.

    deals: cell → the number of deals to play so far. over: nothing is left to play.
    """

    deals: Mapping[Matchup, int]
    over: bool
    decisions: tuple[StopReason, ...]


def play_tournament(
    store: Store,
    watch: runner.ProgressWatch = lambda progress: None,
    reached: bool = False,
    first: FirstDecisions | None = None,
) -> bool:
    """Play a tournament's games as `runner.play_run` does, and stop by its rule. Returns whether all are
    over.
    """
    return asyncio.run(playing_tournament(store, watch, reached, first))


async def playing_tournament(
    store: Store,
    watch: runner.ProgressWatch = lambda progress: None,
    reached: bool = False,
    first: FirstDecisions | None = None,
) -> bool:
    """The coroutine of `play_tournament`."""
    plan = plan_of(store)
    if plan.stop is None:
        return await runner.playing(store, watch, reached, first=first)
    whole = store.experiment
    reader = _Reader(store)
    try:
        while True:
            now = progress_of_tournament(plan, plan.stop, whole, store.games(), reader.results())
            part = store.experiment = _up_to(whole, now.deals)
            # Planned here and not by `runner.playing`, which builds players for what it finds planned.
            store.plan(runner.planned_games(part), numbering(whole))
            if now.over:
                # Nothing is left to play, but an interrupted clean-up is finished.
                return await runner.playing(store, watch, reached, first=first)
            if not await runner.playing(store, watch, reached, first=first):
                return False
            reached = True
    finally:
        store.experiment = whole


def experiment_due(store: Store) -> Experiment:
    """The part of a tournament to play so far: all of it, or up to the next interim analysis.

    Raises StoreError for a file that was changed.
    """
    plan = plan_of(store)
    if plan.stop is None:
        return store.experiment
    results = _Reader(store).results()
    now = progress_of_tournament(plan, plan.stop, store.experiment, store.games(), results)
    return _up_to(store.experiment, now.deals)


def tournament_standings(store: Store) -> Standings:
    """All results of a tournament's run, finished or not."""
    plan = plan_of(store)
    experiment, rows = store.experiment, store.games()
    common: dict[str, Any] = {
        "title": experiment.title or experiment.name,
        "description": experiment.source,
        "instrument": experiment.built_in,
        "missing": sum(not row.over for row in rows),
        "used": _used(store, plan, [row for row in rows if row.status == "done"]),
    }
    if plan.rotations:
        return mixed_standings(_mixed_results(store, plan), plan.rotations, **common)
    results = _Reader(store).results()
    decisions: tuple[StopReason, ...] = ()
    if plan.stop is not None:
        decisions = progress_of_tournament(plan, plan.stop, experiment, rows, results).decisions
    return standings(
        results,
        plan.pairs,
        werewolves=plan.werewolves,
        level=None if plan.stop is None else plan.stop.level,
        decisions=decisions,
        published=matched_rows(experiment, plan.tables),
        **common,
    )


# -- stopping ---------------------------------------------------------------------------------


def progress_of_tournament(
    plan: TournamentPlan,
    stop: Stop,
    experiment: Experiment,
    rows: Sequence[GameRow],
    results: Sequence[CellGame],
) -> TournamentProgress:
    """Go through the barriers up to which games are over. rows: all games; results: of the finished ones.

    Without `decide`, a cell's end depends only on its own games; with it, all cells end together.
    """
    most = experiment.deals
    barriers = [*range(stop.every, most, stop.every), most]
    over = _over(rows)
    seen = {pair: _complete(over.get(pair, set()), experiment.repeats, barriers) for pair in plan.pairs}
    ends: dict[Matchup, StopReason | None]
    if stop.decide is not None:
        together = min(seen.values(), key=len)
        seen = dict.fromkeys(plan.pairs, together)
        ends = dict.fromkeys(plan.pairs, _settled(plan, stop, together, results, most))
    else:
        ends = {pair: _narrow(pair, stop, seen[pair], results, most) for pair in plan.pairs}
    deals = {
        pair: barriers[len(seen[pair])] if decision is None else decision.deals
        for pair, decision in ends.items()
    }
    decisions = tuple(dict.fromkeys(decision for decision in ends.values() if decision is not None))
    return TournamentProgress(deals, all(decision is not None for decision in ends.values()), decisions)


def _complete(over: set[tuple[int, int]], repeats: int, barriers: Sequence[int]) -> list[int]:
    """The barriers up to which every game of a cell is over."""
    complete: list[int] = []
    deal = 0
    for barrier in barriers:
        while deal < barrier and all((deal, repeat) in over for repeat in range(repeats)):
            deal += 1
        if deal < barrier:
            break
        complete.append(barrier)
    return complete


def _looks(
    values: Sequence[tuple[int, float]], barriers: Sequence[int], stop: Stop, low: float
) -> Iterator[tuple[int, Interval]]:
    """The confidence sequence at each barrier, on the deals before it. values: (deal, value), ascending."""
    deals = [deal for deal, _ in values]
    at = [bisect_left(deals, barrier) for barrier in barriers]
    kept = [value for _, value in values[: at[-1] if at else 0]]
    yield from zip(barriers, sequence(kept, at, level=stop.level, bounds=(low, 1.0)), strict=True)


def _settled(
    plan: TournamentPlan, stop: Stop, barriers: Sequence[int], results: Sequence[CellGame], most: int
) -> StopReason | None:
    """Where all cells end, because one of two entrants is better or all deals are played; None if not yet."""
    assert stop.decide is not None
    first, second = stop.decide
    values = differences_by_deal(results, plan.pairs, first, second, stop.part)
    for barrier, look in _looks(values, barriers, stop, -1.0):
        settled = look.excludes(0.0)
        if settled or barrier == most:
            how = "settled" if settled else "not settled"
            shown = f"{look.mean:+.3f}, {look.low:+.3f} to {look.high:+.3f}".replace("-", "−")
            reason = f"{how} after {_deals(barrier)} ({first} − {second}: {shown})"
            return StopReason(reason, barrier, settled and barrier < most)
    return None


def _narrow(
    pair: Matchup, stop: Stop, barriers: Sequence[int], results: Sequence[CellGame], most: int
) -> StopReason | None:
    """Where a cell ends, because its interval is narrow enough or all deals are played; None if not yet."""
    assert stop.width is not None
    for barrier, look in _looks(deal_means(results, pair), barriers, stop, 0.0):
        narrow = look.width <= stop.width
        if narrow or barrier == most:
            how = f"{look.width:.3f} wide" + ("" if narrow else f", not the {stop.width:g} asked for")
            reason = f"{VERSUS.join(pair)}: {_deals(barrier)}, interval {how}"
            return StopReason(reason, barrier, narrow and barrier < most)
    return None


def _deals(n: int) -> str:
    return f"{n} deal" if n == 1 else f"{n} deals"


def _over(rows: Sequence[GameRow]) -> dict[Matchup, set[tuple[int, int]]]:
    """Cell → (deal, repeat) of its games that are over."""
    over: dict[Matchup, set[tuple[int, int]]] = {}
    for row in rows:
        if row.over:
            over.setdefault(_pair(row.condition), set()).add((row.deal, row.repeat))
    return over


def _up_to(experiment: Experiment, deals: Mapping[Matchup, int]) -> Experiment:
    """The experiment with this number of deals in each cell."""
    conditions = {
        name: condition.model_copy(update={"deals": deals[_pair(name)]})
        for name, condition in experiment.conditions.items()
    }
    return experiment.model_copy(update={"conditions": conditions})


def _pair(condition: str) -> Matchup:
    pair = pair_of(condition)
    assert pair is not None, condition  # `plan_of` has seen to it
    return pair


# -- reading ----------------------------------------------------------------------------------


class _Reader:
    """Reads the winners of a store's finished games, each once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._won: dict[int, bool | None] = {}

    def results(self) -> list[CellGame]:
        """Every finished game of every cell."""
        over = self._store.games("done")
        fresh = [row for row in over if row.id not in self._won]
        for game, row in zip(fresh, rows_of(self._store, fresh), strict=True):
            assert row is not None
            self._won[game.id] = row.winner
        return [
            CellGame(*_pair(row.condition), row.deal, row.repeat, _SIDE[self._won[row.id]]) for row in over
        ]


def _roles(store: Store, row: GameRow) -> tuple[str, ...]:
    """The roles of a game by seat, which follow from its deal."""
    deal, _ = keys(store.experiment, Place.of(row))
    return dealt(store.experiment.ruleset(row.condition), Draws(deal)).roles


def _mixed_results(store: Store, plan: TournamentPlan) -> list[MixedGame]:
    """Every finished game of mixed tables."""
    over = store.games("done")
    games = []
    for row, counted in zip(over, rows_of(store, over), strict=True):
        assert counted is not None
        seated = list(zip(plan.rotations[row.condition], _roles(store, row), strict=True))
        village = tuple(name for name, role in seated if not ROLES[role].wolf)
        pack = tuple(name for name, role in seated if ROLES[role].wolf)
        games.append(MixedGame(row.condition, village, pack, row.deal, row.repeat, _SIDE[counted.winner]))
    return games


def _used(store: Store, plan: TournamentPlan, over: Sequence[GameRow]) -> dict[str, EntrantUsage]:
    """What each entrant's calls took in finished games; nothing if no call of the run took tokens."""
    if not store.usage().tokens:
        return {}
    experiment = store.experiment
    prices = {name: prices_of(experiment, name) for name in experiment.conditions}
    used: dict[str, EntrantUsage] = {}
    for row in over:
        taken = store.usage_by_seat(row.id)
        for seat, name in enumerate(entrants_at(plan.rotations, row.condition, _roles(store, row))):
            before = used.get(name, EntrantUsage())
            by_model = taken.get(seat, {})
            costless = {
                model: sum((one for one in calls if not one.cost), Usage())
                for model, calls in by_model.items()
            }
            used[name] = EntrantUsage(
                before.seats + 1,
                sum((one for calls in by_model.values() for one in calls), before.usage),
                before.unpriced or bool(unpriced(costless, prices[row.condition])),
            )
    return used


_SIDE: Mapping[bool | None, SideName | None] = {True: "village", False: "werewolves", None: None}
