"""The price of a game's prompts in each layout, on a server that caches the beginnings of prompts.

Recorded games (`benchmarks/prompt_games.py`) are played again from their replies in each layout, and every
prompt is rendered as a server would see it. Calls that do not depend on each other start together, so none of
them uses another's cache: the cached part of a prompt is the longest prefix that it shares with a prompt that
was completed before. A token is counted as four characters. Replies are not counted, since they cost the same
in every layout.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import Path
from typing import Any

from rich.table import Column, Table

from ..agents.language import LanguageAgent
from ..agents.recipes import RECIPES, Recipe
from ..match import Casting, Draws, Match, Player, StrawPoll, play
from ..models.base import Request, Response
from ..rules import preset
from ..text.questions import FORMS_FIRST, Situation

GAMES = Path(__file__).with_name("prompt_games.jsonl.gz")
PLAYED: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("sheriff", "deductive", {"deduce": {"calls": "each"}}),
    ("sheriff", "deductive", {}),
    ("witch", "vanilla", {}),
)
"""The kinds of recorded games: rules, recipe, changes of the recipe."""

CACHED_PRICE = 0.1
"""The price of a cached character; that of another one is 1."""
CHARACTERS = 4
"""The characters of a token."""


@dataclass(frozen=True, slots=True)
class _CachingThreshold:
    """The least number of tokens that a vendor caches, and the step."""

    name: str
    least: int
    step: int
    schema: bool = False
    """Whether the reply's schema comes before the prompt, as at OpenAI, so that another schema misses the
    cache."""

    def cached(self, characters: int) -> int:
        """The number of cached characters, if a prompt begins with `characters` known ones."""
        tokens = characters // CHARACTERS
        return 0 if tokens < self.least else CHARACTERS * (tokens - tokens % self.step)


CACHING_THRESHOLDS = (
    _CachingThreshold("price", 0, 1),
    _CachingThreshold("1,024 / 128", 1024, 128),
    _CachingThreshold("schema first", 1024, 128, schema=True),
    _CachingThreshold("4,096", 4096, 1),
)


@dataclass(frozen=True, slots=True)
class Sent:
    """One prompt: its number of characters, and the length of its known prefix, from all earlier prompts and
    from those with the same schema.
    """

    characters: int
    known: int
    known_with_schema: int

    def price(self, threshold: _CachingThreshold) -> float:
        """The price in uncached characters."""
        known = self.known_with_schema if threshold.schema else self.known
        return self.characters - (1 - CACHED_PRICE) * threshold.cached(known)


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """See `benchmarks/prompt_games.py`."""

    rules: str
    recipe: str
    changes: Mapping[str, Any]
    key: str
    replies: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Rules and recipe in words."""
        each = ", one target a call" if self.changes else ""
        return f"{self.rules}, {self.recipe}{each}"


def recorded_games() -> list[RecordedGame]:
    """The recorded games of the package."""
    with gzip.open(GAMES, "rt", encoding="utf-8") as file:
        return [RecordedGame(**json.loads(line)) for line in file]


def reply_key(request: Request) -> str:
    """The key of a reply, the same in every layout: ask, step, attempt."""
    return request.key.split("|", 1)[1]


def as_cited(text: str, now: Situation) -> str:
    """A recorded reply, with cited lines by their numbers in this situation."""
    cited = {str(line.position): str(line.cited) for line in now.lines}
    return re.sub("⟦([0-9]+)⟧", lambda m: cited.get(m[1], "0"), text)


def _begins_alike(one: str, other: str) -> int:
    """The length of the common prefix of two texts."""
    return len(commonprefix((one, other)))  # noqa: RUF071


