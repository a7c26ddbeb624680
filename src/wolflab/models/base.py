"""A model is one method: `async generate(request) → response` (as httpx's transports).

Each adapter imports its own library; nothing here imports any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..text.questions import Question


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample. None leaves the server's default.

    temperature: 0–2. max_tokens: of the reply. seed: passed on where the server takes one.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = None
    top_p: float | None = None
    seed: int | None = None


class Request(NamedTuple):
    """What is asked of a model.

    question: the typed question; adapters that need words call `text.prompts.messages(request.question,
    request.corrections)` and `text.replies.schema(request.question)`.
    corrections: (reply, what was wrong with it) for each failed attempt so far, shown to the model.
    key: what the call is for: (game, branch, ask id, step path, attempt), joined by "|". A model that
    draws random numbers draws them from this key alone.
    """

    question: Question
    key: str
    sampling: Sampling = Sampling()
    corrections: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the server counted them (0 where it did not), and its price in USD."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost + other.cost,
        )


class Response(NamedTuple):
    """What came back. `finish`: "stop", "length", "filter" or "refused"; `latency` in seconds.

    prompt: the messages as sent, (role, text) each; empty where no prompt was rendered.
    """

    text: str
    usage: Usage = Usage()
    finish: str = "stop"
    latency: float = 0.0
    prompt: tuple[tuple[str, str], ...] = ()


class Model(Protocol):
    """Anything that answers requests.

    name: as written in experiments ("openai/gpt-4o", "village"). instant: it never waits (no network),
    so the game may be played without an event loop.
    `generate` raises ServerError when the server keeps failing (the game is then unfinished, never
    guessed), ModelError for a request that can never work, BudgetExceeded when the budget is spent.
    A reply that is empty, cut or unusable is a Response all the same: judging it is the agent's work.
    """

    name: str
    instant: bool

    async def generate(self, request: Request) -> Response:
        """One reply; see the class."""
        ...

    def describe(self) -> dict[str, Any]:
        """Name, version and settings, for the record's header (no secrets, no hosts' private parts)."""
        ...

    async def close(self) -> None:
        """Give back connections; the model may be used again."""
        ...
