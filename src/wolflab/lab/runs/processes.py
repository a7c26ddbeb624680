"""Processes that play, count or train beside each other."""

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
"""Read by numpy when a process starts."""

P = ParamSpec("P")
R = TypeVar("R")


class _Pool(ProcessPoolExecutor):
    """Workers are started as work is handed out. They never hear Ctrl-C: the driver does. They do not run the
    user's script again either, as Python would for its `__main__`: nothing of it is needed.
    """

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            sys.modules["__main__"] = script
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def processes(count: int, start: Callable[..., None], *given: Any) -> Iterator[ProcessPoolExecutor]:
    """`count` fresh interpreters; each calls `start(*given)` first, and ends with this process.
    What waits at the end is dropped.

    Each has one thread for linear algebra: those of several processes would wait for each other, which takes
    several times the work. Raises WolflabError where a process was ended from outside.
    """
    before = os.environ.get(THREADS)
    os.environ[THREADS] = before or "1"
    pool = _Pool(count, get_context("spawn"), _begin, (start, *given))
    try:
        yield pool
    except BrokenProcessPool:
        raise WolflabError(
            "a worker process was ended from outside (is memory short?), or by an agent's own code "
            "(os._exit): go on with --resume, perhaps with fewer workers"
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
    """A driver that is killed cannot tell its workers to stop."""
    driver = parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


@contextmanager
def rare_collection() -> Iterator[None]:
    """Look for cyclic garbage seldom: a game makes many objects and hardly any cycle."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
