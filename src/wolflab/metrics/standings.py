"""Results of a tournament: the win-rate matrix, scores, differences, ratings, published figures.

A cell (A, B) is the games in which A plays every village seat and B every Werewolf (004's protocol); all
cells have the same deals. Intervals are usually over deals (`intervals`). If a run may stop early, the number
of games depends on the results, and intervals are confidence sequences (`sequential`) or left out. Results
of mixed tables are made in `mixed_tables`. This module knows the winners of games, and no records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeVar

from ..stats.clusters import Floats
from ..stats.comparing import holm, paired
from ..stats.intervals import NO_DATA, UNIT, Estimate, clustered_estimate, divide, share
from ..stats.prediction import LossDifference, ModelLoss, Prediction, predict_left_out
from ..stats.ratings import RatedGame, Ratings, Skill, openskill, rate_entrants
from ..stats.sequential import sequence
from .behaviours import SideName
from .frontier import EntrantUsage, Frontier, frontier
from .published import MatchedRow, MatchedRows, compare_with_published, published_table

SidePart = Literal["village", "werewolves", "both"]
SIDE_PARTS: tuple[SidePart, ...] = ("both", "village", "werewolves")
VERSUS = " vs "
Matchup = tuple[str, str]
"""(who plays the village, who plays the Werewolves)."""
SEQUENCE = "confidence sequence: it holds at every number of games"
NOT_ANYTIME = "the run could stop early: this has no interval that holds then"


class CellGame(NamedTuple):
    """One finished game of a cell. winner: None if neither side won."""

    village: str
    werewolves: str
    deal: int
    repeat: int
    winner: SideName | None

    @property
    def pair(self) -> Matchup:
        """Its cell."""
        return self.village, self.werewolves


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell. village_win: the village's win rate. nobody: the number of games that neither side won."""

    village: str
    werewolves: str
    village_win: Estimate
    nobody: int

    @property
    def name(self) -> str:
        """The condition of its games."""
        return f"{self.village}{VERSUS}{self.werewolves}"


@dataclass(frozen=True, slots=True)
class Score:
    """An entrant's mean win rate over its cells, with equal weights; None without cells."""

    name: str
    both: Estimate | None
    village: Estimate | None
    werewolves: Estimate | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The score of one entrant minus that of another, against the same opponents on the same deals.

    p: sign-flip test by deal; p_holm: corrected over all pairs of that part; both None with confidence
    sequences.
    """

    first: str
    second: str
    part: SidePart
    difference: Estimate
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class CellComparison:
    """A published figure of one cell and ours. otherwise: see `published.MatchedRow`."""

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
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why a cell, or the tournament, ended. what: a sentence. deals: the number played."""

    what: str
    deals: int
    stopped: bool


@dataclass(frozen=True, slots=True)
class Standings:
    """The results of a tournament. village, werewolves: the entrants of each side. level: of confidence
    sequences, or None. scores: the best first.

    missing: planned games that are not finished. instrument: no real model played. rotations: with mixed
    tables, the entrant on each seat; there are no cells then, and no skills.
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
    beside: tuple[CellComparison, ...]
    decisions: tuple[StopReason, ...]
    level: float | None
    missing: int
    rotations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prediction: Prediction = field(default_factory=Prediction)
    frontier: Frontier = field(default_factory=Frontier)

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)

    @property
    def opponents_differ(self) -> bool:
        """Whether two entrants of one side have different opponents."""
        if self.rotations:
            return any(not set(seats).issuperset(self.village) for seats in self.rotations.values())
        pairs = {(cell.village, cell.werewolves) for cell in self.cells}
        return len(pairs) < len(self.village) * len(self.werewolves)

    def cell(self, village: str, werewolves: str) -> CellRow | None:
        """The cell of two entrants, or None."""
        cells = {(cell.village, cell.werewolves): cell for cell in self.cells}
        return cells.get((village, werewolves))


def pair_of(cell: str) -> Matchup | None:
    """The entrants of the cell of that name; None if it is no cell's name."""
    village, versus, werewolves = cell.partition(VERSUS)
    return (village, werewolves) if versus and village and werewolves and VERSUS not in werewolves else None


