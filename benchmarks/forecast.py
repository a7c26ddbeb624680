"""Forecasts of simulated runs and trainings beside what these then took.

    python benchmarks/forecast.py [--runs 100] [--deals 30] [--ask 24] [--trainings 0]

Each run has a model of its own behind the Sheriff and another one behind the others: the built-in player,
with planted traits. It says more or less, thinks before it answers (uneven, paid for), is counted by a
tokenizer of its own, and now and then gives a reply that cannot be used. Each run has cards of its own. It is
forecast three times: without any reply; after some prompts that were asked before; after its first games.
Trainings have such a model too, and few updates, games and evaluations, of numbers that are drawn. They are
forecast without any reply.
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
from wolflab.lab.training.rehearsal import games_left, rehearse_training
from wolflab.lab.training.run import run_training, start_training
from wolflab.lab.training.training_plan import TrainingSpec, make_training
from wolflab.lab.training.waiting_games import CALLS
from wolflab.models.base import Model, Request, Response
from wolflab.models.budget import Price
from wolflab.models.catalog import name_and_settings, resolve
from wolflab.models.estimates import estimate_texts, tokens
from wolflab.usage import Usage

MOMENTS = ("before", "asked", "first games", "training")
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


def simulate(number: int, deals: int, ask: int, folder: Path) -> dict[tuple[str, str], Outcome]:
    """One run: (moment, what) → the forecast and what was taken."""
    price = {"input": PRICE.input, "output": PRICE.output}
    served = {"base_url": "http://127.0.0.1:1/v1", "price": price}
    experiment = Experiment(
        name="simulated",
        rules="sheriff",
        seed=number,
        deals=deals,
        concurrency=4,
        players={
            "sheriff": PlayerSpec(model={"model": "custom/a", **served}, recipe="deductive"),
            "others": PlayerSpec(model={"model": "custom/b", **served}, recipe="vanilla"),
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
    taken = {"calls": float(came.calls), "tokens": float(came.usage.tokens), "usd": came.usage.cost}
    return {
        (moment, what): Outcome(getattr(made, what), taken[what])
        for moment, made in forecasts.items()
        for what in WHAT
    }


def drawn_training(number: int, draws: random.Random) -> TrainingSpec:
    """A small training of a simulated model. In half of them the other seats have a built-in player."""
    price = {"input": PRICE.input, "output": PRICE.output}
    learners = draws.choice((4, 4, "village", "werewolves"))
    checkpoints = {"checkpoints": draws.choice((0, 1))} if learners == 4 else {}
    return make_training(
        {
            "name": "simulated",
            "model": {"model": "custom/a", "base_url": "http://127.0.0.1:1/v1", "price": price},
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


def simulate_training(number: int, folder: Path) -> dict[tuple[str, str], Outcome]:
    """One training: (moment, what) → the forecast and what was taken."""
    draws = random.Random(number)
    spec, model = drawn_training(number, draws), Simulated("custom/a", draws)
    made = forecast(rehearse_training(spec), games_left(spec), Seen())

    def resolved(named: Any, budget: Any = None) -> Model:
        return model if name_and_settings(named)[0] == model.name else resolve(named, budget)

    with mock.patch("wolflab.lab.runs.casting.resolve", resolved):
        run_training(start_training(spec, folder / f"training {number}"))
    with CallStore.open_for_reading(folder / f"training {number}" / CALLS) as store:
        came = store.called().totals
    taken = {"calls": float(came.calls), "tokens": float(came.usage.tokens), "usd": came.usage.cost}
    return {("training", what): Outcome(getattr(made, what), taken[what]) for what in WHAT}


def main() -> None:
    """Print the table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--deals", type=int, default=30)
    parser.add_argument("--ask", type=int, default=24)
    parser.add_argument("--trainings", type=int, default=0)
    wanted = parser.parse_args()
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, wanted.runs + 1):
            for key, outcome in simulate(number, wanted.deals, wanted.ask, Path(folder)).items():
                outcomes.setdefault(key, []).append(outcome)
            if sys.stderr.isatty():
                print(f"{number} of {wanted.runs}", end="\r", file=sys.stderr)
        for number in range(1, wanted.trainings + 1):
            for key, outcome in simulate_training(number, Path(folder)).items():
                outcomes.setdefault(key, []).append(outcome)
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
