"""A person at the table: an agent whose replies come from outside (002 §3.3, 004 §E.7).

A person gets the same information and the same asks as every player, and answers through the seat's model
(`models.person`). An answer that is too late is an unusable reply, and the rules name a stand-in for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..rules import PASS, Ask, View
from ..text.notes import StoodIn
from ..text.people import ANSWER, ASKED_ALREADY, PersonAnswer, decode_answer, poll_of
from ..text.probes import Opinion, opinion_asked
from ..text.questions import Decide, Question
from .base import IO, Invalid, Reply
from .language import LanguageAgent
from .memory import remember, situation
from .recipes import recipe


class Person:
    """See the module. person: a name or a number that a study gives; "" outside studies. stand_in: plays for
    a person who has left, at tables that declare it.
    """

    instant = True  # it is the model that waits
    stand_in = LanguageAgent(recipe("vanilla"))

    def __init__(self, person: str = "") -> None:
        self.person = person

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Person) and self.person == other.person

    def __hash__(self) -> int:
        return hash(self.person)

    def describe(self) -> dict[str, Any]:
        """For the record's header."""
        return {"recipe": "person", **({"person": self.person} if self.person else {})}

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """The person's answer. People are not interviewed, since that poll is about how models reason. They
        do not answer repeated polls either.
        """
        if ask.kind == "interview":
            return Reply(Invalid("people are not interviewed"))
        if poll_of(ask) not in ("", "straw"):
            return Reply(Invalid(ASKED_ALREADY))
        memory = remember(view, prune=False)
        others = tuple(seat for seat in memory.alive if seat != memory.seat)
        opinion = opinion_asked(ask)
        task = Decide(ask) if opinion is None else opinion.task(ask, others, view.ruleset)
        response = await io.generate(ANSWER, Question(situation(view, memory, ask, "append"), task))
        answer = decode_answer(response.text)
        if answer is None:
            return Reply(Invalid("what was kept of the answer cannot be read"))
        if answer.stand_in and opinion is None and not poll_of(ask):
            reply = await self.stand_in.reply(view, ask, io)
            return replace(reply, notes=(*reply.notes, (ANSWER, StoodIn())))
        if answer.missing is not None:
            return Reply(Invalid(f"the person gave no answer: {answer.missing}"))
        if opinion is not None:
            return _judged(answer, ask, opinion, others, view)
        action = answer.action(ask, view.ruleset)
        if action is None:
            return Reply(Invalid("the answer is none of the options"))
        return Reply(action, salt=answer.salt)


def _judged(answer: PersonAnswer, ask: Ask, opinion: Opinion, others: tuple[int, ...], view: View) -> Reply:
    given, choices = opinion.given(answer) or {}, opinion.choices(view.ruleset)
    judged = {seat: given.get(view.ruleset.names[seat]) for seat in others}
    if not all(each in choices for each in judged.values()):
        return Reply(Invalid(opinion.missing))
    return Reply(PASS, ((ask.kind, opinion.noted(judged)),))
