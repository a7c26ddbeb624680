"""Kinds about the Sheriff's office, and about what the moderator has told a player."""

from __future__ import annotations

import random
from collections.abc import Iterable

from ...rules import DayBroke, Event, Ruleset, SheriffNamed, facts_of, pick
from ...rules.roles import ROLES
from ..items import NOBODY
from ..situations import GameSituation, Impossible, dealing, note, only_first, playout
from .kind import AskedAbout, DrawnFrom, QuestionKind, Value, nothing, seats
from .night import UNTIL_DAWN, until_dawn

ELECTION = DrawnFrom("election", ("election",), roles=False)
RUNNING = DrawnFrom("election", roles=False)
SUCCESSION = DrawnFrom("succession", roles=False)
DEALT = DrawnFrom("night")


def _elected(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    played = playout(rules, s, "election")
    if any(ask.kind == "elect" for ask in played.unanswered):
        raise Impossible("not everybody's vote is told")
    for event in played.events:
        if isinstance(event, SheriffNamed):
            return event.seat
    raise Impossible("the lot decides")


def _is_elected(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _elected(rules, s, asked) == asked["x"]


def _running(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for x in rng.sample(s.candidates, len(s.candidates)):
        yield {"x": x}


def _may_elect(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    for ask, _ in playout(rules, s, "none").asks:
        if ask.kind == "elect" and ask.seat == asked["x"]:
            return pick(int(asked["y"])) in (ask.options or ())
    if int(asked["x"]) in s.living:
        raise Impossible("nobody is asked yet")
    return False


def _voters_and_others(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for _ in range(4):
        yield {"x": rng.choice(s.living), "y": rng.choice([*s.candidates, rng.randrange(s.players)])}


def _names_next(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    for ask, _ in playout(rules, s, "none").asks:
        if ask.kind == "succeed":
            return ask.seat
    return NOBODY


def _may_follow(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    for ask, _ in playout(rules, s, "none").asks:
        if ask.kind == "succeed":
            return pick(int(asked["x"])) in (ask.options or ())
    return False


def _may_be_drawn(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    asks = [ask for now in dealing(rules, s.roles) for ask in now.asks if ask.kind == "sheriff"]
    note(rules, (), asks)
    return pick(int(asked["x"])) in (only_first(asks).options or ())


def _secret_draw(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.draws_in_secret and s.round == 1:
        for asked in seats(rules, s, rng):
            role = rules.sheriff_role
            among = f"the {ROLES[role].plural}" if role else "all the players"
            yield {**asked, "among": f"{among} who can be Sheriff" if rules.never_sheriff else among}


def _told_role(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    x, y = int(asked["x"]), int(asked["y"])
    events: list[Event] = [event for now in dealing(rules, s.roles) for event in now.events]
    for event in until_dawn(rules, s).events:
        events.append(event)
        if isinstance(event, DayBroke):
            break
    known = facts_of(rules, [event for event in events if event.audience >> x & 1])
    return bool(known.roles[y] or known.sides[y])  # who is on the Werewolves' side is a Werewolf


def _lookers_and_packs(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if s.round > 1:
        return  # what earlier nights told is not told
    knowing = [x for x in s.living if s.roles[x] in ("Werewolf", "Seer")]
    looked = {seat: target for kind, seat, target in s.told if kind == "see"}
    for x in [*knowing, rng.choice(s.living)]:
        pack = [y for y in range(s.players) if s.roles[y] == s.roles[x]]
        for y in {looked.get(x), rng.choice(pack), rng.randrange(s.players)}:
            if isinstance(y, int) and y != x:
                yield {"x": x, "y": y}


KINDS = (
    QuestionKind(
        "elected",
        "Who is elected Sheriff. No question where the lot decides.",
        (
            "Who becomes Sheriff?",
            "Whom do these votes make Sheriff?",
            "Which candidate wins the election?",
            "Who holds the Sheriff's office after this election?",
            "Name the player who is Sheriff once these votes are counted.",
        ),
        _elected,
        nothing,
        ELECTION,
        "open",
        "player",
    ),
    QuestionKind(
        "is-elected",
        "Whether x, a candidate, is elected Sheriff. No question where the lot decides.",
        (
            "Does {x} become Sheriff?",
            "Do these votes make {x} Sheriff?",
            "Is {x} the winner of the election?",
            "!Does somebody other than {x} become Sheriff?",
            "Is {x} Sheriff once these votes are counted?",
            "!Does {x} lose the election?",
        ),
        _is_elected,
        _running,
        ELECTION,
    ),
    QuestionKind(
        "may-elect",
        "Whether x may vote for y in the election of the Sheriff.",
        (
            "May {x} vote for {y} in this election?",
            "Do the rules allow {x} to vote for {y} as Sheriff?",
            "Is {y} somebody for whom {x} can vote in the election?",
            "!Would a vote of {x} for {y} be against the rules of the election?",
            "Can {x} legally give {y} a vote for the office?",
            "Is a vote of {x} for {y} as Sheriff allowed?",
        ),
        _may_elect,
        _voters_and_others,
        RUNNING,
    ),
    QuestionKind(
        "names-next-sheriff",
        "Who names the next Sheriff now.",
        (
            "Who chooses the next Sheriff?",
            "Which player names the new Sheriff?",
            "Whose choice decides who is Sheriff next?",
            "By whom is the next Sheriff selected?",
            "Name the player who hands on the Sheriff's office.",
        ),
        _names_next,
        nothing,
        SUCCESSION,
        "open",
        "player",
    ),
    QuestionKind(
        "may-follow-sheriff",
        "Whether x may be named as the next Sheriff now.",
        (
            "May {x} be named as the next Sheriff?",
            "Can the office of Sheriff go to {x} now?",
            "Do the rules allow that {x} is chosen as the new Sheriff?",
            "!Is {x} barred from becoming the next Sheriff?",
            "Is {x} one of those who can follow as Sheriff?",
            "Would it be legal to hand the office to {x}?",
        ),
        _may_follow,
        seats,
        SUCCESSION,
    ),
    QuestionKind(
        "may-be-drawn",
        "Whether x can be the one whom the moderator draws in secret as the coming Sheriff, the draw being "
        "among those of whom the question tells.",
        (
            "The moderator draws the coming Sheriff in secret, among {among}. Can it be {x}?",
            "In secret, one of {among} is drawn to become Sheriff. May that be {x}?",
            "The coming Sheriff is drawn among {among}. Is {x} one of those who can be drawn?",
            "A secret draw among {among} decides who becomes Sheriff. Can it fall on {x}?",
            "Is it possible that {x} is the coming Sheriff, who is drawn in secret among {among}?",
        ),
        _may_be_drawn,
        _secret_draw,
        DEALT,
    ),
    QuestionKind(
        "told-role",
        "Whether x has been told by the moderator, until the end of this night, which exact role y holds "
        "(by meeting as a pack, or by this night's look).",
        (
            "Has the moderator let {x} know the exact role of {y}?",
            "Does {x} know for certain, from the moderator, which role {y} holds?",
            "By the morning, has {x} been told the exact role of {y}?",
            "Is {x} sure of the exact role of {y} by what the moderator showed?",
            "Do the rules tell {x} which exact role {y} was dealt?",
        ),
        _told_role,
        _lookers_and_packs,
        UNTIL_DAWN,
    ),
)
