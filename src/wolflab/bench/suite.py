"""``wolflab bench``: the speed of Wolflab on this machine, beside a reference in the same run.

Machines differ and are noisy. So each line gives the best of several runs and its ratio to the reference, a
fixed piece of plain Python.
"""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ..agents.language import LanguageAgent
from ..agents.random import Random
from ..agents.recipes import RECIPES
from ..errors import ExperimentError
from ..lab.plans.loading import build
from ..lab.runs.runner import play_run
from ..lab.storage.store import Store
from ..match import Draws, Match, Player, StrawPoll, everybody, play, run_now
from ..match.bare import play_bare
from ..models.base import Model, Request, Response
from ..models.catalog import resolve
from ..record import GameRecord, read_record
from ..rules import DOCTOR, SHERIFF, SHIELDS
from .policy import policy_lines
from .prompts import BASE, CACHED_PRICE, prompt_table
from .training import training_lines

ROUNDS = 3
PARTS = ("rules", "village", "calls", "prompts", "policy", "training")


def measure_speed(
    console: Console, only: str | None = None, share: float = 1.0
) -> tuple[list[dict[str, Any]], Table | None]:
    """Measure and print. only: one of `PARTS`. share: of the usual number of games, above 0. Returns the
    measured lines, and the table of prompts if it was asked for.
    """
    if only is not None and only not in PARTS:
        raise ExperimentError(
            f"bench {only}: there is no such part; use one of {', '.join(PARTS)}, or none for all"
        )
    table = Table("what", "measured", "unit", "× reference")
    unit = _best(share, partial(_reference, _some(200_000, share)))
    table.add_row(
        "reference: build and hash small frozen objects in plain Python", f"{unit:,.0f}", "objects/s", "1"
    )
    rows: list[dict[str, Any]] = [{"what": "reference", "measured": unit, "unit": "objects/s"}]
    for name, measured, per in _lines(only, share):
        rows.append({"what": name, "measured": measured, "unit": per})
        table.add_row(
            name,
            f"{measured:,.2f}" if measured < 1000 else f"{measured:,.0f}",
            per,
            f"{measured / unit:.4f}" if per.endswith("/s") else "",
        )
    if only != "prompts":
        console.print(table)
    if only in (None, "prompts"):
        console.print(f"Prices of a game's prompts; {BASE}'s is 1, a cached character costs {CACHED_PRICE}")
        prompts = prompt_table(None if share >= 1 else 1)
        console.print(prompts)
        return rows, prompts
    return rows, None


def _lines(only: str | None, share: float) -> list[tuple[str, float, str]]:
    lines: list[tuple[str, float, str]] = []
    if only in (None, "rules"):
        games = _some(1500, share)
        rates = [_best(share, partial(_random_games, views, games)) for views in (False, True)]
        rates.append(_best(share, partial(_recorded_games, _some(1000, share))))
        lines += [
            ("random doctor games: events and options", rates[0], "decisions/s"),
            ("… with every asked seat's view read", rates[1], "decisions/s"),
            ("… through the match loop, chained record on disk", rates[2], "decisions/s"),
        ]
    if only in (None, "village"):
        rate, calls = max(_village_games(_some(60, share)) for _ in range(_some(ROUNDS, share)))
        lines += [
            ("village, sheriff games, one target a call, calls recorded", rate, "games/s"),
            ("… calls a game", calls, "calls"),
        ]
    if only in (None, "calls"):
        lines += _latency(0.2 * share, _some(16, share), 0.5 * share)
    if only in (None, "policy"):
        lines += policy_lines(_some(ROUNDS, share), _some(60, share), 0.5 * share)
    if only in (None, "training"):
        lines += training_lines(_some(512, share))
    return lines


def _some(usual: int, share: float) -> int:
    """A share of the usual number, at least 1."""
    return max(1, round(usual * share))


def _best(share: float, measure: Callable[[], float]) -> float:
    return max(measure() for _ in range(_some(ROUNDS, share)))


@dataclass(frozen=True, slots=True)
class _Object:
    a: int
    b: int
    c: int


def _reference(objects: int) -> float:
    start = time.process_time()
    for n in range(objects):
        hash(_Object(n, n, n))
    return objects / (time.process_time() - start)


def _random_games(views: bool, games: int) -> float:
    start = time.process_time()
    decisions = sum(play_bare(DOCTOR, Draws(f"bench/{number}"), views) for number in range(games))
    return decisions / (time.process_time() - start)


def _recorded_games(games: int) -> float:
    casting = everybody(Random())
    decisions = 0
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "games.jsonl").open("wb") as file:
        start = time.process_time()
        for number in range(games):
            match = Match(
                DOCTOR, casting, Draws(f"bench/{number}"), Draws(f"bench/{number}/0"), {"version": "bench"}
            )
            writer = run_now(play(match)).writer
            assert writer is not None
            lines = writer.game.lines
            file.write(b"\n".join(lines) + b"\n")
            decisions += (
                sum(b'"seat":' in line and b'"reply":' in line for line in lines) if number < 50 else 0
            )
        spent = time.process_time() - start
    return decisions / min(games, 50) * games / spent


