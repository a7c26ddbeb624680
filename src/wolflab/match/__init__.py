"""Plays one game. There is one loop, `play`; everything that plays goes through it."""

from .desk import Cassette, File, Filed, NoFile
from .draws import Draws
from .play import Match, Played, everybody, play, run_now
from .player import Casting, Dealing, Player
from .probes import Probe, ReliabilityProbe, StrawPoll

__all__ = [
    "Cassette",
    "Casting",
    "Dealing",
    "Draws",
    "File",
    "Filed",
    "Match",
    "NoFile",
    "Played",
    "Player",
    "Probe",
    "ReliabilityProbe",
    "StrawPoll",
    "everybody",
    "play",
    "run_now",
]
