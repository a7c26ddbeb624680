"""How different candidates are: what the last one adds to those before it (004 E.6, Table 9).

div(A, a) = min over a′ in A of ‖e(a) − e(a′)‖. Vectors have length 1, so it lies between 0 and 2. The table
does not say whether an action is embedded with its reasoning (004 D.1) or alone; both are given. Nor does it
say what counts where there are fewer legal actions than were asked for; both ways are given too. Texts are
embedded by the caller: this module knows no embedder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..record import GameRecord
from ..stats.intervals import Estimate, mean, share
from ..text.kinds import KINDS, kind_of
from ..text.notes import Proposed

OfferVectors = NDArray[np.float32]

ROWS = ("all", *KINDS)
"""The kinds of action of 004 §4.2, after all of them together."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The candidates of one turn, in the order in which they were proposed. kind: one of `KINDS`; asked: how
    many the recipe asks for. texts: reasoning, then action; actions: in words, alone.
    """

    kind: str
    asked: int
    texts: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diversity:
    """What the last of `asked` candidates adds, for one kind of action in one condition.

    added: its least distance to the earlier ones, over turns in which it came. alone: the same of actions
    without their reasonings. came: share of turns in which it came; there may be too few legal actions.
    counted: as `added`, over all turns, 0 where it did not come.
    """

    condition: str
    kind: str
    asked: int
    added: Estimate
    alone: Estimate
    came: Estimate
    counted: Estimate


def offers(record: GameRecord, asked_of: Callable[[Mapping[str, Any]], int]) -> tuple[Offer, ...]:
    """Every turn of a game in which a model was asked for two candidates or more.

    asked_of: a player as the header describes it → for how many candidates its model is asked.
    """
    found = []
    for turn in record.turns:
        note = next((one for _, one in turn.notes if isinstance(one, Proposed)), None)
        if note is None:
            continue
        asked = asked_of(record.player(turn.seat, turn.at))
        if asked < 2:
            continue
        texts = tuple(f"{one.reasoning} {one.action}".strip() for one in note.candidates)
        found.append(Offer(kind_of(turn.kind), asked, texts, tuple(one.action for one in note.candidates)))
    return tuple(found)


def added(vectors: OfferVectors) -> float:
    """The least Euclidean distance of the last row to the others. vectors: (n, d), n ≥ 2."""
    gaps = np.asarray(vectors[:-1], np.float64) - np.asarray(vectors[-1], np.float64)
    return float(np.sqrt(np.einsum("nd,nd->n", gaps, gaps)).min())


def diversity_rows(
    condition: str, found: Sequence[tuple[int, Offer]], vectors: Mapping[str, OfferVectors], seed: int = 0
) -> tuple[Diversity, ...]:
    """Rows by N and kind of action, over deals. found: (deal, offer); vectors: of every text and action."""
    rows = []
    for asked in sorted({one.asked for _, one in found}):
        for kind in ROWS:
            kept = [(deal, one) for deal, one in found if one.asked == asked and kind in ("all", one.kind)]
            if not kept:
                continue
            full = [(deal, one) for deal, one in kept if len(one.texts) == asked]
            values = [(deal, _last(one.texts, vectors)) for deal, one in full]
            alone = [(deal, _last(one.actions, vectors)) for deal, one in full]
            zeros = [(deal, 0.0) for deal, one in kept if len(one.texts) < asked]
            came = [(deal, float(len(one.texts) == asked), 1.0) for deal, one in kept]
            rows.append(
                Diversity(
                    condition,
                    kind,
                    asked,
                    mean(values, "turns", seed),
                    mean(alone, "turns", seed),
                    share(came, "turns", seed=seed),
                    mean([*values, *zeros], "turns", seed),
                )
            )
    return tuple(rows)


def _last(texts: Sequence[str], vectors: Mapping[str, OfferVectors]) -> float:
    return added(np.stack([vectors[text] for text in texts]))
