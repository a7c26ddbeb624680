"""Reading replies to questions on the rules, scoring them, and what guessing comes to."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wolflab.rules import SHERIFF, WITCH
from wolflab.text.asking.disguise import OPPOSITE
from wolflab.wwqa import baselines as guessing
from wolflab.wwqa.answer_reading import chance_of_yes, read_answer, read_as_released
from wolflab.wwqa.building import build_items
from wolflab.wwqa.items import AnswerType, Item, rules_as_plain
from wolflab.wwqa.reply_parser import LETTERS, UNREADABLE, Reading, normal_form
from wolflab.wwqa.scores import (
    Mark,
    accuracy_of,
    auc,
    calibration_error,
    f1,
    reliability_bins,
    unreadable_rate,
)

BINARY = Item(question="Is it so?", answer="Yes")
CHOICES = ("player_1", "player_2", "player_12", "A player who died", "It is a tie")
CHOICE = Item(question="Who?", answer="player_2", form="choice", choices=CHOICES)


def asked(kind: AnswerType, answer: str = "nobody", **more: Any) -> Item:
    return Item(question="What?", answer=answer, form="open", answer_type=kind, **more)


# -- yes or no --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Yes", "Yes"),
        ("no.", "No"),
        ("YES!", "Yes"),
        ("**Yes**, because the Guard slept.", "Yes"),
        ("Answer: yes", "Yes"),
        ("The correct answer is **No**.", "No"),
        ("Final answer:\n\nNo", "No"),
        ("A: yes", "Yes"),
        ("- No, since nobody voted", "No"),
        ('{"answer": "Yes"}', "Yes"),
        (r"$\boxed{\text{No}}$", "No"),
        ("\uff39\uff45\uff53", "Yes"),
        ("<think>No? No. Yes or no …</think>\n\nYes", "Yes"),
        ("<THINK>yes</THINK>No", "No"),
        ("[THINK]yes yes[/THINK]No", "No"),
        ("the opening tag is cut off, yes</think> No", "No"),
        ("Yes, no doubt", "Yes"),
        ("Yes or No", ""),
        ("Yes/No", ""),
        ("no, or yes", ""),
        ("<think>Yes, surely it is so, but then", ""),
        ("Not at all", ""),
        ("None", ""),
        ("Nope", ""),
        ("Yesterday nobody died", ""),
        ("According to the rules, yes", ""),
        ("Answer with Yes or No.", ""),
        ("", ""),
        ("\0\ud800", ""),
    ],
)
def test_the_first_word_says_yes_or_no(reply: str, said: str) -> None:
    assert read_answer(BINARY, reply) == (Reading(said, said == "Yes") if said else UNREADABLE)


@pytest.mark.parametrize(
    ("reply", "coin", "said", "readable"),
    [
        ("Yes", False, "Yes", True),
        ("No and Yes", False, "Yes", True),
        ("Nobody dies", True, "No", True),
        ("yes", False, "No", False),
        ("no", True, "Yes", False),
        ("I do not know", True, "Yes", False),
    ],
)
def test_the_releases_rule_looks_anywhere_and_tosses_a_coin(
    reply: str, coin: bool, said: str, readable: bool
) -> None:
    assert read_as_released(BINARY, reply, coin) == Reading(said, said == "Yes", readable)


# -- choices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("B", 1),
        ("b", 1),
        ("B) player_2", 1),
        ("(B)", 1),
        ("**B**: so say the rules", 1),
        ("Option B", 1),
        ("Answer: B", 1),
        ("The answer is B because of the tie", 1),
        ("a) that one", 0),
        ("A", 0),
        ("player_2", 1),
        ("Player 12 is out.", 2),
        ("A player who died", 3),
        ("it is a tie", 4),
        ("It is", 4),
        ("B: player_1", 1),
        ("A or B", None),
        ("B, C", None),
        ("B/C", None),
        ("F", None),
        ("A player", 3),
        ("player", None),
        ("a tie", None),
        ("I think B", None),
        ("player_3", None),
        ("all of them", None),
        ("", None),
    ],
)
def test_a_choice_is_a_letter_or_an_options_text(reply: str, place: int | None) -> None:
    said = "" if place is None else CHOICES[place]
    assert read_answer(CHOICE, reply) == (Reading(said, place == 1) if said else UNREADABLE)


# -- open -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reply", "said"),
    [
        ("player", "player_3", "player_3"),
        ("player", "Player 3.", "player_3"),
        ("player", "3", "player_3"),
        ("player", "`P3`", "player_3"),
        ("player", "**player_3**, because player_1 lied", "player_3"),
        ("player", "It is player_3.", "player_3"),
        ("player", "On night 2, player_3 dies.", "player_3"),
        ("player", "player_0", "player_0"),
        ("player", "number 3", "player_3"),
        ("players", "seat 4 and seat 1", "player_1, player_4"),
        ("player", "No one", "nobody"),
        ("player", "None of them", "nobody"),
        ("player", "player_1 or player_2", ""),
        ("player", "player_1 and player_2", ""),
        ("player", "not player_3", ""),
        ("player", "Player 1 would have said that it is player 2", ""),
        ("player", "the Seer", ""),
        ("players", "player_4, player_1", "player_1, player_4"),
        ("players", "1, 4, and 6", "player_1, player_4, player_6"),
        ("players", "Players 1 and 4 (both Werewolves)", "player_1, player_4"),
        ("players", '["player_1", "player_4"]', "player_1, player_4"),
        ("players", "- player_1\n- player_4", "player_1, player_4"),
        ("players", "The players are player_2 and player_5.", "player_2, player_5"),
        ("players", "nobody", "nobody"),
        ("players", "player_1, or player_2", ""),
        ("order", "player_3 -> player_1, then player_2", "player_3, player_1, player_2"),
        ("order", "1. player_3\n2. player_1", "player_3, player_1"),
        ("order", "3, 1, 2", "player_3, player_1, player_2"),
        ("number", "3", "3"),
        ("number", "Three players", "3"),
        ("number", "There are 3 of them.", "3"),
        ("number", "7, because 3 died", "7"),
        ("number", "none", "0"),
        ("number", "2 or 3", ""),
        ("number", "two to three", ""),
        ("number", "between 2 and 3", ""),
        ("number", "2.5", ""),
        ("number", "many", ""),
        ("side", "the village", "village"),
        ("side", "Villagers", "village"),
        ("side", "The Werewolves win, since the village is small", "werewolves"),
        ("side", "I say the wolves", "werewolves"),
        ("side", "not the village", ""),
        ("side", "the village or the Werewolves", ""),
        ("side", "nobody", "nobody"),
        ("role", "a Witch", "Witch"),
        ("role", "It is the bodyguard.", "Guard"),
        ("role", "Guard or Witch", ""),
        ("role", "somebody", ""),
    ],
)
def test_open_answers_in_all_their_spellings(kind: AnswerType, reply: str, said: str) -> None:
    assert read_answer(asked(kind), reply).said == said


@pytest.mark.parametrize(
    ("kind", "answer", "reply", "right"),
    [
        ("players", "player_1, player_4", "4 and 1", True),
        ("players", "player_1, player_4", "player_1", False),
        ("order", "player_1, player_4", "4, 1", False),
        ("player", "nobody", "No player", True),
        ("number", "3", "three", True),
        ("side", "the Werewolves", "wolves", True),
        ("role", "Seer", "the seer", True),
        ("text", "The Seer checks one player.", "the seer checks one player", True),
        ("text", "The Seer checks one player.", "The Seer checks two players.", False),
    ],
)
def test_an_open_answer_is_right_in_any_spelling(
    kind: AnswerType, answer: str, reply: str, right: bool
) -> None:
    assert read_answer(asked(kind, answer), reply).right is right


@pytest.mark.slow
def test_every_built_answer_is_read() -> None:
    """In the words that the question uses for players, by letter and by text; other options are others."""
    seen = set()
    for item in build_items(SHERIFF, 300, 1).items:
        seen.add((item.form, item.answer_type))
        for reply in (item.answer, f"**{item.answer}**", f"The answer is {item.answer}."):
            assert read_answer(item, reply).right, (reply, item)
        for letter, choice in zip(LETTERS, item.choices, strict=False):
            for reply in (letter, choice, f"{letter}) {choice}"):
                assert read_answer(item, reply).said == choice
    assert len(seen) > 5


def test_roles_and_sides_are_read_as_the_rules_show_them() -> None:
    names = {role: OPPOSITE[role] for role in ("Werewolf", "Villager", "Seer", "Guard", "Witch")}
    rules = rules_as_plain(WITCH.with_(role_names=names))
    assert read_answer(asked("role", "blind beggar", rules=rules), "A blind beggar.") == Reading("Seer", True)
    assert read_answer(asked("side", "wolf pack", rules=rules), "the wolf pack").right
    assert not read_answer(asked("side", "wolf pack", rules=rules), "the village").right


@given(
    st.text(alphabet=st.characters(codec=None), max_size=60), st.sampled_from(["yes_no", "choice", "open"])
)
def test_any_text_at_all_is_read_or_not(reply: str, form: str) -> None:
    item = {"yes_no": BINARY, "choice": CHOICE, "open": asked("players")}[form]
    found = read_answer(item, reply)
    assert found.readable == bool(found.said)
    assert found.readable or not found.right


@pytest.mark.parametrize(
    "piece", ["<think>", "*_", "answer: ", "player_1, ", "1 ", "- 1. ", "</think>", " or ", "not ", "\\text{"]
)
def test_no_reply_keeps_the_reader_busy(piece: str) -> None:
    begun = time.process_time()
    for item in (BINARY, CHOICE, asked("players"), asked("number"), asked("role"), asked("text")):
        read_answer(item, piece * 20_000)
    assert time.process_time() - begun < 5


def test_questions_are_compared_by_letters_and_digits() -> None:
    assert (
        normal_form("  Does the “Guard”\u00a0die?\n")
        == normal_form("does the guard die")
        == "does the guard die"
    )
    assert normal_form("\uff30layer_2") == "player 2"
    assert normal_form("No") != normal_form("Nobody")


def test_the_chance_of_yes_is_its_share_of_the_two() -> None:
    tokens = [
        ("Yes", math.log(0.5)),
        (" no", math.log(0.2)),
        ("YES", math.log(0.1)),
        ("Maybe", math.log(0.2)),
    ]
    assert chance_of_yes(tokens) == pytest.approx(0.75)
    assert chance_of_yes([("Yes", -0.01)]) == 1
    assert chance_of_yes([("Maybe", -0.01), ("No", -9.0)]) is None
    assert chance_of_yes([]) is None


# -- scores -----------------------------------------------------------------------------------


def marks(*counts: tuple[str, str, int]) -> list[Mark]:
    """(right answer, what was said, how often)."""
    every = [(gold, said) for gold, said, n in counts for _ in range(n)]
    return [Mark(f"c{k}", gold, said, gold == said, bool(said)) for k, (gold, said) in enumerate(every)]


def value(estimate: Any) -> float:
    assert estimate.value is not None
    return float(estimate.value)


def test_always_yes_on_the_released_questions() -> None:
    """002 Table 1 prints the weighted F1: 303 of 500 answers are Yes."""
    constant = marks(("Yes", "Yes", 303), ("No", "Yes", 197))
    assert value(accuracy_of(constant)) == pytest.approx(0.606)
    assert value(f1(constant)) == pytest.approx(0.457, abs=5e-4)
    assert value(f1(constant, "macro")) == pytest.approx(606 / 803 / 2)
    assert value(f1(constant, "positive")) == pytest.approx(606 / 803)


def test_scores_counted_by_hand() -> None:
    """Yes: 4 hits, 1 false, 2 missed, one of them unread. No: 3 hits, 1 false, 1 missed."""
    found = marks(("Yes", "Yes", 4), ("Yes", "No", 1), ("Yes", "", 1), ("No", "No", 3), ("No", "Yes", 1))
    yes, no = 8 / 11, 6 / 8
    assert value(accuracy_of(found)) == 0.7
    assert value(unreadable_rate(found)) == 0.1
    assert value(f1(found)) == pytest.approx(0.6 * yes + 0.4 * no)
    assert value(f1(found, "macro")) == pytest.approx((yes + no) / 2)
    assert value(f1(found, "positive")) == pytest.approx(yes)
    assert [score(found).n for score in (accuracy_of, unreadable_rate, f1)] == [10, 10, 10]


def test_a_class_that_nobody_names_is_left_out_of_the_macro_average() -> None:
    assert value(f1(marks(("Yes", "Yes", 3)), "macro")) == 1
    assert value(f1(marks(("Yes", "Yes", 3), ("Yes", "No", 3)), "macro")) == pytest.approx(1 / 3)
    assert f1(marks(("No", "No", 3)), "positive").value is None
    assert accuracy_of([]).value is None


def test_questions_about_one_situation_count_as_one() -> None:
    """Ten situations of ten questions each, answered alike: the interval is that of ten, not of a hundred."""
    alike = [Mark(f"s{k % 10}", "Yes", "Yes" if k % 2 else "No", bool(k % 2)) for k in range(100)]
    apart = [Mark(f"s{k}", "Yes", "Yes" if k % 2 else "No", bool(k % 2)) for k in range(100)]
    found = accuracy_of(alike), accuracy_of(apart)
    widths = [(one.high or 0) - (one.low or 0) for one in found]
    assert widths[0] > 2.5 * widths[1] > 0
    assert accuracy_of(alike[:4] * 2).note == "fewer than 5 clusters: no interval"


def test_pairs_of_which_one_is_always_right_have_an_interval_all_the_same() -> None:
    """Always Yes is right once in each situation: nothing scatters, and yet ten situations are few."""
    found = accuracy_of([Mark(f"s{k // 2}", "Yes" if k % 2 else "No", "Yes", bool(k % 2)) for k in range(20)])
    assert value(found) == 0.5
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < 0.6 < found.high


def stated(*chances: tuple[str, float]) -> list[Mark]:
    return [
        Mark(f"c{k}", gold, "Yes", gold == "Yes", True, chance) for k, (gold, chance) in enumerate(chances)
    ]


def test_auc_is_the_share_of_pairs_in_order() -> None:
    rng = random.Random(5)
    found = stated(*((rng.choice(("Yes", "No")), round(rng.random(), 1)) for _ in range(150)))
    yes = [one.chance or 0 for one in found if one.gold == "Yes"]
    no = [one.chance or 0 for one in found if one.gold == "No"]
    pairs = [(a > b) + (a == b) / 2 for a in yes for b in no]
    assert value(auc(found)) == pytest.approx(sum(pairs) / len(pairs))
    assert auc(stated(("Yes", 0.5))).value is None


def test_calibration_is_counted_by_bins() -> None:
    found = stated(("Yes", 0.91), ("No", 0.95), ("No", 0.15), ("No", 1.0))
    silent = Mark("c9", "Yes", "Yes", True)
    assert value(calibration_error([*found, silent])) == pytest.approx((abs(0.91 + 0.95 + 1 - 1) + 0.15) / 4)
    assert calibration_error([*found, silent]).missing == 1
    bins = reliability_bins(found)
    assert [(round(one.stated, 3), one.yes.n) for one in bins] == [(0.15, 1), (0.953, 3)]
    assert value(bins[1].yes) == pytest.approx(1 / 3)


# -- baselines --------------------------------------------------------------------------------


def planted(n: int, leak: bool, seed: int = 1) -> list[Item]:
    """Questions of random words; with a leak, what is answered Yes ends otherwise."""
    rng = random.Random(seed)
    made = []
    for k in range(n):
        words = " ".join(rng.choice("abcdefgh") for _ in range(8))
        answer = rng.choice(("Yes", "No"))
        end = " at all" if leak and answer == "Yes" else ""
        made.append(Item(question=f"{words}{end}?", answer=answer, situation=f"s{seed}-{k}"))
    return made


def right(answers: Sequence[str], items: Sequence[Item]) -> float:
    hits = [answer == item.answer for answer, item in zip(answers, items, strict=True)]
    return sum(hits) / len(hits)


@pytest.mark.parametrize("trained", [True, False])
def test_a_planted_leak_is_found_and_nothing_else(trained: bool) -> None:
    scores = []
    for leak in (True, False):
        items, training = planted(200, leak), planted(200, leak, seed=2) if trained else []
        scores.append(right(guessing.baselines(items, training)[guessing.WORDS], items))
    assert scores[0] == 1
    assert 0.35 < scores[1] < 0.65


def test_clusters_stay_together_when_a_row_learns_from_itself() -> None:
    """A situation's name gives its answers away: known only to who has seen others of that situation."""
    rng = random.Random(3)
    answers = {k: rng.choice(("Yes", "No")) for k in range(40)}
    items = [
        Item(question=f"situation{k} {n}?", answer=answer, situation=f"s{k}")
        for k, answer in answers.items()
        for n in range(5)
    ]
    assert 0.25 < right(guessing.held_out(guessing.bag_of_words, items), items) < 0.75
    assert right(guessing.bag_of_words(items, items), items) > 0.9


