"""Every command of the pages and of `--help` runs, and so does every file that ships.

A fenced block with `run` in its info string is executed as it stands; one with `file=NAME` is written first.
All other commands run at tiny size: the lines of the other blocks, and what stands in backquotes and is more
than a command's name. All run in this process, in the order of their page, in one empty folder for each page.
Shipped files are read with the numbers of `SIZES`, and so are numbers in the words; `world` has what a reader
would have; a real model is a server on this machine.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import uvicorn
import yaml
from typer.testing import CliRunner

import command_line
import http_server
from batch_server import BatchServer
from marks import with_slow
from test_benchmarks import TINY, printed
from test_docs import PAGES, ROOT, Block, blocks, name
from tiny_models import tiny_adapter, tiny_base
from wolflab.cli import app
from wolflab.lab.plans import sources
from wolflab.lab.studies.study_plan import BLANK
from wolflab.models.servers import batches
from wolflab.models.servers.providers import PROVIDERS
from wolflab.ui.study.study_server import StudyServer
from wolflab.wwqa.items import Item, write_items

SIZES: Mapping[str, int] = {
    "deals": 1,
    "draws": 1,
    "episodes": 4,
    "epochs": 1,
    "final": 1,
    "games": 1,
    "group": 4,
    "n": 4,
    "repeats": 1,
    "scripts": 1,
    "strength": 1,
    "updates": 1,
    "workers": 1,
}
"""At most so many, wherever a file or a command says how many."""
ALSO: Mapping[str, tuple[str, ...]] = {
    "bench": ("--share", "0.001"),
    "exploit": shlex.split(
        "--updates 1 --episodes 4 --deals 1 --set workers=1 --set training.cloning.episodes=4 "
        "--set evaluation.deals=1"
    ),
    "wwqa build": ("--n", "12"),
    "wwqa finetune": shlex.split("--set questions=4 --set epochs=1 --set look_every=1 --limit 2"),
    "prune": ("--yes",),
    "serve": ("--port", "0"),
    "study": ("--port", "0"),
}
"""What is said to a command beside its own words."""
GRID = ("--seed", "--n", "--about")
"""Options that make a grid where they are repeated."""
NOT_RUN: Mapping[str, str] = {
    "wolflab bench": "test_benchmarks.py runs it whole, and looks at what it prints",
    **dict.fromkeys(
        (
            "wolflab wwqa adapter tuned/adapter -o merged",
            "wolflab wwqa adapter runs/tuned/both-400-seed1/adapter -o merged",
            "wolflab wwqa parity tuned/adapter questions.jsonl --model llamacpp/tuned "
            "--set base_url=http://localhost:8000/v1 --set max_in_flight=1",
            "wolflab wwqa parity runs/tuned/both-400-seed1/adapter sheriff.jsonl --model "
            "llamacpp/smollm2-tuned --set base_url=http://localhost:8001/v1 --set max_in_flight=1 "
            "--rules-text no",
            "wolflab wwqa parity tuned/adapter questions.jsonl --model vllm/tuned",
            "wolflab wwqa parity tuned/adapter questions.jsonl --model vllm/tuned "
            "--set base_url=http://gpu-box:8000/v1",
        ),
        "test_wwqa_adapters.py and test_wwqa_parity.py run both, with a tiny model and the packages it needs",
    ),
    "wolflab run quickstart --engine ray --set workers=2 --out runs/ray": "tests/with_ray runs it",
    "wolflab power runs/pilot --effect 0.1": "it needs five deals; docs/power.md runs it with eight",
    "wolflab power runs/pilot --effect 0.1 --between new,old --assurance 0.9": "test_power.py plans others",
    "wolflab run --resume runs/model --set budget.tokens=9000000": "test_budgets.py goes on with more",
    "wolflab run --resume runs/model --set sheriff.model.max_tokens=512": "test_servers.py does so",
    "wolflab run --resume runs/model --keep-going": "test_first_decisions.py goes on with a run that stopped",
    "wolflab train train-paper": "its embedder is a package of its own, with weights",
    "python docs/pictures.py": "tests/browser/test_documentation.py runs it, where there is a browser",
    "wolflab fork RUN GAME": "it needs a game with a Sheriff; docs/forks.md has one",
    "wolflab models --check": "the flag's name; docs/models.md has the command",
    "wolflab train --from RUN": "it needs a run with exploration; docs/training.md has one",
    "wolflab train --show": "the flag's name; docs/training.md has the command",
    "wolflab verify --agents": "the flag's name; README.md has the command",
}
"""Commands that are not run here, and why. So are the programs of `test_benchmarks.TINY`, which run there."""
SAYS_NO = {"wolflab models --check hf/runs/weights/smollm2": "random weights write nothing of use"}
"""Commands that find here what they look for and end with 1, and why."""
OTHERS = {
    "cd",
    "export",
    "git",
    "inspect",
    "llama-server",
    "lm_eval",
    "mkdocs",
    "mypy",
    "ollama",
    "pip",
    "pytest",
    "python3.11",
    "ruff",
    "scout",
    "tar",
    "vllm",
}
"""First words of the lines that are not ours."""
SLOW = [
    "--help",
    "CHANGELOG.md",
    *(f"docs/{page}.md" for page in ("agents", "ask-again", "experiments", "own-model", "tournament")),
    "docs/policy-on-your-model.md",
    *(f"docs/{page}.md" for page in ("training", "wwqa", "wwqa-audit", "wwqa-eval", "wwqa-finetune")),
    *(name(page) for page in PAGES if page.parent.name == "results"),
]
"""Pages whose commands train and play much; they run with the slow tests."""
EXECUTED = [name(page) for page in PAGES if any(block.runs for block in blocks(page))]
SHIPPED = {one: text for folder in ("", "training") for one, text in sources.shipped_files(folder).items()}


# -- what the pages say ---------------------------------------------------------------------


def lines() -> Iterator[tuple[str, str]]:
    """(page, line) of all in shell blocks that is not executed as it stands, and of bare blocks' commands."""
    for page in PAGES:
        for block in blocks(page):
            text = block.text if block.language == "sh" else ""
            if not block.language:
                text = "\n".join(re.findall(r"^(?:wolflab|python) .*$", block.text, re.MULTILINE))
            if not block.runs:
                yield from ((name(page), part) for line in text.splitlines() for part in line.split(" && "))


