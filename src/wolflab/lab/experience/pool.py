"""Pools of experience: built from runs, merged, loaded for play (003 §3.4).

`build_pool` makes a file from runs, `load_pool` gives the pool in it to any number of games, `merge` joins
files. `extend_pool` adds a state to the file of a pool that grows; each state is a pool of its own, frozen
while games are played with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...agents.experience import DecisionKey, Experience, Pool, Threshold
from ...errors import StoreError
from ...models.embedders import (
    PAPER_EMBEDDER,
    PAPER_EPSILON,
    Embedder,
    EmbedderSpec,
    Vectors,
    embedder_digest,
    require_same,
    resolve_embedder,
    share_above,
    threshold_for_share,
)
from .from_games import EVERYTHING, GamesFrom, Gathered, Selection, gather
from .pool_file import add_state, embedded_in, must_be_free, open_pool, write_pool

SHARE = 0.2
"""The share of pairs that ε lets through, unless told otherwise. In ten games of 003's rules among built-in
players, a role takes one kind of decision 14 to 40 times, in forty games 56 to 165 times. A fifth of that is
about the six experiences that a suggestion is drawn from (one bad, five good) in the paper's smallest pool,
and less than the 50 that are kept at most in its largest."""
SAME = 0.9999
"""ε is never above this: what is word for word the same is always found."""
AT_ONCE = 1024
"""Texts handed to an embedder in one go."""
SAMPLE = 3000
"""Experiences among which pairs are looked at, to set ε by."""

_LOT = (
    "({!r}, StoredExperience(reflection={!r}, response={!r}, score={!r}, game={!r}, deal={!r}, seat={!r}, "
    "ask={!r}))"
)
"""What an experience draws its lot by: with other words, ε of a large pool would be another."""

BuildProgress = Callable[[int, int], None]
"""Called with (texts embedded, texts in all)."""


class NothingToLearn(StoreError):
    """No decision in the given games was reflected on, or nobody won any of them."""


async def build_pool(
    sources: Iterable[GamesFrom],
    embedder: Embedder,
    to: Path,
    selection: Selection = EVERYTHING,
    *,
    share: float | None = None,
    epsilon: float | None = None,
    overwrite: bool = False,
    progress: BuildProgress | None = None,
) -> Pool:
    """A pool from the games of runs and records, in the order given, written to a file.

    ε is what is given; else as `share` asks (see `calibrate`); else 0.85 for the paper's embedder, and for
    every other what `SHARE` leads to. Raises StoreError if there is a file already (unless `overwrite`),
    NothingToLearn if no decision was reflected on, and whatever `gather` and the embedder raise.
    """
    must_be_free(to, overwrite)
    gathered = gather(sources, selection)
    experiences = gathered.experiences
    if not experiences:
        missing = ", ".join(f"{n} {why}" for why, n in gathered.left_out.items())
        raise NothingToLearn(
            f"there is no experience in {gathered.games} games{f' ({missing} left out)' if missing else ''}: "
            "it comes from players who reflect, in games that somebody won; use runs of the recipe reflective"
        )
    vectors = await embed_distinct([one.reflection for one in experiences], embedder, progress)
    pool = Pool.of(experiences, vectors, embedder.describe(), Threshold(PAPER_EPSILON))
    pool = pool.tuned(_threshold(pool, share, epsilon))
    write_pool(pool, to, [_origin(gathered, selection)], overwrite=overwrite)
    return pool


def _origin(gathered: Gathered, selection: Selection) -> dict[str, Any]:
    return {
        "version": __version__,
        "runs": list(gathered.runs),
        "games": gathered.games,
        "left_out": dict(gathered.left_out),
        "selection": selection.as_dict(),
    }


async def extend_pool(
    path: Path,
    deals: int,
    sources: Iterable[GamesFrom],
    embedder: Embedder,
    selection: Selection = EVERYTHING,
    *,
    share: float | None = None,
) -> Pool | None:
    """Add to a growing pool's file what the games since its last state teach; the pool as it is then.

    deals: how many deals it holds then. sources: the games that are new, in their order. selection: whose
    experience; its `shuffle` deals responses anew among all that the pool holds. None where nothing has
    been learned so far. Raises ModelError if another embedder made the file.
    """
    made_with, known = embedded_in(path)
    require_same(made_with, embedder, f"the pool {path}")
    gathered = gather(sources, replace(selection, shuffle=None))
    fresh = list(dict.fromkeys(one.reflection for one in gathered.experiences if one.reflection not in known))
    vectors = await embed_distinct(fresh, embedder) if fresh else ()
    return add_state(
        path,
        deals,
        gathered.experiences,
        dict(zip(fresh, vectors, strict=True)),
        selection.shuffle,
        lambda pool: _threshold(pool, share, None),
        _origin(gathered, selection),
    )


async def build_named(sources: Iterable[GamesFrom], embedder: EmbedderSpec, to: Path, **options: Any) -> Pool:
    """`build_pool`, with an embedder by its name or settings, opened and closed for it."""
    made = resolve_embedder(embedder)
    try:
        return await build_pool(sources, made, to, **options)
    finally:
        await made.close()


async def embed_distinct(
    texts: Sequence[str], embedder: Embedder, progress: BuildProgress | None = None
) -> Vectors:
    """float32 (n, d): the vectors of `texts` in their order; equal texts are embedded once."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    distinct = list(places)
    parts = []
    for start in range(0, len(distinct), AT_ONCE):
        parts.append(await embedder.embed(distinct[start : start + AT_ONCE]))
        if progress is not None:
            progress(min(start + AT_ONCE, len(distinct)), len(distinct))
    vectors: Vectors = np.concatenate(parts)[[places[text] for text in texts]]
    return vectors


