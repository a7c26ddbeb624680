"""What `wolflab experience` shows: a pool being built, joined, looked into."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...errors import ExperimentError
from ...lab.experience import pool as experience
from ...lab.experience.from_games import WON, Selection
from ...lab.experience.pool_file import StoredPool, open_pool
from ...lab.storage.store import Store
from ..terminal.console import say
from ..wording import counted
from .common import bar


def build_and_show_pool(
    console: Console,
    runs: Sequence[Path],
    to: Path,
    embedder: str | Mapping[str, Any],
    selection: Selection,
    share: float | None,
    epsilon: float | None,
    overwrite: bool,
) -> None:
    """`wolflab experience build`: a pool from the finished games of one or several runs.

    share, epsilon: one of the two at most; ExperimentError for both.
    """
    if share is not None and epsilon is not None:
        raise ExperimentError(
            f"--epsilon {epsilon:g} sets ε, and --share {share:g} has it found: give one of the two"
        )

    shown = bar(console)
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open_for_reading(run)) for run in runs]
        task = shown.add_task("reflections embedded", total=None)

        def watch(over: int, of: int) -> None:
            if not shown.live.is_started:  # what is refused before leaves no bar behind
                opened.enter_context(shown)
            shown.update(task, completed=over, total=of)

        asyncio.run(
            experience.build_named(
                stores,
                embedder,
                to,
                selection=selection,
                share=share,
                epsilon=epsilon,
                overwrite=overwrite,
                progress=watch,
            )
        )
    inspect_pool(console, to, 0)


def merge_pools(console: Console, paths: Sequence[Path], to: Path, overwrite: bool) -> None:
    """`wolflab experience merge`: several pools into one."""
    experience.merge(paths, to, overwrite=overwrite)
    inspect_pool(console, to, 0)


def inspect_pool(console: Console, path: Path, sample: int) -> None:
    """`wolflab experience inspect`: what a pool holds (a growing one: its last state), and some of it."""
    stored = open_pool(path)
    console.print(f"[bold]{escape(str(path))}[/]", highlight=False, soft_wrap=True)
    for line in _about(path, stored):
        console.print(line, highlight=False, markup=False)
    table = Table()
    for title in ("role", "decision"):
        table.add_column(title)
    for title in ("experiences", "of winners", "games", "scores"):
        table.add_column(title, justify="right")
    for (role, kind), block in stored.pool.blocks.items():
        scores = [entry.score for entry in block.entries]
        table.add_row(
            role,
            kind,
            str(len(scores)),
            str(sum(score > WON // 2 for score in scores)),
            str(len({entry.game for entry in block.entries})),
            f"{min(scores)} to {max(scores)}, median {median(scores):g}",
        )
    console.print(table)
    entries = list(stored.pool.experiences())
    shown = min(max(sample, 0), len(entries))
    for at in range(shown):  # spread evenly over the pool
        example = entries[(2 * at + 1) * len(entries) // (2 * shown)]
        say(console, f"\n{example.role}, {example.kind}, score {example.score} ({example.id})")
        say(console, f"  thought: {example.reflection}\n  did: {example.response}")


def _about(path: Path, stored: StoredPool) -> list[str]:
    pool, threshold = stored.pool, stored.pool.threshold
    games, deals = ({getattr(one, name) for one in pool.experiences()} for name in ("game", "deal"))
    near = f"ε = {pool.epsilon:.3f}"
    if threshold.share is not None:
        near += f", set so that at most {threshold.share:.1%} of pairs from different deals are above it"
        near += "" if threshold.reached is None else f" ({threshold.reached:.1%} are)"
    elif threshold.reached is not None:
        near += f", as given; {threshold.reached:.1%} of pairs from different deals are above it"
    else:
        near += "; there are no pairs from different deals to try it on"
    return [
        f"{counted(len(pool), 'experience')} from {counted(len(games), 'game')} of "
        f"{counted(len(deals), 'deal')}, {path.stat().st_size / 1e6:.1f} MB",
        f"embedder {pool.embedder.get('name')}, {pool.dimensions} numbers; {near}",
        f"digest {pool.digest}",
    ]
