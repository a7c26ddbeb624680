"""Computes summaries of runs from their stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...errors import ExperimentError, StoreError
from ...metrics.rows import GameResult
from ...metrics.shapes import Curve, SheriffDesign, Summary
from ...metrics.summary import summarise
from ...rules import Ruleset
from ...usage import Usage
from ..experience.run_pools import draw_of
from ..plans.design import sheriff_design
from ..plans.experiment import Experiment
from ..plans.matching import matched_rows
from ..plans.prices import prices_of, unpriced
from ..runs.batch import by_model
from ..runs.counting import rows_of
from ..storage.store import Store, StudySitting
from .costs import calls_outside_games, unpriced_texts
from .differences import baseline_of, sources


def games(store: Store) -> Iterator[GameResult]:
    """Every planned game of a run, of any status, with its row. In a study, only those that count."""
    experiment = store.experiment
    drawn = {
        name: next((spec for spec in experiment.experience(name) if spec.draws > 1), None)
        for name in experiment.conditions
    }
    prices = {name: prices_of(experiment, name) for name in experiment.conditions}
    sat: dict[int, list[StudySitting]] = {}
    for sitting in store.sittings():
        sat.setdefault(sitting.game, []).append(sitting)
    planned = [game for game in store.games() if game.id not in sat or sat[game.id][0].place]
    for game, row in zip(planned, rows_of(store, planned), strict=True):
        spec, calls = drawn[game.condition], store.game_totals(game.id)
        yield GameResult(
            game.condition,
            game.deal,
            game.repeat,
            game.status,
            game.error or None,
            row,
            calls,
            0 if spec is None else draw_of(spec, game.repeat),
            experiment.watched or "",
            unpriced(store.costless_calls(game.id), prices[game.condition]),
            "+".join(sitting.person for sitting in sorted(sat.get(game.id, ()), key=lambda one: one.person)),
            max((sitting.place for sitting in sat.get(game.id, ())), default=0),
            None if experiment.wordings == 1 else experiment.wording(game.condition, game.deal, game.repeat),
        )


def _instrument(store: Store) -> bool | None:
    """None: decided by the games; while none is over, by the experiment."""
    over = any(game.over for game in store.games())
    return None if over else store.experiment.built_in


def summary(store: Store, primary: tuple[str, str, str] | None = None) -> Summary:
    """The summary of a run, with the published tables of its experiment. primary: (measure, condition,
    baseline) in place of the experiment's primary contrast.
    """
    experiment = store.experiment
    if primary is None and experiment.primary is not None:
        primary = (experiment.primary.measure, *experiment.primary.between)
    there = {row.condition for row in store.games()}  # forks have none if no game has their turn
    base = experiment.baseline if isinstance(experiment.baseline, dict) else baseline_of(experiment)
    if isinstance(base, dict):
        base = {name: other for name, other in base.items() if {name, other} <= there}
    found = summarise(
        games(store),
        title=experiment.title or experiment.name,
        description=_described(experiment),
        instrument=_instrument(store),
        published=matched_rows(experiment, experiment.published),
        planted=None
        if experiment.planted is None
        else {
            "measure": experiment.planted.measure,
            "setting": experiment.planted.setting,
            "values": {name: true for name, true in experiment.truths().items() if name in there},
        },
        baseline=base if isinstance(base, dict) or base in there else None,
        sources=sources(experiment),
        contrasts=experiment.contrasts,
        curve=_curve(experiment),
        designs=_designs(experiment),
        primary=primary,
        margins=experiment.margins,
    )
    return _with_usage_outside_games(found, [store])


def _designs(experiment: Experiment) -> dict[str, SheriffDesign]:
    """The designs of the conditions with a Sheriff."""
    designs = {name: sheriff_design(experiment, name) for name in experiment.conditions}
    return {name: design for name, design in designs.items() if design is not None}


def _described(experiment: Experiment) -> str:
    """The experiment's source, and the conditions whose players are told of the experimenter's devices. No
    paper's players are.
    """
    rules = {name: experiment.ruleset(name) for name in experiment.conditions}
    parts = [experiment.source]
    for (switch, what), is_told in _DEVICES.items():
        telling = [name for name, ruleset in rules.items() if getattr(ruleset, switch) and is_told(ruleset)]
        where = "" if len(telling) == len(rules) else f" in {', '.join(telling)}"
        parts += [f"players are told {what}{where} ({switch})"] if telling else []
    return "; ".join(part for part in parts if part)


_DEVICES: Mapping[tuple[str, str], Callable[[Ruleset], bool]] = {
    ("tell_stop", "that the game stops with its Sheriff"): lambda rules: (
        rules.sheriff != "none" and rules.sheriff_death == "stop"
    ),
    ("tell_stop", "that the game stops with a certain player"): lambda rules: rules.stops_without is not None,
    ("tell_horizon", "which round is the last"): lambda rules: True,
    ("tell_stand_in", "what replaces a choice that cannot be understood"): lambda rules: True,
}
"""The experimenter's devices: (the switch that tells players, what it tells) → whether the rules have it."""


