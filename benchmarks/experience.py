"""Searching, loading and building a pool of 100,000 experiences, all of one role and one kind of decision.

    OPENBLAS_NUM_THREADS=1 python benchmarks/experience.py [EXPERIENCES] [--queries 31]

Prints medians in milliseconds for vectors of 512 and 768 numbers. *warm*: one search after another. *cold*:
between two searches other memory was read, so that nothing of the pool is left in the caches. *plain*: the
least that a search which compares everything could do, one float32 product of matrix and vector, under the
same conditions. Two kinds of vectors: *drawn*, spread evenly over the sphere, which is the hardest case, and
*texts*, sentences put together at random and embedded by hashing. ε is set so that a fifth of the pairs is
above it, and high enough that almost nothing is.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from wolflab.agents.experience import Experience, Pool, Threshold
from wolflab.lab.experience.pool import calibrate, embed_distinct
from wolflab.lab.experience.pool_file import open_pool, write_pool
from wolflab.match import run_now
from wolflab.models.embedders import resolve_embedder

ROLE, KIND = "Villager", "vote"
OTHER = np.ones(64_000_000, np.float32)
"""256 MB to read between two searches."""
HALVES = (
    "I believe",
    "Player A said that",
    "it may be that",
    "after last night I think",
    "the votes tell me that",
    "nobody doubts that",
    "I must not show that",
    "Player C repeats that",
)
OTHERS = (
    "Player B is a Werewolf",
    "the Seer has been silent so far",
    "Player D was protected by the Guard",
    "two of us voted against the village",
    "the Witch still has her poison",
    "Player B and Player E defend each other",
    "nobody has claimed a role yet",
    "passing would waste the vote",
    "Player F changed sides between the days",
    "I should vote with the others today",
)


def texts(n: int) -> list[str]:
    """Reflections that resemble each other as those of one role do."""
    lot = random.Random(0)
    return [
        " ".join(f"{lot.choice(HALVES)} {lot.choice(OTHERS)}." for _ in range(lot.randint(3, 7)))
        for _ in range(n)
    ]


def experiences(reflections: list[str]) -> list[Experience]:
    """Experiences: 25 for each game, one game for each deal."""
    return [
        Experience(
            text,
            f"I choose to vote for Player {'ABCDEF'[n % 6]}.",
            (4, 996, 995, 5)[n // 25 % 4],
            ROLE,
            KIND,
            f"1/{n // 25}/0",
            f"1/{n // 25}",
            n % 7,
            f"{n % 5 + 1}/vote/{n % 7}",
        )
        for n, text in enumerate(reflections)
    ]


def times(queries: int, work: Callable[[int], object], between: Callable[[], object] | None = None) -> float:
    """Median of `work(1)`, `work(2)` … in milliseconds; `between` is not counted."""
    work(0)
    spent = []
    for n in range(1, queries):
        if between is not None:
            between()
        start = time.perf_counter()
        work(n)
        spent.append(time.perf_counter() - start)
    return median(spent) * 1000


def measure(
    kind: str, reflections: list[str], vectors: NDArray[np.float32], folder: Path, queries: int
) -> None:
    """One table of figures."""
    n, d = vectors.shape
    made = Pool.of(experiences(reflections), vectors, {"name": kind}, Threshold(0.85))
    path = folder / f"{kind}-{d}"
    start = time.perf_counter()
    write_pool(made, path)
    writing = time.perf_counter() - start
    start = time.perf_counter()
    pool = open_pool(path).pool
    loading = time.perf_counter() - start
    fifth = calibrate(pool).epsilon
    asked = vectors[:: max(1, n // queries)]
    block = pool.blocks[ROLE, KIND]
    print(f"\n{kind}, {n} experiences, {len(block.vectors)} distinct vectors of {d} numbers")
    for name, epsilon in (("a fifth", fifth), ("hardly any", max(0.85, fifth))):

        def search(at: int, epsilon: float = epsilon) -> None:
            pool.search(asked[at], ROLE, KIND, epsilon, not_deal=f"1/{at}")

        def product(at: int) -> None:
            block.vectors @ asked[at]

        warm, cold = times(queries, search), times(queries, search, OTHER.sum)
        plain, plain_cold = times(queries, product), times(queries, product, OTHER.sum)
        print(
            f"  ε {epsilon:.2f} ({name} above): search warm {warm:.1f} ms, cold {cold:.1f} ms; plain product "
            f"warm {plain:.1f} ms, cold {plain_cold:.1f} ms; "
            f"search ÷ plain {warm / plain:.2f}, {cold / plain_cold:.2f}"
        )
    print(
        f"  file {path.stat().st_size / 1e6:.0f} MB, written in {writing:.1f} s, read in {loading:.1f} s; "
        f"in memory {block.vectors.nbytes / 1e6:.0f} MB of vectors"
    )


def main() -> None:
    """Everything, for 512 and 768 numbers."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("experiences", type=int, nargs="?", default=100_000)
    options.add_argument("--queries", type=int, default=31)
    given = options.parse_args()
    n = given.experiences
    reflections = texts(n)
    with tempfile.TemporaryDirectory() as folder:
        for d in (512, 768):
            drawn = np.random.default_rng(0).standard_normal((n, d), np.float32)
            drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
            measure(
                "drawn", [f"reflection {place}" for place in range(n)], drawn, Path(folder), given.queries
            )
            del drawn
            embedder = resolve_embedder({"embedder": "hashing", "dimensions": d})
            start = time.perf_counter()
            vectors = run_now(embed_distinct(reflections, embedder))
            spent = time.perf_counter() - start
            measure("texts", reflections, vectors, Path(folder), given.queries)
            print(f"  embedded in {spent:.1f} s, {n / spent:.0f} texts a second")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"\nlargest memory of the whole benchmark: {peak:.1f} GB, {OTHER.nbytes / 1e9:.2f} of them to be cold"
    )


if __name__ == "__main__":
    main()
