"""The days of a game, from its record: the basis of leadership measures.

A `Day` is one round's discussion and vote: votes, straw votes, beliefs. Nothing is imputed: what a record
does not have is absent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar, assert_never

from ..record import GameRecord, PastTurn
from ..rules import (
    ROLES,
    Chose,
    ClockEvent,
    FactEvent,
    NightFell,
    OfficeEvent,
    Pick,
    Said,
    VoteCounted,
    Voted,
    with_facts,
)
from ..text.notes import Belief, Deduced, Rated, trust
from ..text.people import ASKED_ALREADY

T = TypeVar("T")
Rule = Literal["paper", "recorded", "wolf_exception"]
"""How a judgement becomes m. paper: 002 Eq. 2 for every rater. wolf_exception: 002's released code, where a
Werewolf's guess "Werewolf" counts as trust (of Eq. 2). recorded: the value that the agent used.
"""


@dataclass(frozen=True)
class Day:
    """One round's discussion and its counted vote.

    alive: before the vote, ascending. votes: voter → target, None for no vote; not all of the living need
    have a vote; each is one ballot, whatever its weight. straws: poll ("straw", "straw2" …) → voter → target
    or None; an unusable answer is no vote; a seat that was not asked is absent. beliefs: rater → target → the
    latest valid judgement up to the vote, including the vote's own. ratings: the same from the reliability
    probe, for raters that never deduce. before: as `beliefs`, at the time of the straw poll (only raters
    whose straw vote came with a deduction). asked: probe of `text.probes` → rater → target → trust, as
    answered then. statements: (seat, text) of the discussion in order. out: who was voted out. Judgements of
    dead targets are left out.
    """

    round: int
    names: tuple[str, ...]
    roles: tuple[str, ...]
    alive: tuple[int, ...]
    sheriff: int | None
    votes: Mapping[int, int | None]
    straws: Mapping[str, Mapping[int, int | None]]
    beliefs: Mapping[int, Mapping[int, Belief]]
    ratings: Mapping[int, Mapping[int, int]]
    before: Mapping[int, Mapping[int, Belief]]
    statements: tuple[tuple[int, str], ...]
    out: int | None
    asked: Mapping[str, Mapping[int, Mapping[int, int]]] = field(default_factory=dict)

    @cached_property
    def followers(self) -> tuple[int, ...]:
        """The voters, without the Sheriff."""
        return tuple(seat for seat in sorted(self.votes) if seat != self.sheriff)

    def polled(self, poll: str = "straw") -> bool:
        """Whether every follower was asked in that poll."""
        asked = self.straws.get(poll, {})
        return bool(self.followers) and all(seat in asked for seat in self.followers)

    def wolf(self, seat: int) -> bool:
        """Whether that seat is a Werewolf."""
        return ROLES[self.roles[seat]].wolf

    def matrix(self, rule: Rule = "paper") -> Mapping[tuple[int, int], int]:
        """m[rater, target] at the vote for living pairs, 1–10; pairs never judged are absent."""
        if rule not in self._matrices:
            from_ratings = {
                (rater, target): score
                for rater, scores in self.ratings.items()
                for target, score in scores.items()
            }
            self._matrices[rule] = self._matrix_of(self.beliefs, rule) | from_ratings
        return self._matrices[rule]

    @cached_property
    def _matrices(self) -> dict[Rule, Mapping[tuple[int, int], int]]:
        """The matrices that were asked for: many measures read the same one."""
        return {}

    def matrix_before(self) -> dict[tuple[int, int], int]:
        """As `matrix`, at the straw poll."""
        return self._matrix_of(self.before, "paper")

    def _matrix_of(
        self, beliefs: Mapping[int, Mapping[int, Belief]], rule: Rule
    ) -> dict[tuple[int, int], int]:
        return {
            (rater, target): belief_reliability(belief, self.wolf(rater), rule)
            for rater, judged in beliefs.items()
            for target, belief in judged.items()
        }


def belief_reliability(belief: Belief, rater_is_wolf: bool, rule: Rule = "paper") -> int:
    """m of 002 Eq. 2, from the guessed role and the confidence.

    The value of "Uncertain" is the recipe's parameter (002: c, 004: 6), so the recorded value is used.
    """
    if rule == "recorded" or belief.role not in ROLES:
        return belief.reliability
    return trust(belief.role, belief.confidence, rule == "wolf_exception" and rater_is_wolf)


def days_of(record: GameRecord) -> tuple[Day, ...]:
    """Every round with a counted vote, in order; only these enter measures."""
    beliefs, before = _beliefs_at_votes(record), _beliefs_at_straws(record)
    ratings, straws, asked = _ratings(record), _straws(record), _asked(record)
    return tuple(
        Day(
            vote.round,
            record.ruleset.names,
            record.roles,
            vote.alive,
            vote.sheriff,
            vote.votes,
            straws.get(vote.round, {}),
            _among(vote.alive, beliefs, vote.round),
            _among(vote.alive, ratings, vote.round),
            _among(vote.alive, before, vote.round),
            tuple(vote.statements),
            vote.out,
            {probe: _among(vote.alive, scores, vote.round) for probe, scores in asked.items()},
        )
        for vote in _votes(record)
    )


def _among(
    living: tuple[int, ...], tables: Mapping[tuple[int, int], Mapping[int, T]], round: int
) -> dict[int, dict[int, T]]:
    """One round's part of a table with keys (round, rater), restricted to living pairs of different
    players.
    """
    among = {
        rater: {target: entry for target, entry in judged.items() if target in living and target != rater}
        for (when, rater), judged in tables.items()
        if when == round and rater in living
    }
    return {rater: judged for rater, judged in among.items() if judged}


# -- votes and statements -------------------------------------------------------------------


@dataclass(slots=True)
class _Vote:
    """A round so far: its statements and votes."""

    round: int
    alive: tuple[int, ...] = ()
    sheriff: int | None = None
    votes: dict[int, int | None] = field(default_factory=dict)
    statements: list[tuple[int, str]] = field(default_factory=list)
    out: int | None = None


def _votes(record: GameRecord) -> Iterator[_Vote]:
    """The rounds with a counted vote and at least one voter."""
    vote = _Vote(0)
    for event, facts in with_facts(record.ruleset, record.events):
        match event:
            case NightFell(round):
                vote = _Vote(round)
            case Said(seat, where, text):
                if where == "discussion":
                    vote.statements.append((seat, text))
            case Voted(voter, target, what):
                if what == "eliminate":
                    if not vote.votes:
                        vote.alive, vote.sheriff = facts.living, facts.sheriff
                    vote.votes[voter] = target
            case VoteCounted(seat):
                vote.out = seat
                if vote.votes:
                    yield vote
            case FactEvent() | OfficeEvent() | ClockEvent():
                pass  # what they say is among the facts
            case Chose():
                pass
            case _:
                assert_never(event)


# -- beliefs --------------------------------------------------------------------------------


def _judgements(turn: PastTurn) -> dict[int, Belief]:
    """The judgements of one turn; the latest about each player."""
    return {
        belief.target: belief
        for _, content in turn.notes
        if isinstance(content, Deduced)
        for belief in content.beliefs
    }


def _beliefs_at_votes(record: GameRecord) -> dict[tuple[int, int], dict[int, Belief]]:
    """(round, rater) → its beliefs when it voted, folded over its turns up to that vote. Without a vote: its
    beliefs when the vote began.
    """
    held: dict[int, dict[int, Belief]] = defaultdict(dict)
    at_votes: dict[tuple[int, int], dict[int, Belief]] = {}
    before: dict[tuple[int, int], dict[int, Belief]] = {}
    voting = 0
    for turn in record.turns:
        if turn.kind == "vote" and turn.round > voting:
            voting = turn.round
            before |= {(voting, seat): dict(judged) for seat, judged in held.items()}
        held[turn.seat].update(_judgements(turn))
        if turn.kind == "vote":
            at_votes[turn.round, turn.seat] = dict(held[turn.seat])
    return at_votes | {when: judged for when, judged in before.items() if when not in at_votes}


def _straws(record: GameRecord) -> dict[int, dict[str, dict[int, int | None]]]:
    """Round → poll → voter → target."""
    polls: dict[int, dict[str, dict[int, int | None]]] = {}
    for probe in record.probes:
        if probe.kind.startswith("straw") and probe.invalid != ASKED_ALREADY:
            target = probe.action.seat if isinstance(probe.action, Pick) else None
            polls.setdefault(probe.round, {}).setdefault(probe.kind, {})[probe.seat] = target
    return polls


def _beliefs_at_straws(record: GameRecord) -> dict[tuple[int, int], dict[int, Belief]]:
    """(round, rater) → its beliefs at its first straw vote, including that vote's own.

    The poll is taken when the last statement is asked for, so every earlier turn was asked after fewer
    events. Raters whose straw vote came without a deduction are absent.
    """
    at_straws = {}
    for probe in record.probes:
        fresh = _judgements(probe)
        if probe.kind != "straw" or not fresh:
            continue
        held: dict[int, Belief] = {}
        for turn in record.turns:
            if turn.seat == probe.seat and turn.at < probe.at:
                held.update(_judgements(turn))
        at_straws[probe.round, probe.seat] = held | fresh
    return at_straws


def _ratings(record: GameRecord) -> dict[tuple[int, int], dict[int, int]]:
    """(round, rater) → scores of the reliability probe, for raters without any deductions.

    Scores outside 1–10 are ignored. A score holds until the next one, like a judgement.
    """
    deduces = {
        turn.seat for turn in record.turns if any(isinstance(content, Deduced) for _, content in turn.notes)
    }
    held: dict[int, dict[int, int]] = defaultdict(dict)
    at_probes = {}
    for probe in record.probes:
        if probe.kind != "rate" or probe.seat in deduces:
            continue
        for _, content in probe.notes:
            if isinstance(content, Rated):
                held[probe.seat].update(_valid(content))
        at_probes[probe.round, probe.seat] = dict(held[probe.seat])
    return at_probes


def _valid(rated: Rated) -> dict[int, int]:
    return {seat: m for seat, m in rated.scores.items() if 1 <= m <= 10}


def _asked(record: GameRecord) -> dict[str, dict[tuple[int, int], dict[int, int]]]:
    """Probe → (round, rater) → scores as answered then."""
    asked: dict[str, dict[tuple[int, int], dict[int, int]]] = {}
    for probe in record.probes:
        for _, content in probe.notes:
            if isinstance(content, Rated):
                asked.setdefault(probe.kind, {})[probe.round, probe.seat] = _valid(content)
    return asked
