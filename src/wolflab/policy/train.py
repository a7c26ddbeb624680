"""The algorithm: behaviour cloning, then MAPPO (Yu et al. 2022; 004 §4.3, App. D). Read it top to bottom.

    clone:    make the deduction-only agent's own action the likeliest of the candidates
    then for every update:
              episodes with the current policy (`rollout`)  →  advantages (`gae`)  →  epochs of PPO

The module sees arrays of decisions and rewards, and no games. Its logged numbers:

    cloning/loss, cloning/agreement   cross-entropy of the own action; how often π prefers it
    loss/policy                       −mean of the clipped objective (small; not comparable between updates)
    loss/value                        error of the critic, in normalised units; 0.5: it knows nothing
    loss/entropy                      of π in nats, mean over decisions with two or more candidates; it falls
                                      with learning (ln 3 = 1.1 is uniform among three), and should not fall
                                      to 0
    entropy/night, …/vote             the same by kind of decision
    ppo/clipped                       share of decisions whose ratio left 1 ± clip; about 0.1–0.3 is healthy
    ppo/kl                            how far the update moved π: mean of (r − 1) − ln r; above 0.05 is a lot
    ppo/epochs                        passes made (fewer than set only with stop_kl)
    ppo/gradient                      norm before scaling down
    value/explained                   share of the returns' variance that the critic explains
    value/mean                        mean of the returns, in points
    decisions                         number of decisions in the update
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..agents.policy.network import NetworkConfig
from ..agents.policy.policy import Float32s
from ..errors import ModelError
from ..text.kinds import KINDS
from .network import build_network, to_arrays
from .rollout import Decisions
from .settings import PPO, Cloning

if TYPE_CHECKING:
    import torch
    from torch import Tensor

TrainLog = dict[str, float]


def gae(
    reward: Float32s, value: Float32s, last: NDArray[np.bool_], gamma: float, lam: float
) -> NDArray[np.float32]:
    """Advantages of all decisions, float32 (T,), seat by seat (Schulman et al. 2016, Eq. 16).

    reward, value: float32 (T,), in the same units. last: bool (T,), True at the end of a seat's episode.
    """
    advantage = np.zeros(len(reward), np.float32)
    after = following = 0.0
    for t in range(len(reward) - 1, -1, -1):
        if last[t]:
            after = following = 0.0
        delta = reward[t] + gamma * following - value[t]
        advantage[t] = after = delta + gamma * lam * after
        following = value[t]
    return advantage


def returns_of(reward: Float32s, last: NDArray[np.bool_], gamma: float) -> NDArray[np.float32]:
    """The discounted return of every decision, float32 (T,), seat by seat."""
    return gae(reward, np.zeros(len(reward), np.float32), last, gamma, 1.0)


@dataclass(frozen=True)
class _Samples:
    """Decisions as tensors on the learner's device."""

    player: Tensor
    text: Tensor
    candidates: Tensor
    mask: Tensor
    action: Tensor

    def rows(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The network's input for some of the decisions."""
        return self.player[index], self.text[index], self.candidates[index], self.mask[index]


class Learner:
    """A network and its optimiser; see the module. The same seed, settings and decisions give the same
    numbers.

    device: "cpu", "cuda", or "auto" for the best available.
    """

    def __init__(self, config: NetworkConfig, ppo: PPO, seed: int = 0, device: str = "auto") -> None:
        import torch

        self.config, self.ppo, self.seed = config, ppo, seed
        self.device = torch.device(usable_device(device))
        self.network: Any = build_network(config, seed).to(self.device)
        self.optimiser = self._adam(ppo.learning_rate)
        self.returns = ReturnMoments()

    def _adam(self, rate: float) -> torch.optim.Adam:
        import torch

        return torch.optim.Adam(
            self.network.parameters(),
            lr=rate,
            eps=self.ppo.adam_epsilon,
            weight_decay=self.ppo.weight_decay,
        )

    def arrays(self) -> dict[str, Float32s]:
        """The network's parameters as numpy arrays."""
        return to_arrays(self.network)

    def begin(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Start from a policy's parameters, with the normalisation of its critic."""
        import torch

        self.network.load_state_dict({name: torch.from_numpy(np.array(a)) for name, a in arrays.items()})
        mean, scale = float(arrays["value_mean"]), float(arrays["value_scale"])
        self.returns = ReturnMoments(1.0, mean, scale**2)

    # -- behaviour cloning --------------------------------------------------------------------

    def clone(self, decisions: Decisions, cloning: Cloning) -> TrainLog:
        """Make the taken actions the likeliest; the critic learns the returns of these games too."""
        import torch
        from torch.nn.functional import cross_entropy, huber_loss

        optimiser = self._adam(cloning.learning_rate)
        samples = self._samples(decisions)
        returns = self._normalised(returns_of(decisions.reward, decisions.last, self.ppo.gamma))
        open_ = samples.mask.sum(1) > 1
        total = agreed = count = 0.0
        for epoch in range(cloning.epochs):
            total = agreed = count = 0.0
            for index in self._parts(len(returns), cloning.batch, f"clone {epoch}"):
                logits, value = self.network(*samples.rows(index))
                action, free = samples.action[index], open_[index]
                loss = cross_entropy(logits[free], action[free]) if bool(free.any()) else value.sum() * 0
                error = huber_loss(value, returns[index], delta=self.ppo.huber)
                optimiser.zero_grad()
                (loss + self.ppo.value * error).backward()
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.ppo.max_grad_norm)
                optimiser.step()
                n = float(free.sum())
                total, count = total + float(loss.detach()) * n, count + n
                agreed += float((logits[free].argmax(1) == action[free]).sum())
        return {"cloning/loss": total / max(count, 1), "cloning/agreement": agreed / max(count, 1)}

    # -- PPO ----------------------------------------------------------------------------------

    def improve(self, decisions: Decisions, update: int, updates: int) -> TrainLog:
        """Update number `update` (from 1) of `updates`, from the decisions of one rollout."""
        import torch

        ppo, count = self.ppo, len(decisions.action)
        done = (update - 1) / updates
        for group in self.optimiser.param_groups:
            group["lr"] = ppo.learning_rate * (1 - done if ppo.decay else 1)
        last = ppo.entropy if ppo.final_entropy is None else ppo.final_entropy
        bonus = ppo.entropy + (last - ppo.entropy) * done
        advantages = gae(decisions.reward, decisions.value, decisions.last, ppo.gamma, ppo.lam)
        returns = advantages + decisions.value
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-5)
        samples = self._samples(decisions)
        first, raw = not self.returns.count, self.returns.normalise(decisions.value)
        target = self._normalised(returns)
        before = self._to(raw if first else self.returns.normalise(decisions.value))
        old_log_p, advantage = self._to(decisions.log_p), self._to(advantages)
        logs: list[TrainLog] = []
        size, epochs = -(-count // ppo.minibatches), 0
        for epoch in range(ppo.epochs):
            made: list[TrainLog] = []
            for index in self._parts(count, size, f"update {update}, epoch {epoch}"):
                loss, log = self._loss(samples, index, old_log_p, advantage, target, before, bonus)
                self.optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), ppo.max_grad_norm)
                self.optimiser.step()
                made.append(log | {"ppo/gradient": float(norm)})
            logs += made
            epochs = epoch + 1
            if ppo.stop_kl is not None and np.mean([log["ppo/kl"] for log in made]) > ppo.stop_kl:
                break
        means = {name: float(np.mean([log[name] for log in logs])) for name in logs[0]}
        means["ppo/kl"] = float(np.mean([log["ppo/kl"] for log in logs[-ppo.minibatches :]]))
        means |= self._entropies(samples, decisions.kind)
        return means | {
            "ppo/epochs": float(epochs),
            "value/explained": explained_variance(decisions.value, returns),
            "value/mean": float(returns.mean()),
            "decisions": float(count),
        }

    def _loss(
        self,
        samples: _Samples,
        index: Tensor,
        old_log_p: Tensor,
        advantage: Tensor,
        target: Tensor,
        before: Tensor,
        bonus: float,
    ) -> tuple[Tensor, TrainLog]:
        """The loss of one minibatch. bonus: entropy's coefficient. Decisions without a choice count for the
        critic alone.
        """
        import torch
        from torch.nn.functional import huber_loss

        ppo = self.ppo
        logits, value = self.network(*samples.rows(index))
        free = samples.mask[index].sum(1) > 1
        n = free.sum().clamp(min=1)
        log_p = logits.log_softmax(1)
        step = log_p.gather(1, samples.action[index][:, None])[:, 0] - old_log_p[index]
        ratio = step.exp()
        gain = torch.minimum(
            ratio * advantage[index], ratio.clamp(1 - ppo.clip, 1 + ppo.clip) * advantage[index]
        )
        policy = -(gain * free).sum() / n
        entropy = (entropies(log_p) * free).sum() / n
        near = before[index] + (value - before[index]).clamp(-ppo.clip, ppo.clip)
        error = torch.maximum(
            huber_loss(value, target[index], delta=ppo.huber, reduction="none"),
            huber_loss(near, target[index], delta=ppo.huber, reduction="none"),
        ).mean()
        with torch.no_grad():
            clipped = (((ratio - 1).abs() > ppo.clip) & free).sum() / n
            kl = (((ratio - 1) - step) * free).sum() / n
        log = {
            "loss/policy": float(policy.detach()),
            "loss/value": float(error.detach()),
            "loss/entropy": float(entropy.detach()),
            "ppo/clipped": float(clipped),
            "ppo/kl": float(kl),
        }
        return policy - bonus * entropy + ppo.value * error, log

    def _entropies(self, samples: _Samples, kind: NDArray[np.int8]) -> TrainLog:
        """Mean entropy by kind of decision, with the present network."""
        import torch

        parts: list[Tensor] = []
        with torch.no_grad():
            for index in _split(torch.arange(len(kind), device=self.device), 4096):
                logits, _ = self.network(*samples.rows(index))
                parts.append(entropies(logits.log_softmax(1)))
        each = torch.cat(parts).cpu().numpy()
        free = (samples.mask.sum(1) > 1).cpu().numpy()
        chosen = {name: free & (kind == number) for number, name in enumerate(KINDS)}
        return {f"entropy/{name}": float(each[rows].mean()) for name, rows in chosen.items() if rows.any()}

    # -- arrays and tensors -------------------------------------------------------------------

    def _to(self, array: np.ndarray) -> Tensor:
        import torch

        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _samples(self, decisions: Decisions) -> _Samples:
        action = decisions.action.astype(np.int64)
        text, candidates = self._to(decisions.text).float(), self._to(decisions.candidates).float()
        player, mask = self._to(decisions.player), self._to(decisions.mask)
        return _Samples(player, text, candidates, mask, self._to(action))

    def _normalised(self, returns: NDArray[np.float32]) -> Tensor:
        """Normalised returns. The normalisation is updated with them first.

        The critic's values in points stay the same. Before its first returns they have no meaning; then its
        output is not adapted, so that its values start near the mean of the returns.
        """
        import torch

        mean, scale, fresh = self.returns.mean, self.returns.scale, not self.returns.count
        self.returns.add(returns)
        if not fresh:
            self._keep_values(mean, scale)
        self.network.value_mean.copy_(torch.tensor(self.returns.mean))
        self.network.value_scale.copy_(torch.tensor(self.returns.scale))
        return self._to(self.returns.normalise(returns))

    def _keep_values(self, mean: float, scale: float) -> None:
        """Adapt the critic's last layer so that its values in points do not change (PopArt)."""
        import torch

        last, now = self.network.critic[1], self.returns
        with torch.no_grad():
            last.weight.mul_(scale / now.scale)
            last.bias.mul_(scale).add_(mean - now.mean).div_(now.scale)

    def _parts(self, count: int, size: int, purpose: str) -> list[Tensor]:
        """A permutation of range(count) in parts of `size`, drawn by seed and purpose."""
        import torch

        order = np.random.default_rng([self.seed, *purpose.encode()]).permutation(count)
        return _split(torch.from_numpy(order).to(self.device), size)

    # -- resuming -----------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Everything that the next update depends on, except its decisions, as arrays by name."""
        arrays: dict[str, np.ndarray] = {f"network.{name}": array for name, array in self.arrays().items()}
        names = [name for name, _ in self.network.named_parameters()]
        for number, kept in self.optimiser.state_dict()["state"].items():
            for part, tensor in kept.items():
                arrays[f"adam.{names[number]}.{part}"] = tensor.detach().cpu().numpy().copy()
        return arrays | {"returns": np.array(astuple(self.returns), np.float64)}

    def resume(self, state: Mapping[str, np.ndarray]) -> None:
        """Resume from a `state` of a learner with the same settings; ModelError if it does not fit."""
        import torch

        network = {name[8:]: array for name, array in state.items() if name.startswith("network.")}
        adam: dict[int, dict[str, Any]] = {}
        try:
            self.network.load_state_dict({name: torch.from_numpy(np.array(a)) for name, a in network.items()})
            for number, (name, _) in enumerate(self.network.named_parameters()):
                kept = {w: state.get(f"adam.{name}.{w}") for w in ("step", "exp_avg", "exp_avg_sq")}
                if any(array is not None for array in kept.values()):
                    adam[number] = {w: torch.from_numpy(np.array(array)) for w, array in kept.items()}
            restored = self.optimiser.state_dict() | {"state": adam}
            self.optimiser.load_state_dict(restored)
            self.returns = ReturnMoments(*(float(value) for value in state["returns"]))
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise ModelError(f"the learner's state does not fit its settings ({error}); start anew") from None


