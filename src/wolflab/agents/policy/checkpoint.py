"""A trained policy as a file, and as a player's `Policy`.

A file is in the safetensors format: arrays, and one JSON text that describes them. It is no pickle, so
opening it runs no code. It has the network's shape, the embedder, the number and the source of candidates,
the ruleset, and the settings of the training. A policy that does not fit a player or its table is refused.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec
import numpy as np

from ...errors import ModelError
from ...files import write
from ...models.embedders.embedder import Embedder, require_same
from ...rules import Ruleset
from ...text.intents import intents
from ..base import Agent
from ..language import LanguageAgent
from ..recipes import Proposal, Recipe
from .features import INPUTS, Batch, stack
from .network import AnyConfig, LinearConfig, NetworkConfig, check_arrays, network_of, probabilities
from .policy import Float32s, Observation, Weights

FORMAT = 1
"""The version of the file format. Raise it if older files would be read wrongly."""
SUFFIX = ".safetensors"
ELSEWHERE = "the folder policies of Wolflab's repository"
"""The place of further seeds of the shipped trainings, which the package does not have."""
Source = Literal["model", "intents"]
RECIPE_FOR: Mapping[Source, str] = {"model": "strategic", "intents": "atomic"}
"""Source of candidates → the recipe of its policies."""
BY_DEFAULT: Mapping[Source, str] = {"model": "small", "intents": "small-atomic"}
"""Source of candidates → the shipped policy that a recipe takes."""

CANDIDATES_OF = "candidates_of"
"""The field of a policy's training that names the models; without it, the built-in player."""

_KEY, _DIGEST = "wolflab", "digest"
"""The keys of the JSON and of the digest in the file's metadata."""


class _Metadata(msgspec.Struct, forbid_unknown_fields=True):
    """The JSON of a file."""

    format: int
    network: dict[str, Any]
    embedder: dict[str, Any]
    candidates: int
    source: Source
    rules: str
    training: dict[str, Any]
    inputs: int = 1


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A stored policy.

    network: its shape. embedder: `Embedder.describe()` of its embedder. candidates: N, the largest number of
    candidates in training. source: of the candidates ("model", or "intents" of the Atomic agent). rules: the
    name of the training's ruleset. arrays: float32, by `network.shapes`. training: seed, update and settings
    as plain values; they are part of the digest, and players do not use them.
    """

    name: str
    network: AnyConfig
    embedder: Mapping[str, Any]
    candidates: int
    source: Source
    rules: str
    arrays: Mapping[str, Float32s] = field(repr=False)
    training: Mapping[str, Any] = field(default_factory=dict)
    inputs: int = INPUTS
    """See `features.INPUTS`."""

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= 1024:
            raise ModelError(
                f"policy {self.name!r}: trained with {self.candidates!r} candidates; use 1 to 1024"
            )
        check_arrays(self.network, self.arrays)
        length = self.embedder.get("dimensions") or self.network.dimensions
        if length != self.network.dimensions:
            raise ModelError(
                f"policy {self.name!r}: its embedder's vectors have {length!r} numbers, and its network "
                f"reads {self.network.dimensions}"
            )

    @property
    def candidates_of(self) -> tuple[str, ...]:
        """The names of the models among whose candidates it learned to choose."""
        return tuple(self.training.get(CANDIDATES_OF, ("village",)))

    @property
    def reads(self) -> dict[str, Any]:
        """Its embedder, as an experiment writes it."""
        embedder = self.embedder
        settings = {name: embedder[name] for name in ("dimensions", "extra") if name in embedder}
        return {"embedder": str(embedder.get("name", "")), **settings}

    @cached_property
    def digest(self) -> str:
        """16 hex digits of everything but the name: arrays, shape, embedder, training."""
        return _digest(self._metadata_text(), self.arrays)

    def _metadata_text(self) -> str:
        stated = {
            "format": FORMAT,
            "network": asdict(self.network),
            "embedder": dict(self.embedder),
            "candidates": self.candidates,
            "source": self.source,
            "rules": self.rules,
            "training": dict(self.training),
            "inputs": self.inputs,
        }
        try:
            return json.dumps(
                stated, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
            )
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"policy {self.name!r}: the descriptions of its embedder and training must be plain, "
                f"finite values ({error})"
            ) from None

    def describe(self) -> dict[str, Any]:
        """For a record's header: the policy's identity and its training."""
        return {
            "name": self.name,
            "digest": self.digest,
            "network": self.network.name,
            "embedder": self.embedder.get("name"),
            "candidates": self.candidates,
            "source": self.source,
            "rules": self.rules,
            "training": dict(self.training),
        }

    def require(self, embedder: Embedder, candidates: int, source: Source, players: int) -> None:
        """Raise ModelError unless the policy can play for such a player.

        embedder: the player's. candidates: the largest number in its recipe. source: of the candidates.
        players: at the table.
        """
        named = f"policy {self.name!r}"
        if self.inputs != INPUTS:
            raise ModelError(
                f"{named} learned to read inputs of version {self.inputs}, and this Wolflab gives version "
                f"{INPUTS}; train it anew, or use the Wolflab that made it"
            )
        try:
            require_same(self.embedder, embedder, named)
        except ModelError as error:
            raise ModelError(
                f"{error}; a player reads with the `embedder` beside its policy: embedder: {self.reads}"
            ) from None
        if source != self.source:
            raise ModelError(
                f"{named} was trained on candidates from {self.source!r}, and this recipe's are from "
                f"{source!r}; use it with the recipe {RECIPE_FOR[self.source]}, or name another policy "
                f"beside this recipe ({BY_DEFAULT[source]} is the one that ships)"
            )
        if candidates > self.candidates:
            remedy = {
                "model": f"set propose.candidates to at most {self.candidates}, or train one for more",
                "intents": "use it at a table of as many players and roles, or train one for these rules",
            }
            raise ModelError(
                f"{named} was trained to weigh {self.candidates} candidates, and this player has up to "
                f"{candidates}; {remedy[source]}"
            )
        if players > self.network.capacity:
            raise ModelError(
                f"{named} has room for {self.network.capacity} players, and the table has {players}; "
                f"use a smaller table, or train one with a larger capacity"
            )


def save(checkpoint: Checkpoint, path: Path, half: bool = False) -> Checkpoint:
    """Write a file and return the checkpoint as it will be read.

    half: store float16, which has half the size and about 3 digits. Raises StoreError if the file cannot be
    written, ModelError if a number is too large for float16.
    """
    from safetensors.numpy import save as packed

    stored = {name: _stored(name, array, half) for name, array in sorted(checkpoint.arrays.items())}
    kept = replace(checkpoint, arrays={name: array.astype(np.float32) for name, array in stored.items()})
    data = packed(stored, metadata={_KEY: kept._metadata_text(), _DIGEST: kept.digest})
    write(path, data)
    return kept


def _stored(name: str, array: Float32s, half: bool) -> np.ndarray:
    """An array as it is stored. Scalars stay float32, since they scale the critic's values."""
    exact = np.asarray(array, np.float32, order="C")
    if not half or not exact.ndim:
        return exact
    with np.errstate(over="ignore"):
        short = exact.astype(np.float16)
    if not np.isfinite(short).all():
        raise ModelError(f"{name!r} has numbers too large for float16; save the policy as float32")
    return short


