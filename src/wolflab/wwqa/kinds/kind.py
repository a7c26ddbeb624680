"""Kinds of questions: their sentences, and how the rules engine answers them.

A new kind is an entry with its sentences in a YAML file of this folder, and its answer in the module of the
same name; of a kind about the rules themselves the YAML file names the answer. Everything else follows: it is
built in every ruleset with two possible answers, told in all wordings, paired, proved, exported, listed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...rules import Ruleset
from ..items import AnswerType, Form
from ..situations import AskedAbout, GamePoint, Games, GameSituation, Query, with_choices

HELD_OUT = 2
"""The number of frames, of tellings and of leads that are kept for the test of new wordings."""

Value = bool | int | str | list[int]
"""An answer as data: yes or no, a seat or a number, `items.NOBODY` or a word, seats."""

Asks = Callable[[Ruleset, GameSituation, random.Random], Iterable[AskedAbout]]
Options = Callable[[Ruleset, GameSituation, AskedAbout, Value, random.Random], Mapping[str, str]]


@dataclass(frozen=True)
class DrawnFrom:
    """The situations of a kind. moment: the point of the game. filled: the phases whose actions are told.
    left_out: kinds of actions that are not told even so. roles: whether every seat's role is told; with votes
    that may fall on a player who stays, it always is.
    """

    moment: GamePoint
    filled: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    roles: bool = True

    def draw(self, games: Games) -> GameSituation | None:
        """One situation that these rules can reach; None if they never reach the point."""
        reached = games.draw(self.moment)
        if reached is None:
            return None
        if self.moment == "order" and games.rules.speaking_order == "random_day":
            reached = reached.but(order=tuple(games.rng.sample(reached.living, len(reached.living))))
        told = with_choices(games.rules, reached, games.rng, *self.filled)
        actions = tuple(action for action in told.told if action[0] not in self.left_out)
        needed = "voting" in self.filled and "voted_out" in games.rules.due
        return told.but(told=actions, roles=told.roles if self.roles or needed else ())


class EngineAnswer(NamedTuple):
    """How the engine answers a kind.

    value: the engine's answer to a question; Impossible without one. asks: (rules, situation, random) →
    possible arguments in that situation. setting: None for a question about the rules themselves. options:
    (rules, situation, asked, value, random) → the options of a choice, by value.
    """

    value: Callable[[Query], Value]
    asks: Asks = lambda rules, situation, rng: ({},)
    setting: DrawnFrom | None = None
    options: Options | None = None


@dataclass(frozen=True, eq=False)
class QuestionKind:
    """One kind of question.

    about: the question and its answers in words, for readers and for the independent oracle. frames: the
    question in words; "{x}", "{y}" and other words of what is asked are put in; one that begins with "!" asks
    for the opposite. The last two are kept for the test of new wordings. choices: the options of a choice by
    value, if they are always the same. same_seats: a Yes and a No of a pair ask about the same seats, if seat
    numbers would reveal the answer. matched: for a choice: answers are paired with equal words. Not if the
    options are drawn for each question.
    """

    name: str
    about: str
    frames: tuple[str, ...]
    answer: EngineAnswer
    form: Form = "yes_no"
    answer_type: AnswerType = "text"
    choices: Mapping[str, str] = field(default_factory=dict)
    same_seats: bool = False
    matched: bool = True

    @property
    def setting(self) -> DrawnFrom | None:
        """The situations in which it is asked; None for a question about the rules themselves."""
        return self.answer.setting

    def options(
        self, rules: Ruleset, s: GameSituation, asked: AskedAbout, value: Value, rng: random.Random
    ) -> Mapping[str, str]:
        """The options of a choice, by value; empty for other forms."""
        drawn = self.answer.options
        return self.choices if drawn is None else drawn(rules, s, asked, value, rng)

    def __post_init__(self) -> None:
        known, held_out = self.frames[:-HELD_OUT], self.frames[-HELD_OUT:]
        if len(known) < 3 or len({*self.frames}) < len(self.frames):
            raise ValueError(f"kind {self.name!r}: write at least {HELD_OUT + 3} different frames")
        turned = [{frame.startswith("!") for frame in part} for part in (known, held_out)]
        if self.setting is None and self.form == "yes_no" and turned != [{True, False}] * 2:
            raise ValueError(
                f"kind {self.name!r}: questions about rules are balanced by how they are asked; begin some "
                f"of the frames with '!', and one of the last {HELD_OUT}"
            )


def entries_of(file: str) -> dict[str, dict[str, Any]]:
    """The entries of a file of this folder by the kinds' names."""
    return msgspec.yaml.decode(Path(__file__).with_name(file).read_bytes(), type=dict[str, dict[str, Any]])


def kinds_of(
    entries: Mapping[str, Mapping[str, Any]], answers: Mapping[str, EngineAnswer]
) -> list[QuestionKind]:
    """The kinds of these entries, in their order."""
    assert entries.keys() == answers.keys(), entries.keys() ^ answers.keys()
    return [
        QuestionKind(name=name, answer=answers[name], **{**entry, "frames": tuple(entry["frames"])})
        for name, entry in entries.items()
    ]


def seats(rules: Ruleset, situation: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Every seat, in random order, as x."""
    for x in rng.sample(range(situation.players), situation.players):
        yield {"x": x}


def living(rules: Ruleset, situation: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Every living seat, in random order, as x."""
    for x in rng.sample(situation.living, len(situation.living)):
        yield {"x": x}


def two_living(rules: Ruleset, situation: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """A few pairs of living seats, as x and y."""
    for _ in range(6):
        if len(situation.living) > 1:
            x, y = rng.sample(situation.living, 2)
            yield {"x": x, "y": y}
