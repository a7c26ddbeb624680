"""The Sheriff of paper 002: drawn or elected, the side that speaks first, succession, stop, void."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rules_helpers import Game, of, one
from wolflab.rules import (
    CHANCE,
    EVERYONE,
    LEFT,
    MODERATOR,
    NO,
    PASS,
    RIGHT,
    SHERIFF,
    SILENCE,
    Action,
    CandidatesNamed,
    FirstSpeaker,
    GameEnded,
    Lead,
    Outcome,
    Reason,
    Said,
    Say,
    SheriffDrawn,
    SheriffNamed,
    SpeakersDrawn,
    Winner,
    pick,
)
from wolflab.rules.engine import step

SEATS = ["Werewolf", "Werewolf", "Villager", "Villager", "Villager", "Seer", "Guard"]
QUIET = {"kill": {0: 2, 1: 3}}


def elected(seat: int, victim: int | None = None, **changes: object) -> Game:
    """A game just after `seat` was elected on the first morning, with `victim` killed before."""
    game = Game(SHERIFF.with_(**changes), SEATS)
    game.night(kill={0: victim, 1: victim} if victim is not None else {0: 2, 1: 3}, protect={6: 6})
    others = [s for s in game.alive() if s != seat]
    for candidate in (seat, *others[:2]):
        game.reply([pick(candidate)])
    for _ in range(3):
        game.reply([SILENCE])
    game.reply([pick(seat)] * len(game.asks))
    return game


def assigned(seat: int, **changes: object) -> Game:
    rules = SHERIFF.with_(**{"sheriff": "assigned", **changes})
    game = Game(rules, SEATS)
    game.reply([pick(seat)])
    return game


def skip_day(game: Game, out: int | None = None) -> None:
    game.day({} if out is None else dict.fromkeys(range(7), out))


# -- the side that speaks first -------------------------------------------------------------

# In player numbers: remaining 1, 2, 4, 5, 7.
SIDES = [
    (1, LEFT, [7, 5, 4, 2, 1]),
    (1, RIGHT, [2, 4, 5, 7, 1]),
    (4, LEFT, [2, 1, 7, 5, 4]),
    (4, RIGHT, [5, 7, 1, 2, 4]),
    (7, LEFT, [5, 4, 2, 1, 7]),
    (7, RIGHT, [1, 2, 4, 5, 7]),
]


@pytest.mark.parametrize(("sheriff", "side", "order"), SIDES)
def test_order_of_speech_with_gaps(sheriff: int, side: Lead, order: list[int]) -> None:
    """Left goes down, right goes up, both round the table to the Sheriff."""
    roles = ["Villager", "Werewolf", "Villager", "Guard", "Werewolf", "Seer", "Villager"]
    game = Game(SHERIFF, roles)
    game.night(kill={1: 2, 4: 2}, protect={3: 3})  # player 3 goes
    for candidate in (sheriff - 1, *[s for s in game.alive() if s != sheriff - 1][:2]):
        game.reply([pick(candidate)])
    for _ in range(3):
        game.reply([SILENCE])
    game.reply([pick(sheriff - 1)] * 6)
    game.day(dict.fromkeys(range(7), 5))  # player 6 goes
    game.night(kill={1: 0, 4: 1}, protect={3: 3})
    assert [s + 1 for s in game.alive()] == [1, 2, 4, 5, 7]
    assert game.kinds() == [("lead", sheriff - 1)]
    assert game.asks[0].options == (LEFT, RIGHT)
    events = game.reply([side])
    assert one(events, SpeakersDrawn).seats == tuple(p - 1 for p in order)
    spoke = []
    while game.asks[0].kind == "statement":
        spoke.append(game.asks[0].seat + 1)
        game.reply([SILENCE])
    assert spoke == order


def test_only_the_first_speaker_is_announced() -> None:
    """The rest of the order is logged, not told."""
    game = elected(3)
    events = game.reply([RIGHT])
    assert one(events, FirstSpeaker) == FirstSpeaker(3, 4, EVERYONE)
    assert one(events, SpeakersDrawn).audience == MODERATOR


def test_two_left_and_a_sheriff() -> None:
    """With one neighbour both sides are the same player."""
    for side in (LEFT, RIGHT):
        roles = ["Werewolf", "Villager", "Villager", "Villager", "Villager"]
        rules = SHERIFF.with_(roles={"Werewolf": 1, "Villager": 4}, wolves_win="no_others", candidates=1)
        game = Game(rules, roles)
        game.night(kill={0: 1})
        game.reply([pick(4)])
        game.reply([SILENCE])
        game.reply([PASS] * 4)
        game.day(dict.fromkeys(range(5), 2))
        game.night(kill={0: 3})
        assert game.alive() == (0, 4)
        assert one(game.reply([side]), FirstSpeaker).seat == 0


# -- election -------------------------------------------------------------------------------


def test_three_candidates_are_drawn_one_by_one_and_speak_in_that_order() -> None:
    """002 §9.1."""
    game = Game(SHERIFF, SEATS)
    game.night(**QUIET)
    left = list(range(7))
    for n, seat in enumerate((5, 1, 6)):
        (ask,) = game.asks
        assert (ask.id, ask.seat) == (f"1/candidate/{n}", CHANCE)
        assert ask.options == tuple(map(pick, left))
        events = game.reply([pick(seat)])
        left.remove(seat)
    assert one(events, CandidatesNamed) == CandidatesNamed((5, 1, 6), EVERYONE)
    for seat in (5, 1, 6):
        assert game.kinds() == [("campaign", seat)]
        assert one(game.reply([Say(f"vote for {seat}")]), Said).where == "election"
    assert [ask.seat for ask in game.asks] == list(range(7))
    for ask in game.asks:
        assert ask.options == (pick(1), pick(5), pick(6), PASS)


def run_election(ballots: list[Action], candidates: tuple[int, ...] = (5, 1, 6), **changes: object) -> Game:
    game = Game(SHERIFF.with_(**changes), SEATS)
    game.night(**QUIET)
    for seat in candidates:
        game.reply([pick(seat)])
    for _ in candidates:
        game.reply([SILENCE])
    game.reply(ballots)
    return game


def test_election_by_plurality_with_self_votes() -> None:
    game = run_election([pick(5), pick(1), PASS, PASS, pick(5), pick(5), pick(6)])
    assert one(game.log.events, SheriffNamed) == SheriffNamed(5, "elected", EVERYONE)


def test_election_self_votes_do_not_depend_on_the_days_switch() -> None:
    """A candidate may vote for itself (002 §10.2)."""
    game = Game(SHERIFF.with_(may_vote_self=False, may_abstain=False), SEATS)
    game.night(**QUIET)
    for seat in (5, 1, 6):
        game.reply([pick(seat)])
    for _ in range(3):
        game.reply([SILENCE])
    assert all(ask.options == (pick(1), pick(5), pick(6), PASS) for ask in game.asks)


def test_an_election_tie_is_broken_by_chance_among_the_tied() -> None:
    game = run_election([pick(5), pick(1), PASS, pick(1), pick(5), PASS, pick(6)])
    (ask,) = game.asks
    assert (ask.kind, ask.seat, ask.options, ask.weights) == ("elect-tie", CHANCE, (pick(1), pick(5)), (1, 1))
    assert one(game.reply([pick(1)]), SheriffNamed).seat == 1


def test_an_election_without_votes_is_decided_by_chance_among_the_candidates() -> None:
    """The paper's code makes player_6 Sheriff, dead or alive."""
    game = run_election([PASS] * 7)
    (ask,) = game.asks
    assert ask.options == (pick(1), pick(5), pick(6))
    assert one(game.reply([pick(6)]), SheriffNamed).seat == 6


