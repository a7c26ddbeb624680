"""Every measure, in the order of the tables. A new measure is one entry here.

An entry is a function of one game with the measure's name: its docstring is the measure's description, and it
returns the sums that the game contributes (see `measure.Formula`). The page, the terminal, `report.json`,
contrasts, curves, planted effects, and the table in `docs/metrics.md` follow from the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

from ..renamed import current_measure
from ..rules import ROLES
from ..stats.intervals import UNIT
from ..text.notes import UNCERTAIN
from ..usage import Usage
from . import forks, leadership, play
from .behaviours import BEHAVIOURS, SIDES, SideName, TrustTable
from .behaviours.deception import statement_truths
from .conduct import ADVISED, NOT_ADVISED, SpokenTruth, judged_replies
from .days import Day
from .deduction import CONFIDENCES, AskedGuess, RoleGuess
from .leadership import (
    DayMetric,
    dc,
    dc_others,
    dc_retest,
    dc_words,
    mean_over_days,
    ratio,
    values_by_day,
    why_no_value,
)
from .measure import (
    APART,
    EITHER,
    GAINED,
    HALVES,
    HEEDED,
    MEAN,
    NEEDS_BEHAVIOURS,
    NEEDS_FORKS,
    NEEDS_GUESSES,
    NEEDS_RATINGS,
    NEEDS_STRAW_POLL,
    NEEDS_TRUST_BEFORE,
    NEEDS_TRUST_TWICE,
    NEEDS_TWO_STRAW_POLLS,
    NEEDS_WATCHED,
    POOLED,
    SHARE,
    WON_OVER,
    ByDay,
    Counting,
    Formula,
    Group,
    Measure,
    Needs,
    PartKey,
    Section,
    SplitCounting,
    Sums,
    TurnSums,
)
from .observed import ObservedGame
from .people import person_correlation, person_dc, person_moved, person_ratio, person_ratio_before
from .play import (
    Replies,
    eliminations,
    village_votes,
    village_won,
    won_as,
)

AnyCounting = TypeVar("AnyCounting", Counting, SplitCounting)
Parts = dict[PartKey, Sums | None]
SIGNED = (-1.0, 1.0)
SIDE_NAMES: Mapping[SideName, str] = {"village": "village", "werewolves": "Werewolves"}
"""The sides as words, in the order of the tables."""

MEASURES: dict[str, Measure] = {}
"""Measures with one number for each condition, which contrasts, curves and planted effects can name."""
SPLITS: dict[str, Measure] = {}
"""Measures with a number for each part."""

_GROUPS: Mapping[Section, Group] = {
    "leadership": "sheriff",
    "roles": "sheriff",
    "words": "sheriff",
    "forks": "forked",
    "people": "person",
    "asked": "asked",
    "chosen": "chooses",
    "deduction": "deduces",
    "reasonable": "conduct",
    "advice": "conduct",
    "behaviours": "conduct",
    "trust": "conduct",
}
"""Section → the group of conditions that have its measures, if not all have."""
_NEEDS: Mapping[Group, Needs] = {"watched": NEEDS_WATCHED, "conduct": NEEDS_BEHAVIOURS, "forked": NEEDS_FORKS}
"""Group → the field that an experiment needs for it."""


def _enter(
    name: str,
    label: str,
    how: Formula,
    section: Section,
    says: str,
    counts: Counting | SplitCounting,
    **fields: Any,
) -> None:
    """Add a measure. fields: the other fields of `Measure`; group and needs default to the section's."""
    if name in MEASURES or name in SPLITS:
        raise ValueError(f"two measures are called {name}")
    group = fields.pop("group", _GROUPS.get(section, "every"))
    needs = fields.pop("needs", _NEEDS.get(group))
    entry = Measure(name, label, how, section, says, counts, group=group, needs=needs, **fields)
    (SPLITS if entry.split else MEASURES)[name] = entry


def measure(
    label: str, how: Formula, section: Section, **fields: Any
) -> Callable[[AnyCounting], AnyCounting]:
    """Decorator that adds a measure with the function's name and docstring. fields: see `_enter`."""

    def enter(counts: AnyCounting) -> AnyCounting:
        says = " ".join((counts.__doc__ or "").split())
        _enter(counts.__name__, label, how, section, says, counts, **fields)
        return counts

    return enter


def _one(value: float | None) -> Sums | None:
    """The sums of a game's value in a mean over games."""
    return None if value is None else (float(value), 1.0)


def _pooled(values: Iterable[tuple[PartKey, float]]) -> Parts:
    """Part → (sum of its values, count)."""
    sums: dict[PartKey, tuple[float, float]] = {}
    for key, value in values:
        total, n = sums.get(key, (0.0, 0.0))
        sums[key] = total + value, n + 1
    return {**sums}


def _floats(*numbers: float) -> Sums:
    return tuple(map(float, numbers))


def _turns(hits: Mapping[str, bool | None]) -> dict[str, tuple[float, float]]:
    """What turns add to a share: ask → whether it is a hit; None: it is not counted."""
    return {ask: (float(hit), 1.0) for ask, hit in hits.items() if hit is not None}


def _summed(values: Iterable[tuple[str, float]]) -> dict[str, tuple[float, float]]:
    """What turns add to a sum of values and their count: (ask, value) each."""
    added: dict[str, tuple[float, float]] = {}
    for ask, value in values:
        total, n = added.get(ask, (0.0, 0.0))
        added[ask] = total + value, n + 1
    return added


# -- how long games last ----------------------------------------------------------------------------


@measure("rounds a game", MEAN, "play", unit="one", headline=True)
def rounds(game: ObservedGame) -> Sums:
    """Rounds (a night and a day each) that a game lasted."""
    return float(game.record.facts.round), 1.0


# -- leadership -------------------------------------------------------------------------------------


def _over_days(name: str, label: str, section: Section, says: str, by_day: ByDay, **fields: Any) -> None:
    """Add a mean over days within a game (002: 1/T Σ_t), then over games."""

    def counts(game: ObservedGame) -> Sums | None:
        values = by_day.values(game).values()
        return _one(sum(values) / len(values)) if values else None

    _enter(name, label, MEAN, section, says, counts, by_day=by_day, **fields)


