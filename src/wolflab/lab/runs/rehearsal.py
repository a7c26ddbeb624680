"""Rehearses a few games of an experiment on the built-in player, to count the calls of its models.

Everything is as in the run (rules, cards, recipes, pools), but a substitute answers for each other model. It
renders the prompts and notes their lengths. No server is called. The simulated clock counts calls: each takes
1, which shows how many calls of a game have to wait for each other.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

import msgspec

from ...agents.policy.checkpoint import load_policy
from ...errors import Stopped, StoreError, WolflabError
from ...models.base import Chat, Model, Request, Response
from ...models.budget import Budget, Price
from ...models.catalog import BUILT_IN, is_local_model, name_and_settings
from ...models.embedders import Embedder, resolve_embedder
from ...models.embedders.hashing import DIMENSIONS, HashingEmbedder
from ...models.estimates import estimate_texts, tokens
from ...models.servers.providers import in_flight_of
from ...models.village import Village
from ...rules import Said
from ...text.replies.extract import READ, find_object
from ...text.replies.parsed import STATEMENT, field_of
from ...text.replies.thoughts import without_thoughts
from ..plans.experiment import Experiment
from ..plans.matching import model_name
from ..plans.policies import policy_name_of
from ..plans.prices import price_in
from ..plans.served import is_served
from ..plans.specs import HasPlayers, PlayerSpec
from ..storage.embedding_cache import WrappedEmbedder
from ..storage.store import Place, Store
from . import runner
from .casting import PlayerBuilder

GAMES = 24
"""The number of rehearsed games, unless there are more conditions."""
_AT_ONCE = 32
"""The number of games that are rehearsed concurrently."""


class RehearsedCall(NamedTuple):
    """One call. model: its label (`PlayingModel`). prompt, reply: estimated tokens; the reply is the built-in
    player's. said: tokens of its statement, None if it was not asked for one. quoted: tokens of statements in
    the prompt, by the model that made them. at: when it was answered; each call takes 1.
    """

    model: str
    prompt: int
    reply: int
    said: int | None
    quoted: Mapping[str, int]
    at: float


@dataclass
class RehearsedGame:
    """The calls of a game, except those to the built-in player."""

    calls: list[RehearsedCall] = field(default_factory=list)

    @property
    def chain(self) -> float:
        """The longest chain of calls that wait for each other."""
        return self.calls[-1].at - self.calls[0].at + 1 if self.calls else 0.0


class PlayingModel(NamedTuple):
    """A model of an experiment's players, with one address and price. label: its name, numbered if it is not
    unique. server: its address; in_flight: the limit of concurrent calls. longest: the limit of a reply's
    tokens, None without one.
    """

    label: str
    name: str
    spec: str | dict[str, Any]
    server: str
    in_flight: int
    price: Price | None
    longest: int | None


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsed experiment. games: condition → its games, with void ones. planned: condition → the number
    of games that count. models: all but the built-in player. requests: label → a random sample of a model's
    requests. texts: name of an embedder behind a server → (condition → tokens of texts that are new there, ""
    before any game; its price).
    """

    games: Mapping[str, Sequence[RehearsedGame]]
    planned: Mapping[str, int]
    models: Sequence[PlayingModel]
    requests: Mapping[str, Sequence[Request]]
    texts: Mapping[str, tuple[Mapping[str, int], Price | None]]
    concurrency: int

    def calls(self, label: str | None = None) -> list[RehearsedCall]:
        """The calls of all games, to one model or all."""
        calls = (call for games in self.games.values() for game in games for call in game.calls)
        return [call for call in calls if label in (None, call.model)]


