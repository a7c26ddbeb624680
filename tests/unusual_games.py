"""Plays games with the roles of `unusual_roles` and says what any count, page or export leaves out of them.

    PYTHONPATH=COPY:tests python tests/unusual_games.py DIRECTORY

COPY is the copy of the package that has the roles. Prints JSON: check → what it found. What happened in a
game is worked out here from the engine's steps (who was asked, what was answered, who lived), never from
facts, days or rows, which are what is checked.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console

from command_line import wolflab
from wolflab.agents.policy.features import _Fold
from wolflab.env import WerewolfAEC
from wolflab.lab.data.rows import DataSource, data_rows
from wolflab.lab.storage.store import Store
from wolflab.lab.transcripts.seats import TranscriptDecision, seats_of_condition
from wolflab.metrics.behaviours.detector_view import DetectorView
from wolflab.metrics.leadership import dc, dc_others, dc_retest, ratio
from wolflab.metrics.observed import MeasuringOptions, ObservedGame
from wolflab.metrics.registry import MEASURES, SPLITS
from wolflab.record import GameRecord, verify
from wolflab.rules import (
    ROLES,
    DayBroke,
    Log,
    Pick,
    Revealed,
    Ruleset,
    Say,
    SpeakersDrawn,
    VoteCounted,
    Voted,
    with_facts,
)
from wolflab.rules.engine import Step
from wolflab.text.notes import Deduced, Rated
from wolflab.text.probes import PROBES
from wolflab.text.transcript import PUBLIC, BallotItem, Transcript
from wolflab.ui.replay.story import story_of
from wolflab.ui.terminal.game import GamePrinter

# With this seed Idiots live on without a vote, one of them as Sheriff, where the village judges and where it
# does not, in secret votes and in open ones. Werewolves who deduce would kill them first.
EXPERIMENT = """
name: unusual
deals: 1
seed: 16
redraw_void: false
straw_polls: 2
probes: [rate, rate-before-sheriff, rate-before-speaking, guess, guess-before-sheriff, guess-before-speaking]
interview: true
behaviours: true
watched: player_3
rules: {preset: sheriff, sheriff_death: succession}
players: {others: {model: village, recipe: deductive}}
conditions:
  idiot:
    rules: {preset: sheriff, roles: {Werewolf: 2, Villager: 1, Seer: 1, Idiot: 5}}
    players:
      werewolves: {model: village, recipe: vanilla}
      village: {model: {model: village, skill: 0.3}, recipe: deductive}
  phoenix: {rules: {preset: sheriff, roles: {Werewolf: 2, Villager: 1, Seer: 1, Phoenix: 5}}}
  orator: {rules: {preset: sheriff, roles: {Werewolf: 2, Villager: 1, Seer: 1, Orator: 3}}}
  mayor: {rules: {preset: sheriff, roles: {Werewolf: 2, Villager: 1, Seer: 1, Mayor: 3}}}
  rated:
    rules: {preset: sheriff, votes: open, roles: {Werewolf: 2, Villager: 1, Seer: 1, Idiot: 5}}
    players: {others: {recipe: vanilla}}
  ten: {rules: {preset: ten}, players: {others: {recipe: vanilla}}}
  random:
    rules: {preset: ten, sheriff: assigned, sheriff_role: Idiot}
    players: {others: {recipe: random, model: null}}
  all:
    rules:
      {preset: nine, player_name: "player_{}", sheriff: drawn, votes: open,
       roles: {Werewolf: 3, Villager: 1, Seer: 1, Witch: 1, Idiot: 2, Phoenix: 1, Orator: 1, Mayor: 1}}
"""


@dataclass
class CountedVote:
    """One day's vote. asked: who could vote; alive: mask of who lived then; out: who had to leave."""

    round: int
    alive: int
    sheriff: int | None
    asked: list[int] = field(default_factory=list)
    votes: dict[int, int | None] = field(default_factory=dict)
    place: int = 0
    """Of its first ask: how many events had happened."""
    out: int | None = None

    @property
    def living(self) -> list[int]:
        return [seat for seat in range(self.alive.bit_length()) if self.alive >> seat & 1]


