"""Questions of general ability: counting, comparing, copying, answering in a form. They have nothing to do
with the game, and show whether a model that was trained for something else can still do what it could.

Every answer is worked out from what the question is made of. Yes-or-no questions come in pairs in the same
words, or about words of the same list, so that no word tells the answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import msgspec

from ..errors import WolflabError
from .items import GENERAL, NO, YES, AnswerType, Form, Item

MOST = 2000
"""Questions of one file. A kind has a few hundred that differ, so that there are always more to draw."""
_VOCABULARY = """
apple arrow autumn bakery banana barrel basket bicycle blanket bottle branch bread bridge brother
bucket butter button cabin camera candle carpet carrot castle ceiling chair cherry circle clock
cloud coffee corner cotton cousin curtain daughter desk dinner donkey door dream drum eagle engine
evening farmer feather fence finger flower forest fork fountain friend garden garlic glass goat
grape guitar hammer harbour hat honey horse island jacket jar kettle kitchen kite ladder lake lamp
lantern leaf lemon letter library lion map market meadow melon milk mirror monkey morning mountain
needle nest notebook ocean onion orange oven paint palace paper parrot pencil pepper piano picture
pillow pocket potato prince rabbit rain ribbon river road roof rope salad school scissors shelf
shirt shoe silver sister snow soap spoon spring station stone street sugar summer sun table teacher
thunder ticket tiger tomato towel tower train tree tunnel uncle valley violin wagon water wheel
window winter yard zebra
"""
_WORDS = _VOCABULARY.split()
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
    """What is asked, before it is an item."""

    question: str
    answer: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneralKind:
    """One kind. about: what it asks, in words. ask: draws one question; a Yes and its No of form yes_no.

    The number that `ask` is given counts the questions of the kind: ways of asking, and places of right
    options, take turns by it.
    """

    name: str
    about: str
    form: Form
    ask: Callable[[random.Random, int], tuple[_Asked, ...]]
    answer_type: AnswerType = "text"

    @property
    def example(self) -> str:
        """One question of it."""
        return self.ask(random.Random(0), 0)[0].question


def general_items(n: int, seed: int) -> tuple[Item, ...]:
    """`n` items, as many of each kind as can be; the same seed gives the same items.

    With an odd number of questions left, the last is of no yes-or-no kind. WolflabError for a number that is
    out of range.
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
        group = _fresh(GENERAL_KINDS[name], draws[name], counts[name], made)
        made |= {item.id: item for item in group}
        counts[name] += len(group)
    items = list(made.values())
    random.Random(f"general/{seed}").shuffle(items)
    return tuple(items)


def _fresh(kind: GeneralKind, rng: random.Random, number: int, made: Collection[str]) -> list[Item]:
    """One more question of a kind, or a pair, that is not there yet. made: ids."""
    while True:
        group = _drawn(kind, rng, number)
        if not any(item.id in made for item in group):
            return group


