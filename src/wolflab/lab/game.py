"""One planned game: from its place in the experiment to its record. Used by the runner and by replay."""

from __future__ import annotations

from .. import __version__
from ..match import Draws, File, Filed, Interview, Match, Played, Probe, ReliabilityProbe, StrawPoll
from ..models.base import Model, Request, Response
from ..rules import Ruleset, Said
from ..text.camouflage import claimed_against
from .casting import Company
from .experiment import Experiment
from .packing import CallRow
from .place import Place
from .scenes import table
from .store import Store


def probes(experiment: Experiment) -> tuple[Probe, ...]:
    """The probes that the experiment asks for."""
    chosen: list[Probe] = []
    if experiment.straw_polls:
        chosen.append(StrawPoll(experiment.straw_polls))
    if experiment.reliability_probe:
        chosen.append(ReliabilityProbe())
    if experiment.interview:
        chosen.append(Interview(_camouflaged))
    return tuple(chosen)


def _camouflaged(said: Said, role: str, ruleset: Ruleset) -> bool:
    return claimed_against(said.text, said.seat, role, ruleset) is not None


def keys(experiment: Experiment, place: Place) -> tuple[str, str]:
    """The keys of a game's draws: for the cards, and for everything else.

    They name deal and repeat but not the condition, so that conditions meet the same cards and the same
    luck (paired comparisons; 002 §9.1 repeats each deal).
    """
    deal = f"{experiment.seed}/{place.deal}"
    return deal, f"{deal}/{place.repeat}" + (f"/{place.branch}" if place.branch else "")


def rules_of(experiment: Experiment, place: Place) -> Ruleset:
    """The rules of one game, with what its players are called."""
    return table(experiment.scene, experiment.ruleset(place.condition), keys(experiment, place)[0])


def prepare(company: Company, place: Place, file: File) -> Match:
    """The match for one place."""
    experiment = company.experiment
    deal, play = keys(experiment, place)
    header = {
        "version": __version__,
        "experiment": experiment.name,
        "condition": place.condition,
        **({"branch": place.branch} if place.branch else {}),
    }
    return Match(
        rules_of(experiment, place),
        company.casting(place),
        Draws(deal),
        Draws(play),
        header,
        probes(experiment),
        file,
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
