"""From a store to what the metrics compute from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import StoreError
from ..metrics.data import CallTotals, Game
from ..metrics.summary import Summary, summarise
from ..models.catalog import BUILT_IN
from .experiment import Experiment
from .store import Store


def games(store: Store) -> list[Game]:
    """Every planned game of a run, whatever became of it. Forks are left out: they are no sample."""
    totals = store.totals()
    found = []
    for row in store.games():
        if row.branch:
            continue
        calls = {
            model: CallTotals(n, u.prompt_tokens, u.completion_tokens, u.cached_tokens, u.cost)
            for model, (n, u, _) in totals.get(row.id, {}).items()
        }
        over = row.status in ("done", "void")
        found.append(
            Game(
                row.condition,
                row.deal,
                row.repeat,
                row.status,
                row.error or None,
                store.record(row.id) if over else None,
                calls,
            )
        )
    return found


def _instrument(experiment: Experiment, found: list[Game]) -> bool | None:
    """As the records say (None), or, while no game is over, as the experiment says."""
    if any(game.record is not None for game in found):
        return None
    models = {
        spec.model["model"] if isinstance(spec.model, dict) else spec.model
        for condition in experiment.conditions
        for spec in experiment.cast(condition).values()
    }
    return models <= {None, BUILT_IN}


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
    )


def compared(stores: Sequence[Store]) -> Summary:
    """Several runs side by side, each condition under its run's name, compared on the deals they share.

    Raises StoreError for fewer than two runs, and for runs that did not deal the same cards.
    """
    if len(stores) < 2:
        raise StoreError("compare takes two runs or more; one alone is shown by: wolflab report RUN")
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
