"""One seat's view and ask as a vector of fixed length: the view's facts, and a fold over its events.

It uses the seat's events alone, and reads statements through `text.reading`. `VectorLayout` describes the
sections. Every entry is in [-1, 1].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from ..rules import (
    ROLES,
    Answer,
    Ask,
    CandidatesNamed,
    ChoiceEvent,
    Chose,
    ClockEvent,
    Event,
    FactEvent,
    Facts,
    NightFell,
    OfficeEvent,
    Pick,
    Ruleset,
    Said,
    TalkEvent,
    VictimShown,
    View,
    Voted,
)
from ..text.reading import Accusation, Claim, Defence, Report, Suggestion, read_in

Vector = NDArray[np.float32]

PHASES = ("night", "election", "succession", "order", "discussion", "voting")
"""The phases of asks that have an entry under every ruleset."""
_SPEECH = ("statement", "vote")


@lru_cache(64)
def phases(ruleset: Ruleset) -> tuple[str, ...]:
    """`PHASES`, and the phases "action" and "departure" if a role has a duty there."""
    more = [phase for when, phase in (("day", "action"), ("departure", "departure")) if when in ruleset.due]
    return (*PHASES, *more)


@lru_cache(64)
def kinds(ruleset: Ruleset) -> tuple[str, ...]:
    """Every kind of ask to a seat under these rules."""
    duties = [duty for role in ruleset.cast for duty in role.duties]
    asked = [duty.kind for duty in duties if duty.when != "voted_out"]
    asked += _SPEECH if ruleset.discussion else ("vote",)
    if ruleset.elects:
        asked += ("campaign", "elect")
    if ruleset.sheriff != "none" and ruleset.sheriff_death == "succession":
        asked.append("succeed")
    if ruleset.speaking_order == "sheriff_side":
        asked.append("lead")
    if ruleset.last_words != "none":
        asked.append("last-words")
    return tuple(asked)


@dataclass(frozen=True)
class VectorLayout:
    """The sections of the vector, for P seats, R roles in the order of the ruleset, and K = `rounds`.

    sections: (name, shape) in order; `slice(name)` is the place of one in a vector. See docs/env.md.
    The newest round comes first. Rounds older than K are left out, but claims stay.
    """

    ruleset: Ruleset
    rounds: int = 3

    @cached_property
    def sections(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """(name, shape) of each section."""
        seats, roles = self.ruleset.players, len(self.ruleset.cast)
        by_seat, pairs = (seats,), (seats, seats)
        fixed: list[tuple[str, tuple[int, ...]]] = [
            ("me", by_seat),
            ("role", (roles,)),
            ("phase", (len(phases(self.ruleset)),)),
            ("ask", (len(kinds(self.ruleset)),)),
            ("round", (1,)),
            ("over", (1,)),
            ("alive", by_seat),
            ("sheriff", by_seat),
            ("candidates", by_seat),
            ("victim", by_seat),
            ("potions", (2,)),
            ("known role", (seats, roles)),
            ("known side", by_seat),
            ("claims", (seats, roles)),
            ("reports", pairs),
        ]
        for ago in range(self.rounds):
            fixed += [
                (f"{name} {ago}", shape)
                for name, shape in (
                    ("chose", by_seat),
                    ("pack chose", by_seat),
                    ("died", by_seat),
                    ("out", by_seat),
                    *((("shot", by_seat),) if _shoots(self.ruleset) else ()),
                    ("spoke", by_seat),
                    ("stance", pairs),
                    ("votes", pairs),
                )
            ]
        return tuple(fixed)

    @cached_property
    def size(self) -> int:
        """The vector's length."""
        return sum(prod(shape) for _, shape in self.sections)

    @cached_property
    def _starts(self) -> dict[str, slice]:
        at, starts = 0, {}
        for name, shape in self.sections:
            starts[name] = slice(at, at + prod(shape))
            at += prod(shape)
        return starts

    def slice(self, name: str) -> slice:
        """The place of a section (KeyError for an unknown name)."""
        return self._starts[name]

    def part(self, vector: Vector, name: str) -> Vector:
        """A section of `vector` in its shape (no copy)."""
        shape = dict(self.sections)[name]
        return vector[self._starts[name]].reshape(shape)


class _Round:
    """The events of one round, as this seat saw them."""

    def __init__(self, seats: int) -> None:
        self.chose, self.pack = np.zeros(seats, np.float32), np.zeros(seats, np.float32)
        self.spoke = np.zeros(seats, np.float32)
        self.stance = np.zeros((seats, seats), np.float32)
        self.votes = np.zeros((seats, seats), np.float32)

    def parts(self, gone: Sequence[Vector]) -> list[Vector]:
        """The sections of the round, in the layout's order. gone: the sections of those who left in it."""
        return [self.chose, self.pack, *gone, self.spoke, self.stance.ravel(), self.votes.ravel()]


