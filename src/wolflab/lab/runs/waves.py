"""Asks a batch's items in waves: the next requests of all items go to the vendor's batch service together.

A wave is one request of each item that still needs one. Its replies are stored as calls of the same asker
under the same key, so that items, totals and resuming are as if each had been asked by itself. What needs
another request (an unusable reply, the next step) is in the next wave.

A vendor that takes only so much at once refuses a batch as a whole. The next wave to this model then has half
as many requests, and the rest follows when these are over.

A request that expired, or had an error that a retry may solve, is in the next wave too, `TRIES` times in all;
then its item waits, with the reason. What is with the vendor is on file (`storage.sent_batches`), and counts
as held by the budget: after a stop or a kill it is fetched, and not sent again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from secrets import token_hex
from typing import NamedTuple, Protocol

from ...errors import ModelRefused, ServerError, Stopped, WolflabError
from ...models.base import Model, Request, Response
from ...models.budget import Budget
from ...models.calls import LostAttempt, StoredCall, storable
from ...models.servers import batches
from ...models.servers.batches import BatchResults, BatchService, BatchState, RequestResult
from ...models.servers.chat import BatchedCall, ServerModel
from ...models.servers.http import HttpReply
from ...models.servers.quirks import CallHistory
from ...models.servers.served import Failed
from ...text.replies.finish import FinishReason
from ...usage import Usage
from ..storage.call_store import CallStore, StoredAttempt
from ..storage.packing import CallRow
from ..storage.sent_batches import BatchedRequest, SentBatch, sent_in_words
from .work import How, stoppable

LIST_DAYS = 29
"""The days for which vendors certainly know a batch."""
TRIES = 3
"""How often a request without a reply is sent in all."""
_AROUND = 200
"""Bytes around a request's body in a batch, at most: its `custom_id` and the names of fields."""


class WaveItem(Protocol):
    """What is asked; see `batch.BatchItem`."""

    name: str
    model: Model
    how: How | None

    def stop(self, how: How, why: str) -> None:
        """Keep the reason why it is not finished."""
        ...

    async def next_request(self, filed: Mapping[str, StoredCall]) -> Request | None:
        """The first request that is not stored; None if all are."""
        ...


class _Wanted(NamedTuple):
    """An item's next request. key, digest: its own. most: what it may use at most. body: as it is sent."""

    item: WaveItem
    key: str
    digest: str
    most: Usage
    body: bytes


_Asked = tuple[WaveItem, BatchedRequest, Request, BatchedCall]


@dataclass
class _Outcome:
    """What becomes of the requests of a batch, before it is stored. over: they are no longer with the vendor.
    again, given_up: items that may be asked again, and those that wait, with the reason.
    """

    over: list[BatchedRequest] = field(default_factory=list)
    calls: dict[str, list[CallRow]] = field(default_factory=dict)
    lost: list[StoredAttempt] = field(default_factory=list)
    again: list[tuple[WaveItem, str]] = field(default_factory=list)
    given_up: list[tuple[WaveItem, How, str]] = field(default_factory=list)


async def ask_in_waves(
    home: CallStore, items: Sequence[WaveItem], budget: Budget, news: Callable[[str], None]
) -> None:
    """Ask for all that items need, until each has all its replies or is stopped with a reason. news: is told
    what happens, in sentences.

    After Ctrl-C or SIGTERM nothing more is sent, and Interrupted is raised.
    """
    waves = _Waves(home, items, budget, news)
    try:
        with stoppable(budget):
            await waves.run()
    finally:
        await waves.close()


