"""Games in Ray clusters on this machine.

Run with ``pytest -m ray tests/with_ray``. Without ``-m ray`` these tests are left out; with it, and without
the package, they are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from real_models import only_when_asked

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only_when_asked(config, items, HERE, "ray", {"ray": "wolflab[ray]"})
