"""Converts a player's transcript to a sample of Inspect: messages, events, scores and usage, as JSON values.

A sample is *one player in one game*. A user of Inspect expects one conversation of one model in a sample,
with a score of that model. A complete game has several players and models, prompts that the others must not
see, and no single score. With samples by player, they can be grouped by role, side, model or recipe. Players
of a game share its number, deal and repeat in their metadata; standard errors of means should be clustered by
deal.

The format is that of inspect_ai's log version 2: https://inspect.aisi.org.uk/eval-logs.html. Nothing of
Inspect is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from ...metrics.play import PlayerLabel
from ...text.replies.finish import FinishReason
from ...usage import CallTotals
from .seats import SeatTranscript, TranscriptCall, TranscriptDecision, TranscriptSentence

Json = dict[str, Any]
_STOPS = {
    FinishReason.ANSWERED: "stop",
    FinishReason.EMPTY: "stop",
    FinishReason.ELSEWHERE: "stop",
    FinishReason.CUT: "max_tokens",
    FinishReason.CUT_THINKING: "max_tokens",
    FinishReason.UNREAD: "max_tokens",
    FinishReason.FILTERED: "content_filter",
    FinishReason.REFUSED: "content_filter",
    FinishReason.NO_FIT: "model_length",
}
"""Our reasons for the end of a reply → Inspect's."""
_LEFT = {"night": "died at night", "vote": "was voted out", "shot": "was shot"}
_UNKNOWN_DAY = datetime(1970, 1, 1, tzinfo=UTC)


def name_of(*purpose: object) -> str:
    """22 letters and digits by a hash of these values. Inspect's own ids are as long."""
    said = "|".join(map(str, purpose))
    return blake2b(said.encode("utf-8", "replace"), digest_size=11, person=b"transcripts").hexdigest()


def day_of(date: str) -> datetime:
    """Midnight (UTC) of a date such as 2026-01-31; 1970-01-01 if not known."""
    return datetime.fromisoformat(date).replace(tzinfo=UTC) if date else _UNKNOWN_DAY


@dataclass(frozen=True)
class SampleMaker:
    """Makes the samples of one log. log: its name, from which samples' ids are derived. day: when the run
    began; the times of calls are not stored, so they are counted from that midnight by latency. facts:
    metadata of all samples.
    """

    log: str
    day: datetime
    facts: Mapping[str, Any]

    def sample(self, seat: SeatTranscript) -> Json:
        """See the module."""
        return _Sample(self, seat).made()

    @staticmethod
    def id_of(seat: SeatTranscript) -> str:
        """The id of a sample: equal for the same cards and seat in every condition, so that logs can be
        compared.
        """
        return f"deal-{seat.game.deal:04}-seat-{seat.seat:02}"


