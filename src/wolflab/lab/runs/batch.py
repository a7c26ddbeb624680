"""A batch: items that models answer outside games, with the answers stored in a directory.

An evaluation, a judge, recorded prompts and a generator of questions make items and read replies. The batch
does the rest: directory, budget, forecast, progress, resuming, and the reason why an item has no answer. It
knows calls, models and budgets, and nothing of the content.
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
from ...models.budget import BATCH, Budget
from ...models.calls import CallCache, Cassette, StoredCall, answer
from ...models.catalog import Spec, name_and_settings, resolve
from ...models.estimates import estimate_texts
from ...models.local import LocalModel
from ...models.servers.addresses import host_of
from ...models.servers.batches import check_batch_service
from ...models.servers.chat import ServerModel
from ...models.servers.keys import public_url
from ...text.replies.parsed import Problem
from ...usage import CallTotals, Usage
from ..plans.served import is_elsewhere
from ..storage.call_store import CallStore, StoredCallCache
from ..storage.run_files import new_directory
from ..storage.sent_batches import sent_in_words
from .waves import ask_in_waves
from .work import How, check_models, work

AT_ONCE = 64
"""Concurrent requests; each endpoint limits its calls in flight too."""
T = TypeVar("T")
Total = TypeVar("Total", CallTotals, Usage)


# -- items ------------------------------------------------------------------------------------


class BatchItem(Generic[T]):
    """One item as an asker (`work.Asker`).

    name: of the asker of its calls. model: the one that is called first. ask: makes the calls and reads the
    replies. retries: the number of retries for an unusable reply. answer: the result of `ask`. how, why: set
    if the item could not be finished.
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
        """Load the stored calls."""
        filed, self.how = home.filed(self.name), None
        self.file, self.begun = StoredCallCache(home, self.name, filed), bool(filed)

    async def go(self) -> None:
        """Make the calls that are not stored, and store them."""
        self.answer = await self.ask(self.file)
        self.file.keep()
        self.over = True

    def stop(self, how: How, why: str) -> None:
        """Keep the reason why it is not finished."""
        self.how, self.why = how, why

    async def next_request(self, filed: Mapping[str, StoredCall]) -> Request | None:
        """The first request that is not stored; None if all are, or if a stored one differs."""
        file = _NextRequest(filed)
        with suppress(NotStored, CassetteMismatch):  # `go` raises the second
            await self.ask(file)
        return file.request


class _NextRequest(Cassette):
    """A cassette that notes the first request that is not stored."""

    request: Request | None = None

    def get(self, request: Request) -> StoredCall:
        """See `Cassette`."""
        try:
            return super().get(request)
        except NotStored:
            self.request = request
            raise


def single_call(name: str, model: Model, request: Request) -> BatchItem[Response]:
    """An item with one request, whose answer is the response. name: of the request, unique for the model."""

    async def ask(file: CallCache) -> Response:
        return (await answer(file, model, request))[1]

    return BatchItem(f"{model.name}/{name}", model, ask)


async def ask_until_usable(
    file: CallCache, model: Model, request: Request, read: Callable[[Response], T | Problem], retries: int
) -> tuple[T | None, list[str]]:
    """The first usable answer, and why earlier replies could not be used; None if no reply was usable.

    Each retry's key ends with its number, and its prompt says what was wrong with the replies before.
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


# -- forecast ---------------------------------------------------------------------------------


class CallsForecast(NamedTuple):
    """A forecast for a model behind a server. calls: the most. least: the number if every reply is usable.
    prompt: estimated tokens. reply: the most tokens; None without a limit. usd: the most, apart from errors
    of estimates; None without a price or a limit. dearest: USD per million of its more expensive tokens.
    elsewhere: the server is on another machine. waves: the most waves of the vendor's batch service, at whose
    price USD are then counted; 0: single calls. least_usd: the price of the prompts of `least` calls; None
    without a price.
    """

    model: str
    calls: int
    least: int
    prompt: int
    reply: int | None
    usd: float | None
    dearest: float
    elsewhere: bool
    waves: int = 0
    least_usd: float | None = None


class RequestSize(NamedTuple):
    """Tokens of a request. prompt: estimated. reply: the limit that it sets; None without one."""

    prompt: int
    reply: int | None


_LONGEST = 10_000
"""The characters of an unusable reply in a retry's prompt, at most."""
_WHY = "x" * 200
"""Stands for the message about an unusable reply."""


