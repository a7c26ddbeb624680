"""What the last candidate adds (004 Table 9): on candidates and vectors made by hand, and in a run."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from metrics_helpers import run as planted_run
from report_helpers import Page, section
from wolflab.agents.recipes import recipe
from wolflab.errors import ExperimentError, ModelError
from wolflab.lab.plans.loading import build
from wolflab.lab.results.extras import Extras, extras_of_all
from wolflab.lab.results.studies import candidates_of, studied
from wolflab.lab.results.summaries import compared
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.metrics import summarise
from wolflab.metrics.diversity import CandidateSet, diversity_rows, offers_of
from wolflab.record import GameRecord, PastTurn
from wolflab.rules import PRESETS, Say, pick
from wolflab.text.notes import Candidate, Proposed
from wolflab.ui.report.report import render_report
from wolflab.ui.terminal.tables import print_summary

DOCTOR = PRESETS["doctor"]


def vectors(**angles: float) -> dict[str, Any]:
    """Unit vectors of the plane, by degrees."""
    return {
        name: np.array([math.cos(math.radians(a)), math.sin(math.radians(a))], np.float32)
        for name, a in angles.items()
    }


def chord(degrees: float) -> float:
    return 2 * math.sin(math.radians(degrees) / 2)


def offer(*texts: str, kind: str = "vote", asked: int = 3) -> CandidateSet:
    return CandidateSet(kind, asked, tuple(texts), tuple(texts))


def test_the_last_is_compared_with_its_nearest() -> None:
    known = vectors(a=0, b=90, c=60)
    found = [offer("a", "b", "c"), offer("a", "c", "b"), offer("b", "a", asked=2), offer("a", "a", asked=2)]
    rows = [diversity_rows("x", [(0, one)], known)[0] for one in found]
    nearest, average = ([getattr(row, name).value for row in rows] for name in ("added", "average"))
    assert nearest == pytest.approx([chord(30), chord(30), chord(90), 0], abs=1e-6)
    means = [(chord(60) + chord(30)) / 2, (chord(90) + chord(30)) / 2, chord(90), 0]
    assert average == pytest.approx(means, abs=1e-6)


def test_rows_by_kind_and_number() -> None:
    known = vectors(a=0, b=90, c=60)
    found = [
        (0, offer("a", "b", "c")),
        (1, offer("a", "b", "c", kind="statement")),
        (2, offer("a", "b", kind="night")),  # a third was not to be had
        (3, offer("a", "b", asked=2)),
    ]
    rows = {(one.asked, one.kind): one for one in diversity_rows("x", found, known)}
    assert set(rows) == {(2, "all"), (2, "vote"), (3, "all"), (3, "night"), (3, "statement"), (3, "vote")}
    every = rows[3, "all"]
    assert every.added.value == pytest.approx(chord(30), abs=1e-6)
    assert (every.added.n, every.came.n) == (2, 3)
    assert every.came.value == pytest.approx(2 / 3)
    assert every.counted.value == pytest.approx(2 / 3 * chord(30), abs=1e-6)
    night = rows[3, "night"]
    assert night.added.value is None
    assert (night.came.value, night.counted.value) == (0, 0)
    assert rows[2, "all"].added.value == pytest.approx(chord(90), abs=1e-6)


def test_intervals_are_over_deals() -> None:
    """Turns of one deal are one deal's, however many."""
    known = vectors(a=0, b=90, c=60)
    found = [(deal, offer("a", "b" if deal % 2 else "c", asked=2)) for deal in range(8) for _ in range(5)]
    every = diversity_rows("x", found, known)[0].added
    assert (every.n, every.deals) == (40, 8)
    assert every.low is not None
    assert every.high is not None
    assert every.low < (chord(90) + chord(60)) / 2 < every.high


def test_what_counts_as_an_offer() -> None:
    def player(source: str, candidates: int) -> dict[str, Any]:
        stage = {"source": source, "candidates": candidates, "choose": "policy"}
        made = recipe("diverse").with_(propose=stage)
        return {"recipe": made.stated()}

    def proposed(ask: str, *texts: tuple[str, str]) -> PastTurn:
        note = Proposed(tuple(Candidate(action, reasoning) for reasoning, action in texts))
        return PastTurn(ask, int(ask[-1]), pick(1), None, 0, [("propose", note)])

    players = [
        player("model", 3),
        player("intents", 3),
        player("model", 1),
        {"recipe": recipe("vanilla").stated()},
    ]
    turns = [
        proposed("1/kill/0", ("It is dangerous.", "kill player_1"), ("", "kill player_2")),
        proposed("1/vote/0", ("So.", "vote for player_1"), ("Else.", "do not vote"), ("So.", "vote for 2")),
        proposed("1/statement/0", ("Why not.", "I am the Seer."), ("Or not.", "I am nobody.")),
        proposed("1/vote/1", ("", "idle"), ("", "target player_1")),
        proposed("1/vote/2", ("", "do not vote")),
        PastTurn("1/statement/3", 3, Say("Hello."), None, 0),
    ]
    found = offers_of(GameRecord({"players": players}, DOCTOR, [], turns, [], [], []), candidates_of)
    assert [(one.kind, one.asked) for one in found] == [("night", 3), ("vote", 3), ("statement", 3)]
    assert found[0].texts == ("It is dangerous. kill player_1", "kill player_2")
    assert found[0].actions == ("kill player_1", "kill player_2")


