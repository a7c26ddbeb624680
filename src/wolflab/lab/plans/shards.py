"""Shards: parts of one experiment that are played apart, each as a run of its own, and merged later.

A shard has all games of its deals, so that pairs stay together. Which deals these are follows from the plan.
"""

from __future__ import annotations

import re

from pydantic import Field, model_validator

from ...errors import ExperimentError
from ...fields import Part
from .specs import MOST, BudgetSpec


class Shard(Part):
    """One of the shards of an experiment. number: from 1. budget: of the whole experiment; each shard has its
    part of it.
    """

    number: int = Field(ge=1, le=MOST)
    of: int = Field(ge=1, le=MOST)
    budget: BudgetSpec | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Shard:
        if self.number > self.of:
            raise ValueError(f"there is no shard {self}; shards are numbered from 1 to {self.of}")
        return self

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, deal: int) -> bool:
        """Whether the games of a deal belong to this shard."""
        return deal % self.of == self.number - 1

    def part(self, budget: BudgetSpec) -> BudgetSpec:
        """The part of a budget that this shard may spend; the parts add up to the budget. ExperimentError for
        fewer tokens than shards.
        """
        tokens = budget.tokens
        if tokens is not None:
            if tokens < self.of:
                raise ExperimentError(
                    f"--shard {self}: a budget of {tokens} tokens cannot be divided among {self.of} "
                    "shards; raise budget.tokens, or use fewer shards"
                )
            tokens = tokens // self.of + (self.number <= tokens % self.of)
        return BudgetSpec(tokens=tokens, usd=None if budget.usd is None else budget.usd / self.of)


def read_shard(text: str) -> tuple[int, int]:
    """The number and the count of a shard, from words such as "3/64". ExperimentError for other words."""
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    number, of = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= of:
        raise ExperimentError(
            f"--shard {text}: that is no shard; write its number, from 1, and how many there are: 3/64"
        )
    return number, of
