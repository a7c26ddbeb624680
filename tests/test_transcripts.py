"""Transcripts for Inspect and Scout, without either: what is in the files, and whose words are not.

`tests/with_inspect` opens the same files with both programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import command_line
import http_server
import wolflab
from wolflab.cli import app
from wolflab.errors import CassetteMismatch
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import prompts, runner
from wolflab.lab.runs.prompts import prompts_of
from wolflab.lab.storage.store import GameRow, Store
from wolflab.lab.transcripts import scout
from wolflab.lab.transcripts.inspect_log import encoded, write_logs
from wolflab.lab.transcripts.scout import METADATA, OWN, write_transcripts
from wolflab.lab.transcripts.seats import LEFT_OUT, seats_of_condition
from wolflab.metrics.registry import MEASURES
from wolflab.record import GameRecord
from wolflab.record.sealed import ERASED
from wolflab.rules import Dealt, Learned, Said
from wolflab.text.asking.sentences import sentence

FIELDS: dict[str, Any] = {
    "name": "owls",
    "rules": {"preset": "sheriff", "sheriff": "assigned", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "vanilla"}},
    "conditions": {"talk": {}, "one/chat": {"players": {"others": {"recipe": "dialogue"}}}},
    "straw_polls": 1,
    "deals": 3,
    "repeats": 2,
    "seed": 5,
}
HOSTILE = "\x00\x1b[31m<script>alert(1)</script>\u202e\ufffd\r\n]]>\u2028" + "a" * 1_000_000
"""What a model may say."""

Json = dict[str, Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of two conditions: done, void, one that failed, and one that was not begun."""
    with Store.create(tmp_path_factory.mktemp("transcripts") / "r", build(FIELDS)) as made:
        assert runner.play_run(made)
        made.stop(made.games("done")[0].id, "failed", "a reason")
        made.plan([("talk", 90, 0)])
        yield made


