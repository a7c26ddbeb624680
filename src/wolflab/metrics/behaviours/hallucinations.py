"""Hallucinations: statements that are impossible by the game's rules or its record (002 Table 18, 003 A.4).

Lies about one's role, and facts invented to accuse a player whose side one knows, are camouflage and no
hallucination (003 A.4): see `truth.is_deliberate`. Errors about the order of the game (talk at night, future
statements, wrong days and players) count for all players, as in 002.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...rules import DUTIES, ROLES, SHIELDS
from ...text.reading import read_in
from .detector_view import Behaviour, DetectorView, Evidence, PrivateText, Statement
from .truth import HOLDERS, falsehoods, is_deliberate, round_meant, seats_cited

# -- time and persons -----------------------------------------------------------------------------


def find_night_speech(view: DetectorView) -> Iterator[Evidence]:
    """See `NIGHT_SPEECH`."""
    for statement in view.statements:
        for sign in statement.signs_of_kind("night talk"):
            target = sign.who if sign.who >= 0 else None
            if not is_deliberate(view, statement, target):
                yield Evidence(statement, "speaks of talk in the night", target)


def find_future_citations(view: DetectorView) -> Iterator[Evidence]:
    """See `FUTURE_CITATION`."""
    for statement in view.statements:
        quoted = {act.speaker for act in statement.acts if act.speaker not in (statement.seat, -1)}
        for cited in sorted(seats_cited(statement) | quoted):
            if cited not in statement.asked_before and cited in statement.alive:
                why = f"cites {view.name(cited)}, who has not spoken yet"
                yield Evidence(statement, why, cited)
        for sign in statement.signs_of_kind("cites"):
            cited = sign.who
            if cited == statement.seat or cited not in statement.alive or sign.when == "last night":
                continue
            if sign.when == "today" and cited not in statement.asked_today:
                kind = "words" if sign.what == "words" else "silence"
                yield Evidence(
                    statement, f"cites {view.name(cited)}'s {kind} of today, before its turn", cited
                )
            elif sign.what != "words" and cited not in statement.asked_before and sign.when != "yesterday":
                why = f"speaks of {view.name(cited)}'s silence before its turn to speak"
                yield Evidence(statement, why, cited)


def find_confusion(view: DetectorView) -> Iterator[Evidence]:
    """See `CONFUSION`."""
    for statement in view.statements:
        for why, target in (*_days(view, statement), *_persons(view, statement)):
            yield Evidence(statement, why, target)


def _days(view: DetectorView, statement: Statement) -> Iterator[tuple[str, int | None]]:
    for sign in statement.signs_of_kind("dated"):
        round = round_meant(sign.when, statement.round)
        if sign.what == "vote":
            yield "speaks of a vote in the night", None
        elif sign.when == "yesterday" and statement.round == 1:
            yield "speaks of yesterday on the first day", None
        elif sign.when != "yesterday" and round is not None and round > statement.round:
            yield f"tells of {sign.when}, which is yet to come", None
    for sign in statement.signs_of_kind("cites"):
        if sign.when != "yesterday" or statement.round == 1 or sign.who not in statement.asked_today:
            continue
        yesterday, name = view.spoke(sign.who, statement.round - 1), view.name(sign.who)
        silent = view.silent(sign.who, statement.round)
        if sign.what in ("mute", "silence") and silent and yesterday:
            yield f"takes {name}'s silence of today for yesterday's", sign.who
        elif sign.what == "words" and not silent and not yesterday:
            yield f"takes {name}'s words of today for yesterday's", sign.who


def _persons(view: DetectorView, statement: Statement) -> Iterator[tuple[str, int | None]]:
    for sign in statement.signs:
        match sign.kind:
            case "stance" if sign.whom == statement.seat and statement.where != "election":
                yield f"speaks of itself as of somebody else ({sign.what} {view.name(sign.whom)})", None
            case "with me" if sign.whom == statement.seat:
                yield f"names {view.name(sign.whom)} beside itself, being {view.name(sign.whom)}", None
            case "stranger":
                yield f"names {sign.what}, who is not at the table", None
            case _:
                pass


# -- abilities ------------------------------------------------------------------------------------


def find_impossible_abilities(view: DetectorView) -> Iterator[Evidence]:
    """See `IMPOSSIBLE_ABILITY`. Once for each statement or private text."""
    for statement in view.statements:
        if why := _claimed(view, statement) or _too_much(view, statement):
            yield Evidence(statement, why)
    for private in view.private_texts:
        if why := _wrong_verb(private) if private.kind == "mistake" else _thinks(view, private):
            yield Evidence(private, why)


def _claimed(view: DetectorView, statement: Statement) -> str:
    """A reported night action that does not fit the role claimed in the same statement."""
    roles = set(statement.roles_claimed)
    for role in sorted(roles):
        if not view.record.ruleset.count(role):
            return f"claims to be a {role}, which this game does not have"
    for report in statement.reports:
        if roles and not roles & HOLDERS[report.kind]:
            return f"as a {min(roles)}, tells of a night action that is another role's ({report.kind})"
    return ""


def _too_much(view: DetectorView, statement: Statement) -> str:
    """More night actions than nights, or a check that reports more than it can show."""
    ruleset = view.record.ruleset
    for kind in HOLDERS:
        targets = {report.target for report in statement.reports if report.kind == kind}
        most = 1 if kind in ("antidote", "poison") else statement.round
        if len(targets) > most:
            return f"tells of {len(targets)} players, having had {most} such action{'s' * (most > 1)} "
            f"({kind})"
    for report in statement.reports:
        role = ROLES.get(report.what)
        if ruleset.seer_learns == "is_wolf" and role is not None and not role.wolf and not role.plain:
            return f"tells a role ({role.name}) that no check shows in this game"
    return ""


_ACTED = re.compile(r"check|verif|inspect|investigat|protect|guarded|saved|poison|antidote", re.IGNORECASE)
_SCHEMES = re.compile(r"\b(?:claim|pretend|pose|lie|bluff|say that|tell them|convince)", re.IGNORECASE)


def _thinks(view: DetectorView, private: PrivateText) -> str:
    """A private text of a village player with a night action that its role does not have.

    Private texts deceive nobody; but a Werewolf's plans may use the role that it will pretend to have.
    """
    own = view.roles[private.seat]
    if private.seat in view.wolves or not _ACTED.search(private.text) or _SCHEMES.search(private.text):
        return ""
    for act in read_in(view.record.ruleset, private.text, private.seat):
        kind = getattr(act, "kind", "")
        if kind and act.speaker == private.seat and own not in HOLDERS[kind]:
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


def _wrong_verb(private: PrivateText) -> str:
    """A reply at night that chooses another role's action (003 A.4, second example)."""
    asked = "protect" if private.ask_kind in SHIELDS else private.ask_kind
    if asked not in _VERBS or asked not in DUTIES:
        return ""
    text = private.text.lower()
    if _VERBS[asked].search(text):
        return ""
    for match in _CHOICE.finditer(text):
        for kind, verb in _VERBS.items():
            if kind not in (asked, "antidote") and verb.match(text, match.end()):
                return f"is asked to {asked} and chooses to {kind}"
    return ""


