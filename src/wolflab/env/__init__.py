"""The game as a PettingZoo environment: the same rules and the same loop, one `step` a decision.

A seat here is a function of numbers where elsewhere it is a function of a view. What an agent observes
comes from its seat's view and the question put to it, never from the state of the game.
Needs the extra ``env`` (PettingZoo, Gymnasium); nothing else in Wolflab imports this package.
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
