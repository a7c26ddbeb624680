"""Every measure, in the order of the tables. A new measure is one entry here.

An entry is a function of one game, under the measure's name: its docstring is the sentence that says what the
measure is, what it returns are the sums that the game contributes (see `measure.Formula`). From the entries
follow the page, the terminal, `report.json`, what conditions can be compared on, drawn along or planted with,
and the table in `docs/metrics.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

from ..stats.intervals import UNIT
from ..usage import Usage
from .behaviours import BEHAVIOURS as KINDS
from .behaviours import SIDES, SideName, TrustTable
from .conduct import ADVISED, NOT_ADVISED
from .days import Day
from .deduction import CONFIDENCES, RoleGuess, named
from .leadership import (
    DayMetric,
    changed,
    dc,
    dc_alive,
    dc_cast,
    dc_others,
    dc_retest,
    dc_words,
    game_mean,
    improvement,
    led_by,
    minus,
    persuasion_counts,
    ratio,
    ratio_over_peers,
    ratio_village,
)
from .measure import (
    APART,
    BEHAVIOURS,
    EITHER,
    GAINED,
    HALVES,
    HEEDED,
    MEAN,
    POOLED,
    RETEST,
    SHARE,
    STRAW,
    WATCHED,
    WON_OVER,
    Counting,
    Formula,
    Group,
    Measure,
    Needs,
    PartKey,
    Section,
    SplitCounting,
    Sums,
    Unit,
)
from .observed import ObservedGame
from .own import won_as
from .play import Replies, eliminations, shots, survival_by_role, village_votes, village_won

Entry = TypeVar("Entry", Counting, SplitCounting)
Parts = dict[PartKey, Sums | None]
SIGNED = (-1.0, 1.0)
SIDE_NAMES: Mapping[SideName, str] = {"village": "village", "werewolves": "Werewolves"}
"""The sides as words, in the order of the tables."""

_ENTRIES: dict[str, Measure] = {}


_GROUPS: Mapping[Section, tuple[Group, ...]] = {
    "leadership": ("sheriff",),
    "roles": ("sheriff",),
    "words": ("sheriff",),
    "beliefs": ("every",),
    "play": ("every", "watched"),
    "deduction": ("deduces",),
    "reasonable": ("conduct",),
    "advice": ("conduct",),
    "behaviours": ("conduct",),
    "trust": ("conduct",),
    "replies": ("every",),
    "cost": ("every",),
}
"""Which measures a section can show: it stands on the page where a condition has them."""
_ASKED_FOR: Mapping[Group, Needs] = {"watched": WATCHED, "conduct": BEHAVIOURS}


def _add(one: Measure) -> None:
    if one.name in _ENTRIES:
        raise ValueError(f"two measures are called {one.name}")
    if one.group not in _GROUPS[one.section]:
        raise ValueError(
            f"{one.name}: the section {one.section!r} shows measures of the group "
            f"{' or '.join(_GROUPS[one.section])}, not of {one.group!r}"
        )
    if one.group in _ASKED_FOR and one.needs is not _ASKED_FOR[one.group]:
        raise ValueError(
            f"{one.name}: a measure of the group {one.group!r} needs {_ASKED_FOR[one.group].words}"
        )
    _ENTRIES[one.name] = one


def measure(label: str, how: Formula, section: Section, **more: Any) -> Callable[[Entry], Entry]:
    """Enter the function below under its name, with its docstring for its sentence. more: of `Measure`."""

    def enter(counts: Entry) -> Entry:
        says = " ".join((counts.__doc__ or "").split())
        _add(Measure(counts.__name__, label, how, section, says, counts, **more))
        return counts

    return enter


def _one(value: float | None) -> Sums | None:
    """A game's value, as a mean over games counts it."""
    return None if value is None else (float(value), 1.0)


def _pair(pair: Iterable[float]) -> Sums:
    return tuple(float(one) for one in pair)