def _curve(experiment: Experiment) -> Curve | None:
    given = experiment.curve
    if given is None:
        return None
    points = tuple(sorted(given.points.items(), key=lambda point: point[1]))
    return Curve(given.x, points, tuple(given.measures), given.baseline)


def compared(
    stores: Sequence[Store],
    contrasts: Sequence[str] = (),
    primary: tuple[str, str, str] | None = None,
) -> Summary:
    """The summary of several runs, with conditions under their run's name, compared on common deals.

    A condition is compared with the one of its name in the first run, or else with the first one there.
    contrasts: measures to compare them on, in addition to the runs' own. primary: see `summary`. Raises
    StoreError for fewer than two runs, and for runs with different cards; ExperimentError for an unknown
    measure.
    """
    if len(stores) < 2:
        raise StoreError("compare takes two runs or more; one alone is shown by: wolflab report RUN")
    if len({store.path.resolve() for store in stores}) < len(stores):
        raise StoreError("compare was given one run twice; name different runs")
    first = stores[0]
    for store in stores:
        if _cards(store) != _cards(first):
            raise StoreError(
                f"{store.path} did not deal the same cards as {first.path} (its seed, roles or stratify "
                "differ), so that their games cannot be paired; run one again with the other's seed and rules"
            )
    titles = dict.fromkeys(store.experiment.title or store.experiment.name for store in stores)
    results = (
        replace(
            game,
            condition=f"{store.path.name}: {game.condition}",
            person=game.person and f"{store.path.name}: {game.person}",
        )
        for store in stores
        for game in games(store)
    )
    named = [name for store in stores for name in store.experiment.contrasts]
    asked = {store.experiment.primary.measure if store.experiment.primary else None for store in stores}
    if len(asked) == 1 and None not in asked:
        named = [*map(str, asked), *named]  # the question of all of them
    names = [
        [
            *dict.fromkeys(
                row.condition for row in store.games() if row.condition not in sources(store.experiment)
            )
        ]
        for store in stores
    ]
    base = {
        f"{store.path.name}: {name}": f"{first.path.name}: {name if name in names[0] else names[0][0]}"
        for store, there in zip(stores[1:], names[1:], strict=True)
        for name in there
        if names[0]
    }
    found = summarise(
        results,
        baseline=base if len(names[0]) > 1 else None,
        title="Runs compared",
        description=" · ".join(titles),
        sources=[f"{store.path.name}: {name}" for store in stores for name in sources(store.experiment)],
        contrasts=tuple(dict.fromkeys([*named, *contrasts])),
        designs={
            f"{store.path.name}: {name}": design
            for store in stores
            for name, design in _designs(store.experiment).items()
        },
        primary=primary,
    )
    return _with_usage_outside_games(found, stores)


def together(stores: Sequence[Store], primary: tuple[str, str, str]) -> Summary:
    """The summary of two conditions over several runs of one experiment. primary: see `summary`. Raises
    ExperimentError where a condition is not the same in all, and for a game that several have.
    """
    first, between = stores[0], primary[1:]
    place_of: dict[tuple[str, int, int], Store] = {}
    for store in stores:
        for name in between:
            if store.experiment.identity(name) != first.experiment.identity(name):
                raise ExperimentError(
                    f"{store.path}: condition {name} is not the one of {first.path} (rules, players, seed, "
                    "strata or probes differ); name what is compared with --between"
                )
        for row in store.games("done"):
            if row.condition in between:
                place = (row.condition, row.deal, row.repeat)
                if place in place_of:
                    raise ExperimentError(
                        f"{place_of[place].path} and {store.path} both have deal {row.deal}, repeat "
                        f"{row.repeat} of {row.condition}; a game counts once: leave one of the runs out"
                    )
                place_of[place] = store
    own = (game for store in stores for game in games(store) if game.condition in between)
    return summarise(own, designs=_designs(first.experiment), primary=primary)


def _with_usage_outside_games(found: Summary, stores: Sequence[Store]) -> Summary:
    """The summary with the usage that belongs to no game: of embedding, and of other calls."""
    outside = [calls_outside_games(store) for store in stores]
    return replace(
        found,
        embedded=sum((store.spent_on_texts() for store in stores), Usage()),
        embedded_unpriced=any(map(unpriced_texts, stores)),
        outside_games=by_model({str(n): made for n, (made, _) in enumerate(outside)}),
        outside_unpriced=tuple(sorted({name for _, unpriced in outside for name in unpriced})),
    )


def _cards(store: Store) -> tuple[int, list[tuple[str, int]], str | None]:
    """The seed, the roles and the strata, which decide a run's deals."""
    experiment = store.experiment
    rules = experiment.ruleset(next(iter(experiment.conditions)))
    drawn = rules.draws_in_secret and experiment.stratify
    return experiment.seed, list(rules.roles.items()), drawn or None