Lacks = Callable[..., str]
"""Why a day has no value: `why_no_value` with what the value needs."""
_JUDGED = ("vote", "rate")
"""The asks whose judgements are those of the vote."""
_POLLED = ("straw", "statement", "vote")
_POLLED_TWICE = ("straw", "straw2", "vote")
_TRUSTED_TWICE = ("rate-before-sheriff", "statement", "rate")
_NO_JUDGEMENT: Lacks = why_no_value
_NO_POLL: Lacks = partial(why_no_value, polls=("straw",), vote=True, rest="fewer than two others voted")
_NO_SECOND_POLL: Lacks = partial(why_no_value, polls=("straw", "straw2"), vote=True)
_NO_ADVICE: Lacks = partial(why_no_value, polls=("straw",), words=True, rest="nobody else voted")
_NO_LAST_WORD: Lacks = partial(why_no_value, last=True)


def _of_days(metric: DayMetric, kinds: tuple[str, ...], lacks: Lacks) -> ByDay:
    return ByDay(lambda game: values_by_day(game.days, metric), kinds, lambda game, day: lacks(day))


def _leading(
    name: str,
    label: str,
    says: str,
    metric: DayMetric,
    *,
    kinds: tuple[str, ...],
    lacks: Lacks,
    **fields: Any,
) -> None:
    _over_days(name, label, "leadership", says, _of_days(metric, kinds, lacks), **fields)


_believing = partial(_leading, unit="plain", stratified="always", kinds=_JUDGED, lacks=_NO_JUDGEMENT)
_converting = partial(_leading, bounds=UNIT, needs=NEEDS_STRAW_POLL, kinds=_POLLED, lacks=_NO_POLL)

_believing(
    "ratio",
    "Ratio",
    "How far the others believe the Sheriff, divided by how far they believe each other: mean of m[i, L] "
    "over i ≠ L, divided by the mean of m[i, j] over i, j ≠ L, i ≠ j (002 Eq. 11). Pairs never judged "
    "do not count.",
    ratio,
    headline=True,
)
_believing(
    "ratio_village", "Ratio, village raters", "Ratio with village raters only.", leadership.ratio_village
)
_believing(
    "ratio_recorded",
    "Ratio, reliability as used",
    "Ratio with the reliability that the agents themselves used.",
    partial(ratio, rule="recorded"),
)
_believing(
    "ratio_wolf_exception",
    "Ratio, Werewolves' exception",
    "Ratio where a Werewolf's guess “Werewolf” counts as trust (002's released code).",
    partial(ratio, rule="wolf_exception"),
)
_believing(
    "ratio_over_peers",
    "Ratio over the role's peers",
    "The Sheriff's Ratio minus the mean Ratio of living players with the same role who are not Sheriff. "
    "No value if nobody else of that role is alive, so none for a single Seer or Guard.",
    leadership.ratio_over_peers,
    lacks=partial(why_no_value, rest="nobody else of the Sheriff's role lived, or was judged"),
    signed=True,
    reference=0.0,
)
_leading(
    "reliability_gain",
    "reliability gained by speaking",
    "(After − before) / before of the Sheriff's mean reliability, at the straw poll and at the vote.",
    leadership.improvement,
    kinds=("straw", "vote"),
    lacks=partial(why_no_value, rest="nobody judged the Sheriff at the straw poll and at the vote"),
    needs=NEEDS_STRAW_POLL,
    signed=True,
    reference=0.0,
    stratified="always",
)
_converting(
    "dc",
    "DC",
    "Share of the N − 1 others whose straw vote was not the Sheriff's vote and whose real vote is "
    "(002 Eq. 12).",
    dc,
    headline=True,
)
_converting(
    "dc_by_n",
    "DC, divided by N",
    "DC divided by N, as in 002's released code; this one is compared with 002's tables.",
    leadership.dc_by_n,
)
_converting(
    "dc_sheriff_voted",
    "DC, Sheriff voted",
    "DC, taken as 0 on days when the Sheriff did not vote.",
    leadership.dc_sheriff_voted,
)
_converting(
    "votes_changed",
    "DC*, any changed vote",
    "Share of the others that changed their vote at all.",
    leadership.votes_changed,
)
_converting(
    "dc_retest",
    "DC, polled twice",
    "Null of DC: a second straw poll in place of the vote, with nothing said in between.",
    dc_retest,
    kinds=_POLLED_TWICE,
    lacks=_NO_SECOND_POLL,
    needs=NEEDS_TWO_STRAW_POLLS,
)
_leading(
    "dc_over_retest",
    "DC minus DC polled twice",
    "DC minus what it is when players are polled twice.",
    leadership.minus(dc, dc_retest),
    kinds=("straw", "straw2", "statement", "vote"),
    lacks=_NO_SECOND_POLL,
    unit="points",
    bounds=SIGNED,
    needs=NEEDS_TWO_STRAW_POLLS,
    signed=True,
    reference=0.0,
)
_converting(
    "dc_others",
    "DC towards others",
    "Null of DC: conversion towards each other player's vote in turn, averaged.",
    dc_others,
)
_leading(
    "dc_over_others",
    "DC minus DC towards others",
    "DC minus DC towards others: how many more votes turn to the Sheriff's vote than to another player's.",
    leadership.minus(dc, dc_others),
    kinds=_POLLED,
    lacks=_NO_POLL,
    unit="points",
    bounds=SIGNED,
    needs=NEEDS_STRAW_POLL,
    signed=True,
    reference=0.0,
)
_converting(
    "dc_words",
    "conversion in words",
    "Share of the others that changed their vote to the player whom the Sheriff recommends in words.",
    dc_words,
    lacks=_NO_ADVICE,
)
_converting(
    "dc_words_wolf",
    "conversion in words, to a Werewolf",
    "Conversion in words where the recommended player is a Werewolf.",
    partial(dc_words, wolf=True),
    lacks=partial(_NO_ADVICE, rest="the player whom the Sheriff named is no Werewolf"),
)
_converting(
    "dc_words_other",
    "conversion in words, to another",
    "Conversion in words where the recommended player is not a Werewolf.",
    partial(dc_words, wolf=False),
    lacks=partial(_NO_ADVICE, rest="the player whom the Sheriff named is a Werewolf"),
)


