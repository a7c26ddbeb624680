"""How often 95 % intervals contain the truth, on games resampled from finished runs and on synthetic ones.

A population is the games of one condition of a finished run, or games that a model with known parameters
makes. Each repeat draws deals from it and games of each deal, computes the interval with the code of a
report, and looks whether it contains the population's value.

- *Strata* "design": as with `stratify: sheriff_side`, as many of the deals have a Werewolf as Sheriff as the
  cards say. "after": the office is decided in the games, which are only weighted by the Sheriff's side.
  Estimates that are not weighted after all (a side has no deal) are compared with the unweighted value; the
  column "weighted" has the share of the others.
- *Differences* ("ratio −") are those of two conditions of a run on the same deals. "p" is how often p is
  below 0.05 where the two conditions change places at random in every deal, so that there is no difference.
  "equal" is how often the test of equivalence says at 5 % that the difference lies within a margin, where the
  margin is the true difference. Both should be 5 % at most.
- *Draws* of a pool of experience: games of a model with effects of deals, of draws and of single games.

    python benchmarks/interval_coverage.py --play populations --long

plays 5,400 games with the built-in player into the directory `populations`, unless they are there, and
takes 4,000 samples for each line: some ten minutes of one processor core. Other finished runs can be given by
their directories.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from wolflab.lab.plans.loading import build
from wolflab.lab.results.summaries import games
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.metrics.measure import Measure
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import GameResult
from wolflab.metrics.tally import compare_sums, estimate_measure
from wolflab.stats.clusters import Floats
from wolflab.stats.comparing import PairedTest
from wolflab.stats.intervals import Estimate

NAMES = ("ratio", "dc", "persuasion", "village_win")
SEATS, WEREWOLVES = 7, 2
SHARES = ((SEATS - WEREWOLVES) / SEATS, WEREWOLVES / SEATS)
"""Of the Sheriff's sides among the cards of the games here."""
LONG, SHORT = 4000, 400
"""Samples for each line."""
AT_ONCE = 500
"""Samples that are drawn together."""
CELLS = ((7, 5), (10, 5), (10, 10), (30, 7))
"""Deals and draws."""
RATIOS = ((0.0, 0.0), (0.3, 0.3), (1.0, 1.0), (3.0, 0.0), (0.0, 3.0))
"""Variances between deals and between draws, relative to that of single games."""
LOST = 0.1
"""The share of cells without games among deals and draws."""
_BUILT_IN = {"model": "village", "heed_sheriff": False}
PLAYED: dict[str, Any] = {
    "name": "populations",
    "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop"},
    "players": {
        "others": {"model": "village", "recipe": "deductive"},
        "sheriff": {"model": "village", "recipe": "deductive"},
    },
    "conditions": {
        "built-in": {},
        "sparse": {"players": {"others": {"model": {**_BUILT_IN, "follow_sheriff": 0.06}}}},
        "obeyed": {"players": {"others": {"model": {**_BUILT_IN, "follow_sheriff": 0.6}}}},
        "elected": {"rules": {"sheriff": "elected", "sheriff_death": "succession"}},
    },
    "repeats": 3,
    "seed": 77,
    "straw_polls": 1,
}
"""The runs of `--play`: an assigned Sheriff, one that hardly anybody follows (DC 3 %), one that most follow,
and an elected one."""


@dataclass(frozen=True)
class Population:
    """Games of one measure. games: (deals × games × sums). wolf: (deals × games), whether the Sheriff is a
    Werewolf. numbers: the deals' numbers.
    """

    name: str
    measure: Measure
    games: Floats
    wolf: np.ndarray
    numbers: Sequence[int] = ()

    @cached_property
    def sums(self) -> Floats:
        """(deals × games × strata × sums)."""
        of_side = np.stack([~self.wolf, self.wolf], axis=-1)
        sums: Floats = self.games[:, :, None, :] * of_side[..., None]
        return sums

    @property
    def strata(self) -> tuple[str, ...]:
        """The ways to weight by strata that make sense here."""
        if not self.measure.stratified or self.wolf.all() or not self.wolf.any():
            return ("none",)
        return ("none", "design" if (self.wolf == self.wolf[:, :1]).all() else "after")

    def truth(self, weighted: bool) -> float:
        """The value over all games, with strata weighted to their shares if wanted."""
        whole = self.sums.sum(axis=1, keepdims=True)
        value = estimate_measure(self.measure, whole, 0, shares=SHARES if weighted else None).value
        assert value is not None
        return value


