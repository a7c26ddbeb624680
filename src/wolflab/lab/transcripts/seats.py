"""The transcript of a game for each of its players: what the player learned, was asked and did.

One game is in memory at a time. This module knows nothing of the programs that read transcripts. Without
`texts` people's words are left out, and so are all prompts of their games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ...errors import WolflabError
from ...metrics.play import player_label
from ...metrics.rows import MeasureRow, game_values
from ...record import GameRecord, PastTurn
from ...record.codec import encode_note
from ...record.sealed import ERASED
from ...rules import ROLES, Action, Said, Say, with_facts
from ...text.asking.options import label
from ...text.asking.sentences import sentence
from ...text.notes import Exchanged
from ...text.people import decode_answer
from ...text.replies.finish import Finish
from ...usage import Usage
from ..plans.prices import Prices, prices_of, unpriced
from ..plans.specs import PERSON
from ..runs.counting import rows_of
from ..runs.game import StoredGame
from ..runs.prompts import PromptShown, answered_by_person, prompts_of
from ..storage.store import GameRow, Store

LEFT_OUT = "(said by a person; --texts puts it here)"
"""The replacement of a person's words."""
NO_PROMPTS = "people sat at this table, and prompts quote what they said; --texts puts them here"


@dataclass(frozen=True, slots=True)
class TranscriptCall:
    """A call to a model. prompt: its messages are empty if not available. cost: USD; None if not known.
    estimated: its tokens may be estimated. finish, latency: see `models.base.Response`.
    """

    prompt: PromptShown
    model: str
    usage: Usage
    cost: float | None
    estimated: bool
    finish: Finish
    latency: float

    @property
    def reply(self) -> str:
        """The reply."""
        return self.prompt.reply


