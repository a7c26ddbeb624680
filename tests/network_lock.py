"""What the tests' network lock (conftest.py) raises, and what it lets through."""

from __future__ import annotations

import ipaddress


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
