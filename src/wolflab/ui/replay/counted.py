"""What each measure counts in a game, for the replay page: in words, and as marks on turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...metrics.counted import CountedInGame, counted_in
from ...metrics.measure import Measure
from ...metrics.observed import ObservedGame
from ...metrics.registry import MEASURES
from ...metrics.rows import GameValue, game_value, row_of_game
from ...metrics.summary import COST
from ..report.numbers import UNKNOWN, number
from ..wording import counted, counted_units


def counted_data(game: ObservedGame, asks: Sequence[str], priced: bool) -> dict[str, Any]:
    """Measure → what the page says, its marks, and whether it counts the end. asks: of the page's turns; a
    mark is [index of the turn, whether it is in the numerator]; of replies, only those in it are marked.
    priced: the cost of its calls is known.
    """
    row, places = row_of_game(game), {ask: index for index, ask in enumerate(asks)}
    data = {}
    for name, measure in MEASURES.items():
        value = game_value(row, name)
        if not value.n and measure.group not in row.groups:
            continue
        found = counted_in(measure, game)
        turns: Mapping[str, tuple[float, float]] = {} if found is None else found.turns
        marks = [
            [places[ask], int(hits > 0)]
            for ask, (hits, _) in turns.items()
            if ask in places and (hits or measure.section != "replies")
        ]
        shown = "no value" if value.value is None else number(value.value, measure.unit)
        if name == COST and not priced:
            shown = UNKNOWN
        label = measure.label[:1].upper() + measure.label[1:]
        data[name] = {
            "says": f"{label}: {shown} in this game. {_counted(measure, value, found)}",
            "turns": marks,
            "end": found is not None and found.at_end,
        }
    return data


def _counted(measure: Measure, value: GameValue, found: CountedInGame | None) -> str:
    if found is None:
        return "Counted over the whole game."
    if found.at_end:
        return "Counted: how the game ended."
    if measure.by_day is not None:
        return _days(measure, found)
    if not value.n:
        return "Nothing is counted."
    if value.units == "games":
        return f"Seen in {counted(len(found.turns), 'turn')}."
    if not measure.how.share:
        return f"Counted: {counted_units(value.n, value.units)}."
    filled = " Filled marks are in the numerator." if 0 < found.hits < found.n else ""
    return f"Counted: {round(found.hits):,} of {counted_units(value.n, value.units)}.{filled}"


def _days(measure: Measure, found: CountedInGame) -> str:
    said = {day: f"Day {day}: {number(value, measure.unit)}." for day, value in found.days.items()}
    said |= {day: f"Day {day} is not counted: {why}." for day, why in found.missing.items()}
    every = f"Counted: {len(found.days)} of {counted(len(said), 'day')}."
    return " ".join([every, *(said[day] for day in sorted(said))])
