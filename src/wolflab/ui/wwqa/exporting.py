"""`wolflab wwqa export`: questions written as other programs take them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from rich.console import Console

from ...errors import WolflabError
from ...files import write
from ...wwqa.exporting import ExportTarget, exported
from ..console import say
from ..wording import counted


def export_questions(
    console: Console, path: Path, to: str, out: Path, rules_text: str, built_with: str
) -> None:
    """Write the folder, and say what is in it."""
    if to not in get_args(ExportTarget):
        raise WolflabError(f"--to: got {to!r}; write hf, lm-eval or inspect")
    if rules_text not in ("yes", "no"):
        raise WolflabError(f"--rules-text: got {rules_text!r}; write yes or no")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WolflabError(f"{out}: there is something already; name a new or an empty folder")
    made = exported(path, to, rules_text == "yes", built_with)  # type: ignore[arg-type]  # just checked
    for name, data in made.items():
        write(out / name, data)
    rows = {name: data.count(b"\n") for name, data in made.items() if name.endswith(".jsonl")}
    counts = ", ".join(f"{name} {n:,}" for name, n in rows.items())
    written = counted(sum(rows.values()), "question")
    say(console, f"{written} written to {out} ({counts})\nread: {out / 'README.md'}")