@measure("days led", SHARE, "roles", units="days", split=("role",))
def days_led_by_role(game: ObservedGame) -> Parts:
    """Share of the days with a Sheriff on which the Sheriff has that role."""
    led = [day for day in game.days if day.sheriff is not None]
    roles = sorted(set(game.record.roles))
    return {(role,): _floats(sum(leadership.led_by(day, role) for day in led), len(led)) for role in roles}


def _by_leader(game: ObservedGame, metric: DayMetric) -> Parts:
    """By role: a game with such a Sheriff is a case, with or without a value."""
    roles = {day.roles[day.sheriff] for day in game.days if day.sheriff is not None}
    return {(role,): _one(mean_over_days(game.days, metric, role)) for role in sorted(roles)}


@measure("Ratio", MEAN, "roles", unit="plain", split=("role",), reference=1.0)
def ratio_by_role(game: ObservedGame) -> Parts:
    """Ratio on days whose Sheriff holds that role (002 Fig. 2)."""
    return _by_leader(game, ratio)


@measure("same role, no Sheriff", MEAN, "roles", unit="plain", split=("role",))
def peer_ratio_by_role(game: ObservedGame) -> Parts:
    """Ratio's quotient of the living players of that role who are not Sheriff: the null of the Ratio."""
    return {(role,): (value, 1.0) for role, value in game.peer_ratios.items()}


@measure("difference", APART, "roles", unit="plain", split=("role",), signed=True)
def ratio_over_peers_by_role(game: ObservedGame) -> Parts:
    """Ratio of Sheriffs of that role minus that null: the effect of the office, and of other differences
    between the Sheriff's player and the others.
    """
    ratios, nulls, nothing = ratio_by_role(game), peer_ratio_by_role(game), (0.0, 0.0)
    roles = sorted(ratios.keys() | nulls.keys())
    return {role: (*(ratios.get(role) or nothing), *(nulls.get(role) or nothing)) for role in roles}


@measure("DC", MEAN, "roles", bounds=UNIT, split=("role",), needs=NEEDS_STRAW_POLL)
def dc_by_role(game: ObservedGame) -> Parts:
    """DC on days whose Sheriff holds that role."""
    return _by_leader(game, dc)


@measure("DC, polled twice", MEAN, "roles", bounds=UNIT, split=("role",), needs=NEEDS_TWO_STRAW_POLLS)
def dc_retest_by_role(game: ObservedGame) -> Parts:
    """The null of DC on days whose Sheriff holds that role."""
    return _by_leader(game, dc_retest)


def _persuading(name: str, label: str, says: str, needs: Needs = NEEDS_STRAW_POLL, **which: bool) -> None:
    def counts(game: ObservedGame) -> Sums:
        known = [
            day_counts
            for day in game.days
            if (day_counts := leadership.persuasion_counts(day, **which)) is not None
        ]
        silent = sum(leadership.persuasion_counts(day) is None for day in game.days)
        return _floats(*(sum(day_counts[k] for day_counts in known) for k in range(3)), silent)

    def turns(game: ObservedGame) -> Mapping[str, tuple[float, float]]:
        return {
            ask: (float(won), 1.0)
            for day in game.days
            for ask, won in leadership.persuaded_votes(day, **which).items()
        }

    fields: dict[str, Any] = {"units": "followers", "bounds": SIGNED, "needs": needs, "reference": 0.0}
    _enter(name, label, WON_OVER, "words", says, counts, turns=turns, **fields)


_persuading(
    "persuasion",
    "persuasion rate",
    "(a₁ − a₀) / (1 − a₀), where a₀ and a₁ are the shares for the recommended player before and after the "
    "Sheriff speaks (DellaVigna and Gentzkow 2010).",
)
_persuading(
    "persuasion_wolf",
    "persuasion rate, to a Werewolf",
    "The persuasion rate of recommended Werewolves.",
    wolf=True,
)
_persuading(
    "persuasion_other",
    "persuasion rate, to another",
    "The persuasion rate of recommended players who are not Werewolves.",
    wolf=False,
)
_persuading(
    "persuasion_retest",
    "persuasion rate, polled twice",
    "Null of the persuasion rate: a second straw poll in place of the vote.",
    NEEDS_TWO_STRAW_POLLS,
    retest=True,
)


# -- forks ------------------------------------------------------------------------------------------


def _x_turns(game: ObservedGame) -> Mapping[str, tuple[float, float]]:
    return _turns(forks.x_ballots(game.record, game.days))


@measure("votes for X", SHARE, "forks", units="votes", headline=True, compared=True, turns=_x_turns)
def votes_for_x(game: ObservedGame) -> Sums | None:
    """Share of the votes on the day of a fork's turn that are for X; those of its speaker, of X and of Y are
    left out. The identified persuasion is its difference between forks that ask for X and forks that ask for
    Y.
    """
    counted = forks.x_votes(game.record, game.days)
    return None if counted is None else _floats(*counted)


# -- the person at the table ------------------------------------------------------------------------


def _of_person(
    name: str,
    label: str,
    says: str,
    metric: Callable[[Day, int], float | None],
    *,
    kinds: tuple[str, ...] = _JUDGED,
    lacks: Lacks = _NO_JUDGEMENT,
    **fields: Any,
) -> None:
    """A mean over the days on which the person voted, then over games (002 §4.3)."""

    def values(game: ObservedGame) -> Mapping[int, float]:
        seat = game.person
        assert seat is not None
        return values_by_day(game.days_of_person, lambda day: metric(day, seat))

    def why(game: ObservedGame, day: Day) -> str:
        if day not in game.days_of_person:
            return "the person did not vote"
        return "the person was Sheriff" if day.sheriff == game.person else lacks(day)

    _over_days(name, label, "people", says, ByDay(values, kinds, why), **fields)


