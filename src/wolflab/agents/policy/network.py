"""The policy network of 004 D.1 in numpy: candidates in, a probability for each and a value out.

    player vector ── MLP encoder ──┐
    observation's embedding ─ W_t ─┼─ residual self-attention ─┬─ mean of player and text = state ─ critic
    candidates' embeddings ── W_c ─┘   (no positions)          └─ candidates' outputs · state / √width → π

The module knows shapes and numbers, and no games. `wolflab.policy.network` is the same network in torch, with
the same names of parameters; the two agree to 1e-5.

The paper leaves some points open. They are decided here:

- The encoder's hidden layers are linear, LayerNorm, ReLU; its last layer is linear alone.
- Embeddings have length 1; they are scaled by √D, so that an entry is about 1 for any D. With D = width they
  are tokens themselves, as in the paper; otherwise observation and candidates each have a linear map.
- Attention normalises its input, not its residual (pre-LN), and one LayerNorm follows it.
- The critic has one hidden layer with ReLU. Its values are normalised as in training; `value_mean` and
  `value_scale` convert them to units of reward.

A second kind, `LinearNetwork`, has weights of a candidate's embedding alone. Policies that are learned from
recorded games are of this kind (`wolflab.policy.offline`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from .features import CONTEXTS, Batch, contexts, features_length
from .policy import Float32s

EPSILON = 1e-5
"""The term that LayerNorm adds to a variance (torch's default)."""
LARGEST, DEEPEST = 1 << 16, 64
"""Upper bounds of a network's sizes and of its numbers of layers."""
APART = 256
"""The largest width at which decisions of a batch are computed separately."""


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """The shape of a network.

    name: its name in reports. dimensions: D, of the text embeddings. capacity: P, the number of seats. width:
    of tokens and attention. heads: of attention; they share the width. layers: of attention. mlp_layers,
    mlp_width: of the player vector's encoder.
    """

    name: str
    dimensions: int
    capacity: int = 8
    width: int = 96
    heads: int = 4
    layers: int = 1
    mlp_layers: int = 3
    mlp_width: int = 96

    def __post_init__(self) -> None:
        for name in ("dimensions", "capacity", "width", "heads", "layers", "mlp_layers", "mlp_width"):
            _check_size(self, name)
        if self.width % self.heads:
            raise ModelError(
                f"network {self.name!r}: a width of {self.width} cannot be shared by {self.heads} heads; "
                f"use a width that is a multiple of heads"
            )

    @property
    def projects(self) -> bool:
        """Whether embeddings need a linear map to become tokens."""
        return self.dimensions != self.width

    @property
    def values(self) -> int:
        """V, the length of its player vector."""
        return features_length(self.capacity)


@dataclass(frozen=True, slots=True)
class LinearConfig:
    """The shape of a linear network; its fields are those of `NetworkConfig`. kind: it marks the shape in a
    file; others have none.
    """

    name: str
    dimensions: int
    capacity: int
    kind: Literal["linear"] = "linear"

    def __post_init__(self) -> None:
        for name in ("dimensions", "capacity"):
            _check_size(self, name)


AnyConfig = NetworkConfig | LinearConfig


def _check_size(config: AnyConfig, name: str) -> None:
    value, most = getattr(config, name), DEEPEST if name.endswith("layers") else LARGEST
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ModelError(
            f"network {config.name!r}, {name}: got {value!r}; use a whole number from 1 to {most}"
        )


def small(dimensions: int, **changes: int) -> NetworkConfig:
    """The network of the shipped policies, fast on any processor."""
    return NetworkConfig(**({"name": "small", "dimensions": dimensions} | changes))  # type: ignore[arg-type]


def paper(dimensions: int, **changes: int) -> NetworkConfig:
    """The network of 004 Table 4: 12 heads of 128, an encoder of 1536."""
    sizes = {"dimensions": dimensions, "width": 1536, "heads": 12, "mlp_width": 1536}
    return NetworkConfig(**({"name": "paper"} | sizes | changes))  # type: ignore[arg-type]


NETWORKS = {"small": small, "paper": paper}
"""Configurations by name: functions of the embedder's dimensions and of changed sizes."""


def shapes(config: AnyConfig) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter by its name; weights are (out, in), as in torch."""
    if isinstance(config, LinearConfig):
        return {"weights": (CONTEXTS, config.dimensions), "value_mean": ()}
    width = config.width
    by_name: dict[str, tuple[int, ...]] = {}

    def linear(name: str, inputs: int, outputs: int) -> None:
        by_name[f"{name}.weight"], by_name[f"{name}.bias"] = (outputs, inputs), (outputs,)

    def norm(name: str, size: int) -> None:
        by_name[f"{name}.weight"] = by_name[f"{name}.bias"] = (size,)

    sizes = [config.values, *[config.mlp_width] * (config.mlp_layers - 1), width]
    for number, (inputs, outputs) in enumerate(pairwise(sizes)):
        linear(f"encoder.{number}", inputs, outputs)
    for number in range(config.mlp_layers - 1):
        norm(f"encoder_norms.{number}", config.mlp_width)
    if config.projects:
        linear("text", config.dimensions, width)
        linear("candidate", config.dimensions, width)
    for layer in range(config.layers):
        norm(f"attention.{layer}.norm", width)
        for part in ("query", "key", "value", "out"):
            linear(f"attention.{layer}.{part}", width, width)
    norm("norm", width)
    linear("critic.0", width, width)
    linear("critic.1", width, 1)
    by_name["value_mean"] = by_name["value_scale"] = ()
    return by_name


class Output(NamedTuple):
    """The output for a batch. logits: float32 (B, N), −∞ for padding. value: float32 (B,), normalised as in
    training.
    """

    logits: Float32s
    value: Float32s


class LinearNetwork:
    """A linear network: a candidate's logit is its embedding · the weights of the decision's context (see
    `features.contexts`). The value is always `value_mean`.
    """

    value_scale = 1.0

    def __init__(self, config: LinearConfig, arrays: Mapping[str, Float32s]) -> None:
        check_arrays(config, arrays)
        self._weights = np.ascontiguousarray(arrays["weights"], np.float32)
        self.value_mean = float(arrays["value_mean"])

    def forward(self, batch: Batch) -> Output:
        """Logits and values of a batch; each decision has the same bits in any batch."""
        dots = np.einsum("bnd,bd->bn", batch.candidates, self._weights[contexts(batch.player)])
        logits = np.where(batch.mask, dots, np.float32(-np.inf))
        return Output(logits, np.zeros(len(logits), np.float32))


class Network:
    """A network with its parameters. `forward` is pure.

    Up to the width `APART`, each decision of a batch is computed separately, so that its bits do not depend
    on the rest of the batch (with equal N). In wider networks all are computed together, which is far faster
    and equal up to rounding.
    """

    def __init__(self, config: NetworkConfig, arrays: Mapping[str, Float32s]) -> None:
        check_arrays(config, arrays)
        self.config = config
        self._linear = {
            name.removesuffix(".weight"): (
                np.ascontiguousarray(array.T, np.float32),
                np.asarray(arrays[name.removesuffix("weight") + "bias"], np.float32),
            )
            for name, array in arrays.items()
            if name.endswith(".weight")
        }
        self.value_mean = float(arrays["value_mean"])
        self.value_scale = float(arrays["value_scale"])

    def forward(self, batch: Batch, apart: bool | None = None) -> Output:
        """Logits and values of a batch laid out for this network. apart: see the class; None goes by the
        width.
        """
        width = self.config.width
        apart = width <= APART if apart is None else apart
        x = self._tokens(batch, apart)
        seen = np.concatenate([np.ones((len(x), 2), np.bool_), batch.mask], axis=1)
        for layer in range(self.config.layers):
            x = x + self._attend(f"attention.{layer}", x, seen, apart)
        x = self._norm("norm", x)
        state = (x[:, 0] + x[:, 1]) * np.float32(0.5)
        dots = np.einsum("bnw,bw->bn", x[:, 2:], state) * np.float32(1 / sqrt(width))
        logits = np.where(batch.mask, dots, np.float32(-np.inf))
        hidden = np.maximum(self._map("critic.0", state[:, None], apart), 0)
        value = self._map("critic.1", hidden, apart)[:, 0, 0]
        return Output(logits, value)

    def _tokens(self, batch: Batch, apart: bool) -> Float32s:
        """(B, 2 + N, width): player, text, candidates."""
        x = batch.player[:, None]
        for number in range(self.config.mlp_layers - 1):
            x = np.maximum(self._norm(f"encoder_norms.{number}", self._map(f"encoder.{number}", x, apart)), 0)
        x = self._map(f"encoder.{self.config.mlp_layers - 1}", x, apart)
        unit = np.float32(sqrt(self.config.dimensions))
        text, candidates = batch.text[:, None] * unit, batch.candidates * unit
        if self.config.projects:
            text = self._map("text", text, apart)
            candidates = self._map("candidate", candidates, apart)
        return np.concatenate([x, text, candidates], axis=1)

    def _attend(self, name: str, x: Float32s, seen: NDArray[np.bool_], apart: bool) -> Float32s:
        """One layer of self-attention over the tokens that `seen` marks."""
        rows, tokens, width = x.shape
        heads, size = self.config.heads, width // self.config.heads
        normed = self._norm(f"{name}.norm", x)

        def split(part: str) -> Float32s:
            mapped = self._map(f"{name}.{part}", normed, apart)
            return mapped.reshape(rows, tokens, heads, size).transpose(0, 2, 1, 3)

        query, key, value = split("query"), split("key"), split("value")
        scores = query @ key.transpose(0, 1, 3, 2) * np.float32(1 / sqrt(size))
        scores = np.where(seen[:, None, None, :], scores, np.float32(-np.inf))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(rows, tokens, width)
        return self._map(f"{name}.out", np.ascontiguousarray(mixed), apart)

    def _map(self, name: str, x: Float32s, apart: bool) -> Float32s:
        """A linear layer on (B, T, in). numpy multiplies a stack of matrices one by one: that is `apart`."""
        weight, bias = self._linear[name]
        if apart:
            return x @ weight + bias
        rows, tokens, inputs = x.shape
        return (x.reshape(rows * tokens, inputs) @ weight).reshape(rows, tokens, -1) + bias

    def _norm(self, name: str, x: Float32s) -> Float32s:
        weight, bias = self._linear[name]
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = np.einsum("...w,...w->...", centred, centred)[..., None] * np.float32(1 / x.shape[-1])
        normed: Float32s = centred / np.sqrt(variance + np.float32(EPSILON)) * weight + bias
        return normed


def network_of(config: AnyConfig, arrays: Mapping[str, Float32s]) -> Network | LinearNetwork:
    """The network of this shape; ModelError for arrays that do not fit it."""
    if isinstance(config, LinearConfig):
        return LinearNetwork(config, arrays)
    return Network(config, arrays)


def check_arrays(config: AnyConfig, arrays: Mapping[str, Float32s]) -> None:
    """Raise ModelError unless `arrays` are the parameters of such a network, all finite."""
    wanted = shapes(config)
    missing = sorted(wanted.keys() - arrays.keys())
    strange = sorted(arrays.keys() - wanted.keys())
    if missing or strange:
        problem = f"lacks {missing[0]!r}" if missing else f"has {strange[0]!r}, which it should not"
        raise ModelError(f"a network {config.name!r} of these sizes {problem}")
    for name, shape in wanted.items():
        if arrays[name].shape != shape:
            raise ModelError(
                f"a network {config.name!r} of these sizes has {name!r} of shape {shape}, "
                f"not {arrays[name].shape}"
            )
        if arrays[name].dtype.kind != "f" or not np.isfinite(arrays[name]).all():
            raise ModelError(f"{name!r} of a network {config.name!r} holds something that is no number")


def probabilities(logits: Float32s) -> NDArray[np.float64]:
    """π of each candidate, float64 (B, N); 0 for padding."""
    wide = logits.astype(np.float64)
    powers: NDArray[np.float64] = np.exp(wide - wide.max(axis=-1, keepdims=True))
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def initial(config: NetworkConfig, seed: int) -> dict[str, Float32s]:
    """Initial parameters: linear layers uniform within ±1/√inputs, LayerNorms 1 and 0, values not scaled.

    The last LayerNorm starts at width^−¼. For any width a logit is then about a cosine of state and
    candidate, so that an untrained network has nearly equal probabilities.
    """
    random = np.random.default_rng(seed)
    arrays: dict[str, Float32s] = {}
    for name, shape in shapes(config).items():
        if name == "norm.weight":
            array = np.full(shape, config.width**-0.25)
        elif "norm" in name:
            array = np.full(shape, float(name.endswith("weight")))
        elif not shape:
            array = np.array(float(name == "value_scale"))
        elif len(shape) == 2:
            array = random.uniform(-1, 1, shape) / sqrt(shape[1])
        else:
            array = random.uniform(-1, 1, shape) / sqrt(arrays[name[: -len("bias")] + "weight"].shape[1])
        arrays[name] = array.astype(np.float32)
    return arrays
