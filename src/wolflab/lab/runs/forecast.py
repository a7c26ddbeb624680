"""What a run will take: calls, tokens, money, time, as 90 % intervals.

Games are rehearsed on the built-in player (`rehearsal`). What its replies cannot tell of a model is corrected
by the model's own first replies: how many tokens its server counts of a prompt, how much it writes (thinking
included), how long what it says is, which others then hear, how often it has to be asked again, how long it
takes, what it costs. Without any reply these are guesses, and the intervals are wide.

An interval is of many drawn runs: rehearsed games are drawn with replacement, and so is what is known of the
replies, so that few games and few replies make it wide.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError
from ...models.base import Chat, Model, Request, call_kind
from ...models.budget import Price
from ...models.catalog import name_and_settings, runs_here
from ...models.estimates import estimate_texts, tokens
from ...models.servers.providers import in_flight_of
from ...text.clean import LIMIT
from ...text.replies.parse import parse
from ...text.replies.parsed import Problem
from ...usage import Usage
from ..plans.experiment import Experiment
from ..plans.prices import price_in
from ..plans.specs import PlayerSpec
from ..storage.store import Store, asker
from .casting import Company
from .rehearsal import Rehearsed, RehearsedGame, is_speech, labels_of, model_apart, said_in

DrawnRuns = np.ndarray
"""A number for each drawn run."""
_RUNS = 400
_LOW, _HIGH = 0.05, 0.95
_GUESSED_LENGTH = (3.0, 1.0)
"""How many times as much as the built-in player a model writes, where nothing of it was seen: the middle, and
the spread of its logarithm. That is 0.6 to 15 times, with 90 %; models that think write most."""
_GUESSED_COUNT = (1.0, 0.15)
"""The same for how many times the estimate of a prompt a server counts."""
_GUESSED_AGAIN = (1.05, 0.05)
"""The same for calls that are made for one, because replies cannot be used."""
_OTHER_GAMES = 0.1
"""Spread of the logarithm of how much longer or shorter games are than those of the built-in player."""
_MOST_AGAIN = 3.0
"""Calls for one that is asked for again and again, at most: recipes then give up."""
ENOUGH_GAMES = 5
"""So many games that are over tell how long this run's games are."""
_ENOUGH_REPLIES = 5
"""So many replies of a kind tell how long it is; of fewer, all kinds together do."""


class SeenReply(NamedTuple):
    """A reply of a model. estimated: tokens of its prompt. said: tokens of what it said aloud, None where it
    was not to speak. again: it cannot be used, so that another one is asked for; or, of a run's own calls, it
    is such another one. There are as many of both. tier: in which it was served.
    """

    kind: str
    estimated: int
    usage: Usage
    latency: float
    said: int | None = None
    again: bool = False
    tier: str = ""


@dataclass(frozen=True)
class Seen:
    """What is known of the models by now. replies: by model. calls: condition → of each game that is over."""

    replies: Mapping[str, Sequence[SeenReply]] = field(default_factory=dict)
    calls: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def games(self) -> int:
        """Games that are over."""
        return sum(map(len, self.calls.values()))


class Interval90(NamedTuple):
    """A 90 % interval, and the middle of the drawn runs."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, drawn: DrawnRuns) -> Interval90:
        """Of a number for each drawn run."""
        low, middle, high = np.quantile(drawn, (_LOW, 0.5, _HIGH))
        return cls(float(low), float(middle), float(high))

    def plus(self, known: float) -> Interval90:
        """The same and so much, of which nothing is uncertain."""
        return Interval90(self.low + known, self.middle + known, self.high + known)


@dataclass(frozen=True, slots=True)
class ModelForecast:
    """Of one model's calls. usd: None where it has no price. seen: so many of its replies were seen."""

    calls: Interval90
    prompt: Interval90
    completion: Interval90
    usd: Interval90 | None
    seen: int


@dataclass(frozen=True, slots=True)
class TextsForecast:
    """Of what one embedder is given. usd: None where it has no price."""

    tokens: Interval90
    usd: Interval90 | None


