"""One seat's way from an ask to a reply: what the stages of a language agent work on, and hand on.

Each stage is a function of a `Deliberation`, in a module of its own. What it found out reaches the next one
as `Findings`; what the seat is to remember goes into `notes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from ..models.base import Sampling
from ..rules import Ask, View
from ..text.asking.disguise import disguised
from ..text.kinds import kind_of
from ..text.notes import Belief, Candidate, Content, Exchanged, Mistake, Thought
from ..text.questions import Aids, Decide, Propose, Question, Situation, Task
from ..text.replies.extract import without_thinking
from ..text.replies.parse import CUT, parse
from ..text.replies.parsed import Decided, Parsed, Problem, Proposals
from .base import IO, Invalid, Reply
from .dialogue import exchanged, history_of, lasts
from .experience import Shelf
from .memory import Memory, remember
from .policy.base import Policy
from .recipes import Proposal, Recipe

Notes = list[tuple[str, Content]]
_SHOWN = 200
"""How much of an unusable reply a `Mistake` keeps, in characters."""
_BEGINNING = 60
"""How much of a reply that was cut is shown back, in characters: a small model goes on with a longer one."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was worked out before the answer: the situation, the beliefs that are shown to the model, and what
    a reflective player's steps or a plan came to. judged: the latest belief about everybody living, shown or
    not.
    """

    now: Situation
    beliefs: tuple[Belief, ...] = ()
    aids: Aids | None = None
    plan: str = ""
    judged: tuple[Belief, ...] = ()


class Deliberation:
    """See the module. It is gone once the reply is given; its notes remain.

    shelf, policy: see `LanguageAgent`.
    """

    def __init__(
        self, recipe: Recipe, view: View, ask: Ask, io: IO, shelf: Shelf | None, policy: Policy | None
    ) -> None:
        self.recipe, self.view, self.ask, self.io = recipe, view, ask, io
        self.shelf, self.policy = shelf, policy
        # Statements that were not cited leave the memory of a player that prunes; elsewhere all are kept,
        # or nothing is ever cited.
        self.memory: Memory = remember(view, recipe.deduce is None or recipe.deduce.prune)
        self.notes: Notes = []

    @property
    def proposal(self) -> Proposal | None:
        """The stage that puts candidates before this ask; None where it is answered without."""
        stage = self.recipe.propose
        return stage if stage is not None and kind_of(self.ask.kind) in stage.kinds else None

    async def put(
        self,
        step: str,
        now: Situation,
        task: Task,
        notes: Notes,
        beliefs: tuple[Belief, ...] = (),
        sampling: Sampling | None = None,
    ) -> Parsed | Problem:
        """Put a task to the model until the reply can be used or the retries are spent; then what most can be
        taken of, if any (too few candidates).

        A reply of which nothing can be taken is noted. Speech is sampled at the recipe's speech temperature.
        """
        recipe, question = self.recipe, self._question(now, task, beliefs)
        if sampling is None:
            speaks = isinstance(task, Decide | Propose) and self.ask.options is None
            temperature = recipe.speech_temperature if speaks else recipe.temperature
            sampling = Sampling(temperature, recipe.max_tokens)
        failed: list[tuple[Problem, str]] = []
        answer: Parsed | Problem = Problem("no usable reply")
        for attempt in range(recipe.retries + 1):
            corrections = tuple((text, problem.reason) for problem, text in failed)
            response = await self.io.generate(step, question, sampling, attempt, corrections)
            answer = parse(question, response.text, response.finish)
            if not isinstance(answer, Problem):
                break
            failed.append((answer, f"{response.text[:_BEGINNING]}…" if answer is CUT else response.text))
            if answer.usable is None:
                notes.append((step, Mistake(step, attempt, answer.reason, response.text[:_SHOWN])))
        if isinstance(answer, Problem):
            return _fullest(problem for problem, _ in failed) or answer
        if lasts(question):
            notes.append((step, exchanged(question, without_thinking(response.text))))
        return answer

    def _question(self, now: Situation, task: Task, beliefs: tuple[Belief, ...] = ()) -> Question:
        recipe = self.recipe
        return Question(
            now,
            task,
            beliefs,
            recipe.style,
            recipe.wording,
            recipe.layout,
            "rules" not in recipe.without,
            recipe.tips,
            history=history_of(self.view, self.notes, now) if recipe.layout == "dialogue" else (),
            forms=recipe.forms,
        )

    def taken(self, findings: Findings, candidate: Candidate) -> Exchanged:
        """The exchange of a turn in which one of several candidates was taken: as if it had come at once."""
        question = self._question(findings.now, Decide(self.ask), findings.beliefs)
        form = "statement" if self.ask.options is None else "action"
        reply = json.dumps({"reasoning": candidate.reasoning, form: candidate.action}, ensure_ascii=False)
        return exchanged(question, disguised(reply, findings.now.ruleset))

    async def respond(self, findings: Findings, task: Decide | None = None) -> Reply:
        """The last step of most recipes: the model's action or statement."""
        if task is None:
            task = Decide(self.ask, findings.aids, findings.plan)
        answer = await self.put("act", findings.now, task, self.notes, findings.beliefs)
        if not isinstance(answer, Decided):
            return self.invalid(answer)
        if answer.reasoning:
            self.notes.append(("act", Thought(answer.reasoning)))
        return Reply(answer.action, tuple(self.notes))

    def invalid(self, answer: object) -> Reply:
        """No usable reply was got: `answer` in its place."""
        reason = answer.reason if isinstance(answer, Problem) else "no usable reply"
        return Reply(Invalid(reason), tuple(self.notes))


def _fullest(failed: Iterable[Problem]) -> Proposals | None:
    """What can be taken of replies that fall short: most candidates, the first of several; or None."""
    short = [problem.usable for problem in failed if problem.usable is not None]
    return max(short, key=lambda usable: len(usable.candidates), default=None)
