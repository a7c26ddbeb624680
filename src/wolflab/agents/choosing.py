"""Chooses a candidate: by one more call of the model (004 E.5), by a trained policy (004 §4.3), or by a
script.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..rules import Ask
from ..text.asking.candidates import candidate_text, observation_text
from ..text.notes import Candidate, ChoiceDraw, Chosen, Proposed
from ..text.questions import Choose
from ..text.replies.parsed import Preferred
from .deliberation import Deliberation, Findings, Notes
from .policy.features import player_vector
from .policy.policy import Observation
from .scripts import choice_of

_FINE = 1 << 30
"""Resolution of a draw from probabilities, since agents draw integers."""


async def choose_among(turn: Deliberation, findings: Findings, candidates: tuple[Candidate, ...]) -> int:
    """The number of the chosen candidate (from 0). If the model's choice is unusable, the first one stands
    in, and a note says so.
    """
    stage = turn.proposal
    assert stage is not None
    if stage.choose == "policy":
        return await _weighed(turn, findings, candidates)
    own = 0
    if stage.script is not None:
        own = choice_of(stage.script, turn.view, turn.ask, candidates)
    elif len(candidates) > 1:
        task = Choose(turn.ask, candidates)
        answer = await turn.put("choose", findings.now, task, turn.notes, findings.beliefs)
        if not isinstance(answer, Preferred):
            turn.notes += [("choose", Chosen(0)), ("choose", ChoiceDraw(stand_in=True))]
            return 0
        own = answer.number
    epsilon, explored = _exploration(turn, len(candidates))
    number = own if explored is None else explored
    turn.notes.append(("choose", Chosen(number)))
    if epsilon:
        shares = _mixed(np.eye(len(candidates))[own], epsilon)
        turn.notes.append(("choose", ChoiceDraw(_rounded(shares), own, explored is not None)))
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
    epsilon, explored = _exploration(turn, len(candidates))
    number = drawn(shares, turn.io.draw("choose", _FINE)) if explored is None else explored
    pi = _rounded(weights.probabilities)
    turn.notes.append(("choose", Chosen(number, pi, round(float(weights.value), 4))))
    if epsilon or stage.policy_temperature != 1:
        mixed = _rounded(_mixed(shares, epsilon))
        turn.notes.append(("choose", ChoiceDraw(mixed, explored=explored is not None)))
    return number


def policy_texts(ask: Ask, findings: Findings, candidates: tuple[Candidate, ...]) -> list[str]:
    """What an embedder reads for a policy: the observation, then each candidate."""
    texts = [observation_text(findings.now, findings.judged)]
    return texts + [candidate_text(candidate, ask, findings.now.ruleset) for candidate in candidates]


class NotedChoice(NamedTuple):
    """A choice among candidates, as the notes of its turn tell it. chosen: None if nothing was chosen.
    shares: the probabilities that the choice was drawn from; () if nothing was drawn, or if they are not
    known.
    """

    candidates: tuple[Candidate, ...]
    chosen: Chosen | None
    draw: ChoiceDraw
    shares: tuple[float, ...]


def noted_choice(notes: Notes, recipe: Mapping[str, Any]) -> NotedChoice:
    """The choice in a turn's notes. recipe: the player's, as the record's header states it."""
    contents = [content for _, content in notes]
    proposed = next((note for note in reversed(contents) if isinstance(note, Proposed)), None)
    chosen = next((note for note in contents if isinstance(note, Chosen)), None)
    draw = next((note for note in contents if isinstance(note, ChoiceDraw)), ChoiceDraw())
    shares = draw.shares
    # Older records have π alone, also where the draw was at another temperature than 1.
    if not shares and chosen is not None and (recipe.get("propose") or {}).get("policy_temperature", 1) == 1:
        shares = chosen.probabilities
    return NotedChoice(() if proposed is None else proposed.candidates, chosen, draw, shares)


def _exploration(turn: Deliberation, candidates: int) -> tuple[float, int | None]:
    """ε at this choice, and the candidate if exploration draws it.

    ε is 0 without exploration, with one candidate, and once a seat has explored as often as its recipe
    allows.
    """
    rule = None if turn.proposal is None else turn.proposal.explore
    if rule is None or candidates < 2:
        return 0.0, None
    done = sum(isinstance(note.content, ChoiceDraw) and note.content.explored for note in turn.view.notes)
    if rule.decisions is not None and done >= rule.decisions:
        return 0.0, None
    explored = turn.io.draw("explore", _FINE) < rule.share * _FINE
    return rule.share, turn.io.draw("explore/choice", candidates) if explored else None


def _mixed(shares: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
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
