"""What is chosen in situations, how evenly, and how the report shows it: on records made by hand."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pytest
from rich.console import Console

from metrics_helpers import run as planted_run
from report_helpers import Page, section
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build
from wolflab.lab.results.extras import Extras
from wolflab.metrics import summarise
from wolflab.metrics.choices import STUDIES, Choices, choice_rows, studied_decisions
from wolflab.metrics.published import MatchedRow, published_table
from wolflab.record import GameRecord, PastTurn
from wolflab.rules import PASS, PRESETS, Action, Dealt, Ruleset, Say, pick
from wolflab.stats.evenness import SeatChosen, evenness, relative_entropy
from wolflab.stats.intervals import wilson
from wolflab.ui.report.report import render_report
from wolflab.ui.terminal.tables import print_summary

DOCTOR = PRESETS["doctor"]
NAMES = DOCTOR.names
ROLES = ("Werewolf", "Villager", "Seer", "Doctor", "Villager", "Werewolf", "Villager")


def turn(ask: str, action: Action, invalid: str | None = None) -> PastTurn:
    return PastTurn(ask, int(ask.rsplit("/", 1)[1]), action, invalid, 0)


def record(*turns: PastTurn, roles: tuple[str, ...] = ROLES, ruleset: Ruleset = DOCTOR) -> GameRecord:
    events = [Dealt(seat, role, 1 << seat) for seat, role in enumerate(roles)]
    return GameRecord({}, ruleset, list(events), list(turns), [], [], [])


class Told(NamedTuple):
    condition: str
    deal: int
    record: GameRecord


def game(deal: int, *turns: PastTurn, condition: str = "x") -> Told:
    return Told(condition, deal, record(*turns))


def kill(deal: int, target: int, condition: str = "x") -> Told:
    """The first Werewolf proposes seat 1, the second decides."""
    return game(deal, turn("1/kill/0", pick(1)), turn("1/kill/5", pick(target)), condition=condition)


def choices(
    games: list[Told], study: str, baseline: str | None = None, tables: Sequence[str] = ()
) -> list[Choices]:
    """The rows of a study in these games, whose conditions are the published rows of their names."""
    found: dict[str, list[Any]] = {}
    for one in games:
        found.setdefault(one.condition, []).append((one.deal, studied_decisions(one.record, study)))
    published = {
        table: {name: MatchedRow(name) for name in found if name in published_table(table).rows}
        for table in tables
    }
    return choice_rows(study, found, baseline=baseline, published=published)


# -- what is looked at ------------------------------------------------------------------------------


def test_the_first_kill_is_the_last_werewolfs_and_of_the_first_night() -> None:
    night_2 = turn("2/kill/5", pick(6))
    (one,) = studied_decisions(
        record(turn("1/kill/0", pick(1)), turn("1/kill/5", pick(3)), night_2), "first_kill"
    )
    assert one.category == NAMES[3]
    assert one.open == tuple(NAMES[seat] for seat in (1, 2, 3, 4, 6))
    assert studied_decisions(record(night_2), "first_kill") == ()


def test_who_is_open_follows_the_rules() -> None:
    kills = (turn("1/kill/0", pick(1)), turn("1/kill/5", pick(3)))
    anybody = DOCTOR.with_(wolves_may_target_self=True, wolves_may_target_pack=True)
    assert studied_decisions(record(*kills, ruleset=anybody), "first_kill")[0].open == NAMES
    mate = DOCTOR.with_(wolves_may_target_pack=True)
    assert NAMES[0] in studied_decisions(record(*kills, ruleset=mate), "first_kill")[0].open
    assert NAMES[5] not in studied_decisions(record(*kills, ruleset=mate), "first_kill")[0].open


def test_a_stand_in_is_missing_and_no_choice() -> None:
    games = [kill(0, 3), game(1, turn("1/kill/5", pick(4), "prose")), kill(2, 4)]
    (found,) = choices(games, "first_kill")
    assert found.shares[NAMES[3]].value == 0.5
    assert {one.missing for one in found.shares.values()} == {1}
    usable, none = choices([games[0], game(1, *games[1].record.turns, condition="y")], "first_kill", "x")
    assert (usable.condition, usable.evenness is None) == ("x", False)
    assert (none.condition, none.evenness) == ("y", None)
    assert {(one.value, one.missing) for one in none.shares.values()} == {(None, 1)}


def test_the_first_save_is_of_itself_or_of_another() -> None:
    saves = [1, 3, 3, 3, 0, 3]
    games = [game(k, turn("1/save/3", pick(s)), turn("2/save/3", pick(1))) for k, s in enumerate(saves)]
    (found,) = choices(games, "first_save")
    assert found.shares["itself"].value == pytest.approx(4 / 6)
    assert found.shares["another"].value == pytest.approx(2 / 6)
    assert found.evenness is None
    assert not found.where_open


SEERS = (
    turn("1/statement/0", Say("I am the Seer. I checked player_4 last night: player_4 is a Werewolf.")),
    turn("1/statement/2", Say("I am the Seer. I checked player_0 last night: player_0 is a Werewolf.")),
)


def test_votes_between_two_seers_are_the_villagers_and_of_day_one() -> None:
    votes = [
        turn("1/vote/1", pick(0)),  # the false Seer
        turn("1/vote/4", pick(2)),  # the true one
        turn("1/vote/6", PASS),
        turn("1/vote/3", pick(0)),  # the Doctor's
        turn("2/vote/1", pick(5)),
    ]
    found = studied_decisions(record(*SEERS, *votes), "seer_vote")
    assert [one.category for one in found] == ["the false Seer", "the true Seer", "nobody"]
    assert studied_decisions(record(SEERS[0], *votes), "seer_vote") == ()
    three = (*SEERS, turn("1/statement/5", Say("I am the Seer.")))
    assert studied_decisions(record(*three, *votes), "seer_vote") == ()


def test_conditions_are_apart() -> None:
    found = choices([kill(0, 3), kill(1, 3, "y")], "first_kill")
    assert [one.condition for one in found] == ["x", "y"]
    assert all(one.shares[NAMES[3]].value == 1 for one in found)
    assert set(STUDIES) == {"first_kill", "first_save", "seer_vote"}


def test_differences_are_paired_by_deal() -> None:
    """Itself in 8 of 10 deals against 4 of the same 10: +0.4, and −0.4 for another."""
    before = [game(k, turn("1/save/3", pick(3 if k < 4 else 1)), condition="before") for k in range(10)]
    after = [game(k, turn("1/save/3", pick(3 if k < 8 else 1)), condition="after") for k in range(10)]
    rows = {one.condition: one for one in choices([*before, *after], "first_save", baseline="before")}
    assert not rows["before"].differences
    assert rows["after"].baseline == "before"
    gained = rows["after"].differences["itself"]
    assert gained.value == pytest.approx(0.4)
    assert gained.n == 10
    assert gained.low is not None
    assert gained.low > 0
    assert rows["after"].differences["another"].value == pytest.approx(-0.4)
    assert not any(one.differences for one in choices([*before, *after], "first_save"))


# -- evenness ---------------------------------------------------------------------------------------

SEATS = tuple("abcdefg")
OPEN = tuple(combinations(SEATS, 5))


def sample(n: int, bias: float, seed: int = 3) -> list[SeatChosen]:
    """One decision a deal among five open seats; "d", where it is open, by that chance on top."""
    rng = np.random.default_rng(seed)
    found = []
    for deal in range(n):
        among = OPEN[rng.integers(len(OPEN))]
        seat = among[rng.integers(len(among))]
        if "d" in among and rng.random() < bias:
            seat = "d"
        found.append(SeatChosen(deal, seat, among))
    return found


def test_entropy_of_known_shares() -> None:
    assert relative_entropy(np.array([[10.0, 10, 20, 20]])) == pytest.approx([1])
    assert relative_entropy(np.array([[10.0, 0, 20, 20]])) == pytest.approx([0])
    # Seat two was open half as often and chosen half as often: as even as can be.
    assert relative_entropy(np.array([[10.0, 5, 20, 10]])) == pytest.approx([1])
    third = -(math.log(1 / 3) / 3 + 2 * math.log(2 / 3) / 3) / math.log(2)
    assert relative_entropy(np.array([[5.0, 10, 20, 20]])) == pytest.approx([third])
    assert relative_entropy(np.array([[0.0, 0, 5, 5]])) == pytest.approx([0])


def test_an_even_choice_looks_even() -> None:
    found = evenness(sample(1000, 0.0), SEATS)
    assert found is not None
    assert found.p > 0.05
    assert found.at_most < 0.30
    assert found.entropy.value == pytest.approx(found.even, abs=0.01)
    assert 0.99 < found.even < 1


def test_a_bias_is_found_with_its_size() -> None:
    """By chance ½ on top of 1 in 5: 0.6 of the decisions in which it was open."""
    found = evenness(sample(1000, 0.5), SEATS)
    assert found is not None
    assert found.largest == "d"
    assert found.share.low is not None
    assert found.share.high is not None
    assert found.share.low < 0.6 < found.share.high
    assert found.at_most > found.share.high
    assert found.p == pytest.approx(1 / 5000)
    assert found.entropy.excludes(found.even)


@pytest.mark.slow
def test_p_keeps_its_level_under_even_choice() -> None:
    low = sum(one.p <= 0.1 for k in range(40) if (one := evenness(sample(80, 0, k), SEATS)) is not None)
    assert 1 <= low <= 10


def test_repeats_of_a_deal_are_no_further_evidence_of_unevenness() -> None:
    once = sample(60, 0.2)
    both = evenness([*once, *once], SEATS)
    alone = evenness(once, SEATS)
    assert both is not None
    assert alone is not None
    assert both.p == alone.p
    assert both.share.n == 2 * alone.share.n
    assert both.at_most == pytest.approx(alone.at_most)


def test_no_seat_above_holds_for_all_at_once() -> None:
    found = evenness([SeatChosen(k, SEATS[k % 5], SEATS[:5]) for k in range(50)], SEATS[:5])
    assert found is not None
    assert found.at_most == pytest.approx(wilson(10, 50, NormalDist().inv_cdf(0.995))[1])
    assert (found.largest, found.share.value) == ("a", pytest.approx(0.2))
    assert evenness([], SEATS) is None


def test_seats_are_counted_where_they_were_open() -> None:
    """Seat 3 is open in every game, seat 0 in none; shares of all decisions still come to 1."""
    games = [kill(k, 3 if k < 6 else 4) for k in range(10)]
    (found,) = choices(games, "first_kill")
    assert sum(one.value or 0 for one in found.shares.values()) == pytest.approx(1)
    assert set(found.where_open) == {NAMES[seat] for seat in (1, 2, 3, 4, 6)}
    assert found.evenness is not None
    assert found.evenness.largest == NAMES[3]
    assert found.evenness.share.value == pytest.approx(0.6)


# -- in an experiment and on the page ---------------------------------------------------------------

BASE: dict[str, Any] = {"name": "x", "rules": "doctor", "players": {"others": {"recipe": "random"}}}


def test_an_experiment_asks_for_known_studies() -> None:
    assert build(BASE | {"choices": ["first_kill"]}).choices == ["first_kill"]
    with pytest.raises(ExperimentError, match=r"choices: there is no 'last_kill'; known are first_kill"):
        build(BASE | {"choices": ["last_kill"]})


def page(*found: Choices) -> str:
    return render_report(summarise(planted_run("a", 6, obey=0.3)), extras=Extras(choices=found))


def test_the_page_shows_shares_evenness_and_differences() -> None:
    before = [kill(k, 3 if k % 2 else 4, "deduction-only") for k in range(40)]
    after = [kill(k, (1, 2, 3, 4, 6)[k % 5], "<after>") for k in range(40)]
    found = choices([*before, *after], "first_kill", "deduction-only", ["004-cases"])
    text = page(*found)
    parsed = Page(text)
    assert parsed.open == []
    assert parsed.badges == parsed.tables
    part = section(text, "chosen")
    for words in ("The first kill", "no seat above", "Differences from deduction-only", "&lt;after&gt;"):
        assert words in part
    assert "published: 0.38" in part
    assert part.count("<svg") == 1
    assert "<after>" not in part
    bare = section(page(), "chosen")  # what was chosen among, and no study
    assert "Among candidates" in bare
    assert "<svg" not in bare


def test_the_page_sets_published_shares_beside_their_category() -> None:
    saves = [game(k, turn("1/save/3", pick(3)), condition="strategic") for k in range(8)]
    votes = [game(k, *SEERS, turn("1/vote/1", PASS), condition="deduction-only") for k in range(8)]
    rows = [
        *choices(saves, "first_save", tables=["004-cases"]),
        *choices(votes, "seer_vote", tables=["004-cases"]),
    ]
    part = section(page(*rows), "chosen")
    assert part.count("published: 0.94") == 1
    assert part.count("published: 0.69") == 1
    assert "Figure 4 (final version)" in part
    told = io.StringIO()
    print_summary(Console(width=200, file=told), summarise([]), Extras(choices=tuple(rows)))
    assert (told.getvalue().count("published: 0.94"), told.getvalue().count("published: 0.69")) == (1, 1)
    # A bias put in on purpose has conditions of the same names, and nothing printed belongs beside it.
    assert "published" not in section(page(*choices(saves, "first_save")), "chosen")
    assert "entropy" not in part
