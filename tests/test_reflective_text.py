"""The words of the reflective player (003): its questions, how telling a message is, what a statement claims.

Whole prompts of every step, to read, are in ``golden/reflective-*``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from reflective_helpers import moment
from test_golden_prompts import GOLDEN, compare_golden
from text_helpers import ask, remembering, situation_of
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    NO,
    PASS,
    PRESETS,
    ROLES,
    SHERIFF,
    WITCH,
    YES,
    Chose,
    DayBroke,
    Dealt,
    Event,
    Learned,
    PackMet,
    Returned,
    Revealed,
    Said,
    SheriffNamed,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    VotesSet,
    pick,
)
from wolflab.text.asking.prompts import blocks, messages
from wolflab.text.asking.reflective_prompts import questionnaire
from wolflab.text.informative import informativeness
from wolflab.text.notes import Reflected
from wolflab.text.questions import (
    Aids,
    AnswerQuestion,
    AskQuestions,
    ChooseQuestions,
    Decide,
    Extract,
    Interview,
    Judge,
    Question,
    Reflect,
    Situation,
    Task,
)
from wolflab.text.reading import claimed_against, claims_of

SPEAK = ask("statement", None, phase="discussion")


# -- the predefined questions (003 Table 2) -------------------------------------------------------


@pytest.mark.parametrize("wording", ["paper", "own"])
@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_role_of_every_preset_has_nine_questions(preset: str, wording: Any) -> None:
    sets = {role: questionnaire(role, wording, PRESETS[preset]) for role in PRESETS[preset].roles}
    for role, listed in sets.items():
        assert len(set(listed)) == len(listed) == 9
        assert listed[:6] == questionnaire("Villager", wording, PRESETS[preset])[:6]
        assert all(question.endswith(("?", ".")) and "\n" not in question for question in listed)
        for other in sets.keys() - {role}:
            assert (sets[other][6:] == listed[6:]) == ({role, other} == {"Villager", "Idiot"})


@pytest.mark.parametrize("wording", ["paper", "own"])
def test_a_role_without_questions_of_its_own_has_those_of_its_like(wording: Any) -> None:
    def asked(role: str) -> tuple[str, ...]:
        return questionnaire(role, wording, WITCH)

    assert asked("Doctor") == asked("Guard")
    assert asked("Cupid") == asked("Idiot") == asked("Villager")
    assert len({asked(role) for role in ROLES}) == len(ROLES) - 2


@pytest.mark.parametrize("wording", ["paper", "own"])
def test_questions_name_no_role_that_a_preset_lacks(wording: Any) -> None:
    for rules in PRESETS.values():
        for role in rules.roles:
            text = " ".join(questionnaire(role, wording, rules))
            named = {other for other in ROLES if re.search(rf"(?i)\b{other}s?\b", text)}
            assert named <= set(rules.roles)
            assert "$" not in text


def test_the_special_characters_are_those_of_the_rules() -> None:
    """As the paper has them where all of them play (003 Table 2)."""

    def told(**roles: int) -> str:
        rules = WITCH.with_(roles={"Werewolf": 2, "Villager": 3} | roles)
        return questionnaire("Villager", "paper", rules)[8]

    start = "Are there any clues or information I can refer to for special characters"
    assert told(Seer=1, Witch=1, Guard=1) == f"{start} such as seer, witch and guard?"
    assert told(Seer=1, Doctor=1) == f"{start} such as seer?"
    assert told(Doctor=1) == f"{start}?"


# -- how telling (003 Table 1) --------------------------------------------------------------------

SCORES: list[tuple[Event | Reflected, int]] = [
    (Dealt(0, "Witch", 1), 5),
    (DayBroke(1, (3,), EVERYONE), 4),
    (Returned(3, EVERYONE), 4),
    (VotesSet(3, 0, EVERYONE), 4),
    (VoteCounted(3, (), EVERYONE), 4),
    (Learned(0, 3, "Werewolf", 1), 3),
    (PackMet((0, 2), 5), 3),
    (Revealed(3, "Seer", EVERYONE), 3),
    (Chose(0, "antidote", YES, 1), 2),
    (Chose(0, "poison", pick(2), 1), 2),
    (Chose(0, "antidote", NO, 1), 1),
    (Chose(0, "poison", PASS, 1), 1),
    (Chose(0, "kill", pick(2), 1), 1),
    (VictimShown(0, 3, 1), 1),
    (DayBroke(1, (), EVERYONE), 1),
    (VoteCounted(None, (1, 2), EVERYONE), 1),
    (Voted(1, 2, "eliminate", EVERYONE), 1),
    (SheriffNamed(1, "elected", EVERYONE), 1),
    (SpeakersDrawn((1, 0), EVERYONE), 1),
]

TALK = [
    ("I'm the witch.", 3),
    ("As the seer, I looked at Player 3.", 3),
    ("I was the seer.", 3),
    ("I am not the Guard.", 3),
    ("Player 3 is a werewolf.", 3),
    ("I think Player 3 may be a werewolf.", 3),
    ("I checked Player 3 last night: not a werewolf.", 3),
    ("I protected Player 5 last night.", 3),
    ("Player 3 is no werewolf, I trust him.", 3),
    ("Player 4 said that he is the seer.", 3),
    ("I used my antidote on Player 5 last night.", 2),
    ("I poisoned Player 5 last night.", 2),
    ("Good morning, everyone.", 1),
    ("Let us hear the others first.", 1),
    ("", 1),
]
"""Among them the four that 003's released patterns miss."""


