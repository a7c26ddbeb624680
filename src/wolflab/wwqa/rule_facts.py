"""Facts of the rules: each is a function that lets the engine play and returns a value.

Kinds of questions ask for these facts by name (`kinds.rules`), and an audit compares them with what a
question claims (`rule_claims`). `Impossible`: the fact does not apply to these rules (no Sheriff, no Guard).

A fact is found in one of two ways. Some play on from an example of a situation, and keep the events in the
query, for questions. The others look at a game that is played from the deal (`trials`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, TypeVar

from ..rules import (
    CHANCE,
    DUTIES,
    EVERYONE,
    PASS,
    ROLES,
    SHIELDS,
    Action,
    Ask,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    Event,
    GameEnded,
    Learned,
    PackMet,
    Reason,
    Revealed,
    Ruleset,
    SheriffNamed,
    VoteCounted,
    Winner,
    pick,
)
from ..rules.engine import Step
from ..rules.fallback import fallback
from ..text.asking.sentences import listed
from .situations import (
    GamePoint,
    GameSituation,
    Impossible,
    Playout,
    Query,
    ToldAction,
    dealing,
    only_first,
    steps,
    with_rest,
)
from .trials import Survivors, Trial, Wish, reachable_survivors, seated, trial

T = TypeVar("T")

FACTS: dict[str, Callable[..., Any]] = {}
"""All facts by name: (query, arguments …) → value."""


def _fact(find: Callable[..., T]) -> Callable[..., T]:
    FACTS[find.__name__.removeprefix("_")] = find
    return find


# -- games that are played on from an example -------------------------------------------------------


def example(rules: Ruleset, moment: GamePoint = "night", round: int = 1, **more: object) -> GameSituation:
    """A game of these rules with the roles dealt in the order of the cast, everybody alive.

    If there is a Sheriff, it is the last player, drawn in secret. The told night does not affect what is
    asked: the Werewolves kill a Villager if there is one, others choose a Werewolf, and a Witch keeps her
    potions.
    """
    drawn = tuple(range(rules.players)) if moment == "order" else ()
    s = GameSituation(moment, round, rules.players, roles=seated(rules), order=drawn)
    wolves = _wolves(s)
    quiet: list[ToldAction] = [("kill", wolf, [*_others(s, True), *_others(s)][0]) for wolf in wolves]
    for seat, role in enumerate(s.roles):
        for duty in ROLES[role].duties:
            if duty.shields or duty.reads:
                quiet.append((duty.kind, seat, wolves[0]))
    quiet += [("antidote", seat, "no") for seat in s.holders("Witch")]
    quiet += [("poison", seat, "pass") for seat in s.holders("Witch")]
    s = s.but(told=tuple(quiet) if moment == "night" else ())
    if rules.sheriff != "none" and (round > 1 or moment not in ("night", "election")):
        s = s.but(sheriff=rules.players - 1)
    elif rules.draws_in_secret:
        s = s.but(intended=rules.players - 1)
    return s.but(**more)


def _telling(s: GameSituation, *told: ToldAction) -> GameSituation:
    """The situation with these actions instead of the same players' told ones."""
    named = {(kind, seat) for kind, seat, _ in told}
    return s.but(told=(*told, *(action for action in s.told if action[:2] not in named)))


def _attacking(s: GameSituation, victim: int, *told: ToldAction) -> GameSituation:
    """The situation with an attack by all Werewolves, and further actions."""
    return _telling(s, *(("kill", seat, victim) for seat in _wolves(s)), *told)


def _with_only(s: GameSituation, *living: int) -> GameSituation:
    return s.but(dead=tuple(seat for seat in range(s.players) if seat not in living))


def _of(s: GameSituation, role: str, which: int = 0) -> int:
    """The seat of a holder of that role; Impossible without one."""
    return only_first(s.holders(role)[which:])


def _shielder(s: GameSituation) -> tuple[str, int]:
    """The seat that shields, and its kind of ask; Impossible if nobody does."""
    return only_first(
        (duty.kind, seat) for seat in s.living for duty in ROLES[s.roles[seat]].duties if duty.shields
    )


def _wolves(s: GameSituation) -> list[int]:
    return [seat for seat in s.living if ROLES[s.roles[seat]].wolf]


def _others(s: GameSituation, plain: bool | None = None) -> list[int]:
    """The living of the village: all, the plain Villagers, or those with an ability. Those who may stay when
    voted out come last.
    """
    found = [
        seat
        for seat in s.living
        if not ROLES[s.roles[seat]].wolf and plain in (None, ROLES[s.roles[seat]].plain)
    ]
    return sorted(found, key=lambda seat: _stays(s, seat))


def _stays(s: GameSituation, seat: int) -> bool:
    """Whether the player may stay when voted out."""
    return ROLES[s.roles[seat]].stays


def _night(q: Query, s: GameSituation) -> Playout:
    return q.playout(with_rest(q.rules, s, "night", "departure"), "night", "departure")


def _vote(q: Query, s: GameSituation, target: int) -> Playout:
    """Play a vote in which all living players vote for one, who votes for another."""
    other = only_first(seat for seat in s.living if seat != target)
    told = [("vote", seat, other if seat == target else target) for seat in s.living]
    return q.playout(with_rest(q.rules, _telling(s, *told), "voting", "departure"), "voting", "departure")


