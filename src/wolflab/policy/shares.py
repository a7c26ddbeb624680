"""Which part of the program the processor's time goes into, by looking now and then.

A signal comes after every few milliseconds of processor time; whichever room of the package the innermost
frame belongs to gets them. It costs nothing that can be measured and changes nothing. Without POSIX
signals, or outside the main thread, all that is known is the total.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

_PACKAGE = str(Path(__file__).parent.parent) + "/"
_EVERY = 0.005
"""Seconds of processor time between looks."""
_PARTS = (
    ("models/embedders/", "embedding"),
    ("agents/policy/features", "features"),
    ("agents/policy/", "network"),
    ("models/village/", "village"),
)
"""Where a path begins → what it counts as; everything else counts as its room."""


class Sampler:
    """A context; `seconds` afterwards: processor time by part, and "all" of it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._found: Counter[str] = Counter()
        self._before: Any = None

    def __enter__(self) -> Sampler:
        self._start = time.process_time()
        main = threading.current_thread() is threading.main_thread()
        self._on = main and hasattr(signal, "setitimer")
        if self._on:
            self._before = signal.signal(signal.SIGPROF, self._look)
            signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)
        return self

    def __exit__(self, *_: object) -> None:
        if self._on:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, self._before)
        total, count = time.process_time() - self._start, sum(self._found.values())
        self.seconds = {part: total * n / count for part, n in sorted(self._found.items())}
        self.seconds["all"] = total

    def _look(self, _: int, frame: FrameType | None) -> None:
        while frame is not None:
            path = frame.f_code.co_filename
            if path.startswith(_PACKAGE):
                self._found[part_of(path.removeprefix(_PACKAGE))] += 1
                return
            frame = frame.f_back


def part_of(path: str) -> str:
    """What the time in a file of the package counts as."""
    return next((part for start, part in _PARTS if path.startswith(start)), path.split("/")[0])
