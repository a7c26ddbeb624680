"""Learns a policy from finished runs, and estimates what it gains there.

The folder then has `policy.safetensors`, and `learned.json` with all numbers. The estimates are of policies
that were learned from other deals (`policy.offline`); the stored policy is learned from all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...agents.policy.checkpoint import CANDIDATES_OF, Checkpoint, save
from ...agents.policy.features import PHASES
from ...agents.policy.network import LinearConfig
from ...errors import ExperimentError
from ...files import make_folder, write
from ...models.embedders import resolve_embedder
from ...policy.offline import (
    COMPONENTS,
    LEARNED,
    WHO,
    Float64s,
    LoggedChoices,
    cross_fitted,
    learn,
)
from ...rules.ruleset import MAX_PLAYERS
from ...stats.intervals import Estimate, clustered_estimate, quotient
from ..storage.run_files import must_be_new, new_directory
from .files import POLICY
from .recorded import recorded_choices

RESULT = "learned.json"
FEWEST_GAMES, FEWEST_DEALS = 30, 10
"""The fewest games and deals to learn from."""


@dataclass(frozen=True, slots=True)
class ChoiceGain:
    """The gain of one policy over the player's own choices, in win probability.

    who: see `offline.WHO`. where: a side, or a side and phase. gain: of one choice. choices: the mean number
    of these choices in a game.
    """

    who: str
    where: str
    gain: Estimate
    choices: float


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The result of learning. policy: its file. won: the share of choices whose side won. left_out: reason →
    number of choices. models: whose candidates they are.
    """

    policy: Path
    games: int
    deals: int
    choices: int
    won: float
    left_out: Mapping[str, int]
    models: tuple[str, ...]
    gains: tuple[ChoiceGain, ...]


def learn_from(
    runs: Sequence[Path],
    out: Path | None = None,
    embedder: str | Mapping[str, Any] = "hashing",
    components: int = COMPONENTS,
) -> LearnedFrom:
    """Learn from all finished games of these runs, into a new folder.

    Raises ExperimentError for too few games, and for choices without known probabilities; StoreError for a
    folder that exists already.
    """
    if out is not None:
        must_be_new(out)
    policy, result = learned(runs, "learned" if out is None else out.name, embedder, components)
    folder = new_directory(Path("runs"), "learned") if out is None else out
    make_folder(folder)
    save(policy, folder / POLICY)
    plain = asdict(result) | {"policy": POLICY}
    write(folder / RESULT, (json.dumps(plain, indent=1) + "\n").encode())
    return replace(result, policy=folder / POLICY)


def learned(
    runs: Sequence[Path], name: str, embedder: str | Mapping[str, Any], components: int
) -> tuple[Checkpoint, LearnedFrom]:
    """The policy learned from these runs, which has this name, and what it gains. See `learn_from`."""
    reads = resolve_embedder(embedder)
    found = recorded_choices(runs, reads)
    choices, deals = found.choices, len(np.unique(found.choices.deal))
    if found.games < FEWEST_GAMES or deals < FEWEST_DEALS:
        raise ExperimentError(
            f"{found.games} games of {deals} deals have choices to learn from; at least {FEWEST_GAMES} games "
            f"of {FEWEST_DEALS} deals are needed: play more, and name several runs if you like"
        )
    policy = learn(choices, components)
    points = 200 * float(choices.won.mean()) - 100  # a win is 100, a loss −100
    network = LinearConfig("linear", policy.weights.shape[1], MAX_PLAYERS)
    arrays = {"weights": policy.weights.astype(np.float32), "value_mean": np.array(points, np.float32)}
    training = {
        "from": "recorded games",
        "games": found.games,
        "choices": len(choices.won),
        CANDIDATES_OF: list(found.models),
        "components": components,
        "version": __version__,
    }
    made = Checkpoint(
        name, network, reads.describe(), found.most, found.source, found.rules[0], arrays, training
    )
    asked, by_choice = choices.asked, cross_fitted(choices, components)
    gains = tuple(_gains(choices.rows(asked), {who: one[asked] for who, one in by_choice.items()}))
    of = found.games, deals, len(choices.won), float(choices.won.mean()), found.left_out, found.models
    return made, LearnedFrom(Path(POLICY), *of, gains)


def _gains(choices: LoggedChoices, gains: Mapping[str, Float64s]) -> Iterator[ChoiceGain]:
    """All gains: of each policy by side, and of the learned one by side and phase."""
    wolf = choices.context >= len(PHASES)
    for side, some in (("village", ~wolf), ("werewolves", wolf)):
        if some.any():
            for who in WHO:
                yield _gain(who, side, choices, gains[who], some)
    for context in np.unique(choices.context).tolist():
        side, phase = divmod(context, len(PHASES))
        where = f"{'werewolves' if side else 'village'}, {PHASES[phase]}"
        yield _gain(LEARNED, where, choices, gains[LEARNED], choices.context == context)


def _gain(
    who: str, where: str, choices: LoggedChoices, gains: Float64s, some: NDArray[np.bool_]
) -> ChoiceGain:
    rows = [
        (deal, (gain, 1.0))
        for deal, gain in zip(choices.deal[some].tolist(), gains[some].tolist(), strict=True)
    ]
    gain = clustered_estimate(rows, quotient, n=len(rows), missing=0, units="choices")
    return ChoiceGain(who, where, gain, len(rows) / len(np.unique(choices.game[some])))
