"""The night, rule by rule: the pack, the shields, the Witch, the Seer, and when deaths take place."""

from __future__ import annotations

import pytest

from rules_helpers import Game, of, one
from wolflab.errors import IllegalReply
from wolflab.rules import (
    DOCTOR,
    NO,
    PASS,
    SHERIFF,
    SILENCE,
    WITCH,
    YES,
    Action,
    Chose,
    DayBroke,
    Learned,
    PackMet,
    Pick,
    Revealed,
    Ruleset,
    VictimShown,
    only,
    pick,
)

# seats                0           1           2           3           4       5        6
SHERIFF_SEATS = ["Werewolf", "Werewolf", "Villager", "Villager", "Villager", "Seer", "Guard"]
WITCH_SEATS = ["Werewolf", "Werewolf", "Villager", "Villager", "Seer", "Guard", "Witch"]
DOCTOR_SEATS = ["Werewolf", "Werewolf", "Villager", "Villager", "Villager", "Seer", "Doctor"]


def sheriff_game(**changes: object) -> Game:
    return Game(SHERIFF.with_(**changes), SHERIFF_SEATS)


def witch_game(**changes: object) -> Game:
    """The Witch's rules with an order of speech that chance need not draw."""
    return Game(WITCH.with_(**{"speaking_order": "ascending", **changes}), WITCH_SEATS)


def doctor_game(**changes: object) -> Game:
    return Game(DOCTOR.with_(**changes), DOCTOR_SEATS)


def deaths(events: object) -> tuple[int, ...]:
    return one(events, DayBroke).deaths  # type: ignore[arg-type]


def options(game: Game, kind: str, seat: int) -> tuple[Action, ...]:
    """What `seat` may do when asked for `kind`; other asks of tonight get their last option."""
    while True:
        for ask in game.asks:
            if (ask.kind, ask.seat) == (kind, seat):
                assert ask.options is not None
                return ask.options
        game.reply([ask.options[-1] for ask in game.asks if ask.options])


# -- the pack -------------------------------------------------------------------------------


def test_unanimous_pack_that_disagrees_kills_nobody() -> None:
    assert deaths(sheriff_game().night(kill={0: 2, 1: 3}, protect={6: 6})) == ()


def test_unanimous_pack_that_agrees_kills() -> None:
    assert deaths(sheriff_game().night(kill={0: 2, 1: 2}, protect={6: 6})) == (2,)


def test_shield_on_the_agreed_victim_saves() -> None:
    """A saved and an unharmed night look the same."""
    game = sheriff_game()
    saved = game.night(kill={0: 2, 1: 2}, protect={6: 2})
    assert deaths(saved) == ()
    unharmed = sheriff_game().night(kill={0: 2, 1: 3}, protect={6: 2})
    assert [e for e in saved if e.audience == -1] == [e for e in unharmed if e.audience == -1]


def test_pack_acts_in_turn_and_sees_earlier_choices() -> None:
    """The second Werewolf knows the first one's choice, the first learns the second's."""
    game = sheriff_game()
    assert [seat for kind, seat in game.kinds() if kind == "kill"] == [0]
    game.reply([pick(4) if ask.kind == "kill" else ask.options[-1] for ask in game.asks if ask.options])
    assert game.kinds() == [("kill", 1)]
    assert Chose(0, "kill", pick(4), only(0, 1)) in game.log.view(1).events
    game.reply([pick(3)])
    assert Chose(1, "kill", pick(3), only(0, 1)) in game.log.view(0).events


def test_pack_recognises_itself_and_nobody_else_does() -> None:
    game = sheriff_game()
    met = one(game.log.events, PackMet)
    assert (met.seats, met.audience) == ((0, 1), only(0, 1))


def test_sheriff_pack_may_target_itself_and_its_mate_but_not_pass() -> None:
    game = sheriff_game()
    assert options(game, "kill", 0) == tuple(pick(s) for s in range(7))
    assert deaths(game.night(kill={0: 1, 1: 1}, protect={6: 6})) == (1,)


def test_doctor_pack_may_not_target_the_pack() -> None:
    assert options(doctor_game(), "kill", 0) == tuple(pick(s) for s in (2, 3, 4, 5, 6))
    assert options(doctor_game(), "kill", 1) == tuple(pick(s) for s in (2, 3, 4, 5, 6))


