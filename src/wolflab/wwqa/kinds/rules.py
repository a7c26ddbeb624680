"""Kinds about the rules themselves. Each is answered by setting up a small game and letting the engine play
it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ...rules import (
    CHANCE,
    EVERYONE,
    PASS,
    Action,
    Ask,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    GameEnded,
    PackMet,
    Reason,
    Revealed,
    Ruleset,
    SheriffNamed,
    VoteCounted,
    Winner,
    pick,
)
from ...rules.engine import Step
from ...rules.fallback import fallback
from ...rules.roles import ROLES, SHIELDS
from ...text.asking.sentences import listed
from ..items import AnswerType
from ..situations import (
    GamePoint,
    GameSituation,
    Impossible,
    Playout,
    ToldAction,
    dealing,
    note,
    only_first,
    playout,
    remark,
    steps,
    with_rest,
)
from .kind import Answers, AskedAbout, Asks, QuestionKind, Value, nothing, words_of_role
from .night import ask_tonight, winner_of


def example(rules: Ruleset, moment: GamePoint = "night", round: int = 1, **more: object) -> GameSituation:
    """A game of these rules with the roles dealt in the order of the cast, everybody alive.

    Where there is a Sheriff it is the last player, drawn in secret until there is one. The night that is told
    decides nothing that is asked: the Werewolves kill a Villager if there is one, others choose a Werewolf,
    and a Witch keeps her potions.
    """
    roles = tuple(role for role, n in rules.roles.items() for _ in range(n))
    drawn = tuple(range(rules.players)) if moment == "order" else ()
    s = GameSituation(moment, round, rules.players, roles=roles, order=drawn)
    quiet: list[ToldAction] = [("kill", wolf, [*_others(s, True), *_others(s)][0]) for wolf in _wolves(s)]
    for seat, role in enumerate(roles):
        for duty in ROLES[role].duties:
            if duty.shields or duty.reads:
                quiet.append((duty.kind, seat, _wolves(s)[0]))
    quiet += [("antidote", seat, "no") for seat in s.holders("Witch")]
    quiet += [("poison", seat, "pass") for seat in s.holders("Witch")]
    s = s.but(told=tuple(quiet) if moment == "night" else ())
    if rules.sheriff != "none" and (round > 1 or moment not in ("night", "election")):
        s = s.but(sheriff=rules.players - 1)
    elif rules.draws_in_secret:
        s = s.but(intended=rules.players - 1)
    return s.but(**more)


def _telling(s: GameSituation, told: Sequence[ToldAction]) -> GameSituation:
    """With these actions in place of what is told of the same players."""
    named = {(kind, seat) for kind, seat, _ in told}
    return s.but(told=(*told, *(action for action in s.told if action[:2] not in named)))


def _with_only(s: GameSituation, *living: int) -> GameSituation:
    return s.but(dead=tuple(seat for seat in range(s.players) if seat not in living))


def _of(s: GameSituation, role: str, which: int = 0) -> int:
    """The seat of a holder of that role; Impossible where there is none."""
    holders = s.holders(role)
    if which >= len(holders):
        raise Impossible(f"too few hold {role}")
    return holders[which]


def _wolves(s: GameSituation) -> list[int]:
    return [seat for seat in s.living if ROLES[s.roles[seat]].wolf]


def _others(s: GameSituation, plain: bool | None = None) -> list[int]:
    """The living of the village: all, the plain Villagers, or those with an ability."""
    return [
        seat
        for seat in s.living
        if not ROLES[s.roles[seat]].wolf and plain in (None, ROLES[s.roles[seat]].plain)
    ]


def _attack(s: GameSituation, victim: int) -> tuple[ToldAction, ...]:
    return tuple(("kill", seat, victim) for seat in _wolves(s))


def _night(rules: Ruleset, s: GameSituation) -> Playout:
    return playout(rules, with_rest(rules, s, "night", "departure"), "night", "departure")


def _vote(rules: Ruleset, s: GameSituation, target: int) -> Playout:
    """All living players vote for one, who votes for somebody else."""
    other = only_first(seat for seat in s.living if seat != target)
    told = tuple(("vote", seat, other if seat == target else target) for seat in s.living)
    return playout(rules, with_rest(rules, _telling(s, told), "voting", "departure"), "voting", "departure")


def _ended(played: Playout) -> GameEnded | None:
    return next((event for event in played.events if isinstance(event, GameEnded)), None)


# -- the cast -----------------------------------------------------------------------------------------


def _cards(rules: Ruleset) -> list[Dealt | PackMet]:
    """The cards dealt, and who meets whom then."""
    events = [event for now in dealing(rules) for event in now.events if isinstance(event, (Dealt, PackMet))]
    note(rules, events, ())
    return events


def _dealt(rules: Ruleset) -> Counter[str]:
    return Counter(event.role for event in _cards(rules) if isinstance(event, Dealt))


def _role_count(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _dealt(rules)[str(asked["role"])]


def _in_game(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return str(asked["role"]) in _dealt(rules)


def _players(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return sum(_dealt(rules).values())


def _kinds_of_roles(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return len(_dealt(rules))


def _cast(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.roles:
        if rules.roles[role]:
            yield words_of_role(role)


def _all_roles(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in ROLES:
        yield words_of_role(role)


def _side(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    if not rules.count(str(asked["role"])):
        raise Impossible("nobody holds it")
    remark(f"The card: {ROLES[str(asked['role'])].card(rules)}.")
    return ROLES[str(asked["role"])].side.value


def _first_name(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    remark(f"The players in a row: {listed(rules.names)}.")
    return 0 if asked["end"] == "lowest" else rules.players - 1


def _ends(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    yield from ({"end": "lowest"}, {"end": "highest"})


# -- who may choose whom ------------------------------------------------------------------------------

_VERBS = {"kill": "choose {} to kill", "see": "look at {}", "poison": "poison {}"}
_WHOM = {
    "self": "themselves",
    "pack": "one of their own pack",
    "dead": "a player who is dead",
    "same": "the same player in two nights in a row",
    "other": "a living player of another role",
}


def _may_choose(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules, round=2)
    kind, whom = str(asked["kind"]), str(asked["whom"])
    x = _of(s, only_first(role for role in s.roles if any(duty.kind == kind for duty in ROLES[role].duties)))
    y = x if whom == "self" else only_first(seat for seat in s.living if s.roles[seat] != s.roles[x])
    if whom == "pack":
        y = _of(s, s.roles[x], 1)
    elif whom == "dead":
        others = [seat for seat in _others(s) if seat != x]
        if len(others) < 2:
            raise Impossible("too few players")
        y = others[0]
        s = s.but(dead=(y,))
        s = _telling(s, _attack(s, others[-1]))
    elif whom == "same" and kind in SHIELDS:
        s = s.but(shielded=((x, y),))
    ask = ask_tonight(rules, s, kind, x)
    return ask is not None and pick(y) in (ask.options or ())


def _choosable(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.cast:
        for duty in role.duties:
            if duty.when != "night" or duty.kind == "antidote":
                continue
            for whom, words in _WHOM.items():
                if whom == "pack" and not (role.pack and rules.count(role.name) > 1):
                    continue
                if whom == "same" and duty.kind in ("kill", "poison"):
                    continue
                does = _VERBS.get(duty.kind, duty.verb + " {}").format(words)
                yield {"kind": duty.kind, "whom": whom, "does": does, **words_of_role(role.name)}


def _may_pass(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    kind = str(asked["kind"])
    x = _of(s, str(asked["role"]))
    ask = ask_tonight(rules, s, kind, x)
    return ask is not None and PASS in (ask.options or ())


def _choosing(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.cast:
        for duty in role.duties:
            if duty.when == "night" and duty.kind != "antidote":
                does = _VERBS.get(duty.kind, duty.verb + " {}").format("nobody")
                yield {"kind": duty.kind, "does": does, **words_of_role(role.name)}


def _has_vote(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules, "voting")
    asks = playout(rules, s.but(dead=(0,)), "none").unanswered
    seat = 0 if asked["whom"] == "dead" else asks[0].seat
    options = next((ask.options or () for ask in asks if ask.seat == seat), ())
    return bool(options)


def _votes_for_whom(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    ask = playout(rules, example(rules, "voting", dead=(0,)), "none").unanswered[0]
    wanted = {"self": pick(ask.seat), "dead": pick(0), "nobody": PASS, "other": pick(rules.players - 1)}
    return wanted[str(asked["whom"])] in (ask.options or ())


def _vote_targets(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    yield {"whom": "self", "does": "vote for themselves"}
    yield {"whom": "dead", "does": "vote for a player who is dead"}
    yield {"whom": "nobody", "does": "vote for nobody"}
    yield {"whom": "other", "does": "vote for another living player"}


def _voters(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    yield {"whom": "dead", "who": "a player who is dead"}
    yield {"whom": "living", "who": "a player who is alive"}


def _acts_at_night(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    seat = _of(s, str(asked["role"]))
    return any(ask.seat == seat for ask, _ in _night(rules, s).asks if ask.phase == "night")


# -- the night ------------------------------------------------------------------------------------------


def _split(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    """What comes of different choices: all different, or all but the last one for the same player."""
    s = example(rules)
    wolves, targets = _wolves(s), _others(s)
    first = [targets[0]] * len(wolves) if asked["most"] == "yes" else targets[: len(wolves)]
    named = [*first[: len(wolves) - 1], targets[len(wolves) - 1]]
    told = tuple(("kill", wolf, target) for wolf, target in zip(wolves, named, strict=True))
    for event in _night(rules, _telling(s, told)).events:
        if isinstance(event, DayBroke):
            died = event.deaths
            if not died:
                return "nobody"
            return "last" if died[0] == named[-1] else "most" if asked["most"] == "yes" else "first"
    raise Impossible("no dawn")


def _splits(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.wolves >= 2:
        yield {"most": "no", "how": "each of them names another player"}
    if rules.wolves >= 3:
        yield {"most": "yes", "how": "all but the last of them name the same player and the last one another"}


def _learned(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    seer, target = _of(s, "Seer"), s.holders("Villager")[-1]  # the first one is attacked
    events = _night(rules, _telling(s, (("see", seer, target),))).events
    said = only_first(event.what for event in events if hasattr(event, "what") and hasattr(event, "target"))
    return "role" if said == "Villager" else "side"


def _seers(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Seer") and rules.count("Villager"):
        yield {}


def _dead_seer_learns(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    seer = _of(s, "Seer")
    asks = _night(rules, _telling(s, _attack(s, seer))).asks
    return any(ask.kind == "see" for ask, _ in asks)


def _seer_there(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Seer"):
        yield {}


def _both_potions(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    witch = _of(s, "Witch")
    victim = only_first(seat for seat in _others(s) if seat != witch)
    told = (*_attack(s, victim), ("antidote", witch, "yes"))
    return ask_tonight(rules, _telling(s, told), "poison", witch) is not None


def _saves_self(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    witch = _of(s, "Witch")
    return ask_tonight(rules, _telling(s, _attack(s, witch)), "antidote", witch) is not None


def _witches(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Witch"):
        yield {}


def _shielded_and_cured(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    witch = _of(s, "Witch")
    kind, shielder = only_first(
        (duty.kind, seat) for seat in s.living for duty in ROLES[s.roles[seat]].duties if duty.shields
    )
    victim = only_first(seat for seat in _others(s) if seat not in (witch, shielder))
    s = _telling(s, (*_attack(s, victim), (kind, shielder, victim)))
    if ask_tonight(rules, s, "antidote", witch) is None:
        return "not asked"
    events = _night(rules, _telling(s, (*s.told, ("antidote", witch, "yes")))).events
    return "dies" if any(isinstance(e, DayBroke) and victim in e.deaths for e in events) else "lives"


def _witch_and_shield(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Witch") and any(role.shields for role in rules.cast):
        yield {}


def _shield_saves(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    kind, x = only_first(
        (duty.kind, seat) for seat in s.living for duty in ROLES[s.roles[seat]].duties if duty.shields
    )
    victim = only_first(seat for seat in _others(s) if seat != x)
    told: tuple[ToldAction, ...] = ((kind, x, victim), *_attack(s, victim))
    if asked["how"] == "poison":
        told = ((kind, x, victim), ("poison", _of(s, "Witch"), victim))
    events = _night(rules, _telling(s, told)).events
    return not any(isinstance(event, DayBroke) and victim in event.deaths for event in events)


def _shields(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.cast:
        if role.shields:
            yield {"how": "kill", "danger": "the attack of the Werewolves alone", **words_of_role(role.name)}
            if rules.count("Witch"):
                yield {"how": "poison", "danger": "the Witch's poison", **words_of_role(role.name)}


def _unusable(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    ask = ask_tonight(rules, s, str(asked["kind"]), _of(s, str(asked["role"])))
    if ask is None:
        raise Impossible("nothing is asked")
    return "random" if isinstance(fallback(ask, rules), Ask) else "pass"


def _secret(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    """Whether everybody learns whom a role chose."""
    kind = str(asked["kind"])
    chose = [event for event in _night(rules, example(rules)).events if isinstance(event, Chose)]
    return any(event.kind == kind and event.audience == EVERYONE for event in chose)


def _pack_known(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    members = {seat for event in _cards(rules) if isinstance(event, PackMet) for seat in event.seats}
    return {*example(rules).holders(str(asked["role"]))} <= members


def _several(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for role in rules.roles:
        if rules.roles[role] > 1:
            yield words_of_role(role)


# -- by day ---------------------------------------------------------------------------------------------


def _order_kind(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    if not _talks(rules, s, asked):
        raise Impossible("nobody speaks by day")
    if any(ask.kind == "speaker" for now in dealing(rules) for ask in now.asks):
        remark("When the cards are dealt, chance is asked who speaks first, second and so on.")
        return "drawn once"
    asks = playout(rules, example(rules, "order", order=()), "none").unanswered
    if asks[0].kind == "lead":
        return "neighbour"
    return "drawn daily" if asks[0].seat == CHANCE else "ascending"


def _talks(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    told = with_rest(rules, example(rules, "order"), "order")
    asks = playout(rules, told, "order", "discussion").asks
    speakers = [ask.seat for ask, _ in asks if ask.kind == "statement"]
    remark(f"Asked to speak by day: {listed([rules.names[seat] for seat in speakers])}.")
    return bool(speakers)


def _where_talked(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if _talks(rules, s, {}):
        yield {}


def _sheriff_place(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    order = with_rest(rules, example(rules, "order", sheriff=0), "order")
    seats = [
        ask.seat for ask, _ in playout(rules, order, "order", "discussion").asks if ask.kind == "statement"
    ]
    if 0 not in seats:
        raise Impossible("nobody speaks")
    return seats.index(0) == (0 if asked["end"] == "first" else len(seats) - 1)


def _sheriff_ends(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.sheriff != "none" and _talks(rules, s, {}):
        yield from ({"end": "first"}, {"end": "last"})


def _ballot_shown(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return "together" if len(playout(rules, example(rules, "voting"), "none").unanswered) > 1 else "in turn"


def _tie(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    n = rules.players
    told = tuple(("vote", seat, (seat + 1) % n) for seat in range(n))
    played = playout(rules, example(rules, "voting", told=told), "voting")
    if any(ask.kind == "tie" for ask in played.unanswered):
        return "lot"
    out = only_first(event.seat for event in played.events if isinstance(event, VoteCounted))
    return "nobody" if out is None else "first"


def _most_pass(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    if not rules.may_abstain:
        raise Impossible("everybody must vote")
    told = tuple(("vote", seat, 1 if seat == 0 else "pass") for seat in range(rules.players))
    events = playout(rules, example(rules, "voting", told=told), "voting").events
    return any(isinstance(event, VoteCounted) and event.seat == 1 for event in events)


def _abstaining(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.may_abstain:
        yield {}


def _shown_roles(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    """Which roles of the dead are shown: of the first night, of later nights, of a vote."""
    if rules.shooter is not None:
        raise Impossible("a shot shows a role as well")
    first, voting = example(rules), example(rules, "voting")
    victim = only_first(seat for seat in _others(first))

    def shown(played: Playout) -> bool:
        return any(isinstance(event, Revealed) for event in played.events)

    by_night = shown(_night(rules, _telling(first, _attack(first, victim))))
    if shown(_vote(rules, voting, victim)):
        return "always"
    return "first night" if by_night else "never"


def _last_words(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    if asked["how"] == "vote":
        voting = example(rules, "voting")
        return any(ask.kind == "last-words" for ask, _ in _vote(rules, voting, _others(voting)[0]).asks)
    s = example(rules)
    played = _night(rules, _telling(s, _attack(s, _others(s)[0])))
    return any(ask.kind == "last-words" for ask, _ in played.asks)


def _ways_out(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    yield {"how": "vote", "way": "voted out"}
    yield {"how": "night", "way": "killed in the night"}


def _hunter_shoots(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    moment: GamePoint = "voting" if asked["how"] == "vote" else "night"
    s = example(rules, moment)
    hunter = _of(s, "Hunter")
    if moment == "voting":
        asks = _vote(rules, s, hunter).asks
    elif asked["how"] == "kill":
        asks = _night(rules, _telling(s, _attack(s, hunter))).asks
    else:
        asks = _night(rules, _telling(s, (("poison", _of(s, "Witch"), hunter),))).asks
    return any(ask.kind == "shoot" and ask.seat == hunter for ask, _ in asks)


def _hunter_ways(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Hunter"):
        yield {"how": "vote", "way": "voted out"}
        yield {"how": "kill", "way": "killed by the Werewolves"}
        if rules.count("Witch"):
            yield {"how": "poison", "way": "poisoned"}


# -- the Sheriff ----------------------------------------------------------------------------------------


def _how_sheriff(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    s = example(rules)
    played = _night(rules, _telling(s, _attack(s, _others(s)[0])))
    if any(isinstance(event, SheriffNamed) for event in played.events):
        return "named"
    if not played.unanswered:
        raise Impossible("the game ends before")
    return {"drawn": "lot", "candidate": "election"}.get(played.unanswered[0].kind, "none")


def _sheriff_gone(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    if rules.sheriff == "none":
        raise Impossible("there is no Sheriff")
    voting = example(rules, "voting", 1)
    sheriff = _others(voting)[0]
    ended = _ended(_vote(rules, voting.but(sheriff=sheriff), sheriff))
    if ended is not None and ended.outcome.reason is Reason.SHERIFF_DIED:
        return "stop"
    after = example(rules, round=2, sheriff=sheriff, dead=(sheriff,))
    night = _night(rules, _telling(after, _attack(after, _others(after)[-1])))
    if _ended(night) is not None:
        raise Impossible("the game ends before")
    asks = night.unanswered
    return "names" if asks and asks[0].kind == "succeed" and asks[0].seat == sheriff else "none"


def _sheriffs(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.sheriff != "none":
        yield {}


def _candidates(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    def first_ones(now: Step) -> list[Action] | None:
        options = now.asks[0].options or ()
        return [options[0]] if now.asks[0].kind == "candidate" else None

    for now in steps(rules, example(rules, "election"), first_ones):
        for event in now.events:
            if isinstance(event, CandidatesNamed):
                note(rules, [event], ())
                return len(event.seats)
    raise Impossible("nobody runs")


def _elections(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.elects:
        yield {}


# -- the end --------------------------------------------------------------------------------------------


def _rounds(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    """The first round after whose vote the game ends, found by halving."""
    low, high = 0, 1
    while not _last_round(rules, high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _last_round(rules, middle) else (middle, high)
    return high


def _last_round(rules: Ruleset, round: int) -> bool:
    voting = example(rules, "voting", round)
    pool = _wolves(voting) if rules.wolves > 1 else _others(voting)
    ended = _ended(_vote(rules, voting, pool[0]))
    if ended is not None and ended.outcome.reason is not Reason.ROUND_LIMIT:
        raise Impossible("the game ends before")
    return ended is not None


def _wolves_win(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    voting = example(rules, "voting", 1)
    wolves, plain, able = _wolves(voting), _others(voting, True), _others(voting, False)
    able.sort(key=lambda seat: ROLES[voting.roles[seat]].shoots)
    kept = {
        "parity": (wolves[:2], [*plain[:1], *able[:1]], [*plain[1:2], *able[1:2]][:1]),
        "no plain": (wolves[:1], able[:2], plain[:1]),
        "no able": (wolves[:1], plain[:2], able[:1]),
    }[str(asked["when"])]
    pack, stay, goes = kept
    if not goes or len(stay) < 2 or (asked["when"] == "parity" and len(pack) < 2):
        raise Impossible("these roles cannot show it")
    ended = _ended(_vote(rules, _with_only(voting, *pack, *stay, *goes), goes[0]))
    return ended is not None and ended.outcome.winner is Winner.WEREWOLVES


def _conditions(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    more = "while the others still outnumber the Werewolves"
    parity = "the Werewolves are as many as the others (Villagers and players with an ability)"
    yield {"when": "parity", "once": parity}
    yield {"when": "no plain", "once": f"no plain Villager is alive, {more}"}
    yield {"when": "no able", "once": f"nobody of the village with an ability is alive, {more}"}


def _village_wins(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    voting = example(rules, "voting", 1)
    wolves = _wolves(voting)
    if asked["when"] == "last":
        voting = _with_only(voting, wolves[0], *_others(voting))
    elif len(wolves) < 2:
        raise Impossible("there is one Werewolf")
    ended = _ended(_vote(rules, voting, wolves[0]))
    return ended is not None and ended.outcome.winner is Winner.VILLAGE


def _wolves_out(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    yield {"when": "last", "once": "the last Werewolf is voted out"}
    yield {"when": "first", "once": "the first Werewolf is voted out"}


def _both_gone(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    if asked["last"] != _NEEDED[rules.wolves_win]:
        raise Impossible("the Werewolves need others gone")
    s = example(rules)
    wolf, witch = _wolves(s)[0], _of(s, "Witch")
    victim = _others(s, True)[0] if "plain" in str(asked["last"]) else witch
    s = _with_only(s, wolf, witch, victim)
    played = _night(rules, _telling(s, (("kill", wolf, victim), ("poison", witch, wolf))))
    if not any(isinstance(event, DayBroke) and {wolf, victim} <= {*event.deaths} for event in played.events):
        raise Impossible("they do not die together")
    return winner_of(played)


_NEEDED = {
    "parity": "the last other player",
    "no_others": "the last other player",
    "no_villager": "the last plain Villager",
    "no_villager_or_no_ability": "the last plain Villager",
}


def _last_ones(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if rules.count("Witch"):
        yield {"last": _NEEDED[rules.wolves_win]}


def _yes_no(name: str, about: str, answer: Answers, asks: Asks, *frames: str) -> QuestionKind:
    return QuestionKind(name, about, frames, answer, asks)


def _choice(
    name: str, about: str, answer: Answers, asks: Asks, options: Mapping[str, str], *frames: str
) -> QuestionKind:
    return QuestionKind(name, about, frames, answer, asks, None, "choice", options=lambda *_: options)


def _open(name: str, about: str, kind: AnswerType, answer: Answers, asks: Asks, *frames: str) -> QuestionKind:
    return QuestionKind(name, about, frames, answer, asks, None, "open", kind)


KINDS = (
    _open(
        "role-count",
        "How many players are dealt that role.",
        "number",
        _role_count,
        _cast,
        "How many players are dealt the role of {role}?",
        "How many {roles} are there at the beginning?",
        "What is the number of {roles} in this game?",
        "How many cards of {a_role} are dealt?",
        "At the start, how many players hold the role of {role}?",
    ),
    _yes_no(
        "role-in-game",
        "Whether anybody is dealt that role.",
        _in_game,
        _all_roles,
        "Is there {a_role} in this game?",
        "Is anybody dealt the role of {role}?",
        "!Is this game played without {a_role}?",
        "!Is the role of {role} missing from this game?",
        "Does one of the players hold the role of {role}?",
        "!Is it true that nobody is {a_role} here?",
    ),
    _open(
        "player-count",
        "How many players there are.",
        "number",
        _players,
        nothing,
        "How many players are there at the beginning?",
        "How many people play this game?",
        "What is the number of players?",
        "How many players sit at the table at the start?",
        "With how many players does the game begin?",
    ),
    _open(
        "role-kinds",
        "How many different roles are dealt.",
        "number",
        _kinds_of_roles,
        nothing,
        "How many different roles are there in this game?",
        "How many kinds of roles are dealt?",
        "What is the number of different roles?",
        "Counting each role once, how many roles are in play?",
        "How many different roles do the rules give to the players?",
    ),
    _open(
        "side-of-role",
        "To which side the holder of that role belongs.",
        "side",
        _side,
        _cast,
        "To which side does {a_role} belong?",
        "With which side does {a_role} win?",
        "On whose side is {a_role}?",
        "Whose victory does {a_role} play for?",
        "Which side counts {a_role} among its own?",
    ),
    _open(
        "end-of-the-row",
        "What the player with the lowest (highest) number is called.",
        "player",
        _first_name,
        _ends,
        "What is the player with the {end} number called?",
        "Give the name of the player with the {end} number.",
        "Which player has the {end} number of all?",
        "How is the player called whose number is the {end}?",
        "Who is the player with the {end} number at this table?",
    ),
    _yes_no(
        "may-choose",
        "Whether the holder of a role may, at night, choose such a player for what the role does.",
        _may_choose,
        _choosable,
        "May {a_role} {does}?",
        "Do the rules allow {a_role} to {does}?",
        "!Is {a_role} forbidden to {does}?",
        "!Is it against the rules for {a_role} to {does}?",
        "Is it legal for {a_role} to {does}?",
        "!Do the rules bar {a_role} who wants to {does}?",
    ),
    _yes_no(
        "may-choose-nobody",
        "Whether the holder of a role may choose nobody (pass) at night.",
        _may_pass,
        _choosing,
        "May {a_role} {does} in a night?",
        "Do the rules allow {a_role} to {does}?",
        "!Is {a_role} forbidden to {does} in a night?",
        "!Is it against the rules for {a_role} to {does}?",
        "Is it legal for {a_role} to {does} when night comes?",
        "!Do the rules bar {a_role} who wants to {does}?",
    ),
    _yes_no(
        "has-vote",
        "Whether a dead (living) player votes by day.",
        _has_vote,
        _voters,
        "May {who} vote?",
        "Has {who} a vote in the voting phase?",
        "!Is {who} left out of the vote?",
        "!Do the rules take the vote from {who}?",
        "Is {who} asked for a vote by day?",
        "!Is {who} kept from voting?",
    ),
    _yes_no(
        "votes-for-whom",
        "Whether a player may give such a vote in the voting phase.",
        _votes_for_whom,
        _vote_targets,
        "May a player {does}?",
        "By day, do the rules allow a player to {does}?",
        "!Is a player forbidden to {does}?",
        "!Is it against the rules for a player to {does} in the voting phase?",
        "Is it legal for a player to {does}?",
        "!Do the rules bar a player who wants to {does}?",
    ),
    _yes_no(
        "acts-at-night",
        "Whether a holder of that role is asked for a choice in the first night.",
        _acts_at_night,
        _cast,
        "Does {a_role} act at night?",
        "Does {a_role} choose something at night?",
        "!Does {a_role} do nothing at night?",
        "!Does {a_role} only wait at night?",
        "Is {a_role} asked for a choice in the night round?",
        "!Does every night pass without a choice of {a_role}?",
    ),
    _choice(
        "pack-differs",
        "Who is killed where the Werewolves name different players and nobody is protected.",
        _split,
        _splits,
        {
            "nobody": "Nobody is killed.",
            "first": "The player whom the first of them names is killed.",
            "most": "The player whom most of them name is killed.",
            "last": "The player whom the last of them names is killed.",
        },
        "In a night {how}. What comes of the Werewolves' choices?",
        "The Werewolves choose a victim: {how}. Who is killed?",
        "What happens when the Werewolves choose and {how}?",
        "When it is the Werewolves' turn, {how}. What follows?",
        "Suppose that among the Werewolves {how}. Who dies by their attack?",
    ),
    _choice(
        "seer-learns-what",
        "What a look shows the Seer of a player who is a Villager: the role, or that it is no Werewolf.",
        _learned,
        _seers,
        {
            "role": "The exact role of that player.",
            "side": "Only whether that player is a Werewolf.",
        },
        "What does the Seer learn about a player by a look?",
        "What is the Seer told about the player who was looked at?",
        "How much does a look show the Seer?",
        "What comes out when the Seer checks somebody?",
        "Which knowledge does the Seer gain in a night?",
    ),
    _yes_no(
        "killed-seer-looks",
        "Whether a Seer who is killed in a night still looks at somebody in that night.",
        _dead_seer_learns,
        _seer_there,
        "Does a Seer who is killed in a night still look at somebody in that night?",
        "Does the Seer's action count in the night in which the Seer is killed?",
        "!Does a Seer lose the night's look by being killed in that night?",
        "!If the Werewolves kill the Seer, is the look of that night lost?",
        "When the Werewolves kill the Seer, does the Seer still learn something in that night?",
        "!Does being killed take the look of that night from the Seer?",
    ),
    _yes_no(
        "both-potions",
        "Whether the Witch may use antidote and poison in one night.",
        _both_potions,
        _witches,
        "May the Witch use the antidote and the poison in one night?",
        "Do the rules allow the Witch both potions in the same night?",
        "!Is the Witch forbidden to use both potions in one night?",
        "!Must the Witch keep the poison in a night in which the antidote was used?",
        "Can the Witch save one player and poison another in a single night?",
        "!Do the rules bar the Witch from using two potions in a night?",
    ),
    _yes_no(
        "witch-saves-herself",
        "Whether the Witch may use the antidote for herself.",
        _saves_self,
        _witches,
        "May the Witch save herself with the antidote?",
        "Do the rules allow the Witch to use the antidote for herself?",
        "!Is the Witch forbidden to save herself?",
        "!Is the antidote of the Witch for other players alone?",
        "When the Werewolves attack the Witch, can she save herself?",
        "!Is her own antidote of no use to a Witch who is attacked?",
    ),
    _choice(
        "shield-and-antidote",
        "What the Witch's antidote does to a player who is protected already.",
        _shielded_and_cured,
        _witch_and_shield,
        {
            "not asked": "The Witch is not asked about that player.",
            "lives": "The Witch may use it, and that player lives.",
            "dies": "The Witch may use it, and that player dies.",
        },
        "The Werewolves attack a player who is protected. What about the Witch's antidote?",
        "What does the antidote do for a player whom a protection saves already?",
        "A protected player is attacked. What becomes of the antidote in that night?",
        "How do protection and antidote go together?",
        "Somebody is both attacked and protected. Which of these is true of the Witch?",
    ),
    _yes_no(
        "shield-saves-from",
        "Whether the protection of that role saves from the Werewolves' attack, no potion being used (from "
        "poison).",
        _shield_saves,
        _shields,
        "Does the {role} save a player from {danger}?",
        "Is a player whom the {role} chose safe from {danger}?",
        "!Does {danger} kill a player whom the {role} chose?",
        "!Is the choice of the {role} useless against {danger}?",
        "When the {role} chose somebody, does that player survive {danger}?",
        "!Does somebody whom the {role} chose die of {danger} all the same?",
    ),
    _choice(
        "unusable-choice",
        "What takes the place of a night choice that cannot be understood.",
        _unusable,
        _choosing,
        {"random": "A legal choice drawn by lot.", "pass": "Passing: nobody is chosen."},
        "The night choice of {a_role} cannot be understood. What takes its place?",
        "What counts instead when the choice of {a_role} at night makes no sense?",
        "By what is an unusable night choice of {a_role} replaced?",
        "At night {a_role} answers with something that is no choice. What counts?",
        "What stands in for a night choice of {a_role} that cannot be read?",
    ),
    _yes_no(
        "choice-is-public",
        "Whether all players are told what a role chose at night.",
        _secret,
        _choosing,
        "Is everybody told whom {a_role} chose at night?",
        "Does the whole table hear what {a_role} chose?",
        "!Is the night choice of {a_role} kept from the table?",
        "!Does the choice of {a_role} stay hidden from the others at large?",
        "Does the moderator announce to all what {a_role} chose?",
        "!Is what {a_role} chose at night left out of the announcement?",
    ),
    _yes_no(
        "know-each-other",
        "Whether the holders of that role (of which there are several) are made known to each other.",
        _pack_known,
        _several,
        "Do the {roles} know each other?",
        "Are the {roles} made known to each other?",
        "!Is it kept from the {roles} who the others are?",
        "!Does no one of the {roles} know who the others are?",
        "At the beginning, does each of the {roles} learn who the others are?",
        "!Must the {roles} find out for themselves who the others are?",
    ),
    _choice(
        "order-of-speech",
        "By what the order of speech is decided.",
        _order_kind,
        _where_talked,
        {
            "ascending": "By number, the lowest living number first.",
            "neighbour": "The Sheriff decides which neighbour begins.",
            "drawn once": "By lot, once for the whole game.",
            "drawn daily": "By lot, anew every day.",
        },
        "What decides the order in which players speak?",
        "How is the order of speech found?",
        "By what is it settled who speaks when?",
        "In what order do the players speak by day?",
        "Who or what says in which order the discussion goes?",
    ),
    _yes_no(
        "is-there-discussion",
        "Whether players speak by day before they vote.",
        _talks,
        nothing,
        "Do the players speak by day before they vote?",
        "Is there a discussion phase?",
        "!Does the vote follow the announcement without any talk?",
        "!Is the game played without a discussion?",
        "Is each living player heard before the vote?",
        "!Do the players vote without having spoken?",
    ),
    _yes_no(
        "sheriff-speaks",
        "Whether the Sheriff speaks first (last) in the discussion.",
        _sheriff_place,
        _sheriff_ends,
        "Is the Sheriff the {end} to speak?",
        "Does the Sheriff speak {end} in the discussion?",
        "!Is somebody other than the Sheriff the {end} to speak?",
        "!Does another player than the Sheriff speak {end}?",
        "Is the {end} statement of the discussion that of the Sheriff?",
        "!Does the {end} word of the discussion belong to a player who is not the Sheriff?",
    ),
    _choice(
        "votes-shown",
        "Whether the votes are cast together or one after another.",
        _ballot_shown,
        nothing,
        {
            "together": "All vote at the same time, and the votes are announced afterwards.",
            "in turn": "One after another, and each vote is public at once.",
        },
        "How do the players vote?",
        "In which way are the votes of a day cast?",
        "In which of these ways do the players give their votes?",
        "How does the voting phase go?",
        "What is true of the votes of a day?",
    ),
    _choice(
        "tie",
        "What a tie for the most votes leads to.",
        _tie,
        nothing,
        {
            "nobody": "Nobody is voted out.",
            "lot": "One of them is drawn by lot and voted out.",
            "first": "The one with the lowest number is voted out.",
        },
        "Several players share the most votes. What happens?",
        "What comes of a tie in the vote?",
        "Two players have the most votes, as many as each other. Who is out?",
        "How is a tie for the most votes settled?",
        "If the highest number of votes is shared, what follows?",
    ),
    _yes_no(
        "one-vote-is-enough",
        "Whether one vote puts a player out when nobody else votes for anybody.",
        _most_pass,
        _abstaining,
        "One player votes for somebody and all the others for nobody. Is anybody voted out?",
        "Only a single vote is given and everybody else abstains. Is that enough to put somebody out?",
        "!All but one vote for nobody. Does everybody stay in the game?",
        "!Only one player votes for somebody. Is nobody voted out?",
        "Is one vote enough to vote somebody out when nobody else votes for a player?",
        "!When all but one player abstain, is the single vote without effect?",
    ),
    _choice(
        "roles-shown",
        "Whose role is made public when they leave the game.",
        _shown_roles,
        nothing,
        {
            "never": "Nobody's.",
            "first night": "Only that of players who die in the first night.",
            "always": "That of everybody who dies or is voted out.",
        },
        "Whose role does the moderator make public?",
        "Whose role is revealed when they leave the game?",
        "Whose card is shown to all by the moderator?",
        "Whose role does everybody learn as they go?",
        "Whose role is told to all after they have left?",
    ),
    _yes_no(
        "says-last-words",
        "Whether a player who leaves in that way says last words.",
        _last_words,
        _ways_out,
        "Does a player who is {way} say last words?",
        "Are there last words for somebody who is {way}?",
        "!Does a player who is {way} leave without last words?",
        "!Does somebody who is {way} get no last words?",
        "May somebody who is {way} speak a last time?",
        "!Must a player who is {way} leave in silence?",
    ),
    _yes_no(
        "hunter-may-shoot",
        "Whether the Hunter may shoot after leaving in that way.",
        _hunter_shoots,
        _hunter_ways,
        "May the Hunter shoot when {way}?",
        "Does a Hunter who is {way} get a shot?",
        "!Is the Hunter's shot lost when the Hunter is {way}?",
        "!Is a Hunter who is {way} kept from shooting?",
        "Do the rules give a shot to a Hunter who is {way}?",
        "!Must a Hunter who is {way} leave without a shot?",
    ),
    _choice(
        "how-sheriff",
        "How the first Sheriff is found.",
        _how_sheriff,
        nothing,
        {
            "none": "There is no Sheriff in this game.",
            "named": "The moderator names the Sheriff on the first day.",
            "lot": "One of the living is drawn by lot on the first day.",
            "election": "Some players run for the office, and all vote.",
        },
        "How does a player become Sheriff on the first day?",
        "By what is the first Sheriff found?",
        "What do the rules say about who is Sheriff at first?",
        "In which way does the game come to its first Sheriff?",
        "How is it settled who is the first Sheriff?",
    ),
    _choice(
        "sheriff-leaves",
        "What happens when the Sheriff leaves the game.",
        _sheriff_gone,
        _sheriffs,
        {
            "names": "The Sheriff who left names the next one.",
            "stop": "The game stops at once; nobody wins, unless a side has just won.",
            "none": "The office stays empty.",
        },
        "What happens when the Sheriff is out of the game?",
        "The Sheriff leaves the game. What follows?",
        "What becomes of the office when the Sheriff dies?",
        "What do the rules provide for the Sheriff's death?",
        "After the Sheriff is gone, which of these is true?",
    ),
    _open(
        "candidates",
        "How many players run for Sheriff.",
        "number",
        _candidates,
        _elections,
        "How many players run for Sheriff?",
        "How many candidates are there in the election of the Sheriff?",
        "What is the number of those who stand for Sheriff?",
        "Among how many candidates do the players choose their Sheriff?",
        "How many players are drawn to be candidates?",
    ),
    _open(
        "rounds",
        "After how many rounds the game ends at the latest.",
        "number",
        _rounds,
        nothing,
        "After how many rounds does the game end at the latest?",
        "What is the highest number of rounds?",
        "How many rounds are played at most?",
        "Which round is the last one, if nobody wins before?",
        "How many nights with their days can a game have?",
    ),
    _yes_no(
        "werewolves-win-when",
        "Whether the Werewolves win as soon as that is so, the other ways to win left aside.",
        _wolves_win,
        _conditions,
        "Is it a victory of the Werewolves when {once}?",
        "Is the game won by the Werewolves once {once}?",
        "!Does the game go on although {once}?",
        "!Do the Werewolves still have to do more when {once}?",
        "Does it decide the game for the Werewolves that {once}?",
        "!Is it too early for the Werewolves to win when {once}?",
    ),
    _yes_no(
        "village-wins-when",
        "Whether the village wins as soon as that happens.",
        _village_wins,
        _wolves_out,
        "Does the village win when {once}?",
        "Is the game won by the village as soon as {once}?",
        "!Does the game go on after {once}?",
        "!Has the village more to do once {once}?",
        "Does it decide the game for the village that {once}?",
        "!Is it too early for the village to win when {once}?",
    ),
    _choice(
        "both-gone",
        "Who wins when the last Werewolf and the last others whom the Werewolves need gone die together.",
        _both_gone,
        _last_ones,
        {"village": "The village.", "werewolves": "The Werewolves.", "nobody": "Nobody."},
        "The last Werewolf and {last} die together. Who wins?",
        "Who wins when the last Werewolf dies together with {last}?",
        "In one night the last Werewolf and {last} die. Whose victory is it?",
        "If {last} and the last Werewolf leave at the same time, who has won?",
        "To whom does the game go when {last} and the last Werewolf die at once?",
    ),
)
