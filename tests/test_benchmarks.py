"""`wolflab bench`, and the programs in `benchmarks/`: each runs at tiny size and prints what it is for.

They run in this process, where everything is imported already.
"""

from __future__ import annotations

import io
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tiny_models import tiny_base
from wolflab.agents.policy.checkpoint import load_policy
from wolflab.bench.prompts import BASE, LAYOUTS, PLAYED
from wolflab.bench.suite import PARTS
from wolflab.cli import app

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow
TINY: dict[str, Sequence[str]] = {
    "benchmarks/auroc_coverage.py": ("--repeats", "3"),
    "benchmarks/budgets.py": shlex.split("--in-flight 3 --times 20 --seeds 1 --timeouts 0 50"),
    "benchmarks/chaos.py": ("--kills", "4", "--deals", "1", "--only", "run", "workers"),
    "benchmarks/code_size.py": (),
    "benchmarks/commits.py": shlex.split("--turns 2 --calls 1 2 --rounds 1"),
    "benchmarks/damage.py": shlex.split("--seeds 2 --made run --only errors show verify"),
    "benchmarks/engines.py": shlex.split("--in-flight 4 --latency 0.05 --processes 2 --seconds 1"),
    "benchmarks/engines_alike.py": ("--games", "2"),
    "benchmarks/experience.py": ("40", "--queries", "3"),
    "benchmarks/finetune_speed.py": ("--shape", "tiny", "--questions", "8", "rank=2 dtype=float32"),
    "benchmarks/forecast.py": shlex.split("--runs 1 --trainings 1 --rounds 1 --deals 6 --ask 6"),
    "benchmarks/growing.py": ("2",),
    "benchmarks/hostile_patterns.py": ("--under", "text.reading.votes", "--shown", "2"),
    "benchmarks/http_client.py": shlex.split("--in-flight 1 --calls 2 --rounds 1 --games 1 --latency 0.001"),
    "benchmarks/interval_coverage.py": shlex.split(
        "--play populations --played 6 --repeats 2 --deals 6 --games 3"
    ),
    "benchmarks/large_run.py": ("--games", "40"),
    "benchmarks/local_speed.py": shlex.split("--rows 2 --tokens 4 --vocabulary 500 --device cpu"),
    "benchmarks/luck.py": shlex.split("--rules 002 --deals 10 --entrants 1"),
    "benchmarks/many_games.py": ("--games", "6", "14", "--played", "4"),
    "benchmarks/mixed_tables.py": ("--deals", "5"),
    "benchmarks/people.py": ("--studies", "2"),
    "benchmarks/planted_server.py": shlex.split("learning --http --games 30 --seeds 1 --rounds 1"),
    "benchmarks/prompt_games.py": ("--games", "1", "--out", "games.jsonl.gz"),
    "benchmarks/runs_in_browser.py": ("--games", "12", "--played", "4", "--times", "1"),
    "benchmarks/recorded_learning.py": shlex.split("--games 60 --explore 1 --seeds 1"),
    "benchmarks/studies.py": ("--studies", "1", "--people", "2", "--games", "1"),
    "benchmarks/withdrawals.py": ("--studies", "1", "--people", "4"),
    "benchmarks/two_versions.py": (
        *("--against", str(ROOT), "--rounds", "1", "--size", "1"),
        *("--only", "games/deductive", "rollouts", "calls"),
    ),
    "benchmarks/wwqa_leaks.py": ("sheriff", "--train", "60", "--test", "40", "--kind", "may-vote-for"),
    "benchmarks/wordings.py": ("weights", "--deals", "2", "--wordings", "3"),
    "benchmarks/replay.py": ("--days", "1", "--no-browser"),
    "benchmarks/village_fit.py": ("--games", "4", "--rounds", "1", "--out", "parameters.json"),
    "benchmarks/web_tables.py": ("--tables", "1", "--spectators", "1", "--seconds", "6"),
    "examples/train_pettingzoo.py": ("--games", "20", "--batch", "10", "--measured", "20"),
}
"""What makes a program's work small."""


