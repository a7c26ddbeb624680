"""`wolflab tournament`: play the games, then print its tables and write its page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...errors import ExperimentError
from ...lab.plans.tournament_plan import FILE as TOURNAMENT
from ...lab.plans.tournament_plan import from_flags, load_tournament, make_tournament
from ...lab.results.extras import Extras, extras_of_tournament
from ...lab.results.summaries import summary
from ...lab.runs.tournament_games import play_tournament, start_tournament, written_of
from ...lab.runs.tournament_games import tournament_standings as standings_of
from ...lab.storage.run_files import new_directory
from ...lab.storage.store import Store
from ...metrics.measure import Unit
from ...metrics.standings import SIDE_PARTS, VERSUS, CellRow, Standings
from ...stats.intervals import Estimate
from ..report.answer import answer_to_tournament
from ..report.links import Links
from ..report.numbers import interval, number, spent
from ..report.tournament_page import PART_NAMES, standings_page
from ..report.tournament_tables import cost_table, losses_table
from ..terminal.alarm import WatchedStore
from ..terminal.console import ExitCode, console, say
from ..terminal.forecast import Beginning, forecast_first
from ..terminal.tables import INSTRUMENT, framed, in_red, print_beside, print_fitted, print_table, print_top
from ..wording import (
    counted,
    counted_in_words,
    differing_opponents,
    name_shown,
    page_numbers,
    prediction_in_words,
    trouble_marks,
)
from .common import (
    begin_output,
    command_with_yes,
    end,
    leave,
    part_of,
    play_games,
    preflight_models,
    prepare_resume,
    title_of,
    with_engine,
)
from .options import (
    RULES,
    AsJson,
    KeepGoing,
    OnEngine,
    OnVillage,
    Out,
    Resume,
    Set,
    ShardOf,
    Yes,
    check_alone,
    commands,
)
from .run_names import named


@commands.command(
    "tournament",
    epilog="Examples:  `wolflab tournament tournament-components --village`  ·  "
    "`wolflab tournament --entrant vanilla --entrant deductive-004 --deals 50`  ·  "
    "`wolflab tournament --resume runs/…`",
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
    rules: Annotated[str | None, typer.Option(help=RULES)] = None,
    deals: Annotated[int | None, typer.Option(help="Sets of cards, the same for every pair.")] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Entrants sit side by side, on both sides of one table.")
    ] = False,
    set_: Set = [],
    village: OnVillage = False,
    out: Out = None,
    resume: Resume = None,
    show: Annotated[
        Path | None, typer.Option(help="Only show this run's tables.", callback=named([TOURNAMENT]))
    ] = None,
    yes: Yes = False,
    keep_going: KeepGoing = False,
    shard: ShardOf = None,
    engine: OnEngine = None,
    json: AsJson = False,
) -> None:
    """Play everybody against everybody on both sides, then print win rates and ratings."""
    screen, set_ = console(), with_engine(set_, engine)
    check_alone(context, ("set_", "yes", "keep_going", "engine") if show is None else ())
    if show is not None:
        with Store.open_for_reading(show) as shown:
            show_tournament(screen, shown)
        return
    if resume is not None:
        raise typer.Exit(resume_tournament(screen, resume, set_, yes, keep_going))
    if (file is None) == (not entrant):
        raise ExperimentError(
            "name a tournament's file, or its entrants (--entrant vanilla --entrant deductive-004); one of "
            "the two"
        )
    if file is None:
        if village and model is not None:
            raise ExperimentError("--village and --model: both say who plays; use one")
        data = from_flags(entrant, model, rules, deals, mixed)
        named = make_tournament(data, set_, village, "wolflab tournament")
    else:
        flags = {"model": model, "rules": rules, "deals": deals, "tables": "mixed" if mixed else None}
        changes = [f"{name}={value}" for name, value in flags.items() if value is not None]
        named = load_tournament(file, [*changes, *set_], village)
    keyless = None if named.village is None else f"wolflab tournament {file} --village"
    plan = part_of(named.experiment(), shard)
    preflight_models(plan, list(named.entrants.items()), keyless)
    beginning = forecast_first(screen, plan, yes, command_with_yes())
    path = out or new_directory(Path("runs"), named.name)
    start_tournament(path, named, plan).close()
    with WatchedStore.resume(path) as store:
        raise typer.Exit(_played(screen, store, True, beginning, keep_going))


def resume_tournament(
    console: Console, path: Path, changes: Sequence[str], yes: bool, keep_going: bool
) -> ExitCode:
    """Resume a tournament's run, then show it. changes: of its file, as `--set` has them."""
    with WatchedStore.resume(path) as store:
        beginning, reached = prepare_resume(console, store, changes, yes)
        return _played(console, store, reached, beginning, keep_going)


def _played(
    console: Console, store: WatchedStore, reached: bool, beginning: Beginning, keep_going: bool
) -> ExitCode:
    begin_output(console, "tournament", title_of(store.experiment), store.path, keep_going)
    ok = play_games(console, store, play_tournament, beginning, reached, keep_going)
    return end(console, store, "tournament", ok, show_tournament(console, store), keep_going)


