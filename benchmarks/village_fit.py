"""Fits `village`: self-play, counts by role, log-likelihood tables, calibration.

    python benchmarks/village_fit.py [--games N] [--rounds N] [--seed S] [--out FILE]
    python benchmarks/village_fit.py --strength N

Each round plays `games` games of every preset with the parameters of the round before (the first with
neutral tables), counts how often each outcome of `parameters.SHAPES` came from each pair of roles, and
turns the counts into milli-nats relative to the average role. The tempering `scale` is the one, out of
a fixed list, that gives the true roles the highest likelihood; suspicion is P(Werewolf) by guess and
confidence. Everything is keyed by the seed: the same command writes the same file.

``--strength N`` plays N games a cell instead, {village, random} × {village, random}, and prints who won.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from wolflab.agents.language import LanguageAgent
from wolflab.agents.random import Random
from wolflab.agents.recipes import RECIPES
from wolflab.match.draws import Draws
from wolflab.match.play import Match, run_now
from wolflab.match.play import play as play_match
from wolflab.match.player import Dealing, Player
from wolflab.match.probes import Probe
from wolflab.models.base import Request, Response
from wolflab.models.village import Village
from wolflab.models.village.beliefs.likelihood import Fold, TableObservation
from wolflab.models.village.beliefs.worlds import role_class
from wolflab.models.village.parameters import (
    PATH,
    SHAPES,
    VERSION,
    Fitted,
    Parameters,
    parse_parameters,
)
from wolflab.rules import DOCTOR, EVERYONE, PRESETS, ROLES, SHERIFF, WITCH, Event, Ruleset, Winner
from wolflab.text.notes import UNCERTAIN
from wolflab.text.questions import Deduce, Question, Situation

FITTED_ON = (SHERIFF, WITCH, DOCTOR)
"""The rulesets whose self-play the shipped parameters come from; other presets are played with the same."""

Seated = Village | None
"""Who sits in a seat; None plays at random and says nothing."""

Seating = Callable[[int, str], Seated]
"""(seat, role) → who plays it."""


@dataclass
class Game:
    """One finished game. `asks`: (key, question, reply) of every call, if kept."""

    winner: Winner
    rounds: int
    roles: tuple[str, ...]
    events: list[Event]
    asks: list[tuple[str, Question, str]]

    def deductions(self) -> Iterator[tuple[Situation, dict[str, Any]]]:
        """The kept deductions: the situation, and the reply by player's name."""
        for _, question, reply in self.asks:
            if isinstance(question.task, Deduce):
                yield question.situation, msgspec.json.decode(reply)


class _Listener:
    """A model that asks `village` and keeps what was said."""

    instant = True
    typed = True

    def __init__(self, village: Village, asks: list[tuple[str, Question, str]]) -> None:
        self.name, self._village, self._asks = village.name, village, asks

    async def generate(self, request: Request) -> Response:
        response = await self._village.generate(request)
        self._asks.append((request.key, request.question, response.text))
        return response

    def describe(self) -> dict[str, Any]:
        return self._village.describe()

    async def close(self) -> None:
        """Nothing to close."""


def play(
    ruleset: Ruleset,
    key: str,
    seating: Seating,
    *,
    deduces: bool = True,
    keep: bool = False,
    style: str | None = None,
    probes: tuple[Probe, ...] = (),
) -> Game:
    """One game through the match loop. key: what all its draws depend on.

    deduces: the recipe "deductive" (judge all others, then act), else "vanilla". keep: keep every call.
    """
    agent = LanguageAgent(replace(RECIPES["deductive" if deduces else "vanilla"], style=style))
    asks: list[tuple[str, Question, str]] = []

    def player(village: Seated) -> Player:
        if village is None:
            return Player(Random())
        return Player(agent, _Listener(village, asks) if keep else village)

    def casting(dealing: Dealing) -> Sequence[Player]:
        return [player(seating(seat, role)) for seat, role in enumerate(dealing.roles)]

    draws = Draws(f"{key}|main")
    done = run_now(play_match(Match(ruleset, casting, draws, draws, {}, probes, write=False)))
    end = done.log.facts
    return Game(done.outcome.winner, end.round, end.roles, list(done.log.events), asks)


