"""How likely each end of a game is when everybody plays at random, computed without the engine.

It imports nothing of Wolflab: it was written from the papers' rules (002 §3 and §6.1, 003 App. A.5,
004 App. B; the Hunter's from the rules of tournaments; with this project's decisions where they leave
something open), so that it and the engine can only agree by both being right.

A state is the multiset of the living, each a letter (W Werewolf, V Villager, S Seer, G Guard or Doctor,
X Witch, H Hunter, I Idiot) with marks: "+" the Sheriff, "*" the player shielded last night where the Guard
may not repeat, "!" the Idiot whose card lies open and who has no vote. Players with the same letter and marks
are interchangeable, so one of them stands for all. What cannot change the end under random play is left out:
what the Seer sees, speech and its order, elections.

Votes, and the Werewolves' choices, are counted by a convolution over the tallies, not one by one: n voters
spread over the options are balls in bins, and what matters is in how many ways one bin has strictly most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb

Number = Fraction | float
Living = tuple[str, ...]
End = tuple[str, str]
"""(winner, reason) by the names of the enums' members, in lower case."""


@dataclass(frozen=True)
class Spec:
    """The rules that matter for random play; `cast` is one letter a seat."""

    cast: str
    rounds: int
    agreement: str = "unanimous"
    wolf_may_hit_pack: bool = True
    """Itself and its pack."""
    wolf_may_pass: bool = False
    shield_may_repeat: bool = True
    shield_may_pass: bool = False
    self_vote: bool = True
    abstain: bool = True
    pass_competes: bool = False
    tie_random: bool = False
    shield_and_antidote: str = "not_asked"
    """A shielded victim: the Witch hears nothing of it; or she does, and both together save or kill."""
    both_potions: bool = True
    """In one night."""
    hunter_at_vote: bool = True
    hunter_at_kill: bool = True
    """And when shot."""
    hunter_at_poison: bool = False
    """Where the Werewolves and the Witch meet at the Hunter, the poison counts."""
    goal: str = "parity"
    stops_at_sheriff: bool = False
    """A Sheriff is drawn before the first night; the game stops when that player is out."""


SHERIFF = Spec("WWVVVSG", rounds=6)
ASSIGNED = Spec("WWVVVSG", rounds=6, stops_at_sheriff=True)
WITCH = Spec(
    "WWVVSGX",
    rounds=12,
    agreement="plurality",
    wolf_may_pass=True,
    shield_may_repeat=False,
    shield_may_pass=True,
    pass_competes=True,
    goal="no_villager",
)
DOCTOR = Spec(
    "WWVVVSG", rounds=10, agreement="last", wolf_may_hit_pack=False, self_vote=False, tie_random=True
)
NINE = Spec(
    "WWWVVVSXH",
    rounds=12,
    agreement="plurality",
    wolf_may_pass=True,
    both_potions=False,
    self_vote=False,
    goal="no_villager_or_no_ability",
)
TEN = replace(NINE, cast="WWWVVVSXHI")
TWELVE = replace(
    NINE, cast="WWWWVVVVSXHG", shield_may_repeat=False, shield_may_pass=True, shield_and_antidote="kills"
)


# -- votes ----------------------------------------------------------------------------------


@cache
def spread(balls: int, bins: int, most: int) -> int:
    """In how many ways numbered balls fall into numbered bins with at most `most` in each."""
    if bins == 0:
        return int(balls == 0)
    return sum(comb(balls, k) * spread(balls - k, bins - 1, most) for k in range(min(balls, most) + 1))


@cache
def lone_winner(voters: int, options: int) -> int:
    """In how many of the ``options ** voters`` ways one given option has strictly most votes."""
    return sum(comb(voters, m) * spread(voters - m, options - 1, m - 1) for m in range(1, voters + 1))


@cache
def voted_out(spec: Spec, n: int, voteless: int = 0, has_vote: bool = True) -> Fraction:
    """The probability that the vote falls on one given player of the `n` living: the same for each who has a
    vote, and for each of those who have none.
    """
    if voteless:
        assert not spec.tie_random
        assert not spec.self_vote
        return _voted_out_by_others(spec, n, n - voteless, has_vote)
    if spec.tie_random:
        return _somebody(spec, n) / n
    if not spec.self_vote:
        return _voted_out_by_others(spec, n, n, True)
    if spec.pass_competes:
        return Fraction(lone_winner(n, n + 1), (n + 1) ** n)
    passes = range(n + 1) if spec.abstain else range(1)
    ways = sum(comb(n, k) * lone_winner(n - k, n) for k in passes)
    return Fraction(ways, (n + spec.abstain) ** n)


