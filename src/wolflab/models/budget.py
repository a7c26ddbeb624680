"""Budgets of tokens and money that all models of a run share and that stop it cleanly.

A call sets aside the most that it may use before it starts, and gives back the rest when it is over. So calls
in flight together never use more than is left. A call's maximum follows from its prompt, the limit of its
reply, and earlier calls to the same model (`CallSizes`).
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from typing import Annotated, NamedTuple

from annotated_types import Interval

from ..errors import BudgetExceeded, Stopped
from ..fields import Amount
from ..usage import Spent, Usage

TokenPrice = Annotated[int | float, Interval(ge=0, le=1_000_000)]
"""USD per million tokens."""
BATCH = "batch"
"""The tier of a call that a vendor's batch service answered."""
WRITING = Decimal("1.25")
"""The price of a token written to a cache, relative to one that is not, where no price is given: the price of
most vendors that count these tokens.
"""


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens.

    cached: for prompt tokens that the server read from a cache (None: as input). written: for those that it
    put into one (None: `WRITING` times input). Their defaults make no call look cheaper than it was. flex,
    batch: the share of these prices for a call that was served in the tier "flex", or by the vendor's batch
    service.
    """

    input: TokenPrice = 0.0
    output: TokenPrice = 0.0
    cached: TokenPrice | None = None
    written: TokenPrice | None = None
    flex: Amount = 0.5
    batch: Amount = 0.5

    def cost(self, prompt: int, completion: int, cached: int = 0, written: int = 0, tier: str = "") -> float:
        """The price of one call in USD; `cached` and `written` are disjoint parts of `prompt`."""
        if self == _FREE:
            return 0.0
        read = min(cached, prompt)
        put = min(written, prompt - read)
        # In decimals, so that the float returned stands for the exact amount and sums stay exact.
        full = _exact(self.input)
        exact = (
            (prompt - read - put) * full
            + read * (full if self.cached is None else _exact(self.cached))
            + put * (full * WRITING if self.written is None else _exact(self.written))
            + completion * _exact(self.output)
        )
        share = {"flex": self.flex, BATCH: self.batch}.get(tier, 1)
        return float(exact * _exact(share) / 1_000_000)


_FREE = Price()
_NOTHING = Decimal()


def _exact(usd: float) -> Decimal:
    return Decimal(repr(float(usd))) if usd else _NOTHING


_FRAME = 64
"""Tokens of a prompt that no estimate counts: the server's own template around the messages."""
_UNSURE = 1.5
"""The factor for estimates of prompts before a server has counted one."""


class CallLimit(NamedTuple):
    """The most that a call may use. of: its model. at_once: how many of that model's calls may be made at
    once, 0 for any number. unlimited: nothing is sure to limit its reply, so that it may use more.
    """

    use: Usage = Usage()
    of: str = ""
    at_once: int = 0
    unlimited: bool = False


@dataclass(slots=True)
class CallSizes:
    """The use of calls to one model, from which the most that a further one may use follows.

    factor: the largest ratio of a prompt's counted tokens to its estimate; 0 before the first call. longest:
    tokens of the longest reply, by kind of ask. ignored: some reply was longer than allowed. seen: the number
    of replies.
    """

    factor: float = 0.0
    longest: dict[str, int] = field(default_factory=dict)
    ignored: bool = False
    seen: int = 0

    def at_once(self, limit: int | None) -> int:
        """How many calls may be made at once, 0 for any number. Where nothing is sure to limit replies, it is
        one more than there were replies, so that long ones show before many calls are in flight.
        """
        return 0 if self.seen and limit is not None and not self.ignored else 1 + self.seen

    def most(self, estimated: int, kind: str, limit: int | None) -> tuple[int, int | None]:
        """Tokens of prompt and reply that a call may take; None where nothing is known of the reply.

        estimated: of the prompt. limit: of the reply, None without one: the longest seen stands in.
        """
        prompt = _frame(limit) + ceil(estimated * (self.factor or _UNSURE))
        seen = self.longest.get(kind) or max(self.longest.values(), default=0)
        if limit is not None:
            return prompt, max(limit, seen) if self.ignored else limit
        return prompt, seen if self.longest else None

    def saw(self, estimated: int, kind: str, limit: int | None, prompt: int, completion: int) -> None:
        """Record the tokens of a call."""
        self.factor = max(self.factor, (prompt - _frame(limit)) / max(estimated, 1), 0.1)
        self.longest[kind] = max(self.longest.get(kind, 0), completion)
        self.seen += 1
        self.ignored |= limit is not None and completion > limit


