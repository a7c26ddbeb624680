"""The Guard: shields one player a night from the Werewolves (002, 003)."""

from __future__ import annotations

from ..outcome import Side
from ..shielding import shield_card, shield_duty
from ..switches import Switches
from . import Role


def card(rules: Switches) -> str:
    return shield_card(rules, "Guard", "protect")


ROLE = Role(
    name="Guard",
    plural="Guards",
    side=Side.VILLAGE,
    card=card,
    duties=(shield_duty("protect", "protected"),),
    aliases=("bodyguard",),
    icon="🛡",
    pseudonyms={"unrelated": "sentry", "opposite": "traitor", "invented": "arvane"},
)