@pytest.mark.parametrize(("event", "score"), SCORES, ids=repr)
def test_events_score_as_the_paper_has_it(event: Event, score: int) -> None:
    assert informativeness(event, 0, WITCH) == score


@pytest.mark.parametrize(("words", "score"), TALK)
def test_talk_and_reflections_score_by_what_they_tell(words: str, score: int) -> None:
    assert informativeness(Said(1, "discussion", words, EVERYONE), 0, WITCH) == score
    assert informativeness(Said(0, "last words", words, EVERYONE), 0, WITCH) == score
    assert informativeness(Reflected(words), 0, WITCH) == score


# -- camouflage (003 §5.3) ------------------------------------------------------------------------


def test_claims_of_the_speaker_alone_count() -> None:
    assert claims_of("I am the Seer. Player 3 says he is the Witch.", 0, WITCH) == ("Seer",)
    assert claims_of("Player 3 is the Witch, and I am not the Guard.", 0, WITCH) == ()
    assert claims_of("As a Villager I trust nobody. In truth I am the Guard.", 2, WITCH) == (
        "Villager",
        "Guard",
    )
    assert claims_of("If I were the Seer, would I stay silent?", 0, WITCH) == ()


@pytest.mark.parametrize("rules", [SHERIFF, WITCH, DOCTOR], ids=lambda rules: rules.name)
def test_a_claim_is_camouflage_if_the_speaker_holds_another_role(rules: Any) -> None:
    for role in rules.roles:
        assert claimed_against("I am the Seer.", 1, role, rules) == (None if role == "Seer" else "Seer")
        assert claimed_against("I agree with everybody.", 1, role, rules) is None
    assert claimed_against("I am the Seer, I mean I am a Villager.", 1, "Seer", rules) == "Villager"


# -- whole prompts --------------------------------------------------------------------------------


def steps(situation: Situation, one: Any, wording: Any) -> dict[str, Question]:
    """A question of every step of 003 Table 3 about one ask."""
    listed = questionnaire(situation.role, wording, situation.ruleset)
    answers = (
        (listed[0], "It is day 2, and I may vote."),
        ("Who voted for me?", "Player 5 did, without saying why."),
    )
    aids = Aids(
        "As the Witch, I observed that Player 5 is in a hurry. I think that he hides something.",
        "The best way for you is to vote for somebody.",
    )
    tasks: dict[str, Task] = {
        "choose questions": ChooseQuestions(one, listed, 5),
        "ask questions": AskQuestions(one, listed[:5], 2),
        "ask questions, free alone": AskQuestions(one, (), 5),
        "answer": AnswerQuestion(one, "Who voted for me?", situation.lines[3:6]),
        "answer, in turn": AnswerQuestion(one, "Who voted for me?", situation.lines[3:4], answers[:1]),
        "reflect": Reflect(one, answers),
        "reflect, without questions": Reflect(one, ()),
        "extract": Extract(one, "I wait.", "I pass.", ("I vote for Player A.", "I vote for Player B.")),
        "respond": Decide(one, aids),
        "respond, speaking": Decide(replace(SPEAK, seat=one.seat), aids),
        "respond, without reflection": Decide(one, Aids(answers=answers)),
        "respond, without reasoning": Decide(one, replace(aids, suggestion="", think=False)),
    }
    return {name: Question(situation, task, (), None, wording, "recall") for name, task in tasks.items()}


def witch_at_the_vote() -> tuple[Situation, Any]:
    """A Witch about to vote on day 2."""
    for seed in range(60):
        view, one = moment(WITCH, "vote", seed=seed)
        now = situation_of(view, one)
        if now.role == "Witch":
            return remembering(now, 8, 4), one
    raise AssertionError("no Witch votes first")


@pytest.mark.parametrize("wording", ["paper", "own"])
def test_golden_prompts_of_the_steps(wording: Any) -> None:
    """The context once, then the rules' end and the instruction of each step."""
    situation, one = witch_at_the_vote()
    asked = steps(situation, one, wording)
    told = {name: blocks(question) for name, question in asked.items()}
    ((rules, context),) = {(rules, context) for rules, context, _ in told.values()}
    bare = blocks(replace(asked["respond"], rules=False, tips=True))[0]
    assert blocks(replace(asked["respond"], tips=True))[0] == rules + bare[bare.index("\n\n") :]
    parts = {"no rules, tips": bare, "context": context} | {name: told[name][2] for name in told}
    text = "\n\n".join(f"===== {name} =====\n{part}" for name, part in parts.items())
    compare_golden(GOLDEN / f"reflective-{wording}.txt", text)


def test_golden_prompts_of_the_interview_and_the_judge() -> None:
    situation, one = witch_at_the_vote()
    judged = Judge(one, "vote for Player 5", (("reasonable", "A sensible player might reply so."),))
    asked = {
        "interview": Question(situation, Interview(SPEAK, "Villager"), layout="recall"),
        "judge": Question(situation, judged, layout="append"),
    }
    parts = [f"===== {name} =====\n{messages(question)[1].content}" for name, question in asked.items()]
    compare_golden(GOLDEN / "reflective-asides.txt", "\n\n".join(parts))
