"""Recipes: a language agent is one pipeline, assembled by typed settings.

recall → (reflect | deduce) → propose → choose. The papers' agents are recipes, not subclasses; each
field is one decision that a paper made and an experiment may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
from types import MappingProxyType, NoneType
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from ..errors import ExperimentError
from ..text.prompts import STYLES
from ..text.questions import Layout, Wording

COMPONENTS = (
    "rules",
    "recent",
    "informative",
    "questions",
    "predefined",
    "reflection",
    "suggestion",
    "reasoning",
)
"""What can be taken out of a reflective player (003 §4.4.1: Z, O, V, Q, R, S, C). Without "predefined" it
asks questions of its own alone; without "reflection" the answers stand in its place, and no suggestion can
be looked up."""

_OF_DEDUCTION = frozenset(
    ("alpha", "uncertain", "judge_pack", "wolf_exception", "prune", "show_beliefs", "attributes")
)
_OF_REFLECTION = frozenset(
    ("recent", "informative", "choose", "ask", "retrieve", "in_turn", "recall_temperature", "advice")
)
"""Fields that mean nothing to a recipe without that stage: set there, they would be a silent null."""
_SUCH_AS = {"deduces": "deductive", "reflects": "reflective"}

_NOT_NEGATIVE = (
    "retries",
    "temperature",
    "speech_temperature",
    "recall_temperature",
    "recent",
    "informative",
    "choose",
    "ask",
    "retrieve",
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a language agent turns a view and an ask into a reply.

    deduce: judge the others before acting: "none", "each" (one call per player, 002 §6.2) or "all" (one
    call, 004 C.5). alpha: α of 002 Eq. 3; statements of players with m ≤ α count as falsehoods.
    uncertain: reliability of an "Uncertain" guess: its confidence (002) or a fixed value (004: 6).
    judge_pack: a Werewolf judges its teammates too (002) or not (004). wolf_exception: a Werewolf's
    guess "Werewolf" counts as trust (002's released code). prune: drop statements
    that the vote's deduction did not cite. show_beliefs: put the deduction back into the prompt in words
    (004). attributes: what a deduction must give beside the role (004 Table 7). retries: further tries
    after an unusable reply, with the reason shown (0 in 002). speech_temperature applies to statements,
    temperature to everything else but the steps below.

    reflect: think as 003 does, before every response. recent: K, the freshest messages in the context.
    informative: N, how many of the highest-scoring ones beside them. choose, ask: L of the nine predefined
    questions and M of its own. retrieve: T messages for each answer. in_turn: later questions see the
    earlier answers (003's released code) instead of all being answered at once. without: components
    removed, out of `COMPONENTS` (003 §4.4.1). tips: hints at strategy in the rules (003 A.5).
    recall_temperature: of all steps before the response. advice: what becomes of a suggestion from past
    games: given as it is ("experience"), or replaced by unrelated words of its length ("random").
    """

    name: str
    deduce: Literal["none", "each", "all"] = "none"
    alpha: int = 6
    uncertain: int | None = None
    judge_pack: bool = True
    wolf_exception: bool = False
    prune: bool = True
    show_beliefs: bool = True
    attributes: tuple[str, ...] = ("reasoning", "confidence", "evidence")
    style: str | None = None
    wording: Wording = "own"
    layout: Layout = "append"
    retries: int = 2
    temperature: float = 0.0
    speech_temperature: float = 0.1
    max_tokens: int | None = None
    reflect: bool = False
    recent: int = 15
    informative: int = 10
    choose: int = 5
    ask: int = 2
    retrieve: int = 5
    in_turn: bool = False
    without: tuple[str, ...] = ()
    tips: bool = False
    recall_temperature: float = 0.3
    advice: Literal["experience", "random"] = "experience"

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(Recipe).items():
            wanted = _wanted(getattr(self, name), hint)
            if wanted:
                self._refuse(name, wanted)
        if self.style is not None and self.style not in STYLES:
            self._refuse("style", f"one of {', '.join(STYLES)}")
        if set(self.attributes) - {"reasoning", "confidence", "evidence"}:
            self._refuse("attributes", "a list of reasoning, confidence and evidence, or of some of them")
        if set(self.without) - set(COMPONENTS):
            self._refuse("without", f"a list of some of {', '.join(COMPONENTS)}")
        if set(self.without) - {"rules"} and not self.reflect:
            self._refuse("without", "[rules], or a recipe that reflects, such as reflective")
        if self.reflect and self.deduce != "none":
            self._refuse("reflect", "false, or set deduce to none: a player reflects or deduces")
        idle = _OF_DEDUCTION if self.reflect else _OF_REFLECTION
        kind = "deduces" if self.reflect else "reflects"
        for field in fields(self):
            if field.name in idle and getattr(self, field.name) != field.default:
                self._refuse(field.name, f"it with a recipe that {kind}, such as {_SUCH_AS[kind]}")
        if self.reflect != (self.layout == "recall"):
            self._refuse("layout", "recall for a recipe that reflects, and paper or append for the others")
        for name in _NOT_NEGATIVE:
            if getattr(self, name) < 0:
                self._refuse(name, "0 or more")
        if self.uncertain is not None and not 1 <= self.uncertain <= 10:
            self._refuse("uncertain", "1 to 10, as reliabilities are")
        for name in ("temperature", "speech_temperature", "recall_temperature"):
            if not isfinite(getattr(self, name)):
                self._refuse(name, "a number")
        if self.max_tokens is not None and self.max_tokens < 1:
            self._refuse("max_tokens", "1 or more")
        object.__setattr__(self, "attributes", tuple(self.attributes))
        object.__setattr__(self, "without", tuple(self.without))

    @property
    def teaches(self) -> bool:
        """Whether its games can be learned from: it writes reflections."""
        return self.reflect and "reflection" not in self.without

    def _refuse(self, name: str, wanted: str) -> NoReturn:
        raise ExperimentError(
            f"recipe {self.name!r}, field {name}: got {getattr(self, name)!r}; use {wanted}"
        )

    def with_(self, **changes: Any) -> Recipe:
        """A copy with some fields changed; an unknown field is an ExperimentError."""
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                raise ExperimentError(
                    f"recipe {self.name!r}: there is no field {name!r}; known are {', '.join(known)}"
                )
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for headers and files."""
        return asdict(self)


def _wanted(value: object, hint: Any) -> str:
    """What a field of that type takes, in words; empty when `value` is of it."""
    kinds = get_args(hint) or (hint,)
    if all(isinstance(kind, str) for kind in kinds):
        return "" if value in kinds else f"one of {', '.join(kinds)}"
    if value is None and NoneType in kinds:
        return ""
    if bool in kinds:
        return "" if isinstance(value, bool) else "true or false"
    number = isinstance(value, int) and not isinstance(value, bool)
    if int in kinds:
        return "" if number else "a whole number"
    if float in kinds:
        return "" if number or isinstance(value, float) else "a number"
    if get_origin(hint) is tuple:
        texts = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        return "" if texts else "a list of names"
    return "" if isinstance(value, str) else "a text"


PAPER_002: Mapping[str, Any] = MappingProxyType(
    {"wording": "paper", "layout": "paper", "retries": 0, "show_beliefs": False}
)
"""What every preset that reproduces a table of 002 pins, beside one target a call."""

REFLECTIVE: Mapping[str, Any] = MappingProxyType(
    {
        "reflect": True,
        "layout": "recall",
        "temperature": 0.0,
        "speech_temperature": 0.0,
    }
)
"""What makes a player reflective. The response is sampled at 0, every step before it at 0.3 (003 §4.1)."""

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            Recipe("vanilla"),
            Recipe("deductive", deduce="all"),
            Recipe("deductive-002", deduce="each", **PAPER_002),
            Recipe("deductive-004", deduce="all", uncertain=6, judge_pack=False),
            Recipe("reflective", **REFLECTIVE),
            Recipe("reflective-003", wording="paper", retries=0, tips=True, **REFLECTIVE),
        )
    }
)
"""Language-agent recipes by name. `random` needs no model and is not a recipe."""


def recipe(name: str) -> Recipe:
    """The recipe of that name; ExperimentError lists the known ones."""
    if not isinstance(name, str) or name not in RECIPES:
        raise ExperimentError(f"there is no recipe {name!r}; known are random, {', '.join(RECIPES)}")
    return RECIPES[name]
