"""What a report tells beside its summary: what arms differ in, who only lends games, interviews, learning
curves, what was chosen, how different candidates are, models whose replies are mostly unusable. Read from a
run; every number is an `Estimate` or a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..metrics.choices import Choices
from ..metrics.diversity import Diversity
from ..metrics.growth import Growth, Won, growth
from ..metrics.interviews import Interview, InterviewRows, interview_rows, interviews
from ..metrics.play import village_won
from ..metrics.summary import Summary
from .differences import Arm, Differs, baseline_of, differences, sources
from .heard import Ledger
from .store import GameRow, Store
from .studies import studied


@dataclass(frozen=True, slots=True)
class Troubled:
    """A model of whose replies more than half could not be used. often: how many times `reason`."""

    model: str
    replies: int
    unusable: int
    reason: str
    often: int

    @property
    def words(self) -> str:
        """As a sentence."""
        times = "once" if self.often == 1 else f"{self.often:,} times"
        return (
            f"Most replies of {self.model} cannot be used: {self.unusable:,} of {self.replies:,}, most often "
            f"because “{self.reason}” ({times})."
        )


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

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


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
    asked: dict[str, list[tuple[int, int, Sequence[Interview]]]] = {}
    won: dict[str, list[Won]] = {}
    for row in _finished(store, None if experiment.interview else {*growing, baseline} if growing else set()):
        record = store.record(row.id)
        won.setdefault(row.condition, []).append((row.deal, village_won(record) is True))
        if experiment.interview:
            asked.setdefault(row.condition, []).append((row.deal, row.id, interviews(record)))
    rows = tuple(interview_rows(name, asked[name]) for name in experiment.conditions if name in asked)
    grown = tuple(
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
    return rows, grown


def _finished(store: Store, conditions: set[str] | None) -> list[GameRow]:
    """Games that count, of these conditions (None: of all), forks left out."""
    rows = [row for row in store.games("done") if not row.branch]
    return [row for row in rows if conditions is None or row.condition in conditions]


# -- replies ----------------------------------------------------------------------------------------


def _troubled(store: Store, found: Summary) -> tuple[Troubled, ...]:
    """Only where somebody's replies in finished games look bad, or games are not over, are they counted."""
    bad = any((row.invalid.value or 0.0) > 0.5 for one in found.conditions for row in one.replies)
    if not bad and all(row.status in ("done", "void") for row in store.games()):
        return ()
    with Ledger(store) as ledger:
        return troubled(ledger)


def troubled(ledger: Ledger) -> tuple[Troubled, ...]:
    """The models that mostly cannot be used, so far."""
    found = []
    for model, tally in sorted(ledger.tally().items()):
        if tally.mostly_unusable:
            reason, often = tally.reasons.most_common(1)[0]
            found.append(Troubled(model, tally.replies, tally.unusable, reason, often))
    return tuple(found)


__all__ = ["Extras", "Troubled", "extras", "extras_of_all", "troubled"]
