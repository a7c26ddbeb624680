"""Wordings: different words for the same facts and the same question. A wording is three numbers: the frame
of the question (of its kind), the telling of the situation, and the lead of the question. The last ones of
each are kept for the test of new wordings, so that none of its sentences was seen before.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..rules import Ruleset
from ..rules.roles import DUTIES, SHIELDS
from ..text.asking.disguise import disguised
from ..text.asking.sentences import a_role, listed
from .items import NO, NOBODY, YES
from .kinds.kind import HELD_OUT, QuestionKind, Value
from .situations import AskedAbout, GameSituation, ToldAction

LEADS = (
    "",
    "Question: ",
    "By the rules of this game: ",
    "Tell me: ",
    "Here is a question. ",
    "One thing to settle: ",
    "Now think of the rules and answer: ",
    "What remains to be found out: ",
)


class ItemWording(NamedTuple):
    """See the module."""

    frame: int
    telling: int
    lead: int

    def __str__(self) -> str:
        return ".".join(map(str, self))


TELLINGS: list[dict[str, str]] = msgspec.yaml.decode(Path(__file__).with_name("tellings.yaml").read_bytes())
"""The tellings of situations: sentences by fact."""
_TOLD_BY = {
    "kill": "kill",
    "see": "see",
    "poison": "poison",
    "vote": "vote",
    "elect": "vote",
    "shoot": "shoot",
    "yes": "antidote",
    "no": "no_antidote",
    "left": "left",
    "right": "right",
} | dict.fromkeys(SHIELDS, "shield")
"""The sentence for an action, by its kind or its word; "other" for any other kind."""


def wordings(kind: QuestionKind, held_out: bool) -> list[ItemWording]:
    """All wordings of a kind, of those for training or of those held out."""

    def part(n: int) -> range:
        return range(n - HELD_OUT, n) if held_out else range(n - HELD_OUT)

    tellings = part(len(TELLINGS)) if kind.setting is not None else range(1)
    frames, leads = part(len(kind.frames)), part(len(LEADS))
    return [ItemWording(frame, telling, lead) for frame in frames for telling in tellings for lead in leads]


# -- telling ---------------------------------------------------------------------------------------------


class _Speaker:
    """Tells of a situation in one telling, under one ruleset."""

    def __init__(self, rules: Ruleset, telling: int) -> None:
        self.telling = TELLINGS[telling]
        name = self.telling["name"]
        numbers = range(rules.first_player, rules.first_player + rules.players)
        self.names = [name.format(n=number) for number in numbers] if name else rules.names

    def named(self, asked: AskedAbout) -> dict[str, str]:
        """The question's arguments, with names for seats."""
        return {key: self.names[word] if isinstance(word, int) else word for key, word in asked.items()}

    def all(self, frame: str, seats: Sequence[int]) -> list[str]:
        """One sentence for all of them, or one for each."""
        if "{list}" in frame:
            return [frame.format(list=listed([self.names[seat] for seat in seats]))]
        return [frame.format(x=self.names[seat]) for seat in seats]

    def roles(self, roles: Sequence[str], rng: random.Random) -> list[str]:
        frame = self.telling["role"]
        told = [
            frame.format(x=self.names[seat], role=role, a_role=a_role(role))
            for seat, role in enumerate(roles)
        ]
        if self.telling["roles"]:
            return [self.telling["roles"].format(list=", ".join(told))]
        rng.shuffle(told)
        return [" ".join(map(_sentence, told))]

    def status(self, s: GameSituation) -> list[str]:
        """Who is alive and who is dead."""
        alive, dead = self.telling["alive"], self.telling["dead"]
        if "{list}" in alive:
            lines = self.all(alive, s.living) + self.all(dead, s.dead)
        else:
            frames = (dead if seat in s.dead else alive for seat in range(s.players))
            lines = [frame.format(x=name) for frame, name in zip(frames, self.names, strict=True)]
        return [" ".join(map(_sentence, lines))]

    def office_and_powers(self, s: GameSituation) -> list[str]:
        """Sentences on office, potions, last night's shields, the drawn order."""
        t, lines = self.telling, []
        if s.sheriff is not None:
            lines += self.all(t["late_sheriff" if s.sheriff in s.dead else "sheriff"], [s.sheriff])
        if s.intended is not None:
            lines += self.all(t["intended"], [s.intended])
        if s.candidates:
            lines += self.all(t["candidates"], s.candidates)
        if s.order:
            lines += self.all(t["order"], s.order)
        for seat in s.witches:
            for what in ("antidote", "poison"):
                frame = t["used" if (seat, what) in s.spent else "unused"]
                lines.append(frame.format(x=self.names[seat], what=what))
        for seat, target in s.shielded:
            lines.append(t["shielded"].format(x=self.names[seat], y=self.names[target]))
        return lines

    def action(self, told: ToldAction) -> str:
        kind, seat, target = told
        x, sentence = self.names[seat], _TOLD_BY.get(kind, "other")
        if target == "pass":
            return self.telling.get(f"no_{sentence}", self.telling["nothing"]).format(x=x)
        if isinstance(target, str):
            return self.telling[_TOLD_BY[target]].format(x=x)
        verb = DUTIES[kind].verb if kind in DUTIES else kind
        return self.telling[sentence].format(x=x, y=self.names[target], verb=verb)


