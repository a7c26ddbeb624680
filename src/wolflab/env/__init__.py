"""The game as a PettingZoo environment: the same rules and the same loop, with one `step` for each decision.

An agent's observation comes from its seat's view and the ask, never from the state of the game. The package
needs the extra ``env`` (PettingZoo, Gymnasium); nothing else in Wolflab imports it.
"""

from importlib.util import find_spec

if any(find_spec(package) is None for package in ("pettingzoo", "gymnasium")):
    raise ImportError(
        "wolflab.env needs PettingZoo and Gymnasium, and they are not installed: pip install 'wolflab[env]'"
    )

from ..match.rewards import RewardPoints
from .aec import SHAPED, WerewolfAEC, env
from .seating import player
from .vector import VectorLayout

__all__ = ["SHAPED", "RewardPoints", "VectorLayout", "WerewolfAEC", "env", "player"]
