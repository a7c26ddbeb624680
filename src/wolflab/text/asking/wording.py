"""Pieces of a prompt that its parts share: names, times, numbered lines, what the moderator asks for.

Pure functions of a situation and an ask; no template of its own but the moderator's requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import assert_never

from ...rules import DUTIES, PASS, Ask, Ruleset, VictimShown
from ..identity import ByIdentity
from ..questions import (
    AnswerQuestion,
    AskQuestions,
    Choose,
    ChooseQuestions,
    Decide,
    Deduce,
    Extract,
    Interview,
    Judge,
    Line,
    Plan,
    Propose,
    Rate,
    Reflect,
    Situation,
    Task,
    Wording,
)
from .options import NUMBER_WORDS, labels
from .rewording import ordered
from .sentences import line_sentence, listed
from .templates import phrases


def names_of(now: Situation, seats: Iterable[int]) -> list[str]:
    """The players' names, in the order of the wording."""
    return [now.ruleset.names[seat] for seat in ordered(seats, now.ruleset.wording, "player")]


def living_names(now: Situation) -> str:
    """The names of the living."""
    return ", ".join(names_of(now, now.alive))


def sheriff_and_pack(now: Situation, with_pack: bool) -> str:
    """Sentences on the Sheriff, if there is the office, and on the pack, for its members."""
    templates = phrases("sections", now.ruleset.wording)
    sentences = []
    if now.sheriff is not None:
        gone = "" if now.sheriff in now.alive else " (out of the game)"
        sentences.append(templates["sheriff"].substitute(name=now.ruleset.names[now.sheriff] + gone))
    elif now.ruleset.sheriff != "none":
        sentences.append(templates["no_sheriff"].template)
    if with_pack and now.pack:
        sentences.append(templates["pack"].substitute(names=", ".join(names_of(now, now.pack))))
    return "\n".join(ordered(sentences, now.ruleset.wording, "standing"))


def pack_in_words(now: Situation) -> str:
    """The pack as a sentence, for its members."""
    if not now.pack:
        return ""
    names = ", ".join(names_of(now, now.pack))
    return f" {phrases('sections', now.ruleset.wording)['pack'].substitute(names=names)}."


def time_of(now: Situation, wording: Wording = "own") -> str:
    """The time in words: "night 2", "day 1 voting phase", "day 1, the moment at which you leave the game".

    The wording "paper" has "night 2 round".
    """
    if now.phase == "night":
        return f"night {now.round} round" if wording == "paper" else f"night {now.round}"
    if now.phase == "order":
        return f"day {now.round} discussion phase"  # 002 Table 12
    if now.phase == "departure":
        return f"day {now.round}, the moment at which you leave the game"
    return f"day {now.round} {now.phase} phase"


def numbered(now: Situation, lines: Iterable[Line]) -> str:
    """Lines in the order in which they happened, each with its number, one a line.

    "you" stands for the situation's player.
    """
    return "\n".join(
        [f"[{line.cited}] {_line_text(line, now.seat, now.ruleset)}" for line in sorted(lines, key=_position)]
    )


_position = attrgetter("position")
_SENTENCES = ByIdentity[str](1 << 16)
"""A cache of lines as sentences: every prompt of a game repeats most of the one before."""


def _line_text(line: Line, seat: int | None, ruleset: Ruleset) -> str:
    """A line in words for the player in `seat`."""
    key = id(line.event), id(ruleset), seat, line.round, line.phase
    known = _SENTENCES.get(key)
    if known is None:
        known = _SENTENCES.keep(key, (line.event, ruleset), line_sentence(line, seat, ruleset))
    return known


def cited(lines: Iterable[Line]) -> str:
    """The numbers of lines, in the order in which they happened: "[3], [S2]"."""
    return ", ".join(f"[{line.cited}]" for line in sorted(lines, key=lambda line: line.position))


def number_in_words(n: int) -> str:
    """A number in words where there is a word: "three"."""
    return NUMBER_WORDS[n - 1] if 0 < n <= len(NUMBER_WORDS) else str(n)


def wants_reasoning(task: Decide) -> bool:
    """Whether the reply to a decision is to hold reasoning: not where a plan or an intent came before it."""
    return not task.plan and task.intent is None and (task.aids is None or task.aids.think)


def gives_reasons(task: Task) -> bool:
    """Whether the reply to a task of a player's own turn holds private reasoning."""
    match task:
        case Decide():
            return wants_reasoning(task)
        case Deduce():
            return "reasoning" in task.attributes
        case Plan() | Propose() | Choose() | AnswerQuestion() | Reflect():
            return True
        case Rate() | ChooseQuestions() | AskQuestions() | Extract() | Interview() | Judge():
            return False
    assert_never(task)


def without_blank_lines(text: str) -> str:
    """`text` without its empty lines."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def moderator_request(now: Situation, ask: Ask, *, with_options: bool = True) -> str:
    """The moderator's request to the player, such as "vote for …", with the options or without."""
    templates = phrases("requests", now.ruleset.wording)
    duty = DUTIES.get(ask.kind)
    left, right = neighbours(now)
    due = "night" if duty is None or duty.when == "night" else "now"
    request = templates[ask.kind if ask.kind in templates else due].substitute(
        options=", ".join(ordered(labels(ask, now.ruleset), now.ruleset.wording, "option")),
        verb=duty.verb if duty else ask.kind,
        or_pass=or_pass(ask),
        victim=victim_shown(now),
        left=left,
        right=right,
    )
    return request if with_options else request.partition(", taking one of these")[0]


def or_pass(ask: Ask) -> str:
    """The words after a request of the night for choosing nobody, where that is allowed."""
    return ", or pass" if PASS in (ask.options or ()) else ""


def victim_shown(now: Situation) -> str:
    """The victim shown to the Witch tonight, perhaps herself ("player_2 (you)")."""
    shown = [line.event.victim for line in now.lines if isinstance(line.event, VictimShown)]
    if not shown:
        return "tonight's victim"
    return now.ruleset.names[shown[-1]] + (" (you)" if shown[-1] == now.seat else "")


def neighbours(now: Situation) -> tuple[str, str]:
    """The living neighbours on the left (next lower number) and on the right (next higher)."""
    others = [seat for seat in now.alive if seat != now.seat]
    if not others:
        return "nobody", "nobody"
    left = max((seat for seat in others if seat < now.seat), default=others[-1])
    right = min((seat for seat in others if seat > now.seat), default=others[0])
    return now.ruleset.names[left], now.ruleset.names[right]


def pack_note(now: Situation, kind: str, wording: str) -> str:
    """The rule on the pack's agreement, for its members while more than one of them lives."""
    mates = [seat for seat in now.pack if seat != now.seat and seat in now.alive]
    duty = DUTIES.get(kind)
    if not mates or duty is None or not duty.chained:
        return ""
    phrase = phrases(f"{wording}/phrases", now.ruleset.wording)[f"note_{now.ruleset.wolf_agreement}"]
    teammates = "teammate" if len(mates) == 1 else "teammates"
    return " " + phrase.substitute(mates=f"your {teammates} {listed(names_of(now, mates))}")
