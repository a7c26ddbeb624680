"""The policy network in torch, for training.

It has the shapes and the names of parameters of `wolflab.agents.policy.network`, which explains each part;
the outputs agree to 1e-5. torch is imported when a network is built. The module does not know what is
learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..agents.policy.network import EPSILON, NetworkConfig, check_arrays, initial, shapes
from ..agents.policy.policy import Float32s

if TYPE_CHECKING:
    from torch import Tensor, nn


def build_network(config: NetworkConfig, seed: int = 0) -> nn.Module:
    """A network on the CPU with the initial parameters of `agents.policy.network.initial`.

    It takes the tensors (player, text, candidates, mask) as in `agents.policy.features.Batch`, and returns
    logits (B, N), −∞ where the mask is False, and normalised values (B,).
    """
    return from_arrays(config, initial(config, seed))


def from_arrays(config: NetworkConfig, arrays: Mapping[str, Float32s]) -> nn.Module:
    """The network with these parameters; ModelError if they do not fit the configuration."""
    import torch

    check_arrays(config, arrays)
    network: nn.Module = _network_class()(config)
    network.load_state_dict(
        {name: torch.from_numpy(np.array(arrays[name], np.float32)) for name in shapes(config)}
    )
    return network


def to_arrays(network: nn.Module) -> dict[str, Float32s]:
    """A network's parameters by name, as float32 copies on the CPU."""
    state = network.state_dict()
    return {name: tensor.detach().cpu().float().numpy().copy() for name, tensor in state.items()}


@cache
def _attention() -> Any:
    """The class of one layer, made once when torch is first needed."""
    import torch
    from torch import nn

    class Attention(nn.Module):
        """One layer of self-attention. The caller adds its output to its input."""

        def __init__(self, config: NetworkConfig) -> None:
            super().__init__()
            width = config.width
            self.heads, self.size = config.heads, width // config.heads
            self.norm = nn.LayerNorm(width, eps=EPSILON)
            self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
            self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

        def forward(self, x: Tensor, seen: Tensor) -> Tensor:
            rows, tokens, width = x.shape
            normed = self.norm(x)

            def split(mapped: Tensor) -> Tensor:
                return mapped.view(rows, tokens, self.heads, self.size).transpose(1, 2)

            query, key, value = split(self.query(normed)), split(self.key(normed)), split(self.value(normed))
            scores = query @ key.transpose(2, 3) / sqrt(self.size)
            scores = scores.masked_fill(~seen[:, None, None, :], -torch.inf).softmax(dim=-1)
            mixed: Tensor = self.out((scores @ value).transpose(1, 2).reshape(rows, tokens, width))
            return mixed

    return Attention


@cache
def _network_class() -> Any:
    """The class of the network, made once when torch is first needed."""
    import torch
    from torch import nn

    layer_of = _attention()

    class PolicyNetwork(nn.Module):
        """See the module."""

        value_mean: Tensor
        value_scale: Tensor

        def __init__(self, config: NetworkConfig) -> None:
            super().__init__()
            self.config = config
            hidden = [config.mlp_width] * (config.mlp_layers - 1)
            sizes = [config.values, *hidden, config.width]
            self.encoder = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
            self.encoder_norms = nn.ModuleList(nn.LayerNorm(size, eps=EPSILON) for size in hidden)
            if config.projects:
                self.text = nn.Linear(config.dimensions, config.width)
                self.candidate = nn.Linear(config.dimensions, config.width)
            self.attention = nn.ModuleList(layer_of(config) for _ in range(config.layers))
            self.norm = nn.LayerNorm(config.width, eps=EPSILON)
            self.critic = nn.ModuleList([nn.Linear(config.width, config.width), nn.Linear(config.width, 1)])
            self.register_buffer("value_mean", torch.zeros(()))
            self.register_buffer("value_scale", torch.ones(()))

        def forward(
            self, player: Tensor, text: Tensor, candidates: Tensor, mask: Tensor
        ) -> tuple[Tensor, Tensor]:
            x = player
            for layer, norm in zip(self.encoder, self.encoder_norms, strict=False):
                x = norm(layer(x)).relu()
            x = self.encoder[-1](x)
            unit = sqrt(self.config.dimensions)
            text, candidates = text * unit, candidates * unit
            if self.config.projects:
                text, candidates = self.text(text), self.candidate(candidates)
            x = torch.cat([x[:, None], text[:, None], candidates], dim=1)
            seen = torch.cat([torch.ones_like(mask[:, :1]).expand(-1, 2), mask], dim=1)
            for layer in self.attention:
                x = x + layer(x, seen)
            x = self.norm(x)
            state = (x[:, 0] + x[:, 1]) / 2
            dots = torch.einsum("bnw,bw->bn", x[:, 2:], state) / sqrt(self.config.width)
            value = self.critic[1](self.critic[0](state).relu())[:, 0]
            return dots.masked_fill(~mask, -torch.inf), value

    return PolicyNetwork