class _Fold:
    """The state of the fold over one seat's events: everything that its facts do not have."""

    def __init__(self, view: View, rounds: int) -> None:
        self.me, self.ruleset, self.read = view.seat, view.ruleset, 0
        seats, roles = view.ruleset.players, view.ruleset.cast
        self.role_at = {role.name: number for number, role in enumerate(roles)}
        self.candidates, self.victim = np.zeros(seats, np.float32), np.zeros(seats, np.float32)
        self.potions = np.zeros(2, np.float32)
        self.claims = np.zeros((seats, len(roles)), np.float32)
        self.reports = np.zeros((seats, seats), np.float32)
        self.recent: deque[_Round] = deque([_Round(seats)], maxlen=rounds)

    def update(self, view: View) -> None:
        """Read the new events."""
        for event in view.events[self.read :]:
            self._event(event)
        self.read = len(view.events)

    def _event(self, event: Event) -> None:
        now = self.recent[0]
        match event:
            case Said():
                self._said(event, now)
            case Voted(voter, target, what):
                if what == "eliminate" and target is not None:
                    now.votes[voter, target] = 1
            case NightFell():
                self.victim = np.zeros_like(self.victim)
                self.recent.appendleft(_Round(self.ruleset.players))
            case Chose():
                self._chose(event, now)
            case VictimShown(victim=victim):
                self.victim[victim] = 1
            case CandidatesNamed(seats):
                self.candidates[list(seats)] = 1
            case FactEvent() | OfficeEvent() | ClockEvent() | ChoiceEvent() | TalkEvent():
                pass  # the facts have it, or it has no section
            case _:
                assert_never(event)

    def _chose(self, event: Chose, now: _Round) -> None:
        if isinstance(event.action, Pick):
            (now.chose if event.seat == self.me else now.pack)[event.action.seat] = 1
        used = isinstance(event.action, Pick) or (isinstance(event.action, Answer) and event.action.yes)
        if used and event.kind in ("antidote", "poison"):
            self.potions[("antidote", "poison").index(event.kind)] = 1

    def _said(self, event: Said, now: _Round) -> None:
        """Read a statement. The latest claim or report counts; stances of a round are added up."""
        if not event.text:
            return
        now.spoke[event.seat] = 1
        for act in read_in(self.ruleset, event.text, event.seat):
            if act.speaker != event.seat:
                continue  # reported speech
            match act:
                case Claim(speaker, role, denied):
                    if role in self.role_at:
                        self.claims[speaker, self.role_at[role]] = -1 if denied else 1
                case Report(speaker, "see", target, what):
                    self.reports[speaker, target] = 1 if what in ROLES and ROLES[what].wolf else -1
                case Accusation(speaker, target, strength):
                    now.stance[speaker, target] += strength / 3
                case Defence(speaker, target, strength):
                    now.stance[speaker, target] -= strength / 3
                case Suggestion(speaker, target, against):
                    now.stance[speaker, target] += -1 / 3 if against else 1 / 3
        np.clip(now.stance, -1, 1, out=now.stance)


def encode(view: View, ask: Ask | None, layout: VectorLayout) -> Vector:
    """The vector, float32 (layout.size,). ask: None if the seat is not asked anything now."""
    name = f"env vector, rounds={layout.rounds}"
    fold: _Fold | None = view.cache.get(name)
    if fold is None or fold.read > len(view.events):
        fold = view.cache[name] = _Fold(view, layout.rounds)
    fold.update(view)
    seats, rules, facts = layout.ruleset.players, layout.ruleset, view.facts
    asked = kinds(rules).index(ask.kind) if ask is not None else None
    phase = phases(rules).index(ask.phase) if ask is not None else None
    parts = [
        _hot(seats, view.seat),
        _hot(len(fold.role_at), fold.role_at.get(facts.roles[view.seat])),
        _hot(len(phases(rules)), phase),
        _hot(len(kinds(rules)), asked),
        np.array([facts.round / rules.max_rounds, facts.outcome is not None], np.float32),
        _hot(seats, *facts.living),
        _hot(seats, *facts.sheriffs[-1:]),
        fold.candidates,
        fold.victim,
        fold.potions,
        *_known(facts, fold.role_at),
        fold.claims.ravel(),
        fold.reports.ravel(),
    ]
    for ago, past in enumerate(fold.recent):
        parts += past.parts(_gone(facts, facts.round - ago))
    vector = np.zeros(layout.size, np.float32)
    flat = np.concatenate(parts)
    vector[: len(flat)] = flat
    return vector


def _hot(n: int, *places: int | None) -> Vector:
    vector = np.zeros(n, np.float32)
    for at in places:
        if at is not None:
            vector[at] = 1
    return vector


def _known(facts: Facts, role_at: dict[str, int]) -> tuple[Vector, Vector]:
    """The sections of known roles and known sides."""
    rows = [_hot(len(role_at), role_at.get(role)) for role in facts.roles]
    sides = [0 if side is None else 1 if side else -1 for side in facts.sides]
    return np.concatenate(rows), np.array(sides, np.float32)


def _shoots(ruleset: Ruleset) -> bool:
    return any(role.shoots for role in ruleset.cast)


def _gone(facts: Facts, round: int) -> list[Vector]:
    """The sections of the seats that left in that round: died, out and, if a role shoots, shot."""
    died, out, shot = (np.zeros(facts.ruleset.players, np.float32) for _ in range(3))
    for gone in facts.departures:
        if gone.round == round:
            match gone.how:
                case "night":
                    died[gone.seat] = 1
                case "vote":
                    out[gone.seat] = 1
                case "shot":
                    shot[gone.seat] = 1
                case _:
                    assert_never(gone.how)
    return [died, out, shot] if _shoots(facts.ruleset) else [died, out]
