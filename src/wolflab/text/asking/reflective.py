"""The instructions of a reflective player's steps (003 Table 3), of its interview and of a judge.

Each component of the pipeline owns some parts of a prompt and no others, so that removing one changes
these parts alone (003 §4.4.1).
"""

from __future__ import annotations

from functools import lru_cache

from ...rules import ROLES
from ..questions import (
    Aids,
    AnswerQuestion,
    AskQuestions,
    ChooseQuestions,
    Decide,
    Extract,
    Interview,
    Judge,
    Pairs,
    Question,
    Reflect,
    Situation,
    Wording,
)
from .options import labels
from .sentences import a_role
from .strategic import considered
from .templates import phrases, render_template
from .wording import (
    moderator_request,
    number_in_words,
    numbered,
    pack_note,
    wants_reasoning,
    without_blank_lines,
)

_ALIKE = {"Doctor": "Guard"}
"""Roles without questions of their own that have another's duty; the others think as Villagers do."""


@lru_cache(64)
def questionnaire(role: str, wording: Wording) -> tuple[str, ...]:
    """The nine predefined questions of a role: six for all, three of its own (003 Table 2)."""
    written = phrases(f"{wording}/questionnaire")
    own = role if f"{role} 1" in written else _ALIKE.get(role, "Villager")
    if own == "Villager" and role in ROLES and ROLES[role].wolf:
        own = "Werewolf"
    questions = [phrase.template for key, phrase in written.items() if key.rsplit(" ", 1)[0] in ("all", own)]
    return tuple(questions)


def reflective_instruction(question: Question, common: dict[str, str]) -> str:
    """The instruction of any task but a plain decision, a deduction or a rating.

    common: $time, $name and $a_role.
    """
    now, task, wording = question.situation, question.task, question.wording
    match task:
        case Decide(_, Aids()):
            return _respond(now, task, wording, common)
        case Interview(_, claimed):
            return render_template("interview", **common, claimed=a_role(claimed))
        case Judge():
            return _judge(now, task, common)
        case ChooseQuestions() | AskQuestions() | AnswerQuestion() | Reflect() | Extract():
            return _step(now, task, wording, common)
    raise AssertionError(task)


def _step(
    now: Situation,
    task: ChooseQuestions | AskQuestions | AnswerQuestion | Reflect | Extract,
    wording: Wording,
    common: dict[str, str],
) -> str:
    templates = phrases(f"{wording}/reflective")
    asked = moderator_request(now, task.ask)
    match task:
        case ChooseQuestions(_, candidates, count):
            listing = "\n".join(f"{number}. {candidate}" for number, candidate in enumerate(candidates, 1))
            return render_template(
                f"{wording}/choose_questions",
                **common,
                request=asked,
                questions=listing,
                count=number_in_words(count),
            )
        case AskQuestions(_, chosen, count):
            listing = "\n".join([templates["chosen"].template, *(f"- {question}" for question in chosen)])
            text = render_template(
                f"{wording}/ask_questions",
                **common,
                request=asked,
                chosen=listing if chosen else "",
                more=templates["more" if chosen else "more_free"].template,
                count=number_in_words(count),
                questions="question" if count == 1 else "questions",
            )
        case AnswerQuestion(_, question, messages, earlier):
            heading = templates["messages"].substitute(count=number_in_words(len(messages)))
            text = render_template(
                f"{wording}/answer",
                **common,
                request=asked,
                question=question,
                earlier=_pairs(templates["earlier"].template, earlier),
                messages=f"{heading}\n{numbered(now, messages)}" if messages else "",
            )
        case Reflect(_, answers):
            text = render_template(
                f"{wording}/reflect",
                **common,
                request=asked,
                role=now.role,
                in_heart=" and the following in heart" if answers else "",
                answers=_pairs(templates["reflect_answers"].template, answers),
            )
        case Extract(_, reflection, bad, good):
            listing = "\n".join(f"- {response}" for response in good)
            text = render_template(
                f"{wording}/extract", **common, request=asked, reflection=reflection, bad=bad, good=listing
            )
    return without_blank_lines(text)


def _pairs(heading: str, pairs: Pairs) -> str:
    if not pairs:
        return ""
    return "\n".join([heading, *(f"- {question} {answer}" for question, answer in pairs)])


def _respond(now: Situation, task: Decide, wording: Wording, common: dict[str, str]) -> str:
    ask, aids, thinks = task.ask, task.aids or Aids(), wants_reasoning(task)
    templates = phrases(f"{wording}/reflective")
    fields = [templates["field_reasoning"].template] if thinks else []
    if ask.options is None:
        fields.append(templates["field_statement"].template)
    else:
        fields.append(templates["field_action"].substitute(options=", ".join(labels(ask, now.ruleset))))
    values = {
        **common,
        "request": moderator_request(now, ask),
        "note": pack_note(now, ask.kind, wording),
        "answers": _pairs(templates["answers"].template, aids.answers),
        "reflection": templates["reflection"].substitute(text=aids.reflection) if aids.reflection else "",
        "suggestion": templates["suggestion"].substitute(text=aids.suggestion) if aids.suggestion else "",
        "think": templates["think" if thinks else "no_think"].template,
        "considered": considered(now, task, wording),
    }
    if wording == "own":
        values["fields"] = "\n".join(fields)
    return without_blank_lines(render_template(f"{wording}/respond", **values))


def _judge(now: Situation, task: Judge, common: dict[str, str]) -> str:
    fields = ",\n".join(f'"{name}": "yes or no"' for name, _ in task.criteria)
    criteria = "\n".join(f"- {name}: {definition}" for name, definition in task.criteria)
    asked = moderator_request(now, task.ask)
    return render_template(
        "judge", **common, request=asked, reply=task.reply, criteria=criteria, fields=fields
    )
