"""Which calls have no known cost: one rule for a run's report and its data tables.

A call's cost is computed from its model's price when it is made, and is 0 without a price. So a call with
cost 0 is unpriced, unless the price given now makes it free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...fields import from_plain
from ...models.budget import Price
from ...models.catalog import is_local_model
from ...usage import Usage
from .experiment import Experiment
from .matching import model_name

Prices = Mapping[str, frozenset[Price | None]]
"""Model → its prices, one for each player that uses it; None for a player without a price."""


def price_in(settings: Mapping[str, Any]) -> Price | None:
    """The price in a model's or an embedder's settings, or None."""
    price = settings.get("price")
    return None if price is None else from_plain(Price, price)


def prices_of(experiment: Experiment, condition: str) -> Prices:
    """The prices of a condition's models."""
    given: dict[str, frozenset[Price | None]] = {}
    for spec in experiment.cast(condition).values():
        made = price_in(spec.model) if isinstance(spec.model, dict) else None
        given[model_name(spec)] = given.get(model_name(spec), frozenset()) | {made}
    return given


def prices_of_all(experiment: Experiment) -> Prices:
    """The prices of the models of all conditions."""
    given: dict[str, frozenset[Price | None]] = {}
    for condition in experiment.conditions:
        for model, prices in prices_of(experiment, condition).items():
            given[model] = given.get(model, frozenset()) | prices
    return given


def unpriced(costless: Mapping[str, Usage], prices: Prices) -> frozenset[str]:
    """The models that made calls whose cost is not known.

    costless: model → usage of its calls with cost 0. Calls without tokens, as those of the built-in player,
    and calls of models on this machine are free.
    """
    return frozenset(
        model
        for model, used in costless.items()
        if used.tokens
        and not is_local_model(model)
        and any(_costs(price, used) for price in prices.get(model, (None,)))
    )


def _costs(price: Price | None, used: Usage) -> bool:
    """Whether this usage has a cost above 0, or an unknown one."""
    return price is None or price.cost(used.prompt_tokens, used.completion_tokens, used.cached_tokens) > 0
