"""A call: one request to a model and what came of it, whoever asked. Answered live, or from a file.

A game, a judge and whatever else asks models have a `File` each. It knows a call by the request's key; the
hash of the request is only a check. A call that is on file is never made again, and a request that no longer
fits the one on file stops its asker with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, Protocol

from ..errors import CassetteMismatch, ModelError, NotFiled
from .base import Model, Request, Response


@dataclass(frozen=True, slots=True)
class Filed:
    """A call on file: hash of the request and the response that came."""

    request: str
    response: Response


class File(Protocol):
    """Keeps the calls of one asker. `put` returns once the call is safe (committed)."""

    def get(self, request: Request) -> Filed | None:
        """The call on file under the request's key, if any."""
        ...

    def note(self, request: Request, model: Model, on_its_way: bool) -> None:
        """Keep a note that the request is on its way, for whoever asks after a kill, until the call is put on
        file; or drop it, where nothing has come of it.
        """
        ...

    def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Put a call on file. digest: the request's hash."""
        ...


class NoFile:
    """Keeps nothing: for calls that nobody will read again."""

    def get(self, request: Request) -> Filed | None:
        """Nothing is ever on file."""
        return None

    def note(self, request: Request, model: Model, on_its_way: bool) -> None:
        """Nobody asks afterwards."""

    def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Forget it."""


NO_FILE = NoFile()
_note: ContextVar[Callable[[bool], None]] = ContextVar("note", default=lambda on_its_way: None)


def on_its_way() -> None:
    """A model behind a server tells that the request of the call that it makes goes out now."""
    _note.get()(True)


def came_to_nothing() -> None:
    """It tells that no answer has come: the call waits, or has failed."""
    _note.get()(False)


class Cassette(NoFile):
    """Plays calls back and makes none: what is not on file raises NotFiled."""

    def __init__(self, filed: Mapping[str, Filed]) -> None:
        self._filed = filed

    def get(self, request: Request) -> Filed:
        """The call on file."""
        if request.key not in self._filed:
            raise NotFiled(f"call {request.key}: not on file, so it cannot be played back")
        return self._filed[request.key]

    def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
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
    if response.text.isascii():
        return response
    return response._replace(text=response.text.encode("utf-8", "replace").decode())


async def answer(file: File, model: Model | None, request: Request) -> tuple[str, Response]:
    """The request's hash, and the response to it: the one on file, or the model's, put on file.

    Raises CassetteMismatch when the request differs from the one on file, ModelError without a model, and
    whatever the model raises.
    """
    if model is None:
        raise ModelError(
            f"call {request.key}: whoever makes it was given no model; an agent of your own that asks one "
            "has asks_model = True in its class"
        )
    digest = request.digest(model.typed)
    filed = file.get(request)
    if filed is not None:
        if filed.request != digest:
            raise CassetteMismatch(
                f"call {request.key}: the request differs from the recorded one (another version, recipe or "
                "prompt, or an agent of your own whose code has changed); use what made the run, or start a "
                "new run"
            )
        return digest, filed.response
    before = _note.set(partial(file.note, request, model))
    try:
        response = _storable(await model.generate(request))
    finally:
        _note.reset(before)
    file.put(request, digest, response, model)
    return digest, response
