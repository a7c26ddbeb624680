"""What can be claimed about the rules, and whether it is so: the engine plays, nobody remembers.

A claim has a kind and a few words or numbers. Its kind is a function below: it tries the claim out in small
games under one ruleset and says yes, no, or None where the ruleset has no such thing (no Sheriff, no Guard).
Rules that leave something open are a family of rulesets: they say what all of them say.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from ..rules import (
    CHANCE,
    DUTIES,
    EVERYONE,
    PASS,
    ROLES,
    SHERIFF,
    SHIELDS,
    Action,
    Ask,
    Chose,
    DayBroke,
    Dealt,
    Learned,
    PackMet,
    Revealed,
    Ruleset,
    Said,
    SheriffNamed,
    VoteCounted,
    Winner,
    pick,
)
from .trials import Standing, Trial, Wish, reachable_standings, seated, trial

ClaimWord = str | int
_OFFICE = "Sheriff"
_KINDS = {
    "kill": frozenset({"kill"}),
    "protect": SHIELDS,
    "see": frozenset(kind for kind, duty in DUTIES.items() if duty.reads),
    "vote": frozenset({"vote"}),
    "elect": frozenset({"elect"}),
    "speak": frozenset({"statement"}),
}
"""What the words of claims stand for."""

RELEASED = SHERIFF.with_(name="002, as released", sheriff_death="stop")
"""What 002's released code does (facts of 002 §1): the Seer learns the role, who may be chosen is not
limited, different victims save both, and the game stops at the Sheriff's death."""

_TEXT = SHERIFF.with_(name="002 §6.1", seer_learns="is_wolf")
_OPEN: dict[str, tuple[object, ...]] = {
    "wolves_may_target_self": (False,),
    "wolves_may_target_pack": (False,),
    "guard_may_repeat": (False,),
    "seer_may_see_self": (False,),
    "may_vote_self": (False,),
    "wolf_agreement": ("plurality", "last"),
    "deaths": ("sequential",),
    "votes": ("open",),
    "tie": ("random",),
}
PUBLISHED = (_TEXT, *(_TEXT.with_(**{name: other}) for name, others in _OPEN.items() for other in others))
"""The rules as 002 §6.1 prints them, which is what players are told: the rulesets that fit the text, with one
switch of `_OPEN` changed at a time. What it does not say of announcements and of the dead does not happen."""


@dataclass(frozen=True, slots=True)
class RuleClaim:
    """Something that the rules make true or false. kind: one of `CLAIMS`; about: what its function takes."""

    kind: str
    about: tuple[ClaimWord, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.about))})"


ClaimTest = Callable[..., bool | None]
CLAIMS: dict[str, ClaimTest] = {}
"""Every kind of claim by name."""


def _claim(decide: ClaimTest) -> ClaimTest:
    CLAIMS[decide.__name__.strip("_")] = decide
    return decide


@lru_cache(1 << 14)
def holds_under(claim: RuleClaim, rules: Ruleset) -> bool | None:
    """Whether the claim holds under these rules; None where they have no such thing, or where no game of them
    is quiet: where somebody has to leave it, trials say too little.
    """
    return CLAIMS[claim.kind](rules, *claim.about) if _is_quiet(rules) else None


def holds(claim: RuleClaim, family: Iterable[Ruleset]) -> bool | None:
    """What all rulesets of a family say; None where they differ or say nothing."""
    answers = {holds_under(claim, rules) for rules in family}
    return answers.pop() if len(answers) == 1 else None


# -- who is who -------------------------------------------------------------------------------------


_COMPARE = {"=": operator.eq, ">": operator.gt, "<": operator.lt, ">=": operator.ge}


def _number(rules: Ruleset, what: ClaimWord) -> int:
    roles = seated(rules)
    if what == "player":
        return len(roles)
    if what == "role":
        return len(set(roles))
    if what == "village":
        return sum(not ROLES[role].wolf for role in roles)
    return roles.count(str(what))


