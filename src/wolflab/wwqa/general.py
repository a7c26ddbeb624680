"""Questions of general ability: counting, comparing, copying, answering in a form. They are not about the
game, and show whether a trained model has lost abilities. Every answer is computed. Yes-or-no questions come
in pairs in the same words, or about words of the same list, so that no word predicts the answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..errors import WolflabError
from .items import GENERAL, NO, YES, AnswerType, Form, Item

MOST = 2000
"""The most questions of one file. A kind has a few hundred different ones, so that there are always more to
draw.
"""

_DATA = msgspec.yaml.decode(Path(__file__).with_name("general.yaml").read_bytes())
_WORDS: list[str] = _DATA["vocabulary"].split()
_PLACES = ("first", "second", "third", "fourth")
_NAMES = ("Anna", "Ben", "Clara", "David", "Emma", "Frank", "Grace", "Henry")
_THINGS = ("book", "key", "ball", "cup", "coat", "ring")
_COLOURS = ("red", "green", "blue", "yellow", "black", "white")
_VALUES = {
    "colour": (*_COLOURS, "silver", "brown", "grey", "pink", "purple", "gold"),
    "animal": ("donkey", "eagle", "goat", "horse", "lion", "monkey", "parrot", "rabbit", "tiger", "zebra"),
    "fruit": ("apple", "banana", "cherry", "grape", "lemon", "melon", "orange", "peach", "pear", "plum"),
}


class _Asked(NamedTuple):
    """A question before it has words. others: wrong options of a choice."""

    made_of: dict[str, object]
    answer: str
    others: Sequence[str] = ()


@dataclass(frozen=True)
class GeneralKind:
    """One kind. about: its description. frames: wordings of the question, used in turn. draw: draws one
    question; for form yes_no a pair of Yes and No.
    """

    name: str
    draw: Callable[[random.Random], tuple[_Asked, ...]]
    about: str
    frames: tuple[str, ...]
    form: Form = "yes_no"
    answer_type: AnswerType = "text"

    def items(self, rng: random.Random, number: int) -> list[Item]:
        """One question, or a pair. number: of questions that the kind has already. It determines the place of
        the right option, independently of the frame.
        """
        turn = number // (2 if self.form == "yes_no" else 1)
        items = []
        for asked in self.draw(rng):
            choices = rng.sample(asked.others, len(asked.others))
            if choices:
                choices.insert((turn + turn // 3) % (len(choices) + 1), asked.answer)
            items.append(
                Item(
                    question=self.frames[turn % len(self.frames)].format(**asked.made_of),
                    answer=asked.answer,
                    form=self.form,
                    choices=tuple(choices),
                    answer_type=self.answer_type,
                    category=GENERAL,
                    kind=self.name,
                )
            )
        if len(items) > 1:
            return [msgspec.structs.replace(item, pair=items[0].id[:12]) for item in items]
        return items

    @property
    def example(self) -> str:
        """One question of it."""
        return self.items(random.Random(0), 0)[0].question


def general_items(n: int, seed: int) -> tuple[Item, ...]:
    """`n` items, evenly over kinds; the same seed gives the same items. If an odd number is left, the last is
    not a yes-or-no question. WolflabError for a number out of range.
    """
    if not 1 <= n <= MOST:
        raise WolflabError(f"--n: got {n}; ask for 1 to {MOST:,} questions")
    made: dict[str, Item] = {}
    counts = dict.fromkeys(GENERAL_KINDS, 0)
    draws = {name: random.Random(f"general/{seed}/{name}") for name in GENERAL_KINDS}
    while len(made) < n:
        room = n - len(made)
        fit = [name for name, kind in GENERAL_KINDS.items() if room > 1 or kind.form != "yes_no"]
        name = min(fit, key=counts.__getitem__)
        group = GENERAL_KINDS[name].items(draws[name], counts[name])
        if not any(item.id in made for item in group):
            made |= {item.id: item for item in group}
            counts[name] += len(group)
    items = list(made.values())
    random.Random(f"general/{seed}").shuffle(items)
    return tuple(items)


# -- what questions are made of ---------------------------------------------------------------


def _list(rng: random.Random, least: int, most: int) -> list[str]:
    return rng.sample(_WORDS, rng.randint(least, most))


def _asked(answer: object, **made_of: object) -> tuple[_Asked, ...]:
    return (_Asked(made_of, str(answer)),)


def _in_order(first: object, second: object, **made_of: object) -> tuple[_Asked, ...]:
    """A pair: "first" before "second" is a Yes, and the other way round a No."""
    return (
        _Asked({"x": first, "y": second, **made_of}, YES),
        _Asked({"x": second, "y": first, **made_of}, NO),
    )


# -- counting ---------------------------------------------------------------------------------


def _count_letters(rng: random.Random) -> tuple[_Asked, ...]:
    word = rng.choice(_WORDS)
    return _asked(len(word), word=word)


def _count_one_letter(rng: random.Random) -> tuple[_Asked, ...]:
    word = rng.choice(_WORDS)
    letter = rng.choice(sorted(set(word)))
    return _asked(word.count(letter), letter=letter, word=word)


def _count_words(rng: random.Random) -> tuple[_Asked, ...]:
    words = _list(rng, 2, 6)
    return _asked(len(words), line=" ".join(words), list=", ".join(words))


def _more_letters(rng: random.Random) -> tuple[_Asked, ...]:
    most = rng.randint(4, 6)
    long = rng.choice([word for word in _WORDS if len(word) > most])
    short = rng.choice([word for word in _WORDS if len(word) <= most])
    return _in_order(long, short, most=most)


# -- comparing --------------------------------------------------------------------------------


def _larger_number(rng: random.Random) -> tuple[_Asked, ...]:
    least, most = rng.choice(((1, 20), (10, 99), (100, 999)))
    small, large = sorted(rng.sample(range(least, most + 1), 2))
    return _in_order(large, small)


def _longer_word(rng: random.Random) -> tuple[_Asked, ...]:
    short, long = _unequal(rng)
    return _in_order(long, short)


def _named_longer(rng: random.Random) -> tuple[_Asked, ...]:
    short, long = _unequal(rng)
    one, other = rng.sample((short, long), 2)
    return _asked(long, one=one, other=other)


def _unequal(rng: random.Random) -> tuple[str, str]:
    """Two words, the second one longer."""
    while True:
        short, long = sorted(rng.sample(_WORDS, 2), key=len)
        if len(short) < len(long):
            return short, long


_YEAR = "January February March April May June July August September October November December"
_MONTHS = _YEAR.split()
_FIRST_DAY, _LAST_DAY = date(1900, 1, 1).toordinal(), date(2030, 1, 1).toordinal()


def _earlier_date(rng: random.Random) -> tuple[_Asked, ...]:
    first, last = sorted(date.fromordinal(day) for day in rng.sample(range(_FIRST_DAY, _LAST_DAY), 2))
    return _in_order(*(f"{day.day} {_MONTHS[day.month - 1]} {day.year}" for day in (first, last)))


def _earlier_word(rng: random.Random) -> tuple[_Asked, ...]:
    words = _list(rng, 3, 5)
    first, later = sorted(rng.sample(range(len(words)), 2))
    return _in_order(words[first], words[later], list=", ".join(words))


def _largest_number(rng: random.Random) -> tuple[_Asked, ...]:
    least, most = rng.choice(((10, 99), (100, 999)))
    *others, right = sorted(rng.sample(range(least, most + 1), 3))
    return (_Asked({}, str(right), [str(one) for one in others]),)


def _alphabet_first(rng: random.Random) -> tuple[_Asked, ...]:
    by_letter = {word[0]: word for word in rng.sample(_WORDS, len(_WORDS))}
    right, *others = sorted(rng.sample(sorted(by_letter.values()), 3))
    return (_Asked({}, right, others),)


# -- copying ----------------------------------------------------------------------------------


def _repeat_words(rng: random.Random) -> tuple[_Asked, ...]:
    line = " ".join(_list(rng, 1, 3))
    return _asked(line, line=line)


def _nth_item(rng: random.Random) -> tuple[_Asked, ...]:
    words = _list(rng, 3, 4)
    at = rng.randrange(len(words))
    return _asked(words[at], list=", ".join(words), place=_PLACES[at])


def _last_word(rng: random.Random) -> tuple[_Asked, ...]:
    words = _list(rng, 2, 4)
    return _asked(words[-1], line=" ".join(words))


def _reverse_order(rng: random.Random) -> tuple[_Asked, ...]:
    words = _list(rng, 2, 4)
    return _asked(", ".join(reversed(words)), list=", ".join(words))


def _in_list(rng: random.Random) -> tuple[_Asked, ...]:
    inside, *words = _list(rng, 4, 6)
    outside = words.pop()
    words.insert(rng.randint(0, len(words)), inside)
    return _in_order(inside, outside, list=", ".join(words))


def _told_colour(rng: random.Random) -> tuple[_Asked, ...]:
    told, thing, colour = _coloured(rng)
    return _asked(colour, told=told, thing=thing)


# -- form -------------------------------------------------------------------------------------


def _coloured(rng: random.Random) -> tuple[str, str, str]:
    """(the told sentence, a thing, its colour)"""
    things, colours = rng.sample(_THINGS, 2), rng.sample(_COLOURS, 2)
    told = " ".join(f"The {thing} is {colour}." for thing, colour in zip(things, colours, strict=True))
    at = rng.randrange(2)
    return told, things[at], colours[at]


def _capitals(rng: random.Random) -> tuple[_Asked, ...]:
    word = rng.choice(_WORDS)
    return _asked(word.upper(), word=word)


def _one_word(rng: random.Random) -> tuple[_Asked, ...]:
    names, things = rng.sample(_NAMES, 2), rng.sample(_THINGS, 2)
    told = " ".join(f"{name} has the {thing}." for name, thing in zip(names, things, strict=True))
    at = rng.randrange(2)
    return _asked(names[at], told=told, thing=things[at])


def _word_first(rng: random.Random) -> tuple[_Asked, ...]:
    told, thing, colour = _coloured(rng)
    first = rng.choice(("Surely", "Today", "Indeed"))
    return _asked(f"{first} {colour}", told=told, thing=thing, first=first)


def _json_object(rng: random.Random) -> tuple[_Asked, ...]:
    key = rng.choice(sorted(_VALUES))
    value = rng.choice(_VALUES[key])
    return _asked(json.dumps({key: value}), key=key, value=value)


_DRAWS = {
    "count-letters": _count_letters,
    "count-one-letter": _count_one_letter,
    "count-words": _count_words,
    "count-items": _count_words,
    "more-letters": _more_letters,
    "larger-number": _larger_number,
    "longer-word": _longer_word,
    "earlier-date": _earlier_date,
    "earlier-word": _earlier_word,
    "named-longer": _named_longer,
    "largest-number": _largest_number,
    "alphabet-first": _alphabet_first,
    "repeat-words": _repeat_words,
    "nth-item": _nth_item,
    "last-word": _last_word,
    "reverse-order": _reverse_order,
    "told-colour": _told_colour,
    "in-list": _in_list,
    "capitals": _capitals,
    "one-word": _one_word,
    "word-first": _word_first,
    "json-object": _json_object,
}
GENERAL_KINDS = {
    name: GeneralKind(name, _DRAWS[name], **{**kind, "frames": tuple(kind["frames"])})
    for name, kind in _DATA["kinds"].items()
}
"""Every kind by name, in the order in which they are listed."""
