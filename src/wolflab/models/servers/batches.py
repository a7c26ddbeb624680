"""Vendors' batch services: many requests to one model, sent together, answered within a day at half price.

OpenAI takes a file of requests, and a batch made of it (its guide "Batch API", its reference on files and on
batches). Anthropic takes the requests themselves (its guide "Batch processing", its reference on message
batches). A `BatchForm` has the words of one vendor; `BatchService` sends, retries and reads. It does not know
what is asked, and stores nothing: `lab.runs.waves` does.

**Nothing is sent twice.** A batch that may have been begun although no answer came is looked for before
another one is begun: OpenAI keeps a name with each batch, Anthropic gives the results' `custom_id` back,
which begins with that name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import msgspec

from ...errors import ModelError, ServerError, Stopped
from ..budget import Budget, CallLimit, Hold
from .chat import DIALECTS, BatchedCall, HttpSettings, ServerModel
from .dialect import decoded
from .endpoints import Connection
from .faults import Fault, of_status, shorten
from .http import HttpReply, HttpRequest, NoReply
from .providers import PROVIDERS, BatchFormName
from .served import AttemptInfo, CallSize, Failed, Served, masked_fault, missing_reply

FIRST_POLL, LAST_POLL = 5.0, 120.0
"""Seconds between two looks at a batch: at first, and at most after doubling."""
SETTLE = 60.0
"""Seconds after which a vendor's list shows every batch that was begun."""
_SKEW = 86_400.0
"""Seconds by which the clocks of vendor and of this machine may differ at most."""
_PATIENT = 600.0
"""Seconds in which a file of requests or results has to be transferred."""
_LARGEST = 2**30
"""Maximum bytes of a file of results."""
_JSON: Mapping[str, str] = {"Content-Type": "application/json"}
_NO_HEADERS: Mapping[str, str] = {}
_LONG = 2**19
"""Bytes of a line that is parsed in a thread of its own, so that the loop goes on."""
_PAGE = 100
"""Batches in one part of a vendor's list."""
_NAME = "wolflab"
"""The field of OpenAI's metadata with the name of a batch."""


class BatchState(NamedTuple):
    """A batch as the vendor has it.

    id, name: the vendor's, and ours ("" where it keeps none). over: nothing more will come. status: the
    vendor's word. outputs: addresses of results. requests: their number. begun: in seconds since 1970.
    refused: why no request of it was run, "" if any may have been; crowded: because too much is with the
    vendor already.
    """

    id: str
    name: str
    over: bool
    status: str
    outputs: tuple[str, ...]
    requests: int
    begun: float
    refused: str = ""
    crowded: bool = False


class RequestResult(NamedTuple):
    """The result of one request. reply: as the server would have sent it to a single request; None without
    one, and `why`. paid: the vendor may charge for it although there is no reply.
    """

    custom_id: str
    reply: HttpReply | None
    why: str = ""
    paid: bool = False


class BatchResults(NamedTuple):
    """What a batch brought. found: by custom_id. damaged: lines that could not be read. missing: files that
    the vendor names and does not have.
    """

    found: Mapping[str, RequestResult]
    damaged: int
    missing: int


class BatchForm(Protocol):
    """The words of a vendor's batch service.

    vendor: its name. path: of batches, after the base URL. most_requests, most_bytes: of one batch. after:
    the parameter of the list for what follows a batch.
    """

    vendor: str
    path: str
    most_requests: int
    most_bytes: int
    after: str

    def line(self, custom_id: str, body: bytes) -> bytes:
        """One request."""
        ...

    def upload(self, name: str, lines: Sequence[bytes]) -> bytes | None:
        """A form with the file of requests, its boundary `name`; None where there is no such file."""
        ...

    def begin(self, name: str, file: str, lines: Sequence[bytes]) -> bytes:
        """The body that begins a batch. file: the id of the uploaded one."""
        ...

    def state(self, body: Mapping[str, Any]) -> BatchState:
        """The state of a batch."""
        ...

    def result(self, line: Mapping[str, Any]) -> RequestResult:
        """The result in a line."""
        ...