# -- how long games last ----------------------------------------------------------------------------


@measure("rounds a game", MEAN, "play", unit="one", headline=True)
def days(game: ObservedGame) -> Sums:
    """Rounds (a night and a day each) that a game lasted."""
    return float(game.record.facts.round), 1.0


# -- leadership -------------------------------------------------------------------------------------


def _leading(name: str, label: str, says: str, metric: DayMetric, **more: Any) -> None:
    """A mean over days within a game (002: 1/T Σ_t), then over games."""

    def counts(game: ObservedGame) -> Sums | None:
        return _one(game_mean(game.days, metric))

    unit: Unit = "plain" if name.startswith("ratio") else "share"
    _add(Measure(name, label, MEAN, "leadership", says, counts, group="sheriff", **{"unit": unit, **more}))


_leading(
    "ratio",
    "Ratio",
    "How far the others believe the Sheriff, over how far they believe each other: mean of m[i, L] over "
    "i ≠ L, by the mean of m[i, j] over i, j ≠ L, i ≠ j (002 Eq. 11); pairs never judged are left out.",
    ratio,
    headline=True,
)
_leading("ratio_village", "Ratio, village raters", "Ratio with village raters only.", ratio_village)
_leading(
    "ratio_recorded",
    "Ratio, reliability as used",
    "Ratio with the reliability that the agents themselves used.",
    partial(ratio, rule="recorded"),
)
_leading(
    "ratio_wolf_exception",
    "Ratio, Werewolves' exception",
    "Ratio where a Werewolf's guess “Werewolf” counts as trust (002's released code).",
    partial(ratio, rule="wolf_exception"),
)
_leading(
    "ratio_over_peers",
    "Ratio over the role's peers",
    "Ratio minus the mean of the same quotient of living players of the Sheriff's role who are not Sheriff.",
    ratio_over_peers,
    signed=True,
)
_leading(
    "improvement",
    "reliability gained by speaking",
    "(After − before) / before of the Sheriff's mean reliability, at the straw poll and at the vote.",
    improvement,
    needs=STRAW,
    signed=True,
)
_leading(
    "dc",
    "DC",
    "Share of the N − 1 others whose straw vote was not the Sheriff's vote and whose real vote is "
    "(002 Eq. 12).",
    dc,
    bounds=UNIT,
    needs=STRAW,
    headline=True,
)
_leading(
    "dc_alive",
    "DC, divided by N",
    "DC divided by N, as 002's released code does; this one is set beside 002's tables.",
    dc_alive,
    bounds=UNIT,
    needs=STRAW,
)
_leading(
    "dc_cast",
    "DC, Sheriff voted",
    "DC, taken as 0 on days when the Sheriff did not vote.",
    dc_cast,
    bounds=UNIT,
    needs=STRAW,
)
_leading(
    "changed",
    "DC*, any changed vote",
    "Share of the others that changed their vote at all.",
    changed,
    bounds=UNIT,
    needs=STRAW,
)
_leading(
    "dc_retest",
    "DC, polled twice",
    "Null of DC: a second straw poll in place of the vote, with nothing said in between.",
    dc_retest,
    bounds=UNIT,
    needs=RETEST,
)
_leading(
    "dc_over_retest",
    "DC over polled twice",
    "DC minus what it is when players are polled twice.",
    minus(dc, dc_retest),
    unit="points",
    bounds=SIGNED,
    needs=RETEST,
    signed=True,
)
_leading(
    "dc_others",
    "DC towards others",
    "Null of DC: conversion towards each other player's vote in turn, averaged.",
    dc_others,
    bounds=UNIT,
    needs=STRAW,
)
_leading(
    "dc_over_others",
    "DC over towards others",
    "DC minus what it is towards others.",
    minus(dc, dc_others),
    unit="points",
    bounds=SIGNED,
    needs=STRAW,
    signed=True,
)
_leading(
    "dc_words",
    "conversion in words",
    "Share of the others that came over to the player whom the Sheriff recommends in words.",
    dc_words,
    bounds=UNIT,
    needs=STRAW,
)
_leading(
    "dc_words_wolf",
    "conversion in words, to a Werewolf",
    "Conversion in words where the player recommended is a Werewolf.",
    partial(dc_words, wolf=True),
    bounds=UNIT,
    needs=STRAW,
)
_leading(
    "dc_words_other",
    "conversion in words, to another",
    "Conversion in words where the player recommended is none.",
    partial(dc_words, wolf=False),
    bounds=UNIT,
    needs=STRAW,
)


