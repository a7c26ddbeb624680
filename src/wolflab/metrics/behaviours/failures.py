"""The failures of 004 H.3: a Werewolf that gives itself away, and own claims that contradict each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...rules import ROLES
from ...text.reading import WEREWOLF
from .detecting import Behaviour, DetectorView, Statement
from .sighting import Sighting

# -- self-exposure --------------------------------------------------------------------------------


def exposes(play: DetectorView) -> Iterator[Sighting]:
    """See `SELF_EXPOSURE`. One sighting a statement."""
    for said in play.statements:
        if said.seat in play.wolves:
            why = _slip(play, said)
            if why:
                yield play.sighting("self_exposure", said, why)


def _slip(play: DetectorView, said: Statement) -> str:
    if any(not claim.denied and ROLES[claim.role].wolf for claim in said.claims):
        return "says that it is a Werewolf"
    for sign in said.signs:
        if sign.kind == "pack":
            return "speaks of the Werewolves as its own"
        if sign.kind == "mate" and sign.whom in play.wolves and sign.whom != said.seat:
            return f"calls its packmate {play.name(sign.whom)} its partner"
        if sign.kind == "kill":
            gone = play.departure(sign.whom)
            if gone is None or gone.how == "night":
                return "tells of the Werewolves' kill as its own"
    return ""


# -- contradiction --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Story:
    """What one player has said of itself so far."""

    held: dict[str, int] = field(default_factory=dict)
    """Role claimed or implied → round."""
    denied: dict[str, int] = field(default_factory=dict)
    idle: int | None = None
    """The round in which it said that it has no ability or did nothing at night."""
    saw: dict[int, bool] = field(default_factory=dict)
    """Target → a check told that it is a Werewolf."""


def contradicts_itself(play: DetectorView) -> Iterator[Sighting]:
    """See `CONTRADICTION`. One sighting a statement, the later one."""
    stories: dict[int, _Story] = defaultdict(_Story)
    for said in play.statements:
        story = stories[said.seat]
        why = _against(play, story, said)
        if why:
            yield play.sighting("contradiction", said, why)
        _remember(play, story, said)


def _implied(play: DetectorView, said: Statement) -> set[str]:
    """Roles that the told night actions imply, where that is beyond doubt."""
    found = set()
    count = play.record.ruleset.count
    for report in said.reports:
        match report.kind:
            case "see":
                found.add("Seer")
            case "antidote" | "poison":
                found.add("Witch")
            case _ if not count("Witch"):
                shields = [role.name for role in play.record.ruleset.cast if role.shields] or ["Doctor"]
                found.update(shields if len(shields) == 1 else ())
            case _:
                pass
    return found


def _against(play: DetectorView, story: _Story, said: Statement) -> str:
    held = {claim.role for claim in said.claims if not claim.denied}
    if len(held) > 1:
        return f"claims to be a {' and a '.join(sorted(held))} at once"
    for role in held or _implied(play, said):
        for before, round in story.held.items():
            if before != role:
                return f"is the {role} now, and was the {before} in round {round}"
        if role in story.denied:
            return f"is the {role} now, which it denied in round {story.denied[role]}"
        if story.idle is not None and ROLES[role].nightly:
            return f"is the {role} now, and had nothing to do at night in round {story.idle}"
    for claim in said.claims:
        if claim.denied and claim.role in story.held:
            return f"is not the {claim.role} now, and was in round {story.held[claim.role]}"
    if any(said.told("idle")):
        special = [role for role in story.held if ROLES[role].nightly] + sorted(
            role for role in held if ROLES[role].nightly
        )
        if special:
            return f"has nothing to tell of the night, and claims to be the {special[0]}"
    for report in said.reports:
        told = report.what == WEREWOLF
        if report.kind == "see" and report.what and story.saw.get(report.target, told) != told:
            return f"tells the check of {play.name(report.target)} another way than before"
    return ""


def _remember(play: DetectorView, story: _Story, said: Statement) -> None:
    held = {claim.role for claim in said.claims if not claim.denied}
    for role in sorted(held or _implied(play, said)):
        story.held.setdefault(role, said.round)
    for claim in said.claims:
        if claim.denied:
            story.denied.setdefault(claim.role, said.round)
    if any(said.told("idle")) and story.idle is None:
        story.idle = said.round
    for report in said.reports:
        if report.kind == "see" and report.what:
            story.saw.setdefault(report.target, report.what == WEREWOLF)


SELF_EXPOSURE = Behaviour(
    "self_exposure",
    "failure",
    "004 H.3",
    "A Werewolf gives itself away in public: it says what it is, speaks of the pack as its own, or tells "
    "of the "
    "kill as its doing.",
    "Only what is said outright; a slip of knowledge ('the Seer is dead now') is not seen.",
    exposes,
)
CONTRADICTION = Behaviour(
    "contradiction",
    "failure",
    "004 H.3",
    "What a player says of itself does not go with what it said before: another role, a role denied, no "
    "night "
    "action after claiming a role that has one, a check told the other way round.",
    "A change of mind about others is none. Also counts the Seer that posed as a Villager and then comes "
    "out.",
    contradicts_itself,
)
