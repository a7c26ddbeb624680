"""A few games of an experiment on the built-in player, to see what its models will be asked.

Everything is as in the run (rules, cards, recipes, pools), but an understudy answers in the place of each
other model. It makes the prompts, and writes down how long they are. Nothing is asked of a server. Time
passes in calls: each takes one, so that it is known how many of a game's calls have to wait for each other.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

import msgspec

from ...errors import Stopped, StoreError, WolflabError
from ...models.base import Chat, Model, Request, Response
from ...models.budget import Budget
from ...models.catalog import BUILT_IN, name_and_settings, resolve
from ...models.embedders import Embedder, resolve_embedder
from ...models.embedders.hashing import HashingEmbedder
from ...models.estimates import estimate_texts, tokens
from ...rules import Said
from ...text.replies.extract import READ, find_object
from ...text.replies.parsed import STATEMENT, field_of
from ...text.replies.thoughts import without_thoughts
from ..plans.experiment import Experiment
from ..plans.policies import policy_name_of
from ..plans.served import is_served
from ..storage.store import Place, Store
from . import runner
from .casting import Company

GAMES = 24
"""Games that are rehearsed of an experiment, unless it has more conditions."""
_AT_ONCE = 32
"""Games that are rehearsed at once."""
_KEPT = 24
"""Requests of a model that are kept, of each kind."""


class RehearsedCall(NamedTuple):
    """One call. kind: `Request.kind`. prompt, reply: tokens as they are estimated, of the built-in player's
    reply. heard: tokens in the prompt of what somebody said, by the model that said it.
    """

    model: str
    kind: str
    prompt: int
    reply: int
    heard: Mapping[str, int]


@dataclass
class RehearsedGame:
    """A game's calls to other models than the built-in player. chain: so many had to wait for each other."""

    calls: list[RehearsedCall] = field(default_factory=list)
    chain: float = 0.0


