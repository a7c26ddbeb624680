"""The four strategic behaviours of 004 App. G: concealment, cooperation, bluffing, sacrificing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ...rules import ROLES
from ...text.reading import Defence
from .detector_view import SAVES, SPECIAL, Ballot, Behaviour, DetectorView, Evidence, Statement
from .social import TRUSTING, shields_trusted
from .truth import HOLDERS

# -- concealment ----------------------------------------------------------------------------------


def find_concealment(view: DetectorView) -> Iterator[Evidence]:
    """See `CONCEALMENT`."""
    out: set[int] = set()
    for statement in view.statements:
        own = view.roles[statement.seat]
        if statement.seat in view.wolves:
            if _plain_face(statement):
                yield Evidence(statement, "poses as a Villager, being a Werewolf")
        elif own in SPECIAL:
            revealed = any(own in HOLDERS[report.kind] for report in statement.reports)
            if revealed or own in statement.roles_claimed or statement.unread:
                out.add(statement.seat)  # an unread statement may have revealed it
            elif statement.seat not in out and statement.where == "discussion":
                yield Evidence(statement, f"speaks without uncovering that it is the {own}")
    for ballot in view.ballots:
        held_back = ballot.what == "eliminate" and ballot.target is None and ballot.meant
        if ballot.seat in view.wolves and held_back:
            yield Evidence(ballot, "gives up a Werewolf's vote")


def _plain_face(statement: Statement) -> bool:
    if any(claim.denied and ROLES[claim.role].wolf for claim in statement.claims):
        return True
    plain = any(ROLES[role].plain for role in statement.roles_claimed)
    return plain or any(statement.signs_of_kind("villagers"))


# -- cooperation ----------------------------------------------------------------------------------


def find_cooperation(view: DetectorView) -> Iterator[Evidence]:
    """See `COOPERATION`."""
    for action in view.night_actions:
        shields = action.kind in SAVES and view.same_side(action.seat, action.target)
        if shields and action.meant and shields_trusted(view, action):
            why = f"shields its fellow {view.name(action.target)}"
            yield Evidence(action, why, action.target)
    yield from _pack_talk(view)
    for ballots in _ballots_by_round(view).values():
        yield from _votes_together(view, ballots)


def _pack_talk(view: DetectorView) -> Iterator[Evidence]:
    """A Werewolf defends its pack in words, or joins a packmate's accusation."""
    cast: dict[int, dict[int, int]] = defaultdict(dict)
    for statement in view.statements:
        if statement.seat not in view.wolves:
            continue
        for act in statement.own:
            if isinstance(act, Defence) and act.strength >= TRUSTING and act.target in view.wolves:
                why = f"speaks up for its packmate {view.name(act.target)}"
                yield Evidence(statement, why, act.target)
        for target in statement.suspects():
            if target in view.wolves:
                continue
            first = cast[statement.round].setdefault(target, statement.seat)
            if first != statement.seat:
                why = f"joins its packmate {view.name(first)} against {view.name(target)}"
                yield Evidence(statement, why, target)


def _ballots_by_round(view: DetectorView) -> dict[int, list[Ballot]]:
    ballots: dict[int, list[Ballot]] = defaultdict(list)
    for ballot in view.ballots:
        if ballot.what == "eliminate" and ballot.meant and ballot.target is not None:
            ballots[ballot.round].append(ballot)
    return ballots


def _votes_together(view: DetectorView, ballots: list[Ballot]) -> Iterator[Evidence]:
    """The pack votes together against an outsider; the village votes for a Werewolf that one of them had
    accused.
    """
    for ballot in ballots:
        target = ballot.target
        assert target is not None
        if ballot.seat in view.wolves:
            mates = [
                other.seat
                for other in ballots
                if other.seat in view.wolves and other.seat != ballot.seat and other.target == target
            ]
            if mates and target not in view.wolves:
                why = f"votes with its packmate {view.name(mates[0])} against {view.name(target)}"
                yield Evidence(ballot, why, target)
        elif target in view.wolves:
            named = [
                statement.seat
                for statement in view.before(ballot.at)
                if statement.round == ballot.round
                and statement.seat not in view.wolves
                and statement.seat != ballot.seat
                and target in statement.suspects()
            ]
            if named:
                why = f"votes for the Werewolf {view.name(target)} whom {view.name(named[-1])} named"
                yield Evidence(ballot, why, target)


