"""A batch: items put to models outside games, and their answers on file.

An evaluation, a judge, recorded prompts, a generator of questions are sources of items and readers of
replies. A batch has the rest: the directory, the budget, what it will take, how far it is, how it goes on,
and why an item has no answer. It knows calls, models and budgets, and nothing of what is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from ...errors import BudgetExceeded, CassetteMismatch, NotStored, StoreError, WolflabError
from ...models.base import Model, Request, Response
from ...models.budget import Budget
from ...models.calls import CallCache, Cassette, StoredCall, answer
from ...models.catalog import Spec, name_and_settings, resolve
from ...models.estimates import estimate_texts
from ...models.servers.chat import ServerModel
from ...models.servers.keys import public_url
from ...models.servers.providers import host_of
from ...text.replies.parsed import Problem
from ...usage import CallTotals, Usage
from ..plans.served import is_elsewhere
from ..storage.call_store import CallStore, StoredCallCache
from ..storage.run_files import new_directory
from .work import How, check_models, work

AT_ONCE = 64
"""Requests in work at once; calls in flight are limited for each endpoint as well."""
T = TypeVar("T")
Total = TypeVar("Total", CallTotals, Usage)


# -- items ------------------------------------------------------------------------------------


class BatchItem(Generic[T]):
    """One item as an asker (`work.Asker`).

    name: of the asker, by which its calls are on file. model: who is asked, first of all. ask: makes the
    calls and reads them. retries: so often a reply that cannot be used is asked for again. answer: what `ask`
    returned, once it is over. how, why: it could not be asked.
    """

    def __init__(
        self, name: str, model: Model, ask: Callable[[CallCache], Coroutine[Any, Any, T]], retries: int = 0
    ) -> None:
        self.name, self.model, self.ask, self.retries = name, model, ask, retries
        self.begun = self.over = False
        self.answer: T | None = None
        self.how: How | None = None
        self.why = ""

    def attach(self, home: CallStore) -> None:
        """Take up the calls on file."""
        filed, self.how = home.filed(self.name), None
        self.file, self.begun = StoredCallCache(home, self.name, filed), bool(filed)

    async def go(self) -> None:
        """Ask what is not on file, and put the calls away."""
        self.answer = await self.ask(self.file)
        self.file.keep()
        self.over = True

    def stop(self, how: How, why: str) -> None:
        """Keep why it is not over."""
        self.how, self.why = how, why

    async def next_request(self, filed: Mapping[str, StoredCall]) -> Request | None:
        """The first request that is not on file; None where all are, or one was made in other words."""
        file = _NextRequest(filed)
        with suppress(NotStored, CassetteMismatch):  # `go` tells of the second
            await self.ask(file)
        return file.request


class _NextRequest(Cassette):
    """What is on file, and the first request that is not."""

    request: Request | None = None

    def get(self, request: Request) -> StoredCall:
        """See `Cassette`."""
        try:
            return super().get(request)
        except NotStored:
            self.request = request
            raise


def single_call(name: str, model: Model, request: Request) -> BatchItem[Response]:
    """An item of one request, whose answer is the response. name: of the request, within the model's."""

    async def ask(file: CallCache) -> Response:
        return (await answer(file, model, request))[1]

    return BatchItem(f"{model.name}/{name}", model, ask)


async def ask_until_usable(
    file: CallCache, model: Model, request: Request, read: Callable[[Response], T | Problem], retries: int
) -> tuple[T | None, list[str]]:
    """What a model says, and why replies before it could not be used; None where no try helped.

    Each try's key ends with its number, and tells what was wrong with those before.
    """
    reasons: list[str] = []
    for attempt in range(retries + 1):
        tried = replace(request, key=f"{request.key}|{attempt}")
        _, response = await answer(file, model, tried)
        found = read(response)
        if not isinstance(found, Problem):
            return found, reasons
        reasons.append(found.reason)
        request = replace(request, corrections=(*request.corrections, (response.text, found.reason)))
    return None, reasons


# -- what it will take ------------------------------------------------------------------------


class CallsAhead(NamedTuple):
    """What calls to a model behind a server will take. calls: at most. least: where every reply can be used
    at once. prompt: tokens, as they are estimated. reply: tokens at most; None where nothing limits them.
    usd: at most, but for what estimates miss; None without a price, and for replies without a limit.
    dearest: USD of a million of its dearer tokens. elsewhere: the server is on another machine.
    """

    model: str
    calls: int
    least: int
    prompt: int
    reply: int | None
    usd: float | None
    dearest: float
    elsewhere: bool


