"""A question in words: [rules] + [context] + [instruction] (002 §6.2).

A prompt is a pure function of a typed `Question` and the corrections of failed attempts. Two wordings
("paper": the fields of 002 Tables 4–15 and 004 App. C; "own") come in two layouts:

- *paper*: remaining players, then the numbered lines in blocks (true, might be true, might be false,
  not yet judged), re-sorted at every turn;
- *append*: who one is and every line in order of happening, so that a later prompt extends an earlier
  one; how the seat classifies the statements, who lives and the instruction come after, at the end.

The templates are the files under `prompts/`; what this module adds to them is lists, names and numbers.
An ask's id, seat, phase, round and weights restate the situation or are not for players: they are the
only fields of a question that do not show.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from ..rules import DUTIES, PASS, PRESETS, Learned, Pick, VictimShown
from .clean import clean
from .notes import UNCERTAIN, Belief
from .options import labels
from .questions import Decide, Deduce, Line, Question, Rate, Situation
from .rules_text import RULES_TEXT_VERSION, rules_text
from .sentences import SENTENCES_VERSION, a_role, line_sentence, listed
from .templates import phrases, render, templates_digest

PROMPTS_VERSION = 1
"""Raise it when this module words something differently: it is part of the digest."""

STYLES: dict[str, str] = {name: phrase.template for name, phrase in phrases("styles").items()}
"""The six styles of 004 C.7: name → sentence put before the instruction ("default" has none)."""

_SHOWN_REPLY = 4000
"""Characters of a failed reply that are shown back with its correction."""


class Message(NamedTuple):
    """One chat message; `role` is "system", "user" or "assistant"."""

    role: str
    content: str


def messages(question: Question, corrections: tuple[tuple[str, str], ...] = ()) -> tuple[Message, ...]:
    """The chat that puts `question`: system (rules), user (context and instruction), then each failed
    reply and what was wrong with it, oldest first.
    """
    rules, context, instruction = blocks(question)
    chat = [Message("system", rules), Message("user", f"{context}\n\n{instruction}")]
    for reply, reason in corrections:
        chat.append(Message("assistant", reply[:_SHOWN_REPLY].strip() or "(empty)"))
        chat.append(Message("user", render("correction", reason=clean(reason, 2000))))
    return tuple(chat)


def blocks(question: Question) -> tuple[str, str, str]:
    """The prompt's three blocks. In the append layout a seat's later context extends its earlier ones,
    as long as none of the earlier lines was pruned.
    """
    now = question.situation
    rules = rules_text(now.ruleset, question.wording)
    tail = [
        _beliefs(now, question.beliefs),
        _style(now, question.style),
        _instruction(question),
    ]
    if question.layout == "append":
        context = _context_append(now)
        tail.insert(0, _now_append(now))
    else:
        context = _context_paper(now)
    return rules, context, "\n\n".join(part for part in tail if part)


@cache
def prompt_digest() -> str:
    """A hash of all that words a prompt (templates, rules text, sentences), for requests' hashes."""
    hashed = blake2b(digest_size=16)
    hashed.update(templates_digest().encode())
    hashed.update(f"{RULES_TEXT_VERSION}.{SENTENCES_VERSION}.{PROMPTS_VERSION}".encode())
    for ruleset in PRESETS.values():
        hashed.update(rules_text(ruleset, "paper").encode() + rules_text(ruleset, "own").encode())
    return hashed.hexdigest()


# -- context ----------------------------------------------------------------------------------


def _names(now: Situation, seats: Iterable[int]) -> list[str]:
    return [now.ruleset.names[seat] for seat in seats]


def _alive(now: Situation) -> str:
    return ", ".join(_names(now, now.alive))


def _standing(now: Situation, with_pack: bool) -> str:
    """Who is Sheriff, where there is one; the pack, for its members."""
    words = phrases("sections")
    said = []
    if now.sheriff is not None:
        gone = "" if now.sheriff in now.alive else " (out of the game)"
        said.append(words["sheriff"].substitute(name=now.ruleset.names[now.sheriff] + gone))
    elif now.ruleset.sheriff != "none":
        said.append(words["no_sheriff"].template)
    if with_pack and now.pack:
        said.append(words["pack"].substitute(names=", ".join(_names(now, now.pack))))
    return "\n".join(said)


