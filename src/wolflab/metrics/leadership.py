"""Opinion leadership of a Sheriff: how far the others believe it (Ratio) and follow it (DC).

002 §3.2, exactly, with the released code's variants beside it and the nulls that say what either number
would be if the Sheriff were nobody special. Everything here is about one finished day or one game; a
day that lacks what a metric needs gives None and is counted as missing. Days are averaged within a game
first, then games (unweighted, as the paper does); what each is called and says stands in `registry`.

Seats are raters i, targets j; L is the day's Sheriff; N_d counts the living, L included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from ..rules import ROLES
from ..text.reading import Accusation, Report, Suggestion, read
from .days import Day, Rule

DayMetric = Callable[[Day], float | None]


# -- Ratio ------------------------------------------------------------------------------------


def standing(day: Day, seat: int, rule: Rule = "paper", raters: Iterable[int] | None = None) -> float | None:
    """How far the others believe `seat`, relative to how far they believe each other.

    mean of m[i, seat] over i ≠ seat, divided by mean of m[i, j] over i, j ≠ seat, i ≠ j (002 Eq. 9–11
    with `seat` for L). Pairs never judged are left out of both means. `raters` restricts i.
    """
    who = [i for i in (day.alive if raters is None else raters) if i != seat]
    m = day.matrix(rule)
    towards = [m[i, seat] for i in who if (i, seat) in m]
    mutual = [m[i, j] for i in who for j in day.alive if j not in (seat, i) and (i, j) in m]
    if not towards or not mutual:
        return None
    return (sum(towards) / len(towards)) / (sum(mutual) / len(mutual))


def ratio(day: Day, rule: Rule = "paper") -> float | None:
    """The day's Ratio (002 Eq. 11): the Sheriff's standing. Above 1: believed more than the others."""
    if not day.finished or day.sheriff is None:
        return None
    return standing(day, day.sheriff, rule)


def ratio_village(day: Day) -> float | None:
    """Ratio with village raters only: what those believe who do not already know the Werewolves."""
    if not day.finished or day.sheriff is None:
        return None
    return standing(day, day.sheriff, raters=[i for i in day.alive if not day.wolf(i)])


def ratio_over_peers(day: Day) -> float | None:
    """The Sheriff's standing minus the mean standing of the living non-Sheriffs of the same role.

    None where the Sheriff is the last of its role.
    """
    own = ratio(day)
    if own is None or day.sheriff is None:
        return None
    role = day.roles[day.sheriff]
    peers = [standing(day, k) for k in day.followers if day.roles[k] == role]
    known = [q for q in peers if q is not None]
    return own - sum(known) / len(known) if known else None


def improvement(day: Day, rule: Rule = "paper") -> float | None:
    """(post − pre) / pre of the mean reliability towards the Sheriff, before and after it speaks.

    Released code of 002 ("rel_improvement"). Raters that judged the Sheriff at both moments.
    """
    if not day.finished or day.sheriff is None:
        return None
    pre, post = day.matrix_before(rule), day.matrix(rule)
    both = [
        (pre[i, day.sheriff], post[i, day.sheriff])
        for i in day.followers
        if (i, day.sheriff) in pre and (i, day.sheriff) in post
    ]
    before = sum(a for a, _ in both)
    return (sum(b for _, b in both) - before) / before if before else None


# -- DC ---------------------------------------------------------------------------------------


def _converted(
    followers: Sequence[int],
    before: Mapping[int, int | None],
    after: Mapping[int, int | None],
    towards: int | None,
) -> int:
    """How many came to vote as `towards` who had not meant to. None is a vote like any other."""
    return sum(before[i] != towards and after[i] == towards for i in followers)


def _ready(day: Day, poll: str = "straw") -> bool:
    return day.finished and day.sheriff is not None and day.polled(poll)


def dc(day: Day) -> float | None:
    """The day's Decision Change (002 Eq. 12): share of the N_d − 1 others that turned to the Sheriff's vote.

    Read literally: not voting is a value, so that followers who drop their vote when the Sheriff drops
    its own count as converted; a missing or unusable vote is no vote.
    """
    if not _ready(day) or day.sheriff is None:
        return None
    others = day.followers
    return _converted(others, day.straws["straw"], day.votes, day.votes[day.sheriff]) / len(others)


def dc_alive(day: Day) -> float | None:
    """DC divided by N_d, the Sheriff included, as in 002's released code."""
    value = dc(day)
    return None if value is None else value * len(day.followers) / len(day.alive)


