"""The days of a game as its record tells them: what leadership is read from.

A `Day` is one round's discussion and vote: votes, straw votes, who believed whom. Nothing is imputed here:
what a record does not hold is absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, assert_never

from ..record import GameRecord, PastTurn
from ..rules import (
    ROLES,
    Action,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    FirstSpeaker,
    GameEnded,
    Learned,
    NightFell,
    PackMet,
    Pick,
    Revealed,
    Said,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    told,
)
from ..text.notes import Belief, Deduced, Rated, trust

T = TypeVar("T")
Rule = Literal["paper", "recorded", "wolf_exception"]
"""How a judgement becomes m. paper: 002 Eq. 2 for every rater. wolf_exception: the released code of 002,
where a Werewolf's guess "Werewolf" counts as trust (of Eq. 2). recorded: as the agent used it."""


@dataclass(frozen=True, slots=True)
class Day:
    """One round's discussion and vote.

    alive: before the vote, ascending. votes: voter → target, None for no vote. straws: poll ("straw",
    "straw2" …) → voter → target or None; an unusable answer is no vote and is listed in `unusable` as
    (poll, seat); a seat that was not asked is absent. beliefs: rater → target → the latest valid
    judgement up to the vote, the vote's own included. ratings: the same from the reliability probe, for
    raters that never deduce. before: as `beliefs`, at the moment of the straw poll (raters whose straw
    vote came with a deduction). statements: (seat, text) of the discussion in order. counted: the vote
    was counted. A dead target's judgements are left out.
    """

    round: int
    names: tuple[str, ...]
    roles: tuple[str, ...]
    alive: tuple[int, ...]
    sheriff: int | None
    votes: Mapping[int, int | None]
    straws: Mapping[str, Mapping[int, int | None]]
    unusable: frozenset[tuple[str, int]]
    beliefs: Mapping[int, Mapping[int, Belief]]
    ratings: Mapping[int, Mapping[int, int]]
    before: Mapping[int, Mapping[int, Belief]]
    statements: tuple[tuple[int, str], ...]
    counted: bool
    out: int | None = None

    @property
    def finished(self) -> bool:
        """Everybody living has voted and the vote was counted; only such days enter metrics."""
        return self.counted and all(seat in self.votes for seat in self.alive)

    @property
    def followers(self) -> tuple[int, ...]:
        """The living other than the Sheriff."""
        return tuple(seat for seat in self.alive if seat != self.sheriff)

    def polled(self, poll: str = "straw") -> bool:
        """Whether every living follower was asked in that poll."""
        asked = self.straws.get(poll, {})
        return bool(self.followers) and all(seat in asked for seat in self.followers)

    def wolf(self, seat: int) -> bool:
        """Whether that seat is a Werewolf."""
        return ROLES[self.roles[seat]].wolf

    def matrix(self, rule: Rule = "paper") -> dict[tuple[int, int], int]:
        """m[rater, target] at the vote for living pairs, 1–10; pairs never judged are absent."""
        found: dict[tuple[int, int], int] = {}
        for rater, judged in self.beliefs.items():
            for target, belief in judged.items():
                found[rater, target] = reliability(belief, self.wolf(rater), rule)
        for rater, scores in self.ratings.items():
            for target, score in scores.items():
                found[rater, target] = score
        return found

    def matrix_before(self, rule: Rule = "paper") -> dict[tuple[int, int], int]:
        """As `matrix`, at the straw poll."""
        return {
            (rater, target): reliability(belief, self.wolf(rater), rule)
            for rater, judged in self.before.items()
            for target, belief in judged.items()
        }


def reliability(belief: Belief, rater_is_wolf: bool, rule: Rule = "paper") -> int:
    """m of 002 Eq. 2 from the guessed role and the confidence.

    What "Uncertain" is worth is the recipe's parameter (002: c, 004: 6), so its recorded value stands.
    """
    if rule == "recorded" or belief.role not in ROLES:
        return belief.reliability
    return trust(belief.role, belief.confidence, rule == "wolf_exception" and rater_is_wolf)


def days(record: GameRecord) -> tuple[Day, ...]:
    """Every round in which voting began, in order; an unfinished last one is marked by `finished`."""
    beliefs = _beliefs_at_votes(record)
    ratings = _ratings(record)
    straws = _straws(record)
    before = _beliefs_at_straws(record)
    found = []
    for day in _walk(record):
        living = set(day.alive)
        polls: dict[str, dict[int, int | None]] = {}
        unusable = set()
        for turn in straws.get(day.round, ()):
            polls.setdefault(turn.kind, {})[turn.seat] = _target(turn.action)
            if turn.invalid is not None:
                unusable.add((turn.kind, turn.seat))
        found.append(
            Day(
                day.round,
                record.ruleset.names,
                record.roles,
                day.alive,
                day.sheriff,
                day.votes,
                polls,
                frozenset(unusable),
                _among(living, beliefs, day.round),
                _among(living, ratings, day.round),
                _among(living, before, day.round),
                tuple(day.statements),
                day.counted,
                day.out,
            )
        )
    return tuple(found)