_of_person(
    "person_ratio",
    "Ratio of the person",
    "How far the person at the table believes the Sheriff, divided by how far it believes the other living "
    "players (002 Table 3). No value while the person is Sheriff.",
    person_ratio,
    unit="plain",
    needs=NEEDS_RATINGS,
    headline=True,
    reference=1.0,
)
_of_person(
    "person_ratio_before",
    "Ratio of the person before the statement",
    "The person's Ratio, from the trust asked for before the Sheriff's statement.",
    person_ratio_before,
    kinds=("rate-before-sheriff",),
    lacks=_NO_LAST_WORD,
    unit="plain",
    needs=NEEDS_TRUST_BEFORE,
    reference=1.0,
)
_of_person(
    "person_trust_moved",
    "trust of the person in the Sheriff, moved",
    "How much further the person believes the Sheriff after its statement than before it, in points of 1 to "
    "10.",
    person_moved,
    kinds=_TRUSTED_TWICE,
    lacks=_NO_LAST_WORD,
    unit="one",
    needs=NEEDS_TRUST_TWICE,
    signed=True,
    reference=0.0,
)
_of_person(
    "person_dc",
    "DC of the person",
    "Share of the days on which the straw vote of the person at the table was not the Sheriff's vote and its "
    "real vote is (002 Table 3).",
    person_dc,
    kinds=_POLLED,
    lacks=_NO_POLL,
    bounds=UNIT,
    needs=NEEDS_STRAW_POLL,
    headline=True,
)
_of_person(
    "person_correlation",
    "correlation with agents",
    "Mean of Spearman's correlation of the person's judgements with each living agent's, over the players "
    "whom both have judged (three at least, neither of the two among them; 002 Table 3).",
    person_correlation,
    unit="plain",
    bounds=SIGNED,
    needs=NEEDS_RATINGS,
    headline=True,
    signed=True,
    reference=0.0,
)


# -- who believes whom ------------------------------------------------------------------------------


@measure("reliability", POOLED, "beliefs", unit="one", units="judgements", split=("day", "rater", "target"))
def reliability(game: ObservedGame) -> Parts:
    """Mean m at the vote, from 1 (surely a Werewolf) to 10 (surely not), by day, role of the rater and role
    of the player judged; the Sheriff is separate.
    """
    return _pooled(
        ((day.round, day.roles[rater], "Sheriff" if target == day.sheriff else day.roles[target]), float(m))
        for day in game.days
        for (rater, target), m in day.matrix().items()
    )


@measure("reliability", POOLED, "beliefs", unit="one", units="judgements", split=("player",))
def reliability_by_player(game: ObservedGame) -> Parts:
    """Mean m at the vote over all judgements of one player (model and recipe)."""
    return _pooled(
        ((game.judges[day.round, rater],), float(m))
        for day in game.days
        for (rater, _), m in day.matrix().items()
    )


# -- what is asked of the others --------------------------------------------------------------------


def _guessing(game: ObservedGame, value: Callable[[AskedGuess], float]) -> Sums | None:
    asked = game.asked_guesses
    return (sum(map(value, asked)), float(len(asked))) if asked else None


def _guesses_by(
    game: ObservedGame, key: Callable[[AskedGuess], PartKey], value: Callable[[AskedGuess], float]
) -> Parts:
    return _pooled((key(guess), value(guess)) for guess in game.asked_guesses)


def _right(guess: AskedGuess) -> float:
    return float(guess.right)


def _chance(guess: AskedGuess) -> float:
    return guess.chance


def _above(guess: AskedGuess) -> float:
    return guess.right - guess.chance


def _guess_turns(value: Callable[[AskedGuess], float]) -> TurnSums:
    return lambda game: _summed((guess.ask, value(guess)) for guess in game.asked_guesses)


_guessed = partial(measure, section="asked", units="guesses", needs=NEEDS_GUESSES)
GUESSED_BY: Mapping[str, Callable[[ObservedGame, AskedGuess], PartKey]] = {
    "round": lambda game, guess: (guess.round,),
    "player": lambda game, guess: (game.askers[guess.ask],),
    "probe": lambda game, guess: (guess.probe,),
}
"""The dimensions by which guesses of roles are split."""


@_guessed("roles guessed right", SHARE, turns=_guess_turns(_right))
def guesses_right(game: ObservedGame) -> Sums | None:
    """Share of the roles that the village side guesses right where a probe asks for them."""
    return _guessing(game, _right)


@_guessed("by chance", POOLED, bounds=UNIT, turns=_guess_turns(_chance))
def guesses_by_chance(game: ObservedGame) -> Sums | None:
    """The chance level of these guesses: drawing the role from the cards in play, without one's own."""
    return _guessing(game, _chance)


@_guessed(
    "above chance",
    POOLED,
    unit="points",
    bounds=SIGNED,
    signed=True,
    reference=0.0,
    turns=_guess_turns(_above),
)
def guesses_above_chance(game: ObservedGame) -> Sums | None:
    """Roles guessed right minus the chance level."""
    return _guessing(game, _above)


def _guesses_by_part(of: str) -> None:
    def by(value: Callable[[AskedGuess], float]) -> SplitCounting:
        return lambda game: _guesses_by(game, lambda guess: GUESSED_BY[of](game, guess), value)

    fields: dict[str, Any] = {"split": (of,), "units": "guesses", "needs": NEEDS_GUESSES}
    says = f"Share of the roles guessed right, of one {of}."
    _enter(f"guesses_right_by_{of}", "roles guessed right", SHARE, "asked", says, by(_right), **fields)
    fields["bounds"] = UNIT
    says = f"The chance level of guesses of one {of}."
    _enter(f"guesses_by_chance_by_{of}", "by chance", POOLED, "asked", says, by(_chance), **fields)