def _leaving(q: Query, how: str, role: str = "") -> tuple[int, Playout]:
    """Let a holder of the role (or anybody of the village) leave by the "vote", by "poison" or else by the
    Werewolves. Returns the seat and the playout.
    """
    s = example(q.rules, "voting" if how == "vote" else "night")
    seat = _of(s, role) if role else only_first(_others(s))
    if how == "vote":
        return seat, _vote(q, s, seat)
    if how == "poison":
        return seat, _night(q, _telling(s, ("poison", _of(s, "Witch"), seat)))
    return seat, _night(q, _attacking(s, seat))


def _ended(played: Playout) -> GameEnded | None:
    return next((event for event in played.events if isinstance(event, GameEnded)), None)


def _dead_at_dawn(events: Sequence[Event]) -> tuple[int, ...]:
    return only_first(event.deaths for event in events if isinstance(event, DayBroke))


# -- games that are played from the deal ------------------------------------------------------------

DEEDS = {
    "protect": SHIELDS,
    "see": frozenset(kind for kind, duty in DUTIES.items() if duty.reads),
    "speak": frozenset({"statement"}),
} | {kind: frozenset({kind}) for kind in ("kill", "vote", "elect")}
"""Actions by their words, with the kinds of asks for them."""


def _sheriff_seat(rules: Ruleset) -> int:
    """The seat that takes office: a plain Villager if there is one, so that its powers come from the
    office.
    """
    return next((s for s, role in enumerate(seated(rules)) if ROLES[role].plain), rules.players - 1)


@lru_cache(256)
def quiet_game(rules: Ruleset) -> Trial:
    """A game of three rounds in which nobody leaves, if these rules allow that."""
    return trial(rules, sheriff=_sheriff_seat(rules) if rules.sheriff != "none" else None, rounds=3)


def _holders(rules: Ruleset, who: str) -> tuple[int, ...]:
    """The seats that a word means: a role's, the village's, everybody's ("player"), the Sheriff's. Those who
    may stay when voted out come last. Impossible if there are none.
    """
    if who == "Sheriff":
        seats = [] if rules.sheriff == "none" else [_sheriff_seat(rules)]
    else:
        seats = [
            seat
            for seat, role in enumerate(seated(rules))
            if who in ("player", role) or (who == "village" and not ROLES[role].wolf)
        ]
    if not seats:
        raise Impossible(f"there is no {who}")
    return tuple(sorted(seats, key=lambda seat: ROLES[seated(rules)[seat]].stays))


def _victim(rules: Ruleset) -> int:
    return _holders(rules, "village")[0]


def _attack(victim: int, shield: int | None = None, night: int = 1) -> Wish:
    """All Werewolves choose `victim` in that night; whoever shields chooses `shield` (None: another)."""

    def wish(ask: Ask) -> Action | None:
        if ask.round != night:
            return None
        if ask.kind == "kill":
            return pick(victim)
        if ask.kind in SHIELDS:
            others = [one for one in ask.options or () if one != pick(victim)]
            return pick(shield) if shield is not None else others[0]
        return None

    return wish


def _ballot(seat: int, *voters: int) -> Wish:
    """A wish: everybody, or only these voters, vote against the seat on the first day."""

    def wish(ask: Ask) -> Action | None:
        wanted = ask.kind == "vote" and ask.round == 1 and (not voters or ask.seat in voters)
        return pick(seat) if wanted else None

    return wish


def _first_of(*wishes: Wish) -> Wish:
    """A wish: that of the first of these that has one."""
    return lambda ask: next((wanted for wish in wishes if (wanted := wish(ask)) is not None), None)


# -- the cast ---------------------------------------------------------------------------------------


def _cards(q: Query) -> list[Dealt | PackMet]:
    """The dealt cards, and who learns of whom."""
    events = [event for now in dealing(q.rules) for event in now.events if isinstance(event, Dealt | PackMet)]
    q.keep(*events)
    return events


@_fact
def _number_of(q: Query, what: str) -> int:
    """The number of holders of a role, of players, of different roles, or of the village's players."""
    dealt = Counter(event.role for event in _cards(q) if isinstance(event, Dealt))
    if what == "village":
        return sum(n for role, n in dealt.items() if not ROLES[role].wolf)
    return {"player": dealt.total(), "role": len(dealt)}.get(what, dealt[what])


@_fact
def _more_of(q: Query, one: str, other: str) -> bool:
    """Whether more players hold one role than another."""
    return _number_of(q, one) > _number_of(q, other)


@_fact
def _side(q: Query, role: str) -> str:
    """The side of a role."""
    if not q.rules.count(role):
        raise Impossible("nobody holds it")
    q.keep(f"The card: {ROLES[role].card(q.rules)}.")
    return ROLES[role].side.value


@_fact
def _one_side(q: Query, *roles: str) -> bool:
    """Whether these roles win together; "village" stands for that side."""
    return len({role if role == "village" else _side(q, role) for role in roles}) == 1


@_fact
def _end_of_row(q: Query, end: str) -> int:
    """The seat with the "lowest" or the "highest" number."""
    q.keep(f"The players in a row: {listed(q.rules.names)}.")
    return 0 if end == "lowest" else q.rules.players - 1


