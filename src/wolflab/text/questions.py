"""Typed questions: everything that a model is told, before it is put into words.

A prompt is rendered from a `Question` and nothing else (`text.asking.prompts`), and each field of it changes
the prompt. `village`, the built-in player, answers the same `Question` without its words. Nothing in a
question comes from outside one seat's view.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Literal

import msgspec

from ..rules import Ask, Event, Ruleset, Said
from .intents import Intent
from .notes import UNCERTAIN, Belief, Candidate, Reflected


class Line(msgspec.Struct, frozen=True):
    """One entry of the information record (002 Table 4, 004 §4.1).

    number: how evidence cites it; negative for a private line in the layout "shared". round,
    phase: when it happened ("night", "day", "election" …). event: what the seat saw, or what it thought
    itself (its own reflection, 003 §3.3). position: its place among the seat's own events (stable; notes
    refer to it); for a reflective player, among all its messages, reflections included.
    """

    number: int
    round: int
    phase: str
    event: Event | Reflected
    position: int

    @property
    def cited(self) -> int | str:
        """The number as it is written: 7, or "S2" for the second private line."""
        return self.number if self.number >= 0 else f"S{-self.number}"

    @property
    def silent(self) -> bool:
        """Whether it is a statement in which nothing was said, so that there is nothing to believe."""
        return isinstance(self.event, Said) and not self.event.text


_POSITION = attrgetter("position")


@dataclass(frozen=True, slots=True)
class Situation:
    """The knowledge of one seat when it is asked.

    facts: what the moderator said or the seat did. The statements of others are split by the seat's own
    reliability judgements into truths (m > α), falsehoods (m ≤ α, or never rated) and pending (heard since
    the last judgement). An agent that does not deduce has them all in `pending`. A reflective player (003
    §3.3) gets less: `facts` and `pending` hold its most recent messages O, `informative` the older ones that
    scored highest, V.
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
    informative: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines in the order in which they happened."""
        every = (*self.informative, *self.facts, *self.truths, *self.falsehoods, *self.pending)
        return tuple(sorted(every, key=_POSITION))

    @property
    def gaps(self) -> bool:
        """Whether numbers are missing among the lines, because statements were pruned (002 §3.1)."""
        blocks = (self.informative, self.facts, self.truths, self.falsehoods, self.pending)
        return max((block[-1].number for block in blocks if block), default=0) > sum(map(len, blocks))


Pairs = tuple[tuple[str, str], ...]
"""(question, answer) in the order in which they were asked."""


@dataclass(frozen=True, slots=True)
class Aids:
    """A reflective player's preparation for its action (003 Fig. 2, parts 2.3, 3 and 4).

    reflection: R. suggestion: S, from past games. answers: A, where there is no reflection to hold them.
    think: whether it is to reason step by step (C).
    """

    reflection: str = ""
    suggestion: str = ""
    answers: Pairs = ()
    think: bool = True


@dataclass(frozen=True, slots=True)
class Decide:
    """Choose one of the ask's options, or speak (002 Tables 5–12, 14, 15; 004 C.2–C.4; 003 Table 3).

    aids: None for players that do not reflect. plan: what the seat has thought before, in a call of its own;
    its reply then holds no reasoning. intent: what it is to put into words (004's Atomic agent).
    """

    ask: Ask
    aids: Aids | None = None
    plan: str = ""
    intent: Intent | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Think before acting, in words (chain of thought; ReCon's two looks).

    perspective: "own", or "others": how would what is planned look to them? earlier: the plan so far.
    """

    ask: Ask
    perspective: Literal["own", "others"] = "own"
    earlier: str = ""


@dataclass(frozen=True, slots=True)
class Propose:
    """Propose `count` candidates at once, or one more that differs from the `earlier` ones (004 C.6)."""

    ask: Ask
    count: int
    earlier: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Choose:
    """Choose one of the candidates that the seat proposed (004 E.5, "+{ded, div}"). They are two or more."""

    ask: Ask
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Deduce:
    """Judge the hidden roles of `targets` (002 Table 13 with one target; 004 C.5 with all).

    guesses: the role names that may be answered, ending with "Uncertain" where one may be.
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


@dataclass(frozen=True, slots=True)
class ChooseQuestions:
    """Choose the `count` most important of `candidates` for this ask (003 Table 3, L of 9)."""

    ask: Ask
    candidates: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class AskQuestions:
    """Ask `count` further questions beside the `chosen` ones (003 Table 3, M)."""

    ask: Ask
    chosen: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """Answer one question from the `messages` retrieved for it, oldest first (003 Eq. 1).

    earlier: answers given before in this turn, where the recipe shows them.
    """

    ask: Ask
    question: str
    messages: tuple[Line, ...]
    earlier: Pairs = ()


@dataclass(frozen=True, slots=True)
class Reflect:
    """Sum up the situation in the light of the answers (003 Eq. 2)."""

    ask: Ask
    answers: Pairs


@dataclass(frozen=True, slots=True)
class Extract:
    """Draw a suggestion from past responses: one bad, others perhaps good (003 Eq. 7).

    reflection: the one that found them.
    """

    ask: Ask
    reflection: str
    bad: str
    good: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Interview:
    """Say why you spoke as if you were `claimed` (003 A.4). A probe: nothing of it enters the game."""

    ask: Ask
    claimed: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge the reply that the situation's player gave to `ask`, for a study (003 §4.4.2).

    criteria: (name, definition) of what is to be answered with yes or no.
    """

    ask: Ask
    reply: str
    criteria: tuple[tuple[str, str], ...]


@lru_cache(64)
def guessable(ruleset: Ruleset) -> tuple[str, ...]:
    """The roles that a deduction may name in this ruleset, ending with "Uncertain"."""
    return (*(role.name for role in ruleset.cast), UNCERTAIN)


Task = (
    Decide
    | Plan
    | Propose
    | Choose
    | Deduce
    | Rate
    | ChooseQuestions
    | AskQuestions
    | AnswerQuestion
    | Reflect
    | Extract
    | Interview
    | Judge
)
Wording = Literal["paper", "own"]
Layout = Literal["paper", "append", "recall", "shared", "dialogue"]
FORMS_FIRST: tuple[Layout, ...] = ("shared", "dialogue")
"""The layouts that describe the forms of replies with the rules, once for all requests."""
ReplyForm = Literal["judgement", "action", "statement", "candidates", "choice"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply, as a dialogue holds them. lines: what had happened since the one before."""

    lines: tuple[Line, ...]
    asked: str
    replied: str


@dataclass(frozen=True, slots=True)
class Question:
    """One request to a model, typed.

    beliefs: the seat's latest deduction, shown back in words (004 §3.1); empty: not shown. style: one of
    `text.asking.prompts.STYLES`, or None. wording, layout: which templates, which order. rules: whether the
    prompt has the rules (003 §4.4.1 removes them); tips: whether it has hints at strategy (003 A.5 leaves
    them out where behaviour is studied). history: the earlier exchanges, in the layout "dialogue". forms: the
    forms of replies that the prompt describes with the rules, and that requests then name: all that the
    player's own turns need, so that its prompts begin alike. hide_reasons: the prompt asks the player not to
    reveal its role or its plans in its reasoning, since a monitor may read it.
    """

    situation: Situation
    task: Task
    beliefs: tuple[Belief, ...] = ()
    style: str | None = None
    wording: Wording = "own"
    layout: Layout = "append"
    rules: bool = True
    tips: bool = False
    history: tuple[Exchange, ...] = ()
    forms: tuple[ReplyForm, ...] = ()
    hide_reasons: bool = False

    @property
    def news(self) -> tuple[Line, ...]:
        """The lines since the latest exchange."""
        latest = max((line.position for past in self.history for line in past.lines), default=-1)
        return tuple(line for line in self.situation.lines if line.position > latest)
