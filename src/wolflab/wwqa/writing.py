"""Prompts for models that write, revise and answer questions on the rules, and the reading of their replies.
The prompts are the text files under `prompts/`. Their examples were written by people (002 §8, first phase);
none is from the released data, and tests prove them. Reading is tolerant and never raises; `generating`
decides whether to ask again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import msgspec

from ..models.base import Chat
from ..rules import Ruleset
from ..text.asking.disguise import disguised
from ..text.clean import clean
from ..text.replies.parse import answer_objects
from ..text.replies.parsed import Problem, field_of, object_schema, several, text_of, text_schema
from .asking import rules_in_words
from .items import NO, YES, Category, Form, Item, rules_as_plain, rules_fit

T = TypeVar("T")
QUESTION, ANSWER = 600, 1000
"""Characters of a question and of an answer; longer ones are cut."""
POOL = 5
"""Examples of each pool (002 §8)."""
_FOLDER = Path(__file__).with_name("prompts")
_VERDICTS = "keep", "drop"
_IN_WORDS = re.compile(r"(?:.*[.!?]\s)?(?:what|which|who|whom|whose|how|why)\b[^.!?]*\?", re.IGNORECASE)
"""The beginning of a question that Yes and No do not answer."""
_RUN = 6
"""A text that repeats this many words of our instructions in a row is not a question."""
_TO_FILL = "a question", "your answer"
"""The prompts' placeholders for a reply's own words."""
_LEAD = re.compile(
    r"\A[\s\-*•·]*+(?:(?:question|q)?\s*+\(?\d{1,2}[.):]\s*+)?(?:question\s*+:\s*+)?", re.IGNORECASE
)
"""A prefix of questions in a list: a bullet, a number."""


@cache
def _prompt(name: str) -> Template:
    return Template((_FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip())


@cache
def _words() -> dict[str, str]:
    lines = (line.partition(": ") for line in _prompt("words").template.splitlines())
    return {key: words for key, _, words in lines}


def prompt_hashes() -> dict[str, str]:
    """Each prompt's file with 16 hex digits of its hash; the examples' file too."""
    files = [*sorted(_FOLDER.glob("*.txt")), Path(__file__).with_name("examples.yaml")]
    return {file.name: blake2b(file.read_bytes(), digest_size=8).hexdigest() for file in files}


@cache
def _instructions() -> frozenset[str]:
    """All runs of `_RUN` words in the prompts, without filled-in text."""
    texts = [file.read_text(encoding="utf-8") for file in _FOLDER.glob("*.txt")]
    return frozenset(run for text in texts for part in re.split(r"\$\w+", text) for run in _runs(part))


def _runs(text: str) -> Iterator[str]:
    words = re.findall(r"\w+", text.casefold())
    return (" ".join(words[k : k + _RUN]) for k in range(len(words) - _RUN + 1))


# -- examples ---------------------------------------------------------------------------------


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `examples.yaml`, which explains its fields."""

    id: str
    category: Category
    form: Form
    question: str
    answer: str
    when: dict[str, Any] = {}
    roles: list[str] = []
    without: list[str] = []

    def fits(self, ruleset: Ruleset) -> bool:
        """Whether it is about these rules."""
        return (
            rules_fit(ruleset, self.when)
            and all(ruleset.count(role) >= self.roles.count(role) for role in self.roles)
            and not any(ruleset.count(role) for role in self.without)
        )


@cache
def _written() -> tuple[_Written, ...]:
    data = Path(__file__).with_name("examples.yaml").read_bytes()
    return msgspec.yaml.decode(data, type=tuple[_Written, ...])


def examples_of(ruleset: Ruleset, category: Category, form: Form, most: int = POOL) -> tuple[Item, ...]:
    """The first examples that fit the rules, in their own names. `kind` is the entry's id."""
    chosen = [e for e in _written() if (e.category, e.form) == (category, form) and e.fits(ruleset)]
    names = {f"p{number}": name for number, name in enumerate(ruleset.names, 1)}
    return tuple(_item(entry, ruleset, names) for entry in chosen[:most])


def _item(entry: _Written, ruleset: Ruleset, names: Mapping[str, str]) -> Item:
    question, answer = (
        disguised(Template(text).substitute(names), ruleset) for text in (entry.question, entry.answer)
    )
    return Item(
        question=question,
        answer=answer,
        form=entry.form,
        category=entry.category,
        kind=entry.id,
        rules=rules_as_plain(ruleset),
    )


# -- asking -----------------------------------------------------------------------------------


def _chat(name: str, ruleset: Ruleset, schema: dict[str, Any], **values: object) -> Chat:
    text = _prompt(name).substitute(rules=rules_in_words(ruleset), **values)
    return Chat((("user", text),), schema)


def _fields(texts: Sequence[str]) -> tuple[dict[str, Any], str]:
    """An object with a field for each question, as schema and in words. (Small models leave a list empty.)"""
    named = {f"question_{number}": text for number, text in enumerate(texts, 1)}
    told = ",\n".join(f'"{name}": "{text}"' for name, text in named.items())
    return object_schema(dict.fromkeys(named, text_schema())), told