@dataclass
class TrueGame:
    """One game, and what truly happened in it."""

    condition: str
    number: int
    record: GameRecord
    steps: list[Step]

    @cached_property
    def roles(self) -> list[str]:
        return [role.name for role in self.steps[-1].state.roles]

    @cached_property
    def alive_at(self) -> list[tuple[int, int]]:
        """(events so far, mask of the living) whenever somebody is asked, but for last words."""
        masks, events = [], 0
        for step in self.steps:
            events += len(step.events)
            if step.state.voted_out is None:
                masks.append((events, step.state.alive))
        return masks

    @cached_property
    def said(self) -> list[tuple[str, int, str]]:
        """(ask, seat, words) of every statement, silence included, in order."""
        turns = (turn for turn in self.record.turns if isinstance(turn.action, Say))
        return [(turn.ask, turn.seat, turn.action.text) for turn in turns if isinstance(turn.action, Say)]

    @cached_property
    def votes(self) -> list[CountedVote]:
        """Every vote that was counted."""
        found: list[CountedVote] = []
        replies = {turn.ask: turn.action for turn in self.record.turns}
        open_: CountedVote | None = None
        events = 0
        for step, after in zip(self.steps, self.steps[1:], strict=False):
            events += len(step.events)
            for ask in step.asks:
                if ask.kind == "vote":
                    if open_ is None:
                        state = step.state
                        open_ = CountedVote(ask.round, state.alive, state.sheriff, place=events)
                    reply = replies[ask.id]
                    open_.asked.append(ask.seat)
                    open_.votes[ask.seat] = reply.seat if isinstance(reply, Pick) else None
            for event in after.events:
                if isinstance(event, VoteCounted):
                    assert open_ is not None
                    open_.out = event.seat
                    found.append(open_)
                    open_ = None
        return found

    def judged(self, vote: CountedVote) -> set[tuple[int, int]]:
        """(rater, target) of every judgement in force at a vote, of and about the living."""
        pairs = set()
        for turn in self.record.turns:
            own = turn.kind == "vote" and turn.round == vote.round
            if turn.at < vote.place or own:
                notes = [note for _, note in turn.notes if isinstance(note, Deduced)]
                pairs |= {(turn.seat, belief.target) for note in notes for belief in note.beliefs}
        living = set(vote.living)
        return {(i, j) for i, j in pairs if i in living and j in living and i != j}

    def wolf(self, seat: int) -> bool:
        return ROLES[self.roles[seat]].wolf

    @cached_property
    def observed(self) -> ObservedGame:
        return ObservedGame(self.record, MeasuringOptions(behaviours=True, watched=2), {})


Check = Callable[[TrueGame], Iterator[str]]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


# -- facts -----------------------------------------------------------------------------------------


@check
def who_lives(game: TrueGame) -> Iterator[str]:
    """For the moderator and for every seat."""
    for seat in (None, *range(len(game.roles))):
        known = [e for e in game.record.events if seat is None or e.audience >> seat & 1]
        facts = with_facts(game.record.ruleset, known)
        seen = 0
        masks = dict(game.alive_at)
        for place, event in enumerate(game.record.events, 1):
            seen += seat is None or bool(event.audience >> seat & 1)
            if seen and place in masks and facts[seen - 1][1].alive != masks[place]:
                alive = facts[seen - 1][1].alive
                yield f"event {place}: seat {seat} takes {alive:b} for alive, not {masks[place]:b}"
                return


@check
def ids_of_asks(game: TrueGame) -> Iterator[str]:
    ids = Counter(turn.ask for turn in (*game.record.turns, *game.record.probes))
    yield from (f"{n} asks are called {ask}" for ask, n in ids.items() if n > 1)


