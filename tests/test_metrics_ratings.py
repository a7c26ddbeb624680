"""Ratings: known strengths are recovered, intervals hold them, and a clean sweep stays finite."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from wolflab.stats.ratings import SWEPT, RatedGame, firth, openskill, rate_entrants

VILLAGE = {"a": -0.7, "b": 0.1, "c": 0.6}
WEREWOLVES = {"a": -0.2, "b": -0.1, "c": 0.3}
SIDE = -0.8


def chance(village: str, werewolves: str) -> float:
    return 1 / (1 + math.exp(-(SIDE + VILLAGE[village] - WEREWOLVES[werewolves])))


def season(deals: int, seed: int, shared: float = 0.5) -> list[RatedGame]:
    """Everybody against everybody; with chance `shared` a game hangs on its deal's luck alone.

    Each game's chance is exactly that of the model, and games of a deal are not independent.
    """
    rng = np.random.default_rng(seed)
    found = []
    for deal in range(deals):
        luck = rng.random()
        for village, werewolves in product(VILLAGE, WEREWOLVES):
            drawn = luck if rng.random() < shared else rng.random()
            found.append(RatedGame(deal, village, werewolves, bool(drawn < chance(village, werewolves))))
    return found


def test_known_strengths_are_recovered() -> None:
    fit = rate_entrants(season(2000, 1))
    assert fit.side is not None
    assert fit.side.value == pytest.approx(SIDE, abs=0.1)
    for row in fit.rows:
        assert row.village is not None
        assert row.werewolves is not None
        assert row.overall is not None
        assert row.village.value == pytest.approx(VILLAGE[row.name], abs=0.08)
        assert row.werewolves.value == pytest.approx(WEREWOLVES[row.name], abs=0.08)
        overall = (VILLAGE[row.name] + WEREWOLVES[row.name]) / 2
        assert row.overall.value == pytest.approx(overall, abs=0.06)
    assert [(row.name, row.rank, row.ranks) for row in fit.rows] == [
        ("a", 3, (3, 3)),
        ("b", 2, (2, 2)),
        ("c", 1, (1, 1)),
    ]
    for cell in fit.residuals:
        assert cell.fitted == pytest.approx(chance(cell.village, cell.werewolves), abs=0.03)
        assert cell.residual.excludes(0.0) is not True or abs(cell.residual.value or 0) < 0.03


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """30 seasons of 60 deals whose games share luck; seven numbers each."""
    held = asked = ranks_held = 0
    for seed in range(30):
        fit = rate_entrants(season(60, 100 + seed))
        pairs = [(row.overall, (VILLAGE[row.name] + WEREWOLVES[row.name]) / 2) for row in fit.rows]
        pairs += [(row.village, VILLAGE[row.name]) for row in fit.rows]
        pairs.append((fit.side, SIDE))
        held += sum(one is not None and one.excludes(truth) is False for one, truth in pairs)
        asked += len(pairs)
        truth = {"c": 1, "b": 2, "a": 3}
        ranks_held += all(
            row.ranks is not None and row.ranks[0] <= truth[row.name] <= row.ranks[1] for row in fit.rows
        )
    assert asked == 210
    assert 0.90 <= held / asked <= 0.99
    assert ranks_held >= 27


def test_games_of_a_deal_are_no_independent_samples() -> None:
    """With the deals hidden from the resampling the interval of what they share is far too short."""
    duels = season(60, 100)
    seen, hidden = (
        rate_entrants(duels).side,
        rate_entrants([one._replace(deal=k) for k, one in enumerate(duels)]).side,
    )
    assert seen is not None
    assert hidden is not None
    assert seen.high is not None
    assert seen.low is not None
    assert hidden.high is not None
    assert hidden.low is not None
    assert hidden.high - hidden.low < 0.75 * (seen.high - seen.low)


def test_a_clean_sweep_stays_finite_and_a_close_call_is_hardly_touched() -> None:
    swept = [RatedGame(deal, a, b, a == "x") for deal in range(30) for a, b in product("xy", "xy")]
    fit = rate_entrants(swept)
    values = {row.name: row.village.value for row in fit.rows if row.village is not None}
    assert values["x"] is not None
    assert 3 < values["x"] < 6
    # One cell alone: Firth's fit of k wins in n is log((k + 1/2) / (n − k + 1/2)), the familiar half game.
    for wins, games in ((0, 10), (3, 10), (10, 10)):
        beta = firth(np.ones((1, 1)), np.array([[float(wins)]]), np.array([[float(games)]]))
        assert beta[0, 0] == pytest.approx(math.log((wins + 0.5) / (games - wins + 0.5)))


def test_what_no_strength_explains_is_left_over() -> None:
    """Rock, paper, scissors: all strengths alike, and every pairing far from what they say."""
    rng = np.random.default_rng(3)
    beats = {("r", "s"), ("s", "p"), ("p", "r")}
    duels = [
        RatedGame(
            deal, a, b, bool(rng.random() < (0.8 if (a, b) in beats else 0.2 if (b, a) in beats else 0.5))
        )
        for deal in range(300)
        for a, b in product("rps", "rps")
    ]
    fit = rate_entrants(duels)
    assert all(row.overall is not None and row.overall.excludes(0.0) is False for row in fit.rows)
    assert all(row.ranks == (1, 3) for row in fit.rows)
    for cell in fit.residuals:
        assert cell.residual.excludes(0.0) is (cell.village != cell.werewolves)


def drawn(names: str, deals: int, seed: int) -> list[RatedGame]:
    """Games of entrants whose strengths add up: the first never wins as the village."""
    rng = np.random.default_rng(seed)
    wins = dict(zip("abc", (0.0, 0.5, 0.4), strict=True))
    pairs = list(product(names, names))
    return [RatedGame(deal, a, b, bool(rng.random() < wins[a])) for deal in range(deals) for a, b in pairs]


def test_a_cell_won_throughout_is_no_finding() -> None:
    for cell in rate_entrants(drawn("abc", 20, 1)).residuals:
        swept = cell.village == "a"
        assert (cell.residual.note == SWEPT) is swept
        assert cell.residual.excludes(0.0) is (None if swept else False)


def test_two_entrants_leave_nothing_unexplained() -> None:
    """One cell won throughout would decide all four."""
    assert rate_entrants(drawn("ab", 20, 1)).residuals == ()


def test_who_plays_one_side_alone_has_no_overall_strength() -> None:
    rng = np.random.default_rng(5)
    duels = [
        RatedGame(deal, a, b, bool(rng.random() < 0.4)) for deal in range(50) for a in "ab" for b in "bw"
    ]
    rows = {row.name: row for row in rate_entrants(duels).rows}
    assert rows["a"].werewolves is None
    assert rows["a"].overall is None
    assert rows["w"].village is None
    assert rows["b"].overall is not None


def test_too_little_is_said_and_not_guessed() -> None:
    assert rate_entrants([]).note == "no game was won"
    apart = [RatedGame(deal, a, b, deal % 2 == 0) for deal in range(10) for a, b in (("a", "b"), ("c", "d"))]
    assert "one scale" in rate_entrants(apart).note
    few = [RatedGame(deal, a, b, deal % 2 == 0) for deal in range(3) for a, b in product("ab", "ab")]
    row = rate_entrants(few).rows[0]
    assert row.ranks is None
    assert row.village is not None
    assert row.village.low is None
    assert "fewer than 5 deals" in row.village.note


def test_openskill_ranks_the_same_field_the_same_way() -> None:
    skills = {(one.name, one.side): one for one in openskill(season(400, 9))}
    assert set(skills) == set(product("abc", ("village", "werewolves")))
    village = [skills[name, "village"].mu for name in "abc"]
    assert village == sorted(village)
    assert all(0 < one.sigma < 25 / 3 for one in skills.values())
