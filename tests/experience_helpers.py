"""Players who reflect in known words, and experiences made up for the tests of pools."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wolflab.agents.base import IO, Invalid, Reply
from wolflab.agents.experience import Experience, Pool, Threshold
from wolflab.lab.experience import pool as lab
from wolflab.lab.experience.pool import Selection
from wolflab.lab.experience.pool_file import StoredPool
from wolflab.match import Draws, Match, everybody, play, run_now
from wolflab.models.embedders import Embedder, resolve_embedder
from wolflab.record import GameRecord, read_record
from wolflab.rules import WITCH, Action, Ask, Ruleset, Say, View, Voted
from wolflab.text.notes import Reflected, Thought
from wolflab.usage import Usage

Choose = Callable[[View, Ask, IO], Action | None]

HASHING = resolve_embedder("hashing")
NEAR = Threshold(0.85)


class Reflecting:
    """Reflects in a sentence made of what it sees, then does as told, or anything that is legal.

    mute: kinds of ask on which it does not reflect. spoil: kinds to which its reply is unusable.
    """

    name = "reflecting"
    instant = True

    def __init__(
        self,
        choose: Choose = lambda view, ask, io: None,
        mute: Sequence[str] = (),
        spoil: Sequence[str] = (),
    ) -> None:
        self.choose, self.mute, self.spoil = choose, mute, spoil

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        notes: tuple[tuple[str, Any], ...] = (("think", Thought("hm")),)
        if ask.kind not in self.mute:
            notes = (("reflect", Reflected(self.reflection(view, ask))), *notes)
        if ask.kind in self.spoil:
            return Reply(Invalid("as told"), notes)
        action = self.choose(view, ask, io)
        if action is None and ask.options is None:
            other = view.ruleset.names[io.draw("other", view.ruleset.players)]
            action = Say(f"I am {view.ruleset.names[view.seat]}, and I suspect {other}.")
        if action is None:
            assert ask.options is not None
            action = ask.options[io.draw("action", len(ask.options))]
        return Reply(action, notes)

    @staticmethod
    def reflection(view: View, ask: Ask) -> str:
        names = view.ruleset.names
        dead = [names[one.seat] for one in view.facts.departures if one.how == "night"]
        out = [names[one.seat] for one in view.facts.departures if one.how == "vote"]
        against = [names[e.voter] for e in view.events if isinstance(e, Voted) and e.target == view.seat]
        return (
            f"It is round {ask.round} and I must {ask.kind}. I am {names[view.seat]}. "
            f"Died at night: {', '.join(dead) or 'nobody'}. Voted out: {', '.join(out) or 'nobody'}. "
            f"Voted against me: {', '.join(against) or 'nobody'}."
        )

    def describe(self) -> dict[str, Any]:
        return {"recipe": "reflecting"}


def game(
    deal: str = "d", ruleset: Ruleset = WITCH, agent: Reflecting | None = None, condition: str = "x"
) -> GameRecord:
    """One game of such players."""
    header = {"experiment": "e", "condition": condition}
    match = Match(ruleset, everybody(agent or Reflecting()), Draws(deal), Draws(f"{deal}/0"), header)
    writer = run_now(play(match)).writer
    assert writer is not None
    return read_record(writer.game.lines, writer.probes.lines)


def experience(place: int = 0, **changes: Any) -> Experience:
    """One of many, told apart by its place; five to a game, two games to a deal."""
    values: dict[str, Any] = {
        "reflection": f"reflection {place}",
        "response": f"I choose to protect Player {'ABC'[place % 3]}.",
        "score": (995, 4)[place % 2],
        "role": "Guard",
        "kind": "protect",
        "game": f"s/{place // 10}/{place // 5 % 2}",
        "deal": f"s/{place // 10}",
        "seat": place % 7,
        "ask": f"1/protect/{place}",
    }
    return Experience(**(values | changes))


def unit(n: int, d: int = 24, seed: int = 0) -> NDArray[np.float32]:
    """n vectors of length 1, (n, d), near each other as texts of one kind are."""
    drawn = np.random.default_rng(seed).standard_normal((n, d)) + 1.0
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


@cache
def games() -> tuple[GameRecord, ...]:
    """Twelve games of twelve deals."""
    return tuple(game(f"s/{n}") for n in range(12))


def made_of(experiences: list[Experience], name: str = "made up") -> StoredPool:
    """A pool in memory, with made-up vectors."""
    vectors = unit(len(experiences))
    return StoredPool(Pool.of(experiences, vectors, {"name": name}, NEAR), ({"games": 1},))


def built(path: Path, sources: Any = None, selection: Selection = lab.EVERYTHING, **options: Any) -> Pool:
    """A pool in a file, of all the games unless told which."""
    return run_now(lab.build_pool(sources or games(), HASHING, path, selection, **options))


_FORMAT_1 = """
PRAGMA application_id=0x574F4C46; PRAGMA user_version=1;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY, role TEXT NOT NULL, kind TEXT NOT NULL, first INTEGER NOT NULL, n INTEGER NOT NULL,
  vectors INTEGER NOT NULL, digest TEXT NOT NULL, UNIQUE (role, kind));
CREATE TABLE experiences (
  id INTEGER PRIMARY KEY, block INTEGER NOT NULL, row INTEGER NOT NULL, reflection TEXT NOT NULL,
  response TEXT NOT NULL, score INTEGER NOT NULL, game TEXT NOT NULL, deal TEXT NOT NULL,
  seat INTEGER NOT NULL, ask TEXT NOT NULL);
CREATE TABLE vectors (
  block INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (block, part));
"""


def write_format_1(made: StoredPool, path: Path, at_once: int = 5) -> None:
    """A pool as it was written before every pool could grow: block by block, several vectors in a row."""
    pool = made.pool
    meta = {
        "digest": pool.digest,
        "embedder": pool.embedder,
        "dimensions": pool.dimensions,
        "nearness": asdict(pool.threshold),
        "origins": made.origins,
        "was": made.was,
    }
    with closing(sqlite3.connect(path)) as db:
        db.executescript(_FORMAT_1)
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, json.dumps(meta[key])) for key in meta])
        first = 1
        for number, (key, block) in enumerate(pool.blocks.items(), 1):
            about = (number, *key, first, len(block.entries), len(block.vectors), block.digest)
            db.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?)", about)
            rows = [
                (first + at, number, int(block.rows[at]), *entry.content)
                for at, entry in enumerate(block.entries)
            ]
            db.executemany("INSERT INTO experiences VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            for part, start in enumerate(range(0, len(block.vectors), at_once)):
                data = block.vectors[start : start + at_once].tobytes()
                db.execute("INSERT INTO vectors VALUES (?, ?, ?)", (number, part, data))
            first += len(rows)
        db.commit()


def pool_of(
    sources: Any, selection: Selection = lab.EVERYTHING, embedder: Embedder = HASHING, **options: Any
) -> Pool:
    """A pool made at once, whose file is thrown away."""
    with TemporaryDirectory() as folder:
        return run_now(lab.build_pool(sources, embedder, Path(folder) / "p", selection, **options))


class Counting:
    """An embedder that counts what it is asked."""

    name, instant, version, usage, dimensions = "counting", True, "1", Usage(), 24

    def __init__(self, name: str = "counting") -> None:
        self.name = name
        self.asked: list[list[str]] = []

    @property
    def digest(self) -> str:
        return self.name

    async def embed(self, texts: Any) -> Any:
        self.asked.append(list(texts))
        return unit(len(texts), seed=len(texts))

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None: ...
