"""One game as the measures see it: its record, and what several of them need, each worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..record import GameRecord
from ..usage import CallTotals
from .conduct import Conduct, conduct
from .days import Day, days
from .deduction import RoleGuess, judgements
from .leadership import standing_of_role
from .play import PlayerLabel, Replies, replies


@dataclass(frozen=True, slots=True)
class MeasuringOptions:
    """What is worked out beside the rest where an experiment asks for it.

    behaviours: `conduct`. watched: the seat whose own wins are told. choices: studies of `metrics.choices`.
    """

    behaviours: bool = False
    watched: int | None = None
    choices: tuple[str, ...] = ()


NOTHING_MORE = MeasuringOptions()


class ObservedGame:
    """See the module. calls: what the game's calls came to, over all models."""

    def __init__(
        self, record: GameRecord, asked: MeasuringOptions = NOTHING_MORE, calls: CallTotals | None = None
    ) -> None:
        self.record, self.asked = record, asked
        self.calls = calls or CallTotals()

    @cached_property
    def days(self) -> tuple[Day, ...]:
        """The finished days."""
        return tuple(day for day in days(self.record) if day.finished)

    @cached_property
    def standings(self) -> Mapping[str, float]:
        """Role → mean standing of its holders who are not Sheriff, where there is one."""
        found = {role: standing_of_role(self.days, role) for role in sorted(set(self.record.roles))}
        return {role: value for role, value in found.items() if value is not None}

    @cached_property
    def judged(self) -> tuple[RoleGuess, ...]:
        """What the village side guessed of the others, at each finished day's vote."""
        return tuple(judgements(self.days))

    @cached_property
    def replies(self) -> Mapping[PlayerLabel, Replies]:
        """How well each player's replies could be used."""
        return replies(self.record)

    @property
    def made(self) -> int:
        """How many model calls the record tells of."""
        return sum(one.attempts for one in self.replies.values())

    @cached_property
    def conduct(self) -> Conduct:
        """What the players do beside the rules. It takes longer than all else."""
        return conduct(self.record)
