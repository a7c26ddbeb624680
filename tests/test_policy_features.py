"""The player vector is 004 Table 3, value by value, from what the seat may know; and any table fits."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marks import examples
from rules_helpers import Game, rulesets, uniform
from wolflab.agents.memory import remember
from wolflab.agents.policy.features import (
    CLASS_OF,
    CLASSES,
    class_of,
    features_length,
    lay_out,
    player_vector,
)
from wolflab.agents.policy.policy import Float32s
from wolflab.errors import ModelError
from wolflab.rules import DOCTOR, SHERIFF, WITCH, YES, Ask, Note, Role, Ruleset, Side, View, pick
from wolflab.text.notes import Belief, Deduced

WOLF, SEER, DOC, VILLAGER = range(4)
SEATS = ["Werewolf", "Villager", "Seer", "Villager", "Werewolf", "Doctor", "Villager"]


def parts(vector: Float32s, n: int) -> dict[str, Any]:
    """A vector taken apart by the rows of Table 3, in their order; all of it must be used up."""
    sizes: list[tuple[str, tuple[int, ...]]] = [("id", (n,)), ("role", (4,)), ("round", (1,))]
    sizes += [("phase", (3,)), ("alive", (n,))]
    for number in range(3):
        sizes += [(f"action {number}", (n,)), (f"dead {number}", (n,)), (f"votes {number}", (n, n))]
    sizes.append(("deduced", (n, 5)))
    found, at = {}, 0
    for name, shape in sizes:
        size = int(np.prod(shape))
        found[name] = vector[at : at + size].reshape(shape)
        at += size
    assert at == len(vector)
    return found


def ask_of(game: Game, seat: int) -> Ask:
    """What `seat` is asked now."""
    (ask,) = (one for one in game.asks if one.seat == seat)
    return ask


def seen(game: Game, seat: int, beliefs: tuple[Belief, ...] = (), ask: Ask | None = None) -> dict[str, Any]:
    """The parts of a seat's vector, as it is asked now (or as it would be by `ask`)."""
    view = game.log.view(seat)
    vector = player_vector(view, ask or ask_of(game, seat), remember(view), beliefs)
    return parts(vector, game.rules.players)


def ones(array: Float32s) -> list[Any]:
    """The places of the ones in an array that has nothing else but zeros."""
    assert set(np.unique(array)) <= {0.0, 1.0}
    places = np.argwhere(array == 1.0)
    return [tuple(map(int, place)) if len(place) > 1 else int(place[0]) for place in places]


def test_it_has_246_values_for_seven_players() -> None:
    game = Game(DOCTOR, SEATS)
    view = game.log.view(0)
    vector = player_vector(view, ask_of(game, 0), remember(view))
    assert vector.shape == (246,) == (features_length(7),)
    assert vector.dtype == np.float32


def test_the_first_night_of_a_werewolf() -> None:
    found = seen(Game(DOCTOR, SEATS), 0)
    assert ones(found["id"]) == [0]
    assert ones(found["role"]) == [WOLF]
    assert found["round"] == pytest.approx(0.1)
    assert ones(found["phase"]) == [0]
    assert ones(found["alive"]) == list(range(7))
    for number in range(3):
        assert not found[f"action {number}"].any()
        assert not found[f"dead {number}"].any()
        assert not found[f"votes {number}"].any()
    # Who it is and who runs with it is known for certain; of the others it knows nothing.
    assert ones(found["deduced"]) == [(0, WOLF), (0, 4), (4, WOLF), (4, 4)]


def first_round() -> Game:
    """Night: 0 proposes 1, 4 kills 3; the Seer sees 4, the Doctor saves 5. Day: 6 is out, 5 abstains."""
    game = Game(DOCTOR, SEATS)
    game.night(kill={0: 1, 4: 3}, see={2: 4}, save={5: 5})
    game.day({0: 6, 1: 6, 2: 4, 4: 6, 6: 2})
    return game


