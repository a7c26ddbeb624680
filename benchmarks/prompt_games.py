"""The recorded games that `wolflab bench prompts` asks again in every layout.

    python benchmarks/prompt_games.py [--out src/wolflab/bench/prompt_games.jsonl.gz] [--games 2]

They are played by `village`, and its replies are made as long as a model's: statements like those in paper
002's log (a quarter are shorter than 306 characters, a quarter longer than 527), reasonings of one or two
sentences for a judgement and of two or three for an action. One reply in thirty is cut in the middle: it is
asked for again. A line of the file is one game: rules, recipe, key of the draws, and every reply by ask, step
and attempt. The file is kept as it is, so that figures can be compared between versions: it is made anew
only where a game would be asked otherwise. What a reply cites is ⟦its position⟧ there, since its number
differs between layouts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES
from wolflab.bench.prompts import GAMES, PLAYED, as_cited, reply_key
from wolflab.match import Draws, Match, Player, StrawPoll, play, run_now
from wolflab.models.base import Model, Request, Response
from wolflab.models.catalog import resolve
from wolflab.rules import preset
from wolflab.text.questions import Deduce

LENGTHS = {"statement": (300, 530), "judgement": (150, 320), "reasoning": (240, 480)}
"""Characters that a text of each kind is filled up to: from, to."""
CITING = re.compile(r"\bLines? \d+(?: and \d+)?")
"""How `village` cites in its reasonings."""
CUT = 30
"""One reply of so many is cut in the middle."""

SENTENCES = (
    "I keep coming back to how quickly some of us settled on a name yesterday without giving a reason.",
    "The order in which people spoke matters here, because the later speakers knew what would be welcome.",
    "Nobody has explained yet why the night went the way it did, and I would like to hear some thoughts.",
    "It is easy to sound certain on the first day, and I do not want to read too much into a confident tone.",
    "Votes say more than speeches, so I have looked at who followed whom when it counted.",
    "If the Werewolves are as careful as I think, they will not both be on the same side of this argument.",
    "A quiet player is not guilty, but a quiet player who votes with the crowd twice is worth a look.",
    "I would rather lose a vote than lose a player with a role, so let us not rush this.",
    "What I want from the rest of you is simple: tell us whom you trust least and what made you think so.",
    "There are two ways to read that claim, and the second of them frightens me more than the first.",
    "We should also remember that a claim nobody disputes is not yet a claim that has been proved.",
    "So far the story holds together, but it would hold together just as well if it had been prepared.",
    "My own reading has changed since this morning, and I will say openly what changed it.",
    "Someone benefits from the confusion, and I doubt that it is the village.",
    "Taking everything together, the evidence is thin, and the cost of a mistake grows with every round.",
    "The safest course is to look at what can be checked and to leave the rest for later.",
)


class Wordy:
    """`village` with replies of a model's length; keeps each reply as it was given."""

    instant = True
    typed = True

    def __init__(self) -> None:
        self._model: Model = resolve("village")
        self.name = "village, worded at length"
        self.replies: dict[str, str] = {}

    async def generate(self, request: Request) -> Response:
        """As `village` would reply, at length."""
        question = request.question
        text = (await self._model.generate(request)).text
        draws = random.Random(request.key)
        kind = "judgement" if isinstance(question.task, Deduce) else "reasoning"
        positions = {line.cited: line.position for line in question.situation.lines}
        kept = json.dumps(_longer(json.loads(text), kind, draws, positions), ensure_ascii=False)
        if request.key.endswith("|0") and draws.randrange(CUT) == 0:
            kept = kept[: len(kept) // 2]
        self.replies[reply_key(request)] = kept
        return Response(as_cited(kept, question.situation))

    def describe(self) -> dict[str, Any]:
        """By its name alone."""
        return {"name": self.name}

    async def close(self) -> None:
        """As `village`."""
        await self._model.close()


def _longer(value: Any, kind: str, draws: random.Random, at: Mapping[int | str, int], name: str = "") -> Any:
    """A reply's value, its texts filled up and what it cites marked. at: number → position."""
    if isinstance(value, dict):
        return {key: _longer(entry, kind, draws, at, key) for key, entry in value.items()}
    if isinstance(value, list):
        return [
            f"⟦{at[entry]}⟧" if name == "evidence" else _longer(entry, kind, draws, at) for entry in value
        ]
    if name not in ("reasoning", "statement") or not isinstance(value, str):
        return value
    marked = CITING.sub(lambda m: re.sub(r"\d+", lambda n: f"⟦{at[int(n[0])]}⟧", m[0]), value)
    return _filled(marked, LENGTHS["statement" if name == "statement" else kind], draws)


def _filled(text: str, length: tuple[int, int], draws: random.Random) -> str:
    wanted = draws.randint(*length)
    for sentence in draws.sample(SENTENCES, len(SENTENCES)):
        if len(text) >= wanted:
            break
        text = f"{text} {sentence}".strip()
    return text


def _played(rules: str, recipe: str, changes: Mapping[str, Any], key: str) -> dict[str, str]:
    """The replies of one game."""
    model, ruleset = Wordy(), preset(rules)
    player = Player(LanguageAgent(RECIPES[recipe].with_(**changes, layout="append")), model)
    probes = (StrawPoll(),) if ruleset.sheriff != "none" else ()
    draws = Draws(key), Draws(f"{key}/0")
    run_now(play(Match(ruleset, lambda _: [player] * ruleset.players, *draws, {}, probes, write=False)))
    return model.replies


def main() -> None:
    """Play the games and write the file."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", type=Path, default=GAMES)
    options.add_argument("--games", type=int, default=4, help="of each kind")
    wanted = options.parse_args()
    lines = []
    for kind, (rules, recipe, changes) in enumerate(PLAYED):
        for number in range(wanted.games):
            key = f"prompts/{kind}/{number}"
            replies = _played(rules, recipe, changes, key)
            game = {"rules": rules, "recipe": recipe, "changes": changes, "key": key, "replies": replies}
            lines.append(json.dumps(game, ensure_ascii=False))
            print(
                f"{rules}, {recipe}: {len(replies)} replies, {sum(map(len, replies.values())):,} characters"
            )
    with wanted.out.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.write("\n".join(lines).encode() + b"\n")
    print(f"{wanted.out}: {wanted.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
