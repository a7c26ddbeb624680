"""The Werewolf: the pack chooses one player to kill. `AGREEMENT` has the rules of agreement in words."""

from __future__ import annotations

from ..actions import Action
from ..duties import Duty, DutyState, targets
from ..events import Chose, Event
from ..outcome import Side
from ..switches import Switches
from . import Role

AGREEMENT = {
    "unanimous": "if they do not all choose the same player, nobody is killed",
    "plurality": "the player chosen most often is killed, and a tie kills nobody",
    "last": "the last one decides",
}


def options(state: DutyState, seat: int) -> tuple[Action, ...]:
    rules = state.ruleset
    excluded = 0
    if not rules.wolves_may_target_self:
        excluded |= 1 << seat
    if not rules.wolves_may_target_pack:
        excluded |= state.members(ROLE) & ~(1 << seat)
    return targets(state, excluded, rules.wolves_may_pass)


def act(state: DutyState, seat: int, action: Action) -> tuple[Event, ...]:
    return (Chose(seat, "kill", action, state.members(ROLE)),)


def card(rules: Switches) -> str:
    if rules.count("Werewolf") == 1:
        text = "the Werewolf chooses one player to kill"
    else:
        text = "the Werewolves recognise each other and choose one player to kill; they choose in turn, "
        text += "the lowest number first, each told what the earlier ones chose; "
        text += AGREEMENT[rules.wolf_agreement]
    barred = []
    if not rules.wolves_may_target_self:
        barred.append("themselves")
    if not rules.wolves_may_target_pack:
        barred.append("each other")
    if barred:
        text += f"; they may not choose {' or '.join(barred)}"
    if rules.wolves_may_pass:
        text += "; they may also pass"
        if rules.count("Werewolf") > 1:
            text += ", which counts as a choice of its own"
    return text


ROLE = Role(
    name="Werewolf",
    plural="Werewolves",
    side=Side.WEREWOLVES,
    card=card,
    duties=(Duty("kill", "kill", "killed", options, act, chained=True),),
    pack=True,
    aliases=("wolf", "wolves"),
    icon="🐺",
    pseudonyms={"unrelated": "pretty girl", "opposite": "Villager", "invented": "drell"},
)
