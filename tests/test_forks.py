"""Forks: they have their parent's lines up to a turn, ask nobody for these, and go on from there."""

from __future__ import annotations

import html
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import http_server
from command_line import wolflab
from test_run import committed_calls, over_http, records
from test_verify import change
from wolflab.errors import ExperimentError, RecordError
from wolflab.lab.data.rows import DataSource, data_rows
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.specs import ForkSpec
from wolflab.lab.results.costs import run_cost
from wolflab.lab.results.forks import fork_results
from wolflab.lab.results.summaries import summary
from wolflab.lab.results.unusable_replies import ErrorSummary
from wolflab.lab.runs.forecast import taken_in
from wolflab.lab.runs.forks import fork_of
from wolflab.lab.runs.rehearsal import rehearse
from wolflab.lab.runs.repeatability import repeatability
from wolflab.lab.runs.runner import play_run
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.storage.packing import CallRow, pack, unpack
from wolflab.lab.storage.store import Place, Store
from wolflab.metrics import MeasuringOptions
from wolflab.metrics.days import days_of
from wolflab.metrics.forks import x_votes
from wolflab.metrics.play import seat_turns
from wolflab.metrics.rows import row_of
from wolflab.models.base import Response
from wolflab.models.calls import response_digest
from wolflab.record import GameRecord, Writer, read_record
from wolflab.record.chain import Chain
from wolflab.rules import PRESETS, ROLES, Said, Say, SheriffNamed, Voted

VILLAGE: dict[str, Any] = {"model": {"model": "village", "follow_sheriff": 0.5}, "recipe": "deductive"}
LED: dict[str, Any] = {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop"}
ARMS: dict[str, Any] = {
    "as-said": {"continuations": 2},
    "silent": {"change": "silent"},
    "stance": {"change": "stance"},
    "other-seat": {"change": "other-seat"},
    "x": {"say": "I ask you all to vote for {x}."},
    "y": {"say": "I ask you all to vote for {y}."},
}


def forked(arms: dict[str, Any] = ARMS, **changes: Any) -> dict[str, Any]:
    forks = {name: {"fork": {"games_of": "base", **arm}} for name, arm in arms.items()}
    given = {"name": "t", "rules": LED, "players": {"others": VILLAGE}, "deals": 4, "straw_polls": 1}
    return {**given, "conditions": {"base": {}, **forks}, **changes}


def run(path: Path, data: dict[str, Any]) -> Path:
    with Store.create(path, build(data)) as store:
        assert play_run(store)
    return path


def bare(lines: list[bytes]) -> list[dict[str, Any]]:
    """The lines without hashes."""
    values = (msgspec.json.decode(line) for line in lines)
    return [{name: part for name, part in value.items() if name not in ("h", "after")} for value in values]


def pairs(store: Store, condition: str) -> list[tuple[GameRecord, GameRecord]]:
    """(parent, fork) of every fork of a condition."""
    found = []
    for row in store.games():
        if row.condition == condition:
            parent = store.parent(Place.of(row))
            assert parent is not None
            found.append((store.record(parent.id), store.record(row.id)))
    return found


OFFICES: list[dict[str, Any]] = [
    {"rules": LED, "stratify": "sheriff_side", "redraw_void": False, "deals": 8},
    {"rules": {"preset": "sheriff", "sheriff": "drawn"}},
    {
        "rules": {"preset": "sheriff", "sheriff": "elected"},
        "players": {"others": {"recipe": "random"}},
        "at": "2/statement/sheriff",
        "deals": 12,
    },
]


@pytest.mark.parametrize("given", OFFICES, ids=["assigned", "drawn", "succeeded"])
def test_the_office_goes_to_another_and_the_words_stay(given: dict[str, Any], tmp_path: Path) -> None:
    """The night is the same; who would have been Sheriff says the same, in its own place."""
    changes = {name: value for name, value in given.items() if name != "at"}
    at = {"at": given["at"]} if "at" in given else {}
    data = forked({"office": {"change": "other-sheriff", **at}}, **changes)
    with Store.open_for_reading(run(tmp_path / "r", data)) as store:
        both = pairs(store, "office")
        assert both
        for parent, fork in both:
            header = fork.header["fork"]
            round, _, seat = header["at"].split("/")
            named = [[e for e in one.events if isinstance(e, SheriffNamed)] for one in (parent, fork)]
            k = next(k for k, (was, now) in enumerate(zip(*named, strict=False)) if was != now)
            was, now = named[0][k], named[1][k]
            assert (was.seat, now.seat, was.how) == (int(seat), header["sheriff"], now.how)
            assert header["sheriff"] != header["x"]
            assert said(fork, header["at"]) == said(parent, header["at"])
            day = [turn.seat for turn in fork.turns if turn.kind == "statement" and turn.round == int(round)]
            assert day[-1] == now.seat
            nights = [
                [turn for turn in one.turns if turn.round == int(round) and turn.at < one.events.index(event)]
                for one, event in ((parent, was), (fork, now))
            ]
            assert [turn.action for turn in nights[0] if turn.kind not in ("drawn", "succeed")] == [
                turn.action for turn in nights[1] if turn.kind not in ("drawn", "succeed")
            ]
            if "stratify" in given:
                assert len({ROLES[parent.roles[one.seat]].wolf for one in (was, now)}) == 1
        found = verify_run(store, True)
        assert found.holds, found.faults


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("forks") / "r", forked())


