"""The words for actions: how an ask's options are listed.

`label` words one action, `labels` all options of an ask. `replies.chosen_action` reads what a model writes.
It knows the ask and the ruleset, and nothing of the game.
"""

from __future__ import annotations

from functools import lru_cache

from ...rules import DUTIES, Action, Answer, Ask, Deal, Lead, Pass, Pick, Ruleset, Say

_VOTES = ("vote", "elect")
NUMBER_WORDS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def label(action: Action, kind: str, ruleset: Ruleset) -> str:
    """The words for `action` as an option of an ask of that kind, e.g. "vote for player_2"."""
    match action:
        case Pick(seat):
            name, duty = ruleset.names[seat], DUTIES.get(kind)
            if kind in _VOTES:
                return f"vote for {name}"
            if kind == "succeed":
                return f"name {name}"
            return name if duty is None else f"{duty.verb} {name}"
        case Pass():
            return "do not vote" if kind in _VOTES else "pass"
        case Answer(yes):
            return "yes" if yes else "no"
        case Lead(left):
            return "left" if left else "right"
        case Deal(role):
            return role
        case Say(text):
            return text


@lru_cache(4096)
def labels(ask: Ask, ruleset: Ruleset) -> tuple[str, ...]:
    """The words for every option of `ask`, in the options' order; empty for free text."""
    return tuple(label(action, ask.kind, ruleset) for action in ask.options or ())
