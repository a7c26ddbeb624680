"""What a report has in addition to its summary: differences of arms, source conditions, interviews, learning
curves, forks, choices, diversity of candidates, players with mostly unusable replies, comparisons that could
not be made. It is read from a run; every number is an `Estimate` or a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...metrics.choices import Choices
from ...metrics.diversity import Diversity
from ...metrics.growth import DealWon, Growth, growth_curve
from ...metrics.interviews import InterviewGiven, InterviewRows, interview_rows, interviews_of
from ...metrics.shapes import Summary
from ...usage import AttemptTotals
from ..plans.specs import RenamedCondition
from ..runs.counting import rows_of
from ..runs.repeatability import Repeatability, repeatability
from ..storage.call_store import RunStart
from ..storage.store import Store
from ..studies.training import TrainedGame, trained_games
from .differences import Arm, Differs, baseline_of, differences, sources
from .forks import ForkResults, fork_results
from .kept_registration import KeptRegistration, kept_registration
from .players import PlacePlayer, RulesPlayed, players_of, rules_played
from .studies import studied
from .unusable_players import UnusablePlayer, unusable_entrants, unusable_players_of


@dataclass(frozen=True, slots=True)
class Uncompared:
    """Measures of the experiment's `contrasts` that are not compared.

    alone: there is only one condition; else no two conditions have them on the same deals.
    """

    measures: tuple[str, ...]
    alone: bool


@dataclass(frozen=True, slots=True)
class Extras:
    """See the module. sources: conditions that only provide experience for others.

    begun: date and version. renamed: conditions that `--set` renamed or merged. estimated: a sentence for
    each model whose tokens no server counted. attempts: those without a reply. trained: games of a study
    whose cards a person had trained with. registered: how the run keeps to its registration, if it has one.
    repeatability: of the models behind servers, in runs with forks.
    """

    sources: tuple[str, ...] = ()
    differs: tuple[Differs, ...] = ()
    interviews: tuple[InterviewRows, ...] = ()
    growth: tuple[Growth, ...] = ()
    unusable_players: tuple[UnusablePlayer, ...] = ()
    choices: tuple[Choices, ...] = ()
    diversity: tuple[Diversity, ...] = ()
    uncompared: Uncompared | None = None
    players: tuple[PlacePlayer, ...] = ()
    rules: tuple[RulesPlayed, ...] = ()
    renamed: tuple[RenamedCondition, ...] = ()
    estimated: tuple[str, ...] = ()
    attempts: AttemptTotals = field(default_factory=AttemptTotals)
    begun: tuple[RunStart, ...] = ()
    trained: tuple[TrainedGame, ...] = ()
    registered: KeptRegistration | None = None
    forks: tuple[ForkResults, ...] = ()
    repeatability: tuple[Repeatability, ...] = ()


def extras(store: Store, summary: Summary) -> Extras:
    """The extras of one run. summary: its numbers."""
    experiment = store.experiment
    arms = [Arm(name, experiment, name) for name in experiment.conditions]
    pairs = experiment.baseline if isinstance(experiment.baseline, dict) else {}
    return replace(
        _read(store),
        differs=differences(arms, baseline_of(experiment), pairs),
        begun=(store.begun,),
        players=players_of(store),
        rules=rules_played(store),
        renamed=tuple(experiment.renamed),
        registered=kept_registration(store),
        uncompared=uncompared(
            experiment.contrasts, summary, len(experiment.conditions) - len(sources(experiment)) < 2
        ),
    )


def extras_of_all(stores: Sequence[Store], summary: Summary, contrasts: Sequence[str] = ()) -> Extras:
    """The extras of several runs; conditions are named as in `summaries.compared`.

    contrasts: requested measures in addition to those of the runs.
    """
    each = [_under(store.path.name, _read(store)) for store in stores]
    all_of: dict[str, Any] = {
        name: tuple(row for extra in each for row in getattr(extra, name)) for name in _READ
    }
    arms = [
        Arm(f"{store.path.name}: {name}", store.experiment, name)
        for store in stores
        for name in store.experiment.conditions
    ]
    first = f"{stores[0].path.name}: {baseline_of(stores[0].experiment)}"
    compared = (contrast.baseline for contrast in summary.contrasts)
    return Extras(
        **all_of,
        begun=tuple(replace(store.begun, run=store.path.name) for store in stores),
        differs=differences(arms, next(compared, first)),
        players=tuple(each for store in stores for each in players_of(store, f"{store.path.name}: ")),
        rules=tuple(each for store in stores for each in rules_played(store, f"{store.path.name}: ")),
        renamed=tuple(
            each.model_copy(update={"name": f"{store.path.name}: {each.name}"})
            for store in stores
            for each in store.experiment.renamed
        ),
        uncompared=uncompared(contrasts, summary, False),
        attempts=sum((store.attempt_totals() for store in stores), AttemptTotals()),
    )


def extras_of_tournament(store: Store) -> Extras:
    """The extras of a tournament's run: its players, and those with mostly unusable replies."""
    return Extras(
        unusable_players=unusable_entrants(store),
        estimated=tuple(dict.fromkeys(store.uncounted().values())),
        attempts=store.attempt_totals(),
        begun=(store.begun,),
        players=players_of(store),
        rules=rules_played(store),
        renamed=tuple(store.experiment.renamed),
    )


