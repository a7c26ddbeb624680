"""Compares statements with the record: deaths, votes, words, checks and offices that are false.

Pure functions of a `DetectorView`. They find falsehoods; `is_deliberate` decides whether one is an error (a
hallucination) or a lie to accuse (camouflage, 003 A.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from ...rules import ROLES, LeftBy
from ...text.reading import (
    NAMED,
    WEREWOLF,
    Accusation,
    Act,
    Agreement,
    Claim,
    Defence,
    Report,
    Suggestion,
    with_roles_marked,
)
from .detector_view import SAVES, DetectorView, Statement
from .signs import NOBODY, Sign, seats_mentioned

HOLDERS = {
    "see": frozenset({"Seer"}),
    "protect": frozenset({"Witch", *(name for name, role in ROLES.items() if role.shields)}),
    "antidote": frozenset({"Witch"}),
    "poison": frozenset({"Witch"}),
}
"""Kind of a report → the roles that can do it ("saved" may be a Witch's word)."""
CLAIMS_A_ROLE = re.compile(
    r"\b(?:claim|sa(?:id|y)|reveal|told|tell|announc|declar|came out|com(?:e|ing) out|introduc|admit|confess|"
    r"present|insist|assert|call)",
    re.IGNORECASE,
)
Falsehood = tuple[str, int | None]
"""A falsehood: (why, the player that it is about)."""


def round_meant(when: str, round: int) -> int | None:
    """The round of a sign's time, for a statement in `round`; None without a time."""
    match when.split():
        case ["yesterday"]:
            return round - 1
        case ["today"] | ["last", "night"]:
            return round
        case [_, number]:
            return int(number)
        case _:
            return None


def is_deliberate(view: DetectorView, statement: Statement, target: int | None) -> bool:
    """Whether a falsehood about `target` was told to accuse a player whose side the speaker knows.

    Then it is no error (003 A.4). A Werewolf knows the sides; a Seer knows those it has checked.
    """
    if target is None or target not in statement.suspects(least=1):
        return False
    if statement.seat in view.wolves:
        return target not in view.wolves
    return WEREWOLF in _checks_of(view, statement, target)


def _checks_of(view: DetectorView, statement: Statement, target: int) -> list[str]:
    """The speaker's results of checks of a player by that round."""
    return [
        learned.what
        for round, learned in view.checks
        if round <= statement.round and learned.seat == statement.seat and learned.target == target
    ]


def falsehoods(view: DetectorView) -> Iterator[tuple[Statement, str, int | None]]:
    """(statement, why, player concerned) of everything said that contradicts the record."""
    for statement in view.statements:
        for check in CHECKS:
            for why, target in check(view, statement):
                yield statement, why, target


def _dead(view: DetectorView, statement: Statement) -> Iterator[Falsehood]:
    """Dead players spoken of as alive."""
    for sign in statement.signs:
        if sign.kind in ("treats", "call") or (sign.kind == "cites" and sign.what == "silence"):
            about = sign.who if sign.kind == "cites" else sign.whom
            past = sign.kind == "cites" and sign.when not in ("", "today")
            if about >= 0 and about not in statement.alive and not past:
                departure = statement.public.left(about)
                assert departure is not None
                left = f"{_how_left(departure.how)} in round {departure.round}"
                yield f"speaks of {view.name(about)} as alive, who {left}", about


def _how_left(how: LeftBy) -> str:
    match how:
        case "night":
            return "died in the night"
        case "vote":
            return "was voted out"
        case "shot":
            return "was shot"
    assert_never(how)


def _deaths(view: DetectorView, statement: Statement) -> Iterator[Falsehood]:
    """Deaths that did not happen, or happened differently, and nights wrongly called peaceful."""
    for sign in statement.signs_of_kind("died"):
        if sign.whom == NOBODY:
            yield from _nobody(view, statement, sign)
            continue
        name = view.name(sign.whom)
        if sign.whom in statement.alive:
            if sign.whom != statement.seat:  # in last words a player may speak of itself as dead
                yield f"says that {name} is dead, who lives", sign.whom
            continue
        departure = statement.public.left(sign.whom)
        assert departure is not None
        if sign.what == "vote" and departure.how != "vote":
            yield f"says that {name} was voted out, who {_how_left(departure.how)}", sign.whom
        # A dying player's shot at dawn belongs to last night too.
        last_night = departure.round == statement.round and departure.how != "vote"
        if sign.when == "last night" and sign.what != "vote" and not last_night:
            yield f"says that {name} died last night, who was gone before", sign.whom


def _nobody(view: DetectorView, statement: Statement, sign: Sign) -> Iterator[Falsehood]:
    now, round = statement.round, round_meant(sign.when, statement.round)
    if sign.what == "vote" or (sign.when == "yesterday" and not sign.what):
        for out in view.left(now - 1 if round is None else round, "vote"):
            yield f"says that nobody was voted out, but {view.name(out)} was", None
        return
    if sign.when == "yesterday":
        return
    night = now if round is None else round
    dead = view.left(night, "night") if night <= now else ()
    calm_vote = not sign.what and round is None and now > 1 and not view.left(now - 1, "vote")
    if dead and not calm_vote:
        names = " and ".join(view.name(seat) for seat in dead)
        yield f"says that nobody died in night {night}, but {names} did", None


def _votes(view: DetectorView, statement: Statement) -> Iterator[Falsehood]:
    """Votes that were not cast."""
    for sign in statement.signs_of_kind("voted"):
        if sign.who == NOBODY:
            continue
        round = round_meant(sign.when, statement.round) if sign.when != "last night" else None
        cast = any(
            ballot.seat == sign.who
            and ballot.target == sign.whom
            and ballot.at < statement.at
            and (round is None or (ballot.round == round and ballot.what == "eliminate"))
            for ballot in view.ballots
        )
        if not cast:
            vote = f"{view.name(sign.who)} voted for {view.name(sign.whom)}"
            when = "" if round is None else f" in round {round}"
            yield f"says that {vote}, which was not so{when}", sign.who


def _mute(view: DetectorView, statement: Statement) -> Iterator[Falsehood]:
    """Players called silent who had spoken."""
    for sign in statement.signs_of_kind("cites"):
        if sign.what != "mute" or sign.who == NOBODY:
            continue
        round = round_meant(sign.when, statement.round)
        name, asked_today = view.name(sign.who), sign.who in statement.asked_today
        if sign.when == "yesterday" and round and view.spoke(sign.who, round):
            if asked_today and view.silent(sign.who, statement.round):
                continue  # today taken for yesterday: a confusion
            yield f"says that {name} was silent yesterday, who spoke", sign.who
        elif sign.when in ("", "today") and asked_today and view.spoke(sign.who, statement.round):
            yield f"says that {name} said nothing, who had spoken", sign.who


def _quotes(view: DetectorView, statement: Statement) -> Iterator[Falsehood]:
    """Quotations of players who never said anything similar. A player who has not spoken yet counts only if
    it was silent or is dead (otherwise it is a citation of the future).
    """
    yet_to_speak = statement.alive - statement.spoke_before - statement.asked_before
    for act in statement.acts:
        quoted = act.speaker
        if quoted == statement.seat or isinstance(act, Agreement) or quoted < 0:
            continue
        if quoted not in yet_to_speak and not _uttered(view, statement, act):
            name = view.name(quoted)
            yield f"has {name} {_words_of(act)}, which {name} never said", quoted
    for quoted in seats_cited(statement):
        if quoted not in statement.spoke_before | yet_to_speak:
            yield f"cites {view.name(quoted)}, who never said anything", quoted


def seats_cited(statement: Statement) -> set[int]:
    """The seats whose words a statement cites or agrees with."""
    cites = statement.signs_of_kind("cites")
    seats = {sign.who for sign in cites if sign.what == "words" and sign.when != "last night"}
    seats |= {act.target for act in statement.own if isinstance(act, Agreement)}
    return {seat for seat in seats if seat >= 0 and seat != statement.seat}


def _words_of(act: Act) -> str:
    match act:
        case Claim(_, role, denied):
            return f"{'deny' if denied else 'claim'} to be a {role}"
        case Report():
            return "report of a night"
        case Accusation() | Suggestion():
            return "accuse somebody"
        case _:
            return "vouch for somebody"


def _uttered(view: DetectorView, statement: Statement, act: Act) -> bool:
    """Whether the quoted player said anything similar before: the role's word, or the name, is enough. An
    unread statement counts as similar.
    """
    earlier = [uttered for uttered in view.before(statement.at) if uttered.seat == act.speaker]
    if any(uttered.unread for uttered in earlier):
        return True
    match act:
        case Claim(_, role):
            if not CLAIMS_A_ROLE.search(statement.text):
                return True  # "player_3 as the Seer" may be an opinion
            role_words = [word for word, name in NAMED.items() if name == role]
            rules = view.record.ruleset
            return any(
                any(word in with_roles_marked(uttered.text, rules).lower() for word in role_words)
                or any(role in HOLDERS[report.kind] for report in uttered.reports)
                for uttered in earlier
            )
        case Report(_, _, target) | Accusation(_, target) | Defence(_, target) | Suggestion(_, target):
            if any(
                ballot.seat == act.speaker and ballot.target == target and ballot.at < statement.at
                for ballot in view.ballots
            ):
                return True
            return any(
                target in seats_mentioned(uttered.text, view.names) or target == uttered.seat
                for uttered in earlier
            )
        case _:
            return True


def _reports(view: DetectorView, statement: Statement) -> Iterator[Falsehood]:
    """False night results reported by players who have that ability."""
    own = view.roles[statement.seat]
    if any(role != own for role in statement.roles_claimed):
        return  # speaking as somebody else is camouflage
    for report in statement.reports:
        if own not in HOLDERS[report.kind]:
            continue
        name = view.name(report.target)
        if report.kind != "see":
            kinds = {"poison"} if report.kind == "poison" else SAVES
            taken = any(
                action.seat == statement.seat and action.kind in kinds and action.target == report.target
                for action in view.night_actions
                if action.round <= statement.round
            )
            if not taken:
                yield f"tells of a night action on {name} that was not taken ({report.kind})", report.target
            continue
        results = _checks_of(view, statement, report.target)
        if not results:
            yield f"tells of a check of {name} that was not made", report.target
        elif report.what and not any(_agrees(report.what, result) for result in results):
            why = f"tells that the check of {name} showed {report.what}; it showed {results[0]}"
            yield why, report.target


def _agrees(reported: str, learned: str) -> bool:
    if (reported == WEREWOLF) != (learned == WEREWOLF):
        return False
    vague = {reported, learned} - set(ROLES)
    return bool(vague) or reported == learned or reported == "Villager"


def _offices(view: DetectorView, statement: Statement) -> Iterator[Falsehood]:
    """Players wrongly called Sheriff, and roles that differ from the revealed ones."""
    if statement.where != "election":
        for sign in statement.signs_of_kind("sheriff"):
            sheriff = statement.seat if sign.whom < 0 else sign.whom
            if sheriff not in statement.public.sheriffs:
                yield f"calls {view.name(sheriff)} the Sheriff, who never was", sheriff
    revealed = {seat: role for seat, role in enumerate(statement.public.roles) if role}
    for act in statement.own:
        if not isinstance(act, Accusation | Defence) or act.strength != 3 or act.target not in revealed:
            continue
        role = revealed[act.target]
        wolf = ROLES[role].wolf
        if not wolf if isinstance(act, Accusation) else wolf or act.role not in ("", role):
            yield f"gives {view.name(act.target)} another role than the revealed one ({role})", act.target


CHECKS = (_dead, _deaths, _votes, _mute, _quotes, _reports, _offices)