def _village_games(deals: int) -> tuple[float, float]:
    """Games a second and calls a game, through the runner and its store, on one core."""
    each = {"name": "deductive", "deduce": {"calls": "each"}}
    data: dict[str, Any] = {
        "name": "bench",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop"},
        "players": {"others": {"model": "village", "recipe": each}},
        "deals": deals,
        "straw_polls": 1,
        "redraw_void": False,
    }
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "run", build(data)) as store:
        start = time.process_time()
        play_run(store)
        spent = time.process_time() - start
        calls = sum(total.calls for totals in store.spent_by().values() for total in totals.values())
    return deals / spent, calls / deals


class _Late:
    """`village` with a fixed latency."""

    instant = False
    typed = True

    def __init__(self, seconds: float) -> None:
        self._model: Model = resolve("village")
        self.name = f"village after {seconds} s"
        self.seconds = seconds
        self.calls = 0

    async def generate(self, request: Request) -> Response:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        return await self._model.generate(request)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None:
        await self._model.close()


def _latency(seconds: float, games: int, slower: float) -> list[tuple[str, float, str]]:
    """Wall times of one game and of several at once, relative to their longest chains of dependent calls."""
    rules = SHERIFF.with_(sheriff="assigned", sheriff_death="stop", max_rounds=3)
    agent = LanguageAgent(RECIPES["deductive-002"])

    async def game(model: _Late, number: int) -> GameRecord:
        player = Player(agent, model)
        match = Match(
            rules,
            lambda dealing: [player] * rules.players,
            Draws(f"bench/{number}"),
            Draws(f"bench/{number}/0"),
            {"version": "bench"},
            (StrawPoll(),),
        )
        writer = (await play(match)).writer
        assert writer is not None
        return read_record(writer.game.lines, writer.probes.lines)

    async def many(model: _Late, numbers: range) -> list[GameRecord]:
        return list(await asyncio.gather(*(game(model, number) for number in numbers)))

    def timed(model: _Late, numbers: range) -> tuple[list[GameRecord], float, float]:
        wall, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
        records = asyncio.run(many(model, numbers))
        return records, time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu

    model = _Late(seconds)
    records, wall, _ = timed(model, range(1, 2))
    links = longest_call_chain(records[0])
    late = _Late(slower)
    crowd, crowd_wall, cpu = timed(late, range(1, games + 1))
    longest = max(longest_call_chain(record) for record in crowd)
    return [
        (f"one game at {seconds} s a call: longest chain of dependent calls", links, "links"),
        ("… wall time ÷ (chain × latency)", wall / (links * seconds), "ratio"),
        ("… wall time ÷ (all calls one by one)", wall / (model.calls * seconds), "ratio"),
        (
            f"{games} games at once at {slower} s: wall ÷ (longest chain × latency)",
            crowd_wall / (longest * slower),
            "ratio",
        ),
        ("… own CPU a call, prompts not rendered", cpu / late.calls * 1000, "ms"),
    ]


def longest_call_chain(record: GameRecord) -> int:
    """The length of the longest chain of dependent calls in a game (002 §3.1).

    A decision is one call, or two if judgements come first (these do not depend on each other); each retry
    adds one. At night the pack acts one after another, and the others act at the same time. Statements follow
    each other. The straw poll depends on the same events as the Sheriff's statement. All votes of a ballot
    are one step.
    """
    total = 0
    rounds: dict[int, list[tuple[str, int]]] = {}
    for turn in (*record.turns, *record.probes):
        if turn.seat >= 0 and turn.calls:
            by_step: dict[str, int] = {}
            for call in turn.calls:
                name = call.step.split("/")[0]
                by_step[name] = max(by_step.get(name, 0), call.attempt + 1)
            rounds.setdefault(turn.round, []).append((turn.kind, sum(by_step.values())))
    for turns in rounds.values():

        def longest(*kinds: str, turns: list[tuple[str, int]] = turns) -> int:
            return max((links for kind, links in turns if kind.rstrip("23456789") in kinds), default=0)

        def added(kind: str, turns: list[tuple[str, int]] = turns) -> int:
            return sum(links for other, links in turns if other == kind)

        pack = added("kill")
        witch = longest("antidote") + longest("poison")
        total += max(max(pack, longest(*SHIELDS)) + witch, longest("see"))
        statements = [links for kind, links in turns if kind == "statement"]
        last = statements.pop() if statements else 0
        total += added("campaign") + longest("elect") + added("succeed") + added("lead")
        total += sum(statements) + max(last, longest("straw")) + longest("vote", "rate") + added("last-words")
    return total
