"""Whatever the ruleset and whatever is played: games end, the dead are not asked, states stay as they are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marks import examples
from rules_helpers import Game, of, rulesets, snapshot, uniform
from wolflab.errors import IllegalReply
from wolflab.rules import (
    CHANCE,
    EVERYONE,
    MODERATOR,
    ROLES,
    Action,
    Ask,
    Chose,
    DayBroke,
    Dealt,
    Event,
    GameEnded,
    Learned,
    PackMet,
    Pick,
    Reason,
    Ruleset,
    Say,
    SheriffDrawn,
    Shot,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Winner,
    only,
    pick,
)
from wolflab.rules.engine import step

seeds = st.integers(0, 2**32 - 1)
FROM_BEYOND = {"succeed", "last-words", "shoot"}
"""What the dead are asked: who follows them; what they say as they leave; whom they shoot then."""


def proper_audience(event: Event, roles: Sequence[str]) -> int:
    """Who may learn of `event`, from the rules of the table and not from the engine."""
    pack = only(*(seat for seat, role in enumerate(roles) if ROLES[role].pack))
    match event:
        case Dealt() | Learned() | VictimShown():
            return only(event.seat)
        case PackMet():
            return only(*event.seats)
        case Chose():
            return pack if event.kind == "kill" else only(event.seat)
        case SheriffDrawn() | SpeakersDrawn():
            return MODERATOR
        case _:
            return EVERYONE


def dealt_roles(game: Game) -> list[str]:
    return [event.role for event in sorted(of(game.log.events, Dealt), key=lambda e: e.seat)]


def check_ask(game: Game, ask: Ask) -> None:
    """One ask is proper: alive (or a known exception), with legal and distinct options."""
    alive = game.state.alive
    assert ask.id.startswith(f"{ask.round}/{ask.kind}/")
    assert ask.round == game.state.round
    if ask.seat == CHANCE:
        assert ask.options
        assert ask.weights is not None
        assert len(ask.weights) == len(ask.options)
        assert all(isinstance(w, int) and w > 0 for w in ask.weights)
    else:
        assert ask.id.endswith(f"/{ask.seat}")
        assert ask.weights is None
        assert alive >> ask.seat & 1 or ask.kind in FROM_BEYOND
    if ask.options is not None:
        assert ask.options
        assert len(set(ask.options)) == len(ask.options)
        for option in ask.options:
            if isinstance(option, Pick) and ask.phase != "deal":
                assert alive >> option.seat & 1, f"{ask.id} offers the dead seat {option.seat}"


@given(rulesets(), seeds)
@examples(60)
def test_random_games_end_properly(rules: Ruleset, seed: int) -> None:
    game = Game(rules)
    choose = uniform(random.Random(seed))
    while not game.over:
        assert game.asks, "a game that is not over waits for somebody"
        assert len({ask.id for ask in game.asks}) == len(game.asks)
        for ask in game.asks:
            check_ask(game, ask)
        before_state, before = game.state, snapshot(game.state)
        game.reply([choose(ask) for ask in game.asks])  # also: no ask id twice in a game
        assert snapshot(before_state) == before, "step changed the state it was given"
    roles = dealt_roles(game)
    assert {name: roles.count(name) for name in rules.roles} == dict(rules.roles)
    for event in game.log.events:
        assert event.audience == proper_audience(event, roles), event
    check_ending(game, roles)


def check_ending(game: Game, roles: list[str]) -> None:
    """The outcome is announced once, last, and is what the living say it is."""
    outcome = game.state.outcome
    assert outcome is not None
    assert of(game.log.events, GameEnded) == [game.log.events[-1]]
    assert game.log.events[-1] == GameEnded(outcome, EVERYONE)
    assert game.asks == ()
    rules, alive = game.rules, game.alive()
    gone = {s for e in of(game.log.events, DayBroke) for s in e.deaths}
    gone |= {e.seat for e in of(game.log.events, VoteCounted) if e.seat is not None}
    gone |= {e.target for e in of(game.log.events, Shot)}
    assert set(alive) == set(range(rules.players)) - gone
    wolves = [s for s in alive if ROLES[roles[s]].wolf]
    others = [s for s in alive if not ROLES[roles[s]].wolf]
    plain = [s for s in others if ROLES[roles[s]].plain]
    if outcome.winner is Winner.VILLAGE:
        assert not wolves
    elif outcome.winner is Winner.WEREWOLVES:
        assert {
            Reason.PARITY: len(wolves) >= len(others),
            Reason.VILLAGERS_GONE: not plain,
            Reason.ABILITIES_GONE: others == plain,
            Reason.OTHERS_GONE: not others,
        }[outcome.reason]
    else:
        assert wolves
        assert others
    if outcome.reason is Reason.ROUND_LIMIT:
        assert game.state.round == rules.max_rounds
    assert 1 <= game.state.round <= rules.max_rounds


@given(rulesets(), seeds)
@examples(30)
def test_a_step_is_a_function_of_state_and_replies(rules: Ruleset, seed: int) -> None:
    """The same state can be continued twice, in two ways or in the same way."""
    game = Game(rules)
    choose = uniform(random.Random(seed))
    fork = random.Random(seed + 1)
    while not game.over:
        state, replies = game.state, [choose(ask) for ask in game.asks]
        step(state, [uniform(fork)(ask) for ask in state.asks])  # another branch, thrown away
        first, second = step(state, replies), step(state, replies)
        assert snapshot(first.state) == snapshot(second.state)
        assert (first.events, first.asks) == (second.events, second.asks)
        game.reply(replies)


@given(rulesets(), seeds)
@examples(30)
def test_illegal_replies_are_refused_and_change_nothing(rules: Ruleset, seed: int) -> None:
    game = Game(rules)
    rng = random.Random(seed)
    choose = uniform(rng)
    while not game.over:
        replies: list[Action] = [choose(ask) for ask in game.asks]
        spoilt = rng.randrange(len(replies))
        ask = game.asks[spoilt]
        wrong: list[Action] = [pick(rules.players), pick(-2)]
        if ask.options is not None:
            wrong += [
                Say("I vote for everybody."),
                *(p for p in map(pick, range(rules.players)) if p not in ask.options),
            ]
        bad = [*replies]
        bad[spoilt] = rng.choice(wrong)
        assert not ask.allows(bad[spoilt])
        assert ask.allows(replies[spoilt])
        before = snapshot(game.state)
        with pytest.raises(IllegalReply) as refused:
            step(game.state, bad)
        assert ask.id in str(refused.value)
        assert snapshot(game.state) == before
        game.reply(replies)


@given(rulesets(), seeds)
@examples(20)
def test_the_replies_alone_replay_a_game(rules: Ruleset, seed: int) -> None:
    game = Game(rules)
    game.play(uniform(random.Random(seed)))
    again = Game(rules)
    again.play(lambda ask: game.replies[ask.id])
    assert again.log.events == game.log.events
    assert [ask for ask, _ in again.trail] == [ask for ask, _ in game.trail]


@given(rulesets(), seeds)
@examples(20)
def test_a_view_is_the_events_of_its_audience_in_order(rules: Ruleset, seed: int) -> None:
    """However often and whenever it is looked at."""
    game = Game(rules)
    rng = random.Random(seed)
    choose = uniform(rng)
    while not game.over:
        game.reply([choose(ask) for ask in game.asks])
        seat = rng.randrange(rules.players)
        mine = tuple(event for event in game.log.events if event.audience & 1 << seat)
        assert tuple(game.log.view(seat).events) == mine


@given(rulesets(), seeds)
@examples(20)
def test_ask_ids_name_only_what_a_seat_knows_of_itself(rules: Ruleset, seed: int) -> None:
    """An id is round/kind/seat, so it can tell a seat nothing about the others (no running count)."""
    game = Game(rules)
    game.play(uniform(random.Random(seed)))
    for ask, _ in game.trail:
        round, kind, about = ask.id.split("/")
        assert (int(round), kind) == (ask.round, ask.kind)
        assert about == (str(ask.seat) if ask.seat != CHANCE else about)
        if ask.seat == CHANCE:
            assert about == "-" or int(about) < rules.players


@pytest.mark.slow
def test_the_random_rulesets_reach_every_value_of_every_switch() -> None:
    """The properties above are only as good as the rulesets they are tried on."""
    seen: dict[str, set[object]] = {}

    @given(rulesets())
    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    def collect(rules: Ruleset) -> None:
        for name, value in rules.as_dict().items():
            seen.setdefault(name, set()).add(str(value))

    collect()
    few = {name: values for name, values in seen.items() if len(values) < 2}
    assert set(few) == {"name", "player_name", "role_names", "wording"}
    for name, hint in get_type_hints(Ruleset).items():
        words = [value for value in get_args(hint) if isinstance(value, str)]
        assert not words or seen[name] == set(words), name
