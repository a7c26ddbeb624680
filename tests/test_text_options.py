"""Actions in words and back: labels, spellings, negations, refusals."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marks import examples
from text_helpers import ask, questions
from wolflab.rules import (
    DOCTOR,
    DUTIES,
    LEFT,
    NO,
    PASS,
    RIGHT,
    SHERIFF,
    WITCH,
    YES,
    Action,
    Pick,
    Ruleset,
    Say,
    deal,
    pick,
)
from wolflab.text.asking.options import label, labels
from wolflab.text.questions import Decide
from wolflab.text.replies.chosen_action import read_action, read_player

TWELVE = SHERIFF.with_(roles={"Werewolf": 3, "Villager": 7, "Seer": 1, "Guard": 1})


def seats(*numbers: int) -> tuple[Action, ...]:
    return tuple(pick(number) for number in numbers)


KILL = ask("kill", seats(0, 1, 2, 3, 4, 5, 6))
VOTE = ask("vote", (*seats(0, 1, 2, 3, 4, 5, 6), PASS), phase="voting")
ANTIDOTE = ask("antidote", (YES, NO))
LEAD = ask("lead", (LEFT, RIGHT), phase="order")


@pytest.mark.parametrize(
    ("action", "kind", "rules", "words"),
    [
        (pick(2), "kill", SHERIFF, "kill player_3"),
        (pick(3), "protect", SHERIFF, "protect player_4"),
        (pick(1), "save", DOCTOR, "save player_1"),
        (pick(1), "see", SHERIFF, "see player_2"),
        (pick(2), "poison", WITCH, "poison Player 3"),
        (YES, "antidote", WITCH, "yes"),
        (NO, "antidote", WITCH, "no"),
        (pick(1), "vote", SHERIFF, "vote for player_2"),
        (PASS, "vote", WITCH, "do not vote"),
        (pick(1), "elect", SHERIFF, "vote for player_2"),
        (PASS, "elect", SHERIFF, "do not vote"),
        (pick(3), "succeed", SHERIFF, "name player_4"),
        (LEFT, "lead", SHERIFF, "left"),
        (RIGHT, "lead", SHERIFF, "right"),
        (PASS, "see", WITCH, "pass"),
        (deal("Seer"), "deal", SHERIFF, "Seer"),
        (pick(4), "speaker", SHERIFF, "player_5"),
        (Say("hello"), "statement", SHERIFF, "hello"),
    ],
)
def test_label(action: Action, kind: str, rules: Ruleset, words: str) -> None:
    assert label(action, kind, rules) == words


def test_every_duty_has_words_of_its_own() -> None:
    for kind, duty in DUTIES.items():
        assert label(pick(0), kind, SHERIFF) == f"{duty.verb} player_1"


@pytest.mark.parametrize(
    ("asked", "text", "meant"),
    [
        (KILL, "kill player_3", pick(2)),
        (KILL, "player_3.", pick(2)),
        (KILL, "3", pick(2)),
        (KILL, "Player 3", pick(2)),
        (KILL, "**Player_3**", pick(2)),
        (KILL, "Player Three", pick(2)),
        (KILL, "ｐｌａｙｅｒ_３", pick(2)),
        (KILL, "kill Player 7, not Player 2", pick(6)),
        (KILL, "not Player 2 but Player 7", pick(6)),
        (KILL, "As player_1, I kill player_3", pick(2)),
        (KILL, "I, player_1, choose to kill player_3 because player_4 trusts player_5", pick(2)),
        (KILL, "The victim will be Player 5 rather than Player 1", pick(4)),
        (KILL, "let me kill player_4", pick(3)),
        (KILL, "myself", pick(0)),
        (KILL, "eliminate player_6", pick(5)),
        (KILL, "kill " + ":'" * 900 + " player_6", pick(5)),
        (VOTE, "vote forplayer_2", pick(1)),
        (VOTE, "vote for me", pick(0)),
        (VOTE, "I will not vote for player_2; I vote for player_5", pick(4)),
        (VOTE, "vote for player_3, do not abstain", pick(2)),
        (VOTE, "player_3 and player_4", pick(2)),
        (VOTE, "day 2: 4", pick(3)),
        (VOTE, "do no vote", PASS),
        (VOTE, "Do not vote.", PASS),
        (VOTE, "abstain", PASS),
        (VOTE, "pass", PASS),
        (VOTE, "no one", PASS),
        (VOTE, "I don't vote for anyone", PASS),
        (VOTE, "I do not vote because player_2 seems honest", PASS),
        (ANTIDOTE, "yes", YES),
        (ANTIDOTE, "Yes, I will use it", YES),
        (ANTIDOTE, "I will not use it", NO),
        (ANTIDOTE, "I choose not to save player_3; yesterday was different", NO),
        (LEAD, "the player on the right", RIGHT),
        (LEAD, "right, not left", RIGHT),
        (LEAD, "not left", RIGHT),
        (ask("save", seats(0, 1, 2)), "protect player_2", pick(1)),
        (ask("protect", seats(0, 1, 2)), "save player_2", pick(1)),
        (ask("succeed", seats(2, 3)), "pass the badge to player_4", pick(3)),
        (ask("kill", seats(2, 3)), "player_1 is too obvious, so player_4", pick(3)),
    ],
)
def test_reading(asked: object, text: str, meant: Action) -> None:
    assert read_action(text, asked, SHERIFF) == meant  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (KILL, ""),
        (KILL, "player_12"),
        (KILL, "kill player_9"),
        (KILL, "abstain"),
        (KILL, "someone loud"),
        (VOTE, "neither player_2 nor player_3"),
        (VOTE, "do not vote for player_2"),
        (LEAD, "left or right"),
        (LEAD, "player_3"),
        (ANTIDOTE, "maybe"),
        (ask("kill", seats(2, 3)), "kill player_1 because player_3 said so"),
    ],
)
def test_what_cannot_be_read_is_told_with_the_options(asked: object, text: str) -> None:
    problem = read_action(text, asked, SHERIFF)  # type: ignore[arg-type]
    assert isinstance(problem, str)
    assert (text or "(nothing)") in problem
    for words in labels(asked, SHERIFF):  # type: ignore[arg-type]
        assert words in problem


CROWD = SHERIFF.with_(roles={"Werewolf": 3, "Villager": 7, "Seer": 1, "Guard": 1})


@pytest.mark.parametrize(
    ("kind", "seats", "text", "meant"),
    [
        ("vote", (2,), "vote for pl", pick(2)),
        ("vote", (2,), "Vote for player_", pick(2)),
        ("protect", (2, 3), "protect player_3 tonight, because it is the Seer", pick(2)),
        ("vote", (0, 9, 10), "vote for player_1", pick(0)),  # a label as it stands
        ("vote", (2, 9), "do not v", PASS),
        ("vote", (2, 3), "vote for pl", None),  # not the only one
        ("vote", (2,), "vote", None),  # a guess
        ("vote", (9, 2), "vote for player_1", None),  # player_1 has no such option, and is not player_10
        ("kill", (11,), "kill player_1", None),
        ("kill", (11,), "kill player_", pick(11)),
    ],
)
def test_a_label_that_was_cut_short_is_its_option_where_it_can_be_no_other(
    kind: str, seats: tuple[int, ...], text: str, meant: Action | None
) -> None:
    passing = (PASS,) if kind == "vote" else ()
    found = read_action(text, ask(kind, (*map(pick, seats), *passing)), CROWD)
    assert found == meant if meant is not None else isinstance(found, str)


def test_player_12_is_not_player_1() -> None:
    everybody = ask("kill", seats(*range(12)))
    assert read_action("kill player_12", everybody, TWELVE) == pick(11)
    assert read_action("kill Player 1", everybody, TWELVE) == pick(0)
    assert isinstance(read_action("kill player_12", ask("kill", seats(0, 1)), TWELVE), str)


def test_players_are_counted_as_the_ruleset_counts() -> None:
    assert read_player("player_0", DOCTOR) == 0
    assert read_player("player 0", SHERIFF) is None
    assert read_player("Player 3:", WITCH) == 2
    assert read_player("Player 3 or Player 4", WITCH) is None
    named = SHERIFF.with_(player_name="Agent-{}")
    assert read_player("agent 5", named) == 4
    numbered = SHERIFF.with_(player_name="{}号")
    assert read_player("5号", numbered) == 4
    assert read_action("vote for 5号", VOTE, numbered) == pick(4)
    assert read_player("player 5", numbered) == 4
    assert isinstance(
        read_action("vote for player 5 or player 12", VOTE, SHERIFF.with_(player_name="{}")), Pick
    )


@examples(30)
@given(questions(kinds=(Decide,)))
def test_every_label_reads_back_as_its_option(question: object) -> None:
    task, rules = question.task, question.situation.ruleset  # type: ignore[attr-defined]
    for option, words in zip(task.ask.options or (), labels(task.ask, rules), strict=True):
        for text in (words, words.upper(), f'"{words}."', f"I choose: {words}"):
            assert read_action(text, task.ask, rules) == option
        if isinstance(option, Pick):
            number = option.seat + rules.first_player
            for text in (str(number), f"Player {number}", f"player_{number}!"):
                assert read_action(text, task.ask, rules) == option


WORDS = (
    "kill vote for not do no player_1 player_12 Player 3 7 myself me "
    "pass abstain yes left right , . ; but or nor as"
)
PIECES = st.sampled_from(re.split(" ", WORDS))


@examples(75)
@given(questions(kinds=(Decide,)), st.one_of(st.text(), st.lists(PIECES, max_size=12).map(" ".join)))
def test_never_an_illegal_action(question: object, text: str) -> None:
    task, rules = question.task, question.situation.ruleset  # type: ignore[attr-defined]
    action = read_action(text, task.ask, rules)
    assert isinstance(action, str) or task.ask.allows(action)
