"""The Witch: one antidote and one poison for the whole game (003)."""

from __future__ import annotations

from ..actions import NO, YES, Action, Answer, Pick
from ..duties import Duty, DutyState, targets
from ..events import Chose, Event, VictimShown, only
from ..outcome import Side
from ..switches import Switches
from . import ROLES, Role

SHIELDED = {
    "not_asked": "; where a protection saves that player already, she is told of nobody",
    "saves": "; she is told so also where a protection saves that player already",
    "kills": "; she is told so also where a protection saves that player already, and a player with both the "
    "protection and the antidote dies",
}
"""The sentences of the card for the switch `shield_and_antidote`."""


def _victim(state: DutyState, seat: int) -> int | None:
    """The victim that the Witch is shown: tonight's, if she has the antidote and nothing has saved it yet."""
    rules = state.ruleset
    if state.memory.get((seat, "antidote used")):
        return None
    victim = state.victim()
    saved = state.cured | (state.shielded if rules.shield_and_antidote == "not_asked" else 0)
    if victim is None or saved >> victim & 1:
        return None
    if victim == seat and not rules.witch_may_save_self:
        return None
    return victim


def antidote_options(state: DutyState, seat: int) -> tuple[Action, ...]:
    return () if _victim(state, seat) is None else (YES, NO)


def show_victim(state: DutyState, seat: int) -> tuple[Event, ...]:
    victim = _victim(state, seat)
    return () if victim is None else (VictimShown(seat, victim, only(seat)),)


def antidote(state: DutyState, seat: int, action: Action) -> tuple[Event, ...]:
    victim = state.victim()  # the one whom she was shown, even if another Witch has saved it meanwhile
    if isinstance(action, Answer) and action.yes and victim is not None:
        state.cure(victim)
        state.remember(seat, "antidote used", True)
    return (Chose(seat, "antidote", action, only(seat)),)


def poison_options(state: DutyState, seat: int) -> tuple[Action, ...]:
    rules = state.ruleset
    if state.memory.get((seat, "poison used")):
        return ()
    if rules.deaths == "sequential" and state.dying() >> seat & 1:
        return ()
    if not rules.witch_may_use_both and any(
        kind == "antidote" and who == seat and isinstance(done, Answer) and done.yes
        for kind, who, done in state.choices
    ):
        return ()
    return targets(state, may_pass=True)


def poison(state: DutyState, seat: int, action: Action) -> tuple[Event, ...]:
    if isinstance(action, Pick):
        state.strike(action.seat)
        state.remember(seat, "poison used", True)
    return (Chose(seat, "poison", action, only(seat)),)


def card(rules: Switches) -> str:
    text = (
        "the Witch has one antidote and one poison for the whole game: she is told whom the "
        "Werewolves kill while she still has the antidote, and may save that player"
    )
    text += (
        ", herself included"
        if rules.witch_may_save_self
        else (", but not herself (she is not told where she is the one)")
    )
    if any(ROLES[name].shields for name in rules.roles if rules.count(name)):
        text += SHIELDED[rules.shield_and_antidote]
        text += "; she may poison any player, whom no protection saves, or pass"
    else:
        text += "; she may poison any player, or pass"
    return f"{text}; she may{'' if rules.witch_may_use_both else ' not'} use both in one night"


ROLE = Role(
    name="Witch",
    plural="Witches",
    side=Side.VILLAGE,
    card=card,
    duties=(
        Duty(
            "antidote",
            "use the antidote",
            "used the antidote",
            antidote_options,
            antidote,
            after=("kill", "protect", "save"),
            prelude=show_victim,
        ),
        Duty("poison", "poison", "poisoned", poison_options, poison, after=("antidote",)),
    ),
    icon="🧪",
    pseudonyms={"unrelated": "pharmacist", "opposite": "saint", "invented": "oskaya"},
)