def show_tournament(console: Console, store: Store) -> Extras:
    """Print a tournament's tables, and write its page and its numbers. Returns the extras that they show."""
    standings, extra = standings_of(store), extras_of_tournament(store)
    answer = answer_to_tournament(standings, lambda name: name_shown(extra, name))
    print_top(console, extra, standings.title, answer)
    print_standings(console, standings, extra)
    results = summary(store)
    if not standings.instrument:
        took = spent(results, bool(extra.estimated))
        told = (f"{name}: {value}" + (f" ({lacking})" if lacking else "") for value, name, lacking in took)
        say(console, "; ".join(told))
    say(console, f"run: {store.path}")
    leave(
        console,
        "page",
        store.path / "tournament.html",
        standings_page(standings, extra, written_of(store), results, Links(on=True)).html,
        page_numbers(standings, extra),
    )
    say(console, f"everything else about its games: wolflab report {shlex.quote(str(store.path))}")
    return extra


# -- tables -----------------------------------------------------------------------------------


def print_standings(
    console: Console,
    standings: Standings,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> None:
    """Print the matrix, the scores, the ratings, predictions, costs, published figures and the stopping
    decisions.
    """
    if standings.cells:
        console.print(_matrix_table(standings, extras))
    _print_scores(console, standings, extras)
    if standings.prediction.pairings:
        print_table(console, losses_table(standings), "each pairing left out in turn; smaller is better")
    if said := prediction_in_words(standings.prediction):
        say(console, said)
    if standings.frontier.rows:
        print_table(
            console,
            cost_table(standings, extras),
            "Pareto-optimal: no other is as strong and as cheap, and better in one of the two",
        )
    beside = [
        (name_shown(extras, f"{figure.village}{VERSUS}{figure.werewolves}"), figure)
        for figure in standings.beside
    ]
    print_beside(console, beside, standings.instrument)
    if standings.instrument:
        say(console, INSTRUMENT, "yellow")
    if standings.ratings.note:
        console.print(f"no ratings: {escape(standings.ratings.note)}", highlight=False)
    for decision in standings.decisions:
        state = "stopped" if decision.stopped else "played on"
        console.print(f"{state}: {escape(decision.what)}", highlight=False)
    if standings.missing:
        say(console, f"left out, because not over yet: {counted(standings.missing, 'planned game')}")


def _matrix_table(
    standings: Standings,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> Table:
    """The village's win rate. Rows: the entrant that plays the village; columns: that of the Werewolves."""
    kind = "confidence sequence" if standings.level is not None else "95 % interval"
    caption = f"value, {kind}, what was counted"
    table = framed(f"{standings.title}: village win rate", standings.instrument, caption)
    table.add_column("village ↓  Werewolves →", style="bold")
    for name in standings.werewolves:
        table.add_column(escape(name_shown(extras, name)), justify="right", overflow="fold")
    for village in standings.village:
        cells = (_cell(standings.cell(village, werewolves), extras) for werewolves in standings.werewolves)
        table.add_row(escape(name_shown(extras, village)), *cells)
    return table


def _cell(cell: CellRow | None, extras: Extras) -> str:
    if cell is None:
        return "–"
    value = _shown(cell.village_win, "share", counted=True)
    return "\n".join([value, *in_red(trouble_marks(extras, cell.name))])


def _shown(estimate: Estimate | None, kind: Unit, counted: bool = False) -> str:
    if estimate is None or estimate.value is None:
        return "–"
    text = f"{number(estimate.value, kind)}\n{interval(estimate, kind)}"
    return "\n".join([text, *counted_in_words(estimate)] if counted else [text])


def _print_scores(console: Console, standings: Standings, extras: Extras) -> None:
    """Print a row for each entrant: mean win rates, strength, rank."""
    ratings = {rating.name: rating for rating in standings.ratings.rows}
    rows = []
    for score in standings.scores:
        rating = ratings.get(score.name)
        strength, rank = "–", "–"
        if rating is not None:
            strength = _shown(rating.overall, "one")
            rank = "–" if rating.rank is None else str(rating.rank)
            rank += "" if rating.ranks is None else f"\n{rating.ranks[0]} to {rating.ranks[1]}"
        skills = [f"{s.side[0].upper()} {s.mu:.1f}" for s in standings.skills if s.name == score.name]
        shares = (_shown(getattr(score, part), "share") for part in SIDE_PARTS)
        shown = escape(name_shown(extras, score.name))
        name = "\n".join([shown, *in_red(trouble_marks(extras, score.name))])
        skill = ["\n".join(sorted(skills)) or "–"] if standings.skills else []
        rows.append([name, *shares, strength, rank, *skill])
    heads = ["entrant", *(PART_NAMES[part] for part in SIDE_PARTS), "strength", "rank"]
    heads += ["openskill"] if standings.skills else []
    caption = "strength: log odds of a game (Bradley-Terry); rank with the range that holds for all"
    caption += f"\n{told}" if (told := differing_opponents(standings)) else ""
    print_fitted(console, "scores and ratings", heads, rows, caption)