@check
def who_votes(game: TrueGame) -> Iterator[str]:
    """The facts know who is asked for a vote, and how often it counts."""
    history = with_facts(game.record.ruleset, game.record.events)
    for vote in game.votes:
        facts = history[vote.place - 1][1]
        if sorted(vote.asked) != list(facts.voters):
            yield f"round {vote.round}: {facts.voters} are taken for voters, not {vote.asked}"
        if [facts.votes[seat] for seat in vote.asked] != [_votes_of(game, s, vote.place) for s in vote.asked]:
            yield f"round {vote.round}: their votes count {facts.votes} times"
        sums: Counter[int | None] = Counter()
        for seat, target in vote.votes.items():
            sums[target] += _votes_of(game, seat, vote.place)
        del sums[None]
        leaders = [seat for seat, n in sums.items() if n == max(sums.values())]
        leader = leaders[0] if len(leaders) == 1 else None
        if vote.out != leader and (vote.out is not None or leader is None or game.roles[leader] != "Idiot"):
            yield f"round {vote.round}: {vote.out} is out by {sums}"


# -- days, polls, judgements -------------------------------------------------------------------------


@check
def days(game: TrueGame) -> Iterator[str]:
    """Every vote that was counted is a day, with all its ballots."""
    known = {day.round: day for day in game.observed.days}
    for vote in game.votes:
        day = known.get(vote.round)
        if day is None:
            yield f"round {vote.round}: {len(vote.votes)} ballots are no day"
        elif dict(day.votes) != vote.votes or list(day.alive) != vote.living or day.out != vote.out:
            yield f"round {vote.round}: {day.votes}, {day.alive} and {day.out}, not {vote}"


@check
def leading(game: TrueGame) -> Iterator[str]:
    """Ratio and DC have a value on every day on which there is what they are made of."""
    known = {day.round: day for day in game.observed.days}
    for vote in game.votes:
        day, judged = known.get(vote.round), game.judged(vote)
        if day is None or vote.sheriff is None:
            continue
        towards = {i for i, j in judged if j == vote.sheriff}
        mutual = {(i, j) for i, j in judged if vote.sheriff not in (i, j)}
        if towards and mutual and ratio(day) is None:
            yield f"round {vote.round}: no Ratio"
        others = [seat for seat in vote.asked if seat != vote.sheriff]
        if vote.sheriff in vote.asked and others:
            for name, metric in (("DC", dc), ("DC twice", dc_retest)):
                if metric(day) is None:
                    yield f"round {vote.round}: no {name}"
            if len(others) > 1 and dc_others(day) is None:
                yield f"round {vote.round}: no DC to others"
            truth = {
                probe.seat: probe.action
                for probe in game.record.probes
                if probe.kind == "straw" and probe.round == vote.round
            }
            before = {
                seat: action.seat if isinstance(action, Pick) else None for seat, action in truth.items()
            }
            turned = [i for i in others if before.get(i) != vote.votes[vote.sheriff] == vote.votes[i]]
            value = dc(day)
            if value is not None and abs(value - len(turned) / len(others)) > 1e-9:
                yield f"round {vote.round}: DC is {value}, not {len(turned)} of {len(others)}"


@check
def straw_polls(game: TrueGame) -> Iterator[str]:
    """Who has a vote that day is polled, but for the one who is about to speak last, and once."""
    for vote in game.votes:
        last = [
            turn.seat for turn in game.record.turns if turn.kind == "statement" and turn.round == vote.round
        ][-1]
        for poll in ("straw", "straw2"):
            asked = [
                probe.seat for probe in game.record.probes if probe.kind == poll and probe.round == vote.round
            ]
            if sorted(asked) != sorted(set(vote.asked) - {last}):
                yield f"round {vote.round}: {poll} went to {asked}; {vote.asked} vote and {last} speaks last"


@check
def opinion_probes(game: TrueGame) -> Iterator[str]:
    """Before a vote all the living are asked, before the last statement all others, else who speaks."""
    for vote in game.votes:
        spoke = [
            turn.seat for turn in game.record.turns if turn.kind == "statement" and turn.round == vote.round
        ]
        expected = {
            "vote": vote.living,
            "sheriff": [seat for seat in vote.living if seat != spoke[-1]],
            "speaking": spoke,
        }
        for name, probe in PROBES.items():
            asked = [
                turn.seat for turn in game.record.probes if turn.kind == name and turn.round == vote.round
            ]
            if probe.moment == "sheriff" and any(kind.when == "day" for kind in _duties(game.record.ruleset)):
                continue  # a day's duty may take somebody out between
            if sorted(asked) != sorted(expected[probe.moment]):
                wanted = sorted(expected[probe.moment])
                yield f"round {vote.round}: {name} went to {sorted(asked)}, not {wanted}"


