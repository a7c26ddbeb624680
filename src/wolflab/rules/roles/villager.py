"""The plain Villager: sleeps at night, talks and votes by day."""

from ..outcome import Side
from . import Role

ROLE = Role(
    name="Villager",
    plural="Villagers",
    side=Side.VILLAGE,
    card=lambda rules: "the Villagers do nothing",
    plain=True,
    icon="🧑",
    pseudonyms={"unrelated": "thief", "opposite": "Werewolf", "invented": "pomin"},
)
