"""The test server with batch services: OpenAI's files and batches, and Anthropic's message batches.

It speaks the vendors' words, as their documentation has them. `ran` counts every request that it ran, and so
charges for. What goes wrong is set before: `fates` for batches in the order in which they are begun,
`troubles` for requests to an address.
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from http_server import FakeServer, as_chat, as_message

Lines = list[dict[str, Any]]


@dataclass(frozen=True)
class Fate:
    """What becomes of a batch. polls: looks at it before it is over. ran: how many requests were run (None:
    all); the rest expired. failed: code and message of a batch that is refused as a whole. errors: place,
    status and error of single requests. shuffled: results in another order. damaged: a line that is cut.
    strange: a result of a request that nobody made. lost: the results are no longer there.
    """

    polls: int = 1
    ran: int | None = None
    failed: tuple[str, str] | None = None
    errors: tuple[tuple[int, int, dict[str, Any]], ...] = ()
    shuffled: bool = False
    damaged: int | None = None
    strange: bool = False
    lost: bool = False


@dataclass
class Batch:
    """One batch. listed: whether it stands in the list."""

    id: str
    name: str
    lines: Lines
    fate: Fate
    created: float
    polls: int = 0
    results: list[Any] | None = None

    @property
    def over(self) -> bool:
        return self.results is not None


@dataclass
class BatchServer(FakeServer):
    """See the module. troubles: (method and the address's last part, kind): "404", "429", "500", "lost" (it
    is done, and the connection breaks before the answer), "hangup" (nothing is done). queue: the most
    requests of a batch; a larger one is refused as a whole.
    """

    fates: deque[Fate] = field(default_factory=deque)
    troubles: deque[tuple[str, str]] = field(default_factory=deque)
    batches: list[Batch] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    ran: Counter[str] = field(default_factory=Counter)
    page: int = 100
    queue: int | None = None

    def _add_routes(self, app: web.Application) -> None:
        for method, path, handler in (
            ("POST", "/v1/files", self._upload),
            ("GET", "/v1/files/{id}/content", self._content),
            ("POST", "/v1/batches", self._begin),
            ("GET", "/v1/batches", self._list),
            ("GET", "/v1/batches/{id}", self._look),
            ("POST", "/v1/messages/batches", self._begin),
            ("GET", "/v1/messages/batches", self._list),
            ("GET", "/v1/messages/batches/{id}", self._look),
            ("GET", "/v1/messages/batches/{id}/results", self._results),
        ):
            app.router.add_route(method, path, self._troubled(handler))

    def _troubled(self, handler: Any) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            what = f"{request.method} {request.path.removesuffix('/content').rpartition('/')[2]}"
            if not self._authorised(request):
                return self._error(401, "Incorrect API key provided", code="invalid_api_key")
            kind = (
                self.troubles.popleft()[1] if self.troubles and what.startswith(self.troubles[0][0]) else ""
            )
            if kind in ("404", "429", "500"):
                return self._error(int(kind), "The server had a bad moment")
            reply: web.StreamResponse = web.Response() if kind == "hangup" else await handler(request)
            if kind:
                assert request.transport is not None
                request.transport.abort()
            return reply

        return handle

    # -- requests in ------------------------------------------------------------------------

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"].file.read()  # type: ignore[union-attr]
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _begin(self, request: web.Request) -> web.Response:
        body = await request.json()
        fate = self.fates.popleft() if self.fates else Fate()
        if request.path == "/v1/batches":
            assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
            lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
            assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
            name = body["metadata"]["wolflab"]
        else:
            lines = [one | {"body": one.pop("params")} for one in body["requests"]]
            assert all(len(line["custom_id"]) <= 64 for line in lines)
            name = ""
        assert not any(line["body"].get("stream") for line in lines)
        ids = {line["custom_id"] for line in lines}
        assert len(ids) == len(lines)
        if self.queue is not None and len(lines) > self.queue:
            fate = Fate(failed=("token_limit_exceeded", "Enqueued token limit reached for wolf-1."))
        self.batches.append(Batch(f"batch_{len(self.batches)}", name, lines, fate, time.time()))
        return self._shown(request, self.batches[-1])

    # -- batches ----------------------------------------------------------------------------

    async def _look(self, request: web.Request) -> web.Response:
        batch = self._batch(request)
        if batch is None:
            return self._error(404, "No batch found")
        self._go_on(batch)
        return self._shown(request, batch)

    def _go_on(self, batch: Batch) -> None:
        batch.polls += 1
        if batch.polls > batch.fate.polls and not batch.over:
            self._run(batch)

    def _batch(self, request: web.Request) -> Batch | None:
        return next((one for one in self.batches if one.id == request.match_info["id"]), None)

    def _run(self, batch: Batch) -> None:
        fate, results = batch.fate, list[Any]()
        failing = {place: (status, error) for place, status, error in fate.errors}
        for place, line in enumerate(batch.lines if fate.failed is None else ()):
            if fate.ran is not None and place >= fate.ran:
                results.append((line["custom_id"], None, None))
                continue
            refused = failing.get(place) or self._refused(line["body"])
            if refused is not None:
                results.append((line["custom_id"], *refused))
                continue
            self.ran[json.dumps(line["body"]["messages"])] += 1
            results.append((line["custom_id"], 200, self._completion(as_chat(line["body"]))))
        if fate.strange:
            results.append(("somebody-elses", 200, results[0][2]))
        batch.results = results[::-1] if fate.shuffled else results

    def _refused(self, body: dict[str, Any]) -> tuple[int, Any] | None:
        refusal = self._refusal(as_chat(body))
        return None if refusal is None else (refusal.status, json.loads(refusal.text or "{}"))

    async def _list(self, request: web.Request) -> web.Response:
        after = request.query.get("after") or request.query.get("after_id")
        newest = self.batches[::-1]
        at = next((n + 1 for n, one in enumerate(newest) if one.id == after), 0)
        part = newest[at : at + self.page]
        for batch in part:
            self._go_on(batch)
        data = [self._state(request, one) for one in part]
        more = at + self.page < len(newest)
        return web.json_response({"object": "list", "data": data, "has_more": more})

    def _shown(self, request: web.Request, batch: Batch) -> web.Response:
        return web.json_response(self._state(request, batch))

    def _state(self, request: web.Request, batch: Batch) -> dict[str, Any]:
        n, fate = len(batch.lines), batch.fate
        done = [status for _, status, _ in batch.results or () if status == 200]
        if not request.path.startswith("/v1/messages"):
            ended = "failed" if fate.failed else "expired" if fate.ran is not None else "completed"
            files = {}
            if batch.over and not fate.failed:
                files = {"output_file_id": f"{batch.id}-output", "error_file_id": f"{batch.id}-error"}
            code, message = fate.failed or ("", "")
            errors = {"object": "list", "data": [{"code": code, "message": message, "line": None}]}
            return {
                "id": batch.id,
                "object": "batch",
                "status": ended if batch.over else "in_progress" if batch.polls else "validating",
                "created_at": int(batch.created),
                "metadata": {"wolflab": batch.name},
                "request_counts": {"total": n, "completed": len(done), "failed": 0},
                **({"errors": errors} if fate.failed and batch.over else {}),
                **files,
            }
        results = f"http://elsewhere.example/v1/messages/batches/{batch.id}/results"
        counts = {"succeeded": len(done), "processing": 0, "errored": n - len(done), "expired": 0}
        if not batch.over:
            counts = {"processing": n, "succeeded": 0, "errored": 0, "expired": 0}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.over else "in_progress",
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(batch.created)) + "Z",
            "request_counts": counts | {"canceled": 0},
            "results_url": results if batch.over else None,
        }

    # -- results out ------------------------------------------------------------------------

    async def _content(self, request: web.Request) -> web.Response:
        name, _, kind = request.match_info["id"].rpartition("-")
        batch = next(one for one in self.batches if one.id == name)
        if batch.fate.lost:
            return self._error(404, "No such File object")
        lines = [
            self._line(custom_id, status, body)
            for custom_id, status, body in batch.results or ()
            if (status == 200) == (kind == "output")
        ]
        return self._text(batch, lines, kind == "output")

    @staticmethod
    def _line(custom_id: str, status: int | None, body: Any) -> dict[str, Any]:
        if status is None:
            words = "This request could not be executed before the completion window expired."
            error = {"code": "batch_expired", "message": words}
            return {"id": "batch_req_1", "custom_id": custom_id, "response": None, "error": error}
        response = {"status_code": status, "request_id": "req_1", "body": body}
        return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}

    async def _results(self, request: web.Request) -> web.Response:
        batch = self._batch(request)
        assert batch is not None
        if batch.fate.lost:
            return self._error(404, "Not found")
        lines = []
        for custom_id, status, body in batch.results or ():
            if status is None:
                result: dict[str, Any] = {"type": "expired"}
            elif status == 200:
                result = {"type": "succeeded", "message": as_message(body)}
            else:
                kind = {400: "invalid_request_error", 429: "rate_limit_error"}.get(status, "api_error")
                inner = {"type": kind, "message": body["error"]["message"]}
                result = {"type": "errored", "error": {"type": "error", "error": inner}}
            lines.append({"custom_id": custom_id, "result": result})
        return self._text(batch, lines, True)

    @staticmethod
    def _text(batch: Batch, lines: Lines, may_be_damaged: bool) -> web.Response:
        texts = [json.dumps(line) for line in lines]
        if may_be_damaged and batch.fate.damaged is not None:
            texts[batch.fate.damaged] = texts[batch.fate.damaged][:25]
        return web.Response(text="".join(f"{text}\n" for text in texts), content_type="application/jsonl")
