"""What a speaker says of its own role, held against the role that it has (003 §5.3)."""

from __future__ import annotations

from ..rules import Ruleset
from .reading import Claim, read


def claims_of(text: str, seat: int, ruleset: Ruleset) -> tuple[str, ...]:
    """The roles that the speaker in `seat` says it holds, in the order in which it says so."""
    acts = read(text, ruleset.names, seat)
    return tuple(
        act.role
        for act in acts
        if isinstance(act, Claim) and not act.denied and act.speaker == seat and act.by == seat
    )


def claimed_against(text: str, seat: int, role: str, ruleset: Ruleset) -> str | None:
    """The first role that the speaker claims and does not hold; None where it claims none."""
    return next((claim for claim in claims_of(text, seat, ruleset) if claim != role), None)
