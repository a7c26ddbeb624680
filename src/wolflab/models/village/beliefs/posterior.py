"""From a situation to the posterior over roles, computed once and shared by all questions about it.

The public lines are folded (`likelihood`). Private ones (own card, pack, checks, victims shown) exclude
worlds, and so does each time at which the game went on: no side had won. Exact for the declared likelihood,
up to the coarsening of very large casts (`worlds`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import assert_never

import numpy as np
import numpy.typing as npt

from ....rules import (
    EVERYONE,
    NOT_WOLF,
    ROLES,
    SHIELDS,
    Chose,
    ClockEvent,
    DayBroke,
    Event,
    FactEvent,
    Learned,
    OfficeEvent,
    Pick,
    Ruleset,
    Said,
    Shot,
    VictimShown,
    VoteCounted,
    Voted,
    facts_of,
    only,
)
from ....text.notes import Reflected
from ....text.questions import Line, Situation
from ..parameters import Parameters
from .likelihood import Fold, Node
from .worlds import Bools, Worlds, worlds

_KEPT = 64
"""The cache's size in situations and posteriors (the oldest go first): small, so that it stays in the
processor's cache."""


@dataclass
class SituationSummary:
    """One pass over a situation's lines.

    learned: target → result of its check. harmless: mask of seats that night actions prove to be no
    Werewolves. kills: the pack's choices this night, in order. spared: the pack's target that survived last
    night. shielded: whom this seat shielded last; tonight: whom this night. hits: (line's position, marks) of
    the lines that are evidence on somebody; see `Node.marks`.
    """

    rules: Ruleset
    node: Node
    learned: dict[int, str] = field(default_factory=dict)
    harmless: int = 0
    kills: list[tuple[int, int | None]] = field(default_factory=list)
    shielded: int | None = None
    tonight: int | None = None
    spared: int | None = None
    hits: list[tuple[int, tuple[tuple[int, int], ...]]] = field(default_factory=list)

    def named_by_mates(self, me: int) -> int | None:
        """The target of the other pack members tonight: the last player that one of them chose."""
        named = [target for seat, target in self.kills if seat != me and target is not None]
        return named[-1] if named else None

    @cached_property
    def _weights(self) -> dict[int, list[tuple[int, int]]]:
        """Seat → (weight, position) of the lines that are evidence on it."""
        weights: dict[int, list[tuple[int, int]]] = {}
        for position, marks in self.hits:
            for seat, weight in marks:
                weights.setdefault(seat, []).append((weight, position))
        return weights

    def evidence(self, seat: int) -> list[int]:
        """The positions of the six strongest lines of evidence on `seat` (later ones first), ascending."""
        weightiest = sorted(self._weights.get(seat, ()), reverse=True)[:6]
        return sorted([position for _, position in weightiest])

    def learn(self, event: Event | Reflected) -> tuple[tuple[int, int], ...]:
        """Process one private line. Returns its marks (see `Node.marks`)."""
        match event:
            case Chose(kind="kill", action=action):
                self.kills.append((event.seat, action.seat if isinstance(action, Pick) else None))
            case Chose(kind=kind, action=action):
                if kind in SHIELDS:
                    self.shielded = self.tonight = action.seat if isinstance(action, Pick) else None
            case Learned(_, target, what):
                if what in ROLES or what == NOT_WOLF:
                    self.learned[target] = what
                return ((target, 10),)
            case VictimShown(_, victim):
                if not self.rules.wolves_may_target_pack:
                    self.harmless |= 1 << victim
                return ((victim, 4),)
            case FactEvent() | OfficeEvent() | ClockEvent() | Said() | Voted() | Reflected():
                pass  # the fold, the situation or the player's own texts have it
            case _:
                assert_never(event)
        return ()

    def wake(self, dawn: DayBroke) -> None:
        """Process what the announcement shows about this night's choices."""
        if not dawn.deaths and self.tonight is not None:
            self.harmless |= _surely_attacked(self.rules, self.tonight)
        self.spared = None if dawn.deaths or not self.kills else self.kills[-1][1]
        self.tonight, self.kills = None, []


@dataclass(slots=True)
class Posterior:
    """roles: the cast's. marginals: chances, (seats, roles). wolf: P(Werewolf) by seat."""

    summary: SituationSummary
    roles: tuple[str, ...]
    marginals: list[list[float]]
    wolf: list[float]


Chances = tuple[tuple[str, ...], list[list[float]], list[float]]
"""`Posterior`'s roles, marginals and wolf."""


_EVENT = attrgetter("event", "position")


