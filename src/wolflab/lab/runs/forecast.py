"""Forecasts the calls, tokens, money and time of games, as 90 % intervals.

Games are rehearsed on the built-in player (`rehearsal`). The model's own first replies correct what the
rehearsal cannot show: the tokens that its server counts for a prompt, the length of its replies (with
thinking), the length of its statements, which the others read, the rate of retries, the latency and the cost.
Without any reply these are guesses, and the intervals are wide.

Each of these is a factor with an interval, and so is the length of games. Errors of factors are taken as
independent. `forecast` needs only a rehearsal and numbers of games, so it works for anything that plays
games.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, hypot, log, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from ...errors import ModelError
from ...models.base import Chat, Response, call_kind
from ...models.estimates import estimate_texts, tokens
from ...text.clean import LIMIT
from ...text.replies.parse import parse
from ...text.replies.parsed import Problem
from ...usage import CallTotals, Usage
from ..storage.call_store import CallStore
from ..storage.store import Store, asker
from .casting import Players
from .rehearsal import PlayingModel, Rehearsal, RehearsedCall, RehearsedGame, said_in

_MOST_AGAIN = 3.0
"""The most calls for one answer, with retries."""
_ENOUGH_GAMES = 5
"""The number of finished games from which the length of a run's games is estimated."""
_MOST_SEEN = 400
"""The most replies of each model on which a forecast rests."""


@dataclass(frozen=True, slots=True)
class Interval90:
    """A positive amount with its 90 % interval."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, middle: float, spread: float = 0.0) -> Interval90:
        """spread: the standard deviation of its logarithm."""
        times = exp(1.645 * spread)
        return cls(middle / times, middle, middle * times)

    def __mul__(self, other: Interval90 | float) -> Interval90:
        if not isinstance(other, Interval90):
            return Interval90(self.low * other, self.middle * other, self.high * other)
        if not self.middle * other.middle:
            return NOTHING
        below = hypot(log(self.middle / self.low), log(other.middle / other.low))
        above = hypot(log(self.high / self.middle), log(other.high / other.middle))
        middle = self.middle * other.middle
        return Interval90(middle / exp(below), middle, middle * exp(above))

    def __add__(self, other: Interval90) -> Interval90:
        middle = self.middle + other.middle
        below = hypot(self.middle - self.low, other.middle - other.low)
        return Interval90(
            middle - below, middle, middle + hypot(self.high - self.middle, other.high - other.middle)
        )

    def at_most(self, most: float) -> Interval90:
        """The interval, with no bound above `most`."""
        return Interval90(min(self.low, most), min(self.middle, most), min(self.high, most))


NOTHING = Interval90(0.0, 0.0, 0.0)
_GUESSED_LENGTH = Interval90(0.5, 3.2, 20.0)
"""The length of a model's replies relative to the built-in player's, without any reply; models that think
write most.
"""
_GUESSED_COUNT = Interval90.of(1.0, 0.15)
"""A server's count of prompt tokens relative to the estimate."""
_GUESSED_AGAIN = Interval90(1.0, 1.05, 1.14)
"""Calls for each answer, with retries of unusable replies."""
_GUESSED_CALLS = Interval90.of(1.0, 0.1)
"""Calls in a game relative to a rehearsed game."""


class SeenReply(NamedTuple):
    """A reply of a model. estimated: estimated tokens of its prompt. said: tokens of its statement, None if
    it was not asked for one. again: it is unusable and leads to a retry; in a run's own calls, it is a retry.
    Both have the same number. tier: in which it was served.
    """

    estimated: int
    usage: Usage
    latency: float
    said: int | None = None
    again: bool = False
    tier: str = ""


@dataclass(frozen=True)
class Seen:
    """Observations of the models so far. replies: by label or name. calls: condition → calls of each finished
    game.
    """

    replies: Mapping[str, Sequence[SeenReply]] = field(default_factory=dict)
    calls: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelForecast:
    """The forecast for one model, or for one embedder, which has no calls and no completions. usd: None
    without a price. seconds: of its server, None without a reply. seen: the number of observed replies.
    """

    name: str
    calls: Interval90
    prompt: Interval90
    completion: Interval90
    usd: Interval90 | None
    seconds: Interval90 | None = None
    seen: int = 0
    embeds: bool = False


