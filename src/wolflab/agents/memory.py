"""Memory: a fold over one seat's view. What it remembers can always be computed again from the record.

The information record of 002 §3.1 and 004 §4.1: facts, and the others' statements split by how far
their speaker is believed. Nothing here asks a model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..rules import (
    Ask,
    DayBroke,
    Dealt,
    NightFell,
    PackMet,
    Said,
    SheriffNamed,
    View,
    VoteCounted,
)
from ..text.notes import Belief, Deduced
from ..text.questions import Layout, Line, Situation


@dataclass(frozen=True, slots=True)
class Memory:
    """What a seat knows: who it is, who lives, its lines, and its latest belief about each player.

    facts and statements are in order of happening, `Line.number` still 0. Statements that its last
    final deduction did not cite are gone (002 §3.1). `judged` is the number of events it had seen at
    its last deduction: statements from there on are not yet classified.
    """

    seat: int
    role: str
    pack: tuple[int, ...]
    round: int
    alive: tuple[int, ...]
    sheriff: int | None
    facts: tuple[Line, ...]
    statements: tuple[Line, ...]
    beliefs: dict[int, Belief]
    judged: int


def remember(view: View, prune: bool = True) -> Memory:
    """Fold a view into memory. `prune=False` keeps every statement."""
    seat, role, pack = view.seat, "", ()
    alive = set(range(view.ruleset.players))
    sheriff: int | None = None
    round, phase = 0, "setup"
    facts: list[Line] = []
    statements: list[Line] = []
    for position, event in enumerate(view.events):
        kind = type(event)
        if kind is Said:
            line = Line(0, round, phase, event, position)
            (facts if event.seat == seat else statements).append(line)  # type: ignore[union-attr]
            continue
        if kind is NightFell:
            round, phase = event.round, "night"  # type: ignore[union-attr]
            continue
        if kind is DayBroke:
            phase = "day"
            alive.difference_update(event.deaths)  # type: ignore[union-attr]
        elif kind is VoteCounted:
            alive.discard(event.seat)  # type: ignore[union-attr, arg-type]
        elif kind is SheriffNamed:
            sheriff = event.seat  # type: ignore[union-attr]
        elif kind is Dealt:
            role = event.role  # type: ignore[union-attr]
        elif kind is PackMet:
            pack = event.seats  # type: ignore[union-attr]
        facts.append(Line(0, round, phase, event, position))
    beliefs, judged, kept = _beliefs(view, prune)
    if kept is not None:
        cut, cited = kept
        statements = [line for line in statements if line.position >= cut or line.position in cited]
    return Memory(
        seat, role, pack, round, tuple(sorted(alive)), sheriff, tuple(facts), tuple(statements), beliefs, judged
    )


def _beliefs(view: View, prune: bool) -> tuple[dict[int, Belief], int, tuple[int, set[int]] | None]:
    """Latest belief about each player; when it was formed; what the last final deduction keeps.

    A final deduction without any evidence prunes nothing (facts §1.4 item 11).
    """
    beliefs: dict[int, Belief] = {}
    judged = 0
    kept: tuple[int, set[int]] | None = None
    for note in view.notes:
        content = note.content
        if not isinstance(content, Deduced):
            continue
        beliefs.update((belief.target, belief) for belief in content.beliefs)
        judged = note.at
        if content.final and prune:
            cited = {position for belief in content.beliefs for position in belief.evidence}
            if cited:
                kept = note.at, cited if kept is None else (cited & kept[1]) | {p for p in cited if p >= kept[0]}
    return beliefs, judged, kept


def situation(
    view: View,
    memory: Memory,
    ask: Ask,
    layout: Layout,
    alpha: int | None = None,
    beliefs: dict[int, Belief] | None = None,
) -> Situation:
    """The situation in which `ask` meets this seat.

    alpha: reliability threshold α; statements of players with m > α are truths, of others (unrated too)
    falsehoods (002 Eq. 3, facts §1.4 items 7–8). None: statements are not split. `beliefs`: fresh ones,
    replacing memory's, under which everything heard so far is classified; without them what was heard
    since the last deduction is pending.
    """
    truths: list[Line] = []
    falsehoods: list[Line] = []
    pending: list[Line] = []
    judged = memory.judged if beliefs is None else len(view.events)
    current = memory.beliefs if beliefs is None else beliefs
    for line in memory.statements:
        if alpha is None or line.position >= judged:
            pending.append(line)
            continue
        belief = current.get(line.event.seat)  # type: ignore[union-attr]
        (truths if belief is not None and belief.reliability > alpha else falsehoods).append(line)
    blocks = _numbered((memory.facts, truths, falsehoods, pending), layout)
    return Situation(
        view.ruleset, view.seat, memory.role, memory.pack, ask.round, ask.phase, memory.alive, memory.sheriff, *blocks
    )


def _numbered(blocks: tuple[tuple[Line, ...] | list[Line], ...], layout: Layout) -> list[tuple[Line, ...]]:
    """Numbers through all blocks from 1 (paper), or each line's own place in time (append)."""
    if layout == "append":
        return [tuple(replace(line, number=line.position + 1) for line in block) for block in blocks]
    numbered = []
    number = 0
    for block in blocks:
        lines = []
        for line in block:
            number += 1
            lines.append(replace(line, number=number))
        numbered.append(tuple(lines))
    return numbered
