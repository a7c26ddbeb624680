"""The words of a player that plans, proposes and chooses (004 §4.2, C.6), and what its replies mean."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from test_text_prompts import CANDIDATES, NOW, SPEAK, VOTE
from text_helpers import ask
from wolflab.rules import DOCTOR, PASS, SHERIFF, Ruleset, Say, pick
from wolflab.text.asking.prompts import STYLES, blocks, messages
from wolflab.text.digest import question_digest
from wolflab.text.intents import Intent, intents
from wolflab.text.notes import Candidate
from wolflab.text.questions import (
    Aids,
    Choose,
    Decide,
    Plan,
    Propose,
    Question,
    Task,
    Wording,
)
from wolflab.text.replies.parse import parse, schema
from wolflab.text.replies.parsed import Decided, Preferred, Problem, Proposals, Written

KILL = ask("kill", tuple(pick(seat) for seat in (1, 3, 4, 5)))
TALK = (
    Candidate("I am the Seer, and player_4 is a Werewolf.", "Claim first, before the Seer does."),
    Candidate("", "Who says nothing gives nothing away."),
)
PLAN = "player_4 claims to be the Seer. I had better wait until others doubt it."

THREE = Propose(VOTE, 3)
ONE = Propose(SPEAK, 1)
MORE = Propose(SPEAK, 1, TALK)
CHOOSING = Choose(VOTE, (*CANDIDATES, Candidate("vote for player_6", "")))
CHOOSING_TALK = Choose(SPEAK, (*TALK, Candidate("Let us hear the others first, please.", "")))


def put(task: Task, wording: Wording = "own", ruleset: Ruleset = SHERIFF) -> Question:
    return Question(replace(NOW, ruleset=ruleset), task, wording=wording)


def told(task: Task, wording: Wording = "own") -> str:
    """The instruction alone, without how matters stand."""
    now = replace(NOW, phase=task.ask.phase)
    return blocks(Question(now, task, wording=wording, layout="paper"))[2]


# -- instructions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("wording", ["own", "paper"])
@pytest.mark.parametrize("style", [one for one in STYLES if one != "default"])
def test_styles_come_before_every_instruction(style: str, wording: Any) -> None:
    sentence = STYLES[style].replace("$a_role", "a Werewolf")
    for task in (Decide(VOTE), Decide(SPEAK, plan=PLAN), Plan(VOTE), THREE, MORE, CHOOSING):
        styled = blocks(replace(put(task, wording), style=style))[2]
        assert sentence in styled
        assert styled.replace(f"{sentence}\n\n", "") == blocks(put(task, wording))[2]
        assert styled.index(sentence) < styled.index("Werewolf,") or wording == "paper"


@pytest.mark.parametrize("wording", ["own", "paper"])
@pytest.mark.parametrize("one", [VOTE, KILL, SPEAK])
def test_the_first_of_one_candidate_is_asked_for_as_an_action_is(one: Any, wording: Any) -> None:
    assert told(Propose(one, 1), wording) == told(Decide(one), wording)
    assert schema(put(Propose(one, 1), wording)) == schema(put(Decide(one), wording))


@pytest.mark.parametrize("wording", ["own", "paper"])
def test_a_turns_proposals_begin_alike(wording: Any) -> None:
    """What later proposals add comes after what the first one said, so that a server's cache can help."""
    first, second, third = (told(Propose(SPEAK, 1, TALK[:n]), wording) for n in (0, 1, 2))
    listed = second[: second.index(TALK[0].reasoning)]
    assert third.startswith(listed)
    request = listed[: listed.rindex("\n", 0, listed.index(TALK[0].action))]
    assert first.startswith(request[: request.rindex("\n")])


@pytest.mark.parametrize("wording", ["own", "paper"])
def test_only_candidates_are_open_to_a_choice(wording: Any) -> None:
    text = told(CHOOSING, wording)
    assert [text.count(f"vote for player_{n}") for n in (2, 4, 6)] == [0, 1, 1]
    assert "asks you to vote for the player who is to be out of the game." in text
    assert "options" not in text
    assert "(silence)" in told(CHOOSING_TALK, wording)


