"""Sightings of a game, and their counts by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ...record import GameRecord
from .detector_view import Ballot, Behaviour, DetectorView, NightAction, PrivateText, Statement
from .failures import CONTRADICTION, SELF_EXPOSURE
from .hallucinations import (
    CONFUSION,
    CONTRADICTS_RECORD,
    FUTURE_CITATION,
    IMPOSSIBLE_ABILITY,
    NIGHT_SPEECH,
)
from .social import CAMOUFLAGE, CONFRONTATION, LEADERSHIP, TRUST
from .strategic import BLUFFING, CONCEALMENT, COOPERATION, SACRIFICING

BEHAVIOURS: Mapping[str, Behaviour] = {
    behaviour.name: behaviour
    for behaviour in (
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
"""Every behaviour by name, family by family."""


By = Literal["words", "vote", "night", "thought"]
"""In what a behaviour showed: a statement, a ballot, a night's choice, or a private note."""
_BY: Mapping[type, By] = {Statement: "words", Ballot: "vote", NightAction: "night", PrivateText: "thought"}


@dataclass(frozen=True, slots=True)
class DetectedBehaviour:
    """`seat` showed `behaviour` once.

    at: index in `record.events` of what it did (of a private note: of what the turn led to). ask: the id
    of that turn. target: whom it concerns, if it concerns one. why: what was seen, in one sentence.
    """

    behaviour: str
    seat: int
    at: int
    ask: str
    target: int | None
    why: str
    by: By = "words"

    @property
    def round(self) -> int:
        """The round in which it happened."""
        return int(self.ask.split("/", 1)[0])


def detected_behaviours(record: GameRecord | DetectorView) -> tuple[DetectedBehaviour, ...]:
    """Everything seen in one game, in the order in which it happened.

    One behaviour, seat, act and target is one sighting.
    """
    view = DetectorView.of(record)
    first: dict[tuple[object, ...], DetectedBehaviour] = {}
    for name, behaviour in BEHAVIOURS.items():
        for act, why, target in behaviour.find(view):
            by = _BY[type(act)]
            sighting = DetectedBehaviour(name, act.seat, act.at, act.ask, target, why, by)
            first.setdefault((name, act.seat, act.at, by, target), sighting)
    order = list(BEHAVIOURS)
    return tuple(sorted(first.values(), key=lambda seen: (seen.at, seen.seat, order.index(seen.behaviour))))


UNREASONABLE = frozenset(
    name for name, behaviour in BEHAVIOURS.items() if behaviour.family in ("failure", "hallucination")
)
"""What makes a reply unreasonable by rule (003 §4.4.2)."""


def unreasonable(seen: Iterable[DetectedBehaviour]) -> frozenset[str]:
    """The ids of the asks whose replies showed a failure or a hallucination.

    What only shows in a player's private notes is left out, for nobody else is shown these.
    """
    return frozenset(
        sighting.ask for sighting in seen if sighting.behaviour in UNREASONABLE and sighting.by != "thought"
    )
