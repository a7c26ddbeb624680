"""Players with mostly unusable replies or mostly stand-in decisions: one rule for page, terminal, tables,
warnings during a run and the exit code.

A player is judged by condition, over all its games there, including void and unfinished ones. Conditions with
the same failure are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...metrics.play import player_labels
from ...metrics.registry import SPLITS
from ...metrics.rows import MeasureRow
from ..runs.counting import rows_of
from ..runs.tournament_games import entrants_at, rotations_of
from ..storage.store import Store
from .unusable_replies import ErrorSummary, Tally

MANY = 50
"""The fewest replies for a warning during a run."""
MANY_DECISIONS = 20
"""The same for decisions. Each takes several calls, with retries."""


@dataclass(frozen=True, slots=True)
class UnusablePlayer:
    """A player (model and recipe) with more than half of its replies unusable in each of `conditions`.

    replies, unusable: over these conditions. reason: the most frequent one; often: its count. run: the path
    of its run. everywhere: these are all conditions of the run. decisions: the numbers are of decisions, more
    than half of which were stand-ins. entrants: of a tournament, those that it plays for.
    """

    player: str
    conditions: tuple[str, ...]
    replies: int
    unusable: int
    reason: str
    often: int
    run: str
    everywhere: bool = True
    decisions: bool = False
    entrants: tuple[str, ...] = ()


def unusable_players(
    errors: ErrorSummary, replies: int = 1, decisions: int = 1
) -> tuple[UnusablePlayer, ...]:
    """The players with mostly unusable replies so far, then those with only mostly stand-in decisions.

    replies, decisions: a player with fewer of them in its failing conditions is left out.
    """
    every = tuple(errors.store.experiment.conditions)
    found: dict[tuple[bool, str], dict[str, Tally]] = {}
    for (condition, player), tally in errors.tally().items():
        if tally.mostly_unusable or tally.mostly_stood_in_for:
            found.setdefault((not tally.mostly_unusable, str(player)), {})[condition] = tally
    rows = []
    for (decided, name), tallies in sorted(found.items()):
        total = Tally()
        for tally in tallies.values():
            total.add(tally)
        count, reasons = (total.decisions, total.stand_ins) if decided else (total.replies, total.reasons)
        if count >= (decisions if decided else replies):
            where = tuple(condition for condition in every if condition in tallies)
            most = reasons.most_common(1)[0]
            run, everywhere = str(errors.store.path), where == every
            rows.append(UnusablePlayer(name, where, count, reasons.total(), *most, run, everywhere, decided))
    return tuple(rows)


def unusable_players_of(store: Store) -> tuple[UnusablePlayer, ...]:
    """The unusable players of a stored run, for any number of replies. Only records of suspect conditions are
    read.
    """
    games = store.games()
    suspects = {
        game.condition
        for game, row in zip(games, rows_of(store, games), strict=True)
        if (store.game_totals(game.id) if row is None else any(2 * bad > all_ for bad, all_ in _counts(row)))
    }
    if not suspects:
        return ()
    with ErrorSummary(store, suspects) as errors:
        return unusable_players(errors)


def unusable_entrants(store: Store) -> tuple[UnusablePlayer, ...]:
    """The unusable players of a tournament, with the entrants that they play for, from a finished game of
    each condition.
    """
    games = {game.condition: game.id for game in store.games("done")}
    found, rotations = [], rotations_of(store)
    for unusable in unusable_players_of(store):
        entrants: list[str] = []
        for condition in unusable.conditions:
            if condition in games:
                record = store.record(games[condition])
                seated = entrants_at(rotations, condition, record.roles)
                entrants += [
                    name
                    for label, name in zip(player_labels(record), seated, strict=False)
                    if str(label) == unusable.player
                ]
        found.append(replace(unusable, entrants=tuple(dict.fromkeys(entrants))))
    return tuple(found)


def _counts(row: MeasureRow) -> Iterator[tuple[float, float]]:
    """(unusable, all) of each player's replies, then of its decisions, in one game."""
    for number, measure in enumerate(SPLITS.values()):
        if measure.name in ("invalid_by_player", "stand_ins_by_player"):
            for _, sums in row.parts.get(number, ()):
                if sums is not None:
                    yield sums[0], sums[1]


__all__ = [
    "MANY",
    "MANY_DECISIONS",
    "UnusablePlayer",
    "unusable_entrants",
    "unusable_players",
    "unusable_players_of",
]
