"""Chooses a candidate: by one more call of the model (004 E.5), or by a trained policy (004 §4.3)."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..rules import Ask
from ..text.asking.candidates import candidate_text, observation_text
from ..text.notes import Candidate, ChoiceDraw, Chosen
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
    """The number of the chosen candidate (from 0). If the model's choice is unusable, the first one stands
    in, and a note says so.
    """
    if by == "policy":
        return await _weighed(turn, findings, candidates)
    own = 0
    if len(candidates) > 1:
        task = Choose(turn.ask, candidates)
        answer = await turn.put("choose", findings.now, task, turn.notes, findings.beliefs)
        if not isinstance(answer, Preferred):
            turn.notes += [("choose", Chosen(0)), ("choose", ChoiceDraw(stand_in=True))]
            return 0
        own = answer.number
    epsilon = exploring(turn, len(candidates))
    explored = bool(epsilon) and _explores(turn, epsilon)
    number = turn.io.draw("explore/choice", len(candidates)) if explored else own
    turn.notes.append(("choose", Chosen(number)))
    if epsilon:
        shares = mixed(np.eye(len(candidates))[own], epsilon)
        turn.notes.append(("choose", ChoiceDraw(_rounded(shares), own, explored)))
    return number


async def _weighed(turn: Deliberation, findings: Findings, candidates: tuple[Candidate, ...]) -> int:
    """A draw from π at the recipe's temperature, keyed by the ask. The note has π itself."""
    policy, stage = turn.policy, turn.proposal
    assert policy is not None
    assert stage is not None
    now = findings.now
    vectors = await turn.io.embed("policy", policy_texts(turn.ask, findings, candidates))
    player = player_vector(turn.view, turn.ask, turn.memory, findings.judged)
    weights = await policy.weigh(Observation(player, vectors[0], vectors[1:], now.ruleset.players))
    shares = tempered(weights.probabilities, stage.policy_temperature)
    epsilon = exploring(turn, len(candidates))
    explored = bool(epsilon) and _explores(turn, epsilon)
    if explored:
        number = turn.io.draw("explore/choice", len(candidates))
    else:
        number = drawn(shares, turn.io.draw("choose", _FINE))
    pi = _rounded(weights.probabilities)
    turn.notes.append(("choose", Chosen(number, pi, round(float(weights.value), 4))))
    if epsilon or stage.policy_temperature != 1:
        turn.notes.append(("choose", ChoiceDraw(_rounded(mixed(shares, epsilon)), explored=explored)))
    return number


def policy_texts(ask: Ask, findings: Findings, candidates: tuple[Candidate, ...]) -> list[str]:
    """What an embedder reads for a policy: the observation, then each candidate."""
    texts = [observation_text(findings.now, findings.judged)]
    return texts + [candidate_text(candidate, ask, findings.now.ruleset) for candidate in candidates]


def exploring(turn: Deliberation, candidates: int) -> float:
    """ε at this choice: 0 without exploration, with one candidate, and once a seat has explored as often as
    its recipe allows.
    """
    stage = turn.proposal
    rule = None if stage is None else stage.explore
    if rule is None or candidates < 2:
        return 0.0
    done = sum(isinstance(note.content, ChoiceDraw) and note.content.explored for note in turn.view.notes)
    return 0.0 if rule.decisions is not None and done >= rule.decisions else rule.share


def _explores(turn: Deliberation, epsilon: float) -> bool:
    return turn.io.draw("explore", _FINE) < epsilon * _FINE


def mixed(shares: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The probabilities with exploration, float64 (n,): (1 − ε) shares + ε / n."""
    return shares if not epsilon else (1 - epsilon) * shares + epsilon / len(shares)


def _rounded(shares: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(float(p), 6) for p in shares)


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