@measure("days led", SHARE, "roles", units="days", group="sheriff", split=("role",))
def led_by_role(game: ObservedGame) -> Parts:
    """Share of the days with a Sheriff on which it holds that role."""
    led = [day for day in game.days if day.sheriff is not None]
    roles = sorted(set(game.record.roles))
    return {(role,): (float(sum(led_by(day, role) for day in led)), float(len(led))) for role in roles}


def _by_leader(game: ObservedGame, metric: DayMetric) -> Parts:
    """A game that had such a Sheriff is a case, with a value or without."""
    roles = {day.roles[day.sheriff] for day in game.days if day.sheriff is not None}
    return {(role,): _one(game_mean(game.days, metric, role)) for role in sorted(roles)}


@measure("Ratio", MEAN, "roles", unit="plain", group="sheriff", split=("role",), reference=1.0)
def ratio_by_role(game: ObservedGame) -> Parts:
    """Ratio on days whose Sheriff holds that role (002 Fig. 2)."""
    return _by_leader(game, ratio)


@measure("same role, no Sheriff", MEAN, "roles", unit="plain", group="sheriff", split=("role",))
def standing_by_role(game: ObservedGame) -> Parts:
    """Ratio's quotient of the living players of that role who are not Sheriff: the null of the Ratio."""
    return {(role,): (value, 1.0) for role, value in game.standings.items()}


@measure("difference", APART, "roles", unit="plain", group="sheriff", split=("role",), signed=True)
def over_standing_by_role(game: ObservedGame) -> Parts:
    """Ratio of Sheriffs of that role minus that null: what is left is the office's share."""
    own, others, nothing = ratio_by_role(game), standing_by_role(game), (0.0, 0.0)
    keys = sorted(own.keys() | others.keys())
    return {key: (*(own.get(key) or nothing), *(others.get(key) or nothing)) for key in keys}


@measure("DC", MEAN, "roles", group="sheriff", bounds=UNIT, split=("role",), needs=STRAW)
def dc_by_role(game: ObservedGame) -> Parts:
    """DC on days whose Sheriff holds that role."""
    return _by_leader(game, dc)


@measure("DC, polled twice", MEAN, "roles", group="sheriff", bounds=UNIT, split=("role",), needs=RETEST)
def dc_retest_by_role(game: ObservedGame) -> Parts:
    """The null of DC on days whose Sheriff holds that role."""
    return _by_leader(game, dc_retest)


def _persuading(name: str, label: str, says: str, needs: Any = STRAW, **which: bool) -> None:
    count: Callable[[Day], tuple[int, int, int] | None] = partial(persuasion_counts, **which)  # type: ignore[arg-type]

    def counts(game: ObservedGame) -> Sums:
        known = [one for day in game.days if (one := count(day)) is not None]
        silent = sum(persuasion_counts(day) is None for day in game.days)
        return *(float(sum(one[k] for one in known)) for k in range(3)), float(silent)

    _add(
        Measure(
            name,
            label,
            WON_OVER,
            "words",
            says,
            counts,
            units="followers",
            group="sheriff",
            bounds=SIGNED,
            needs=needs,
            reference=0.0,
        )
    )


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
    "The persuasion rate of others recommended.",
    wolf=False,
)
_persuading(
    "persuasion_retest",
    "persuasion rate, polled twice",
    "Null of the persuasion rate: a second straw poll in place of the vote.",
    RETEST,
    retest=True,
)


