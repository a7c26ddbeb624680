"""The same knowledge as text: what a seat has seen and heard, a line each, and the question put to it.

Sentences are those that language agents read (`text.asking.sentences`). A `Text` space has a fixed alphabet
and length, so rarer characters become "?" and the oldest lines go first; `WerewolfAEC.view` has everything.
"""

from __future__ import annotations

from ..agents.memory import remember
from ..rules import DUTIES, Ask, Ruleset, View
from ..text.asking.options import labels
from ..text.asking.sentences import line_sentence

ALPHABET = "\n" + "".join(map(chr, [*range(0x20, 0x7F), *range(0xA1, 0x250)])) + "–—‘’“”…‹›€"
"""ASCII, Latin letters with their marks, and the signs that English prose needs."""
_KNOWN = frozenset(ALPHABET)

_REQUESTS = {
    "statement": "It is your turn to speak.",
    "campaign": "You are running for Sheriff: it is your turn to speak.",
    "last-words": "You are out of the game: these are your last words.",
    "vote": "It is time to vote",
    "elect": "It is time to elect a Sheriff",
    "succeed": "You were the Sheriff: name the next one",
    "lead": "You are the Sheriff: who speaks first, the player on your left or on your right",
    "shoot": "You are leaving the game, and may shoot a player who lives",
}


def told(view: View, ask: Ask | None, since: int, limit: int) -> str:
    """The view's events from number `since` on, a line each, then the question; cut to `limit` characters."""
    memory = remember(view, prune=False)
    lines = sorted((*memory.facts, *memory.statements), key=lambda line: line.position)
    said = [line_sentence(line, view.seat, view.ruleset) for line in lines if line.position >= since]
    if ask is not None:
        said.append(request(ask, view.ruleset))
    return _fitted(said, limit)


def request(ask: Ask, ruleset: Ruleset) -> str:
    """What is asked, with the options there are."""
    duty = DUTIES.get(ask.kind)
    due = "Tonight you may" if ask.phase == "night" else "You may now"
    what = _REQUESTS.get(ask.kind) or f"{due} {duty.verb if duty else ask.kind}"
    return what if ask.options is None else f"{what}: {', '.join(labels(ask, ruleset))}."


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
