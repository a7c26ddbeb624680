"""The command line: flags and nothing else. What a command does lives in the other rooms."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from .errors import Interrupted, WolflabError
from .files import MEND_DISK
from .ui.terminal.console import ExitCode, console
from .ui.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator


_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer refuses words of a command line with."""


_PRESETS = "PRESETS"
"""Stands in a help where the presets of the rules are named."""


class _Commands(TyperGroup):
    """Repeats nothing in its refusals that would steer the terminal: typer prints them itself."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _visible_refusals():
            return super().make_context(*given, **more)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The chosen command alone has its presets named: the start needs no rules."""
        name, command, rest = super().resolve_command(ctx, args)
        for option in command.params if command is not None else ():
            if _PRESETS in (getattr(option, "help", None) or ""):
                from .rules import PRESETS

                option.help = option.help.replace(_PRESETS, ", ".join(PRESETS))  # type: ignore[attr-defined]
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        with _visible_refusals():
            return super().invoke(ctx)


@contextmanager
def _visible_refusals() -> Iterator[None]:
    try:
        yield
    except _UsageError as refusal:
        for name, said in vars(refusal).items():
            if isinstance(said, str):
                setattr(refusal, name, visible(said))
        raise


app = typer.Typer(
    name="wolflab",
    cls=_Commands,
    help="A laboratory for language agents in the game of Werewolf.\n\n"
    "Start with:  wolflab run quickstart   or   wolflab play",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Set = Annotated[
    list[str], typer.Option("-o", "--set", help="Change a field: place.to.change=value (repeatable).")
]
OnVillage = Annotated[
    bool, typer.Option("--village", help="Run it on the built-in player (an instrument check).")
]
Out = Annotated[Path | None, typer.Option(help="Directory of this run (default: a new one under runs/).")]
Resume = Annotated[
    Path | None, typer.Option(help="Take up this run where it stopped; -o changes its budget, concurrency …")
]


def _ask_about_keys(yes: bool) -> bool:
    """Who is asked before a key goes to a server that it does not belong to. yes: it was said already."""
    from .models.servers import keys
    from .ui.terminal.console import confirmed

    def asked(wanted: keys.KeyNotAllowed) -> keys.Allowed:
        if not confirmed(wanted.what, "May it go there?", yes):
            return "no"
        return "now" if yes else "always"

    keys.ask = asked
    return yes


Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help="Begin it, whatever it may cost, and send keys to the servers that its files name.",
        callback=_ask_about_keys,
    ),
]
SendKeys = Annotated[
    bool,
    typer.Option("--yes", help="Send keys to the servers that settings name.", callback=_ask_about_keys),
]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Play on, though a model's first replies are all of no use.")
]
_RULES = f"The preset of the rules: {_PRESETS}."
Rules = Annotated[str, typer.Option(help=_RULES)]
ModelSet = Annotated[
    list[str], typer.Option("--set", help="A setting of the model: base_url=… (repeatable).")
]
Tokens = Annotated[int | None, typer.Option(help="Budget of tokens, earlier calls counted in.")]
Usd = Annotated[float | None, typer.Option(help="Budget of USD; models need a price.")]
GoingOn = Annotated[
    Path | None, typer.Option("-o", "--out", help="A directory, new or to go on in (default: under runs/).")
]
RulesOfQuestions = Annotated[
    str | None, typer.Option(help="The rules (a preset) of questions that do not say theirs.")
]
AdapterFolder = Annotated[Path, typer.Argument(help="The folder of a LoRA adapter.", show_default=False)]
RunPath = Annotated[
    Path, typer.Argument(help="A run's directory, as printed by `wolflab run`.", show_default=False)
]


def main() -> None:
    """The `wolflab` command: a user's mistake is one sentence and exit code 2, never a traceback."""
    if sys.platform == "win32":
        sys.exit("wolflab: it runs on Linux and macOS; on Windows, install it in WSL")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal may not know every letter that we write
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, _terminated)
    _ask_about_keys(False)
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
    """By which signal somebody ended the command that ended with this."""
    while error is not None:
        if isinstance(error, Interrupted):
            return error.number
        error = error.__context__
    return signal.SIGINT


def _terminated(number: int, frame: object) -> None:
    """SIGTERM ends a command as Ctrl-C does."""
    raise Interrupted(number)


