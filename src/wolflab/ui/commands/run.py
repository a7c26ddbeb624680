"""What the commands show: progress while a run goes on, then its tables; a game being played; its errors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...errors import ExperimentError
from ...fields import read_yaml
from ...files import read_text, write
from ...lab.plans.loading import load_experiment
from ...lab.plans.sources import COMMANDS, file_kind, shipped_files, shipped_kind
from ...lab.results.extras import Extras, extras, extras_of_all
from ...lab.results.summaries import compared as compared_runs
from ...lab.results.summaries import summary
from ...lab.results.unusable_replies import ErrorSummary
from ...lab.runs import runner
from ...lab.runs.checking import CheckedReply, check_in_a_game, listing
from ...lab.runs.first_decisions import FirstDecisions
from ...lab.runs.game import rules_of
from ...lab.runs.tournament_games import is_tournament
from ...lab.storage.run_files import new_directory
from ...lab.storage.store import Place, Store
from ...lab.training.plan import FOLDER
from ...text.replies.finish import FinishReason
from ..replay.page import replay_of
from ..report.links import links_of, quoted_games, quoted_replay
from ..report.report import render_report, report_page
from ..terminal.alarm import Alarm, WatchedStore
from ..terminal.console import ExitCode, say
from ..terminal.forecast import forecast_first
from ..terminal.game import show_errors, show_unusable
from ..terminal.tables import print_summary
from ..wording import attempts_in_words, counted, page_numbers, second_poll_in_words
from .common import (
    begin_output,
    end,
    leave,
    play_games,
    preflight_models,
    taken_up,
    tell_why,
    with_a_yes,
)
from .export import write_figures, write_tables
from .tournament import resume_tournament


def run_experiment(
    console: Console,
    source: str | None,
    overrides: Sequence[str],
    village: bool,
    out: Path | None,
    resume: Path | None,
    yes: bool = False,
    keep_going: bool = False,
) -> ExitCode:
    """Run or resume an experiment with a progress bar, then report. yes: whatever it may cost. keep_going:
    whatever its models reply.
    """
    if (source is None) == (resume is None):
        raise ExperimentError(
            "name an experiment to run (wolflab experiments lists them), or --resume a run; one of the two"
        )
    if resume is not None:
        if village or out is not None:
            raise ExperimentError(
                "--resume takes up a run where it lies; --village and --out belong to a new run"
            )
        with Store.open_for_reading(resume) as stopped_run:
            tournament = is_tournament(stopped_run)
        if tournament:
            return resume_tournament(console, resume, overrides, yes, keep_going)
        store = WatchedStore.resume(resume)
    else:
        assert source is not None
        if file_kind(source) == "tournament":
            raise ExperimentError(f"{source} is a tournament; it is run by: wolflab tournament {source}")
        experiment = load_experiment(source, overrides, village)
        players = [each for name in experiment.conditions for each in experiment.cast(name).items()]
        keyless = None if experiment.village is None else f"wolflab run {source} --village"
        preflight_models(experiment, players, keyless)
        beginning = forecast_first(console, experiment, yes, with_a_yes())
        path = out if out is not None else new_directory(Path("runs"), experiment.name)
        store = WatchedStore.create(path, experiment)
    reached = resume is None
    with store:
        begin_output(console, "run", store.experiment.title or store.experiment.name, store.path, keep_going)
        if resume is None:
            if second := second_poll_in_words(store.experiment):
                say(console, second)
        else:
            games = store.games()
            over = sum(row.over for row in games)
            if over < len(games):
                say(console, f"{over} of {counted(len(games), 'game')} are over; going on with the others")
            beginning, reached = taken_up(console, store, overrides, yes)
        beginning.keep(store)
        with Alarm(console, store) as alarm:
            ok = play_games(
                console,
                store,
                lambda watch: runner.play_run(
                    store, alarm.beside(watch), reached, FirstDecisions(keep_going)
                ),
                beginning.rehearsal,
            )
        extra = report_run(console, store, None)
        return end(console, store, "run", ok, extra, keep_going)


def report_run(console: Console, store: Store, out: Path | None, replays: bool = False) -> Extras:
    """Print the main table and write the report. Returns what stands beside its numbers.

    replays: also the replay of every game that the report quotes, beside it.
    """
    results = summary(store)
    extra = extras(store, results)
    print_summary(console, results, extra)
    experiment = read_text(store.path / "experiment.yaml")
    file = out or store.path / "report.html"
    told = _write_quoted(store, quoted_games(extra), file.parent) if replays else ""
    page = render_report(results, experiment, extra, links_of(extra, file.parent))
    numbers = page_numbers(results, extra)
    say(console, f"run: {store.path}")
    leave(console, "report", file, page, numbers)
    if told:
        say(console, told)
    return extra


def _write_quoted(store: Store, games: Sequence[int], folder: Path) -> str:
    """Write the pages of games. Returns a sentence that says what was written."""
    for number in games:
        write(quoted_replay(folder, number), replay_of(store, number)[0].encode())
    if not games:
        return "replays: this report quotes no game (experiments with interview: true do)"
    return f"replays: {counted(len(games), 'game')} that it quotes, in {folder / 'replay'}"


def compare_runs(
    console: Console, stores: Sequence[Store], out: Path, contrasts: Sequence[str], to: Path | None
) -> None:
    """Print several runs' conditions side by side and write one report for them, and its numbers beside it.

    contrasts: measures to compare them on, beside those that the runs name. to: a folder for its tables and
    figures as files.
    """
    results = compared_runs(stores, contrasts)
    extra = extras_of_all(stores, results, contrasts)
    print_summary(console, results, extra)
    page = report_page(results, extras=extra)
    leave(console, "report", out, page.html, page_numbers(results, extra))
    if to is not None:
        say(console, write_tables([page], to))
        say(console, write_figures([page], to))


def list_errors(console: Console, store: Store) -> None:
    """002's error log: unusable replies, then games that are not over, then adaptations."""
    count = last_taken = unread = 0
    with ErrorSummary(store) as summary:
        for row in store.games():
            if row.over:
                unusable, last = show_errors(console, row.id, store.record(row.id))
                count, last_taken = count + unusable, last_taken + last
                continue
            on_file = summary.unfinished(row)
            show_unusable(console, row.id, rules_of(store.experiment, Place.of(row)).names, on_file.unusable)
            count += sum(not one.taken for one in on_file.unusable)
            last_taken += sum(one.taken for one in on_file.unusable)
            unread += on_file.filed - on_file.read
    tell_why(console, [row for row in store.games() if row.error and not row.over])
    for _, adaptation in store.adaptations():  # which names the model itself
        say(console, adaptation)
    if lost := attempts_in_words(store.attempt_totals()):
        say(console, lost)
    console.print(counted(count, "unusable reply", "unusable replies"))
    if last_taken:
        console.print(
            f"{counted(last_taken, 'reply', 'replies')} with several answers, of which the last was taken"
        )
    if unread:
        others = counted(unread, "reply", "replies")
        console.print(f"not among them: {others} of games that are not over, read when their game goes on")


