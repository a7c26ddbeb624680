"""A policy's file: what is written is read; what does not fit, or is damaged, is refused with a sentence."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as packed

from policy_helpers import DIMENSIONS, checkpoint, observation, shaken
from wolflab.agents.policy.checkpoint import Checkpoint, NumpyPolicy, load_policy, save, shipped_policies
from wolflab.agents.policy.features import Batch
from wolflab.agents.policy.network import paper, probabilities
from wolflab.agents.policy.policy import Observation
from wolflab.errors import ModelError, StoreError
from wolflab.match import run_now
from wolflab.models.embedders import resolve_embedder
from wolflab.models.embedders.hashing import HashingEmbedder


def told(path: Path) -> tuple[dict[str, Any], bytes]:
    """A file's header, and the numbers after it."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def retold(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what a file says of itself, and leave its numbers."""
    header, numbers = told(path)
    inner = json.loads(header["__metadata__"]["wolflab"])
    change(inner)
    header["__metadata__"]["wolflab"] = json.dumps(inner)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A good file."""
    path = tmp_path / "good.safetensors"
    save(checkpoint(), path)
    return path


# -- round trips ----------------------------------------------------------------------------


def test_what_is_saved_is_loaded(file: Path) -> None:
    one, back = checkpoint(), load_policy(file)
    assert back.name == "good"
    for field in ("network", "embedder", "candidates", "source", "rules", "training"):
        assert getattr(back, field) == getattr(one, field), field
    assert all(np.array_equal(back.arrays[name], one.arrays[name]) for name in one.arrays)
    assert back.digest == one.digest
    assert load_policy(str(file)).digest == one.digest
    assert [path.name for path in file.parent.iterdir()] == ["good.safetensors"]


def test_half_a_file_holds_the_same_policy_to_three_digits(tmp_path: Path, file: Path) -> None:
    path = tmp_path / "half.safetensors"
    one = replace(checkpoint(), arrays=shaken(checkpoint().network, 1) | {"value_scale": np.float32(123456)})
    kept = save(one, path, half=True)
    back = load_policy(path)
    assert back.digest == kept.digest != one.digest
    assert back.arrays["value_scale"] == 123456
    assert path.stat().st_size < 0.6 * file.stat().st_size
    seen = observation(np.random.default_rng(0), 7, 3)
    whole, half = (NumpyPolicy(one_).weigh_many([seen])[0] for one_ in (one, back))
    np.testing.assert_allclose(whole.probabilities, half.probabilities, atol=5e-3)


def test_numbers_too_large_for_half_are_refused(tmp_path: Path) -> None:
    one = checkpoint()
    large = replace(one, arrays=dict(one.arrays) | {"norm.bias": one.arrays["norm.bias"] + np.float32(1e6)})
    save(large, tmp_path / "whole.safetensors")
    with pytest.raises(ModelError, match=r"'norm\.bias' has numbers too large for float16"):
        save(large, tmp_path / "half.safetensors", half=True)
    assert not (tmp_path / "half.safetensors").exists()


@pytest.mark.parametrize("back", [3, 4000])
def test_numbers_that_changed_on_the_disk_are_refused(tmp_path: Path, back: int) -> None:
    file = tmp_path / "policy.safetensors"
    save(checkpoint(), file)
    data = bytearray(file.read_bytes())
    data[-back] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelError, match=r"it is damaged: what it holds is not what was written"):
        load_policy(file)


def test_a_file_without_a_digest_is_of_an_earlier_version(tmp_path: Path) -> None:
    file = tmp_path / "policy.safetensors"
    one = checkpoint()
    file.write_bytes(packed(dict(one.arrays), metadata={"wolflab": one._metadata_text()}))
    with pytest.raises(ModelError, match="it holds no digest of itself, so an earlier Wolflab wrote it"):
        load_policy(file)


def test_what_is_told_may_be_worded_in_any_order(tmp_path: Path) -> None:
    save(checkpoint(training={10: "ten", 2: "two"}), tmp_path / "policy.safetensors")
    assert load_policy(tmp_path / "policy.safetensors").training == {"10": "ten", "2": "two"}


def test_vectors_of_another_length_than_the_network_reads_are_refused() -> None:
    with pytest.raises(ModelError, match=r"embedder's vectors have 7 numbers, and its network reads"):
        checkpoint(embedder={"name": "hashing", "dimensions": 7})


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "wall").write_text("")
    with pytest.raises(
        StoreError, match=r"wall.policy\.safetensors: .*wall is no folder, so nothing can lie in it"
    ):
        save(checkpoint(), tmp_path / "wall" / "policy.safetensors")


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match=r"policy\.safetensors: No space left on device; if the disk"):
        save(checkpoint(), tmp_path / "policy.safetensors")
    assert not list(tmp_path.iterdir())


def test_what_is_told_of_training_must_be_plain() -> None:
    for value in (float("nan"), object()):
        with pytest.raises(ModelError, match="plain, finite values"):
            _ = checkpoint(training={"loss": value}).digest


@pytest.mark.parametrize(
    "changes",
    [
        {"arrays": shaken(checkpoint().network, 9)},
        {"candidates": 4},
        {"source": "intents"},
        {"rules": "witch"},
        {"embedder": {"name": "other"}},
        {"training": {}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_the_digest_is_of_everything_but_the_name(changes: dict[str, Any]) -> None:
    one = checkpoint()
    assert replace(one, **changes).digest != one.digest == replace(one, name="other").digest


# -- what is refused ------------------------------------------------------------------------


def test_a_policy_serves_only_players_that_it_fits() -> None:
    one = checkpoint()
    mine = HashingEmbedder(DIMENSIONS)
    one.require(mine, 3, "model", 7)
    one.require(mine, 2, "model", 8)
    with pytest.raises(ModelError, match="made with another 'hashing'"):
        one.require(HashingEmbedder(64), 3, "model", 7)
    with pytest.raises(ModelError, match="'hashing', and 'minilm' was given"):
        one.require(resolve_embedder("minilm"), 3, "model", 7)
    with pytest.raises(ModelError, match=r"weigh 3 candidates, and this player has up to 5"):
        one.require(mine, 5, "model", 7)
    with pytest.raises(ModelError, match="use it with the recipe strategic"):
        one.require(mine, 3, "intents", 7)
    with pytest.raises(ModelError, match="room for 8 players, and the table has 9"):
        one.require(mine, 3, "model", 9)


def test_unknown_names_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no policy 'nothing'"):
        load_policy("nothing")
    for path in (tmp_path / "none.safetensors", tmp_path):
        with pytest.raises(ModelError, match="there is no such file"):
            load_policy(path)


def test_shipped_policies_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wolflab.agents.policy.checkpoint._folder", lambda: tmp_path)
    assert shipped_policies() == ()
    save(checkpoint(), tmp_path / "one.safetensors")
    assert shipped_policies() == ("one",)
    assert load_policy("one").digest == checkpoint().digest
    with pytest.raises(ModelError, match="there is no policy 'two': use one of one, or the path"):
        load_policy("two")


@pytest.mark.parametrize("name", shipped_policies())
def test_shipped_policies_load(name: str) -> None:
    one = load_policy(name)
    assert one.name == name
    assert one.training


BESIDE = sorted((Path(__file__).parent.parent / "policies").glob("*.safetensors"))
"""The repository's further policies."""


