"""How pages are looked at: with which browser, by size, by light, and by axe-core."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
SCHEMES = ("light", "dark")
DARK_SELDOM = ("light", pytest.param("dark", marks=pytest.mark.slow))
"""Colours as parameters: what is dark is looked at with the slow tests."""
PICTURES = os.environ.get("WOLFLAB_SCREENSHOTS")
"""The folder where pictures are kept; None where none are."""
_STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


def browser_words() -> list[str]:
    """Chromium and how it is started; nothing is fetched behind our back."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no browser: install Debian's package chromium")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [path, *sandbox, "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def what_keeps_people_out(page: Page) -> list[str]:
    """What axe-core finds: the rule, how bad it is, and where."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"runOnly": _STANDARDS}).response["violations"]
    return [f"{rule['id']} ({rule['impact']}): {rule['nodes'][0]['html'][:200]}" for rule in found]


def is_too_wide(page: Page) -> bool:
    """Whether the page itself scrolls sideways."""
    return not page.evaluate("document.documentElement.scrollWidth <= innerWidth")
