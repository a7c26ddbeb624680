"""People at the table: measures by hand, intervals that know that a person's games are alike, learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from people import SLOPE, covered, simulated

from metrics_helpers import ONE_DAY, done, game, records, seat_person, votes
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.matching import matched_rows
from wolflab.lab.results.summaries import compared, summary
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store, StudySitting
from wolflab.lab.studies.study_plan import load_study
from wolflab.metrics import GameResult, summarise
from wolflab.metrics.days import Day, days_of
from wolflab.metrics.learning import learning_of
from wolflab.metrics.observed import MeasuringOptions, ObservedGame
from wolflab.metrics.people import person_correlation, person_dc, person_ratio
from wolflab.metrics.published import PublishedFigure, compare_with_published
from wolflab.metrics.rows import row_of
from wolflab.stats import intervals as iv
from wolflab.stats.agreement import rank_correlation
from wolflab.stats.clusters import ClusteredSums, t_quantile
from wolflab.ui.report.report import render_report

PERSON = 3
SHERIFF = 2
SEVEN = {"model": "village", "recipe": "deductive"}


def day(ratings: dict[int, dict[int, int]], **changes: Any) -> Day:
    (usual,) = days_of(game(votes({}, {})))
    return replace(usual, ratings=ratings, beliefs={}, **changes)


# -- by hand ---------------------------------------------------------------------------------------


def test_ratio_of_the_person_is_of_their_ratings_alone() -> None:
    rated = {PERSON: {0: 4, 1: 6, SHERIFF: 8, 4: 2, 5: 4, 6: 4}, 0: {1: 1, SHERIFF: 1}}
    assert person_ratio(day(rated), PERSON) == pytest.approx(8 / 4)
    assert person_ratio(day(rated), SHERIFF) is None
    assert person_ratio(day({0: {1: 1, SHERIFF: 1}}), PERSON) is None
    assert person_ratio(day(rated, sheriff=None), PERSON) is None


@pytest.mark.parametrize(
    ("straw", "real", "value"), [(1, 4, 1.0), (4, 4, 0.0), (1, 1, 0.0), (None, 4, 1.0), (1, 5, 0.0)]
)
def test_dc_of_the_person_is_whether_their_vote_turned(
    straw: int | None, real: int | None, value: float
) -> None:
    """The others need not have been polled: in 002's study only the person is."""
    cast = {**dict.fromkeys(range(7)), SHERIFF: 4, PERSON: real}
    one = day({}, straws={"straw": {PERSON: straw}}, votes=cast)
    assert person_dc(one, PERSON) == value
    assert person_dc(one, SHERIFF) is None
    assert person_dc(one, 0) is None


def test_correlation_is_over_common_targets_without_the_two() -> None:
    mine = {0: 1, 1: 2, SHERIFF: 3, 4: 9}
    rated = {
        PERSON: mine,
        SHERIFF: {0: 2, 1: 3, 4: 7, PERSON: 10},  # 0, 1, 4: the same order
        5: {0: 9, 1: 5, 4: 1, SHERIFF: 3, PERSON: 1},  # the other way round but for the Sheriff
        6: {0: 5, 1: 5, 4: 5},  # all alike: nothing to correlate
        0: {1: 1, 4: 2},  # two in common
    }
    other_way = rank_correlation([1, 2, 3, 9], [9, 5, 3, 1])
    assert other_way == pytest.approx(-1)
    assert person_correlation(day(rated), PERSON) == pytest.approx((1.0 - 1.0) / 2)
    voters = dict.fromkeys((0, 1, SHERIFF, PERSON, 4, 6))
    assert person_correlation(day(rated, votes=voters), PERSON) == pytest.approx(0), (
        "5 has no vote, and judges"
    )
    assert person_correlation(day({PERSON: mine}), PERSON) is None


def test_ranks_that_are_shared_are_their_mean() -> None:
    from scipy.stats import spearmanr  # type: ignore[import-untyped]

    rng = np.random.default_rng(4)
    for _ in range(40):
        ours, theirs = rng.integers(1, 5, (2, 7)).tolist()
        assert rank_correlation(ours, theirs) == pytest.approx(spearmanr(ours, theirs)[0])
    assert rank_correlation([3, 3, 3], [1, 2, 3]) is None


def test_one_person_has_the_measures_and_none_or_two_have_not() -> None:
    played = game(votes({PERSON: 1}, {PERSON: 4, SHERIFF: 4}))
    names = ("person_ratio", "person_dc", "person_correlation")
    assert "person" not in row_of(played).groups
    row = row_of(seat_person(played, PERSON))
    assert "person" in row.groups
    assert [list(row.sums_of(name)) for name in names] == [[None, None], [1.0, 1.0], [None, None]]
    assert "person" not in row_of(seat_person(played, 5)).groups


