"""Diversity of candidates: the distance of the last one from those before it (004 E.6, Table 9).

div(A, a) = min over a′ in A of ‖e(a) − e(a′)‖. Vectors have length 1, so it lies between 0 and 2. The table
does not say whether an action is embedded with its reasoning (004 D.1) or alone, nor how turns with fewer
legal actions than asked for are counted; all variants are given. The caller embeds the texts: this module
knows no embedder.
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

DIVERSITY_KINDS = ("all", *KINDS)
"""The kinds of action of 004 §4.2, after all of them together."""


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The candidates of one turn, in the order of the proposal. kind: one of `KINDS`; asked: the number that
    the recipe asks for. texts: reasoning and action; actions: only the actions, in words.
    """

    kind: str
    asked: int
    texts: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diversity:
    """The distance of the last of `asked` candidates, for one kind of action in one condition.

    added: its least distance to the earlier ones, over turns that have it. average: its mean distance.
    alone: as `added`, for actions without reasonings. came: the share of turns that have it; there may be too
    few legal actions. counted: as `added`, over all turns, with 0 for turns without it.
    """

    condition: str
    kind: str
    asked: int
    added: Estimate
    average: Estimate
    alone: Estimate
    came: Estimate
    counted: Estimate


def offers_of(record: GameRecord, asked_of: Callable[[Mapping[str, Any]], int]) -> tuple[CandidateSet, ...]:
    """Every turn of a game in which a model was asked for at least two candidates.

    asked_of: a player's description in the header → the number of candidates that its model is asked for.
    """
    offers = []
    for turn in record.turns:
        note = next((note for _, note in turn.notes if isinstance(note, Proposed)), None)
        if note is None:
            continue
        asked = asked_of(record.player(turn.seat, turn.at))
        if asked < 2:
            continue
        actions = tuple(candidate.action for candidate in note.candidates)
        texts = tuple(f"{candidate.reasoning} {candidate.action}".strip() for candidate in note.candidates)
        offers.append(CandidateSet(kind_of(turn.kind), asked, texts, actions))
    return tuple(offers)


def distances_of_last(vectors: OfferVectors) -> NDArray[np.float64]:
    """The Euclidean distances of the last row from the others, float64 (n − 1,). vectors: (n, d), n ≥ 2."""
    gaps = np.asarray(vectors[:-1], np.float64) - np.asarray(vectors[-1], np.float64)
    return np.asarray(np.sqrt(np.einsum("nd,nd->n", gaps, gaps)), np.float64)


def diversity_rows(
    condition: str, offers: Sequence[tuple[int, CandidateSet]], vectors: Mapping[str, OfferVectors]
) -> tuple[Diversity, ...]:
    """Diversity by number of candidates and kind of action, over deals. offers: (deal, offer); vectors: of
    every text and action.
    """

    def apart(texts: Sequence[str]) -> NDArray[np.float64]:
        return distances_of_last(np.stack([vectors[text] for text in texts]))

    rows = []
    for asked in sorted({offer.asked for _, offer in offers}):
        for kind in DIVERSITY_KINDS:
            of_kind = [pair for pair in offers if pair[1].asked == asked and kind in ("all", pair[1].kind)]
            if not of_kind:
                continue
            full = [(deal, offer) for deal, offer in of_kind if len(offer.texts) == asked]
            between = [(deal, apart(offer.texts)) for deal, offer in full]
            values = [(deal, float(found.min())) for deal, found in between]
            zeros = [(deal, 0.0) for deal, offer in of_kind if len(offer.texts) < asked]
            came = [(deal, float(len(offer.texts) == asked), 1.0) for deal, offer in of_kind]
            rows.append(
                Diversity(
                    condition,
                    kind,
                    asked,
                    mean(values, "turns"),
                    mean([(deal, float(found.mean())) for deal, found in between], "turns"),
                    mean([(deal, float(apart(offer.actions).min())) for deal, offer in full], "turns"),
                    share(came, "turns"),
                    mean([*values, *zeros], "turns"),
                )
            )
    return tuple(rows)
