"""What one turn hands from stage to stage: the situation, and what was worked out about it so far."""

from __future__ import annotations

from dataclasses import dataclass

from ..text.notes import Belief
from ..text.questions import Aids, Situation


@dataclass(frozen=True, slots=True)
class Found:
    """What a turn has worked out before it answers: the situation, the beliefs that are shown to the model,
    and what a reflective player's steps or a plan came to. judged: the latest belief about everybody living,
    shown or not.
    """

    now: Situation
    beliefs: tuple[Belief, ...] = ()
    aids: Aids | None = None
    plan: str = ""
    judged: tuple[Belief, ...] = ()
