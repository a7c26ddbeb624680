"""Processes that play, count or train beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from ...errors import WolflabError

THREADS = "OPENBLAS_NUM_THREADS"
"""Read by numpy when a process starts."""


@contextmanager
def processes(count: int, start: Callable[..., None], *given: Any) -> Iterator[ProcessPoolExecutor]:
    """`count` fresh interpreters; each calls `start(*given)` first. What waits at the end is dropped.

    Each has one thread for linear algebra: those of several processes would wait for each other, which takes
    several times the work. Raises WolflabError where a process was ended from outside.
    """
    before = os.environ.get(THREADS)
    os.environ[THREADS] = before or "1"
    pool = ProcessPoolExecutor(count, get_context("spawn"), start, given)
    try:
        yield pool
    except BrokenProcessPool:
        raise WolflabError(
            "a worker process was ended from outside (is memory short?): go on with --resume, perhaps with "
            "fewer workers"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        if before is None:
            os.environ.pop(THREADS, None)
