"""A person in place of a model: the table shows the question and returns the answer.

So a person's words are stored, played back and verified as calls are, under the ask's key, with the seconds
that the person took by the server's clock.
"""

from __future__ import annotations

import secrets
from typing import Any, Protocol

import msgspec

from ..errors import ServerError
from ..rules import Ruleset
from ..text.people import ANSWER, TimedAnswer, encode_answer
from ..text.questions import Question
from ..text.replies.finish import ANSWERED, Finish, FinishReason
from .base import Model, Request, Response


class PeopleTable(Protocol):
    """A table for people: a terminal, a browser."""

    async def put(self, question: Question, key: str) -> TimedAnswer:
        """The answer of the person at the question's seat. key: what the call is for; the same after a
        restart. ServerError where nobody is there: the game is then unfinished and can be resumed.
        """
        ...


class PersonModel:
    """All people of one table. table: None where the game is only read or played back. stand_in: answers for
    a person who left, at a table that declares so.
    """

    name = "person"
    instant = False
    typed = True

    def __init__(self, table: PeopleTable | None, stand_in: Model | None = None) -> None:
        self.table = table
        self.stand_in = stand_in

    async def generate(self, request: Request) -> Response:
        """The person's answer, however long it takes."""
        question = request.question
        if self.stand_in is not None and request.key.split("|")[2] != ANSWER:
            return await self.stand_in.generate(request)
        if self.table is None:
            raise ServerError(f"{_named(question.situation.ruleset, question.situation.seat)} is not here")
        timed = await self.table.put(question, request.key)
        answer = timed.answer
        if answer.said:
            answer = msgspec.structs.replace(answer, salt=secrets.token_hex(16))
        finish = ANSWERED if answer.missing is None else Finish(FinishReason.EMPTY, answer.missing)
        return Response(encode_answer(answer), finish=finish, latency=timed.seconds)

    def describe(self) -> dict[str, Any]:
        """Only the name: the agent knows who sits where."""
        return {"name": self.name}

    async def close(self) -> None:
        """Nothing to close."""


def _named(ruleset: Ruleset, seat: int) -> str:
    return f"the person who plays {ruleset.names[seat]}"