class Size(NamedTuple):
    """Tokens of a request. prompt: as estimated. reply: at most, as it asks itself; None without a limit."""

    prompt: int
    reply: int | None


_LONGEST = 10_000
"""Characters of a reply; a prompt that asks for another one shows fewer."""
_WHY = "x" * 200
"""In place of what is wrong with one."""


def sizes(model: Model, request: Request, retries: int, made: int = 0) -> list[Size]:
    """Of what one reply may take: a request, and those that ask for it again. made: so many of them are on
    file. Nothing of a model that is not behind a server.
    """
    if not isinstance(model, ServerModel):
        return []
    longest = model.settings.max_tokens
    unusable = "x" * min(_LONGEST, _LONGEST if longest is None else 4 * longest), _WHY
    tries = (
        replace(request, corrections=(unusable,) * attempt) if attempt else request
        for attempt in range(made, retries + 1)
    )
    return [
        Size(estimate_texts(text for _, text in one.words.messages), one.sampling.max_tokens) for one in tries
    ]


def ahead_of(model: Model, asked: Sequence[Size], least: int) -> list[CallsAhead]:
    """What these calls to a model will take; nothing of no calls. least: see `CallsAhead`."""
    if not asked or not isinstance(model, ServerModel):
        return []
    settings = model.settings
    limits = [limit for one in asked if (limit := settings.max_tokens or one.reply) is not None]
    prompt, reply = sum(one.prompt for one in asked), sum(limits) if len(limits) == len(asked) else None
    price = settings.price
    usd = None if price is None or reply is None else price.cost(prompt, reply)
    away = is_elsewhere(host_of(model.name, settings.base_url))
    dearest = 0.0 if price is None else max(price.input, price.output)
    return [CallsAhead(model.name, len(asked), least, prompt, reply, usd, dearest, away)]


# -- the batch --------------------------------------------------------------------------------


class BatchWatcher:
    """Who is told how a batch fares; this one tells nobody."""

    def ahead(self, calls: Sequence[CallsAhead]) -> None:
        """What it will take, before it begins; an error that is raised leaves all as it was."""

    def begun(self, path: Path) -> None:
        """It begins, or goes on, in this directory."""

    def progress(self, who: str, over: int, planned: int) -> None:
        """So many of so many requests to a model, or to a judge, are done with."""


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """What every batch says of itself, beside its answers.

    path: its directory. spent: by model, what all calls ever made there come to. waiting: items without an
    answer, and why the first has none. overspent: limit that is spent ("tokens", "usd") → a sentence.
    described: each model's settings; addresses: their servers. adaptations: what endpoints forced us to
    change.
    """

    path: Path = Path()
    spent: Mapping[str, CallTotals] = field(default_factory=dict)
    waiting: int = 0
    why: str = field(default="", compare=False)
    overspent: Mapping[str, str] = field(default_factory=dict, compare=False)
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, compare=False)
    addresses: Mapping[str, str] = field(default_factory=dict, compare=False)
    adaptations: tuple[str, ...] = field(default=(), compare=False)

    @property
    def usage(self) -> Usage:
        """Tokens and USD of all calls."""
        return sum((total.usage for total in self.spent.values()), Usage())


