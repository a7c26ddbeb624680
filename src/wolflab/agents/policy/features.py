"""The player vector of 004 Table 3, which a policy sees beside its texts; and batches of decisions.

The vector depends on one seat's view, the ask, and that seat's beliefs. Like memory, it is a fold over the
view.

A network has places for a fixed number of seats, its capacity. A smaller table uses the first places, and the
others stay zero, so that one policy can play tables of several sizes.

Table 3 leaves some points open. They are decided here:

- *Roles* have four classes in every ruleset: Werewolf, Seer, Doctor, Villager. A role's class follows from
  what it does: of the Werewolves' side; one that only looks at night; one with another ability (Guard and
  Witch stand with the Doctor: each can keep a player alive; so do others without a class of their own, such
  as the Hunter); plain.
- *Round* is a tenth of its number, confidence a tenth of 5–10, so that no entry leaves [0, 1] in a game of
  ten rounds.
- *Phase* is night; discussion (whatever is spoken, and the Sheriff's other duties, and whatever else roles
  do by day); voting (elections too).
- *Three rounds*, oldest first: rounds 1 to 3 at first, later the current one and the two before it.
- *Secret action*: the seat's own target of that night (not its pack mates'); for an antidote, the one saved.
- *Announcement*: who died in the night; with several deaths, each of them.
- *Deduced role*: roles known for certain (the own role, the pack, a role seen or revealed) have confidence
  10. For the others the latest belief counts. "Uncertain" has its confidence alone; a player who was never
  judged has zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ...rules import (
    ROLES,
    YES,
    Ask,
    ChoiceEvent,
    Chose,
    ClockEvent,
    DayBroke,
    FactEvent,
    NightFell,
    OfficeEvent,
    Pick,
    Role,
    Said,
    TalkEvent,
    VictimShown,
    View,
    Voted,
    seats_of,
)
from ...text.notes import Belief, counted_confidence
from ..memory import Memory
from .policy import Float32s, Observation

ROUNDS = 3
"""The number of rounds in the vector."""
CLASSES = ("Werewolf", "Seer", "Doctor", "Villager")
"""The classes of roles, in the order of Table 3."""
PHASES = ("night", "discussion", "voting")
CONTEXTS = 2 * len(PHASES)
"""The contexts of a decision: the village's by phase, then the Werewolves'."""

_WOLF, _SEER, _DOCTOR, _VILLAGER = range(len(CLASSES))
_TENTH = 0.1
_SLOT = len(CLASSES) + 1
_KEY = "policy features"


INPUTS = 1
"""The version of a policy's inputs: this vector, and the words of `text.asking.candidates` and
`text.intents`. Raise it with any change to them; policies that were trained with another version are
refused."""


def features_length(players: int) -> int:
    """V, the number of values for `players` seats: 246 for 7 (004 Table 3)."""
    head = players + len(CLASSES) + 1 + len(PHASES) + players
    return head + ROUNDS * _block(players) + players * _SLOT


def capacity_of(length: int) -> int:
    """The number of seats of a vector with `length` values."""
    return next(seats for seats in range(1, length) if features_length(seats) == length)


def _block(players: int) -> int:
    """Values of one round: secret action, announcement, and each seat's vote."""
    return 2 * players + players * players


def contexts(player: Float32s) -> NDArray[np.int64]:
    """The contexts of player vectors (T, V), int (T,): (0 for the village, 1 for Werewolves) × the number of
    phases + the phase.
    """
    roles = capacity_of(player.shape[1])
    phases = roles + len(CLASSES) + 1
    wolf = player[:, roles + _WOLF] > 0
    phase = player[:, phases : phases + len(PHASES)].argmax(axis=1)
    found: NDArray[np.int64] = wolf.astype(np.int64) * len(PHASES) + phase
    return found


def class_of(role: Role) -> int:
    """A role's place in `CLASSES`."""
    if role.wolf:
        return _WOLF
    if role.plain:
        return _VILLAGER
    return _SEER if role.duties and all(duty.reads for duty in role.duties) else _DOCTOR


