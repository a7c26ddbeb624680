"""A question in words: [rules] + [context] + [instruction] (002 §6.2).

A prompt is a pure function of a typed `Question` and the corrections of failed attempts. Two wordings
("paper": close to 002 Tables 4–15, 003 Table 3 and 004 App. C, elsewhere in their form; "own") come in
layouts:

- *paper*: remaining players, then the numbered lines in blocks (true, might be true, might be false,
  not yet judged), re-sorted at every turn;
- *append*: who the player is and every line in order of happening, so that a later prompt extends an earlier
  one; how the seat classifies the statements, who lives and the instruction come after, at the end;
- *shared*: what everybody knows comes first, numbered by itself and in the same words for all seats, so that
  the prompts of all of them begin alike; then what this seat alone knows (S1, S2 …), how it judges, and the
  instruction;
- *dialogue*: one chat a seat, which only grows: what has happened since its reply, and the instruction;
- *recall*: the latest messages and older informative ones, of a player that reflects (003 Fig. 2).

The templates are the files under `prompts/`; what this module adds to them is lists, names and numbers. An
ask's id, seat, phase, round and weights restate the situation or are not for players. No other field of a
question is missing in its prompt, but for the options where candidates replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...rules import Learned
from ..clean import clean, unnumbered
from ..identity import ByIdentity
from ..notes import UNCERTAIN, Belief
from ..questions import Question, Situation, Wording
from .disguise import disguised
from .instructions import instruction
from .rewording import ordered
from .rules_text import rules_text
from .sentences import a_role
from .shared import after_news, judgements, known_to_all, known_to_seat, reply_forms
from .templates import phrases, render_template
from .wording import cited, living_names, numbered, pack_in_words, sheriff_and_pack, without_blank_lines

STYLES: dict[str, str] = {name: phrase.template for name, phrase in phrases("styles", 0).items()}
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
    rules, context, asked = blocks(question)
    chat = [Message("system", rules)]
    for past in question.history:
        chat.append(Message("user", after_news(question.situation, past.lines, past.asked)))
        chat.append(Message("assistant", past.replied))
    chat += [
        Message("user", f"{context}\n\n{asked}" if context else asked),
        *corrected(corrections, ruleset.wording),
    ]
    return tuple(
        message if message.role == "assistant" else Message(message.role, disguised(message.content, ruleset))
        for message in chat
    )


def shared_ends(question: Question, chat: Sequence[Message]) -> tuple[int, ...] | None:
    """Where the parts of the prompt end that other prompts share, in characters of all messages' texts
    joined: the rules, then what everybody knows, or the seat's dialogue so far. None: after the rules alone.
    chat: the question's messages.
    """
    rules = len(chat[0].content)
    if question.layout == "shared":
        common = _once(known_to_all, question.situation)
        return rules, rules + len(disguised(common, question.situation.ruleset))
    if question.layout == "dialogue" and question.history:
        before = chat[: 1 + 2 * len(question.history)]
        return rules, sum(len(message.content) for message in before)
    return None


def corrected(corrections: Sequence[tuple[str, str]], number: int = 0) -> list[Message]:
    """Each failed reply and what was wrong with it, as messages of a chat, in the wording of that number."""
    chat = []
    for reply, reason in corrections:
        chat.append(Message("assistant", reply[:_SHOWN_REPLY].strip() or "(empty)"))
        chat.append(Message("user", render_template("correction", number, reason=clean(reason, 2000))))
    return chat


def blocks(question: Question) -> tuple[str, str, str]:
    """The prompt's three blocks. In the append layout a seat's later context extends its earlier ones,
    as long as none of the earlier lines was pruned.
    """
    now = question.situation
    rules = _rules(question)
    if question.forms:
        rules = f"{rules}\n\n{reply_forms(question)}"
    if question.layout == "dialogue":
        text = after_news(now, question.news, lasting_request(question))
        return rules, "", f"{text}\n\n{_now_append(now, True)}"
    if question.layout == "shared":
        tail = [_once(known_to_seat, now), judgements(question), lasting_request(question)]
        return rules, _once(known_to_all, now), _parts(*tail)
    tail = [
        _beliefs_in_words(now, question.beliefs, question.layout == "append"),
        lasting_request(question),
    ]
    if question.layout == "append":
        context = _once(_context_append, now)
        tail.insert(0, _once(_now_append, now))
    elif question.layout == "recall":
        context = _context_recall(now, question.wording)
    else:
        context = _once(_context_paper, now)
    return rules, context, _parts(*tail)


_CONTEXTS = ByIdentity[str](1 << 9)


def _once(part: Callable[[Situation], str], now: Situation) -> str:
    """A part of a prompt that depends on the situation alone, cached: one seat gets many questions about
    it.
    """
    known = _CONTEXTS.get((part, id(now)))
    return _CONTEXTS.keep((part, id(now)), now, part(now)) if known is None else known


def lasting_request(question: Question) -> str:
    """The part of a prompt that stays in a dialogue: how to play, and the instruction."""
    now = question.situation
    sentence = phrases("sections", now.ruleset.wording)["hide_reasons"].template
    hidden = sentence if question.hide_reasons else ""
    return _parts(_style(now, question.style), hidden, instruction(question))


def _parts(*texts: str) -> str:
    """Texts one below the other; without the empty ones."""
    return "\n\n".join(text for text in texts if text)


def _rules(question: Question) -> str:
    """The rules and hints at strategy, as far as the question has them."""
    ruleset = question.situation.ruleset
    templates = phrases(f"{question.wording}/reflective", ruleset.wording)
    rules = rules_text(ruleset, question.wording)
    text = rules if question.rules else templates["no_rules"].template
    return f"{text}\n\n{templates['tips'].template}" if question.tips else text


# -- context ----------------------------------------------------------------------------------


def _context_paper(now: Situation) -> str:
    templates = phrases("sections", now.ruleset.wording)
    blocks = {
        "facts": now.facts,
        "truths": now.truths,
        "falsehoods": now.falsehoods,
        "pending": now.pending,
    }
    sections = [
        f"{templates[name].template}\n{numbered(now, blocks[name])}"
        for name in ordered(blocks, now.ruleset.wording, "blocks")
        if blocks[name]
    ]
    text = render_template(
        "context_paper",
        now.ruleset.wording,
        alive=living_names(now),
        standing=sheriff_and_pack(now, True),
        blocks="\n".join(sections),
    )
    return without_blank_lines(text)


def _context_append(now: Situation) -> str:
    return render_template(
        "context_append",
        now.ruleset.wording,
        name=now.ruleset.names[now.seat],
        a_role=a_role(now.role),
        pack=pack_in_words(now),
        lines=numbered(now, now.lines),
    )


def _context_recall(now: Situation, wording: Wording) -> str:
    """The context of a reflective player (003 Fig. 2): the latest messages, and older informative ones.

    The wording "paper" has the latest first.
    """
    templates = phrases(f"{wording}/reflective", now.ruleset.wording)
    older = ""
    if now.informative:
        older = f"{templates['informative'].template}\n{numbered(now, now.informative)}"
    latest = [*now.facts, *now.truths, *now.falsehoods, *now.pending]
    recent = f"{templates['recent'].template}\n{numbered(now, latest)}" if latest else ""
    first, second = (recent, older) if wording == "paper" else (older, recent)
    text = render_template(
        "context_recall",
        now.ruleset.wording,
        name=now.ruleset.names[now.seat],
        a_role=a_role(now.role),
        pack=pack_in_words(now),
        alive=living_names(now),
        standing=sheriff_and_pack(now, False),
        first=first,
        second=second,
    )
    return without_blank_lines(text)


def _now_append(now: Situation, with_pack: bool = False) -> str:
    templates, standing = phrases("sections", now.ruleset.wording), sheriff_and_pack(now, with_pack)
    text = render_template("now_append", now.ruleset.wording, alive=living_names(now), standing=standing)
    judges = now.truths or now.falsehoods  # who judges nobody has nothing left to judge
    for name, lines in (("truths", now.truths), ("falsehoods", now.falsehoods), ("pending", now.pending)):
        if judges and (said := [line for line in lines if not line.silent]):
            text += "\n" + templates[f"{name}_append"].substitute(numbers=cited(said))
    if now.gaps:
        text += "\n" + templates["dropped"].template
    return without_blank_lines(text)


# -- beliefs and style ------------------------------------------------------------------------


def _beliefs_in_words(now: Situation, beliefs: tuple[Belief, ...], lasting: bool = True) -> str:
    """A seat's latest deduction, in words by confidence (004 §4.1); empty for none.

    lasting: lines keep the numbers by which they were cited; else reasonings lose these numbers.
    """
    if not beliefs:
        return ""
    numbers = {line.position: line.cited for line in now.lines}
    confirmed = {line.event.target: line.event.what for line in now.facts if isinstance(line.event, Learned)}
    listed = ordered(beliefs, now.ruleset.wording, "player", lambda belief: belief.target)
    return render_template(
        "beliefs",
        now.ruleset.wording,
        beliefs="\n".join(_belief(now, b, numbers, confirmed, lasting) for b in listed),
    )


def _belief(
    now: Situation, belief: Belief, numbers: dict[int, int | str], confirmed: dict[int, str], lasting: bool
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
    """A belief in words, by confidence: " may be a Seer" (004 §4.1)."""
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
    return phrases("styles", now.ruleset.wording)[style].substitute(a_role=a_role(now.role))