# -- who believes whom ------------------------------------------------------------------------------


@measure("reliability", POOLED, "beliefs", unit="one", units="judgements", split=("day", "rater", "target"))
def reliability(game: ObservedGame) -> Parts:
    """Mean m at the vote, from 1 (surely a Werewolf) to 10 (surely not), by day, role of the rater and role
    of the player judged, the Sheriff apart.
    """
    found: dict[PartKey, tuple[float, float]] = {}
    for day in game.days:
        for (rater, target), m in day.matrix().items():
            if rater in day.alive:
                whom = "Sheriff" if target == day.sheriff else day.roles[target]
                key = (day.round, day.roles[rater], whom)
                total, n = found.get(key, (0.0, 0.0))
                found[key] = total + m, n + 1
    return {**found}


# -- how they end ----------------------------------------------------------------------------------


@measure("village wins", SHARE, "play", headline=True)
def village_win(game: ObservedGame) -> Sums:
    """Share of all finished games that the village won."""
    return float(village_won(game.record) is True), 1.0


@measure("Werewolf wins", SHARE, "play")
def wolf_win(game: ObservedGame) -> Sums:
    """Share of all finished games that the Werewolves won."""
    return float(village_won(game.record) is False), 1.0


@measure("neither side wins", SHARE, "play")
def nobody(game: ObservedGame) -> Sums:
    """Share of finished games that stopped before a side had won: at the round limit, or at the death of an
    assigned Sheriff.
    """
    return float(village_won(game.record) is None), 1.0


def _own(game: ObservedGame, wolf: bool) -> Sums | None:
    assert game.asked.watched is not None
    return _one(won_as(game.record, game.asked.watched, wolf))


@measure("own wins as the village", SHARE, "play", group="watched", needs=WATCHED, headline=True)
def own_village_win(game: ObservedGame) -> Sums | None:
    """Wins of the watched seat's side, in the games in which its card is of the village."""
    return _own(game, wolf=False)


@measure("own wins as a Werewolf", SHARE, "play", group="watched", needs=WATCHED, headline=True)
def own_wolf_win(game: ObservedGame) -> Sums | None:
    """Wins of the watched seat's side, in the games in which its card is a Werewolf's."""
    return _own(game, wolf=True)


@measure(
    "own wins, each side half", HALVES, "play", group="watched", bounds=UNIT, needs=WATCHED, headline=True
)
def own_win(game: ObservedGame) -> Sums:
    """The mean of the watched seat's wins as the village and as a Werewolf, so that each side counts half
    whatever the cards (004's human evaluation).
    """
    nothing = (0.0, 0.0)
    return *(_own(game, wolf=False) or nothing), *(_own(game, wolf=True) or nothing)


@measure("village votes for a Werewolf", SHARE, "play", units="votes")
def vote_hits(game: ObservedGame) -> Sums:
    """Share of the votes cast by the village side that were for a Werewolf."""
    found = village_votes(game.days)
    return float(found.hits), float(found.cast)


@measure("village votes not cast", SHARE, "play", units="votes")
def abstained(game: ObservedGame) -> Sums:
    """Share of the village side's votes that were not cast, unusable ones among them."""
    found = village_votes(game.days)
    return float(found.abstained), float(found.cast + found.abstained)


@measure("Werewolves among those voted out", SHARE, "play", units="players out")
def out_hits(game: ObservedGame) -> Sums:
    """Share of the players voted out who were Werewolves."""
    return _pair(eliminations(game.days))


@measure("chances to shoot taken", SHARE, "play", units="chances")
def shoots(game: ObservedGame) -> Sums:
    """Share of the chances to shoot (a Hunter's, as it leaves) that are taken; stand-ins are left out."""
    found = shots(game.record)
    return float(found.fired), float(found.chances)


