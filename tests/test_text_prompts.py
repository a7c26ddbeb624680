"""Prompts: every field of a question shows, sections hold, later prompts extend earlier ones.

The golden files here are the rules of every preset; whole prompts are in `test_golden_prompts`.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import product
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marks import examples
from rules_helpers import rulesets
from test_golden_prompts import GOLDEN, compare_golden
from text_helpers import ask, questions, situations
from wolflab.rules import (
    EVERYONE,
    LEFT,
    NO,
    PASS,
    PRESETS,
    RIGHT,
    SHERIFF,
    WITCH,
    YES,
    Chose,
    DayBroke,
    Dealt,
    Learned,
    PackMet,
    Said,
    SheriffNamed,
    VictimShown,
    pick,
)
from wolflab.text import digest
from wolflab.text.asking.prompts import STYLES, blocks, messages
from wolflab.text.asking.reflective_prompts import questionnaire
from wolflab.text.digest import question_digest
from wolflab.text.intents import Intent
from wolflab.text.notes import Belief, Candidate
from wolflab.text.questions import (
    Aids,
    AnswerQuestion,
    AskQuestions,
    Choose,
    ChooseQuestions,
    Decide,
    Deduce,
    Exchange,
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
    guessable,
)

WAYS = [*product(["paper", "own"], ["paper", "append"]), ("own", "shared"), ("own", "dialogue")]
RECALL = [("paper", "recall"), ("own", "recall")]

FACTS = (
    Line(1, 0, "setup", Dealt(0, "Werewolf", 1), 0),
    Line(2, 0, "setup", PackMet((0, 6), 65), 1),
    Line(3, 1, "night", Chose(0, "kill", pick(2), 65), 2),
    Line(4, 1, "day", DayBroke(1, (2,), EVERYONE), 3),
    Line(5, 1, "day", SheriffNamed(3, "elected", EVERYONE), 4),
)
TRUE = (Line(6, 1, "day", Said(1, "discussion", "player_7 is odd.", EVERYONE), 5),)
FALSE = (Line(7, 1, "day", Said(3, "discussion", "I am the Seer.", EVERYONE), 6),)
NEW = (Line(8, 1, "day", Said(4, "discussion", "So am I.", EVERYONE), 7),)
NOW = Situation(SHERIFF, 0, "Werewolf", (0, 6), 1, "voting", (0, 1, 3, 4, 5, 6), 3, FACTS, TRUE, FALSE, NEW)
VOTE = ask("vote", (*(pick(s) for s in NOW.alive), PASS), phase="voting")
ASKED = Question(NOW, Decide(VOTE), (Belief(3, "Seer", 8, 8, (6,), "It claims to be."),), "quiet_follower")
LEAD = ask("lead", (LEFT, RIGHT), seat=3, phase="order")
DEDUCE = Deduce(VOTE, (3, 4), guessable(SHERIFF))
SPEAK = ask("statement", None, phase="discussion")
OLD = (Line(9, 1, "day", Said(5, "discussion", "I am the Guard.", EVERYONE), 8),)
AIDS = Aids("I had better wait.", "The best way for you is to vote.", (("Who am I?", "A Werewolf."),))
CANDIDATES = (
    Candidate("vote for player_4", "It claims to be the Seer."),
    Candidate("do not vote", "Nobody is sure of anything."),
)
TASKS: dict[type, Task] = {
    Decide: Decide(VOTE, AIDS),
    Plan: Plan(VOTE, "own", "I had better wait."),
    Propose: Propose(VOTE, 3, CANDIDATES[:1]),
    Choose: Choose(VOTE, CANDIDATES),
    Deduce: DEDUCE,
    Rate: Rate(VOTE, (3, 4)),
    ChooseQuestions: ChooseQuestions(VOTE, questionnaire("Werewolf", "own", SHERIFF), 5),
    AskQuestions: AskQuestions(VOTE, questionnaire("Werewolf", "own", SHERIFF)[:5], 2),
    AnswerQuestion: AnswerQuestion(VOTE, "Who am I?", TRUE, (("Who lies?", "They all do."),)),
    Reflect: Reflect(VOTE, (("Who am I?", "A Werewolf."),)),
    Extract: Extract(VOTE, "I had better wait.", "Pass.", ("Vote for Player A.", "Vote for Player B.")),
    Interview: Interview(SPEAK, "Seer"),
    Judge: Judge(VOTE, "vote for player_4", (("reasonable", "The reply makes sense."),)),
}
"""One task of every kind."""

CHANGED: dict[type, dict[str, Any]] = {
    Question: {
        "situation": replace(NOW, seat=1),
        "task": Rate(VOTE, (3,)),
        "beliefs": (),
        "style": "aggressive_accuser",
        "wording": None,
        "layout": None,
        "rules": False,
        "tips": True,
        "history": (Exchange(FACTS[:1], "Who are you?", "Nobody."),),
        "forms": ("judgement", "action", "statement"),
        "hide_reasons": True,
    },
    Situation: {
        "ruleset": SHERIFF.with_(tie="random"),
        "seat": 1,
        "role": "Guard",
        "pack": (0,),
        "round": 2,
        "phase": "discussion",
        "alive": (0, 1, 3, 4, 5),
        "sheriff": None,
        "facts": FACTS[:-1],
        "truths": (),
        "falsehoods": TRUE + FALSE,
        "pending": (),
        "informative": None,
    },
    Line: {
        "number": 9,
        "round": 2,
        "phase": "election",
        "event": Said(1, "discussion", "player_6 is odd.", EVERYONE),
        "position": 99,
    },
    Belief: {
        "target": 4,
        "role": "Guard",
        "confidence": 9,
        "reliability": 3,
        "evidence": (7,),
        "reasoning": "It says so.",
    },
    Deduce: {
        "targets": (3,),
        "guesses": ("Werewolf", "Uncertain"),
        "attributes": ("confidence",),
        "ask": None,
    },
    Rate: {"targets": (3,), "ask": None},
    Decide: {"ask": SPEAK, "aids": None, "plan": "I had better wait.", "intent": Intent("target", seat=3)},
    Plan: {"ask": SPEAK, "perspective": "others", "earlier": ""},
    Propose: {"ask": SPEAK, "count": 2, "earlier": CANDIDATES[1:]},
    Choose: {"ask": SPEAK, "candidates": CANDIDATES[::-1]},
    Candidate: {"action": "vote for player_5", "reasoning": "It accused me."},
    Aids: {
        "reflection": "I had better act.",
        "suggestion": "",
        "answers": (("Who am I?", "A Villager."),),
        "think": False,
    },
    ChooseQuestions: {
        "ask": SPEAK,
        "candidates": questionnaire("Seer", "own", SHERIFF),
        "count": 4,
    },
    AskQuestions: {"ask": SPEAK, "chosen": (), "count": 3},
    AnswerQuestion: {
        "ask": SPEAK,
        "question": "Who else am I?",
        "messages": FALSE,
        "earlier": (),
    },
    Reflect: {"ask": SPEAK, "answers": ()},
    Extract: {
        "ask": SPEAK,
        "reflection": "I had better act.",
        "bad": "Vote.",
        "good": ("Vote for Player A.",),
    },
    Interview: {"ask": None, "claimed": "Guard"},
    Judge: {
        "ask": SPEAK,
        "reply": "do not vote",
        "criteria": (("useful", "The reply helps."),),
    },
}
"""Another value for every field. None: no single value of its own (see the tests that use it), and for an
interview's ask none at all, because only one kind of ask brings it about."""


