"""Pauses the game loop at every ask to a learner, and resumes it with the answer.

`match.play` plays the game; a learner is an agent whose reply waits for `step`. `Stepwise` is for games in
which no other player waits (no event loop, no thread). `Background` is for games in which one does (a model
behind a network). Neither knows the rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from types import coroutine
from typing import Any, NamedTuple

from ..agents.base import IO, Reply
from ..match import Match, Played, play
from ..rules import Action, Ask, View


class LearnerTurn(NamedTuple):
    """An ask to a learner, with its seat's view."""

    view: View
    ask: Ask


Put = Callable[[LearnerTurn], Awaitable[Action]]
"""Waits for the learner's action."""


class LearnerSeat:
    """The agent in a learner's seat. It waits for the action given to `step`."""

    name = "learner"
    instant = True

    def __init__(self, put: Put) -> None:
        self._put = put

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """The action given to `step`."""
        return Reply(await self._put(LearnerTurn(view, ask)))

    def describe(self) -> dict[str, Any]:
        """For the record's header."""
        return {"recipe": self.name}


@coroutine
def pause(turn: LearnerTurn) -> Generator[LearnerTurn, Action, Action]:
    """`Put` for `Stepwise`: yields the turn out of the coroutine."""
    return (yield turn)


class Stepwise:
    """Runs the coroutine of a game from one learner's turn to the next."""

    def __init__(self, match: Match) -> None:
        self._game = play(match)

    def start(self) -> LearnerTurn | Played:
        """Play up to the first learner's turn, or to the end."""
        return self._send(None)

    def answer(self, action: Action) -> LearnerTurn | Played:
        """Answer the present turn, and play on."""
        return self._send(action)

    def stop(self) -> None:
        """Stop the game before its end."""
        self._game.close()

    def _send(self, action: Action | None) -> LearnerTurn | Played:
        try:
            turn: object = self._game.send(action)
        except StopIteration as done:
            played: Played = done.value
            return played
        if not isinstance(turn, LearnerTurn):
            self._game.close()
            raise RuntimeError("a player that calls itself instant has waited")
        return turn


class Background:
    """An event loop in its own thread, on which games with waiting players are played one at a time.

    One loop serves all games, since models keep connections by loop.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, name="wolflab.env", daemon=True)
        self._thread.start()
        self._queue: SimpleQueue[tuple[LearnerTurn, asyncio.Future[Action]] | Future[Played]] = SimpleQueue()
        self._game: Future[Played] | None = None
        self._waiting: asyncio.Future[Action] | None = None

    async def put(self, turn: LearnerTurn) -> Action:
        """`Put` for games on this loop."""
        waiting: asyncio.Future[Action] = self.loop.create_future()
        self._queue.put((turn, waiting))
        return await waiting

    def start(self, match: Match) -> LearnerTurn | Played:
        """Play a game up to the first learner's turn, or to the end."""
        self._queue = SimpleQueue()
        self._game = asyncio.run_coroutine_threadsafe(play(match), self.loop)
        self._game.add_done_callback(self._queue.put)
        return self._next()

    def answer(self, action: Action) -> LearnerTurn | Played:
        """Answer the present turn, and play on. Other turns of the same batch come first."""
        assert self._waiting is not None
        self.loop.call_soon_threadsafe(_set_answer, self._waiting, action)
        return self._next()

    def _next(self) -> LearnerTurn | Played:
        came = self._queue.get()
        if isinstance(came, Future):
            try:
                return came.result()
            except BaseExceptionGroup as group:  # several players were asked at once
                raise _first(group) from group
        turn, self._waiting = came
        return turn

    def stop(self) -> None:
        """Stop the game before its end."""
        if self._game is not None:
            asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result()
            self._game = None

    def run(self, work: Awaitable[None]) -> None:
        """Await `work` on the loop, such as the closing of models."""

        async def done() -> None:
            await work

        asyncio.run_coroutine_threadsafe(done(), self.loop).result()

    def close(self) -> None:
        """Stop the loop and its thread. No game may be running."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def _set_answer(waiting: asyncio.Future[Action], action: Action) -> None:
    """Set the answer, unless the game has failed meanwhile."""
    if not waiting.done():
        waiting.set_result(action)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _cancel_all() -> None:
    """Cancel every task of the running loop but this one, and wait until they are gone."""
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
