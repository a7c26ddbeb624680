"""Our evaluation, lm-evaluation-harness and Inspect on one small real model: the same prompts to the byte,
the same replies, the same verdicts; and data sets that load. None of them may reach for the network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from wolflab.rules import SHERIFF
from wolflab.wwqa.building import build_items
from wolflab.wwqa.evaluating import TEST_SPLITS
from wolflab.wwqa.items import Item, write_items

pytestmark = pytest.mark.smollm

ROOT = Path(__file__).parent.parent.parent
ITEMS = 56
"""To be built; about half of them are test questions."""


class Answered(NamedTuple):
    """One question as one tool put and judged it."""

    prompt: str
    reply: str
    right: bool
    readable: bool


Answers = Mapping[str, Answered]
"""By the item's id."""
Program = Callable[..., str]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all programs run."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def program(smollm: str, home: Path) -> Program:
    """Runs Python with these words in a process whose network is locked; what it prints."""
    attempts = home / "attempts"
    path = [str(ROOT / "tests" / "locked"), str(ROOT / "tests"), str(ROOT / "src")]
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(path),
        "NETWORK_ATTEMPTS": str(attempts),
        "HF_HOME": str(home / "hf"),
        "HF_HUB_OFFLINE": "1",
        "LOCAL_BASE_URL": smollm,
        "LOCAL_API_KEY": "none",
        "COLUMNS": "200",
    }

    def run(*words: object) -> str:
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert not attempts.exists(), attempts.read_text()
        return done.stdout

    return run


@pytest.fixture(scope="session")
def items() -> Sequence[Item]:
    return build_items(SHERIFF, ITEMS, seed=1).items


@pytest.fixture(scope="session")
def file(items: Sequence[Item], home: Path) -> Path:
    write_items(home / "questions.jsonl", items)
    return home / "questions.jsonl"


@pytest.fixture(scope="session")
def evaluation(program: Program, smollm: str, file: Path) -> Path:
    """The directory that `wolflab wwqa eval` leaves behind."""
    out = file.parent / "eval"
    settings = [f"base_url={smollm}", "timeout=600", "max_in_flight=1"]
    words = [word for setting in settings for word in ("--set", setting)]
    program("-m", "wolflab", "wwqa", "eval", file, "--model", "llamacpp/smollm2", *words, "-o", out)
    return out


@pytest.fixture(scope="session")
def ours(evaluation: Path) -> Answers:
    return {
        one["item"]: Answered(one["prompt"], one["reply"], one["right"], one["readable"])
        for one in lines(evaluation / "answers.jsonl")
    }


@pytest.fixture(scope="session")
def harness(program: Program, smollm: str, file: Path) -> Path:
    """Where lm-evaluation-harness wrote its results."""
    folder, out = file.parent / "lm-eval", file.parent / "harness"
    program("-m", "wolflab", "wwqa", "export", file, "--format", "lm-eval", "-o", folder)
    arguments = f"model=smollm2,base_url={smollm}/chat/completions,num_concurrent=1,max_retries=1,timeout=600"
    program(
        *("-m", "lm_eval", "--model", "local-chat-completions", "--apply_chat_template"),
        *("--model_args", arguments, "--include_path", folder, "--tasks", "wwqa"),
        *("--output_path", out, "--log_samples"),
    )
    return out


@pytest.fixture(scope="session")
def inspected(program: Program, file: Path) -> Path:
    """Where Inspect wrote its logs. It takes no absolute path to a task."""
    out = file.parent / "logs"
    program("-m", "wolflab", "wwqa", "export", file, "--format", "inspect", "-o", "inspect")
    program(
        *("-m", "inspect_ai", "eval", "inspect/wwqa.py", "--model", "openai-api/local/smollm2"),
        *("--max-connections", 1, "--log-dir", out, "--log-format", "json", "--display", "plain"),
    )
    return out


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_harness(folder: Path) -> Answers:
    found = {}
    for path in folder.rglob("samples_*.jsonl"):
        for one in lines(path):
            [message] = json.loads(one["arguments"]["gen_args_0"]["arg_0"][0])
            right = one["acc_" + one["doc"]["form"]]
            [[reply]] = one["resps"]
            readable = not one["unreadable"]
            found[one["doc"]["id"]] = Answered(message["content"], reply, bool(right), readable)
    return found


def by_inspect(folder: Path) -> Answers:
    found = {}
    for path in folder.glob("*.json"):
        for one in json.loads(path.read_text(encoding="utf-8"))["samples"]:
            score = one["scores"]["by_reply_parser"]
            [message] = [said for said in one["messages"] if said["role"] != "assistant"]
            reply = one["output"]["choices"][0]["message"]["content"]
            found[one["id"]] = Answered(
                message["content"], reply, score["value"] == "C", score["value"] != "N"
            )
    return found


def differing(one: Answers, other: Answers) -> dict[str, tuple[Answered, Answered]]:
    assert one.keys() == other.keys()
    return {item: (one[item], other[item]) for item in one if one[item] != other[item]}


