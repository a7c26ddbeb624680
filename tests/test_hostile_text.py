"""No text from outside makes a pattern run away: a text of twice the length costs at most five times as much.

Hostile texts are derived from each pattern. Their cost is counted in steps (`hostile_text.py`), so that it is
the same on every machine. `benchmarks/hostile_patterns.py` measures the times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import pytest

import package_patterns
import wolflab
from hostile_text import GROWTH, Program, hostile, worst
from test_reflective_replies import SPEAK, put
from wolflab.models.servers.dialect import events_of
from wolflab.rules import SHERIFF
from wolflab.text.questions import Aids, Decide
from wolflab.text.reading import LONGEST, WEREWOLF, Report, can_be_read, read
from wolflab.text.replies.extract import READ, objects_in
from wolflab.text.replies.parse import parse
from wolflab.wwqa.reply_parser import read_reply

PACKAGES = sorted(
    folder.name for folder in Path(wolflab.__file__).parent.iterdir() if (folder / "__init__.py").exists()
)
LATELY = ("text.reading.checks", "text.replies.strategic_replies", "text.clean", "wwqa.writing")
"""Modules whose patterns are looked at with every change."""


def _run_away(patterns: dict[re.Pattern[Any], str]) -> list[str]:
    costs = [(place, pattern, worst(pattern)) for pattern, place in patterns.items()]
    return [
        f"{place}: {pattern.pattern[:60]!r} on {cost.text!r}: {cost.growth:.1f} times"
        for place, pattern, cost in costs
        if cost is not None and cost.growth > GROWTH
    ]


@pytest.mark.parametrize("module", LATELY)
def test_no_text_runs_away(module: str) -> None:
    patterns = package_patterns.package_patterns(module)
    assert patterns
    assert not _run_away(patterns)


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_runs_away_anywhere(package: str) -> None:
    assert not _run_away(package_patterns.package_patterns(package))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a+)+b",
        r"(a*)*b",
        r"(?:a|b|ab)*c",
        r"(\w+\s?)*$",
        r"^(?:,? ?(?:no|not|a)\b,? ?)*?(?:dog|no)$",
        r"(?:,? (?:has|has cleared|cleared)\b)*x",
        r"(?:,(?: no\b)?| no\b)*x",
        r"(?:(?=(a+))a)+b",
        r"a*a*b",
        r"\s*,?\s*x",
        r"(.*)(.*)(.*)x",
        r"(?:a?){20}a{20}b",
        r"(?P<stem>.*?)[\W_]*(?P<number>\d{1,2})[\W_]*",
    ],
)
def test_what_can_be_read_in_two_ways_is_found(pattern: str) -> None:
    cost = worst(re.compile(pattern))
    assert cost is not None
    assert cost.growth > GROWTH


@pytest.mark.parametrize(
    "pattern",
    [r"(?>a+)+b", r"a*+a*b", r"a*b", r"\s*,\s*x", r"(?:,| no\b)*x", r"(?:(?>a+)b)*c", r"(?:ab|ac)*d", "a{3}"],
)
def test_what_can_be_read_in_one_way_passes(pattern: str) -> None:
    cost = worst(re.compile(pattern))
    assert cost is None or cost.growth <= GROWTH


def test_steps_are_counted_of_the_same_matches() -> None:
    """The matcher that counts finds what `re` finds."""
    matched = 0
    for module in LATELY:
        for pattern in package_patterns.package_patterns(module):
            program = Program(pattern)
            for text in islice(hostile(program), 3):
                wanted = [match.span() for match in pattern.finditer(text.of(2)) if match[0]]
                assert program.spans(text.of(2)) == wanted, (module, pattern.pattern, text)
                matched += bool(wanted)
    assert matched > 5


def test_patterns_are_found_wherever_they_are_made() -> None:
    module = ModuleType("sample")
    exec(
        "import re\n"
        "_WORD = 'a+'\n"
        "TABLE = {'one': (re.compile('in a table'),)}\n"
        "class Reader:\n    pattern = re.compile('of a class')\n"
        "PIECES = re.compile('a method').findall\n",
        vars(module),
    )
    module.Reader.__module__ = "sample"  # type: ignore[attr-defined]
    held = {pattern.pattern for pattern in package_patterns.held(vars(module), module, set())}
    assert held == {"in a table", "of a class", "a method"}
    source = (
        "def f(text): return re.search(rf'{_WORD}b', text, re.I), re.sub('x', '', text)\n"
        "def g(own): re.match(own, '')"
    )
    named = package_patterns.named(source, vars(module), "sample")
    assert [next(named) for _ in range(2)] == [("f", re.compile("a+b", re.I)), ("f", re.compile("x"))]
    with pytest.raises(package_patterns.UnknownPatternError, match="sample:g hands own to re"):
        next(named)


def test_the_sentence_that_froze_every_reader() -> None:
    said = "I checked Player 3 last night. " + "no " * 30 + "dog"
    assert len(said) == 124
    assert read(said, [f"Player {n}" for n in range(1, 8)], 0) == ()
    red = "I checked Player 3 last night. " + "no " * 30 + "red"
    assert read(red, [f"Player {n}" for n in range(1, 8)], 0) == (Report(0, "see", 2, "not a Werewolf", 0),)


def test_a_text_that_is_too_long_is_not_read() -> None:
    told = "I am the Seer, I checked player_3, and player_3 is a Werewolf. "
    filled = told + "-" * (LONGEST - len(told))
    assert any(isinstance(act, Report) and act.what == WEREWOLF for act in read(filled, SHERIFF.names, 0))
    assert read(filled + "-", SHERIFF.names, 0) == ()
    assert (can_be_read(filled), can_be_read(filled + "-")) == (True, False)


@pytest.mark.parametrize(
    "work",
    [
        lambda: read(f"@{'3,' * (LONGEST // 2 - 3)}they", SHERIFF.names, 0),
        lambda: read(f"{'p2 says ' * (LONGEST // 8 - 3)}p4 is a wolf", SHERIFF.names, 0),
        lambda: read_reply("and" + 40_000 * "\n" + "12", "player_1", "open", answer_type="player"),
        lambda: parse(
            put(Decide(SPEAK, Aids()), "paper"), "My concise talking content: a" + 19_000 * "\n" + "b"
        ),
        lambda: events_of(b"data: {}" + 400_000 * b"\nx"),
        lambda: [objects_in(text) for text in 3 * (READ // 5 * '{"a":', READ * "{")],
    ],
    ids=[
        "players",
        "quotations",
        "lines of an answer",
        "lines of a response",
        "lines of an event",
        "brackets",
    ],
)
def test_the_longest_texts_are_read_in_a_second(work: Callable[[], object]) -> None:
    """A square is much where a text is long: these took two seconds and more."""
    began = process_time()
    work()
    assert process_time() - began < 1