def playing_models(experiment: HasPlayers) -> dict[bytes, PlayingModel]:
    """The models of the players, except the built-in one, by `_key`. Models on this machine cost nothing."""
    players: dict[bytes, list[PlayerSpec]] = {}
    for condition in experiment.conditions:
        for player in experiment.cast(condition).values():
            if player.model is not None and not player.built_in:
                players.setdefault(_key(player.model), []).append(player)
    names = [model_name(alike[0]) for alike in players.values()]
    found: dict[bytes, PlayingModel] = {}
    for n, (key, alike) in enumerate(players.items()):
        spec = alike[0].model or ""
        name, settings = name_and_settings(spec)
        label = name if names.count(name) == 1 else f"{name} ({names[: n + 1].count(name)})"
        price, longest = price_in(settings), [longest_reply(player) for player in alike]
        server = settings.get("base_url") or name.partition("/")[0]
        in_flight = settings.get("max_in_flight") or in_flight_of(name)
        if is_local_model(name):
            server, in_flight, price = name, settings.get("batch", 1), Price()
        most = None if None in longest else max(filter(None, longest))
        found[key] = PlayingModel(label, name, spec, server, in_flight, price, most)
    return found


def embedder_prices(experiment: HasPlayers) -> dict[str, Price | None]:
    """The embedders of an experiment's players that are behind a server, with their prices."""
    casts = [experiment.cast(condition).values() for condition in experiment.conditions]
    specs = [spec.embedder for cast in casts for spec in cast]
    specs += [spec.experience.embedder for cast in casts for spec in cast if spec.experience is not None]
    named = (name_and_settings(spec, "an embedder") for spec in specs)
    return {name: price_in(settings) for name, settings in named if is_served(name)}


def _key(spec: str | Mapping[str, Any]) -> bytes:
    """The identity of a model in a forecast: name, address and price."""
    name, settings = name_and_settings(spec)
    return msgspec.json.encode([name, settings.get("base_url"), settings.get("price")])


def longest_reply(spec: PlayerSpec) -> int | None:
    """The limit of tokens in a player's replies, by its model's settings or its recipe; None without one."""
    given = spec.model.get("max_tokens") if isinstance(spec.model, dict) else None
    asked = None if spec.language is None else spec.language.max_tokens
    return asked if given is None else int(given)


def said_in(kind: str, text: str) -> str | None:
    """The statement in a reply, as far as it can be found without its question; None if it should have none.
    kind: `Request.kind`.
    """
    if not kind.startswith(("/statement/|act", "/statement/|propose")):
        return None
    answer = without_thoughts(text).text
    found = find_object(answer[:READ])
    said = None if found is None else field_of(found, STATEMENT)
    return said if isinstance(said, str) else answer