def dc_cast(day: Day) -> float | None:
    """DC counting conversions only on days when the Sheriff voted for somebody (otherwise 0)."""
    value = dc(day)
    if value is None or day.sheriff is None:
        return None
    return value if day.votes[day.sheriff] is not None else 0.0


def changed(day: Day) -> float | None:
    """DC*: share of the others that changed their vote at all (released code of 002)."""
    if not _ready(day):
        return None
    before = day.straws["straw"]
    return sum(before[i] != day.votes[i] for i in day.followers) / len(day.followers)


def dc_retest(day: Day) -> float | None:
    """Null of DC: a second straw poll in place of the vote, with no statement between the two.

    What DC would be if followers merely answered twice. Needs `StrawPoll(times=2)`.
    """
    if not _ready(day) or not day.polled("straw2") or day.sheriff is None:
        return None
    others = day.followers
    return _converted(others, day.straws["straw"], day.straws["straw2"], day.votes[day.sheriff]) / len(others)


def dc_others(day: Day) -> float | None:
    """Null of DC: conversion towards the vote of each other player k in turn, averaged over k.

    Followers other than k are watched. What DC is towards somebody who did not speak last.
    """
    if not _ready(day):
        return None
    shares = []
    for k in day.followers:
        rest = [i for i in day.followers if i != k]
        if rest:
            shares.append(_converted(rest, day.straws["straw"], day.votes, day.votes[k]) / len(rest))
    return sum(shares) / len(shares) if shares else None


def minus(one: DayMetric, other: DayMetric) -> DayMetric:
    """The difference of two metrics on days that have both."""

    def difference(day: Day) -> float | None:
        a, b = one(day), other(day)
        return None if a is None or b is None else a - b

    return difference


# -- what the Sheriff recommends in words -----------------------------------------------------


def recommended(day: Day) -> int | None:
    """Whom the Sheriff's last statement of the day proposes to vote out, read from its words.

    The one player whom it suggests to vote against; without any suggestion, the one player whom it
    accuses most strongly (a reported check of a Werewolf is the strongest). None when it names nobody
    living, or several alike.
    """
    spoken = [text for seat, text in day.statements if seat == day.sheriff]
    if not spoken or day.sheriff is None:
        return None
    weight: dict[int, int] = {}
    suggested: dict[int, None] = {}
    for act in read(spoken[-1], day.names, day.sheriff):
        if act.speaker != day.sheriff:
            continue
        match act:
            case Suggestion(_, target, against) if not against:
                suggested[target] = None
            case Accusation(_, target, strength):
                weight[target] = max(weight.get(target, 0), strength)
            case Report(_, "see", target, what) if what in ROLES and ROLES[what].wolf:
                weight[target] = 4
            case _:
                pass
    named = list(suggested) or [t for t, w in weight.items() if w == max(weight.values())]
    named = [target for target in named if target in day.followers]
    return named[0] if len(named) == 1 else None


def _words(day: Day, wolf: bool | None) -> tuple[int, list[int]] | None:
    """(recommended player, followers other than it), if the day has one of that side."""
    if not _ready(day):
        return None
    target = recommended(day)
    if target is None or (wolf is not None and day.wolf(target) != wolf):
        return None
    rest = [i for i in day.followers if i != target]
    return (target, rest) if rest else None


def dc_words(day: Day, wolf: bool | None = None) -> float | None:
    """DC towards the player whom the Sheriff recommends in words, rather than towards its own vote.

    That player is not among the followers. wolf: only days on which it is (not) a Werewolf.
    """
    found = _words(day, wolf)
    if found is None:
        return None
    target, rest = found
    return _converted(rest, day.straws["straw"], day.votes, target) / len(rest)


