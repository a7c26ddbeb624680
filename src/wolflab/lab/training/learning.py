"""Learns a policy from finished runs, and estimates what it gains there.

The folder then has `policy.safetensors`, `learned.json` with all numbers, and the vectors that were waited or
paid for. The estimates are of policies that were learned from other deals (`policy.offline`); the stored
policy is learned from all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...agents.policy.checkpoint import CANDIDATES_OF, Checkpoint, save
from ...agents.policy.features import PHASES
from ...agents.policy.network import LinearConfig
from ...errors import ExperimentError, StoreError
from ...files import make_folder, read_file, write
from ...models.budget import Budget
from ...models.embedders import Embedder, resolve_embedder
from ...policy.offline import (
    CLIP,
    COMPONENTS,
    LEARNED,
    WHO,
    Float64s,
    LoggedChoices,
    cross_fit,
    learn,
    whole_games,
)
from ...rules import Side
from ...rules.ruleset import MAX_PLAYERS
from ...stats.intervals import Estimate, clustered_estimate, divide, quotient
from ..storage.run_files import LEARNED_FROM, held, must_be_new, new_directory
from .embedding import EmbeddingWatcher, embedded, spent_on_texts
from .files import POLICY
from .recorded import RecordedChoices, recorded_choices

FEWEST_GAMES, FEWEST_DEALS = 30, 10
"""The fewest games and deals to learn from."""
FEWEST_EFFECTIVE = 30
"""The fewest effective games of which whole games are weighted."""


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
class WholeGameGain:
    """The gain of the policy over the recorded play on one side, if it had made all choices of whole games.
    effective: how many of the games count, once they are weighted. gain: in win probability; None if these
    are fewer than `FEWEST_EFFECTIVE`.
    """

    where: str
    games: int
    effective: float
    gain: Estimate | None


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The result of learning. policy: its file. won: the share of choices whose side won. left_out: reason →
    number of choices. models: whose candidates they are. clipped: who chooses → the number of choices whose
    importance weight was clipped at `clipped_at`. digest: the policy's; "" in files of before it was kept.
    """

    policy: Path
    games: int
    deals: int
    choices: int
    won: float
    left_out: Mapping[str, int]
    models: tuple[str, ...]
    gains: tuple[ChoiceGain, ...]
    clipped: Mapping[str, int] = field(default_factory=dict)
    whole_games: tuple[WholeGameGain, ...] = ()
    digest: str = ""
    clipped_at: float = CLIP


def learn_from(
    runs: Sequence[Path],
    out: Path | None = None,
    embedder: str | Mapping[str, Any] = "hashing",
    components: int = COMPONENTS,
    limits: tuple[int | None, float | None] = (None, None),
    watcher: EmbeddingWatcher = EmbeddingWatcher(),  # noqa: B008 (it has no state)
) -> LearnedFrom:
    """Learn from all finished games of these runs, into a new folder, or one in which only texts were
    embedded. limits: tokens and USD for embedding, also what was spent in this folder before.

    Raises ExperimentError for too few games, and for choices without known probabilities; StoreError for a
    folder that has something else; what `embedding.embedded` raises.
    """
    if out is not None:
        must_be_new(out)
    found = choices_of(runs)
    folder = new_directory(Path("runs"), "learned") if out is None else out
    make_folder(folder)
    with held(folder):
        watcher.begun(folder)
        reads = resolve_embedder(embedder, Budget(*limits, *spent_on_texts(folder)))
        choices = found.logged(embedded(found.texts, reads, folder, runs, watcher))
        policy, result = learned(found, choices, "learned" if out is None else out.name, reads, components)
        return keep_learned(policy, result, folder / POLICY, folder / LEARNED_FROM)


def keep_learned(policy: Checkpoint, result: LearnedFrom, own: Path, numbers: Path) -> LearnedFrom:
    """Write a learned policy and its numbers; the result with the policy's file."""
    save(policy, own)
    stated = asdict(result) | {"policy": own.name, "digest": policy.digest}
    write(numbers, (json.dumps(stated, indent=1) + "\n").encode())
    return replace(result, policy=own)