class PosteriorEstimator:
    """Computes posteriors; holds nothing but caches. `skill`: thousandths of the evidence that count."""

    def __init__(self, parameters: Parameters, skill: int = 1000, heed_sheriff: bool = True) -> None:
        self.parameters, self.skill, self.heed_sheriff = parameters, skill, heed_sheriff
        self._folds: dict[Ruleset, Fold] = {}
        self._summaries: OrderedDict[tuple[int, bool], tuple[Situation, SituationSummary]] = OrderedDict()
        self._lines: tuple[tuple[object, ...], tuple[Line, ...], SituationSummary] | None = None
        """The lines read last, by the key of their reading: time and reader, event and position of each."""
        self._chances = lru_cache(_KEPT)(self._compute)

    def summary(self, situation: Situation, recalled: bool = False) -> SituationSummary:
        """Read the lines (cached by the situation object).

        recalled: the lines are a reflective player's context, with gaps (see `_read`).
        """
        at = id(situation), recalled
        known = self._summaries.get(at)
        if known is not None and known[0] is situation:
            return known[1]
        lines = situation.lines
        # The decision after a deduction is about the same events, only classified again.
        events = list(map(_EVENT, lines))
        time = situation.round, situation.phase, situation.alive, situation.seat
        same = (situation.ruleset, recalled, *time, *events)
        if self._lines is None or self._lines[0] != same:
            self._lines = same, lines, self._read(situation, lines, recalled)
        summary = self._lines[2]
        self._summaries[at] = (situation, summary)
        if len(self._summaries) > _KEPT:
            self._summaries.popitem(last=False)
        return summary

    def fold(self, ruleset: Ruleset) -> Fold:
        """The trie for `ruleset`."""
        fold = self._folds.get(ruleset)
        if fold is None:
            fold = self._folds[ruleset] = Fold(ruleset, self.parameters, self.heed_sheriff)
        return fold

    def _read(self, situation: Situation, lines: Sequence[Line], recalled: bool) -> SituationSummary:
        fold = self.fold(situation.ruleset)
        fold.trim()
        summary, node = SituationSummary(situation.ruleset, fold.root), fold.root
        if recalled:
            node = fold.with_unseen_deaths(node, _unseen_deaths(situation, lines))
        talk_shows = not (recalled or fold.tested_at_dawn)
        for line in lines:
            event = line.event
            if recalled and line.round > node.facts.round and _by_day(event):
                # The dawn between is not in the context; what it showed of the night's choices is unknown.
                node, summary.kills, summary.tonight = fold.after_unseen_dawn(node, line.round), [], None
            if talk_shows and _talk(event):
                node = fold.undecided(node)
            after = node.after.get(id(event))  # tried first: nearly all lines were read before
            if after is None and not isinstance(event, Reflected | Learned) and event.audience == EVERYONE:
                after = fold.after(node, event)
            if after is not None:
                node, marks = after, after.marks
            else:
                marks = summary.learn(event)
            if marks:
                summary.hits.append((line.position, marks))
            if isinstance(event, DayBroke):
                summary.wake(event)
        if recalled:
            alive = situation.alive
            node = fold.resumed(node, situation.round, situation.phase, alive, situation.seat in alive)
        elif _goes_on(situation):
            node = fold.undecided(node)
        summary.node = node
        return summary

    def posterior(self, situation: Situation, recalled: bool = False) -> Posterior:
        """The posterior of `situation`'s seat."""
        return self.of(situation, self.summary(situation, recalled))

    def of(self, situation: Situation, summary: SituationSummary) -> Posterior:
        """The posterior of a summary for the seat of `situation` (cached by content)."""
        rules, learned = situation.ruleset, tuple(summary.learned.items())
        own = situation.seat, situation.role, situation.pack
        return Posterior(summary, *self._chances(rules, *own, summary.node, learned, summary.harmless))

    def _compute(
        self, rules: Ruleset, me: int, role: str, pack: tuple[int, ...], node: Node,
        learned: tuple[tuple[int, str], ...], harmless: int,
    ) -> Chances:  # fmt: skip
        world = worlds(tuple(rules.roles.items()), me, role, pack)
        facts = node.facts
        possible = _possible(world, rules, learned, harmless | node.harmless, facts.roles, node.lives)
        weights = node.weights.copy()
        weights[me] = 0  # the seat's own actions are no evidence for it
        n = len(world.roles) * rules.players
        one_hot = world.one_hot
        total = np.einsum("ij,ij->i", one_hot @ weights.reshape(n, n), one_hot).astype(np.float64)
        total *= self.parameters.scale * self.skill / 1e9
        if possible is not None:
            total[~possible] = -np.inf
        total -= total.max()
        chance = np.exp(total, out=total)
        chance /= chance.sum()
        marginals = (chance @ world.precise).reshape(rules.players, -1)
        if world.merged:
            marginals = _share_out(marginals, weights, world)
        return world.roles, marginals.tolist(), marginals[:, world.wolf_roles].sum(axis=1).tolist()


