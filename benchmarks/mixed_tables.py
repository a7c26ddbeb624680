"""Ratings from mixed tables beside those from cells, on entrants whose order is planted.

    python benchmarks/mixed_tables.py

The entrants are `village` with four values of `skill`. They play one tournament of cells and one of mixed
tables with as many games, and with other deals. Strengths on both sides should agree within their intervals:
the difference of two independent estimates lies within the interval of the difference.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wolflab.lab.plans.tournament_plan import make_tournament
from wolflab.lab.runs.tournament_games import play_tournament, start_tournament, tournament_standings
from wolflab.metrics.standings import Standings
from wolflab.stats.intervals import Estimate
from wolflab.ui.wording import prediction_in_words

SKILLS = (0.1, 0.4, 0.7, 1.0)


def played(deals: int, **changes: Any) -> Standings:
    """The standings of a tournament of these entrants."""
    entrants = {
        f"skill {skill}": {"recipe": "deductive", "model": {"model": "village", "skill": skill}}
        for skill in SKILLS
    }
    made = make_tournament({"name": "planted", "entrants": entrants, "deals": deals, **changes})
    with TemporaryDirectory() as folder, start_tournament(Path(folder) / "run", made) as store:
        play_tournament(store)
        return tournament_standings(store)


def agree(one: Estimate | None, other: Estimate | None) -> bool | None:
    """Whether two independent estimates differ by no more than chance; None without intervals."""
    if one is None or other is None or one.value is None or other.value is None:
        return None
    if one.half_width is None or other.half_width is None:
        return None
    return abs(one.value - other.value) <= math.hypot(one.half_width, other.half_width)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Mixed tables beside cells.")
    parser.add_argument(
        "--deals", type=int, default=250, help="of each cell; mixed tables have as many games"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the cells' deals; mixed tables have the next")
    given = parser.parse_args(arguments)
    cells = played(given.deals, seed=given.seed)
    mixed = played(given.deals * len(SKILLS), seed=given.seed + 1, tables="mixed")
    print("| entrant | strength | cells | mixed tables | agree |\n|---|---|---|---|---|")
    rows = [{row.name: row for row in found.ratings.rows} for found in (cells, mixed)]
    verdicts = []
    for name in (f"skill {skill}" for skill in SKILLS):
        for part in ("overall", "village", "werewolves"):
            one, other = (getattr(by_name[name], part) for by_name in rows)
            verdicts.append(agree(one, other))
            said = {True: "yes", False: "no", None: "–"}[verdicts[-1]]
            print(f"| {name} | {part} | {_words(one)} | {_words(other)} | {said} |")
    print(f"\n{verdicts.count(True)} of {len(verdicts)} agree")
    for title, found in (("cells", cells), ("mixed tables", mixed)):
        print(f"\n{title}: {found.ratings.side.n if found.ratings.side else 0} rated games")
        for loss in found.prediction.losses:
            brier, log_loss = _words(loss.brier, 4), _words(loss.log_loss, 4)
            print(f"{loss.model}: Brier {brier}, log loss {log_loss}")
        for gap in found.prediction.differences:
            brier, log_loss = _words(gap.brier, 4), _words(gap.log_loss, 4)
            print(f"{gap.first} − {gap.second}: Brier {brier}, log loss {log_loss}")
        print(prediction_in_words(found.prediction))


def _words(one: Estimate | None, digits: int = 2) -> str:
    if one is None or one.value is None:
        return "–"
    if one.low is None or one.high is None:
        return f"{one.value:.{digits}f}"
    return f"{one.value:.{digits}f} ({one.low:.{digits}f} to {one.high:.{digits}f})"


if __name__ == "__main__":
    main()
