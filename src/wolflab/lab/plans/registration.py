"""Registrations: an experiment's plan, written to a file before it is run, and how a run keeps to it.

A registration has what decides the games of each condition (as a hash), the primary contrast, the other
contrasts and margins, and the stopping rule: each condition plays its planned games, and void ones are
replaced or not. Put it where others can see its date. `wolflab run --registration` begins a run only with the
registered plan and keeps a copy in the run; the report lists every later change.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from ... import __version__
from ...errors import ExperimentError
from ...fields import Part, first_difference, read_yaml
from ...files import read_text, write
from .experiment import Experiment
from .sources import validation_sentence

FILE = "registration.yaml"
"""The name of the copy in a run."""


class RegisteredGames(Part):
    """A condition. games: a hash of what decides them (`Experiment.identity`)."""

    deals: int
    repeats: int
    first_deal: int = 0
    first_repeat: int = 0
    games: str


class Registration(Part):
    """See the module. registered: the time, in UTC."""

    format: Literal["wolflab registration 1"]
    registered: str
    wolflab: str
    experiment: str
    primary: dict[str, Any] | None
    contrasts: list[str]
    margins: dict[str, float]
    baseline: str | dict[str, str]
    void_games: Literal["replaced", "left out"]
    conditions: dict[str, RegisteredGames]

    @classmethod
    def of(cls, experiment: Experiment) -> Registration:
        """The registration of an experiment, now."""
        return cls(
            format="wolflab registration 1",
            registered=datetime.now(UTC).isoformat(timespec="seconds"),
            wolflab=__version__,
            experiment=experiment.name,
            primary=None if experiment.primary is None else experiment.primary.model_dump(mode="json"),
            contrasts=experiment.contrasts,
            margins=experiment.margins,
            baseline=experiment.baseline or next(iter(experiment.conditions)),
            void_games="replaced" if experiment.redraw_void else "left out",
            conditions={
                name: RegisteredGames(
                    deals=own.deals or experiment.deals,
                    repeats=own.repeats or experiment.repeats,
                    first_deal=own.first_deal,
                    first_repeat=own.first_repeat,
                    games=experiment.identity(name),
                )
                for name, own in experiment.conditions.items()
            },
        )

    def write(self, path: Path) -> None:
        """Write the file. Raises ExperimentError if there is one: a registration is never written over."""
        if path.exists():
            raise ExperimentError(f"{path}: a registration is not written over; name another file with --out")
        write(path, self.written().encode())

    def deviations(self, experiment: Experiment) -> Iterator[str]:
        """Every difference of an experiment from the registration, as a sentence."""
        now = Registration.of(experiment)
        if self.wolflab != now.wolflab:
            yield f"wolflab: version {self.wolflab} was registered, and it is {now.wolflab}"
        kept, mine = (one.model_dump(exclude={"registered", "wolflab", "conditions"}) for one in (self, now))
        for name in kept:
            difference = first_difference(kept[name], mine[name], name)
            if difference is not None:
                where, was, is_now = difference
                yield f"{where}: {was} was registered, and it is {is_now}"
        for name in dict.fromkeys((*self.conditions, *now.conditions)):
            registered, played = self.conditions.get(name), now.conditions.get(name)
            if played is None:
                yield f"condition {name}: it was registered, and is not played"
            elif registered is None:
                yield f"condition {name}: it was not registered"
            elif registered.games != played.games:
                yield f"condition {name}: other rules, players, seed, strata or probes decide its games"
            elif difference := first_difference(registered.model_dump(), played.model_dump()):
                where, was, is_now = difference
                yield f"condition {name}: {where.strip('.')} {was} was registered, and it is {is_now}"


def read_registration(path: Path) -> Registration:
    """Read a registration. Raises ExperimentError for any other file."""
    text = read_text(path)
    try:
        data = read_yaml(text)
        return Registration(**data) if isinstance(data, dict) else Registration.model_validate(data)
    except ValidationError as error:
        sentence = validation_sentence(error, Registration, "docs/power.md")
        raise ExperimentError(f"{path}: it is no registration of Wolflab ({sentence})") from None
    except ExperimentError as error:
        raise ExperimentError(f"{path}: {error}") from None
