"""The prompt templates: text files under `prompts/`, read once.

`prompts/paper` and `prompts/own` hold the papers' templates and our own under the same names, `prompts/` what
both share. Placeholders are ``$name``; files of short phrases have one ``key: phrase`` a line. A template is
read in the phrasings of a wording's number (`rewording`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from .rewording import reworded

_FOLDER = Path(__file__).with_name("prompts")


@cache
def _text(path: str) -> str:
    return (_FOLDER / f"{path}.txt").read_text(encoding="utf-8").strip("\n")


@cache
def _template(path: str, number: int) -> Template:
    return Template(reworded(_text(path), number))


@cache
def template_texts() -> tuple[str, ...]:
    """The texts of all templates."""
    return tuple(file.read_text(encoding="utf-8") for file in sorted(_FOLDER.rglob("*.txt")))


def render_template(path: str, number: int, /, **values: object) -> str:
    """The template `path` ("own/vote_pack") in the wording of that number, with every placeholder filled;
    KeyError when one is not.
    """
    return _template(path, number).substitute(values)


def phrases(path: str, number: int) -> dict[str, Template]:
    """The phrases of a ``key: phrase`` file in the wording of that number."""
    return _phrases(path, number)  # the type checker lets a cached function be called with any arguments


@cache
def _phrases(path: str, number: int) -> dict[str, Template]:
    lines = [line.partition(":") for line in _text(path).splitlines()]
    return {key.strip(): Template(reworded(phrase.strip(), number)) for key, _, phrase in lines}
