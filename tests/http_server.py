"""A small server on 127.0.0.1 that knows only the prompt's text, and can misbehave.

It speaks chat completions and Anthropic's Messages, whole and as streams. It answers by reading: the reply's
format block, the options listed in it, the players to be judged. Its choices are a hash of the prompt, so
that the same prompt gets the same reply, in either dialect. `serving` runs it in the running event loop,
`running` in a thread of its own (for tests that are not async).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
import threading
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Protocol, TypeVar, overload

from aiohttp import web

SPEECH = (
    "I think {name} is a Werewolf and we should vote for {name}.",
    "I trust {name}; let us hear more before we vote.",
    "I am a Villager and I have nothing to report, but {name} was very quiet.",
    "Yesterday's votes speak against {name}.",
)


def asynchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a coroutine as a test, for a minute at most."""

    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**given), 60))

    return run


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one call. kind: see `FakeServer._misbehave`."""

    kind: str
    status: int = 500
    retry_after: str | None = None
    retry_date: int | None = None
    """Seconds from now, sent as an HTTP date."""
    body: Any = None


@dataclass
class FakeServer:
    """Settings, set before or between calls, and counters.

    faults: taken one by one by the next chat calls. refuses: names of settings, of response formats, of
    keywords of a schema or of marks on a message's parts that get a 400. key: what the Authorization header
    must carry. context: tokens (4 characters each).
    gate: a call is answered only when this many have been in flight at once. latency: seconds. roles: those
    that it takes. streams: "asked", "only" (it refuses whole replies) or "always" (it streams unasked).
    keeps_open: a stream's connection stays open after its end. billed: tokens that it charges for, also those
    of replies that nobody waited for.
    """

    models: tuple[str, ...] = ("wolf-1", "wolf-2")
    lists: bool = True
    key: str | None = None
    faults: deque[Fault] = field(default_factory=deque)
    refuses: frozenset[str] = frozenset()
    terse: bool = False
    """Refusals come as a bare "Bad request"."""
    context: int | None = None
    usage: bool = True
    cached: int = 0
    marks: str = ""
    """The name of the marks up to which it keeps a prompt; `cached` is then what it had of one."""
    latency: float = 0.0
    gate: int = 0

    template: Callable[[Sequence[Any]], str] | None = None
    """From messages to a prompt; with `encode` it makes tokens of prompts, and counts these."""
    encode: Callable[[str], list[int]] | None = None
    shows: str = ""
    """How it shows the tokens: "tokenize" as vLLM does, "apply-template" as llama-server."""
    says: Callable[[str], str] | None = None
    """From a prompt to the reply, instead of `answer`."""
    roles: frozenset[str] = frozenset(("system", "user", "assistant"))
    streams: str = "asked"
    keeps_open: bool = False
    wants: tuple[tuple[str, str], ...] = ()
    """Headers and query parameters that a request must have."""

    billed: int = 0

    kept: set[str] = field(default_factory=set)
    calls: int = 0
    answered: int = 0
    flooded: int = 0
    """MiB of replies without an end."""
    in_flight: int = 0
    most_in_flight: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    base_url: str = ""

    async def start(self) -> None:
        self._stopping, self._full = asyncio.Event(), asyncio.Event()
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/openai/deployments/{name}/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._chat)
        app.router.add_get("/v1/models", self._models)
        self._add_routes(app)
        if self.shows:
            app.router.add_post("/tokenize", self._tokenize)
        if self.shows == "apply-template":
            app.router.add_post("/apply-template", self._apply_template)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"

    def _add_routes(self, app: web.Application) -> None:
        """For servers with more addresses."""

    async def stop(self) -> None:
        self._stopping.set()
        await self._runner.cleanup()

    # -- the protocol -------------------------------------------------------------------

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if not self._authorised(request):
            return self._error(401, "Incorrect API key provided", code="invalid_api_key")
        if not self.lists:
            return web.Response(status=404, text="Not Found")
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.models]
        return web.json_response({"object": "list", "data": data})

    async def _apply_template(self, request: web.Request) -> web.StreamResponse:
        assert self.template is not None
        return web.json_response({"prompt": self.template((await request.json())["messages"])})

    async def _tokenize(self, request: web.Request) -> web.StreamResponse:
        """llama-server takes text, vLLM text or messages."""
        body = await request.json()
        assert self.encode is not None
        if self.shows == "apply-template":
            return web.json_response({"tokens": self.encode(body["content"]) if "content" in body else []})
        tokens = self._tokens(body["messages"])
        return web.json_response({"count": len(tokens), "max_model_len": 4096, "tokens": tokens})

    def _tokens(self, messages: Sequence[Any]) -> list[int]:
        assert self.template is not None
        assert self.encode is not None
        return self.encode(self.template(messages))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.in_flight >= self.gate:
                self._full.set()
            await self._full.wait()
            if self.latency:
                await asyncio.sleep(self.latency)
            return await self._reply(request)
        finally:
            self.in_flight -= 1

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if not self._authorised(request):
            sent = request.headers.get("Authorization", "")
            return self._error(401, f"Incorrect API key provided: {sent}", code="invalid_api_key")
        for name, value in self.wants:
            if value not in (request.headers.get(name), request.query.get(name)):
                return self._error(400, f"{name} is missing")
        if self.faults:
            return await self._misbehave(self.faults.popleft(), request, body)
        if refusal := self._refusal(body):
            return refusal
        if self.streams == "only" and not body.get("stream"):
            return self._error(400, "This model only support stream mode, please enable the stream parameter")
        messages = request.path.endswith("/messages")
        whole = as_message(self._completion(as_chat(body))) if messages else self._completion(body)
        if body.get("stream") or self.streams == "always":
            return await self._stream(request, message_events(whole) if messages else chunks(whole))
        return web.json_response(whole)

    async def _stream(self, request: web.Request, events: Sequence[str]) -> web.StreamResponse:
        """Events in pieces that end anywhere."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        sent = "".join(events).encode()
        for at in range(0, len(sent), 97):
            await response.write(sent[at : at + 97])
        if self.keeps_open:
            await self._stopping.wait()
        return response

    def _authorised(self, request: web.Request) -> bool:
        names = ("Authorization", "api-key", "x-api-key")
        return (
            self.key is None
            or {f"Bearer {self.key}", self.key} & {request.headers.get(n) for n in names} > set()
        )

    def _refusal(self, body: dict[str, Any]) -> web.Response | None:
        if body["model"] not in self.models:
            return self._error(
                404, f"The model `{body['model']}` does not exist", param="model", code="model_not_found"
            )
        wanted = body.get("response_format", {})
        marks = {name for message in body["messages"] for part in parts(message) for name in part}
        keywords = set(re.findall(r'"(\w+)":', json.dumps(wanted)))
        roles = {message["role"] for message in body["messages"]} | (
            {"system"} if body.get("system") else set()
        )
        if not roles <= self.roles:
            return self._error(400, "System role not supported")
        for name in sorted(self.refuses):
            if name in body or name == wanted.get("type") or name in marks | keywords:
                if self.terse:
                    return web.json_response({"detail": "Bad request"}, status=400)
                if name == wanted.get("type"):
                    return self._error(400, f"This response_format type is unavailable: {name}")
                if name in marks:
                    at = f"messages[0].content[0].{name}"
                    return self._error(400, f"{at} is not supported on this model", param=at)
                if name in keywords:
                    words = (
                        f"invalid schema for response format: json_schema/evidence: {name} is not supported"
                    )
                    return self._error(400, words, param="response_format")
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                words = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
                return self._error(400, words, param=name, code="unsupported_parameter")
        if not all(part["text"].strip() for message in body["messages"] for part in parts(message)):
            return self._error(400, "text content blocks must contain non-whitespace text")
        length = sum(len(text_of(message)) for message in body["messages"]) // 4
        if self.context is not None and length > self.context:
            words = f"This model's maximum context length is {self.context} tokens, you sent {length}"
            return self._error(400, words, param="messages", code="context_length_exceeded")
        return None

    @staticmethod
    def _error(
        status: int, words: str, *, param: str | None = None, code: str | None = None, headers: Any = None
    ) -> web.Response:
        error = {"message": words, "type": "invalid_request_error", "param": param, "code": code}
        return web.json_response({"error": error}, status=status, headers=headers)

    async def _misbehave(
        self, fault: Fault, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        good = self._completion(body)
        message = good["choices"][0]["message"]
        match fault.kind:
            case "status":
                return self._error(fault.status, "The server had a bad moment", headers=self._wait(fault))
            case "error":
                return web.json_response(fault.body, status=fault.status)
            case "hang":
                await self._stopping.wait()
            case "drop":  # half a body, then the connection goes away
                half = web.StreamResponse(headers={"Content-Type": "application/json"})
                half.content_length = 1000
                await half.prepare(request)
                await half.write(b'{"choices": [{"mess')
                assert request.transport is not None
                request.transport.abort()
                return half
            case "hangup":  # gone before a single byte
                assert request.transport is not None
                request.transport.abort()
            case "bad_json":
                return web.Response(text='{"choices": [', content_type="application/json")
            case "page":
                return web.Response(text="<html>Welcome to the proxy</html>", content_type="text/html")
            case "flood":  # a reply without an end, packed so that little of it goes over the line
                packed = web.StreamResponse(status=fault.status, headers={"Content-Encoding": "gzip"})
                await packed.prepare(request)
                packer = zlib.compressobj(wbits=31)
                with suppress(ConnectionError):
                    await packed.write(packer.compress(b'{"choices": [{"message": {"content": "'))
                    while not self._stopping.is_set():
                        await packed.write(packer.compress(b"a" * 2**20) + packer.flush(zlib.Z_SYNC_FLUSH))
                        await asyncio.sleep(0)
                return packed
            case "no_choices":
                good["choices"] = []
                good.pop("usage", None)  # with one, it is a reply that was paid for
            case "empty":
                message["content"] = None
            case "cut":
                message["content"], good["choices"][0]["finish_reason"] = '{"reasoning": "I th', "length"
            case "filter":
                message["content"], good["choices"][0]["finish_reason"] = "", "content_filter"
            case "refusal":
                message["content"], message["refusal"] = None, "I cannot help with that."
            case "parts":
                message["content"] = [{"type": "thinking"}, {"type": "text", "text": message["content"]}]
            case "text":
                message["content"] = fault.body
            case "body":
                return web.json_response(fault.body)
            case other:
                raise AssertionError(f"no such fault: {other}")
        return web.json_response(good)

    @staticmethod
    def _wait(fault: Fault) -> dict[str, str]:
        if fault.retry_date is not None:
            from email.utils import formatdate
            from time import time

            now = int(time())
            return {
                "Date": formatdate(now, usegmt=True),
                "Retry-After": formatdate(now + fault.retry_date, usegmt=True),
            }
        return {} if fault.retry_after is None else {"Retry-After": fault.retry_after}

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = "\n".join(text_of(message) for message in body["messages"])
        # Its own earlier replies are part of the conversation, but not what tells it the format.
        told = "\n".join(text_of(m) for m in body["messages"] if m["role"] != "assistant")
        text = answer(told, salt=prompt) if self.says is None else self.says(prompt)
        self.answered += 1
        limit = body.get("max_tokens") or body.get("max_completion_tokens")
        self.billed += len(prompt) // 4 + min(len(text) // 4 or min(1, len(text)), limit or 10**9)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        if body.get("logprobs"):
            choice["logprobs"] = {"content": logprobs(text, prompt)[: body["max_tokens"]]}
        reply: dict[str, Any] = {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
        }
        if self.usage:
            prompt_tokens, completion_tokens = len(prompt) // 4, len(text) // 4 or min(1, len(text))
            if self.encode is not None:
                prompt_tokens = len(self._tokens(body["messages"]))
            reply["usage"] = {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
                "prompt_tokens_details": self._cache(body["messages"]),
            }
        return reply

    def _cache(self, messages: list[dict[str, Any]]) -> dict[str, int]:
        """What it had of a prompt, and what it keeps of it now."""
        if not self.marks:
            return {"cached_tokens": self.cached}
        begun, ends = "", []
        for part in (part for message in messages for part in parts(message)):
            begun += part["text"]
            ends += [begun] if self.marks in part else []
        had = max((len(text) for text in ends if text in self.kept), default=0)
        self.kept |= set(ends)
        most = len(ends[-1]) if ends else 0
        return {"cached_tokens": had // 4, "cache_write_tokens": (most - had) // 4}


# -- dialects -------------------------------------------------------------------------------


def as_chat(body: dict[str, Any]) -> dict[str, Any]:
    """A request in Messages as one in chat completions."""
    told = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    return body | {"messages": [*told, *body["messages"]]}


def as_message(completion: dict[str, Any]) -> dict[str, Any]:
    """A completion as Messages has it."""
    choice, usage = completion["choices"][0], completion.get("usage", {})
    details = usage.get("prompt_tokens_details", {})
    read, written = details.get("cached_tokens", 0), details.get("cache_write_tokens", 0)
    ends = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    return {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": completion["model"],
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "text", "text": choice["message"]["content"]},
        ],
        "stop_reason": ends[choice["finish_reason"]],
        "usage": {
            "input_tokens": usage.get("prompt_tokens", 0) - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": usage.get("completion_tokens", 0),
            "service_tier": "standard",
        },
    }