@_claim
def _number_of(rules: Ruleset, what: str, compare: str, n: ClaimWord) -> bool | None:
    """So many players, kinds of roles or holders of a role. n: a number, or what else is counted."""
    return bool(_COMPARE[compare](_number(rules, what), n if isinstance(n, int) else _number(rules, n)))


@_claim
def _one_side(rules: Ruleset, *roles: str) -> bool | None:
    """These roles win together; "village" stands for that side."""
    if any(role != "village" and role not in seated(rules) for role in roles):
        return None
    return len({role != "village" and ROLES[role].wolf for role in roles}) == 1


def _holders(rules: Ruleset, who: str) -> tuple[int, ...]:
    """The seats that a word means: a role's, the village's, everybody's ("player"), the Sheriff's."""
    roles = seated(rules)
    if who == _OFFICE:
        return () if rules.sheriff == "none" else (_sheriff_seat(rules),)
    if who == "village":
        return tuple(seat for seat, role in enumerate(roles) if not ROLES[role].wolf)
    return tuple(seat for seat, role in enumerate(roles) if who in ("player", role))


def _sheriff_seat(rules: Ruleset) -> int:
    """Who takes office: a plain Villager where there is one, so that what it may do comes with the office."""
    return next((s for s, role in enumerate(seated(rules)) if ROLES[role].plain), rules.players - 1)


@lru_cache(256)
def _quiet(rules: Ruleset) -> Trial:
    return trial(rules, sheriff=_sheriff_seat(rules) if rules.sheriff != "none" else None, rounds=3)


def _is_quiet(rules: Ruleset) -> bool:
    played = _quiet(rules)
    return all(played.alive(seat) for seat in range(rules.players)) and played.state.outcome is None


@_claim
def _knows_role(rules: Ruleset, who: str, whose: str) -> bool | None:
    """From the beginning, every holder knows the role of every other one."""
    knowing, known = _holders(rules, who), _holders(rules, whose)
    pairs = [(one, other) for one in knowing for other in known if one != other]
    events = [event for event in trial(rules, rounds=0).events if isinstance(event, Dealt | PackMet)]

    def told(one: int, other: int) -> bool:
        of_other = (e for e in events if other in (e.seats if isinstance(e, PackMet) else (e.seat,)))
        return any(event.audience >> one & 1 for event in of_other)

    return all(told(one, other) for one, other in pairs) if pairs else None


# -- what somebody may do ---------------------------------------------------------------------------


def _when(ask: Ask, time: str) -> bool:
    if time == "night":
        return ask.phase == "night"
    if time == "night 1":
        return ask.phase == "night" and ask.round == 1
    if time == "day":
        return ask.phase not in ("night", "deal")
    return time in ("", ask.phase)


@_claim
def _may(rules: Ruleset, who: str, deed: str, whom: str = "", time: str = "") -> bool | None:
    """Every holder is asked for the deed at that time, and may choose such a target.

    whom: a role, "player" (anybody), "self", "Sheriff"; "": whoever.
    """
    holders = _holders(rules, who)
    if not holders or (whom not in ("", "self", "player") and not _holders(rules, whom)):
        return None
    played = _quiet(rules)

    def can(seat: int) -> bool:
        asks = [ask for ask in played.of(seat, _KINDS[deed]) if _when(ask, time)]
        if whom in ("", "player") or deed == "speak":
            return bool(asks)
        targets = (seat,) if whom == "self" else tuple(s for s in _holders(rules, whom) if s != seat)
        return not targets or any(pick(t) in (ask.options or ()) for ask in asks for t in targets)

    return all(can(seat) for seat in holders)


@_claim
def _acts(rules: Ruleset, who: str, time: str) -> bool | None:
    """Every holder has something to do then."""
    holders = _holders(rules, who)
    asks = [ask for ask, _ in _quiet(rules).asks if _when(ask, time)]
    return {ask.seat for ask in asks} >= set(holders) if holders else None


