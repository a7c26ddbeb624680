"""Loads an experiment from a file or a shipped name; a tournament becomes an experiment of its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import ExperimentError
from .experiment import Experiment
from .meanings import MEANINGS, as_meant
from .renaming import overridden
from .sources import read_fields
from .tournament_plan import make_tournament


def load_experiment(
    source: str | Path, overrides: Sequence[str] = (), village: bool = False, meanings: str = MEANINGS
) -> Experiment:
    """Read an experiment: a path, or the name of a shipped one.

    overrides: ``place.to.change=value`` with YAML values; a first part that is no field of the file names a
    player ("sheriff.model=…"). village: apply the file's `village` part. meanings: the version of
    what names mean, where the file has none (`meanings.as_meant`).
    """
    data, where = read_fields(source, "experiment")
    return build(as_meant(data, meanings), overrides, village, where)


def build(
    data: Mapping[str, Any], overrides: Sequence[str] = (), village: bool = False, where: str = "experiment"
) -> Experiment:
    """An experiment from plain values; see `load_experiment`."""
    data = as_meant(data)
    if "entrants" in data:
        return make_tournament(data, overrides, village, where).experiment(where)
    part = data.get("village") if village else None
    plain = {**data, **part, "village": None} if isinstance(part, dict) else data
    made = overridden(plain, overrides, where)
    if village and plain is data and not made.built_in:
        raise ExperimentError(
            f"{where}: it has no 'village' part, so it cannot run on the built-in player as is"
        )
    return made
