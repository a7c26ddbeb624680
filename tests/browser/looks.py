"""How pages are looked at: by size, by light, and by axe-core."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
SCHEMES = ("light", "dark")
PICTURES = os.environ.get("WOLFLAB_SCREENSHOTS")
"""The folder where pictures are kept; None where none are."""
_STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


def what_keeps_people_out(page: Page) -> list[str]:
    """What axe-core finds: the rule, how bad it is, and where."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"runOnly": _STANDARDS}).response["violations"]
    return [f"{rule['id']} ({rule['impact']}): {rule['nodes'][0]['html'][:200]}" for rule in found]


def is_too_wide(page: Page) -> bool:
    """Whether the page itself scrolls sideways."""
    return not page.evaluate("document.documentElement.scrollWidth <= innerWidth")
