"""The three kinds of action that 004 §4.2 tells apart, by the kind of ask.

It knows the rules' duties and nothing of players.
"""

from __future__ import annotations

from typing import Literal, get_args

from ..rules import DUTIES

Kind = Literal["night", "statement", "vote"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Secret actions, statements, votes."""


def kind_of(ask: str) -> str:
    """Which of `KINDS` an ask of that kind (`Ask.kind`) is; "" for none of them: last words, a probe, an
    election, what a role does outside the night.
    """
    if ask in ("statement", "vote"):
        return ask
    return "night" if ask in DUTIES and DUTIES[ask].when == "night" else ""
