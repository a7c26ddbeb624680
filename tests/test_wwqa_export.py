"""Questions as other programs take them: the same prompts, the same reading of replies, true cards.

The tools themselves are run in `smollm/`.
"""

from __future__ import annotations

import ast
import json
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, get_args

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from command_line import wolflab
from wolflab.rules import SHERIFF, TWELVE
from wolflab.text.asking.disguise import OPPOSITE, disguised
from wolflab.wwqa.answer_reading import read_answer
from wolflab.wwqa.asking import prompt, rules_in_words
from wolflab.wwqa.building import build_items
from wolflab.wwqa.evaluating import MAX_TOKENS, TEST_SPLITS
from wolflab.wwqa.exporting import ExportTarget, exported
from wolflab.wwqa.items import AnswerType, Item, Split, rules_as_plain, write_items
from wolflab.wwqa.reply_parser import LETTERS

SPLITS: tuple[Split, ...] = get_args(Split)
TARGETS: tuple[ExportTarget, ...] = get_args(ExportTarget)
Function = Callable[..., Any]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small built set, and open questions of all types under names in disguise."""
    path = tmp_path_factory.mktemp("export") / "questions.jsonl"
    write_items(path, [*build_items(SHERIFF, 60, seed=3).items, *every_type()])
    return path


def every_type() -> list[Item]:
    answers: dict[AnswerType, str] = {
        "player": "player_3",
        "players": "player_2, player_5",
        "order": "player_5, player_2",
        "number": "3",
        "side": "the village",
        "role": "Seer",
        "text": "The Sheriff chooses a neighbour.",
    }
    return [
        Item(
            question=f"{kind}, under {rules.name}?",
            answer=disguised(answer, rules),
            form="open",
            answer_type=kind,
            rules=rules_as_plain(rules),
            split="situations",
        )
        for rules in (SHERIFF, TWELVE.with_(role_names=OPPOSITE, name="other names"))
        for kind, answer in answers.items()
    ]


@pytest.fixture(scope="module")
def items(file: Path) -> Sequence[Item]:
    return [msgspec.json.decode(line, type=Item) for line in file.read_bytes().splitlines()]


def rows(made: Mapping[str, bytes], split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made[f"{split}.jsonl"].splitlines()]


def text(made: Mapping[str, bytes], name: str) -> str:
    return made[name].decode("utf-8")


# -- rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("rules_text", [True, False])
def test_what_is_put_is_our_prompt_to_the_byte(
    to: ExportTarget, rules_text: bool, file: Path, items: Sequence[Item]
) -> None:
    made = exported(file, to, rules_text)
    splits = SPLITS if to == "hf" else TEST_SPLITS
    assert {name for name in made if name.endswith(".jsonl")} == {f"{split}.jsonl" for split in splits}
    for split in splits:
        inside = [item for item in items if item.split == split]
        assert [row["id"] for row in rows(made, split)] == [item.id for item in inside]
        for item, row in zip(inside, rows(made, split), strict=True):
            told = prompt(item, rules_text or split == "ruleset")
            assert row["prompt"] == [{"role": "user", "content": told}]
            assert row["answer"] == item.answer
            assert row["cluster"] == item.cluster
            assert item.ruleset is not None
            in_front = told.startswith(rules_in_words(item.ruleset))
            assert in_front == (rules_text or split == "ruleset")


def test_a_completion_is_read_as_right(file: Path, items: Sequence[Item]) -> None:
    made = exported(file, "hf")
    by_id = {item.id: item for item in items}
    forms = Counter[str]()
    for split in SPLITS:
        for row in rows(made, split):
            [said] = row["completion"]
            assert said["role"] == "assistant"
            assert read_answer(by_id[row["id"]], said["content"]).right
            if row["form"] == "choice":
                assert row["choices"][LETTERS.index(said["content"])] == row["answer"]
            forms[row["form"]] += 1
    assert min(forms[form] for form in ("yes_no", "choice", "open")) > 5


def test_the_same_file_gives_the_same_folder(file: Path) -> None:
    for to in TARGETS:
        assert exported(file, to) == exported(file, to)


# -- replies ----------------------------------------------------------------------------------

HOSTILE = (
    "",
    "   \n",
    "Yes",
    "no, never",
    "Yes or No",
    "<think>No</think> Yes",
    "<think>Yes, it is",
    "<|channel|>analysis<|message|>No<|end|><|start|>assistant<|channel|>final<|message|>Yes",
    "<answer>\nYes\n</answer>",
    "**B)**",
    "A and B",
    "I think C",
    "Option b.",
    "player_3",
    "Player 3 or player 4",
    "player_5, then player_2",
    "3",
    "between 2 and 3",
    "-3",
    "nobody",
    "The wolf pack.",
    "the Villagers, not the Werewolves",
    "It is the Seer",
    "\\boxed{3}",
    "answer answer answer answer is",
    "Ｙｅｓ",
    "{" * 500 + "Yes",
    "\u202eseY",
    "\x00No",
)
WORDS = st.sampled_from(
    [
        "Yes",
        "No",
        "A",
        "B)",
        "player_2",
        "player 5",
        "seat 3",
        "two",
        "7",
        "nobody",
        "village",
        "wolves",
        "Seer",
    ]
)
JOINTS = st.sampled_from([" ", ", ", " and ", " or ", "\n", ". ", "**", "<think>", "</think>", " not "])


def reader(made: Mapping[str, bytes], folder: Path) -> Function:
    """The exported parser, run as the tools run it."""
    for name in ("reply_parser.py", "thoughts.py"):
        (folder / name).write_bytes(made[name])
    found: Function = runpy.run_path(str(folder / "reply_parser.py"))["read_reply"]
    return found


def differ(read_reply: Function, row: Mapping[str, Any], item: Item, reply: str) -> bool:
    asked = (row["answer"], row["form"], row["choices"], row["answer_type"], dict(row["words"]))
    return tuple(read_reply(reply, *asked)) != tuple(read_answer(item, reply))


def test_exported_and_own_parser_agree_on_hostile_replies(
    file: Path, items: Sequence[Item], tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = exported(file, "inspect")
    read_reply = reader(made, tmp_path_factory.mktemp("parser"))
    asked = {row["id"]: row for split in TEST_SPLITS for row in rows(made, split)}
    tested = [item for item in items if item.id in asked]
    for item in tested:
        for reply in (*HOSTILE, item.answer, item.question, *item.choices):
            assert not differ(read_reply, asked[item.id], item, reply), (item, reply)

    @given(st.lists(st.tuples(JOINTS, WORDS), max_size=6), st.sampled_from(tested))
    def agree(parts: list[tuple[str, str]], item: Item) -> None:
        assert not differ(read_reply, asked[item.id], item, "".join(joint + word for joint, word in parts))

    agree()


@pytest.mark.parametrize("module", ["wolflab.wwqa.reply_parser", "wolflab.text.replies.thoughts"])
def test_the_parser_goes_out_as_it_stands_and_needs_nothing_but_python(file: Path, module: str) -> None:
    path = Path(sys.modules[module].__file__ or "")
    tree = ast.parse(path.read_bytes())
    modules = [
        *(alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names),
        *(
            node.module or "."
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            if not node.level
        ),
    ]
    assert {name.split(".")[0] for name in modules} <= sys.stdlib_module_names
    for to in ("lm-eval", "inspect"):
        assert exported(file, to)[path.name] == path.read_bytes()


def test_the_exported_parser_runs_without_wolflab(file: Path, tmp_path: Path) -> None:
    made = exported(file, "lm-eval")
    reader(made, tmp_path)
    asks = "import reply_parser as p; print(p.read_reply('<seed:think>No</seed:think>Yes', 'Yes').said)"
    alone = subprocess.run(
        [sys.executable, "-S", "-c", asks], cwd=tmp_path, env={}, capture_output=True, text=True, check=True
    )
    assert alone.stdout.strip() == "Yes"


# -- Hugging Face -----------------------------------------------------------------------------


def card(made: Mapping[str, bytes]) -> tuple[dict[str, Any], str]:
    """Front matter and text."""
    _, front, said = text(made, "README.md").split("---\n", 2)
    return yaml.safe_load(front), said


def test_a_cards_numbers_are_those_of_the_files(file: Path, items: Sequence[Item]) -> None:
    made = exported(file, "hf", built_with="wolflab wwqa build --rules sheriff --n 60 --seed 3")
    front, said = card(made)
    heads, _, *table = (
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in said.splitlines()
        if line.startswith("|")
    )
    told = {cells[0]: dict(zip(heads, cells, strict=True)) for cells in table}
    assert list(told) == [one["split"] for one in front["configs"][0]["data_files"]] == list(SPLITS)
    for split, cells in told.items():
        inside = rows(made, split)
        binary = Counter(row["answer"] for row in inside if row["form"] == "yes_no")
        assert int(cells["questions"]) == len(inside)
        assert (int(cells["Yes"]), int(cells["No"])) == (binary["Yes"], binary["No"])
        for form in ("choice", "open"):
            assert int(cells[form]) == sum(row["form"] == form for row in inside)
        assert int(cells["about rules"]) == sum(row["category"] == "rule" for row in inside)
        assert int(cells["kinds"]) == len({row["kind"] for row in inside})
        assert int(cells["clusters"]) == len({row["cluster"] for row in inside})
    assert f"{len(items):,} questions" in said
    assert sha256(file.read_bytes()).hexdigest() in said
    assert "`wolflab wwqa build --rules sheriff --n 60 --seed 3`" in said
    others = {row["rules"] for row in rows(made, "ruleset")}
    assert f"; {len(others)} other rulesets in the split `ruleset`." in said
    assert "Rules: `sheriff`;" in said
    derived = sum(bool(item.derivation) for item in items)
    assert f"For {derived:,} of the {len(items):,} answers" in said
    assert "$" not in said


def test_a_cards_columns_are_those_of_the_files(file: Path) -> None:
    made = exported(file, "hf")
    front, said = card(made)
    assert front["license"] == "mit"
    features = {one["name"]: one for one in front["dataset_info"]["features"]}
    plain = {"string": str, "int64": (int, type(None))}
    for split in SPLITS:
        for row in rows(made, split):
            assert list(row) == list(features)
            for name, value in row.items():
                kind = features[name]
                assert isinstance(value, list if "list" in kind else plain[kind["dtype"]]), name
    for name in features:
        assert f"`{name}`" in said, name


def test_a_card_says_when_nobody_told_how_the_questions_came_about(file: Path) -> None:
    assert "do not say which command made them" in text(exported(file, "hf"), "README.md")
    assert "a model has to know them" in text(exported(file, "hf", rules_text=False), "README.md")


# -- lm-evaluation-harness ----------------------------------------------------------------------


class Functions(yaml.SafeLoader):
    """Reads `!function module.name` as that name."""


Functions.add_constructor("!function", lambda loader, node: node.value)


def test_tasks_of_the_harness_hold_together(file: Path) -> None:
    made = exported(file, "lm-eval")
    group = yaml.safe_load(made["wwqa.yaml"])
    assert group == {"group": "wwqa", "task": [f"wwqa_{split}" for split in TEST_SPLITS]}
    defined = {node.name for node in ast.parse(made["utils.py"]).body if isinstance(node, ast.FunctionDef)}
    for split in TEST_SPLITS:
        task = yaml.load(made[f"wwqa_{split}.yaml"], Functions)
        assert task["task"] == f"wwqa_{split}"
        assert task["output_type"] == "generate_until"
        assert {task["custom_dataset"], task["process_results"]} == {f"utils.{name}" for name in defined}
        assert task["dataset_kwargs"] == {"row": split}
        wanted = {"do_sample": False, "temperature": 0.0, "max_gen_toks": MAX_TOKENS, "until": []}
        assert task["generation_kwargs"] == wanted
        forms = {row["form"] for row in rows(made, split)}
        assert {one["metric"] for one in task["metric_list"]} == {f"acc_{form}" for form in forms} | {
            "unreadable"
        }
        assert f"`wwqa_{split}` ({len(rows(made, split))})" in text(made, "README.md")


def test_the_harness_scores_replies_as_we_do(
    file: Path, items: Sequence[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder's own functions, without the library that they read with."""
    for name, data in exported(file, "lm-eval").items():
        (tmp_path / name).write_bytes(data)
    library = ModuleType("datasets")
    library.Dataset = SimpleNamespace(from_list=list)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", library)
    utils = runpy.run_path(str(tmp_path / "utils.py"))
    by_id = {item.id: item for item in items}
    for split in TEST_SPLITS:
        for row in utils["questions"](row=split, version=1)["test"]:
            item = by_id[row["id"]]
            for reply in ("", "No", "A", item.answer):
                reading = read_answer(item, reply)
                wanted = {f"acc_{item.form}": reading.right, "unreadable": not reading.readable}
                assert utils["score"](row, [reply]) == wanted


