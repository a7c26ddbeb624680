"""Hallucinations: what cannot be so in this game, by its rules or by its record (002 Table 18, 003 A.4).

Lying about one's role, and facts made up to accuse somebody whose side one knows, are camouflage and no
hallucination (003 A.4): see `truth.deliberate`. Errors about the order of the game (talk at night, words
not yet spoken, days and players mixed up) deceive nobody and count for everyone, as 002 counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...rules import DUTIES, ROLES, SHIELDS
from ...text.reading import read
from .detecting import Behaviour, DetectorView, Musing, Statement
from .sighting import Sighting
from .truth import HOLDERS, Falsehood, cited, deliberate, falsehoods, meant

# -- time and persons -----------------------------------------------------------------------------


def speaks_of_night(play: DetectorView) -> Iterator[Sighting]:
    """See `NIGHT_SPEECH`."""
    for said in play.statements:
        for sign in said.told("night talk"):
            target = sign.who if sign.who >= 0 else None
            if not deliberate(play, Falsehood("night", said, target, "")):
                yield play.sighting("night_speech", said, "speaks of talk in the night", target)


def cites_the_future(play: DetectorView) -> Iterator[Sighting]:
    """See `FUTURE_CITATION`."""
    for said in play.statements:
        quoted = {act.speaker for act in said.acts if act.speaker not in (said.seat, -1)}
        for who in sorted(cited(said) | quoted):
            if who not in said.asked and who in said.alive:
                why = f"cites {play.name(who)}, who has not spoken yet"
                yield play.sighting("future_citation", said, why, who)
        for sign in said.told("cites"):
            who = sign.who
            if who < 0 or who == said.seat or who not in said.alive or sign.when == "last night":
                continue
            if sign.when == "today" and who not in said.today:
                what = "words" if sign.what == "words" else "silence"
                why = f"cites {play.name(who)}'s {what} of today, before its turn"
                yield play.sighting("future_citation", said, why, who)
            elif sign.what != "words" and who not in said.asked and sign.when != "yesterday":
                why = f"speaks of {play.name(who)}'s silence before its turn to speak"
                yield play.sighting("future_citation", said, why, who)


def confuses(play: DetectorView) -> Iterator[Sighting]:
    """See `CONFUSION`."""
    for said in play.statements:
        for why, target in (*_days(play, said), *_persons(play, said)):
            yield play.sighting("confusion", said, why, target)


def _days(play: DetectorView, said: Statement) -> Iterator[tuple[str, int | None]]:
    for sign in said.told("dated"):
        round = meant(sign.when, said.round)
        if sign.what == "vote":
            yield "speaks of a vote in the night", None
        elif sign.when == "yesterday" and said.round == 1:
            yield "speaks of yesterday on the first day", None
        elif sign.when != "yesterday" and round is not None and round > said.round:
            yield f"tells of {sign.when}, which is yet to come", None
    for sign in said.told("cites"):
        if sign.when != "yesterday" or said.round == 1 or sign.who < 0 or sign.who not in said.today:
            continue
        yesterday, name = play.spoke(sign.who, said.round - 1), play.name(sign.who)
        silent = play.silent(sign.who, said.round)
        if sign.what in ("mute", "silence") and silent and yesterday:
            yield f"takes {name}'s silence of today for yesterday's", sign.who
        elif sign.what == "words" and not silent and not yesterday:
            yield f"takes {name}'s words of today for yesterday's", sign.who


def _persons(play: DetectorView, said: Statement) -> Iterator[tuple[str, int | None]]:
    for sign in said.signs:
        match sign.kind:
            case "stance" if sign.whom == said.seat and said.where != "election":
                yield f"speaks of itself as of somebody else ({sign.what} {play.name(sign.whom)})", None
            case "with me" if sign.whom == said.seat:
                yield f"names {play.name(sign.whom)} beside itself, being {play.name(sign.whom)}", None
            case "stranger":
                yield f"names {sign.what}, who is not at the table", None
            case _:
                pass


# -- abilities ------------------------------------------------------------------------------------


def cannot(play: DetectorView) -> Iterator[Sighting]:
    """See `IMPOSSIBLE_ABILITY`. One sighting a statement or private text."""
    for said in play.statements:
        why = _claimed(play, said) or _too_much(play, said)
        if why:
            yield play.sighting("impossible_ability", said, why)
    for one in play.musings:
        why = _wrong_verb(one) if one.kind == "mistake" else _thinks(play, one)
        if why:
            yield play.sighting("impossible_ability", one, why)


def _claimed(play: DetectorView, said: Statement) -> str:
    """Told nights against the role that the same statement claims."""
    roles = {claim.role for claim in said.claims if not claim.denied}
    for role in sorted(roles):
        if not play.record.ruleset.count(role):
            return f"claims to be a {role}, which this game does not have"
    for report in said.reports:
        if roles and not roles & HOLDERS[report.kind]:
            return f"as a {min(roles)}, tells of a night action that is another role's ({report.kind})"
    return ""


def _too_much(play: DetectorView, said: Statement) -> str:
    """More night actions than there were nights, or more told by a check than it shows."""
    ruleset = play.record.ruleset
    for kind in HOLDERS:
        targets = {report.target for report in said.reports if report.kind == kind}
        most = 1 if kind in ("antidote", "poison") else said.round
        if len(targets) > most:
            return f"tells of {len(targets)} players, having had {most} such action{'s' * (most > 1)} "
            f"({kind})"
    for report in said.reports:
        role = ROLES.get(report.what)
        if ruleset.seer_learns == "is_wolf" and role is not None and not role.wolf and not role.plain:
            return f"tells a role ({role.name}) that no check shows in this game"
    return ""


ACTED = re.compile(r"check|verif|inspect|investigat|protect|guarded|saved|poison|antidote", re.IGNORECASE)
SCHEMES = re.compile(r"\b(?:claim|pretend|pose|lie|bluff|say that|tell them|convince)", re.IGNORECASE)


def _thinks(play: DetectorView, one: Musing) -> str:
    """A village player that in private tells of a night action that its own role does not have.

    In private there is nobody to deceive; but a Werewolf's plans speak as the role that it will play.
    """
    own = play.roles[one.seat]
    if one.seat in play.wolves or not ACTED.search(one.text) or SCHEMES.search(one.text):
        return ""
    for act in read(one.text, play.names, one.seat):
        kind = getattr(act, "kind", "")
        if kind and act.speaker == one.seat and own not in HOLDERS[kind]:
            return f"thinks of a night action that a {own} does not have ({kind})"
    return ""


_VERBS = {
    "kill": re.compile(r"\b(?:kill|murder|attack)"),
    "protect": re.compile(r"\b(?:protect|guard\b|guarding|guarded|shield|sav(?:e|ing)\b)"),
    "see": re.compile(r"\b(?:check|verify|inspect|investigat|identif|see\b|seeing)"),
    "poison": re.compile(r"\bpoison"),
    "antidote": re.compile(r"\b(?:antidote|sav(?:e|ing)\b|heal|rescue|yes|no)\b"),
}
_CHOICE = re.compile(
    r"\b(?:i (?:will |would like to |want to |am going to )?(?:choose|decide|choose to|decide to|chose to|"
    r"decided to)? ?(?:to )?|action['\"]?\s*: ?['\"]?)(?=(?P<verb>[a-z]+))"
)


def _wrong_verb(one: Musing) -> str:
    """A reply to a night question that chooses another role's action (003 A.4, second example)."""
    asked = "protect" if one.asked in SHIELDS else one.asked
    if asked not in _VERBS or asked not in DUTIES:
        return ""
    text = one.text.lower()
    if _VERBS[asked].search(text):
        return ""
    for match in _CHOICE.finditer(text):
        for kind, verb in _VERBS.items():
            if kind not in (asked, "antidote") and verb.match(text, match.end()):
                return f"is asked to {asked} and chooses to {kind}"
    return ""


