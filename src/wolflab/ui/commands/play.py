"""`wolflab play`: one game in the terminal, watched or played by a person among agents."""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import astuple
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import ExperimentError, StoreError, WolflabError
from ...lab.plans.experiment import Experiment
from ...lab.plans.loading import build
from ...lab.plans.overrides import model_given
from ...lab.plans.specs import PERSON
from ...lab.runs.game import keys, rules_of
from ...lab.runs.tables import only_place, play_table
from ...lab.runs.work import error_sentence
from ...lab.storage.run_files import new_directory
from ...lab.storage.store import GIVEN_UP, Place, Store
from ...match import Draws, dealt
from ...rules import ROLES
from ..terminal.console import console, say
from ..terminal.game import GamePrinter
from ..terminal.keyboard import Keyboard
from ..terminal.seat import AwayFromTable, TerminalTable
from .common import resumed, set_resume_command
from .options import Preset, SendKeys, Set, check_alone, commands
from .run_names import GAMES, named
from .show import seat_of

_OF_MANY = frozenset(
    [
        "deals",
        "repeats",
        "conditions",
        "baseline",
        "contrasts",
        "curve",
        "planted",
        "published",
        "redraw_void",
        "concurrency",
        "workers",
        "engine",
        "ray",
        "village",
    ]
)
"""Fields of an experiment that have no meaning for a single game."""

_WHERE = "wolflab play"
_SEEDS = 1000
"""Deals that are searched for one that gives the person the role asked for."""


@commands.command(
    "play",
    epilog="Examples:  `wolflab play`  ·  `wolflab play --rules witch --seed 7 --thoughts`  ·  "
    "`wolflab play --model ollama/llama3.1 --recipe vanilla`",
)
def play(
    context: typer.Context,
    rules: Preset = "sheriff",
    model: Annotated[str, typer.Option(help="Who plays (see `wolflab models`).")] = "village",
    recipe: Annotated[
        str, typer.Option(help="How they think: vanilla, deductive, … random, or module:Class.")
    ] = "deductive",
    seed: Annotated[int, typer.Option(help="The same seed gives the same game.")] = 1,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="Show what the players think.")] = False,
    set_: Set = [],
    pace: Annotated[
        float | None, typer.Option(help="Seconds to rest after each line (default: 0.3 in a terminal).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Keep the game as a run in this directory.")
    ] = None,
    human: Annotated[
        str | None, typer.Option(help="Play yourself, at this seat: its name or number.", show_default=False)
    ] = None,
    role: Annotated[str, typer.Option(help="With --human: the role that you are to be dealt.")] = "",
    resume: Annotated[
        Path | None,
        typer.Option(help="Go on with a game that you left.", callback=named(GAMES), show_default=False),
    ] = None,
    yes: SendKeys = False,
) -> None:
    """Play one game, live: watch it, or take a seat."""
    if pace is not None and not 0 <= pace <= 3600:
        raise typer.BadParameter(f"--pace: got {pace}; use seconds from 0 to 3600")
    check_alone(context, besides=("pace", "yes"))
    if resume is not None:
        _resume(resume, pace)
        return
    if role and human is None:
        raise typer.BadParameter("--role says which role you play; name your seat with --human")
    player = {"recipe": recipe} if recipe == "random" else {"recipe": recipe, "model": model_given(model)}
    data: dict[str, Any] = {
        "name": "play",
        "rules": rules,
        "players": {"others": player},
        "seed": seed,
        "deals": 1,
        "redraw_void": False,
    }
    _refuse_of_many(set_)
    experiment = build(data, set_ if human is None else _take_seat(data, set_, human, role), where=_WHERE)
    own_seat = _own_seat(experiment)
    if own_seat is not None:
        if thoughts:
            raise ExperimentError("--thoughts shows what the others think; leave it out where you play")
        out = new_directory(Path("runs"), "table") if out is None else out
    store = None
    if out is not None:
        store = Store.create(out, experiment)
        store.plan([astuple(only_place(experiment))])
        set_resume_command(resumed("run" if own_seat is None else "play", out))
    _sit(experiment, store, own_seat, thoughts, pace)


def _refuse_of_many(changes: Sequence[str]) -> None:
    """ExperimentError for a change of a field that is about several games."""
    for change in changes:
        field, _, within = change.partition("=")[0].partition(".")
        if field in _OF_MANY and not (field == "village" and within):  # `override` has a better sentence
            raise ExperimentError(
                f"--set {change}: play plays one game, for which {field} says nothing; several are played "
                "by: wolflab run"
            )