@_fact
def _knows_role(q: Query, who: str, whose: str) -> bool:
    """Whether every holder of one role knows every holder of the other from the beginning."""
    knowing, known, events = _holders(q.rules, who), _holders(q.rules, whose), _cards(q)

    def told(one: int, other: int) -> bool:
        of_other = (e for e in events if other in (e.seats if isinstance(e, PackMet) else (e.seat,)))
        return any(event.audience >> one & 1 for event in of_other)

    pairs = [(one, other) for one in knowing for other in known if one != other]
    if not pairs:
        raise Impossible("there is nobody to know")
    return all(told(one, other) for one, other in pairs)


# -- what somebody may do ---------------------------------------------------------------------------


@_fact
def _may_choose(q: Query, kind: str, whom: str) -> bool:
    """Whether for such a night ask one may choose "self", one of the own "pack", somebody "dead", the "same"
    as in the night before, or an "other".
    """
    s = example(q.rules, round=2)
    x = _of(s, only_first(role for role in s.roles if any(duty.kind == kind for duty in ROLES[role].duties)))
    y = x if whom == "self" else only_first(seat for seat in s.living if s.roles[seat] != s.roles[x])
    if whom == "pack":
        y = _of(s, s.roles[x], 1)
    elif whom == "dead":
        others = [seat for seat in _others(s) if seat != x]
        if len(others) < 2:
            raise Impossible("too few players")
        y = others[0]
        s = _attacking(s.but(dead=(y,)), others[-1])
    elif whom == "same" and kind in SHIELDS:
        s = s.but(shielded=((x, y),))
    ask = q.ask_tonight(s, kind, x)
    return ask is not None and pick(y) in (ask.options or ())


@_fact
def _may_choose_nobody(q: Query, kind: str, role: str) -> bool:
    """Whether a holder of the role may pass at such a night ask."""
    s = example(q.rules)
    ask = q.ask_tonight(s, kind, _of(s, role))
    return ask is not None and PASS in (ask.options or ())


@_fact
def _has_vote(q: Query, whom: str) -> bool:
    """Whether somebody "dead" or "living" votes by day."""
    asks = q.playout(example(q.rules, "voting", dead=(0,)), "none").unanswered
    seat = 0 if whom == "dead" else asks[0].seat
    return any(ask.options for ask in asks if ask.seat == seat)


@_fact
def _votes_for(q: Query, whom: str) -> bool:
    """Whether one may vote for oneself ("self"), for "nobody", for somebody "dead", for an "other"."""
    ask = q.playout(example(q.rules, "voting", dead=(0,)), "none").unanswered[0]
    wanted = {"self": pick(ask.seat), "dead": pick(0), "nobody": PASS, "other": pick(q.rules.players - 1)}
    return wanted[whom] in (ask.options or ())


@_fact
def _acts(q: Query, who: str) -> bool:
    """Whether every holder of the role acts at night."""
    seats = _holders(q.rules, who)
    asked = {ask.seat for ask, _ in _night(q, example(q.rules)).asks if ask.phase == "night"}
    return asked >= {*seats}


def _when(ask: Ask, time: str) -> bool:
    if time == "night 1":
        return ask.phase == "night" and ask.round == 1
    if time == "day":
        return ask.phase not in ("night", "deal")
    return time in ("", ask.phase)


@_fact
def _may(q: Query, who: str, deed: str, whom: str = "", time: str = "") -> bool:
    """Whether every holder is asked for the action at that time, and may choose such a target. whom: a role,
    "player" (anybody), "self", "Sheriff"; "": any.
    """
    targets = () if whom in ("", "self", "player") else _holders(q.rules, whom)

    def can(seat: int) -> bool:
        asks = [ask for ask in quiet_game(q.rules).of(seat, DEEDS[deed]) if _when(ask, time)]
        if whom in ("", "player") or deed == "speak":
            return bool(asks)
        chosen = (seat,) if whom == "self" else tuple(s for s in targets if s != seat)
        return not chosen or any(pick(t) in (ask.options or ()) for ask in asks for t in chosen)

    return all(can(seat) for seat in _holders(q.rules, who))


@_fact
def _targets(q: Query, who: str, deed: str) -> int:
    """The number of players that a holder can choose in one night, or vote for."""
    asks = [ask for seat in _holders(q.rules, who) for ask in quiet_game(q.rules).of(seat, DEEDS[deed])]
    if not _may(q, who, deed):
        raise Impossible("not every holder may do it")
    return max(Counter((ask.seat, ask.round) for ask in asks).values())


@_fact
def _dead_may(q: Query, deed: str) -> bool:
    """Whether a player killed in the first night does it afterwards."""
    victim = _victim(q.rules)
    after = trial(q.rules, _attack(victim))
    return any(ask.round > 1 or ask.phase != "night" for ask in after.of(victim, DEEDS[deed]))


@_fact
def _dead_return(q: Query) -> bool:
    """Whether a killed player returns to the game."""
    victim = _victim(q.rules)
    return trial(q.rules, _attack(victim)).alive(victim)


@_fact
def _must(q: Query, deed: str) -> bool:
    """Whether the action is compulsory: to vote, to vote for a Sheriff."""
    asks = [ask for ask in quiet_game(q.rules).asks if ask.kind in DEEDS[deed]]
    if not asks:
        raise Impossible("nobody is asked")
    return all(PASS not in (ask.options or ()) for ask in asks)


