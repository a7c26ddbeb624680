"""How many games it would save to take luck out of wins.

Chance deals the cards, draws the Sheriff and the next speaker, breaks ties and stands in for unusable
replies, with weights that the rules state. What it drew, less what was to be expected, has mean zero whoever
plays. So any fixed function of it can be subtracted from wins without a bias (Burch et al. 2018, "AIVAT:
a new variance reduction technique for agent evaluation"). This program asks, on games that it plays, which
share of the variance of wins between deals then goes away.

    python benchmarks/luck.py [--deals 300] [--rules 002 sheriff witch doctor] [--entrants 200]

The village is played by the built-in player, by one with skill 0.2, by one that follows the Sheriff with
chance 0.6, and by one that deduces nothing.
*side*: games are weighted by the Sheriff's side, as reports do with `stratify: sheriff_side`. *chance*: a
linear function of all that chance drew, fitted to the other deals of the same run. A function that is fixed
before the run knows less, so it cannot save more on average. Below 0 the correction adds more noise than
it removes. A line with a minus is the difference of two entrants on the same deals, as in reports.

--entrants: so many players of random skill play 28 deals each. Samples of 14 of these deals are compared with
what all 28 say by the design's shares. Void games, whose Sheriff died in the first night, leave too many
Werewolves as Sheriffs: unweighted wins are biased by that.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wolflab.lab.storage.store import Store
from wolflab.record import GameRecord
from wolflab.record.verify import verify
from wolflab.rules import CHANCE, ROLES, Action, Ask, Pick, Winner
from wolflab.stats.clusters import Floats

RULES: Mapping[str, Mapping[str, Any]] = {
    "002": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop"},
    "sheriff": {"preset": "sheriff", "sheriff": "assigned"},
    "witch": {"preset": "witch"},
    "doctor": {"preset": "doctor"},
}
"""What is played: 002's game, which stops when its Sheriff leaves, and the papers' presets."""
ENTRANTS: Mapping[str, Mapping[str, Any]] = {
    "village": {"model": "village", "recipe": "deductive"},
    "skill 0.2": {"model": {"model": "village", "skill": 0.2}, "recipe": "deductive"},
    "obey 0.6": {"model": {"model": "village", "follow_sheriff": 0.6}, "recipe": "deductive"},
    "vanilla": {"model": "village", "recipe": "vanilla"},
}
WOLVES = 2 / 7
"""The share of Werewolves among the seats of 002's game."""
FOLDS = 10
PENALTY = 4.0
"""Of the ridge regression, in games: a feature that seldom varies counts little."""
FEATURES = ("sheriff", "first speaker", "tie on day 1", "later tie", "stand-in")


class Luck(NamedTuple):
    """A finished game. won: whether the village won, 1 or 0. drawn: for each of `FEATURES`, how much more
    often than expected chance drew a Werewolf.
    """

    deal: int
    won: float
    drawn: tuple[float, ...]


def luck_of(record: GameRecord, deal: int) -> Luck:
    """The luck of a recorded game. Cards are left out: seats differ in nothing but the order of speech."""
    wolves = [ROLES[name].wolf for name in record.roles]
    drawn = dict.fromkeys(FEATURES, 0.0)
    seen: set[str] = set()
    for ask, action in _drawn_by_chance(record):
        feature = _feature(ask)
        if ask.kind == "deal" or ask.options is None or (feature == "first speaker" and feature in seen):
            continue
        seen.add(feature)
        weights = np.array(ask.weights or (1,) * len(ask.options), np.float64)
        expected = weights @ [_on_wolf(option, wolves) for option in ask.options] / weights.sum()
        drawn[feature] += _on_wolf(action, wolves) - float(expected)
    outcome = record.outcome
    won = outcome is not None and outcome.winner is Winner.VILLAGE
    return Luck(deal, float(won), tuple(drawn.values()))


def _drawn_by_chance(record: GameRecord) -> Iterator[tuple[Ask, Action]]:
    replies = {turn.ask: turn.action for turn in record.turns}
    for step in verify(record):
        for ask in step.asks:
            action = replies[ask.id]
            if ask.seat == CHANCE and action is not None:
                yield ask, action


def _feature(ask: Ask) -> str:
    other = "tie on day 1" if ask.round <= 1 else "later tie"
    return {"sheriff": "sheriff", "speaker": "first speaker", "fallback": "stand-in"}.get(ask.kind, other)


def _on_wolf(action: Action, wolves: Sequence[bool]) -> float:
    return float(isinstance(action, Pick) and wolves[action.seat])


def by_deal(lucks: Sequence[Luck]) -> Floats:
    """(deals × 1 + features): means of each deal, deals in ascending order."""
    deals = sorted({luck.deal for luck in lucks})
    table = [
        np.mean([(luck.won, *luck.drawn) for luck in lucks if luck.deal == deal], axis=0) for deal in deals
    ]
    return np.array(table)


