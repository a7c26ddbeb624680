"""The rows of the data tables, game by game. One game is in memory at a time, and its record is read once.

Answers of a study's people about no game come last.

`columns` has the names and meanings of columns. Without `texts` a row has no prompt, no reply, and no word of
a person.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...agents.choosing import noted_choice
from ...errors import StoreError
from ...metrics.behaviours.deception import statement_truths
from ...metrics.behaviours.detector_view import DetectorView, Statement
from ...metrics.observed import ObservedGame
from ...metrics.play import label_of, last_taken_in, mistakes_in, player_label, reported_models
from ...metrics.registry import MEASURES
from ...metrics.rows import MeasureRow, game_value
from ...record import GameRecord, PastTurn
from ...record.chain import hash_of
from ...rules import (
    ROLES,
    Answer,
    DayBroke,
    Lead,
    Pass,
    Pick,
    Said,
    Say,
    VoteCounted,
    Voted,
    with_facts,
)
from ...text.notes import Belief, Deduced, Proposed, Rated, Thought
from ...text.people import ASKED_ALREADY, PersonAnswer, decode_answer
from ...text.probes import PROBES
from ...text.reading import can_be_read
from ...usage import CallTotals, Usage
from ..labels.annotate import KeyRow, read_key
from ..plans.prices import Prices, prices_of, prices_of_all, unpriced
from ..plans.specs import PERSON
from ..runs.counting import measuring_options, rows_of
from ..runs.game import StoredGame
from ..runs.prompts import answered_by_person
from ..storage.call_store import CallStore, StoredAttempt
from ..storage.store import GameRow, Place, Store, StudySitting, asker
from ..studies.training import trained_games
from .answers import GivenAnswer, StudyAnswers
from .columns import OF_MEASURES, DataRow, DataValue


class DataSource(NamedTuple):
    """The source of rows. run: a run's directory. judges: directories of judges of its replies, whose calls
    are added. texts: include prompts, replies and people's words.
    """

    run: Path
    judges: tuple[Path, ...] = ()
    texts: bool = False


@dataclass
class _Run:
    """The data that all games of a run share."""

    store: Store
    texts: bool

    @cached_property
    def prices(self) -> Mapping[str, Prices]:
        """Condition → prices of its models."""
        return {name: prices_of(self.store.experiment, name) for name in self.store.experiment.conditions}

    @cached_property
    def reported(self) -> Collection[str]:
        """The models whose calls a game's row counts."""
        return reported_models(self.store.models())

    @cached_property
    def uncounted(self) -> Collection[str]:
        """See `CallStore.uncounted`."""
        return self.store.uncounted()

    @cached_property
    def sittings(self) -> Mapping[tuple[int, int], StudySitting]:
        """(game, seat) → person of a study."""
        return {(sitting.game, sitting.seat): sitting for sitting in self.store.sittings()}

    @cached_property
    def trained(self) -> Mapping[int, bool | None]:
        """Game of a study → whether a player had trained with its cards; None: not known."""
        found = {one.game: one.sure or None for one in trained_games(self.store)}
        return {game: found.get(game, False) for game, _ in self.sittings}

    @cached_property
    def study(self) -> StudyAnswers:
        """The answers of a study's people."""
        return StudyAnswers(self.store.path, self.texts)


@dataclass
class _Game(StoredGame):
    """One game of a run, for the tables. measured: its row, for the tables with measures."""

    run: _Run
    measured: MeasureRow | None = None

    @property
    def prices(self) -> Prices:
        """The prices of its models."""
        return self.run.prices[self.row.condition]

    @property
    def place(self) -> DataRow:
        """The first columns of its rows."""
        return _place(self.row)

    def sitting(self, seat: int | None = None) -> DataRow:
        """The columns of a study's person at a seat, or (None) of the game's only person; empty
        without one.
        """
        seats = range(len(self.names)) if seat is None else (seat,)
        found = (self.run.sittings.get((self.row.id, each)) for each in seats)
        sitting = next((each for each in found if each is not None), None)
        names = {"person": "person", "session": "session", "game_index": "place"}
        return {column: getattr(sitting, field, None) for column, field in names.items()}

    def seat(self, seat: int | None, name: str = "") -> DataRow:
        """The columns of a player: seat, name and role; empty for None."""
        first = f"{name}_" if name else ""
        known = seat is not None and 0 <= seat < len(self.names)
        roles = () if self.record is None else self.record.roles
        return {
            f"{first}seat": seat if known else None,
            f"{first}player": self.names[seat] if known and seat is not None else None,
            f"{first}role": roles[seat] if known and seat is not None and seat < len(roles) else None,
        }


