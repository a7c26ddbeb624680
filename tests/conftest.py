"""What every test runs under: the network is locked.

A test may talk to this machine (loopback, Unix sockets) and to nothing else. An attempt to reach any
other address raises `NetworkLocked`, and fails the test even where the code under test swallows the
error, because the attempt is also written down and looked at when the test ends.

Property tests try the same examples every time, so that a change is judged by itself and not by luck.
`pytest --hypothesis-profile=default` looks for new ones.

Linear algebra takes one thread: the threads of tests that run beside each other would wait for one another,
which takes several times the processor's work.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from network_lock import NetworkLocked, is_local

# Read when numpy and torch are first imported, here and in the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture
def network_attempts() -> list[object]:
    """The addresses outside this machine that the running test tried to reach."""
    return []


@pytest.fixture(autouse=True)
def _network_lock(monkeypatch: pytest.MonkeyPatch, network_attempts: list[object]) -> Iterator[None]:
    def check(address: object) -> None:
        if not is_local(address):
            network_attempts.append(address)
            raise NetworkLocked(f"a test tried to reach {address!r}; tests may only use this machine")

    def guard(name: str) -> None:
        real = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            # `sendto(data[, flags], address)` has the address last, `connect(address)` has only it.
            if self.family in (socket.AF_INET, socket.AF_INET6):
                check(args[-1])
            return real(self, *args)

        monkeypatch.setattr(socket.socket, name, guarded)

    for name in ("connect", "connect_ex", "sendto"):
        guard(name)
    real_lookup = socket.getaddrinfo

    def lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        check((host,))
        return real_lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    yield
    if network_attempts:
        pytest.fail(f"the test tried to reach {network_attempts}; tests may only use this machine")
