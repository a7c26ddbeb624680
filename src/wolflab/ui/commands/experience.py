"""`wolflab experience`: build, merge and inspect pools."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ...errors import ExperimentError
from ...lab.experience import pool as experience
from ...lab.experience.from_games import WON, Selection
from ...lab.experience.pool_file import StoredPool, open_pool
from ...lab.plans.overrides import embedder_given
from ...lab.storage.store import Store
from ..terminal.console import console, print_json, say
from ..wording import counted
from .common import bar
from .options import AsJson, Overwrite, SendKeys, commands
from .run_names import GAMES, named

PoolOut = Annotated[Path, typer.Option("-o", "--out", help="The new pool's file.", show_default=False)]


@commands.command(
    "experience build",
    epilog="Example:  `wolflab experience build runs/… -o village.pool --games 40`",
)
def build_pool(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Runs with reflective players.", callback=named(GAMES), show_default=False),
    ],
    out: PoolOut,
    embedder: Annotated[
        str, typer.Option(help="hashing, minilm … or a server's, with its settings in braces.")
    ] = "hashing",
    condition: Annotated[list[str], typer.Option(help="Games of this condition alone (repeatable).")] = [],
    games: Annotated[int | None, typer.Option(help="How many games to take (default: all).")] = None,
    skip: Annotated[int, typer.Option(help="How many to leave out first.")] = 0,
    side: Annotated[str, typer.Option(help="Whose experience: all, winners or losers.")] = "all",
    shuffle: Annotated[
        str | None, typer.Option(help="Deal responses anew to the reflections, by this key.")
    ] = None,
    share: Annotated[
        float | None, typer.Option(help="Set ε so that this share of pairs is above it.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="ε itself.")] = None,
    overwrite: Overwrite = False,
    yes: SendKeys = False,
) -> None:
    """Collect what the players of finished games thought and did."""
    named = embedder_given(embedder)
    selection = Selection(tuple(condition), skip, games, side, shuffle)  # type: ignore[arg-type]  # checked there
    if share is not None and epsilon is not None:
        raise ExperimentError(
            f"--epsilon {epsilon:g} sets ε, and --share {share:g} has it found: give one of the two"
        )

    shown = bar(console())
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open_for_reading(run)) for run in runs]
        task = shown.add_task("reflections embedded", total=None)

        def watch(over: int, of: int) -> None:
            if not shown.live.is_started:  # an error before the first reflection leaves no bar behind
                opened.enter_context(shown)
            shown.update(task, completed=over, total=of)

        asyncio.run(
            experience.build_named(
                stores,
                named,
                out,
                selection=selection,
                share=share,
                epsilon=epsilon,
                overwrite=overwrite,
                progress=watch,
            )
        )
    inspect_pool(out, 0)


@commands.command(
    "experience inspect", epilog="Example:  `wolflab experience inspect village.pool --sample 5`"
)
def inspect_pool(
    pool: Annotated[Path, typer.Argument(help="A pool's file.", show_default=False)],
    sample: Annotated[int, typer.Option(help="How many experiences to print.")] = 3,
    json: AsJson = False,
) -> None:
    """Show what a pool holds, how it was made and its threshold of similarity."""
    screen, stored = console(), open_pool(pool)
    screen.print(f"[bold]{escape(str(pool))}[/]", highlight=False, soft_wrap=True)
    for line in _about(pool, stored):
        screen.print(line, highlight=False, markup=False)
    table = Table()
    for title in ("role", "decision"):
        table.add_column(title)
    for title in ("experiences", "of winners", "games", "scores"):
        table.add_column(title, justify="right")
    blocks = []
    for (role, kind), block in stored.pool.blocks.items():
        scores = [entry.score for entry in block.entries]
        counts = {
            "experiences": len(scores),
            "of_winners": sum(score > WON // 2 for score in scores),
            "games": len({entry.game for entry in block.entries}),
        }
        low, high, middle = min(scores), max(scores), median(scores)
        table.add_row(role, kind, *map(str, counts.values()), f"{low} to {high}, median {middle:g}")
        named = {"role": role, "decision": kind}
        blocks.append({**named, **counts, "score_low": low, "score_high": high, "score_median": middle})
    screen.print(table)
    print_json({"experiences": blocks})
    entries = list(stored.pool.experiences())
    shown = min(max(sample, 0), len(entries))
    for at in range(shown):  # spread evenly over the pool
        example = entries[(2 * at + 1) * len(entries) // (2 * shown)]
        say(screen, f"\n{example.role}, {example.kind}, score {example.score} ({example.id})")
        say(screen, f"  thought: {example.reflection}\n  did: {example.response}")


@commands.command(
    "experience merge", epilog="Example:  `wolflab experience merge a.pool b.pool -o both.pool`"
)
def merge_pools(
    pools: Annotated[list[Path], typer.Argument(help="Two pools or more.", show_default=False)],
    out: PoolOut,
    overwrite: Overwrite = False,
) -> None:
    """Join pools into one."""
    experience.merge(pools, out, overwrite=overwrite)
    inspect_pool(out, 0)


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
