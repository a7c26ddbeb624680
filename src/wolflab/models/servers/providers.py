"""The table of providers: their addresses, keys, dialects and quirks.

A provider is a row. Nothing here knows what a request asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from ...errors import ModelError

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]
"""How a schema is asked for: by the schema itself, in llama.cpp's form, any JSON object, or in words alone.
"""
DialectName = Literal["chat-completions", "messages"]
"""OpenAI's chat completions, or Anthropic's Messages."""
BatchFormName = Literal["files-and-batches", "message-batches"]
"""OpenAI's files and batches, or Anthropic's message batches."""

NATIVE: tuple[Format, ...] = ("json_schema", "json_object", "text")
PLAIN: tuple[Format, ...] = ("json_object", "text")

DEFAULT_IN_FLIGHT = 16
MAX_IN_FLIGHT = 10_000


@dataclass(frozen=True, slots=True)
class Caching:
    """How to tell a server which requests begin alike, so that it caches their beginning.

    key: the field (a header, if it begins with "x-") with the same value in all requests of one game; it
    leads them to the machine with the cache. mark: name and value of the field on the part of a message where
    a common beginning ends. along: fields of the body that go with marks. models: prefixes of the names of
    models that need marks; none: all.
    """

    key: str | None = None
    mark: tuple[str, Mapping[str, str]] | None = None
    along: tuple[tuple[str, object], ...] = ()
    models: tuple[str, ...] = ()

    def marks(self, model: str) -> tuple[str, Mapping[str, str]] | None:
        """The mark for a model of the server, if it needs one."""
        return self.mark if not self.models or model.lstrip("~").startswith(self.models) else None


@dataclass(frozen=True, slots=True)
class Provider:
    """One kind of server.

    name: the prefix in experiments ("openai/…"). base_url: None where it must be given. hosts: suffixes of
    its servers' names, where there are many. key: the environment variable of the API key; None where no key
    is needed. dialect: the form of its requests. key_header: the header with the key ("Authorization" with
    "Bearer "). formats: how to ask for a reply with a schema, best first; each refusal steps down by one.
    limit: names of the field that caps the reply's tokens, tried in this order. spared: keywords of a schema
    that it is known to refuse. lists: GET /models answers with the same key and lists the models. greedy:
    sent in place of temperature 0 (for servers that do not take 0). filtered: error codes that mean the
    content filter. in_flight: calls at once, unless a model's settings say otherwise (None:
    `DEFAULT_IN_FLIGHT`); a local server answers few at once, and calls in its queue time out. caching: how it
    learns which prompts begin alike; most servers find out by themselves. batches: the form of its batch
    service, if it is one that can be used.
    """

    name: str
    base_url: str | None
    key: str | None
    dialect: DialectName = "chat-completions"
    key_header: str = "Authorization"
    formats: tuple[Format, ...] = NATIVE
    limit: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    spared: tuple[str, ...] = ()
    lists: bool = True
    greedy: tuple[tuple[str, object], ...] = ()
    filtered: tuple[str, ...] = ("content_filter", "content_policy_violation")
    in_flight: int | None = None
    caching: Caching = Caching()
    hosts: tuple[str, ...] = ()
    batches: BatchFormName | None = None


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
        batches="files-and-batches",
    ),
    # Azure's classic addresses name a deployment and want a version of the API; see `azure_address`.
    Provider(
        "azure",
        None,
        "AZURE_OPENAI_API_KEY",
        key_header="api-key",
        limit=("max_completion_tokens", "max_tokens"),
        lists=False,
        caching=Caching("prompt_cache_key"),
        hosts=(".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"),
    ),
    Provider(
        "anthropic",
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        "messages",
        "x-api-key",
        ("json_schema", "text"),
        ("max_tokens",),
        ("minItems", "maxItems"),
        caching=Caching(mark=("cache_control", {"type": "ephemeral"})),
        batches="message-batches",
    ),
    Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    Provider(
        "zhipu",
        "https://open.bigmodel.cn/api/paas/v4",
        "ZHIPUAI_API_KEY",
        formats=PLAIN,
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
    Provider("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", formats=PLAIN),
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
    Provider("moonshot", "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY", formats=PLAIN),
    Provider(
        "dashscope",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        formats=PLAIN,
    ),
    Provider("ollama", "http://localhost:11434/v1", None, in_flight=4),
    Provider("vllm", "http://localhost:8000/v1", None),
    Provider(
        "llamacpp",
        "http://localhost:8080/v1",
        None,
        formats=("json_object+schema", "json_object", "text"),
        in_flight=4,
    ),
    Provider("lmstudio", "http://localhost:1234/v1", None, formats=("json_schema", "text"), in_flight=4),
    # Any other server: base_url is required, the key only if api_key_env names one.
    Provider("custom", None, None, formats=("json_schema", "json_object+schema", "json_object", "text")),
)

PROVIDERS: dict[str, Provider] = {row.name: row for row in _ROWS}
"""Every provider by its prefix."""


def check_url(url: str) -> None:
    """Raise ModelError for an invalid address. A password in it is not shown."""
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        (parts.hostname or "").encode("idna")  # raises for parts that are empty or too long
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


_PATHS = ("/chat/completions", "/messages", "/embeddings")


def address_and_query(base_url: str) -> tuple[str, dict[str, str]]:
    """An address from documentation without the path of a request, and its query."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    path = next((path.removesuffix(end) for end in _PATHS if path.endswith(end)), path)
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), dict(parse_qsl(parts.query))


def in_flight_of(name: str) -> int:
    """The default number of calls at once to the server of a model of that name."""
    provider = PROVIDERS.get(name.partition("/")[0])
    return (provider.in_flight if provider else None) or DEFAULT_IN_FLIGHT


_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """The identity of a server. host: in lower case. port: the usual one if the address has none."""

    scheme: str
    host: str
    port: int | None


def origin_of(url: str) -> Origin:
    """The origin of an address. Raises ValueError for an invalid port."""
    parts = urlsplit(url)
    return Origin(parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme))


def server_of(url: str) -> str:
    """Host and port (where it is not the usual one) of an address."""
    scheme, host, port = origin_of(url)
    host = f"[{host}]" if ":" in host else host
    return host if port == _PORTS.get(scheme) else f"{host}:{port}"


_AZURE_VERSION = "2024-10-21"
"""The version of Azure's API, where the setting query names none: the latest stable one of its classic
addresses."""


def azure_address(base_url: str, deployment: str) -> tuple[str, dict[str, str]]:
    """(address, query) of a deployment at Azure. An address that ends in /openai/v1 stays as it is; one of a
    resource, or of its /openai, is completed to the classic form.
    """
    url = base_url.rstrip("/")
    path = urlsplit(url).path.rstrip("/")
    if path.endswith("/v1"):
        return url, {}
    if "/deployments/" not in path:
        url = f"{url}{'' if path.endswith('/openai') else '/openai'}/deployments/{deployment}"
    return url, {"api-version": _AZURE_VERSION}