def text(question: Question) -> str:
    return "\n".join(message.content for message in messages(question))


@pytest.mark.parametrize("kind", list(CHANGED), ids=lambda kind: kind.__name__)
def test_the_table_of_changes_is_complete(kind: Any) -> None:
    assert set(CHANGED[kind]) == set(
        kind.__struct_fields__ if kind in (Belief, Candidate, Line) else [f.name for f in fields(kind)]
    )


def with_change(base: Question, kind: type, name: str, value: Any) -> Question:
    if kind is Question:
        return replace(base, **{name: value})
    if kind is Situation:
        return replace(base, situation=replace(NOW, **{name: value}))
    if kind is Line:
        lines = (msgspec.structs.replace(TRUE[0], **{name: value}), FALSE[0])
        return replace(base, situation=replace(NOW, truths=lines, falsehoods=()))
    if kind is Belief:
        given = {f: getattr(base.beliefs[0], f) for f in Belief.__struct_fields__} | {name: value}
        return replace(base, beliefs=(Belief(**given),))
    if kind is Aids:
        return replace(base, task=replace(base.task, aids=replace(AIDS, **{name: value})))
    if kind is Candidate:
        first = {f: getattr(CANDIDATES[0], f) for f in Candidate.__struct_fields__} | {name: value}
        few = (Candidate(**first), *CANDIDATES[1:])
        field = "earlier" if isinstance(base.task, Propose) else "candidates"
        return replace(base, task=replace(base.task, **{field: few}))
    return replace(base, task=replace(base.task, **{name: value}))


