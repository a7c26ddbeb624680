"""Rewards of a finished game, a test for each line of 004 D.2, on games written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wolflab.match.rewards import D2, RewardPoints, gains
from wolflab.policy.rollout import credited
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    MODERATOR,
    PASS,
    Chose,
    DayBroke,
    Dealt,
    Event,
    GameEnded,
    Learned,
    NightFell,
    Outcome,
    Pick,
    Reason,
    Ruleset,
    Shot,
    VoteCounted,
    Voted,
    Winner,
)

ROLES = ("Werewolf", "Werewolf", "Seer", "Doctor", "Villager", "Villager", "Villager")
WOLVES, SEER, DOCTOR_SEAT, VILLAGER, OTHER = (0, 1), 2, 3, 4, 5
DEALT: list[Event] = [Dealt(seat, role, 1 << seat) for seat, role in enumerate(ROLES)]


def points(*events: Event, rules: Ruleset = DOCTOR, worth: RewardPoints = D2) -> list[float]:
    """By seat, what these events are worth together."""
    found = gains(rules, [*DEALT, *events], worth)
    return list(np.sum([gain.seats for gain in found], axis=0)) if found else [0.0] * 7


def sides(wolves: float, village: float) -> list[float]:
    return [wolves] * 2 + [village] * 5


def night(*kills: int | None, save: int | None = None, deaths: tuple[int, ...] = ()) -> list[Event]:
    """A night in which the pack names players in turn and the Doctor shields one."""
    named: list[Event] = [NightFell(1, EVERYONE)]
    for wolf, target in zip(WOLVES, kills, strict=False):
        named.append(Chose(wolf, "kill", PASS if target is None else Pick(target), 0b11))
    if save is not None:
        named.append(Chose(DOCTOR_SEAT, "save", Pick(save), 1 << DOCTOR_SEAT))
    return [*named, DayBroke(1, deaths, EVERYONE)]


def ended(winner: Winner) -> GameEnded:
    return GameEnded(Outcome(winner, Reason.PARITY), EVERYONE)


# -- the lines of D.2 ---------------------------------------------------------------------------


def test_all_winners_gain_100_and_all_losers_lose_100() -> None:
    assert points(ended(Winner.WEREWOLVES)) == sides(100, -100)
    assert points(ended(Winner.VILLAGE)) == sides(-100, 100)
    assert points(ended(Winner.NOBODY)) == sides(0, 0)


def test_a_kill_is_worth_5_to_every_werewolf_and_costs_everybody_else_5() -> None:
    assert points(*night(4, 4, deaths=(4,))) == sides(5, -5)


def test_a_werewolf_that_the_seer_finds_is_worth_2_to_the_seer_and_costs_the_werewolves_2() -> None:
    found = points(Learned(SEER, 1, "Werewolf", 1 << SEER))
    assert found == [-2, -2, 2, 0, 0, 0, 0]
    assert points(Learned(SEER, OTHER, "not a Werewolf", 1 << SEER)) == sides(0, 0)


def test_a_player_saved_is_worth_5_to_the_doctor_and_costs_the_werewolves_5() -> None:
    assert points(*night(4, 4, save=4)) == [-5, -5, 0, 5, 0, 0, 0]


def test_a_shield_that_was_not_needed_is_worth_nothing() -> None:
    assert points(*night(4, 4, save=5, deaths=(4,))) == sides(5, -5)
    assert points(*night(None, None, save=5)) == sides(0, 0)


@pytest.mark.parametrize(
    ("agreement", "named", "saved"),
    [
        ("last", (4, 5), 5),
        ("plurality", (4, 4), 4),
        ("unanimous", (4, 4), 4),
        ("last", (4, None), None),
        ("plurality", (4, 5), None),
        ("unanimous", (4, 5), None),
    ],
)
def test_who_would_have_died_follows_from_how_the_pack_agrees(
    agreement: str, named: tuple[int | None, ...], saved: int | None
) -> None:
    rules = DOCTOR.with_(wolf_agreement=agreement)
    for shielded in (4, 5):
        worth = points(*night(*named, save=shielded), rules=rules)
        assert worth == ([-5, -5, 0, 5, 0, 0, 0] if shielded == saved else sides(0, 0))


def test_a_night_knows_nothing_of_the_night_before() -> None:
    quiet = [NightFell(2, EVERYONE), DayBroke(2, (), EVERYONE)]
    assert points(*night(4, 4, save=4), *quiet) == points(*night(4, 4, save=4))


def test_a_werewolf_that_its_own_pack_kills_is_worth_nothing() -> None:
    assert points(*night(1, 1, deaths=(1,))) == sides(0, 0)


def test_a_werewolf_voted_out_costs_the_werewolves_5_and_is_worth_5_to_everybody_else() -> None:
    assert points(VoteCounted(0, (), EVERYONE)) == sides(-5, 5)


def test_another_player_voted_out_is_worth_5_to_the_werewolves() -> None:
    assert points(VoteCounted(SEER, (), EVERYONE)) == sides(5, -5)
    assert points(VoteCounted(None, (2, 3), EVERYONE)) == sides(0, 0)


def test_a_vote_for_a_werewolf_is_worth_1_to_the_voter_and_costs_every_werewolf_1() -> None:
    assert points(Voted(VILLAGER, 0, "eliminate", EVERYONE)) == [-1, -1, 0, 0, 1, 0, 0]


def test_a_vote_for_another_player_costs_the_voter_1_and_is_worth_1_to_every_werewolf() -> None:
    assert points(Voted(VILLAGER, SEER, "eliminate", EVERYONE)) == [1, 1, 0, 0, -1, 0, 0]


def test_not_voting_is_worth_nothing_and_so_are_votes_of_werewolves_and_for_a_sheriff() -> None:
    assert points(Voted(VILLAGER, None, "eliminate", EVERYONE)) == sides(0, 0)
    assert points(Voted(0, SEER, "eliminate", EVERYONE)) == sides(0, 0)
    assert points(Voted(VILLAGER, 0, "elect", EVERYONE)) == sides(0, 0)


def test_a_shot_is_worth_nothing_by_itself() -> None:
    assert points(*night(4, 4, deaths=(4,)), Shot(4, 0, EVERYONE)) == points(*night(4, 4, deaths=(4,)))


def test_figures_can_be_changed() -> None:
    worth = RewardPoints(win=1.0, kill=0.0)
    assert points(*night(4, 4, deaths=(4,)), ended(Winner.WEREWOLVES), worth=worth) == sides(1, -1)


# -- which decision earned it -------------------------------------------------------------------


def test_a_reward_belongs_to_the_latest_decision_before_the_event() -> None:
    events = [
        *DEALT,
        NightFell(1, EVERYONE),
        *night(4, 4, deaths=(4,))[1:],
        Voted(VILLAGER, 0, "eliminate", EVERYONE),
        VoteCounted(0, (), EVERYONE),
        ended(Winner.VILLAGE),
    ]
    found = gains(DOCTOR, events)
    vote, over = events.index(Voted(VILLAGER, 0, "eliminate", EVERYONE)), len(events)
    # A Werewolf kills (before anything is chosen), then votes when everything but the vote has happened.
    np.testing.assert_array_equal(credited(found, 0, [len(DEALT) + 1, vote]), [5, -1 - 5 - 100])
    # A decision made when that many events had happened earns the very next one.
    np.testing.assert_array_equal(credited(found, VILLAGER, [vote]), [1 + 5 + 100])
    np.testing.assert_array_equal(credited(found, VILLAGER, [vote + 1]), [5 + 100])
    assert credited(found, VILLAGER, []).shape == (0,)
    np.testing.assert_array_equal(credited(found, VILLAGER, [over]), [0])


def test_the_dead_get_the_end_of_the_game_at_their_last_decision() -> None:
    events = [*DEALT, *night(4, 4, deaths=(4,)), ended(Winner.VILLAGE)]
    np.testing.assert_array_equal(credited(gains(DOCTOR, events), VILLAGER, [len(DEALT)]), [-5 + 100])


def test_what_nobody_learns_of_counts_too() -> None:
    assert points(Learned(SEER, 0, "Werewolf", MODERATOR)) == [-2, -2, 2, 0, 0, 0, 0]