class FilesAndBatches:
    """OpenAI's: a file with a request a line, a batch of it, a file of results and one of errors."""

    vendor = "openai"
    path = "/batches"
    most_requests, most_bytes = 50_000, 200_000_000
    after = "after"

    def line(self, custom_id: str, body: bytes) -> bytes:
        """See `BatchForm`."""
        request = {"custom_id": custom_id, "method": "POST", "url": _ENDPOINT}
        return _with_body(request, "body", body)

    def upload(self, name: str, lines: Sequence[bytes]) -> bytes:
        """See `BatchForm`. Every line begins with a brace, so that none is the boundary."""
        mark, disposition = f"--{name}\r\n", 'Content-Disposition: form-data; name="'
        head = (
            f'{mark}{disposition}purpose"\r\n\r\nbatch\r\n{mark}{disposition}file"; filename="{name}.jsonl"'
            "\r\nContent-Type: application/jsonl\r\n\r\n"
        )
        return b"".join((head.encode(), b"\n".join(lines), f"\r\n--{name}--\r\n".encode()))

    def begin(self, name: str, file: str, lines: Sequence[bytes]) -> bytes:
        """See `BatchForm`."""
        return msgspec.json.encode(
            {
                "input_file_id": file,
                "endpoint": _ENDPOINT,
                "completion_window": "24h",
                "metadata": {_NAME: name},
            }
        )

    def state(self, body: Mapping[str, Any]) -> BatchState:
        """See `BatchForm`."""
        status, counts = _text(body.get("status")), _mapping(body.get("request_counts"))
        files = (body.get(name) for name in ("output_file_id", "error_file_id"))
        errors = _mapping(body.get("errors")).get("data")
        first = _mapping(errors[0]) if isinstance(errors, list) and errors else {}
        code, words = _text(first.get("code")), shorten(_text(first.get("message")))
        failed = (words or code or "no reason is given") if status == "failed" else ""
        return BatchState(
            _text(body.get("id")),
            _text(_mapping(body.get("metadata")).get(_NAME)),
            status in ("completed", "failed", "expired", "cancelled"),
            status,
            tuple(
                f"/files/{quote(file, safe='')}/content" for file in files if isinstance(file, str) and file
            ),
            _number(counts.get("total")),
            float(_number(body.get("created_at"))),
            failed,
            bool(failed) and code == "token_limit_exceeded",
        )

    def result(self, line: Mapping[str, Any]) -> RequestResult:
        """See `BatchForm`."""
        custom_id, response = _text(line.get("custom_id")), line.get("response")
        if isinstance(response, Mapping) and isinstance(response.get("status_code"), int):
            return RequestResult(custom_id, _reply(response["status_code"], response.get("body")))
        error = _mapping(line.get("error"))
        code = _text(error.get("code"))
        ran = code not in ("batch_expired", "batch_cancelled")
        return RequestResult(custom_id, None, shorten(_text(error.get("message"))) or code or "no reply", ran)


class MessageBatches:
    """Anthropic's: the requests in one body, and one stream of results."""

    vendor = "anthropic"
    path = "/messages/batches"
    most_requests, most_bytes = 100_000, 256_000_000
    after = "after_id"

    def line(self, custom_id: str, body: bytes) -> bytes:
        """See `BatchForm`."""
        return _with_body({"custom_id": custom_id}, "params", body)

    def upload(self, name: str, lines: Sequence[bytes]) -> None:
        """See `BatchForm`."""

    def begin(self, name: str, file: str, lines: Sequence[bytes]) -> bytes:
        """See `BatchForm`."""
        return b'{"requests":[%s]}' % b",".join(lines)

    def state(self, body: Mapping[str, Any]) -> BatchState:
        """See `BatchForm`. The results are at their usual address: a key goes to no other server."""
        name, status = _text(body.get("id")), _text(body.get("processing_status"))
        there = status == "ended" and body.get("results_url") is not None
        return BatchState(
            name,
            "",
            status == "ended",
            status,
            (f"{self.path}/{quote(name, safe='')}/results",) if there else (),
            sum(map(_number, _mapping(body.get("request_counts")).values())),
            _seconds(body.get("created_at")),
        )

    def result(self, line: Mapping[str, Any]) -> RequestResult:
        """See `BatchForm`. What errored, expired or was canceled is not charged."""
        custom_id, result = _text(line.get("custom_id")), _mapping(line.get("result"))
        match result.get("type"):
            case "succeeded":
                return RequestResult(custom_id, _reply(200, result.get("message")))
            case "errored":
                error = _mapping(result.get("error"))
                kind = _text(_mapping(error.get("error")).get("type"))
                return RequestResult(custom_id, _reply(_STATUS.get(kind, 500), error))
            case "expired":
                return RequestResult(custom_id, None, "the batch expired before it was run")
            case "canceled":
                return RequestResult(custom_id, None, "the batch was canceled before it was run")
        return RequestResult(custom_id, None, "a result of no known type", True)


