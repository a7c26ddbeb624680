"""Sightings of a game, and their counts by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ...record import GameRecord
from .detecting import Behaviour, DetectorView
from .failures import CONTRADICTION, SELF_EXPOSURE
from .hallucinations import (
    CONFUSION,
    CONTRADICTS_RECORD,
    FUTURE_CITATION,
    IMPOSSIBLE_ABILITY,
    NIGHT_SPEECH,
)
from .sighting import SideName, Sighting
from .social import CAMOUFLAGE, CONFRONTATION, LEADERSHIP, TRUST
from .strategic import BLUFFING, CONCEALMENT, COOPERATION, SACRIFICING

BEHAVIOURS: Mapping[str, Behaviour] = MappingProxyType(
    {
        one.name: one
        for one in (
            TRUST,
            CONFRONTATION,
            CAMOUFLAGE,
            LEADERSHIP,
            CONCEALMENT,
            COOPERATION,
            BLUFFING,
            SACRIFICING,
            SELF_EXPOSURE,
            CONTRADICTION,
            NIGHT_SPEECH,
            FUTURE_CITATION,
            CONFUSION,
            IMPOSSIBLE_ABILITY,
            CONTRADICTS_RECORD,
        )
    }
)
"""Every behaviour by name, family by family."""


def sightings(record: GameRecord | DetectorView, only: Iterable[str] = ()) -> tuple[Sighting, ...]:
    """Everything seen in one game, in the order in which it happened.

    One behaviour, seat, act and target is one sighting. only: names in `BEHAVIOURS`; empty: all.
    """
    play = record if isinstance(record, DetectorView) else DetectorView.of(record)
    found: dict[tuple[str, int, int, str, int | None], Sighting] = {}
    for name in only or BEHAVIOURS:
        for one in BEHAVIOURS[name].find(play):
            found.setdefault((one.behaviour, one.seat, one.at, one.by, one.target), one)
    order = {name: k for k, name in enumerate(BEHAVIOURS)}
    return tuple(sorted(found.values(), key=lambda one: (one.at, one.seat, order[one.behaviour])))


UNREASONABLE = frozenset(
    name for name, one in BEHAVIOURS.items() if one.family in ("failure", "hallucination")
)
"""What makes a reply unreasonable by rule (003 §4.4.2)."""


def unreasonable(seen: Iterable[Sighting], thoughts: bool = False) -> frozenset[str]:
    """The ids of the asks whose replies showed a failure or a hallucination.

    thoughts: also those that only show in what a player noted for itself, which nobody else is shown.
    """
    return frozenset(
        one.ask for one in seen if one.behaviour in UNREASONABLE and (thoughts or one.by != "thought")
    )


def counts(record: GameRecord | DetectorView) -> Counter[tuple[str, SideName]]:
    """(behaviour, side of who showed it) → how often in one game; what did not happen is 0."""
    play = record if isinstance(record, DetectorView) else DetectorView.of(record)
    return Counter((one.behaviour, play.side(one.seat)) for one in sightings(play))
