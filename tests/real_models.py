"""What suites on real models share: they run when asked for, and a server of llama.cpp."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest


def only_when_asked(
    config: pytest.Config, items: list[pytest.Item], folder: Path, marker: str, needed: Mapping[str, str]
) -> None:
    """Leave the folder's tests out without ``-m marker``; with it, skip them where packages are missing.

    needed: module → what pip calls it.
    """
    mine = [item for item in items if folder in item.path.parents]
    if marker not in config.option.markexpr:
        items[:] = [item for item in items if item not in mine]
        config.hook.pytest_deselected(items=mine)
        return
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        install = " ".join(f"'{needed[name]}'" for name in missing)
        why = f"{' and '.join(missing)} not installed: pip install {install}"
        for item in mine:
            item.add_marker(pytest.mark.skip(reason=why))


@contextmanager
def llama_server(
    gguf: Path, alias: str, context: int, threads: int, log: Path, lora: Path | None = None
) -> Iterator[str]:
    """llama.cpp's OpenAI-compatible server on a model's file: its base URL. context: tokens. lora: an
    adapter's file.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(gguf), "--model_alias", alias]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    command += ["--n_ctx", str(context), "--n_threads", str(threads), "--verbose", "False"]
    command += [] if lora is None else ["--lora_path", str(lora)]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail(f"the engine did not start:\n{log.read_text()[-2000:]}")