@dataclass(frozen=True)
class RunForecast:
    """The forecast for all games. models: by label, with embedders. usd: of all that has a price, None if
    nothing has. hours: None until every model has replied. games: the number that counts.
    """

    games: int
    models: Mapping[str, ModelForecast]
    calls: Interval90
    tokens: Interval90
    usd: Interval90 | None
    hours: Interval90 | None

    def with_taken(self, taken: CallTotals) -> RunForecast:
        """The forecast plus what was used before. Hours are still those of the remaining games."""
        calls, used, usd = (Interval90.of(n) for n in (taken.calls, taken.usage.tokens, taken.usage.cost))
        paid = None if self.usd is None else self.usd + usd
        return replace(self, calls=self.calls + calls, tokens=self.tokens + used, usd=paid)


def forecast(rehearsal: Rehearsal, games: Mapping[str, int], seen: Seen) -> RunForecast:
    """The forecast. games: condition → the number of games that count. seen: observations of the models."""
    shares = {name: wanted / rehearsal.planned[name] for name, wanted in games.items() if wanted}
    weighted = [(share, game) for name, share in shares.items() for game in rehearsal.games[name]]
    replies = {
        one.label: seen.replies.get(one.label) or seen.replies.get(one.name, ()) for one in rehearsal.models
    }
    speech = {label: _speech(rehearsal.calls(label), came) for label, came in replies.items()}
    longer, retries_known = _longer(rehearsal, sum(games.values()), seen)
    found: dict[str, ModelForecast] = {}
    for model in rehearsal.models:
        calls = [
            (share, call) for share, game in weighted for call in game.calls if call.model == model.label
        ]
        if calls:
            came = replies[model.label]
            found[model.label] = _of_model(model, calls, came, speech, longer, retries_known)
    shares[""] = sum(games.values()) / sum(rehearsal.planned.values())
    for name, (given, price) in rehearsal.texts.items():
        count = sum(n * shares.get(condition, 0.0) for condition, n in given.items())
        texts = longer * _GUESSED_COUNT * count
        usd = None if price is None else texts * (price.input / 1e6)
        found[f"{name} (texts)"] = ModelForecast(name, NOTHING, texts, NOTHING, usd, embeds=True)
    priced = [one.usd for one in found.values() if one.usd is not None]
    return RunForecast(
        sum(games.values()),
        found,
        sum((one.calls for one in found.values()), NOTHING),
        sum((part for one in found.values() for part in (one.prompt, one.completion)), NOTHING),
        sum(priced, NOTHING) if priced else None,
        _hours(rehearsal, weighted, found),
    )


def _of_model(
    model: PlayingModel,
    calls: Sequence[tuple[float, RehearsedCall]],
    replies: Sequence[SeenReply],
    speech: Mapping[str, Interval90],
    longer: Interval90,
    retries_known: bool,
) -> ModelForecast:
    """calls: rehearsed calls with their weights. speech: see `_speech`. longer, retries_known: see
    `_longer`.
    """
    made = sum(times for times, _ in calls)
    prompt = Interval90.of(sum(times * (call.prompt - sum(call.quoted.values())) for times, call in calls))
    for author, factor in speech.items():
        quoted = sum(times * call.quoted.get(author, 0) for times, call in calls)
        prompt += factor * quoted
    if replies:
        used = [reply.usage for reply in replies]
        prompt *= _mean([each.prompt_tokens for each in used], [reply.estimated for reply in replies])
        completion = _mean([each.completion_tokens for each in used]) * made
    else:
        prompt *= _GUESSED_COUNT
        completion = _GUESSED_LENGTH * sum(times * call.reply for times, call in calls)
    if model.longest is not None:
        completion = completion.at_most(made * model.longest)
    more = longer if retries_known else longer * _again(replies)
    usd = None
    if (price := model.price) is not None:
        cached = sum(reply.usage.cached_tokens for reply in replies)
        share = cached / max(sum(reply.usage.prompt_tokens for reply in replies), 1)
        flex = sum(reply.tier == "flex" for reply in replies) / max(len(replies), 1)
        cost = prompt * (price.cost(10**6, 0, round(share * 10**6)) / 1e6)
        cost += completion * (price.cost(0, 10**6) / 1e6)
        usd = cost * more * (1 - flex * (1 - price.flex))
    calls_made = more * made
    seconds = calls_made * _mean([reply.latency for reply in replies]) if replies else None
    return ModelForecast(model.name, calls_made, prompt * more, completion * more, usd, seconds, len(replies))


