"""Shards: merged, they are the run that was played at once; what does not belong together is refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import http_server
from command_line import wolflab
from test_docs import ROOT, blocks
from test_forks import forked
from test_run import committed_calls, over_http, records
from wolflab.errors import ExperimentError, StoreError, WolflabError
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.numbering import numbering
from wolflab.lab.plans.registration import Registration
from wolflab.lab.plans.shards import read_shard
from wolflab.lab.plans.specs import BudgetSpec
from wolflab.lab.results.kept_registration import keep_registration, kept_registration
from wolflab.lab.runs.merging import merge_shards
from wolflab.lab.runs.runner import planned_games, play_run
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.storage.embedding_cache import EmbeddingCache
from wolflab.lab.storage.run_files import held
from wolflab.lab.storage.store import Store
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.usage import Usage

RANDOM: dict[str, Any] = {"name": "t", "players": {"others": {"recipe": "random"}}, "deals": 4}


def played(path: Path, experiment: Experiment) -> Path:
    with Store.create(path, experiment) as store:
        play_run(store)
    return path


def shards(folder: Path, data: dict[str, Any], of: int = 2) -> list[Path]:
    plan = build(data)
    return [played(folder / f"{n}", plan.of_shard(n, of)) for n in range(1, of + 1)]


def table(path: Path, name: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path / "run.sqlite")) as db:
        return sorted(db.execute(f"SELECT * FROM {name}"))


def test_the_pages_script_and_a_merge_give_the_run_that_was_played_at_once(tmp_path: Path) -> None:
    """To the byte, once void games are replaced; a task that is given again goes on."""
    script = next(one for one in blocks(ROOT / "docs/clusters.md") if one.file == "shards.sh")
    (tmp_path / "shards.sh").write_text(script.text, encoding="utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def task(number: int) -> None:
        told = {**os.environ, "PATH": path, "SLURM_ARRAY_TASK_ID": f"{number}"}
        words = ["bash", "shards.sh"]
        ended = subprocess.run(words, cwd=tmp_path, env=told, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr

    for number in (3, 1, 4, 2, 2):
        task(number)
    parts = [f"shards/{n}" for n in (4, 2, 1, 3)]
    *each, together, there = wolflab("status", *parts, cwd=tmp_path).stdout.splitlines()
    assert [line.split(":")[0] for line in each] == [f"shards/{n} (shard {n}/4)" for n in (1, 2, 3, 4)]
    counts = [line.split("; ")[1].split()[0] for line in (*each, together.replace(": ", "; ", 1))]
    assert int(counts[4]) == sum(map(int, counts[:4])) > 0
    assert there == "4 of 4 shards are here"
    for _ in range(2):
        wolflab("merge", *parts, "--out", "merged", cwd=tmp_path)
        stopped = records(tmp_path / "merged")
        assert {row[4] for row in stopped} == {"done", "void", "planned"}
    wolflab("run", "--resume", "merged", cwd=tmp_path)
    wolflab("run", "quickstart", "--set", "deals=4", "--out", "whole", cwd=tmp_path)
    assert records(tmp_path / "merged") == records(tmp_path / "whole")
    assert table(tmp_path / "merged", "rows") == table(tmp_path / "whole", "rows")
    for file in ("experiment.yaml", "report.json", "report.html"):
        assert (tmp_path / "merged" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    for run in ("merged", "shards/4"):
        assert wolflab("verify", run, cwd=tmp_path).returncode == 0


def test_half_played_games_keep_their_paid_calls_and_all_that_was_spent_counts(tmp_path: Path) -> None:
    data = {"deals": 4, "budget": {"tokens": 30_001, "usd": 3.0}}
    with http_server.running() as server:
        priced = over_http(server, **data)
        priced["players"]["others"]["model"]["price"] = {"input": 0.1, "output": 0.1}
        parts = shards(tmp_path, priced)
        with closing(sqlite3.connect(parts[1] / "run.sqlite")) as db:  # killed during a call
            db.execute("INSERT INTO open_calls VALUES ('game/4', 'k', 'm', 'killed', 1, 0, 500, 10, 0.25)")
            db.commit()
        budgets = []
        for _ in range(2):
            merge_shards(parts[::-1], tmp_path / "merged")
        spent = []
        for path in (*parts, tmp_path / "merged"):
            with Store.open_for_reading(path) as store:
                budgets.append(store.experiment.budget)
                spent.append(store.spent())
        assert budgets == [
            BudgetSpec(tokens=15_001, usd=1.5),
            BudgetSpec(tokens=15_000, usd=1.5),
            BudgetSpec(tokens=30_001, usd=3.0),
        ]
        assert spent[2].tokens == spent[0].tokens + spent[1].tokens > 20_000
        assert float(spent[2].usd) == pytest.approx(float(spent[0].usd + spent[1].usd))
        assert spent[2].possibly_tokens == 510
        begun = committed_calls(tmp_path / "merged")
        assert begun == sum(map(committed_calls, parts)) == server.calls
        with Store.resume(tmp_path / "merged", ["budget.tokens=9000000", "budget.usd=900"]) as store:
            assert store.games("unfinished")
            assert play_run(store)
        assert server.calls == committed_calls(tmp_path / "merged") > begun
        priced.pop("budget")
        assert records(played(tmp_path / "whole", build(priced))) == records(tmp_path / "merged")


def test_forks_stay_with_their_parents(tmp_path: Path) -> None:
    data = forked({"as-said": {"continuations": 2}, "silent": {"change": "silent"}}, deals=3)
    merge_shards(shards(tmp_path, data), tmp_path / "merged")
    with Store.resume(tmp_path / "merged") as store:
        play_run(store)
        assert verify_run(store, agents=True).holds
    assert records(tmp_path / "merged") == records(played(tmp_path / "whole", build(data)))


def test_a_tournament_with_a_policy_is_merged_with_its_files(tmp_path: Path) -> None:
    entrants = ("--entrant", "small-atomic", "--entrant", "random")
    words = ("tournament", *entrants, "--deals", "2", "--mixed", "--set", "model=village", "--out")
    for out, more in (("whole", ()), ("1", ("--shard", "1/2")), ("2", ("--shard", "2/2"))):
        assert wolflab(*words, out, *more, cwd=tmp_path).returncode == 0
    assert wolflab("merge", "2", "1", "--out", "merged", cwd=tmp_path).returncode == 0
    files = [f.relative_to(tmp_path / "whole") for f in (tmp_path / "whole").rglob("*") if f.is_file()]
    assert any(file.parent.name == "policies" for file in files)
    for file in files:
        if not file.name.startswith(("run.",)):
            assert (tmp_path / "merged" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    assert records(tmp_path / "merged") == records(tmp_path / "whole")
    stops = "stop={every: 1, width: 0.1}"
    refused = wolflab(*words[:-4], "--set", "tables=cells", "--set", stops, "--shard", "1/2", cwd=tmp_path)
    assert "which no shard has; take out stop" in refused.stderr


def test_vectors_adaptations_lateness_and_a_registration_are_taken_over(tmp_path: Path) -> None:
    parts, embedder = shards(tmp_path, RANDOM), HashingEmbedder()
    registered = Registration.of(build(RANDOM)).written().encode()
    for n, path in enumerate(parts, 1):
        with EmbeddingCache.open(path / "run.sqlite") as cache:
            rows = np.full((2, 512), n, np.float32)
            cache.put(embedder, [b"both", b"%d" % n], rows, Usage(10 * n, 0, 0, 0.5))
        with Store.resume(path) as store:
            store.remember("late", f"{n}.0")
            keep_registration(store, registered)
            store._db.execute("INSERT INTO adaptations VALUES ('m', ?)", (f"what {n} forced",))
    for _ in range(2):
        merge_shards(parts[::-1], tmp_path / "merged")
    with EmbeddingCache.open_for_reading(tmp_path / "merged" / "run.sqlite") as cache:
        found = cache.get(embedder.digest, [b"both", b"1", b"2"])
        assert {text: vector[0] for text, vector in found.items()} == {b"both": 1, b"1": 1, b"2": 2}
        assert cache.spent() == Usage(30, 0, 0, 1.0)
    with Store.open_for_reading(tmp_path / "merged") as store:
        assert store.meta("late") == "2.0"
        kept = kept_registration(store)
        assert kept is not None
        assert not kept.deviations
        assert store.adaptations() == [("m", "what 1 forced"), ("m", "what 2 forced")]


def test_missing_shards_are_named_and_come_later_or_are_played_by_the_merged_run(tmp_path: Path) -> None:
    one, two, three = shards(tmp_path, RANDOM, 3)
    merged = tmp_path / "merged"
    with pytest.raises(ExperimentError, match=r"shards 1/3, 3/3 are missing"):
        merge_shards([two], merged)
    assert not (merged / "run.sqlite").exists()
    assert [*map(str, merge_shards([two], merged, partial=True))] == ["1/3", "3/3"]
    assert [*map(str, merge_shards([three], merged, partial=True))] == ["1/3"]
    with Store.resume(merged) as store:
        assert play_run(store)
    assert records(merged) == records(played(tmp_path / "whole", build(RANDOM)))
    with pytest.raises(StoreError, match=r"has begun games of .* \(shard 1/3\) itself"):
        merge_shards([one], merged, partial=True)
    with Store.create(tmp_path / "anew", build(RANDOM)) as store:  # a merge that was killed left this
        store.plan(planned_games(store.experiment), numbering(store.experiment))
    assert not merge_shards([one, two, three], tmp_path / "anew")
    assert records(tmp_path / "anew") == records(merged)


def other(path: Path, **changes: Any) -> Path:
    """The second shard of another experiment in place of that in a directory."""
    shutil.rmtree(path)
    return played(path, build({**RANDOM, **changes}).of_shard(2, 2))


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path / "run.sqlite")) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


SWAPPED = "UPDATE records SET data = (SELECT data FROM records WHERE game = {}) WHERE game = {}"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: other(path, name="u"), "their names are t and u"),
        (lambda path: other(path, seed=2), "other rules, players, seed, strata or probes decide"),
        (lambda path: other(path, deals=6), "they plan other games of all"),
        (lambda path: other(path, conditions={"a": {}}), "their conditions are all and a"),
        (lambda path: played(path / "x", build(RANDOM)).rename(path / "y"), r"shard 1/2\) and .*shard 1/2"),
        (lambda path: execute(path, "UPDATE meta SET value = '0.1' WHERE key = 'wolflab'"), "two versions"),
        (lambda path: execute(path, SWAPPED.format(2, 4)), "the record is that of"),
        (lambda path: execute(path, "UPDATE records SET data = x'00' WHERE game = 4"), "is no record"),
        (lambda path: execute(path, "UPDATE games SET deal = 0 WHERE id = 4"), "no game of this shard"),
    ],
    ids=["name", "seed", "plan", "conditions", "twice", "version", "record", "chain", "game"],
)
def test_what_does_not_belong_together_is_refused(
    spoil: Callable[[Path], Any], words: str, tmp_path: Path
) -> None:
    """And leaves no run that could go on without it."""
    first, second = shards(tmp_path, RANDOM)
    spoil(second)
    named = [first, first] if (second / "y").exists() else [first, second]
    with pytest.raises(WolflabError, match=words):
        merge_shards(named, tmp_path / "merged")
    assert not (tmp_path / "merged" / "run.sqlite").exists()


def test_a_shard_that_is_played_or_has_gone_on_and_another_run_are_refused(tmp_path: Path) -> None:
    first, second = shards(tmp_path, RANDOM)
    with held(second), pytest.raises(StoreError, match="is being run by another process"):
        merge_shards([first, second], tmp_path / "merged")
    merge_shards([first, second], tmp_path / "merged")
    with pytest.raises(StoreError, match="merged is no shard: it was begun without --shard"):
        merge_shards([first, tmp_path / "merged"], tmp_path / "more")
    with pytest.raises(StoreError, match="is another run than that of"):
        merge_shards([first, second], second)
    execute(second, "UPDATE games SET status = 'failed' WHERE id = 2")
    with pytest.raises(StoreError, match="has been played on since it was merged"):
        merge_shards([first, second], tmp_path / "merged")


@pytest.mark.parametrize(
    ("changes", "of", "words"),
    [
        ({}, 5, "5 shards are too many for 4 deals"),
        ({"budget": {"tokens": 1}}, 2, "a budget of 1 tokens cannot be divided among 2 shards"),
        ({"players": {"others": {"recipe": "person"}}}, 2, "a person plays in all"),
        (
            {
                "rules": "witch",
                "players": {
                    "others": {"model": "village", "recipe": "reflective", "experience": {"grow": 2}}
                },
            },
            2,
            "players of all learn from games of the run, which no shard has all of",
        ),
    ],
    ids=["more shards than deals", "budget", "people", "growing pool"],
)
def test_what_has_no_shards_says_so(changes: dict[str, Any], of: int, words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        build({**RANDOM, **changes}).of_shard(1, of)


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "a/b", "1/0"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ExperimentError, match=f"--shard {text}: that is no shard"):
        read_shard(text)
