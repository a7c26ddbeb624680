"""What chat models and embedders behind a server share: settings, an endpoint, attempts, retries, costs.

A path and a body go out, a JSON object or a `Fault` comes back. It is not known here what is asked nor what
an answer is worth.

**What an attempt costs.** The most that it may take is set aside before it goes out. An answer is counted by
what its server counted. An attempt that brought no answer although it was sent (it was not over in time, or
the connection broke) may have been paid for: all that was set aside counts as possibly paid.
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
from .dialect import NOT_JSON, Dialect, TokenCounts, decoded, events_of, looks_like_stream
from .endpoints import Connection, Endpoint, EndpointAccess, Outage, Turns, endpoint, is_own
from .faults import Fault, shorten
from .http import LARGEST_REPLY, HttpReply, HttpRequest, NoReply
from .keys import check_plain, check_variable, public_url, refused_key
from .providers import MAX_IN_FLIGHT, Provider, address_and_query, azure_address, check_url

Classify = Callable[[int, object, Mapping[str, str]], Fault]
"""status, decoded error body, headers → the fault behind them."""

FIRST_WAIT, LAST_WAIT = 0.5, 60.0
"""Seconds before the first retry, and the most that doubling leads to."""
PATIENCE = 2
"""Retries of a call in which nobody is answered, until it is told of."""
LONGER = 2
"""An attempt that was not over in time is followed by one with twice the time, and that often."""
_CHANGES = 20
"""How often a request is changed at most because of what its server refuses."""

_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_NO_HEADERS: Mapping[str, str] = {}
_LONG = 2**19
"""Bytes of a body that is read in a thread of its own, so that others have their turn: millions of events can
stand in one.
"""


_UNBOUND = Budget()
"""Of calls whose budget nobody counts."""


class HttpAnswer(NamedTuple):
    """A JSON object that came back. seconds: that the server took."""

    body: dict[str, Any]
    seconds: float


T = TypeVar("T")


class Failed(NamedTuple):
    """An attempt that brought no answer. spent: what it took for certain. again: the next one is made at
    once, for something in it was changed. reason: why there is no answer.
    """

    fault: Fault
    spent: Usage | None = None
    again: bool = False
    reason: FinishReason = FinishReason.LOST


class AttemptInfo(NamedTuple):
    """What an attempt is told of those before it. seconds: for this one. graced: its faults count for
    nothing. timed_out: one before was not over in time.
    """

    seconds: float
    graced: bool = False
    timed_out: bool = False


class CallSize(NamedTuple):
    """What is known of a call before it is made.

    estimated: tokens of its prompt; 0: it costs nothing. kind: of what is asked. limit: tokens of the reply,
    None without one.
    """

    estimated: int
    kind: str = ""
    limit: int | None = 0


NO_SIZE = CallSize(0)
HEALTH_CHECK = "health check"
"""What is asked by a call that asks whether the server answers."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What can be set for whatever is behind HTTP. Raises ModelError, naming the setting.

    headers, query: sent with every request; ``${NAME}`` stands for what the environment has under that name.
    requests_per_minute: sent at most. timeout: seconds for one attempt; one after an attempt that was not
    over has up to four times as many. retries: attempts after the first. longest_wait: seconds; a server that
    asks for more has failed. longest_outage: seconds for which a server that answers nobody is waited for.
    max_reply_bytes: of one reply; what is longer is read no further and is an unusable reply. price: USD per
    million tokens. extra: more fields of the request's body, passed on as they are.
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
        """Which server, as errors begin."""
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
        """What `attempt` gives at last.

        size: of the call, for the budget. retries: instead of the setting. grace: seconds in which faults
        count for nothing. timeout: seconds of the first attempt, instead of the setting. endless: gets how
        long the last attempt was given; what a call comes to whose reply does not end although the server
        answers now, None where it does not.
        Raises ModelError and ServerError for what no retry mended, BudgetExceeded, and Stopped.
        """
        allowed = self.settings.retries if retries is None else retries
        call, seconds = open_call(), timeout or self.settings.timeout
        # A call that waits for its retry keeps its place: a server in trouble sees fewer calls, not more.
        async with connection.slots, connection.outage.turns() as turns:
            state = _RetryState(self, turns, allowed, seconds, grace, call.timeouts)
            while True:
                await turns.mine()
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
        """What a call came to at a server that answers."""
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
        """An attempt, at the server's rate and with the most that it may take set aside. What it takes
        without an answer is counted and told. begin: called when it is about to be made.
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
        """An attempt without a reply took so much, or may have."""

    async def _wait(self, seconds: float) -> None:
        """Before the next attempt; Stopped where no call may start any more."""
        if self._budget is None:
            await self._sleep(seconds)
        else:
            await self._budget.while_open(self._sleep(seconds))

    def _holding(self, size: CallSize) -> Hold:
        return (self._budget or _UNBOUND).hold(lambda: self._most(size))

    def _most(self, size: CallSize) -> CallLimit:
        """What a call of that size may use at most, as far as it is known by now."""
        if size.estimated == 0:
            return CallLimit()
        prompt, reply = self._sizes.most(*size)
        cost = (self.settings.price or Price()).cost(prompt, reply or 0, written=prompt)
        at_once = self._sizes.at_once(size.limit)
        return CallLimit(Usage(prompt, reply or 0, 0, cost), self._which, at_once, at_once > 0)

    def check_refused(self) -> None:
        """Raise ModelRefused where a call would be refused, as an earlier one was. Nothing is asked."""
        if why := self.endpoint.refused(self.model):
            raise ModelRefused(why)

    def _raise_if_given_up(self, outage: Outage) -> None:
        """Raise what a call would meet: a refusal, or a server that has answered nobody for too long."""
        self.check_refused()
        if outage.seconds >= self.settings.longest_outage:
            raise ServerError(
                f"{self.at()} has answered nobody for {outage.seconds:.0f} s, and longest_outage is "
                f"{self.settings.longest_outage:g} s: resume the run later"
            )

    def pause(self, fault: Fault, waited: int) -> float:
        """Seconds: what the server asked for, else doubling; spread, so that calls do not return at once."""
        if fault.wait is not None:
            return fault.wait * (1 + 0.1 * self._jitter())
        return float(min(LAST_WAIT, FIRST_WAIT * 2 ** min(waited, 30)) * (0.5 + 0.5 * self._jitter()))

    def _raise_if_hopeless(self, fault: Fault) -> None:
        """Raise ModelError or ServerError for what no retry can mend."""
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
        """Send `body` to `path`, or to an address. Everything that can go wrong in it comes back as a Fault.

        wanted: the field without which an answer with an `error` is that error: routers pass on another
        server's under status 200. dialect: in which a stream of events is read.
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
            read: HttpAnswer | Fault = _missing(reply)
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
        """See `_post`; keys that a body spells otherwise may be left in a fault's words."""
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
        """The address of a path at the endpoint, with the query that it wants."""
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
        """What so many tokens cost, taken from the budget. size: of the call that took them. tier: in which
        it was served.
        """
        prompt, completion, cached, written = counts
        if size.kind != HEALTH_CHECK:  # what a server adds to a word tells little of long prompts
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


