"""Questions in English are read as claims that the engine decides; what is not understood is left alone.

`known.json` is what the patterns were written against, `unseen.json` was written when they were done. Both
are labelled by hand from 002 §6.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from marks import examples
from rules_helpers import rulesets
from wolflab.rules import PRESETS, SHERIFF, Ruleset
from wolflab.wwqa.question_claims import ClaimAsked, claim_asked, patterns, plain_words, readings, rule_claim
from wolflab.wwqa.rule_claims import PUBLISHED, RELEASED, RuleClaim
from wolflab.wwqa.rule_facts import FACTS

QUESTIONS = Path(__file__).parent / "wwqa_questions"


def questions(name: str) -> list[dict[str, str]]:
    read: list[dict[str, str]] = json.loads((QUESTIONS / f"{name}.json").read_text(encoding="utf-8"))
    return read


def says(question: str, family: Sequence[Ruleset]) -> bool | None:
    """The rules' answer to a question; None where they leave it open."""
    asked = claim_asked(question)
    assert asked is not None, plain_words(question)
    held = asked.claim.holds(family)
    return None if held is None else held == asked.positive


CLAIMED = [
    asked
    for name in ("known", "unseen")
    for one in questions(name)
    if (asked := claim_asked(one["question"])) is not None
]


# -- how much is understood, and how well ---------------------------------------------------


@pytest.mark.parametrize(("name", "understood"), [("known", 498), ("unseen", 48)])
def test_what_is_understood_is_answered_as_by_hand(name: str, understood: int) -> None:
    read = [one for one in questions(name) if claim_asked(one["question"])]
    answers = [(says(one["question"], PUBLISHED), one) for one in read]
    assert not [one for answer, one in answers if answer not in (None, one["answer"] == "Yes")]
    assert [one["question"] for answer, one in answers if answer is None] == (
        [
            "Do the Werewolves have to agree on one target during the night round?",
            "With one Werewolf and four villagers remaining, is the game over?",
        ]
        if name == "known"
        else []
    )
    assert len(read) == understood


def test_the_papers_examples() -> None:
    """002, Table 16. The third is not understood: what it means cannot be told."""
    examples = {
        "Is the game won by the Werewolves if all Villagers are eliminated?": False,
        "Do the Werewolves know each other?": True,
        "Is the Sheriff the first speaker in the discussion phase?": False,
        "Are there four roles in the Werewolf game?": True,
        "Can a player who is saved by the Guard be successfully killed by the Werewolves during the night "
        "round?": False,
    }
    for question, answer in examples.items():
        assert says(question, PUBLISHED) == says(question, [RELEASED]) == answer
    assert claim_asked("Can the Seer see the Werewolf who was chosen?") is None


@pytest.mark.parametrize(
    ("question", "fact", "positive"),
    [
        ("Can the Guard protect themselves?", "may", True),
        ("Is it possible for the Guard to save himself?", "may", True),
        ("Is the Guard forbidden from protecting themselves?", "may", False),
        ("Is it forbidden for the Guard to protect himself?", "may", False),
        ("Is the Guard unable to protect themselves?", "may", False),
        ("Must every player vote?", "must", True),
        ("Can a player abstain from voting?", "must", False),
        ("Is abstaining forbidden in the voting phase?", "must", True),
        ("Do the Villagers do nothing during the night round?", "acts", False),
        ("Is it impossible for a dead player to vote?", "dead_may", False),
        ("Can the Werewolves win without eliminating all the Villagers?", "needs", False),
    ],
)
def test_polarity(question: str, fact: str, positive: bool) -> None:
    asked = claim_asked(question)
    assert asked is not None
    assert (asked.claim.fact, asked.positive) == (fact, positive)


@pytest.mark.parametrize(
    "question",
    [
        "Can the Guard not protect themselves?",
        "Do the Werewolves not know each other?",
        "Don't the Werewolves know each other?",
        "Does the Sheriff not speak last?",
        "Do only the Werewolves vote in the voting phase?",
        "Can only Werewolves be killed at night?",
        "Is only the Seer allowed to act at night?",
        "Is the Guard the only role that acts at night?",
        "Can the Guard protect themselves twice in a row?",
        "Can the Guard protect the same player on two nights in a row?",
        "If the Seer is dead, can the Guard protect themselves?",
        "Can the Guard protect themselves unless they are the Sheriff?",
        "Are there seven roles in the game?",
        "Are there five roles in the game?",
        "Can player_3 protect themselves?",
        "Does the player with the most votes become the Sheriff in the voting phase?",
        "Can a Villager eliminate a player during the day?",
        "Why can the Guard protect themselves?",
        "",
        "?" * 5000,
        "can " * 5000,
    ],
)
def test_what_could_be_misread_is_not_read(question: str) -> None:
    assert claim_asked(question) is None


