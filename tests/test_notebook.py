"""`wolflab.run` and `wolflab.open_run`, and the example notebook: its outputs are what its execution gives.

WOLFLAB_UPDATE_NOTEBOOK=1 writes the outputs anew.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import wolflab
from command_line import wolflab as command
from wolflab.errors import ExperimentError, ModelError, StoreError
from wolflab.fields import read_yaml
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.overrides import changes_of
from wolflab.lab.plans.tournament_plan import make_tournament
from wolflab.lab.runs.runner import Progress
from wolflab.ui.report.report_page import ReportPage

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
FIELDS: dict[str, Any] = {
    "name": "owls",
    "players": {"others": {"model": "village", "recipe": "deductive"}},
    "deals": 9,
}


def states(run: wolflab.OpenedRun) -> list[Any]:
    return [row["state"] for row in run.games.rows()]


def test_an_experiment_is_a_dict_a_file_or_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = wolflab.run(FIELDS, {"deals": 2}, out=tmp_path / "a")
    assert states(first) == ["done", "done"]
    assert "2 of 2 games are over" in capsys.readouterr().err
    file = tmp_path / "owls.yaml"
    file.write_text(first.experiment.written(), encoding="utf-8")
    second = wolflab.run(file, ["deals=3"], out=tmp_path / "b", progress=False)
    assert states(second) == ["done"] * 3
    assert capsys.readouterr().err == ""
    small = {"deals": 1, "repeats": 1, "workers": 1}
    third = wolflab.run("quickstart", small, out=tmp_path / "c", progress=False)
    assert [row.name for row in third.summary.conditions] == list(third.experiment.conditions)


def test_a_plain_script_plays_with_workers(tmp_path: Path) -> None:
    """Its processes do not run it again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import wolflab\n"
        "print('begun')\n"
        f"run = wolflab.run({FIELDS!r}, {{'deals': 2, 'workers': 2}}, out='played')\n"
        "print([row['state'] for row in run.games.rows()])\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "begun\n['done', 'done']\n"), done.stderr
    assert done.stderr == "0 of 2 games are over\n1 of 2 games are over\n2 of 2 games are over\n"


def test_a_run_goes_by_default_into_a_new_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [wolflab.run(FIELDS, {"deals": 1}, progress=False).path for _ in range(2)]
    assert len(set(paths)) == 2
    assert {path.parent for path in paths} == {Path("runs")}


def test_where_an_event_loop_runs_it_plays_too(tmp_path: Path) -> None:
    async def cell() -> wolflab.OpenedRun:
        return wolflab.run(FIELDS, {"deals": 2}, out=tmp_path / "r", progress=False)

    assert states(asyncio.run(cell())) == ["done", "done"]


