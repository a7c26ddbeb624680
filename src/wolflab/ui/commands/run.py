"""`wolflab run`, `report`, `compare`, `errors`: play a run, write its tables and pages, list its errors."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ...errors import ExperimentError
from ...files import read_file, read_text, write
from ...lab.plans.experiment import Experiment
from ...lab.plans.loading import load_experiment
from ...lab.plans.registration import read_registration
from ...lab.plans.sources import file_kind
from ...lab.results.extras import Extras, extras, extras_of_all
from ...lab.results.kept_registration import keep_registration
from ...lab.results.summaries import compared, summary
from ...lab.results.unusable_replies import Attempted, ErrorSummary, reasons_by_attempt
from ...lab.runs.game import rules_of
from ...lab.runs.runner import play_run
from ...lab.runs.tournament_games import is_tournament
from ...lab.storage.run_files import new_directory
from ...lab.storage.store import Place, Store
from ..replay.replay_page import replay_of
from ..report.links import links_of, quoted_games, quoted_replay
from ..report.report import render_report, report_page
from ..terminal.alarm import WatchedStore
from ..terminal.console import console, print_json, say
from ..terminal.forecast import forecast_first
from ..terminal.game import attempt_rows, error_rows, show_attempts, show_errors, show_unusable
from ..terminal.tables import print_summary
from ..wording import attempts_in_words, counted, page_numbers, second_poll_in_words
from .common import (
    begin_output,
    command_with_yes,
    end,
    leave,
    part_of,
    play_games,
    preflight_models,
    prepare_resume,
    print_reasons,
    title_of,
    with_engine,
    with_model,
)
from .export import write_blocks
from .options import (
    AsJson,
    KeepGoing,
    OnEngine,
    OnModel,
    OnVillage,
    Out,
    Resume,
    RunPath,
    Set,
    ShardOf,
    Yes,
    commands,
)
from .run_names import GAMES, named
from .tournament import resume_tournament

RegistrationFile = Annotated[
    Path | None,
    typer.Option(help="Begin only with the plan in this file of `wolflab register`.", show_default=False),
]


@commands.command(
    "run",
    epilog="Examples:  `wolflab run quickstart`  ·  `wolflab run helmsman-table1 --village`  ·  "
    "`wolflab run own-sheriff --model openai/gpt-4o-mini`  ·  `wolflab run --resume runs/…`",
)
def run(
    experiment: Annotated[
        str | None, typer.Argument(help="A YAML file, or the name of a shipped experiment.")
    ] = None,
    set_: Set = [],
    model: OnModel = None,
    village: OnVillage = False,
    out: Out = None,
    resume: Resume = None,
    yes: Yes = False,
    keep_going: KeepGoing = False,
    shard: ShardOf = None,
    engine: OnEngine = None,
    registration: RegistrationFile = None,
    json: AsJson = False,
) -> None:
    """Run an experiment, then print its table and write its report."""
    screen, set_ = console(), with_engine(set_, engine)
    if (experiment is None) == (resume is None):
        raise ExperimentError("name an experiment to run (wolflab experiments), or --resume a run; not both")
    if experiment is not None:
        if file_kind(experiment) == "tournament":
            raise ExperimentError(
                f"{experiment} is a tournament; it is run by: wolflab tournament {experiment}"
            )
        set_ = with_model(experiment, model, set_, village)
        plan = part_of(load_experiment(experiment, set_, village), shard)
        registered = None if registration is None else _as_registered(plan, registration)
        players = [each for name in plan.conditions for each in plan.cast(name).items()]
        keyless = None if plan.village is None else f"wolflab run {experiment} --village"
        preflight_models(plan, players, keyless)
        beginning, reached = forecast_first(screen, plan, yes, command_with_yes()), True
        store = WatchedStore.create(out or new_directory(Path("runs"), plan.name), plan)
        if registered is not None:
            keep_registration(store, registered)
    else:
        assert resume is not None
        _refuse_of_new(village or None, model, out, shard, registration)
        with Store.open_for_reading(resume) as stopped_run:
            tournament = is_tournament(stopped_run)
        if tournament:
            raise typer.Exit(resume_tournament(screen, resume, set_, yes, keep_going))
        store = WatchedStore.resume(resume)
    with store:
        begin_output(screen, "run", title_of(store.experiment), store.path, keep_going)
        if resume is None:
            if second := second_poll_in_words(store.experiment):
                say(screen, second)
        else:
            games = store.count_games()
            over, planned = games["done"] + games["void"], games.total()
            if over < planned:
                say(screen, f"{over} of {counted(planned, 'game')} are over; going on with the others")
            beginning, reached = prepare_resume(screen, store, set_, yes)
        ok = play_games(screen, store, play_run, beginning, reached, keep_going)
        raise typer.Exit(end(screen, store, "run", ok, report_run(screen, store), keep_going))


def _refuse_of_new(*flags: object) -> None:
    """ExperimentError if one of the flags of a new run is given."""
    if any(given is not None for given in flags):
        raise ExperimentError(
            "--resume takes up a run where it lies; --model, --village, --out, --shard and --registration "
            "belong to a new run"
        )


def _as_registered(plan: Experiment, file: Path) -> bytes:
    """The content of a registration; ExperimentError if the plan is another one."""
    if deviations := list(read_registration(file).deviations(plan)):
        more = f" (and {len(deviations) - 1} more)" if len(deviations) > 1 else ""
        raise ExperimentError(
            f"{file} registers another plan: {deviations[0]}{more}; run what was registered, or register "
            "this plan in another file"
        )
    return read_file(file)


@commands.command(
    "report", epilog="Examples:  `wolflab report runs/…`  ·  `wolflab report runs/… --out page.html`"
)
def report(
    run: RunPath,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Where to write the page (default: report.html in the run)."),
    ] = None,
    replays: Annotated[
        bool,
        typer.Option("--replays", help="Also write the games that it quotes as pages, and link to them."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Print a run's tables and write its report.html."""
    with Store.open_for_reading(run) as store:
        report_run(console(), store, out, replays)