def writing_request(
    ruleset: Ruleset, category: Category, form: Form, examples: Sequence[Item], count: int
) -> Chat:
    """The request for `count` new questions like the examples."""
    told = "\n".join(example.question for example in examples)
    schema, fields = _fields([_TO_FILL[0]] * count)
    values = _kind(category, form) | {"examples": told, "count": count, "fields": fields}
    return _chat("write_questions", ruleset, schema, **values)


def revision_request(ruleset: Ruleset, category: Category, form: Form, questions: Sequence[str]) -> Chat:
    """The request to review what was written and to correct it."""
    schema, fields = _fields(questions)
    return _chat("revise_questions", ruleset, schema, **_kind(category, form), fields=fields)


def _kind(category: Category, form: Form) -> dict[str, object]:
    return {"category": _words()[category], "form": _words()[form]}


def answer_request(ruleset: Ruleset, item: Item, examples: Sequence[Item]) -> Chat:
    """The request for the answer to a question. examples: with their answers."""
    told = "\n".join(f"Question: {example.question}\nAnswer: {example.answer}" for example in examples)
    schema = object_schema({"answer": _answer_schema(item.form)})
    form = _words()[f"answer_{item.form}"]
    return _chat("answer", ruleset, schema, examples=told, form=form, question=item.question)


def correction_request(ruleset: Ruleset, item: Item, answer: str) -> Chat:
    """The request to review an answer, and to correct it or drop the question."""
    schema = object_schema({"verdict": text_schema(*_VERDICTS), "answer": _answer_schema(item.form)})
    form = _words()[f"answer_{item.form}"]
    return _chat("revise_answer", ruleset, schema, question=item.question, answer=answer, form=form)


def _answer_schema(form: Form) -> dict[str, Any]:
    return text_schema(YES, NO) if form == "yes_no" else text_schema()


# -- reading ----------------------------------------------------------------------------------


def read_written(text: str, form: Form, most: int, may_drop: bool = False) -> tuple[str, ...] | Problem:
    """The questions, each once: texts of three words or more that end with a question mark and do not repeat
    the instructions. form: for yes-or-no questions, those with "what", "who", "how" … are left out. may_drop:
    whether an empty list is allowed, if the reply says "drop" to all.
    """
    objects = answer_objects(text)
    if isinstance(objects, Problem):
        return objects
    named = [reply.get("questions") for reply in objects]
    lists = [
        one if isinstance(one, list) else list(reply.values())
        for one, reply in zip(named, objects, strict=True)
    ]
    if any(len(entries) > 1 for entries in lists):  # otherwise there is one for each question
        return _agreed([_questions(entries, form, most, may_drop) for entries in lists])
    return _questions([entry for entries in lists for entry in entries], form, most, may_drop)


def _agreed(read: Sequence[T | Problem]) -> T | Problem:
    """The content of a reply's objects, if all readable ones agree."""
    found = [one for one in read if not isinstance(one, Problem)]
    if not found:
        return read[0]
    return found[-1] if all(one == found[-1] for one in found) else several()


def _questions(entries: Sequence[Any], form: Form, most: int, may_drop: bool) -> tuple[str, ...] | Problem:
    asked = [question for entry in entries if (question := _question(entry))]
    own = [question for question in asked if _instructions().isdisjoint(_runs(question))]
    fitting = [question for question in own if form != "yes_no" or not _IN_WORDS.fullmatch(question)]
    questions = tuple(dict.fromkeys(fitting))
    dropped = [entry for entry in entries if text_of(entry).strip(" .").casefold() == "drop"]
    if questions or (may_drop and dropped):
        return questions[:most]
    if asked and not own:
        return Problem("the reply repeats the instructions; write questions on the rules")
    if asked:
        return Problem("no question in the reply can be answered with Yes or No")
    return Problem("no text in the reply is a question; each ends with a question mark")


def _question(entry: object) -> str:
    if isinstance(entry, dict):
        entry = field_of(entry, ("question", "text"))
    text = clean(_LEAD.sub("", text_of(entry)), QUESTION)
    return text if text.endswith("?") and len(text.split()) >= 3 else ""


def written_answer(text: str, form: Form) -> str | Problem:
    """The answer: Yes or No, or one line of words."""
    objects = answer_objects(text)
    return objects if isinstance(objects, Problem) else _agreed([_answer(reply, form) for reply in objects])


def _answer(reply: dict[str, Any], form: Form) -> str | Problem:
    said = clean(text_of(field_of(reply, ("answer", "response", "text"))), ANSWER)
    if form == "yes_no":
        found = re.match(r"\W*(yes|no)\b", said, re.IGNORECASE)
        return found[1].capitalize() if found else Problem('the "answer" is neither Yes nor No')
    if not any(char.isalnum() for char in said) or said == _TO_FILL[1]:
        return Problem('the "answer" is empty')
    return said


def read_corrected(text: str, form: Form) -> str | Problem:
    """The corrected answer; "" if the question is to be dropped."""

    def corrected(reply: dict[str, Any]) -> str | Problem:
        verdict = text_of(field_of(reply, ("verdict", "decision"))).casefold()
        if verdict not in _VERDICTS:
            return Problem('the "verdict" is neither keep nor drop')
        return "" if verdict == "drop" else _answer(reply, form)

    objects = answer_objects(text)
    return objects if isinstance(objects, Problem) else _agreed(list(map(corrected, objects)))
