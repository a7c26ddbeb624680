"""The meaning of a server's error, from its status, headers and words. Pure functions.

Servers with the same protocol word their errors differently. All guesses about these words are in this file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Literal

import msgspec

FaultKind = Literal[
    "retry", "quota", "key", "model", "address", "context", "filter", "broken", "setting", "long", "request"
]

_READ = 20_000
"""Maximum characters of a server's words that are read."""
SHOWN = 200
"""Maximum characters of a server's words that are shown."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed attempt.

    kind: retry (the server's trouble: wait and try again) · quota (paid credit is used up) · key (refused) ·
    model (not known there) · address (the address cannot be used as it is) · context (the prompt does not
    fit) · filter · broken (the model did not write the required form; `reply` is what it wrote) · setting
    (refused; `setting` names it) · long (the reply is too long to be read) · request (any other permanent
    error).

    wait: seconds that the server asked for. timed_out: the reply was not complete in time. possibly_paid: the
    server may have worked on the request, and charge for it.
    """

    kind: FaultKind
    words: str
    status: int = 0
    wait: float | None = None
    setting: str = ""
    reply: str = ""
    timed_out: bool = False
    possibly_paid: bool = False

    @property
    def too_many(self) -> bool:
        """There were too many requests, and the server did not say how long to wait."""
        return self.kind == "retry" and self.status == 429 and self.wait is None


_CONTEXT = re.compile(
    r"context (length|window|size|limit)|maximum context|context_length_exceeded|exceed_context_size"
    r"|prompt is too long|input is too long|too many (input |prompt )?tokens(?!, please wait)"
    r"|exceeds? the (model's )?(max|token limit)|could not finish the message"
    r"|maximum prompt length|range of input length|exceeded model token limit|token length too long"
    # The tokens left for the reply, after a prompt that fills the window.
    r"|max_(completion_)?tokens must be at least 1, got -|value >= 1, but got -"
    r"|longer than the (maximum )?model|maximum (allowed )?input length|prompt exceeds max length"
    r"|inputs` (tokens \+|must have less)|n_keep|token count[^.]{0,30} exceeds",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(r"request too large for", re.IGNORECASE)
"""More tokens than this key may send in a minute: no wait helps."""
_LONGEST = re.compile(
    r"max_(?:completion_)?tokens[^.]{0,60}\[1, ?(?P<range>\d{1,9})\]"
    r"|supports at most (?P<most>\d{1,9}) completion tokens"
    r"|> (?P<above>\d{1,9}), which is the maximum allowed number of output tokens"
)
"""Servers' words for the maximum length of a reply."""
_SYSTEM = re.compile(
    r"system role (is )?not supported|does not support '(system|developer)'|only user and assistant roles"
    r"|roles must alternate|developer instruction is not enabled|system messages? (are|is) not"
    r"|invalid message role: system|should be 'user' or 'assistant'",
    re.IGNORECASE,
)
_STREAM = re.compile(
    r"only supports? stream|stream must be set to true|must have stream=true|non-streaming calls|非流式"
    r"|streaming is (strongly recommended|required)",
    re.IGNORECASE,
)
_PLAIN_AT_TLS = re.compile(
    r"plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server", re.IGNORECASE
)
_FILTER = re.compile(
    r"content (management policy|filter|policy|exists risk)|content_filter|usage (policy|policies|guidelines)"
    r"|inappropriate content|safety_check|(input|prompt|request|content|message) (was|were|has been) flagged",
    re.IGNORECASE,
)
_SUSPENDED = re.compile(
    r"\b(account|resource|organi[sz]ation|team|project|key)\b[^.]{0,60}"
    r"\b(flagged|blocked|suspended|terminated|restricted|disabled|deactivated)\b",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"model[^.]{0,120}?(not found|does not exist|not exist|is not available|unknown)"
    r"|(unknown|no such|invalid|unsupported) model|not a valid model|model_not_found|模型不存在",
    re.IGNORECASE,
)
_NO_ADDRESS = "Unexpected endpoint or method"
"""LM Studio's words under status 200."""
_NO_MODEL = {"model_not_found", "1211"}
_KEY = re.compile(
    r"(api|authentication|auth)[ _-]?(key|token)[^.]{0,40}?(not valid|invalid|incorrect|expired|revoked)"
    r"|(invalid|incorrect|expired|revoked) (api|authentication|auth)[ _-]?(key|token)",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"response[_ ]format|output[_ ](format|config)|json[_ ]schema|json[_ ]object|json mode|structured output"
    r"|grammar",
    re.IGNORECASE,
)
_ONE_OF_BOTH = "`temperature` and `top_p` cannot both be specified"
_KEYWORD = {
    "minItems": re.compile(r"\bmin_?items\b", re.IGNORECASE),
    "maxItems": re.compile(r"\bmax_?items\b", re.IGNORECASE),
    "additionalProperties": re.compile(r"\badditional_?properties\b", re.IGNORECASE),
    # The word alone is no sign: a server that knows other kinds of `response_format` lists them as an enum.
    "enum": re.compile(r"\.enum\b|\benum\[|\benums? .{0,40}\bstring", re.IGNORECASE),
}
"""Servers' words for the keywords of a schema that they refuse."""
_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "1261"}
_QUOTA_CODES = {"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached", "1113"}
_QUOTA = re.compile(
    r"credit balance is too low|your (specified (workspace )?)?API usage limits|monthly usage limit",
    re.IGNORECASE,
)
_RETRIED = {408, 409, 425, 429, 498, 499}
_GATEWAY_GAVE_UP = {408, 499, 504, 524}
"""Statuses of a gateway that gave up; the server behind it may have answered."""


