"""From an experiment's words to players: models are built once a run, agents once a recipe."""

from __future__ import annotations

from typing import Any

import msgspec

from ..agents.language import LanguageAgent
from ..agents.random import Random
from ..errors import ExperimentError, ModelError
from ..match import Casting, Dealing, Player
from ..models.base import Model
from ..models.budget import Budget
from ..models.catalog import check, listing, resolve
from ..rules import ROLES, Ruleset
from .experiment import MODEL_FREE, Experiment, PlayerSpec


async def reach(spec: str | dict[str, Any]) -> None:
    """Try to reach a model now; ModelError says in one sentence why it cannot be used."""
    model = resolve(spec)
    try:
        await check(model)
    finally:
        await model.close()


class Company:
    """All models and agents of one run of one experiment, shared between its games."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._models: dict[bytes, Model] = {}
        self._players: dict[bytes, Player] = {}
        self._castings: dict[str, Casting] = {}
        self._budget = budget

    @property
    def models(self) -> list[Model]:
        """Every model built so far."""
        return list(self._models.values())

    def player(self, spec: PlayerSpec) -> Player:
        """The player that a specification describes."""
        try:
            key = msgspec.json.encode(spec.model_dump(), order="sorted")
        except TypeError:
            raise ModelError(f"model {spec.model!r}: the names of its fields have to be texts") from None
        if key not in self._players:
            if spec.recipe == MODEL_FREE:
                self._players[key] = Player(Random())
            else:
                assert spec.model is not None
                self._players[key] = Player(LanguageAgent(spec.resolved_recipe()), self._model(spec.model))
        return self._players[key]

    def _model(self, spec: str | dict[str, Any]) -> Model:
        key = msgspec.json.encode(spec, order="sorted")
        if key not in self._models:
            self._models[key] = resolve(spec, self._budget)
        return self._models[key]

    def casting(self, experiment: Experiment, condition: str) -> Casting:
        """Who sits where in one condition. The most particular place wins.

        A seat's own name, then "sheriff", then the role, then the side, then "others".
        """
        if condition in self._castings:
            return self._castings[condition]
        rules = experiment.ruleset(condition)
        cast = {place: self.player(spec) for place, spec in experiment.cast(condition).items()}

        def seat(dealing: Dealing) -> list[Player]:
            return [_place(cast, rules, dealing, number) for number in range(rules.players)]

        self._castings[condition] = seat
        return seat

    async def close(self) -> None:
        """Close every model."""
        for model in self._models.values():
            await model.close()


def _place(cast: dict[str, Player], rules: Ruleset, dealing: Dealing, seat: int) -> Player:
    role = dealing.roles[seat]
    places = [rules.names[seat], role, "werewolves" if ROLES[role].wolf else "village", "others"]
    if dealing.sheriff == seat:
        places.insert(1, "sheriff")
    for place in places:
        if place in cast:
            return cast[place]
    raise ExperimentError(f"players: nobody is named for {rules.names[seat]} ({role}); add players.others")


__all__ = ["Company", "listing", "reach"]
