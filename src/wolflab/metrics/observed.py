"""One game as the measures see it: its record, and what several of them need, each worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..record import GameRecord, PastTurn
from ..rules import Said
from ..text.notes import Proposed
from ..text.reading import can_be_read
from ..usage import CallTotals
from .conduct import Conduct, conduct_of
from .days import Day, days_of
from .deduction import AskedGuess, RoleGuess, asked_guesses, role_guesses
from .leadership import standing_of_role
from .play import (
    PlayerLabel,
    Replies,
    is_instrument,
    is_language_model,
    label_of,
    player_label,
    replies_by_player,
    replies_in,
    seat_turns,
)


@dataclass(frozen=True, slots=True)
class MeasuringOptions:
    """What is worked out beside the rest where an experiment asks for it.

    behaviours: `conduct`. watched: the seat whose own wins are told. choices: studies of `metrics.choices`.
    """

    behaviours: bool = False
    watched: int | None = None
    choices: tuple[str, ...] = ()


NOTHING_MORE = MeasuringOptions()


class ObservedGame:
    """See the module. spent: what the game's calls came to, by model."""

    def __init__(
        self, record: GameRecord, options: MeasuringOptions, spent: Mapping[str, CallTotals]
    ) -> None:
        self.record, self.options, self.spent = record, options, spent

    @cached_property
    def days(self) -> tuple[Day, ...]:
        """The days whose vote was counted."""
        return days_of(self.record)

    @cached_property
    def standings(self) -> Mapping[str, float]:
        """Role → mean standing of its holders who are not Sheriff, where there is one."""
        standings = {role: standing_of_role(self.days, role) for role in sorted(set(self.record.roles))}
        return {role: value for role, value in standings.items() if value is not None}

    @cached_property
    def guesses(self) -> tuple[RoleGuess, ...]:
        """What the village side guessed of the others, at each day's vote."""
        return tuple(role_guesses(self.days))

    @cached_property
    def asked_guesses(self) -> tuple[AskedGuess, ...]:
        """What the village side guessed where a probe asked for roles."""
        return tuple(asked_guesses(self.record))

    @cached_property
    def askers(self) -> Mapping[str, str]:
        """Id of a probe's ask → the player who answered it."""
        return {turn.ask: str(label_of(self.record, turn)) for turn in self.record.probes}

    @cached_property
    def judges(self) -> Mapping[tuple[int, int], str]:
        """(day, seat) → the player who held the seat at that day's vote, and whose judgements count there."""
        votes = [turn for turn in self.record.turns if turn.kind == "vote"]
        seats = range(len(self.record.roles))
        began = {(turn.round, seat): turn.at for turn in reversed(votes) for seat in seats}
        own = {(turn.round, turn.seat): turn.at for turn in votes}  # in an open vote each has its own time
        return {
            (day, seat): str(player_label(self.record.player(seat, at)))
            for (day, seat), at in (began | own).items()
        }

    @cached_property
    def person(self) -> int | None:
        """The seat of the person at the table; None where nobody is one, or several are."""
        players = enumerate(self.record.header.get("players", ()))
        seats = [seat for seat, player in players if player_label(player).person]
        return seats[0] if len(seats) == 1 else None

    @cached_property
    def days_of_person(self) -> tuple[Day, ...]:
        """The days on which that person voted, and nobody who took the seat over."""
        voted = {
            turn.round
            for turn in self.record.turns
            if turn.kind == "vote" and turn.seat == self.person and label_of(self.record, turn).person
        }
        return tuple(day for day in self.days if day.round in voted)

    @cached_property
    def turns(self) -> list[PastTurn]:
        """Every decision asked of a seat, probes included."""
        return seat_turns(self.record)

    @cached_property
    def offers(self) -> tuple[Proposed, ...]:
        """The candidates of every decision that was taken among some (004 §4.2)."""
        return tuple(
            content
            for turn in self.record.turns
            for _, content in turn.notes
            if isinstance(content, Proposed)
        )

    @cached_property
    def instrument(self) -> bool:
        """Whether no language model plays. Where one does, replies and calls are those of language models."""
        return is_instrument(self.record)

    @cached_property
    def replies(self) -> Replies:
        """How well replies could be used: those of language models, or of everybody where none plays."""
        asked = [turn for turn in self.turns if self.instrument or label_of(self.record, turn).speaks]
        return replies_in(self.record, asked)

    @cached_property
    def calls(self) -> CallTotals:
        """What calls came to: those of language models, or all where none plays."""
        counted = [came for name, came in self.spent.items() if self.instrument or is_language_model(name)]
        return sum(counted, CallTotals())

    @cached_property
    def replies_by_player(self) -> Mapping[PlayerLabel, Replies]:
        """How well each player's replies could be used."""
        return replies_by_player(self.record)

    @cached_property
    def statements(self) -> tuple[int, int]:
        """(those that could not be read, all that were no silence)."""
        said = [event.text for event in self.record.events if isinstance(event, Said) and event.text]
        return sum(not can_be_read(text, self.record.ruleset.names) for text in said), len(said)

    @cached_property
    def conduct(self) -> Conduct:
        """What the players do beside the rules. It takes longer than all else."""
        return conduct_of(self.record)