def of_status(
    status: int,
    body: object,
    headers: Mapping[str, str],
    *,
    sent: Collection[str],
    keywords: Collection[str] = (),
    filtered: Collection[str] = (),
) -> Fault:
    """The fault behind an error status.

    body: the decoded error object, text, or None. sent: the names of the settings in the request. keywords:
    those of its schema that can be left out; a refused one is named as a setting is. filtered: error codes
    that mean the content filter at this provider. The caller removes keys that a server repeats from the
    body.
    """
    codes, param, message = _parts(body)
    message = message[:_READ]
    shown = shorten(_of_page(message)) or f"HTTP status {status}"

    def fault(kind: FaultKind, **more: Any) -> Fault:
        return Fault(kind, shown, status, **more)

    if message.startswith(_NO_ADDRESS):
        return fault("model")
    if status == 402 or codes & _QUOTA_CODES or _QUOTA.search(message):
        return fault("quota")
    if _PLAIN_AT_TLS.search(message):
        return Fault("address", "it speaks TLS at this port: write https:// in place of http://", status)
    if (written := _broken_reply(body)) is not None:
        return fault("broken", reply=written)
    if status in (400, 403) and ("access_terminated" in codes or _SUSPENDED.search(message)):
        return fault("key")
    if status == 403 and _FILTER.search(message):
        return fault("filter")  # one prompt that is refused; the key is not
    if status == 403 and (codes & _NO_MODEL or _MODEL.search(message)):
        return fault("model")  # one model that this key may not use; others it may
    if status in (401, 403) or (status == 400 and _KEY.search(message)):
        # The answer too where a model may not give them.
        denied = "logprobs" in sent and "logprobs" in message
        return fault("setting", setting="logprobs") if denied else fault("key")
    if _TOO_LARGE.search(message):
        return fault("context")
    if status in _RETRIED:
        wait = retry_after(headers) or _wait_in(message)
        return fault("retry", wait=wait, possibly_paid=status in _GATEWAY_GAVE_UP)
    # A few servers answer 500 where they mean 400; that is read only from words that name the cause.
    if codes & set(filtered) or (status < 500 and _FILTER.search(message)):
        return fault("filter")
    if "system" in sent and _SYSTEM.search(message):
        return fault("setting", setting="system")
    if "stream" not in sent and _STREAM.search(message):
        return fault("setting", setting="stream")
    if status == 413 or codes & _CONTEXT_CODES or _CONTEXT.search(message):
        return fault("context")
    setting = _keyword(message, keywords) or _refused(param, message, sent)
    if setting:
        return fault("setting", setting=setting)
    if status >= 500:
        return fault("retry", wait=retry_after(headers), possibly_paid=status in _GATEWAY_GAVE_UP)
    if status == 404 or codes & _NO_MODEL or _MODEL.search(message):
        return fault("model")
    return fault("request")


def _parts(body: object) -> tuple[set[str], str, str]:
    """(code and type, parameter, message) of an error body, whatever its form."""
    inner = _error_in(body)
    if isinstance(inner, Mapping):
        message = inner.get("message") or inner.get("detail") or inner.get("msg") or inner
        details = inner.get("details")
        named = [
            inner.get("code"),
            inner.get("type"),
            isinstance(details, Mapping) and details.get("error_code"),
        ]
        return (
            {str(name) for name in named if name},
            str(inner.get("param") or ""),
            _with_raw(inner, str(message)),
        )
    return set(), "", "" if body is None else str(inner)


