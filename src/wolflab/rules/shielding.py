"""The night duty of Guard and Doctor, for new roles too: shield one player from the Werewolves."""

from __future__ import annotations

from .actions import Action, Pick
from .duties import Duty, DutyState, targets
from .events import Chose, Event, only
from .switches import Switches


def shield_duty(kind: str, past: str) -> Duty:
    """A duty called `kind` that shields its target; the switches are the ruleset's ``guard_*``."""

    def options(state: DutyState, seat: int) -> tuple[Action, ...]:
        rules = state.ruleset
        excluded = 0 if rules.guard_may_shield_self else 1 << seat
        if not rules.guard_may_repeat:
            last = state.memory.get((seat, "shielded"))
            if isinstance(last, tuple) and last[0] == state.round - 1:
                excluded |= 1 << last[1]
        return targets(state, excluded, rules.guard_may_pass)

    def act(state: DutyState, seat: int, action: Action) -> tuple[Event, ...]:
        if isinstance(action, Pick):
            state.shield(action.seat)
            if not state.ruleset.guard_may_repeat:
                # The round is kept too: after a night without a shield any player may be chosen again.
                state.remember(seat, "shielded", (state.round, action.seat))
        return (Chose(seat, kind, action, only(seat)),)

    return Duty(kind, kind, past, options, act, shields=True)


def shield_card(rules: Switches, name: str, verb: str) -> str:
    """The sentence of the rules for a role with this duty."""
    who = "one player, themselves included," if rules.guard_may_shield_self else "one other player"
    text = f"the {name} chooses {who} to {verb} without knowing whom the Werewolves chose"
    if not rules.guard_may_repeat:
        text += ", but not the same player on two nights in a row"
    if rules.guard_may_pass:
        text += ", or passes"
    return text
