"""What a question asks for, in words: the instruction that ends a prompt.

Templates are files; this module fills in options, names and times. The instructions of a reflective
player's steps are in `text.reflective`.
"""

from __future__ import annotations

from ..rules import DUTIES, PASS
from .options import labels
from .questions import Decide, Deduce, Question, Rate, Situation
from .reflective import reflective
from .sentences import a_role, listed
from .templates import phrases, render
from .wording import candidates_of, names_of, neighbours, pack_note, time_of, victim, without_blank_lines


def instruction(question: Question) -> str:
    """The last part of the prompt that puts `question`."""
    now, task, wording = question.situation, question.task, question.wording
    common = {"time": time_of(now), "name": now.ruleset.names[now.seat], "a_role": a_role(now.role)}
    match task:
        case Decide(_, None):
            return _decide(now, task, wording, common)
        case Deduce():
            return _deduce(now, task, wording, common)
        case Rate(_, targets):
            names = names_of(now, targets)
            scores = ",\n".join(f'"{name}": an integer from 1 to 10' for name in names)
            return render(f"{wording}/rate", **common, targets=listed(names), scores=scores)
        case _:
            return reflective(question, common)


_SPEECHES = {"campaign": "campaign", "last-words": "last_words"}
_CHOICES = {"antidote": "antidote", "lead": "lead", "succeed": "succeed", "elect": "elect"}


def _decide(now: Situation, task: Decide, wording: str, common: dict[str, str]) -> str:
    ask = task.ask
    if ask.options is None:
        office = "statement_sheriff" if now.sheriff == now.seat else "statement"
        return render(f"{wording}/{_SPEECHES.get(ask.kind, office)}", **common)
    words = labels(ask, now.ruleset)
    if wording == "paper" and PASS in ask.options:
        words = (
            words[ask.options.index(PASS)],
            *(w for w, o in zip(words, ask.options, strict=True) if o != PASS),
        )
    left, right = neighbours(now)
    if ask.kind == "vote":
        name = "vote_pack" if now.pack else "vote_village"
    else:
        name = _CHOICES.get(ask.kind, "night")
    duty = DUTIES.get(ask.kind)
    return render(
        f"{wording}/{name}",
        **common,
        options=", ".join(words),
        verb=duty.verb if duty else ask.kind,
        note=pack_note(now, ask.kind, wording),
        victim=victim(now),
        candidates=listed(candidates_of(now, ask)),
        left=left,
        right=right,
    )


def _deduce(now: Situation, task: Deduce, wording: str, common: dict[str, str]) -> str:
    words = phrases(f"{wording}/phrases")
    asked = [name for name in ("reasoning", "confidence", "evidence") if name in task.attributes]
    wishes = [words[f"wish_{name}"].template for name in asked]
    if wording == "own" or not wishes:
        wishes.insert(0, words["wish_role"].template)
    guesses = ", ".join(f'"{guess}"' for guess in task.guesses)
    fields = [words[f"field_{name}"].substitute(guesses=guesses) for name in ("role", *asked)]
    names = names_of(now, task.targets)
    several = len(names) > 1
    return without_blank_lines(
        render(
            f"{wording}/deduce",
            **common,
            targets=listed(names),
            wishes=listed(wishes),
            key=names[0] if names else "",
            fields=",\n".join(fields),
            each=words["each"].template if several else "",
        )
    )