@dataclass(frozen=True)
class RunForecast:
    """Of a whole run. usd: of what has a price, None where nothing has. hours: None until every model has
    been seen to answer. games: that are to count. embedders: those behind a server, by name.
    """

    games: int
    models: Mapping[str, ModelForecast]
    calls: Interval90
    tokens: Interval90
    usd: Interval90 | None
    hours: Interval90 | None
    embedders: Mapping[str, TextsForecast] = field(default_factory=dict)

    @property
    def unpriced(self) -> list[str]:
        """The models and embedders without a price."""
        models = [name for name, one in self.models.items() if one.usd is None]
        return models + [name for name, one in self.embedders.items() if one.usd is None]

    def with_taken(self, taken: GamesTook) -> RunForecast:
        """The same and what was taken before, in sum. Hours are still those of the games that are left."""
        usd = None if self.usd is None else self.usd.plus(taken.usd)
        calls, tokens = self.calls.plus(taken.calls), self.tokens.plus(taken.tokens)
        return replace(self, calls=calls, tokens=tokens, usd=usd)


class GamesTook(NamedTuple):
    """What games of a run have taken of models that count tokens."""

    calls: int
    tokens: int
    usd: float


@dataclass(frozen=True)
class Limits:
    """What decides how long a run takes. games: at once. servers: of each model, by its label, who answers
    it; calls: at once, of each server. prices: of each model. longest: tokens of its replies at most, None
    for no limit. texts: prices of embedders.
    """

    games: int
    servers: Mapping[str, str]
    calls: Mapping[str, int]
    prices: Mapping[str, Price | None]
    longest: Mapping[str, int | None]
    texts: Mapping[str, Price | None] = field(default_factory=dict)

    @classmethod
    def of(cls, experiment: Experiment) -> Limits:
        """As an experiment's file says. A model whose weights are here costs nothing."""
        prices: dict[str, Price | None] = {}
        servers: dict[str, str] = {}
        at_once: dict[str, int] = {}
        longest: dict[str, int | None] = {}
        texts: dict[str, Price | None] = {}
        labels = labels_of(experiment)
        for condition in experiment.conditions:
            for spec in experiment.cast(condition).values():
                past = None if spec.experience is None else spec.experience.embedder
                for embedder in filter(None, (spec.embedder, past)):
                    name, settings = name_and_settings(embedder, "an embedder")
                    texts[name] = price_in(settings)
                if spec.model is None:
                    continue
                name, settings = name_and_settings(spec.model)
                label = labels[model_apart(spec.model)]
                if runs_here(name):
                    prices[label], server, limit = Price(), name, settings.get("batch", 1)
                else:
                    prices[label] = price_in(settings)
                    server = settings.get("base_url") or name.partition("/")[0]
                    limit = settings.get("max_in_flight") or in_flight_of(name)
                servers[label], at_once[server] = server, min(limit, at_once.get(server, limit))
                most, before = longest_reply(spec), longest.get(label, 0)
                longest[label] = None if most is None or before is None else max(most, before)
        return cls(experiment.concurrency, servers, at_once, prices, longest, texts)


def longest_reply(spec: PlayerSpec) -> int | None:
    """Tokens that a player's replies may have, by its model's settings or its recipe; None without limit."""
    given = spec.model.get("max_tokens") if isinstance(spec.model, dict) else None
    asked = None if spec.language is None else spec.language.max_tokens
    return asked if given is None else int(given)


