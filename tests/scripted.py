"""A scripted model: answers every kind of question legally, by draws from the request's key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES, Recipe
from wolflab.match import Casting, Player
from wolflab.models.base import Request, Response
from wolflab.text.asking.options import labels
from wolflab.text.questions import Choose, Deduce, Propose, Rate


def number(key: str, n: int) -> int:
    """A number below n, fixed by the key."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big") % n


class Scripted:
    """See the module. waits: yields to the event loop so that replies finish out of order."""

    def __init__(
        self, waits: bool = False, spoil: Callable[[Request], str | None] = lambda request: None
    ) -> None:
        self.name, self.typed = "scripted", True
        self.instant = not waits
        self.spoil = spoil
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Response:
        self.requests.append(request)
        if not self.instant:
            for _ in range(number(request.key + "wait", 7)):
                await asyncio.sleep(0)
        spoiled = self.spoil(request)
        return Response(json.dumps(self.answer(request)) if spoiled is None else spoiled)

    def answer(self, request: Request) -> dict[str, Any]:
        now, task = request.question.situation, request.question.task
        names = now.ruleset.names
        if isinstance(task, Deduce):
            numbers = [line.cited for line in now.lines]
            return {
                names[target]: {
                    "role": task.guesses[number(f"{request.key}r{target}", len(task.guesses))],
                    "reasoning": "it seems so",
                    "confidence": 5 + number(f"{request.key}c{target}", 6),
                    "evidence": [numbers[number(f"{request.key}e{target}", len(numbers))]],
                }
                for target in task.targets
            }
        if isinstance(task, Rate):
            return {names[target]: 1 + number(f"{request.key}{target}", 10) for target in task.targets}
        if isinstance(task, Choose):
            return {"reasoning": "why not", "choice": 1 + number(request.key, len(task.candidates))}
        if isinstance(task, Propose) and task.ask.options is not None:
            options = labels(task.ask, now.ruleset)
            first = number(request.key, len(options))
            chosen = [options[(first + step) % len(options)] for step in range(task.count)]
            return {"candidates": [{"reasoning": "it may do", "action": one} for one in chosen]}
        if task.ask.options is None:
            named = names[number(request.key, len(names))]
            return {"reasoning": "I must speak", "statement": f"I think {named} is a Werewolf."}
        options = labels(task.ask, now.ruleset)
        return {"reasoning": "any will do", "action": options[number(request.key, len(options))]}

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None:
        pass


def table_of(recipe: str | Recipe, model: Scripted) -> Casting:
    """Everybody plays `recipe` on `model`."""
    agent = LanguageAgent(RECIPES[recipe] if isinstance(recipe, str) else recipe)
    return lambda dealing: [Player(agent, model)] * len(dealing.roles)
