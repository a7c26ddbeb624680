"""One turn of a reflective player laid out step by step, as 003 Table 4 does, alone or beside another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, Group
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ..lab.runs.again import Again
from ..rules import Action, Ruleset
from ..text.asking.wording import moderator_request
from ..text.notes import Answered, Asked, Content, Reflected, Suggested, Thought
from .notes import acted, message_numbers, note_lines

Notes = Sequence[tuple[str, Content]]


def show_turn(
    console: Console,
    ruleset: Ruleset,
    taken: Again,
    without: Sequence[str],
    past: Callable[[str], str] = str,
) -> None:
    """Print a turn; with one taken again, both side by side.

    past: what to say of a decision in a past game, by its id, so that a reader finds it.
    """
    ask, turn = taken.moment.ask, taken.moment.turn
    console.print(Rule(f"{ruleset.names[ask.seat]} · {ask.id}"))
    console.print(Text(f"You are asked to {moderator_request(taken.moment.situation, ask)}."))
    table = Table(expand=True)
    table.add_column("as it was played")
    cells = [_steps(turn.notes, turn.action, turn.invalid, ruleset, past)]
    if taken.notes is not None:
        table.add_column(f"without {', '.join(without)}")
        cells.append(_steps(taken.notes, taken.action, taken.invalid, ruleset, past))
    table.add_row(*cells)
    console.print(table)


def _steps(
    notes: Notes, action: Action | None, invalid: str | None, ruleset: Ruleset, past: Callable[[str], str]
) -> Group:
    """003 Table 4's rows: questions and answers, reflection, suggestion, thoughts, final response."""
    rows: list[Text] = []
    number = 0
    shown = (Answered, Reflected, Suggested, Thought, Asked)
    others = [
        line
        for step, one in notes
        if not isinstance(one, shown)
        for line in note_lines(step, one, ruleset.names)
    ]
    rows += [Text(line, style="dim") for line in others]
    for heading, kinds in (
        ("Questions and answers", (Answered,)),
        ("Reflection", (Reflected,)),
        ("Suggestion from experience", (Suggested,)),
        ("Chain of thought", (Thought,)),
    ):
        mine = [content for _, content in notes if isinstance(content, kinds)]
        if mine:
            rows.append(Text(heading, style="bold"))
        for content in mine:
            if isinstance(content, Answered):
                number += 1
                rows.append(Text(f"{number}. {content.question}", style="cyan"))
                found = f"  [from {message_numbers(content.retrieved)}]" if content.retrieved else ""
                rows.append(Text(f"   {content.answer or '(no usable answer)'}{found}"))
            elif isinstance(content, Reflected | Thought):
                rows.append(Text(content.text))
            elif isinstance(content, Suggested):
                rows.append(Text(note_lines("", content, ruleset.names)[0]))
                rows += _read(content, past)
    rows.append(Text("Final response", style="bold"))
    final = f"no usable reply: {invalid}" if invalid else acted(action, ruleset.names)
    rows.append(Text(final, style="red" if invalid else "green"))
    return Group(*rows)


def _read(suggested: Suggested, past: Callable[[str], str]) -> list[Text]:
    """The experiences that a suggestion was drawn from (003 Eq. 7), so that each can be looked at."""
    if not suggested.good:
        return []
    told = [("bad", suggested.bad), *(("good", one) for one in suggested.good)]
    return [Text(f"  {how}: {past(one)}", style="dim") for how, one in told]
