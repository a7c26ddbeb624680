"""Opinion leadership of a Sheriff: how much the others believe it (Ratio) and follow it (DC).

The formulas are those of 002 §3.2, with the variants of its released code, and nulls for a Sheriff without
influence. Each function takes one day or one game; a day without the needed data gives None and counts as
missing. Days are averaged within a game, then games (unweighted, as in the paper). Names and descriptions are
in `registry`.

Seats are raters i, targets j; L is the day's Sheriff; N_d counts the living, L included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from ..rules import ROLES
from ..text.reading import Accusation, Report, Suggestion, can_be_read, read
from .days import Day, Rule

DayMetric = Callable[[Day], float | None]


# -- Ratio ------------------------------------------------------------------------------------


def ratio_of_seat(
    day: Day, seat: int, rule: Rule = "paper", raters: Iterable[int] | None = None
) -> float | None:
    """The Ratio of any seat: how much the others believe it, relative to how much they believe each other.

    The mean of m[i, seat] over i ≠ seat, divided by the mean of m[i, j] over i, j ≠ seat, i ≠ j (002 Eq. 9–11
    with `seat` for L). Pairs without a judgement are left out of both means. `raters` restricts i.
    """
    return _ratio_in(day.matrix(rule), day, seat, raters)


def _ratio_in(
    m: Mapping[tuple[int, int], int], day: Day, seat: int, raters: Iterable[int] | None
) -> float | None:
    judging = [i for i in (day.alive if raters is None else raters) if i != seat]
    towards = [m[i, seat] for i in judging if (i, seat) in m]
    mutual = [m[i, j] for i in judging for j in day.alive if j not in (seat, i) and (i, j) in m]
    if not towards or not mutual:
        return None
    return (sum(towards) / len(towards)) / (sum(mutual) / len(mutual))


def ratio(day: Day, rule: Rule = "paper") -> float | None:
    """The day's Ratio (002 Eq. 11): that of the Sheriff. Above 1: the Sheriff is believed more than the
    others.
    """
    return None if day.sheriff is None else ratio_of_seat(day, day.sheriff, rule)


def ratio_village(day: Day) -> float | None:
    """Ratio with village raters only, who do not know the Werewolves."""
    if day.sheriff is None:
        return None
    return ratio_of_seat(day, day.sheriff, raters=[i for i in day.alive if not day.wolf(i)])


def ratio_over_peers(day: Day) -> float | None:
    """The Sheriff's Ratio minus the mean Ratio of the living non-Sheriffs of the same role.

    None if the Sheriff is the last of its role.
    """
    own = ratio(day)
    if own is None or day.sheriff is None:
        return None
    peers = _peer_ratios_of_role(day, day.roles[day.sheriff])
    return own - sum(peers) / len(peers) if peers else None


def improvement(day: Day) -> float | None:
    """(post − pre) / pre of the mean reliability of the Sheriff, before and after it speaks.

    From 002's released code ("rel_improvement"). Raters are those that judged the Sheriff both times.
    """
    pre, post = day.matrix_before(), day.matrix()
    pairs = [(i, day.sheriff) for i in day.followers if day.sheriff is not None]
    judged_twice = [pair for pair in pairs if pair in pre and pair in post]
    before = sum(pre[pair] for pair in judged_twice)
    return (sum(post[pair] for pair in judged_twice) - before) / before if before else None


BEFORE, AFTER = "rate-before-sheriff", "rate"
"""The probes for trust before the Sheriff's statement, and after it (before the vote)."""


def asked_ratio(day: Day, probe: str = BEFORE, raters: Iterable[int] | None = None) -> float | None:
    """Ratio of the trust in answers to a probe, instead of the beliefs at the vote."""
    seat = _sheriff_speaking_last(day)
    return None if seat is None else _ratio_in(_asked_matrix(day, probe), day, seat, raters)


def trust_moved(day: Day, others: bool = False, raters: Iterable[int] | None = None) -> float | None:
    """The increase of trust in the Sheriff by its statement, in points of 1–10.

    others: of trust in the other living players instead. raters: None: all but the Sheriff. Only pairs that
    were asked both times count; None if the Sheriff did not speak last.
    """
    sheriff = _sheriff_speaking_last(day)
    if sheriff is None:
        return None
    before, after = _asked_matrix(day, BEFORE), _asked_matrix(day, AFTER)
    judging = {i for i in (day.alive if raters is None else raters) if i != sheriff}
    moves = [
        after[i, j] - before[i, j]
        for i, j in before
        if i in judging and (j == sheriff) is not others and (i, j) in after
    ]
    return sum(moves) / len(moves) if moves else None


