"""The choices in the situations of 004 Fig. 4: the first kill, the first save, the vote between two Seers.

A study takes one decision of a seat in each game, assigns it to a category, and gives each category's share
with an interval over deals. If the categories are seats, it also gives the evenness of the choice among the
open ones. Choices are the applied actions; stand-ins for unusable replies are left out and counted as
missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..record import GameRecord, PastTurn
from ..rules import ROLES, SHIELDS, Pass, Pick, Say
from ..stats.comparing import paired
from ..stats.evenness import Evenness, SeatChosen, evenness
from ..stats.intervals import Estimate, share
from ..text.reading import Claim, read_in
from .published import MatchedRows, PublishedFigure, published_table


class StudiedDecision(NamedTuple):
    """One decision. category: None for a stand-in. open: the categories that the rules allowed, if these are
    seats.
    """

    category: str | None
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choices:
    """One study in one condition: category → its share of the decisions, in a fixed order.

    where_open: seat → its share of the decisions that could choose it. evenness: of these. Both only if
    categories are seats. differences: category → share − the baseline's, on common deals; empty for the
    baseline itself. published: the printed figure of the matching row.
    """

    study: str
    condition: str
    shares: Mapping[str, Estimate]
    where_open: Mapping[str, Estimate] = field(default_factory=dict)
    evenness: Evenness | None = None
    baseline: str | None = None
    differences: Mapping[str, Estimate] = field(default_factory=dict)
    published: PublishedFigure | None = None


DecisionsByGame = Sequence[tuple[int, Sequence[StudiedDecision]]]
"""(deal, decisions) of each game."""


def studied_decisions(record: GameRecord, study: str) -> tuple[StudiedDecision, ...]:
    """A study's decisions in one game."""
    return tuple(STUDIES[study].decisions(record))


def choice_rows(
    study: str,
    decided: Mapping[str, DecisionsByGame],
    baseline: str | None = None,
    published: MatchedRows | None = None,
) -> list[Choices]:
    """A study in every condition, from its decisions there. study: one of `STUDIES`. Conditions without
    decisions have no row; one with stand-ins alone has a row without numbers. baseline: the condition that
    the others are compared with; None: no differences. published: tables to compare with, and the
    matching row of each condition.
    """
    decided = {
        condition: games for condition, games in decided.items() if any(decisions for _, decisions in games)
    }
    categories = _categories(STUDIES[study].categories, decided)
    rows = []
    for condition, games in decided.items():
        differences = {}
        if baseline in decided and condition != baseline:
            differences = {
                category: paired(
                    _share_by_game(games, category),
                    _share_by_game(decided[baseline], category),
                    "deals",
                    bounds=(-1.0, 1.0),
                ).difference
                for category in categories
            }
        open_seats = {seat for _, decisions in games for decision in decisions for seat in decision.open}
        seats = tuple(category for category in categories if category in open_seats)
        rows.append(
            Choices(
                study,
                condition,
                {category: _share(games, category, False) for category in categories},
                {seat: _share(games, seat, True) for seat in seats},
                evenness(_seats_chosen(games), seats) if seats else None,
                baseline if differences else None,
                differences,
                _printed(study, condition, published or {}),
            )
        )
    return rows


def _printed(study: str, condition: str, published: MatchedRows) -> PublishedFigure | None:
    for table, rows in published.items():
        if condition in rows and study in (figures := published_table(table).rows[rows[condition].row]):
            return figures[study]
    return None


def _categories(named: Sequence[str], decided: Mapping[str, DecisionsByGame]) -> tuple[str, ...]:
    """The categories in order: the study's, or the open seats and any other that was chosen."""
    every = [decision for games in decided.values() for _, decisions in games for decision in decisions]
    seats = sorted({seat for decision in every for seat in decision.open}, key=_natural)
    chosen = {decision.category for decision in every if decision.category is not None}
    return (*named, *seats, *sorted(chosen - {*named, *seats}))


def _natural(name: str) -> tuple[str, int]:
    """ "player_10" after "player_9"."""
    word = name.rstrip("0123456789")
    return word, int(name[len(word) :] or 0)


def _count(decisions: Iterable[StudiedDecision]) -> Counter[str]:
    return Counter(decision.category for decision in decisions if decision.category is not None)


