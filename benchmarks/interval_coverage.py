"""How often 95 % intervals contain the truth, on games resampled from finished runs and on synthetic ones.

A population is the games of one condition of a finished run (1,000 or more), or games that a model with known
parameters makes. Each repeat draws deals from it and games of each deal, computes the interval as a report
does, and looks whether it contains the population's value. With strata, as in an experiment with `stratify:
sheriff_side`, as many deals have a Werewolf as Sheriff as the design says. Paired differences are those of
two conditions of one run on the same deals.

Printed for each measure, number of deals and of games a deal: the share of intervals that contain the truth,
the shares that lie wholly below and above it, the mean width, and that width relative to the one without
strata.

    python benchmarks/interval_coverage.py runs/A runs/B --repeats 4000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from wolflab.lab.results.summaries import games
from wolflab.lab.storage.store import Store
from wolflab.metrics.measure import Measure
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import GameResult
from wolflab.metrics.tally import estimate_measure
from wolflab.stats.clusters import ClusteredSums, Floats
from wolflab.stats.comparing import difference
from wolflab.stats.intervals import Estimate

NAMES = ("ratio", "dc", "persuasion", "village_win", "rounds")
WOLVES = 2 / 7
"""The share of Werewolves among the seats of the games here."""


@dataclass(frozen=True)
class Population:
    """Games of one measure. deals: (games × sums) of each. wolf: whether its Sheriff is a Werewolf. numbers:
    the deals' numbers.
    """

    name: str
    measure: Measure
    deals: Sequence[Floats]
    wolf: np.ndarray
    numbers: Sequence[int] = ()

    def truth(self, stratified: bool) -> float:
        """The value over all games, with strata weighted to their shares if wanted."""
        totals = [
            sum(
                games.sum(axis=0)
                for games, is_wolf in zip(self.deals, self.wolf, strict=True)
                if is_wolf == side
            )
            for side in (False, True)
        ]
        if stratified:
            counts = [float(total[self.measure.how.n]) for total in totals]
            totals = [
                total * share / count
                for total, share, count in zip(totals, (1 - WOLVES, WOLVES), counts, strict=True)
            ]
        return float(self.measure.how.statistic(sum(totals)[None])[0])


@dataclass
class Covered:
    """Counts of repeats: intervals that contain the truth, lie below it, and above it; the sum of widths."""

    repeats: int = 0
    inside: int = 0
    below: int = 0
    above: int = 0
    width: float = 0.0

    def add(self, found: Estimate, truth: float) -> None:
        """Count one interval; an estimate without one is left out."""
        if found.low is None or found.high is None:
            return
        self.repeats += 1
        self.below += found.high < truth - 1e-12
        self.above += found.low > truth + 1e-12
        self.inside += found.low - 1e-12 <= truth <= found.high + 1e-12
        self.width += found.high - found.low

    def line(self) -> str:
        """The shares, in percent, and the mean width."""
        n = max(1, self.repeats)
        shares = [100 * part / n for part in (self.inside, self.below, self.above)]
        return "{:6.1f} {:6.1f} {:6.1f}".format(*shares) + f"  {self.width / n:8.4f}  {self.repeats:7,}"


def drawn(
    population: Population, deals: int, of_a_deal: int, stratified: bool, rng: np.random.Generator
) -> tuple[np.ndarray, Floats]:
    """Numbers of deals and their sums (deals × 1 × strata × sums)."""
    places = np.arange(len(population.deals))
    if stratified:
        seats, wolves = 7, 2
        is_wolf = (rng.integers(seats) + np.arange(deals) * wolves) % seats < wolves
        chosen = np.array([rng.choice(places[population.wolf == side]) for side in is_wolf])
    else:
        chosen = rng.choice(places, deals)
    sums = np.zeros((deals, 1, 2, population.measure.how.width))
    for row, deal in enumerate(chosen):
        own = population.deals[deal]
        some = rng.permutation(len(own))[:of_a_deal]
        sums[row, 0, int(population.wolf[deal])] = own[some].sum(axis=0)
    return chosen, sums


def populations(store: Store) -> Iterator[tuple[str, Mapping[str, Population]]]:
    """The populations of each condition of a run, by measure."""
    by_condition: dict[str, dict[int, list[GameResult]]] = {}
    for game in games(store):
        if game.status == "done" and game.row is not None:
            by_condition.setdefault(game.condition, {}).setdefault(game.deal, []).append(game)
    for condition, deals in by_condition.items():
        found = {}
        for name in NAMES:
            measure = MEASURES[name]
            kept: list[tuple[int, Floats, bool]] = []
            most = max(map(len, deals.values()))
            for deal, own in deals.items():
                rows = [game.row for game in own if game.row is not None]
                sums = [row.sums_of(name) for row in rows]
                values = [[float(x or 0) for x in one] for one in sums if one[0] is not None]
                if len(values) == most:  # with void games, means over games and over deals would differ
                    kept.append((deal, np.array(values), rows[0].sheriff_is_wolf))
            if kept:
                numbers, of_deals, wolf = zip(*kept, strict=True)
                title = f"{store.path.name} {condition}"
                found[name] = Population(title, measure, of_deals, np.array(wolf), numbers)
        yield condition, found


def synthetic(deals: int = 2000, of_a_deal: int = 3, seed: int = 1) -> list[Population]:
    """Populations with known parameters: Ratio by role, DC of 3 and of 30 %, wins that cluster by deal."""
    rng = np.random.default_rng(seed)
    wolf = rng.random(deals) < WOLVES
    shape = (deals, of_a_deal)
    ratio = np.where(wolf, 0.7, 1.05)[:, None] + rng.normal(0, 0.06, (deals, 1)) + rng.normal(0, 0.09, shape)
    found = [_population("synthetic", "ratio", ratio, wolf)]
    for rate, name in ((0.03, "synthetic 3 %"), (0.3, "synthetic 30 %")):
        chance = rng.beta(12 * rate, 12 * (1 - rate), (deals, 1))
        found.append(_population(name, "dc", rng.binomial(6, np.broadcast_to(chance, shape)) / 6, wolf))
    chance = rng.beta(2, 2, (deals, 1))
    found.append(_population("synthetic", "village_win", rng.random(shape) < chance, wolf))
    return found


def _population(name: str, measure: str, values: np.ndarray, wolf: np.ndarray) -> Population:
    return Population(
        name,
        MEASURES[measure],
        [np.stack([own, np.ones(len(own))], axis=1) for own in values.astype(float)],
        wolf,
    )


def covered(
    population: Population, deals: int, of_a_deal: int, stratified: bool, repeats: int, seed: int
) -> Covered:
    """The coverage of one measure's intervals."""
    rng = np.random.default_rng((seed, deals, of_a_deal))
    truth, counts = population.truth(stratified), Covered()
    for _ in range(repeats):
        _, sums = drawn(population, deals, of_a_deal, stratified, rng)
        shares = (1 - WOLVES, WOLVES) if stratified else None
        counts.add(estimate_measure(population.measure, sums, 0, shares=shares), truth)
    return counts