def standings(
    results: Sequence[CellGame],
    pairs: Sequence[Matchup],
    *,
    werewolves: Sequence[str] = (),
    title: str = "",
    description: str = "",
    instrument: bool = False,
    level: float | None = None,
    decisions: Sequence[StopReason] = (),
    published: MatchedRows | None = None,
    missing: int = 0,
    used: Mapping[str, EntrantUsage] | None = None,
) -> Standings:
    """The results of a tournament of cells.

    pairs: its cells. werewolves: the order of the entrants on that side; empty: the order of the cells, or of
    the village side if cells are missing. level: set if the run could stop early, see the module. published:
    tables to compare with, and the matching row of each cell ("A vs B"). used: see `frontier`. Raises
    ExperimentError for an unknown table.
    """
    games = _Games(results, pairs, level)
    cells = tuple(games.cell(pair) for pair in pairs)
    village = tuple(dict.fromkeys(name for name, _ in pairs))
    met = tuple(dict.fromkeys(name for _, name in pairs))
    names = tuple(dict.fromkeys((*village, *met)))
    order_of_met = werewolves or (met if len(pairs) == len(village) * len(met) else names)
    order = {pair: place for place, pair in enumerate(pairs)}
    duels = [
        RatedGame(game.deal, (game.village,), (game.werewolves,), game.winner == "village")
        for game in sorted(results, key=lambda game: (game.deal, game.repeat, order[game.pair]))
        if game.winner is not None
    ]
    by_cell = sorted(duels, key=lambda duel: order[duel.village[0], duel.werewolves[0]])
    ratings, prediction = rate_entrants(by_cell), predict_left_out(by_cell)
    if level is not None:
        ratings, prediction = _without_intervals(ratings), _predicted_without_intervals(prediction)
    return Standings(
        title,
        description,
        instrument,
        village,
        tuple(name for name in order_of_met if name in met),
        cells,
        tuple(sorted(map(games.score, names), key=best_first)),
        compared_in_pairs(names, games.difference),
        ratings,
        openskill(duels),
        tuple(
            figure
            for table, rows in (published or {}).items()
            for figure in _beside_cells(table, cells, rows)
        ),
        tuple(decisions),
        level,
        missing,
        prediction=prediction,
        frontier=frontier(used or {}, ratings),
    )


def compared_in_pairs(
    names: Sequence[str], difference: Callable[[str, str, SidePart], Difference | None]
) -> tuple[Difference, ...]:
    """The differences between any two entrants, with p corrected by Holm within each part."""
    differences: list[Difference] = []
    for part in SIDE_PARTS:
        rows = [
            row
            for first, second in combinations(names, 2)
            if (row := difference(first, second, part)) is not None
        ]
        adjusted = holm([row.p for row in rows])
        differences += [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]
    return tuple(differences)


def best_first(score: Score) -> float:
    """The key by which scores are sorted."""
    return 1.0 if score.both is None else -(score.both.value or 0.0)


def differences_by_deal(
    results: Sequence[CellGame], pairs: Sequence[Matchup], first: str, second: str, part: SidePart
) -> list[tuple[int, float]]:
    """(deal, score of `first` − score of `second`), deals in ascending order.

    Against common opponents, on the deals that all these cells have.
    """
    games = _Games(results, pairs, None)
    return games.differences_by_deal(*games.shared(first, second, part))


def deal_means(results: Sequence[CellGame], pair: Matchup) -> list[tuple[int, float]]:
    """(deal, the village's win rate) of one cell, deals in ascending order."""
    return sorted(_Games(results, [pair], None).by_deal([(pair, "village")]).items())


# -- computation ------------------------------------------------------------------------------

_Seen = tuple[Matchup, SideName]
"""A cell, seen from one side."""


