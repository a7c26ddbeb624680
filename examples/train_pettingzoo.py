"""Train a small policy with `wolflab.env`: PPO in numpy, a minute on one core, no other package.

    pip install 'wolflab[env]'
    python examples/train_pettingzoo.py                      # the village against random Werewolves
    python examples/train_pettingzoo.py --learners werewolves
    python examples/train_pettingzoo.py --others deductive   # against the built-in language player (slower)

All learners share one network: it sees the vector and the mask, and picks an action for night, talk and vote
alike. There is something to find out for a village: that the Seer tells what it saw, and that the
others vote for whom it named. Win rates before and after are measured on the same deals, none of them used
in training.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from wolflab.env import WerewolfAEC

GAMMA, CLIP, ENTROPY, RATE, EPOCHS, MINIBATCH = 1.0, 0.2, 0.01, 1e-3, 3, 512


class Network:
    """One hidden layer for the policy and one for the value, each with its own weights; Adam."""

    def __init__(self, inputs: int, actions: int, hidden: int, rng: np.random.Generator) -> None:
        def layer(a: int, b: int, scale: float) -> np.ndarray:
            return rng.normal(0, scale / np.sqrt(a), (a, b))

        self.weights = {
            "p1": layer(inputs, hidden, 1.0),
            "p2": layer(hidden, actions, 0.01),  # begins as good as uniform
            "v1": layer(inputs, hidden, 1.0),
            "v2": layer(hidden, 1, 0.01),
        }
        self.moments = {name: (np.zeros_like(w), np.zeros_like(w)) for name, w in self.weights.items()}
        self.steps = 0

    def policy(self, seen: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(hidden, probabilities) of a batch of observations (n, inputs) and masks (n, actions)."""
        hidden = np.tanh(seen @ self.weights["p1"])
        logits = np.where(masks, hidden @ self.weights["p2"], -1e9)
        exp = np.exp(logits - logits.max(axis=1, keepdims=True))
        return hidden, exp / exp.sum(axis=1, keepdims=True)

    def value(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(hidden, expected return) of a batch of observations."""
        hidden = np.tanh(seen @ self.weights["v1"])
        return hidden, (hidden @ self.weights["v2"])[:, 0]

    def descend(self, gradients: dict[str, np.ndarray]) -> None:
        """One step of Adam."""
        self.steps += 1
        for name, g in gradients.items():
            m, v = self.moments[name]
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            scale = RATE * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
            self.weights[name] -= scale * m / (np.sqrt(v) + 1e-8)

    def learn(self, seen, masks, actions, old, returns) -> None:  # type: ignore[no-untyped-def]
        """One minibatch of PPO's clipped objective (Schulman et al. 2017, Eq. 7) with an entropy bonus."""
        n, rows = len(actions), np.arange(len(actions))
        vhidden, values = self.value(seen)
        advantage = returns - values
        dvalue = -advantage[:, None] / n
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        hidden, p = self.policy(seen, masks)
        ratio = p[rows, actions] / old
        free = np.where(advantage > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)  # not clipped
        weight = -(advantage * ratio * free)[:, None] / n
        chosen = np.zeros_like(p)
        chosen[rows, actions] = 1
        dlogits = weight * (chosen - p)
        log = np.log(np.maximum(p, 1e-12))
        dlogits += ENTROPY * p * (log - (p * log).sum(axis=1, keepdims=True)) / n
        self.descend(
            {
                "p2": hidden.T @ dlogits,
                "p1": seen.T @ ((dlogits @ self.weights["p2"].T) * (1 - hidden**2)),
                "v2": vhidden.T @ dvalue,
                "v1": seen.T @ ((dvalue @ self.weights["v2"].T) * (1 - vhidden**2)),
            }
        )


def play(env: WerewolfAEC, network: Network, rng: np.random.Generator, rows: list[list[Any]] | None) -> float:
    """Play the next game; its decisions and their returns go to `rows`. Returns the learners' result."""
    env.reset()
    turns: dict[str, list[list[Any]]] = {}
    result = 0.0
    for agent in env.agent_iter():
        seen, reward, done, _, info = env.last()
        mine = turns.setdefault(agent, [])
        if mine:
            mine[-1][-1] = reward  # earned since this agent's last decision
        if done:
            won = {"village": info["role"] != "Werewolf", "werewolves": info["role"] == "Werewolf"}
            result = float(won.get(info["winner"], False))
            env.step(None)
            continue
        mask = seen["action_mask"].astype(bool)
        p = network.policy(seen["observation"][None], mask[None])[1][0]
        action = int(min(np.searchsorted(np.cumsum(p), rng.random()), np.flatnonzero(mask)[-1]))
        mine.append([seen["observation"], mask, action, p[action], 0.0])
        env.step(action)
    if rows is not None:
        for mine in turns.values():
            total = 0.0
            for row in reversed(mine):
                total = row[-1] + GAMMA * total
                row[-1] = total
            rows += mine
    return result


def measure(env: WerewolfAEC, network: Network, games: int) -> tuple[float, float]:
    """The share of games won on deals 1, 2, … of a seed kept for measuring, and its standard error."""
    rng = np.random.default_rng(0)
    env.reset(seed=10**6)
    won = [play(env, network, rng, None) for _ in range(games)]
    return float(np.mean(won)), float(np.std(won) / np.sqrt(games))


def main() -> None:
    """Measure, train, measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", default="doctor")
    parser.add_argument("--learners", default="village", help="village, werewolves or a role's name")
    parser.add_argument("--others", default="random", help="a recipe: random, deductive, …")
    parser.add_argument("--games", type=int, default=6000)
    parser.add_argument("--batch", type=int, default=100, help="games between updates")
    parser.add_argument("--measured", type=int, default=1000, help="games of each measurement")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    settings = {"rules": args.rules, "learners": args.learners, "others": args.others, "text": "none"}
    env, judged = WerewolfAEC(**settings, shaping=True), WerewolfAEC(**settings)
    network = Network(env.layout.size, len(env.table), 64, rng)
    before = measure(judged, network, args.measured)
    print(
        f"before: {args.learners} win {before[0]:.3f} ± {before[1]:.3f} of {args.measured} games", flush=True
    )
    began = time.monotonic()
    env.reset(seed=args.seed)
    for first in range(0, args.games, args.batch):
        rows: list[list[Any]] = []
        won = [play(env, network, rng, rows) for _ in range(args.batch)]
        seen, masks, actions, old, returns = (np.array(column) for column in zip(*rows, strict=True))
        for _ in range(EPOCHS):
            order = rng.permutation(len(actions))
            for at in range(0, len(order), MINIBATCH):
                some = order[at : at + MINIBATCH]
                network.learn(seen[some], masks[some], actions[some], old[some], returns[some])
        if first // args.batch % 10 == 9:
            print(
                f"  {first + args.batch} games, {time.monotonic() - began:.0f} s: won {np.mean(won):.2f}",
                flush=True,
            )
    after = measure(judged, network, args.measured)
    print(f"after:  {args.learners} win {after[0]:.3f} ± {after[1]:.3f} of {args.measured} games")


if __name__ == "__main__":
    main()
