"""Tables that fit any terminal: no name is broken, and nothing is left out."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from wolflab.ui.terminal.tables import print_fitted

NAMES = ("without-reflection-and-suggestion", "pool of forty games")
RATERS = ("anna", "judge openai/gpt-4o-mini-2024-07-18", "people (majority)", "rule")


def printed(width: int) -> str:
    out = io.StringIO()
    rows = [
        [name, *(f"{k}{n}.0 %\n[dim]10.0 to 90.0[/]" for k in range(len(RATERS)))]
        for n, name in enumerate(NAMES)
    ]
    heads = ["variant", *(f"{one}\n[dim]3 of 9[/]" for one in RATERS)]
    print_fitted(Console(width=width, file=out), "Reasonable", heads, rows, "n below")
    return out.getvalue()


@pytest.mark.parametrize("width", [30, 60, 80, 100, 200])
def test_names_and_values_stand_whole_at_any_width(width: int) -> None:
    text = printed(width)
    for name in (*NAMES, *RATERS):
        assert name in text
    for n in range(len(NAMES)):
        for k in range(len(RATERS)):
            assert text.count(f"{k}{n}.0 %") == 1
    assert text.count("10.0 to 90.0") == len(NAMES) * len(RATERS)
    assert "…" not in text
    assert text.count("n below") == 1


def test_a_table_is_no_wider_than_the_terminal_where_one_column_fits() -> None:
    for width in (80, 100, 200):
        assert max(map(len, printed(width).splitlines())) <= width
    assert len(re.findall("Reasonable", printed(200))) == 1
    assert len(re.findall("Reasonable", printed(80))) > 1
