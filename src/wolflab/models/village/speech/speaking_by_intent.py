"""A statement that carries out a given intent (004 §5.1, the Atomic agent).

It follows the intent also where that is unwise. It knows intents and points, and takes no decision.
"""

from __future__ import annotations

from ....rules import ROLES
from ....text.intents import Intent
from ..beliefs.worlds import SEER, role_class
from ..scene import TableScene
from .phrases import Point
from .speaking_by_habit import hide_role, plan_statement
from .speaking_by_strategy import false_check, false_check_target, false_shield, knowledge


def intended_statement(scene: TableScene, intent: Intent, kind: str) -> list[Point]:
    """The points: nothing (idle), an accusation (target), a claim, or everything but the own role (hide)."""
    match intent.kind:
        case "idle":
            return [Point("quiet")]
        case "target":
            return [Point("accuse 3", intent.seat), Point("propose", intent.seat)]
        case "claim":
            assert intent.role is not None
            return _claim(scene, intent.role)
        case "hide":
            return hide_role(plan_statement(scene, kind))


def _claim(scene: TableScene, role: str) -> list[Point]:
    """The claim, with its holder's report: the true one, or one invented by others."""
    if role == scene.situation.role and not scene.wolf:
        return knowledge(scene)
    if role_class(ROLES[role]) == SEER:
        return false_check(scene, "Werewolf", false_check_target(scene))
    return false_shield(scene, role)