def test_the_dead_neither_run_nor_vote() -> None:
    game = Game(SHERIFF, SEATS)
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert game.asks[0].options == tuple(map(pick, (0, 1, 2, 3, 5, 6)))
    for seat in (0, 1, 2):
        game.reply([pick(seat)])
    for _ in range(3):
        game.reply([SILENCE])
    assert [ask.seat for ask in game.asks] == [0, 1, 2, 3, 5, 6]


def test_election_happens_once() -> None:
    game = elected(3)
    skip_day(game)
    game.night(**QUIET)
    assert game.asks[0].kind == "lead"


def test_more_candidates_than_living_players() -> None:
    roles = ["Werewolf", "Villager", "Villager", "Villager", "Witch"]
    rules = SHERIFF.with_(roles={"Werewolf": 1, "Villager": 3, "Witch": 1}, candidates=4)
    game = Game(rules, roles)
    game.night(kill={0: 1}, antidote={4: NO}, poison={4: 2})
    assert game.alive() == (0, 3, 4)
    for seat in game.alive():
        game.reply([pick(seat)])
    assert one(game.log.events, CandidatesNamed).seats == (0, 3, 4)


# -- succession -----------------------------------------------------------------------------


def test_night_death_names_a_successor_the_same_morning() -> None:
    game = elected(3)
    skip_day(game)
    game.night(kill={0: 3, 1: 3}, protect={6: 6})
    assert game.kinds() == [("succeed", 3)]
    assert game.asks[0].options == tuple(map(pick, (0, 1, 2, 4, 5, 6)))
    assert one(game.reply([pick(5)]), SheriffNamed) == SheriffNamed(5, "succeeded", EVERYONE)
    assert game.kinds() == [("lead", 5)]


