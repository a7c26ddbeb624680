"""The table of providers, the keys, and what all models of one endpoint share.

A provider is a row: base URL, key variable, quirks. An endpoint is a base URL with one key: its
connections, its limit of calls in flight, and what its models turned out to refuse. Nothing here knows
what a request asks. The `openai` library is imported when the first connection is opened.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..errors import ModelError
from .reply_size import capped_client

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]
"""How a schema is asked for: OpenAI's form, llama.cpp's form, any JSON object, or in words alone."""

NATIVE: tuple[Format, ...] = ("json_schema", "json_object", "text")
PLAIN: tuple[Format, ...] = ("json_object", "text")

DEFAULT_IN_FLIGHT = 16
MAX_IN_FLIGHT = 1000
"""The connection pool of the library holds that many."""
CONNECT_TIMEOUT = 10.0
"""Seconds until a server that does not even take the connection counts as not answering."""


@dataclass(frozen=True, slots=True)
class Caching:
    """What tells a server which requests begin alike, so that it works on their beginning once.

    key: the field (a header, where it begins with "x-") whose value requests of one game have in common; it
    leads them to the machine that has their beginning. mark: name and value of what is put on a message's
    part where a common beginning ends. along: fields of the body that go with marks. models: how the names of
    the models begin that need marks; none: all.
    """

    key: str | None = None
    mark: tuple[str, Mapping[str, str]] | None = None
    along: tuple[tuple[str, object], ...] = ()
    models: tuple[str, ...] = ()

    def marks(self, model: str) -> tuple[str, Mapping[str, str]] | None:
        """The mark for a model of the server, if it has use for one."""
        return self.mark if not self.models or model.lstrip("~").startswith(self.models) else None


@dataclass(frozen=True, slots=True)
class Provider:
    """One kind of server.

    name: the prefix in experiments ("openai/…"). base_url: None where it must be given.
    key: the environment variable of the API key; None where no key is needed.
    formats: what to ask for when a reply has a schema, best first; each refusal steps down by one.
    limit: the names of the setting that caps the reply's tokens, to be tried in that order.
    lists: GET /models answers under the same key and names the models.
    greedy: sent in place of temperature 0 (for servers that do not take 0).
    filtered: error codes that mean the content filter.
    in_flight: calls at once, unless a model's settings say otherwise (None: `DEFAULT_IN_FLIGHT`). A server on
        one's own machine answers few at once; what waits in its queue runs into the time limit of a call.
    caching: what it is told of prompts that begin alike; most servers find that out by themselves.
    """

    name: str
    base_url: str | None
    key: str | None
    formats: tuple[Format, ...] = NATIVE
    limit: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    lists: bool = True
    greedy: tuple[tuple[str, object], ...] = ()
    filtered: tuple[str, ...] = ("content_filter", "content_policy_violation")
    in_flight: int | None = None
    caching: Caching = Caching()


_ROWS = (
    Provider(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        limit=("max_completion_tokens", "max_tokens"),
        # Models before GPT-5.6 refuse the marks. From then on a prompt's end, which no other request has, is
        # written to the cache and paid for, unless the marks are said to be all there is.
        caching=Caching(
            "prompt_cache_key",
            ("prompt_cache_breakpoint", {"mode": "explicit"}),
            along=(("prompt_cache_options", {"mode": "explicit"}),),
        ),
    ),
    # Its compatible endpoint takes response_format and seed without a word and ignores them. It has no cache.
    Provider("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", ("text",), lists=False),
    Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    Provider(
        "zhipu",
        "https://open.bigmodel.cn/api/paas/v4",
        "ZHIPUAI_API_KEY",
        PLAIN,
        lists=False,
        greedy=(("do_sample", False),),
        filtered=("1301", "content_filter"),
    ),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        caching=Caching(
            "session_id",
            ("cache_control", {"type": "ephemeral"}),
            models=("anthropic/", "openai/", "qwen/"),
        ),
    ),
    Provider("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", PLAIN),
    Provider(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        caching=Caching("prompt_cache_key"),
    ),
    Provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Provider("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Provider(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        caching=Caching("prompt_cache_key"),
    ),
    Provider("xai", "https://api.x.ai/v1", "XAI_API_KEY", caching=Caching("x-grok-conv-id")),
    Provider("moonshot", "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY", PLAIN),
    Provider("dashscope", "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", PLAIN),
    Provider("ollama", "http://localhost:11434/v1", None, in_flight=4),
    Provider("vllm", "http://localhost:8000/v1", None),
    Provider(
        "llamacpp",
        "http://localhost:8080/v1",
        None,
        ("json_object+schema", "json_object", "text"),
        in_flight=4,
    ),
    Provider("lmstudio", "http://localhost:1234/v1", None, ("json_schema", "text"), in_flight=4),
    # Any other server: base_url is required, the key only if api_key_env names one.
    Provider("custom", None, None, ("json_schema", "json_object+schema", "json_object", "text")),
)

PROVIDERS: dict[str, Provider] = {row.name: row for row in _ROWS}
"""Every provider by its prefix."""


def key_value(variable: str) -> str | None:
    """The key in the environment, else in `.env` of the working directory; None when neither has it.

    `.env` is read, never loaded into the environment, so that no child process inherits it.
    """
    value = os.environ.get(variable)
    file = Path(".env")
    if not value and file.is_file():
        from dotenv import dotenv_values

        try:
            value = dotenv_values(file).get(variable)
        except UnicodeDecodeError:
            raise ModelError(f"{file}: not a text in UTF-8; save it as UTF-8, or set {variable}") from None
    return value.strip() or None if value else None


def check_url(url: str) -> None:
    """Raise ModelError for what is no address of a server. A password in it is not shown."""
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        named = False
    if not named:
        raise ModelError(
            "model setting 'base_url': it has to start with http:// or https:// and name a server"
        )
    if "@" in parts.netloc:
        raise ModelError(
            "model setting 'base_url': it holds a user or a password; put the key into an environment "
            "variable and name that under api_key_env"
        )


def check_variable(name: str) -> None:
    """Raise ModelError for what cannot name an environment variable; it may be the key, and is not shown."""
    if not name.isidentifier():
        raise ModelError(
            "model setting 'api_key_env': use the name of the environment variable that holds the key"
        )


def public_url(url: str) -> str:
    """`url` without user, password, query and fragment: what may be shown."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def in_flight_of(name: str) -> int:
    """Calls at once to the server of a model of that name, unless its settings say otherwise."""
    provider = PROVIDERS.get(name.partition("/")[0])
    return (provider.in_flight if provider else None) or DEFAULT_IN_FLIGHT


