"""The instruction to act: the request to a player, and the form of the answer.

The two are templates of their own, so that thinking ahead, proposing and choosing (`strategic_prompts`)
can put the same request in other forms. It knows a situation and an ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...rules import DUTIES, PASS, Ask, Pick, Ruleset
from ..questions import Question, ReplyForm, Situation, Wording
from .options import labels
from .rewording import ordered
from .sentences import listed, powers
from .templates import phrases, render_template
from .wording import names_of, neighbours, or_pass, pack_note, victim_shown

_SPEECHES = {"campaign": "campaign", "last-words": "last_words"}
_CHOICES = {kind: kind for kind in ("antidote", "lead", "succeed", "elect", "shoot")}
"""Kinds of asks with a template of their own."""


def request_to_act(now: Situation, ask: Ask, wording: Wording, common: dict[str, str]) -> str:
    """The request, with the points to consider. common: $time, $name and $a_role."""
    can = powers(now.ruleset, "decide the order of statements")
    if ask.options is None:
        office = "statement_sheriff" if now.sheriff == now.seat else "statement"
        return render_template(
            f"{wording}/{_SPEECHES.get(ask.kind, office)}", now.ruleset.wording, **common, powers=can
        )
    left, right = neighbours(now)
    if ask.kind == "vote":
        name = "vote_pack" if now.pack else "vote_village"
    else:
        name = _CHOICES.get(ask.kind, "night")
    duty = DUTIES.get(ask.kind)
    candidates = names_of(now, [option.seat for option in ask.options if isinstance(option, Pick)])
    templates = phrases(f"{wording}/phrases", now.ruleset.wording)
    or_none = templates.get(f"or_no_{ask.kind}") if PASS in ask.options else None
    run = {"own": ("runs", "run"), "paper": ("is running", "are running")}[wording]
    return render_template(
        f"{wording}/{name}",
        now.ruleset.wording,
        **common,
        options=", ".join(options_in_words(ask, now.ruleset, wording)),
        verb=duty.verb if duty else ask.kind,
        note=pack_note(now, ask.kind, wording),
        victim=victim_shown(now),
        candidates=listed(candidates),
        run=run[len(candidates) > 1],
        powers=can,
        or_pass=or_pass(ask),
        or_none=f" {or_none.template}" if or_none else "",
        left=left,
        right=right,
    )


def acting_form(ask: Ask) -> ReplyForm:
    """The name of the form in which an ask is answered (`shared`)."""
    return "statement" if ask.options is None else "action"


def reference(form: ReplyForm, ruleset: Ruleset, reasoning: bool | None = None) -> str:
    """The sentence that names the reply's form, which the prompt described before (`shared`). reasoning:
    whether it asks for reasoning (None: not mentioned); else small models give a line's number as their
    reasoning.
    """
    templates = phrases("shared", ruleset.wording)
    text = templates["answer"].substitute(form=form)
    if reasoning is None:
        return text
    return f"{text} {templates['reasoned' if reasoning else 'bare'].template}"


FormFields = Mapping[str, str]
"""The fields of a JSON object that is asked for: name → its content, in the wording's words."""

_EMPTY = {"confidence": "...", "choice": "...", "evidence": "[...]"}
"""Placeholders in an empty form, of fields that are no text."""


def form_asked(question: Question, name: ReplyForm, fields: FormFields, close: str, count: int = 1) -> str:
    """The form of the reply in words; its name alone where the prompt described the forms before
    (`shared`).
    """
    ruleset = question.situation.ruleset
    if name in question.forms:
        return reference(name, ruleset, reasoning="reasoning" in fields)
    return reply_form(ruleset, question.wording, fields, close, count)


def reply_form(ruleset: Ruleset, wording: Wording, fields: FormFields, close: str, count: int = 1) -> str:
    """The JSON object that is asked for, and further rules for the reply. count: of candidates with these
    fields.
    """
    listed, empty = fields_in_words(wording, fields), skeleton(fields)
    if count > 1:
        listed = listed if wording == "own" else f'"candidates": [\n{{\n{listed}\n}}\n]'
        empty = f'{{"candidates": [{", ".join([empty] * count)}]}}'
    return render_template(f"{wording}/form", ruleset.wording, fields=listed, skeleton=empty, close=close)


def fields_in_words(wording: Wording, fields: FormFields) -> str:
    """The content of each field, one a line. The papers describe it inside the form, and small models copy
    the description as their answer. Our own wording describes it before an empty form (`skeleton`).
    """
    return (",\n" if wording == "paper" else "\n").join(f'"{name}": {text}' for name, text in fields.items())


def skeleton(names: Iterable[str], value: str = '"..."') -> str:
    """An object with those fields and no values: {"reasoning": "...", "choice": ...}. value: the placeholder
    of fields that are text.
    """
    return "{" + ", ".join(f'"{name}": {_EMPTY.get(name, value)}' for name in names) + "}"


def reply_fields(ask: Ask, ruleset: Ruleset, wording: Wording, reasoning: bool = True) -> dict[str, str]:
    """The fields of a reply that acts: reasoning if it is wanted, then the action or the statement."""
    templates = phrases(f"{wording}/phrases", ruleset.wording)
    if ask.options is None:
        of_campaign = "_campaign" if ask.kind == "campaign" else ""
        thought = {"reasoning": templates["reply_reasoning_speech"].template} if reasoning else {}
        return thought | {"statement": templates[f"reply_statement{of_campaign}"].template}
    options = ", ".join(options_in_words(ask, ruleset, wording))
    thought = {"reasoning": templates["reply_reasoning"].template} if reasoning else {}
    return thought | {"action": templates["reply_action"].substitute(options=options)}


def closing_of(ask: Ask, ruleset: Ruleset, wording: Wording) -> str:
    """The sentence after the form; it depends on whether everybody will hear the answer."""
    templates = phrases(f"{wording}/phrases", ruleset.wording)
    close = templates["close"].template
    return f"{close} {templates['heard'].template}" if ask.options is None else close


def guesses_in_words(guesses: Iterable[str], ruleset: Ruleset) -> list[str]:
    """The roles that may be guessed, in quotation marks."""
    return [f'"{guess}"' for guess in ordered(guesses, ruleset.wording, "role")]


def options_in_words(ask: Ask, ruleset: Ruleset, wording: Wording) -> tuple[str, ...]:
    """The options in words; the wording "paper" has the refusal first (004 C.4)."""
    options = labels(ask, ruleset)
    if ruleset.wording:
        return tuple(ordered(options, ruleset.wording, "option"))
    if wording != "paper" or ask.options is None or PASS not in ask.options:
        return options
    at = ask.options.index(PASS)
    return (options[at], *options[:at], *options[at + 1 :])