LEADERS = [
    {"preset": name, "sheriff": how}
    for name in PRESETS
    for how in ("assigned", "elected", "drawn", "contested")
]


@pytest.mark.parametrize("rules", LEADERS, ids=lambda rules: f"{rules['preset']}-{rules['sheriff']}")
def test_a_fork_without_a_change_is_its_parent_line_for_line(rules: dict[str, Any], tmp_path: Path) -> None:
    arms = {f"day-{day}": {"at": f"{day}/statement/sheriff"} for day in (1, 2)}
    run(tmp_path / "r", forked(arms, rules=rules, deals=1))
    with Store.open_for_reading(tmp_path / "r") as store:
        both = [*pairs(store, "day-1"), *pairs(store, "day-2")]
        assert both
        for parent, fork in both:
            assert bare(fork.lines[1:]) == bare(parent.lines[1:])
            assert bare(fork.probe_lines) == bare(parent.probe_lines)


@pytest.mark.parametrize(
    "player",
    [
        {"recipe": "random"},
        {"model": "village", "recipe": "vanilla"},
        {"model": {"model": "village", "invalid": 0.3}, "recipe": "deductive-002"},
        {"model": "village", "recipe": "reflective"},
        {"model": "village", "recipe": "strategic"},
    ],
    ids=lambda player: player["recipe"],
)
def test_any_player_goes_on_with_a_game_as_its_own(player: dict[str, Any], tmp_path: Path) -> None:
    """What it remembers follows from its view and its notes. Stand-ins are drawn as before."""
    arms = {"day": {"at": "2/statement/sheriff"}, "x": {"say": "Vote for {x}."}}
    data = forked(arms, players={"others": player}, deals=2, probes=["rate", "guess"], interview=True)
    with Store.open_for_reading(run(tmp_path / "r", data)) as store:
        for parent, fork in pairs(store, "day"):
            assert bare(fork.lines[1:]) == bare(parent.lines[1:])
            assert bare(fork.probe_lines) == bare(parent.probe_lines)
        found = verify_run(store, True)
        assert found.holds, found.faults


