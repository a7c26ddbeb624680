"""The language agent: one pipeline for every recipe.

First comes recall → (reflect | deduce). Then the ask is answered. If the recipe has candidates for this kind
of ask: propose → choose, and the chosen one is the reply (004 H.3: for a statement, a further call words its
reasoning). Otherwise: think, if the recipe has it, then act.

The agent knows its seat's view and the ask, and reaches its model through `io` alone. An unusable reply is
retried with the reason shown; then the agent returns `Invalid`, and `match` applies a stand-in.
"""

from __future__ import annotations

from typing import Any

from ..rules import PASS, SILENCE, Ask, Pick, Said, Say, View, pick
from ..text.notes import Interviewed
from ..text.probes import Opinion, opinion_asked
from ..text.questions import Interview, Situation
from ..text.reading import claimed_against
from ..text.replies.parsed import Judged, RatedReply, Written
from .base import IO, Invalid, Reply
from .deducing import deduce, situated
from .deliberation import Deliberation, Findings
from .experience import Retriever
from .memory import Memory
from .planning import plan
from .policy.policy import Policy
from .proposing import act
from .recipes import Recipe
from .reflecting import recalled, reflect
from .scripts import script_named


class LanguageAgent:
    """See the module. One instance can hold any number of seats, since it keeps nothing between turns.

    retriever: searches experience of past games, or None. policy: weighs candidates, for recipes that choose
    by a policy.
    """

    def __init__(
        self, recipe: Recipe, retriever: Retriever | None = None, policy: Policy | None = None
    ) -> None:
        assert policy is not None or not recipe.weighs, recipe.name
        if recipe.propose is not None and recipe.propose.script is not None:
            script_named(recipe.propose.script)  # a user's that cannot be imported is told before any game
        self.recipe = recipe
        self.retriever = retriever
        self.policy = policy
        self.instant = policy is None or policy.instant

    def __eq__(self, other: object) -> bool:
        """Agents with equal parts are the same player in a record."""
        mine = self.recipe, self.retriever, self.policy
        return isinstance(other, LanguageAgent) and mine == (other.recipe, other.retriever, other.policy)

    def __hash__(self) -> int:
        return hash(self.recipe)

    def describe(self) -> dict[str, Any]:
        """For the record's header."""
        described: dict[str, Any] = {"recipe": self.recipe.stated()}
        if self.retriever is not None:
            described["experience"] = self.retriever.describe()
        if self.policy is not None:
            described["policy"] = self.policy.describe()
        return described

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """Reflect or deduce, if the recipe does, then answer."""
        recipe, turn = self.recipe, Deliberation(self.recipe, view, ask, io, self.retriever, self.policy)
        if (opinion := opinion_asked(ask)) is not None:
            return await _judge_others(turn, opinion)
        if ask.kind == "interview":
            return await _interview(turn)
        if recipe.silent and ask.options is None:
            return Reply(SILENCE)
        if recipe.reflect is not None:
            return await turn.respond(await reflect(turn, recipe.reflect))
        if recipe.deduce is None:
            findings = Findings(_situation(turn))
        elif ask.kind == "succeed":
            return Reply(_most_trusted(ask, turn.memory))
        else:
            findings = await deduce(turn, recipe.deduce)
        return await self.answer(turn, findings)

    async def answer(self, turn: Deliberation, findings: Findings) -> Reply:
        """The reply from the findings of the first stages."""
        if turn.proposal is not None:
            return await act(turn, findings, turn.proposal)
        return await turn.respond(await plan(turn, findings))


def _situation(turn: Deliberation) -> Situation:
    """The situation at the beginning of the turn."""
    if turn.recipe.reflect is not None:
        return recalled(turn, turn.recipe.reflect)
    return situated(turn, turn.recipe.deduce)


async def _judge_others(turn: Deliberation, opinion: Opinion) -> Reply:
    """Answer a probe: how far each of the others is believed, or which role it has."""
    kind, targets = turn.ask.kind, tuple(seat for seat in turn.memory.alive if seat != turn.memory.seat)
    task = opinion.task(turn.ask, targets, turn.view.ruleset)
    answer = await turn.put(kind, _situation(turn), task, turn.notes)
    if isinstance(answer, RatedReply):
        return Reply(PASS, (*turn.notes, (kind, opinion.noted(answer.scores))))
    if isinstance(answer, Judged):
        roles = {judgement.target: judgement.role for judgement in answer.judgements}
        return Reply(PASS, (*turn.notes, (kind, opinion.noted(roles))))
    return turn.invalid(answer)


async def _interview(turn: Deliberation) -> Reply:
    """Answer the probe of 003 A.4: why did you speak as if you had another role?"""
    view, seat = turn.view, turn.memory.seat
    said = [event.text for event in view.events if isinstance(event, Said) and event.seat == seat]
    claimed = claimed_against(said[-1], seat, turn.memory.role, view.ruleset) if said else None
    if claimed is None:
        return Reply(Invalid("the last statement claims no other role"), tuple(turn.notes))
    answer = await turn.put("interview", _situation(turn), Interview(turn.ask, claimed), turn.notes)
    if not isinstance(answer, Written):
        return turn.invalid(answer)
    return Reply(Say(answer.text), (*turn.notes, ("interview", Interviewed(claimed, answer.text))))


def _most_trusted(ask: Ask, memory: Memory) -> Pick:
    """The option with the highest reliability. Ties go to the lowest seat; players without a belief count
    0."""
    assert ask.options is not None
    seats = [option.seat for option in ask.options if isinstance(option, Pick)]

    def trusted(seat: int) -> tuple[int, int]:
        belief = memory.beliefs.get(seat)
        return (belief.reliability if belief else 0, -seat)

    return pick(max(seats, key=trusted))
