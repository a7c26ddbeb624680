"""Claims about the rules, and whether they hold: a fact of the rules, compared with a value. `rule_facts` has
the facts; the engine plays to find them. Rules with open questions are a family of rulesets: they decide a
claim if all of them agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..rules import SHERIFF, Ruleset
from .rule_facts import FACTS, quiet_game
from .situations import GameSituation, Impossible, Query

RELEASED = SHERIFF.with_(name="002, as released", sheriff_death="stop")
"""The rules of 002's released code (002 §1): the Seer learns the role, targets are not limited, different
victims save both, and the game stops at the Sheriff's death.
"""

_TEXT = SHERIFF.with_(name="002 §6.1", seer_learns="is_wolf")
_OPEN: dict[str, tuple[object, ...]] = {
    "wolves_may_target_self": (False,),
    "wolves_may_target_pack": (False,),
    "guard_may_repeat": (False,),
    "seer_may_see_self": (False,),
    "may_vote_self": (False,),
    "wolf_agreement": ("plurality", "last"),
    "deaths": ("sequential",),
    "votes": ("open",),
    "tie": ("random",),
}
PUBLISHED = (_TEXT, *(_TEXT.with_(**{name: other}) for name, others in _OPEN.items() for other in others))
"""The rules as printed in 002 §6.1 for players: the rulesets that fit the text, with one switch of `_OPEN`
changed at a time. Announcements and acts of the dead that the text does not mention do not happen.
"""


COMPARISONS: Mapping[str, Callable[[Any, tuple[str | int, ...]], bool]] = {
    "": lambda value, _: value is True,
    "=": lambda value, said: value == ([*said] if isinstance(value, list) else said[0]),
    "!=": lambda value, said: value != said[0],
    ">": lambda value, said: bool(value > said[0]),
    "<": lambda value, said: bool(value < said[0]),
    ">=": lambda value, said: (max(value) if isinstance(value, list) else value) >= said[0],
    "in": lambda value, said: value in said,
    "has": lambda value, said: said[0] in value,
    "count": lambda value, said: len(value) == said[0],
    "first_is": lambda value, said: value[0] == said[0],
    "last_is": lambda value, said: value[-1] == said[0],
}
"""Comparisons of a fact's value with a claim's; a claim without one asserts the fact itself."""


@dataclass(frozen=True, slots=True)
class RuleClaim:
    """A claim that the rules make true or false: one of `FACTS`, its arguments, and a comparison of its
    value.
    """

    fact: str
    about: tuple[str | int, ...] = ()
    compare: str = ""
    said: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        told = f"{self.fact}({', '.join(map(str, self.about))})"
        return " ".join([told, self.compare, *map(str, self.said)]).rstrip()

    def holds_under(self, rules: Ruleset) -> bool | None:
        """Whether the claim holds under these rules; None if it does not apply to them, or if they have no
        quiet game: when somebody has to leave, small games show too little.
        """
        return _holds_under(self, rules)

    def holds(self, family: Iterable[Ruleset]) -> bool | None:
        """The common verdict of a family of rulesets; None if they differ or do not decide."""
        answers = {self.holds_under(rules) for rules in family}
        return answers.pop() if len(answers) == 1 else None


@lru_cache(1 << 14)
def _holds_under(claim: RuleClaim, rules: Ruleset) -> bool | None:
    quiet = quiet_game(rules)
    if quiet.state.outcome is not None or not all(quiet.alive(seat) for seat in range(rules.players)):
        return None
    query = Query(rules, GameSituation("night", 1, rules.players), {})
    try:
        return COMPARISONS[claim.compare](FACTS[claim.fact](query, *claim.about), claim.said)
    except Impossible:
        return None
