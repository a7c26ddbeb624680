"""A round robin in numbers: the win-rate matrix, everybody's score, differences, ratings, published figures.

A cell (A, B) is the games in which A holds every village seat and B every Werewolf's (004's protocol); all
cells meet the same deals. Ordinarily intervals are over deals (`intervals`). Where a run may stop early, the
number of games depends on the results, and every interval is a confidence sequence (`sequential`), or is not
given. It knows who won which game, and nothing of records or of how games were played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

from ..stats.comparing import holm, paired
from ..stats.intervals import NO_DATA, Estimate, divide, estimate, share
from ..stats.ratings import Duel, Rating, Ratings, Skill, openskill, rate
from ..stats.resampling import Floats
from ..stats.sequential import sequence
from .behaviours import SideName
from .published import compare, published

SidePart = Literal["village", "werewolves", "both"]
PARTS: tuple[SidePart, ...] = ("both", "village", "werewolves")
VERSUS = " vs "
Pair = tuple[str, str]
"""(who plays the village, who plays the Werewolves)."""
SEQUENCE = "confidence sequence: it holds at every number of games"
NOT_ANYTIME = "the run could stop early: this has no interval that holds then"


class CellGame(NamedTuple):
    """One finished game of a cell. winner: None where neither side won."""

    village: str
    werewolves: str
    deal: int
    repeat: int
    winner: SideName | None


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell. village_win: share of its games that the village won. nobody: games that neither side won."""

    village: str
    werewolves: str
    village_win: Estimate
    nobody: int


@dataclass(frozen=True, slots=True)
class Score:
    """An entrant's mean win rate over its cells, every cell counting alike; None where it has none."""

    name: str
    both: Estimate | None
    village: Estimate | None
    werewolves: Estimate | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Score of one entrant − score of another, against the same opponents on the same deals.

    p: sign-flip test by deal, p_holm: corrected over all pairs of that part; None under confidence sequences.
    """

    first: str
    second: str
    part: SidePart
    difference: Estimate
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class BesideCell:
    """A published figure of one cell beside ours."""

    table: str
    title: str
    source: str
    version: str
    village: str
    werewolves: str
    value: float
    digits: int
    n: int | None
    ours: Estimate
    verdict: str


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why games ended where they did: one sentence a cell, or one for all. deals: how many it took."""

    what: str
    deals: int
    stopped: bool


@dataclass(frozen=True, slots=True)
class Standings:
    """A whole tournament. village, werewolves: who plays which side. level: of confidence sequences, or None.
    scores: the best first.

    missing: games planned and not finished. instrument: no real model played.
    """

    title: str
    description: str
    instrument: bool
    village: tuple[str, ...]
    werewolves: tuple[str, ...]
    cells: tuple[CellRow, ...]
    scores: tuple[Score, ...]
    differences: tuple[Difference, ...]
    ratings: Ratings
    skills: tuple[Skill, ...]
    beside: tuple[BesideCell, ...]
    decisions: tuple[StopReason, ...]
    level: float | None
    missing: int

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)

    def cell(self, village: str, werewolves: str) -> CellRow | None:
        """That cell; None where there is none."""
        return next((c for c in self.cells if (c.village, c.werewolves) == (village, werewolves)), None)


def pair_of(cell: str) -> Pair | None:
    """Who plays the village and who the Werewolves in the cell of that name; None where it is no cell's."""
    village, versus, werewolves = cell.partition(VERSUS)
    return (village, werewolves) if versus and village and werewolves and VERSUS not in werewolves else None


def standings(
    results: Sequence[CellGame],
    pairs: Sequence[Pair],
    *,
    title: str = "",
    description: str = "",
    instrument: bool = False,
    level: float | None = None,
    decisions: Sequence[StopReason] = (),
    tables: Sequence[str] = (),
    called: Mapping[str, str] | None = None,
    missing: int = 0,
    seed: int = 0,
) -> Standings:
    """Everything about a tournament.

    pairs: its cells. level: set where the run could stop early, see the module. tables: published round
    robins whose rows are "A vs B"; called: entrant → its name there, where that differs. Raises
    ExperimentError for an unknown table.
    """
    games = _Games(results, pairs, level, seed)
    cells = tuple(games.cell(pair) for pair in pairs)
    village = tuple(dict.fromkeys(a for a, _ in pairs))
    werewolves = tuple(dict.fromkeys(b for _, b in pairs))
    names = tuple(dict.fromkeys((*village, *werewolves)))
    order = {pair: k for k, pair in enumerate(pairs)}
    won = [
        Duel(one.deal, one.village, one.werewolves, one.winner == "village")
        for one in sorted(results, key=lambda r: (r.deal, r.repeat, order[r.village, r.werewolves]))
        if one.winner is not None
    ]
    by_cell = sorted(won, key=lambda one: order[one.village, one.werewolves])
    ratings = rate(by_cell, seed)
    return Standings(
        title,
        description,
        instrument,
        village,
        werewolves,
        cells,
        tuple(sorted(map(games.score, names), key=_worst_last)),
        games.differences(names),
        ratings if level is None else _without_intervals(ratings),
        openskill(won),
        tuple(row for table in tables for row in _beside(table, cells, called or {})),
        tuple(decisions),
        level,
        missing,
    )