def _resume(path: Path, pace: float | None) -> None:
    """Go on with a game that a person left, or that was cut off."""
    with Store.open_for_reading(path) as stopped:
        seat = _own_seat(stopped.experiment)
        if seat is None:
            raise StoreError(f"{path}: no person plays in this run; go on with: wolflab run --resume {path}")
        if stopped.game(1).over:
            raise StoreError(f"{path}: this game is over; read it again with: wolflab show {path} 1")
        if stopped.game(1).error == GIVEN_UP:
            raise StoreError(f"{path}: this game was {GIVEN_UP}; play another one")
    store = Store.resume(path)
    set_resume_command(resumed("play", path))
    _sit(store.experiment, store, seat, False, pace)


def _take_seat(data: dict[str, Any], overrides: Sequence[str], human: str, wanted: str) -> Sequence[str]:
    """Put a person at a seat, in an experiment's fields. Returns the overrides; if a role is `wanted`,
    a seed that deals it is appended.
    """
    fields = Experiment.model_fields.keys() - {"players"}
    rules_alone = [change for change in overrides if re.split("[.=]", change)[0] in fields]
    experiment = build(data, rules_alone, where=_WHERE)  # changes of players may name the seat
    place = only_place(experiment)
    rules = rules_of(experiment, place)
    seat = seat_of(rules.names, human, "--human")
    data["players"][experiment.ruleset(place.condition).names[seat]] = {"recipe": PERSON}
    if not wanted:
        return overrides
    role = next((name for name in rules.roles if name.casefold() == wanted.casefold()), "")
    if role not in ROLES or not rules.count(role):
        known = ", ".join(name for name, n in rules.roles.items() if n)
        raise ExperimentError(f"--role {wanted}: nobody is dealt that role here; use one of {known}")
    for seed in range(experiment.seed, experiment.seed + _SEEDS):
        deal = Draws(keys(experiment.model_copy(update={"seed": seed}), place)[0])
        if dealt(rules, deal).roles[seat] == role:
            return [*overrides, f"seed={seed}"]
    raise ExperimentError(f"--role {role}: none of {_SEEDS} deals gives it to that seat; take another seat")


def _own_seat(experiment: Experiment) -> int | None:
    """The person's seat; None without a person. ExperimentError for several people, who would see each
    other's secrets at one terminal, and for a person who is not seated by name.
    """
    place = only_place(experiment)
    people = [at for at, spec in experiment.cast(place.condition).items() if spec.recipe == PERSON]
    seats = list(seated_people(experiment, place))
    if len(people) > 1 or len(seats) != len(people):
        raise ExperimentError(
            f"recipe person for {', '.join(people)}: one person plays at a terminal, at a seat of their own; "
            "give the recipe to one seat by name, or use --human SEAT alone"
        )
    return seats[0] if seats else None


def _sit(
    experiment: Experiment, store: Store | None, seat: int | None, thoughts: bool, pace: float | None
) -> None:
    """Play the game. seat: the person's, if one plays."""
    screen = console()
    if pace is None:
        pace = 0.3 if sys.stdout.isatty() else 0.0
    rules = rules_of(experiment, only_place(experiment))
    printer = GamePrinter(screen, rules, seat, thoughts=thoughts, pace=0.0 if seat is not None else pace)
    table = None
    if seat is not None:
        at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        table = TerminalTable(screen, printer, Keyboard() if at_terminal else None, pace=pace)
    with nullcontext() if store is None else closing(store):
        try:
            asyncio.run(play_table(store, experiment, table, printer.watch))
            if store is not None:
                again = f"wolflab show {shlex.quote(str(store.path))} 1"
                say(screen, f"kept in {store.path}; read it again with: {again}")
        except* AwayFromTable as errors:
            assert store is not None
            say(screen, f"{error_sentence(errors)}. {_kept(store)}")
        except* WolflabError:
            if store is not None and seat is not None:
                say(screen, _kept(store))
            raise


def _kept(store: Store) -> str:
    return f"The game is kept; go on with: wolflab play --resume {shlex.quote(str(store.path))}"


def seated_people(experiment: Experiment, place: Place) -> dict[int, str]:
    """The people of a planned game by seat, with their names in the experiment."""
    names = experiment.ruleset(place.condition).names
    cast = experiment.cast(place.condition)
    return {
        names.index(at): spec.person for at, spec in cast.items() if spec.recipe == PERSON and at in names
    }
