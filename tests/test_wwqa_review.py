"""People review questions: the page and the table, what comes back, how far they agree, what remains."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from command_line import wolflab
from test_annotate_page import BROWSER, HOSTILE, Tab, browser, data_of
from wolflab.errors import WolflabError
from wolflab.stats.agreement import cohens_kappa
from wolflab.ui.commands.wwqa_review import render_review
from wolflab.wwqa.asking import rules_in_words
from wolflab.wwqa.items import Item, write_items
from wolflab.wwqa.question_files import read_questions
from wolflab.wwqa.reviewing import (
    Decision,
    Reviewer,
    by_table_id,
    joined_review,
    read_decisions,
    review,
)

ITEMS = (
    Item(question="Does the village win?", answer="Yes", rules="sheriff", category="rule", situation="one"),
    Item(question="Does it not?", answer="", rules="sheriff", category="rule"),
    Item(
        question="Who dies?\nIt is night.",
        answer="player_2",
        form="choice",
        choices=("player_1", "player_2"),
        category="situation",
        value=[1],
        derivation=("It was chosen.",),
        rules="witch",
    ),
    Item(question=f"Why is it so? {HOSTILE}", answer='=1+1, "so"', form="open"),
)
NAMES = tuple(f"q{item.id}" for item in ITEMS)


def table(
    path: Path, *rows: Sequence[str], head: Sequence[str] = ("id", "decision", "answer", "comment")
) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path


def decisions(path: Path, *rows: Sequence[str]) -> list[tuple[str, str | None]]:
    read = read_decisions(table(path, *rows), by_table_id(ITEMS))
    return [(one.item, one.answer) for one in read]


# -- what comes back --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "decision", "answer", "right"),
    [
        (0, "keep", "", "Yes"),
        (0, "Accept", "", "Yes"),
        (0, "", "no", "No"),
        (0, "", "TRUE", "Yes"),
        (0, "No", "", "No"),
        (0, "relabel", "No.", "No"),
        (1, "keep", "yes", "Yes"),
        (2, "", "B", "player_2"),
        (2, "", "a)", "player_1"),
        (2, "keep", "PLAYER_1", "player_1"),
        (3, "keep", "", '=1+1, "so"'),
        (3, "keep", "'=2  +2", "=2 +2"),
        (3, "Reject", "", None),
    ],
)
def test_decisions_are_read(
    place: int, decision: str, answer: str, right: str | None, tmp_path: Path
) -> None:
    assert decisions(tmp_path / "anna.csv", (NAMES[place], decision, answer, "")) == [(NAMES[place], right)]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (("q00", "keep", "", ""), "row 2: the id 'q00' is none of these questions'"),
        ((NAMES[0], "perhaps", "", ""), "has the decision 'perhaps'; write keep or reject"),
        ((NAMES[3], "because", "", ""), "has the decision 'because'; write keep or reject"),
        ((NAMES[0], "", "perhaps", ""), "has the answer 'perhaps'; write Yes or No"),
        ((NAMES[2], "", "player_9", ""), "has the answer 'player_9'; write one of its options"),
        ((NAMES[1], "keep", "", ""), "is kept, and the file has no answer for it"),
        ((NAMES[0], "reject", "No", ""), "is rejected and has an answer"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_row(
    row: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(WolflabError, match=r"anna\.csv, row 2: ") as refused:
        decisions(tmp_path / "anna.csv", row)
    assert sentence in str(refused.value)


def test_rows_without_a_decision_are_open_and_none_stands_twice(tmp_path: Path) -> None:
    assert decisions(tmp_path / "a.csv", (NAMES[0], "", "", "hm"), (NAMES[1], "", "", "")) == []
    twice = [(NAMES[0], "keep", "", "")] * 2
    with pytest.raises(WolflabError, match=r"row 3: a labelled .* before, in row 2"):
        decisions(tmp_path / "a.csv", *twice)
    one = table(tmp_path / "b.csv", ("q", "keep"), head=("id", "decision"))
    with pytest.raises(WolflabError, match="no column 'answer' in its first row"):
        read_decisions(one, by_table_id(ITEMS))
    with pytest.raises(WolflabError, match="is named 2 times"):
        review(ITEMS, [tmp_path / "a.csv", tmp_path / "a.csv"])


# -- what remains -----------------------------------------------------------------------------


def said(rater: str, *answers: str | None) -> list[Decision]:
    """A person's answers to the items in order; "-": not decided."""
    given = zip(NAMES, answers, strict=False)
    return [Decision(name, rater, answer) for name, answer in given if answer != "-"]


