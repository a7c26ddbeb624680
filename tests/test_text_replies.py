"""Reading replies: whatever the text, no exception and no illegal action."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from marks import examples
from text_helpers import ask, others, questions
from wolflab.rules import DOCTOR, LEFT, NO, PASS, RIGHT, SHERIFF, YES, Say, pick
from wolflab.text.asking.acting import reply_fields
from wolflab.text.asking.options import label, labels
from wolflab.text.asking.prompts import blocks
from wolflab.text.asking.templates import phrases
from wolflab.text.clean import clean
from wolflab.text.notes import UNCERTAIN, Candidate
from wolflab.text.questions import (
    AnswerQuestion,
    AskQuestions,
    Choose,
    ChooseQuestions,
    Decide,
    Deduce,
    Extract,
    Interview,
    Judge,
    Plan,
    Propose,
    Question,
    Rate,
    Reflect,
    Situation,
    guessable,
)
from wolflab.text.replies.extract import find_object, objects_in
from wolflab.text.replies.parse import parse, read_role, schema
from wolflab.text.replies.parsed import (
    REASONING_LIMIT,
    Decided,
    Judged,
    Judgement,
    Listed,
    Preferred,
    Problem,
    Proposals,
    RatedReply,
    Verdict,
    Written,
)
from wolflab.text.replies.reflective_replies import QUESTION_LIMIT, TEXT_LIMIT

TWELVE = SHERIFF.with_(roles={"Werewolf": 3, "Villager": 7, "Seer": 1, "Guard": 1})
NOW = Situation(SHERIFF, 0, "Villager", (), 1, "voting", tuple(range(7)), None, ())
VOTE = ask("vote", (*(pick(s) for s in range(7)), PASS), phase="voting")
VOTING = Question(NOW, Decide(VOTE))
SPEAKING = Question(NOW, Decide(ask("statement", None, phase="discussion")))
ONE = Question(NOW, Deduce(VOTE, (2,), guessable(SHERIFF)))
ALL = Question(NOW, Deduce(VOTE, (1, 2, 3), guessable(SHERIFF)))
RATING = Question(NOW, Rate(VOTE, (1, 2)))


@pytest.mark.parametrize(
    "reply",
    [
        '{"reasoning": "r", "action": "vote for player_3"}',
        'Sure!\n```json\n{"reasoning": "r", "action": "vote for player_3"}\n```\nGood luck.',
        '<think>perhaps {"action": "player_5"}</think>{"reasoning": "r", "action": "vote for player_3"}',
        'I ponder {"action": "player_5"} </think> {"reasoning": "r", "action": "vote for player_3"}',
        '[THINK]perhaps {"action": "player_5"}[/THINK]{"reasoning": "r", "action": "vote for player_3"}',
        'I ponder {"action": "player_5"} [/THINK] {"reasoning": "r", "action": "vote for player_3"}',
        '{"Reasoning": "r", "ACTION": "Player 3"}',
        '{"reasoning": "r", "vote": "player_3"}',
        '{"reasoning": "r", "action": 3}',
        '{"reasoning": "r", "action": ["player_3"]}',
        '{"reasoning": "r", "action": {"vote": "player_3"}}',
        "{'reasoning': 'r', 'action': 'vote for player_3'}",
        '{"reasoning": "r", "action": "vote for player_3"',
        '{"reasoning": "r", "action": "vote for player_3",}',
        '{not json} then {"reasoning": "r", "action": "vote for player_3"}',
        '[{"reasoning": "r", "action": "vote for player_3"}]',
    ],
)
def test_actions_in_many_dresses(reply: str) -> None:
    assert parse(VOTING, reply) == Decided(pick(2), "r")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "I vote for player_3",
        "{}",
        "[]",
        "null",
        '{"reasoning": "no action"}',
        '{"action": null}',
        '{"action": "player_12"}',
        '{"action": 1e999}',
        '{"action": ' + "9" * 6000 + "}",
        '{"a":' * 500,
        "{" * 3000,
        "[" * 30000 + "{",
        "<think>" + "x" * 50000,
    ],
)
def test_unusable_replies_are_problems(reply: str) -> None:
    problem = parse(VOTING, reply)
    assert isinstance(problem, Problem)
    assert problem.reason
    assert "\n" not in problem.reason


@pytest.mark.parametrize(
    "key", ["statement", "speech", "discussion", "Statement", "say", "my_statement", "action"]
)
def test_statements_are_cleaned(key: str) -> None:
    reply = json.dumps({"reasoning": "r", key: 'I\nam "good".\nModerator: yes'})
    assert parse(SPEAKING, reply) == Decided(Say("I am 'good'. Moderator, yes"), "r")


def test_silence_must_be_meant() -> None:
    assert parse(SPEAKING, '{"statement": "(silence)"}') == Decided(Say(""), "")
    for empty in (
        '{"statement": ""}',
        '{"statement": "\\u200b..."}',
        '{"reasoning": "r"}',
        '{"statement": 5}',
    ):
        assert isinstance(parse(SPEAKING, empty), Problem)


def test_other_choices() -> None:
    lead = Question(NOW, Decide(ask("lead", (LEFT, RIGHT), phase="order")))
    assert parse(lead, '{"action": "the right neighbour"}') == Decided(RIGHT, "")
    assert parse(VOTING, '{"action": "do no vote"}') == Decided(PASS, "")


def entry(
    role: Any = "Seer", confidence: Any = 8, evidence: Any = (1, 2), reasoning: Any = "r"
) -> dict[str, Any]:
    return {"role": role, "reasoning": reasoning, "confidence": confidence, "evidence": evidence}


SEER = Judgement(2, "Seer", 8, (1, 2), "r")


@pytest.mark.parametrize(
    "found",
    [
        {"player_3": entry()},
        {"Player 3": entry()},
        {"3": entry()},
        {"player_i": entry()},
        {"target": entry()},
        {"player_4": entry()},
        entry(),
        {"players": {"player_3": entry()}},
        {"deductions": [{"player": "player_3", **entry()}]},
        {"player_3": entry(), "player_4": entry("Werewolf")},
        {"player_3": entry("the seer")},
        {"player_3": entry("SEERS")},
        {"player_3": entry(confidence="8")},
        {"player_3": entry(confidence="8/10")},
        {"player_3": entry(confidence=8.0)},
        {"player_3": entry(evidence=[1, "x", 2, 2, None, True, -4, 1.5])},
        {"player_3": {"Role": "Seer", "Confidence": 8, "Evidence": [1, 2], "Reason": "r"}},
    ],
)
def test_one_judgement(found: dict[str, Any]) -> None:
    assert parse(ONE, json.dumps(found)) == Judged((SEER,), {})


@pytest.mark.parametrize(
    "found",
    [
        {"player_4": entry(), "player_5": entry()},
        {"player_3": entry("Wizard")},
        {"player_3": entry("not a Werewolf")},
        {"player_3": entry("Seer or Guard")},
        {"player_3": entry(confidence="high")},
        {"player_3": entry(confidence=None)},
        {"player_3": entry(confidence=True)},
        {"player_3": None},
        {"player_3": 7},
    ],
)
def test_unusable_judgements(found: dict[str, Any]) -> None:
    problem = parse(ONE, json.dumps(found))
    assert isinstance(problem, Problem)
    assert "player_3" in problem.reason


def test_confidence_is_clamped_and_evidence_may_lack() -> None:
    for given_, kept in ((1, 5), (-3, 5), (11, 10), (99, 10), (7.9, 7)):
        judged = parse(ONE, json.dumps({"player_3": entry(confidence=given_, evidence="none")}))
        assert judged == Judged((Judgement(2, "Seer", kept, (), "r"),), {})


def test_several_targets_stand_or_fall_alone() -> None:
    found = {"player_2": entry("Doctor"), "player_3": entry("Wizard"), "player_7": entry()}
    judged = parse(ALL, json.dumps(found))
    assert isinstance(judged, Judged)
    assert [(j.target, j.role) for j in judged.judgements] == [(1, "Guard")]
    assert set(judged.rejected) == {2, 3}
    assert "Wizard" not in judged.rejected[3]


def test_only_the_attributes_asked_for_are_read() -> None:
    bare = replace(ONE, task=Deduce(VOTE, (2,), guessable(SHERIFF), ()))
    assert parse(bare, '{"player_3": {"role": "Seer"}}') == Judged((Judgement(2, "Seer", 0),), {})
    assert parse(bare, '{"player_3": "Seer"}') == Judged((Judgement(2, "Seer", 0),), {})
    assert parse(bare, json.dumps({"player_3": entry()})) == Judged((Judgement(2, "Seer", 0),), {})


def test_guard_and_doctor_are_one_word_for_another() -> None:
    assert read_role("Doctor", guessable(SHERIFF)) == "Guard"
    assert read_role("bodyguard", guessable(DOCTOR)) == "Doctor"
    assert read_role("a wolf", guessable(DOCTOR)) == "Werewolf"
    assert read_role("unknown", guessable(DOCTOR)) == UNCERTAIN
    assert read_role("Witch", guessable(DOCTOR)) is None


def test_ratings() -> None:
    assert parse(RATING, '{"player_2": 3, "Player 3": "9/10"}') == RatedReply({1: 3, 2: 9})
    assert parse(RATING, '{"scores": {"player_2": {"score": 3}}, "reasoning": "r"}') == RatedReply({1: 3})
    assert parse(RATING, '{"player_2": 0, "player_3": 11, "player_4": 5}') == Problem(
        "the reply gives no score from 1 to 10 for any of player_2, player_3"
    )


def test_player_12_beside_player_1() -> None:
    now = replace(NOW, ruleset=TWELVE, alive=tuple(range(12)))
    deduce = Question(now, Deduce(VOTE, (0, 11), guessable(TWELVE)))
    judged = parse(deduce, json.dumps({"player_12": entry("Werewolf"), "player_1": entry("Seer")}))
    assert isinstance(judged, Judged)
    assert [(j.target, j.role) for j in judged.judgements] == [(0, "Seer"), (11, "Werewolf")]
    vote = Question(now, Decide(ask("vote", (pick(0), PASS))))
    assert isinstance(parse(vote, '{"action": "vote for player_12"}'), Problem)
    assert parse(Question(now, Rate(VOTE, (0,))), '{"player_12": 3, "player_11": 4}') == Problem(
        "the reply gives no score from 1 to 10 for any of player_1"
    )


def fits(value: Any, shape: dict[str, Any]) -> bool:
    """Whether `value` fits the part of JSON schema that `schema` uses."""
    kinds = {"object": dict, "string": str, "integer": int, "array": list}
    if not isinstance(value, kinds[shape["type"]]) or ("enum" in shape and value not in shape["enum"]):
        return False
    if shape["type"] == "object":
        parts = shape["properties"]
        return set(value) == set(parts) == set(shape["required"]) and all(
            fits(value[k], parts[k]) for k in parts
        )
    if shape["type"] != "array":
        return True
    many = shape.get("minItems", 0) <= len(value) <= shape.get("maxItems", len(value))
    return many and all(fits(one, shape["items"]) for one in value)


def example(draw: st.DrawFn, shape: dict[str, Any]) -> Any:
    if "enum" in shape:
        return draw(st.sampled_from(shape["enum"]))
    match shape["type"]:
        case "object":
            return {name: example(draw, part) for name, part in shape["properties"].items()}
        case "array":
            many = st.integers(shape.get("minItems", 0), shape.get("maxItems", 3))
            return [example(draw, shape["items"]) for _ in range(draw(many))]
        case "integer":
            return draw(st.integers(1, 40))
    return "I trust player_2, " + draw(st.text(max_size=20))


@examples(60)
@given(st.data(), questions((Decide, Deduce, Rate, Judge, Propose, Choose)))
def test_whatever_fits_the_schema_is_read(data: st.DataObject, question: Question) -> None:
    shape = schema(question)
    assume(shape is not None)  # 003's own final response is plain text
    assert shape is not None
    json.dumps(shape)
    value = data.draw(st.composite(lambda draw: example(draw, shape))())
    assert fits(value, shape)
    answer = parse(question, json.dumps(value))
    match question.task:
        case Decide(one):
            assert isinstance(answer, Decided)
            if one.options is not None:
                at = labels(one, question.situation.ruleset).index(value["action"])
                assert answer.action == one.options[at]
        case Propose(one, count, earlier):
            given_ = value["candidates"] if count > 1 else [value]
            name = "statement" if one.options is None else "action"
            fresh = {entry[name] for entry in given_} - {each.action for each in earlier}
            if isinstance(answer, Problem):
                assert len(fresh) < len(given_)
                assert (answer.usable is None) == (not fresh)
            else:
                assert isinstance(answer, Proposals)
                assert len(answer.candidates) == len(fresh) == len(given_)
        case Choose():
            assert answer == Preferred(value["choice"] - 1, clean(value["reasoning"]))
        case Deduce(_, targets, _, _):
            assert isinstance(answer, Judged)
            assert [j.target for j in answer.judgements] == list(targets)
            for judgement in answer.judgements:
                assert judgement.role == value[question.situation.ruleset.names[judgement.target]]["role"]
        case Rate(_, targets):
            names = question.situation.ruleset.names
            assert answer == RatedReply({seat: value[names[seat]] for seat in targets})
        case Judge(_, _, criteria):
            assert isinstance(answer, Verdict)
            assert answer.labels == {name: value[name] == "yes" for name, _ in criteria}


def in_a_row(*objects: dict[str, Any], between: str = " No, better:\n") -> str:
    return between.join(map(json.dumps, objects))


def choose(number: int) -> dict[str, Any]:
    return {"reasoning": f"r{number}", "action": f"vote for player_{number}"}


OFFERING = Question(NOW, Propose(VOTE, 2))
CHOOSING = Question(NOW, Choose(VOTE, tuple(Candidate(f"vote for player_{n}") for n in (3, 5))))
JUDGING = Question(NOW, Judge(VOTE, "votes for player_3", (("good", "is it good?"),)))


def offers(*numbers: int) -> dict[str, Any]:
    return {"candidates": [choose(number) for number in numbers]}


def offered(*numbers: int) -> Proposals:
    return Proposals(tuple(Decided(pick(number - 1), f"r{number}") for number in numbers))


@pytest.mark.parametrize(
    ("question", "reply", "last"),
    [
        (VOTING, in_a_row(choose(3), choose(5)), Decided(pick(4), "r5")),
        (VOTING, in_a_row(choose(3), choose(5), choose(3)), Decided(pick(2), "r3")),
        (VOTING, f"```json\n{in_a_row(choose(3))}\n```\nor\n```json\n{in_a_row(choose(5))}\n```", None),
        (VOTING, json.dumps([choose(3), choose(5)]), Decided(pick(4), "r5")),
        (VOTING, in_a_row(*[choose(3)] * 30, choose(5)), Decided(pick(4), "r5")),
        (VOTING, in_a_row(choose(3)) + " No: {'action': 'vote for player_5'", Decided(pick(4), "")),
        (SPEAKING, in_a_row({"statement": "I pass."}, {"statement": "I talk."}), Decided(Say("I talk."), "")),
        (ONE, in_a_row({"player_3": entry("Guard")}, {"player_3": entry()}), Judged((SEER,), {})),
        (ONE, in_a_row({"player_3": entry(confidence=6)}, {"player_3": entry()}), Judged((SEER,), {})),
        (RATING, in_a_row({"player_2": 3, "player_3": 9}, {"player_2": 4}), RatedReply({1: 4, 2: 9})),
        (CHOOSING, in_a_row({"choice": 1}, {"choice": 2}), Preferred(1, "")),
        (JUDGING, in_a_row({"good": "yes"}, {"good": "no"}), Verdict({"good": False}, "")),
        (OFFERING, in_a_row(offers(1, 2), offers(3, 4)), offered(3, 4)),
    ],
)
def test_of_several_answers_none_is_taken_for_the_answer(question: Question, reply: str, last: Any) -> None:
    problem = parse(question, reply)
    assert isinstance(problem, Problem)
    assert (
        problem.reason == "the reply holds several different answers; give one JSON object and nothing else"
    )
    assert problem.several
    assert problem.usable == (last or Decided(pick(4), "r5"))


@pytest.mark.parametrize(
    ("question", "reply", "answer"),
    [
        (VOTING, in_a_row(choose(3), choose(3)), Decided(pick(2), "r3")),
        (VOTING, in_a_row(choose(3), {"reasoning": "s", "action": "Player 3"}), Decided(pick(2), "s")),
        (VOTING, in_a_row(choose(3), {"note": "that is all"}), Decided(pick(2), "r3")),
        (VOTING, in_a_row(choose(99), choose(3)), Decided(pick(2), "r3")),
        (VOTING, in_a_row({"reasoning": "r"}, choose(3)), Decided(pick(2), "r3")),
        (VOTING, in_a_row(choose(3)) + ' {"reasoning": "so I', Decided(pick(2), "r3")),
        (ONE, in_a_row({"player_3": entry()}, {"player_4": entry("Guard")}), Judged((SEER,), {})),
        (ONE, in_a_row({"player": "player_3", **entry()}, {"player": "player_4", **entry("Guard")}), None),
        (
            ALL,
            in_a_row(*({f"player_{n}": entry(role)} for n, role in ((2, "Guard"), (3, "Seer"), (4, "Seer")))),
            Judged(
                tuple(Judgement(s, r, 8, (1, 2), "r") for s, r in ((1, "Guard"), (2, "Seer"), (3, "Seer")))
            ),
        ),
        (
            ALL,
            in_a_row({"player": "player_2", **entry("Guard")}, {"name": "Player 3", **entry()}),
            Judged((Judgement(1, "Guard", 8, (1, 2), "r"), SEER), {3: "player_4: no judgement given"}),
        ),
        (
            ONE,
            '{"player_3": {"role": "Seer", "confidence": 8}, "player_4": {"role": "Guard", "confidence": 8',
            Judged((Judgement(2, "Seer", 8),), {}),
        ),
        (
            ONE,
            in_a_row({"player_3": entry()})
            + '{"player_4": {"role": "Guard", "confidence": 8}, "player_5": {',
            None,
        ),
        (RATING, in_a_row({"player_2": 3}, {"player_3": 9}), RatedReply({1: 3, 2: 9})),
        (CHOOSING, in_a_row({"choice": 2}, {"choice": "2"}), Preferred(1, "")),
        (OFFERING, in_a_row(choose(1), choose(2)), offered(1, 2)),
        (OFFERING, in_a_row(choose(1), choose(2), choose(3)), offered(1, 2)),
        (OFFERING, in_a_row(offers(1, 2), offers(2, 1)), offered(1, 2)),
        (OFFERING, in_a_row(offers(1), offers(2, 3)), offered(1, 2)),
        (JUDGING, in_a_row({"good": "yes"}, {"good": "Yes."}), Verdict({"good": True}, "")),
    ],
)
def test_objects_that_do_not_differ_or_are_about_others_are_one_answer(
    question: Question, reply: str, answer: Any
) -> None:
    assert parse(question, reply) == (answer or Judged((SEER,), {}))


def test_plain_text_has_no_several_answers() -> None:
    free = Question(NOW, AnswerQuestion(VOTE, "Who?", ()))
    assert parse(free, in_a_row({"answer": "One."}, {"answer": "Two."})) == Written("One.")


SHARDS = st.sampled_from(
    [
        "{", "}", "[", "]", '"', ":", ",", "\\", "null", "true", "-1", "1e999", "9" * 5000, "NaN",
        "<think>", "</think>", "```json", "```", '"reasoning"', '"action"', '"statement"', '"role"',
        '"confidence"', '"evidence"', '"player_1"', '"Player 12"', "player_2", '"Werewolf"', "7",
        '{"action": "vote for player_1"}', '{"statement": "Moderator: You are dead."}',
        '{"player_2": {"role": "Werewolf", "confidence": "8"}}', "你好", "שלום",
        "\u202e", "\n", "\x00", "\ud800", "#", "1, 2, 3", "5", "Who am I?", "The best way", " or not",
        "My concise talking content:", "My step-by-step thought process:", '"answers": ["a", {"b": "c"}]',
        '"candidates": [', '{"choice": 2}', '"choice"', '"action_1": "pass"', '"2": {', "candidate 2",
        "\u200b" * 11000, "No useful experience can be used.", "yes", '"useful": "no"',
    ]
)  # fmt: skip

JSONISH = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), SHARDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                [
                    "action",
                    "statement",
                    "reasoning",
                    "player_1",
                    "player_2",
                    "player 12",
                    "role",
                    "confidence",
                    "evidence",
                    "candidates",
                    "choice",
                    "1",
                    "action_2",
                    "x",
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)

HOSTILE = st.one_of(
    st.text(max_size=200),
    st.lists(SHARDS, max_size=20).map("".join),
    JSONISH.map(json.dumps),
    JSONISH.map(lambda value: f"<think>{json.dumps(value)}</think> {str(value)[:300]}"),
)


@examples(150)
@given(questions(), st.lists(HOSTILE, min_size=1, max_size=8))
def test_no_reply_breaks_the_parser(question: Question, replies: list[str]) -> None:
    for reply in replies:
        answer = parse(question, reply)
        match answer, question.task:
            case Problem(reason), _:
                assert reason
                assert len(reason.splitlines()) == 1
            case Decided(action, reasoning), Decide(one):
                assert one.allows(action)
                assert len(reasoning.splitlines()) <= 1
                if isinstance(action, Say):
                    assert len(action.text) <= 1000
                    assert not set(action.text) & set('"\n\r<>[]{}`')
            case Judged(judgements, rejected), Deduce(_, targets, guesses, attributes):
                assert {j.target for j in judgements} | set(rejected) == set(targets)
                for judgement in judgements:
                    assert judgement.role in guesses
                    assert (5 if "confidence" in attributes else 0) <= judgement.confidence <= 10
            case RatedReply(scores), Rate(_, targets):
                assert set(scores) <= set(targets)
                assert all(1 <= score <= 10 for score in scores.values())
            case Listed(listed), ChooseQuestions(_, candidates, count):
                assert len(set(listed)) == len(listed) == count
                assert set(listed) <= set(candidates)
            case Listed(listed), AskQuestions(_, _, count):
                assert 1 <= len(set(listed)) == len(listed) <= count
                assert all(one and len(one) <= QUESTION_LIMIT for one in listed)
                assert not set("".join(listed)) & set('"\n\r<>[]{}`')
            case Written(text), task:
                assert isinstance(task, AnswerQuestion | Reflect | Extract | Interview | Plan)
                assert any(char.isalnum() for char in text) or isinstance(task, Extract)
                assert len(text) <= (REASONING_LIMIT if isinstance(task, Plan) else TEXT_LIMIT)
                assert not set(text) & set('"\n\r<>[]{}`')
            case Proposals(candidates), Propose(one, count, earlier):
                assert 1 <= len(candidates) <= count
                said = [label(each.action, one.kind, question.situation.ruleset) for each in candidates]
                assert len({*said, *(each.action for each in earlier)}) == len(said) + len(earlier)
                assert all(one.allows(each.action) for each in candidates)
            case Preferred(number, reasoning), Choose(_, candidates):
                assert 0 <= number < len(candidates)
                assert len(reasoning.splitlines()) <= 1
            case Verdict(verdict, _), Judge(_, _, criteria):
                assert set(verdict) == {name for name, _ in criteria}
            case _:
                pytest.fail(f"{answer!r} does not answer {question.task!r}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('x {"a": "}{"} {"b": 2}', [{"a": "}{"}, {"b": 2}]),
        ('{broken {"a": 1}', [{"a": 1}]),
        ("no object", []),
        ("[1, 2]", []),
        ('[{"a": 1}, {"b": 2}]', [{"a": 1}, {"b": 2}]),
        ('{"a": {"b": 1}}', [{"a": {"b": 1}}]),
        ("{'a': {'b': 1}} and {\"c\": 2}", [{"c": 2}]),
        ("{'a': {'b': 1}} and {'c': 2}", [{"a": {"b": 1}}, {"c": 2}]),
        ("{'a': 'one} or ] of them', 'c': 2}", [{"a": "one} or ] of them", "c": 2}]),
        ('{\'a\': {"b": 1}} and {"c": 2}', [{"c": 2}]),
        ("{'a': {\"b\": 1}}", [{"b": 1}]),
        ('{"a": 1} and {"b": "c", "d": 3', [{"a": 1}, {"b": "c", "d": 3}]),
        (
            '{"a": 1} and {"b": {"c": 2}, "d": {"e": 3}, "f": 4',
            [{"a": 1}, {"b": {"c": 2}, "d": {"e": 3}, "f": 4}],
        ),
        ('{"b": {"c": 2}, "d": {"e": 3}, "f": 4', [{"c": 2}]),
        ('{"a": "cut off. {"b": 2}', [{"b": 2}]),
        ('{"a": 1} I hope {that} helps {you', [{"a": 1}]),
        ('{"a": 1}' + "{" * 50 + ' {"b": 2}', [{"a": 1}, {"b": 2}]),
    ],
)
def test_all_objects_of_a_text_are_found(text: str, found: list[dict[str, Any]]) -> None:
    assert objects_in(text) == found
    assert find_object(text) == (found[0] if found else None)


def test_a_search_for_objects_ends_where_brackets_are_too_deep():
    deep = 5_000 * '{"a":' + "1" + 5_000 * "}"
    assert objects_in('vote: {"b": 2} ' + deep + '{"c": 3}') == [{"b": 2}]
    assert objects_in(f"vote: {deep}") == []


@pytest.mark.parametrize("unit", ['("b"', ';"', '-"', "='", "*.(}", "(", '"'])
def test_no_reply_takes_long_to_parse(unit: str) -> None:
    """The repair of broken JSON takes a time that grows with the square of what it is given."""
    start = time.process_time()
    find_object("{" + unit * (1_000_000 // len(unit)))
    assert time.process_time() - start < 8


@pytest.mark.parametrize("wording", ["own", "paper"])
@pytest.mark.parametrize("kind", ["vote", "antidote", "lead", "statement", "campaign"])
def test_a_form_that_is_given_back_is_no_answer(kind: str, wording: Any) -> None:
    """Small models repeat what the prompt puts into a field: no choice, nothing said, no reason."""
    options = {"vote": VOTE.options, "antidote": (YES, NO), "lead": (LEFT, RIGHT)}.get(kind)
    asked = Question(NOW, Decide(ask(kind, options)))
    shown = {name: text.strip('"') for name, text in reply_fields(asked.task.ask, SHERIFF, wording).items()}
    told = blocks(replace(asked, wording=wording))[2]
    assert all(f'"{name}": ' in told and text in told for name, text in shown.items())
    for repeated in (
        shown,
        dict.fromkeys(shown, "..."),
        {name: text.upper() + "." for name, text in shown.items()},
        dict.fromkeys(shown, "S1"),  # what few know has such numbers
    ):
        assert isinstance(parse(asked, json.dumps(repeated)), Problem), repeated
    answer = labels(asked.task.ask, SHERIFF)[1] if options else "I trust player_2."
    good = parse(asked, json.dumps({**shown, "action" if options else "statement": answer}))
    assert isinstance(good, Decided)
    assert good.reasoning == ""


@pytest.mark.parametrize("reply", ['{"action": ', '{"action": "', '{"action": "..."}', '{"action": " "}'])
def test_an_action_that_was_cut_is_empty(reply: str) -> None:
    problem = parse(VOTING, reply)
    assert isinstance(problem, Problem)
    assert problem.reason.startswith('the "action" is empty; choose one of: ')


def test_the_options_given_back_are_no_choice() -> None:
    listed = ", ".join(labels(VOTE, SHERIFF))
    first_last = ", ".join((labels(VOTE, SHERIFF)[-1], *labels(VOTE, SHERIFF)[:-1]))
    for said in (listed, first_last, f"Exactly one of: {listed}.", f"choose one from {first_last}"):
        problem = parse(VOTING, json.dumps({"reasoning": "r", "action": said}))
        assert isinstance(problem, Problem)
        assert "repeats all options" in problem.reason
    only = Question(NOW, Decide(ask("vote", (pick(3),))))
    assert parse(only, '{"action": "exactly one of: vote for player_4"}') == Decided(pick(3), "")


def test_the_number_of_a_candidate_is_not_read_from_the_form() -> None:
    candidates = tuple(Candidate(f"vote for player_{n}") for n in (1, 2, 3))
    task = Choose(VOTE, candidates)
    for wording in ("own", "paper"):
        told = phrases(f"{wording}/phrases", 0)["reply_choice"].substitute(count=3).strip('"')
        assert isinstance(parse(Question(NOW, task), json.dumps({"choice": told})), Problem)


def test_a_judgements_reason_is_not_read_from_the_form() -> None:
    shown = "why you think so, in one or two sentences"
    entry = {"role": "Seer", "reasoning": shown, "confidence": 7, "evidence": []}
    found = parse(ONE, json.dumps({"player_3": entry}))
    assert found == Judged((Judgement(2, "Seer", 7),))


def test_helpers_agree_on_who_is_asked_about() -> None:
    assert others(NOW) == (1, 2, 3, 4, 5, 6)
