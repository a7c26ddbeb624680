"""A call: one request to a model and its response, whoever asked. Answered live, or from storage.

A game, a judge and whatever else asks models have a `CallCache` each. The request's key identifies a call;
the hash of the request is only a check. A stored call is never made again, and a request that no longer fits
the stored one stops its asker with a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

from ..errors import CassetteMismatch, ModelError, NotStored
from ..text.digest import FORGOTTEN
from ..text.replies.finish import FinishReason
from ..usage import Usage
from .base import Model, Request, Response
from .loop import throttle


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A stored call: the hash of the request, and the response. borrowed: it is of the game that this one
    forks from; it answers the same request, and no other.
    """

    request: str
    response: Response
    borrowed: bool = False


@dataclass(frozen=True, slots=True)
class LostAttempt:
    """An attempt without a reply that the server may charge for.

    usage: what it took, or the most it may have taken. possibly: it is not known whether it was charged.
    unlimited: nothing limited the reply, so that it may have been more.
    """

    reason: FinishReason
    usage: Usage
    possibly: bool = True
    unlimited: bool = False


class CallCache(Protocol):
    """Stores the calls of one asker. Its coroutines return once the data is committed."""

    def get(self, request: Request) -> StoredCall | None:
        """The stored call under the request's key, if any."""
        ...

    def timeouts(self, request: Request) -> int:
        """The number of stored attempts of the call that timed out."""
        ...

    async def sending(self, request: Request, model: Model, lost: LostAttempt) -> None:
        """Note that the request is being sent, until its call is stored or the attempt has failed.

        lost: what counts if the process is killed in between.
        """
        ...

    async def failed(self, request: Request, model: Model, lost: LostAttempt | None) -> None:
        """The attempt brought no reply. lost: what it may have cost."""
        ...

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Store a call. digest: the request's hash."""
        ...


class NoCallCache:
    """Stores nothing: for calls that nobody will read again."""

    def get(self, request: Request) -> StoredCall | None:
        """Nothing is ever stored."""
        return None

    def timeouts(self, request: Request) -> int:
        """No attempt is ever stored."""
        return 0

    async def sending(self, request: Request, model: Model, lost: LostAttempt) -> None:
        """Nobody asks afterwards."""

    async def failed(self, request: Request, model: Model, lost: LostAttempt | None) -> None:
        """Nobody asks afterwards."""

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Forget it."""


NO_CALL_CACHE = NoCallCache()


@dataclass(frozen=True, slots=True)
class OpenCall:
    """The call that is being made, to which a model behind a server reports its attempts."""

    cache: CallCache = NO_CALL_CACHE
    request: Request | None = None
    model: Model | None = None

    @property
    def timeouts(self) -> int:
        """See `CallCache`."""
        return 0 if self.request is None else self.cache.timeouts(self.request)

    async def sending(self, lost: LostAttempt) -> None:
        """See `CallCache`."""
        if self.request is not None and self.model is not None:
            await self.cache.sending(self.request, self.model, lost)

    async def failed(self, lost: LostAttempt | None) -> None:
        """See `CallCache`."""
        if self.request is not None and self.model is not None:
            await self.cache.failed(self.request, self.model, lost)


_open: ContextVar[OpenCall] = ContextVar("open", default=OpenCall())  # noqa: B039 (it is frozen)


def open_call() -> OpenCall:
    """The call that is being made now."""
    return _open.get()


class Cassette(NoCallCache):
    """Plays calls back and makes none: a call that is not stored raises NotStored."""

    def __init__(self, stored: Mapping[str, StoredCall]) -> None:
        self._stored = stored

    def get(self, request: Request) -> StoredCall:
        """The stored call."""
        if request.key not in self._stored:
            raise NotStored(f"call {request.key}: not stored, so it cannot be played back")
        return self._stored[request.key]

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Never reached: `get` answers or raises."""
        raise AssertionError(f"a cassette was asked to record {request.key}")


class PlayedBackModel:
    """Replaces a model while its calls are played back: it has name and settings, and never replies."""

    instant = True

    def __init__(
        self, name: str, typed: bool, described: Mapping[str, Any], instead_of: object = None
    ) -> None:
        self.name, self.typed, self._described, self._instead_of = name, typed, dict(described), instead_of

    @classmethod
    def of(cls, model: Model) -> PlayedBackModel:
        """The replacement of a model. If its weights are no longer here, that is all it knows of them."""
        try:
            described = model.describe()
        except ModelError as error:
            described = {"name": model.name, "not known": str(error)}
        return cls(model.name, model.typed, described, model)

    def __eq__(self, other: object) -> bool:
        """Equal as the models are: a player changes at an election if the models differ."""
        return isinstance(other, PlayedBackModel) and self._instead_of == other._instead_of

    def __hash__(self) -> int:
        return hash(self.name)

    def describe(self) -> dict[str, Any]:
        """As the model."""
        return dict(self._described)

    async def generate(self, request: Request) -> Response:
        """NotStored: only a fork's call gets here, if its parent's answers another request."""
        raise NotStored(f"call {request.key}: not stored, so it cannot be played back")

    async def close(self) -> None:
        """Nothing to close."""


def response_digest(response: Response) -> str:
    """The hash by which a record knows a response's text."""
    return blake2b(response.text.encode(), digest_size=16).hexdigest()


def storable(response: Response) -> Response:
    """The response without halves of surrogate pairs, which a server may send: they become question marks."""
    text, finish = response.text, response.finish
    if text.isascii() and finish.words.isascii():
        return response
    words = finish.words.encode("utf-8", "replace").decode()
    text = text.encode("utf-8", "replace").decode()
    return response._replace(text=text, finish=finish._replace(words=words))


async def answer(cache: CallCache, model: Model | None, request: Request) -> tuple[str, Response]:
    """The request's hash, and the response to it: the stored one, or the model's, which is then stored.

    Raises CassetteMismatch when the request differs from the stored one, ModelError without a model, and
    whatever the model raises.
    """
    if model is None:
        raise ModelError(
            f"call {request.key}: its caller has no model; an agent of your own that asks one needs "
            "asks_model = True in its class"
        )
    if not model.instant:
        await throttle().wait()  # rendering must not keep others from reading their replies
    digest = request.digest(model.typed)
    stored = cache.get(request)
    if stored is not None and (stored.request == digest or not stored.borrowed):
        if stored.request not in (digest, FORGOTTEN):
            raise CassetteMismatch(
                f"call {request.key}: the request differs from the recorded one (another version, recipe or "
                "prompt, or an agent of your own whose code has changed); use what made the run, or start a "
                "new run"
            )
        return digest, stored.response
    before = _open.set(OpenCall(cache, request, model))
    try:
        response = storable(await model.generate(request))
    finally:
        _open.reset(before)
    await cache.put(request, digest, response, model)
    return digest, response
