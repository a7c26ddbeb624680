"""The kinds of questions, and how the engine answers them."""

from __future__ import annotations

from . import day, night, office, rules

KINDS = {kind.name: kind for module in (rules, night, day, office) for kind in module.KINDS}
"""Every kind by name."""
