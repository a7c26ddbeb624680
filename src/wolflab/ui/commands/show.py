"""`wolflab show`: print a recorded game, one turn of it, its prompts or its tables of trust. It writes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ...errors import ExperimentError, RecordError
from ...lab.runs.counting import rows_of
from ...lab.runs.game import keys
from ...lab.runs.prompts import PromptShown, prompts_of, seat_asked
from ...lab.runs.retaken_turn import RetakenTurn, retake_turn
from ...lab.storage.store import GameRow, Place, Store
from ...metrics.behaviours import TrustTable, trust_tables
from ...metrics.play import seat_labels
from ...record import GameRecord
from ...rules import Action, Ruleset
from ...text.asking.wording import moderator_request
from ...text.notes import Answered, Asked, Content, Reflected, Suggested, Thought
from ..notes import acted, message_numbers, note_lines
from ..terminal.console import console, print_json, say
from ..terminal.game import show_record
from ..wording import counted, cut
from .options import AsJson, RunPath, commands

_PAGE = 100
"""The games on one page of the list."""
_ERROR = 60
"""The most characters of a game's error in the list."""
_LISTED = ("id", "condition", "deal", "repeat", "status", "error")
"""What the list of games has of each as JSON."""
_WON = {True: "the village", False: "the Werewolves", None: "nobody"}

LeftOut = Annotated[
    list[str], typer.Option(help="Beside that turn, the same without this component (repeatable).")
]


@commands.command(
    "show",
    epilog="Examples:  `wolflab show runs/…`  ·  `wolflab show runs/… 1`  ·  "
    "`wolflab show runs/… 1 --as player_3 --thoughts`  ·  "
    "`wolflab show runs/… 1 --turn 2/vote/3 --without reflection`",
)
def show(
    run: RunPath,
    game: Annotated[
        int | None, typer.Argument(help="The game's number; without one, a list.", show_default=False)
    ] = None,
    as_: Annotated[str | None, typer.Option("--as", help="One player's log: what this seat saw.")] = None,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="With what the players noted down.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="With every prompt and reply.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Who trusts whom, day by day, instead.")] = False,
    turn: Annotated[
        str | None,
        typer.Option(help="One turn alone, step by step: 2/vote/player_4, or 2/vote/3 by seat, from 0."),
    ] = None,
    without: LeftOut = [],
    step: Annotated[str | None, typer.Option(help="Of --prompts, this step alone: answer/3, act …")] = None,
    page: Annotated[int, typer.Option(min=1, help=f"Of the list, this page of {_PAGE} games.")] = 1,
    json: AsJson = False,
) -> None:
    """List a run's games, or print one of them, or one turn of it."""
    screen = console()
    flags = {"as": as_, "thoughts": thoughts, "prompts": prompts, "turn": turn, "without": without}
    given = [name for name, value in (flags | {"step": step}).items() if value]
    if trust and given:
        raise ExperimentError(f"--trust shows tables of the whole game, and takes no --{given[0]}")
    if without and turn is None:
        raise ExperimentError("--without belongs to --turn: name the turn to be taken again")
    if step is not None and not prompts:
        raise ExperimentError("--step narrows --prompts down to one step: add --prompts")
    with Store.open_for_reading(run) as store:
        if game is None:
            if trust or given:
                raise ExperimentError(f"show: which game? Name its number; wolflab show {run} lists them")
            return _list_games(screen, store, page)
        if page > 1 or json:
            which = "--json" if json else "--page"
            raise ExperimentError(f"{which} is one of the list's: leave it out, or the game's number {game}")
        row, record = store.game(game), store.record(game)
        say(screen, _heading(row, record), "dim")
        if trust:
            return show_trust(screen, record)
        names = record.ruleset.names
        seat = None if as_ is None else seat_of(names, as_, "--as")
        ask = None if turn is None else turn_of(names, turn)
        if ask is None:
            _say_players(screen, record, seat)
            show_record(screen, record, seat, thoughts)
        else:
            if seat not in (None, seat_asked(ask)):
                raise ExperimentError(
                    f"--turn {turn} is not a turn of {as_}: the last number is the seat, from 0, "
                    f"and {names[seat]} has seat {seat}"
                )
            if without and any(not model.startswith("village") for model in store.game_totals(game)):
                screen.print("[dim]Its model is asked anew for the turn without a component.[/]")
            taken = retake_turn(store, row, ask, without)
            _show_turn(screen, record.ruleset, taken, without, _past(store, row))
        if prompts:
            if without:
                screen.print("[dim]The prompts are those of the turn as it was played.[/]")
            whose = (lambda each: seat in (None, seat_asked(each))) if ask is None else ask.__eq__
            _show_prompts(screen, store, game, names, whose, step)


def _heading(row: GameRow, record: GameRecord) -> str:
    parts = [f"condition {row.condition}", f"deal {row.deal}", f"repeat {row.repeat}"]
    parts += ["void"] if row.status == "void" else []
    if (fork := record.fork) is not None:
        change = {name: fork[name] for name in ("say", "change") if name in fork}
        how = ", ".join(f"{name}: {value}" for name, value in change.items()) or "without a change"
        parts.append(f"a fork at {fork['at']} ({how}), continuation {fork['continuation']}")
    return f"game {row.id}: {', '.join(parts)}"


