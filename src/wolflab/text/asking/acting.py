"""The instruction to act: what is asked of a player, and in which form it is to answer.

The two are templates of their own, so that thinking ahead, proposing and choosing (`strategic`) can put
the same request in other forms. It knows a situation and an ask.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...rules import DUTIES, PASS, Ask
from ..questions import Situation, Wording
from .options import labels
from .sentences import listed
from .templates import phrases, render_template
from .wording import names_among_options, neighbours, pack_note, victim_shown

_SPEECHES = {"campaign": "campaign", "last-words": "last_words"}
_CHOICES = {kind: kind for kind in ("antidote", "lead", "succeed", "elect", "shoot")}
"""Kinds of asks with a template of their own."""


def request_to_act(now: Situation, ask: Ask, wording: Wording, common: dict[str, str]) -> str:
    """What is asked, and what to think about first. common: $time, $name and $a_role."""
    if ask.options is None:
        office = "statement_sheriff" if now.sheriff == now.seat else "statement"
        return render_template(f"{wording}/{_SPEECHES.get(ask.kind, office)}", **common)
    left, right = neighbours(now)
    if ask.kind == "vote":
        name = "vote_pack" if now.pack else "vote_village"
    else:
        name = _CHOICES.get(ask.kind, "night")
    duty = DUTIES.get(ask.kind)
    return render_template(
        f"{wording}/{name}",
        **common,
        options=", ".join(_ordered(now, ask, wording)),
        verb=duty.verb if duty else ask.kind,
        note=pack_note(now, ask.kind, wording),
        victim=victim_shown(now),
        candidates=listed(names_among_options(now, ask)),
        left=left,
        right=right,
    )


def reply_form(wording: Wording, fields: Sequence[str], close: str) -> str:
    """The JSON object asked for, and what else holds of the reply."""
    return render_template(f"{wording}/form", fields=",\n".join(fields), close=close)


def reply_fields(now: Situation, ask: Ask, wording: Wording, reasoning: bool = True) -> list[str]:
    """The fields of a reply that acts: reasoning if it is wanted, then the action or the statement."""
    templates = phrases(f"{wording}/phrases")
    if ask.options is None:
        of_campaign = "_campaign" if ask.kind == "campaign" else ""
        fields = ["reply_reasoning_speech"] * reasoning + [f"reply_statement{of_campaign}"]
        return [templates[name].template for name in fields]
    action = templates["reply_action"].substitute(options=", ".join(_ordered(now, ask, wording)))
    return [*([templates["reply_reasoning"].template] * reasoning), action]


def closing_of(ask: Ask, wording: Wording) -> str:
    """What is said after the form, by whether everybody will hear the answer."""
    return phrases(f"{wording}/phrases")["close_speech" if ask.options is None else "close_choice"].template


def _ordered(now: Situation, ask: Ask, wording: Wording) -> tuple[str, ...]:
    """The options in words; the paper's wording has the refusal first (004 C.4)."""
    options = labels(ask, now.ruleset)
    if wording != "paper" or ask.options is None or PASS not in ask.options:
        return options
    at = ask.options.index(PASS)
    return (options[at], *options[:at], *options[at + 1 :])
