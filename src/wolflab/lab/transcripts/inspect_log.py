"""Writes a run as eval logs of Inspect, one for each condition, because the viewer's list of logs compares
tasks.

A log is a ZIP archive of JSON files: `header.json` (the task and its results), a file for each sample, and
`summaries.json` for the list of samples. Samples are written game by game, so that one game is in memory at a
time. The same run gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from ... import __version__
from ...files import atomic_write
from ...metrics.play import PlayerLabel
from ...usage import CallTotals
from ..plans.matching import model_name
from ..storage.store import Store
from .samples import Json, SampleMaker, day_of, model_usage, models_named, name_of, usage_by_model
from .seats import SeatTranscript, seats_of_condition

VERSION = 2
"""The version of Inspect's log format."""
INSTRUMENT_TAG = "instrument check"
"""The note in a log in which no language model played."""
INSTRUMENT_NOTE = "No language model played. This says nothing about models."
_SHORT = 1024
"""The most characters of a text in a summary, as in Inspect."""
_SUMMARISED = (
    *("id", "epoch", "input", "target", "scores", "model_usage", "started_at", "completed_at"),
    *("total_time", "working_time", "uuid", "turn_count"),
)
"""Fields that a summary copies from its sample."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date of ZIP archives, used for all files, so that the same run gives the same bytes."""


@dataclass
class LogWritten:
    """A written log."""

    path: Path
    samples: int = 0


@dataclass(frozen=True)
class ConditionLog:
    """The log of a condition: the data that all its samples share.

    name: the log's id, 22 letters and digits. task: the task's name.
    """

    store: Store
    condition: str

    @property
    def task(self) -> str:
        """The experiment's name; with the condition, if there are several."""
        experiment = self.store.experiment
        several = len(experiment.conditions) > 1
        return f"{experiment.name}/{self.condition}" if several else experiment.name

    @property
    def name(self) -> str:
        """The log's id, derived from the run and the condition."""
        begun, experiment = self.store.begun, self.store.experiment
        identity = experiment.identity(self.condition)
        return name_of(self.store.path.name, begun.date, experiment.name, experiment.seed, identity)

    @property
    def instrument(self) -> bool:
        """Whether no language model plays."""
        return not any(label.speaks for label in self.labels)

    @property
    def labels(self) -> list[PlayerLabel]:
        """The players by place."""
        cast = self.store.experiment.cast(self.condition).values()
        return [PlayerLabel(model_name(spec), spec.recipe_name) for spec in cast]

    @property
    def maker(self) -> SampleMaker:
        """Makes its samples."""
        facts = {"experiment": self.store.experiment.name, "run": self.store.path.name}
        return SampleMaker(self.name, day_of(self.store.begun.date), facts)

    @property
    def file(self) -> str:
        """The file's name in Inspect's scheme, so that a list of logs need not open them."""
        day = day_of(self.store.begun.date).strftime("%Y-%m-%dT00-00-00+00-00")
        return f"{day}_{plain_name(self.task)}_{self.name}"


def plain_name(text: str) -> str:
    """A text as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]++", "-", text)[:80].strip("-.") or "run"


def write_logs(store: Store, folder: Path, texts: bool = False) -> list[LogWritten]:
    """Write a log of each condition into `folder`. texts: with the words of people (`seats`).

    A condition without begun games has a log without samples.
    """
    return [_write(ConditionLog(store, name), folder, texts) for name in store.experiment.conditions]


def _write(log: ConditionLog, folder: Path, texts: bool) -> LogWritten:
    path = folder / f"{log.file}.eval"
    made, counted = log.maker, _Counted()
    with (
        atomic_write(path) as half,
        ZipFile(half, "w", ZIP_DEFLATED) as archive,
        TemporaryFile() as summaries,
    ):
        for seat in seats_of_condition(log.store, log.condition, texts):
            sample = made.sample(seat)
            _put(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", [encoded(sample)])
            summaries.write((b"," if counted.samples else b"") + encoded(_summary(sample)))
            counted.add(seat)
        summaries.seek(0)
        _put(archive, "summaries.json", [b"[", *iter(lambda: summaries.read(1 << 20), b""), b"]"])
        _put(archive, "header.json", [encoded(_header(log, counted))])
    return LogWritten(path, counted.samples)


def _put(archive: ZipFile, name: str, parts: Iterable[bytes]) -> None:
    """Write a file of the archive in parts."""
    about = ZipInfo(name, _EPOCH)
    about.compress_type = ZIP_DEFLATED
    with archive.open(about, "w", force_zip64=True) as out:
        for part in parts:
            out.write(part)


def encoded(value: Any) -> bytes:
    """A value as JSON. A lone surrogate becomes a question mark."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


# -- header and summaries -------------------------------------------------------------------------------


