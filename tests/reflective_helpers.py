"""For the tests of the reflective player: a model that thinks in plain text, embedders that can be counted,
one turn out of a real game, and a pool of experience made by hand.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rules_helpers import Game
from scripted import Scripted, number
from text_helpers import talkative
from wolflab.agents.base import Reply
from wolflab.agents.experience import Experience, Pool, Retriever, Threshold
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES, Recipe
from wolflab.match import Casting, Draws, Player, run_now
from wolflab.match.io import LiveIO, concurrently, sequentially
from wolflab.models.base import Model, Request
from wolflab.models.calls import NoCallCache
from wolflab.models.embedders.embedder import Embedder, Vectors, embedder_digest
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.rules import Ask, Note, Ruleset, View
from wolflab.text.asking.options import labels
from wolflab.text.asking.prompts import messages
from wolflab.text.notes import Content, Reflected
from wolflab.text.questions import (
    AnswerQuestion,
    AskQuestions,
    ChooseQuestions,
    Decide,
    Extract,
    Interview,
    Reflect,
)
from wolflab.usage import Usage

OWN, PAPER = RECIPES["reflective"], RECIPES["reflective-003"]
STEPS = (
    "questions/choose",
    "questions/ask",
    *(f"answer/{number}" for number in range(1, 8)),
    "reflect",
    "act",
)
"""The calls of one response without experience (003 §3.3: 1 + 1 + 7 + 1 + 1), as their step paths."""
ADVICE = "The best way for you is to vote for somebody, because silence helps the Werewolves alone."

_SPEECHES = (
    "As the Seer, I looked at {}: a Werewolf.",
    "I am the Witch and used my antidote.",
    "I agree with {}.",
    "I am a Villager. {} is too silent for my taste.",
    "Let us vote for {} today.",
)


def step_of(request: Request) -> str:
    """The step path out of a request's key."""
    return request.key.split("|")[-2]


class ScriptedReflective(Scripted):
    """Takes every step of the reflective player, in both wordings, by draws from the request's key."""

    def __init__(
        self, waits: bool = False, spoil: Callable[[Request], str | None] = lambda request: None
    ) -> None:
        super().__init__(waits, lambda request: written(request) if (s := spoil(request)) is None else s)


def written(request: Request) -> str | None:
    """A reply in plain text, or None where JSON is asked for and `Scripted` knows how."""
    question, key = request.question, request.key
    now, task = question.situation, question.task
    name = now.ruleset.names[number(key, now.ruleset.players)]
    match task:
        case ChooseQuestions(_, candidates, count):
            first = number(key, len(candidates))
            return ", ".join(str((first + n) % len(candidates) + 1) for n in range(count))
        case AskQuestions(_, _, count):
            asked = ("Who voted for {} before?", "Why is {} so quiet?", "Does {} know more than we do?")
            more = (*asked, "Did {} defend anybody?", "What does {} want us to do?")
            return " # ".join(one.format(name) for one in more[:count])
        case AnswerQuestion():
            return f"I think that it is {name}, number {number(key, 99)} in my book."
        case Reflect():
            return f"As the {now.role}, I observed {name} closely. I think that I will wait for now."
        case Extract():
            return ADVICE
        case Interview(_, claimed):
            return f"I called myself {claimed} to see who would contradict me."
        case Decide(ask, aids) if ask.options is None:
            said = _SPEECHES[number(key, len(_SPEECHES))].format(name)
            if aids is not None and question.wording == "paper":
                return f"My step-by-step thought process: it helps. My concise talking content: {said}"
            return json.dumps({"reasoning": "it helps", "statement": said})
        case Decide(ask, aids) if aids is not None and question.wording == "paper" and ask.options:
            chosen = labels(ask, now.ruleset)[number(key, len(ask.options))]
            return f"My step-by-step thought process: it helps. My concise talking content: I {chosen}."
    return None


class Counting:
    """The hashing embedder, or vectors by hand; keeps what it was asked for.

    by_hand: text → vector; a text that is not in it gets zeros. late: it gives way to others first.
    """

    def __init__(self, by_hand: Mapping[str, Sequence[float]] | None = None, late: bool = False) -> None:
        self.inner = HashingEmbedder()
        self.by_hand = by_hand
        self.name, self.version = "counting", "1"
        self.instant = not late
        self.batches: list[tuple[str, ...]] = []
        self.usage = Usage()

    @property
    def dimensions(self) -> int | None:
        if self.by_hand is None:
            return self.inner.dimensions
        return len(next(iter(self.by_hand.values())))

    @property
    def digest(self) -> str:
        return embedder_digest(self.describe())

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(tuple(texts))
        if not self.instant:
            for _ in range(1 + number("|".join(texts), 5)):
                await asyncio.sleep(0)
        if self.by_hand is None:
            return await self.inner.embed(texts)
        zeros = [0.0] * (self.dimensions or 0)
        return np.array([self.by_hand.get(text, zeros) for text in texts], np.float32)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "by_hand": self.by_hand is not None}

    async def close(self) -> None:
        pass


