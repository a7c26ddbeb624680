"""Words of a person are taken out of a pool of experience, in which a reflection or a response repeats them.

An experience stays in its place, without the words, so that a pool keeps its size. If its reflection held
them, its vector becomes zero: words can be guessed from a vector, and nothing is near to a zero, so nobody is
shown that experience again. The pool's former digest is kept beside the new one, for the games that name it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...agents.experience import Pool
from ...agents.experience_block import Block, DecisionKey, Experience
from ..storage.quotes import Quotes
from .growing import Growing
from .pool_file import FORMAT_GROWING, format_of, open_file, write_pool


def is_pool(path: Path) -> bool:
    """Whether a file is a pool of experience."""
    return format_of(path) is not None


def erase_in_pool(path: Path, quotes: Quotes) -> int:
    """Take them out of the pool in a file. Returns how many experiences held them."""

    def erased(entry: Experience) -> Experience:
        reflection, response = quotes.without(entry.reflection), quotes.without(entry.response)
        if (reflection, response) == (entry.reflection, entry.response):
            return entry
        return replace(entry, reflection=reflection, response=response)

    if format_of(path) == FORMAT_GROWING:
        growing = Growing(path)
        changed = growing.erase(erased)
        growing.scrub()  # also after an erasure that was broken off
        return changed
    made = open_file(path)
    changed = 0
    blocks: dict[DecisionKey, Block] = {}
    for key in made.pool.held:
        block = made.pool.block(*key)
        assert block is not None
        after = [erased(entry) for entry in block.entries]
        changed += sum(now != then for now, then in zip(after, block.entries, strict=True))
        vectors = block.vectors[block.rows]
        gone = [now.reflection != then.reflection for now, then in zip(after, block.entries, strict=True)]
        vectors[np.array(gone, bool)] = 0
        blocks[key] = Block.of(after, vectors) if after != list(block.entries) else block
    if changed:
        pool = Pool.of_blocks(blocks, made.pool.embedder, made.pool.dimensions, made.pool.nearness)
        write_pool(pool, path, made.origins, overwrite=True, was=(*made.was, made.pool.digest))
    return changed
