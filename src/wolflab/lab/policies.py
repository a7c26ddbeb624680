"""The policies of a run's players, by the name of a shipped one or by a file. The run keeps a copy.

So a copied run is whole, and goes on and plays back as it began although the file elsewhere, or the policy
that ships under that name, has changed since.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from ..agents.language import LanguageAgent
from ..agents.policy.checkpoint import SUFFIX, NumpyPolicy, load, located
from ..agents.recipes import Recipe
from ..errors import ModelError
from ..match import Player
from ..rules import Ruleset
from ..text.intents import intents
from .store_files import copied

FOLDER = "policies"
BY_DEFAULT = {"model": "small"}
"""The shipped policy that a recipe takes, by who proposes its candidates. None ships for intents."""


def by_default(recipe: Recipe) -> str:
    """The shipped policy of a recipe that chooses by one; ModelError where none ships."""
    assert recipe.propose is not None
    name = BY_DEFAULT.get(recipe.propose.source)
    if name is None:
        raise ModelError(
            f"recipe {recipe.name} chooses by a policy, and none ships for it; name a file under policy "
            "(wolflab train train-atomic makes one)"
        )
    return name


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
    stage = agent.recipe.propose
    assert stage is not None
    most = stage.candidates if stage.source == "model" else len(intents(ruleset))
    agent.policy.checkpoint.require(player.embedders["policy"], most, stage.source, ruleset.players)
