"""The pools of experience that a run's players look into: made of its own games, or taken in from a file.

They lie in the run's directory, so that a copied run is whole. A pool is made once, before the first game
that needs it, from games in the order of the experiment; it never changes after that.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..agents.experience import Pool
from ..agents.shelf import Shelf
from ..errors import ExperimentError
from ..models.embedders import Embedder
from .experience import NothingToLearn, Selection, build, load
from .experiment import Experiment
from .place import Place
from .specs import ExperienceSpec
from .store import GameRow, Store

FOLDER = "pools"
_AT_HAND = 32
"""Pools kept in memory; a growing one leaves its earlier states behind."""
EmbedderOf = Callable[[str | Mapping[str, Any]], Embedder]


class Pools:
    """The pools of one run. `home`: the run's directory; None for a game that is not kept, which can use
    pools from files alone.
    """

    def __init__(self, experiment: Experiment, home: Path | None) -> None:
        self.experiment, self.home = experiment, home
        self._open: OrderedDict[Path, Pool] = OrderedDict()

    def path(self, spec: ExperienceSpec, place: Place) -> Path | None:
        """Where the pool for a game's player lies or will lie; None where it has none yet."""
        if spec.pool is not None:
            given = Path(spec.pool)
            return (
                given if self.home is None else self.home / FOLDER / f"{given.stem}-{_short(spec.pool)}.pool"
            )
        if self.home is None:
            raise ExperimentError(
                "experience: one game alone has no games to learn from; name a pool's file, or run it as an "
                "experiment"
            )
        if spec.grow is not None:
            barrier = self._barrier(spec.grow, place)
            if not barrier:
                return None
            name = f"{_plain(place.condition)}-{barrier}-deals"
        else:
            name = (
                f"{_plain(str(spec.games_of))}-{spec.games or 'all'}-games-{draw_of(spec, place.repeat) + 1}"
            )
        made = [spec.games_of or place.condition, spec.of, spec.share, spec.embedder, spec.draws]
        return self.home / FOLDER / f"{name}-{_short(json.dumps(made, sort_keys=True))}.pool"

    def _barrier(self, every: int, place: Place) -> int:
        """How many deals of its condition a growing pool holds at a place."""
        first = self.experiment.conditions[place.condition].first_deal
        return (place.deal - first) // every * every

    def shelf(self, spec: ExperienceSpec, place: Place, deal: str, embedder: Embedder) -> Shelf | None:
        """The pool as a game may see it; ModelError where another embedder made it."""
        path = self.path(spec, place)
        if path is None or _empty(path).exists():
            return None
        if path not in self._open:
            self._open[path] = load(path, embedder)
            self._open[path].preload()  # a first search would otherwise hold up every other game
            while len(self._open) > _AT_HAND:
                self._open.popitem(last=False)
        self._open.move_to_end(path)
        window = None if spec.window is None else (spec.window[0], spec.window[1])
        return Shelf(
            self._open[path], spec.epsilon, spec.limit, spec.good, window, None if spec.same_deal else deal
        )

    def check(self, embedder: EmbedderOf) -> None:
        """Read every pool that is taken in from a file, so that what is wrong with it is said now."""
        for condition in self.experiment.conditions:
            for spec in self.experiment.experience(condition):
                if spec.pool is not None:
                    own = self.path(spec, Place(condition, 0, 0))
                    there = own is not None and own.exists()
                    load(own if own is not None and there else Path(spec.pool), embedder(spec.embedder))

    # -- which games it takes -------------------------------------------------------------

    def ready(self, rows: Sequence[GameRow]) -> list[GameRow]:
        """The planned games whose players have all the games that they learn from. rows: all of the run."""
        first_open: dict[str, int] = {}
        for row in rows:
            if not row.branch and row.status not in ("done", "void"):
                first_open[row.condition] = min(row.deal, first_open.get(row.condition, row.deal))
        specs = {name: self.experiment.experience(name) for name in self.experiment.conditions}
        return [
            row
            for row in rows
            if row.status == "planned"
            and all(self._over(spec, Place.of(row), first_open) for spec in specs[row.condition])
        ]

    def _over(self, spec: ExperienceSpec, place: Place, first_open: Mapping[str, int]) -> bool:
        """Whether what a player learns from is over. first_open: each condition's first deal that is not."""
        if spec.pool is not None:
            return True
        if spec.grow is None:
            return str(spec.games_of) not in first_open
        return first_open.get(place.condition, place.deal) >= self._end(spec.grow, place)

    def _end(self, every: int, place: Place) -> int:
        """The first deal that a growing pool no longer holds."""
        return self.experiment.conditions[place.condition].first_deal + self._barrier(every, place)

    def _needed(self, rows: Sequence[GameRow], spec: ExperienceSpec, place: Place) -> list[GameRow]:
        if spec.grow is None:
            return [one for one in rows if one.condition == spec.games_of and not one.branch]
        mine = [one for one in rows if one.condition == place.condition and not one.branch]
        return [one for one in mine if one.deal < self._end(spec.grow, place)]

    def sources(self, rows: Sequence[GameRow], spec: ExperienceSpec, place: Place) -> list[GameRow]:
        """The games that a pool is made of, in game order.

        Draws part the source's games among them, game by game; a smaller pool is the beginning of a larger.
        """
        done = [one for one in self._needed(rows, spec, place) if one.status == "done"]
        done.sort(key=lambda one: (one.deal, one.repeat))
        if spec.grow is not None:
            return done
        return done[draw_of(spec, place.repeat) :: spec.draws][: spec.games]


async def provide(store: Store, pools: Pools, rows: Sequence[GameRow], embedder: EmbedderOf) -> None:
    """Make or take in every pool that the planned games `rows` need and that is not there yet."""
    everything = store.games()
    for row in rows:
        place = Place.of(row)
        for spec in pools.experiment.experience(row.condition):
            path = pools.path(spec, place)
            if path is None or path.exists() or _empty(path).exists():
                continue
            path.parent.mkdir(exist_ok=True)
            if spec.pool is not None:
                half = path.with_suffix(".part")
                shutil.copyfile(spec.pool, half)
                half.replace(path)
                continue
            sources = pools.sources(everything, spec, place)
            records = [store.record(one.id) for one in sources]
            kept = Selection(side="losers" if spec.of == "losers" else "all", shuffle=_shuffle(spec, path))
            try:
                await build(records, embedder(spec.embedder), path, kept, share=spec.share)
            except NothingToLearn:
                _empty(path).touch()


def draw_of(spec: ExperienceSpec, repeat: int) -> int:
    """Which of its pools a game has, by its repeat."""
    return repeat % spec.draws


def _shuffle(spec: ExperienceSpec, path: Path) -> str | None:
    """By which lot responses are dealt anew; None for not at all."""
    return path.stem if spec.of == "shuffled" else None


def _empty(path: Path) -> Path:
    """Stands for a pool that came to nothing: no game of its source was won, so its players learn nothing."""
    return path.with_suffix(".empty")


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "_", text)


def _short(text: str) -> str:
    return blake2b(text.encode(), digest_size=4).hexdigest()
