"""The documentation in a real browser: its pictures are made, and its search finds the page that answers.

`test_pages.py` opens every page of it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_the_pictures_are_made_by_their_program(tmp_path: Path) -> None:
    words = [sys.executable, ROOT / "docs" / "pictures.py", "--deals", "2", "--out", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    from PIL import Image

    def sizes(folder: Path) -> dict[str, tuple[int, int]]:
        return {path.name: Image.open(path).size for path in folder.iterdir()}

    assert sizes(tmp_path) == sizes(ROOT / "docs" / "pictures")
    light, dark = (
        Image.open(tmp_path / f"report-{scheme}.webp").convert("L").getpixel((2, 2))
        for scheme in ("light", "dark")
    )
    assert light > 200 > 60 > dark