def shipped_policies() -> tuple[str, ...]:
    """The names of the policies that come with Wolflab."""
    folder = _folder()
    return tuple(sorted(file.stem for file in folder.glob("*" + SUFFIX))) if folder.is_dir() else ()


def _folder() -> Path:
    return Path(__file__).parent.parent / "policies"


def load_policy(name_or_path: str | Path) -> Checkpoint:
    """The policy of that name (`shipped_policies`), or in that file.

    Raises ModelError for an unknown name, and for a file that is damaged, of another version or of another
    program. Nothing in a file is executed.
    """
    from safetensors import SafetensorError, safe_open

    path = located(name_or_path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileNotFoundError
        with safe_open(str(path), framework="np") as file:
            metadata = file.metadata() or {}
            stated, network = _metadata(path, metadata)
            kept = {name: str(file.get_slice(name).get_dtype()) for name in file.keys()}  # noqa: SIM118
            strange = sorted({dtype for dtype in kept.values() if dtype not in ("F16", "F32")})
            if strange:
                _refuse(path, f"it holds numbers of type {strange[0]}, and F16 or F32 are known")
            arrays = {name: file.get_tensor(name).astype(np.float32) for name in kept}
    except SafetensorError as error:
        _refuse(path, f"it is damaged, or no safetensors file ({error})")
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(
            f"policy {path}: there is no such file; give the path of one that wolflab train wrote, or that "
            f"lies in {ELSEWHERE}"
        ) from None
    except OSError as error:
        _refuse(path, f"it cannot be read ({error.strerror or error})")
    try:
        checkpoint = Checkpoint(
            path.stem,
            network,
            stated.embedder,
            stated.candidates,
            stated.source,
            stated.rules,
            arrays,
            stated.training,
            stated.inputs,
        )
    except ModelError as error:
        _refuse(path, str(error))
    if _DIGEST not in metadata:
        _refuse(path, "it holds no digest of itself, so an earlier Wolflab wrote it; train it anew")
    if metadata[_DIGEST] != _digest(metadata[_KEY], arrays):
        _refuse(path, "it is damaged: what it holds is not what was written")
    return checkpoint


def located(name_or_path: str | Path) -> Path:
    """The path of the policy of that name, or the given path; ModelError for an unknown name."""
    text = str(name_or_path)
    if text in shipped_policies():
        return _folder() / (text + SUFFIX)
    if text.endswith(SUFFIX) or "/" in text or "\\" in text:
        return Path(text)
    known = ", ".join(shipped_policies())
    raise ModelError(
        f"there is no policy {text!r}: use {f'one of {known}, or ' if known else ''}the path of a file "
        f"ending in {SUFFIX}, as wolflab train writes them and as they lie in {ELSEWHERE}"
    )


def _digest(stated: str, arrays: Mapping[str, Float32s]) -> str:
    digest = blake2b(stated.encode(), digest_size=8)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.asarray(arrays[name], "<f4").tobytes())
    return digest.hexdigest()


