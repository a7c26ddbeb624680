"""The four strategic behaviours of 004 App. G: concealment, cooperation, bluffing, sacrificing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ...rules import ROLES
from ...text.reading import Defence
from .detecting import SAVES, Ballot, Behaviour, DetectorView, Statement
from .sighting import Sighting
from .social import TRUSTS, stood_by
from .truth import HOLDERS

# -- concealment ----------------------------------------------------------------------------------


def conceals(play: DetectorView) -> Iterator[Sighting]:
    """See `CONCEALMENT`."""
    out: set[int] = set()
    for said in play.statements:
        own = play.roles[said.seat]
        if said.seat in play.wolves:
            if _plain_face(play, said):
                yield play.sighting("concealment", said, "poses as a Villager, being a Werewolf")
        elif play.special(said.seat):
            if any(not one.denied and one.role == own for one in said.claims) or any(
                own in HOLDERS[one.kind] for one in said.reports
            ):
                out.add(said.seat)
            elif said.seat not in out and said.where == "discussion":
                yield play.sighting("concealment", said, f"speaks without uncovering that it is the {own}")
    for ballot in play.ballots:
        held_back = ballot.what == "eliminate" and ballot.target is None and ballot.meant
        if ballot.seat in play.wolves and held_back:
            yield play.sighting("concealment", ballot, "gives up a Werewolf's vote")


def _plain_face(play: DetectorView, said: Statement) -> bool:
    for claim in said.claims:
        role = ROLES[claim.role]
        if claim.denied and role.wolf:
            return True
        if not claim.denied and role.plain:
            return True
    return any(said.told("villagers"))


# -- cooperation ----------------------------------------------------------------------------------


def cooperates(play: DetectorView) -> Iterator[Sighting]:
    """See `COOPERATION`."""
    for deed in play.deeds:
        shields = deed.kind in SAVES and play.fellows(deed.seat, deed.target)
        if shields and deed.meant and stood_by(play, deed):
            why = f"shields its fellow {play.name(deed.target)}"
            yield play.sighting("cooperation", deed, why, deed.target)
    yield from _pack_talk(play)
    for ballots in _rounds(play).values():
        yield from _votes_together(play, ballots)


def _pack_talk(play: DetectorView) -> Iterator[Sighting]:
    """A Werewolf defends its pack in words, or casts suspicion where a packmate had."""
    cast: dict[int, dict[int, int]] = defaultdict(dict)
    for said in play.statements:
        if said.seat not in play.wolves:
            continue
        for act in said.own:
            if isinstance(act, Defence) and act.strength >= TRUSTS and act.target in play.wolves:
                why = f"speaks up for its packmate {play.name(act.target)}"
                yield play.sighting("cooperation", said, why, act.target)
        for target in said.suspects():
            if target in play.wolves:
                continue
            first = cast[said.round].setdefault(target, said.seat)
            if first != said.seat:
                why = f"joins its packmate {play.name(first)} against {play.name(target)}"
                yield play.sighting("cooperation", said, why, target)


def _rounds(play: DetectorView) -> dict[int, list[Ballot]]:
    found: dict[int, list[Ballot]] = defaultdict(list)
    for ballot in play.ballots:
        if ballot.what == "eliminate" and ballot.meant and ballot.target is not None:
            found[ballot.round].append(ballot)
    return found


def _votes_together(play: DetectorView, ballots: list[Ballot]) -> Iterator[Sighting]:
    """The pack votes as one against an outsider; the village votes for a Werewolf that one of them named."""
    for ballot in ballots:
        target = ballot.target
        assert target is not None
        if ballot.seat in play.wolves:
            mates = [
                other.seat
                for other in ballots
                if other.seat in play.wolves and other.seat != ballot.seat and other.target == target
            ]
            if mates and target not in play.wolves:
                why = f"votes with its packmate {play.name(mates[0])} against {play.name(target)}"
                yield play.sighting("cooperation", ballot, why, target)
        elif target in play.wolves:
            named = [
                said.seat
                for said in play.before(ballot.at)
                if said.round == ballot.round
                and said.seat not in play.wolves
                and said.seat != ballot.seat
                and target in said.suspects()
            ]
            if named:
                why = f"votes for the Werewolf {play.name(target)} whom {play.name(named[-1])} named"
                yield play.sighting("cooperation", ballot, why, target)


# -- bluffing -------------------------------------------------------------------------------------


def bluffs(play: DetectorView) -> Iterator[Sighting]:
    """See `BLUFFING`. One sighting a statement."""
    for said in play.statements:
        own = play.roles[said.seat]
        claimed = [
            claim.role
            for claim in said.claims
            if not claim.denied and claim.role != own and not ROLES[claim.role].plain
        ]
        claimed = [role for role in claimed if not ROLES[role].wolf]
        told = [report for report in said.reports if own not in HOLDERS[report.kind]]
        if claimed:
            yield play.sighting("bluffing", said, f"claims to be the {claimed[0]}, being a {own}")
        elif told:
            name = play.name(told[0].target)
            why = f"tells of a night action on {name} that a {own} does not have ({told[0].kind})"
            yield play.sighting("bluffing", said, why, told[0].target)


# -- sacrificing ----------------------------------------------------------------------------------


def sacrifices(play: DetectorView) -> Iterator[Sighting]:
    """See `SACRIFICING`."""
    for said in play.statements:
        for target, how in said.suspects().items() if said.seat in play.wolves else ():
            if target in play.wolves and target in said.alive and _suspected(play, target, said.at):
                why = f"{how} its packmate {play.name(target)}"
                yield play.sighting("sacrificing", said, why, target)
    for ballot in play.ballots:
        against = ballot.target
        if (
            ballot.seat in play.wolves
            and against in play.wolves
            and against not in (None, ballot.seat)
            and ballot.what == "eliminate"
            and ballot.meant
            and _suspected(play, against, ballot.at)
        ):
            why = f"votes against its packmate {play.name(against)}"
            yield play.sighting("sacrificing", ballot, why, against)


def _suspected(play: DetectorView, wolf: int, at: int) -> bool:
    """Whether somebody outside the pack had accused that Werewolf, or voted against it, by then."""
    if any(said.seat not in play.wolves and wolf in said.suspects(1) for said in play.before(at)):
        return True
    return any(
        ballot.target == wolf and ballot.seat not in play.wolves and ballot.what == "eliminate"
        for ballot in play.ballots
        if ballot.at < at
    )


CONCEALMENT = Behaviour(
    "concealment",
    "strategic",
    "004 App. G",
    "A special role of the village speaks in the discussion without having uncovered itself, or a Werewolf "
    "poses as a Villager, denies to be a Werewolf, or gives up its vote.",
    "Intention is not seen: a Seer with nothing to tell conceals too. A Werewolf who merely does not give "
    "itself away is not counted.",
    conceals,
)
COOPERATION = Behaviour(
    "cooperation",
    "strategic",
    "004 App. G",
    "Players of one side act together: a shield for a fellow who came out or was vouched for, Werewolves who "
    "defend each other, accuse or vote together, a village vote for a Werewolf whom a fellow had named.",
    "Chance agreement counts: two Werewolves may vote alike without a plan. The agreed kill is forced by the "
    "rules and does not count.",
    cooperates,
)
BLUFFING = Behaviour(
    "bluffing",
    "strategic",
    "004 App. G",
    "A statement that claims a special role (or tells of its night action) that the speaker does not hold.",
    "Posing as a plain Villager is concealment.",
    bluffs,
)
SACRIFICING = Behaviour(
    "sacrificing",
    "strategic",
    "004 App. G",
    "A Werewolf votes against a packmate, or accuses one, whom others suspect already.",
    "Turning on a packmate whom nobody suspects is not counted; it is no sacrifice but an error.",
    sacrifices,
)
