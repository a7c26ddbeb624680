"""What the reflective player has before it: the freshest messages, the most telling, and those nearest to a
question (003 §3.3).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from marks import examples
from reflective_helpers import (
    OWN,
    Counting,
    moment,
    turn,
)
from rules_helpers import Game, rulesets
from text_helpers import talkative
from wolflab.agents.recall import Messages, messages_seen, retrieve
from wolflab.match import run_now
from wolflab.models.embedders.embedder import Vectors
from wolflab.rules import EVERYONE, WITCH, DayBroke, Dealt, Event, NightFell, Note, Said, View, Voted
from wolflab.text.asking.templates import phrases
from wolflab.text.notes import Answered, Recalled, Reflected
from wolflab.text.questions import Line

WAIT = Reflected("I had better wait.")
SEER = "As the Witch, I think that Player 3 is the Seer."


def said(seat: int, text: str) -> Said:
    return Said(seat, "discussion", text, EVERYONE)


EVENTS: tuple[Event, ...] = (
    Dealt(1, "Witch", 2),
    NightFell(1, EVERYONE),
    DayBroke(1, (6,), EVERYONE),
    said(2, "Good morning."),
    said(3, "I am the Seer."),
    said(4, "Good morning."),
    Voted(2, 3, "eliminate", EVERYONE),
    NightFell(2, EVERYONE),
    DayBroke(2, (), EVERYONE),
    said(5, "I am the Guard."),
)
"""As messages, without the nightfalls: 5, 4, 1, 3, 1, 1, 1, 3 (003 Table 1)."""


def view(events: Sequence[Event] = EVENTS, notes: Sequence[tuple[int, object]] = ()) -> View:
    """The Witch's view. notes: (events seen by then, what was noted)."""
    return View(1, WITCH, tuple(events), tuple(Note("a", "reflect", note, at) for at, note in notes), {})


def places(lines: Sequence[Line]) -> list[int]:
    return [line.position for line in lines]


# -- messages, freshness, informativeness ---------------------------------------------------------


def test_messages_are_what_was_seen_and_what_was_thought() -> None:
    memory = messages_seen(view(notes=[(3, WAIT), (6, Reflected(SEER)), (6, Recalled((), ())), (10, WAIT)]))
    told = [line.event for line in memory.lines]
    expected: list[Any] = [event for event in EVENTS if not isinstance(event, NightFell)]
    assert told == [*expected[:2], WAIT, *expected[2:5], Reflected(SEER), *expected[5:], WAIT]
    assert [line.number for line in memory.lines] == list(range(1, 12))
    assert places(memory.lines) == list(range(11))
    assert [(line.round, line.phase) for line in memory.lines] == [
        (0, "setup"), *[(1, "day")] * 7, *[(2, "day")] * 3
    ]  # fmt: skip
    assert memory.scores == [5, 4, 1, 1, 3, 1, 3, 1, 1, 3, 1]


def test_the_window_holds_the_last_k() -> None:
    memory = messages_seen(view())
    assert places(memory.recent(3)) == [5, 6, 7]
    assert places(memory.recent(99)) == list(range(8))
    assert memory.recent(0) == []


def test_the_most_telling_come_first_then_the_oldest() -> None:
    memory = messages_seen(view())
    assert memory.scores == [5, 4, 1, 3, 1, 1, 1, 3]
    assert places(memory.informative(1, 0)) == [0]
    assert places(memory.informative(2, 0)) == [0, 1]
    assert places(memory.informative(3, 0)) == [0, 1, 3], "of two that score alike, the older one"
    assert places(memory.informative(99, 0)) == [0, 1, 3, 7], "what scores 1 fills no place"
    assert places(memory.informative(99, 1)) == [0, 1, 3], "what is in the window is not shown twice"
    assert places(memory.informative(3, 5)) == [0, 1]
    assert memory.informative(0, 0) == []
    assert memory.informative(99, 8) == []