@pytest.mark.parametrize("file", BESIDE, ids=lambda file: file.stem)
def test_the_repositorys_further_policies_load_by_path_and_are_like_those_that_ship(file: Path) -> None:
    one, like = load_policy(file), load_policy(re.sub(r"-(\d|cloned)$", "", file.stem))
    assert (one.network, one.embedder, one.candidates) == (like.network, like.embedder, like.candidates)
    assert one.digest != like.digest


def test_what_the_package_does_not_hold_is_said_to_lie_in_the_repository() -> None:
    assert len(BESIDE) == 12
    assert not {file.stem for file in BESIDE} & set(shipped_policies())
    told = r"they lie in the folder policies of Wolflab's repository$"
    with pytest.raises(ModelError, match=rf"there is no policy 'small-2': use one of .*small, .*{told}"):
        load_policy("small-2")
    with pytest.raises(
        ModelError, match=r"no such file; .*lies in the folder policies of Wolflab's repository$"
    ):
        load_policy("nowhere/policies/small-2.safetensors")


def pickled(good: bytes) -> bytes:
    return pickle.dumps({"weights": [1.0]})


def foreign(good: bytes) -> bytes:
    return bytes(packed({"weights": np.zeros(3, np.float32)}))


def doubles(good: bytes) -> bytes:
    one = checkpoint()
    arrays = {name: array.astype(np.float64) for name, array in one.arrays.items()}
    header = json.loads(good[8 : 8 + struct.unpack("<Q", good[:8])[0]])
    return bytes(packed(arrays, metadata=header["__metadata__"]))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda good: b"", "damaged, or no safetensors file"),
        (lambda good: good[:-100], "damaged, or no safetensors file"),
        (lambda good: good[:20], "damaged, or no safetensors file"),
        (lambda good: b"\xff" * 8 + good[8:], "damaged, or no safetensors file"),
        (pickled, "damaged, or no safetensors file"),
        (foreign, "somebody else's"),
        (doubles, "numbers of type F64"),
    ],
    ids=["empty", "cut", "header cut", "header's length", "pickle", "foreign", "doubles"],
)
def test_damaged_and_foreign_files(file: Path, damage: Callable[[bytes], bytes], said: str) -> None:
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ModelError, match=said) as caught:
        load_policy(file)
    assert str(file) in str(caught.value)


