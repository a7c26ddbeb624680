"""The number of statements that cannot be read, and the share of their words that is usual in English talk.

    python benchmarks/unread.py [TALK]

It reads the labelled sets of `tests/reading/`, and those in other languages there. TALK is a directory of
public logs: AIWolf contests' (`*.log`; of `ja-*.log` in Japanese) and, in `llmafia/`, people's chats.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import yaml

from wolflab.text.reading import can_be_read
from wolflab.text.reading.language import FEW, telling_words

READING = Path(__file__).parent.parent / "tests" / "reading"
_SAID = re.compile(r"\[[\d:]+\] ([^:]+): (.*)")


def print_line(what: str, texts: Sequence[str], names: Sequence[str] = ()) -> None:
    """One line. names: the players'."""
    unread = [text for text in texts if not can_be_read(text, names)]
    shares = [telling_words(text, names) for text in texts]
    spread = np.quantile([known / of for known, of in shares if of >= FEW] or [0.0], [0, 0.5, 1])
    counts = f"{len(texts):5} statements, {len(unread):4} unread"
    print(f"{what:24} {counts}; common words {spread.round(2).tolist()}")


def contest(path: Path) -> tuple[list[str], list[str]]:
    """(what was said, names) in a contest's log."""
    lines = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    said = [line[5] for line in lines if line[1] in ("talk", "whisper")]
    said = [text for text in said if text not in ("Skip", "Over", "")]
    return said, sorted({line[5] for line in lines if line[1] == "status"})


def chats(folder: Path) -> Iterator[tuple[str, str]]:
    """(who, what) of people's chats."""
    for path in sorted(folder.glob("*/public_*time_chat.txt")):
        for line in path.read_text("utf-8").splitlines():
            if match := _SAID.match(line):
                yield match[1], match[2]


def main() -> None:
    """See the module."""
    for path in sorted(READING.glob("*.yaml")):
        data = yaml.safe_load(path.read_text("utf-8"))
        if isinstance(data, dict):
            print_line("other languages", [text for texts in data.values() for text in texts])
        else:
            print_line(path.stem, [one["text"] for one in data])
    for talk in map(Path, sys.argv[1:]):
        for path in sorted(talk.glob("*.log")):
            print_line(path.stem, *contest(path))
        said = list(chats(talk / "llmafia"))
        print_line("people's chats", [text for _, text in said], sorted({who for who, _ in said}))


if __name__ == "__main__":
    main()
