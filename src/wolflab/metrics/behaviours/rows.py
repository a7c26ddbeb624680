"""Sightings of a game, their counts by side, and both as estimates over games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...record import GameRecord
from ..intervals import Estimate, mean
from .failures import CONTRADICTION, SELF_EXPOSURE
from .hallucinations import (
    CONFUSION,
    CONTRADICTS_RECORD,
    FUTURE_CITATION,
    IMPOSSIBLE_ABILITY,
    NIGHT_SPEECH,
)
from .play import Play
from .shapes import SIDES, Behaviour, Side, Sighting
from .social import CAMOUFLAGE, CONFRONTATION, LEADERSHIP, TRUST
from .strategic import BLUFFING, CONCEALMENT, COOPERATION, SACRIFICING

if TYPE_CHECKING:  # `build` shows these rows: at run time the way leads from there to here
    from ..build import Played

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


def sightings(record: GameRecord | Play, only: Iterable[str] = ()) -> tuple[Sighting, ...]:
    """Everything seen in one game, in the order in which it happened.

    One behaviour, seat, act and target is one sighting. only: names in `BEHAVIOURS`; empty: all.
    """
    play = record if isinstance(record, Play) else Play.of(record)
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


Counts = Mapping[tuple[str, Side], int]


def counts(record: GameRecord | Play) -> Counter[tuple[str, Side]]:
    """(behaviour, side of who showed it) → how often in one game; what did not happen is 0."""
    play = record if isinstance(record, Play) else Play.of(record)
    return Counter((one.behaviour, play.side(one.seat)) for one in sightings(play))


@dataclass(frozen=True, slots=True)
class BehaviourRow:
    """How often a side shows a behaviour, per game (deals resampled).

    share: the share of games in which it showed at all.
    """

    behaviour: str
    family: str
    side: Side
    per_game: Estimate
    share: Estimate


def behaviour_rows(played: Sequence[Played], seed: int = 0) -> tuple[BehaviourRow, ...]:
    """Every behaviour by side over finished games; zeros are rows too."""
    return rows_of([(each.deal, counts(each.record)) for each in played], seed)


def rows_of(
    found: Sequence[tuple[int, Counts]], seed: int = 0, draws: Sequence[int] | None = None
) -> tuple[BehaviourRow, ...]:
    """The same from (deal, counts) of each game, for those who have counted already.

    draws: as in `intervals.estimate`, one for each game.
    """
    rows = []
    for name, behaviour in BEHAVIOURS.items():
        for side in SIDES:
            values = [(deal, float(counted.get((name, side), 0))) for deal, counted in found]
            rows.append(
                BehaviourRow(
                    name,
                    behaviour.family,
                    side,
                    mean(values, seed=seed, draws=draws),
                    mean(
                        [(deal, float(n > 0)) for deal, n in values],
                        seed=seed,
                        bounds=(0.0, 1.0),
                        draws=draws,
                    ),
                )
            )
    return tuple(rows)