def _drawn(kind: GeneralKind, rng: random.Random, number: int) -> list[Item]:
    group = kind.ask(rng, number // (2 if kind.form == "yes_no" else 1))
    items = [
        Item(
            question=asked.question,
            answer=asked.answer,
            form=kind.form,
            choices=asked.choices,
            answer_type=kind.answer_type,
            category=GENERAL,
            kind=kind.name,
        )
        for asked in group
    ]
    if len(items) > 1:
        pair = items[0].id[:12]
        return [msgspec.structs.replace(item, pair=pair) for item in items]
    return items


# -- what questions are made of ---------------------------------------------------------------


def _list(rng: random.Random, least: int, most: int) -> list[str]:
    return rng.sample(_WORDS, rng.randint(least, most))


def _turn(frames: Sequence[str], number: int) -> str:
    return frames[number % len(frames)]


def _both(frame: str, yes: str, no: str) -> tuple[_Asked, ...]:
    """A pair: two words (or numbers, or days) in this order, and in the other. yes, no: joined by "|"."""
    return tuple(
        _Asked(frame.format(*joined.split("|")), answer) for joined, answer in ((yes, YES), (no, NO))
    )


def _swapped(frame: str, first: object, second: object) -> tuple[_Asked, ...]:
    """A pair: "first" before "second" is a Yes, and the other way round a No."""
    return _both(frame, f"{first}|{second}", f"{second}|{first}")


def _option(rng: random.Random, question: str, right: str, others: Sequence[str], number: int) -> _Asked:
    """A choice; the right option's place goes round, and does not follow from the way of asking."""
    choices = rng.sample(others, len(others))
    choices.insert((number + number // 3) % (len(others) + 1), right)
    return _Asked(question, right, tuple(choices))


# -- counting ---------------------------------------------------------------------------------


def _count_letters(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    word = rng.choice(_WORDS)
    frames = (
        'How many letters does the word "{}" have?',
        'Count the letters of the word "{}". How many are there?',
        'Of how many letters is the word "{}" made?',
    )
    return (_Asked(_turn(frames, number).format(word), str(len(word))),)


def _count_one_letter(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    word = rng.choice(_WORDS)
    letter = rng.choice(sorted(set(word)))
    frames = (
        'How many times does the letter "{}" stand in the word "{}"?',
        'How often is the letter "{}" used in the word "{}"?',
        'How many letters "{}" are in the word "{}"?',
    )
    return (_Asked(_turn(frames, number).format(letter, word), str(word.count(letter))),)


def _count_words(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    words = _list(rng, 2, 6)
    frames = (
        'How many words are in this line?\n"{}"',
        'Count the words: "{}". How many are there?',
        'The line is "{}". How many words does it have?',
    )
    return (_Asked(_turn(frames, number).format(" ".join(words)), str(len(words))),)


def _count_items(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    words = _list(rng, 2, 6)
    frames = (
        "How many things are in this list?\n{}",
        "Here is a list: {}. How many things does it name?",
        "Count the things: {}. How many are there?",
    )
    return (_Asked(_turn(frames, number).format(", ".join(words)), str(len(words))),)


def _more_letters(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    most = rng.randint(4, 6)
    long = rng.choice([word for word in _WORDS if len(word) > most])
    short = rng.choice([word for word in _WORDS if len(word) <= most])
    frames = (
        'Does the word "{{}}" have more than {} letters?',
        'Is the word "{{}}" longer than {} letters?',
        'Are there more than {} letters in the word "{{}}"?',
    )
    return _both(_turn(frames, number).format(most), long, short)


# -- comparing --------------------------------------------------------------------------------


def _larger_number(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    least, most = rng.choice(((1, 20), (10, 99), (100, 999)))
    small, large = sorted(rng.sample(range(least, most + 1), 2))
    frames = ("Is {} larger than {}?", "Is the number {} greater than {}?", "Is {} more than {}?")
    return _swapped(_turn(frames, number), large, small)


def _longer_word(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    short, long = _unequal(rng)
    frames = (
        'Is the word "{}" longer than the word "{}"?',
        'Does the word "{}" have more letters than the word "{}"?',
        'Are there more letters in "{}" than in "{}"?',
    )
    return _swapped(_turn(frames, number), long, short)


def _named_longer(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    short, long = _unequal(rng)
    pair = rng.sample((short, long), 2)
    frames = (
        'Which word is longer, "{}" or "{}"?',
        'Which word has more letters, "{}" or "{}"?',
        'Name the longer of two words: "{}" or "{}"?',
    )
    return (_Asked(_turn(frames, number).format(*pair), long),)


def _unequal(rng: random.Random) -> tuple[str, str]:
    """Two words, the second one longer."""
    while True:
        short, long = sorted(rng.sample(_WORDS, 2), key=len)
        if len(short) < len(long):
            return short, long


def _earlier_date(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    first, last = sorted(date.fromordinal(day) for day in rng.sample(range(_FIRST_DAY, _LAST_DAY), 2))
    frames = ("Is {} earlier than {}?", "Does {} come before {}?", "Is the day {} before the day {}?")
    told = (f"{day.day} {_MONTHS[day.month - 1]} {day.year}" for day in (first, last))
    return _swapped(_turn(frames, number), *told)


_YEAR = "January February March April May June July August September October November December"
_MONTHS = _YEAR.split()
_FIRST_DAY, _LAST_DAY = date(1900, 1, 1).toordinal(), date(2030, 1, 1).toordinal()


def _earlier_word(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    words = _list(rng, 3, 5)
    first, later = sorted(rng.sample(range(len(words)), 2))
    frames = (
        'Here is a list: {}. Does "{{}}" come before "{{}}" in it?',
        'The list is {}. Is "{{}}" named before "{{}}"?',
        'In the list {}, does "{{}}" stand before "{{}}"?',
    )
    return _swapped(_turn(frames, number).format(", ".join(words)), words[first], words[later])


def _largest_number(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    least, most = rng.choice(((10, 99), (100, 999)))
    *others, right = sorted(rng.sample(range(least, most + 1), 3))
    frames = (
        "Which number is the largest?",
        "Which of these is the greatest number?",
        "Name the largest number.",
    )
    return (_option(rng, _turn(frames, number), str(right), [str(one) for one in others], number),)


def _alphabet_first(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    by_letter = {word[0]: word for word in rng.sample(_WORDS, len(_WORDS))}
    right, *others = sorted(rng.sample(sorted(by_letter.values()), 3))
    frames = (
        "Which word comes first in the alphabet?",
        "Which of these words stands first in a dictionary?",
        "In the order of the alphabet, which word is first?",
    )
    return (_option(rng, _turn(frames, number), right, others, number),)


# -- copying ----------------------------------------------------------------------------------


def _repeat_words(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    words = " ".join(_list(rng, 1, 3))
    frames = ("Repeat this: {}", "Write this again: {}", "Copy this line: {}")
    return (_Asked(_turn(frames, number).format(words), words),)


def _nth_item(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    words = _list(rng, 3, 4)
    at = rng.randrange(len(words))
    frames = (
        "The list is: {}. What is the {} word?",
        "Here is a list: {}. Name its {} word.",
        "This is a list: {}. Which word is the {} one?",
    )
    return (_Asked(_turn(frames, number).format(", ".join(words), _PLACES[at]), words[at]),)


def _last_word(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    words = _list(rng, 2, 4)
    frames = (
        'The line is "{}". What is its last word?',
        'Here is a line: "{}". Name its last word.',
        'This is a line: "{}". Which word is the last one?',
    )
    return (_Asked(_turn(frames, number).format(" ".join(words)), words[-1]),)


def _reverse_order(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    words = _list(rng, 2, 4)
    frames = (
        "Write these words in reverse order, parted by commas: {}",
        "Give this list from its end to its beginning, parted by commas: {}",
        "Turn the order of this list around, and part its words by commas: {}",
    )
    return (_Asked(_turn(frames, number).format(", ".join(words)), ", ".join(reversed(words))),)


def _in_list(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    inside, *words = _list(rng, 4, 6)
    outside = words.pop()
    words.insert(rng.randint(0, len(words)), inside)
    frames = (
        'Is the word "{{}}" in this list?\n{}',
        'Here is a list: {}. Does it name "{{}}"?',
        'Does the list {} have the word "{{}}" in it?',
    )
    return _both(_turn(frames, number).format(", ".join(words)), inside, outside)


def _told_colour(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    told, thing, colour = _coloured(rng)
    frames = (
        "{} What colour is the {}?",
        "{} Which colour does the {} have?",
        "{} Name the colour of the {}.",
    )
    return (_Asked(_turn(frames, number).format(told, thing), colour),)


# -- form -------------------------------------------------------------------------------------


def _coloured(rng: random.Random) -> tuple[str, str, str]:
    """(what is told, a thing, its colour)"""
    things, colours = rng.sample(_THINGS, 2), rng.sample(_COLOURS, 2)
    told = " ".join(f"The {thing} is {colour}." for thing, colour in zip(things, colours, strict=True))
    at = rng.randrange(2)
    return told, things[at], colours[at]


def _capitals(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    word = rng.choice(_WORDS)
    frames = (
        'Write the word "{}" in capital letters.',
        'Answer with the word "{}", in capital letters.',
        'Change the word "{}" to capital letters.',
    )
    return (_Asked(_turn(frames, number).format(word), word.upper()),)


def _one_word(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    names, things = rng.sample(_NAMES, 2), rng.sample(_THINGS, 2)
    told = " ".join(f"{name} has the {thing}." for name, thing in zip(names, things, strict=True))
    at = rng.randrange(2)
    frames = (
        "{} Who has the {}? Answer with exactly one word.",
        "{} Say in exactly one word who has the {}.",
        "{} Answer with one single word: who has the {}?",
    )
    return (_Asked(_turn(frames, number).format(told, things[at]), names[at]),)


def _word_first(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    told, thing, colour = _coloured(rng)
    first = rng.choice(("Surely", "Today", "Indeed"))
    frames = (
        '{} What colour is the {}? Answer with two words: first "{}", then the colour.',
        '{} Name the colour of the {}, and put the word "{}" before it.',
        '{} Answer in two words with the colour of the {}. Begin with "{}".',
    )
    return (_Asked(_turn(frames, number).format(told, thing, first), f"{first} {colour}"),)


def _json_object(rng: random.Random, number: int) -> tuple[_Asked, ...]:
    key = rng.choice(sorted(_VALUES))
    value = rng.choice(_VALUES[key])
    frames = (
        'Write a JSON object with the key "{}" and the value "{}".',
        'Give me a JSON object with the key "{}" and the value "{}".',
        'Make a JSON object: its key is "{}", and its value is "{}".',
    )
    return (_Asked(_turn(frames, number).format(key, value), json.dumps({key: value})),)


GENERAL_KINDS: dict[str, GeneralKind] = {
    kind.name: kind
    for kind in (
        GeneralKind("count-letters", "The letters of a word.", "open", _count_letters, "number"),
        GeneralKind("count-one-letter", "One letter in a word.", "open", _count_one_letter, "number"),
        GeneralKind("count-words", "The words of a line.", "open", _count_words, "number"),
        GeneralKind("count-items", "The things of a list.", "open", _count_items, "number"),
        GeneralKind("more-letters", "Whether a word has more letters than x.", "yes_no", _more_letters),
        GeneralKind("larger-number", "Whether x is larger than y.", "yes_no", _larger_number),
        GeneralKind("longer-word", "Whether a word is longer than another.", "yes_no", _longer_word),
        GeneralKind("earlier-date", "Whether a day is earlier than another.", "yes_no", _earlier_date),
        GeneralKind("earlier-word", "Whether a list names x before y.", "yes_no", _earlier_word),
        GeneralKind("named-longer", "The longer of two words.", "open", _named_longer, "words"),
        GeneralKind("largest-number", "The largest of three numbers.", "choice", _largest_number),
        GeneralKind("alphabet-first", "The first of three words by alphabet.", "choice", _alphabet_first),
        GeneralKind("repeat-words", "Some words once more.", "open", _repeat_words, "words"),
        GeneralKind("nth-item", "The first, second … thing of a list.", "open", _nth_item, "words"),
        GeneralKind("last-word", "The last word of a line.", "open", _last_word, "words"),
        GeneralKind("reverse-order", "A list from its end.", "open", _reverse_order, "words"),
        GeneralKind("told-colour", "A colour that is told.", "open", _told_colour, "words"),
        GeneralKind("in-list", "Whether a word is in a list.", "yes_no", _in_list),
        GeneralKind("capitals", "A word in capital letters.", "open", _capitals, "exact"),
        GeneralKind("one-word", "An answer of exactly one word.", "open", _one_word, "exact"),
        GeneralKind("word-first", "An answer that begins with a given word.", "open", _word_first, "exact"),
        GeneralKind("json-object", "An answer as a JSON object.", "open", _json_object, "json"),
    )
}
"""Every kind by name, in the order in which they are listed."""
