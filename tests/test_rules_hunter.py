"""The Hunter: when it may shoot, who learns of it, and what comes before and after; shield and antidote."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rules_helpers import Game, of, one
from wolflab.rules import (
    EVERYONE,
    NINE,
    NO,
    PASS,
    SILENCE,
    TWELVE,
    YES,
    DayBroke,
    Departure,
    Event,
    GameEnded,
    Outcome,
    Reason,
    Revealed,
    Ruleset,
    Said,
    SheriffNamed,
    Shot,
    Winner,
    pick,
)
from wolflab.rules.fallback import fallback

SEATS = ["Werewolf", "Werewolf", "Werewolf", "Villager", "Villager", "Villager", "Seer", "Witch", "Hunter"]
WITCH, HUNTER = 7, 8


def nine(**changes: object) -> Game:
    return Game(NINE.with_(discussion=False, **changes), SEATS)


def night(game: Game, victim: int | None = None, **others: dict[int, object]) -> tuple[Event, ...]:
    """A night in which the pack agrees on `victim`."""
    wolves = [s for s in game.alive() if game.state.roles[s].wolf]
    target = PASS if victim is None else pick(victim)
    return game.night(kill=dict.fromkeys(wolves, target), **others)  # type: ignore[arg-type]


def vote_out(game: Game, seat: int) -> tuple[Event, ...]:
    """Everybody votes for `seat`, and it says nothing; up to the next ask that is not its last words."""
    start = len(game.log.events)
    game.reply([pick(seat) if seat != ask.seat else PASS for ask in game.asks])
    if game.asks and game.asks[0].kind == "last-words":
        game.reply([SILENCE])
    return tuple(game.log.events[start:])


def shooting(game: Game, seat: int = HUNTER) -> bool:
    """Whether the game waits for that Hunter's shot."""
    return game.kinds() == [("shoot", seat)]


# -- when it may ----------------------------------------------------------------------------------


def test_a_killed_hunter_is_asked_at_dawn_whom_it_shoots() -> None:
    game = nine()
    events = night(game, HUNTER)
    assert one(events, DayBroke).deaths == (HUNTER,)
    (ask,) = game.asks
    assert (ask.id, ask.phase, ask.seat) == ("1/shoot/8", "departure", HUNTER)
    assert ask.options == (*map(pick, range(8)), PASS)


def test_a_shot_is_public_at_once_and_tells_who_shot() -> None:
    game = nine()
    night(game, HUNTER)
    events = game.reply([pick(1)])
    assert events == (Shot(HUNTER, 1, EVERYONE),)
    assert game.alive() == (0, 2, 3, 4, 5, 6, 7)
    assert game.asks[0].kind == "vote"
    assert {ask.seat for ask in game.asks} == set(game.alive())
    for seat in range(9):
        facts = game.log.view(seat).facts
        assert facts.departures == (Departure(HUNTER, 1, "night"), Departure(1, 1, "shot"))
        assert facts.roles[HUNTER] == "Hunter"
        assert facts.sides[HUNTER] is False
        assert bool(facts.roles[1]) == (seat < 3)


Way = Callable[[Game], None]


def by_vote(game: Game) -> None:
    night(game)
    vote_out(game, HUNTER)


def by_kill(game: Game) -> None:
    night(game, HUNTER)


def by_poison(game: Game) -> None:
    night(game, poison={WITCH: HUNTER})


def by_kill_and_poison(game: Game) -> None:
    night(game, HUNTER, antidote={WITCH: NO}, poison={WITCH: HUNTER})


SWITCH: dict[Way, str] = {
    by_vote: "hunter_shoots_when_voted_out",
    by_kill: "hunter_shoots_when_killed",
    by_poison: "hunter_shoots_when_poisoned",
    by_kill_and_poison: "hunter_shoots_when_poisoned",
}


@pytest.mark.parametrize("way", SWITCH, ids=lambda way: way.__name__)
@pytest.mark.parametrize("may", [True, False])
def test_each_way_to_leave_has_its_switch(way: Way, may: bool) -> None:
    switches = dict.fromkeys(SWITCH.values(), not may)
    game = nine(**{**switches, SWITCH[way]: may})
    way(game)
    assert HUNTER not in game.alive()
    assert shooting(game) == may


def test_the_usual_switches() -> None:
    found = []
    for way in SWITCH:
        game = nine()
        way(game)
        found.append(shooting(game))
    assert found == [True, True, False, False]


def test_a_living_hunter_is_not_asked() -> None:
    game = nine()
    night(game, 3)
    assert game.asks[0].kind == "vote"
    vote_out(game, 4)
    assert game.asks[0].phase == "night"


