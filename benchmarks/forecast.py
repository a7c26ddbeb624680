"""Forecasts of simulated runs beside what the runs then took.

    python benchmarks/forecast.py [--runs 100] [--trainings 20] [--rounds 20] [--deals 30] [--ask 24]
                                  [--seed 1]

Each run has a model of its own behind the Sheriff and another one behind the others: the built-in player,
with planted traits. It says more or less, thinks before it answers (uneven, paid for), is counted by a
tokenizer of its own, and now and then gives a reply that cannot be used. Each run has cards of its own. It is
forecast three times: without any reply; after some prompts that were asked before; after its first games.
Trainings by reinforcement learning have such a model too, and few updates, games and evaluations, of numbers
that are drawn. They are forecast once, before they begin; trainings in two to four rounds twice.
Printed: in how many runs what was taken lies within the 90 % interval, and by how much the middle is above
it, on the average and as a median of the distance.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.specs import PlayerSpec
from wolflab.lab.runs import runner
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.runs.forecast import Interval90, RunForecast, Seen, forecast, observed_in, sample_replies
from wolflab.lab.runs.rehearsal import rehearse
from wolflab.lab.storage.call_store import CallStore
from wolflab.lab.storage.store import Store
from wolflab.lab.training.embedding import EmbeddingWatcher
from wolflab.lab.training.learning import FEWEST_GAMES
from wolflab.lab.training.rehearsal import games_left, rehearse_training
from wolflab.lab.training.rounds import (
    RoundsSpec,
    begin_round,
    learn_round,
    rehearse_rounds,
    round_folder,
)
from wolflab.lab.training.run import run_training, start_training
from wolflab.lab.training.training_plan import TrainingSpec, make_training
from wolflab.lab.training.waiting_games import CALLS
from wolflab.models.base import Model, Request, Response
from wolflab.models.budget import Price
from wolflab.models.catalog import name_and_settings, resolve
from wolflab.models.estimates import estimate_texts, tokens
from wolflab.usage import CallTotals, Usage

MOMENTS = ("before", "asked", "first games", "training", "rounds, before", "rounds, asked")
WHAT = ("calls", "tokens", "usd")
PRICE = Price(input=1.0, output=4.0)
FIRST = 5
"""Games after which a run is forecast again."""


class Simulated:
    """The built-in player with planted traits."""

    instant = False
    typed = True

    def __init__(self, name: str, draws: random.Random) -> None:
        self.name = name
        self._village, self._draws = resolve("village"), draws
        self._says = draws.uniform(0.6, 3.0)
        self._counts = draws.uniform(0.8, 1.3)
        self._thinks = draws.choice((0.0, draws.uniform(50, 800)))
        self._fails = draws.uniform(0.0, 0.15)

    async def generate(self, request: Request) -> Response:
        """One reply; see `wolflab.models.base.Model`."""
        await asyncio.sleep(0)
        reply = (await self._village.generate(request)).text
        draws = random.Random(f"{self.name}{request.key}")
        if draws.random() < self._fails and len(request.corrections) < 2:
            reply = "I would rather not say."
        found = json.loads(reply) if reply.startswith("{") else {}
        if isinstance(said := found.get("statement"), str):
            words = said.split()
            longer = self._says * draws.lognormvariate(0, 0.3)
            said = " ".join((words * (1 + int(longer)))[: max(1, round(len(words) * longer))])
            reply = json.dumps(found | {"statement": said})
        prompt = estimate_texts(text for _, text in request.words.messages)
        thought = self._thinks * draws.lognormvariate(-0.32, 0.8)
        counted, written = round(prompt * self._counts), round(tokens(reply) * self._counts + thought)
        usage = Usage(counted, written, 0, PRICE.cost(counted, written))
        return Response(reply, usage, prompt=request.words.messages)

    def describe(self) -> dict[str, Any]:
        """Name alone."""
        return {"name": self.name}

    async def close(self) -> None:
        """Nothing to close."""


class Players(PlayerBuilder):
    """Simulated models in place of those that the experiment names."""

    def __init__(self, experiment: Experiment, home: Path, models: dict[str, Simulated]) -> None:
        super().__init__(experiment, home)
        self._simulated = models

    def _model(self, spec: str | dict[str, Any]) -> Model:
        name, _ = name_and_settings(spec)
        return self._models.setdefault(name.encode(), self._simulated[name])


class Outcome(NamedTuple):
    """A forecast beside what was taken."""

    predicted: Interval90
    taken: float

    @property
    def held(self) -> bool:
        """Whether it lies in the interval."""
        return self.predicted.low <= self.taken <= self.predicted.high

    @property
    def above(self) -> float:
        """By how much the middle is above it, as a share."""
        return self.predicted.middle / self.taken - 1


SERVED = {"base_url": "http://127.0.0.1:1/v1", "price": {"input": PRICE.input, "output": PRICE.output}}
"""What every model has in an experiment."""


def simulate(number: int, deals: int, ask: int, folder: Path) -> dict[tuple[str, str], Outcome]:
    """One run: (moment, what) → the forecast and what was taken."""
    experiment = Experiment(
        name="simulated",
        rules="sheriff",
        seed=number,
        deals=deals,
        concurrency=4,
        players={
            "sheriff": PlayerSpec(model={"model": "custom/a", **SERVED}, recipe="deductive"),
            "others": PlayerSpec(model={"model": "custom/b", **SERVED}, recipe="vanilla"),
        },
        straw_polls=1,
    )
    draws = random.Random(number)
    models = {name: Simulated(name, draws) for name in ("custom/a", "custom/b")}
    rehearsed = rehearse(experiment)

    def predicted(seen: Seen) -> RunForecast:
        return forecast(rehearsed, {"all": deals}, seen)

    sampled = asyncio.run(sample_replies(Players(experiment, folder, models), rehearsed, ask))
    forecasts = {
        "before": predicted(Seen()),
        "asked": predicted(sampled[0]),
    }
    with Store.create(folder / str(number), experiment) as store:

        def watch(progress: runner.Progress) -> None:
            if progress.over >= FIRST and "first games" not in forecasts:
                forecasts["first games"] = predicted(observed_in(store))

        asyncio.run(runner.playing(store, watch, True, Players(experiment, store.path, models)))
        came = store.called().totals
    return _outcomes(forecasts, came)


def drawn_training(number: int, draws: random.Random) -> TrainingSpec:
    """A small training of a simulated model. In half of them the other seats have a built-in player."""
    learners = draws.choice((4, 4, "village", "werewolves"))
    checkpoints = {"checkpoints": draws.choice((0, 1))} if learners == 4 else {}
    return make_training(
        {
            "name": "simulated",
            "model": {"model": "custom/a", **SERVED},
            **draws.choice(({}, {"fixed_model": "village"})),
            "embedder": {"embedder": "hashing", "dimensions": 32},
            "network": {"name": "small", "width": 16, "mlp_width": 16, "heads": 2},
            "training": {
                "updates": draws.randint(1, 5),
                "ppo": {"epochs": 2},
                "cloning": {"episodes": draws.choice((0, 4, 8))},
                "population": {"learners": learners, **checkpoints},
                "rollouts": {"episodes": draws.randint(4, 8)},
            },
            "evaluation": {
                "every": draws.randint(0, 2),
                "deals": draws.randint(1, 4),
                "final": draws.randint(1, 8),
            },
            "seeds": [number],
        }
    )


def simulate_training(number: int, deals: int, ask: int, folder: Path) -> dict[tuple[str, str], Outcome]:
    """One training by reinforcement learning, as `simulate`; it is not asked first."""
    draws = random.Random(number)
    spec, model = drawn_training(number, draws), Simulated("custom/a", draws)
    made = forecast(rehearse_training(spec), games_left(spec), Seen())

    def resolved(named: Any, budget: Any = None) -> Model:
        return model if name_and_settings(named)[0] == model.name else resolve(named, budget)

    with mock.patch("wolflab.lab.runs.casting.resolve", resolved):
        run_training(start_training(spec, folder / f"training {number}"))
    with CallStore.open_for_reading(folder / f"training {number}" / CALLS) as store:
        came = store.called().totals
    return _outcomes({"training": made}, came)


def simulate_rounds(number: int, deals: int, ask: int, folder: Path) -> dict[tuple[str, str], Outcome]:
    """One training in rounds, as `simulate`."""
    draws = random.Random(number)
    models = {name: Simulated(name, draws) for name in ("custom/a", "custom/b")}
    spec = RoundsSpec(
        name="simulated",
        rules={"preset": "doctor", "max_rounds": 1},
        model={"model": "custom/a", **SERVED},
        learners=draws.choice(("village", "werewolves")),
        others=PlayerSpec(model={"model": "custom/b", **SERVED}, recipe="vanilla"),
        rounds=draws.randint(2, 4),
        deals=max(deals, FEWEST_GAMES),
        concurrency=4,
        seed=number,
    )
    home, came = folder / f"rounds-{number}", CallTotals()
    with spec.ahead() as (experiment, games):
        rehearsed = rehearse_rounds(experiment)
        sampled = asyncio.run(sample_replies(Players(experiment, folder, models), rehearsed, ask))
    forecasts = {
        f"rounds, {moment}": forecast(rehearsed, games, seen)
        for moment, seen in (("before", Seen()), ("asked", sampled[0]))
    }
    for at in range(1, spec.rounds + 1):
        with Store.create(round_folder(home, at), begin_round(spec, home, at)) as store:
            players = Players(store.experiment, store.path, models)
            asyncio.run(runner.playing(store, reached=True, builder=players))
            came += store.called().totals
        learn_round(spec, home, at, EmbeddingWatcher())
    return _outcomes(forecasts, came)


def _outcomes(forecasts: dict[str, RunForecast], came: CallTotals) -> dict[tuple[str, str], Outcome]:
    """(moment, what) → the forecast and what was taken."""
    taken = {"calls": float(came.calls), "tokens": float(came.usage.tokens), "usd": came.usage.cost}
    return {
        (moment, what): Outcome(getattr(made, what), taken[what])
        for moment, made in forecasts.items()
        for what in WHAT
    }


def main() -> None:
    """Print the table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--trainings", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20, help="trainings in rounds")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    parser.add_argument("--deals", type=int, default=30)
    parser.add_argument("--ask", type=int, default=24)
    wanted = parser.parse_args()
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    with tempfile.TemporaryDirectory() as folder:
        kinds = (
            (wanted.runs, simulate),
            (wanted.trainings, simulate_training),
            (wanted.rounds, simulate_rounds),
        )
        for of, one in kinds:
            for number in range(wanted.seed, wanted.seed + of):
                for key, outcome in one(number, wanted.deals, wanted.ask, Path(folder)).items():
                    outcomes.setdefault(key, []).append(outcome)
                if sys.stderr.isatty():
                    print(f"{number - wanted.seed + 1} of {of}", end="\r", file=sys.stderr)
    print("| forecast | of | within 90 % | middle above, mean | distance, median |")
    for moment in MOMENTS:
        for what in WHAT:
            those = outcomes.get((moment, what), [])
            if those:
                held = f"{sum(outcome.held for outcome in those)} of {len(those)}"
                mean = 100 * statistics.mean(outcome.above for outcome in those)
                far = 100 * statistics.median(abs(outcome.above) for outcome in those)
                print(f"| {moment} | {what} | {held} | {mean:+.1f} % | {far:.1f} % |")


if __name__ == "__main__":
    main()
