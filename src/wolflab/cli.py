"""The command line: the list of commands. What they do, and their options, are in `ui/commands/`."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from .errors import Interrupted, WolflabError
from .files import DISK_ADVICE
from .ui.terminal.console import ExitCode, ask_for_json, console
from .ui.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSIONED = ("msgspec", "numpy", "pydantic", "safetensors", "aiohttp", "torch", "transformers", "ray")
"""Packages of which `--version` says the version, if they are installed: they decide results or calls."""
_COMMANDS = {
    "run": "Run an experiment, then print its table and write its report.",
    "plan": "Forecast an experiment, a tournament, a study or a training: calls, cost, time.",
    "power": "Plan the number of deals for a comparison, from a pilot run.",
    "register": "Write down an experiment's plan before it is run, for `wolflab run --registration`.",
    "status": "Show the progress of a run, a training, a judge …, and how to resume it.",
    "merge": "Merge the shards of a run into one run, as if it had been played at once.",
    "play": "Play one game, live: watch it, or take a seat.",
    "serve": "Serve tables at which people play among agents, in the browser; or, with RUNS, runs to look "
    "at.",
    "study": "Run a study with people: consent, rules, games among agents, questions.",
    "erase": "Erase what a person said at the table, for good; the rest of the games still verifies.",
    "prune": "Delete the stored prompts of finished games; they are made again where they are shown.",
    "report": "Print a run's tables and write its report.html.",
    "compare": "Compare the conditions of several runs, paired by deal.",
    "show": "List a run's games, or print one of them, or one turn of it.",
    "fork": "Play a game of a run once more from one turn on, with other words there.",
    "replay": "Write a game as a page to watch: it opens from disk, and needs no server.",
    "errors": "List a run's unusable replies, failed games and what endpoints made us change.",
    "verify": "Verify that a run is complete and unchanged: games, hashes, rules, settings, totals; with "
    "--agents prompts and notes.",
    "export": "Write a run's records, data, tables, figures or transcripts to files.",
    "ask-again": "Put a run's recorded prompts to models: how many replies are valid, how many actions "
    "legal.",
    "models": "List what can be named as a model; with --check, ask one what a game asks, and read its "
    "replies.",
    "experiments": "List the experiments that come with Wolflab, or print the file of one.",
    "init": "Write an experiment with comments, to begin with; it runs as it stands.",
    "schema": "Print the JSON schema of a kind of file, for editors that complete and check it.",
    "measures": "List the measures: what a report shows and what conditions can be compared on.",
    "bench": "Measure Wolflab on this machine, against references in the same run.",
    "tournament": "Play everybody against everybody on both sides, then print win rates and ratings.",
    "train": "Train the policy of a strategic player, then judge it on held-out deals.",
    "exploit": "Train a best response against a frozen player: a lower bound of how far it can be exploited.",
    "experience build": "Collect what the players of finished games thought and did.",
    "experience inspect": "Show what a pool holds, how it was made and its threshold of similarity.",
    "experience merge": "Join pools into one.",
    "annotate sample": "Draw replies for blind rating: a page and a table for raters, and a key to keep "
    "from them.",
    "annotate judge": "Let a model label the sample; what it has answered is kept and not asked again.",
    "annotate agree": "Print how far people, rules and judge agree (κ), and what each finds in every "
    "condition.",
    "annotate monitor": "Ask a model which sampled statements are lies, with the speakers' private reasoning "
    "and without.",
    "wwqa build": "Make questions on a ruleset, each proved by the rules engine, in splits for training and "
    "tests.",
    "wwqa general": "Make questions of general ability (counting, comparing, copying, form), to see what "
    "training broke.",
    "wwqa kinds": "List the kinds of questions that `build` and `general` make.",
    "wwqa audit": "Find duplicates, contradictions, wrong labels and test questions in training; write "
    "cleaned copies.",
    "wwqa eval": "Put questions to models: accuracy, F1, baselines and a page. What was answered is not "
    "asked again.",
    "wwqa generate": "Let a model write questions, revise and answer them; what it has answered is kept.",
    "wwqa review": "Let people accept, correct or reject questions: make their page, or read their tables.",
    "wwqa export": "Write questions for Hugging Face's datasets, lm-evaluation-harness or Inspect.",
    "wwqa adapter": "Merge a trained adapter into its base, as a folder of weights that servers load.",
    "wwqa parity": "Compare a server with training: prompts token by token, and first words of answers.",
    "wwqa finetune": "Train a model on questions (LoRA), and ask it before and after. The same command goes "
    "on.",
}
"""Each command by its words, with the sentence that `wolflab --help` shows."""
_MODULES = {
    "run": ("report", "compare", "errors"),
    "lists": ("models", "experiments", "measures"),
    "train": ("exploit",),
    "experience": ("experience build", "experience inspect", "experience merge"),
    "annotate": ("annotate sample", "annotate judge", "annotate agree", "annotate monitor"),
    "wwqa_build": ("wwqa general", "wwqa kinds", "wwqa export"),
    "wwqa_adapter": ("wwqa parity",),
}
"""Modules of `ui/commands/` with commands of other names; every other command is in the module of its name.
"""
_PANELS = {
    "Play and watch": ("play", "show", "replay", "serve"),
    "Experiments": (
        *(
            "init",
            "experiments",
            "schema",
            "models",
            "measures",
            "plan",
            "run",
            "tournament",
            "status",
            "report",
        ),
        *("compare", "errors", "verify", "fork", "power", "register", "merge", "bench"),
    ),
    "Questions": ("wwqa", "ask-again"),
    "People": ("study", "annotate", "erase"),
    "Train": ("train", "exploit", "experience"),
    "Data": ("export", "prune"),
}
"""How `wolflab --help` groups its commands, in order."""
_GROUPS = {
    "experience": "Pools of experience that reflective players learn from.",
    "annotate": "Replies to be labelled by people and by a judge, and how far they agree.",
    "wwqa": "WWQA: questions on the rules, proved by the engine, and how models answer.",
}


class _LazyCommand(TyperCommand):
    """A command whose module is imported when it is chosen, so that `wolflab --help` is fast."""

    def __init__(self, path: str) -> None:
        super().__init__(path.split()[-1], help=_COMMANDS[path])
        self._path = path

    def loaded(self) -> Any:
        """The command with its options."""
        own = re.sub("[ -]", "_", self._path)
        module = next((name for name, paths in _MODULES.items() if self._path in paths), own)
        import_module(f"{__package__}.ui.commands.{module}")
        from .ui.commands.options import commands

        return get_group(commands).commands[self._path]

    def make_context(self, info_name: str | None, args: list[str], *given: Any, **more: Any) -> Any:
        """See typer. From here on the loaded command does the work."""
        from .ui.commands.options import ask_about_keys
        from .ui.commands.spellings import respelled

        ask_about_keys(False)
        ask_for_json(False)
        command = self.loaded()
        options = {name for parameter in command.params for name in parameter.opts}
        return command.make_context(info_name, respelled(self._path, options, args), *given, **more)


class _Group(TyperGroup):
    """The commands of `_COMMANDS` in this group; in the main group, those of one word."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        group = self.name if self.name in _GROUPS else ""
        paths = [path for path in _COMMANDS if path.rpartition(" ")[0] == group]
        found = {path.split()[-1]: _LazyCommand(path) for path in paths} | {**self.commands}
        panels = {} if group else {name: panel for panel, names in _PANELS.items() for name in names}
        self.commands = {name: found.pop(name) for name in panels} | found
        for name, command in self.commands.items():
            assert isinstance(command, TyperCommand | TyperGroup)
            command.rich_help_panel = panels.get(name)

    def make_context(self, *given: Any, **more: Any) -> Any:
        """See typer."""
        with _visible_refusals():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        """See typer."""
        with _visible_refusals():
            return super().invoke(ctx)


