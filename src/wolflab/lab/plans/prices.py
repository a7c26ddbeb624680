"""What nobody knows of costs: one rule for a run's report and its data.

A call costs what its model's price was when it was made, and 0 where there was none. So a call that cost
nothing is unpriced, unless it would cost nothing by the price that is given now.
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
"""Model → the prices that it is given; None among them where one of its players has none."""


def price_in(settings: Mapping[str, Any]) -> Price | None:
    """The price that a model's or an embedder's settings give, None for none."""
    price = settings.get("price")
    return None if price is None else from_plain(Price, price)


def prices_of(experiment: Experiment, condition: str) -> Prices:
    """What a condition says that its models cost."""
    given: dict[str, frozenset[Price | None]] = {}
    for spec in experiment.cast(condition).values():
        made = price_in(spec.model) if isinstance(spec.model, dict) else None
        given[model_name(spec)] = given.get(model_name(spec), frozenset()) | {made}
    return given


def unpriced(costless: Mapping[str, Usage], prices: Prices) -> frozenset[str]:
    """The models that made calls whose cost is not known.

    costless: model → what calls of it took that cost nothing. Calls without tokens, as the built-in player's
    are, have nothing to be paid for, nor have those of a model on this machine.
    """
    return frozenset(
        model
        for model, used in costless.items()
        if used.tokens
        and not is_local_model(model)
        and any(_costs(price, used) for price in prices.get(model, (None,)))
    )


def _costs(price: Price | None, used: Usage) -> bool:
    """Whether so many tokens cost anything, as far as is known."""
    return price is None or price.cost(used.prompt_tokens, used.completion_tokens, used.cached_tokens) > 0