@dataclass
class Rehearsed:
    """What was rehearsed. games: condition → its games, void ones too. planned: condition → so many were to
    count. requests: (model, kind) → some of its requests, drawn evenly. said: model → the mean of what it
    said, in tokens, and how often it spoke. A model is known by its label (`labels_of`); names: label → name.
    embedded: tokens of the texts that an embedder behind a server would be given, by its name and the
    condition, "" for those that are given between games.
    """

    games: dict[str, list[RehearsedGame]] = field(default_factory=dict)
    planned: dict[str, int] = field(default_factory=dict)
    requests: dict[tuple[str, str], list[Request]] = field(default_factory=dict)
    said: dict[str, tuple[float, int]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    embedded: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def calls(self) -> Iterator[RehearsedCall]:
        """All calls of all games."""
        for games in self.games.values():
            for game in games:
                yield from game.calls


def rehearse(experiment: Experiment, games: int = GAMES, kept: int = _KEPT) -> Rehearsed:
    """Play some games of every condition. WolflabError where its players cannot be made or fail, and where
    there is no room for it.

    games: in all, but one of each condition at least. Pools are made of the games that there are then, so
    that prompts with experience may be a little short. kept: requests of a model that are kept, of each kind.
    """
    reduced = _reduced(experiment, max(1, games // len(experiment.conditions)))
    try:
        with TemporaryDirectory() as folder:
            return _rehearsed(reduced, Path(folder) / "rehearsal", kept)
    except (StoreError, OSError) as error:
        raise WolflabError(f"games cannot be rehearsed in {gettempdir()}: {error}") from None


def _rehearsed(reduced: Experiment, folder: Path, kept: int) -> Rehearsed:
    heard = _Heard(kept)
    with Store.create(folder, reduced) as store:
        company = _Understudies(reduced, store.path, heard)
        with asyncio.Runner(loop_factory=_Hurried) as loop:
            loop.run(runner.playing(store, reached=True, company=company))
        found = Rehearsed(
            requests=heard.requests, said=heard.said, names=company.names, embedded=heard.embedded
        )
        rows = store.games()
        if failed := [row for row in rows if not row.over]:
            raise WolflabError(
                f"{len(failed)} of {len(rows)} rehearsed games failed, the first with: {failed[0].error}"
            )
        for row in rows:
            game = heard.games.get(Place.of(row), RehearsedGame())
            found.games.setdefault(row.condition, []).append(game)
    found.planned = {name: len(reduced.places(name)) for name in reduced.conditions}
    return found


def labels_of(experiment: Experiment) -> dict[bytes, str]:
    """What each model of its players is called in a forecast, by `model_apart`: its name, numbered where
    models of one name have other addresses or prices.
    """
    found: dict[str, list[bytes]] = {}
    for condition in experiment.conditions:
        for spec in experiment.cast(condition).values():
            if spec.model is not None:
                keys = found.setdefault(name_and_settings(spec.model)[0], [])
                keys += [key for key in [model_apart(spec.model)] if key not in keys]
    return {
        key: name if len(keys) == 1 else f"{name} ({n})"
        for name, keys in found.items()
        for n, key in enumerate(keys, 1)
    }


def model_apart(spec: str | Mapping[str, Any]) -> bytes:
    """What sets a model apart in a forecast: name, address and price."""
    name, settings = name_and_settings(spec)
    return msgspec.json.encode([name, settings.get("base_url"), settings.get("price")])


def is_speech(kind: str) -> bool:
    """Whether what is asked for is said aloud. kind: `Request.kind`."""
    return kind.startswith(("/statement/|act", "/statement/|propose"))


def said_in(text: str) -> str:
    """What a reply says aloud, as far as it can be told without its question."""
    answer = without_thoughts(text).text
    found = find_object(answer[:READ])
    said = None if found is None else field_of(found, STATEMENT)
    return said if isinstance(said, str) else answer


def _reduced(experiment: Experiment, each: int) -> Experiment:
    """The experiment with so many games in each condition, or as many as it has."""
    data = experiment.model_dump(mode="json", exclude_unset=True)
    for name in ("budget", "became", "published", "baseline", "contrasts", "curve", "planted", "village"):
        data.pop(name, None)
    data |= {"name": "rehearsal", "workers": 1, "concurrency": _AT_ONCE}
    for name, condition in experiment.conditions.items():
        deals, repeats = condition.deals or experiment.deals, condition.repeats or experiment.repeats
        fewer = min(deals, each)
        now = {"deals": fewer, "repeats": min(repeats, max(1, each // fewer))}
        data.setdefault("conditions", {}).setdefault(name, {}).update(now)
    _without_draws(data)
    return Experiment(**data)


def _without_draws(data: Any) -> None:
    """Pools are made of all the games that there are."""
    if isinstance(data, dict):
        if isinstance(pool := data.get("experience"), dict):
            for name in ("games", "draws"):
                pool.pop(name, None)
        for value in data.values():
            _without_draws(value)
    elif isinstance(data, list):
        for value in data:
            _without_draws(value)


_place: ContextVar[Place] = ContextVar("place")
"""The game that the running task plays."""


class _Heard:
    """What understudies write down. kept: requests of each kind."""

    def __init__(self, kept: int) -> None:
        self._most = kept
        self.games: dict[Place, RehearsedGame] = {}
        self.requests: dict[tuple[str, str], list[Request]] = {}
        self.said: dict[str, tuple[float, int]] = {}
        self.embedded: dict[str, dict[str, int]] = {}
        self._texts: set[tuple[str, str]] = set()
        self._of: dict[tuple[str, str], int] = {}
        self._authors: dict[str, str] = {}
        self._begun: dict[Place, float] = {}
        self._draws = random.Random(0)

    def call(self, model: str, request: Request, reply: str) -> None:
        """A call was made and is answered now."""
        place, now = _place.get(), asyncio.get_running_loop().time()
        game = self.games.setdefault(place, RehearsedGame())
        game.chain = now - self._begun.setdefault(place, now - 1.0)
        prompt = estimate_texts(text for _, text in request.words.messages)
        heard: dict[str, int] = {}
        for line in () if isinstance(request.asked, Chat) else request.asked.situation.lines:
            if isinstance(said := line.event, Said) and (author := self._authors.get(said.text)) is not None:
                heard[author] = heard.get(author, 0) + tokens(said.text)
        game.calls.append(RehearsedCall(model, request.kind, prompt, tokens(reply), heard))
        self._keep(model, request)
        if is_speech(request.kind):
            aloud = said_in(reply)
            self._authors[aloud] = model
            mean, n = self.said.get(model, (0.0, 0))
            self.said[model] = (mean * n + tokens(aloud)) / (n + 1), n + 1

    def texts(self, embedder: str, texts: Sequence[str]) -> None:
        """Texts are embedded; each is paid for once."""
        place = _place.get(None)
        condition, given = "" if place is None else place.condition, self.embedded.setdefault(embedder, {})
        for text in texts:
            if (embedder, text) not in self._texts:
                self._texts.add((embedder, text))
                given[condition] = given.get(condition, 0) + tokens(text)

    def _keep(self, model: str, request: Request) -> None:
        """One of the requests of its kind, each as likely as any other."""
        key = model, request.kind
        kept = self.requests.setdefault(key, [])
        n = self._of[key] = self._of.get(key, 0) + 1
        if len(kept) < self._most:
            kept.append(request)
        elif (at := self._draws.randrange(n)) < self._most:
            kept[at] = request


_IN_WORDS = "I have thought about it, and I am not sure yet."


class _Understudy:
    """Stands where a model will stand. A prompt in words alone gets a short reply."""

    instant = False
    typed = True

    def __init__(self, name: str, heard: _Heard, budget: Budget) -> None:
        self.name = name
        self._village, self._heard, self._budget = resolve(BUILT_IN), heard, budget

    async def generate(self, request: Request) -> Response:
        """See `models.base.Model`."""
        if self._budget.closed:
            raise Stopped(self._budget.closed)
        await asyncio.sleep(1.0)
        words = isinstance(request.asked, Chat)
        reply = Response(_IN_WORDS) if words else await self._village.generate(request)
        self._heard.call(self.name, request, reply.text)
        return reply

    def describe(self) -> dict[str, Any]:
        """See `models.base.Model`."""
        return {"name": self.name}

    async def close(self) -> None:
        """Nothing to close."""


class _Listening(HashingEmbedder):
    """Stands where an embedder will stand."""

    def __init__(self, name: str, heard: _Heard) -> None:
        super().__init__()
        self._stands_for, self._heard = name, heard

    async def embed(self, texts: Sequence[str]) -> Any:
        """See `models.embedders.Embedder`."""
        self._heard.texts(self._stands_for, texts)
        return await super().embed(texts)


class _Understudies(Company):
    """The players of the experiment, with understudies."""

    def __init__(self, experiment: Experiment, home: Path, heard: _Heard) -> None:
        super().__init__(experiment, home)
        self._heard = heard
        casts = [experiment.cast(name).values() for name in experiment.conditions]
        self._policies_read = any(policy_name_of(spec) for cast in casts for spec in cast)
        self._labels = labels_of(experiment)
        self.names: dict[str, str] = {}

    def _model(self, spec: str | dict[str, Any]) -> Model:
        name, _ = name_and_settings(spec)
        if name == BUILT_IN:
            return super()._model(spec)
        label = self._labels[model_apart(spec)]
        self.names[label] = name
        return self._models.setdefault(label.encode(), _Understudy(label, self._heard, self.budget))

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        """A policy reads the vectors that it learned with; whatever else is looked up, is so in any."""
        if self._policies_read:
            return super()._new_embedder(spec)
        name, _ = name_and_settings(spec, "an embedder")
        return _Listening(name, self._heard) if is_served(name) else resolve_embedder("hashing")

    def casting(self, place: Place) -> Any:
        """See `Company`. Whoever asks for it plays that game, in a task of its own."""
        _place.set(place)
        return super().casting(place)


class _Hurried(asyncio.SelectorEventLoop):
    """An event loop whose time passes at once where it would wait, and not at all where it works."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_NoWaiting(self._pass))

    def time(self) -> float:
        """Seconds since it began."""
        return self._now

    def _pass(self, seconds: float) -> None:
        self._now += seconds


class _NoWaiting(selectors.DefaultSelector):
    """Tells how long it would have waited."""

    def __init__(self, passed: Callable[[float], None]) -> None:
        super().__init__()
        self._passed = passed

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See `selectors`."""
        if timeout is not None and timeout > 0:
            self._passed(timeout)
            timeout = 0.0
        return super().select(timeout)
