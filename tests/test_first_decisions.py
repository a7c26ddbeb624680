"""A model whose first decisions are all without a usable reply stops its run between two games, unless it is
to keep going; what is left goes on once that is mended.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import http_server
import wolflab as package
from command_line import Ended, called, wolflab
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.first_decisions import FIRST, FirstDecisions
from wolflab.lab.runs.runner import Progress
from wolflab.lab.storage.store import GameRow, Store
from wolflab.ui.commands.run import run
from wolflab.ui.commands.status import status
from wolflab.ui.terminal.console import ExitCode

NONSENSE = "Well, I would rather not say."
WHY = "most often because “the reply holds no JSON object; answer with the JSON object asked for” (30 times)"


@pytest.fixture
def bad() -> Iterator[http_server.FakeServer]:
    """It never says anything of use."""
    with http_server.running(says=lambda prompt: NONSENSE) as server:
        yield server


def player(server: http_server.FakeServer, recipe: str = "vanilla") -> dict[str, Any]:
    """Who is asked once for each decision."""
    reached = {"model": "wolf-1", "base_url": server.base_url, "retries": 0, "timeout": 20}
    return {"model": reached, "recipe": {"name": recipe, "retries": 0}}


def experiment(others: dict[str, Any], **changes: Any) -> dict[str, Any]:
    rules = {"preset": "doctor", "max_rounds": 1}
    return {
        "name": "t",
        "rules": rules,
        "players": {"others": others},
        "deals": 6,
        "concurrency": 1,
        **changes,
    }


def games(path: Path) -> list[GameRow]:
    with Store.open_for_reading(path) as store:
        return store.games()


def decided(path: Path, row: GameRow) -> int:
    """How many decisions took a call in a game that is over, probes among them."""
    with Store.open_for_reading(path) as store:
        record = store.record(row.id)
    return sum(turn.seat >= 0 and bool(turn.calls) for turn in (*record.turns, *record.probes))


def played(data: dict[str, Any], path: Path, **more: Any) -> Ended:
    file = path.parent / "x.yaml"
    file.write_text(yaml.safe_dump(data))
    return called(run, str(file), out=path, **more)


def test_it_stops_between_two_games_and_says_who_why_and_how_to_go_on(
    bad: http_server.FakeServer, tmp_path: Path
) -> None:
    path = tmp_path / "r"
    ended = played(experiment(player(bad)), path)
    assert ended.returncode == ExitCode.BROKEN == 4
    rows = games(path)
    over, left = [row for row in rows if row.over], [row for row in rows if not row.over]
    assert over
    assert {row.status for row in left} == {"planned"}
    taken = [decided(path, row) for row in over]
    assert sum(taken[:-1]) < FIRST <= sum(taken)
    with Store.open_for_reading(path) as store:
        assert not any(store.calls(row.id) for row in left)
    text = ended.stdout
    why = f"one of the first {FIRST} decisions of wolf-1 · vanilla had a usable reply, {WHY}"
    assert f"N{why}. No further game begins; those under way are played to their end." in text
    assert f"{len(left)} games are planned: n{why}" in text
    again = f"Once that is mended, go on with: wolflab run --resume {path}. To go on all the same, add --keep"
    assert f"Some games are not over. {again}" in text
    told = called(status, [path]).stdout
    assert f"{len(left)} games unfinished, not begun: n{why}" in told
    assert again in told


@pytest.mark.parametrize("way", ["from the start", "at --resume"])
def test_it_keeps_going_where_that_is_asked_for(
    bad: http_server.FakeServer, tmp_path: Path, way: str
) -> None:
    file, run = tmp_path / "x.yaml", tmp_path / "r"
    file.write_text(yaml.safe_dump(experiment(player(bad), deals=4)))
    words = ["run", str(file), "--out", str(run)]
    if way == "at --resume":
        assert wolflab(*words).returncode == ExitCode.BROKEN
        words = ["run", "--resume", str(run)]
    told = wolflab(*words, "--keep-going")
    assert told.returncode == ExitCode.UNUSABLE, told.stderr
    assert "No further game begins" not in told.stdout
    assert all(row.over and not row.error for row in games(run))


def test_a_run_that_is_taken_up_counts_anew(bad: http_server.FakeServer, tmp_path: Path) -> None:
    """So that a mended server goes on, and one that is not stops it again."""
    path = tmp_path / "r"
    played(experiment(player(bad)), path)
    before = sum(row.over for row in games(path))
    assert called(run, resume=path).returncode == ExitCode.BROKEN
    rows = games(path)
    assert before < sum(row.over for row in rows) < len(rows)
    bad.says = None
    assert called(run, resume=path).returncode in (ExitCode.DONE, ExitCode.UNUSABLE)
    assert all(row.over and not row.error for row in games(path))


def test_what_was_on_file_before_does_not_count(bad: http_server.FakeServer, tmp_path: Path) -> None:
    """A game that is taken up in its middle is played again from its calls."""
    data = experiment(player(bad), rules={"preset": "doctor", "max_rounds": 8}, deals=1)
    path = tmp_path / "r"
    bad.faults.extend([http_server.Fault("text", body=NONSENSE)] * (FIRST + 1))
    bad.faults.append(http_server.Fault("status", 503))
    with Store.create(path, build(data)) as store:
        assert not runner.play_run(store)
        assert len(store.calls(1)) == FIRST + 1
    (path / "experiment.yaml").write_text(yaml.safe_dump(data | {"deals": 3}))
    bad.says = None
    with Store.resume(path) as store:
        assert runner.play_run(store, first=FirstDecisions())


def test_games_under_way_are_played_to_their_end_though_their_server_fails_meanwhile(
    bad: http_server.FakeServer, tmp_path: Path
) -> None:
    data = experiment(player(bad), rules={"preset": "doctor", "max_rounds": 8}, concurrency=3)
    told: list[str] = []

    def watch(progress: Progress) -> None:
        if progress.news and not told:
            told.append(progress.news)
            bad.faults.append(http_server.Fault("status", 503))

    with Store.create(tmp_path / "r", build(data)) as store:
        first = FirstDecisions()
        assert not runner.play_run(store, watch, first=first)
        status = [row.status for row in store.games()]
    assert told
    assert not bad.faults
    assert {*status[:3]} <= {"done", "void"}
    assert status[3:] == ["planned"] * 3


def test_one_usable_reply_among_the_first_is_enough(bad: http_server.FakeServer, tmp_path: Path) -> None:
    bad.says, answers = None, http_server.Fault("parts")
    bad.faults.extend([http_server.Fault("text", body=NONSENSE)] * (FIRST - 1))
    bad.faults.append(answers)
    bad.faults.extend([http_server.Fault("text", body=NONSENSE)] * 5_000)
    assert played(experiment(player(bad)), tmp_path / "r").returncode == ExitCode.UNUSABLE
    assert all(row.over for row in games(tmp_path / "r"))


def test_a_player_is_a_model_and_a_recipe_over_all_conditions(
    bad: http_server.FakeServer, tmp_path: Path
) -> None:
    """Neither the same model with another recipe nor a condition keeps it from being found out."""
    with http_server.running() as good:
        data = experiment(player(good, recipe="cot"), deals=1, conditions={})
        names = [f"c{number}" for number in range(40)]
        for name in names:
            data["conditions"][name] = {"players": {"Seer": player(bad)}}
        path = tmp_path / "r"
        ended = played(data, path)
    assert ended.returncode == ExitCode.BROKEN
    assert "None of the first 30 decisions of wolf-1 · vanilla had" in ended.stdout
    over = {row.condition for row in games(path) if row.over}
    assert 1 < len(over) < len(names)


def test_built_in_players_are_no_reason_to_stop(tmp_path: Path) -> None:
    """Not even one that is asked to fail, beside a model that answers."""
    failing = {"model": {"model": "village", "invalid": 1.0}, "recipe": {"name": "vanilla", "retries": 0}}
    with http_server.running() as good:
        data = experiment(failing, deals=3)
        data["players"]["Seer"] = player(good)
        assert played(data, tmp_path / "r").returncode == ExitCode.UNUSABLE
    assert all(row.over for row in games(tmp_path / "r"))


@pytest.mark.slow
def test_a_tournament_stops_too(bad: http_server.FakeServer, tmp_path: Path) -> None:
    sound = {"model": "village", "recipe": "vanilla"}
    entrants = {"sound": sound, "failing": player(bad)}
    data = {"name": "t", "rules": "doctor", "deals": 4, "entrants": entrants, "concurrency": 1}
    file, run = tmp_path / "t.yaml", str(tmp_path / "r")
    file.write_text(yaml.safe_dump(data))
    told = wolflab("tournament", str(file), "--out", run)
    assert told.returncode == ExitCode.BROKEN, told.stderr
    assert f"Once that is mended, go on with: wolflab tournament --resume {run}." in told.stdout
    assert any(row.status == "planned" for row in games(tmp_path / "r"))
    told = wolflab("tournament", "--resume", run, "--keep-going")
    assert told.returncode == ExitCode.UNUSABLE, told.stderr
    assert all(row.over for row in games(tmp_path / "r"))


def test_a_tournament_with_a_rule_for_stopping_does_not_go_on_to_its_next_look(
    bad: http_server.FakeServer, tmp_path: Path
) -> None:
    entrants = {"sound": {"model": "village", "recipe": "vanilla"}, "failing": player(bad)}
    data = {"name": "t", "rules": "doctor", "deals": 8, "entrants": entrants, "concurrency": 64}
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(data | {"stop": {"width": 0.01, "every": 2}}))
    told = wolflab("tournament", str(tmp_path / "t.yaml"), "--out", str(tmp_path / "r"))
    assert told.returncode == ExitCode.BROKEN, told.stderr
    rows = games(tmp_path / "r")
    assert {row.deal for row in rows if row.over} == {0, 1}


def test_from_python_what_is_left_is_planned_and_says_why(
    bad: http_server.FakeServer, tmp_path: Path
) -> None:
    news: list[str] = []

    def watch(progress: Progress) -> None:
        news.append(progress.news)

    run = package.run(experiment(player(bad)), out=tmp_path / "r", progress=watch)
    assert any("No further game begins" in told for told in news)
    table = list(run.games.rows())
    left = [row for row in table if row["state"] == "planned"]
    assert left
    assert all(WHY in row["error"] for row in left)
    again = package.run(resume=tmp_path / "r", keep_going=True, progress=False)
    assert {row["state"] for row in again.games.rows()} <= {"done", "void"}