for _of in GUESSED_BY:
    _guesses_by_part(_of)


def _asked_trust(
    name: str,
    label: str,
    says: str,
    metric: DayMetric,
    kinds: tuple[str, ...] = _TRUSTED_TWICE,
    **fields: Any,
) -> None:
    _over_days(name, label, "asked", says, _of_days(metric, kinds, _NO_LAST_WORD), **fields)


_asked_trust(
    "trust_moved",
    "trust in the Sheriff, moved by its statement",
    "How much further the others believe the Sheriff after its statement than before it, in points of 1 to "
    "10: mean over those asked at both moments. No value where the Sheriff does not speak last.",
    leadership.trust_moved,
    unit="one",
    signed=True,
    reference=0.0,
    needs=NEEDS_TRUST_TWICE,
)
_asked_trust(
    "trust_moved_others",
    "trust in others, moved by it",
    "The same for trust in the other living players: the effect of any statement.",
    partial(leadership.trust_moved, others=True),
    unit="one",
    signed=True,
    reference=0.0,
    needs=NEEDS_TRUST_TWICE,
)
_asked_trust(
    "ratio_before",
    "Ratio before the Sheriff's statement",
    "Ratio from the trust asked for before the Sheriff's statement; Ratio itself is from the vote.",
    leadership.asked_ratio,
    ("rate-before-sheriff",),
    unit="plain",
    reference=1.0,
    needs=NEEDS_TRUST_BEFORE,
    stratified="always",
)


# -- how they end ----------------------------------------------------------------------------------


@measure("village wins", SHARE, "play", at_end=True, headline=True, stratified="drawn")
def village_win(game: ObservedGame) -> Sums:
    """Share of all finished games that the village won."""
    return float(village_won(game.record) is True), 1.0


@measure("Werewolf wins", SHARE, "play", at_end=True, stratified="drawn")
def wolf_win(game: ObservedGame) -> Sums:
    """Share of all finished games that the Werewolves won."""
    return float(village_won(game.record) is False), 1.0


@measure("neither side wins", SHARE, "play", at_end=True, stratified="drawn")
def no_winner(game: ObservedGame) -> Sums:
    """Share of finished games that stopped before a side had won: at the round limit, at the death of an
    assigned Sheriff, or when a player left without whom the game stops.
    """
    return float(village_won(game.record) is None), 1.0


def _own(game: ObservedGame, wolf: bool) -> Sums | None:
    assert game.options.watched is not None
    return _one(won_as(game.record, game.options.watched, wolf))


@measure("own wins as the village", SHARE, "play", at_end=True, group="watched", headline=True)
def watched_village_win(game: ObservedGame) -> Sums | None:
    """Wins of the watched seat's side in games in which the seat is of the village."""
    return _own(game, wolf=False)


@measure("own wins as a Werewolf", SHARE, "play", at_end=True, group="watched", headline=True)
def watched_wolf_win(game: ObservedGame) -> Sums | None:
    """Wins of the watched seat's side in games in which the seat is a Werewolf."""
    return _own(game, wolf=True)


@measure("own wins, each side half", HALVES, "play", at_end=True, group="watched", bounds=UNIT, headline=True)
def watched_win(game: ObservedGame) -> Sums:
    """The mean of the watched seat's wins as the village and as a Werewolf, so that each side counts half
    regardless of the cards (004's human evaluation).
    """
    nothing = (0.0, 0.0)
    return *(_own(game, wolf=False) or nothing), *(_own(game, wolf=True) or nothing)


@measure(
    "village votes for a Werewolf",
    SHARE,
    "play",
    units="votes",
    turns=lambda game: _turns(play.village_ballots(game.days)),
)
def votes_for_wolves(game: ObservedGame) -> Sums:
    """Share of the votes cast by the village side that were for a Werewolf."""
    ballots = village_votes(game.days)
    return _floats(ballots.hits, ballots.cast)


@measure(
    "village votes not cast",
    SHARE,
    "play",
    units="votes",
    turns=lambda game: _turns({ask: hit is None for ask, hit in play.village_ballots(game.days).items()}),
)
def abstained(game: ObservedGame) -> Sums:
    """Share of the village side's votes that were not cast, unusable ones among them."""
    ballots = village_votes(game.days)
    return _floats(ballots.abstained, ballots.cast + ballots.abstained)


@measure("Werewolves among those voted out", SHARE, "play", units="players out")
def voted_out_wolves(game: ObservedGame) -> Sums:
    """Share of the players voted out who were Werewolves."""
    return _floats(*eliminations(game.days))


@measure(
    "chances to shoot taken",
    SHARE,
    "play",
    units="chances",
    turns=lambda game: _turns(
        {ask: hit is not None for ask, hit in play.chances_to_shoot(game.record).items()}
    ),
)
def shots_taken(game: ObservedGame) -> Sums:
    """Share of the chances to shoot (a Hunter's, as it leaves) that are taken; stand-ins are left out."""
    shots = play.shots_of(game.record)
    return _floats(shots.fired, shots.chances)


@measure(
    "shots at a Werewolf",
    SHARE,
    "play",
    units="shots",
    turns=lambda game: _turns(play.chances_to_shoot(game.record)),
)
def shots_at_wolves(game: ObservedGame) -> Sums:
    """Share of the shots that hit a Werewolf."""
    shots = play.shots_of(game.record)
    return _floats(shots.hits, shots.fired)


@measure("alive at the end", SHARE, "play", units="seats", split=("role",))
def survival_by_role(game: ObservedGame) -> Parts:
    """Share of a role's seats that live to the end."""
    return {(role,): _floats(*counts) for role, counts in sorted(play.survivors_by_role(game.record).items())}


# -- what is chosen among ---------------------------------------------------------------------------


def _offer_turns(game: ObservedGame) -> Mapping[str, tuple[float, float]]:
    return _summed((ask, float(offer.asked > 0)) for ask, offer in game.offers)