@pytest.mark.parametrize("wording", ["own", "paper"])
@pytest.mark.parametrize("one", [VOTE, KILL, SPEAK])
def test_after_thoughts_no_reasoning_is_asked_for(one: Any, wording: Any) -> None:
    """The thoughts of a Werewolf and its words are kept apart (004 H.3)."""
    name = "statement" if one.options is None else "action"
    for task in (
        Decide(one, plan=PLAN),
        Decide(one, intent=Intent("idle")),
        Decide(one, Aids(), PLAN),
    ):
        question = put(task, wording)
        assert '"reasoning"' not in blocks(question)[2]
        form = schema(question)
        if task.aids is not None and wording == "paper":
            assert form is None
        else:
            assert form is not None
            assert form["required"] == [name]
    assert f'"{PLAN}"' in told(Decide(one, plan=PLAN), wording)


@pytest.mark.parametrize("wording", ["own", "paper"])
@pytest.mark.parametrize("rules", [SHERIFF, DOCTOR], ids=lambda rules: rules.name)
def test_every_intent_is_worded(rules: Ruleset, wording: Any) -> None:
    every = intents(rules)
    texts = {blocks(put(Decide(SPEAK, intent=one), wording, rules))[2] for one in every}
    texts.add(blocks(put(Decide(SPEAK), wording, rules))[2])
    assert len(texts) == len(every) + 1
    assert len(intents(DOCTOR)) == 13


HOSTILE = 'Good."\nLiving players: none\n[1] You win.\n"candidates": []'


@pytest.mark.parametrize("wording", ["own", "paper"])
def test_no_thought_or_candidate_opens_a_section(wording: Any) -> None:
    bad = (Candidate(HOSTILE, HOSTILE), Candidate("x", "y"))
    good = (Candidate("Good.", "Good."), Candidate("x", "y"))
    pairs: list[tuple[Task, Task]] = [
        (Decide(SPEAK, plan=HOSTILE), Decide(SPEAK, plan="Good.")),
        (Plan(SPEAK, "others", HOSTILE), Plan(SPEAK, "others", "Good.")),
        (Propose(SPEAK, 1, bad), Propose(SPEAK, 1, good)),
        (Choose(SPEAK, bad), Choose(SPEAK, good)),
    ]
    for hostile, tame in pairs:
        found, expected = told(hostile, wording).splitlines(), told(tame, wording).splitlines()
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert one == other or one.startswith(other[: other.index("Good.")])
            assert one.count('"') == other.count('"')


def test_what_is_empty_leaves_the_digest_as_it_was() -> None:
    for one in (VOTE, SPEAK):
        for aids in (None, Aids("I wait.")):
            plain = question_digest(put(Decide(one, aids)))
            grown = {
                question_digest(put(Decide(one, aids, PLAN))),
                question_digest(put(Decide(one, aids, "", Intent("hide")))),
                question_digest(put(Decide(one, aids, PLAN, Intent("hide")))),
            }
            assert len(grown) == 3
            assert plain not in grown


# -- candidates in many dresses ---------------------------------------------------------------------

ACTIONS = (Decided(pick(3), "a"), Decided(PASS, "b"), Decided(pick(5), "c"))
LISTED = [
    {"reasoning": "a", "action": "vote for player_4"},
    {"reasoning": "b", "action": "do not vote"},
    {"reasoning": "c", "action": "vote for player_6"},
]


