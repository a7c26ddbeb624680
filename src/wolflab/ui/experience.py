"""What `wolflab experience` shows: a pool being built, joined, looked into."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..errors import ExperimentError
from ..lab.experience import pool as experience
from ..lab.experience.from_games import Selection
from ..lab.experience.samples import Inspected, inspect
from ..lab.storage.store import Store
from .commands import bar
from .console import say
from .wording import counted


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
    """`wolflab experience inspect`: what a pool holds, and some of it."""
    pool = inspect(path, sample)
    console.print(f"[bold]{escape(pool.path)}[/]", highlight=False, soft_wrap=True)
    for line in _about(pool):
        console.print(line, highlight=False, markup=False)
    table = Table()
    for title in ("role", "decision"):
        table.add_column(title)
    for title in ("experiences", "of winners", "games", "scores"):
        table.add_column(title, justify="right")
    for row in pool.rows:
        table.add_row(
            row.role,
            row.kind,
            str(row.n),
            str(row.winners),
            str(row.games),
            f"{row.lowest} to {row.highest}, median {row.median:g}",
        )
    console.print(table)
    for example in pool.sample:
        say(console, f"\n{example.role}, {example.kind}, score {example.score} ({example.id})")
        say(console, f"  thought: {example.reflection}\n  did: {example.response}")


def _about(pool: Inspected) -> list[str]:
    name = pool.embedder.get("name")
    near = f"ε = {pool.epsilon:.3f}"
    if pool.share is not None:
        near += f", set so that at most {pool.share:.1%} of pairs from different deals are above it"
        near += "" if pool.reached is None else f" ({pool.reached:.1%} are)"
    elif pool.reached is not None:
        near += f", as given; {pool.reached:.1%} of pairs from different deals are above it"
    else:
        near += "; there are no pairs from different deals to try it on"
    return [
        f"{counted(pool.experiences, 'experience')} from {counted(pool.games, 'game')} of "
        f"{counted(pool.deals, 'deal')}, {pool.bytes / 1e6:.1f} MB",
        f"embedder {name}, {pool.dimensions} numbers; {near}",
        f"digest {pool.digest}",
    ]
