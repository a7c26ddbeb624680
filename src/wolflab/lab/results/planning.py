"""The deals that a comparison needs, from the games of pilot runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import ExperimentError
from ...metrics.registry import unknown_measure
from ...metrics.shapes import Contrast
from ...stats.power import DealsNeeded, deals_needed
from ..storage.store import Store
from .summaries import compared, summary, together


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """A contrast in the pilot, and the deals that a difference of `effect` needs. instrument: the pilot was
    played by the built-in player.
    """

    contrast: Contrast
    effect: float
    power: float
    assurance: float
    needed: DealsNeeded
    instrument: bool


def comparison_plan(
    stores: Sequence[Store],
    effect: float,
    power: float,
    assurance: float,
    measure: str | None = None,
    between: tuple[str, str] | None = None,
) -> ComparisonPlan:
    """Plan the deals for one contrast of one run, of several that declare the same one as primary (their
    games are taken together), or of several that are compared.

    measure, between: the contrast; None: the primary one. Raises ExperimentError if there is none, if a name
    is unknown, if games cannot be taken together, and if the pilot shows no variance.
    """
    if measure is not None and (wrong := unknown_measure(measure)) is not None:
        raise ExperimentError(f"--measure: {wrong}")
    declared = stores[0].experiment.primary
    if between is not None or any(store.experiment.primary != declared for store in stores):
        declared = declared if len(stores) == 1 else None
    if declared is not None:
        measure, between = measure or declared.measure, between or declared.between
    several = len(stores) > 1
    names = [
        f"{store.path.name}: {name}" if several else name
        for store in stores
        for name in store.experiment.conditions
    ]
    if measure is None or between is None:
        raise ExperimentError(
            "name the comparison with --measure and --between a,b (there is no primary contrast of "
            f"{'these runs together' if several else 'this run'}); "
            f"conditions are {', '.join(names)}"
        )
    wanted = (measure, *between)
    if not several:
        found = summary(stores[0], wanted)
    else:
        found = compared(stores, primary=wanted) if declared is None else together(stores, wanted)
    unknown = [name for name in between if name not in {each.name for each in found.conditions}]
    if unknown:
        known = ", ".join(each.name for each in found.conditions)
        raise ExperimentError(f"--between: there is no condition {unknown[0]!r}; known are {known}")
    contrast = next((each for each in found.contrasts if each.primary), None)
    if contrast is None or contrast.spread is None:
        why = "no value" if contrast is None else contrast.difference.note or "no variance"
        raise ExperimentError(
            f"{measure}, {between[0]} − {between[1]}: the pilot says nothing of its variance ({why}); plan "
            "from a pilot with more deals in which both have a value"
        )
    if contrast.difference.draws:
        raise ExperimentError(
            f"{measure}, {between[0]} − {between[1]}: the pilot has several draws, wordings or people, "
            "and more deals do not reduce the variance between these; plan from a pilot with one of them"
        )
    needed = deals_needed(contrast.spread, contrast.difference.deals, effect, power, assurance)
    return ComparisonPlan(contrast, effect, power, assurance, needed, found.instrument)
