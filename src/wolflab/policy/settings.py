"""The settings of a training, with the values of 004 (Table 4) if the paper gives them.

They are validated on construction; an unknown field is an error.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..fields import Part
from ..rules import Side


class PPO(Part):
    """MAPPO (Yu et al. 2022) with the values of 004 Table 4.

    learning_rate: of Adam; `decay`: it falls linearly, to 0 after the last update. gamma, lam: γ and λ of the
    advantage estimate. clip: of the probability ratio, and of the value's change (in normalised units).
    epochs: passes over each batch, each in `minibatches` parts. entropy, value: coefficients in the loss;
    `final_entropy`: entropy's coefficient falls linearly to it (None: it is constant; not in the paper).
    max_grad_norm: gradients are scaled down to it. adam_epsilon: 004's "Adam stepsize 1e-5" (beside the
    learning rate). huber: larger errors of a value count linearly, in normalised units (MAPPO: 10). stop_kl:
    an update ends after this KL divergence (None: never; not in the paper).
    """

    learning_rate: float = Field(default=5e-4, gt=0, le=1)
    decay: bool = False
    gamma: float = Field(default=0.95, ge=0, le=1)
    lam: float = Field(default=0.95, ge=0, le=1)
    clip: float = Field(default=0.2, gt=0)
    epochs: int = Field(default=10, ge=1)
    minibatches: int = Field(default=1, ge=1)
    entropy: float = Field(default=0.01, ge=0)
    final_entropy: float | None = Field(default=None, ge=0)
    value: float = Field(default=1.0, ge=0)
    max_grad_norm: float = Field(default=10.0, gt=0)
    adam_epsilon: float = Field(default=1e-5, gt=0)
    weight_decay: float = Field(default=1e-6, ge=0)
    huber: float = Field(default=10.0, gt=0)
    stop_kl: float | None = Field(default=None, gt=0)


class Cloning(Part):
    """Behaviour cloning of the deduction-only agent, which takes the first candidate.

    episodes: 0 leaves cloning out. epochs: passes over all its decisions. batch: decisions for each step.
    """

    episodes: int = Field(default=256, ge=0)
    epochs: int = Field(default=4, ge=1)
    batch: int = Field(default=256, ge=1)
    learning_rate: float = Field(default=5e-4, gt=0, le=1)


STYLES = {
    Side.WEREWOLVES: ("quiet_follower", "active_contributor", "aggressive_accuser"),
    Side.VILLAGE: ("secretive", "proactive", "default"),
}
"""The population that 004 starts from (App. D.3), by side."""


class Population(Part):
    """The players of the seats that do not learn.

    learners: the number of learning seats in an episode (004: 4); "all" is self-play; a side's name means
    that the learner plays that side and the population the other. styles: whether the six styled
    deduction-only agents are members. checkpoints: every this many updates the learner becomes a member (0:
    never); the `keep` latest stay. A learner of a single side never becomes one, since it cannot play the
    other side. A seat without a possible member learns too. Settings of members who could hold no seat are
    refused. If a training has an `opponent`, it is the only member.
    """

    learners: int | Literal["all", "village", "werewolves"] = 4
    styles: bool = True
    checkpoints: int = Field(default=10, ge=0)
    keep: int = Field(default=6, ge=1)

    @property
    def side(self) -> Side | None:
        """The side that learns; None where both do."""
        return Side(self.learners) if self.learners in ("village", "werewolves") else None

    @model_validator(mode="after")
    def _check(self) -> Population:
        if isinstance(self.learners, int) and self.learners < 1:
            raise ValueError("learners: use 1 or more, all, village or werewolves")
        named = {name for name in self.model_fields_set if getattr(self, name)}
        idle = [name for name in ("styles", "checkpoints", "keep") if name in named]
        if self.learners == "all" and idle:
            raise ValueError(
                f"learners: all is self-play, in which nobody else holds a seat; remove {', '.join(idle)}, "
                "or let fewer seats learn"
            )
        past = [name for name in idle if name != "styles"]
        if self.side is not None and past:
            raise ValueError(
                f"learners: {self.learners} learns one side alone, and its earlier selves cannot hold the "
                f"other's seats; remove {', '.join(past)}"
            )
        if isinstance(self.learners, int) and not self.styles and not self.checkpoints:
            raise ValueError("nobody is in the population; keep styles or checkpoints, or say learners: all")
        return self


class Rollouts(Part):
    """The games of one update.

    episodes: their number. group: games that one process plays in step (their decisions share batches).
    sizes: number of players → share of the episodes; the others have the ruleset's own number.
    """

    episodes: int = Field(default=256, ge=1)
    group: int = Field(default=32, ge=1)
    sizes: dict[int, Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Rollouts:
        if sum(self.sizes.values()) > 1 + 1e-9:
            raise ValueError(f"sizes: the shares add up to {sum(self.sizes.values()):g}; use at most 1")
        return self


class Training(Part):
    """All settings of learning. updates: of PPO."""

    updates: int = Field(default=100, ge=0)
    ppo: PPO = PPO()
    cloning: Cloning = Cloning()
    population: Population = Population()
    rollouts: Rollouts = Rollouts()