@examples(20)
@given(rulesets(max_rounds=3), st.integers(0, 999), st.data())
def test_the_fold_goes_on_where_it_was(rules: Any, seed: int, data: st.DataObject) -> None:
    """Read at any moments, with reflections in between: the same messages as read once at the end."""
    game, choose = Game(rules), talkative(random.Random(seed), rules)
    kept = Messages(rules)
    read = 0
    while not game.over:
        if all(ask.seat >= 0 for ask in game.asks):
            for seat in {ask.seat for ask in game.asks}:
                at = len(game.log.view(seat).events)
                if data.draw(st.booleans()):
                    game.log.note(seat, Note("a", "reflect", Reflected(f"I am the Seer, {at}."), at))
            if data.draw(st.booleans()):
                kept.read(game.log.view(0))
                read += 1
        game.reply([choose(ask) for ask in game.asks])
    end = game.log.view(0)
    kept.read(end)
    fresh = Messages(rules)
    fresh.read(end)
    assert kept.lines == fresh.lines
    assert kept.scores == fresh.scores
    assert messages_seen(end._replace(cache={})).lines == fresh.lines


def test_an_earlier_view_is_read_anew() -> None:
    cache: dict[str, Any] = {}
    late = view(notes=[(4, WAIT)])._replace(cache=cache)
    assert len(messages_seen(late).lines) == 9
    early = view(EVENTS[:5])._replace(cache=cache)
    assert len(messages_seen(early).lines) == 4
    assert len(messages_seen(late).lines) == 9
    assert len(messages_seen(late._replace(notes=())).lines) == 8


def test_reflections_enter_window_and_what_is_telling() -> None:
    notes = [(2, Reflected(SEER)), (10, WAIT)]
    memory = messages_seen(view(notes=notes))
    assert memory.lines[1].event == Reflected(SEER)
    assert memory.recent(1)[0].event == WAIT
    assert 1 in places(memory.informative(4, 3))
    turned = turn(view(notes=notes), moment(WITCH, "vote")[1], OWN.with_(reflect={"recent": 2}))
    told = turned.prompt("act")[1]
    words = phrases("own/reflective", 0)
    older, latest = told.split(words["recent"].template)
    assert f'[2] In night 1 round, you thought to yourself: "{SEER}"' in older
    assert f'[10] In day 2 round, you thought to yourself: "{WAIT.text}"' in latest


def test_a_reflection_is_a_message_from_the_next_turn_on() -> None:
    first, ask = moment(WITCH, "vote", seed=3)
    turned = turn(first, ask)
    (thought,) = [note for note in turned.notes if isinstance(note, Reflected)]
    assert all(f'yourself: "{thought.text}"' not in turned.prompt(step)[1] for step in turned.steps)
    at = len(first.events)
    noted = first._replace(
        notes=(*first.notes, *(Note(ask.id, step, content, at) for step, content in turned.reply.notes))
    )
    again = turn(noted, ask)
    assert all(f'yourself: "{thought.text}"' in again.prompt(step)[1] for step in again.steps)
    recalled = [note for note in again.notes if isinstance(note, Recalled)]
    assert recalled[0].recent[-1] == len(messages_seen(noted).lines) - 1


# -- retrieval ------------------------------------------------------------------------------------


class Embeds:
    """`io` as far as retrieval needs it."""

    def __init__(self, embedder: Counting) -> None:
        self.embedder = embedder

    async def embed(self, what: str, texts: Sequence[str]) -> Vectors:
        assert what == "messages"
        return await self.embedder.embed(texts)


def found(seen: View, questions: Sequence[str], top: int, embedder: Counting) -> list[list[int]]:
    io: Any = Embeds(embedder)
    return [places(lines) for lines in run_now(retrieve(seen, messages_seen(seen), questions, top, io))]


BY_HAND = {
    "Good morning.": (0.8, 0.6, 0),
    "I am the Seer.": (0, 1, 0),
    "I am the Guard.": (0, 0.6, 0.8),
    "In day 1 round, Player 3 voted for Player 4.": (-1, 0, 0),
    "morning?": (1, 0, 0),
    "role?": (0, 1, 0),
    "weather?": (0, 0, -1),
}


