"""`wolflab status`: the progress of a run or another directory, while it is being worked on or stopped."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from ...lab.plans.specs import BudgetSpec
from ...lab.results.costs import cost_without_prices, run_cost
from ...lab.runs.merging import FoundShard, missing_shards, shards_in
from ...lab.runs.tournament_games import is_tournament
from ...lab.runs.work import budget_needed
from ...lab.storage.call_store import LATENESS
from ...lab.storage.overview import RunCounts, RunOverview
from ...lab.storage.run_files import LEARNED_FROM, TRAINING, held_elsewhere, is_held
from ...lab.storage.sent_batches import sent_in_words
from ...lab.storage.store import Store
from ...lab.studies.study_plan import STUDY
from ...lab.training.embedding import spent_on_texts
from ...lab.training.files import log_of, seed_folder, training_result
from ...lab.training.learning import read_learned
from ...lab.training.rounds import RoundsSpec, policy_after, round_folder, rounds_in
from ...lab.training.run import training_in
from ...lab.training.waiting_games import calls_of
from ...metrics.rows import UNFINISHED
from ...usage import Cost
from ..report.numbers import UNKNOWN, cost_in_words, number
from ..terminal.console import console, print_json, say
from ..wording import NOT_BEGUN, attempts_in_words, counted, duration, status_in_words
from .common import resume_advice
from .options import AsJson, commands
from .run_names import ANY, named

_NAMED = 5
"""Open calls, and reasons, that are listed one by one."""


@commands.command("status", epilog="Examples:  `wolflab status runs/…`  ·  `wolflab status shards/*`")
def status(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="A run, a training, a judge …: its directory, name in runs/, or latest; or several shards.",
            callback=named(ANY),
            show_default=False,
        ),
    ],
    json: AsJson = False,
) -> None:
    """Show the progress of a run, a training, a judge …, and how to resume it."""
    screen = console()
    if json:
        print_json({"runs": [_row(run) for run in runs]})
    elif len(runs) == 1:
        show_status(screen, runs[0])
    else:
        _show_shards(screen, shards_in(runs))


def _row(run: Path) -> dict[str, Any]:
    """The progress of one directory as plain values."""
    about = {"path": str(run)}
    if (run / LEARNED_FROM).is_file():
        found = read_learned(run / LEARNED_FROM)
        return {
            **about,
            "kind": "learned",
            "state": "finished",
            "games": found.games,
            "policy": str(found.policy),
        }
    work = _Work.of(run)
    state = "being worked on" if work.here else "elsewhere" if work.unseen else "stopped"
    if (run / TRAINING).is_file():
        parts, over = _training_rows(run)
        return {**about, "kind": "training", "state": "finished" if over else state, "parts": parts}
    with RunOverview.open_for_reading(run) as overview:
        counts, progress, games = overview.counts(), overview.progress(), overview.of_games
        usd = None if games else cost_without_prices(overview)
        reasons = [one._asdict() for one in overview.reasons()] if games else []
        waiting = len(overview.left_open())
    if games:
        with Store.open_for_reading(run) as store:
            usd, budget = run_cost(store), store.experiment.budget.model_dump()
        over = counts.finished
        more = {"games": counts.by, "budget": budget, "reasons": reasons}
    else:
        over = bool(progress) and all(done >= planned for done, planned in progress.values())
        more = {"asked": [{"who": who, "done": n, "planned": of} for who, (n, of) in progress.items()]}
    return {
        **about,
        "kind": "games" if games else "calls",
        "state": "finished" if over else state,
        **more,
        "calls": counts.calls,
        "calls_under_way": waiting,
        "tokens": counts.tokens,
        "usd": None if usd is None or usd.unpriced else usd.usd,
    }


def _training_rows(path: Path) -> tuple[list[dict[str, Any]], bool]:
    """The progress of a training by seed or by round, and whether it is over."""
    rows: list[dict[str, Any]] = []
    if (in_rounds := rounds_in(path)) is not None:
        for at in range(1, in_rounds.rounds + 1):
            run, policy = round_folder(path, at), policy_after(path, at)
            played = _row(run) if run.exists() else None
            rows.append({"round": at, "run": played, "policy": str(policy) if policy.exists() else None})
        return rows, all(row["policy"] for row in rows)
    spec = training_in(path)
    for seed in spec.seeds:
        made = max(0, len(log_of(seed_folder(path, seed))) - 1)
        rows.append({"seed": seed, "updates": made, "of": spec.training.updates})
    return rows, all(training_result(seed_folder(path, seed)) for seed in spec.seeds)


def _show_shards(screen: Console, found: list[FoundShard]) -> None:
    """Print a line for each shard of a run, their totals, and which shards are missing."""
    over = games = calls = tokens = 0
    for one in found:
        with RunOverview.open_for_reading(one.path) as overview:
            counts = overview.counts()
        work = _Work.of(one.path)
        state = "finished" if counts.finished else "being played" if work.here else work.unseen or "stopped"
        failed = f", {counts.of('failed'):,} failed" if counts.of("failed") else ""
        say(screen, f"{one}: {state}; {counts.over:,} of {counted(counts.of(), 'game')}{failed}")
        over, games = over + counts.over, games + counts.of()
        calls, tokens = calls + counts.calls, tokens + counts.tokens
    took = f"{counted(calls, 'call')}, {number(tokens, 'large')} tokens"
    say(screen, f"together: {over:,} of {counted(games, 'game')}; {took}")
    lacking = missing_shards(found)
    there = f"{len(found):,} of {counted(found[0].shard.of, 'shard')} are here"
    say(screen, f"{there}; missing: {', '.join(map(str, lacking))}" if lacking else there)


def show_status(screen: Console, run: Path) -> None:
    """Print the progress of one directory."""
    if (run / TRAINING).is_file():
        show_progress(screen, run)
        return
    if (run / LEARNED_FROM).is_file():
        found = read_learned(run / LEARNED_FROM)
        say(screen, f"{run}: finished; learned from {counted(found.games, 'game')}; policy: {found.policy}")
        return
    with RunOverview.open_for_reading(run) as overview:
        work = _Work.of(run)
        counts = overview.counts()
        under_way = overview.left_open()
        if overview.of_games:
            _show_games(screen, run, overview, counts, work)
        else:
            _show_calls(screen, run, overview.progress(), work)
            say(screen, took_in_words(overview))
        sent = sent_in_words(overview.sent_batches.all())
        lost = attempts_in_words(overview.attempt_totals())
    if sent:
        say(
            screen,
            f"  {sent}; the command that began it fetches what they bring, and sends none of them again",
        )
    if lost:
        say(screen, f"  {lost}", "yellow")
    if under_way:
        _tell_under_way(screen, under_way, work)


class _Work(NamedTuple):
    """Whether somebody works on a directory. here: on this machine. unseen: words about another machine that
    took it up and has not reported its end, else "".
    """

    here: bool
    unseen: str

    @classmethod
    def of(cls, path: Path) -> _Work:
        here = is_held(path)
        machine = "" if here else held_elsewhere(path)
        cannot = f"last taken up on {machine}, and whether it goes on there cannot be seen from here"
        return cls(here, cannot if machine else "")

    def left(self, how: str) -> str:
        """The state of something unfinished on which nobody works here. how: how to resume it."""
        return f"{self.unseen}; if not, {how}" if self.unseen else f"nobody works on it now; {how}"


def _show_calls(console: Console, path: Path, progress: dict[str, tuple[int, int]], work: _Work) -> None:
    """Print the state of calls outside games: a judge, an evaluation …"""
    over = bool(progress) and all(done >= planned for done, planned in progress.values())
    stopped = "finished" if over else work.left("the command that began it goes on")
    state = "in progress" if work.here else stopped
    say(console, f"{path}: calls alone, of a judge or an evaluation; {state}")
    for who, (done, planned) in progress.items():
        say(console, f"  {who}: {done:,} of {planned:,} done")


def show_progress(console: Console, path: Path) -> None:
    """Print how far a training is, by seed or by round."""
    if (in_rounds := rounds_in(path)) is not None:
        _show_rounds(console, path, in_rounds)
        return
    spec = training_in(path)
    made = {seed: max(0, len(log_of(seed_folder(path, seed))) - 1) for seed in spec.seeds}
    for seed, n in made.items():
        say(console, f"seed {seed}: {n} of {counted(spec.training.updates, 'update')}")
    if (calls := calls_of(path)) is not None:
        _show_training_calls(console, calls, spec.budget, _Work.of(path))
    if all(training_result(seed_folder(path, seed)) for seed in spec.seeds):
        say(console, f"{path}: finished")
    elif not (work := _Work.of(path)).here:
        say(console, work.left(f"go on with: wolflab train --resume {shlex.quote(str(path))}"))


def _show_training_calls(console: Console, path: Path, budget: BudgetSpec, work: _Work) -> None:
    """Print the calls of a training, and how far its present step is."""
    with RunOverview.open_for_reading(path) as overview:
        if work.here:
            for who, (over, planned) in overview.progress().items():
                say(console, f"  {who}: {over:,} of {planned:,}")
        say(console, f"  {took_in_words(overview)}{_budget_in_words(budget)}")
        if lost := attempts_in_words(overview.attempt_totals()):
            say(console, f"  {lost}", "yellow")
        if under_way := overview.left_open():
            _tell_under_way(console, under_way, work)


def _show_rounds(console: Console, path: Path, spec: RoundsSpec) -> None:
    over = 0
    for at in range(1, spec.rounds + 1):
        run, policy = round_folder(path, at), policy_after(path, at)
        games = "not begun"
        if run.exists():
            with RunOverview.open_for_reading(run) as overview:
                counts = overview.counts()
            games = f"{counts.over:,} of {counted(counts.of(), 'game')} over: {run}"
        over += policy.exists()
        say(console, f"round {at}: {games}; policy: {policy if policy.exists() else 'not learned yet'}")
    texts = spent_on_texts(path)
    if texts.tokens:
        paid = f", {number(float(texts.usd), 'usd')}" if texts.usd else ""
        say(console, f"embedded to learn from them: {number(texts.tokens, 'large')} tokens{paid}")
    if over == spec.rounds:
        say(console, f"{path}: finished")
    elif not (work := _Work.of(path)).here:
        say(console, work.left(f"go on with: wolflab train --resume {shlex.quote(str(path))}"))


def _show_games(console: Console, path: Path, overview: RunOverview, counts: RunCounts, work: _Work) -> None:
    with Store.open_for_reading(path) as store:
        experiment, command = store.experiment, store.command.split()[1]
        command = "tournament" if is_tournament(store) else command
        how, cost = resume_advice(store, command), run_cost(store)
        if (path / STUDY).is_file():
            again = f"wolflab study FILE --out {shlex.quote(str(path))}"
            spent = any(budget_needed(row.error) for row in store.stopped())
            first = "Write a higher experiment.budget in the study's file, then go on" if spent else "Go on"
            how = f"{first} with the command that began it: {again}"
        given_up = counts.of("failed") if store.has_people else 0  # these are planned again
        timed, seconds = store.games_timed() if work.here else (0, 0.0)
    left = counts.of() - counts.over - given_up
    state = "finished" if not left else "being played" if work.here else work.unseen or "stopped"
    say(console, f"{path}: {state}; {counts.over} of {counted(counts.of(), 'game')}")
    parts = {status: counts.of(status) for status in ("done", "void", "failed")}
    parts |= {"unfinished": counts.of(*UNFINISHED), NOT_BEGUN: counts.of("planned")}
    say(console, "  " + ", ".join(f"{n:,} {state}" for state, n in parts.items() if n))
    if counts.begun:
        say(console, f"  {counts.begun:,} of those that are not over have made calls, which are kept")
    of = _budget_in_words(experiment.budget)
    say(console, f"  {_took(counts, cost)}{of}" if counts.tokens else f"  no calls that are paid for{of}")
    if work.here and left and timed:
        at_once = min(experiment.concurrency, left)
        say(
            console,
            f"  about {duration(seconds * left / at_once)} left, by the {timed:,} games that are finished",
        )
    for reason in overview.reasons()[:_NAMED]:
        say(
            console,
            f"  {counted(reason.games, 'game')} {status_in_words(reason.status)}: {reason.error}",
            "yellow",
        )
    if forced := len(overview.adaptations()):
        say(
            console,
            f"  {counted(forced, 'change')} that servers forced: wolflab errors {shlex.quote(str(path))}",
        )
    if late := overview.meta(LATENESS):
        say(
            console,
            f"  This machine was the limit, not its servers: its event loop was up to {late} s late. Fewer "
            "calls at once (max_in_flight, concurrency) are as fast",
            "yellow",
        )
    if left and not work.here:
        say(console, f"  If it does not, {how[0].lower()}{how[1:]}" if work.unseen else f"  {how}")


def _budget_in_words(budget: BudgetSpec) -> str:
    """The part of a sentence that states a budget; "" without one."""
    limits = [f"{budget.tokens:,} tokens"] if budget.tokens is not None else []
    limits += [f"{budget.usd:g} USD"] if budget.usd is not None else []
    return f"; the budget is {' and '.join(limits)}" if limits else ""


def took_in_words(overview: RunOverview) -> str:
    """Calls, tokens and costs of calls outside games, in words."""
    return _took(overview.counts(), cost_without_prices(overview))


def _took(counts: RunCounts, cost: Cost) -> str:
    """Calls, tokens and costs in words."""
    money = cost_in_words(cost)[0]
    calls = f"{counted(counts.calls, 'call')}, {number(counts.tokens, 'large')} tokens"
    return f"{calls}, {'at no known cost' if money == UNKNOWN else money}"


def _tell_under_way(console: Console, calls: list[tuple[str, str, str]], work: _Work) -> None:
    """Print calls that were sent and are not answered."""
    if work.here:
        say(console, f"  {counted(len(calls), 'call is', 'calls are')} under way")
        return
    last = "was last written. If it has stopped, the" if work.unseen else "was stopped. The"
    say(
        console,
        f"  {counted(len(calls), 'call was', 'calls were')} under way when it {last} answers were not stored "
        "and may have been paid for; these calls are made again:",
        "yellow",
    )
    for asker, key, model in calls[:_NAMED]:
        say(console, f"    {asker}, {key.partition('|')[2]}, of {model}")
    if len(calls) > _NAMED:
        say(console, f"    and {len(calls) - _NAMED:,} more")
