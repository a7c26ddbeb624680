"""The command line: flags and nothing else. What a command does lives in the other rooms."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from .errors import WolflabError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

app = typer.Typer(
    name="wolflab",
    help="A laboratory for language agents in the game of Werewolf.\n\n"
    "Start with:  wolflab run quickstart   or   wolflab play",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

RunPath = Annotated[
    Path, typer.Argument(help="A run's directory, as printed by `wolflab run`.", show_default=False)
]


def main() -> None:
    """The `wolflab` command: a user's mistake is one sentence and exit code 2, never a traceback."""
    try:
        app()
    except (WolflabError, OSError, ExceptionGroup) as error:
        words = _words(error)
        if words is None:
            raise
        _console(stderr=True).print(f"[bold red]wolflab:[/] {_plain(words)}", highlight=False, soft_wrap=True)
        sys.exit(2)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _console(stderr=True).print(
                "Stopped. What was committed is kept: go on with wolflab run --resume RUN."
            )
        raise


def _words(error: BaseException) -> str | None:
    """What to tell the user; None for what is nobody's mistake but ours."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, WolflabError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; name a place where this can be read or written"
    return None


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


@contextmanager
def _reading(path: Path) -> Iterator[Store]:
    from .lab.store import Store

    with Store.open_for_reading(path) as store:
        yield store


def _version(value: bool) -> None:
    if value:
        from . import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(
    epilog="Examples:  `wolflab run quickstart`  ·  `wolflab run helmsman-table1 --village`  ·  "
    "`wolflab run quickstart -o sheriff.model=openai/gpt-4o-mini`  ·  `wolflab run --resume runs/…`"
)
def run(
    experiment: Annotated[
        str | None, typer.Argument(help="A YAML file, or the name of a shipped experiment.")
    ] = None,
    set_: Annotated[
        list[str], typer.Option("-o", "--set", help="Change a field: place.to.change=value (repeatable).")
    ] = [],  # noqa: B006 (typer)
    village: Annotated[
        bool, typer.Option("--village", help="Run it on the built-in player (an instrument check).")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Directory of this run (default: a new one under runs/).")
    ] = None,
    resume: Annotated[Optional[Path], typer.Option(help="Take up this run where it stopped.")] = None,  # noqa: UP045
) -> None:
    """Run an experiment, then print its table and write its report."""
    from .ui.running import run_experiment

    ok = run_experiment(_console(), experiment, set_, village, out, resume)
    raise typer.Exit(0 if ok else 1)


@app.command(
    epilog="Examples:  `wolflab play`  ·  `wolflab play --rules witch --seed 7 --thoughts`  ·  "
    "`wolflab play --model ollama/llama3.1 --recipe vanilla`"
)
def play(
    rules: Annotated[str, typer.Option(help="sheriff, witch or doctor.")] = "sheriff",
    model: Annotated[str, typer.Option(help="Who plays (see `wolflab models`).")] = "village",
    recipe: Annotated[
        str, typer.Option(help="How they think: vanilla, deductive, … or random.")
    ] = "deductive",
    seed: Annotated[int, typer.Option(help="The same seed gives the same game.")] = 1,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="Show what the players think.")] = False,
    set_: Annotated[
        list[str], typer.Option("-o", "--set", help="Change a field of the experiment (repeatable).")
    ] = [],  # noqa: B006
    pace: Annotated[
        float | None, typer.Option(help="Seconds to rest after each line (default: 0.3 in a terminal).")
    ] = None,
    out: Annotated[Optional[Path], typer.Option(help="Keep the game as a run in this directory.")] = None,  # noqa: UP045
) -> None:
    """Play one game, live."""
    from .ui.running import play_game

    play_game(_console(), rules, model, recipe, seed, thoughts, set_, pace, out)


@app.command(epilog="Examples:  `wolflab report runs/…`  ·  `wolflab report runs/… --out page.html`")
def report(
    run: RunPath,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the page (default: report.html in the run).")
    ] = None,
) -> None:
    """Print a run's tables and write its report.html."""
    from .ui.running import report_run

    with _reading(run) as store:
        report_run(_console(), store, out)


@app.command(epilog="Example:  `wolflab compare runs/first runs/second --out compared.html`")
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two runs or more that dealt the same cards.")],
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("compared.html"),
) -> None:
    """Set the conditions of several runs side by side, paired by deal."""
    from .ui.running import compare_runs

    with ExitStack() as opened:
        compare_runs(_console(), [opened.enter_context(_reading(run)) for run in runs], out)


@app.command(epilog="Examples:  `wolflab show runs/… 1`  ·  `wolflab show runs/… 1 --as player_3 --thoughts`")
def show(
    run: RunPath,
    game: Annotated[int, typer.Argument(help="The game's number, from 1.")],
    as_: Annotated[Optional[str], typer.Option("--as", help="One player's log: what this seat saw.")] = None,  # noqa: UP045
    thoughts: Annotated[bool, typer.Option("--thoughts", help="With what the players noted down.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="With every prompt and reply.")] = False,
) -> None:
    """Print a recorded game."""
    from .ui.running import show_game

    with _reading(run) as store:
        show_game(_console(), store, game, as_, thoughts, prompts)


@app.command(epilog="Example:  `wolflab errors runs/…`")
def errors(run: RunPath) -> None:
    """List a run's unusable replies, failed games and what endpoints made us change."""
    from .ui.running import list_errors

    with _reading(run) as store:
        list_errors(_console(), store)


@app.command(epilog="Examples:  `wolflab verify runs/…`  ·  `wolflab verify runs/… --agents`")
def verify(
    run: RunPath,
    agents: Annotated[
        bool, typer.Option("--agents", help="Also play every game again from its calls.")
    ] = False,
) -> None:
    """Check that every record holds: its hashes, its rules, and with --agents its prompts and notes."""
    from .ui.running import verify_run

    with _reading(run) as store:
        ok = verify_run(_console(), store, agents)
    raise typer.Exit(0 if ok else 1)


@app.command(epilog="Example:  `wolflab export runs/… records/`")
def export(
    run: RunPath,
    to: Annotated[Path, typer.Argument(help="A directory; one JSON-lines file a game, and calls.jsonl.")],
) -> None:
    """Write a run's records and calls as JSON lines."""
    from .lab.export import export_run

    with _reading(run) as store:
        typer.echo(f"{export_run(store, to)} games written to {to}")


@app.command(epilog="Examples:  `wolflab models`  ·  `wolflab models --check ollama/llama3.1`")
def models(
    check: Annotated[Optional[str], typer.Option(help="Try to reach this model now.")] = None,  # noqa: UP045
) -> None:
    """List what can be named as a model, and what is configured."""
    from .ui.running import list_models

    list_models(_console(), check)


@app.command(epilog="Example:  `wolflab experiments`, then  `wolflab run helmsman-fig2 --village`")
def experiments() -> None:
    """List the experiments that come with Wolflab."""
    from .ui.running import list_experiments

    list_experiments(_console())


@app.command(epilog="Examples:  `wolflab bench`  ·  `wolflab bench rules`")
def bench(
    only: Annotated[
        str | None, typer.Argument(help="rules, village, calls or prompts (default: all).")
    ] = None,
) -> None:
    """Measure Wolflab on this machine, against references in the same run."""
    from .lab.bench import bench as measure

    measure(_console(), only)


if TYPE_CHECKING:
    from .lab.store import Store
