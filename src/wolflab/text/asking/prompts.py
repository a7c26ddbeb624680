"""A question in words: [rules] + [context] + [instruction] (002 §6.2).

A prompt is a pure function of a typed `Question` and the corrections of failed attempts. Two wordings
("paper": the fields of 002 Tables 4–15, 003 Table 3 and 004 App. C; "own") come in three layouts:

- *paper*: remaining players, then the numbered lines in blocks (true, might be true, might be false,
  not yet judged), re-sorted at every turn;
- *append*: who one is and every line in order of happening, so that a later prompt extends an earlier
  one; how the seat classifies the statements, who lives and the instruction come after, at the end;
- *recall*: the latest messages and older telling ones, of a player that reflects (003 Fig. 2).

The templates are the files under `prompts/`; what this module adds to them is lists, names and numbers.
An ask's id, seat, phase, round and weights restate the situation or are not for players: they are the
only fields of a question that do not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...rules import Learned
from ..clean import clean, unnumbered
from ..notes import UNCERTAIN, Belief
from ..questions import Question, Situation, Wording
from .disguise import disguised
from .instructions import instruction
from .rules_text import rules_text
from .sentences import a_role
from .templates import phrases, render_template
from .wording import names_of, numbered, without_blank_lines

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
    ruleset = question.situation.ruleset
    rules, context, asked = (disguised(block, ruleset) for block in blocks(question))
    begun = Message("system", rules), Message("user", f"{context}\n\n{asked}")
    again = [
        message._replace(content=disguised(message.content, ruleset)) if message.role == "user" else message
        for message in corrected(corrections)
    ]
    return (*begun, *again)


def corrected(corrections: Sequence[tuple[str, str]]) -> list[Message]:
    """Each failed reply and what was wrong with it, as a chat goes on with them."""
    chat = []
    for reply, reason in corrections:
        chat.append(Message("assistant", reply[:_SHOWN_REPLY].strip() or "(empty)"))
        chat.append(Message("user", render_template("correction", reason=clean(reason, 2000))))
    return chat


def blocks(question: Question) -> tuple[str, str, str]:
    """The prompt's three blocks. In the append layout a seat's later context extends its earlier ones,
    as long as none of the earlier lines was pruned.
    """
    now = question.situation
    rules = _rules(question)
    tail = [
        beliefs_in_words(now, question.beliefs, question.layout == "append"),
        _style(now, question.style),
        instruction(question),
    ]
    if question.layout == "append":
        context = _context_append(now)
        tail.insert(0, _now_append(now))
    elif question.layout == "recall":
        context = _context_recall(now, question.wording)
    else:
        context = _context_paper(now)
    return rules, context, "\n\n".join(part for part in tail if part)


def _rules(question: Question) -> str:
    """The rules as far as the player is told them, and hints at strategy."""
    templates = phrases(f"{question.wording}/reflective")
    rules = rules_text(question.situation.ruleset, question.wording)
    text = rules if question.rules else templates["no_rules"].template
    return f"{text}\n\n{templates['tips'].template}" if question.tips else text


# -- context ----------------------------------------------------------------------------------


def _alive(now: Situation) -> str:
    return ", ".join(names_of(now, now.alive))


def _standing(now: Situation, with_pack: bool) -> str:
    """Who is Sheriff, where there is one; the pack, for its members."""
    templates = phrases("sections")
    sentences = []
    if now.sheriff is not None:
        gone = "" if now.sheriff in now.alive else " (out of the game)"
        sentences.append(templates["sheriff"].substitute(name=now.ruleset.names[now.sheriff] + gone))
    elif now.ruleset.sheriff != "none":
        sentences.append(templates["no_sheriff"].template)
    if with_pack and now.pack:
        sentences.append(templates["pack"].substitute(names=", ".join(names_of(now, now.pack))))
    return "\n".join(sentences)


def _pack(now: Situation) -> str:
    """The pack as a sentence, for its members."""
    if not now.pack:
        return ""
    return f" {phrases('sections')['pack'].substitute(names=', '.join(names_of(now, now.pack)))}."


def _context_paper(now: Situation) -> str:
    templates = phrases("sections")
    sections = [
        f"{templates[name].template}\n{numbered(now, lines)}"
        for name, lines in (
            ("facts", now.facts),
            ("truths", now.truths),
            ("falsehoods", now.falsehoods),
            ("pending", now.pending),
        )
        if lines
    ]
    text = render_template(
        "context_paper", alive=_alive(now), standing=_standing(now, True), blocks="\n".join(sections)
    )
    return without_blank_lines(text)


def _context_append(now: Situation) -> str:
    return render_template(
        "context_append",
        name=now.ruleset.names[now.seat],
        a_role=a_role(now.role),
        pack=_pack(now),
        lines=numbered(now, now.lines),
    )


def _context_recall(now: Situation, wording: Wording) -> str:
    """What a reflective player remembers (003 Fig. 2): the latest messages, and older telling ones.

    The paper's wording has the latest first.
    """
    templates = phrases(f"{wording}/reflective")
    older = ""
    if now.informative:
        older = f"{templates['informative'].template}\n{numbered(now, now.informative)}"
    latest = [*now.facts, *now.truths, *now.falsehoods, *now.pending]
    recent = f"{templates['recent'].template}\n{numbered(now, latest)}" if latest else ""
    first, second = (recent, older) if wording == "paper" else (older, recent)
    text = render_template(
        "context_recall",
        name=now.ruleset.names[now.seat],
        a_role=a_role(now.role),
        pack=_pack(now),
        alive=_alive(now),
        standing=_standing(now, False),
        first=first,
        second=second,
    )
    return without_blank_lines(text)


def _now_append(now: Situation) -> str:
    templates = phrases("sections")
    text = render_template("now_append", alive=_alive(now), standing=_standing(now, False))
    for name, lines in (("truths", now.truths), ("falsehoods", now.falsehoods), ("pending", now.pending)):
        if lines:
            ordered = sorted(lines, key=lambda line: line.position)
            numbers = ", ".join(f"[{line.number}]" for line in ordered)
            text += "\n" + templates[f"{name}_append"].substitute(numbers=numbers)
    return without_blank_lines(text)


# -- beliefs and style ------------------------------------------------------------------------


def beliefs_in_words(now: Situation, beliefs: tuple[Belief, ...], lasting: bool = True) -> str:
    """A seat's latest deduction, in words by confidence (004 §4.1); empty for none.

    lasting: a line has the number that it had when it was cited; else reasonings are told without numbers.
    """
    if not beliefs:
        return ""
    numbers = {line.position: line.number for line in now.lines}
    confirmed = {line.event.target: line.event.what for line in now.facts if isinstance(line.event, Learned)}
    return render_template(
        "beliefs", beliefs="\n".join(_belief(now, b, numbers, confirmed, lasting) for b in beliefs)
    )


def _belief(
    now: Situation, belief: Belief, numbers: dict[int, int], confirmed: dict[int, str], lasting: bool
) -> str:
    text = now.ruleset.names[belief.target]
    if belief.target in confirmed:
        role_seen = confirmed[belief.target]
        text += f" is confirmed to be {a_role(role_seen)}."
        if belief.role != role_seen:
            text += f" {now.ruleset.names[belief.target]}{opinion(belief)}."
    else:
        text += f"{opinion(belief)}."
    if belief.confidence:
        text += f" Confidence {belief.confidence}, reliability {belief.reliability} of 10."
    cited = ", ".join(f"[{numbers[at]}]" for at in belief.evidence if at in numbers)
    if cited:
        text += f" Evidence: {cited}."
    reasoning = clean(belief.reasoning if lasting else unnumbered(belief.reasoning))
    return f'{text} Reasoning: "{reasoning}"' if reasoning else text


def opinion(belief: Belief) -> str:
    """What is believed, in words by confidence: " may be a Seer" (004 §4.1)."""
    role = a_role(belief.role)
    if belief.role == UNCERTAIN:
        return " is uncertain"
    if 0 < belief.confidence <= 5:
        return f" is uncertain, perhaps {role}"
    if belief.confidence <= 7:
        return f" may be {role}"
    return f" is likely to be {role}" if belief.confidence <= 9 else f" must be {role}"


def _style(now: Situation, style: str | None) -> str:
    if style is None:
        return ""
    return phrases("styles")[style].substitute(a_role=a_role(now.role))
