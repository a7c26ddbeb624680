"""The coverage of intervals over few people, in studies that are simulated from a model.

    python benchmarks/people.py

In each simulated study every person plays some games. A game's value is the planted one, an effect of its
person, an effect of its deal, and luck. All people meet the same deals, or everybody deals of their own.
Beside our interval (over people and deals) stands one over deals alone, which takes a person's games for
independent; and the slope over a person's games, planted as 0.1 a game. No game is played.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wolflab.metrics.learning import PlayedGame, learning_of
from wolflab.stats.clusters import ClusteredSums, by_deal_and_draw
from wolflab.stats.intervals import Estimate, clustered_estimate, estimate, quotient

TRUTH, SLOPE = 0.5, 0.1
SIZES = (0.3, 0.1, 0.5)
"""Standard deviations: of people, of deals, of luck."""


@dataclass(frozen=True, slots=True)
class Covered:
    """Shares of the studies whose interval holds the truth. half: mean half width of ours."""

    ours: float
    deals_alone: float
    slope: float
    half: float


def simulated(rng: np.random.Generator, people: int, games: int, shared: bool) -> list[PlayedGame]:
    """One study. shared: all people meet the same deals, each in another order."""
    of_person, of_deal, luck = SIZES
    persons, deals = rng.normal(0, of_person, people), rng.normal(0, of_deal, people * games)
    played = []
    for person in range(people):
        for k in range(games):
            deal = (person + k) % games if shared else person * games + k
            value = TRUTH + persons[person] + deals[deal] + rng.normal(0, luck)
            played.append(PlayedGame(person, deal, k + 1, float(value)))
    return played


def covered(people: int, games: int, shared: bool, studies: int) -> Covered:
    """The coverage in that number of studies."""
    rng = np.random.default_rng([people, games, shared])
    found = np.zeros(4)
    for _ in range(studies):
        played = simulated(rng, people, games, shared)
        ours, alone = _over_people(played), _over_deals(played)
        rising = [game._replace(value=game.value + SLOPE * game.place) for game in played]
        learning = learning_of("person_ratio", rising)
        assert learning is not None
        holds = (ours.excludes(TRUTH), alone.excludes(TRUTH), learning.slope.excludes(SLOPE))
        found += (*(out is False for out in holds), ours.half_width or 0.0)
    return Covered(*(found / studies).tolist())


def _over_people(played: Sequence[PlayedGame]) -> Estimate:
    rows = [(game.deal, (game.value, 1.0)) for game in played]
    sums = by_deal_and_draw(rows, [game.person for game in played])
    sample = ClusteredSums.of(sums)
    found, _ = estimate(sample, quotient, n=len(rows), missing=0, units="games", people=True)
    return found


def _over_deals(played: Sequence[PlayedGame]) -> Estimate:
    rows = [(game.deal, (game.value, 1.0)) for game in played]
    return clustered_estimate(rows, quotient, n=len(rows), units="games")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="How often intervals over few people hold the truth.")
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies a row")
    parser.add_argument("--games", type=int, default=5, help="games of each person")
    given = parser.parse_args(arguments)
    print("people  deals   ours   over deals alone   slope   half width of ours")
    for people in (8, 16, 40):
        for shared in (True, False):
            row = covered(people, given.games, shared, given.studies)
            deals = "shared" if shared else "own"
            print(
                f"{people:6}  {deals:6}  {row.ours:.3f}  {row.deals_alone:.3f}              {row.slope:.3f}"
                f"   {row.half:.3f}"
            )


if __name__ == "__main__":
    main()
