"""What a server's error means, read from its status, headers and words. Pure functions.

Servers that speak the same protocol word their errors differently; every guess about those words is in
this file, and none is made anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Literal

FaultKind = Literal[
    "retry", "quota", "key", "model", "context", "filter", "broken", "setting", "long", "request"
]

_READ = 20_000
"""Characters of a server's words that are read."""
SHOWN = 200
"""How many characters of a server's words are shown."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed attempt.

    kind: retry (the server's trouble: wait and try again) · quota (paid credit is used up) · key
    (refused) · model (not known there) · context (the prompt does not fit) · filter · broken (the model
    wrote, but not in the form that it was held to; `reply` is what it wrote) · setting (refused; `setting`
    names it) · long (more than is read of a reply) · request (anything else that will not get better).
    wait: seconds that the server asked for.
    """

    kind: FaultKind
    words: str
    status: int = 0
    wait: float | None = None
    setting: str = ""
    reply: str = ""


_CONTEXT = re.compile(
    r"context (length|window|size)|maximum context|context_length_exceeded|exceed_context_size"
    r"|prompt is too long|input is too long|too many (input |prompt )?tokens"
    r"|exceeds? the (model's )?(max|token limit)|could not finish the message"
    r"|maximum prompt length|range of input length|exceeded model token limit|token length too long",
    re.IGNORECASE,
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
"""What LM Studio says under status 200."""
_NO_MODEL = {"model_not_found", "1211"}
_KEY = re.compile(
    r"(api|authentication|auth)[ _-]?(key|token)[^.]{0,40}?(not valid|invalid|incorrect|expired|revoked)"
    r"|(invalid|incorrect|expired|revoked) (api|authentication|auth)[ _-]?(key|token)",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"response[_ ]format|json[_ ]schema|json[_ ]object|json mode|structured output|grammar", re.IGNORECASE
)
_KEYWORD = {
    "minItems": re.compile(r"\bmin_?items\b", re.IGNORECASE),
    "maxItems": re.compile(r"\bmax_?items\b", re.IGNORECASE),
    "additionalProperties": re.compile(r"\badditional_?properties\b", re.IGNORECASE),
    # The word alone is no sign: a server that knows other kinds of `response_format` lists them as an enum.
    "enum": re.compile(r"\.enum\b|\benum\[|\benums? .{0,40}\bstring", re.IGNORECASE),
}
"""How servers name the keywords of a schema that they refuse."""
_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "1261"}
_QUOTA_CODES = {"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached", "1113"}
_RETRIED = {408, 409, 425, 429}


def of_status(
    status: int,
    body: object,
    headers: Mapping[str, str],
    *,
    sent: Collection[str],
    keywords: Collection[str] = (),
    filtered: Collection[str] = (),
    secret: str | None = None,
) -> Fault:
    """The fault behind an error status.

    body: the decoded error object, text, or None. sent: the names of the settings in the request. keywords:
    of the schema in it, those that it can do without; one that is refused is named as a setting is.
    filtered: error codes that mean the content filter at this provider. secret: the key, which some
    servers repeat; it is taken out before the words are cut, so that no half of it stays.
    """
    codes, param, message = _parts(body)
    message = message[:_READ].replace(secret, "…") if secret else message[:_READ]
    shown = shorten(message) or f"HTTP status {status}"

    def fault(kind: FaultKind, **more: Any) -> Fault:
        return Fault(kind, shown, status, **more)

    if message.startswith(_NO_ADDRESS):
        return fault("model")
    if status == 402 or codes & _QUOTA_CODES:
        return fault("quota")
    if (written := _broken_reply(body)) is not None:
        return fault("broken", reply=written)
    if status in (400, 403) and ("access_terminated" in codes or _SUSPENDED.search(message)):
        return fault("key")
    if status == 403 and _FILTER.search(message):
        return fault("filter")  # one prompt that is refused; the key is not
    if status == 403 and (codes & _NO_MODEL or _MODEL.search(message)):
        return fault("model")  # one model that this key may not use; others it may
    if status in (401, 403) or (status == 400 and _KEY.search(message)):
        # A model that may not say them answers so too.
        denied = "logprobs" in sent and "logprobs" in message
        return fault("setting", setting="logprobs") if denied else fault("key")
    if status in _RETRIED:
        return fault("retry", wait=retry_after(headers))
    # A few servers answer 500 where they mean 400; only words that name the cause are believed there.
    if codes & set(filtered) or (status < 500 and _FILTER.search(message)):
        return fault("filter")
    if status == 413 and "rate_limit_exceeded" in codes:
        return fault("request")  # more tokens than this key may send in a minute
    if status == 413 or codes & _CONTEXT_CODES or _CONTEXT.search(message):
        return fault("context")
    setting = _keyword(message, keywords) or _refused(param, message, sent)
    if setting:
        return fault("setting", setting=setting)
    if status >= 500:
        return fault("retry", wait=retry_after(headers))
    if status == 404 or codes & _NO_MODEL or _MODEL.search(message):
        return fault("model")
    return fault("request")


def _parts(body: object) -> tuple[set[str], str, str]:
    """(code and type, parameter, message) of an error body, whatever its form."""
    inner = _error_in(body)
    if isinstance(inner, Mapping):
        message = inner.get("message") or inner.get("detail") or inner.get("msg") or inner
        codes = {str(inner.get(name)) for name in ("code", "type") if inner.get(name)}
        return codes, str(inner.get("param") or ""), str(message)
    return set(), "", "" if body is None else str(inner)


def _error_in(body: object) -> object:
    return body.get("error", body) if isinstance(body, Mapping) else body


def _broken_reply(body: object) -> str | None:
    """What the model wrote where a server that holds it to JSON finds that it is none (Groq); else None."""
    inner = _error_in(body)
    written = inner.get("failed_generation") if isinstance(inner, Mapping) else None
    return written[:_READ] if isinstance(written, str) else None


def _keyword(message: str, keywords: Collection[str]) -> str:
    """Which keyword of the schema the error names first; empty when it names none."""
    found = [(match.start(), name) for name in keywords if (match := _KEYWORD[name].search(message))]
    return min(found)[1] if found else ""


def _refused(param: str, message: str, sent: Collection[str]) -> str:
    """Which of the settings sent the error is about; empty when it names none."""
    path: list[str] = re.findall(r"\w+", param)
    for name in (*path[:1], *path[-1:]):  # "response_format.json_schema", "messages[0].content[0].mark"
        if name in sent:
            return name
    named = [(match.start(), name) for name in sent if (match := re.search(rf"\b{name}\b", message))]
    if "response_format" in sent and (match := _FORMAT.search(message)):
        named.append((match.start(), "response_format"))
    return min(named)[1] if named else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: `Retry-After-Ms`, or `Retry-After` in seconds or as a date (RFC 9110 §10.2.3). None
    where nothing is said, or no time: some servers say 0 while they have trouble.

    A date counts from the response's own `Date`, so that a wrong clock here does no harm.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = fields.get(name, "").strip()
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value) * scale or None
    retry_date = _seconds(fields.get("retry-after", ""))
    if retry_date is None:
        return None
    response_date = _seconds(fields.get("date", ""))
    wait = retry_date - (time() if response_date is None else response_date)
    return wait if wait > 0 else None


def _seconds(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def shorten(message: str) -> str:
    """One line of at most SHOWN characters."""
    line = " ".join(message.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
