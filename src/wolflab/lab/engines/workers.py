"""The driver's side of worker processes: it gives them tasks, answers them, and starts a new one for one that
has ended.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
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
TRIES = 3
"""How often a task is given to a worker, where workers end while they do it."""
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
    """A worker, and its tasks by number."""

    number: int
    link: Link
    outbox: Outbox
    running: dict[int, _Running] = field(default_factory=dict)


class Workers:
    """Worker processes of one engine, in an ``async with`` block.

    begin: called in each worker with `given`, returns what does tasks there. All have to be picklable, and
    `begin` a function of a module.
    """

    def __init__(self, engine: Engine, count: int, begin: Callable[..., Do], *given: Any) -> None:
        self._engine, self._count, self._setup = engine, count, WorkerSetup(begin, given)
        self._workers: list[_Worker] = []
        self._under_way = set[asyncio.Task[None]]()
        self._tasks = self._ended = 0
        self._given_up: WolflabError | None = None
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        try:
            await asyncio.gather(*(self._begin(self._start(number + 1)) for number in range(self._count)))
        except BaseException as error:
            await self._stop()
            if isinstance(error, WorkerEnded):
                raise WolflabError(_ENDED) from None
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

    async def do_again(self, task: Any, serve: Serve = _no_answer) -> Any:
        """As `do`; if the worker ends, another one does the task. Stopped if `TRIES` of them have ended."""
        for _ in range(TRIES):
            with suppress(WorkerEnded):
                return await self.do(task, serve)
        raise Stopped(_ENDED)

    # -- workers that start, end and are stopped ---------------------------------------------

    def _begin(self, what: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin a task that `_stop` ends."""
        task = asyncio.create_task(what)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    async def _start(self, number: int) -> None:
        link = await self._engine.start(number)
        worker = _Worker(number, link, Outbox(link.send))
        try:
            worker.outbox.put(self._setup)
            (ready,) = messages_in(await link.receive())
            _check(number, ready)
        except BaseException:
            await link.stop()
            raise
        self._workers.append(worker)
        self._begin(self._read(worker))

    async def _read(self, worker: _Worker) -> None:
        """Hear a worker until it ends, or is stopped."""
        try:
            while True:
                for message in messages_in(await worker.link.receive()):
                    self._heard(worker, message)
        except WorkerEnded:
            pass
        except Exception as error:  # noqa: BLE001 (unpickling may raise anything; raised in every task)
            self._give_up(
                Stopped(
                    f"what worker {worker.number} sent cannot be read ({type(error).__name__}: {error}): "
                    "are values in it of a class of your own?"
                )
            )
        finally:
            self._workers.remove(worker)
            await worker.link.stop()
        await self._replace(worker)

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

    async def _replace(self, worker: _Worker) -> None:
        """Start a worker in place of one that has ended; if that fails, others go on. What it asked is
        answered first, so that its tasks find the answers on file when they are given again.
        """
        while self._given_up is None:
            self._ended += 1
            if self._ended > RESTARTS:
                self._give_up(Stopped(_ENDED))
                break
            try:
                await self._start(worker.number)
                break
            except WorkerEnded:
                continue
            except Exception as error:  # noqa: BLE001 (raised in every task)
                if not self._workers:
                    self._give_up(Stopped(str(error)))
                break
        self._changed.set()
        answering = [one for running in worker.running.values() for one in running.asked]
        await asyncio.gather(*answering, return_exceptions=True)
        _fail(worker, self._given_up or WorkerEnded("a worker process has ended"))

    def _give_up(self, why: WolflabError) -> None:
        self._given_up = self._given_up or why
        self._changed.set()
        for worker in self._workers:
            _fail(worker, self._given_up)

    async def _stop(self) -> None:
        self._give_up(WolflabError("the workers have been stopped"))
        for one in self._under_way:
            one.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await asyncio.gather(*(worker.link.stop() for worker in self._workers))  # not read from yet
        self._workers.clear()
        await self._engine.stop()


def _fail(worker: _Worker, why: WolflabError) -> None:
    """Raise an error in all tasks of a worker."""
    for running in worker.running.values():
        if not running.over.done():
            running.over.set_exception(why)


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
        """The results of tasks, in their order; see `Workers.do_again`. Raises the first error."""
        begun: deque[Any] = deque()
        try:
            for task in tasks:
                begun.append(asyncio.run_coroutine_threadsafe(self._workers.do_again(task), self._loop))
                if len(begun) >= self._ahead:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for waiting in begun:
                waiting.cancel()


@contextmanager
def pool_of(count: int, begin: Callable[..., Do], *given: Any) -> Iterator[TaskPool]:
    """`count` worker processes of this machine as a pool, in a `with` block. Tasks that still wait on exit
    are dropped. Raises Stopped if workers end again and again.
    """
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    workers = Workers(LocalEngine(), count, begin, *given)
    begun = asyncio.run_coroutine_threadsafe(workers.__aenter__(), loop)
    try:
        begun.result()
        yield TaskPool(workers, count, loop)
    finally:
        asyncio.run_coroutine_threadsafe(workers.__aexit__(None, None, None), loop).result()
        wait((begun,))  # where Ctrl-C came before it was over
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
