"""A real inference engine (llama.cpp behind its OpenAI-compatible server) on a tiny random model.

Run with ``pytest -m engine tests/engine`` where ``llama-cpp-python[server]`` and ``gguf`` are installed.
Without ``-m engine`` these tests are left out; with it, and without the packages, they are skipped.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_model import CONTEXT, build, token

HERE = Path(__file__).parent
NEEDED = ("llama_cpp", "gguf")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mine = [item for item in items if HERE in item.path.parents]
    if "engine" not in config.option.markexpr:
        items[:] = [item for item in items if item not in mine]
        config.hook.pytest_deselected(items=mine)
        return
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        why = f"{' and '.join(missing)} not installed: pip install 'llama-cpp-python[server]' gguf"
        for item in mine:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a running engine."""
    folder = tmp_path_factory.mktemp("engine")
    build(folder / "tiny.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(folder / "tiny.gguf")]
    command += ["--model_alias", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--n_ctx", str(CONTEXT), "--n_threads", "1", "--verbose", "False"]
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", process, folder / "log")
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


@pytest.fixture
def engine_spec(engine: str) -> dict[str, Any]:
    """The engine's model as an experiment writes it: anything that plays games can take it.

    A model that knows nothing rarely ends a string by itself, so the quotation mark gets a bias.
    """
    return {
        "model": "llamacpp/tiny",
        "base_url": engine,
        "max_tokens": 600,
        "timeout": 300,
        "extra": {"logit_bias": {str(token('"')): 4.0}},
    }
