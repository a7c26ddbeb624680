"""Questions taken from real games, for the tests of `wolflab.text`. It knows rules and text alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import msgspec
from hypothesis import strategies as st

from rules_helpers import Choose as Chooser
from rules_helpers import Game, rulesets, uniform
from wolflab.rules import (
    CHANCE,
    Action,
    Ask,
    Ruleset,
    Said,
    Say,
    View,
)
from wolflab.text.asking.options import labels
from wolflab.text.asking.prompts import STYLES
from wolflab.text.asking.reflective_prompts import questionnaire
from wolflab.text.intents import intents
from wolflab.text.notes import Belief, Candidate, Reflected
from wolflab.text.questions import (
    Aids,
    AnswerQuestion,
    AskQuestions,
    Choose,
    ChooseQuestions,
    Decide,
    Deduce,
    Extract,
    Interview,
    Judge,
    Line,
    Plan,
    Propose,
    Question,
    Rate,
    Reflect,
    Situation,
    Task,
    Wording,
    guessable,
)

TASKS = (
    Decide,
    Deduce,
    Rate,
    ChooseQuestions,
    AskQuestions,
    AnswerQuestion,
    Reflect,
    Extract,
    Interview,
    Judge,
    Plan,
    Propose,
    Choose,
)
"""Every kind of task."""

SPEECHES = (
    "I am the Seer and {} is a Werewolf.",
    "I trust {}.",
    "Let us vote for {} today.",
    "",
    "I have nothing on {}, but the silence of some players worries me.",
)


def talkative(rng: random.Random, ruleset: Ruleset) -> Chooser:
    """Random choices and short speeches."""
    choose = uniform(rng)

    def talk(ask: Ask) -> Action:
        if ask.options is None:
            return Say(rng.choice(SPEECHES).format(rng.choice(ruleset.names)))
        return choose(ask)

    return talk


def situation_of(view: View, ask: Ask, split: int = 0) -> Situation:
    """All that `view` holds; statements whose position divided by 3 leaves `split` 1 or 2 are judged."""
    blocks: list[list[Line]] = [[], [], [], []]
    for position, (event, now) in enumerate(view.with_facts()):
        heard = isinstance(event, Said) and event.seat != view.seat
        block = ((3, 1, 2)[position % 3] if split else 3) if heard else 0
        blocks[block].append(Line(position + 1, now.round, now.phase, event, position))
    known = view.facts
    facts, truths, falsehoods, pending = (tuple(block) for block in blocks)
    return Situation(
        view.ruleset,
        view.seat,
        known.roles[view.seat],
        known.pack_of(view.seat),
        ask.round,
        ask.phase,
        known.living,
        known.sheriff,
        facts,
        truths,
        falsehoods,
        pending,
    )


def situations(ruleset: Ruleset, seed: int, split: int = 0) -> Iterator[tuple[Ask, Situation]]:
    """Every ask to a seat in one talkative game, with what that seat knew."""
    game = Game(ruleset)
    choose = talkative(random.Random(seed), ruleset)
    while not game.over:
        for ask in game.asks:
            if ask.seat != CHANCE:
                yield ask, situation_of(game.log.view(ask.seat), ask, split)
        game.reply([choose(ask) for ask in game.asks])


def others(situation: Situation) -> tuple[int, ...]:
    """The other living seats."""
    return tuple(seat for seat in situation.alive if seat != situation.seat)


_TEXTS = st.sampled_from(["I wonder.", "Player 2 is odd.", "As the Seer, I saw player_3.", "Why?"])
_PAIRS = st.lists(st.tuples(_TEXTS, _TEXTS), max_size=3).map(tuple)


@st.composite
def questions(draw: st.DrawFn, kinds: tuple[type, ...] = TASKS) -> Question:
    """A question from somewhere in a random game under a random ruleset."""
    ruleset = draw(rulesets())
    found = list(situations(ruleset, draw(st.integers(0, 99)), split=draw(st.integers(0, 1))))
    ask, situation = draw(st.sampled_from(found))
    kind = draw(st.sampled_from(kinds))
    layout = draw(st.sampled_from(["paper", "append", "recall"]))
    wording = draw(st.sampled_from(["paper", "own"]))
    if layout == "recall":
        situation = remembering(situation, draw(st.integers(0, 20)), draw(st.integers(0, 9)))
    if kind in (Decide, Deduce, Rate):
        task = draw(_plain_tasks(kind, ask, situation))
    elif kind in (Plan, Propose, Choose):
        task = draw(_strategic_tasks(kind, ask, situation))
    else:
        task = draw(_thinking_tasks(kind, ask, situation, wording))
    beliefs = tuple(
        Belief(seat, draw(st.sampled_from(guessable(ruleset))), draw(st.integers(5, 10)), 6, (0,), "why")
        for seat in others(situation)[: draw(st.integers(0, 3))]
    )
    return Question(
        situation,
        task,
        beliefs,
        draw(st.sampled_from([None, *STYLES])),
        wording,
        layout,
        draw(st.booleans()),
        draw(st.booleans()),
    )


def remembering(situation: Situation, recent: int, informative: int) -> Situation:
    """As a reflective player has it: a thought of its own, the latest lines, and some older ones."""
    lines = list(situation.lines)
    thought = Line(0, situation.round, "day", Reflected("I had better wait."), 0)
    lines.insert(len(lines) // 2, thought)
    lines = [msgspec.structs.replace(line, number=at + 1, position=at) for at, line in enumerate(lines)]
    start = max(len(lines) - recent, 0)
    talk = [isinstance(line.event, Said) and line.event.seat != situation.seat for line in lines]
    latest = list(zip(lines, talk, strict=True))[start:]
    return replace(
        situation,
        facts=tuple(line for line, said in latest if not said),
        truths=(),
        falsehoods=(),
        pending=tuple(line for line, said in latest if said),
        informative=tuple(lines[:start][:informative]),
    )


@st.composite
def _plain_tasks(draw: st.DrawFn, kind: type, ask: Ask, situation: Situation) -> Task:
    if kind is Decide or not others(situation):
        intent = draw(st.none() | st.sampled_from(intents(situation.ruleset)))
        return Decide(ask, draw(st.none() | _aids()), draw(_TEXTS | st.just("")), intent)
    if kind is Deduce:
        names = ("reasoning", "confidence", "evidence")
        attributes = tuple(draw(st.lists(st.sampled_from(names), unique=True)))
        return Deduce(ask, _targets(draw, situation), guessable(situation.ruleset), attributes)
    return Rate(ask, _targets(draw, situation))


def _aids() -> st.SearchStrategy[Aids]:
    return st.builds(Aids, _TEXTS | st.just(""), _TEXTS | st.just(""), _PAIRS, st.booleans())


@st.composite
def _strategic_tasks(draw: st.DrawFn, kind: type, ask: Ask, situation: Situation) -> Task:
    if kind is Plan:
        return Plan(ask, draw(st.sampled_from(["own", "others"])), draw(_TEXTS | st.just("")))
    words = st.sampled_from(labels(ask, situation.ruleset)) if ask.options else _TEXTS | st.just("")
    some = st.lists(st.builds(Candidate, words, _TEXTS | st.just("")), max_size=3, unique_by=_action)
    candidates = tuple(draw(some))
    if kind is Propose:
        return Propose(ask, draw(st.integers(1, 4)), candidates)
    return Choose(ask, candidates or (Candidate(draw(words), "why not"),))


def _action(candidate: Candidate) -> str:
    return candidate.action


@st.composite
def _thinking_tasks(draw: st.DrawFn, kind: type, ask: Ask, situation: Situation, wording: Wording) -> Task:
    listed = questionnaire(situation.role, wording, situation.ruleset)
    count = draw(st.integers(1, 8))
    if kind is ChooseQuestions:
        return ChooseQuestions(ask, listed, count)
    if kind is AskQuestions:
        return AskQuestions(ask, listed[: draw(st.integers(0, 5))], count)
    if kind is AnswerQuestion:
        lines = st.lists(st.sampled_from(situation.lines or (None,)), max_size=4, unique=True)
        found = tuple(line for line in draw(lines) if line is not None)
        return AnswerQuestion(ask, draw(_TEXTS), found, draw(_PAIRS))
    if kind is Reflect:
        return Reflect(ask, draw(_PAIRS))
    if kind is Extract:
        good = draw(st.lists(_TEXTS, min_size=1, max_size=5))
        return Extract(ask, draw(_TEXTS), draw(_TEXTS), tuple(good))
    if kind is Interview:
        return Interview(ask, draw(st.sampled_from(guessable(situation.ruleset)[:-1])))
    names = draw(st.lists(st.sampled_from(["legal", "truthful", "useful"]), min_size=1, unique=True))
    return Judge(ask, draw(_TEXTS), tuple((name, f"the reply is {name}") for name in names))


def _targets(draw: st.DrawFn, situation: Situation) -> tuple[int, ...]:
    seats = st.sampled_from(others(situation))
    return tuple(sorted(draw(st.lists(seats, min_size=1, max_size=4, unique=True))))


def ask(kind: str, options: tuple[Action, ...] | None, seat: int = 0, phase: str = "night") -> Ask:
    """An ask of the first round."""
    return Ask(f"1/{kind}/{seat}", seat, kind, phase, 1, options)