def host_of(name: str, base_url: str | None = None) -> str:
    """The host of the server that has a model or an embedder of that name; "" where none is known.

    base_url: the setting beside the name.
    """
    provider = PROVIDERS.get(name.partition("/")[0])
    url = base_url or (provider.base_url if provider else None)
    return urlsplit(url).netloc.rpartition("@")[2] if url else ""


@dataclass(slots=True)
class LearnedQuirks:
    """What one model at one endpoint has taught us: remembered for every later call, logged once.

    formats: what is left to try for a schema, best first. limit: likewise for the reply's cap; empty:
    it takes none. dropped: settings and keywords of schemas that it refuses. trial: keywords that are left
    out to see whether they were the cause. log: one sentence each, for the run's log; what is in here is no
    part of any request's hash.
    """

    formats: tuple[Format, ...]
    limit: tuple[str, ...]
    dropped: set[str] = field(default_factory=set)
    trial: frozenset[str] = frozenset()
    proved: set[str] = field(default_factory=set)
    """What was in a request that was answered, so that a later 400 is not about it."""
    log: list[str] = field(default_factory=list)


class Outage:
    """A server that answers nobody: one of the calls tries again, and all others wait until it is answered.

    tries: since nobody is answered. seconds: for how long. Both are 0 while the server answers.
    """

    def __init__(self) -> None:
        self.tries, self.seconds = 0, 0.0
        self._on = False
        self._trying: object | None = None
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def turns(self) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """For one call: what it awaits before each attempt. In an outage, that lets one call on."""
        me = object()

        async def my_turn() -> None:
            while self._on and self._trying not in (None, me):
                waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(waiting)
                await waiting
            if self._on:
                self._trying = me

        try:
            yield my_turn
        finally:
            if self._trying is me:  # it gives up, and another one tries
                self._trying = None
                self._wake()

    def begin(self) -> None:
        """Nobody is answered any more."""
        self._on = True

    def lasted(self, seconds: float) -> None:
        """An attempt failed, and took so many seconds with what was waited after it."""
        if self._on:
            self.tries += 1
            self.seconds += seconds

    def end(self) -> None:
        """Somebody was answered."""
        if self._on:
            self._on, self._trying, self.tries, self.seconds = False, None, 0, 0.0
            self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()


@dataclass(slots=True)
class EndpointLine:
    """One event loop's connection: the client, its places in flight, its outage, and which models use it."""

    client: AsyncOpenAI
    places: asyncio.Semaphore
    outage: Outage = field(default_factory=Outage)
    users: set[int] = field(default_factory=set)