def _hours(
    rehearsal: Rehearsal, weighted: Sequence[tuple[float, RehearsedGame]], found: Mapping[str, ModelForecast]
) -> Interval90 | None:
    """The duration: by the longest chain of calls that wait for each other, or by the busiest server."""
    busy: dict[str, Interval90] = {}
    in_flight: dict[str, int] = {}
    for model in rehearsal.models:
        if model.label in found:
            if (seconds := found[model.label].seconds) is None:
                return None
            busy[model.server] = busy.get(model.server, NOTHING) + seconds
            in_flight[model.server] = min(model.in_flight, in_flight.get(model.server, model.in_flight))
    if not busy:
        return None
    chains = sum(times * game.chain for times, game in weighted) / rehearsal.concurrency
    longest = max(chains, *(game.chain for _, game in weighted))
    calls = sum(times * len(game.calls) for times, game in weighted)
    waits = sum(busy.values(), NOTHING) * (longest / calls)
    times = [waits, *(time * (1 / in_flight[server]) for server, time in busy.items())]
    return max(times, key=lambda time: time.middle) * (1 / 3600)


def _speech(calls: Sequence[RehearsedCall], replies: Sequence[SeenReply]) -> Interval90:
    """The length of a model's statements relative to the built-in player's."""
    usual = fmean([call.said for call in calls if call.said] or [0])
    said = [reply.said for reply in replies if reply.said is not None]
    if not usual:
        return _GUESSED_LENGTH
    times = _mean(said) * (1 / usual) if said else _GUESSED_LENGTH
    return times.at_most(LIMIT / 4 / usual)


def _longer(rehearsal: Rehearsal, left: int, seen: Seen) -> tuple[Interval90, bool]:
    """Calls in this number of games relative to rehearsed ones, and whether retries are included. Games
    without calls do not count.
    """
    lengths = {name: [len(game.calls) for game in games] for name, games in rehearsal.games.items()}
    usual = {name: fmean(calls) for name, calls in lengths.items() if any(calls)}
    rehearsed = [calls / usual[name] for name in usual for calls in lengths[name]]
    over = [calls / usual[name] for name in usual for calls in seen.calls.get(name, ())]
    known = len(over) >= _ENOUGH_GAMES
    of_these = Interval90.of(1.0, (stdev(rehearsed) if len(rehearsed) > 1 else 0.3) / sqrt(max(left, 1)))
    games = _mean(over) if known else _GUESSED_CALLS * (_mean(rehearsed) if rehearsed else 1.0)
    return of_these * games, known


def _again(replies: Sequence[SeenReply]) -> Interval90:
    """Calls for each answer, with retries."""
    if not replies:
        return _GUESSED_AGAIN
    share = (sum(reply.again for reply in replies) + 0.5) / (len(replies) + 1)
    spread = sqrt(share / (1 - share) / (len(replies) + 2))
    return Interval90.of(1 / (1 - share), spread).at_most(_MOST_AGAIN)


def _mean(values: Sequence[float], per: Sequence[float] = ()) -> Interval90:
    """The expected mean of such values; or the expected ratio of their sum to that of `per`."""
    n, others = len(values), per or [1.0] * len(values)
    if not sum(values) * sum(others):
        return NOTHING
    mean = sum(values) / sum(others)
    if n < 2:
        return Interval90.of(mean, 0.5)
    error = stdev(value - mean * other for value, other in zip(values, others, strict=True)) / sqrt(n)
    return Interval90.of(mean, error / fmean(values) * (1 + 1.2 / (n - 1)))  # Student's t is wider


