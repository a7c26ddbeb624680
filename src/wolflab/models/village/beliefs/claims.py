"""The public claims of roles: the index in `Node.claims`, and how it is computed.

The index is also an outcome of the fitted table "claim" (`parameters.CLAIMS`). It knows no game.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....rules import ROLES
from ....text.reading import Act, Claim, Report
from .worlds import OTHER, PLAIN, SEER, SHIELD, WOLF, role_class

AS_SEER, AS_SHIELD, AS_OTHER, AS_PLAIN, AS_WOLF = range(1, 6)
"""Claims by index, the most informative first; 0 stands for none."""

AS_ABLE = (AS_SEER, AS_SHIELD, AS_OTHER)
"""Claims of an ability."""

CLAIM_OF = {SEER: AS_SEER, SHIELD: AS_SHIELD, OTHER: AS_OTHER, PLAIN: AS_PLAIN, WOLF: AS_WOLF}
"""Claim by class of role (`worlds`)."""

ABLE = {"see": SEER, "protect": SHIELD, "antidote": OTHER, "poison": OTHER}
"""The class of role that can do a reported night action, by the kind of the `Report`."""


def claim_of(role: str) -> int:
    """The index of the claim to hold `role`; several roles share a claim."""
    return CLAIM_OF[role_class(ROLES[role])]


def claimed(acts: Sequence[Act]) -> int:
    """The claim in a statement, the most informative of several; a reported check claims the Seer."""
    made = [claim_of(act.role) for act in acts if isinstance(act, Claim) and not act.denied]
    made += [CLAIM_OF[ABLE[act.kind]] for act in acts if isinstance(act, Report)]
    return min(made, default=0)