def _sheriff_speaking_last(day: Day) -> int | None:
    """The Sheriff, if it spoke last that day, so that the first probe came before its statement."""
    last = day.statements[-1][0] if day.statements else None
    return day.sheriff if last == day.sheriff else None


def _asked_matrix(day: Day, probe: str) -> dict[tuple[int, int], int]:
    scores = day.asked.get(probe, {})
    return {(rater, target): m for rater, judged in scores.items() for target, m in judged.items()}


# -- DC ---------------------------------------------------------------------------------------


def turned(
    followers: Sequence[int],
    before: Mapping[int, int | None],
    after: Mapping[int, int | None],
    towards: int | None,
) -> float:
    """The share of followers whose vote changed to `towards`. None is a vote like any other."""
    return sum(before[i] != towards and after[i] == towards for i in followers) / len(followers)


def _polled_sheriff(day: Day) -> int | None:
    """The Sheriff, if the others were polled that day."""
    return day.sheriff if day.polled() else None


def _followed_sheriff(day: Day) -> int | None:
    """The same, if the Sheriff has a vote that the others can follow."""
    sheriff = _polled_sheriff(day)
    return sheriff if sheriff in day.votes else None


def dc(day: Day) -> float | None:
    """The day's Decision Change (002 Eq. 12): the share of the N_d − 1 others that changed to the Sheriff's
    vote.

    Not voting is a value, so a follower who stops voting when the Sheriff does not vote counts as converted;
    a missing or unusable vote is no vote. Players without a vote do not count, and a Sheriff without one
    gives None.
    """
    sheriff = _followed_sheriff(day)
    if sheriff is None:
        return None
    return turned(day.followers, day.straws["straw"], day.votes, day.votes[sheriff])


def dc_by_n(day: Day) -> float | None:
    """DC divided by all voters, including the Sheriff, as in 002's released code (N_d)."""
    value = dc(day)
    return None if value is None else value * len(day.followers) / len(day.votes)


def dc_sheriff_voted(day: Day) -> float | None:
    """DC on days when the Sheriff voted for somebody, otherwise 0."""
    value = dc(day)
    if value is None or day.sheriff is None:
        return None
    return value if day.votes[day.sheriff] is not None else 0.0


def votes_changed(day: Day) -> float | None:
    """DC*: the share of the others that changed their vote (002's released code)."""
    if _polled_sheriff(day) is None:
        return None
    before = day.straws["straw"]
    return sum(before[i] != day.votes[i] for i in day.followers) / len(day.followers)


def dc_retest(day: Day) -> float | None:
    """Null of DC: a second straw poll instead of the vote, without a statement in between.

    The DC of followers who only answer twice. Needs `StrawPoll(times=2)`.
    """
    sheriff = _followed_sheriff(day)
    if sheriff is None or not day.polled("straw2"):
        return None
    return turned(day.followers, day.straws["straw"], day.straws["straw2"], day.votes[sheriff])


def dc_others(day: Day) -> float | None:
    """Null of DC: conversion to the vote of each other player k, averaged over k.

    The followers are all but k. It is the DC of a player who did not speak last.
    """
    if _polled_sheriff(day) is None or len(day.followers) < 2:
        return None
    shares = [
        turned([i for i in day.followers if i != k], day.straws["straw"], day.votes, day.votes[k])
        for k in day.followers
    ]
    return sum(shares) / len(shares)


def minus(metric: DayMetric, null: DayMetric) -> DayMetric:
    """The difference of two metrics on days that have both."""

    def over_null(day: Day) -> float | None:
        value, chance = metric(day), null(day)
        return None if value is None or chance is None else value - chance

    return over_null


# -- recommendations in words -----------------------------------------------------------------


