"""Data tables: they say what the records say, in every form, and tell no more of people than they may."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import command_line
import http_server
import wolflab
from command_line import called
from marks import with_slow
from study_helpers import SECRET, Arrivals, in_study
from web_helpers import first_choice
from wolflab.cli import app
from wolflab.errors import ExperimentError, StoreError
from wolflab.lab.data.columns import OF_MEASURES, PLACE, TABLES, TEXTS, columns_of
from wolflab.lab.data.frames import DataTable, write_data
from wolflab.lab.data.rows import DataSource
from wolflab.lab.plans.loading import build
from wolflab.lab.results.costs import run_cost
from wolflab.lab.runs import runner
from wolflab.lab.runs.counting import rows_of
from wolflab.lab.storage.store import Store, StudySitting, asker
from wolflab.metrics.measure import MEAN, POOLED, SHARE
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import game_value
from wolflab.metrics.shapes import ConditionResult
from wolflab.models.calls import LostAttempt
from wolflab.record import GameRecord
from wolflab.record.sealed import ERASED
from wolflab.rules import ROLES, Said, Voted
from wolflab.text.notes import Proposed
from wolflab.text.people import PersonAnswer
from wolflab.text.replies.finish import FinishReason
from wolflab.ui.commands.annotate import judge_sample
from wolflab.ui.report.notebook import OpenedRun
from wolflab.ui.report.numbers import cost_in_words
from wolflab.ui.study.forms import statements_of
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.seat_session import OpenAsk
from wolflab.ui.web.web_table import WebTable
from wolflab.usage import Usage, cost_of

FOLDERS = ("tables", "figures")
ROOT = Path(__file__).parent.parent
MODEL = {"model": "village", "invalid": 0.1}
FIELDS: dict[str, Any] = {
    "name": "owls",
    "rules": {"preset": "sheriff", "sheriff": "assigned"},
    "players": {"others": {"model": MODEL, "recipe": {"name": "deductive", "retries": 0}}},
    "conditions": {"talk": {}, "plain": {"players": {"others": {"recipe": "strategic"}}}},
    "straw_polls": 2,
    "deals": 3,
    "seed": 13,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> OpenedRun:
    """Games of two conditions: done, void, and one that failed."""
    path = tmp_path_factory.mktemp("data") / "r"
    with Store.create(path, build(FIELDS)) as store:
        assert runner.play_run(store)
        store.stop(store.games()[0].id, "failed", "a reason")
        (game,) = store.games("done")[:1]
        store._db.execute(
            "INSERT INTO sittings VALUES (?, ?, ?, ?, ?)", StudySitting(game.id, 2, "p07", 3, 4)
        )
        lost = LostAttempt(FinishReason.TIMED_OUT, Usage(90, 30, 0, 0.25), unlimited=True)
        asyncio.run(store.note_failed(asker(game.id), "game|1/vote/2|vote|0", "wolf-1", lost))
    return wolflab.open_run(path)


OF_PEOPLE = ("people", "answers")
PASTED = "I have looked into my notes"
"""What a study's person says in a second game."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> OpenedRun:
    """A study: p01 goes through it, with a flag; p02 stops after a game, and p03 withdraws after one."""
    folder = tmp_path_factory.mktemp("study")

    def pasting(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
        if asked.ask.options is None and not asked.rates:
            return PersonAnswer(said=PASTED, pasted=True, away=12.5)
        return first_choice(table, seat, asked)

    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor(outside="recruit-17")
        await one.answer(quote="yes")
        await one.go_to("quiz")
        await one.answer(q0="No" if server.quiz(one.person)[0].answer == "Yes" else "Yes")
        await one.go_to("after/1")
        record = server.record_of(one.person, 1)
        assert record is not None
        at, _ = statements_of(record, server.seat_of(one.person, one.person.games["game/1"][-1]))[2]
        await one.answer(**{f"flag{at}": "night"})
        await one.answer(number="77")
        await one.play(pasting)
        await one.go_to("")
        assert server.people.completion()
        two = await visitor("number/2", outside="recruit-18")
        await two.post("/study/stop")
        three = await visitor("number/2", outside="recruit-19")
        await three.post("/study/withdraw", code=server.new_withdrawal(three.person))

    in_study(folder, work, signals=True, deals="chosen", training=False)
    return wolflab.open_run(folder / "run")


@pytest.fixture
def store(run: OpenedRun) -> Iterator[Store]:
    with Store.open_for_reading(run.path) as found:
        yield found


# -- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("texts", [False, True])
def test_every_row_has_the_declared_columns_and_kinds(
    run: OpenedRun, study: OpenedRun, name: str, texts: bool
) -> None:
    table = (study if name in OF_PEOPLE else run).table(name)
    table = table.with_texts() if texts else table
    kinds = {"integer": int, "number": (int, float), "text": str, "yes or no": bool}
    rows = list(table.rows())
    assert rows
    filled = set()
    for row in rows:
        assert set(row) == {column.name for column in table.columns}
        for column in table.columns:
            value = row[column.name]
            filled |= {column.name} if value is not None else set()
            assert value is None or isinstance(value, kinds[column.kind]), column
            assert isinstance(value, bool) is (column.kind == "yes or no" and value is not None), column
        assert name in OF_PEOPLE or all(row[column.name] is not None for column in PLACE)
    never = {
        "answer",
        "value",
        "probability",
        "own_choice",
        "prompt",
    }  # of nothing that `village` is asked here
    never |= {"pasted", "away"}  # of people alone
    never |= {"finish_detail"}  # of servers alone
    never |= {"parent", "fork_turn", "fork_change", "continuation", "x_seat", "y_seat"}  # of forks alone
    never |= {column.name for column in OF_MEASURES.get(name, ())}  # the report says which have a value
    assert {column.name for column in table.columns} - filled <= never


def test_every_planned_game_is_there_with_its_state(run: OpenedRun, store: Store) -> None:
    rows = {row["game"]: row for row in run.games.rows()}
    states = Counter(row["state"] for row in rows.values())
    assert states["done"] >= 4
    assert states["void"] > 0
    assert states["failed"] == 1
    for game in store.games():
        row = rows[game.id]
        assert (row["condition"], row["deal"], row["repeat"]) == (game.condition, game.deal, game.repeat)
        assert row["counts"] is (game.status == "done")
        assert row["calls"] == sum(total.calls for total in store.game_totals(game.id).values())
        assert (row["error"] == "a reason") is (game.status == "failed")


def test_who_of_a_study_sat_where(run: OpenedRun, store: Store) -> None:
    game = store.games("done")[0].id
    for table, seats in ((run.games, [None]), (run.players, [2])):
        rows = [row for row in table.rows() if row["person"] is not None]
        assert [row.get("seat") for row in rows] == seats
        assert [(row["game"], row["person"], row["session"], row["game_index"]) for row in rows] == [
            (game, "p07", 3, 4)
        ]


def test_a_game_that_is_not_over_has_calls_and_no_events(run: OpenedRun) -> None:
    failed = next(row["game"] for row in run.games.rows() if row["state"] == "failed")
    assert {row["counts"] for row in run.calls.rows() if row["game"] == failed} == {False}
    for name in ("players", "days", "votes", "statements", "judgements", "decisions", "candidates"):
        assert failed not in {row["game"] for row in run.table(name).rows()}, name


def test_votes_and_statements_are_those_of_the_records(run: OpenedRun, store: Store) -> None:
    votes, said = list(run.votes.rows()), list(run.statements.rows())
    for game in (game for game in store.games() if game.over):
        record = store.record(game.id)
        events = [event for event in record.events if isinstance(event, Voted) and event.what == "eliminate"]
        mine = [row for row in votes if row["game"] == game.id and row["kind"] == "vote"]
        assert sorted((event.voter, event.target or -1) for event in events) == sorted(
            (row["seat"], row["target_seat"] or -1) for row in mine
        )
        for row in mine:
            assert row["role"] == record.roles[row["seat"]]
            if row["target_role"] is not None:
                assert row["target_wolf"] is ROLES[row["target_role"]].wolf
        words = [event.text for event in record.events if isinstance(event, Said)]
        assert words == [row["text"] or "" for row in said if row["game"] == game.id]
    assert {row["kind"] for row in votes} >= {"vote", "straw", "straw2"}
    judged = list(run.judgements.rows())
    assert {row["kind"] for row in judged} >= {"vote", "straw"}
    assert {row["kind"] for row in judged if row["at_vote"]} == {"vote"}


def test_days_add_up(run: OpenedRun) -> None:
    games = {row["game"]: row for row in run.games.rows() if row["state"] == "done"}
    days = [row for row in run.days.rows() if row["counts"]]
    for number, game in games.items():
        mine = [row for row in days if row["game"] == number]
        gone = sum(row["died"] + (row["voted_out_seat"] is not None) for row in mine)
        assert game["alive"] == game["seats"] - gone
        left = [row for row in run.players.rows() if row["game"] == number and row["left_round"] is not None]
        assert len(left) == gone
    said = [row for row in run.statements.rows() if row["counts"] and row["phase"] == "discussion"]
    assert sum(row["statements"] for row in days) == sum(row["text"] is not None for row in said)


def test_invalid_replies_are_told_where_a_stand_in_was_taken(run: OpenedRun) -> None:
    rows = list(run.decisions.rows())
    assert any(row["invalid"] for row in rows)
    assert all(row["mistakes"] for row in rows if row["invalid"])


def test_exactly_one_candidate_of_a_decision_was_taken(run: OpenedRun) -> None:
    taken = Counter((row["game"], row["ask"]) for row in run.candidates.rows() if row["chosen"])
    assert taken
    assert set(taken.values()) == {1}


def test_measures_of_games_and_days_are_the_reports_numbers(tmp_path: Path) -> None:
    """A mean over games is the mean of its column; a pooled share that of its column with n as weights; n is
    the sum of what each game adds to it. A game's value is the mean of its days'.
    """
    run = wolflab.run("quickstart", {"deals": 5, "stratify": None}, out=tmp_path / "run")
    games = [row for row in run.games.rows() if row["counts"]]
    with Store.open_for_reading(run.path) as store:
        stored = store.games()
        kept = {game.id: row for game, row in zip(stored, rows_of(store, stored), strict=True) if row}
    compared = set()
    for condition in run.summary.conditions:
        mine = [row for row in games if row["condition"] == condition.name]
        also_void = [game.id for game in stored if game.condition == condition.name]
        for name, found in condition.measures.items():
            values = {game: game_value(kept[game], name) for game in also_void}
            assert sum(value.n for value in values.values()) == found.n, name
            assert all(row[name] == values[row["game"]].value for row in mine), name
            weights = [(value.value, value.n) for value in values.values() if value.value is not None]
            if MEASURES[name].how in (MEAN, SHARE, POOLED) and weights:
                mean = sum(value * n for value, n in weights) / sum(n for _, n in weights)
                assert mean == pytest.approx(found.value), name
                compared.add(name)
    assert {"dc", "ratio", "village_win", "votes_for_wolves", "rounds", "calls"} <= compared
    days = list(run.days.rows())
    for column in OF_MEASURES["days"]:
        for row in games:
            by_day = [day[column.name] for day in days if day["game"] == row["game"]]
            there = [value for value in by_day if value is not None]
            assert row[column.name] == (pytest.approx(sum(there) / len(there)) if there else None)
    assert {day["game"] for day in days if day["dc"] is not None} <= {row["game"] for row in games}


def test_final_judgements_and_votes_give_ratio_and_dc_as_the_page_says(tmp_path: Path) -> None:
    players = {"others": {"model": "village", "recipe": "deductive"}}
    run = wolflab.run(FIELDS | {"players": players, "conditions": {"talk": {}}}, out=tmp_path / "run")
    assert {row["kind"] for row in run.judgements.rows()} > {"vote", "straw", "straw2"}
    assert {row["kind"] for row in run.judgements.rows() if row["at_vote"]} == {"vote"}
    space: dict[str, Any] = {"run": run}
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    [recipe] = [code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "of_sheriff" in code]
    exec(recipe, space)
    measures = run.summary.conditions[0].measures
    for name in ("ratio", "dc"):
        assert space[name]["talk"] == pytest.approx(measures[name].value)


def test_a_table_that_is_none_is_refused(run: OpenedRun) -> None:
    with pytest.raises(ExperimentError, match="there is no table 'votings'; there are games, players"):
        run.table("votings")


# -- forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_all_forms_say_the_same(run: OpenedRun, study: OpenedRun, name: str) -> None:
    table = (study if name in OF_PEOPLE else run).table(name)
    rows = list(table.rows())
    assert table.arrow().to_pylist() == rows
    assert table.polars().to_dicts() == rows
    frame = table.pandas()
    assert list(frame.columns) == [column.name for column in table.columns]
    assert frame.astype(object).where(frame.notna(), None).to_dict("records") == rows
    whole = {column.name for column in table.columns if column.kind == "integer"}
    assert {str(frame[column].dtype) for column in whole} <= {"Int64"}


def test_batches_are_of_limited_length(run: OpenedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wolflab.lab.data.frames.BATCH", 10)
    sizes = [batch.num_rows for batch in run.votes.batches()]
    assert set(sizes[:-1]) == {10}
    assert sum(sizes) == len(list(run.votes.rows()))


def test_rows_go_by_game_by_game(run: OpenedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first row comes before a second record is read."""
    read: list[int] = []
    real = Store.record
    monkeypatch.setattr(Store, "record", lambda store, game: read.append(game) or real(store, game))
    next(run.votes.rows())
    assert len(read) == 1


@pytest.mark.parametrize("of_study", [False, True])
def test_parquet_and_json_lines_hold_the_rows(
    of_study: bool, run: OpenedRun, study: OpenedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wolflab.lab.data.frames.BATCH", 50)
    opened = study if of_study else run
    write_data(DataSource(opened.path, texts=True), list(TABLES), tmp_path)
    for name in TABLES:
        rows = list(opened.table(name).with_texts().rows())
        assert rows or not of_study or name in ("judgements", "candidates", "attempts")
        found = pyarrow.parquet.read_table(tmp_path / f"{name}.parquet")
        assert found.to_pylist() == rows
        first = TABLES[name][0]
        assert found.schema.field(first.name).metadata[b"meaning"] == first.meaning.encode()
        lines = (tmp_path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == rows
    assert len(list(tmp_path.iterdir())) == 2 * len(TABLES)


def test_without_the_extra_a_sentence_names_it(run: OpenedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, use in (
        ("pyarrow", DataTable.arrow),
        ("pandas", DataTable.pandas),
        ("polars", DataTable.polars),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            sentence = rf"{package} is not installed.*pip install 'wolflab\[data\]'"
            with pytest.raises(StoreError, match=sentence):
                use(run.games)
    assert list(run.games.rows()), "rows need nothing"


def test_how_many_candidates_were_asked_for_is_told(run: OpenedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> list[tuple[Any, Any]]:
        rows = [row for row in run.decisions.rows() if row["candidates"] is not None]
        return [(row["candidates_asked"], row["candidates"]) for row in rows]

    def fewer(store: Store, game: int) -> GameRecord:
        record = real(store, game)
        for turn in (*record.turns, *record.probes):
            for at, (step, note) in enumerate(turn.notes):
                if isinstance(note, Proposed):
                    turn.notes[at] = (step, Proposed(note.candidates[:1], len(note.candidates)))
        return record

    real, before = Store.record, told()
    assert before
    assert all(asked == came for asked, came in before), "where all came"
    monkeypatch.setattr(Store, "record", fewer)
    assert told() == [(asked, 1) for asked, _ in before]


# -- what calls cost ----------------------------------------------------------------------------


def played_over_http(
    path: Path, price: dict[str, float] | None = None, counts: bool = True
) -> tuple[OpenedRun, ConditionResult]:
    """A short game of a model behind HTTP, and what its report says."""
    with http_server.running() as server:
        server.usage = counts
        model = {"model": "wolf-1", "base_url": server.base_url, "price": price}
        fields = {
            "name": "costs",
            "rules": {"preset": "witch", "max_rounds": 1, "discussion": False},
            "players": {"others": {"model": model, "recipe": "vanilla"}},
            "deals": 1,
        }
        with Store.create(path, build(fields)) as store:
            assert runner.play_run(store)
    return reported(path)


def reported(path: Path) -> tuple[OpenedRun, ConditionResult]:
    run = wolflab.open_run(path)
    (found,) = run.summary.conditions
    return run, found


def costs(run: OpenedRun) -> tuple[Any, list[Any]]:
    """Of the game, and of its calls."""
    (game,) = run.games.rows()
    return game["cost"], [row["cost"] for row in run.calls.rows()]


def test_an_unknown_cost_is_empty(run: OpenedRun, tmp_path: Path) -> None:
    made, found = played_over_http(tmp_path / "r")
    game, calls = costs(made)
    assert game is None
    assert set(calls) == {None}
    assert found.unpriced == ("wolf-1",)
    assert {row["cost"] for table in (run.games, run.calls) for row in table.rows()} == {0}, "of village"


def test_a_known_cost_is_the_sum_of_its_calls(tmp_path: Path) -> None:
    made, found = played_over_http(tmp_path / "r", {"input": 1.0})
    game, calls = costs(made)
    assert game == pytest.approx(sum(calls))
    assert min(calls) > 0
    assert found.unpriced == ()


@pytest.mark.parametrize(
    "price",
    [{"input": 0}, {"input": 0, "written": 1.0}, {"input": 0, "cached": 0.5}],
)
def test_a_price_of_nothing_is_a_known_cost(tmp_path: Path, price: dict[str, float]) -> None:
    """What other tokens would have cost is of no matter where none were used."""
    made, found = played_over_http(tmp_path / "r", price)
    game, calls = costs(made)
    assert game == 0
    assert set(calls) == {0}
    assert found.unpriced == ()
    assert found.measures["cost"].value == 0
    assert cost_in_words(cost_of([(found.totals, found.unpriced)])) == ("$0.00", "")


def test_a_game_with_one_unpriced_call_has_no_known_cost(tmp_path: Path) -> None:
    """Its price came on the way."""
    made, _ = played_over_http(tmp_path / "r", {"input": 1.0})
    _, before = costs(made)
    with closing(sqlite3.connect(tmp_path / "r" / "run.sqlite")) as db, db:
        db.execute("UPDATE calls SET cost = 0 WHERE key = (SELECT min(key) FROM calls)")
        db.execute("UPDATE totals SET cost = (SELECT sum(cost) FROM calls)")
    made, found = reported(tmp_path / "r")
    game, calls = costs(made)
    assert game is None
    assert calls == [None, *before[1:]]
    assert found.unpriced == ("wolf-1",)
    cost = cost_of([(found.totals, found.unpriced)])
    assert cost_in_words(cost)[0].startswith("at least $")
    with Store.open_for_reading(tmp_path / "r") as store:
        assert run_cost(store) == cost


def test_estimated_tokens_are_marked(run: OpenedRun, tmp_path: Path) -> None:
    made, _ = played_over_http(tmp_path / "r", counts=False)
    for table, told in ((made.games, True), (made.calls, True), (run.games, False), (run.calls, False)):
        assert {row["estimated"] for row in table.rows()} == {told}


def test_a_judges_call_that_cost_nothing_has_no_known_cost(run: OpenedRun, tmp_path: Path) -> None:
    """Its directory does not say what its price was."""
    labels = tmp_path / "labels"
    command_line.wolflab("annotate", "sample", str(run.path), "-o", str(labels), "--per-condition", "2")
    for name, price, known in (("wolf-1", {"input": 0.0}, False), ("wolf-2", {"input": 1.0}, True)):
        with http_server.running() as server:
            server.faults.extend([http_server.Fault("text", body='{"reasonable": "yes"}')] * 4)
            settings = [f"base_url={server.base_url}", f"price={json.dumps(price)}"]
            called(judge_sample, labels, name, settings)
        opened = wolflab.open_run(run.path, judges=[labels / f"judge-{name}"])
        judged = [row["cost"] for row in opened.calls.rows() if str(row["asker"]).startswith("item/")]
        assert len(judged) == 4
        assert all((cost is not None) is known for cost in judged)


# -- people -------------------------------------------------------------------------------------


def test_what_people_said_is_told_on_request_and_gone_when_erased(tmp_path: Path) -> None:
    def typed(words: list[str], lines: str = "") -> None:
        done = CliRunner().invoke(app, words, input=lines, env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.output

    def holding(to: Path, *words: str) -> set[str]:
        typed(["export", str(out), "-o", str(to), "--format", "data", *words])
        lines = {file.stem: file.read_text(encoding="utf-8") for file in (to / "data").glob("*.jsonl")}
        return {name for name, text in lines.items() if secret in text}

    out, secret = tmp_path / "table", "owls lie at noon"
    first = "1\n" + f"{secret}\n" * 5 + "1\n" * 400
    typed(["play", "--human", "1", "--out", str(out), "--pace", "0", "--role", "Villager"], first)
    assert holding(tmp_path / "bare") == set()
    assert holding(tmp_path / "full", "--texts") == {"statements"}
    typed(["erase", str(out), "--seat", "1"])
    assert holding(tmp_path / "full", "--texts") == set()
    said = [row for row in wolflab.open_run(out).statements.with_texts().rows() if row["person"]]
    assert ERASED in {row["text"] for row in said}
    assert next(wolflab.open_run(out).games.rows())["erased"] is True


def test_people_of_a_study_are_told_with_how_far_they_came(study: OpenedRun) -> None:
    one, two, three = study.people.rows()
    same = {"cell": "all", "condition": "all", "sessions": 1, "abandoned": 0}
    assert one == same | {
        "person": "p01",
        "row": 0,
        "tries": 2,
        "step": "debrief",
        "left": None,
        "may_quote": True,
        "games": 2,
    }
    gone = {"step": "after/1", "games": 1}
    assert two == same | gone | {
        "person": "p02",
        "row": 1,
        "tries": 1,
        "left": "stopped at number/2",
        "may_quote": False,
    }
    assert three == same | gone | {
        "person": "p03",
        "row": 1,
        "tries": None,
        "left": "withdrawn",
        "may_quote": None,
    }


def test_what_people_answer_in_a_study_is_told_with_its_game_and_who_withdrew_has_no_answers(
    study: OpenedRun,
) -> None:
    rows = list(study.answers.with_texts().rows())
    told = [
        tuple(row[name] for name in ("person", "game", "step", "game_index", "kind", "answer"))
        for row in rows
    ]
    assert told == [
        ("p01", 1, "number/1", 1, "number", "12"),
        ("p01", 1, "after/1", 1, "question", "4"),
        ("p01", 1, "after/1", 1, "flag", "night"),
        ("p01", 2, "number/2", 2, "number", "77"),
        ("p01", 2, "after/2", 2, "question", "4"),
        ("p02", 3, "number/1", 1, "number", "12"),
        ("p02", 3, "after/1", 1, "question", "4"),
        ("p01", None, "about", None, "question", "Yes"),
        ("p01", None, "interview", None, "question", SECRET),
        ("p02", None, "about", None, "question", "Yes"),
    ]
    assert [row["question"] for row in rows if row["kind"] != "number"][:3] == [
        "How was it?",
        None,
        "How was it?",
    ]
    assert [row["deal"] for row in rows if row["kind"] == "number"] == [12, 77, 12]
    assert {row["condition"] for row in rows} == {"all"}
    (flag,) = (row for row in rows if row["kind"] == "flag")
    said = [row for row in study.statements.rows() if row["game"] == 1 and not row["person"] and row["text"]]
    assert (flag["position"], flag["target_seat"], flag["target_player"], flag["target_role"]) == tuple(
        said[2][name] for name in ("position", "seat", "player", "role")
    )
    assert all(row["position"] is None for row in rows if row is not flag)


def test_what_somebody_typed_in_a_study_is_told_on_request_and_who_they_are_never(
    study: OpenedRun, tmp_path: Path
) -> None:
    bare = [row["answer"] for row in study.answers.rows() if row["question"] is not None]
    assert bare == ["4", "4", "4", "Yes", None, "Yes"], "what was chosen is no text"
    command_line.wolflab("export", str(study.path), "-o", str(tmp_path), "--format", "data", "--texts")
    written = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "data").glob("*.jsonl"))
    assert SECRET in written
    assert "recruit-1" not in written
    people = [json.loads(file.read_text()) for file in (study.path / "people").glob("p*.json")]
    kept = {one for person in people for one in (*person["keys"], *person["withdrawals"], person["outside"])}
    assert len(kept - {""}) == 7
    assert not [one for one in kept - {""} if one in written]


def test_a_run_that_is_no_study_has_neither_people_nor_answers(run: OpenedRun) -> None:
    assert [*run.people.rows(), *run.answers.rows()] == []
    assert list(run.people.pandas().columns) == [column.name for column in TABLES["people"]]


def test_what_a_study_counts_of_typing_stands_beside_the_statement(study: OpenedRun) -> None:
    """It was on: in the first game nothing was pasted or told, in the second everything."""
    rows = list(study.statements.rows())
    assert {(row["pasted"], row["away"]) for row in rows if row["game"] == 2 and row["person"]} == {
        (True, 12.5)
    }
    others = [row for row in rows if row["game"] != 2 or not row["person"]]
    assert {(row["pasted"], row["away"]) for row in others} == {(None, None)}


# -- the page that describes them ---------------------------------------------------------------


def test_docs_data_has_every_column() -> None:
    text = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    told = {
        name: re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$", part, re.MULTILINE)
        for name, part in re.findall(r"^### `?([\w ]+?)`?\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    }

    def lines(columns: Any) -> list[tuple[str, str, str, str]]:
        return [(one.name, one.kind, one.unit, one.meaning) for one in columns]

    assert told.pop("All tables") == lines(PLACE)
    begins = {name: {one.name for one in PLACE} if name != "people" else set() for name in TABLES}
    for name, columns in OF_MEASURES.items():  # docs/metrics.md has these, and a test checks it
        begins[name] |= {one.name for one in columns}
    for name in TABLES:
        texts = {column.name for column in TEXTS.get(name, ())}
        rest = [column for column in columns_of(name, True) if column.name not in begins[name]]
        assert told.pop(name) == lines(rest), name
        assert texts <= {column.name for column in rest}
    assert not any(told.values())


# -- the command --------------------------------------------------------------------------------


def test_what_there_is_to_export_is_said(run: OpenedRun, tmp_path: Path) -> None:
    done = command_line.wolflab("export", str(run.path), "-o", str(tmp_path), "--format", "excel")
    assert done.returncode == 2
    assert "--format excel: use records, data, tables, figures, inspect, scout or all" in " ".join(
        done.stderr.split()
    )
    done = command_line.wolflab("export", str(run.path), "-o", str(tmp_path), "--texts")
    assert done.returncode == 2
    assert "add --format data" in " ".join(done.stderr.split())


@pytest.mark.parametrize("kind", ["records", "data", "tables", "figures"])
@pytest.mark.parametrize("under", with_slow(["", "deeper", "deeper/still"], ["deeper"]))
def test_where_a_file_stands_no_folder_is_made(run: OpenedRun, tmp_path: Path, kind: str, under: str) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine", encoding="utf-8")
    refused = command_line.wolflab("export", str(run.path), "-o", str(taken / under), "--format", kind)
    assert refused.returncode == 2
    sentence = f"{taken} is no folder, so nothing can lie in it; name another place, or move it away"
    assert refused.stderr.endswith(f": {sentence}\n")
    assert taken.read_text(encoding="utf-8") == "mine"


def test_what_data_need_is_missed_before_anything_is_written(
    run: OpenedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = command_line.wolflab("export", str(run.path), "-o", str(tmp_path / "out"), "--format", "all")
    assert done.returncode == 2
    assert "pip install 'wolflab[data]'" in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_comparison_leaves_numbers_tables_and_figures(run: OpenedRun, tmp_path: Path) -> None:
    shutil.copytree(run.path, tmp_path / "s")
    words = ["compare", str(run.path), "s", "--contrasts", "rounds,trust_village", "--contrasts", "round"]
    done = command_line.wolflab(*words, "--files", "paper", cwd=tmp_path)
    assert done.returncode == 2
    assert "contrasts: there is no measure 'rounds'" in " ".join(done.stderr.split())
    done = command_line.wolflab(*words[:-2], "--files", "paper", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "paper" / "compared.html").is_file()
    assert not list(tmp_path.glob("compared*"))
    numbers = json.loads((tmp_path / "paper" / "compared.json").read_text(encoding="utf-8"))
    assert "rounds" in {contrast["metric"] for contrast in numbers["contrasts"]}
    assert [each["name"] for each in numbers["conditions"]] == ["r: talk", "r: plain", "s: talk", "s: plain"]
    assert "trust_village" in str(numbers["extras"]["uncompared"])
    tables, figures = ({file.suffix for file in (tmp_path / "paper" / each).iterdir()} for each in FOLDERS)
    assert tables == {".csv", ".tex", ".md"}
    assert figures == {".svg", ".png", ".pdf", ".md"}


@pytest.mark.slow
def test_tables_and_figures_are_written_with_their_contents(run: OpenedRun, tmp_path: Path) -> None:
    done = command_line.wolflab(
        "export", str(run.path), "-o", str(tmp_path), "--format", "tables", "--format", "figures"
    )
    assert done.returncode == 0, done.stderr
    report = run.report
    for folder, named, endings in (
        ("tables", report.tables, ("csv", "tex")),
        ("figures", report.figures, ("svg", "png", "pdf")),
    ):
        found = {file.name for file in (tmp_path / folder).iterdir()}
        assert found == {"contents.md"} | {f"{name}.{ending}" for name in named for ending in endings}
        contents = (tmp_path / folder / "contents.md").read_text(encoding="utf-8")
        assert re.findall(r"^- `([^`]+)`", contents, re.MULTILINE) == list(named)
        assert "Instrument check" in contents
    assert not (tmp_path / "calls.jsonl").exists(), "records were not asked for"


def test_records_are_what_is_written_where_nothing_is_said(run: OpenedRun, tmp_path: Path) -> None:
    done = command_line.wolflab("export", str(run.path), "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls.jsonl").is_file()
    assert (tmp_path / "game-2.jsonl").is_file()
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_a_judges_calls_stand_among_the_calls(run: OpenedRun, tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    done = command_line.wolflab(
        "annotate", "sample", str(run.path), "-o", str(labels), "--per-condition", "3"
    )
    assert done.returncode == 0, done.stderr
    done = command_line.wolflab("annotate", "judge", str(labels), "--model", "village")
    assert done.returncode == 0, done.stderr
    opened = wolflab.open_run(run.path, judges=[labels / "judge-village"])
    games = {row["game"]: row for row in opened.games.rows()}
    judged = [row for row in opened.calls.rows() if str(row["asker"]).startswith("item/")]
    assert len(judged) == 6
    for row in judged:
        assert row["condition"] == games[row["game"]]["condition"]
        assert row["player"] == f"player_{row['seat'] + 1}"
        assert row["step"] == "judge"
    assert len(list(opened.calls.rows())) == len(judged) + len(list(run.calls.rows()))
    with Store.create(tmp_path / "r", build(FIELDS | {"deals": 4, "seed": 6})) as other:
        assert runner.play_run(other)
    with pytest.raises(StoreError, match=r"not from .*name the run of their sample"):
        list(wolflab.open_run(tmp_path / "r", judges=[labels / "judge-village"]).calls.rows())


def test_a_judges_prompts_of_a_game_whose_words_are_erased_are_left_out(
    run: OpenedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were made before, and lie in a directory that `wolflab erase` does not touch."""
    labels = tmp_path / "labels"
    command_line.wolflab("annotate", "sample", str(run.path), "-o", str(labels), "--per-condition", "2")
    command_line.wolflab("annotate", "judge", str(labels), "--model", "village")
    opened = wolflab.open_run(run.path, judges=[labels / "judge-village"])

    def replies() -> list[Any]:
        rows = opened.calls.with_texts().rows()
        return [row["reply"] for row in rows if str(row["asker"]).startswith("item/")]

    assert all(replies())
    assert len(replies()) == 4
    monkeypatch.setattr(GameRecord, "erased", property(lambda record: True))
    assert replies() == [None] * 4