@dataclass
class ReturnMoments:
    """Count, mean and sum of squared deviations of all returns so far, which normalise the critic's
    values.
    """

    count: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def scale(self) -> float:
        """The standard deviation; 1 without returns."""
        return float(np.sqrt(max(self.squares / self.count, 1e-2))) if self.count else 1.0

    def add(self, values: np.ndarray) -> None:
        """Add values (Chan et al.'s update)."""
        wide = values.astype(np.float64)
        count, mean = len(wide), float(wide.mean())
        apart, total = mean - self.mean, self.count + count
        self.squares += float(((wide - mean) ** 2).sum()) + apart**2 * self.count * count / total
        self.mean += apart * count / total
        self.count = total

    def normalise(self, values: np.ndarray) -> NDArray[np.float32]:
        """Values minus the mean, divided by the scale."""
        return ((values - self.mean) / self.scale).astype(np.float32)


def _split(index: Tensor, size: int) -> list[Tensor]:
    return list(index.split(size))  # type: ignore[no-untyped-call]


def entropies(log_p: Tensor) -> Tensor:
    """The entropy of each row of log probabilities, in nats; −∞ counts 0."""
    return -(log_p.exp() * log_p.masked_fill(log_p.isinf(), 0.0)).sum(1)


def explained_variance(value: Float32s, returns: NDArray[np.float32]) -> float:
    """value/explained of the module; 0 if all returns are equal."""
    spread = float(returns.var())
    return 1 - float((returns - value).var()) / spread if spread else 0.0


def usable_device(device: str) -> str:
    """The torch device of that name; "auto" is the best available. ModelError if it cannot be used."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelError(
            f"device {device}: this PyTorch cannot use it ({reason}); use cpu, or auto"
        ) from None
    return device