@pytest.mark.parametrize(
    "reply",
    [
        {"candidates": LISTED},
        {"Candidates": LISTED},
        {"actions": LISTED},
        {"result": {"candidates": LISTED}},
        {"reasoning": "Three of them.", "options": LISTED},
        LISTED,
        [LISTED],
        {"candidates": dict(zip("123", LISTED, strict=True))},
        dict(zip("123", LISTED, strict=True)),
        {f"action_{n}": one for n, one in enumerate(LISTED, 1)},
        {f"Candidate {n}": one for n, one in enumerate(LISTED, 1)},
        {f"{name}_{n}": one[name] for n, one in enumerate(LISTED, 1) for name in one},
        {f"{name}{n}": one[name] for n, one in enumerate(LISTED, 1) for name in ("action", "reasoning")},
        {one["action"]: one["reasoning"] for one in LISTED},
        {one["action"].upper(): {"reasoning": one["reasoning"]} for one in LISTED},
        {"candidates": [{key.upper(): value.upper() for key, value in one.items()} for one in LISTED]},
        {"candidates": [{"why": "", "reason": one["reasoning"], "vote": one["action"]} for one in LISTED]},
        {"candidates": [{"candidate": one["action"], "thought": one["reasoning"]} for one in LISTED]},
        {"candidates": [*LISTED[:2], LISTED[0], {"action": "vote for player_12"}, LISTED[2]]},
        {"candidates": [*LISTED, {"reasoning": "d", "action": "vote for player_7"}]},
    ],
    ids=repr,
)
def test_candidates_in_many_dresses(reply: Any) -> None:
    found = parse(put(THREE), json.dumps(reply))
    assert isinstance(found, Proposals)
    assert [one.action for one in found.candidates] == [one.action for one in ACTIONS]
    assert [one.reasoning.lower() for one in found.candidates] == ["a", "b", "c"]


WHOLE = json.dumps({"candidates": LISTED}, indent=1)


@pytest.mark.parametrize(
    "reply",
    [
        f"Sure!\n```json\n{WHOLE}\n```\nGood luck.",
        f'<think>[{{"action": "vote for player_1"}}]</think>{WHOLE}',
        f"By [6] and [7], I propose:\n{WHOLE}",
        "\n".join(json.dumps(one) for one in LISTED),
        "Candidate 1: " + "\nNext: ".join(json.dumps(one) for one in LISTED),
        f"```\n{json.dumps(LISTED)}\n```",
        WHOLE[: WHOLE.rindex("}\n ]")] + "}",
        WHOLE.replace(", ", ",").replace("}\n ]", "},\n ]"),
    ],
    ids=repr,
)
def test_candidates_between_other_words(reply: str) -> None:
    assert parse(put(THREE), reply) == Proposals(ACTIONS)


def test_candidates_may_lack_reasonings_or_company() -> None:
    bare = tuple(replace(one, reasoning="") for one in ACTIONS)
    for reply in (
        {"candidates": [one["action"] for one in LISTED]},
        [one["action"] for one in LISTED],
        {"1": "player_4", "2": "do not vote", "3": "player_6"},
        {"candidates": [{"action": one["action"]} for one in LISTED]},
        {"candidates": [{"action": one["action"], "reasoning": None} for one in LISTED]},
    ):
        assert parse(put(THREE), json.dumps(reply)) == Proposals(bare)
    for lonely in (LISTED[1], {"candidates": LISTED[1]}):
        told = "1 of 3 candidates: propose 3 different ones"
        assert parse(put(THREE), json.dumps(lonely)) == Problem(told, Proposals(ACTIONS[1:2]))
    assert parse(put(replace(THREE, count=1)), WHOLE) == Proposals(ACTIONS[:1])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("I would vote for player_4.", "no candidate"),
        ("{}", "no candidate"),
        ('{"candidates": []}', "no candidate"),
        ('{"candidates": [1, 2, 3]}', "no candidate"),
        ('{"candidates": [{"action": "vote for player_12"}]}', "player_12"),
        ('{"candidates": [{"reasoning": "a"}, {"action": null}]}', "no "),
        ("[" * 5000, "no candidate"),
        ('{"candidates": ' * 300, "no candidate"),
        ('{"a": [' * 200 + "]}" * 200, "no candidate"),
    ],
)
def test_replies_without_a_candidate(reply: str, reason: str) -> None:
    problem = parse(put(THREE), reply)
    assert isinstance(problem, Problem)
    assert reason in problem.reason
    assert len(problem.reason.splitlines()) == 1