# -- the night --------------------------------------------------------------------------------------


@_fact
def _leaves_by(q: Query, how: str, who: str) -> bool:
    """Whether every holder leaves the game when all Werewolves attack it ("kill"), or all vote for it."""
    office, night = _sheriff_seat(q.rules), 2 if who == "Sheriff" else 1

    def stays(seat: int) -> bool:
        wish = _attack(seat, night=night) if how == "kill" else _ballot(seat)
        return trial(q.rules, wish, office, 2 if how == "kill" else 1).alive(seat)

    return not any(stays(seat) for seat in _holders(q.rules, who))


@_fact
def _pack_differs(q: Query, most: str) -> str:
    """The victim if the Werewolves name different players: all different ("no"), or all but the last the same
    ("yes"). "nobody", or the choice of the "first", of "most" or of the "last".
    """
    s = example(q.rules)
    wolves, targets = _wolves(s), _others(s)
    if len(wolves) < 2:
        raise Impossible("there is one Werewolf")
    first = [targets[0]] * len(wolves) if most == "yes" else targets[: len(wolves)]
    named = [*first[: len(wolves) - 1], targets[len(wolves) - 1]]
    choices = (("kill", wolf, target) for wolf, target in zip(wolves, named, strict=True))
    died = _dead_at_dawn(_night(q, _telling(s, *choices)).events)
    if not died:
        return "nobody"
    return "last" if died[0] == named[-1] else "most" if most == "yes" else "first"


@_fact
def _night_deaths(q: Query) -> list[int]:
    """The possible numbers of deaths by the Werewolves in one night, ascending."""
    victims = _holders(q.rules, "village")[:3]
    wolves = [seat for seat, role in enumerate(seated(q.rules)) if ROLES[role].wolf]

    def died(choice: Sequence[int]) -> int:
        chosen = dict(zip(wolves, choice, strict=True))

        def wish(ask: Ask) -> Action | None:
            if ask.kind == "kill":
                return pick(chosen[ask.seat])
            spared = (one for one in ask.options or () if one not in [pick(seat) for seat in choice])
            return next(spared) if ask.kind in SHIELDS else None

        return len(_dead_at_dawn(trial(q.rules, wish, rounds=1).events))

    saved = trial(q.rules, _attack(victims[0], victims[0]), rounds=1)
    numbers = {len(_dead_at_dawn(saved.events)), *map(died, product(victims, repeat=len(wolves)))}
    return sorted(numbers)


@_fact
def _lone_wolf_kills(q: Query) -> bool:
    """Whether a single remaining Werewolf still kills."""
    wolves, victim = _holders(q.rules, "Werewolf"), _victim(q.rules)
    if len(wolves) > 2:
        raise Impossible("one vote does not leave a single Werewolf")
    wishes = [_ballot(wolves[0]), _attack(victim, night=2)] if len(wolves) == 2 else [_attack(victim)]
    return not trial(q.rules, _first_of(*wishes)).alive(victim)


@_fact
def _seer_learns(q: Query) -> str:
    """What the Seer learns about a Villager: the "role", or only the "side"."""
    s = example(q.rules)
    seer, target = _of(s, "Seer"), only_first(s.holders("Villager")[::-1])  # the first one is attacked
    events = _night(q, _telling(s, ("see", seer, target))).events
    said = only_first(event.what for event in events if isinstance(event, Learned))
    return "role" if said == "Villager" else "side"


@_fact
def _killed_seer_looks(q: Query) -> bool:
    """Whether a Seer who is killed in a night still looks at somebody in that night."""
    s = example(q.rules)
    return any(ask.kind == "see" for ask, _ in _night(q, _attacking(s, _of(s, "Seer"))).asks)


@_fact
def _learns_choice(q: Query, who: str, deed: str) -> bool:
    """Whether every holder learns, by the end of the night, whom others chose for the action."""
    chosen = [e for e in quiet_game(q.rules).events if isinstance(e, Chose) and e.kind in DEEDS[deed]]
    knows = [e.audience >> seat & 1 for seat in _holders(q.rules, who) for e in chosen if e.seat != seat]
    if not knows:
        raise Impossible("nobody else chooses anything")
    return all(knows)


@_fact
def _both_potions(q: Query) -> bool:
    """Whether the Witch may use both potions in one night."""
    s = example(q.rules)
    witch = _of(s, "Witch")
    victim = only_first(seat for seat in _others(s) if seat != witch)
    return q.ask_tonight(_attacking(s, victim, ("antidote", witch, "yes")), "poison", witch) is not None


@_fact
def _witch_saves_herself(q: Query) -> bool:
    """Whether the Witch may use the antidote for herself."""
    s = example(q.rules)
    witch = _of(s, "Witch")
    return q.ask_tonight(_attacking(s, witch), "antidote", witch) is not None


