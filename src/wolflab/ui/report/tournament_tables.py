"""Tables of a tournament besides its results: rotations, predictions, cost beside strength, and its figure.

The last two tables are the terminal's too. The module knows `Standings` and `Extras`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...lab.results.extras import Extras
from ...metrics.standings import Standings
from ..wording import name_shown
from .figures import Picture, PlacedPoint, scatter
from .numbers import NO_NUMBER, UNKNOWN, number_cell, shown
from .report_table import Cell, ReportTable, TableRow

COSTS: Mapping[str, str] = {"usd": "USD a game and seat", "tokens": "tokens a game and seat"}


def rotation_table(standings: Standings, extras: Extras) -> ReportTable:
    """Who sits where in each rotation."""
    seats = max(len(who) for who in standings.rotations.values())
    rows: list[TableRow] = [
        [rotation, *(name_shown(extras, name) for name in who)]
        for rotation, who in standings.rotations.items()
    ]
    heads = ["rotation", *(f"seat {seat}" for seat in range(seats))]
    left = tuple(range(1, seats + 1))
    return ReportTable("Rotations", heads, rows, instrument=standings.instrument, left=left)


# -- predictions ------------------------------------------------------------------------------


def losses_table(standings: Standings) -> ReportTable:
    """The losses of each model, and their differences."""
    prediction = standings.prediction
    rows: list[TableRow] = [[row.model, shown(row.brier), shown(row.log_loss)] for row in prediction.losses]
    rows += [
        [
            f"{row.first} − {row.second}",
            shown(row.brier, signed=True),
            shown(row.log_loss, signed=True),
        ]
        for row in prediction.differences
    ]
    heads = ["model", "Brier score", "log loss"]
    return ReportTable("Predictions of pairings left out", heads, rows, instrument=standings.instrument)


# -- cost beside strength ---------------------------------------------------------------------


def cost_table(standings: Standings, extras: Extras) -> ReportTable:
    """Each entrant's strength and cost, and whether it is Pareto-optimal."""
    rows: list[TableRow] = [
        [
            name_shown(extras, row.name),
            NO_NUMBER if row.strength is None else shown(row.strength, "one", True),
            Cell(UNKNOWN, look="none") if row.usd is None else number_cell(row.usd, "usd"),
            number_cell(row.tokens, "large"),
            number_cell(row.seats, "count"),
            NO_NUMBER if row.pareto_optimal is None else "yes" if row.pareto_optimal else "no",
        ]
        for row in standings.frontier.rows
    ]
    compared = "USD" if standings.frontier.by == "usd" else "tokens"
    heads = ["entrant", "strength", *COSTS.values(), "seats held", f"Pareto-optimal, by {compared}"]
    return ReportTable("Cost beside strength", heads, rows, instrument=standings.instrument)


def cost_figure(standings: Standings, extras: Extras) -> Picture | None:
    """Strength by cost; None without two entrants that have both."""
    by = standings.frontier.by
    points = [
        PlacedPoint(name_shown(extras, row.name), getattr(row, by), row.strength, bool(row.pareto_optimal))
        for row in standings.frontier.rows
        if row.strength is not None and row.strength.value is not None
    ]
    if len(points) < 2:
        return None
    alt = f"Strength of each entrant by {COSTS[by]}"
    return scatter("cost", points, COSTS[by], "strength (log odds)", alt)
