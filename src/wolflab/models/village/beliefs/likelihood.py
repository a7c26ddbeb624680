"""The likelihood of public events: a fold over statements, votes and announcements.

`Fold` turns the public events that a seat has seen into pairwise integer log-likelihoods (actor's role ×
target's role), in milli-nats. Statements are read as text (`text.reading`), never as structure. The fold is a
trie: seats that saw the same beginning share its nodes, so that an event is processed once per game, not once
per seat and question. ``docs/village.md`` declares the contribution of each event.

A node is immutable once built.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, assert_never

import numpy as np

from ....rules import (
    ROLES,
    Chose,
    ClockEvent,
    DayBroke,
    Event,
    FactEvent,
    Facts,
    NightFell,
    OfficeEvent,
    Revealed,
    Ruleset,
    Said,
    Shot,
    Voted,
    facts_of,
    only,
)
from ....text.reading import Accusation, Act, Agreement, Defence, Report, Suggestion, read_in
from ..parameters import Ints, Parameters
from .claims import AS_OTHER, AS_PLAIN, AS_SEER, AS_SHIELD, claim_of, claimed
from .worlds import SEER, WOLF, WorldFloats, role_class

TableObservation = tuple[str, int, int, int, int | None]
"""(table, context, outcome, actor, target); no target for a table of one player."""

IGNORED = -1
"""Outcome index of pairs without evidence (the tables' last row, all zero)."""

NONE, SAW_WOLF, SAW_GOOD, FLAT, ACCUSED, HINTED, PROPOSED, DEFENDED, AGREED, SHIELDED = range(10)
_RANK = (0, 9, 8, 6, 4, 2, 7, 5, 3, 5)
"""The rank of each stance: of several towards one player in a statement, the highest counts."""
_WEIGHT = (0, 9, 9, 4, 3, 1, 3, 2, 1, 3)
"""The weight of a statement with that stance as evidence on its target."""

HOSTILE = (SAW_WOLF, FLAT, ACCUSED, HINTED, PROPOSED)
MISREPORT = -4000
"""The log-likelihood of a Seer who names another role than the true one."""

_LIMIT = 8192
"""Nodes kept before the trie is dropped and rebuilt."""


@dataclass(eq=False)
class Node:
    """The public state after some events.

    weights: float32 (seats, roles, seats, roles), integers. facts: of these events, or what is known
    otherwise where some are missing (see `Fold.resumed`). claims: by seat, the role claimed (see `claims`).
    reports: (who, about whom, result of a check). stances: (who, to whom) → the latest one. today: (who, to
    whom, stance) of the day, in order. lives: masks of the living at times when no side had won. harmless:
    mask of those who are surely no Werewolves. event: the last one. marks: (seat, weight) of those on whom it
    is evidence. after: children by the event's identity, or by the knowledge about a gap.
    """

    weights: WorldFloats
    facts: Facts
    claims: tuple[int, ...]
    reports: tuple[tuple[int, int, str], ...] = ()
    stances: dict[tuple[int, int], int] = field(default_factory=dict)
    today: tuple[tuple[int, int, int], ...] = ()
    lives: tuple[int, ...] = ()
    harmless: int = 0
    event: Event | None = None
    marks: tuple[tuple[int, int], ...] = ()
    after: dict[int | str, Node] = field(default_factory=dict)

    def child(self, event: Event | None, **changes: Any) -> Node:
        """A copy for the state after `event`."""
        new = Node(
            self.weights, self.facts, self.claims, self.reports, self.stances, self.today, self.lives,
            self.harmless, event,
        )  # fmt: skip
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def knowing(self, what: str, **changes: Any) -> Node:
        """The node with the knowledge `what` about a gap, with these changes."""
        if what not in self.after:
            self.after[what] = self.child(self.event, **changes)
        return self.after[what]

    def claimants(self, claim: int) -> list[int]:
        """The players who make that claim (see `claims`)."""
        return [seat for seat, made in enumerate(self.claims) if made == claim]

    @cached_property
    def contexts(self) -> tuple[int, ...]:
        """By seat, the public context (see `parameters.CONTEXTS`)."""
        reported = {target for _, target, result in self.reports if result == "Werewolf"}
        cleared = {target for _, target, result in self.reports if result != "Werewolf"}
        accused = {target for _, target, stance in self.today if stance in HOSTILE}
        contexts = []
        for seat, claim in enumerate(self.claims):
            if seat in reported:
                contexts.append(2)
            elif claim == AS_SEER:
                contexts.append(4 if self.claims.count(AS_SEER) == 1 else 5)
            elif seat in cleared:
                contexts.append(3)
            elif claim in (AS_SHIELD, AS_OTHER):
                contexts.append(6)
            else:
                contexts.append(1 if seat in accused else 0)
        return tuple(contexts)


def with_claims(node: Node, claims: dict[int, str]) -> Node:
    """The node with claims that only texts report (seat → role)."""
    fresh = {seat: claim_of(role) for seat, role in claims.items() if not node.claims[seat]}
    if not fresh:
        return node
    return node.child(node.event, claims=tuple(fresh.get(seat, old) for seat, old in enumerate(node.claims)))


class Fold:
    """The trie for one ruleset and one set of parameters. `heed_sheriff` False ignores the Sheriff's
    statements.

    observed: for fitting, every observation that a table scores.
    """

    def __init__(self, ruleset: Ruleset, parameters: Parameters, heed_sheriff: bool = True) -> None:
        self.ruleset, self.heed_sheriff = ruleset, heed_sheriff
        self.roles = tuple(role.name for role in ruleset.cast)
        self.classes = [role_class(role) for role in ruleset.cast]
        self.players = ruleset.players
        self.tables = {name: _spread(table, self.classes) for name, table in parameters.tables.items()}
        pairs = [(name, table) for name, table in self.tables.items() if table.ndim == 4]
        # As (actor's role, contexts × outcomes, target's role), to take one statement's cells at once.
        self.pairs = {n: t.transpose(2, 0, 1, 3).reshape(t.shape[2], -1, t.shape[3]) for n, t in pairs}
        poison = any(duty.kind == "poison" for role in ruleset.cast for duty in role.duties)
        self.spared = not (poison or ruleset.wolves_may_target_pack or ruleset.wolves_may_target_self)
        self.tested_at_dawn = "departure" not in ruleset.due
        """Whether the win test comes with the announcement of the dead, before anybody is asked anything."""
        self.observed: list[TableObservation] | None = None
        self.size = 0
        self.root = self._root()

    def _root(self) -> Node:
        shape = (self.players, len(self.roles), self.players, len(self.roles))
        return Node(np.zeros(shape, np.float32), facts_of(self.ruleset), (0,) * self.players)

    def trim(self) -> None:
        """Empty the trie when it has grown too large (results stay the same)."""
        if self.size > _LIMIT:
            self.root, self.size = self._root(), 0

    def after(self, node: Node, event: Event) -> Node:
        """The node after `event`, cached."""
        known = node.after.get(id(event))
        if known is None:
            known = node.after[id(event)] = self.step(node, event)
        return known

    def step(self, node: Node, event: Event) -> Node:
        """The node after `event`, computed."""
        new = node.child(event, facts=node.facts.then(event))
        match event:
            case Said():
                self._said(node, new, event)
            case Voted():
                self._voted(node, new, event)
            case Shot(seat, target):
                new.marks = ((seat, 9), (target, 3))
            case DayBroke():
                self._dawn(node, new, event)
            case NightFell(round):
                if round > 1:
                    new.lives = (*node.lives, new.facts.alive)
            case Revealed(seat):
                new.marks = ((seat, 9),)
            case FactEvent() | OfficeEvent() | ClockEvent() | Chose():
                pass  # their content is among the facts
            case _:
                assert_never(event)
        self.size += 1
        return new

    def undecided(self, node: Node) -> Node:
        """The node with the knowledge that no side has won: where that is tested after the last duties of the
        dead, the day's talk shows it first.
        """
        if self.tested_at_dawn or node.lives[-1:] == (node.facts.alive,):
            return node
        return node.knowing("goes on", lives=(*node.lives, node.facts.alive))

    # -- gaps: events that are not in a reflective player's context ----------------------------------

    def with_unseen_deaths(self, node: Node, gone: int) -> Node:
        """The node with the players of the mask out of the game, with no known cause."""
        alive = node.facts.alive & ~gone
        return node.knowing(f"gone {gone}", facts=node.facts._replace(alive=alive)) if gone else node

    def after_unseen_dawn(self, node: Node, day: int) -> Node:
        """The node after a dawn whose announcement is not known."""
        return node.knowing(f"day {day}", facts=node.facts._replace(round=day, phase="day"), today=())

    def resumed(self, node: Node, day: int, phase: str, alive: tuple[int, ...], lives: bool) -> Node:
        """The node at the time of the ask: the living are known, whatever was missed before.

        That the game goes on is known for this time alone (and not in last words).
        """
        if phase != "night" and node.facts.round < day:
            node = self.after_unseen_dawn(node, day)
        mask = only(*alive)
        goes_on = lives and (phase in ("discussion", "voting") or (phase == "night" and day > 1))
        facts = node.facts._replace(alive=mask)
        return node.knowing(f"now {mask} {goes_on}", facts=facts, lives=(mask,) if goes_on else ())

    # -- events -----------------------------------------------------------------------------

    def _said(self, old: Node, new: Node, event: Said) -> None:
        speaker, alive = event.seat, old.facts.alive
        if not event.text or (not self.heed_sheriff and speaker == old.facts.sheriff):
            return
        acts = [act for act in read_in(self.ruleset, event.text, speaker) if act.speaker == speaker]
        stances, exact = self._stances(acts, new)
        marks: dict[int, int] = {}
        new.weights = old.weights.copy()
        claim = claimed(acts)
        if claim and claim != old.claims[speaker]:
            new.claims = (*old.claims[:speaker], claim, *old.claims[speaker + 1 :])
            marks[speaker] = 7 if claim < AS_PLAIN else 2
        else:
            claim = 0
        if not old.claims[speaker] or claim:
            others = any(made == AS_SEER for seat, made in enumerate(old.claims) if seat != speaker)
            pressed = old.contexts[speaker] in (1, 2, 5)
            context = others * 4 + (old.facts.round > 1) * 2 + pressed
            self._unary(new.weights, speaker, "claim", context, claim)
        outcomes = [IGNORED] * self.players
        new.stances = dict(old.stances)
        for target in range(self.players):
            stance = stances.get(target, NONE)
            living = alive >> target & 1
            if target == speaker or not (living or stance in (SAW_WOLF, SAW_GOOD)):
                continue
            if stance == NONE or new.stances.get((speaker, target)) != stance:
                outcomes[target] = stance
            if stance:
                new.stances[speaker, target] = stance
                marks[target] = _WEIGHT[stance]
                marks.setdefault(speaker, 3 if stance in HOSTILE else 1)
        self._pair(new.weights, speaker, "say", old.contexts, outcomes)
        for target, role in exact.items():
            if role in self.roles and SEER in self.classes:
                self._exact(new.weights, speaker, target, self.roles.index(role))
        spoken = ((speaker, target, stance) for target, stance in stances.items() if target != speaker)
        new.today = (*old.today, *spoken)
        new.marks = tuple(marks.items())

    def _stances(self, acts: list[Act], new: Node) -> tuple[dict[int, int], dict[int, str]]:
        """The statement's stance to each player it is about, and the exact roles it reports."""
        stances: dict[int, int] = {}
        exact: dict[int, str] = {}
        for act in acts:
            match act:
                case Report(speaker, "see", target, what):
                    if not what:
                        continue
                    stance = SAW_WOLF if what == "Werewolf" else SAW_GOOD
                    if (speaker, target, what) not in new.reports:
                        new.reports = (*new.reports, (speaker, target, what))
                    if what in ROLES and stance == SAW_GOOD:
                        exact[target] = what
                case Report(target=target):
                    stance = SHIELDED
                case Accusation(target=target, strength=strength):
                    stance = (HINTED, HINTED, ACCUSED, FLAT)[strength]
                case Suggestion(target=target, against=against):
                    stance = DEFENDED if against else PROPOSED
                case Defence(target=target):
                    stance = DEFENDED
                case Agreement(target=target, denied=denied):
                    stance = HINTED if denied else AGREED
                case _:
                    continue
            if _RANK[stance] > _RANK[stances.get(target, NONE)]:
                stances[target] = stance
        return stances, exact

    def _voted(self, old: Node, new: Node, event: Voted) -> None:
        voter, alive = event.voter, old.facts.alive
        outcomes = [
            IGNORED if seat == voter or not alive >> seat & 1 else int(seat == event.target)
            for seat in range(self.players)
        ]
        new.weights = old.weights.copy()
        table = "vote" if event.what == "eliminate" else "elect"
        self._pair(new.weights, voter, table, old.contexts, outcomes)
        new.marks = ((voter, 2),) if event.target is None else ((voter, 2), (event.target, 2))

    def _dawn(self, old: Node, new: Node, event: DayBroke) -> None:
        new.today = ()
        if event.deaths:
            new.weights = old.weights.copy()
            for seat in range(self.players):
                if old.facts.alive >> seat & 1:
                    self._unary(new.weights, seat, "die", old.contexts[seat], int(seat in event.deaths))
            if self.spared:
                new.harmless |= only(*event.deaths)
        if self.tested_at_dawn:
            new.lives = (*old.lives, new.facts.alive)
        new.marks = tuple((seat, 3) for seat in event.deaths)

    # -- tables -----------------------------------------------------------------------------

    def _pair(
        self, weights: WorldFloats, actor: int, table: str, contexts: tuple[int, ...], outcomes: list[int]
    ) -> None:
        kinds = self.tables[table].shape[1]
        cells = [kinds * context + kind % kinds for context, kind in zip(contexts, outcomes, strict=True)]
        weights[actor] += self.pairs[table].take(cells, axis=1)
        if self.observed is not None:
            self.observed += [
                (table, contexts[target], outcome, actor, target)
                for target, outcome in enumerate(outcomes)
                if outcome != IGNORED
            ]

    def _unary(self, weights: WorldFloats, seat: int, table: str, context: int, outcome: int) -> None:
        roles = np.arange(len(self.roles))
        weights[seat, roles, seat, roles] += self.tables[table][context, outcome]
        if self.observed is not None:
            self.observed.append((table, context, outcome, seat, None))

    def _exact(self, weights: WorldFloats, speaker: int, target: int, role: int) -> None:
        """Where the speaker is the Seer, the target has the reported role (a Werewolf's: see the table)."""
        for seer, actor_class in enumerate(self.classes):
            if actor_class == SEER:
                for other, target_class in enumerate(self.classes):
                    if other != role and target_class != WOLF:
                        weights[speaker, seer, target, other] += MISREPORT


def _spread(table: Ints, classes: list[int]) -> WorldFloats:
    """A class table spread over a cast's roles, with a last outcome of zeros for `IGNORED`."""
    wide = table[:, :, classes] if table.ndim == 3 else table[:, :, classes][..., classes]
    last_outcome = ((0, 0), (0, 1), *[(0, 0)] * (table.ndim - 2))
    spread: WorldFloats = np.pad(wide, last_outcome).astype(np.float32)
    return spread