def test_the_nearest_messages_are_found_for_each_question() -> None:
    def ask(top: int) -> list[list[int]]:
        return found(view(), ("morning?", "role?", "weather?"), top, Counting(BY_HAND))

    assert ask(1) == [[2], [3], []]
    assert ask(2) == [[2, 4], [2, 3], []], "of three that are alike, the oldest"
    assert ask(3) == [[2, 4], [2, 3, 4], []]
    assert ask(9) == [[2, 4], [2, 3, 4, 7], []], "what has nothing in common is not found"
    assert ask(0) == [[], [], []]


def test_each_message_is_embedded_once_without_its_speaker() -> None:
    embedder, seen = Counting(BY_HAND), view(EVENTS[:6])
    found(seen, ("morning?",), 5, embedder)
    found(seen, ("role?",), 5, embedder)
    later = view()._replace(cache=seen.cache)
    assert found(later, ("role?",), 1, embedder) == [[3]]
    assert embedder.batches == [
        ("You are Player 2. You are a Witch.", "Day 1 announcement: Player 7 was killed.", "Good morning.",
         "I am the Seer.", "Good morning.", "morning?"),
        ("role?",),
        ("In day 1 round, Player 3 voted for Player 4.", "Day 2 announcement: No player was killed.",
         "I am the Guard.", "role?"),
    ]  # fmt: skip


def test_equal_messages_are_told_apart_by_age_alone() -> None:
    """Equal vectors have equal similarities, wherever they stand: the last bit decides nothing."""
    rng = np.random.default_rng(1)
    questions = [f"why {n}?" for n in range(7)]
    for count in (17, 33, 61):
        texts = [f"text {n}" for n in range(count)]
        numbers = rng.normal(size=(count + 7, 768))
        numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
        by_hand = {text: list(row) for text, row in zip([*texts, *questions], numbers, strict=True)}
        seen = view([said(2, texts[at % count]) for at in range(3 * count)])
        for top in (1, 2, 4, 5):
            for near in found(seen, questions, top, Counting(by_hand)):
                assert len(near) == top
                passed_over = [at - count for at in near if at >= count and at - count not in near]
                assert not passed_over, "a younger one was taken before its equal"


def test_two_asks_of_one_seat_at_once_share_its_vectors() -> None:
    """A straw poll taken twice asks a seat twice at the same moment."""
    embedder, seen = Counting(BY_HAND, late=True), view()
    io: Any = Embeds(embedder)

    async def both() -> list[list[list[Line]]]:
        memory = messages_seen(seen)
        asked = (("morning?",), ("role?", "weather?"), ("morning?", "role?"))
        return await asyncio.gather(*(retrieve(seen, memory, each, 2, io) for each in asked))

    one, two, three = asyncio.run(both())
    assert [places(lines) for lines in (*one, *two, *three)] == [[2, 4], [2, 3], [], [2, 4], [2, 3]]
    assert messages_seen(seen).embedded == len(messages_seen(seen).lines)
    later = view((*EVENTS, said(6, "I am the Seer.")))._replace(cache=seen.cache)
    assert found(later, ("role?",), 2, Counting(BY_HAND)) == [[3, 8]]


def test_a_turn_retrieves_for_its_own_questions() -> None:
    seen, ask = moment(WITCH, "vote", seed=3)
    embedder = Counting()
    turned = turn(seen, ask, embedder=embedder)
    answered = [note for note in turned.notes if isinstance(note, Answered)]
    (batch,) = embedder.batches
    memory = messages_seen(seen._replace(cache={}))
    assert len(batch) == len(memory.lines) + 7
    assert batch[-7:] == tuple(note.question for note in answered)
    assert {len(note.retrieved) for note in answered} == {5}
    by_hand = found(seen._replace(cache={}), batch[-7:], 5, Counting())
    assert by_hand == [list(note.retrieved) for note in answered]
