"""What a seat cannot know does not show: not in its view, not in what it is asked.

Two games are twins for a seat when everything that the seat may rightly know is the same in both, while
the other seats hold each other's roles and did other things in the night. The seat's view and its asks
must then be equal to the byte. "May rightly know" is `proper_audience`, written from the rules of the
table and not from the engine, so that a leak in the engine shows as a difference between twins.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wolflab.rules.shielding as shielding
from marks import examples, with_slow
from rules_helpers import Game, of, rulesets, uniform
from test_rules_properties import dealt_roles, proper_audience
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    NINE,
    PASS,
    ROLES,
    SHERIFF,
    WITCH,
    Action,
    Ask,
    Dealt,
    Event,
    GameEnded,
    Learned,
    PackMet,
    Revealed,
    Ruleset,
    Shot,
)
from wolflab.rules.engine import step

TRIES = 150
"""Nights tried before a twin is given up."""


class NoTwin(Exception):
    """The hidden hand dealt cannot explain what the seat saw."""


def knowledge(events: Sequence[Event], roles: Sequence[str], seat: int) -> list[Event]:
    """The events that `seat` may rightly know."""
    return [event for event in events if proper_audience(event, roles) & 1 << seat]


def swaps(game: Game, seat: int) -> Iterator[list[str]]:
    """Deals that `seat` cannot tell from the game's own: two roles it does not know change places."""
    roles = dealt_roles(game)
    known = {seat}
    known |= {e.target for e in of(game.log.events, Learned) if e.seat == seat}
    known |= {e.seat for e in of(game.log.events, Revealed)}
    known |= {e.seat for e in of(game.log.events, Shot)}
    known |= {s for e in of(game.log.events, PackMet) if seat in e.seats for s in e.seats}
    free = [s for s in range(len(roles)) if s not in known]
    for i, a in enumerate(free):
        for b in free[i + 1 :]:
            if roles[a] != roles[b]:
                other = list(roles)
                other[a], other[b] = roles[b], roles[a]
                yield other


class Twin(Game):
    """A game with other hidden roles that repeats all that `seat` rightly knew of the first one."""

    def __init__(self, first: Game, seat: int, roles: list[str], rng: random.Random) -> None:
        self.first, self.seat, self.roles, self.rng = first, seat, roles, rng
        self.first_roles = dealt_roles(first)
        super().__init__(first.rules, roles)

        self.full = knowledge(first.log.events, self.first_roles, seat)

    def follow(self) -> None:
        """Play on until the end, or until the end of one of the two tells them apart."""
        while not self.over and not self.parted(self.log.events):
            ask = self.asks[0]
            if ask.phase == "night":
                self._night()
                continue
            replies = [self.replied(a) for a in self.asks]
            if ask.kind == "sheriff" and not ask.allows(replies[0]):
                raise NoTwin  # only seats with one role are drawn, and this one has another now
            self.reply(replies)

    def replied(self, ask: Ask) -> Action:
        """What was replied in the first game; a Hunter whom that did not have does not shoot."""
        if ask.phase == "departure" and ask.id not in self.first.replies:
            return PASS
        return self.first.replies[ask.id]

    def last_duties(self, round: int) -> set[str]:
        """Asks of the first game's dawn that must come again: the seat's own, and where somebody shot."""
        found = set()
        for ask, reply in self.first.trail:
            if ask.round == round and ask.phase == "departure":
                found |= {ask.id} if ask.seat == self.seat or reply is not PASS else set()
            elif ask.round == round and ask.phase != "night":
                break
        return found

    def parted(self, events: Sequence[Event]) -> bool:
        """Whether `events` go another way than the first game, or on where that has ended."""
        lived = knowledge(events, self.roles, self.seat)
        return lived != self.full[: len(lived)] or len(lived) >= len(self.full) - 1

    def fits(self, events: Sequence[Event]) -> bool:
        """Whether `events` are what the seat knew of the first game, up to the end of either."""
        lived = knowledge(events, self.roles, self.seat)
        for mine, theirs in zip(lived, self.full, strict=False):
            if mine != theirs:
                return isinstance(mine, GameEnded) or isinstance(theirs, GameEnded)
        return True

    def _night(self) -> None:
        """Find hidden choices that look to the seat like the first game's night."""
        for _ in range(TRIES):
            night = self._try_night()
            if night is not None and self.fits([*self.log.events, *night[0]]):
                for answers in night[1]:
                    self.reply(answers)
                return
        raise NoTwin

    def _try_night(self) -> tuple[list[Event], list[list[Action]]] | None:
        """One random night in which the seat does what it did: (events, replies), or None."""
        state, events, replies = self.state, list[Event](), list[list[Action]]()
        due = self.last_duties(state.round)
        while state.outcome is None and state.asks[0].phase in ("night", "departure"):
            answers = []
            for ask in state.asks:
                assert ask.options is not None
                if ask.phase == "departure" and ask.seat != self.seat:
                    answers.append(self.replied(ask))
                    due.discard(ask.id)
                    continue
                mine = self.first.replies.get(ask.id) if ask.seat == self.seat else None
                if ask.seat == self.seat and (mine is None or mine not in ask.options):
                    return None
                answers.append(self.rng.choice(ask.options) if mine is None else mine)
                due.discard(ask.id)
            if not all(ask.allows(answer) for ask, answer in zip(state.asks, answers, strict=True)):
                return None
            replies.append(answers)
            result = step(state, answers)
            state = result.state
            events += result.events
        return None if due else (events, replies)


