"""The base of chat models and embedders behind a server: settings, an endpoint, attempts, retries, costs.

It sends a body to a path, and returns a JSON object or a `Fault`. It does not know what is asked, nor how
good an answer is.

**Costs of an attempt.** Its maximum is set aside before it is sent. An answer costs what its server counted.
An attempt that was sent and got no answer (a timeout, or a lost connection) may have been paid for: all that
was set aside counts as possibly paid.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec
from annotated_types import Ge, Gt, Interval

from ...errors import ModelError, ModelRefused, ServerError
from ...fields import Amount
from ...text.replies.finish import FinishReason
from ...usage import Usage
from ..budget import Budget, CallLimit, CallSizes, Hold, Price
from ..calls import LostAttempt, OpenCall, open_call
from .addresses import address_of
from .dialect import NOT_JSON, Dialect, TokenCounts, decoded, events_of, looks_like_stream
from .endpoints import Connection, Endpoint, EndpointAccess, Outage, Turns, endpoint, is_own
from .faults import Fault, shorten
from .http import LARGEST_REPLY, HttpReply, HttpRequest, NoReply
from .keys import check_plain, check_variable, public_url, refused_key
from .providers import MAX_IN_FLIGHT, Provider, address_and_query, azure_address, check_url

Classify = Callable[[int, object, Mapping[str, str]], Fault]
"""status, decoded error body, headers → the fault behind them."""

FIRST_WAIT, LAST_WAIT = 0.5, 60.0
"""Seconds before the first retry, and the maximum after doubling."""
PATIENCE = 2
"""Retries of an unanswered call before an outage is reported."""
LONGER = 2
"""How often an attempt that timed out is followed by one with twice the time."""
_CHANGES = 20
"""Maximum number of changes to a request because of refusals."""

_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_NO_HEADERS: Mapping[str, str] = {}
_LONG = 2**19
"""Bytes of a body that is parsed in a thread of its own, so that the loop goes on: it may have millions of
events.
"""


_UNBOUND = Budget()
"""The budget of calls that have none."""


class HttpAnswer(NamedTuple):
    """A JSON object from a server. seconds: that the server took."""

    body: dict[str, Any]
    seconds: float


T = TypeVar("T")


class Failed(NamedTuple):
    """An attempt without an answer. spent: its certain usage. again: the next one is made at once, because
    the request was changed. reason: why there is no answer.
    """

    fault: Fault
    spent: Usage | None = None
    again: bool = False
    reason: FinishReason = FinishReason.LOST


class AttemptInfo(NamedTuple):
    """The parameters of an attempt. seconds: its time limit. graced: its faults do not count. timed_out: an
    earlier attempt timed out.
    """

    seconds: float
    graced: bool = False
    timed_out: bool = False


class CallSize(NamedTuple):
    """The size of a call before it is made.

    estimated: tokens of its prompt; 0: it costs nothing. kind: the kind of call. limit: the cap on the
    reply's tokens, None without one.
    """

    estimated: int
    kind: str = ""
    limit: int | None = 0


NO_SIZE = CallSize(0)
HEALTH_CHECK = "health check"
"""The kind of a call that checks whether the server answers."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of everything behind HTTP. Raises ModelError, naming the setting.

    headers, query: sent with every request; ``${NAME}`` stands for that environment variable.
    requests_per_minute: a maximum. timeout: seconds for one attempt; after a timeout the next one has up to
    four times as many. retries: attempts after the first. longest_wait: seconds; a server that asks for more
    has failed. longest_outage: seconds of waiting for a server that does not answer. max_reply_bytes: of one
    reply; a longer one is not read to the end and is unusable. price: USD per million tokens. extra: more
    fields of the request's body, passed on as they are.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] | None = None
    query: Mapping[str, str] | None = None
    price: Price | None = None
    max_in_flight: Annotated[int, Interval(ge=1, le=MAX_IN_FLIGHT)] | None = None
    requests_per_minute: Annotated[int | float, Interval(gt=0, le=1_000_000)] | None = None
    timeout: Annotated[Amount, Gt(0)] = 120.0
    retries: Annotated[int, Ge(0)] = 8
    longest_wait: Amount = 600.0
    longest_outage: Amount = 1800.0
    max_reply_bytes: Annotated[int, Ge(1024)] = LARGEST_REPLY
    extra: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.base_url is not None:
            check_url(self.base_url)
            check_plain(address_and_query(self.base_url)[1], "base_url")
        if self.api_key_env is not None:
            check_variable(self.api_key_env)
        check_plain(self.headers or {}, "headers")
        check_plain(self.query or {}, "query")


