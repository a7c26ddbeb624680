"""How a summary's conditions are shown: a condition that only lends its games to others is marked as such."""

from __future__ import annotations

from dataclasses import replace

from ..lab.results.extras import Extras
from ..metrics.shapes import Summary

SOURCE = "(source of the pools)"
"""What stands behind the name of a condition whose games others learn from."""


def marked(summary: Summary, extras: Extras) -> tuple[Summary, Extras]:
    """Both with the names under which conditions stand in tables and figures."""
    sources = extras.sources
    if not sources:
        return summary, extras

    def shown(name: str) -> str:
        return f"{name} {SOURCE}" if name in sources else name

    summary = replace(
        summary,
        conditions=tuple(replace(condition, name=shown(condition.name)) for condition in summary.conditions),
        beside=tuple(
            replace(figure, condition=None if figure.condition is None else shown(figure.condition))
            for figure in summary.beside
        ),
    )
    extras = replace(
        extras,
        differs=tuple(
            replace(difference, condition=shown(difference.condition)) for difference in extras.differs
        ),
        interviews=tuple(
            replace(interviewed, condition=shown(interviewed.condition)) for interviewed in extras.interviews
        ),
    )
    return summary, extras