@_claim
def _targets(rules: Ruleset, who: str, deed: str, n: int) -> bool | None:
    """A holder can choose so many players in one night, or vote for so many."""
    holders = _holders(rules, who)
    if not holders or not _may(rules, who, deed):
        return None
    counts = Counter((ask.seat, ask.round) for s in holders for ask in _quiet(rules).of(s, _KINDS[deed]))
    return max(counts.values()) >= n


@_claim
def _dead_may(rules: Ruleset, deed: str) -> bool | None:
    """Whoever was killed in the first night does it afterwards."""
    victim = _holders(rules, "village")[0]
    after = trial(rules, _attack(rules, victim))
    return any(ask.round > 1 or ask.phase != "night" for ask in after.of(victim, _KINDS[deed]))


@_claim
def _must(rules: Ruleset, deed: str) -> bool | None:
    """Nobody may leave it: to vote, to vote for a Sheriff."""
    asks = [ask for ask, _ in _quiet(rules).asks if ask.kind in _KINDS[deed]]
    return all(PASS not in (ask.options or ()) for ask in asks) if asks else None


@_claim
def _times(rules: Ruleset, deed: str, n: int) -> bool | None:
    """In one day everybody does it so many times."""
    counts = Counter(ask.seat for ask, _ in _quiet(rules).asks if ask.round == 2 and ask.kind in _KINDS[deed])
    return set(counts.values()) == {n}


# -- night ------------------------------------------------------------------------------------------


def _attack(rules: Ruleset, victim: int, shield: int | None = None, night: int = 1) -> Wish:
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


@_claim
def _killable(rules: Ruleset, who: str) -> bool | None:
    """Every holder dies when all Werewolves attack it and nobody shields it."""
    seats = _holders(rules, who)
    office = _sheriff_seat(rules)
    night = 2 if who == _OFFICE else 1
    dies = (not trial(rules, _attack(rules, seat, night=night), office).alive(seat) for seat in seats)
    return all(dies) if seats else None


@_claim
def _shield_saves(rules: Ruleset, from_what: str = "kill") -> bool | None:
    """Who is shielded survives the Werewolves' attack; the vote of the next day; an attack a night later."""
    if not any(role.shields for role in rules.cast):
        return None
    seat = _holders(rules, "village")[0]
    if from_what == "kill":
        wish = _attack(rules, seat, seat)
    elif from_what == "vote":
        wish = _both(_attack(rules, seat, seat), _ballot(seat))
    else:
        wish = _both(_attack(rules, seat, seat), _attack(rules, seat, night=2))
    return trial(rules, wish).alive(seat)


def _both(one: Wish, other: Wish) -> Wish:
    def wish(ask: Ask) -> Action | None:
        first = one(ask)
        return other(ask) if first is None else first

    return wish


@_claim
def _deaths(rules: Ruleset, compare: str, n: int) -> bool | None:
    """In some night the Werewolves' choices kill such a number of players."""
    return any(_COMPARE[compare](killed, n) for killed in _kills(rules))


@_claim
def _split_kills(rules: Ruleset, n: int) -> bool | None:
    """Werewolves who choose different players kill so many."""
    if rules.wolves < 2:
        return None
    return _died(rules, _holders(rules, "village")[: rules.wolves]) == n


def _kills(rules: Ruleset) -> set[int]:
    victims = _holders(rules, "village")[:3]
    choices = product(victims, repeat=rules.wolves)
    saved = _deaths_at_dawn(trial(rules, _attack(rules, victims[0], victims[0]), rounds=1))
    return {saved, *(_died(rules, choice) for choice in choices)}


def _deaths_at_dawn(played: Trial) -> int:
    return next(len(event.deaths) for event in played.events if isinstance(event, DayBroke))


