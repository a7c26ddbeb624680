"""The memory of a reflective player: all its messages, and the choice of those in its context (003 §3.3).

A seat's messages are its events and its own reflections in order: the short-term memory of 003. Freshness,
informativeness and retrieval choose among them. Nothing here calls a model; vectors come through `io`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..models.embedders.embedder import Vectors
from ..rules import Event, NightFell, Ruleset, Said, View, facts_of
from ..text.asking.sentences import line_sentence
from ..text.informative import OTHER, informativeness
from ..text.notes import Reflected
from ..text.questions import Line
from .base import IO


class Messages:
    """A seat's messages so far: `lines` in order, their `scores` and `vectors`. It is a fold over the
    view.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self.lines: list[Line] = []
        self.scores: list[int] = []
        self.vectors: Vectors | None = None
        self._events = self._notes = 0
        self._now = facts_of(ruleset)

    def read(self, view: View) -> None:
        """Read the rest of the view."""
        for note in view.notes[self._notes :]:
            if isinstance(note.content, Reflected):
                self._until(view, note.at)
                self._add(view, note.content)
        self._notes = len(view.notes)
        self._until(view, len(view.events))

    def _until(self, view: View, end: int) -> None:
        for event, now in view.with_facts(self._events, end):
            self._now = now
            if not isinstance(event, NightFell):  # every line has its round and phase
                self._add(view, event)
        self._events = max(self._events, end)

    def _add(self, view: View, event: Event | Reflected) -> None:
        place = len(self.lines)
        self.lines.append(Line(place + 1, self._now.round, self._now.phase, event, place))
        self.scores.append(informativeness(event, view.seat, view.ruleset))

    @property
    def embedded(self) -> int:
        """The number of messages that have vectors."""
        return 0 if self.vectors is None else len(self.vectors)

    def keep(self, vectors: Vectors) -> None:
        """Append the vectors of the next messages."""
        self.vectors = vectors if self.vectors is None else np.concatenate((self.vectors, vectors))

    def recent(self, k: int) -> list[Line]:
        """O: the last K messages."""
        return self.lines[-k:] if k else []

    def informative(self, n: int, recent: int) -> list[Line]:
        """V: those of the N highest-scoring messages (ties: the oldest first) that are older than the last K.

        Messages with the lowest score tell nothing by the rules, and are never among them.
        """
        places = [place for place, score in enumerate(self.scores) if score > OTHER]
        places.sort(key=lambda place: (-self.scores[place], place))
        older = len(self.lines) - recent
        return [self.lines[place] for place in sorted(places[:n]) if place < older]


def messages_seen(view: View) -> Messages:
    """The messages of a view's seat."""
    fold: Messages | None = view.cache.get("messages")
    if fold is None or fold._events > len(view.events) or fold._notes > len(view.notes):
        fold = view.cache["messages"] = Messages(view.ruleset)
    fold.read(view)
    return fold


async def retrieve(
    view: View, memory: Messages, questions: Sequence[str], top: int, io: IO
) -> list[list[Line]]:
    """U: for each question the `top` most similar messages, oldest first (003 §3.3).

    Ties go to the oldest. Messages with a cosine of 0 or less are not retrieved. Messages are embedded by
    their content alone, without the speaker.
    """
    if not questions or not top:
        return [[] for _ in questions]
    known = memory.embedded
    fresh = [_content(view, line) for line in memory.lines[known:]]
    vectors = await io.embed("messages", (*fresh, *questions))
    memory.keep(vectors[memory.embedded - known : len(fresh)])  # a simultaneous ask may have added some
    assert memory.vectors is not None
    asked, mine = vectors[len(fresh) :].astype(np.float64), memory.vectors.astype(np.float64)
    recalled = []
    # Row by row in double precision: equal vectors get equal numbers, wherever they stand.
    for row in np.einsum("qd,nd->qn", asked, mine):
        best = np.argsort(-row, kind="stable")[:top]
        recalled.append([memory.lines[place] for place in sorted(int(p) for p in best if row[p] > 0)])
    return recalled


def _content(view: View, line: Line) -> str:
    event = line.event
    if isinstance(event, Said | Reflected):
        return event.text
    return line_sentence(line, view.seat, view.ruleset)