@dataclass
class _Sample:
    """A sample under construction."""

    maker: SampleMaker
    seat: SeatTranscript
    messages: list[Json] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    pool: list[Json] = field(default_factory=list)
    """Every different message; events refer to ranges of it."""
    seconds: float = 0.0
    span: str | None = None
    _at: dict[tuple[str, str], int] = field(default_factory=dict)
    _last: list[tuple[str, str]] = field(default_factory=list)
    _replies: dict[str, str] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)
    """The ids of the conversation's messages."""

    @property
    def uuid(self) -> str:
        """The sample's id."""
        game = self.seat.game
        return name_of(self.maker.log, game.deal, game.repeat, self.seat.seat)

    def made(self) -> Json:
        """The complete sample."""
        seat, game = self.seat, self.seat.game
        start: Json = {"id": self.maker.id_of(seat), "input": _task(seat), "target": seat.side}
        start |= {"metadata": self._metadata()}
        self._event("sample_init", sample=start, state={})
        for entry in seat.entries:
            if isinstance(entry, TranscriptSentence):
                self._event("info", source="moderator", data=entry.text)
            else:
                self._decision(entry)
        scores = _scores(seat)
        for name, score in scores.items():
            self._event("score", scorer=name, score=score, target=seat.side)
        usage = usage_by_model(seat.calls)
        calls = list(seat.calls)
        sample: Json = {
            **start,
            "epoch": game.repeat + 1,
            "messages": self.messages,
            "output": _output(calls[-1]) if calls else {"model": seat.model, "choices": []},
            "scores": scores or None,
            "store": {},
            "events": self.events,
            "events_data": {"messages": self.pool, "calls": []},
            "attachments": {},
            "model_usage": {model: model_usage(*used) for model, used in usage.items()},
            "started_at": self._time(0.0),
            "completed_at": self._time(self.seconds),
            "total_time": round(self.seconds, 6),
            "working_time": round(self.seconds, 6),
            "turn_count": len(calls),
            "uuid": self.uuid,
        }
        if not game.over:
            sample |= {"error": _error(seat)}
        return sample

    # -- events -----------------------------------------------------------------------------

    def _decision(self, asked: TranscriptDecision) -> None:
        span = f"{self.uuid}-{len(self.events)}"
        round_, kind = [*asked.ask.split("/"), ""][:2]
        name = f"round {round_}, {kind}{' (outside the game)' if asked.probe else ''}"
        self._event("span_begin", id=span, name=name, type="ask")
        self.span = span
        for call in asked.calls:
            self._call(call)
        decided = {"action": asked.action, "invalid": asked.invalid, "notes": dict(_by_step(asked.notes))}
        if any(decided.values()):
            said = {key: value for key, value in decided.items() if value}
            self._event("info", source="decision", data={"ask": asked.ask, **said})
        self.span = None
        self._event("span_end", id=span)

    def _call(self, call: TranscriptCall) -> None:
        prompt = list(call.prompt.messages)
        for message in prompt[self._told_before(prompt) :]:
            self._converse(self.pool[self._place(message)])
        output = _output(call, f"{self.uuid}-{len(self.messages)}")
        reply = output["choices"][0]["message"]
        step, _, attempt = call.prompt.key.partition("|")[2].rpartition("|")
        about = {"ask": call.prompt.ask, "step": step, "attempt": attempt}
        self._converse(reply | {"metadata": about})
        self._last = prompt
        self._replies[call.reply] = reply["id"]
        start = self.seconds
        self.seconds += call.latency
        self._event(
            "model",
            start,
            model=call.model,
            input=[],
            input_refs=_ranges(self._place(message) for message in prompt),
            tools=[],
            tool_choice="none",
            config={},
            output=output,
            completed=self._time(self.seconds),
            working_time=round(call.latency, 6),
            metadata={**about, "finish": call.finish.stored, "tokens_estimated": call.estimated},
        )

    def _told_before(self, prompt: list[tuple[str, str]]) -> int:
        """The number of a prompt's first messages that the conversation already has: up to the last reply
        that it quotes, or else the common start with the prompt before. Events have the complete prompt.
        """
        quoted = [
            at for at, (role, text) in enumerate(prompt) if role == "assistant" and text in self._replies
        ]
        if quoted:
            return quoted[-1] + 1
        together = enumerate(zip(prompt, self._last, strict=False))
        same = min(len(prompt), len(self._last))
        return next((at for at, (one, other) in together if one != other), same)

    def _converse(self, message: Json) -> None:
        """Add a message to the conversation, with its id in events, or, if that id is used already, with a
        new one.
        """
        again = message["id"] in self._said
        self._said.add(message["id"])
        self.messages.append(message | ({"id": f"{self.uuid}-{len(self.messages)}"} if again else {}))

    def _place(self, message: tuple[str, str]) -> int:
        """The index of a message in the pool."""
        if message not in self._at:
            self._at[message] = len(self.pool)
            sent = f"{self.uuid}-sent-{len(self.pool)}"
            name = self._replies.get(message[1], sent) if message[0] == "assistant" else sent
            self.pool.append({"id": name} | _message(message))
        return self._at[message]

    def _event(self, kind: str, start: float | None = None, **fields: Any) -> None:
        seconds = self.seconds if start is None else start
        event: Json = {"event": kind, "uuid": f"{self.uuid}-e{len(self.events)}"}
        event |= {"timestamp": self._time(seconds), "working_start": round(seconds, 6)}
        if self.span is not None:
            event |= {"span_id": self.span}
        self.events.append(event | fields)

    def _time(self, seconds: float) -> str:
        return (self.maker.day + timedelta(seconds=seconds)).isoformat()

    def _metadata(self) -> Json:
        seat, game = self.seat, self.seat.game
        said: Json = {
            **self.maker.facts,
            "condition": game.condition,
            "game": game.id,
            "deal": game.deal,
            "repeat": game.repeat,
            "seat": seat.seat,
            "player": seat.player,
            "role": seat.role,
            "side": seat.side,
            "model": seat.model,
            "recipe": seat.recipe,
            "state": str(game.status),
            "counts": seat.counts,
            "tokens_estimated": any(call.estimated for call in seat.calls),
        }
        if seat.ended is not None:
            left = seat.ended.left or (None, None)
            said |= {"winner": seat.ended.winner, "reason": seat.ended.reason, "rounds": seat.rounds}
            said |= {"left_round": left[0], "left_by": left[1]}
        if seat.left_out:
            said |= {"prompts_left_out": seat.left_out}
        return said | {"table": dict(seat.table), "measures": dict(seat.values)}