def _frame(limit: int | None) -> int:
    """Tokens of the server's template. limit: of the reply; 0 for embedders, which have no template."""
    return 0 if limit == 0 else _FRAME


_SPENT = "the budget of"
_NEXT = "and the next call may take"


def read_shortage(words: str) -> tuple[str, float] | None:
    """The parts of the sentence of a spent budget (`Budget._falls_short`): the limit ("tokens", "usd"), and
    what the next call may take, 0.0 where it is missing; None for any other sentence.
    """
    found = re.match(rf"{_SPENT} \S+ (tokens|USD) is spent(?:.*?{_NEXT} ([\d,.]*\d))?", words)
    return None if found is None else (found[1].lower(), float((found[2] or "0").replace(",", "")))


@dataclass(slots=True, eq=False)
class Budget:
    """The most that a run may spend: `tokens` (prompt and completion) and `usd`; None sets no limit.

    A resumed run passes what was spent before (`usage.Spent`). Sums are exact and do not depend on the order
    in which calls finish (money is added as decimals). It belongs to one event loop. possibly_tokens,
    possibly_usd: the part of what was spent that may not have been charged. in_flight: calls that are held.
    short: the limits (tokens, usd) that left too little for a call, in words. sizes: of each model's calls,
    made by all that share the budget.
    """

    tokens: int | None = None
    usd: float | None = None
    spent_tokens: int = 0
    spent_usd: Decimal = field(default_factory=Decimal)
    possibly_tokens: int = 0
    possibly_usd: Decimal = field(default_factory=Decimal)
    in_flight: int = field(default=0, init=False)
    short: dict[str, str] = field(default_factory=dict, init=False)
    sizes: dict[str, CallSizes] = field(default_factory=dict, init=False)
    _held_tokens: int = field(default=0, init=False)
    _held_usd: Decimal = field(default_factory=Decimal, init=False)
    _held_of: Counter[str] = field(default_factory=Counter, init=False)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list, init=False)
    _closings: list[asyncio.Future[None]] = field(default_factory=list, init=False)
    _closed: str = field(default="", init=False)

    def begin(self, spent: Spent) -> None:
        """Count what was spent before."""
        self.spent_tokens, self.spent_usd, self.possibly_tokens, self.possibly_usd = spent

    @property
    def closed(self) -> str:
        """The sentence why no call may start any more; "" while calls may."""
        return self._closed

    def close(self, why: str) -> None:
        """Let no further call start: `hold` raises Stopped with these words. Calls that are held go on."""
        self._closed = why
        self._wake()
        for closing in self._closings:
            if not closing.done():
                closing.set_result(None)

    async def while_open(self, waiting: Awaitable[None]) -> None:
        """Await `waiting` while calls may start; Stopped once they may not."""
        closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closings.append(closing)
        waited = asyncio.ensure_future(waiting)
        try:
            if not self._closed:
                await asyncio.wait((waited, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._closings.remove(closing)
            done = waited.done()
            waited.cancel()
        if self._closed:
            raise Stopped(self._closed)
        if done:
            waited.result()

    def hold(self, most: Callable[[], CallLimit]) -> Hold:
        """Set aside the most that a call may use while it is made; wait until other calls have given enough
        back.

        most: computes this amount from what is known now. Returns an asynchronous context, which gives the
        amount. Raises BudgetExceeded where the rest does not cover it although no call holds anything, and
        Stopped.
        """
        return Hold(self, most)

    def _set_aside(self, wanted: CallLimit, sign: int = 1) -> None:
        self.in_flight += sign
        self._held_tokens += sign * wanted.use.tokens
        self._held_usd += sign * _exact(wanted.use.cost)
        self._held_of[wanted.of] += sign

    async def _room_for(self, most: Callable[[], CallLimit]) -> CallLimit:
        """The most that the call may use, once there is room for it."""
        while True:
            if self._closed:
                raise Stopped(self._closed)
            wanted = most()
            if self.tokens is None and self.usd is None:
                return wanted
            if self._has_room(wanted):
                return wanted
            if not self.in_flight:
                raise BudgetExceeded(f"{self._falls_short(wanted.use)}; raise it and resume the run")
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    def _has_room(self, wanted: CallLimit) -> bool:
        """Whether a call that may use `wanted` may start."""
        if 0 < wanted.at_once <= self._held_of[wanted.of]:
            return False
        left_tokens = None if self.tokens is None else self.tokens - self.spent_tokens - self._held_tokens
        left_usd = None if self.usd is None else _exact(self.usd) - self.spent_usd - self._held_usd
        return (left_tokens is None or (left_tokens > 0 and wanted.use.tokens <= left_tokens)) and (
            left_usd is None or (left_usd > 0 and _exact(wanted.use.cost) <= left_usd)
        )

    def _falls_short(self, use: Usage) -> str:
        """Note which limit stops a call that may use `use`. Returns the sentence."""
        if self.tokens is not None and max(use.tokens, 1) > self.tokens - self.spent_tokens:
            name, rest = "tokens", self.spent_tokens < self.tokens
            limit, used, needed = f"{self.tokens:,} tokens", f"{self.spent_tokens:,}", f"{use.tokens:,}"
            possibly = f"{self.possibly_tokens:,}" if self.possibly_tokens else ""
        else:
            name, rest = "usd", self.usd is not None and self.spent_usd < _exact(self.usd)
            limit, used, needed = f"{self.usd:g} USD", f"{self.spent_usd:.4f}", f"{use.cost:.4f}"
            possibly = f"{self.possibly_usd:.4f}" if self.possibly_usd else ""
        used += f" used, {possibly} of it possibly, by attempts without a reply" if possibly else " used"
        more = f", {_NEXT} {needed}" if rest else ""
        self.short[name] = f"{_SPENT} {limit} is spent ({used}{more})"
        return self.short[name]

    def has_room(self, use: Usage) -> bool:
        """Whether so much more may be used now."""
        return not self._closed and self._has_room(CallLimit(use))

    def shortage(self, use: Usage) -> str:
        """The sentence for a call that may use so much, where nothing is held and it has no room."""
        tokens, usd = self.spent_tokens + use.tokens, self.spent_usd + _exact(use.cost)
        if (self.tokens is None or tokens <= self.tokens) and (self.usd is None or usd <= _exact(self.usd)):
            return "the rest of the budget is held for what is with a vendor's batch service; raise it"
        return f"{self._falls_short(use)}; raise it and resume the run"

    def keep(self, use: Usage, sign: int = 1) -> None:
        """Set aside what a vendor's batch may use (sign -1: give it back), whether there is room or not: it
        is with the vendor. It counts as no call in flight, for nobody waits for its end after an interrupt.
        """
        self._held_tokens += sign * use.tokens
        self._held_usd += sign * _exact(use.cost)

    def add(self, usage: Usage, possibly: bool = False) -> None:
        """Count a call's usage. possibly: it is not known whether it was charged."""
        self.spent_tokens += usage.tokens
        self.spent_usd += _exact(usage.cost)
        if possibly:
            self.possibly_tokens += usage.tokens
            self.possibly_usd += _exact(usage.cost)


class Hold:
    """See `Budget.hold`."""

    __slots__ = ("_budget", "_most", "_wanted")

    def __init__(self, budget: Budget, most: Callable[[], CallLimit]) -> None:
        self._budget, self._most = budget, most

    async def __aenter__(self) -> CallLimit:
        self._wanted = await self._budget._room_for(self._most)
        self._budget._set_aside(self._wanted)
        return self._wanted

    async def __aexit__(self, *_: object) -> None:
        self._budget._set_aside(self._wanted, -1)
        self._budget._wake()