def printed(program: str, *words: str, code: int = 0) -> str:
    """What a program says, started with these words in the working directory."""
    text, file, before = io.StringIO(), ROOT / program, set(sys.modules)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(text):
        patch.setattr(sys, "argv", [program, *words])
        patch.setattr(sys, "path", [str(file.parent), *sys.path])
        try:
            runpy.run_path(str(file), run_name="__main__")
            ended = 0
        except SystemExit as end:
            ended = int(end.code or 0)
    for name in set(sys.modules) - before:  # the next program may have another module of that name
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == file.parent:
            del sys.modules[name]
    assert ended == code, text.getvalue()
    return text.getvalue()


def test_the_bench_of_prompts_has_every_layout() -> None:
    done = CliRunner().invoke(app, ["bench", "prompts", "--share", "0.001"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in done.output.splitlines() if "│" in line
    ]
    assert [row[1] for row in rows] == [*LAYOUTS] * (len(PLAYED) + 1)
    for _, layout, characters, known, *prices in rows:
        assert float(characters.replace(",", "")) > 0
        assert 0 < float(known) < 1
        assert all(float(price) > 0 for price in prices)
        assert layout != BASE or set(prices) == {"1.00"}


@pytest.mark.parametrize("part", [part for part in PARTS if part != "prompts"])
def test_every_part_of_the_bench_measures(part: str) -> None:
    done = CliRunner().invoke(app, ["bench", part, "--share", "0.001"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in done.output.splitlines() if "│" in line
    ]
    assert rows[0][0].startswith("reference:")
    assert len(rows) > 1
    for what, measured, unit, _ in rows:
        assert float(measured.replace(",", "")) >= 0, what
        assert unit, what
    assert any(float(measured.replace(",", "")) > 0 for _, measured, _, _ in rows[1:])


@pytest.mark.parametrize(
    ("program", "pattern"),
    [
        (
            "benchmarks/interval_coverage.py",
            r"(?s)synthetic +ratio +design +6 +3( +\d+\.\d){3} +0\.\d{4} +2  weighted 100.0\n.*"
            r"draws 0.3, 0.3 +village_win +none +7×5 +3( +\d+\.\d){3} +0\.\d{4} +2\n.*"
            r"elected +dc − +none +6 +3( +\d+\.\d){3} +0\.\d{4} +2  equal \d+\.\d  p \d+\.\d\n",
        ),
        (
            "benchmarks/auroc_coverage.py",
            r"100 deals × 4, 30% with.*AUROC \d+\.\d% \(± 0\.\d+\), difference \d+\.\d% \(n = 3\)",
        ),
        ("benchmarks/budgets.py", r"\| calls at once \| timeouts .*\n\| 3 \| 0 % \| [1-9][\d.]*% to"),
        (
            "benchmarks/chaos.py",
            r"(?s)\| run \| 2 \| \d+ \| \d+ \| \d+ \| \d+ \(0\) \| 0 \| [1-9]\d*, as undis.*"
            r"\| workers \| [23] \| \d+ \| \d+ \| \d+ \| \d+ \(0\) \| 0 \| [1-9]\d*, as undis",
        ),
        (
            "benchmarks/code_size.py",
            r"rules +[1-9]\d{3} (?s:.*)\nsrc +[1-9]\d{4} (?s:.*)\nlines of tests: [1-9]\d{4}\n",
        ),
        ("benchmarks/commits.py", r"ratio \|\n.*\n\| 1 \| [\d.]+ \| [\d.]+ \| [\d.]+ \|\n\| 2 \|"),
        (
            "benchmarks/damage.py",
            r"[1-9]\d commands ended on 2 damaged copies and on a whole one.*\n0 of them without a sentence",
        ),
        (
            "benchmarks/engines.py",
            r"made \| MB \|\n\| 2( \| [1-9]\d*){2}( \| \d+\.\d+){7} \| [1-9]",
        ),
        ("benchmarks/engines_alike.py", r"(?s)\| one process \| .*2 workers .*, merged \| .*all the same\n"),
        ("benchmarks/experience.py", r"(?s)drawn, 40 experiences.*texts, 40 experiences.*largest memory"),
        (
            "benchmarks/finetune_speed.py",
            r"\| rank=2 dtype=float32 \| 0.0 / 0 \| \w+, float32 \| [\d.]+ \| [1-9][\d,]* \| 1.00 \| ",
        ),
        (
            "benchmarks/forecast.py",
            r"(?s)\| asked \| tokens \| [01] of 1 \| [+-]\d+\.\d % \|.*\| training, asked \| usd \| [01] of",
        ),
        (
            "benchmarks/luck.py",
            r"002 +obey 0.6 − village +10 +-?[\d.]+ +-?\d+% +-?\d+%\n(?s:.*)wins of 1 entrants: [+-]0\.\d",
        ),
        ("benchmarks/local_speed.py", r"generate: [\d,]+ tokens a second\nhf/…: [\d,]+ tokens .* of it"),
        (
            "benchmarks/recorded_learning.py",
            r"60 +1.0 +ridge +-?\d+% +-?\d+% +[01] of 1 +[01] of 1 +\d+\.\d\n(?s:.*)AWR(?s:.*)IQL +-?\d+%",
        ),
        ("benchmarks/growing.py", r"2 deals in [\d.]+ s.*\ngames read for it: \d+; files: [1-9]"),
        (
            "benchmarks/mixed_tables.py",
            r"(?s)\| skill 0\.1 \| overall \| -?\d.*\n\d+ of 12 agree\n.*mixed tables: \d+ rated games\n",
        ),
        (
            "benchmarks/large_run.py",
            r"(?s)games a second: first tenth [1-9].*ratio \d.*tenth by tenth:( \d+){10}\n.* kB a game\n"
            r"report: .*a page of show: .*status: .* MB\nverify: .* as fast\nplain loops: .*; ratio \d+\.\d",
        ),
        (
            "benchmarks/hostile_patterns.py",
            r"(?s)\| text.reading.votes \| .*\| \d\.\d\d \|\n[1-9]\d* patterns, .* in steps: 0\n.*\n"
            r"\| read \| .*[1-9]\d* statements of 1000 characters; the slowest takes \d+ ms",
        ),
        (
            "benchmarks/http_client.py",
            r"(?s)÷ openai .*\n\| 1 \| 1 \| [1-9]\d* \| [\d.]+ ms .*÷ \(chain.*\n\| 1 \| [1-9]",
        ),
        (
            "benchmarks/wwqa_leaks.py",
            r"sheriff  may-vote-for +[56]\d +[34]\d +0\.\d+ +[01]\.\d.*\n[01] of",
        ),
        ("benchmarks/planted_server.py", r" likeliest\n +30 +1( +-?\d+%){4}\n +30 +mean( +-?\d+%){4}\n"),
        (
            "benchmarks/prompt_games.py",
            r"sheriff, deductive: [1-9]\d* replies.*\n.*\n.*\n.*games.jsonl.gz: [1-9]",
        ),
        (
            "benchmarks/runs_in_browser.py",
            r"(?s)table of 12 games.*list of runs +first +[\d.]+ ms, then +[\d.]+ ms \(ratios .*replay",
        ),
        (
            "benchmarks/two_versions.py",
            r"(?s)games/deductive: .* ms a game, ratio \d.*; 1 of 1 records the same\n"
            r"rollouts: .* ms a decision, .*; 10 of 10 arrays .*\ncalls: .* ms a call, .*; 1 of 1 records",
        ),
        ("benchmarks/withdrawals.py", r"all: 0 faults; [1-9]\d* withdrew"),
        ("benchmarks/studies.py", r"\| person_ratio \| 1\.40 \| [12]\.\d+ \| [01] of [01] \|"),
        ("benchmarks/replay.py", r"\d+ events, 1 days: \d+\.\d\d MB"),
        ("benchmarks/web_tables.py", r"(?s)1 tables of 7.* [1-9]\d* statements\n.*median \d+ ms.*ratio \d"),
        ("benchmarks/village_fit.py", r"round 1 doctor: the village won \d of 4\nround 1: scale \d+"),
    ],
)
def test_a_program_prints_what_it_is_for(
    program: str, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = printed(program, *TINY[program])
    assert re.search(pattern, text), text


def test_planted_worth_in_estimates_and_in_play() -> None:
    program = "benchmarks/planted_server.py"
    text = printed(program, *shlex.split("estimates --games 30 --repeats 2"))
    assert re.search(r"adds 6\.3 points: [0-2] of 2 .*\n.* adds 0\.0 points: [0-2] of 2 ", text), text
    text = printed(program, *shlex.split("played --games 30 --seeds 1 --deals 20"))
    assert re.search(r"1  every +20 .* -?\d+\.\d\n +1  one +1\d .* -?\d\.\d\n", text), text


def test_tables_where_hostile_statements_are_said() -> None:
    words = ("--hostile", "text.reading.votes", "--tables", "1", "--seconds", "6")
    text = printed("benchmarks/web_tables.py", *words)
    assert re.search(
        r"(?s)1 tables of 4 people and 3 players, [1-9]\d* hostile texts.*within 200 ms: \d", text
    ), text


def test_tables_in_fast_motion_print_what_they_hold() -> None:
    text = printed("benchmarks/web_tables.py", "--tables", "1", "--hours", "0.02")
    assert re.search(
        r"memory after the first twelfth and at the end: \d+ and \d+ MB; ratio [01]\.\d", text
    ), text


def test_who_wins_is_played_for_every_preset() -> None:
    text = printed("benchmarks/village_fit.py", "--strength", "1")
    assert len(re.findall(r"against \w+ Werewolves: the village wins (?:100|0).0% of 1\n", text)) == 20


def test_policies_that_were_never_trained_can_be_loaded(tmp_path: Path) -> None:
    files = printed("benchmarks/untrained.py", str(tmp_path)).split()
    assert [load_policy(file).network.name for file in files] == ["small"] * 3


def test_what_is_taken_of_the_candidates_that_are_offered(tmp_path: Path) -> None:
    """Each turn has a first idea, and one candidate of each turn is taken."""
    words = ["strategic-behaviours", "--village", "--set", "deals=4", "--set", "workers=1", "--out"]
    assert CliRunner().invoke(app, ["run", *words, str(tmp_path / "run")]).exit_code == 0
    text = printed("benchmarks/candidates_taken.py", str(tmp_path / "run"))
    rows = re.findall(r"(\w+) +(Werewolf|Seer/Doctor) +(.*\S) +(\d+)% +(\d+)%\n", text)
    first = {(condition, who): offered for condition, who, what, offered, _ in rows if "first idea" in what}
    assert first == {(one, who): "100" for one in ("diverse", "ours") for who in ("Werewolf", "Seer/Doctor")}
    for key in first:
        taken = sum(int(n) * int(share) / 1e4 for *of, _, n, share in rows if tuple(of) == key)
        assert 0.9 < taken < 1.05  # rare kinds are not printed


def test_the_cost_of_a_report_of_many_games() -> None:
    text = printed("benchmarks/many_games.py", *TINY["benchmarks/many_games.py"], "--again", "--behaviours")
    assert re.search(r"a start alone: [\d.]+ s of processor time, \d+ MB", text)
    for games in (6, 14):
        found = re.search(rf"{games} games: ([\d.]+) s \(([\d.]+) times the first, .*\), (\d+) MB \(", text)
        assert found is not None, text
        assert float(found[1]) > 0
        assert int(found[3]) > 20  # more than a bare interpreter


def test_how_far_wordings_move_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_base(tmp_path / "weights", spread=0.2)
    text = printed("benchmarks/wordings.py", *TINY["benchmarks/wordings.py"])
    assert re.search(
        r"deal 1: seat \d \(0\.\d\d\), seat \d .*\nanother player than in wording 0: \d of 4", text
    )
    assert re.search(r"between deals \d\.\d\d, between wordings \d\.\d\d \(0\.\d\d to \d\.\d\d\), rest", text)


def test_the_same_games_from_two_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This version beside itself plays them; beside one with another seed it does not."""

    def wolflab(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        other = ["--set", "seed=77"] if words[0] == "other" and words[1] == "run" else []
        return subprocess.CompletedProcess(words, CliRunner().invoke(app, [*words[1:], *other]).exit_code)

    monkeypatch.setattr(subprocess, "run", wolflab)
    only = ("--deals", "1", "--only", "quickstart", "--keep", str(tmp_path))
    text = printed("benchmarks/same_games.py", "this", "this", *only)
    assert re.search(r"quickstart: (\d+) games \(\1 byte for byte\), \d+ numbers: no differences", text)
    shutil.rmtree(tmp_path / "after")
    text = printed("benchmarks/same_games.py", "this", "other", *only, code=1)
    assert re.search(r"quickstart: \d+ games \(0 byte for byte\), \d+ numbers: \d+ differences", text)
