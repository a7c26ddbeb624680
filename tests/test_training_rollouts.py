"""Episodes: who learns, who holds the other seats, what is kept of decisions; and that keys decide it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from policy_helpers import DIMENSIONS, checkpoint
from wolflab.agents.language import LanguageAgent
from wolflab.agents.policy.checkpoint import NumpyPolicy
from wolflab.agents.policy.features import Batch
from wolflab.agents.policy.policy import Policy
from wolflab.agents.recipes import recipe
from wolflab.lab.training.games import LockstepEmbedder
from wolflab.match import Dealing, Draws, Match, Player, play, run_now
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.models.village import Village
from wolflab.policy.rollout import (
    BatchedPolicy,
    Decisions,
    EpisodeResult,
    FirstCandidate,
    Member,
    checkpoint_of,
    join_decisions,
    play_episodes,
    population_members,
    seat_holders,
    styled,
)
from wolflab.policy.settings import STYLES, Population
from wolflab.record import Turn
from wolflab.rules import DOCTOR, SHERIFF, Event, Log, Side
from wolflab.text.kinds import KINDS, kind_of

ROLES = ("Werewolf", "Villager", "Seer", "Werewolf", "Doctor", "Villager", "Villager")
POLICY = NumpyPolicy(checkpoint(3))


class Table:
    """Players of the built-in model; counts who was asked for."""

    def __init__(self, learner: str = "strategic") -> None:
        self.model, self.embedder = Village(), LockstepEmbedder(HashingEmbedder(DIMENSIONS))
        self.recipe = recipe(learner)
        self.asked: Counter[str] = Counter()

    def learner(self, policy: Policy) -> Player:
        self.asked["learner"] += 1
        return Player(LanguageAgent(self.recipe, policy=policy), self.model, {"policy": self.embedder})

    def fixed(self, member: Member) -> Player:
        self.asked[member.name] += 1
        return Player(LanguageAgent(recipe("deductive-004").with_(style=member.name)), self.model)


def dealing(number: int) -> Dealing:
    return Dealing(ROLES, None, f"deal {number}", f"deal {number}/0")


def rolled(
    keys: list[str],
    group: int,
    policy: Policy | None = None,
    table: Table | None = None,
    pool: tuple[Member, ...] = styled(),
    **population: Any,
) -> tuple[Decisions, list[EpisodeResult]]:
    """Episodes by key, so many in step."""
    parts, ended = [], []
    for at in range(0, len(keys), group):
        made, over = play_episodes(
            DOCTOR,
            table or Table(),
            policy or BatchedPolicy(POLICY),
            POLICY.lay_out,
            Population(**population),
            pool,
            keys[at : at + group],
        )
        assert made is not None
        parts.append(made)
        ended += over
    return join_decisions(parts), ended


KEYS = [f"rollout/{number}" for number in range(6)]


# -- who sits where -----------------------------------------------------------------------------


def test_four_seats_learn_and_the_others_hold_members_of_their_own_side() -> None:
    sides = [Side.WEREWOLVES if role == "Werewolf" else Side.VILLAGE for role in ROLES]
    learned: Counter[int] = Counter()
    held: Counter[str] = Counter()
    for number in range(600):
        found = seat_holders(Population(), styled(), dealing(number))
        learned.update(seat for seat, one in enumerate(found) if one is None)
        assert sum(one is None for one in found) == 4
        for seat, one in enumerate(found):
            if one is not None:
                assert one.name in STYLES[sides[seat]]
                held[one.name] += 1
    assert all(abs(learned[seat] / 600 - 4 / 7) < 0.08 for seat in range(7))
    assert set(held) == {name for names in STYLES.values() for name in names}
    assert all(abs(held[name] - 600 * 15 / 7 / 3) < 80 for name in STYLES[Side.VILLAGE])


def test_the_same_key_gives_the_same_seats() -> None:
    assert seat_holders(Population(), styled(), dealing(1)) == seat_holders(
        Population(), styled(), dealing(1)
    )
    assert len({seat_holders(Population(), styled(), dealing(number)) for number in range(50)}) > 40


def test_self_play_and_one_side() -> None:
    assert seat_holders(Population(learners="all"), styled(), dealing(1)) == (None,) * 7
    target = (Member("target", "target"),)
    found = seat_holders(Population(learners="werewolves"), target, dealing(1))
    assert [one is None for one in found] == [role == "Werewolf" for role in ROLES]
    found = seat_holders(Population(learners="village"), target, dealing(1))
    assert [one is None for one in found] == [role != "Werewolf" for role in ROLES]


def test_who_has_nobody_to_hold_its_seat_learns() -> None:
    assert seat_holders(Population(styles=False), (), dealing(1)) == (None,) * 7


def test_the_population_grows_by_checkpoints_and_keeps_the_latest() -> None:
    assert population_members(Population(), 9) == styled()
    grown = population_members(Population(checkpoints=10, keep=2), 35)
    assert grown == (*styled(), checkpoint_of(20), checkpoint_of(30))
    assert population_members(Population(checkpoints=0), 99) == styled()
    assert (
        population_members(Population(learners="village"), 99) == styled()
    )  # it never learned to be a Werewolf
    assert population_members(Population(styles=False, checkpoints=5), 5) == (
        Member("checkpoint", "update-00005"),
    )


def test_a_population_that_holds_no_seat_is_not_named() -> None:
    with pytest.raises(ValidationError, match=r"self-play.* remove styles, keep, or let fewer"):
        Population(learners="all", styles=True, keep=3)
    with pytest.raises(ValidationError, match="remove checkpoints"):
        Population(learners="all", checkpoints=5)
    assert Population(learners="all", styles=False, checkpoints=0).learners == "all"
    with pytest.raises(ValidationError, match="learns one side alone"):
        Population(learners="werewolves", keep=3)
    with pytest.raises(ValidationError, match="say learners: all"):
        Population(styles=False, checkpoints=0)


# -- episodes -----------------------------------------------------------------------------------


def test_the_same_decisions_whatever_is_played_in_step() -> None:
    one, ended = rolled(KEYS, 6)
    other, over = rolled(KEYS, 2)
    assert ended == over
    for name, a, b in zip(Decisions._fields, one, other, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


def test_what_is_kept_fits_together() -> None:
    table = Table()
    found, ended = rolled(KEYS, 6, table=table)
    count = len(found.action)
    assert table.asked["learner"] == 4 * len(KEYS)
    assert sum(table.asked.values()) == 7 * len(KEYS)
    assert all(len(array) == count for array in found)
    assert (found.text.dtype, found.candidates.dtype, found.player.dtype) == ("float16", "float16", "float32")
    taken = found.mask[np.arange(count), found.action]
    assert taken.all()
    assert (found.log_p <= 0).all()
    assert set(found.kind) == {0, 1, 2}
    assert len(ended) == len(KEYS)
    # A seat that never got to decide (killed in the first night) keeps nothing.
    assert 0 < found.last.sum() <= 4 * len(KEYS)
    # Every seat's last decision has the end of the game: at least 100 less all small rewards of a game.
    assert (np.abs(found.reward[found.last]) > 60).all()
    assert (np.abs(found.reward[~found.last]) < 40).all()
    # Within one seat π is the softmax's: probabilities of what was taken are those of the same network.
    shares, values = POLICY.weigh_batch(_batch(found))
    np.testing.assert_allclose(np.log(shares[np.arange(count), found.action]), found.log_p, atol=2e-2)
    np.testing.assert_allclose(values, found.value, atol=2e-2)


def _batch(found: Decisions) -> Batch:
    text, candidates = (array.astype(np.float32) for array in (found.text, found.candidates))
    return Batch(found.player, text, candidates, found.mask)


def deciding(key: str) -> list[bool]:
    """Whether it is a Werewolf, of each seat that decides anything in the deduction-only agent's game."""
    alone = Player(LanguageAgent(recipe("deductive-004")), Village())
    asked: set[int] = set()
    dealt: list[str] = []

    def cast(dealing: Dealing) -> list[Player]:
        dealt[:] = dealing.roles
        return [alone] * len(dealt)

    def watch(events: object, log: object, turns: Sequence[Turn]) -> None:
        asked.update(turn.ask.seat for turn in turns if turn.ask.seat >= 0)

    run_now(play(Match(DOCTOR, cast, Draws(key), Draws(f"{key}/0"), {}, write=False, watch=watch)))
    return [dealt[seat] == "Werewolf" for seat in sorted(asked)]