_READ = (
    "sources",
    "interviews",
    "growth",
    "unusable_players",
    "choices",
    "diversity",
    "estimated",
    "trained",
    "forks",
    "repeatability",
)
"""The fields that are read for each run separately."""


def _read(store: Store) -> Extras:
    chosen, diverse = studied(store)
    return Extras(
        sources=sources(store.experiment),
        # Reads records, so only if the experiment asks for it.
        interviews=_interviews(store) if store.experiment.interview else (),
        growth=_growths(store),
        unusable_players=unusable_players_of(store),
        estimated=tuple(dict.fromkeys(store.uncounted().values())),
        attempts=store.attempt_totals(),
        trained=tuple(trained_games(store)),
        forks=fork_results(store),
        repeatability=repeatability(store),
        choices=chosen,
        diversity=diverse,
    )


def _under(run: str, extras: Extras) -> Extras:
    """The extras with the run's name before every condition's."""

    def named(row: Any) -> Any:
        if isinstance(row, str):
            return f"{run}: {row}"
        if isinstance(row, UnusablePlayer):
            return replace(row, conditions=tuple(map(named, row.conditions)), everywhere=False)
        names = {
            name: getattr(row, name, None) for name in ("condition", "baseline", "beside", "parent", "model")
        }
        return replace(row, **{name: f"{run}: {value}" for name, value in names.items() if value is not None})

    changed: dict[str, Any] = {name: tuple(map(named, getattr(extras, name))) for name in _READ}
    return replace(extras, **changed)


# -- interviews and curves --------------------------------------------------------------------------


def _interviews(store: Store) -> tuple[InterviewRows, ...]:
    """The interviews, from records, because rows have no texts."""
    asked: dict[str, list[tuple[int, int, Sequence[InterviewGiven]]]] = {}
    for game in store.games("done"):
        asked.setdefault(game.condition, []).append(
            (game.deal, game.id, interviews_of(store.record(game.id)))
        )
    return tuple(interview_rows(name, asked[name]) for name in store.experiment.conditions if name in asked)


def _growths(store: Store) -> tuple[Growth, ...]:
    experiment = store.experiment
    baseline = baseline_of(experiment)
    growing = {
        name: [
            (place, spec.experience.grow)
            for place, spec in experiment.cast(name).items()
            if spec.experience is not None and spec.experience.grow is not None
        ]
        for name in experiment.conditions
    }
    growing = {name: who for name, who in growing.items() if who}
    over = [game for game in store.games("done") if growing and game.condition in {*growing, baseline}]
    won: dict[str, list[DealWon]] = {}
    for game, row in zip(over, rows_of(store, over), strict=True):
        assert row is not None
        won.setdefault(game.condition, []).append((game.deal, row.winner is True))
    return tuple(
        growth_curve(
            name,
            won[name],
            experiment.conditions[name].first_deal,
            min(every for _, every in who),
            [place for place, _ in who],
            None if baseline == name or not won.get(baseline) else baseline,
            won.get(baseline, ()),
        )
        for name, who in growing.items()
        if won.get(name)
    )


# -- comparisons ------------------------------------------------------------------------------------


def uncompared(asked: Sequence[str], summary: Summary, alone: bool) -> Uncompared | None:
    """The requested measures that are not compared. alone: see `Uncompared`."""
    there = {contrast.metric for contrast in summary.contrasts}
    missing = tuple(name for name in dict.fromkeys(asked) if name not in there)
    return Uncompared(missing, alone) if missing else None


__all__ = ["Extras", "Uncompared", "extras", "extras_of_all", "extras_of_tournament", "uncompared"]