def report_run(console: Console, store: Store, out: Path | None = None, replays: bool = False) -> Extras:
    """Print the main table and write the report; see `report`. Returns the extras that it shows."""
    results = summary(store)
    extra = extras(store, results)
    print_summary(console, results, extra)
    experiment = read_text(store.path / "experiment.yaml")
    file = out or store.path / "report.html"
    quoted = quoted_games(extra) if replays else ()
    for game in quoted:
        write(quoted_replay(file.parent, game), replay_of(store, game)[0].encode())
    page = render_report(results, experiment, extra, links_of(extra, file.parent))
    numbers = page_numbers(results, extra)
    say(console, f"run: {store.path}")
    leave(console, "report", file, page, numbers)
    if quoted:
        say(console, f"replays: {counted(len(quoted), 'game')} that it quotes, in {file.parent / 'replay'}")
    elif replays:
        say(console, "replays: this report quotes no game (experiments with interview: true do)")
    return extra


@commands.command(
    "compare",
    epilog="Examples:  `wolflab compare runs/first runs/second --out compared.html`  ·  "
    "`wolflab compare runs/first runs/second --contrasts rounds,invalid --files paper`",
)
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Two runs or more that dealt the same cards.", callback=named(GAMES)),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Where to write the page; its numbers come beside it "
            "(default: compared.html, in the directory of --files where there is one).",
        ),
    ] = None,
    contrasts: Annotated[
        list[str],
        typer.Option(help="Further measures to compare, by comma (repeatable; see `wolflab measures`)."),
    ] = [],
    files: Annotated[
        Path | None,
        typer.Option(help="A directory for its tables (CSV, LaTeX) and figures (SVG, PNG, PDF) as files."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Compare the conditions of several runs, paired by deal."""
    screen = console()
    measures = [name.strip() for names in contrasts for name in names.split(",")]
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open_for_reading(run)) for run in runs]
        results = compared(stores, measures)
        extra = extras_of_all(stores, results, measures)
    print_summary(screen, results, extra)
    page = report_page(results, extras=extra)
    leave(
        screen,
        "report",
        out or (files or Path()) / "compared.html",
        page.html,
        page_numbers(results, extra),
    )
    if files is not None:
        say(screen, write_blocks("tables", [page], files))
        say(screen, write_blocks("figures", [page], files))


@commands.command("errors", epilog="Example:  `wolflab errors runs/…`")
def errors(
    run: RunPath,
    json: AsJson = False,
) -> None:
    """List a run's unusable replies, failed games and what endpoints made us change."""
    screen = console()
    count = last_taken = unread = 0
    listed: list[dict[str, Any]] = []
    attempts: dict[Attempted, Counter[str]] = {}
    with Store.open_for_reading(run) as store, ErrorSummary(store) as found:
        for row in store.games():
            if row.over:
                record = store.record(row.id)
                listed += error_rows(row.id, record)
                unusable, last = show_errors(screen, row.id, record)
                count, last_taken = count + unusable, last_taken + last
                for what, reasons in reasons_by_attempt(record).items():
                    attempts.setdefault(what, Counter()).update(reasons)
                continue
            on_file = found.unfinished(row)
            listed += [{"game": row.id, **one._asdict()} for one in on_file.unusable]
            show_unusable(screen, row.id, rules_of(store.experiment, Place.of(row)).names, on_file.unusable)
            count += sum(not one.taken for one in on_file.unusable)
            last_taken += sum(one.taken for one in on_file.unusable)
            unread += on_file.filed - on_file.read
        failed = [row for row in store.games() if row.error and not row.over]
        print_reasons(screen, failed)
        for _, adaptation in store.adaptations():  # which names the model itself
            say(screen, adaptation)
        if lost := attempts_in_words(store.attempt_totals()):
            say(screen, lost)
        adaptations = [adaptation for _, adaptation in store.adaptations()]
    print_json(
        {
            "unusable": listed,
            "attempts": attempt_rows(attempts),
            "failed": [{"game": row.id, "status": row.status, "error": row.error} for row in failed],
            "adaptations": adaptations,
        }
    )
    show_attempts(screen, attempts)
    screen.print(counted(count, "unusable reply", "unusable replies"))
    if last_taken:
        screen.print(
            f"{counted(last_taken, 'reply', 'replies')} with several answers, of which the last was taken"
        )
    if unread:
        others = counted(unread, "reply", "replies")
        screen.print(f"not among them: {others} of games that are not over, read when their game goes on")