def test_every_test_question_is_answered(ours: Answers, items: Sequence[Item]) -> None:
    assert ours.keys() == {item.id for item in items if item.split in TEST_SPLITS}
    assert len(ours) >= ITEMS // 3
    assert {item.form for item in items if item.id in ours} == {"yes_no", "choice", "open"}
    assert {one.right for one in ours.values()} == {True, False}


def test_the_harness_agrees_item_by_item(ours: Answers, harness: Path) -> None:
    assert not differing(ours, by_harness(harness))


def test_inspect_agrees_item_by_item(ours: Answers, inspected: Path) -> None:
    assert not differing(ours, by_inspect(inspected))


def test_both_tools_report_what_the_answers_come_to(
    ours: Answers, items: Sequence[Item], harness: Path, inspected: Path
) -> None:
    """Accuracy by row and form; Inspect's standard error over clusters is worked out by hand."""
    told = json.loads(next(harness.rglob("results_*.json")).read_text(encoding="utf-8"))["results"]
    logs = [json.loads(path.read_text(encoding="utf-8")) for path in inspected.glob("*.json")]
    for log in logs:
        task = log["eval"]["task"]
        [score] = log["results"]["scores"]
        inside = [item for item in items if f"wwqa_{item.split}" == task]
        for form in {item.form for item in inside}:
            asked = [item for item in inside if item.form == form]
            right = sum(ours[item.id].right for item in asked) / len(asked)
            assert told[task][f"acc_{form},none"] == pytest.approx(right)
            assert score["metrics"][f"accuracy of {form}"]["value"] == pytest.approx(right)
            off: dict[str, float] = {}
            for item in asked:
                off[item.cluster] = off.get(item.cluster, 0) + ours[item.id].right - right
            k = len(off)
            error = (sum(x * x for x in off.values()) * k / (k - 1)) ** 0.5 / len(asked) if k > 1 else 0
            assert score["metrics"][f"stderr of {form}"]["value"] == pytest.approx(error)
        unread = sum(not ours[item.id].readable for item in inside) / len(inside)
        assert score["metrics"]["unreadable"]["value"] == pytest.approx(unread)
        assert told[task]["unreadable,none"] == pytest.approx(unread)
    assert {log["eval"]["task"] for log in logs} == {f"wwqa_{split}" for split in TEST_SPLITS}


def test_an_evaluation_ends_with_its_page_and_numbers(evaluation: Path, ours: Answers) -> None:
    told = json.loads((evaluation / "results.json").read_text(encoding="utf-8"))
    lines = [line for table in told["tables"] for line in table["lines"] if line["model"]]
    right = [line["scores"]["all"]["accuracy"] for line in lines]
    assert sum(one["value"] * one["n"] for one in right) == pytest.approx(
        sum(one.right for one in ours.values())
    )
    assert sum(one["n"] for one in right) == len(ours)
    assert told["waiting"] == 0
    assert "llamacpp/smollm2" in (evaluation / "report.html").read_text(encoding="utf-8")


def test_an_evaluation_asked_again_asks_nobody(
    evaluation: Path, program: Program, smollm: str, file: Path
) -> None:
    before = (evaluation / "answers.jsonl").read_bytes()
    words = ["--set", f"base_url={smollm}", "--set", "timeout=600", "--set", "max_in_flight=1"]
    program("-m", "wolflab", "wwqa", "eval", file, "--model", "llamacpp/smollm2", *words, "-o", evaluation)
    assert (evaluation / "answers.jsonl").read_bytes() == before


@pytest.mark.parametrize("kinds", [(), ("may-choose", "has-vote")], ids=["all kinds", "no options"])
def test_a_data_set_loads(program: Program, kinds: tuple[str, ...], tmp_path: Path) -> None:
    """Its columns have the same types whatever they hold."""
    items = build_items(SHERIFF, ITEMS, seed=1, kinds=kinds).items
    write_items(tmp_path / "questions.jsonl", items)
    folder = tmp_path / "hf"
    program("-m", "wolflab", "wwqa", "export", tmp_path / "questions.jsonl", "--format", "hf", "-o", folder)
    script = tmp_path / "load.py"
    script.write_text(
        "import datasets, json, sys\n"
        "loaded = datasets.load_dataset(sys.argv[1])\n"
        "rows = {split: list(inside) for split, inside in loaded.items()}\n"
        "print(json.dumps([rows, str(loaded['train'].features)]))\n"
    )
    rows, features = json.loads(program(script, folder).splitlines()[-1])
    assert {split: [row["id"] for row in inside] for split, inside in rows.items()} == {
        split: [item.id for item in items if item.split == split] for split in rows
    }
    assert sum(map(len, rows.values())) == len(items)
    assert "'choices': List(Value('string'))" in features
    assert rows["train"][0] == lines(folder / "train.jsonl")[0]
