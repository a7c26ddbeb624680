"""Askers of one call each, for whatever puts many requests to models outside games: the reply that is on
file, or the model's, put on file.

It knows calls, models and budgets, and nothing of what is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from ...errors import StoreError, WolflabError
from ...models.base import Model, Request, Response
from ...models.budget import Budget
from ...models.calls import answer
from ...models.catalog import Spec, name_and_settings, resolve
from ...models.estimates import estimate_texts
from ...models.servers.providers import host_of
from ..plans.prices import price_in
from ..plans.served import is_elsewhere, is_served
from ..storage.call_store import CallFile, CallStore
from .work import How, work

AT_ONCE = 64
"""Requests in work at once; calls in flight are limited for each endpoint as well."""

Watch = Callable[[str, int, int], None]
"""(model or judge, requests done with, requests)"""


class OneCall:
    """One request to one model, as an asker (`work.Asker`). name: of the request, within the model's."""

    def __init__(self, name: str, request: Request, model: Model, home: CallStore) -> None:
        asker = _asker(model.name, name)
        filed = home.filed(asker)
        self.file, self.model, self.request = CallFile(home, asker, filed), model, request
        self.on_file = bool(filed)
        self.response: Response | None = None
        self.why = ""

    async def go(self) -> None:
        """Ask, unless the answer is on file."""
        _, self.response = await answer(self.file, self.model, self.request)
        self.file.keep()

    def stop(self, how: How, why: str) -> None:
        """Keep why there is no answer."""
        self.why = why


def _asker(model: str, name: str) -> str:
    return f"{model}/{name}"


def resolve_each(specs: Sequence[Spec], budget: Budget) -> list[Model]:
    """The models that are to reply, each once; WolflabError for one that is named twice."""
    for name, n in Counter(name_and_settings(spec)[0] for spec in specs).items():
        if n > 1:
            raise WolflabError(f"model {name!r} is named {n} times; name each model once")
    return [resolve(spec, budget) for spec in specs]


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


def calls_ahead(path: Path | None, specs: Sequence[Spec], named: Mapping[str, Request]) -> list[CallsAhead]:
    """What it takes to put all requests to each of the models that are behind a server, but for those whose
    replies are on file. path: the directory, None for a new one. named: requests by the name of their call.
    """
    filed: set[str] = set()
    if path is not None and (path / "run.sqlite").is_file():
        with CallStore.open_for_reading(path) as home:
            filed.update(home.askers())
    ahead: list[CallsAhead] = []
    for spec in specs:
        name, _ = name_and_settings(spec)
        requests = [one for key, one in named.items() if _asker(name, key) not in filed]
        ahead += ahead_of(spec, [size for one in requests for size in sizes(one)])
    return ahead


class Size(NamedTuple):
    """Tokens of a request. prompt: as estimated. reply: at most, as it asks itself; None without a limit."""

    prompt: int
    reply: int | None


_LONGEST = 10_000
"""Characters of a reply; a prompt that asks for another one shows fewer."""
_WHY = "x" * 200
"""In place of what is wrong with one."""


def sizes(request: Request, retries: int = 0, made: int = 0, longest: int | None = None) -> list[Size]:
    """Of what one reply may take: a request, and those that ask for it again. made: so many of them are on
    file. longest: tokens of a reply.
    """
    unusable = "x" * min(_LONGEST, _LONGEST if longest is None else 4 * longest), _WHY
    tries = (
        replace(request, corrections=(unusable,) * attempt) if attempt else request
        for attempt in range(made, retries + 1)
    )
    return [
        Size(estimate_texts(text for _, text in one.words.messages), one.sampling.max_tokens) for one in tries
    ]


def ahead_of(spec: Spec, asked: Sequence[Size], least: int | None = None) -> list[CallsAhead]:
    """What these calls to a model will take; nothing of one that is not behind a server, and of no calls.
    least: see `CallsAhead`.
    """
    name, settings = name_and_settings(spec)
    if not asked or not is_served(name):
        return []
    usual = settings.get("max_tokens")
    limits = [limit for one in asked if (limit := usual or one.reply) is not None]
    prompt, reply = sum(one.prompt for one in asked), sum(limits) if len(limits) == len(asked) else None
    price = price_in(settings)
    usd = None if price is None or reply is None else price.cost(prompt, reply)
    away = is_elsewhere(host_of(name, settings.get("base_url")))
    dearest = 0.0 if price is None else max(price.input, price.output)
    calls = len(asked)
    return [CallsAhead(name, calls, calls if least is None else least, prompt, reply, usd, dearest, away)]


async def work_through(
    home: CallStore, askers: Sequence[OneCall], who: str, watch: Watch, budget: Budget
) -> None:
    """Let them go. home: where their calls are, and how far they are. budget: of their models. Those on file
    come first: they cost nothing, so no spent budget may stop them.
    """
    over = 0

    def answered() -> tuple[int, int]:
        return sum(one.response is not None for one in askers), len(askers)

    def one_over() -> None:
        nonlocal over
        over += 1
        watch(who, over, len(askers))
        tell()

    watch(who, 0, len(askers))
    with home.reporting_progress(who, answered) as tell:
        for on_file in (True, False):
            await work([one for one in askers if one.on_file == on_file], AT_ONCE, one_over, budget)


def keep_settings(home: CallStore, models: Iterable[Model]) -> None:
    """Keep with which settings each model is asked; where one was asked otherwise, close and StoreError."""
    for model in models:
        described = msgspec.json.encode(model.describe(), order="sorted").decode()
        home.remember(f"model {model.name}", described)
        if home.meta(f"model {model.name}") != described:
            path = home.path
            home.close()
            raise StoreError(
                f"{path}: model {model.name!r} was asked with other settings there; go on with those, or "
                "name another directory"
            )
