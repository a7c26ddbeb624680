"""What the others vote after the turn from which a fork goes on, in its round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..record import GameRecord
from .days import Day


def forked_day(record: GameRecord, days: Sequence[Day]) -> Day | None:
    """The day of a fork's turn; None for a game that is no fork, and without a vote that day."""
    if record.fork is None:
        return None
    round = int(record.fork["at"].split("/")[0])
    return next((day for day in days if day.round == round), None)


def votes_after(record: GameRecord, days: Sequence[Day]) -> Mapping[int, int | None]:
    """Voter → target (None: no vote) on the day of a fork's turn, without the seat of that turn."""
    day = forked_day(record, days)
    if day is None or record.fork is None:
        return {}
    speaker = int(record.fork["at"].split("/")[2])
    return {voter: target for voter, target in day.votes.items() if voter != speaker}


def x_ballots(record: GameRecord, days: Sequence[Day]) -> dict[str, bool]:
    """Ask of each vote after a fork's turn → whether it is for X; without those of X and Y."""
    day = forked_day(record, days)
    if day is None or record.fork is None or "x" not in record.fork:
        return {}
    x, y = record.fork["x"], record.fork["y"]
    return {
        f"{day.round}/vote/{voter}": target == x
        for voter, target in votes_after(record, days).items()
        if voter not in (x, y)
    }


def x_votes(record: GameRecord, days: Sequence[Day]) -> tuple[int, int] | None:
    """(votes for X, votes) among these; None for a game without them."""
    votes = x_ballots(record, days).values()
    return (sum(votes), len(votes)) if votes else None