def _somebody(spec: Spec, n: int) -> Fraction:
    """With random ties somebody goes unless everybody abstains."""
    options = n - (not spec.self_vote) + spec.abstain
    return 1 - (Fraction(1, options**n) if spec.abstain else Fraction(0))


def _voted_out_by_others(spec: Spec, n: int, voters: int, has_vote: bool) -> Fraction:
    """No self-votes and no random ties. Ballots with self-votes are counted in and taken out again, by
    inclusion and exclusion over those who vote for themselves; each of them has one vote to begin with.
    """
    ways = 0
    rivals = voters - has_vote
    # So many others vote for themselves, and this one or not.
    for others, mine in product(range(rivals + 1), range(has_vote + 1)):
        free, sign = voters - others - mine, (-1) ** (others + mine)
        for votes in range(1, free + mine + 1):
            rest = free - votes + mine
            most = votes - 1 if spec.pass_competes else rest
            passes = range(min(rest, most) + 1) if spec.abstain else range(1)
            fewer = sum(comb(rest, k) * _two_spreads(rest - k, others, n - 1 - others, votes) for k in passes)
            ways += sign * comb(rivals, others) * comb(free, rest) * fewer
    return Fraction(ways, (n - 1 + spec.abstain) ** voters)


def _two_spreads(balls: int, ahead: int, level: int, votes: int) -> int:
    """In how many ways all bins stay below `votes`, where `ahead` of them hold a ball before."""
    return sum(
        comb(balls, k) * spread(k, ahead, votes - 2) * spread(balls - k, level, votes - 1)
        for k in range(balls + 1)
    )


# -- nights ---------------------------------------------------------------------------------


def _victims(spec: Spec, living: Living, one: Number) -> dict[int | None, Number]:
    """Whom the Werewolves kill before any rescue, one player standing for all alike."""
    wolves = sum(who[0] == "W" for who in living)
    prey = [i for i, who in enumerate(living) if spec.wolf_may_hit_pack or who[0] != "W"]
    options = len(prey) + spec.wolf_may_pass
    agreed = {"last": options ** (wolves - 1), "unanimous": 1, "plurality": lone_winner(wolves, options)}
    each = one * Fraction(agreed[spec.agreement], options**wolves)
    found: dict[int | None, Number] = {None: one - each * len(prey)}
    for i in prey:
        stands = living.index(living[i])
        found[stands] = found.get(stands, one * 0) + each
    return found


def _shields(spec: Spec, living: Living) -> list[int | None]:
    if not any(who[0] == "G" for who in living):
        return [None]
    targets: list[int | None] = [i for i, who in enumerate(living) if "*" not in who]
    return [*targets, None] if spec.shield_may_pass else targets


Night = tuple[Living, bool, bool]
"""The living at dawn, and whether the antidote and the poison are still there."""


def _nights(
    spec: Spec, one: Number, living: Living, antidote: bool, poison: bool
) -> Iterator[tuple[Number, Night]]:
    witch = any(who[0] == "X" for who in living)
    shields = _shields(spec, living)
    poisons: list[int | None] = [*range(len(living)), None] if witch and poison else [None]
    for victim, p in _victims(spec, living, one).items():
        for shield in shields:
            shielded = victim is not None and victim == shield
            told = victim is not None and not (shielded and spec.shield_and_antidote == "not_asked")
            saves = (True, False) if witch and antidote and told else (False,)
            for saved in saves:
                lives = shielded != saved if spec.shield_and_antidote == "kills" else shielded or saved
                left = [None] if saved and not spec.both_potions else poisons
                for poisoned in left:
                    q = p / (len(shields) * len(saves) * len(left))
                    dead = {None if lives else victim: spec.hunter_at_kill, poisoned: spec.hunter_at_poison}
                    potions = antidote and not saved, poison and poisoned is None
                    for share, after in _dawn(spec, one, living, shield, dead):
                        yield q * share, _night(after, *potions)


def _dawn(
    spec: Spec, one: Number, living: Living, shield: int | None, dead: dict[int | None, bool]
) -> Iterator[tuple[Number, Living]]:
    """Those who are alive once all have shot. dead: who died in the night, and whether a Hunter may shoot."""
    left = []
    for i, who in enumerate(living):
        if i not in dead:
            who = who.replace("*", "")
            left.append(who + "*" if i == shield and not spec.shield_may_repeat else who)
    shooters = sum(living[i][0] == "H" and may for i, may in dead.items() if i is not None)
    return _shots(spec, one, tuple(left), shooters)