def persuasion_counts(
    day: Day, wolf: bool | None = None, retest: bool = False
) -> tuple[int, int, int] | None:
    """(followers, for the recommended player before, and after the statement); None as `dc_words`.

    retest: the second straw poll in place of the vote: what the count is with no statement between.
    """
    found = _words(day, wolf)
    if found is None or (retest and not day.polled("straw2")):
        return None
    target, rest = found
    before, after = day.straws["straw"], day.straws["straw2"] if retest else day.votes
    return len(rest), sum(before[i] == target for i in rest), sum(after[i] == target for i in rest)


# -- a game's days ------------------------------------------------------------------------------


def led_by(day: Day, role: str) -> bool:
    """Whether that day's Sheriff holds the role (an earlier Sheriff's days are its own)."""
    return day.sheriff is not None and day.roles[day.sheriff] == role


def game_mean(days: Sequence[Day], metric: DayMetric, role: str | None = None) -> float | None:
    """Mean over a game's days that have the metric (002: 1/T Σ_t); None when none has.

    role: only days on which the Sheriff of that day holds it.
    """
    kept = [day for day in days if role is None or led_by(day, role)]
    values = [value for day in kept if (value := metric(day)) is not None]
    return sum(values) / len(values) if values else None


def standing_of_role(days: Iterable[Day], role: str) -> float | None:
    """Mean standing of a game's living non-Sheriffs of that role, days first; None where there is none."""
    values = []
    for day in days:
        if day.sheriff is None:
            continue
        stands = [standing(day, seat) for seat in day.followers if day.roles[seat] == role]
        known = [one for one in stands if one is not None]
        if known:
            values.append(sum(known) / len(known))
    return sum(values) / len(values) if values else None


# -- null of Ratio --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Null:
    """What chance gives where labels are permuted: mean and the middle 95 % (low, high); p: two-sided.

    n: games in it.
    """

    mean: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int


def null_of_ratio(days: Sequence[Day]) -> tuple[float, float, float] | None:
    """(mean, variance) of a game's Ratio if "Sheriff" were only a label, and the game's own Ratio.

    The seats are put into a random order, and each day's label goes to the first of them that lives: one
    bearer for as long as it lives, then the next, as with a Sheriff. Days without a Ratio are left out, as in
    the Ratio itself; None without any. Exact: over all orders, by way of who bears the label.
    """
    kept = [(day, own) for day in days if (own := ratio(day)) is not None]
    if not kept:
        return None
    own = sum(value for _, value in kept) / len(kept)
    # (bearer, days with a value) → its chance, and the sums of value and value² weighted by it.
    states: dict[tuple[int, int], tuple[float, float, float]] = {(-1, 0): (1.0, 0.0, 0.0)}
    for day, _ in kept:
        stands = {seat: standing(day, seat) for seat in day.alive}
        after: dict[tuple[int, int], tuple[float, float, float]] = {}
        for (bearer, counted), (p, s1, s2) in states.items():
            heirs = [bearer] if bearer in stands else list(stands)
            for seat in heirs:
                value = stands[seat]
                x, k = (0.0, counted) if value is None else (value, counted + 1)
                chance, one, two = after.get((seat, k), (0.0, 0.0, 0.0))
                chance += p / len(heirs)
                one += (s1 + x * p) / len(heirs)
                two += (s2 + 2 * x * s1 + x * x * p) / len(heirs)
                after[seat, k] = chance, one, two
        states = after
    mean = square = 0.0
    for (_, k), (p, s1, s2) in states.items():
        mean += s1 / k if k else p * own
        square += s2 / k**2 if k else p * own**2
    return mean, max(0.0, square - mean**2), own


def null(n: int, mean: float, variance: float, own: float) -> Null:
    """The null of the mean Ratio over n games, from sums of `null_of_ratio` over them.

    Games are permuted independently, so that the mean over many is normal.
    """
    if n == 0:
        return Null(None, None, None, None, 0)
    centre, spread = mean / n, math.sqrt(variance) / n
    z = 0.0 if spread == 0 else abs(own / n - centre) / spread
    normal = NormalDist()
    reach = normal.inv_cdf(0.975) * spread
    return Null(centre, centre - reach, centre + reach, 2 * normal.cdf(-z), n)
