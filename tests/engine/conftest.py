"""A real inference engine (llama.cpp behind its OpenAI-compatible server) on a tiny random model.

Run with ``pytest -m engine tests/engine`` where ``llama-cpp-python[server]`` and ``gguf`` are installed.
Without ``-m engine`` these tests are left out; with it, and without the packages, they are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_model import CONTEXT, build, token

from real_models import llama_server, only_when_asked

HERE = Path(__file__).parent
NEEDED = {"llama_cpp": "llama-cpp-python[server]", "gguf": "gguf"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only_when_asked(config, items, HERE, "engine", NEEDED)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a running engine."""
    folder = tmp_path_factory.mktemp("engine")
    build(folder / "tiny.gguf")
    with llama_server(folder / "tiny.gguf", "tiny", CONTEXT, 1, folder / "log") as base_url:
        yield base_url


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