def test_day_death_names_a_successor_the_next_morning_among_the_living() -> None:
    game = elected(3)
    skip_day(game, out=3)
    assert game.asks[0].phase == "night"
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert game.kinds() == [("succeed", 3)]
    assert game.asks[0].options == tuple(map(pick, (0, 1, 2, 5, 6)))


def test_succession_chains() -> None:
    game = elected(3)
    skip_day(game, out=3)
    game.night(kill={0: 4, 1: 2}, protect={6: 6})
    game.reply([pick(4)])
    skip_day(game)
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert game.kinds() == [("succeed", 4)]


def test_no_succession_in_a_game_that_the_death_decides() -> None:
    game = elected(3, victim=2)
    skip_day(game, out=4)
    game.night(kill={0: 3, 1: 3}, protect={6: 6})
    assert game.over
    assert game.state.outcome == Outcome(Winner.WEREWOLVES, Reason.PARITY)


# -- assigned, stop, void -------------------------------------------------------------------


def test_an_assigned_sheriff_is_drawn_in_secret_and_announced_after_the_first_night() -> None:
    """002 §9.1, heterogeneous."""
    game = assigned(4)
    assert one(game.log.events, SheriffDrawn) == SheriffDrawn(4, MODERATOR)
    assert all(not of(game.log.view(s).events, SheriffDrawn) for s in range(7))
    events = game.night(**QUIET)
    assert one(events, SheriffNamed) == SheriffNamed(4, "assigned", EVERYONE)
    assert game.kinds() == [("lead", 4)]


def test_an_assigned_sheriff_is_drawn_from_every_seat_or_from_one_role() -> None:
    game = Game(SHERIFF.with_(sheriff="assigned"), SEATS)
    assert game.asks[0].options == tuple(map(pick, range(7)))
    game = Game(SHERIFF.with_(sheriff="assigned", sheriff_role="Villager"), SEATS)
    assert game.asks[0].options == (pick(2), pick(3), pick(4))


@pytest.mark.parametrize("death", ["stop", "succession"])
def test_an_assigned_sheriff_killed_on_the_first_night_makes_the_game_void(death: str) -> None:
    """Void, never a result."""
    game = assigned(4, sheriff_death=death)
    events = game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert one(events, GameEnded).outcome == Outcome(Winner.NOBODY, Reason.VOID)
    assert not of(events, SheriffNamed)


def test_stop_at_the_sheriffs_night_death_comes_before_the_day() -> None:
    game = assigned(4, sheriff_death="stop")
    game.night(**QUIET)
    skip_day(game)
    events = game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert one(events, GameEnded).outcome == Outcome(Winner.NOBODY, Reason.SHERIFF_DIED)
    assert game.state.round == 2


