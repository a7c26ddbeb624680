"""The language agent: one pipeline for every recipe.

It may know its seat's view and the ask, and speaks to its model through `io` alone. A reply that cannot
be used is retried with the reason shown, then given up as `Invalid`; standing in for it is not its work.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ..models.base import Sampling
from ..rules import PASS, Ask, Pick, View, pick
from ..text.notes import UNCERTAIN, Belief, Content, Deduced, Mistake, Rated, Thought, trust
from ..text.questions import Decide, Deduce, Question, Rate, Situation, Task, guessable
from ..text.replies import Decided, Judged, Judgement, Problem, parse
from ..text.replies import Rated as RatedReply
from .base import IO, Invalid, Reply
from .memory import Memory, remember, situation
from .recipes import Recipe

T = TypeVar("T")
_SHOWN = 200
"""How much of an unusable reply a `Mistake` keeps, in characters."""


class LanguageAgent:
    """See the module. One instance can hold any number of seats: it keeps nothing between turns."""

    instant = True

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.name = recipe.name
        self._act = Sampling(recipe.temperature, recipe.max_tokens)
        self._speak = Sampling(recipe.speech_temperature, recipe.max_tokens)

    def describe(self) -> dict[str, Any]:
        """For the header."""
        return {"recipe": self.recipe.as_dict()}

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """Recall, deduce if the recipe does, then decide."""
        recipe = self.recipe
        memory = remember(view, recipe.prune)
        if ask.kind == "rate":
            return await self._rate(view, memory, ask, io)
        if ask.kind == "succeed" and recipe.deduce != "none":
            return Reply(_most_trusted(ask, memory))
        notes: list[tuple[str, Content]] = []
        beliefs: dict[int, Belief] | None = None
        targets = self._targets(ask, memory)
        if targets:
            deduced = await self._deduce(view, memory, ask, targets, io, notes)
            beliefs = memory.beliefs | {belief.target: belief for belief in deduced}
        alpha = None if recipe.deduce == "none" else recipe.alpha
        now = situation(view, memory, ask, recipe.layout, alpha, beliefs)
        shown = tuple(b for _, b in sorted((beliefs or {}).items()) if b.target in now.alive)
        question = self._question(now, Decide(ask), shown if recipe.show_beliefs else ())
        sampling = self._speak if ask.options is None else self._act
        answer = await self._try("act", question, sampling, io, notes)
        if not isinstance(answer, Decided):
            reason = answer.reason if isinstance(answer, Problem) else "no usable reply"
            return Reply(Invalid(reason), tuple(notes))
        if answer.reasoning:
            notes.append(("act", Thought(answer.reasoning)))
        return Reply(answer.action, tuple(notes))

    # -- deduction ------------------------------------------------------------------------

    def _targets(self, ask: Ask, memory: Memory) -> tuple[int, ...]:
        """Whom to judge before this ask (facts §1.1 item 9, §1.3 item 7, §3.1 item 3)."""
        if self.recipe.deduce == "none" or ask.kind in ("campaign", "succeed", "last-words"):
            return ()
        if ask.phase == "night" and ask.round == 1:
            return ()
        others = memory.alive
        if ask.kind == "elect" and ask.options is not None:
            others = tuple(option.seat for option in ask.options if isinstance(option, Pick))
        skipped = () if self.recipe.judge_pack else memory.pack
        return tuple(seat for seat in others if seat != memory.seat and seat not in skipped)

    async def _deduce(
        self,
        view: View,
        memory: Memory,
        ask: Ask,
        targets: tuple[int, ...],
        io: IO,
        notes: list[tuple[str, Content]],
    ) -> list[Belief]:
        recipe = self.recipe
        now = situation(view, memory, ask, recipe.layout, recipe.alpha)
        groups = [targets] if recipe.deduce == "all" else [(target,) for target in targets]
        previous = tuple(b for _, b in sorted(memory.beliefs.items()) if b.target in now.alive)

        async def judge(group: tuple[int, ...]) -> tuple[list[tuple[str, Content]], Judged | None]:
            mine: list[tuple[str, Content]] = []
            step = "deduce" if recipe.deduce == "all" else f"deduce/{group[0]}"
            task = Deduce(ask, group, guessable(view.ruleset), recipe.attributes)
            question = self._question(now, task, previous if recipe.show_beliefs else ())
            answer = await self._try(step, question, self._act, io, mine)
            return mine, answer if isinstance(answer, Judged) else None

        places = {line.number: line.position for line in now.lines}
        beliefs: list[Belief] = []
        for mine, judged in await io.gather(judge(group) for group in groups):
            notes.extend(mine)
            if judged is not None:
                beliefs.extend(self._belief(judgement, memory, places) for judgement in judged.judgements)
        notes.append(("deduce", Deduced(tuple(beliefs), final=ask.kind == "vote")))
        return beliefs

    def _belief(self, judgement: Judgement, memory: Memory, places: dict[int, int]) -> Belief:
        """A judgement with its reliability m (002 Eq. 2) and its evidence as positions."""
        recipe, confidence = self.recipe, judgement.confidence
        if judgement.role == UNCERTAIN and recipe.uncertain is not None:
            reliability = recipe.uncertain
        else:
            reliability = trust(judgement.role, confidence, recipe.wolf_exception and bool(memory.pack))
        evidence = tuple(sorted({places[n] for n in judgement.evidence if n in places}))
        return Belief(
            judgement.target, judgement.role, confidence, reliability, evidence, judgement.reasoning
        )

    # -- the reliability probe ------------------------------------------------------------

    async def _rate(self, view: View, memory: Memory, ask: Ask, io: IO) -> Reply:
        """How far each of the others is to be believed, from the view as it stands."""
        alpha = None if self.recipe.deduce == "none" else self.recipe.alpha
        now = situation(view, memory, ask, self.recipe.layout, alpha)
        targets = tuple(seat for seat in memory.alive if seat != memory.seat)
        notes: list[tuple[str, Content]] = []
        answer = await self._try("rate", self._question(now, Rate(ask, targets), ()), self._act, io, notes)
        if not isinstance(answer, RatedReply):
            return Reply(
                Invalid(answer.reason if isinstance(answer, Problem) else "no usable reply"), tuple(notes)
            )
        return Reply(PASS, (*notes, ("rate", Rated(dict(answer.scores)))))

    # -- asking the model -----------------------------------------------------------------

    def _question(self, now: Situation, task: Task, beliefs: tuple[Belief, ...]) -> Question:
        recipe = self.recipe
        return Question(now, task, beliefs, recipe.style, recipe.wording, recipe.layout)

    async def _try(
        self, step: str, question: Question, sampling: Sampling, io: IO, notes: list[tuple[str, Content]]
    ) -> Decided | Judged | RatedReply | Problem:
        """Ask until the reply can be used or the retries are spent; every failure is noted."""
        corrections: tuple[tuple[str, str], ...] = ()
        for attempt in range(self.recipe.retries + 1):
            response = await io.generate(step, question, sampling, attempt, corrections)
            answer = parse(question, response.text)
            if not isinstance(answer, Problem):
                return answer
            notes.append((step, Mistake(step, attempt, answer.reason, response.text[:_SHOWN])))
            corrections = (*corrections, (response.text, answer.reason))
        return answer


def _most_trusted(ask: Ask, memory: Memory) -> Pick:
    """The option with the highest reliability; ties to the lowest seat, unrated lowest (facts §1.3)."""
    assert ask.options is not None
    seats = [option.seat for option in ask.options if isinstance(option, Pick)]

    def trust(seat: int) -> tuple[int, int]:
        belief = memory.beliefs.get(seat)
        return (belief.reliability if belief else 0, -seat)

    return pick(max(seats, key=trust))
