"""The cost of all calls of a run, as in its report, without reading its games."""

from __future__ import annotations

from ...usage import CallTotals, Cost, cost_of
from ..plans.prices import prices_of, prices_of_all, unpriced
from ..runs.batch import by_model
from ..runs.rehearsal import embedder_prices
from ..storage.call_store import CallStore
from ..storage.store import Store


def run_cost(store: Store) -> Cost:
    """The cost of all calls of a run of games."""
    prices = {name: prices_of(store.experiment, name) for name in store.experiment.conditions}
    costless = store.costless_by_condition()
    games = [
        (spent, unpriced(costless.get(name, {}), prices[name]))
        for name, spent in store.spent_by_condition().items()
    ]
    parts = [*games, calls_outside_games(store)]
    return cost_of(parts, store.spent_on_texts(), unpriced_texts(store))


def calls_outside_games(store: Store) -> tuple[dict[str, CallTotals], frozenset[str]]:
    """The totals by model of the calls of a run that no game made, and the models with an unknown price."""
    outside = store.askers_outside_games()
    made = {who: by for asker in outside for who, by in store.spent_by(asker).items()}
    costless = {who: by for asker in outside for who, by in store.costless(asker).items()}
    return by_model(made), unpriced(by_model(costless), prices_of_all(store.experiment))


def cost_without_prices(calls: CallStore) -> Cost:
    """The cost of calls without known prices, as of a judge: calls with cost 0 are unpriced."""
    costless = calls.costless()
    parts = ((by, unpriced(costless[who], {})) for who, by in calls.spent_by().items())
    texts = calls.spent_on_texts()
    return cost_of(parts, texts, bool(texts.tokens and not texts.cost))


def unpriced_texts(store: Store) -> bool:
    """Whether a server without a known price embedded texts."""
    return bool(store.spent_on_texts().tokens) and None in embedder_prices(store.experiment).values()