def forecast(
    rehearsed: Rehearsed, games: Mapping[str, int], limits: Limits, seen: Seen, seed: int = 0
) -> RunForecast:
    """What a run takes. games: condition → so many are to count. seen: of its models."""
    rng = np.random.default_rng(seed)
    table, seen = _Table(rehearsed), _of_asking_games(rehearsed, seen)
    sums, chains, longest_chain = table.drawn(games, rng)
    longer = _longer(rehearsed, seen, rng)
    speech = {name: _speech(rehearsed, name, seen, rng) for name in table.models}
    of: dict[str, ModelForecast] = {}
    totals: dict[str, DrawnRuns] = {name: np.zeros(_RUNS) for name in ("calls", "tokens", "usd")}
    busy: dict[str, DrawnRuns] = {}
    rehearsed_calls = np.zeros(_RUNS)
    for model in table.models:
        replies = _replies(rehearsed, model, seen)
        calls, prompt, completion = _of_model(table, model, sums, speech, replies, rng)
        if (most := limits.longest.get(model)) is not None:
            completion = np.minimum(completion, most * calls)
        rehearsed_calls += calls
        again = _again(seen, replies, rng)
        calls, prompt, completion = (each * longer * again for each in (calls, prompt, completion))
        price = limits.prices.get(model)
        usd = None if price is None else _cost(price, prompt, completion, replies)
        totals["calls"] += calls
        totals["tokens"] += prompt + completion
        if usd is not None:
            totals["usd"] += usd
        if replies:
            seconds = np.maximum(_mean(np.array([reply.latency for reply in replies]), rng), 0.0)
            server = limits.servers[model]
            busy[server] = busy.get(server, np.zeros(_RUNS)) + calls * seconds
        spans = Interval90.of(calls), Interval90.of(prompt), Interval90.of(completion)
        of[model] = ModelForecast(*spans, None if usd is None else Interval90.of(usd), len(replies))
    embedders: dict[str, TextsForecast] = {}
    for name, given in _texts(rehearsed, games).items():
        drawn = given * longer * _guess(_GUESSED_COUNT, rng)
        price = limits.texts.get(name)
        usd = None if price is None else drawn * price.input / 1e6
        totals["tokens"] += drawn
        if usd is not None:
            totals["usd"] += usd
        embedders[name] = TextsForecast(Interval90.of(drawn), None if usd is None else Interval90.of(usd))
    hours = None
    if of and all(model.seen for model in of.values()):
        each = sum(busy.values()) / np.maximum(rehearsed_calls, 1)  # of a rehearsed call, asked again too
        in_turn = np.maximum(chains / limits.games, longest_chain) * each
        at_servers = np.max([time / limits.calls[server] for server, time in busy.items()], axis=0)
        hours = Interval90.of(np.maximum(in_turn, at_servers) / 3600)
    every = [one.usd for one in of.values()] + [one.usd for one in embedders.values()]
    usd_span = None if every.count(None) == len(every) else Interval90.of(totals["usd"])
    return RunForecast(
        sum(games.values()),
        of,
        Interval90.of(totals["calls"]),
        Interval90.of(totals["tokens"]),
        usd_span,
        hours,
        embedders,
    )


def _of_asking_games(rehearsed: Rehearsed, seen: Seen) -> Seen:
    """Games in which nobody is asked tell nothing of how long the others are."""
    asking = {name for name, games in rehearsed.games.items() if any(game.calls for game in games)}
    return replace(seen, calls={name: calls for name, calls in seen.calls.items() if name in asking})


def _texts(rehearsed: Rehearsed, games: Mapping[str, int]) -> dict[str, float]:
    """Tokens of the texts that each embedder is given in so many games."""
    shares = {condition: games[condition] / len(found) for condition, found in rehearsed.games.items()}
    shares[""] = sum(games.values()) / sum(map(len, rehearsed.games.values()))
    return {
        name: sum(count * shares[condition] for condition, count in by.items())
        for name, by in rehearsed.embedded.items()
    }