CLASS_OF = {name: class_of(role) for name, role in ROLES.items()}
"""Each role's place in `CLASSES`, by name."""


def _deduced(known: int | None, confidence: int) -> Float32s:
    """A player's five values: its class as one-hot (None: zeros), and a tenth of the confidence."""
    values = np.zeros(_SLOT, np.float32)
    if known is not None:
        values[known] = 1.0
    values[-1] = confidence * _TENTH
    return values


_CERTAIN = tuple(_deduced(known, 10) for known in range(len(CLASSES)))
_BELIEVED = {
    (known, confidence): _deduced(known, confidence)
    for known in (None, *range(len(CLASSES)))
    for confidence in range(11)
}


@lru_cache(1 << 12)
def _alive(mask: int, players: int) -> Float32s:
    """Who lives, by seat."""
    values = np.zeros(players, np.float32)
    values[list(seats_of(mask))] = 1.0
    return values


@lru_cache(1 << 12)
def _known(roles: tuple[str, ...], sides: tuple[bool | None, ...]) -> tuple[tuple[int, int], ...]:
    """(seat, place in `CLASSES`) of all whose class follows from the facts."""
    classes = [_WOLF if wolf else CLASS_OF.get(role) for role, wolf in zip(roles, sides, strict=True)]
    return tuple((seat, known) for seat, known in enumerate(classes) if known is not None)


class _Fold:
    """The fold so far: one block of values a round, who lives, and whose class is certain."""

    __slots__ = ("alive", "blocks", "known", "players", "read", "round", "seat", "victim")

    def __init__(self, view: View) -> None:
        self.seat = view.seat
        self.players = view.ruleset.players
        self.read = self.round = 0
        self.blocks: dict[int, Float32s] = {}
        self.victim: int | None = None
        self.update(view)

    def update(self, view: View) -> None:
        """Read on to the view's end."""
        now = view.facts
        self.alive, self.known = _alive(now.alive, self.players), _known(now.roles, now.sides)
        for event, now in view.with_facts(self.read):
            self.round = now.round
            match event:
                case Said():
                    pass
                case Voted(voter, target, what):
                    if what == "eliminate" and target is not None:
                        self.block()[(2 + voter) * self.players + target] = 1.0
                case NightFell():
                    self.victim = None
                case VictimShown():
                    self.victim = event.victim
                case Chose():
                    if event.seat == self.seat:
                        self._chose(event)
                case DayBroke(deaths=deaths):
                    for seat in deaths:
                        self.block()[self.players + seat] = 1.0
                case FactEvent() | ClockEvent():
                    pass  # the facts have it
                case OfficeEvent() | ChoiceEvent() | TalkEvent():
                    pass  # not in Table 3
                case _:
                    assert_never(event)
        self.read = len(view.events)

    def block(self) -> Float32s:
        """The current round's values, at first zeros."""
        block = self.blocks.get(self.round)
        if block is None:
            block = self.blocks[self.round] = np.zeros(_block(self.players), np.float32)
        return block

    def _chose(self, event: Chose) -> None:
        target = event.action.seat if isinstance(event.action, Pick) else None
        if event.action == YES:
            target = self.victim
        if target is not None:
            self.block()[target] = 1.0


def player_vector(view: View, ask: Ask, memory: Memory, beliefs: Sequence[Belief] = ()) -> Float32s:
    """The player vector of 004 Table 3 for a seat at `ask`: float32 (V,), V = `features_length(players)`.

    beliefs: of this turn; they replace those of `memory`. All values are in [0, 1] up to round 10.
    """
    fold: _Fold | None = view.cache.get(_KEY)
    if fold is None or fold.read > len(view.events):
        fold = view.cache[_KEY] = _Fold(view)
    elif fold.read < len(view.events):
        fold.update(view)
    n = fold.players
    vector = np.zeros(features_length(n), np.float32)
    vector[memory.seat] = 1.0
    vector[n + CLASS_OF[memory.role]] = 1.0
    at = n + len(CLASSES)
    vector[at] = ask.round * _TENTH
    vector[at + 1 + (0 if ask.phase == "night" else 2 if ask.kind in ("vote", "elect") else 1)] = 1.0
    at += 1 + len(PHASES)
    vector[at : at + n] = fold.alive
    at += n
    first = max(ask.round - ROUNDS, 0) + 1
    size = _block(n)
    for round in range(first, first + ROUNDS):
        block = fold.blocks.get(round)
        if block is not None:
            vector[at : at + size] = block
        at += size
    for belief in (*memory.beliefs.values(), *beliefs):
        start = at + belief.target * _SLOT
        believed = CLASS_OF.get(belief.role), counted_confidence(belief.confidence)
        vector[start : start + _SLOT] = _BELIEVED[believed]
    for seat, known in fold.known:
        start = at + seat * _SLOT
        vector[start : start + _SLOT] = _CERTAIN[known]
    return vector


