"""What a question asks for, in words: the instruction that ends a prompt.

Templates are files; this module fills in names and times. The words of an action are in `acting`,
those of a player that plans, proposes and chooses in `strategic`, those of one that reflects in
`reflective`.
"""

from __future__ import annotations

from ..questions import Choose, Decide, Deduce, Plan, Propose, Question, Rate, Situation
from .acting import closing_of, reply_fields, reply_form, request_to_act
from .reflective import reflective_instruction
from .sentences import a_role, listed
from .strategic import strategic_instruction
from .templates import phrases, render_template
from .wording import names_of, time_of, without_blank_lines


def instruction(question: Question) -> str:
    """The last part of the prompt that puts `question`."""
    now, task, wording = question.situation, question.task, question.wording
    common = {"time": time_of(now), "name": now.ruleset.names[now.seat], "a_role": a_role(now.role)}
    match task:
        case Decide(ask, None, "", None):
            fields = reply_fields(now, ask, wording)
            request = request_to_act(now, ask, wording, common)
            return f"{request}\n{reply_form(wording, fields, closing_of(ask, wording))}"
        case Deduce():
            return _deduce(now, task, wording, common)
        case Rate(_, targets):
            names = names_of(now, targets)
            scores = ",\n".join(f'"{name}": an integer from 1 to 10' for name in names)
            return render_template(f"{wording}/rate", **common, targets=listed(names), scores=scores)
        case Decide(_, None) | Plan() | Propose() | Choose():
            return strategic_instruction(question, common)
        case _:
            return reflective_instruction(question, common)


def _deduce(now: Situation, task: Deduce, wording: str, common: dict[str, str]) -> str:
    templates = phrases(f"{wording}/phrases")
    asked = [name for name in ("reasoning", "confidence", "evidence") if name in task.attributes]
    wishes = [templates[f"wish_{name}"].template for name in asked]
    if wording == "own" or not wishes:
        wishes.insert(0, templates["wish_role"].template)
    guesses = ", ".join(f'"{guess}"' for guess in task.guesses)
    fields = [templates[f"field_{name}"].substitute(guesses=guesses) for name in ("role", *asked)]
    names = names_of(now, task.targets)
    several = len(names) > 1
    return without_blank_lines(
        render_template(
            f"{wording}/deduce",
            **common,
            targets=listed(names),
            wishes=listed(wishes),
            key=names[0] if names else "",
            fields=",\n".join(fields),
            each=templates["each"].template if several else "",
        )
    )
