"""What a policy sees is fixed by its version: a change to it that does not say so fails here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from policy_helpers import checkpoint
from wolflab.agents.language import LanguageAgent
from wolflab.agents.policy.features import INPUTS
from wolflab.agents.policy.policy import Observation, Weights
from wolflab.agents.recipes import RECIPES
from wolflab.errors import ModelError
from wolflab.match import Draws, Match, Player, play, run_now
from wolflab.models.embedders.embedder import Vectors
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.models.village.player import Village
from wolflab.rules import DOCTOR

SEEN = {1: "bfb2da8919cff1a2"}
"""Version → what is seen in two games of the built-in player, hashed."""


class Watching(HashingEmbedder):
    """Keeps every text."""

    def __init__(self, heard: Any) -> None:
        super().__init__()
        self.heard = heard

    async def embed(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            self.heard.update(text.encode() + b"\0")
        return await super().embed(texts)


class First:
    """Keeps every vector, and takes the first candidate."""

    name = "first"
    instant = True

    def __init__(self, heard: Any) -> None:
        self.heard = heard

    async def weigh(self, observation: Observation) -> Weights:
        self.heard.update(observation.player.astype("<f4").tobytes())
        return Weights(np.eye(len(observation.candidates))[0], 0.0)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}


def seen() -> str:
    heard = blake2b(digest_size=8)
    for name in ("strategic", "atomic"):
        agent = LanguageAgent(RECIPES[name], policy=First(heard))
        player = Player(agent, Village(), {"policy": Watching(heard)})
        seats = [player] * DOCTOR.players
        deal, luck = Draws("inputs"), Draws("inputs/0")
        match = Match(DOCTOR, lambda _, seats=seats: seats, deal, luck, {}, write=False)
        run_now(play(match))
    return heard.hexdigest()


def test_what_a_policy_sees_changes_only_with_its_version() -> None:
    assert seen() == SEEN[INPUTS], (
        "if the built-in player's words or choices have changed, only put the new hash here; if what a "
        "policy is shown has, raise features.INPUTS, train the shipped policies anew, and add its hash"
    )


def test_a_policy_of_other_inputs_is_refused() -> None:
    other = replace(checkpoint(), inputs=INPUTS + 1)
    with pytest.raises(ModelError, match=f"inputs of version {INPUTS + 1}, and this Wolflab gives version"):
        other.require(HashingEmbedder(32), 3, "model", 7)
