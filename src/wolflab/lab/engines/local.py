"""Worker processes on this machine: new interpreters, each at the other end of a pair of sockets."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.context import SpawnProcess
from struct import Struct
from threading import Thread
from types import ModuleType

from ...errors import WolflabError
from .engine import WorkerEnded
from .worker import run_worker

THREADS = "OPENBLAS_NUM_THREADS"
"""The environment variable that limits numpy's threads, read when a process starts."""
_OF_DRIVER = {signal.SIGINT, signal.SIGTERM}
"""Signals that only the driver heeds; Ctrl-C and batch systems send them to all processes of a group."""
_LENGTH = Struct("<Q")
"""The length of a message, before it."""


def cores() -> int:
    """The number of cores that this process may use; a batch system or a container may allow fewer than the
    machine has.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _SocketLink:
    """One end of a pair of sockets."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, data: bytes) -> None:
        """See `Link`."""
        self._writer.writelines((_LENGTH.pack(len(data)), data))

    async def receive(self) -> bytes:
        """See `Link`."""
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            return await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, OSError):
            raise WorkerEnded("a worker process has ended") from None

    def close(self) -> None:
        """Close this end."""
        self._writer.close()


class LocalLink(_SocketLink):
    """See `Link`. process: the worker's."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: SpawnProcess
    ) -> None:
        super().__init__(reader, writer)
        self.process = process

    async def stop(self) -> None:
        """See `Link`. The engine waits for the process when it is stopped."""
        self.close()
        self.process.kill()


class LocalEngine:
    """See `Engine`. Workers end with this process, ignore Ctrl-C and SIGTERM, which the driver handles, and
    do not run the user's `__main__` script again. Each has one thread for linear algebra, because threads of
    several processes slow each other down.
    """

    def __init__(self) -> None:
        self._started: list[SpawnProcess] = []

    async def start(self, number: int) -> LocalLink:
        """See `Engine`."""
        try:
            ours, theirs = socket.socketpair()
            process = get_context("spawn").Process(target=_run, args=(theirs,), name=f"worker {number}")
            with theirs, _as_worker():
                process.start()
            self._started.append(process)
        except OSError as error:
            raise WolflabError(f"worker {number} cannot be started ({error}): take fewer workers") from None
        try:
            return LocalLink(*await asyncio.open_connection(sock=ours), process)
        except BaseException:
            ours.close()
            process.kill()
            raise

    async def stop(self) -> None:
        """See `Engine`."""
        for process in self._started:
            await asyncio.to_thread(process.join)
        self._started.clear()


@contextmanager
def _as_worker() -> Iterator[None]:
    """The circumstances in which a worker's interpreter starts."""
    resource_tracker.ensure_running()  # a process of Python's own: starting it unblocks signals
    threads, script = os.environ.get(THREADS), sys.modules["__main__"]
    os.environ[THREADS] = threads or "1"
    sys.modules["__main__"] = ModuleType("__main__")
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_DRIVER)
    try:
        yield
    finally:
        sys.modules["__main__"] = script
        if threads is None:
            del os.environ[THREADS]
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _run(ours: socket.socket) -> None:
    """The worker's process."""
    for number in _OF_DRIVER:  # no SIG_IGN, which programs that an agent starts would inherit
        signal.signal(number, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_DRIVER)
    Thread(target=_end_with_driver, daemon=True).start()
    with suppress(WorkerEnded):  # the driver has ended, or closed its end
        asyncio.run(_work(ours))


async def _work(ours: socket.socket) -> None:
    link = _SocketLink(*await asyncio.open_connection(sock=ours))
    await run_worker(link.send, link.receive)


def _end_with_driver() -> None:
    """End this worker when its driver is killed, even in the middle of a long computation."""
    driver = parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


def collect_rarely() -> None:
    """Collect cyclic garbage rarely from now on: a game makes many objects and hardly any cycles."""
    gc.set_threshold(200_000, 20, 20)


@contextmanager
def rare_collection() -> Iterator[None]:
    """See `collect_rarely`; only in a `with` block."""
    before = gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)