def test_days_after_somebody_took_the_seat_over_are_not_the_persons() -> None:
    played = seat_person(game(votes({PERSON: 1}, {PERSON: 4, SHERIFF: 4})), PERSON)
    played.takeovers.append((0, PERSON, {"recipe": "vanilla", "model": "village"}))
    assert list(row_of(played).sums_of("person_dc")) == [None, None]


def test_whose_judgements_count_is_who_held_the_seat_at_its_own_vote() -> None:
    """An open vote takes its time: somebody takes seat 0 over once it has voted."""
    played = game(votes({}, {}), ruleset=ONE_DAY.with_(votes="open"))
    asked = {turn.seat: turn.at for turn in played.turns if turn.kind == "vote"}
    before = ObservedGame(played, MeasuringOptions(), {}).judges
    for seat in (0, 6):
        played.takeovers.append((asked[0] + 1, seat, {"recipe": "vanilla", "model": "village"}))
    after = ObservedGame(played, MeasuringOptions(), {}).judges
    assert [seat for seat in range(7) if before[1, seat] != after[1, seat]] == [6]


# -- intervals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("people", "shared"), [(8, True), (8, False), (20, False)])
def test_over_people_the_planted_value_is_covered_and_over_deals_alone_it_is_not(
    people: int, shared: bool
) -> None:
    """Measured with 1,000 studies: 0.93 to 0.97 (`benchmarks/people.py`), over deals alone about 0.82."""
    found = covered(people, 5, shared, 150)
    assert found.ours >= 0.90
    assert found.slope >= 0.90
    assert found.deals_alone <= 0.88