@dataclass
class _Counted:
    """Sums over samples. over: samples of finished games. winners: winner → number of games that count."""

    samples: int = 0
    over: int = 0
    seconds: float = 0.0
    scored: int = 0
    survived: int = 0
    ids: set[str] = field(default_factory=set)
    winners: dict[str, int] = field(default_factory=dict)
    usage: dict[str, tuple[CallTotals, bool]] = field(default_factory=dict)

    def add(self, seat: SeatTranscript) -> None:
        """Add a sample."""
        self.samples += 1
        self.over += seat.game.over
        self.ids.add(SampleMaker.id_of(seat))
        if seat.ended is not None and seat.counts:
            self.scored += 1
            self.survived += seat.ended.left is None
            if not seat.seat:
                self.winners[seat.ended.winner] = self.winners.get(seat.ended.winner, 0) + 1
        for model, (totals, known) in usage_by_model(seat.calls).items():
            before, known_before = self.usage.get(model, (CallTotals(), True))
            self.usage[model] = before + totals, known and known_before
            self.seconds += totals.latency

    def results(self, planned: int) -> Json:
        """The results of all samples. planned: their planned number."""
        games = sum(self.winners.values())
        unscored = {"scored_samples": self.scored, "unscored_samples": self.samples - self.scored}
        shares = {
            name: {"name": name, "value": self.winners.get(winner, 0) / games if games else 0.0}
            for name, winner in (
                ("village_win", "village"),
                ("wolf_win", "werewolves"),
                ("no_winner", "nobody"),
            )
        }
        lived = {"mean": {"name": "mean", "value": self.survived / self.scored if self.scored else 0.0}}
        scores = [
            {"name": name, "scorer": name, **unscored, "metrics": metrics if self.scored else {}}
            for name, metrics in (("won", shares), ("survived", lived))
        ]
        return {"total_samples": planned, "completed_samples": self.over, "scores": scores}


def _header(log: ConditionLog, counted: _Counted) -> Json:
    rows = [row for row in log.store.games() if row.condition == log.condition]
    seats = len(log.store.experiment.ruleset(log.condition).names)
    waits = any(row.status in ("planned", "unfinished") for row in rows) or not rows
    day = day_of(log.store.begun.date)
    return {
        "version": VERSION,
        "status": "cancelled" if waits else "success",
        "eval": _spec(log, counted, max((row.repeat + 1 for row in rows), default=1)),
        "plan": {"name": "plan", "steps": [{"solver": recipe, "params": {}} for recipe in _recipes(log)]},
        "results": counted.results(len(rows) * seats),
        "stats": {
            "started_at": day.isoformat(),
            "completed_at": day.isoformat(),
            "model_usage": {model: model_usage(*used) for model, used in sorted(counted.usage.items())},
        },
    }


def _spec(log: ConditionLog, counted: _Counted, epochs: int) -> Json:
    store, experiment = log.store, log.store.experiment
    rules = experiment.ruleset(log.condition)
    about: Json = {
        "wolflab": store.begun.wolflab or __version__,
        "run": store.path.name,
        "begun": store.begun.date,
        "experiment": experiment.name,
        "title": experiment.title,
        "condition": log.condition,
        "rules": rules.name,
    }
    places = experiment.cast(log.condition)
    return {
        "eval_id": log.name,
        "run_id": name_of("run", store.path.name, store.begun.date, experiment.name, experiment.seed),
        "created": day_of(store.begun.date).isoformat(),
        "task": log.task,
        "task_id": log.name,
        "task_version": 0,
        "task_args": {"condition": log.condition, "rules": rules.name},
        "solver": ", ".join(_recipes(log)),
        "tags": [INSTRUMENT_TAG] if log.instrument else [],
        "dataset": {"name": experiment.name, "samples": len(counted.ids), "shuffled": False},
        "model": models_named(log.labels),
        "model_roles": {
            place: {"model": model_name(spec) or "none/none", "args": {"recipe": spec.recipe_name}}
            for place, spec in (places.items() if len({*log.labels}) > 1 else ())
        },
        "config": {"epochs": epochs},
        "packages": {"wolflab": __version__},
        "metadata": about | ({"note": INSTRUMENT_NOTE} if log.instrument else {}),
        "viewer": {"trust_content": False},  # models wrote it
        "scorers": [{"name": "won"}, {"name": "survived"}],
    }


def _recipes(log: ConditionLog) -> list[str]:
    return sorted({spec.recipe_name for spec in log.store.experiment.cast(log.condition).values()})


def _summary(sample: Mapping[str, Any]) -> Json:
    """The summary of a sample."""
    metadata = {name: _short(value) for name, value in sample["metadata"].items()}
    error = sample.get("error")
    return {
        **{name: sample[name] for name in _SUMMARISED},
        "metadata": metadata,
        "error": None if error is None else _short(error["message"]),
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _SHORT else f"{value[: _SHORT - 3]}..."
    long = isinstance(value, dict) and len(encoded(value)) > _SHORT
    return "Key removed from summary (> 1k)" if long else value
