"""Ratings of entrants from results of games: a Bradley-Terry model with sides.

Several entrants may sit on one side; the strength of a side is the mean over its seats. The model is

    logit P(village wins) = μ + mean of v over village seats − mean of w over Werewolf seats,   Σ v = Σ w = 0

v: an entrant's strength as the village; w: as the Werewolves; μ: the advantage of the village between average
entrants (Bradley and Terry 1952, with a home advantage). In a cell (A, B) A holds every village seat and B
every Werewolf's: logit P = μ + v_A − w_B. The overall strength is s_A = (v_A + w_A) / 2: if A and B play each
other on both sides, the mean of the two log odds for A is s_A − s_B. The model has no interactions between
entrants; `residual` shows them, in cells. A residual has no interval if one side won all games of its cell:
the share is then 0 or 1 with any deals, and the fit, which is shrunk, is not. With two entrants on a side one
residual determines the others, so there are none. `designs` has two simpler models beside this one;
`prediction` compares the three.

A plain fit would be infinite if one side won all games of a cell. The fit is Firth's ("Bias reduction of
maximum likelihood estimates", Biometrika 1993) with Jeffreys' prior as a penalty. For this model it adds h/2
wins and h/2 defeats to every pairing, with h its leverage. The sum of all leverages is the number of
parameters, so 5 entrants add about nine games to the table. The fit has no free constant, removes the
first-order bias, and is finite for any results.

Intervals: see `intervals`. Ranks: simultaneous 95 % intervals of all differences of strength. A bootstrap of
the largest studentised one gives the level that each interval needs, as if errors were known. With that level
the intervals are Student's, since errors are estimated from few deals. An entrant's best rank is one more
than the number of entrants surely above it, its worst likewise, and all rank intervals hold together
(Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks", 2024, section 3). The module knows wins by deal,
and no games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from .clusters import ClusteredSums, Floats, Statistic, by_deal, t_quantile
from .intervals import MIN_DEALS, Estimate, estimate
from .resampling import resample_deals

_STEPS = 60
"""The largest number of Newton steps; a few are usual."""
_LONGEST = 2.0
"""The largest change of a log odds in one step."""
FEWEST = 3
"""The smallest number of entrants on each side for which there are residuals."""
SWEPT = "one side won all games: no interval"


Members = tuple[str, ...]
"""The entrants of one side, one for each seat; or a single one that holds every seat."""
PairedSides = tuple[Members, Members]
"""The entrants of the village and of the Werewolves, each sorted: whoever sits at which seat."""
ModelName = Literal["two strengths", "one strength", "side alone"]
"""A model of who wins: a strength for each side, one for both, or the advantage of the side alone."""


class RatedGame(NamedTuple):
    """One game that a side won: the entrants of each side, and whether the village won."""

    deal: int
    village: Members
    werewolves: Members
    won: bool

    @property
    def pairing(self) -> PairedSides:
        """Who played whom."""
        return tuple(sorted(self.village)), tuple(sorted(self.werewolves))


@dataclass(frozen=True, slots=True)
class Rating:
    """One entrant's strengths, in log odds of a game. None if it does not play that side (overall: both).

    rank: the estimated overall rank; ranks: its simultaneous 95 % interval (best, worst).
    """

    name: str
    overall: Estimate | None
    village: Estimate | None
    werewolves: Estimate | None
    rank: int | None
    ranks: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Residual:
    """One cell: the fitted probability that the village wins, and the observed share minus it."""

    village: str
    werewolves: str
    fitted: float
    residual: Estimate


@dataclass(frozen=True, slots=True)
class Ratings:
    """A fit. side: μ, in log odds. residuals: one for each cell; none with fewer than `FEWEST` on a side, or
    if several entrants sit on one side. note: why there is no fit, or "".
    """

    rows: tuple[Rating, ...]
    side: Estimate | None
    residuals: tuple[Residual, ...]
    note: str = ""


# -- the fit ----------------------------------------------------------------------------------


def firth(design: Floats, wins: Floats, games: Floats) -> Floats:
    """Firth's logistic fit of many data sets at once.

    design: (pairings × parameters). wins, games: (sets × pairings), counts or weights. Returns (sets ×
    parameters); NaN if a set cannot determine all parameters.
    """
    sets, parameters = len(wins), design.shape[1]
    squares = np.einsum("cp,cq->cpq", design, design).reshape(len(design), -1)
    beta = np.zeros((sets, parameters))
    known = np.linalg.cond((games @ squares).reshape(sets, parameters, parameters)) < 1e12
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-(beta @ design.T)))
        weight = games * chance * (1 - chance)
        information = (weight @ squares).reshape(sets, parameters, parameters)
        information[~known] = np.eye(parameters)
        inverse = np.linalg.inv(information)
        leverage = weight * (inverse.reshape(sets, -1) @ squares.T)
        score = (wins - games * chance + leverage * (0.5 - chance)) @ design
        step = np.einsum("rpq,rq->rp", inverse, score)
        longest = np.abs(step @ design.T).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-300))
        beta += step
        if np.abs(step[known]).max(initial=0.0) < 1e-9:
            break
    beta[~known] = np.nan
    return beta


def designs(pairings: Sequence[PairedSides]) -> dict[ModelName, Floats]:
    """The design of each model, (pairings × parameters). The first parameter is μ.

    Strengths are coded so that their sum is 0. "one strength": logit P = μ + mean of s over village seats −
    mean of s over Werewolf seats. "side alone": μ alone.
    """
    villages, packs = [village for village, _ in pairings], [werewolves for _, werewolves in pairings]
    village, werewolves, everybody = map(_places_of, (villages, packs, [*villages, *packs]))
    side = np.ones((len(pairings), 1))
    v = _shares(villages, village) @ _centred(len(village))
    w = _shares(packs, werewolves) @ _centred(len(werewolves))
    s = (_shares(villages, everybody) - _shares(packs, everybody)) @ _centred(len(everybody))
    return {
        "two strengths": np.hstack([side, v, -w]),
        "one strength": np.hstack([side, s]),
        "side alone": side,
    }


class _Model:
    """Names, pairings and the full-rank coding of μ, v and w; turns sums by pairing into strengths."""

    def __init__(self, pairings: Sequence[PairedSides]) -> None:
        self.pairings = list(pairings)
        self.village = _places_of(village for village, _ in pairings)
        self.werewolves = _places_of(werewolves for _, werewolves in pairings)
        self.both = _places(name for name in self.village if name in self.werewolves)
        self._v, self._w = _centred(len(self.village)), _centred(len(self.werewolves))
        self.design = designs(self.pairings)["two strengths"]
        self._fits: dict[bytes, Floats] = {}

    @property
    def connected(self) -> bool:
        """Whether the pairings determine all parameters."""
        return bool(np.linalg.matrix_rank(self.design) == self.design.shape[1])

    def fit(self, sums: Floats) -> Floats:
        """(sets × parameters) from (sets × wins by pairing, then games by pairing); the result is
        cached."""
        key = sums.tobytes()
        if key not in self._fits:
            wins, games = np.split(sums, 2, axis=1)
            self._fits[key] = firth(self.design, wins, games)
        return self._fits[key]

    def strengths(self, sums: Floats) -> Floats:
        """(sets × names of both sides): v, then w."""
        beta = self.fit(sums)
        cut = len(self.village)
        return np.hstack([beta[:, 1:cut] @ self._v.T, beta[:, cut:] @ self._w.T])

    def overall(self, sums: Floats) -> Floats:
        """(sets × `both`): s, centred."""
        strengths = self.strengths(sums)
        v = [self.village[name] for name in self.both]
        w = [len(self.village) + self.werewolves[name] for name in self.both]
        s = (strengths[:, v] + strengths[:, w]) / 2
        centred: Floats = s - s.mean(axis=1, keepdims=True)
        return centred

    def fitted(self, sums: Floats) -> Floats:
        """(sets × pairings): fitted probability that the village wins."""
        chance: Floats = 1 / (1 + np.exp(-(self.fit(sums) @ self.design.T)))
        return chance


def _places(names: Iterable[str]) -> dict[str, int]:
    """Name → index, in order of first use."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _places_of(sides: Iterable[Members]) -> dict[str, int]:
    return _places(name for side in sides for name in side)