def _message(message: tuple[str, str]) -> Json:
    role, text = message
    if role == "assistant":
        return {"role": role, "content": text, "source": "generate"}
    return {"role": role if role in ("system", "user") else "user", "content": text, "source": "input"}


def _ranges(places: Iterable[int]) -> list[tuple[int, int]]:
    """Consecutive indices as ranges (first, last + 1)."""
    ranges: list[tuple[int, int]] = []
    for place in places:
        if ranges and ranges[-1][1] == place:
            ranges[-1] = (ranges[-1][0], place + 1)
        else:
            ranges.append((place, place + 1))
    return ranges


def _by_step(notes: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Notes grouped by step."""
    steps: dict[str, list[Any]] = {}
    for step, note in notes:
        steps.setdefault(step, []).append(note)
    return ((step, those[0] if len(those) == 1 else those) for step, those in steps.items())


# -- scores, usage, errors ------------------------------------------------------------------------------


def _task(seat: SeatTranscript) -> str:
    """The sample's input for lists: the player's task."""
    who = f"{seat.player} plays the {seat.role}" if seat.role else f"{seat.player} plays"
    return f"{who}. Game {seat.game.id}: deal {seat.game.deal}, repeat {seat.game.repeat}."


def _scores(seat: SeatTranscript) -> Json:
    """The scores: whether the player's side won, and whether it survived. Empty for a game that does not
    count.
    """
    if seat.ended is None or not seat.counts:
        return {}
    won = "N" if seat.ended.won is None else "C" if seat.ended.won else "I"
    left = seat.ended.left
    gone = "lived to the end" if left is None else f"{_LEFT[left[1]]} in round {left[0]}"
    winner = {"village": "the village won", "werewolves": "the Werewolves won"}.get(
        seat.ended.winner, "nobody won"
    )
    return {
        "won": {"value": won, "answer": seat.ended.winner, "explanation": f"{winner}: {seat.ended.reason}"},
        "survived": {"value": "C" if left is None else "I", "explanation": gone},
    }


def _output(call: TranscriptCall, name: str | None = None) -> Json:
    """A call's reply in Inspect's format. name: the message's id."""
    stop = _STOPS.get(call.finish.reason, "unknown")
    message: Json = {} if name is None else {"id": name}
    message |= _message(("assistant", call.reply)) | {"model": call.model}
    totals = CallTotals(1, call.usage, call.latency)
    return {
        "model": call.model,
        "choices": [{"message": message, "stop_reason": stop}],
        "usage": model_usage(totals, call.cost is not None),
        "time": round(call.latency, 6),
    }


def usage_by_model(calls: Iterable[TranscriptCall]) -> dict[str, tuple[CallTotals, bool]]:
    """Model → totals of its calls, and whether all of their cost is known."""
    found: dict[str, tuple[CallTotals, bool]] = {}
    for call in calls:
        totals, known = found.get(call.model, (CallTotals(), True))
        more = CallTotals(1, call.usage, call.latency)
        found[call.model] = totals + more, known and call.cost is not None
    return found


def model_usage(totals: CallTotals, priced: bool) -> Json:
    """Tokens and cost in Inspect's format, whose input tokens exclude cached ones."""
    used = totals.usage
    said: Json = {
        "input_tokens": max(used.prompt_tokens - used.cached_tokens, 0),
        "output_tokens": used.completion_tokens,
        "total_tokens": used.tokens,
        "input_tokens_cache_read": used.cached_tokens,
    }
    return said | {"total_cost": used.cost} if priced else said


def _error(seat: SeatTranscript) -> Json:
    why = f"the game is {seat.game.status}: {seat.game.error or 'it is being played, or was stopped'}"
    return {"message": why, "traceback": why, "traceback_ansi": why}


def models_named(labels: Iterable[PlayerLabel]) -> str:
    """A single name for the models of a condition, because a log of Inspect has one model."""
    return " + ".join(sorted({label.model for label in labels if label.model})) or "none/none"