FORMS: Mapping[BatchFormName, BatchForm] = {
    "files-and-batches": FilesAndBatches(),
    "message-batches": MessageBatches(),
}
_ENDPOINT = "/v1/chat/completions"
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The statuses of Anthropic's types of errors (its reference on errors)."""


def _with_body(request: Mapping[str, str], field: str, body: bytes) -> bytes:
    return msgspec.json.encode({**request, field: msgspec.Raw(body)})


def _reply(status: int, body: object) -> HttpReply:
    return HttpReply(status, {}, msgspec.json.encode(body), 0.0)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _seconds(date: object) -> float:
    try:
        return datetime.fromisoformat(_text(date)).timestamp()
    except ValueError:
        return 0.0


# -- the service ------------------------------------------------------------------------------


def check_batch_service(model: object, name: str) -> None:
    """Raise ModelError for a model whose provider has no batch service that can be used."""
    if not isinstance(model, ServerModel) or model.provider.batches is None:
        known = " and ".join(provider.name for provider in PROVIDERS.values() if provider.batches)
        raise ModelError(
            f"--batch: model {name!r} has no batch service that Wolflab knows; those of {known} can be used. "
            "Leave out --batch, or name a model of theirs"
        )


class BatchService(Served[HttpSettings]):
    """The batch service beside a model: the same server, key, retries and outages. Its requests cost nothing
    of a budget by themselves; an interrupt ends its pauses.
    """

    def __init__(self, model: ServerModel) -> None:
        check_batch_service(model, model.name)
        super().__init__(
            model.name,
            model.model,
            model.provider,
            model.settings,
            budget=model._budget,
            sleep=model._sleep,
            jitter=model._jitter,
        )
        assert model.provider.batches is not None
        self.form, self.dialect = FORMS[model.provider.batches], DIALECTS[model.provider.dialect]

    def _holding(self, size: CallSize) -> Hold:
        return Budget().hold(CallLimit)

    def body(self, call: BatchedCall) -> bytes:
        """The body of one request."""
        return msgspec.json.encode(call.sent.body)

    async def sleep(self, seconds: float) -> None:
        """Wait; Stopped after an interrupt."""
        await self._wait(seconds)

    async def begin(
        self, name: str, lines: Sequence[bytes], begun: float, known: Collection[str]
    ) -> BatchState:
        """Begin a batch, or find it if an attempt without an answer has begun it.

        name: unique. begun: when it was first tried. known: ids of other batches.

        ServerError where it may have been begun or not: `find` says so later. ModelError: it was not begun.
        """
        connection, unsure = self._connection(), False
        for _ in range(self.settings.retries + 1):
            try:
                if unsure:
                    await self.sleep(SETTLE)
                    if (found := await self.find(name, len(lines), begun, known)) is not None:
                        return found
                state = await self._until_over(
                    connection, lambda info: self._begin_once(connection, info, name, lines), timeout=_PATIENT
                )
            except ModelError as error:
                if unsure and not isinstance(error, Stopped):  # it may have been begun
                    raise ServerError(str(error)) from error
                raise
            if state is not None:
                return state
            unsure = True
        raise ServerError(f"{self.at()} did not say whether it has begun a batch; the run can be resumed")

    async def _begin_once(
        self, connection: Connection, info: AttemptInfo, name: str, lines: Sequence[bytes]
    ) -> BatchState | Failed | None:
        """None where it is not known whether the batch was begun."""
        file, form = "", self.form.upload(name, lines)
        if form is not None:
            kind = {"Content-Type": f"multipart/form-data; boundary={name}"}
            sent = await self._exchange(connection, info, "POST", "/files", form, kind)
            if isinstance(sent, Fault):
                return Failed(self._of_batches(sent))
            file = _text(sent.get("id"))
        made = await self._exchange(
            connection, info, "POST", self.form.path, self.form.begin(name, file, lines), _JSON
        )
        if isinstance(made, Fault):
            lost = made.kind in ("retry", "long") and (made.possibly_paid or made.status >= 500)
            return None if lost else Failed(self._of_batches(made))
        state = self.form.state(made)
        return state if state.id else None

    def _of_batches(self, fault: Fault) -> Fault:
        """A fault with words for what an address that is not there means here."""
        if fault.status != 404:
            return fault
        words = f"there is no batch service at this address ({fault.words}); leave out --batch"
        return Fault("request", words, 404)

    async def find(self, name: str, requests: int, begun: float, known: Collection[str]) -> BatchState | None:
        """The batch that was begun under a name; None if there is none.

        Where the vendor keeps no names, one that is not over yet and may be the one is waited for: only its
        results show it. Stopped after an interrupt. See `begin`.
        """
        pause = FIRST_POLL
        while True:
            unsure = False
            for state in await self._listed(begun - _SKEW):
                if state.name == name:
                    return state
                if state.name or isinstance(self.form, FilesAndBatches):
                    continue
                if state.id in known or state.requests != requests:
                    continue
                if not state.over:
                    unsure = True
                elif any(one.startswith(f"{name}-") for one in (await self.results(state)).found):
                    return state
            if not unsure:
                return None
            await self.sleep(pause)
            pause = min(2 * pause, LAST_POLL)

    async def _listed(self, since: float) -> list[BatchState]:
        """The vendor's list, newest first, back to a time."""
        found: list[BatchState] = []
        last = ""
        while True:
            page = await self._get(f"{self.form.path}?limit={_PAGE}{last}")
            rows = page.get("data") if page is not None else None
            if page is None or not isinstance(rows, list):  # not the same as an empty list
                raise ServerError(f"{self.at()} does not list its batches; try again later")
            states = [self.form.state(row) for row in rows if isinstance(row, dict)]
            found += [state for state in states if state.begun >= since]
            if not page.get("has_more") or not states or states[-1].begun < since:
                return found
            last = f"&{self.form.after}={quote(states[-1].id, safe='')}"

    async def state(self, vendor_id: str) -> BatchState | None:
        """The state of a batch; None if the vendor has none of this id."""
        page = await self._get(f"{self.form.path}/{quote(vendor_id, safe='')}")
        return None if page is None else self.form.state(page)

    async def results(self, state: BatchState) -> BatchResults:
        """The results of a batch that is over."""
        found: dict[str, RequestResult] = {}
        damaged = missing = 0
        for path in state.outputs:
            content = await self._download(path)
            if content is None:
                missing += 1
                continue
            for line in BytesIO(content):
                if not line.strip():
                    continue
                said = await asyncio.to_thread(decoded, line) if len(line) > _LONG else decoded(line)
                result = self.form.result(said) if isinstance(said, dict) else None
                if result is None or not result.custom_id:
                    damaged += 1
                elif result.reply is not None or result.custom_id not in found:
                    found[result.custom_id] = result
        return BatchResults(found, damaged, missing)

    # -- exchanges --------------------------------------------------------------------------

    async def _get(self, path: str) -> dict[str, Any] | None:
        """The JSON object at an address; None for 404."""
        connection = self._connection()

        async def attempt(info: AttemptInfo) -> dict[str, Any] | Failed | None:
            said = await self._exchange(connection, info, "GET", path)
            if isinstance(said, Fault):
                return None if said.status == 404 else Failed(said)
            return said

        return await self._until_over(connection, attempt)

    async def _download(self, path: str) -> bytes | None:
        """The file at an address; None for 404."""
        connection = self._connection()

        async def attempt(info: AttemptInfo) -> bytes | Failed | None:
            reply = await self._send(connection, info, "GET", path)
            if isinstance(reply, Fault):
                return None if reply.status == 404 else Failed(reply)
            return reply.body

        return await self._until_over(connection, attempt, timeout=_PATIENT)

    async def _exchange(
        self,
        connection: Connection,
        info: AttemptInfo,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> dict[str, Any] | Fault:
        """The JSON object that the server answers with."""
        reply = await self._send(connection, info, method, path, body, headers)
        if isinstance(reply, Fault):
            return reply
        said = decoded(reply.body)
        if isinstance(said, dict):
            return said
        return Fault("retry", "an answer that is not a JSON object", possibly_paid=True)

    async def _send(
        self,
        connection: Connection,
        info: AttemptInfo,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> HttpReply | Fault:
        """The server's answer, without its keys."""
        request = HttpRequest(
            method,
            self._address(connection, path),
            {"Accept": "*/*", **self.dialect.headers, **headers, **connection.headers},
            body,
            _LARGEST,
            repeatable=body is None,
        )
        reply = await connection.client.request(request, info.seconds)
        if isinstance(reply, NoReply):
            return masked_fault(missing_reply(reply), connection)
        content = connection.secrets.masked(reply.body)
        if 200 <= reply.status < 300:
            return reply._replace(body=content)
        said = decoded(content)
        words = said if isinstance(said, dict) else content.decode("utf-8", "replace")
        return masked_fault(of_status(reply.status, words, reply.headers, sent=()), connection)