class _Table:
    """Rehearsed games as rows of numbers: of each (model, kind) the calls, tokens of prompts and replies, and
    of each model that was heard the tokens heard.
    """

    def __init__(self, rehearsed: Rehearsed) -> None:
        self._rehearsed = rehearsed
        keys = {(call.model, call.kind) for call in rehearsed.calls}
        self.keys = sorted(keys)
        self.models = sorted({model for model, _ in keys})
        self._at = {key: n for n, key in enumerate(self.keys)}
        self.rows = {
            name: np.array([self._row(game) for game in games]) for name, games in rehearsed.games.items()
        }

    def _row(self, game: RehearsedGame) -> np.ndarray:
        row = np.zeros((len(self.keys), 3 + len(self.models)))
        for call in game.calls:
            at = self._at[call.model, call.kind]
            row[at, :3] += 1, call.prompt, call.reply
            for author, heard in call.heard.items():
                row[at, 3 + self.models.index(author)] += heard
        return row

    def drawn(
        self, games: Mapping[str, int], rng: np.random.Generator
    ) -> tuple[np.ndarray, DrawnRuns, DrawnRuns]:
        """For each drawn run: these sums over its games, the sum of their chains, the longest chain."""
        sums = np.zeros((_RUNS, len(self.keys), 3 + len(self.models)))
        chains, longest = np.zeros(_RUNS), np.zeros(_RUNS)
        for name, wanted in games.items():
            if not wanted:
                continue
            rows = self.rows[name]
            n = len(rows)
            played = round(wanted * n / self._rehearsed.planned[name])  # with those in place of void ones
            weights = rng.multinomial(n, np.full(n, 1 / n), _RUNS) / n
            counts = np.array([rng.multinomial(played, weight) for weight in weights], dtype=float)
            if n > 1:  # a sample's own spread is smaller than that of all games
                counts = played / n + (counts - played / n) * np.sqrt(n / (n - 1))
            sums += np.tensordot(counts, rows, axes=(1, 0))
            of_games = np.array([game.chain for game in self._rehearsed.games[name]])
            chains += counts @ of_games
            longest = np.maximum(longest, of_games.max())
        return sums, chains, longest


def _of_model(
    table: _Table,
    model: str,
    sums: np.ndarray,
    speech: Mapping[str, DrawnRuns],
    replies: Sequence[SeenReply],
    rng: np.random.Generator,
) -> tuple[DrawnRuns, DrawnRuns, DrawnRuns]:
    """Calls, prompt tokens and reply tokens of one model, before it is asked again."""
    mine = [n for n, (name, _) in enumerate(table.keys) if name == model]
    calls = sums[:, mine, 0].sum(axis=1)
    prompt = sums[:, mine, 1].sum(axis=1)
    for n, author in enumerate(table.models):
        prompt = prompt + sums[:, mine, 3 + n].sum(axis=1) * (speech[author] - 1)
    if not replies:
        longer = _guess(_GUESSED_LENGTH, rng)
        return calls, prompt * _guess(_GUESSED_COUNT, rng), sums[:, mine, 2].sum(axis=1) * longer
    estimated = np.array([reply.estimated for reply in replies], dtype=float)
    counted = np.array([reply.usage.prompt_tokens for reply in replies], dtype=float)
    written = np.array([reply.usage.completion_tokens for reply in replies], dtype=float)
    kinds = np.array([reply.kind for reply in replies])
    per_reply = {table.keys[n][1]: sums[:, n, 2].mean() / max(sums[:, n, 0].mean(), 1e-9) for n in mine}
    usual = np.array([per_reply.get(kind, 0.0) for kind in kinds])
    slope, start = _line(usual, written)
    spread = _mean(written - (start + slope * usual), rng)
    completion = np.zeros(_RUNS)
    for n in mine:
        of_kind = written[kinds == table.keys[n][1]]
        if len(of_kind) >= _ENOUGH_REPLIES:
            each = np.maximum(_mean(of_kind, rng), 1.0)
        else:
            each = np.maximum(start + slope * per_reply[table.keys[n][1]] + spread, 1.0)
        completion += sums[:, n, 0] * each
    return calls, prompt * _ratio(counted, estimated, rng), completion


def _line(usual: DrawnRuns, written: DrawnRuns) -> tuple[float, float]:
    """(slope, start) of how much is written by how much the built-in player writes; never falling."""
    around = usual - usual.mean()
    squares = float(around @ around)
    slope = max(0.0, float(around @ written) / squares) if squares > 0 and len(usual) >= 10 else 0.0
    return slope, float(written.mean() - slope * usual.mean())


def _replies(rehearsed: Rehearsed, model: str, seen: Seen) -> Sequence[SeenReply]:
    """What was seen of a model: under its label, or under its name, which stores know alone."""
    return seen.replies.get(model) or seen.replies.get(rehearsed.names.get(model, model), ())


