"""Complete studies with simulated people through the pages: whether the report finds planted effects.

    python benchmarks/studies.py [--studies 20] [--people 8] [--games 3]

Each study is begun, and its people come by a link, agree, pass the quiz, play their games at tables and
answer what they are asked, as a browser would send it (time at the tables passes at once). Every one of them
believes the Sheriff more than the others, and more after its statement than before, by a habit of their own
around what is planted. Printed: in how many studies the 95 % interval of the report holds the planted value,
and how wide it is.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from study_helpers import FILE, Arrivals, in_study
from web_helpers import first_choice
from wolflab.lab.results.summaries import summary
from wolflab.lab.storage.store import Store
from wolflab.stats.intervals import Estimate
from wolflab.text.people import PersonAnswer
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.seat_session import OpenAsk
from wolflab.ui.web.web_table import WebTable

OTHERS, BEFORE, AFTER = 5, 5.0, 7.0
"""How far the others are believed, and on the average the Sheriff before and after its statement."""
PLANTED = {"person_ratio": AFTER / OTHERS, "person_trust_moved": AFTER - BEFORE}
HABIT = 1.0
"""How far a person's own habit lies from the average, at most."""
EXPERIMENT = {
    "rules": "sheriff",
    "players": {"player_1": {"recipe": "person"}, "others": {"model": "village", "recipe": "vanilla"}},
    "reliability_probe": True,
    "probes": ["rate-before-sheriff"],
}


class SimulatedPerson:
    """Answers as somebody with a habit of their own."""

    def __init__(self, draws: random.Random) -> None:
        self._draws, self._habit = draws, draws.uniform(-HABIT, HABIT)

    def __call__(self, table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
        """See `web_helpers.played`."""
        sheriff = asked.question.situation.sheriff
        if asked.ask.kind != "rate":
            return first_choice(table, seat, asked)
        names = asked.question.situation.ruleset.names
        believed = BEFORE if "before" in asked.ask.id else AFTER + self._habit
        rated = dict.fromkeys(asked.rates, OTHERS)
        if sheriff is not None and names[sheriff] in rated:
            exact = believed + self._draws.uniform(-1, 1)
            whole = int(exact)
            rated[names[sheriff]] = whole + (self._draws.random() < exact - whole)  # right on the average
        return PersonAnswer(rated=rated)


def study(number: int, people: int, games: int, folder: Path) -> dict[str, Estimate]:
    """One study: measure → what its report says."""
    draws = random.Random(number)

    async def go(server: StudyServer, arrive: Arrivals) -> None:
        for _ in range(people):
            somebody = await arrive()
            somebody.plays = SimulatedPerson(draws)
            await somebody.go_to("")

    changes: dict[str, Any] = {"people": people, "games": games, "training": False, "flags": False}
    in_study(folder, go, experiment={**EXPERIMENT, "seed": number}, **changes)
    with Store.open_for_reading(folder / "run") as store:
        [condition] = summary(store).conditions
        return {name: condition.measures[name] for name in PLANTED}


def main() -> None:
    """Print the table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--games", type=int, default=3)
    told = parser.parse_args()
    assert FILE["after_game"]  # asked after each game, too
    found: dict[str, list[Estimate]] = {name: [] for name in PLANTED}
    for number in range(1, told.studies + 1):
        with tempfile.TemporaryDirectory() as folder:
            for name, estimate in study(number, told.people, told.games, Path(folder)).items():
                found[name].append(estimate)
    print(f"{told.studies} studies, {told.people} people each, {told.games} games a person")
    print("| measure | planted | mean | held | mean half width |")
    for name, estimates in found.items():
        whole = [(e.value, e.low, e.high) for e in estimates if e.value is not None]
        bounded = [(low, high) for _, low, high in whole if low is not None and high is not None]
        held = sum(low <= PLANTED[name] <= high for low, high in bounded)
        mean = sum(value for value, _, _ in whole) / max(len(whole), 1)
        half = sum(high - low for low, high in bounded) / 2 / max(len(bounded), 1)
        print(f"| {name} | {PLANTED[name]:.2f} | {mean:.3f} | {held} of {len(bounded)} | {half:.3f} |")


if __name__ == "__main__":
    main()
