"""One seat's way from an ask to a reply: what the stages of a language agent work on, and hand on.

Each stage is a function of a `Deliberation`, in a module of its own. What it found out reaches the next one
as `Findings`; what the seat is to remember goes into `notes`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..models.base import Sampling
from ..rules import Ask, View
from ..text.kinds import kind_of
from ..text.notes import Belief, Content, Mistake, Thought
from ..text.questions import Aids, Decide, Propose, Question, Situation, Task
from ..text.replies.parse import parse
from ..text.replies.parsed import Decided, Parsed, Problem
from .base import IO, Invalid, Reply
from .experience import Shelf
from .memory import Memory, remember
from .policy.base import Policy
from .recipes import Proposal, Recipe

Notes = list[tuple[str, Content]]
_SHOWN = 200
"""How much of an unusable reply a `Mistake` keeps, in characters."""


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
        """Put a task to the model until the reply can be used or the retries are spent.

        Every failure is noted. Speech is sampled at the recipe's speech temperature.
        """
        recipe = self.recipe
        question = Question(
            now,
            task,
            beliefs,
            recipe.style,
            recipe.wording,
            recipe.layout,
            "rules" not in recipe.without,
            recipe.tips,
        )
        if sampling is None:
            speaks = isinstance(task, Decide | Propose) and self.ask.options is None
            temperature = recipe.speech_temperature if speaks else recipe.temperature
            sampling = Sampling(temperature, recipe.max_tokens)
        corrections: tuple[tuple[str, str], ...] = ()
        for attempt in range(recipe.retries + 1):
            response = await self.io.generate(step, question, sampling, attempt, corrections)
            answer = parse(question, response.text)
            if not isinstance(answer, Problem):
                return answer
            notes.append((step, Mistake(step, attempt, answer.reason, response.text[:_SHOWN])))
            corrections = (*corrections, (response.text, answer.reason))
        return answer

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
