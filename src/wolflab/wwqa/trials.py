"""Small games that the engine plays to find facts of the rules. In a trial nobody dies and nobody is voted
out, unless its wish says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..rules import (
    NO,
    PASS,
    SHIELDS,
    SILENCE,
    Action,
    Ask,
    Event,
    Outcome,
    Pick,
    Ruleset,
    deal,
    pick,
    seats_of,
)
from ..rules.engine import Step, begin, step
from ..rules.state import State

Wish = Callable[[Ask], Action | None]
"""The action for an ask; None: as in a quiet game."""


@dataclass(frozen=True)
class Trial:
    """The asks and events of a game in order, and its last state."""

    asks: tuple[Ask, ...]
    events: tuple[Event, ...]
    state: State

    def of(self, seat: int, kinds: frozenset[str]) -> list[Ask]:
        """The asks of these kinds to a seat."""
        return [ask for ask in self.asks if ask.seat == seat and ask.kind in kinds]

    def alive(self, seat: int) -> bool:
        """Whether the seat is still in the game at the end."""
        return bool(self.state.alive >> seat & 1)


def seated(rules: Ruleset) -> tuple[str, ...]:
    """The roles of every trial, seat by seat."""
    return tuple(name for name, n in rules.roles.items() for _ in range(n))


def trial(
    rules: Ruleset, wish: Wish = lambda ask: None, sheriff: int | None = None, rounds: int = 2
) -> Trial:
    """Play this many rounds, regardless of the ruleset's limit. sheriff: the seat that takes office if there
    is one (None: the last seat).
    """
    office = rules.players - 1 if sheriff is None else sheriff
    now = begin(_unlimited(rules))
    events = list(now.events)
    asks: list[Ask] = []
    while now.asks and now.state.round <= rounds:
        asks += now.asks
        now = step(now.state, [_reply(ask, now.state, wish, office) for ask in now.asks])
        events += now.events
    return Trial(tuple(asks), tuple(events), now.state)


def _reply(ask: Ask, state: State, wish: Wish, office: int) -> Action:
    if ask.kind == "deal":
        return deal(seated(state.ruleset)[len(state.roles)])
    wanted = wish(ask)
    if wanted is not None and ask.allows(wanted):
        return wanted
    options = ask.options
    if options is None:
        return SILENCE
    if ask.kind in ("sheriff", "candidate", "drawn", "elect") and pick(office) in options:
        return pick(office)
    if PASS in options:
        return PASS
    if NO in options:
        return NO
    living = seats_of(state.alive)
    if ask.kind == "vote":  # for the next player, so that all have equally many votes
        after = [pick(seat) for seat in (*living, *living)][living.index(ask.seat) + 1 :]
        return next((one for one in after if one in options), options[0])
    if ask.kind == "kill" or ask.kind in SHIELDS:  # the attacked player is shielded, another one every night
        others = [seat for seat in living if not state.roles[seat].wolf]
        shielded = any(state.roles[seat].shields for seat in living)
        target = pick(others[(state.round if shielded else ask.seat) % len(others)])
        return target if target in options else options[0]
    return options[0]


@lru_cache(256)
def _unlimited(rules: Ruleset) -> Ruleset:
    return rules.with_(max_rounds=99)


# -- how games can end ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Survivors:
    """The living at some point of a game, by role, and how the game ended there (None: it goes on)."""

    left: Counter[str]
    wolves: int
    outcome: Outcome | None

    @property
    def others(self) -> int:
        """The living that are no Werewolves."""
        return self.left.total() - self.wolves


@lru_cache(64)
def reachable_survivors(rules: Ruleset) -> tuple[Survivors, ...]:
    """All survivors that a game can reach by night kills of others and by votes, played by the engine. The
    Sheriff and the limit on rounds are left out; they do not affect who wins.
    """
    order = "ascending" if rules.speaking_order == "sheriff_side" else rules.speaking_order
    plain = _unlimited(rules).with_(sheriff="none", sheriff_role=None, never_sheriff=(), speaking_order=order)
    first = _until(begin(plain), "night", None)
    seen: set[tuple[tuple[str, ...], str]] = set()
    ahead = [first.state]
    found: dict[tuple[str, ...], Survivors] = {}
    while ahead:
        state = ahead.pop()
        left = Counter(state.roles[seat].name for seat in seats_of(state.alive))
        wolves = sum(state.roles[seat].wolf for seat in seats_of(state.alive))
        key = (tuple(sorted(left.elements())), "over" if state.outcome else state.phase)
        if key in seen:
            continue
        seen.add(key)
        if state.outcome is not None or key[0] not in found:
            found[key[0]] = Survivors(left, wolves, state.outcome)
        if state.outcome is None:
            ahead += _next(state)
    return tuple(found.values())


def _next(state: State) -> Iterator[State]:
    """The next states, from a night to its day's vote, or from a vote to the next night: nobody leaves, or
    one holder of a role.
    """
    by_role = {state.roles[seat].name: seat for seat in seats_of(state.alive)}
    night = state.phase == "night"
    for target in (None, *by_role.values()):
        if not (night and target is not None and state.roles[target].wolf):
            yield _until(Step(state, (), state.asks), "voting" if night else "night", target).state


def _until(now: Step, phase: str, target: int | None) -> Step:
    """Play on to the next ask of that phase; `target` is killed without a shield, or voted out."""

    def wish(ask: Ask) -> Action | None:
        if target is None or ask.kind not in ("kill", "vote", *SHIELDS):
            return None
        if ask.kind in SHIELDS:
            others = [one for one in ask.options or () if one != pick(target) and isinstance(one, Pick)]
            return others[0] if others else PASS
        return pick(target)

    while now.asks and now.asks[0].phase != phase:
        now = step(now.state, [_reply(ask, now.state, wish, 0) for ask in now.asks])
    return now