class _Games:
    """Results by cell, and scores and differences from them."""

    def __init__(self, results: Sequence[CellGame], pairs: Sequence[Matchup], level: float | None) -> None:
        self.pairs, self.level = list(pairs), level
        self.of: dict[Matchup, list[CellGame]] = {pair: [] for pair in pairs}
        for game in results:
            if game.pair in self.of:
                self.of[game.pair].append(game)

    def cell(self, pair: Matchup) -> CellRow:
        games = self.of[pair]
        nobody = sum(game.winner is None for game in games)
        if self.level is not None:
            return CellRow(*pair, self._sequence([(pair, "village")]), nobody)
        rows = [(game.deal, float(game.winner == "village"), 1.0) for game in games]
        return CellRow(*pair, share(rows, "games"), nobody)

    # -- scores ---------------------------------------------------------------------------

    def seen(self, name: str, side: SideName) -> list[_Seen]:
        """The cells in which an entrant plays that side."""
        own = 0 if side == "village" else 1
        return [(pair, side) for pair in self.pairs if pair[own] == name]

    def score(self, name: str) -> Score:
        village, werewolves = self.seen(name, "village"), self.seen(name, "werewolves")
        return Score(
            name,
            self._mean(village, werewolves) if village and werewolves else None,
            self._mean(village) if village else None,
            self._mean(werewolves) if werewolves else None,
        )

    def _mean(self, *groups: Sequence[_Seen]) -> Estimate:
        """The mean over groups of the mean win rate of the side over a group's cells."""
        if self.level is not None:
            return self._sequence(*groups)
        cells = [seen for group in groups for seen in group]
        weights = [1 / (len(groups) * len(group)) for group in groups for _ in group]
        n = sum(len(self.of[pair]) for pair in {pair for pair, _ in cells})
        rows = []
        for k, (pair, side) in enumerate(cells):
            for game in self.of[pair]:
                sums = [0.0] * (2 * len(cells))
                sums[k], sums[len(cells) + k] = float(game.winner == side), 1.0
                rows.append((game.deal, sums))

        def weighted(sums: Floats) -> Floats:
            rates = divide(sums[:, : len(cells)], sums[:, len(cells) :])
            mean: Floats = rates @ weights
            return mean

        return clustered_estimate(rows, weighted, n=n, units="games", bounds=UNIT)

    def by_deal(self, *groups: Sequence[_Seen]) -> dict[int, float]:
        """The same mean by deal, on the deals that all these cells have."""
        total: dict[int, float] = defaultdict(float)
        common: set[int] | None = None
        for group in groups:
            for pair, side in group:
                deals: dict[int, list[float]] = defaultdict(list)
                for game in self.of[pair]:
                    deals[game.deal].append(float(game.winner == side))
                common = set(deals) if common is None else common & set(deals)
                for deal, values in deals.items():
                    total[deal] += sum(values) / len(values) / (len(groups) * len(group))
        return {deal: min(1.0, total[deal]) for deal in sorted(common or ())}

    def _sequence(self, *groups: Sequence[_Seen]) -> Estimate:
        by_deal = self.by_deal(*groups)
        pairs = {pair for group in groups for pair, _ in group}
        n = sum(game.deal in by_deal for pair in pairs for game in self.of[pair])
        return self._interval(list(by_deal.values()), n, "games", UNIT)

    def _interval(self, values: Sequence[float], n: int, units: str, bounds: tuple[float, float]) -> Estimate:
        assert self.level is not None
        if not values:
            return Estimate(None, None, None, 0, 0, units, 0, NO_DATA)
        interval = sequence(values, level=self.level, bounds=bounds)[0]
        return Estimate(interval.mean, interval.low, interval.high, n, 0, units, len(values), SEQUENCE)

    # -- differences ----------------------------------------------------------------------

    def shared(self, first: str, second: str, part: SidePart) -> tuple[list[list[_Seen]], list[list[_Seen]]]:
        """The cells of both against common opponents, grouped by side; empty without any."""
        of_first: list[list[_Seen]] = []
        of_second: list[list[_Seen]] = []
        sides: tuple[SideName, ...] = ("village", "werewolves") if part == "both" else (part,)
        for side in sides:
            other = 1 if side == "village" else 0
            cells = self.seen(first, side), self.seen(second, side)
            common = set.intersection(*({pair[other] for pair, _ in seen} for seen in cells))
            if not common:
                return [], []
            for groups, seen in zip((of_first, of_second), cells, strict=True):
                groups.append([(pair, side) for pair, _ in seen if pair[other] in common])
        return of_first, of_second

    def differences_by_deal(
        self, of_first: list[list[_Seen]], of_second: list[list[_Seen]]
    ) -> list[tuple[int, float]]:
        """(deal, difference of the two means) on common deals, in ascending order."""
        first, second = self.by_deal(*of_first), self.by_deal(*of_second)
        return [(deal, first[deal] - second[deal]) for deal in sorted(first.keys() & second.keys())]

    def difference(self, first: str, second: str, part: SidePart) -> Difference | None:
        """One entrant's score minus another's; None without common opponents."""
        of_first, of_second = self.shared(first, second, part)
        if not of_first:
            return None
        if self.level is not None:
            values = [value for _, value in self.differences_by_deal(of_first, of_second)]
            interval = self._interval(values, len(values), "deals", (-1.0, 1.0))
            return Difference(first, second, part, interval, None, None)
        means, other_means = self.by_deal(*of_first), self.by_deal(*of_second)
        test = paired(means.items(), other_means.items(), bounds=(-1.0, 1.0))
        return Difference(first, second, part, test.difference, test.p, None)


def _bare(estimate: Estimate) -> Estimate:
    """The estimate without an interval."""
    return replace(estimate, low=None, high=None, note=NOT_ANYTIME)


def _predicted_without_intervals(prediction: Prediction) -> Prediction:
    return replace(
        prediction,
        losses=tuple(_bare_losses(row) for row in prediction.losses),
        differences=tuple(_bare_losses(row) for row in prediction.differences),
    )


_Losses = TypeVar("_Losses", ModelLoss, LossDifference)


def _bare_losses(row: _Losses) -> _Losses:
    return replace(row, brier=_bare(row.brier), log_loss=_bare(row.log_loss))


def _without_intervals(ratings: Ratings) -> Ratings:
    def bare_if_any(estimate: Estimate | None) -> Estimate | None:
        return None if estimate is None else _bare(estimate)

    rows = [
        replace(
            row,
            overall=bare_if_any(row.overall),
            village=bare_if_any(row.village),
            werewolves=bare_if_any(row.werewolves),
            ranks=None,
        )
        for row in ratings.rows
    ]
    residuals = [replace(cell, residual=_bare(cell.residual)) for cell in ratings.residuals]
    return Ratings(tuple(rows), bare_if_any(ratings.side), tuple(residuals), ratings.note)


def _beside_cells(
    name: str, cells: Sequence[CellRow], rows: Mapping[str, MatchedRow]
) -> Iterator[CellComparison]:
    table = published_table(name)
    for cell in cells:
        alike = rows.get(cell.name)
        figure = None if alike is None else table.rows[alike.row].get("village_win")
        if alike is not None and figure is not None:
            yield CellComparison(
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
                compare_with_published(cell.village_win, figure).words,
                alike.otherwise,
            )