def saved_by_chance(table: Floats) -> float:
    """The share of the variance of wins that a linear function of chance's draws takes away.

    table: (deals × 1 + features). The function is fitted to other deals.
    """
    wins, drawn = table[:, 0], table[:, 1:]
    rest = np.empty(len(wins))
    for fold in range(FOLDS):
        own = np.arange(len(wins)) % FOLDS == fold
        past, shift = drawn[~own], wins[~own].mean()
        slope = np.linalg.solve(
            past.T @ past + PENALTY * np.eye(past.shape[1]), past.T @ (wins[~own] - shift)
        )
        rest[own] = wins[own] - drawn[own] @ slope
    return 1 - float(rest.var() / wins.var()) if wins.var() else 0.0


def saved_by_side(table: Floats) -> float | None:
    """The share of the variance of wins that weighting by the Sheriff's side takes away; None without a
    Sheriff who is drawn with the cards. table: (deals × 1 + features).
    """
    wins, sides = table[:, 0], table[:, 1]
    if not sides.any() or not wins.var():
        return None
    within = sum(float((sides == side).mean()) * wins[sides == side].var() for side in np.unique(sides))
    return 1 - float(within / wins.var())


def played(
    home: Path, rules: Mapping[str, Any], entrants: Mapping[str, Any], deals: int
) -> dict[str, list[Luck]]:
    """The finished games of each entrant, which plays the village against the built-in player."""
    experiment = {
        "name": "luck",
        "rules": rules,
        "players": {"others": {"model": "village", "recipe": "deductive"}},
        "conditions": {name: {"players": {"village": entrant}} for name, entrant in entrants.items()},
        "deals": deals,
    }
    file, run = home / "luck.yaml", home / "run"
    file.write_text(json.dumps(experiment), encoding="utf-8")
    words = [sys.executable, "-m", "wolflab", "run", str(file), "--out", str(run)]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    lucks: dict[str, list[Luck]] = {name: [] for name in entrants}
    with Store.open_for_reading(run) as store:
        for row in store.games("done"):
            lucks[row.condition].append(luck_of(store.record(row.id), row.deal))
    return lucks


def print_saved(rules: str, lucks: Mapping[str, Sequence[Luck]]) -> None:
    """A line for each entrant, and one for its difference from the first."""
    first = next(iter(lucks))
    for name, own in lucks.items():
        lines = [(name, by_deal(own))]
        if name != first:
            common = {luck.deal for luck in own} & {luck.deal for luck in lucks[first]}
            ours, theirs = (
                by_deal([luck for luck in side if luck.deal in common]) for side in (own, lucks[first])
            )
            # The Sheriff's side is that of the deal; other draws are those of both games.
            both = np.hstack([ours[:, :1] - theirs[:, :1], ours[:, 1:2], ours[:, 2:], theirs[:, 2:]])
            lines.append((f"{name} − {first}", both))
        for words, table in lines:
            side = saved_by_side(table)
            shown = "–" if side is None else f"{side:.0%}"
            chance = saved_by_chance(table)
            wins = f"{table[:, 0].mean():8.3f}"
            print(f"{rules:8}  {words:20}  {len(table):5}  {wins}  {shown:>5}  {chance:6.0%}", flush=True)


def weighted(wins: Floats, wolf: NDArray[np.bool_]) -> float:
    """The mean of wins, with the two sides of the Sheriff weighted to their shares."""
    return WOLVES * float(wins[wolf].mean()) + (1 - WOLVES) * float(wins[~wolf].mean())


def print_bias(entrants: int, home: Path) -> None:
    """The mean error of weighted and unweighted wins of many entrants of random skill."""
    rng, draws = random.Random(1), np.random.default_rng(1)
    skilled = {
        f"entrant {k}": {
            "model": {"model": "village", "skill": round(rng.random(), 3)},
            "recipe": "deductive",
        }
        for k in range(entrants)
    }
    errors = []
    for own in played(home, RULES["002"], skilled, 28).values():
        wins, wolf = by_deal(own)[:, 0], by_deal(own)[:, 1] > 0
        for _ in range(20):
            some = draws.integers(len(wins), size=14)
            if wolf[some].any() and not wolf[some].all():
                truth = weighted(wins, wolf)
                errors.append([weighted(wins[some], wolf[some]) - truth, wins[some].mean() - truth])
    error = np.std(errors, axis=0) / max(1, len(errors)) ** 0.5
    for name, mean, spread in zip(("weighted", "unweighted"), np.mean(errors, axis=0), error, strict=True):
        words = f"mean error of {name} wins of {entrants} entrants"
        print(f"{words}: {mean:+.4f}, standard error {spread:.4f}")


def main(words: Sequence[str]) -> None:
    """Play, compute, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--deals", type=int, default=300)
    options.add_argument("--rules", nargs="+", choices=RULES, default=[*RULES])
    options.add_argument("--entrants", type=int, default=0)
    given = options.parse_args(words)
    print(f"{'rules':8}  {'village played by':20}  deals  {'wins':>8}  {'side':>5}  {'chance':>6}")
    for name in given.rules:
        with tempfile.TemporaryDirectory() as home:
            print_saved(name, played(Path(home), RULES[name], ENTRANTS, given.deals))
    if given.entrants:
        with tempfile.TemporaryDirectory() as home:
            print_bias(given.entrants, Path(home))


if __name__ == "__main__":
    main(sys.argv[1:])