# -- Inspect ----------------------------------------------------------------------------------


def test_inspects_file_has_a_task_for_each_row(file: Path) -> None:
    made = exported(file, "inspect")
    tree = ast.parse(made["wwqa.py"])
    tasks = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(one, ast.Name) and one.id == "task" for one in node.decorator_list)
    ]
    assert tasks == [f"wwqa_{split}" for split in TEST_SPLITS]
    source = text(made, "wwqa.py")
    assert 'stderr(cluster="cluster")' in source
    assert f"max_tokens={MAX_TOKENS}" in source
    assert "$" not in source
    for split in TEST_SPLITS:
        assert f"`wwqa_{split}` ({len(rows(made, split))})" in text(made, "README.md")


# -- what is refused --------------------------------------------------------------------------

GOOD = Item(question="Is it so?", answer="Yes", split="kinds", rules="sheriff")


def item_with(**changes: Any) -> Item:
    return msgspec.structs.replace(GOOD, **changes)


@pytest.mark.parametrize(
    ("items", "words", "sentence"),
    [
        ([], (), "the file is empty"),
        ([item_with(split="")], (), "questions of no split: 1 of 1;"),
        ([GOOD, item_with(question="Or so?", rules="")], (), "do not say which rules they are about: 1,"),
        ([item_with(rules="", split="ruleset")], ("--rules-text", "no"), "do not say which rules"),
        ([GOOD, GOOD], (), "line 2: the same question stands in it before"),
        ([item_with(split="train")], (), "it has no test questions (situations, wordings, kinds, ruleset)"),
        ([item_with(form="choice", choices=("a", "b"), answer="c")], (), "'c'"),
        (
            [item_with(form="choice", choices=tuple(f"day {n}" for n in range(20)), answer="day 19")],
            (),
            "it has 20 choices; give it 2 to 16, no two alike",
        ),
        ([item_with(form="open", answer_type="number", answer="many")], (), "'many'"),
        ([GOOD], ("--rules-text", "both"), "--rules-text: got 'both'; write yes or no"),
        ([GOOD], ("--format", "xml"), "--format: got 'xml'; write hf, lm-eval or inspect"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_sentence(
    items: list[Item], words: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    write_items(tmp_path / "questions.jsonl", items)
    out = tmp_path / "out"
    asked = [
        "wwqa",
        "export",
        str(tmp_path / "questions.jsonl"),
        "--format",
        "lm-eval",
        "-o",
        str(out),
        *words,
    ]
    done = wolflab(*asked)
    assert done.returncode == 2, done.stdout
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not out.exists()


def test_a_folder_in_use_is_left_alone(file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = wolflab("wwqa", "export", str(file), "--format", "hf", "-o", str(tmp_path))
    assert done.returncode == 2
    assert "name a new or an empty folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [
        ('[{"question": "Is it so?", "answer": "Yes"}]', "questions of no split: 1 of 1;"),
        (
            '{"question": "Is it so?", "answer": "No", "split": "kinds"}\n{"question": "Or',
            "line 2: no JSON object",
        ),
        ("PK\x03\x04", "a spreadsheet or a ZIP archive"),
    ],
    ids=["no splits", "broken off", "a spreadsheet"],
)
def test_files_of_others_are_refused(inside: str, sentence: str, tmp_path: Path) -> None:
    """A line that is no question is not left out in silence."""
    (tmp_path / "binary.json").write_text(inside)
    done = wolflab(
        "wwqa", "export", str(tmp_path / "binary.json"), "--format", "hf", "-o", str(tmp_path / "out")
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_command_writes_what_it_says(file: Path, tmp_path: Path) -> None:
    for to in TARGETS:
        out = tmp_path / to
        done = wolflab("wwqa", "export", str(file), "--format", to, "-o", str(out))
        assert done.returncode == 0, done.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == exported(file, to)
        lines = sum(len(path.read_bytes().splitlines()) for path in out.glob("*.jsonl"))
        assert f"{lines:,} questions written to" in done.stdout