def _died(rules: Ruleset, choice: Sequence[int]) -> int:
    """How many die when the Werewolves choose so and nobody they chose is shielded."""
    wolves = dict(zip((s for s, role in enumerate(seated(rules)) if ROLES[role].wolf), choice, strict=False))

    def wish(ask: Ask) -> Action | None:
        if ask.kind == "kill":
            return pick(wolves[ask.seat])
        if ask.kind in SHIELDS:
            return next(one for one in ask.options or () if one not in [pick(seat) for seat in choice])
        return None

    return _deaths_at_dawn(trial(rules, wish, rounds=1))


@_claim
def _lone_wolf_kills(rules: Ruleset) -> bool | None:
    """One Werewolf that is left still kills."""
    wolves, victim = _holders(rules, "Werewolf"), _holders(rules, "village")[0]
    wish: Wish = _attack(rules, victim, night=2)
    if len(wolves) != 2:
        return None if len(wolves) > 2 else not trial(rules, _attack(rules, victim)).alive(victim)
    return not trial(rules, _both(_ballot(wolves[0]), wish)).alive(victim)


@_claim
def _seer_learns(rules: Ruleset, what: str) -> bool | None:
    """The Seer learns of whoever it looks at: the role, or whether it is a Werewolf."""
    seers = _holders(rules, "Seer")
    others = {
        "role": [s for s in _holders(rules, "village") if s not in seers],
        "side": _holders(rules, "Werewolf"),
    }
    if not seers:
        return None
    return all(
        _looked(rules, seers[0], seat) == {"role": seated(rules)[seat], "side": "Werewolf"}[what]
        for seat in others[what]
    )


def _looked(rules: Ruleset, seer: int, at: int) -> str | None:
    played = trial(
        rules, lambda ask: pick(at) if ask.seat == seer and ask.phase == "night" else None, rounds=1
    )
    return next((event.what for event in played.events if isinstance(event, Learned)), None)


@_claim
def _learns_choice(rules: Ruleset, who: str, deed: str) -> bool | None:
    """Every holder is told, by the end of the night, whom others chose for the deed."""
    holders = _holders(rules, who)
    doers = {seat for seat in range(rules.players) if _quiet(rules).of(seat, _KINDS[deed])}
    chosen = [e for e in _quiet(rules).events if isinstance(e, Chose) and e.kind in _KINDS[deed]]
    knows = [e.audience >> seat & 1 for seat in holders for e in chosen if e.seat != seat]
    return all(knows) if holders and doers and knows else None


# -- announcements ----------------------------------------------------------------------------------


@_claim
def _announced(rules: Ruleset, what: str) -> bool | None:
    """Everybody is told, after a night or a vote in which there was something to tell.

    what: "deaths", "no death", "killers", "shield", "look", "role of the killed", "role of the voted out".
    """
    victim = _holders(rules, "village")[0]
    wish = {"no death": lambda ask: None, "role of the voted out": _ballot(victim)}.get(
        what, _attack(rules, victim)
    )
    events = [event for event in trial(rules, wish, rounds=1).events if event.audience == EVERYONE]
    if what == "deaths":
        return any(isinstance(event, DayBroke) and event.deaths == (victim,) for event in events)
    if what == "no death":
        return any(isinstance(event, DayBroke) and event.deaths == () for event in events)
    if what.startswith("role"):
        return any(isinstance(event, Revealed) and event.seat == victim for event in events)
    if what == "look":
        return any(isinstance(event, Learned) for event in events)
    kinds = _KINDS["kill" if what == "killers" else "protect"]
    return any(isinstance(event, Chose) and event.kind in kinds for event in events)


# -- day --------------------------------------------------------------------------------------------


def _phases(rules: Ruleset, day: int) -> list[str]:
    """What a day consists of, in order, as the engine goes through it."""
    asked = (ask.phase for ask, _ in _quiet(rules).asks if ask.round == day)
    phases = [phase for phase in asked if phase in ("election", "discussion", "voting")]
    return ["announcement", *dict.fromkeys(phases)]