# -- the record -----------------------------------------------------------------------------------


def find_contradictions_of_record(view: DetectorView) -> Iterator[Evidence]:
    """See `CONTRADICTS_RECORD`."""
    for statement, why, target in falsehoods(view):
        if not is_deliberate(view, statement, target):
            yield Evidence(statement, why, target)


NIGHT_SPEECH = Behaviour(
    "night_speech",
    "hallucination",
    "002 Table 18; 003 §5.3",
    "A statement takes it that one can speak or be heard at night: words, silence or noises of the night.",
    "'Said last night that …' before a told night action is read as the day's report of it. A Werewolf (or a "
    "Seer who has found it out) that makes it up to accuse is camouflage.",
    find_night_speech,
)
FUTURE_CITATION = Behaviour(
    "future_citation",
    "hallucination",
    "002 Table 18",
    "A statement cites, agrees with, or blames the silence of a player who has not had a turn to speak.",
    "Who spoke on an earlier day may be cited before today's turn, unless 'today' is said.",
    find_future_citations,
)
CONFUSION = Behaviour(
    "confusion",
    "hallucination",
    "002 Table 18",
    "Days or players are mixed up: 'yesterday' on the first day or for what happened today, days yet to come "
    "told of, votes at night, oneself spoken of as another player, players who do not exist.",
    "A wrong day is seen only where the statement names one.",
    find_confusion,
)
IMPOSSIBLE_ABILITY = Behaviour(
    "impossible_ability",
    "hallucination",
    "003 A.4",
    "A night action that the role claimed in the same statement does not have, that one's own role does not "
    "have (in private texts), more actions than nights, or a role that the game does not have.",
    "In public, an action without a claim is judged as a lie about the role: camouflage.",
    find_impossible_abilities,
)
CONTRADICTS_RECORD = Behaviour(
    "contradicts_record",
    "hallucination",
    "002 §10, 003 A.4",
    "A statement tells what the record refutes: the dead as alive, deaths, votes, words and offices that "
    "were not, night results that their true owner did not get.",
    "Told by a Werewolf to accuse an outsider it is camouflage. Misquotes are seen only where nothing like "
    "it was ever said.",
    find_contradictions_of_record,
)
