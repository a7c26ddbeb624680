"""Looking into a pool's file: how much there is of each role and decision, and some of it to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ...agents.experience_block import Experience
from .from_games import WON
from .growing import open_pool


@dataclass(frozen=True, slots=True)
class SampleRow:
    """What a pool holds of one role in one kind of decision.

    n: experiences; distinct: different vectors among them; winners: of those who won; games: from how many.
    """

    role: str
    kind: str
    n: int
    distinct: int
    winners: int
    games: int
    lowest: int
    median: float
    highest: int


@dataclass(frozen=True, slots=True)
class Inspected:
    """Everything that a pool's file says, as plain values (`as_dict`).

    scores: score → number of experiences. share, reached: see `Nearness`. origins: for each time of
    building, the version, the runs, the games used and left out, and the selection. sample: experiences
    spread evenly over the pool. bytes: of the file.
    """

    path: str
    bytes: int
    digest: str
    embedder: Mapping[str, Any]
    dimensions: int
    experiences: int
    games: int
    deals: int
    epsilon: float
    share: float | None
    reached: float | None
    rows: tuple[SampleRow, ...]
    scores: Mapping[int, int]
    origins: tuple[Mapping[str, Any], ...]
    sample: tuple[Experience, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def inspect(path: Path, sample: int = 3) -> Inspected:
    """What a pool's file holds (a growing one: its last state); reads all of it, so that damage is found.

    StoreError if it cannot be used.
    """
    pool, origins, _ = open_pool(path)
    rows = []
    scores: Counter[int] = Counter()
    games: set[str] = set()
    deals: set[str] = set()
    for role, kind in pool.held:
        block = pool.block(role, kind)
        assert block is not None
        mine = sorted(entry.score for entry in block.entries)
        here = {entry.game for entry in block.entries}
        winners = sum(score > WON // 2 for score in mine)
        rows.append(
            SampleRow(
                role,
                kind,
                len(mine),
                len(block.vectors),
                winners,
                len(here),
                mine[0],
                float(median(mine)),
                mine[-1],
            )
        )
        scores.update(mine)
        games |= here
        deals |= {entry.deal for entry in block.entries}
    every = list(pool.experiences()) if sample > 0 else []
    shown = min(sample, len(every))
    return Inspected(
        path=str(path),
        bytes=path.stat().st_size,
        digest=pool.digest,
        embedder=pool.embedder,
        dimensions=pool.dimensions,
        experiences=len(pool),
        games=len(games),
        deals=len(deals),
        epsilon=pool.epsilon,
        share=pool.nearness.share,
        reached=pool.nearness.reached,
        rows=tuple(rows),
        scores=dict(sorted(scores.items())),
        origins=origins,
        sample=tuple(every[(2 * at + 1) * len(every) // (2 * shown)] for at in range(shown)),
    )
