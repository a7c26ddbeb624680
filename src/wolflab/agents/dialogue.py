"""A dialogue that only grows: what a seat was asked and replied, as its next prompt goes on with them.

Kept are usable replies alone, and of several candidates the one taken; a probe hears the dialogue and leaves
no trace in it. So a game is, for each seat, one chat as trainers of language models take it. What happened
between two requests is not kept with them: it is in the view.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..rules import View
from ..text.asking.prompts import lasting_request
from ..text.notes import Content, Exchanged
from ..text.questions import Choose, Exchange, Interview, Propose, Question, Rate, Situation


def extends_dialogue(question: Question) -> bool:
    """Whether a dialogue goes on with this request: not with candidates nor with probes."""
    return question.layout == "dialogue" and not isinstance(
        question.task, Propose | Choose | Rate | Interview
    )


def exchange_note(question: Question, reply: str) -> Exchanged:
    """The note of a request and the reply that was taken."""
    return Exchanged(lasting_request(question), reply.strip())


def history_of(view: View, notes: Sequence[tuple[str, Content]], now: Situation) -> tuple[Exchange, ...]:
    """All exchanges so far, those of this turn (`notes`) too, each with what had happened before it."""
    past = [(note.at, note.content) for note in view.notes if isinstance(note.content, Exchanged)]
    past += [(len(view.events), content) for _, content in notes if isinstance(content, Exchanged)]
    history, told, lines = [], 0, now.lines
    for at, content in past:
        fresh = tuple(line for line in lines if told <= line.position < at)
        history.append(Exchange(fresh, content.asked, content.replied))
        told = max(told, at)
    return tuple(history)
