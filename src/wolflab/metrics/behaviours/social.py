"""The four social behaviours of 003 §5: trust, confrontation, camouflage, leadership."""

from __future__ import annotations

from collections.abc import Iterator

from ...text.reading import WEREWOLF, Accusation, Agreement, Defence, Report, Suggestion, read_in
from .detector_view import (
    SAVES,
    SPECIAL,
    Behaviour,
    DetectorView,
    Evidence,
    NightAction,
    PrivateText,
    Statement,
)
from .truth import HOLDERS, falsehoods, is_deliberate

TRUSTING = 2
"""The least strength of a defence that counts as trust; 1 is a hint ("might be innocent")."""


# -- trust ----------------------------------------------------------------------------------------


def trust_in_words(view: DetectorView, statement: Statement) -> dict[int, str]:
    """Player → how a statement shows trust in it (003 A.3): vouching, or agreement with substance."""
    trusted: dict[int, str] = {}
    for act in statement.own:
        match act:
            case Defence(_, target, strength) if strength >= TRUSTING:
                trusted.setdefault(target, "vouches for")
            case Report(_, "see", target, what) if what not in ("", WEREWOLF) and target != statement.seat:
                trusted.setdefault(target, "has cleared")
            case Agreement(_, target, False) if _with_substance(view, statement, target):
                trusted.setdefault(target, "takes up the accusation of")
            case _:
                pass
    return {seat: how for seat, how in trusted.items() if seat in statement.alive}


def _with_substance(view: DetectorView, statement: Statement, whom: int) -> bool:
    """Whether the speaker also suspects, or vouches for, a player of whom `whom` had said the same."""
    suspects = set(statement.suspects())
    backed = {act.target for act in statement.own if isinstance(act, Defence)} - {whom}
    for earlier in view.before(statement.at):
        if earlier.seat == whom:
            if suspects & set(earlier.suspects(least=1)):
                return True
            if backed & {act.target for act in earlier.own if isinstance(act, Defence)}:
                return True
    return False


def trust_in_thought(view: DetectorView, private: PrivateText) -> dict[int, str]:
    """Player → how a reflection shows trust in it. A Werewolf that knows the sides does not trust the
    village.
    """
    trusted: dict[int, str] = {}
    for act in read_in(view.record.ruleset, private.text, private.seat):
        if not isinstance(act, Defence) or act.speaker != private.seat or act.strength < TRUSTING:
            continue
        if private.seat not in view.wolves or act.target in view.wolves:
            trusted.setdefault(act.target, "trusts, in private,")
    return trusted


def find_trust(view: DetectorView) -> Iterator[Evidence]:
    """See `TRUST`."""
    for statement in view.statements:
        for target, how in trust_in_words(view, statement).items():
            yield Evidence(statement, f"{how} {view.name(target)}", target)
        own = view.roles[statement.seat]
        if statement.where == "discussion" and own in SPECIAL and own in statement.roles_claimed:
            yield Evidence(statement, f"uncovers its role to all: {own}")
    for private in view.private_texts:
        if private.kind == "reflection":
            for target, how in trust_in_thought(view, private).items():
                yield Evidence(private, f"{how} {view.name(target)}", target)
    for action in view.night_actions:
        if action.meant and action.kind in SAVES and shields_trusted(view, action):
            yield Evidence(action, f"shields {view.name(action.target)}", action.target)


def shields_trusted(view: DetectorView, action: NightAction) -> bool:
    """Whether a shield protects another player that had claimed a special role, or for whom the shielder had
    vouched.
    """
    if action.target == action.seat:
        return False
    for statement in view.before(action.at):
        if statement.seat == action.target and not SPECIAL.isdisjoint(statement.roles_claimed):
            return True
        if statement.seat == action.seat and action.target in trust_in_words(view, statement):
            return True
    return False


# -- confrontation --------------------------------------------------------------------------------


def find_confrontation(view: DetectorView) -> Iterator[Evidence]:
    """See `CONFRONTATION`."""
    for statement in view.statements:
        for target, how in statement.suspects().items():
            if not view.packmates(statement.seat, target):
                yield Evidence(statement, f"{how} {view.name(target)}", target)
        for act in statement.own:
            if isinstance(act, Agreement) and act.denied:
                yield Evidence(statement, f"contradicts {view.name(act.target)}", act.target)
    for ballot in view.ballots:
        against = ballot.target
        cast = ballot.what == "eliminate" and ballot.meant
        if cast and against is not None and not view.packmates(ballot.seat, against):
            yield Evidence(ballot, f"votes against {view.name(against)}", against)
    for action in view.night_actions:
        if not action.meant:
            continue
        name = view.name(action.target)
        if action.kind in ("kill", "poison") and not view.packmates(action.seat, action.target):
            yield Evidence(action, f"attacks {name} ({action.kind})", action.target)
        elif action.kind in SAVES and _under_attack(view, action):
            yield Evidence(action, f"defends {name} ({action.kind})", action.target)


