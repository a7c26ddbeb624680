"""Changes over people's games: a measure by the place of a game in its person's sequence.

The slope is within people: a game's value minus its person's mean is regressed on its place minus the
person's mean place. So differences between people, and people who stopped early, do not cause a slope. Its
interval is clustered by person and deal, like all others of a study (`stats.intervals`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..stats.clusters import ClusteredSums, by_deal_and_draw
from ..stats.intervals import Estimate, estimate, quotient
from .registry import MEASURES

LEARNED = (
    *(name for name, measure in MEASURES.items() if measure.section == "people"),
    "watched_village_win",
    "watched_wolf_win",
)
"""The measures that are reported by place."""


class PlayedGame(NamedTuple):
    """A person's finished game. person: a number. place: from 1."""

    person: int
    deal: int
    place: int
    value: float


@dataclass(frozen=True, slots=True)
class Learning:
    """One measure over people's games. places: (place, mean). slope: the change from game to game, within
    people.
    """

    measure: str
    places: tuple[tuple[int, Estimate], ...]
    slope: Estimate


def learning_of(measure: str, games: Sequence[PlayedGame]) -> Learning | None:
    """A measure over people's games; None if nobody has played two."""
    of_person: defaultdict[int, list[PlayedGame]] = defaultdict(list)
    for game in games:
        of_person[game.person].append(game)
    moved = []
    for own in of_person.values():
        place = sum(game.place for game in own) / len(own)
        value = sum(game.value for game in own) / len(own)
        moved += [
            (game, ((game.place - place) * (game.value - value), (game.place - place) ** 2)) for game in own
        ]
    moved = [(game, sums) for game, sums in moved if sums[1]]
    if not moved:
        return None
    places = sorted({game.place for game in games})
    at = [(place, [(game, (game.value, 1.0)) for game in games if game.place == place]) for place in places]
    return Learning(
        measure,
        tuple((place, _estimate(measure, those)) for place, those in at),
        _estimate(None, moved),
    )


def _estimate(measure: str | None, games: Sequence[tuple[PlayedGame, tuple[float, float]]]) -> Estimate:
    """A quotient of sums over games. measure: whose bounds apply."""
    sums = by_deal_and_draw([(game.deal, sums) for game, sums in games], [game.person for game, _ in games])
    bounds = None if measure is None else MEASURES[measure].limits
    found, _ = estimate(
        ClusteredSums.of(sums), quotient, n=len(games), missing=0, units="games", limits=bounds, people=True
    )
    return found
