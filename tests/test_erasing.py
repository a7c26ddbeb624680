"""A person's words are erased: from every byte of a run and of further folders, after a kill too; what left
the machine is told.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import http_server
from command_line import called
from experience_helpers import HASHING, experience, made_of, write_format_1
from marks import slow_except
from random_study import bytes_of, holding_word
from wolflab import files
from wolflab.cli import app
from wolflab.errors import StoreError
from wolflab.lab.experience.pool_file import erase_in_pool, open_pool, stored_pool, write_pool
from wolflab.lab.labels.annotate import read_key, sampled_decisions
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import erasing, runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.embedding_cache import EmbeddingCache, text_hash
from wolflab.lab.storage.quotes import Quotes
from wolflab.lab.storage.store import Store, StudySitting
from wolflab.record.chain import ROOT, hash_of
from wolflab.record.sealed import ERASED
from wolflab.text.digest import FORGOTTEN
from wolflab.ui.commands.erase import erase

SECRET = "My mother once told me that Zebedee's owls lie at noon"
BRIEF = "Zebedee lies"


GROWS: dict[str, Any] = {
    "name": "growing",
    "rules": {"preset": "witch", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "reflective"}},
    "conditions": {"grown": {"players": {"village": {"experience": {"grow": 1, "share": 0.5}}}}},
    "deals": 3,
}


def typed(*words: str | Path, lines: str = "") -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], input=lines, env={"COLUMNS": "400"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def held_in(*folders: Path, words: str = "Zebedee") -> list[str]:
    """The files in which a word stands, packed or not."""
    return [file for folder in folders for file in holding_word(folder, words)]


def play(out: Path, server: http_server.FakeServer, *more: str, then: str = "1\n" * 400) -> None:
    model = f"{{model: wolf-1, base_url: {server.base_url}}}"
    typed(
        *("play", "--human", "1", "--out", out, "--pace", "0", "--role", "Villager"),
        *("--set", f"players.others={{recipe: vanilla, model: {model}}}", *more),
        lines=f"1\n{SECRET}\n1\n{BRIEF}\n" + then,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, and with what was made of it, within it and beside it."""
    home = tmp_path_factory.mktemp("erasing")
    run, labels = home / "run", home / "run" / "labels"
    with http_server.running() as server:
        play(run, server)
        typed("report", run)
        typed("replay", run, "1")
        typed("export", run, "--format", "records", "--format", "data", "--format", "inspect", "--texts")
        typed(
            "export",
            run,
            "-o",
            home / "beside",
            "--format",
            "records",
            "--format",
            "data",
            "--format",
            "inspect",
            "--texts",
        )
        typed("annotate", "sample", run, "-o", labels, "--per-condition", "40")
        for what, model in (("judge", "custom/wolf-1"), ("monitor", "custom/wolf-2")):
            typed("annotate", what, labels, "--model", model, "--set", f"base_url={server.base_url}")
    shutil.copytree(labels, home / "beside" / "labels")
    shutil.copytree(run, home / "beside" / "copy", ignore=shutil.ignore_patterns("exported", "labels"))
    write_pool(
        made_of([experience(0, reflection=f"They said: {SECRET}"), experience(1)]).pool, run / "x.pool"
    )
    with EmbeddingCache.open(run / "run.sqlite") as cache:
        cache.put(HASHING, [text_hash(SECRET)], np.ones((1, HASHING.dimensions or 1), np.float32))
    return home


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "home")


def test_no_byte_of_a_run_holds_the_words(home: Path) -> None:
    run = home / "run"
    before = held_in(run)
    assert {"run.sqlite", "replay/1.html", "labels/items.csv", "x.pool"} <= {*before}
    assert any(file.startswith("exported/") for file in before)
    told = typed("erase", run, "--seat", "1")
    assert held_in(run) == []
    assert not (run / "replay").exists()
    assert not (run / "exported").exists()
    assert f"removed: {run / 'replay'}; to make it again: wolflab replay {run} GAME" in told
    assert f"removed: {run / 'report.html'}; to make it again: wolflab report {run}" in told
    assert re.search(r"replaced in \S*items\.csv", told)
    assert f"replaced in {run / 'x.pool'}" in told
    assert "of fewer than five words" in told
    assert ERASED in (run / "labels" / "items.csv").read_text()
    for labels in (run / "labels", home / "beside" / "labels"):
        with Store.open_for_reading(run) as store:
            assert sampled_decisions(read_key(labels), store), "label sets know the game, named or not"
    verified = typed("verify", run)
    assert "1 of 1 record holds" in verified
    assert re.search(
        r"erased on request: \d+ statements in 1 game; all but what was erased is checked", verified
    )
    assert held_in(home / "beside"), "it was not named"


