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
    kept = [one for one in summary.contrasts if not {one.condition, one.baseline} & set(sources)]
    if len(kept) == len(summary.contrasts):
        return summary
    found: list[Contrast] = []
    for metric in dict.fromkeys(one.metric for one in kept):
        mine = [one for one in kept if one.metric == metric]
        adjusted = holm([one.p for one in mine])
        found += [replace(one, p_holm=p) for one, p in zip(mine, adjusted, strict=True)]
    return replace(summary, contrasts=tuple(found))


def marked(summary: Summary, extras: Extras) -> tuple[Summary, Extras]:
    """Both with the names under which conditions stand in tables and figures."""
    sources = extras.sources
    if not sources:
        return summary, extras

    def shown(name: str) -> str:
        return f"{name} {SOURCE}" if name in sources else name

    summary = replace(
        with_contrasts(summary, sources),
        conditions=tuple(replace(one, name=shown(one.name)) for one in summary.conditions),
        beside=tuple(
            replace(one, condition=None if one.condition is None else shown(one.condition))
            for one in summary.beside
        ),
    )
    extras = replace(
        extras,
        differs=tuple(replace(one, condition=shown(one.condition)) for one in extras.differs),
        interviews=tuple(replace(one, condition=shown(one.condition)) for one in extras.interviews),
    )
    return summary, extras
