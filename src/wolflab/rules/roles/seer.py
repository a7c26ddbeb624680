"""The Seer: looks at one player a night and learns the role, or only whether it is a Werewolf."""

from __future__ import annotations

from ..actions import Action, Pick
from ..duties import Duty, DutyState, targets
from ..events import NOT_WOLF, Chose, Event, Learned, only
from ..outcome import Side
from ..switches import Switches
from . import Role


def options(state: DutyState, seat: int) -> tuple[Action, ...]:
    rules = state.ruleset
    excluded = 0 if rules.seer_may_see_self else 1 << seat
    if rules.deaths == "sequential":
        excluded |= state.dying()
    return targets(state, excluded, rules.seer_may_pass)


def act(state: DutyState, seat: int, action: Action) -> tuple[Event, ...]:
    me = only(seat)
    chose = Chose(seat, "see", action, me)
    if not isinstance(action, Pick):
        return (chose,)
    role = state.roles[action.seat]
    verdict = "Werewolf" if role.wolf else NOT_WOLF
    result = role.name if state.ruleset.seer_learns == "role" else verdict
    return chose, Learned(seat, action.seat, result, me)


def card(rules: Switches) -> str:
    learns = {
        "role": "and learns that player's exact role",
        "is_wolf": "and learns whether that player is a Werewolf",
    }[rules.seer_learns]
    who = "one player, themselves included" if rules.seer_may_see_self else "one other player"
    text = f"the Seer looks at {who}, {learns}"
    if rules.seer_may_pass:
        text += ", or passes"
    if rules.deaths == "sequential":
        text += "; the Seer acts last, after the night's dead have gone"
    return text


ROLE = Role(
    name="Seer",
    plural="Seers",
    side=Side.VILLAGE,
    card=card,
    duties=(Duty("see", "see", "saw", options, act, reads=True),),
    icon="🔮",
    pseudonyms={"unrelated": "prophet", "opposite": "blind beggar", "invented": "quisto"},
)
