"""What the events say is what the engine holds, for the moderator; and for a seat what it may know of it.

Expectations come from states, replies and the rules of the table, never from the events that are folded.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marks import examples
from rules_helpers import Game, rulesets, uniform
from test_rules_views import knowledge, twins
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    PRESETS,
    ROLES,
    SHERIFF,
    WITCH,
    Departure,
    Facts,
    Learned,
    LeftBy,
    Pick,
    Ruleset,
    Said,
    View,
    Voted,
    facts_of,
    only,
    seats_of,
    with_facts,
)

games = st.sampled_from(sorted(PRESETS.values(), key=lambda rules: rules.name)) | rulesets()
seeds = st.integers(0, 2**32 - 1)
HOW: dict[str, LeftBy] = {"night": "night", "voting": "vote", "departure": "shot"}
"""Phase of the asks that cost somebody the game, to how."""


def left_in(game: Game) -> int:
    """Mask of those who play on: somebody voted out does not, though the last words are still to come."""
    state = game.state
    return state.alive if state.voted_out is None else state.alive & ~(1 << state.voted_out)


def played(rules: Ruleset, seed: int) -> Iterator[tuple[Game, tuple[Departure, ...]]]:
    """A random game after every step, with those who left by then, as the states show it."""
    game, gone = Game(rules), list[Departure]()
    choose = uniform(random.Random(seed))
    yield game, ()
    while not game.over:
        before, asked = left_in(game), game.asks[0]
        game.reply([choose(ask) for ask in game.asks])
        lost = seats_of(before & ~left_in(game))
        gone += [Departure(seat, asked.round, HOW[asked.phase]) for seat in lost]
        yield game, tuple(gone)


# -- the moderator's ------------------------------------------------------------------------------


@given(games, seeds)
@examples(40)
def test_the_moderators_facts_are_the_state(rules: Ruleset, seed: int) -> None:
    for game, gone in played(rules, seed):
        state, facts = game.state, game.log.facts
        assert facts.alive == left_in(game)
        assert facts.living == seats_of(left_in(game))
        assert facts.departures == gone
        assert len({one.seat for one in gone}) == len(gone)
        assert (facts.round, facts.sheriff, facts.outcome) == (state.round, state.sheriff, state.outcome)
        assert facts.intended == state.intended
        names = [role.name for role in state.roles]
        assert facts.roles == (*names, *[""] * (rules.players - len(names)))
        assert facts.sides == tuple(ROLES[role].wolf if role else None for role in facts.roles)
        if game.asks:
            phase = {"deal": "setup", "night": "night"}.get(game.asks[0].phase, "day")
            assert facts.phase == phase


def offices(game: Game) -> list[int]:
    """Who took office, in order, by what was answered."""
    kinds = {"drawn", "elect-tie", "succeed"}
    return [action.seat for ask, action in game.trail if ask.kind in kinds and isinstance(action, Pick)]


@given(rulesets(sheriff="drawn", sheriff_death="succession"), seeds)
@examples(20)
def test_sheriffs_are_in_the_order_in_which_they_took_office(rules: Ruleset, seed: int) -> None:
    for game, _ in played(rules, seed):
        assert list(game.log.facts.sheriffs) == offices(game)


# -- a seat's -------------------------------------------------------------------------------------


def looks(game: Game, seat: int) -> set[int]:
    """Whom a seat has looked at, by what it chose."""
    return {
        action.seat
        for ask, action in game.trail
        if ask.seat == seat and ask.kind == "see" and isinstance(action, Pick)
    }


def shooters(game: Game) -> set[int]:
    """Who shot somebody, which everybody saw."""
    return {ask.seat for ask, action in game.trail if ask.kind == "shoot" and isinstance(action, Pick)}


def shown(game: Game, gone: tuple[Departure, ...]) -> set[int]:
    """Whose card was turned over: at once, or after the last words."""
    dead = set(range(game.rules.players)) - set(game.alive())
    if game.rules.reveal == "always":
        return dead
    first = {one.seat for one in gone if (one.round, one.how) == (1, "night")}
    return first if game.rules.reveal == "first_night" else set()


def expected(game: Game, seat: int, gone: tuple[Departure, ...]) -> tuple[list[str], list[bool | None]]:
    """(roles, sides) that a seat knows for certain."""
    truth = [role.name for role in game.state.roles]
    if seat >= len(truth):
        return [""] * game.rules.players, [None] * game.rules.players
    known = {seat} | shown(game, gone) | shooters(game)
    known |= {idiot for idiot, votes in enumerate(game.state.votes) if not votes}
    if ROLES[truth[seat]].pack and len(truth) == game.rules.players:
        known |= {other for other, role in enumerate(truth) if role == truth[seat]}
    seen = looks(game, seat)
    if game.rules.seer_learns == "role":
        known |= seen
    seats = range(game.rules.players)
    roles = [truth[other] if other in known else "" for other in seats]
    return roles, [ROLES[truth[other]].wolf if other in known | seen else None for other in seats]


@given(games, seeds)
@examples(30)
def test_a_seat_knows_what_it_may_and_no_more(rules: Ruleset, seed: int) -> None:
    for game, gone in played(rules, seed):
        all_of_it = game.log.facts
        for seat in range(rules.players):
            facts = game.log.view(seat).facts
            assert facts.alive == all_of_it.alive
            assert facts.departures == all_of_it.departures
            assert facts.sheriffs == all_of_it.sheriffs
            assert (facts.round, facts.phase) == (all_of_it.round, all_of_it.phase)
            assert (facts.outcome, facts.intended) == (all_of_it.outcome, None)
            assert (list(facts.roles), list(facts.sides)) == expected(game, seat, gone)
            if all(all_of_it.roles):
                assert facts.pack_of(seat) == all_of_it.pack_of(seat)


@given(games, seeds)
@examples(20)
def test_whose_roles_differ_between_twins_are_not_known(rules: Ruleset, seed: int) -> None:
    for first, twin, seat in twins(rules, seed):
        views = [list(game.log.view(seat).events) for game in (first, twin)]
        end = next((k for k, (a, b) in enumerate(zip(*views, strict=False)) if a != b), min(map(len, views)))
        one, other = (facts_of(rules, view[:end]) for view in views)
        assert one == other
        for hidden, (a, b) in enumerate(zip(twin.first_roles, twin.roles, strict=True)):
            if a != b:
                assert not one.roles[hidden]
                assert one.sides[hidden] in (None, ROLES[a].wolf)
                assert one.sides[hidden] in (None, ROLES[b].wolf)


# -- how they are read ----------------------------------------------------------------------------


@given(rulesets(), seeds, st.data())
@examples(20)
def test_reading_on_is_reading_anew(rules: Ruleset, seed: int, data: st.DataObject) -> None:
    """Whenever and through whichever view facts are asked for, they are the fold over that view's events."""
    views: list[View] = []
    for game, _ in played(rules, seed):
        roles = [role.name for role in game.state.roles]
        for seat in data.draw(st.sets(st.integers(0, rules.players - 1), max_size=2)):
            view = game.log.view(seat)
            if len(roles) == rules.players:
                assert view.facts == facts_of(rules, knowledge(game.log.events, roles, seat))
            views.append(view)
        if data.draw(st.booleans()):
            assert game.log.facts == facts_of(rules, game.log.events)
    for view in views:  # earlier views of a seat share the cache of its later ones
        assert view.facts == facts_of(rules, view.events)
        start, end = (data.draw(st.integers(0, len(view.events) + 1)) for _ in range(2))
        assert list(view.with_facts(start, end)) == with_facts(rules, view.events)[start:end]
        assert list(view.with_facts(start)) == with_facts(rules, view.events)[start:]
    assert list(game.log.with_facts(3)) == with_facts(rules, game.log.events)[3:]


