"""Checks whether a model can play, with the requests and the parser of a game.

A game is rehearsed on the built-in player, and some of its requests are sent to the model: with the rules in
a system message, with a schema, in a long prompt, and in a second turn that corrects the model's reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import ModelError
from ...models.base import Model, Request, Response
from ...models.catalog import BUILT_IN, check_model, listing, name_and_settings, resolve
from ...models.servers.addresses import openai_address
from ...models.servers.keys import public_url
from ...text.replies.parse import parse
from ...text.replies.parsed import Problem
from ..plans.loading import build
from ..plans.overrides import model_given
from .rehearsal import rehearse

ASKED: Mapping[str, str] = {
    "/vote/|act|": "a vote",
    "/statement/|act|": "a statement",
    "/vote/|deduce|": "a judgement of the others",
}
"""Kind of a request (`Request.kind`) → what it asks for."""
_AGAIN = "this is a test of a second turn: give the same reply once more, in the form that was asked for"


class CheckedReply(NamedTuple):
    """One reply. asked: the kind of request. response: None without one. why: what is wrong; "" for a usable
    reply.
    """

    asked: str
    response: Response | None
    why: str

    @property
    def began(self) -> str:
        """The start of the reply."""
        return "" if self.response is None else " ".join(self.response.text.split())[:120]


class CheckedModel(NamedTuple):
    """The result of a check. adaptations: changes of requests that the server made necessary. where: the
    server's address; "" for a model of this process. stood_in: `OPENAI_BASE_URL` names that address.
    """

    name: str
    replies: Sequence[CheckedReply]
    adaptations: Sequence[str]
    where: str = ""
    stood_in: bool = False

    @property
    def usable(self) -> bool:
        """Whether all replies are usable."""
        return all(not reply.why for reply in self.replies)


async def check_in_a_game(given: str, settings: Sequence[str] = ()) -> CheckedModel:
    """Check the model of a flag (`model_given`). settings: as for `--set`.

    Raises ModelError if it cannot be reached.
    """
    spec = model_given(given, settings)
    model = resolve(spec)
    if name_and_settings(spec)[0] == BUILT_IN:
        return CheckedModel(model.name, (), ())
    try:
        await check_model(model)
        replies = await _asked(model)
        endpoint = getattr(model, "endpoint", None)
        where = "" if endpoint is None else endpoint.base_url
        stood_in = bool(where) and where == (openai_address() or "").rstrip("/")
        adaptations = tuple(getattr(model, "adaptations", ()))
        return CheckedModel(model.name, replies, adaptations, public_url(where), stood_in)
    finally:
        await model.close()


def requests_of_a_game() -> dict[str, Request]:
    """Kind of request → the longest one of that kind in a rehearsed game."""
    player = {"model": {"model": "custom/rehearsed", "base_url": "http://localhost"}, "recipe": "deductive"}
    data: dict[str, Any] = {"name": "check", "rules": "sheriff", "players": {"others": player}, "deals": 1}
    [requests] = rehearse(build(data), 1, kept=10_000).requests.values()
    alike = {kind: [request for request in requests if request.kind == kind] for kind in ASKED}
    return {ASKED[kind]: max(found, key=_length) for kind, found in alike.items() if found}


def _length(request: Request) -> int:
    return sum(len(text) for _, text in request.words.messages)


async def _asked(model: Model) -> list[CheckedReply]:
    requests = await asyncio.to_thread(requests_of_a_game)
    replies = [await _reply(model, asked, request) for asked, request in requests.items()]
    first = requests[replies[0].asked]
    before = "" if replies[0].response is None else replies[0].response.text
    second = Request(first.asked, f"{first.key}again", first.sampling, ((before, _AGAIN),))
    return [*replies, await _reply(model, f"{replies[0].asked}, in a second turn", second)]


async def _reply(model: Model, asked: str, request: Request) -> CheckedReply:
    try:
        response = await model.generate(request)
    except ModelError as error:
        why = str(error).removesuffix("; the run can be resumed")
        return CheckedReply(asked, None, why)
    read = parse(request.question, response.text, response.finish)
    why = read.reason if isinstance(read, Problem) and read.usable is None else ""
    return CheckedReply(asked, response, why)


__all__ = ["CheckedModel", "CheckedReply", "check_in_a_game", "listing", "requests_of_a_game"]
