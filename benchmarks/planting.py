"""The sensitivity of behaviour detectors: `village` plants behaviours at a known rate.

    wolflab run behaviours-planted --out RUN
    python benchmarks/planting.py RUN

Sensitivity is the share of statements with a planted behaviour in which it is seen. What is seen where
nothing was planted is a false alarm for failures and hallucinations, which `village` never shows by itself;
for social and strategic behaviours it may be real, so that the rate in games without plants stands beside it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wolflab.lab.storage.store import Store
from wolflab.metrics.behaviours import BEHAVIOURS, detected_behaviours
from wolflab.record import GameRecord
from wolflab.stats.intervals import Estimate, share
from wolflab.text.notes import Thought

_PLANTED = re.compile(r"\(planted: (\w+)\)")
CLEAN = "none"
"""The condition without plants."""


@dataclass(frozen=True, slots=True)
class Found:
    """One behaviour. planted: how many statements show it by plan.

    sensitivity: of those, the share in which it was seen. alarms: share of the statements of the same games
    without that plant in which it was seen. natural: the same in games without any plant.
    """

    behaviour: str
    planted: int
    sensitivity: Estimate
    alarms: Estimate
    natural: Estimate


def measure(games: Iterable[tuple[str, int, GameRecord]]) -> list[Found]:
    """(condition, deal, record) of finished games → one row a behaviour that was planted anywhere."""
    hits: dict[str, list[tuple[int, float, float]]] = {}
    alarms: dict[str, list[tuple[int, float, float]]] = {}
    natural: dict[str, list[tuple[int, float, float]]] = {}
    for condition, deal, record in games:
        seen: dict[str, set[str]] = {}
        for one in detected_behaviours(record):
            if one.by == "words":
                seen.setdefault(one.ask, set()).add(one.behaviour)
        for name in BEHAVIOURS:
            with_it = without = hit = alarm = 0
            for turn in record.turns:
                if turn.kind != "statement" or turn.seat < 0 or turn.invalid is not None:
                    continue
                found = name in seen.get(turn.ask, ())
                if name in planted_in(turn.notes):
                    with_it, hit = with_it + 1, hit + found
                else:
                    without, alarm = without + 1, alarm + found
            into = natural if condition == CLEAN else alarms
            into.setdefault(name, []).append((deal, float(alarm), float(without)))
            hits.setdefault(name, []).append((deal, float(hit), float(with_it)))
    rows = []
    for name in BEHAVIOURS:
        n = round(sum(row[2] for row in hits.get(name, ())))
        if n:
            rows.append(
                Found(
                    name,
                    n,
                    share(hits[name], "statements"),
                    share(alarms.get(name, []), "statements"),
                    share(natural.get(name, []), "statements"),
                )
            )
    return rows


def planted_in(notes: Sequence[tuple[str, object]]) -> set[str]:
    """The planted behaviours that a turn's reasoning names."""
    return {name for _, note in notes if isinstance(note, Thought) for name in _PLANTED.findall(note.text)}


def _read(store: Store) -> Iterable[tuple[str, int, GameRecord]]:
    for row in store.games():
        if row.status == "done":
            yield row.condition, row.deal, store.record(row.id)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="How well planted behaviours are seen.")
    parser.add_argument("run", type=Path, help="a run of the experiment behaviours-planted")
    given = parser.parse_args(arguments)
    with Store.open_for_reading(given.run) as store:
        rows = measure(_read(store))
    print("behaviour            planted  seen (95 %)              unplanted (95 %)         no plants")
    for row in rows:
        cells = [_words(one) for one in (row.sensitivity, row.alarms, row.natural)]
        print(f"{row.behaviour:20} {row.planted:7}  {cells[0]:23}  {cells[1]:23}  {cells[2]}")


def _words(one: Estimate) -> str:
    if one.value is None:
        return "–"
    if one.low is None or one.high is None:
        return f"{one.value:.1%}"
    return f"{one.value:.1%} ({one.low:.1%} to {one.high:.1%})"


if __name__ == "__main__":
    main()
