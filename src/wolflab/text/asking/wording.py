"""Pieces of a prompt that its parts share: names, times, numbered lines, what the moderator asks for.

Pure functions of a situation and an ask; no template of its own but the moderator's requests.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...rules import DUTIES, Ask, Pick, VictimShown
from ..questions import Decide, Line, Situation
from .options import NUMBER_WORDS, labels
from .sentences import line_sentence, listed
from .templates import phrases


def names_of(now: Situation, seats: Iterable[int]) -> list[str]:
    """The players' names."""
    return [now.ruleset.names[seat] for seat in seats]


def time_of(now: Situation) -> str:
    """When it is: "night 2 round", "day 1 voting phase", "day 1, the moment at which you leave the game"."""
    if now.phase == "night":
        return f"night {now.round} round"
    if now.phase == "order":
        return f"day {now.round} discussion phase, before the first statement,"
    if now.phase == "departure":
        return f"day {now.round}, the moment at which you leave the game"
    return f"day {now.round} {now.phase} phase"


def numbered(now: Situation, lines: Iterable[Line]) -> str:
    """Lines in the order in which they happened, each with its number, one a line."""
    ordered = sorted(lines, key=lambda line: line.position)
    return "\n".join(f"[{line.number}] {line_sentence(line, now.seat, now.ruleset)}" for line in ordered)


def number_in_words(n: int) -> str:
    """A number in words where there is a word: "three"."""
    return NUMBER_WORDS[n - 1] if 0 < n <= len(NUMBER_WORDS) else str(n)


def wants_reasoning(task: Decide) -> bool:
    """Whether the reply to a decision is to hold reasoning: not where a plan or an intent came before it."""
    return not task.plan and task.intent is None and (task.aids is None or task.aids.think)


def without_blank_lines(text: str) -> str:
    """`text` without its empty lines."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def moderator_request(now: Situation, ask: Ask) -> str:
    """What the moderator asks of the player, as "vote for …", with the options there are."""
    templates = phrases("requests")
    duty = DUTIES.get(ask.kind)
    left, right = neighbours(now)
    due = "night" if duty is None or duty.when == "night" else "now"
    return templates[ask.kind if ask.kind in templates else due].substitute(
        options=", ".join(labels(ask, now.ruleset)) if ask.options is not None else "",
        verb=duty.verb if duty else ask.kind,
        victim=victim_shown(now),
        left=left,
        right=right,
    )


def victim_shown(now: Situation) -> str:
    """Whom the Witch was shown last: tonight's victim."""
    shown = [line.event.victim for line in now.lines if isinstance(line.event, VictimShown)]
    return now.ruleset.names[shown[-1]] if shown else "tonight's victim"


def neighbours(now: Situation) -> tuple[str, str]:
    """The living neighbours on the left (next lower number) and on the right (next higher)."""
    others = [seat for seat in now.alive if seat != now.seat]
    if not others:
        return "nobody", "nobody"
    left = max((seat for seat in others if seat < now.seat), default=others[-1])
    right = min((seat for seat in others if seat > now.seat), default=others[0])
    return now.ruleset.names[left], now.ruleset.names[right]


def names_among_options(now: Situation, ask: Ask) -> list[str]:
    """The names of the players among an ask's options."""
    return [now.ruleset.names[option.seat] for option in ask.options or () if isinstance(option, Pick)]


def pack_note(now: Situation, kind: str, wording: str) -> str:
    """How the pack agrees, for its members while more than one of them lives."""
    mates = [seat for seat in now.pack if seat != now.seat and seat in now.alive]
    duty = DUTIES.get(kind)
    if not mates or duty is None or not duty.chained:
        return ""
    phrase = phrases(f"{wording}/phrases")[f"note_{now.ruleset.wolf_agreement}"]
    return " " + phrase.substitute(mates=listed(names_of(now, mates)))
