"""Planning: the deals that a comparison needs, and registrations of plans."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from marks import slow_except
from wolflab.cli import app
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.registration import Registration, read_registration
from wolflab.lab.results.planning import comparison_plan
from wolflab.lab.storage.store import Store
from wolflab.stats.clusters import Spread
from wolflab.stats.power import LEAST_DEALS, deals_needed, power_of

EFFECT = 0.5
"""In standard deviations of a deal: 34 deals have a power of 80 %."""


def test_power_is_that_of_published_tables() -> None:
    """Cohen 1988, table 2.3 and its text: d = 0.5, one sample of 34, two-sided 5 %: 80.8 %; without effect 5
    %.
    """
    assert power_of(34, 33, 0.5) == pytest.approx(0.808, abs=0.0005)
    assert power_of(34, 33, 0.0) == pytest.approx(0.05)
    assert power_of(10, 9, 40.0) == 1.0


def test_power_agrees_with_simulated_studies() -> None:
    rng = np.random.default_rng(2)
    studies = rng.normal(0.7, 1, (20_000, 15))
    t = studies.mean(axis=1) / (studies.std(axis=1, ddof=1) / 15**0.5)
    assert np.mean(np.abs(t) > 2.1448) == pytest.approx(power_of(15, 14, 0.7), abs=0.01)


def test_a_known_deviation_needs_as_many_deals_as_tables_say() -> None:
    many = 1_000_000
    plan = deals_needed(Spread(4.0 / many, many - 1), many, 2 * EFFECT)
    assert (plan.deals, plan.low, plan.high) == (34, 34, 34)
    assert plan.deviation == pytest.approx(2)
    assert deals_needed(Spread(1 / many, many - 1), many, 1e-4).deals is None
    assert deals_needed(Spread(1 / many, many - 1), many, 0.01).deals == pytest.approx(78_489, rel=0.001)
    assert deals_needed(Spread(1 / many, many - 1), many, 10.0).deals == LEAST_DEALS


@pytest.mark.parametrize(
    ("pilot", "assurance", "least", "most"),
    slow_except(
        [(30, 0.6, 0.77, 0.83)],
        [(10, 0.6, 0.77, 0.83), (30, 0.6, 0.77, 0.83), (67, 0.6, 0.77, 0.83), (30, 0.8, 0.84, 0.9)],
    ),
)
def test_plans_from_pilots_reach_the_power_on_average(
    pilot: int, assurance: float, least: float, most: float
) -> None:
    """200 simulated pilots; and the forecast's interval contains the true number of deals."""
    rng = np.random.default_rng(pilot)
    reached, held = [], 0
    for _ in range(200):
        variance = float(rng.normal(0, 1, pilot).var(ddof=1))
        plan = deals_needed(Spread(variance / pilot, pilot - 1), pilot, EFFECT, assurance=assurance)
        assert plan.deals is not None
        assert plan.low is not None
        assert plan.high is not None
        reached.append(power_of(plan.deals, plan.deals - 1, EFFECT))
        held += plan.low <= 34 <= plan.high
    assert least <= np.mean(reached) <= most
    assert held >= 170


# -- the commands -------------------------------------------------------------------------------------------

