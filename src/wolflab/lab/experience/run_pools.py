"""The pools of experience of a run: made of its own games, or copied from a file.

They are in the run's directory, so that a run can be copied. A pool is made once, before the first game that
needs it, from games in the order of the experiment; it never changes after that. A growing pool is one file,
to which each barrier adds a state (`pool_file`).
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from ...agents.experience import Pool, Retriever
from ...errors import ExperimentError, RecordError
from ...files import copy_file, make_folder, write
from ...models.embedders import Embedder, require_same
from ..plans.experiment import Experiment
from ..plans.specs import ExperienceSpec
from ..storage.store import GameRow, Place, Store
from .from_games import Selection
from .pool import NothingToLearn, build_pool, extend_pool, load_pool
from .pool_file import create_pool, states_of, stored_pool

FOLDER = "pools"
_MOST_OPEN = 32
"""The most pools in memory, one state of each growing one."""
EmbedderOf = Callable[[str | Mapping[str, Any]], Embedder]


class PoolState(NamedTuple):
    """The file and state of a game's pool. deals: the state of a growing pool, else None."""

    path: Path
    deals: int | None = None


class Pools:
    """The pools of one run. `home`: the run's directory; None for a game that is not kept, which can only use
    pools from files.
    """

    def __init__(self, experiment: Experiment, home: Path | None) -> None:
        self.experiment, self.home = experiment, home
        self._open: OrderedDict[PoolState, Pool | None] = OrderedDict()

    def at(self, spec: ExperienceSpec, place: Place) -> PoolState | None:
        """The file and state of the pool of a game's player; None if it has none yet."""
        if spec.pool is not None:
            given = Path(spec.pool)
            own = f"{given.stem}-{_short(spec.pool)}.pool"
            return PoolState(given if self.home is None else self.home / FOLDER / own)
        if self.home is None:
            raise ExperimentError(
                "experience: one game alone has no games to learn from; name a pool's file, or run it as an "
                "experiment"
            )
        made = [spec.games_of or place.condition, spec.of, spec.share, spec.embedder, spec.draws]
        mark = _short(json.dumps(made, sort_keys=True))
        if spec.grow is not None:
            barrier = self._barrier(spec.grow, place)
            name = f"{_plain(place.condition)}-growing-{mark}.pool"
            return PoolState(self.home / FOLDER / name, barrier) if barrier else None
        name = f"{_plain(str(spec.games_of))}-{spec.games or 'all'}-games-{draw_of(spec, place.repeat) + 1}"
        return PoolState(self.home / FOLDER / f"{name}-{mark}.pool")

    def _barrier(self, every: int, place: Place) -> int:
        """The number of deals in a growing pool's state at a place."""
        first = self.experiment.planned(place.condition).first_deal
        return (place.deal - first) // every * every

    def retriever(
        self, spec: ExperienceSpec, place: Place, deal: str, embedder: Embedder
    ) -> Retriever | None:
        """The retriever of a game's pool; ModelError if another embedder made it."""
        at = self.at(spec, place)
        pool = None if at is None else self.pool(at, embedder)
        if pool is None:
            return None
        window = None if spec.window is None else (spec.window[0], spec.window[1])
        return Retriever(pool, spec.epsilon, spec.limit, spec.good, window, None if spec.same_deal else deal)

    def pool(self, at: PoolState, embedder: Embedder) -> Pool | None:
        """The pool of a file and state; None for an empty one. ModelError if another embedder made it."""
        if not self.has(at):
            stored = None if _empty(at.path).exists() else stored_pool(at.path, at.deals)
            if stored is not None:
                require_same(stored.pool.embedder, embedder, f"the pool {at.path}")
            self.keep(at, stored and stored.pool)
        return self._open[at]

    def has(self, at: PoolState) -> bool:
        """Whether a pool is in memory; from now on it is the one that was used last."""
        if at in self._open:
            self._open.move_to_end(at)
        return at in self._open

    def of_game(self, place: Place) -> list[tuple[ExperienceSpec, PoolState]]:
        """The pools that a game's players learn from, each with the settings of one who does."""
        specs = self.experiment.experience(place.condition)
        return [(spec, at) for spec in specs if (at := self.at(spec, place)) is not None]

    def keep(self, at: PoolState, pool: Pool | None) -> None:
        """Keep a pool in memory, instead of an earlier state of the same file."""
        for other in [opened for opened in self._open if opened.path == at.path]:
            del self._open[other]
        self._open[at] = pool
        while len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)

    def check(self, embedder: EmbedderOf) -> None:
        """Read every pool that comes from a file, so that errors are reported now."""
        for condition in self.experiment.conditions:
            for spec in self.experiment.experience(condition):
                if spec.pool is not None:
                    own = self.at(spec, Place(condition, 0, 0))
                    taken_in = own is not None and own.path.exists()
                    load_pool(own.path if own and taken_in else Path(spec.pool), embedder(spec.embedder))

    def verify(self, place: Place, players: Sequence[Mapping[str, Any]], where: str) -> None:
        """RecordError unless the pools in a game's header are those of the run, unchanged.

        players: as in the header. Each pool is read completely, and its digest is checked.
        """
        found: list[tuple[ExperienceSpec, Path, PoolContent | None]] = []
        missing = []
        for spec in self.experiment.experience(place.condition):
            at = self.at(spec, place)
            if at is None or _empty(at.path).exists():
                continue
            if at.path.is_file():
                stat = at.path.stat()
                found.append((spec, at.path, _content(at, (stat.st_mtime_ns, stat.st_size))))
            else:
                missing.append(str(at.path))
        for player in players:
            stated = player.get("experience")
            if stated is None or any(_same(stated, spec, content) for spec, _, content in found):
                continue
            digest = str(stated.get("digest"))[:40]
            if missing:
                raise RecordError(
                    f"{where}: {', '.join(missing)} is missing, a pool that its players learned from (digest "
                    f"{digest}): copy it back"
                )
            lies = "; ".join(f"{path} holds {content or 'nothing'}" for _, path, content in found)
            raise RecordError(
                f"{where}: its players had the pool {digest}, and {lies or 'the run has none for them'}: the "
                "file was changed or swapped after the game; copy the right one back"
            )

    # -- games of a pool ------------------------------------------------------------------

    def ready(self, rows: Sequence[GameRow]) -> list[GameRow]:
        """The planned games that can begin, in order: deal by deal over all conditions, so that an
        interrupted run has about as many games of each. rows: all of the run.

        A game whose players learn from unfinished games waits for them. Later games wait too, except those
        that others learn from. If only other games can begin, these are played.
        """
        first_open: dict[str, int] = {}
        for row in rows:
            if not row.over:
                first_open[row.condition] = min(row.deal, first_open.get(row.condition, row.deal))
        specs = {name: self.experiment.experience(name) for name in self.experiment.conditions}
        order = {name: nth for nth, name in enumerate(specs)}

        def at(row: GameRow) -> tuple[int, int, int]:
            first_deal, first_repeat = self.experiment.planned(row.condition)[2:]
            return row.deal - first_deal, row.repeat - first_repeat, order[row.condition]

        planned = sorted((row for row in rows if row.status == "planned"), key=at)
        ready: list[GameRow] = []
        waiting: list[GameRow] = []
        for row in planned:
            place = Place.of(row)
            can = all(self._over(spec, place, first_open) for spec in specs[row.condition])
            (ready if can else waiting).append(row)
        if not waiting:
            return ready
        learners = {row.condition for row in waiting}
        learned_from = {spec.games_of or name for name in learners for spec in specs[name]}
        return [row for row in ready if at(row) < at(waiting[0]) or row.condition in learned_from] or ready

    def _over(self, spec: ExperienceSpec, place: Place, first_open: Mapping[str, int]) -> bool:
        """Whether the games that a player learns from are over. first_open: each condition's first unfinished
        deal.
        """
        if spec.pool is not None:
            return True
        if spec.grow is None:
            return str(spec.games_of) not in first_open
        return first_open.get(place.condition, place.deal) >= self._end(spec.grow, place)

    def _end(self, every: int, place: Place) -> int:
        """The first deal that is not in a growing pool."""
        return self.experiment.conditions[place.condition].first_deal + self._barrier(every, place)

    def sources(self, rows: Sequence[GameRow], spec: ExperienceSpec, place: Place) -> list[GameRow]:
        """The games of a pool, in order.

        Draws divide the source's games among them, game by game; a smaller pool is the start of a larger one.
        """
        condition = spec.games_of or place.condition
        done = [row for row in rows if row.condition == condition and row.status == "done"]
        done.sort(key=lambda row: (row.deal, row.repeat))
        if spec.grow is not None:
            return [row for row in done if row.deal < self._end(spec.grow, place)]
        return done[draw_of(spec, place.repeat) :: spec.draws][: spec.games]