def _words(error: BaseException) -> str | None:
    """What to tell the user; None for what is nobody's mistake but ours."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, WolflabError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; name a place where this can be read or written"
    if isinstance(error, OSError) and error.strerror:  # while a file that is open is read or written
        return f"{error.strerror}; {MEND_DISK}"
    return None


@contextmanager
def _reading(path: Path) -> Iterator[Store]:
    from .lab.storage.store import Store

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
    set_: Set = [],
    village: OnVillage = False,
    out: Out = None,
    resume: Resume = None,
    yes: Yes = False,
    keep_going: KeepGoing = False,
) -> None:
    """Run an experiment, then print its table and write its report."""
    from .ui.commands.run import run_experiment

    raise typer.Exit(run_experiment(console(), experiment, set_, village, out, resume, yes, keep_going))


@app.command(
    epilog="Examples:  `wolflab plan helmsman-table1`  ·  "
    "`wolflab plan quickstart -o sheriff.model=openai/gpt-4o-mini --ask 24`"
)
def plan(
    experiment: Annotated[str, typer.Argument(help="A YAML file, or the name of a shipped one.")],
    set_: Set = [],
    village: OnVillage = False,
    ask: Annotated[
        int, typer.Option(min=0, max=1000, help="Put so many prompts to each model first; they are paid for.")
    ] = 0,
    games: Annotated[
        int, typer.Option(min=1, max=10000, help="Games to rehearse on the built-in player.")
    ] = 24,
    yes: SendKeys = False,
) -> None:
    """Tell what an experiment, a tournament or a study will take: calls, tokens, money, time."""
    from .ui.terminal.forecast import plan_run

    plan_run(console(), experiment, set_, village, games, ask)


@app.command(epilog="Example:  `wolflab status runs/…`")
def status(
    run: Annotated[
        Path, typer.Argument(help="The directory of a run, a training, a judge …", show_default=False)
    ],
) -> None:
    """Tell how far something is, while it goes on or after it has stopped, and how to go on."""
    from .ui.commands.status import show_status

    show_status(console(), run)


@app.command(
    epilog="Examples:  `wolflab play`  ·  `wolflab play --rules witch --seed 7 --thoughts`  ·  "
    "`wolflab play --model ollama/llama3.1 --recipe vanilla`"
)
def play(
    context: typer.Context,
    rules: Rules = "sheriff",
    model: Annotated[str, typer.Option(help="Who plays (see `wolflab models`).")] = "village",
    recipe: Annotated[
        str, typer.Option(help="How they think: vanilla, deductive, … random, or module:Class.")
    ] = "deductive",
    seed: Annotated[int, typer.Option(help="The same seed gives the same game.")] = 1,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="Show what the players think.")] = False,
    set_: Set = [],
    pace: Annotated[
        float | None, typer.Option(help="Seconds to rest after each line (default: 0.3 in a terminal).")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the game as a run in this directory.")] = None,
    human: Annotated[
        str | None, typer.Option(help="Play yourself, at this seat: its name or number.", show_default=False)
    ] = None,
    as_: Annotated[str, typer.Option("--as", help="With --human: the role that you are to be dealt.")] = "",
    resume: Annotated[
        Path | None, typer.Option(help="Go on with a game that you left.", show_default=False)
    ] = None,
    yes: SendKeys = False,
) -> None:
    """Play one game, live: watch it, or take a seat."""
    from .ui.commands.play import PersonalSeat, play_game, resume_table

    if pace is not None and not 0 <= pace <= 3600:
        raise typer.BadParameter(f"--pace: got {pace}; use seconds from 0 to 3600")
    _check_alone(context, besides=("pace", "yes"))
    if resume is not None:
        return resume_table(console(), resume, pace)
    if as_ and human is None:
        raise typer.BadParameter("--as says which role you play; name your seat with --human")
    seat = None if human is None else PersonalSeat(human, as_)
    return play_game(console(), rules, model, recipe, seed, thoughts, set_, pace, out, seat)


Listening = Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines in.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")]
AllowHost = Annotated[
    list[str],
    typer.Option(
        help="Another name of this server, as browsers show it (NAME, NAME:PORT or NAME/PATH); repeatable."
    ),
]
BehindProxy = Annotated[
    bool, typer.Option(help="A reverse proxy on this machine speaks for the browsers (for TLS).")
]


@app.command(epilog="Examples:  `wolflab serve`  ·  `wolflab serve runs/…`  ·  `wolflab serve --port 8080`")
def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Runs to look at, or folders of runs; without any: tables for people.", show_default=False
        ),
    ] = None,
    host: Listening = "127.0.0.1",
    port: Port = 8000,
    out: Annotated[
        Path | None, typer.Option(help="Where tables are kept (default: runs/tables).", show_default=False)
    ] = None,
    allow_host: AllowHost = [],
    behind_proxy: BehindProxy = False,
) -> None:
    """Serve tables at which people play among agents, in the browser; or, with RUNS, runs to look at."""
    from .ui.commands.serve import serve as serve_tables
    from .ui.commands.serve import serve_runs

    if runs:
        if out is not None:
            raise typer.BadParameter(
                "--out says where tables are kept; leave it out where runs are looked at"
            )
        serve_runs(console(), host, port, runs, allow_host, behind_proxy)
    else:
        serve_tables(console(), host, port, out or Path("runs/tables"), allow_host, behind_proxy)


@app.command(
    epilog="Examples:  `wolflab study helmsman-people --draft mine.yaml`  ·  `wolflab study mine.yaml`  ·  "
    "`wolflab study runs/mine --show`"
)
def study(
    source: Annotated[
        str, typer.Argument(help="A study's file, a shipped study's name, or a study's folder.")
    ],
    draft: Annotated[
        Path | None,
        typer.Option(help="Write the study as a file to fill in, and stop.", show_default=False),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Tell how far it is, and stop.")] = False,
    host: Listening = "127.0.0.1",
    port: Port = 8000,
    out: Annotated[
        Path | None, typer.Option(help="The study's folder (default: under runs/).", show_default=False)
    ] = None,
    allow_host: AllowHost = [],
    behind_proxy: BehindProxy = False,
    yes: Yes = False,
) -> None:
    """Run a study with people: consent, rules, games among agents, questions."""
    from .ui.commands.serve import serve_study
    from .ui.commands.study import draft_study, show_study

    if draft is not None:
        draft_study(console(), source, draft)
    elif show:
        show_study(console(), Path(source))
    else:
        serve_study(console(), source, host, port, out, allow_host, behind_proxy, yes)


@app.command(epilog="Example:  `wolflab erase runs/… --person anna`")
def erase(
    run: RunPath,
    person: Annotated[
        str | None, typer.Option(help="Who is to be erased, as the run names people.", show_default=False)
    ] = None,
    seat: Annotated[
        str | None, typer.Option(help="Or the seat of whoever it is.", show_default=False)
    ] = None,
    also: Annotated[
        list[Path],
        typer.Option(help="A further folder to look through: label sets, pools, exports (repeatable)."),
    ] = [],
) -> None:
    """Erase what a person said at the table, for good; the rest of the games still verifies."""
    from .ui.commands.erase import erase_words

    if (person is None) == (seat is None):
        raise typer.BadParameter("name a --person or a --seat; one of the two")
    erase_words(console(), run, person, seat, also)


@app.command(epilog="Examples:  `wolflab report runs/…`  ·  `wolflab report runs/… --out page.html`")
def report(
    run: RunPath,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the page (default: report.html in the run).")
    ] = None,
    replays: Annotated[
        bool,
        typer.Option("--replays", help="Also write the games that it quotes as pages, and link to them."),
    ] = False,
) -> None:
    """Print a run's tables and write its report.html."""
    from .ui.commands.run import report_run

    with _reading(run) as store:
        report_run(console(), store, out, replays)


