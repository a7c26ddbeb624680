"""Learns a policy from recorded choices among candidates, whose probabilities are known.

A few hundred games with one reward each have little information. So the learner has few parameters, and where
it knows nothing it does as the player did. The logit of a candidate is linear in its embedding, with weights
for each context (side and phase):

    logit = what the player would choose itself + advantage / τ

- *Directions*: candidates are described by the main components of the differences between candidates of one
  choice.
- *Advantage*: ridge regression of the win, less what was to be expected from the player vector, on the chosen
  candidate less the mean over the probabilities of the choice. As these probabilities are known, that is
  unbiased whatever else decides the game (residual-on-residual regression, Robinson 1988; Nie and Wager
  2021). The prior's width is that of the largest evidence (type II maximum likelihood).
- *The player's own choice*: a softmax regression on the same directions, of the choices that the model was
  asked for, if it was. Where nothing shows an advantage, the policy imitates the player.

*Gains* are one-decision estimates: the policy chooses once, then all goes on as it was recorded. They are
doubly robust (Dudík, Langford and Li 2011), with weights clipped at `CLIP`, and made on deals that the policy
was not learned from. The gains of several choices of a game add up to first order only, as choices that
change together may help or hinder each other. *Whole games* are weighted only where enough of them count: the
products of a game's weights are mostly so uneven that a few games would decide alone (`WholeGames.effective`;
`benchmarks/recorded_learning.py` prints how many).

The policy is stored as a network of its own kind (`agents.policy.network.LinearNetwork`), so that players and
tournaments take it as any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents.policy.features import CONTEXTS, PHASES, contexts
from ..agents.policy.network import probabilities
from ..agents.policy.policy import Float32s

Float64s = NDArray[np.float64]

COMPONENTS = 16
"""The number of directions."""
FOLDS = 5
CLIP = 10.0
"""The largest importance weight of a choice."""
TEMPERATURE = 0.005
"""τ, in win probability: half a point more makes a candidate e times as likely."""
WIDTHS = (0.003, 0.01, 0.03, 0.1)
"""Standard deviations of the prior that are tried: of the win probability that a typical difference between
candidates is worth."""
OWN_SHARE = 0.25
"""The variance of a context's deviation, relative to that of the weights that all contexts share."""
_PENALTY = 0.002
"""Of the regression on the player vector, for each choice."""
_CLONING_PENALTY = 1.0
"""Of the softmax regression of the player's own choices."""
LEARNED, LIKELIEST, FIRST, RANDOM = "learned", "learned, likeliest", "first candidate", "at random"
WHO = (LEARNED, LIKELIEST, FIRST, RANDOM)
"""Who chooses in estimates."""


class LoggedChoices(NamedTuple):
    """T choices among up to N candidates. player: float32 (T, V), laid out for the largest table.
    candidates: float32 (T, N, D). mask: bool (T, N). shares: float64 (T, N), the probabilities of the choice,
    above 0 for each candidate. action: int (T,), the chosen one. own: int (T,), the player's own choice; −1
    if `shares` are its own. won: float64 (T,), 1 if the seat's side won. deal, game: int (T,), numbers.
    """

    player: Float32s
    candidates: Float32s
    mask: NDArray[np.bool_]
    shares: Float64s
    action: NDArray[np.int64]
    own: NDArray[np.int64]
    won: Float64s
    deal: NDArray[np.int64]
    game: NDArray[np.int64]

    def rows(self, index: NDArray[np.bool_]) -> LoggedChoices:
        """Some of the choices."""
        return self._replace(**{name: array[index] for name, array in self._asdict().items()})

    @property
    def behaviour(self) -> Float64s:
        """What the player does without exploration: float64 (T, N)."""
        own = np.eye(self.mask.shape[1])[np.maximum(self.own, 0)]
        return np.where(self.own[:, None] >= 0, own, self.shares)

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Where the player's own choice is known, bool (T,); everywhere on a side where it never is."""
        known, wolf = self.own >= 0, self.context >= len(PHASES)
        sides = (known & side if (known & side).any() else side for side in (wolf, ~wolf))
        return np.logical_or(*sides)

    @property
    def context(self) -> NDArray[np.int64]:
        """The context of each choice: int (T,)."""
        return contexts(self.player)