@measure("choices among fewer than asked for", SHARE, "chosen", units="choices", turns=_offer_turns)
def fewer_candidates(game: ObservedGame) -> Sums | None:
    """Share of the choices among candidates for which the model gave fewer than it was asked for."""
    added = _offer_turns(game).values()
    return _floats(sum(fewer for fewer, _ in added), sum(n for _, n in added)) if added else None


# -- who is guessed ---------------------------------------------------------------------------------


def _over_guesses(game: ObservedGame, value: Callable[[RoleGuess], float]) -> Sums | None:
    return (sum(map(value, game.guesses)), float(len(game.guesses))) if game.guesses else None


def _judgement_turns(value: Callable[[RoleGuess], float]) -> TurnSums:
    return lambda game: _summed((f"{guess.day}/vote/{guess.rater}", value(guess)) for guess in game.guesses)


def _is_right(guess: RoleGuess) -> float:
    return float(guess.right)


def _is_uncertain(guess: RoleGuess) -> float:
    return float(guess.guess == UNCERTAIN)


@measure("accuracy", SHARE, "deduction", units="judgements", turns=_judgement_turns(_is_right))
def accuracy(game: ObservedGame) -> Sums | None:
    """Share of the village side's judgements that name the exact role; “Uncertain” is never right."""
    return _over_guesses(game, _is_right)


@measure("accuracy", SHARE, "deduction", units="judgements", split=("player",))
def accuracy_by_player(game: ObservedGame) -> Parts:
    """The accuracy of one player (model and recipe) among those that judge."""
    return _pooled(((game.judges[guess.day, guess.rater],), float(guess.right)) for guess in game.guesses)


@measure("“Uncertain” guesses", SHARE, "deduction", units="judgements", turns=_judgement_turns(_is_uncertain))
def uncertain(game: ObservedGame) -> Sums | None:
    """Share of the judgements that name no role."""
    return _over_guesses(game, _is_uncertain)


_BRIER = attrgetter("brier")


@measure("Brier score", POOLED, "deduction", unit="plain", units="judgements", turns=_judgement_turns(_BRIER))
def brier(game: ObservedGame) -> Sums | None:
    """Σ(p − truth)² of a judgement as a distribution, from 0 (sure and right) to 2 (sure and wrong)."""
    return _over_guesses(game, _BRIER)


_OF_CARDS = attrgetter("prior_brier")


@measure(
    "Brier score, cards alone",
    POOLED,
    "deduction",
    unit="plain",
    units="judgements",
    turns=_judgement_turns(_OF_CARDS),
)
def prior_brier(game: ObservedGame) -> Sums | None:
    """The Brier score of knowing only the cards in play and one's own."""
    return _over_guesses(game, _OF_CARDS)


@measure(
    "skill of guesses", GAINED, "deduction", units="judgements", signed=True, turns=_judgement_turns(_BRIER)
)
def brier_skill(game: ObservedGame) -> Sums | None:
    """1 − Brier score / Brier score of the cards alone: 0 is no better than the cards."""
    scores, of_cards = brier(game), prior_brier(game)
    return None if scores is None or of_cards is None else (scores[0], of_cards[0], scores[1])


@measure("right", SHARE, "deduction", units="judgements", split=("confidence",))
def calibration(game: ObservedGame) -> Parts:
    """Share of the guesses of one stated confidence (5 to 10) that were right."""
    return _by_confidence(game, lambda guess: float(guess.right))


@measure("stated", POOLED, "deduction", units="judgements", split=("confidence",))
def stated_by_confidence(game: ObservedGame) -> Parts:
    """The probability that such a confidence states, on average."""
    return _by_confidence(game, lambda guess: guess.stated)


def _by_confidence(game: ObservedGame, value: Callable[[RoleGuess], float]) -> Parts:
    return _pooled(
        ((guess.confidence,), value(guess))
        for guess in sorted(game.guesses, key=lambda guess: guess.confidence)
        if guess.guess != UNCERTAIN and guess.confidence in CONFIDENCES
    )


# -- conduct ----------------------------------------------------------------------------------------


def _both_read(game: ObservedGame) -> bool:
    """Whether enough of both sides' statements could be read."""
    return all(side in game.conduct.read_sides for side in SIDES)


def _reasonable_turns(game: ObservedGame) -> Mapping[str, tuple[float, float]]:
    if not _both_read(game):
        return {}
    judged = judged_replies(game.view, game.record, game.seen)
    return _turns({ask: not wrong for ask, wrong in judged.items()})


@measure("reasonable by rule", SHARE, "reasonable", units="replies", turns=_reasonable_turns)
def reasonable(game: ObservedGame) -> Sums | None:
    """Share of replies that no rule objects to: usable, no failure, no hallucination (003 Fig. 4 had people
    judge). Statements that could not be read are left out, and games in which most of a side's could not.
    """
    return _floats(*game.conduct.reasonable) if _both_read(game) else None


@measure("decisions with advice", SHARE, "advice", units="decisions")
def decisions_advised(game: ObservedGame) -> Sums:
    """Share of the decisions of players with experience for which past games gave a suggestion."""
    return _floats(*game.conduct.suggested)


@measure("village votes passed", SHARE, "advice", units="votes")
def votes_passed(game: ObservedGame) -> Sums:
    """Share of the village side's usable votes that were not cast."""
    return _floats(*game.conduct.passed)


@measure(
    "advice followed",
    HEEDED,
    "advice",
    units="votes advised to act",
    bounds=UNIT,
    reference=0.0,
)
def advice_followed(game: ObservedGame) -> Sums:
    """1 − (passed among votes advised to act) / (passed among votes without advice): 0 if advice changes
    nothing, 1 if nobody who is advised to act passes.
    """
    votes = game.conduct.votes
    return _floats(*votes.get(ADVISED, (0, 0)), *votes.get(NOT_ADVISED, (0, 0)))


def behaviour_name(name: str) -> str:
    """The name of a behaviour of `metrics.behaviours` in words."""
    return name.replace("_", " ").replace("self exposure", "self-exposure")


