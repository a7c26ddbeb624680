"""Runs all detectors on a game."""

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
from .strategic_behaviours import BLUFFING, CONCEALMENT, COOPERATION, SACRIFICING

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
"""The kind of act that shows a behaviour: a statement, a ballot, a night action, or a private note."""
_BY: Mapping[type, By] = {Statement: "words", Ballot: "vote", NightAction: "night", PrivateText: "thought"}


@dataclass(frozen=True, slots=True)
class DetectedBehaviour:
    """`seat` showed `behaviour` once.

    at: index of the act in `record.events` (of a private note: of its turn's action). ask: the id of that
    turn. target: the player concerned, if any. why: the evidence, in one sentence.
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
        """The round of the act."""
        return int(self.ask.split("/", 1)[0])


def detected_behaviours(record: GameRecord | DetectorView) -> tuple[DetectedBehaviour, ...]:
    """All behaviours detected in one game, in order.

    A behaviour counts once for each seat, act and target.
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
"""The behaviours that make a reply unreasonable (003 §4.4.2)."""


def unreasonable(seen: Iterable[DetectedBehaviour]) -> frozenset[str]:
    """The ids of the asks whose replies showed a failure or a hallucination.

    Behaviours in private notes are left out, because raters do not see these.
    """
    return frozenset(
        sighting.ask for sighting in seen if sighting.behaviour in UNREASONABLE and sighting.by != "thought"
    )