@pytest.mark.parametrize(
    ("changes", "barred"),
    [
        ({"wolves_may_target_self": False}, {0}),
        ({"wolves_may_target_pack": False}, {1}),
        ({"wolves_may_target_self": False, "wolves_may_target_pack": False}, {0, 1}),
        ({}, set()),
    ],
)
def test_whom_the_pack_may_target(changes: dict[str, object], barred: set[int]) -> None:
    got = options(sheriff_game(**changes), "kill", 0)
    assert got == tuple(pick(s) for s in range(7) if s not in barred)


def test_last_wolf_decides() -> None:
    """004 App. B: the smaller number proposes, the larger decides, agreed or not."""
    assert deaths(doctor_game().night(kill={0: 2, 1: 3}, save={6: 6})) == (3,)


@pytest.mark.parametrize(
    ("choices", "dead"),
    [
        ((pick(2), pick(2)), (2,)),
        ((pick(2), pick(3)), ()),
        ((pick(2), PASS), ()),
        ((PASS, pick(2)), ()),
        ((PASS, PASS), ()),
    ],
)
def test_plurality_pack_of_two(choices: tuple[Action, Action], dead: tuple[int, ...]) -> None:
    """003 A.5: any tie with the most votes kills nobody, and pass is counted."""
    game = witch_game()
    assert deaths(game.night(kill={0: choices[0], 1: choices[1]}, antidote={6: NO} if dead else {})) == dead


@pytest.mark.parametrize(
    ("choices", "dead"),
    [((3, 3, 4), (3,)), ((3, 4, 5), ()), ((PASS, PASS, 3), ()), ((3, PASS, 3), (3,)), ((4, 3, 3), (3,))],
)
def test_plurality_pack_of_three(choices: tuple[Action | int, ...], dead: tuple[int, ...]) -> None:
    rules = WITCH.with_(roles={"Werewolf": 3, "Villager": 5}, speaking_order="ascending")
    game = Game(rules, ["Werewolf"] * 3 + ["Villager"] * 5)
    assert deaths(game.night(kill=dict(enumerate(choices)))) == dead


def test_a_lone_wolf_decides() -> None:
    game = witch_game()
    game.night()
    game.day(dict.fromkeys(range(7), 0))
    assert 0 not in game.alive()
    assert deaths(game.night(kill={1: 2}, antidote={6: NO})) == (2,)


# -- shields --------------------------------------------------------------------------------


def test_guard_may_shield_itself_twice_where_repeats_are_allowed() -> None:
    game = doctor_game()
    for _ in range(2):
        assert deaths(game.night(kill={0: 2, 1: 6}, save={6: 6})) == ()
        game.day({})
    assert game.alive() == tuple(range(7))


def test_guard_may_not_shield_the_same_player_on_two_nights_in_a_row() -> None:
    """003 A.5."""
    game = witch_game()
    game.night(kill={0: PASS, 1: PASS}, protect={5: 4})
    game.day({})
    assert options(game, "protect", 5) == (*(pick(s) for s in (0, 1, 2, 3, 5, 6)), PASS)
    game.night(kill={0: PASS, 1: PASS}, protect={5: 3})
    game.day({})
    assert pick(4) in options(game, "protect", 5)
    assert pick(3) not in options(game, "protect", 5)


def test_guard_who_passed_may_shield_anybody_next_night() -> None:
    game = witch_game()
    game.night(kill={0: PASS, 1: PASS}, protect={5: 4})
    game.day({})
    game.night(kill={0: PASS, 1: PASS}, protect={5: PASS})
    game.day({})
    assert pick(4) in options(game, "protect", 5)


def test_a_refused_shield_is_refused() -> None:
    game = witch_game()
    game.night(kill={0: PASS, 1: PASS}, protect={5: 4})
    game.day({})
    replies = [pick(4) if ask.kind == "protect" else ask.options[-1] for ask in game.asks if ask.options]
    with pytest.raises(IllegalReply, match="protect"):
        game.reply(replies)


def test_a_guard_with_nobody_left_to_shield_is_not_asked_and_is_free_again_afterwards() -> None:
    """Not itself, not the same twice, no pass: with two left there may be nobody tonight."""
    rules = Ruleset(
        name="bare",
        roles={"Werewolf": 1, "Guard": 1, "Villager": 3},
        wolves_may_pass=True,
        guard_may_repeat=False,
        guard_may_shield_self=False,
        wolves_win="no_others",
    )
    game = Game(rules, ["Werewolf", "Guard", "Villager", "Villager", "Villager"])
    for victim in (2, 3):
        game.night(kill={0: victim}, protect={1: 4 if victim == 2 else 0})
        game.day({})
    game.night(kill={0: PASS}, protect={1: 4})
    game.day({0: 4, 1: 4})
    game.night(kill={0: PASS}, protect={1: 0})
    game.day({})
    assert [ask.kind for ask in game.asks] == ["kill"]
    game.night(kill={0: PASS})
    game.day({})
    assert options(game, "protect", 1) == (pick(0),)


