"""The failures of 004 H.3: a Werewolf that exposes itself, and a player that contradicts its own claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...rules import ROLES
from ...text.reading import WEREWOLF
from .detector_view import Behaviour, DetectorView, Evidence, Statement

# -- self-exposure --------------------------------------------------------------------------------


def find_self_exposure(view: DetectorView) -> Iterator[Evidence]:
    """See `SELF_EXPOSURE`. Once for each statement."""
    for statement in view.statements:
        if statement.seat in view.wolves and (why := _slip(view, statement)):
            yield Evidence(statement, why)


def _slip(view: DetectorView, statement: Statement) -> str:
    if any(ROLES[role].wolf for role in statement.roles_claimed):
        return "says that it is a Werewolf"
    for sign in statement.signs:
        if sign.kind == "pack":
            return "speaks of the Werewolves as its own"
        if sign.kind == "mate" and sign.whom in view.wolves and sign.whom != statement.seat:
            return f"calls its packmate {view.name(sign.whom)} its partner"
        if sign.kind == "kill":
            departure = view.departure(sign.whom)
            if departure is None or departure.how == "night":
                return "tells of the Werewolves' kill as its own"
    return ""


# -- contradiction --------------------------------------------------------------------------------


@dataclass(slots=True)
class _OwnClaims:
    """A player's statements about itself so far."""

    held: dict[str, int] = field(default_factory=dict)
    """Role claimed or implied → round."""
    denied: dict[str, int] = field(default_factory=dict)
    idle: int | None = None
    """The round in which it said that it has no ability or no night action."""
    saw: dict[int, bool] = field(default_factory=dict)
    """Target → whether its reported check showed a Werewolf."""


def find_contradiction(view: DetectorView) -> Iterator[Evidence]:
    """See `CONTRADICTION`. Once for each statement, at the later one."""
    claims: dict[int, _OwnClaims] = defaultdict(_OwnClaims)
    for statement in view.statements:
        own = claims[statement.seat]
        if why := _against(view, own, statement):
            yield Evidence(statement, why)
        _remember(view, own, statement)


def _implied(view: DetectorView, statement: Statement) -> set[str]:
    """The roles that reported night actions imply, if that is certain."""
    implied = set()
    count = view.record.ruleset.count
    for report in statement.reports:
        match report.kind:
            case "see":
                implied.add("Seer")
            case "antidote" | "poison":
                implied.add("Witch")
            case _ if not count("Witch"):
                shields = [role.name for role in view.record.ruleset.cast if role.shields] or ["Doctor"]
                implied.update(shields if len(shields) == 1 else ())
            case _:
                pass
    return implied


def _against(view: DetectorView, own: _OwnClaims, statement: Statement) -> str:
    held = set(statement.roles_claimed)
    if len(held) > 1:
        return f"claims to be a {' and a '.join(sorted(held))} at once"
    for role in sorted(held or _implied(view, statement)):
        for before, round in own.held.items():
            if before != role:
                return f"is the {role} now, and was the {before} in round {round}"
        if role in own.denied:
            return f"is the {role} now, which it denied in round {own.denied[role]}"
        if own.idle is not None and ROLES[role].nightly:
            return f"is the {role} now, and had nothing to do at night in round {own.idle}"
    for claim in statement.claims:
        if claim.denied and claim.role in own.held:
            return f"is not the {claim.role} now, and was in round {own.held[claim.role]}"
    if any(statement.signs_of_kind("idle")):
        nightly = [role for role in (*own.held, *sorted(held)) if ROLES[role].nightly]
        if nightly:
            return f"has nothing to tell of the night, and claims to be the {nightly[0]}"
    for report in statement.reports:
        is_wolf = report.what == WEREWOLF
        if report.kind == "see" and report.what and own.saw.get(report.target, is_wolf) != is_wolf:
            return f"tells the check of {view.name(report.target)} another way than before"
    return ""


def _remember(view: DetectorView, own: _OwnClaims, statement: Statement) -> None:
    held = set(statement.roles_claimed)
    for role in sorted(held or _implied(view, statement)):
        own.held.setdefault(role, statement.round)
    for claim in statement.claims:
        if claim.denied:
            own.denied.setdefault(claim.role, statement.round)
    if any(statement.signs_of_kind("idle")) and own.idle is None:
        own.idle = statement.round
    for report in statement.reports:
        if report.kind == "see" and report.what:
            own.saw.setdefault(report.target, report.what == WEREWOLF)


SELF_EXPOSURE = Behaviour(
    "self_exposure",
    "failure",
    "004 H.3",
    "A Werewolf gives itself away in public: it says what it is, speaks of the pack as its own, or tells of "
    "the kill as its doing.",
    "Only what is said outright; a slip of knowledge ('the Seer is dead now') is not seen.",
    find_self_exposure,
)
CONTRADICTION = Behaviour(
    "contradiction",
    "failure",
    "004 H.3",
    "What a player says of itself does not go with what it said before: another role, a role denied, no "
    "night action after claiming a role that has one, a check told the other way round.",
    "A change of mind about others is none. Also counts the Seer that posed as a Villager and then comes "
    "out.",
    find_contradiction,
)
