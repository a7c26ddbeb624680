"""From a store to what the metrics compute from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from ..errors import StoreError
from ..metrics.conduct import conduct, lightened
from ..metrics.data import CallTotals, Game
from ..metrics.shapes import Curve
from ..metrics.summary import Summary, summarise
from ..models.base import Usage
from .differences import baseline_of
from .experiment import Experiment
from .pools import draw_of
from .store import Store


def games(store: Store) -> list[Game]:
    """Every planned game of a run, whatever became of it. Forks are left out: they are no sample.

    Records come without what only `metrics.conduct` reads, which is worked out here; with several workers,
    in as many processes.
    """
    rows = [row for row in store.games() if not row.branch]
    experiment = store.experiment
    if experiment.workers > 1 and len(rows) > 2 * _CHUNK:
        chunks = [[row.id for row in rows[at : at + _CHUNK]] for at in range(0, len(rows), _CHUNK)]
        context = get_context("spawn")
        with ProcessPoolExecutor(experiment.workers, context, _open, (store.path,)) as pool:
            return [game for found in pool.map(_read_there, chunks) for game in found]
    return _read(store, [row.id for row in rows], store.totals())


Totals = Mapping[int, Mapping[str, tuple[int, Usage, float]]]
"""`Store.totals`."""
_CHUNK = 100
"""Games that a process reads at a time."""
_opened: tuple[Store, Totals] | None = None
"""Of a reading process: the run, and its totals, which are added up once."""


def _open(path: Path) -> None:
    global _opened
    store = Store.open_for_reading(path)
    _opened = store, store.totals()


def _read_there(ids: list[int]) -> list[Game]:
    assert _opened is not None
    store, totals = _opened
    return _read(store, ids, totals)


def _read(store: Store, ids: Sequence[int], totals: Totals) -> list[Game]:
    experiment = store.experiment
    drawn = {
        name: next((one for one in experiment.experience(name) if one.draws > 1), None)
        for name in experiment.conditions
    }
    watched = {
        name: (experiment.ruleset(name).seat(seat), seat) if (seat := experiment.watched) else None
        for name in experiment.conditions
    }
    found = []
    for number in ids:
        row = store.game(number)
        calls = {
            model: CallTotals(n, u.prompt_tokens, u.completion_tokens, u.cached_tokens, u.cost)
            for model, (n, u, _) in totals.get(row.id, {}).items()
        }
        record = store.record(row.id) if row.status in ("done", "void") else None
        spec = drawn[row.condition]
        shown = None
        if experiment.behaviours and row.status == "done" and record is not None:
            shown = conduct(record)
        if record is not None:
            record = lightened(record)
        found.append(
            Game(
                row.condition,
                row.deal,
                row.repeat,
                row.status,
                row.error or None,
                record,
                calls,
                0 if spec is None else draw_of(spec, row.repeat),
                shown,
                watched[row.condition],
            )
        )
    return found


def _instrument(experiment: Experiment, found: list[Game]) -> bool | None:
    """As the records say (None), or, while no game is over, as the experiment says."""
    if any(game.record is not None for game in found):
        return None
    return experiment.built_in


def summary(store: Store) -> Summary:
    """All numbers of a run, with the published tables that its experiment names."""
    experiment, found = store.experiment, games(store)
    return summarise(
        found,
        title=experiment.title or experiment.name,
        description=experiment.source,
        instrument=_instrument(experiment, found),
        published=experiment.published,
        planted=None
        if experiment.planted is None
        else {
            "measure": experiment.planted.measure,
            "knob": experiment.planted.knob,
            "values": experiment.truths(),
        },
        baseline=baseline_of(experiment),
        contrasts=experiment.contrasts,
        curve=_curve(experiment),
    )


def _curve(experiment: Experiment) -> Curve | None:
    given = experiment.curve
    if given is None:
        return None
    points = tuple(sorted(given.points.items(), key=lambda point: point[1]))
    return Curve(given.x, points, tuple(given.measures), given.baseline)


def compared(stores: Sequence[Store]) -> Summary:
    """Several runs side by side, each condition under its run's name, compared on the deals they share.

    Raises StoreError for fewer than two runs, and for runs that did not deal the same cards.
    """
    if len(stores) < 2:
        raise StoreError("compare takes two runs or more; one alone is shown by: wolflab report RUN")
    if len({store.path.resolve() for store in stores}) < len(stores):
        raise StoreError("compare was given one run twice; name different runs")
    first = stores[0]
    found: list[Game] = []
    for store in stores:
        if _cards(store) != _cards(first):
            raise StoreError(
                f"{store.path} did not deal the same cards as {first.path} (its seed or its roles differ), "
                "so that their games cannot be paired; run one again with the other's seed and rules"
            )
        for game in games(store):
            found.append(replace(game, condition=f"{store.path.name}: {game.condition}"))
    titles = dict.fromkeys(store.experiment.title or store.experiment.name for store in stores)
    return summarise(found, title="Runs compared", description=" · ".join(titles))


def _cards(store: Store) -> tuple[int, list[tuple[str, int]]]:
    """What decides a run's deals."""
    experiment = store.experiment
    rules = experiment.ruleset(next(iter(experiment.conditions)))
    return experiment.seed, list(rules.roles.items())
