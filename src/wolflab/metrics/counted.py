"""What a measure counts in one game: which turns, which days, or how the game ended.

The registry's entries say it together with what they sum (`Measure.by_day`, `turns`, `at_end`). A measure
without these three is counted over the whole game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .measure import Measure
from .observed import ObservedGame


@dataclass(frozen=True, slots=True)
class CountedInGame:
    """turns: ask → what its turn adds to the numerator and to n; of a day's value, (0, 0). days: round → its
    value. missing: round → why it has none. at_end: how the game ended is counted.
    """

    turns: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    days: Mapping[int, float] = field(default_factory=dict)
    missing: Mapping[int, str] = field(default_factory=dict)
    at_end: bool = False

    @property
    def hits(self) -> float:
        """The game's numerator."""
        return sum(hits for hits, _ in self.turns.values())

    @property
    def n(self) -> float:
        """What the turns add to n."""
        return sum(n for _, n in self.turns.values())


def counted_in(measure: Measure, game: ObservedGame) -> CountedInGame | None:
    """What a measure of this game's groups counts; None: the whole game."""
    if measure.by_day is not None:
        return _by_day(measure, game)
    if measure.turns is not None:
        return CountedInGame(measure.turns(game))
    return CountedInGame(at_end=True) if measure.at_end else None


def _by_day(measure: Measure, game: ObservedGame) -> CountedInGame:
    by_day, days = measure.by_day, {day.round: day for day in game.days}
    assert by_day is not None
    values = by_day.values(game)
    missing = {
        round: by_day.lacks(game, days[round]) if round in days else "no vote was counted"
        for round in range(1, game.record.facts.round + 1)
        if round not in values
    }
    turns = {
        turn.ask: (0.0, 0.0)
        for turn in (*game.record.turns, *game.record.probes)
        if turn.round in values
        and turn.kind in by_day.kinds
        and (turn.kind != "statement" or turn.seat == days[turn.round].sheriff)
    }
    return CountedInGame(turns, values, missing)
