"""What a run will take, told before it begins; and how far it is, told from outside."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import forecast as simulated
import pytest
import yaml
from rich.console import Console

from command_line import wolflab
from embedding_server import EmbeddingServer
from http_server import FakeServer, Fault, running
from study_helpers import FILE
from study_helpers import written as written_study
from test_docs import ROOT, blocks
from wolflab.errors import ExperimentError
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.runs.forecast import RunForecast, Seen, SeenReply, forecast, observed_in
from wolflab.lab.runs.rehearsal import Rehearsal, rehearse, said_in
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.study_plan import load_study
from wolflab.ui.report.numbers import number
from wolflab.ui.terminal.forecast import forecast_first, forecast_underway
from wolflab.usage import Usage


def plain(server: FakeServer | None = None, **model: Any) -> dict[str, Any]:
    """An experiment of seven players with one model."""
    named = {"model": "wolf-1", "base_url": "http://127.0.0.1:9/v1" if server is None else server.base_url}
    return {
        "name": "x",
        "rules": {"preset": "sheriff", "max_rounds": 2},
        "deals": 3,
        "players": {"others": {"model": named | model, "recipe": "vanilla"}},
    }


def told(experiment: Experiment, seen: Seen = Seen(), rehearsed: Rehearsal | None = None) -> RunForecast:  # noqa: B008
    games = {name: len(experiment.places(name)) for name in experiment.conditions}
    return forecast(rehearsed or rehearse(experiment), games, seen)


# -- rehearsing ---------------------------------------------------------------------------------


def test_a_rehearsal_asks_nobody_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rehearsed = rehearse(build(plain()))
    assert not [*tmp_path.iterdir()]
    [games] = rehearsed.games.values()
    assert len(games) >= 3
    for game in games:
        assert {call.model for call in game.calls} == {"wolf-1"}
        assert 5 < game.chain < len(game.calls)  # some calls wait for each other, those of a vote do not
    assert any(call.quoted.get("wolf-1") for call in rehearsed.calls("wolf-1"))
    assert len(rehearsed.requests["wolf-1"]) == 24


def test_a_rehearsal_is_the_same_every_time() -> None:
    first, second = rehearse(build(plain())), rehearse(build(plain()))
    assert first.games == second.games


def test_a_rehearsal_shares_its_few_games_among_wordings() -> None:
    """Fewer games than wordings have some of the wordings."""
    for games, rehearsed in ((12, 10), (3, 3)):
        (played,) = rehearse(build(plain() | {"wordings": 5, "deals": 8}), games).games.values()
        assert len(played) == rehearsed


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(shipped_files()))
def test_every_shipped_experiment_can_be_planned(name: str) -> None:
    experiment = load_experiment(name)
    rehearsed = rehearse(experiment, 1)
    assert rehearsed.games.keys() == experiment.conditions.keys()
    assert bool(rehearsed.calls()) is not experiment.built_in


def test_what_is_said_is_found_in_a_reply() -> None:
    assert (
        said_in("/statement/|act|", '{"reasoning": "long", "statement": "I am the Seer."}')
        == "I am the Seer."
    )
    assert said_in("/statement/|act|", "<think>hm</think>I am the Seer.") == "I am the Seer."
    assert said_in("/vote/|act|", '{"statement": "I am the Seer."}') is None


# -- forecasts ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_planted_traits_are_found(tmp_path: Path) -> None:
    """Simulated models say more, think, are counted otherwise and fail: by 24 replies of each it is told."""
    for nth in (1, 2):
        outcomes = simulated.simulate(nth, 8, 24, tmp_path)
        for what in simulated.WHAT:
            assert outcomes["asked", what].held, (nth, what, outcomes)
            assert abs(outcomes["asked", what].above) < 0.35, (nth, what, outcomes)


def seen(n: int, **changes: Any) -> Seen:
    prompt, completion = changes.get("prompt", 1000), changes.get("completion", 100)
    usage = Usage(prompt, completion, 0, (prompt + 10 * completion) / 1e6)
    reply = SeenReply(1000, usage, changes.get("latency", 2.0), None, changes.get("again", False))
    return Seen({"wolf-1": [reply] * n})


def test_each_thing_that_is_seen_moves_its_number() -> None:
    experiment = build(plain(price={"input": 1.0, "output": 10.0}))
    rehearsed = rehearse(experiment)
    usual = told(experiment, seen(20), rehearsed)
    assert usual.hours is not None
    assert usual.usd is not None
    [model] = usual.models.values()
    assert model.completion.middle == pytest.approx(100 * model.calls.middle, rel=0.02)
    in_full = (model.prompt.middle + 10 * model.completion.middle) / 1e6
    assert usual.usd.middle == pytest.approx(in_full, rel=0.3)
    more = told(experiment, seen(20, prompt=2000, completion=300, latency=8.0), rehearsed)
    assert more.models["wolf-1"].prompt.middle == pytest.approx(2 * model.prompt.middle, rel=0.05)
    assert more.models["wolf-1"].completion.middle == pytest.approx(3 * model.completion.middle, rel=0.05)
    assert more.hours is not None
    assert more.hours.middle == pytest.approx(4 * usual.hours.middle, rel=0.05)
    again = Seen({"wolf-1": [*seen(20).replies["wolf-1"], *seen(20, again=True).replies["wolf-1"]]})
    assert told(experiment, again, rehearsed).calls.middle == pytest.approx(2 * usual.calls.middle, rel=0.1)
    informed, blind = told(experiment, seen(20), rehearsed), told(experiment, Seen({}, {}), rehearsed)
    assert informed.tokens.high / informed.tokens.low < blind.tokens.high / blind.tokens.low
    assert blind.hours is None
    both = told(experiment, again, rehearsed).hours
    assert both is not None
    assert both.middle == pytest.approx(2 * usual.hours.middle, rel=0.1)


def test_a_price_that_changed_is_todays() -> None:
    paid_nothing = Seen(
        {"wolf-1": [one._replace(usage=Usage(1000, 100)) for one in seen(20).replies["wolf-1"]]}
    )
    made = told(build(plain(price={"input": 1.0, "output": 10.0})), paid_nothing)
    assert made.usd is not None
    [model] = made.models.values()
    assert made.usd.middle == pytest.approx(
        (model.prompt.middle + 10 * model.completion.middle) / 1e6, rel=0.1
    )


def test_models_of_one_server_share_its_limit() -> None:
    one = plain(max_in_flight=1)
    two = plain(max_in_flight=1)
    two["players"]["player_1"] = {
        "model": {**two["players"]["others"]["model"], "model": "wolf-2"},
        "recipe": "vanilla",
    }
    replies = seen(20).replies["wolf-1"]
    alone, shared = (
        told(build(one), Seen({"wolf-1": replies})),
        told(build(two), Seen({"wolf-1": replies, "wolf-2": replies})),
    )
    assert alone.hours is not None
    assert shared.hours is not None
    assert shared.hours.middle == pytest.approx(alone.hours.middle, rel=0.1)


def test_games_that_are_over_tell_how_long_games_are() -> None:
    experiment = build(plain())
    rehearsed = rehearse(experiment)
    usual = sum(len(game.calls) for game in rehearsed.games["all"]) / len(rehearsed.games["all"])
    longer = Seen(seen(20).replies, {"all": [round(2 * usual)] * 6})
    assert told(experiment, longer, rehearsed).calls.middle == pytest.approx(
        2 * told(experiment, seen(20), rehearsed).calls.middle, rel=0.1
    )


def test_games_of_built_in_players_alone_tell_nothing_of_the_others() -> None:
    built_in = {"players": {"others": {"model": "village", "recipe": "vanilla"}}}
    experiment = build(plain() | {"conditions": {"asked": {}, "alone": built_in}})
    rehearsed = rehearse(experiment)
    usual = told(experiment, seen(20), rehearsed)
    over = told(experiment, Seen(seen(20).replies, {"alone": [0] * 6}), rehearsed)
    assert over.calls.middle == pytest.approx(usual.calls.middle, rel=0.05)


# -- the commands -------------------------------------------------------------------------------


def written(folder: Path, data: dict[str, Any]) -> str:
    (folder / "x.yaml").write_text(json.dumps(data))
    return "x.yaml"


def test_plan_tells_what_a_run_then_takes(tmp_path: Path) -> None:
    with running() as server:
        source = written(tmp_path, plain(server, price={"input": 1.0, "output": 2.0}))
        planned = wolflab("plan", source, "--ask", "12", cwd=tmp_path)
        assert planned.returncode == 0, planned.stderr
        assert server.calls == 12
        assert {path.name for path in tmp_path.iterdir()} == {"x.yaml"}
        done = wolflab("run", source, "--out", "r", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    text = " ".join(planned.stdout.split())
    assert "3 games." in text
    assert "wolf-1 was asked 12 prompts" in text
    assert re.search(r"time: \d+ seconds?", text)
    assert "no context" in text
    assert "others (wolf-1)" in text
    assert "no price" not in text
    assert "By its first" in done.stdout
    assert "the run will take" in done.stdout


def test_a_plan_of_built_in_players_says_that_nothing_is_paid() -> None:
    done = wolflab("plan", "quickstart")
    assert done.returncode == 0
    assert "nothing is asked of a model, and nothing is paid" in done.stdout


def test_the_readmes_example_runs_within_its_own_budget(tmp_path: Path) -> None:
    """All of the forecast, and not its middle alone, which is what the plan warns of."""
    (example,) = (block for block in blocks(ROOT / "README.md") if block.language == "yaml")
    (tmp_path / "my-sheriff.yaml").write_text(example.text, encoding="utf-8")
    stops = "tokens is less: the run will stop there"
    assert stops not in wolflab("plan", "my-sheriff.yaml", "--games", "4", cwd=tmp_path).stdout
    few = ("--set", "budget.tokens=2000000", "--games", "4")
    assert stops in wolflab("plan", "my-sheriff.yaml", *few, cwd=tmp_path).stdout
    experiment = build(yaml.safe_load(example.text))
    assert experiment.budget.tokens is not None
    assert told(experiment).tokens.high <= experiment.budget.tokens


def test_a_run_that_may_cost_much_is_begun_after_a_yes_alone(tmp_path: Path) -> None:
    with running() as server:
        source = written(tmp_path, plain(server, price={"input": 50.0, "output": 50.0}))
        refused = wolflab("run", source, "--out", "r", cwd=tmp_path)
        assert refused.returncode == 2
        assert re.search(r"up to [\d,.]+ USD: begin it with wolflab run x.yaml --out r --yes", refused.stderr)
        assert not (tmp_path / "r").exists()
        asked_before = server.calls
        budget = wolflab("run", source, "--out", "b", "--set", "budget.usd=2", cwd=tmp_path)
        assert budget.returncode == 1  # it stops at the budget
        assert server.calls > asked_before
        assert wolflab("run", source, "--out", "r", "--yes", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(("answer", "begun"), [("y\n", True), ("\n", False)])
def test_at_a_terminal_it_is_asked(
    answer: str, begun: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = io.StringIO(answer)
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", typed)
    experiment = build(plain(price={"input": 50.0}))
    if begun:
        assert forecast_first(Console(), experiment, False, "x --yes").rehearsal is not None
    else:
        with pytest.raises(ExperimentError, match="begin it with x --yes"):
            forecast_first(Console(), experiment, False, "x --yes")
    assert "Begin it? [y/N]" in capsys.readouterr().err


def test_tokens_that_nobody_knows_the_price_of_are_much_too_unless_the_server_is_here() -> None:
    there = plain() | {"deals": 3000}
    assert forecast_first(Console(quiet=True), build(there), False, "x --yes").rehearsal is not None
    there["players"]["others"]["model"]["base_url"] = "https://models.example.org/v1"
    with pytest.raises(ExperimentError, match="tokens of models without a price: begin it"):
        forecast_first(Console(quiet=True), build(there), False, "x --yes")
    assert forecast_first(Console(quiet=True), build(there), True, "x --yes").rehearsal is not None
    limited = build(there | {"budget": {"tokens": 1_000_000}})
    assert forecast_first(Console(quiet=True), limited, False, "x --yes").rehearsal is not None


def test_a_model_is_checked_with_its_settings() -> None:
    with running() as server:
        done = wolflab("models", "--check", "wolf-1", "--set", f"base_url={server.base_url}")
    first, *asked = done.stdout.splitlines()
    assert first == "wolf-1: reached"
    assert [line.split(":")[0].strip() for line in asked] == [
        "a vote",
        "a statement",
        "a judgement of the others",
        "a vote, in a second turn",
    ]
    assert all(": usable (" in line for line in asked)
    assert wolflab("models", "--set", "timeout=3").returncode == 2


FAILING = """
from wolflab.agents import OwnAgent


