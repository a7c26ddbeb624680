"""From games to the rows of a summary: every estimate of one condition.

Days are averaged within a game, then games within a condition (002 §3.2); pooled shares (votes,
judgements, replies) are sums over sums. Intervals resample deals throughout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..record import GameRecord
from .data import CallTotals, Day, Game, days
from .deduction import CONFIDENCES, Judgement, judgements, named
from .intervals import FEW_DEALS, MIN_DEALS, Estimate, Floats, divide, estimate, mean, share
from .leadership import (
    METRICS,
    DayMetric,
    bounds,
    dc,
    dc_retest,
    game_mean,
    led_by,
    persuasion,
    persuasion_counts,
    ratio,
    ratio_null,
    standing,
)
from .play import (
    Label,
    Replies,
    eliminations,
    labels,
    replies,
    survival,
    village_votes,
    village_won,
)
from .shapes import CalibrationPoint, Cell, Condition, Counts, Deduction, ReplyRow, RoleRow

Row = tuple[int, tuple[float, ...]]


@dataclass(frozen=True)
class Played:
    """One finished game with its days worked out once."""

    game: Game

    @cached_property
    def days(self) -> tuple[Day, ...]:
        """Its finished days."""
        return tuple(day for day in days(self.record) if day.finished)

    @property
    def record(self) -> GameRecord:
        """What was written down."""
        assert self.game.record is not None
        return self.game.record

    @property
    def deal(self) -> int:
        """The deal it belongs to."""
        return self.game.deal


def draws_of(played: Sequence[Played]) -> list[int]:
    """Of each game, which draw of a pool of experience it had (all 0 where pools are not drawn)."""
    return [each.game.draw for each in played]


def condition(name: str, games: Sequence[Game], seed: int) -> Condition:
    """Everything about one condition. games: all of its planned games."""
    played = [Played(game) for game in games if game.status == "done" and game.record is not None]
    statuses = Counter(game.status for game in games)
    read = [game.record for game in games if game.record is not None]
    with_sheriff = any(day.sheriff is not None for each in played for day in each.days)
    rows = reply_rows(games, seed)
    return Condition(
        name=name,
        ruleset=read[0].ruleset.name if read else "",
        players=tuple(str(one) for one in sorted({one for record in read for one in labels(record)})),
        counts=Counts(
            len(games),
            statuses["done"],
            statuses["void"],
            statuses["unfinished"] + statuses["planned"],
            statuses["failed"],
        ),
        errors=tuple(Counter(game.error for game in games if game.error).most_common()),
        days=mean(
            [(each.deal, float(each.record.facts.round)) for each in played],
            seed=seed,
            draws=draws_of(played),
        ),
        leadership=leadership(played, seed) if with_sheriff else {},
        persuasion=persuasions(played, seed) if with_sheriff else {},
        ratio_null=ratio_null([each.days for each in played], seed) if with_sheriff else None,
        roles=role_rows(played, seed) if with_sheriff else (),
        matrix=matrix(played, seed),
        play=play(played, seed),
        survival=survivals(played, seed),
        deduction=deduction(played, seed),
        replies=rows[0],
        invalid=rows[1],
        usage=usage(games, seed),
        totals=totals(games),
    )


def per_game(played: Sequence[Played], metric: DayMetric) -> list[tuple[int, float | None]]:
    """(deal, mean over days) of each game."""
    return [(each.deal, game_mean(each.days, metric)) for each in played]


def leadership(played: Sequence[Played], seed: int) -> dict[str, Estimate]:
    """Mean over games of every day metric."""
    return {
        key: mean(per_game(played, metric), seed=seed, bounds=bounds(key)) for key, metric in METRICS.items()
    }


# -- leadership -----------------------------------------------------------------------------------


def persuasions(played: Sequence[Played], seed: int) -> dict[str, Estimate]:
    """Persuasion rates; n counts followers watched, missing the days without a recommendation."""
    kinds: dict[str, Callable[[Day], tuple[int, int, int] | None]] = {
        "all": persuasion_counts,
        "wolf": lambda day: persuasion_counts(day, wolf=True),
        "other": lambda day: persuasion_counts(day, wolf=False),
        "retest": lambda day: persuasion_counts(day, retest=True),
    }
    return {kind: _persuasion(played, count, seed) for kind, count in kinds.items()}


def _persuasion(
    played: Sequence[Played], count: Callable[[Day], tuple[int, int, int] | None], seed: int
) -> Estimate:
    rows: list[Row] = []
    missing = 0
    for each in played:
        known = [one for day in each.days if (one := count(day)) is not None]
        missing += sum(persuasion_counts(day) is None for day in each.days)
        if known:
            rows.append((each.deal, tuple(float(sum(column)) for column in zip(*known, strict=True))))
    n = round(sum(values[0] for _, values in rows))
    return estimate(rows, persuasion, n=n, missing=missing, units="followers", seed=seed, bounds=(-1.0, 1.0))


def role_rows(played: Sequence[Played], seed: int) -> tuple[RoleRow, ...]:
    """Ratio and DC by the role of each day's Sheriff, with what that role gets without the office."""
    roles = sorted({role for each in played for day in each.days for role in day.roles})
    return tuple(_role_row(role, played, seed) for role in roles)