@_fact
def _shield_and_antidote(q: Query) -> str:
    """The effect of the antidote on a shielded player: the Witch is "not asked", it "lives" or "dies"."""
    s = example(q.rules)
    witch = _of(s, "Witch")
    kind, shielder = _shielder(s)
    victim = only_first(seat for seat in _others(s) if seat not in (witch, shielder))
    s = _attacking(s, victim, (kind, shielder, victim))
    if q.ask_tonight(s, "antidote", witch) is None:
        return "not asked"
    events = _night(q, _telling(s, *s.told, ("antidote", witch, "yes"))).events
    return "dies" if victim in _dead_at_dawn(events) else "lives"


@_fact
def _shield_saves(q: Query, how: str) -> bool:
    """Whether a shielded player survives the Werewolves' attack ("kill"), "poison", the next day's "vote", an
    attack a night "later".
    """
    s = example(q.rules)
    kind, shielder = _shielder(s)
    victim = only_first(seat for seat in _others(s) if seat != shielder)
    if how == "kill":
        told = _attacking(s, victim, (kind, shielder, victim))
    elif how == "poison":
        told = _telling(s, (kind, shielder, victim), ("poison", _of(s, "Witch"), victim))
    else:
        after = _ballot(victim) if how == "vote" else _attack(victim, night=2)
        return trial(q.rules, _first_of(_attack(victim, victim), after)).alive(victim)
    return victim not in _dead_at_dawn(_night(q, told).events)


@_fact
def _unusable_choice(q: Query, kind: str, role: str) -> str:
    """The stand-in for an unusable night choice: a "random" one, or a "pass"."""
    s = example(q.rules)
    ask = q.ask_tonight(s, kind, _of(s, role))
    if ask is None:
        raise Impossible("nothing is asked")
    return "random" if isinstance(fallback(ask, q.rules), Ask) else "pass"


# -- announcements ----------------------------------------------------------------------------------


@_fact
def _choice_is_public(q: Query, kind: str) -> bool:
    """Whether everybody learns whom a role chose at night."""
    chose = [event for event in _night(q, example(q.rules)).events if isinstance(event, Chose)]
    return any(event.kind == kind and event.audience == EVERYONE for event in chose)


@_fact
def _announced(q: Query, what: str) -> bool:
    """Whether everybody learns of the night's "deaths", of "no death", of the Seer's "look"."""
    victim = _victim(q.rules)
    played = trial(q.rules, (lambda ask: None) if what == "no death" else _attack(victim), rounds=1)
    events = [event for event in played.events if event.audience == EVERYONE]
    if what == "look":
        return any(isinstance(event, Learned) for event in events)
    return _dead_at_dawn(events) == ((victim,) if what == "deaths" else ())


@_fact
def _roles_shown(q: Query) -> str:
    """Which roles of leaving players are shown: "never", of the "first night", "always"."""

    def shown(how: str) -> bool:
        return any(isinstance(event, Revealed) for event in _leaving(q, how)[1].events)

    by_night = shown("kill")
    return "always" if shown("vote") else "first night" if by_night else "never"


@_fact
def _last_words(q: Query, how: str) -> bool:
    """Whether a player who leaves by a "vote", or in the "night", says last words."""
    return any(ask.kind == "last-words" for ask, _ in _leaving(q, how)[1].asks)


@_fact
def _hunter_shoots(q: Query, how: str) -> bool:
    """Whether the Hunter may shoot after a "vote", a "kill", "poison"."""
    hunter, played = _leaving(q, how, "Hunter")
    return any(ask.kind == "shoot" and ask.seat == hunter for ask, _ in played.asks)


@_fact
def _idiot_leaves(q: Query, how: str) -> bool:
    """Whether an Idiot leaves who is killed by night ("kill"), voted out "once", or "twice"."""
    idiot, other = _holders(q.rules, "Idiot")[0], _victim(q.rules)
    if how == "kill":
        return not trial(q.rules, _attack(idiot)).alive(idiot)
    days = {"once": (1,), "twice": (1, 2)}[how]

    def votes(ask: Ask) -> Action | None:
        return pick(idiot) if ask.kind == "vote" and ask.round in days else None

    played = trial(q.rules, _first_of(votes, _attack(other, night=2)), rounds=len(days))
    voted = {ask.round for ask in played.asks if ask.kind == "vote" and pick(idiot) in (ask.options or ())}
    if other == idiot or not {*days} <= voted:
        raise Impossible("the Idiot is not voted out so often")
    return not played.alive(idiot)


# -- the day ----------------------------------------------------------------------------------------


@_fact
def _phases(q: Query, day: int) -> list[str]:
    """The phases of a day in the engine's order."""
    asked = (ask.phase for ask in quiet_game(q.rules).asks if ask.round == day)
    return ["announcement", *dict.fromkeys(p for p in asked if p in ("election", "discussion", "voting"))]


@_fact
def _phase_before(q: Query, one: str, other: str) -> bool:
    """Whether one phase comes before the other, on the first day and on a usual day that has both."""
    days = [names for names in (_phases(q, 1), _phases(q, 2)) if {one, other} <= {*names}]
    if not days:
        raise Impossible("no day has both")
    return all(names.index(one) < names.index(other) for names in days)


@_fact
def _phase_time(q: Query, phase: str) -> str:
    """Whether a phase is part of the "day" or of the night."""
    if phase not in _phases(q, 1):
        raise Impossible("there is no such phase")
    return "day"


@_fact
def _begins_with(q: Query) -> str:
    """Whether the game begins with a "night" or a "day"."""
    first = next(ask for ask in quiet_game(q.rules).asks if ask.seat != CHANCE)
    return "night" if first.phase == "night" else "day"


