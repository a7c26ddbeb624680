"""Worker processes that play, count, verify or train in parallel."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from ...errors import WolflabError

THREADS = "OPENBLAS_NUM_THREADS"
"""Environment variables that limit numpy's threads, read when a process starts."""

P = ParamSpec("P")
R = TypeVar("R")


class _Pool(ProcessPoolExecutor):
    """A pool that starts workers on demand. Workers ignore Ctrl-C, which the driver handles. They do not run
    the user's `__main__` script again, as Python would.
    """

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            sys.modules["__main__"] = script
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def cores() -> int:
    """The number of cores that this process may use; a batch system or a container may allow fewer than the
    machine has.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def processes(count: int, start: Callable[..., None], *given: Any) -> Iterator[ProcessPoolExecutor]:
    """`count` new interpreters; each first calls `start(*given)`, and ends with this process. Tasks that
    still wait on exit are dropped.

    Each has one thread for linear algebra, because threads of several processes slow each other down. Raises
    WolflabError if a process was killed.
    """
    before = os.environ.get(THREADS)
    os.environ[THREADS] = before or "1"
    pool = _Pool(count, get_context("spawn"), _begin, (start, *given))
    try:
        yield pool
    except BrokenProcessPool:
        raise WolflabError(
            "a worker process was ended from outside (is memory short?), or by an agent's own code "
            "(os._exit): run the command again (a run goes on with --resume), perhaps with fewer workers"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        if before is None:
            os.environ.pop(THREADS, None)


def _begin(start: Callable[..., None], *given: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_driver, daemon=True).start()
    start(*given)


def _end_with_driver() -> None:
    """End this worker when its driver is killed."""
    driver = parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


@contextmanager
def rare_collection() -> Iterator[None]:
    """Collect cyclic garbage rarely: a game makes many objects and hardly any cycles."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