def test_guard_without_self_shield() -> None:
    assert pick(6) not in options(sheriff_game(guard_may_shield_self=False), "protect", 6)
    assert pick(6) in options(sheriff_game(), "protect", 6)


def test_guard_must_choose_unless_passing_is_allowed() -> None:
    assert PASS not in options(sheriff_game(), "protect", 6)
    assert PASS in options(sheriff_game(guard_may_pass=True), "protect", 6)


def test_killed_guard_still_shields_that_night() -> None:
    """Deaths come after all night actions."""
    game = sheriff_game()
    assert deaths(game.night(kill={0: 6, 1: 6}, protect={6: 2})) == (6,)


@pytest.mark.parametrize("saved", [2, 5])
def test_a_player_saved_at_night_stays_in_everybodys_options(saved: int) -> None:
    game = Game(DOCTOR, DOCTOR_SEATS)
    game.night(kill={0: saved, 1: saved}, save={6: saved})
    game.play(lambda ask: ask.options[-1] if ask.options else SILENCE, until=_voting)
    for ask in game.asks:
        assert ask.options is not None
        assert (pick(saved) in ask.options) == (ask.seat != saved)
    assert saved in {ask.seat for ask in game.asks}


def _voting(game: Game) -> bool:
    return game.asks[0].kind == "vote"


# -- the Witch ------------------------------------------------------------------------------


def test_witch_is_told_the_victim_and_may_save() -> None:
    game = witch_game()
    events = game.night(kill={0: 2, 1: 2}, antidote={6: YES}, poison={6: PASS})
    assert one(events, VictimShown) == VictimShown(6, 2, only(6))
    assert deaths(events) == ()


def test_witch_both_potions_in_one_night() -> None:
    game = witch_game()
    assert deaths(game.night(kill={0: 2, 1: 2}, antidote={6: YES}, poison={6: 0})) == (0,)


def test_witch_may_be_held_to_one_potion_a_night() -> None:
    game = witch_game(witch_may_use_both=False)
    events = game.night(kill={0: 2, 1: 2}, antidote={6: YES})
    assert [e.kind for e in of(events, Chose) if e.seat == 6] == ["antidote"]
    game.day({})
    events = game.night(kill={0: 2, 1: 2}, poison={6: 0})
    assert deaths(events) == (0, 2)


def test_double_death_is_announced_whole() -> None:
    """The poisoned and the killed, in seat order, no cause."""
    game = witch_game()
    assert deaths(game.night(kill={0: 4, 1: 4}, antidote={6: NO}, poison={6: 3})) == (3, 4)


def test_poison_on_the_victim_is_one_death() -> None:
    assert deaths(witch_game().night(kill={0: 3, 1: 3}, antidote={6: NO}, poison={6: 3})) == (3,)


def test_no_shield_and_no_antidote_stops_poison() -> None:
    assert deaths(
        witch_game().night(kill={0: 3, 1: 3}, protect={5: 2}, antidote={6: YES}, poison={6: 3})
    ) == (3,)
    assert deaths(witch_game().night(protect={5: 2}, poison={6: 2})) == (2,)


def test_dying_witch_may_still_poison() -> None:
    game = witch_game()
    assert deaths(game.night(kill={0: 6, 1: 6}, antidote={6: NO}, poison={6: 1})) == (1, 6)


def test_dying_witch_cannot_poison_where_deaths_are_sequential() -> None:
    """The paper's code kills her at once."""
    game = witch_game(deaths="sequential")
    events = game.night(kill={0: 6, 1: 6}, antidote={6: NO})
    assert [e.kind for e in of(events, Chose) if e.seat == 6] == ["antidote"]
    assert deaths(events) == (6,)


def test_antidote_is_not_offered_when_the_shield_holds() -> None:
    events = witch_game().night(kill={0: 2, 1: 2}, protect={5: 2}, poison={6: PASS})
    assert not of(events, VictimShown)
    assert [e.kind for e in of(events, Chose) if e.seat == 6] == ["poison"]


def test_antidote_is_not_offered_without_a_victim() -> None:
    assert not of(witch_game().night(kill={0: 2, 1: 3}), VictimShown)


def test_each_potion_is_asked_for_only_while_it_lasts() -> None:
    game = witch_game()
    game.night(kill={0: 2, 1: 2}, antidote={6: YES}, poison={6: 3})
    game.day({})
    events = game.night(kill={0: 4, 1: 4})
    assert not of(events, VictimShown)
    assert not [e for e in of(events, Chose) if e.seat == 6]


