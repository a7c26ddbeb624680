"""What public events say of the roles: a fold over what was said, voted and announced.

`Fold` turns the public events that a seat has seen into pairwise integer log-likelihoods
(actor's role × target's role), in milli-nats. Statements are read as text (`text.reading`), never as
structure. The fold is a trie: seats that saw the same beginning share its nodes, so that an event is
worked on once per game, not once per seat and question. What each event contributes is declared in
``docs/village.md``.

A node is immutable once built. `sink`, for fitting, receives every observation that a table scores.
"""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np

from ....rules import (
    ROLES,
    DayBroke,
    Facts,
    NightFell,
    Revealed,
    Ruleset,
    Said,
    SheriffNamed,
    Shot,
    VoteCounted,
    Voted,
    facts_of,
    only,
)
from ....text.reading import Accusation, Act, Agreement, Defence, Report, Suggestion, read
from ..parameters import Parameters
from .claims import AS_OTHER, AS_PLAIN, AS_SEER, AS_SHIELD, claim_of, claimed
from .worlds import SEER, WOLF, WorldFloats, role_class

Public = Said | Voted | DayBroke | NightFell | VoteCounted | SheriffNamed | Shot | Revealed
"""The public events that bear on the roles, or on how later ones do: all by which somebody leaves among
them."""

IGNORED = -1
"""Outcome index of pairs that say nothing (the tables' last row, all zero)."""

NONE, SAW_WOLF, SAW_GOOD, FLAT, ACCUSED, HINTED, PROPOSED, DEFENDED, AGREED, SHIELDED = range(10)
_RANK = (0, 9, 8, 6, 4, 2, 7, 5, 3, 5)
"""Which stance stands for a statement that takes several towards one player."""

HOSTILE = (SAW_WOLF, FLAT, ACCUSED, HINTED, PROPOSED)
MISREPORT = -4000
"""A Seer who names another role than the true one."""

_LIMIT = 8192
"""Nodes kept before the trie is dropped and rebuilt."""


class Node:
    """What is public after some events. `weights`: float32 (seats, roles, seats, roles), integers."""

    __slots__ = (
        "after",
        "claims",
        "contexts",
        "event",
        "facts",
        "harmless",
        "lives",
        "marks",
        "reports",
        "stances",
        "today",
        "weights",
    )  # fmt: skip
    event: Public | None
    after: dict[int | str, Node]
    """Children by the event's identity, or by what is known of a gap."""
    weights: WorldFloats
    facts: Facts
    """What these events say; where some are missing (see `Fold.resumed`), what is known in their stead."""
    claims: tuple[int, ...]
    """By seat, what it says it is (see `claims`)."""
    reports: tuple[tuple[int, int, str], ...]
    stances: dict[tuple[int, int], int]
    today: tuple[tuple[int, int, int], ...]
    contexts: tuple[int, ...]
    lives: tuple[int, ...]
    harmless: int
    marks: tuple[tuple[int, int], ...]

    def child(self, event: Public | None) -> Node:
        """A copy to be worked on, for the state after `event`."""
        new = Node.__new__(Node)
        new.event, new.after, new.marks = event, {}, ()
        new.weights, new.facts = self.weights, self.facts
        new.claims, new.reports, new.stances = self.claims, self.reports, self.stances
        new.today, new.contexts = self.today, self.contexts
        new.lives, new.harmless = self.lives, self.harmless
        return new

    def claimants(self, claim: int) -> list[int]:
        """Who makes that claim (see `claims`)."""
        return [seat for seat, made in enumerate(self.claims) if made == claim]


def with_claims(node: Node, claims: dict[int, str]) -> Node:
    """The node with roles claimed of which only texts tell (seat → role)."""
    fresh = {seat: claim_of(role) for seat, role in claims.items() if not node.claims[seat]}
    if not fresh:
        return node
    new = node.child(node.event)
    new.claims = tuple(fresh.get(seat, made) for seat, made in enumerate(node.claims))
    new.contexts = _contexts(new)
    return new


def _contexts(node: Node) -> tuple[int, ...]:
    seers = node.claimants(AS_SEER)
    reported = {b for _, b, what in node.reports if what == "Werewolf"}
    cleared = {b for _, b, what in node.reports if what != "Werewolf"}
    accused = {b for _, b, stance in node.today if stance in HOSTILE}
    found = []
    for seat, claim in enumerate(node.claims):
        if seat in reported:
            found.append(2)
        elif claim == AS_SEER:
            found.append(4 if len(seers) == 1 else 5)
        elif seat in cleared:
            found.append(3)
        elif claim in (AS_SHIELD, AS_OTHER):
            found.append(6)
        else:
            found.append(1 if seat in accused else 0)
    return tuple(found)


