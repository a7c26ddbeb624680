"""A prompt that begins alike for all seats with one recipe, so that a server reads most of it from its cache.

Rules and the forms of the player's replies come first, then what everybody knows, with its own numbers and
from nobody's point of view. What follows differs: what this seat alone knows (S1, S2 …), how it judges, and
the request. A judgement is one line, with its reasoning where an action depends on it, and without where the
player is judged again. The dialogue uses the forms, and the requests that name them, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...rules import Learned
from ..clean import clean
from ..notes import Belief
from ..questions import Deduce, Line, Question, ReplyForm, Situation, guessable
from .acting import fields_in_words, guesses_in_words, skeleton
from .rewording import ordered
from .sentences import a_role, capitalised, sentence, when
from .templates import phrases
from .wording import cited, living_names, numbered, pack_in_words, sheriff_and_pack

_NONE = "(nothing)"


def reply_forms(question: Question) -> str:
    """The forms that the player's requests name: the content of each field, then an empty form."""
    listed = phrases("forms", question.situation.ruleset.wording)
    forms = (f"{listed[form].template}\n{_reply_form(question, form)}" for form in question.forms)
    return "\n\n".join((listed["intro"].template, *forms))


def _reply_form(question: Question, form: ReplyForm) -> str:
    rules = question.situation.ruleset
    own, shared = phrases("own/phrases", rules.wording), phrases("shared", rules.wording)
    why = {"reasoning": own["reply_reasoning"].template}
    match form:
        case "candidates":
            return '{"candidates": [{...}, {...}]}'
        case "judgement":
            guesses = ", ".join(guesses_in_words(guessable(rules), rules))
            fields = {
                name: own[f"field_{name}"].safe_substitute(guesses=guesses)
                for name in ("role", "reasoning", "confidence", "evidence")
            }
            if question.layout == "shared":
                fields["evidence"] += ', such as [3, "S2"]'
            # Wording 0 has this name under all rules; what was asked before must stay what it was.
            name = rules.names[0] if rules.wording else "player_1"
            return f'{fields_in_words("own", fields)}\n{{"{name}": {skeleton(fields)}, ...}}'
        case "statement":
            fields, close = why | {"statement": own["reply_statement"].template}, f"\n{own['heard'].template}"
        case "action" | "choice":
            fields, close = why | {form: shared[f"reply_{form}"].template}, ""
    return f"{fields_in_words('own', fields)}\n{skeleton(fields)}{close}"


def after_news(now: Situation, lines: Sequence[Line], asked: str) -> str:
    """A request of a dialogue, with what happened since the previous one before it."""
    if not lines:
        return asked
    return f"{phrases('shared', now.ruleset.wording)['news'].template}\n{numbered(now, lines)}\n\n{asked}"


def known_to_all(now: Situation) -> str:
    """The public knowledge: the same for every seat that is asked at this time."""
    templates = phrases("shared", now.ruleset.wording)
    parts = (templates["public"].template, _under_headings(now))
    matters = templates["standing"].substitute(alive=living_names(now))
    return "\n".join(part for part in (*parts, matters, sheriff_and_pack(now, False)) if part)


def _under_headings(now: Situation) -> str:
    """The lines that everybody knows, each time of the game under a heading of its own."""
    text, time = [], ""
    for line in now.lines:
        if line.number > 0:
            if (begun := when(line.round, line.phase)) != time:
                time = begun
                text.append(f"{time[:1].upper()}{time[1:]}:")
            words = capitalised(sentence(line.event, None, now.ruleset), now.ruleset)
            text.append(f"[{line.cited}] {words}")
    return "\n".join(text) or _NONE


def known_to_seat(now: Situation) -> str:
    """The seat's identity, its private knowledge, and its classification of the others' statements."""
    number = now.ruleset.wording
    templates, of_statements = phrases("shared", number), phrases("sections", number)
    text = [f"You are {now.ruleset.names[now.seat]}, {a_role(now.role)}.{pack_in_words(now)}"]
    lines = numbered(now, [line for line in now.lines if line.number < 0])
    text += [templates["private"].template, lines or _NONE]
    for name, statements in (("truths", now.truths), ("falsehoods", now.falsehoods)):
        if said := [line for line in statements if not line.silent]:
            text.append(of_statements[f"{name}_append"].substitute(numbers=cited(said)))
    return "\n".join(text)


def judgements(question: Question) -> str:
    """The seat's latest judgements, one short line each; empty for none."""
    now, task = question.situation, question.task
    if not question.beliefs:
        return ""
    reasoned = not isinstance(task, Deduce)
    number = now.ruleset.wording
    beliefs = ordered(question.beliefs, number, "player", lambda belief: belief.target)
    lines = [_judgement(now, belief, reasoned) for belief in beliefs]
    return "\n".join((phrases("shared", number)["judged"].template, *lines))


def _judgement(now: Situation, belief: Belief, reasoned: bool) -> str:
    looks = [line.event for line in now.facts if isinstance(line.event, Learned)]
    checked = [look.what for look in looks if look.target == belief.target]
    text = f"{now.ruleset.names[belief.target]}: "
    if checked:
        text += f"{checked[-1]}, which is certain"
        if belief.role == checked[-1]:
            return text
        text += "; "
    text += belief.role
    if belief.confidence:
        text += f", sure {belief.confidence}, believed {belief.reliability}"
    known = [line for line in now.lines if line.position in belief.evidence]
    if known:
        text += f", from {cited(known)}"
    return f'{text}: "{clean(belief.reasoning)}"' if reasoned and belief.reasoning else text
