"""The cost of all calls of a run, as in its report, without reading its games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...usage import CallTotals, Cost, cost_of
from ..plans.prices import prices_of, prices_of_all, unpriced
from ..runs.batch import by_model
from ..runs.rehearsal import embedder_prices
from ..storage.call_store import CallStore
from ..storage.store import Store, asker


def run_cost(store: Store) -> Cost:
    """The cost of all calls of a run of games."""
    prices = {name: prices_of(store.experiment, name) for name in store.experiment.conditions}
    spent, costless = store.spent_by(), store.costless()

    def games() -> Iterator[tuple[Mapping[str, CallTotals], frozenset[str]]]:
        for row in store.games():
            who = asker(row.id)
            yield spent.get(who, {}), unpriced(costless.get(who, {}), prices[row.condition])
        yield calls_outside_games(store)

    return cost_of(games(), store.spent_on_texts(), unpriced_texts(store))


def calls_outside_games(store: Store) -> tuple[dict[str, CallTotals], frozenset[str]]:
    """The totals by model of the calls of a run that no game made, and the models with an unknown price."""
    of_games = {asker(row.id) for row in store.games()}
    made, costless = store.spent_by(), store.costless()
    outside = [who for who in made if who not in of_games]
    return (
        by_model({who: made[who] for who in outside}),
        unpriced(by_model({who: costless[who] for who in outside}), prices_of_all(store.experiment)),
    )


def cost_without_prices(calls: CallStore) -> Cost:
    """The cost of calls without known prices, as of a judge: calls with cost 0 are unpriced."""
    costless = calls.costless()
    parts = ((by, unpriced(costless[who], {})) for who, by in calls.spent_by().items())
    texts = calls.spent_on_texts()
    return cost_of(parts, texts, bool(texts.tokens and not texts.cost))


def unpriced_texts(store: Store) -> bool:
    """Whether a server without a known price embedded texts."""
    return bool(store.spent_on_texts().tokens) and None in embedder_prices(store.experiment).values()
