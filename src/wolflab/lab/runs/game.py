"""Prepares one planned game, for the runner and for replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ... import __version__
from ...match import Draws, InterviewProbe, Match, OpinionProbe, Probe, StrawPoll
from ...models.calls import CallCache
from ...record import GameRecord
from ...rules import Ruleset, Said
from ...text.probes import PROBES
from ...text.reading import claimed_against
from ..plans.design import sheriff_side
from ..plans.experiment import Experiment
from ..plans.scenes import ruleset_of_deal
from ..storage.store import GameRow, Place, Store
from .casting import PlayerBuilder
from .forks import fork_at


def probes_of(experiment: Experiment) -> tuple[Probe, ...]:
    """The probes of an experiment."""
    chosen: list[Probe] = []
    if experiment.straw_polls:
        chosen.append(StrawPoll(experiment.straw_polls))
    chosen += [OpinionProbe(*PROBES[name][:3]) for name in experiment.asked]
    if experiment.interview:
        chosen.append(InterviewProbe(_camouflaged))
    return tuple(chosen)


def _camouflaged(said: Said, role: str, ruleset: Ruleset) -> bool:
    return claimed_against(said.text, said.seat, role, ruleset) is not None


def keys(experiment: Experiment, place: Place) -> tuple[str, str]:
    """The keys of a game's draws: for the cards, and for everything else.

    They name deal and repeat but not the condition, so that conditions meet the same cards and the same
    luck (paired comparisons; 002 §9.1 repeats each deal). A fork has its parent's keys, with the number of
    the continuation behind it unless it is the first.
    """
    deal = f"{experiment.seed}/{place.deal}"
    if (fork := experiment.fork(place.condition)) is not None:
        parent = Place(fork.games_of, place.deal, place.repeat // fork.continuations)
        play, number = keys(experiment, parent)[1], fork.continuation(place.repeat)
        return deal, f"{play}/{number}" if number else play
    return deal, f"{deal}/{place.repeat}"


def rules_of(experiment: Experiment, place: Place) -> Ruleset:
    """The rules of one game, in its wording and with the names of its players."""
    rules = experiment.worded_ruleset(place.condition, place.deal, place.repeat)
    return ruleset_of_deal(experiment.scene, rules, keys(experiment, place)[0])


@dataclass
class StoredGame:
    """A game of a run whose record is read lazily and once."""

    store: Store
    row: GameRow

    @cached_property
    def record(self) -> GameRecord | None:
        """The record; None for an unfinished game."""
        return self.store.record(self.row.id) if self.row.over else None

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of its players."""
        if self.record is not None:
            return self.record.ruleset.names
        return rules_of(self.store.experiment, Place.of(self.row)).names


def prepare(builder: PlayerBuilder, place: Place, file: CallCache) -> Match:
    """The match of one planned game."""
    experiment = builder.experiment
    deal, play = keys(experiment, place)
    header: dict[str, Any] = {
        "version": __version__,
        "experiment": experiment.name,
        "condition": place.condition,
    }
    fork = fork_at(builder, place)
    if fork is not None:
        header["fork"] = fork.header
    return Match(
        rules_of(experiment, place),
        builder.casting(place),
        Draws(deal),
        Draws(play),
        header,
        probes_of(experiment),
        file,
        sheriff_side=sheriff_side(experiment, place.condition, place.deal),
        past={} if fork is None else fork.past,
    )
