"""Counts of one game: who won, who survived, votes, shots, and unusable replies.

`summary` turns them into estimates. Labels of players come from the record's header ("model" and "recipe"),
so that games of different players are split by player.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..record import GameRecord, PastTurn
from ..rules import DUTIES, ROLES, Pick, Say
from ..text.notes import Mistake
from ..text.probes import WITHOUT_OPTIONS
from ..text.replies.chosen_action import is_illegal
from ..usage import CallTotals
from .days import Day

_SHOOTING = frozenset(kind for kind, duty in DUTIES.items() if duty.shoots)


@dataclass(frozen=True, slots=True, order=True)
class PlayerLabel:
    """A player: a model's name ("" for agents without one) and a recipe's."""

    model: str
    recipe: str

    def __str__(self) -> str:
        return f"{self.model} · {self.recipe}" if self.model else self.recipe

    @property
    def speaks(self) -> bool:
        """Whether it is a language model."""
        return is_language_model(self.model)

    @property
    def person(self) -> bool:
        """Whether it is a person."""
        return self.recipe == "person"

    @property
    def own(self) -> bool:
        """Whether it is a user's own agent (``module:Class``), which may fail without a model."""
        return ":" in self.recipe


def is_language_model(name: str) -> bool:
    """Whether a model's name is a language model's: not the built-in player's, a person's, or empty."""
    return name.partition("(")[0] not in ("", "village", "person")


class ReportedCalls(NamedTuple):
    """The totals of calls for all screens and files: of language models, or of all models if no language
    model was called. speaks: whether one was.
    """

    totals: CallTotals
    speaks: bool

    @property
    def label(self) -> str:
        """The name of these calls."""
        return "calls of language models" if self.speaks else "model calls"


def reported_models(names: Iterable[str]) -> frozenset[str]:
    """The models that `ReportedCalls` counts, of all that were called."""
    called = frozenset(names)
    return frozenset(filter(is_language_model, called)) or called


def reported_calls(by_model: Iterable[tuple[str, CallTotals]]) -> ReportedCalls:
    """See `ReportedCalls`. by_model: (model's name, totals of its calls)."""
    every = list(by_model)
    told = reported_models(name for name, _ in every)
    totals = sum((came for name, came in every if name in told), CallTotals())
    return ReportedCalls(totals, any(map(is_language_model, told)))


def player_labels(record: GameRecord) -> tuple[PlayerLabel, ...]:
    """The players: each seat's player from the header, then those who took over a seat."""
    players = [*record.header.get("players", ()), *(player for _, _, player in record.takeovers)]
    return tuple(player_label(player) for player in players)


def seat_labels(record: GameRecord, seat: int) -> tuple[PlayerLabel, ...]:
    """The players of a seat: the header's, then those who took it over."""
    players = [record.header["players"][seat]]
    players += [player for _, taken, player in record.takeovers if taken == seat]
    return tuple(map(player_label, players))


def player_label(described: Mapping[str, Any]) -> PlayerLabel:
    """The label of an entry of the header's "players"."""
    recipe, model = described.get("recipe", "?"), described.get("model", "")
    if isinstance(recipe, dict):
        recipe = recipe.get("name", "?")
    if isinstance(model, dict):
        model = model.get("name") or model.get("model", "?")
    return PlayerLabel(str(model), str(recipe))


def label_of(record: GameRecord, turn: PastTurn) -> PlayerLabel:
    """The player of a turn."""
    return player_label(record.player(turn.seat, turn.at))


def is_instrument(record: GameRecord) -> bool:
    """Whether no real model played: all players are the built-in player or need no model."""
    return not any(label.speaks for label in player_labels(record))


def label_speaks(label: str) -> bool:
    """Whether a `PlayerLabel` as text is a language model's."""
    model, between, _ = label.rpartition(" · ")
    return bool(between) and is_language_model(model)


# -- who won ----------------------------------------------------------------------------------------


def village_won(record: GameRecord) -> bool | None:
    """Whether the village won; None if neither side did or the game is not over."""
    return None if record.outcome is None else record.outcome.village_won


def won_as(record: GameRecord, seat: int, wolf: bool) -> float | None:
    """1.0 if the seat is on this side and wins, 0.0 if it loses; None if it is on the other side.

    Own wins differ from the village's, because the watched seat changes sides between games (004, human
    evaluation: one player among six).
    """
    if ROLES[record.roles[seat]].wolf is not wolf:
        return None
    return float(village_won(record) is (not wolf))


def survivors_by_role(record: GameRecord) -> dict[str, tuple[int, int]]:
    """Role → (survivors, seats)."""
    alive = record.facts.living
    survival: dict[str, tuple[int, int]] = {}
    for seat, role in enumerate(record.roles):
        survivors, seats = survival.get(role, (0, 0))
        survival[role] = (survivors + (seat in alive), seats + 1)
    return survival


# -- votes and shots --------------------------------------------------------------------------------


