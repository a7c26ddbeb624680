"""How informative a message is: the heuristic scores of 003 Table 1, by rules.

5 the player's own role · 4 somebody is out of the game (or back, or its vote counts otherwise from now on) ·
3 a role is uncovered or guessed at · 2 a potion was used · 1 anything else. Events are scored by what they
are, talk and reflections by what `text.reading` finds in them. Nothing here depends on who asks or why.
"""

from __future__ import annotations

from functools import lru_cache
from typing import assert_never

from ..rules import (
    Answer,
    ChoiceEvent,
    Chose,
    ClockEvent,
    DayBroke,
    Dealt,
    Event,
    FactEvent,
    Learned,
    OfficeEvent,
    PackMet,
    Pick,
    Returned,
    Revealed,
    Ruleset,
    Said,
    Shot,
    TalkEvent,
    VoteCounted,
    VotesSet,
)
from .notes import Reflected
from .reading import Accusation, Claim, Defence, Report, read_in

OWN_ROLE, OUT, ROLE, POTION, OTHER = 5, 4, 3, 2, 1


@lru_cache(1 << 14)
def informativeness(event: Event | Reflected, seat: int, ruleset: Ruleset) -> int:
    """The score, 1 to 5, of a message to the player in `seat` (003 Table 1)."""
    match event:
        case Dealt():
            return OWN_ROLE
        case Shot() | Returned() | VotesSet():
            return OUT
        case DayBroke(deaths=deaths):
            return OUT if deaths else OTHER
        case VoteCounted(seat=out):
            return OTHER if out is None else OUT
        case Learned() | PackMet() | Revealed():
            return ROLE
        case Chose(kind="antidote", action=Answer(yes=True)) | Chose(kind="poison", action=Pick()):
            return POTION
        case Said(speaker, _, text):
            return _talk(text, speaker, ruleset)
        case Reflected(text=text):
            return _talk(text, seat, ruleset)
        case FactEvent() | OfficeEvent() | ClockEvent() | ChoiceEvent() | TalkEvent():
            return OTHER
    assert_never(event)


def _talk(text: str, speaker: int, ruleset: Ruleset) -> int:
    acts = read_in(ruleset, text, speaker)
    if any(isinstance(act, Claim | Accusation | Defence) or _tells_role(act) for act in acts):
        return ROLE
    return POTION if any(isinstance(act, Report) for act in acts) else OTHER


def _tells_role(act: object) -> bool:
    """A look at a player, or a shield over one, tells what the speaker is; a potion scores for itself."""
    return isinstance(act, Report) and act.kind in ("see", "protect")
