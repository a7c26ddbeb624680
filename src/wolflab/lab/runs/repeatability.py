"""Whether a model behind a server gives the same words when the same is asked twice with one seed.

If so, the arms of an experiment with forks share its draws, as far as they ask the same. Each such model is
asked when the games begin. The calls are stored under an asker of their own, and made once. A test that
fails stops no game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...models.base import Chat, Model, Request, Sampling
from ...models.calls import CallCache, answer
from ...models.catalog import BUILT_IN, is_local_model, name_and_settings
from ..plans.experiment import REACHED_BY, Experiment
from ..storage.store import Store
from .batch import BatchItem
from .casting import PlayerBuilder
from .work import work

_ASKER = "asked twice/"
_WORDS = (
    "Write twelve whole numbers between 100 and 999 in one line, as random as you can make them, and nothing "
    "else."
)
"""Without a seed no model that draws its words writes the same twice."""
_SAMPLING = Sampling(temperature=1.0, max_tokens=2000, seed=1)
"""The model's own settings take precedence."""


@dataclass(frozen=True, slots=True)
class Repeatability:
    """What a model answered. model: its name, and its settings. same: whether the words were the same; None
    if that is not known. why: the reason then.
    """

    model: str
    same: bool | None
    why: str = ""


def repeatability(store: Store) -> tuple[Repeatability, ...]:
    """The models of a run that are asked twice, and what came of it."""
    found = []
    for name in _asked(store.experiment):
        replies = [call.response for call in store.filed(f"{_ASKER}{name}").values()]
        empty = [reply for reply in replies if not reply.text.strip()]
        if len(replies) < 2:
            why = store.meta(f"{_ASKER}{name}") or "it is asked when the next games begin"
            found.append(Repeatability(name, None, why))
        elif empty:
            found.append(Repeatability(name, None, f"a reply had no words ({empty[0].finish.reason})"))
        else:
            found.append(Repeatability(name, replies[0].text == replies[1].text))
    return tuple(found)


async def ask_twice(store: Store, builder: PlayerBuilder) -> None:
    """Make the calls that are not stored, and store why a model could not be asked."""
    items = {name: _item(name, builder.model(spec)) for name, spec in _asked(builder.experiment).items()}
    for item in items.values():
        item.attach(store)
    if items:
        await work([*items.values()], len(items), lambda: None, builder.budget)
    for name, item in items.items():
        if not item.over:
            store.remember(f"{_ASKER}{name}", item.why, anew=True)


def _item(name: str, model: Model) -> BatchItem[None]:
    async def ask(file: CallCache) -> None:
        for time in range(2):
            key = f"{_ASKER}{name}|asked twice|words|{time}"
            await answer(file, model, Request(Chat((("user", _WORDS),)), key, _SAMPLING))

    return BatchItem(f"{_ASKER}{name}", model, ask)


def _asked(experiment: Experiment) -> dict[str, str | dict[str, Any]]:
    """Name with settings → the model, for those of players of forks that are behind a server. Of several
    shards, the first one asks.
    """
    specs: dict[str, str | dict[str, Any]] = {}
    if experiment.shard is not None and experiment.shard.number > 1:
        return specs
    for condition in experiment.forks:
        fork = experiment.fork(condition)
        for player in experiment.cast(condition).values() if fork is not None and fork.asks_players else ():
            if player.model is not None:
                name, settings = name_and_settings(player.model)
                deciding = [f", {key} {value}" for key, value in settings.items() if key not in REACHED_BY]
                if name != BUILT_IN and not is_local_model(name):
                    specs.setdefault("".join((name, *deciding)), player.model)
    return specs
