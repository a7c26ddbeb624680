"""Questions put to models: what is asked, what is kept, and what the tables and the page say of it."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import http_server
from command_line import Ended, wolflab
from wolflab.errors import BudgetExceeded, ModelRefused, ServerError, StoreError, WolflabError
from wolflab.lab.plans.overrides import embedder_given, model_given
from wolflab.lab.runs.batch import CallBatch
from wolflab.lab.storage.call_store import CallStore
from wolflab.models.base import Request, Response
from wolflab.rules import SHERIFF, WITCH
from wolflab.ui.report.wwqa_eval_page import against, notes, published_lines
from wolflab.usage import Usage
from wolflab.wwqa.answer_reading import chance_of_yes
from wolflab.wwqa.asking import rules_in_words
from wolflab.wwqa.evaluating import (
    EvalPlayer,
    EvalRow,
    EvalRun,
    EvalSettings,
    evaluate,
    find_rows,
    judge_prompt,
)
from wolflab.wwqa.items import Item, Split, write_items
from wolflab.wwqa.results import EvalTable, results


class Pupil:
    """A model that waits. say: message → reply, or an error to raise."""

    instant = False
    typed = False

    def __init__(self, say: Callable[[str], str | Exception], name: str = "pupil/one") -> None:
        self.say, self.name = say, name
        self.asked: list[str] = []

    async def generate(self, request: Request) -> Response:
        words = request.words.messages[0][1]
        self.asked.append(words)
        await asyncio.sleep(0)
        said = self.say(words)
        if isinstance(said, Exception):
            raise said
        return Response(said, Usage(100, 1, 0, 0.5))

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None:
        pass


SPLITS: tuple[Split, ...] = ("train", "situations", "wordings", "kinds", "ruleset")


def built(each: int = 4) -> list[Item]:
    """Questions of every form in every split: a Yes and a No about one situation, a choice, a number."""
    items = []
    for split in SPLITS:
        rules = {"preset": "witch" if split == "ruleset" else "sheriff"}
        for k in range(each):
            about = {"split": split, "rules": rules, "situation": f"{split}{k}", "kind": f"kind{k % 2}"}
            for said in ("Yes", "No"):
                text = f"{split} {k}: is {said} right?"
                items.append(Item(question=text, answer=said, pair=f"{split}{k}", difficulty=k % 3, **about))
            options = ("player_1", "player_2")
            items.append(
                Item(
                    question=f"{split} {k}: who?", answer=options[0], form="choice", choices=options, **about
                )
            )
            items.append(
                Item(
                    question=f"{split} {k}: how many?", answer="2", form="open", answer_type="number", **about
                )
            )
    return items


FOREIGN = [
    *(Item(question=f"Is rule {k} so?", answer="Yes" if k % 3 else "No") for k in range(9)),
    *(Item(question=f"What is rule {k}?", answer="The Seer checks.", form="open") for k in range(3)),
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    write_items(tmp_path / "questions.jsonl", built())
    return tmp_path / "questions.jsonl"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    write_items(tmp_path / "foreign.jsonl", FOREIGN)
    return tmp_path / "foreign.jsonl"


def knows(words: str) -> str:
    """Every right answer."""
    if "who?" in words:
        return "A"
    if "how many?" in words:
        return "two"
    return "Yes" if "is Yes right" in words else "No"


def put(
    path: Path, rows: Sequence[EvalRow], *pupils: Pupil, judge: Pupil | None = None, **settings: Any
) -> EvalRun:
    how = EvalSettings(**settings)
    return asyncio.run(evaluate(CallBatch(path, pupils, judge), rows, how))


def rows_of(*files: Path, settings: EvalSettings = EvalSettings(), **more: Any) -> tuple[EvalRow, ...]:  # noqa: B008
    return find_rows(files, settings, **more)


def table(run: EvalRun, row: str, form: str = "yes_no") -> EvalTable:
    return next(one for one in results(run).tables if (one.row, one.form) == (row, form))


def value(found: EvalTable, who: str, score: str = "accuracy", part: Any = "all") -> float | None:
    line = next(line for line in found.lines if line.name == who)
    return line.scores[part][score].value


# -- which questions --------------------------------------------------------------------------


def test_rows_are_the_test_splits(questions: Path, foreign: Path) -> None:
    rows = rows_of(questions, foreign)
    assert [row.name for row in rows] == ["situations", "wordings", "kinds", "ruleset", "foreign.jsonl"]
    assert [len(row.items) for row in rows] == [16, 16, 16, 16, 12]
    assert [row.foreign for row in rows] == [False] * 4 + [True]
    assert [row.name for row in rows_of(questions, splits=["train"])] == ["train"]
    with pytest.raises(WolflabError, match="no split 'test'; known are train"):
        rows_of(questions, splits=["test"])


def test_two_built_files_have_rows_of_their_own(questions: Path, tmp_path: Path) -> None:
    write_items(tmp_path / "more.jsonl", built(2))
    rows = rows_of(questions, tmp_path / "more.jsonl", splits=["kinds"])
    assert [(row.name, len(row.items)) for row in rows] == [
        ("kinds (questions.jsonl)", 16),
        ("kinds (more.jsonl)", 8),
    ]


def test_a_limit_draws_by_the_seed_and_keeps_yes_with_its_no(questions: Path) -> None:
    def drawn(seed: int, limit: int) -> list[str]:
        [row, *_] = rows_of(questions, settings=EvalSettings(seed=seed), limit=limit)
        pairs = [item.pair for item in row.items if item.pair]
        assert all(pairs.count(pair) == 2 for pair in pairs)
        return [item.question for item in row.items]

    assert drawn(1, 6) == drawn(1, 6)
    assert {tuple(drawn(seed, 6)) for seed in range(5)} != {tuple(drawn(1, 6))}
    assert all(len(drawn(seed, limit)) == limit for seed in range(5) for limit in (1, 5, 6))
    assert len(drawn(1, 100)) == 16


# -- asking -----------------------------------------------------------------------------------


def test_everything_is_asked_once_with_its_rules_in_front(questions: Path, tmp_path: Path) -> None:
    pupil = Pupil(knows)
    rows = rows_of(questions)
    run = put(tmp_path / "out", rows, pupil)
    assert len(pupil.asked) == len(set(pupil.asked)) == 64
    fronts = [words.startswith(rules_in_words(WITCH)) for words in pupil.asked]
    assert sorted(fronts) == fronts or sorted(fronts, reverse=True) == fronts, "each ruleset in one go"
    assert sum(fronts) == 16
    assert sum(words.startswith(rules_in_words(SHERIFF)) for words in pupil.asked) == 48
    assert sum(words.endswith("Answer with Yes or No.") for words in pupil.asked) == 32
    assert run.waiting == 0
    for row in rows:
        for form in ("yes_no", "choice", "open"):
            assert value(table(run, row.name, form), pupil.name) == 1
            assert value(table(run, row.name, form), pupil.name, "unreadable") == 0
    assert value(table(run, "kinds"), pupil.name, "weighted F1") == 1
    assert value(table(run, "kinds"), "always Yes") == 0.5


def test_rules_may_be_left_out_and_the_other_rules_are_then_asked_from_memory(
    questions: Path, tmp_path: Path
) -> None:
    how = {"rules_text": "both"}
    rows = rows_of(questions, settings=EvalSettings(**how))  # type: ignore[arg-type]
    assert [row.name for row in rows][-2:] == ["ruleset", "ruleset from memory"]
    pupil = Pupil(knows)
    run = put(tmp_path / "out", rows, pupil, **how)
    told, untold = EvalPlayer(pupil.name, True), EvalPlayer(pupil.name, False)
    assert run.players == (told, untold)
    assert untold.name == "pupil/one, no rules text"
    assert [(row, player.rules) for row, player in run.answers if "ruleset" in row] == [
        ("ruleset", True),
        ("ruleset from memory", False),
    ]
    assert sum(words.startswith(rules_in_words(WITCH)) for words in pupil.asked) == 16
    assert len(pupil.asked) == 128
    alone = rows_of(questions, settings=EvalSettings(rules_text="no"))
    assert [row.name for row in alone][-1] == "ruleset from memory"


def test_the_released_form_has_no_instruction(foreign: Path, tmp_path: Path) -> None:
    pupil = Pupil(lambda words: "Yes")
    put(tmp_path / "out", rows_of(foreign), pupil, plain=True, rules=SHERIFF)
    assert pupil.asked[0] == f"{rules_in_words(SHERIFF)}\n\nIs rule 0 so?"


def test_what_is_on_file_is_never_asked_again(questions: Path, tmp_path: Path) -> None:
    first, rows = Pupil(knows), rows_of(questions, splits=["kinds"])
    put(tmp_path / "out", rows, first)
    again, second = Pupil(knows), Pupil(lambda words: "Yes", "pupil/two")
    more = rows_of(questions, splits=["kinds", "wordings"])
    run = put(tmp_path / "out", more, again, second)
    assert len(again.asked) == 16
    assert not {*again.asked} & {*first.asked}
    assert len(second.asked) == 32
    assert value(table(run, "kinds"), "pupil/one") == 1
    assert value(table(run, "kinds"), "pupil/two") == 0.5
    assert run.spent["pupil/one"].usage.tokens == 32 * 101
    with pytest.raises(StoreError, match=r"begun otherwise \(max_tokens\)"):
        put(tmp_path / "out", more, again, max_tokens=5)
    other = Pupil(knows)
    other.describe = lambda: {"name": "pupil/one", "temperature": 1}  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="asked with other settings"):
        put(tmp_path / "out", more, other)


@pytest.mark.parametrize("error", [ServerError("the server failed"), ModelRefused("the key is refused")])
def test_a_failing_server_leaves_questions_waiting(error: Exception, questions: Path, tmp_path: Path) -> None:
    rows = rows_of(questions, splits=["kinds"])
    failing = Pupil(lambda words: error if "kinds 3" in words else knows(words))
    run = put(tmp_path / "out", rows, failing, Pupil(knows, "pupil/two"))
    assert run.why == str(error)
    assert 4 <= run.waiting < 16
    missing = sum(
        table(run, "kinds", form).lines[0].scores["all"]["accuracy"].missing
        for form in ("yes_no", "choice", "open")
    )
    assert missing == run.waiting
    assert value(table(run, "kinds"), "pupil/two") == 1, "another model goes on"
    mended = Pupil(knows)
    assert put(tmp_path / "out", rows, mended).waiting == 0
    assert len(mended.asked) == run.waiting


def test_a_spent_budget_hides_no_answer_that_is_on_file(tmp_path: Path) -> None:
    write_items(tmp_path / "many.jsonl", built(30))
    few, more = (rows_of(tmp_path / "many.jsonl", limit=limit) for limit in (40, 80))
    first, judge = Pupil(knows), Pupil(lambda words: "Yes", "judge/one")
    put(tmp_path / "out", few, first, judge=judge)
    spent = BudgetExceeded("the budget is spent")
    poor, poor_judge = Pupil(lambda words: spent), Pupil(lambda words: spent, "judge/one")
    run = put(tmp_path / "out", more, poor, judge=poor_judge)
    kept = [one for row in more for one in run.given(row, run.players[0])]
    asked = [item for row in more for item in row.items]
    there = {item.id for row in few for item in row.items}
    assert [one.item for one in kept] == [item for item in asked if item.id in there]
    assert len(first.asked) == 160
    assert len(kept) > 120
    assert all(one.same for one in kept if one.item.form == "open"), "verdicts that are on file count too"
    assert run.waiting == len(asked) - len(kept)
    assert run.why == str(spent)


# -- reading ----------------------------------------------------------------------------------


def test_a_coin_decides_what_the_release_cannot_read(questions: Path, tmp_path: Path) -> None:
    rows = rows_of(questions, splits=["kinds"])
    unread = Pupil(lambda words: "perhaps")
    runs = [put(tmp_path / "out", rows, unread, coin=True, seed=seed) for seed in (1, 1, 2, 3, 4)]
    said = [[one.reading.said for one in run.given(rows[0], run.players[0]) if one.item.pair] for run in runs]
    assert len(unread.asked) == 16, "reading otherwise asks nobody"
    assert said[0] == said[1]
    assert len({tuple(one) for one in said}) > 1
    assert {word for one in said for word in one} == {"Yes", "No"}
    assert value(table(runs[0], "kinds"), unread.name, "unreadable") == 1
    strict = put(tmp_path / "out", rows, unread)
    assert value(table(strict, "kinds"), unread.name) == 0
    assert results(strict).unread == {unread.name: 1.0}


def test_contamination_is_told_apart(foreign: Path, tmp_path: Path) -> None:
    train = tmp_path / "train.jsonl"
    write_items(train, [Item(question=f"  is RULE {k} so", answer="Yes") for k in (0, 1, 2)])
    pupil = Pupil(lambda words: "Yes" if any(f"rule {k} " in words for k in (0, 1, 2)) else "what?")
    run = put(tmp_path / "out", rows_of(foreign, train=[train]), pupil, rules=SHERIFF)
    found = table(run, "foreign.jsonl")
    parts = {part: found.lines[0].scores[part]["accuracy"] for part in found.parts}
    assert {part: one.n for part, one in parts.items()} == {"all": 9, "free": 6, "contaminated": 3}
    assert [parts["contaminated"].value, parts["free"].value] == [2 / 3, 0]
    assert [(one.part, one.right) for one in results(run).rows] == [
        ("all", 2), ("free", 0), ("contaminated", 2)
    ]  # fmt: skip
    unknown = table(put(tmp_path / "out", rows_of(foreign), pupil, rules=SHERIFF), "foreign.jsonl")
    assert [unknown.lines[0].scores[part]["accuracy"].n for part in unknown.parts] == [9, 0, 0]
    assert [
        one.part for one in results(put(tmp_path / "out", rows_of(foreign), pupil, rules=SHERIFF)).rows
    ] == ["all"]


def test_a_judge_reads_open_answers_and_its_agreement_is_told(
    questions: Path, foreign: Path, tmp_path: Path
) -> None:
    replies = {
        "rule 0?": "The Seer checks.",
        "rule 1?": "He checks one",
        "rule 2?": f"<seed:think>{'He checks one. ' * 500}</seed:think>He sleeps",
    }

    def say(words: str) -> str:
        return next((reply for end, reply in replies.items() if end in words), knows(words))

    def verdict(words: str) -> str:
        if "kinds 0" in words:
            return "I cannot say"
        return "Yes" if "checks one" in words or "kinds 1" in words or "kinds 2" in words else "no"

    judge = Pupil(verdict, "judge/one")
    rows = rows_of(foreign, questions, splits=["kinds"])
    run = put(tmp_path / "out", rows, Pupil(say), judge=judge, rules=SHERIFF)
    assert value(table(run, "foreign.jsonl", "open"), "pupil/one") == 2 / 3
    assert table(run, "foreign.jsonl", "open").matched["pupil/one"].value == 1 / 3
    assert len(judge.asked) == 6, "what matches needs no judge, unless its judgement is tried"
    assert judge_prompt(rows[0].items[-1], "He sleeps") in judge.asked
    judged = results(run).judged
    assert judged is not None
    assert (judged.agreed.n, judged.agreed.value) == (3, 2 / 3)
    assert value(table(run, "kinds", "open"), "pupil/one") == 1, (
        "the judge decides nothing that can be matched"
    )


def test_what_a_judge_decides_is_not_set_beside_a_baseline(tmp_path: Path) -> None:
    """The model is right by luck in yes-or-no questions, and by the judge's leave in all open ones."""
    binary = [Item(question=f"Is {k:02} so?", answer="Yes" if k % 2 else "No") for k in range(30)]
    opened = [Item(question=f"What is {k:02}?", answer=f"The Seer {k}.", form="open") for k in range(30)]
    write_items(tmp_path / "both.jsonl", [*binary, *opened])
    write_items(tmp_path / "opened.jsonl", opened)
    rows = rows_of(tmp_path / "both.jsonl", tmp_path / "opened.jsonl")
    judge = Pupil(lambda words: "Yes", "judge/one")
    run = put(tmp_path / "out", rows, Pupil(lambda words: "Yes"), judge=judge, rules=SHERIFF)
    both, alone = results(run).rows
    assert (both.right, both.accuracy.n, both.judged, both.verdict) == (45, 60, 30, "not better")
    assert both.guessed is not None
    assert both.guessed >= 0.5
    assert against(both).endswith("on the other 30 questions")
    assert (alone.right, alone.judged, alone.baseline, alone.verdict) == (30, 30, "", "unknown")
    assert against(alone) == "no baseline"
    assert any("a judge reads" in sentence for sentence in notes(results(run)))
    without = results(put(tmp_path / "out", rows, Pupil(lambda words: "Yes"), rules=SHERIFF))
    assert [(one.right, one.judged) for one in without.rows] == [(15, 0), (0, 0)]
    assert not any("a judge reads" in sentence for sentence in notes(without))


