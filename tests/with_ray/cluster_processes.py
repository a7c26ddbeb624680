"""What the suite asks Linux about the processes of a cluster: who they are, where they listen and go."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

WAIT = 120.0
"""Seconds to wait for something on a busy machine."""


def below(root: int) -> list[int]:
    """All processes that this one has started, and those that they have."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(folder.name))
    found, todo = [], [root]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def title(process: int) -> str:
    """The words of a process; "" once it has ended."""
    with suppress(OSError):
        return (Path("/proc") / str(process) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def workers(root: int) -> list[int]:
    """The actors among the processes of a cluster."""
    return [one for one in below(root) if title(one).startswith("ray::RayWorker")]


def wait_until_gone(processes: list[int]) -> None:
    """AssertionError if one of them is still there after a while."""
    end = time.monotonic() + WAIT
    while left := {one: title(one) for one in processes if title(one)}:
        assert time.monotonic() < end, left
        time.sleep(0.1)


def addresses(processes: list[int]) -> set[str]:
    """The addresses, both ends, of all TCP and UDP sockets of these processes."""
    theirs = set()
    for process in processes:
        with suppress(OSError):
            for file in (Path("/proc") / str(process) / "fd").iterdir():
                with suppress(OSError):
                    theirs.add(os.readlink(file).removeprefix("socket:[").removesuffix("]"))
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in (Path("/proc/net") / table).read_text().splitlines()[1:]:
            words = line.split()
            if words[9] in theirs:
                unconnected = words[2].endswith(":0000")
                found |= {_address(one) for one in (words[1:2] if unconnected else words[1:3])}
    return found


def _address(written: str) -> str:
    """An address of the kernel's tables: words of four bytes in this machine's order, in hexadecimal."""
    digits = written.partition(":")[0]
    data = b"".join(struct.pack("=I", int(digits[at : at + 8], 16)) for at in range(0, len(digits), 8))
    return socket.inet_ntop(socket.AF_INET if len(data) == 4 else socket.AF_INET6, data)


def is_loopback(address: str) -> bool:
    """Whether an address, perhaps of IPv4 in IPv6, is this machine's own."""
    found = ip_address(address)
    inner = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (inner or found).is_loopback


@contextmanager
def watched(root: int) -> Iterator[set[str]]:
    """The addresses of all processes below this one while the block runs; complete after it."""
    seen: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            seen.update(addresses(below(root)))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()