def mentions() -> Iterator[tuple[str, str]]:
    """(page, words) of what stands in backquotes and is more than a command's name; all of `--help`'s."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for found in re.findall(r"`((?:[A-Z_]+=\d+ )?(?:wolflab|python) [^`]+)`", text):
            if not re.fullmatch(r"[a-z ]+", found):
                yield name(page), found
    for listed in leaves(typer.main.get_command(app)):
        examples = re.findall(r"`(wolflab [^`]+)`", listed.loaded().epilog)
        assert examples, listed.name
        yield from (("--help", example) for example in examples)


def leaves(command: Any) -> Iterator[Any]:
    """The commands of all groups, as they are listed."""
    for inner in command.commands.values():
        yield from leaves(inner) if hasattr(inner, "commands") else (inner,)


def test_lists_of_commands_say_what_their_own_help_says() -> None:
    for listed in leaves(typer.main.get_command(app)):
        assert listed.help == " ".join(listed.loaded().help.split())


def split(line: str) -> list[str]:
    """The words of a line, the program without the folder that it is in and what is set for it."""
    words = shlex.split(re.sub(r"^([A-Z_]+=\S+ )+", "", line), comments=True)
    return [words[0].rpartition("/")[2], *words[1:]] if words else [""]


@cache
def told() -> dict[str, list[str]]:
    """Page → its commands, each where it stands first; what ships and is on no page comes last."""
    found: dict[str, list[str]] = {}
    for page, line in (*lines(), *mentions()):
        words = split(line)
        command = shlex.join(words)
        if words[0] in ("wolflab", "python") and command not in everything(found):
            found.setdefault(page, []).append(command)
    named = {word for command in everything(found) for word in split(command)}
    found["shipped"] = [run_of(one) for one in SHIPPED if one not in named]
    return found


def everything(found: Mapping[str, list[str]]) -> list[str]:
    """The commands of all pages."""
    return [command for commands in found.values() for command in commands]


def run_of(shipped: str) -> str:
    """The command that runs a shipped file, on the built-in player."""
    if shipped in sources.shipped_files("training"):
        return f"wolflab train {shipped}"
    kind = sources.COMMANDS[sources.shipped_kind(SHIPPED[shipped])]
    return f"wolflab {kind} {shipped} --village"


def test_nothing_on_the_pages_is_passed_over() -> None:
    assert {"docs/quickstart.md", "docs/agents.md"} <= set(EXECUTED)
    assert {split(line)[0] for _, line in lines()} <= OTHERS | {"wolflab", "python", ""}
    assert {*NOT_RUN, *SAYS_NO} <= set(everything(told()))


def test_files_of_examples_are_played() -> None:
    """An experiment that is written to a file is run on its page; `test_docs.py` builds the others."""
    for page in EXECUTED:
        made = [one for one in blocks(ROOT / page) if one.language == "yaml" and one.file is not None]
        words = {word for one in blocks(ROOT / page) if one.runs for word in one.text.split()}
        assert {one.file for one in made} <= words, page


# -- a small world --------------------------------------------------------------------------

EXPLORED = """
name: explored
rules: doctor
players:
  others: {model: village, recipe: {name: diverse, propose: {explore: {share: 0.5}}}}
