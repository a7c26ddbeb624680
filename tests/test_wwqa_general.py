"""Questions of general ability: answers by a second way, balance, and how they are asked and read.

The second way knows a question's text alone, finds what it speaks of, and counts with other means.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

import command_line
from test_wwqa_eval import Pupil, built, knows, put, rows_of
from wolflab.errors import WolflabError
from wolflab.rules import SHERIFF
from wolflab.ui.report.wwqa_eval_page import render_evaluation
from wolflab.wwqa.answer_reading import read_answer
from wolflab.wwqa.asking import prompt, rules_in_words
from wolflab.wwqa.audit import category_of
from wolflab.wwqa.baselines import WORDS, baselines
from wolflab.wwqa.evaluating import EvalSettings
from wolflab.wwqa.general import GENERAL_KINDS, MOST, general_items
from wolflab.wwqa.items import AnswerType, Item, write_items
from wolflab.wwqa.question_files import read_questions
from wolflab.wwqa.reply_parser import UNREADABLE
from wolflab.wwqa.results import results

ITEMS = general_items(600, 7)


# -- the second way ---------------------------------------------------------------------------

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3}


def quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)


def listed(text: str) -> list[str]:
    """The longest run of words parted by commas."""
    return max(re.findall(r"[a-z]+(?:, [a-z]+)+", text), key=len).split(", ")


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def words_after_colon(text: str) -> list[str]:
    return text.rpartition(":")[2].split()


def days(text: str) -> list[int]:
    found = re.findall(r"(\d+) ([A-Z]\w\w)\w* (\d{4})", text)
    return [int(year) * 10_000 + MONTHS.index(month) * 100 + int(day) for day, month, year in found]


def owner(text: str) -> str:
    thing = re.findall(r"\bthe (\w+)", text)[-1]
    return next(name for name, its in re.findall(r"(\w+) has the (\w+)\.", text) if its == thing)


def colour(text: str) -> str:
    return next(
        its for thing, its in re.findall(r"The (\w+) is (\w+)", text) if f"the {thing}" in asked_of(text)
    )


def asked_of(text: str) -> str:
    """What follows the two sentences that tell of things."""
    return re.sub(r"The \w+ is \w+\. ?", "", text)


def yes(true: bool) -> str:
    return "Yes" if true else "No"


def letters_of(text: str) -> str:
    return str(sum(1 for _ in quoted(text)[-1]))


def one_letter(text: str) -> str:
    letter, word = quoted(text)
    return str(len(word.split(letter)) - 1)


def by_order(text: str) -> str:
    first, second = quoted(text)
    line = ", ".join(listed(text))
    return yes(re.search(rf"\b{first}\b.*\b{second}\b", line) is not None)


SECOND: dict[str, Callable[[Item], str]] = {
    "count-letters": lambda item: letters_of(item.question),
    "count-one-letter": lambda item: one_letter(item.question),
    "count-words": lambda item: str(quoted(item.question)[0].count(" ") + 1),
    "count-items": lambda item: str(", ".join(listed(item.question)).count(",") + 1),
    "more-letters": lambda item: yes(int(letters_of(item.question)) > numbers(item.question)[0]),
    "larger-number": lambda item: yes(numbers(item.question)[0] - numbers(item.question)[1] > 0),
    "longer-word": lambda item: yes(len(quoted(item.question)[0]) > len(quoted(item.question)[1])),
    "earlier-date": lambda item: yes(days(item.question)[0] < days(item.question)[1]),
    "earlier-word": lambda item: by_order(item.question),
    "named-longer": lambda item: max(quoted(item.question), key=len),
    "largest-number": lambda item: str(max(map(int, item.choices))),
    "alphabet-first": lambda item: sorted(item.choices)[0],
    "repeat-words": lambda item: " ".join(words_after_colon(item.question)),
    "nth-item": lambda item: listed(item.question)[
        next(at for word, at in ORDINALS.items() if re.search(rf"\b{word}\b", item.question))
    ],
    "last-word": lambda item: re.findall(r"[a-z]+", quoted(item.question)[0])[-1],
    "reverse-order": lambda item: ", ".join(listed(item.question.rpartition(":")[2])[::-1]),
    "told-colour": lambda item: colour(item.question),
    "in-list": lambda item: yes(quoted(item.question)[0] in listed(item.question)),
    "capitals": lambda item: "".join(chr(ord(letter) - 32) for letter in quoted(item.question)[0]),
    "one-word": lambda item: owner(item.question),
    "word-first": lambda item: f"{quoted(item.question)[0]} {colour(item.question)}",
    "json-object": lambda item: f'{{"{quoted(item.question)[0]}": "{quoted(item.question)[1]}"}}',
}


@pytest.mark.parametrize("kind", GENERAL_KINDS)
def test_answers_are_proved_by_a_second_way(kind: str) -> None:
    inside = [item for item in ITEMS if item.kind == kind]
    assert len(inside) > 20
    for item in inside:
        assert item.answer == SECOND[kind](item), item.question
        assert read_answer(item, item.right_reply).right, item.question


# -- the set ----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_items() -> None:
    assert general_items(200, 1) == general_items(200, 1) != general_items(200, 2)
    for n in (1, 7, 200, MOST):
        assert len({item.id for item in general_items(n, 3)}) == n
    for n in (0, MOST + 1):
        with pytest.raises(WolflabError, match=f"--n: got {n}"):
            general_items(n, 1)


def test_kinds_are_alike_in_number_and_yes_is_as_frequent_as_no() -> None:
    counts = Counter(item.kind for item in general_items(200, 1))
    assert set(counts) == set(GENERAL_KINDS)
    assert max(counts.values()) - min(counts.values()) <= 2
    binary = [item for item in ITEMS if item.form == "yes_no"]
    for _, two in groupby(sorted(binary, key=lambda item: (item.pair, item.answer)), lambda item: item.pair):
        no, yes_ = two
        assert (no.answer, yes_.answer, no.kind) == ("No", "Yes", yes_.kind)
    places = Counter((item.kind, item.choices.index(item.answer)) for item in ITEMS if item.form == "choice")
    assert len(places) == 6
    assert max(places.values()) - min(places.values()) <= 4


def test_words_do_not_tell_the_answer() -> None:
    """A bag of words that learned from other questions of the kind is right no more often than a coin."""
    for kind in (name for name, kind in GENERAL_KINDS.items() if kind.form == "yes_no"):
        every = [item for item in general_items(MOST, 5) if item.kind == kind]
        middle = len(every) // 2
        pairs = {item.pair for item in every[:middle]}
        asked = [item for item in every if item.pair not in pairs]
        told = baselines(asked, [item for item in every if item.pair in pairs])[WORDS]
        right = sum(item.answer == said for item, said in zip(asked, told, strict=True)) / len(asked)
        assert 0.3 < right < 0.7, (kind, right)


def test_nothing_is_about_the_game() -> None:
    words = {word for item in ITEMS for word in re.findall(r"[a-z]+", item.question.lower())}
    assert not words & {
        "player",
        "village",
        "villager",
        "wolf",
        "werewolf",
        "seer",
        "guard",
        "sheriff",
        "vote",
    }


# -- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "answer", "reply", "right"),
    [
        ("words", "lantern", "lantern", True),
        ("words", "lantern", '"Lantern".', True),
        ("words", "lantern", "The answer is lantern.", True),
        ("words", "lantern", 'The third thing in this list is "lantern".', True),
        ("words", "lantern", "Third: lantern\nIt gives light.", True),
        ("words", "lantern", "lantern, river", False),
        ("words", "lantern", "The third thing is a lantern that is red", False),
        ("words", "lantern", "It is not lantern", False),
        ("words", "lantern", "lanterns", False),
        ("words", "lantern", "lantern or river", False),
        ("words", "river, lantern", "River; lantern", True),
        ("words", "river, lantern", "The list is: river, lantern", True),
        ("words", "river, lantern", "lantern, river", False),
        ("words", "river, lantern", "river, lantern, river", False),
        ("exact", "RIVER", "RIVER", True),
        ("exact", "RIVER", '"RIVER."', True),
        ("exact", "RIVER", "<think>river?</think>\nRIVER", True),
        ("exact", "RIVER", "River", False),
        ("exact", "RIVER", "The answer is RIVER", False),
        ("exact", "RIVER", "RIVER\n\nThis is in capitals.", False),
        ("exact", "Surely white", "Surely, white.", True),
        ("exact", "Surely white", "surely white", False),
        ("exact", "Surely white", "white", False),
        ("json", '{"name": "river"}', '{"name":"river"}', True),
        ("json", '{"name": "river"}', '```json\n{\n  "name": "river"\n}\n```', True),
        ("json", '{"name": "river"}', '{"name": "River"}', False),
        ("json", '{"name": "river"}', '{"name": "river", "more": 1}', False),
    ],
)
def test_replies_are_right_as_a_whole(kind: AnswerType, answer: str, reply: str, right: bool) -> None:
    item = Item(question="?", answer=answer, form="open", answer_type=kind)
    reading = read_answer(item, reply)
    assert (reading.right, reading.readable) == (right, True)


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        *((kind, reply) for kind in ("words", "exact", "json") for reply in ("", " …\n", "<think>river")),
        ("json", 'Here it is: {"name": "river"}'),
        ("json", "['river']"),
        ("json", '["river"]'),
        ("json", '{"name": "river"'),
        ("json", "[" * 100_000),
    ],
)
def test_what_is_no_such_answer_is_unreadable(kind: AnswerType, reply: str) -> None:
    item = Item(question="?", answer='{"name": "river"}', form="open", answer_type=kind)
    assert read_answer(item, reply) == UNREADABLE


def test_a_number_that_ends_a_sentence_is_no_mark_of_a_list() -> None:
    item = Item(question="?", answer="2", form="open", answer_type="number")
    assert read_answer(item, "The answer is 2.\n\nA game of 2018").right


# -- asking -----------------------------------------------------------------------------------


def test_no_rules_are_ever_in_front() -> None:
    item = ITEMS[0]
    assert prompt(item, True) == prompt(item, SHERIFF) == prompt(item, False)
    assert prompt(item, True, told=False).startswith(item.question)


def scholar(words: str) -> str:
    """Every right answer, to both kinds of questions."""
    found = next((item for item in ITEMS if words == prompt(item, False)), None)
    return knows(words) if found is None else found.right_reply


@pytest.mark.parametrize("rules_text", ["yes", "no", "both"])
def test_an_evaluation_asks_them_once_and_calls_them_general(rules_text: str, tmp_path: Path) -> None:
    write_items(tmp_path / "general.jsonl", ITEMS[:120])
    write_items(tmp_path / "questions.jsonl", built())
    write_items(tmp_path / "train.jsonl", ITEMS[200:203])
    how = EvalSettings(rules_text=rules_text)  # type: ignore[arg-type]
    files = (tmp_path / "questions.jsonl", tmp_path / "general.jsonl")
    rows = rows_of(*files, settings=how, splits=["kinds"], train=[tmp_path / "train.jsonl"])
    [row] = [row for row in rows if row.general]
    assert (row.name, row.foreign, row.contaminated, len(row.conditions)) == ("general", False, None, 1)
    pupil = Pupil(scholar)
    run = put(tmp_path / "out", rows, pupil, rules_text=rules_text)
    told = {prompt(item, False) for item in row.items}
    general = [words for words in pupil.asked if words in told]
    assert len(general) == 120
    assert rules_in_words(SHERIFF)[:80] not in "".join(general)
    [score] = [one for one in results(run).rows if one.row == "general"]
    assert (score.right, score.unreadable, score.part, score.verdict) == (120, 0, "all", "better")
    lines = [json.loads(line) for line in run.answer_lines().splitlines()]
    assert not any(line["rules"] for line in lines if line["row"] == "general")


def test_questions_that_were_trained_on_are_contaminated(tmp_path: Path) -> None:
    write_items(tmp_path / "general.jsonl", ITEMS[:20])
    own = [item for item in ITEMS[:20] if item.form == "open"][:2]
    write_items(tmp_path / "train.jsonl", own)
    [row] = rows_of(tmp_path / "general.jsonl", train=[tmp_path / "train.jsonl"])
    assert sum(row.contaminated or ()) == 2


def test_its_page_has_no_figures_of_questions_on_the_rules(tmp_path: Path) -> None:
    write_items(tmp_path / "general.jsonl", ITEMS[:120])
    run = put(tmp_path / "out", rows_of(tmp_path / "general.jsonl"), Pupil(scholar))
    page = render_evaluation(run, results(run), [], [tmp_path / "general.jsonl"], {})
    assert "count-letters" in page
    assert "published: " not in page
    assert "free of contamination" not in page


def test_the_command_writes_a_file_and_lists_its_kinds(tmp_path: Path) -> None:
    out = tmp_path / "general.jsonl"
    done = command_line.wolflab("wwqa", "general", "--n", "44", "--seed", "2", "-o", str(out))
    assert done.returncode == 0
    assert "44 items written" in done.stdout
    assert read_questions(out).items == general_items(44, 2)
    assert {category_of(item) for item in read_questions(out).items} == {"general"}
    again = command_line.wolflab("wwqa", "general", "-o", str(out))
    assert again.returncode != 0
    assert "there already" in again.stderr
    listing = command_line.wolflab("wwqa", "kinds").stdout
    assert all(kind in listing for kind in ("count-one-letter", "json-object", "may-vote"))
