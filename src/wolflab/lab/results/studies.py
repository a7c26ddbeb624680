"""The report's studies of choices in certain situations and of the diversity of candidates.

They use a run's finished games, if its experiment asks for them. Candidates are embedded with the players'
own embedder; paid vectors are cached in the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ...agents.recipes import Recipe
from ...metrics.choices import Choices, StudiedDecision, choice_rows
from ...metrics.diversity import CandidateSet, Diversity, diversity_rows, offers_of
from ...models.embedders import Embedder
from ...models.embedders.embedder import Vectors
from ..plans.matching import matched_rows
from ..runs.casting import PlayerBuilder
from ..runs.counting import rows_of
from ..storage.store import GameRow, Store
from .differences import baseline_of

_AT_ONCE = 1000
"""The number of texts in one call of an embedder."""


def studied(store: Store) -> tuple[tuple[Choices, ...], tuple[Diversity, ...]]:
    """Both studies of a run; empty if not asked for. Records are read only if necessary."""
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
    if experiment.diversity:  # from records, because rows have no candidates
        for game in games:
            offers = offers_of(store.record(game.id), candidates_of)
            offered.setdefault(game.condition, []).extend((game.deal, offer) for offer in offers)
    baseline, published = baseline_of(experiment), matched_rows(experiment, experiment.published)
    chosen = tuple(
        choices
        for study, by_condition in decided.items()
        for choices in choice_rows(study, by_condition, baseline=baseline, published=published)
    )
    return chosen, asyncio.run(_diverse(store, offered)) if offered else ()


def candidates_of(player: Mapping[str, Any]) -> int:
    """The number of candidates that a player's model is asked for, from its description in the header. 0 for
    fixed intents.
    """
    recipe = player.get("recipe")
    stage = Recipe.of(recipe).propose if isinstance(recipe, Mapping) else None
    return 0 if stage is None or stage.source != "model" else stage.candidates


def _in_order(store: Store) -> list[GameRow]:
    """Finished games in the order of the experiment's conditions."""
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
    """Text → vector."""
    different = list(dict.fromkeys(texts))
    vectors: dict[str, Vectors] = {}
    for at in range(0, len(different), _AT_ONCE):
        part = different[at : at + _AT_ONCE]
        vectors |= zip(part, await embedder.embed(part), strict=True)
    return vectors


__all__ = ["studied"]