# -- one turn -----------------------------------------------------------------------------------


def moment(
    rules: Ruleset, kind: str, round: int = 2, seed: int = 0, reflections: bool = True
) -> tuple[View, Ask]:
    """The first ask of that kind in that round of a talkative random game, and its seat's view.

    reflections: whatever a seat was asked before, it reflected on.
    """
    for attempt in range(200):
        game = Game(rules)
        choose = talkative(random.Random(1000 * seed + attempt), rules)
        while not game.over:
            for ask in game.asks:
                if (ask.kind, ask.round) == (kind, round):
                    return game.log.view(ask.seat), ask
            for ask in game.asks:
                if reflections and ask.seat >= 0:
                    at = len(game.log.view(ask.seat).events)
                    game.log.note(ask.seat, Note(ask.id, "reflect", _thought(ask, rules), at))
            game.reply([choose(ask) for ask in game.asks])
    raise AssertionError(f"no game of {rules.name} reaches {kind} in round {round}")


def _thought(ask: Ask, rules: Ruleset) -> Content:
    name = rules.names[number(ask.id, rules.players)]
    return Reflected(f"Asked to {ask.kind}, I thought of {name} for a while.")


@dataclass
class Turned:
    """What one turn gave: the reply, and the requests it took."""

    reply: Reply
    requests: list[Request] = field(default_factory=list)

    @property
    def steps(self) -> list[str]:
        return [step_of(request) for request in self.requests]

    @property
    def notes(self) -> list[Content]:
        return [content for _, content in self.reply.notes]

    def prompt(self, step: str) -> tuple[str, str]:
        """(system, user) of the first call of `step`."""
        request = next(one for one in self.requests if step_of(one) == step)
        system, user = messages(request.question)
        return system.content, user.content


def turn(
    view: View,
    ask: Ask,
    recipe: Recipe = OWN,
    model: Scripted | None = None,
    retriever: Retriever | None = None,
    embedder: Embedder | None = None,
    key: str = "turn",
) -> Turned:
    """Play one turn from a fresh memory; concurrent where the model waits."""
    model = model or ScriptedReflective()
    embedder = embedder or HashingEmbedder()
    calm = model.instant and embedder.instant
    agent = LanguageAgent(recipe, retriever)
    embedders = {"messages": embedder, "experience": embedder}
    io = LiveIO(ask, model, NoCallCache(), Draws(key), sequentially if calm else concurrently, embedders)
    fresh = view._replace(cache={})
    reply = (run_now if calm else asyncio.run)(agent.reply(fresh, ask, io))
    return Turned(reply, model.requests)


def seated(
    recipe: Recipe, model: Model, embedder: Embedder | None = None, retriever: Retriever | None = None
) -> Casting:
    """Everybody reflects by `recipe`."""
    agent = LanguageAgent(recipe, retriever)
    embedder = embedder or HashingEmbedder()
    embedders = {"messages": embedder} | ({"experience": embedder} if retriever else {})
    return lambda dealing: [Player(agent, model, embedders)] * len(dealing.roles)


# -- experience ---------------------------------------------------------------------------------


def experience(role: str, kind: str, response: str, score: int, game: int = 0, deal: str = "") -> Experience:
    """One decision of a past game."""
    ask = f"1/{kind}/0"
    return Experience(f"I am a {role}.", response, score, role, kind, f"g{game}", deal or f"d{game}", 0, ask)


def pool(experiences: Sequence[Experience], vectors: Sequence[Sequence[float]], epsilon: float) -> Pool:
    """A pool with vectors by hand."""
    return Pool.of(experiences, np.array(vectors, np.float32), {"name": "by hand"}, Threshold(epsilon))


def broad_pool(rules: Ruleset, kinds: Sequence[str]) -> Pool:
    """Something for every role and kind of ask, found by any reflection: 3 games, won, lost and won late."""
    embedder = HashingEmbedder()
    told = [
        experience(role, kind, f"The {role} spoke of Player A in game {game}.", score, game)
        for role in rules.roles
        for kind in kinds
        for game, score in ((1, 997), (2, 3), (3, 994))
    ]
    vectors = run_now(embedder.embed([f"As the {one.role}, I observed it." for one in told]))
    return Pool.of(told, vectors, embedder.describe(), Threshold(-1.0))