def load_pool(path: Path, embedder: Embedder) -> Pool:
    """The pool in a file, for games whose reflections `embedder` embeds.

    Raises ModelError if another embedder made it, StoreError if the file cannot be used.
    """
    pool = open_pool(path).pool
    require_same(pool.embedder, embedder, f"the pool {path}")
    return pool


# -- merging ---------------------------------------------------------------------------------------


def merge(paths: Sequence[Path], to: Path, *, overwrite: bool = False) -> Pool:
    """Join the pools of several files into one file: each one's experiences after those of the one before,
    equal ones once.

    ε is set anew by the first pool's share; an ε that was given to the first pool stays. Raises StoreError
    for fewer than two pools, if they were made with different embedders, and as `write_pool`.
    """
    must_be_free(to, overwrite)
    stored = [open_pool(path) for path in paths]
    if len(stored) < 2:
        raise StoreError("merge takes two pools or more; one alone is copied like any file")
    first = stored[0].pool
    for path, (other, *_) in zip(paths, stored, strict=True):
        same = embedder_digest(other.embedder) == embedder_digest(first.embedder)
        if not same or other.dimensions != first.dimensions:
            raise StoreError(
                f"{path} was made with the embedder {_named(other)}, and {paths[0]} with {_named(first)}: "
                "their vectors cannot be compared; build both with one embedder"
            )
    vectors: dict[Experience, Vectors] = {}
    for pool, *_ in stored:
        for block in pool.blocks.values():
            for entry, row in zip(block.entries, block.rows, strict=True):
                vectors.setdefault(entry, block.vectors[row])
    joined = Pool.of(list(vectors), np.array(list(vectors.values())), first.embedder, first.threshold)
    share = first.threshold.share
    joined = joined.tuned(_threshold(joined, share, first.epsilon if share is None else None))
    write_pool(joined, to, [one for made in stored for one in made.origins], overwrite=overwrite)
    return joined


def _named(pool: Pool) -> str:
    return (
        f"{pool.embedder.get('name')!r} ({pool.dimensions} numbers, digest {embedder_digest(pool.embedder)})"
    )


# -- how near is near enough -----------------------------------------------------------------------


def calibrate(pool: Pool, share: float = SHARE) -> Threshold:
    """ε by the share of the pool that it lets through.

    share: of the pairs of experiences of the same role and kind, but of different deals, at most so many are
    above ε. Pairs of one deal are left out, because a game may not learn from its own. What is word for word
    the same is found all the same, so that `reached` can be more. Without any such pair, ε is the paper's and
    share None. Of large pools a sample is looked at, the same one every time.
    """
    alike = _pairs(pool)
    if not len(alike):
        return Threshold(PAPER_EPSILON)
    epsilon = min(threshold_for_share(alike, share), SAME)
    return Threshold(epsilon, share, share_above(alike, epsilon))


def _threshold(pool: Pool, share: float | None, epsilon: float | None) -> Threshold:
    if epsilon is None and (share is not None or pool.embedder.get("name") != PAPER_EMBEDDER):
        return calibrate(pool, SHARE if share is None else share)
    given = PAPER_EPSILON if epsilon is None else float(epsilon)
    alike = _pairs(pool)
    return Threshold(given, None, share_above(alike, given) if len(alike) else None)


def _pairs(pool: Pool) -> NDArray[np.float32]:
    """Similarities of pairs within role and kind, and of different deals, in a sample of the pool."""
    sample = [(key, place) for key, block in pool.blocks.items() for place in range(len(block.entries))]
    if len(sample) > SAMPLE:  # by lot, but by the same lot every time

        def lot(one: tuple[DecisionKey, int]) -> bytes:
            words = _LOT.format(one[0], *pool.blocks[one[0]].entries[one[1]].content)
            return blake2b(words.encode(), digest_size=8).digest()

        sample = sorted(sample, key=lambda one: (lot(one), one))[:SAMPLE]
    chosen: dict[DecisionKey, list[int]] = {}
    for key, place in sample:
        chosen.setdefault(key, []).append(place)
    similarities = [np.empty(0, np.float32)]
    for key, places in chosen.items():
        block = pool.blocks[key]
        vectors = block.vectors[block.rows[places]]
        deals = np.array([block.entries[place].deal for place in places])
        apart = np.triu(deals[:, None] != deals[None, :], 1)
        similarities.append((vectors @ vectors.T)[apart])
    return np.concatenate(similarities)
