"""How much is learned from whole games of a model behind HTTP, where the truth is planted.

A server in OpenAI's form plays one Werewolf and seven Villagers for two rounds. Before each of its statements
a Villager thinks of three; a game has 14 statements. Each is good or bad. A phrase in it tells which, right
in 95 of 100; in the others the rest of its words tells it, which nobody can learn. 16 other words vary and
mean nothing. Nobody is killed. In the last vote the Werewolf votes for itself with a chance that grows with
the number of good statements in its prompt, and nobody else votes. If it does, the village wins: always
choosing by the phrase is worth 30 points of the win rate. The server itself chooses at random.

    python benchmarks/planted_server.py learning [--games 300 1000] [--seeds 1 2 3 …] [--rounds 4]
    python benchmarks/planted_server.py estimates [--games 50] [--repeats 40]
    python benchmarks/planted_server.py played [--games 1000] [--seeds 1 2] [--deals 1000]

*learning*: the share of the possible gain that is learned from recorded games, and by a training in rounds of
as many games; `--rounds 0` trains none. *estimates*: in how many repeats the interval of the gain of one
decision holds the true one, and 0 where all statements are worth the same. *played*: the gain of a learned
policy in play, at every decision and at one drawn decision of each game, beside what was planted.

With `--http` the games are played over HTTP. Otherwise the function that answers there is called in this
process; prompts, seeds and games are the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from recorded_learning import estimated, likeliest

import http_server
from wolflab.agents.policy.checkpoint import NumpyPolicy, load_policy
from wolflab.agents.policy.policy import Float32s, Observation
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.specs import PlayerSpec
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.runs.runner import playing
from wolflab.lab.storage.store import Store
from wolflab.lab.training.embedding import EmbeddingWatcher
from wolflab.lab.training.learning import learn_from
from wolflab.lab.training.recorded import recorded_choices
from wolflab.lab.training.rounds import RoundsSpec, begin_round, learn_round, policy_after
from wolflab.models.base import Model, Request, Response, seed_of_call
from wolflab.models.catalog import resolve
from wolflab.models.embedders import resolve_embedder
from wolflab.policy.offline import FOLDS, Float64s, LinearPolicy, LoggedChoices, learn
from wolflab.stats.intervals import clustered_estimate, quotient
from wolflab.text.questions import Choose
from wolflab.ui.terminal.tables import in_line
from wolflab.usage import Usage

Decides = Callable[[Sequence[str]], Awaitable[int]]
"""From the statements of the candidates to the number of one."""

SEATS, ROUNDS, CANDIDATES = 8, 2, 3
BY_GAME = (SEATS - 1) * ROUNDS
WRONG = 20
"""Of so many statements one is worth the contrary of what its phrase says."""
BEST = (1 - 0.5**CANDIDATES) * (1 - 1 / WRONG) + 0.5**CANDIDATES / WRONG
"""The share of good statements if the phrase decides: 84 %."""
WORTH = 0.30 / (BY_GAME * (BEST - 0.5))
"""What a good statement in place of a bad one adds to the chance of winning."""
EMBEDDER = {"embedder": "hashing", "dimensions": 256}
PROPOSE = {"kinds": ["statement"], "candidates": CANDIDATES}

# -- what the server says ---------------------------------------------------------------------------

PHRASES = ("we have plenty of time", "let us count the votes")
"""Of a statement that seems bad, and of one that seems good."""
TALE = """this {morning|evening} a {tall|small} {miller|blacksmith} went to the {river|forest} with his
{brother|cousin} and a {basket|barrel} of {apples|onions} in the {rain|wind} past the {church|market} where a
{yellow|brown} {dog|goose} {slept|barked} and they had {bread|cheese} with {honey|butter} from the
{table|cupboard} until the {moon|bell} came"""
"""The rest of it, with 16 words that vary."""


def statement(draws: random.Random) -> str:
    """A statement, good or bad with the same chance."""
    told = re.sub(r"\{(\w+)\|(\w+)\}", lambda found: draws.choice(found.groups()), " ".join(TALE.split()))
    return f"I think {draws.choice(PHRASES)}, {told}."


def is_good(said: str) -> bool:
    """Whether a statement is good: by its phrase, or by the rest of its words."""
    return (PHRASES[1] in said) != (crc32(said.encode()) % WRONG == 0)


def answer(prompt: str, seed: int, worth: float) -> str:
    """The reply to a prompt. worth: of a good statement."""
    draws = random.Random(seed)
    asked = prompt[prompt.rindex("\nIt is ") :]
    if (candidates := re.findall(r'(?m)^(\d)\. "', asked)) and 'form "choice"' in asked:
        return json.dumps({"reasoning": "", "choice": draws.randint(1, len(candidates))})
    if 'form "statement"' in asked:
        return json.dumps({"reasoning": "", "statement": statement(draws)})
    action = "pass" if "pass" in asked else "do not vote"
    wolf = re.search(r"You are (\w+), a Werewolf", asked)
    if wolf is not None and f"day {ROUNDS} voting" in asked:
        good = sum(map(is_good, re.findall(r'(?m)^\[\d+\] \w+ said: "(.*)"$', prompt)))
        if draws.random() < 0.5 + worth * (good - BY_GAME / 2):
            action = f"vote for {wolf[1]}"
    return json.dumps({"reasoning": "", "action": action})


@dataclass
class PlantedServer(http_server.FakeServer):
    """The server. worth: see `answer`."""

    worth: float = WORTH

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = http_server.text_of(body["messages"][1])  # corrections come behind it
        self.says = lambda _: answer(prompt, body["seed"], self.worth)
        return super()._completion(body)


class Direct:
    """The same model without HTTP. decides: the number of its choice from the candidates' texts, which it
    gives instead of its own at one drawn decision of each game; drawn: the games where that was asked.
    """

    instant = False
    typed = False

    def __init__(self, spec: str | dict[str, Any], server: PlantedServer, decides: Decides | None) -> None:
        self._described, self._server, self._decides = resolve(spec).describe(), server, decides
        self.name = str(self._described["name"])
        self.drawn: set[str] = set()

    async def generate(self, request: Request) -> Response:
        """One reply; see `wolflab.models.base.Model`."""
        await asyncio.sleep(0)
        prompt, seed = request.words.messages[1][1], seed_of_call(request.key)
        reply = answer(prompt, seed, self._server.worth)
        task = request.question.task
        if self._decides is not None and isinstance(task, Choose):
            game, ask = request.key.split("|")[:2]
            draws = random.Random(game)
            if ask == f"{1 + draws.randrange(ROUNDS)}/statement/{draws.randrange(SEATS)}":
                self.drawn.add(game)
                number = await self._decides([one.action for one in task.candidates])
                reply = json.dumps({"reasoning": "", "choice": 1 + number})
        return Response(reply, Usage(len(prompt) // 4, len(reply) // 4), prompt=request.words.messages)

    def describe(self) -> dict[str, Any]:
        """As the model behind HTTP."""
        return self._described

    async def close(self) -> None:
        """Nothing to close."""


class _Players(PlayerBuilder):
    """Players with one model in place of that behind HTTP."""

    def __init__(self, experiment: Experiment, home: Path, model: Direct) -> None:
        super().__init__(experiment, home)
        self._direct = model

    def _model(self, spec: str | dict[str, Any]) -> Model:
        return self._models.setdefault(b"", self._direct)


# -- games and trainings ----------------------------------------------------------------------------


@dataclass
class Table:
    """Where games are played: folders under `folder`, by a server, over HTTP or directly."""

    folder: Path
    server: PlantedServer
    http: bool

    def spec(self, seed: int, games: int, rounds: int = 1) -> RoundsSpec:
        """A training in rounds with so many games in all."""
        model = {"model": "custom/wolf-1", "base_url": self.server.base_url, "max_in_flight": 32}
        rules = {"preset": "doctor", "roles": {"Werewolf": 1, "Villager": SEATS - 1}, "max_rounds": ROUNDS}
        return RoundsSpec(
            name="planted",
            rules=rules | {"wolves_may_pass": True, "may_vote_self": True},
            model=model,
            recipe={"name": "vanilla", "propose": PROPOSE},
            learners="village",
            others=PlayerSpec(model=model, recipe={"name": "vanilla", "silent": True}),
            embedder=EMBEDDER,
            rounds=rounds,
            deals=games // rounds,
            seed=seed,
            concurrency=32,
        )

    def play(
        self, experiment: Experiment, name: str, decides: Decides | None = None
    ) -> tuple[Path, set[str]]:
        """Play; the run's folder, and the games where `decides` was asked."""
        folder = self.folder / name
        with Store.create(folder, experiment) as store:
            player = experiment.players["village"]
            direct = Direct(player.model or "", self.server, decides)
            builder = None if self.http and decides is None else _Players(experiment, folder, direct)
            if not asyncio.run(playing(store, reached=True, builder=builder)):
                raise SystemExit(next(row.error for row in store.games() if not row.over))
        return folder, direct.drawn

    def recorded(self, seed: int, games: int) -> LoggedChoices:
        """The choices of recorded games."""
        folder, _ = self.play(self.spec(seed, games).round(1, None), f"recorded-{self.server.worth}-{seed}")
        return logged(folder)

    def trained(self, seed: int, games: int, rounds: int) -> Path:
        """The policy of a training in rounds."""
        spec, name = self.spec(seed, games, rounds), f"rounds-{games}-{seed}"
        for number in range(1, rounds + 1):
            self.play(begin_round(spec, self.folder / name, number), f"{name}/round-{number}")
            learn_round(spec, self.folder / name, number, EmbeddingWatcher())
        return policy_after(self.folder / name, rounds)


