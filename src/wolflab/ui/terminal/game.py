"""A game in the terminal: live, or read back from its record.

Colours follow 002 §7.3: the moderator in red, statements in green, requests in yellow. Secrets of the table
(night choices, roles) are dim; readers who do not play see them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ...lab.results.unusable_replies import Attempted, Unusable
from ...record import GameRecord, PastTurn, Turn
from ...rules import ROLES, Chose, Dealt, Event, Log, Ruleset, Winner
from ...text.notes import Content, Mistake
from ...text.replies.parse import CUT, CUT_THINKING
from ...text.transcript import (
    AnnouncementItem,
    BallotItem,
    EndItem,
    HeadingItem,
    SecretItem,
    StatementItem,
    Transcript,
)
from ..notes import acted, note_lines


def icon_of(role: str, otherwise: str = "·") -> str:
    """A role's character; `otherwise` for a role without one, and for an unknown one ("")."""
    return (ROLES[role].icon if role in ROLES else "") or otherwise


class GamePrinter:
    """Prints events as they come, in readable groups. seat: whose view is shown (None: the moderator's).
    thoughts: print notes too. pace: seconds to wait after each statement or announcement.
    """

    def __init__(
        self,
        console: Console,
        ruleset: Ruleset,
        seat: int | None = None,
        thoughts: bool = False,
        pace: float = 0.0,
    ) -> None:
        self.console = console
        self.ruleset = ruleset
        self.seat = seat
        self.thoughts = thoughts
        self.pace = pace
        self._transcript = Transcript(ruleset, seat)
        self._ballots: list[BallotItem] = []

    def watch(self, events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        """See `match.Match.watch`. Prints notes, then events."""
        if self.thoughts:
            for turn in turns:
                self.notes(turn.ask.seat, turn.ask.kind, turn.notes, turn.invalid)
        self.events(events)

    def events(self, events: Iterable[Event]) -> None:
        """Print events in order."""
        for event in events:
            for item in self._transcript.items(event):
                if isinstance(item, BallotItem):
                    self._ballots.append(item)
                    continue
                self._votes()
                if isinstance(event, Dealt):
                    self._dealt(event)
                else:
                    self._item(item, event)
        self._votes()

    def _dealt(self, event: Dealt) -> None:
        """Print a player's own role; for the moderator all roles, when all are dealt."""
        names, icon = self.ruleset.names, icon_of(event.role)
        if self.seat is not None:
            self.console.print(f"[yellow]You are {names[event.seat]}, {icon} {event.role}.[/]")
            return
        roles = self._transcript.facts.roles
        for role in dict.fromkeys(roles) if all(roles) else ():
            style = "red" if ROLES[role].wolf else "cyan"
            players = ", ".join(name for name, held in zip(names, roles, strict=True) if held == role)
            self.console.print(f"{icon_of(role)} [{style}]{role}[/]: {players}")

    def _item(
        self, item: HeadingItem | AnnouncementItem | SecretItem | StatementItem | EndItem, event: Event
    ) -> None:
        out, roles = self.console, self._transcript.facts.roles
        match item:
            case HeadingItem(time="night"):
                out.print()
                out.print(Rule(f"🌙 {item.text}", style="blue"))
            case HeadingItem():
                out.print()
                out.print(Rule(f"☀ {item.text}", style="yellow"))
            case AnnouncementItem(private=False):
                out.print(f"[bold red]Moderator:[/] [red]{escape(item.text)}[/]")
                self._rest()
            case AnnouncementItem() | SecretItem():
                icon = icon_of(roles[event.seat]) if isinstance(event, Chose) else "·"
                out.print(Padding(Text(f"{icon} {item.text}", style="dim"), (0, 2)))
            case StatementItem():
                icon = "👤" if self.seat is not None else icon_of(roles[item.seat], "👤")
                where = f" [dim]({item.where})[/]" if item.where != "discussion" else ""
                silent = "" if item.text else " [dim]said nothing.[/]"
                out.print(f"{icon} [bold]{self.ruleset.names[item.seat]}[/]{where}{silent}")
                if item.text:
                    out.print(Padding(Text(item.text, style="green"), (0, 3)))
                self._rest()
            case EndItem():
                out.print()
                style = "green" if item.winner == Winner.VILLAGE.value else "red"
                out.print(Rule(escape(item.text), style=style))
            case _:
                assert_never(item)

    def _votes(self) -> None:
        """Print the votes since the last call: each player with its voters, most votes first."""
        ballots, self._ballots = self._ballots, []
        if not ballots:
            return
        names = self.ruleset.names
        title = " for Sheriff" if ballots[0].what == "elect" else ""
        if len(ballots) == 1:  # open votes come one by one
            voter, target = ballots[0].voter, ballots[0].target
            choice = "does not vote" if target is None else f"[bold]{names[target]}[/]"
            self.console.print(f"[yellow]Vote{title}[/] {names[voter]} → {choice}")
            return
        self.console.print(f"[yellow]Votes{title}[/]")
        voters: dict[int | None, list[str]] = {}
        counts: Counter[int | None] = Counter()
        for ballot in ballots:
            voters.setdefault(ballot.target, []).append(names[ballot.voter])
            counts[ballot.target] += ballot.votes
        for target, who in sorted(voters.items(), key=lambda item: (item[0] is None, -counts[item[0]])):
            choice = "did not vote" if target is None else f"[bold]{names[target]}[/] ({counts[target]})"
            self.console.print(Padding(f"{choice}: {', '.join(who)}", (0, 3)))

    def _rest(self) -> None:
        if self.pace:
            time.sleep(self.pace)

    # -- thoughts -------------------------------------------------------------------------

    def notes(
        self, seat: int, kind: str, notes: Sequence[tuple[str, Content]], invalid: str | None = None
    ) -> None:
        """Print the notes that a seat wrote while answering an ask."""
        if seat < 0 or (self.seat is not None and seat != self.seat) or not (notes or invalid):
            return
        lines = [line for step, content in notes for line in note_lines(step, content, self.ruleset.names)]
        if invalid:
            lines.append(f"✗ no usable reply: {invalid}")
        for line in lines:
            self.console.print(
                Padding(
                    Text(f"💭 {self.ruleset.names[seat]} ({kind}) {line}", style="italic magenta"), (0, 4)
                )
            )


def show_record(
    console: Console, record: GameRecord, seat: int | None = None, thoughts: bool = False
) -> None:
    """Print a recorded game: the game log, or that seat's log (002 §7.2)."""
    printer = GamePrinter(console, record.ruleset, seat, thoughts)
    at: dict[int, list[PastTurn]] = {}
    # Probes come first: an interview is about the statement before, and the turn at the same place
    # belongs to the next statement.
    for turn in (*(record.probes if thoughts else ()), *record.turns):
        at.setdefault(turn.at, []).append(turn)
    for index in range(len(record.events) + 1):
        if thoughts:
            for turn in at.get(index, []):
                kind = f"probe {turn.probe}: {turn.ask}" if turn.probe else turn.ask
                printer.notes(turn.seat, kind, turn.notes, turn.invalid)
        end = min((other for other in at if other > index), default=len(record.events))
        if index == 0 or index in at:
            printer.events(record.events[index:end])


def show_errors(console: Console, game: int, record: GameRecord) -> tuple[int, int]:
    """Print one game's unusable replies (002's error log), and replies with several answers of which the last
    was taken. Returns the numbers of both. Of a fork, only those after its turn.
    """
    count = last_taken = 0
    shared = record.shared
    for turn in (*record.turns, *record.probes):
        if turn.ask in shared:
            continue
        mistakes = 0
        for step, content in turn.notes:
            if isinstance(content, Mistake):
                mistakes += not content.taken
                last_taken += content.taken
                where = f"{turn.ask} · {record.ruleset.names[turn.seat]} · {step}"
                _show_mistake(console, game, where, content)
        if turn.invalid is not None:
            mistakes = mistakes or 1  # a consequence of a reply listed above is not counted again
            stand_in = "left out" if turn.probe else f"instead: {acted(turn.action, record.ruleset.names)}"
            console.print(
                f"game {game} · {turn.ask} · {record.ruleset.names[turn.seat]}: {escape(turn.invalid)} "
                f"[yellow]({escape(stand_in)})[/]"
            )
        count += mistakes
    return count, last_taken


def error_rows(game: int, record: GameRecord) -> list[dict[str, Any]]:
    """What `show_errors` prints, as rows."""
    rows = []
    for turn in (*record.turns, *record.probes):
        if turn.ask in record.shared:
            continue
        where = {"game": game, "seat": turn.seat, "ask": turn.ask}
        mistakes = [(step, content) for step, content in turn.notes if isinstance(content, Mistake)]
        rows += [
            {
                **where,
                "step": step,
                "attempt": mistake.attempt,
                "reason": mistake.reason,
                "reply": mistake.reply,
                "taken": mistake.taken,
            }
            for step, mistake in mistakes
        ]
        if turn.invalid is not None:
            rows.append({**where, "step": "", "reason": turn.invalid, "stand_in": not turn.probe})
    return rows


def show_unusable(console: Console, game: int, names: Sequence[str], unusable: Sequence[Unusable]) -> None:
    """`show_errors` for a game that is not over, from its stored calls."""
    for mistake in unusable:
        where = f"{mistake.ask} · {names[mistake.seat]} · {mistake.step}"
        _show_mistake(console, game, where, mistake)


def attempt_rows(found: Mapping[Attempted, Counter[str]]) -> list[dict[str, Any]]:
    """How many replies could not be used, by player, step and attempt (from 1)."""
    return [
        {
            "player": str(what.player),
            "step": what.step,
            "attempt": what.attempt + 1,
            "replies": reasons.total(),
            "unusable": reasons.total() - reasons[""],
            "cut": reasons[CUT.reason] + reasons[CUT_THINKING.reason],
        }
        for what, reasons in sorted(found.items())
    ]


def show_attempts(console: Console, found: Mapping[Attempted, Counter[str]]) -> None:
    """Print at which step and attempt replies could not be used, of players with such replies."""
    failing = {what.player for what, reasons in found.items() if reasons.keys() - {""}}
    if not failing:
        return
    table = Table(
        title="Replies of games that are over",
        title_justify="left",
        caption="Cut: at the limit of length, max_tokens of the recipe or the model.",
        caption_justify="left",
    )
    for head in ("player", "step", "attempt", "replies", "unusable", "of them cut"):
        table.add_column(head, overflow="fold")
    for row in attempt_rows({what: reasons for what, reasons in found.items() if what.player in failing}):
        share = f"{row['unusable']:,} ({100 * row['unusable'] / row['replies']:.0f} %)"
        cells = (row["step"], str(row["attempt"]), f"{row['replies']:,}", share, f"{row['cut']:,}")
        table.add_row(escape(row["player"]), *cells)
    console.print(table)


def _show_mistake(console: Console, game: int, where: str, mistake: Mistake | Unusable) -> None:
    last = " [yellow](the last of them is taken)[/]" if mistake.taken else ""
    console.print(
        f"game {game} · {where}, attempt {mistake.attempt + 1}: {escape(mistake.reason)}{last}\n"
        f"    [dim]{escape(mistake.reply)}[/]"
    )
