"""What happens in a game. Frozen, closed union; every event states its audience.

Each event is of one kind, its base class. Whoever folds events matches those that matter there, then the
other kinds in one arm, and ends with `assert_never`; so a new event is its class here, its place in
`Facts.then` and its words in `text.asking.sentences`. What measures count, and what the built-in player
concludes something from, is talk and choices: there they are matched one by one, and the type checker names
these places for a new one.

`audience` is a bit mask over seats (bit *s* set: seat *s* learns of it); `EVERYONE` has every bit,
`MODERATOR` none. It has no default: an event that forgets its audience does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .actions import Action
from .outcome import Outcome

EVERYONE = -1
MODERATOR = 0


def only(*seats: int) -> int:
    """The audience made of these seats alone."""
    mask = 0
    for seat in seats:
        mask |= 1 << seat
    return mask


@lru_cache(1 << 16)
def seats_of(mask: int) -> tuple[int, ...]:
    """The seats in a bit mask, ascending."""
    return tuple(seat for seat in range(mask.bit_length()) if mask >> seat & 1)


class FactEvent:
    """What is so of players: who holds which card, who is out or back, whose vote counts. All or some are
    told; what follows from it, `Facts.then` says.
    """

    __slots__ = ()


class ChoiceEvent:
    """What a player chose among options."""

    __slots__ = ()


class TalkEvent:
    """What a player said."""

    __slots__ = ()


class OfficeEvent:
    """Who is, or may become, Sheriff, and who speaks when."""

    __slots__ = ()


class ClockEvent:
    """The game goes on to its next time, or is over."""

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
"""What a look shows of a player that is none, where it shows the side alone."""


@dataclass(frozen=True, slots=True)
class Learned(FactEvent):
    """What `seat` learned of `target` by a look. what: the name of a role, or "Werewolf" or `NOT_WOLF` where
    the look shows the side alone. Other words are told to the seat, and nothing is concluded from them.
    """

    seat: int
    target: int
    what: str
    audience: int


@dataclass(frozen=True, slots=True)
class VictimShown(FactEvent):
    """The Witch is told whom the Werewolves are about to kill."""

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
    """Where `seat` votes, its vote counts so often from now on; 0: it is asked for none."""

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
    """`voter` voted for `target` (None: did not vote). `what`: "eliminate" or "elect"."""

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
