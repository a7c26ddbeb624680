"""Exports a run as JSON lines."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ...files import atomic_write, write
from ..storage.store import Store
from .prompts import answered_by_person


def export_run(store: Store, to: Path) -> int:
    """Write `game-N.jsonl` (and `game-N.probes.jsonl`) for each finished game, and `calls.jsonl`.

    People's words are only in `game-N.words.jsonl` (seal, seat, salt, text), so that they can be left out.
    Returns the number of games. Existing files of these names are replaced.
    """
    written = 0
    with atomic_write(to / "calls.jsonl") as half, half.open("wb") as calls:
        for row in store.games():
            for call in store.calls_with_prompts(row.id):
                of_person = {"text": ""} if answered_by_person(call) else {}
                calls.write(msgspec.json.encode(call | of_person) + b"\n")
            if not row.over:
                continue
            record = store.record(row.id)
            write(to / f"game-{row.id}.jsonl", b"\n".join(record.lines) + b"\n")
            if record.probe_lines:
                write(to / f"game-{row.id}.probes.jsonl", b"\n".join(record.probe_lines) + b"\n")
            said = to / f"game-{row.id}.words.jsonl"
            said.unlink(missing_ok=True)  # its words may have been erased
            if record.words:
                words = [{"seal": seal, **found._asdict()} for seal, found in record.words.items()]
                write(said, b"".join(msgspec.json.encode(found) + b"\n" for found in words))
            written += 1
    return written