@pytest.fixture(scope="module")
def folder(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of that run, and beside them its transcripts for Scout."""
    home = tmp_path_factory.mktemp("written")
    write_logs(store, home / "inspect")
    write_transcripts(store, home / "scout")
    return home


class Log:
    """A log as any program may read it."""

    def __init__(self, path: Path) -> None:
        with ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        self.header: Json = json.loads(files.pop("header.json"))
        self.summaries: list[Json] = json.loads(files.pop("summaries.json"))
        self.samples: dict[str, Json] = {name: json.loads(data) for name, data in files.items()}

    def of(self, row: GameRow) -> list[Json]:
        """The samples of a game, seat by seat."""
        mine = [one for one in self.samples.values() if one["metadata"]["game"] == row.id]
        return sorted(mine, key=lambda one: one["metadata"]["seat"])


def logs_in(folder: Path) -> dict[str, Log]:
    """By condition."""
    logs = [Log(path) for path in sorted(folder.glob("*.eval"))]
    return {log.header["eval"]["metadata"]["condition"]: log for log in logs}


@pytest.fixture(scope="module")
def logs(folder: Path) -> dict[str, Log]:
    return logs_in(folder / "inspect")


def events(sample: Json, kind: str) -> list[Json]:
    return [event for event in sample["events"] if event["event"] == kind]


def sent(sample: Json, event: Json) -> tuple[tuple[str, str], ...]:
    """What a model event was sent."""
    pool = sample["events_data"]["messages"]
    ranges = [pool[first:end] for first, end in event["input_refs"]]
    return tuple((message["role"], message["content"]) for some in ranges for message in some)


# -- what is in a log -----------------------------------------------------------------------------------


def test_a_log_a_condition_and_a_sample_for_each_player_of_each_game_that_was_begun(
    store: Store, logs: Mapping[str, Log]
) -> None:
    assert set(logs) == {"talk", "one/chat"}
    for condition, log in logs.items():
        begun = [row for row in store.games() if row.condition == condition and row.status != "planned"]
        assert len(log.samples) == 7 * len(begun) == len(log.summaries)
        for row in begun:
            mine = log.of(row)
            assert [one["metadata"]["seat"] for one in mine] == list(range(7))
            for one in mine:
                assert (one["epoch"], one["metadata"]["deal"]) == (row.repeat + 1, row.deal)
                assert one["metadata"]["condition"] == condition
                assert log.samples[f"samples/{one['id']}_epoch_{one['epoch']}.json"] is one
        assert log.header["version"] == 2
        assert log.header["eval"]["task"] == f"owls/{condition}"
        assert log.header["eval"]["viewer"] == {"trust_content": False}
        assert log.header["eval"]["tags"] == ["instrument check"]
    ids = [{one["id"] for one in log.samples.values()} for log in logs.values()]
    assert ids[0] & ids[1], "the same cards and seat are the same sample in both conditions"
    uuids = [one["uuid"] for log in logs.values() for one in log.samples.values()]
    assert len(uuids) == len(set(uuids))


def test_status_and_counts_tell_what_is_still_to_come(store: Store, logs: Mapping[str, Log]) -> None:
    assert logs["talk"].header["status"] == "cancelled", "a game is planned"
    assert logs["one/chat"].header["status"] == "success"
    for condition, log in logs.items():
        rows = [row for row in store.games() if row.condition == condition]
        results = log.header["results"]
        assert results["total_samples"] == 7 * len(rows)
        assert results["completed_samples"] == 7 * sum(row.over for row in rows)


def test_every_call_stands_in_events_and_messages_as_it_was_sent(
    store: Store, logs: Mapping[str, Log]
) -> None:
    for row in [row for row in store.games() if row.over][::3]:
        calls = list(prompts_of(store, row.id))
        assert calls
        for one in logs[row.condition].of(row):
            mine = [call for call in calls if call.seat == one["metadata"]["seat"]]
            told = {
                f"{e['metadata']['ask']}|{e['metadata']['step']}|{e['metadata']['attempt']}": e
                for e in events(one, "model")
            }
            assert set(told) == {call.key for call in mine}
            for call in mine:
                event = told[call.key]
                assert sent(one, event) == call.messages
                assert event["output"]["choices"][0]["message"]["content"] == call.reply
                assert event["model"] == "village"
            replies = [m["content"] for m in one["messages"] if "metadata" in m]
            assert sorted(replies) == sorted(call.reply for call in mine)
            said = {(message["role"], message["content"]) for message in one["messages"]}
            assert said >= {call.messages[-1] for call in mine}


def test_a_conversation_is_told_once(store: Store, logs: Mapping[str, Log]) -> None:
    """Of a chat that only grows, each message; elsewhere the rules once, before the first prompt."""
    assert max(len(events(one, "model")) for one in logs["one/chat"].samples.values()) > 3
    for one in (one for log in logs.values() for one in log.samples.values()):
        roles = [message["role"] for message in one["messages"]]
        calls = len(events(one, "model"))
        if "prompts_left_out" not in one["metadata"]:
            assert roles == ["system"] * bool(calls) + ["user", "assistant"] * calls
        ids = [message["id"] for message in one["messages"]]
        assert len(ids) == len(set(ids))


def test_a_player_is_told_what_it_learned_and_nothing_else(store: Store, logs: Mapping[str, Log]) -> None:
    for row in [row for row in store.games() if row.over][::3]:
        record = store.record(row.id)
        secret = [event for event in record.events if isinstance(event, Dealt | Learned)]
        for one in logs[row.condition].of(row):
            seat = one["metadata"]["seat"]
            told = [event["data"] for event in events(one, "info") if event["source"] == "moderator"]
            assert len(told) == sum(event.audience >> seat & 1 for event in record.events)
            for event in secret:
                words = sentence(event, event.seat, record.ruleset).lower()
                assert any(words in text.lower() for text in told) is (event.seat == seat)


def test_who_won_is_the_score_and_games_that_do_not_count_have_none(
    store: Store, logs: Mapping[str, Log]
) -> None:
    run = wolflab.open_run(store.path)
    states = set()
    for row in store.games():
        states.add(row.status)
        for one in logs[row.condition].of(row):
            metadata, scores = one["metadata"], one["scores"]
            assert (scores is not None) is metadata["counts"] is (row.status == "done")
            assert metadata["state"] == row.status
            assert ("error" in one) is (not row.over)
            if scores is None:
                continue
            record = store.record(row.id)
            assert record.outcome is not None
            assert metadata["role"] == record.roles[metadata["seat"]]
            assert (
                one["target"]
                == metadata["side"]
                == ("werewolves" if metadata["role"] == "Werewolf" else "village")
            )
            won = {True: "C", False: "I"}[metadata["side"] == metadata["winner"]]
            assert scores["won"]["value"] == ("N" if metadata["winner"] == "nobody" else won)
            assert metadata["winner"] == record.outcome.winner.value
            alive = metadata["seat"] in record.facts.living
            assert scores["survived"]["value"] == ("C" if alive else "I")
            assert metadata["measures"]["rounds"] == len(
                {day["round"] for day in run.days.rows() if day["game"] == row.id}
            )
            assert set(metadata["measures"]) <= set(MEASURES)
    assert states >= {"done", "failed", "planned"}
    (broken,) = store.games("failed")
    assert {one["error"]["message"] for one in logs[broken.condition].of(broken)} == {
        "the game is failed: a reason"
    }


def test_a_logs_metrics_are_those_of_the_report(store: Store, logs: Mapping[str, Log]) -> None:
    for condition in wolflab.open_run(store.path).summary.conditions:
        won, survived = logs[condition.name].header["results"]["scores"]
        for name in ("village_win", "wolf_win"):
            assert won["metrics"][name]["value"] == pytest.approx(condition.measures[name].value)
        assert won["scored_samples"] == 7 * condition.counts.done == survived["scored_samples"]


def test_a_summary_is_its_sample_in_short(logs: Mapping[str, Log]) -> None:
    for log in logs.values():
        for summary in log.summaries:
            sample = log.samples[f"samples/{summary['id']}_epoch_{summary['epoch']}.json"]
            assert summary["uuid"] == sample["uuid"]
            assert summary["scores"] == sample["scores"]
            assert summary["message_count"] == len(sample["messages"])
            assert len(json.dumps(summary)) < 4000


def test_the_same_run_gives_the_same_bytes(store: Store, folder: Path, tmp_path: Path) -> None:
    write_logs(store, tmp_path)
    for path in (folder / "inspect").iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


# -- models behind a server -----------------------------------------------------------------------------


def played(path: Path, server: http_server.FakeServer, **settings: Any) -> Store:
    """Two short games of a model behind that server among built-in players."""
    model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "max_in_flight": 1, **settings}
    fields = {
        "name": "served",
        "rules": {"preset": "witch", "max_rounds": 1},
        "players": {
            "others": {"model": model, "recipe": {"name": "vanilla", "retries": 0}},
            "Werewolf": {"model": "village", "recipe": "vanilla"},
        },
        "deals": 2,
        "concurrency": 1,
    }
    made = Store.create(path, build(fields))
    runner.play_run(made)
    return made


@pytest.mark.parametrize("price", [None, {"input": 1.0, "output": 2.0}])
def test_usage_is_what_the_calls_used(tmp_path: Path, price: dict[str, float] | None) -> None:
    with http_server.running() as server, played(tmp_path / "r", server, price=price) as store:
        write_logs(store, tmp_path)
    (log,) = logs_in(tmp_path).values()
    run = wolflab.open_run(tmp_path / "r")
    calls = list(run.calls.rows())
    used = log.header["stats"]["model_usage"]
    for model, usage in used.items():
        mine = [call for call in calls if call["model"] == model]
        assert usage["output_tokens"] == sum(call["completion_tokens"] for call in mine)
        assert usage["input_tokens"] + usage["input_tokens_cache_read"] == sum(
            c["prompt_tokens"] for c in mine
        )
        if model == "wolf-1" and price is None:
            assert "total_cost" not in usage
        else:
            assert usage["total_cost"] == pytest.approx(sum(call["cost"] for call in mine))
    assert set(used) == {"wolf-1", "village"}
    assert log.header["eval"]["model"] == "village + wolf-1"
    assert log.header["eval"]["model_roles"]["Werewolf"]["model"] == "village"
    assert log.header["eval"]["tags"] == []
    sums = [sum(u["output_tokens"] for u in one["model_usage"].values()) for one in log.samples.values()]
    assert sum(sums) == sum(usage["output_tokens"] for usage in used.values())
    latencies = sum(one["total_time"] for one in log.samples.values())
    assert latencies == pytest.approx(sum(call["latency"] for call in calls), abs=1e-3)


def test_whatever_a_model_says_is_told_as_it_came(tmp_path: Path) -> None:
    said = iter(range(10_000))
    with http_server.running() as server:
        server.says = lambda prompt: HOSTILE if next(said) == 0 else f"\ud83d {HOSTILE[:90]}"
        with played(tmp_path / "r", server) as store:
            assert [row.status for row in store.games()] == ["done", "done"]
            write_logs(store, tmp_path / "inspect")
            write_transcripts(store, tmp_path / "scout")
    (log,) = logs_in(tmp_path / "inspect").values()
    replies = {
        m["content"] for one in log.samples.values() for m in one["messages"] if m["role"] == "assistant"
    }
    assert HOSTILE in replies
    assert f"? {HOSTILE[:90]}" in replies
    rows = [row for row in parquet_rows(tmp_path / "scout") if row["model"] == "wolf-1"]
    told = {m["content"] for row in rows for m in json.loads(row["messages"])}
    assert HOSTILE in told


def test_half_a_letter_is_no_reason_to_stop() -> None:
    assert json.loads(encoded({"a\ud83d": ["\ud83d b", 1]})) == {"a?": ["? b", 1]}


def test_a_game_that_waits_has_its_calls_and_an_error(tmp_path: Path) -> None:
    with http_server.running() as server:
        with played(tmp_path / "r", server) as store:
            write_logs(store, tmp_path / "whole")
        server.faults.extend([None] * 4 + [http_server.Fault("status", 500)] * 2)  # type: ignore[list-item]
    del server
    with http_server.running() as server:
        server.says = lambda prompt: "nothing" if server.calls < 6 else server.faults.append(FAILS) or "x"
        with played(tmp_path / "stuck", server) as store:
            stuck = store.games("unfinished")
            assert stuck
            kept = {row.id: list(store.calls_with_prompts(row.id)) for row in stuck}
            assert any(kept.values())
            write_logs(store, tmp_path / "logs")
            write_transcripts(store, tmp_path / "scout")
    (log,) = logs_in(tmp_path / "logs").values()
    assert log.header["status"] == "cancelled"
    for row in stuck:
        mine = log.of(row)
        assert all("the game is unfinished: " in one["error"]["message"] for one in mine)
        assert sum(len(events(one, "model")) for one in mine) == len(kept[row.id])
        assert all(one["scores"] is None and not one["metadata"]["role"] for one in mine)
    errors = [row["error"] for row in parquet_rows(tmp_path / "scout") if row["state"] == "unfinished"]
    assert len(errors) == 7 * len(stuck)
    assert all(errors)


FAILS = http_server.Fault("status", 500)


def test_prompts_that_cannot_be_made_again_are_told_to_be_missing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> object:
        raise CassetteMismatch("the request differs")

    monkeypatch.setattr(prompts, "requests", refused)
    write_logs(store, tmp_path)
    for log in logs_in(tmp_path).values():
        for one in log.samples.values():
            if events(one, "model") and one["metadata"]["state"] != "failed":
                assert one["metadata"]["prompts_left_out"] == "the request differs"
                assert {message["role"] for message in one["messages"]} == {"assistant"}


# -- people ---------------------------------------------------------------------------------------------


def test_what_people_said_is_told_on_request_and_gone_when_erased(tmp_path: Path) -> None:
    def typed(words: list[str], lines: str = "") -> None:
        done = CliRunner().invoke(app, words, input=lines, env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.output

    def exported(*words: str) -> tuple[str, str]:
        """All that is in the log and in the Parquet file."""
        to = tmp_path / "out"
        typed(["export", str(out), "-o", str(to), "--format", "inspect", "--format", "scout", *words])
        (log,) = logs_in(to / "inspect").values()
        return json.dumps(log.samples) + json.dumps(log.summaries), json.dumps(parquet_rows(to / "scout"))

    out, secret = tmp_path / "table", "owls lie at noon"
    lines = "1\n" + f"{secret}\n" * 5 + "1\n" * 400
    seat = ["--human", "1", "--role", "Villager", "--set", "player_1.person=anna"]
    typed(["play", "--out", str(out), "--pace", "0", *seat], lines)
    for text in exported():
        assert secret not in text
        assert LEFT_OUT in text
        assert "people sat at this table" in text
        assert "anna" not in text
    for text in exported("--texts"):
        assert secret in text
        assert LEFT_OUT not in text
        assert "anna" not in text
    typed(["erase", str(out), "--seat", "1"])
    for text in (*exported("--texts"), *exported()):
        assert secret not in text
    assert all(ERASED in text and "erased on request" in text for text in exported("--texts"))


# -- tournaments ----------------------------------------------------------------------------------------


def test_a_tournament_has_a_log_for_each_cell(tmp_path: Path) -> None:
    fields = {"name": "cup", "entrants": {"a": "random", "b": "random"}, "deals": 1}
    run = wolflab.run(fields, out=tmp_path / "r", progress=False)
    with Store.open_for_reading(run.path) as store:
        write_logs(store, tmp_path)
        conditions = set(store.experiment.conditions)
    logs = logs_in(tmp_path)
    assert set(logs) == conditions
    assert len(conditions) > 1
    for log in logs.values():
        assert log.header["eval"]["model"] == "none/none"
        assert {one["metadata"]["recipe"] for one in log.samples.values()} == {"random"}
        assert all(one["messages"] == [] for one in log.samples.values())


# -- many games -----------------------------------------------------------------------------------------


def test_games_go_by_one_by_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first sample comes before a second record is read."""
    read: set[int] = set()
    real = Store.record

    def record(store: Store, game: int) -> GameRecord:
        read.add(game)
        return real(store, game)

    monkeypatch.setattr(Store, "record", record)
    condition = store.games("done")[0].condition
    next(told for told in seats_of_condition(store, condition, False) if told.ended)
    assert len(read) == 1


# -- Scout ----------------------------------------------------------------------------------------------


def parquet_rows(folder: Path) -> list[Json]:
    paths = sorted(folder.glob("*.parquet"))
    return [row for path in paths for row in pyarrow.parquet.read_table(path).to_pylist()]


def test_rows_for_scout_are_the_samples(folder: Path, logs: Mapping[str, Log]) -> None:
    rows = {row["transcript_id"]: row for row in parquet_rows(folder / "scout")}
    samples = {one["uuid"]: one for log in logs.values() for one in log.samples.values()}
    assert set(rows) == set(samples)
    for name, one in samples.items():
        row, metadata = rows[name], one["metadata"]
        assert json.loads(row["messages"]) == one["messages"]
        assert json.loads(row["events"]) == one["events"]
        assert json.loads(row["events_data"]) == one["events_data"]
        won = None if one["scores"] is None else one["scores"]["won"]["value"]
        assert (row["score"], row["success"]) == (won, {"C": True, "I": False}.get(won))
        assert (row["task_id"], row["task_repeat"]) == (one["id"], one["epoch"])
        assert row["model"] == (metadata["model"] or None)
        for key in (
            "condition",
            "game",
            "deal",
            "repeat",
            "seat",
            "player",
            "role",
            "side",
            "state",
            "counts",
        ):
            assert row[key] == metadata[key]
        assert json.loads(row["measures"]) == metadata["measures"]
        assert row["trust_content"] is False
    agents = {row["agent"] for row in rows.values() if row["state"] == "done"}
    assert agents == {"vanilla", "dialogue"}


def test_columns_have_the_declared_types(folder: Path) -> None:
    for path in (folder / "scout").glob("*.parquet"):
        schema = pyarrow.parquet.read_schema(path)
        declared = {name: getattr(pyarrow, kind)() for name, kind in {**OWN, **METADATA}.items()}
        assert dict(zip(schema.names, schema.types, strict=True)) == declared


def test_groups_of_rows_are_of_limited_size(
    store: Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scout, "GROUP_BYTES", 1)
    write_transcripts(store, tmp_path)
    for path in tmp_path.glob("*.parquet"):
        assert pyarrow.parquet.ParquetFile(path).num_row_groups > 7
    assert parquet_rows(tmp_path) == parquet_rows(folder / "scout")


def test_no_word_of_scouts_is_a_column_of_ours() -> None:
    assert not set(OWN) & set(METADATA)
    assert not {"limit", "timelines", "filename"} & set(METADATA)


# -- the command ----------------------------------------------------------------------------------------


def test_the_command_writes_into_the_run_where_no_folder_is_named(store: Store) -> None:
    done = command_line.wolflab("export", str(store.path), "--format", "inspect")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert re.search(r"2 logs with \d+ samples written to .*/exported/inspect", said)
    assert len(list((store.path / "exported" / "inspect").iterdir())) == 2


@pytest.mark.slow
def test_all_are_the_four_forms_of_our_own(store: Store, tmp_path: Path) -> None:
    done = command_line.wolflab("export", str(store.path), "-o", str(tmp_path), "--format", "all", "--texts")
    assert done.returncode == 0, done.stderr
    assert not {"inspect", "scout"} & {path.name for path in tmp_path.iterdir()}


def test_texts_of_what_has_none_are_refused(store: Store, tmp_path: Path) -> None:
    done = command_line.wolflab("export", str(store.path), "-o", str(tmp_path), "--texts")
    assert done.returncode == 2
    assert "add --format data, inspect or scout" in " ".join(done.stderr.split())
    assert Said  # what `--texts` is about