def _role_row(role: str, played: Sequence[Played], seed: int) -> RoleRow:
    def split(metric: DayMetric) -> list[tuple[int, float | None]]:
        """One value a game that had such a Sheriff; games without are not missing, they are no cases."""
        return [
            (each.deal, game_mean(each.days, metric, role))
            for each in played
            if any(led_by(day, role) for day in each.days)
        ]

    own = split(ratio)
    other = [(each.deal, _others(each.days, role)) for each in played]
    other = [one for one in other if one[1] is not None]
    return RoleRow(
        role,
        sum(led_by(day, role) for each in played for day in each.days),
        mean(own, seed=seed),
        mean(other, seed=seed),
        _difference(own, other, seed),
        mean(split(dc), seed=seed, bounds=bounds("dc")),
        mean(split(dc_retest), seed=seed, bounds=bounds("dc_retest")),
    )


def _others(found: Iterable[Day], role: str) -> float | None:
    """Mean standing of a game's living non-Sheriffs of that role, days first."""
    values = []
    for day in found:
        if day.sheriff is None:
            continue
        stands = [standing(day, seat) for seat in day.followers if day.roles[seat] == role]
        known = [one for one in stands if one is not None]
        if known:
            values.append(sum(known) / len(known))
    return sum(values) / len(values) if values else None


def _difference(
    a: Sequence[tuple[int, float | None]], b: Sequence[tuple[int, float | None]], seed: int
) -> Estimate:
    """Mean of a − mean of b, deals resampled jointly. n and deals are a's.

    Few deals on either side give no interval.
    """
    mine: list[Row] = [(deal, (value, 1.0, 0.0, 0.0)) for deal, value in a if value is not None]
    other: list[Row] = [(deal, (0.0, 0.0, value, 1.0)) for deal, value in b if value is not None]
    n = len(mine) if other else 0
    found = estimate(mine + other, _two_means, n=n, units="games", seed=seed)
    deals = [len({deal for deal, _ in rows}) for rows in (mine, other)]
    if min(deals) < MIN_DEALS and found.value is not None:
        return Estimate(found.value, None, None, n, 0, "games", deals[0], FEW_DEALS)
    return replace(found, deals=deals[0])


def _two_means(sums: Floats) -> Floats:
    return divide(sums[:, 0], sums[:, 1]) - divide(sums[:, 2], sums[:, 3])


def matrix(played: Sequence[Played], seed: int) -> tuple[Cell, ...]:
    """Mean m by day, role of the rater and role of the target (the Sheriff apart)."""
    sums: dict[tuple[int, str, str], dict[int, list[float]]] = {}
    for each in played:
        for day in each.days:
            for (rater, target), m in day.matrix().items():
                if rater not in day.alive:
                    continue
                whom = "Sheriff" if target == day.sheriff else day.roles[target]
                cell = sums.setdefault((day.round, day.roles[rater], whom), {})
                row = cell.setdefault(each.deal, [0.0, 0.0])
                row[0] += m
                row[1] += 1
    return tuple(
        Cell(
            *key,
            estimate(
                [(deal, tuple(row)) for deal, row in rows.items()],
                lambda s: divide(s[:, 0], s[:, 1]),
                n=round(sum(row[1] for row in rows.values())),
                units="judgements",
                seed=seed,
            ),
        )
        for key, rows in sorted(sums.items())
    )


# -- play -----------------------------------------------------------------------------------------


def play(played: Sequence[Played], seed: int) -> dict[str, Estimate]:
    """Who wins, and how the village votes."""
    won = [(each.deal, village_won(each.record)) for each in played]
    votes = [(each.deal, village_votes(each.days)) for each in played]
    out = [(each.deal, eliminations(each.days)) for each in played]
    drawn = draws_of(played)
    return {
        "village_win": share(
            [(deal, float(w is True), 1.0) for deal, w in won], "games", seed=seed, draws=drawn
        ),
        "wolf_win": share(
            [(deal, float(w is False), 1.0) for deal, w in won], "games", seed=seed, draws=drawn
        ),
        "nobody": share([(deal, float(w is None), 1.0) for deal, w in won], "games", seed=seed, draws=drawn),
        "vote_hits": share(
            [(d, float(b.hits), float(b.cast)) for d, b in votes], "votes", seed=seed, draws=drawn
        ),
        "abstained": share(
            [(d, float(b.abstained), float(b.cast + b.abstained)) for d, b in votes],
            "votes",
            seed=seed,
            draws=drawn,
        ),
        "out_hits": share(
            [(d, float(o[0]), float(o[1])) for d, o in out], "players out", seed=seed, draws=drawn
        ),
    }


