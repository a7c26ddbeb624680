"""The four social behaviours of 003 §5: trust, confrontation, camouflage, leadership."""

from __future__ import annotations

from collections.abc import Iterator

from ...rules import ROLES
from ...text.reading import WEREWOLF, Accusation, Agreement, Defence, Report, Suggestion, read
from .detecting import SAVES, Behaviour, Deed, DetectorView, Musing, Statement
from .sighting import Sighting
from .truth import HOLDERS, Falsehood, deliberate, falsehoods

TRUSTS = 2
"""Strength of a defence that is trust; 1 is a hint ("might be innocent")."""


# -- trust ----------------------------------------------------------------------------------------


def trust_in_words(play: DetectorView, said: Statement) -> dict[int, str]:
    """Whom a statement exhibits trust in, and how (003 A.3): vouching, or agreement with substance."""
    found: dict[int, str] = {}
    for act in said.own:
        match act:
            case Defence(_, target, strength) if strength >= TRUSTS:
                found.setdefault(target, "vouches for")
            case Report(_, "see", target, what) if what not in ("", WEREWOLF) and target != said.seat:
                found.setdefault(target, "has cleared")
            case Agreement(_, target, False) if _with_substance(play, said, target):
                found.setdefault(target, "takes up the accusation of")
            case _:
                pass
    return {seat: how for seat, how in found.items() if seat in said.alive}


def _with_substance(play: DetectorView, said: Statement, whom: int) -> bool:
    """Whether the speaker also suspects, or vouches for, somebody of whom `whom` had said the same."""
    suspects = set(said.suspects())
    backed = {act.target for act in said.own if isinstance(act, Defence)} - {whom}
    for earlier in play.before(said.at):
        if earlier.seat == whom:
            if suspects & set(earlier.suspects(least=1)):
                return True
            if backed & {act.target for act in earlier.own if isinstance(act, Defence)}:
                return True
    return False


def trust_in_thought(play: DetectorView, one: Musing) -> dict[int, str]:
    """Whom a reflection exhibits trust in. A Werewolf who knows that others are none does not trust them."""
    found: dict[int, str] = {}
    for act in read(one.text, play.names, one.seat):
        if not isinstance(act, Defence) or act.speaker != one.seat or act.strength < TRUSTS:
            continue
        if one.seat not in play.wolves or act.target in play.wolves:
            found.setdefault(act.target, "trusts, in private,")
    return found


def trusts(play: DetectorView) -> Iterator[Sighting]:
    """See `TRUST`."""
    for said in play.statements:
        for target, how in trust_in_words(play, said).items():
            yield play.sighting("trust", said, f"{how} {play.name(target)}", target)
        if said.where == "discussion" and _uncovers(play, said):
            yield play.sighting("trust", said, f"uncovers its role to all: {play.roles[said.seat]}")
    for one in play.musings:
        if one.kind == "reflection":
            for target, how in trust_in_thought(play, one).items():
                yield play.sighting("trust", one, f"{how} {play.name(target)}", target)
    for deed in play.deeds:
        if deed.meant and deed.kind in SAVES and stood_by(play, deed):
            yield play.sighting("trust", deed, f"shields {play.name(deed.target)}", deed.target)


def _uncovers(play: DetectorView, said: Statement) -> bool:
    """A special role puts itself in danger by telling what it is."""
    own = play.roles[said.seat]
    return play.special(said.seat) and any(not one.denied and one.role == own for one in said.claims)


def stood_by(play: DetectorView, deed: Deed) -> bool:
    """Whether a shield went to another who had claimed a special role, or for whom the shielder vouched."""
    if deed.target == deed.seat:
        return False
    for said in play.before(deed.at):
        if said.seat == deed.target and any(
            not claim.denied and not ROLES[claim.role].wolf and not ROLES[claim.role].plain
            for claim in said.claims
        ):
            return True
        if said.seat == deed.seat and deed.target in trust_in_words(play, said):
            return True
    return False


# -- confrontation --------------------------------------------------------------------------------


def confrontations(play: DetectorView) -> Iterator[Sighting]:
    """See `CONFRONTATION`."""
    for said in play.statements:
        for target, how in said.suspects().items():
            if not play.packmates(said.seat, target):
                yield play.sighting("confrontation", said, f"{how} {play.name(target)}", target)
        for act in said.own:
            if isinstance(act, Agreement) and act.denied:
                why = f"contradicts {play.name(act.target)}"
                yield play.sighting("confrontation", said, why, act.target)
    for ballot in play.ballots:
        against = ballot.target
        cast = ballot.what == "eliminate" and ballot.meant
        if cast and against is not None and not play.packmates(ballot.seat, against):
            yield play.sighting("confrontation", ballot, f"votes against {play.name(against)}", against)
    for deed in play.deeds:
        if not deed.meant:
            continue
        name = play.name(deed.target)
        if deed.kind in ("kill", "poison") and not play.packmates(deed.seat, deed.target):
            yield play.sighting("confrontation", deed, f"attacks {name} ({deed.kind})", deed.target)
        elif deed.kind in SAVES and _under_attack(play, deed):
            yield play.sighting("confrontation", deed, f"defends {name} ({deed.kind})", deed.target)