def _list_games(console: Console, store: Store, page: int) -> None:
    """Print a line for each game on one page of a run's list."""
    every = store.count_games().total()
    pages, first = max(1, -(-every // _PAGE)), (page - 1) * _PAGE
    if page > pages:
        raise ExperimentError(f"--page {page}: the list of {store.path} has {counted(pages, 'page')}")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("game", "deal", "repeat", "rounds"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("won by", overflow="fold")
    table.add_column("condition", overflow="fold")
    games = store.games_of_page(first, _PAGE)
    listed = []
    for game, row in zip(games, rows_of(store, games), strict=True):
        listed.append(
            {
                **{name: getattr(game, name) for name in _LISTED},
                "rounds": None if row is None else row.sums_of("rounds")[0],
                "village_won": None if row is None else row.winner,
            }
        )
        rounds, result = "–", str(game.status)
        if row is not None and game.status == "done":
            rounds, result = f"{row.sums_of('rounds')[0]:.0f}", _WON[row.winner]
        elif game.error:
            result = f"{game.status}: {cut(game.error, _ERROR)}"
        table.add_row(
            str(game.id), str(game.deal), str(game.repeat), rounds, escape(result), escape(game.condition)
        )
    console.print(table)
    print_json({"games": listed, "page": page, "pages": pages})
    if pages > 1:
        further = f"; the next: wolflab show {store.path} --page {page + 1}" if page < pages else ""
        say(console, f"Games {first + 1:,} to {first + len(games):,} of {every:,}{further}", "dim")
    say(console, f"One of them: wolflab show {store.path} {games[0].id if games else 1}", "dim")


def _say_players(console: Console, record: GameRecord, seat: int | None) -> None:
    """Print role, model and recipe of each seat. seat: only this seat's role is shown."""
    for number, name in enumerate(record.ruleset.names):
        who = ", later ".join(map(str, seat_labels(record, number)))
        role = record.roles[number] if seat in (None, number) else ""
        say(console, f"  {name}{f', {role}' if role else ''}: {who}", "dim")


def turn_of(names: Sequence[str], turn: str, flag: str = "--turn") -> str:
    """The id of the ask of a turn. Its player may be given by name: "2/vote/player_4" is "2/vote/3". flag:
    the option that gives it.
    """
    round, kind, player, *more = [*turn.split("/"), "", ""]
    if not player or player.isdecimal() or player == "sheriff":
        return turn
    return "/".join([round, kind, str(seat_of(names, player, flag)), *filter(None, more)])


def _past(store: Store, row: GameRow) -> Callable[[str], str]:
    """A function from an experience's id to the command that shows that decision.

    A pool from a file may hold games of other runs; for these only their names are known.
    """
    if any(spec.pool is not None for spec in store.experiment.experience(row.condition)):
        games: dict[str, int] = {}
    else:
        games = {
            f"{other.condition}|{keys(store.experiment, Place.of(other))[1]}": other.id
            for other in store.games()
        }

    def where_to_look(experience: str) -> str:
        game, _, ask = experience.rpartition("|")
        if game in games:
            return f"game {games[game]}, {ask}: wolflab show {store.path} {games[game]} --turn {ask}"
        return f"game {game} of the runs that the pool was made of, {ask}"

    return where_to_look


def seat_of(names: Sequence[str], name: str, flag: str) -> int:
    """The seat of a player, by its name in any spelling or by its number."""
    for seat, known in enumerate(names):
        if _bare(name) == _bare(known) or (
            name.isdigit() and known.endswith(name) and not known[: -len(name)][-1:].isdigit()
        ):
            return seat
    raise ExperimentError(f"{flag} {name}: there is no such player; the players are {', '.join(names)}")


def _bare(name: str) -> str:
    """A name in a form that ignores case and "_"."""
    return name.casefold().replace("_", " ")


# -- prompts ----------------------------------------------------------------------------------------


def _show_prompts(
    console: Console,
    store: Store,
    game: int,
    names: Sequence[str],
    wanted: Callable[[str], bool],
    step: str | None,
) -> None:
    """Print requests and replies of the wanted asks. step: only those of this step ("answer/3")."""
    steps: dict[str, None] = {}
    shown = 0
    for call in prompts_of(store, game):
        if not call.messages or not wanted(call.ask):
            continue
        steps[call.step] = None
        if step is None or step == call.step or call.step.startswith(f"{step}/"):
            _show_call(console, names, call)
            shown += 1
    if step is not None and not shown:
        there = ", ".join(steps) or "none"
        raise RecordError(f"--step {step}: there is no such step here; there are {there}")


def _show_call(console: Console, names: Sequence[str], call: PromptShown) -> None:
    name = "" if call.seat is None or call.seat >= len(names) else f"{names[call.seat]} · "
    console.rule(f"{name}{call.key}", style="yellow")
    prompt = ((f"[yellow]{role}[/]", text) for role, text in call.messages)
    for role, text in (*prompt, ("[green]reply[/]", call.reply)):
        console.print(role)
        console.print(escape(text), highlight=False, soft_wrap=True)


# -- one turn ----------------------------------------------------------------------------------------

NotesShown = Sequence[tuple[str, Content]]


def _show_turn(
    console: Console,
    ruleset: Ruleset,
    taken: RetakenTurn,
    without: Sequence[str],
    past: Callable[[str], str] = str,
) -> None:
    """Print a turn; if it was taken again, both versions side by side.

    past: from an experience's id to words that say where that decision is shown.
    """
    ask, turn = taken.decision.ask, taken.decision.turn
    console.print(Rule(f"{ruleset.names[ask.seat]} · {ask.id}"))
    console.print(Text(f"You are asked to {moderator_request(taken.decision.situation, ask)}."))
    table = Table(expand=True)
    table.add_column("as it was played")
    cells = [_steps(turn.notes, turn.action, turn.invalid, ruleset, past)]
    if taken.notes is not None:
        table.add_column(f"without {', '.join(without)}")
        cells.append(_steps(taken.notes, taken.action, taken.invalid, ruleset, past))
    table.add_row(*cells)
    console.print(table)


def _steps(
    notes: NotesShown,
    action: Action | None,
    invalid: str | None,
    ruleset: Ruleset,
    past: Callable[[str], str],
) -> Group:
    """003 Table 4's rows: questions and answers, reflection, suggestion, thoughts, final response."""
    rows: list[Text] = []
    number = 0
    shown = (Answered, Reflected, Suggested, Thought, Asked)
    others = [
        line
        for step, content in notes
        if not isinstance(content, shown)
        for line in note_lines(step, content, ruleset.names)
    ]
    rows += [Text(line, style="dim") for line in others]
    for heading, kinds in (
        ("Questions and answers", (Answered,)),
        ("Reflection", (Reflected,)),
        ("Suggestion from experience", (Suggested,)),
        ("Chain of thought", (Thought,)),
    ):
        mine = [content for _, content in notes if isinstance(content, kinds)]
        if mine:
            rows.append(Text(heading, style="bold"))
        for content in mine:
            if isinstance(content, Answered):
                number += 1
                rows.append(Text(f"{number}. {content.question}", style="cyan"))
                source = f"  [from {message_numbers(content.retrieved)}]" if content.retrieved else ""
                rows.append(Text(f"   {content.answer or '(no usable answer)'}{source}"))
            elif isinstance(content, Reflected | Thought):
                rows.append(Text(content.text))
            elif isinstance(content, Suggested):
                rows.append(Text(note_lines("", content, ruleset.names)[0]))
                rows += _read(content, past)
    rows.append(Text("Final response", style="bold"))
    final = f"no usable reply: {invalid}" if invalid else acted(action, ruleset.names)
    rows.append(Text(final, style="red" if invalid else "green"))
    return Group(*rows)


def _read(suggested: Suggested, past: Callable[[str], str]) -> list[Text]:
    """The experiences behind a suggestion (003 Eq. 7), each with the command that shows it."""
    if not suggested.good:
        return []
    experiences = [("bad", suggested.bad), *(("good", experience) for experience in suggested.good)]
    return [Text(f"  {how}: {past(experience)}", style="dim") for how, experience in experiences]


# -- trust -------------------------------------------------------------------------------------------

TRUSTS, GONE, DEAD = "●", "○", "·"


def show_trust(console: Console, record: GameRecord) -> None:
    """Print a table for each day: the player of a row trusts the marked columns."""
    tables = trust_tables(record)
    for table in tables:
        console.print(_drawn(table, record.roles))
    note = (
        f"{TRUSTS} trusts (row in column)   {GONE} trusted the day before, not now   {DEAD} out of the game"
    )
    console.print(note if tables else "nobody was asked to speak in this game", highlight=False)


def _drawn(table: TrustTable, roles: tuple[str, ...]) -> Table:
    drawn = Table(title=f"day {table.day}", title_justify="left")
    drawn.add_column("")
    for name in table.names:
        drawn.add_column(_short(name), justify="center")
    for i, row in enumerate(table.trusts):
        cells = []
        for j, trusted in enumerate(row):
            if i not in table.alive or j not in table.alive:
                cells.append(Text(DEAD, style="dim"))
            elif trusted:
                both = (min(i, j), max(i, j)) in table.reciprocal
                cells.append(Text(TRUSTS, style="bold green" if both else "yellow"))
            else:
                cells.append(Text(GONE if (i, j) in table.dissolved else "", style="red"))
        drawn.add_row(Text(f"{_short(table.names[i])} {roles[i]}", no_wrap=True), *cells)
    new, mutual = len(table.established), len(table.reciprocal)
    drawn.caption = f"{len(table.relations)} of {table.pairs}, {new} new, {mutual} both ways"
    return drawn


def _short(name: str) -> str:
    """A player's number, so that a table of seven players fits the screen."""
    return "".join(char for char in name if char.isdigit()) or name