def _shares(sides: Sequence[Members], places: Mapping[str, int]) -> Floats:
    """(sides × entrants): the share of a side's seats that an entrant holds."""
    shares = np.zeros((len(sides), len(places)))
    for row, side in enumerate(sides):
        for name in side:
            shares[row, places[name]] += 1 / len(side)
    return shares


def _centred(levels: int) -> Floats:
    """(levels × levels − 1): sum-to-zero coding."""
    return np.vstack([np.eye(levels - 1), -np.ones((1, levels - 1))])


def rate_entrants(games: Sequence[RatedGame]) -> Ratings:
    """Fit the model with intervals. games: of all pairings, in any order."""
    pairings = list(dict.fromkeys(game.pairing for game in games))
    if not pairings:
        return Ratings((), None, (), "no game was won")
    model = _Model(pairings)
    if not model.connected:
        return Ratings((), None, (), "too few pairs have played each other to set all entrants on one scale")
    place = {pairing: k for k, pairing in enumerate(pairings)}
    rows = []
    for game in games:
        sums = [0.0] * (2 * len(pairings))
        at = place[game.pairing]
        sums[at], sums[len(pairings) + at] = float(game.won), 1.0
        rows.append((game.deal, sums))
    table = by_deal(rows)
    sample = ClusteredSums.of(table)

    def strength(fitted: Statistic, column: int | None) -> Estimate | None:
        if column is None:
            return None
        found, _ = estimate(
            sample, lambda sums: fitted(sums)[:, column], n=len(games), missing=0, units="games"
        )
        return found

    ranks = _ranks(model, table)
    point = model.overall(table.sum(axis=0, keepdims=True))[0] if model.both else np.zeros(0)
    ratings = []
    for name in dict.fromkeys([*model.village, *model.werewolves]):
        both, werewolves = model.both.get(name), model.werewolves.get(name)
        ratings.append(
            Rating(
                name,
                strength(model.overall, both),
                strength(model.strengths, model.village.get(name)),
                strength(model.strengths, None if werewolves is None else len(model.village) + werewolves),
                None if both is None else 1 + int((point > point[both] + 1e-9).sum()),
                None if both is None or ranks is None else ranks[both],
            )
        )
    return Ratings(tuple(ratings), strength(model.fit, 0), _residuals(model, sample))


