"""The pages tell the truth: links lead somewhere, YAML examples can be built, no field goes unmentioned.

Their commands and programs are run by `test_commands.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from metrics_helpers import done, records
from test_architecture import EXCEPTIONS, INNER, PACKAGES
from wolflab.agents.recipes import RECIPES, Deduction, Proposal, Recipe, Reflection
from wolflab.agents.scripts import SCRIPTS
from wolflab.fields import Part
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.sources import read_fields, shipped_files
from wolflab.lab.plans.specs import BudgetSpec
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.studies.study_plan import study_of
from wolflab.lab.training.training_plan import Evaluation, TrainingSpec
from wolflab.match import Draws, Match, everybody, play, run_now
from wolflab.metrics import summarise
from wolflab.models.catalog import resolve
from wolflab.policy.settings import Training
from wolflab.rules import SHERIFF, Voted, pick
from wolflab.text.asking.prompts import STYLES
from wolflab.text.notes import Content
from wolflab.ui.terminal.tables import main_table
from wolflab.usage import CallTotals, Usage

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@dataclass(frozen=True)
class Block:
    """One fenced block: the words of its info string, its text, where it stands."""

    language: str
    words: tuple[str, ...]
    text: str
    where: str

    @property
    def runs(self) -> bool:
        return "run" in self.words

    @property
    def file(self) -> str | None:
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\S+)?([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found[1] or "", tuple(found[2].split()), found[3], f"{name(page)}:{line}")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


ALL = [block for page in PAGES for block in blocks(page)]


def prose(*pages: str) -> str:
    return "\n".join((ROOT / page).read_text(encoding="utf-8") for page in pages)


# -- links ----------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings give, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


def test_pictures_are_light_and_dark_and_small() -> None:
    """Each `<picture>` has both files, each file is shown, and none is larger than the program allows."""
    shown = re.findall(
        r'<picture><source media="([^"]*)" srcset="([^"]+)"><img src="([^"]+)" alt="\w', prose("README.md")
    )
    assert {media for media, _, _ in shown} == {"(prefers-color-scheme: dark)"}
    files = {file for _, *both in shown for file in both}
    assert all(dark == light.replace("-light.", "-dark.") for _, dark, light in shown)
    assert files == {f"docs/pictures/{path.name}" for path in (ROOT / "docs/pictures").iterdir()}
    most = int(re.search(r"^MOST = ([\d_]+)$", prose("docs/pictures.py"), re.MULTILINE)[1])  # type: ignore[index]
    assert all((ROOT / file).stat().st_size <= most for file in files)


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {
        (index.parent / target).resolve()
        for target in re.findall(r"\]\(([^)#\s]+)\)", prose("docs/index.md"))
    }
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - {index} <= linked


def test_paths_named_in_the_pages_exist() -> None:
    """Whatever looks like a file of this repository in backquotes is one."""
    below = [path for top in ("src", "tests", "benchmarks") for path in (ROOT / top).rglob("*")]
    files = [str(path.relative_to(ROOT)) for path in (*ROOT.iterdir(), *below)]
    made_by_runs = {"experiment.yaml", "my-experiment.yaml", "training.yaml", *(one.file for one in ALL)}
    missing = [
        f"{name(page)}: {path}"
        for page in PAGES
        for path in re.findall(r"`([\w./-]+\.(?:py|yaml))`", page.read_text(encoding="utf-8"))
        if path not in made_by_runs and not any(f"/{file}".endswith(f"/{path}") for file in files)
    ]
    assert not missing


# -- examples ------------------------------------------------------------------------------


def test_ten_lines_make_a_player() -> None:
    """As their page says."""
    assert "Ten lines, in a file `my_player.py`:" in prose("docs/agents.md")
    first = next(block for block in blocks(ROOT / "docs/agents.md") if block.file is not None)
    assert "OwnAgent" in first.text
    assert len([line for line in first.text.splitlines() if line.strip()]) <= 10


def test_the_example_agent_does_what_its_page_says() -> None:
    """It votes for whoever voted against it last, and writes down why."""
    source = next(block for block in blocks(ROOT / "docs/agents.md") if block.file == "grudge.py")
    space: dict[str, Any] = {"__name__": "grudge"}
    exec(compile(source.text, "grudge.py", "exec"), space)
    rules = SHERIFF.with_(sheriff="drawn")
    grudges = 0
    for deal in range(10):
        match = Match(rules, everybody(space["Grudge"]()), Draws(f"d{deal}"), Draws(f"p{deal}"), {})
        writer = run_now(play(match)).writer
        assert writer is not None
        record = writer.record(SHERIFF)
        for turn in record.turns:
            if turn.kind == "vote" and turn.notes:
                heard = [event for event in record.events[: turn.at] if isinstance(event, Voted)]
                against = [vote.voter for vote in heard if vote.target == turn.seat != vote.voter]
                assert turn.action == pick(against[-1])
                grudges += 1
    assert grudges > 10


EXAMPLES = [block for block in ALL if block.language == "yaml" and block.file is None]


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.where)
def test_yaml_examples_can_be_built(block: Block) -> None:
    made = "learned/policy.safetensors"  # by a command of the page
    given = yaml.safe_load(block.text.replace(made, "small"))
    if set(given) == {"model"}:
        resolve(given["model"])
        return
    if not {"together", "ids"}.isdisjoint(given):  # of a study
        study_of({**read_fields("strategic-group", "study", "studies")[0], **given}, block.where)
        return
    base = {"name": "example", "players": {"others": {"recipe": "random"}}}
    experiment = build({**base, **given}, where=block.where)
    for condition in experiment.conditions:
        PlayerBuilder(experiment).cast(condition)


# -- nothing goes unmentioned ---------------------------------------------------------------


def rows(page: str, heading: str = "") -> set[str]:
    """What stands in backquotes in the first cell of a page's tables, under one heading or anywhere."""
    text = prose(page)
    if heading:
        text = text.split(f"# {heading}\n", 1)[1].split("\n## ", 1)[0]
    return named_in(text)