def _place(row: GameRow) -> DataRow:
    return {
        "game": row.id,
        "condition": row.condition,
        "deal": row.deal,
        "repeat": row.repeat,
        "counts": row.status == "done",
    }


def data_rows(source: DataSource, tables: Sequence[str]) -> Iterator[tuple[str, DataRow]]:
    """(table, row) of these tables, in the order of games, then of tables. Rows of no game come last."""
    with Store.open_for_reading(source.run) as store:
        run, rows = _Run(store, source.texts), store.games()
        measured = rows_of(store, rows) if OF_MEASURES.keys() & set(tables) else repeat(None, len(rows))
        for row, sums in zip(rows, measured, strict=True):
            game = _Game(run.store, row, run, sums)
            for table in tables:
                yield from ((table, made) for made in _MAKERS.get(table, _none)(game))
        yield from ((table, made) for table, made in _outside_games(run) if table in tables)
        for judge in source.judges:
            yield from ((table, made) for table, made in _judged(run, judge) if table in tables)
        if "people" in tables:
            yield from (("people", made) for made in run.study.of_people(store.games()))
        if "answers" in tables:
            yield from (("answers", made) for made in _other_answers(run))


# -- games and players --------------------------------------------------------------------------------


def _games(game: _Game) -> Iterator[DataRow]:
    row, record = game.row, game.record
    totals = {
        name: came for name, came in game.store.game_totals(row.id).items() if name in game.run.reported
    }
    spent = sum(totals.values(), CallTotals())
    outcome = None if record is None else record.outcome
    yield game.place | {
        "state": row.status,
        "error": row.error or None,
        "winner": None if outcome is None else outcome.winner.value,
        "reason": None if outcome is None else outcome.reason.value,
        "rounds": None if record is None else record.facts.round,
        "seats": len(game.names),
        "alive": None if record is None else len(record.facts.living),
        "seconds": game.store.seconds(row.id),
        "erased": None if record is None else record.erased,
        "calls": spent.calls,
        **_used(spent.usage, not unpriced(game.store.costless_calls(row.id), game.prices)),
        "estimated": any(model in game.run.uncounted for model in totals),
        "latency": spent.latency,
        **game.sitting(),
        "trained": game.run.trained.get(row.id),
        "wording": game.store.experiment.wording(row.condition, row.deal, row.repeat),
        **_forked(game),
        **{
            column.name: None if game.measured is None else game_value(game.measured, column.name).value
            for column in OF_MEASURES["games"]
        },
    }


def _forked(game: _Game) -> DataRow:
    """The columns of a fork; empty for another game."""
    spec, parent = game.store.experiment.fork(game.row.condition), game.store.parent(Place.of(game.row))
    fork = None if game.record is None else game.record.fork
    change = None if spec is None else spec.change
    return {
        "parent": None if parent is None else parent.id,
        "fork_turn": None if fork is None else fork["at"],
        "fork_change": "say" if spec is not None and spec.say and change == "none" else change,
        "continuation": None if spec is None else spec.continuation(game.row.repeat),
        "x_seat": None if fork is None else fork.get("x"),
        "y_seat": None if fork is None else fork.get("y"),
    }


def _used(used: Usage, priced: bool) -> DataRow:
    """The columns of usage. priced: the complete cost is known."""
    names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost")
    return dict(zip(names, used.figures, strict=True)) | ({} if priced else {"cost": None})


def _players(game: _Game) -> Iterator[DataRow]:
    record = game.record
    if record is None:
        return
    village_won = None if record.outcome is None else record.outcome.village_won
    for seat, role in enumerate(record.roles):
        wolf = ROLES[role].wolf
        label, left = player_label(record.player(seat, 0)), record.facts.left(seat)
        yield (
            game.place
            | game.seat(seat)
            | {
                "side": "werewolves" if wolf else "village",
                "model": label.model or None,
                "recipe": label.recipe,
                "won": None if village_won is None else village_won is not wolf,
                "left_round": None if left is None else left.round,
                "left_by": None if left is None else left.how,
            }
            | game.sitting(seat)
        )


# -- what happened ------------------------------------------------------------------------------------


