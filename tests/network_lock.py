"""The tests' network lock: for a test (conftest.py) and for a program that one starts (locked/)."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Any


class NetworkLocked(OSError):
    """A test tried to leave this machine."""


def is_local(address: object) -> bool:
    """Whether a socket address stays on this machine: a Unix path, or a loopback host."""
    if not isinstance(address, tuple):
        return True
    host = address[0]
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def lock(put: Callable[[object, str, object], None], noted: Callable[[object], None]) -> None:
    """Refuse every address outside this machine. put: as `setattr`; noted: is told of each such address."""

    def check(address: object) -> None:
        if not is_local(address):
            noted(address)
            raise NetworkLocked(f"a test tried to reach {address!r}; tests may only use this machine")

    def guard(name: str) -> None:
        real = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            # `sendto(data[, flags], address)` has the address last, `connect(address)` has only it.
            if self.family in (socket.AF_INET, socket.AF_INET6):
                check(args[-1])
            return real(self, *args)

        put(socket.socket, name, guarded)

    for name in ("connect", "connect_ex", "sendto"):
        guard(name)
    real_lookup = socket.getaddrinfo

    def lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        check((host,))
        return real_lookup(host, *args, **kwargs)

    put(socket, "getaddrinfo", lookup)