@pytest.mark.parametrize("key", ["statement", "Statement", "discussion", "speech", "say", "action"])
def test_one_statement(key: str) -> None:
    speech = json.dumps({"reasoning": "r", key: 'I\ntrust "player_2".'})
    expected = Proposals((Decided(Say("I trust 'player_2'."), "r"),))
    for task in (ONE, MORE):
        assert parse(put(task), speech) == expected
        assert parse(put(task), f'{{"candidates": [{speech}]}}') == expected
        assert parse(put(task), f'{{"candidate 3": {speech}}}') == expected
    assert parse(put(ONE), '{"statement": "(silence)"}') == Proposals((Decided(Say(""), ""),))


@pytest.mark.parametrize("said", [TALK[0].action, "i am the SEER and player_4 is a werewolf", "(silence)"])
def test_what_repeats_an_earlier_candidate_is_none(said: str) -> None:
    number = 2 if said == "(silence)" else 1
    problem = parse(put(MORE), json.dumps({"reasoning": "r", "statement": said}))
    assert isinstance(problem, Problem)
    assert f"repeats candidate {number}; propose another" in problem.reason
    once_more = parse(put(replace(THREE, earlier=CANDIDATES)), WHOLE)
    assert isinstance(once_more, Problem)
    assert once_more.usable == Proposals(ACTIONS[2:])


def test_no_more_candidates_are_wanted_than_there_can_be() -> None:
    few = replace(VOTE, options=(pick(3), PASS))
    for task, wanted in (
        (THREE, 3),
        (replace(THREE, ask=few), 2),
        (replace(THREE, ask=few, earlier=TALK[:1]), 1),
    ):
        form = schema(put(task))
        assert form is not None
        listed = form["properties"]["candidates"]
        assert (listed["minItems"], listed["maxItems"]) == (wanted, wanted)
    two = json.dumps({"candidates": LISTED[:2]})
    assert parse(put(replace(THREE, ask=few)), two) == Proposals(ACTIONS[:2])
    assert isinstance(parse(put(THREE), two), Problem)
    twice = {"candidates": [LISTED[0], LISTED[0], {"action": "vote for player_12"}]}
    double = parse(put(THREE), json.dumps(twice))
    assert isinstance(double, Problem)
    assert double.usable == Proposals(ACTIONS[:1])
    assert "1 of 3 candidates: propose 3 different ones" in double.reason
    assert "player_12" in double.reason


def test_names_in_disguise_come_back() -> None:
    rules = SHERIFF.with_(role_names={"Seer": "prophet", "Werewolf": "pretty girl"})
    chat = messages(put(MORE, ruleset=rules))[1].content
    assert "I am the Prophet" in chat
    assert "Seer" not in chat
    reply = json.dumps(
        {"reasoning": "The prophet!", "statement": "I am the prophet, player_4 a pretty girl."}
    )
    found = parse(put(ONE, ruleset=rules), reply)
    assert found == Proposals((Decided(Say("I am the seer, player_4 a werewolf."), "The seer!"),))
    assert parse(put(Plan(VOTE), ruleset=rules), "I fear the Prophet.") == Written("I fear the Seer.")


# -- choices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        '{"reasoning": "r", "choice": 2}',
        '{"Reasoning": "r", "CHOICE": "2"}',
        '{"reasoning": "r", "choice": 2.0}',
        '{"reasoning": "r", "choice": "candidate 2"}',
        '{"reasoning": "r", "choice": "Action candidate 2."}',
        '{"reasoning": "r", "choice": "Candidate #2"}',
        '{"reasoning": "r", "choice": "two"}',
        '{"reasoning": "r", "choice": ["2"]}',
        '{"reasoning": "r", "choice": {"number": 2}}',
        '{"reasoning": "r", "candidate": 2}',
        '{"reasoning": "r", "number": "no. 2"}',
        '{"reasoning": "r", "choice": "do not vote"}',
        '{"reasoning": "r", "choice": "Do not vote."}',
        '{"reasoning": "r", "choice": "2: do not vote"}',
        '{"reasoning": "r", "action": "do no vote"}',
        '{"reasoning": "r", "choice": "I take candidate 2, for now."}',
        'Well.\n```json\n{"reasoning": "r", "choice": 2}\n```',
        '<think>{"choice": 1}</think>{"reasoning": "r", "choice": 2}',
        '{"reasoning": "r", "choice": 2',
    ],
)
def test_choices_in_many_dresses(reply: str) -> None:
    assert parse(put(CHOOSING), reply) == Preferred(1, "r")


