"""Thinking in a separate call before the action (chain of thought), and again from the others' point of view
(ReCon, as described in 004 §5.1). It implements `think` and `refine` of a recipe.
"""

from __future__ import annotations

from dataclasses import replace

from ..text.notes import Planned
from ..text.questions import Plan
from ..text.replies.parsed import Written
from .deliberation import Deliberation, Findings


async def plan(turn: Deliberation, findings: Findings) -> Findings:
    """The findings, with a plan if the recipe makes one for this ask. An unusable plan is left out."""
    recipe, speaks = turn.recipe, turn.ask.options is None
    if recipe.think == "with" or (recipe.think == "before_statements" and not speaks):
        return findings
    text = await _look(turn, findings, Plan(turn.ask))
    if recipe.refine and speaks and text:
        text = await _look(turn, findings, Plan(turn.ask, "others", text)) or text
    return replace(findings, plan=text)


async def _look(turn: Deliberation, findings: Findings, task: Plan) -> str:
    step = f"plan/{task.perspective}"
    answer = await turn.put(step, findings.now, task, turn.notes, findings.beliefs)
    if not isinstance(answer, Written):
        return ""
    turn.notes.append((step, Planned(task.perspective, answer.text)))
    return answer.text