class _Waves:
    """See `ask_in_waves`. out: what is with the vendors and is waited for. held: what the budget holds, by
    batch. tries, histories: of each item's present request. limits: the most requests of a wave, by
    service, where a vendor took no more.
    """

    def __init__(
        self, home: CallStore, items: Sequence[WaveItem], budget: Budget, news: Callable[[str], None]
    ) -> None:
        self.home, self.budget, self.news = home, budget, news
        self.items = {item.name: item for item in items}
        self.services = {id(item.model): BatchService(_served(item.model)) for item in items}
        self.out: list[SentBatch] = []
        self.tries: Counter[str] = Counter()
        self.histories: dict[str, CallHistory] = {}
        self.held: dict[str, Usage] = {}
        self.limits: dict[str, int] = {}
        self.wave, self.cut = 0, False

    async def close(self) -> None:
        """Leave the connections, and give back what is held: another call of `ask_in_waves` holds it anew."""
        for name in [*self.held]:
            self._give_back(name)
        for service in self.services.values():
            await service.close()

    async def run(self) -> None:
        """All waves."""
        try:
            await self._take_up()
            while self.out or await self._send():
                await self._fetch()
        except Stopped as stop:
            self._stop(self.items.values(), "unfinished", str(stop))
            if told := sent_in_words(self.out):
                self.news(
                    f"{told}, which goes on with them and charges for them; the same command fetches them"
                )

    # -- what earlier processes sent --------------------------------------------------------

    async def _take_up(self) -> None:
        """Take up what was sent before: look for batches of which it is not known whether they were begun."""
        for batch in self.home.sent_batches.all():
            self._hold(batch)
            if not (mine := self._items_of(batch)):
                continue  # it is fetched when its items are asked for
            self.out.append(batch)
            if not batch.vendor_id:
                await self._look_for(batch, self._service(mine[0]))
        if told := sent_in_words(self.out):
            self.news(f"{told}, from before; they are fetched, and not sent again")

    async def _look_for(self, batch: SentBatch, service: BatchService) -> None:
        known = {one.vendor_id for one in self.home.sent_batches.all()}
        try:
            asked = batch.name, len(batch.requests), batch.begun, known
            state = await service.find(*asked)
            if state is None:  # `begun` is before an upload that may have been long
                await service.sleep(batches.SETTLE)
                state = await service.find(*asked)
        except WolflabError as error:
            if isinstance(error, Stopped):
                raise
            self._keep_out(batch, error)
            return
        if state is None:
            self._drop(batch)
            self.news(
                f"Batch {batch.name} was never begun at {service.form.vendor}; its requests are sent anew"
            )
        else:
            self._has_id(batch, state.id)

    def _keep_out(self, batch: SentBatch, error: WolflabError) -> None:
        """A batch stays on file as it is, and its items wait; the same command looks for it again."""
        self.out.remove(batch)
        self._stop(self._items_of(batch), _how(error), str(error))

    def _drop(self, batch: SentBatch) -> None:
        """A batch was not begun."""
        self.out.remove(batch)
        self._give_back(batch.name)
        self.home.settle(batch.name, batch.requests, {})

    def _has_id(self, batch: SentBatch, vendor_id: str) -> None:
        self.home.sent_batches.has_id(batch.name, vendor_id)
        self.out[self.out.index(batch)] = batch._replace(vendor_id=vendor_id)

    # -- sending ----------------------------------------------------------------------------

    async def _send(self) -> bool:
        """Send the next wave. Returns whether anything is out, or still to be sent."""
        self.wave, self.cut = self.wave + 1, False
        with_vendor = {
            (one.asker, one.key) for batch in self.home.sent_batches.all() for one in batch.requests
        }
        items = sorted(self.items.values(), key=lambda item: item.model.name)
        for _, mine in groupby(items, key=lambda item: id(item.model)):
            await self._send_to(list(mine), with_vendor)
        return bool(self.out) or self.cut

    async def _send_to(self, items: Sequence[WaveItem], with_vendor: set[tuple[str, str]]) -> None:
        """Send the next requests of one model's items, in as many batches as the vendor's limits need."""
        service, wanted, size, most = self._service(items[0]), list[_Wanted](), 0, Usage()
        form, left = service.form, self.limits.get(service.name, len(items))
        for item in items:
            if not left:
                self.cut = True
                break
            one = await self._wanted(item, with_vendor)
            if one is None:
                continue
            length = len(one.body) + _AROUND
            if length > form.most_bytes:
                item.stop("unfinished", f"a request is longer than a batch of {form.vendor} may be")
                continue
            if not self.budget.has_room(most + one.most):
                if self.budget.closed:
                    raise Stopped(self.budget.closed)
                if wanted or self.out:
                    self.cut = True
                    break  # the rest is in a later wave, once these have given back what they did not use
                item.stop("unfinished", self.budget.shortage(one.most))
                continue
            full = len(wanted) == form.most_requests or size + length > form.most_bytes
            if wanted and full:
                await self._submit(service, wanted)
                wanted, size, most = [], 0, Usage()
            wanted.append(one)
            left -= 1
            size, most = size + length, most + one.most
        if wanted:
            await self._submit(service, wanted)

    async def _wanted(self, item: WaveItem, with_vendor: set[tuple[str, str]]) -> _Wanted | None:
        """An item's next request; None if it needs none, is stopped, or has one with the vendor already."""
        model = _served(item.model)
        while item.how is None:
            request = await item.next_request(self.home.filed(item.name))
            if request is None or (item.name, request.key) in with_vendor:
                break
            try:
                model.check_refused()
            except ModelRefused as error:
                item.stop("unfinished", str(error))
                break
            call, digest = model.batched(request), request.digest(False)
            if isinstance(call, Response):  # it does not fit the model's window, and is not sent
                self.home.settle("", (), {item.name: [CallRow(request.key, digest, model.name, call)]})
                continue
            if call.limited or (self.budget.tokens is None and self.budget.usd is None):
                return _Wanted(item, request.key, digest, call.most, self._service(item).body(call))
            item.stop(
                "unfinished",
                f"model {model.name!r}: nothing limits its replies, so that no budget covers a batch; "
                "set max_tokens, or leave out the budget",
            )
        return None

    async def _submit(self, service: BatchService, wanted: Sequence[_Wanted]) -> None:
        """Send one batch: note it, begin it, keep its id."""
        name = f"wolflab-{token_hex(8)}"
        rows = tuple(
            BatchedRequest(f"{name}-{place}", one.item.name, one.key, one.digest, one.most)
            for place, one in enumerate(wanted)
        )
        batch = SentBatch(name, service.name, time.time(), "", rows)
        known = {one.vendor_id for one in self.home.sent_batches.all()}
        self.home.sent_batches.note(batch)
        self.out.append(batch)
        self._hold(batch)
        lines = [service.form.line(row.custom_id, one.body) for row, one in zip(rows, wanted, strict=True)]
        try:
            state = await service.begin(name, lines, batch.begun, known)
        except Stopped:
            raise
        except ModelRefused as error:
            self._drop(batch)
            self._stop((one.item for one in wanted), "unfinished", str(error))
        except ServerError as error:
            self._keep_out(batch, error)
        except WolflabError as error:
            self._drop(batch)
            self._stop((one.item for one in wanted), "failed", str(error))
        else:
            self._has_id(batch, state.id)
            self.news(
                f"Wave {self.wave}: {_requests(len(wanted))} with {service.form.vendor} as batch {state.id} "
                "(up to 24 hours, usually less)"
            )

    # -- fetching ---------------------------------------------------------------------------

    async def _fetch(self) -> None:
        """Wait until all that is out is over, and store what it brought."""
        pause, stored = batches.FIRST_POLL, 0
        # Of all batches, before a refusal in the first one changes how requests are written.
        asked = {batch.name: await self._asked(batch) for batch in self.out}
        again: list[tuple[WaveItem, str]] = []
        while self.out:
            for batch in [*self.out]:
                service = self._service(next(iter(self._items_of(batch))))
                try:
                    state = await service.state(batch.vendor_id)
                    if state is not None and not state.over:
                        continue
                    if state is None and time.time() - batch.begun < LIST_DAYS * 86_400:
                        raise ServerError(
                            f"{service.form.vendor} does not know batch {batch.vendor_id}, which it began "
                            "for this run: is it the same key and project? The batch stays on file, and the "
                            "same command asks for it again"
                        )
                    brought = BatchResults({}, 0, 0) if state is None else await service.results(state)
                except Stopped:
                    raise
                except WolflabError as error:
                    self._keep_out(batch, error)
                    continue
                outcome = self._outcome(batch, service, state, brought, *asked[batch.name])
                self.home.settle(batch.name, outcome.over, outcome.calls, outcome.lost)
                self.out.remove(batch)
                self._give_back(batch.name)
                over = {one.custom_id for one in outcome.over}
                if rest := tuple(one for one in batch.requests if one.custom_id not in over):
                    self._hold(batch._replace(requests=rest))  # of items that are not asked for now
                stored += sum(map(len, outcome.calls.values()))
                if state is not None and state.crowded and len(batch.requests) > 1:
                    self.limits[service.name] = (len(batch.requests) + 1) // 2
                else:
                    again += outcome.again
                for item, how, why in outcome.given_up:
                    item.stop(how, why)
                self._tell(batch, service, state, brought, outcome)
                pause = batches.FIRST_POLL
            if self.out:
                await service.sleep(pause)
                pause = min(2 * pause, batches.LAST_POLL)
        self._try_again(again, stored > 0)

    def _try_again(self, again: Sequence[tuple[WaveItem, str]], some: bool) -> None:
        """Count the tries. some: the wave brought replies, so that a vendor with too much to do gets on."""
        for item, why in again:
            if not (some and why.startswith(_CROWDED)):
                self.tries[item.name] += 1
            if self.tries[item.name] >= TRIES:
                item.stop("unfinished", f"{why} ({TRIES} times)")

    async def _asked(self, batch: SentBatch) -> tuple[list[BatchedRequest], list[_Asked]]:
        """The requests of a batch that are stored already (before a kill), and those that need a result."""
        stored, asked = list[BatchedRequest](), list[_Asked]()
        for one in batch.requests:
            item = self.items.get(one.asker)
            if item is None:
                continue  # it stays on file until its item is asked for
            filed = self.home.filed(item.name)
            request = await item.next_request(filed)
            if request is None or request.key != one.key:
                if one.key in filed:
                    stored.append(one)
                continue
            call = _served(item.model).batched(request)
            assert isinstance(call, BatchedCall)
            asked.append((item, one, request, call))
        return stored, asked

    def _outcome(
        self,
        batch: SentBatch,
        service: BatchService,
        state: BatchState | None,
        brought: BatchResults,
        stored: list[BatchedRequest],
        asked: list[_Asked],
    ) -> _Outcome:
        """What becomes of each request of a batch that is over. state: None if the vendor has none."""
        found = _Outcome([*stored, *(one for _, one, _, _ in asked)])
        for item, one, request, call in asked:
            result = brought.found.get(one.custom_id)
            if result is None or result.reply is None:
                self._without_reply(found, item, one, service, state, brought, result)
            else:
                self._with_reply(found, item, one, request, call, result.reply)
        return found

    def _with_reply(
        self,
        found: _Outcome,
        item: WaveItem,
        one: BatchedRequest,
        request: Request,
        call: BatchedCall,
        reply: HttpReply,
    ) -> None:
        model, history = _served(item.model), self.histories.setdefault(item.name, CallHistory())
        try:
            outcome = model.batch_reply(request, call, reply, history)
        except WolflabError as error:
            found.given_up.append((item, _how(error), str(error)))
            return
        if isinstance(outcome, Failed):
            if outcome.spent is not None:
                lost = LostAttempt(outcome.reason, outcome.spent, False)
                found.lost.append(StoredAttempt(item.name, one.key, model.name, lost))
            elif outcome.fault.possibly_paid or reply.status == 200:
                self._possibly_paid(found, item, one)
            if not outcome.again:
                found.again.append((item, f"{model.at()} answered in a batch: {outcome.fault.words}"))
            return
        row = CallRow(one.key, one.request, model.name, storable(outcome))
        found.calls.setdefault(item.name, []).append(row)
        self.tries.pop(item.name, None)
        self.histories.pop(item.name, None)

    def _without_reply(
        self,
        found: _Outcome,
        item: WaveItem,
        one: BatchedRequest,
        service: BatchService,
        state: BatchState | None,
        brought: BatchResults,
        result: RequestResult | None,
    ) -> None:
        """A request that has no reply. It may have been paid for, unless the vendor says otherwise."""
        vendor = service.form.vendor
        if result is not None:
            why, paid, gone = f"{vendor}: {result.why}", result.paid, False
        elif state is None:
            why, paid, gone = f"{vendor} has no such batch any more", True, True
        elif state.refused:
            crowded = f"{_CROWDED} {vendor} already" if state.crowded else f"{vendor} refuses the batch"
            why, paid, gone = f"{crowded}: {state.refused}", False, not state.crowded
        elif brought.missing or (not state.outputs and state.status in _RAN):
            why, paid, gone = f"{vendor} does not have the results of the batch any more", True, True
        elif brought.damaged:
            why, paid, gone = f"{vendor} sent a damaged line in place of the result", True, False
        else:
            why, paid, gone = f"{vendor} sent no result of it (the batch is {state.status})", False, False
        if paid:
            self._possibly_paid(found, item, one)
        if gone:
            found.given_up.append((item, "unfinished", why))
        else:
            found.again.append((item, why))

    def _possibly_paid(self, found: _Outcome, item: WaveItem, one: BatchedRequest) -> None:
        self.budget.add(one.most, possibly=True)
        lost = LostAttempt(FinishReason.LOST, one.most, True)
        found.lost.append(StoredAttempt(item.name, one.key, item.model.name, lost))

    def _tell(
        self,
        batch: SentBatch,
        service: BatchService,
        state: BatchState | None,
        brought: BatchResults,
        outcome: _Outcome,
    ) -> None:
        replies = sum(map(len, outcome.calls.values()))
        status = "gone" if state is None else state.status
        said = f"Batch {batch.vendor_id} ({status}): {replies:,} {'reply' if replies == 1 else 'replies'}"
        rest = len(outcome.over) - replies
        said += f", {rest:,} without one" if rest else ""
        strange = sum(not one.startswith(f"{batch.name}-") for one in brought.found)
        said += f"; {strange:,} results of other requests are ignored" if strange else ""
        said += f"; {brought.damaged:,} lines could not be read" if brought.damaged else ""
        said += f"; {brought.missing:,} files are not there" if brought.missing else ""
        self.news(said)

    # -- helpers ----------------------------------------------------------------------------

    def _hold(self, batch: SentBatch) -> None:
        self.held[batch.name] = batch.most
        self.budget.keep(batch.most)

    def _give_back(self, name: str) -> None:
        self.budget.keep(self.held.pop(name), -1)

    def _service(self, item: WaveItem) -> BatchService:
        return self.services[id(item.model)]

    def _items_of(self, batch: SentBatch) -> list[WaveItem]:
        return [self.items[one.asker] for one in batch.requests if one.asker in self.items]

    @staticmethod
    def _stop(items: Iterable[WaveItem], how: How, why: str) -> None:
        for item in items:
            if item.how is None:
                item.stop(how, why)


_CROWDED = "too much is with"
"""How the reason begins where a vendor takes no more before earlier batches are over."""
_RAN = ("completed", "ended")
"""The vendors' words for a batch whose requests were all run."""


def _requests(n: int) -> str:
    return "1 request is" if n == 1 else f"{n:,} requests are"


def _how(error: WolflabError) -> How:
    """As `work.work` ends an asker."""
    return "unfinished" if isinstance(error, ServerError | ModelRefused) else "failed"


def _served(model: Model) -> ServerModel:
    assert isinstance(model, ServerModel), model  # `batches.check_batch_service` has refused all others
    return model