def _under_attack(play: DetectorView, deed: Deed) -> bool:
    """Whether a shield answers an attack: on oneself, on tonight's victim, or on somebody accused or voted
    against by day."""
    if deed.target == deed.seat or deed.kind == "antidote":
        return True
    if any(deed.target in said.suspects() for said in play.before(deed.at)):
        return True
    return any(
        ballot.target == deed.target and ballot.what == "eliminate" and ballot.at < deed.at
        for ballot in play.ballots
    )


# -- camouflage -----------------------------------------------------------------------------------


def camouflages(play: DetectorView) -> Iterator[Sighting]:
    """See `CAMOUFLAGE`. One sighting a statement, however many lies it holds."""
    invented: dict[int, str] = {}
    for false in falsehoods(play):
        if deliberate(play, false):
            invented.setdefault(false.statement.at, f"makes up a fact to accuse: {false.why}")
    for said in play.statements:
        why = _disguise(play, said) or invented.get(said.at) or _heard_at_night(play, said)
        if why:
            yield play.sighting("camouflage", said, why)


def _disguise(play: DetectorView, said: Statement) -> str:
    own = play.roles[said.seat]
    for claim in said.claims:
        if not claim.denied and claim.role != own:
            return f"claims to be a {claim.role}, being a {own}"
        if claim.denied and claim.role == own:
            return f"denies to be a {own}"
    for report in said.reports:
        if own not in HOLDERS[report.kind]:
            return f"tells of a night action that a {own} does not have ({report.kind})"
    if said.seat in play.wolves and any(said.told("villagers")):
        return "speaks as one of the Villagers, being a Werewolf"
    return ""


def _heard_at_night(play: DetectorView, said: Statement) -> str:
    """Night talk made up to accuse somebody whom the speaker has seen through (003 §5.3)."""
    for sign in said.told("night talk"):
        if sign.who >= 0 and deliberate(play, Falsehood("night", said, sign.who, "")):
            return f"makes up what {play.name(sign.who)} did at night, to accuse"
    return ""


# -- leadership -----------------------------------------------------------------------------------


def leads(play: DetectorView) -> Iterator[Sighting]:
    """See `LEADERSHIP`."""
    for said in play.statements:
        against = {act.target for act in said.own if isinstance(act, Suggestion | Accusation)}
        for sign in said.told("call"):
            target = sign.whom if sign.whom >= 0 else None
            if target is None and sign.what == "vote" and len(against) == 1:
                (target,) = against
            whom = "" if target is None else f" {play.name(target)}"
            match sign.what:
                case "vote":
                    why = f"calls for the vote on{whom or ' somebody'}"
                case "speak":
                    why = f"demands an answer of{whom}"
                case "follow":
                    why = "asks the others to follow"
                case role:
                    why = f"calls on the {role} to act"
            yield play.sighting("leadership", said, why, target)


TRUST = Behaviour(
    "trust",
    "social",
    "003 §5.1, A.3",
    "A player shows that it takes another for a teammate: it vouches for them, agrees with them and takes up "
    "their very accusation, shields them at night after they came out, or uncovers its own special role.",
    "A bare 'I agree with player 3' is none (003 A.3). A hint ('might be innocent') is none. Trust shown by "
    "a vote alone is not seen.",
    trusts,
)
CONFRONTATION = Behaviour(
    "confrontation",
    "social",
    "003 §5.2",
    "A player acts against another who may be of the other side: accuses, contradicts, votes, attacks at "
    "night, or shields somebody under attack (itself included).",
    "The implicit kind, not joining a vote, is not seen. A Werewolf against its own pack is 'sacrificing'.",
    confrontations,
)
CAMOUFLAGE = Behaviour(
    "camouflage",
    "social",
    "003 §5.3, A.4",
    "A statement that misleads about who the speaker is: a role claimed that is not held, one's own denied, "
    "night actions told that one cannot take, or a fact made up to accuse somebody whose side one knows.",
    "Keeping silent about one's role is none (003 §5.3). An accusation that a Werewolf knows to be false, "
    "without a made-up fact, is none.",
    camouflages,
)
LEADERSHIP = Behaviour(
    "leadership",
    "social",
    "003 §5.4",
    "A statement that tries to steer the others: it calls for a vote, calls on a role to come out or to act, "
    "demands an answer of somebody, or asks to be followed.",
    "Announcing one's own vote is none, nor is a general 'let us share what we know'.",
    leads,
)
