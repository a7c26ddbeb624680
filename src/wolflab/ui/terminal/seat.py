"""A person's seat in the terminal: answers by number, with the arrow keys, or line by line through a pipe."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.rule import Rule

from ...errors import ServerError
from ...rules import Dealt, Said, facts_of
from ...text.asking.options import labels
from ...text.asking.rules_text import rules_for_people
from ...text.asking.sentences import a_role, line_sentence, listed
from ...text.people import PersonAnswer, TimedAnswer, poll_of, request_for_people
from ...text.probes import OPINIONS
from ...text.questions import Deduce, Line, Question, Rate, Situation
from .game import GamePrinter, icon_of
from .keyboard import KEYS, Keyboard, PipedLines, piped

HELP = """\
/know   who you are, who lives, and what only you were told
/log    everything that happened, from the beginning
/rules  the rules of this game
/quit   leave the table; the game is kept, and you can go on later
/help   this list"""


class AwayFromTable(ServerError):
    """The person has left; the game waits, and can be resumed."""


@dataclass
class TerminalTable:
    """`models.person.PeopleTable` for one person at a terminal.

    printer: shows the seat's view before each question. keyboard: None if lines are read from a pipe.
    """

    console: Console
    printer: GamePrinter
    keyboard: Keyboard | None = None
    lines: TextIO | PipedLines = field(default_factory=lambda: piped(sys.stdin))
    pace: float = 0.0
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _rated: dict[str, int] = field(default_factory=dict)

    async def put(self, question: Question, key: str) -> TimedAnswer:
        """See `models.person.PeopleTable`."""
        self.printer.pace = self.pace  # events before this one were stored, and printed without pauses
        async with self._one_at_a_time:
            begun = time.monotonic()
            return TimedAnswer(await self._answer(question), time.monotonic() - begun)

    async def _answer(self, question: Question) -> PersonAnswer:
        now, task = question.situation, question.task
        self._head(now)
        if isinstance(task, Rate | Deduce):
            names = [now.ruleset.names[seat] for seat in task.targets]
            if isinstance(task, Rate):
                return PersonAnswer(rated=await self._rate(now, names))
            return PersonAnswer(guessed=await self._guess(now, names, task.guesses))
        ask = task.ask
        if ask.options is None:
            self._say(request_for_people(now, ask))
            return PersonAnswer(said=await self._speak(now))
        if poll_of(ask):
            self._say("Outside the game: if the vote were now, how would you vote? ")
        else:
            self._say(request_for_people(now, ask))
        return PersonAnswer(chose=await self._choose(now, labels(ask, now.ruleset)))

    # -- three sorts of answers

    async def _choose(self, now: Situation, options: Sequence[str]) -> str:
        """Ask for one of the options; wrong input is refused with the reason."""
        if self.keyboard is not None:
            while True:
                typed = await self.keyboard.choose(options, _bar(now))
                if typed in options:
                    return typed
                self._command(typed, now)
        for number, option in enumerate(options, 1):
            self._say(f"  {number:>2}  {option}")
        while True:
            typed = await self._line(now, "Your choice (a number, or /help): ")
            if self._command(KEYS.get(typed, ""), now):
                continue
            found = chosen_option(typed, options)
            if isinstance(found, int):
                return options[found]
            self._say(found)

    async def _speak(self, now: Situation) -> str:
        typed = ""
        while True:
            typed = await self._line(now, "Your words (an empty line says nothing, or /help): ", typed)
            if not typed.startswith("/"):
                return typed
            self._say(f"there is no {typed.split()[0]}, and nothing was said; /help lists what there is")

    async def _rate(self, now: Situation, names: Sequence[str]) -> dict[str, int]:
        """Ask for one line with a number for each name. The last answer is filled in."""
        self._say(f"Outside the game. {OPINIONS['rate'].asks}")
        start = ", ".join(f"{name} {self._rated.get(name, 5)}" for name in names)
        if self.keyboard is None:
            self._say(f"  {start}")
        while True:
            typed = await self._line(now, "Change what you like, or leave it empty: ", start)
            found = ratings(typed, names, {name: self._rated.get(name, 5) for name in names})
            if not isinstance(found, str):
                self._rated |= found
                return found
            self._say(found)

    async def _guess(self, now: Situation, names: Sequence[str], roles: Sequence[str]) -> dict[str, str]:
        """Ask for each player's role, one after another."""
        self._say(f"Outside the game. {OPINIONS['guess'].asks}")
        guessed = {}
        for name in names:
            self._say(f"{name}: ")
            guessed[name] = await self._choose(now, roles)
        return guessed

    # -- lines

    async def _line(self, now: Situation, prompt: str, start: str = "") -> str:
        """Read a line that is not a command."""
        while True:
            if self.keyboard is not None:
                typed = _printable(await self.keyboard.line(prompt, _bar(now), start))
            else:
                self.console.print(prompt, end="", markup=False, highlight=False)
                read = self.lines.readline()
                if not isinstance(read, str):
                    read = await read
                if not read:
                    raise AwayFromTable("nobody is at the keyboard any more: the input has ended")
                typed = _printable(read.strip())
                self.console.print(typed, markup=False, highlight=False)
            if not self._command(typed, now):
                return typed

    def _command(self, typed: str, now: Situation) -> bool:
        """Carry out a command; False for other input."""
        name = typed.strip().lower()
        if name == "/quit":
            raise AwayFromTable("you have left the table")
        told: dict[str, Callable[[], str]] = {
            "/help": lambda: HELP,
            "/know": lambda: _known_to_seat(now),
            "/log": lambda: _events_seen(now),
            "/rules": lambda: rules_for_people(now.ruleset),
        }
        if name not in told:
            return False
        self._say(told[name]())
        return True

    def _head(self, now: Situation) -> None:
        self.console.print()
        self.console.print(Rule(_bar(now), style="yellow"))

    def _say(self, text: str) -> None:
        self.console.print(escape(text), highlight=False)