class Endpoint:
    """A base URL with one key. Get it from `endpoint()`, so that all its models share it.

    max_in_flight: None until a model sets it; the smallest value set wins. It holds for each event
    loop that is opened from then on. answers: how many calls were answered. tell: hears in a sentence when
    the server gives no answer any more, and when it does again.
    """

    def __init__(self, base_url: str, variable: str | None) -> None:
        self.base_url = base_url
        self.variable = variable
        self.max_in_flight: int | None = None
        self.answers = 0
        self.tell: Callable[[str], None] | None = None
        self._silent = False
        self._refusals: dict[str, str] = {}
        self._learned: dict[str, LearnedQuirks] = {}
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, EndpointLine] = WeakKeyDictionary()

    def key(self) -> str | None:
        """The API key now in the environment or `.env`, or None."""
        return key_value(self.variable) if self.variable else None

    def at_most(self, calls: int) -> None:
        """Lower the limit of calls in flight to `calls`, if it is not lower already."""
        self.max_in_flight = min(calls, self.max_in_flight or calls)

    def learned(self, model: str, provider: Provider) -> LearnedQuirks:
        """What is known about `model` here, shared by everything that uses it."""
        if model not in self._learned:
            self._learned[model] = LearnedQuirks(provider.formats, provider.limit)
        return self._learned[model]

    def refuse(self, why: str, model: str = "") -> None:
        """From now on no call to `model` is made, to no model at all without one. why: a sentence."""
        self._refusals[model] = why

    def refused(self, model: str) -> str:
        """Why calls to `model` are refused; empty where they are not."""
        return self._refusals.get("") or self._refusals.get(model, "")

    def try_anew(self) -> None:
        """Forget refusals: what was wrong may have been mended."""
        self._refusals.clear()

    def answered(self) -> None:
        """A call was answered."""
        self.answers += 1
        self._now(False, "answers again")

    def silent(self, words: str) -> None:
        """Nobody is answered any more. words: why, and how long that is waited for."""
        self._now(True, f"gives no answer {words}")

    def _now(self, silent: bool, words: str) -> None:
        if silent != self._silent and self.tell is not None:
            self.tell(f"The server at {public_url(self.base_url)} {words}")
        self._silent = silent

    @property
    def open(self) -> bool:
        """Whether the running event loop has connections here."""
        return asyncio.get_running_loop() in self._lines

    def line(self, user: object) -> EndpointLine:
        """The running loop's connection; `user` then has to `leave`.

        Raises ModelError when the key variable is not set.
        """
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            line = EndpointLine(self._connect(), asyncio.Semaphore(self.max_in_flight or DEFAULT_IN_FLIGHT))
            self._lines[loop] = line
        line.users.add(id(user))
        return line

    async def leave(self, user: object) -> None:
        """`user` makes no more calls on this loop; the last one out closes the connections."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            return
        line.users.discard(id(user))
        if not line.users:
            del self._lines[loop]
            await line.client.close()

    def _connect(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, Omit, Timeout

        key = self.key()
        if self.variable and key is None:
            raise ModelError(missing_key(self.variable, self.base_url))
        if key and not (key.isascii() and key.isprintable()):
            raise ModelError(f"the key in {self.variable} holds characters that no key has; copy it again")
        headers: dict[str, str | Omit] = {}
        if urlsplit(self.base_url).hostname != "api.openai.com":
            # The library reads these from OPENAI_… variables; they are nobody else's business.
            headers = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
        return AsyncOpenAI(
            api_key=key or "none",
            base_url=self.base_url,
            max_retries=0,  # ours read Retry-After, keep the place in flight and check the budget
            timeout=Timeout(None, connect=CONNECT_TIMEOUT),  # the whole attempt is timed by the model
            default_headers=headers,  # type: ignore[arg-type]
            http_client=capped_client(),
        )


def refused_key(variable: str | None, status: int | None) -> str:
    """What to say of a server that refuses the key of this variable, or the lack of one. status: of HTTP."""
    if variable is not None:
        return f"refuses the key (HTTP status {status}): check {variable}"
    return (
        f"wants a key, and none was sent (HTTP status {status}): put the key into an environment variable "
        "and name that as the model's setting api_key_env, in {model: NAME, base_url: …, api_key_env: MY_KEY}"
    )


def missing_key(variable: str, base_url: str) -> str:
    """The sentence for a key that is not set."""
    return (
        f"no API key for {public_url(base_url)}: set {variable} in the environment "
        "or in a file .env in the working directory"
    )


_ENDPOINTS: WeakValueDictionary[tuple[str, str | None], Endpoint] = WeakValueDictionary()


def endpoint(base_url: str, variable: str | None) -> Endpoint:
    """The one Endpoint for this base URL and key variable, as long as any model uses it."""
    pair = (base_url.rstrip("/"), variable)
    shared = _ENDPOINTS.get(pair)
    if shared is None:
        shared = _ENDPOINTS[pair] = Endpoint(*pair)
    return shared
