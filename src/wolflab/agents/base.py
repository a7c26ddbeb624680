"""The interface of agents: a player is a function of what it may know.

`async reply(view, ask, io) → Reply`. An agent keeps nothing else between turns; it remembers by notes. `io`
is its only way to models and chance; `match` provides it live or from the record.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from ..models.base import Response, Sampling
from ..models.embedders.embedder import Vectors
from ..rules import Action, Ask, Say, View
from ..text.notes import Content
from ..text.questions import Question

T = TypeVar("T")
Embedded = Literal["messages", "experience", "policy"]
"""The use of an embedder: 003 has one model for a player's messages and another for experience; 004's policy
reads observations and candidates with the embedder of its training."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """There is no usable reply. reason: why. `match` applies the ruleset's stand-in."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An agent's answer. `notes` are (step path, content) in the order in which they were written. salt: for
    a person's words, which the record seals.
    """

    action: Action | Invalid
    notes: tuple[tuple[str, Content], ...] = ()
    salt: str = field(default="", repr=False)


_WRITE = msgspec.json.Encoder()
_READ = msgspec.json.Decoder(tuple[str, tuple[tuple[str, Content], ...]])
"""The reason of an invalid reply, and the notes."""


def is_reply(given: object) -> bool:
    """Whether `given` is a well-formed reply, with fields of the right types. An illegal action is a reply
    too.
    """
    if not isinstance(given, Reply) or not isinstance(given.notes, tuple):
        return False
    if isinstance(given.action, Say) and not isinstance(given.action.text, str):
        return False
    said = given.action.reason if isinstance(given.action, Invalid) else ""
    if said == "" and not given.notes:
        return True
    try:  # as in a record, since the classes of notes do not check the types of their fields
        return bool(_READ.decode(_WRITE.encode((said, given.notes))) == (said, given.notes))
    except (msgspec.MsgspecError, TypeError, ValueError):
        return False


class IO(Protocol):
    """An agent's only way to models, embedders and chance, for one ask. Keys are completed by game and
    ask.
    """

    async def generate(
        self,
        step: str,
        question: Question,
        sampling: Sampling = ...,
        attempt: int = 0,
        corrections: tuple[tuple[str, str], ...] = (),
    ) -> Response:
        """Call the seat's model under the key (…, step, attempt)."""
        ...

    async def embed(self, what: Embedded, texts: Sequence[str]) -> Vectors:
        """The texts' vectors, float32 (n, d), by the seat's embedder for that use."""
        ...

    def draw(self, step: str, n: int) -> int:
        """A uniform integer in [0, n), keyed by step: the same for the same game, ask and step."""
        ...

    async def gather(self, calls: Iterable[Awaitable[T]]) -> list[T]:
        """Await independent calls together, results in order."""
        ...


class Agent(Protocol):
    """A player of a seat."""

    instant: bool
    """Whether it never waits, so that the game may be played without an event loop."""

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """The seat's answer to `ask`, from what it may know."""
        ...

    def describe(self) -> dict[str, Any]:
        """Recipe and model with their settings, for the record's header."""
        ...
