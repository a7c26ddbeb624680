"""The policies of a run's players, by a shipped name or a file. The run keeps a copy of each.

So a run can be copied, resumed and replayed even if the original file, or the shipped policy of that name,
has changed. A digest detects a lost or exchanged copy before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from ...agents.own import class_named
from ...agents.policy.checkpoint import (
    BY_DEFAULT,
    ELSEWHERE,
    RECIPE_FOR,
    SUFFIX,
    Checkpoint,
    NumpyPolicy,
    load_policy,
    located,
    shipped_policies,
)
from ...agents.recipes import MOST_CANDIDATES, RECIPES, recipe
from ...agents.scripts import SCRIPTS
from ...errors import ExperimentError, ModelError, StoreError
from ...files import copy_file, read_file, write
from ...renamed import existing_file
from .overrides import model_given
from .specs import MODEL_FREE, PlayerSpec

FOLDER = "policies"
DIGESTS = "policy_digests.json"
"""The file with the digests that a run's policies had when the run began."""
ANEW = "start a new run"
"""The advice for a lost file of which there is no other copy."""


def policy_name_of(spec: PlayerSpec) -> str | None:
    """The name of a player's policy: its own, or its recipe's; None without one."""
    recipe = spec.language
    if recipe is None or not recipe.weighs or recipe.propose is None:
        return None
    return spec.policy or BY_DEFAULT[recipe.propose.source]


def by_name(given: str) -> dict[str, Any]:
    """The fields of a player from a flag: RECIPE[@MODEL], SCRIPT[@MODEL] (see `SCRIPTS`), or POLICY[@MODEL],
    a shipped name or a file.

    MODEL is a name or a mapping in braces (`model_given`). A policy sets the source and number of its
    candidates, and its embedder. Raises ModelError for a file that is no policy, ExperimentError for an
    unknown name and for an @ without a model.
    """
    file, suffix, _ = given.partition("@{")[0].rpartition(SUFFIX)
    path = file + suffix  # an @ in a file's path is its own
    name, at, model = given[len(path) :].partition("@")
    name = path + name
    if at and not model:
        raise ExperimentError(f"{given}: no model stands after @; write {name}@MODEL, or {name} alone")
    own = {"model": model_given(model)} if model else {}
    if name in RECIPES or name == MODEL_FREE or class_named(name) is not None:
        return {"recipe": name, **own}
    if name in SCRIPTS:
        return {"recipe": {"name": "diverse-004", "propose": {"choose": "script", "script": name}}, **own}
    if not name.endswith(SUFFIX) and name not in shipped_policies():
        if near := get_close_matches(name, (*RECIPES, *SCRIPTS, *shipped_policies()), 1):
            raise ExperimentError(
                f"{given}: there is no recipe and no policy {name!r}; did you mean {near[0]}?"
            )
        raise ExperimentError(
            f"{given}: there is no recipe and no policy {name!r}; known are the recipes {MODEL_FREE}, "
            f"{', '.join(RECIPES)}, the scripts {', '.join(SCRIPTS)}, the policies "
            f"{', '.join(shipped_policies())}, any file ending in "
            f"{SUFFIX} (there are more in {ELSEWHERE}), and an agent of your own, module:Class"
        )
    policy = load_policy(name)
    return {"recipe": _recipe_for(policy), "embedder": policy.reads, "policy": name, **own}


def _recipe_for(policy: Checkpoint) -> str | dict[str, Any]:
    """The recipe with the number of candidates that the policy was trained with."""
    name = f"{RECIPE_FOR[policy.source]}-004"
    usual = recipe(name).propose
    assert usual is not None
    count = min(policy.candidates, MOST_CANDIDATES)
    if policy.source == "intents" or count == usual.candidates:
        return name
    return {"name": name, "propose": {"candidates": count}}


class Policies:
    """Policies by name or path, each loaded once. home: the run's directory, None for a game that is not
    kept; reading: write nothing there.
    """

    def __init__(self, home: Path | None, reading: bool) -> None:
        self._home, self._reading = home, reading
        self.loaded: dict[str, NumpyPolicy] = {}

    def policy(self, name: str) -> NumpyPolicy:
        """The policy of that name or file; ModelError if there is none."""
        if name not in self.loaded:
            self.loaded[name] = NumpyPolicy(self._checkpoint(name))
        return self.loaded[name]

    def _checkpoint(self, name: str) -> Checkpoint:
        """The run's copy, made if it is missing."""
        if self._home is None:
            return load_policy(name)
        short = blake2b(name.encode(), digest_size=4).hexdigest()
        own = self._home / FOLDER / f"{Path(name).stem}-{short}{SUFFIX}"
        digests = digests_in(own.parent)
        if own.name in digests:
            return require_policy(own, digests[own.name])
        if own.exists() and ((there := policy_digest(own)) is None or there != policy_digest(name)):
            raise lost_file(own.parent / DIGESTS, f"it does not tell of {own.name}")
        policy = load_policy(name)  # an error names the file as the user gave it
        if not self._reading:
            policy = keep_policy(name, own)
            write_digests(own.parent, {**digests, own.name: policy.digest})
        return policy


def keep_policy(name: str, own: Path) -> Checkpoint:
    """Copy the policy of that name, or in that file, into a run."""
    copy_file(located(name), own)
    return load_policy(own)


def require_policy(own: Path, digest: str | None, or_else: str = ANEW) -> Checkpoint:
    """A run's copy; StoreError if it is missing or has another digest."""
    if not own.is_file():
        raise lost_file(own, "it is missing", or_else)
    try:
        policy = load_policy(own)
    except ModelError as error:
        raise lost_file(own, f"it cannot be played ({error})", or_else) from None
    if policy.digest != digest:
        raise lost_file(own, "it is another policy than the one that was written", or_else)
    return policy


def policy_digest(policy: str | Path) -> str | None:
    """The digest of the policy of that name or file; None if it cannot be loaded."""
    try:
        return load_policy(policy).digest
    except ModelError:
        return None


def write_digests(folder: Path, digests: Mapping[str, str]) -> None:
    """Write the digests of the policies in a folder."""
    write(folder / DIGESTS, json.dumps(digests, indent=2).encode())


def digests_in(folder: Path) -> dict[str, str]:
    """The digests that `write_digests` wrote to a folder; empty without any."""
    file = existing_file(folder / DIGESTS)
    if not file.exists():
        return {}
    try:
        return msgspec.json.decode(read_file(file), type=dict[str, str])
    except (StoreError, msgspec.DecodeError):
        raise lost_file(file, "it is damaged") from None


def lost_file(file: Path, problem: str, or_else: str = ANEW) -> StoreError:
    """The error for a missing or changed file that a run needs, with advice."""
    return StoreError(f"{file}: {problem}; copy it back from an intact copy, or {or_else}")