# -- fitting ------------------------------------------------------------------------------------

SMOOTHING = 3.0
"""Pseudo-counts by which a cell is drawn to its outcome's average over roles."""

CAP = 4000
"""No single observation weighs more than this, in milli-nats."""

SCALES = (400, 500, 600, 700, 800, 900, 1000)

NEUTRAL_SUSPICION = {
    "Werewolf": (450, 550, 700, 850, 930, 990),
    "other": (250, 200, 140, 80, 40, 5),
    "Uncertain": (360, 250, 250, 250, 250, 250),
}


def neutral_parameters() -> Parameters:
    """Neutral tables, with which fitting starts."""
    tables = {name: np.zeros(shape, np.int64) for name, shape in SHAPES.items()}
    return Parameters(tables, 1000, dict(NEUTRAL_SUSPICION), "neutral")


def observe(games: Sequence[Game], ruleset: Ruleset, counts: dict[str, Any]) -> None:
    """Add every observation of `games` to `counts` (arrays of `SHAPES`)."""
    fold = Fold(ruleset, neutral_parameters())
    for game in games:
        observed: list[TableObservation] = []
        fold.observed = observed
        node = fold.root
        for event in game.events:
            if event.audience == EVERYONE:
                node = fold.step(node, event)
        classes = [role_class(ROLES[role]) for role in game.roles]
        for table, context, outcome, actor, target in observed:
            who = (actor,) if target is None else (actor, target)
            index = (context, outcome, *(classes[seat] for seat in who))
            counts[table][index] += 1