@measure("shots at a Werewolf", SHARE, "play", units="shots")
def shot_hits(game: ObservedGame) -> Sums:
    """Share of the shots that hit a Werewolf."""
    found = shots(game.record)
    return float(found.hits), float(found.fired)


@measure("alive at the end", SHARE, "play", units="seats", split=("role",))
def survival(game: ObservedGame) -> Parts:
    """Share of a role's seats that live to the end."""
    found = survival_by_role(game.record)
    return {(role,): _pair(found[role]) for role in sorted(found)}


# -- who is guessed ---------------------------------------------------------------------------------


def _judged(game: ObservedGame, value: Callable[[RoleGuess], float]) -> Sums | None:
    return (sum(map(value, game.judged)), float(len(game.judged))) if game.judged else None


@measure("accuracy", SHARE, "deduction", units="judgements", group="deduces")
def accuracy(game: ObservedGame) -> Sums | None:
    """Share of the village side's judgements that name the exact role; “Uncertain” is never right."""
    return _judged(game, lambda one: float(one.right))


@measure("“Uncertain” guesses", SHARE, "deduction", units="judgements", group="deduces")
def uncertain(game: ObservedGame) -> Sums | None:
    """Share of the judgements that name no role."""
    n = len(game.judged)
    return (float(n - len(named(game.judged))), float(n)) if n else None


@measure("Brier score", POOLED, "deduction", unit="plain", units="judgements", group="deduces")
def brier(game: ObservedGame) -> Sums | None:
    """Σ(p − truth)² of a judgement as a distribution, from 0 (sure and right) to 2 (sure and wrong)."""
    return _judged(game, lambda one: one.brier)


@measure("Brier score, cards alone", POOLED, "deduction", unit="plain", units="judgements", group="deduces")
def prior_brier(game: ObservedGame) -> Sums | None:
    """The Brier score of knowing only the cards in play and one's own."""
    return _judged(game, lambda one: one.prior_brier)


@measure("skill of guesses", GAINED, "deduction", units="judgements", group="deduces", signed=True)
def skill(game: ObservedGame) -> Sums | None:
    """1 − Brier score / Brier score of the cards alone: 0 is no better than the cards."""
    mine, cards = _judged(game, lambda one: one.brier), _judged(game, lambda one: one.prior_brier)
    return None if mine is None or cards is None else (mine[0], cards[0], mine[1])


@measure("right", SHARE, "deduction", units="judgements", group="deduces", split=("confidence",))
def calibration(game: ObservedGame) -> Parts:
    """Share of the guesses of one stated confidence (5 to 10) that were right."""
    return _by_confidence(game, lambda one: float(one.right))


@measure("stated", POOLED, "deduction", units="judgements", group="deduces", split=("confidence",))
def stated(game: ObservedGame) -> Parts:
    """The probability that such a confidence states, on average."""
    return _by_confidence(game, lambda one: one.stated)


def _by_confidence(game: ObservedGame, value: Callable[[RoleGuess], float]) -> Parts:
    guesses = named(game.judged)
    kept = {c: [value(one) for one in guesses if one.confidence == c] for c in CONFIDENCES}
    return {(c,): (sum(values), float(len(values))) for c, values in kept.items() if values}


# -- conduct ----------------------------------------------------------------------------------------


@measure("reasonable by rule", SHARE, "reasonable", units="replies", group="conduct", needs=BEHAVIOURS)
def reasonable(game: ObservedGame) -> Sums:
    """Share of replies that no rule objects to: usable, no failure, no hallucination (003 Fig. 4 had people
    judge).
    """
    return _pair(game.conduct.reasonable)


@measure("decisions with advice", SHARE, "advice", units="decisions", group="conduct", needs=BEHAVIOURS)
def suggested(game: ObservedGame) -> Sums:
    """Share of decisions, of players that have experience, for which past games gave a suggestion."""
    return _pair(game.conduct.suggested)


