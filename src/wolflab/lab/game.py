"""One planned game: from its place in the experiment to its record. Used by the runner and by replay."""

from __future__ import annotations

from dataclasses import dataclass

from .. import __version__
from ..match import Draws, File, Filed, Match, Played, Probe, ReliabilityProbe, StrawPoll
from ..models.base import Model, Request, Response
from ..text.prompts import prompt_digest
from .casting import Company
from .experiment import Experiment
from .store import CallRow, GameRow, Store


@dataclass(frozen=True, slots=True)
class Place:
    """Which game of an experiment: its condition, deal and repeat (and branch, for a fork)."""

    condition: str
    deal: int
    repeat: int
    branch: str = ""

    @classmethod
    def of(cls, row: GameRow) -> Place:
        """The place of a stored game."""
        return cls(row.condition, row.deal, row.repeat, row.branch)


def probes(experiment: Experiment) -> tuple[Probe, ...]:
    """The probes that the experiment asks for."""
    chosen: list[Probe] = []
    if experiment.straw_polls:
        chosen.append(StrawPoll(experiment.straw_polls))
    if experiment.reliability_probe:
        chosen.append(ReliabilityProbe())
    return tuple(chosen)


def keys(experiment: Experiment, place: Place) -> tuple[str, str]:
    """The keys of a game's draws: for the cards, and for everything else.

    They name deal and repeat but not the condition, so that conditions meet the same cards and the same
    luck (paired comparisons; 002 §9.1 repeats each deal).
    """
    deal = f"{experiment.seed}/{place.deal}"
    return deal, f"{deal}/{place.repeat}" + (f"/{place.branch}" if place.branch else "")


def prepare(experiment: Experiment, place: Place, company: Company, file: File) -> Match:
    """The match for one place."""
    deal, play = keys(experiment, place)
    header = {
        "version": __version__,
        "experiment": experiment.name,
        "condition": place.condition,
        "branch": place.branch,
        "prompts": prompt_digest(),
    }
    return Match(
        experiment.ruleset(place.condition),
        company.casting(experiment, place.condition),
        Draws(deal),
        Draws(play),
        header,
        probes(experiment),
        file,
        prompt_digest(),
    )


def status(played: Played) -> str:
    """ "done" or "void"."""
    return "void" if played.outcome.void else "done"


class GameFile:
    """`match.File` over a store: calls of waiting models are committed at once, others with the game."""

    def __init__(self, store: Store | None, game: int, filed: dict[str, Filed]) -> None:
        self._store = store
        self._game = game
        self._filed = filed
        self.held: list[CallRow] = []

    def get(self, request: Request) -> Filed | None:
        """See `match.File`."""
        return self._filed.get(request.key)

    def put(self, key: str, digest: str, request: Request, response: Response, model: Model) -> None:
        """See `match.File`."""
        if model.instant or self._store is None:
            self.held.append(CallRow(key, digest, model.name, response))
        else:
            self._store.commit_call(self._game, CallRow(key, digest, model.name, response))
