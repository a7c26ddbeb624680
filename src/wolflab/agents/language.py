"""The language agent: one pipeline for every recipe, recall → (reflect | deduce) → choose, as one `Turn`.

It may know its seat's view and the ask, and speaks to its model through `io` alone. A reply that cannot
be used is retried with the reason shown, then given up as `Invalid`; standing in for it is not its work.
"""

from __future__ import annotations

from typing import Any

from ..models.base import Sampling
from ..rules import PASS, Ask, Pick, Said, Say, View, pick
from ..text.camouflage import claimed_against
from ..text.notes import UNCERTAIN, Belief, Content, Deduced, Interviewed, Mistake, Rated, Thought, trust
from ..text.parsed import Decided, Judged, Judgement, Parsed, Problem, Written
from ..text.parsed import Rated as RatedReply
from ..text.questions import Aids, Decide, Deduce, Interview, Question, Rate, Situation, Task, guessable
from ..text.replies import parse
from .base import IO, Invalid, Reply
from .memory import Memory, remember, situation
from .recipes import Recipe
from .reflecting import recalled, reflect
from .shelf import Shelf

Notes = list[tuple[str, Content]]
_SHOWN = 200
"""How much of an unusable reply a `Mistake` keeps, in characters."""


class LanguageAgent:
    """See the module. One instance can hold any number of seats: it keeps nothing between turns.

    shelf: past games' experience, as far as this game may see it; None for none.
    """

    instant = True

    def __init__(self, recipe: Recipe, shelf: Shelf | None = None) -> None:
        self.recipe = recipe
        self.shelf = shelf
        self.name = recipe.name
        self.act = Sampling(recipe.temperature, recipe.max_tokens)
        self.speak = Sampling(recipe.speech_temperature, recipe.max_tokens)

    def __eq__(self, other: object) -> bool:
        """An agent is what it is made of: two alike are one player to the record."""
        return isinstance(other, LanguageAgent) and (self.recipe, self.shelf) == (other.recipe, other.shelf)

    def __hash__(self) -> int:
        return hash(self.recipe)

    def describe(self) -> dict[str, Any]:
        """For the header."""
        described = {"recipe": self.recipe.as_dict()}
        return described if self.shelf is None else described | {"experience": self.shelf.describe()}

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """One turn of the pipeline."""
        return await Turn(self, view, ask, io).take()


class Turn:
    """One seat's way from an ask to a reply. It is gone once the reply is given; its notes remain.

    Each step of the pipeline is a method; what a step found out reaches the next as an argument, what the
    seat is to remember goes into `notes`.
    """

    def __init__(self, agent: LanguageAgent, view: View, ask: Ask, io: IO) -> None:
        self.agent, self.recipe = agent, agent.recipe
        self.view, self.ask, self.io = view, ask, io
        self.memory: Memory = remember(view, self.recipe.prune)
        self.notes: Notes = []

    async def take(self) -> Reply:
        """Recall has been done; reflect or judge the others if the recipe does, then answer."""
        if self.ask.kind == "rate":
            return await self.rate()
        if self.ask.kind == "interview":
            return await self.interview()
        if self.recipe.reflect:
            return await self.respond(*await reflect(self))
        if self.ask.kind == "succeed" and self.recipe.deduce != "none":
            return Reply(_most_trusted(self.ask, self.memory))
        targets = self.targets()
        return await self.choose(await self.deduce(targets) if targets else None)

    # -- deduction ------------------------------------------------------------------------

    def targets(self) -> tuple[int, ...]:
        """Whom to judge before this ask."""
        ask, memory = self.ask, self.memory
        if self.recipe.deduce == "none" or ask.kind in ("campaign", "succeed", "last-words"):
            return ()
        if ask.phase == "night" and ask.round == 1:
            return ()
        others = memory.alive
        if ask.kind == "elect" and ask.options is not None:
            others = tuple(option.seat for option in ask.options if isinstance(option, Pick))
        skipped = () if self.recipe.judge_pack else memory.pack
        return tuple(seat for seat in others if seat != memory.seat and seat not in skipped)

    async def deduce(self, targets: tuple[int, ...]) -> dict[int, Belief]:
        """Judge `targets`, in one call or one each, gathered; returns the latest belief about everybody."""
        now = self.situation()
        each = self.recipe.deduce == "each"
        previous = self._shown(self.memory.beliefs, now)

        async def judge(group: tuple[int, ...]) -> tuple[Notes, Judged | None]:
            notes: Notes = []
            task = Deduce(self.ask, group, guessable(self.view.ruleset), self.recipe.attributes)
            step = f"deduce/{group[0]}" if each else "deduce"
            answer = await self.put(step, now, task, notes, previous)
            return notes, answer if isinstance(answer, Judged) else None

        groups = [(target,) for target in targets] if each else [targets]
        places = {line.number: line.position for line in now.lines}
        beliefs: list[Belief] = []
        for notes, judged in await self.io.gather(judge(group) for group in groups):
            self.notes += notes
            if judged is not None:
                beliefs += [self._belief(judgement, places) for judgement in judged.judgements]
        self.notes.append(("deduce", Deduced(tuple(beliefs), final=self.ask.kind == "vote")))
        return self.memory.beliefs | {belief.target: belief for belief in beliefs}

    def _belief(self, judgement: Judgement, places: dict[int, int]) -> Belief:
        """A judgement with its reliability m (002 Eq. 2) and its evidence as positions."""
        recipe, confidence = self.recipe, judgement.confidence
        if judgement.role == UNCERTAIN and recipe.uncertain is not None:
            reliability = recipe.uncertain
        else:
            exception = recipe.wolf_exception and bool(self.memory.pack)
            reliability = trust(judgement.role, confidence, exception)
        evidence = tuple(sorted({places[n] for n in judgement.evidence if n in places}))
        return Belief(
            judgement.target, judgement.role, confidence, reliability, evidence, judgement.reasoning
        )

    # -- answers --------------------------------------------------------------------------

    async def choose(self, beliefs: dict[int, Belief] | None) -> Reply:
        """The action or the statement, under fresh beliefs if there are any."""
        now = self.situation(beliefs)
        return await self.respond(now, None, self._shown(beliefs or {}, now))

    async def respond(self, now: Situation, aids: Aids | None, beliefs: tuple[Belief, ...] = ()) -> Reply:
        """The last step of every recipe: the model's action or statement."""
        answer = await self.put("act", now, Decide(self.ask, aids), self.notes, beliefs)
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

    def situation(self, beliefs: dict[int, Belief] | None = None) -> Situation:
        """What the seat knows, as a question tells it; see `memory.situation`."""
        if self.recipe.reflect:
            return recalled(self)
        alpha = None if self.recipe.deduce == "none" else self.recipe.alpha
        return situation(self.view, self.memory, self.ask, self.recipe.layout, alpha, beliefs)

    def _shown(self, beliefs: dict[int, Belief], now: Situation) -> tuple[Belief, ...]:
        """The beliefs about the living that the recipe puts back into the prompt."""
        if not self.recipe.show_beliefs:
            return ()
        return tuple(belief for target, belief in sorted(beliefs.items()) if target in now.alive)

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
            speaks = isinstance(task, Decide) and self.ask.options is None
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