def _behaviour(name: str, side: SideName) -> None:
    """Add two measures: how often per game a side shows a behaviour, and the share of games."""

    def times(game: ObservedGame) -> Sums | None:
        return _one(game.conduct.behaviours.get((name, side), 0)) if side in game.conduct.read_sides else None

    def ever(game: ObservedGame) -> Sums | None:
        shown = times(game)
        return None if shown is None else _one(shown[0] > 0)

    def turns(game: ObservedGame) -> Mapping[str, tuple[float, float]]:
        if side not in game.conduct.read_sides:
            return {}
        seen = (one for one in game.seen if (one.behaviour, game.view.side(one.seat)) == (name, side))
        return _summed((one.ask, 1.0) for one in seen)

    behaviour, whose = behaviour_name(name), SIDE_NAMES[side]
    label, shows = f"{behaviour}, {whose}", "show" if side == "werewolves" else "shows"
    says = f"How often a game the {whose} {shows} {behaviour}."
    _enter(f"{name}_{side}", label, MEAN, "behaviours", says, times, unit="plain", turns=turns)
    says = f"Share of games in which the {whose} {shows} {behaviour} at all."
    _enter(
        f"{name}_{side}_games",
        f"games with {label}",
        MEAN,
        "behaviours",
        says,
        ever,
        bounds=UNIT,
        turns=turns,
    )


for _name in BEHAVIOURS:
    for _side in SIDES:
        _behaviour(_name, _side)


def _contradicting(name: SideName) -> None:
    """Add the measure of one side's statements that contradict what their speakers know."""

    def counts(game: ObservedGame) -> Sums | None:
        if name not in game.conduct.read_sides:
            return None
        of_side = [
            spoken
            for role, spoken in game.conduct.spoken.items()
            if ROLES[role].wolf == (name == "werewolves")
        ]
        return _floats(sum(one.contradicting for one in of_side), sum(one.statements for one in of_side))

    def turns(game: ObservedGame) -> Mapping[str, tuple[float, float]]:
        if name not in game.conduct.read_sides:
            return {}
        return _turns(
            {
                truth.statement.ask: bool(truth.contradictions)
                for truth in statement_truths(game.view)
                if game.view.side(truth.statement.seat) == name
                and truth.statement.ask not in game.record.shared
            }
        )

    whose = SIDE_NAMES[name]
    _enter(
        f"contradictions_{name}",
        f"statements against own knowledge, {whose}",
        SHARE,
        "behaviours",
        f"Share of the statements of the {whose} that contradict what the speaker knows: another role, a "
        "result that it did not get, an accusation or a defence against better knowledge.",
        counts,
        units="statements",
        turns=turns,
    )


for _side in SIDES:
    _contradicting(_side)


def _read_roles(game: ObservedGame) -> Mapping[str, SpokenTruth]:
    """The statements by role, of the sides that could be read."""
    sides = game.conduct.read_sides
    return {
        role: spoken
        for role, spoken in game.conduct.spoken.items()
        if ("werewolves" if ROLES[role].wolf else "village") in sides
    }


@measure("statements against own knowledge", SHARE, "behaviours", units="statements", split=("role",))
def contradictions_by_role(game: ObservedGame) -> Parts:
    """Share of the statements of one role that contradict what the speaker knows."""
    return {(role,): _floats(one.contradicting, one.statements) for role, one in _read_roles(game).items()}


@measure("results withheld", SHARE, "behaviours", units="statements", split=("role",))
def withheld_by_role(game: ObservedGame) -> Parts:
    """Share of the statements of players with a check result after which a result is still untold."""
    return {
        (role,): _floats(one.withholding, one.with_results)
        for role, one in _read_roles(game).items()
        if one.with_results
    }


def _trusting(
    name: str,
    label: str,
    says: str,
    value: Callable[[tuple[TrustTable, ...]], float | None],
    **fields: Any,
) -> None:
    """Add a measure of trust for the game and by day. Games without that day, or in which most of a side's
    statements could not be read, do not count.
    """

    def whole(game: ObservedGame) -> Sums | None:
        tables = game.conduct.trust if _both_read(game) else ()
        return _one(value(tables)) if tables else None

    def by_day(game: ObservedGame) -> Parts:
        tables = game.conduct.trust if _both_read(game) else ()
        days = {(table.day,): _one(value((table,))) for table in tables}
        return {day: sums for day, sums in days.items() if sums is not None}

    _enter(f"trust_{name}", label, POOLED, "trust", says, whole, **fields)
    says = f"{says[:-1]}: of one day, in the games that reached it."
    _enter(f"trust_{name}_by_day", label, POOLED, "trust", says, by_day, split=("day",), **fields)


def _relations(tables: tuple[TrustTable, ...]) -> float | None:
    """None if only one player was alive."""
    if not all(table.pairs for table in tables):
        return None
    return sum(len(table.relations) / table.pairs for table in tables) / len(tables)


def _pairs(tables: tuple[TrustTable, ...], which: str) -> float:
    return float(sum(len(getattr(table, which)) for table in tables))


_trusting(
    "relations",
    "pairs with trust",
    "Share of the ordered pairs of the living in which one shows trust in the other (003's trust tables).",
    _relations,
    bounds=UNIT,
)
_trusting(
    "established",
    "trust established",
    "Pairs with trust that did not exist the day before, per game.",
    partial(_pairs, which="established"),
    unit="one",
)
_trusting(
    "dissolved",
    "trust dissolved",
    "Pairs with trust that are gone the day after, both still living, per game.",
    partial(_pairs, which="dissolved"),
    unit="one",
)
_trusting(
    "reciprocal",
    "reciprocal pairs",
    "Pairs that trust each other, per game.",
    partial(_pairs, which="reciprocal"),
    unit="one",
)


# -- replies and calls ------------------------------------------------------------------------------


def _unusable(replies: Replies) -> Sums:
    return _floats(replies.mistakes, replies.attempts, replies.fallbacks, replies.turns)


def _stood_in(replies: Replies) -> Sums:
    return _floats(replies.stand_ins, replies.decisions, replies.fallbacks, replies.turns)


