"""`wolflab init`: write a commented experiment to begin with."""

from __future__ import annotations

import re
import shlex
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from ...errors import ExperimentError
from ...files import write
from ..terminal.console import console, say
from .options import commands

_SCHEMA = "experiment.schema.json"
"""The file of `wolflab schema experiment` that an experiment names if both are in one folder."""


@commands.command("init", epilog="Examples:  `wolflab init`  ·  `wolflab init mine.yaml`")
def init(
    file: Annotated[Path, typer.Argument(help="The new file.")] = Path("my-experiment.yaml"),
) -> None:
    """Write an experiment with comments, to begin with; it runs as it stands."""
    if file.suffix not in (".yaml", ".yml"):
        raise ExperimentError(f"{file}: an experiment is a YAML file; give it a name that ends in .yaml")
    if file.exists():
        raise ExperimentError(f"{file} is there already; name another file")
    name, plain = shlex.quote(str(file)), re.sub(r"[^\w.-]+", "-", file.stem)
    text = resources.files(__package__).joinpath("first_experiment.yaml").read_text(encoding="utf-8")
    if (file.parent / _SCHEMA).is_file():  # an editor finds it without a network
        text = f"# yaml-language-server: $schema={_SCHEMA}\n{text}"
    write(file, text.replace("FILE", name).replace("NAME\n", f"{plain}\n", 1).encode())
    say(console(), f"{file}: an experiment that runs as it stands, with: wolflab run {name}")
