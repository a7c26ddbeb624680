"""Episodes: games in which some seats learn. This module seats the others and collects decisions.

An episode has a key. Its cards, its learners, its other players and all draws follow from the key and the
policies. So the same settings give the same decisions for any number of processes. A `Roster` makes the
players.

The population has styled agents and the learner's earlier checkpoints (004 §4.3, App. D.3). A reward is
credited to the seat's latest decision before the event. Rewards before a seat's first decision are dropped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..agents.policy.checkpoint import NumpyPolicy
from ..agents.policy.features import Batch
from ..agents.policy.policy import Float32s, Observation, Policy, Weights
from ..match import Casting, Dealing, Draws, Match, Player, play
from ..match.io import NOT_RECORDED, Gather
from ..match.rewards import D2, Gain, gains
from ..record import Turn
from ..rules import CHANCE, ROLES, Event, Log, Ruleset, Side
from ..text.kinds import KINDS, kind_of
from ..text.notes import Chosen, Mistake
from .lockstep import ServiceRequest, drive, in_step
from .settings import STYLES, Population

SIDES = (Side.VILLAGE, Side.WEREWOLVES)
"""The sides, in the order of `EpisodeResult`."""


# -- the population ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Member:
    """One fixed player. kind: a styled agent, an earlier learner ("checkpoint"), or the opponent of a best
    response ("target"). name: of the style or of the checkpoint ("update-00020"). side: the side that it may
    play; None for both.
    """

    kind: Literal["style", "checkpoint", "target"]
    name: str
    side: Side | None = None


def styled() -> tuple[Member, ...]:
    """The six styled deduction-only agents."""
    return tuple(Member("style", name, side) for side, names in STYLES.items() for name in names)


def population_members(settings: Population, updates: int) -> tuple[Member, ...]:
    """The population after `updates` updates, oldest first; empty in self-play."""
    if settings.learners == "all":
        return ()
    members = list(styled()) if settings.styles else []
    if settings.checkpoints and settings.side is None:
        made = range(settings.checkpoints, updates + 1, settings.checkpoints)
        members += map(checkpoint_of, list(made)[-settings.keep :])
    return tuple(members)


def checkpoint_of(update: int) -> Member:
    """The learner's checkpoint after that update."""
    return Member("checkpoint", f"update-{update:05d}")


def seat_holders(settings: Population, pool: Sequence[Member], dealing: Dealing) -> tuple[Member | None, ...]:
    """The members by seat of an episode; None for a seat that learns.

    They are drawn by the key of the game's play. A fixed seat gets a member of its side; if there is none,
    the seat learns too.
    """
    draws = Draws(dealing.play)
    count = len(dealing.roles)
    sides = [ROLES[role].side for role in dealing.roles]
    learning = _learning(settings, sides, draws)
    holders: list[Member | None] = []
    for seat in range(count):
        mine = [member for member in pool if member.side in (None, sides[seat])]
        fixed = seat not in learning and mine
        holders.append(mine[draws.below(len(mine), f"member of {seat}")] if fixed else None)
    return tuple(holders)


def _learning(settings: Population, sides: Sequence[Side], draws: Draws) -> set[int]:
    if settings.learners == "all":
        return set(range(len(sides)))
    if settings.side is not None:
        return {seat for seat, side in enumerate(sides) if side is settings.side}
    assert isinstance(settings.learners, int)
    order = sorted(range(len(sides)), key=lambda seat: (draws.share(f"learner {seat}"), seat))
    return set(order[: settings.learners])


# -- decisions --------------------------------------------------------------------------------------


