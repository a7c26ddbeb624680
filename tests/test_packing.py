"""A game on disk: every line and call comes back, whatever it says; damage is found; sums unpack nothing."""

from __future__ import annotations

import base64
import sqlite3
from contextlib import closing
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import http_server
from marks import examples
from test_run import experiment, over_http
from wolflab.errors import RecordError, StoreError
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.export import export_run
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.packing import CallRow, Packed, Unpacked, pack, totals_by_model, unpack
from wolflab.lab.storage.store import Store, asker
from wolflab.models.base import Response
from wolflab.record.chain import Chain
from wolflab.text.replies.finish import Finish, FinishReason
from wolflab.usage import NOTHING_SPENT, CallTotals, Spent, Usage

VILLAGE: dict[str, Any] = {"model": "village", "recipe": "deductive"}


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


HASHES = st.sampled_from([digest(name) for name in "abcd"])
HOSTILE = st.sampled_from(
    [
        "",
        "\n\n",
        "\x00\x01\x02\x03\x04\x05\x10\x1f\x7f",
        "\x10A",
        "é\u2028𝟘\ufeff",
        f'"{digest("a")}"',
        f'"{digest("a")}","response":"{digest("b")}"',
        f'","{digest("c")}","{digest("d")}"]',
        '{"h":"',
    ]
)
TEXTS = st.one_of(st.text(max_size=40), HOSTILE, st.lists(HOSTILE, max_size=3).map("".join))
CALLS = st.lists(st.tuples(HASHES, TEXTS, st.booleans()), max_size=6)


def game(
    turns: list[tuple[list[tuple[str, str, bool]], str]],
    probes: list[tuple[list[tuple[str, str, bool]], str]],
) -> tuple[list[bytes], list[bytes], list[CallRow]]:
    """A game whose turns make calls (request's hash, reply, whether it is held) and leave a note."""
    lines, polls, held = Chain(), Chain(), []
    lines.add({"wolflab": 1, "play": "1/0", "prompts": digest("p")})
    for number, (calls, note) in enumerate(turns):
        ask = f"{number}/vote/1"
        for attempt, (request, text, mine) in enumerate(calls):
            told = {"call": "act", "attempt": attempt, "ask": ask, "seat": 1}
            lines.add(told | {"request": request, "response": digest(text)})
            if mine:
                held.append(CallRow(f"1/0|{ask}|act|{attempt}", request, "m", Response(text)))
        lines.add({"note": "act", "ask": ask, "seat": 1, "content": note})
    for number, (calls, note) in enumerate(probes):
        ask = f"{number}/straw/1"
        called = [["act", n, request, digest(text)] for n, (request, text, _) in enumerate(calls)]
        polls.add({"probe": "straw", "ask": ask, "after": lines.last, "notes": note, "calls": called})
        held += [
            CallRow(f"1/0|{ask}|act|{n}", request, "m", Response(text))
            for n, (request, text, mine) in enumerate(calls)
            if mine
        ]
    return lines.lines, polls.lines, held


TURNS = st.lists(st.tuples(CALLS, TEXTS), max_size=5)


@examples(100)
@given(TURNS, TURNS)
def test_every_line_and_call_comes_back_whatever_it_says(turns: Any, probes: Any) -> None:
    lines, polls, held = game(turns, probes)
    packed = pack(lines, polls, held)
    found = unpack(packed.data)
    assert (found.lines, found.probes) == (lines, polls)
    assert not packed.rest
    calls = found.calls()
    assert {call.key: call for call in held}.items() <= calls.items()
    replies = {call.response.text for call in held}
    assert all(call.response.text in replies for call in calls.values())
    assert sum(one.calls for one in packed.totals.values()) == len(held)


BEFORE = base64.b64decode(
    "eJyNjkELgzAMhRl66s945zLba/+KeOhcdlltO9NNRPzvi26wkzBC4CUv7yNtiwEaPvJEI12hzafOe3d6WTuFKYVb8Bc4q5GDn+Fg"
    "GyOxPKYhF4arq1Wh9yGI5fuyEUsh8eCMaL7L3jSvVKixYjL5stNGejyJRZ9m4mOG/YtRV9vAOUWm70tRrn+4Q0SfYqEoGhGrUm8l"
    "p0+18GZ0A1o6cvWEtACtdhGwWgAAAAAAAAAAAAAAAAAAAADgoCZgSkPkPg0DecRYtJoaJ8NebpNzh38p5WJGTkZJfifDXm6Tc4d/"
    "KeViRk5GSX79VxKzZOqcitKbkRw5KYU5"
)
"""The game of the next test as it was written when every hash was taken out of the words."""


