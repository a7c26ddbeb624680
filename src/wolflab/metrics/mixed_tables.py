"""Results of mixed tables: entrants sit side by side, on both sides of one table (`lab.plans.rotations`).

An entrant's win rate on a side is over its seats of that side: a game in which it holds two of them counts
twice, and the seats of a game share its result. A difference between two entrants is taken deal by deal, on
the deals that all rotations have: there both hold every card of the deal equally often.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..stats.clusters import Statistic, by_deal
from ..stats.comparing import paired
from ..stats.intervals import UNIT, clustered_estimate, divide
from ..stats.prediction import predict_left_out
from ..stats.ratings import RatedGame, rate_entrants
from .behaviours import SideName
from .frontier import EntrantUsage, frontier
from .standings import (
    Difference,
    Score,
    SidePart,
    Standings,
    best_first,
    compared_in_pairs,
)


class MixedGame(NamedTuple):
    """One finished game. village, werewolves: the entrants on the seats of each side. winner: None if neither
    side won.
    """

    rotation: str
    village: tuple[str, ...]
    werewolves: tuple[str, ...]
    deal: int
    repeat: int
    winner: SideName | None


def mixed_standings(
    results: Sequence[MixedGame],
    rotations: Mapping[str, tuple[str, ...]],
    *,
    title: str = "",
    description: str = "",
    instrument: bool = False,
    missing: int = 0,
    used: Mapping[str, EntrantUsage] | None = None,
) -> Standings:
    """The results of a tournament with mixed tables. rotations: the entrant on each seat. used: see
    `frontier`.
    """
    names = tuple(dict.fromkeys(seats[0] for seats in rotations.values()))
    order = {name: place for place, name in enumerate(rotations)}
    rated = [
        RatedGame(game.deal, game.village, game.werewolves, game.winner == "village")
        for game in sorted(results, key=lambda game: (game.deal, game.repeat, order[game.rotation]))
        if game.winner is not None
    ]
    ratings = rate_entrants(rated)
    deals = _WholeDeals(results, len(rotations))
    return Standings(
        title=title,
        description=description,
        instrument=instrument,
        village=names,
        werewolves=names,
        cells=(),
        scores=tuple(sorted((_score(name, results) for name in names), key=best_first)),
        differences=compared_in_pairs(names, deals.difference),
        ratings=ratings,
        skills=(),
        beside=(),
        decisions=(),
        level=None,
        missing=missing,
        rotations=rotations,
        prediction=predict_left_out(rated),
        frontier=frontier(used or {}, ratings),
    )


def _score(name: str, results: Sequence[MixedGame]) -> Score:
    rows = [(game.deal, _sums(name, game)) for game in results]
    village, werewolves = (sum(round(sums[k]) for _, sums in rows) for k in (1, 3))
    seats: Mapping[SidePart, int] = {
        "both": village + werewolves,
        "village": village,
        "werewolves": werewolves,
    }
    rates = {
        part: clustered_estimate(rows, rate, n=seats[part], units="seats", bounds=UNIT)
        for part, rate in _RATES.items()
    }
    return Score(name, rates["both"], rates["village"], rates["werewolves"])


def _sums(name: str, game: MixedGame) -> list[float]:
    """Seats won and held by an entrant: as the village, as the Werewolves."""
    village, werewolves = float(game.village.count(name)), float(game.werewolves.count(name))
    won = village * (game.winner == "village"), werewolves * (game.winner == "werewolves")
    return [won[0], village, won[1], werewolves]


_RATES: Mapping[SidePart, Statistic] = {
    "both": lambda sums: (divide(sums[:, 0], sums[:, 1]) + divide(sums[:, 2], sums[:, 3])) / 2,
    "village": lambda sums: divide(sums[:, 0], sums[:, 1]),
    "werewolves": lambda sums: divide(sums[:, 2], sums[:, 3]),
}
"""Win rates of an entrant from its sums (`_sums`)."""


class _WholeDeals:
    """The games of the deals that all rotations have."""

    def __init__(self, results: Sequence[MixedGame], rotations: int) -> None:
        self._games: dict[int, list[MixedGame]] = defaultdict(list)
        for game in results:
            self._games[game.deal].append(game)
        for deal, games in list(self._games.items()):
            if len({game.rotation for game in games}) < rotations:
                del self._games[deal]

    def difference(self, first: str, second: str, part: SidePart) -> Difference:
        """The win rate of one entrant minus that of another."""
        test = paired(self._by_deal(first, part), self._by_deal(second, part), bounds=(-1.0, 1.0))
        return Difference(first, second, part, test.difference, test.p, None)

    def _by_deal(self, name: str, part: SidePart) -> list[tuple[int, float]]:
        """(deal, win rate), deals in ascending order."""
        rows = [(deal, _sums(name, game)) for deal, games in self._games.items() for game in games]
        if not rows:
            return []
        return list(zip(sorted(self._games), _RATES[part](by_deal(rows)).tolist(), strict=True))
