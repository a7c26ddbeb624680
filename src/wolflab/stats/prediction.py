"""Which model of strengths predicts games of a pairing that it has not seen.

Three models of the log odds that the village wins (`ratings.designs`): "two strengths" for each entrant
(detecting as the village, deceiving as the Werewolves), "one strength" for each, and the advantage of the
"side alone". More parameters fit past games better in any case; so each pairing is left out in turn, the
models are fitted to all games of the other pairings, and the games of the pairing left out are predicted. A
pairing is a cell, or the entrants of both sides of a mixed table.

Two losses of a predicted probability p of what happened (y = 1 if the village won): Brier's (p − y)² (1950),
and the log loss, −log of the probability of y, in nats. Smaller is better; p = 1/2 has 0.25 and 0.693. Both
are proper: the true probability has the smallest expected loss. Intervals are over deals, with the
predictions as they are. The module knows wins by deal, and no games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .clusters import Floats
from .intervals import Estimate, mean
from .ratings import ModelName, RatedGame, designs, firth

MODELS: tuple[ModelName, ...] = ("two strengths", "one strength", "side alone")
BETWEEN: tuple[tuple[ModelName, ModelName], ...] = (
    ("two strengths", "one strength"),
    ("one strength", "side alone"),
    ("two strengths", "side alone"),
)
"""The models that are compared."""


@dataclass(frozen=True, slots=True)
class ModelLoss:
    """The mean losses of a model over all predicted games."""

    model: ModelName
    brier: Estimate
    log_loss: Estimate


@dataclass(frozen=True, slots=True)
class LossDifference:
    """The losses of the first model minus those of the second, on the same games."""

    first: ModelName
    second: ModelName
    brier: Estimate
    log_loss: Estimate


@dataclass(frozen=True, slots=True)
class Prediction:
    """How well the models predict. pairings: the number of those that were left out in turn and predicted;
    skipped: of those that were not, because the others do not determine all strengths of every model.
    """

    losses: tuple[ModelLoss, ...] = ()
    differences: tuple[LossDifference, ...] = ()
    pairings: int = 0
    skipped: int = 0


def predict_left_out(games: Sequence[RatedGame]) -> Prediction:
    """Leave out each pairing in turn and predict its games; see the module."""
    pairings = list(dict.fromkeys(game.pairing for game in games))
    if not pairings:
        return Prediction()
    place = {pairing: k for k, pairing in enumerate(pairings)}
    wins, played = np.zeros(len(pairings)), np.zeros(len(pairings))
    for game in games:
        wins[place[game.pairing]] += game.won
        played[place[game.pairing]] += 1
    others = 1 - np.eye(len(pairings))
    chances = {
        model: 1 / (1 + np.exp(-(firth(design, others * wins, others * played) * design).sum(axis=1)))
        for model, design in designs(pairings).items()
    }
    known = np.isfinite(np.sum([chances[model] for model in MODELS], axis=0))
    predicted = [game for game in games if known[place[game.pairing]]]
    deals = [game.deal for game in predicted]
    won = np.array([game.won for game in predicted], np.float64)
    losses = {}
    for model in MODELS:
        chance = np.array([chances[model][place[game.pairing]] for game in predicted])
        losses[model] = (chance - won) ** 2, -np.log(np.where(won > 0, chance, 1 - chance))

    def average(values: Floats) -> Estimate:
        return mean(list(zip(deals, values.tolist(), strict=True)))

    return Prediction(
        tuple(ModelLoss(model, *map(average, losses[model])) for model in MODELS),
        tuple(
            LossDifference(first, second, *map(average, np.subtract(losses[first], losses[second])))
            for first, second in BETWEEN
        ),
        int(known.sum()),
        int((~known).sum()),
    )