@app.command(
    epilog="Examples:  `wolflab compare runs/first runs/second --out compared.html`  ·  "
    "`wolflab compare runs/first runs/second --contrasts rounds,invalid --to paper`"
)
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two runs or more that dealt the same cards.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the page; its numbers come beside it "
            "(default: compared.html, in the directory of --to where there is one)."
        ),
    ] = None,
    contrasts: Annotated[
        list[str],
        typer.Option(help="Further measures to compare, by comma (repeatable; see `wolflab measures`)."),
    ] = [],
    to: Annotated[
        Path | None,
        typer.Option(help="A directory for its tables (CSV, LaTeX) and figures (SVG, PNG, PDF) as files."),
    ] = None,
) -> None:
    """Set the conditions of several runs side by side, paired by deal."""
    from .ui.commands.run import compare_runs

    measures = [name.strip() for names in contrasts for name in names.split(",")]
    with ExitStack() as opened:
        stores = [opened.enter_context(_reading(run)) for run in runs]
        page = out or (to or Path()) / "compared.html"
        compare_runs(console(), stores, page, measures, to)


@app.command(
    epilog="Examples:  `wolflab show runs/…`  ·  `wolflab show runs/… 1`  ·  "
    "`wolflab show runs/… 1 --as player_3 --thoughts`  ·  "
    "`wolflab show runs/… 1 --turn 2/vote/3 --without reflection`"
)
def show(
    run: RunPath,
    game: Annotated[
        int | None, typer.Argument(help="The game's number; without one, all are listed.", show_default=False)
    ] = None,
    as_: Annotated[str | None, typer.Option("--as", help="One player's log: what this seat saw.")] = None,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="With what the players noted down.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="With every prompt and reply.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Who trusts whom, day by day, instead.")] = False,
    turn: Annotated[
        str | None,
        typer.Option(help="One turn alone, step by step: 2/vote/player_4, or 2/vote/3 by seat, from 0."),
    ] = None,
    without: Annotated[
        list[str], typer.Option(help="Beside that turn, the same without this component (repeatable).")
    ] = [],
    step: Annotated[str | None, typer.Option(help="Of --prompts, this step alone: answer/3, act …")] = None,
) -> None:
    """List a run's games, or print one of them, or one turn of it."""
    from .ui.commands.show import Wanted, list_games
    from .ui.commands.show import show as print_game

    wanted = Wanted(as_, thoughts, prompts, trust, turn, without, step)
    with _reading(run) as store:
        if game is None:
            list_games(console(), store, wanted)
        else:
            print_game(console(), store, game, wanted)


@app.command(epilog="Examples:  `wolflab replay runs/… 1`  ·  `wolflab replay runs/… 1 --as player_2`")
def replay(
    run: RunPath,
    game: Annotated[int, typer.Argument(help="The game's number: `wolflab show` lists them.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file (default: replay/NUMBER.html in the run).", show_default=False
        ),
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option("--as", help="What this player may know, and nothing else.", show_default=False),
    ] = None,
) -> None:
    """Write a game as a page to watch: it opens from disk, and needs no server."""
    from .ui.commands.replay import write_replay

    with _reading(run) as store:
        write_replay(console(), store, game, out, as_)


@app.command(epilog="Example:  `wolflab errors runs/…`")
def errors(run: RunPath) -> None:
    """List a run's unusable replies, failed games and what endpoints made us change."""
    from .ui.commands.run import list_errors

    with _reading(run) as store:
        list_errors(console(), store)


@app.command(epilog="Examples:  `wolflab verify runs/…`  ·  `wolflab verify runs/… --agents`")
def verify(
    run: Annotated[
        Path,
        typer.Argument(
            help="The directory of a run, a training, a judge or an evaluation, or a pool's file.",
            show_default=False,
        ),
    ],
    agents: Annotated[
        bool, typer.Option("--agents", help="Also play every game again from its calls.")
    ] = False,
) -> None:
    """Check that all is there and holds: games of the plan, hashes, rules, settings, totals; with --agents
    prompts and notes."""
    from .ui.commands.verify import verify_path

    ok = verify_path(console(), run, agents)
    raise typer.Exit(ExitCode.DONE if ok else ExitCode.NOT_OVER)