def _metadata(path: Path, metadata: Mapping[str, str]) -> tuple[_Metadata, AnyConfig]:
    if _KEY not in metadata:
        _refuse(path, "it is a safetensors file of somebody else's: it does not say what it is")
    try:
        stated = msgspec.json.decode(metadata[_KEY], type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        _refuse(path, f"what it says of itself cannot be read ({error})")
    if stated.get("format") != FORMAT:
        _refuse(path, f"its format is {stated.get('format')!r}, and this version reads format {FORMAT}")
    try:
        typed = msgspec.convert(stated, _Metadata)
        shape: Any = LinearConfig if typed.network.get("kind") == "linear" else NetworkConfig
        network: AnyConfig = msgspec.convert(typed.network, shape)
    except (msgspec.ValidationError, ModelError) as error:
        _refuse(path, f"what it says of itself is wrong: {error}")
    strange = sorted(typed.network.keys() - asdict(network))
    if strange:
        _refuse(path, f"what it says of itself is wrong: there is no field network.{strange[0]}")
    return typed, network


def _refuse(path: Path, why: str) -> NoReturn:
    raise ModelError(f"policy {path}: {why}; use a file that wolflab train wrote")


class NumpyPolicy:
    """A `Policy` that computes a checkpoint's network and never waits. Equal digests are the same player."""

    instant = True

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.name = checkpoint.name
        self.network = network_of(checkpoint.network, checkpoint.arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumpyPolicy) and self.checkpoint.digest == other.checkpoint.digest

    def __hash__(self) -> int:
        return hash(self.checkpoint.digest)

    def describe(self) -> dict[str, Any]:
        """See `Policy`."""
        return self.checkpoint.describe()

    async def weigh(self, observation: Observation) -> Weights:
        """See `Policy`."""
        return self.weigh_many((observation,))[0]

    def weigh_many(self, observations: Sequence[Observation]) -> list[Weights]:
        """π and the value of each observation, for any sizes of tables and numbers of candidates.

        Up to a width of 256 each result is the same to the bit as alone; for wider networks, up to rounding.
        Raises ModelError if the network is too small for a table, a choice or vectors.
        """
        if not observations:
            return []
        dimensions = self.checkpoint.network.dimensions
        for observation in observations:
            if observation.text.shape != (dimensions,) or observation.candidates.shape[1:] != (dimensions,):
                raise ModelError(
                    f"policy {self.name!r} reads vectors of {dimensions} numbers, and was given a text of "
                    f"{observation.text.shape} and candidates of {observation.candidates.shape}; "
                    "use its own embedder"
                )
        shares, values = self.weigh_batch(self.lay_out(observations))
        return [
            Weights(share[: len(observation.candidates)], float(value))
            for observation, share, value in zip(observations, shares, values, strict=True)
        ]

    def lay_out(self, observations: Sequence[Observation]) -> Batch:
        """Observations as a batch of this network."""
        return stack(observations, self.checkpoint.network.capacity, self.checkpoint.candidates)

    def weigh_batch(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        """π, float64 (B, N), 0 for padding, and values in units of reward, float64 (B,)."""
        network = self.network
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            logits, value = network.forward(batch)
            shares = probabilities(logits)
        values = value.astype(np.float64) * network.value_scale + network.value_mean
        if not (np.isfinite(shares).all() and np.isfinite(values).all()):
            raise ModelError(
                f"policy {self.name!r}: its numbers overflow, so it tells no choice; use another file"
            )
        return shares, values


# -- at a table -------------------------------------------------------------------------------------


def check_policy(agent: Agent, embedders: Mapping[str, Embedder], ruleset: Ruleset) -> None:
    """Raise ModelError if a player's policy cannot play for it under these rules."""
    if isinstance(agent, LanguageAgent) and isinstance(agent.policy, NumpyPolicy):
        check_policy_fits(agent.policy.checkpoint, agent.recipe, embedders["policy"], ruleset)


def check_policy_fits(policy: Checkpoint, recipe: Recipe, embedder: Embedder, ruleset: Ruleset) -> None:
    """Raise ModelError if a policy cannot play for such a player under these rules."""
    stage = recipe.propose
    assert stage is not None
    policy.require(embedder, most_candidates(stage, ruleset), stage.source, ruleset.players)


def most_candidates(stage: Proposal, ruleset: Ruleset) -> int:
    """The largest number of candidates of a decision under these rules."""
    return stage.candidates if stage.source == "model" else len(intents(ruleset))