def _duties(rules: Ruleset) -> Iterator[Any]:
    return (duty for role in rules.cast for duty in role.duties if duty.shoots)


@check
def judgements(game: TrueGame) -> Iterator[str]:
    """What was judged by the time of a vote is in force at it, whoever judged; and all the living are."""
    known = {day.round: day for day in game.observed.days}
    for vote in game.votes:
        for turn in game.record.turns:
            found = [note for _, note in turn.notes if isinstance(note, Deduced)]
            if (turn.kind, turn.round) == ("vote", vote.round) and found:
                whom = {belief.target for note in found for belief in note.beliefs}
                if whom != set(vote.living) - {turn.seat}:
                    yield f"round {vote.round}: {turn.seat} judges {sorted(whom)} of {vote.living}"
        day = known.get(vote.round)
        if day is not None:
            found = {(i, j) for i, judged in day.beliefs.items() for j in judged}
            lost = sorted(game.judged(vote) - found)
            if lost or found - game.judged(vote):
                yield f"round {vote.round}: lost {lost}, added {sorted(found - game.judged(vote))}"


# -- measures ------------------------------------------------------------------------------------------


def _village_votes(game: TrueGame) -> list[int | None]:
    return [target for vote in game.votes for seat, target in vote.votes.items() if not game.wolf(seat)]


def _judgements(game: TrueGame) -> int:
    return sum(not game.wolf(i) for vote in game.votes for i, _ in game.judged(vote))


def _rated(game: TrueGame) -> int:
    """Pairs with an m: judged, or rated where somebody never judges."""
    judging = {i for vote in game.votes for i, _ in game.judged(vote)} | {
        turn.seat for turn in game.record.turns if any(isinstance(note, Deduced) for _, note in turn.notes)
    }
    total = 0
    for vote in game.votes:
        pairs = game.judged(vote)
        for turn in game.record.probes:
            if turn.kind == "rate" and turn.round <= vote.round and turn.seat not in judging:
                notes = [note for _, note in turn.notes if isinstance(note, Rated)]
                pairs |= {(turn.seat, j) for note in notes for j, m in note.scores.items() if 1 <= m <= 10}
        total += len({(i, j) for i, j in pairs if i in vote.living and j in vote.living})
    return total


def _asked(game: TrueGame) -> int:
    guesses = [
        turn for turn in game.record.probes if turn.kind.startswith("guess") and not game.wolf(turn.seat)
    ]
    notes = [note for turn in guesses for _, note in turn.notes if isinstance(note, Deduced)]
    return sum(len(note.beliefs) for note in notes)


def _seat_turns(game: TrueGame) -> int:
    return sum(turn.seat >= 0 for turn in (*game.record.turns, *game.record.probes))


def _calls(game: TrueGame) -> int:
    return sum(len(turn.calls) for turn in (*game.record.turns, *game.record.probes))


def _statements(game: TrueGame) -> int:
    return sum(bool(text) for _, _, text in game.said)


def _led(game: TrueGame) -> int:
    return sum(vote.sheriff is not None for vote in game.votes)


def _survivors(game: TrueGame) -> int:
    return game.steps[-1].state.alive.bit_count()


def _trust_days(game: TrueGame) -> int:
    return len({turn.round for turn in game.record.turns if turn.kind == "statement"})


