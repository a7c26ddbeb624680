"""The six styles of 004 (C.7) as dispositions, in thousandths of a chance unless said otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Style:
    """accuse: to name a suspect. propose: to call for a vote. defend: to speak up for somebody.

    claim: to tell a plain role. reveal: a special role without need (no Werewolf found, not accused).
    tell: the Seer tells of a Werewolf it found. bluff: a Werewolf claims an ability. edge: added to the
    strength of accusations (−1, 0, 1). bold: added to suspicion before it is judged.
    """

    accuse: int = 650
    propose: int = 500
    defend: int = 300
    claim: int = 300
    reveal: int = 100
    tell: int = 700
    bluff: int = 60
    agree: int = 200
    edge: int = 0
    bold: int = 0


STYLES: Mapping[str, Style] = MappingProxyType(
    {
        "default": Style(),
        "quiet_follower": Style(accuse=150, propose=150, defend=100, claim=100, bluff=0, agree=700, edge=-1),
        "active_contributor": Style(accuse=750, propose=700, defend=550, claim=400, bluff=250, agree=400),
        "aggressive_accuser": Style(
            accuse=1000, propose=900, defend=50, claim=300, bluff=500, agree=50, edge=1, bold=150
        ),
        "secretive": Style(
            accuse=400, propose=300, defend=200, claim=0, reveal=0, tell=250, bluff=0, edge=-1
        ),
        "proactive": Style(accuse=800, propose=700, defend=400, claim=700, reveal=800, tell=1000, bluff=400),
    }
)
"""By the styles' names in `text.asking.prompts` (004 C.7); "default" is no style."""