def _days(game: _Game) -> Iterator[DataRow]:
    record, measured = game.record, game.measured
    if record is None or measured is None:
        return
    observed = ObservedGame(record, measuring_options(game.store.experiment, game.row.condition), {})
    values: dict[str, Mapping[Any, float]] = {
        column.name: measure.by_day.values(observed)
        if (measure := MEASURES[column.name]).by_day is not None and measure.group in measured.groups
        else {}
        for column in OF_MEASURES["days"]
    }
    for day in _counted_days(game, record):
        yield day | {name: by_round.get(day["round"]) for name, by_round in values.items()}


def _counted_days(game: _Game, record: GameRecord) -> Iterator[DataRow]:
    """The rows without measures."""
    day: DataRow | None = None
    for event, facts in with_facts(record.ruleset, record.events):
        if isinstance(event, DayBroke):
            if day is not None:
                yield day
            day = game.place | {"round": event.round, "alive": len(facts.living), "died": len(event.deaths)}
            day |= game.seat(None, "sheriff") | {"statements": 0, "votes": 0} | game.seat(None, "voted_out")
        elif day is None:
            continue
        elif isinstance(event, Said) and event.where == "discussion":
            day["statements"] = _more(day["statements"], bool(event.text))
        elif isinstance(event, Voted) and event.what == "eliminate":
            day["votes"] = _more(day["votes"], event.target is not None)
        elif isinstance(event, VoteCounted):
            day |= game.seat(facts.sheriff, "sheriff") | game.seat(event.seat, "voted_out")
    if day is not None:
        yield day


def _more(count: DataValue, also: bool) -> int:
    assert isinstance(count, int)
    return count + also


def _statements(game: _Game) -> Iterator[DataRow]:
    record = game.record
    if record is None:
        return
    people = {
        turn.seat for turn in record.turns if turn.seat >= 0 and label_of(record, turn).recipe == PERSON
    }
    position, typed = 0, _typed(game, record)
    for at, (event, facts) in enumerate(with_facts(record.ruleset, record.events)):
        if isinstance(event, Said):
            position += 1
            person, answer = event.seat in people, typed.get(at)
            yield game.place | {
                "round": facts.round,
                "position": position,
                "phase": event.where,
                **game.seat(event.seat),
                "person": person,
                "text": (event.text or None) if game.run.texts or not person else None,
                "unread": not can_be_read(event.text, record.ruleset.names) if event.text else None,
                "pasted": None if answer is None else answer.pasted,
                "away": None if answer is None else answer.away,
            }


def _typed(game: _Game, record: GameRecord) -> Mapping[int, PersonAnswer]:
    """Index of an event → what a study's person typed for it."""
    if game.sitting()["person"] is None:
        return {}
    calls = filter(answered_by_person, game.store.calls_with_prompts(game.row.id))
    answers = {call["key"].split("|")[1]: decode_answer(call["text"]) for call in calls}
    found: dict[int, PersonAnswer] = {}
    for turn in record.turns:
        answer = answers.get(turn.ask)
        if answer is not None and answer.said is not None:
            later = range(turn.at, len(record.events))
            at = next((at for at in later if _says(record, at, turn.seat)), None)
            found |= {} if at is None else {at: answer}
    return found


def _says(record: GameRecord, at: int, seat: int) -> bool:
    event = record.events[at]
    return isinstance(event, Said) and event.seat == seat


# -- what was decided ---------------------------------------------------------------------------------


def _turns(game: _Game, probes: bool = True) -> Iterator[tuple[PastTurn, DataRow]]:
    """Every turn with the first columns of its rows; those of the game, then the probes."""
    record = game.record
    if record is None:
        return
    for turn in (*record.turns, *(record.probes if probes else ())):
        if turn.seat >= 0 and turn.invalid != ASKED_ALREADY:
            yield turn, game.place | {"ask": turn.ask, "round": turn.round}


def _target(turn: PastTurn) -> int | None:
    return turn.action.seat if isinstance(turn.action, Pick) else None


def _votes(game: _Game) -> Iterator[DataRow]:
    record = game.record
    weights = (
        [] if record is None else [facts.votes for _, facts in with_facts(record.ruleset, record.events)]
    )
    for turn, first in _turns(game):
        if turn.kind in ("vote", "elect") or (turn.probe is not None and turn.kind.startswith("straw")):
            target = game.seat(_target(turn), "target")
            role = target["target_role"]
            yield (
                first
                | {"kind": turn.kind}
                | game.seat(turn.seat)
                | target
                | {
                    "target_wolf": ROLES[role].wolf if isinstance(role, str) else None,
                    "weight": weights[turn.at - 1][turn.seat],
                    "invalid": turn.invalid,
                }
            )