def _shots(spec: Spec, one: Number, living: Living, shooters: int) -> Iterator[tuple[Number, Living]]:
    """Each shoots one of the living or nobody; who is shot may be a Hunter too."""
    if not shooters or not living:
        yield one, living
        return
    share = one / (len(living) + 1)
    for i, who in enumerate(living):
        more = who[0] == "H" and spec.hunter_at_kill
        for p, left in _shots(spec, one, (*living[:i], *living[i + 1 :]), shooters - 1 + more):
            yield share * p, left
    for p, left in _shots(spec, one, living, shooters - 1):
        yield share * p, left


def _night(living: Living, antidote: bool, poison: bool) -> Night:
    """A state in its one spelling: nobody's marks or potions are kept when nobody can use them any more."""
    if not any(who[0] == "G" for who in living):
        living = tuple(who.replace("*", "") for who in living)
    witch = any(who[0] == "X" for who in living)
    return tuple(sorted(living)), antidote and witch, poison and witch


# -- whole games ----------------------------------------------------------------------------


def _won(spec: Spec, living: Living) -> End | None:
    wolves = sum(who[0] == "W" for who in living)
    if wolves == 0:
        return "village", "werewolves_gone"
    if spec.goal.startswith("no_villager"):
        if not any(who[0] == "V" for who in living):
            return "werewolves", "villagers_gone"
        able = spec.goal == "no_villager" or any(who[0] not in "VW" for who in living)
        return None if able else ("werewolves", "abilities_gone")
    return ("werewolves", "parity") if wolves >= len(living) - wolves else None


def _stopped(spec: Spec, living: Living) -> bool:
    return spec.stops_at_sheriff and not any("+" in who for who in living)


def _start(spec: Spec, one: Number) -> dict[Night, Number]:
    potions = "X" in spec.cast
    start: dict[Night, Number] = defaultdict(lambda: one * 0)
    for seat in range(len(spec.cast)) if spec.stops_at_sheriff else (None,):
        cast = tuple(sorted(role + "+" * (i == seat) for i, role in enumerate(spec.cast)))
        start[cast, potions, potions] += one / (len(spec.cast) if spec.stops_at_sheriff else 1)
    return start


@cache
def ends(spec: Spec, exact: bool = False) -> dict[End, Number]:
    """The probability of every (winner, reason), as floats or, if `exact`, as fractions."""
    one: Number = Fraction(1) if exact else 1.0
    result: dict[End, Number] = defaultdict(lambda: one * 0)
    nights: dict[Night, dict[Night, Number]] = {}
    now = _start(spec, one)
    for round in range(1, spec.rounds + 1):
        day: dict[Night, Number] = defaultdict(lambda: one * 0)
        for state, p in now.items():
            if state not in nights:
                nights[state] = _night_table(spec, state, one)
            for morning, q in nights[state].items():
                day[morning] += p * q
        now = defaultdict(lambda: one * 0)
        for morning, p in day.items():
            if (end := _won(spec, morning[0])) is not None:
                result[end] += p
            elif _stopped(spec, morning[0]):
                result["nobody", "void" if round == 1 else "sheriff_died"] += p
            else:
                _vote(spec, morning, p, round == spec.rounds, result, now)
    return dict(result)


def _night_table(spec: Spec, state: Night, one: Number) -> dict[Night, Number]:
    table: dict[Night, Number] = defaultdict(lambda: one * 0)
    for q, morning in _nights(spec, one, *state):
        table[morning] += q
    return table


def _vote(
    spec: Spec, morning: Night, p: Number, last: bool, result: dict[End, Number], after: dict[Night, Number]
) -> None:
    """Split `p` over who is voted out (each alike, or nobody) and what that leads to."""
    living, antidote, poison = morning
    one: Number = Fraction(1) if isinstance(p, Fraction) else 1.0
    voteless = sum("!" in who for who in living)
    outs = [one * voted_out(spec, len(living), voteless, "!" not in who) for who in living]
    for gone in (*range(len(living)), None):
        chance = 1 - sum(outs) if gone is None else outs[gone]
        stay = tuple(who for i, who in enumerate(living) if i != gone)
        if gone is not None and living[gone] == "I":
            stay = (*stay, "I!")
        shooter = gone is not None and living[gone][0] == "H" and spec.hunter_at_vote
        for share, left in _shots(spec, one, stay, int(shooter)):
            q = p * chance * share
            if (end := _won(spec, left)) is not None:
                result[end] += q
            elif _stopped(spec, left):
                result["nobody", "sheriff_died"] += q
            elif last:
                result["nobody", "round_limit"] += q
            else:
                after[_night(left, antidote, poison)] += q
