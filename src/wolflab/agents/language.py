"""The language agent: one pipeline for every recipe, as one `Turn`.

First recall → (reflect | deduce) finds out; then the ask is answered. Where the recipe has candidates for it:
propose → choose, and the one taken is the reply (004 H.3: of a statement, the reasoning, which a further call
words). Elsewhere: think, if the recipe does, then act.

It may know its seat's view and the ask, and speaks to its model through `io` alone. A reply that cannot
be used is retried with the reason shown, then given up as `Invalid`; standing in for it is not its work.
"""

from __future__ import annotations

from typing import Any

from ..models.base import Sampling
from ..rules import PASS, Ask, Pick, Said, Say, View, pick
from ..text.camouflage import claimed_against
from ..text.kinds import kind_of
from ..text.notes import Belief, Content, Interviewed, Mistake, Rated, Thought
from ..text.questions import Decide, Interview, Propose, Question, Rate, Situation, Task
from ..text.replies.parse import parse
from ..text.replies.parsed import Decided, Parsed, Problem, RatedReply, Written
from .base import IO, Invalid, Reply
from .deducing import deduce, prunes, situated
from .found import Found
from .memory import Memory, remember
from .planning import plan
from .policy.base import Policy
from .proposing import act
from .recipes import Proposal, Recipe
from .reflecting import recalled, reflect
from .shelf import Shelf

Notes = list[tuple[str, Content]]
_SHOWN = 200
"""How much of an unusable reply a `Mistake` keeps, in characters."""


class LanguageAgent:
    """See the module. One instance can hold any number of seats: it keeps nothing between turns.

    shelf: past games' experience, as far as this game may see it; None for none. policy: weighs candidates,
    for recipes whose choices are a policy's.
    """

    def __init__(self, recipe: Recipe, shelf: Shelf | None = None, policy: Policy | None = None) -> None:
        assert policy is not None or not recipe.weighs, recipe.name
        self.recipe = recipe
        self.shelf = shelf
        self.policy = policy
        self.instant = policy is None or policy.instant
        self.name = recipe.name
        self.act = Sampling(recipe.temperature, recipe.max_tokens)
        self.speak = Sampling(recipe.speech_temperature, recipe.max_tokens)

    def __eq__(self, other: object) -> bool:
        """An agent is what it is made of: two alike are one player to the record."""
        mine = self.recipe, self.shelf, self.policy
        return isinstance(other, LanguageAgent) and mine == (other.recipe, other.shelf, other.policy)

    def __hash__(self) -> int:
        return hash(self.recipe)

    def describe(self) -> dict[str, Any]:
        """For the header."""
        described: dict[str, Any] = {"recipe": self.recipe.stated()}
        if self.shelf is not None:
            described["experience"] = self.shelf.describe()
        if self.policy is not None:
            described["policy"] = self.policy.describe()
        return described

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """One turn of the pipeline."""
        return await Turn(self, view, ask, io).take()


class Turn:
    """One seat's way from an ask to a reply. It is gone once the reply is given; its notes remain.

    Each stage of the pipeline is a function of the turn, in a module of its own; what it found out reaches
    the next as `Found`, what the seat is to remember goes into `notes`.
    """

    def __init__(self, agent: LanguageAgent, view: View, ask: Ask, io: IO) -> None:
        self.agent, self.recipe = agent, agent.recipe
        self.view, self.ask, self.io = view, ask, io
        self.memory: Memory = remember(view, prunes(self.recipe.deduce))
        self.notes: Notes = []

    async def take(self) -> Reply:
        """Recall has been done; reflect or judge the others if the recipe does, then answer."""
        recipe, ask = self.recipe, self.ask
        if ask.kind == "rate":
            return await self.rate()
        if ask.kind == "interview":
            return await self.interview()
        if recipe.reflect is not None:
            return await self.respond(await reflect(self, recipe.reflect))
        if recipe.deduce is None:
            found = Found(self.situation())
        elif ask.kind == "succeed":
            return Reply(_most_trusted(ask, self.memory))
        else:
            found = await deduce(self, recipe.deduce)
        return await self.answer(found)

    @property
    def proposal(self) -> Proposal | None:
        """The stage that puts candidates before this ask; None where it is answered without."""
        stage = self.recipe.propose
        return stage if stage is not None and kind_of(self.ask.kind) in stage.kinds else None

    # -- answers --------------------------------------------------------------------------

    async def answer(self, found: Found) -> Reply:
        """From what was found out to the reply."""
        if self.proposal is not None:
            return await act(self, found, self.proposal)
        return await self.respond(await plan(self, found))

    async def respond(self, found: Found, task: Decide | None = None) -> Reply:
        """The last step of most recipes: the model's action or statement."""
        if task is None:
            task = Decide(self.ask, found.aids, found.plan)
        answer = await self.put("act", found.now, task, self.notes, found.beliefs)
        if not isinstance(answer, Decided):
            return self._invalid(answer)
        if answer.reasoning:
            self.notes.append(("act", Thought(answer.reasoning)))
        return Reply(answer.action, tuple(self.notes))

    async def rate(self) -> Reply:
        """The reliability probe: how far each of the others is to be believed, from the view as it stands."""
        now = self.situation()
        targets = tuple(seat for seat in self.memory.alive if seat != self.memory.seat)
        answer = await self.put("rate", now, Rate(self.ask, targets), self.notes)
        if not isinstance(answer, RatedReply):
            return self._invalid(answer)
        return Reply(PASS, (*self.notes, ("rate", Rated(dict(answer.scores)))))

    async def interview(self) -> Reply:
        """The probe of 003 A.4: why did you speak as if you had another role?"""
        seat, role = self.memory.seat, self.memory.role
        said = [one.text for one in self.view.events if isinstance(one, Said) and one.seat == seat]
        claimed = claimed_against(said[-1], seat, role, self.view.ruleset) if said else None
        if claimed is None:
            return Reply(Invalid("the last statement claims no other role"), tuple(self.notes))
        now = self.situation()
        answer = await self.put("interview", now, Interview(self.ask, claimed), self.notes)
        if not isinstance(answer, Written):
            return self._invalid(answer)
        return Reply(Say(answer.text), (*self.notes, ("interview", Interviewed(claimed, answer.text))))

    def _invalid(self, answer: object) -> Reply:
        reason = answer.reason if isinstance(answer, Problem) else "no usable reply"
        return Reply(Invalid(reason), tuple(self.notes))

    # -- asking the model -----------------------------------------------------------------

    def situation(self) -> Situation:
        """What the seat knows as this turn begins, as a question tells it."""
        if self.recipe.reflect is not None:
            return recalled(self, self.recipe.reflect)
        return situated(self, self.recipe.deduce)

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
            sampling = self.agent.speak if speaks else self.agent.act
        corrections: tuple[tuple[str, str], ...] = ()
        for attempt in range(recipe.retries + 1):
            response = await self.io.generate(step, question, sampling, attempt, corrections)
            answer = parse(question, response.text)
            if not isinstance(answer, Problem):
                return answer
            notes.append((step, Mistake(step, attempt, answer.reason, response.text[:_SHOWN])))
            corrections = (*corrections, (response.text, answer.reason))
        return answer


def _most_trusted(ask: Ask, memory: Memory) -> Pick:
    """The option with the highest reliability; ties to the lowest seat, unrated lowest."""
    assert ask.options is not None
    seats = [option.seat for option in ask.options if isinstance(option, Pick)]

    def trusted(seat: int) -> tuple[int, int]:
        belief = memory.beliefs.get(seat)
        return (belief.reliability if belief else 0, -seat)

    return pick(max(seats, key=trusted))
