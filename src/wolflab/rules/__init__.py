"""The game: pure, typed, replayable. Would it be true with paper cards? Then it lives here.

Standard library only; no I/O, no clock, no random number. What other rooms may use is listed here:
rulesets, roles, asks, actions, events, views and outcomes. State and engine are for `match`, `record`
and tests.
"""

from .actions import (
    LEFT,
    NO,
    PASS,
    RIGHT,
    SILENCE,
    YES,
    Action,
    Answer,
    Deal,
    Lead,
    Pass,
    Pick,
    Say,
    deal,
    pick,
)
from .asks import CHANCE, Ask
from .duties import Duty
from .events import (
    EVERYONE,
    MODERATOR,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    Event,
    FirstSpeaker,
    GameEnded,
    Learned,
    NightFell,
    PackMet,
    Revealed,
    Said,
    SheriffDrawn,
    SheriffNamed,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    only,
)
from .outcome import Outcome, Reason, Side, Winner
from .roles import DUTIES, ROLES, Role, role
from .ruleset import DOCTOR, PRESETS, SHERIFF, WITCH, Ruleset, preset
from .view import Log, Note, View

__all__ = [name for name in dir() if not name.startswith("_")]
