"""Whether a trained policy can serve a player at a table: its candidates, who proposes them, the embedder."""

from __future__ import annotations

from collections.abc import Mapping

from ...models.embedders import Embedder
from ...rules import Ruleset
from ...text.intents import intents
from ..base import Agent
from ..language import LanguageAgent
from ..recipes import Proposal, Recipe
from .checkpoint import Checkpoint, NumpyPolicy


def check(agent: Agent, embedders: Mapping[str, Embedder], ruleset: Ruleset) -> None:
    """Raise ModelError where a player's policy cannot serve it at such a table."""
    if isinstance(agent, LanguageAgent) and isinstance(agent.policy, NumpyPolicy):
        fits(agent.policy.checkpoint, agent.recipe, embedders["policy"], ruleset)


def fits(policy: Checkpoint, recipe: Recipe, embedder: Embedder, ruleset: Ruleset) -> None:
    """Raise ModelError where a policy cannot serve such a player at such a table."""
    stage = recipe.propose
    assert stage is not None
    policy.require(embedder, most(stage, ruleset), stage.source, ruleset.players)


def most(stage: Proposal, ruleset: Ruleset) -> int:
    """How many candidates may come before a policy at such a table."""
    return stage.candidates if stage.source == "model" else len(intents(ruleset))