class Unseen:
    """Choices that no game has, whose worth is known. like: a recorded choice of the same kind."""

    def __init__(self, like: LoggedChoices, size: int = 2000) -> None:
        draws, shape = random.Random("unseen"), (size, CANDIDATES)
        texts = [[statement(draws) for _ in range(CANDIDATES)] for _ in range(size)]
        self._good = np.array([[is_good(text) for text in row] for row in texts])
        says_good = np.array([[PHRASES[1] in text for text in row] for row in texts])
        vectors = asyncio.run(embedded([text for row in texts for text in row])).reshape(*shape, -1)
        repeated = {name: np.repeat(array[:1], size, axis=0) for name, array in like._asdict().items()}
        self.choices = like._replace(**repeated)._replace(
            candidates=vectors, mask=np.ones(shape, np.bool_), shares=np.full(shape, 1 / CANDIDATES)
        )
        self._best = self.gain(likeliest(says_good.astype(np.float64)))

    def gain(self, pi: Float64s) -> float:
        """The gain of one choice by π over a choice at random, in good statements."""
        return float(((pi - 1 / CANDIDATES) * self._good).sum(axis=1).mean())

    def share(self, pi: Float64s) -> float:
        """The same as a share of the gain of who knows the phrase."""
        return self.gain(pi) / self._best

    def by_file(self, file: Path) -> Float64s:
        """π of a stored policy, as at the table."""
        rows = zip(self.choices.player, self.choices.candidates, strict=True)
        seen = [Observation(who, np.zeros(row.shape[1], np.float32), row, SEATS) for who, row in rows]
        return np.array([one.probabilities for one in NumpyPolicy(load_policy(file)).weigh_many(seen)])