def drawn(
    population: Population, deals: int, of_a_deal: int, design: bool, samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The deals of samples (samples × deals), and the games of each (samples × deals × games): their places
    in the population. design: as many deals have a Werewolf as Sheriff as the cards say.
    """
    size, most = population.wolf.shape
    if design:
        is_wolf = (
            rng.integers(SEATS, size=(samples, 1)) + np.arange(deals) * WEREWOLVES
        ) % SEATS < WEREWOLVES
        of_side = [np.flatnonzero(population.wolf[:, 0] == side) for side in (False, True)]
        chosen = [some[rng.integers(len(some), size=(samples, deals))] for some in of_side]
        of_deals = np.where(is_wolf, chosen[1], chosen[0])
    else:
        of_deals = rng.integers(size, size=(samples, deals))
    return of_deals, rng.random((samples, deals, most)).argsort(axis=2)[:, :, :of_a_deal]


def populations(store: Store) -> Iterator[tuple[str, Mapping[str, Population]]]:
    """The populations of each condition of a run, by measure: deals all of whose games have a value."""
    by_condition: dict[str, dict[int, list[GameResult]]] = {}
    for game in games(store):
        if game.status == "done" and game.row is not None:
            by_condition.setdefault(game.condition, {}).setdefault(game.deal, []).append(game)
    for condition, deals in by_condition.items():
        found, most = {}, max(map(len, deals.values()))
        for name in NAMES:
            kept: list[tuple[int, list[list[float]], list[bool]]] = []
            for deal, own in sorted(deals.items()):
                rows = [
                    game.row for game in sorted(own, key=lambda game: game.repeat) if game.row is not None
                ]
                values = [[float(x or 0) for x in row.sums_of(name)] for row in rows]
                if len(rows) == most and all(row.sums_of(name)[0] is not None for row in rows):
                    kept.append((deal, values, [row.sheriff_is_wolf for row in rows]))
            if kept:
                numbers, sums, wolf = zip(*kept, strict=True)
                found[name] = Population(
                    condition, MEASURES[name], np.array(sums), np.array(wolf, dtype=bool), numbers
                )
        yield condition, found


def synthetic(deals: int = 2000, of_a_deal: int = 3, seed: int = 1) -> list[Population]:
    """Populations with known parameters: Ratio by role, DC of 3 and of 30 %, wins that cluster by deal."""
    rng = np.random.default_rng(seed)
    shape = (deals, of_a_deal)
    wolf = np.broadcast_to(rng.random((deals, 1)) < SHARES[1], shape)
    ratio = np.where(wolf, 0.7, 1.05) + rng.normal(0, 0.06, (deals, 1)) + rng.normal(0, 0.09, shape)
    found = [("synthetic", "ratio", ratio)]
    for rate in (0.03, 0.3):
        chance = np.broadcast_to(rng.beta(12 * rate, 12 * (1 - rate), (deals, 1)), shape)
        found.append((f"synthetic {100 * rate:.0f} %", "dc", rng.binomial(6, chance) / 6))
    found.append(("synthetic", "village_win", (rng.random(shape) < rng.beta(2, 2, (deals, 1))).astype(float)))
    return [
        Population(name, MEASURES[measure], np.stack([values, np.ones(shape)], axis=-1), wolf)
        for name, measure, values in found
    ]


# -- counting ---------------------------------------------------------------------------------------


@dataclass
class Covered:
    """Counts of repeats: intervals that contain the truth, lie below it, and above it; the sum of widths; by
    name how often something else was so, of how many.
    """

    repeats: int = 0
    inside: int = 0
    below: int = 0
    above: int = 0
    width: float = 0.0
    shares: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, found: Estimate, truth: float) -> None:
        """Count one interval; an estimate without one is left out."""
        if found.low is None or found.high is None:
            return
        self.repeats += 1
        self.below += found.high < truth - 1e-12
        self.above += found.low > truth + 1e-12
        self.inside += found.low - 1e-12 <= truth <= found.high + 1e-12
        self.width += found.high - found.low

    def note(self, name: str, so: bool) -> None:
        """Count whether something was so."""
        self.shares.setdefault(name, []).append(so)

    def line(self) -> str:
        """The shares, in percent, and the mean width."""
        n = max(1, self.repeats)
        shares = [100 * part / n for part in (self.inside, self.below, self.above)]
        others = "".join(f"  {name} {100 * np.mean(so):.1f}" for name, so in self.shares.items())
        return (
            "{:6.1f} {:6.1f} {:6.1f}".format(*shares) + f"  {self.width / n:8.4f}  {self.repeats:7,}{others}"
        )


def covered(
    population: Population, deals: int, of_a_deal: int, strata: str, repeats: int, seed: int
) -> Covered:
    """The coverage of one measure's intervals. strata: "none", "design" or "after"."""
    rng = np.random.default_rng((seed, deals, of_a_deal))
    truths, counts = [population.truth(False), population.truth(strata != "none")], Covered()
    shares = None if strata == "none" else SHARES
    for size in _parts(repeats):
        of_deals, of_games = drawn(population, deals, of_a_deal, strata == "design", size, rng)
        sums = population.sums[of_deals[..., None], of_games].sum(axis=2)
        for sample in sums:
            found = estimate_measure(population.measure, sample[:, None], 0, shares=shares)
            counts.add(found, truths[found.raw is not None])
            if shares:
                counts.note("weighted", found.raw is not None)
    return counts


def covered_difference(
    ours: Population, theirs: Population, deals: int, of_a_deal: int, strata: str, repeats: int, seed: int
) -> Covered:
    """The coverage of intervals of ours − theirs on the same deals, and the sizes of tests."""
    measure, shares = ours.measure, None if strata == "none" else SHARES
    rng, counts = np.random.default_rng((seed, deals, of_a_deal, 1)), Covered()
    whole = [side.sums.sum(axis=1)[:, None] for side in (ours, theirs)]
    truths = [_compared(measure, whole, given).difference.value or 0.0 for given in (None, shares)]
    for size in _parts(repeats):
        of_deals, of_games = drawn(ours, deals, of_a_deal, strata == "design", size, rng)
        both = np.stack(
            [side.sums[of_deals[..., None], of_games].sum(axis=2)[:, :, None] for side in (ours, theirs)]
        )
        swapped = np.where(rng.random((size, deals, 1, 1, 1)) < 0.5, both, both[::-1])
        for k in range(size):
            test = _compared(measure, list(both[:, k]), shares)
            truth = truths[test.difference.raw is not None]
            counts.add(test.difference, truth)
            counts.note("equal", (test.p_equivalent(abs(truth)) or 1.0) < 0.05)
            p = _compared(measure, list(swapped[:, k]), shares).p
            counts.note("p", p is not None and p < 0.05)
            if shares:
                counts.note("weighted", test.difference.raw is not None)
    return counts


def _compared(measure: Measure, sides: Sequence[Floats], shares: tuple[float, float] | None) -> PairedTest:
    test = compare_sums(measure, sides, shares=shares)
    return test or PairedTest(Estimate(None, None, None, 0, 0, ""), None)


def covered_draws(
    measure: Measure,
    cells: tuple[int, int],
    of_a_cell: int,
    ratios: tuple[float, float],
    repeats: int,
    seed: int,
) -> Covered:
    """The coverage over deals and draws, of values that are normal (a mean) or 0 and 1 (a share).

    cells: the numbers of deals and draws. ratios: see `RATIOS`.
    """
    rng, counts = np.random.default_rng((seed, *cells, of_a_cell, 2)), Covered()
    middle = NormalDist().inv_cdf(0.3) if measure.how.share else 10.0  # of rounds, which are above 0
    truth = NormalDist().cdf(middle / sqrt(1 + sum(ratios))) if measure.how.share else middle
    for size in _parts(repeats):
        values = (
            middle
            + sqrt(ratios[0]) * rng.normal(size=(size, cells[0], 1, 1))
            + sqrt(ratios[1]) * rng.normal(size=(size, 1, cells[1], 1))
            + rng.normal(size=(size, *cells, of_a_cell))
        )
        if measure.how.share:
            values = (values > 0).astype(float)
        there = rng.random((size, *cells, 1)) >= LOST
        sums = np.stack([values.sum(axis=3), np.full((size, *cells), float(of_a_cell))], axis=-1) * there
        for sample in sums:
            counts.add(estimate_measure(measure, sample[:, :, None], 0), truth)
    return counts


def _parts(repeats: int) -> Iterator[int]:
    for at in range(0, repeats, AT_ONCE):
        yield min(AT_ONCE, repeats - at)


# -- the command ------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="How often 95 % intervals contain the truth.")
    parser.add_argument("runs", nargs="*", type=Path, help="finished runs, each condition a population")
    parser.add_argument(
        "--play", type=Path, metavar="DIR", help="play populations into DIR if it is not there"
    )
    parser.add_argument("--played", type=int, default=450, help="deals of the games that are played")
    parser.add_argument("--long", action="store_true", help=f"{LONG:,} samples for each line")
    parser.add_argument("--repeats", type=int, help=f"samples for each line (default: {SHORT})")
    parser.add_argument("--deals", type=int, nargs="+", default=[6, 10, 30, 100])
    parser.add_argument("--games", type=int, nargs="+", default=[1, 3], help="games of each deal")
    parser.add_argument("--only", nargs="+", help="populations: synthetic, draws, or names of conditions")
    parser.add_argument("--measures", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    given.repeats = given.repeats or (LONG if given.long else SHORT)
    print(
        "population      measure        strata  deals  games    holds  below  above     width  samples",
        flush=True,
    )
    _synthetic_lines(given)
    runs = list(given.runs)
    if given.play:
        if not given.play.exists():
            with Store.create(given.play, build(PLAYED | {"deals": given.played})) as store:
                play_run(store)
        runs.append(given.play)
    for run in runs:
        with Store.open_for_reading(run) as store:
            _lines_of_run(dict(populations(store)), given)


def _wanted(given: argparse.Namespace, name: str) -> bool:
    return not given.only or name in given.only


def _show(name: str, measure: str, strata: str, deals: str, of_a_deal: int, counts: Covered) -> None:
    cells = f"{name:14.14}  {measure:13}  {strata:6}  {deals:>5}  {of_a_deal:5}"
    print(f"{cells}  {counts.line()}", flush=True)


def _synthetic_lines(given: argparse.Namespace) -> None:
    if _wanted(given, "synthetic"):
        for one in synthetic():
            _population_lines(one, given)
    if not _wanted(given, "draws"):
        return
    for name, ratios, cells, of_a_cell in product(("rounds", "village_win"), RATIOS, CELLS, given.games):
        counts = covered_draws(MEASURES[name], cells, of_a_cell, ratios, given.repeats, given.seed)
        title, size = "draws {:g}, {:g}".format(*ratios), "×".join(map(str, cells))
        _show(title, name, "none", size, of_a_cell, counts)


def _population_lines(one: Population, given: argparse.Namespace) -> None:
    if one.measure.name not in given.measures:
        return
    for strata, deals, of_a_deal in product(one.strata, given.deals, given.games):
        counts = covered(one, deals, of_a_deal, strata, given.repeats, given.seed)
        _show(one.name, one.measure.name, strata, str(deals), of_a_deal, counts)


def _lines_of_run(conditions: Mapping[str, Mapping[str, Population]], given: argparse.Namespace) -> None:
    first = next(iter(conditions.values()))
    for condition, found in conditions.items():
        if not _wanted(given, condition):
            continue
        for one in found.values():
            _population_lines(one, given)
        for name in given.measures:
            if found is first or name not in found or name not in first:
                continue
            ours, theirs = _common(found[name], first[name])
            strata = ours.strata if ours.strata == theirs.strata else ("none",)
            for which, deals, of_a_deal in product(strata, given.deals, given.games):
                counts = covered_difference(ours, theirs, deals, of_a_deal, which, given.repeats, given.seed)
                _show(condition, f"{name} −", which, str(deals), of_a_deal, counts)


def _common(ours: Population, theirs: Population) -> tuple[Population, Population]:
    """Both populations with their common deals, in one order."""
    common = sorted({*ours.numbers} & {*theirs.numbers})

    def kept(side: Population) -> Population:
        at = [side.numbers.index(deal) for deal in common]
        return Population(side.name, side.measure, side.games[at], side.wolf[at], common)

    return kept(ours), kept(theirs)


if __name__ == "__main__":
    main()