async def make_pools(store: Store, pools: Pools, rows: Sequence[GameRow], embedder: EmbedderOf) -> None:
    """Make or copy every missing pool that the planned games `rows` need."""
    everything = store.games()
    provided: set[PoolState] = set()
    for row in rows:
        place = Place.of(row)
        for spec in pools.experiment.experience(row.condition):
            at = pools.at(spec, place)
            if at is None or at in provided:
                continue
            provided.add(at)
            if at.deals is None and (at.path.exists() or _empty(at.path).exists()):
                continue
            if spec.pool is not None:
                copy_file(spec.pool, at.path)
                continue
            make_folder(at.path.parent)
            sources = pools.sources(everything, spec, place)
            lot = at.path.stem if at.deals is None else f"{at.path.stem}-{at.deals}"
            selection = Selection(
                side="losers" if spec.of == "losers" else "all",
                shuffle=lot if spec.of == "shuffled" else None,
            )
            made_with = embedder(spec.embedder)
            if at.deals is None:
                records = [store.record(source.id) for source in sources]
                try:
                    await build_pool(records, made_with, at.path, selection, share=spec.share)
                except NothingToLearn:
                    write(_empty(at.path), b"")
                continue
            if not at.path.exists():
                create_pool(at.path, made_with.describe())
            states = states_of(at.path)
            if at.deals not in states:
                known = pools.experiment.conditions[place.condition].first_deal + max(states, default=0)
                records = [store.record(source.id) for source in sources if source.deal >= known]
                pool = await extend_pool(at.path, at.deals, records, made_with, selection, share=spec.share)
                pools.keep(at, pool)