# -- learning ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinearPolicy:
    """A policy: weights of a candidate's embedding, float64 (contexts, D). advantage: the same for what a
    candidate is worth in win probability. expected: weights of the player vector, and a constant (V + 1,).
    """

    weights: Float64s
    advantage: Float64s
    expected: Float64s

    def chances(self, choices: LoggedChoices) -> Float64s:
        """π of each candidate, float64 (T, N)."""
        logits = _scores(choices, self.weights)
        return probabilities(np.where(choices.mask, logits, -np.inf))

    def worth(self, choices: LoggedChoices) -> Float64s:
        """Each candidate's advantage over the mean of the choice's probabilities, float64 (T, N)."""
        scores = _scores(choices, self.advantage)
        return np.where(choices.mask, scores - (choices.shares * scores).sum(1, keepdims=True), 0.0)


def learn(
    choices: LoggedChoices, components: int = COMPONENTS, temperature: float = TEMPERATURE
) -> LinearPolicy:
    """The policy learned from these choices."""
    directions = _directions(choices, components)
    described = choices.candidates @ directions  # (T, N, d)
    expected = _expecting(choices)
    rest = choices.won - _expected(choices.player, expected)
    advantage = _advantage(choices, described, rest) @ directions.T
    asked = choices.asked
    own = _own(choices.rows(asked), described[asked], choices.behaviour[asked]) @ directions.T
    return LinearPolicy(own + advantage / temperature, advantage, expected)


class CrossFitted(NamedTuple):
    """What one policy would do at every choice, learned from other deals. gains: one-decision gains, float64
    (T,). weights: π ÷ the choice's probability, not clipped, float64 (T,).
    """

    gains: Float64s
    weights: Float64s

    @property
    def clipped(self) -> NDArray[np.bool_]:
        """Where the weight is larger than `CLIP`, bool (T,)."""
        return self.weights > CLIP * (1 + 1e-6)


def cross_fit(choices: LoggedChoices, components: int = COMPONENTS) -> dict[str, CrossFitted]:
    """What each of `WHO` would do and gain at every choice.

    `LEARNED` is the policy, learned from other deals; `LIKELIEST` takes its likeliest candidate; `FIRST`
    takes the first candidate, and `RANDOM` any.
    """
    found = {name: CrossFitted(*np.zeros((2, len(choices.won)))) for name in WHO}
    fold = choices.deal % FOLDS
    for number in range(FOLDS):
        test = fold == number
        if not test.any():
            continue
        learned, held = learn(choices.rows(~test), components), choices.rows(test)
        pi, most = learned.chances(held), held.mask.shape[1]
        count = held.mask.sum(axis=1, keepdims=True)
        chances = {
            LEARNED: pi,
            LIKELIEST: np.eye(most)[pi.argmax(axis=1)],
            FIRST: np.eye(most)[np.zeros(len(pi), np.int64)],
            RANDOM: held.mask / count,
        }
        at = np.arange(len(pi)), held.action
        for name, shares in chances.items():
            found[name].gains[test] = one_decision(shares, learned, held)
            found[name].weights[test] = shares[at] / held.shares[at]
    return found


class WholeGames(NamedTuple):
    """The games of one side, weighted as if its players had chosen by a policy. weights: the product of the
    weights of a game's choices, largest 1, float64 (G,). won: float64 (G,). deal: int (G,).
    """

    weights: Float64s
    won: Float64s
    deal: NDArray[np.int64]

    @property
    def effective(self) -> float:
        """The effective number of games, (Σw)² / Σw²."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())


def whole_games(choices: LoggedChoices, weights: Float64s) -> WholeGames:
    """The games of these choices. weights: of the choices, float64 (T,)."""
    _, first, game = np.unique(choices.game, return_index=True, return_inverse=True)
    with np.errstate(divide="ignore"):
        product = np.bincount(game, np.log(weights))
    scaled: Float64s = np.exp(product - product.max())
    return WholeGames(scaled, choices.won[first], choices.deal[first])


def one_decision(pi: Float64s, learned: LinearPolicy, choices: LoggedChoices) -> Float64s:
    """The estimated gain of each choice, float64 (T,): of choosing by π (T, N) over the player's own choice.

    learned: from other deals; what it expects makes the estimate more exact.
    """
    own, worth = choices.behaviour, learned.worth(choices)
    at = np.arange(len(choices.won)), choices.action
    surprise = choices.won - _expected(choices.player, learned.expected) - worth[at]
    weight = np.minimum(pi[at] / choices.shares[at], CLIP) - own[at] / choices.shares[at]
    gains: Float64s = ((pi - own) * worth).sum(axis=1) + weight * surprise
    return gains


def _scores(choices: LoggedChoices, weights: Float64s) -> Float64s:
    """The score of each candidate by the weights of its context: float64 (T, N)."""
    scores: Float64s = np.einsum("tnd,td->tn", choices.candidates, weights[choices.context])
    return scores


def _centred(choices: LoggedChoices, described: Float64s) -> Float64s:
    """Descriptions less their mean by the choice's probabilities, 0 for padding."""
    mean = np.einsum("tn,tnd->td", choices.shares, described)
    return np.where(choices.mask[..., None], described - mean[:, None], 0.0)


