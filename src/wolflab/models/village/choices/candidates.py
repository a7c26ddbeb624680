"""Candidates: several different actions to weigh, and the taste by which one is taken (004 §4.2, E.5).

The first candidate is what the player would do without any others: the very reply that `Decide` would get
under the key of the turn's "act" step. The others follow strategies (`choosing_by_strategy`,
`speaking_by_strategy`) in an order drawn by key, in which every strategy that the situation allows can come
up. Two candidates never come to the same: neither the same option, nor statements in which the same is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log
from typing import TypeVar

from ....rules import PASS, Action, Ask, Pick
from ....text.asking.options import read_action
from ....text.notes import Candidate
from ....text.reading import Act
from ....text.reading import read
from ..draws import KeyedDraws
from ..scene import HASTE, TableScene
from ..speech.speaking_by_strategy import HONEST, LYING, Speech, turned_on
from ..speech.wording import Point, speak
from ..standing import foes, prey
from ..styles import Style
from .choosing_by_habit import ChosenOption, choose
from .choosing_by_strategy import chance, detail, strategies

T = TypeVar("T")
OWN = 850
"""Thousandths of a chance that a player, asked to choose, takes what is nearest to its own idea."""

_PLAIN = Style()


def own_key(key: str) -> str:
    """The key under which the player would simply act: the request's, with the step "act"."""
    return f"{key.rsplit('|', 2)[0]}|act|0"


def in_order(items: Sequence[T], weights: Sequence[int], draws: KeyedDraws) -> list[T]:
    """The items in an order drawn by key: each place goes to one of the rest, as likely as its weight."""
    drawn = draws.many(len(items), "order")
    waits = [-log((step + 1) / (1 << 32)) / weight for step, weight in zip(drawn, weights, strict=True)]
    return [items[at] for at in sorted(range(len(items)), key=waits.__getitem__)]


# -- choices ------------------------------------------------------------------------------------


def options(
    scene: TableScene, ask: Ask, count: int, own: ChosenOption, draws: KeyedDraws
) -> list[ChosenOption]:
    """At most `count` different actions with their reasons, `own` first. draws: for their order."""
    legal = ask.options or ()
    seats = [option.seat for option in legal if isinstance(option, Pick)]
    found = {own[0]: own[1]}
    open_ = strategies(scene, ask.kind)
    for one in in_order(open_, [one.weight for one in open_], draws):
        if len(found) >= count:
            break
        made = one.make(scene, seats)
        action = Pick(made) if isinstance(made, int) else made
        if action is not None and action in legal and action not in found:
            found[action] = f"{one.mark} {detail(scene, ask.kind, action)}".strip()
    if len(found) < count:
        for action in _shuffled(scene, [option for option in legal if option not in found], draws):
            if len(found) < count:
                found[action] = chance(scene, action)
    return list(found.items())


def _shuffled(scene: TableScene, rest: Sequence[Action], draws: KeyedDraws) -> list[Action]:
    """What is left, in an order drawn by key; doing nothing and the own pack come last."""
    order = in_order(rest, [1] * len(rest), draws)
    pack = [Pick(seat) for seat in scene.mates]
    return sorted(order, key=lambda action: action == PASS or action in pack)


# -- statements ---------------------------------------------------------------------------------


def statement(
    scene: TableScene, ask: Ask, earlier: Sequence[Candidate], bank: str, draws: KeyedDraws
) -> tuple[str, str]:
    """One more statement, different from the earlier ones: why, and its text."""
    names = scene.situation.ruleset.names
    said = [heard(one.action, names, scene.me) for one in earlier]
    thought = " ".join(one.reasoning for one in earlier)
    for mark, points, what in _ways(scene, thought, draws):
        text = speak(framed(scene, ask.kind, points, draws), scene.situation.ruleset, bank, draws)
        if heard(text, names, scene.me) not in said:
            return f"{mark} {what}".strip(), text
    return "I have nothing different to say.", speak([Point("quiet")], scene.situation.ruleset, bank, draws)