async def embedded(statements: Sequence[str]) -> Float32s:
    """Vectors of candidates with these statements and no reasoning."""
    return await resolve_embedder(EMBEDDER).embed([f'say: "{text}"' for text in statements])


# -- the tables -------------------------------------------------------------------------------------


def learning(table: Table, given: argparse.Namespace) -> None:
    """Recorded games, and a training in rounds of as many."""
    print("games  seed  recorded: π  likeliest  in rounds: π  likeliest")
    means: dict[int, list[list[float]]] = {games: [] for games in given.games}
    for seed in given.seeds:
        choices = table.recorded(seed, max(given.games))
        unseen = Unseen(choices)
        for games in given.games:
            found = [learn(choices.rows(choices.deal < games)).chances(unseen.choices)]
            if given.rounds:
                found.append(unseen.by_file(table.trained(100 + seed, games, given.rounds)))
            shares = [unseen.share(one) for pi in found for one in (pi, likeliest(pi))]
            means[games].append(shares)
            print(_row(f"{games:5}  {seed:4}", shares), flush=True)
    for games, rows in means.items():
        print(_row(f"{games:5}  mean", np.mean(rows, axis=0).tolist()))


def _row(head: str, shares: Sequence[float]) -> str:
    return head + "".join(
        f"  {share:{width}.0%}" for share, width in zip(shares, (11, 9, 12, 9), strict=False)
    )