@_claim
def _phase_count(rules: Ruleset, n: int) -> bool | None:
    """A usual day has so many phases."""
    return len(_phases(rules, 2)) == n


@_claim
def _phase_names(rules: Ruleset, *names: str) -> bool | None:
    """A usual day has these phases, in this order."""
    return _phases(rules, 2) == list(names)


@_claim
def _phase_at(rules: Ruleset, phase: str, place: int) -> bool | None:
    """It is the first (0) or last (-1) phase of a usual day."""
    return _phases(rules, 2)[place] == phase


@_claim
def _phase_before(rules: Ruleset, one: str, other: str) -> bool | None:
    """Of the first day, and of a usual one where it has both, one comes before the other."""
    days = [phases for phases in (_phases(rules, 1), _phases(rules, 2)) if {one, other} <= {*phases}]
    return all(phases.index(one) < phases.index(other) for phases in days) if days else None


@_claim
def _phase_time(rules: Ruleset, phase: str, time: str) -> bool | None:
    """It is part of the day, or of the night."""
    return None if phase not in _phases(rules, 1) else time == "day"


@_claim
def _begins_with(rules: Ruleset, time: str) -> bool | None:
    """The game begins with a night, or a day."""
    first = next(ask for ask, _ in _quiet(rules).asks if ask.seat != CHANCE)
    return time == ("night" if first.phase == "night" else "day")


@_claim
def _alternates(rules: Ruleset) -> bool | None:
    """A vote is followed by a night, a night by a day."""
    phases = [ask.phase == "night" for ask, _ in _quiet(rules).asks if ask.phase not in ("deal", "order")]
    turns = [night for night, before in zip(phases, [None, *phases], strict=False) if night != before]
    return turns == [True, False] * 3


@_claim
def _ends_after(rules: Ruleset, rounds: int) -> bool | None:
    """A game in which nobody leaves is over after so many rounds."""
    return trial(rules, rounds=rounds, limited=True).state.outcome is not None


def _ballot(seat: int, *voters: int, day: int = 1) -> Wish:
    """Everybody, or these voters alone, vote against the seat on that day."""

    def wish(ask: Ask) -> Action | None:
        wanted = ask.kind == "vote" and ask.round == day and (not voters or ask.seat in voters)
        return pick(seat) if wanted else None

    return wish


@_claim
def _voted_out(rules: Ruleset, who: str) -> bool | None:
    """Every holder leaves the game when it has the most votes."""
    seats = _holders(rules, who)
    office = _sheriff_seat(rules)
    return all(not trial(rules, _ballot(s), office, 1).alive(s) for s in seats) if seats else None


@_claim
def _vote_takes(rules: Ruleset, place: str) -> bool | None:
    """Of three, two and one votes, the player with so many leaves: "most", "second", "fewest"."""
    most, second, fewest = (_holders(rules, "village")[k] for k in range(3))
    votes = _both(_ballot(most, 0, 1, 2), _both(_ballot(second, 3, 4), _ballot(fewest, 5)))
    if rules.players < 6:
        return None
    played = trial(rules, votes, rounds=1)
    return not played.alive({"most": most, "second": second, "fewest": fewest}[place])


@_claim
def _vote_outs(rules: Ruleset, compare: str, n: int) -> bool | None:
    """Some vote takes such a number of players: of all, of nobody, of a tie."""
    one, other = _holders(rules, "village")[:2]
    tie = _both(_ballot(one, 0, 1), _ballot(other, 2, 3))
    for wish in (_ballot(one), lambda ask: None, tie):
        counted = [e for e in trial(rules, wish, rounds=1).events if isinstance(e, VoteCounted)]
        if any(_COMPARE[compare](int(event.seat is not None), n) for event in counted):
            return True
    return False