def test_further_folders_are_searched_in_the_same_way(home: Path) -> None:
    typed("erase", home / "run", "--seat", "1", "--also", home / "beside")
    assert held_in(home) == []
    assert not list((home / "beside").rglob("*.eval")), "what is packed is removed"
    with Store.open_for_reading(home / "beside" / "copy") as copy:
        assert copy.record(1).erased, "a copy of the run, too"
    assert "1 of 1 record holds" in typed("verify", home / "beside" / "copy")
    again = typed("erase", home / "run", "--seat", "1", "--also", home / "beside")
    assert "nothing is left to erase" in again


def test_what_a_killed_process_left_goes_too(home: Path) -> None:
    """Half a text, half a pack, half a pool: nothing of them can be told by its words for certain."""
    run = home / "run"
    words = next((run / "exported").rglob("*.words.jsonl"))
    halves = []
    for file in (words, next((run / "exported").rglob("*.parquet")), run / "x.pool", run / "report.html"):
        for folder in (run, run / "labels", home / "beside"):
            halves.append(files._temporary_name(folder / file.name))
            data = file.read_bytes()
            halves[-1].write_bytes(data[: data.find(b"Zebedee") + 9] if b"Zebedee" in data else data)
    (halves[0].with_name(".notes.part")).write_text("mine")
    told = typed("erase", run, "--seat", "1", "--also", home / "beside")
    assert held_in(home) == []
    assert not any(half.exists() for half in halves)
    assert f"removed: {halves[0]}; it was never finished" in told
    assert halves[0].with_name(".notes.part").read_text() == "mine", "Wolflab did not write it"


def test_a_folder_that_is_not_there_stops_it_before_anything_is_lost(home: Path) -> None:
    with pytest.raises(StoreError, match="there is no such folder"):
        typed("erase", home / "run", "--seat", "1", "--also", home / "nowhere")
    with Store.open_for_reading(home / "run") as store:
        assert not store.record(1).erased
    assert (home / "run" / "replay").exists()


@pytest.mark.slow
def test_a_run_that_is_in_use_in_a_further_folder_stops_it_before_anything_is_lost(home: Path) -> None:
    with Store.resume(home / "beside" / "copy"), pytest.raises(StoreError, match="run by another process"):
        typed("erase", home / "run", "--seat", "1", "--also", home / "beside")
    typed("erase", home / "run", "--seat", "1", "--also", home / "beside")
    assert held_in(home) == []


STEPS = [
    (erasing, "remove_made"),
    (erasing, "erase_in_pool"),
    (erasing, "write"),
    (Store, "forget_quotes"),
    (Store, "forget_vectors"),
    (Store, "erase_words"),
    (Store, "scrub"),
]


@pytest.mark.parametrize("after", slow_except([False], [False, True]))
@pytest.mark.parametrize(("where", "name"), slow_except(STEPS[1:2], STEPS), ids=[name for _, name in STEPS])
def test_whoever_is_killed_in_the_middle_runs_the_same_command_again(
    home: Path, where: Any, name: str, after: bool
) -> None:
    run = home / "run"
    process = os.fork()
    if process == 0:
        does = getattr(where, name)

        def dies(*given: Any) -> None:
            if after:
                does(*given)
            os._exit(7)

        setattr(where, name, dies)
        try:
            called(erase, run, None, "1")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
    told = typed("erase", run, "--seat", "1")
    assert held_in(run) == []
    assert "sent to wolf-1 at 127.0.0.1" in told
    assert "1 of 1 record holds" in typed("verify", run)


def test_no_hash_is_left_by_which_a_guess_at_the_words_could_be_confirmed(home: Path) -> None:
    """Of the requests that held them, and of lines that were chained to such a hash; what does not depend on
    them stays as it was, and label sets still know their games.
    """
    run = home / "run"
    with Store.open_for_reading(run) as store:
        before = store.record(1)
        calls = [call for call in store.calls_with_prompts(1) if call["model"] == "wolf-1"]
    hashes = {call["request"] for call in calls} | {hash_of(before.lines[-1])}
    assert len(hashes) > 20
    chained = {hash_of(line) for line in before.lines if hash_of(line) != ROOT}
    first = next(at for at, line in enumerate(before.lines) if b'"request":' in line)
    hashes |= {hash_of(line) for line in before.lines[first:]}
    assert hashes & chained
    assert all(held_in(run, words=found) for found in (*hashes,)[:3])
    other = home / "beside" / "game-2.jsonl"  # its first question was the same one
    other.write_bytes(b'{"h":"%b","request":"%b"}\n' % (b"a" * 32, calls[0]["request"].encode()))
    kept = other.read_bytes()
    typed("erase", run, "--seat", "1", "--also", home / "beside")
    assert other.read_bytes() == kept, "by its hash it holds"
    other.unlink()
    for folder in (run, home / "beside"):
        held = b"".join(
            data for file in sorted(folder.rglob("*")) if file.is_file() for data in bytes_of(file)
        )
        assert not [found for found in hashes if found.encode() in held or bytes.fromhex(found) in held]
    with Store.open_for_reading(run) as store:
        after = store.record(1)
        assert {call["request"] for call in store.calls_with_prompts(1)} == {FORGOTTEN}
    exported = (home / "beside" / "game-1.jsonl").read_bytes().splitlines()
    assert [hash_of(line) for line in exported] == [hash_of(line) for line in after.lines]
    assert [replace(turn, calls=[]) for turn in after.turns if turn.kind != "statement"] == [
        replace(turn, calls=[]) for turn in before.turns if turn.kind != "statement"
    ]
    assert "1 of 1 record holds" in typed("verify", run)
    for labels in (run / "labels", home / "beside" / "labels"):
        with Store.open_for_reading(run) as store:
            assert sampled_decisions(read_key(labels), store)


