"""The policies of a run's players, by the name of a shipped one or by a file. The run keeps a copy.

So a copied run is whole, and goes on and plays back as it began although the file elsewhere, or the policy
that ships under that name, has changed since.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from ..agents.language import LanguageAgent
from ..agents.policy.checkpoint import SUFFIX, Checkpoint, NumpyPolicy, load, located
from ..agents.recipes import Proposal, Recipe
from ..match import Player
from ..models.embedders.base import Embedder
from ..rules import Ruleset
from ..text.intents import intents
from .specs import MODEL_FREE, PlayerSpec
from .store_files import copied

FOLDER = "policies"
BY_DEFAULT = {"model": "small", "intents": "small-atomic"}
"""The shipped policy that a recipe takes, by who proposes its candidates."""


def named(spec: PlayerSpec) -> str | None:
    """The policy that a player chooses by: the one that it names, or its recipe's; None where it has none."""
    if spec.recipe == MODEL_FREE:
        return None
    recipe = spec.resolved_recipe()
    if not recipe.weighs or recipe.propose is None:
        return None
    return spec.policy or BY_DEFAULT[recipe.propose.source]


class Policies:
    """Policies by name or path, each loaded once. home: the run's directory, None for a game that is not
    kept; reading: nothing is to be kept there.
    """

    def __init__(self, home: Path | None, reading: bool) -> None:
        self._home, self._reading = home, reading
        self._open: dict[str, NumpyPolicy] = {}

    def policy(self, name: str) -> NumpyPolicy:
        """The policy of that name or in that file; ModelError where there is none."""
        if name not in self._open:
            self._open[name] = NumpyPolicy(load(self._file(name)))
        return self._open[name]

    def _file(self, name: str) -> str | Path:
        """The run's copy, which is made if the run has none yet."""
        if self._home is None:
            return name
        short = blake2b(name.encode(), digest_size=4).hexdigest()
        own = self._home / FOLDER / f"{Path(name).stem}-{short}{SUFFIX}"
        if own.exists():
            return own
        load(name)  # what cannot be read is refused under the name that was given
        if self._reading:
            return name
        copied(located(name), own)
        return own


def check(player: Player, ruleset: Ruleset) -> None:
    """Raise ModelError where a player's policy cannot serve it at such a table."""
    agent = player.agent
    if not isinstance(agent, LanguageAgent) or not isinstance(agent.policy, NumpyPolicy):
        return
    fits(agent.policy.checkpoint, agent.recipe, player.embedders["policy"], ruleset)


def fits(policy: Checkpoint, recipe: Recipe, embedder: Embedder, ruleset: Ruleset) -> None:
    """Raise ModelError where a policy cannot serve such a player at such a table."""
    stage = recipe.propose
    assert stage is not None
    policy.require(embedder, most(stage, ruleset), stage.source, ruleset.players)


def most(stage: Proposal, ruleset: Ruleset) -> int:
    """How many candidates may come before a policy at such a table."""
    return stage.candidates if stage.source == "model" else len(intents(ruleset))
