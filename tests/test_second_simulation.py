"""The engine's random play of `nine` and `twelve` is that of a second simulation, written apart from it.

`random_play_oracle` gives how the games end, exactly; this compares what happens on the way too, and was
written in another manner, so that one misreading is not made twice.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from math import sqrt
from statistics import fmean, pvariance

import pytest

import random_play_simulation as second
from marks import with_slow
from rules_helpers import Game, of, uniform
from wolflab.rules import NINE, TWELVE, Shot

GAMES = 1_500
BOUND = 4.0
"""Standard errors of a difference that are allowed: by chance one in 16,000 comparisons is further off."""
MEASURES = ("the village wins", "the Werewolves win", "rounds", "shots")
Figures = tuple[float, ...]

CARDS = {"nine": second.NINE, "twelve": second.TWELVE}
RULES = {"nine": NINE, "twelve": TWELVE}


def figures(winner: str, rounds: int, shots: int) -> Figures:
    """What is compared of a game, in the order of `MEASURES`."""
    return winner == "village", winner == "werewolves", rounds, shots


@cache
def of_the_engine(name: str) -> list[Figures]:
    choose, found = uniform(random.Random(f"engine, {name}")), []
    for _ in range(GAMES):
        game = Game(RULES[name].with_(discussion=False))
        game.play(choose)
        assert game.state.outcome is not None
        shots = len(of(game.log.events, Shot))
        found.append(figures(game.state.outcome.winner.name.lower(), game.state.round, shots))
    return found


def of_the_second(name: str, games: int, hunter_armed_by_poison: bool = False) -> list[Figures]:
    coin = random.Random(f"second, {name}")
    return [figures(*second.game(CARDS[name], coin, hunter_armed_by_poison)) for _ in range(games)]


def apart(one: Sequence[Figures], other: Sequence[Figures]) -> dict[str, float]:
    """By how many standard errors the means of two samples of games differ, by measure."""
    found = {}
    for what, a, b in zip(MEASURES, zip(*one, strict=True), zip(*other, strict=True), strict=True):
        error = sqrt(pvariance(a) / len(a) + pvariance(b) / len(b))
        found[what] = abs(fmean(a) - fmean(b)) / error
    return found


@pytest.mark.parametrize("name", with_slow(CARDS, ["twelve"]))
def test_random_play_is_that_of_the_second_simulation(name: str) -> None:
    far = apart(of_the_engine(name), of_the_second(name, 2 * GAMES))
    assert max(far.values()) < BOUND, far


def test_another_rule_of_the_hunters_would_be_found() -> None:
    far = apart(of_the_engine("nine"), of_the_second("nine", 2 * GAMES, hunter_armed_by_poison=True))
    assert far["shots"] > BOUND, far
