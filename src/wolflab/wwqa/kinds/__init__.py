"""The kinds of questions: what can be asked, and how the engine answers it."""

from __future__ import annotations

from . import day, night, office, rules

KINDS = {kind.name: kind for module in (rules, night, day, office) for kind in module.KINDS}
"""Every kind by name."""
