"""The instructions of a player that thinks ahead, proposes and chooses (004 §4.2, App. C.6; ReCon and Atomic,
004 §5.1): the words of an action (`acting`) in other forms.

What stays the same over the calls of one turn comes first, what differs last.
"""

from __future__ import annotations

from ...rules import Ask
from ..clean import clean
from ..intents import Intent, intent_in_words
from ..notes import Candidate
from ..questions import Choose, Decide, Plan, Propose, Question, Situation, Wording
from .acting import acting_form, closing_of, form_asked, reply_fields, request_to_act
from .sentences import a_role
from .templates import phrases, render_template
from .wording import moderator_request, number_in_words, pack_note, wants_reasoning, without_blank_lines


def strategic_instruction(question: Question, common: dict[str, str]) -> str:
    """The instruction of a plan, a proposal, a choice, or a decision that follows a plan or an intent.

    common: $time, $name and $a_role.
    """
    now, task, wording = question.situation, question.task, question.wording
    match task:
        case Plan():
            return _plan(now, task, wording, common)
        case Propose():
            return _propose(question, task, common)
        case Choose():
            return _choose(question, task, common)
        case Decide(ask):
            parts = [request_to_act(now, ask, wording, common), considered(now, task, wording)]
            fields = reply_fields(ask, now.ruleset, wording, wants_reasoning(task))
            form = form_asked(question, acting_form(ask), fields, closing_of(ask, now.ruleset, wording))
            return "\n".join([*parts, form])
    raise AssertionError(task)


def considered(now: Situation, task: Decide, wording: Wording) -> str:
    """The plan or the intent that a decision is to follow; empty for neither."""
    templates = phrases(f"{wording}/strategic", now.ruleset.wording)
    sentences = []
    if task.plan:
        sentences.append(templates["plan"].substitute(text=_quoted(task.plan)))
    if task.intent is not None:
        sentences.append(templates["intent"].substitute(intent=_intent(now, task.intent, wording)))
    return "\n".join(sentences)


def _intent(now: Situation, intent: Intent, wording: Wording) -> str:
    return phrases(f"{wording}/strategic", now.ruleset.wording)[intent.kind].substitute(
        worded=intent_in_words(intent, now.ruleset),
        name=now.ruleset.names[intent.seat] if intent.seat is not None else "nobody",
        a_role=a_role(intent.role or now.role),
    )


def _plan(now: Situation, task: Plan, wording: Wording, common: dict[str, str]) -> str:
    templates = phrases(f"{wording}/strategic", now.ruleset.wording)
    text = render_template(
        f"{wording}/plan",
        now.ruleset.wording,
        **common,
        request=moderator_request(now, task.ask),
        note=pack_note(now, task.ask.kind, wording),
        earlier=templates["plan_earlier"].substitute(text=_quoted(task.earlier)) if task.earlier else "",
        task=templates[f"plan_{task.perspective}"].template,
    )
    return without_blank_lines(text)


def _propose(question: Question, task: Propose, common: dict[str, str]) -> str:
    """A first candidate is asked for like an action, further ones by how they are to differ."""
    now, wording, ask = question.situation, question.wording, task.ask
    templates, name = phrases(f"{wording}/strategic", now.ruleset.wording), acting_form(ask)
    parts = [request_to_act(now, ask, wording, common)]
    if task.earlier:
        parts += [templates["earlier"].template, _listed(task.earlier, now, ask, wording)]
        differ = "differ" if task.count > 1 else "differ_one"
        parts.append(templates[differ].substitute(count=number_in_words(task.count)))
    elif task.count > 1:
        things = "statements" if ask.options is None else "actions"
        parts.append(templates[f"propose_{things}"].substitute(count=number_in_words(task.count)))
    close = closing_of(ask, now.ruleset, wording)
    if task.count > 1:
        entry = phrases(f"{wording}/phrases", now.ruleset.wording)["entries"]
        entries = entry.substitute(count=number_in_words(task.count))
        close, name = f"{entries} {close}", "candidates"
    form = form_asked(question, name, reply_fields(ask, now.ruleset, wording), close, task.count)
    return "\n".join([*parts, form])


def _choose(question: Question, task: Choose, common: dict[str, str]) -> str:
    now, wording = question.situation, question.wording
    templates, count = phrases(f"{wording}/phrases", now.ruleset.wording), len(task.candidates)
    fields = {
        "reasoning": templates["reply_reasoning"].template,
        "choice": templates["reply_choice"].substitute(count=count),
    }
    return without_blank_lines(
        render_template(
            f"{wording}/choose",
            now.ruleset.wording,
            **common,
            request=moderator_request(now, task.ask, with_options=False),
            note=pack_note(now, task.ask.kind, wording),
            candidates=_listed(task.candidates, now, task.ask, wording),
            form=form_asked(question, "choice", fields, templates["close"].template),
        )
    )


def _listed(candidates: tuple[Candidate, ...], now: Situation, ask: Ask, wording: Wording) -> str:
    """Candidates by number, each with its reasoning; a statement stands in quotation marks."""
    templates = phrases(f"{wording}/strategic", now.ruleset.wording)
    lines = []
    for number, candidate in enumerate(candidates, 1):
        action = _quoted(candidate.action)
        if ask.options is None:
            action = f'"{action}"' if action else templates["silence"].template
        lines.append(templates["candidate"].substitute(number=number, action=action))
        if candidate.reasoning:
            lines.append(templates["why"].substitute(text=_quoted(candidate.reasoning)))
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """`text` as it may stand between quotation marks: one cleaned line, not cut."""
    return clean(text, max(len(text), 16))
