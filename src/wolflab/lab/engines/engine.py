"""The interface of engines: what starts worker processes, and carries bytes to and from them.

An engine knows nothing of tasks. A further one (for Dask, or for a batch system) implements two protocols:

- `Engine.start` starts a process somewhere. There, it runs `worker.run_worker(send, receive)` on a loop.
- A `Link` carries bytes between that process and this one (the driver), in both directions, in their order
  and without loss. It raises `WorkerEnded` when the process ends.

The driver makes all calls of models that wait, and it alone writes. So no engine has to know of budgets,
limits, keys or files.
"""

from __future__ import annotations

from typing import Protocol

from ...errors import WolflabError


class WorkerEnded(WolflabError):
    """A worker process has ended, or cannot be reached any more."""


class Link(Protocol):
    """The driver's connection to one worker."""

    def send(self, data: bytes) -> None:
        """Send bytes; it does not wait, and does nothing once the worker has ended."""
        ...

    async def receive(self) -> bytes:
        """The next bytes from the worker; WorkerEnded when it has ended."""
        ...

    async def stop(self) -> None:
        """End the worker, whatever it does. It may end a little later; `Engine.stop` waits for that."""
        ...


class Engine(Protocol):
    """Starts workers; see the module."""

    async def start(self, number: int) -> Link:
        """Start a worker. number: from 1, for errors. Raises WolflabError if it cannot be started."""
        ...

    async def stop(self) -> None:
        """Wait until all workers have ended, which have been stopped; release what the engine holds."""
        ...
