"""The fitted numbers of `village`: integer log-likelihood tables, calibration, and their digest.

They are in ``parameters.json``, written by ``python benchmarks/village_fit.py``. All likelihoods are
milli-nats (1000 × natural logarithm).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from ...errors import ModelError
from .beliefs.worlds import CLASSES, WOLF

Ints = npt.NDArray[np.int64]

PATH = Path(__file__).with_name("parameters.json")
VERSION = 1

CONTEXTS = 7
"""Public contexts of a player: nothing · accused today · reported a Werewolf by a Seer claimant · cleared by
one · claims Seer alone · claims Seer against another · claims another ability."""

STANCES = 10
"""Stances of a statement to a player: nothing · reported a Werewolf · reported good · accused flatly ·
accused · hinted at · to be voted out · defended · agreed with · shielded at night."""

CLAIM_CONTEXTS, CLAIMS = 8, 6
"""Seer already claimed by another × later than round 1 × under pressure; claims: nothing new · Seer ·
Guard or Doctor · other ability · Villager · Werewolf."""

SHAPES: dict[str, tuple[int, ...]] = {
    "say": (CONTEXTS, STANCES, CLASSES, CLASSES),
    "vote": (CONTEXTS, 2, CLASSES, CLASSES),
    "elect": (CONTEXTS, 2, CLASSES, CLASSES),
    "claim": (CLAIM_CONTEXTS, CLAIMS, CLASSES),
    "die": (CONTEXTS, 2, CLASSES),
}
"""Tables by name: context, outcome, class of the actor (or of the victim), class of the target."""


class Fitted(msgspec.Struct, frozen=True):
    """The content of ``parameters.json``.

    source: seeds, games and rounds of fitting. scale: tempering of the summed log-likelihood, in thousandths.
    suspicion: guess group ("Werewolf", "other", "Uncertain") → P(Werewolf) in thousandths for confidence 5 …
    10.
    """

    version: int
    source: dict[str, object]
    scale: int
    tables: dict[str, list]  # type: ignore[type-arg]
    suspicion: dict[str, list[int]]


@dataclass(frozen=True, eq=False)
class Parameters:
    """Tables as arrays (see `SHAPES`), with the digest for records' headers."""

    tables: dict[str, Ints]
    scale: int
    suspicion: dict[str, tuple[int, ...]]
    digest: str

    def with_claim_floor(self, floor: int) -> Parameters:
        """A copy in which the log-likelihood that a Werewolf newly claims a village role is at least `floor`,
        in milli-nats.
        """
        claim = self.tables["claim"].copy()
        by_wolves = claim[:, 1:-1, WOLF]  # without "nothing new" and "Werewolf"
        np.maximum(by_wolves, floor, out=by_wolves)
        return replace(self, tables={**self.tables, "claim": claim})


def parse_parameters(data: bytes, where: str) -> Parameters:
    """Parameters from the file's bytes; ModelError when they do not fit this version."""
    try:
        fitted = msgspec.json.decode(data, type=Fitted)
        tables = {name: np.array(fitted.tables[name], np.int64) for name in SHAPES}
    except (msgspec.DecodeError, KeyError, ValueError) as error:
        raise ModelError(
            f"{where} is no parameter file of village ({error}); run village_fit again"
        ) from error
    wrong = [name for name, shape in SHAPES.items() if tables[name].shape != shape]
    if fitted.version != VERSION or wrong:
        raise ModelError(f"{where} was fitted for another version of village; run village_fit again")
    suspicion = {group: tuple(row) for group, row in fitted.suspicion.items()}
    return Parameters(tables, fitted.scale, suspicion, blake2b(data, digest_size=8).hexdigest())


@lru_cache(1)
def shipped_parameters() -> Parameters:
    """The parameters that come with the package."""
    return parse_parameters(PATH.read_bytes(), PATH.name)
