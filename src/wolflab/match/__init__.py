"""Plays one game. `play` is the only game loop."""

from .draws import DealtCards, Draws, dealt
from .io import LiveIO, concurrently
from .play import GameWatch, Match, Played, TurnWatch, everybody, play, run_now
from .player import Casting, Dealing, Player
from .probes import InterviewProbe, OpinionProbe, Probe, StrawPoll

__all__ = [
    "Casting",
    "Dealing",
    "DealtCards",
    "Draws",
    "GameWatch",
    "InterviewProbe",
    "LiveIO",
    "Match",
    "OpinionProbe",
    "Played",
    "Player",
    "Probe",
    "StrawPoll",
    "TurnWatch",
    "concurrently",
    "dealt",
    "everybody",
    "play",
    "run_now",
]
