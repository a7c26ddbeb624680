"""Mixed tables: everybody sits on every seat of the same deals, and scores, differences and costs follow."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import http_server
from command_line import wolflab
from report_helpers import Page, section
from test_tournament import Stopped, begun, records, rewrite, stopping_after
from wolflab.errors import ExperimentError, StoreError
from wolflab.lab.plans.rotations import rotations
from wolflab.lab.plans.tournament_plan import FILE, load_tournament, make_tournament
from wolflab.lab.results.extras import extras_of_tournament
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.tournament_games import (
    plan_of,
    play_tournament,
    start_tournament,
    tournament_standings,
)
from wolflab.lab.storage.store import Store
from wolflab.metrics.behaviours import SideName
from wolflab.metrics.frontier import EntrantUsage, frontier
from wolflab.metrics.mixed_tables import MixedGame, mixed_standings
from wolflab.metrics.standings import Standings
from wolflab.stats.intervals import Estimate
from wolflab.stats.ratings import Rating, Ratings, designs
from wolflab.ui.commands.tournament import print_standings
from wolflab.ui.report.tournament_page import standings_page
from wolflab.usage import Usage

MIXED: dict[str, Any] = {
    "name": "m",
    "tables": "mixed",
    "model": "village",
    "entrants": {"a": "vanilla", "b": "random", "c": "deductive-004"},
    "deals": 4,
}


# -- who sits where -----------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [5, 6, 7, 9, 12])
@pytest.mark.parametrize("number", range(2, 25))
def test_everybody_sits_on_every_seat_once_and_with_everybody_about_equally_often(
    number: int, seats: int
) -> None:
    names = [f"e{k}" for k in range(number)]
    made = rotations(names, seats)
    assert len(made) == number
    for seat in range(seats):
        assert sorted(who[seat] for who in made.values()) == sorted(names)
    for turn, who in enumerate(made.values()):
        (most, held), *guests = Counter(who).most_common()
        assert (most, held > seats / 2) == (names[turn], True)
        assert all(n <= 2 for _, n in guests)
    met = Counter(pair for who in made.values() for pair in combinations(sorted(set(who)), 2))
    often = [met[pair] for pair in combinations(sorted(names), 2)]
    assert max(often) - min(often) <= 2


@pytest.mark.parametrize(("seats", "wolves"), [(5, 1), (6, 2), (7, 2), (9, 3)])
@pytest.mark.parametrize("number", [2, 3, 4, 7, 9, 14])
def test_games_tell_both_strengths_of_everybody_apart(number: int, seats: int, wolves: int) -> None:
    """With equal numbers of seats they would not: seats in the pack say how many are in the village."""

    def told_apart(tables: Iterable[Sequence[str]]) -> bool:
        pairings = [
            (tuple(who[seat] for seat in range(seats) if seat not in pack), tuple(who[seat] for seat in pack))
            for who in tables
            for pack in combinations(range(seats), wolves)
        ]
        design = designs(pairings)["two strengths"]
        return bool(np.linalg.matrix_rank(design) == design.shape[1])

    names = [f"e{k}" for k in range(number)]
    assert told_apart(rotations(names, seats).values())
    if seats == number:
        assert not told_apart([names[turn:] + names[:turn] for turn in range(number)])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sides": {"village": ["a"]}}, "sides: everybody plays both sides at mixed tables; remove sides"),
        ({"mirror": False}, "mirror: mixed tables have no cells in which an entrant plays against itself"),
        ({"stop": {"width": 0.1}}, "stop: mixed tables have no cells by which a tournament could stop early"),
        ({"published": ["004-tournament"]}, "published: mixed tables have no cells to compare"),
        ({"tables": "mxed"}, "tables: got 'mxed'; use 'cells' or 'mixed'"),
    ],
)
def test_what_only_cells_have_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        make_tournament({**MIXED, **change}, where="my.yaml")
    assert str(caught.value).startswith(f"my.yaml: {words}")


def test_a_tournament_that_says_nothing_of_tables_is_the_one_that_it_was() -> None:
    said, unsaid = ({**MIXED, "tables": "cells"}, {k: v for k, v in MIXED.items() if k != "tables"})
    assert make_tournament(said).experiment() == make_tournament(unsaid).experiment()
    assert "tables" not in make_tournament(unsaid).written()


# -- runs ---------------------------------------------------------------------------------------


def test_over_the_rotations_everybody_holds_every_card_of_every_deal(tmp_path: Path) -> None:
    held: dict[int, dict[str, Counter[tuple[int, str]]]] = {}
    with start_tournament(tmp_path / "r", make_tournament(MIXED)) as store:
        assert play_tournament(store)
        seating = plan_of(store).rotations
        for row in store.games("done"):
            verify_game(store, row, agents=True)
            cards = enumerate(store.record(row.id).roles)
            by_entrant = held.setdefault(row.deal, {name: Counter() for name in "abc"})
            for name, card in zip(seating[row.condition], cards, strict=True):
                by_entrant[name][card] += 1
        found = tournament_standings(store)
        assert [(player.conditions, player.recipe) for player in extras_of_tournament(store).players] == [
            (("a",), "vanilla"),
            (("b",), "random"),
            (("c",), "deductive-004"),
        ]
    assert len(held) == 4
    for by_entrant in held.values():
        assert by_entrant["a"] == by_entrant["b"] == by_entrant["c"]
        assert set(by_entrant["a"].values()) == {1}
    for score in found.scores:  # five seats of the village and two Werewolves, in each of four deals
        assert score.village is not None
        assert score.werewolves is not None
        assert (score.village.n, score.werewolves.n, score.village.units) == (20, 8, "seats")


def test_a_run_cut_and_taken_up_is_the_same_and_needs_no_file(tmp_path: Path) -> None:
    whole = begun(tmp_path / "whole", **MIXED)
    with start_tournament(tmp_path / "cut", make_tournament(MIXED)) as store, pytest.raises(Stopped):
        play_tournament(store, stopping_after(3))
    with Store.resume(tmp_path / "cut") as store:
        assert tournament_standings(store).missing > 0
        assert play_tournament(store)
    assert records(tmp_path / "cut") == records(whole)
    with Store.open_for_reading(whole) as store:
        found = tournament_standings(store)
        (whole / FILE).unlink()
        assert tournament_standings(store) == found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tables": "cells"}, "'a vs a' is a pair only in one of them"),
        ({"entrants": {**MIXED["entrants"], "d": "random"}}, "'rotation 4' is a rotation only in one"),
        (
            {"entrants": {"z": "vanilla", "b": "random", "c": "deductive-004"}},
            "the names of entrants are no longer",
        ),
        ({"entrants": {**MIXED["entrants"], "a": "react-004"}}, "entrants, rules or seed of 'rotation 1'"),
    ],
)
def test_a_file_that_no_longer_fits_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = begun(tmp_path / "r", **{**MIXED, "deals": 1})
    rewrite(path / FILE, **changes)
    with Store.open_for_reading(path) as store, pytest.raises(StoreError, match=words):
        tournament_standings(store)


def test_the_flag_and_what_follows_it(tmp_path: Path) -> None:
    run = str(tmp_path / "r")
    told = wolflab("tournament", "own-tournament", "--village", "--mixed", "--deals", "6", "--out", run)
    assert told.returncode == 0, told.stderr
    assert "village win rate" not in told.stdout
    assert "openskill" not in told.stdout
    assert "two strengths − one strength" in told.stdout
    for command in (["tournament", "--show"], ["report"], ["verify"], ["show"], ["tournament", "--resume"]):
        again = wolflab(*command, run)
        assert again.returncode == 0, again.stderr
    numbers = json.loads((tmp_path / "r" / "tournament.json").read_text(encoding="utf-8"))
    seated = rotations(("random", "built-in"), 7)["rotation 2"]
    assert Counter(seated) == {"built-in": 5, "random": 2}
    assert numbers["rotations"]["rotation 2"] == list(seated)
    assert numbers["cells"] == []
    assert [row["model"] for row in numbers["prediction"]["losses"]] == [
        "two strengths",
        "one strength",
        "side alone",
    ]
    assert numbers["prediction"]["says"] in " ".join(told.stdout.split())


# -- numbers ------------------------------------------------------------------------------------

TWO = {"rotation 1": ("a", "a", "b", "b"), "rotation 2": ("b", "b", "a", "a")}


def by_hand() -> Standings:
    """The last of four seats is the Werewolf's. The village wins in deal 1 with the first rotation, in deal 2
    with both, and not in deal 3, which lacks a rotation.
    """

    def game(rotation: str, deal: int, winner: SideName) -> MixedGame:
        *village, wolf = TWO[rotation]
        return MixedGame(rotation, tuple(village), (wolf,), deal, 0, winner)

    games = [game("rotation 1", deal, "village") for deal in (1, 2)]
    games += [game("rotation 2", 1, "werewolves"), game("rotation 2", 2, "village")]
    return mixed_standings([*games, game("rotation 1", 3, "werewolves")], TWO)


def test_numbers_by_hand() -> None:
    found = by_hand()
    (a,) = (score for score in found.scores if score.name == "a")
    assert a.village is not None
    assert a.werewolves is not None
    assert a.both is not None
    assert (a.village.value, a.village.n) == (5 / 8, 8)  # two seats in rotation 1 and one in rotation 2
    assert (a.werewolves.value, a.werewolves.n) == (1 / 2, 2)
    assert a.both.value == pytest.approx((5 / 8 + 1 / 2) / 2)
    differences = {one.part: one.difference for one in found.differences}
    assert {one.n for one in differences.values()} == {2}  # deal 3 lacks a rotation
    assert differences["village"].value == pytest.approx(((2 / 3 - 1 / 3) + (1 - 1)) / 2)
    assert differences["werewolves"].value == pytest.approx(((1 - 0) + (0 - 0)) / 2)


def test_without_a_deal_that_all_rotations_have_nobody_is_compared() -> None:
    """As where a budget is spent early."""
    found = mixed_standings([MixedGame("rotation 1", ("a", "a", "b"), ("b",), 1, 0, "village")], TWO)
    assert {(one.difference.value, one.p) for one in found.differences} == {(None, None)}
    assert mixed_standings([], TWO).ratings.note
    print_standings(Console(file=io.StringIO()), found)
    assert "a − b" in standings_page(found).html


# -- cost ---------------------------------------------------------------------------------------


def strengths(**values: float | None) -> Ratings:
    def row(name: str, value: float | None) -> Rating:
        overall = None if value is None else Estimate(value, None, None, 9, 0, "games")
        return Rating(name, overall, overall, overall, None, None)

    return Ratings(tuple(row(*one) for one in values.items()), None, ())


def test_who_is_beaten_on_both_is_not_on_the_frontier() -> None:
    def spent(usd: float, unpriced: bool = False) -> EntrantUsage:
        return EntrantUsage(10, Usage(100, 100, 0, usd), unpriced)

    used = {"weak": spent(1.0), "best": spent(4.0), "dear": spent(5.0), "free": spent(0.0), "one": spent(2.0)}
    rated = strengths(weak=-1.0, best=1.0, dear=1.0 + 1e-15, free=-1.0, one=None)
    found = frontier(used, rated)
    assert found.by == "usd"
    assert [(row.name, row.usd, row.pareto_optimal) for row in found.rows] == [
        ("best", 0.4, True),
        ("dear", 0.5, False),
        ("free", 0.0, True),
        ("weak", 0.1, False),
        ("one", 0.2, None),
    ]
    unknown = frontier({**used, "free": spent(0.0, unpriced=True)}, rated)
    assert unknown.by == "tokens"
    assert [row.usd for row in unknown.rows if row.name == "free"] == [None]


@pytest.mark.parametrize("tables", ["mixed", "cells"])
def test_an_entrant_pays_for_its_own_calls(tmp_path: Path, tables: str) -> None:
    """Two entrants with one model of which one has a price, and one without a model."""
    with http_server.running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "timeout": 20}
        entrants = {
            "priced": {"recipe": "cot", "model": {**model, "price": {"input": 3.0, "output": 9.0}}},
            "unpriced": {"recipe": "vanilla", "model": {**model, "price": None}},
            "dice": "random",
        }
        rules = {"preset": "doctor", "max_rounds": 1}
        made = make_tournament(
            {"name": "m", "tables": tables, "entrants": entrants, "rules": rules, "deals": 2}
        )
        with start_tournament(tmp_path / "r", made) as store:
            assert play_tournament(store)
            found, used = tournament_standings(store), store.usage()
            page = standings_page(found, extras_of_tournament(store), "", summary(store))
    costs = {row.name: row for row in found.frontier.rows}
    assert (costs["dice"].usd, costs["dice"].tokens, costs["unpriced"].usd) == (0.0, 0.0, None)
    assert costs["priced"].usd is not None
    assert costs["priced"].usd * costs["priced"].seats == pytest.approx(used.cost)
    assert sum(row.tokens * row.seats for row in costs.values()) == pytest.approx(used.tokens)
    assert found.frontier.by == "tokens"
    (row,) = (
        row for row in page.tables["tournament-cost-cost-beside-strength"].rows if row[0].text == "unpriced"
    )
    assert (row[2].text, row[2].numbers) == ("unknown", {})


# -- what is shown ------------------------------------------------------------------------------


@pytest.mark.drawn
def test_page_and_terminal_say_what_mixed_tables_have() -> None:
    names = [f"<i>{letter}" for letter in "abcdefgh"]
    seating, luck = rotations(names, 7), random.Random(4)
    games = []
    for deal in range(20):
        cards = luck.sample(range(7), 7)
        for name, who in seating.items():
            seated = tuple(who[seat] for seat in cards)
            winner: SideName = "village" if luck.random() < 0.5 else "werewolves"
            games.append(MixedGame(name, seated[:5], seated[5:], deal, 0, winner))
    used = {name: EntrantUsage(56, Usage(900 * k, 100, 0, 0.01 * k)) for k, name in enumerate(names, 1)}
    found = mixed_standings(games, seating, title="A & B", instrument=True, used=used)
    page = standings_page(found).html
    parsed = Page(page)
    assert parsed.open == []
    assert all(link.startswith("#") and link[1:] in parsed.ids for link in parsed.links)
    assert parsed.badges == parsed.tables
    assert len(parsed.svgs) == 2
    assert "<i>a" not in page
    assert 'id="matrix"' not in page
    assert "rotation 8" in section(page, "rotations")
    assert "seats, 20 deals" in section(page, "scores")
    assert "openskill" not in page
    assert "Pareto-optimal, by USD" in section(page, "cost")
    stream = io.StringIO()
    print_standings(Console(file=stream, width=300), found)
    for text in (page, stream.getvalue()):
        assert "Not everybody sat at every table here" in text
        assert "It is not known whether" in text


def test_the_shipped_file_is_one_of_mixed_tables() -> None:
    made = load_tournament("tournament-mixed", village=True)
    assert made.tables == "mixed"
    assert made.experiment().built_in
