"""Wordings: the same facts and the same question in many words.

A wording is three numbers: the frame of the question (of its kind), how the situation is told, and what leads
the question in. Of each the last ones are kept for the test of new wordings, so that no sentence of it was
seen before.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
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


class Telling(NamedTuple):
    """One way to tell situations. Frames hold {x} and {y} for players, {n} for a number, {role} for a role.

    name: of a player; "" is the rules' own name. roles, alive, dead: a sentence for all, or for each {x}.
    """

    name: str
    time: str
    role: str
    roles: str
    alive: str
    dead: str
    sheriff: str
    late_sheriff: str
    intended: str
    candidates: str
    order: str
    unused: str
    used: str
    shielded: str
    kill: str
    shield: str
    see: str
    poison: str
    other: str
    nothing: str
    antidote: str
    no_antidote: str
    vote: str
    no_vote: str
    left: str
    right: str
    shoot: str
    no_shoot: str


_TOLD = msgspec.yaml.decode(Path(__file__).with_name("tellings.yaml").read_bytes())
TELLINGS = tuple(Telling(**sentences) for sentences in _TOLD)


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

    def __init__(self, rules: Ruleset, telling: Telling) -> None:
        self.telling = telling
        name = telling.name
        self.names = (
            [name.format(n=seat + rules.first_player) for seat in range(rules.players)]
            if name
            else rules.names
        )

    def all(self, frame: str, seats: Sequence[int]) -> list[str]:
        """One sentence for all of them, or one for each."""
        if "{list}" in frame:
            return [frame.format(list=listed([self.names[seat] for seat in seats]))]
        return [frame.format(x=self.names[seat]) for seat in seats]

    def roles(self, roles: Sequence[str], rng: random.Random) -> list[str]:
        frame = self.telling.role
        told = [
            frame.format(x=self.names[seat], role=role, a_role=a_role(role))
            for seat, role in enumerate(roles)
        ]
        if self.telling.roles:
            return [self.telling.roles.format(list=", ".join(told))]
        rng.shuffle(told)
        return [" ".join(map(_sentence, told))]

    def status(self, s: GameSituation) -> list[str]:
        """Who is alive and who is dead."""
        alive, dead = self.telling.alive, self.telling.dead
        if "{list}" in alive:
            lines = self.all(alive, s.living) + self.all(dead, s.dead)
        else:
            frames = (dead if seat in s.dead else alive for seat in range(s.players))
            lines = [frame.format(x=name) for frame, name in zip(frames, self.names, strict=True)]
        return [" ".join(map(_sentence, lines))]

    def standing(self, s: GameSituation) -> list[str]:
        """Office, potions, last night's shields, the order drawn."""
        t, lines = self.telling, []
        if s.sheriff is not None:
            lines += self.all(t.late_sheriff if s.sheriff in s.dead else t.sheriff, [s.sheriff])
        if s.intended is not None:
            lines += self.all(t.intended, [s.intended])
        if s.candidates:
            lines += self.all(t.candidates, s.candidates)
        if s.order:
            lines += self.all(t.order, s.order)
        witches = s.holders("Witch") if s.moment == "night" and s.roles else ()
        for seat in witches:
            for what in ("antidote", "poison"):
                frame = t.used if (seat, what) in s.spent else t.unused
                lines.append(frame.format(x=self.names[seat], what=what))
        for seat, target in s.shielded:
            lines.append(t.shielded.format(x=self.names[seat], y=self.names[target]))
        return lines

    def action(self, told: ToldAction) -> str:
        kind, seat, target = told
        t = self.telling
        frames: dict[str, tuple[str, str]] = {
            "vote": (t.vote, t.no_vote),
            "elect": (t.vote, t.no_vote),
            "shoot": (t.shoot, t.no_shoot),
        }
        x = self.names[seat]
        if isinstance(target, str) and target != "pass":
            words = {"yes": t.antidote, "no": t.no_antidote, "left": t.left, "right": t.right}
            return words[target].format(x=x)
        verbs = {"kill": t.kill, "see": t.see, "poison": t.poison} | dict.fromkeys(SHIELDS, t.shield)
        chosen, none = frames.get(kind, (verbs.get(kind, t.other), t.nothing))
        if target == "pass":
            return none.format(x=x)
        verb = DUTIES[kind].verb if kind in DUTIES else kind
        return chosen.format(x=x, y=self.names[int(target)], verb=verb)


def _sentence(text: str) -> str:
    """With a capital, unless a name like player_1 begins it, and a full stop."""
    if "_" not in text.split(maxsplit=1)[0]:
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".?!" else f"{text}."


def tell(rules: Ruleset, s: GameSituation, telling: int, rng: random.Random) -> str:
    """The situation in words; the order of the facts is drawn."""
    speaker = _Speaker(rules, TELLINGS[telling])
    standing = [*speaker.roles(s.roles, rng)] if s.roles else []
    standing += [*speaker.status(s), *speaker.standing(s)]
    rng.shuffle(standing)
    time = "night" if s.moment == "night" else "day"
    when = f"{'in' if time == 'night' else 'on'} {time} {s.round}"
    first = speaker.telling.time.format(time=time, n=s.round, when=when)
    actions = [speaker.action(told) for told in s.told]
    rng.shuffle(actions)
    return " ".join(map(_sentence, [first, *standing, *actions]))


class Worded(NamedTuple):
    """A question in words. value: the answer as data, turned round where the frame asks for the opposite."""

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
) -> Worded:
    """The item's text and answer in one wording."""
    frame = kind.frames[wording.frame]
    if frame.startswith("!"):
        frame, value = frame[1:], not value
    speaker = _Speaker(rules, TELLINGS[wording.telling])
    named = {key: speaker.names[word] if isinstance(word, int) else word for key, word in asked.items()}
    question = _sentence(frame.format(**named))
    lead = LEADS[wording.lead]
    text = lead + question
    if kind.setting is not None:
        text = f"{tell(rules, s, wording.telling, rng)}\n{text}"
    texts = _options(rules, kind, s, asked, value, wording.telling, rng)
    choices = tuple(rng.sample(list(texts.values()), len(texts)))
    answer = texts[str(value)] if texts else disguised(in_words(value, kind, speaker.names), rules)
    return Worded(disguised(text, rules), answer, choices, value)


def right_answer(
    rules: Ruleset, kind: QuestionKind, s: GameSituation, asked: AskedAbout, value: Value, telling: int
) -> str:
    """The answer in words, as `worded` gives it; value: turned round already."""
    texts = _options(rules, kind, s, asked, value, telling, random.Random(0))
    names = _Speaker(rules, TELLINGS[telling]).names
    return texts[str(value)] if texts else disguised(in_words(value, kind, names), rules)


def _options(
    rules: Ruleset,
    kind: QuestionKind,
    s: GameSituation,
    asked: AskedAbout,
    value: Value,
    telling: int,
    rng: random.Random,
) -> dict[str, str]:
    """The options of a choice in words, by value; empty for other forms."""
    names = _Speaker(rules, TELLINGS[telling]).names
    named = {key: names[word] if isinstance(word, int) else word for key, word in asked.items()}
    options = kind.options(rules, s, asked, value, rng)
    return {key: disguised(_sentence(_named(text, named, names)), rules) for key, text in options.items()}


def _named(text: str, named: Mapping[str, object], names: Sequence[str]) -> str:
    """An option's text with the names of {x}, {y} and of seats by number."""
    return re.sub(r"\{(\w+)\}", lambda m: str(named.get(m[1]) or names[int(m[1])]), text)


def in_words(value: Value, kind: QuestionKind, names: Sequence[str]) -> str:
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