@_fact
def _alternates(q: Query) -> bool:
    """Whether a vote is followed by a night, a night by a day."""
    nights = [ask.phase == "night" for ask in quiet_game(q.rules).asks if ask.phase not in ("deal", "order")]
    turns = [night for night, before in zip(nights, [None, *nights], strict=False) if night != before]
    return turns == [True, False] * 3


@_fact
def _order_of_speech(q: Query) -> str:
    """What decides the order of speech; Impossible if nobody speaks."""
    if not _is_there_discussion(q):
        raise Impossible("nobody speaks by day")
    if any(ask.kind == "speaker" for now in dealing(q.rules) for ask in now.asks):
        q.keep("When the cards are dealt, chance is asked who speaks first, second and so on.")
        return "drawn once"
    asks = q.playout(example(q.rules, "order", order=()), "none").unanswered
    if asks[0].kind == "lead":
        return "neighbour"
    return "drawn daily" if asks[0].seat == CHANCE else "ascending"


@_fact
def _leads(q: Query, who: str) -> bool:
    """Whether the Sheriff, "lot", or somebody else decides who speaks first."""
    order = _order_of_speech(q)
    if who == "Sheriff" and order == "ascending":
        _holders(q.rules, who)
    return {"neighbour": "Sheriff", "ascending": "number"}.get(order, "lot") == who


@_fact
def _is_there_discussion(q: Query) -> bool:
    """Whether players speak by day before they vote."""
    told = with_rest(q.rules, example(q.rules, "order"), "order")
    asks = q.playout(told, "order", "discussion").asks
    speakers = [ask.seat for ask, _ in asks if ask.kind == "statement"]
    q.keep(f"Asked to speak by day: {listed([q.rules.names[seat] for seat in speakers])}.")
    return bool(speakers)


@_fact
def _speeches(q: Query) -> list[int]:
    """The different numbers of speeches of a player in one day, ascending."""
    asked = (ask for ask in quiet_game(q.rules).asks if ask.round == 2 and ask.kind == "statement")
    return sorted({*Counter(ask.seat for ask in asked).values()})


@_fact
def _sheriff_speaks(q: Query, end: str) -> bool:
    """Whether the Sheriff is the "first" or the "last" to speak."""
    order = with_rest(q.rules, example(q.rules, "order", sheriff=0), "order")
    asks = q.playout(order, "order", "discussion").asks
    seats = [ask.seat for ask, _ in asks if ask.kind == "statement"]
    if 0 not in seats:
        raise Impossible("nobody speaks")
    return seats.index(0) == (0 if end == "first" else len(seats) - 1)


@_fact
def _votes_shown(q: Query) -> str:
    """Whether votes are cast "together" or "in turn"."""
    return "together" if len(q.playout(example(q.rules, "voting"), "none").unanswered) > 1 else "in turn"


@_fact
def _tie(q: Query) -> str:
    """The result of a tie: a "lot", "nobody", the "first" of them."""
    n = q.rules.players
    told = tuple(("vote", seat, (seat + 1) % n) for seat in range(n))
    played = q.playout(example(q.rules, "voting", told=told), "voting")
    if any(ask.kind == "tie" for ask in played.unanswered):
        return "lot"
    out = only_first(event.seat for event in played.events if isinstance(event, VoteCounted))
    return "nobody" if out is None else "first"


@_fact
def _one_vote_is_enough(q: Query) -> bool:
    """Whether a single vote, all others passing, removes a player."""
    if not q.rules.may_abstain:
        raise Impossible("everybody must vote")
    told = tuple(("vote", seat, 1 if seat == 0 else "pass") for seat in range(q.rules.players))
    events = q.playout(example(q.rules, "voting", told=told), "voting").events
    return any(isinstance(event, VoteCounted) and event.seat == 1 for event in events)


@_fact
def _vote_takes(q: Query, place: str) -> bool:
    """Whether the player with the "most", "second" or "fewest" of three, two and one votes leaves."""
    if q.rules.players < 6:
        raise Impossible("there are too few votes")
    most, second, fewest, *_ = _holders(q.rules, "village")
    votes = _first_of(_ballot(most, 0, 1, 2), _ballot(second, 3, 4), _ballot(fewest, 5))
    played = trial(q.rules, votes, rounds=1)
    return not played.alive({"most": most, "second": second, "fewest": fewest}[place])


@_fact
def _vote_outs(q: Query) -> list[int]:
    """The numbers of players removed by votes, ascending: a unanimous one, an empty one, a tie."""
    one, other, *_ = _holders(q.rules, "village")
    tied = _first_of(_ballot(one, 0, 1), _ballot(other, 2, 3))
    games = [trial(q.rules, wish, rounds=1) for wish in (_ballot(one), lambda ask: None, tied)]
    counted = [event for game in games for event in game.events if isinstance(event, VoteCounted)]
    return sorted({int(event.seat is not None) for event in counted})


# -- the Sheriff ------------------------------------------------------------------------------------


