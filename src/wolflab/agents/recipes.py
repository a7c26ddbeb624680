"""Recipes: a language agent is one pipeline, assembled by typed settings.

recall → (reflect | deduce) → (propose → choose | think) → act: an action is taken from candidates, or thought
out (`think`) and given at once; where candidates and a thought both serve a statement, the thought is the
reasoning of the candidate taken. The papers' agents are recipes, not subclasses: a stage that is None is left
out, and each field is one decision that a paper made and an experiment may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
from types import MappingProxyType, NoneType
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from ..defaults import stated
from ..errors import ExperimentError
from ..text.asking.prompts import STYLES
from ..text.kinds import KINDS
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

ATTRIBUTES = ("reasoning", "confidence", "evidence")
"""What a deduction may give beside the role (004 Table 7)."""


@dataclass(frozen=True, slots=True)
class Deduction:
    """Judge the others before acting (002 §3.1, 004 §4.1).

    calls: "each" (one call per player, 002 §6.2) or "all" (one call, 004 C.5). alpha: α of 002 Eq. 3;
    statements of players with m ≤ α count as falsehoods. uncertain: reliability of an "Uncertain" guess: its
    confidence (None, 002) or a fixed value (004: 6). judge_pack: a Werewolf judges its teammates too (002) or
    not (004). wolf_exception: a Werewolf's guess "Werewolf" counts as trust (002's released code). prune:
    drop statements that the vote's deduction did not cite. show: put the deduction back into the prompt in
    words (004). attributes: what is asked for beside the role (004 Table 7).
    """

    calls: Literal["each", "all"] = "all"
    alpha: int = 6
    uncertain: int | None = None
    judge_pack: bool = True
    wolf_exception: bool = False
    prune: bool = True
    show: bool = True
    attributes: tuple[str, ...] = ATTRIBUTES


@dataclass(frozen=True, slots=True)
class Reflection:
    """Think as 003 does, before every response (003 §3.3–3.4).

    recent: K, the freshest messages in the context. informative: N, how many of the highest-scoring ones
    beside them. chosen, free: L of the nine predefined questions and M of its own. retrieve: T messages for
    each answer. in_turn: later questions see the earlier answers (003's released code) instead of all being
    answered at once. temperature: of all steps before the response. advice: what becomes of a suggestion from
    past games: given as it is ("experience"), or replaced by unrelated words of its length ("random").
    """

    recent: int = 15
    informative: int = 10
    chosen: int = 5
    free: int = 2
    retrieve: int = 5
    in_turn: bool = False
    temperature: float = 0.3
    advice: Literal["experience", "random"] = "experience"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Act on one of several candidates (004 §4.2 and §4.3).

    source: who proposes: the model ("model": one call for night actions and votes, one call a candidate for
    statements, 004 C.6), or nobody ("intents": the 13 fixed intents of 004's Atomic agent, which the model
    then words). candidates: N. kinds: of action, that it is done for; the others are answered at once.
    choose: who picks: the model with one more call, or a trained policy. policy_temperature: how a policy
    picks: 1 draws from π, as in training; 0 takes the likeliest; between and beyond, π^(1/T).
    """

    source: Literal["model", "intents"] = "model"
    candidates: int = 3
    kinds: tuple[str, ...] = KINDS
    choose: Literal["model", "policy"] = "model"
    policy_temperature: float = 1.0


Stage = Deduction | Reflection | Proposal
_STAGES: Mapping[str, type[Stage]] = MappingProxyType(
    {"deduce": Deduction, "reflect": Reflection, "propose": Proposal}
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a language agent turns a view and an ask into a reply.

    deduce, reflect, propose: the stages of those names; None leaves one out. without: components removed,
    out of `COMPONENTS` (003 §4.4.1). tips: hints at strategy in the rules (003 A.5).

    think: where the reasoning of an action stands: in the same reply ("with"), in a call of its own before it
    ("before": chain of thought), or in a call of its own for statements alone ("before_statements", against
    the slip of 004 H.3; with candidates, the one taken is worded anew from its reasoning). refine: a further
    call looks at that plan with the others' eyes before a statement (ReCon).

    style: one of `text.asking.prompts.STYLES` (004 C.7). retries: further tries after an unusable reply, with
    the reason shown (0 in 002). speech_temperature applies to statements, temperature to everything else but
    reflection's steps.
    """

    name: str
    deduce: Deduction | None = None
    reflect: Reflection | None = None
    propose: Proposal | None = None
    think: Literal["with", "before", "before_statements"] = "with"
    refine: bool = False
    style: str | None = None
    wording: Wording = "own"
    layout: Layout = "append"
    retries: int = 2
    temperature: float = 0.0
    speech_temperature: float = 0.1
    max_tokens: int | None = None
    without: tuple[str, ...] = ()
    tips: bool = False

    def __post_init__(self) -> None:
        self._check_types()
        if self.style is not None and self.style not in STYLES:
            self._refuse("style", f"one of {', '.join(STYLES)}")
        if set(self.without) - set(COMPONENTS):
            self._refuse("without", f"a list of some of {', '.join(COMPONENTS)}")
        if set(self.without) - {"rules"} and self.reflect is None:
            self._refuse("without", "[rules], or a recipe that reflects, such as reflective")
        if self.reflect is not None:
            self._check_reflective()
        if (self.reflect is not None) != (self.layout == "recall"):
            self._refuse("layout", "recall for a recipe that reflects, and paper or append for the others")
        if self.refine and self.think != "before":
            self._refuse("refine", "it with think: before, whose plan it refines")
        for name in ("retries", "temperature", "speech_temperature"):
            self._at_least(name, getattr(self, name), 0)
        if self.max_tokens is not None:
            self._at_least("max_tokens", self.max_tokens, 1)
        object.__setattr__(self, "without", tuple(self.without))
        if self.deduce is not None:
            self._check_deduction(self.deduce)
        if self.propose is not None:
            self._check_proposal(self.propose)

    @property
    def teaches(self) -> bool:
        """Whether its games can be learned from: it writes reflections."""
        return self.reflect is not None and "reflection" not in self.without

    @property
    def weighs(self) -> bool:
        """Whether a trained policy makes its choices."""
        return self.propose is not None and self.propose.choose == "policy"

    @property
    def embeds(self) -> tuple[str, ...]:
        """What its player needs an embedder for, experience apart: messages to recall, a policy's texts."""
        needed = {"messages": self.reflect is not None, "policy": self.weighs}
        return tuple(what for what, is_needed in needed.items() if is_needed)

    # -- what is refused ------------------------------------------------------------------

    def _check_types(self) -> None:
        for name, hint in get_type_hints(Recipe).items():
            value = getattr(self, name)
            stage = _STAGES.get(name)
            if stage is None:
                wanted = _wanted(value, hint)
                if wanted:
                    self._refuse(name, wanted)
                continue
            if value is not None and not isinstance(value, stage):
                self._refuse(name, f"a mapping of {', '.join(f.name for f in fields(stage))}, or null")
            for inner, kind in get_type_hints(stage).items() if value is not None else ():
                wanted = _wanted(getattr(value, inner), kind)
                if wanted:
                    self._refuse(f"{name}.{inner}", wanted, getattr(value, inner))

    def _check_deduction(self, made: Deduction) -> None:
        if set(made.attributes) - set(ATTRIBUTES):
            wanted = f"a list of some of {', '.join(ATTRIBUTES)}"
            self._refuse("deduce.attributes", wanted, made.attributes)
        if made.uncertain is not None and not 1 <= made.uncertain <= 10:
            self._refuse("deduce.uncertain", "1 to 10, as reliabilities are", made.uncertain)
        if not 0 <= made.alpha <= 10:
            self._refuse("deduce.alpha", "0 to 10, as reliabilities are", made.alpha)
        object.__setattr__(self, "deduce", replace(made, attributes=tuple(made.attributes)))

    def _check_reflective(self) -> None:
        assert self.reflect is not None
        for name in ("recent", "informative", "chosen", "free", "retrieve", "temperature"):
            self._at_least(f"reflect.{name}", getattr(self.reflect, name), 0)
        if self.deduce is not None:
            self._refuse("reflect", "null, or set deduce to null: a player reflects or deduces")
        if self.propose is not None:
            self._refuse("propose", "null: a player that reflects answers at once")
        if self.think != "with":
            self._refuse("think", "with: a player that reflects thinks in its response")

    def _check_proposal(self, made: Proposal) -> None:
        if not 1 <= made.candidates <= MOST_CANDIDATES:
            self._refuse("propose.candidates", f"1 to {MOST_CANDIDATES}", made.candidates)
        if not made.kinds or set(made.kinds) - set(KINDS):
            self._refuse("propose.kinds", f"a list of some of {', '.join(KINDS)}", made.kinds)
        if self.think == "before":
            self._refuse("think", "with or before_statements: each candidate carries its own reasoning")
        if made.source == "intents" and made.choose != "policy":
            self._refuse("propose.choose", "policy: among fixed intents only a policy chooses", made.choose)
        self._at_least("propose.policy_temperature", made.policy_temperature, 0)
        if made.policy_temperature != 1 and made.choose != "policy":
            wanted = "1, or propose.choose: policy; a model that chooses does so at the recipe's temperature"
            self._refuse("propose.policy_temperature", wanted, made.policy_temperature)
        object.__setattr__(self, "propose", replace(made, kinds=tuple(made.kinds)))

    def _at_least(self, name: str, value: float, least: int) -> None:
        if not isfinite(value):
            self._refuse(name, "a number", value)
        if value < least:
            self._refuse(name, f"{least} or more", value)

    def _refuse(self, name: str, wanted: str, got: object = None) -> NoReturn:
        shown = got if got is not None or not hasattr(self, name) else getattr(self, name)
        raise ExperimentError(f"recipe {self.name!r}, field {name}: got {shown!r}; use {wanted}")

    # -- changing it ----------------------------------------------------------------------

    def with_(self, **changes: Any) -> Recipe:
        """A copy with some fields changed; an unknown field is an ExperimentError.

        A stage is given whole, as None, or as a mapping of those of its fields that change.
        """
        known = [field.name for field in fields(self)]
        for name, value in changes.items():
            if name not in known:
                raise ExperimentError(
                    f"recipe {self.name!r}: there is no field {name!r}; known are {', '.join(known)}"
                )
            if name in _STAGES and isinstance(value, Mapping):
                changes[name] = self._stage(name, value)
        return replace(self, **changes)

    def _stage(self, name: str, changes: Mapping[str, Any]) -> Stage:
        stage = getattr(self, name) or _STAGES[name]()
        known = [field.name for field in fields(stage)]
        for one in changes:
            if one not in known:
                raise ExperimentError(
                    f"recipe {self.name!r}, field {name}: there is no {one!r}; known are {', '.join(known)}"
                )
        made: Stage = replace(stage, **changes)
        return made

    def as_dict(self) -> dict[str, Any]:
        """Every field as a plain value."""
        return asdict(self)

    def stated(self) -> dict[str, Any]:
        """The fields that are not at their defaults, for headers and hashes (see `wolflab.defaults`)."""
        return stated(self)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Recipe:
        """The recipe that `stated` tells of."""
        bare = cls(told["name"])
        return bare.with_(**{name: value for name, value in told.items() if name != "name"})


MOST_CANDIDATES = 8


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


AS_WRITTEN: Mapping[str, Any] = MappingProxyType({"wording": "paper", "retries": 0})
"""What every recipe named after a paper pins: its wording, and one try."""

PAPER_002: Mapping[str, Any] = MappingProxyType({"layout": "paper", **AS_WRITTEN})
"""What every preset that reproduces a table of 002 pins, beside one target a call."""

REFLECTIVE: Mapping[str, Any] = MappingProxyType(
    {"reflect": Reflection(), "layout": "recall", "temperature": 0.0, "speech_temperature": 0.0}
)
"""What makes a player reflective. The response is sampled at 0, every step before it at 0.3 (003 §4.1)."""

DEDUCTION_004: Mapping[str, Any] = MappingProxyType(
    {"deduce": Deduction(uncertain=6, judge_pack=False), "layout": "paper"}
)
"""004's form: one call for all living others but the pack, 6 for whoever is uncertain, and a record in blocks
of facts, potential truths and potential deceptions, numbered through (004 §4.1)."""

_AGENTS_004 = (
    Recipe("react"),
    Recipe("cot", think="before"),
    Recipe("recon", think="before", refine=True),
    Recipe("concurrent", **REFLECTIVE),
    Recipe("diverse", **DEDUCTION_004, propose=Proposal()),
    Recipe("strategic", **DEDUCTION_004, propose=Proposal(choose="policy")),
    Recipe("atomic", **DEDUCTION_004, propose=Proposal(source="intents", choose="policy")),
)
"""The agents of 004's tables, by its names: `react` is `vanilla`, `concurrent` is `reflective`. ReAct, CoT
and ReCon read the raw observation, in the order of events (004 §5.1); the blocks come with a deduction."""

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            Recipe("vanilla"),
            Recipe("deductive", Deduction()),
            Recipe("deductive-002", Deduction(calls="each", show=False), **PAPER_002),
            Recipe("deductive-004", **DEDUCTION_004, **AS_WRITTEN),
            Recipe("reflective", **REFLECTIVE),
            Recipe("reflective-003", tips=True, **REFLECTIVE, **AS_WRITTEN),
            *_AGENTS_004,
            *(replace(agent, name=f"{agent.name}-004", **AS_WRITTEN) for agent in _AGENTS_004),
        )
    }
)
"""Language-agent recipes by name. `random` needs no model and is not a recipe. A name with a paper's number
is the agent as that paper has it."""


def recipe(name: str) -> Recipe:
    """The recipe of that name; ExperimentError lists the known ones."""
    if not isinstance(name, str) or name not in RECIPES:
        raise ExperimentError(f"there is no recipe {name!r}; known are random, {', '.join(RECIPES)}")
    return RECIPES[name]