def test_polls_are_chained_to_the_lines_as_they_are_now(tmp_path: Path) -> None:
    run = tmp_path / "run"
    typed(
        *("play", "--human", "1", "--out", run, "--pace", "0", "--role", "Villager", "--rules", "sheriff"),
        *("--set", "straw_polls=1"),
        lines="1\n" * 400,
    )
    with Store.open_for_reading(run) as store:
        before = store.record(1)
    assert before.probes
    typed("erase", run, "--seat", "1")
    assert "1 of 1 record holds" in typed("verify", run)
    with Store.open_for_reading(run) as store:
        after = store.record(1)
    assert [(turn.ask, turn.at, turn.action) for turn in after.probes] == [
        (turn.ask, turn.at, turn.action) for turn in before.probes
    ]


# -- what left the machine -----------------------------------------------------------------------------


def test_whom_the_words_were_sent_to_is_told_and_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = home / "run"
    with Store.open_for_reading(run) as store:
        calls = [call for call in store.calls_with_prompts(1) if call["model"] == "wolf-1"]
        said = re.compile('Zebedee|player_1 said: "1"')
        holding = [call for call in calls if any(said.search(text) for _, text in call["messages"])]
    assert 0 < len(holding) < len(calls), "not all were sent them"
    for told in (typed("erase", run, "--seat", "1"), typed("erase", run, "--seat", "1")):
        assert re.search(
            rf"sent to wolf-1 at 127.0.0.1:\d+, on this machine: {len(holding)} calls \(game 1\)", told
        )
        assert re.search(r"sent to custom/wolf-1 \S+.* calls \(\S*judge-", told), "its judge, too"
        assert re.search(r"sent to custom/wolf-2 \S+.* calls \(\S*monitor-", told), "its reader, too"
    monkeypatch.setattr(erasing, "is_elsewhere", lambda host: True)
    assert "ask custom/wolf-1, custom/wolf-2, 127.0.0.1:" in typed("erase", run, "--seat", "1")


def test_where_nothing_left_the_machine_it_says_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    typed("play", "--human", "1", "--out", run, "--pace", "0", "--role", "Villager", lines="1\n" * 400)
    assert "Nothing of it left this machine" in typed("erase", run, "--seat", "1")


# -- others' words -------------------------------------------------------------------------------------


def test_what_others_repeat_stays_in_the_record_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_speak", lambda prompt, path: f"You heard it: {SECRET}!")
    run = tmp_path / "run"
    with http_server.running() as server:
        play(run, server)
    told = typed("erase", run, "--seat", "1")
    assert re.search(r"\d+ statements or notes of others repeat the words \(game 1\)", told)
    assert "prompts and replies of models held the words" in told
    assert "1 of 1 record holds" in typed("verify", run)
    with Store.open_for_reading(run) as store:
        assert not any("Zebedee" in call["text"] for call in store.calls_with_prompts(1))


def test_words_are_found_however_they_are_written() -> None:
    quotes = Quotes(
        [("player_1", "I think that Player 3 isn't the Seer, über alles"), ("player_1", "owls lie")]
    )
    for text in (
        '{"said": "I think that Player 3 isn\'t the Seer, \\u00fcber alles"}',
        "<p>I think that Player 3 isn&#x27;t the Seer, über alles</p>",
        "he said, i THINK that Player B isn't the Seer … über alles",
    ):
        assert text in quotes, text
        assert "Seer" not in quotes.without(text)
    assert quotes.without('"player_1 said: ""owls lie"""') == f'"player_1 said: ""{ERASED}"""'
    for text in ("owls lie", 'player_10 said: "owls lie"', "I think that Player 3 is a wolf", ""):
        assert text not in quotes, text
    chinese = Quotes([("player_1", "我是预言家昨晚查了三号")])
    assert chinese.without("他说我是预言家昨晚查了三号。") == f"他说{ERASED}。"