@_fact
def _how_sheriff(q: Query) -> str:
    """How the first Sheriff is chosen: "named", by "lot", by "election"; "none" where there is none."""
    s = example(q.rules)
    played = _night(q, _attacking(s, _others(s)[0]))
    if any(isinstance(event, SheriffNamed) for event in played.events):
        return "named"
    if not played.unanswered:
        raise Impossible("the game ends before")
    return {"drawn": "lot", "candidate": "election"}.get(played.unanswered[0].kind, "none")


@_fact
def _sheriff_by(q: Query) -> str:
    """The same; Impossible without a Sheriff."""
    _holders(q.rules, "Sheriff")
    return _how_sheriff(q)


@_fact
def _elections(q: Query) -> list[int]:
    """The days, of three, on which a Sheriff is chosen, successions apart."""
    _holders(q.rules, "Sheriff")
    return sorted({ask.round for ask in quiet_game(q.rules).asks if ask.phase == "election"})


@_fact
def _can_be_sheriff(q: Query, role: str) -> bool:
    """Whether every holder of the role can take office."""
    if q.rules.sheriff not in ("elected", "drawn"):
        raise Impossible("nobody chooses a Sheriff")
    seats = _holders(q.rules, role)
    return all(trial(q.rules, sheriff=seat, rounds=1).state.sheriff == seat for seat in seats)


@_fact
def _all_run(q: Query) -> bool:
    """Whether every player is a candidate."""
    named = [ask for ask in quiet_game(q.rules).asks if ask.kind == "campaign"]
    if not named:
        raise Impossible("nobody runs")
    return len(named) == q.rules.players


@_fact
def _candidates(q: Query) -> int:
    """How many players run for Sheriff."""

    def first_ones(now: Step) -> list[Action] | None:
        options = now.asks[0].options or ()
        return [options[0]] if now.asks[0].kind == "candidate" else None

    events = (e for now in steps(q.rules, example(q.rules, "election"), first_ones) for e in now.events)
    named = only_first(event for event in events if isinstance(event, CandidatesNamed))
    q.keep(named)
    return len(named.seats)


@_fact
def _sheriff_keeps_role(q: Query) -> bool:
    """Whether the Sheriff keeps its role: a Werewolf in office kills in the next night."""
    wolf = _holders(q.rules, "Werewolf")[0]
    played = trial(q.rules, sheriff=wolf)
    if q.rules.sheriff == "none" or played.state.sheriff != wolf:
        raise Impossible("no Werewolf is Sheriff")
    return any(ask.round == 2 for ask in played.of(wolf, DEEDS["kill"]))


@_fact
def _sheriffs(q: Query) -> int:
    """The number of Sheriffs at a time."""
    _holders(q.rules, "Sheriff")
    return len({event.seat for event in quiet_game(q.rules).events if isinstance(event, SheriffNamed)})


@_fact
def _vote_weight(q: Query, n: int) -> bool:
    """Whether the Sheriff's vote counts `n` times: `n` votes against it give a tie."""
    (sheriff,) = _holders(q.rules, "Sheriff")
    one, other = [seat for seat in _holders(q.rules, "village") if seat != sheriff][:2]
    against = [seat for seat in range(q.rules.players) if seat != sheriff][:n]
    played = trial(q.rules, _first_of(_ballot(one, sheriff), _ballot(other, *against)), sheriff, 1)
    return any({*event.tied} == {one, other} for event in played.events if isinstance(event, VoteCounted))


@_fact
def _vote_bound(q: Query) -> bool:
    """Whether the Sheriff's words bind the votes after them."""
    _holders(q.rules, "Sheriff")
    asks = [ask for ask in quiet_game(q.rules).asks if ask.kind == "vote"]
    return all(len(ask.options or ()) < 2 for ask in asks)


@_fact
def _sheriff_leaves(q: Query) -> str:
    """What happens when the Sheriff leaves: it "names" the next one, the game's "stop", or "none" of both."""
    if q.rules.sheriff == "none":
        raise Impossible("there is no Sheriff")
    voting = example(q.rules, "voting", 1)
    sheriff = _others(voting)[0]
    ended = _ended(_vote(q, voting.but(sheriff=sheriff), sheriff))
    if ended is not None and ended.outcome.reason is Reason.SHERIFF_DIED:
        return "stop"
    after = example(q.rules, round=2, sheriff=sheriff, dead=(sheriff,))
    night = _night(q, _attacking(after, _others(after)[-1]))
    if _ended(night) is not None:
        raise Impossible("the game ends before")
    asks = night.unanswered
    return "names" if asks and asks[0].kind == "succeed" and asks[0].seat == sheriff else "none"


@_fact
def _won_without_sheriff(q: Query, by: str = "vote") -> str:
    """The winner when the Sheriff is killed, or voted out ("vote"); "goes on" if there is none yet."""
    (office,) = _holders(q.rules, "Sheriff")
    wish = _attack(office, night=2) if by == "kill" else _ballot(office)
    outcome = trial(q.rules, wish, office, 2 if by == "kill" else 1).state.outcome
    return "goes on" if outcome is None else outcome.winner.value


@_fact
def _ends_without_sheriff(q: Query, by: str) -> bool:
    """Whether the game is over when the Sheriff is killed, or voted out."""
    return _won_without_sheriff(q, by) != "goes on"


# -- the end ----------------------------------------------------------------------------------------


