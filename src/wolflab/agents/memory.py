"""Memory: a fold over one seat's view. What it remembers can always be computed again from the record.

The information record of 002 §3.1 and 004 §4.1: facts, and the others' statements split by how far
their speaker is believed. Nothing here asks a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..rules import EVERYONE, Ask, NightFell, Note, Said, View, facts_of
from ..text.notes import Belief, Deduced
from ..text.questions import Layout, Line, Situation


@dataclass(frozen=True, slots=True)
class Memory:
    """What a seat knows: who it is, who lives, its lines, and its latest belief about each player.

    facts and statements are in order of happening, each `Line.number` its place among all lines that there
    were. Statements that its last final deduction did not cite are gone (002 §3.1), and their numbers with
    them. `judged` is the number of events it had seen at its last deduction: statements from there on are not
    yet classified. shared: by position, the line's place among what everybody knows, the same in every view;
    below 0, among what few know.
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
    shared: Mapping[int, int]


class _Fold:
    """The fold so far: lines and beliefs, how many lines there were, how much of the view has been read, and
    the facts by then.
    """

    def __init__(self, view: View) -> None:
        self.events = self.notes = 0
        self.now = facts_of(view.ruleset)
        self.facts: list[Line] = []
        self.statements: list[Line] = []
        self.beliefs: dict[int, Belief] = {}
        self.judged = self.lines = self.public = 0
        self.shared: dict[int, int] = {}

    def read(self, view: View, prune: bool) -> None:
        """Go on to the view's end. Notes are read first: they prune what was said before them."""
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
                continue  # its lines say when they happened
            self.lines += 1
            self.public += event.audience == EVERYONE
            self.shared[position] = self.public if event.audience == EVERYONE else self.public - self.lines
            line = Line(self.lines, now.round, now.phase, event, position)
            heard = isinstance(event, Said) and event.seat != view.seat
            (self.statements if heard else self.facts).append(line)
        self.events, self.now = end, now

    def _deduced(self, note: Note, prune: bool) -> None:
        """Take over a deduction; a final one with any evidence prunes."""
        content = note.content
        assert isinstance(content, Deduced)
        self.beliefs = self.beliefs | {belief.target: belief for belief in content.beliefs}
        self.judged = note.at
        if content.final and prune:
            cited = {position for belief in content.beliefs for position in belief.evidence}
            if cited:
                self.statements = [line for line in self.statements if line.position in cited]


def remember(view: View, prune: bool = True) -> Memory:
    """Fold a view into memory. `prune=False` keeps every statement."""
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
    )


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
    falsehoods (002 Eq. 3). None: statements are not split. `beliefs`: fresh ones,
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
        belief = current.get(line.event.seat)  # type: ignore[union-attr, arg-type]
        (truths if belief is not None and belief.reliability > alpha else falsehoods).append(line)
    blocks = _numbered((memory.facts, truths, falsehoods, pending), layout, memory.shared)
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


def _numbered(
    blocks: tuple[Sequence[Line], ...], layout: Layout, shared: Mapping[int, int]
) -> list[tuple[Line, ...]]:
    """Each line's own place in time (append, dialogue), the one that `Memory.shared` gives it (shared), or
    numbers through all blocks from 1 (paper).
    """
    if layout in ("append", "dialogue"):
        return [tuple(block) for block in blocks]
    if layout == "shared":
        return [tuple(_renumber(line, shared[line.position]) for line in block) for block in blocks]
    numbered = []
    number = 0
    for block in blocks:
        start, number = number + 1, number + len(block)
        numbered.append(tuple(_renumber(line, n) for n, line in enumerate(block, start)))
    return numbered


def _renumber(line: Line, number: int) -> Line:
    if line.number == number:
        return line
    return Line(number, line.round, line.phase, line.event, line.position)