def test_every_event_stands_with_the_facts_once_it_has_happened() -> None:
    *_, (game, _) = played(DOCTOR, 5)
    events = game.log.events
    for number, (event, facts) in enumerate(with_facts(DOCTOR, events), 1):
        assert event is events[number - 1]
        assert facts == facts_of(DOCTOR, events[:number])


@pytest.mark.parametrize("rules", PRESETS.values(), ids=lambda rules: rules.name)
def test_facts_stay_as_they_are(rules: Ruleset) -> None:
    """Facts that were handed out never change, and talk and votes change none."""
    found = list[tuple[Facts, str]]()
    for game, _ in played(rules, 11):
        found.append((game.log.facts, repr(game.log.facts)))
    assert all(repr(facts) == before for facts, before in found)
    assert len({before for _, before in found}) > 10
    last = found[-1][0]
    assert last.then(Said(0, "discussion", "I am the Seer.", EVERYONE)) is last
    assert last.then(Voted(0, 1, "eliminate", EVERYONE)) is last


def test_no_facts_before_the_first_event() -> None:
    facts = facts_of(WITCH)
    assert facts.living == tuple(range(7))
    assert (facts.round, facts.phase, facts.sheriff, facts.departures) == (0, "setup", None, ())
    assert not any(facts.roles)
    assert facts.pack_of(0) == ()
    assert View(0, WITCH, (), (), {}).facts == facts


def test_the_random_games_hold_what_the_facts_tell() -> None:
    """Nights without deaths, ties, elections, successions, looks: else the comparisons prove little."""
    met: set[object] = set()
    for rules in (*PRESETS.values(), SHERIFF.with_(sheriff="assigned", reveal="always")):
        for seed in range(12):
            *_, (game, gone) = played(rules, seed)
            met |= {one.how for one in gone} | {len(game.log.facts.sheriffs)}
            met |= {ask.kind for ask, _ in game.trail}
            met |= {"looked" for seat in range(rules.players) if any(looks(game, seat))}
            met |= {("learned", len(set(game.log.view(seat).facts.sides))) for seat in range(rules.players)}
    assert {"night", "vote", "shot", 0, 1, 2, "succeed", "looked", ("learned", 3)} <= met


@pytest.mark.parametrize("rules", [SHERIFF, DOCTOR], ids=["looks show roles", "looks show sides"])
@pytest.mark.parametrize(
    ("what", "role", "wolf"),
    [
        ("Villager", "Villager", False),
        ("not a Werewolf", "", False),
        ("a friend of the Seer", "", None),
    ],
)
def test_what_is_learned_is_read_by_its_words(
    rules: Ruleset, what: str, role: str, wolf: bool | None
) -> None:
    """Whoever learned it, and whatever the Seer's looks show: roles of one's own learn in other ways."""
    facts = facts_of(rules, [Learned(0, 3, what, only(0))])
    assert (facts.roles[3], facts.sides[3]) == (role, wolf)


def test_a_werewolf_is_known_by_its_role_where_looks_show_roles() -> None:
    for rules, role in ((SHERIFF, "Werewolf"), (DOCTOR, "")):
        facts = facts_of(rules, [Learned(0, 3, "Werewolf", only(0))])
        assert (facts.roles[3], facts.sides[3]) == (role, True)
