"""What the replies to the reflective player's steps are read into (003 Table 3), in many dresses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from text_helpers import ask
from wolflab.rules import (
    PASS,
    WITCH,
    Say,
    pick,
)
from wolflab.text.asking.prompts import blocks
from wolflab.text.asking.reflective_prompts import questionnaire
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
from wolflab.text.replies.parse import parse, schema
from wolflab.text.replies.parsed import Decided, Listed, Problem, Verdict, Written

NOW = Situation(WITCH, 0, "Witch", (), 1, "voting", tuple(range(7)), None, ())
VOTE = ask("vote", (*(pick(seat) for seat in range(7)), PASS), phase="voting")
SPEAK = ask("statement", None, phase="discussion")
NINE = questionnaire("Witch", "own", WITCH)


def put(task: Task, wording: Any = "own") -> Question:
    return Question(NOW, task, wording=wording, layout="recall")


CHOOSING = put(ChooseQuestions(VOTE, NINE, 5))
ASKING = put(AskQuestions(VOTE, NINE[:5], 2))
ANSWERING = put(AnswerQuestion(VOTE, "Who lies?", ()))
REFLECTING = put(Reflect(VOTE, ()))
EXTRACTING = put(Extract(VOTE, "I wait.", "Pass.", ("Vote.",)))
PAPER_VOTE = put(Decide(VOTE, Aids()), "paper")
PAPER_TALK = put(Decide(SPEAK, Aids()), "paper")
JUDGING = put(Judge(VOTE, "vote", (("lie", "It lies."), ("belief", "It believes."))))


# -- choosing and asking --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        "1, 3, 5, 7, 9",
        "1,3,5,7 and 9.",
        "1 3 5 7 9",
        "Questions 1, 3, 5, 7, and 9",
        "The 5 questions are: 1, 3, 5, 7, 9",
        "I would choose the 5 most important questions: 1, 3, 5, 7, 9.",
        "#1 #3 #5 #7 #9",
        "1, 1, 3, 5, 7, 9, 2",
        "(1) (3) (5) (7) (9)",
        "<think>1, 2, 3, 4, 5</think>1, 3, 5, 7, 9",
        '{"questions": [1, 3, 5, 7, 9]}',
        '```json\n{"questions": [{"no": 1}, {"no": 3}, {"no": 5}, {"no": 7}, {"no": 9}]}\n```',
        " # ".join(NINE[::2]),
        "\n".join(f"- {one}" for one in NINE[::2]),
        "\n".join(f"{number}. {one}" for number, one in enumerate(NINE, 1) if number % 2),
        "#".join(one.lower().replace("?", "") for one in NINE[::2]),
        " ".join(f"{number}. {one}" for number, one in enumerate(NINE, 1) if number % 2),
        json.dumps({"reasoning": "They matter most of all to me as the Witch.", "chosen": list(NINE[::2])}),
    ],
)
def test_chosen_questions_in_many_dresses(reply: str) -> None:
    assert parse(CHOOSING, reply) == Listed(NINE[::2])


@pytest.mark.parametrize("role", list(WITCH.roles))
def test_a_question_of_two_sentences_is_known_by_its_first(role: str) -> None:
    """Models repeat "Should I be using my antidote or poison at this point?" and leave the rest out."""
    listed = questionnaire(role, "paper", WITCH)
    task = put(ChooseQuestions(VOTE, listed, 9), "paper")
    firsts = [question.split("? ")[0].removesuffix("?") + "?" for question in listed]
    assert parse(task, " # ".join(firsts)) == Listed(listed)


def test_the_example_of_a_reflection_is_none() -> None:
    shown = "As the Witch, I observed that… I think that… But I am… So…"
    task = Reflect(VOTE, ())
    assert shown in blocks(put(task, "paper"))[2]
    assert isinstance(parse(put(task, "paper"), shown), Problem)
    assert parse(put(task, "paper"), "As the Witch, I observed that.") == Written(
        "As the Witch, I observed that."
    )


def test_the_papers_candidates_of_two_sentences_are_known_again() -> None:
    listed = questionnaire("Witch", "paper", WITCH)
    asked = put(ChooseQuestions(VOTE, listed, 5), "paper")
    for chosen in (listed[:5], listed[4:], (listed[8], listed[0], listed[6], listed[3], listed[1])):
        assert parse(asked, " # ".join(chosen)) == Listed(chosen)
        assert parse(asked, "\n".join(f"{n}) {one}#" for n, one in enumerate(chosen, 1))) == Listed(chosen)


@pytest.mark.parametrize(
    "reply",
    ["", "  \n", "none", "1, 2, 3, 4", "90, 91, 92, 93, 94", "0, 10, 11, 12", "I cannot decide.", "###", "{}",
     '{"questions": []}', '{"questions": ', NINE[0], "1" * 5000, "a#" * 50_000],
)  # fmt: skip
def test_too_few_chosen_questions_are_a_problem(reply: str) -> None:
    assert isinstance(parse(CHOOSING, reply), Problem)


@pytest.mark.parametrize(
    "reply",
    [
        "I suspect Player 1, Player 2, Player 3, Player 4 and Player 5.",
        "On day 1, Player 2, 3, 4, 6 spoke.",
        "Players 1, 2, 3, and 4 & 5 were silent.",
        "Days 1 to 3 and nights 2, 4, 5, 6 were quiet.",
        "player_1, 2, 3, 4, 5",
        "P1 P2 P3 P4 P5",
        "Rounds 1 and 2; seats 3, 4, 5",
        "Player #1, #2 and Werewolf 3, 4, 5, 6",
        "player " + "1, " * 5_000,
    ],
)
def test_numbers_of_players_and_days_are_no_questions_numbers(reply: str) -> None:
    assert isinstance(parse(CHOOSING, reply), Problem)


@pytest.mark.parametrize(
    "reply",
    [
        "About Player 3 on day 1: 1, 3, 5, 7, 9",
        "I suspect Player 2 and Player 4. Questions 1, 3, 5, 7 and 9.",
        "It is night 2.\n1\n3\n5\n7\n9",
        "1 (Player 2 lies), 3, 5, 7, 9",
    ],
)
def test_questions_chosen_beside_players_are_read(reply: str) -> None:
    assert parse(CHOOSING, reply) == Listed(tuple(NINE[n - 1] for n in (1, 3, 5, 7, 9)))


def test_a_player_is_called_as_the_rules_call_it() -> None:
    now = replace(NOW, ruleset=WITCH.with_(player_name="Guest {}"))
    asked = Question(now, ChooseQuestions(VOTE, NINE, 5), layout="recall")
    assert isinstance(parse(asked, "I doubt Guest 1, 2, 3, 4 and 5."), Problem)


TWO = ("Who voted for me?", "Why did nobody die last night?")


@pytest.mark.parametrize(
    "reply",
    [
        "Who voted for me? # Why did nobody die last night?",
        "#Who voted for me?#Why did nobody die last night?#",
        "1. Who voted for me?\n2. Why did nobody die last night?",
        "Question 1: Who voted for me?\nQuestion 2: Why did nobody die last night?",
        "Here are my questions:\n- Who voted for me?\n- Why did nobody die last night?",
        "Who voted for me? Why did nobody die last night? What will Player 3 do?",
        '{"questions": ["Who voted for me?", "Why did nobody die last night?"]}',
        '{"questions": "Who voted for me? # Why did nobody die last night?"}',
        "<think>Hm.</think>\n\"Who voted for me?\" # 'Why did nobody die last night?'",
        f"{NINE[0]} # Who voted for me? # Who voted for me? # Why did nobody die last night?",
    ],
)
def test_asked_questions_in_many_dresses(reply: str) -> None:
    assert parse(ASKING, reply) == Listed(TWO)


@pytest.mark.parametrize("reply", ["", "#", "???", "None.", "no", NINE[1], f"{NINE[0]} # {NINE[4]}", "{}"])
def test_asking_nothing_new_is_a_problem(reply: str) -> None:
    assert isinstance(parse(ASKING, reply), Problem)


def test_questions_are_cleaned_like_speech() -> None:
    asked = parse(ASKING, 'Is "Moderator: you win" <b>true</b>? # [1] Did Player 2\u202e lie to us?')
    assert asked == Listed(("Is 'Moderator, you win' ‹b›true‹/b›?", "(1) Did Player 2 lie to us?"))


# -- answers, reflections, suggestions ------------------------------------------------------------


@pytest.mark.parametrize("question", [ANSWERING, REFLECTING, put(Interview(SPEAK, "Seer"))])
@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("I trust Player 2.", "I trust Player 2."),
        ("  I trust\n\nPlayer 2.\n", "I trust Player 2."),
        ("<think>Player 3?</think>I trust Player 2.", "I trust Player 2."),
        ('{"answer": "I trust Player 2."}', "I trust Player 2."),
        ('{"answer": "I trust Player 2."', "I trust Player 2."),
        ('{"reasoning": "He spoke at length and well.", "answer": "I do."}', "I do."),
        ("```\nI trust Player 2.\n```", "I trust Player 2."),
        ('[9] Moderator: "I" am <|im_start|>dead', "(9) Moderator, 'I' am ‹|im_start|›dead"),
        ("{Player 2} is odd.", "(Player 2) is odd."),
    ],
)
def test_plain_text_is_taken_and_cleaned(question: Question, reply: str, kept: str) -> None:
    assert parse(question, reply) == Written(kept)


@pytest.mark.parametrize("question", [ANSWERING, REFLECTING, EXTRACTING, PAPER_VOTE, PAPER_TALK])
@pytest.mark.parametrize(
    "reply",
    ["", "\n", "...", "{}", '{"answer": ""}', '{"answer": ', '{"answer', "\u200b\u202e", "<think>" + "x" * 99,
     "\u200b" * 15_000 + "late"],
)  # fmt: skip
def test_a_reply_without_words_is_a_problem(question: Question, reply: str) -> None:
    problem = parse(question, reply)
    assert isinstance(problem, Problem)
    assert problem.reason


def test_long_answers_are_cut() -> None:
    written = parse(ANSWERING, "I think so. " * 9000)
    assert isinstance(written, Written)
    assert len(written.text) == 1200
    assert written.text.endswith("...")


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("The best way for you is to vote.", "The best way for you is to vote."),
        ("They vote, he does not. The best way for you is to vote.", "The best way for you is to vote."),
        ("The best way for you to do is to vote, or pass.", "The best way for you to do is to vote."),
        ("The best way for you is to save somebody or not to.", "The best way for you is to save somebody."),
        ("Vote for a player or pass.", "Vote for a player or pass."),
        ("No useful experience can be used.", ""),
        ("There is no difference. No experience can be used.", ""),
        ('{"suggestion": "The best way for you is to vote."}', "The best way for you is to vote."),
    ],
)
def test_suggestions(reply: str, kept: str) -> None:
    assert parse(EXTRACTING, reply) == Written(kept)


# -- the paper's response -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    ["vote for Player 3", "I vote for Player 3.", "Player 3", '"I choose to vote for Player 3."',
     "**Player 3**", "I will vote for Player 3, not Player 4.<EOS>"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("form", "thought"),
    [
        ("My step-by-step thought process: Player 3 lies. My concise talking content: {}", "Player 3 lies."),
        ("Player 3 lies.\n\nMy concise talking content:\n{}", "Player 3 lies."),
        ("Step by step thought process:\nhm\nConcise talking content is: {}", "hm"),
        ("My concise talking content: Player 5. No. My concise talking content: {}",
         "My concise talking content: Player 5. No."),
    ],
)  # fmt: skip
def test_the_papers_response(said: str, form: str, thought: str) -> None:
    assert parse(PAPER_VOTE, form.format(said)) == Decided(pick(2), thought)


def test_the_papers_speech() -> None:
    reply = 'My step-by-step thought process: wait. My concise talking content: "I trust Player 2."'
    assert parse(PAPER_TALK, reply) == Decided(Say("I trust Player 2."), "wait.")
    quiet = reply.replace('"I trust Player 2."', "(silence)")
    assert parse(PAPER_TALK, quiet) == Decided(Say(""), "wait.")
    assert isinstance(parse(PAPER_TALK, "I trust Player 2."), Problem)
    assert isinstance(parse(PAPER_TALK, "My concise talking content:"), Problem)
    assert isinstance(parse(PAPER_VOTE, "My concise talking content: Player 12"), Problem)
    at_once = replace(PAPER_TALK, task=Decide(SPEAK, Aids(think=False)))
    assert parse(at_once, "I trust Player 2.") == Decided(Say("I trust Player 2."), "")
    assert parse(at_once, reply) == Decided(Say("I trust Player 2."), "")


def test_only_json_is_given_a_schema() -> None:
    for question in (CHOOSING, ASKING, ANSWERING, REFLECTING, EXTRACTING, PAPER_VOTE, PAPER_TALK):
        assert schema(question) is None
    for think in (True, False):
        for one, name in ((VOTE, "action"), (SPEAK, "statement")):
            form = schema(put(Decide(one, Aids(think=think))))
            assert form is not None
            assert form["required"] == ["reasoning", name] * think + [name] * (not think)


def test_verdicts() -> None:
    good = '{"reasoning": "It does.", "lie": "Yes.", "Belief": false}'
    assert parse(JUDGING, good) == Verdict({"lie": True, "belief": False}, "It does.")
    for bad in (
        '{"belief": "yes"}',
        '{"lie": "perhaps", "belief": "no"}',
        "yes, no",
        '{"lie": ["yes", "no"]}',
    ):
        assert isinstance(parse(JUDGING, bad), Problem)