def _speech(rehearsed: Rehearsed, model: str, seen: Seen, rng: np.random.Generator) -> DrawnRuns:
    """How many times as long as the built-in player's is what the model says."""
    usual, n = rehearsed.said.get(model, (0.0, 0))
    said = [reply.said for reply in _replies(rehearsed, model, seen) if reply.said is not None]
    most = LIMIT / 4 / usual if n else 1.0
    if said and n:
        return np.asarray(np.minimum(_mean(np.array(said, dtype=float), rng) / usual, most))
    return np.asarray(np.minimum(_guess(_GUESSED_LENGTH, rng), most))


def _longer(rehearsed: Rehearsed, seen: Seen, rng: np.random.Generator) -> DrawnRuns:
    """How many times as many calls as rehearsed a game has."""
    if seen.games < ENOUGH_GAMES:
        return _guess((1.0, _OTHER_GAMES), rng)
    usual = {
        name: float(np.mean([len(game.calls) for game in games])) for name, games in rehearsed.games.items()
    }
    pairs = [(calls, usual[name]) for name, of_games in seen.calls.items() for calls in of_games]
    had, rehearsed_calls = np.array(pairs, dtype=float).T
    return _ratio(had, rehearsed_calls, rng)


def _again(seen: Seen, replies: Sequence[SeenReply], rng: np.random.Generator) -> DrawnRuns:
    """Calls for each that would be made if every reply could be used. Games that are over have them."""
    if seen.games >= ENOUGH_GAMES:
        return np.ones(_RUNS)
    if not replies:
        return np.asarray(np.maximum(_guess(_GUESSED_AGAIN, rng), 1.0))
    again = sum(reply.again for reply in replies)
    return np.minimum(1 / (1 - rng.beta(again + 0.5, len(replies) - again + 0.5, _RUNS)), _MOST_AGAIN)


def _cost(price: Price, prompt: DrawnRuns, completion: DrawnRuns, replies: Sequence[SeenReply]) -> DrawnRuns:
    """USD at that price. The replies that were seen tell of caches and of the cheaper tier."""
    prompts = sum(reply.usage.prompt_tokens for reply in replies)
    cached = sum(reply.usage.cached_tokens for reply in replies) / prompts if prompts else 0.0
    flex = sum(reply.tier == "flex" for reply in replies) / len(replies) if replies else 0.0
    tokens_of = zip(prompt.astype(int), completion.astype(int), strict=True)
    full = np.array([price.cost(told, written, int(cached * told)) for told, written in tokens_of])
    return np.asarray(full * (1 - flex * (1 - price.flex)))


def _mean(values: np.ndarray, rng: np.random.Generator) -> DrawnRuns:
    """The mean that such values have in the long run, for each drawn run."""
    n = len(values)
    if n < 2:
        return np.asarray(values.mean() * _guess((1.0, 0.5), rng))
    return np.asarray(values.mean() + rng.standard_t(n - 1, _RUNS) * values.std(ddof=1) / np.sqrt(n))


def _ratio(above: np.ndarray, below: np.ndarray, rng: np.random.Generator) -> DrawnRuns:
    """The ratio of two sums in the long run."""
    ratio = above.sum() / max(below.sum(), 1.0)
    if len(above) < 2:
        return np.asarray(ratio * _guess((1.0, 0.1), rng))
    return np.asarray(ratio + _mean((above - ratio * below), rng) / max(below.mean(), 1.0))


def _guess(of: tuple[float, float], rng: np.random.Generator) -> DrawnRuns:
    middle, spread = of
    return np.asarray(middle * np.exp(rng.normal(0.0, spread, _RUNS)))


# -- what was seen -------------------------------------------------------------------------------------------


