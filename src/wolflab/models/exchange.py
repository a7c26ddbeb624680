"""What chat models and embedders behind HTTP share: settings, an endpoint, exchanges, retries, costs.

A server speaks OpenAI's protocol: a path and a body go out, a JSON object or a `Fault` comes back. It is not
known here what is asked nor what an answer is worth.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar

from annotated_types import Ge, Gt, Interval

from ..errors import ModelError, ModelRefused, ServerError
from ..fields import Amount, Misfit, from_plain
from ..usage import Usage
from . import reply_size
from .budget import Budget, CallSizes, Most, Price
from .calls import came_to_nothing, on_its_way
from .endpoints import (
    MAX_IN_FLIGHT,
    Endpoint,
    EndpointLine,
    Outage,
    Provider,
    check_url,
    check_variable,
    endpoint,
    public_url,
    refused_key,
)
from .faults import Fault, shorten
from .reply_size import LARGEST_REPLY, ReplyTooLong
from .wire import NOT_JSON, TokenCounts, decoded

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Classify = Callable[[int, object, Mapping[str, str]], Fault]
"""status, decoded error body, headers → the fault behind them."""

FIRST_WAIT, LAST_WAIT = 0.5, 60.0
"""Seconds before the first retry, and the most that doubling leads to."""
FLEX_TIMEOUT = 900.0
"""Seconds for one attempt in a tier that is named, at least: cheaper ones take their time."""
PATIENCE = 2
"""Retries of a call in which nobody is answered, until it is told of."""

_RAW = {"X-Stainless-Raw-Response": "true"}
"""Asks the library for the response as it came, as its `with_raw_response` does."""
_NO_HEADERS: Mapping[str, str] = {}


class HttpAnswer(NamedTuple):
    """A JSON object that came back. `latency` in seconds."""

    body: dict[str, Any]
    latency: float


T = TypeVar("T")


class CallSize(NamedTuple):
    """What is known of a call before it is made.

    estimated: tokens of its prompt; 0: it costs nothing. kind: of what is asked. limit: tokens of the reply,
    None without one.
    """

    estimated: int
    kind: str = ""
    limit: int | None = 0


NO_SIZE = CallSize(0)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What can be set for whatever is behind HTTP. Raises ModelError, naming the setting.

    timeout: seconds for one attempt. retries: attempts after the first. longest_wait: seconds; a
    server that asks for more has failed. longest_outage: seconds for which a server that answers nobody is
    waited for. max_reply_bytes: of one reply; what is longer is read no further and is an unusable reply.
    price: USD per million tokens. extra: more fields of the request's body, passed on as they are.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    price: Price | None = None
    max_in_flight: Annotated[int, Interval(ge=1, le=MAX_IN_FLIGHT)] | None = None
    timeout: Annotated[Amount, Gt(0)] = 120.0
    retries: Annotated[int, Ge(0)] = 8
    longest_wait: Amount = 600.0
    longest_outage: Amount = 1800.0
    max_reply_bytes: Annotated[int, Ge(1024)] = LARGEST_REPLY
    extra: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.base_url is not None:
            check_url(self.base_url)
        if self.api_key_env is not None:
            check_variable(self.api_key_env)


Settings = TypeVar("Settings", bound=ServerSettings)


def settings_of(kind: type[T], who: str, settings: Mapping[str, Any]) -> T:
    """Settings from names and values as a file has them. `who` ("model 'x'") begins the ModelErrors."""
    try:
        return from_plain(kind, settings)
    except Misfit as wrong:
        raise ModelError(f"{who}, setting {wrong.place!r}: {wrong.words}") from None


class Served(Generic[Settings]):
    """One model at one endpoint.

    name: as written in the experiment. model: the server's own name for it. budget: shared by the run.
    sleep (seconds) and jitter (→ [0, 1)) are there to be replaced in tests.
    """

    noun = "model"
    """What it is called in errors."""
    instant = False

    def __init__(
        self,
        name: str,
        model: str,
        provider: Provider,
        settings: Settings,
        *,
        budget: Budget | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name, self.model, self.provider, self.settings = name, model, provider, settings
        self.endpoint = _endpoint(f"{self.noun} {name!r}", provider, settings, budget)
        self._budget, self._sleep, self._jitter = budget, sleep, jitter
        self._which = f"{self.noun} {name} {self.endpoint.base_url}"
        self._sizes = CallSizes() if budget is None else budget.sizes.setdefault(self._which, CallSizes())
        self._timeout = settings.timeout

    @property
    def _largest(self) -> Mapping[str, str]:
        return {reply_size.HEADER: str(self.settings.max_reply_bytes)}

    async def close(self) -> None:
        """Leave the running loop's connections; it can be used again."""
        await self.endpoint.leave(self)

    def _line(self) -> EndpointLine:
        try:
            return self.endpoint.line(self)
        except ModelError as error:
            raise ModelError(f"{self.noun} {self.name!r}: {error}") from None

    def _at(self) -> str:
        return f"{self.noun} {self.name!r}: the server at {public_url(self.endpoint.base_url)}"

    async def _until_over(
        self,
        line: EndpointLine,
        attempt: Callable[[bool], Awaitable[T | Fault | None]],
        size: CallSize = NO_SIZE,
        retries: int | None = None,
        grace: float = 0.0,
    ) -> T:
        """What `attempt` gives at last. A Fault is waited for; None is tried again at once.

        attempt: gets whether the call is in its grace, seconds in which its faults count for nothing. size:
        of the call, for the budget. retries: instead of the setting. Raises ModelError and ServerError for
        what no retry mended, BudgetExceeded, and Stopped.
        """
        allowed = self.settings.retries if retries is None else retries
        waited, elapsed, answers, outage = 0, 0.0, self.endpoint.answers, line.outage
        # A call that waits for its retry keeps its place: a server in trouble sees fewer calls, not more.
        async with line.places, outage.turns() as my_turn:
            while True:
                await my_turn()
                self._raise_if_given_up(outage)
                started, graced = perf_counter(), elapsed < grace
                async with self._holding(size):
                    outcome = await self._sending(attempt, graced)
                if outcome is None:
                    continue
                if not isinstance(outcome, Fault):
                    outage.end()
                    self.endpoint.answered()
                    return outcome
                self._raise_if_hopeless(outcome)
                if waited >= allowed and not graced:
                    times = "once" if waited == 0 else f"{waited + 1} times"
                    raise ServerError(
                        f"{self._at()} failed {times}, last with: {outcome.words}; the run can be resumed"
                    )
                if not waited or graced:
                    answers = self.endpoint.answers
                elif waited >= PATIENCE and answers == self.endpoint.answers:
                    outage.begin()
                    self.endpoint.silent(self._outage_in_words(outcome, allowed - waited))
                pause = self._pause(outcome, max(waited, outage.tries))
                await self._wait(pause)
                lasted = max(perf_counter() - started, pause)
                outage.lasted(lasted)
                elapsed += lasted
                waited = 0 if graced and elapsed >= grace else waited + 1

    @staticmethod
    async def _sending(
        attempt: Callable[[bool], Awaitable[T | Fault | None]], graced: bool
    ) -> T | Fault | None:
        """An attempt, of which whoever makes the call is told."""
        on_its_way()
        try:
            outcome = await attempt(graced)
        except Exception:
            came_to_nothing()
            raise
        if outcome is None or isinstance(outcome, Fault):
            came_to_nothing()
        return outcome

    async def _wait(self, seconds: float) -> None:
        """Before the next attempt; Stopped where no call may start any more."""
        if self._budget is None:
            await self._sleep(seconds)
        else:
            await self._budget.while_open(self._sleep(seconds))

    @asynccontextmanager
    async def _holding(self, size: CallSize) -> AsyncIterator[None]:
        if self._budget is None:
            yield
            return
        async with self._budget.hold(lambda: self._most(size)):
            yield

    def _most(self, size: CallSize) -> Most:
        """What a call of that size may use at most, as far as it is known by now."""
        if size.estimated == 0:
            return Most()
        prompt, reply = self._sizes.most(*size)
        cost = (self.settings.price or Price()).cost(prompt, reply or 0, written=prompt)
        return Most(Usage(prompt, reply or 0, 0, cost), self._which, self._sizes.at_once(size.limit))

    def check_refused(self) -> None:
        """Raise ModelRefused where a call would be refused, as an earlier one was. Nothing is asked."""
        if why := self.endpoint.refused(self.model):
            raise ModelRefused(why)

    def _raise_if_given_up(self, outage: Outage) -> None:
        """Raise what a call would meet: a refusal, or a server that has answered nobody for too long."""
        self.check_refused()
        if outage.seconds >= self.settings.longest_outage:
            raise ServerError(
                f"{self._at()} has answered nobody for {outage.seconds:.0f} s, and longest_outage is "
                f"{self.settings.longest_outage:g} s: resume the run later"
            )

    def _outage_in_words(self, fault: Fault, left: int) -> str:
        """Why there is no answer, and for how long it is tried again. left: retries of this call."""
        doubled = sum(min(LAST_WAIT, FIRST_WAIT * 2 ** min(n, 30)) for n in range(PATIENCE, PATIENCE + left))
        seconds = doubled if fault.wait is None else 1.1 * fault.wait * left
        tries = "once more" if left == 1 else f"{left} times more"
        return (
            f"({fault.words}); calls to it wait, and one of them is tried {tries}, with waits of up to "
            f"{seconds:.0f} s in all"
        )

    def _pause(self, fault: Fault, waited: int) -> float:
        """Seconds: what the server asked for, else doubling; spread, so that calls do not return at once."""
        if fault.wait is not None:
            return fault.wait * (1 + 0.1 * self._jitter())
        return float(min(LAST_WAIT, FIRST_WAIT * 2 ** min(waited, 30)) * (0.5 + 0.5 * self._jitter()))

    def _raise_if_hopeless(self, fault: Fault) -> None:
        """Raise ModelError or ServerError for what no retry can mend."""
        at, longest_wait = self._at(), self.settings.longest_wait
        match fault.kind:
            case "retry":
                if (fault.wait or 0) > longest_wait:
                    raise ServerError(
                        f"{at} asks to wait {fault.wait:.0f} s, more than longest_wait "
                        f"({longest_wait:g} s): resume the run later"
                    )
            case "quota":
                self.endpoint.refuse(f"{at} says that its credit is used up ({fault.words}): resume later")
            case "key":
                # The server's words are left out: some repeat the key.
                self.endpoint.refuse(f"{at} {refused_key(self.endpoint.variable, fault.status)}")
            case "model":
                usual = (self.settings.base_url or "/v1").rstrip("/").endswith("/v1")
                hint = "" if usual else " (base_url usually ends in /v1)"
                self.endpoint.refuse(
                    f"{at} has no model {self.model!r}, or the address is wrong{hint}: {fault.words}",
                    self.model,
                )
            case _:
                raise ModelError(f"{at} refuses the request: {fault.words}")
        self.check_refused()

    async def _post(
        self,
        client: AsyncOpenAI,
        path: str,
        body: Mapping[str, Any],
        classify: Classify,
        wanted: str,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> HttpAnswer | Fault:
        """Send `body` to `path`. Everything that can go wrong in it comes back as a Fault.

        wanted: the field without which an answer with an `error` is that error: routers pass on another
        server's under status 200.
        """
        import aiohttp
        import openai

        started = perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                # Not the library's typed methods: those walk the whole body to look for types of the
                # library's own, which costs more than the rest of the call.
                raw: Any = await client.post(
                    path, cast_to=object, body=body, options={"headers": {**_RAW, **self._largest, **headers}}
                )
        except TimeoutError:
            return Fault("retry", f"no answer within {self._timeout:g} s")
        except ReplyTooLong as error:
            return Fault("long", str(error))
        except openai.APIStatusError as error:
            return classify(error.status_code, error.body, error.response.headers)
        except (openai.APIConnectionError, aiohttp.ClientError, OSError) as error:
            if isinstance(error.__cause__, ReplyTooLong):  # as openai before 3.14 wraps it
                return Fault("long", str(error.__cause__))
            message, secret = str(error.__cause__ or error), self.endpoint.key()
            return Fault("retry", shorten(message.replace(secret, "…") if secret else message))
        latency = perf_counter() - started
        reply = decoded(raw.content)
        if reply is NOT_JSON:
            address = public_url(self.endpoint.base_url)
            return Fault("retry", f"an answer that is not JSON (is {address} right?)")
        if not isinstance(reply, dict):
            return Fault("retry", "an answer that is not a JSON object")
        if (wrong := reply.get("error")) and not reply.get(wanted):
            code = wrong.get("code") if isinstance(wrong, dict) else None
            return classify(code if isinstance(code, int) else 502, wrong, raw.headers)
        return HttpAnswer(reply, latency)

    def _spend(self, counts: TokenCounts, size: CallSize, tier: str = "") -> Usage:
        """What so many tokens cost, taken from the budget. size: of the call that took them. tier: in which
        it was served.
        """
        prompt, completion, cached, written = counts
        self._sizes.saw(*size, prompt, completion)
        cost = (self.settings.price or Price()).cost(prompt, completion, cached or 0, written, tier)
        usage = Usage(prompt, completion, cached or 0, cost)
        if self._budget is not None:
            self._budget.add(usage)
        return usage


def _endpoint(who: str, provider: Provider, settings: ServerSettings, budget: Budget | None) -> Endpoint:
    """The endpoint that `settings` name, its limit set. `who` ("model 'x'") begins the ModelErrors."""
    url = settings.base_url or provider.base_url
    if url is None:
        raise ModelError(f"{who} needs base_url, the address of its server")
    if budget is not None and budget.usd is not None and settings.price is None:
        raise ModelError(f"{who} needs price for a budget in USD; a free one has price {{input: 0}}")
    shared = endpoint(url, settings.api_key_env or provider.key)
    most = settings.max_in_flight or provider.in_flight
    if most is not None:
        shared.at_most(most)
    return shared