@_claim
def _dead_return(rules: Ruleset) -> bool | None:
    """Who is killed is in the game again later."""
    victim = _holders(rules, "village")[0]
    return trial(rules, _attack(rules, victim)).alive(victim)


# -- the Sheriff ------------------------------------------------------------------------------------


def _elections(rules: Ruleset) -> list[int]:
    """The days on which a Sheriff is made among living players, other than in succession."""
    return sorted({ask.round for ask, _ in _quiet(rules).asks if ask.phase == "election"})


@_claim
def _elected(rules: Ruleset, day: int) -> bool | None:
    """There is an election on that day; 0: on every day."""
    if rules.sheriff == "none":
        return None
    return _elections(rules) == [1, 2, 3] if day == 0 else day in _elections(rules)


@_claim
def _elected_only(rules: Ruleset, day: int) -> bool | None:
    """There is an election on that day, and on no other."""
    return None if rules.sheriff == "none" else _elections(rules) == [day]


@_claim
def _sheriff_by(rules: Ruleset, how: str) -> bool | None:
    """The Sheriff comes into office by "vote", by "lot", by the "moderator", at "night"."""
    if rules.sheriff == "none":
        return None
    kinds = {ask.kind: ask for ask, _ in _quiet(rules).asks if ask.phase == "election"}
    voted = "elect" in kinds
    return {"vote": voted, "lot": not voted and bool(kinds), "moderator": not kinds, "night": False}[how]


@_claim
def _can_be_sheriff(rules: Ruleset, role: str) -> bool | None:
    """Every holder of the role can take office."""
    seats = _holders(rules, role)
    if rules.sheriff not in ("elected", "drawn") or not seats:
        return None
    return all(trial(rules, sheriff=seat, rounds=1).state.sheriff == seat for seat in seats)


@_claim
def _all_run(rules: Ruleset) -> bool | None:
    """Every player is a candidate."""
    named = [ask for ask, _ in _quiet(rules).asks if ask.kind == "campaign"]
    return len(named) == rules.players if named else None


@_claim
def _sheriff_keeps_role(rules: Ruleset) -> bool | None:
    """The office takes no role away: a Werewolf in office kills in the next night."""
    seats = _holders(rules, "Werewolf")
    played = trial(rules, sheriff=seats[0])
    if rules.sheriff == "none" or played.state.sheriff != seats[0]:
        return None
    return any(ask.round == 2 for ask in played.of(seats[0], _KINDS["kill"]))


@_claim
def _sheriffs(rules: Ruleset, n: int) -> bool | None:
    """So many players are Sheriff at a time."""
    named = [event.seat for event in _quiet(rules).events if isinstance(event, SheriffNamed)]
    return None if rules.sheriff == "none" else len(set(named)) == n


@_claim
def _speaks(rules: Ruleset, who: str, place: int) -> bool | None:
    """Of a day's speakers the Sheriff is the first (0) or the last (-1)."""
    said = [
        event.seat
        for event in _quiet(rules).events
        if isinstance(event, Said) and event.where == "discussion"
    ]
    seats = _holders(rules, who)
    return said[: rules.players][place] in seats if seats and len(said) >= rules.players else None


@_claim
def _leads(rules: Ruleset, who: str) -> bool | None:
    """Who decides who speaks first: the Sheriff, "lot", or anybody else."""
    asks = [ask for ask, _ in _quiet(rules).asks if ask.kind in ("lead", "speaker")]
    if not asks:
        return None if who == _OFFICE and rules.sheriff == "none" else False
    seats = (CHANCE,) if who == "lot" else _holders(rules, who) if who != "moderator" else ()
    return {ask.seat for ask in asks} <= {*seats}


