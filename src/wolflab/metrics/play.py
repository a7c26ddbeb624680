"""How games went: who won, how long they lasted, who lived, who voted for whom, and which replies failed.

Counts of one game at a time; `summary` turns them into estimates. Labels of players come from the
record's header ("model" and "recipe"), so that a mixed table is split by who played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..record import GameRecord
from ..rules import DUTIES, ROLES, Pick
from ..text.notes import Mistake
from .days import Day

_SHOOTING = frozenset(kind for kind, duty in DUTIES.items() if duty.shoots)


@dataclass(frozen=True, slots=True, order=True)
class PlayerLabel:
    """Who plays: a model's name ("" for agents that need none) and a recipe's."""

    model: str
    recipe: str

    def __str__(self) -> str:
        return f"{self.model} · {self.recipe}" if self.model else self.recipe


@dataclass(frozen=True, slots=True)
class Replies:
    """How well a label's replies could be used, in one game.

    turns: decisions asked of its seats (probes included). fallbacks: of these, how many had no usable
    reply, so that the ruleset's stand-in was applied. attempts: model calls. mistakes: attempts whose
    reply could not be used (each retry counts).
    """

    turns: int = 0
    fallbacks: int = 0
    attempts: int = 0
    mistakes: int = 0

    def __add__(self, other: Replies) -> Replies:
        return Replies(
            self.turns + other.turns,
            self.fallbacks + other.fallbacks,
            self.attempts + other.attempts,
            self.mistakes + other.mistakes,
        )


def labels(record: GameRecord) -> tuple[PlayerLabel, ...]:
    """Who plays: each seat's player from the header, then whoever took a seat over."""
    players = [*record.header.get("players", ()), *(player for _, _, player in record.takeovers)]
    return tuple(label(each) for each in players)


def label(described: Mapping[str, Any]) -> PlayerLabel:
    """One entry of the header's "players"."""
    recipe, model = described.get("recipe", "?"), described.get("model", "")
    if isinstance(recipe, Mapping):
        recipe = recipe.get("name", "?")
    if isinstance(model, Mapping):
        model = model.get("name") or model.get("model", "?")
    return PlayerLabel(str(model), str(recipe))


def village_won(record: GameRecord) -> bool | None:
    """None for a game that neither side won, or that is not over."""
    return None if record.outcome is None else record.outcome.village_won


def survival_by_role(record: GameRecord) -> dict[str, tuple[int, int]]:
    """Role → (survivors, seats)."""
    alive = record.facts.living
    found: dict[str, tuple[int, int]] = {}
    for seat, role in enumerate(record.roles):
        lived, seats = found.get(role, (0, 0))
        found[role] = (lived + (seat in alive), seats + 1)
    return found


class Shots(NamedTuple):
    """Shots at a Werewolf, shots, and chances to shoot that were decided by a usable reply."""

    hits: int
    fired: int
    chances: int


def shots(record: GameRecord) -> Shots:
    """Of whoever may shoot (`Duty.shoots`); only the Hunter among the roles that ship."""
    asked = [turn for turn in record.turns if turn.kind in _SHOOTING and turn.invalid is None]
    at = [record.roles[turn.action.seat] for turn in asked if isinstance(turn.action, Pick)]
    return Shots(sum(ROLES[role].wolf for role in at), len(at), len(asked))


@dataclass(frozen=True, slots=True)
class Ballots:
    """Votes of the village side: cast for a Werewolf, cast at all, and not cast."""

    hits: int = 0
    cast: int = 0
    abstained: int = 0


def village_votes(days: Sequence[Day]) -> Ballots:
    """How the village side voted over a game's finished days."""
    hits = cast = abstained = 0
    for day in days:
        if not day.finished:
            continue
        for seat in day.alive:
            if day.wolf(seat):
                continue
            target = day.votes[seat]
            if target is None:
                abstained += 1
            else:
                cast += 1
                hits += day.wolf(target)
    return Ballots(hits, cast, abstained)


def eliminations(days: Sequence[Day]) -> tuple[int, int]:
    """(Werewolves voted out, players voted out)."""
    out = [day for day in days if day.finished and day.out is not None]
    return sum(day.wolf(day.out) for day in out if day.out is not None), len(out)


def replies(record: GameRecord) -> dict[PlayerLabel, Replies]:
    """How well each label's replies could be used."""
    who = labels(record)
    found: Counter[tuple[PlayerLabel, str]] = Counter()
    for turn in (*record.turns, *record.probes):
        if turn.seat < 0:
            continue
        mine = label(record.player(turn.seat, turn.at))
        found[mine, "turns"] += 1
        found[mine, "fallbacks"] += turn.invalid is not None
        found[mine, "attempts"] += turn.made
        found[mine, "mistakes"] += sum(isinstance(content, Mistake) for _, content in turn.notes)
    return {
        one: Replies(*(found[one, name] for name in ("turns", "fallbacks", "attempts", "mistakes")))
        for one in sorted(set(who))
    }


def is_instrument(record: GameRecord) -> bool:
    """Whether no real model played: everybody is the built-in player, or needs no model."""
    return all(one.model == "" or one.model.partition("(")[0] == "village" for one in labels(record))