def recommended(day: Day) -> int | None:
    """The player whom the Sheriff's last statement of the day proposes to vote out.

    It is the only player whom it suggests to vote against; without a suggestion, the player whom it accuses
    most strongly (a reported check of a Werewolf is strongest). None if it names no living player, or several
    equally.
    """
    spoken = [text for seat, text in day.statements if seat == day.sheriff]
    if not spoken or day.sheriff is None:
        return None
    return recommended_in(spoken[-1], day.names, day.sheriff, day.alive)


def recommended_in(text: str, names: Sequence[str], speaker: int, alive: Collection[int]) -> int | None:
    """The player whom a statement proposes to vote out; see `recommended`."""
    if not can_be_read(text, names):
        return None
    accused: dict[int, int] = {}
    suggested: dict[int, None] = {}
    for act in read(text, names, speaker):
        if act.speaker != speaker:
            continue
        match act:
            case Suggestion(_, target, against) if not against:
                suggested[target] = None
            case Accusation(_, target, strength):
                accused[target] = max(accused.get(target, 0), strength)
            case Report(_, "see", target, what) if what in ROLES and ROLES[what].wolf:
                accused[target] = 4
            case _:
                pass
    strongest = [target for target, strength in accused.items() if strength == max(accused.values())]
    targets = [target for target in suggested or strongest if target in alive and target != speaker]
    return targets[0] if len(targets) == 1 else None


def _recommendation(day: Day, wolf: bool | None) -> tuple[int, list[int]] | None:
    """(recommended player, other followers), if the day has a recommended player of that side."""
    target = None if _polled_sheriff(day) is None else recommended(day)
    if target is None or (wolf is not None and day.wolf(target) != wolf):
        return None
    watched = [i for i in day.followers if i != target]
    return (target, watched) if watched else None


def dc_words(day: Day, wolf: bool | None = None) -> float | None:
    """DC towards the player whom the Sheriff recommends in words, instead of towards its own vote.

    That player is no follower. wolf: only days on which it is (not) a Werewolf.
    """
    recommendation = _recommendation(day, wolf)
    if recommendation is None:
        return None
    target, watched = recommendation
    return turned(watched, day.straws["straw"], day.votes, target)


def persuasion_counts(
    day: Day, wolf: bool | None = None, retest: bool = False
) -> tuple[int, int, int] | None:
    """(followers, votes for the recommended player before, and after the statement); None as `dc_words`.

    retest: a second straw poll instead of the vote, without a statement in between.
    """
    recommendation = _recommendation(day, wolf)
    if recommendation is None or (retest and not day.polled("straw2")):
        return None
    target, watched = recommendation
    before, after = day.straws["straw"], day.straws["straw2"] if retest else day.votes
    return len(watched), sum(before[i] == target for i in watched), sum(after[i] == target for i in watched)


def persuaded_votes(day: Day, wolf: bool | None = None, retest: bool = False) -> dict[str, bool]:
    """Ask of each of these followers' votes → whether it is for the recommended player; as
    `persuasion_counts`.
    """
    recommendation = _recommendation(day, wolf)
    if recommendation is None or (retest and not day.polled("straw2")):
        return {}
    target, watched = recommendation
    kind, after = ("straw2", day.straws["straw2"]) if retest else ("vote", day.votes)
    return {f"{day.round}/{kind}/{i}": after[i] == target for i in watched}


# -- a game's days ------------------------------------------------------------------------------


def led_by(day: Day, role: str) -> bool:
    """Whether that day's Sheriff holds the role."""
    return day.sheriff is not None and day.roles[day.sheriff] == role


def mean_over_days(days: Iterable[Day], metric: DayMetric, role: str | None = None) -> float | None:
    """The mean over a game's days that have the metric (002: 1/T Σ_t); None if none has.

    role: only days whose Sheriff holds it.
    """
    values = values_by_day((day for day in days if role is None or led_by(day, role)), metric).values()
    return sum(values) / len(values) if values else None


def why_no_value(
    day: Day,
    *,
    polls: Sequence[str] = (),
    words: bool = False,
    last: bool = False,
    vote: bool = False,
    rest: str = "the judgements that it needs are missing",
) -> str:
    """Why a day has no value, in words. polls, words, last, vote: what the value needs besides a Sheriff:
    these polls of all the others, a recommendation in words, that the Sheriff speaks last and has a vote.
    rest: the reason where all of that is there.
    """
    if day.sheriff is None:
        return "nobody was Sheriff"
    if last and _sheriff_speaking_last(day) is None:
        return "the Sheriff did not speak last"
    if not all(map(day.polled, polls)):
        return "not all the others were asked in a straw poll"
    if words and recommended(day) is None:
        return "the Sheriff's words name no player to vote out, or several"
    if vote and day.sheriff not in day.votes:
        return "the Sheriff has no vote"
    return rest