@dataclass(frozen=True)
class CallBatch:
    """Models that are to answer, and the directory of their answers.

    path: the directory, new or to be gone on with; None: a new one under runs/, called `name`. judge: reads
    what the others said. budget: of all of them.
    """

    path: Path | None
    models: Sequence[Model]
    judge: Model | None = None
    budget: Budget = field(default_factory=Budget)
    watcher: BatchWatcher = field(default_factory=BatchWatcher)
    name: str = "batch"

    @classmethod
    def of(
        cls,
        path: Path | None,
        specs: Sequence[Spec],
        limits: tuple[int | None, float | None] = (None, None),
        watcher: BatchWatcher | None = None,
        name: str = "batch",
    ) -> CallBatch:
        """Of models as experiments name them; WolflabError for one that is named twice. limits: tokens and
        USD, what was spent in the directory before counted in.
        """
        for model, n in Counter(name_and_settings(spec)[0] for spec in specs).items():
            if n > 1:
                raise WolflabError(f"model {model!r} is named {n} times; name each model once")
        budget = Budget(*limits)
        models = [resolve(spec, budget) for spec in specs]
        return cls(path, models, None, budget, watcher or BatchWatcher(), name)

    @property
    def everybody(self) -> list[Model]:
        """The models and the judge."""
        return [*self.models, *([] if self.judge is None else [self.judge])]

    @contextmanager
    def on_file(self) -> Iterator[CallStore | None]:
        """What is on file before it begins; None where nothing is."""
        if self.path is None or not (self.path / "run.sqlite").is_file():
            yield None
        else:
            with CallStore.open_for_reading(self.path) as home:
                yield home

    async def left(self, items: Sequence[BatchItem[Any]]) -> tuple[list[CallsAhead], list[Model]]:
        """What the items will take that are not answered on file, and who is to be asked."""
        left: dict[int, list[list[Size]]] = {}
        with self.on_file() as home:
            askers = set() if home is None else {*home.askers()}
            for item in items:
                filed = home.filed(item.name) if home is not None and item.name in askers else {}
                request = await item.next_request(filed)
                if request is not None:
                    size = sizes(item.model, request, item.retries, len(request.corrections))
                    left.setdefault(id(item.model), []).append(size)
        asked = [model for model in self.models if id(model) in left]
        ahead = [
            one
            for model in asked
            for one in ahead_of(model, [*chain(*left[id(model)])], len(left[id(model)]))
        ]
        return ahead, [model for model in self.everybody if asked and model in (*asked, self.judge)]

    @asynccontextmanager
    async def begin(
        self, facts: Mapping[str, str], ahead: Sequence[CallsAhead], asked: Sequence[Model]
    ) -> AsyncIterator[CallStore]:
        """Tell what it will take, try the models that are to be asked, and open the directory. At the end the
        models are closed.

        facts: what decides the answers; StoreError for a directory that was begun with others. Where they do
        not tell the model, further ones may join, each with its own settings.
        """
        try:
            self.watcher.ahead(ahead)
            with suppress(BudgetExceeded):  # a spent budget leaves items waiting, as it does later
                await check_models(asked)
            path = self.path or new_directory(Path("runs"), self.name)
            with CallStore.begin(path, facts) as home:
                if "model" not in facts:
                    self._keep_settings(home)
                self.budget.begin(home.spent())
                self.watcher.begun(path)
                yield home
        finally:
            for model in self.everybody:
                await model.close()

    def _keep_settings(self, home: CallStore) -> None:
        """Keep with which settings each model is asked; StoreError where one was asked otherwise."""
        for model in self.everybody:
            described = msgspec.json.encode(model.describe(), order="sorted").decode()
            home.remember(f"model {model.name}", described)
            if home.meta(f"model {model.name}") != described:
                raise StoreError(
                    f"{home.path}: model {model.name!r} was asked with other settings there; go on with "
                    "those, or name another directory"
                )

    async def work(self, home: CallStore, items: Sequence[BatchItem[Any]], who: str) -> None:
        """Let them go. Those on file come first: they cost nothing, so no spent budget may stop them.

        A spent budget, a failing server and a request refused for good leave items waiting.
        """
        for item in items:
            item.attach(home)
        done = 0

        def over() -> None:
            nonlocal done
            done += 1
            self.watcher.progress(who, done, len(items))
            tell()

        self.watcher.progress(who, 0, len(items))
        with home.reporting_progress(who, lambda: (sum(one.over for one in items), len(items))) as tell:
            for begun in (True, False):
                await work([one for one in items if one.begun == begun], AT_ONCE, over, self.budget)

    def result(self, home: CallStore, items: Sequence[BatchItem[Any]]) -> dict[str, Any]:
        """The fields of a `BatchResult`."""
        home.adapted(self.everybody)
        waiting = [one for one in items if not one.over]
        return {
            **result_on_file(home),
            "waiting": len(waiting),
            "why": next((one.why for one in waiting if one.why), ""),
            "overspent": self.budget.short,
            "described": {model.name: model.describe() for model in self.everybody},
            "addresses": {
                model.name: public_url(model.endpoint.base_url)
                for model in self.everybody
                if isinstance(model, ServerModel)
            },
            "adaptations": tuple(what for _, what in home.adaptations()),
        }


def result_on_file(home: CallStore) -> dict[str, Any]:
    """Those fields of a `BatchResult` that its directory tells."""
    return {"path": home.path, "spent": by_model(home.spent_by())}


def by_model(by_asker: Mapping[str, Mapping[str, Total]]) -> dict[str, Total]:
    """What the calls of all askers come to, by model."""
    found: dict[str, Total] = {}
    for by in by_asker.values():
        for model, total in by.items():
            found[model] = found[model] + total if model in found else total
    return found
