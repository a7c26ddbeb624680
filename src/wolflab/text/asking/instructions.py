"""The request of a question in words: the instruction that ends a prompt.

Templates are files; this module fills in names and times. The words of an action are in `acting`, those of a
player that plans, proposes and chooses in `strategic_prompts`, those of one that reflects in
`reflective_prompts`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..questions import Choose, Decide, Deduce, Plan, Propose, Question, Rate, Situation, Wording
from .acting import (
    acting_form,
    closing_of,
    fields_in_words,
    form_asked,
    guesses_in_words,
    reference,
    reply_fields,
    request_to_act,
    skeleton,
)
from .reflective_prompts import reflective_instruction
from .sentences import a_role, listed
from .strategic_prompts import strategic_instruction
from .templates import phrases, render_template
from .wording import names_of, time_of, without_blank_lines


def instruction(question: Question) -> str:
    """The last part of the prompt that puts `question`."""
    now, task, wording = question.situation, question.task, question.wording
    common = {"time": time_of(now, wording), "name": now.ruleset.names[now.seat], "a_role": a_role(now.role)}
    match task:
        case Decide(ask, None, "", None):
            fields = reply_fields(ask, now.ruleset, wording)
            close = closing_of(ask, now.ruleset, wording)
            form = form_asked(question, acting_form(ask), fields, close)
            return f"{request_to_act(now, ask, wording, common)}\n{form}"
        case Deduce():
            return _deduce(question, task, common)
        case Rate(_, targets):
            names = names_of(now, targets)
            values = {
                "scores": ",\n".join(f'"{name}": an integer from 1 to 10' for name in names),
                "skeleton": skeleton(names, "..."),
            }
            return render_template(
                f"{wording}/rate",
                now.ruleset.wording,
                **common,
                whom="each of these players" if len(names) > 1 else "this player",
                targets=listed(names),
                form=_own_form(now, wording, "rate_form", values),
                **values,
            )
        case Decide(_, None) | Plan() | Propose() | Choose():
            return strategic_instruction(question, common)
        case _:
            return reflective_instruction(question, common)


def _deduce(question: Question, task: Deduce, common: dict[str, str]) -> str:
    now, wording = question.situation, question.wording
    templates = phrases(f"{wording}/phrases", now.ruleset.wording)
    asked = [name for name in ("reasoning", "confidence", "evidence") if name in task.attributes]
    wishes = [templates[f"wish_{name}"].template for name in asked]
    if wording == "own" or not wishes:
        wishes.insert(0, templates["wish_role"].template)
    guesses = ", ".join(guesses_in_words(task.guesses, now.ruleset))
    fields = {name: templates[f"field_{name}"].substitute(guesses=guesses) for name in ("role", *asked)}
    names = names_of(now, task.targets)
    several, first = len(names) > 1, names[0] if names else ""
    entries = [f'"{first}": {skeleton(fields)}', *(f'"{name}": {{...}}' for name in names[1:])]
    values = {
        "key": first,
        "fields": fields_in_words(wording, fields),
        "skeleton": "{" + ", ".join(entries) + "}",
        "each": templates["each"].template if several else "",
        "consider": "Reconsider" if question.beliefs else "Consider",
    }
    text = render_template(
        f"{wording}/deduce",
        now.ruleset.wording,
        **common,
        targets=listed(names),
        roles="roles" if several else "role",
        whom="each" if several else first,
        wishes=listed(wishes),
        form=reference("judgement", now.ruleset)
        if "judgement" in question.forms
        else _own_form(now, wording, "deduce_form", values),
        **values,
    )
    return without_blank_lines(text)


def _own_form(now: Situation, wording: Wording, name: str, values: Mapping[str, str]) -> str:
    """The form of our own wording; the papers' stands in the request."""
    return render_template(f"own/{name}", now.ruleset.wording, **values) if wording == "own" else ""