def _residuals(model: _Model, sample: ClusteredSums) -> tuple[Residual, ...]:
    cells, total = len(model.pairings), sample.total
    mixed = any(len(side) > 1 for pairing in model.pairings for side in pairing)
    if mixed or min(len(model.village), len(model.werewolves)) < FEWEST:
        return ()
    fitted = model.fitted(total[None])[0]
    residuals = []
    for k, ((village,), (werewolves,)) in enumerate(model.pairings):

        def gap(sums: Floats, k: int = k) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                rate: Floats = sums[:, k] / sums[:, cells + k]
            return rate - model.fitted(sums)[:, k]

        residual, _ = estimate(sample, gap, n=round(float(total[cells + k])), missing=0, units="games")
        if total[k] in (0.0, total[cells + k]):
            residual = replace(residual, low=None, high=None, note=SWEPT)
        residuals.append(Residual(village, werewolves, float(fitted[k]), residual))
    return tuple(residuals)


def _ranks(model: _Model, table: Floats) -> list[tuple[int, int]] | None:
    """(best, worst) rank of each of `both`; see the module. None for too few deals."""
    deals, names = len(table), len(model.both)
    if deals < MIN_DEALS or names < 2:
        return None
    point = model.overall(table.sum(axis=0, keepdims=True))[0]
    gap = point[:, None] - point[None, :]
    errors: list[Floats] = []

    def farthest(sums: Floats) -> Floats:
        strengths = model.overall(sums)
        finite = np.isfinite(strengths).all(axis=1)
        gaps = strengths[:, :, None] - strengths[:, None, :]
        error = gaps[finite].std(axis=0)
        errors.append(error)
        with np.errstate(invalid="ignore", divide="ignore"):
            studentised = np.where(error > 1e-12, np.abs(gaps - gap) / error, 0.0)
        most: Floats = studentised.max(axis=(1, 2))
        return most

    values = farthest(resample_deals(table))
    tail = NormalDist().cdf(-float(np.percentile(values[np.isfinite(values)], 95)))
    # Resamples scatter less than samples, by (n − 1) / n.
    reach = t_quantile(deals - 1, 1 - tail) * math.sqrt(deals / (deals - 1))
    error = errors[0]
    above = (gap + reach * error < 0) & (error > 1e-12)
    below = (gap - reach * error > 0) & (error > 1e-12)
    return [(1 + int(above[k].sum()), names - int(below[k].sum())) for k in range(names)]


# -- openskill --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Skill:
    """openskill's rating of one entrant on one side: mean and standard deviation."""

    name: str
    side: str
    mu: float
    sigma: float


def openskill(games: Sequence[RatedGame]) -> tuple[Skill, ...]:
    """Plackett-Luce ratings (Weng and Lin 2011) by the package openskill, game by game in the given order.

    games: of cells, in which one entrant holds all seats of a side.

    An entrant has one rating for each side, and a game is one rating against another: a team's rating would
    be the sum of its members', which depends on their number. Unlike `rate_entrants`, these ratings have no
    intervals over deals and depend on the order of games. Leaderboards usually show such ratings.
    """
    from openskill.models import PlackettLuce, PlackettLuceRating

    model = PlackettLuce()
    ratings: dict[tuple[str, str], PlackettLuceRating] = {}
    for game in games:
        (village,), (werewolves,) = game.village, game.werewolves
        keys = ((village, "village"), (werewolves, "werewolves"))
        teams = [[ratings[key] if key in ratings else model.rating()] for key in keys]
        rated = model.rate(teams, ranks=[0, 1] if game.won else [1, 0])
        for key, team in zip(keys, rated, strict=True):
            ratings[key] = team[0]
    return tuple(
        Skill(name, side, float(rating.mu), float(rating.sigma)) for (name, side), rating in ratings.items()
    )
