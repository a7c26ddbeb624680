"""Kinds about the Sheriff's office, and about what the moderator has told a player."""

from __future__ import annotations

import random
from collections.abc import Iterable

from ...rules import Action, DayBroke, Event, Ruleset, SheriffNamed, facts_of, pick
from ...rules.roles import ROLES
from ..items import NOBODY
from ..situations import AskedAbout, GameSituation, Impossible, Query, dealing, only_first
from .kind import DrawnFrom, EngineAnswer, Value, entries_of, kinds_of, seats
from .night import UNTIL_DAWN, night

ELECTION = DrawnFrom("election", ("election",), roles=False)
RUNNING = DrawnFrom("election", roles=False)
SUCCESSION = DrawnFrom("succession", roles=False)
DEALT = DrawnFrom("night")


def _elected(q: Query) -> int:
    """Who is elected; Impossible where the lot decides."""
    played = q.playout(q.situation, "election")
    if any(ask.kind == "elect" for ask in played.unanswered):
        raise Impossible("not everybody's vote is told")
    return only_first(event.seat for event in played.events if isinstance(event, SheriffNamed))


def _running(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for x in rng.sample(s.candidates, len(s.candidates)):
        yield {"x": x}


def _may_elect(q: Query) -> Value:
    for ask, _ in q.playout(q.situation, "none").asks:
        if ask.kind == "elect" and ask.seat == q.x:
            return pick(q.y) in (ask.options or ())
    if q.x in q.situation.living:
        raise Impossible("nobody is asked yet")
    return False


def _voters_and_others(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for _ in range(4):
        yield {"x": rng.choice(s.living), "y": rng.choice([*s.candidates, rng.randrange(s.players)])}


def _succession(q: Query) -> tuple[int | str, tuple[Action, ...]]:
    """Who names the next Sheriff now, and who may be named."""
    asks = (ask for ask, _ in q.playout(q.situation, "none").asks if ask.kind == "succeed")
    return next(((ask.seat, ask.options or ()) for ask in asks), (NOBODY, ()))


def _may_be_drawn(q: Query) -> Value:
    asks = [ask for now in dealing(q.rules, q.situation.roles) for ask in now.asks if ask.kind == "sheriff"]
    q.keep(*asks)
    return pick(q.x) in (only_first(asks).options or ())


def _secret_draw(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.draws_in_secret and s.round == 1:
        for asked in seats(rules, s, rng):
            role = rules.sheriff_role
            among = f"the {ROLES[role].plural}" if role else "all the players"
            yield {**asked, "among": f"{among} who can be Sheriff" if rules.never_sheriff else among}


def _told_role(q: Query) -> Value:
    events: list[Event] = [e for now in dealing(q.rules, q.situation.roles) for e in now.events]
    for event in night(q).events:
        events.append(event)
        if isinstance(event, DayBroke):
            break
    known = facts_of(q.rules, [event for event in events if event.audience >> q.x & 1])
    return bool(known.roles[q.y] or known.sides[q.y])  # who is on the Werewolves' side is a Werewolf


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


KINDS = kinds_of(
    entries_of("office.yaml"),
    {
        "elected": EngineAnswer(_elected, setting=ELECTION),
        "is-elected": EngineAnswer(lambda q: _elected(q) == q.x, _running, ELECTION),
        "may-elect": EngineAnswer(_may_elect, _voters_and_others, RUNNING),
        "names-next-sheriff": EngineAnswer(lambda q: _succession(q)[0], setting=SUCCESSION),
        "may-follow-sheriff": EngineAnswer(lambda q: pick(q.x) in _succession(q)[1], seats, SUCCESSION),
        "may-be-drawn": EngineAnswer(_may_be_drawn, _secret_draw, DEALT),
        "told-role": EngineAnswer(_told_role, _lookers_and_packs, UNTIL_DAWN),
    },
)
"""The kinds of `office.yaml`, each with the engine's answer."""