class _Recorded:
    """A server that answers from a recorded game, in waves: requests that are waiting together are answered
    together.
    """

    instant = False
    typed = False

    def __init__(self, replies: Mapping[str, str]) -> None:
        self.name = "recorded"
        self.sent: list[Sent] = []
        self._replies = replies
        self._completed: dict[str, list[str]] = {}
        """Schema of the reply → completed prompts in alphabetical order; "" has all of them."""
        self._waiting: list[tuple[str, str, asyncio.Future[None]]] = []

    async def generate(self, request: Request) -> Response:
        prompt = "\n\n".join(f"{role}: {text}" for role, text in request.words.messages)
        schema = json.dumps(request.words.schema)
        self.sent.append(Sent(len(prompt), self._known(prompt, ""), self._known(prompt, schema)))
        answered = asyncio.get_running_loop().create_future()
        self._waiting.append((prompt, schema, answered))
        await answered
        return Response(as_cited(self._replies[reply_key(request)], request.question.situation))

    def _known(self, prompt: str, schema: str) -> int:
        """The length of the known prefix. A neighbour in alphabetical order shares the longest one."""
        completed = self._completed.get(schema, [])
        at = bisect_left(completed, prompt)
        return max((_begins_alike(prompt, near) for near in completed[max(0, at - 1) : at + 1]), default=0)

    async def answer_in_waves(self) -> None:
        """Answer until cancelled."""
        while True:
            asked = -1
            while asked != len(self._waiting):
                asked = len(self._waiting)
                for _ in range(20):  # let every game that can go on do so
                    await asyncio.sleep(0)
            wave, self._waiting = self._waiting, []
            for prompt, schema, answered in wave:
                for kind in ("", schema):
                    insort(self._completed.setdefault(kind, []), prompt)
                answered.set_result(None)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None:
        """Nothing to close."""


def prompts_sent(game: RecordedGame, recipe: Recipe) -> list[Sent]:
    """The prompts of a recorded game with this recipe."""

    async def played() -> list[Sent]:
        model = _Recorded(game.replies)
        ruleset = preset(game.rules)
        seats = [Player(LanguageAgent(recipe), model)] * ruleset.players
        casting: Casting = lambda _: seats  # noqa: E731
        probes = (StrawPoll(),) if ruleset.sheriff != "none" else ()
        draws = Draws(game.key), Draws(f"{game.key}/0")
        waves = asyncio.create_task(model.answer_in_waves())
        try:
            await play(Match(ruleset, casting, *draws, {}, probes, write=False))
        finally:
            waves.cancel()
        return model.sent

    return asyncio.run(played())


def in_layout(game: RecordedGame, layout: str) -> Recipe:
    """The game's recipe in a layout. It forgets statements that were not cited if the layout allows it."""
    recipe = RECIPES[game.recipe].with_(layout="append", **game.changes)
    if recipe.deduce is not None:
        recipe = recipe.with_(deduce={"prune": layout not in FORMS_FIRST})
    return recipe.with_(layout=layout)


LAYOUTS = ("paper", "append", "shared", "dialogue")
BASE = "append"
"""The layout that the others' prices are compared with."""


def prompt_table(games: int | None = None) -> Table:
    """The prices of the prompts by kind of game and layout. games: number for each kind; None for all."""
    table = Table(
        Column("game", min_width=len("deductive,")),
        *("layout", "length", "known"),
        *(threshold.name for threshold in CACHING_THRESHOLDS),
        caption="length: 1,000 characters a game; known: the share that begins as an earlier prompt",
        caption_justify="left",
        pad_edge=False,
    )
    kinds: dict[str, list[RecordedGame]] = {}
    for game in recorded_games():
        kinds.setdefault(game.kind, []).append(game)
    some = {kind: played[:games] for kind, played in kinds.items()}
    sent = {
        (kind, layout): [one for game in played for one in prompts_sent(game, in_layout(game, layout))]
        for kind, played in some.items()
        for layout in LAYOUTS
    }
    every = [kind for kind in some for _ in some[kind]]
    for kind in (*some, "all"):
        played = len(every) if kind == "all" else every.count(kind)
        of_kind = [name for name in some if kind in ("all", name)]
        base = [one for name in of_kind for one in sent[name, BASE]]
        for layout in LAYOUTS:
            prompts = [one for name in of_kind for one in sent[name, layout]]
            characters = sum(one.characters for one in prompts)
            prices = [
                _price(prompts, threshold) / _price(base, threshold) for threshold in CACHING_THRESHOLDS
            ]
            known = sum(one.known for one in prompts) / characters
            cells = (
                f"{characters / played / 1000:,.0f}",
                f"{known:.2f}",
                *(f"{price:.2f}" for price in prices),
            )
            table.add_row(
                kind if layout == LAYOUTS[0] else "", layout, *cells, end_section=layout == LAYOUTS[-1]
            )
    return table


def _price(prompts: Sequence[Sent], threshold: _CachingThreshold) -> float:
    return sum(prompt.price(threshold) for prompt in prompts)
