"""Makes experiences from finished games: reflection, response and score (003 §3.4).

Pure functions of records, and the selection of games and sides for a pool. This module knows no vectors and
no files.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args, get_type_hints

from ...agents.experience import Experience
from ...errors import ExperimentError, StoreError
from ...record import GameRecord
from ...record.chain import hash_of
from ...rules import DUTIES, ROLES, Action, Answer, Lead, Pass, Pick, Ruleset, Say, Winner
from ...text.asking.options import label
from ...text.masking import mask_pair
from ...text.notes import Reflected
from ..storage.store import Store

WON = 1000
"""The number from which a winner's score counts down (003 Eq. 4)."""

GamesFrom = Store | GameRecord


def score(won: bool, last_day: int) -> int:
    """s of 003 Eq. 4: higher for winning, for an early win and for a late loss."""
    return WON - last_day if won else last_day


def last_day(record: GameRecord) -> int:
    """T of 003 Eq. 4: the last day (0 if there was none)."""
    return record.facts.round - (record.facts.phase == "night")


def left_out(record: GameRecord) -> str | None:
    """Why a game gives no experience: "unfinished", "void" or "nobody won"; None if it does."""
    outcome = record.outcome
    if outcome is None:
        return "unfinished"
    if outcome.void:
        return "void"
    return "nobody won" if outcome.winner is Winner.NOBODY else None


def decision_in_words(kind: str, action: Action, seat: int, ruleset: Ruleset) -> str:
    """What the player in `seat` said or did in a decision of that kind, in words."""
    match action:
        case Say(text):
            return text or "I say nothing."
        case Pass():
            return "I choose to pass."
        case Pick(chosen):
            myself = " (myself)" if chosen == seat else ""
            return f"I choose to {label(action, kind, ruleset)}{myself}."
        case Answer(yes):
            verb = DUTIES[kind].verb if kind in DUTIES else "agree"
            return f"I choose {'to' if yes else 'not to'} {verb}."
        case Lead(left):
            return f"I choose to let the player on my {'left' if left else 'right'} speak first."
    return f"I choose {label(action, kind, ruleset)}."


def experiences_of(record: GameRecord) -> list[Experience]:
    """Every valid decision with a reflection, in the order of the game (003 Eq. 3).

    Dead players have their side's score. Names are masked in reflection and response together. Empty for a
    game with a reason in `left_out`.
    """
    if left_out(record) is not None:
        return []
    outcome, roles, day = record.outcome, record.roles, last_day(record)
    wolves_won = outcome is not None and outcome.winner is Winner.WEREWOLVES
    # Conditions share deals and draws, so without the condition two games would have one name.
    condition, game = str(record.header.get("condition", "")), str(record.header["play"])
    game = f"{condition}|{game}" if condition else game
    experiences = []
    for turn in record.turns:
        reflections = [note.text for _, note in turn.notes if isinstance(note, Reflected)]
        reflection = reflections[-1].strip() if reflections else ""
        if turn.seat < 0 or turn.invalid is not None or turn.action is None or not reflection:
            continue
        role = roles[turn.seat]
        response = decision_in_words(turn.kind, turn.action, turn.seat, record.ruleset)
        experiences.append(
            Experience(
                *mask_pair(reflection, response, record.ruleset.names),
                score(ROLES[role].wolf == wolves_won, day),
                role,
                turn.kind,
                game,
                str(record.header["deal"]),
                turn.seat,
                turn.ask,
            )
        )
    return experiences