TRIALS: Mapping[str, tuple[int, Callable[[TrueGame], int]]] = {
    "rounds": (0, lambda game: game.steps[-1].state.round),
    "votes_for_wolves": (1, lambda game: sum(target is not None for target in _village_votes(game))),
    "abstained": (1, lambda game: len(_village_votes(game))),
    "voted_out_wolves": (1, lambda game: sum(vote.out is not None for vote in game.votes)),
    "votes_passed": (1, lambda game: len(_village_votes(game))),
    "accuracy": (1, _judgements),
    "accuracy_by_player": (1, _judgements),
    "uncertain": (1, _judgements),
    "brier": (1, _judgements),
    "prior_brier": (1, _judgements),
    "brier_skill": (2, _judgements),
    "reliability": (1, _rated),
    "reliability_by_player": (1, _rated),
    "guesses_right": (1, _asked),
    "guesses_by_chance": (1, _asked),
    "guesses_above_chance": (1, _asked),
    "guesses_right_by_round": (1, _asked),
    "guesses_right_by_player": (1, _asked),
    "guesses_right_by_probe": (1, _asked),
    "guesses_by_chance_by_round": (1, _asked),
    "guesses_by_chance_by_player": (1, _asked),
    "guesses_by_chance_by_probe": (1, _asked),
    "survival_by_role": (0, _survivors),
    "invalid": (1, _calls),
    "invalid_by_player": (1, _calls),
    "several_answers": (1, _calls),
    "stand_ins": (3, _seat_turns),
    "stand_ins_by_player": (3, _seat_turns),
    "unread": (1, _statements),
    "contradictions_by_role": (1, _statements),
    "days_led_by_role": (0, _led),
}
"""Measure → (which of its sums, over all parts, what it must be)."""
LEADING = {
    name
    for name, one in (MEASURES | SPLITS).items()
    if one.section in ("leadership", "roles", "words", "people")
    or name.startswith(("trust_moved", "ratio_before"))
}
"""Of days: `rounds` and `leading` see to it that no day, and no ballot of one, is lost."""
OF_GAMES = {name for name, one in (MEASURES | SPLITS).items() if one.units == "games"}
"""A game has them or not."""
NONE_HERE = {"shots_taken", "shots_at_wolves", "fewer_candidates", "decisions_advised", "advice_followed"}
NONE_HERE |= {"votes_for_x"}
"""Nobody shoots, nobody weighs candidates, nobody has experience, and no game is a fork."""
OF_REPLIES = {"illegal", "reasonable", "calibration", "stated_by_confidence"}
OF_REPLIES |= {"contradictions_village", "contradictions_werewolves", "withheld_by_role"}
"""A share of what is recounted above: choices of replies; judgements that name a role; statements of one
side, or of players with results.
"""


@check
def measures(game: TrueGame) -> Iterator[str]:
    """Every measure counts all that there is to count."""
    for name, one in (MEASURES | SPLITS).items():
        if one.group == "person":
            continue
        try:
            counted = one.counts(game.observed)
        except (LookupError, ValueError, AssertionError, ZeroDivisionError, TypeError) as error:
            yield f"{name} fails with {error!r}"
            continue
        if name in TRIALS:
            place, expected = TRIALS[name]
            parts = counted.values() if isinstance(counted, Mapping) else [counted]
            n = sum(part[place] for part in parts if part is not None)
            if n != expected(game):
                yield f"{name} counts {n:g} of {expected(game)}"
        elif name not in LEADING | OF_GAMES | NONE_HERE | OF_REPLIES:
            yield f"{name} is recounted by no check; add it to TRIALS"


@check
def detectors(game: TrueGame) -> Iterator[str]:
    """Behaviours see every statement, ballot and silence, each with the turn that made it."""
    view = DetectorView.of(game.record)
    seen = [(one.ask, one.seat, one.text) for one in view.statements]
    spoken = [one for one in game.said if one[2]]
    if seen != spoken:
        other = [one[:2] for one in seen if one not in spoken]
        yield f"statements: {len(seen)} of {len(spoken)}; {other} are none"
    cast = {turn.ask for turn in game.record.turns if turn.kind in ("vote", "elect")}
    if {ballot.ask for ballot in view.ballots} != cast:
        yield "ballots"
    dead = [one for one in view.statements if one.seat not in one.alive]
    masks = game.alive_at
    for one in view.statements:
        if one.where != "last words":
            alive = [mask for place, mask in masks if place <= one.at][-1]
            if sum(1 << seat for seat in one.alive) != alive | 1 << one.seat:
                yield f"statement {one.ask}: {sorted(one.alive)} are taken for alive"
                return
    assert not dead


# -- exports -----------------------------------------------------------------------------------------