PLAN: dict[str, Any] = {
    "name": "pilot",
    "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 1},
    "players": {"others": {"model": {"model": "village", "heed_sheriff": False}, "recipe": "deductive"}},
    "conditions": {
        "never": {},
        "often": {
            "players": {
                "others": {"model": {"model": "village", "heed_sheriff": False, "follow_sheriff": 0.5}}
            }
        },
    },
    "deals": 8,
    "straw_polls": 1,
    "primary": {"measure": "dc", "between": ["often", "never"]},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan, its registration and the run of it."""
    folder = tmp_path_factory.mktemp("planned")
    (folder / "plan.yaml").write_text(build(PLAN).written())
    command("register", folder / "plan.yaml", "--out", folder / "registered.yaml")
    command(
        *("run", folder / "plan.yaml", "--registration", folder / "registered.yaml"),
        *("--out", folder / "run"),
    )
    return folder


def command(*words: object, fails: bool = False) -> str:
    found = CliRunner().invoke(app, [str(word) for word in words])
    if fails:
        assert found.exit_code != 0
        return str(found.exception or found.output)
    assert found.exit_code == 0, found.output
    return " ".join(found.output.split())


def test_a_pilot_plans_the_primary_contrast(home: Path) -> None:
    said = command("power", home / "run", "--effect", "0.1")
    with Store.open_for_reading(home / "run") as store:
        plan = comparison_plan([store], 0.1, 0.8, 0.6)
        surer = comparison_plan([store], 0.1, 0.8, 0.9, "votes_changed", ("never", "often"))
    assert plan.contrast.primary
    assert plan.needed.deals is not None
    assert f"{plan.needed.deals:,} deals find a difference of 10.0 pp with power 80 %" in said
    assert "DC: often − never = +" in said
    assert "played by the built-in player" in said
    assert plan.needed.planned > plan.needed.deviation
    assert (surer.contrast.metric, surer.contrast.condition) == ("votes_changed", "never")
    assert surer.needed.planned > surer.needed.deviation


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--effect", "0"], "--effect: got 0; use a finite number above 0"),
        (["--effect", "0.1", "--measure", "rati"], "--measure: there is no measure"),
        (["--effect", "0.1", "--between", "never"], "name two conditions with a comma between them"),
        (["--effect", "0.1", "--between", "never,else"], "--between: there is no condition 'else'"),
    ],
)
def test_what_cannot_be_planned_is_said(home: Path, words: list[str], sentence: str) -> None:
    assert sentence in command("power", home / "run", *words, fails=True)


def test_without_a_primary_contrast_it_must_be_named(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(build({**PLAN, "primary": None, "deals": 2}).written())
    command("run", tmp_path / "plan.yaml", "--out", tmp_path / "run")
    assert "conditions are never, often" in command("power", tmp_path / "run", "--effect", "0.1", fails=True)
    few = command(
        *("power", tmp_path / "run", "--effect", "0.1", "--measure", "dc", "--between", "often,never"),
        fails=True,
    )
    assert "fewer than 5 deals" in few
    assert "names no primary contrast" in command("register", tmp_path / "plan.yaml", fails=True)


def test_runs_with_the_same_primary_contrast_are_one_pilot(tmp_path: Path) -> None:
    """Eight deals of one run and eight others are the sixteen of a larger run."""
    later = {name: {**arm, "first_deal": 8} for name, arm in PLAN["conditions"].items()}
    plans: dict[str, Any] = {
        "few": {},
        "more": {"conditions": later},
        "all": {"deals": 16},
        "other": {"seed": 2},
    }
    runs = [tmp_path / name for name in plans]
    for path, changes in zip(runs, plans.values(), strict=True):
        (tmp_path / "plan.yaml").write_text(build({**PLAN, "redraw_void": False, **changes}).written())
        command("run", tmp_path / "plan.yaml", "--out", path)
    few, more, whole, other = runs
    said = command("power", few, more, "--effect", "0.1")
    assert said == command("power", whole, "--effect", "0.1")
    assert said != command("power", few, "--effect", "0.1")
    twice = command("power", whole, more, "--effect", "0.1", fails=True)
    assert "both have deal 9, repeat 0 of never" in twice
    assert "is not the one of" in command("power", whole, other, "--effect", "0.1", fails=True)


def test_a_registration_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("format: [")
    (tmp_path / "plan.yaml").write_text(build(PLAN).written())
    words = "run", tmp_path / "plan.yaml", "--registration", tmp_path / "broken.yaml"
    assert f"{tmp_path / 'broken.yaml'}: not YAML" in command(*words, fails=True)


def test_a_run_keeps_to_its_registration_and_the_report_says_so(home: Path) -> None:
    made = read_registration(home / "registered.yaml")
    assert (home / "run" / "registration.yaml").read_bytes() == (home / "registered.yaml").read_bytes()
    assert made.primary == {"measure": "dc", "between": ["often", "never"]}
    assert list(made.deviations(build(PLAN))) == []
    said = command("report", home / "run")
    assert f"Registered at {made.registered}; the run keeps to it." in said
    assert f"Registered at {made.registered}; the run keeps to it." in (home / "run/report.html").read_text()


@pytest.mark.parametrize(
    ("change", "deviation"),
    [
        ("deals=9", "condition never: deals 8 was registered, and it is 9"),
        (
            "seed=4",
            "condition never: other rules, players, seed, strata or probes decide its games",
        ),
        ("primary.measure=ratio", "primary.measure: 'dc' was registered, and it is 'ratio'"),
        ("redraw_void=false", "void_games: 'replaced' was registered, and it is 'left out'"),
        ("margins={dc: 0.1}", "margins"),
    ],
)
def test_another_plan_is_not_begun_under_a_registration(home: Path, change: str, deviation: str) -> None:
    words = ("run", home / "plan.yaml", "--set", change, "--registration", home / "registered.yaml")
    said = command(*words, "--out", home / "never", fails=True)
    assert "registers another plan" in said
    assert deviation in said
    assert not (home / "never").exists()


def test_what_changes_later_is_listed(home: Path) -> None:
    words = ("run", home / "plan.yaml", "--registration", home / "registered.yaml")
    command(*words, "--out", home / "longer")
    said = command("run", "--resume", home / "longer", "--set", "deals=9")
    assert "the run departs from it: condition never: deals 8 was registered, and it is 9" in said


def test_a_registration_that_was_edited_or_removed_in_the_run_is_noticed(home: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(home / "run", run)
    file = run / "registration.yaml"
    file.write_text(file.read_text().replace("deals: 8", "deals: 9"))
    assert "registration.yaml was changed or removed after the run began" in command("report", run)
    file.unlink()
    assert "registration.yaml was changed or removed after the run began" in command("report", run)


def test_the_command_that_registers_says_how_to_run_it(tmp_path: Path) -> None:
    said = command("register", "quickstart", "--set", "deals=2", "--out", tmp_path / "r.yaml")
    assert "wolflab run quickstart --set deals=2 --registration" in said


def test_a_registration_is_never_written_over(home: Path) -> None:
    said = command("register", home / "plan.yaml", "--out", home / "registered.yaml", fails=True)
    assert "a registration is not written over" in said


def test_a_condition_that_is_added_or_left_out_is_a_deviation() -> None:
    made = Registration.of(build(PLAN))
    more = build(PLAN | {"conditions": PLAN["conditions"] | {"third": {"rules": {"max_rounds": 2}}}})
    assert list(made.deviations(more)) == ["condition third: it was not registered"]
    assert list(Registration.of(more).deviations(build(PLAN))) == [
        "condition third: it was registered, and is not played"
    ]


@pytest.mark.parametrize("text", ["", "- 1", "format: other", "format: wolflab registration 1"])
def test_another_file_is_no_registration(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ExperimentError, match="it is no registration of Wolflab"):
        read_registration(tmp_path / "x.yaml")
