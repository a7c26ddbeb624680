"""Plays one game that is watched live, with or without people, for any user interface.

A game that is stored is the only one of its run, or one of a study's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...agents.own import own_agent
from ...errors import WolflabError
from ...match import GameWatch, Played, play
from ...models.budget import Budget
from ...models.person import PeopleTable
from ...rules import Ask
from ..plans.experiment import Experiment
from ..storage.call_store import StoredCallCache
from ..storage.store import Place, Store, asker
from .casting import PlayerBuilder, budget_of
from .counting import finished
from .game import prepare
from .runner import preflight
from .work import agent_errors, error_sentence


@dataclass(frozen=True)
class RunAtTables:
    """A run whose games are played at several tables at the same time. budget: shared by all."""

    store: Store
    budget: Budget

    @classmethod
    def of(cls, store: Store) -> RunAtTables:
        """The tables of a run; earlier spending counts towards the budget."""
        return cls(store, budget_of(store.experiment, store.spent()))


def only_place(experiment: Experiment) -> Place:
    """The place of the experiment's only game."""
    return Place(next(iter(experiment.conditions)), 0, 0)


def check_own_agents(experiment: Experiment) -> None:
    """Raise ExperimentError, before people sit down, if a user's own agent cannot be built."""
    for player in experiment.players.values():
        if player.own is not None:
            own_agent(player.own.name, player.own.settings)


async def play_table(
    store: Store | None,
    experiment: Experiment,
    table: PeopleTable | None = None,
    watch: GameWatch | None = None,
    asked: Callable[[Sequence[Ask]], None] | None = None,
    game: int = 1,
    budget: Budget | None = None,
) -> Played:
    """Play or resume a game of an experiment, and store it.

    store: has the game as number `game`; None for an experiment's only game, which is not stored. table: the
    table of people, if any play. watch, asked: see `match.Match`. budget: the run's, if several games are
    played at the same time; None: the experiment's, less earlier spending. Errors pass through in a group; a
    WolflabError leaves the game unfinished, with its sentence.
    """
    if store is None:
        builder = PlayerBuilder(experiment, table=table)
    else:
        store.waits_for_disk = table is not None  # what people are sent comes at the same times in every game
        builder = PlayerBuilder(experiment, store.path, budget or store.spent(), table=table)
    place = only_place(experiment) if store is None else Place.of(store.game(game))
    try:
        await preflight(builder)
        file = StoredCallCache(store, asker(game), {} if store is None else store.calls(game))
        match = replace(prepare(builder, place, file), watch=watch, asked=asked)
        start = time.perf_counter()
        with agent_errors():
            played = await play(match)
        if store is not None:
            result = finished(experiment, place.condition, played, file.held, store.game_totals(game))
            store.keep(game, *result, time.perf_counter() - start)
        return played
    except* WolflabError as errors:
        if store is not None and not store.game(game).over:
            store.stop(game, "unfinished", error_sentence(errors))
        raise
    finally:
        await builder.close()