@_claim
def _vote_weight(rules: Ruleset, n: int) -> bool | None:
    """The Sheriff's vote counts as so many: one vote against it ties, or does not."""
    if rules.sheriff == "none":
        return None
    sheriff = _sheriff_seat(rules)
    one, other = [seat for seat in _holders(rules, "village") if seat != sheriff][:2]
    against = [seat for seat in range(rules.players) if seat != sheriff][:n]
    played = trial(rules, _both(_ballot(one, sheriff), _ballot(other, *against)), sheriff, 1)
    return any({*event.tied} == {one, other} for event in played.events if isinstance(event, VoteCounted))


@_claim
def _vote_bound(rules: Ruleset) -> bool | None:
    """Who votes after the Sheriff has spoken has no choice left."""
    asks = [ask for ask, _ in _quiet(rules).asks if ask.kind == "vote"]
    return None if rules.sheriff == "none" else all(len(ask.options or ()) < 2 for ask in asks)


# -- the end ----------------------------------------------------------------------------------------


_WINNERS = {"village": Winner.VILLAGE, "werewolves": Winner.WEREWOLVES}


def _meets(rules: Ruleset, condition: str, about: Sequence[ClaimWord]) -> Callable[[Standing], bool]:
    """What is true of a standing: "parity"; "out" or "only out" with a role or side; "left" with counts."""
    full = Counter(seated(rules))
    wolves = sum(n for role, n in full.items() if ROLES[role].wolf)
    if condition == "parity":
        return lambda one: one.wolves == one.others > 0
    if condition == "outnumber":
        return lambda one: one.wolves > one.others
    if condition == "wolves out":
        return lambda one: one.wolves == 0
    if condition == "one wolf out":
        return lambda one: one.wolves == wolves - 1
    if condition == "one wolf left":
        return lambda one: one.wolves == 1
    if condition == "one out":
        return lambda one: one.left.total() == full.total() - 1
    if condition == "others out":
        return lambda one: one.others == 0
    if condition == "out":
        return lambda one: not any(one.left[str(role)] for role in about)
    others = {str(role): int(n) for role, n in zip(about[::2], about[1::2], strict=True)}
    total = others.pop("other", None)
    if total is not None:
        return lambda one: one.others == total and all(one.left[role] == n for role, n in others.items())
    return lambda one: one.left == Counter(others)


@_claim
def _wins(rules: Ruleset, side: str, condition: str, *about: ClaimWord) -> bool | None:
    """Whenever it comes to this, the side has won ("either": somebody has)."""
    meets = _meets(rules, condition, about)
    reached = [one for one in reachable_standings(rules) if meets(one)]
    if not reached or (condition == "out" and not {*about} <= {*seated(rules)}):
        return None
    winners = {one.outcome.winner if one.outcome else None for one in reached}
    return None not in winners if side == "either" else winners == {_WINNERS[side]}


@_claim
def _needs(rules: Ruleset, side: str, condition: str, *about: ClaimWord) -> bool | None:
    """The side never wins unless it comes to this."""
    meets = _meets(rules, condition, about)
    won = [one for one in reachable_standings(rules) if one.outcome and one.outcome.winner is _WINNERS[side]]
    return all(meets(one) for one in won) if won else None


@_claim
def _ends_without_sheriff(rules: Ruleset, by: str = "kill") -> bool | None:
    """The game is over when the Sheriff leaves it."""
    if rules.sheriff == "none":
        return None
    office = _sheriff_seat(rules)
    wish = _attack(rules, office, night=2) if by == "kill" else _ballot(office)
    played = trial(rules, wish, office, rounds=2 if by == "kill" else 1)
    return played.state.outcome is not None


@_claim
def _won_without_sheriff(rules: Ruleset, side: str) -> bool | None:
    """The side has won when the Sheriff leaves the game."""
    if rules.sheriff == "none":
        return None
    office = _sheriff_seat(rules)
    outcome = trial(rules, _ballot(office), office, 1).state.outcome
    return outcome is not None and outcome.winner is _WINNERS[side]
