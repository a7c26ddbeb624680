"""A run as plain files: JSON lines that any tool reads."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ...files import aside, write
from ..storage.store import Store


def export_run(store: Store, to: Path) -> int:
    """Write `game-N.jsonl` (and `game-N.probes.jsonl`) for each finished game, and `calls.jsonl`.

    Returns how many games were written. Existing files of these names are replaced.
    """
    written = 0
    with aside(to / "calls.jsonl") as half, half.open("wb") as calls:
        for row in store.games():
            for call in store.whole_calls(row.id):
                calls.write(msgspec.json.encode(call) + b"\n")
            if not row.over:
                continue
            record = store.record(row.id)
            write(to / f"game-{row.id}.jsonl", b"\n".join(record.lines) + b"\n")
            if record.probe_lines:
                write(to / f"game-{row.id}.probes.jsonl", b"\n".join(record.probe_lines) + b"\n")
            written += 1
    return written
