"""`OPENAI_BASE_URL`, which names another server in place of OpenAI's, as OpenAI's own client reads it.

It holds for models of `openai/` without a `base_url` of their own, and for names without a provider. The
user's own environment also consents that the key in `OPENAI_API_KEY` goes there. A file `.env` does not:
somebody else may have written it.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from ...errors import ModelError
from .keys import check_plain, key_value
from .providers import PROVIDERS, address_and_query, check_url, origin_of

VARIABLE = "OPENAI_BASE_URL"
_OPENAI = PROVIDERS["openai"]


def openai_address() -> str | None:
    """The address in `OPENAI_BASE_URL`, of the environment or of `.env`; None without one. ModelError for one
    that cannot be used.
    """
    url = key_value(VARIABLE)
    if url is not None:
        try:
            check_url(url)
            check_plain(address_and_query(url)[1], VARIABLE)
        except ModelError as error:
            said = str(error).replace("model setting 'base_url'", f"the variable {VARIABLE}")
            raise ModelError(said) from None
    return url


def address_of(provider: str, base_url: str | None) -> str | None:
    """The address of a provider's server: the setting base_url, that of `OPENAI_BASE_URL`, or the provider's
    own; None where none is known.
    """
    row = PROVIDERS.get(provider)
    if base_url or row is None:
        return base_url
    return (openai_address() if row is _OPENAI else None) or row.base_url


def unnamed_provider() -> dict[str, Any]:
    """The settings of a model whose name has no provider and no `base_url`; empty without `OPENAI_BASE_URL`.

    They are written into a run's file, so that the run can be read and resumed without the variable.
    """
    url = openai_address()
    if url is None:
        return {}
    return {"base_url": url} | ({} if key_value(str(_OPENAI.key)) is None else {"api_key_env": _OPENAI.key})


def is_users_own(url: str, variable: str) -> bool:
    """Whether the user's own environment, and not `.env`, says that a variable's key goes to that server."""
    own = os.environ.get(VARIABLE, "").strip()
    try:
        return bool(own) and variable == _OPENAI.key and origin_of(url) == origin_of(own)
    except ValueError:
        return False


def host_of(name: str, base_url: str | None = None) -> str:
    """The host of the server that has a model or an embedder of that name; "" where none is known.

    base_url: the setting beside the name.
    """
    url = address_of(name.partition("/")[0], base_url)
    return urlsplit(url).netloc.rpartition("@")[2] if url else ""
