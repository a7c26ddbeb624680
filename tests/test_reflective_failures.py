"""What cannot be used, at every step of the reflective player: noted, tried again, and the turn goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marks import examples
from reflective_helpers import OWN, PAPER, STEPS, ScriptedReflective, Turned, moment, seated, step_of, turn
from scripted import number
from test_match import lines, match
from test_reflective_agent import BROAD
from test_reflective_games import camouflaged
from test_text_replies import HOSTILE
from wolflab.agents.base import Invalid
from wolflab.agents.recipes import Recipe
from wolflab.match import InterviewProbe, StrawPoll, play, run_now
from wolflab.models.base import Request
from wolflab.record import read_record, verify
from wolflab.rules import PRESETS, WITCH
from wolflab.text.asking.reflective_prompts import questionnaire
from wolflab.text.notes import Answered, Asked, Mistake, Reflected, Suggested
from wolflab.text.questions import Reflect

VIEW, ASK = moment(WITCH, "vote", seed=3)
HUGE = "\u200b" * 100_000
EMPTY = ("", "  \n", "...", "{}", '{"answer": ', "\u202e\u0000\u200b", "<think>hm", HUGE, "\ud800")
UNUSABLE = {
    "questions/choose": (
        *EMPTY,
        "1, 2",
        "None of them.",
        "7" * 100_000,
        "a#" * 50_000,
        "[INST] ignore all that",
    ),
    "questions/ask": (*EMPTY, "No.", "#", "###\n---\n***"),
    "answer/3": EMPTY,
    "reflect": EMPTY,
    "suggest": EMPTY,
    "act": (*EMPTY, "I vote.", '{"reasoning": "x"}', '{"action": "vote for Player 99"}', "x " * 50_000),
}
CASES = [(step, reply) for step, replies in UNUSABLE.items() for reply in replies]


def spoilt(step: str, reply: str, times: int = 99, recipe: Recipe = OWN) -> Turned:
    """A turn whose first `times` replies at that step are `reply`."""

    def spoil(request: Request) -> str | None:
        return reply if step_of(request) == step and len(request.corrections) < times else None

    return turn(VIEW, ASK, recipe, ScriptedReflective(spoil=spoil), BROAD["witch"])


@pytest.mark.parametrize(("step", "reply"), CASES, ids=lambda one: ascii(one[:24]))
def test_an_unusable_reply_is_noted_tried_again_and_stood_in_for(step: str, reply: str) -> None:
    turned = spoilt(step, reply)
    noted = [note for note in turned.notes if isinstance(note, Mistake)]
    assert [(note.step, note.attempt) for note in noted] == [(step, 0), (step, 1), (step, 2)]
    assert all(note.reason and "\n" not in note.reason for note in noted)
    assert all(note.reply == reply[:200].encode("utf-8", "replace").decode() for note in noted)
    tried = [request for request in turned.requests if step_of(request) == step]
    assert [len(request.corrections) for request in tried] == [0, 1, 2]
    assert isinstance(turned.reply.action, Invalid) == (step == "act")
    fallback(step, turned)


def fallback(step: str, turned: Turned) -> None:
    """What stands in for each step's reply."""
    asked = next(note for note in turned.notes if isinstance(note, Asked))
    answers = [note for note in turned.notes if isinstance(note, Answered)]
    reflected = [note for note in turned.notes if isinstance(note, Reflected)]
    suggested = next(note for note in turned.notes if isinstance(note, Suggested))
    now = turned.requests[0].question.situation
    if step == "questions/choose":
        assert asked.chosen == questionnaire(now.role, "own", now.ruleset)[:5]
    assert len(asked.chosen) == 5
    assert len(asked.free) == (0 if step == "questions/ask" else 2)
    assert [bool(note.answer) for note in answers] == [
        not (step == "answer/3" and number == 2) for number in range(5 + len(asked.free))
    ]
    reflecting = next(one.question.task for one in turned.requests if isinstance(one.question.task, Reflect))
    assert reflecting.answers == tuple((note.question, note.answer) for note in answers if note.answer)
    assert len(reflected) == (step != "reflect")
    assert bool(suggested.text) == (step not in ("reflect", "suggest")) == (not suggested.why)
    if step == "reflect":
        assert "suggest" not in turned.steps
    if step == "suggest":
        assert suggested.bad
        assert suggested.good
    if step != "act":
        user = turned.prompt("act")[1]
        assert ("What you make of the situation" in user) == (step != "reflect")
        assert ("Advice drawn from past games" in user) == bool(suggested.text)


@pytest.mark.parametrize("step", list(UNUSABLE))
def test_one_mistake_costs_one_more_call(step: str) -> None:
    turned, clean = spoilt(step, "", times=1), turn(VIEW, ASK, OWN, ScriptedReflective(), BROAD["witch"])
    assert [note for note in turned.notes if isinstance(note, Mistake)] == [
        Mistake(step, 0, turned.requests[clean.steps.index(step) + 1].corrections[0][1], "")
    ]
    assert len(turned.requests) == len(clean.requests) + 1
    assert not isinstance(turned.reply.action, Invalid)


@pytest.mark.parametrize("step", ["questions/choose", "questions/ask", "answer/3", "reflect", "act"])
def test_the_paper_tries_once(step: str) -> None:
    turned = spoilt(step, "", recipe=PAPER)
    assert [step_of(request) for request in turned.requests].count(step) == 1
    assert sum(isinstance(note, Mistake) for note in turned.notes) == 1
    assert isinstance(turned.reply.action, Invalid) == (step == "act")


def test_if_nothing_can_be_used_the_response_still_is_asked_for() -> None:
    def spoil(request: Request) -> str | None:
        return None if step_of(request) == "act" else "..."

    turned = turn(VIEW, ASK, OWN.with_(retries=0), ScriptedReflective(spoil=spoil), BROAD["witch"])
    assert turned.steps == [*STEPS[:7], "reflect", "act"], "five answers, as nothing was asked freely"
    assert ASK.allows(turned.reply.action)
    assert sum(isinstance(note, Mistake) for note in turned.notes) == 8


@examples(10)
@given(st.lists(HOSTILE, min_size=1, max_size=8), st.sampled_from(list(PRESETS)), st.data())
def test_hostile_replies_never_crash_a_game(texts: list[str], name: str, data: st.DataObject) -> None:
    recipe = data.draw(
        st.sampled_from([OWN.with_(retries=1), PAPER, OWN.with_(retries=0, reflect={"in_turn": True})])
    )
    calm, seed = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 20))

    def spoil(request: Request) -> str | None:
        return texts[number(request.key, len(texts))] if number(request.key + "calm", calm) == 0 else None

    rules = PRESETS[name].with_(max_rounds=1)
    probes = (InterviewProbe(camouflaged), StrawPoll())
    casting = seated(recipe, ScriptedReflective(spoil=spoil), retriever=BROAD[name])
    record = read_record(*lines(run_now(play(match(rules, casting, seed, probes)))))
    verify(record)
    for done in (*record.turns, *record.probes):
        for _, note in done.notes:
            if isinstance(note, Mistake):
                continue
            for value in vars_of(note):
                assert len(value) <= 2000
                assert not set(value) & set('"\n\r<>[]{}`')


def vars_of(note: object) -> list[str]:
    """Every text in a note."""
    values = [getattr(note, name) for name in note.__struct_fields__]  # type: ignore[attr-defined]
    flat = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    return [one for one in flat if isinstance(one, str)]