def _sentence(text: str) -> str:
    """The text with a capital, unless a name like player_1 begins it, and a full stop."""
    if "_" not in text.split(maxsplit=1)[0]:
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".?!" else f"{text}."


def tell(rules: Ruleset, s: GameSituation, telling: int, rng: random.Random) -> str:
    """The situation in words; the order of the facts is random."""
    speaker = _Speaker(rules, telling)
    facts = speaker.roles(s.roles, rng) if s.roles else []
    facts += [*speaker.status(s), *speaker.office_and_powers(s)]
    rng.shuffle(facts)
    time = "night" if s.moment == "night" else "day"
    when = f"{'in' if time == 'night' else 'on'} {time} {s.round}"
    first = speaker.telling["time"].format(time=time, n=s.round, when=when)
    actions = [speaker.action(told) for told in s.told]
    rng.shuffle(actions)
    return " ".join(map(_sentence, [first, *facts, *actions]))


class WordedQuestion(NamedTuple):
    """A question in words. value: the answer as data, negated if the frame asks for the opposite."""

    question: str
    answer: str
    choices: tuple[str, ...]
    value: Value


def worded(
    rules: Ruleset,
    kind: QuestionKind,
    s: GameSituation,
    asked: AskedAbout,
    value: Value,
    wording: ItemWording,
    rng: random.Random,
) -> WordedQuestion:
    """The item's text and answer in one wording."""
    frame = kind.frames[wording.frame]
    if frame.startswith("!"):
        frame, value = frame[1:], not value
    text = LEADS[wording.lead] + _sentence(frame.format(**_Speaker(rules, wording.telling).named(asked)))
    if kind.setting is not None:
        text = f"{tell(rules, s, wording.telling, rng)}\n{text}"
    answer, options = right_answer(rules, kind, s, asked, value, wording.telling, rng)
    return WordedQuestion(disguised(text, rules), answer, tuple(rng.sample(options, len(options))), value)


def right_answer(
    rules: Ruleset,
    kind: QuestionKind,
    s: GameSituation,
    asked: AskedAbout,
    value: Value,
    telling: int,
    rng: random.Random,
) -> tuple[str, list[str]]:
    """The answer in words, and the options of a choice (empty for other forms).

    value: negated already if the frame asks for the opposite.
    """
    speaker = _Speaker(rules, telling)
    named = speaker.named(asked)

    def in_full(option: str) -> str:
        """An option with the names of {x}, {y} and of seats by number."""
        text = re.sub(r"\{(\w+)\}", lambda m: named.get(m[1]) or speaker.names[int(m[1])], option)
        return disguised(_sentence(text), rules)

    options = {key: in_full(text) for key, text in kind.options(rules, s, asked, value, rng).items()}
    if options:
        return options[str(value)], list(options.values())
    return disguised(_in_words(value, kind, speaker.names), rules), []


def _in_words(value: Value, kind: QuestionKind, names: Sequence[str]) -> str:
    """An answer as a player would write it."""
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, list):
        return ", ".join(names[seat] for seat in value) if value else NOBODY
    if kind.answer_type == "player" and isinstance(value, int):
        return names[value]
    if kind.answer_type == "side":
        return {"village": "the village", "werewolves": "the Werewolves"}[str(value)]
    return str(value)