def chunks(whole: dict[str, Any]) -> list[str]:
    """A completion as a stream of chunks, with a sign of life and an end mark."""
    choice = whole["choices"][0]
    text = choice["message"]["content"] or ""
    head = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(choices: list[dict[str, Any]], **more: Any) -> str:
        return f"data: {json.dumps(head | {'choices': choices} | more)}\n\n"

    sent = [": PROCESSING\n\n", chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}}])]
    sent += [
        chunk([{"index": 0, "delta": {"content": text[at : at + 20]}}]) for at in range(0, len(text), 20)
    ]
    sent.append(chunk([{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]))
    return [*sent, chunk([], usage=whole.get("usage")), "data: [DONE]\n\n"]


def message_events(whole: dict[str, Any]) -> list[str]:
    """A message as a stream of events."""

    def event(kind: str, **more: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind} | more)}\n\n"

    usage = whole["usage"]
    start = whole | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    sent = [event("message_start", message=start), event("ping")]
    for index, block in enumerate(whole["content"]):
        name = "thinking" if block["type"] == "thinking" else "text"
        sent.append(event("content_block_start", index=index, content_block={"type": name, name: ""}))
        for at in range(0, len(block[name]), 20):
            delta = {"type": f"{name}_delta", name: block[name][at : at + 20]}
            sent.append(event("content_block_delta", index=index, delta=delta))
        sent.append(event("content_block_stop", index=index))
    delta = {"stop_reason": whole["stop_reason"]}
    sent.append(event("message_delta", delta=delta, usage={"output_tokens": usage["output_tokens"]}))
    return [*sent, event("message_stop")]


def parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a message, one for plain text."""
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def text_of(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in parts(message))


# -- reading a prompt -----------------------------------------------------------------------


def answer(prompt: str, salt: str = "") -> str:
    """A reply to any prompt of Wolflab, from its words alone; prose where no format is described.

    salt: more text that the choices depend on.
    """
    lines = prompt.splitlines()
    form = next((said for said in QUIZ if lines and lines[-1].startswith(said)), None)
    if form is not None:
        return QUIZ[form][draw(prompt, "quiz", len(QUIZ[form]))]
    # A hash of the whole conversation stands in for it wherever something is drawn.
    prompt = f"{prompt}\n{hashlib.sha256((salt or prompt).encode()).hexdigest()}"
    named = [(n, found[1]) for n, line in enumerate(lines) if (found := re.match(NAMED, line))]
    if named:
        return json.dumps(_named(lines, *named[-1], prompt))
    if "Its form:" in lines:
        return json.dumps(_formed(lines, prompt))
    starts = [n for n, line in enumerate(lines) if line.strip() == "{"]
    if not starts:
        return _in_prose(lines, prompt)
    start = starts[-1]
    depth, block = 0, []
    for line in lines[start:]:
        depth += line.rstrip().endswith("{")
        depth -= line.strip().startswith("}")
        block.append(line.strip())
        if depth == 0:
            break
    rest = "\n".join(lines[start + len(block) :])
    reply = _fill(block[1:-1], prompt, rest, "")
    if len(reply) == 1 and isinstance(next(iter(reply.values())), dict):
        inner = block[2:-2]
        # One entry is shown; the sentence before it lists everybody who needs one.
        asked = re.search(r"hidden roles? of (.+?)(?: in the light|\. )", "\n".join(lines[:start]))
        names = _names(asked[1]) if asked else []
        reply = {name: _fill(inner, prompt, rest, name) for name in names} or reply
    return json.dumps(reply)


def _in_prose(lines: list[str], prompt: str) -> str:
    """Prose that says what is asked for: questions by their numbers, or thoughts and then what is decided."""
    numbers = [found[1] for line in lines[-20:] if (found := re.match(r"(\d+)\. .*\?$", line))]
    if numbers and "separating them with '#'" in lines[-1]:
        wanted = re.search(r"Choose only (\w+)", prompt)
        most = ("one", "two", "three", "four", "five").index(wanted[1]) + 1 if wanted else 1
        return " # ".join(numbers[:most])
    if "My concise talking content:" not in lines[-1]:
        return _speak(prompt, "prose")
    asked = next(line for line in reversed(lines) if "The moderator asks you" in line)
    listed = re.search(r"taking one of these options: (.+?)\.(?: |$)", asked)
    options = listed[1].split(", ") if listed else []
    said = f"I {options[draw(prompt, 'prose', len(options))]}." if options else _speak(prompt, "prose")
    return f"My step-by-step thought process: it is hard to say. My concise talking content: {said}"


NAMED = r'Answer in the form "(\w+)"\.'


def _named(lines: list[str], at: int, form: str, prompt: str) -> dict[str, Any]:
    """The reply in a form that the beginning of the prompt tells. at: the line that names it."""
    start = next(n for n, line in enumerate(lines) if line.startswith(f'Form "{form}"'))
    told = [line for line in lines[start + 1 : lines.index("", start)] if line.startswith('"')]
    request = "\n".join(lines[max(0, at - 4) : at]) if form in ("candidates", "action") else lines[at - 1]
    listed = re.search(r"(?:one of these actions|[Aa]nswer one of): (.+?)\.(?:$|\n)", request)
    if listed:
        told = [f'"action": exactly one of: {listed[1]}' if '"action"' in line else line for line in told]
    if form == "candidates":
        inner = "action" if listed else "statement"
        return {"candidates": [_named(lines, at, inner, f"{prompt}{n}") for n in range(3)]}
    if form == "choice":
        block = "\n".join(lines[at - 20 : at])
        count = max(int(n) for n in re.findall(r"^(\d)\. ", block, re.MULTILINE))
        return {"reasoning": "Why not?", "choice": 1 + draw(prompt, "choice", count)}
    names = _names(request[: request.find(" in the light")].rpartition("hidden role")[2])
    if form == "judgement":
        return {name: _fill(told, prompt, "", name) for name in names}
    if form == "trust":
        return {name: 1 + draw(prompt, name, 10) for name in _names(request.rpartition(": ")[2])}
    return _fill(told, prompt, "", "")


def _formed(lines: list[str], prompt: str) -> dict[str, Any]:
    """The reply to a prompt that tells what each field holds, and then shows an empty form."""
    end = len(lines) - 1 - lines[::-1].index("Its form:")
    start = max(n for n in range(end) if lines[n].startswith("Answer with one JSON object"))
    told, shown = lines[start + 1 : end], lines[end + 1]
    if shown.startswith('{"candidates"'):
        entries = shown.count('{"reasoning"')
        return {"candidates": [_fill(told, prompt, "", f"{n}") for n in range(entries)]}
    names = re.findall(r'[{ ]"([^"]+)": ', shown)
    if told and names[0] not in ("reasoning", "action", "statement"):  # one entry for each player
        return {name: _fill(told, prompt, "", name) for name in _names(shown)}
    if told:
        return _fill(told, prompt, "", "")
    return {name: _value(name, "", prompt, lines[start], name) for name in names}


QUIZ = {
    "Answer with Yes or No.": ("Yes", "No."),
    "Answer with the letter": ("A", "B) as the rules say"),
    "Answer with the name": ("player_1", "player_2", "the village"),
    "Answer with a number.": ("2", "three"),
}
"""How a question on the rules ends, and what may be answered."""


def logprobs(text: str, prompt: str) -> list[dict[str, Any]]:
    """The first word of a reply as a server lists it, after a token without letters; "No" beside "Yes"."""
    word = (re.findall(r"\w+", text) or [""])[0]
    share = (51 + draw(prompt, "sure", 49)) / 100
    other = {"Yes": "No", "No": "Yes"}.get(word, "Perhaps")
    listed = [
        {"token": word, "logprob": math.log(share)},
        {"token": f" {other}", "logprob": math.log(1 - share)},
    ]
    return [{"token": "**", "logprob": -0.1, "top_logprobs": []}, {**listed[0], "top_logprobs": listed}]


def _fill(block: list[str], prompt: str, rest: str, path: str) -> dict[str, Any]:
    reply: dict[str, Any] = {}
    within: list[str] | None = None
    name = ""
    for line in block:
        if within is not None:
            if line.startswith("}"):
                reply[name], within = _fill(within, prompt, rest, f"{path}/{name}"), None
            else:
                within.append(line)
            continue
        found = re.match(r'"([^"]+)":\s*(.*)$', line)
        if not found:
            continue
        name, meaning = found[1], found[2].rstrip(",")
        if meaning == "{":
            within = []
        else:
            reply[name] = _value(name, meaning, prompt, rest, f"{path}/{name}")
    return reply


def _value(name: str, meaning: str, prompt: str, rest: str, path: str) -> Any:
    if name.startswith("question_"):
        words = (f"{draw(prompt, path + part, 2**40):x}" for part in "abc")
        return f"Does {' '.join(words)}?"
    if name == "verdict":
        return "keep"
    if name == "answer" and "Answer with Yes or No" in prompt:
        return ("Yes", "No")[draw(prompt, path, 2)]
    listed = re.search(r"\[(.+?)\]", meaning)
    options = re.search(r"(?:choose one from|exactly one of):?\s*(.+)$", meaning)
    integer = re.search(r"integer from (\d+).*? to (\d+)", meaning)
    if name == "evidence" or "list of" in meaning:
        return [1] if re.search(r"^\W*1\W", prompt, re.MULTILINE) else []
    if integer is None and re.search(r"value is an integer", rest) and name != "reasoning":
        integer = re.search(r"integer from (\d+).*? to (\d+)", rest)
    if integer:
        low, high = int(integer[1]), int(integer[2])
        return low + draw(prompt, path, high - low + 1)
    if options or (listed and name == "role"):
        listing = listed[1] if listed else options[1] if options else ""
        choices = [one.strip().strip("\"'[]{}") for one in listing.split(", ")]
        return choices[draw(prompt, path, len(choices))]
    return _speak(prompt, path)


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[Pp]layer[ _]\d+", text)))


def _speak(prompt: str, path: str) -> str:
    names = _names(prompt) or ["nobody"]
    name = names[draw(prompt, path + "?", len(names))]
    return SPEECH[draw(prompt, path, len(SPEECH))].format(name=name)


def draw(prompt: str, path: str, n: int) -> int:
    """An integer in [0, n) that depends on the prompt and on what it is for."""
    digest = hashlib.sha256(f"{path}\0{prompt}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % n


# -- running it -----------------------------------------------------------------------------


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[FakeServer]:
    """The server, in the running event loop."""
    server = FakeServer(**settings)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


class Server(Protocol):
    """A server of tests, also of embeddings."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


S = TypeVar("S", bound=Server)


@overload
def running(server: S) -> AbstractContextManager[S]: ...


@overload
def running(**settings: Any) -> AbstractContextManager[FakeServer]: ...


@contextmanager
def running(server: Any = None, **settings: Any) -> Iterator[Any]:
    """The server, or a `FakeServer`, in a thread with an event loop of its own."""
    server = server or FakeServer(**settings)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
