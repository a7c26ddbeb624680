"""Typed questions: all that a model is told, before it is put into words.

A prompt is rendered from a `Question` and nothing else (`text.prompts`), and each field of it changes
the prompt. `village`, the built-in player, answers the same `Question` without its words. Nothing in a
question comes from outside one seat's view.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..rules import Ask, Event, Ruleset
from .notes import UNCERTAIN, Belief


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the information record (002 Table 4, 004 §4.1).

    number: how evidence cites it. round, phase: when it happened ("night", "day", "election" …).
    position: its place among the seat's own events (stable; notes refer to it).
    """

    number: int
    round: int
    phase: str
    event: Event
    position: int


@dataclass(frozen=True, slots=True)
class Situation:
    """What one seat knows when it is asked.

    facts: what the moderator said or the seat did. The statements of others are split by the seat's
    own reliability judgements into truths (m > α), falsehoods (m ≤ α, or never rated) and pending
    (heard since the last judgement). An agent that does not deduce has them all in `pending`.
    """

    ruleset: Ruleset
    seat: int
    role: str
    pack: tuple[int, ...]
    """The seat's pack including itself; empty for the village side."""
    round: int
    phase: str
    """The asks' phase: "night", "election", "succession", "order", "discussion", "voting"."""
    alive: tuple[int, ...]
    sheriff: int | None
    facts: tuple[Line, ...]
    truths: tuple[Line, ...] = ()
    falsehoods: tuple[Line, ...] = ()
    pending: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines in the order in which they happened."""
        every = (*self.facts, *self.truths, *self.falsehoods, *self.pending)
        return tuple(sorted(every, key=lambda line: line.position))


@dataclass(frozen=True, slots=True)
class Decide:
    """Choose one of the ask's options, or speak (002 Tables 5–12, 14, 15; 004 C.2–C.4)."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Deduce:
    """Judge the hidden roles of `targets` (002 Table 13 with one target; 004 C.5 with all).

    guesses: the role names that may be answered, ending with "Uncertain".
    attributes: what is asked for beside the role, out of "confidence", "evidence", "reasoning"
    (004 Table 7).
    """

    ask: Ask
    targets: tuple[int, ...]
    guesses: tuple[str, ...]
    attributes: tuple[str, ...] = ("reasoning", "confidence", "evidence")


@dataclass(frozen=True, slots=True)
class Rate:
    """Reliability probe for any agent: how far is each of `targets` to be believed, 1 to 10?"""

    ask: Ask
    targets: tuple[int, ...]


@lru_cache(64)
def guessable(ruleset: Ruleset) -> tuple[str, ...]:
    """The roles that a deduction may name in this ruleset, ending with "Uncertain"."""
    return (*(role.name for role in ruleset.cast), UNCERTAIN)


Task = Decide | Deduce | Rate
Wording = Literal["paper", "own"]
Layout = Literal["paper", "append"]


@dataclass(frozen=True, slots=True)
class Question:
    """One request to a model, typed.

    beliefs: the seat's latest deduction, shown back in words (004 §3.1); empty: not shown.
    style: one of `text.prompts.STYLES`, or None. wording, layout: which templates, which order.
    """

    situation: Situation
    task: Task
    beliefs: tuple[Belief, ...] = ()
    style: str | None = None
    wording: Wording = "own"
    layout: Layout = "append"
