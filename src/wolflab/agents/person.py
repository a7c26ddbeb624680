"""A person at the table: an agent whose replies come from outside (002 §3.3, 004 §E.7).

A person is told what every player may know, is asked what every player is asked, and answers through the
seat's model (`models.person`). An answer that did not come in time is a reply that cannot be used: the rules
name what stands in for it.
"""

from __future__ import annotations

from typing import Any

from ..rules import PASS, Ask, Say, View
from ..text.notes import Interviewed, Rated
from ..text.people import PersonAnswer, decode_answer
from ..text.questions import Decide, Interview, Question, Rate, Task
from .base import IO, Invalid, Reply
from .language import role_claimed
from .memory import Memory, remember, situation


class Person:
    """See the module. person: who it is, by a name or a number that a study gives; "" where nobody asks."""

    instant = True  # it is the model that waits

    def __init__(self, person: str = "") -> None:
        self.person = person

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Person) and self.person == other.person

    def __hash__(self) -> int:
        return hash(self.person)

    def describe(self) -> dict[str, Any]:
        """For the header."""
        return {"recipe": "person", **({"person": self.person} if self.person else {})}

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """What the person answers."""
        memory = remember(view, prune=False)
        task = _task(view, memory, ask)
        if task is None:
            return Reply(Invalid("the last statement claims no other role"))
        question = Question(situation(view, memory, ask, "append"), task)
        response = await io.generate("answer", question)
        answer = decode_answer(response.text)
        if answer is None:
            return Reply(Invalid("what was kept of the answer cannot be read"))
        if answer.missing is not None:
            return Reply(Invalid(f"the person gave no answer: {answer.missing}"))
        return _reply(answer, task, view)


def _task(view: View, memory: Memory, ask: Ask) -> Task | None:
    """What is put to the person; None where there is nothing to ask about."""
    if ask.kind == "rate":
        return Rate(ask, tuple(seat for seat in memory.alive if seat != memory.seat))
    if ask.kind == "interview":
        claimed = role_claimed(view, memory)
        return None if claimed is None else Interview(ask, claimed)
    return Decide(ask)


def _reply(answer: PersonAnswer, task: Task, view: View) -> Reply:
    names = view.ruleset.names
    match task:
        case Rate(_, targets):
            scores = {seat: (answer.rated or {}).get(names[seat], 0) for seat in targets}
            if not all(1 <= score <= 10 for score in scores.values()):
                return Reply(Invalid("not everybody was rated from 1 to 10"))
            return Reply(PASS, (("rate", Rated(scores)),))
        case Interview(_, claimed):
            text = answer.said or ""
            return Reply(Say(text), (("interview", Interviewed(claimed, text)),))
    action = answer.action(task.ask, view.ruleset)
    return Reply(Invalid("the answer is none of the options") if action is None else action)
