"""How likely each end of a game is when everybody plays at random, computed without the engine.

It imports nothing of Wolflab: it was written from the papers' rules (002 §3 and §6.1, 003 App. A.5,
004 App. B, with this project's decisions where they leave something open), so that it and the engine
can only agree by both being right.

A state is the multiset of the living, each a letter (W Werewolf, V Villager, S Seer, G Guard or Doctor,
X Witch) with marks: "+" the Sheriff, "*" the player shielded last night where the Guard may not repeat.
Players with the same letter and marks are interchangeable, so one of them stands for all. What cannot
change the end under random play is left out: what the Seer sees, speech and its order, elections.

Votes are counted by a convolution over the tallies, not one by one: n voters spread over the options are
balls in bins, and what matters is in how many ways one bin has strictly most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
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
def voted_out(spec: Spec, n: int) -> Fraction:
    """The probability that one given player of the `n` living is voted out (the same for each)."""
    if not spec.self_vote:
        return _voted_out_by_listing(spec, n) if not spec.tie_random else _somebody(spec, n) / n
    if spec.tie_random:
        return _somebody(spec, n) / n
    if spec.pass_competes:
        return Fraction(lone_winner(n, n + 1), (n + 1) ** n)
    passes = range(n + 1) if spec.abstain else range(1)
    ways = sum(comb(n, k) * lone_winner(n - k, n) for k in passes)
    return Fraction(ways, (n + spec.abstain) ** n)


def _somebody(spec: Spec, n: int) -> Fraction:
    """With random ties somebody goes unless everybody abstains."""
    options = n - (not spec.self_vote) + spec.abstain
    return 1 - (Fraction(1, options**n) if spec.abstain else Fraction(0))


def _voted_out_by_listing(spec: Spec, n: int) -> Fraction:
    """No self-votes and no random ties: no preset needs it, so small tables are simply listed."""
    ballots = [[t for t in range(n) if t != v] + [-1] * spec.abstain for v in range(n)]
    total = hits = 0
    for votes in product(*ballots):
        total += 1
        tally = [votes.count(t) for t in range(n)]
        top = max(tally)
        beaten_by_pass = spec.pass_competes and votes.count(-1) >= top
        hits += top > 0 and tally[0] == top and tally.count(top) == 1 and not beaten_by_pass
    return Fraction(hits, total)


# -- nights ---------------------------------------------------------------------------------


def _agree(spec: Spec, choices: tuple[int | None, ...]) -> int | None:
    if spec.agreement == "last":
        return choices[-1]
    if spec.agreement == "unanimous":
        return choices[0] if len(set(choices)) == 1 else None
    best = max(choices.count(c) for c in choices)
    leaders = {c for c in choices if choices.count(c) == best}
    return leaders.pop() if len(leaders) == 1 else None


def _victims(spec: Spec, living: Living) -> dict[int | None, Fraction]:
    """Whom the Werewolves kill before any rescue, one player standing for all alike."""
    wolves = [i for i, who in enumerate(living) if who[0] == "W"]
    prey: list[int | None] = [i for i, who in enumerate(living) if spec.wolf_may_hit_pack or who[0] != "W"]
    if spec.wolf_may_pass:
        prey.append(None)
    found: dict[int | None, Fraction] = defaultdict(Fraction)
    for choices in product(prey, repeat=len(wolves)):
        victim = _agree(spec, choices)
        stands = None if victim is None else living.index(living[victim])
        found[stands] += Fraction(1, len(prey) ** len(wolves))
    return found


def _shields(spec: Spec, living: Living) -> list[int | None]:
    if not any(who[0] == "G" for who in living):
        return [None]
    targets: list[int | None] = [i for i, who in enumerate(living) if "*" not in who]
    return [*targets, None] if spec.shield_may_pass else targets


Night = tuple[Living, bool, bool]
"""The living at dawn, and whether the antidote and the poison are still there."""


def _nights(spec: Spec, living: Living, antidote: bool, poison: bool) -> Iterator[tuple[Fraction, Night]]:
    witch = any(who[0] == "X" for who in living)
    shields = _shields(spec, living)
    poisons: list[int | None] = [*range(len(living)), None] if witch and poison else [None]
    for victim, p in _victims(spec, living).items():
        for shield in shields:
            hit = victim if victim is not None and victim != shield else None
            saves = (True, False) if witch and antidote and hit is not None else (False,)
            for saved, poisoned in product(saves, poisons):
                dead = {poisoned, None if saved else hit}
                q = p / (len(shields) * len(saves) * len(poisons))
                yield (
                    q,
                    _dawn(spec, living, shield, dead, antidote and not saved, poison and poisoned is None),
                )


def _dawn(
    spec: Spec, living: Living, shield: int | None, dead: set[int | None], antidote: bool, poison: bool
) -> Night:
    left = []
    for i, who in enumerate(living):
        if i not in dead:
            who = who.replace("*", "")
            left.append(who + "*" if i == shield and not spec.shield_may_repeat else who)
    if not any(who[0] == "G" for who in left):
        left = [who.replace("*", "") for who in left]
    witch = any(who[0] == "X" for who in left)
    return tuple(sorted(left)), antidote and witch, poison and witch


# -- whole games ----------------------------------------------------------------------------


def _won(spec: Spec, living: Living) -> End | None:
    wolves = sum(who[0] == "W" for who in living)
    if wolves == 0:
        return "village", "werewolves_gone"
    if spec.goal == "no_villager":
        return None if any(who[0] == "V" for who in living) else ("werewolves", "villagers_gone")
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
    table: dict[Night, Fraction] = defaultdict(Fraction)
    for q, morning in _nights(spec, *state):
        table[morning] += q
    return {morning: one * q if isinstance(one, Fraction) else float(q) for morning, q in table.items()}


def _vote(
    spec: Spec, morning: Night, p: Number, last: bool, result: dict[End, Number], after: dict[Night, Number]
) -> None:
    """Split `p` over who is voted out (each alike, or nobody) and what that leads to."""
    living, antidote, poison = morning
    out = voted_out(spec, len(living))
    chance: Number = out if isinstance(p, Fraction) else float(out)
    for gone in (*range(len(living)), None):
        q = p * (1 - chance * len(living) if gone is None else chance)
        left = tuple(who for i, who in enumerate(living) if i != gone)
        if not any(who[0] == "G" for who in left):
            left = tuple(sorted(who.replace("*", "") for who in left))
        witch = any(who[0] == "X" for who in left)
        if (end := _won(spec, left)) is not None:
            result[end] += q
        elif _stopped(spec, left):
            result["nobody", "sheriff_died"] += q
        elif last:
            result["nobody", "round_limit"] += q
        else:
            after[left, antidote and witch, poison and witch] += q
