"""The kinds of questions: what can be asked, and how the engine answers it."""

from __future__ import annotations

from . import day, night, office, rules
from .kind import QuestionKind, kinds_of

_ANSWERS = {"rules": rules.ANSWERS, "night": night.ANSWERS, "day": day.ANSWERS, "office": office.ANSWERS}
KINDS: dict[str, QuestionKind] = {
    kind.name: kind for name, answers in _ANSWERS.items() for kind in kinds_of(f"{name}.yaml", answers)
}
"""Every kind by name."""
