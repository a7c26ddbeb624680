"""The action that stands in for a reply that cannot be used (002 §7.1), for play and for `verify`."""

from __future__ import annotations

from .actions import LEFT, NO, PASS, SILENCE, Action
from .asks import CHANCE, Ask
from .ruleset import Ruleset


def fallback(ask: Ask, rules: Ruleset) -> Action | Ask:
    """The action that is applied instead, or the ask to chance that decides it.

    Speech: silence. Votes: no vote. The Sheriff's choice of side: left. Night: the ruleset's
    `unusable_night_reply`. Duties by day or at a departure: pass, if it is allowed. Anything else: a random
    legal option.
    """
    options = ask.options
    if options is None:
        return SILENCE
    if ask.kind in ("vote", "elect") and PASS in options:
        return PASS
    if ask.kind == "lead":
        return LEFT
    if ask.phase in ("action", "departure") or (
        ask.phase == "night" and rules.unusable_night_reply == "pass"
    ):
        for quiet in (PASS, NO):
            if quiet in options:
                return quiet
    return Ask(f"{ask.id}/fallback", CHANCE, "fallback", ask.phase, ask.round, options, (1,) * len(options))
