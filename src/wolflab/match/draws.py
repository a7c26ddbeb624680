"""Random draws of a game, keyed by their purpose.

A draw is a hash of (key, purpose). It does not depend on the draws before it: a probe, a retry or another
order of answers changes nothing. Equal keys give equal draws on any machine.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

from ..rules import Action, Ask, Pick, Ruleset, Side
from ..rules.engine import begin, step
from ..rules.state import State


class Draws:
    """Keyed draws. `key` is a text that names the game ("seed/deal/repeat")."""

    __slots__ = ("_hash", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self._hash = blake2b(key.encode(), digest_size=8, person=b"wolflab")

    def below(self, n: int, purpose: str) -> int:
        """A uniform integer in [0, n) (bias below n/2⁶⁴)."""
        draw = self._hash.copy()
        draw.update(b"\0" + purpose.encode())
        return (int.from_bytes(draw.digest(), "big") * n) >> 64

    def share(self, purpose: str) -> float:
        """A uniform number in [0, 1), one of 2³⁰."""
        return self.below(1 << 30, purpose) / (1 << 30)


def draw_option(ask: Ask, draws: Draws) -> Action:
    """Chance's answer to an ask, by the ask's weights."""
    assert ask.options is not None
    assert ask.weights is not None
    if len(ask.options) == 1:
        return ask.options[0]
    point = draws.below(sum(ask.weights), ask.id)
    for option, weight in zip(ask.options, ask.weights, strict=True):
        point -= weight
        if point < 0:
            return option
    raise AssertionError("weights sum to more than was drawn below")


def draw_of_deal(ask: Ask, state: State, draws: Draws, sheriff_side: Side | None) -> Action:
    """Chance's answer to an ask of the deal. sheriff_side: the side that a Sheriff drawn with the cards is
    of, in a stratified design; None: any.
    """
    if ask.kind != "sheriff" or sheriff_side is None:
        return draw_option(ask, draws)
    assert ask.options is not None
    of_side = [
        option
        for option in ask.options
        if isinstance(option, Pick) and state.roles[option.seat].side is sheriff_side
    ]
    return of_side[draws.below(len(of_side), ask.id)]


class DealtCards(NamedTuple):
    """Roles by seat. sheriff: the seat drawn with the cards to become Sheriff, or None."""

    roles: tuple[str, ...]
    sheriff: int | None


def dealt(ruleset: Ruleset, draws: Draws, sheriff_side: Side | None = None) -> DealtCards:
    """The cards that these draws deal. sheriff_side: see `draw_of_deal`."""
    now = begin(ruleset)
    while now.asks and now.asks[0].kind in ("deal", "sheriff"):
        now = step(now.state, [draw_of_deal(ask, now.state, draws, sheriff_side) for ask in now.asks])
    return DealtCards(tuple(role.name for role in now.state.roles), now.state.intended)
