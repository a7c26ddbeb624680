"""Questions written by people: the pools of examples that a model is shown (002 §8, first phase).

None is of the released data. Each says of which rules it is true, and the tests prove it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from ..rules import Ruleset
from ..text.asking.disguise import disguised
from .items import Category, Form, Item, fits, rules_as_plain

POOL = 5
"""Examples of each pool (002 §8)."""


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the file, which tells what its fields mean."""

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
            fits(ruleset, self.when)
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
