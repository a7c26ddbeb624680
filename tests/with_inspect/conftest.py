"""Inspect and Inspect Scout themselves, on the files that `wolflab export` writes for them.

Run with ``pytest -m inspect tests/with_inspect``. Without ``-m inspect`` these tests are left out; with it,
and without the packages, they are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from real_models import only_when_asked

HERE = Path(__file__).parent
NEEDED = {
    "inspect_ai": "inspect-ai",
    "inspect_scout": "inspect-scout",
    "pandas": "wolflab[data]",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only_when_asked(config, items, HERE, "inspect", NEEDED)