def check_a_model(console: Console, wanted: str, settings: Sequence[str] = ()) -> ExitCode:
    """Ask a model what a game asks, with these settings, and tell which replies can be used."""
    checked = asyncio.run(check_in_a_game(wanted, settings))
    say(console, f"{checked.name}: reached")
    for reply in checked.replies:
        say(console, f"  {_checked_in_words(reply)}", "yellow" if reply.why else "")
    for adaptation in checked.adaptations:
        say(console, f"  {adaptation}")
    if checked.usable:
        return ExitCode.DONE
    of = len(checked.replies)
    none = sum(reply.response is None for reply in checked.replies)
    if bad := sum(bool(reply.why) for reply in checked.replies) - none:
        say(
            console,
            f"{bad} of {counted(of, 'reply', 'replies')} could not be used: in a game, such a reply is asked "
            "for again, and then something stands in for it",
            "yellow",
        )
    if none:
        say(
            console,
            f"{none} of {counted(of, 'question')} brought no reply: in a game, such a call ends the game",
            "yellow",
        )
    return ExitCode.NOT_OVER


def _checked_in_words(reply: CheckedReply) -> str:
    if reply.response is None:
        return f"{reply.asked}: no reply: {reply.why}"
    usage, finish = reply.response.usage, reply.response.finish
    if finish.reason is FinishReason.TIMED_OUT:  # what was counted is the question whether the server answers
        return f"{reply.asked}: not usable ({finish.reason}): {reply.why}"
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, {reply.response.latency:.1f} s"
    if not reply.why:
        return f"{reply.asked}: usable ({tokens})"
    began = f'; it begins: "{reply.began}"' if reply.began else ""
    return f"{reply.asked}: not usable ({tokens}; {finish.reason}): {reply.why}{began}"


def list_models(console: Console) -> None:
    """The table of `wolflab models`."""
    table = Table("model", "key", "key found")
    table.add_column("where", overflow="fold")
    for row in listing():
        key_found = ("yes" if row.configured else "no") if row.key else "–"
        table.add_row(escape(row.pattern), row.key or "none needed", key_found, escape(row.base_url))
    console.print(table)


def list_experiments(console: Console) -> None:
    """Shipped experiments, tournaments and trainings, with their titles and the command that runs them."""
    table = Table("wolflab …")
    table.add_column("name", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    table.add_column("source", overflow="fold")
    files = [(COMMANDS[shipped_kind(text)], name, text) for name, text in shipped_files().items()]
    files += [("train", name, text) for name, text in shipped_files(FOLDER).items()]
    for command, name, text in files:
        data = read_yaml(text)
        table.add_row(command, name, *(escape(str(data.get(field, ""))) for field in ("title", "source")))
    console.print(table)