# -- what the others learn ------------------------------------------------------------------------


@pytest.mark.parametrize("way", [by_vote, by_kill], ids=lambda way: way.__name__)
def test_not_to_shoot_is_silent(way: Way) -> None:
    """As if it had never been asked."""
    silent, unasked = nine(), nine(hunter_shoots_when_voted_out=False, hunter_shoots_when_killed=False)
    way(silent)
    silent.reply([PASS])
    way(unasked)
    assert silent.log.events == unasked.log.events
    assert silent.asks == unasked.asks


def test_what_cannot_be_used_is_no_shot() -> None:
    game = nine()
    night(game, HUNTER)
    assert fallback(game.asks[0], game.rules) == PASS
    assert fallback(game.asks[0], game.rules.with_(unusable_night_reply="random")) == PASS


def test_cards_are_turned_over_as_players_leave() -> None:
    game = nine(reveal="always")
    events = night(game, HUNTER)
    assert one(events, Revealed) == Revealed(HUNTER, "Hunter", EVERYONE)
    assert game.reply([pick(3)]) == (Shot(HUNTER, 3, EVERYONE), Revealed(3, "Villager", EVERYONE))


def test_a_shot_on_the_first_morning_is_no_death_of_the_first_night() -> None:
    game = nine(reveal="first_night")
    assert [event.seat for event in of(night(game, HUNTER), Revealed)] == [HUNTER]
    assert not of(game.reply([pick(3)]), Revealed)


# -- what comes before and after -------------------------------------------------------------------


def test_last_words_come_first_and_the_shot_has_none() -> None:
    game = nine()
    night(game)
    game.reply([pick(HUNTER) if ask.seat != HUNTER else PASS for ask in game.asks])
    assert game.kinds() == [("last-words", HUNTER)]
    assert of(game.reply([SILENCE]), Said) == [Said(HUNTER, "last words", "", EVERYONE)]
    assert shooting(game)
    assert of(game.reply([pick(3)]), Said) == []
    assert game.asks[0].phase == "night"


SMALL = Ruleset(name="small", roles={"Werewolf": 1, "Villager": 3, "Hunter": 1}, discussion=False)
"""Seats 0 Werewolf, 1 to 3 Villagers, 4 Hunter. Parity."""


@pytest.mark.parametrize(("target", "winner"), [(pick(0), Winner.VILLAGE), (PASS, Winner.WEREWOLVES)])
@pytest.mark.parametrize("when", ["dawn", "vote"])
def test_the_shot_comes_before_the_test_who_has_won(when: str, target: object, winner: Winner) -> None:
    """One Werewolf and one other are left with the Hunter's death, which would be the pack's victory."""
    game = Game(SMALL, ["Werewolf", *["Villager"] * 3, "Hunter"])
    game.night(kill={0: 1})
    if when == "dawn":
        vote_out(game, 2)
        game.night(kill={0: 4})
    else:
        game.day({})
        game.night(kill={0: 2})
        vote_out(game, 4)
    assert shooting(game, 4)
    game.reply([target])  # type: ignore[list-item]
    assert game.state.outcome is not None
    assert game.state.outcome.winner is winner


def test_a_shot_may_win_for_the_werewolves() -> None:
    game = nine(wolves_win="no_villager")
    night(game, 3)
    vote_out(game, 4)
    night(game, HUNTER)
    events = game.reply([pick(5)])
    assert of(events, GameEnded)[0].outcome == Outcome(Winner.WEREWOLVES, Reason.VILLAGERS_GONE)


@pytest.mark.parametrize(
    ("goal", "reason"), [("no_villager_or_no_ability", Reason.ABILITIES_GONE), ("no_villager", None)]
)
def test_the_pack_wins_when_nobody_with_an_ability_is_left(goal: str, reason: Reason | None) -> None:
    game = nine(wolves_win=goal)
    night(game, 6)
    vote_out(game, WITCH)
    night(game, HUNTER)
    game.reply([pick(0)])
    assert (game.state.outcome is None) == (reason is None)
    if reason is not None:
        assert game.state.outcome == Outcome(Winner.WEREWOLVES, reason)


def test_a_pack_without_villagers_and_without_abilities_against_it_wins_by_the_villagers() -> None:
    game = nine()
    night(game, 3)
    vote_out(game, 4)
    night(game, 6, antidote={WITCH: NO}, poison={WITCH: WITCH})
    vote_out(game, HUNTER)
    game.reply([pick(5)])
    assert game.state.outcome == Outcome(Winner.WEREWOLVES, Reason.VILLAGERS_GONE)


