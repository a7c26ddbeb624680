"""A run as plain files: JSON lines that any tool reads."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..storage.store import Store


def export_run(store: Store, to: Path) -> int:
    """Write `game-N.jsonl` (and `game-N.probes.jsonl`) for each finished game, and `calls.jsonl`.

    Returns how many games were written. Existing files of these names are replaced.
    """
    to.mkdir(parents=True, exist_ok=True)
    written = 0
    with (to / "calls.jsonl").open("wb") as calls:
        for row in store.games():
            for call in store.whole_calls(row.id):
                calls.write(msgspec.json.encode(call) + b"\n")
            if not row.over:
                continue
            record = store.record(row.id)
            (to / f"game-{row.id}.jsonl").write_bytes(b"\n".join(record.lines) + b"\n")
            if record.probe_lines:
                (to / f"game-{row.id}.probes.jsonl").write_bytes(b"\n".join(record.probe_lines) + b"\n")
            written += 1
    return written
