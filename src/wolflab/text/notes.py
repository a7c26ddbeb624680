"""Notes of agents: typed, part of the record, visible to their seat and the moderator.

Notes are the whole memory of an agent between turns. They are encoded with their class name as a tag
(`record.codec`), so every class here must stay decodable.
"""

from __future__ import annotations

import msgspec

from ..rules import ROLES

UNCERTAIN = "Uncertain"
"""The guess that names no role (002 Table 13)."""


UNASKED_CONFIDENCE = 7
"""The confidence of a judgement that was asked for none: the lowest at which a player judged to be no
Werewolf is reliable (m > 6), with a Werewolf clearly below."""


def counted_confidence(confidence: int) -> int:
    """The confidence to compute with, `UNASKED_CONFIDENCE` for 0 (none was asked for)."""
    return confidence or UNASKED_CONFIDENCE


def trust(role: str, confidence: int, wolves_trusted: bool = False) -> int:
    """m of 002 Eq. 2, 1–10: 11 − confidence for a Werewolf, the confidence for anybody else.

    confidence: 0 where none was asked for. wolves_trusted: a Werewolf too has the confidence (the released
    code, where a Werewolf judges). The recipe decides what "Uncertain" is worth.
    """
    confidence = counted_confidence(confidence)
    suspected = role in ROLES and ROLES[role].wolf
    return 11 - confidence if suspected and not wolves_trusted else confidence


class Belief(msgspec.Struct, frozen=True):
    """One judgement about one player (002 Eq. 1, 004 C.5).

    role: a role's name or "Uncertain". confidence: 5 (guess) to 10 (sure), 0 where
    none was asked for. reliability: m of 002 Eq. 2, on 1–10, as the recipe computes it.
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

    final: made before the vote, after all statements of the day; this one prunes memory.
    """

    beliefs: tuple[Belief, ...]
    final: bool = False


class Thought(msgspec.Struct, frozen=True, tag=True):
    """The reasoning that came with an action."""

    text: str


class Mistake(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A reply that could not be used: which step, which attempt, why, and how it began.

    taken: it held several answers, and the last of them was taken, since no further try gave one.
    """

    step: str
    attempt: int
    reason: str
    reply: str
    taken: bool = False


class Rated(msgspec.Struct, frozen=True, tag=True):
    """Answer to the reliability probe: seat → how far it is believed, 1 to 10."""

    scores: dict[int, int]


class Recalled(msgspec.Struct, frozen=True, tag=True):
    """The messages in the context of one turn (003 §3.3), as places in the seat's own list of messages.

    A seat's messages are all it has seen and its own reflections, in the order in which it met them. recent:
    O, the freshest K. informative: those of V that are older.
    """

    recent: tuple[int, ...]
    informative: tuple[int, ...]


class Asked(msgspec.Struct, frozen=True, tag=True):
    """The questions a player put to itself: of the predefined set, and its own (003 §3.3)."""

    chosen: tuple[str, ...]
    free: tuple[str, ...]


class Answered(msgspec.Struct, frozen=True, tag=True):
    """The answer to one question; `retrieved`: U, the places of the messages it was given (003 Eq. 1)."""

    question: str
    answer: str
    retrieved: tuple[int, ...] = ()


class Reflected(msgspec.Struct, frozen=True, tag=True):
    """The reflection of one turn (003 Eq. 2). It is a message to its seat from then on."""

    text: str


class Suggested(msgspec.Struct, frozen=True, tag=True):
    """The suggestion from past games (003 Eq. 7).

    found: how many experiences were near enough. bad, good: ids of those shown, in the pool. text: the
    suggestion; empty where there was none, and `why` says why.
    """

    text: str
    found: int = 0
    bad: str = ""
    good: tuple[str, ...] = ()
    why: str = ""


class Interviewed(msgspec.Struct, frozen=True, tag=True):
    """Why a player spoke against its role, asked outside the game (003 A.4). claimed: the role's name."""

    claimed: str
    text: str


class Planned(msgspec.Struct, frozen=True, tag=True):
    """A player's plan before it acted, from a call of its own. perspective: see `questions.Plan`."""

    perspective: str
    text: str


class Candidate(msgspec.Struct, frozen=True):
    """One action that was considered, in words: an option's label, or a statement's text."""

    action: str
    reasoning: str = ""


class Proposed(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """The candidates of one turn, in the order in which they were weighed (004 §4.2).

    asked: how many were asked for, where they are fewer; 0 where all came.
    """

    candidates: tuple[Candidate, ...]
    asked: int = 0


class Chosen(msgspec.Struct, frozen=True, tag=True):
    """Which candidate was taken (from 0). With a policy: π of each, and the critic's value in units of
    reward (004 D.1); with a model: none, and no value.
    """

    number: int
    probabilities: tuple[float, ...] = ()
    value: float | None = None


class ChoiceDraw(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """What a choice among candidates was drawn from, where `Chosen` does not tell it.

    shares: the probability of each candidate (propensities), after temperature and exploration; () if nothing
    was drawn. own: the choice of the model itself, of which exploration may have taken another. explored:
    exploration drew the choice. stand_in: the model's choice was unusable, so that the first candidate stood
    in.
    """

    shares: tuple[float, ...] = ()
    own: int | None = None
    explored: bool = False
    stand_in: bool = False


class Exchanged(msgspec.Struct, frozen=True, tag=True):
    """One exchange of a dialogue: a request, without what had happened before it, and the usable reply."""

    asked: str
    replied: str


class StoodIn(msgspec.Struct, frozen=True, tag=True):
    """The person had left: the built-in player has answered in their place."""


Content = (
    Deduced
    | Rated
    | Thought
    | Mistake
    | Recalled
    | Asked
    | Answered
    | Reflected
    | Suggested
    | Interviewed
    | Planned
    | Proposed
    | Chosen
    | ChoiceDraw
    | Exchanged
    | StoodIn
)