class Shots(NamedTuple):
    """Shots at a Werewolf, shots, and chances to shoot with a usable reply."""

    hits: int
    fired: int
    chances: int


def chances_to_shoot(record: GameRecord) -> dict[str, bool | None]:
    """Ask → whether the shot hits a Werewolf, None for no shot: of roles that may shoot (`Duty.shoots`), with
    a usable reply; of the shipped roles only the Hunter's.
    """
    return {
        turn.ask: ROLES[record.roles[turn.action.seat]].wolf if isinstance(turn.action, Pick) else None
        for turn in record.turns
        if turn.kind in _SHOOTING and turn.invalid is None
    }


def shots_of(record: GameRecord) -> Shots:
    """The shots of a game."""
    chances = chances_to_shoot(record).values()
    return Shots(sum(map(bool, chances)), sum(hit is not None for hit in chances), len(chances))


class Ballots(NamedTuple):
    """Ballots of the village side, whatever their weight: cast for a Werewolf, cast, and not cast."""

    hits: int
    cast: int
    abstained: int


def village_ballots(days: Sequence[Day]) -> dict[str, bool | None]:
    """Ask → whether the vote is for a Werewolf, None for no vote: of the village side over a game's days."""
    return {
        f"{day.round}/vote/{seat}": None if target is None else day.wolf(target)
        for day in days
        for seat, target in day.votes.items()
        if not day.wolf(seat)
    }


def village_votes(days: Sequence[Day]) -> Ballots:
    """The village side's ballots, counted."""
    votes = village_ballots(days).values()
    abstained = sum(hit is None for hit in votes)
    return Ballots(sum(map(bool, votes)), len(votes) - abstained, abstained)


def eliminations(days: Sequence[Day]) -> tuple[int, int]:
    """(Werewolves voted out, players voted out)."""
    wolves = [day.wolf(day.out) for day in days if day.out is not None]
    return sum(wolves), len(wolves)


# -- replies ----------------------------------------------------------------------------------------


class Replies(NamedTuple):
    """Counts of usable and unusable replies.

    turns: all asks to seats (with probes). fallbacks: turns without a usable reply, for which the ruleset's
    stand-in was applied. decisions, stand_ins: the same for turns that can fail (`may_fail`). attempts: model
    calls. mistakes: attempts with an unusable reply (each retry counts). choices: decisions among listed
    options; illegal: those of them in which a reply chose an option that was not allowed, even if a retry
    corrected it. last_taken: attempts whose reply had several answers, of which the last was taken.
    """

    turns: int
    fallbacks: int
    decisions: int
    stand_ins: int
    attempts: int
    mistakes: int
    choices: int
    illegal: int
    last_taken: int


def _is_choice(turn: PastTurn) -> bool:
    return turn.kind not in WITHOUT_OPTIONS and not isinstance(turn.action, Say)


def seat_turns(record: GameRecord) -> list[PastTurn]:
    """Every decision asked of a seat in this game, probes included; of a fork those after its turn."""
    shared = record.shared
    return [turn for turn in (*record.turns, *record.probes) if turn.seat >= 0 and turn.ask not in shared]


def may_fail(record: GameRecord, turn: PastTurn) -> bool:
    """Whether a seat's turn took a call or is a user's own agent's; others always have a usable reply."""
    return bool(turn.calls) or label_of(record, turn).own


def replies_in(record: GameRecord, turns: Sequence[PastTurn]) -> Replies:
    """Counts of usable and unusable replies of these turns."""
    decided = [turn for turn in turns if may_fail(record, turn)]
    choices = [turn for turn in decided if _is_choice(turn)]
    illegal = [any(is_illegal(mistake.reason) for mistake in mistakes_in(turn)) for turn in choices]
    return Replies(
        len(turns),
        sum(turn.invalid is not None for turn in turns),
        len(decided),
        sum(turn.invalid is not None for turn in decided),
        sum(len(turn.calls) for turn in turns),
        sum(len(mistakes_in(turn)) for turn in turns),
        len(choices),
        sum(illegal),
        sum(len(last_taken_in(turn)) for turn in turns),
    )


def mistakes_in(turn: PastTurn) -> list[Mistake]:
    """The unusable replies of a turn."""
    return [content for _, content in turn.notes if isinstance(content, Mistake) and not content.taken]


def last_taken_in(turn: PastTurn) -> list[Mistake]:
    """The replies of a turn with several answers, of which the last was taken."""
    return [content for _, content in turn.notes if isinstance(content, Mistake) and content.taken]


def replies_by_player(record: GameRecord) -> dict[PlayerLabel, Replies]:
    """Counts of usable and unusable replies, by player."""
    of_label: dict[PlayerLabel, list[PastTurn]] = {label: [] for label in sorted(set(player_labels(record)))}
    for turn in seat_turns(record):
        of_label[label_of(record, turn)].append(turn)
    return {label: replies_in(record, asked) for label, asked in of_label.items()}
