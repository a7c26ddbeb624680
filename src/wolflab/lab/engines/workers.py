"""The driver's side of worker processes: it gives them tasks, answers them, and starts a new one for one that
has ended.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from socket import gethostname
from threading import Thread
from types import TracebackType
from typing import Any, Self

from ...errors import Stopped, WolflabError
from .engine import Engine, Link, WorkerEnded
from .local import LocalEngine
from .worker import (
    Do,
    DriverAnswer,
    Outbox,
    TaskOver,
    WorkerQuestion,
    WorkerReady,
    WorkerSetup,
    WorkerTask,
    messages_in,
    sendable,
    versions,
)

RESTARTS = 3
"""How many workers may end one after the other without a finished task in between."""
AHEAD = 4
"""Tasks of a pool that are begun for each worker, so that none has to wait."""

Serve = Callable[[Any], Awaitable[Any]]
"""Answers what a worker asks within a task."""

_ENDED = (
    "a worker process was ended from outside (is memory short?), or by an agent's own code (os._exit): run "
    "the command again (a run goes on with --resume), perhaps with fewer workers"
)


async def _no_answer(asked: Any) -> Any:
    raise WolflabError(f"a worker asked {asked!r}, and nobody answers")


@dataclass(eq=False)
class _Running:
    """A task that a worker does. over: its result. asked: questions that are being answered."""

    serve: Serve
    over: asyncio.Future[Any]
    asked: set[asyncio.Task[None]] = field(default_factory=set)


@dataclass(eq=False)
class _Worker:
    """A worker, its tasks by number, and the task that reads from it."""

    number: int
    link: Link
    outbox: Outbox
    running: dict[int, _Running] = field(default_factory=dict)
    reading: asyncio.Task[None] | None = None


class Workers:
    """Worker processes of one engine, in an ``async with`` block.

    begin: called in each worker with `given`, returns what does tasks there. All have to be picklable, and
    `begin` a function of a module.
    """

    def __init__(self, engine: Engine, count: int, begin: Callable[..., Do], *given: Any) -> None:
        self._engine, self._count, self._setup = engine, count, WorkerSetup(begin, given)
        self._workers: list[_Worker] = []
        self._tasks = self._ended = 0
        self._given_up: WolflabError | None = None
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        starting = [asyncio.create_task(self._start(number + 1)) for number in range(self._count)]
        try:
            self._workers += await asyncio.gather(*starting)
        except BaseException:
            for one in starting:
                one.cancel()
            ended = await asyncio.gather(*starting, return_exceptions=True)
            self._workers += [one for one in ended if isinstance(one, _Worker)]
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def do(self, task: Any, serve: Serve = _no_answer) -> Any:
        """The result of a task, done by the worker that has the fewest. serve: answers what it asks.

        Raises the task's error; WorkerEnded if the worker ended, once all that it asked is answered: the task
        may be given again; WolflabError if workers end again and again.
        """
        while not self._workers and self._given_up is None:
            self._changed.clear()
            await self._changed.wait()
        if self._given_up is not None:
            raise self._given_up
        worker = min(self._workers, key=lambda one: len(one.running))
        self._tasks += 1
        number, running = self._tasks, _Running(serve, asyncio.get_running_loop().create_future())
        worker.outbox.put(WorkerTask(number, task))
        worker.running[number] = running
        try:
            return await running.over
        finally:
            worker.running.pop(number, None)
            for one in running.asked:
                one.cancel()  # its task has failed, or nobody waits for it any more

    # -- workers that start, end and are stopped ---------------------------------------------

    async def _start(self, number: int) -> _Worker:
        link = await self._engine.start(number)
        worker = _Worker(number, link, Outbox(link.send))
        try:
            worker.outbox.put(self._setup)
            (ready,) = messages_in(await link.receive())
            _check(number, ready)
        except BaseException:
            await link.stop()
            raise
        worker.reading = asyncio.create_task(self._read(worker))
        return worker

    async def _read(self, worker: _Worker) -> None:
        """Hear a worker until it ends."""
        try:
            while True:
                for message in messages_in(await worker.link.receive()):
                    self._heard(worker, message)
        except WorkerEnded as ended:
            self._workers.remove(worker)
            await worker.link.stop()
            await self._replace(worker, ended)

    def _heard(self, worker: _Worker, message: TaskOver | WorkerQuestion) -> None:
        match message:
            case TaskOver(number, result, error):
                self._ended = 0
                running = worker.running.get(number)
                if running is None or running.over.done():
                    return
                if error is None:
                    running.over.set_result(result)
                else:
                    running.over.set_exception(error)
            case WorkerQuestion(number, task, asked):
                if (running := worker.running.get(task)) is not None:
                    answering = asyncio.create_task(self._answer(worker, running.serve, number, asked))
                    running.asked.add(answering)
                    answering.add_done_callback(running.asked.discard)

    async def _answer(self, worker: _Worker, serve: Serve, number: int, asked: Any) -> None:
        try:
            answer = DriverAnswer(number, await serve(asked))
        except Exception as error:  # noqa: BLE001 (raised in the worker)
            answer = DriverAnswer(number, None, sendable(error))
        if number:
            worker.outbox.put(answer)

    async def _replace(self, worker: _Worker, ended: WorkerEnded) -> None:
        """Start a worker in place of one that has ended; if that fails, others go on. What it asked is
        answered first, so that its tasks find the answers on file when they are given again.
        """
        while self._given_up is None:
            self._ended += 1
            if self._ended > RESTARTS:
                self._give_up(Stopped(_ENDED))
                break
            try:
                self._workers.append(await self._start(worker.number))
                break
            except WorkerEnded:  # before it began
                continue
            except Exception as error:  # noqa: BLE001 (raised in every task)
                if not self._workers:
                    self._give_up(Stopped(str(error)))
                break
        self._changed.set()
        answering = [one for running in worker.running.values() for one in running.asked]
        await asyncio.gather(*answering, return_exceptions=True)
        for running in worker.running.values():
            if not running.over.done():
                running.over.set_exception(self._given_up or ended)

    def _give_up(self, why: WolflabError) -> None:
        self._given_up = why
        for worker in self._workers:
            for running in worker.running.values():
                if not running.over.done():
                    running.over.set_exception(why)

    async def _stop(self) -> None:
        self._given_up = self._given_up or WolflabError("the workers have been stopped")
        self._changed.set()
        reading = [one.reading for one in self._workers if one.reading is not None]
        for one in reading:
            one.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await asyncio.gather(*(worker.link.stop() for worker in self._workers))
        self._workers.clear()
        await self._engine.stop()


def _check(number: int, ready: WorkerReady) -> None:
    """WolflabError for a worker that could not begin, or has other versions than this process."""
    ours = versions()
    differing = [
        f"{name} {ready.versions.get(name)} there and {own} here"
        for name, own in ours.items()
        if ready.versions.get(name) != own
    ]
    if differing:
        raise WolflabError(
            f"worker {number} on {ready.host} has other versions than this process ({', '.join(differing)}), "
            "so that its results could differ; install the same there"
        )
    if isinstance(ready.error, WolflabError) and ready.host != gethostname():
        raise WolflabError(f"worker {number} on {ready.host} could not begin: {ready.error}")
    if ready.error is not None:
        raise ready.error


class TaskPool:
    """Workers for code without an event loop: they run on a loop in a thread of its own."""

    def __init__(self, workers: Workers, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self._workers, self._loop, self._ahead = workers, loop, AHEAD * count

    def map(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """The results of tasks, in their order. Raises the first error."""
        begun: deque[Any] = deque()
        try:
            for task in tasks:
                begun.append(asyncio.run_coroutine_threadsafe(self._workers.do(task), self._loop))
                if len(begun) >= self._ahead:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        except WorkerEnded:
            raise WolflabError(_ENDED) from None
        finally:
            for waiting in begun:
                waiting.cancel()


@contextmanager
def pool_of(
    count: int, begin: Callable[..., Do], *given: Any, engine: Engine | None = None
) -> Iterator[TaskPool]:
    """`count` worker processes as a pool, in a `with` block. Tasks that still wait on exit are dropped.

    engine: None for processes of this machine. Raises WolflabError if a worker was killed.
    """
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    workers = Workers(engine or LocalEngine(), count, begin, *given)
    try:
        asyncio.run_coroutine_threadsafe(workers.__aenter__(), loop).result()
        try:
            yield TaskPool(workers, count, loop)
        finally:
            asyncio.run_coroutine_threadsafe(workers.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