@app.command(
    epilog="Examples:  `wolflab export runs/… records`  ·  "
    "`wolflab export runs/… paper --as tables --as figures`  ·  `wolflab export runs/… --to inspect`"
)
def export(
    run: RunPath,
    to: Annotated[
        Path | None,
        typer.Argument(help="A directory (default: `exported` in the run's own).", show_default=False),
    ] = None,
    as_: Annotated[
        list[str],
        typer.Option(
            "--as",
            "--to",
            help="records: JSON lines of each game, and calls.jsonl; data: flat tables as Parquet and JSON "
            "lines; tables: the report's as CSV and LaTeX; figures: the report's as SVG, PNG and PDF; all: "
            "these four; inspect: eval logs of Inspect; scout: transcripts of Inspect Scout (repeatable).",
        ),
    ] = ["records"],
    texts: Annotated[
        bool,
        typer.Option(
            "--texts", help="Data with prompts, replies and what people said; transcripts with the latter."
        ),
    ] = False,
    judge: Annotated[
        list[Path], typer.Option(help="Data with the calls of this judge: its directory (repeatable).")
    ] = [],
) -> None:
    """Write a run's records, data, tables, figures or transcripts to files."""
    from .ui.commands.export import export_as

    export_as(console(), run, to, as_, texts, judge)


@app.command(
    "ask-again",
    epilog="Example:  `wolflab ask-again runs/… --model ollama/llama3.1 --model openai/gpt-4o-mini`",
)
def ask_again(
    run: RunPath,
    model: Annotated[
        list[str],
        typer.Option(
            help="Who is asked; others are compared with the first (repeatable).", show_default=False
        ),
    ],
    set_: ModelSet = [],
    n: Annotated[int, typer.Option("-n", "--n", min=1, help="How many prompts.")] = 100,
    seed: Annotated[int, typer.Option(help="The seed of that draw.")] = 1,
    task: Annotated[list[str], typer.Option(help="This kind of task alone: vote … (repeatable).")] = [],
    free: Annotated[
        bool, typer.Option("--free", help="Leave out the JSON schema, to which servers hold replies.")
    ] = False,
    out: GoingOn = None,
    tokens: Tokens = None,
    usd: Usd = None,
    yes: Yes = False,
) -> None:
    """Put a run's recorded prompts to models: how many replies are valid, how many actions legal."""
    from .ui.commands.ask_again import PromptsWanted, ask_run_again

    limits = tokens, usd
    wanted = PromptsWanted(run, tuple(model), tuple(set_), n, seed, tuple(task), free, out, limits, yes)
    raise typer.Exit(ExitCode.DONE if ask_run_again(console(), wanted) else ExitCode.NOT_OVER)


@app.command(
    epilog="Examples:  `wolflab models`  ·  `wolflab models --check ollama/llama3.1`  ·  "
    "`wolflab models --check my-model -o base_url=http://gpu-box:8000/v1`"
)
def models(
    check: Annotated[str | None, typer.Option(help="Ask this model what a game asks.")] = None,
    set_: Annotated[
        list[str], typer.Option("--set", "-o", help="With --check, a setting of it (repeatable).")
    ] = [],
    yes: SendKeys = False,
) -> None:
    """List what can be named as a model; with --check, ask one what a game asks, and read its replies."""
    from .ui.commands.run import check_a_model, list_models

    if check is not None:
        raise typer.Exit(check_a_model(console(), check, set_))
    if set_:
        raise typer.BadParameter("-o is a setting of the model that --check names")
    list_models(console())


@app.command(epilog="Example:  `wolflab experiments`, then  `wolflab run helmsman-fig2 --village`")
def experiments() -> None:
    """List the experiments that come with Wolflab."""
    from .ui.commands.run import list_experiments

    list_experiments(console())


@app.command(epilog="Example:  `wolflab measures`")
def measures() -> None:
    """List the measures: what a report shows and what conditions can be compared on."""
    from .ui.report.measures import list_measures

    list_measures(console())


@app.command(epilog="Examples:  `wolflab bench`  ·  `wolflab bench rules`")
def bench(
    only: Annotated[
        str | None, typer.Argument(help="rules, village, calls, prompts, policy or training (default: all).")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.001, help="This share of the usual number of games, for a first look.")
    ] = 1.0,
) -> None:
    """Measure Wolflab on this machine, against references in the same run."""
    from .bench.suite import bench as measure

    measure(console(), only, share)


experience = typer.Typer(help="Pools of experience that reflective players learn from.", no_args_is_help=True)
app.add_typer(experience, name="experience")
PoolFile = Annotated[Path, typer.Argument(help="A pool's file.", show_default=False)]
PoolOut = Annotated[Path, typer.Option("-o", "--out", help="The new pool's file.", show_default=False)]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")]


