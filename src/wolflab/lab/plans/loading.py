"""From a file, or a shipped name, to what is to be played; a tournament becomes its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import tournament
from .experiment import Experiment, checked
from .sources import read_fields


def load_experiment(source: str | Path, overrides: Sequence[str] = (), village: bool = False) -> Experiment:
    """Read an experiment: a path, or the name of a shipped one.

    overrides: ``place.to.change=value`` with YAML values; a first part that is no field of the file is
    taken as a player ("sheriff.model=…"). village: apply the file's `village` part.
    """
    data, where = read_fields(source, "experiment")
    return build(data, overrides, village, where)


def build(
    data: Mapping[str, Any], overrides: Sequence[str] = (), village: bool = False, where: str = "experiment"
) -> Experiment:
    """An experiment from plain values; see `load_experiment`."""
    if "entrants" in data:
        return tournament.make_tournament(data, overrides, village, where).experiment(where)
    return checked(data, overrides, village, where)