@pytest.mark.parametrize("winner", [Winner.VILLAGE, Winner.WEREWOLVES])
def test_the_last_of_both_sides_may_be_shot_in_one_morning(winner: Winner) -> None:
    """Who wins is asked when all shots have fallen."""
    rules = NINE.with_(
        roles={"Werewolf": 1, "Villager": 1, "Witch": 1, "Hunter": 2},
        hunter_shoots_when_poisoned=True,
        witch_may_use_both=True,
        last_wolf_and_villager=winner.name.lower(),
    )
    game = Game(rules, ["Werewolf", "Villager", "Witch", "Hunter", "Hunter"])
    night(game, 3, antidote={2: NO}, poison={2: 4})
    game.reply([pick(0)])
    assert not game.over
    game.reply([pick(1)])
    assert game.state.outcome is not None
    assert game.state.outcome.winner is winner


# -- the Sheriff ----------------------------------------------------------------------------------


def with_sheriff(seat: int, **changes: object) -> Game:
    """The first vote of a game of nine with that Sheriff."""
    game = Game(NINE.with_(discussion=False, sheriff="assigned", **changes), SEATS)
    game.reply([pick(seat)])
    night(game)
    assert game.log.facts.sheriff == seat
    return game


def test_a_dying_sheriff_shoots_before_it_names_who_follows() -> None:
    game = with_sheriff(HUNTER)
    vote_out(game, HUNTER)
    game.reply([pick(3)])
    night(game)
    assert game.kinds() == [("succeed", HUNTER)]
    assert game.asks[0].options == tuple(pick(seat) for seat in range(8) if seat != 3)
    assert one(game.reply([pick(4)]), SheriffNamed).seat == 4


def test_at_dawn_too() -> None:
    game = with_sheriff(HUNTER)
    game.day({})
    night(game, HUNTER)
    assert shooting(game)
    game.reply([pick(0)])
    assert game.kinds() == [("succeed", HUNTER)]


def test_a_sheriff_who_is_shot_names_who_follows() -> None:
    game = with_sheriff(4)
    game.day({})
    night(game, HUNTER)
    game.reply([pick(4)])
    assert game.kinds() == [("succeed", 4)]
    game.reply([pick(5)])
    assert game.log.facts.sheriff == 5


@pytest.mark.parametrize("shoots", [True, False])
def test_a_game_that_stops_with_its_sheriff_stops_after_the_shot(shoots: bool) -> None:
    game = with_sheriff(HUNTER, sheriff_death="stop")
    vote_out(game, HUNTER)
    events = game.reply([pick(3) if shoots else PASS])
    assert [event.target for event in of(events, Shot)] == [3] * shoots
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.SHERIFF_DIED)


def test_a_game_whose_future_sheriff_is_shot_is_void() -> None:
    game = Game(NINE.with_(discussion=False, sheriff="assigned"), SEATS)
    game.reply([pick(4)])
    night(game, HUNTER)
    game.reply([pick(4)])
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.VOID)


def test_the_last_round_ends_after_the_shot() -> None:
    game = nine(max_rounds=1)
    night(game)
    vote_out(game, HUNTER)
    assert shooting(game)
    game.reply([PASS])
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.ROUND_LIMIT)


def test_the_order_of_an_open_vote_leaves_out_who_was_shot() -> None:
    game = nine(votes="open")
    night(game, HUNTER)
    game.reply([pick(1)])
    voters = []
    while game.asks and game.asks[0].kind == "vote":
        voters.append(game.asks[0].seat)
        game.reply([PASS])
    assert voters == [0, 2, 3, 4, 5, 6, 7]


# -- two Hunters ----------------------------------------------------------------------------------

TWO = [*SEATS[:5], "Hunter", *SEATS[6:]]
"""Seats 5 and 8 hunt."""


def two(**changes: object) -> Game:
    roles = {"Werewolf": 3, "Villager": 2, "Seer": 1, "Witch": 1, "Hunter": 2}
    return Game(NINE.with_(roles=roles, discussion=False, **changes), TWO)


def test_a_hunter_who_is_shot_may_shoot_in_turn() -> None:
    game = two()
    night(game, HUNTER)
    assert game.reply([pick(5)]) == (Shot(HUNTER, 5, EVERYONE),)
    assert shooting(game, 5)
    assert HUNTER not in [option.seat for option in game.asks[0].options or () if option != PASS]  # type: ignore[union-attr]
    assert game.reply([pick(0)]) == (Shot(5, 0, EVERYONE),)
    assert game.asks[0].kind == "vote"


