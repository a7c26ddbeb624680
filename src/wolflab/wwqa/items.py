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
"""002 §8: about the rules themselves, or about a situation of a game. "general": not about the game
(`general`), so that no rules are put in front.
"""
GENERAL: Category = "general"

Split = Literal["train", "validation", "situations", "wordings", "kinds", "ruleset"]
"""The split of an item. The last four are test sets, named after what training does not have."""

AnswerType = Literal["player", "players", "order", "number", "side", "role", "text", "words", "exact", "json"]
"""The type of an open answer. "players": a set; "order": a list whose order counts; "words": some words in
order; "exact": the same, and the reply must be nothing else, with the same capital letters; "json": an
object.
"""

YES, NO, NOBODY = "Yes", "No", "nobody"


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question and its answer.

    question: the text without the options and the rules. answer: "Yes" or "No"; one of `choices`; or the open
    answer in words ("player_3", "player_1, player_4", "nobody", "3"). rules: `{preset: …}`, or the switches
    that differ from the defaults; "" if unknown. A preset's name alone, as in older files, means its rules
    with the last round and the stand-ins told. situation: an id shared by items about one situation; pair:
    one shared by a Yes and a No in equal words. facts, asked: the situation and the question
    as data (see `situations.GameSituation`), seats from 0. value: the answer as data. derivation: of the
    answer, a sentence for each step. difficulty: the number of told facts that change the answer when changed
    alone.
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
        """A hash of rules, question and choices, 16 hex digits."""
        asked = msgspec.json.encode((self.rules, self.question, self.choices))
        return blake2b(asked, digest_size=8).hexdigest()

    @property
    def cluster(self) -> str:
        """The cluster for intervals: its situation, or its kind, or itself. For general ability the pair or
        itself, since its kinds are a fixed list, not a sample.
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
        """The right reply in the requested form; "" without an answer."""
        if self.form != "choice":
            return self.answer
        lettered = zip(LETTERS, self.choices, strict=False)
        return next((letter for letter, choice in lettered if choice == self.answer), "")

    @property
    def says_yes(self) -> bool | None:
        """Whether the answer is yes; None if it begins with neither yes nor no."""
        first = re.match(r"\W*(yes|no)\b", self.answer, re.IGNORECASE)
        return None if first is None or self.form == "choice" else first[1].casefold() == YES.casefold()

    @property
    def ruleset(self) -> Ruleset | None:
        """The rules that it is about; None if unknown."""
        return None if not self.rules else _ruleset(msgspec.json.encode(self.rules))


@lru_cache(1024)
def _ruleset(rules: bytes) -> Ruleset:
    plain = msgspec.json.decode(rules)
    if isinstance(plain, str):
        return preset(plain).with_(tell_horizon=True, tell_stand_in=True)
    if "preset" in plain:
        plain = {**preset(plain.pop("preset")).as_dict(), **plain}
    return from_plain(Ruleset, plain)


def rules_fit(ruleset: Ruleset, when: Mapping[str, Any]) -> bool:
    """Whether each of these fields of the rules has the given value, or one of the given values."""
    values = ((getattr(ruleset, name), value) for name, value in when.items())
    return all(found in value if isinstance(value, list) else found == value for found, value in values)


def rules_as_plain(ruleset: Ruleset) -> str | dict[str, Any]:
    """A ruleset as an item stores it."""
    return {"preset": ruleset.name} if PRESETS.get(ruleset.name) == ruleset else ruleset.stated()


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write a file of items, a JSON line each; its `id` comes first."""
    lines = ({"id": item.id, **msgspec.to_builtins(item)} for item in items)
    write(path, msgspec.json.Encoder().encode_lines(lines))
