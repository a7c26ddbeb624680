"""A study's pages as HTML: every step is one form that works without a script; errors are shown above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ...lab.studies.people import place_step
from ...lab.studies.quoting import QUOTE
from ...lab.studies.study_plan import StudyPlan, StudyQuestion
from ...record import GameRecord
from ...rules import Ruleset, Said
from ...text.asking.rules_text import rules_for_people
from ..mark import icon_link
from ..web.table_plan import SIGNALS

FORM_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",  # without it a form would send no origin, and be refused
}
"""The policy of these pages: this server's style, and nothing else; and their policy on referrers."""
HALLUCINATIONS = {
    "night": "says that somebody spoke, or was silent, at night",
    "before": "speaks of a statement that nobody has made yet",
    "time": "confuses days, or what came first",
    "identity": "takes a player for another one, or for the wrong role",
    "other": "something else that is not so",
}
"""Kinds of hallucination (002, Table 18), and one for all others."""
CODE_FORM = (
    '<form method="post" action="code"><button type="submit">Give me a withdrawal code</button> '
    "<small>You alone have it. With it, all that you have typed can be erased.</small></form>"
)
_PLACE = "A limited number of people is wanted. A place is yours once you have"
_PLACES = {
    "about": "answered the questions about you.",
    "rules": "read the rules.",
    "quiz": "answered the questions on the rules.",
    "training": "played the training game.",
}
TEXT_LIMIT = 2000
"""The most characters of an answer in words."""
REPORT_FORM = (
    '<form method="post" action="report"><label>What is wrong? '
    f'<textarea name="text" rows="3" maxlength="{TEXT_LIMIT}" required></textarea></label> '
    '<button type="submit">Report it</button></form>'
)


def study_page(study: StudyPlan, body: str, wrong: str = "", foot: str = "") -> str:
    """A complete page. body: HTML. wrong: a sentence on an error. foot: HTML at the bottom."""
    title = escape(study.title)
    notice = f'<p class="notice" role="alert">{escape(wrong)}</p>' if wrong else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title>{icon_link()}"
        '<link rel="stylesheet" href="../static/style.css">'
        '<link rel="stylesheet" href="../static/study.css"></head>\n'
        f'<body><main class="study"><h1>{title}</h1>{notice}{body}</main>{foot}</body></html>\n'
    )


def step_form(step: str, inner: str, button: str, action: str = "now") -> str:
    """A form that sends a step."""
    return (
        f'<form method="post" action="{action}"><input type="hidden" name="step" value="{escape(step)}">'
        f'{inner}<p><button type="submit" class="main">{escape(button)}</button></p></form>'
    )


def questions_body(
    title: str, step: str, questions: Sequence[StudyQuestion], given: Mapping[str, str]
) -> str:
    """A page of questions."""
    return f"<h2>{escape(title)}</h2>" + step_form(step, questions_inner(questions, given), "Go on")


def table_body(step: str, title: str, words: str = "") -> str:
    """A page before a game. words: about the game."""
    told = f"<p>{escape(words)}</p>" if words else ""
    return step_form(step, f"<h2>{escape(title)}</h2>{told}", "To the table", "table")


def paragraphs(text: str) -> str:
    """Text as HTML; a blank line begins another paragraph."""
    return "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n") if part.strip())


def foot(person: bool) -> str:
    """The links at the foot of every page. person: whether the visitor takes part."""
    if not person:
        return '<footer class="study-foot"><a href="withdraw">Withdraw with my code</a></footer>'
    return (
        '<footer class="study-foot"><details><summary>Stop, withdraw, or report something</summary>'
        f"{CODE_FORM}"
        f"{REPORT_FORM}"
        '<form method="post" action="stop"><button type="submit">Stop here</button> '
        "<small>You need give no reason. What you have done so far is kept, unless you withdraw.</small>"
        '</form><a href="withdraw">Withdraw with my code</a></details></footer>'
    )


def consent_body(study: StudyPlan) -> str:
    """The page of the informed consent."""
    told = study.consent
    if study.blind is None:
        agents, sent = "The other players are computer programs.", _sent(study)
    else:
        agents = "Who the other players are is told at the end of the study."
        sent = "Who it is sent to is told at the end of the study, too."
    rows = [
        ("Who runs this study", told.responsible),
        ("What it is about", told.purpose),
        ("What it takes", told.takes),
        ("The other players", agents),
        ("Who receives what you type", sent),
        ("Who reads it", told.readers),
        ("Where it is kept, and for how long", told.kept),
        ("Until when you can have it erased", told.erasable_until),
        *([("What is kept of how you type", SIGNALS)] if study.signals else []),
        *([("Your place", f"{_PLACE} {place}")] if (place := _PLACES.get(place_step(study))) else []),
        ("Please note", told.warning),
    ]
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in rows)
    free = (
        "You take part of your own will. You can stop at any time, without a reason. At the bottom of every "
        "page you can stop, report something, and get a code with which all that you have typed is erased."
    )
    agree = (
        '<label class="check"><input type="checkbox" name="agree" value="yes" required> I have read this, '
        "I am of age, and I agree to take part.</label>"
        f'<label class="check"><input type="checkbox" name="{QUOTE}" value="yes"> What I write in the games '
        "may be quoted, without my name. (You can take part without this.)</label>"
    )
    return f"<h2>Before you begin</h2><dl>{facts}</dl><p>{free}</p>" + step_form("consent", agree, "Begin")