def test_stop_at_the_sheriffs_exit_by_vote() -> None:
    game = assigned(4, sheriff_death="stop")
    game.night(**QUIET)
    skip_day(game, out=4)
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.SHERIFF_DIED)
    assert game.state.round == 1


def test_a_werewolf_sheriff_voted_out_last_is_a_village_win() -> None:
    """A win counts although the Sheriff's exit would stop the game."""
    rules = SHERIFF.with_(sheriff="assigned", sheriff_death="stop", roles={"Werewolf": 1, "Villager": 4})
    game = Game(rules, ["Werewolf"] + ["Villager"] * 4)
    game.reply([pick(0)])
    game.night(kill={0: 1})
    game.day(dict.fromkeys(range(5), 0))
    assert game.state.outcome == Outcome(Winner.VILLAGE, Reason.WEREWOLVES_GONE)


def test_an_elected_sheriff_may_stop_the_game_too() -> None:
    game = elected(3, sheriff_death="stop")
    skip_day(game, out=3)
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.SHERIFF_DIED)


# -- drawn after the first night, and contested ---------------------------------------------


def test_a_sheriff_drawn_among_the_living_after_the_first_night() -> None:
    """002's first setting in the released code: no election."""
    game = Game(SHERIFF.with_(sheriff="drawn"), SEATS)
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    (ask,) = game.asks
    assert (ask.seat, ask.options) == (CHANCE, tuple(map(pick, (0, 1, 2, 3, 5, 6))))
    assert ask.weights == (1,) * 6
    assert one(game.reply([pick(5)]), SheriffNamed) == SheriffNamed(5, "drawn", EVERYONE)
    assert game.kinds() == [("lead", 5)]


def contested(seat: int) -> Game:
    game = Game(SHERIFF.with_(sheriff="contested"), SEATS)
    game.reply([pick(seat)])
    return game


def campaign(game: Game, candidates: tuple[int, ...]) -> None:
    for seat in candidates:
        game.reply([pick(seat)])
    for _ in candidates:
        game.reply([SILENCE])


def test_a_contested_office_always_has_its_seat_among_the_candidates_in_any_place() -> None:
    game = contested(4)
    game.night(**QUIET)
    chances: dict[tuple[int, ...], Fraction] = {}
    stack = [(Fraction(1), game.state)]
    while stack:
        p, state = stack.pop()
        (ask, *_) = state.asks
        if ask.kind != "candidate":
            chances[state.candidates] = p
            continue
        assert ask.options is not None
        assert ask.weights is not None
        for option, weight in zip(ask.options, ask.weights, strict=True):
            stack.append((p * Fraction(weight, sum(ask.weights)), step(state, [option]).state))
    assert len(chances) == 3 * 6 * 5
    assert set(chances.values()) == {Fraction(1, 90)}
    assert all(4 in candidates for candidates in chances)


def test_a_contested_office_that_is_won_goes_on() -> None:
    game = contested(4)
    game.night(**QUIET)
    campaign(game, (1, 4, 2))
    events = game.reply([pick(4)] * 7)
    assert one(events, SheriffNamed) == SheriffNamed(4, "elected", EVERYONE)
    assert game.kinds() == [("lead", 4)]


def test_a_contested_office_that_is_lost_is_void() -> None:
    game = contested(4)
    game.night(**QUIET)
    campaign(game, (1, 4, 2))
    game.reply([pick(1)] * 7)
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.VOID)


def test_a_contested_office_whose_seat_dies_first_is_void() -> None:
    game = contested(4)
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert game.state.outcome == Outcome(Winner.NOBODY, Reason.VOID)


def test_the_sheriff_speaks_last_in_every_order() -> None:
    for order in ("ascending", "random_day"):
        game = elected(3, speaking_order=order)
        spoke = []
        while game.asks[0].kind != "vote":
            ask = game.asks[0]
            if ask.kind == "statement":
                spoke.append(ask.seat)
            game.reply([ask.options[0] if ask.options else SILENCE])
        assert spoke == [0, 1, 2, 4, 5, 6, 3]