def _contradictions(game: _Game) -> Iterator[DataRow]:
    """What was said against the speaker's own knowledge, and how listeners judged the player before and
    after.
    """
    record = game.record
    if record is None:
        return
    view = DetectorView.of(record)
    said = [at for at, event in enumerate(record.events) if isinstance(event, Said)]
    judged = _reliabilities(record)
    for truth in statement_truths(view):
        statement = truth.statement
        audience = [
            seat
            for seat in sorted(statement.alive - {statement.seat})
            if not view.packmates(seat, statement.seat)
        ]
        of_speaker = _mean_judgements(judged, audience, statement.seat, statement)
        for wrong in truth.contradictions:
            listeners = [seat for seat in audience if seat != wrong.about]
            judging, before, after = _mean_judgements(judged, listeners, wrong.about, statement)
            yield game.place | {
                "round": statement.round,
                "position": said.index(statement.at) + 1,
                **game.seat(statement.seat),
                "kind": wrong.kind,
                **game.seat(wrong.about, "about"),
                "why": wrong.why,
                "listeners": len(listeners),
                "judging": judging,
                "reliability_before": before,
                "reliability_after": after,
                "audience": len(audience),
                "judging_speaker": of_speaker[0],
                "speaker_before": of_speaker[1],
                "speaker_after": of_speaker[2],
            }


_Judged = Sequence[tuple[int, int, int]]
"""(index of the event, round, reliability) of one player's judgements of another, in order."""


def _reliabilities(record: GameRecord) -> Mapping[tuple[int, int], _Judged]:
    """(rater, target) → the judgements. Probes that ask for a role alone have none."""
    found: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for turn in sorted((*record.turns, *record.probes), key=lambda turn: turn.at):
        for _, note in turn.notes:
            if isinstance(note, Deduced) and turn.kind not in PROBES:
                scores = {belief.target: belief.reliability for belief in note.beliefs}
            elif isinstance(note, Rated):
                scores = dict(note.scores)
            else:
                continue
            for target, score in scores.items():
                found.setdefault((turn.seat, target), []).append((turn.at, turn.round, score))
    return found


def _mean_judgements(
    judged: Mapping[tuple[int, int], _Judged], raters: Sequence[int], target: int, statement: Statement
) -> tuple[int, float | None, float | None]:
    """How many raters judged a player both before a statement and on the next day, and their means."""
    found = (_before_and_after(judged.get((seat, target), ()), statement) for seat in raters)
    pairs = [(before, after) for before, after in found if before is not None and after is not None]
    if not pairs:
        return 0, None, None
    before, after = (sum(scores) / len(pairs) for scores in zip(*pairs, strict=True))
    return len(pairs), before, after


def _before_and_after(judged: _Judged, statement: Statement) -> tuple[int | None, int | None]:
    """The last judgement before a statement, and the last one of the next day; None where there is none."""
    before = [score for at, _, score in judged if at < statement.at]
    after = [score for _, round, score in judged if round == statement.round + 1]
    return before[-1] if before else None, after[-1] if after else None


def _judgements(game: _Game) -> Iterator[DataRow]:
    for turn, first in _turns(game):
        start = first | {"kind": turn.kind} | game.seat(turn.seat)
        for _, note in turn.notes:
            if isinstance(note, Deduced):
                for belief in note.beliefs:
                    judged = start | _judged_player(game, belief)
                    if turn.kind in PROBES:  # only a role was asked for
                        judged["reliability"] = None
                    yield judged | {"at_vote": note.final and turn.kind == "vote"}
            elif isinstance(note, Rated):
                for seat, score in note.scores.items():
                    yield (
                        start | game.seat(seat, "target") | dict.fromkeys(_OF_GUESS) | {"reliability": score}
                    )


_OF_GUESS = ("guess", "confidence", "correct", "at_vote", "reasoning")


def _judged_player(game: _Game, belief: Belief) -> DataRow:
    target = game.seat(belief.target, "target")
    return target | {
        "guess": belief.role,
        "confidence": belief.confidence,
        "reliability": belief.reliability,
        "correct": belief.role == target["target_role"] if belief.role in ROLES else None,
        "reasoning": belief.reasoning or None,
    }