def _directions(choices: LoggedChoices, components: int) -> Float64s:
    """The main components of differences between candidates, (D, d), scaled so that a typical difference has
    length 1.
    """
    apart = _centred(choices, choices.candidates.astype(np.float64))
    weighted = apart * np.sqrt(choices.shares)[..., None]
    moments = np.einsum("tnd,tne->de", weighted, weighted, optimize=True) / len(apart)
    values, vectors = np.linalg.eigh(moments)
    kept = vectors[:, ::-1][:, :components]
    size = math.sqrt(max(float(values[::-1][:components].sum()), 1e-12))
    directions: Float64s = kept / size
    return directions


def _expecting(choices: LoggedChoices) -> Float64s:
    """Ridge regression of the win on the player vector: weights and a constant."""
    seen = np.hstack([choices.player.astype(np.float64), np.ones((len(choices.won), 1))])
    penalty = np.full(seen.shape[1], _PENALTY * len(choices.won))
    penalty[-1] = 1e-6  # hardly any for the constant
    weights: Float64s = np.linalg.solve(seen.T @ seen + np.diag(penalty), seen.T @ choices.won)
    return weights


def _expected(player: Float32s, weights: Float64s) -> Float64s:
    expected: Float64s = player @ weights[:-1] + weights[-1]
    return expected


def _by_context(described: Float64s, context: NDArray[np.int64]) -> Float64s:
    """(T, d) → (T, (1 + contexts) d): what all contexts share, then the context's own deviation."""
    rows, size = described.shape
    design = np.zeros((rows, 1 + CONTEXTS, size))
    design[:, 0] = described
    design[np.arange(rows), 1 + context] = described * math.sqrt(OWN_SHARE)
    return design.reshape(rows, -1)


def _for_contexts(weights: Float64s, size: int) -> Float64s:
    """The weights of each context, (contexts, d), from those of `_by_context`."""
    parts = weights.reshape(1 + CONTEXTS, size)
    return parts[:1] + parts[1:] * math.sqrt(OWN_SHARE)


def _advantage(choices: LoggedChoices, described: Float64s, rest: Float64s) -> Float64s:
    """Ridge regression of the surprise on the chosen candidate, (contexts, d); zeros if nothing surprises, as
    when all games were lost.
    """
    if rest.var() < 1e-9:
        return np.zeros((CONTEXTS, described.shape[2]))
    rows = np.arange(len(rest))
    chosen = _centred(choices, described)[rows, choices.action]
    design = _by_context(chosen, choices.context)
    noise = float(rest.var())
    moments, product = design.T @ design, design.T @ rest
    values, vectors = np.linalg.eigh(moments)
    turned = vectors.T @ product

    def evidence(width: float) -> float:
        # log N(rest; 0, noise + width² design designᵀ), without constants
        grown = 1 + width**2 * values / noise
        fit = (turned**2 * width**2 / noise / grown).sum() / noise
        return float(fit - np.log(grown).sum()) / 2

    width = max(WIDTHS, key=evidence)
    weights = vectors @ (turned / (values + noise / width**2))
    return _for_contexts(weights, described.shape[2])


def _own(choices: LoggedChoices, described: Float64s, target: Float64s) -> Float64s:
    """Softmax regression of choices with these probabilities or weights (T, N): (contexts, d)."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # a heavy import

    rows, most, size = described.shape
    flat = _centred(choices, described).reshape(rows * most, size)
    design = _by_context(flat, np.repeat(choices.context, most)).reshape(rows, most, -1)
    mask, total = choices.mask, target.sum(axis=1, keepdims=True)

    def loss(weights: Float64s) -> tuple[float, Float64s]:
        logits = np.where(mask, design @ weights, -np.inf)
        top = logits.max(axis=1, keepdims=True)
        log_p = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
        slope = np.einsum("tn,tnf->f", total * np.exp(log_p) - target, design)
        value = _CLONING_PENALTY * (weights @ weights) / 2 - (target * np.where(mask, log_p, 0.0)).sum()
        return float(value), slope + _CLONING_PENALTY * weights

    found = minimize(loss, np.zeros(design.shape[2]), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return _for_contexts(found.x, size)
