"""Games in step: coroutines whose requests are answered in batches, and the same decisions as one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from policy_helpers import DIMENSIONS, checkpoint
from wolflab.agents.language import LanguageAgent
from wolflab.agents.policy.checkpoint import NumpyPolicy
from wolflab.agents.recipes import recipe
from wolflab.lab.training.games import LockstepEmbedder
from wolflab.match import Draws, Match, Player, play, run_now
from wolflab.match.io import NOT_RECORDED
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.models.village import Village
from wolflab.policy.lockstep import ServiceRequest, drive, in_step
from wolflab.policy.rollout import BatchedPolicy
from wolflab.rules import DOCTOR, Log


class Doubler:
    """A service; keeps its batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def serve(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        return [2 * item for item in items]


async def chain(service: Doubler, start: int, steps: int) -> int:
    for _ in range(steps):
        start = await ServiceRequest(service, start)
    return start


def test_what_all_wait_for_is_answered_in_one_batch() -> None:
    service = Doubler()
    assert list(drive((chain(service, n, 2) for n in (1, 10, 100)), 3)) == [4, 40, 400]
    assert service.batches == [[1, 10, 100], [2, 20, 200]]


def test_results_come_in_order_and_batches_stay_full() -> None:
    service = Doubler()
    steps = [3, 1, 1, 2]
    assert list(drive((chain(service, 1, n) for n in steps), 2)) == [2**n for n in steps]
    assert [len(batch) for batch in service.batches] == [2, 2, 2, 1]


def test_each_service_gets_its_own_batch() -> None:
    one, two = Doubler(), Doubler()
    assert list(drive([chain(one, 1, 1), chain(two, 5, 1)], 2)) == [2, 10]
    assert (one.batches, two.batches) == ([[1]], [[5]])


def test_a_gather_hands_on_what_all_of_its_parts_wait_for() -> None:
    service = Doubler()

    async def game(n: int) -> list[int]:
        return await in_step([chain(service, n, 1), chain(service, n + 1, 3), in_step([])])

    found: list[Any] = list(drive([game(1), game(10)], 2))
    assert found == [[2, 16, []], [20, 88, []]]
    assert service.batches == [[1, 2, 10, 11], [4, 22], [8, 44]]


def test_an_error_ends_everything_and_is_raised() -> None:
    closed: list[int] = []

    async def fails(service: Doubler) -> int:
        await ServiceRequest(service, 0)
        raise ValueError("broken")

    async def waits(service: Doubler, number: int) -> int:
        try:
            await chain(service, 1, 9)
        finally:
            closed.append(number)
        return 0

    service = Doubler()
    with pytest.raises(ValueError, match="broken"):
        list(drive([in_step([waits(service, 1), fails(service)]), waits(service, 2)], 2))
    assert sorted(closed) == [1, 2]


def test_a_game_that_waits_for_an_event_loop_is_refused() -> None:
    async def sleeps() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="which only an event loop can give"):
        list(drive([sleeps()], 1))


# -- whole games --------------------------------------------------------------------------------

GAMES = 4


def notes_of(log: Log) -> list[Any]:
    return [note for seat in range(DOCTOR.players) for note in log.view(seat).notes]


def match(player: Player, number: int, **how: Any) -> Match:
    key = f"in step/{number}"
    return Match(DOCTOR, lambda dealing: [player] * 7, Draws(key), Draws(f"{key}/0"), {}, write=False, **how)


@pytest.mark.parametrize("name", ["strategic", "atomic", "diverse", "deductive-002"])
def test_games_in_step_are_the_games_played_one_by_one(name: str) -> None:
    model, embedder = Village(), HashingEmbedder(DIMENSIONS)
    policy = NumpyPolicy(checkpoint(3, candidates=13))
    made = recipe(name)
    alone = Player(LanguageAgent(made, policy=policy), model, {"policy": embedder})
    stepping = Player(
        LanguageAgent(made, policy=BatchedPolicy(policy)), model, {"policy": LockstepEmbedder(embedder)}
    )
    one_by_one = [run_now(play(match(alone, number))) for number in range(GAMES)]
    games = [
        play(match(stepping, number, gather=in_step, call_cache=NOT_RECORDED)) for number in range(GAMES)
    ]
    together = list(drive(games, GAMES))
    for one, other in zip(one_by_one, together, strict=True):
        assert one.log.events == other.log.events
        assert notes_of(one.log) == notes_of(other.log)


def test_batches_hold_many_games() -> None:
    policy = NumpyPolicy(checkpoint(3))
    sizes: list[int] = []
    weigh = policy.weigh_many

    class Watched(NumpyPolicy):
        def weigh_many(self, observations: Any) -> Any:
            sizes.append(len(observations))
            return weigh(observations)

    embedder = LockstepEmbedder(HashingEmbedder(DIMENSIONS))
    agent = LanguageAgent(recipe("strategic"), policy=BatchedPolicy(Watched(policy.checkpoint)))
    player = Player(agent, Village(), {"policy": embedder})
    list(
        drive([play(match(player, n, gather=in_step, call_cache=NOT_RECORDED)) for n in range(GAMES)], GAMES)
    )
    assert max(sizes) >= 2 * GAMES