class Failing(OwnAgent):
    asks_model = True

    async def reply(self, view, ask, io):
        raise ValueError("no plan")
"""


def test_an_agent_of_ones_own_that_fails_in_the_rehearsal_is_no_forecast(tmp_path: Path) -> None:
    (tmp_path / "failing_agent.py").write_text(FAILING)
    with running() as server:
        data = plain(server, price={"input": 1.0})
        data["players"]["others"]["recipe"] = "failing_agent:Failing"
        source = written(tmp_path, data)
        planned = wolflab("plan", source, cwd=tmp_path)
        begun = wolflab("run", source, "--out", "r", cwd=tmp_path)
        assert server.calls == 0
    assert planned.returncode == begun.returncode == 2
    assert re.search(r"3 of 3 rehearsed games failed, the first with: .*no plan", planned.stderr)
    assert "cannot be told" in begun.stdout
    assert "an amount that is not known: begin it with wolflab run x.yaml --out r --yes" in begun.stderr


@pytest.mark.slow
def test_a_run_that_goes_on_with_more_is_asked_for_again_and_a_yes_is_kept(tmp_path: Path) -> None:
    with running() as server:
        price = {"input": 20.0, "output": 20.0}
        source = written(tmp_path, plain(server, price=price, max_tokens=60) | {"deals": 1})
        assert wolflab("run", source, "--out", "r", cwd=tmp_path).returncode == 0
        before = server.calls
        more = ("run", "--resume", "r", "--set", "deals=12")
        refused = wolflab(*more, cwd=tmp_path)
        assert refused.returncode == 2
        assert "begin it with wolflab run --resume r --set deals=12 --yes" in refused.stderr
        assert server.calls == before
        assert wolflab("verify", "r", cwd=tmp_path).returncode == 0  # nothing of it was written down
        server.faults.extend([Fault("status", 401)] * 3)
        assert wolflab(*more, "--yes", cwd=tmp_path).returncode in (1, 2)
        server.faults.clear()
        assert wolflab("run", "--resume", "r", cwd=tmp_path).returncode == 0


def test_it_is_told_anew_with_the_first_game_that_is_over(tmp_path: Path) -> None:
    with running() as server:
        done = wolflab("run", written(tmp_path, plain(server)), "--out", "r", cwd=tmp_path)
    [told_anew] = re.findall(r"By its first (\d+) repl", done.stdout)
    assert int(told_anew) > 5


def test_with_the_only_game_over_nothing_is_forecast(tmp_path: Path) -> None:
    with running() as server:
        done = wolflab("run", written(tmp_path, plain(server) | {"deals": 1}), "--out", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "will take" not in done.stdout.partition("r\n")[2]


def test_a_forecast_underway_is_what_was_taken_and_what_is_left(tmp_path: Path) -> None:
    price = {"input": 1.0, "output": 2.0}
    with running() as server:
        data = plain(server, price=price) | {"deals": 4}
        experiment = build(data)
        rehearsed = rehearse(experiment)
        with Store.create(tmp_path / "r", build(data | {"deals": 3})) as store:
            assert play_run(store)
            store.change(experiment)
            came = store.called().totals
            calls, tokens, usd = came.calls, came.usage.tokens, came.usage.cost
            found = forecast_underway(experiment, rehearsed, store)
            assert found is not None
            in_all, seen = found
            whole = told(experiment, Seen(observed_in(store).replies), rehearsed)
            assert play_run(store)
            assert forecast_underway(experiment, rehearsed, store) is None
    assert seen == calls
    assert in_all.games == 1
    for span, before, full in (
        (in_all.calls, calls, whole.calls),
        (in_all.tokens, tokens, whole.tokens),
        (in_all.usd, usd, whole.usd),
    ):
        assert span is not None
        assert full is not None
        assert span.low - before == pytest.approx(full.middle / 4, rel=0.6)
        assert span.high - before == pytest.approx(full.middle / 4, rel=0.6)


def test_void_games_that_nobody_plays_again_are_not_forecast(tmp_path: Path) -> None:
    with running() as server:
        data = plain(server) | {"deals": 6, "redraw_void": False}
        experiment = build(data | {"rules": {"preset": "sheriff", "sheriff": "contested", "max_rounds": 1}})
        with Store.create(tmp_path / "r", experiment) as store:
            assert play_run(store)
            assert store.games("void")
            assert forecast_underway(experiment, rehearse(experiment), store) is None
            console = Console(file=io.StringIO())
            assert forecast_first(console, experiment, False, "x --yes", store).rehearsal is None


def test_what_is_on_file_of_games_that_were_begun_is_told_apart(tmp_path: Path) -> None:
    with running() as server:
        source = written(tmp_path, plain(server) | {"deals": 1})
        server.faults.extend([*[Fault("parts")] * 9, Fault("status", 401)])
        assert wolflab("run", source, "--out", "r", cwd=tmp_path).returncode == 1
        with Store.open_for_reading(tmp_path / "r") as store:
            came = store.called().totals
            calls, tokens = came.calls, came.usage.tokens
        told = wolflab("run", "--resume", "r", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert f"Of this, {calls} calls, {tokens:,} tokens are on file" in told.stdout


def test_models_of_one_name_with_other_prices_are_told_apart(tmp_path: Path) -> None:
    with running() as server:
        data = plain(server, price={"input": 0.01, "output": 0.01})
        dear = {"model": "wolf-1", "base_url": server.base_url, "price": {"input": 9.0, "output": 9.0}}
        data["players"]["player_1"] = {"model": dear, "recipe": "vanilla"}
        done = wolflab("plan", written(tmp_path, data), "--ask", "3", cwd=tmp_path)
        assert server.calls == 6
    assert "wolf-1 (1) was asked 3 prompts" in done.stdout
    assert "wolf-1 (2) was asked 3 prompts" in done.stdout
    made = told(build(data))
    assert made.usd is not None
    assert made.models["wolf-1 (1)"].usd is not None
    assert made.models["wolf-1 (1)"].usd.middle < made.models["wolf-1 (2)"].usd.middle / 20  # type: ignore[union-attr]


def test_no_reply_is_longer_than_allowed() -> None:
    made = told(build(plain(max_tokens=20))).models["wolf-1"]
    assert made.completion.high <= 20.01 * made.calls.high


def test_a_budget_of_tokens_is_a_yes_for_models_with_a_price() -> None:
    dear = build(plain(price={"input": 50.0, "output": 50.0}) | {"budget": {"tokens": 5000}})
    assert forecast_first(Console(quiet=True), dear, False, "x --yes").rehearsal is not None


def test_prompts_that_were_paid_for_count_though_others_fail(tmp_path: Path) -> None:
    with running(latency=0.01) as server:
        source = written(tmp_path, plain(server, price={"input": 1.0}, max_in_flight=1, retries=0))
        server.faults.extend([*[Fault("parts")] * 5, *[Fault("status", 402)] * 9])
        done = wolflab("plan", source, "--ask", "9", cwd=tmp_path)
    assert done.returncode == 0
    assert "wolf-1 was asked 5 prompts" in done.stdout
    assert "Not all prompts were answered" in done.stdout


@pytest.mark.slow
def test_a_rehearsal_stops_at_once(tmp_path: Path) -> None:
    source = written(tmp_path, plain() | {"deals": 4000})
    command = [sys.executable, "-m", "wolflab", "plan", source, "--games", "4000"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(6)  # it is in the middle of some minutes' work
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=15) == 130


def test_the_command_with_a_higher_budget_is_one_that_works(tmp_path: Path) -> None:
    with running() as server:
        source = written(tmp_path, plain(server) | {"budget": {"tokens": 9_000}})
        done = wolflab("run", source, "--out", "r", cwd=tmp_path)
        assert done.returncode == 1
        told = re.search(
            r"Go on with a higher budget: wolflab (run --resume r --set budget.tokens=(\d+))", done.stdout
        )
        assert told is not None, done.stdout
        assert int(told[2]) >= 18_000
        assert "Go on with a higher budget" in wolflab("status", "r", cwd=tmp_path).stdout
        large = wolflab("run", "--resume", "r", "--set", "budget.tokens=20000000", cwd=tmp_path)
        assert large.returncode == 0


def test_a_closed_input_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ExperimentError, match="begin it with x --yes"):
        forecast_first(Console(quiet=True), build(plain(price={"input": 50.0})), False, "x --yes")


# -- of a study ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(shipped_files("studies")))
def test_every_shipped_study_can_be_planned(name: str) -> None:
    study = load_study(name)
    rehearsed = rehearse(study.on_agents, 1)
    assert rehearsed.games.keys() == study.expected.keys()
    at_table = study.people * study.games / len(study.seats)
    assert at_table <= sum(study.expected.values()) <= 1.5 * at_table


def study(folder: Path, **model: Any) -> Path:
    """Three people with two games each among six players of a model that is nowhere."""
    others = {"model": {"model": "wolf-1", "base_url": "http://127.0.0.1:9/v1"} | model, "recipe": "vanilla"}
    seats = {"player_1": {"recipe": "person"}, "others": others}
    return written_study(folder, experiment=FILE["experiment"] | {"players": seats})


def test_a_study_is_planned_by_its_people_and_their_games(tmp_path: Path) -> None:
    file = study(tmp_path, price={"input": 1, "output": 5})
    told = wolflab("plan", str(file), cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "6 games. What they will take" in told.stdout
    assert "wolf-1" in told.stdout
    assert f"To begin it: wolflab study {file}" in told.stdout
    assert wolflab("plan", str(file), "--set", "deals=2", cwd=tmp_path).returncode == 2


def test_a_dear_study_begins_with_a_yes(tmp_path: Path) -> None:
    with running() as server:
        file = study(tmp_path, base_url=server.base_url, price={"input": 1000, "output": 5000})
        refused = wolflab("study", str(file), "--out", "s", "--port", "0", cwd=tmp_path)
    assert refused.returncode == 2
    assert "This may take up to" in refused.stderr
    assert "--yes" in refused.stderr
    assert not (tmp_path / "s").exists()


# -- of calls outside games ---------------------------------------------------------------------


@pytest.mark.slow
def test_a_dear_evaluation_begins_with_a_yes_or_a_budget(tmp_path: Path) -> None:
    wolflab("wwqa", "build", "--n", "200", "-o", "q.jsonl", cwd=tmp_path)
    with running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url, "price": {"input": 50_000, "output": 50_000}}
        words = ["wwqa", "eval", "q.jsonl", "--limit", "4", "-o", "e", "--model", json.dumps(model)]
        refused = wolflab(*words, cwd=tmp_path)
        assert refused.returncode == 2
        assert re.search(r"wolf-1: \d+ calls, about [\d,]+ prompt tokens, at most", refused.stdout)
        assert re.search(r"This may take up to \d[\d,.]+ USD: begin it with .*--yes", refused.stderr)
        assert "--tokens" in refused.stderr
        assert server.calls <= 1  # the trial call
        assert not (tmp_path / "e").exists()
        bounded = wolflab(*words, "--usd", "9", cwd=tmp_path)
        assert bounded.returncode == 1
        assert "may take up to" not in bounded.stderr
        few = wolflab(*words[:-3], "g", *words[-2:], "--tokens", "100", cwd=tmp_path)
        assert few.returncode == 1
        asked = server.calls
        assert wolflab(*words[:-3], "f", *words[-2:], "--yes", cwd=tmp_path).returncode == 0
        assert server.calls > asked


def test_cheap_calls_are_told_and_not_asked_about(tmp_path: Path) -> None:
    with running() as server:
        source = written(
            tmp_path, plain() | {"players": {"others": {"model": "village", "recipe": "vanilla"}}}
        )
        wolflab("run", source, "--out", "r", cwd=tmp_path)
        words = ["ask-again", "r", "-n", "6", "--model", "wolf-1", "--set", f"base_url={server.base_url}"]
        told = wolflab(*words, "-o", "a", cwd=tmp_path)
        again = wolflab(*words, "-o", "a", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert re.search(r"wolf-1: 6 calls, about [\d,]+ prompt tokens, .*; cost not known", told.stdout)
    assert "prompt tokens," not in again.stdout


# -- how far it is ------------------------------------------------------------------------------


def test_status_of_a_run_that_is_over_and_of_one_that_its_server_stopped(tmp_path: Path) -> None:
    with running() as server:
        source = written(tmp_path, plain(server))
        wolflab("run", source, "--out", "r", cwd=tmp_path)
        over = wolflab("status", "r", cwd=tmp_path).stdout
        server.faults.extend([*[Fault("parts")] * 20, *[Fault("status", 401)] * 50])
        assert wolflab("run", source, "--out", "s", cwd=tmp_path).returncode == 1
        stopped = wolflab("status", "s", cwd=tmp_path).stdout
    assert "s: stopped; 0 of 3 games over" in stopped
    assert "3 games unfinished, begun: " in stopped
    assert "Go on with: wolflab run --resume s" in stopped
    assert "r: over; 3 of 3 games over" in over
    assert re.search(r"\d+ calls, [\d.]+\s?[kM] tokens, at no known cost", over)
    assert "Go on with" not in over


def test_status_names_what_was_under_way_at_a_kill(tmp_path: Path) -> None:
    """And how to go on; afterwards nothing is under way, and no call was made twice but those."""
    with running(latency=0.15) as server:
        source = written(tmp_path, plain(server) | {"budget": {"tokens": 10_000_000}})
        command = [sys.executable, "-m", "wolflab", "run", source, "--out", "r"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=-1, stderr=-1)
        while server.calls < 20 and process.poll() is None:
            time.sleep(0.01)
        playing = wolflab("status", "r", cwd=tmp_path).stdout
        process.send_signal(signal.SIGKILL)
        process.communicate()
        stopped = wolflab("status", "r", cwd=tmp_path).stdout
        lock = tmp_path / "r" / "run.lock"
        lock.write_text(f"node-7 123 {lock.stat().st_ino}\n")
        elsewhere = wolflab("status", "r", cwd=tmp_path).stdout
        server.latency = 0.0
        assert wolflab("run", "--resume", "r", cwd=tmp_path).returncode == 0
        over = wolflab("status", "r", cwd=tmp_path).stdout
    assert "r: being played; 0 of 3 games over" in playing
    assert "under way" in playing
    assert "the budget is 10,000,000 tokens" in stopped
    found = re.search(r"(\d+) calls? (?:was|were) under way when it was stopped", stopped)
    assert found is not None, stopped
    assert int(found[1]) >= 1
    assert re.search(r"game/\d, \d/\w+/\d\|\w+.*, of wolf-1", stopped)
    assert "Go on with: wolflab run --resume r" in stopped
    state = "r: last taken up on node-7, and whether it goes on there cannot be seen from here; 0 of 3 games"
    assert state in elsewhere
    assert "under way when it was last written. If it has stopped, the answers were not stored" in elsewhere
    assert "If it does not, go on with: wolflab run --resume r" in elsewhere
    assert "r: over" in over
    assert "under way" not in over


@pytest.mark.slow
def test_status_of_an_evaluation_that_its_server_stopped(tmp_path: Path) -> None:
    """And that goes on to its end."""
    wolflab("wwqa", "build", "--n", "200", "-o", "q.jsonl", cwd=tmp_path)
    words = ["wwqa", "eval", "q.jsonl", "--split", "situations", "--limit", "12", "-o", "e"]
    with running() as server:
        command = [
            *words,
            "--model",
            "wolf-1",
            "--set",
            f"base_url={server.base_url}",
            "--set",
            "max_in_flight=1",
        ]
        server.faults.extend([*[Fault("parts")] * 6, *[Fault("status", 401)] * 20])
        assert wolflab(*command, cwd=tmp_path).returncode == 1
        stopped = wolflab("status", "e", cwd=tmp_path).stdout
        server.faults.clear()
        wolflab(*command, cwd=tmp_path)
        over = wolflab("status", "e", cwd=tmp_path).stdout
    found = re.search(r"wolf-1: (\d+) of 12 done", stopped)
    assert found is not None, stopped
    assert 1 <= int(found[1]) <= 6
    assert "the command that began it goes on" in stopped
    assert "wolf-1: 12 of 12 done" in over
    assert "e: calls alone, of a judge or an evaluation; over" in over


def test_status_of_a_judge_and_of_what_is_nothing(tmp_path: Path) -> None:
    with running() as server:
        source = written(
            tmp_path, plain(server) | {"players": {"others": {"model": "village", "recipe": "vanilla"}}}
        )
        wolflab("run", source, "--out", "r", cwd=tmp_path)
        wolflab("annotate", "sample", "r", "-o", "labels", cwd=tmp_path)
        judged = wolflab(
            "annotate",
            "judge",
            "labels",
            "--model",
            "wolf-1",
            "--set",
            f"base_url={server.base_url}",
            cwd=tmp_path,
        )
        assert judged.returncode in (0, 1), judged.stderr
    [home] = {path.parent for path in (tmp_path / "labels").rglob("run.sqlite")}
    of_judge = wolflab("status", str(home)).stdout
    assert "calls alone, of a judge or an evaluation" in of_judge
    assert re.search(r"wolf-1: \d+ of \d+ done", of_judge)
    nothing = wolflab("status", str(tmp_path))
    assert nothing.returncode == 2
    assert "Traceback" not in nothing.stderr


def test_what_embedders_take_is_told_though_nothing_is_asked_of_a_model() -> None:
    """By the games of the condition in which a text was first given, and by all for what is given before."""
    embedder = {"embedder": "openai/em", "price": {"input": 1.0}}
    learner = {"embedder": embedder, "experience": {"grow": 1, "embedder": embedder}}
    few = {"deals": 8, "players": {"village": learner}}
    data = {
        "name": "x",
        "rules": {"preset": "witch", "max_rounds": 2},
        "players": {"others": {"model": "village", "recipe": "reflective"}},
        "conditions": {"few": few, "many": {"deals": 800}},
    }
    experiment = build(data)
    rehearsed = rehearse(experiment, 16)
    (texts,) = told(experiment, rehearsed=rehearsed).models.values()
    ((given, _),) = rehearsed.texts.values()
    assert texts.embeds
    scales = {"few": 1, "many": 100, "": 808 / 16}
    assert given["few"] > 0
    assert texts.prompt.middle == pytest.approx(sum(n * scales[name] for name, n in given.items()))
    assert texts.usd is not None
    assert texts.usd.low > 0


@pytest.mark.slow
def test_what_an_embedder_takes_is_told_before_and_afterwards(tmp_path: Path) -> None:
    """By the plan, by status with the budget beside it, and in the report."""
    with running() as server, running(EmbeddingServer(dimensions=8)) as vectors:
        model = {"model": "wolf-1", "base_url": server.base_url, "price": {"input": 1, "output": 1}}
        embedder = {"embedder": "em", "base_url": vectors.base_url, "price": {"input": 1000}}
        data = plain() | {
            "deals": 1,
            "players": {"others": {"model": model, "recipe": "reflective", "embedder": embedder}},
            "budget": {"usd": 500},
        }
        source = written(tmp_path, data)
        before = wolflab("plan", source, cwd=tmp_path).stdout
        assert re.search(r"em \(texts\).*\d", before), before
        assert wolflab("run", source, "--out", "r", "--yes", cwd=tmp_path).returncode == 0
        status = wolflab("status", "r", cwd=tmp_path).stdout
    with Store.open_for_reading(tmp_path / "r") as store:
        usd = float(store.spent().usd)
        took = store.spent_on_texts()
    assert took.cost > 0.5 * usd > 0
    assert number(usd, "usd") in status
    numbers = json.loads((tmp_path / "r" / "report.json").read_text())
    assert numbers["embedded"]["prompt_tokens"] == took.prompt_tokens
    assert "Texts were embedded as well" in (tmp_path / "r" / "report.html").read_text()