def test_a_blob_with_marks_that_are_not_written_any_more_is_read() -> None:
    calls = [(digest("a"), "yes", True), (digest("a"), "no", False)]
    lines, _, held = game([(calls, "n")], [])
    assert unpack(BEFORE) == unpack(pack(lines, [], held).data)
    assert unpack(BEFORE).lines == lines


def test_a_call_that_no_line_names_is_left_to_the_rows() -> None:
    lines, _, held = game([([(digest("a"), "yes", True)], "n")], [])
    strange = [
        CallRow("1/0|9/vote/1|act|0", digest("a"), "m", Response("yes")),
        CallRow(held[0].key, digest("b"), "m", Response("yes")),
        CallRow(held[0].key, digest("a"), "m", Response("no")),
        CallRow(held[0].key, digest("a"), "m", Response("yes", prompt=(("user", "?"),))),
    ]
    for call in strange:
        packed = pack(lines, [], [call])
        assert packed.rest == (call,)
        assert packed.totals == {}
        assert unpack(packed.data).lines == lines
        assert unpack(packed.data).calls() == {}


def test_what_calls_cost_comes_back_and_is_summed() -> None:
    replies = [(digest(str(n)), f"reply {n}", True) for n in range(6)]
    lines, _, held = game([(replies, "n")], [])
    dear = [
        CallRow(
            call.key,
            call.request,
            "ab"[n % 2],
            Response(call.response.text, Usage(n, 2, 1, 0.5), Finish(FinishReason.CUT, "so"), n),
        )
        for n, call in enumerate(held)
    ]
    packed = pack(lines, [], dear)
    assert unpack(packed.data).calls() == {call.key: call for call in dear}
    assert packed.totals == {
        "a": CallTotals(3, Usage(0 + 2 + 4, 6, 3, 1.5), 0 + 2 + 4),
        "b": CallTotals(3, Usage(1 + 3 + 5, 6, 3, 1.5), 1 + 3 + 5),
    }
    assert totals_by_model([]) == {}


def test_an_empty_game_and_no_game() -> None:
    assert unpack(pack([], []).data) == unpack(pack([], [], []).data)
    assert unpack(pack([], []).data).lines == []
    for data in (None, "", 5, b"", b"x", pack([], []).data[:-1], pack([], []).data + b"0123456789abcdef"):
        with pytest.raises(RecordError, match="here: what is stored is no record"):
            unpack(data, "here")


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "r"
    with Store.create(path, experiment(players={"others": VILLAGE}, deals=3, straw_polls=1)) as store:
        assert runner.play_run(store)
    return path


def stored(path: Path) -> tuple[Packed, Unpacked]:
    """The first game's blob as stored, and what is in it."""
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        data = db.execute("SELECT data FROM records WHERE game = 1").fetchone()[0]
    return Packed(data, (), ()), unpack(data)


def test_no_byte_of_a_stored_game_changes_unseen(village: Path) -> None:
    """One bit at a time, all over the blob: an error, or the same lines and calls (a byte of no account)."""
    packed, whole = stored(village)
    calls, spoilt = whole.calls(), 0
    for at in range(0, len(packed.data), 7):
        data = bytearray(packed.data)
        data[at] ^= 1 << at % 8
        try:
            found = unpack(bytes(data))
        except RecordError:
            spoilt += 1
            continue
        assert (found.lines, found.probes, found.calls()) == (whole.lines, whole.probes, calls)
    assert spoilt >= len(range(0, len(packed.data), 7)) - 5


def test_a_built_in_game_is_small_and_has_no_rows(village: Path) -> None:
    packed, whole = stored(village)
    texts = sum(len(call.response.text) for call in whole.calls().values())
    plain = sum(map(len, whole.lines)) + sum(map(len, whole.probes)) + texts
    assert len(packed.data) < plain / 9
    with closing(sqlite3.connect(village / "run.sqlite")) as db, db:
        assert db.execute("SELECT count(*) FROM calls").fetchone() == (0,)
    with Store.open_for_reading(village) as store:
        for row in store.games():
            verify_game(store, row, agents=True)
            kept = list(store.calls_with_prompts(row.id))
            assert [call["key"] for call in kept] == sorted(store.calls(row.id))
            assert {call["model"] for call in kept} == {"village"}
            assert store.game_totals(row.id)["village"].calls == len(kept) > 20
        assert store.spent() == NOTHING_SPENT