def _under_attack(view: DetectorView, action: NightAction) -> bool:
    """Whether a shield answers an attack: on oneself, on tonight's victim, or on a player accused or voted
    against by day.
    """
    if action.target == action.seat or action.kind == "antidote":
        return True
    if any(action.target in statement.suspects() for statement in view.before(action.at)):
        return True
    return any(True for _ in view.votes_against(action.target, action.at))


# -- camouflage -----------------------------------------------------------------------------------


def find_camouflage(view: DetectorView) -> Iterator[Evidence]:
    """See `CAMOUFLAGE`. Once for each statement."""
    invented: dict[int, str] = {}
    for statement, why, target in falsehoods(view):
        if is_deliberate(view, statement, target):
            invented.setdefault(statement.at, f"makes up a fact to accuse: {why}")
    for statement in view.statements:
        if (
            why := _disguise(view, statement)
            or invented.get(statement.at)
            or _heard_at_night(view, statement)
        ):
            yield Evidence(statement, why)


def _disguise(view: DetectorView, statement: Statement) -> str:
    own = view.roles[statement.seat]
    for claim in statement.claims:
        if not claim.denied and claim.role != own:
            return f"claims to be a {claim.role}, being a {own}"
        if claim.denied and claim.role == own:
            return f"denies to be a {own}"
    for report in statement.reports:
        if own not in HOLDERS[report.kind]:
            return f"tells of a night action that a {own} does not have ({report.kind})"
    if statement.seat in view.wolves and any(statement.signs_of_kind("villagers")):
        return "speaks as one of the Villagers, being a Werewolf"
    return ""


def _heard_at_night(view: DetectorView, statement: Statement) -> str:
    """Talk at night invented to accuse a player whose side the speaker knows (003 §5.3)."""
    for sign in statement.signs_of_kind("night talk"):
        if sign.who >= 0 and is_deliberate(view, statement, sign.who):
            return f"makes up what {view.name(sign.who)} did at night, to accuse"
    return ""


# -- leadership -----------------------------------------------------------------------------------


def find_leadership(view: DetectorView) -> Iterator[Evidence]:
    """See `LEADERSHIP`."""
    for statement in view.statements:
        against = {act.target for act in statement.own if isinstance(act, Suggestion | Accusation)}
        for sign in statement.signs_of_kind("call"):
            target = sign.whom if sign.whom >= 0 else None
            if target is None and sign.what == "vote" and len(against) == 1:
                (target,) = against
            whom = "" if target is None else f" {view.name(target)}"
            match sign.what:
                case "vote":
                    why = f"calls for the vote on{whom or ' somebody'}"
                case "speak":
                    why = f"demands an answer of{whom}"
                case "follow":
                    why = "asks the others to follow"
                case role:
                    why = f"calls on the {role} to act"
            yield Evidence(statement, why, target)


TRUST = Behaviour(
    "trust",
    "social",
    "003 §5.1, A.3",
    "A player shows that it takes another for a teammate: it vouches for them, agrees with them and takes up "
    "their very accusation, shields them at night after they came out, or uncovers its own special role.",
    "A bare 'I agree with player 3' is none (003 A.3). A hint ('might be innocent') is none. Trust shown by "
    "a vote alone is not seen.",
    find_trust,
)
CONFRONTATION = Behaviour(
    "confrontation",
    "social",
    "003 §5.2",
    "A player acts against another who may be of the other side: accuses, contradicts, votes, attacks at "
    "night, or shields somebody under attack (itself included).",
    "The implicit kind, not joining a vote, is not seen. A Werewolf against its own pack is 'sacrificing'.",
    find_confrontation,
)
CAMOUFLAGE = Behaviour(
    "camouflage",
    "social",
    "003 §5.3, A.4",
    "A statement that misleads about who the speaker is: a role claimed that is not held, one's own denied, "
    "night actions told that one cannot take, or a fact made up to accuse somebody whose side one knows.",
    "Keeping silent about one's role is none (003 §5.3). An accusation that a Werewolf knows to be false, "
    "without a made-up fact, is none.",
    find_camouflage,
)
LEADERSHIP = Behaviour(
    "leadership",
    "social",
    "003 §5.4",
    "A statement that tries to steer the others: it calls for a vote, calls on a role to come out or to act, "
    "demands an answer of somebody, or asks to be followed.",
    "Announcing one's own vote is none, nor is a general 'let us share what we know'.",
    find_leadership,
)