def rehearse(experiment: Experiment, games: int = GAMES, kept: int = 24) -> Rehearsal:
    """Play some games of every condition. WolflabError if players cannot be built or fail, and if the disk is
    full.

    games: in total, at least one for each condition. Pools are made of these few games, so prompts with
    experience may be a little short. kept: the number of requests kept for each model.
    """
    reduced = _reduced(experiment, max(1, games // len(experiment.conditions)))
    planned = {name: len(reduced.places(name)) for name in reduced.conditions}
    try:
        with (
            TemporaryDirectory() as folder,
            Store.create(Path(folder) / "rehearsal", reduced) as store,
            simulated_clock() as loop,
        ):
            store.waits_for_disk = True  # its clock would run on meanwhile
            builder = _RehearsedPlayers(reduced, store.path, kept)
            loop.run(runner.playing(store, reached=True, builder=builder))
            rows = store.games()
    except (StoreError, OSError) as error:
        raise WolflabError(f"games cannot be rehearsed in {gettempdir()}: {error}") from None
    if failed := [row for row in rows if not row.over]:
        raise WolflabError(
            f"{len(failed)} of {len(rows)} rehearsed games failed, the first with: {failed[0].error}"
        )
    played: dict[str, list[RehearsedGame]] = {name: [] for name in reduced.conditions}
    for row in rows:
        played[row.condition].append(builder.substitutes.games[Place.of(row)])
    return builder.substitutes.rehearsal(experiment, played, planned, experiment.concurrency)


def _reduced(experiment: Experiment, each: int) -> Experiment:
    """The experiment with at most `each` games in each condition."""
    data = experiment.model_dump(mode="json", exclude_unset=True)
    apart = (
        "budget",
        "renamed",
        "published",
        "baseline",
        "contrasts",
        "curve",
        "planted",
        "village",
        "shard",
    )
    for name in apart:
        data.pop(name, None)
    several = min(experiment.wordings, each)
    data |= {
        "name": "rehearsal",
        "workers": 1,
        "engine": "local",
        "concurrency": _AT_ONCE,
        "wordings": several,
    }
    for name, condition in experiment.conditions.items():
        if condition.fork is not None:
            continue
        deals, repeats = condition.deals or experiment.deals, condition.repeats or experiment.repeats
        fewer = min(deals, each // several)
        now = {"deals": fewer, "repeats": max(1, min(repeats, each // fewer) // several * several)}
        data.setdefault("conditions", {}).setdefault(name, {}).update(now)
    for part in (data, *data["conditions"].values()):
        for player in (part.get("players") or {}).values():
            if isinstance(pool := player.get("experience"), dict):  # made of all rehearsed games
                pool.pop("games", None)
                pool.pop("draws", None)
    return Experiment(**data)


rehearsed_place: ContextVar[Place] = ContextVar("place")
"""The game of the current task."""


class Substitutes:
    """Substitutes for the models and embedders of players, and their notes.

    kept: see `rehearse`. games: the calls of each game. requests: see `Rehearsal`. texts: embedder → text →
    the condition in whose games it was first embedded. budget: of the players.
    """

    def __init__(self, experiment: HasPlayers, kept: int, budget: Budget) -> None:
        self._read_by_policies = {
            msgspec.json.encode(spec.embedder, order="sorted"): load_policy(policy).network.dimensions
            for name in experiment.conditions
            for spec in experiment.cast(name).values()
            if (policy := policy_name_of(spec)) is not None
        }
        self._playing, self._kept, self.budget = playing_models(experiment), kept, budget
        self.games: defaultdict[Place, RehearsedGame] = defaultdict(RehearsedGame)
        self.requests: dict[str, list[Request]] = {}
        self.texts: dict[str, dict[str, str]] = {}
        self._models: dict[str, _SubstituteModel] = {}
        self._called = Counter[str]()
        self._authors: dict[str, str] = {}
        self._draws = random.Random(0)

    def model(self, spec: str | dict[str, Any]) -> Model:
        """The substitute for a model that is not built in."""
        label = self._playing[_key(spec)].label
        return self._models.setdefault(label, _SubstituteModel(label, self))

    def embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        """A substitute that hashes texts. For a policy it passes for its embedder, whose vectors are as long;
        behind a server it counts texts.
        """
        name, _ = name_and_settings(spec, "an embedder")
        given = self.texts.setdefault(name, {}) if is_served(name) else {}
        dimensions = self._read_by_policies.get(msgspec.json.encode(spec, order="sorted"))
        if dimensions is None:
            return _CountingEmbedder(resolve_embedder("hashing"), given)
        if name == "hashing":
            return resolve_embedder(spec)
        return _CountingEmbedder(resolve_embedder(spec), given, dimensions)

    def rehearsal(
        self,
        experiment: HasPlayers,
        games: Mapping[str, Sequence[RehearsedGame]],
        planned: Mapping[str, int],
        concurrency: int,
    ) -> Rehearsal:
        """What was noted; see `Rehearsal`."""
        models, prices = [*playing_models(experiment).values()], embedder_prices(experiment)
        texts: dict[str, tuple[Counter[str], Price | None]] = {}
        for name, given in self.texts.items():
            texts[name] = (Counter(), prices[name])
            for text, condition in given.items():
                texts[name][0][condition] += tokens(text)
        return Rehearsal(games, planned, models, self.requests, texts, concurrency)

    def note_call(self, model: str, request: Request, reply: str) -> None:
        """Note a call that is answered now."""
        prompt = estimate_texts(text for _, text in request.words.messages)
        quoted = Counter[str]()
        for line in () if isinstance(request.asked, Chat) else request.asked.situation.lines:
            if isinstance(said := line.event, Said) and said.text in self._authors:
                quoted[self._authors[said.text]] += tokens(said.text)
        aloud, said_tokens = said_in(request.kind, reply), None
        if aloud is not None:
            self._authors[aloud], said_tokens = model, tokens(aloud)
        now = asyncio.get_running_loop().time()
        call = RehearsedCall(model, prompt, tokens(reply), said_tokens, quoted, now)
        self.games[rehearsed_place.get()].calls.append(call)
        kept = self.requests.setdefault(model, [])
        self._called[model] += 1
        if len(kept) < self._kept:
            kept.append(request)
        elif (at := self._draws.randrange(self._called[model])) < self._kept:
            kept[at] = request


class _RehearsedPlayers(PlayerBuilder):
    """Builds the experiment's players with substitutes for models and embedders."""

    def __init__(self, experiment: Experiment, home: Path, kept: int) -> None:
        super().__init__(experiment, home)
        self.substitutes = Substitutes(experiment, kept, self.budget)

    def _model(self, spec: str | dict[str, Any]) -> Model:
        if name_and_settings(spec)[0] == BUILT_IN:
            return super()._model(spec)
        return self.substitutes.model(spec)

    def _new_embedder(self, spec: str | Mapping[str, Any]) -> Embedder:
        return self.substitutes.embedder(spec)

    def casting(self, place: Place) -> Any:
        """See `PlayerBuilder`. It is called in the task that plays the game."""
        rehearsed_place.set(place)
        return super().casting(place)


class _SubstituteModel(Village):
    """Answers for another model. A request without a question gets a short reply."""

    instant = False

    def __init__(self, name: str, substitutes: Substitutes) -> None:
        super().__init__()
        self.name, self._substitutes = name, substitutes

    async def generate(self, request: Request) -> Response:
        """See `models.base.Model`."""
        if self._substitutes.budget.closed:
            raise Stopped(self._substitutes.budget.closed)
        await asyncio.sleep(1.0)
        reply = Response("I have thought about it, and I am not sure yet.")
        if not isinstance(request.asked, Chat):
            reply = await super().generate(request)
        self._substitutes.note_call(self.name, request, reply.text)
        return reply


class _CountingEmbedder(WrappedEmbedder):
    """Hashes texts in place of an embedder, which it is to everybody. given: text → the condition in whose
    games it was first embedded; each text is paid for once.
    """

    instant = True

    def __init__(self, inner: Embedder, given: dict[str, str], dimensions: int = DIMENSIONS) -> None:
        super().__init__(inner)
        self._given, self._hashing = given, HashingEmbedder(dimensions)

    @property
    def dimensions(self) -> int:
        """See `models.embedders.Embedder`."""
        return self._hashing.dimensions

    async def embed(self, texts: Sequence[str]) -> Any:
        """See `models.embedders.Embedder`."""
        place = rehearsed_place.get(None)
        for text in texts:
            self._given.setdefault(text, "" if place is None else place.condition)
        return await self._hashing.embed(texts)


@contextmanager
def simulated_clock() -> Iterator[asyncio.Runner]:
    """Runs coroutines under a simulated clock, in a `with` block."""
    clock = _Clock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.passed  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as made:
        yield made


class _Clock(selectors.DefaultSelector):
    """The simulated clock of an event loop: waiting takes no real time, and working takes no
    simulated time.
    """

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See `selectors`."""
        if timeout is not None and timeout > 0:
            self.passed += timeout
            timeout = 0.0
        return super().select(timeout)