def test_a_refused_antidote_is_kept() -> None:
    game = witch_game()
    game.night(kill={0: 4, 1: 4}, antidote={6: NO}, poison={6: PASS})
    game.day({})
    assert deaths(game.night(kill={0: 2, 1: 2}, antidote={6: YES}, poison={6: PASS})) == ()


def test_witch_self_save_is_a_switch() -> None:
    assert deaths(witch_game().night(kill={0: 6, 1: 6}, antidote={6: YES})) == ()
    events = witch_game(witch_may_save_self=False).night(kill={0: 6, 1: 6})
    assert not of(events, VictimShown)
    assert deaths(events) == (6,)


def test_witch_may_poison_herself_or_pass() -> None:
    game = witch_game()
    assert options(game, "poison", 6) == (*(pick(s) for s in range(7)), PASS)


# -- the Seer -------------------------------------------------------------------------------


def test_seer_learns_the_role_or_the_side() -> None:
    assert one(sheriff_game().night(see={5: 6}), Learned) == Learned(5, 6, "Guard", only(5))
    assert one(doctor_game().night(see={5: 6}), Learned).what == "not a Werewolf"
    assert one(doctor_game().night(see={5: 0}), Learned).what == "Werewolf"


def test_seer_who_passes_learns_nothing() -> None:
    """The paper's code shows Player 1 instead."""
    assert not of(witch_game().night(see={4: PASS}), Learned)


def test_seer_may_look_twice_and_at_itself_only_where_allowed() -> None:
    assert pick(5) in options(sheriff_game(), "see", 5)
    assert pick(5) not in options(doctor_game(), "see", 5)
    game = doctor_game()
    game.night(kill={0: 2, 1: 2}, save={6: 2}, see={5: 0})
    game.day({})
    assert one(game.night(see={5: 0}), Learned).what == "Werewolf"


def test_killed_seer_still_learns_that_night() -> None:
    events = sheriff_game().night(kill={0: 5, 1: 5}, protect={6: 6}, see={5: 0})
    assert deaths(events) == (5,)
    assert one(events, Learned).what == "Werewolf"


def test_sequential_deaths_come_before_the_seer() -> None:
    """The dead leave the Seer's options, and a killed Seer does not act."""
    game = witch_game(deaths="sequential")
    events = game.night(kill={0: 2, 1: 2}, antidote={6: NO}, poison={6: 3})
    asked = next(ask for ask, _ in game.trail if ask.kind == "see")
    assert asked.options == (*(pick(s) for s in (0, 1, 4, 5, 6)), PASS)
    assert deaths(events) == (2, 3)
    assert not of(witch_game(deaths="sequential").night(kill={0: 4, 1: 4}, antidote={6: NO}), Learned)


def test_simultaneous_deaths_do_not_show_in_the_seers_options() -> None:
    game = witch_game()
    game.night(kill={0: 2, 1: 2}, antidote={6: NO}, poison={6: 3})
    asked = next(ask for ask, _ in game.trail if ask.kind == "see")
    assert asked.options == (*(pick(s) for s in range(7)), PASS)


# -- dawn -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reveal", "nights", "shown"),
    [
        ("never", 1, []),
        ("first_night", 1, [(2, "Villager")]),
        ("first_night", 2, []),
        ("always", 2, [(3, "Villager")]),
    ],
)
def test_reveals_at_dawn(reveal: str, nights: int, shown: list[tuple[int, str]]) -> None:
    game = sheriff_game(reveal=reveal)
    for victim in range(2, 2 + nights):
        events = game.night(kill={0: victim, 1: victim}, protect={6: 6})
        game.day({})
    assert [(e.seat, e.role) for e in of(events, Revealed)] == shown


def test_night_order_is_told_to_nobody_but_the_actors() -> None:
    game = witch_game()
    events = game.night(kill={0: 2, 1: 2}, antidote={6: YES}, poison={6: 3}, see={4: 0}, protect={5: 5})
    for event in of(events, Chose):
        assert event.audience == (only(0, 1) if event.kind == "kill" else only(event.seat))


def test_an_illegal_pick_of_the_dead_is_refused() -> None:
    game = sheriff_game()
    game.night(kill={0: 2, 1: 2}, protect={6: 6})
    game.day({})
    assert all(Pick(2) not in ask.options for ask in game.asks if ask.options)
    with pytest.raises(IllegalReply):
        game.reply([pick(2)] * len(game.asks))