def read_learned(numbers: Path) -> LearnedFrom:
    """The result that `keep_learned` wrote; StoreError for a file that cannot be read."""
    text = read_file(numbers)
    try:
        found = msgspec.json.decode(text, type=LearnedFrom, dec_hook=lambda kind, value: kind(value))
    except msgspec.DecodeError as error:
        raise StoreError(f"{numbers} is not what wolflab train wrote ({error}); learn anew") from None
    return replace(found, policy=numbers.parent / found.policy)


def choices_of(runs: Sequence[Path], side: Side | None = None) -> RecordedChoices:
    """See `recorded_choices`; ExperimentError also for too few games."""
    found = recorded_choices(runs, side)
    if found.games < FEWEST_GAMES or found.deals < FEWEST_DEALS:
        raise ExperimentError(
            f"{found.games} games of {found.deals} deals have choices to learn from; at least "
            f"{FEWEST_GAMES} games of {FEWEST_DEALS} deals are needed: play more, and name several runs if "
            "you like"
        )
    return found


def learned(
    found: RecordedChoices, choices: LoggedChoices, name: str, reads: Embedder, components: int
) -> tuple[Checkpoint, LearnedFrom]:
    """The policy learned from these choices, which has this name, and what it gains. choices: those that were
    found, as arrays. reads: their embedder.
    """
    policy = learn(choices, components)
    points = 200 * float(choices.won.mean()) - 100  # a win is 100, a loss −100
    network = LinearConfig("linear", policy.weights.shape[1], MAX_PLAYERS)
    arrays = {"weights": policy.weights.astype(np.float32), "value_mean": np.array(points, np.float32)}
    models = tuple(sorted(found.models))
    training = {
        "from": "recorded games",
        "games": found.games,
        "choices": len(choices.won),
        CANDIDATES_OF: list(models),
        "components": components,
        "version": __version__,
    }
    (source,) = found.sources
    rules = min(found.rules)
    made = Checkpoint(name, network, reads.describe(), found.most, source, rules, arrays, training)
    by_choice = cross_fit(choices, components)
    asked = choices.asked
    gains = tuple(_gains(choices.rows(asked), {who: one.gains[asked] for who, one in by_choice.items()}))
    clipped = {who: n for who, one in by_choice.items() if (n := int((one.clipped & asked).sum()))}
    games = tuple(_whole_games(choices, by_choice[LEARNED].weights))
    of = found.games, found.deals, len(choices.won), float(choices.won.mean())
    return made, LearnedFrom(Path(POLICY), *of, dict(found.left_out), models, gains, clipped, games)


def _by_side(choices: LoggedChoices) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each side that has choices, and which these are, bool (T,)."""
    wolf = choices.context >= len(PHASES)
    return (side for side in (("village", ~wolf), ("werewolves", wolf)) if side[1].any())


def _whole_games(choices: LoggedChoices, weights: Float64s) -> Iterator[WholeGameGain]:
    """The policy's gain in whole games, for each side."""
    for side, some in _by_side(choices):
        games, gain = whole_games(choices.rows(some), weights[some]), None
        if games.effective >= FEWEST_EFFECTIVE:
            rows = [
                (deal, (weight * won, weight, won, 1.0))
                for weight, won, deal in zip(*map(np.ndarray.tolist, games), strict=True)
            ]
            gain = clustered_estimate(rows, _weighted_gain, n=len(rows), units="games")
        yield WholeGameGain(side, len(games.won), games.effective, gain)


def _weighted_gain(sums: Float64s) -> Float64s:
    """The weighted win rate minus the plain one."""
    return divide(sums[:, 0], sums[:, 1]) - divide(sums[:, 2], sums[:, 3])


def _gains(choices: LoggedChoices, gains: Mapping[str, Float64s]) -> Iterator[ChoiceGain]:
    """All gains: of each policy by side, and of the learned one by side and phase."""
    for side, some in _by_side(choices):
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
