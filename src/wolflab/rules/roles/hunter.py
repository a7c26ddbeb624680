"""The Hunter: may shoot one living player in public when it leaves the game."""

from __future__ import annotations

from ..actions import Action, Pick
from ..duties import Duty, DutyState, targets
from ..events import Event
from ..outcome import Side
from ..switches import Switches
from . import Role


def options(state: DutyState, seat: int) -> tuple[Action, ...]:
    rules = state.ruleset
    may = {
        "vote": rules.hunter_shoots_when_voted_out,
        "kill": rules.hunter_shoots_when_killed,
        "shot": rules.hunter_shoots_when_killed,
        "strike": rules.hunter_shoots_when_poisoned,
    }[state.cause(seat)]
    return targets(state, may_pass=True) if may else ()


def act(state: DutyState, seat: int, action: Action) -> tuple[Event, ...]:
    """If the Hunter does not shoot, no event says so: nobody learns that a Hunter has left."""
    if isinstance(action, Pick):
        state.shoot(seat, action.seat)
    return ()


def card(rules: Switches) -> str:
    several = rules.count("Hunter") > 1
    ways = {"voted out": rules.hunter_shoots_when_voted_out}
    ways["killed by the Werewolves"] = rules.hunter_shoots_when_killed
    if several:
        ways["shot"] = rules.hunter_shoots_when_killed
    if rules.count("Witch"):
        ways["poisoned"] = rules.hunter_shoots_when_poisoned
    may, never = (" or ".join(way for way, can in ways.items() if can is wanted) for wanted in (True, False))
    who = "a Hunter" if several else "the Hunter"
    if not may:
        return f"{who} can never shoot"
    unless = f", but not when {never}" if never else ""
    return (
        f"{who}, when {may}{unless}, may at once shoot one living player, who is then out of the game too; "
        f"everybody sees the shot and learns by it who was {who}; nobody is told when {who} does not shoot"
    )


ROLE = Role(
    name="Hunter",
    plural="Hunters",
    side=Side.VILLAGE,
    card=card,
    duties=(Duty("shoot", "shoot", "shot", options, act, when="departure", shoots=True),),
    icon="🏹",
    pseudonyms={"unrelated": "gardener", "opposite": "pacifist", "invented": "molvek"},
)