def differences_by_deal(
    results: Sequence[CellGame], pairs: Sequence[Pair], first: str, second: str, part: SidePart
) -> list[tuple[int, float]]:
    """(deal, score of `first` − score of `second`), deals in ascending order.

    Against the opponents that both have, on the deals that all cells in question have.
    """
    games = _Games(results, pairs, None, 0)
    ours, theirs = games.shared(first, second, part)
    if not ours:
        return []
    a, b = games.by_deal(*ours), games.by_deal(*theirs)
    return [(deal, a[deal] - b[deal]) for deal in sorted(a.keys() & b.keys())]


def deal_means(results: Sequence[CellGame], pair: Pair) -> list[tuple[int, float]]:
    """(deal, share of its games that the village won) of one cell, deals in ascending order."""
    found = _Games(results, [pair], None, 0).by_deal([(pair, "village")])
    return sorted(found.items())


# -- the work ---------------------------------------------------------------------------------

_Seen = tuple[Pair, SideName]
"""A cell, seen from one side."""


class _Games:
    """Results by cell, and what follows from them."""

    def __init__(
        self, results: Sequence[CellGame], pairs: Sequence[Pair], level: float | None, seed: int
    ) -> None:
        self.pairs, self.level, self.seed = list(pairs), level, seed
        self.of: dict[Pair, list[CellGame]] = {pair: [] for pair in pairs}
        for one in results:
            if (one.village, one.werewolves) in self.of:
                self.of[one.village, one.werewolves].append(one)

    def cell(self, pair: Pair) -> CellRow:
        games = self.of[pair]
        nobody = sum(one.winner is None for one in games)
        if self.level is not None:
            return CellRow(*pair, self._sequence([(pair, "village")]), nobody)
        rows = [(one.deal, float(one.winner == "village"), 1.0) for one in games]
        return CellRow(*pair, share(rows, "games", seed=self.seed), nobody)

    # -- scores ---------------------------------------------------------------------------

    def seen(self, name: str, side: SideName, opponents: Sequence[str] | None = None) -> list[_Seen]:
        """The cells in which an entrant plays that side, from its own side."""
        mine, other = (0, 1) if side == "village" else (1, 0)
        return [
            (pair, side)
            for pair in self.pairs
            if pair[mine] == name and (opponents is None or pair[other] in opponents)
        ]

    def score(self, name: str) -> Score:
        village, werewolves = self.seen(name, "village"), self.seen(name, "werewolves")
        return Score(
            name,
            self._mean(village, werewolves) if village and werewolves else None,
            self._mean(village) if village else None,
            self._mean(werewolves) if werewolves else None,
        )

    def _mean(self, *groups: Sequence[_Seen]) -> Estimate:
        """Mean over groups of the mean over a group's cells of the side's win rate."""
        if self.level is not None:
            return self._sequence(*groups)
        seen = [one for group in groups for one in group]
        weights = [1 / (len(groups) * len(group)) for group in groups for _ in group]
        n = sum(len(self.of[pair]) for pair in {pair for pair, _ in seen})
        rows = []
        for k, (pair, side) in enumerate(seen):
            for one in self.of[pair]:
                sums = [0.0] * (2 * len(seen))
                sums[k], sums[len(seen) + k] = float(one.winner == side), 1.0
                rows.append((one.deal, sums))

        def mean(sums: Floats) -> Floats:
            rates = divide(sums[:, : len(seen)], sums[:, len(seen) :])
            found: Floats = rates @ weights
            return found

        return estimate(rows, mean, n=n, units="games", seed=self.seed, bounds=(0.0, 1.0))

    def by_deal(self, *groups: Sequence[_Seen]) -> dict[int, float]:
        """The same mean deal by deal, on the deals that all these cells have."""
        total: dict[int, float] = {}
        common: set[int] | None = None
        for group in groups:
            for pair, side in group:
                deals: dict[int, list[float]] = {}
                for one in self.of[pair]:
                    deals.setdefault(one.deal, []).append(float(one.winner == side))
                common = set(deals) if common is None else common & set(deals)
                for deal, values in deals.items():
                    part = sum(values) / len(values) / (len(groups) * len(group))
                    total[deal] = total.get(deal, 0.0) + part
        return {deal: min(1.0, total[deal]) for deal in sorted(common or ())}

    def _sequence(self, *groups: Sequence[_Seen]) -> Estimate:
        found = self.by_deal(*groups)
        pairs = {pair for group in groups for pair, _ in group}
        n = sum(one.deal in found for pair in pairs for one in self.of[pair])
        return self._interval(list(found.values()), n, "games", (0.0, 1.0))

    def _interval(self, values: Sequence[float], n: int, units: str, bounds: tuple[float, float]) -> Estimate:
        assert self.level is not None
        if not values:
            return Estimate(None, None, None, 0, 0, units, 0, NO_DATA)
        one = sequence(values, level=self.level, bounds=bounds)[0]
        return Estimate(one.mean, one.low, one.high, n, 0, units, len(values), SEQUENCE)

    # -- differences ----------------------------------------------------------------------

    def shared(self, first: str, second: str, part: SidePart) -> tuple[list[list[_Seen]], list[list[_Seen]]]:
        """The cells of both against the opponents that both have, grouped by side; empty where none."""
        ours: list[list[_Seen]] = []
        theirs: list[list[_Seen]] = []
        sides: tuple[SideName, ...] = ("village", "werewolves") if part == "both" else (part,)
        for side in sides:
            other = 1 if side == "village" else 0
            against = [{pair[other] for pair, _ in self.seen(name, side)} for name in (first, second)]
            common = sorted(against[0] & against[1])
            if not common:
                return [], []
            ours.append(self.seen(first, side, common))
            theirs.append(self.seen(second, side, common))
        return ours, theirs

    def differences(self, names: Sequence[str]) -> tuple[Difference, ...]:
        found: list[Difference] = []
        for part in PARTS:
            rows = [
                row
                for first, second in combinations(names, 2)
                if (row := self._difference(first, second, part)) is not None
            ]
            adjusted = holm([row.p for row in rows])
            found += [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]
        return tuple(found)

    def _difference(self, first: str, second: str, part: SidePart) -> Difference | None:
        ours, theirs = self.shared(first, second, part)
        if not ours:
            return None
        a, b = self.by_deal(*ours), self.by_deal(*theirs)
        if self.level is not None:
            values = [a[deal] - b[deal] for deal in sorted(a.keys() & b.keys())]
            return Difference(
                first, second, part, self._interval(values, len(values), "deals", (-1.0, 1.0)), None, None
            )
        test = paired(list(a.items()), list(b.items()), seed=self.seed, bounds=(-1.0, 1.0))
        return Difference(first, second, part, test.difference, test.p, None)


