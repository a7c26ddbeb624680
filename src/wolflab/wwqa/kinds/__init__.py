"""The kinds of questions: what can be asked, and how the engine answers it."""

from __future__ import annotations

from . import day, night, office, rules
from .kind import QuestionKind

KINDS: dict[str, QuestionKind] = {
    kind.name: kind for table in (rules, night, day, office) for kind in table.KINDS
}
"""Every kind by name."""
