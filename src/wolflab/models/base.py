"""A model is one method: `async generate(request) → response` (as httpx's transports).

Each adapter imports its own library; nothing here imports any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar
from zlib import crc32

from annotated_types import Ge, Gt

from ..defaults import non_default_values
from ..errors import ModelError
from ..fields import Amount, FieldError, from_plain
from ..text.asking.prompts import corrected, messages, shared_ends
from ..text.digest import question_digest, words_digest
from ..text.questions import Question
from ..text.replies.finish import ANSWERED, Finish
from ..text.replies.parse import schema
from ..usage import Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters. None leaves the server's default.

    temperature: 0–2. max_tokens: of the reply. seed: passed on where the server takes one. top_logprobs: how
    many of the likeliest first tokens the response has, with their log-probabilities.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = None
    top_p: float | None = None
    seed: int | None = None
    top_logprobs: int | None = None


SAMPLED = ("temperature", "top_p", "max_tokens", "seed")
"""The fields of a `Sampling` that a model's settings may have too."""


@dataclass(frozen=True)
class WordSettings:
    """The settings of every model that reads words.

    temperature, top_p, max_tokens, seed: take precedence over what the recipe asks for. context: the window
    in tokens. It has no slots, so that settings may have several bases.
    """

    temperature: Amount | None = None
    top_p: Amount | None = None
    max_tokens: Annotated[int, Gt(0)] | None = None
    seed: Annotated[int, Ge(0)] | None = None
    context: Annotated[int, Gt(0)] | None = None

    def given(self, names: Iterable[str]) -> dict[str, Any]:
        """The settings among `names` that have a value."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def sampled(self, asked: Sampling) -> dict[str, Any]:
        """The values of `SAMPLED` by name: the model's settings, else those of the request, else None."""
        return {name: getattr(asked, name) for name in SAMPLED} | self.given(SAMPLED)


def seed_of_call(key: str) -> int:
    """The seed of a call without one. Repeats of a deal get different replies (002 §9.1), and a resumed call
    gets the same.
    """
    return crc32(key.encode()) >> 1


def settings_of(kind: type[T], who: str, settings: Mapping[str, Any]) -> T:
    """Settings from names and values as a file has them. `who` ("model 'x'") begins the ModelErrors."""
    try:
        return from_plain(kind, settings)
    except FieldError as wrong:
        raise ModelError(f"{who}, setting {wrong.place!r}: {wrong.words}") from None


_settings = lru_cache(256)(non_default_values)


class Chat(NamedTuple):
    """Plain words to a model. schema: the JSON schema that the reply is to follow; None: free text."""

    messages: tuple[tuple[str, str], ...]
    """(role, text) each; a role is "system", "user" or "assistant"."""
    schema: dict[str, Any] | None = None
    shared: tuple[int, ...] | None = None
    """The ends of the parts that other requests begin with as well, so that a server may cache them: in
    characters of all messages' texts, joined. None: where a system message ends. No part of a hash, since it
    does not change the request.
    """

    @property
    def ends(self) -> tuple[int, ...]:
        """`shared`, or its default."""
        if self.shared is not None:
            return self.shared
        return tuple(len(text) for role, text in self.messages[:1] if role == "system")


@dataclass(frozen=True)
class Request:
    """A request to a model: a typed question of the game, or plain words.

    corrections: (reply, what was wrong with it) for each failed attempt so far, shown to the model. key: what
    the call is for: (game, ask id, step path, attempt), joined by "|". A model that draws random
    numbers draws them from this key alone.
    """

    asked: Question | Chat
    key: str
    sampling: Sampling = Sampling()
    corrections: tuple[tuple[str, str], ...] = ()

    @property
    def question(self) -> Question:
        """The typed question; ModelError where the request is in plain words."""
        if isinstance(self.asked, Chat):
            raise ModelError(f"call {self.key}: it is in plain words, and a question of the game is needed")
        return self.asked

    @cached_property
    def words(self) -> Chat:
        """The request in words; a typed question is rendered."""
        if isinstance(self.asked, Chat):
            return self.asked._replace(messages=(*self.asked.messages, *corrected(self.corrections)))
        chat = messages(self.asked, self.corrections)
        return Chat(chat, schema(self.asked), shared_ends(self.asked, chat))

    @property
    def kind(self) -> str:
        """The kind of call (`call_kind`)."""
        return call_kind(self.key)

    def digest(self, typed: bool) -> str:
        """32 hex digits for the request. typed: for a model that answers typed questions without words."""
        settings = _settings(self.sampling)
        if typed and not isinstance(self.asked, Chat):
            return question_digest(self.asked, self.corrections, settings)
        return words_digest(self.words.messages, self.words.schema, settings)


def call_kind(key: str) -> str:
    """The kind of a call: the end of its key, without numbers."""
    return "".join(letter for letter in "|".join(key.split("|")[-3:]) if not letter.isdigit())


class Response(NamedTuple):
    """A model's response. finish: how the call ended. latency: seconds that the server took.

    prompt: the messages as sent, (role, text) each; empty where no prompt was rendered. tier: the server's
    service tier, if it names one that is not the usual one. likeliest: (token, log-probability) of the
    likeliest tokens at the reply's first word; empty where they were not asked for, or the server gives none.
    """

    text: str
    usage: Usage = Usage()
    finish: Finish = ANSWERED
    latency: float = 0.0
    prompt: tuple[tuple[str, str], ...] = ()
    likeliest: tuple[tuple[str, float], ...] = ()
    tier: str = ""


class Model(Protocol):
    """Anything that answers requests.

    name: as written in experiments ("openai/gpt-4o", "village"). instant: it never waits (no network), so the
    game may be played without an event loop. typed: it answers typed questions as they are, and reads no
    words. `generate` raises ServerError when the server keeps failing (the game is then unfinished, never
    guessed), ModelError for a request that can never work, BudgetExceeded when the budget is spent. A reply
    that is empty, cut or unusable is a Response too: the agent judges it.
    """

    name: str
    instant: bool
    typed: bool

    async def generate(self, request: Request) -> Response:
        """One reply; see the class."""
        ...

    def describe(self) -> dict[str, Any]:
        """Name, version and settings, for the record's header (no secrets, no hosts' private parts)."""
        ...

    async def close(self) -> None:
        """Close connections; the model may be used again."""
        ...


class WrappedModel:
    """Base class of a model that waits, wraps another one and has everything of it but `generate`."""

    instant = False

    def __init__(self, inner: Model) -> None:
        self.inner, self.name, self.typed = inner, inner.name, inner.typed

    def describe(self) -> dict[str, Any]:
        """See `Model`."""
        return self.inner.describe()

    async def close(self) -> None:
        """Close the model inside."""
        await self.inner.close()