UNSEEN = {
    # A dialogue holds the replies in which the player judged the others.
    *(("dialogue", Belief, name) for name in Belief.__struct_fields__),
    ("dialogue", Question, "beliefs"),
}
"""Fields that a layout does not tell again: layout, kind, name."""

CASES = [
    (k, n)
    for k, changes in CHANGED.items()
    for n, value in changes.items()
    if value is not None or n == "sheriff"
]


@pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize(("wording", "layout"), WAYS + RECALL)
def test_every_field_changes_the_prompt_and_its_digest(
    kind: type, name: str, wording: Any, layout: Any
) -> None:
    base = replace(ASKED, wording=wording, layout=layout)
    if kind is Candidate:
        proposed = replace(base, task=replace(TASKS[Propose], earlier=CANDIDATES))
        assert text(with_change(proposed, kind, name, CHANGED[kind][name])) != text(proposed)
        base = replace(base, task=TASKS[Choose])
    elif kind is Aids:
        base = replace(base, task=TASKS[Decide])
    elif kind in TASKS:
        base = replace(base, task=TASKS[kind])
    elif kind is Line:
        base = replace(base, situation=replace(NOW, truths=(*TRUE, *FALSE), falsehoods=()))
    changed = with_change(base, kind, name, CHANGED[kind][name])
    assert (text(changed) == text(base)) is ((layout, kind, name) in UNSEEN)
    assert question_digest(changed) != question_digest(base)


@pytest.mark.parametrize(("wording", "layout"), RECALL)
def test_older_telling_messages_change_the_prompt_and_its_digest(wording: Any, layout: Any) -> None:
    base = replace(ASKED, wording=wording, layout=layout)
    changed = replace(base, situation=replace(NOW, informative=OLD))
    assert "I am the Guard." in text(changed)
    assert "I am the Guard." not in text(base)
    assert question_digest(changed) != question_digest(base)


def test_every_kind_of_task_is_in_the_tables() -> None:
    assert set(TASKS) == set(get_args(Task))
    assert set(CHANGED) == {Question, Situation, Line, Belief, Aids, Candidate, *TASKS}
    told = {text(replace(ASKED, task=task)) for task in TASKS.values()}
    assert len(told) == len({question_digest(replace(ASKED, task=task)) for task in TASKS.values()})
    assert len(told) == len(TASKS)


def test_wording_and_layout_change_the_prompt() -> None:
    ways = WAYS + RECALL
    assert len({text(replace(ASKED, wording=w, layout=y)) for w, y in ways}) == len(ways)  # type: ignore[arg-type]
    asked = [question_digest(replace(ASKED, wording=w, layout=y)) for w, y in ways]  # type: ignore[arg-type]
    assert len(set(asked)) == len(ways)


