"""One seat's own wins, by the side that its cards put it on (004, human evaluation: one player among six).

A game's own wins differ from the village's: the watched seat is now of the village, now a Werewolf.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..record import GameRecord
from ..rules import ROLES
from .data import Game
from .intervals import Estimate, Floats, divide, estimate, share
from .play import village_won

BY_SIDE = {"own_village_win": False, "own_wolf_win": True}
"""Own wins where the seat is of the village, and where it is a Werewolf."""
OWN = (*BY_SIDE, "own_win")
"""Names of `own_wins`. own_win: the mean of both sides, so that each counts half whatever the cards."""


def won_as(record: GameRecord, seat: int, wolf: bool) -> float | None:
    """1.0 where that seat's side won, 0.0 where not; None for a game in which it is of the other side."""
    if ROLES[record.roles[seat]].wolf is not wolf:
        return None
    return float(village_won(record) is (not wolf))


def own_wins(games: Sequence[Game], seed: int) -> dict[str, Estimate]:
    """How often the watched seat's side wins; nothing where no seat is watched. n counts games."""
    played = [
        (game, game.record, game.watched)
        for game in games
        if game.status == "done" and game.record is not None and game.watched is not None
    ]
    if not played:
        return {}
    drawn = [game.draw for game, _, _ in played]
    sums = {
        name: [_counted(won_as(record, seat, wolf)) for _, record, (seat, _) in played]
        for name, wolf in BY_SIDE.items()
    }
    deals = [game.deal for game, _, _ in played]
    sides = {
        name: share(
            [(deal, *each) for deal, each in zip(deals, found, strict=True)], "games", seed=seed, draws=drawn
        )
        for name, found in sums.items()
    }
    rows = [(deal, (*a, *b)) for deal, a, b in zip(deals, *sums.values(), strict=True)]
    n = len(rows) if all(one.n for one in sides.values()) else 0
    both = estimate(rows, _halves, n=n, units="games", seed=seed, bounds=(0.0, 1.0), draws=drawn)
    return {**sides, "own_win": both}


def own_halves(games: Iterable[Game]) -> list[tuple[int, float | None]]:
    """(deal, value) of games, so that the values' mean is `own_win`: each counts by the size of its side."""
    rows = [
        (game.deal, ROLES[game.record.roles[game.watched[0]]].wolf, game)
        for game in games
        if game.record is not None and game.watched is not None
    ]
    wolves = sum(wolf for _, wolf, _ in rows)
    sizes = {True: wolves, False: len(rows) - wolves}
    if not all(sizes.values()):
        return []
    return [(deal, _won(game, wolf) * len(rows) / (2 * sizes[wolf])) for deal, wolf, game in rows]


def _won(game: Game, wolf: bool) -> float:
    assert game.record is not None
    assert game.watched is not None
    return won_as(game.record, game.watched[0], wolf) or 0.0


def _counted(won: float | None) -> tuple[float, float]:
    """(wins, games)."""
    return (0.0, 0.0) if won is None else (won, 1.0)


def _halves(sums: Floats) -> Floats:
    return (divide(sums[:, 0], sums[:, 1]) + divide(sums[:, 2], sums[:, 3])) / 2
