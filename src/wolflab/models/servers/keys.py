"""Keys: where they are read, to which servers they may be sent, and how they are kept out of stored data.

A key may be sent to the server of its own provider. Any other server needs the user's consent, because
somebody else may have written the file that names server and key. A consent is stored for this user; an entry
in the user's own environment (`WOLFLAB_KEYS`) is one too.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote, quote_plus, urlsplit, urlunsplit

from ...errors import ModelError, StoreError
from ...files import write
from .providers import origin_of, server_of

KEYS_VARIABLE = "WOLFLAB_KEYS"
"""The environment variable with the servers to which keys may be sent: "MY_KEY=gpu-box:8000 OTHER_KEY=…". A
server without a port stands for all ports of that host, one without http:// or https:// for both.
"""
_SHORTEST = 8
"""Minimum length of a key that is masked: a shorter one may be an ordinary word."""
_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
MASK = "…"


class KeyNotAllowed(ModelError):
    """A key would be sent to a server without the user's consent. what: the problem in words."""

    def __init__(self, variable: str, server: str, who: str) -> None:
        self.what = f"{who} sends the key in {variable} to {server}, and you have not allowed that yet"
        super().__init__(
            f"{self.what}; to allow it, set {KEYS_VARIABLE}={variable}={server} in the environment, or add "
            "--yes where the command has it"
        )


# -- reading ----------------------------------------------------------------------------------


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


def check_variable(name: str) -> None:
    """Raise ModelError for an invalid name of an environment variable; it may be the key, and is not
    shown.
    """
    if not name.isidentifier():
        raise ModelError(
            "model setting 'api_key_env': use the name of the environment variable that holds the key"
        )


def check_key(variable: str, key: str) -> None:
    """Raise ModelError for an invalid key."""
    if not (key.isascii() and key.isprintable()):
        raise ModelError(f"the key in {variable} holds characters that no key has; copy it again")


def refused_key(variable: str | None, status: int | None) -> str:
    """The clause for a server that refuses the key of this variable, or the lack of one. status: of HTTP."""
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


def public_url(url: str) -> str:
    """`url` without user, password, query and fragment: what may be shown."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


# -- headers and query parameters with keys in them -------------------------------------------


def named_in(values: Mapping[str, str]) -> list[str]:
    """The environment variables that values name as ``${NAME}``."""
    return list(dict.fromkeys(name for value in values.values() for name in _NAMED.findall(value)))


def with_environment(values: Mapping[str, str], what: str) -> dict[str, str]:
    """The values with environment variables in place of ``${NAME}``. what: "headers". ModelError for a
    variable that is not set.
    """

    def value_of(name: str) -> str:
        value = key_value(name)
        if value is None:
            raise ModelError(f"setting {what!r} names ${{{name}}}, and no variable {name} is set")
        check_key(name, value)
        return value

    return {name: _NAMED.sub(lambda found: value_of(found[1]), text) for name, text in values.items()}


_SECRET = re.compile(
    r"authorization|bearer|cookie|credential|passw|secret|session|signature|(?:auth|key|token)(?![a-z])"
    r"|(?<![a-z])(?:code|pat|sig)(?![a-z])",
    re.IGNORECASE,
)
"""Parts of names of headers and parameters that hold a key."""


def check_plain(values: Mapping[str, str], what: str) -> None:
    """Raise ModelError for a header or query parameter that seems to hold a plain key, which every run's file
    would contain.
    """
    for name, text in values.items():
        beside = _NAMED.sub("", text).split()
        scheme_alone = _NAMED.search(text) and len(beside) <= 1  # "Bearer ${NAME}"
        if _SECRET.search(name) and text and not scheme_alone:
            raise ModelError(
                f"model setting {what!r}: {name} seems to hold a key; put it into an environment variable, "
                "and write ${NAME} in its place"
            )


# -- where keys may go ------------------------------------------------------------------------

Allowed = Literal["no", "now", "always"]
"""Whether a key may be sent: not, in this process, or also in later ones of this user."""
ConfirmKey = Callable[[KeyNotAllowed], Allowed]
"""Asks the user."""
ask: ConfirmKey | None = None
"""Set by a command that can ask; None: the user cannot be asked."""


def check_destination(variables: Iterable[str], url: str, who: str) -> None:
    """Raise KeyNotAllowed where one of these keys would be sent to a server without consent. who: "model
    'x'".
    """
    server = server_of(url)
    origin = f"{origin_of(url).scheme}://{server}"
    for variable in variables:
        if any(_is_at(url, place) for name, place in _allowed_in_environment() if name == variable):
            continue
        if (variable, origin) in _stored_consents():
            continue
        wanted = KeyNotAllowed(variable, server, who)
        answer = "no" if ask is None else ask(wanted)
        if answer == "no":
            raise wanted
        allowed = f"{os.environ.get(KEYS_VARIABLE, '')} {variable}={origin}"
        os.environ[KEYS_VARIABLE] = allowed.strip()  # so that workers see it too
        if answer == "always":
            _store_consent(variable, origin)


def _is_at(url: str, place: str) -> bool:
    """Whether an address is at a place: a host, perhaps with a port or a scheme."""
    if place.count(":") > 1 and "[" not in place and "://" not in place:  # an address of IPv6 alone
        place = f"[{place}]"
    at = origin_of(url)
    try:
        scheme, host, port = origin_of(place if "://" in place else f"//{place}")
    except ValueError:
        return False
    return host == at.host and scheme in ("", at.scheme) and port in (None, at.port)


def _allowed_in_environment() -> list[tuple[str, str]]:
    """The entries of the environment. A file `.env` does not count: somebody else may have written it."""
    pairs = (part.partition("=") for part in re.split(r"[\s,]+", os.environ.get(KEYS_VARIABLE, "")))
    return [(variable, place) for variable, _, place in pairs if place]


def _consent_file() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "wolflab" / "keys.json"


def _stored_consents() -> set[tuple[str, str]]:
    """The stored consents: (variable, server)."""
    try:
        pairs = json.loads(_consent_file().read_text(encoding="utf-8"))
        return {(variable, server) for variable, server in pairs}
    except (OSError, ValueError, TypeError):
        return set()


def _store_consent(variable: str, origin: str) -> None:
    """Store a consent. Where the file cannot be written, it holds for this process alone."""
    pairs = sorted({*_stored_consents(), (variable, origin)})
    with suppress(OSError, StoreError):
        _consent_file().parent.mkdir(parents=True, exist_ok=True)
        write(_consent_file(), json.dumps(pairs, indent=1).encode() + b"\n")


# -- keeping them out -------------------------------------------------------------------------


class Secrets:
    """The keys of one endpoint, which are removed from replies before these are read or stored."""

    def __init__(self, keys: Iterable[str | None]) -> None:
        given = [key for key in keys if key and len(key) >= _SHORTEST]
        found = {spelled for key in given for spelled in (key, quote(key, safe=""), quote_plus(key))}
        self._keys = sorted(found, key=len, reverse=True)
        self._bytes = [key.encode() for key in self._keys]

    def masked(self, content: bytes) -> bytes:
        """A body without them."""
        for key in self._bytes:
            if key in content:
                content = content.replace(key, MASK.encode())
        return content

    def masked_text(self, text: str) -> str:
        """A text without them: in a body, a letter may be spelled as its number."""
        for key in self._keys:
            if key in text:
                text = text.replace(key, MASK)
        return text
