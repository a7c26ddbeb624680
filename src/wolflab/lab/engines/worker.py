"""What runs in a worker process: it does the driver's tasks, many at once if they wait, and asks the driver.

Messages are pickled lists of the tuples below. Those of one turn of the event loop travel together.
"""

from __future__ import annotations

import asyncio
import pickle
import platform
import socket
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from contextvars import ContextVar
from importlib.metadata import PackageNotFoundError, version
from inspect import isawaitable, iscoroutinefunction
from traceback import format_exception
from typing import Any, NamedTuple

from ... import __version__
from ...errors import WolflabError

_PACKAGES = ("msgspec", "numpy", "pydantic", "safetensors")
"""Packages that decide what a game or a training gives, beside Wolflab."""

Do = Callable[[Any], Any]
"""Does a task; returns its result. Tasks of a coroutine function are done side by side, others in turn."""


class WorkerSetup(NamedTuple):
    """begin: called with `given`, returns what does tasks."""

    begin: Callable[..., Do]
    given: tuple[Any, ...]


class WorkerReady(NamedTuple):
    """The worker has begun. host: of the machine. versions: of what decides results. error: why not."""

    host: str
    versions: dict[str, str]
    error: BaseException | None = None


class WorkerTask(NamedTuple):
    """A task of the driver."""

    number: int
    task: Any


class TaskOver(NamedTuple):
    """The end of a task: its result, or an error."""

    number: int
    result: Any
    error: BaseException | None = None


class WorkerQuestion(NamedTuple):
    """What the worker asks the driver within a task. number: of the question, 0 where no answer is wanted."""

    number: int
    task: int
    asked: Any


class DriverAnswer(NamedTuple):
    """The driver's answer to a question, or an error."""

    number: int
    answer: Any
    error: BaseException | None = None


def versions() -> dict[str, str]:
    """The versions of what decides results, in this process."""
    found = {"Python": ".".join(platform.python_version_tuple()[:2]), "wolflab": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


class Outbox:
    """Sends messages: those of one turn of the event loop together."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._waiting: list[bytes] = []

    def put(self, message: NamedTuple) -> None:
        """Send a message soon. Raises the error of a message that cannot be pickled."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self.flush)
        self._waiting.append(data)

    def flush(self) -> None:
        """Send what waits now."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._send(pickle.dumps(waiting, pickle.HIGHEST_PROTOCOL))


def messages_in(data: bytes) -> list[Any]:
    """The messages of an `Outbox`."""
    return [pickle.loads(message) for message in pickle.loads(data)]


def sendable(error: BaseException) -> BaseException:
    """An error that survives pickling: itself, or a WolflabError with its words. An error in code has its
    traceback as a note.
    """
    if not isinstance(error, WolflabError):
        error.add_note("In the other process:\n" + "".join(format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 (an error of a user's own class may fail in any way)
        kind = "" if isinstance(error, WolflabError) else f"{type(error).__name__}: "
        return WolflabError(f"{kind}{error}")
    return error


class _Driver:
    """The driver, as a worker sees it."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self.answers: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0

    async def ask(self, task: int, asked: Any) -> Any:
        """The answer to a question within a task."""
        self._asked += 1
        number = self._asked
        answer = self.answers[number] = asyncio.get_running_loop().create_future()
        try:
            self.outbox.put(WorkerQuestion(number, task, asked))
            return await answer
        finally:
            del self.answers[number]

    def heard(self, said: DriverAnswer) -> None:
        """An answer has come; nobody may wait for it any more."""
        answer = self.answers.get(said.number)
        if answer is None or answer.done():
            return
        if said.error is None:
            answer.set_result(said.answer)
        else:
            answer.set_exception(said.error)


_task: ContextVar[tuple[_Driver, int]] = ContextVar("task")


async def ask_driver(asked: Any) -> Any:
    """Ask the driver within a task; returns what `serve` of `Workers.do` returned, or raises its error."""
    driver, task = _task.get()
    return await driver.ask(task, asked)


def tell_driver(told: Any) -> None:
    """Tell the driver something within a task; `serve` is called, and its result is not used."""
    driver, task = _task.get()
    driver.outbox.put(WorkerQuestion(0, task, told))


async def run_worker(send: Callable[[bytes], None], receive: Callable[[], Awaitable[bytes]]) -> None:
    """Do tasks until the driver stops this process, or `receive` raises."""
    outbox, in_turn = Outbox(send), asyncio.Lock()
    driver, running = _Driver(outbox), set[asyncio.Task[None]]()
    do: Do | None = None
    while True:
        for message in messages_in(await receive()):
            match message:
                case WorkerSetup():
                    do, ready = _begun(message)
                    outbox.put(ready)
                case WorkerTask():
                    assert do is not None
                    turn = nullcontext() if iscoroutinefunction(do) else in_turn
                    begun = asyncio.create_task(_done(driver, do, message, turn))
                    running.add(begun)
                    begun.add_done_callback(running.discard)
                case DriverAnswer():
                    driver.heard(message)


def _begun(setup: WorkerSetup) -> tuple[Do | None, WorkerReady]:
    try:
        return setup.begin(*setup.given), WorkerReady(socket.gethostname(), versions())
    except Exception as error:  # noqa: BLE001 (raised in the driver)
        return None, WorkerReady(socket.gethostname(), versions(), sendable(error))


async def _done(driver: _Driver, do: Do, task: WorkerTask, turn: AbstractAsyncContextManager[Any]) -> None:
    """Do a task and send its end. turn: held meanwhile, so that between tasks that do not wait messages are
    sent and received.
    """
    _task.set((driver, task.number))
    try:
        async with turn:
            result = do(task.task)
            over = TaskOver(task.number, await result if isawaitable(result) else result)
    except asyncio.CancelledError:
        over = TaskOver(task.number, None, WolflabError("the code that was run cancelled its own task"))
    except Exception as error:  # noqa: BLE001 (raised in the driver)
        over = TaskOver(task.number, None, sendable(error))
    try:
        driver.outbox.put(over)
    except Exception as error:  # noqa: BLE001 (a result of a user's own class that cannot be pickled)
        driver.outbox.put(TaskOver(task.number, None, sendable(error)))