# -- the record -----------------------------------------------------------------------------------


def contradicts(play: DetectorView) -> Iterator[Sighting]:
    """See `CONTRADICTS_RECORD`."""
    for false in falsehoods(play):
        if not deliberate(play, false):
            yield play.sighting("contradicts_record", false.statement, false.why, false.target)


NIGHT_SPEECH = Behaviour(
    "night_speech",
    "hallucination",
    "002 Table 18; 003 §5.3",
    "A statement takes it that one can speak or be heard at night: words, silence or noises of the night.",
    "'Said last night that …' before a told night action is read as the day's report of it. A Werewolf (or a "
    "Seer who has found it out) that makes it up to accuse is camouflage.",
    speaks_of_night,
)
FUTURE_CITATION = Behaviour(
    "future_citation",
    "hallucination",
    "002 Table 18",
    "A statement cites, agrees with, or blames the silence of a player who has not had a turn to speak.",
    "Who spoke on an earlier day may be cited before today's turn, unless 'today' is said.",
    cites_the_future,
)
CONFUSION = Behaviour(
    "confusion",
    "hallucination",
    "002 Table 18",
    "Days or players are mixed up: 'yesterday' on the first day or for what happened today, days yet to come "
    "told of, votes at night, oneself spoken of as another player, players who do not exist.",
    "A wrong day is seen only where the statement names one.",
    confuses,
)
IMPOSSIBLE_ABILITY = Behaviour(
    "impossible_ability",
    "hallucination",
    "003 A.4",
    "A night action that the role claimed in the same statement does not have, that one's own role does not "
    "have (in private texts), more actions than nights, or a role that the game does not have.",
    "In public, an action without a claim is judged as a lie about the role: camouflage.",
    cannot,
)
CONTRADICTS_RECORD = Behaviour(
    "contradicts_record",
    "hallucination",
    "002 §10, 003 A.4",
    "A statement tells what the record refutes: the dead as alive, deaths, votes, words and offices that "
    "were "
    "not, night results that their true owner did not get.",
    "Told by a Werewolf to accuse an outsider it is camouflage. Misquotes are seen only where nothing "
    "like it "
    "was ever said.",
    contradicts,
)
