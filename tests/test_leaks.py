"""What a seat cannot know is in none of its prompts: twins are asked byte-identical questions.

The twins of `test_rules_views` differ only in what the seat may not know. Every agent is put into both
games and every prompt of every ask is compared. A planted leak must show.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

import wolflab.rules.shielding as shielding
from marks import slow_except, with_slow
from rules_helpers import Game
from scripted import Scripted
from test_rules_views import twins
from wolflab.agents.base import Agent
from wolflab.agents.language import LanguageAgent
from wolflab.agents.person import Person
from wolflab.agents.policy.policy import Observation, Weights
from wolflab.agents.recipes import RECIPES, Recipe
from wolflab.match import OpinionProbe, StrawPoll, run_now
from wolflab.match.probes import probe_context
from wolflab.models.base import Request, Response, Sampling
from wolflab.models.embedders.embedder import Vectors
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.rules import DOCTOR, EVERYONE, SHERIFF, WITCH, Ask, Log, Note, Ruleset
from wolflab.rules.engine import begin, step
from wolflab.text.asking.prompts import messages
from wolflab.text.questions import Question

ASSIGNED = SHERIFF.with_(sheriff="assigned", sheriff_death="stop")
RECIPES_TO_TEST = [*RECIPES.values(), RECIPES["vanilla"].with_(style="proactive", layout="paper")]


class Listening:
    """An `io` that keeps every prompt as text, and answers by script."""

    def __init__(self, ask: Ask, heard: list[str]) -> None:
        self.ask, self.heard, self.model = ask, heard, Scripted()

    async def generate(
        self,
        step: str,
        question: Question,
        sampling: Sampling = Sampling(),  # noqa: B008
        attempt: int = 0,
        corrections: tuple[tuple[str, str], ...] = (),
    ) -> Response:
        self.heard.append("\n".join(f"{m.role}: {m.content}" for m in messages(question, corrections)))
        request = Request(question, f"{self.ask.id}|{step}|{attempt}")
        return Response(json.dumps(self.model.answer(request)))

    async def embed(self, what: str, texts: Sequence[str]) -> Vectors:
        self.heard += texts
        return await HashingEmbedder().embed(texts)

    def draw(self, step: str, n: int) -> int:
        return 0

    async def gather(self, calls: Iterable[Awaitable[Any]]) -> list[Any]:
        return [await call for call in calls]


class Watching:
    """A policy that keeps what it sees as text, and finds every candidate alike."""

    name = "watching"
    instant = True

    def __init__(self, heard: list[str]) -> None:
        self.heard = heard

    async def weigh(self, observation: Observation) -> Weights:
        self.heard.append(str(observation.player.tolist()))
        n = len(observation.candidates)
        return Weights(np.full(n, 1 / n), 0.0)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}


def prompts(game: Game, seat: int, recipe: Recipe | None) -> list[str]:
    """Every prompt of `seat` in the game, probes included, in order. recipe: None for a person."""
    heard: list[str] = []
    agent: Agent = Person()
    if recipe is not None:
        agent = LanguageAgent(recipe, policy=Watching(heard) if recipe.weighs else None)
    now = begin(game.rules)
    log = Log(game.rules)
    log.extend(now.events)
    while now.asks and all(ask.id in game.replies for ask in now.asks):
        state = now.state
        moment = probe_context(game.rules, now, ())
        polls = (*StrawPoll(2).asks(moment), *OpinionProbe().asks(moment)) if now.asks[0].seat >= 0 else ()
        for ask in (*polls, *now.asks):
            if ask.seat != seat:
                continue
            reply = run_now(agent.reply(log.view(seat), ask, Listening(ask, heard)))
            if ask in now.asks:
                for name, content in reply.notes:
                    log.note(seat, Note(ask.id, name, content, len(log.view(seat).events)))
        now = step(state, [game.replies[ask.id] for ask in now.asks])
        log.extend(now.events)
    return heard


def differing(rules: Ruleset, recipe: Recipe | None, seeds: range) -> tuple[int, int]:
    """Prompts compared between twins, and how many differed."""
    compared = different = 0
    for seed in seeds:
        for first, twin, seat in twins(rules, seed, limit=2):
            for one, other in zip(prompts(first, seat, recipe), prompts(twin, seat, recipe), strict=False):
                compared += 1
                different += one != other
    return compared, different


@pytest.mark.parametrize(
    "rules",
    with_slow([SHERIFF, ASSIGNED, WITCH, DOCTOR], [ASSIGNED, DOCTOR]),
    ids=["elected", "assigned", "witch", "doctor"],
)
@pytest.mark.parametrize(
    "recipe", slow_except(RECIPES_TO_TEST[::5], RECIPES_TO_TEST), ids=lambda r: f"{r.name}-{r.layout}"
)
def test_twins_read_the_same_prompts(rules: Ruleset, recipe: Recipe) -> None:
    compared, different = differing(rules, recipe, range(2))
    assert compared >= 10
    assert different == 0


@pytest.mark.parametrize("rules", [SHERIFF, WITCH, DOCTOR], ids=["sheriff", "witch", "doctor"])
def test_a_person_is_told_what_the_seat_may_know(rules: Ruleset) -> None:
    compared, different = differing(rules, None, range(4))
    assert compared >= 10
    assert different == 0


def test_a_planted_leak_shows_in_the_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shielding, "only", lambda *seats: EVERYONE)
    assert differing(SHERIFF, RECIPES["vanilla"], range(8))[1] > 0
    assert differing(SHERIFF, None, range(8))[1] > 0