# -- games that are not over, and others' games ---------------------------------------------------------


def test_no_byte_of_a_game_that_waits_holds_the_words(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with http_server.running() as server:
        play(run, server, then="")
    write_pool(made_of([experience(0, reflection=f"They said: {SECRET}")]).pool, run / "x.pool")
    assert {"run.sqlite", "x.pool"} <= {*held_in(run)}
    for _ in range(2):
        told = typed("erase", run, "--seat", "1")
        assert held_in(run) == []
        assert "sent to wolf-1 at 127.0.0.1" in told
    with Store.open_for_reading(run) as store:
        assert store.game(1).status == "failed"
    assert "nothing is left to erase" in told


def test_whoever_says_the_same_in_another_run_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_speak", lambda prompt, path: SECRET)
    run, other = tmp_path / "run", tmp_path / "all" / "other"
    with http_server.running() as server:
        play(run, server)
        model = {"model": "wolf-1", "base_url": server.base_url}
        plan = {"name": "o", "rules": "doctor", "deals": 1}
        with Store.create(
            other, build({**plan, "players": {"others": {"recipe": "vanilla", "model": model}}})
        ) as store:
            assert runner.play_run(store)
    typed("erase", run, "--seat", "1", "--also", tmp_path / "all")
    assert "1 of 1 record holds" in typed("verify", other, "--agents")
    with Store.open_for_reading(other) as store:
        assert any(SECRET in call["text"] for call in store.calls_with_prompts(1))


# -- people of a study ---------------------------------------------------------------------------------


def test_whoever_sat_in_a_study_is_found_by_the_studys_name(tmp_path: Path) -> None:
    run = tmp_path / "run"
    typed("play", "--human", "1", "--out", run, "--pace", "0", "--role", "Villager", lines="1\n" * 400)
    with Store.resume(run) as store:
        players = store.record(1).header["players"]
        seat = next(n for n, player in enumerate(players) if player["recipe"] == "person")
        store._db.execute("INSERT INTO sittings VALUES (?, ?, ?, ?, ?)", StudySitting(1, seat, "p07", 1, 1))
    with pytest.raises(StoreError, match="nobody who sat there is named p08"):
        typed("erase", run, "--person", "p08")
    assert "erased from" in typed("erase", run, "--person", "p07")


# -- pools ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("former", [False, True])
@pytest.mark.parametrize("held", ["reflection", "response"])
def test_a_pool_keeps_its_size_and_its_former_digest(tmp_path: Path, held: str, former: bool) -> None:
    path = tmp_path / "x.pool"
    before = made_of([experience(n, **({held: f"he said: {SECRET}"} if n == 2 else {})) for n in range(6)])
    if former:
        write_format_1(before, path)
    else:
        write_pool(before.pool, path, before.origins)
    assert erase_in_pool(path, Quotes([("player_1", SECRET)])) == 1
    after = open_pool(path)
    assert (len(after.pool), after.was) == (6, (before.pool.digest,))
    assert after.pool.digest != before.pool.digest
    assert held_in(tmp_path) == []
    block = after.pool.blocks["Guard", "protect"]
    assert [bool(block.vectors[row].any()) for row in block.rows] == [
        n != 2 or held != "reflection" for n in range(6)
    ]
    assert erase_in_pool(path, Quotes([("player_1", SECRET)])) == 0


def test_games_with_a_pool_that_was_erased_from_still_verify(tmp_path: Path) -> None:
    """One that grows, with states of which some had the words; and one that was taken in."""
    run = tmp_path / "run"
    with Store.create(run, build(GROWS)) as store:
        assert runner.play_run(store)
    (path,) = (run / "pools").glob("grown-growing-*")
    before = stored_pool(path, 2)
    assert before is not None
    said = next(one.reflection for one in before.pool.experiences() if len(one.reflection.split()) > 8)
    assert erase_in_pool(path, Quotes([("player_1", said)])) > 0
    assert said.encode() not in path.read_bytes()
    assert not list(path.parent.glob("*-journal"))
    after = stored_pool(path, 2)
    assert after is not None
    assert after.was == (before.pool.digest,)
    with Store.resume(run) as store:
        for row in store.games():
            verify_game(store, row, agents=False)
        path.write_bytes(path.read_bytes()[:-4096])
        with pytest.raises(StoreError, match=r"damaged|no pool"):
            verify_game(store, store.game(3), agents=False)
