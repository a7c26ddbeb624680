"""The prompt templates: text files under `prompts/`, read once.

`prompts/paper` and `prompts/own` hold the two wordings under the same names, `prompts/` what both
share. Placeholders are ``$name``; files of short phrases have one ``key: phrase`` a line.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template


def _folder() -> Traversable:
    return files("wolflab.text.asking") / "prompts"


@cache
def _template(path: str) -> Template:
    target = _folder()
    for part in path.split("/"):
        target = target / part
    return Template(target.read_text(encoding="utf-8").strip("\n"))


def render(path: str, **values: object) -> str:
    """The template `path` ("own/vote_pack") with every placeholder filled; KeyError when one is not."""
    return _template(f"{path}.txt").substitute(values)


@cache
def phrases(path: str) -> dict[str, Template]:
    """The phrases of a ``key: phrase`` file."""
    found = {}
    for line in _template(f"{path}.txt").template.splitlines():
        key, _, phrase = line.partition(":")
        found[key.strip()] = Template(phrase.strip())
    return found