def asked(game: Game, seat: int) -> list[Ask]:
    return [ask for ask, _ in game.trail if ask.seat == seat]


def compare(first: Game, twin: Twin, seat: int) -> None:
    """Views and asks equal to the byte, as far as both games go."""
    views = [list(game.log.view(seat).events) for game in (first, twin)]
    proper = [
        knowledge(first.log.events, twin.first_roles, seat),
        knowledge(twin.log.events, twin.roles, seat),
    ]
    same = next((i for i, (a, b) in enumerate(zip(*proper, strict=False)) if a != b), min(map(len, proper)))
    # Where the twins part, it is at something rightly known (the game ended in one of them); the views
    # must agree on everything up to that point, with nothing slipped in between.
    bytes_of = [repr(view[:same]).encode() for view in views]
    assert bytes_of[0] == bytes_of[1], f"seat {seat} can tell the twins apart"
    asks = [asked(first, seat), asked(twin, seat)]
    shared = min(map(len, asks))
    assert repr(asks[0][:shared]) == repr(asks[1][:shared])


def twins(rules: Ruleset, seed: int, limit: int = 3) -> Iterator[tuple[Game, Twin, int]]:
    """A random game and, for some seats, a twin of it."""
    rng = random.Random(seed)
    first = Game(rules)
    first.play(uniform(rng))
    seats = list(range(rules.players))
    rng.shuffle(seats)
    for seat in seats[:limit]:
        others = list(swaps(first, seat))
        if not others:
            continue
        try:
            twin = Twin(first, seat, rng.choice(others), rng)
            twin.follow()
        except NoTwin:
            continue
        yield first, twin, seat


@given(rulesets(max_rounds=2), st.integers(0, 2**32 - 1))
@examples(25)
def test_twins_look_alike_whatever_the_ruleset(rules: Ruleset, seed: int) -> None:
    for first, twin, seat in twins(rules, seed):
        compare(first, twin, seat)


ASSIGNED = SHERIFF.with_(sheriff="assigned", sheriff_death="stop")


@pytest.mark.parametrize(
    "rules",
    with_slow([SHERIFF, ASSIGNED, WITCH, DOCTOR, NINE], [SHERIFF, NINE]),
    ids=["elected", "assigned", "witch", "doctor", "nine"],
)
def test_twins_of_the_presets_look_alike(rules: Ruleset) -> None:
    found = 0
    whole = 0
    for seed in range(12):
        for first, twin, seat in twins(rules, seed):
            compare(first, twin, seat)
            found += 1
            whole += len(twin.log.events) >= 20
            assert twin.roles != twin.first_roles
            assert twin.roles[seat] == twin.first_roles[seat]
    # Enough twins of some length, or the comparison would prove little.
    assert found >= 8
    assert whole >= 5


def leaks_found(rules: Ruleset) -> int:
    caught = 0
    for seed in range(12):
        for first, twin, seat in twins(rules, seed):
            try:
                compare(first, twin, seat)
            except AssertionError:
                caught += 1
    return caught


def test_a_planted_leak_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody learn whom the Guard shields: the twins must come apart."""
    assert leaks_found(SHERIFF) == 0
    monkeypatch.setattr(shielding, "only", lambda *seats: EVERYONE)
    assert leaks_found(SHERIFF) > 0


def test_a_planted_leak_in_the_pack_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody see who belongs to the pack."""
    import wolflab.rules.engine as engine

    monkeypatch.setattr(engine, "PackMet", lambda seats, audience: PackMet(seats, EVERYONE))
    assert leaks_found(DOCTOR) > 0


def test_roles_know_their_own() -> None:
    """A seat's own role is in its view, nobody else's is, and only the pack knows the pack."""
    game = Game(WITCH, ["Werewolf", "Werewolf", "Villager", "Villager", "Seer", "Guard", "Witch"])
    for seat in range(7):
        own = [(e.seat, e.role) for e in game.log.view(seat).events if isinstance(e, Dealt | Revealed)]
        assert own == [(seat, game.state.roles[seat].name)]
        pack = [e for e in game.log.view(seat).events if isinstance(e, PackMet)]
        assert len(pack) == ROLES[own[0][1]].pack