# -- selection -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Selection:
    """The games and sides that a pool is made from.

    conditions: only games of these; empty: all. skip, games: of the usable games in order, the number to skip
    and the number to take (None: all). Pools of 10, 20, 30 and 40 games with the same `skip` are nested;
    other skips give other draws. side: whose experience, by the outcome. shuffle: a key by which (response,
    score) are permuted among the reflections, so that a retrieved response is unrelated to the reflection.
    """

    conditions: tuple[str, ...] = ()
    skip: int = 0
    games: int | None = None
    side: Literal["all", "winners", "losers"] = "all"
    shuffle: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", tuple(self.conditions))
        known = get_args(get_type_hints(Selection)["side"])
        if self.side not in known:
            raise ExperimentError(f"experience, side: got {self.side!r}; use one of {', '.join(known)}")
        if self.skip < 0:
            raise ExperimentError(f"experience, skip: got {self.skip}; use 0 or more")
        if self.games is not None and self.games < 1:
            raise ExperimentError(f"experience, games: got {self.games}; use 1 or more")

    def as_dict(self) -> dict[str, Any]:
        """Plain values without defaults."""
        plain = asdict(Selection())
        return {name: value for name, value in asdict(self).items() if value != plain[name]}


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Gathered:
    """Experiences in order of games, and their origin.

    games: the number of used games. left_out: reason → number of other games; "not asked for" are those
    beyond the selection. runs: the experiments and conditions of the used games.
    """

    experiences: tuple[Experience, ...]
    games: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    runs: tuple[str, ...] = ()


def gather(sources: Iterable[GamesFrom], selection: Selection = EVERYTHING) -> Gathered:
    """The selected experiences from runs, single records, or both, in the given order.

    A duplicate game counts once. Raises StoreError for an unknown condition, and for too few games.
    """
    missing: Counter[str] = Counter()
    seen: set[str] = set()
    met: set[str] = set()
    runs: dict[str, None] = {}
    used = usable = 0
    experiences: list[Experience] = []
    for condition, record, why in _games(sources):
        met.add(condition)
        if selection.conditions and condition not in selection.conditions:
            continue
        why = why or (None if record is None else left_out(record))
        if record is not None and why is None and hash_of(record.lines[-1]) in seen:
            why = "given twice"
        if record is None or why is not None:
            missing[why or "unfinished"] += 1
            continue
        seen.add(hash_of(record.lines[-1]))
        usable += 1
        if usable <= selection.skip or used == selection.games:
            missing["not asked for"] += 1
            continue
        used += 1
        runs[f"{record.header.get('experiment', 'a game')}, {condition or 'without condition'}"] = None
        experiences += (
            one
            for one in experiences_of(record)
            if selection.side == "all" or (one.score > WON // 2) == (selection.side == "winners")
        )
    unknown = [condition for condition in selection.conditions if condition not in met]
    if unknown:
        raise StoreError(
            f"experience: no game of a condition {unknown[0]!r}; there are {', '.join(sorted(met)) or 'none'}"
        )
    wanted = selection.skip + (selection.games or 0)
    if usable < wanted:
        raise StoreError(
            f"experience: {usable} games can be used, and {wanted} are needed (skip {selection.skip}, games "
            f"{selection.games}); play more, or ask for fewer"
        )
    if selection.shuffle is not None:
        experiences = shuffled(experiences, selection.shuffle)
    return Gathered(tuple(experiences), used, dict(sorted(missing.items())), tuple(runs))


def _games(sources: Iterable[GamesFrom]) -> Iterator[tuple[str, GameRecord | None, str | None]]:
    """(condition, record, why there is none) of every game."""
    for source in sources:
        if isinstance(source, GameRecord):
            yield str(source.header.get("condition", "")), source, None
            continue
        for row in source.games():
            if row.over:
                yield row.condition, source.record(row.id), None
            else:
                yield row.condition, None, "failed" if row.status == "failed" else "unfinished"


def shuffled(experiences: Sequence[Experience], key: str) -> list[Experience]:
    """The experiences with responses and scores randomly permuted among the reflections.

    The origin (game, deal, seat, ask) stays with the response, which a player is shown and which must not
    come from its own deal. Role and kind stay with the reflection, by which an experience is retrieved.
    """
    drawn = list(experiences)
    random.Random(key).shuffle(drawn)
    return [
        replace(answer, reflection=asked.reflection, role=asked.role, kind=asked.kind)
        for asked, answer in zip(experiences, drawn, strict=True)
    ]