def _drop(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda inner: inner.pop(name)


def _set(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda inner: inner.update(changes)


def _network(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda inner: inner["network"].update(changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set(format=2), "its format is 2, and this version reads format 1"),
        (_drop("format"), "its format is None"),
        (_drop("embedder"), "missing required field `embedder`"),
        (_set(source="nobody"), "wrong: Invalid enum value"),
        (_set(candidates="3"), "wrong: Expected `int`"),
        (_set(candidates=0), "trained with 0 candidates"),
        (_set(surplus=1), "unknown field `surplus`"),
        (_network(heads=3), "cannot be shared by 3 heads"),
        (_network(width=64), "of shape"),
        (_network(layers=2), "lacks 'attention"),
        (_network(dimensions=16), "has 'candidate.bias'"),
        (_network(capacity=1 << 15), "of shape"),
        (_network(layers=1 << 15), "layers: got 32768; use a whole number from 1 to 64"),
    ],
)
def test_a_file_that_says_what_is_not_so(
    file: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    retold(file, change)
    with pytest.raises(ModelError, match=said):
        load_policy(file)


def test_numbers_that_are_none(tmp_path: Path, file: Path) -> None:
    header, numbers = told(file)
    begin, _ = header["norm.bias"]["data_offsets"]
    start = file.stat().st_size - len(numbers) + begin
    data = bytearray(file.read_bytes())
    data[start : start + 4] = struct.pack("<f", float("nan"))
    file.write_bytes(data)
    with pytest.raises(ModelError, match=r"'norm\.bias' .* no number"):
        load_policy(file)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_is_a_sentence_or_a_policy(file: Path, data: Any) -> None:
    """Bytes changed anywhere: read as some policy (a number may be another number), or refused."""
    good = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        limit = len(good) - 1 if data.draw(st.booleans()) else 2000
        good[data.draw(st.integers(0, limit))] = data.draw(st.integers(0, 255))
    spoiled = file.with_name("spoiled.safetensors")
    spoiled.write_bytes(good)
    found: Checkpoint | str
    try:
        found = load_policy(spoiled)
    except ModelError as error:
        found = str(error)
    assert isinstance(found, Checkpoint) or str(spoiled) in found


# -- at work --------------------------------------------------------------------------------


def test_weights_are_probabilities_and_a_value_in_units_of_reward() -> None:
    one = checkpoint()
    arrays = dict(one.arrays) | {"value_mean": np.float32(10), "value_scale": np.float32(50)}
    policy, plain = (
        NumpyPolicy(replace(one, arrays=arrays)),
        NumpyPolicy(
            replace(
                one, arrays=dict(one.arrays) | {"value_mean": np.float32(0), "value_scale": np.float32(1)}
            )
        ),
    )
    seen = observation(np.random.default_rng(1), 7, 2)
    weights = run_now(policy.weigh(seen))
    assert asyncio.run(policy.weigh(seen)).value == weights.value
    assert policy.instant
    assert weights.probabilities.dtype == np.float64
    assert weights.probabilities.shape == (2,)
    assert weights.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert weights.value == pytest.approx(10 + 50 * run_now(plain.weigh(seen)).value)


def test_many_at_once_are_weighed_as_each_alone() -> None:
    policy = NumpyPolicy(checkpoint())
    rng = np.random.default_rng(2)
    seen = [observation(rng, 5 + n % 4, 1 + n % 3) for n in range(24)]
    together = policy.weigh_many(seen)
    for one, found in zip(seen, together, strict=True):
        alone = run_now(policy.weigh(one))
        assert np.array_equal(alone.probabilities, found.probabilities)
        assert alone.value == found.value
    assert policy.weigh_many([]) == []


def test_a_wide_network_weighs_many_as_each_alone_up_to_rounding() -> None:
    config = paper(DIMENSIONS, width=288, heads=12, mlp_width=288)
    policy = NumpyPolicy(checkpoint(network=config))
    rng = np.random.default_rng(3)
    seen = [observation(rng, 7, 1 + n % 3) for n in range(8)]
    for one, found in zip(seen, policy.weigh_many(seen), strict=True):
        alone = run_now(policy.weigh(one))
        np.testing.assert_allclose(alone.probabilities, found.probabilities, atol=1e-5)
        assert alone.value == pytest.approx(found.value, abs=1e-3)


def test_a_policy_whose_numbers_overflow_is_told() -> None:
    whole = checkpoint()
    huge = replace(whole, arrays={name: array * np.float32(1e30) for name, array in whole.arrays.items()})
    with pytest.raises(ModelError, match="its numbers overflow"):
        NumpyPolicy(huge).weigh_many([observation(np.random.default_rng(4), 7, 3)])


def test_a_batch_gives_shares_and_values() -> None:
    policy = NumpyPolicy(checkpoint())
    rng = np.random.default_rng(4)
    seen = [observation(rng, 7, 3), observation(rng, 6, 3)]
    batch: Batch = policy.lay_out(seen)
    shares, values = policy.weigh_batch(batch)
    assert np.array_equal(shares[0], policy.weigh_many(seen)[0].probabilities)
    assert shares.shape == (2, 3)
    assert values.shape == (2,)
    logits, _ = policy.network.forward(batch)
    assert np.array_equal(shares, probabilities(logits))


@pytest.mark.parametrize(
    ("players", "candidates", "dimensions", "said"),
    [
        (7, 4, DIMENSIONS, "among 4 candidates was given to a policy that weighs 1 to 3"),
        (7, 0, DIMENSIONS, "among 0 candidates"),
        (9, 2, DIMENSIONS, "room for 8 players, and the table has 9"),
        (7, 2, 16, "reads vectors of 32 numbers"),
    ],
)
def test_decisions_that_do_not_fit_are_refused(
    players: int, candidates: int, dimensions: int, said: str
) -> None:
    one = observation(np.random.default_rng(5), players, candidates)
    one = Observation(one.player, one.text[:dimensions], one.candidates[:, :dimensions], players)
    with pytest.raises(ModelError, match=said):
        run_now(NumpyPolicy(checkpoint()).weigh(one))


def test_equal_policies_are_one_player() -> None:
    one, same, other = (NumpyPolicy(checkpoint(seed)) for seed in (0, 0, 1))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "test"
    assert one.describe() == same.describe()
    assert one.describe()["digest"] != other.describe()["digest"]
    assert one.describe() == {
        "name": "test",
        "digest": one.checkpoint.digest,
        "network": "small",
        "embedder": "hashing",
        "candidates": 3,
        "source": "model",
        "rules": "doctor",
        "training": {"updates": 2, "win_rate": 0.5},
    }
    json.dumps(one.describe())


def test_a_policy_can_be_handed_to_another_process() -> None:
    policy = NumpyPolicy(checkpoint())
    back = pickle.loads(pickle.dumps(policy))
    seen = observation(np.random.default_rng(6), 7, 3)
    assert back == policy
    assert np.array_equal(
        back.weigh_many([seen])[0].probabilities, policy.weigh_many([seen])[0].probabilities
    )


def test_inference_needs_no_torch(file: Path) -> None:
    """Loading and weighing in a process where torch cannot be imported."""
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np\n"
        "from wolflab.agents.policy.policy import Observation\n"
        "from wolflab.agents.policy.checkpoint import NumpyPolicy, load_policy\n"
        "from wolflab.agents.policy.features import features_length\n"
        "from wolflab.match import run_now\n"
        f"policy = NumpyPolicy(load_policy({str(file)!r}))\n"
        f"text = np.eye({DIMENSIONS}, dtype=np.float32)\n"
        "player = np.zeros(features_length(7), np.float32)\n"
        "print(run_now(policy.weigh(Observation(player, text[0], text[1:3], 7))).probabilities.sum())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(1)