def test_the_winners_have_the_reward() -> None:
    found, ended = rolled(KEYS, 6, FirstCandidate(), learners="all")
    over = found.reward[found.last]
    at = 0
    for key, one in zip(KEYS, ended, strict=True):
        assert one.learners == (5, 2)
        assert one.others == ()
        wolves = deciding(key)
        for points, wolf in zip(over[at : at + len(wolves)], wolves, strict=True):
            assert (points > 0) == (one.village != wolf)
        at += len(wolves)
    assert at == len(over)
    assert {one.village for one in ended} == {True, False}


def test_cloned_episodes_are_the_deduction_only_agents_games() -> None:
    """Who takes its first candidate plays as if it had no others."""
    table = Table()
    alone = Player(LanguageAgent(recipe("deductive-004")), table.model)
    found, ended = rolled(KEYS, 6, FirstCandidate(), table, learners="all")
    assert (found.action == 0).all()
    assert (found.log_p == 0).all()
    for key, one in zip(KEYS, ended, strict=True):
        draws = Draws(key), Draws(f"{key}/0")
        played = run_now(play(Match(DOCTOR, lambda dealing: [alone] * 7, *draws, {}, write=False)))
        assert (played.outcome.winner.value == "village") is one.village


def test_episodes_in_which_no_learning_seat_lived_to_decide() -> None:
    """A Villager that is killed in the first night has decided nothing."""
    keys = [f"alone/{number}" for number in range(40)]
    made = [
        play_episodes(
            DOCTOR, Table(), FirstCandidate(), POLICY.lay_out, Population(learners=1), styled(), [key]
        )
        for key in keys
    ]
    assert any(decisions is None for decisions, _ in made)
    assert all(len(ended) == 1 for _, ended in made)