def _missing(reply: NoReply) -> Fault:
    """The fault behind a reply that has not come."""
    match reply.lacking:
        case "end":
            return Fault("long", shorten(reply.words))
        case "address":
            return Fault("address", reply.words)
        case "time":
            return Fault("retry", shorten(reply.words), timed_out=True, possibly_paid=reply.sent)
    return Fault("retry", shorten(reply.words), possibly_paid=reply.sent)


class _RetryState:
    """How a call's attempts have gone so far, and what follows from that.

    allowed: retries. first: seconds of the first attempt. grace: seconds in which faults count for nothing.
    timeouts: attempts of earlier processes that were not over in time. seconds: of the last attempt.
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
        """What the next attempt is told."""
        self._started, self._graced = perf_counter(), self._elapsed < self._grace
        self.seconds = self._first * 2 ** min(self._timeouts, LONGER)
        return AttemptInfo(self.seconds, self._graced, self._timeouts > 0)

    def may_change(self) -> bool:
        """Whether something in the request may be changed once more."""
        self._changed += 1
        return self._changed <= _CHANGES

    def seems_endless(self, fault: Fault) -> bool:
        """Whether the longest attempt was not over in time, or there is no further one."""
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
        paced = fault.too_many and not self._graced  # a tier without room says the same
        if paced and answers != self._answers:  # the server takes some, so the turn of this one comes
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
    """Why there is no answer, and for how long it is tried again. left: retries of a call."""
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
    named = settings.base_url or provider.base_url
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