def debrief_words(study: StudyPlan) -> str:
    """The debriefing for people who are through or have stopped, as HTML."""
    told = "The other players were computer programs in all games."
    if study.blind is not None:
        told += (
            " You were not told so before, because that could have changed how you play. This was allowed: "
            f"{study.blind.approval}. {_sent(study)}"
        )
    return f"<p>{escape(told)}</p>{paragraphs(study.debrief)}<p>{escape(study.consent.responsible)}</p>"


def _sent(study: StudyPlan) -> str:
    receivers = study.receivers()
    if receivers:
        return f"What you type in a game is sent to: {', '.join(receivers)}."
    return "What you type stays on the machine that runs this study: its players run there, too."


def rules_body(rules: Ruleset, step: str) -> str:
    """The page with the rules."""
    return "<h2>The rules</h2>" + step_form(step, rules_words(rules), "I have read the rules")


def rules_words(rules: Ruleset) -> str:
    """The rules as HTML."""
    return paragraphs(rules_for_people(rules))


def questions_inner(questions: Sequence[StudyQuestion], given: Mapping[str, str]) -> str:
    """Questions of a form, as HTML. given: earlier answers by field."""
    parts = []
    for number, question in enumerate(questions):
        field = f"q{number}"
        need = " required" if question.required else ""
        if not question.answers:
            parts.append(
                f'<label>{escape(question.ask)}<textarea name="{field}" rows="3" '
                f'maxlength="{TEXT_LIMIT}"{need}>'
                f"{escape(given.get(field, ''))}</textarea></label>"
            )
            continue
        ends = (
            f" <small>({escape(question.ends[0])} … {escape(question.ends[-1])})</small>"
            if question.ends
            else ""
        )
        options = "".join(
            f'<label class="check"><input type="radio" name="{field}" value="{escape(one)}"{need}'
            f"{' checked' if given.get(field) == one else ''}> {escape(one)}</label>"
            for one in question.answers
        )
        scale = ' class="scale"' if question.scale else ""
        parts.append(f"<fieldset{scale}><legend>{escape(question.ask)}{ends}</legend>{options}</fieldset>")
    return "".join(parts)


def answers_given(questions: Sequence[StudyQuestion], given: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The answers by question, and a sentence if one is missing or invalid."""
    found: dict[str, str] = {}
    for number, question in enumerate(questions):
        said = given.get(f"q{number}", "").strip()[:TEXT_LIMIT]
        if question.required and not said:
            return found, f"Please answer: {question.ask}"
        if said and question.answers and said not in question.answers:
            return found, f"“{said[:60]}” is none of the answers to: {question.ask}"
        if said:
            found[question.ask] = said
    return found, ""


def flags_inner(record: GameRecord, seat: int, given: Mapping[str, str]) -> str:
    """The others' statements in a game, to be marked if untrue (002, Table 18), as HTML."""
    rows = []
    for at, event in statements_of(record, seat):
        options = "".join(
            f'<option value="{kind}"{" selected" if given.get(f"flag{at}") == kind else ""}>'
            f"{escape(words)}</option>"
            for kind, words in HALLUCINATIONS.items()
        )
        rows.append(
            f"<li><b>{escape(record.ruleset.names[event.seat])}</b> <bdi>{escape(event.text)}</bdi> "
            f'<label><span class="unseen">Mark it</span><select name="flag{at}">'
            f'<option value="">nothing wrong</option>{options}</select></label></li>'
        )
    if not rows:
        return ""
    return (
        "<h3>Was anything said that cannot be so?</h3>"
        "<p>A lie is part of the game. Mark what makes no sense.</p>"
        f'<ol class="said">{"".join(rows)}</ol>'
    )


def read_flags(record: GameRecord, seat: int, given: Mapping[str, str]) -> dict[str, str]:
    """The marked statements: place in the record → kind."""
    return {
        f"flag/{at}": kind
        for at, _ in statements_of(record, seat)
        if (kind := given.get(f"flag{at}", "")) in HALLUCINATIONS
    }


def statements_of(record: GameRecord, seat: int) -> list[tuple[int, Said]]:
    """The others' statements, with their places in the record."""
    return [
        (at, event)
        for at, event in enumerate(record.events)
        if isinstance(event, Said) and event.seat != seat and event.text
    ]