# -- in a run ---------------------------------------------------------------------------------------

DATA: dict[str, Any] = {
    "name": "d",
    "rules": {"preset": "doctor", "max_rounds": 1},
    "players": {"others": {"model": "village", "recipe": "diverse"}},
    "conditions": {
        "n-2": {"players": {"others": {"recipe": {"name": "diverse", "propose": {"candidates": 2}}}}},
        "n-3": {},
        "plain": {"players": {"others": {"recipe": "deductive-004"}}},
    },
    "deals": 6,
    "redraw_void": False,
    "choices": ["first_kill"],
    "diversity": True,
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store.create(tmp_path_factory.mktemp("diverse") / "r", build(DATA))
    assert runner.play_run(made)
    return made


def test_a_run_tells_how_different_its_candidates_are(store: Store) -> None:
    chosen, found = studied(store)
    rows = {(one.condition, one.kind): one for one in found}
    assert {condition for condition, _ in rows} == {"n-2", "n-3"}
    two, three = rows["n-2", "all"], rows["n-3", "all"]
    assert (two.asked, three.asked) == (2, 3)
    for one in rows.values():
        assert one.added.value is not None
        assert 0 < one.added.value <= 2
        assert one.added.deals == 6
    parts = [rows["n-3", kind].came.n for kind in ("night", "statement", "vote")]
    assert sum(parts) == three.came.n
    assert [one.condition for one in chosen] == ["n-2", "n-3", "plain"]
    assert chosen[0].baseline is None
    assert chosen[1].baseline == "n-2"


def test_runs_side_by_side_keep_their_names(store: Store, tmp_path: Path) -> None:
    with Store.create(tmp_path / "s", build(DATA | {"diversity": False, "choices": []})) as other:
        assert runner.play_run(other)
        assert studied(other) == ((), ())
        found = extras_of_all([store, other], compared([store, other]))
    assert {one.condition for one in found.diversity} == {"r: n-2", "r: n-3"}
    assert [one.baseline for one in found.choices] == [None, "r: n-2", "r: n-2"]


def test_the_page_sets_the_published_figures_beside(store: Store) -> None:
    _, found = studied(store)
    text = render_report(summarise(planted_run("a", 6, obey=0.3)), extras=Extras(diversity=found))
    parsed = Page(text)
    assert parsed.open == []
    assert parsed.badges == parsed.tables
    part = section(text, "diversity")
    assert "N=2, all" in part
    assert "0.35" in part
    assert "0.37" in part
    assert "0.23" not in part.split("Published:")[0]
    assert part.count("<svg") == 1
    assert "Table 9 (early version)" in part
    told = io.StringIO()
    print_summary(Console(width=200, file=told), summarise([]), Extras(diversity=found))
    assert re.search(r"│ N=3, all +│[^\n]*│ +│", told.getvalue())
    assert re.search(r"│ n-3 +│ [^\n]* │ +0\.37 │", told.getvalue())
    assert "N=3, vote" not in told.getvalue()
    assert 'id="diversity"' not in render_report(summarise(planted_run("a", 6, obey=0.3)))


def test_diversity_needs_somebody_who_proposes() -> None:
    plain = {"others": {"model": "village", "recipe": "deductive-004"}}
    with pytest.raises(ExperimentError, match="diversity: nobody proposes several candidates"):
        build({"name": "x", "rules": "doctor", "players": plain, "diversity": True})
    fixed = {"others": {"model": "village", "recipe": "atomic"}}
    with pytest.raises(ExperimentError, match="diversity: nobody proposes several candidates"):
        build({"name": "x", "rules": "doctor", "players": fixed, "diversity": True})


def test_what_its_embedder_lacks_is_said_before_the_first_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the report asks that embedder, so no player would miss it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    player = {"model": "village", "recipe": "diverse", "embedder": "openai/text-embedding-ada-002"}
    with Store.create(tmp_path / "r", build(DATA | {"players": {"others": player}})) as store:
        with pytest.raises(ModelError, match=r"embedder 'openai/text-embedding-ada-002': .*OPENAI_API_KEY"):
            runner.play_run(store)
        assert {row.status for row in store.games()} == {"planned"}
