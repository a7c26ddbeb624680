"""Doubles, contradictions, test questions in training, wrong labels: found, told, left out of copies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

import command_line
from test_wwqa_question_claims import QUESTIONS, questions
from wolflab.errors import WolflabError
from wolflab.rules import SHERIFF
from wolflab.wwqa.audit import Audit, audit_questions, rules_to_ask
from wolflab.wwqa.building import build_items
from wolflab.wwqa.duplicates import near_pairs
from wolflab.wwqa.items import Item, rules_as_plain, write_items
from wolflab.wwqa.question_files import read_questions

SELF, MAFIA = "Can the Guard protect themselves?", "What is a Mafia?"
TEST = [
    (SELF, "Yes"),
    ("can the guard protect themselves", "No"),
    ("Do the Werewolves know each other?", "No"),
    ("Is the Seer able to check two players in one night?", "No"),
    ("Can the Seer check two players in a single night?", "No"),
    ("Does the Seer learn the exact role of the player?", "No"),
    ("Does Mars have two moons?", "Yes"),
    ("Does Mars have two moons?", "No"),
    ("Is it forbidden for the Guard to protect themselves?", "No"),
    ("Is the moderator a player?", "No"),
]
TRAIN = [
    (SELF, "No, the Guard cannot."),
    ("Is the moderator a player?", "No."),
    (MAFIA, "A game."),
    (MAFIA, "Another game."),
    ("Can the Werewolves kill a protected player?", "Yes, they can."),
]


def put(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text(json.dumps([{"question": q, "answer": a} for q, a in rows]), encoding="utf-8")
    return path


@pytest.fixture
def found(tmp_path: Path) -> Audit:
    test, train = put(tmp_path / "test.json", TEST), put(tmp_path / "train.json", TRAIN)
    return audit_questions([read_questions(test)], [read_questions(train)], rules_to_ask(None))


def places(found: Audit, group: tuple[Any, ...]) -> list[tuple[int, int]]:
    return [tuple(spot) for spot in group]


# -- what is the same -----------------------------------------------------------------------


def test_planted_paraphrases_are_found_and_near_misses_are_not() -> None:
    pairs = json.loads((QUESTIONS / "pairs.json").read_text(encoding="utf-8"))
    near = [bool([*near_pairs([pair["one"], pair["other"]])]) for pair in pairs]
    assert not [pair for pair, is_near in zip(pairs, near, strict=True) if is_near and not pair["same"]]
    assert (sum(near), sum(pair["same"] for pair in pairs), len(pairs)) == (33, 40, 90)


def test_words_of_one_letter_are_words() -> None:
    asked = "Can the Guard, e.g. on the first night, protect the Seer?"
    assert [*near_pairs([asked, asked.replace("e.g.", "e. g.")])] == [(0, 1)]


def test_nearly_equal_questions_of_a_set_have_one_answer() -> None:
    """Nobody planted these pairs; the labels were given one by one."""
    rows = [*questions("known"), *questions("unseen")]
    pairs = [(rows[i], rows[j]) for i, j in near_pairs([row["question"] for row in rows])]
    assert len(pairs) > 30
    assert not [(a["question"], b["question"]) for a, b in pairs if a["answer"] != b["answer"]]


def test_groups(found: Audit) -> None:
    assert [places(found, group) for group in found.exact] == [
        [(0, 0), (0, 1), (1, 0)],
        [(0, 6), (0, 7)],
        [(0, 9), (1, 1)],
        [(1, 2), (1, 3)],
    ]
    assert [places(found, group) for group in found.near] == [[(0, 3), (0, 4)]]
    assert [places(found, group) for group in found.contradictions] == [
        [(0, 0), (0, 1), (1, 0)],
        [(0, 6), (0, 7)],
    ]


def test_test_questions_in_training(found: Audit) -> None:
    assert [(tuple(leak.test), places(found, leak.train), leak.exact) for leak in found.leaks] == [
        ((0, 0), [(1, 0)], True),
        ((0, 1), [(1, 0)], True),
        ((0, 9), [(1, 1)], True),
    ]


def test_labels_are_held_against_the_engine(found: Audit) -> None:
    verdicts = {found.item(check.spot).question: check.verdict for check in found.checks}
    assert verdicts == {
        SELF: "right",
        "can the guard protect themselves": "wrong",
        "Do the Werewolves know each other?": "wrong",
        "Is the Seer able to check two players in one night?": "right",
        "Can the Seer check two players in a single night?": "right",
        "Does the Seer learn the exact role of the player?": "disputed",
        "Is it forbidden for the Guard to protect themselves?": "right",
    }
    assert [places(found, tuple(check.spot for check in group)) for group in found.restated] == [
        [(0, 0), (0, 1), (0, 8)]
    ]


FORBIDDEN = "Is it forbidden for the Guard to protect themselves?"
"""The claim of SELF, denied."""


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        ([(SELF, "Yes"), (FORBIDDEN, "No")], []),
        ([(SELF, "No"), (FORBIDDEN, "Yes")], []),
        ([(SELF, "Yes"), (FORBIDDEN, "Yes")], [[0, 1]]),
        ([(SELF, "No"), (FORBIDDEN, "No")], [[0, 1]]),
        ([(SELF, "Yes"), (SELF, "No")], []),
        ([(SELF, "Yes"), (SELF, "No"), (FORBIDDEN, "No")], [[0, 1, 2]]),
        ([(SELF, "Yes"), ("Can the Guard protect the Seer?", "No")], []),
        ([(SELF, "Yes"), ("Do the Werewolves know each other?", "No"), (FORBIDDEN, "Yes")], [[0, 2]]),
    ],
)
def test_one_claim_in_other_words(tmp_path: Path, rows: list[tuple[str, str]], groups: list[Any]) -> None:
    """Held true and false, and not told already as the same or nearly the same question."""
    audit = audit_questions([read_questions(put(tmp_path / "qa.json", rows))], [], rules_to_ask(None))
    assert [[check.spot.place for check in group] for group in audit.restated] == groups


def test_other_rules_have_other_answers(tmp_path: Path) -> None:
    """Even where both rulesets have one name."""
    first = Item(question=SELF, answer="Yes", rules="sheriff")
    other = rules_as_plain(SHERIFF.with_(guard_may_shield_self=False))
    for rules, contradict in (("sheriff", True), (other, False), ("witch", False)):
        for question, answer in ((FORBIDDEN, "Yes"), (SELF, "No")):
            again = Item(question=question, answer=answer, rules=rules)
            write_items(tmp_path / "a.jsonl", [first, again])
            audit = audit_questions([read_questions(tmp_path / "a.jsonl")], [], rules_to_ask(None))
            assert bool(audit.restated or audit.contradictions) == contradict, (rules, question)
            assert len(audit.exact) == (contradict and question == SELF)
            assert not audit.near


def test_questions_without_rules_may_be_nearly_those_with(tmp_path: Path) -> None:
    write_items(
        tmp_path / "a.jsonl",
        [Item(question=SELF, answer="Yes", rules="sheriff"), Item(question=SELF, answer="No")],
    )
    audit = audit_questions([read_questions(tmp_path / "a.jsonl")], [], rules_to_ask(None))
    assert len(audit.near) == len(audit.contradictions) == 1


def test_under_other_rules(tmp_path: Path) -> None:
    file = read_questions(
        put(tmp_path / "test.json", [("Is there a Witch?", "Yes"), ("Is there a Guard?", "Yes")])
    )
    for rules, wrong in (("sheriff", 1), ("witch", 0), ("doctor", 2)):
        checks = audit_questions([file], [], rules_to_ask(rules)).checks
        assert sum(check.verdict == "wrong" for check in checks) == wrong
    with pytest.raises(WolflabError, match="there is no preset 'mafia'"):
        rules_to_ask("mafia")


def test_what_copies_leave_out(found: Audit) -> None:
    assert {tuple(spot): why for spot, why in found.left_out.items()} == {
        (0, 1): "the label is wrong",
        (0, 2): "the label is wrong",
        (0, 4): "it stands there already",
        (0, 6): "the same question has another answer",
        (0, 7): "the same question has another answer",
        (1, 0): "it is a test question",
        (1, 1): "it is a test question",
        (1, 3): "it stands there already",
    }
    kept = [row["question"] for row in json.loads(found.cleaned(0))]
    assert kept == [TEST[k][0] for k in (0, 3, 5, 8, 9)]
    assert [row["answer"] for row in json.loads(found.cleaned(1))] == ["A game.", "Yes, they can."]


def test_options_in_another_order_make_no_other_question(tmp_path: Path) -> None:
    first = Item(question="Who dies?", answer="B", form="choice", choices=("A", "B", "C"), rules="sheriff")
    again = msgspec.structs.replace(first, choices=("c", "A", "B"))
    other = msgspec.structs.replace(first, choices=("A", "B", "D"))
    write_items(tmp_path / "a.jsonl", [first, again, other])
    audit = audit_questions([read_questions(tmp_path / "a.jsonl")], [], rules_to_ask(None))
    assert [[spot.place for spot in group] for group in audit.exact] == [[0, 1]]


# -- files that were built ------------------------------------------------------------------


@cache
def made() -> tuple[Item, ...]:
    """A built set; its first item is a yes/no question about a situation with the answer No."""
    items = build_items(SHERIFF, 60, 1).items
    at = next(k for k, item in enumerate(items) if item.facts and item.answer == "No")
    return (items[at], *items[:at], *items[at + 1 :])


def built(folder: Path, change: Mapping[str, Any] | None = None) -> Audit:
    """The audit of a built file. change: what is put into its first yes/no item."""
    items = [*made()]
    items[0] = msgspec.structs.replace(items[0], **(change or {}))
    write_items(folder / "built.jsonl", items)
    return audit_questions([read_questions(folder / "built.jsonl")], [], rules_to_ask(None))


def test_a_built_file_is_proved_and_has_no_findings(tmp_path: Path) -> None:
    audit = built(tmp_path)
    assert len(audit.proofs) == len(made())
    assert {*audit.proofs.values()} == {True}
    assert not [*audit.exact, *audit.near, *audit.leaks, *audit.checks, *audit.left_out]
    assert {audit.is_test(spot) for spot in audit.spots} == {True, False}
    (tmp_path / "clean.jsonl").write_bytes(audit.cleaned(0))
    assert read_questions(tmp_path / "clean.jsonl").items == audit.files[0].items


@pytest.mark.parametrize(
    "change",
    [{"wording": "broken"}, {"facts": {"x": 1}}, {"value": 7}, {"answer": "Yes"}],
)
def test_a_built_item_that_was_changed_is_not_proved(tmp_path: Path, change: dict[str, Any]) -> None:
    audit = built(tmp_path, change)
    assert [tuple(spot) for spot, same in audit.proofs.items() if same is False] == [(0, 0)]
    assert audit.left_out == {(0, 0): "the engine proves another answer"}


def test_splits_of_one_file_are_kept_apart(tmp_path: Path) -> None:
    item = Item(question="Q?", answer="Yes", kind="x", split="train", rules="sheriff")
    others = [
        item,
        msgspec.structs.replace(item, split="kinds"),
        msgspec.structs.replace(item, rules="witch"),
    ]
    write_items(tmp_path / "a.jsonl", others)
    audit = audit_questions([read_questions(tmp_path / "a.jsonl")], [], rules_to_ask(None))
    assert [(leak.test.place, [spot.place for spot in leak.train]) for leak in audit.leaks] == [(1, [0])]


# -- the command ----------------------------------------------------------------------------


def test_the_command_writes_page_numbers_and_copies(tmp_path: Path) -> None:
    rows = [*TEST, *[("<script>alert(1)</script>?", "Yes")] * 2, ("", "Yes")]
    test, train = put(tmp_path / "qa.json", rows), tmp_path / "train.csv"
    train.write_text('Question,Answer\n"=HYPERLINK(""x"")",No\nodd,row,here\n', encoding="utf-8")
    before = test.read_bytes(), train.read_bytes()
    done = command_line.wolflab("wwqa", "audit", "qa.json", "--train", "train.csv", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "qa.json, line 1: its question is empty; fill it in" in done.stdout
    assert "train.csv, line 3: 3 cells under 2 columns" in done.stdout
    assert "apostrophe" in done.stdout
    assert (test.read_bytes(), train.read_bytes()) == before
    names = {"audit.html", "audit.json", "qa.clean.json", "train.clean.csv"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    page = (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "://" not in page
    numbers = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    assert [(file["questions"], len(file["unusable"])) for file in numbers["files"]] == [(12, 1), (1, 1)]
    assert "'=HYPERLINK" in (tmp_path / "out" / "train.clean.csv").read_text(encoding="utf-8")
    again = command_line.wolflab("wwqa", "audit", "out/qa.clean.json", "-o", "again", cwd=tmp_path)
    assert again.returncode == 0
    assert not json.loads((tmp_path / "again" / "audit.json").read_text(encoding="utf-8"))["left_out"]


def test_the_page_tells_first_that_built_answers_are_proved(tmp_path: Path) -> None:
    items = [*made()]
    items[0] = msgspec.structs.replace(items[0], value=7)
    unknown = [item for item in items if item is not items[0]]
    unknown[0] = msgspec.structs.replace(unknown[0], kind="nobody knows it")
    write_items(tmp_path / "built.jsonl", items)
    write_items(tmp_path / "unknown.jsonl", unknown)
    put(tmp_path / "qa.json", TEST[:1])
    done = command_line.wolflab(
        "wwqa", "audit", "built.jsonl", "unknown.jsonl", "qa.json", "-o", ".", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    n = len(items)
    lines = [
        f"built.jsonl: the rules engine proves {n - 1} of {n} answers again",
        f"unknown.jsonl: the rules engine proves {n - 2} of {n - 2} answers again; it cannot try 1, "
        "whose kind it does not know",
    ]
    page = (tmp_path / "audit.html").read_text(encoding="utf-8")
    for line in lines:
        assert line in done.stdout
        assert page.index(line) < page.index('class="tiles"')
    assert f"<b>{2 * n - 3}</b><span>of {2 * n - 2} built answers proved again" in page
    assert "qa.json: the rules engine" not in page
    assert "<b>1</b><span>labels held against the engine" in page


def test_the_page_of_a_built_file_says_nothing_of_labels(tmp_path: Path) -> None:
    write_items(tmp_path / "built.jsonl", made())
    assert command_line.wolflab("wwqa", "audit", "built.jsonl", "-o", ".", cwd=tmp_path).returncode == 0
    page = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert f"the rules engine proves {len(made())} of {len(made())} answers again" in page
    assert "labels held against" not in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none.json"], "there is no file none.json; check its name and its folder"),
        (["."], "it is a folder and no file"),
        (["latin.csv"], "line 2: byte 0xe9"),
        (["qa.json", "qa.json"], "given twice"),
        (["qa.json", "--train", "qa.json"], "given twice"),
        (["qa.json", "--rules", "mafia"], "there is no preset 'mafia'"),
        (["audit.json", "-o", "."], "it was read and would be written over"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(tmp_path: Path, words: list[str], sentence: str) -> None:
    for name in ("qa.json", "audit.json"):
        put(tmp_path / name, TEST)
    (tmp_path / "latin.csv").write_bytes("Question,Answer\ncafé?,Yes\n".encode("latin-1"))
    done = command_line.wolflab("wwqa", "audit", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr.replace("\n", "")
    assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"qa.json", "audit.json", "latin.csv"}


def test_one_is_told_as_one(tmp_path: Path) -> None:
    put(tmp_path / "qa.json", [(SELF, "Yes"), *[("", "Yes")] * 4])
    put(tmp_path / "train.json", [(SELF, "No")])
    words = ["wwqa", "audit", "qa.json", "--train", "train.json", "-o", "out"]
    printed = command_line.wolflab(*words, cwd=tmp_path).stdout
    assert "1 test question stands in training: 1 with the opposite answer" in printed
    assert "qa.json: 1 more unusable row, see the page" in printed
    assert "qa.json, rule: Yes is 1 of 1 yes/no answer (100 %)" in printed


def test_files_of_one_name_get_copies_of_their_own(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        put(tmp_path / folder / "qa.json", [(f"{folder}?", "Yes")])
    done = command_line.wolflab("wwqa", "audit", "a/qa.json", "b/qa.json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    copies = [json.loads((tmp_path / "out" / f"{name}.clean.json").read_text()) for name in ("qa", "qa-2")]
    assert [copy[0]["question"] for copy in copies] == ["a?", "b?"]
