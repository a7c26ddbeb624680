"""`wolflab schema`: the JSON schema of a file, by which an editor completes and checks it."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from ...errors import ExperimentError
from ...fields import nearest
from ...files import write
from ...lab.plans.experiment import Experiment
from ...lab.plans.tournament_plan import Tournament
from ...lab.studies.study_plan import StudyPlan
from ...lab.training.rounds import RoundsSpec
from ...lab.training.training_plan import TrainingSpec
from ...rules import PRESETS
from ..terminal.console import console, say
from .options import commands

KINDS: Mapping[str, tuple[type[BaseModel], ...]] = {
    "experiment": (Experiment,),
    "tournament": (Tournament,),
    "training": (TrainingSpec, RoundsSpec),
    "study": (StudyPlan,),
}
"""Kind of file → the models that validate it."""


@commands.command(
    "schema", epilog="Examples:  `wolflab schema experiment`  ·  `wolflab schema study -o study.schema.json`"
)
def schema(
    kind: Annotated[str, typer.Argument(help="experiment, tournament, training or study.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The file (default: it is printed).", show_default=False),
    ] = None,
) -> None:
    """Print the JSON schema of a kind of file, for editors that complete and check it."""
    if kind not in KINDS:
        raise ExperimentError(f"there is no kind of file {kind!r}; {nearest(kind, KINDS)}")
    text = json.dumps(schema_of(kind), indent=1) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        write(out, text.encode())
        say(console(), f"schema of a file of kind {kind}: {out}")


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a kind of file. It allows all that Wolflab reads. Wolflab
    refuses more: what depends on other fields, and on names of models, recipes and measures.
    """
    parts = [model.model_json_schema(schema_generator=_OfFiles) for model in KINDS[kind]]
    inner = {name: made for part in parts for name, made in part.pop("$defs", {}).items()}
    whole = parts[0] if len(parts) == 1 else {"anyOf": parts}
    return {"$schema": _OfFiles.schema_dialect, "title": f"Wolflab: {kind}", **whole, "$defs": inner}


class _OfFiles(GenerateJsonSchema):
    """The schema of what stands in a file, which has short forms that are written out before a model
    validates it. The texts below the models' fields are descriptions.
    """

    def model_schema(self, schema: Any) -> Any:
        """See pydantic."""
        made = super().model_schema(schema)
        fields, comments = made["properties"], _comments(schema["cls"])
        for name in _OF_PLAYERS & fields.keys():  # the name of a named player, or of an entrant's recipe
            fields[name]["additionalProperties"] = _or_text(fields[name]["additionalProperties"])
        if "ids" in fields:
            fields["ids"] = _or_text(fields["ids"])
        if schema["cls"] in _WHOLE:
            if texts := [one for one in fields.get("rules", {}).get("anyOf", ()) if one["type"] == "string"]:
                texts[0]["enum"] = [*PRESETS]
            fields.setdefault("meanings", {"type": "string", "description": _MEANINGS})
        for name, field in fields.items():
            if name in comments:
                field["description"] = comments[name]
        return made


_WHOLE = frozenset(model for models in KINDS.values() for model in models)
_OF_PLAYERS = frozenset({"players", "entrants"})
_MEANINGS = "Written by Wolflab: the version of what the names of recipes and presets mean."


def _or_text(schema: Any) -> dict[str, Any]:
    return {"anyOf": [{"type": "string"}, schema]}


def _comments(model: type[BaseModel]) -> dict[str, str]:
    """Field → the text below it in the source, of a model and those that it inherits from."""
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if not (issubclass(kind, BaseModel) and kind.__module__.startswith("wolflab.")):
            continue
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(tree, ast.ClassDef)
        for field, below in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                match below.value:
                    case ast.Constant(value=str(text)):
                        found[ast.unparse(field.target)] = " ".join(text.split())
    return found