class Decisions(NamedTuple):
    """T decisions of learning seats, episode by episode, seat by seat, in order of time.

    player: float32 (T, V). text: float16 (T, D). candidates: float16 (T, N, D). mask: bool (T, N). action:
    int16 (T,), the chosen candidate. log_p: float32 (T,), its log π. value: float32 (T,), the critic's, in
    points. reward: float32 (T,), in points. last: bool (T,), the seat's last decision of its episode. kind:
    int8 (T,), the index in `text.kinds.KINDS`.
    """

    player: Float32s
    text: NDArray[np.float16]
    candidates: NDArray[np.float16]
    mask: NDArray[np.bool_]
    action: NDArray[np.int16]
    log_p: Float32s
    value: Float32s
    reward: Float32s
    last: NDArray[np.bool_]
    kind: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """The result of an episode. village: whether the village won; None if neither side did. learners: number
    of learning seats by side. others: names and sides of the other members. turns: of players whose model
    waits, with the number of stand-ins among them; unusable: replies in these turns that could not be used.
    """

    village: bool | None
    learners: tuple[int, int]
    others: tuple[tuple[str, int], ...]
    turns: int = 0
    stand_ins: int = 0
    unusable: int = 0


class Roster(Protocol):
    """Makes the players of episodes."""

    def learner(self, policy: Policy) -> Player:
        """A learning player that chooses by this policy."""
        ...

    def fixed(self, member: Member) -> Player:
        """The player of a member of the population."""
        ...


class BatchedPolicy:
    """A policy for games in step: their observations are weighed in one batch."""

    instant = False

    def __init__(self, policy: NumpyPolicy) -> None:
        self.name = policy.name
        self._policy = policy

    async def weigh(self, observation: Observation) -> Weights:
        """See `Policy`."""
        weights: Weights = await ServiceRequest(self, observation)
        return weights

    def serve(self, items: Sequence[Observation]) -> Sequence[Weights]:
        """See `lockstep.Service`."""
        return self._policy.weigh_many(items)

    def describe(self) -> dict[str, Any]:
        """See `Policy`."""
        return self._policy.describe()


class FirstCandidate:
    """The policy that behaviour cloning imitates: it takes the first candidate, the model's own choice."""

    instant = True
    name = "first"

    async def weigh(self, observation: Observation) -> Weights:
        """See `Policy`."""
        certain = np.zeros(len(observation.candidates))
        certain[0] = 1.0
        return Weights(certain, 0.0)

    def describe(self) -> dict[str, Any]:
        """See `Policy`."""
        return {"name": self.name}


@dataclass
class LearningSeat:
    """A `Policy` of one learning seat that keeps its decisions."""

    policy: Policy
    observations: list[Observation] = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    decided: list[int] = field(default_factory=list)
    """The number of events before each decision."""

    instant = False
    name = "learner"

    async def weigh(self, observation: Observation) -> Weights:
        """See `Policy`."""
        return self.keep(observation, await self.policy.weigh(observation))

    def keep(self, observation: Observation, weights: Weights) -> Weights:
        """Keep a decision, and return its weights."""
        self.observations.append(observation)
        self.weights.append(weights)
        return weights

    def describe(self) -> dict[str, Any]:
        """See `Policy`."""
        return self.policy.describe()


PlayedEpisode = tuple[EpisodeResult, list[tuple[LearningSeat, Float32s]]]
"""An episode's result, and (seat, rewards) of each learning seat that made a decision."""


def unrecorded_match(
    ruleset: Ruleset, casting: Casting, key: str, watch: Any = None, gather: Gather = in_step
) -> Match:
    """A game without a record and without rendered prompts; by default for `drive`."""
    return Match(
        ruleset,
        casting,
        Draws(key),
        Draws(f"{key}/0"),
        {},
        call_cache=NOT_RECORDED,
        write=False,
        watch=watch,
        gather=gather,
    )