# -- observations --------------------------------------------------------------------------------------------


def observed_in(store: Store) -> Seen:
    """The first replies of each model of a run, and the calls of its finished games. In each condition, only
    games before the first unfinished one count, because games that end early are short.
    """
    replies: dict[str, list[SeenReply]] = {}
    over: dict[str, list[int]] = {}
    open_ones: set[str] = set()
    spent = store.spent_by()
    for row in store.games():
        totals = {name: each for name, each in spent.get(asker(row.id), {}).items() if each.usage.tokens}
        if not row.over:
            open_ones.add(row.condition)
        elif asker(row.id) in spent and row.condition not in open_ones:
            over.setdefault(row.condition, []).append(sum(total.calls for total in totals.values()))
        _see_replies(store, asker(row.id), totals, replies)
    return Seen(replies, over)


def observed_calls(store: CallStore) -> Seen:
    """The first replies of each model among stored calls that are of no run; see `observed_in`."""
    replies: dict[str, list[SeenReply]] = {}
    for who, totals in store.spent_by().items():
        _see_replies(store, who, totals, replies)
    return Seen(replies)


def _see_replies(
    store: CallStore, who: str, models: Iterable[str], replies: dict[str, list[SeenReply]]
) -> None:
    """Add an asker's replies, at most `_MOST_SEEN` of each of its models in all."""
    if all(len(replies.get(name, ())) >= _MOST_SEEN for name in models):
        return
    for call in store.calls_with_prompts_of(who):
        if call.get("messages") and len(replies.get(call["model"], ())) < _MOST_SEEN:
            names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost")
            usage, latency = Usage(*(call[name] for name in names)), call["latency"]
            response = Response(call["text"], usage, latency=latency, tier=call["tier"])
            again = not call["key"].endswith("|0")
            reply = _seen_reply(call_kind(call["key"]), call["messages"], response, again)
            replies.setdefault(call["model"], []).append(reply)


def taken_in(store: Store) -> tuple[CallTotals, CallTotals]:
    """The usage of a run: that of finished games, of calls outside games, of embedding and of attempts
    without a reply; and that of stored calls of unfinished games.
    """
    texts = store.spent_on_texts()
    over = CallTotals(0, texts + store.attempt_totals().usage)
    begun, unfinished = CallTotals(), {asker(row.id) for row in store.games() if not row.over}
    for who, totals in store.spent_by().items():
        for total in totals.values():
            if total.usage.tokens and who not in unfinished:
                over += total
            elif total.usage.tokens:
                begun += total
    return over, begun


async def sample_replies(players: Players, rehearsal: Rehearsal, most: int) -> tuple[Seen, list[str]]:
    """Send at most `most` rehearsed requests to each model.

    Returns the replies, which cost money, and a sentence for each model that failed.
    """
    replies: dict[str, list[SeenReply]] = {}
    failed: list[str] = []
    for playing in rehearsal.models:
        model, requests = players.model(playing.spec), rehearsal.requests.get(playing.label, [])[:most]
        came = await asyncio.gather(*map(model.generate, requests), return_exceptions=True)
        for request, response in zip(requests, came, strict=True):
            if isinstance(response, ModelError):
                failed += [text for text in [str(response)] if text not in failed]
            elif isinstance(response, BaseException):
                raise response
            else:
                typed = not isinstance(request.asked, Chat)
                answer = parse(request.question, response.text, response.finish) if typed else None
                again = isinstance(answer, Problem) and (answer.usable is None or answer.several)
                reply = _seen_reply(request.kind, request.words.messages, response, again)
                replies.setdefault(playing.label, []).append(reply)
    return Seen(replies), failed


def _seen_reply(kind: str, messages: Iterable[tuple[str, str]], response: Response, again: bool) -> SeenReply:
    said, estimated = said_in(kind, response.text), estimate_texts(text for _, text in messages)
    said_tokens = None if said is None else min(tokens(said), LIMIT // 4)
    return SeenReply(estimated, response.usage, response.latency, said_tokens, again, response.tier)
