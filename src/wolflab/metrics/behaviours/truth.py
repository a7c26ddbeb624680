"""What is said against what the record holds: deaths, votes, words, checks and offices that were not.

Pure functions of a `DetectorView`. They find falsehoods; whether one is a slip (a hallucination) or a lie
told to accuse (camouflage, 003 A.4) is decided by `deliberate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from ...rules import ROLES, LeftBy
from ...text.reading import NAMED, WEREWOLF, Accusation, Act, Agreement, Claim, Defence, Report, Suggestion
from .detecting import SAVES, DetectorView, Statement
from .signs import NOBODY, Sign, mentions

HOLDERS = {
    "see": frozenset({"Seer"}),
    "protect": frozenset({"Witch", *(name for name, role in ROLES.items() if role.shields)}),
    "antidote": frozenset({"Witch"}),
    "poison": frozenset({"Witch"}),
}
"""What a report tells of, to the roles that can do it ("saved" may be a Witch's word)."""
CLAIMS_A_ROLE = re.compile(
    r"\b(?:claim|sa(?:id|y)|reveal|told|tell|announc|declar|came out|com(?:e|ing) out|introduc|admit|confess|"
    r"present|insist|assert|call)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Falsehood:
    """One thing said that the record does not bear out. target: whom it is about."""

    kind: str
    statement: Statement
    target: int | None
    why: str


def meant(when: str, now: int) -> int | None:
    """The round that a sign's time speaks of, said in round `now`; None where no time was told."""
    match when.split():
        case ["yesterday"]:
            return now - 1
        case ["today"] | ["last", "night"]:
            return now
        case [_, number]:
            return int(number)
        case _:
            return None


def deliberate(play: DetectorView, one: Falsehood) -> bool:
    """Whether it was told to accuse somebody whose side the speaker knows: then it is no slip (003 A.4).

    A Werewolf knows who is none; a Seer knows whom it has found out.
    """
    target, said = one.target, one.statement
    if target is None or target not in said.suspects(least=1):
        return False
    if said.seat in play.wolves:
        return target not in play.wolves
    return any(
        learned.seat == said.seat and learned.target == target and learned.what == WEREWOLF
        for round, learned in play.checks
        if round <= said.round
    )


def falsehoods(play: DetectorView) -> Iterator[Falsehood]:
    """Everything said that contradicts the record, statement by statement."""
    for said in play.statements:
        for check in CHECKS:
            yield from check(play, said)


def _dead(play: DetectorView, said: Statement) -> Iterator[Falsehood]:
    """A dead player spoken of as alive."""
    for sign in said.signs:
        if sign.kind in ("treats", "call") or (sign.kind == "cites" and sign.what == "silence"):
            about = sign.who if sign.kind == "cites" else sign.whom
            past = sign.kind == "cites" and sign.when not in ("", "today")
            if about >= 0 and about not in said.alive and not past:
                gone = play.departure(about)
                assert gone is not None
                why = f"speaks of {play.name(about)} as alive, who {_left(gone.how)} in round {gone.round}"
                yield Falsehood("dead", said, about, why)


def _left(how: LeftBy) -> str:
    match how:
        case "night":
            return "died in the night"
        case "vote":
            return "was voted out"
        case "shot":
            return "was shot"
    assert_never(how)


def _deaths(play: DetectorView, said: Statement) -> Iterator[Falsehood]:
    """Deaths that did not happen, or not so, and nights called peaceful that were not."""
    for sign in said.told("died"):
        if sign.whom == NOBODY:
            yield from _nobody(play, said, sign)
            continue
        name = play.name(sign.whom)
        if sign.whom in said.alive:
            if sign.whom != said.seat:  # in last words one may speak of oneself as gone
                yield Falsehood("death", said, sign.whom, f"says that {name} is dead, who lives")
            continue
        gone = play.departure(sign.whom)
        assert gone is not None
        if sign.what == "vote" and gone.how != "vote":
            why = f"says that {name} was voted out, who {_left(gone.how)}"
            yield Falsehood("death", said, sign.whom, why)
        last_night = gone.round == said.round and gone.how != "vote"  # a dying player's shot at dawn too
        if sign.when == "last night" and sign.what != "vote" and not last_night:
            why = f"says that {name} died last night, who was gone before"
            yield Falsehood("death", said, sign.whom, why)


def _nobody(play: DetectorView, said: Statement, sign: Sign) -> Iterator[Falsehood]:
    round = meant(sign.when, said.round)
    if sign.what == "vote" or (sign.when == "yesterday" and not sign.what):
        for out in play.left(said.round - 1 if round is None else round, "vote"):
            yield Falsehood("death", said, None, f"says that nobody was voted out, but {play.name(out)} was")
        return
    if sign.when == "yesterday":
        return
    night = said.round if round is None else round
    dead = play.left(night, "night") if night <= said.round else ()
    calm_vote = not sign.what and round is None and said.round > 1 and not play.left(said.round - 1, "vote")
    if dead and not calm_vote:
        names = " and ".join(play.name(seat) for seat in dead)
        yield Falsehood("death", said, None, f"says that nobody died in night {night}, but {names} did")


def _votes(play: DetectorView, said: Statement) -> Iterator[Falsehood]:
    """Votes that were not cast."""
    for sign in said.told("voted"):
        if sign.who == NOBODY:
            continue
        round = meant(sign.when, said.round) if sign.when != "last night" else None
        cast = any(
            ballot.seat == sign.who
            and ballot.target == sign.whom
            and ballot.at < said.at
            and (round is None or (ballot.round == round and ballot.what == "eliminate"))
            for ballot in play.ballots
        )
        if not cast:
            why = f"says that {play.name(sign.who)} voted for {play.name(sign.whom)}"
            when = "" if round is None else f" in round {round}"
            yield Falsehood("vote", said, sign.who, f"{why}, which was not so{when}")


def _mute(play: DetectorView, said: Statement) -> Iterator[Falsehood]:
    """Players said to have been silent who had spoken."""
    for sign in said.told("cites"):
        if sign.what != "mute" or sign.who == NOBODY:
            continue
        round = meant(sign.when, said.round)
        name = play.name(sign.who)
        if sign.when == "yesterday" and round and play.spoke(sign.who, round):
            if play.silent(sign.who, said.round) and sign.who in said.today:
                continue  # today taken for yesterday: a confusion
            yield Falsehood("silence", said, sign.who, f"says that {name} was silent yesterday, who spoke")
        elif sign.when in ("", "today") and sign.who in said.today and play.spoke(sign.who, said.round):
            yield Falsehood("silence", said, sign.who, f"says that {name} said nothing, who had spoken")


def _quotes(play: DetectorView, said: Statement) -> Iterator[Falsehood]:
    """Words put into a player's mouth who never said the like. Who has not spoken at all is not judged here,
    unless silent or dead (else it is a citation of what is yet to come)."""
    for act in said.acts:
        who = act.speaker
        if who == said.seat or isinstance(act, Agreement) or who < 0:
            continue
        if not _uttered(play, said, act):
            if who not in said.heard and who not in said.asked and who in said.alive:
                continue
            why = f"has {play.name(who)} {_told(act)}, which {play.name(who)} never said"
            yield Falsehood("quote", said, who, why)
    for who in cited(said):
        if who not in said.heard and (who in said.asked or who not in said.alive):
            yield Falsehood("quote", said, who, f"cites {play.name(who)}, who never said anything")


def cited(said: Statement) -> set[int]:
    """Whose words a statement cites or agrees with."""
    found = {sign.who for sign in said.told("cites") if sign.what == "words" and sign.when != "last night"}
    found |= {act.target for act in said.own if isinstance(act, Agreement)}
    return {seat for seat in found if seat >= 0 and seat != said.seat}


def _told(act: Act) -> str:
    match act:
        case Claim(_, role, denied):
            return f"{'deny' if denied else 'claim'} to be a {role}"
        case Report():
            return "report of a night"
        case Accusation() | Suggestion():
            return "accuse somebody"
        case _:
            return "vouch for somebody"


def _uttered(play: DetectorView, said: Statement, act: Act) -> bool:
    """Whether the quoted player said anything like that before: the role's word, or the name, is enough."""
    earlier = [one for one in play.before(said.at) if one.seat == act.speaker]
    match act:
        case Claim(_, role):
            if not CLAIMS_A_ROLE.search(said.text):
                return True  # "player_3 as the Seer" may be an opinion
            words = [word for word, name in NAMED.items() if name == role]
            return any(
                any(word in one.text.lower() for word in words)
                or any(role in HOLDERS[report.kind] for report in one.reports)
                for one in earlier
            )
        case Report(_, _, target) | Accusation(_, target) | Defence(_, target) | Suggestion(_, target):
            if any(
                ballot.seat == act.speaker and ballot.target == target and ballot.at < said.at
                for ballot in play.ballots
            ):
                return True
            return any(target in mentions(one.text, play.names) or target == one.seat for one in earlier)
        case _:
            return True


def _reports(play: DetectorView, said: Statement) -> Iterator[Falsehood]:
    """Night results told by those who truly have that ability, but that they did not get."""
    own = play.roles[said.seat]
    if any(not claim.denied and claim.role != own for claim in said.claims):
        return  # speaking as somebody else is camouflage
    for report in said.reports:
        if own not in HOLDERS[report.kind]:
            continue
        name = play.name(report.target)
        if report.kind != "see":
            kinds = {"poison"} if report.kind == "poison" else SAVES
            done = any(
                deed.seat == said.seat and deed.kind in kinds and deed.target == report.target
                for deed in play.deeds
                if deed.round <= said.round
            )
            if not done:
                why = f"tells of a night action on {name} that was not taken ({report.kind})"
                yield Falsehood("report", said, report.target, why)
            continue
        results = [
            learned.what
            for round, learned in play.checks
            if round <= said.round and learned.seat == said.seat and learned.target == report.target
        ]
        if not results:
            yield Falsehood("report", said, report.target, f"tells of a check of {name} that was not made")
        elif report.what and not any(_agrees(report.what, what) for what in results):
            why = f"tells that the check of {name} showed {report.what}; it showed {results[0]}"
            yield Falsehood("report", said, report.target, why)


def _agrees(told: str, learned: str) -> bool:
    if (told == WEREWOLF) != (learned == WEREWOLF):
        return False
    vague = {told, learned} - set(ROLES)
    return bool(vague) or told == learned or told == "Villager"


def _offices(play: DetectorView, said: Statement) -> Iterator[Falsehood]:
    """A Sheriff who never was, and roles other than those revealed."""
    if said.where != "election":
        for sign in said.told("sheriff"):
            who = said.seat if sign.whom < 0 else sign.whom
            if who not in said.public.sheriffs:
                yield Falsehood("sheriff", said, who, f"calls {play.name(who)} the Sheriff, who never was")
    known = {seat: role for seat, role in enumerate(said.public.roles) if role}
    for act in said.own if known else ():
        if isinstance(act, Accusation) and act.strength == 3 and act.target in known:
            wrong = not ROLES[known[act.target]].wolf
        elif isinstance(act, Defence) and act.strength == 3 and act.target in known:
            wrong = ROLES[known[act.target]].wolf or act.role not in ("", known[act.target])
        else:
            continue
        if wrong:
            why = f"gives {play.name(act.target)} another role than the revealed one ({known[act.target]})"
            yield Falsehood("role", said, act.target, why)


CHECKS = (_dead, _deaths, _votes, _mute, _quotes, _reports, _offices)
