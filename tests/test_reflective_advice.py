"""What past games advise the reflective player (003 §3.4): found, shown, noted; and the study's placebo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from reflective_helpers import (
    ADVICE,
    OWN,
    Counting,
    ScriptedReflective,
    Turned,
    experience,
    moment,
    pool,
    step_of,
    turn,
)
from wolflab.agents.experience import Retriever
from wolflab.models.base import Request
from wolflab.models.embedders.embedder import Vectors
from wolflab.rules import WITCH
from wolflab.text.asking.templates import phrases
from wolflab.text.notes import Reflected, Suggested
from wolflab.text.questions import Extract

SEEN, ASK = moment(WITCH, "vote", seed=3)
ROLE = turn(SEEN, ASK).requests[0].question.situation.role
FAR, NEAR = (0.0, 1.0), (1.0, 0.0)
PAST = [
    experience(ROLE, "vote", "I vote for Player A.", 995, 1),
    experience(ROLE, "vote", "I pass.", 3, 2),
    experience(ROLE, "vote", "I vote for Player B.", 994, 3),
    experience(ROLE, "vote", "I follow the others.", 998, 4),
    experience(ROLE, "vote", "I vote for Player C.", 997, 5, deal="today"),
    experience(ROLE, "vote", "I am far from all of it.", 1, 6),
    experience(ROLE, "statement", "I speak of Player A.", 2, 7),
    experience("Cupid", "vote", "I aim.", 1, 8),
]
VECTORS = [NEAR, NEAR, NEAR, NEAR, NEAR, FAR, NEAR, NEAR]
POOL = pool(PAST, VECTORS, 0.85)


class Reflections(Counting):
    """Every text lies at NEAR."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(tuple(texts))
        return np.array([NEAR] * len(texts), np.float32)


def advised(
    retriever: Retriever, recipe: Any = OWN, spoil: Any = lambda request: None, key: str = "turn"
) -> Turned:
    return turn(SEEN, ASK, recipe, ScriptedReflective(spoil=spoil), retriever, Reflections({}), key)


def suggestion(turned: Turned) -> Suggested:
    (note,) = [note for note in turned.notes if isinstance(note, Suggested)]
    return note


def test_the_suggestion_is_drawn_from_the_bad_one_and_those_around_the_median() -> None:
    turned = advised(Retriever(POOL, deal="today", good=2))
    request = next(one for one in turned.requests if step_of(one) == "suggest")
    task = request.question.task
    assert isinstance(task, Extract)
    assert task.bad == "I pass."
    assert task.good == ("I vote for Player A.", "I vote for Player B.")
    note = suggestion(turned)
    assert note == Suggested(ADVICE, 4, "g2|1/vote/0", ("g1|1/vote/0", "g3|1/vote/0"))
    assert f'"{ADVICE}"' in turned.prompt("act")[1]
    assert "I vote for Player A." not in turned.prompt("act")[1]


def test_the_reflection_is_masked_before_it_is_looked_up() -> None:
    turned = advised(Retriever(POOL))
    (thought,) = [note for note in turned.notes if isinstance(note, Reflected)]
    task = next(one.question.task for one in turned.requests if isinstance(one.question.task, Extract))
    assert any(name in thought.text for name in WITCH.names)
    assert not any(name in task.reflection for name in WITCH.names)
    assert "Player A" in task.reflection


def test_the_own_deal_is_never_retrieved() -> None:
    mine = advised(Retriever(POOL, deal="today"))
    others = advised(Retriever(POOL, deal="tomorrow"))
    assert (suggestion(mine).found, suggestion(others).found) == (4, 5)
    shown = [one.question.task for one in mine.requests if isinstance(one.question.task, Extract)]
    assert shown
    assert all("Player C" not in text for task in shown for text in (task.bad, *task.good))
    assert "g5|1/vote/0" in suggestion(others).good
    whole = pool([one for one in PAST if one.deal == "today"] * 3, [NEAR] * 3, 0.85)
    assert suggestion(advised(Retriever(whole, deal="today"))).found == 0
    assert suggestion(advised(Retriever(whole))).found == 3


@pytest.mark.parametrize(
    ("retriever", "count", "why"),
    [
        (Retriever(POOL, epsilon=1.0), 0, "fewer than two are near enough"),
        (Retriever(pool(PAST[:1], [NEAR], 0.85)), 1, "fewer than two are near enough"),
        (Retriever(pool(PAST[6:], [NEAR] * 2, 0.85)), 0, "fewer than two are near enough"),
        (Retriever(POOL, limit=1), 1, "fewer than two are near enough"),
        (Retriever(POOL, window=(990, 993)), 5, "no score among them is a good one"),
    ],
)
def test_where_nothing_is_near_nothing_is_asked(retriever: Retriever, count: int, why: str) -> None:
    turned = advised(retriever)
    assert "suggest" not in turned.steps
    assert suggestion(turned) == Suggested("", count, why=why)
    assert "Advice drawn" not in turned.prompt("act")[1]
    assert ASK.allows(turned.reply.action)


def test_no_useful_experience_is_no_suggestion() -> None:
    def spoil(request: Request) -> str | None:
        return "No useful experience can be used." if step_of(request) == "suggest" else None

    turned = advised(Retriever(POOL), spoil=spoil)
    note = suggestion(turned)
    assert (note.text, note.found, note.bad, note.why) == (
        "",
        5,
        "g2|1/vote/0",
        "the model found no useful one",
    )
    assert "Advice drawn" not in turned.prompt("act")[1]


def test_random_advice_has_the_length_of_the_real_one_and_nothing_of_the_game() -> None:
    recipe = OWN.with_(reflect={"advice": "random"})
    bank = " ".join(phrase.template for phrase in phrases("random_advice", 0).values())
    texts = set()
    for length in (1, 5, 7, 8, 19, 60):
        real = " ".join(["The", "best", "way", *["vote"] * length][:length])

        def spoil(request: Request, real: str = real) -> str | None:
            return real if step_of(request) == "suggest" else None

        for key in ("game 1", "game 2", "game 1"):
            turned = advised(Retriever(POOL), recipe, spoil, key)
            note = suggestion(turned)
            assert len(note.text.split()) == length
            assert f'"{note.text}"' in turned.prompt("act")[1]
            words = note.text.removesuffix(".").split()
            assert " ".join(words[:7]) == " ".join(
                ["The", "best", "way", "for", "you", "is", "to"][: len(words)]
            )
            assert all(word in bank for word in words[7:])
            assert (note.found, note.bad) == (5, "g2|1/vote/0"), "the same experience was found"
            texts.add((key, note.text))
    assert len({text for key, text in texts if key == "game 1"}) == 6, "the same draws for the same game"
    assert len({text for _, text in texts}) > 6, "others for another game"
    longest = max((text for _, text in texts), key=len)
    phrase_of = [phrase.template for phrase in phrases("random_advice", 0).values()]
    assert sum(one in longest for one in phrase_of) >= 2, "each phrase is drawn anew"
    silent = advised(
        Retriever(POOL),
        recipe,
        lambda r: "No useful experience can be used." if step_of(r) == "suggest" else None,
    )
    assert suggestion(silent).text == ""