@pytest.mark.parametrize(("wording", "layout"), WAYS + RECALL)
@pytest.mark.parametrize("aids", [None, AIDS], ids=["plain", "reflective"])
def test_what_is_asked_changes_the_prompt(aids: Any, wording: Any, layout: Any) -> None:
    asks = [
        VOTE,
        ask("vote", VOTE.options and VOTE.options[1:]),
        ask("vote", VOTE.options and VOTE.options[:-1]),
        ask("kill", VOTE.options),
        ask("see", VOTE.options),
        ask("elect", VOTE.options),
        ask("succeed", VOTE.options),
        ask("antidote", (YES, NO)),
        ask("poison", VOTE.options),
        ask("statement", None),
        ask("campaign", None),
        ask("last-words", None),
    ]
    told = {text(replace(ASKED, task=Decide(one, aids), wording=wording, layout=layout)) for one in asks}
    told.add(text(replace(ASKED, task=DEDUCE, wording=wording, layout=layout)))
    told.add(text(replace(ASKED, task=Rate(VOTE, (3, 4)), wording=wording, layout=layout)))
    assert len(told) == len(asks) + 2


@pytest.mark.parametrize("wording", ["paper", "own"])
def test_instructions_fit_the_seat(wording: Any) -> None:
    def said(situation: Situation, one: Any) -> str:
        return blocks(Question(situation, Decide(one), wording=wording))[2]

    speak = ask("statement", None, phase="discussion")
    assert said(replace(NOW, sheriff=0), speak) != said(NOW, speak).replace("player_4", "player_1")
    kill = ask("kill", VOTE.options)
    assert "player_7" in said(NOW, kill).split("Living players")[1].split("\n", 4)[-1]
    lone = replace(NOW, alive=(0, 1, 3, 4, 5))
    assert "teammate" in said(NOW, kill)
    assert "teammate" not in said(lone, kill)
    village = replace(NOW, pack=(), role="Guard")
    assert said(village, VOTE) != said(replace(NOW, role="Guard"), VOTE)
    lead = said(replace(NOW, seat=3, alive=(0, 1, 3, 5)), LEAD)
    assert "player_2" in lead
    assert "player_6" in lead


@pytest.mark.parametrize("wording", ["paper", "own"])
def test_one_is_told_as_one_and_several_as_several(wording: Any) -> None:
    def said(task: Task, situation: Situation = NOW) -> str:
        return blocks(Question(situation, task, wording=wording, layout="paper"))[2]

    kill = Decide(ask("kill", VOTE.options))
    assert "your teammate player_7" in said(kill)
    assert "your teammates player_2 and player_7" in said(kill, replace(NOW, pack=(0, 1, 6)))
    elected = ask("elect", (pick(1), PASS)), ask("elect", (pick(1), pick(3), PASS))
    assert [bool(re.search(r"player_\d (runs|is running) for", said(Decide(one)))) for one in elected] == [
        True,
        False,
    ]
    if wording == "own":
        assert "Consider the hidden role of player_4 " in said(replace(DEDUCE, targets=(3,)))
        assert "For player_4, name" in said(replace(DEDUCE, targets=(3,)))
        assert "For each, name" in said(DEDUCE)
    one, two = (said(AnswerQuestion(VOTE, "Who am I?", TRUE + more)) for more in ((), FALSE))
    assert ("one possible answer:" if wording == "paper" else "This piece of") in one
    assert ("two possible answers:" if wording == "paper" else "These pieces of") in two
    questions = questionnaire("Seer", "own", SHERIFF)
    for task in (ChooseQuestions(VOTE, questions, 1), AskQuestions(VOTE, questions[:1], 1)):
        assert not re.search(
            r"one (important )?questions|parted|separating|most important questions", said(task)
        )


def test_roles_are_reconsidered_only_where_they_were_considered_before() -> None:
    asked = replace(ASKED, task=DEDUCE)
    assert "Reconsider the hidden roles" in text(asked)
    assert "Consider the hidden roles" in text(replace(asked, beliefs=()))