def test_not_where_a_killed_one_may_not() -> None:
    game = two(hunter_shoots_when_killed=False)
    night(game)
    vote_out(game, HUNTER)
    game.reply([pick(5)])
    assert game.asks[0].phase == "night"


def test_two_who_die_in_one_night_shoot_seat_by_seat() -> None:
    game = two(hunter_shoots_when_poisoned=True)
    events = night(game, HUNTER, antidote={WITCH: NO}, poison={WITCH: 5})
    assert one(events, DayBroke).deaths == (5, HUNTER)
    assert shooting(game, 5)
    game.reply([pick(0)])
    assert shooting(game, HUNTER)
    assert pick(0) not in (game.asks[0].options or ())
    game.reply([pick(1)])
    assert game.alive() == (2, 3, 4, 6, 7)


def test_who_is_shot_comes_before_whoever_else_leaves() -> None:
    roles = {"Werewolf": 3, "Villager": 2, "Seer": 1, "Witch": 1, "Hunter": 3}
    seats = ["Hunter", *TWO]
    game = Game(NINE.with_(roles=roles, discussion=False, hunter_shoots_when_poisoned=True), seats)
    night(game, 0, antidote={8: NO}, poison={8: 6})
    game.reply([pick(9)])
    assert shooting(game, 9)
    game.reply([PASS])
    assert shooting(game, 6)


# -- shield and antidote on one player --------------------------------------------------------------

CROWD = [*SEATS, "Werewolf", "Villager", "Guard"]
GUARD = 11


def treated(rules: str, shield: bool, cure: bool, victim: int = 3) -> Game:
    """The first night of a game of twelve, in which the pack attacks `victim`."""
    game = Game(TWELVE.with_(discussion=False, shield_and_antidote=rules), CROWD)
    asked = {"antidote": {WITCH: YES}} if cure else {}
    night(game, victim, protect={GUARD: victim if shield else PASS}, **asked)  # type: ignore[arg-type]
    return game


@pytest.mark.parametrize(
    ("rules", "shield", "cure", "dies"),
    [
        ("not_asked", False, False, True),
        ("not_asked", False, True, False),
        ("not_asked", True, False, False),
        ("saves", False, False, True),
        ("saves", False, True, False),
        ("saves", True, False, False),
        ("saves", True, True, False),
        ("kills", False, False, True),
        ("kills", False, True, False),
        ("kills", True, False, False),
        ("kills", True, True, True),
    ],
)
def test_what_shield_and_antidote_do(rules: str, shield: bool, cure: bool, dies: bool) -> None:
    game = treated(rules, shield, cure)
    assert (3 not in game.alive()) == dies
    asked = [ask.kind for ask, _ in game.trail]
    assert ("antidote" in asked) == (not shield or rules != "not_asked")


def test_an_antidote_that_was_not_needed_is_spent() -> None:
    game = treated("saves", True, True)
    game.day({})
    night(game, 4)
    assert [ask.id for ask, _ in game.trail if ask.kind == "antidote"] == ["1/antidote/7"]


def test_a_hunter_who_dies_of_both_was_killed() -> None:
    game = treated("kills", True, True, HUNTER)
    assert shooting(game)


def test_two_who_die_of_nothing() -> None:
    """A shield and an antidote on two players touch neither."""
    game = Game(TWELVE.with_(discussion=False), CROWD)
    night(game, 3, protect={GUARD: 4}, antidote={WITCH: YES})
    assert game.alive() == tuple(range(12))


def test_two_witches_who_cure_one_player_have_both_spent_it() -> None:
    roles = {"Werewolf": 2, "Villager": 3, "Witch": 2}
    game = Game(
        Ruleset(name="two", roles=roles, discussion=False),
        ["Werewolf"] * 2 + ["Villager"] * 3 + ["Witch"] * 2,
    )
    game.reply([pick(2)])
    game.reply([pick(2)])
    assert game.kinds() == [("antidote", 5), ("antidote", 6)]
    game.reply([YES, YES])
    game.night()
    assert 2 in game.alive()
    assert (5, "antidote used") in game.state.memory
    assert (6, "antidote used") in game.state.memory


# -- a player without whom the game stops ---------------------------------------------------------


def test_a_hunter_shoots_before_the_game_stops_without_it() -> None:
    game = nine(stops_without="player_9")
    night(game, HUNTER)
    assert shooting(game)
    game.reply([pick(3)])
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.PLAYER_LEFT)
    assert 3 not in game.alive()


def test_the_game_stops_without_a_player_who_was_shot() -> None:
    game = nine(stops_without="player_4")
    night(game, HUNTER)
    game.reply([pick(3)])
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.PLAYER_LEFT)