def sizes(model: Model, request: Request, retries: int, made: int = 0) -> list[RequestSize]:
    """The sizes of a request and its retries. made: the number of them that are stored. Empty for a model
    that is not behind a server.
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
        RequestSize(estimate_texts(text for _, text in one.words.messages), one.sampling.max_tokens)
        for one in tries
    ]


def calls_forecast(model: Model, asked: Sequence[RequestSize], least: int) -> list[CallsForecast]:
    """The forecast for these calls to a model; empty without calls. least: see `CallsForecast`."""
    if not asked or not isinstance(model, ServerModel):
        return []
    settings = model.settings
    limits = [limit for one in asked if (limit := settings.max_tokens or one.reply) is not None]
    prompt, reply = sum(one.prompt for one in asked), sum(limits) if len(limits) == len(asked) else None
    price = settings.price
    usd = None if price is None or reply is None else price.cost(prompt, reply)
    away = is_elsewhere(host_of(model.name, settings.base_url))
    dearest = 0.0 if price is None else max(price.input, price.output)
    return [CallsForecast(model.name, len(asked), least, prompt, reply, usd, dearest, away)]


def in_waves_forecast(
    model: Model, one: CallsForecast, items: Sequence[Sequence[RequestSize]]
) -> CallsForecast:
    """The forecast, if the calls go to the vendor's batch service. items: the sizes of each item's calls."""
    assert isinstance(model, ServerModel)
    waves, price = max(map(len, items)), model.settings.price
    if price is None:
        return one._replace(waves=waves)
    usd = None if one.reply is None else price.cost(one.prompt, one.reply, tier=BATCH)
    least = price.cost(sum(first.prompt for first, *_ in items), 0, tier=BATCH)
    return one._replace(waves=waves, usd=usd, least_usd=least)


# -- the batch --------------------------------------------------------------------------------


class BatchWatcher:
    """Receives the events of a batch; this base class ignores them."""

    def ahead(self, calls: Sequence[CallsForecast]) -> None:
        """The forecast, before the batch starts; an error raised here cancels it."""

    def begun(self, path: Path) -> None:
        """The batch starts, or continues, in this directory."""

    def progress(self, who: str, over: int, planned: int) -> None:
        """`over` of `planned` requests to a model or a judge are done."""

    def news(self, sentence: str) -> None:
        """Something happened to what is with a vendor's batch service."""


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """What every batch reports in addition to its answers.

    path: its directory. spent: totals of all calls in the directory, by model. waiting: the number of items
    without an answer; why: the first one's reason. overspent: exceeded limit ("tokens", "usd") → a sentence.
    described: each model's settings; addresses: their servers. adaptations: changes of requests that
    endpoints made necessary.
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
    """The models that answer, and the directory of their answers.

    path: the directory, new or to continue; None: a new one under runs/, named after `name`. judge: grades
    the others' answers. budget: shared by all. in_waves: requests go to the vendor's batch service
    (`waves`); ModelError for a model without one.
    """

    path: Path | None
    models: Sequence[Model]
    judge: Model | None = None
    budget: Budget = field(default_factory=Budget)
    watcher: BatchWatcher = field(default_factory=BatchWatcher)
    name: str = "batch"
    in_waves: bool = False

    def __post_init__(self) -> None:
        for model in self.everybody if self.in_waves else ():
            check_batch_service(model, model.name)

    @classmethod
    def of(
        cls,
        path: Path | None,
        specs: Sequence[Spec],
        limits: tuple[int | None, float | None] = (None, None),
        watcher: BatchWatcher | None = None,
        name: str = "batch",
    ) -> CallBatch:
        """A batch for models as in experiments; WolflabError for a duplicate. limits: tokens and USD,
        including what was spent in the directory before.
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
        """The stored calls before it starts, or None."""
        if self.path is None or not (self.path / "run.sqlite").is_file():
            yield None
        else:
            with CallStore.open_for_reading(self.path) as home:
                yield home

    async def left(self, items: Sequence[BatchItem[Any]]) -> tuple[list[CallsForecast], list[Model]]:
        """The forecast for the items without a stored answer, and the models that they call."""
        left: dict[int, list[list[RequestSize]]] = {}
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
            for one in calls_forecast(model, [*chain(*left[id(model)])], len(left[id(model)]))
        ]
        if self.in_waves:
            by_name = {model.name: model for model in asked}
            ahead = [
                in_waves_forecast(by_name[one.model], one, left[id(by_name[one.model])]) for one in ahead
            ]
        return ahead, [model for model in self.everybody if asked and model in (*asked, self.judge)]

    @asynccontextmanager
    async def begin(
        self, facts: Mapping[str, str], ahead: Sequence[CallsForecast], asked: Sequence[Model]
    ) -> AsyncIterator[CallStore]:
        """Report the forecast, check the models, and open the directory. On exit the models are closed.

        facts: all that decides the answers; StoreError for a directory with other ones. If they do not name
        the model, more models may be added later, each with its own settings.
        """
        try:
            self.watcher.ahead(ahead)
            with suppress(BudgetExceeded):  # a spent budget leaves items waiting, here as later
                await check_models(asked)
            path = self.path or new_directory(Path("runs"), self.name)
            with CallStore.begin(path, facts) as home:
                if "model" not in facts:
                    self._keep_settings(home)
                if not self.in_waves and (sent := sent_in_words(home.sent_batches.all())):
                    raise StoreError(f"{path}: {sent}, and single calls would be paid twice; add --batch")
                self.budget.begin(home.spent())
                self.watcher.begun(path)
                yield home
        finally:
            for model in self.everybody:
                await model.close()

    def _keep_settings(self, home: CallStore) -> None:
        """Keep the settings of each model; StoreError if they have changed."""
        for model in self.everybody:
            described = msgspec.json.encode(model.describe(), order="sorted").decode()
            home.remember(f"model {model.name}", described)
            if home.meta(f"model {model.name}") != described:
                raise StoreError(
                    f"{home.path}: model {model.name!r} was asked with other settings there; go on with "
                    "those, or name another directory"
                )

    async def work(self, home: CallStore, items: Sequence[BatchItem[Any]], who: str) -> None:
        """Run the items of one model.

        A spent budget, a failing server and a permanently refused request leave items waiting.
        """
        await self.work_each(home, {who: items})

    async def work_each(self, home: CallStore, asked: Mapping[str, Sequence[BatchItem[Any]]]) -> None:
        """Run the items of several models, one model after another; with a batch service, all in the same
        waves. asked: by whom is asked. See `work`.
        """
        items = [*chain(*asked.values())]
        if self.in_waves:
            await ask_in_waves(home, items, self.budget, self.watcher.news)
        for item in items:
            if item.how is None:
                item.attach(home)
        for who, mine in asked.items():
            await self._run(home, mine, who)
            for model in {id(item.model): item.model for item in mine}.values():
                if isinstance(model, LocalModel):  # only one model's weights are in memory at a time
                    await model.close()

    async def _run(self, home: CallStore, items: Sequence[BatchItem[Any]], who: str) -> None:
        """Run items that are attached. Those with stored calls come first: they cost nothing, so a spent
        budget must not stop them. Those that were stopped before are left as they are.
        """
        done = 0

        def over() -> None:
            nonlocal done
            done += 1
            self.watcher.progress(who, done, len(items))
            tell()

        self.watcher.progress(who, 0, len(items))
        with home.reporting_progress(who, lambda: (sum(one.over for one in items), len(items))) as tell:
            for one in items:
                if one.how is not None:
                    over()
            left = [one for one in items if one.how is None]
            for begun in (True, False):
                await work([one for one in left if one.begun == begun], AT_ONCE, over, self.budget)

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
    """The fields of a `BatchResult` that are read from its directory."""
    return {"path": home.path, "spent": by_model(home.spent_by())}


def by_model(by_asker: Mapping[str, Mapping[str, Total]]) -> dict[str, Total]:
    """The totals of all askers, by model."""
    found: dict[str, Total] = {}
    for by in by_asker.values():
        for model, total in by.items():
            found[model] = found[model] + total if model in found else total
    return found
