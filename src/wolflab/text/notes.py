"""What agents write down: typed notes, part of the record, visible to their seat and the moderator.

Notes are the whole memory of an agent between turns. They are encoded with their class name as a tag
(`record.codec`), so every class here must stay decodable.
"""

from __future__ import annotations

import msgspec

UNCERTAIN = "Uncertain"
"""The guess that names no role (002 Table 13)."""


class Belief(msgspec.Struct, frozen=True):
    """One judgement about one player (002 Eq. 1, 004 C.5).

    role: a role's name or "Uncertain". confidence: 5 (guess) to 10 (sure).
    reliability: m of 002 Eq. 2, on 1–10, as the recipe computes it.
    evidence: positions (among the seat's own events) of the lines cited.
    """

    target: int
    role: str
    confidence: int
    reliability: int
    evidence: tuple[int, ...] = ()
    reasoning: str = ""


class Deduced(msgspec.Struct, frozen=True, tag=True):
    """The beliefs formed before one action. Only valid judgements are listed; others keep their value.

    final: made before the vote (or the election vote): the one that Ratio reads and that prunes.
    """

    beliefs: tuple[Belief, ...]
    final: bool = False


class Pruned(msgspec.Struct, frozen=True, tag=True):
    """Statements dropped from memory (002 §3.1): their positions among the seat's own events."""

    positions: tuple[int, ...]


class Thought(msgspec.Struct, frozen=True, tag=True):
    """The reasoning that came with an action."""

    text: str


class Mistake(msgspec.Struct, frozen=True, tag=True):
    """A reply that could not be used: which step, which attempt, why, and how it began."""

    step: str
    attempt: int
    reason: str
    reply: str


class Rated(msgspec.Struct, frozen=True, tag=True):
    """Answer to the reliability probe: seat → how far it is believed, 1 to 10."""

    scores: dict[int, int]


Content = Deduced | Rated | Pruned | Thought | Mistake