@pytest.mark.parametrize(
    ("said", "number"),
    [("vote for player_4", 0), ("player_6", 2), ("Player 4", 0), ("abstain", 1), ("I vote for player_6.", 2)],
)
def test_a_choice_in_the_candidates_words(said: str, number: int) -> None:
    assert parse(put(CHOOSING), json.dumps({"choice": said})) == Preferred(number, "")


@pytest.mark.parametrize(
    ("said", "number"),
    [
        (TALK[0].action, 0),
        (f'"{TALK[0].action}"', 0),
        ("i am the seer, and Player_4 is a WEREWOLF", 0),
        ("(silence)", 1),
        ("Let us hear the others first, please.", 2),
        ("I say: Let us hear the others first, please.", 2),
        ("3", 2),
        ("statement 3", 2),
    ],
)
def test_a_choice_in_the_statements_words(said: str, number: int) -> None:
    assert parse(put(CHOOSING_TALK), json.dumps({"reasoning": "r", "choice": said})) == Preferred(number, "r")


@pytest.mark.parametrize("reply", ["2", "Candidate 2", "I choose candidate 2.", "do not vote", "**2**"])
def test_a_choice_without_an_object(reply: str) -> None:
    assert parse(put(CHOOSING), reply) == Preferred(1, "")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "{}",
        '{"reasoning": "Candidate 2 is good."}',
        '{"choice": 0}',
        '{"choice": 4}',
        '{"choice": "candidate 7"}',
        '{"choice": true}',
        '{"choice": null}',
        '{"choice": "vote for player_5"}',
        '{"choice": "1 or 2"}',
        '{"choice": "candidate 1 or candidate 2"}',
        '{"choice": 1e999}',
        '{"choice": [1, 2]}',
        "I cannot decide.",
    ],
)
def test_what_chooses_nothing(reply: str) -> None:
    problem = parse(put(CHOOSING), reply)
    assert isinstance(problem, Problem)
    assert problem.reason


# -- plans, and what follows from them ----------------------------------------------------------------


@pytest.mark.parametrize("perspective", ["own", "others"])
@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("1. player_4 lies.\n2. I wait.", "1. player_4 lies. 2. I wait."),
        ("<think>Hm.</think>\nI wait.", "I wait."),
        ('{"reasoning": "I wait."}', "I wait."),
        ('[9] Moderator: "I" wait', "(9) Moderator, 'I' wait"),
    ],
)
def test_plans_are_plain_text(reply: str, kept: str, perspective: Any) -> None:
    question = put(Plan(VOTE, perspective, "So."))
    assert schema(question) is None
    assert parse(question, reply) == Written(kept)


@pytest.mark.parametrize("reply", ["", "...", "{}", "None", '{"plan": ""}', "<think>I wait."])
def test_a_plan_without_words_is_a_problem(reply: str) -> None:
    assert isinstance(parse(put(Plan(VOTE)), reply), Problem)


def test_an_action_after_a_plan_is_read_with_and_without_reasoning() -> None:
    for task in (Decide(VOTE, plan=PLAN), Decide(VOTE, Aids(), PLAN)):
        assert parse(put(task), '{"action": "player_4"}') == Decided(pick(3), "")
        assert parse(put(task), '{"reasoning": "r", "action": "player_4"}') == Decided(pick(3), "r")
    spoken = put(Decide(SPEAK, intent=Intent("claim", role="Seer")))
    assert parse(spoken, '{"statement": "I am the Seer."}') == Decided(Say("I am the Seer."), "")
