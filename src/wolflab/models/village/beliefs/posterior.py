"""From a situation to the posterior over roles, computed once and shared by all questions about it.

The public lines are folded (`likelihood`), the private ones (own card, pack, looks, victims shown) cut
worlds away, and so does each moment at which the game went on: no side had won. Exact for the declared
likelihood, up to the coarsening of very large casts (`worlds`).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from operator import attrgetter
from typing import assert_never

import numpy as np
import numpy.typing as npt

from ....rules import (
    ROLES,
    SHIELDS,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    Event,
    FirstSpeaker,
    GameEnded,
    Learned,
    NightFell,
    PackMet,
    Pick,
    Revealed,
    Ruleset,
    Said,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    facts_of,
    only,
)
from ....text.notes import Reflected
from ....text.questions import Line, Situation
from ..parameters import Parameters
from .likelihood import Fold, Node, Public
from .worlds import Bools, Worlds, worlds

_position = attrgetter("position")
_KEPT = 64
"""Situations and posteriors kept (the oldest go first): few, so that what is kept is still warm."""


@dataclass(frozen=True, slots=True)
class Survey:
    """One pass over a situation's lines.

    learned: target → what its check showed. harmless: mask of seats that night actions prove to be no
    Werewolves. kills: the pack's choices this night, in order. spared: whom the pack chose in vain last
    night. shielded: whom this seat shielded last.
    hits: (line's position, marks) of the lines that bear on somebody; see `Node.marks`.
    """

    node: Node
    learned: dict[int, str]
    harmless: int
    kills: tuple[tuple[int, int | None], ...]
    shielded: int | None
    spared: int | None
    hits: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]

    def named_by_mates(self, me: int) -> int | None:
        """Whom the others of the pack want killed tonight: the last player that one of them chose."""
        named = [target for seat, target in self.kills if seat != me and target is not None]
        return named[-1] if named else None


@dataclass(slots=True)
class Posterior:
    """marginals: float64 (seats, roles). wolf: P(Werewolf) by seat. surveys as in `Survey`."""

    survey: Survey
    roles: tuple[str, ...]
    marginals: list[list[float]]
    wolf: list[float]
    _evidence: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def evidence(self, seat: int, most: int = 6) -> list[int]:
        """The positions of the lines that bear most on `seat`: the weightiest, then the latest, ascending."""
        if not self._evidence:
            found: dict[int, list[tuple[int, int]]] = {-1: []}
            for position, marks in self.survey.hits:
                for about, weight in marks:
                    found.setdefault(about, []).append((weight, position))
            self._evidence = found
        lines = self._evidence.get(seat, [])
        if len(lines) > most:
            lines = sorted(lines, reverse=True)[:most]
        return sorted([position for _, position in lines])


Chances = tuple[tuple[str, ...], list[list[float]], list[float]]
"""`Posterior`'s roles, marginals and wolf."""


class Thinker:
    """Computes posteriors; holds nothing but caches. `skill`: thousandths of the evidence that count."""

    def __init__(self, parameters: Parameters, skill: int = 1000, heed_sheriff: bool = True) -> None:
        self.parameters, self.skill, self.heed_sheriff = parameters, skill, heed_sheriff
        self._folds: dict[Ruleset, Fold] = {}
        self._last: OrderedDict[int, tuple[Situation, Survey]] = OrderedDict()
        self._chances: OrderedDict[tuple[object, ...], Chances] = OrderedDict()
        self._latest: tuple[Situation, Posterior] | None = None
        self._lines: tuple[tuple[object, ...], list[Line], Survey] | None = None
        """The lines read last, by event and position (they are kept, so that identities stay their own)."""
        self._cuts: OrderedDict[tuple[object, ...], Bools | None] = OrderedDict()

    def survey(self, situation: Situation, recalled: bool = False) -> Survey:
        """Read the lines (remembered for the situation object).

        recalled: the lines are those that a reflective player has before it, with gaps (see `_resume`).
        """
        known = self._last.get(id(situation))
        if known is not None and known[0] is situation:
            return known[1]
        lines = sorted(
            (
                *situation.informative,
                *situation.facts,
                *situation.truths,
                *situation.falsehoods,
                *situation.pending,
            ),
            key=_position,
        )
        # The decision that follows a deduction is about the very same events, only classified anew.
        told = [id(line.event) for line in lines]
        now = recalled and (situation.alive, situation.round)
        same = (situation.ruleset, now, situation.phase == "departure", *told, *map(_position, lines))
        if self._lines is None or self._lines[0] != same:
            self._lines = same, lines, self._read(situation, lines, recalled)
        survey = self._lines[2]
        self._last[id(situation)] = (situation, survey)
        if len(self._last) > _KEPT:
            self._last.popitem(last=False)
        return survey

    def fold(self, ruleset: Ruleset) -> Fold:
        """The trie for `ruleset`."""
        fold = self._folds.get(ruleset)
        if fold is None:
            fold = self._folds[ruleset] = Fold(ruleset, self.parameters, self.heed_sheriff)
        return fold

    def _read(self, situation: Situation, lines: list[Line], recalled: bool) -> Survey:
        fold, own = self.fold(situation.ruleset), _Own(situation.ruleset)
        fold.trim()
        node = fold.root
        if recalled:
            node = fold.bereft(node, _unseen_deaths(situation, lines))
        hits: list[tuple[int, tuple[tuple[int, int], ...]]] = []
        for line in lines:
            event = line.event
            if recalled and line.round > node.facts.round and _by_day(event):
                # The dawn between is not before the player; what it led to tonight's choices is unknown.
                node, own.kills, own.tonight = fold.dawned(node, line.round), [], None
            if not recalled and _talk(event):
                node = fold.goes_on(node)
            found = node.after.get(id(event))
            if found is None:
                if not isinstance(event, Public):
                    marks = own.learns(event)
                    if marks:
                        hits.append((line.position, marks))
                    continue
                found = node.after[id(event)] = fold.step(node, event)
            node = found
            if node.marks:
                hits.append((line.position, node.marks))
            if isinstance(event, DayBroke):
                own.wakes(event)
        if recalled:
            alive = situation.alive
            node = fold.resumed(node, situation.round, situation.phase, alive, situation.seat in alive)
        elif _goes_on(situation):
            node = fold.goes_on(node)
        return Survey(
            node, own.learned, own.harmless, tuple(own.kills), own.shielded, own.spared, tuple(hits)
        )

    def posterior(self, situation: Situation, recalled: bool = False) -> Posterior:
        """The posterior of `situation`'s seat (remembered for the situation object)."""
        if self._latest is not None and self._latest[0] is situation:
            return self._latest[1]
        survey = self.survey(situation, recalled)
        found = self.of(situation, survey)
        self._latest = situation, found
        return found

    def of(self, situation: Situation, survey: Survey) -> Posterior:
        """What a survey tells the seat of `situation` (the numbers are remembered by content)."""
        learned = tuple(survey.learned.items())
        key = survey.node, situation.seat, situation.role, situation.pack, learned, survey.harmless
        found = self._chances.get(key)
        if found is None:
            found = self._chances[key] = self._compute(situation, survey)
            if len(self._chances) > _KEPT:
                self._chances.popitem(last=False)
        return Posterior(survey, *found)

    def _compute(self, situation: Situation, survey: Survey) -> Chances:
        rules, me, node = situation.ruleset, situation.seat, survey.node
        world = worlds(tuple(rules.roles.items()), me, situation.role, situation.pack)
        excluded = self._excluded(world, situation, survey)
        weights = node.weights.copy()
        weights[me] = 0  # what one did oneself tells one nothing
        n = len(world.roles) * rules.players
        hot = world.hot
        total = np.einsum("ij,ij->i", hot @ weights.reshape(n, n), hot).astype(np.float64)
        total *= self.parameters.scale * self.skill / 1e9
        if excluded is not None:
            np.putmask(total, excluded, -np.inf)
        total -= total.max()
        chance = np.exp(total, out=total)
        chance /= chance.sum()
        marginals = (chance @ world.precise).reshape(rules.players, -1)
        if world.merged:
            marginals = _share_out(marginals, weights, world)
        rows = marginals.tolist()
        wolf = [row[world.wolf_roles[0]] for row in rows]
        for role in world.wolf_roles[1:]:
            wolf = [chance + row[role] for chance, row in zip(wolf, rows, strict=True)]
        return world.roles, rows, wolf

    def _excluded(self, world: Worlds, situation: Situation, survey: Survey) -> Bools | None:
        """Which worlds the certain knowledge cuts away; None: none."""
        node = survey.node
        key = (
            world,
            situation.ruleset.wolves_win,
            situation.ruleset.seer_learns,
            tuple(survey.learned.items()),
            survey.harmless | node.harmless,
            node.facts.roles,
            node.lives,
        )
        if key in self._cuts:
            return self._cuts[key]
        left = _certain(world, situation, survey)
        cut = self._cuts[key] = None if left is None else ~left
        if len(self._cuts) > 32 * _KEPT:
            self._cuts.popitem(last=False)
        return cut


class _Own:
    """What a seat's own nights tell it, line by line; the fields as in `Survey`.

    tonight: whom it shielded this night.
    """

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.learned: dict[int, str] = {}
        self.kills: list[tuple[int, int | None]] = []
        self.harmless = 0
        self.shielded: int | None = None
        self.tonight: int | None = None
        self.spared: int | None = None

    def learns(self, event: Event | Reflected) -> tuple[tuple[int, int], ...]:
        """Take one private line; the marks that it leaves (see `Node.marks`)."""
        match event:
            case Chose(kind="kill", action=action):
                self.kills.append((event.seat, action.seat if isinstance(action, Pick) else None))
            case Chose(kind=kind, action=action):
                if kind in SHIELDS:
                    self.shielded = self.tonight = action.seat if isinstance(action, Pick) else None
            case Dealt() | FirstSpeaker() | PackMet() | CandidatesNamed() | Reflected():
                pass  # the situation says it, or the player's own texts, or it tells nothing of roles
            case Learned(_, target, what):
                self.learned[target] = what
                return ((target, 10),)
            case VictimShown(_, victim):
                if not self.rules.wolves_may_target_pack:
                    self.harmless |= 1 << victim
                return ((victim, 4),)
            case SheriffDrawn() | SpeakersDrawn() | GameEnded():
                pass
            case Said() | Voted() | DayBroke() | NightFell() | VoteCounted() | SheriffNamed():
                pass  # `Public`: the fold reads it
            case Shot() | Revealed():
                pass  # and these
            case _:
                assert_never(event)
        return ()

    def wakes(self, dawn: DayBroke) -> None:
        """What the announcement says of this night's choices."""
        if not dawn.deaths and self.tonight is not None:
            self.harmless |= _attacked(self.rules, self.tonight)
        self.spared = None if dawn.deaths or not self.kills else self.kills[-1][1]
        self.tonight, self.kills = None, []


_BY_DAY = ("election", "order", "discussion", "action", "voting")


def _goes_on(situation: Situation) -> bool:
    """Whether who is asked knows by it that the game went on after the dawn: alive, and by day."""
    return situation.phase in _BY_DAY and situation.seat in situation.alive


def _talk(event: Event | Reflected) -> bool:
    """Whether it only happens while the game goes on: what is done by day, save what may end it."""
    if isinstance(event, VoteCounted | Shot) or (isinstance(event, Said) and event.where == "last words"):
        return False
    return _by_day(event)


def _by_day(event: Event | Reflected) -> bool:
    """Whether it is something done by day, which tells that the dawn of its round has come."""
    match event:
        case Said() | Voted() | VoteCounted() | Shot():
            return True
        case NightFell() | Chose() | Learned() | VictimShown() | DayBroke() | Revealed() | Reflected():
            return False
        case CandidatesNamed() | SheriffNamed() | FirstSpeaker() | GameEnded():
            return False
        case Dealt() | PackMet() | SheriffDrawn() | SpeakersDrawn():
            return False
    assert_never(event)


def _unseen_deaths(situation: Situation, lines: list[Line]) -> int:
    """Mask of those who are out of the game without a line that says so."""
    events = [line.event for line in lines if not isinstance(line.event, Reflected)]
    return facts_of(situation.ruleset, events).alive & ~only(*situation.alive)


def _attacked(rules: Ruleset, seat: int) -> int:
    """After a quiet night: mask of the shielded seat if it was surely attacked, and so no Werewolf."""
    witch = any(duty.kind == "antidote" for role in rules.cast for duty in role.duties)
    sure = rules.wolf_agreement == "last" and not rules.wolves_may_pass and not witch
    return 1 << seat if sure and not rules.wolves_may_target_pack and not rules.wolves_may_target_self else 0


def _certain(world: Worlds, situation: Situation, survey: Survey) -> Bools | None:
    node, rules = survey.node, situation.ruleset
    mask: Bools = np.ones(world.size, np.bool_)
    for target, what in survey.learned.items():
        if what in world.roles and rules.seer_learns == "role":
            mask &= world.has(target, world.roles.index(what))
        else:
            mask &= world.wolf[:, target] == (what == "Werewolf")
    for seat, role in enumerate(node.facts.roles):
        if role:
            mask &= world.has(seat, world.roles.index(role))
    harmless = survey.harmless | node.harmless
    if harmless:
        mask &= (world.wolf_bits & harmless) == 0
    for alive in node.lives:
        left = np.bitwise_count(world.wolf_bits & alive)
        mask &= left > 0
        if rules.wolves_win == "parity":
            mask &= left * 2 < alive.bit_count()
        elif rules.wolves_win != "no_others" and not world.merged:
            here = [seat for seat in range(rules.players) if alive >> seat & 1]
            for roles in _needed(world, rules):
                mask &= world.cube[:, here][:, :, roles].sum(axis=(1, 2)) > 0.5
    if mask.all() or not mask.any():
        return None  # nothing is excluded, or the record contradicts itself: then judge by likelihood alone
    return mask


def _needed(world: Worlds, rules: Ruleset) -> list[list[int]]:
    """Groups of roles (by index) of each of which somebody must live, or the Werewolves have won."""
    village = [(i, ROLES[name].plain) for i, name in enumerate(world.roles) if not ROLES[name].wolf]
    plain, able = ([i for i, is_plain in village if is_plain is wanted] for wanted in (True, False))
    return [plain] if rules.wolves_win == "no_villager" else [plain, able]


def _share_out(
    marginals: npt.NDArray[np.float64], weights: npt.NDArray[np.float32], world: Worlds
) -> npt.NDArray[np.float64]:
    """Split each seat's mass over the merged roles by what that seat itself claimed."""
    merged = list(world.merged)
    for seat in range(len(marginals)):
        own = np.diagonal(weights[seat, :, seat, :])[merged].astype(np.float64) / 1000
        share = marginals[seat, merged] * np.exp(own - own.max())
        if share.sum() > 0:
            marginals[seat, merged] = marginals[seat, merged].sum() * share / share.sum()
    return marginals
