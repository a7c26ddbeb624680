"""Replies in words for raters: as a table to fill in and as a labelling page. A rater sees what the player
knew, what it was asked and what it answered; never the condition, model or recipe, nor how the game went on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ...lab.labels.annotate import Sample
from ...lab.labels.judging import reply_in_words
from ...lab.labels.label_files import FILLED, REASONS, write_cells
from ...lab.runs.decisions import RecordedDecision
from ...text.asking.rules_text import rules_text
from ...text.asking.sentences import line_sentence
from ...text.asking.wording import moderator_request, time_of
from ...text.notes import Thought
from .labelling_page import labelling_page

CELL = 32_000
"""The most characters of a cell; spreadsheets cut at 32,767."""


@dataclass(frozen=True, slots=True)
class RaterItem:
    """One reply as a rater sees it.

    player: its name at the table ("player_3"). time: when it was asked, in words. known: what it knew,
    one numbered sentence a line, oldest first. asked: what the moderator wanted of it, with the options.
    reply: the choice in words, or what was said aloud. reasoning: what it thought beside, empty unless
    it is to be shown. rules: of its game, as players are told them.
    """

    id: str
    player: str
    role: str
    time: str
    known: tuple[str, ...]
    asked: str
    reply: str
    reasoning: str = ""
    rules: str = ""


def items_of(sample: Sample, reasoning: bool = False) -> tuple[RaterItem, ...]:
    """The sample's items in its order. reasoning: show what was thought, which can give a variant away."""
    pairs = zip(sample.key.rows, sample.decisions, strict=True)
    return tuple(_item(row.id, decision, reasoning) for row, decision in pairs)


def _item(code: str, decision: RecordedDecision, reasoning: bool) -> RaterItem:
    now = decision.situation
    thoughts = [note.text for _, note in decision.turn.notes if isinstance(note, Thought)]
    return RaterItem(
        code,
        now.ruleset.names[now.seat],
        now.role,
        time_of(now),
        tuple(f"[{line.number}] {line_sentence(line, now.seat, now.ruleset)}" for line in now.lines),
        moderator_request(now, decision.ask),
        reply_in_words(decision),
        " ".join(thoughts) if reasoning else "",
        rules_text(now.ruleset, "own"),
    )


def write_table(items: Sequence[RaterItem], path: Path) -> Path:
    """Write the items as a table with empty label columns, in their order (UTF-8 with a mark, for Excel).

    Cells longer than a spreadsheet holds lose the oldest of what was known, and say so.
    """
    unshown = {"rules"} if any(item.reasoning for item in items) else {"rules", "reasoning"}
    shown = [name for name in RaterItem.__dataclass_fields__ if name not in unshown]
    cells = [asdict(item) | {"known": _within("\n".join(item.known))} for item in items]
    rows = [[*(row[name] for name in shown), *("" for _ in FILLED)] for row in cells]
    write_cells(path, [[*shown, *FILLED], *rows])
    return path


def _within(known: str) -> str:
    if len(known) <= CELL:
        return known
    kept = known[-CELL:]
    return "(earlier lines left out: too long for a cell; the page has them)\n" + kept[kept.find("\n") + 1 :]


# -- the page ------------------------------------------------------------------------------------------

PAGE = "annotate.html"


def render_items(items: Sequence[RaterItem], code: str, title: str = "Werewolf replies") -> str:
    """The page as text. code: the sample's, so that labels of two samples never mix."""
    data = [asdict(item) for item in items]
    return labelling_page("annotate_page", title, "wolflab-annotate", code, data, reasons=REASONS)