def test_what_people_agree_on_remains() -> None:
    anna, ben = said("anna", "No", "Yes", None, "-"), said("ben", "No", "No", None, "-")
    done = joined_review(ITEMS, [*anna, *ben], {})
    assert [(item.question, item.answer) for item in done.items] == [(ITEMS[0].question, "No")]
    assert (done.accepted, done.relabelled, done.rejected, done.unreviewed) == (0, 1, 1, 1)
    (open_one,) = done.disputed
    assert (open_one.item, open_one.said, open_one.settled) == (NAMES[1], {"anna": "Yes", "ben": "No"}, False)
    assert done.people == (Reviewer("anna", 0, 1, 1, 1), Reviewer("ben", 0, 1, 1, 1))


def test_somebody_decides_what_people_disagree_on() -> None:
    both = [*said("anna", "No", "Yes"), *said("ben", "Yes", None)]
    final = {one.item: one for one in said("carl", "Yes", "No", "player_1")}
    done = joined_review(ITEMS, both, final)
    assert [item.answer for item in done.items] == ["Yes", "No", "player_1"]
    assert all(one.settled for one in done.disputed)
    assert len(done.disputed) == 2
    assert done.items[0] == ITEMS[0]
    corrected = done.items[2]
    assert (corrected.value, corrected.derivation) == (None, ()), "what proved another answer is gone"
    rejected = joined_review(ITEMS, both, {NAMES[1]: replace(final[NAMES[1]], answer=None)})
    assert rejected.items == ()
    assert rejected.rejected == 1


def test_free_words_are_compared_by_their_words() -> None:
    done = joined_review(
        ITEMS, [*said("anna", "-", "-", "-", "So it is."), *said("ben", "-", "-", "-", "so it  IS")], {}
    )
    assert not done.disputed
    assert done.items[-1].answer == "So it is."


def test_questions_that_stand_twice_are_reviewed_once() -> None:
    again = Item(question=ITEMS[0].question, answer="No", rules="sheriff")
    done = joined_review([*ITEMS, again], said("anna", "Yes"), {})
    assert (done.questions, done.twice, len(done.items)) == (5, 1, 1)


def test_agreement_of_people_and_of_the_file() -> None:
    answers = [
        ("Yes", "Yes", "Yes"),
        ("Yes", "No", "No"),
        ("No", "No", None),
        ("No", "Yes", "Yes"),
        ("No", "No", "No"),
    ]
    items = [Item(question=f"Is it {k}?", answer=file) for k, (file, _, _) in enumerate(answers)]
    named = [f"q{item.id}" for item in items]
    given = [Decision(named[k], "anna", one) for k, (_, one, _) in enumerate(answers)]
    given += [Decision(named[k], "ben", other) for k, (_, _, other) in enumerate(answers)]
    found = {(pair.one, pair.other): pair for pair in joined_review(items, given, {}).pairs}
    people = found["anna", "ben"]
    assert (people.agreed.value, people.agreed.n) == (0.8, 5)
    expected = cohens_kappa([(k, one, other) for k, (_, one, other) in enumerate(answers)])
    assert people.kappa is not None
    assert people.kappa.value == expected.value
    assert people.kappa.low is not None, "an interval over the questions"
    assert (found["anna", "file"].agreed.value, found["anna", "file"].agreed.n) == (0.6, 5)
    ben = found["ben", "file"].agreed
    assert (ben.value, ben.n, ben.missing) == (0.5, 4, 1), "the file rejects nothing"
    with pytest.raises(WolflabError, match="a person is called 'file'"):
        joined_review(items, [Decision(named[0], "file", "Yes")], {})


