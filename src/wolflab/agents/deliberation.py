"""The common object of a language agent's stages in one turn, from the ask to the reply.

Each stage is a function of a `Deliberation`, in its own module. It passes its results to the next stage as
`Findings`; `notes` are what the seat remembers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..models.base import Sampling
from ..rules import Ask, View
from ..text.asking.disguise import disguised
from ..text.asking.wording import gives_reasons
from ..text.kinds import kind_of
from ..text.notes import Belief, Candidate, Content, Exchanged, Mistake, Thought
from ..text.questions import Aids, Decide, Propose, Question, Situation, Task
from ..text.replies.parse import CUT, CUT_THINKING, THOUGHTS_ALONE, parse
from ..text.replies.parsed import Decided, Parsed, Problem, Proposals
from ..text.replies.thoughts import without_thoughts
from .base import IO, Invalid, Reply
from .dialogue import exchange_note, extends_dialogue, history_of
from .experience import Retriever
from .memory import Memory, remember
from .policy.policy import Policy
from .recipes import Proposal, Recipe

Notes = list[tuple[str, Content]]
_SHOWN = 200
"""Characters of an unusable reply that a `Mistake` keeps."""
_BEGINNING = 60
"""Characters that are shown again of a reply that was cut or holds only thoughts. Small models continue a
longer text."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Results of the stages before the answer: the situation, the beliefs that the prompt shows, the results
    of reflection, a plan. judged: the latest beliefs about all living players, shown or not.
    """

    now: Situation
    beliefs: tuple[Belief, ...] = ()
    aids: Aids | None = None
    plan: str = ""
    judged: tuple[Belief, ...] = ()


class Deliberation:
    """See the module. It lasts for one turn; its notes remain. retriever, policy: see `LanguageAgent`."""

    def __init__(
        self, recipe: Recipe, view: View, ask: Ask, io: IO, retriever: Retriever | None, policy: Policy | None
    ) -> None:
        self.recipe, self.view, self.ask, self.io = recipe, view, ask, io
        self.retriever, self.policy = retriever, policy
        # A player that prunes forgets statements that were not cited. Without deduction nothing is cited, and
        # pruning does nothing.
        self.memory: Memory = remember(view, recipe.deduce is None or recipe.deduce.prune)
        self.notes: Notes = []

    @property
    def proposal(self) -> Proposal | None:
        """The stage that proposes candidates for this ask; None if it is answered without candidates."""
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
        """Ask the model until a reply can be used or the retries are spent. Then take the most usable reply,
        if there is one (too few candidates, the last of several answers).

        Unusable replies and replies with several answers are noted. Speech is sampled at the recipe's speech
        temperature.
        """
        recipe, question = self.recipe, self._question(now, task, beliefs)
        if sampling is None:
            speaks = isinstance(task, Decide | Propose) and self.ask.options is None
            temperature = recipe.speech_temperature if speaks else recipe.temperature
            sampling = Sampling(temperature, recipe.max_tokens)
        failed: list[tuple[Problem, str]] = []
        answer: Parsed | Problem = Problem("no usable reply")
        for attempt in range(recipe.retries + 1):
            corrections = tuple((_shown_back(*one), one[0].reason) for one in failed)
            response = await self.io.generate(step, question, sampling, attempt, corrections)
            answer = parse(question, response.text, response.finish)
            if not isinstance(answer, Problem):
                break
            failed.append((answer, response.text))
        replied, taken = response.text, None
        if (
            isinstance(answer, Problem)
            and (taken := _fullest([problem for problem, _ in failed])) is not None
        ):
            answer, replied = failed[taken][0].usable or answer, failed[taken][1]
        for attempt, (problem, text) in enumerate(failed):
            if problem.usable is None or problem.several:
                last = problem.several and attempt == taken
                notes.append((step, Mistake(step, attempt, problem.reason, text[:_SHOWN], last)))
        if extends_dialogue(question) and not isinstance(answer, Problem):
            notes.append((step, exchange_note(question, without_thoughts(replied).text)))
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
            hide_reasons=recipe.hide_reasons and gives_reasons(task),
        )

    def taken(self, findings: Findings, candidate: Candidate) -> Exchanged:
        """The exchange of a turn with candidates, as if the model had replied with the taken one at once."""
        question = self._question(findings.now, Decide(self.ask), findings.beliefs)
        form = "statement" if self.ask.options is None else "action"
        reply = json.dumps({"reasoning": candidate.reasoning, form: candidate.action}, ensure_ascii=False)
        return exchange_note(question, disguised(reply, findings.now.ruleset))

    async def respond(self, findings: Findings, task: Decide | None = None) -> Reply:
        """The last step of most recipes: ask the model for its action or statement."""
        if task is None:
            task = Decide(self.ask, findings.aids, findings.plan)
        answer = await self.put("act", findings.now, task, self.notes, findings.beliefs)
        if not isinstance(answer, Decided):
            return self.invalid(answer)
        if answer.reasoning:
            self.notes.append(("act", Thought(answer.reasoning)))
        return Reply(answer.action, tuple(self.notes))

    def invalid(self, answer: object) -> Reply:
        """The reply of a turn without a usable answer. answer: the `Problem`, or what else was returned."""
        reason = answer.reason if isinstance(answer, Problem) else "no usable reply"
        return Reply(Invalid(reason), tuple(self.notes))


def _shown_back(problem: Problem, text: str) -> str:
    """The part of an unusable reply that the model is shown when it is asked again."""
    alone = problem is CUT or problem is CUT_THINKING or problem is THOUGHTS_ALONE
    return f"{text[:_BEGINNING]}…" if alone else text


def _fullest(failed: Sequence[Problem]) -> int | None:
    """The index of the most usable reply: the one with most candidates, the first of several; for other
    replies the last. None if none is usable.
    """
    usable = [(n, problem.usable) for n, problem in enumerate(failed) if problem.usable is not None]
    few = {n: len(one.candidates) for n, one in usable if isinstance(one, Proposals)}
    return max(few, key=lambda n: few[n]) if few else max((n for n, _ in usable), default=None)