def test_sums_need_no_unpacking(village: Path, tmp_path: Path) -> None:
    with Store.open_for_reading(village) as store:
        totals = [store.game_totals(row.id) for row in store.games()]
        text = (village / "run.sqlite").read_bytes()
    (tmp_path / "run.sqlite").write_bytes(text)
    (tmp_path / "experiment.yaml").write_bytes((village / "experiment.yaml").read_bytes())
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as db, db:
        db.execute("UPDATE records SET data = 'gone'")
    with Store.open_for_reading(tmp_path) as store:
        assert [store.game_totals(row.id) for row in store.games()] == totals
        with pytest.raises(RecordError, match="what is stored is no record"):
            store.calls(1)


def test_exported_calls_are_those_of_the_cassette(village: Path, tmp_path: Path) -> None:
    with Store.open_for_reading(village) as store:
        assert export_run(store, tmp_path / "out") == 3
        written = (tmp_path / "out" / "calls.jsonl").read_bytes().splitlines()
        exported = [msgspec.json.decode(line) for line in written]
        filed = {
            (asker(row.id), key): one for row in store.games() for key, one in store.calls(row.id).items()
        }
        lines = (tmp_path / "out" / "game-2.jsonl").read_bytes().splitlines()
        assert lines == store.record(2).lines
    assert {(call["asker"], call["key"]): call["text"] for call in exported} == {
        place: one.response.text for place, one in filed.items()
    }


def test_rows_and_packed_calls_of_one_game_stand_side_by_side(tmp_path: Path) -> None:
    """A waiting model among built-in players: its calls are rows with prompts, theirs are packed."""
    with http_server.running() as server:
        data = over_http(server, deals=2)
        waiting = data["players"]["others"]
        data["players"] = {"others": VILLAGE, "sheriff": waiting}
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
        with Store.open_for_reading(tmp_path / "r") as store:
            for row in store.games("done"):  # in a void one the Sheriff died before he was asked
                verify_game(store, row, agents=True)
                by_model: dict[str, list[dict[str, Any]]] = {}
                for call in store.calls_with_prompts(row.id):
                    by_model.setdefault(call["model"], []).append(call)
                assert len(by_model) == 2
                packed = by_model.pop("village")
                assert not any("messages" in call for call in packed)
                (rows,) = by_model.values()
                assert all(call["messages"][0][0] == "system" and call["messages"][1][1] for call in rows)
                assert store.game_totals(row.id)["village"].calls == len(packed)
                assert sum(one.calls for one in store.game_totals(row.id).values()) == len(rows) + len(packed)
            tokens = sum(
                call["prompt_tokens"] + call["completion_tokens"]
                for row in store.games()
                for call in store.calls_with_prompts(row.id)
            )
            assert store.spent().tokens == tokens > 0


def test_a_call_committed_twice_counts_once(tmp_path: Path) -> None:
    call = CallRow("k", digest("q"), "m", Response("yes", Usage(3, 4, 0, 0.25), prompt=(("user", "Well?"),)))
    with Store.create(tmp_path / "r", experiment()) as store:
        for game in (1, 1, 2):
            store.commit(asker(game), call)
        assert [store.game_totals(n) for n in (1, 2)] == [{"m": CallTotals(1, Usage(3, 4, 0, 0.25), 0.0)}] * 2
        assert store.spent() == Spent(14, Decimal("0.5"))
        assert next(store.calls_with_prompts(2))["messages"] == [("user", "Well?")]


def test_a_run_of_another_version_is_refused_and_left_alone(village: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    (old / "experiment.yaml").write_bytes((village / "experiment.yaml").read_bytes())
    with closing(sqlite3.connect(old / "run.sqlite")) as db, db:
        db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        db.execute("INSERT INTO meta VALUES ('version', '1')")
    for opens in (Store.open_for_reading, Store.resume):
        with pytest.raises(StoreError, match=r"begun by wolflab 0.1.0.* version 1; .* use wolflab 0.1.0"):
            opens(old)
    with closing(sqlite3.connect(old / "run.sqlite")) as db, db:
        assert db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("meta",)]
