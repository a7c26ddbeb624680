"""The prompt templates: text files under `prompts/`, read once.

`prompts/paper` and `prompts/own` hold the two wordings under the same names, `prompts/` what both
share. Placeholders are ``$name``; files of short phrases have one ``key: phrase`` a line.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).with_name("prompts")


@cache
def _template(path: str) -> Template:
    return Template((_FOLDER / path).read_text(encoding="utf-8").strip("\n"))


@cache
def template_texts() -> tuple[str, ...]:
    """The texts of all templates."""
    return tuple(file.read_text(encoding="utf-8") for file in sorted(_FOLDER.rglob("*.txt")))


def render_template(path: str, **values: object) -> str:
    """The template `path` ("own/vote_pack") with every placeholder filled; KeyError when one is not."""
    return _template(f"{path}.txt").substitute(values)


@cache
def phrases(path: str) -> dict[str, Template]:
    """The phrases of a ``key: phrase`` file."""
    lines = [line.partition(":") for line in _template(f"{path}.txt").template.splitlines()]
    return {key.strip(): Template(phrase.strip()) for key, _, phrase in lines}