def tables(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Milli-nats from counts: log P(outcome | context, roles) − log P(outcome | context)."""
    made = {}
    for name, count in counts.items():
        roles = tuple(range(2, count.ndim))
        marginal = count.sum(axis=roles) + 0.5
        average = marginal / marginal.sum(axis=1, keepdims=True)
        prior = average.reshape(average.shape + (1,) * len(roles))
        rate = (count + SMOOTHING * prior) / (count.sum(axis=1, keepdims=True) + SMOOTHING)
        nats = 1000 * (np.log(rate) - np.log(prior))
        made[name] = np.clip(np.rint(nats), -CAP, CAP).astype(np.int64)
    return made


def best_scale(parameters: Parameters, games: Sequence[tuple[Ruleset, Game]]) -> int:
    """The tempering under which the villagers' posteriors give the true roles the highest likelihood."""
    scores = {}
    for scale in SCALES:
        village = Village(parameters=Parameters(parameters.tables, scale, parameters.suspicion, ""))
        total = 0.0
        for _, game in games:
            for situation, _ in game.deductions():
                if not situation.pack:
                    found = village.posterior(situation)
                    for seat in situation.alive:
                        if seat != situation.seat:
                            at = found.roles.index(game.roles[seat])
                            total += float(np.log(max(found.marginals[seat][at], 1e-6)))
        scores[scale] = total
    return max(scores, key=lambda scale: (scores[scale], scale))


def calibration(games: Sequence[tuple[Ruleset, Game]]) -> dict[str, list[tuple[int, int, int]]]:
    """Guess group → for confidence 5 … 10: (guesses, right, Werewolves), the village side's judgements."""
    found: dict[str, list[list[int]]] = {
        group: [[0, 0, 0] for _ in range(6)] for group in ("Werewolf", "other", UNCERTAIN)
    }
    for ruleset, game in games:
        for situation, reply in game.deductions():
            if situation.pack:
                continue
            for name, one in reply.items():
                role, truth = one["role"], game.roles[ruleset.seat(name)]
                group = UNCERTAIN if role not in ROLES else "Werewolf" if ROLES[role].wolf else "other"
                cell = found[group][one["confidence"] - 5]
                cell[0] += 1
                cell[1] += role == truth
                cell[2] += ROLES[truth].wolf
    return {group: [(a, b, c) for a, b, c in cells] for group, cells in found.items()}


def suspicion(table: Mapping[str, Sequence[tuple[int, int, int]]]) -> dict[str, list[int]]:
    """P(Werewolf) in thousandths by guess group and confidence, smoothed towards `NEUTRAL_SUSPICION`."""
    return {
        group: [
            round((1000 * wolves + 20 * NEUTRAL_SUSPICION[group][i]) / (n + 20))
            for i, (n, _, wolves) in enumerate(cells)
        ]
        for group, cells in table.items()
    }


def _everyone(village: Village) -> Seating:
    return lambda seat, role: village


def fit(games: int, rounds: int, seed: str, say: Callable[[str], None] = lambda line: None) -> bytes:
    """The content of ``parameters.json``."""
    current = neutral_parameters()
    data = b""
    for number in range(rounds):
        everyone = _everyone(Village(parameters=current, phrases="ab"))
        counts = {name: np.zeros(shape) for name, shape in SHAPES.items()}
        kept: list[tuple[Ruleset, Game]] = []
        for ruleset in FITTED_ON:
            played = [
                play(
                    ruleset,
                    f"fit|{seed}|{number}|{ruleset.name}|{g}",
                    everyone,
                    keep=g < games // 4,
                )
                for g in range(games)
            ]
            observe(played, ruleset, counts)
            kept += [(ruleset, game) for game in played if game.asks]
            won = sum(game.winner is Winner.VILLAGE for game in played)
            say(f"round {number + 1} {ruleset.name}: the village won {won} of {games}")
        made = tables(counts)
        scale = best_scale(Parameters(made, 1000, current.suspicion, ""), kept)
        last = calibration(kept)
        presets = [ruleset.name for ruleset in FITTED_ON]
        fitted = Fitted(
            VERSION,
            {"seed": seed, "games": games, "round": number + 1, "presets": presets, "phrases": "ab"},
            scale,
            {name: table.tolist() for name, table in made.items()},
            suspicion(last) if number else {group: list(row) for group, row in NEUTRAL_SUSPICION.items()},
        )
        data = msgspec.json.encode(fitted) + b"\n"
        current = parse_parameters(data, "the fit")
        say(f"round {number + 1}: scale {scale}, parameters {current.digest}")
    return data


def wins(ruleset: Ruleset, games: int, good: Seated, bad: Seated, deduces: bool = True) -> float:
    """The village's share of wins when `good` plays its side and `bad` the Werewolves; same deals always."""
    won = 0
    for number in range(games):
        game = play(
            ruleset,
            f"strength|{number}",
            lambda seat, role: bad if ROLES[role].wolf else good,
            deduces=deduces,
        )
        won += game.winner is Winner.VILLAGE
    return won / games


def strength(games: int, say: Callable[[str], None]) -> None:
    """Print the cells {village, random} × {village, random} of every preset."""
    village = Village()
    for name, ruleset in PRESETS.items():
        for good in (village, None):
            for bad in (village, None):
                share = wins(ruleset, games, good, bad)
                sides = " against ".join("random" if side is None else "village" for side in (good, bad))
                say(f"{name}: {sides} Werewolves: the village wins {share:.1%} of {games}")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Fit village's parameters by self-play.")
    parser.add_argument("--games", type=int, default=400, help="games per preset and round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of play and fit")
    parser.add_argument("--seed", default="1", help="what every draw is keyed by")
    parser.add_argument("--out", type=Path, default=PATH, help="where to write")
    parser.add_argument("--strength", type=int, metavar="N", help="play N games a cell instead of fitting")
    given = parser.parse_args(arguments)
    if given.strength:
        strength(given.strength, lambda line: print(line, flush=True))
        return
    data = fit(given.games, given.rounds, given.seed, lambda line: print(line, flush=True))
    given.out.write_bytes(data)
    print(f"wrote {given.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
