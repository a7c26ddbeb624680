"""Chooses a candidate: by one more call of the model (004 E.5), or by a trained policy (004 §4.3)."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..text.asking.candidates import candidate_text, observation_text
from ..text.notes import Candidate, Chosen
from ..text.questions import Choose
from ..text.replies.parsed import Preferred
from .deliberation import Deliberation, Findings
from .policy.features import player_vector
from .policy.policy import Observation

_FINE = 1 << 30
"""Resolution of a draw from probabilities, since agents draw integers."""


async def choose_among(
    turn: Deliberation, findings: Findings, candidates: tuple[Candidate, ...], by: Literal["model", "policy"]
) -> int:
    """The number of the chosen candidate (from 0). If the model's choice is unusable, it is the first."""
    if by == "policy":
        return await _weighed(turn, findings, candidates)
    number = 0
    if len(candidates) > 1:
        task = Choose(turn.ask, candidates)
        answer = await turn.put("choose", findings.now, task, turn.notes, findings.beliefs)
        number = answer.number if isinstance(answer, Preferred) else 0
    turn.notes.append(("choose", Chosen(number)))
    return number


async def _weighed(turn: Deliberation, findings: Findings, candidates: tuple[Candidate, ...]) -> int:
    """A draw from π at the recipe's temperature, keyed by the ask. The note has π itself."""
    policy, stage = turn.policy, turn.proposal
    assert policy is not None
    assert stage is not None
    now = findings.now
    texts = [observation_text(now, findings.judged)]
    texts += [candidate_text(candidate, turn.ask, now.ruleset) for candidate in candidates]
    vectors = await turn.io.embed("policy", texts)
    player = player_vector(turn.view, turn.ask, turn.memory, findings.judged)
    weights = await policy.weigh(Observation(player, vectors[0], vectors[1:], now.ruleset.players))
    shares = tempered(weights.probabilities, stage.policy_temperature)
    number = drawn(shares, turn.io.draw("choose", _FINE))
    rounded = tuple(round(float(p), 6) for p in weights.probabilities)
    turn.notes.append(("choose", Chosen(number, rounded, round(float(weights.value), 4))))
    return number


def tempered(probabilities: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """π at a temperature T ≥ 0, float64 (n,): in proportion to π^(1/T).

    At 1 it is exactly π. At 0 the likeliest candidate (the first of several) gets 1.
    """
    if temperature == 1:
        return probabilities
    if temperature == 0:
        shares = np.zeros(len(probabilities))
        shares[probabilities.argmax()] = 1.0
    else:
        shares = (probabilities / probabilities.max()) ** (1 / temperature)
        shares /= shares.sum()
    return shares


def drawn(probabilities: np.ndarray, step: int) -> int:
    """The index that a draw `step` in [0, 2³⁰) selects."""
    sums = list(accumulate(float(p) for p in probabilities))
    return min(bisect_right(sums, step / _FINE * sums[-1]), len(sums) - 1)
