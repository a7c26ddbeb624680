"""What a report answers first: the verdict on each estimate, in words that its interval supports."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from metrics_helpers import run
from wolflab.lab.results.extras import Extras
from wolflab.metrics.choices import Choices
from wolflab.metrics.shapes import Contrast, Summary
from wolflab.metrics.summary import summarise
from wolflab.metrics.verdict import VerdictKind, verdict_on
from wolflab.stats.clusters import Spread
from wolflab.stats.intervals import Estimate
from wolflab.ui.report.answer import answer_to
from wolflab.ui.terminal.tables import print_summary

CONDITIONS = {"free": 0.1, "led": 0.7}
SHARES = {"nobody": 0.25, "seat 3": 0.75}


def contrast(
    low: float | None,
    high: float | None,
    p: float | None = 0.01,
    margin: float | None = None,
    p_equivalent: float | None = None,
) -> Contrast:
    value = None if low is None or high is None else (low + high) / 2
    found = Estimate(value, low, high, 40, 0, "deals", deals=40)
    return Contrast("village_win", "b", "a", found, p, p, True, margin, p_equivalent, Spread(0.01, 39))


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (contrast(None, None, None), "unknown"),
        (replace(contrast(0.0, 0.0, p=1.0), spread=None), "same"),
        (contrast(0.12, 0.3, margin=0.1), "larger"),
        (contrast(-0.3, -0.12, margin=0.1), "larger"),
        (contrast(0.05, 0.3, margin=0.1), "different"),
        (contrast(0.05, 0.3), "different"),
        (contrast(0.05, 0.3, p=0.08), "uncertain"),
        (contrast(0.05, 0.3, p=None), "uncertain"),
        (contrast(-0.02, 0.03, p=0.6, margin=0.1, p_equivalent=0.001), "equal"),
        (contrast(-0.2, 0.3, p=0.6, margin=0.1, p_equivalent=0.4), "open"),
        (contrast(-0.02, 0.03, p=0.6), "open"),
    ],
)
def test_each_interval_has_its_verdict(given: Contrast, kind: VerdictKind) -> None:
    assert verdict_on(given).kind == kind


def test_an_open_difference_says_how_many_deals_would_find_it() -> None:
    open_ = verdict_on(contrast(-0.2, 0.3, p=0.6))
    assert open_.needed is not None
    assert open_.effect == 0.1
    narrow = verdict_on(replace(contrast(-0.2, 0.3, p=0.6), spread=Spread(0.004, 39)))
    assert narrow.needed is not None
    assert open_.needed.deals is not None
    assert narrow.needed.deals is not None
    assert narrow.needed.deals < open_.needed.deals


@pytest.fixture(scope="module")
def games() -> Summary:
    every = [one for name, obey in CONDITIONS.items() for one in run(name, 12, obey=obey)]
    return summarise(every, title="Do followers follow?", primary=("dc", "led", "free"))


def test_the_primary_contrast_answers_with_what_it_rests_on(games: Summary) -> None:
    answer = answer_to(games)
    (finding,) = answer.findings
    assert finding.says == "DC: higher in led than in free."
    assert finding.estimate.startswith("led − free: +")
    assert "95 % interval" in finding.estimate
    done = sum(condition.counts.done for condition in games.conditions)
    assert f"{done} finished games" in answer.rests
    assert answer.about.startswith("DC: Share of the N − 1 others")
    assert "No primary contrast" not in answer.about


def test_without_a_primary_contrast_the_first_measure_answers_and_that_is_said(games: Summary) -> None:
    every = [one for name, obey in CONDITIONS.items() for one in run(name, 12, obey=obey)]
    plain = summarise(every, contrasts=["rounds"])
    answer = answer_to(plain)
    assert answer.findings[0].says.startswith("Rounds a game: ")
    assert answer.about.startswith("Rounds a game: ")
    assert "No primary contrast is named" in answer.about


def test_one_condition_is_answered_by_its_values() -> None:
    alone = summarise(run("led", 12, obey=0.7), contrasts=["dc_over_others"])
    first, second = answer_to(alone).findings
    assert first.says.startswith("DC minus DC towards others of led: ")
    assert first.says.endswith(" 0.0 pp, the value without an effect.")
    assert second.says.startswith("Ratio of led: ")


def test_a_run_without_a_finished_game_is_not_answered() -> None:
    nothing = summarise([])
    assert not answer_to(nothing).findings


def test_the_terminal_begins_with_the_answer_and_hides_no_difference(games: Summary) -> None:
    out = io.StringIO()
    print_summary(Console(width=120, file=out), games)
    text = out.getvalue()
    assert text.index("DC: higher in led than in free.") < text.index("Results")
    listed = text.partition("Differences, with their 95 % intervals:")[2]
    assert listed.count("led − free: ") == len(games.contrasts) > 2


def test_an_experiment_on_a_choice_is_answered_by_the_choice() -> None:
    shares = {name: Estimate(share, 0.0, 1.0, 8, 0, "games", 8) for name, share in SHARES.items()}
    extras = Extras(choices=(Choices("seer_vote", "led", shares), Choices("first_kill", "led", shares)))
    (finding,) = answer_to(summarise(run("led", 4, obey=0.7)), extras).findings
    assert finding.says == "Villagers' votes between two self-proclaimed Seers, led: nobody in 25.0 %."
    alone = Extras(choices=(Choices("first_kill", "led", shares),))
    (finding,) = answer_to(summarise(run("led", 4, obey=0.7)), alone).findings
    assert finding.says == "The first kill, led: seat 3 in 75.0 %."
