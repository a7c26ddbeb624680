"""A game in the terminal: live, or read back from its record.

Colours follow 002 §7.3: the moderator in red, statements in green, requests in yellow. What is secret
at the table (night choices, roles) is dim; it is shown to the reader, who is not playing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import assert_never

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from ..lab.results.heard import Unusable
from ..record import GameRecord, PastTurn, Turn
from ..rules import (
    EVERYONE,
    ROLES,
    ChoiceEvent,
    Chose,
    ClockEvent,
    DayBroke,
    Dealt,
    Event,
    FactEvent,
    GameEnded,
    Log,
    NightFell,
    OfficeEvent,
    PackMet,
    Ruleset,
    Said,
    TalkEvent,
    Voted,
    Winner,
    facts_of,
)
from ..text.asking.sentences import capitalised, moderator_sentence
from ..text.notes import Content, Mistake
from .notes import acted, note_lines

_WINS = {
    Winner.VILLAGE: "[bold]The village[/] wins",
    Winner.WEREWOLVES: "[bold]The Werewolves[/] win",
    Winner.NOBODY: "Nobody wins",
}
ICONS = {
    "Werewolf": "🐺",
    "Seer": "🔮",
    "Guard": "🛡",
    "Doctor": "💉",
    "Witch": "🧪",
    "Hunter": "🏹",
    "Villager": "🧑",
}


class GamePrinter:
    """Prints events as they come, grouped as a person reads them.

    seat: whose eyes to read through (None: the moderator's). thoughts: print notes too. pace: seconds to
    rest after each statement or announcement.
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
        self._now = facts_of(ruleset)
        self._votes: list[tuple[Voted, int]] = []
        """Each with how often it counts."""

    def watch(self, events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        """`match.Match.watch`: what was thought, then what happened."""
        if self.thoughts:
            for turn in turns:
                self.notes(turn.ask.seat, turn.ask.kind, turn.notes, turn.invalid)
        self.events(events)

    def events(self, events: Iterable[Event]) -> None:
        """Print events in order."""
        for event in events:
            if self.seat is not None and event.audience != EVERYONE and not event.audience >> self.seat & 1:
                continue
            self._now = self._now.then(event)
            if not isinstance(event, Voted):
                self._flush_votes()
            self._event(event)
        self._flush_votes()

    def _event(self, event: Event) -> None:
        out = self.console
        match event:
            case Dealt(seat, role):
                if self.seat is not None:
                    out.print(
                        f"[yellow]You are {self.ruleset.names[seat]}, {ICONS.get(role, '·')} {role}.[/]"
                    )
                elif all(self._now.roles):
                    self._cast()
            case PackMet():
                if self.seat is not None:
                    self._secret(event)
            case NightFell(round):
                out.print()
                out.print(Rule(f"🌙 Night {round}", style="blue"))
            case DayBroke(round):
                out.print()
                out.print(Rule(f"☀ Day {round}", style="yellow"))
                self._moderator(event)
            case Said(seat, where, text):
                self._said(seat, where, text)
            case Voted(voter):
                self._votes.append((event, self._now.votes[voter]))
            case GameEnded(outcome):
                out.print()
                style = "green" if outcome.winner is Winner.VILLAGE else "red"
                out.print(Rule(f"{_WINS[outcome.winner]}: {outcome.reason.value}", style=style))
            case Chose(seat):
                self._secret(event, ICONS.get(self._now.roles[seat], "·"))
            case FactEvent() | OfficeEvent() | ClockEvent() | ChoiceEvent() | TalkEvent():
                (self._moderator if event.audience == EVERYONE else self._secret)(event)
            case _:
                assert_never(event)

    def _secret(self, event: Event, icon: str = "·") -> None:
        self.console.print(Padding(Text(f"{icon} {self._words(event)}", style="dim"), (0, 2)))

    def _words(self, event: Event) -> str:
        return moderator_sentence(event, self._now.round, self.ruleset)

    def _moderator(self, event: Event) -> None:
        sentence = capitalised(self._words(event), self.ruleset)
        self.console.print(f"[bold red]Moderator:[/] [red]{escape(sentence)}[/]")
        self._rest()

    def _cast(self) -> None:
        sides: dict[str, list[str]] = {}
        for seat, role in enumerate(self._now.roles):
            sides.setdefault(role, []).append(self.ruleset.names[seat])
        for role, names in sides.items():
            style = "red" if ROLES[role].wolf else "cyan"
            self.console.print(f"{ICONS.get(role, '·')} [{style}]{role}[/]: {', '.join(names)}")

    def _said(self, seat: int, where: str, text: str) -> None:
        role = self._now.roles[seat] if self.seat is None else ""
        name = self.ruleset.names[seat]
        label = f"{ICONS.get(role, '👤')} [bold]{name}[/]" + (
            f" [dim]({where})[/]" if where != "discussion" else ""
        )
        if text:
            self.console.print(label)
            self.console.print(Padding(Text(text, style="green"), (0, 3)))
        else:
            self.console.print(f"{label} [dim]said nothing.[/]")
        self._rest()

    def _flush_votes(self) -> None:
        votes, self._votes = self._votes, []
        if not votes:
            return
        names = self.ruleset.names
        first = votes[0][0]
        title = "for Sheriff" if first.what == "elect" else ""
        if len(votes) == 1:  # open votes come one by one
            voter, target = first.voter, first.target
            choice = "does not vote" if target is None else f"[bold]{names[target]}[/]"
            self.console.print(f"[yellow]{f'Vote {title}'.strip()}[/] {names[voter]} → {choice}")
            return
        self.console.print(f"[yellow]{f'Votes {title}'.strip()}[/]")
        ballots: dict[int | None, list[str]] = {}
        counts: Counter[int | None] = Counter()
        for vote, n in votes:
            ballots.setdefault(vote.target, []).append(names[vote.voter])
            counts[vote.target] += n
        for target, voters in sorted(ballots.items(), key=lambda item: (item[0] is None, -counts[item[0]])):
            choice = "did not vote" if target is None else f"[bold]{names[target]}[/] ({counts[target]})"
            self.console.print(Padding(f"{choice}: {', '.join(voters)}", (0, 3)))

    def _rest(self) -> None:
        if self.pace:
            time.sleep(self.pace)

    # -- thoughts -------------------------------------------------------------------------

    def notes(
        self, seat: int, kind: str, notes: Sequence[tuple[str, Content]], invalid: str | None = None
    ) -> None:
        """What a seat noted down while answering an ask."""
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
    """Print a recorded game: the game log, or with `seat` that player's log (002 §7.2)."""
    printer = GamePrinter(console, record.ruleset, seat, thoughts)
    at: dict[int, list[PastTurn]] = {}
    # What was asked outside the game comes first: an interview is about what has just been said, and the turn
    # of the same place is the next one's, whose words follow.
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
    """Print one game's unusable replies (002's error log), and those with several answers, of which the last
    was taken; returns how many there were of each.
    """
    count = last_taken = 0
    for turn in (*record.turns, *record.probes):
        mistakes = 0
        for step, content in turn.notes:
            if isinstance(content, Mistake):
                mistakes += not content.taken
                last_taken += content.taken
                where = f"{turn.ask} · {record.ruleset.names[turn.seat]} · {step}"
                _show_mistake(console, game, where, content)
        if turn.invalid is not None:
            mistakes = mistakes or 1  # what follows from a reply that is listed above is no further one
            stand_in = "left out" if turn.probe else f"instead: {acted(turn.action, record.ruleset.names)}"
            console.print(
                f"game {game} · {turn.ask} · {record.ruleset.names[turn.seat]}: {escape(turn.invalid)} "
                f"[yellow]({escape(stand_in)})[/]"
            )
        count += mistakes
    return count, last_taken


def show_unusable(console: Console, game: int, names: Sequence[str], unusable: Sequence[Unusable]) -> None:
    """As `show_errors`, of a game that is not over: what its calls on file show."""
    for mistake in unusable:
        where = f"{mistake.ask} · {names[mistake.seat]} · {mistake.step}"
        _show_mistake(console, game, where, mistake)


def _show_mistake(console: Console, game: int, where: str, mistake: Mistake | Unusable) -> None:
    last = " [yellow](the last of them is taken)[/]" if mistake.taken else ""
    console.print(
        f"game {game} · {where}, attempt {mistake.attempt + 1}: {escape(mistake.reason)}{last}\n"
        f"    [dim]{escape(mistake.reply)}[/]"
    )