def test_each_row_has_one_line_beside_the_best_baseline(questions: Path, tmp_path: Path) -> None:
    knowing, guessing = Pupil(knows), Pupil(lambda words: "Yes" if "right?" in words else "B", "pupil/two")
    run = put(tmp_path / "out", rows_of(questions, splits=["kinds", "ruleset"]), knowing, guessing)
    lines = {(one.row, one.player): one for one in results(run).rows}
    assert list(lines) == [
        (row, player) for player in ("pupil/one", "pupil/two") for row in ("kinds", "ruleset")
    ]
    first, second = lines["kinds", "pupil/one"], lines["kinds", "pupil/two"]
    assert [(one.right, one.accuracy.n, one.unreadable) for one in (first, second)] == [
        (16, 16, 0),
        (4, 16, 4),
    ]
    assert first.guessed == second.guessed
    assert first.guessed is not None
    assert first.guessed >= 12 / 16, "the majority: half of Yes and No, every choice, every number"
    assert first.accuracy.note == "fewer than 5 clusters: no interval"
    assert {one.verdict for one in lines.values()} == {"unknown"}


@pytest.mark.parametrize(("right", "verdict"), [(40, "better"), (24, "not better"), (0, "worse")])
def test_a_verdict_says_whether_a_model_does_better_than_guessing(
    right: int, verdict: str, tmp_path: Path
) -> None:
    """Twenty of forty are answered by always saying Yes."""
    items = [Item(question=f"{k:02}?", answer="Yes" if k % 2 else "No", rules="sheriff") for k in range(40)]
    write_items(tmp_path / "forty.jsonl", items)

    def say(words: str) -> str:
        k = next(k for k in range(40) if f"{k:02}?" in words)
        return items[k].answer if k < right else "No" if items[k].answer == "Yes" else "Yes"

    [score] = results(put(tmp_path / "out", rows_of(tmp_path / "forty.jsonl"), Pupil(say))).rows
    assert (score.right, score.verdict) == (right, verdict)
    assert score.guessed is not None
    assert score.guessed >= 0.5


