"""What a report tells beside its summary: what arms differ in, who only lends games, interviews, learning
curves, what was chosen, how different candidates are, models whose replies are mostly unusable, comparisons
that were asked for and could not be made. Read from a run; every number is an `Estimate` or a count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...metrics.choices import Choices
from ...metrics.diversity import Diversity
from ...metrics.growth import Growth, Won, growth
from ...metrics.interviews import InterviewGiven, InterviewRows, interview_rows, interviews
from ...metrics.summary import Summary
from ..plans.experiment import Experiment
from ..runs.counting import rows_of
from ..storage.store import GameRow, Store
from .differences import Arm, Differs, baseline_of, differences, sources
from .heard import Ledger, by_model
from .studies import studied


@dataclass(frozen=True, slots=True)
class Troubled:
    """A model of whose replies more than half could not be used. often: how many times `reason`.

    decisions: it is a player's decisions that are counted, and more than half of them were stand-ins; `model`
    is then the player (model and recipe), `replies` its decisions.
    """

    model: str
    replies: int
    unusable: int
    reason: str
    often: int
    decisions: bool = False


@dataclass(frozen=True, slots=True)
class Uncompared:
    """Measures of the experiment's `contrasts` that are not compared.

    alone: there is one condition, and no other to compare it with; else no two have them on the same deals.
    """

    measures: tuple[str, ...]
    alone: bool


@dataclass(frozen=True, slots=True)
class Extras:
    """See the module. sources: conditions that are there for others to learn from and for nothing else."""

    sources: tuple[str, ...] = ()
    differs: tuple[Differs, ...] = ()
    interviews: tuple[InterviewRows, ...] = ()
    growth: tuple[Growth, ...] = ()
    troubled: tuple[Troubled, ...] = ()
    choices: tuple[Choices, ...] = ()
    diversity: tuple[Diversity, ...] = ()
    uncompared: Uncompared | None = None


def extras(store: Store, found: Summary) -> Extras:
    """Of one run. found: its summary, which tells whether replies have to be looked at."""
    experiment = store.experiment
    arms = [Arm(name, experiment, name) for name in experiment.conditions]
    return Extras(
        sources(experiment),
        differences(arms, baseline_of(experiment)),
        *_played(store),
        _troubled(store, found),
        *studied(store),
        uncompared(experiment, found),
    )


def extras_of_all(stores: Sequence[Store], found: Summary) -> Extras:
    """Of several runs side by side; conditions are named as in `results.compared`."""
    arms: list[Arm] = []
    lent: list[str] = []
    asked: list[InterviewRows] = []
    grown: list[Growth] = []
    bad: list[Troubled] = []
    chosen: list[Choices] = []
    diverse: list[Diversity] = []
    for store in stores:

        def named(condition: str, run: str = store.path.name) -> str:
            return f"{run}: {condition}"

        experiment = store.experiment
        arms += [Arm(named(name), experiment, name) for name in experiment.conditions]
        lent += [named(name) for name in sources(experiment)]
        told, curves = _played(store)
        asked += [replace(one, condition=named(one.condition)) for one in told]
        grown += [
            replace(
                one, condition=named(one.condition), beside=None if one.beside is None else named(one.beside)
            )
            for one in curves
        ]
        bad += [replace(one, model=named(one.model)) for one in _troubled(store, found)]
        made, added = studied(store)
        chosen += [
            replace(
                one,
                condition=named(one.condition),
                baseline=None if one.baseline is None else named(one.baseline),
            )
            for one in made
        ]
        diverse += [replace(one, condition=named(one.condition)) for one in added]
    named_first = f"{stores[0].path.name}: {baseline_of(stores[0].experiment)}"
    baseline = next((one.baseline for one in found.contrasts if one.baseline not in lent), named_first)
    return Extras(
        tuple(lent),
        differences(arms, baseline),
        tuple(asked),
        tuple(grown),
        tuple(bad),
        tuple(chosen),
        tuple(diverse),
    )


# -- interviews and curves --------------------------------------------------------------------------


def _played(store: Store) -> tuple[tuple[InterviewRows, ...], tuple[Growth, ...]]:
    """What is read from finished games; none is read where nothing of it was asked for."""
    return _interviews(store) if store.experiment.interview else (), _growths(store)


def _interviews(store: Store) -> tuple[InterviewRows, ...]:
    """Read from records: what players said stands in no row."""
    asked: dict[str, list[tuple[int, int, Sequence[InterviewGiven]]]] = {}
    for one in _finished(store):
        asked.setdefault(one.condition, []).append((one.deal, one.id, interviews(store.record(one.id))))
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
    over = [one for one in _finished(store) if growing and one.condition in {*growing, baseline}]
    won: dict[str, list[Won]] = {}
    for one, row in zip(over, rows_of(store, over), strict=True):
        assert row is not None
        won.setdefault(one.condition, []).append((one.deal, row.winner is True))
    return tuple(
        growth(
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


def _finished(store: Store) -> list[GameRow]:
    """Games that count, forks left out."""
    return [one for one in store.games("done") if not one.branch]


# -- comparisons ------------------------------------------------------------------------------------


def uncompared(experiment: Experiment, found: Summary) -> Uncompared | None:
    """The measures named in `contrasts` that are not compared, and why."""
    lent = sources(experiment)
    there = {one.metric for one in found.contrasts if not {one.condition, one.baseline} & set(lent)}
    missing = tuple(name for name in dict.fromkeys(experiment.contrasts) if name not in there)
    return Uncompared(missing, len(experiment.conditions) - len(lent) < 2) if missing else None


# -- replies ----------------------------------------------------------------------------------------


def _troubled(store: Store, found: Summary) -> tuple[Troubled, ...]:
    """Only where somebody's replies in finished games look bad, or games are not over, are they counted."""
    bad = any(
        (estimate.value or 0.0) > 0.5
        for one in found.conditions
        for name in ("invalid_by_player", "fallback_by_player")
        for estimate in one.split(name).values()
    )
    if not bad and all(row.over for row in store.games()):
        return ()
    with Ledger(store) as ledger:
        return troubled(ledger)


def troubled(ledger: Ledger) -> tuple[Troubled, ...]:
    """The models that mostly cannot be used so far, then players of the others who mostly decide nothing."""
    tallies = ledger.tally()
    models = {model: one for model, one in sorted(by_model(tallies).items()) if one.mostly_unusable}
    found = [Troubled(model, one.replies, one.unusable, *_most(one.reasons)) for model, one in models.items()]
    for player, one in sorted(tallies.items()):
        if player.model not in models and one.mostly_stood_in_for:
            total = one.stand_ins.total()
            found.append(Troubled(str(player), one.decisions, total, *_most(one.stand_ins), True))
    return tuple(found)


def _most(reasons: Counter[str]) -> tuple[str, int]:
    return reasons.most_common(1)[0]


__all__ = ["Extras", "Troubled", "Uncompared", "extras", "extras_of_all", "troubled", "uncompared"]