# -- laid out for a network ------------------------------------------------------------------------


class Batch(NamedTuple):
    """B decisions for a network of capacity P and text length D, padded to N candidates each.

    player: float32 (B, V) with V = `features_length(P)`. text: float32 (B, D). candidates: float32 (B, N, D),
    zeros for padding. mask: bool (B, N), True for candidates.
    """

    player: Float32s
    text: Float32s
    candidates: Float32s
    mask: NDArray[np.bool_]


def lay_out(vector: Float32s, players: int, capacity: int) -> Float32s:
    """The player vectors of a table of `players` in the layout of `capacity` seats.

    vector: float32 (…, `features_length(players)`); returns (…, `features_length(capacity)`), with zeros for
    empty seats. Raises ModelError if there are more players than seats.
    """
    places = _places(players, capacity)
    if vector.shape[-1] != len(places):
        raise ModelError(
            f"a player vector of {vector.shape[-1]} values was given for {players} players, "
            f"who have {len(places)}; lay each table out by its own number of players"
        )
    if players == capacity:
        return vector
    wide = np.zeros((*vector.shape[:-1], features_length(capacity)), np.float32)
    wide[..., places] = vector
    return wide


@lru_cache(256)
def _places(players: int, capacity: int) -> NDArray[np.intp]:
    """The index of each value of a table's vector in the layout of the capacity."""
    if players > capacity:
        raise ModelError(
            f"this policy has room for {capacity} players, and the table has {players}; "
            f"use a policy that was trained with a larger capacity"
        )
    seats = np.arange(players)
    fixed = np.arange(len(CLASSES) + 1 + len(PHASES))
    pairs = (seats[:, None] * capacity + seats).ravel()
    slots = (seats[:, None] * (len(CLASSES) + 1) + np.arange(len(CLASSES) + 1)).ravel()
    parts = [(seats, capacity), (fixed, len(fixed)), (seats, capacity)]
    parts += [(seats, capacity), (seats, capacity), (pairs, capacity**2)] * ROUNDS
    parts.append((slots, capacity * (len(CLASSES) + 1)))
    shifted, start = [], 0
    for places, size in parts:
        shifted.append(start + places)
        start += size
    assert start == features_length(capacity)
    return np.concatenate(shifted)


def stack(observations: Sequence[Observation], capacity: int, most: int) -> Batch:
    """Observations of tables of any sizes as one batch for a network.

    most: N, the padded number of candidates. Raises ModelError for a table or a choice that is too large.
    """
    rows, dimensions = len(observations), len(observations[0].text)
    player = np.zeros((rows, features_length(capacity)), np.float32)
    text = np.zeros((rows, dimensions), np.float32)
    candidates = np.zeros((rows, most, dimensions), np.float32)
    mask = np.zeros((rows, most), np.bool_)
    for row, observation in enumerate(observations):
        n = len(observation.candidates)
        if not 1 <= n <= most:
            raise ModelError(f"a decision among {n} candidates was given to a policy that weighs 1 to {most}")
        player[row] = lay_out(observation.player, observation.players, capacity)
        text[row] = observation.text
        candidates[row, :n] = observation.candidates
        mask[row, :n] = True
    return Batch(player, text, candidates, mask)
