"""How much is learned from recorded choices, where the truth is known, and by which method.

A simulated player chooses 15 times a game among three candidates. A candidate is good with chance ½, and each
good choice in place of a bad one adds 5.3 points to the chance of winning: who always chose a good one where
there is one would win 30 points more. Its embedding has one direction that tells good from bad, right in 95
of 100, among 16 others that mean nothing. The player chooses at random or, with chance --skill, a good one.
In half of the games it is lucky for other reasons (15 points more, else 15 less), and there half of its
choices go by one of the meaningless directions: what it does when it wins is no reason of winning. Of its
choices, ε are explored.

    python benchmarks/recorded_learning.py [--games 300 1000] [--explore 0.3 1.0] [--seeds 10]

Methods: *ridge*, the one that ships (`wolflab.policy.offline`); *AWR*, advantage-weighted regression of the
choices (Peng et al. 2019); *IQL*, a regression of the win on the chosen candidate, an expectile of it as the
value, and a policy by advantage-weighted regression (Kostrikov et al. 2021). All are linear in the same
directions. Printed: the share of the possible gain, by a draw from π and by the likeliest candidate; how many
95 % intervals of the one-decision gain hold the true one; how many hold 0 if candidates are worth the same;
and how many games would count if whole games were weighted: the effective number (Σw)² / Σw², w being the
product of π / probability of the choice over a game.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from wolflab.agents.policy.features import CLASSES, PHASES, features_length
from wolflab.policy import offline
from wolflab.policy.offline import FOLDS, LEARNED, Float64s, LoggedChoices, cross_fit, learn, whole_games
from wolflab.stats.intervals import Estimate, clustered_estimate, quotient

SEATS, CANDIDATES, BY_GAME, FILLERS, DIMENSIONS = 7, 3, 15, 16, 64
RIGHT = 0.95
WORTH = 0.053


def planted(
    games: int, explore: float, worth: float, skill: float, seed: int
) -> tuple[LoggedChoices, Float64s]:
    """Choices of simulated games, and each candidate's true worth (T, N)."""
    rng = np.random.default_rng(seed)
    rows, shape = games * BY_GAME, (games * BY_GAME, CANDIDATES)
    good = rng.random(shape) < 0.5
    seen = np.where(rng.random(shape) < RIGHT, good, ~good)
    axes = np.linalg.qr(np.random.default_rng(99).normal(size=(DIMENSIONS, 1 + FILLERS)))[0]
    parts = np.concatenate([(2.0 * seen - 1)[..., None], rng.normal(size=(*shape, FILLERS))], axis=2)
    candidates = parts @ axes.T
    candidates /= np.linalg.norm(candidates, axis=2, keepdims=True)
    game = np.repeat(np.arange(games), BY_GAME)
    player = np.zeros((rows, features_length(SEATS)), np.float32)
    wolf = (rng.random(games) < 0.3)[game]
    player[np.arange(rows), SEATS + np.where(wolf, 0, rng.integers(1, len(CLASSES), rows))] = 1
    player[np.arange(rows), SEATS + len(CLASSES) + 1 + rng.integers(len(PHASES), size=rows)] = 1
    lucky = rng.random(games) < 0.5
    own = np.where(rng.random(rows) < skill, good.argmax(axis=1), rng.integers(CANDIDATES, size=rows))
    own = np.where(lucky[game] & (rng.random(rows) < 0.5), parts[..., 1].argmax(axis=1), own)
    explored = rng.random(rows) < explore
    action = np.where(explored, rng.integers(CANDIDATES, size=rows), own)
    shares = np.full(shape, explore / CANDIDATES)
    shares[np.arange(rows), own] += 1 - explore
    true = np.asarray(worth * (good - 0.5), np.float64)
    chance = np.where(lucky, 0.65, 0.35) + np.bincount(game, true[np.arange(rows), action])
    won = (rng.random(games) < np.clip(chance, 0, 1)).astype(float)[game]
    mask = np.ones(shape, np.bool_)
    return LoggedChoices(
        player, candidates.astype(np.float32), mask, shares, action, own, won, game, game
    ), true


def gain(pi: Float64s, choices: LoggedChoices, true: Float64s) -> float:
    """The true gain of π over the player's own choices, by game."""
    return float(((pi - choices.behaviour) * true).sum(axis=1).mean()) * BY_GAME


def likeliest(pi: Float64s) -> Float64s:
    """All of π on its likeliest candidate."""
    top: Float64s = np.eye(pi.shape[1])[pi.argmax(axis=1)]
    return top


# -- other methods ----------------------------------------------------------------------------------


def ridge(choices: LoggedChoices, test: LoggedChoices) -> Float64s:
    """π of the method that ships."""
    return learn(choices).chances(test)


