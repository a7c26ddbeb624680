"""Pools of experience: built from runs, merged, loaded for play (003 §3.4).

`build_pool` makes a file from runs, `load_pool` gives the pool in it to any number of games, `merge` joins
files. `make_pool` and `merged` do the same in memory. `extend_pool` adds a state to the file of a pool that
grows; each state is a pool of its own, frozen while games are played with it.
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
from ...agents.experience import Nearness, Pool
from ...agents.experience_block import Block, DecisionKey, Experience
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
from .growing import Growing, open_pool
from .pool_file import MadePool, must_be_free, write_pool

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


async def make_pool(
    sources: Iterable[GamesFrom],
    embedder: Embedder,
    selection: Selection = EVERYTHING,
    *,
    share: float | None = None,
    epsilon: float | None = None,
    progress: BuildProgress | None = None,
) -> MadePool:
    """A pool from the games of runs and records, in the order given.

    ε is what is given; else as `share` asks (see `calibrate`); else 0.85 for the paper's embedder, and for
    every other what `SHARE` leads to. Raises NothingToLearn if no decision was reflected on, and whatever
    `gather` and the embedder raise.
    """
    gathered = gather(sources, selection)
    if not gathered.experiences:
        missing = ", ".join(f"{n} {why}" for why, n in gathered.left_out.items())
        raise NothingToLearn(
            f"there is no experience in {gathered.games} games{f' ({missing} left out)' if missing else ''}: "
            "it comes from players who reflect, in games that somebody won; use runs of the recipe reflective"
        )
    vectors = await embed_distinct(
        [experience.reflection for experience in gathered.experiences], embedder, progress
    )
    pool = Pool.of(gathered.experiences, vectors, embedder.describe(), Nearness(PAPER_EPSILON))
    return MadePool(pool.tuned(_nearness(pool, share, epsilon)), (_origin(gathered, selection),))


def _origin(gathered: Gathered, selection: Selection) -> dict[str, Any]:
    return {
        "version": __version__,
        "runs": list(gathered.runs),
        "games": gathered.games,
        "left_out": dict(gathered.left_out),
        "selection": selection.as_dict(),
    }


async def extend_pool(
    growing: Growing,
    deals: int,
    sources: Iterable[GamesFrom],
    embedder: Embedder,
    selection: Selection = EVERYTHING,
    *,
    share: float | None = None,
) -> Pool | None:
    """Add to a growing pool what the games since its last state teach; the pool as it is then.

    deals: how many deals it holds then. sources: the games that are new, in their order. selection: whose
    experience; its `shuffle` deals responses anew among all that the pool holds. None where nothing has
    been learned so far. Raises ModelError if another embedder made the file.
    """
    require_same(growing.embedder, embedder, f"the pool {growing.path}")
    gathered = gather(sources, replace(selection, shuffle=None))
    known = growing.places(growing.deals[-1]) if growing.deals else {}
    before = growing.state(growing.deals[-1]).vectors if growing.deals else 0
    fresh = list(
        dict.fromkeys(
            experience.reflection for experience in gathered.experiences if experience.reflection not in known
        )
    )
    known |= {text: before + number for number, text in enumerate(fresh)}
    places = [known[experience.reflection] for experience in gathered.experiences]
    vectors = await embed_distinct(fresh, embedder) if fresh else np.empty((0, 0), np.float32)
    return growing.add(
        deals,
        gathered.experiences,
        places,
        vectors,
        selection.shuffle,
        lambda pool: _nearness(pool, share, None),
        _origin(gathered, selection),
    )


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
    """`make_pool`, and write it to a file; StoreError if there is one already (unless `overwrite`)."""
    must_be_free(to, overwrite)
    made = await make_pool(sources, embedder, selection, share=share, epsilon=epsilon, progress=progress)
    write_pool(made.pool, to, made.origins, overwrite=overwrite)
    return made.pool


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
    """Join the pools of several files into one file; see `merged` and `write_pool`."""
    must_be_free(to, overwrite)
    made = merged([open_pool(path) for path in paths], [str(path) for path in paths])
    write_pool(made.pool, to, made.origins, overwrite=overwrite)
    return made.pool


def merged(pools: Sequence[MadePool], names: Sequence[str] = ()) -> MadePool:
    """One pool of several: each one's experiences after those of the one before, equal ones once.

    ε is set anew by the first pool's share; an ε that was given to the first pool stays. names: what the
    pools are called in an error. Raises StoreError for fewer than two pools, and if they were made with
    different embedders.
    """
    if len(pools) < 2:
        raise StoreError("merge takes two pools or more; one alone is copied like any file")
    called = [*names, *(f"pool {n}" for n in range(len(names) + 1, len(pools) + 1))]
    first = pools[0].pool
    for made, name in zip(pools[1:], called[1:], strict=True):
        other = made.pool
        same = embedder_digest(other.embedder) == embedder_digest(first.embedder)
        if not same or other.dimensions != first.dimensions:
            raise StoreError(
                f"{name} was made with the embedder {_named(other)}, and {called[0]} with {_named(first)}: "
                "their vectors cannot be compared; build both with one embedder"
            )
    keys: dict[DecisionKey, None] = {key: None for made in pools for key in made.pool.held}
    blocks = {key: _joined([made.pool.block(*key) for made in pools]) for key in keys}
    pool = Pool.of_blocks(blocks, first.embedder, first.dimensions, first.nearness)
    share = first.nearness.share
    tuned = _nearness(pool, share, first.epsilon if share is None else None)
    return MadePool(pool.tuned(tuned), tuple(origin for made in pools for origin in made.origins))


def _joined(blocks: Sequence[Block | None]) -> Block:
    seen: set[Experience] = set()
    entries, vectors = [], []
    for block in blocks:
        if block is None:
            continue
        kept = []
        for place, entry in enumerate(block.entries):
            if entry not in seen:
                seen.add(entry)
                kept.append(place)
        entries += [block.entries[place] for place in kept]
        vectors.append(block.vectors[block.rows[kept]])
    return Block.of(entries, np.concatenate(vectors))


def _named(pool: Pool) -> str:
    return (
        f"{pool.embedder.get('name')!r} ({pool.dimensions} numbers, digest {embedder_digest(pool.embedder)})"
    )


# -- how near is near enough -----------------------------------------------------------------------


def calibrate(pool: Pool, share: float = SHARE) -> Nearness:
    """ε by the share of the pool that it lets through.

    share: of the pairs of experiences of the same role and kind, but of different deals, at most so many are
    above ε. Pairs of one deal are left out, because a game may not learn from its own. What is word for word
    the same is found all the same, so that `reached` can be more. Without any such pair, ε is the paper's and
    share None. Of large pools a sample is looked at, the same one every time.
    """
    alike = _pairs(pool)
    if not len(alike):
        return Nearness(PAPER_EPSILON)
    epsilon = min(threshold_for_share(alike, share), SAME)
    return Nearness(epsilon, share, share_above(alike, epsilon))


def _nearness(pool: Pool, share: float | None, epsilon: float | None) -> Nearness:
    if epsilon is None and (share is not None or pool.embedder.get("name") != PAPER_EMBEDDER):
        return calibrate(pool, SHARE if share is None else share)
    given = PAPER_EPSILON if epsilon is None else float(epsilon)
    alike = _pairs(pool)
    return Nearness(given, None, share_above(alike, given) if len(alike) else None)


def _pairs(pool: Pool) -> NDArray[np.float32]:
    """Similarities of pairs within role and kind, and of different deals, in a sample of the pool."""
    ranked: list[tuple[bytes, DecisionKey, int]] = []
    for key in pool.held:
        block = pool.block(*key)
        assert block is not None
        for place, entry in enumerate(block.entries):
            lot = _LOT.format(key, *entry.stored)
            ranked.append((blake2b(lot.encode(), digest_size=8).digest(), key, place))
    if len(ranked) > SAMPLE:  # by lot, but by the same lot every time
        ranked = sorted(ranked)[:SAMPLE]
    chosen: dict[DecisionKey, list[int]] = {}
    for _, key, place in ranked:
        chosen.setdefault(key, []).append(place)
    similarities = [np.empty(0, np.float32)]
    for key, places in chosen.items():
        block = pool.block(*key)
        assert block is not None
        vectors = block.vectors[block.rows[places]]
        deals = np.array([block.entries[place].deal for place in places])
        apart = np.triu(deals[:, None] != deals[None, :], 1)
        similarities.append((vectors @ vectors.T)[apart])
    return np.concatenate(similarities)