Settings = TypeVar("Settings", bound=ServerSettings)


class Served(Generic[Settings]):
    """One model at one endpoint.

    name: as written in the experiment. model: the server's own name for it. budget: shared by the run. Tests
    replace sleep (seconds) and jitter (→ [0, 1)).
    """

    noun = "model"
    """Its name in errors."""
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
        self.endpoint = _endpoint(f"{self.noun} {name!r}", model, provider, settings, budget)
        self._budget, self._sleep, self._jitter = budget, sleep, jitter
        self._which = f"{self.noun} {name} {self.endpoint.base_url}"
        self._sizes = CallSizes() if budget is None else budget.sizes.setdefault(self._which, CallSizes())

    async def close(self) -> None:
        """Leave the running loop's connections; it can be used again."""
        await self.endpoint.leave(self)

    def _connection(self) -> Connection:
        who = f"{self.noun} {self.name!r}"
        try:
            return self.endpoint.connection(self, who)
        except ModelError as error:
            if str(error).startswith(who):
                raise
            raise ModelError(f"{who}: {error}") from None

    def at(self) -> str:
        """The beginning of errors: which server."""
        return f"{self.noun} {self.name!r}: the server at {public_url(self.endpoint.base_url)}"

    # -- attempts until a call is over -------------------------------------------------------

    async def _until_over(
        self,
        connection: Connection,
        attempt: Callable[[AttemptInfo], Awaitable[T | Failed]],
        size: CallSize = NO_SIZE,
        *,
        retries: int | None = None,
        grace: float = 0.0,
        timeout: float | None = None,
        endless: Callable[[float], Awaitable[T | None]] | None = None,
    ) -> T:
        """Repeat `attempt` until it succeeds. Returns its result.

        size: of the call, for the budget. retries: instead of the setting. grace: seconds in which faults do
        not count. timeout: seconds of the first attempt, instead of the setting. endless: called with the
        last time limit if the longest attempt timed out; returns the result if the server works and the reply
        does not end, else None.

        Raises ModelError and ServerError for errors that retries did not solve, BudgetExceeded, and Stopped.
        """
        allowed = self.settings.retries if retries is None else retries
        call, seconds = open_call(), timeout or self.settings.timeout
        # A call that waits for its retry keeps its place: a server in trouble sees fewer calls, not more.
        async with connection.slots, connection.outage.turns() as turns:
            state = _RetryState(self, turns, allowed, seconds, grace, call.timeouts)
            while True:
                await turns.wait_turn()
                self._raise_if_given_up(connection.outage)
                outcome = await self._paid(connection, call, attempt, state.next, size)
                if not isinstance(outcome, Failed):
                    return self._answered(connection, outcome)
                if outcome.again and state.may_change():
                    continue
                self._raise_if_hopeless(outcome.fault)
                if state.seems_endless(outcome.fault) and endless is not None:
                    over = await endless(state.seconds)
                    if over is not None:
                        return self._answered(connection, over)
                if pause := state.pause_after(outcome.fault):
                    await self._wait(pause)
                state.waited(pause)

    def _answered(self, connection: Connection, outcome: T) -> T:
        """Note that the server answers. Returns the outcome."""
        connection.outage.end()
        self.endpoint.answered()
        return outcome

    async def _paid(
        self,
        connection: Connection,
        call: OpenCall,
        attempt: Callable[[AttemptInfo], Awaitable[T | Failed]],
        begin: Callable[[], AttemptInfo],
        size: CallSize,
    ) -> T | Failed:
        """Make an attempt at the server's rate, with its maximum set aside. Its costs without an answer are
        counted and recorded. begin: called just before.
        """
        async with self._holding(size) as most:
            sent = await connection.rate.slot(self._wait)
            info = begin()
            await call.sending(LostAttempt(FinishReason.STOPPED, most.use, True, most.unlimited))
            try:
                outcome = await attempt(info)
            except Exception:
                connection.rate.taken(sent)
                await call.failed(None)
                raise
            too_many = isinstance(outcome, Failed) and outcome.fault.too_many
            (connection.rate.refused if too_many and not info.graced else connection.rate.taken)(sent)
            if isinstance(outcome, Failed):
                lost = None
                if outcome.spent is not None:
                    lost = LostAttempt(outcome.reason, outcome.spent, False)
                elif outcome.fault.possibly_paid and size.estimated:
                    lost = LostAttempt(outcome.reason, most.use, True, most.unlimited)
                    if self._budget is not None:
                        self._budget.add(most.use, possibly=True)
                if lost is not None:
                    self._lost(lost.usage)
                await call.failed(lost)
            return outcome

    def _lost(self, usage: Usage) -> None:
        """Hook: an attempt without a reply used this much, or may have."""

    async def _wait(self, seconds: float) -> None:
        """Sleep before the next attempt; Stopped where no call may start any more."""
        if self._budget is None:
            await self._sleep(seconds)
        else:
            await self._budget.while_open(self._sleep(seconds))

    def _holding(self, size: CallSize) -> Hold:
        return (self._budget or _UNBOUND).hold(lambda: self._most(size))

    def _most(self, size: CallSize) -> CallLimit:
        """The most that a call of that size may use, from what is known now."""
        if size.estimated == 0:
            return CallLimit()
        prompt, reply = self._sizes.most(*size)
        cost = (self.settings.price or Price()).cost(prompt, reply or 0, written=prompt)
        at_once = self._sizes.at_once(size.limit)
        return CallLimit(Usage(prompt, reply or 0, 0, cost), self._which, at_once, at_once > 0)

    def check_refused(self) -> None:
        """Raise ModelRefused where a call would be refused as an earlier one was. No call is made."""
        if why := self.endpoint.refused(self.model):
            raise ModelRefused(why)

    def _raise_if_given_up(self, outage: Outage) -> None:
        """Raise ModelRefused for a refusal, ServerError for an outage that is too long."""
        self.check_refused()
        if outage.seconds >= self.settings.longest_outage:
            raise ServerError(
                f"{self.at()} has answered no call for {outage.seconds:.0f} s, and longest_outage is "
                f"{self.settings.longest_outage:g} s: resume the run later"
            )

    def pause(self, fault: Fault, waited: int) -> float:
        """Seconds to wait: as the server asked, else doubling; spread, so that calls do not all return at
        once.
        """
        if fault.wait is not None:
            return fault.wait * (1 + 0.1 * self._jitter())
        return float(min(LAST_WAIT, FIRST_WAIT * 2 ** min(waited, 30)) * (0.5 + 0.5 * self._jitter()))

    def _raise_if_hopeless(self, fault: Fault) -> None:
        """Raise ModelError or ServerError for a fault that no retry can solve."""
        at, longest_wait = self.at(), self.settings.longest_wait
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
            case "address":
                self.endpoint.refuse(f"{at} cannot be used: {fault.words}")
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

    # -- one exchange -----------------------------------------------------------------------

    async def _post(
        self,
        connection: Connection,
        path: str,
        body: Mapping[str, Any],
        classify: Classify,
        seconds: float,
        *,
        wanted: str = "",
        dialect: Dialect | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> HttpAnswer | Fault:
        """Send `body` to `path`, or to an address. All errors are returned as a Fault.

        wanted: the field without which an answer with an `error` is that error: routers pass on another
        server's under status 200. dialect: for reading a stream of events.
        """
        url = path if path.startswith("http") else self._address(connection, path)
        request = HttpRequest(
            "POST",
            url,
            {**_JSON, **headers, **connection.headers},
            msgspec.json.encode(body),
            self.settings.max_reply_bytes,
            None if dialect is None else dialect.end_mark,
        )
        reply = await connection.client.request(request, seconds)
        if isinstance(reply, NoReply):
            read: HttpAnswer | Fault = missing_reply(reply)
        elif len(reply.body) > _LONG:
            read = await asyncio.to_thread(self._answer_in, connection, reply, classify, wanted, dialect)
        else:
            read = self._answer_in(connection, reply, classify, wanted, dialect)
        return masked_fault(read, connection) if isinstance(read, Fault) else read

    def _answer_in(
        self,
        connection: Connection,
        reply: HttpReply,
        classify: Classify,
        wanted: str,
        dialect: Dialect | None,
    ) -> HttpAnswer | Fault:
        """See `_post`; a fault's words may still have keys that the body spells otherwise."""
        content = connection.secrets.masked(reply.body)
        if not 200 <= reply.status < 300:
            said = decoded(content)
            return classify(
                reply.status, content.decode("utf-8", "replace") if said is NOT_JSON else said, reply.headers
            )
        answer: Any = NOT_JSON
        if dialect is not None and (reply.is_stream or looks_like_stream(content)):
            events = events_of(content)
            answer = dialect.joined(events) if events else NOT_JSON
        if answer is NOT_JSON:
            answer = decoded(content)
        if not isinstance(answer, dict):
            return self._unreadable(answer, content)
        if (wrong := answer.get("error")) and not (wanted and answer.get(wanted)):
            code = wrong.get("code") if isinstance(wrong, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
            return classify(status, answer, reply.headers)
        return HttpAnswer(answer, reply.seconds)

    def _address(self, connection: Connection, path: str) -> str:
        """The address of a path at the endpoint, with the endpoint's query."""
        url = self.endpoint.base_url.rstrip("/") + path
        return url if not connection.query else f"{url}{'&' if '?' in path else '?'}{connection.query}"

    def _unreadable(self, answer: object, content: bytes) -> Fault:
        """The fault of a reply of status 200 that is no JSON object."""
        if answer is not NOT_JSON:
            return Fault("retry", "an answer that is not a JSON object")
        page = content[:64].lstrip().startswith(b"<")
        address = public_url(self.endpoint.base_url)
        return Fault("retry", f"an answer that is not JSON (is {address} right?)", possibly_paid=not page)

    def _spend(self, counts: TokenCounts, size: CallSize, tier: str = "") -> Usage:
        """Take the cost of these tokens from the budget. size: of their call. tier: in which it was
        served.
        """
        prompt, completion, cached, written = counts
        if size.kind != HEALTH_CHECK:  # a server's additions to a short text say little of long prompts
            self._sizes.saw(*size, prompt, completion)
        cost = (self.settings.price or Price()).cost(prompt, completion, cached or 0, written, tier)
        usage = Usage(prompt, completion, cached or 0, cost)
        if self._budget is not None:
            self._budget.add(usage)
        return usage


def masked_fault(fault: Fault, connection: Connection) -> Fault:
    """A fault without the endpoint's keys, however a body spelled them."""
    masked = connection.secrets.masked_text
    return replace(fault, words=masked(fault.words), reply=masked(fault.reply))


def missing_reply(reply: NoReply) -> Fault:
    """The fault of a missing reply."""
    match reply.lacking:
        case "end":
            return Fault("long", shorten(reply.words))
        case "address":
            return Fault("address", reply.words)
        case "time":
            return Fault("retry", shorten(reply.words), timed_out=True, possibly_paid=reply.sent)
    return Fault("retry", shorten(reply.words), possibly_paid=reply.sent)


class _RetryState:
    """The state of a call's attempts.

    allowed: retries. first: seconds of the first attempt. grace: seconds in which faults do not count.
    timeouts: attempts of earlier processes that timed out. seconds: time limit of the last attempt.
    """

    def __init__(
        self,
        served: Served[Any],
        turns: Turns,
        allowed: int,
        first: float,
        grace: float,
        timeouts: int,
    ) -> None:
        self._served, self._turns, self._outage = served, turns, turns.outage
        self._allowed, self._first, self._grace, self._timeouts = allowed, first, grace, timeouts
        self._retried = self._changed = 0
        self._elapsed, self._started, self._graced = 0.0, 0.0, False
        self._answers = served.endpoint.answers
        self.seconds = first

    def next(self) -> AttemptInfo:
        """The parameters of the next attempt."""
        self._started, self._graced = perf_counter(), self._elapsed < self._grace
        self.seconds = self._first * 2 ** min(self._timeouts, LONGER)
        return AttemptInfo(self.seconds, self._graced, self._timeouts > 0)

    def may_change(self) -> bool:
        """Whether the request may be changed once more."""
        self._changed += 1
        return self._changed <= _CHANGES

    def seems_endless(self, fault: Fault) -> bool:
        """Whether the longest attempt timed out, or there is no further one."""
        self._timeouts += fault.timed_out
        return fault.timed_out and (self._timeouts > LONGER or self._retried >= self._allowed)

    def pause_after(self, fault: Fault) -> float:
        """Seconds to wait. Raises ServerError after the last retry."""
        served, answers = self._served, self._served.endpoint.answers
        if self._retried >= self._allowed and not self._graced:
            times = "once" if self._retried == 0 else f"{self._retried + 1} times"
            raise ServerError(
                f"{served.at()} failed {times}, last with: {fault.words}; the run can be resumed"
            )
        paced = fault.too_many and not self._graced  # a full tier gives the same error
        if paced and answers != self._answers:  # the server accepts some, so this one's turn will come
            self._retried = 0
        if not self._retried or self._graced:
            self._answers = answers
        elif self._retried >= PATIENCE and answers == self._answers:
            self._outage.begin()
            served.endpoint.silent(_outage_in_words(fault, self._allowed - self._retried))
        return 0.0 if paced else served.pause(fault, max(self._retried, self._outage.tries))

    def waited(self, pause: float) -> None:
        """The attempt is over, with the pause after it."""
        lasted = max(perf_counter() - self._started, pause)
        self._turns.lasted(lasted)
        self._elapsed += lasted
        self._retried = 0 if self._graced and self._elapsed >= self._grace else self._retried + 1


def _outage_in_words(fault: Fault, left: int) -> str:
    """Why there is no answer, and for how long calls try again. left: retries of a call."""
    doubled = sum(min(LAST_WAIT, FIRST_WAIT * 2 ** min(n, 30)) for n in range(PATIENCE, PATIENCE + left))
    seconds = doubled if fault.wait is None else 1.1 * fault.wait * left
    tries = "once more" if left == 1 else f"{left} times more"
    return (
        f"({fault.words}); calls to it wait, and one of them is tried {tries}, with waits of up to "
        f"{seconds:.0f} s in all"
    )


def _endpoint(
    who: str, model: str, provider: Provider, settings: ServerSettings, budget: Budget | None
) -> Endpoint:
    """The endpoint that `settings` name, its limits set. `who` ("model 'x'") begins the ModelErrors."""
    named = address_of(provider.name, settings.base_url)
    if named is None:
        raise ModelError(f"{who} needs base_url, the address of its server")
    url, query = address_and_query(named)
    if provider.name == "azure":
        url, usual = azure_address(url, model)
        query = usual | query
    query |= settings.query or {}
    if budget is not None and budget.usd is not None and settings.price is None:
        raise ModelError(f"{who} needs price for a budget in USD; a free one has price {{input: 0}}")
    variable = settings.api_key_env or provider.key
    own = variable if is_own(provider, url, variable) else None
    headers = tuple((settings.headers or {}).items())
    shared = endpoint(url, variable, EndpointAccess(provider.key_header, headers, tuple(query.items()), own))
    most = settings.max_in_flight or provider.in_flight
    if most is not None:
        shared.at_most(most)
    if settings.requests_per_minute is not None:
        shared.at_rate(settings.requests_per_minute)
    return shared
