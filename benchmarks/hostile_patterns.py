"""The time of hostile texts: for every pattern, at a length and at twice the length, the slowest first.

    python benchmarks/hostile_patterns.py [--under text.reading] [--shown 20]

Texts are derived from each pattern (`tests/hostile_text.py`): words that it may read in two ways, over and
over, and an end that does not fit. Of each pattern the text whose steps grow most is timed. Then statements
made of such texts are read as a game reads them, at 500 and at 1000 characters, the longest that there are.
How long a move takes at a table where they are said: `python benchmarks/web_tables.py --hostile`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from hostile_text import GROWTH, Text, worst
from package_patterns import package_patterns
from wolflab.rules import SHERIFF
from wolflab.text.clean import LIMIT, clean
from wolflab.text.reading import read

_LONG = 40_000
"""Characters of the longest text that is timed: so many of a reply are read."""
_ENOUGH = 0.002
"""Seconds that can be measured."""


class Timed(NamedTuple):
    """Milliseconds at a length and at twice the length."""

    what: str
    text: Text
    length: int
    once: float
    twice: float

    @property
    def growth(self) -> float:
        """The ratio of the times at twice the length and at the length."""
        return self.twice / self.once

    def __str__(self) -> str:
        shown = f"{self.text.prefix[-12:]!r} + n × {self.text.pump[:24]!r}"
        numbers = f"{self.length} | {self.once:.2f} | {self.twice:.2f} | {self.growth:.2f}"
        return f"| {self.what} | {shown} | {numbers} |"


def hostile_statements(under: str) -> list[Text]:
    """The worst text of each pattern of these modules, with players' names as people write them."""
    costs = [worst(pattern) for pattern in package_patterns(under) if isinstance(pattern.pattern, str)]
    return [Text(*map(_named, cost.text)) for cost in costs if cost is not None]


def statement(text: Text, length: int) -> str:
    """A hostile text as somebody may say it, at most so long."""
    times = max(1, (length - len(text.prefix) - len(text.suffix)) // len(text.pump))
    return clean(text.of(times), length)


def _named(part: str) -> str:
    return re.sub(r"@(\d)", lambda found: SHERIFF.names[int(found[1]) % SHERIFF.players], part)


def _seconds(work: Callable[[], object]) -> float:
    """Processor time, the least of three."""
    taken = []
    for _ in range(3):
        began = process_time()
        work()
        taken.append(process_time() - began)
    return min(taken)


def _timed(place: str, pattern: re.Pattern[Any], text: Text) -> Timed:
    """As long as it takes to be measured, or as long as a text may be."""
    times = max(1, 64 // len(text.pump))

    def seconds(times: int) -> float:
        said: Any = text.of(times)
        said = said if isinstance(pattern.pattern, str) else said.encode("latin-1", "replace")
        return _seconds(lambda: sum(1 for _ in pattern.finditer(said)))

    once = seconds(times)
    while once < _ENOUGH and 2 * times * len(text.pump) <= _LONG:
        times, once = 2 * times, seconds(2 * times)
    return Timed(place, text, len(text.of(times)), 1000 * max(once, 1e-6), 1000 * seconds(2 * times))


def _read(text: Text) -> Timed:
    taken = []
    for length in (LIMIT // 2, LIMIT):
        said = statement(text, length)
        began = process_time()  # once: what was read is remembered
        read(said, SHERIFF.names, 0)
        taken.append(1000 * max(process_time() - began, 1e-6))
    return Timed("read", text, LIMIT // 2, *taken)


def _table(rows: list[Timed], shown: int, most: Callable[[Timed], float]) -> None:
    print("\n| pattern of | text | characters | ms | ms at twice | ratio |\n|---|---|---|---|---|---|")
    for row in sorted(rows, key=most, reverse=True)[:shown]:
        print(row)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--under", default="", help="a room or a module alone, as text.reading")
    parser.add_argument("--shown", type=int, default=20)
    given = parser.parse_args()
    found = package_patterns(given.under)
    costs = [(place, pattern, worst(pattern)) for pattern, place in found.items()]
    rows = [_timed(place, pattern, cost.text) for place, pattern, cost in costs if cost and cost.twice]
    _table(rows, given.shown, lambda row: row.growth)
    over = sum(cost is not None and cost.growth > GROWTH for _, _, cost in costs)
    print(
        f"{len(found)} patterns, {len(rows)} with something repeated; over {GROWTH:g} times in steps: {over}"
    )
    told = [_read(text) for text in hostile_statements(given.under or "text.reading")]
    _table(told, given.shown, lambda row: row.twice)
    slowest = max((row.twice for row in told), default=0)
    print(f"{len(told)} statements of {LIMIT} characters; the slowest takes {slowest:.0f} ms to read")


if __name__ == "__main__":
    main()
