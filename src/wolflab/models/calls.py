"""A call: one request to a model and what came of it, whoever asked. Answered live, or from a file.

A game, a judge and whatever else asks models have a `CallCache` each. It knows a call by the request's key;
the hash of the request is only a check. A call that is on file is never made again, and a request that no
longer fits the one on file stops its asker with a sentence.
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
    """A call on file: hash of the request and the response that came."""

    request: str
    response: Response


@dataclass(frozen=True, slots=True)
class LostAttempt:
    """An attempt that brought no reply and that the server may charge for all the same.

    usage: what it took, or may have taken at most. possibly: whether it was charged is not known. unlimited:
    nothing limited the reply, so that it may have been more.
    """

    reason: FinishReason
    usage: Usage
    possibly: bool = True
    unlimited: bool = False


class CallCache(Protocol):
    """Keeps the calls of one asker. What is awaited returns once it is safe (committed)."""

    def get(self, request: Request) -> StoredCall | None:
        """The call on file under the request's key, if any."""
        ...

    def timeouts(self, request: Request) -> int:
        """How many attempts of the call are on file that did not come to an end in time."""
        ...

    async def sending(self, request: Request, model: Model, lost: LostAttempt) -> None:
        """Keep a note that the request goes out now, until its call is put on file or the attempt has failed.
        lost: what it is where the process is killed in between.
        """
        ...

    async def failed(self, request: Request, model: Model, lost: LostAttempt | None) -> None:
        """The attempt brought no reply. lost: what it may have cost all the same."""
        ...

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Put a call on file. digest: the request's hash."""
        ...


class NoCallCache:
    """Keeps nothing: for calls that nobody will read again."""

    def get(self, request: Request) -> StoredCall | None:
        """Nothing is ever on file."""
        return None

    def timeouts(self, request: Request) -> int:
        """Nor is an attempt."""
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
    """The call that is being made: where a model behind a server tells how its attempts fare."""

    file: CallCache = NO_CALL_CACHE
    request: Request | None = None
    model: Model | None = None

    @property
    def timeouts(self) -> int:
        """See `CallCache`."""
        return 0 if self.request is None else self.file.timeouts(self.request)

    async def sending(self, lost: LostAttempt) -> None:
        """See `CallCache`."""
        if self.request is not None and self.model is not None:
            await self.file.sending(self.request, self.model, lost)

    async def failed(self, lost: LostAttempt | None) -> None:
        """See `CallCache`."""
        if self.request is not None and self.model is not None:
            await self.file.failed(self.request, self.model, lost)


_open: ContextVar[OpenCall] = ContextVar("open", default=OpenCall())  # noqa: B039 (it is frozen)


def open_call() -> OpenCall:
    """The call that is being made now."""
    return _open.get()


class Cassette(NoCallCache):
    """Plays calls back and makes none: what is not on file raises NotFiled."""

    def __init__(self, filed: Mapping[str, StoredCall]) -> None:
        self._filed = filed

    def get(self, request: Request) -> StoredCall:
        """The call on file."""
        if request.key not in self._filed:
            raise NotStored(f"call {request.key}: not on file, so it cannot be played back")
        return self._filed[request.key]

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Never reached: `get` answers or raises."""
        raise AssertionError(f"a cassette was asked to record {request.key}")


class Silent:
    """Stands where a model stood while its calls are played back: a name and settings, and never a reply."""

    instant = True

    def __init__(
        self, name: str, typed: bool, described: Mapping[str, Any], instead_of: object = None
    ) -> None:
        self.name, self.typed, self._described, self._instead_of = name, typed, dict(described), instead_of

    @classmethod
    def of(cls, model: Model) -> Silent:
        """In place of that model. Of one whose weights are not here any more, only that is known."""
        try:
            described = model.describe()
        except ModelError as error:
            described = {"name": model.name, "not known": str(error)}
        return cls(model.name, model.typed, described, model)

    def __eq__(self, other: object) -> bool:
        """As the models: whether a player changes at an election is told by comparing them."""
        return isinstance(other, Silent) and self._instead_of == other._instead_of

    def __hash__(self) -> int:
        return hash(self.name)

    def describe(self) -> dict[str, Any]:
        """As the model."""
        return dict(self._described)

    async def generate(self, request: Request) -> Response:
        """Never reached: calls are on file."""
        raise AssertionError(f"{request.key} was asked while calls were played back")

    async def close(self) -> None:
        """Nothing to close."""


def response_digest(response: Response) -> str:
    """The hash by which a record knows a response's text."""
    return blake2b(response.text.encode(), digest_size=16).hexdigest()


def _storable(response: Response) -> Response:
    """Half a surrogate pair, which a server may send, is no text: it becomes a question mark."""
    text, finish = response.text, response.finish
    if text.isascii() and finish.words.isascii():
        return response
    words = finish.words.encode("utf-8", "replace").decode()
    text = text.encode("utf-8", "replace").decode()
    return response._replace(text=text, finish=finish._replace(words=words))


async def answer(file: CallCache, model: Model | None, request: Request) -> tuple[str, Response]:
    """The request's hash, and the response to it: the one on file, or the model's, put on file.

    Raises CassetteMismatch when the request differs from the one on file, ModelError without a model, and
    whatever the model raises.
    """
    if model is None:
        raise ModelError(
            f"call {request.key}: whoever makes it was given no model; an agent of your own that asks one "
            "has asks_model = True in its class"
        )
    if not model.instant:
        await throttle().wait()  # what is rendered now keeps nobody from hearing what has come
    digest = request.digest(model.typed)
    filed = file.get(request)
    if filed is not None:
        if filed.request not in (digest, FORGOTTEN):
            raise CassetteMismatch(
                f"call {request.key}: the request differs from the recorded one (another version, recipe or "
                "prompt, or an agent of your own whose code has changed); use what made the run, or start a "
                "new run"
            )
        return digest, filed.response
    before = _open.set(OpenCall(file, request, model))
    try:
        response = _storable(await model.generate(request))
    finally:
        _open.reset(before)
    await file.put(request, digest, response, model)
    return digest, response
