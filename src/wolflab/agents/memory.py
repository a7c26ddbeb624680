"""Memory: a fold over one seat's view, which can always be computed again from the record.

It is the information record of 002 §3.1 and 004 §4.1: facts, and the others' statements split by the
reliability of the speaker. Nothing here calls a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ..rules import EVERYONE, Ask, NightFell, Note, Said, View, facts_of
from ..text.notes import Belief, Deduced
from ..text.questions import Layout, Line, Situation


@dataclass(frozen=True, slots=True)
class Memory:
    """What a seat knows: its role, who lives, its lines, and its latest belief about each player.

    facts and statements are in order of time; `Line.number` is the place among all lines so far. Statements
    that the last final deduction did not cite are removed (002 §3.1). judged: the number of events before the
    last deduction; later statements are not classified yet. shared: position → the line with its number among
    public lines, the same in every view; below 0, its number among private lines. numbered: lines with other
    numbers, by position and number.
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
    shared: Mapping[int, Line]
    numbered: dict[tuple[int, int], Line]


class _Fold:
    """The state of the fold: lines and beliefs, the number of lines, how far the view was read, and the facts
    at that point.
    """

    def __init__(self, view: View) -> None:
        self.events = self.notes = 0
        self.now = facts_of(view.ruleset)
        self.facts: list[Line] = []
        self.statements: list[Line] = []
        self.beliefs: dict[int, Belief] = {}
        self.judged = self.lines = self.public = 0
        self.shared: dict[int, Line] = {}
        self.numbered: dict[tuple[int, int], Line] = {}

    def read(self, view: View, prune: bool) -> None:
        """Read the rest of the view. Notes are read in between: they remove statements before them."""
        for note in view.notes[self.notes :]:
            if isinstance(note.content, Deduced):
                self._events(view, note.at)
                self._deduced(note, prune)
        self.notes = len(view.notes)
        self._events(view, len(view.events))

    def _events(self, view: View, end: int) -> None:
        if end <= self.events:
            return
        for position, (event, now) in enumerate(view.with_facts(self.events, end), self.events):
            if isinstance(event, NightFell):
                continue  # every line has its round and phase
            self.lines += 1
            self.public += event.audience == EVERYONE
            line = Line(self.lines, now.round, now.phase, event, position)
            shared = self.public if event.audience == EVERYONE else self.public - self.lines
            self.shared[position] = Line(shared, now.round, now.phase, event, position)
            by_other = isinstance(event, Said) and event.seat != view.seat
            (self.statements if by_other else self.facts).append(line)
        self.events, self.now = end, now

    def _deduced(self, note: Note, prune: bool) -> None:
        """Take over a deduction's beliefs. A final one with evidence removes statements it did not cite."""
        content = note.content
        assert isinstance(content, Deduced)
        self.beliefs = self.beliefs | {belief.target: belief for belief in content.beliefs}
        self.judged = note.at
        if content.final and prune:
            cited = {position for belief in content.beliefs for position in belief.evidence}
            if cited:
                self.statements = [line for line in self.statements if line.position in cited]


def remember(view: View, prune: bool = True) -> Memory:
    """The memory of a view's seat. `prune=False` keeps every statement."""
    name = f"memory, prune={prune}"
    fold: _Fold | None = view.cache.get(name)
    if fold is None or fold.events > len(view.events) or fold.notes > len(view.notes):
        fold = view.cache[name] = _Fold(view)
    fold.read(view, prune)
    now = fold.now
    return Memory(
        view.seat,
        now.roles[view.seat],
        now.pack_of(view.seat),
        now.round,
        now.living,
        now.sheriff,
        tuple(fold.facts),
        tuple(fold.statements),
        fold.beliefs,
        fold.judged,
        fold.shared,
        fold.numbered,
    )


def situation(
    view: View,
    memory: Memory,
    ask: Ask,
    layout: Layout,
    alpha: int | None = None,
    beliefs: dict[int, Belief] | None = None,
) -> Situation:
    """The situation of this seat at `ask`.

    alpha: reliability threshold α; statements of players with m > α are truths, of all others falsehoods (002
    Eq. 3). None: statements are not split. beliefs: new ones that replace memory's; all statements are
    classified by them. Without them, statements since the last deduction are pending.
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
        belief = current.get(line.event.seat)  # type: ignore[union-attr, arg-type]
        (truths if belief is not None and belief.reliability > alpha else falsehoods).append(line)
    blocks = _numbered(memory, (memory.facts, truths, falsehoods, pending), layout)
    return Situation(
        view.ruleset,
        view.seat,
        memory.role,
        memory.pack,
        ask.round,
        ask.phase,
        memory.alive,
        memory.sheriff,
        *blocks,
    )


def _numbered(memory: Memory, blocks: tuple[Sequence[Line], ...], layout: Layout) -> list[tuple[Line, ...]]:
    """Lines with the numbers of a layout: their place in time (append, dialogue), that of `Memory.shared`
    (shared), or numbers from 1 through all blocks (paper).
    """
    if layout in ("append", "dialogue"):
        return [tuple(block) for block in blocks]
    if layout == "shared":
        return [tuple([memory.shared[line.position] for line in block]) for block in blocks]
    known, number = memory.numbered, 0
    numbered = []
    for block in blocks:
        lines = []
        for line in block:
            number += 1
            at = line.position, number
            lines.append(known.get(at) or known.setdefault(at, msgspec.structs.replace(line, number=number)))
        numbered.append(tuple(lines))
    return numbered