def _decisions(game: _Game) -> Iterator[DataRow]:
    shared = frozenset() if game.record is None else game.record.shared
    for turn, first in _turns(game):
        notes = [note for _, note in turn.notes]
        thoughts = [note.text for note in notes if isinstance(note, Thought)]
        proposed = [note for note in notes if isinstance(note, Proposed)]
        came = [len(note.candidates) for note in proposed]
        asked = [note.asked or len(note.candidates) for note in proposed]
        yield (
            first
            | {"kind": turn.kind, "probe": turn.probe is not None}
            | game.seat(turn.seat)
            | {
                "action": _action(turn),
                **game.seat(_target(turn), "target"),
                "answer": turn.action.yes if isinstance(turn.action, Answer) else None,
                "invalid": turn.invalid,
                "mistakes": len(mistakes_in(turn)),
                "several_answers": len(last_taken_in(turn)),
                "candidates": sum(came) if proposed else None,
                "candidates_asked": sum(asked) if proposed else None,
                "reasoning": "\n".join(thoughts) or None,
                "shared": turn.ask in shared,
            }
        )


def _action(turn: PastTurn) -> str | None:
    names = {Pick: "pick", Pass: "pass", Say: "say", Lead: "lead", Answer: "answer"}
    return names.get(type(turn.action)) if turn.action is not None else None


def _candidates(game: _Game) -> Iterator[DataRow]:
    for turn, first in _turns(game):
        start = first | {"kind": turn.kind} | game.seat(turn.seat)
        assert game.record is not None
        stated = game.record.player(turn.seat, turn.at)["recipe"]
        candidates, chosen, drawn, shares = noted_choice(turn.notes, stated)
        for number, candidate in enumerate(candidates):
            chances = () if chosen is None else chosen.probabilities
            yield start | {
                "candidate": number,
                "action": candidate.action,
                "reasoning": candidate.reasoning or None,
                "chosen": None if chosen is None else chosen.number == number,
                "probability": chances[number] if number < len(chances) else None,
                "value": None if chosen is None else chosen.value,
                "propensity": shares[number] if number < len(shares) else None,
                "own_choice": None if drawn.own is None else drawn.own == number,
                "explored": None if chosen is None else drawn.explored,
                "stand_in": None if chosen is None else drawn.stand_in,
            }


# -- calls --------------------------------------------------------------------------------------------


def _calls(game: _Game) -> Iterator[DataRow]:
    for call in game.store.calls_with_prompts(game.row.id):
        row = game.place | {"asker": asker(game.row.id)}
        row |= _call(call, game.seat, game.prices, game.run.uncounted)
        yield row | _texts(call) if game.run.texts else row


def _outside_games(run: _Run) -> Iterator[tuple[str, DataRow]]:
    """(table, row) of the calls and attempts of the run that no game made."""
    store, prices = run.store, prices_of_all(run.store.experiment)
    lost, of_games = store.attempts(), {asker(row.id) for row in store.games()}
    for who in sorted({*store.spent_by(), *(one.asker for one in lost)} - of_games):
        place = dict.fromkeys(_PLACE) | {"asker": who}
        for call in store.calls_with_prompts_of(who):
            row = place | _call(call, _nobody, prices, run.uncounted)
            yield "calls", row | _texts(call) if run.texts else row
        yield from (("attempts", place | _attempt(one, _nobody, prices)) for one in lost if one.asker == who)


def _judged(run: _Run, judge: Path) -> Iterator[tuple[str, DataRow]]:
    """(table, row) of the calls and attempts of a judge of this run's replies. The sample's key has the
    games.

    Its prompts may be older than an erasure, so those of a game with erased words are left out. Its price is
    in no file, so calls with cost 0 have no known cost.
    """
    places: Mapping[str, KeyRow] = {row.id: row for row in read_key(judge.parent).rows}
    with CallStore.open_for_reading(judge) as calls:
        uncounted, lost = calls.uncounted(), calls.attempts()
        for who in sorted({*calls.spent_by(), *(one.asker for one in lost)}):
            item = who.split("/")[1] if who.startswith("item/") else ""
            game = _game_of(run, places[item], judge) if item in places else None
            known = game is not None and game.record is not None and not game.record.erased
            place = (dict.fromkeys(_PLACE) if game is None else game.place) | {"asker": who}
            seat = _nobody if game is None else game.seat
            for call in calls.calls_with_prompts_of(who):
                row = place | _call(call, seat, {}, uncounted)
                texts = _texts(call) if known else dict.fromkeys(_TEXTS)
                yield "calls", row | texts if run.texts else row
            yield from (("attempts", place | _attempt(one, seat, {})) for one in lost if one.asker == who)


