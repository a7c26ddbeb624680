"""One HTTP exchange with a server that speaks OpenAI's protocol, and what a failed one leads to.

Chat and embeddings share it. It knows neither what was asked nor what an answer is worth: a path and a
body go out, a JSON object or a `Fault` comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ModelError, ModelRefused, ServerError
from .faults import Fault, shorten
from .wire import NOT_JSON, decoded

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Classify = Callable[[int, object, Mapping[str, str]], Fault]
"""status, decoded error body, headers → the fault behind them."""

FIRST_WAIT, LAST_WAIT = 0.5, 60.0
"""Seconds before the first retry, and the most that doubling leads to."""

_RAW = {"X-Stainless-Raw-Response": "true"}
"""Asks the library for the response as it came, as its `with_raw_response` does."""


class HttpAnswer(NamedTuple):
    """A JSON object that came back. `latency` in seconds."""

    body: dict[str, Any]
    headers: Mapping[str, str]
    latency: float


async def post(
    client: AsyncOpenAI,
    path: str,
    body: Mapping[str, Any],
    *,
    timeout: float,
    classify: Classify,
    address: str,
    secret: str | None,
) -> HttpAnswer | Fault:
    """Send `body` to `path`. Everything that can go wrong in it comes back as a Fault.

    timeout: seconds for the whole attempt. address: may be shown. secret: the key, taken out of words.
    """
    import aiohttp
    import openai

    started = perf_counter()
    try:
        async with asyncio.timeout(timeout):
            # Not the library's typed methods: those walk the whole body to look for types of the
            # library's own, which costs more than the rest of the call.
            raw: Any = await client.post(path, cast_to=object, body=body, options={"headers": _RAW})
    except TimeoutError:
        return Fault("retry", f"no answer within {timeout:g} s")
    except openai.APIStatusError as error:
        return classify(error.status_code, error.body, error.response.headers)
    except (openai.APIConnectionError, aiohttp.ClientError, OSError) as error:
        message = str(error.__cause__ or error)
        return Fault("retry", shorten(message.replace(secret, "…") if secret else message))
    latency = perf_counter() - started
    reply = decoded(raw.content)
    if reply is NOT_JSON:
        return Fault("retry", f"an answer that is not JSON (is {address} right?)")
    if not isinstance(reply, dict):
        return Fault("retry", "an answer that is not a JSON object")
    return HttpAnswer(reply, raw.headers, latency)


def passed_on(answer: HttpAnswer, classify: Classify) -> Fault:
    """The fault behind an `error` under status 200: routers pass on another server's that way."""
    error = answer.body["error"]
    code = error.get("code") if isinstance(error, dict) else None
    return classify(code if isinstance(code, int) else 502, error, answer.headers)


def backoff_pause(fault: Fault, waited: int, jitter: Callable[[], float]) -> float:
    """Seconds: what the server asked for, else doubling; spread, so that calls do not return at once."""
    if fault.wait is not None:
        return fault.wait * (1 + 0.1 * jitter())
    return float(min(LAST_WAIT, FIRST_WAIT * 2 ** min(waited, 30)) * (0.5 + 0.5 * jitter()))


def raise_if_hopeless(
    fault: Fault, at: str, *, model: str, variable: str | None, longest_wait: float
) -> None:
    """Raise ModelError for what no retry can mend. `at`: who failed, in words."""
    match fault.kind:
        case "retry":
            if (fault.wait or 0) > longest_wait:
                raise ServerError(
                    f"{at} asks to wait {fault.wait:.0f} s, more than longest_wait "
                    f"({longest_wait:g} s): resume the run later"
                )
        case "quota":
            raise ModelRefused(f"{at} says that its credit is used up ({fault.words}): resume later")
        case "key":
            # The server's words are left out: some repeat the key.
            raise ModelRefused(
                f"{at} refuses the key (HTTP status {fault.status}): check {variable or 'api_key_env'}"
            )
        case "model":
            raise ModelRefused(f"{at} has no model {model!r}, or the address is wrong: {fault.words}")
        case _:
            raise ModelError(f"{at} refuses the request: {fault.words}")


def gave_up(fault: Fault, at: str, attempts: int) -> ServerError:
    """The error after the last retry."""
    times = "once" if attempts == 1 else f"{attempts} times"
    return ServerError(f"{at} failed {times}, last with: {fault.words}; the run can be resumed")
