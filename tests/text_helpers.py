"""Questions taken from real games, for the tests of `wolflab.text`. It knows rules and text alone."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hypothesis import strategies as st

from rules_helpers import Choose, Game, rulesets, uniform
from wolflab.rules import (
    CHANCE,
    Action,
    Ask,
    DayBroke,
    Dealt,
    NightFell,
    PackMet,
    Ruleset,
    Said,
    Say,
    SheriffNamed,
    View,
    VoteCounted,
)
from wolflab.text.notes import Belief
from wolflab.text.prompts import STYLES
from wolflab.text.questions import Decide, Deduce, Line, Question, Rate, Situation, Task, guessable

SPEECHES = (
    "I am the Seer and {} is a Werewolf.",
    "I trust {}.",
    "Let us vote for {} today.",
    "",
    "I have nothing on {}, but the silence of some players worries me.",
)


def talkative(rng: random.Random, ruleset: Ruleset) -> Choose:
    """Random choices and short speeches."""
    choose = uniform(rng)

    def talk(ask: Ask) -> Action:
        if ask.options is None:
            return Say(rng.choice(SPEECHES).format(rng.choice(ruleset.names)))
        return choose(ask)

    return talk


def situation_of(view: View, ask: Ask, split: int = 0) -> Situation:
    """All that `view` holds; statements whose position divided by 3 leaves `split` 1 or 2 are judged."""
    role, pack, sheriff = "", (), None
    alive = set(range(view.ruleset.players))
    round, phase = 0, "setup"
    blocks: list[list[Line]] = [[], [], [], []]
    for position, event in enumerate(view.events):
        match event:
            case NightFell():
                round, phase = event.round, "night"
            case DayBroke():
                phase = "day"
                alive -= set(event.deaths)
            case VoteCounted():
                alive.discard(event.seat)  # type: ignore[arg-type]
            case Dealt():
                role = event.role
            case PackMet():
                pack = event.seats
            case SheriffNamed():
                sheriff = event.seat
        heard = isinstance(event, Said) and event.seat != view.seat
        block = ((3, 1, 2)[position % 3] if split else 3) if heard else 0
        blocks[block].append(Line(position + 1, round, phase, event, position))
    facts, truths, falsehoods, pending = (tuple(block) for block in blocks)
    return Situation(
        view.ruleset,
        view.seat,
        role,
        pack,
        ask.round,
        ask.phase,
        tuple(sorted(alive)),
        sheriff,
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


@st.composite
def questions(draw: st.DrawFn, kinds: tuple[type, ...] = (Decide, Deduce, Rate)) -> Question:
    """A question from somewhere in a random game under a random ruleset."""
    ruleset = draw(rulesets())
    found = list(situations(ruleset, draw(st.integers(0, 99)), split=draw(st.integers(0, 1))))
    ask, situation = draw(st.sampled_from(found))
    kind = draw(st.sampled_from(kinds))
    task: Task
    if kind is Decide or not others(situation):
        task = Decide(ask)
    elif kind is Deduce:
        names = ("reasoning", "confidence", "evidence")
        attributes = tuple(draw(st.lists(st.sampled_from(names), unique=True)))
        task = Deduce(ask, _targets(draw, situation), guessable(ruleset), attributes)
    else:
        task = Rate(ask, _targets(draw, situation))
    beliefs = tuple(
        Belief(seat, draw(st.sampled_from(guessable(ruleset))), draw(st.integers(5, 10)), 6, (0,), "why")
        for seat in others(situation)[: draw(st.integers(0, 3))]
    )
    return Question(
        situation,
        task,
        beliefs,
        draw(st.sampled_from([None, *STYLES])),
        draw(st.sampled_from(["paper", "own"])),
        draw(st.sampled_from(["paper", "append"])),
    )


def _targets(draw: st.DrawFn, situation: Situation) -> tuple[int, ...]:
    seats = st.sampled_from(others(situation))
    return tuple(sorted(draw(st.lists(seats, min_size=1, max_size=4, unique=True))))


def ask(kind: str, options: tuple[Action, ...] | None, seat: int = 0, phase: str = "night") -> Ask:
    """An ask of the first round."""
    return Ask(f"1/{kind}/{seat}", seat, kind, phase, 1, options)