deals: 30
"""
BASE = """
name: base
rules: witch
players: {others: {model: village, recipe: reflective}}
deals: 2
seed: 3
"""
QUESTIONS = [
    *(
        Item(
            question=f"Does the Guard sleep in night {n}?",
            answer=answer,
            split=split,
            rules="sheriff",
            pair=f"{n}",
        )
        for split in ("train", "situations", "wordings")
        for n in range(3)
        for answer in ("Yes", "No")
    ),
    Item(question="Who wins?", answer="The village wins.", form="open", rules="sheriff"),
    Item(question="Is it so?", answer="No", rules="sheriff"),
]


def wolflab(*words: str, code: int = 0) -> None:
    done = command_line.wolflab(*words)
    assert done.returncode == code, f"wolflab {shlex.join(words)}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def patched() -> Iterator[http_server.FakeServer]:
    """Small files in place of the shipped ones, and one server in place of all."""
    files = {
        "": {one: small(text) for one, text in sources.shipped_files().items()},
        "training": {
            one: small(text) + "workers: 1\n" for one, text in sources.shipped_files("training").items()
        },
        "studies": sources.shipped_files("studies"),
    }
    models = ("gpt-4o-mini", "llama3.1", "llama3.1-tuned", "my-model", "smollm2", "smollm2-tuned")
    with pytest.MonkeyPatch.context() as patch, http_server.running(BatchServer(models=models)) as server:
        patch.setattr(sources, "shipped_files", lambda folder="": files[folder])
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setenv("COLUMNS", "160")
        patch.setattr(batches, "FIRST_POLL", 0.01)
        for one in ("openai", "ollama"):
            row = replace(PROVIDERS[one], base_url=server.base_url)
            patch.setitem(PROVIDERS, one, row)
        yield server


def small(text: str) -> str:
    return yaml.safe_dump(smaller(yaml.safe_load(text)), sort_keys=False)


def smaller(value: Any) -> Any:
    if isinstance(value, list):
        return [smaller(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {
        key: min(inner, SIZES[key]) if key in SIZES and isinstance(inner, int) else smaller(inner)
        for key, inner in value.items()
    }
    return made | {"seeds": [1]} if "seeds" in made else made


@pytest.fixture(scope="module")
def world(patched: http_server.FakeServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a reader has, by the words that stand for it."""
    home = tmp_path_factory.mktemp("world")
    (home / "base.yaml").write_text(BASE, encoding="utf-8")
    run, pool, labels = str(home / "run"), str(home / "a.pool"), str(home / "labels")
    wolflab("run", str(home / "base.yaml"), "--out", run)
    wolflab("run", str(home / "base.yaml"), "--out", run + "2", "--set", "others.model.noise=0.5")
    wolflab("run", str(home / "base.yaml"), "--shard", "1/1", "--out", str(home / "shard"))
    wolflab("experience", "build", run, "-o", pool)
    wolflab("annotate", "sample", run, "-o", labels)
    with (home / "labels" / "items.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for rater in ("anna", "ben"):
        with (home / f"{rater}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(row | {"reasonable": "yes"} for row in rows)
    weights = str(tiny_base(home / "weights", brief=True))
    adapter = str(tiny_adapter(home / "adapter", home / "weights"))
    for file in ("questions", "binary", "rules", "situations"):
        write_items(home / f"{file}.jsonl", QUESTIONS)
    for n, file in ((20, "sheriff.jsonl"), (60, "large.jsonl")):
        wolflab("wwqa", "build", "--n", str(n), "-o", str(home / file))
    wolflab("wwqa", "general", "--n", "20", "-o", str(home / "general.jsonl"))
    asked = home / "questions" / "to_label.jsonl"
    wolflab("wwqa", "generate", "--model", "openai/gpt-4o-mini", "-o", str(asked.parent), "--n", "8")
    wolflab("wwqa", "review", str(asked))
    reviewed = asked.with_name("to_label-review.csv").read_text(encoding="utf-8-sig")
    for rater in ("anna", "ben", "carl"):
        filled = reviewed.replace('"","",""', '"","Yes",""')
        (home / "questions" / f"{rater}.csv").write_text(filled, encoding="utf-8")
    (home / "explored.yaml").write_text(EXPLORED, encoding="utf-8")
    wolflab("run", str(home / "explored.yaml"), "--out", str(home / "explored"))
    wolflab("train", "train-small", "--out", str(home / "trained"))
    wolflab(*shlex.split("tournament --entrant random --entrant vanilla --deals 1 --out"), str(home / "met"))
    draft = sources.shipped_files("studies")["roles"]
    (home / "study.yaml").write_text(draft.replace(BLANK, "told here"), encoding="utf-8")
    StudyServer.open(home / "study", str(home / "study.yaml")).close()
    for table, words in (("left", ""), ("played", "1\n" * 400)):
        seat = [
            "--human",
            "1",
            "--role",
            "Villager",
            "--set",
            "player_1.person=anna",
            "--out",
            str(home / table),
        ]
        assert CliRunner().invoke(app, ["play", *seat], input=words).exit_code == 0
    return {
        "play runs/…": str(home / "left"),
        "erase runs/…": str(home / "played"),
        "study mine.yaml": str(home / "study.yaml"),
        "plan mine.yaml": str(home / "study.yaml"),
        "study runs/roles": str(home / "study"),
        "study runs/mine": str(home / "study"),
        "RUN": run,
        "experiments NAME": "quickstart",
        "RUN…": run,
        "runs/…": run,
        "train runs/…": str(home / "trained"),
        "train runs/small-explored": str(home / "explored"),
        "tournament runs/…": str(home / "met"),
        "runs/first": run,
        "runs/second": run + "2",
        "runs/mine": run + "2",
        "status runs/model": run,
        "shards/*": str(home / "shard"),
        "my-experiment.yaml": "quickstart",
        "my.yaml": "train-small",
        "GAME": "1",
        "…": "1/vote/2",
        "POOL": pool,
        "village.pool": pool,
        "a.pool": pool,
        "b.pool": pool,
        "labels": labels,
        "wwqa to_label.jsonl": str(asked),
        "wwqa questions/to_label.jsonl": str(asked),
        **{f"wwqa {one}.csv": str(asked.with_name(f"{one}.csv")) for one in ("anna", "ben", "carl")},
        "anna.csv": str(home / "anna.csv"),
        "ben.csv": str(home / "ben.csv"),
        "questions.jsonl": str(home / "questions.jsonl"),
        "sheriff.jsonl": str(home / "sheriff.jsonl"),
        "large.jsonl": str(home / "large.jsonl"),
        "one.jsonl": str(home / "large.jsonl"),
        "all.jsonl": str(home / "large.jsonl"),
        "general.jsonl": str(home / "general.jsonl"),
        "binary_qa_raw.json": str(home / "binary.jsonl"),
        "rule_based_qa.csv": str(home / "rules.jsonl"),
        "situation_based_qa.csv": str(home / "situations.jsonl"),
        "tests/wwqa_questions/unseen.json": str(ROOT / "tests/wwqa_questions/unseen.json"),
        "tests/wwqa_questions/known.json": str(ROOT / "tests/wwqa_questions/known.json"),
        "FOLDER": ".",
        "http://gpu-box:8000/v1": patched.base_url,
        "http://localhost:8000/v1": patched.base_url,
        "http://localhost:8001/v1": patched.base_url,
        "smollm2.gguf": weights,
        "hf/runs/weights/smollm2": f"hf/{weights}",
        "hf/runs/tuned/both-400-seed1/adapter": f"hf/{adapter}",
        "hf/runs/one/both-540-seed1/adapter": f"hf/{adapter}",
        "hf/runs/more/both-4000-seed2/adapter": f"hf/{adapter}",
        "foreign/binary_qa_raw.clean.json": str(home / "binary.jsonl"),
        "ask-again runs/recorded": run,
        "HuggingFaceTB/SmolLM2-135M-Instruct": weights,
    }


def worded(command: str, world: Mapping[str, str]) -> list[str]:
    """The words as they are run here."""
    program, kind, *words = shlex.split(command)
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        place, equals, value = word.rpartition("=")
        key = place.rpartition(".")[2] if equals else before.removeprefix("--")
        if key in SIZES and value.isdecimal():
            value = str(min(int(value), SIZES[key]))
        elif before == "--draft" or (before in ("-o", "--out") and word in world):
            value = f"{value}-{at}"  # to be made
        else:
            value = world.get(f"{kind} {value}", world.get(value, value))
        words[at] = f"{place}{equals}{value}"
        words[at] = addressed(words[at], world)
    also = ALSO.get(kind, ALSO.get(shlex.join((kind, *words[:1])), ()))
    return [program, kind, *fewer(words), *also]


def addressed(text: str, world: Mapping[str, str]) -> str:
    """A text with the addresses of the servers here."""
    for address in (one for one in world if one.startswith("http://")):
        text = text.replace(address, world[address])
    return text


def fewer(words: list[str]) -> list[str]:
    """The words without what an option says for the third time, or again: a grid of two by two is one."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        option, value = words[at], words[at + 1] if at + 1 < len(words) else ""
        if option not in GRID:
            kept.append(option)
            at += 1
            continue
        said = [kept[n + 1] for n, word in enumerate(kept) if word == option]
        if value not in said and len(said) < 2:
            kept += [option, value]
        at += 2
    return kept


# -- running --------------------------------------------------------------------------------


def stopped_at_once(run: Any) -> Any:
    """A server that starts, and then stops."""

    def stopped(server: uvicorn.Server, **more: Any) -> None:
        server.should_exit = True
        run(server, **more)

    return stopped


@pytest.mark.parametrize("page", with_slow(sorted({*EXECUTED, *told()}), SLOW))
def test_commands_of_a_page_run(
    page: str, world: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody sits at the table
    monkeypatch.setattr(uvicorn.Server, "run", stopped_at_once(uvicorn.Server.run))
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    for block in blocks(ROOT / page) if (ROOT / page).is_file() else ():
        named = re.search(r"^name: (\S+)$", block.text, re.MULTILINE) if block.language == "yaml" else None
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif named:
            (tmp_path / f"{named[1]}.yaml").write_text(addressed(small(block.text), world), encoding="utf-8")
        if block.runs:
            execute(block)
    for command in told().get(page, ()):
        program, *words = worded(command, world)
        if command in NOT_RUN:
            continue
        if program == "wolflab":
            wolflab(*words, code=int(command in SAYS_NO))
        elif program == "python" and words[0] not in TINY:
            printed(*words)


def execute(block: Block) -> None:
    """Run a block as it stands."""
    assert block.language in ("sh", "python"), block.where
    if block.language == "python":
        assert block.file is not None, f"{block.where}: an example needs file=NAME"
        printed(str(Path(block.file).absolute()))
    else:
        commands = [split(part) for line in block.text.splitlines() for part in line.split(" && ")]
        assert any(words[0] == "wolflab" for words in commands), f"{block.where}: nothing to run"
        for words in commands:
            if words[0] == "wolflab":
                wolflab(*words[1:])


# -- earlier spellings ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "present", "warning"),
    [
        (
            "plan quickstart -o deals=x",
            "plan quickstart --set deals=x",
            "-o deals=x is understood as --set deals=x",
        ),
        (
            "plan quickstart -odeals=x",
            "plan quickstart --set deals=x",
            "-o deals=x is understood as --set deals=x",
        ),
        (
            "ask-again {run} --model village -o temprature=0.5",
            "ask-again {run} --model village --set temprature=0.5",
            "-o temprature=0.5 is understood as --set temprature=0.5",
        ),
        ("play --human 1 --as=Hunter", "play --human 1 --role=Hunter", "--as is now called --role"),
        (
            "export {run} --to data --texts=x",
            "export {run} --format data --texts=x",
            "--to is now called --format",
        ),
        ("export {run} out", "export {run} -o out", "a directory is now named with -o"),
        ("wwqa export no.jsonl --to hf -o x", "wwqa export no.jsonl --format hf -o x", "--to is now called"),
        ("compare {run} no --to x", "compare {run} no --files x", "--to is now called --files"),
    ],
)
def test_an_earlier_spelling_means_the_present_one(
    world: dict[str, str], earlier: str, present: str, warning: str, tmp_path: Path
) -> None:
    told = {
        words: command_line.wolflab(*words.format(run=world["runs/…"]).split(), cwd=tmp_path)
        for words in (earlier, present)
    }
    warned, rest = told[earlier].stderr.split("\n", 1)
    assert warned.startswith(warning)
    assert told[earlier]._replace(stderr=rest) == told[present]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("report runs -o temperature=0.5", "says where to; write a folder"),
        ("run quickstart --out temperature=0.5", "says where to; write a change as --set temperature=0.5"),
        ("run quickstart -o", "requires an argument"),
    ],
)
def test_no_folder_is_made_of_a_change(words: str, why: str, tmp_path: Path) -> None:
    refused = command_line.wolflab(*words.split(), cwd=tmp_path)
    assert refused.returncode == 2
    assert why in " ".join(refused.stderr.split())
    assert not list(tmp_path.iterdir())