def _error_in(body: object) -> object:
    if isinstance(body, list) and body:  # Gemini
        body = body[0]
    return body.get("error", body) if isinstance(body, Mapping) else body


def _with_raw(inner: Mapping[str, Any], message: str) -> str:
    """The message with the words of the server behind a router (OpenRouter), which passes them on as a
    text.
    """
    metadata = inner.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if not isinstance(raw, str):
        return message
    try:
        behind = _parts(msgspec.json.decode(raw))[2]
    except (msgspec.DecodeError, ValueError, RecursionError):
        behind = raw
    return f"{message}: {behind}"


_TITLE = re.compile(r"<(title|h1)\b[^>]{0,200}>([^<]{1,300})<", re.IGNORECASE)


def _of_page(text: str) -> str:
    """The title of a page in place of an error."""
    found = _TITLE.search(text) if "<" in text else None
    return f"a page: {found[2].strip()}" if found else text


def limit_in_error(words: str) -> int | None:
    """The maximum number of tokens of a reply, if an error names it."""
    found = _LONGEST.search(words)
    return None if found is None else int(found["range"] or found["most"] or found["above"])


def _broken_reply(body: object) -> str | None:
    """The model's text, where a server that requires JSON rejects it (Groq); else None."""
    inner = _error_in(body)
    written = inner.get("failed_generation") if isinstance(inner, Mapping) else None
    return written[:_READ] if isinstance(written, str) else None


def _keyword(message: str, keywords: Collection[str]) -> str:
    """The keyword of the schema that the error names first; "" when it names none."""
    found = [(match.start(), name) for name in keywords if (match := _KEYWORD[name].search(message))]
    return min(found)[1] if found else ""


def _refused(param: str, message: str, sent: Collection[str]) -> str:
    """The setting that the error is about, of those sent; "" when it names none."""
    if _ONE_OF_BOTH in message and "top_p" in sent:
        return "top_p"
    path: list[str] = re.findall(r"\w+", param)
    for name in (*path[:1], *path[-1:]):  # "response_format.json_schema", "messages[0].content[0].mark"
        if name in sent:
            return name
    named = [(match.start(), name) for name in sent if (match := re.search(rf"\b{name}\b", message))]
    if "response_format" in sent and (match := _FORMAT.search(message)):
        named.append((match.start(), "response_format"))
    return min(named)[1] if named else ""


_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)\s*(ms|s\b|sec))?", re.IGNORECASE)
_AGAIN_IN = re.compile(r"(?:try again|retry) (?:in|after) (?=\d)", re.IGNORECASE)


def _wait_in(message: str) -> float | None:
    """Seconds to wait, from an error's words: "try again in 6m0s", "retry after 6 seconds"."""
    found = _AGAIN_IN.search(message)
    return _duration(message[found.end() : found.end() + 40]) if found else None


def _duration(text: str) -> float | None:
    """Seconds of a duration such as "1.2s", "354ms", "1h2m3s"; None for anything else, and for 0."""
    found = _DURATION.match(text)
    if found is None:
        return None
    hours, minutes, number, unit = found.groups()
    seconds = float(number or 0) * (0.001 if (unit or "").lower() == "ms" else 1)
    return 3600 * float(hours or 0) + 60 * float(minutes or 0) + seconds or None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: `Retry-After-Ms`, or `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), or
    until a used-up limit is reset. None where none is given, or 0: some servers say 0 while they have
    trouble.

    A date counts from the response's own `Date`, so that a wrong clock here does no harm.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = fields.get(name, "").strip()
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value) * scale or None
    retry_date = _seconds(fields.get("retry-after", ""))
    if retry_date is None:
        return _reset_after(fields)
    response_date = _seconds(fields.get("date", ""))
    wait = retry_date - (time() if response_date is None else response_date)
    return wait if wait > 0 else None


def _reset_after(fields: Mapping[str, str]) -> float | None:
    """Seconds until a used-up limit is reset: `x-ratelimit-reset-requests: 6m0s`, or a date (Anthropic)."""
    waits = []
    now = _seconds(fields.get("date", "")) or time()
    for name, value in fields.items():
        if "ratelimit" in name and "remaining" in name and value.strip() == "0":
            reset = fields.get(name.replace("remaining", "reset"), "")
            try:
                at = datetime.fromisoformat(reset).timestamp() - now
            except ValueError:
                at = _duration(reset) or 0.0
            waits.append(at)
    return max((wait for wait in waits if wait > 0), default=None)


def _seconds(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def shorten(message: str) -> str:
    """One line of at most SHOWN characters."""
    line = " ".join(message.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
