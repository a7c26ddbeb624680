"""The processor time of two versions of Wolflab for the same games, rollouts and calls, and the ratio.

    git worktree add --detach /tmp/before main
    python benchmarks/two_versions.py --against /tmp/before [--only games rollouts] [--rounds 20] [--size 10]

Each version works in a process of its own, which has imported everything and has played some games before.
They take turns, in the order A B B A, on the same small piece of work: `--size` games, four times as many
episodes, or the calls of half as many games. What counts is the processor time of these processes, never the
clock, so that other work on the machine disturbs little. Printed are the milliseconds of both (medians over
rounds), the median of the rounds' ratios with its quartiles, and whether both gave the same: records byte for
byte, decisions of rollouts bit by bit.

games: whole games of the built-in player, through the runner, the store and the counting of measures, by
recipe. rollouts: episodes of the training of the shipped policy. calls: games whose model answers at once and
waits like a server's, with its prompts rendered and its replies read as text; without HTTP and store, and
without the time in which the answer is made.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from statistics import median, quantiles
from time import process_time
from typing import Any

RECIPES = ("deductive", "reflective", "strategic")
WORK = (*(f"games/{recipe}" for recipe in RECIPES), "rollouts", "calls")
Piece = Callable[[int, int], tuple[float, int, list[str]]]
"""(number of the piece, size) → seconds of processor time, units of work, hashes of what came out."""


# -- one version, in its own process ----------------------------------------------------------------


def games_of(recipe: str) -> Piece:
    """Whole games of a recipe on the built-in player."""
    from wolflab.lab.plans.loading import build
    from wolflab.lab.runs.runner import play_run
    from wolflab.lab.storage.store import Store

    def play(number: int, size: int) -> tuple[float, int, list[str]]:
        data: dict[str, Any] = {
            "name": "speed",
            "rules": "sheriff",
            "seed": number,
            "deals": size,
            "workers": 1,
        }
        data["players"] = {"others": {"model": "village", "recipe": recipe}}
        with tempfile.TemporaryDirectory() as home, Store.create(Path(home) / "run", build(data)) as store:
            begun = process_time()
            play_run(store)
            spent = process_time() - begun
            records = [store.record(game) for game in range(1, size + 1)]
        return spent, size, [hashed(b"\n".join((*one.lines, *one.probe_lines))) for one in records]

    return play


def rollouts() -> Piece:
    """Episodes of a training, as `wolflab bench training` plays them."""
    from wolflab.agents.policy.checkpoint import SUFFIX, load_policy, save
    from wolflab.lab.training.files import POLICY
    from wolflab.lab.training.games import POPULATION, RolloutJob, TrainingPlayers
    from wolflab.lab.training.training_plan import load_training
    from wolflab.policy.rollout import population_members

    experiment = load_training("train-small", ["workers=1"])
    settings = experiment.training
    pool = population_members(settings.population, settings.updates)
    home = tempfile.TemporaryDirectory()
    policy, learner = Path(home.name) / POLICY, load_policy("small")
    (policy.parent / POPULATION).mkdir()
    names = [member.name for member in pool if member.kind == "checkpoint"]
    for file in (policy, *(policy.parent / POPULATION / (name + SUFFIX) for name in names)):
        save(learner, file)
    players = TrainingPlayers(experiment)

    def play(number: int, size: int, home: object = home) -> tuple[float, int, list[str]]:
        keys = tuple(f"speed/{number}/{game}" for game in range(4 * size))
        done = players.do(RolloutJob(keys, str(policy), 0, pool))
        made = sum(len(part.action) for part in done.decisions)
        return done.seconds, made, [hashed(array.tobytes()) for part in done.decisions for array in part]

    return play


def calls() -> Piece:
    """Calls of a model that answers at once."""
    from wolflab.agents.language import LanguageAgent
    from wolflab.agents.recipes import RECIPES
    from wolflab.match import Draws, Match, Player, play
    from wolflab.models.base import Request, Response
    from wolflab.models.catalog import resolve
    from wolflab.rules import preset

    class AtOnce:
        """A model like a server's: it reads prompts, and is awaited."""

        name, instant, typed = "at-once", False, False

        def __init__(self) -> None:
            self.inner, self.calls, self.inside = resolve("village"), 0, 0.0

        async def generate(self, request: Request) -> Response:
            await asyncio.sleep(0)
            begun = process_time()
            text = (await self.inner.generate(request)).text
            self.calls, self.inside = self.calls + 1, self.inside + process_time() - begun
            return Response(text, prompt=request.words.messages)

        def describe(self) -> dict[str, Any]:
            return {"name": self.name}

        async def close(self) -> None:
            """Nothing to close."""

    def work(number: int, size: int) -> tuple[float, int, list[str]]:
        model, rules = AtOnce(), preset("sheriff")
        players = [Player(LanguageAgent(RECIPES["deductive"]), model)] * rules.players

        async def game(key: str) -> bytes:
            match = Match(rules, lambda dealing: players, Draws(key), Draws(f"{key}/0"), {"version": "speed"})
            writer = (await play(match)).writer
            assert writer is not None
            return b"\n".join(writer.game.lines)

        async def several() -> list[bytes]:
            return await asyncio.gather(*(game(f"{number}/{one}") for one in range(max(1, size // 2))))

        begun = process_time()
        records = asyncio.run(several())
        return process_time() - begun - model.inside, model.calls, list(map(hashed, records))

    return work


def hashed(data: bytes) -> str:
    """A short hash."""
    return blake2b(data, digest_size=8).hexdigest()


def work_when_told(what: str) -> None:
    """Do a piece of the work for each line of (number, size) that comes in."""
    kind, _, recipe = what.partition("/")
    piece = games_of(recipe) if kind == "games" else rollouts() if kind == "rollouts" else calls()
    for line in sys.stdin:
        print(json.dumps(piece(*json.loads(line))), flush=True)


# -- both, in turn ------------------------------------------------------------------------------------


@contextmanager
def version(path: Path, what: str) -> Iterator[Piece]:
    """A process with the version in this directory."""
    source = path.resolve() / "src"
    if not (source / "wolflab").is_dir():
        sys.exit(f"--against {path}: there is no src/wolflab in it; name a checkout of Wolflab")
    alone = os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--work", what]
    with subprocess.Popen(
        command, env=alone, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        told, answers = process.stdin, process.stdout
        assert told is not None
        assert answers is not None

        def ask(number: int, size: int) -> tuple[float, int, list[str]]:
            print(json.dumps((number, size)), file=told, flush=True)
            line = answers.readline()
            if not line:
                sys.exit(f"{path}: the version there failed at {what}; its error stands above")
            seconds, units, came = json.loads(line)
            return seconds, units, came

        yield ask
        told.close()


def compare(what: str, before: Path, rounds: int, size: int) -> str:
    """The line of one kind of work."""
    with ExitStack() as ends:
        both = [ends.enter_context(version(path, what)) for path in (before, Path(__file__).parent.parent)]
        for ask in both:
            ask(0, 2 * size)
        times: list[list[float]] = [[], []]
        same = outcomes = 0
        for number in range(1, rounds + 1):
            came: list[list[str]] = [[], []]
            for at in (0, 1) if number % 2 else (1, 0):
                seconds, units, came[at] = both[at](number, size)
                times[at].append(1000 * seconds / max(1, units))
            same += sum(a == b for a, b in zip(*came, strict=False))
            outcomes += max(map(len, came))
    ratios = [a / b for a, b in zip(*times, strict=True)]
    low, _, high = quantiles(ratios, n=4) if rounds > 1 else (ratios[0],) * 3
    unit = {"rollouts": "decision", "calls": "call"}.get(what, "game")
    return (
        f"{what}: {median(times[0]):.3f} → {median(times[1]):.3f} ms a {unit}, ratio {median(ratios):.2f} "
        f"(quartiles {low:.2f} to {high:.2f}); {same} of {outcomes} "
        f"{'arrays' if what == 'rollouts' else 'records'} the same"
    )


def main() -> None:
    """Print a line for each kind of work."""
    wanted = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    wanted.add_argument("--against", type=Path, help="a checkout of the version before")
    wanted.add_argument("--only", nargs="+", default=WORK, help=f"some of {', '.join(WORK)}, or games")
    wanted.add_argument("--rounds", type=int, default=20)
    wanted.add_argument("--size", type=int, default=10)
    wanted.add_argument("--work", choices=WORK, help=argparse.SUPPRESS)
    told = wanted.parse_args()
    if told.work is not None:
        work_when_told(told.work)
        return
    if told.against is None:
        wanted.error("name the version before: --against PATH")
    chosen = [one for one in WORK if one in told.only or one.partition("/")[0] in told.only]
    if not chosen:
        wanted.error(f"--only {' '.join(told.only)}: there is no such work; take some of {', '.join(WORK)}")
    for what in chosen:
        print(compare(what, told.against, told.rounds, told.size), flush=True)


if __name__ == "__main__":
    main()