def _last_taken(replies: Replies) -> Sums:
    return _floats(replies.last_taken, replies.attempts)


def _illegal(replies: Replies) -> Sums:
    return _floats(replies.illegal, replies.choices)


def _reply_turns(counts: Callable[[Replies], Sums]) -> TurnSums:
    """What each turn adds to a share of replies."""

    def turns(game: ObservedGame) -> Mapping[str, tuple[float, float]]:
        first = 0 if counts(game.replies)[1] else -2  # EITHER: the first two sums, or the last
        found = {turn.ask: counts(play.replies_in(game.record, [turn])) for turn in game.reported_turns}
        return {
            ask: (sums[first], sums[first + 1])
            for ask, sums in found.items()
            if sums[first] or sums[first + 1]
        }

    return turns


@measure(
    "invalid replies",
    EITHER,
    "replies",
    unit="out_of",
    units="calls",
    also="turns",
    void=True,
    headline=True,
    turns=_reply_turns(_unusable),
)
def invalid(game: ObservedGame) -> Sums:
    """Share of model calls, retries included, whose reply could not be used; for agents without a model, of
    their turns. If a language model plays, only language models count.
    """
    return _unusable(game.replies)


@measure(
    "illegal actions",
    SHARE,
    "replies",
    unit="out_of",
    units="choices",
    void=True,
    headline=True,
    turns=_reply_turns(_illegal),
)
def illegal(game: ObservedGame) -> Sums:
    """Of the decisions among listed options that took a call: the share in which a reply could be read but
    named what was not allowed then, such as a vote for a dead player, even if a retry corrected it. A reply
    without a readable choice is invalid, not illegal. If a language model plays, only language models count.
    """
    return _illegal(game.replies)


@measure(
    "last answers taken",
    SHARE,
    "replies",
    unit="out_of",
    units="calls",
    void=True,
    turns=_reply_turns(_last_taken),
)
def several_answers(game: ObservedGame) -> Sums:
    """Share of model calls whose reply had several different answers, of which the last was taken because no
    retry gave a single answer. They do not count as invalid replies.
    """
    return _last_taken(game.replies)


@measure(
    "statements not read",
    SHARE,
    "replies",
    unit="out_of",
    units="statements",
    turns=lambda game: _turns(game.unread),
)
def unread(game: ObservedGame) -> Sums | None:
    """Share of the statements that could not be read because they are not English. Behaviours, trust,
    recommendations and replies that a rule objects to are counted without them. If most of a side's
    statements in a game could not be read, its behaviours in that game are missing, and so are the game's
    trust and its replies that a rule objects to.
    """
    return _floats(*game.statements) if game.statements[1] else None


@measure(
    "stand-ins",
    EITHER,
    "replies",
    unit="out_of",
    units="decisions",
    void=True,
    headline=True,
    turns=_reply_turns(_stood_in),
)
def stand_ins(game: ObservedGame) -> Sums:
    """Share of the decisions by a model or your own agent that got no usable reply, so that the rules'
    stand-in was applied; if no model was called, of all decisions. If a language model plays, only language
    models count.
    """
    return _stood_in(game.replies)


@measure(
    "invalid replies",
    EITHER,
    "replies",
    unit="out_of",
    units="calls",
    also="turns",
    split=("player",),
    void=True,
)
def invalid_by_player(game: ObservedGame) -> Parts:
    """The share of invalid replies of one player (model and recipe)."""
    return {(str(player),): _unusable(replies) for player, replies in game.replies_by_player.items()}


@measure("stand-ins", EITHER, "replies", unit="out_of", units="decisions", split=("player",), void=True)
def stand_ins_by_player(game: ObservedGame) -> Parts:
    """The share of stand-ins among the decisions of one player (model and recipe)."""
    return {(str(player),): _stood_in(replies) for player, replies in game.replies_by_player.items()}


def _spent(game: ObservedGame, of: Callable[[Usage], float]) -> Sums | None:
    """None for a game whose totals of calls are not known."""
    return None if game.unknown_calls else (float(of(game.calls.usage)), 1.0)


@measure("calls a game", MEAN, "cost", unit="large", headline=True)
def calls(game: ObservedGame) -> Sums:
    """Model calls per finished game; if a language model plays, only those of language models."""
    return float(game.unknown_calls or game.calls.calls), 1.0


@measure("prompt tokens a game", MEAN, "cost", unit="large", headline=True)
def prompt_tokens(game: ObservedGame) -> Sums | None:
    """Tokens sent in a finished game."""
    return _spent(game, lambda usage: usage.prompt_tokens)


@measure("prompt tokens cached", MEAN, "cost", bounds=UNIT)
def cached_share(game: ObservedGame) -> Sums | None:
    """Share of a finished game's prompt tokens that servers read from a cache, averaged over games. A server
    that does not say counts as 0.
    """
    sent = game.calls.usage.prompt_tokens
    return _one(game.calls.usage.cached_tokens / sent) if sent else None


@measure("completion tokens a game", MEAN, "cost", unit="large", headline=True)
def completion_tokens(game: ObservedGame) -> Sums | None:
    """Tokens written in a finished game."""
    return _spent(game, lambda usage: usage.completion_tokens)


@measure("USD a game", MEAN, "cost", unit="usd", headline=True)
def cost(game: ObservedGame) -> Sums | None:
    """What a finished game cost, by the prices given."""
    return _spent(game, lambda usage: usage.cost)


def unknown_measure(name: str) -> str | None:
    """The error for a name that is no measure with one number for each condition; None for one that is."""
    if name in MEASURES:
        return None
    if name in SPLITS:
        return f"{name!r} has a number for each {' and '.join(SPLITS[name].split)}; name another measure"
    if (now := current_measure(name)) != name:
        return f"{name!r} is called {now!r} now; write that"
    near = get_close_matches(name, MEASURES, 3, 0.5)
    like = f"; near are {', '.join(near)}" if near else ""
    return f"there is no measure {name!r}{like}; `wolflab measures` lists them all"
