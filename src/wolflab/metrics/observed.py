"""One game for the measures: its record, and derived data that several of them need, computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..record import GameRecord, PastTurn
from ..rules import Say
from ..text.notes import Proposed
from ..text.reading import can_be_read
from ..usage import CallTotals
from .behaviours import DetectedBehaviour, DetectorView, detected_behaviours
from .conduct import Conduct, conduct_of
from .days import Day, days_of
from .deduction import AskedGuess, RoleGuess, asked_guesses, village_guesses
from .leadership import peer_ratio_of_role
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
    """What is computed only if an experiment asks for it.

    behaviours: `conduct`. watched: the seat whose own wins are counted. choices: studies of
    `metrics.choices`.
    """

    behaviours: bool = False
    watched: int | None = None
    choices: tuple[str, ...] = ()


NOTHING_MORE = MeasuringOptions()


class ObservedGame:
    """See the module. spent: totals of the game's calls, by model."""

    def __init__(
        self, record: GameRecord, options: MeasuringOptions, spent: Mapping[str, CallTotals]
    ) -> None:
        self.record, self.options, self.spent = record, options, spent

    @cached_property
    def days(self) -> tuple[Day, ...]:
        """The days with a counted vote."""
        return days_of(self.record)

    @cached_property
    def peer_ratios(self) -> Mapping[str, float]:
        """Role → mean Ratio of its holders who are not Sheriff, if there is one."""
        ratios = {role: peer_ratio_of_role(self.days, role) for role in sorted(set(self.record.roles))}
        return {role: value for role, value in ratios.items() if value is not None}

    @cached_property
    def guesses(self) -> tuple[RoleGuess, ...]:
        """The village side's guesses of roles at each day's vote."""
        return tuple(village_guesses(self.days))

    @cached_property
    def asked_guesses(self) -> tuple[AskedGuess, ...]:
        """The village side's guesses in answer to probes for roles."""
        return tuple(asked_guesses(self.record))

    @cached_property
    def askers(self) -> Mapping[str, str]:
        """Id of a probe's ask → the player that answered it."""
        return {turn.ask: str(label_of(self.record, turn)) for turn in self.record.probes}

    @cached_property
    def judges(self) -> Mapping[tuple[int, int], str]:
        """(day, seat) → the player at that day's vote, whose judgements count."""
        votes = [turn for turn in self.record.turns if turn.kind == "vote"]
        seats = range(len(self.record.roles))
        began = {(turn.round, seat): turn.at for turn in reversed(votes) for seat in seats}
        # In an open vote each one comes at its own time.
        own = {(turn.round, turn.seat): turn.at for turn in votes}
        return {
            (day, seat): str(player_label(self.record.player(seat, at)))
            for (day, seat), at in (began | own).items()
        }

    @cached_property
    def person(self) -> int | None:
        """The seat of the person; None if there is none, or several."""
        players = enumerate(self.record.header.get("players", ()))
        seats = [seat for seat, player in players if player_label(player).person]
        return seats[0] if len(seats) == 1 else None

    @cached_property
    def days_of_person(self) -> tuple[Day, ...]:
        """The days on which that person voted, and not a successor in the seat."""
        voted = {
            turn.round
            for turn in self.record.turns
            if turn.kind == "vote" and turn.seat == self.person and label_of(self.record, turn).person
        }
        return tuple(day for day in self.days if day.round in voted)

    @cached_property
    def turns(self) -> list[PastTurn]:
        """See `seat_turns`."""
        return seat_turns(self.record)

    @cached_property
    def offers(self) -> tuple[tuple[str, Proposed], ...]:
        """(ask, candidates) of every decision that had some (004 §4.2)."""
        return tuple(
            (turn.ask, content)
            for turn in self.record.turns
            for _, content in turn.notes
            if isinstance(content, Proposed)
        )

    @cached_property
    def instrument(self) -> bool:
        """Whether no language model plays. If one does, only replies and calls of language models count."""
        return is_instrument(self.record)

    @cached_property
    def reported_turns(self) -> list[PastTurn]:
        """The turns whose replies count: of language models, or of all players if none plays."""
        return [turn for turn in self.turns if self.instrument or label_of(self.record, turn).speaks]

    @cached_property
    def replies(self) -> Replies:
        """Counts of usable and unusable replies in these turns."""
        return replies_in(self.record, self.reported_turns)

    @cached_property
    def calls(self) -> CallTotals:
        """The totals of calls: of language models, or all if none plays."""
        counted = [came for name, came in self.spent.items() if self.instrument or is_language_model(name)]
        return sum(counted, CallTotals())

    @property
    def unknown_calls(self) -> int:
        """The number of calls if their totals are not known; a fork may need none of its own."""
        return 0 if self.calls.calls or self.record.fork is not None else self.replies.attempts

    @cached_property
    def replies_by_player(self) -> Mapping[PlayerLabel, Replies]:
        """Counts of usable and unusable replies, by player."""
        return replies_by_player(self.record)

    @cached_property
    def statements(self) -> tuple[int, int]:
        """(unreadable statements, all statements except silence); of a fork those after its turn."""
        return sum(self.unread.values()), len(self.unread)

    @cached_property
    def unread(self) -> Mapping[str, bool]:
        """Ask of each of these statements → whether it could not be read."""
        return {
            turn.ask: not can_be_read(turn.action.text, self.record.ruleset.names)
            for turn in self.turns
            if turn.probe is None and isinstance(turn.action, Say) and turn.action.text
        }

    @cached_property
    def view(self) -> DetectorView:
        """What the detectors of behaviours see."""
        return DetectorView.of(self.record)

    @cached_property
    def seen(self) -> tuple[DetectedBehaviour, ...]:
        """The behaviours that the detectors find."""
        return tuple(detected_behaviours(self.view))

    @cached_property
    def conduct(self) -> Conduct:
        """The conduct of the players; it takes longest."""
        return conduct_of(self.record)
