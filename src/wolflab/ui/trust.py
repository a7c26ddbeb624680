"""One game's Trust Relationship Tables, day by day, as 003 Fig. 5 draws them."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..metrics.behaviours import TrustTable, trust_tables
from ..record import GameRecord

TRUSTS, GONE, DEAD = "●", "○", "·"


def show_trust(console: Console, record: GameRecord) -> None:
    """Print a table a day: a row trusts the columns marked."""
    tables = trust_tables(record)
    for table in tables:
        console.print(_drawn(table, record.roles))
    note = (
        f"{TRUSTS} trusts (row in column)   {GONE} trusted the day before, not now   {DEAD} out of the game"
    )
    console.print(note if tables else "nobody was asked to speak in this game", highlight=False)


def _drawn(table: TrustTable, roles: tuple[str, ...]) -> Table:
    drawn = Table(title=f"day {table.day}", title_justify="left")
    drawn.add_column("")
    for name in table.names:
        drawn.add_column(_short(name), justify="center")
    for i, row in enumerate(table.trusts):
        cells = []
        for j, trusted in enumerate(row):
            if i not in table.alive or j not in table.alive:
                cells.append(Text(DEAD, style="dim"))
            elif trusted:
                both = (min(i, j), max(i, j)) in table.reciprocal
                cells.append(Text(TRUSTS, style="bold green" if both else "yellow"))
            else:
                cells.append(Text(GONE if (i, j) in table.dissolved else "", style="red"))
        drawn.add_row(Text(f"{_short(table.names[i])} {roles[i]}", no_wrap=True), *cells)
    new, mutual = len(table.established), len(table.reciprocal)
    drawn.caption = f"{len(table.relations)} of {table.pairs}, {new} new, {mutual} both ways"
    return drawn


def _short(name: str) -> str:
    """A player's number, so that a table of seven fits the screen."""
    return "".join(char for char in name if char.isdigit()) or name
