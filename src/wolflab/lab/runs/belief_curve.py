"""How each public event of a recorded game moved the built-in reader's beliefs: an instrument, for pages.

The reader is the posterior of the built-in player (`models.village`). It sits at every living seat of the
village, knows what that seat has seen, and says how likely each other seat is a Werewolf. Nothing of the
players' own thoughts enters: the curve tells what the events were worth to a reader, and not what players
thought.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...agents.memory import remember, situation
from ...models.village import Village
from ...record import GameRecord
from ...rules import (
    EVERYONE,
    ROLES,
    Ask,
    DayBroke,
    Event,
    GameEnded,
    Log,
    NightFell,
    Said,
    Shot,
    VoteCounted,
    Voted,
    facts_of,
    seats_of,
)

SEATS = 9
"""The most seats: up to nine the reader's posterior is exact (`worlds`), and takes a few seconds."""
LONGEST = 300
"""The most events of a game."""
LEAST = 0.05
"""The least move of a turning point."""
MOVED = 0.10
"""The least move of one seat that is named."""
MOST = 5
"""The most turning points of a game."""


@dataclass(frozen=True, slots=True)
class BeliefMove:
    """A public event, and the chance that the reader gives to the true Werewolves before and after it.

    at: its index in `record.events`. seat: whose doing it is; None for the moderator's. round: its round.
    readers: (seat, before, after) of each living seat of the village; a chance is the mean over the true
    Werewolves, from 0 to 1.
    """

    at: int
    seat: int | None
    round: int
    readers: tuple[tuple[int, float, float], ...]

    @property
    def before(self) -> float:
        """The mean over the seats, before."""
        return sum(before for _, before, _ in self.readers) / len(self.readers)

    @property
    def after(self) -> float:
        """The mean over the seats, after."""
        return sum(after for *_, after in self.readers) / len(self.readers)

    @property
    def move(self) -> float:
        """The mean change."""
        return self.after - self.before

    @property
    def moved(self) -> tuple[tuple[int, float, float], ...]:
        """The seats whose chance changed by `MOVED` or more."""
        return tuple(one for one in self.readers if abs(one[2] - one[1]) >= MOVED)


def why_no_curve(record: GameRecord) -> str:
    """Why a game has no curve, in one sentence; "" if it has one."""
    if record.outcome is None:
        return "The game is not over."
    if record.ruleset.players > SEATS:
        return f"The game has {record.ruleset.players} players; the reader is computed for {SEATS} at most."
    if len(record.events) > LONGEST:
        return f"The game has {len(record.events)} events; the reader is computed for {LONGEST} at most."
    return ""


def belief_curve(record: GameRecord) -> tuple[BeliefMove, ...]:
    """Every public event before the end, in order, without a dawn at which the game ends. Only for a record
    without `why_no_curve`.
    """
    reader, log = Village(), Log(record.ruleset)
    roles = record.roles
    wolves = [seat for seat, role in enumerate(roles) if ROLES[role].wolf]
    facts, chances = facts_of(record.ruleset), dict[int, float]()
    moves = []
    for at, event in enumerate(record.events):
        later = record.events[at + 1 :]
        if isinstance(event, GameEnded) or (isinstance(event, DayBroke) and _is_over(later)):
            break
        log.extend([event])
        facts = facts.then(event)
        phase = "discussion" if _talk_follows(later) else facts.phase
        if not all(facts.roles):  # not all cards are dealt
            continue
        readers = []
        for seat in set(seats_of(facts.alive)).difference(wolves):
            if seat in chances and not event.audience >> seat & 1:
                continue
            view = log.view(seat)
            ask = Ask(f"{facts.round}/vote/{seat}", seat, "vote", phase, facts.round, None)
            wolf = reader.posterior(situation(view, remember(view, prune=False), ask, "append")).wolf
            chance = sum(wolf[other] for other in wolves) / len(wolves)
            readers.append((seat, chances.get(seat, chance), chance))
            chances[seat] = chance
        if readers and event.audience == EVERYONE and not isinstance(event, NightFell):
            moves.append(BeliefMove(at, _actor(event), facts.round, tuple(readers)))
    return tuple(moves)


def _is_over(events: Sequence[Event]) -> bool:
    """Whether a game ends at a dawn, which the reader takes as a sign that it goes on. events: those
    after.
    """
    return not any(isinstance(event, NightFell | Said | Voted) for event in events)


def _talk_follows(events: Sequence[Event]) -> bool:
    """Whether the next act is talk or a vote of the day, which shows that the game went on until then."""
    for event in events:
        if isinstance(event, NightFell | GameEnded | VoteCounted | Shot):
            return False
        if isinstance(event, Said | Voted):
            return not (isinstance(event, Said) and event.where == "last words")
    return False


def _actor(event: Event) -> int | None:
    """The seat whose doing a public event is."""
    if isinstance(event, Said | Shot):
        return event.seat
    return event.voter if isinstance(event, Voted) else None


def turning_points(curve: Sequence[BeliefMove]) -> tuple[BeliefMove, ...]:
    """The events with the largest moves of `LEAST` or more, at most one of a seat and day, at most `MOST`; in
    the order of the game.
    """
    found: dict[tuple[int | None, int], BeliefMove] = {}
    for move in sorted(curve, key=lambda one: (-abs(one.move), one.at)):
        if abs(move.move) >= LEAST and len(found) < MOST:
            found.setdefault((move.seat, move.round), move)
    return tuple(sorted(found.values(), key=lambda one: one.at))