def test_a_successor_speaks_last_in_a_fixed_random_order() -> None:
    game = Game(SHERIFF.with_(speaking_order="random_game"), SEATS)
    for seat in (6, 5, 4, 3, 2, 1, 0):
        game.reply([pick(seat)])
    game.night(**QUIET)
    for seat in (5, 1, 2):
        game.reply([pick(seat)])
    for _ in range(3):
        game.reply([SILENCE])
    game.reply([pick(5)] * 7)
    assert [game.asks[0].seat, *_then(game)] == [6, 4, 3, 2, 1, 0, 5]
    game.day(dict.fromkeys(range(7), 5))
    game.night(**QUIET)
    game.reply([pick(6)])
    assert [game.asks[0].seat, *_then(game)] == [4, 3, 2, 1, 0, 6]


def _then(game: Game) -> list[int]:
    """The seats that speak after the one now asked."""
    game.reply([SILENCE])
    seats = []
    while game.asks[0].kind == "statement":
        seats.append(game.asks[0].seat)
        game.reply([SILENCE])
    return seats


# -- players who are never Sheriff ----------------------------------------------------------

BARRED = ("player_3", "player_6")
OTHERS = tuple(map(pick, (0, 1, 3, 4, 6)))


def test_who_is_never_sheriff_is_no_candidate_and_votes() -> None:
    """002 §9.3 and its game log: the person does not run, and does vote."""
    game = Game(SHERIFF.with_(never_sheriff=BARRED), SEATS)
    game.night(**QUIET)
    assert game.asks[0].options == OTHERS
    campaign(game, (1, 4, 6))
    assert [ask.seat for ask in game.asks] == list(range(7))
    assert one(game.reply([pick(6)] * 7), SheriffNamed) == SheriffNamed(6, "elected", EVERYONE)


def test_all_who_may_run_where_more_are_wanted() -> None:
    game = Game(SHERIFF.with_(never_sheriff=BARRED, candidates=5), SEATS)
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    for seat in (0, 1, 3, 6):
        game.reply([pick(seat)])
    assert one(game.log.events, CandidatesNamed).seats == (0, 1, 3, 6)
    assert game.kinds() == [("campaign", 0)]


@pytest.mark.parametrize("sheriff", ["assigned", "contested"])
def test_who_is_never_sheriff_is_not_drawn_with_the_deal(sheriff: str) -> None:
    rules = SHERIFF.with_(sheriff=sheriff, never_sheriff=BARRED)
    assert Game(rules, SEATS).asks[0].options == OTHERS
    assert Game(rules.with_(sheriff_role="Villager"), SEATS).asks[0].options == (pick(3), pick(4))


def test_a_contested_office_has_its_seat_and_nobody_who_is_never_sheriff() -> None:
    game = Game(SHERIFF.with_(sheriff="contested", never_sheriff=BARRED), SEATS)
    game.reply([pick(4)])
    game.night(**QUIET)
    game.reply([pick(0)])
    game.reply([pick(1)])
    assert game.asks[0].options == (pick(4),)


def test_who_is_never_sheriff_is_not_drawn_after_the_first_night() -> None:
    game = Game(SHERIFF.with_(sheriff="drawn", never_sheriff=BARRED), SEATS)
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert game.asks[0].options == tuple(map(pick, (0, 1, 3, 6)))


def test_who_is_never_sheriff_is_no_successor_and_lives_on_like_anybody() -> None:
    game = elected(3, never_sheriff=BARRED)
    skip_day(game, out=3)
    game.night(kill={0: 4, 1: 4}, protect={6: 6})
    assert game.asks[0].options == tuple(map(pick, (0, 1, 6)))
    game.reply([pick(6)])
    game.reply([LEFT])
    spoke = []
    while game.asks[0].kind == "statement":
        spoke.append(game.asks[0].seat)
        game.reply([SILENCE])
    assert {2, 5} < set(spoke)
    assert all({pick(2), pick(5)} < set(ask.options or ()) for ask in game.asks)
