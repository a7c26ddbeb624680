"""`wolflab study`: serve a study, write a draft to fill in, or show the progress."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ...errors import StoreError
from ...files import allow_files, write
from ...lab.plans.sources import shipped_files
from ...lab.storage.store import Store
from ...lab.studies.people import is_abandoned, kept_people, step_of
from ...lab.studies.study_plan import STUDY, StudyPlan, load_study
from ..study.study_app import recruiting_link, study_application
from ..study.study_server import StudyServer
from ..terminal.console import console, log_at_terminal, print_json, say
from ..terminal.forecast import Beginning, forecast_first
from ..wording import counted
from .common import command_with_yes, preflight_models
from .options import AllowHost, AsJson, BehindProxy, Listening, Port, Yes, commands
from .run_names import run_named
from .serve import Listener


@commands.command(
    "study",
    epilog="Examples:  `wolflab study helmsman-people --draft mine.yaml`  ·  `wolflab study mine.yaml`  ·  "
    "`wolflab study runs/mine --show`",
)
def study(
    source: Annotated[
        str, typer.Argument(help="A study's file, a shipped study's name, or a study's folder.")
    ],
    draft: Annotated[
        Path | None,
        typer.Option(help="Write the study as a file to fill in, and stop.", show_default=False),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print its progress, and stop.")] = False,
    host: Listening = "127.0.0.1",
    port: Port = 8000,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The study's folder (default: under runs/).", show_default=False),
    ] = None,
    allow_host: AllowHost = [],
    behind_proxy: BehindProxy = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Run a study with people: consent, rules, games among agents, questions."""
    screen, folder = console(), Path(source)
    if draft is not None:
        _draft(screen, source, draft)
        return
    if show:
        _show(screen, run_named(folder, [STUDY]))
        return
    log_at_terminal()
    if not (folder / STUDY).is_file():
        folder = out or Path("runs") / load_study(source).name
    elif out is not None:
        raise StoreError(f"{source} is a study's folder: it goes on there; leave out --out")
    else:
        source = str(folder / STUDY)
    allow_files()
    beginning = Beginning()

    def agreed(study: StudyPlan, store: Store | None, new: bool) -> None:
        nonlocal beginning
        if new:
            preflight_models(study.on_agents)
        beginning = forecast_first(screen, study.on_agents, yes, command_with_yes(), store, study.expected)

    server = StudyServer.open(folder, source, agreed=agreed)
    again = f"wolflab study {shlex.quote(str(folder))}"
    try:
        beginning.keep(server.store)
        listener = Listener(host, port, allow_host, behind_proxy)
        server.tables.hold()
        say(screen, f"{server.study.title}: {listener.url}study/")
        say(screen, f"A link for somebody with an id of yours: {recruiting_link(listener.url, 'ID')}")
        say(screen, f"How far it is: {again} --show")
        # Everybody with the link may take part: it needs no access token.
        listener.serve(screen, study_application(server, listener.hosts))
    finally:
        server.close()
    say(screen, f"Stopped. The study is kept in {folder}; go on with: {again}")


def _draft(console: Console, name: str, to: Path) -> None:
    """Write a shipped study as a file with blanks to fill in. StoreError if the file exists."""
    shipped = shipped_files("studies")
    if name not in shipped:
        raise StoreError(f"there is no shipped study {name!r}; shipped are {', '.join(shipped)}")
    if to.exists():
        raise StoreError(f"{to} is there already; name another file")
    write(to, shipped[name].encode())
    blanks = ", ".join(f"consent.{field}" for field in load_study(to).consent.blanks)
    say(console, f"{to}: fill in {blanks}; then run: wolflab study {to}")


def _show(console: Console, folder: Path) -> None:
    """Print everybody's progress."""
    if not (folder / STUDY).is_file():
        raise StoreError(f"{folder} is no study's folder; begin one with: wolflab study FILE")
    study = load_study(folder / STUDY)
    people = kept_people(folder).values()
    with Store.open_for_reading(folder) as store:
        status = {row.id: row for row in store.games()}
        table = Table(title=study.title)
        heads = ("person", "cell", "sessions", "step", "games over", "abandoned", "reports")
        for head in heads:
            table.add_column(head)
        listed = []
        for person in people:
            numbers = (number for given in person.games.values() for number in given)
            rows = [status[number] for number in numbers if number in status]
            cells = (
                person.name,
                person.cell,
                len(person.visits),
                person.left or step_of(study, person) or "through",
                sum(row.over for row in rows),
                sum(is_abandoned(row) for row in rows),
                len(person.reports),
            )
            table.add_row(*map(str, cells))
            listed.append(dict(zip(heads, cells, strict=True)))
    console.print(table)
    print_json({"people": listed})
    through = sum(not person.gone and not step_of(study, person) for person in people)
    say(console, f"{through} of {counted(study.people, 'person', 'people')} are through")
    for person in people:
        for report in person.reports:
            console.print(f"{person.name} reports: {report.text}", markup=False)
