"""Who plays, as an experiment writes it: a model, a recipe, and what past games may teach.

Validated where it is written; turning it into players is `casting`'s work.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.experience import GOOD, LIMIT
from ..agents.recipes import Recipe, recipe
from ..errors import ExperimentError, ModelError
from ..models.embedders import resolve_embedder

MODEL_FREE = "random"
"""The recipe that needs no model."""


class Part(BaseModel):
    """A part of an experiment: an unknown field is an error, and nothing changes once it is built."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ExperienceSpec(Part):
    """Where a reflective player's experience comes from, and how it is looked up (003 §3.4).

    One of: `pool`, a file made by `wolflab experience build`; `games_of`, a condition of the same
    experiment, whose games are played first; `grow`, the games of its own condition played so far, a new
    pool being taken every `grow` deals (in the order of deals, so that concurrency changes nothing).
    games: with `games_of`, how many of its games make a pool. draws: how many separate pools of that size are
    drawn; a game with repeat r uses pool r mod draws. A larger `games` with the same draws holds the
    smaller pools' games (nested). of: what is kept: "all", "losers" (of the losing side alone), or
    "shuffled" (responses with their scores dealt anew among the reflections). embedder: for pools that this
    run makes. epsilon: ε of 003 Eq. 6; None is the pool's own, which lets through `share` of the pairs.
    limit, good, window: see `agents.experience.choose`. same_deal: games of the same deal may be found.
    """

    pool: str | None = None
    games_of: str | None = None
    grow: int | None = Field(default=None, ge=1)
    games: int | None = Field(default=None, ge=1)
    draws: int = Field(default=1, ge=1)
    of: Literal["all", "losers", "shuffled"] = "all"
    embedder: str | dict[str, Any] = "hashing"
    epsilon: float | None = Field(default=None, ge=-1, le=1)
    share: float | None = Field(default=None, gt=0, le=1)
    limit: int = Field(default=LIMIT, ge=2)
    good: int = Field(default=GOOD, ge=1)
    window: tuple[int, int] | None = None
    same_deal: bool = False

    @model_validator(mode="after")
    def _check(self) -> ExperienceSpec:
        given = [name for name in ("pool", "games_of", "grow") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"experience: {' and '.join(given) or 'nothing'} given; use one of pool, games_of, grow"
            )
        if given[0] != "games_of" and (self.games or self.draws > 1):
            raise ValueError("experience: games and draws belong to games_of; remove them")
        if given[0] == "pool" and (self.of != "all" or self.share is not None):
            raise ValueError(
                "experience: a pool from a file is taken as it is; of and share are for building"
            )
        _embedder(self.embedder)
        return self


def _embedder(spec: str | dict[str, Any]) -> None:
    try:
        resolve_embedder(spec)
    except ModelError as error:
        raise ValueError(str(error)) from None


class PlayerSpec(Part):
    """One kind of player: a model (name, or mapping with settings) and a recipe (name, or mapping).

    embedder: by which a reflective player finds its messages again. experience: what it may learn from.
    """

    model: str | dict[str, Any] | None = None
    recipe: str | dict[str, Any] = "deductive"
    embedder: str | dict[str, Any] = "hashing"
    experience: ExperienceSpec | None = None

    @model_validator(mode="after")
    def _check(self) -> PlayerSpec:
        if self.recipe == MODEL_FREE:
            if self.model is not None:
                raise ValueError("recipe random takes no model; remove it")
            return self
        made = self.resolved_recipe()
        _embedder(self.embedder)
        if self.experience is not None and not made.reflect:
            raise ValueError(f"experience: recipe {made.name} does not reflect; use the recipe reflective")
        if self.model is None:
            raise ValueError(
                "a model is missing; write model: village, or the name of any other (wolflab models)"
            )
        if isinstance(self.model, dict) and "model" not in self.model:
            raise ValueError("a model given as a mapping needs its name under 'model'")
        return self

    def resolved_recipe(self) -> Recipe:
        """The recipe with its changed fields."""
        try:
            if isinstance(self.recipe, str):
                return recipe(self.recipe)
            fields = dict(self.recipe)
            if "name" not in fields:
                raise ValueError("a recipe given as a mapping needs the name it starts from under 'name'")
            return recipe(fields.pop("name")).with_(**fields)
        except ExperimentError as error:
            raise ValueError(str(error)) from None
