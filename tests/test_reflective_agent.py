"""One response of the reflective player (003 Fig. 2): its calls, and what each component owns of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from reflective_helpers import (
    OWN,
    PAPER,
    STEPS,
    ScriptedReflective,
    Turned,
    broad_pool,
    moment,
    seated,
    step_of,
    turn,
    written,
)
from test_match import lines, match
from wolflab.agents.experience import Retriever
from wolflab.agents.recipes import COMPONENTS, Recipe
from wolflab.match import play, run_now
from wolflab.models.base import Request, Response
from wolflab.record import read_record
from wolflab.rules import DUTIES, PRESETS, WITCH
from wolflab.text.asking.reflective_prompts import questionnaire
from wolflab.text.asking.templates import phrases
from wolflab.text.notes import Answered, Asked, Recalled, Reflected, Suggested, Thought
from wolflab.text.questions import AnswerQuestion, AskQuestions, ChooseQuestions
from wolflab.text.replies.parse import schema

KINDS = ("statement", "vote", "last-words", "campaign", "elect", "lead", "succeed", *DUTIES)
BROAD = {name: Retriever(broad_pool(rules, KINDS)) for name, rules in PRESETS.items()}
WITH_ADVICE = (*STEPS[:-1], "suggest", "act")
VIEW, ASK = moment(WITCH, "vote", seed=3)
VIEW_TALK, ASK_TALK = moment(WITCH, "statement", seed=4)


# -- the calls of one response --------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [OWN, PAPER], ids=lambda recipe: recipe.name)
@pytest.mark.parametrize(("view", "ask"), [(VIEW, ASK), (VIEW_TALK, ASK_TALK)], ids=["vote", "talk"])
def test_the_calls_of_a_response_and_their_temperatures(view: Any, ask: Any, recipe: Recipe) -> None:
    """003 §3.3 and §4.1: 1 + 1 + 7 + 1 + 1, one more with experience; 0 for the response, 0.3 before."""
    alone = turn(view, ask, recipe)
    taught = turn(view, ask, recipe, retriever=BROAD["witch"])
    assert alone.steps == list(STEPS)
    assert taught.steps == list(WITH_ADVICE)
    for turned in (alone, taught):
        assert ask.allows(turned.reply.action)
        temperatures = [request.sampling.temperature for request in turned.requests]
        assert temperatures == [0.3] * (len(turned.steps) - 1) + [0.0]


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_response_of_a_game_makes_them(name: str) -> None:
    for retriever, calls in ((None, 11), (BROAD[name], 12)):
        rules = PRESETS[name].with_(max_rounds=2)
        played = run_now(play(match(rules, seated(OWN, ScriptedReflective(), retriever=retriever), 1)))
        turns = [one for one in read_record(*lines(played)).turns if one.seat >= 0]
        assert len(turns) > 10
        assert {len(one.calls) for one in turns} == {calls}
        assert not any(one.invalid for one in turns)


def test_numbers_of_questions_and_messages_are_settings() -> None:
    turned = turn(
        VIEW, ASK, OWN.with_(reflect={"chosen": 2, "free": 3, "retrieve": 4, "recent": 6, "informative": 3})
    )
    assert turned.steps == [*STEPS[:2], *(f"answer/{n}" for n in range(1, 6)), "reflect", "act"]
    asked = next(note for note in turned.notes if isinstance(note, Asked))
    assert (len(asked.chosen), len(asked.free)) == (2, 3)
    recalled = next(note for note in turned.notes if isinstance(note, Recalled))
    assert len(recalled.recent) == 6
    assert len(recalled.informative) <= 3
    assert max(len(note.retrieved) for note in turned.notes if isinstance(note, Answered)) == 4
    few = turn(VIEW, ASK, OWN.with_(reflect={"chosen": 0, "free": 0}))
    assert few.steps == ["reflect", "act"]
    everything = turn(VIEW, ASK, OWN.with_(reflect={"chosen": 9, "free": 0}))
    assert everything.steps == [*(f"answer/{n}" for n in range(1, 10)), "reflect", "act"]
    hot = turn(
        VIEW_TALK, ASK_TALK, OWN.with_(reflect={"temperature": 0.7}, speech_temperature=0.4, max_tokens=90)
    )
    assert {(r.sampling.temperature, r.sampling.max_tokens) for r in hot.requests[:-1]} == {(0.7, 90)}
    assert (hot.requests[-1].sampling.temperature, hot.requests[-1].sampling.max_tokens) == (0.4, 90)


class Overlapping(ScriptedReflective):
    """Counts how many answers are being given at once."""

    def __init__(self) -> None:
        super().__init__(waits=True)
        self.busy = self.most = 0

    async def generate(self, request: Request) -> Response:
        answers = isinstance(request.question.task, AnswerQuestion)
        self.busy += answers
        self.most = max(self.most, self.busy)
        for _ in range(20):
            await asyncio.sleep(0)
        self.busy -= answers
        return await super().generate(request)


def test_answers_are_given_together_or_in_turn() -> None:
    together, one_by_one = Overlapping(), Overlapping()
    at_once = turn(VIEW, ASK, OWN, together)
    in_turn = turn(VIEW, ASK, OWN.with_(reflect={"in_turn": True}), one_by_one)
    assert (together.most, one_by_one.most) == (7, 1)
    assert sorted(at_once.steps) == sorted(in_turn.steps)
    for number, request in enumerate(
        r for r in in_turn.requests if isinstance(r.question.task, AnswerQuestion)
    ):
        task = request.question.task
        assert isinstance(task, AnswerQuestion)
        answered = [note for note in in_turn.notes if isinstance(note, Answered)][:number]
        assert task.earlier == tuple((note.question, note.answer) for note in answered)
    for request in at_once.requests:
        if isinstance(request.question.task, AnswerQuestion):
            assert request.question.task.earlier == ()
    assert at_once.reply.notes == turn(VIEW, ASK, OWN).reply.notes, "order of arrival shows"


def test_every_step_is_noted_in_order() -> None:
    turned = turn(VIEW, ASK, OWN, retriever=BROAD["witch"])
    kinds = [type(note) for note in turned.notes]
    assert kinds == [Recalled, Asked, *[Answered] * 7, Reflected, Suggested, Thought]
    asked = next(note for note in turned.notes if isinstance(note, Asked))
    answered = [note for note in turned.notes if isinstance(note, Answered)]
    assert (*asked.chosen, *asked.free) == tuple(note.question for note in answered)
    requests = {step_of(request): request for request in turned.requests}
    for number, note in enumerate(answered, 1):
        task = requests[f"answer/{number}"].question.task
        assert isinstance(task, AnswerQuestion)
        assert (
            tuple(line.position for line in task.messages) == note.retrieved == tuple(sorted(note.retrieved))
        )
    reflected = next(note for note in turned.notes if isinstance(note, Reflected))
    advice = next(note for note in turned.notes if isinstance(note, Suggested))
    user = turned.prompt("act")[1]
    assert reflected.text in user
    assert advice.text in user


# -- what each component owns (003 §4.4.1) --------------------------------------------------------


class Fixed(ScriptedReflective):
    """Replies by the step alone, so that only what was asked can differ between two turns."""

    async def generate(self, request: Request) -> Response:
        self.requests.append(request)
        if isinstance(request.question.task, ChooseQuestions):
            return Response("1, 2, 3, 4, 5")
        alike = written(replace(request, key="fixed"))
        return Response('{"reasoning": "r", "action": "do not vote"}' if alike is None else alike)


def instructed(turned: Turned) -> dict[str, tuple[str, list[str]]]:
    """Step → (system prompt, the user's lines), of the first attempts."""
    return {step: (turned.prompt(step)[0], turned.prompt(step)[1].splitlines()) for step in turned.steps}


def lost(full: list[str], rest: list[str]) -> list[str]:
    """The lines of `full` that are not in `rest`; `rest` must hold nothing else."""
    left, gone = list(rest), []
    for line in full:
        if left and left[0] == line:
            left.pop(0)
        else:
            gone.append(line)
    assert not left, f"these lines are new: {left}"
    return gone


def without(*names: str, recipe: Recipe) -> Turned:
    return turn(VIEW, ASK, recipe.with_(without=names), Fixed(), BROAD["witch"])


BOTH = pytest.mark.parametrize("recipe", [OWN, PAPER], ids=lambda recipe: recipe.name)


@BOTH
def test_the_rules_are_their_own_block(recipe: Recipe) -> None:
    full, bare = instructed(without(recipe=recipe)), instructed(without("rules", recipe=recipe))
    words = phrases(f"{recipe.wording}/reflective", 0)
    assert list(bare) == list(full)
    for step in full:
        assert bare[step][1] == full[step][1]
        assert bare[step][0] != full[step][0]
        assert bare[step][0].startswith(words["no_rules"].template)
        assert ("Witch" in full[step][0], "Witch" in bare[step][0]) == (True, False)
        assert bare[step][0].endswith(words["tips"].template) == recipe.tips
    plain = instructed(without(recipe=recipe.with_(tips=not recipe.tips)))
    assert {step for step in full if plain[step] != full[step]} == set(full)
    assert all(plain[step][1] == full[step][1] for step in full)


@BOTH
def test_recent_messages_are_their_own_block(recipe: Recipe) -> None:
    turned, bare = without(recipe=recipe), without("recent", recipe=recipe)
    heading = phrases(f"{recipe.wording}/reflective", 0)["recent"].template
    recalled = next(note for note in turned.notes if isinstance(note, Recalled))
    kept = next(note for note in bare.notes if isinstance(note, Recalled))
    assert (len(recalled.recent), kept.recent) == (15, ())
    assert set(recalled.informative) <= set(kept.informative), "what is telling stays, older or not"
    full, rest = instructed(turned), instructed(bare)
    assert list(full) == list(rest)
    for step in full:
        assert rest[step][0] == full[step][0]
        shown = [line for line in rest[step][1] if line.startswith("[") and line in full[step][1]]
        gone = lost([line for line in full[step][1] if line not in shown],
                    [line for line in rest[step][1] if line not in shown])  # fmt: skip
        assert heading in gone
        assert all(line == heading or line.startswith("[") for line in gone)


@BOTH
def test_informative_messages_are_their_own_block(recipe: Recipe) -> None:
    turned, rest = without(recipe=recipe), instructed(without("informative", recipe=recipe))
    heading = phrases(f"{recipe.wording}/reflective", 0)["informative"].template
    recalled = next(note for note in turned.notes if isinstance(note, Recalled))
    assert recalled.informative
    full = instructed(turned)
    assert list(full) == list(rest)
    for step in full:
        assert rest[step][0] == full[step][0]
        gone = lost(full[step][1], rest[step][1])
        assert gone[0] == heading
        assert [line.split("]")[0] for line in gone[1:]] == [f"[{at + 1}" for at in recalled.informative]


@BOTH
def test_without_questions_nothing_is_asked_or_answered(recipe: Recipe) -> None:
    full, rest = instructed(without(recipe=recipe)), instructed(without("questions", recipe=recipe))
    words = phrases(f"{recipe.wording}/reflective", 0)
    assert list(rest) == ["reflect", "suggest", "act"]
    assert [rest[step] for step in ("suggest", "act")] == [full[step] for step in ("suggest", "act")]
    assert rest["reflect"][0] == full["reflect"][0]
    owned = [line for line in full["reflect"][1] if line not in rest["reflect"][1]]
    if recipe.wording == "paper":  # "… and the following in heart" goes with what follows
        assert owned[0].replace(" and the following in heart", "") in rest["reflect"][1]
        owned.pop(0)
    assert owned[0] == words["reflect_answers"].template
    assert len(owned) == 8
    assert all(line.startswith("- ") for line in owned[1:])


@BOTH
def test_free_questions_only(recipe: Recipe) -> None:
    """003 §4.4.1: as many of its own as it else chooses; whoever is shown the chosen ones is not."""
    turned = without("predefined", recipe=recipe)
    full, rest = instructed(without(recipe=recipe)), instructed(turned)
    assert list(rest) == ["questions/ask", *STEPS[2:7], "reflect", "suggest", "act"]
    asked = next(note for note in turned.notes if isinstance(note, Asked))
    assert (asked.chosen, len(asked.free)) == ((), 5)
    task = turned.requests[0].question.task
    assert isinstance(task, AskQuestions)
    assert (task.chosen, task.count) == ((), 5)
    assert not any(
        one in line
        for one in questionnaire("Witch", recipe.wording, WITCH)
        for line in rest["questions/ask"][1]
    )
    assert [rest[step] for step in ("suggest", "act")] == [full[step] for step in ("suggest", "act")]
    both = without("predefined", "questions", recipe=recipe)
    assert both.steps == ["reflect", "suggest", "act"]


@BOTH
def test_without_reflection_the_answers_stand_in_its_place(recipe: Recipe) -> None:
    turned = without("reflection", recipe=recipe)
    full, rest = instructed(without(recipe=recipe)), instructed(turned)
    words = phrases(f"{recipe.wording}/reflective", 0)
    assert list(rest) == [*STEPS[:9], "act"]
    assert all(rest[step] == full[step] for step in STEPS[:9])
    assert not any(isinstance(note, Reflected | Suggested) for note in turned.notes)
    heading = words["answers"].template
    start = rest["act"][1].index(heading)
    pairs = rest["act"][1][start + 1 : start + 8]
    answered = [note for note in turned.notes if isinstance(note, Answered)]
    assert pairs == [f"- {note.question} {note.answer}" for note in answered]
    shown = [*rest["act"][1][:start], *rest["act"][1][start + 8 :]]
    gone = lost(full["act"][1], shown)
    assert [line.split('"')[0] for line in gone] == [
        words[name].template.split('"')[0] for name in ("reflection", "suggestion")
    ]
    neither = without("reflection", "questions", recipe=recipe)
    assert neither.steps == ["act"]


@BOTH
def test_the_suggestion_is_one_line(recipe: Recipe) -> None:
    turned = without("suggestion", recipe=recipe)
    full, rest = instructed(without(recipe=recipe)), instructed(turned)
    assert list(rest) == list(STEPS)
    assert all(rest[step] == full[step] for step in STEPS[:-1])
    (gone,) = lost(full["act"][1], rest["act"][1])
    assert gone.startswith(phrases(f"{recipe.wording}/reflective", 0)["suggestion"].template.split('"')[0])
    assert not any(isinstance(note, Suggested) for note in turned.notes)


@BOTH
def test_reasoning_is_the_last_calls_alone(recipe: Recipe) -> None:
    turned, bare = without(recipe=recipe), without("reasoning", recipe=recipe)
    full, rest = instructed(turned), instructed(bare)
    words = phrases(f"{recipe.wording}/reflective", 0)
    assert list(rest) == list(full)
    assert all(rest[step] == full[step] for step in WITH_ADVICE[:-1])
    think, none = words["think"].template, words["no_think"].template
    expected = [none if line == think else line for line in full["act"][1]]
    if recipe.wording == "own":
        expected = [
            line.replace('"reasoning": "...", ', "")
            for line in expected
            if not line.startswith('"reasoning":')
        ]
        forms = [schema(one.requests[-1].question) for one in (turned, bare)]
        assert [list(form["properties"]) for form in forms if form] == [["reasoning", "action"], ["action"]]
    assert [line for line in rest["act"][1] if line] == [line for line in expected if line]
    assert rest["act"][1] != full["act"][1]


def test_every_component_has_its_test() -> None:
    assert COMPONENTS == (
        "rules", "recent", "informative", "questions", "predefined", "reflection", "suggestion", "reasoning",
    )  # fmt: skip
    nothing = without(*COMPONENTS, recipe=OWN)
    assert nothing.steps == ["act"]
    assert "[" not in nothing.prompt("act")[1].split("\n\n")[0]