def test_what_happened_in_a_round() -> None:
    game = first_round()
    found = seen(game, 4, ask=Ask("2/kill/4", 4, "kill", "night", 2, ()))
    assert found["round"] == pytest.approx(0.2)
    assert ones(found["alive"]) == [0, 1, 2, 4, 5]
    assert ones(found["action 0"]) == [3], "its own choice, not its pack mate's"
    assert ones(found["dead 0"]) == [3]
    assert ones(found["votes 0"]) == [(0, 6), (1, 6), (2, 4), (4, 6), (6, 2)]
    assert not found["votes 1"].any()
    assert ones(seen(game, 0)["action 0"]) == [1]
    assert ones(seen(game, 5)["action 0"]) == [5]


def test_an_act_is_seen_by_its_own_seat_alone() -> None:
    assert not seen(first_round(), 1, ask=Ask("2/vote/1", 1, "vote", "voting", 2, ()))["action 0"].any()


def test_a_seen_werewolf_is_certain_and_a_seen_villager_says_no_role() -> None:
    found = seen(first_round(), 2)["deduced"]
    assert ones(found) == [(2, SEER), (2, 4), (4, WOLF), (4, 4)]
    game = Game(DOCTOR, SEATS)
    game.night(see={2: 1})
    assert ones(seen(game, 2, ask=Ask("1/vote/2", 2, "vote", "voting", 1, ()))["deduced"]) == [
        (2, SEER),
        (2, 4),
    ]


@pytest.mark.parametrize(
    ("phase", "kind", "options", "place"),
    [
        ("night", "see", (pick(1),), 0),
        ("discussion", "statement", None, 1),
        ("voting", "vote", (pick(1),), 2),
        ("voting", "last-words", None, 1),
        ("election", "campaign", None, 1),
        ("election", "elect", (pick(1),), 2),
        ("succession", "succeed", (pick(1),), 1),
        ("order", "lead", (), 1),
    ],
)
def test_phases(phase: str, kind: str, options: Any, place: int) -> None:
    game = Game(DOCTOR, SEATS)
    assert ones(seen(game, 2, ask=Ask("x", 2, kind, phase, 1, options))["phase"]) == [place]


def test_beliefs_new_ones_before_old_ones() -> None:
    game = Game(DOCTOR, SEATS)
    old = Deduced((Belief(0, "Seer", 7, 7), Belief(3, "Doctor", 9, 9), Belief(1, "Uncertain", 6, 6)))
    game.log.note(6, Note("1/statement/6", "deduce", old, 1))
    ask = Ask("1/vote/6", 6, "vote", "voting", 1, ())
    found = seen(game, 6, (Belief(0, "Werewolf", 8, 3),), ask)["deduced"]
    assert found[0] == pytest.approx([1, 0, 0, 0, 0.8])
    assert found[3] == pytest.approx([0, 0, 1, 0, 0.9])
    assert found[1] == pytest.approx([0, 0, 0, 0, 0.6]), "Uncertain is no role"
    assert found[6] == pytest.approx([0, 0, 0, 1, 1.0]), "the own role"
    assert not found[[2, 4, 5]].any()


def test_what_is_certain_stands_before_what_is_believed() -> None:
    ask = Ask("2/vote/2", 2, "vote", "voting", 2, ())
    found = seen(first_round(), 2, (Belief(4, "Villager", 6, 6), Belief(2, "Villager", 6, 6)), ask)["deduced"]
    assert ones(found) == [(2, SEER), (2, 4), (4, WOLF), (4, 4)]


def test_the_latest_three_rounds_oldest_first() -> None:
    rules = DOCTOR.with_(roles={"Werewolf": 1, "Villager": 5, "Seer": 1})
    game = Game(rules, ["Werewolf", "Seer", *["Villager"] * 5])
    kills = [6, 5, 4, 3]
    for round, dead in enumerate(kills, 1):
        game.night(kill={0: dead}, see={1: 0})
        found = seen(game, 0, ask=Ask("x", 0, "vote", "voting", round, ()))
        shown = kills[max(0, round - 3) : round]
        assert [ones(found[f"dead {number}"]) for number in range(len(shown))] == [[one] for one in shown]
        assert [ones(found[f"action {number}"]) for number in range(len(shown))] == [[one] for one in shown]
        game.day({})
    found = seen(game, 0, ask=Ask("x", 0, "kill", "night", 5, ()))
    assert [ones(found[f"dead {number}"]) for number in range(3)] == [[4], [3], []]