@measure("village votes passed", SHARE, "advice", units="votes", group="conduct", needs=BEHAVIOURS)
def passed(game: ObservedGame) -> Sums:
    """Share of the village side's usable votes that were not cast."""
    return _pair(game.conduct.passed)


@measure(
    "advice heeded",
    HEEDED,
    "advice",
    units="votes advised to act",
    group="conduct",
    bounds=UNIT,
    needs=BEHAVIOURS,
    reference=0.0,
)
def heeded(game: ObservedGame) -> Sums:
    """1 − (passed among votes advised to act) / (passed among votes without advice): 0 if advice changes
    nothing, 1 if nobody who is advised to act passes.
    """
    votes = game.conduct.votes
    return _pair((*votes.get(ADVISED, (0, 0)), *votes.get(NOT_ADVISED, (0, 0))))


def behaviour_name(name: str) -> str:
    """A behaviour of `metrics.behaviours` as words."""
    return name.replace("_", " ").replace("self exposure", "self-exposure")


def _behaviour(name: str, side: SideName) -> None:
    """How often a game a side shows a behaviour, and in what share of games."""

    def times(game: ObservedGame) -> Sums:
        return float(game.conduct.behaviours.get((name, side), 0)), 1.0

    def ever(game: ObservedGame) -> Sums:
        return float(times(game)[0] > 0), 1.0

    words, whose = behaviour_name(name), SIDE_NAMES[side]
    label, shows = f"{words}, {whose}", "show" if side == "werewolves" else "shows"
    section: Section = "behaviours"
    says = f"How often a game the {whose} {shows} {words}."
    _add(
        Measure(
            f"{name}_{side}", label, MEAN, section, says, times, "plain", group="conduct", needs=BEHAVIOURS
        )
    )
    says = f"Share of games in which the {whose} {shows} {words} at all."
    seen, label = f"{name}_{side}_seen", f"games with {label}"
    _add(Measure(seen, label, MEAN, section, says, ever, group="conduct", bounds=UNIT, needs=BEHAVIOURS))


for _name in KINDS:
    for _side in SIDES:
        _behaviour(_name, _side)


def _trusting(
    name: str,
    label: str,
    says: str,
    value: Callable[[tuple[TrustTable, ...]], float | None],
    bounds: tuple[float, float] | None = None,
) -> None:
    """Over the whole game, and by day. Games that did not reach a day, or have none, are no cases."""

    def whole(game: ObservedGame) -> Sums | None:
        tables = game.conduct.trust
        return _one(value(tables)) if tables else None

    def by_day(game: ObservedGame) -> Parts:
        found = {(table.day,): _one(value((table,))) for table in game.conduct.trust}
        return {key: one for key, one in found.items() if one is not None}

    unit: Unit = "one" if bounds is None else "share"
    more: dict[str, Any] = {"group": "conduct", "bounds": bounds, "needs": BEHAVIOURS}
    _add(Measure(f"trust_{name}", label, POOLED, "trust", says, whole, unit, **more))
    by_name, of_day = f"trust_{name}_by_day", f"{says[:-1]}: of one day, in the games that reached it."
    _add(Measure(by_name, label, POOLED, "trust", of_day, by_day, unit, split=("day",), **more))


def _relations(tables: tuple[TrustTable, ...]) -> float | None:
    """None where somebody was alone."""
    if not all(table.pairs for table in tables):
        return None
    return sum(len(table.relations) / table.pairs for table in tables) / len(tables)


def _changes(tables: tuple[TrustTable, ...], what: str) -> float:
    return float(sum(len(getattr(table, what)) for table in tables))


_trusting(
    "relations",
    "pairs with trust",
    "Share of the ordered pairs of the living in which one shows trust in the other (003's trust tables).",
    _relations,
    UNIT,
)
_trusting(
    "established",
    "trust established",
    "Such pairs a game that there were not the day before.",
    partial(_changes, what="established"),
)
_trusting(
    "dissolved",
    "trust dissolved",
    "Such pairs a game that are gone the day after, both still living.",
    partial(_changes, what="dissolved"),
)
_trusting(
    "reciprocal",
    "reciprocal pairs",
    "Pairs a game that trust each other.",
    partial(_changes, what="reciprocal"),
)