@pytest.mark.slow
@pytest.mark.parametrize("looped", [False, True])
def test_what_is_interrupted_stops_and_goes_on(tmp_path: Path, looped: bool) -> None:
    """Ctrl-C while the second game is played: in a notebook it reaches the thread that plays."""
    path = tmp_path / "r"
    code = f"""
import asyncio, os, signal, threading, wolflab
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
def watch(progress):
    if progress.over == 2:
        os.kill(os.getpid(), signal.SIGINT)
def play():
    wolflab.run({FIELDS!r}, {{"deals": 40}}, out={str(path)!r}, progress=watch)
async def cell():
    play()
try:
    asyncio.new_event_loop().run_until_complete(cell()) if {looped} else play()
except KeyboardInterrupt:
    print("interrupted", threading.active_count())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted 1\n", done.stderr
    run = wolflab.open_run(path)
    assert 2 <= states(run).count("done") < 40
    assert states(wolflab.run(resume=path, progress=False)) == ["done"] * 40


def test_progress_is_told_as_asked(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def watch(progress: Progress) -> None:
        seen.append((progress.over, progress.planned))

    before = threading.active_count()  # libraries that earlier tests loaded keep threads of their own
    wolflab.run(FIELDS, {"deals": 2}, out=tmp_path / "r", progress=watch)
    assert seen[-1] == (2, 2)
    assert threading.active_count() == before


def test_what_makes_no_sense_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no .env
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ExperimentError, match="name an experiment, or a run to resume"):
        wolflab.run()
    with pytest.raises(ExperimentError, match="resume takes up a run as it is"):
        wolflab.run(resume=tmp_path, village=True)
    with pytest.raises(ExperimentError, match="'delas'"):
        wolflab.run(FIELDS, {"delas": 2}, out=tmp_path / "r")
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        wolflab.run(FIELDS, {"others.model": "openai/gpt-4o-mini"})
    assert not list(tmp_path.iterdir()), "nothing is begun that cannot be played"
    with pytest.raises(StoreError, match="nothing"):
        wolflab.open_run(tmp_path / "nothing")


def test_values_from_python_are_taken_as_they_are() -> None:
    """No YAML in between, which reads 1e-7 as a text, and a text with a colon as a mapping."""
    texts = ["null", "3", "1e-7", "a: b", "{a: b}", " ", "", "# no", "a\x85b\u2028c", "'", "a\nb"]
    for text in texts:
        made = build(FIELDS, changes_of({"title": text}))
        assert made.title == text
        assert build(read_yaml(made.written())).title == text
    model = {"model": "wolf", "base_url": "http://localhost:1/v1", "temperature": 1e-7}
    made = build(FIELDS, changes_of({"others.model": model, "others.model.price": {"input": 1e-7}}))
    assert made.players["others"].model == {**model, "price": {"input": 1e-7}}
    assert "price" not in model, "what was given is left as it is"
    assert build(FIELDS, changes_of(["deals=3"])).deals == 3
    entrants = {"name": "t", "entrants": {"a": "vanilla", "b": "random"}, "model": "village"}
    changed = make_tournament(entrants, changes_of({"a.recipe": {"name": "vanilla", "retries": 1}}))
    assert changed.experiment().built_in


def test_a_condition_that_a_value_from_python_changes_tells_of_it() -> None:
    plain = {"players": {"others": {"recipe": "vanilla"}}}
    fields = {**FIELDS, "conditions": {"deductive": {}, "plain": plain}}
    made = build(fields, changes_of({"others.recipe": {"name": "vanilla"}}))
    (became, *_) = made.renamed
    assert became.changes == ['others.recipe={"name": "vanilla"}']
    assert build(read_yaml(made.written())) == made


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ("deals=3", r"got 'deals=3'; write a dict .* or a list of texts"),
        (["deals=3", ("deals", 3)], "or a list of texts"),
        ({1: 2}, r"got the place 1; write it as"),
        ({"deals": (1, 2)}, r"override 'deals': got \(1, 2\); use a text, a number"),
        ({"others.model": {"temperature": Path("x")}}, r"override 'others.model': got .*Path.*; use a text"),
        ({"others.model": {1: 2}}, r"got \{1: 2\}; .* with texts as names"),
        ({"deals": float("nan")}, "deals: got nan"),
    ],
)
def test_values_that_no_file_could_hold_are_refused(overrides: Any, sentence: str) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        wolflab.run(FIELDS, overrides)


def test_a_value_that_holds_itself_is_refused() -> None:
    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(ExperimentError, match="override 'contrasts': the value holds itself"):
        wolflab.run(FIELDS, {"contrasts": itself})


def test_the_report_is_the_commands(tmp_path: Path) -> None:
    run = wolflab.run(FIELDS, {"deals": 6}, out=tmp_path / "r", progress=False)
    assert isinstance(run.report, ReportPage)
    assert command("report", str(run.path)).returncode == 0
    assert run.report.html == (run.path / "report.html").read_text(encoding="utf-8")
    page = run.report.save(tmp_path / "page.html")
    assert page.read_text(encoding="utf-8") == run.report.html


def test_a_tournament_has_its_page_too(tmp_path: Path) -> None:
    words = "tournament --entrant random --entrant vanilla --model village --deals 2 --out".split()  # noqa: SIM905
    done = command(*words, str(tmp_path / "r"))
    assert done.returncode == 0, done.stderr
    run = wolflab.open_run(tmp_path / "r")
    report, standings = run.pages
    assert "tournament-matrix-the-village-s-win-rate" in standings.tables
    assert not set(standings.tables) & set(report.tables)
    assert wolflab.run(resume=tmp_path / "r", progress=False).path == tmp_path / "r"


@pytest.mark.slow
def test_a_tournament_is_played_from_python_and_stops_by_its_rule(tmp_path: Path) -> None:
    fields = {
        "name": "t",
        "entrants": {"random": "random", "built-in": {"model": "village", "recipe": "deductive"}},
        "mirror": False,
        "deals": 40,
        "stop": {"width": 0.9, "every": 10},
    }
    run = wolflab.run(fields, {"built-in.recipe": {"name": "deductive"}}, out=tmp_path / "t", progress=False)
    _, standings = run.pages
    assert "tournament-matrix-the-village-s-win-rate" in standings.tables
    played = run.games.pandas().groupby("condition").size()
    assert len(played) == 2
    assert all(played < 40), "each cell stopped at a look"
    again = command("tournament", "--show", str(run.path))
    assert again.returncode == 0, again.stderr
    assert "stopped: " in again.stdout


def test_to_import_wolflab_is_light() -> None:
    code = (
        "import sys, wolflab; print(sorted({n.partition('.')[0] for n in sys.modules} & set(sys.argv[1:])))"
    )
    heavy = ["numpy", "pydantic", "matplotlib", "pyarrow", "pandas", "polars", "msgspec", "rich"]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'opened'"):
        wolflab.opened  # type: ignore[attr-defined]  # noqa: B018


# -- the example --------------------------------------------------------------------------------


def told(cell: Any) -> list[tuple[str, str]]:
    """What a cell shows, by kind. A picture's lines depend on matplotlib, pandas' HTML on pandas."""
    shown = []
    for output in cell.get("outputs", ()):
        data = {"text/plain": output["text"]} if output.output_type == "stream" else output.get("data", {})
        for kind, text in data.items():
            ours = kind == "text/plain" or (kind == "text/html" and 'class="scroll"' in text)
            shown.append((kind, " ".join(text.split()) if ours else ""))
    return sorted(shown)


@pytest.mark.slow
def test_the_notebook_shows_what_its_execution_gives(tmp_path: Path) -> None:
    committed = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(fresh, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell in fresh.cells:
        cell.metadata.clear()  # when it was executed
    fresh.metadata = committed.metadata
    if os.environ.get("WOLFLAB_UPDATE_NOTEBOOK"):
        nbformat.write(fresh, NOTEBOOK)
        return
    for was, now in zip(committed.cells, fresh.cells, strict=True):
        assert told(was) == told(now), was.source
