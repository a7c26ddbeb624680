"""A study in the terminal: a draft to fill in, and how far it is."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from ...errors import StoreError
from ...files import write
from ...lab.plans.sources import shipped_files
from ...lab.storage.store import Store
from ...lab.studies.people import given_up, kept_people, step_of
from ...lab.studies.plan import STUDY, load_study
from ..terminal.console import say
from ..wording import counted


def draft_study(console: Console, name: str, to: Path) -> None:
    """Write a shipped study as a file whose blanks somebody fills in. StoreError where the file is there."""
    shipped = shipped_files("studies")
    if name not in shipped:
        raise StoreError(f"there is no shipped study {name!r}; shipped are {', '.join(shipped)}")
    if to.exists():
        raise StoreError(f"{to} is there already; name another file")
    write(to, shipped[name].encode())
    blanks = ", ".join(f"consent.{field}" for field in load_study(to).consent.blanks)
    say(console, f"{to}: fill in {blanks}; then run: wolflab study {to}")


def show_study(console: Console, folder: Path) -> None:
    """How far everybody is."""
    if not (folder / STUDY).is_file():
        raise StoreError(f"{folder} is no study's folder; begin one with: wolflab study FILE")
    study = load_study(folder / STUDY)
    people = kept_people(folder).values()
    with Store.open_for_reading(folder) as store:
        status = {row.id: row for row in store.games()}
        table = Table(title=study.title)
        for head in ("person", "cell", "sessions", "step", "games over", "abandoned", "reports"):
            table.add_column(head)
        for person in people:
            numbers = (number for given in person.games.values() for number in given)
            rows = [status[number] for number in numbers if number in status]
            table.add_row(
                person.name,
                person.cell,
                str(len(person.visits)),
                person.left or step_of(study, person) or "through",
                str(sum(row.over for row in rows)),
                str(sum(given_up(row) for row in rows)),
                str(len(person.reports)),
            )
    console.print(table)
    through = sum(not person.gone and not step_of(study, person) for person in people)
    say(console, f"{through} of {counted(study.people, 'person', 'people')} are through")
    for person in people:
        for report in person.reports:
            console.print(f"{person.name} reports: {report.text}", markup=False)