# -- the engine decides ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "switches", "usual", "then"),
    [
        ("Can the Guard protect themselves?", {"guard_may_shield_self": False}, True, False),
        ("Can a player vote for themselves?", {"may_vote_self": False}, True, False),
        ("Must every player vote?", {"may_abstain": False}, False, True),
        ("Can the Werewolves kill themselves?", {"wolves_may_target_self": False}, True, False),
        ("Can the Seer check themselves?", {"seer_may_see_self": False}, True, False),
        ("Will the Seer learn the exact role of the player?", {"seer_learns": "is_wolf"}, True, False),
        ("Is the role of a killed player revealed?", {"reveal": "always"}, False, True),
        ("Are the roles of the dead revealed?", {"reveal": "first_night"}, False, True),
        ("Is the role of an eliminated player revealed after the vote?", {"reveal": "always"}, False, True),
        ("Do the Werewolves win if all Villagers are dead?", {"wolves_win": "no_villager"}, False, True),
        ("Must the Werewolves eliminate all other players to win?", {"wolves_win": "no_others"}, False, True),
        ("Does the game end if the Sheriff is killed?", {"sheriff_death": "stop"}, False, True),
        ("Are there three Villagers?", {"roles": {"Werewolf": 2, "Villager": 4, "Guard": 1}}, True, False),
        ("Is there a Seer?", {"roles": {"Werewolf": 2, "Villager": 4, "Guard": 1}}, True, False),
        ("Does the game end after the first round?", {"max_rounds": 1}, False, True),
        ("Is the Sheriff elected by the players?", {"sheriff": "drawn"}, True, False),
        ("Does each player speak once in the discussion phase?", {"discussion": False}, True, False),
        ("Does the Sheriff speak last?", {"sheriff": "none", "speaking_order": "ascending"}, True, None),
    ],
)
def test_answers_follow_the_rules(
    question: str, switches: dict[str, Any], usual: bool, then: bool | None
) -> None:
    assert says(question, [SHERIFF]) == usual
    assert says(question, [SHERIFF.with_(**switches)]) == then


@pytest.mark.parametrize(
    ("question", "published", "released"),
    [
        ("Will the Seer learn the exact role of the player?", False, True),
        ("Does the Seer learn whether the player is a Werewolf?", True, True),
        ("Can the Seer check themselves?", None, True),
        ("Can the Werewolves kill themselves at night?", None, True),
        ("Can a player vote for themselves?", None, True),
        ("Is nobody killed if the Werewolves choose different players?", None, True),
        ("Will two players die if the Werewolves choose different players?", False, False),
        ("Does the game end when the Sheriff is voted out?", False, True),
    ],
)
def test_the_text_and_the_code_are_told_apart(
    question: str, published: bool | None, released: bool | None
) -> None:
    assert (says(question, PUBLISHED), says(question, [RELEASED])) == (published, released)


@given(rulesets())
@examples(10)
def test_any_ruleset_answers_every_claim(rules: Ruleset) -> None:
    for claim in {asked.claim for asked in CLAIMED}:
        assert claim.holds_under(rules) in (True, False, None), claim


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_every_preset_decides_most_claims(rules: Ruleset) -> None:
    claims = {asked.claim for asked in CLAIMED}
    assert sum(claim.holds_under(rules) is not None for claim in claims) > len(claims) / 2


# -- the patterns ---------------------------------------------------------------------------


def test_every_claim_of_the_patterns_is_decided() -> None:
    text = files("wolflab.wwqa").joinpath("question_claims.txt").read_text(encoding="utf-8")
    claims = [line.split() for line in re.findall(r"^(?:yes|no) (.*)$", text, re.MULTILINE)]
    assert len(claims) > 100
    for words in claims:
        assert words[0] in FACTS, words
        if not any(word.startswith("{") for word in words):
            assert rule_claim(words, {}).holds_under(SHERIFF) is not None, words


def test_every_fact_is_asked_for() -> None:
    """By a kind of question, or by a claim."""
    folder = files("wolflab.wwqa")
    kinds, claims = (
        folder.joinpath(name).read_text() for name in ("kinds/rules.yaml", "question_claims.txt")
    )
    asked = {
        *re.findall(r"^  fact: (\w+)", kinds, re.MULTILINE),
        *re.findall(r"^(?:yes|no) (\w+)", claims, re.MULTILINE),
    }
    assert asked >= FACTS.keys(), FACTS.keys() - asked


def test_every_pattern_has_what_its_claim_is_about() -> None:
    for pattern, (_, *words) in patterns():
        named = {word.strip("{}") for word in words if word.startswith("{")}
        assert named <= pattern.groupindex.keys(), pattern.pattern


def test_what_a_pattern_finds_is_named_as_claims_name_it() -> None:
    """Every claim of the sample is decided by 002's rules, but for what no game comes to."""
    undecided = {asked.claim for asked in CLAIMED if asked.claim.holds_under(SHERIFF) is None}
    assert undecided == {RuleClaim("winner", ("left", "Werewolf", 1, "Villager", 4), "!=", ("goes on",))}


def test_the_page_shows_a_fact_and_a_pattern_as_they_are() -> None:
    page = (QUESTIONS.parent.parent / "docs" / "wwqa-audit.md").read_text(encoding="utf-8")
    shown = {"python": "rule_facts.py", "text": "question_claims.txt"}
    examples = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    found = [(language, text) for language, text in examples if language in shown]
    assert [language for language, _ in found] == ["text", "python"]
    for language, text in found:
        assert text in files("wolflab.wwqa").joinpath(shown[language]).read_text(encoding="utf-8")


def test_no_question_is_read_in_two_ways() -> None:
    """Not one of the sets, of the pairs or of this file; else the order of the patterns would decide."""
    asked = [one["question"] for name in ("known", "unseen") for one in questions(name)]
    asked += [one[side] for one in questions("pairs") for side in ("one", "other")]
    asked += re.findall(r'"([A-Z][^"\n]+\?)"', Path(__file__).read_text(encoding="utf-8"))
    assert len(asked) > 950
    assert not [question for question in asked if len({*readings(question)}) > 1]


def test_a_claim_is_told_in_words() -> None:
    asked = claim_asked("Can the Guard protect the Seer during the night?")
    assert asked == ClaimAsked(RuleClaim("may", ("Guard", "protect", "Seer", "night")), True)
    assert str(asked.claim) == "may(Guard, protect, Seer, night)"
