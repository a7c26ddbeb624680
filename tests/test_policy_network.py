"""The network in numpy is the network in torch, and the definition in 004 D.1; company changes nothing."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
import torch

from policy_helpers import batch, shaken
from wolflab.agents.policy.features import Batch
from wolflab.agents.policy.network import (
    NETWORKS,
    Network,
    NetworkConfig,
    initial,
    paper,
    probabilities,
    shapes,
    small,
)
from wolflab.agents.policy.policy import Float32s
from wolflab.errors import ModelError
from wolflab.policy.network import build_network, from_arrays, to_arrays

CONFIGS = {
    "small": small(48, width=32, mlp_width=24),
    "as shipped": small(512),
    "paper, smaller": paper(96, width=96, mlp_width=96),
    "paper, other embedder": paper(40, width=48, mlp_width=48),
    "two layers, deeper": small(16, width=12, heads=3, layers=2, mlp_layers=4, capacity=7),
    "one encoder layer": small(16, width=16, mlp_layers=1, heads=1),
}


def in_torch(config: NetworkConfig, arrays: dict[str, Float32s], given: Batch) -> tuple[Float32s, Float32s]:
    """Logits and values of the torch twin."""
    with torch.no_grad():
        logits, value = from_arrays(config, arrays)(*(torch.from_numpy(array) for array in given))
    return logits.numpy(), value.numpy()


def assert_alike(config: NetworkConfig, arrays: dict[str, Float32s], given: Batch) -> None:
    logits, value = in_torch(config, arrays, given)
    for apart in (True, False):
        found = Network(config, arrays).forward(given, apart)
        assert found.logits.dtype == found.value.dtype == np.float32
        np.testing.assert_array_equal(np.isneginf(found.logits), ~given.mask)
        np.testing.assert_allclose(found.logits[given.mask], logits[given.mask], atol=1e-5, rtol=1e-5)
        np.testing.assert_allclose(found.value, value, atol=1e-5, rtol=1e-5)
        np.testing.assert_allclose(probabilities(found.logits), probabilities(logits), atol=1e-5)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(("rows", "most"), [(1, 3), (17, 3), (5, 13)])
def test_numpy_is_torch(name: str, rows: int, most: int) -> None:
    config = CONFIGS[name]
    given = batch(np.random.default_rng(rows), config, rows, most)
    assert_alike(config, shaken(config, 1), given)


def test_numpy_is_torch_at_the_papers_full_size() -> None:
    config = paper(1536)
    arrays = initial(config, 0)
    assert sum(array.size for array in arrays.values()) > 15_000_000
    assert_alike(config, arrays, batch(np.random.default_rng(2), config, 2, 3))


def test_it_is_what_the_paper_draws() -> None:
    """One decision, token by token, from the definition: no batch, no padding, no shared code."""
    config = small(6, capacity=5, width=8, heads=2, mlp_width=4)
    arrays = {name: array.astype(np.float64) for name, array in shaken(config, 3).items()}
    given = batch(np.random.default_rng(4), config, 1, 2)
    given = Batch(given.player, given.text, np.concatenate([given.candidates] * 2, axis=1), given.mask)
    given = Batch(given.player, given.text, given.candidates[:, :2], np.array([[True, False]]))
    got = Network(config, shaken(config, 3)).forward(given)

    def linear(name: str, x: Float32s) -> Float32s:
        return arrays[f"{name}.weight"] @ x + arrays[f"{name}.bias"]

    def norm(name: str, x: Float32s) -> Float32s:
        scaled = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
        return scaled * arrays[f"{name}.weight"] + arrays[f"{name}.bias"]

    x = given.player[0].astype(np.float64)
    for layer in range(2):
        x = np.maximum(norm(f"encoder_norms.{layer}", linear(f"encoder.{layer}", x)), 0)
    tokens = [
        linear("encoder.2", x),
        linear("text", given.text[0] * sqrt(6)),
        linear("candidate", given.candidates[0, 0] * sqrt(6)),
    ]
    read = [norm("attention.0.norm", token) for token in tokens]
    outputs = []
    for mine, token in zip(read, tokens, strict=True):
        heads = []
        for head in (slice(0, 4), slice(4, 8)):
            query = linear("attention.0.query", mine)[head]
            scores = np.array([query @ linear("attention.0.key", one)[head] for one in read]) / sqrt(4)
            shares = np.exp(scores) / np.exp(scores).sum()
            values = np.array([linear("attention.0.value", one)[head] for one in read])
            heads.append(shares @ values)
        outputs.append(norm("norm", token + linear("attention.0.out", np.concatenate(heads))))
    state = (outputs[0] + outputs[1]) / 2
    assert got.logits[0, 0] == pytest.approx(outputs[2] @ state / sqrt(8), abs=1e-5)
    assert got.value[0] == pytest.approx(
        linear("critic.1", np.maximum(linear("critic.0", state), 0))[0], abs=1e-5
    )


# -- what must not matter -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["small", "as shipped"])
def test_a_decision_has_the_same_bits_in_any_company(name: str) -> None:
    config = CONFIGS[name]
    network = Network(config, shaken(config, 5))
    given = batch(np.random.default_rng(6), config, 40, 3)
    together = network.forward(given)
    for row in (0, 7, 39):
        alone = network.forward(Batch(*(array[row : row + 1] for array in given)))
        assert np.array_equal(alone.logits[0], together.logits[row])
        assert alone.value[0] == together.value[row]


def test_what_stands_in_the_padding_does_not_matter() -> None:
    config = CONFIGS["small"]
    network = Network(config, shaken(config, 7))
    given = batch(np.random.default_rng(8), config, 9, 4)
    litter = given.candidates + ~given.mask[..., None] * np.float32(5)
    littered = Batch(given.player, given.text, litter, given.mask)
    assert not np.array_equal(given.candidates, litter)
    for one, other in zip(network.forward(given), network.forward(littered), strict=True):
        assert np.array_equal(one, other)


def test_the_order_of_candidates_only_orders_the_answer() -> None:
    config = CONFIGS["small"]
    network = Network(config, shaken(config, 9))
    given = batch(np.random.default_rng(10), config, 6, 4)
    turn = [2, 0, 3, 1]
    turned = Batch(given.player, given.text, given.candidates[:, turn], given.mask[:, turn])
    one, other = network.forward(given), network.forward(turned)
    np.testing.assert_allclose(one.logits[:, turn], other.logits, atol=1e-5)
    np.testing.assert_allclose(one.value, other.value, atol=1e-5)


def test_everything_that_is_seen_matters() -> None:
    config = CONFIGS["small"]
    network = Network(config, shaken(config, 11))
    given = batch(np.random.default_rng(12), config, 4, 3)
    before = network.forward(given)
    for field in ("player", "text", "candidates"):
        changed = getattr(given, field).copy()
        changed[-1] = changed[-1][..., ::-1]
        after = network.forward(given._replace(**{field: changed}))
        assert not np.allclose(before.logits[-1], after.logits[-1], atol=1e-4), field
        assert abs(before.value[-1] - after.value[-1]) > 1e-4, field


# -- numbers to start from, and shapes ------------------------------------------------------


@pytest.mark.parametrize("config", [small(512), paper(512, width=768, heads=12, mlp_width=768)])
def test_an_untrained_network_hardly_prefers_anything(config: NetworkConfig) -> None:
    given = batch(np.random.default_rng(13), config, 32, 3)
    shares = probabilities(Network(config, initial(config, 0)).forward(given).logits)
    full = shares[given.mask.all(axis=1)]
    assert full.min() > 0.15
    assert full.max() < 0.6


def test_numbers_to_start_from_follow_the_seed() -> None:
    config = CONFIGS["small"]
    one, same, other = initial(config, 1), initial(config, 1), initial(config, 2)
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["text.weight"], other["text.weight"])


@pytest.mark.parametrize("name", CONFIGS)
def test_both_have_the_same_parameters(name: str) -> None:
    config = CONFIGS[name]
    arrays = to_arrays(build_network(config, seed=3))
    assert {key: array.shape for key, array in arrays.items()} == shapes(config)
    assert all(np.array_equal(arrays[key], initial(config, 3)[key]) for key in arrays)


def test_taking_numbers_out_of_torch_takes_a_copy() -> None:
    module = build_network(CONFIGS["small"])
    arrays = to_arrays(module)
    before = arrays["norm.weight"].copy()
    with torch.no_grad():
        module.get_parameter("norm.weight").add_(1)
    assert np.array_equal(arrays["norm.weight"], before)


def test_gradients_reach_every_parameter() -> None:
    config = CONFIGS["small"]
    module = build_network(config)
    given = batch(np.random.default_rng(14), config, 8, 3)
    logits, value = module(*(torch.from_numpy(array) for array in given))
    # The log-probability of the first candidate, which is always there, and the value.
    (torch.log_softmax(logits, dim=1)[:, 0].sum() + value.square().sum()).backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        # A key's bias adds the same to all scores of a query, which softmax does not see.
        assert parameter.grad.abs().max() > 0 or name.endswith("key.bias"), name


@pytest.mark.parametrize("name", NETWORKS)
def test_named_configurations(name: str) -> None:
    config = NETWORKS[name](1536)
    assert config.name == name
    assert config.capacity == 8
    assert config.projects == (name == "small")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"width": 10, "heads": 4}, "cannot be shared by 4 heads"),
        ({"layers": 0}, "layers: got 0"),
        ({"capacity": True}, "capacity: got True"),
        ({"width": 1 << 20}, "width: got 1048576"),
    ],
)
def test_shapes_that_cannot_be_are_refused(changes: dict[str, int], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        small(16, **changes)


def test_numbers_that_are_not_the_networks_are_refused() -> None:
    config = CONFIGS["small"]
    good = initial(config, 0)
    bad = {
        "lacks 'text.bias'": {name: array for name, array in good.items() if name != "text.bias"},
        "has 'more'": good | {"more": good["text.bias"]},
        "of shape": good | {"text.bias": good["text.bias"][:-1]},
        "no number": good | {"text.bias": good["text.bias"] * np.float32(np.nan)},
    }
    for said, arrays in bad.items():
        for make in (Network, from_arrays):
            with pytest.raises(ModelError, match=said):
                make(config, arrays)
