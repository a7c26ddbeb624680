"""Ratings: known strengths are recovered, intervals hold them, and a clean sweep stays finite."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from wolflab.stats.prediction import MODELS, Prediction, predict_left_out
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
            found.append(
                RatedGame(deal, (village,), (werewolves,), bool(drawn < chance(village, werewolves)))
            )
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
    swept = [RatedGame(deal, (a,), (b,), a == "x") for deal in range(30) for a, b in product("xy", "xy")]
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
            deal,
            (a,),
            (b,),
            bool(rng.random() < (0.8 if (a, b) in beats else 0.2 if (b, a) in beats else 0.5)),
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
    return [
        RatedGame(deal, (a,), (b,), bool(rng.random() < wins[a])) for deal in range(deals) for a, b in pairs
    ]


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
        RatedGame(deal, (a,), (b,), bool(rng.random() < 0.4))
        for deal in range(50)
        for a in "ab"
        for b in "bw"
    ]
    rows = {row.name: row for row in rate_entrants(duels).rows}
    assert rows["a"].werewolves is None
    assert rows["a"].overall is None
    assert rows["w"].village is None
    assert rows["b"].overall is not None


def test_too_little_is_said_and_not_guessed() -> None:
    assert rate_entrants([]).note == "no game was won"
    apart = [
        RatedGame(deal, (a,), (b,), deal % 2 == 0) for deal in range(10) for a, b in (("a", "b"), ("c", "d"))
    ]
    assert "one scale" in rate_entrants(apart).note
    few = [RatedGame(deal, (a,), (b,), deal % 2 == 0) for deal in range(3) for a, b in product("ab", "ab")]
    row = rate_entrants(few).rows[0]
    assert row.ranks is None
    assert row.village is not None
    assert row.village.low is None
    assert "fewer than 5 deals" in row.village.note


# -- mixed tables -------------------------------------------------------------------------------


def mixed_season(deals: int, seed: int) -> list[RatedGame]:
    """Seven seats, two of them Werewolves, held by three entrants in three rotations of each deal."""
    rng = np.random.default_rng(seed)
    games = []
    for deal in range(deals):
        cards = rng.permutation(7)
        for turn in range(3):
            seated = tuple("abc"[(seat + turn) % 3] for seat in cards)
            village, pack = seated[:5], seated[5:]
            odds = SIDE + np.mean([VILLAGE[name] for name in village])
            odds -= np.mean([WEREWOLVES[name] for name in pack])
            games.append(RatedGame(deal, village, pack, bool(rng.random() < 1 / (1 + math.exp(-odds)))))
    return games


def test_known_strengths_are_recovered_from_mixed_tables() -> None:
    fit = rate_entrants(mixed_season(3000, 4))
    assert fit.residuals == ()
    assert fit.side is not None
    assert fit.side.excludes(SIDE) is False
    for row in fit.rows:
        for found, true in ((row.village, VILLAGE[row.name]), (row.werewolves, WEREWOLVES[row.name])):
            assert found is not None
            assert found.half_width is not None
            assert found.half_width < 0.5
            assert found.excludes(true) is False


def test_a_cell_is_a_table_with_one_entrant_on_each_side() -> None:
    cells = season(40, 2)
    seated = [one._replace(village=one.village * 5, werewolves=one.werewolves * 2) for one in cells]
    one, other = rate_entrants(cells), rate_entrants(seated)
    assert [row.ranks for row in one.rows] == [row.ranks for row in other.rows]
    for mine, theirs in zip(one.rows, other.rows, strict=True):
        assert mine.overall is not None
        assert theirs.overall is not None
        assert (mine.overall.value, mine.overall.low) == pytest.approx(
            (theirs.overall.value, theirs.overall.low)
        )


# -- predictions --------------------------------------------------------------------------------


def log_losses(found: Prediction) -> dict[str, float | None]:
    return {row.model: row.log_loss.value for row in found.losses}


def sure(found: Prediction) -> dict[tuple[str, str], int]:
    """Pair of models → whether the first has surely more loss (1) or less (-1)."""
    signs = {}
    for row in found.differences:
        assert row.log_loss.value is not None
        signs[row.first, row.second] = int(np.sign(row.log_loss.value)) * bool(row.log_loss.excludes(0.0))
    return signs


def duels(v: tuple[float, ...], w: tuple[float, ...], deals: int, seed: int) -> list[RatedGame]:
    """Cells of entrants with these strengths as village and as Werewolves."""
    rng = np.random.default_rng(seed)
    return [
        RatedGame(deal, (str(a),), (str(b),), bool(rng.random() < 1 / (1 + math.exp(w[b] - v[a]))))
        for deal in range(deals)
        for a, b in product(range(len(v)), repeat=2)
    ]


def test_the_model_that_is_true_predicts_what_was_left_out() -> None:
    """Entrants that detect well and deceive badly; entrants as good at both; entrants that are all alike."""
    rising, level = (-1.0, -0.3, 0.3, 1.0), (0.0,) * 4
    two = sure(predict_left_out(duels(rising, rising[::-1], 200, 1)))
    assert (two["two strengths", "one strength"], two["two strengths", "side alone"]) == (-1, -1)
    one = sure(predict_left_out(duels(rising, rising, 200, 2)))
    assert (one["two strengths", "one strength"] >= 0, one["one strength", "side alone"]) == (True, -1)
    alike = log_losses(predict_left_out(duels(level, level, 200, 3)))
    assert alike["side alone"] == pytest.approx(math.log(2), abs=0.01)


def test_with_few_deals_strengths_fit_chance() -> None:
    """Twenty fields of equals, five deals each: the more parameters, the larger the loss on average."""
    fields = [log_losses(predict_left_out(duels((0.0,) * 5, (0.0,) * 5, 5, seed))) for seed in range(20)]
    two, one, side = (np.mean([float(losses[model] or 0) for losses in fields]) for model in MODELS)
    assert math.log(2) < side < one < two


def test_what_is_predicted_was_left_out_of_the_fit() -> None:
    """By hand: with the side alone, a cell of 3 games is predicted from the 9 others."""
    games = [RatedGame(deal, ("a",), ("b",), True) for deal in range(3)]
    games += [RatedGame(deal, ("b",), ("a",), deal < 1) for deal in range(5)]
    games += [RatedGame(deal, (name,), (name,), True) for deal in range(2) for name in "ab"]
    found = predict_left_out(games)
    won = {"ab": (3, 3), "ba": (1, 5), "aa": (2, 2), "bb": (2, 2)}
    loss = 0.0
    for wins, of in won.values():
        chance = (8 - wins + 0.5) / (12 - of + 1)  # Firth's fit of μ alone
        loss += wins * (chance - 1) ** 2 + (of - wins) * chance**2
    (side,) = (row for row in found.losses if row.model == "side alone")
    assert (found.pairings, found.skipped) == (4, 0)
    assert (side.brier.value, side.brier.n) == (pytest.approx(loss / 12), 12)


def test_what_the_others_do_not_determine_is_skipped_and_counted() -> None:
    games = [one for one in duels((0.0,) * 2, (0.0,) * 2, 6, 1) if one.village != one.werewolves]
    found = predict_left_out(games)
    assert (found.pairings, found.skipped) == (0, 2)
    assert all(row.brier.value is None for row in found.losses)
    assert predict_left_out([]) == Prediction()


# -- openskill ----------------------------------------------------------------------------------


def test_openskill_ranks_the_same_field_the_same_way() -> None:
    skills = {(one.name, one.side): one for one in openskill(season(400, 9))}
    assert set(skills) == set(product("abc", ("village", "werewolves")))
    village = [skills[name, "village"].mu for name in "abc"]
    assert village == sorted(village)
    assert all(0 < one.sigma < 25 / 3 for one in skills.values())
