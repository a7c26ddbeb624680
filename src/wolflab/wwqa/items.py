"""One question with its proved answer, and a file of them: a JSON line an item.

*Kind* is what is asked, *wording* is how, *situation* is about which state of a game. Items that people or
models wrote have a question and an answer, and perhaps nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..fields import from_plain
from ..files import write
from ..rules import PRESETS, Ruleset, preset
from .reply_parser import LETTERS

Form = Literal["yes_no", "choice", "open"]
Category = Literal["rule", "situation", "general"]
"""002 §8: about the rules themselves, or about a situation of a game. "general": not about the game at all
(`general`), so that no rules are ever put in front.
"""
GENERAL: Category = "general"

Split = Literal["train", "validation", "situations", "wordings", "kinds", "ruleset"]
"""What an item is for. The last four are test sets, each named after what training has none of."""

AnswerType = Literal["player", "players", "order", "number", "side", "role", "text", "words", "exact", "json"]
"""What the answer to an open question is. "players": a set; "order": a list whose order counts; "words": some
words in order; "exact": the same, and the reply is to be nothing else, capital letters counted; "json": an
object that the reply is to be.
"""

YES, NO, NOBODY = "Yes", "No", "nobody"


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question and its answer.

    question: everything that is told and asked, the options and the rules' text left out. answer: "Yes" or
    "No"; one of `choices`; or the open answer in words ("player_3", "player_1, player_4", "nobody", "3").
    rules: the preset's name, or the switches that do not stand at their defaults; "" where it is unknown.
    situation: an id that items about one situation share; pair: one that a Yes and a No in equal words share.
    facts, asked: what the question tells and asks, as data (see `situations.GameSituation`), seats from 0.
    value: the answer as data. derivation: how the engine came to it, a sentence a step.
    difficulty: how many facts of the text change the answer when changed alone.
    """

    question: str
    answer: str
    form: Form = "yes_no"
    choices: tuple[str, ...] = ()
    answer_type: AnswerType = "text"
    category: Category | Literal[""] = ""
    kind: str = ""
    wording: str = ""
    split: Split | Literal[""] = ""
    rules: str | dict[str, Any] = ""
    situation: str = ""
    pair: str = ""
    difficulty: int | None = None
    facts: dict[str, Any] | None = None
    asked: dict[str, Any] | None = None
    value: Any = None
    derivation: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """16 hex digits of what is asked: rules, question and choices."""
        asked = msgspec.json.encode((self.rules, self.question, self.choices))
        return blake2b(asked, digest_size=8).hexdigest()

    @property
    def cluster(self) -> str:
        """What its answer hangs together with: its situation, or its kind, or itself.

        Of general ability it is the pair or itself: its kinds are a fixed list, and no draw from many.
        """
        if self.category == GENERAL:
            return self.pair or self.id
        return self.situation or self.kind or self.id

    @property
    def options(self) -> tuple[str, ...]:
        """The choices, each with its letter."""
        return tuple(f"{letter}) {choice}" for letter, choice in zip(LETTERS, self.choices, strict=False))

    @property
    def right_reply(self) -> str:
        """What a model would say that answers right, in the form that it is told to; "" where nothing is."""
        if self.form != "choice":
            return self.answer
        lettered = zip(LETTERS, self.choices, strict=False)
        return next((letter for letter, choice in lettered if choice == self.answer), "")

    @property
    def says_yes(self) -> bool | None:
        """Whether the answer says yes; None for one that begins with neither yes nor no."""
        first = re.match(r"\W*(yes|no)\b", self.answer, re.IGNORECASE)
        return None if first is None or self.form == "choice" else first[1].casefold() == YES.casefold()

    @property
    def ruleset(self) -> Ruleset | None:
        """The rules that it is about; None where they are unknown."""
        return None if not self.rules else _ruleset(msgspec.json.encode(self.rules))


@lru_cache(1024)
def _ruleset(rules: bytes) -> Ruleset:
    plain = msgspec.json.decode(rules)
    return preset(plain) if isinstance(plain, str) else from_plain(Ruleset, plain)


def rules_fit(ruleset: Ruleset, when: Mapping[str, Any]) -> bool:
    """Whether each of these fields of the rules has its value, or one of its values."""
    values = ((getattr(ruleset, name), value) for name, value in when.items())
    return all(found in value if isinstance(value, list) else found == value for found, value in values)


def rules_as_plain(ruleset: Ruleset) -> str | dict[str, Any]:
    """A ruleset as an item holds it."""
    return ruleset.name if PRESETS.get(ruleset.name) == ruleset else ruleset.stated()


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write a file of items, a JSON line each; its `id` comes first."""
    lines = ({"id": item.id, **msgspec.to_builtins(item)} for item in items)
    write(path, msgspec.json.Encoder().encode_lines(lines))