def estimates(table: Table, given: argparse.Namespace) -> None:
    """The intervals of one decision's gain, beside what was planted."""
    for worth in given.worth:
        table.server.worth = worth
        pool = table.recorded(1, max(given.games) * given.repeats)
        unseen, held = Unseen(pool), 0
        for number in range(given.repeats):
            choices = pool.rows(pool.deal // max(given.games) == number)
            policies = [learn(choices.rows(choices.deal % FOLDS != fold)) for fold in range(FOLDS)]
            truth = worth * float(np.mean([unseen.gain(one.chances(unseen.choices)) for one in policies]))
            held += estimated(choices).excludes(truth) is False
        print(
            f"a good statement adds {100 * worth:.1f} points: {held} of {given.repeats} intervals hold it",
            flush=True,
        )


def logged(run: Path) -> LoggedChoices:
    """The choices of a run."""
    found = recorded_choices([run])
    vectors = asyncio.run(resolve_embedder(EMBEDDER).embed(found.texts))
    return found.logged(dict(zip(found.texts, vectors, strict=True)))


def played(table: Table, given: argparse.Namespace) -> None:
    """The gain of a learned policy in play, at all decisions and at one, beside what was planted."""
    print("seed  choices  games  gain in play, points  planted")
    for seed in given.seeds:
        spec = table.spec(seed, max(given.games))
        run, _ = table.play(spec.round(1, None), f"learned-from-{seed}")
        file = learn_from([run], table.folder / f"learned-{seed}", EMBEDDER).policy
        choices = logged(run)
        unseen, policy = Unseen(choices), learn(choices)
        gain = 100 * WORTH * unseen.gain(likeliest(policy.chances(unseen.choices)))
        like = unseen.choices.rows(np.arange(len(unseen.choices.won)) < 1)

        async def decides(
            said: Sequence[str], policy: LinearPolicy = policy, like: LoggedChoices = like
        ) -> int:
            vectors = await embedded(said)
            return int(policy.chances(like._replace(candidates=vectors[None])).argmax())

        own = of_others(spec, given.deals, {"choose": "model"})
        always = of_others(spec, given.deals, {"choose": "policy", "policy_temperature": 0}, file)
        usual = _wins(table.play(own, f"own-{seed}")[0])
        alone, drawn = table.play(own, f"one-{seed}", decides)
        every = _wins(table.play(always, f"every-{seed}")[0])
        for what, wins, games, wanted in (
            ("every", every, given.deals, gain * BY_GAME),
            ("one", _wins(alone), len(drawn), gain),
        ):
            rows = [(deal, (100.0 * (won - usual[deal]), games / given.deals)) for deal, won in wins.items()]
            found = clustered_estimate(rows, quotient, n=len(rows), missing=0, units="games")
            told = in_line(found, "plain", signed=True)
            print(f"{seed:4}  {what:7}  {games:5}  {told:>20}  {wanted:7.1f}", flush=True)


def of_others(spec: RoundsSpec, deals: int, stage: dict[str, Any], policy: Path | None = None) -> Experiment:
    """Games of other deals in which nothing is explored."""
    plan = spec.round(1, None).model_dump(mode="json", exclude_unset=True)
    learner = plan["players"]["village"]
    learner["recipe"]["propose"] = PROPOSE | stage
    if policy is not None:
        learner |= {"embedder": EMBEDDER, "policy": str(policy)}
    return build(plan | {"conditions": {"all": {"first_deal": 100_000}}, "deals": deals})


def _wins(run: Path) -> dict[int, bool]:
    """By deal, whether the village won."""
    with Store.open_for_reading(run) as store:
        ends = {row.deal: store.record(row.id).outcome for row in store.games("done")}
        return {deal: end is not None and end.village_won is True for deal, end in ends.items()}


def main(words: Sequence[str]) -> None:
    """Play, learn, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("what", choices=("learning", "estimates", "played"))
    options.add_argument("--games", type=int, nargs="+")
    options.add_argument("--seeds", type=int, nargs="+", default=range(1, 11))
    options.add_argument("--rounds", type=int, default=4)
    options.add_argument("--repeats", type=int, default=40)
    options.add_argument("--deals", type=int, default=1000)
    options.add_argument("--worth", type=float, nargs="+", default=[WORTH, 0.0])
    options.add_argument("--http", action="store_true")
    given = options.parse_args(words)
    of, usual = {
        "learning": (learning, [300, 1000]),
        "estimates": (estimates, [50]),
        "played": (played, [1000]),
    }[given.what]
    given.games = given.games or usual
    with tempfile.TemporaryDirectory() as folder, http_server.running(PlantedServer()) as server:
        of(Table(Path(folder), server, given.http), given)


if __name__ == "__main__":
    main(sys.argv[1:])