def test_classes_of_roles_follow_from_what_they_do() -> None:
    assert CLASSES == ("Werewolf", "Seer", "Doctor", "Villager")
    wanted = {"Werewolf": WOLF, "Seer": SEER, "Doctor": DOC, "Guard": DOC, "Witch": DOC, "Villager": VILLAGER}
    assert wanted == {name: CLASS_OF[name] for name in wanted}
    orator = Role("Orator", "Orators", Side.VILLAGE, lambda rules: "the Orator speaks twice")
    assert class_of(orator) == DOC  # without a duty, and no plain Villager


def test_the_witchs_antidote_has_the_saved_for_its_target() -> None:
    rules = WITCH.with_(speaking_order="ascending", witch_may_use_both=True)
    game = Game(rules, ["Werewolf", "Werewolf", "Villager", "Villager", "Seer", "Guard", "Witch"])
    game.night(kill={0: 3, 1: 3}, antidote={6: YES}, poison={6: 0})
    found = seen(game, 6, ask=Ask("1/vote/6", 6, "vote", "voting", 1, ()))
    assert ones(found["action 0"]) == [0, 3]
    assert ones(found["dead 0"]) == [0]


def test_votes_for_the_sheriff_are_no_votes() -> None:
    game = Game(SHERIFF)
    game.play(uniform(random.Random(3)), lambda now: any(ask.kind == "statement" for ask in now.asks))
    assert not game.over
    found = seen(game, game.asks[0].seat)
    assert not found["votes 0"].any()


# -- properties -----------------------------------------------------------------------------


@examples(20)
@given(rulesets(), st.randoms(use_true_random=False))
def test_going_on_from_a_cache_gives_what_a_fresh_look_gives(rules: Ruleset, rng: Any) -> None:
    game = Game(rules)
    choose = uniform(rng)
    while not game.over:
        for ask in game.asks:
            if ask.seat < 0:
                continue
            view = game.log.view(ask.seat)
            fresh = View(view.seat, view.ruleset, view.events, view.notes, {})
            memory = remember(view)
            vector = player_vector(view, ask, memory)
            assert np.array_equal(vector, player_vector(fresh, ask, memory))
            assert vector.shape == (features_length(rules.players),)
            assert vector.min() >= 0
            assert vector.max() <= max(1.0, ask.round / 10 + 1e-6)
            assert ones(parts(vector, rules.players)["alive"]) == list(memory.alive)
        game.reply([choose(ask) for ask in game.asks])


def test_a_shorter_view_is_read_anew() -> None:
    game = Game(DOCTOR, SEATS)
    view, ask = game.log.view(0), ask_of(game, 0)
    before = player_vector(view, ask, remember(view))
    game.night(kill={0: 1, 4: 3})
    later = game.log.view(0)
    assert not np.array_equal(before, player_vector(later, ask, remember(later)))
    assert np.array_equal(before, player_vector(view, ask, remember(view)))


# -- laying out -----------------------------------------------------------------------------


@pytest.mark.parametrize("players", [5, 6, 7, 8])
def test_every_value_finds_its_place(players: int) -> None:
    vector = np.arange(1, features_length(players) + 1, dtype=np.float32)
    small, wide = parts(vector, players), parts(lay_out(vector, players, 8), 8)
    for name in small:
        if name in ("role", "round", "phase"):
            assert np.array_equal(wide[name], small[name])
        elif name.startswith("votes"):
            assert np.array_equal(wide[name][:players, :players], small[name])
        else:
            assert np.array_equal(wide[name][:players], small[name])
    total = sum(float(part.sum()) for part in wide.values())
    assert total == float(vector.sum()), "nothing stands where nobody sits"


def test_batches_are_laid_out_alike() -> None:
    vectors = np.random.default_rng(0).random((5, features_length(6)), dtype=np.float32)
    together = lay_out(vectors, 6, 8)
    assert together.shape == (5, features_length(8))
    assert all(np.array_equal(together[row], lay_out(vectors[row], 6, 8)) for row in range(5))


@pytest.mark.parametrize(
    ("players", "size", "said"),
    [
        (9, 9, "room for 8 players, and the table has 9"),
        (7, 6, "lay each table out by its own number"),
    ],
)
def test_what_has_no_room_is_refused(players: int, size: int, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        lay_out(np.zeros(features_length(size), np.float32), players, 8)