def rows_left_out(run: Path, games: list[TrueGame]) -> Iterator[str]:
    """The data tables hold every day, ballot, statement and decision, and who lives to the end."""
    rows: dict[str, dict[int, list[Any]]] = {}
    tables = ("games", "players", "days", "votes", "statements", "judgements", "decisions")
    for table, row in data_rows(DataSource(run), tables):
        rows.setdefault(table, {}).setdefault(row["game"], []).append(row)  # type: ignore[arg-type]
    for game in games:
        of = {table: rows.get(table, {}).get(game.number, []) for table in tables}
        alive = game.steps[-1].state.alive
        survivors = [seat for seat in range(len(game.roles)) if alive >> seat & 1]
        stayed = [row["seat"] for row in of["players"] if row["left_round"] is None]
        if stayed != survivors:
            yield f"players: {stayed} never left; {survivors} live at the end"
        if of["games"][0]["alive"] != len(survivors):
            yield f"games: {of['games'][0]['alive']} live at the end, not {len(survivors)}"
        cast = sum(target is not None for vote in game.votes for target in vote.votes.values())
        if sum(row["votes"] for row in of["days"]) != cast:
            yield f"days: {sum(row['votes'] for row in of['days'])} votes of {cast}"
        if sum(row["voted_out_seat"] is not None for row in of["days"]) != sum(
            v.out is not None for v in game.votes
        ):
            yield "days: who was voted out"
        dawns = [(at, event) for at, event in enumerate(game.record.events) if isinstance(event, DayBroke)]
        at_dawn = [_mask_before(game, at).bit_count() - len(event.deaths) for at, event in dawns]
        if [row["alive"] for row in of["days"]] != at_dawn:
            yield f"days: {[row['alive'] for row in of['days']]} live, not {at_dawn}"
        ballots = sum(len(vote.votes) for vote in game.votes)
        if sum(row["kind"] == "vote" for row in of["votes"]) != ballots:
            yield f"votes: {sum(row['kind'] == 'vote' for row in of['votes'])} of {ballots}"
        held = {
            ask.id: step.state.votes[ask.seat] if step.state.votes else 1
            for step in game.steps
            for ask in step.asks
        }
        if any(row["weight"] != held[row["ask"]] for row in of["votes"] if row["kind"] == "vote"):
            yield "votes: how often one counts"
        if len(of["statements"]) != len(game.said):
            yield f"statements: {len(of['statements'])} of {len(game.said)}"
        spoken = sum(bool(text) and ask.split("/")[1] == "statement" for ask, _, text in game.said)
        if sum(row["statements"] for row in of["days"]) != spoken:
            yield f"days: {sum(row['statements'] for row in of['days'])} statements of {spoken}"
        if len(of["decisions"]) != _seat_turns(game):
            yield f"decisions: {len(of['decisions'])} of {_seat_turns(game)}"


def _mask_before(game: TrueGame, at: int) -> int:
    return [mask for place, mask in game.alive_at if place <= at][-1]


def transcripts_left_out(run: Path, games: list[TrueGame]) -> Iterator[str]:
    """A player's transcript has all its decisions, and says that it left only where it did."""
    by_number = {game.number: game for game in games}
    with Store.open_for_reading(run) as store:
        for condition in store.experiment.conditions:
            for seat in seats_of_condition(store, condition, texts=True):
                game = by_number[seat.game.id]
                lives = bool(game.steps[-1].state.alive >> seat.seat & 1)
                if seat.ended is None or (seat.ended.left is None) is not lives:
                    yield f"game {seat.game.id}, seat {seat.seat}: {seat.ended}; alive: {lives}"
                turns = [t for t in (*game.record.turns, *game.record.probes) if t.seat == seat.seat]
                asked = [one for one in seat.entries if isinstance(one, TranscriptDecision)]
                if len(asked) != len(turns) or sum(len(one.calls) for one in asked) != sum(
                    len(t.calls) for t in turns
                ):
                    yield f"game {seat.game.id}, seat {seat.seat}: {len(asked)} decisions of {len(turns)}"


# -- screens -------------------------------------------------------------------------------------------