def test_one_question_has_no_interval_and_no_baseline_that_learned(tmp_path: Path) -> None:
    write_items(tmp_path / "one.jsonl", [FOREIGN[0], FOREIGN[-1]])
    run = put(tmp_path / "out", rows_of(tmp_path / "one.jsonl"), Pupil(lambda words: "No"), rules=SHERIFF)
    binary, opened = table(run, "one.jsonl"), table(run, "one.jsonl", "open")
    assert [line.name for line in binary.lines] == ["pupil/one", "always Yes"]
    assert [line.name for line in opened.lines] == ["pupil/one"]
    assert binary.learned == opened.learned == ""
    scores = [score for line in (*binary.lines, *opened.lines) for score in line.scores["all"].values()]
    assert {(score.low, score.high, score.note) for score in scores if score.value is not None} == {
        (None, None, "fewer than 5 clusters: no interval")
    }


def test_numbers_are_told_by_kind_and_difficulty(questions: Path, tmp_path: Path) -> None:
    pupil = Pupil(lambda words: "No" if " 1:" in words else knows(words))
    found = table(put(tmp_path / "out", rows_of(questions, splits=["kinds"]), pupil), "kinds")
    kinds = found.groups["kind"][pupil.name]
    assert {kind: (one.n, one.value) for kind, one in kinds.items()} == {
        "kind0": (4, 1.0),
        "kind1": (4, 0.75),
    }
    assert set(found.groups["difficulty"][pupil.name]) == {"0", "1", "2"}
    assert "wording" not in found.groups