def _numbered(now: Situation, lines: Iterable[Line]) -> str:
    ordered = sorted(lines, key=lambda line: line.position)
    return "\n".join(f"[{line.number}] {line_sentence(line, now.seat, now.ruleset)}" for line in ordered)


def _context_paper(now: Situation) -> str:
    words = phrases("sections")
    sections = [
        f"{words[name].template}\n{_numbered(now, lines)}"
        for name, lines in (
            ("facts", now.facts),
            ("truths", now.truths),
            ("falsehoods", now.falsehoods),
            ("pending", now.pending),
        )
        if lines
    ]
    text = render(
        "context_paper", alive=_alive(now), standing=_standing(now, True), blocks="\n".join(sections)
    )
    return _without_blank_lines(text)


def _context_append(now: Situation) -> str:
    pack = ""
    if now.pack:
        pack = f" {phrases('sections')['pack'].substitute(names=', '.join(_names(now, now.pack)))}."
    return render(
        "context_append",
        name=now.ruleset.names[now.seat],
        a_role=a_role(now.role),
        pack=pack,
        lines=_numbered(now, now.lines),
    )


def _now_append(now: Situation) -> str:
    words = phrases("sections")
    text = render("now_append", alive=_alive(now), standing=_standing(now, False))
    for name, lines in (("truths", now.truths), ("falsehoods", now.falsehoods), ("pending", now.pending)):
        if lines:
            ordered = sorted(lines, key=lambda line: line.position)
            numbers = ", ".join(f"[{line.number}]" for line in ordered)
            text += "\n" + words[f"{name}_append"].substitute(numbers=numbers)
    return _without_blank_lines(text)


def _without_blank_lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())


# -- beliefs and style ------------------------------------------------------------------------


def _beliefs(now: Situation, beliefs: tuple[Belief, ...]) -> str:
    """The seat's latest deduction, in words by confidence (004 §3.1)."""
    if not beliefs:
        return ""
    numbers = {line.position: line.number for line in now.lines}
    confirmed = {line.event.target: line.event.what for line in now.facts if isinstance(line.event, Learned)}
    return render("beliefs", beliefs="\n".join(_belief(now, b, numbers, confirmed) for b in beliefs))


def _belief(now: Situation, belief: Belief, numbers: dict[int, int], confirmed: dict[int, str]) -> str:
    text = now.ruleset.names[belief.target]
    if belief.target in confirmed:
        what = confirmed[belief.target]
        text += f" is confirmed to be {a_role(what)}."
        if belief.role != what:
            text += f" {now.ruleset.names[belief.target]}{_opinion(belief)}."
    else:
        text += f"{_opinion(belief)}."
    text += f" Confidence {belief.confidence}, reliability {belief.reliability} of 10."
    cited = ", ".join(f"[{numbers[at]}]" for at in belief.evidence if at in numbers)
    if cited:
        text += f" Evidence: {cited}."
    reasoning = clean(belief.reasoning)
    return f'{text} Reasoning: "{reasoning}"' if reasoning else text


def _opinion(belief: Belief) -> str:
    role = a_role(belief.role)
    if belief.role == UNCERTAIN:
        return " is uncertain"
    if belief.confidence <= 5:
        return f" is uncertain, perhaps {role}"
    if belief.confidence <= 7:
        return f" may be {role}"
    return f" is likely to be {role}" if belief.confidence <= 9 else f" must be {role}"


def _style(now: Situation, style: str | None) -> str:
    if style is None:
        return ""
    return phrases("styles")[style].substitute(a_role=a_role(now.role))


# -- instruction ------------------------------------------------------------------------------


def _time(now: Situation) -> str:
    if now.phase == "night":
        return f"night {now.round} round"
    if now.phase == "order":
        return f"day {now.round} discussion phase, before the first statement,"
    return f"day {now.round} {now.phase} phase"


