"""The events of a game: frozen dataclasses in a closed union. Every event states its audience.

Each event has one kind, its base class. A `match` over events lists the events that matter there, then the
other kinds in one arm, and ends with `assert_never`. So a new event needs its class here, its arm in
`Facts.then` and its words in `text.asking.sentences`. Measures and the built-in player match talk and choices
one by one, and the type checker names these places for a new event.

`audience` is a bit mask over seats (bit *s* set: seat *s* learns of it); `EVERYONE` has every bit,
`MODERATOR` none. It has no default.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .actions import Action
from .outcome import Outcome

EVERYONE = -1
MODERATOR = 0


def only(*seats: int) -> int:
    """The bit mask of these seats."""
    mask = 0
    for seat in seats:
        mask |= 1 << seat
    return mask


@lru_cache(1 << 16)
def seats_of(mask: int) -> tuple[int, ...]:
    """The seats in a bit mask, ascending."""
    return tuple(seat for seat in range(mask.bit_length()) if mask >> seat & 1)


class FactEvent:
    """It changes what is known of players: who holds which card, who is out or back, whose vote counts. See
    `Facts.then`.
    """

    __slots__ = ()


class ChoiceEvent:
    """A player's choice among options."""

    __slots__ = ()


class TalkEvent:
    """A player's talk."""

    __slots__ = ()


class OfficeEvent:
    """Who is or may become Sheriff, and the order of speech."""

    __slots__ = ()


class ClockEvent:
    """The game goes on to a night or a day, or ends."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Dealt(FactEvent):
    """A seat was dealt its role."""

    seat: int
    role: str
    audience: int


@dataclass(frozen=True, slots=True)
class PackMet(FactEvent):
    """The members of the pack recognise each other."""

    seats: tuple[int, ...]
    audience: int


@dataclass(frozen=True, slots=True)
class SheriffDrawn(OfficeEvent):
    """The moderator secretly chose who will be Sheriff (002 §9.1, heterogeneous)."""

    seat: int
    audience: int


@dataclass(frozen=True, slots=True)
class SpeakersDrawn(OfficeEvent):
    """The order of speech, for a game or a day."""

    seats: tuple[int, ...]
    audience: int


@dataclass(frozen=True, slots=True)
class NightFell(ClockEvent):
    """Night of `round` begins."""

    round: int
    audience: int


@dataclass(frozen=True, slots=True)
class Chose(ChoiceEvent):
    """A seat's night choice, known to itself (and to its pack for the kill)."""

    seat: int
    kind: str
    action: Action
    audience: int


NOT_WOLF = "not a Werewolf"
"""What a look shows of a player on the village's side, if it shows the side alone."""


@dataclass(frozen=True, slots=True)
class Learned(FactEvent):
    """What `seat` learned of `target` by a look. what: the name of a role, or "Werewolf" or `NOT_WOLF` if the
    look shows the side alone. Other words are shown to the seat and change no facts.
    """

    seat: int
    target: int
    what: str
    audience: int


@dataclass(frozen=True, slots=True)
class VictimShown(FactEvent):
    """The Witch learns whom the Werewolves are about to kill."""

    seat: int
    victim: int
    audience: int


@dataclass(frozen=True, slots=True)
class DayBroke(ClockEvent):
    """Dawn of `round`: who died in the night, in seat order (may be empty). No cause is given."""

    round: int
    deaths: tuple[int, ...]
    audience: int


@dataclass(frozen=True, slots=True)
class Shot(FactEvent):
    """`seat` shot `target`, who is out of the game at once."""

    seat: int
    target: int
    audience: int


@dataclass(frozen=True, slots=True)
class Returned(FactEvent):
    """`seat`, who was out of the game, is back in it."""

    seat: int
    audience: int


@dataclass(frozen=True, slots=True)
class VotesSet(FactEvent):
    """From now on `seat`'s vote counts `votes` times; 0: it is not asked to vote."""

    seat: int
    votes: int
    audience: int


@dataclass(frozen=True, slots=True)
class Revealed(FactEvent):
    """A player's role is made public."""

    seat: int
    role: str
    audience: int


@dataclass(frozen=True, slots=True)
class CandidatesNamed(OfficeEvent):
    """Who runs for Sheriff, in the order in which they speak."""

    seats: tuple[int, ...]
    audience: int


@dataclass(frozen=True, slots=True)
class SheriffNamed(OfficeEvent):
    """`seat` is the Sheriff from now on. `how`: "assigned", "drawn", "elected" or "succeeded"."""

    seat: int
    how: str
    audience: int


@dataclass(frozen=True, slots=True)
class FirstSpeaker(OfficeEvent):
    """The Sheriff chose who speaks first (the rest of the order is not announced, 002 §1.2)."""

    sheriff: int
    seat: int
    audience: int


@dataclass(frozen=True, slots=True)
class Said(TalkEvent):
    """A public statement. `where`: "discussion", "election" or "last words". Empty text: said nothing."""

    seat: int
    where: str
    text: str
    audience: int


@dataclass(frozen=True, slots=True)
class Voted(ChoiceEvent):
    """`voter` voted for `target` (None: no vote). `what`: "eliminate" or "elect"."""

    voter: int
    target: int | None
    what: str
    audience: int


@dataclass(frozen=True, slots=True)
class VoteCounted(FactEvent):
    """The day's vote was counted; `seat` is out (None: nobody). `tied` lists a tie for most votes."""

    seat: int | None
    tied: tuple[int, ...]
    audience: int


@dataclass(frozen=True, slots=True)
class GameEnded(ClockEvent):
    """The game is over."""

    outcome: Outcome
    audience: int


Event = (
    Dealt
    | PackMet
    | SheriffDrawn
    | SpeakersDrawn
    | NightFell
    | Chose
    | Learned
    | VictimShown
    | DayBroke
    | Shot
    | Returned
    | VotesSet
    | Revealed
    | CandidatesNamed
    | SheriffNamed
    | FirstSpeaker
    | Said
    | Voted
    | VoteCounted
    | GameEnded
)