def covered_difference(
    ours: Population, theirs: Population, deals: int, of_a_deal: int, repeats: int, seed: int
) -> Covered:
    """The coverage of intervals of ours − theirs on the same deals."""
    rng = np.random.default_rng((seed, deals, of_a_deal, 1))
    means = [np.array([own[:, 0].sum() / own[:, 1].sum() for own in side.deals]) for side in (ours, theirs)]
    truth, counts = float((means[0] - means[1]).mean()), Covered()
    for _ in range(repeats):
        chosen = rng.integers(len(ours.deals), size=deals)
        rows = []
        for deal in chosen:
            row: list[float] = []
            for side in (ours, theirs):
                own = side.deals[deal]
                some = own[rng.permutation(len(own))[:of_a_deal]]
                row += [float(some[:, 0].sum() / some[:, 1].sum()), 1.0]
            rows.append(row)
        test = difference(
            ClusteredSums.of(np.array(rows)), ours.measure.how.statistic,
            n=deals, missing=0, units="deals", bounds=ours.measure.apart,
        )  # fmt: skip
        counts.add(test.difference, truth)
    return counts


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="How often 95 % intervals contain the truth.")
    parser.add_argument("runs", nargs="*", type=Path, help="finished runs, each a population")
    parser.add_argument("--repeats", type=int, default=400, help="samples for each line")
    parser.add_argument("--deals", type=int, nargs="+", default=[6, 10, 30, 100])
    parser.add_argument("--games", type=int, nargs="+", default=[1, 3], help="games of each deal")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    heads = ("holds", "below", "above")
    print(
        f"{'population':24}  {'measure':13}  strata  deals  games  {' '.join(f'{head:>6}' for head in heads)}"
        f"  {'width':>8}  repeats"
    )

    def show(name: str, measure: str, strata: str, count: Callable[[int, int], Covered]) -> None:
        for deals in given.deals:
            for of_a_deal in given.games:
                line = count(deals, of_a_deal).line()
                print(f"{name:24.24}  {measure:13}  {strata:6}  {deals:5}  {of_a_deal:5}  {line}", flush=True)

    def show_population(one: Population) -> None:
        for stratified in (False, True) if one.measure.stratified else (False,):
            count = partial(covered, one, stratified=stratified, repeats=given.repeats, seed=given.seed)
            show(one.name, one.measure.name, "yes" if stratified else "no", count)

    for one in synthetic():
        show_population(one)
    for run in given.runs:
        with Store.open_for_reading(run) as store:
            conditions = dict(populations(store))
        first: Mapping[str, Population] | None = None
        for found in conditions.values():
            for one in found.values():
                show_population(one)
            for name in NAMES:
                if first is None or name not in found or name not in first or not MEASURES[name].by_deal:
                    continue
                ours, theirs = _common(found[name], first[name])
                count = partial(covered_difference, ours, theirs, repeats=given.repeats, seed=given.seed)
                show(ours.name, f"{name} −", "no", count)
            first = first or found


def _common(ours: Population, theirs: Population) -> tuple[Population, Population]:
    """Both populations with their common deals, in one order."""
    common = sorted({*ours.numbers} & {*theirs.numbers})

    def kept(side: Population) -> Population:
        at = [side.numbers.index(deal) for deal in common]
        return Population(side.name, side.measure, [side.deals[k] for k in at], side.wolf[at], common)

    return kept(ours), kept(theirs)


if __name__ == "__main__":
    main()
