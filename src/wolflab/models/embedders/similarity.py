"""Thresholds on cosine similarity that mean the same under every embedder.

ε = 0.85 (003 Eq. 5) belongs to the paper's models: another embedder distributes its similarities otherwise,
and the same number may pass everything or nothing. The share that is retrieved can be carried over.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ModelError

PAPER_EPSILON = 0.85
"""003 §3.3: an experience is retrieved if its cosine similarity is above this."""
PAPER_EMBEDDER = "sentence-transformers/all-mpnet-base-v2"
"""The embedder of experience that `PAPER_EPSILON` belongs to."""


def threshold_for_share(similarities: ArrayLike, share: float) -> float:
    """The ε above which there are as many of `similarities` as possible, and at most `share` of them.

    similarities: any shape, at least one number; a sample of the retrieval, such as queries × pool. share: 0
    to 1. "Above" is strict, as in the paper; ties at the border stay out. Raises ModelError for a share
    outside 0–1, and for no or no finite similarities.
    """
    if not 0 <= share <= 1:
        raise ModelError(f"a share of {share} was asked for; use a number from 0 to 1")
    values = np.sort(np.asarray(similarities, dtype=np.float64).ravel())[::-1]
    if values.size == 0 or not np.isfinite(values).all():
        raise ModelError("a threshold needs similarities, all of them finite; embed some texts first")
    # A hair above the product: 0.1 × 30 is a little more than 3, and 0.3 × 10 could be a little less.
    count = math.floor(share * values.size + 1e-9)
    if count == values.size:
        return float(np.nextafter(values[-1], -np.inf))
    return float(values[count])


def share_above(similarities: ArrayLike, threshold: float) -> float:
    """The share (0 to 1) of `similarities` strictly above `threshold`; nan for none."""
    values = np.asarray(similarities, dtype=np.float64).ravel()
    return float((values > threshold).mean()) if values.size else math.nan