@experience.command("build", epilog="Example:  `wolflab experience build runs/… -o village.pool --games 40`")
def experience_build(
    runs: Annotated[list[Path], typer.Argument(help="Runs with reflective players.", show_default=False)],
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
    from .lab.experience.from_games import Selection
    from .lab.plans.overrides import embedder_given
    from .ui.commands.experience import build_and_show_pool

    named = embedder_given(embedder)
    chosen = Selection(tuple(condition), skip, games, side, shuffle)  # type: ignore[arg-type]  # checked there
    build_and_show_pool(console(), runs, out, named, chosen, share, epsilon, overwrite)


@experience.command("inspect", epilog="Example:  `wolflab experience inspect village.pool --sample 5`")
def experience_inspect(
    pool: PoolFile, sample: Annotated[int, typer.Option(help="How many experiences to print.")] = 3
) -> None:
    """Say what a pool holds, by whom it was made and how near is near enough."""
    from .ui.commands.experience import inspect_pool

    inspect_pool(console(), pool, sample)


@experience.command("merge", epilog="Example:  `wolflab experience merge a.pool b.pool -o both.pool`")
def experience_merge(
    pools: Annotated[list[Path], typer.Argument(help="Two pools or more.", show_default=False)],
    out: PoolOut,
    overwrite: Overwrite = False,
) -> None:
    """Join pools into one."""
    from .ui.commands.experience import merge_pools

    merge_pools(console(), pools, out, overwrite)


annotate = typer.Typer(
    help="Replies to be labelled by people and by a judge, and how far they agree.", no_args_is_help=True
)
app.add_typer(annotate, name="annotate")
SampleDir = Annotated[Path, typer.Argument(help="The sample's directory.", show_default=False)]
Moved = Annotated[Path | None, typer.Option(help="Where the run is now, if it was moved.")]


@annotate.command("sample", epilog="Example:  `wolflab annotate sample runs/… -o labels --per-condition 50`")
def annotate_sample(
    run: RunPath,
    out: Annotated[Path, typer.Option("-o", "--out", help="A directory for the sample.", show_default=False)],
    per_condition: Annotated[int, typer.Option(help="Replies of each condition.")] = 50,
    seed: Annotated[int, typer.Option(help="Another seed gives another sample.")] = 1,
    kind: Annotated[list[str], typer.Option(help="statement, vote, kill … (repeatable).")] = [],
    recipe: Annotated[list[str], typer.Option(help="Players of this recipe alone (repeatable).")] = [],
    reasoning: Annotated[bool, typer.Option("--reasoning", help="Show the reasoning too.")] = False,
) -> None:
    """Draw replies blindly: a page and a table for raters, and a key to be kept from them."""
    from .ui.commands.annotate import draw_sample

    draw_sample(console(), run, out, per_condition, seed, kind or None, recipe or None, reasoning)


@annotate.command("judge", epilog="Example:  `wolflab annotate judge labels --model openai/gpt-4o-mini`")
def annotate_judge(
    sample: SampleDir,
    model: Annotated[str, typer.Option(help="Who judges (see `wolflab models`).", show_default=False)],
    set_: Annotated[
        list[str], typer.Option("-o", "--set", help="A setting of the model: base_url=… (repeatable).")
    ] = [],
    behaviours: Annotated[bool, typer.Option("--behaviours", help="Judge the behaviours too.")] = False,
    tokens: Tokens = None,
    usd: Usd = None,
    run: Moved = None,
    yes: Yes = False,
) -> None:
    """Let a model label the sample; what it has answered is kept and not asked again."""
    from .lab.plans.overrides import model_given
    from .ui.commands.annotate import judge_sample

    judged = judge_sample(
        console(), sample, model_given(model, set_), behaviours, run=run, limits=(tokens, usd), yes=yes
    )
    raise typer.Exit(ExitCode.NOT_OVER if judged.waiting else ExitCode.DONE)


@annotate.command("agree", epilog="Example:  `wolflab annotate agree labels anna.csv ben.csv`")
def annotate_agree(
    sample: SampleDir,
    labels: Annotated[list[Path] | None, typer.Argument(help="Filled-in tables of people.")] = None,
    run: Moved = None,
) -> None:
    """How far people, rules and judge agree (κ), and what each finds in every condition."""
    from .ui.commands.annotate import show_agreement

    show_agreement(console(), sample, labels or [], run)


wwqa = typer.Typer(
    cls=_Commands,
    help="WWQA: questions on the rules, proved by the engine, and how models answer.",
    no_args_is_help=True,
)
app.add_typer(wwqa, name="wwqa")
RulesSet = Annotated[
    list[str], typer.Option("--set", help="Change a switch of the rules: tie=random (repeatable).")
]


@wwqa.command("build", epilog="Example:  `wolflab wwqa build --rules sheriff --n 2000 -o sheriff.jsonl`")
def wwqa_build(
    out: Annotated[Path, typer.Option("-o", "--out", help="The new file.", show_default=False)],
    rules: Rules = "sheriff",
    set_: RulesSet = [],
    n: Annotated[
        int, typer.Option(min=1, max=200_000, help="How many items, training and tests together.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same items.")] = 1,
    kind: Annotated[list[str], typer.Option(help="This kind alone; see `kinds` (repeatable).")] = [],
    wordings: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="At most so many ways to tell and to ask each kind, but for the test of new wordings.",
            show_default=False,
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Make questions on a ruleset, each proved by the rules engine, in splits for training and tests."""
    from .ui.commands.wwqa_build import build_set

    build_set(console(), rules, set_, n, seed, out, kind, overwrite, wordings)


@wwqa.command("general", epilog="Example:  `wolflab wwqa general --n 200 -o general.jsonl`")
def wwqa_general(
    out: Annotated[Path, typer.Option("-o", "--out", help="The new file.", show_default=False)],
    n: Annotated[int, typer.Option("--n", help="How many questions (1 to 2,000).")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed gives the same questions.")] = 1,
    overwrite: Overwrite = False,
) -> None:
    """Make questions of general ability (counting, comparing, copying, form), to see what training broke."""
    from .ui.commands.wwqa_build import build_general

    build_general(console(), n, seed, out, overwrite)


@wwqa.command("kinds", epilog="Example:  `wolflab wwqa kinds`")
def wwqa_kinds() -> None:
    """List the kinds of questions that `build` and `general` make."""
    from .ui.commands.wwqa_build import list_kinds

    list_kinds(console())


QuestionFiles = Annotated[list[Path], typer.Argument(help="Files of questions.", show_default=False)]


@wwqa.command(
    "audit",
    epilog="Example:  `wolflab wwqa audit binary_qa_raw.json --train rule_based_qa.csv "
    "--train situation_based_qa.csv -o audited`",
)
def wwqa_audit(
    files: QuestionFiles,
    train: Annotated[list[Path], typer.Option(help="A training file (repeatable).")] = [],
    rules: Annotated[
        str | None, typer.Option(help="Hold labels against this preset, not against 002's rules.")
    ] = None,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="A directory for the page, the numbers and cleaned copies.")
    ] = Path("wwqa-audit"),
) -> None:
    """Find doubles, contradictions, wrong labels and test questions in training; write cleaned copies."""
    from .ui.commands.wwqa_audit import audit_files

    audit_files(console(), files, train, rules, out)


@wwqa.command("eval", epilog="Example:  `wolflab wwqa eval questions.jsonl --model ollama/llama3.1`")
def wwqa_eval(
    files: QuestionFiles,
    model: Annotated[list[str], typer.Option(help="Who answers (repeatable).", show_default=False)],
    set_: ModelSet = [],
    out: GoingOn = None,
    split: Annotated[
        list[str], typer.Option(help="Ask this split, not the test splits: train … (repeatable).")
    ] = [],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask at most so many questions of each row.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of that draw, and of --coin.")] = 1,
    rules_text: Annotated[str, typer.Option(help="Put the rules in front: yes, no or both.")] = "yes",
    rules: RulesOfQuestions = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Leave out the instruction, as 002's release does.")
    ] = False,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="The longest reply; a model that reasons needs more.")
    ] = 64,
    coin: Annotated[bool, typer.Option("--coin", help="Read Yes and No by the release's rule.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Ask for the probability of Yes: AUC and calibration.")
    ] = False,
    judge: Annotated[
        str | None, typer.Option(help="A model that judges open answers; its settings in braces.")
    ] = None,
    train: Annotated[
        list[Path], typer.Option(help="A training file: its questions are contamination (repeatable).")
    ] = [],
    tokens: Tokens = None,
    usd: Usd = None,
    yes: Yes = False,
) -> None:
    """Put questions to models: accuracy, F1, baselines and a page. What was answered is not asked again."""
    from .ui.commands.wwqa_eval import EvalWanted, eval_settings, evaluate_files

    settings = eval_settings(
        rules_text,
        rules,
        plain=plain,
        max_tokens=max_tokens,
        coin=coin,
        probabilities=probabilities,
        seed=seed,
    )
    limits, asked = (tokens, usd), (tuple(model), tuple(set_))
    wanted = EvalWanted(tuple(files), *asked, out, tuple(split), tuple(train), limit, judge, limits, yes)
    done = evaluate_files(console(), wanted, settings)
    raise typer.Exit(ExitCode.DONE if done else ExitCode.NOT_OVER)


@wwqa.command(
    "generate",
    epilog="Example:  `wolflab wwqa generate --rules sheriff --model openai/gpt-4o-mini -o questions --n 40`",
)
def wwqa_generate(
    model: Annotated[str, typer.Option(help="Who writes them (see `wolflab models`).", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", help="A directory for them.", show_default=False)],
    rules: Rules = "sheriff",
    n: Annotated[int, typer.Option("--n", help="How many questions.")] = 40,
    form: Annotated[list[str], typer.Option(help="open or yes_no (repeatable).")] = ["open", "yes_no"],
    label: Annotated[
        bool, typer.Option("--label", help="Propose answers to yes-or-no questions too.")
    ] = False,
    revise_model: Annotated[str | None, typer.Option(help="Who revises (default: the same model).")] = None,
    near: Annotated[
        str, typer.Option(help="Leave out near-duplicates by this embedder: hashing, minilm … or off.")
    ] = "hashing",
    threshold: Annotated[float, typer.Option(help="… that are at least so similar (cosine).")] = 0.95,
    seed: Annotated[int, typer.Option(help="Another seed gives other questions.")] = 1,
    tokens: Tokens = None,
    usd: Usd = None,
    set_: ModelSet = [],
    revise_set: Annotated[
        list[str], typer.Option(help="A setting of the model that revises (repeatable).")
    ] = [],
    yes: Yes = False,
) -> None:
    """Let a model write questions, revise and answer them; what it has answered is kept."""
    from .lab.plans.overrides import model_given
    from .ui.commands.wwqa_generate import generate_questions

    reviser = None if revise_model is None else model_given(revise_model, revise_set)
    writer, limits = model_given(model, set_), (tokens, usd)
    made = generate_questions(
        console(), rules, writer, out, n, reviser, tuple(form), label, near, threshold, seed, limits, yes
    )
    raise typer.Exit(ExitCode.NOT_OVER if made.why else ExitCode.DONE)


@wwqa.command(
    "review",
    epilog="Examples:  `wolflab wwqa review to_label.jsonl --blind`  ·  "
    "`wolflab wwqa review to_label.jsonl --labels anna.csv --labels ben.csv -o reviewed.jsonl`",
)
def wwqa_review(
    file: Annotated[Path, typer.Argument(help="A file of questions.", show_default=False)],
    blind: Annotated[bool, typer.Option("--blind", help="Keep the file's answers from people.")] = False,
    labels: Annotated[list[Path], typer.Option(help="A person's filled-in table (repeatable).")] = [],
    decided: Annotated[
        list[Path], typer.Option(help="A table whose word settles where people disagree (repeatable).")
    ] = [],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="With --labels: the reviewed file. Without: where to put the page."),
    ] = None,
) -> None:
    """Have people accept, correct or reject questions: make their page, or take their tables back."""
    from .ui.commands.wwqa_review import review_questions

    review_questions(console(), file, labels, decided, out, blind)


@wwqa.command(
    "export", epilog="Example:  `wolflab wwqa export sheriff.jsonl --to inspect -o sheriff-inspect`"
)
def wwqa_export(
    file: Annotated[Path, typer.Argument(help="Questions with splits.", show_default=False)],
    to: Annotated[str, typer.Option(help="hf (datasets), lm-eval or inspect.", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", help="The new folder.", show_default=False)],
    rules_text: Annotated[str, typer.Option(help="The rules in front: yes or no.")] = "yes",
    built_with: Annotated[
        str, typer.Option(help="The command that made the questions, for a data set's card.")
    ] = "",
) -> None:
    """Write questions for Hugging Face's datasets, lm-evaluation-harness or Inspect."""
    from .ui.commands.wwqa_build import export_questions

    export_questions(console(), file, to, out, rules_text, built_with)


@wwqa.command("adapter", epilog="Example:  `wolflab wwqa adapter tuned/adapter -o merged`")
def wwqa_adapter(
    adapter: AdapterFolder,
    out: Annotated[Path, typer.Option("-o", "--out", help="A new folder.", show_default=False)],
) -> None:
    """Hand a trained adapter on to servers: merged into its base, as a folder of whole weights."""
    from .ui.commands.wwqa_adapter import merge_adapter

    merge_adapter(console(), adapter, out)


@wwqa.command(
    "parity",
    epilog="Example:  `wolflab wwqa parity tuned/adapter questions.jsonl --model vllm/tuned`",
)
def wwqa_parity(
    adapter: AdapterFolder,
    questions: Annotated[Path, typer.Argument(help="A file of questions.", show_default=False)],
    model: Annotated[str, typer.Option(help="The adapter behind a server.", show_default=False)],
    set_: ModelSet = [],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file of all prompts and answers.")] = Path(
        "parity.json"
    ),
    n: Annotated[int, typer.Option("--n", min=1, help="How many questions.")] = 50,
    seed: Annotated[int, typer.Option(help="Another seed draws others.")] = 1,
    least: Annotated[
        float, typer.Option(min=0, max=1, help="The share of first words that has to be equal.")
    ] = 0.96,
    rules_text: Annotated[str, typer.Option(help="The rules in front: yes or no.")] = "yes",
    rules: RulesOfQuestions = None,
    yes: SendKeys = False,
) -> None:
    """Hold a server against training: equal prompts, token by token, and equal first words of answers."""
    from .ui.commands.wwqa_adapter import ParityWanted, check_parity

    wanted = ParityWanted(adapter, questions, model, tuple(set_), out, n, seed, least, rules_text, rules)
    raise typer.Exit(ExitCode.DONE if check_parity(console(), wanted) else ExitCode.NOT_OVER)


@wwqa.command(
    "finetune",
    epilog="Example:  `wolflab wwqa finetune sheriff.jsonl --model HuggingFaceTB/SmolLM2-135M-Instruct "
    "--settings small -o runs/tuned`",
)
def wwqa_finetune(
    files: QuestionFiles,
    model: Annotated[
        str, typer.Option(help="What is trained: a folder, a hub name or a GGUF.", show_default=False)
    ],
    out: GoingOn = None,
    settings: Annotated[str, typer.Option(help="paper (002 §9.2) or small.")] = "paper",
    set_: Annotated[list[str], typer.Option("--set", help="Change a setting: rank=16 (repeatable).")] = [],
    about: Annotated[
        list[str], typer.Option(help="Train on questions about rules, situations or both (repeatable).")
    ] = ["both"],
    n: Annotated[list[int], typer.Option("--n", min=1, help="Training questions (repeatable).")] = [],
    seed: Annotated[
        list[int], typer.Option(min=0, max=2**32 - 1, help="A training for each (repeatable).")
    ] = [1],
    test: Annotated[
        list[Path], typer.Option(help="A further file that is asked before and after (repeatable).")
    ] = [],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask at most so many questions of each test row.")
    ] = None,
    rules_text: Annotated[
        str, typer.Option(help="Put the rules in front of test questions: yes, no or both.")
    ] = "no",
    no_eval: Annotated[bool, typer.Option("--no-eval", help="Train, and ask nothing.")] = False,
) -> None:
    """Train a model on questions (LoRA), and ask it before and after. The same command goes on."""
    from .ui.commands.wwqa_finetune import FinetuneWanted, finetune

    wanted = FinetuneWanted(
        tuple(files),
        model,
        out,
        settings,
        tuple(set_),
        tuple(about),
        tuple(n),
        tuple(seed),
        tuple(test),
        limit,
        rules_text,
        not no_eval,
    )
    raise typer.Exit(ExitCode.DONE if finetune(console(), wanted) else ExitCode.NOT_OVER)