_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""The error that typer raises for a wrong command line."""


@contextmanager
def _visible_refusals() -> Iterator[None]:
    """Remove control characters from typer's own error messages, which repeat what was typed."""
    try:
        yield
    except _UsageError as refusal:
        for name, said in vars(refusal).items():
            if isinstance(said, str):
                setattr(refusal, name, visible(said))
        raise


app = typer.Typer(
    name="wolflab",
    cls=_Group,
    help="A laboratory for language agents in the game of Werewolf.\n\n"
    "Start with:  wolflab run quickstart   or   wolflab play",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _help in _GROUPS.items():
    app.add_typer(typer.Typer(cls=_Group, help=_help, no_args_is_help=True), name=_name)


def _version(value: bool) -> None:
    if value:
        import platform
        from importlib.metadata import PackageNotFoundError, version

        from . import __version__

        typer.echo(f"wolflab {__version__}\nPython {platform.python_version()}, {platform.system()}")
        for name in _VERSIONED:
            with suppress(PackageNotFoundError):
                typer.echo(f"{name} {version(name)}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the versions that matter."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """The `wolflab` command: a user's mistake is one sentence and exit code 2, never a traceback."""
    if sys.platform == "win32":
        sys.exit("wolflab: it runs on Linux and macOS; on Windows, install it in WSL")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # some terminals cannot show every letter
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, _terminated)
    try:
        app()
    except (WolflabError, OSError, ExceptionGroup) as error:
        text = _words(error)
        if text is None:
            raise
        from rich.markup import escape

        console(stderr=True).print(f"[bold red]wolflab:[/] {escape(text)}", highlight=False, soft_wrap=True)
        sys.exit(ExitCode.MISTAKE)
    except SystemExit as end:
        if end.code == ExitCode.INTERRUPTED:
            from .ui.commands.common import stopped

            console(stderr=True).print(stopped(), highlight=False, markup=False, soft_wrap=True)
            sys.exit(128 + _signal(end))
        raise


def _signal(error: BaseException | None) -> int:
    """The signal that ended the command."""
    while error is not None:
        if isinstance(error, Interrupted):
            return error.number
        error = error.__context__
    return signal.SIGINT


def _terminated(number: int, frame: object) -> None:
    """SIGTERM ends a command as Ctrl-C does."""
    raise Interrupted(number)


def _words(error: BaseException) -> str | None:
    """The message for the user; None for a fault of the program."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, WolflabError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; name a place where this can be read or written"
    if isinstance(error, OSError) and error.strerror:  # while an open file is read or written
        return f"{error.strerror}; {DISK_ADVICE}"
    return None
