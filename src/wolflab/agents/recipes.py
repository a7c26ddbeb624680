"""Recipes: a language agent is one pipeline, assembled by typed settings.

recall → (reflect | deduce) → (propose → choose | think) → act. An action is chosen from candidates, or given
at once after thinking (`think`). If a statement has both candidates and a plan, the plan is the reasoning of
the chosen candidate. The papers' agents are recipes, not subclasses. A stage that is None is left out. Each
field is one decision of a paper, which an experiment may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal, NoReturn, get_args

from annotated_types import Ge, Interval

from ..defaults import non_default_values
from ..errors import ExperimentError
from ..fields import Amount, FieldError, from_plain, nearest
from ..text.asking.prompts import STYLES
from ..text.kinds import KINDS, Kind
from ..text.questions import FORMS_FIRST, Layout, ReplyForm, Wording
from .scripts import SCRIPTS

Component = Literal[
    "rules", "recent", "informative", "questions", "predefined", "reflection", "suggestion", "reasoning"
]
COMPONENTS: tuple[Component, ...] = get_args(Component)
"""The removable parts of a reflective player (003 §4.4.1: Z, O, V, Q, R, S, C). Without "predefined" it asks
only its own questions. Without "reflection" the answers take its place, and there are no suggestions."""

Attribute = Literal["reasoning", "confidence", "evidence"]
ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)
"""The parts of a deduction beside the role (004 Table 7)."""

MOST_CANDIDATES = 8

Count = Annotated[int, Ge(0)]


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
    alpha: Annotated[int, Interval(ge=0, le=10)] = 6
    uncertain: Annotated[int, Interval(ge=1, le=10)] | None = None
    judge_pack: bool = True
    wolf_exception: bool = False
    prune: bool = True
    show: bool = True
    attributes: tuple[Attribute, ...] = ATTRIBUTES


@dataclass(frozen=True, slots=True)
class Reflection:
    """Reflect before every response, as in 003 (§3.3–3.4).

    recent: K, the newest messages in the context. informative: N, the number of highest-scoring messages
    beside them. chosen, free: L of the nine predefined questions and M of its own. retrieve: T messages for
    each answer. in_turn: later questions see the earlier answers (003's released code); otherwise all are
    answered at once. temperature: of all steps before the response. advice: a suggestion from past games is
    shown ("experience"), or replaced by unrelated words of the same length ("random").
    """

    recent: Count = 15
    informative: Count = 10
    chosen: Count = 5
    free: Count = 2
    retrieve: Count = 5
    in_turn: bool = False
    temperature: Amount = 0.3
    advice: Literal["experience", "random"] = "experience"


@dataclass(frozen=True, slots=True)
class Exploration:
    """Sometimes take a candidate at random, so that a policy can be learned from recorded games.

    share: ε, the probability that a choice is uniform over all candidates; otherwise it is as without
    exploration. decisions: the most such choices of a seat in a game; None for any number. The probabilities
    are noted (`text.notes.ChoiceDraw`).
    """

    share: Annotated[float, Interval(gt=0, le=1)] = 0.1
    decisions: Annotated[int, Ge(1)] | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Choose one of several candidates (004 §4.2 and §4.3).

    source: "model" proposes them (one call for night actions and votes, one call for each candidate of a
    statement, 004 C.6); "intents" are the 13 fixed intents of 004's Atomic agent, which the model then words.
    candidates: N. kinds: the kinds of action with candidates; others are answered at once. choose: by the
    model with one more call, by a trained policy, or by the rule `script` (`agents.scripts`), without a call.
    policy_temperature: T in π^(1/T): 1 draws from π, as in training; 0 takes the likeliest. explore:
    sometimes choose at random; the model, policy or script is asked all the same.
    """

    source: Literal["model", "intents"] = "model"
    candidates: Annotated[int, Interval(ge=1, le=MOST_CANDIDATES)] = 3
    kinds: tuple[Kind, ...] = KINDS
    choose: Literal["model", "policy", "script"] = "model"
    script: str | None = None
    policy_temperature: Amount = 1.0
    explore: Exploration | None = None


_STAGES = ("deduce", "reflect", "propose")


@dataclass(frozen=True)
class Recipe:
    """The settings of a language agent.

    deduce, reflect, propose: the stages of those names; None leaves one out. without: removed `COMPONENTS`
    (003 §4.4.1). tips: whether the rules have hints at strategy (003 A.5).

    think: the place of an action's reasoning: in the same reply ("with"), in a separate call before it
    ("before": chain of thought), or in a separate call for statements alone ("before_statements", against the
    slip of 004 H.3; with candidates, the chosen one is worded again from its reasoning). refine: a further
    call revises that plan from the others' point of view before a statement (ReCon).

    silent: it always stays silent, without asking its model (004 E.4).

    hide_reasons: it is told that a monitor may read its private reasoning, and not to reveal its role or its
    plans there.

    style: one of `text.asking.prompts.STYLES` (004 C.7). retries: further tries after an unusable reply, with
    the reason shown (0 in 002). speech_temperature: for statements; temperature: for everything else but the
    steps of a reflection.

    Raises ExperimentError for settings that contradict each other. `with_` checks values from a file.
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
    retries: Count = 2
    temperature: Amount = 0.0
    speech_temperature: Amount = 0.1
    max_tokens: Annotated[int, Ge(1)] | None = None
    without: tuple[Component, ...] = ()
    tips: bool = False
    silent: bool = False
    hide_reasons: bool = False

    def __post_init__(self) -> None:
        if self.style is not None and self.style not in STYLES:
            self._refuse("style", f"one of {', '.join(STYLES)}")
        if set(self.without) - {"rules"} and self.reflect is None:
            self._refuse("without", "[rules], or a recipe that reflects, such as reflective")
        if self.reflect is not None:
            self._check_reflective()
        if (self.reflect is not None) != (self.layout == "recall"):
            others = "paper, append, shared or dialogue for the others"
            self._refuse("layout", f"recall for a recipe that reflects, and {others}")
        if self.layout in FORMS_FIRST:
            self._check_forms_first()
        if self.refine and self.think != "before":
            self._refuse("refine", "it with think: before, whose plan it refines")
        if self.propose is not None:
            self._check_proposal(self.propose)
        if self.hide_reasons and {"questions", "reflection", "reasoning"} <= set(self.without):
            self._refuse(
                "hide_reasons", "false: without questions, reflection and reasoning it gives no reasons"
            )

    @property
    def teaches(self) -> bool:
        """Whether it writes reflections, so that others can learn from its games."""
        return self.reflect is not None and "reflection" not in self.without

    @cached_property
    def forms(self) -> tuple[ReplyForm, ...]:
        """The forms of reply that its layout shows together with the rules; () for other layouts."""
        if self.layout not in FORMS_FIRST:
            return ()
        made = self.propose
        needed: dict[ReplyForm, bool] = {
            "judgement": self.deduce is not None,
            "action": True,
            "statement": True,
            "candidates": made is not None and made.source == "model",
            "choice": made is not None and made.choose == "model",
        }
        return tuple(form for form, is_needed in needed.items() if is_needed)

    @property
    def weighs(self) -> bool:
        """Whether a trained policy chooses its candidates."""
        return self.propose is not None and self.propose.choose == "policy"

    @property
    def embeds(self) -> tuple[str, ...]:
        """The uses of embedders of its player, except "experience": messages to recall, a policy's texts."""
        needed = {"messages": self.reflect is not None, "policy": self.weighs}
        return tuple(use for use, is_needed in needed.items() if is_needed)

    # -- checks ---------------------------------------------------------------------------

    def _check_reflective(self) -> None:
        if self.deduce is not None:
            self._refuse("reflect", "null, or set deduce to null: a player reflects or deduces")
        if self.propose is not None:
            self._refuse("propose", "null: a player that reflects answers at once")
        if self.think != "with":
            self._refuse("think", "with: a player that reflects thinks in its response")

    def _check_forms_first(self) -> None:
        if self.wording != "own":
            wanted = f"paper or append with the papers' wording; {self.layout} is for wording: own"
            self._refuse("layout", wanted)
        if self.deduce is not None and self.deduce.prune:
            self._refuse("layout", f"{self.layout} with deduce.prune: false; nothing leaves such a prompt")

    def _check_proposal(self, made: Proposal) -> None:
        if not made.kinds:
            self._refuse("propose.kinds", f"a list of some of {', '.join(KINDS)}", made.kinds)
        if self.think == "before":
            self._refuse("think", "with or before_statements: each candidate carries its own reasoning")
        if made.source == "intents" and made.choose != "policy":
            self._refuse("propose.choose", "policy: among fixed intents only a policy chooses", made.choose)
        if (made.choose == "script") != (made.script is not None):
            wanted = "propose.choose: script and a script's name in propose.script, or neither"
            self._refuse("propose.script", wanted, made.script or made.choose)
        if made.script is not None and ":" not in made.script and made.script not in SCRIPTS:
            wanted = f"one of {', '.join(SCRIPTS)}, or a function of your own, module:function"
            self._refuse("propose.script", wanted, made.script)
        if made.policy_temperature != 1 and made.choose != "policy":
            wanted = "1, or propose.choose: policy; a model that chooses does so at the recipe's temperature"
            self._refuse("propose.policy_temperature", wanted, made.policy_temperature)

    def _refuse(self, name: str, wanted: str, got: object = None) -> NoReturn:
        shown = getattr(self, name) if got is None else got
        raise ExperimentError(f"recipe {self.name!r}, field {name}: got {shown!r}; use {wanted}")

    # -- plain values ---------------------------------------------------------------------

    def with_(self, **changes: Any) -> Recipe:
        """A copy with some fields changed to values as in a file.

        A stage is given complete, as None, or as a mapping of the fields that change. Raises ExperimentError
        for an unknown field and for a wrong value.
        """
        values = self.as_dict()
        for name, value in changes.items():
            stage = name in _STAGES and isinstance(value, Mapping)
            values[name] = {**(values[name] or {}), **value} if stage else value
        try:
            return from_plain(Recipe, values)
        except FieldError as wrong:
            raise ExperimentError(f"recipe {self.name!r}, field {wrong}") from None

    def as_dict(self) -> dict[str, Any]:
        """Every field as a plain value."""
        return asdict(self)

    def stated(self) -> dict[str, Any]:
        """The fields without those at their defaults, for headers and hashes (see `wolflab.defaults`)."""
        return non_default_values(self)

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Recipe:
        """The recipe with the values of `Recipe.stated`."""
        bare = cls(stated["name"])
        return bare.with_(**{name: value for name, value in stated.items() if name != "name"})


AS_WRITTEN: Mapping[str, Any] = MappingProxyType({"wording": "paper", "retries": 0})
"""Settings of every recipe with a paper's number: the wording close to the papers, and no retries."""

PAPER_002: Mapping[str, Any] = MappingProxyType({"layout": "paper", **AS_WRITTEN})
"""Settings of every recipe that reproduces a table of 002, beside one target for each call."""

REFLECTIVE: Mapping[str, Any] = MappingProxyType(
    {"reflect": Reflection(), "layout": "recall", "temperature": 0.0, "speech_temperature": 0.0}
)
"""Settings of a reflective player. The response is sampled at 0, every step before it at 0.3 (003 §4.1)."""

DEDUCTION_004: Mapping[str, Any] = MappingProxyType(
    {"deduce": Deduction(uncertain=6, judge_pack=False), "layout": "paper"}
)
"""Settings of 004's deduction (§4.1): one call for all living others but the pack, reliability 6 for
"Uncertain", and a record in numbered blocks of facts, potential truths and potential deceptions."""

_AGENTS_004 = (
    Recipe("react"),
    Recipe("cot", think="before"),
    Recipe("recon", think="before", refine=True),
    Recipe("concurrent", **REFLECTIVE),
    Recipe("diverse", **DEDUCTION_004, propose=Proposal()),
    Recipe("strategic", **DEDUCTION_004, propose=Proposal(choose="policy")),
    Recipe("atomic", **DEDUCTION_004, propose=Proposal(source="intents", choose="policy")),
)
"""The agents of 004's tables by its names; `concurrent` is `reflective`. ReAct, CoT and ReCon read the raw
observation in the order of events (004 §5.1); only a deduction has blocks."""

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            Recipe("vanilla", layout="shared"),
            Recipe("deductive", Deduction(prune=False), layout="shared"),
            Recipe("dialogue", layout="dialogue"),
            Recipe("deductive-002", Deduction(calls="each", show=False), **PAPER_002),
            Recipe("deductive-004", **DEDUCTION_004, **AS_WRITTEN),
            Recipe("reflective", **REFLECTIVE),
            Recipe("reflective-003", tips=True, **REFLECTIVE, **AS_WRITTEN),
            *_AGENTS_004,
            *(replace(agent, name=f"{agent.name}-004", **AS_WRITTEN) for agent in _AGENTS_004),
        )
    }
)
"""Recipes by name. `random` needs no model and is not a recipe. A name with a paper's number is the agent
as in that paper."""


def recipe(name: str) -> Recipe:
    """The recipe of that name; ExperimentError lists the known ones."""
    if not isinstance(name, str) or name not in RECIPES:
        known = ("random", "person", *RECIPES)
        raise ExperimentError(f"there is no recipe {name!r}; {nearest(str(name), known)}")
    return RECIPES[name]