@_fact
def _rounds(q: Query) -> int:
    """The last round that the limit on rounds allows, found by bisection."""
    low, high = 0, 1
    while not _last_round(q, high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _last_round(q, middle) else (middle, high)
    return high


def _last_round(q: Query, round: int) -> bool:
    voting = example(q.rules, "voting", round)
    pool = _wolves(voting) if q.rules.wolves > 1 else _others(voting)
    ended = _ended(_vote(q, voting, pool[0]))
    if ended is not None and ended.outcome.reason is not Reason.ROUND_LIMIT:
        raise Impossible("the game ends before")
    return ended is not None


@_fact
def _wolves_win_when(q: Query, when: str) -> bool:
    """Whether the Werewolves win at "parity", without a "plain" Villager ("no plain"), or without a player
    with an ability ("no able").
    """
    voting = example(q.rules, "voting", 1)
    wolves, plain, able = _wolves(voting), _others(voting, True), _others(voting, False)
    able.sort(key=lambda seat: ROLES[voting.roles[seat]].shoots or _stays(voting, seat))
    kept = {
        "parity": (wolves[:2], [*plain[:1], *able[:1]], [*plain[1:2], *able[1:2]][:1]),
        "no plain": (wolves[:1], able[:2], plain[:1]),
        "no able": (wolves[:1], plain[:2], able[:1]),
    }[when]
    pack, stay, goes = kept
    if not goes or len(stay) < 2 or (when == "parity" and len(pack) < 2) or _stays(voting, goes[0]):
        raise Impossible("these roles cannot show it")
    ended = _ended(_vote(q, _with_only(voting, *pack, *stay, *goes), goes[0]))
    return ended is not None and ended.outcome.winner is Winner.WEREWOLVES


@_fact
def _village_wins_when(q: Query, when: str) -> bool:
    """Whether the village wins when the "first", or the "last" Werewolf is voted out."""
    voting = example(q.rules, "voting", 1)
    wolves = _wolves(voting)
    if when == "last":
        voting = _with_only(voting, wolves[0], *_others(voting))
    elif len(wolves) < 2:
        raise Impossible("there is one Werewolf")
    ended = _ended(_vote(q, voting, wolves[0]))
    return ended is not None and ended.outcome.winner is Winner.VILLAGE


def last_other(rules: Ruleset) -> str:
    """The players who must be gone for the Werewolves to win, in words."""
    plain = rules.wolves_win in ("no_villager", "no_villager_or_no_ability")
    return "the last plain Villager" if plain else "the last other player"


@_fact
def _both_gone(q: Query, last: str) -> str:
    """The winner when the last Werewolf dies together with the `last_other`."""
    if last != last_other(q.rules):
        raise Impossible("the Werewolves need others gone")
    s = example(q.rules)
    wolf, witch = _wolves(s)[0], _of(s, "Witch")
    victim = _others(s, True)[0] if "plain" in last else witch
    s = _with_only(s, wolf, witch, victim)
    played = _night(q, _telling(s, ("kill", wolf, victim), ("poison", witch, wolf)))
    if not {wolf, victim} <= {*_dead_at_dawn(played.events)}:
        raise Impossible("they do not die together")
    return played.winner


def _meets(rules: Ruleset, condition: str, about: Sequence[str | int]) -> Callable[[Survivors], bool]:
    """Whether survivors meet a condition on who is "out" or how many are "left"."""
    full = Counter(seated(rules))
    wolves = sum(n for role, n in full.items() if ROLES[role].wolf)
    simple: dict[str, Callable[[Survivors], bool]] = {
        "parity": lambda one: one.wolves == one.others > 0,
        "outnumber": lambda one: one.wolves > one.others,
        "wolves out": lambda one: one.wolves == 0,
        "one wolf out": lambda one: one.wolves == wolves - 1,
        "one wolf left": lambda one: one.wolves == 1,
        "one out": lambda one: one.left.total() == full.total() - 1,
        "others out": lambda one: one.others == 0,
        "out": lambda one: not any(one.left[str(role)] for role in about),
    }
    if condition in simple:
        return simple[condition]
    left = {str(role): int(n) for role, n in zip(about[::2], about[1::2], strict=True)}
    total = left.pop("other", None)
    if total is not None:
        return lambda one: one.others == total and all(one.left[role] == n for role, n in left.items())
    return lambda one: one.left == Counter(left)


@_fact
def _winner(q: Query, condition: str, *about: str | int) -> str:
    """The winner under this condition; "either" side, "goes on" if perhaps nobody has won yet."""
    meets = _meets(q.rules, condition, about)
    reached = [one for one in reachable_survivors(q.rules) if meets(one)]
    if not reached or (condition == "out" and not {*about} <= {*seated(q.rules)}):
        raise Impossible("no game comes to this")
    found = {one.outcome.winner.value if one.outcome else "goes on" for one in reached}
    return found.pop() if len(found) == 1 else "goes on" if "goes on" in found else "either"


@_fact
def _needs(q: Query, side: str, condition: str, *about: str | int) -> bool:
    """Whether the side wins only under this condition."""
    meets = _meets(q.rules, condition, about)
    ends = [one for one in reachable_survivors(q.rules) if one.outcome and one.outcome.winner.value == side]
    if not ends:
        raise Impossible("that side never wins")
    return all(meets(one) for one in ends)