def _target(action: Action | None) -> int | None:
    return action.seat if isinstance(action, Pick) else None


def _among(
    living: set[int], found: Mapping[tuple[int, int], Mapping[int, T]], round: int
) -> dict[int, dict[int, T]]:
    """One round's share of a table keyed by (round, rater), among the living and without oneself."""
    table = {}
    for (when, rater), judged in found.items():
        if when == round and rater in living:
            kept = {target: one for target, one in judged.items() if target in living and target != rater}
            if kept:
                table[rater] = kept
    return table


# -- what happened --------------------------------------------------------------------------


@dataclass(slots=True)
class _Round:
    round: int
    alive: tuple[int, ...] = ()
    sheriff: int | None = None
    votes: dict[int, int | None] = field(default_factory=dict)
    statements: list[tuple[int, str]] = field(default_factory=list)
    counted: bool = False
    out: int | None = None


def _walk(record: GameRecord) -> Iterator[_Round]:
    now = _Round(0)
    for event, facts in told(record.ruleset, record.events):
        match event:
            case NightFell(round):
                if now.votes:
                    yield now
                now = _Round(round)
            case Said(seat, where, text):
                if where == "discussion":
                    now.statements.append((seat, text))
            case Voted(voter, target, what):
                if what == "eliminate":
                    if not now.votes:
                        now.alive, now.sheriff = facts.living, facts.sheriff
                    now.votes[voter] = target
            case VoteCounted(seat):
                now.counted, now.out = True, seat
            case Dealt() | PackMet() | DayBroke() | Revealed() | Shot() | SheriffNamed() | GameEnded():
                pass  # what they say is among the facts
            case Chose() | Learned() | VictimShown():
                pass
            case SheriffDrawn() | SpeakersDrawn() | CandidatesNamed() | FirstSpeaker():
                pass
            case _:
                assert_never(event)
    if now.votes:
        yield now


# -- who believed whom ----------------------------------------------------------------------


def _judgements(turn: PastTurn) -> dict[int, Belief]:
    """The judgements that came with one turn; the latest about each player."""
    return {
        belief.target: belief
        for _, content in turn.notes
        if isinstance(content, Deduced)
        for belief in content.beliefs
    }


def _beliefs_at_votes(record: GameRecord) -> dict[tuple[int, int], dict[int, Belief]]:
    """(round, rater) → beliefs in force when it voted: a fold over its turns up to that vote."""
    held: dict[int, dict[int, Belief]] = {}
    found = {}
    for turn in record.turns:
        if turn.seat < 0:
            continue
        mine = held.setdefault(turn.seat, {})
        mine.update(_judgements(turn))
        if turn.kind == "vote":
            found[turn.round, turn.seat] = dict(mine)
    return found


def _straws(record: GameRecord) -> dict[int, list[PastTurn]]:
    found: dict[int, list[PastTurn]] = {}
    for turn in record.probes:
        if turn.kind.startswith("straw"):
            found.setdefault(turn.round, []).append(turn)
    return found


def _beliefs_at_straws(record: GameRecord) -> dict[tuple[int, int], dict[int, Belief]]:
    """(round, rater) → beliefs in force at its first straw vote: what it had, and that vote's own.

    The poll is taken at the same moment as the last statement is asked for, so every earlier turn was
    asked when fewer events had happened. Raters whose straw vote brought no deduction are absent.
    """
    found = {}
    for probe in record.probes:
        fresh = _judgements(probe)
        if probe.kind != "straw" or not fresh:
            continue
        held: dict[int, Belief] = {}
        for turn in record.turns:
            if turn.seat == probe.seat and turn.at < probe.at:
                held.update(_judgements(turn))
        found[probe.round, probe.seat] = held | fresh
    return found


def _ratings(record: GameRecord) -> dict[tuple[int, int], dict[int, int]]:
    """(round, rater) → scores of the reliability probe, for raters that leave no deductions at all.

    Scores outside 1–10 are no scores. A score not given again stands, as a judgement does.
    """
    deduces = {
        turn.seat for turn in record.turns if any(isinstance(content, Deduced) for _, content in turn.notes)
    }
    held: dict[int, dict[int, int]] = {}
    found = {}
    for probe in record.probes:
        if probe.kind != "rate" or probe.seat in deduces:
            continue
        mine = held.setdefault(probe.seat, {})
        for _, content in probe.notes:
            if isinstance(content, Rated):
                mine.update({seat: m for seat, m in content.scores.items() if 1 <= m <= 10})
        found[probe.round, probe.seat] = dict(mine)
    return found