def _instruction(question: Question) -> str:
    now, task, wording = question.situation, question.task, question.wording
    common = {"time": _time(now), "name": now.ruleset.names[now.seat], "a_role": a_role(now.role)}
    match task:
        case Decide():
            return _decide(now, task, wording, common)
        case Deduce():
            return _deduce(now, task, wording, common)
        case Rate(_, targets):
            names = _names(now, targets)
            scores = ",\n".join(f'"{name}": an integer from 1 to 10' for name in names)
            return render(f"{wording}/rate", **common, targets=listed(names), scores=scores)


_SPEECHES = {"campaign": "campaign", "last-words": "last_words"}
_CHOICES = {"antidote": "antidote", "lead": "lead", "succeed": "succeed", "elect": "elect"}


def _decide(now: Situation, task: Decide, wording: str, common: dict[str, str]) -> str:
    ask = task.ask
    if ask.options is None:
        office = "statement_sheriff" if now.sheriff == now.seat else "statement"
        return render(f"{wording}/{_SPEECHES.get(ask.kind, office)}", **common)
    words = labels(ask, now.ruleset)
    if wording == "paper" and PASS in ask.options:
        words = (
            words[ask.options.index(PASS)],
            *(w for w, o in zip(words, ask.options, strict=True) if o != PASS),
        )
    left, right = _neighbours(now)
    if ask.kind == "vote":
        name = "vote_pack" if now.pack else "vote_village"
    else:
        name = _CHOICES.get(ask.kind, "night")
    duty = DUTIES.get(ask.kind)
    return render(
        f"{wording}/{name}",
        **common,
        options=", ".join(words),
        verb=duty.verb if duty else ask.kind,
        note=_pack_note(now, ask.kind, wording),
        victim=_victim(now),
        candidates=listed([now.ruleset.names[o.seat] for o in ask.options if isinstance(o, Pick)]),
        left=left,
        right=right,
    )


def _pack_note(now: Situation, kind: str, wording: str) -> str:
    """How the pack agrees, for its members while more than one of them lives."""
    mates = [seat for seat in now.pack if seat != now.seat and seat in now.alive]
    duty = DUTIES.get(kind)
    if not mates or duty is None or not duty.chained:
        return ""
    phrase = phrases(f"{wording}/phrases")[f"note_{now.ruleset.wolf_agreement}"]
    return " " + phrase.substitute(mates=listed(_names(now, mates)))


def _victim(now: Situation) -> str:
    """Whom the Witch was shown last: tonight's victim."""
    shown = [line.event.victim for line in now.facts if isinstance(line.event, VictimShown)]
    return now.ruleset.names[shown[-1]] if shown else "tonight's victim"


def _neighbours(now: Situation) -> tuple[str, str]:
    """The living neighbours on the left (next lower number) and on the right (next higher)."""
    others = [seat for seat in now.alive if seat != now.seat]
    if not others:
        return "nobody", "nobody"
    left = max((seat for seat in others if seat < now.seat), default=others[-1])
    right = min((seat for seat in others if seat > now.seat), default=others[0])
    return now.ruleset.names[left], now.ruleset.names[right]


def _deduce(now: Situation, task: Deduce, wording: str, common: dict[str, str]) -> str:
    words = phrases(f"{wording}/phrases")
    asked = [name for name in ("reasoning", "confidence", "evidence") if name in task.attributes]
    wishes = [words[f"wish_{name}"].template for name in asked]
    if wording == "own" or not wishes:
        wishes.insert(0, words["wish_role"].template)
    guesses = ", ".join(f'"{guess}"' for guess in task.guesses)
    fields = [words[f"field_{name}"].substitute(guesses=guesses) for name in ("role", *asked)]
    names = _names(now, task.targets)
    several = len(names) > 1
    return _without_blank_lines(
        render(
            f"{wording}/deduce",
            **common,
            targets=listed(names),
            wishes=listed(wishes),
            key=names[0] if names else "",
            fields=",\n".join(fields),
            each=words["each"].template if several else "",
        )
    )