_BY_DAY = ("election", "order", "discussion", "action", "voting")


def _goes_on(situation: Situation) -> bool:
    """Whether the ask itself shows that the game went on after the dawn: its seat lives, and it is day."""
    return situation.phase in _BY_DAY and situation.seat in situation.alive


def _talk(event: Event | Reflected) -> bool:
    """Whether an event happens only while the game goes on: by day, and cannot end it."""
    if isinstance(event, VoteCounted | Shot) or (isinstance(event, Said) and event.where == "last words"):
        return False
    return _by_day(event)


def _by_day(event: Event | Reflected) -> bool:
    """Whether an event happens by day, which shows that the dawn of its round has come."""
    match event:
        case Said() | Voted() | VoteCounted() | Shot():
            return True
        case FactEvent() | OfficeEvent() | ClockEvent() | Chose() | Reflected():
            return False
    assert_never(event)


def _unseen_deaths(situation: Situation, lines: Sequence[Line]) -> int:
    """Mask of players who are out of the game without a line about it."""
    events = [line.event for line in lines if not isinstance(line.event, Reflected)]
    return facts_of(situation.ruleset, events).alive & ~only(*situation.alive)


def _surely_attacked(rules: Ruleset, seat: int) -> int:
    """After a quiet night: mask of the shielded seat if it was surely attacked, and so no Werewolf."""
    witch = any(duty.kind == "antidote" for role in rules.cast for duty in role.duties)
    sure = rules.wolf_agreement == "last" and not rules.wolves_may_pass and not witch
    return 1 << seat if sure and not rules.wolves_may_target_pack and not rules.wolves_may_target_self else 0


@lru_cache(32 * _KEPT)
def _possible(
    world: Worlds, rules: Ruleset, learned: tuple[tuple[int, str], ...], harmless: int,
    revealed: tuple[str, ...], lives: tuple[int, ...],
) -> Bools | None:  # fmt: skip
    """The worlds that certain knowledge leaves; None: all. revealed: roles by seat. harmless, lives:
    masks."""
    mask: Bools = np.ones(world.size, np.bool_)
    for target, result in learned:
        if result in world.roles and (result != "Werewolf" or rules.seer_learns == "role"):
            mask &= world.has(target, world.roles.index(result))
        else:
            mask &= world.wolf[:, target] == (result == "Werewolf")
    for seat, role in enumerate(revealed):
        if role:
            mask &= world.has(seat, world.roles.index(role))
    mask &= (world.wolf_bits & harmless) == 0
    for alive in lives:
        wolves = np.bitwise_count(world.wolf_bits & alive)
        mask &= wolves > 0
        if rules.wolves_win == "parity":
            mask &= wolves * 2 < alive.bit_count()
        elif rules.wolves_win != "no_others" and not world.merged:
            living = [seat for seat in range(rules.players) if alive >> seat & 1]
            for roles in _needed(world, rules):
                mask &= world.cube[:, living][:, :, roles].sum(axis=(1, 2)) > 0.5
    if mask.all() or not mask.any():
        return None  # nothing is excluded, or the record contradicts itself: the likelihood alone decides
    return mask


def _needed(world: Worlds, rules: Ruleset) -> list[list[int]]:
    """Groups of roles (by index): unless a player of each group lives, the Werewolves have won."""
    village = [(i, ROLES[name].plain) for i, name in enumerate(world.roles) if not ROLES[name].wolf]
    plain, able = ([i for i, is_plain in village if is_plain is wanted] for wanted in (True, False))
    return [plain] if rules.wolves_win == "no_villager" else [plain, able]


def _share_out(
    marginals: npt.NDArray[np.float64], weights: npt.NDArray[np.float32], world: Worlds
) -> npt.NDArray[np.float64]:
    """Split each seat's probability over the merged roles by the seat's own claim."""
    merged = list(world.merged)
    for seat in range(len(marginals)):
        own = np.diagonal(weights[seat, :, seat, :])[merged].astype(np.float64) / 1000
        share = marginals[seat, merged] * np.exp(own - own.max())
        if share.sum() > 0:
            marginals[seat, merged] = marginals[seat, merged].sum() * share / share.sum()
    return marginals
