"""Tokens and costs of calls to models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import isclose
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them (0 where it did not), and their price in USD."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost + other.cost,
        )

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together, as budgets count them."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def figures(self) -> tuple[int, int, int, float]:
        """The four fields in order, as in rows of a store."""
        return self.prompt_tokens, self.completion_tokens, self.cached_tokens, self.cost


@dataclass(frozen=True, slots=True)
class CallTotals:
    """The totals of some calls. latency: the sum of their seconds."""

    calls: int = 0
    usage: Usage = Usage()
    latency: float = 0.0

    def __add__(self, other: CallTotals) -> CallTotals:
        return CallTotals(self.calls + other.calls, self.usage + other.usage, self.latency + other.latency)


class Cost(NamedTuple):
    """The cost of calls and embedded texts. usd: of all known prices. models: the number of models that used
    tokens; unpriced: those of them with an unknown price; all embedders count as one.
    """

    usd: float
    models: int
    unpriced: int


def cost_of(
    parts: Iterable[tuple[Mapping[str, CallTotals], Collection[str]]],
    embedded: Usage = Usage(),
    embedded_unpriced: bool = False,
) -> Cost:
    """The cost of all parts. parts: for conditions or games, the totals by model, and the models with an
    unknown price. embedded: usage of embedders; embedded_unpriced: whether part of it has no known price.
    """
    models: dict[str, bool] = {}
    usd = embedded.cost
    for totals, unpriced in parts:
        for model, made in totals.items():
            usd += made.usage.cost
            if made.usage.tokens or model in unpriced:  # the built-in player has nothing to be paid for
                models[model] = models.get(model, False) or model in unpriced
    return Cost(usd, len(models) + embedded_unpriced, sum(models.values()) + embedded_unpriced)


@dataclass(frozen=True, slots=True)
class AttemptTotals:
    """Attempts of calls without a reply. n: their number. usage: what they used, or at most may have used.
    possibly: the number of attempts that may have been charged; possible: their largest usage. unlimited:
    whether some of these may have used more, since their reply had no limit. reasons: reason → number.
    """

    n: int = 0
    usage: Usage = Usage()
    possibly: int = 0
    possible: Usage = Usage()
    unlimited: bool = False
    reasons: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: AttemptTotals) -> AttemptTotals:
        reasons = Counter(self.reasons)
        reasons.update(other.reasons)
        return AttemptTotals(
            self.n + other.n,
            self.usage + other.usage,
            self.possibly + other.possibly,
            self.possible + other.possible,
            self.unlimited or other.unlimited,
            dict(reasons),
        )


class Spent(NamedTuple):
    """The usage that a budget counts. possibly_tokens, possibly_usd: the part that may not have been
    charged.
    """

    tokens: int = 0
    usd: Decimal = Decimal()
    possibly_tokens: int = 0
    possibly_usd: Decimal = Decimal()


NOTHING_SPENT = Spent()


def totals_alike(one: CallTotals, other: CallTotals) -> bool:
    """Whether two totals are equal, up to rounding."""
    pairs = (one.usage.cost, other.usage.cost), (one.latency, other.latency)
    counts = [(each.calls, *each.usage.figures[:3]) for each in (one, other)]
    return counts[0] == counts[1] and all(isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in pairs)


__all__ = [
    "NOTHING_SPENT",
    "AttemptTotals",
    "CallTotals",
    "Cost",
    "Spent",
    "Usage",
    "cost_of",
    "totals_alike",
]