async def play_episode(
    ruleset: Ruleset,
    roster: Roster,
    policy: Policy,
    population: Population,
    pool: Sequence[Member],
    key: str,
    gather: Gather = in_step,
) -> PlayedEpisode:
    """Play one episode; see `play_episodes`. gather: see `match.Match`; by default for `drive`."""
    learning: dict[int, LearningSeat] = {}
    others: list[tuple[str, int]] = []
    sides: list[int] = []

    table: list[Player] = []
    turns = stand_ins = unusable = 0

    def cast(dealing: Dealing) -> list[Player]:
        # Players are seated again after an election; here they stay the same.
        if not table:
            sides[:] = [SIDES.index(ROLES[role].side) for role in dealing.roles]
            for seat, member in enumerate(seat_holders(population, pool, dealing)):
                if member is None:
                    learning[seat] = LearningSeat(policy)
                    table.append(roster.learner(learning[seat]))
                else:
                    others.append((member.name, sides[seat]))
                    table.append(roster.fixed(member))
        return table

    def watch(events: Sequence[Event], log: Log, answered: Sequence[Turn]) -> None:
        nonlocal turns, stand_ins, unusable
        before = len(log.events) - len(events)
        for turn in answered:
            model = table[turn.ask.seat].model if turn.ask.seat != CHANCE else None
            if model is not None and not model.instant:
                turns, stand_ins = turns + 1, stand_ins + (turn.invalid is not None)
                unusable += sum(isinstance(content, Mistake) for _, content in turn.notes)
            if (seat := learning.get(turn.ask.seat)) is not None:
                for _, content in turn.notes:
                    if isinstance(content, Chosen):
                        seat.actions.append(content.number)
                        seat.kinds.append(KINDS.index(kind_of(turn.ask.kind)))
                        seat.decided.append(before)

    played = await play(unrecorded_match(ruleset, cast, key, watch, gather))
    gained = gains(ruleset, played.log.events, D2)
    kept = [
        (seat, credited(gained, number, seat.decided))
        for number, seat in sorted(learning.items())
        if seat.decided
    ]
    counts = [sum(sides[number] == side for number in learning) for side in range(len(SIDES))]
    ended = played.outcome.village_won, (counts[0], counts[1]), tuple(others)
    return EpisodeResult(*ended, turns, stand_ins, unusable), kept


def credited(gained: Sequence[Gain], seat: int, decided: Sequence[int]) -> NDArray[np.float32]:
    """The rewards of a seat's decisions: float32 (T,).

    decided: the number of events before each of its T decisions, in order.
    """
    earned = np.zeros(len(decided), np.float32)
    for gain in gained:
        number = bisect_left(decided, gain.position + 1) - 1
        if number >= 0:
            earned[number] += gain.seats[seat]
    return earned


def play_episodes(
    ruleset: Ruleset,
    roster: Roster,
    policy: Policy,
    lay_out: Callable[[Sequence[Observation]], Batch],
    population: Population,
    pool: Sequence[Member],
    keys: Sequence[str],
) -> tuple[Decisions | None, list[EpisodeResult]]:
    """Play a group of episodes in step and return their decisions as arrays, in the order of `keys`.

    The decisions are None if no learning seat made one. policy: the learner's. lay_out: observations → a
    batch of its network.
    """
    games = (play_episode(ruleset, roster, policy, population, pool, key) for key in keys)
    return decisions_of(list(drive(games, len(keys))), lay_out)


def decisions_of(
    played: Sequence[PlayedEpisode], lay_out: Callable[[Sequence[Observation]], Batch]
) -> tuple[Decisions | None, list[EpisodeResult]]:
    """The decisions of episodes with one number of players, and their results; see `play_episodes`."""
    ended = [result for result, _ in played]
    kept = [seat for _, seats in played for seat in seats]
    if not kept:
        return None, ended
    batch = lay_out([observation for seat, _ in kept for observation in seat.observations])
    action = [action for seat, _ in kept for action in seat.actions]
    weights = [weighed for seat, _ in kept for weighed in seat.weights]
    assert len(action) == len(weights) == len(batch.text)
    taken = [weight.probabilities[number] for weight, number in zip(weights, action, strict=True)]
    last = np.zeros(len(action), np.bool_)
    last[np.cumsum([len(seat.actions) for seat, _ in kept]) - 1] = True
    decisions = Decisions(
        batch.player,
        batch.text.astype(np.float16),
        batch.candidates.astype(np.float16),
        batch.mask,
        np.array(action, np.int16),
        np.log(np.array(taken)).astype(np.float32),
        np.array([weighed.value for weighed in weights], np.float32),
        np.concatenate([rewards for _, rewards in kept]),
        last,
        np.array([kind for seat, _ in kept for kind in seat.kinds], np.int8),
    )
    return decisions, ended


def join_decisions(parts: Sequence[Decisions]) -> Decisions:
    """The decisions of several groups as one."""
    return Decisions(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
