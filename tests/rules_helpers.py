"""Driving the rules by hand: a game that is asked and answered step by step, and random rulesets.

For tests only. It knows `wolflab.rules` and nothing above it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TypeVar, get_args, get_type_hints

from hypothesis import strategies as st

from wolflab.rules import (
    CHANCE,
    PASS,
    ROLES,
    SILENCE,
    Action,
    Ask,
    Event,
    Log,
    Pick,
    Ruleset,
    deal,
    pick,
)
from wolflab.rules.engine import Step, begin, step
from wolflab.rules.state import State

Choose = Callable[[Ask], Action]
E = TypeVar("E")


class Game:
    """One game in progress: the state, everything that happened, and every reply given by ask id."""

    def __init__(self, rules: Ruleset, roles: Sequence[str] | None = None) -> None:
        self.rules = rules
        self.log = Log(rules)
        self.replies: dict[str, Action] = {}
        self.trail: list[tuple[Ask, Action]] = []
        self._take(begin(rules))
        if roles is not None:
            self.deal(roles)

    @property
    def asks(self) -> tuple[Ask, ...]:
        """Who is asked now."""
        return self.state.asks

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.state.outcome is not None

    def _take(self, result: Step) -> None:
        self.state: State = result.state
        self.log.extend(result.events)

    def reply(self, replies: Sequence[Action]) -> tuple[Event, ...]:
        """Answer all current asks; returns what happened."""
        asked = self.asks
        result = step(self.state, replies)
        for ask, action in zip(asked, replies, strict=True):
            assert ask.id not in self.replies, f"ask id {ask.id} occurs twice in a game"
            self.replies[ask.id] = action
            self.trail.append((ask, action))
        self._take(result)
        return result.events

    def deal(self, roles: Sequence[str]) -> None:
        """Answer chance so that seat *s* holds ``roles[s]``."""
        for role in roles:
            self.reply([deal(role)])

    def play(self, choose: Choose, until: Callable[[Game], bool] = lambda game: False) -> None:
        """Answer every ask by `choose`, until the end or until `until` says so."""
        while not self.over and not until(self):
            self.reply([choose(ask) for ask in self.asks])

    def kinds(self) -> list[tuple[str, int]]:
        """(kind, seat) of the current asks."""
        return [(ask.kind, ask.seat) for ask in self.asks]

    def night(self, **choices: Mapping[int, Action | int]) -> tuple[Event, ...]:
        """Play one night: ``night(kill={0: 3}, protect={4: 3})``; a seat that is not named takes no risk.

        Unnamed seats pass, else say no, else look at, kill or shield the last option.
        Returns the events from nightfall to the first ask of the day. A named choice that is never
        asked for fails.
        """
        start = len(self.log.events)
        left = {(kind, seat) for kind, by_seat in choices.items() for seat in by_seat}
        while self.asks and self.asks[0].phase == "night":
            replies: list[Action] = []
            for ask in self.asks:
                wanted = choices.get(ask.kind, {}).get(ask.seat)
                left.discard((ask.kind, ask.seat))
                assert ask.options
                replies.append(ask.options[-1] if wanted is None else _action(wanted))
            self.reply(replies)
        assert not left, f"nobody asked for {sorted(left)}"
        return tuple(self.log.events[start:])

    def day(self, votes: Mapping[int, int | None], **others: Action) -> tuple[Event, ...]:
        """Silent day: everybody votes as `votes` says (seats not named pass); chance kinds by name."""
        start = len(self.log.events)
        round = self.state.round
        while not self.over and self.asks[0].phase != "night" and self.state.round == round:
            replies: list[Action] = []
            for ask in self.asks:
                if ask.kind == "vote":
                    target = votes.get(ask.seat)
                    replies.append(PASS if target is None else pick(target))
                elif ask.kind in others:
                    replies.append(others[ask.kind])
                else:
                    assert ask.options is None or ask.seat == CHANCE or ask.kind in ("lead", "elect"), ask
                    replies.append(SILENCE if ask.options is None else ask.options[0])
            self.reply(replies)
        return tuple(self.log.events[start:])

    def alive(self) -> tuple[int, ...]:
        """Living seats."""
        return tuple(s for s in range(self.rules.players) if self.state.alive >> s & 1)


def _action(value: Action | int) -> Action:
    return pick(value) if isinstance(value, int) else value


def of(events: Sequence[Event], kind: type[E]) -> list[E]:
    """The events of one type."""
    return [event for event in events if isinstance(event, kind)]


def one(events: Sequence[Event], kind: type[E]) -> E:
    """The only event of one type."""
    (event,) = of(events, kind)
    return event


def uniform(rng: random.Random) -> Choose:
    """Every seat picks uniformly among its options; chance by its weights; speakers are silent."""

    def choose(ask: Ask) -> Action:
        if ask.options is None:
            return SILENCE
        if ask.weights is not None:
            return rng.choices(ask.options, ask.weights)[0]
        return ask.options[int(rng.random() * len(ask.options))]

    return choose


def random_game(rules: Ruleset, seed: int) -> Game:
    """A whole random game."""
    game = Game(rules)
    game.play(uniform(random.Random(seed)))
    return game


def snapshot(state: State) -> str:
    """Every field of a state, deeply, as text (the shared caches aside)."""
    names = [name for name in State.__annotations__ if name != "table" and hasattr(state, name)]
    return repr([(name, getattr(state, name)) for name in names])


def leaves(rules: Ruleset, roles: Sequence[str] | None = None) -> Iterator[tuple[Fraction, State]]:
    """Every way a game can go when each seat picks uniformly: (probability, final state).

    Statements count as one option (silence). Only for tiny rulesets. roles: only of the games with this deal.
    """
    stack = [(Fraction(1), begin(rules).state if roles is None else Game(rules, roles).state)]
    while stack:
        chance, state = stack.pop()
        if state.outcome is not None:
            yield chance, state
            continue
        ways: list[list[tuple[Fraction, Action]]] = []
        for ask in state.asks:
            options: tuple[Action, ...] = (SILENCE,) if ask.options is None else ask.options
            weights = (1,) * len(options) if ask.weights is None else ask.weights
            total = sum(weights)
            ways.append([(Fraction(w, total), o) for w, o in zip(weights, options, strict=True)])
        for combination in product(*ways):
            p = chance
            for q, _ in combination:
                p *= q
            stack.append((p, step(state, [action for _, action in combination]).state))


# -- random rulesets ------------------------------------------------------------------------


@st.composite
def casts(draw: st.DrawFn) -> dict[str, int]:
    """Roles of a legal game of 5 to 12 players."""
    players = draw(st.integers(5, 12))
    wolves = draw(st.integers(1, (players - 1) // 2))
    shielder = draw(st.sampled_from(["Guard", "Doctor"]))
    others = draw(
        st.lists(
            st.sampled_from(["Villager", "Villager", "Seer", "Witch", "Hunter", "Idiot", shielder]),
            min_size=players - wolves,
            max_size=players - wolves,
        )
    )
    return {"Werewolf": wolves, **{name: others.count(name) for name in sorted(set(others))}}


@st.composite
def rulesets(draw: st.DrawFn, /, **fixed: object) -> Ruleset:
    """Any consistent ruleset: every switch is drawn, then what contradicts itself is mended."""
    roles = draw(casts())
    values: dict[str, object] = {"name": "drawn", "roles": roles}
    for name, hint in get_type_hints(Ruleset).items():
        if hint is bool:
            values[name] = draw(st.booleans())
        elif get_args(hint) and all(isinstance(a, str) for a in get_args(hint)):
            values[name] = draw(st.sampled_from(get_args(hint)))
    values["max_rounds"] = draw(st.integers(1, 5))
    values["first_player"] = draw(st.integers(0, 1))
    values.update(fixed)
    players = sum(roles.values())
    names = [f"player_{seat + int(str(values['first_player']))}" for seat in range(players)]
    values["stops_without"] = draw(st.sampled_from([None, *names]))
    barred = draw(st.sampled_from([0, 0, 1, 2])) if values["sheriff"] != "none" else 0
    if values["sheriff"] == "none" and values["speaking_order"] == "sheriff_side":
        values["speaking_order"] = "ascending"
    kinds = {ROLES[role].plain for role in roles if not ROLES[role].wolf}
    needed = {"no_villager": {True}, "no_villager_or_no_ability": {True, False}}
    if not needed.get(str(values["wolves_win"]), set()) <= kinds:
        values["wolves_win"] = "parity"
    barred = min(barred, 1) if values["wolves_win"] in ("no_villager", "no_others") else barred
    values["never_sheriff"] = draw(st.permutations(names))[:barred]
    if values["sheriff"] in ("assigned", "contested"):
        values["sheriff_role"] = draw(
            st.sampled_from([None, *sorted(n for n, k in roles.items() if k > barred)])
        )
    if values["sheriff"] in ("elected", "contested"):
        values["candidates"] = draw(st.integers(1, players - max(1, barred)))
    if values["pass_competes"]:
        values["may_abstain"] = True
    return Ruleset(**values)  # type: ignore[arg-type]


__all__ = [
    "PASS",
    "Choose",
    "Game",
    "Pick",
    "casts",
    "leaves",
    "of",
    "one",
    "random_game",
    "rulesets",
    "snapshot",
    "uniform",
]