# -- what is shown --------------------------------------------------------------------------------------


def _bar(now: Situation) -> str:
    """The status bar: who the person is."""
    name = now.ruleset.names[now.seat]
    office = ", the Sheriff" if now.sheriff == now.seat else ""
    time = "Night" if now.phase == "night" else "Day"
    return f"{time} {now.round} · you are {name}, {icon_of(now.role)} {now.role}{office}"


def _known_to_seat(now: Situation) -> str:
    """The seat's role and pack, who lives, who is Sheriff, and what the moderator told this seat."""
    names = now.ruleset.names
    facts = facts_of(now.ruleset, [line.event for line in now.lines])  # type: ignore[misc]
    mates = [names[seat] for seat in now.pack if seat != now.seat]
    gone = [names[seat] for seat in range(now.ruleset.players) if seat not in now.alive]
    lines = [
        f"You are {names[now.seat]}, {a_role(now.role)}.",
        f"Your pack: {listed(mates)}." if mates else "",
        f"Alive: {listed([names[seat] for seat in now.alive])}.",
        f"Gone: {listed(gone)}." if gone else "",
        f"Sheriff: {names[now.sheriff]}." if now.sheriff is not None else "",
    ]
    known = [(seat, role) for seat, role in enumerate(facts.roles) if role and seat != now.seat]
    lines += [f"You know that {names[seat]} is {a_role(role)}." for seat, role in known]
    own = [line for line in now.facts if getattr(line.event, "seat", None) == now.seat]
    lines += [_told(line, now) for line in own if not isinstance(line.event, Said | Dealt)]
    return "\n".join(line for line in lines if line)


def _events_seen(now: Situation) -> str:
    """All events that the seat saw, by day and night."""
    lines, time = [], ""
    for line in now.lines:
        at = f"{'Night' if line.phase == 'night' else 'Day'} {line.round}"
        if at != time:
            lines.append(f"{at}:")
            time = at
        lines.append(f"  {_told(line, now)}")
    return "\n".join(lines) or "Nothing has happened yet."


def _told(line: Line, now: Situation) -> str:
    return line_sentence(line, now.seat, now.ruleset)


# -- what is typed --------------------------------------------------------------------------------------


def chosen_option(typed: str, options: Sequence[str]) -> int | str:
    """The typed option, from 0: by its number, or by words that only one option contains; else a sentence on
    what is wrong.
    """
    typed = typed.strip()
    if typed.isdecimal():
        number = _number(typed, len(options))
        return number - 1 if number else f"there is no {typed}; give a number from 1 to {len(options)}"
    words = re.escape(typed.casefold())
    fitting = [
        k for k, option in enumerate(options) if re.search(rf"(?<!\w){words}(?!\w)", option.casefold())
    ]
    if typed and len(fitting) == 1:
        return fitting[0]
    why = "fits several" if fitting and typed else "is none of them"
    return f"{typed!r} {why}; give a number from 1 to {len(options)}"


def ratings(typed: str, names: Sequence[str], before: dict[str, int]) -> dict[str, int] | str:
    """A line's numbers by name, with earlier numbers for other names; or a sentence on what is wrong."""
    found = dict(before)
    for part in filter(None, (part.strip() for part in re.sub("[=:]", " ", typed).split(","))):
        name, _, number = part.rpartition(" ")
        name = next((known for known in names if known.casefold() == name.strip().casefold()), "")
        if not name:
            return f"{part!r}: write a name and a number, such as: {names[0]} 7"
        rated = _number(number, 10)
        if not rated:
            return f"{part!r}: give {name} a number from 1 to 10"
        found[name] = rated
    return found


def _number(typed: str, most: int) -> int:
    """The typed number from 1 to `most`; 0 for other input. Very long ones are refused, as Python cannot read
    them.
    """
    number = int(typed) if typed.isdecimal() and len(typed) < 10 else 0
    return number if number <= most else 0


def _printable(typed: str) -> str:
    """The text without surrogates, which stand for bytes that could not be decoded."""
    return typed.encode("utf-8", "replace").decode()
