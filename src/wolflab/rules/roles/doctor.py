"""The Doctor: saves one player a night from the Werewolves (004). It is a Guard with another name."""

from __future__ import annotations

from ..outcome import Side
from ..shielding import shield_card, shield_duty
from ..switches import Switches
from . import Role


def card(rules: Switches) -> str:
    return shield_card(rules, "Doctor", "save")


ROLE = Role(
    name="Doctor",
    plural="Doctors",
    side=Side.VILLAGE,
    card=card,
    duties=(shield_duty("save", "saved"),),
    icon="💉",
    pseudonyms={"unrelated": "florist", "opposite": "poisoner", "invented": "elbrin"},
)