def rows_of(people: int, deals: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    return np.stack([rng.normal(0.5, 0.2, (deals, people)), np.ones((deals, people))], axis=2)


def over_people(sums: Any, **changes: Any) -> iv.Estimate:
    given = {"n": int(sums[..., 1].sum()), "missing": 0, "units": "games", **changes}
    return iv.estimate(ClusteredSums.of(sums), iv.quotient, people=True, **given)[0]


def test_few_people_have_no_interval_and_few_deals_one_over_people_alone() -> None:
    assert over_people(rows_of(4, 20)).note == iv.FEW_PEOPLE
    assert over_people(rows_of(4, 20)).low is None
    few = over_people(rows_of(9, 4))
    assert (few.note, few.deals, few.draws) == (iv.PEOPLE_ALONE, 4, 9)
    means = rows_of(9, 4)[..., 0].mean(axis=0)
    half = means.std(ddof=1) / 3 * t_quantile(8)  # Student's, of nine people's means
    assert (few.low, few.high) == pytest.approx((means.mean() - half, means.mean() + half))
    assert few.half_width == pytest.approx(half)


def test_people_and_deals_without_any_game_of_it_count_for_nothing() -> None:
    sums = rows_of(8, 10)
    wider = np.zeros((14, 12, 2))
    wider[2:12, 3:11] = sums
    found, same = over_people(wider), over_people(sums)
    assert (found.low, found.high, found.draws) == pytest.approx((same.low, same.high, 8))


def test_where_all_are_alike_the_bounds_say_how_far() -> None:
    still = np.ones((10, 8, 2))
    assert over_people(still).note == iv.NO_SPREAD
    won = over_people(still, bounds=iv.UNIT)
    n = 80 * (1 - 1 / 8)
    assert (won.low, won.high) == pytest.approx(iv.wilson(n, n, t_quantile(7)))
    assert won.note == iv.BOUNDED
    few = over_people(np.ones((10, 3, 2)))
    assert iv.as_share(few, 30, 30) == few


# -- a study in numbers ------------------------------------------------------------------------------


def study(condition: str, people: int, shift: int = 0, games: int = 5) -> Iterator[GameResult]:
    """Each person plays the next deals; games and cards are those of scripted players."""
    every = (record for _, _, record in records(condition, 6 * games, rounds=1, obey=0.5, noise=0.2))
    played = [record for record in every if record.outcome is not None and not record.outcome.void][:games]
    for person in range(people):
        for k in range(games):
            deal = (person + k) % games
            yield done(
                seat_person(played[deal]),
                deal,
                condition,
                person=f"p{person + shift:02d}",
                place=k + 1,
            )


def test_every_number_of_a_study_is_over_people_and_deals() -> None:
    found = summarise([*study("x", 6), *study("y", 6, shift=3)], contrasts=["person_dc"])
    x = found.conditions[0]
    assert x.people == 6
    assert all(estimate.people for estimate in x.measures.values() if estimate.n)
    assert x.measures["person_dc"].n + x.measures["person_dc"].missing == x.measures["dc"].n == 30
    assert x.measures["dc"].draws == 6
    by = {contrast.metric: contrast for contrast in found.contrasts}
    gap = by["person_dc"].difference
    assert (gap.people, gap.draws, gap.units, gap.n) == (True, 9, "people", 9)
    values = [condition.measures["person_dc"].value or 0.0 for condition in found.conditions]
    assert gap.value == pytest.approx(values[1] - values[0])
    told = found.as_dict()["conditions"][0]
    assert told["people"] == 6
    assert {one["measure"] for one in told["learning"]} >= {"person_dc"}


@pytest.mark.slow
def test_the_page_says_what_so_many_people_can_show_and_what_changes() -> None:
    page = render_report(summarise(study("x", 6)))
    assert 'id="people"' in page
    assert "30 games of 6 people." in page
    assert "of DC of the person" in page
    assert "6 people</" in page or ", 6 people" in page
    assert "DC of the person over people" in page
    few = render_report(summarise(study("x", 3)))
    assert "too little to say" in few
    assert iv.FEW_PEOPLE in few
    assert 'id="people"' not in render_report(summarise([done(game(votes({}, {})))]))


def test_learning_is_within_people() -> None:
    rng = np.random.default_rng(5)
    played = [
        one._replace(value=one.value + SLOPE * one.place + 10 * one.person)
        for one in simulated(rng, 12, 10, False)
    ]
    found = learning_of("person_ratio", played)
    assert found is not None
    assert found.slope.excludes(SLOPE) is False
    assert found.slope.excludes(0.0) is True
    assert [place for place, _ in found.places] == list(range(1, 11))
    stopped = [one for one in played if one.place <= 3 or one.person > 5]  # the others' mean is far lower
    again = learning_of("person_ratio", stopped)
    assert again is not None
    assert again.slope.value == pytest.approx(found.slope.value, abs=0.1)
    assert learning_of("person_ratio", [one for one in played if one.place == 1]) is None


def test_a_published_mean_of_people_is_as_wide_as_so_many_people_would_make_it() -> None:
    ours = iv.Estimate(1.3, 1.1, 1.5, 80, 0, "games", 80, draws=16, people=True)
    theirs = PublishedFigure(1.3, "mean", 40, None, 3, 8)
    found = compare_with_published(ours, theirs)
    assert found.high == pytest.approx(0.2 * 3**0.5 + 0.0005)


# -- of a run ------------------------------------------------------------------------------------------


def played_by(path: Path, people: int) -> Store:
    data = {"name": "s", "rules": "doctor", "players": {"others": SEVEN}, "deals": 6, "watched": "player_3"}
    store = Store.create(path, build(data))
    assert runner.play_run(store)
    for row in store.games():
        store._db.execute(
            "INSERT INTO sittings VALUES (?, ?, ?, ?, ?)",
            StudySitting(row.id, PERSON, f"p{row.id % people}", 1, 0 if row.id == 1 else 1),
        )
    return store


def test_a_game_to_train_with_counts_for_nothing(tmp_path: Path) -> None:
    with played_by(tmp_path / "s", 5) as store:
        (one,) = summary(store).conditions
    assert (one.counts.planned, one.counts.done, one.people) == (5, 5, 5)
    assert one.measures["watched_win"].people
    assert "person_dc" not in one.measures  # agents sat there


def test_people_of_two_runs_are_not_the_same(tmp_path: Path) -> None:
    with played_by(tmp_path / "a", 5) as ours, played_by(tmp_path / "b", 5) as theirs:
        gap = compared([ours, theirs]).contrasts[-1].difference
    assert (gap.people, gap.n, gap.value) == (True, 10, 0.0)


def test_the_shipped_studies_stand_beside_what_they_reproduce() -> None:
    tables = ("002-table-3", "004-single", "004-humans-early")
    found = {
        name: {
            table: {condition: alike.row for condition, alike in rows.items()}
            for table, rows in matched_rows(load_study(name).played, tables).items()
        }
        for name in ("helmsman-people", "helmsman-sheriff", "strategic-people")
    }
    assert found["helmsman-people"]["002-table-3"] == {"all": "Human Evaluation"}
    assert not any(found["helmsman-sheriff"].values())
    assert found["strategic-people"]["004-single"] == {"strategic": "human"}
    assert found["strategic-people"]["004-humans-early"]["strategic"] == "human vs Ours"