def seen_in(store: Store, most: int = 400) -> Seen:
    """The first replies of each of a run's models, and the calls of its games that are over. In each
    condition, only games before the first one that is not over: games that end early are short.
    """
    replies: dict[str, list[SeenReply]] = {}
    over: dict[str, list[int]] = {}
    open_ones: set[str] = set()
    spent = store.spent_by()
    for row in store.games():
        totals = spent.get(asker(row.id), {})
        if not row.over:
            open_ones.add(row.condition)
        elif totals and row.condition not in open_ones:
            calls = sum(total.calls for total in totals.values() if total.usage.tokens)
            over.setdefault(row.condition, []).append(calls)
        if any(len(replies.get(name, ())) < most for name, total in totals.items() if total.usage.tokens):
            for call in store.whole_calls_of(asker(row.id)):
                if call.get("messages") and len(replies.get(call["model"], ())) < most:
                    replies.setdefault(call["model"], []).append(_stored_reply(call))
    return Seen(replies, over)


def taken_in(store: Store) -> tuple[GamesTook, GamesTook]:
    """What the games of a run that are over have taken, with all that embedding took and all that attempts
    without a reply may have taken; and what the calls on file of the others have.
    """
    spent, texts = store.spent_by(), store.spent_on_texts()
    calls = {True: 0, False: 0}
    usage = {True: Usage(texts.tokens, 0, 0, texts.cost), False: Usage()}
    over = {asker(row.id): row.over for row in store.games()}
    for who, totals in spent.items():
        for total in totals.values():
            if who in over and total.usage.tokens:
                calls[over[who]] += total.calls
                usage[over[who]] += total.usage
    usage[True] += store.attempt_totals().usage
    done, begun = (GamesTook(calls[each], usage[each].tokens, usage[each].cost) for each in (True, False))
    return done, begun


def _stored_reply(call: Mapping[str, Any]) -> SeenReply:
    usage = Usage(*(call[name] for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "cost")))
    kind = call_kind(call["key"])
    estimated = estimate_texts(text for _, text in call["messages"])
    again = not call["key"].endswith("|0")
    return SeenReply(kind, estimated, usage, call["latency"], _said(kind, call["text"]), again, call["tier"])


def _said(kind: str, text: str) -> int | None:
    return min(tokens(said_in(text)), LIMIT // 4) if is_speech(kind) else None


async def ask_some(company: Company, rehearsed: Rehearsed, most: int) -> tuple[Seen, list[str]]:
    """Put rehearsed requests to a company's models, so many to each, drawn evenly from all its calls.

    Returns what came, which is paid for, and why nothing more came, a sentence for each model that failed.
    """
    draws = random.Random(0)
    replies: dict[str, Sequence[SeenReply]] = {}
    failed: list[str] = []
    for label, model in _models_by_label(company).items():
        kinds = [call.kind for call in rehearsed.calls if call.model == label]
        left = {kind: list(rehearsed.requests[label, kind]) for kind in dict.fromkeys(kinds)}
        chosen = [left[kind].pop() for kind in draws.sample(kinds, min(most, len(kinds))) if left[kind]]
        came = await asyncio.gather(*(_asked(model, request) for request in chosen), return_exceptions=True)
        for wrong in (one for one in came if isinstance(one, BaseException)):
            if not isinstance(wrong, ModelError):
                raise wrong
            failed += [text for text in [str(wrong)] if text not in failed]
        if answered := [one for one in came if isinstance(one, SeenReply)]:
            replies[label] = answered
    return Seen(replies), failed


def _models_by_label(company: Company) -> dict[str, Model]:
    """The models of a company that a forecast is of."""
    labels, found = labels_of(company.experiment), dict[str, Model]()
    for condition in company.experiment.conditions:
        for spec in company.experiment.cast(condition).values():
            if spec.model is not None and not spec.built_in:
                found.setdefault(labels[model_apart(spec.model)], company.model(spec.model))
    return found


async def _asked(model: Model, request: Request) -> SeenReply:
    response = await model.generate(request)
    typed = not isinstance(request.asked, Chat)
    answer = parse(request.question, response.text, response.finish) if typed else None
    unusable = isinstance(answer, Problem) and (answer.usable is None or answer.several)
    estimated = estimate_texts(text for _, text in request.words.messages)
    said = _said(request.kind, response.text)
    usage, latency = response.usage, response.latency
    return SeenReply(request.kind, estimated, usage, latency, said, unusable, response.tier)