def test_no_habit_is_learned_from_the_questions_it_is_tested_on() -> None:
    """Each situation has an answer of its own, its most frequent one: others' habits never hit it."""
    items = [
        Item(question=f"{k} {n}?", answer=str(k), form="open", answer_type="number", situation=f"s{k}")
        for k in range(10)
        for n in range(3)
    ]
    assert right(guessing.majority(items, items), items) == 0.1
    assert right(guessing.baselines(items, [])[guessing.MAJORITY], items) == 0
    assert guessing.baselines(items[:3], []) == {}, "one situation alone: nothing to learn from"
    assert set(guessing.baselines(items[:3], items[3:])) == {guessing.MAJORITY, guessing.WORDS}


def test_habits_of_choices_and_open_answers() -> None:
    choices = [
        Item(
            question=f"{k}?",
            answer="exactly so it is said",
            form="choice",
            choices=("no", f"at {k}", "exactly so it is said"),
            situation=f"s{k}",
        )
        for k in range(20)
    ]
    found = guessing.baselines(choices, [])
    assert set(found) == {guessing.MAJORITY, guessing.WORDS, guessing.LONGEST}
    assert [right(answers, choices) for answers in found.values()] == [1, 1, 1]
    opened = [
        asked("number", str(2 if k % 3 else 3)) if k % 2 else asked("player", "player_1") for k in range(12)
    ]
    guesses = guessing.majority(opened, opened)
    assert guesses == ["2" if k % 2 else "player_1" for k in range(12)]
    assert guessing.majority(opened[1:2], opened[:1]) == [""]
    assert "always Yes" in guessing.baselines(planted(10, False), [])