def _ways(scene: TableScene, thought: str, draws: KeyedDraws) -> Iterator[tuple[str, list[Point], str]]:
    """The strategies not used yet, in the order drawn: mark, points, what is to be said of them this time."""
    speeches = LYING if scene.wolf else HONEST
    for one in in_order(speeches, [readiness(one, scene.style) for one in speeches], draws):
        if one.mark not in thought:
            made = one.make(scene)
            if made is not None:
                yield one.mark, *made
    rest = prey(scene) if scene.wolf else foes(scene)
    for seat in in_order(rest, [1] * len(rest), draws):
        yield f"I name {scene.name(seat)} for once.", turned_on(scene, seat), ""


def readiness(one: Speech, style: Style) -> int:
    """A strategy's weight in that style: up to three times as much, and never nothing."""
    usual: int = getattr(_PLAIN, one.lean)
    now: int = getattr(style, one.lean)
    return max(one.weight // 10, min(3 * one.weight, one.weight * now // usual))


def framed(scene: TableScene, kind: str, points: list[Point], draws: KeyedDraws) -> list[Point]:
    """The points as a statement of that kind: its opening, and a Sheriff's recommendation for a vote."""
    if kind == "campaign":
        return [Point("campaign"), *(point for point in points if point.kind != "propose")]
    if kind == "last-words":
        return [Point("farewell"), *(point for point in points if point.kind != "propose")]
    if scene.situation.sheriff == scene.me:
        turned = [replace(point, kind="recommend") if point.kind == "propose" else point for point in points]
        return [Point("summary"), *turned]
    return [Point("open"), *points] if draws.chance("open", 500) else points


@lru_cache(1 << 13)
def heard(text: str, names: tuple[str, ...], me: int) -> frozenset[Act]:
    """What is read in a statement, whatever its words."""
    return frozenset(read(text, names, me))


# -- taking one ---------------------------------------------------------------------------------


def taken(
    scene: TableScene, ask: Ask, candidates: Sequence[Candidate], own: str, draws: KeyedDraws
) -> tuple[int, str]:
    """Which of the candidates (from 0), and why: mostly what is nearest to its `own` action (in words).

    Else another statement, or what a second look makes of the options: one that seems about as good.
    """
    keeps = draws.chance("own idea", OWN)
    why = "This is what comes most naturally to me." if keeps else "On second thoughts I prefer this one."
    if ask.options is not None:
        return _option(scene, ask, candidates, own, draws if not keeps else None), why
    nearest = _nearest(scene, candidates, own)
    others = [number for number in range(len(candidates)) if number != nearest]
    return (nearest if keeps or not others else draws.one("other idea", others)), why


def _option(
    scene: TableScene, ask: Ask, candidates: Sequence[Candidate], own: str, again: KeyedDraws | None
) -> int:
    """The own action if it is among them; else, or with draws to look `again`, the best of those."""
    rules = scene.situation.ruleset
    offered = [read_action(one.action, ask, rules) for one in candidates]
    mine = read_action(own, ask, rules)
    if again is None and mine in offered:
        return offered.index(mine)
    open_ = tuple(dict.fromkeys(one for one in offered if not isinstance(one, str)))
    if not open_:
        return 0
    if again is not None:
        scene = replace(scene, table=again, haste=HASTE)
    return offered.index(choose(scene, replace(ask, options=open_))[0])


def _nearest(scene: TableScene, candidates: Sequence[Candidate], own: str) -> int:
    """The statement that shares most of what is read in it with the own one; ties to the first."""
    names = scene.situation.ruleset.names
    mine = heard(own, names, scene.me)

    def near(number: int) -> tuple[float, int]:
        theirs = heard(candidates[number].action, names, scene.me)
        both = len(mine | theirs)
        return (len(mine & theirs) / both if both else 1.0, -number)

    return max(range(len(candidates)), key=near)