def survivals(played: Sequence[Played], seed: int) -> dict[str, Estimate]:
    """Share of each role's seats that live to the end."""
    found = [(each.deal, survival(each.record)) for each in played]
    roles = sorted({role for _, one in found for role in one})
    return {
        role: share(
            [(deal, float(one[role][0]), float(one[role][1])) for deal, one in found if role in one],
            "seats",
            seed=seed,
        )
        for role in roles
    }


def deduction(played: Sequence[Played], seed: int) -> Deduction | None:
    """How well the village side guesses; None when nobody deduces."""
    found = [(each.deal, list(judgements(each.days))) for each in played]
    every = [one for _, mine in found for one in mine]
    if not every:
        return None

    def pooled(value: Callable[[Judgement], float]) -> list[Row]:
        return [(deal, (sum(map(value, mine)), float(len(mine)))) for deal, mine in found if mine]

    def brier(rows: list[Row]) -> Estimate:
        return estimate(rows, lambda s: divide(s[:, 0], s[:, 1]), n=len(every), units="judgements", seed=seed)

    own, chance = pooled(lambda j: j.brier), pooled(lambda j: j.prior_brier)
    both: list[Row] = [(deal, (a[0], b[0])) for (deal, a), (_, b) in zip(own, chance, strict=True)]
    return Deduction(
        accuracy=share(
            [(d, v[0], v[1]) for d, v in pooled(lambda j: float(j.right))], "judgements", seed=seed
        ),
        uncertain=share(
            [(deal, float(len(mine) - len(named(mine))), float(len(mine))) for deal, mine in found],
            "judgements",
            seed=seed,
        ),
        brier=brier(own),
        prior_brier=brier(chance),
        skill=estimate(
            both, lambda s: 1 - divide(s[:, 0], s[:, 1]), n=len(every), units="judgements", seed=seed
        ),
        calibration=_calibration([(deal, named(mine)) for deal, mine in found], seed),
    )


def _calibration(found: Sequence[tuple[int, list[Judgement]]], seed: int) -> tuple[CalibrationPoint, ...]:
    points = []
    for confidence in CONFIDENCES:
        kept = [(deal, [one for one in mine if one.confidence == confidence]) for deal, mine in found]
        every = [one for _, mine in kept for one in mine]
        if every:
            rows = [(deal, float(sum(one.right for one in mine)), float(len(mine))) for deal, mine in kept]
            stated = sum(one.stated for one in every) / len(every)
            points.append(CalibrationPoint(confidence, stated, share(rows, "judgements", seed=seed)))
    return tuple(points)


# -- replies and calls ----------------------------------------------------------------------------


def reply_rows(games: Sequence[Game], seed: int) -> tuple[tuple[ReplyRow, ...], Estimate]:
    """Usable replies by label, and the invalid rate over everybody. Void games count: they were asked too."""
    found = [(game.deal, replies(game.record)) for game in games if game.record is not None]
    who = sorted({one for _, mine in found for one in mine})
    rows = []
    for one in who:
        mine = [(deal, counts.get(one, Replies())) for deal, counts in found]
        total = sum((r for _, r in mine), Replies())
        rows.append(
            ReplyRow(
                str(one),
                total.turns,
                total.attempts,
                share([(d, float(r.fallbacks), float(r.turns)) for d, r in mine], "turns", seed=seed),
                _invalid(mine, seed),
            )
        )
    everybody = [(deal, sum(counts.values(), Replies())) for deal, counts in found]
    return tuple(rows), _invalid(everybody, seed)


def _invalid(mine: Sequence[tuple[int, Replies]], seed: int) -> Estimate:
    if any(r.attempts for _, r in mine):
        return share([(d, float(r.mistakes), float(r.attempts)) for d, r in mine], "calls", seed=seed)
    return share([(d, float(r.fallbacks), float(r.turns)) for d, r in mine], "turns", seed=seed)


def usage(games: Sequence[Game], seed: int) -> dict[str, Estimate]:
    """Calls, tokens and USD a finished game.

    A game handed over without its totals is missing, but for the calls, which its record counts.
    """
    names = ("calls", "prompt_tokens", "completion_tokens", "cost")
    values: dict[str, list[tuple[int, float | None]]] = {name: [] for name in names}
    for game in games:
        if game.status != "done":
            continue
        total = sum(game.calls.values(), CallTotals())
        made = sum(r.attempts for r in replies(game.record).values()) if game.record else 0
        unknown = bool(made) and not total.calls
        for name in names:
            value = float(made) if unknown and name == "calls" else float(getattr(total, name))
            values[name].append((game.deal, None if unknown and name != "calls" else value))
    return {name: mean(values[name], seed=seed) for name in names}


def totals(games: Sequence[Game]) -> Mapping[str, CallTotals]:
    """Calls of each model over all games, finished or not."""
    found: dict[str, CallTotals] = {}
    for game in games:
        for model, one in game.calls.items():
            found[model] = found.get(model, CallTotals()) + one
    return dict(sorted(found.items()))


__all__ = ["Label", "Played", "condition", "per_game"]
