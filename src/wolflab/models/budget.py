"""Budgets of tokens and money that all models of a run share and that stop it cleanly.

A call is refused before it starts once the budget is spent; calls that are already in flight may
finish and are counted. Nothing is reserved: what a call will cost is not known before it is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from ..errors import BudgetExceeded
from ..fields import Amount
from ..usage import Usage

WRITING = Decimal("1.25")
"""What a token written to a cache costs, over one that is not, where no price is given: most vendors that
count what they write charge so much for it.
"""


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens.

    cached: for prompt tokens that the server read from a cache (None: as input). written: for those that it
    put into one (None: `WRITING` times input). Left out, they make no call look cheaper than it was.
    """

    input: Amount = 0.0
    output: Amount = 0.0
    cached: Amount | None = None
    written: Amount | None = None

    def cost(self, prompt: int, completion: int, cached: int = 0, written: int = 0) -> float:
        """The price of one call in USD; `cached` and `written` count tokens among `prompt`, none twice."""
        read = min(cached, prompt)
        put = min(written, prompt - read)
        # In decimals, so that the float returned stands for the exact amount and sums stay exact.
        full = _exact(self.input)
        exact = (
            (prompt - read - put) * full
            + read * (full if self.cached is None else _exact(self.cached))
            + put * (full * WRITING if self.written is None else _exact(self.written))
            + completion * _exact(self.output)
        )
        return float(exact / 1_000_000)


def _exact(usd: float) -> Decimal:
    return Decimal(repr(float(usd)))


@dataclass(slots=True)
class Budget:
    """What a run may spend: `tokens` (prompt and completion) and `usd`; None sets no limit.

    A resumed run passes what was spent before as `spent_tokens` and `spent_usd`. Sums are exact and do
    not depend on the order in which calls finish (money is added as decimals).
    """

    tokens: int | None = None
    usd: float | None = None
    spent_tokens: int = 0
    spent_usd: Decimal = field(default_factory=Decimal)

    def check(self) -> None:
        """Raise BudgetExceeded when either budget is spent. Call it before every call."""
        if self.tokens is not None and self.spent_tokens >= self.tokens:
            raise BudgetExceeded(
                f"the budget of {self.tokens:,} tokens is spent ({self.spent_tokens:,} used); "
                "raise it and resume the run"
            )
        if self.usd is not None and self.spent_usd >= _exact(self.usd):
            raise BudgetExceeded(
                f"the budget of {self.usd:.2f} USD is spent ({self.spent_usd:.4f} used); "
                "raise it and resume the run"
            )

    def add(self, usage: Usage) -> None:
        """Count a finished call."""
        self.spent_tokens += usage.tokens
        self.spent_usd += _exact(usage.cost)