# -- replies and calls ------------------------------------------------------------------------------


def _unusable(one: Replies) -> Sums:
    return _pair((one.mistakes, one.attempts, one.fallbacks, one.turns))


@measure("invalid replies", EITHER, "replies", units="calls", also="turns", void=True, headline=True)
def invalid(game: ObservedGame) -> Sums:
    """Share of model calls whose reply could not be used, retries among them; for agents that call no model,
    of their turns.
    """
    return _unusable(sum(game.replies.values(), Replies()))


@measure("stand-ins", EITHER, "replies", units="decisions", void=True, headline=True)
def stand_ins(game: ObservedGame) -> Sums:
    """Share of the decisions that took a call which got no usable reply, so that the rules' stand-in was
    applied; where no model was called, of all decisions.
    """
    every = [turn for turn in (*game.record.turns, *game.record.probes) if turn.seat >= 0]
    made = [turn for turn in every if turn.made]
    failed = [sum(turn.invalid is not None for turn in turns) for turns in (made, every)]
    return _pair((failed[0], len(made), failed[1], len(every)))


@measure("invalid replies", EITHER, "replies", units="calls", also="turns", split=("player",), void=True)
def invalid_by_player(game: ObservedGame) -> Parts:
    """The share of invalid replies of one player (model and recipe)."""
    return {(str(who),): _unusable(one) for who, one in game.replies.items()}


@measure("stand-ins", SHARE, "replies", units="turns", split=("player",), void=True)
def fallback_by_player(game: ObservedGame) -> Parts:
    """Share of one player's turns for which the rules' stand-in was applied."""
    return {(str(who),): (float(one.fallbacks), float(one.turns)) for who, one in game.replies.items()}


def _spent(game: ObservedGame, of: Callable[[Usage], float]) -> Sums | None:
    """None for a game that comes without what its calls came to."""
    return None if game.made and not game.calls.calls else (float(of(game.calls.usage)), 1.0)


@measure("calls a game", MEAN, "cost", unit="large", headline=True)
def calls(game: ObservedGame) -> Sums:
    """Model calls that a finished game took."""
    return float(game.calls.calls or game.made), 1.0


@measure("prompt tokens a game", MEAN, "cost", unit="large", headline=True)
def prompt_tokens(game: ObservedGame) -> Sums | None:
    """Tokens sent in a finished game."""
    return _spent(game, lambda usage: usage.prompt_tokens)


@measure("completion tokens a game", MEAN, "cost", unit="large", headline=True)
def completion_tokens(game: ObservedGame) -> Sums | None:
    """Tokens written in a finished game."""
    return _spent(game, lambda usage: usage.completion_tokens)


@measure("USD a game", MEAN, "cost", unit="usd", headline=True)
def cost(game: ObservedGame) -> Sums | None:
    """What a finished game cost, by the prices given."""
    return _spent(game, lambda usage: usage.cost)


MEASURES: Mapping[str, Measure] = {name: one for name, one in _ENTRIES.items() if not one.split}
"""Measures with one number a condition: what a contrast, a curve or a planted effect can name."""
SPLITS: Mapping[str, Measure] = {name: one for name, one in _ENTRIES.items() if one.split}
"""Measures with a number for each part."""


def unknown(name: str) -> str | None:
    """What to say of a name that is no measure with one number a condition; None of one that is."""
    if name in MEASURES:
        return None
    if name in SPLITS:
        return f"{name!r} has a number for each {' and '.join(SPLITS[name].split)}; name another measure"
    near = get_close_matches(name, MEASURES, 3, 0.5)
    like = f"; near are {', '.join(near)}" if near else ""
    return f"there is no measure {name!r}{like}; `wolflab measures` lists them all"
