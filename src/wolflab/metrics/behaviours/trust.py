"""The Trust Relationship Tables of 003 §5.1 and Fig. 5: who exhibits trust in whom, day by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...record import GameRecord
from ...rules import ROLES
from ..intervals import Estimate, mean
from .play import Play
from .social import trust_in_thought, trust_in_words

if TYPE_CHECKING:  # `build` shows these rows: at run time the way leads from there to here
    from ..build import Played

Source = Literal["words", "reflections", "beliefs"]
SOURCES: tuple[Source, ...] = ("words", "reflections")
"""What 003 reads: responses and reflections. Beliefs of deducing agents are left out unless asked for."""
SURE = 8
"""Confidence (5 to 10) from which a belief that somebody is no Werewolf is trust."""
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TrustTable:
    """One day's table T.

    trusts: players × players, `trusts[i][j]`: i's statements (or reflections) of that day exhibit trust in
    j. alive: who lived in that day's discussion. established: true now and not the day before; dissolved:
    true the day before and not now, of pairs that both still live. reciprocal: (i, j) with i < j, both ways.
    """

    day: int
    names: tuple[str, ...]
    alive: tuple[int, ...]
    trusts: tuple[tuple[bool, ...], ...]
    established: frozenset[Pair]
    dissolved: frozenset[Pair]
    reciprocal: frozenset[Pair]

    @property
    def relations(self) -> frozenset[Pair]:
        """The pairs (i, j) with i trusting j."""
        return frozenset(
            (i, j) for i, row in enumerate(self.trusts) for j, trusted in enumerate(row) if trusted
        )

    @property
    def pairs(self) -> int:
        """Ordered pairs of the living."""
        return len(self.alive) * (len(self.alive) - 1)


def trust_tables(record: GameRecord | Play, sources: Sequence[Source] = SOURCES) -> tuple[TrustTable, ...]:
    """One table for each day on which anybody was asked to speak, in order.

    A day's reflections include those of the night before it. Both of a pair must live on that day.
    """
    play = record if isinstance(record, Play) else Play.of(record)
    shown = _shown(play, sources)
    tables = []
    before: frozenset[Pair] = frozenset()
    for day, alive in play.debates.items():
        now = frozenset((i, j) for i, j in shown.get(day, set()) if i in alive and j in alive)
        tables.append(
            TrustTable(
                day,
                play.names,
                alive,
                tuple(tuple((i, j) in now for j in range(len(play.roles))) for i in range(len(play.roles))),
                now - before,
                frozenset((i, j) for i, j in before - now if i in alive and j in alive),
                frozenset((i, j) for i, j in now if i < j and (j, i) in now),
            )
        )
        before = now
    return tuple(tables)


def _shown(play: Play, sources: Sequence[Source]) -> dict[int, set[Pair]]:
    """Round → pairs (i, j), i ≠ j."""
    found: dict[int, set[Pair]] = {}

    def add(round: int, i: int, j: int) -> None:
        if i != j:
            found.setdefault(round, set()).add((i, j))

    if "words" in sources:
        for said in play.statements:
            for target in trust_in_words(play, said):
                add(said.round, said.seat, target)
    if "reflections" in sources:
        for one in play.musings:
            if one.kind == "reflection":
                for target in trust_in_thought(play, one):
                    add(one.round, one.seat, target)
    if "beliefs" in sources:
        for _, ask, rater, belief in play.beliefs:
            friend = belief.role in ROLES and not ROLES[belief.role].wolf
            if friend and belief.confidence >= SURE and rater not in play.wolves:
                add(int(ask.split("/", 1)[0]), rater, belief.target)
    return found


@dataclass(frozen=True, slots=True)
class TrustRow:
    """Trust on one day over games (deals resampled). day: None for the whole game, summed over its days.

    relations: trust relations per ordered pair of the living, 0 to 1. established, dissolved, reciprocal: per
    game. Games that did not reach the day are no cases of it: n says how many did.
    """

    day: int | None
    relations: Estimate
    established: Estimate
    dissolved: Estimate
    reciprocal: Estimate


def trust_rows(
    played: Sequence[Played], seed: int = 0, sources: Sequence[Source] = SOURCES
) -> tuple[TrustRow, ...]:
    """The tables of many games, day by day and then the whole game."""
    return trust_rows_of([(each.deal, trust_tables(each.record, sources)) for each in played], seed)


def trust_rows_of(
    found: Sequence[tuple[int, Sequence[TrustTable]]], seed: int = 0, draws: Sequence[int] | None = None
) -> tuple[TrustRow, ...]:
    """The same from (deal, tables) of each game; draws: as in `intervals.estimate`."""
    days = sorted({table.day for _, tables in found for table in tables})
    by_day = [
        _row(day, [(deal, [t for t in tables if t.day == day]) for deal, tables in found], seed, draws)
        for day in days
    ]
    return (*by_day, _row(None, found, seed, draws)) if days else ()


def _row(
    day: int | None,
    found: Sequence[tuple[int, Sequence[TrustTable]]],
    seed: int,
    draws: Sequence[int] | None,
) -> TrustRow:
    reached = [(deal, tables) for deal, tables in found if tables]
    drawn = None if draws is None else [d for d, (_, tables) in zip(draws, found, strict=True) if tables]
    paired = [all(t.pairs for t in tables) for _, tables in reached]
    kept = None if drawn is None else [d for d, keep in zip(drawn, paired, strict=True) if keep]
    shares = [
        (deal, sum(len(t.relations) / t.pairs for t in tables) / len(tables))
        for (deal, tables), keep in zip(reached, paired, strict=True)
        if keep
    ]
    return TrustRow(
        day,
        mean(shares, seed=seed, bounds=(0.0, 1.0), draws=kept),
        _times(reached, "established", seed, drawn),
        _times(reached, "dissolved", seed, drawn),
        _times(reached, "reciprocal", seed, drawn),
    )


def _times(
    found: Sequence[tuple[int, Sequence[TrustTable]]], what: str, seed: int, draws: Sequence[int] | None
) -> Estimate:
    """How many pairs of one kind a game has."""
    counted = [(deal, float(sum(len(getattr(t, what)) for t in tables))) for deal, tables in found]
    return mean(counted, seed=seed, draws=draws)