def test_questions_of_one_situation_are_resampled_together() -> None:
    items = [Item(question=f"Is it {k}?", answer="Yes", situation="one") for k in range(9)]
    given = [Decision(f"q{item.id}", "anna", "Yes") for item in items]
    (pair,) = joined_review(items, given, {}).pairs
    assert (pair.agreed.n, pair.agreed.deals) == (9, 1)


# -- the page ---------------------------------------------------------------------------------


def test_the_page_holds_the_questions_and_their_rules() -> None:
    page = render_review(by_table_id(ITEMS))
    assert page.count("<script") == page.count("</script>") == 2
    assert "default-src 'none'" in page
    data = data_of(page)
    assert [item["id"] for item in data["items"]] == list(NAMES)
    assert data["items"][3]["question"] == ITEMS[3].question
    assert [item["answer"] for item in data["items"]] == [item.answer for item in ITEMS]
    for shown, item in zip(data["items"], ITEMS, strict=True):
        rules = rules_in_words(item.ruleset) if item.ruleset else ""
        assert data["rules"][shown["rules"]] == rules


def test_a_blind_page_does_not_give_the_answers_away() -> None:
    data = data_of(render_review(by_table_id(ITEMS), blind=True))
    assert [item["answer"] for item in data["items"]] == ["", "", "", ITEMS[3].answer]
    assert not any(item["derivation"] for item in data["items"])


async def decide_everything(address: str, page: Path) -> tuple[str, list[str]]:
    """Decide by button, by key and in words, come back after a reload; the CSV and what was requested."""
    async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
        tab = Tab(socket)
        target = await tab.call("Target.createTarget", url="about:blank")
        attached = await tab.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        tab.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            await tab.call(f"{domain}.enable")
        narrow = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        await tab.call("Emulation.setDeviceMetricsOverride", **narrow)
        await tab.open(page)
        await tab.run('document.getElementById("rater").value = "Anna"')
        await tab.click("begin")
        await tab.run("document.activeElement.blur()")
        assert await tab.run('document.getElementById("given").textContent') == "The file's answer: Yes"
        await tab.key("n")
        await tab.key("r")
        assert await tab.run('document.getElementById("place").textContent') == "2 / 4"
        await tab.run(
            'Object.assign(document.getElementById("comment"), {value: "no question"})'
            '.dispatchEvent(new Event("change"))'
        )
        await tab.key("ArrowRight")
        await tab.open(page)
        await tab.click("begin")
        assert await tab.run('document.getElementById("place").textContent') == "3 / 4"
        assert (await tab.run('document.getElementById("progress").textContent')).startswith("2 of 4")
        assert await tab.run('document.getElementById("reply").textContent') == ITEMS[2].question
        await tab.run("document.activeElement.blur()")
        await tab.key("2")
        assert await tab.run("document.documentElement.scrollWidth <= 390")
        assert await tab.run('document.querySelector("#reply").textContent') == ITEMS[3].question
        comment = (
            'const box = document.getElementById("comment"), button = document.querySelector(".answer");'
        )
        kept = 'box.value = "hm"; box.dispatchEvent(new Event("change")); button.isConnected'
        assert await tab.run(f"{{ {comment} {kept} }}"), "a comment takes no button away"
        await tab.run(
            'Object.assign(document.getElementById("other"), {value: "=2+2"})'
            '.dispatchEvent(new Event("change"))'
        )
        assert await tab.run("document.title") == "Questions on the rules"
        return await tab.run("labelTable()"), tab.requested


