"""`wolflab verify`: check a run, a training, a directory of calls or a pool, and print what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ...errors import RecordError, StoreError
from ...lab.engines import cores
from ...lab.experience.pool_file import check_pool, is_pool
from ...lab.plans.policies import policy_digest, require_policy
from ...lab.plans.specs import MOST_WORKERS
from ...lab.runs.verification import totals_that_differ, verify_run
from ...lab.storage.call_store import CallStore
from ...lab.storage.run_files import LEARNED_FROM, TRAINING
from ...lab.storage.store import Store
from ...lab.training.learning import read_learned
from ...lab.training.rounds import RoundsSpec, digest_after, policy_after, round_folder, rounds_in
from ...lab.training.run import training_in, verify_training
from ...lab.training.waiting_games import calls_of
from ..terminal.console import console, print_json, say
from ..wording import counted
from .options import AsJson, commands, finish
from .run_names import ANY, named

_BLIND = (
    "Without --agents, a change of notes, prompts, models' replies or interviews is not noticed if its "
    "hashes were computed again."
)

CheckedRows = list[dict[str, Any]]
"""What was checked, for `--json`."""


@commands.command("verify", epilog="Examples:  `wolflab verify runs/…`  ·  `wolflab verify runs/… --agents`")
def verify(
    run: Annotated[
        Path,
        typer.Argument(
            help="A run, a training, a judge or an evaluation: its directory, its name in runs/, or latest; "
            "or a pool's file.",
            callback=named(ANY),
            show_default=False,
        ),
    ],
    agents: Annotated[
        bool, typer.Option("--agents", help="Also play every game again from its calls.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_WORKERS,
            help="Processes that check games (default: one for each core).",
            show_default=False,
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Verify that a run is complete and unchanged: games, hashes, rules, settings, totals; with --agents
    prompts and notes.
    """
    if run.is_file() and is_pool(run):
        check = _pool
    elif (run / TRAINING).is_file():
        in_rounds = rounds_in(run)
        check = _training if in_rounds is None else partial(_rounds, workers or cores(), in_rounds)
    elif (run / LEARNED_FROM).is_file():
        check = _learned
    else:
        check = _calls if _has_calls_alone(run) else partial(_run, workers or cores())
    checked = check(console(), run, agents)
    print_json({"checked": checked})
    finish(all(row["holds"] for row in checked))


def _print_fault(console: Console, fault: str) -> None:
    where, colon, rest = fault.partition(": ")
    marked = f"[red]{escape(where)}[/]: {escape(rest)}" if colon else escape(fault)
    console.print(marked, highlight=False, soft_wrap=True)


def _checked(path: Path, holds: bool, faults: Sequence[str] = (), **more: Any) -> CheckedRows:
    """One row: what was checked, whether it is complete and holds, and its faults."""
    return [{"path": str(path), "holds": holds, "faults": [*faults], **more}]


def _run(workers: int, console: Console, path: Path, agents: bool) -> CheckedRows:
    with Store.open_for_reading(path) as store:
        found = verify_run(store, agents, lambda fault: _print_fault(console, fault), workers)
        if found.good + found.bad == 0 and not found.faults:
            raise RecordError(f"{store.path} has no finished game to verify")
    checked = ", prompts and notes" if agents else ""
    hold = "holds" if found.good + found.bad == 1 else "hold"
    console.print(
        f"{found.good} of {counted(found.good + found.bad, 'record')} {hold} "
        f"(hashes, rules, settings, polls, totals and pools{checked})"
    )
    if found.otherwise:
        say(
            console,
            f"{found.otherwise:,} of {counted(found.decided, 'decision')} would come out otherwise, because "
            "this version of Wolflab reads some stored replies otherwise than the one that began the run; "
            "the records hold",
        )
    be = "is" if found.planned == 1 else "are"
    console.print(f"{found.over} of {counted(found.planned, 'planned game')} {be} over", highlight=False)
    for place in found.missing:
        say(console, f"missing: {place}")
    for why in found.unseen:
        say(console, f"the settings of some players were not compared with the records: {why}")
    if found.erased:
        words, games = counted(sum(found.erased.values()), "statement"), counted(len(found.erased), "game")
        say(console, f"erased on request: {words} in {games}; all but what was erased is checked")
    if not agents:
        say(console, _BLIND)
    return _checked(path, found.holds, **asdict(found))


def _training(console: Console, path: Path, agents: bool) -> CheckedRows:
    if agents:
        raise StoreError(f"{path} is a training and keeps no games; leave out --agents")
    updates, rows = training_in(path).training.updates, CheckedRows()
    for seed, made, problem in verify_training(path):
        if problem:
            _print_fault(console, f"seed {seed}: {problem}")
        console.print(f"seed {seed}: {made} of {counted(updates, 'update')}", highlight=False)
        faults = [problem] if problem else []
        rows += _checked(path, not problem and made == updates, faults, seed=seed, updates=made)
    if (calls := calls_of(path)) is not None:
        rows += _calls(console, calls, agents)
    say(
        console,
        "Its settings, states and policies were checked. Its numbers cannot be: a training keeps no games.",
    )
    return rows


def _rounds(workers: int, spec: RoundsSpec, console: Console, path: Path, agents: bool) -> CheckedRows:
    """Verify the games of every round, and open its policy."""
    rows = CheckedRows()
    for number in range(1, spec.rounds + 1):
        say(console, f"round {number}:")
        run, policy = round_folder(path, number), policy_after(path, number)
        if not run.exists() or not policy.exists():
            say(console, f"not over; go on with: wolflab train --resume {path}")
            return [*rows, *_checked(run, False)]
        rows += _run(workers, console, run, agents)
        say(console, f"policy {digest_after(path, number)} holds: {policy}")
    return rows


def _learned(console: Console, path: Path, agents: bool) -> CheckedRows:
    """Verify the policy that was learned from recorded games."""
    if agents:
        raise StoreError(f"{path} has a policy and no games; leave out --agents")
    found = read_learned(path / LEARNED_FROM)
    digest = found.digest or policy_digest(found.policy)  # older files do not have it
    policy = require_policy(found.policy, digest, "learn anew")
    say(console, f"policy {policy.digest} holds: {found.policy}")
    return _checked(path, True, policy=policy.digest)


def _calls(console: Console, path: Path, agents: bool) -> CheckedRows:
    if agents:
        raise StoreError(f"{path} has calls and no games; leave out --agents")
    with CallStore.open_for_reading(path) as store:
        faults = [*store.damage(), *totals_that_differ(store, store.askers())]
        calls = store.called().totals.calls
    for fault in faults:
        _print_fault(console, fault)
    hold = "do not hold" if faults else "hold"
    console.print(f"the calls and what they cost {hold}: {calls:,}", highlight=False)
    return _checked(path, not faults, faults, calls=calls)


def _pool(console: Console, path: Path, agents: bool) -> CheckedRows:
    if agents:
        raise StoreError(f"{path} is a pool and keeps no games; leave out --agents")
    held = check_pool(path)
    console.print(f"{counted(held, 'experience')} {'holds' if held == 1 else 'hold'}", highlight=False)
    return _checked(path, True, experiences=held)


def _has_calls_alone(path: Path) -> bool:
    if not (path / "run.sqlite").is_file() or (path / "experiment.yaml").is_file():
        return False
    with CallStore.open_for_reading(path) as store:
        return not store.of_games