# -- as a command -----------------------------------------------------------------------------


def run_eval(server: http_server.FakeServer, *words: str | Path) -> Ended:
    return wolflab("wwqa", "eval", *map(str, words), "--set", f"base_url={server.base_url}")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_command_leaves_answers_numbers_and_a_page(
    questions: Path, foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with http_server.running() as server:
        done = run_eval(
            server, questions, foreign, "--model", "wolf-1", "--model", "wolf-2", "-o", tmp_path / "out",
            "--rules", "sheriff", "--probabilities", "--rules-text", "both",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        once = server.answered
        again = run_eval(
            server, questions, foreign, "--model", "wolf-1", "--model", "wolf-2", "-o", tmp_path / "out",
            "--rules", "sheriff", "--probabilities", "--rules-text", "both",
        )  # fmt: skip
        assert server.answered == once == 2 * 2 * (64 + 12)
        stating = [body for body in server.bodies if "logprobs" in body]
    assert len(stating) == 2 * 2 * (32 + 9), "of yes-or-no questions alone"
    assert all(body["max_tokens"] == 64 and body["temperature"] == 0 for body in server.bodies)
    told = done.stdout.split(" left ")[-1].split("\n", 1)[1]
    assert "beside the" in told
    assert again.stdout.endswith(told)
    answers = lines(tmp_path / "out" / "answers.jsonl")
    assert len(answers) == once
    for one in answers:
        assert one["right"] == (one["readable"] and one["said"].lower() == one["answer"].lower())
    assert {"chance_of_yes"} <= set(answers[0])
    numbers = json.loads((tmp_path / "out" / "results.json").read_text())
    assert numbers["waiting"] == 0
    assert [one["row"] for one in numbers["tables"]][:3] == ["situations"] * 3
    assert numbers["tables"][0]["chances"]["wolf-1"][0]["n"] == 8
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for outside in ("http://", "https://", "//cdn", "@import", "url(http", "<script", "<iframe"):
        assert outside not in page.replace("http://www.w3.org/", "").replace(server.base_url, "")
    for words in ("ruleset from memory", "wolf-2, no rules text", "bag of words", "has shown nothing"):
        assert words in page
        assert words in done.stdout
    for words in ("published: GPT-4", "another set of questions", "AUC", server.base_url):
        assert words in page
        assert words not in told
    assert page.index("has shown nothing") < page.index(" of 16: ") < page.index("published:")
    assert "76 questions in 152 messages, with and without the rules, to 2 models" in done.stdout
    assert done.stdout.count("No training file is named (--train)") == 1
    assert "contaminated" not in done.stdout
    assert page.count("free of contamination") == 3, (
        "accuracy and F1 of yes or no, accuracy of open questions"
    )
    assert "cost unknown" in done.stdout
    assert '<b class="words">unknown</b><span>cost in USD' in page
    assert "all questions, seed 1 (--seed)" in page


def test_published_rows_are_of_the_released_questions_or_not() -> None:
    def shaped(n: int, yes: int, foreign: bool) -> EvalTable:
        return EvalTable("row", "yes_no", n, yes, foreign, ("all",), (), "")

    title, note, rows = published_lines([shaped(500, 303, True)])
    assert "Table 1" in title
    assert note == "by their number, the released 500 questions"
    assert rows[0] == ["published: C3-6B", "0.582", "0.565"]
    assert rows[-1] == ["published: GPT-4", "0.850", "0.851"]
    assert len(rows) == 8
    for other in (shaped(500, 250, True), shaped(500, 303, False)):
        assert published_lines([other])[1].startswith("another set")


def test_a_server_without_probabilities_is_told_in_a_sentence(questions: Path, tmp_path: Path) -> None:
    with http_server.running(refuses=frozenset({"logprobs"})) as server:
        done = run_eval(
            server,
            questions,
            "--model",
            "wolf-1",
            "--probabilities",
            "-o",
            tmp_path / "out",
            "--split",
            "kinds",
        )
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "wolf-1: the server gave no probabilities of Yes and No" in told
    assert "refuses logprobs" in (tmp_path / "out" / "results.json").read_text()


def test_who_cannot_be_read_is_named_at_the_top(questions: Path, tmp_path: Path) -> None:
    with http_server.running() as server:
        server.faults.extend([http_server.Fault("text", body="I would rather not say.")] * 12)
        server.faults.extend([http_server.Fault("cut")] * 4)
        done = run_eval(server, questions, "--model", "wolf-1", "-o", tmp_path / "out", "--split", "kinds")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "wolf-1: no answer could be read in 100.0 % of its replies" in told
    assert "wolf-1: 4 unreadable replies broke off (--max-tokens 64" in told
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.index("no answer could be read") < page.index("<h2>")
    assert "I would rather not say." in page


def test_a_spent_budget_says_how_to_go_on(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = (questions, "--model", "wolf-1", "-o", out, "--set", "max_in_flight=1")
    with http_server.running() as server:
        done = run_eval(server, *asked, "--tokens", "5000")
        assert done.returncode == 1
        told = " ".join(done.stdout.split())
        assert "95 % interval" in told
        with CallStore.open_for_reading(out) as store:
            used = store.spent().tokens
        assert 4000 < used <= 5000
        assert f"the budget of 5,000 tokens is spent ({used:,} used" in told
        assert f"wolf-1: {used:,} tokens" in told
        command = f"wolflab wwqa eval {questions} --model wolf-1 -o {out} --set max_in_flight=1"
        assert told.endswith(
            f"with a higher --tokens or without a limit, with: {command} --set base_url={server.base_url}"
        )
        first = server.answered
        assert 0 < first < 64
        assert run_eval(server, *asked, "--tokens", "5000").returncode == 1
        assert server.answered == first, "what was spent counts"
        assert run_eval(server, *asked, "--tokens", "5000000").returncode == 0
        assert server.answered == 64
        assert run_eval(server, *asked, "--tokens=5000").returncode == 0, "nothing is left to ask"
        assert "price" in run_eval(server, *asked, "--usd", "1").stderr
        assert "usd: got 0.0; use a number above 0" in run_eval(server, *asked, "--usd", "0").stderr
        none = run_eval(server, *asked, "--split", "validation").stderr
        assert "no question is of the splits validation" in none
    with http_server.running(lists=False) as server:  # so that a model is tried by a short call
        tiny = run_eval(server, questions, "--model", "wolf-1", "-o", tmp_path / "b", "--tokens", "5")
    assert tiny.returncode == 1, tiny.stderr
    assert "64 messages wait for a reply (the budget of 5 tokens is spent" in " ".join(tiny.stdout.split())


@pytest.mark.slow
def test_a_cost_without_the_price_of_all_tokens_is_the_least(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = (questions, "--model", "wolf-1", "-o", out)
    price = ("--set", "price={input: 1, output: 2}")
    with http_server.running() as server:
        run_eval(server, *asked, "--split", "kinds")
        with CallStore.open_for_reading(out) as store:
            before = store.spent().tokens
        done = run_eval(server, *asked, *price, "--usd", "0.002")
        whole = run_eval(server, questions, "--model", "wolf-1", "-o", tmp_path / "new", *price)
        run_eval(server, questions, "--model", "wolf-1", "-o", tmp_path / "bare")
        with CallStore.open_for_reading(tmp_path / "bare") as store:
            bare = store.spent().tokens
        free = ("--set", "price={input: 0, output: 0}")
        run_eval(server, questions, "--model", "wolf-1", "-o", tmp_path / "free", *free)
    told = " ".join(done.stdout.split())
    with CallStore.open_for_reading(out) as store:
        spent = store.spent()
    least = f"at least ${spent.usd:.4f} ({before:,} tokens without a price)"
    assert f"wolf-1: {spent.tokens:,} tokens, {least}" in told
    assert f"the budget of 0.002 USD is spent ({spent.usd:.4f} used" in told
    assert "at least $" in (out / "report.html").read_text(encoding="utf-8")
    assert json.loads((out / "results.json").read_text())["tokens without a price"] == {"wolf-1": before}
    unpriced = json.loads((tmp_path / "bare" / "results.json").read_text())
    assert unpriced["usage"]["wolf-1"]["cost"] is None
    assert unpriced["tokens without a price"] == {"wolf-1": bare} != {"wolf-1": 0}
    free = json.loads((tmp_path / "free" / "results.json").read_text())
    assert free["usage"]["wolf-1"]["cost"] == free["tokens without a price"]["wolf-1"] == 0
    assert "at least" not in whole.stdout


def test_a_row_of_pairs_alone_says_why_one_question_is_none(tmp_path: Path) -> None:
    write_items(tmp_path / "pairs.jsonl", [item for item in built() if item.pair])
    with http_server.running() as server:
        asked = (tmp_path / "pairs.jsonl", "--model", "wolf-1", "-o", tmp_path / "out", "--limit")
        assert "needs --limit 2" in " ".join(run_eval(server, *asked, "1").stdout.split())
        assert "needs --limit 2" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        assert "needs --limit 2" not in " ".join(run_eval(server, *asked, "2").stdout.split())


def test_a_failing_server_ends_the_command_with_1(questions: Path, tmp_path: Path) -> None:
    asked = (questions, "--model", "wolf-1", "-o", tmp_path / "out", "--set", "retries=0")
    with http_server.running() as server:
        server.faults.extend([http_server.Fault("status", 500)] * 10)
        done = run_eval(server, *asked)
        assert done.returncode == 1
        assert "10 messages wait for a reply" in done.stdout
        assert "The server had a bad moment" in " ".join(done.stdout.split())
        assert " missing" in done.stdout
        assert run_eval(server, *asked).returncode == 0
        assert server.answered == 64 + 10, "the server counts what it would have said"


def test_an_answer_without_choices_is_tried_again_and_never_kept(questions: Path, tmp_path: Path) -> None:
    asked = (questions, "--model", "wolf-1", "-o", tmp_path / "out", "--split", "kinds")
    with http_server.running() as server:
        server.faults.extend([http_server.Fault("no_choices")] * 3)
        done = run_eval(server, *asked, "--set", "retries=0")
        assert done.returncode == 1
        assert "3 messages wait for a reply" in done.stdout
        assert "an answer without choices" in " ".join(done.stdout.split())
        assert len(lines(tmp_path / "out" / "answers.jsonl")) == 13
        server.faults.append(http_server.Fault("no_choices"))
        assert run_eval(server, *asked, "--set", "retries=0").returncode == 1
        assert run_eval(server, *asked).returncode == 0
        assert len(server.bodies) == 16 + 3 + 1
    answers = lines(tmp_path / "out" / "answers.jsonl")
    assert len(answers) == 16
    assert all(one["reply"] for one in answers)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "village"], "the built-in player does not read questions"),
        (["--model", "wolf-1", "--model", "wolf-1"], "named 2 times"),
        (["--model", "wolf-9"], "no model 'wolf-9'"),
        (["--model", "wolf-1", "--rules-text", "maybe"], "write yes, no or both"),
        (["--model", "wolf-1", "--rules", "poker"], "poker"),
        (["--model", "wolf-1"], "do not say which rules they are about; name them with --rules"),
        (["--model", "wolf-1", "--rules", "witch", "--judge", "village"], "does not read questions"),
    ],
)
def test_mistakes_are_sentences_and_leave_nothing(
    words: list[str], sentence: str, foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with http_server.running() as server:
        if "wolf-9" in words:
            words = [*words, "--rules", "witch"]
        done = run_eval(server, foreign, *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("begun", [False, True])
def test_a_judge_without_a_key_is_found_before_anything_is_asked(
    begun: bool, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asked = (questions, "--model", "wolf-1", "-o", tmp_path / "out")
    judged = (*asked, "--judge", "openai/gpt-4o-mini")
    with http_server.running() as server:
        if begun:
            assert run_eval(server, *asked, "--split", "kinds").returncode == 0
        once = server.calls
        done = run_eval(server, *judged)
        assert done.returncode == 2
        assert "'openai/gpt-4o-mini': no API key" in done.stderr
        assert server.calls == once
        assert (tmp_path / "out").exists() == begun
        if begun:
            left = run_eval(server, *judged, "--split", "kinds")
            assert server.calls == once
            assert left.returncode == 1, "what is on file is shown, and the verdicts wait"
            assert "4 messages wait for a reply (model 'openai/gpt-4o-mini': no API key" in left.stdout


def test_a_judge_of_a_models_name_is_that_model(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with http_server.running() as server:
        done = run_eval(server, questions, "--model", "wolf-1", "--judge", "wolf-1", "-o", out)
        assert done.returncode == 0, done.stderr
        assert any(body["messages"][0]["content"].startswith("Question:") for body in server.bodies)
        other = run_eval(server, questions, "--model", "wolf-1", "--judge", "wolf-2", "-o", out)
    assert other.returncode == 2
    assert "--judge: settings of a judge stand beside its name: --judge '{model: wolf-2, base_url: …}'; " in (
        " ".join(other.stderr.split())
    )
    assert "model 'wolf-2' is not known" in other.stderr


def test_a_refused_key_is_a_sentence(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHOOL_KEY", "wrong-key-0123456789")
    with http_server.running(key="right") as server:
        done = run_eval(
            server, questions, "--model", "wolf-1", "--set", "api_key_env=SCHOOL_KEY", "-o", tmp_path / "o"
        )
    assert done.returncode == 2
    assert "refuses the key" in done.stderr
    assert "SCHOOL_KEY" in done.stderr
    assert "wrong-key" not in done.stderr


def test_without_a_directory_one_is_made_under_runs(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with http_server.running() as server:
        model = f"{{model: wolf-1, base_url: '{server.base_url}'}}"
        done = wolflab("wwqa", "eval", str(questions), "--model", model, "--limit", "4")
    assert done.returncode == 0, done.stderr
    [made] = (tmp_path / "runs").iterdir()
    assert {path.name for path in made.iterdir()} >= {
        "answers.jsonl",
        "results.json",
        "report.html",
        "run.sqlite",
    }
    assert len(lines(made / "answers.jsonl")) == 16


def test_a_model_may_be_a_mapping() -> None:
    assert model_given("{model: m, base_url: 'http://x/v1'}", ["timeout=3"]) == {
        "model": "m",
        "base_url": "http://x/v1",
        "timeout": 3,
    }
    assert model_given("m", []) == "m"
    assert embedder_given("{embedder: e, base_url: 'http://x/v1'}") == {
        "embedder": "e",
        "base_url": "http://x/v1",
    }
    assert embedder_given("hashing") == "hashing"
    for broken, said in (("{broken", "hold no mapping"), ("{base_url: x}", "'model', its name")):
        with pytest.raises(WolflabError, match=said):
            model_given(broken)


def test_a_killed_evaluation_asks_nothing_twice(questions: Path, tmp_path: Path) -> None:
    """kill -9 in the midst of its calls: those that were answered and committed are never made again."""
    home = tmp_path / "out"
    with http_server.running(latency=0.05) as server:
        command = [sys.executable, "-m", "wolflab", "wwqa", "eval", str(questions), "--model", "wolf-1"]
        command += ["-o", str(home), "--set", f"base_url={server.base_url}", "--set", "max_in_flight=2"]
        begun = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            committed = 0
            while committed < 5 and begun.poll() is None:
                time.sleep(0.02)
                if (home / "run.sqlite").is_file():
                    with closing(sqlite3.connect(f"file:{home / 'run.sqlite'}?mode=ro", uri=True)) as db:
                        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
                            committed = db.execute("SELECT count(*) FROM calls").fetchone()[0]
        finally:
            begun.send_signal(signal.SIGKILL)
            begun.wait()
        with closing(sqlite3.connect(home / "run.sqlite")) as db:
            kept = db.execute("SELECT count(*) FROM calls").fetchone()[0]
        assert 5 <= kept < 64
        server.latency = 0
        before = len(server.bodies)
        done = run_eval(server, questions, "--model", "wolf-1", "-o", home, "--set", "max_in_flight=2")
        assert done.returncode == 0, done.stderr
        assert len(server.bodies) == before + 64 - kept
        assert len({body["messages"][0]["content"] for body in server.bodies}) == 64


def test_probabilities_are_on_file(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with http_server.running() as server:
        run_eval(server, questions, "--model", "wolf-1", "-o", out, "--split", "kinds", "--probabilities")
    with closing(sqlite3.connect(out / "run.sqlite")) as db:
        askers = [asker for (asker,) in db.execute("SELECT asker FROM likeliest")]
    with CallStore.open_for_reading(out) as store:
        kept = [
            chance_of_yes(filed.response.likeliest) for one in askers for filed in store.filed(one).values()
        ]
    stated = [one["chance_of_yes"] for one in lines(out / "answers.jsonl") if one["form"] == "yes_no"]
    assert len(kept) == 8
    assert sorted(kept) == sorted(stated)