@pytest.mark.skipif(BROWSER is None, reason="no Chromium installed: the page was not tried in a browser")
def test_decisions_made_in_a_browser_come_back(tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    page.write_text(render_review(by_table_id(ITEMS)), encoding="utf-8")
    with browser(tmp_path / "profile") as address:
        text, requested = asyncio.run(decide_everything(address, page))
    (tmp_path / "labels.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_decisions(tmp_path / "labels.csv", by_table_id(ITEMS)) == (
        Decision(NAMES[0], "Anna", "No"),
        Decision(NAMES[1], "Anna", None, "no question"),
        Decision(NAMES[2], "Anna", "player_2"),
        Decision(NAMES[3], "Anna", "=2+2", "hm"),
    )
    assert "'=2+2" in text
    assert set(requested) <= {page.as_uri(), "data:,"}


# -- the command ------------------------------------------------------------------------------


def table_rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(source: Path, to: Path, answers: Sequence[tuple[str, str]]) -> Path:
    """The table that the command wrote, with (decision, answer) filled in."""
    rows = table_rows(source)
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        for row, (decision, answer) in zip(rows, answers, strict=True):
            writer.writerow(row | {"decision": decision, "answer": answer})
    return to


def test_the_commands_from_a_file_to_a_reviewed_one(tmp_path: Path) -> None:
    write_items(tmp_path / "asked.jsonl", ITEMS)
    made = wolflab("wwqa", "review", "asked.jsonl", "--blind", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "asked-review.html").is_file()
    blank = tmp_path / "asked-review.csv"
    given = {row["id"]: row["given"] for row in table_rows(blank)}
    assert given == dict.fromkeys(NAMES[:3], "") | {NAMES[3]: f"'{ITEMS[3].answer}"}
    filled(blank, tmp_path / "anna.csv", [("", "yes"), ("", "yes"), ("", "B"), ("keep", "")])
    filled(blank, tmp_path / "ben.csv", [("", "yes"), ("", "no"), ("", "player_2"), ("reject", "")])
    words = [
        "wwqa",
        "review",
        "asked.jsonl",
        "--labels",
        "anna.csv",
        "--labels",
        "ben.csv",
        "-o",
        "out.jsonl",
    ]
    done = wolflab(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 questions kept" in done.stdout
    assert "anna: Yes, ben: No" in done.stdout
    assert "Questions: 2 as in the file, 2 disputed" in done.stdout
    assert [item.answer for item in read_questions(tmp_path / "out.jsonl").items] == ["Yes", "player_2"]
    numbers = json.loads((tmp_path / "review.json").read_text())
    assert numbers["kept"] == 2
    assert len(numbers["disputed"]) == 2
    assert {pair["form"] for pair in numbers["pairs"]} == {"yes_no", "choice", "open"}

    disputed = read_questions(tmp_path / "disputed.jsonl", unanswered=True).items
    assert [item.id for item in disputed] == [ITEMS[1].id, ITEMS[3].id]
    assert wolflab("wwqa", "review", "disputed.jsonl", cwd=tmp_path).returncode == 0
    filled(tmp_path / "disputed-review.csv", tmp_path / "carl.csv", [("", "No"), ("reject", "")])
    settled = wolflab(*words, "--decided", "carl.csv", cwd=tmp_path)
    assert "3 questions kept" in settled.stdout
    assert "Left out" not in settled.stdout
    assert [item.answer for item in read_questions(tmp_path / "out.jsonl").items] == ["Yes", "No", "player_2"]


def test_a_file_without_answers_has_none_to_keep_or_change(tmp_path: Path) -> None:
    asked = [Item(question=f"Is it {k}?", answer="", rules="sheriff") for k in range(3)]
    write_items(tmp_path / "asked.jsonl", asked)
    assert wolflab("wwqa", "review", "asked.jsonl", cwd=tmp_path).returncode == 0
    rows = [("", "yes"), ("", "no"), ("reject", "")]
    filled(tmp_path / "asked-review.csv", tmp_path / "anna.csv", rows)
    done = wolflab("wwqa", "review", "asked.jsonl", "--labels", "anna.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Questions: 2 answered, 1 rejected" in done.stdout
    assert "other" not in done.stdout
    assert "as in" not in done.stdout
    (person,) = json.loads((tmp_path / "review.json").read_text())["people"]
    assert person == {"name": "anna", "accepted": 0, "answered": 2, "relabelled": 0, "rejected": 1}


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("")
    refused = wolflab("wwqa", "review", str(tmp_path / "none.jsonl"))
    assert refused.returncode == 2
    assert "the file is empty" in refused.stderr
    missing = wolflab("wwqa", "review", str(tmp_path / "no.jsonl"))
    assert missing.returncode == 2
    assert "no.jsonl" in missing.stderr
