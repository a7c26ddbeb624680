"""The instructions of a reflective player's steps (003 Table 3), of its interview and of a judge.

Each component of the pipeline owns some parts of a prompt and no others, so that removing one changes
these parts alone (003 §4.4.1).
"""

from __future__ import annotations

from functools import lru_cache

from ...rules import ROLES, Ruleset
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
from .acting import closing_of, reply_fields, reply_form, skeleton
from .sentences import a_role, listed
from .strategic_prompts import considered
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
def questionnaire(role: str, wording: Wording, ruleset: Ruleset) -> tuple[str, ...]:
    """The nine predefined questions of a role: six for all, three of its own (003 Table 2).

    Of the paper's special roles, those of this game are named.
    """
    written = phrases(f"{wording}/questionnaire", 0)
    own = role if f"{role} 1" in written else _ALIKE.get(role, "Villager")
    if own == "Villager" and role in ROLES and ROLES[role].wolf:
        own = "Werewolf"
    special = [name.lower() for name in ("Seer", "Witch", "Guard") if ruleset.count(name)]
    such_as = f" such as {listed(special)}" if special else ""
    return tuple(
        phrase.substitute(such_as=such_as)
        for key, phrase in written.items()
        if key.rsplit(" ", 1)[0] in ("all", own)
    )


def reflective_instruction(question: Question, common: dict[str, str]) -> str:
    """The instruction of any task but a plain decision, a deduction or a rating.

    common: $time, $name and $a_role.
    """
    now, task, wording = question.situation, question.task, question.wording
    match task:
        case Decide(_, Aids()):
            return _respond(now, task, wording, common)
        case Interview(_, claimed):
            return render_template("interview", now.ruleset.wording, **common, claimed=a_role(claimed))
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
    number = now.ruleset.wording
    templates = phrases(f"{wording}/reflective", number)
    common = {**common, "request": moderator_request(now, task.ask)}
    match task:
        case ChooseQuestions(_, candidates, count):
            listing = "\n".join(f"{number}. {candidate}" for number, candidate in enumerate(candidates, 1))
            text = render_template(
                f"{wording}/choose_questions",
                number,
                **common,
                questions=listing,
                **_counted(count, wording),
            )
        case AskQuestions(_, chosen, count):
            listing = "\n".join([templates["chosen"].template, *(f"- {question}" for question in chosen)])
            text = render_template(
                f"{wording}/ask_questions",
                number,
                **common,
                chosen=listing if chosen else "",
                more=templates["more" if chosen else "more_free"].template,
                **_counted(count, wording),
            )
        case AnswerQuestion(_, question, messages, earlier):
            heading = templates["messages" if len(messages) > 1 else "message"].substitute(
                count=number_in_words(len(messages))
            )
            text = render_template(
                f"{wording}/answer",
                number,
                **common,
                question=question,
                earlier=_pairs(templates["earlier"].template, earlier),
                messages=f"{heading}\n{numbered(now, messages)}" if messages else "",
            )
        case Reflect(_, answers):
            text = render_template(
                f"{wording}/reflect",
                number,
                **common,
                example=example_of_reflection(now.role, wording),
                in_heart=" and the following in heart" if answers else "",
                answers=_pairs(templates["reflect_answers"].template, answers),
            )
        case Extract(_, reflection, bad, good):
            listing = "\n".join(f"- {response}" for response in good)
            text = render_template(
                f"{wording}/extract", number, **common, reflection=reflection, bad=bad, good=listing
            )
    return without_blank_lines(text)


def _counted(count: int, wording: Wording) -> dict[str, str]:
    """The words for a number of questions, and for how to separate them."""
    several = count > 1
    return {
        "count": number_in_words(count),
        "noun": "questions" if several else "question",
        "answers": "answers" if several else "answer",
        "numbers": "numbers" if several else "number",
        "are": "are" if several else "is",
        "commas": ", parted by commas," if several else "",
        "parted": phrases(f"{wording}/reflective", 0)["parted"].template if several else "",
    }


def example_of_reflection(role: str, wording: Wording) -> str:
    """The example of a reflection's beginning, if the wording shows one (003 Table 3)."""
    return phrases(f"{wording}/reflective", 0)["example"].substitute(role=role)


def _pairs(heading: str, pairs: Pairs) -> str:
    if not pairs:
        return ""
    return "\n".join([heading, *(f"- {question} {answer}" for question, answer in pairs)])


def _respond(now: Situation, task: Decide, wording: Wording, common: dict[str, str]) -> str:
    ask, aids, thinks = task.ask, task.aids or Aids(), wants_reasoning(task)
    templates = phrases(f"{wording}/reflective", now.ruleset.wording)
    text = render_template(
        f"{wording}/respond",
        now.ruleset.wording,
        **common,
        request=moderator_request(now, ask),
        note=pack_note(now, ask.kind, wording),
        answers=_pairs(templates["answers"].template, aids.answers),
        reflection=templates["reflection"].substitute(text=aids.reflection) if aids.reflection else "",
        suggestion=templates["suggestion"].substitute(text=aids.suggestion) if aids.suggestion else "",
        think=templates["think" if thinks else "no_think"].template,
        considered=considered(now, task, wording),
        form=reply_form(
            now.ruleset,
            wording,
            reply_fields(ask, now.ruleset, wording, thinks),
            closing_of(ask, now.ruleset, wording),
        ),
    )
    return without_blank_lines(text)


def _judge(now: Situation, task: Judge, common: dict[str, str]) -> str:
    criteria = "\n".join(f"- {name}: {definition}" for name, definition in task.criteria)
    return render_template(
        "judge",
        now.ruleset.wording,
        **common,
        request=moderator_request(now, task.ask),
        reply=task.reply,
        criteria=criteria,
        skeleton=skeleton(("reasoning", *(name for name, _ in task.criteria))),
    )
