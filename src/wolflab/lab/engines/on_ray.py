"""Worker processes of a Ray cluster: each is an actor. No other module imports Ray.

Ray's usage statistics and its dashboard are off in a local cluster, and all its processes listen on loopback
alone. A cluster that is there already has its own settings.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import socket
import tempfile
from collections import deque
from contextlib import suppress
from threading import current_thread, main_thread
from typing import Any

from ...errors import WolflabError
from .engine import WorkerEnded
from .worker import run_worker

_LONGEST_START = 600.0
"""Seconds after which a worker that Ray has not started is given up: the cluster has too few cores."""
_LONGEST_CONNECT = 30.0
"""Seconds to wait for a cluster that is there."""
_LOCAL = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # The name is Ray's. "0" says that no other machine will join, so that processes listen on loopback alone.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""The environment in which a local cluster starts. Ray reads some of it when it is imported."""
_MEMORY = 100 << 20
"""Bytes of a local cluster's object store, which holds messages of more than 100 kB; others are on disk."""


class RayWorker:
    """The actor: a worker process."""

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[bytes] = asyncio.Queue()
        self._outbox: list[bytes] = []
        self._changed = asyncio.Event()

    async def begin(self) -> None:
        """Begin to do tasks."""
        self._running = asyncio.create_task(run_worker(self._send, self._inbox.get))
        self._running.add_done_callback(lambda _: self._changed.set())

    def _send(self, data: bytes) -> None:
        self._outbox.append(data)
        self._changed.set()

    async def put(self, messages: list[bytes]) -> None:
        """Take what the driver sends."""
        for data in messages:
            self._inbox.put_nowait(data)

    async def get(self) -> list[bytes]:
        """What is for the driver, as soon as there is something. Raises the error with which work ended."""
        await self._changed.wait()
        if self._running.done():
            self._running.result()
        self._changed.clear()
        sent, self._outbox = self._outbox, []
        return sent


class RayLink:
    """See `Link`. actor: a `RayWorker`."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self.actor = ray, actor
        self._to_send: list[bytes] = []
        self._received: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._calls: set[asyncio.Task[Any]] = set()
        self._sending = asyncio.create_task(self._send_all())

    def send(self, data: bytes) -> None:
        """See `Link`."""
        self._to_send.append(data)
        self._changed.set()

    async def _send_all(self) -> None:
        """Send what waits. Each call is over before the next, because an actor may begin two in any order."""
        with suppress(self._ray.exceptions.RayError):  # `receive` raises it too
            while True:
                await self._changed.wait()
                self._changed.clear()
                sent, self._to_send = self._to_send, []
                await self._result(self.actor.put.remote(sent))

    async def receive(self) -> bytes:
        """See `Link`."""
        while not self._received:
            try:
                self._received.extend(await self._result(self.actor.get.remote()))
            except self._ray.exceptions.RayError as error:
                raise WorkerEnded(f"a worker of the Ray cluster has ended ({_first_line(error)})") from None
        return self._received.popleft()

    async def stop(self) -> None:
        """See `Link`."""
        self._sending.cancel()
        self._ray.kill(self.actor)
        ended = self._result(self.actor.get.remote())
        await asyncio.gather(ended, *self._calls, return_exceptions=True)

    async def _result(self, reference: Any) -> Any:
        """The result of a call. It is never cancelled: Ray's client would print errors."""
        call = asyncio.create_task(_awaited(reference))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return await asyncio.shield(call)


class RayEngine:
    """See `Engine`.

    address: of a cluster, as `ray.init` takes it; None for one on this machine with a core for each of
    `count` workers, which `stop` ends.
    """

    def __init__(self, address: str | None, count: int) -> None:
        self._address, self._count = address, count
        self._ray: Any = None
        self._failed: WolflabError | None = None
        self._folder = ""

    async def start(self, number: int) -> RayLink:
        """See `Engine`."""
        if self._failed is not None:
            raise self._failed
        if self._ray is None:
            try:
                self._ray = self._connected()
            except WolflabError as failed:  # all workers start at once: the others do not try again
                self._failed = failed
                raise
        ray = self._ray
        actor = ray.remote(RayWorker).options(num_cpus=1, max_restarts=0, max_task_retries=0).remote()
        try:
            await asyncio.wait_for(_awaited(actor.begin.remote()), _LONGEST_START)
        except TimeoutError:
            ray.kill(actor)
            raise WolflabError(
                f"Ray has not started worker {number} in {_LONGEST_START / 60:.0f} minutes: each takes "
                "a core for itself (ray status tells of them); set workers to fewer"
            ) from None
        except ray.exceptions.RayError as error:
            raise WolflabError(
                f"worker {number} of the Ray cluster could not begin ({_first_line(error)}); install this "
                "Wolflab on all of its machines"
            ) from None
        return RayLink(ray, actor)

    def _connected(self) -> Any:
        """The package, connected to the cluster, which is started if it is ours."""
        before, terminated = dict(os.environ), signal.getsignal(signal.SIGTERM)
        settings: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
        if self._address is None:
            os.environ.update(_LOCAL)
            # A path of a socket has at most 107 characters, so that $TMPDIR may be too long.
            self._folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
            settings |= {
                "num_cpus": self._count,
                "include_dashboard": False,
                "object_store_memory": _MEMORY,
                "_temp_dir": self._folder,
            }
        try:
            import ray

            if self._address not in (None, "auto"):  # Ray would wait for minutes
                host, _, port = str(self._address).removeprefix("ray://").rpartition(":")
                socket.create_connection((host, int(port)), _LONGEST_CONNECT).close()
            ray.init(address=self._address or "local", **settings)
        except ImportError:
            raise WolflabError(
                "engine: ray needs the package ray, and it is not installed: pip install 'wolflab[ray]'"
            ) from None
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            which = "a cluster on this machine" if self._address is None else self._address
            raise WolflabError(f"engine: ray cannot use {which} ({_first_line(error)})") from None
        finally:
            for name in _LOCAL:
                if name in before:
                    os.environ[name] = before[name]
                else:
                    os.environ.pop(name, None)
            if current_thread() is main_thread():  # `ray.init` takes the signal, by which a run stops
                signal.signal(signal.SIGTERM, terminated)
        return ray

    async def stop(self) -> None:
        """End the cluster, if it is ours; else leave it as it is."""
        if self._ray is not None:
            self._ray.shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


async def _awaited(reference: Any) -> Any:
    return await reference


def _first_line(error: BaseException) -> str:
    """The first line of an error of Ray's, which may have many; of a task's error, its cause."""
    cause = getattr(error, "cause", None) or error
    return (str(cause).strip() or type(cause).__name__).partition("\n")[0].strip(" .:")
