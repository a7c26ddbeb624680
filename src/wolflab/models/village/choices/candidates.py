"""Candidates: several different actions, and the choice of one of them (004 §4.2, E.5).

The first candidate is the player's own action: the reply that `Decide` would get under the key of the turn's
"act" step. The others follow strategies (`choosing_by_strategy`, `speaking_by_strategy`) in an order drawn by
key, in which every strategy that the situation allows can come up. Two candidates are never the same option,
nor statements with the same acts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import log
from typing import TypeVar

from ....rules import PASS, Action, Ask, Pick, Ruleset
from ....text.notes import Candidate
from ....text.reading import Act, read_in
from ....text.replies.chosen_action import read_action
from ..draws import KeyedDraws
from ..scene import HASTE, TableScene
from ..speech.phrases import Point, speak
from ..speech.speaking_by_habit import with_own_vote_only
from ..speech.speaking_by_strategy import HONEST, LYING, Speech
from ..styles import Style
from .choosing_by_habit import ChosenOption, choose_by_habit
from .choosing_by_strategy import reason_of_chance, strategies, target_detail

T = TypeVar("T")
OWN = 850
"""The chance, in thousandths, that a player takes the candidate nearest to its own action."""

_PLAIN = Style()


def own_key(key: str) -> str:
    """The key of the player's own action: the request's, with the step "act"."""
    return f"{key.rsplit('|', 2)[0]}|act|0"


def in_order(items: Sequence[T], weights: Sequence[int], draws: KeyedDraws) -> list[T]:
    """The items in an order drawn by key: each place goes to one of the rest, with a chance by weight."""
    drawn = draws.many(len(items), "order")
    waits = [-log((step + 1) / (1 << 32)) / weight for step, weight in zip(drawn, weights, strict=True)]
    return [items[at] for at in sorted(range(len(items)), key=waits.__getitem__)]


# -- choices ------------------------------------------------------------------------------------


def option_candidates(
    scene: TableScene, ask: Ask, count: int, own: ChosenOption, draws: KeyedDraws
) -> list[ChosenOption]:
    """At most `count` different actions with their reasons, `own` first. draws: for their order."""
    legal = ask.options or ()
    seats = [option.seat for option in legal if isinstance(option, Pick)]
    reasons = {own[0]: own[1]}
    choices = strategies(scene, ask.kind)
    for choice in in_order(choices, [choice.weight for choice in choices], draws):
        if len(reasons) == count:
            break
        action = choice.action(scene, seats)
        if action in legal and action not in reasons:
            reasons[action] = f"{choice.mark} {target_detail(scene, ask.kind, action)}".strip()
    if len(reasons) < count:
        rest = _shuffled(scene, [option for option in legal if option not in reasons], draws)
        reasons |= {action: reason_of_chance(scene, action) for action in rest[: count - len(reasons)]}
    return list(reasons.items())


def _shuffled(scene: TableScene, rest: Sequence[Action], draws: KeyedDraws) -> list[Action]:
    """The remaining options, in an order drawn by key; doing nothing and the own pack come last."""
    order = in_order(rest, [1] * len(rest), draws)
    last = [PASS, *(Pick(seat) for seat in scene.pack)]
    return sorted(order, key=lambda action: action in last)


# -- statements ---------------------------------------------------------------------------------


def statement_candidate(
    scene: TableScene, ask: Ask, earlier: Sequence[Candidate], bank: str, draws: KeyedDraws
) -> tuple[str, str]:
    """One more statement, different from the earlier ones: (reason, text)."""
    rules = scene.situation.ruleset
    said = [_acts_in(candidate.action, rules, scene.me) for candidate in earlier]
    reasonings = " ".join(candidate.reasoning for candidate in earlier)
    for mark, points, detail in _unused_speeches(scene, reasonings, draws):
        said_in_turn = with_own_vote_only(scene, _with_opening(scene, ask.kind, points, draws))
        text = speak(said_in_turn, rules, bank, draws)
        if _acts_in(text, rules, scene.me) not in said:
            return f"{mark} {detail}".strip(), text
    return "I have nothing different to say.", speak([Point("quiet")], rules, bank, draws)


def _unused_speeches(
    scene: TableScene, reasonings: str, draws: KeyedDraws
) -> Iterator[tuple[str, list[Point], str]]:
    """The strategies not used yet, in an order drawn by key: (mark, points, detail)."""
    speeches = LYING if scene.wolf else HONEST
    for speech in in_order(speeches, _readiness(scene.wolf, scene.style), draws):
        made = speech.make(scene) if speech.mark not in reasonings else None
        if made is not None:
            yield speech.mark, *made
    rest = scene.prey() if scene.wolf else scene.opponents()
    for seat in in_order(rest, [1] * len(rest), draws):
        points = [Point("accuse 2", seat), Point("propose", seat)]
        yield f"I name {scene.name(seat)} for once.", points, ""


@cache
def _readiness(lying: bool, style: Style) -> list[int]:
    """The weights of strategies in that style: up to three times their own, and never 0."""

    def weight(speech: Speech) -> int:
        usual: int = getattr(_PLAIN, speech.lean)
        styled: int = getattr(style, speech.lean)
        return max(speech.weight // 10, min(3 * speech.weight, speech.weight * styled // usual))

    return list(map(weight, LYING if lying else HONEST))


def _with_opening(scene: TableScene, kind: str, points: list[Point], draws: KeyedDraws) -> list[Point]:
    """The points as a statement of that kind: its opening, and a Sheriff's recommendation for a vote."""
    if kind in ("campaign", "last-words"):
        opening = Point("campaign" if kind == "campaign" else "farewell")
        return [opening, *(point for point in points if point.kind != "propose")]
    if scene.situation.sheriff == scene.me:
        turned = [replace(point, kind="recommend") if point.kind == "propose" else point for point in points]
        return [Point("summary"), *turned]
    return [Point("open"), *points] if draws.chance("open", 500) else points


