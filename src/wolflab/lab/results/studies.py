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
from ...metrics.diversity import Diversity, Offer, diversity_rows, offers_of
from ...models.embedders import Embedder
from ...models.embedders.base import Vectors
from ..runs.casting import Company
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
        for one, row in zip(games, rows_of(store, games), strict=True):
            assert row is not None
            for study in experiment.choices:
                decided[study].setdefault(one.condition, []).append((one.deal, row.choices[study]))
    offered: dict[str, list[tuple[int, Offer]]] = {}
    if experiment.diversity:  # read from records: what players offered stands in no row
        for one in games:
            told = offers_of(store.record(one.id), candidates_of)
            offered.setdefault(one.condition, []).extend((one.deal, offer) for offer in told)
    baseline = baseline_of(experiment)
    chosen = tuple(
        one
        for study, found in decided.items()
        for one in choice_rows(study, found, baseline=baseline, tables=experiment.published)
    )
    return chosen, asyncio.run(_diverse(store, offered)) if offered else ()


def candidates_of(player: Mapping[str, Any]) -> int:
    """For how many candidates the model of a player, as a header describes it, is asked. Fixed intents: 0."""
    told = player.get("recipe")
    stage = Recipe.of(told).propose if isinstance(told, Mapping) else None
    return 0 if stage is None or stage.source != "model" else stage.candidates


def _in_order(store: Store) -> list[GameRow]:
    """Finished games without forks, condition by condition as the experiment lists them."""
    place = {name: k for k, name in enumerate(store.experiment.conditions)}
    rows = [row for row in store.games("done") if not row.branch]
    return sorted(rows, key=lambda row: (place[row.condition], row.deal, row.repeat))


async def _diverse(store: Store, offered: dict[str, list[tuple[int, Offer]]]) -> tuple[Diversity, ...]:
    company = Company(store.experiment, store.path)
    rows: list[Diversity] = []
    try:
        for condition, found in offered.items():
            if found:
                texts = [text for _, one in found for text in (*one.texts, *one.actions)]
                embedder = company.embedder(store.experiment.proposers(condition)[0].embedder)
                rows += diversity_rows(condition, found, await _vectors(embedder, texts))
    finally:
        await company.close()
    return tuple(rows)


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vectors]:
    """A vector for each different text."""
    different = list(dict.fromkeys(texts))
    found: dict[str, Vectors] = {}
    for at in range(0, len(different), _AT_ONCE):
        part = different[at : at + _AT_ONCE]
        found |= zip(part, await embedder.embed(part), strict=True)
    return found


__all__ = ["studied"]