@check
def feed(game: TrueGame) -> Iterator[str]:
    """Everybody's log has a line of every event that they learn of, and how often a vote counts."""
    for seat in (None, PUBLIC, *range(len(game.roles))):
        transcript = Transcript(game.record.ruleset, seat)
        for place, event in enumerate(game.record.events):
            items = transcript.items(event)
            if transcript.sees(event) and not items and not isinstance(event, SpeakersDrawn):
                yield f"seat {seat}: nothing of {event}"
            if isinstance(event, Voted):
                (item,) = items
                if not isinstance(item, BallotItem) or item.votes != _votes_of(game, event.voter, place):
                    yield f"seat {seat}: {item}"


@check
def replay(game: TrueGame) -> Iterator[str]:
    """The page shows who lives at every line."""
    story = story_of(game.record, "")
    masks = dict(game.alive_at)
    begins = {}
    transcript, items = Transcript(game.record.ruleset), 0
    for place, event in enumerate(game.record.events, 1):
        items += len(transcript.items(event))
        begins[place] = items
    for place, mask in masks.items():
        line = begins.get(place, 0) - 1
        if line >= 0 and story["items"][line]["alive"] != mask:
            yield f"line {line}: {story['items'][line]['alive']:b} live, not {mask:b}"
            return
    statements = [one for one in story["items"] if one["kind"] == "said"]
    if len(statements) != len(game.said):
        yield f"{len(statements)} statements of {len(game.said)}"
    asks = {turn["ask"] for turn in story["turns"]}
    wanted = {turn.ask for turn in (*game.record.turns, *game.record.probes) if turn.seat >= 0}
    if asks != wanted:
        yield f"turns without {sorted(wanted - asks)[:3]}"
    for turn in story["turns"]:
        if "statement" in turn["kind"] and story["items"][turn["n"]].get("seat") != turn["seat"]:
            yield f"turn {turn['ask']} stands at another line"


def _votes_of(game: TrueGame, seat: int, at: int) -> int:
    """How many votes a seat has: a Mayor who has shown its card has two."""
    shown = any(
        isinstance(e, Revealed) and e.seat == seat and e.role == "Mayor" for e in game.record.events[:at]
    )
    return 2 if shown else 1


@check
def terminal(game: TrueGame) -> Iterator[str]:
    """Every statement and ballot is printed, with as many votes as count."""
    out = Console(file=StringIO(), width=2000, color_system=None)
    printer = GamePrinter(out, game.record.ruleset)
    printer.events(game.record.events)
    assert isinstance(out.file, StringIO)
    text, names = out.file.getvalue(), game.record.ruleset.names
    for _, _, words in game.said:
        if words and words not in text:
            yield f"not printed: {words}"
    if game.record.ruleset.votes == "secret":
        for vote in game.votes:
            counts: Counter[int] = Counter()
            for seat, target in vote.votes.items():
                if target is not None:
                    counts[target] += _votes_of(game, seat, vote.place)
            for target, n in counts.items():
                if f"{names[target]} ({n})" not in text:
                    yield f"round {vote.round}: {n} votes for {names[target]} are not printed"


# -- players ---------------------------------------------------------------------------------------------


@check
def features(game: TrueGame) -> Iterator[str]:
    """What a policy reads has, at every vote, who lives, and in the end every ballot."""
    for seat in range(len(game.roles)):
        log = Log(game.record.ruleset)
        log.extend(game.record.events[:1])
        fold = _Fold(log.view(seat))
        for vote in game.votes:
            log.extend(game.record.events[len(log.events) : vote.place])
            fold.update(log.view(seat))
            living = [int(n) for n in fold.alive.nonzero()[0]]
            if living != vote.living:
                yield f"seat {seat}, round {vote.round}: {living}, not {vote.living}"
        log.extend(game.record.events[len(log.events) :])
        fold.update(log.view(seat))
        blocks, n = fold.blocks, len(game.roles)
        cast = sum(int(block[2 * n :].sum()) for block in blocks.values())
        if cast != sum(target is not None for vote in game.votes for target in vote.votes.values()):
            yield f"seat {seat}: {cast} ballots"


