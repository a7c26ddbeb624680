"""How often each kind of statement is among the candidates, and how often it is then taken.

    python benchmarks/candidates_taken.py RUN

RUN is a run whose players are the built-in player and choose among candidates, such as `strategic-behaviours
--village`. A candidate of the built-in player begins with its strategy, in words; its own first idea begins
with its role. Printed for each condition: how many of the turns have such a candidate, and in how many of
these it is taken. Seer and Doctor are counted together; plain Villagers are left out.
"""

from __future__ import annotations

import sys
from collections import Counter

import wolflab

LEAST = 0.05
"""The least share of turns in which a kind of statement is offered; rarer ones are not printed."""


def main(run: str) -> None:
    """Print a row for each condition, role and kind of statement."""
    turns: set[tuple[str, bool, int, str]] = set()
    offered, taken = Counter[tuple[str, bool, str]](), Counter[tuple[str, bool, str]]()
    for row in wolflab.open_run(run).candidates.arrow().to_pylist():
        if row["kind"] == "statement" and row["role"] != "Villager":
            wolf = row["role"] == "Werewolf"
            turns.add((row["condition"], wolf, row["game"], row["ask"]))
            strategy = "its own first idea" if row["candidate"] == 0 else row["reasoning"].partition(".")[0]
            offered[row["condition"], wolf, strategy] += 1
            taken[row["condition"], wolf, strategy] += row["chosen"]
    of = Counter((condition, wolf) for condition, wolf, *_ in turns)
    print(f"{'condition':20} {'who':11} {'candidate':58} offered  taken")
    for key, n in sorted(offered.items(), key=lambda one: (one[0][:2], -one[1])):
        condition, wolf, strategy = key
        share = n / of[condition, wolf]
        if share >= LEAST:
            who = "Werewolf" if wolf else "Seer/Doctor"
            print(f"{condition:20} {who:11} {strategy:58} {share:7.0%} {taken[key] / n:6.0%}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