@dataclass(frozen=True, slots=True)
class TranscriptSentence:
    """Something that the player learned, as a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class TranscriptDecision:
    """An ask to the player. ask: its id. probe: it is outside the game. calls: those for it. action: in
    words; "" if not known. invalid: why there was no usable reply. notes: (step, note as JSON values).
    """

    ask: str
    probe: bool
    calls: tuple[TranscriptCall, ...]
    action: str = ""
    invalid: str | None = None
    notes: tuple[tuple[str, Any], ...] = ()


class TranscriptEnd(NamedTuple):
    """The end of a finished game for a player. won: None if neither side did. left: the round and the way in
    which the player left ("night", "vote", "shot"); None for a survivor.
    """

    winner: str
    reason: str
    won: bool | None
    left: tuple[int, str] | None


@dataclass(frozen=True)
class SeatTranscript:
    """The transcript of one player of a game.

    player: the name. role, side: empty for an unfinished game, which has no record yet. model, recipe: of the
    player at the start. described: the player's description in the header, without a person's data. table:
    player → role. rounds: the number begun. entries: in the order of the game. ended: None for an unfinished
    game. values: the game's value of each measure. left_out: why prompts are missing, or "".
    """

    game: GameRow
    seat: int
    player: str
    role: str
    side: str
    model: str
    recipe: str
    described: Mapping[str, Any]
    table: Mapping[str, str]
    rounds: int | None
    entries: tuple[TranscriptSentence | TranscriptDecision, ...]
    ended: TranscriptEnd | None
    values: Mapping[str, float]
    left_out: str

    @property
    def counts(self) -> bool:
        """Whether the game counts: it is done, and not void."""
        return self.game.status == "done"

    @property
    def calls(self) -> Iterator[TranscriptCall]:
        """All calls in order."""
        return (call for one in self.entries if isinstance(one, TranscriptDecision) for call in one.calls)


def seats_of_condition(store: Store, condition: str, texts: bool) -> Iterator[SeatTranscript]:
    """Every player of a condition's begun games, game by game. texts: include people's words."""
    rows = [row for row in store.games() if row.condition == condition]
    prices, uncounted = prices_of(store.experiment, condition), frozenset(store.uncounted())
    people = any(spec.recipe == PERSON for spec in store.experiment.cast(condition).values())
    for row, measured in zip(rows, rows_of(store, rows), strict=True):
        if row.status != "planned":
            yield from _TranscribedGame(store, row, measured, prices, uncounted, people and not texts).seats()


@dataclass
class _TranscribedGame(StoredGame):
    """One game. hidden: people play whose words are left out."""

    measured: MeasureRow | None
    prices: Prices
    uncounted: frozenset[str]
    hidden: bool

    @cached_property
    def people(self) -> frozenset[int]:
        """The seats that a person held at any time."""
        if self.record is None:
            return frozenset()
        later = ((seat, player) for _, seat, player in self.record.takeovers)
        players = (*enumerate(self.record.header["players"]), *later)
        return frozenset(seat for seat, player in players if player_label(player).recipe == PERSON)

    def seats(self) -> Iterator[SeatTranscript]:
        """The transcript of each player."""
        asked, left_out = self._calls()
        for seat in range(len(self.names)):
            yield self._seat(seat, asked.get(seat, {}), left_out)

    def _seat(self, seat: int, calls: dict[str, list[TranscriptCall]], left_out: str) -> SeatTranscript:
        record = self.record
        mine = SeatTranscript(
            self.row, seat, self.names[seat], "", "", "", "", {}, {}, None, (), None, {}, left_out
        )
        if record is None:
            models = [call.model for asked in calls.values() for call in asked]
            entries = tuple(TranscriptDecision(ask, False, tuple(asked)) for ask, asked in calls.items())
            return replace(mine, model=models[0] if models else "", entries=entries)
        role = record.roles[seat]
        described = record.header["players"][seat]
        who = player_label(described)
        return replace(
            mine,
            role=role,
            side="werewolves" if ROLES[role].wolf else "village",
            model=who.model,
            recipe=who.recipe,
            described={} if seat in self.people else described,
            table=dict(zip(self.names, record.roles, strict=True)),
            rounds=record.facts.round,
            entries=tuple(self._entries(record, seat, calls)),
            ended=_ended(record, seat),
            values={} if self.measured is None else game_values(self.measured),
        )

    # -- what happened ----------------------------------------------------------------------

    def _entries(
        self, record: GameRecord, seat: int, calls: dict[str, list[TranscriptCall]]
    ) -> Iterator[TranscriptSentence | TranscriptDecision]:
        """What the player learned and was asked, in order; polls come before simultaneous asks."""
        turns = sorted(
            (turn for turn in (*record.probes, *record.turns) if turn.seat == seat), key=lambda turn: turn.at
        )
        waiting = iter([*turns, None])
        turn = next(waiting)
        left = dict(calls)
        for number, words in enumerate(self._learned(record, seat)):
            while turn is not None and turn.at <= number:
                yield self._asked(record, turn, left.pop(turn.ask, []))
                turn = next(waiting)
            if words:
                yield TranscriptSentence(words)
        while turn is not None:
            yield self._asked(record, turn, left.pop(turn.ask, []))
            turn = next(waiting)
        yield from (TranscriptDecision(ask, False, tuple(asked)) for ask, asked in left.items())

    def _learned(self, record: GameRecord, seat: int) -> Iterator[str]:
        """Each event as a sentence to the player; "" for one of which it does not learn."""
        for event, facts in with_facts(record.ruleset, record.events):
            if not event.audience >> seat & 1:
                yield ""
                continue
            if isinstance(event, Said) and event.text and event.seat in self.people and self.hidden:
                event = replace(event, text=LEFT_OUT)
            yield sentence(event, seat, record.ruleset, facts.round, facts.phase)

    def _asked(self, record: GameRecord, turn: PastTurn, calls: list[TranscriptCall]) -> TranscriptDecision:
        hidden = self.hidden and turn.seat in self.people
        action = LEFT_OUT if hidden and _speaks(turn.action) else _in_words(record, turn)
        notes = tuple(
            (step, encode_note(note)) for step, note in turn.notes if not isinstance(note, Exchanged)
        )
        return TranscriptDecision(turn.ask, turn.probe is not None, tuple(calls), action, turn.invalid, notes)

    # -- calls --------------------------------------------------------------------------------

    def _calls(self) -> tuple[dict[int, dict[str, list[TranscriptCall]]], str]:
        """Seat → ask → calls, with asks in order; and why prompts are missing."""
        stored = {call["key"].split("|", 1)[1]: call for call in self.store.calls_with_prompts(self.row.id)}
        prompts, left_out = self._prompts(stored)
        asked: dict[int, dict[str, list[TranscriptCall]]] = {}
        for prompt in prompts:
            call = stored[prompt.key]
            if answered_by_person(call):
                prompt = prompt._replace(reply=_persons_answer(prompt.reply, self.hidden))
            if prompt.seat is not None:
                asked.setdefault(prompt.seat, {}).setdefault(prompt.ask, []).append(self._call(prompt, call))
        return asked, left_out

    def _prompts(self, stored: Mapping[str, Mapping[str, Any]]) -> tuple[Iterable[PromptShown], str]:
        try:
            prompts = list(prompts_of(self.store, self.row.id))
        except WolflabError as error:
            bare = [PromptShown.of(key, (), call["text"]) for key, call in stored.items()]
            return bare, NO_PROMPTS if self.hidden else str(error)
        if self.hidden:
            return [prompt._replace(messages=()) for prompt in prompts], NO_PROMPTS
        model = next((stored[one.key]["model"] for one in prompts if _is_missing(one, stored)), "")
        return prompts, f"those of {model} were not kept, and cannot be made again" if model else ""

    def _call(self, prompt: PromptShown, call: Mapping[str, Any]) -> TranscriptCall:
        model = call["model"]
        names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost")
        used = Usage(*(call[name] for name in names))
        known = used.cost or not unpriced({model: used}, self.prices)
        cost = used.cost if known else None
        estimated = model in self.uncounted
        return TranscriptCall(prompt, model, used, cost, estimated, call["finish"], call["latency"])


def _is_missing(prompt: PromptShown, stored: Mapping[str, Mapping[str, Any]]) -> bool:
    return not prompt.messages and not answered_by_person(stored[prompt.key])


def _persons_answer(kept: str, hidden: bool) -> str:
    """A person's answer in words."""
    answer = decode_answer(kept)
    if answer is None:
        return ERASED
    if answer.said is not None:
        return LEFT_OUT if hidden and answer.said else answer.said
    if answer.rated is not None:
        return "; ".join(f"{player}: {score}" for player, score in answer.rated.items())
    if answer.chose is not None:
        return answer.chose
    return "(the built-in player answers)" if answer.stand_in else f"(no answer: {answer.missing})"


def _speaks(action: Action | None) -> bool:
    return isinstance(action, Say) and bool(action.text)


def _in_words(record: GameRecord, turn: PastTurn) -> str:
    return "" if turn.action is None else label(turn.action, turn.kind, record.ruleset)


def _ended(record: GameRecord, seat: int) -> TranscriptEnd | None:
    outcome = record.outcome
    if outcome is None:
        return None
    wolf = ROLES[record.roles[seat]].wolf
    village = outcome.village_won
    gone = record.facts.left(seat)
    left = None if gone is None else (gone.round, gone.how)
    won = None if village is None else village is not wolf
    return TranscriptEnd(outcome.winner.value, outcome.reason.value, won, left)
