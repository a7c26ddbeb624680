"""How a summary's conditions are shown: a condition that only lends its games to others is marked as such and
compared with nobody. It changes names and leaves things out; it computes nothing but Holm's correction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..lab.results.extras import Extras
from ..metrics.shapes import Contrast, Summary
from ..stats.comparing import holm

SOURCE = "(source of the pools)"
"""What stands behind the name of a condition whose games others learn from."""


def with_contrasts(summary: Summary, sources: Collection[str]) -> Summary:
    """The summary without contrasts of such conditions; p-values are corrected over those that are left."""
    kept = [
        contrast
        for contrast in summary.contrasts
        if not {contrast.condition, contrast.baseline} & set(sources)
    ]
    if len(kept) == len(summary.contrasts):
        return summary
    corrected: list[Contrast] = []
    for metric in dict.fromkeys(contrast.metric for contrast in kept):
        mine = [contrast for contrast in kept if contrast.metric == metric]
        adjusted = holm([contrast.p for contrast in mine])
        corrected += [replace(contrast, p_holm=p) for contrast, p in zip(mine, adjusted, strict=True)]
    return replace(summary, contrasts=tuple(corrected))


def marked(summary: Summary, extras: Extras) -> tuple[Summary, Extras]:
    """Both with the names under which conditions stand in tables and figures."""
    sources = extras.sources
    if not sources:
        return summary, extras

    def shown(name: str) -> str:
        return f"{name} {SOURCE}" if name in sources else name

    summary = replace(
        with_contrasts(summary, sources),
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
