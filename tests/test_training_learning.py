"""The algorithm on arrays alone: advantages, cloning, PPO, and going on where it stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from policy_helpers import unit
from wolflab.agents.policy.features import features_length
from wolflab.agents.policy.network import NetworkConfig, small
from wolflab.errors import ModelError
from wolflab.policy.rollout import Decisions
from wolflab.policy.settings import PPO, Cloning
from wolflab.policy.train import Learner, ReturnMoments, entropies, explained_variance, gae, returns_of

CONFIG = small(16, width=16, mlp_width=16, heads=2)
CHOICES = 3


def decisions(count: int, seed: int = 0, config: NetworkConfig = CONFIG, **changes: Any) -> Decisions:
    """Decisions of one step each. The second candidate always looks the same; half of them take it."""
    rng = np.random.default_rng(seed)
    candidates = unit(rng, count, CHOICES, config.dimensions)
    candidates[:, 1] = unit(np.random.default_rng(99), config.dimensions)
    fields = {
        "player": rng.random((count, features_length(config.capacity)), dtype=np.float32),
        "text": unit(rng, count, config.dimensions).astype(np.float16),
        "candidates": candidates.astype(np.float16),
        "mask": np.ones((count, CHOICES), np.bool_),
        "action": rng.integers(0, 2, count).astype(np.int16),
        "log_p": np.full(count, -np.log(CHOICES), np.float32),
        "value": np.zeros(count, np.float32),
        "reward": np.zeros(count, np.float32),
        "last": np.ones(count, np.bool_),
        "kind": rng.integers(0, 3, count).astype(np.int8),
    }
    return Decisions(**fields | changes)


def learner(seed: int = 0, **ppo: Any) -> Learner:
    return Learner(CONFIG, PPO(**ppo), seed, "cpu")


def shares(one: Learner, data: Decisions) -> np.ndarray:
    """π of every decision."""
    with torch.no_grad():
        logits, _ = one.network(*one._samples(data).rows(torch.arange(len(data.action))))
        found: np.ndarray = logits.softmax(1).numpy()
    return found


def same(one: Learner, other: Learner) -> bool:
    a, b = one.state(), other.state()
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


# -- advantages ---------------------------------------------------------------------------------


def test_advantages_of_a_hand_made_episode() -> None:
    reward, value = np.array([1, 2, 4], np.float32), np.array([10, 20, 30], np.float32)
    last = np.array([False, False, True])
    third = 4 - 30
    second = 2 + 0.5 * 30 - 20 + 0.5 * 0.25 * third
    first = 1 + 0.5 * 20 - 10 + 0.5 * 0.25 * second
    np.testing.assert_allclose(gae(reward, value, last, 0.5, 0.25), [first, second, third])


def test_with_lambda_one_an_advantage_is_the_discounted_return_less_the_value() -> None:
    rng = np.random.default_rng(0)
    reward, value = (rng.normal(size=6).astype(np.float32) for _ in range(2))
    last = np.array([False] * 5 + [True])
    returns = [sum(0.9 ** (k - t) * reward[k] for k in range(t, 6)) for t in range(6)]
    np.testing.assert_allclose(gae(reward, value, last, 0.9, 1.0), np.array(returns) - value, rtol=1e-5)


def test_returns_are_discounted_by_gamma_alone() -> None:
    reward = np.array([0, 0, 100, 8, 1], np.float32)
    last = np.array([False, False, True, False, True])
    np.testing.assert_allclose(returns_of(reward, last, 0.9), [81, 90, 100, 8.9, 1], rtol=1e-6)


def test_cloning_without_a_choice_has_no_loss() -> None:
    mask = np.zeros((32, CHOICES), np.bool_)
    mask[:, 0] = True
    log = learner().clone(decisions(32, mask=mask, action=np.zeros(32, np.int16)), Cloning(epochs=1))
    assert log["cloning/loss"] == 0


def test_nothing_flows_from_one_seat_to_the_next() -> None:
    reward, value = np.array([1, 1, 50, 50], np.float32), np.array([0, 0, 7, 7], np.float32)
    last = np.array([False, True, False, True])
    both = gae(reward, value, last, 0.9, 0.9)
    np.testing.assert_array_equal(both[:2], gae(reward[:2], value[:2], last[:2], 0.9, 0.9))
    np.testing.assert_array_equal(both[2:], gae(reward[2:], value[2:], last[2:], 0.9, 0.9))


# -- numbers that are logged ----------------------------------------------------------------------


def test_entropies_leave_out_what_is_not_there() -> None:
    log_p = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]).log()
    np.testing.assert_allclose(entropies(log_p).numpy(), [np.log(2), 0], atol=1e-6)


def test_explained_variance() -> None:
    returns = np.array([1, -1, 3, -3], np.float32)
    assert explained_variance(returns, returns) == 1
    assert explained_variance(np.zeros(4, np.float32), returns) == 0
    assert explained_variance(-returns, returns) == -3
    assert explained_variance(returns, np.ones(4, np.float32)) == 0


def test_moments_in_parts_are_those_of_the_whole() -> None:
    values = np.random.default_rng(1).normal(30, 80, 1000).astype(np.float32)
    found = ReturnMoments()
    for part in np.array_split(values, [10, 400, 401]):
        found.add(part)
    assert found.count == 1000
    assert found.mean == pytest.approx(values.mean(dtype=np.float64))
    assert found.scale == pytest.approx(values.std(dtype=np.float64))


# -- learning -----------------------------------------------------------------------------------


def test_cloning_makes_the_action_taken_the_likeliest() -> None:
    data = decisions(256, action=np.ones(256, np.int16), reward=np.full(256, 40, np.float32))
    one = learner()
    first = one.clone(data, Cloning(epochs=1, batch=32))
    last = one.clone(data, Cloning(epochs=8, batch=32))
    assert last["cloning/agreement"] == 1
    assert last["cloning/loss"] < first["cloning/loss"] < np.log(CHOICES)
    assert (shares(one, decisions(64, seed=1)).argmax(1) == 1).all()


def test_ppo_comes_to_prefer_what_is_rewarded() -> None:
    one = learner(minibatches=4, learning_rate=2e-3)
    before = shares(one, decisions(64, seed=5))[:, 1].mean()
    for update in range(1, 6):
        data = decisions(256, seed=update)
        reward = np.where(data.action == 1, 100, -100).astype(np.float32)
        chosen = shares(one, data)[np.arange(256), data.action]
        log = one.improve(data._replace(reward=reward, log_p=np.log(chosen)), update, 5)
    assert shares(one, decisions(64, seed=5))[:, 1].mean() > max(0.6, before + 0.2)
    assert 0 < log["ppo/kl"] < 1
    assert 0 <= log["ppo/clipped"] <= 1
    assert log["decisions"] == 256


@pytest.mark.slow
def test_the_critic_learns_returns_in_points() -> None:
    one = learner()
    reward = np.full(128, 60, np.float32) + np.random.default_rng(0).normal(0, 5, 128).astype(np.float32)
    for update in range(1, 40):
        one.improve(decisions(128, seed=update, reward=reward), update, 40)
    with torch.no_grad():
        _, value = one.network(*one._samples(decisions(128, seed=50)).rows(torch.arange(128)))
    points = value * one.network.value_scale + one.network.value_mean
    assert float(points.mean()) == pytest.approx(60, abs=3)


def test_a_decision_without_a_choice_moves_no_probability() -> None:
    mask = np.zeros((64, CHOICES), np.bool_)
    mask[:, 0] = True
    forced = decisions(64, mask=mask, action=np.zeros(64, np.int16), log_p=np.zeros(64, np.float32))
    log = learner().improve(forced._replace(reward=np.full(64, 9, np.float32)), 1, 1)
    assert log["loss/policy"] == log["loss/entropy"] == log["ppo/kl"] == 0


def test_values_in_points_stay_when_their_normalisation_changes() -> None:
    one, data = learner(), decisions(64)
    one._normalised(np.array([5, -5], np.float32))

    def points() -> np.ndarray:
        with torch.no_grad():
            _, value = one.network(*one._samples(data).rows(torch.arange(64)))
        found: np.ndarray = (value * one.network.value_scale + one.network.value_mean).numpy()
        return found

    before = points()
    one._normalised(np.array([500, -300], np.float32))
    assert float(one.network.value_scale) > 100
    np.testing.assert_allclose(points(), before, rtol=1e-4, atol=1e-3)


def test_the_learning_rate_falls_in_a_line_where_it_is_asked_to() -> None:
    one = learner(decay=True, learning_rate=1e-3)
    one.improve(decisions(32), 3, 4)
    assert one.optimiser.param_groups[0]["lr"] == pytest.approx(0.5e-3)


def test_an_update_can_be_ended_by_how_far_the_policy_moved() -> None:
    data = decisions(64)
    data = data._replace(reward=np.where(data.action == 1, 1, -1).astype(np.float32))
    assert learner().improve(data, 1, 1)["ppo/epochs"] == 10
    assert learner(stop_kl=1e-9).improve(data, 1, 1)["ppo/epochs"] < 10


# -- the same again -----------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    made = [learner(seed) for seed in (1, 1, 2)]
    for one in made:
        one.clone(decisions(96), Cloning(epochs=1, batch=32))
        one.improve(decisions(96, seed=1), 1, 2)
    assert same(made[0], made[1])
    assert not same(made[0], made[2])


def test_a_learner_goes_on_exactly_from_its_state() -> None:
    whole, cut = learner(minibatches=2), learner(minibatches=2)
    for one in (whole, cut):
        one.improve(decisions(96, seed=1), 1, 2)
    other = learner(seed=0, minibatches=2)
    other.resume(cut.state())
    assert same(other, cut)
    for one in (whole, other):
        one.improve(decisions(96, seed=2), 2, 2)
    assert same(whole, other)


def test_a_state_of_another_network_is_refused() -> None:
    wide = Learner(small(16, width=32, mlp_width=16), PPO(), 0, "cpu")
    with pytest.raises(ModelError, match="does not fit its settings"):
        learner().resume(wide.state())
    with pytest.raises(ModelError, match="start anew"):
        learner().resume({})
