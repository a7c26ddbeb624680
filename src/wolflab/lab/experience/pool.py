"""Pools of experience: built from runs, merged, loaded for play (003 §3.4).

`build_pool` makes a file from runs, `load_pool` loads the pool of a file for any number of games, `merge`
joins files. `extend_pool` adds a state to the file of a growing pool; each state is a pool of its own and
never changes.
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
"""The default share of pairs above ε. In ten games of 003's rules among built-in players, a role takes one
kind of decision 14 to 40 times, in forty games 56 to 165 times. A fifth of that is about the six experiences
that a suggestion uses (one bad, five good) in the paper's smallest pool, and less than the limit of 50 in its
largest.
"""
SAME = 0.9999
"""The largest ε: an identical text is always found."""
AT_ONCE = 1024
"""The number of texts in one call of an embedder."""
SAMPLE = 3000
"""The number of experiences whose pairs are used to set ε."""

_LOT = (
    "({!r}, StoredExperience(reflection={!r}, response={!r}, score={!r}, game={!r}, deal={!r}, seat={!r}, "
    "ask={!r}))"
)
"""The text whose hash orders experiences for sampling: another text would change ε of large pools."""

BuildProgress = Callable[[int, int], None]
"""Called with (texts embedded, texts in all)."""


class NothingToLearn(StoreError):
    """The given games have no decision with a reflection, or no winner."""


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

    ε is `epsilon`; else by `share` (see `calibrate`); else 0.85 for the paper's embedder, and by `SHARE` for
    any other. Raises StoreError if the file exists (unless `overwrite`), NothingToLearn without experience,
    and the errors of `gather` and the embedder.
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
    """Add the experiences of new games to a growing pool's file, as a new state; returns its pool.

    deals: the number of deals in the new state. sources: the new games, in order. selection: whose
    experience; its `shuffle` permutes responses among all experiences of the pool. None if the pool is still
    empty. Raises ModelError if another embedder made the file.
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
    """`build_pool` with an embedder by its name or settings, opened and closed here."""
    made = resolve_embedder(embedder)
    try:
        return await build_pool(sources, made, to, **options)
    finally:
        await made.close()


async def embed_distinct(
    texts: Sequence[str], embedder: Embedder, progress: BuildProgress | None = None
) -> Vectors:
    """float32 (n, d): the vectors of `texts`, in order; equal texts are embedded once."""
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
    """The pool of a file, for games that use `embedder`.

    Raises ModelError if another embedder made it, StoreError if the file cannot be used.
    """
    pool = open_pool(path).pool
    require_same(pool.embedder, embedder, f"the pool {path}")
    return pool


# -- merging ---------------------------------------------------------------------------------------


def merge(paths: Sequence[Path], to: Path, *, overwrite: bool = False) -> Pool:
    """Join the pools of several files into one, in the given order, without duplicates.

    ε is computed again by the first pool's share; an ε that was given for the first pool stays. Raises
    StoreError for fewer than two pools, for different embedders, and as `write_pool`.
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


# -- threshold of similarity -----------------------------------------------------------------------


def calibrate(pool: Pool, share: float = SHARE) -> Threshold:
    """Compute ε from the share of pairs above it.

    share: the largest share of pairs above ε, among pairs of experiences of the same role and kind, but of
    different deals, because a game must not learn from its own deal. Identical texts are always found, so
    `reached` can be larger. Without any such pair, ε is the paper's and share is None. Large pools are
    sampled, always in the same way.
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
    """Similarities of pairs of the same role and kind and of different deals, in a sample of the pool."""
    sample = [(key, place) for key, block in pool.blocks.items() for place in range(len(block.entries))]
    if len(sample) > SAMPLE:  # a pseudo-random sample that is always the same

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
