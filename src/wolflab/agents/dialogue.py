"""A dialogue that only grows: a seat's requests and replies, with which its next prompt begins.

Only usable replies are kept, and of several candidates the taken one. A probe's prompt has the dialogue, but
the probe is not added to it. So a game is one chat for each seat, as trainers of language models need it. The
events between two requests are in the view.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..rules import View
from ..text.asking.prompts import lasting_request
from ..text.notes import Content, Exchanged
from ..text.questions import Choose, Exchange, Interview, Propose, Question, Rate, Situation


def extends_dialogue(question: Question) -> bool:
    """Whether this request becomes part of the dialogue; candidates and probes do not."""
    return question.layout == "dialogue" and not isinstance(
        question.task, Propose | Choose | Rate | Interview
    )


def exchange_note(question: Question, reply: str) -> Exchanged:
    """The note with a request and its usable reply."""
    return Exchanged(lasting_request(question), reply.strip())


def history_of(view: View, notes: Sequence[tuple[str, Content]], now: Situation) -> tuple[Exchange, ...]:
    """All exchanges so far, also those of this turn (`notes`), each with the events before it."""
    past = [(note.at, note.content) for note in view.notes if isinstance(note.content, Exchanged)]
    past += [(len(view.events), content) for _, content in notes if isinstance(content, Exchanged)]
    history, shown, lines = [], 0, now.lines
    for at, content in past:
        fresh = tuple(line for line in lines if shown <= line.position < at)
        history.append(Exchange(fresh, content.asked, content.replied))
        shown = max(shown, at)
    return tuple(history)