@app.command(
    epilog="Examples:  `wolflab tournament tournament-components --village`  ·  "
    "`wolflab tournament --entrant vanilla --entrant deductive-004 --deals 50`  ·  "
    "`wolflab tournament --resume runs/…`"
)
def tournament(
    context: typer.Context,
    file: Annotated[
        str | None, typer.Argument(help="A YAML file with entrants, or the name of a shipped one.")
    ] = None,
    entrant: Annotated[
        list[str], typer.Option(help="Instead: RECIPE, NAME=RECIPE or NAME=RECIPE@MODEL (repeatable).")
    ] = [],
    model: Annotated[str | None, typer.Option(help="Of entrants that name none.")] = None,
    rules: Annotated[str | None, typer.Option(help=_RULES)] = None,
    deals: Annotated[int | None, typer.Option(help="Sets of cards, the same for every pair.")] = None,
    set_: Set = [],
    village: OnVillage = False,
    out: Out = None,
    resume: Resume = None,
    show: Annotated[Path | None, typer.Option(help="Only show this run's tables.")] = None,
    yes: Yes = False,
    keep_going: KeepGoing = False,
) -> None:
    """Play everybody against everybody on both sides, then print win rates and ratings."""
    from .lab.storage.store import Store
    from .ui.commands import tournament as ui

    screen = console()
    _check_alone(context, ("set_", "yes", "keep_going") if show is None else ())
    if show is not None:
        with Store.open_for_reading(show) as store:
            ui.show_tournament(screen, store, None)
        return
    if resume is not None:
        ended = ui.resume_tournament(screen, resume, set_, yes, keep_going)
    else:
        named = ui.chosen_tournament(file, entrant, model, rules, deals, set_, village)
        ended = ui.run_tournament(screen, file, named, out, yes, keep_going)
    raise typer.Exit(ended)