class Fold:
    """The trie for one ruleset and one set of parameters. `heed_sheriff` False skips the Sheriff's words."""

    def __init__(self, ruleset: Ruleset, parameters: Parameters, heed_sheriff: bool = True) -> None:
        self.ruleset, self.heed_sheriff = ruleset, heed_sheriff
        self.roles = tuple(role.name for role in ruleset.cast)
        self.classes = [role_class(role) for role in ruleset.cast]
        self.names, self.players = ruleset.names, ruleset.players
        self.tables = {name: _spread(t, name, self.classes) for name, t in parameters.tables.items()}
        pairs = [(name, t) for name, t in self.tables.items() if t.ndim == 4]
        # As (actor's role, contexts × outcomes, target's role), to take one statement's cells at once.
        self.pairs = {n: t.transpose(2, 0, 1, 3).reshape(t.shape[2], -1, t.shape[3]) for n, t in pairs}
        poison = any(duty.kind == "poison" for role in ruleset.cast for duty in role.duties)
        self.spared = not (poison or ruleset.wolves_may_target_pack or ruleset.wolves_may_target_self)
        self.tested_at_dawn = "departure" not in ruleset.due
        """Whether the win test comes with the announcement of the dead, before anybody is asked anything."""
        self.size = 0
        self.root = self._root()

    def _root(self) -> Node:
        n, r = self.players, len(self.roles)
        root = Node.__new__(Node)
        root.event, root.after, root.marks = None, {}, ()
        root.weights = np.zeros((n, r, n, r), np.float32)
        root.facts = facts_of(self.ruleset)
        root.claims, root.reports, root.stances, root.today = (0,) * n, (), {}, ()
        root.contexts, root.lives, root.harmless = (0,) * n, (), 0
        return root

    def trim(self) -> None:
        """Start the trie afresh when it has grown too large (readings are the same either way)."""
        if self.size > _LIMIT:
            self.root, self.size = self._root(), 0

    def step(self, node: Node, event: Public, sink: list[Any] | None = None) -> Node:
        """The node after `event`."""
        new = node.child(event)
        new.facts = node.facts.then(event)
        match event:
            case Said():
                self._said(node, new, event, sink)
            case Voted():
                self._voted(node, new, event, sink)
            case Shot(seat, target):
                new.marks = ((seat, 9), (target, 3))
            case DayBroke():
                self._dawn(node, new, event, sink)
            case NightFell(round):
                if round > 1:
                    new.lives = (*node.lives, new.facts.alive)
            case Revealed(seat):
                new.marks = ((seat, 9),)
            case VoteCounted() | SheriffNamed():
                pass  # what they say is among the facts
            case _:
                assert_never(event)
        self.size += 1
        return new

    def goes_on(self, node: Node) -> Node:
        """The node once it is known that no side has won: where that is tested after the dead's last duties,
        the day's talk tells it first.
        """
        if self.tested_at_dawn or node.lives[-1:] == (node.facts.alive,):
            return node
        if "goes on" not in node.after:
            new = node.after["goes on"] = node.child(node.event)
            new.lives = (*node.lives, node.facts.alive)
        return node.after["goes on"]

    # -- gaps: what a reflective player no longer has before it ----------------------------------

    def bereft(self, node: Node, gone: int) -> Node:
        """The node with those of the mask out of the game, it is not known how."""
        if not gone:
            return node
        key = f"gone {gone}"
        if key not in node.after:
            new = node.after[key] = node.child(node.event)
            new.facts = node.facts._replace(alive=node.facts.alive & ~gone)
        return node.after[key]

    def dawned(self, node: Node, day: int) -> Node:
        """The node after a dawn of which nothing is known but that it came."""
        key = f"day {day}"
        if key not in node.after:
            new = node.after[key] = node.child(node.event)
            new.facts, new.today = node.facts._replace(round=day, phase="day"), ()
            new.contexts = _contexts(new)
        return node.after[key]

    def resumed(self, node: Node, day: int, phase: str, alive: tuple[int, ...], lives: bool) -> Node:
        """The node at the time of asking: who lives now is known, whatever was missed in between.

        That the game goes on is known for now alone (and not in one's last words).
        """
        if phase != "night" and node.facts.round < day:
            node = self.dawned(node, day)
        mask = only(*alive)
        goes_on = lives and (phase in ("discussion", "voting") or (phase == "night" and day > 1))
        key = f"now {mask} {goes_on}"
        if key not in node.after:
            new = node.after[key] = node.child(node.event)
            new.facts, new.lives = node.facts._replace(alive=mask), (mask,) if goes_on else ()
        return node.after[key]

    # -- events -----------------------------------------------------------------------------

    def _said(self, old: Node, new: Node, event: Said, sink: list[Any] | None) -> None:
        a, alive = event.seat, old.facts.alive
        if not event.text or (not self.heed_sheriff and a == old.facts.sheriff):
            return
        acts = [act for act in read(event.text, self.names, a) if act.speaker == a]
        stances, exact = self._stances(acts, new)
        marks: dict[int, int] = {}
        weights = new.weights = old.weights.copy()
        claim = claimed(acts)
        if claim and claim != old.claims[a]:
            new.claims = (*old.claims[:a], claim, *old.claims[a + 1 :])
            marks[a] = 7 if claim < AS_PLAIN else 2
        else:
            claim = 0
        if not old.claims[a] or claim:
            others = any(c == AS_SEER for s, c in enumerate(old.claims) if s != a)
            pressed = old.contexts[a] in (1, 2, 5)
            where = others * 4 + (old.facts.round > 1) * 2 + pressed
            self._unary(weights, a, "claim", where, claim, sink)
        outcomes = [IGNORED] * self.players
        kept = dict(old.stances)
        for b in range(self.players):
            stance = stances.get(b, NONE)
            living = alive >> b & 1
            if b == a or not (living or stance in (SAW_WOLF, SAW_GOOD)):
                continue
            if stance == NONE or kept.get((a, b)) != stance:
                outcomes[b] = stance
            if stance:
                kept[a, b] = stance
                marks[b] = (0, 9, 9, 4, 3, 1, 3, 2, 1, 3)[stance]
                marks.setdefault(a, 3 if stance in HOSTILE else 1)
        self._pair(weights, a, "say", old.contexts, outcomes, sink)
        for b, role in exact.items():
            if role in self.roles and SEER in self.classes:
                self._exact(weights, a, b, self.roles.index(role))
        new.stances = kept
        new.today = (*old.today, *((a, b, stance) for b, stance in stances.items() if b != a))
        new.marks = tuple(marks.items())
        new.contexts = _contexts(new)

    def _stances(self, acts: list[Act], new: Node) -> tuple[dict[int, int], dict[int, str]]:
        """The statement's stance to each player it speaks of, and the exact roles it reports."""
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

    def _voted(self, old: Node, new: Node, event: Voted, sink: list[Any] | None) -> None:
        a, alive = event.voter, old.facts.alive
        outcomes = [
            IGNORED if b == a or not alive >> b & 1 else int(b == event.target) for b in range(self.players)
        ]
        weights = new.weights = old.weights.copy()
        table = "vote" if event.what == "eliminate" else "elect"
        self._pair(weights, a, table, old.contexts, outcomes, sink)
        new.marks = ((a, 2),) if event.target is None else ((a, 2), (event.target, 2))

    def _dawn(self, old: Node, new: Node, event: DayBroke, sink: list[Any] | None) -> None:
        new.today = ()
        if event.deaths:
            weights = new.weights = old.weights.copy()
            for b in range(self.players):
                if old.facts.alive >> b & 1:
                    self._unary(weights, b, "die", old.contexts[b], int(b in event.deaths), sink)
            if self.spared:
                new.harmless |= only(*event.deaths)
        if self.tested_at_dawn:
            new.lives = (*old.lives, new.facts.alive)
        new.marks = tuple((b, 3) for b in event.deaths)
        new.contexts = _contexts(new)

    # -- tables -----------------------------------------------------------------------------

    def _pair(
        self, weights: WorldFloats, a: int, table: str, contexts: tuple[int, ...], outcomes: list[int],
        sink: list[Any] | None,
    ) -> None:  # fmt: skip
        kinds = self.tables[table].shape[1]
        cells = [kinds * where + what % kinds for where, what in zip(contexts, outcomes, strict=True)]
        weights[a] += self.pairs[table].take(cells, axis=1)
        if sink is not None:
            sink.extend(
                (table, contexts[b], outcome, a, b)
                for b, outcome in enumerate(outcomes)
                if outcome != IGNORED
            )

    def _unary(
        self, weights: WorldFloats, a: int, table: str, context: int, outcome: int, sink: list[Any] | None
    ) -> None:
        n, r = self.players, len(self.roles)
        first, step = a * (r * n * r) + a * r, n * r + 1  # of the diagonal of weights[a, :, a, :]
        weights.reshape(-1)[first : first + r * step : step] += self.tables[table][context, outcome]
        if sink is not None:
            sink.append((table, context, outcome, a, None))

    def _exact(self, weights: WorldFloats, a: int, b: int, role: int) -> None:
        """Where `a` is the Seer, `b` has the reported role (whether it is a wolf: see the table)."""
        for seer, one in enumerate(self.classes):
            if one == SEER:
                for other, kind in enumerate(self.classes):
                    if other != role and kind != WOLF:
                        weights[a, seer, b, other] += MISREPORT


def _spread(table: Any, name: str, classes: list[int]) -> WorldFloats:
    """A class table spread over a cast's roles, with a last outcome of zeros for `IGNORED`."""
    wide = table[:, :, classes]
    if name not in ("claim", "die"):
        wide = wide[:, :, :, classes]
    zeros = np.zeros((wide.shape[0], 1, *wide.shape[2:]), wide.dtype)
    out: WorldFloats = np.concatenate([wide, zeros], axis=1).astype(np.float32)
    return out