class PoolContent(NamedTuple):
    """The checked content of a pool. epsilon: its own, for players without one. was: see `StoredPool`."""

    digest: str
    n: int
    epsilon: float
    was: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"the pool {self.digest} (ε {self.epsilon:.4f})"


def _same(stated: Mapping[str, Any], spec: ExperienceSpec, content: PoolContent | None) -> bool:
    """Whether a header's description fits the pool."""
    if content is None or stated.get("experiences") != content.n:
        return False
    if stated.get("digest") not in (content.digest, *content.was):  # from before words were erased
        return False
    return spec.epsilon is not None or stated.get("epsilon") == content.epsilon


@lru_cache(256)
def _content(at: PoolState, stamp: tuple[int, int]) -> PoolContent | None:
    """The content of a pool, read completely; None for an empty state. StoreError for damage. stamp: of the
    file, so that a changed file is read again.
    """
    stored = stored_pool(at.path, at.deals)
    if stored is None:
        return None
    return PoolContent(stored.pool.digest, len(stored.pool), stored.pool.epsilon, stored.was)


def draw_of(spec: ExperienceSpec, repeat: int) -> int:
    """The number of a game's pool, by its repeat."""
    return repeat % spec.draws


def _empty(path: Path) -> Path:
    """The file that marks an empty pool: no game of its source was won."""
    return path.with_suffix(".empty")


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "_", text)


def _short(text: str) -> str:
    return blake2b(text.encode(), digest_size=4).hexdigest()