def test_a_forks_lines_are_its_parents_up_to_its_turn(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        for name in ARMS:
            both = pairs(store, name)
            assert len(both) == 4 * ARMS[name].get("continuations", 1)
            for parent, fork in both:
                assert fork.fork is not None
                at = fork.fork.get("from", fork.fork["at"])
                then = next(turn.at for turn in parent.turns if turn.ask == at)
                assert fork.events[:then] == parent.events[:then]
                before = [turn for turn in parent.turns if turn.at < then]
                assert fork.turns[: len(before)] == before


def test_the_changed_words_are_what_the_others_hear(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        names = PRESETS["sheriff"].names
        for parent, fork in pairs(store, "x"):
            assert fork.fork is not None
            assert said(fork, fork.fork["at"]) == f"I ask you all to vote for {names[fork.fork['x']]}."
            assert said(parent, fork.fork["at"]) != said(fork, fork.fork["at"])
        for (_, x), (_, y) in zip(pairs(store, "x"), pairs(store, "y"), strict=True):
            assert x.fork is not None
            assert y.fork is not None
            assert (x.fork["x"], x.fork["y"]) == (y.fork["x"], y.fork["y"])
        assert not any(said(fork, fork.header["fork"]["at"]) for _, fork in pairs(store, "silent"))
        for parent, fork in pairs(store, "other-seat"):
            forked = fork.header["fork"]
            words = said(parent, forked["at"])
            assert said(fork, forked["at"]) == ""
            assert said(fork, forked["from"]) == f"{said(parent, forked['from'])} {words}".strip()
        for _, fork in pairs(store, "stance"):
            words = said(fork, fork.header["fork"]["at"])
            assert words.startswith("Vote for player_")
            assert len(words.split()) == 3


def said(record: GameRecord, ask: str) -> str:
    turn = next(turn for turn in record.turns if turn.ask == ask)
    assert isinstance(turn.action, Say)
    heard = [event.text for event in record.events[turn.at :] if isinstance(event, Said)]
    assert heard[0] == turn.action.text
    return turn.action.text


def test_continuations_share_their_draws_across_arms(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        first, second = pairs(store, "as-said")[:2]
        assert bare(first[1].lines[1:]) == bare(first[0].lines[1:])
        assert bare(second[1].lines[1:]) != bare(second[0].lines[1:])
        assert second[1].header["play"] == f"{first[1].header['play']}/1"
        assert {fork.header["play"] for _, fork in pairs(store, "x")} == {
            parent.header["play"] for parent, _ in pairs(store, "x")
        }


def test_forks_verify_with_their_agents_and_a_changed_one_is_found(played: Path, tmp_path: Path) -> None:
    with Store.open_for_reading(played) as store:
        for agents in (False, True):
            found = verify_run(store, agents)
            assert found.holds, found.faults
            assert found.good == len(store.games())
    other = run(tmp_path / "r", forked({"x": {"say": "Vote for {x}."}}, deals=1))
    with Store.open_for_reading(other) as store:
        fork = store.record(2)
    lines = unpack(pack(fork.lines, fork.probe_lines).data).lines
    assert lines == fork.lines
    text = (other / "experiment.yaml").read_text()
    (other / "experiment.yaml").write_text(text.replace("Vote for {x}.", "Vote for {y}."))
    with Store.open_for_reading(other) as store:
        faults = verify_run(store, False).faults
    assert any("game 1 gives" in fault for fault in faults)


def test_a_fork_of_another_parent_is_found(tmp_path: Path) -> None:
    home = run(tmp_path / "r", forked({"silent": {"change": "silent"}}, deals=2))
    with Store.open_for_reading(home) as store:
        one, other = (row.id for row in store.games() if row.condition == "silent")
    where = f"(SELECT data FROM records WHERE game = {other}) WHERE game = {one}"
    change(home, f"UPDATE records SET data = {where}")
    with Store.open_for_reading(home) as store:
        assert verify_run(store, False).faults


def test_forks_of_forks_go_on_from_forks(tmp_path: Path) -> None:
    data = forked({"x": {"say": "Vote for {x}.", "continuations": 2}}, deals=6)
    data["conditions"]["again"] = {"fork": {"games_of": "x", "at": "2/statement/sheriff"}}
    with Store.open_for_reading(run(tmp_path / "r", data)) as store:
        both = pairs(store, "again")
        assert both
        for parent, fork in both:
            assert parent.fork is not None
            assert bare(fork.lines[1:]) == bare(parent.lines[1:])
        assert verify_run(store, True).holds


def test_processes_change_nothing(tmp_path: Path) -> None:
    arms = {name: ARMS[name] for name in ("silent", "x")}
    one, two = (run(tmp_path / f"{n}", forked(arms, workers=n)) for n in (1, 2))
    assert records(one) == records(two)


def test_void_games_have_no_forks_and_those_in_their_place_have(tmp_path: Path) -> None:
    home = run(tmp_path / "r", forked({"x": {"say": "Vote for {x}.", "continuations": 2}}, deals=12, seed=2))
    with Store.open_for_reading(home) as store:
        by: dict[str, set[int]] = {"base": set(), "x": set()}
        for row in store.games("done"):
            by[row.condition].add(row.deal)
        assert store.games("void")
        assert max(by["base"]) >= 12
        assert by["x"] == by["base"]
        numbers = [row.id for row in store.games()]
        assert len(set(numbers)) == len(numbers)
        assert verify_run(store, False).holds


# -- calls ------------------------------------------------------------------------------------


def test_a_fork_makes_no_call_that_its_parent_has_made(tmp_path: Path) -> None:
    arms = {"as-said": {}, "silent": {"change": "silent"}}
    with http_server.running() as server:
        data = over_http(server, **{k: forked(arms)[k] for k in ("conditions",)}, deals=2)
        home = run(tmp_path / "r", data)
        with Store.open_for_reading(home) as store:
            made = {"base": 0, "as-said": 0, "silent": 0}
            for row in store.games():
                made[row.condition] += sum(total.calls for total in store.game_totals(row.id).values())
            assert made["as-said"] == 0
            assert 0 < made["silent"] < made["base"]
            shown = {one.name: one.measures["calls"].value for one in summary(store).conditions}
            assert shown == {name: calls / 2 for name, calls in made.items()}
            assert verify_run(store, True).holds
            rows = [row for row in store.games() if row.condition == "silent"]
            keys = [key for row in rows for key in store.committed_keys(row.id)]
            assert not any("|1/kill/" in key or "|1/straw/" in key for key in keys)


def test_a_kill_in_mid_fork_makes_no_call_twice(tmp_path: Path) -> None:
    arms = {"silent": {"change": "silent"}, "x": {"say": "Vote for {x}.", "continuations": 2}}
    with http_server.running(latency=0.01) as server:
        data = over_http(server, conditions=forked(arms)["conditions"], deals=2)
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(data))
        parents = run(tmp_path / "parents", {**data, "conditions": {"base": {}}})
        wanted = committed_calls(parents) + 15
        arguments = [sys.executable, "-m", "wolflab", "run", "x.yaml", "--out", "r"]
        process = subprocess.Popen(
            arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while committed_calls(tmp_path / "r") < wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        committed, before = committed_calls(tmp_path / "r"), server.calls
        assert committed >= wanted
        resumed = wolflab("run", "--resume", "r", cwd=tmp_path)
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        assert server.calls - before == committed_calls(tmp_path / "r") - committed
        unbroken = run(tmp_path / "unbroken", data)
    assert records(tmp_path / "r") == records(unbroken)


NUMBERS = "twelve whole numbers"
"""Words of the request that is made twice."""


@pytest.mark.parametrize(
    ("repeats", "failing", "same", "words"),
    [
        (True, 0, True, "same words twice: arms share draws"),
        (False, 0, False, "other words: arms do not share draws"),
        (True, 2, None, "not tested: model 'wolf-1'"),
    ],
)
def test_a_server_is_asked_the_same_twice(
    tmp_path: Path, repeats: bool, failing: int, same: bool | None, words: str
) -> None:
    """Once: not again when the run goes on, unless it failed. It costs what it costs, and stops no game."""
    times = count()

    def says(prompt: str) -> str:
        other = f"{NUMBERS}: {next(times)}" if NUMBERS in prompt and not repeats else prompt
        return http_server.answer(prompt, salt=other) + (other if NUMBERS in prompt else "")

    with http_server.running(says=says) as server:
        server.faults.extend([http_server.Fault("status", 503)] * failing)
        data = over_http(server, conditions=forked({"silent": {"change": "silent"}})["conditions"], deals=1)
        data["players"]["others"]["model"] |= {"price": {"input": 1.0, "output": 2.0}, "temperature": 0.5}
        home = run(tmp_path / "r", data)
        asked = [body for body in server.bodies if NUMBERS in str(body["messages"])]
        assert {(body["seed"], body["temperature"]) for body in asked} == {(1, 0.5)}
        with Store.open_for_reading(home) as store:
            (found,) = repeatability(store)
            assert (found.model, found.same) == ("wolf-1, temperature 0.5", same)
            total = summary(store)
            made = sum(len(store.filed(who)) for who in store.askers() if who.startswith("asked twice/"))
            assert made == (0 if failing else 2)
            assert sum(one.calls for one in total.outside_games.values()) == made
            assert total.cost.usd == pytest.approx(float(store.spent().usd))
            assert run_cost(store) == total.cost
            assert taken_in(store)[0].usage.cost == pytest.approx(total.cost.usd)
            assert verify_run(store, True).holds
        rows = [row for table, row in data_rows(DataSource(home), ["calls"])]
        assert sum(row["cost"] for row in rows) == pytest.approx(total.cost.usd)
        assert sum(row["game"] is None for row in rows) == made
        shown = wolflab("report", str(home), "--out", str(tmp_path / "page.html"))
        assert f"wolf-1, temperature 0.5: {words}" in " ".join(shown.stdout.split())
        assert words in html.unescape((tmp_path / "page.html").read_text())
        with Store.resume(home, ["deals=2"]) as store:
            assert play_run(store)
            assert repeatability(store)[0].same is repeats
        assert sum(NUMBERS in str(body["messages"]) for body in server.bodies) == len(asked) + failing


def test_data_say_where_a_fork_comes_from(played: Path) -> None:
    rows = [row for _, row in data_rows(DataSource(played), ["games"])]
    by = {row["game"]: row for row in rows}
    forks = [row for row in rows if row["condition"] == "as-said"]
    assert [row["continuation"] for row in forks[:2]] == [0, 1]
    assert all(by[row["parent"]]["condition"] == "base" for row in forks)
    assert all(by[row["parent"]]["deal"] == row["deal"] for row in forks)
    assert {row["fork_change"] for row in rows} == {None, "none", "silent", "stance", "other-seat", "say"}
    base = [row for row in rows if row["condition"] == "base"]
    assert {(row["parent"], row["continuation"], row["fork_turn"]) for row in base} == {(None, None, None)}


def test_a_rehearsal_counts_the_calls_after_the_turn() -> None:
    with http_server.running() as server:
        arms = {"as-said": {}, "silent": {"change": "silent"}}
        found = rehearse(build(over_http(server, conditions=forked(arms)["conditions"])), 6)
        assert server.calls == 0
    calls = {name: sum(len(game.calls) for game in games) for name, games in found.games.items()}
    assert calls["as-said"] == 0
    assert 0 < calls["silent"] < calls["base"]


# -- what is measured ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def obeying(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Followers that were planted, in forks that ask for X and for Y."""
    conditions: dict[str, Any] = {}
    for obey in (0.0, 0.5, 1.0):
        model = {"model": "village", "heed_sheriff": False, "follow_sheriff": obey}
        conditions[f"{obey}"] = {"players": {"others": {"model": model}}}
        for arm in ("x", "y"):
            conditions[f"{obey}-{arm}"] = {"fork": {"games_of": f"{obey}", **ARMS[arm]}}
        twice = {"games_of": f"{obey}", "change": "silent", "continuations": 2}
        conditions[f"{obey}-silent"] = {"fork": twice}
    apart = {f"{obey}-x": f"{obey}-y" for obey in (0.0, 0.5, 1.0)}
    data = forked(
        {},
        conditions=conditions,
        baseline=apart,
        rules=LED | {"max_rounds": 1},
        deals=24,
        planted={"measure": "votes_for_x", "setting": "follow_sheriff", "conditions": [*apart]},
    )
    return run(tmp_path_factory.mktemp("obeying") / "r", data)


def test_planted_followers_are_found_by_asking_for_x_and_for_y(obeying: Path) -> None:
    with Store.open_for_reading(obeying) as store:
        found = summary(store)
    effects = {effect.truth: effect for effect in found.planted}
    assert sorted(effects) == [0.0, 0.5, 1.0]
    assert all(effect.recovered for effect in effects.values())
    assert effects[0.0].found.value == pytest.approx(0.0, abs=0.02)
    all_follow = effects[1.0].found
    assert all_follow.value == all_follow.high == 1.0
    assert all_follow.low is not None
    assert 0.5 < all_follow.low < 1.0


def test_votes_for_x_are_those_of_the_others_on_that_day(obeying: Path) -> None:
    with Store.open_for_reading(obeying) as store:
        for row in store.games("done"):
            record = store.record(row.id)
            counted = x_votes(record, days_of(record))
            if record.fork is None:
                assert counted is None
                continue
            speaker = int(record.fork["at"].split("/")[2])
            apart = {speaker, record.fork["x"], record.fork["y"]}
            cast = [
                event.target
                for event in record.events
                if isinstance(event, Voted) and event.what == "eliminate" and event.voter not in apart
            ]
            assert counted == (cast.count(record.fork["x"]), len(cast))


def test_replies_that_a_fork_shares_count_for_its_parent_alone(tmp_path: Path) -> None:
    """What was asked up to the turn, and the changed words, were asked in the parent. other-seat begins
    earlier; who spoke in between is asked again.
    """
    arms = {"day": {"at": "2/statement/sheriff"}, "other-seat": ARMS["other-seat"]}
    model = {"model": "village", "invalid": 0.3}
    data = forked(arms, players={"others": {"model": model, "recipe": "deductive-002"}}, deals=6)
    asked = MeasuringOptions(behaviours=True)
    names = "invalid", "illegal", "several_answers", "unread", "stand_ins", "reasonable", "votes_passed"
    with Store.open_for_reading(run(tmp_path / "r", data)) as store:
        every = row_of(store.record(1), asked)
        for parent, fork in pairs(store, "day"):
            then = next(turn.at for turn in parent.turns if turn.ask == fork.header["fork"]["at"])
            before, whole, own = (row_of(record, asked) for record in (cut(parent, then), parent, fork))
            for name in names:
                both = zip(before.sums_of(name), own.sums_of(name), strict=True)
                assert [(one or 0) + (other or 0) for one, other in both] == [*whole.sums_of(name)], name
        for _, fork in pairs(store, "other-seat"):
            at, first = (fork.header["fork"][name] for name in ("at", "from"))
            asks = [turn.ask for turn in fork.turns if turn.seat >= 0]
            after = {ask for ask in asks[asks.index(first) + 1 :] if ask != at}
            assert {turn.ask for turn in seat_turns(fork) if turn.probe is None} == after
    assert every.sums_of("stand_ins")[0]


def cut(record: GameRecord, at: int) -> GameRecord:
    """The record up to the turn that is asked after that many events, and what is said there."""
    turns, probes = ([turn for turn in some if turn.at <= at] for some in (record.turns, record.probes))
    return replace(record, events=record.events[: at + 1], turns=turns, probes=probes)


def test_an_unfinished_fork_counts_its_own_decisions(tmp_path: Path) -> None:
    """A budget ends in mid-fork. A decision of the recipe vanilla is one call."""
    with http_server.running() as server:
        data = over_http(server, conditions=forked({"silent": {"change": "silent"}})["conditions"], deals=1)
        with Store.open_for_reading(run(tmp_path / "whole", data)) as store:
            limit = int(0.93 * store.spent().tokens)
        with Store.create(tmp_path / "part", build(data | {"budget": {"tokens": limit}})) as store:
            assert not play_run(store)
            parent, fork = store.games()
            assert (parent.status, fork.status) == ("done", "unfinished")
            with ErrorSummary(store) as errors:
                (tally,) = errors.unfinished(fork).tallies.values()
            assert tally.decisions == tally.replies == len(store.committed_keys(fork.id)) > 0


def test_the_report_has_noise_and_identified_persuasion(obeying: Path, tmp_path: Path) -> None:
    with Store.open_for_reading(obeying) as store:
        found = {fork.condition: fork for fork in fork_results(store)}
    assert found["0.5-x"].differing is None
    quiet, noisy = found["1.0-silent"], found["0.5-silent"]
    assert (quiet.games, quiet.without, quiet.parent) == (24, 0, "1.0")
    assert noisy.differing is not None
    assert noisy.differing.value is not None
    assert 0 <= noisy.differing.value < 1
    shown = wolflab("report", str(obeying), "--out", str(tmp_path / "page.html"))
    assert "0.5-silent: votes that differ between continuations of a game" in shown.stdout
    page = (tmp_path / "page.html").read_text()
    for obey in ("0.5", "1.0"):
        assert f"What differs from {obey}-y:\n  {obey}-x: fork: of {obey}, say" in shown.stdout
    assert "differs from its baseline in" in page
    assert "Identified persuasion, where one asks for X and the other for Y" in page
    assert "votes that differ" in page


# -- one game ------------------------------------------------------------------------------------


def test_one_game_is_forked_into_a_run_of_its_own(played: Path, tmp_path: Path) -> None:
    words = ("--say", "Vote for {x}.", "-k", "3", "-o", "forks")
    made = wolflab("fork", str(played), "1", *words, cwd=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    with Store.open_for_reading(played) as parent, Store.open_for_reading(tmp_path / "forks") as store:
        assert [row.condition for row in store.games()] == ["base", "fork", "fork", "fork"]
        assert store.record(1).lines == parent.record(1).lines
        found = verify_run(store, True)
        assert found.holds, found.faults
    shown = wolflab("show", "forks", "3", cwd=tmp_path).stdout
    assert "a fork at 1/statement/" in shown
    assert "(say: Vote for {x}.), continuation 1" in " ".join(shown.split())
    assert wolflab("replay", "forks", "2", cwd=tmp_path).returncode == 0


def test_of_several_continuations_the_named_one_alone_is_forked(tmp_path: Path) -> None:
    """Its number is part of the keys of its draws, also in forks of forks."""
    arms = {"silent": {"change": "silent", "continuations": 3}}
    data = forked(arms, deals=1, repeats=2)
    data["conditions"]["twice"] = {"fork": {"games_of": "silent", "continuations": 2}}
    with Store.open_for_reading(run(tmp_path / "r", data)) as store:
        silent, twice = (
            [row for row in store.games() if row.condition == name] for name in ("silent", "twice")
        )
        kept = {str(row.id): store.record(row.id).lines for row in (silent[4], twice[9])}
    for game, conditions in zip(kept, (["base", "silent"], ["base", "silent", "twice"]), strict=True):
        words = ("--say", "Vote for {x}.", "-k", "2", "-o", game)
        made = wolflab("fork", "r", game, *words, cwd=tmp_path)
        assert made.returncode == 0, made.stdout + made.stderr
        with Store.open_for_reading(tmp_path / game) as store:
            rows = store.games()
            assert [row.condition for row in rows] == [*conditions, "fork", "fork"]
            taken = store.record(rows[-3].id)
            assert taken.lines == kept[game]
            assert taken.header["play"].startswith("1/0/1/1")  # the second continuation of the second repeat
            found = verify_run(store, True)
            assert found.holds, found.faults


def test_a_game_over_http_is_forked_with_its_calls(tmp_path: Path) -> None:
    with http_server.running() as server:
        run(tmp_path / "r", over_http(server, deals=1))
        before = server.calls
        made = wolflab("fork", "r", "1", "-o", "same", "--yes", cwd=tmp_path)
        assert made.returncode == 0, made.stdout + made.stderr
        assert server.calls == before
        with Store.open_for_reading(tmp_path / "same") as store:
            (parent, fork), *_ = pairs(store, "fork")
            assert bare(fork.lines[1:]) == bare(parent.lines[1:])
            assert verify_run(store, True).holds
            assert all(call["messages"] for call in store.calls_with_prompts(1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--at", "7/statement/sheriff"), "there is no turn '7/statement/sheriff'"),
        (("--at", "1/vote/player_1", "--say", "No."), "is no statement"),
        (("--at", "rubbish"), "fork.at: 'rubbish' is no turn; write round/kind/seat"),
        (("--at", "1/statement/player_99"), "--at player_99: there is no such player"),
        (("--say", "Vote for {z}."), "{z} is not known; only {x} and {y} are replaced"),
        (("--change", "shout"), "use 'none', 'silent', 'stance', 'other-seat' or 'other-sheriff'"),
    ],
)
def test_what_cannot_be_forked_is_a_sentence(
    played: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    made = wolflab("fork", str(played), "1", *options, "-o", "r", cwd=tmp_path)
    assert made.returncode == 2
    assert words in made.stderr
    assert not (tmp_path / "r").exists()


def test_a_header_that_names_no_fork_is_refused(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        fork = store.record(pairs_of(store, "x")[0])
    for wrong in ({"at": 3}, {"at": "1/statement"}, {"x": "player_1"}, {"continuation": None}):
        chain = Chain()
        chain.add(fork.header | {"fork": {**(fork.fork or {}), **wrong}})
        with pytest.raises(RecordError, match="no version of wolflab writes"):
            read_record(chain.lines)


def pairs_of(store: Store, condition: str) -> list[int]:
    return [row.id for row in store.games("done") if row.condition == condition]


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fork", "words"),
    [
        ({"games_of": "nobody"}, "there is no condition 'nobody' to go on from"),
        ({"games_of": "x"}, "there is no condition 'x' to go on from"),
        ({"games_of": "base", "say": "Hello.", "change": "silent"}, "exclude each other"),
        ({"games_of": "base", "at": "sheriff"}, "fork.at: 'sheriff' is no turn"),
        ({"games_of": "base", "at": "1/vote/3", "change": "silent"}, "is no statement"),
    ],
)
def test_a_fork_that_cannot_be_is_refused(fork: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        build({**forked({}), "conditions": {"base": {}, "x": {"fork": fork}}})


def test_a_fork_has_the_rules_and_players_of_its_parent() -> None:
    arm = {"fork": {"games_of": "base"}, "deals": 3}
    with pytest.raises(ExperimentError, match="remove deals"):
        build({**forked({}), "conditions": {"base": {}, "x": arm}})


def test_a_fork_may_begin_at_any_turn(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        parent = store.record(1)
    voter = next(turn for turn in parent.turns if turn.kind == "vote")
    fork = fork_of(ForkSpec(games_of="base", at=voter.ask), parent)
    assert fork is not None
    assert sum(each.kind == "vote" for each in fork.past.values()) > 1  # all that voted with it
    assert fork_of(ForkSpec(games_of="base", at="9/statement/sheriff"), parent) is None


def test_a_borrowed_reply_is_not_counted_with_the_forks_own() -> None:
    """A parent's line whose reply is the same as one of the fork's."""
    writer = Writer()
    writer.open({"play": "1/0/0", "fork": {"parent": "0" * 32}})
    same = Response("the same")
    for ask in ("1/vote/0", "1/vote/1"):
        call = {"call": "act", "attempt": 0, "ask": ask, "seat": 0, "request": "0" * 32}
        writer.game.add({**call, "response": response_digest(same)})
    own = CallRow("1/0/0|1/vote/1|act|0", "0" * 32, "village", same)
    assert [*unpack(pack(writer.game.lines, [], [own]).data).calls()] == [own.key]