@app.command(
    epilog="Examples:  `wolflab train train-small`  ·  "
    "`wolflab train my.yaml --seed 4 -o training.updates=20`  ·  "
    "`wolflab train --resume runs/…`  ·  `wolflab train --show runs/…`"
)
def train(
    context: typer.Context,
    experiment: Annotated[
        str | None,
        typer.Argument(help="A YAML file, or the name of a shipped training."),
    ] = None,
    seed: Annotated[list[int], typer.Option(help="Instead of the file's seeds (repeatable).")] = [],
    set_: Set = [],
    out: Out = None,
    resume: Resume = None,
    show: Annotated[Path | None, typer.Option(help="Only show this run's curve and results.")] = None,
) -> None:
    """Train the policy of a strategic player, then judge it on held-out deals."""
    from .ui.commands import train as ui

    if (experiment is not None) + (resume is not None) + (show is not None) != 1:
        raise typer.BadParameter("name a training, or --resume or --show a run; one of the three")
    _check_alone(context)
    ui.train(console(), experiment, seed, set_, out, resume, show)


@app.command(
    epilog="Examples:  `wolflab exploit deductive-004 --side werewolves`  ·  "
    "`wolflab exploit small --side village --updates 100`"
)
def exploit(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(help="Whom to exploit: a recipe, RECIPE@MODEL, a shipped policy, or the file of one."),
    ] = None,
    side: Annotated[str, typer.Option(help="The side that learns: village or werewolves.")] = "werewolves",
    updates: Annotated[int, typer.Option(help="The budget: updates of the best response.")] = 30,
    episodes: Annotated[int, typer.Option(help="… and games for each of them.")] = 512,
    deals: Annotated[int, typer.Option(help="Held-out deals that it is judged on.")] = 1000,
    seed: Annotated[list[int], typer.Option(help="One best response each (repeatable).")] = [1],
    set_: Set = [],
    out: Out = None,
    resume: Resume = None,
) -> None:
    """Train a best response against a frozen player: a lower bound of how far it can be exploited."""
    from .ui.commands import train as ui

    if (target is None) == (resume is None):
        raise typer.BadParameter("name a player to exploit, or --resume a run; one of the two")
    _check_alone(context)
    ui.exploit(console(), target, side, updates, episodes, deals, seed, set_, out, resume)


def _check_alone(context: typer.Context, besides: tuple[str, ...] = ()) -> None:
    """Refuse flags beside --resume or --show, which would be left out without a word; `besides` are not."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    told = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    given = [name for name in told if name not in besides]
    for name in ("show", "resume"):
        if name in given and len(given) > 1:
            raise typer.BadParameter(f"--{name} takes a run as it is; the other flags are for new ones")


if TYPE_CHECKING:
    from .lab.storage.store import Store