@lru_cache(1 << 13)
def _acts_in(text: str, rules: Ruleset, me: int) -> frozenset[Act]:
    """The acts read in a statement."""
    return frozenset(read_in(rules, text, me))


# -- taking one ---------------------------------------------------------------------------------


def candidate_taken(
    scene: TableScene, ask: Ask, candidates: Sequence[Candidate], own: str, draws: KeyedDraws
) -> tuple[int, str]:
    """The number of the chosen candidate (from 0), and the reason: mostly the one nearest to its `own` action
    (in words).

    Else another statement, or an option that seems about as good.
    """
    keeps = draws.chance("own idea", OWN)
    why = "This is what comes most naturally to me." if keeps else "On second thoughts I prefer this one."
    if ask.options is not None:
        return _option(scene, ask, candidates, own, None if keeps else draws), why
    nearest = _nearest(scene, candidates, own)
    others = [number for number in range(len(candidates)) if number != nearest]
    return (nearest if keeps or not others else draws.one("other idea", others)), why


def _option(
    scene: TableScene, ask: Ask, candidates: Sequence[Candidate], own: str, again: KeyedDraws | None
) -> int:
    """The own action if it is among them; otherwise, or with draws to look `again`, the best of them."""
    rules = scene.situation.ruleset
    offered = [read_action(candidate.action, ask, rules) for candidate in candidates]
    own_action = read_action(own, ask, rules)
    if again is None and own_action in offered:
        return offered.index(own_action)
    legal = tuple(dict.fromkeys(action for action in offered if not isinstance(action, str)))
    if not legal:
        return 0
    if again is not None:
        scene = replace(scene, table=again, haste=HASTE)
    return offered.index(choose_by_habit(scene, replace(ask, options=legal))[0])


def _nearest(scene: TableScene, candidates: Sequence[Candidate], own: str) -> int:
    """The statement that shares most acts with the own one; the first of equal ones."""
    rules = scene.situation.ruleset
    own_acts = _acts_in(own, rules, scene.me)

    def likeness(number: int) -> float:
        acts = _acts_in(candidates[number].action, rules, scene.me)
        return len(own_acts & acts) / len(own_acts | acts) if own_acts | acts else 1.0

    return max(range(len(candidates)), key=likeness)
