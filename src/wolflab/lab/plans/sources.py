"""Finds files of experiments and the like by path or shipped name, and reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...errors import ExperimentError, ModelError, RulesetError
from ...fields import LARGEST_TEXT, field_error, read_yaml
from ...files import read_file


def shipped_files(folder: str = "") -> dict[str, str]:
    """The files that ship with Wolflab in `folder` of its experiments: name → text."""
    inside = f"/{folder}" if folder else ""
    place = resources.files("wolflab").joinpath(f"experiments{inside}")
    if not place.is_dir():
        place = resources.files("wolflab").joinpath(f"../../experiments{inside}")
    if not place.is_dir():
        return {}
    entries = sorted(place.iterdir(), key=lambda entry: entry.name)
    return {
        entry.name.removesuffix(".yaml"): entry.read_text(encoding="utf-8")
        for entry in entries
        if entry.name.endswith(".yaml")
    }


_KINDS = (
    ("experiment", "", "run"),
    ("tournament", "", "tournament"),
    ("training", "training", "train"),
    ("study", "studies", "study"),
)
"""Kind of file → (the folder of the shipped ones, the command that runs it)."""
COMMANDS = {kind: command for kind, _, command in _KINDS}
"""Kind of file → the command that runs it."""
_FIELDS = {"entrants": "tournament", "experiment": "study", "training": "training", "rounds": "training"}
"""Field → the kind of file that it marks. The first match counts, because a study may have `training` too. A
file with none of them is an experiment.
"""


def folder_of(kind: str) -> str:
    """Where the shipped files of that kind lie, in the folder of experiments."""
    return next(folder for name, folder, _ in _KINDS if name == kind)


def file_kind(source: str | Path) -> str:
    """The kind of a file or of a shipped name: "experiment", "tournament", "training" or "study".

    Any other file counts as an experiment: reading it as one gives the error.
    """
    shipped = [
        texts[str(source)] for _, folder, _ in _KINDS if str(source) in (texts := shipped_files(folder))
    ]
    text = shipped[0] if shipped and not Path(source).is_file() else _text(source, "experiment", "")[0]
    try:
        return _kind(read_yaml(text))
    except ExperimentError:
        return "experiment"


def _kind(data: Any) -> str:
    fields = data if isinstance(data, dict) else {}
    return next((kind for field, kind in _FIELDS.items() if field in fields), "experiment")


def read_fields(source: str | Path, kind: str, folder: str = "") -> tuple[dict[str, Any], str]:
    """The fields of a file or of a shipped one, and its name for messages.

    kind: "experiment", "tournament", "training", "study". A duplicate key is an error.
    """
    text, where = _text(source, kind, folder)
    try:
        data = read_yaml(text)
    except ExperimentError as error:
        raise ExperimentError(f"{where}: {error}") from None
    if not isinstance(data, dict):
        raise ExperimentError(f"{where}: {_a(kind)} is a mapping of fields, starting with name:")
    found = _kind(data)
    if found not in (kind, "experiment") and (found, kind) != ("tournament", "experiment"):
        raise ExperimentError(f"{where} is a {found}; it is run by: wolflab {COMMANDS[found]} {source}")
    return data, where


def _text(source: str | Path, kind: str, folder: str) -> tuple[str, str]:
    path = Path(source)
    if path.is_file():
        if path.stat().st_size > LARGEST_TEXT:
            raise ExperimentError(
                f"{source}: it is longer than {LARGEST_TEXT:,} bytes; {_a(kind)} is a YAML file"
            )
        try:
            return read_file(path).decode(), str(source)
        except UnicodeDecodeError:
            raise ExperimentError(f"{source}: not a text in UTF-8; {_a(kind)} is a YAML file") from None
    known = shipped_files(folder)
    name = path.name.removesuffix(".yaml")
    if name in known and (str(source) == name or path.parent.name in ("experiments", folder)):
        return known[name], f"{kind} {name}"
    for other, place, command in _KINDS:
        if (
            other != kind
            and name in shipped_files(place)
            and shipped_kind(shipped_files(place)[name]) == other
        ):
            raise ExperimentError(f"{name} is a shipped {other}; it is run by: wolflab {command} {name}")
    alike = [name for name, text in known.items() if shipped_kind(text) == kind]
    beside = {file.name: file for file in path.parent.glob("*.yaml")}
    near = get_close_matches(path.name, [*alike, *beside], 1)
    meant = f"did you mean {beside.get(near[0], near[0])}?" if near else f"shipped are {', '.join(alike)}"
    raise ExperimentError(f"there is no file {str(source)!r} and no shipped {kind} of that name; {meant}")


def shipped_kind(text: str) -> str:
    """The kind of a shipped file, found without parsing it: its fields start their lines."""
    return next((kind for field, kind in _FIELDS.items() if f"\n{field}:" in text), "experiment")


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


@contextmanager
def checking(where: str, kind: type, page: str = "docs/experiments.md") -> Iterator[None]:
    """Turns a validation error of a `kind` into an ExperimentError that starts with `where`."""
    try:
        yield
    except ValidationError as error:
        raise ExperimentError(f"{where}: {validation_sentence(error, kind, page)}") from None
    except (RulesetError, ModelError, ExperimentError, TypeError) as error:
        raise ExperimentError(f"{where}: {error}") from None


def validation_sentence(error: ValidationError, kind: type, page: str = "docs/experiments.md") -> str:
    """The first validation error as a sentence with its field, and the number of further ones.

    kind: the class that was validated. page: the page that explains its fields.
    """
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{field_error(error, kind, page)}{more}"
