"""Runs that a version began which read replies otherwise: what holds is told to hold, what does not is found.

The older reading is imitated: it knew neither `<seed:think>` nor that a reply may hold several answers.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

import http_server
from command_line import wolflab
from test_run import over_http
from test_verify import change
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import requests, verify_game
from wolflab.lab.storage import store as storage
from wolflab.lab.storage.packing import pack, unpack
from wolflab.lab.storage.store import Store
from wolflab.models.servers.messages import AnthropicMessages
from wolflab.record.chain import Chain, hash_of
from wolflab.text.replies import extract, parse, thoughts

MARKED = "<seed:think>"


def thinking(prompt: str) -> str:
    """Every fifth reply has a draft in its thoughts."""
    said = http_server.answer(prompt)
    if http_server.draw(prompt, "thinks", 5):
        return said
    return f"{MARKED}{http_server.answer(prompt, 'draft')} No.</seed:think>{said}"


def reading_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "without_thoughts", thoughts.WithoutThoughts)
    monkeypatch.setattr(parse, "objects_in", lambda text: extract.objects_in(text)[:1])
    monkeypatch.setattr(storage, "READING", "1")


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("older") / "r"
    with pytest.MonkeyPatch.context() as before, http_server.running() as server:
        reading_as_before(before)
        server.says = thinking
        with Store.create(path, build(over_http(server, deals=2))) as store:
            assert runner.play_run(store)
    return path


@pytest.fixture
def run(older: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(older, tmp_path / "r"))


def verified(run: Path) -> tuple[int, str]:
    told = wolflab("verify", str(run), "--agents")
    return told.returncode, " ".join((told.stdout + told.stderr).split())


def read_otherwise(run: Path) -> int:
    """How many decisions rest on a reply with a draft that chose otherwise."""
    with Store.open_for_reading(run) as store:
        found = 0
        for row in store.games():
            record, calls = store.record(row.id), store.calls(row.id)
            for turn in (*record.turns, *record.probes):
                texts = [
                    calls[f"{record.header['play']}|{turn.ask}|{call.step}|{call.attempt}"].response.text
                    for call in turn.calls
                ]
                drafts = [text.removeprefix(MARKED).partition(" No.</seed:think>") for text in texts]
                found += any(
                    marked and json.loads(draft) != json.loads(last) for draft, marked, last in drafts
                )
        return found


def test_replies_that_are_read_otherwise_are_counted_and_the_records_hold(run: Path) -> None:
    wanted = read_otherwise(run)
    assert wanted > 5
    with Store.open_for_reading(run) as store:
        records = [store.record(row.id) for row in store.games()]
    decided = sum(bool(turn.calls) for one in records for turn in (*one.turns, *one.probes))
    code, told = verified(run)
    assert code == 0, told
    assert "2 of 2 records hold" in told
    assert f"{wanted} of {decided} decisions would come out otherwise" in told
    assert "the records hold" in told


def test_a_run_of_this_reading_has_nothing_that_is_read_otherwise(tmp_path: Path, run: Path) -> None:
    """And the same differences are faults in one that says that it was begun with this reading."""
    with http_server.running() as server:
        server.says = thinking
        with Store.create(tmp_path / "now", build(over_http(server, deals=1))) as store:
            assert runner.play_run(store)
            assert verify_game(store, store.games()[0], agents=True).otherwise == 0
    code, told = verified(tmp_path / "now")
    assert (code, "otherwise" in told) == (0, False)
    change(run, f"UPDATE meta SET value = '{parse.READING}' WHERE key = 'reading'")
    code, told = verified(run)
    assert code == 1
    assert "0 of 2 records hold" in told


def test_a_run_that_does_not_say_how_it_read_is_an_older_one(run: Path) -> None:
    change(run, "DELETE FROM meta WHERE key = 'reading'")
    code, told = verified(run)
    assert (code, "decisions would come out otherwise" in told) == (0, True)


def packed_anew(path: Path, was: bytes, now: bytes) -> None:
    """The first line of game 1 with these words changed, and all of it hashed anew."""
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        held = unpack(db.execute("SELECT data FROM records WHERE game = 1").fetchone()[0])
        at = next(n for n, line in enumerate(held.lines) if was in line)
        changed = [line.replace(was, now) if n == at else line for n, line in enumerate(held.lines)]
        lines = chained(changed)
        places = {hash_of(old): hash_of(new) for old, new in zip(held.lines, lines, strict=True)}
        polls = [json.loads(line) for line in held.probes]
        probes = chained([json.dumps(poll | {"after": places[poll["after"]]}).encode() for poll in polls])
        data = pack(lines, probes, list(held.calls().values())).data
        db.execute("UPDATE records SET data = ? WHERE game = 1", (data,))


def chained(lines: Sequence[bytes]) -> list[bytes]:
    chain = Chain()
    for line in lines:
        content = json.loads(line)
        del content["h"]
        chain.add(content)
    return chain.lines


def test_what_was_changed_in_an_older_run_is_found(run: Path, older: Path, tmp_path: Path) -> None:
    with Store.open_for_reading(run) as store:
        record, calls = store.record(1), store.calls(1)
        plain = next(
            (turn, note)
            for turn in record.turns
            for _, note in turn.notes
            if turn.calls
            and all(MARKED not in call.response.text for key, call in calls.items() if turn.ask in key)
        )
    turn, note = plain
    key = f"{record.header['play']}|{turn.ask}|{turn.calls[0].step}|0"
    change(run, f"UPDATE calls SET text = text || ' ' WHERE key = '{key}'")
    code, told = verified(run)
    assert code == 1
    assert (
        f"{turn.ask}: the stored call {turn.calls[0].step}, attempt 0, is not the one in the record" in told
    )

    noted = Path(shutil.copytree(older, tmp_path / "noted"))
    words = str(getattr(note, "text", "")).encode()
    assert words
    packed_anew(noted, words, words[:-1] + b"!!")
    code, told = verified(noted)
    assert code == 1
    assert "1 of 2 records hold" in told
    assert f"{turn.ask}: its notes: " in told

    gone = Path(shutil.copytree(older, tmp_path / "gone"))
    change(gone, f"DELETE FROM calls WHERE key = '{key}'")
    assert verified(gone)[0] == 1


def test_a_stopped_game_whose_replies_are_read_otherwise_says_so_when_it_goes_on(tmp_path: Path) -> None:
    with http_server.running() as server:
        server.says = thinking
        with pytest.MonkeyPatch.context() as before:
            reading_as_before(before)
            fields = over_http(server, deals=1, budget={"tokens": 30_000})
            with Store.create(tmp_path / "r", build(fields)) as store:
                assert not runner.play_run(store)
                assert store.games("unfinished")
        assert read_stopped(tmp_path / "r")
        with Store.resume(tmp_path / "r", ["budget.tokens=10000000"]) as store:
            assert not runner.play_run(store)
            (row,) = store.games()
    assert row.status == "failed"
    assert row.error is not None
    assert row.error.startswith("this run was begun by an earlier version of Wolflab")
    assert "go on with that version, or start a new run" in row.error


def read_stopped(run: Path) -> bool:
    with Store.open_for_reading(run) as store:
        return any(MARKED in call.response.text for call in store.calls(1).values())


def test_the_prompts_of_an_older_run_are_those_that_were_sent(older: Path) -> None:
    with Store.open_for_reading(older) as store:
        for row in store.games():
            sent = {call["key"]: tuple(call["messages"]) for call in store.calls_with_prompts(row.id)}
            found = {request.key: request.words.messages for request in requests(store, row)}
            assert len(found) > len(sent) // 2
            assert found.items() <= sent.items()


def test_a_run_that_spoke_chat_completions_with_anthropic_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-32-letters-or-even-more")
    with monkeypatch.context() as before, http_server.running() as server:
        reading_as_before(before)
        before.setattr(AnthropicMessages, "kind", "openai-compatible")
        model = {"model": "anthropic/wolf-1", "base_url": server.base_url}
        players = {"others": {"model": model, "recipe": "deductive"}}
        with Store.create(tmp_path / "r", build(over_http(server, deals=1, players=players))) as store:
            assert runner.play_run(store)
    assert verified(tmp_path / "r")[0] == 0
    with Store.open_for_reading(tmp_path / "r") as store:
        (row,) = store.games()
        assert store.record(row.id).header["players"][0]["model"]["kind"] == "openai-compatible"
        assert requests(store, row)