def _share(games: DecisionsByGame, category: str, where_open: bool) -> Estimate:
    rows, missing = [], 0
    for deal, decisions in games:
        could = [decision for decision in decisions if not where_open or category in decision.open]
        counts = _count(could)
        missing += len(could) - counts.total()
        rows.append((deal, float(counts[category]), float(counts.total())))
    return share(rows, "decisions", missing=missing)


def _share_by_game(games: DecisionsByGame, category: str) -> list[tuple[int, float | None]]:
    """The category's share in each game; None in a game without a decision."""
    counted = [(deal, _count(decisions)) for deal, decisions in games]
    return [(deal, counts[category] / counts.total() if counts else None) for deal, counts in counted]


def _seats_chosen(games: DecisionsByGame) -> list[SeatChosen]:
    return [
        SeatChosen(deal, decision.category, decision.open)
        for deal, decisions in games
        for decision in decisions
        if decision.category is not None and decision.category in decision.open
    ]


# -- studies ----------------------------------------------------------------------------------------


def first_kill(record: GameRecord) -> Iterator[StudiedDecision]:
    """The victim of the first night: the choice of the Werewolf who is asked last, which decides under
    `wolf_agreement: last`, as in 004.
    """
    rules = record.ruleset
    asked = [turn for turn in record.turns if turn.kind == "kill" and turn.round == 1]
    if not asked:
        return
    last = asked[-1]
    pack = {seat for seat, role in enumerate(record.roles) if ROLES[role].wolf}
    shut = set() if rules.wolves_may_target_pack else pack - {last.seat}
    shut |= set() if rules.wolves_may_target_self else {last.seat}
    # By number, because the players may have other names in every game.
    names = [f"player_{rules.first_player + seat}" for seat in range(rules.players)]
    open_seats = tuple(name for seat, name in enumerate(names) if seat not in shut)
    yield StudiedDecision(_category(last, names), open_seats)


def first_save(record: GameRecord) -> Iterator[StudiedDecision]:
    """Whom the Doctor (or Guard) saves on the first night: itself or another."""
    for turn in record.turns:
        if turn.kind in SHIELDS and turn.round == 1:
            names = ["another"] * record.ruleset.players
            names[turn.seat] = "itself"
            yield StudiedDecision(_category(turn, names))


def seer_vote(record: GameRecord) -> Iterator[StudiedDecision]:
    """Villagers' votes on day 1 in games in which a true and a false Seer have spoken."""
    claimed = {
        act.speaker
        for turn in record.turns
        if turn.kind == "statement" and turn.round == 1 and isinstance(turn.action, Say)
        for act in read_in(record.ruleset, turn.action.text, turn.seat)
        if isinstance(act, Claim) and act.role == "Seer" and not act.denied and act.by == act.speaker
    }
    true = {seat for seat in claimed if record.roles[seat] == "Seer"}
    false = {seat for seat in claimed if ROLES[record.roles[seat]].wolf}
    if len(true) != 1 or len(false) != 1 or len(claimed) != 2:
        return
    names = [
        "the true Seer" if seat in true else "the false Seer" if seat in false else "another"
        for seat in range(record.ruleset.players)
    ]
    for turn in record.turns:
        if turn.kind == "vote" and turn.round == 1 and record.roles[turn.seat] == "Villager":
            yield StudiedDecision(_category(turn, names))


def _category(turn: PastTurn, names: Sequence[str]) -> str | None:
    """The category of a turn's choice. names: the category of each seat."""
    if turn.invalid is not None:
        return None
    if isinstance(turn.action, Pick):
        return names[turn.action.seat]
    return "nobody" if isinstance(turn.action, Pass) else None


class Study(NamedTuple):
    """A study of choices. choosers: the roles whose choices it takes. categories: of choices; empty: one for
    each seat.
    """

    decisions: Callable[[GameRecord], Iterator[StudiedDecision]]
    choosers: tuple[str, ...]
    categories: tuple[str, ...] = ()


STUDIES: Mapping[str, Study] = {
    "first_kill": Study(first_kill, ("Werewolf",)),
    "first_save": Study(first_save, ("Doctor", "Guard"), ("itself", "another")),
    "seer_vote": Study(seer_vote, ("Villager",), ("nobody", "the true Seer", "the false Seer", "another")),
}
