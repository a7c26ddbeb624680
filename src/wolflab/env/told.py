"""The same knowledge as text: what a seat has seen and heard, a line each, and the question put to it.

Sentences and requests are those of language agents (`text`). A `Text` space has a fixed alphabet and
length, so rarer characters become "?" and the oldest lines go first; `WerewolfAEC.view` has everything.
"""

from __future__ import annotations

from ..agents.memory import remember, situation
from ..rules import Ask, View
from ..text.questions import Situation
from ..text.asking.sentences import a_role, line_sentence
from ..text.asking.wording import moderator_request, time_of

ALPHABET = "\n" + "".join(map(chr, [*range(0x20, 0x7F), *range(0xA1, 0x250)])) + "–—‘’“”…‹›€"
"""ASCII, Latin letters with their marks, and the signs that English prose needs."""
_KNOWN = frozenset(ALPHABET)

IDLE = "Nothing is asked of you, for the game ended before your first turn: pass."


def told(view: View, ask: Ask | None, since: int, limit: int) -> str:
    """The view's events from number `since` on, a line each, then the question; cut to `limit` characters."""
    memory = remember(view, prune=False)
    lines = sorted((*memory.facts, *memory.statements), key=lambda line: line.position)
    said = [line_sentence(line, view.seat, view.ruleset) for line in lines if line.position >= since]
    if ask is not None:
        now = situation(view, memory, ask, "append")
        said.append(request(now, ask) if ask.kind else IDLE)
    return _fitted(said, limit)


def request(now: Situation, ask: Ask) -> str:
    """Who and when one is, and what is asked, with the labels of the options."""
    who = f"You are {now.ruleset.names[now.seat]}, {a_role(now.role)}."
    return f"It is {time_of(now).rstrip(',')}. {who} The moderator asks you to {moderator_request(now, ask)}."


def _fitted(lines: list[str], limit: int) -> str:
    kept: list[str] = []
    left = limit
    for line in reversed(lines):
        if len(line) > left:
            if not kept:
                kept.append(line[:left])
            break
        kept.append(line)
        left -= len(line) + 1
    text = "\n".join(reversed(kept))
    return text if _KNOWN.issuperset(text) else "".join(c if c in _KNOWN else "?" for c in text)
