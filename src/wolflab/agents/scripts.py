"""Scripts: fixed rules that choose a candidate without a model and without learning.

A policy that does not beat the best script has learned no more than a rule of a few lines. A script is a pure
function of the view, the ask and the candidates. It reads statements with `text.reading`. Where no candidate
has what it looks for, it takes the first one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from numbers import Integral
from types import MappingProxyType

from ..errors import AgentError
from ..rules import ROLES, Ask, DayBroke, Pick, Said, View
from ..text.notes import Candidate
from ..text.reading import Accusation, Act, Claim, Report, Suggestion, read_in
from ..text.replies.chosen_action import read_action
from .own import own_function

Choosing = Callable[[View, Ask, Sequence[Candidate]], int]
"""Takes a view, an ask and its candidates; returns the index of one of these."""


@dataclass(frozen=True, slots=True)
class Script:
    """A rule. does: what it takes, in words. position: it goes by the candidates' places alone."""

    does: str
    choose: Choosing
    position: bool = False


def choice_of(name: str, view: View, ask: Ask, candidates: Sequence[Candidate]) -> int:
    """The index that the script of that name chooses; AgentError for a user's that gives none."""
    number = script_named(name)(view, ask, candidates)
    whole = isinstance(number, Integral) and not isinstance(number, bool)  # numpy's integers too
    if not whole or not 0 <= number < len(candidates):
        raise AgentError(
            f"script {name} gave {number!r} for {len(candidates)} candidates; return the index of one, from 0"
        )
    return int(number)


def script_named(name: str) -> Choosing:
    """The rule of a script in `SCRIPTS`, or of a user's, ``module:function``, which is imported."""
    return own_function(name) if ":" in name else SCRIPTS[name].choose


# -- what scripts look at -------------------------------------------------------------------------


def _most(score: Callable[[View, Ask, Candidate], float]) -> Choosing:
    """The rule that takes the candidate with the highest score, the first of equal ones."""

    def choose(view: View, ask: Ask, candidates: Sequence[Candidate]) -> int:
        scores = [score(view, ask, candidate) for candidate in candidates]
        return scores.index(max(scores))

    return choose


def _said(view: View, ask: Ask, candidate: Candidate) -> tuple[Act, ...]:
    """The speaker's own acts in a candidate for a statement; none in other candidates."""
    if ask.options is not None:
        return ()
    return tuple(
        act for act in read_in(view.ruleset, candidate.action, view.seat) if act.speaker == view.seat
    )


def _ability(act: Act) -> str:
    """The ability that a speaker's act claims, "see" or "other"; "" for none."""
    match act:
        case Report(kind=kind):
            return "see" if kind == "see" else "other"
        case Claim(role=role, denied=False) if role in ROLES and not ROLES[role].wolf:
            kinds = [duty.kind for duty in ROLES[role].duties]
            return "see" if "see" in kinds else "other" if kinds else ""
    return ""


def _claims(first: str, accusing: bool = False) -> Choosing:
    """The rule that takes a statement that claims this ability, else one that claims another one.

    accusing: of equal ones the one that accuses most.
    """

    def score(view: View, ask: Ask, candidate: Candidate) -> float:
        claimed = {_ability(act) for act in _said(view, ask, candidate)} - {""}
        return (first in claimed) + bool(claimed) + accusing * _accuses(view, ask, candidate) / 100

    return _most(score)


def _conceals(view: View, ask: Ask, candidate: Candidate) -> float:
    return not any(isinstance(act, Claim | Report) for act in _said(view, ask, candidate))


def _against(act: Act) -> tuple[int, int] | None:
    """(target, strength from 1 to 3) of an act against somebody; None for another one."""
    match act:
        case Accusation(target=target, strength=strength):
            return target, strength
        case Report(kind="see", target=target, what="Werewolf") | Suggestion(target=target, against=False):
            return target, 3
    return None


def _accuses(view: View, ask: Ask, candidate: Candidate) -> float:
    return sum(aimed[1] for act in _said(view, ask, candidate) if (aimed := _against(act)) is not None)


def _letters(view: View, ask: Ask, candidate: Candidate) -> float:
    return len(candidate.action) + len(candidate.reasoning)


def _with_majority(view: View, ask: Ask, candidate: Candidate) -> float:
    """How many others speak today against the target of a vote, or those whom a statement is against."""
    speaks = {
        (act.speaker, aimed[0])
        for event in takewhile(lambda event: not isinstance(event, DayBroke), reversed(view.events))
        if isinstance(event, Said) and event.seat != view.seat
        for act in read_in(view.ruleset, event.text, event.seat)
        if (aimed := _against(act)) is not None
    }
    targets = {aimed[0] for act in _said(view, ask, candidate) if (aimed := _against(act)) is not None}
    if ask.kind == "vote":
        action = read_action(candidate.action, ask, view.ruleset)
        targets = {action.seat} if isinstance(action, Pick) else set()
    return sum(target in targets for _, target in speaks)


def _at(place: int) -> Choosing:
    """The rule that takes the candidate at this index, or the last one."""
    return lambda view, ask, candidates: min(place, len(candidates) - 1)


SCRIPTS: Mapping[str, Script] = MappingProxyType(
    {
        "first": Script("the first candidate", _at(0), position=True),
        "second": Script("the second candidate", _at(1), position=True),
        "last": Script("the last candidate", _at(sys.maxsize), position=True),
        "longest": Script("the candidate with most letters, its reasoning included", _most(_letters)),
        "shortest": Script("the one with fewest letters", _most(lambda *seen: -_letters(*seen))),
        "claims-seer": Script("a statement that claims to be the Seer, else another ability", _claims("see")),
        "claims-ability": Script(
            "a statement that claims an ability such as the Doctor's, else the Seer's", _claims("other")
        ),
        "claims-and-accuses": Script(
            "the same, and of equal ones the one that accuses most", _claims("other", accusing=True)
        ),
        "conceals": Script("a statement that claims no role and reports nothing", _most(_conceals)),
        "accuses": Script("the statement that accuses most", _most(_accuses)),
        "majority": Script(
            "the vote, or statement, against those against whom most others speak today",
            _most(_with_majority),
        ),
    }
)
"""The scripts by name. "first" is the model's own first idea: of `village` the action that it takes without
candidates, so that it plays as `deductive-004`.
"""