def named_in(tables: str) -> set[str]:
    """What stands in backquotes in the first cells."""
    cells = re.findall(r"^\| (`[^|]*) \|", tables, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def test_every_field_of_an_experiment_is_explained() -> None:
    assert rows("docs/experiments.md", "Every field") == set(Experiment.model_fields)
    assert all(f"`{field}`" in prose("docs/experiments.md") for field in BudgetSpec.model_fields)


def test_every_field_of_a_training_is_explained() -> None:
    settings = set()
    for name, field in Training.model_fields.items():
        part = field.annotation
        inner = part.model_fields if isinstance(part, type) and issubclass(part, Part) else None
        settings |= {name} if inner is None else {f"{name}.{one}" for one in inner}
    text = prose("docs/training.md").split("# A training's fields\n", 1)[1].split("\n## ", 1)[0]
    tables = [named_in(f"\n|{part}") for part in f"\n{text}".split("\n\n|")[1:]]
    assert tables == [
        set(TrainingSpec.model_fields),
        {"training.", *settings},
        {"evaluation.", *Evaluation.model_fields},
    ]


def test_every_field_of_a_recipe_is_explained_with_its_default() -> None:
    stages: dict[str, type] = {"deduce": Deduction, "reflect": Reflection, "propose": Proposal}
    defaults = {field.name: field.default for field in fields(Recipe)}
    for name, stage in stages.items():
        defaults |= {f"{name}.{field.name}": field.default for field in fields(stage)}
    assert rows("docs/agents.md", "Recipes") == set(defaults) | set(RECIPES) | {"random", "person"}
    text = prose("docs/agents.md")
    for name, value in defaults.items():
        cells = re.search(rf"^\| `{name}` \| ([^|]*) \|", text, re.MULTILINE)
        assert cells is not None
        if name in ("name", "deduce.attributes", "propose.kinds"):
            continue
        shown = "none" if value is None else f"`{str(value).lower()}`"
        assert cells[1].strip() == shown, name


def test_every_style_and_every_note_is_named() -> None:
    text = prose("docs/agents.md")
    assert all(f"`{style}`" in text for style in STYLES)
    assert {note.__name__ for note in Content.__args__} == rows("docs/agents.md", "Notes")  # type: ignore[attr-defined]


def test_every_script_is_explained() -> None:
    assert rows("docs/policy.md", "Scripts") == set(SCRIPTS)


def test_shipped_experiments_are_listed_and_listed_ones_are_shipped() -> None:
    assert rows("docs/experiments.md", "What is shipped") == set(shipped_files())
    named = {
        word for page in PAGES for word in re.findall(r"\b(helmsman-[\w]+)", page.read_text(encoding="utf-8"))
    }
    assert named <= {*shipped_files(), *shipped_files("studies")}
    assert rows("docs/studies.md", "Who plays what") == {
        *shipped_files("studies"),
        *("deals", "shared", "chosen"),
    }


def test_every_entry_of_the_table_is_explained() -> None:
    calls = {"paid": CallTotals(1, Usage(10, 5, 4, 0.01))}
    played = [done(record, deal, calls=calls) for deal, _, record in records("one", 3, obey=0.5)]
    heads = {str(column.header) for column in main_table(summarise(played), width=400).columns}
    told = rows("docs/quickstart.md", "Run an experiment")
    assert heads == told, f"a headline has a row in the Quickstart's table: {sorted(heads ^ told)}"


def test_the_packages_are_those_that_are_enforced() -> None:
    table = prose("docs/concepts.md").split("## The packages", 1)[1]
    found = re.findall(r"^\| `([\w/]+)/(?:\*\.py)?` \| [^|]* \| ([^|]*) \|", table, re.MULTILINE)
    told = [(package, set(re.findall(r"`([\w/]+)`", imports))) for package, imports in found]
    assert dict(told[: len(PACKAGES)]) == PACKAGES
    assert dict(told[len(PACKAGES) :]) == INNER
    assert set(re.findall(r"^\| `(\w+)` \| `([\w.]+)` \|", table, re.MULTILINE)) == set(EXCEPTIONS)


def test_the_readmes_test_command_is_what_ci_runs() -> None:
    ci = prose(".ci/run")
    assert "pip install '.[dev]' && .venv/bin/pytest -n 2" in prose("README.md")
    assert re.search(r"^pip install .*'\.\[dev\]'$", ci, re.MULTILINE)
    assert re.search(r"^pytest -n 2\b", ci, re.MULTILINE)


def test_every_suite_is_described() -> None:
    text = prose("docs/testing.md")
    patterns = re.findall(r"`(test_[\w*]+\.py)`", text)
    files = [path.name for path in (ROOT / "tests").glob("test_*.py")]
    assert not [file for file in files if not any(fnmatch(file, pattern) for pattern in patterns)]
    assert not [pattern for pattern in patterns if not any(fnmatch(file, pattern) for file in files)]