@pytest.mark.parametrize("layout", ["append", "dialogue", "shared"])
def test_silence_is_neither_believed_nor_disbelieved(layout: Any) -> None:
    silent = Line(9, 1, "day", Said(5, "discussion", "", EVERYONE), 8)
    for name in ("truths", "falsehoods"):
        told = text(replace(ASKED, layout=layout, situation=replace(NOW, **{name: (silent,)})))
        assert "player_6 said nothing" in told
        assert not re.search(r"might be (true|false): .*\[9\]", told)
        more = text(replace(ASKED, layout=layout, situation=replace(NOW, **{name: (*OLD, silent)})))
        assert len(re.findall(r"might be (?:true|false): \[9\]\n", more)) == 1


def test_a_night_is_named_as_the_wording_names_it() -> None:
    kill = Question(replace(NOW, phase="night"), Decide(ask("kill", VOTE.options)))
    assert "It is night 1. You are" in text(kill)
    assert "Now it is night 1 round. As" in text(replace(kill, wording="paper"))


@pytest.mark.parametrize("wording", ["paper", "own"])
def test_to_pass_is_told_where_it_is_legal(wording: Any) -> None:
    def said(one: Any) -> str:
        return blocks(Question(NOW, Decide(one), wording=wording, layout="paper"))[2]

    some = (pick(1), pick(3))
    assert "player to poison, or pass." in said(ask("poison", (*some, PASS)))
    assert "player to poison." in said(ask("poison", some))
    village = replace(NOW, pack=(), role="Seer")
    told = [
        blocks(Question(village, Decide(ask("vote", options)), wording=wording, layout="paper"))[2]
        for options in ((*some, PASS), some)
    ]
    words = "or do not vote" if wording == "paper" else "whether a vote is better than none"
    assert [words in one for one in told] == [True, False]


def test_a_witch_who_is_the_victim_is_told_so() -> None:
    shown = Line(9, 1, "night", VictimShown(0, 0, 1), 8)
    witch = replace(NOW, ruleset=WITCH, role="Witch", pack=(), facts=(*FACTS, shown))
    for wording in ("own", "paper"):
        told = text(Question(witch, Decide(ask("antidote", (YES, NO))), wording=wording))  # type: ignore[arg-type]
        assert "Player 1 (you)" in told
        assert "you were told that the Werewolves are killing you." in told


def test_numbers_are_missing_only_where_statements_were_let_go() -> None:
    """The append layout keeps a line's number: what was let go leaves a gap, and the prompt says so."""
    dropped = "Numbers that are missing belonged to statements"
    assert dropped not in text(ASKED)
    pruned = replace(NOW, truths=(), falsehoods=())
    assert dropped in text(replace(ASKED, situation=pruned))
    assert question_digest(replace(ASKED, situation=pruned)) != question_digest(ASKED)


def test_who_judges_nobody_is_not_told_what_is_left_to_judge() -> None:
    heard = replace(NOW, truths=(), falsehoods=(), pending=TRUE + FALSE + NEW)
    assert "not judged yet: [8]" in text(ASKED)
    assert "not judged yet" not in text(replace(ASKED, situation=heard))


def test_beliefs_are_worded_by_confidence() -> None:
    words = {
        5: "is uncertain",
        6: "may be a Seer",
        7: "may be a Seer",
        9: "is likely to be a Seer",
        10: "must be a Seer",
    }
    for confidence, expected in words.items():
        told = text(replace(ASKED, beliefs=(Belief(3, "Seer", confidence, 8),)))
        assert f"player_4 {expected}" in told
    checked = Line(9, 1, "night", Learned(0, 3, "not a Werewolf", 1), 8)
    seer = replace(NOW, role="Seer", pack=(), facts=(*FACTS, checked))
    assert "player_4 is confirmed to be not a Werewolf" in text(replace(ASKED, situation=seer))


def test_styles_are_the_six_of_the_paper() -> None:
    assert list(STYLES) == [
        "quiet_follower",
        "active_contributor",
        "aggressive_accuser",
        "secretive",
        "proactive",
        "default",
    ]
    assert text(replace(ASKED, style="default")) == text(replace(ASKED, style=None))
    assert "As a Werewolf, you should be a quiet follower" in text(ASKED)


