"""Writes a run as transcripts of Inspect Scout: Parquet files in its schema, one for each condition.

A row is a sample (`samples`): one player in one game. Scout treats our additional columns as metadata, by
which transcripts are selected. Rows are written in small groups, so that one game and one group are in memory
at a time. The schema is that of `scout db schema`. Nothing of Scout is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...files import atomic_write
from ..data.frames import needed
from ..storage.store import Store
from .inspect_log import ConditionLog, LogWritten, encoded, plain_name
from .samples import Json
from .seats import SeatTranscript, seats_of_condition

SOURCE = "wolflab"
"""Scout's source type."""
GROUP_BYTES = 16 << 20
"""The approximate size of a group of rows; Scout reads a complete group for one transcript."""
OWN: Mapping[str, str] = {
    "transcript_id": "large_string",
    "source_type": "large_string",
    "source_id": "large_string",
    "source_uri": "large_string",
    "date": "large_string",
    "task_set": "large_string",
    "task_id": "large_string",
    "task_repeat": "int64",
    "agent": "large_string",
    "agent_args": "large_string",
    "model": "large_string",
    "model_options": "large_string",
    "score": "large_string",
    "score_explanation": "large_string",
    "success": "bool_",
    "message_count": "int64",
    "total_time": "float64",
    "total_tokens": "int64",
    "error": "large_string",
    "trust_content": "bool_",
    "messages": "large_string",
    "events": "large_string",
    "events_data": "large_string",
}
"""Scout's columns, with their types in Arrow."""
METADATA: Mapping[str, str] = {
    "experiment": "large_string",
    "run": "large_string",
    "condition": "large_string",
    "game": "int64",
    "deal": "int64",
    "repeat": "int64",
    "seat": "int64",
    "player": "large_string",
    "role": "large_string",
    "side": "large_string",
    "state": "large_string",
    "counts": "bool_",
    "winner": "large_string",
    "reason": "large_string",
    "rounds": "int64",
    "left_round": "int64",
    "left_by": "large_string",
    "survived": "bool_",
    "prompts_left_out": "large_string",
    "tokens_estimated": "bool_",
    "table": "large_string",
    "measures": "large_string",
}
"""Our additional columns; the last two are JSON."""


def write_transcripts(store: Store, folder: Path, texts: bool = False) -> list[LogWritten]:
    """Write a file for each condition into `folder`. texts: include people's words (`seats`). StoreError if
    pyarrow is not installed.
    """
    return [_write(ConditionLog(store, name), folder, texts) for name in store.experiment.conditions]


def _write(log: ConditionLog, folder: Path, texts: bool) -> LogWritten:
    arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in {**OWN, **METADATA}.items()])
    path = folder / f"{plain_name(log.task)}_{log.name}.parquet"
    made, written = log.maker, LogWritten(path)
    with atomic_write(path) as half, parquet.ParquetWriter(half, schema, compression="zstd") as out:
        rows: list[Json] = []

        def put() -> None:
            out.write_table(arrow.Table.from_pylist(rows, schema))
            rows.clear()

        size = 0
        for seat in seats_of_condition(log.store, log.condition, texts):
            row = _row(log, seat, made.sample(seat))
            rows.append(row)
            size += sum(len(row[name]) for name in ("messages", "events", "events_data"))
            written.samples += 1
            if size > GROUP_BYTES:
                put()
                size = 0
        put()
    return written


def _row(log: ConditionLog, seat: SeatTranscript, sample: Json) -> Json:
    """A sample as a row; missing values are empty."""
    metadata, scores = sample["metadata"], sample["scores"] or {}
    won = scores.get("won", {})
    described = seat.described.get("model")
    settings = described.get("settings") if isinstance(described, Mapping) else None
    return {
        "transcript_id": sample["uuid"],
        "source_type": SOURCE,
        "source_id": log.name,
        "source_uri": f"{log.store.path.name}, game {seat.game.id}",
        "date": sample["started_at"],
        "task_set": log.task,
        "task_id": sample["id"],
        "task_repeat": sample["epoch"],
        "agent": seat.recipe or None,
        "agent_args": _json(seat.described.get("recipe")),
        "model": seat.model or None,
        "model_options": _json(settings),
        "score": won.get("value"),
        "score_explanation": won.get("explanation"),
        "success": {"C": True, "I": False}.get(won.get("value", "")),
        "message_count": len(sample["messages"]),
        "total_time": sample["total_time"],
        "total_tokens": sum(used["total_tokens"] for used in sample["model_usage"].values()),
        "error": sample["error"]["message"] if "error" in sample else None,
        "trust_content": False,  # models wrote it
        "messages": encoded(sample["messages"]).decode(),
        "events": encoded(sample["events"]).decode(),
        "events_data": encoded(sample["events_data"]).decode(),
        **{name: metadata.get(name) for name in METADATA},
        "survived": {"C": True, "I": False}.get(scores.get("survived", {}).get("value", "")),
        "table": encoded(metadata["table"]).decode(),
        "measures": encoded(metadata["measures"]).decode(),
    }


def _json(value: Any) -> str | None:
    """A mapping as JSON; None for an empty or missing one."""
    return msgspec.json.encode(value).decode() if isinstance(value, Mapping) and value else None
