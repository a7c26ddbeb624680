"""Where calls are answered: live, or from what is already written down.

A `Desk` serves one game. It knows a call by its key (ask id, step, attempt) within the game; the hash
of the request is only a check. A call that is on file is never made again, and a request that no longer
fits the one on file stops the game with a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from ..errors import CassetteMismatch, ModelError
from ..models.base import Model, Request, Response


@dataclass(frozen=True, slots=True)
class Filed:
    """A call on file: hash of the request and the response that came."""

    request: str
    response: Response


class File(Protocol):
    """Keeps the calls of one game. `put` returns once the call is safe (committed)."""

    def get(self, request: Request) -> Filed | None:
        """The call on file under the request's key, if any."""
        ...

    def put(self, key: str, digest: str, request: Request, response: Response, model: Model) -> None:
        """Put a call on file."""
        ...


class NoFile:
    """Keeps nothing: for play whose calls nobody will read."""

    def get(self, request: Request) -> Filed | None:
        """Nothing is ever on file."""
        return None

    def put(self, key: str, digest: str, request: Request, response: Response, model: Model) -> None:
        """Forget it."""


NO_FILE = NoFile()


class Cassette:
    """Plays calls back and makes none: what is not on file raises CassetteMismatch."""

    def __init__(self, filed: Mapping[str, Filed]) -> None:
        self._filed = filed

    def get(self, request: Request) -> Filed:
        """The call on file."""
        if request.key not in self._filed:
            raise CassetteMismatch(
                f"call {request.key}: not on file, so the game cannot be played back without its model"
            )
        return self._filed[request.key]

    def put(self, key: str, digest: str, request: Request, response: Response, model: Model) -> None:
        """Never reached: `get` answers or raises."""
        raise AssertionError(f"a cassette was asked to record {key}")


def response_digest(response: Response) -> str:
    """The hash by which the record knows a response's text."""
    return blake2b(response.text.encode(), digest_size=16).hexdigest()


def _storable(response: Response) -> Response:
    """Half a surrogate pair, which a server may send, is no text: it becomes a question mark."""
    if response.text.isascii():
        return response
    return response._replace(text=response.text.encode("utf-8", "replace").decode())


async def answer(file: File, model: Model | None, request: Request) -> tuple[str, Response]:
    """The request's hash, and the response to it: the one on file, or the model's, put on file.

    Raises CassetteMismatch when the request differs from the one on file.
    """
    if model is None:
        raise ModelError(f"call {request.key}: this seat's agent asks a model, but was given none")
    digest = request.digest(model.typed)
    filed = file.get(request)
    if filed is not None:
        if filed.request != digest:
            raise CassetteMismatch(
                f"call {request.key}: the request differs from the recorded one (another version, recipe or "
                "prompt); use the version that made the run, or start a new run"
            )
        return digest, filed.response
    response = _storable(await model.generate(request))
    file.put(request.key, digest, request, response, model)
    return digest, response
