"""The Idiot: the first time that the vote falls on it, it turns over its card, stays, and loses its vote."""

from __future__ import annotations

from ..actions import YES, Action
from ..duties import Duty, DutyState
from ..events import EVERYONE, Event, Revealed
from ..outcome import Side
from ..switches import Switches
from . import Role


def options(state: DutyState, seat: int) -> tuple[Action, ...]:
    return () if state.memory.get((seat, "shown")) else (YES,)


def act(state: DutyState, seat: int, action: Action) -> tuple[Event, ...]:
    state.remember(seat, "shown", True)
    return (Revealed(seat, "Idiot", EVERYONE), state.set_votes(seat, 0))


def card(rules: Switches) -> str:
    who = "an Idiot" if rules.count("Idiot") > 1 else "the Idiot"
    silent = ", says no last words" if rules.last_words == "voted_out" else ""
    return (
        f"{who} is not voted out the first time that the vote falls on that player, but turns over the card "
        f"before all{silent}, stays in the game and has no vote from then on; the second time, or killed, "
        "the player leaves like anybody"
    )


ROLE = Role(
    name="Idiot",
    plural="Idiots",
    side=Side.VILLAGE,
    card=card,
    duties=(Duty("stay", "stay", "stayed", options, act, when="voted_out"),),
    everyday=True,
    icon="🤡",
    pseudonyms={"unrelated": "courier", "opposite": "scholar", "invented": "tarnub"},
)