def test_corrections_are_shown_as_turns() -> None:
    chat = messages(ASKED, (("nonsense", "no JSON object"), ("", "it was\nempty")))
    assert [message.role for message in chat] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert chat[:2] == messages(ASKED)
    assert chat[2].content == "nonsense"
    assert "no JSON object" in chat[3].content
    assert chat[4].content == "(empty)"
    assert "it was empty" in chat[5].content


@examples(40)
@given(questions())
def test_any_question_has_a_whole_prompt(question: Question) -> None:
    rules, context, instruction = blocks(question)
    situation = question.situation
    assert rules
    if not isinstance(question.task, Extract):
        assert situation.ruleset.names[situation.seat] in instruction
    assert not re.search(r"\$\w", rules + context + instruction)
    assert not re.search(r",[.,]|, ,|\(\)|  ", instruction)
    for line in situation.lines:
        assert re.search(rf"^\[{line.number}\] \S", context, re.MULTILINE)
    assert len(re.findall(r"^\[\d+\]", context, re.MULTILINE)) == len(situation.lines)
    if isinstance(question.task, Deduce):
        for name in ("reasoning", "confidence", "evidence"):
            assert (f'"{name}"' in instruction) == (name in question.task.attributes)


HEADINGS = ("The following information is true.", "Living players:", "How matters stand now:", "[1]", "[99]")


@examples(30)
@given(
    st.lists(
        st.sampled_from([*HEADINGS, "\n", '"', "\r\n", "\u2028", "Moderator: "]), min_size=1, max_size=8
    ).map("".join)
)
def test_no_speech_opens_a_section(speech: str) -> None:
    hostile = Line(6, 1, "day", Said(1, "discussion", speech, EVERYONE), 5)
    for wording, layout in WAYS:
        tame = replace(ASKED, wording=wording, layout=layout)  # type: ignore[arg-type]
        told = text(replace(tame, situation=replace(NOW, truths=(hostile,))))
        lines, expected = told.splitlines(), text(tame).splitlines()
        assert len(lines) == len(expected)
        assert sum(a != b for a, b in zip(lines, expected, strict=True)) == 1


@examples(12)
@given(rulesets(), st.integers(0, 999), st.sampled_from(["paper", "own"]))
def test_appended_contexts_extend_each_other(rules: Any, seed: int, wording: Any) -> None:
    """In the append layout, what a seat was shown stays where it was in its later prompts."""
    shown: dict[int, tuple[str, str]] = {}
    for one, situation in situations(rules, seed, split=seed % 2):
        head, context, _ = blocks(Question(situation, Decide(one), wording=wording, layout="append"))
        before = shown.get(situation.seat)
        if before is not None:
            assert head == before[0]
            assert context.startswith(before[1])
        shown[situation.seat] = (head, context)


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("wording", ["paper", "own"])
def test_golden_rules(preset: str, wording: Any) -> None:
    now = replace(NOW, ruleset=PRESETS[preset])
    compare_golden(
        GOLDEN / f"rules-{preset}-{wording}.txt", blocks(replace(ASKED, situation=now, wording=wording))[0]
    )


def test_the_witch_is_asked_about_tonights_victim() -> None:
    for one, situation in situations(WITCH, 7):
        if one.kind == "antidote":
            told = blocks(Question(situation, Decide(one)))[2]
            assert re.search(r"The Werewolves are killing Player \d (\(you\) )?tonight", told)


def test_a_question_that_another_thread_hashes_meanwhile_changes_no_hash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def again() -> Question:
        return replace(ASKED, situation=replace(ASKED.situation))

    alone, pack_and_sheriff = question_digest(again()), digest._pack_and_sheriff
    other = replace(ASKED, situation=replace(ASKED.situation, round=ASKED.situation.round + 1))
    assert question_digest(other) != alone

    def interrupted(situation: Situation) -> object:
        monkeypatch.setattr(digest, "_pack_and_sheriff", pack_and_sheriff)
        question_digest(replace(other, situation=replace(other.situation)))
        return pack_and_sheriff(situation)

    monkeypatch.setattr(digest, "_pack_and_sheriff", interrupted)
    assert question_digest(again()) == alone