def test_a_table_that_elects_a_sheriff_is_cast_once() -> None:
    """The election has everybody cast once more: who learned before goes on, with all decisions kept."""
    keys, table = [f"elected/{number}" for number in range(4)], Table()
    everybody = Population(learners="all")
    found, ended = play_episodes(SHERIFF, table, FirstCandidate(), POLICY.lay_out, everybody, (), keys)
    assert found is not None
    assert table.asked["learner"] == 4 * SHERIFF.players
    assert len(ended) == 4
    alone = Player(LanguageAgent(recipe("deductive-004")), table.model)
    nights = 0

    def watch(events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        nonlocal nights
        nights += sum(kind_of(turn.ask.kind) == "night" for turn in turns if turn.ask.seat >= 0)

    for key in keys:
        draws = Draws(key), Draws(f"{key}/0")
        cast = [alone] * SHERIFF.players
        run_now(play(Match(SHERIFF, lambda dealing, cast=cast: cast, *draws, {}, write=False, watch=watch)))
    assert Counter(found.kind.tolist())[KINDS.index("night")] == nights > 0


@pytest.mark.parametrize("learners", [2, 7])
def test_any_number_of_seats_may_learn(learners: int) -> None:
    table = Table()
    rolled(KEYS[:2], 2, table=table, learners=learners)
    assert table.asked["learner"] == 2 * learners