# -- bluffing -------------------------------------------------------------------------------------


def find_bluffing(view: DetectorView) -> Iterator[Evidence]:
    """See `BLUFFING`. Once for each statement."""
    for statement in view.statements:
        own = view.roles[statement.seat]
        claimed = [role for role in statement.roles_claimed if role != own and role in SPECIAL]
        reports = [report for report in statement.reports if own not in HOLDERS[report.kind]]
        if claimed:
            yield Evidence(statement, f"claims to be the {claimed[0]}, being a {own}")
        elif reports:
            kind, target = reports[0].kind, reports[0].target
            why = f"tells of a night action on {view.name(target)} that a {own} does not have ({kind})"
            yield Evidence(statement, why, target)


# -- sacrificing ----------------------------------------------------------------------------------


def find_sacrificing(view: DetectorView) -> Iterator[Evidence]:
    """See `SACRIFICING`."""
    for statement in view.statements:
        for target, how in statement.suspects().items() if statement.seat in view.wolves else ():
            if target in view.wolves and target in statement.alive and _suspected(view, target, statement.at):
                why = f"{how} its packmate {view.name(target)}"
                yield Evidence(statement, why, target)
    for ballot in view.ballots:
        against = ballot.target
        if (
            ballot.seat in view.wolves
            and against in view.wolves
            and against not in (None, ballot.seat)
            and ballot.what == "eliminate"
            and ballot.meant
            and _suspected(view, against, ballot.at)
        ):
            why = f"votes against its packmate {view.name(against)}"
            yield Evidence(ballot, why, against)


def _suspected(view: DetectorView, wolf: int, at: int) -> bool:
    """Whether a player outside the pack had accused that Werewolf, or voted against it, by then."""
    outside = (statement for statement in view.before(at) if statement.seat not in view.wolves)
    if any(wolf in statement.suspects(1) for statement in outside):
        return True
    return any(ballot.seat not in view.wolves for ballot in view.votes_against(wolf, at))


CONCEALMENT = Behaviour(
    "concealment",
    "strategic",
    "004 App. G",
    "A special role of the village speaks in the discussion without having uncovered itself, or a Werewolf "
    "poses as a Villager, denies to be a Werewolf, or gives up its vote.",
    "Intention is not seen: a Seer with nothing to tell conceals too. A Werewolf who merely does not give "
    "itself away is not counted.",
    find_concealment,
)
COOPERATION = Behaviour(
    "cooperation",
    "strategic",
    "004 App. G",
    "Players of one side act together: a shield for a fellow who came out or was vouched for, Werewolves who "
    "defend each other, accuse or vote together, a village vote for a Werewolf whom a fellow had named.",
    "Chance agreement counts: two Werewolves may vote alike without a plan. The agreed kill is forced by the "
    "rules and does not count.",
    find_cooperation,
)
BLUFFING = Behaviour(
    "bluffing",
    "strategic",
    "004 App. G",
    "A statement that claims a special role (or tells of its night action) that the speaker does not hold.",
    "Posing as a plain Villager is concealment.",
    find_bluffing,
)
SACRIFICING = Behaviour(
    "sacrificing",
    "strategic",
    "004 App. G",
    "A Werewolf votes against a packmate, or accuses one, whom others suspect already.",
    "Turning on a packmate whom nobody suspects is not counted; it is no sacrifice but an error.",
    find_sacrificing,
)
