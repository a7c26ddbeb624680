"""Makes a run of the forks of one game: the game is taken over from its run, with what it goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import ExperimentError
from ...models.base import Response
from ...usage import Usage
from ..plans.experiment import Experiment, checked
from ..plans.numbering import numbering
from ..plans.sources import checking
from ..plans.specs import ForkSpec
from ..storage.packing import CallRow, pack
from ..storage.store import GameRow, Place, Store
from .counting import row_from_record
from .forks import fork_of
from .retaken_turn import decision_of

_COMPARING = (
    "renamed",
    "published",
    "baseline",
    "contrasts",
    "primary",
    "margins",
    "diversity",
    "curve",
    "planted",
    "village",
)
"""Fields of an experiment that name its other conditions, or what only these have."""
FORKED = "fork"
"""The condition of the forks, unless the game's own is called so."""


def forked_experiment(store: Store, row: GameRow, fork: Mapping[str, Any]) -> Experiment:
    """The experiment of one game's forks. fork: the fields of the fork, without its condition.

    Raises RecordError for a game that is not over, and for a turn that it does not have; ExperimentError for
    a change that changes nothing there.
    """
    record, where = store.record(row.id), f"{store.path.name}, game {row.id}"
    if row.status == "void":
        raise ExperimentError(f"{where}: it is void, so that it counts for nothing; fork another one")
    if not store.read_as_now:
        raise ExperimentError(f"{where}: another version of Wolflab began its run; fork games of a new one")
    with checking(where, ForkSpec, "docs/forks.md"):
        spec = ForkSpec(games_of=row.condition, **fork)
    data = store.experiment.model_dump(mode="json", exclude_unset=True)
    for name in (*_COMPARING, "budget", "shard"):  # the game itself was paid for before
        data.pop(name, None)
    written = data.get("conditions", {"all": {}})
    conditions: dict[str, Any] = {}
    for each in _line(store, row):
        arm, own = dict(written[each.condition] or {}), store.experiment.fork(each.condition)
        if own is None:
            arm |= {"deals": 1, "repeats": 1, "first_deal": each.deal, "first_repeat": each.repeat}
        else:
            this = own.continuation(each.repeat)
            arm["fork"] = {**arm["fork"], "continuations": 1, "first_continuation": this}
        conditions[each.condition] = arm
    name = FORKED if FORKED not in conditions else f"{FORKED}-of-{row.condition}"
    conditions[name] = {"fork": {"games_of": row.condition, **fork}}
    title = f"Forks of game {row.id} of {store.path.name}"
    made = checked({**data, "title": title, "conditions": conditions, "redraw_void": False}, where)
    if fork_of(spec, record) is None:
        _refuse(store, row, spec, where)
    return made


def _refuse(store: Store, row: GameRow, spec: ForkSpec, where: str) -> None:
    """Say why a game has no such fork."""
    record = store.record(row.id)
    if fork_of(spec.model_copy(update={"say": None, "change": "none"}), record) is None:
        decision_of(record, spec.at, where)
    raise ExperimentError(
        f"{where}: {spec.at} has nothing to change: it recommends nobody, nobody spoke before, or "
        "nobody else could be given the office; use another --change or --say"
    )


def _line(store: Store, row: GameRow) -> list[GameRow]:
    """The game, after those that it goes on from."""
    parent = store.parent(Place.of(row))
    return [*([] if parent is None else _line(store, parent)), row]


def take_over(new: Store, store: Store, row: GameRow) -> None:
    """Copy a game and those that it goes on from into the run of its forks, with their calls."""
    number, (first, *_) = numbering(new.experiment), _line(store, row)
    for game in _line(store, row):
        place = game.condition, first.deal, first.repeat  # each game that goes on has one continuation there
        new.plan([place], number)
        record, spent = store.record(game.id), store.game_totals(game.id)
        calls = [_call(found) for found in store.calls_with_prompts(game.id)]
        counted = row_from_record(new.experiment, game.condition, record, spent)
        packed = pack(record.lines, record.probe_lines, calls)
        new.keep(number(*place), game.status, packed, counted, seconds=store.seconds(game.id))


def _call(found: Mapping[str, Any]) -> CallRow:
    """A stored call with its prompt, if that was kept."""
    figures = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost")
    response = Response(
        found["text"],
        Usage(*(found[name] for name in figures)),
        found["finish"],
        found["latency"],
        tuple((role, text) for role, text in found.get("messages", ())),
        found["tier"],
    )
    return CallRow(found["key"], found["request"], found["model"], response)
