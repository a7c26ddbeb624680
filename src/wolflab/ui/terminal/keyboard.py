"""Input of a person at a terminal: a line that can be edited before it is sent, or one of several options;
and lines through a pipe. It knows nothing of the game. prompt_toolkit is imported on first use.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent
    from prompt_toolkit.output import Output

KEYS = {"k": "/know", "l": "/log", "r": "/rules", "q": "/quit", "?": "/help"}
"""The keys of commands while an option is chosen."""
_HINT = "arrows or number, Enter · k what you know · l log · r rules · q leave · ? help"


class Keyboard:
    """Keyboard input by prompt_toolkit. input, output: see there; None: this process's terminal."""

    def __init__(self, input: Input | None = None, output: Output | None = None) -> None:
        self._io: dict[str, Any] = {"input": input, "output": output}

    async def line(self, prompt: str, bar: str, start: str = "") -> str:
        """Read a line. After Enter, a second Enter sends it; any other key edits it further."""
        from prompt_toolkit import PromptSession

        session: PromptSession[str] = PromptSession(**self._io)
        while True:
            try:
                typed = (await session.prompt_async(prompt, default=start, bottom_toolbar=bar)).strip()
            except EOFError:  # Ctrl-D
                return KEYS["q"]
            if typed.startswith("/") or await self._sure(typed or "(nothing)", bar):
                return typed
            start = typed

    async def choose(self, options: Sequence[str], bar: str) -> str:
        """Read one of the options, or a command of `KEYS`."""
        at = 0
        while True:
            at, command = await _Menu(options, f"{bar}\n{_HINT}", at).run(self._io)
            if command is not None:
                return command
            if await self._sure(options[at], bar):
                return options[at]

    async def _sure(self, chosen: str, bar: str) -> bool:
        """Whether the person confirms the line."""
        yes, no = f"send: {chosen}", "go back and change it"
        at, command = await _Menu((yes, no), f"{bar}\nEnter sends it · u takes it back", 0, "u").run(self._io)
        return at == 0 and command is None


class _Menu:
    """A list of options, one of them marked."""

    def __init__(self, options: Sequence[str], hint: str, at: int, back: str = "") -> None:
        self.options, self.hint, self.at, self.back = options, hint, at, back
        self._typed = ""

    async def run(self, io: dict[str, Any]) -> tuple[int, str | None]:
        """(the chosen option, None), or (the marked option, a command); options count from 0."""
        from prompt_toolkit.application import Application
        from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window

        body = Window(FormattedTextControl(self._shown), dont_extend_height=True)
        foot = Window(FormattedTextControl(self.hint), style="reverse", height=self.hint.count("\n") + 1)
        app: Application[str | None] = Application(
            Layout(HSplit([body, foot])), key_bindings=self._bindings(), erase_when_done=True, **io
        )
        try:
            command = await app.run_async()
        except EOFError:  # the terminal was closed
            command = KEYS["q"]
        return self.at, command

    def _shown(self) -> str:
        return "\n".join(
            f"{'>' if k == self.at else ' '} {k + 1:>2}  {option}" for k, option in enumerate(self.options)
        )

    def _bindings(self) -> Any:
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()

        def move(by: int) -> None:
            self.at, self._typed = (self.at + by) % len(self.options), ""

        @keys.add("up")
        def _(event: KeyPressEvent) -> None:
            move(-1)

        @keys.add("down")
        def _(event: KeyPressEvent) -> None:
            move(1)

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(exception=KeyboardInterrupt)

        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=KEYS["q"])

        @keys.add("<any>")
        def _(event: KeyPressEvent) -> None:
            key = event.key_sequence[0].data.lower()
            if key.isdecimal():
                self._number(key)
            elif self.back and key == self.back:
                event.app.exit(result="back")
            elif not self.back and key in KEYS:
                event.app.exit(result=KEYS[key])

        return keys

    def _number(self, digit: str) -> None:
        """Mark the option whose number is typed, digit by digit."""
        for typed in (self._typed + digit, digit):
            if 1 <= int(typed) <= len(self.options):
                self.at, self._typed = int(typed) - 1, typed
                return
        self._typed = ""


class PipedLines:
    """Lines from a file descriptor. Waiting for a line does not block the event loop."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = b""
        self._ended = False

    async def readline(self) -> str:
        """The next line with its end; "" at the end of the input."""
        while b"\n" not in self._held and not self._ended:
            await self._something()
            more = os.read(self._descriptor, 1 << 16)
            self._held += more
            self._ended = not more
        line, end, self._held = self._held.partition(b"\n")
        return (line + end).decode("utf-8", "replace")

    async def _something(self) -> None:
        """Wait until there is something to read. A file on disk is always ready."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._descriptor, ready.set)
        except OSError:
            return
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._descriptor)


def piped(stream: TextIO) -> TextIO | PipedLines:
    """The lines of an unread stream; the stream itself if it has no file descriptor."""
    try:
        return PipedLines(stream.fileno())
    except OSError:
        return stream
