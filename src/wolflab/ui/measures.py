"""What measures are called and how their values are shown, for the report and the terminal alike.

It knows names and no numbers. A name that is not listed is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..metrics.behaviours import Side
from ..metrics.own import OWN
from ..metrics.shapes import Summary
from ..metrics.summary import SHOWN
from .report_tables import Kind

SIDE_NAMES: Mapping[Side, str] = MappingProxyType({"village": "village", "werewolves": "Werewolves"})
"""The sides as words, in the order of the tables."""


def behaviour_name(name: str) -> str:
    """A behaviour of `metrics.behaviours` as words."""
    return name.replace("_", " ").replace("self exposure", "self-exposure")


_CALLED: Mapping[str, tuple[str, Kind]] = MappingProxyType(
    {
        "ratio": ("Ratio", "plain"),
        "ratio_village": ("Ratio, village raters", "plain"),
        "ratio_recorded": ("Ratio, reliability as used", "plain"),
        "ratio_wolf_exception": ("Ratio, Werewolves' exception", "plain"),
        "ratio_over_peers": ("Ratio over the role's peers", "plain"),
        "improvement": ("reliability gained by speaking", "share"),
        "dc": ("DC", "share"),
        "dc_alive": ("DC, divided by N", "share"),
        "dc_cast": ("DC, Sheriff voted", "share"),
        "changed": ("DC*, any changed vote", "share"),
        "dc_retest": ("DC, polled twice", "share"),
        "dc_others": ("DC towards others", "share"),
        "dc_over_retest": ("DC over polled twice", "share"),
        "dc_over_others": ("DC over towards others", "share"),
        "dc_words": ("conversion in words", "share"),
        "dc_words_wolf": ("conversion in words, to a Werewolf", "share"),
        "dc_words_other": ("conversion in words, to another", "share"),
        "persuasion": ("persuasion rate", "share"),
        "days": ("rounds a game", "one"),
        "village_win": ("village wins", "share"),
        "wolf_win": ("Werewolf wins", "share"),
        "nobody": ("neither side wins", "share"),
        "vote_hits": ("village votes for a Werewolf", "share"),
        "abstained": ("village votes not cast", "share"),
        "out_hits": ("Werewolves among those voted out", "share"),
        "stand_ins": ("stand-ins", "share"),
        "own_village_win": ("own wins as the village", "share"),
        "own_wolf_win": ("own wins as a Werewolf", "share"),
        "own_win": ("own wins, each side half", "share"),
        "accuracy": ("accuracy", "share"),
        "reasonable": ("reasonable by rule", "share"),
        "passed": ("village votes passed", "share"),
        "heeded": ("advice heeded", "share"),
        "suggested": ("decisions with advice", "share"),
        **{
            key: (f"{behaviour_name(name)}, {SIDE_NAMES[side]}", "plain")
            for key, (name, side) in SHOWN.items()
        },
    }
)


def measure_name(measure: str) -> str:
    """A measure of `metrics.summary.MEASURES` as words (plain text)."""
    return _CALLED[measure][0] if measure in _CALLED else measure


def own_heads(summary: Summary) -> list[str]:
    """The heads of columns with `OWN`, with the watched seat's name where all conditions watch the same."""
    whose = f"{summary.watched[0]}: " if len(summary.watched) == 1 else ""
    return [whose + measure_name(key) for key in OWN if summary.watched]


def measure_kind(measure: str) -> Kind:
    """How a value of this measure is shown."""
    return _CALLED[measure][1] if measure in _CALLED else "plain"


def difference_kind(measure: str) -> Kind:
    """How a difference of two values of this measure is shown: shares differ by percentage points."""
    kind = measure_kind(measure)
    return "points" if kind == "share" else "plain"
