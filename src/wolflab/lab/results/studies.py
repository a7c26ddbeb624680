"""What a report studies beside who wins: what was chosen in certain situations, how different candidates are.

Read from a run's finished games, where its experiment asks for it. Candidates are embedded with the players'
own embedder; vectors of one that has to be paid for are kept with the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ...agents.recipes import Recipe
from ...metrics.choices import Choices, StudiedDecision, choice_rows
from ...metrics.diversity import CandidateSet, Diversity, diversity_rows, offers_of
from ...models.embedders import Embedder
from ...models.embedders.base import Vectors
from ..plans.matching import alike_rows
from ..runs.casting import PlayerBuilder
from ..runs.counting import rows_of
from ..storage.store import GameRow, Store
from .differences import baseline_of

_AT_ONCE = 1000
"""Texts that are embedded together."""


def studied(store: Store) -> tuple[tuple[Choices, ...], tuple[Diversity, ...]]:
    """Both studies of a run; empty where they are not asked for. No record is read where neither is."""
    experiment = store.experiment
    if not experiment.choices and not experiment.diversity:
        return (), ()
    games = _in_order(store)
    decided: dict[str, dict[str, list[tuple[int, Sequence[StudiedDecision]]]]] = {
        s: {} for s in experiment.choices
    }
    if experiment.choices:
        for game, row in zip(games, rows_of(store, games), strict=True):
            assert row is not None
            for study in experiment.choices:
                decided[study].setdefault(game.condition, []).append((game.deal, row.choices[study]))
    offered: dict[str, list[tuple[int, CandidateSet]]] = {}
    if experiment.diversity:  # read from records: what players offered stands in no row
        for game in games:
            offers = offers_of(store.record(game.id), candidates_of)
            offered.setdefault(game.condition, []).extend((game.deal, offer) for offer in offers)
    baseline, published = baseline_of(experiment), alike_rows(experiment, experiment.published)
    chosen = tuple(
        choices
        for study, by_condition in decided.items()
        for choices in choice_rows(study, by_condition, baseline=baseline, published=published)
    )
    return chosen, asyncio.run(_diverse(store, offered)) if offered else ()


def candidates_of(player: Mapping[str, Any]) -> int:
    """For how many candidates the model of a player, as a header describes it, is asked. Fixed intents: 0."""
    recipe = player.get("recipe")
    stage = Recipe.of(recipe).propose if isinstance(recipe, Mapping) else None
    return 0 if stage is None or stage.source != "model" else stage.candidates


def _in_order(store: Store) -> list[GameRow]:
    """Finished games, condition by condition as the experiment lists them."""
    place = {name: k for k, name in enumerate(store.experiment.conditions)}
    rows = store.games("done")
    return sorted(rows, key=lambda row: (place[row.condition], row.deal, row.repeat))


async def _diverse(store: Store, offered: dict[str, list[tuple[int, CandidateSet]]]) -> tuple[Diversity, ...]:
    builder = PlayerBuilder(store.experiment, store.path)
    rows: list[Diversity] = []
    try:
        for condition, offers in offered.items():
            if offers:
                texts = [text for _, offer in offers for text in (*offer.texts, *offer.actions)]
                embedder = builder.embedder(store.experiment.proposers(condition)[0].embedder)
                rows += diversity_rows(condition, offers, await _vectors(embedder, texts))
    finally:
        await builder.close()
    return tuple(rows)


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vectors]:
    """A vector for each different text."""
    different = list(dict.fromkeys(texts))
    vectors: dict[str, Vectors] = {}
    for at in range(0, len(different), _AT_ONCE):
        part = different[at : at + _AT_ONCE]
        vectors |= zip(part, await embedder.embed(part), strict=True)
    return vectors


__all__ = ["studied"]