def environment(rules: Ruleset) -> Iterator[str]:
    """The environment plays to the end, and its agents see who lives and who voted for whom."""
    env = WerewolfAEC(rules, text="all")
    rng = random.Random(5)
    for seed in range(6):
        env.reset(seed=seed)
        for _ in env.agent_iter():
            seen, _, over, cut, _ = env.last()
            if over or cut:
                env.step(None)
                continue
            turn = env._game.turn
            if turn is not None:
                living = env.layout.part(seen["observation"], "alive") if _has(env, "alive") else None
                facts = turn.view.facts
                if living is not None and [int(n) for n in living.nonzero()[0]] != list(facts.living):
                    yield f"seed {seed}: the vector has {living}"
                today = [
                    e
                    for e, now in turn.view.with_facts()
                    if isinstance(e, Voted) and now.round == facts.round
                ]
                cast = {(e.voter, e.target) for e in today if e.what == "eliminate" and e.target is not None}
                pairs = env.layout.part(seen["observation"], "votes 0").nonzero()
                if set(zip(*(map(int, axis) for axis in pairs), strict=True)) != cast:
                    yield f"seed {seed}: the vector has not {cast}"
            env.step(rng.choice([action for action, may in enumerate(seen["action_mask"]) if may]))
        if env.played is None:
            yield f"seed {seed}: no end"


def _has(env: WerewolfAEC, section: str) -> bool:
    return section in dict(env.layout.sections)


# -- all of it -------------------------------------------------------------------------------------------


def pages(run: Path) -> Iterator[str]:
    """Commands that show or write a run do so; its report was made as it was played."""
    for words in (
        ["verify", str(run), "--agents"],
        ["show", str(run)],
        ["show", str(run), "1"],
        ["replay", str(run), "1"],
        ["errors", str(run)],
        ["status", str(run)],
        ["export", str(run), "-o", str(run / "out"), "--format", "records", "--format", "data", "--texts"],
    ):
        done = wolflab(*words)
        if done.returncode:
            yield f"{' '.join(words)} ended with {done.returncode}: {(done.stderr or done.stdout)[-300:]}"


def main(folder: Path) -> None:
    folder = folder.resolve()
    file, run = folder / "unusual.yaml", folder / "run"
    file.write_text(EXPERIMENT, encoding="utf-8")
    done = wolflab("run", str(file), "--out", str(run), cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    games = []
    with Store.open_for_reading(run) as store:
        for row in store.games():
            record = store.record(row.id)
            games.append(TrueGame(row.condition, row.id, record, verify(record)))
    found: dict[str, list[str]] = {name: [] for name in CHECKS}
    for game in games:
        for name, one in CHECKS.items():
            found[name] += [f"{game.condition} {game.number}: {words}" for words in one(game)]
    found["rows"] = list(rows_left_out(run, games))
    found["transcripts"] = list(transcripts_left_out(run, games))
    found["environment"] = list(environment(games[-1].record.ruleset))
    found["pages"] = list(pages(run))
    voteless = [(game, vote) for game in games for vote in game.votes if len(vote.living) > len(vote.asked)]
    happened = {
        "voteless": len(voteless),
        "voteless Sheriff": sum(vote.sheriff in set(vote.living) - set(vote.asked) for _, vote in voteless),
        "voteless who judges": sum(
            rater in set(vote.living) - set(vote.asked)
            for game, vote in voteless
            for rater, _ in game.judged(vote)
        ),
        "voteless in an open vote": sum(game.record.ruleset.votes == "open" for game, _ in voteless),
        "votes": sum(len(game.votes) for game in games),
        "returned": sum(_returned(game) for game in games),
        "spoke twice": sum(ask.count("/") > 2 for game in games for ask, _, _ in game.said),
        "voted twice": sum(
            _votes_of(game, seat, vote.place) > 1
            for game in games
            for vote in game.votes
            for seat in vote.asked
        ),
    }
    print(json.dumps({"found": found, "happened": happened}))


def _returned(game: TrueGame) -> int:
    masks = [mask for _, mask in game.alive_at]
    return sum((after & ~before).bit_count() for before, after in pairwise(masks))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