def _without_intervals(found: Ratings) -> Ratings:
    def bare(one: Estimate | None) -> Estimate | None:
        return None if one is None else replace(one, low=None, high=None, note=NOT_ANYTIME)

    def rating(one: Rating) -> Rating:
        return replace(
            one,
            overall=bare(one.overall),
            village=bare(one.village),
            werewolves=bare(one.werewolves),
            ranks=None,
        )

    residuals = tuple(
        replace(one, residual=replace(one.residual, low=None, high=None, note=NOT_ANYTIME))
        for one in found.residuals
    )
    return Ratings(tuple(map(rating, found.rows)), bare(found.side), residuals, found.note)


def _worst_last(score: Score) -> float:
    return 1.0 if score.both is None else -(score.both.value or 0.0)


def _beside(name: str, cells: Sequence[CellRow], called: Mapping[str, str]) -> list[BesideCell]:
    table = published(name)
    found = []
    for cell in cells:
        a, b = (called.get(one, one) for one in (cell.village, cell.werewolves))
        figure = table.rows.get(f"{a}{VERSUS}{b}", {}).get("village_win")
        if figure is not None:
            found.append(
                BesideCell(
                    table.name,
                    table.title,
                    table.source,
                    table.version,
                    cell.village,
                    cell.werewolves,
                    figure.value,
                    figure.digits,
                    figure.n,
                    cell.village_win,
                    compare(cell.village_win, figure).words,
                )
            )
    return found