def _game_of(run: _Run, item: KeyRow, judge: Path) -> _Game:
    """The game of a judged reply. StoreError if the reply is from another run."""
    game = _Game(run.store, run.store.game(item.game), run)
    if game.record is None or (
        item.head not in ("", hash_of(game.record.lines[-1])) and not game.record.erased
    ):
        raise StoreError(
            f"{judge}: the replies that it judges are not from {run.store.path}; name the run of their sample"
        )
    return game


_PLACE = ("game", "condition", "deal", "repeat", "counts")
_TEXTS = ("prompt", "reply")


def _nobody(seat: int | None) -> DataRow:
    return dict.fromkeys(("seat", "player", "role"))


def _attempts(game: _Game) -> Iterator[DataRow]:
    for attempt in game.store.attempts(asker(game.row.id)):
        yield game.place | {"asker": attempt.asker} | _attempt(attempt, game.seat, game.prices)


def _attempt(attempt: StoredAttempt, seat: Callable[[int | None], DataRow], prices: Prices) -> DataRow:
    lost, used = attempt.lost, attempt.lost.usage
    known = bool(used.cost) or not unpriced({attempt.model: used}, prices)
    return _asked(attempt.key, seat) | {
        "model": attempt.model,
        "reason": str(lost.reason),
        "maybe_billed": lost.possibly,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "unlimited": lost.unlimited,
        "cost": used.cost if known else None,
    }


def _asked(key: str, seat: Callable[[int | None], DataRow]) -> DataRow:
    """The columns of a call's key."""
    _, ask, step = key.split("|", 2)
    round, kind, who = [*ask.split("/"), "", ""][:3]
    name, _, attempt = step.rpartition("|")
    row: DataRow = {"ask": ask, "round": _whole(round), "kind": kind or None, **seat(_whole(who))}
    return row | {"step": name, "attempt": _whole(attempt)}


def _call(
    call: Mapping[str, Any],
    seat: Callable[[int | None], DataRow],
    prices: Prices,
    uncounted: Collection[str],
) -> DataRow:
    row, model = _asked(call["key"], seat), call["model"]
    used = Usage(*(call[key] for key in ("prompt_tokens", "completion_tokens", "cached_tokens", "cost")))
    row["model"] = model
    row |= _used(used, bool(used.cost) or not unpriced({model: used}, prices))
    row |= {"estimated": model in uncounted}
    finish = call["finish"]
    row |= {"finish": str(finish.reason), "finish_detail": finish.words or None}
    return row | {key: call[key] for key in ("latency", "tier")}


def _texts(call: Mapping[str, Any]) -> DataRow:
    messages = call.get("messages")
    return {
        "prompt": None if messages is None else msgspec.json.encode(messages).decode(),
        "reply": None if answered_by_person(call) else call["text"],
    }


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


# -- what a study's people answered -------------------------------------------------------------------


def _answers(game: _Game) -> Iterator[DataRow]:
    """The answers about this game."""
    for given in game.run.study.about(game.row.id):
        yield game.place | given.row | _flagged(game, given)


def _flagged(game: _Game, given: GivenAnswer) -> DataRow:
    """The columns of the statement that a flag marks."""
    events = [] if game.record is None else game.record.events
    said = [at for at, event in enumerate(events) if isinstance(event, Said)]
    if given.marks not in said:
        return {"position": None, **game.seat(None, "target")}
    event = events[given.marks]
    assert isinstance(event, Said)
    return {"position": said.index(given.marks) + 1, **game.seat(event.seat, "target")}


def _other_answers(run: _Run) -> Iterator[DataRow]:
    empty = dict.fromkeys((*_PLACE, "position", "target_seat", "target_player", "target_role"))
    for given in run.study.about(None):
        yield empty | {"condition": run.study.condition(given.person)} | given.row


def _none(game: _Game) -> Iterable[DataRow]:
    return ()


_MAKERS: Mapping[str, Callable[[_Game], Iterable[DataRow]]] = {
    "games": _games,
    "players": _players,
    "days": _days,
    "votes": _votes,
    "statements": _statements,
    "contradictions": _contradictions,
    "judgements": _judgements,
    "decisions": _decisions,
    "candidates": _candidates,
    "calls": _calls,
    "attempts": _attempts,
    "answers": _answers,
}
"""Table → its rows of one game; none for `people`."""
