"""What a report says of forks: how many games have one, and how far votes differ between continuations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from ...metrics.days import days_of
from ...metrics.forks import votes_after
from ...stats.intervals import Estimate, share
from ..storage.store import Store


@dataclass(frozen=True, slots=True)
class ForkResults:
    """A condition of forks. parent: the condition whose games go on. games: of that condition, done; without:
    those of them without a fork, because they have no such turn. differing: the share of votes on the day of
    the turn that differ between two continuations of a game; None with a single continuation.
    """

    condition: str
    parent: str
    games: int
    without: int
    differing: Estimate | None


def fork_results(store: Store) -> tuple[ForkResults, ...]:
    """The conditions of forks of a run, in the order of its file."""
    experiment, games = store.experiment, store.games()
    found = []
    for name in experiment.forks:
        spec = experiment.fork(name)
        assert spec is not None
        parents = {
            (row.deal, row.repeat) for row in games if row.condition == spec.games_of and row.status == "done"
        }
        forked: dict[tuple[int, int], list[int]] = {}
        for row in games:
            if row.condition == name:
                ids = forked.setdefault((row.deal, row.repeat // spec.continuations), [])
                ids += [row.id] if row.over else []
        several = spec.continuations > 1
        differing = _differing(store, forked) if several else None
        found.append(ForkResults(name, spec.games_of, len(parents), len(parents - forked.keys()), differing))
    return tuple(found)


def _differing(store: Store, forked: Mapping[tuple[int, int], list[int]]) -> Estimate:
    """Over all pairs of continuations of a game. forked: (deal, repeat) → the games of its forks."""
    rows = []
    for (deal, _), games in forked.items():
        records = [store.record(game) for game in games]
        votes = [votes_after(record, days_of(record)) for record in records]
        pairs = [
            (one[voter], other[voter])
            for one, other in combinations(votes, 2)
            for voter in one.keys() & other.keys()
        ]
        if pairs:  # k continuations have k − 1 independent differences of a vote, and k (k − 1) / 2 pairs
            independent = 2 * len(pairs) / len(votes)
            rows.append((deal, independent * sum(a != b for a, b in pairs) / len(pairs), independent))
    return share(rows, "votes")