def awr(choices: LoggedChoices, test: LoggedChoices) -> Float64s:
    """π of advantage-weighted regression, the advantage being the win less what was to be expected."""
    surprise = choices.won - choices.won.mean()
    return _imitated(choices, test, np.exp(surprise / 0.3))


def iql(choices: LoggedChoices, test: LoggedChoices) -> Float64s:
    """π of implicit Q-learning with one reward at the end: Q by regression, V as its expectile."""
    described = choices.candidates @ offline._directions(choices, offline.COMPONENTS)
    chosen = described[np.arange(len(choices.won)), choices.action]
    design = np.hstack([offline._by_context(chosen, choices.context), np.ones((len(chosen), 1))])
    q = design @ np.linalg.solve(design.T @ design + 30 * np.eye(design.shape[1]), design.T @ choices.won)
    value = q.mean()
    for _ in range(50):  # the expectile of 0.7
        weight = np.where(q > value, 0.7, 0.3)
        value = (weight * q).sum() / weight.sum()
    return _imitated(choices, test, np.exp(np.minimum((q - value) / 0.01, 5)))


def _imitated(choices: LoggedChoices, test: LoggedChoices, weights: Float64s) -> Float64s:
    """π of a weighted softmax regression of the choices taken, each weighted by its rarity too."""
    rows = np.arange(len(weights))
    weights = weights / choices.shares[rows, choices.action]
    taken = np.eye(choices.mask.shape[1])[choices.action] * (weights / weights.mean())[:, None]
    directions = offline._directions(choices, offline.COMPONENTS)
    found = offline._own(choices, choices.candidates @ directions, taken) @ directions.T
    nothing = np.zeros(choices.player.shape[1] + 1)
    return offline.LinearPolicy(found, found, nothing).chances(test)


# -- the tables -------------------------------------------------------------------------------------


def games_that_count(choices: LoggedChoices) -> float:
    """The effective number of games, if each had the product of its choices' weights."""
    at = np.arange(len(choices.won)), choices.action
    return whole_games(choices, learn(choices).chances(choices)[at] / choices.shares[at]).effective


def estimated(choices: LoggedChoices) -> Estimate:
    """The estimated gain of a choice, by policies that were learned from other deals."""
    gains = cross_fit(choices)[LEARNED].gains
    rows = [(int(deal), (float(one), 1.0)) for deal, one in zip(choices.deal, gains, strict=True)]
    return clustered_estimate(rows, quotient, n=len(rows), missing=0, units="choices")


def holds(choices: LoggedChoices, explore: float, worth: float, skill: float, seed: int) -> bool:
    """Whether the interval of the gain holds the true one of the policies that it is about."""
    test, true = planted(200, explore, worth, skill, 10_000 + seed)
    policies = [learn(choices.rows(choices.deal % FOLDS != fold)) for fold in range(FOLDS)]
    truth = float(np.mean([gain(policy.chances(test), test, true) for policy in policies])) / BY_GAME
    return estimated(choices).excludes(truth) is False


def main(words: Sequence[str]) -> None:
    """Simulate, learn, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--games", type=int, nargs="+", default=[300, 1000])
    options.add_argument("--explore", type=float, nargs="+", default=[0.3, 1.0])
    options.add_argument("--skill", type=float, default=0.0)
    options.add_argument("--seeds", type=int, default=10)
    given = options.parse_args(words)
    seeds = range(given.seeds)
    print(
        "games  explore  method  of the possible gain  likeliest  intervals hold the truth  hold 0 if equal"
        "  games that count"
    )
    for games in given.games:
        for explore in given.explore:
            made = [planted(games, explore, WORTH, given.skill, seed) for seed in seeds]
            equal = [planted(games, explore, 0.0, given.skill, seed)[0] for seed in seeds]
            for name, method in (("ridge", ridge), ("AWR", awr), ("IQL", iql)):
                shares = []
                for seed, (choices, _) in zip(seeds, made, strict=True):
                    test, true = planted(400, explore, WORTH, given.skill, 5_000 + seed)
                    best = gain(likeliest(true), test, true)
                    pi = method(choices, test)
                    shares.append([gain(one, test, true) / best for one in (pi, likeliest(pi))])
                drawn, top = np.mean(shares, axis=0)
                line = f"{games:5}  {explore:7}  {name:6}  {drawn:20.0%}  {top:9.0%}"
                if name == "ridge":
                    right = sum(
                        holds(choices, explore, WORTH, given.skill, seed)
                        for seed, (choices, _) in zip(seeds, made, strict=True)
                    )
                    none = sum(estimated(choices).excludes(0.0) is False for choices in equal)
                    line += f"  {f'{right} of {given.seeds}':>24}  {f'{none} of {given.seeds}':>15}"
                    line += f"  {np.mean([games_that_count(choices) for choices, _ in made]):16.1f}"
                print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