def values_by_day(days: Iterable[Day], metric: DayMetric) -> dict[int, float]:
    """Round → the metric of each day that has it."""
    return {day.round: value for day in days if (value := metric(day)) is not None}


def _peer_ratios_of_role(day: Day, role: str) -> list[float]:
    """The Ratio of each living non-Sheriff of that role that has one."""
    peers = [seat for seat in day.alive if day.roles[seat] == role and seat != day.sheriff]
    return [value for seat in peers if (value := ratio_of_seat(day, seat)) is not None]


def peer_ratio_of_role(days: Iterable[Day], role: str) -> float | None:
    """The mean Ratio of a game's living non-Sheriffs of that role, averaged by day first; None
    without any.
    """
    by_day = [_peer_ratios_of_role(day, role) for day in days if day.sheriff is not None]
    values = [sum(peers) / len(peers) for peers in by_day if peers]
    return sum(values) / len(values) if values else None


# -- null of Ratio --------------------------------------------------------------------------------

LEAST_GAMES_FOR_P = 10
"""The fewest games for a p in `RatioNull`: the mean of fewer is not normal."""


@dataclass(frozen=True, slots=True)
class RatioNull:
    """The distribution under permuted labels: mean and the central 95 % (low, high); p: two-sided, None below
    `LEAST_GAMES_FOR_P` games.

    n: the number of games.
    """

    mean: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int


def ratio_null_of_game(days: Iterable[Day], eligible: int = -1) -> tuple[float, float, float] | None:
    """(mean, variance) of a game's Ratio if "Sheriff" were only a label, and the game's own Ratio.

    The seats are put into a random order, and each day's label goes to the first living one, as with a
    Sheriff and its successors. eligible: mask of the seats that may be Sheriff under the rules (−1: all).
    Days without a Ratio are left out, as in the Ratio itself; None without any. The result is exact over all
    orders.
    """
    ratios = [(day, value) for day in days if (value := ratio(day)) is not None]
    if not ratios:
        return None
    own = sum(value for _, value in ratios) / len(ratios)
    # (bearer, days with a value) → its chance, and the sums of value and value² weighted by it.
    states: dict[tuple[int, int], tuple[float, float, float]] = {(-1, 0): (1.0, 0.0, 0.0)}
    for day, _ in ratios:
        by_seat = {seat: ratio_of_seat(day, seat) for seat in day.alive if eligible >> seat & 1}
        after: dict[tuple[int, int], tuple[float, float, float]] = {}
        for (bearer, counted), (p, s1, s2) in states.items():
            heirs = [bearer] if bearer in by_seat else list(by_seat)
            for seat in heirs:
                value = by_seat[seat]
                x, k = (0.0, counted) if value is None else (value, counted + 1)
                chance, first, second = after.get((seat, k), (0.0, 0.0, 0.0))
                chance += p / len(heirs)
                first += (s1 + x * p) / len(heirs)
                second += (s2 + 2 * x * s1 + x * x * p) / len(heirs)
                after[seat, k] = chance, first, second
        states = after
    mean = square = 0.0
    for (_, k), (p, s1, s2) in states.items():
        mean += s1 / k if k else p * own
        square += s2 / k**2 if k else p * own**2
    return mean, max(0.0, square - mean**2), own


def ratio_null_of_games(n: int, mean: float, variance: float, own: float) -> RatioNull:
    """The null of the mean Ratio over n games, from sums of `ratio_null_of_game` over them.

    Games are permuted independently, so the mean over many games is normal.
    """
    if n == 0:
        return RatioNull(None, None, None, None, 0)
    centre, deviation = mean / n, math.sqrt(variance) / n
    z = 0.0 if deviation == 0 else abs(own / n - centre) / deviation
    normal = NormalDist()
    reach = normal.inv_cdf(0.975) * deviation
    p = 2 * normal.cdf(-z) if n >= LEAST_GAMES_FOR_P else None
    return RatioNull(centre, centre - reach, centre + reach, p, n)
