"""Runs an experiment: plans its games, plays the missing ones, and stores the status of every game.

Results do not depend on the order in which games finish: draws are keyed, and void games are replaced only
when all planned games of the condition are over.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import msgspec

from ...agents.own import OwnAgent
from ...errors import CassetteMismatch, StoreError, WolflabError
from ...fields import first_difference
from ...match import play
from ...metrics.play import PlayerLabel
from ...models.loop import watch as watch_of_loop
from ..engines import LocalEngine, RayEngine, WorkerEnded, Workers
from ..engines.local import rare_collection
from ..engines.workers import AHEAD
from ..experience.run_pools import make_pools
from ..plans.design import sheriff_side
from ..plans.experiment import Experiment
from ..plans.numbering import NumberOf, numbering
from ..storage.call_store import LATENESS, StoredCallCache
from ..storage.store import GameRow, Place, Store, asker
from .casting import PlayerBuilder
from .counting import finished
from .first_decisions import FirstDecisions, decision_watch
from .forks import fork_games
from .game import prepare
from .game_workers import GameAnswers, GamesSetup, GameTask, TimedGame, begin_games, played_now
from .repeatability import ask_twice
from .work import How, check_models, error_sentence, stoppable, work

_TRIES = 3
"""How often a game is given to a worker, where workers end while they play it."""
REDRAWS = 20
"""Void games of a condition are no longer replaced after this many times its planned games."""


@dataclass(slots=True)
class Progress:
    """The progress of a run: games over, games planned so far, and the last one's row.

    news: a sentence about a server or a player; "" for a game that has ended.
    """

    over: int
    planned: int
    last: GameRow | None = None
    news: str = ""


ProgressWatch = Callable[[Progress], None]


def play_run(
    store: Store,
    watch: ProgressWatch = lambda progress: None,
    reached: bool = False,
    first: FirstDecisions | None = None,
) -> bool:
    """Play all games of the store's experiment that are not over yet.

    Returns whether every game is now done or void. Games that could not go on (a failing server, a spent
    budget) stay unfinished and are continued by the next `play_run`; a failed game keeps its error and is
    tried again too. reached: `preflight` has just reached every model. first: when it finds a broken player,
    no new game begins; running games are finished, and the others stay planned, with the reason. Without it,
    all games are played.
    """
    return asyncio.run(playing(store, watch, reached, first=first))


def _build_measuring(builder: PlayerBuilder) -> None:
    """Build embedders that only the report needs, so that a missing package is reported before the games."""
    experiment = builder.experiment
    if experiment.diversity:
        for condition in experiment.conditions:
            for spec in experiment.proposers(condition)[:1]:
                builder.embedder(spec.embedder)


async def preflight(builder: PlayerBuilder) -> None:
    """Build every player, call every model once, load embedders; ModelError before any game starts."""
    builder.all_models()
    builder.pools.check(builder.embedder)
    _build_measuring(builder)
    await check_models(builder.models)
    await builder.check_embedders()


def _as_before(store: Store, builder: PlayerBuilder) -> None:
    """Refuse to continue if a user's own agent has other settings than in finished games, because a default
    in its class has changed. (The file's settings cannot change; no hash covers the code itself.)
    """
    over = {row.condition: row.id for row in store.games() if row.over}
    for condition, game in over.items():
        agents = [role.player.agent for role in builder.cast(condition).values()]
        described = [agent.describe() for agent in agents if isinstance(agent, OwnAgent)]
        now = msgspec.json.decode(msgspec.json.encode(described))  # as a header has them
        players = store.record(game).header.get("players", ()) if now else ()
        for then in players:
            known = [own.get("settings", {}) for own in now if own["recipe"] == then["recipe"]]
            before = then.get("settings", {})
            changed = [change for settings in known if (change := first_difference(before, settings))]
            if known and len(changed) == len(known):  # none has these settings
                name, was, now_is = changed[0]
                raise StoreError(
                    f"{store.path}: {then['recipe']} in {condition}: {name} was {was} in the games so far "
                    f"and is {now_is} now; change it back, or start a new run"
                )


async def playing(
    store: Store,
    watch: ProgressWatch = lambda progress: None,
    reached: bool = False,
    builder: PlayerBuilder | None = None,
    first: FirstDecisions | None = None,
) -> bool:
    """The coroutine of `play_run`. builder: builds the players; None: the experiment's."""
    experiment = store.experiment
    number = numbering(experiment)
    progress = Progress(0, 0)
    first = first or FirstDecisions(keep_going=True)

    def tell(news: str) -> None:
        watch(replace(progress, news=news))

    builder = builder or PlayerBuilder(experiment, store.path, store.spent(), tell=tell)
    try:
        store.plan(planned_games(experiment), number)
        plan_further(store, number)  # a run may have been interrupted between its last game and this step
        rows = store.games()
        if not all(row.over for row in rows):
            if reached:
                builder.all_models()
            else:
                await preflight(builder)
            _as_before(store, builder)
            await ask_twice(store, builder)
        for row in rows:
            if not row.over and (row.error or row.status != "planned"):
                store.stop(row.id, "planned", "")
        async with _workers(store, builder) as workers:
            while first.further() and (planned := builder.pools.ready(rows := store.games())):
                progress.planned = len(rows)
                progress.over = sum(row.status != "planned" for row in rows)
                watch(progress)
                await make_pools(store, builder.pools, planned, builder.embedder)
                if workers is None and builder.instant:
                    await _play_instant(store, builder, planned, watch, progress)
                else:
                    games = (_Playing(store, builder, row, progress, first, tell, workers) for row in planned)

                    def over() -> None:
                        _keep_lateness(store)
                        watch(progress)

                    with rare_collection():
                        await _play_waiting(games, store, builder, over, first.further)
                if builder.budget.closed:
                    break
                plan_further(store, number)
        if first.broken is not None:
            for row in store.games("planned"):
                store.stop(row.id, "planned", first.broken.sentence)
    finally:
        try:
            store.adapted(builder.models)
        finally:  # also on a full disk
            await builder.close()
    return all(row.over for row in store.games())


@asynccontextmanager
async def _workers(store: Store, builder: PlayerBuilder) -> AsyncIterator[Workers | None]:
    """The worker processes that play the games that are left; None where this process plays them."""
    experiment = builder.experiment
    left = sum(not row.over for row in store.games())
    count, local = min(experiment.workers, left), experiment.engine == "local"
    if count == 0 or (count == 1 and local) or builder.has_people:
        yield None
        return
    engine = LocalEngine() if local else RayEngine(experiment.ray.address, count)
    async with AsyncExitStack() as stack:
        with stoppable(builder.budget, drain=0.0):
            workers = await stack.enter_async_context(
                Workers(engine, count, begin_games, GamesSetup.of(builder, store.path))
            )
        yield workers


def _keep_lateness(store: Store) -> None:
    """Store the event loop's delay, if it is long: then this machine is the bottleneck."""
    worst = watch_of_loop().worst
    if worst > float(store.meta(LATENESS) or 0):
        store.remember(LATENESS, f"{worst:.1f}", anew=True)


async def _play_waiting(
    games: Iterable[_Playing],
    store: Store,
    builder: PlayerBuilder,
    over: Callable[[], None],
    further: Callable[[], bool],
) -> None:
    """Play games whose players wait, as long as new ones may begin. Games that a failing server stopped are
    tried once more if another game has finished since.
    """
    experiment, budget = builder.experiment, builder.budget
    at_once = AHEAD * experiment.workers if builder.instant else experiment.concurrency
    before = _over_in(store)
    broken_off = await work(games, at_once, over, budget, further)
    while broken_off and (now := _over_in(store)) > before:
        before = now
        for game in broken_off:
            game.begin_again()
        broken_off = await work(sorted(broken_off, key=_Playing.number), at_once, over, budget)


def _over_in(store: Store) -> int:
    games = store.count_games()
    return games["done"] + games["void"]


def planned_games(experiment: Experiment) -> list[tuple[str, int, int]]:
    """(condition, deal, repeat) of all planned games, in order, without forks (`fork_games`)."""
    names = [name for name in experiment.conditions if experiment.fork(name) is None]
    return [(name, *place) for name in names for place in experiment.places(name)]


def plan_further(store: Store, number: NumberOf) -> None:
    """Plan what follows from the finished games: deals in place of void ones, and forks."""
    store.plan(further_games(store.experiment, store.games()), number)
    store.plan(fork_games(store, store.experiment), number)


def further_games(experiment: Experiment, games: Sequence[GameRow]) -> list[tuple[str, int, int]]:
    """The deals that replace void games, for each condition whose games are all over. games: those of the
    run. In a stratified design a deal is replaced by one of its own stratum. A shard replaces none: the run
    that shards are merged into does.
    """
    if not experiment.redraw_void or experiment.shard is not None:
        return []
    by_condition: dict[str, list[GameRow]] = {name: [] for name in experiment.conditions}
    for row in games:
        if experiment.fork(row.condition) is None:
            by_condition[row.condition].append(row)
    fresh: list[tuple[str, int, int]] = []
    for condition, rows in by_condition.items():
        target = len(experiment.places(condition))
        if not rows or not all(row.over for row in rows) or len(rows) >= REDRAWS * target:
            continue
        missing = Counter(
            sheriff_side(experiment, condition, deal) for deal, _ in experiment.places(condition)
        )
        missing.subtract(
            sheriff_side(experiment, condition, row.deal) for row in rows if row.status == "done"
        )
        deal = max(row.deal for row in rows)
        repeat = experiment.conditions[condition].first_repeat
        while any(number > 0 for number in missing.values()):
            deal += 1
            side = sheriff_side(experiment, condition, deal)
            if missing[side] > 0:
                missing[side] -= 1
                fresh.append((condition, deal, repeat))
    return fresh


class _Playing:
    """A planned game as an asker (`work.Asker`)."""

    def __init__(
        self,
        store: Store,
        builder: PlayerBuilder,
        row: GameRow,
        progress: Progress,
        first: FirstDecisions,
        tell: Callable[[str], None],
        workers: Workers | None,
    ) -> None:
        self._store, self._builder, self._row, self._progress = store, builder, row, progress
        self._first, self._tell, self._workers = first, tell, workers

    def number(self) -> int:
        """The number of the game."""
        return self._row.id

    async def go(self) -> None:
        """Play the game and store its record."""
        store, row = self._store, self._row
        self._builder.check_refused(row.condition)
        try:
            played = await (self._here() if self._workers is None else self._in(self._workers))
        except CassetteMismatch as mismatch:
            raise mismatch if store.read_as_now else _begun_otherwise(store) from None
        store.keep(row.id, *played.game, played.seconds)
        self._over()

    async def _here(self) -> TimedGame:
        """Play the game in this process."""
        store, row, start = self._store, self._row, time.perf_counter()
        filed = store.calls(row.id)
        file = StoredCallCache(store, asker(row.id), filed)
        match = prepare(self._builder, Place.of(row), file)
        if self._first.counting:
            match = replace(match, answered=decision_watch(filed, self._decided))
        played = await play(match)
        spent = store.game_totals(row.id)
        game = finished(self._builder.experiment, row.condition, played, file.held, spent)
        return TimedGame(game, time.perf_counter() - start)

    async def _in(self, workers: Workers) -> TimedGame:
        """Play the game in a worker; in another one if that one ends."""
        store, row = self._store, self._row
        for _ in range(_TRIES):
            filed = store.calls(row.id)
            task = GameTask(row, filed, self._builder.parent(Place.of(row)), self._first.counting)
            answers = GameAnswers(store, self._builder, row, filed, self._decided)
            try:
                played: TimedGame = await workers.do(task, answers)
            except WorkerEnded:
                continue
            return played
        raise WolflabError(
            f"{_TRIES} worker processes ended while they played this game: is memory short, or does an "
            "agent's own code end the process (os._exit)?"
        )

    def _decided(self, player: PlayerLabel, invalid: str | None) -> None:
        broken = self._first.counted(player, invalid)
        if broken is not None:
            begun = f"{broken.sentence[0].upper()}{broken.sentence[1:]}"
            self._tell(f"{begun}. No further game begins; those under way are played to their end.")

    def begin_again(self) -> None:
        """Count the game as not over, because it is tried again."""
        self._store.stop(self._row.id, "planned", "")
        self._progress.over -= 1

    def stop(self, how: How, why: str) -> None:
        """Store why the game could not go on."""
        self._store.stop(self._row.id, how, why)
        self._over()

    def _over(self) -> None:
        self._progress.over += 1
        self._progress.last = self._store.game(self._row.id)


def _begun_otherwise(store: Store) -> CassetteMismatch:
    return CassetteMismatch(
        f"this run was begun by an earlier version of Wolflab ({store.begun.wolflab or 'unnamed'}), which "
        "asked otherwise or read a stored reply of this game otherwise, so that it cannot go on from its "
        "calls; go on with that version, or start a new run"
    )


async def _play_instant(
    store: Store,
    builder: PlayerBuilder,
    rows: Sequence[GameRow],
    watch: ProgressWatch,
    progress: Progress,
) -> None:
    """Play games whose players never wait, one after another, in this process."""
    with stoppable(builder.budget), rare_collection():
        for row in rows:
            filed = {} if builder.experiment.fork(row.condition) is None else store.calls(row.id)
            try:
                played = played_now(builder, row, filed)
            except Exception as error:  # noqa: BLE001 (stored with its game, as in `work`)
                store.stop(row.id, "failed", error_sentence(error))
            else:
                store.keep(row.id, *played.game, played.seconds)
            progress.over += 1
            progress.last = store.game(row.id)
            watch(progress)
            await asyncio.sleep(0)  # lets Ctrl-C in
            if builder.budget.closed:
                return
