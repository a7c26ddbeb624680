"""Wordings: prompts in other words that say the same, and their part in the error of a result."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import http_server
from marks import examples, slow_except
from test_disguise import OWN_WORDS
from test_leaks import differing
from test_run import over_http
from test_text_prompts import AIDS, ASKED, LEAD, RECALL, SPEAK, TASKS, VOTE, WAYS, text
from test_verify import settings
from text_helpers import questions
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES
from wolflab.errors import ExperimentError, RulesetError
from wolflab.lab.data.rows import DataSource, data_rows
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.scenes import names
from wolflab.lab.results.summaries import games, summary
from wolflab.lab.runs.forked_run import forked_experiment
from wolflab.lab.runs.game import rules_of
from wolflab.lab.runs.runner import play_run
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.storage.store import Place, Store
from wolflab.match import Draws, Match, Player, play, run_now
from wolflab.metrics.summary import summarise
from wolflab.models.catalog import resolve
from wolflab.rules import PRESETS, ROLES, WORDINGS, Ruleset
from wolflab.stats.clusters import ClusteredSums, Floats
from wolflab.stats.components import error_components
from wolflab.stats.intervals import WordedEstimate, quotient
from wolflab.text.asking.disguise import DISGUISES, disguised
from wolflab.text.asking.rewording import phrasings, reworded
from wolflab.text.asking.rules_text import rules_text
from wolflab.text.asking.templates import template_texts
from wolflab.text.digest import question_digest
from wolflab.text.intents import Intent
from wolflab.text.questions import Decide, Question, Task, Wording
from wolflab.text.replies.echo import is_echo
from wolflab.ui.report.report import report_page

FACTS = re.compile(
    r"\$\w+|\b\d+|\"[a-z]+\":|\b(?:two|three|four|five|six|seven)\b|"
    rf"\b(?:{'|'.join(role for card in ROLES.values() for role in (card.name, card.plural))}|Sheriff|JSON)\b"
)
"""What a prompt says of the game, but for players: roles, numbers, and the fields of its form."""
FIRST = 20
"""Wordings that are tried with every question."""
EVERY_TASK: list[Task] = [
    *TASKS.values(),
    Decide(VOTE),
    Decide(SPEAK),
    Decide(LEAD),
    Decide(SPEAK, AIDS),
    Decide(VOTE, plan="I had better wait."),
    Decide(SPEAK, intent=Intent("claim", role="Seer")),
]


def worded(question: Question, number: int) -> Question:
    now = question.situation
    return replace(question, situation=replace(now, ruleset=now.ruleset.with_(wording=number)))


def said(of: str, names: Sequence[str]) -> tuple[Counter[str], set[str]]:
    """Facts with their numbers, and players. (A form shows one of them as an example.)"""
    return Counter(FACTS.findall(of)), {name for name in names if re.search(rf"\b{name}\b", of)}


def test_phrasings_have_the_same_facts_and_stand_somewhere() -> None:
    """A phrasing must not lose a placeholder or a role, and none is for a sentence that no prompt has."""
    there = "\n".join(
        [*template_texts(), *(rules_text(r, w) for r in PRESETS.values() for w in get_args(Wording))]
    )
    for written, known in phrasings().items():
        assert written in there
        assert len({*known}) == len(known) > 1
        quoted = {tuple(sorted(re.findall(r'"[^"]*"', phrasing))) for phrasing in known}
        facts = [Counter(re.findall(r"\$\w+|\d+|Werewol\w+|Sheriff|JSON", phrasing)) for phrasing in known]
        assert len(quoted) == 1
        assert all(fact == facts[0] for fact in facts), written


@pytest.mark.parametrize("task", EVERY_TASK, ids=lambda task: type(task).__name__)
@pytest.mark.parametrize(("wording", "layout"), WAYS + RECALL)
def test_every_wording_says_the_same_in_words_of_its_own(task: Task, wording: Any, layout: Any) -> None:
    asked = replace(ASKED, task=task, wording=wording, layout=layout)
    forms = ("judgement", "action", "statement", "candidates", "choice") if layout == "shared" else ()
    asked = replace(asked, forms=forms)  # type: ignore[arg-type]
    names = asked.situation.ruleset.names
    texts = [text(worded(asked, number)) for number in range(FIRST)]
    assert texts[0] == text(asked)
    assert len({*texts}) == FIRST
    lines = {tuple(sorted(re.findall(r"^\[.*", one, re.MULTILINE))) for one in texts}
    assert len(lines) == 1
    for one in texts[1:]:
        assert said(one, names) == said(texts[0], names)


@pytest.mark.parametrize("name", PRESETS)
def test_all_wordings_differ(name: str) -> None:
    for wording in get_args(Wording):
        told = {rules_text(PRESETS[name].with_(wording=number), wording) for number in range(WORDINGS)}
        assert len(told) == WORDINGS


def test_a_form_that_is_repeated_is_an_echo_in_every_wording() -> None:
    for number in range(WORDINGS):
        assert is_echo(reworded("your private reasoning, which no other player will see", number))
    assert not is_echo("my private reasoning")


@examples(40)
@given(questions(), st.integers(1, WORDINGS - 1))
def test_a_wording_changes_the_words_and_the_digest_alone(asked: Question, number: int) -> None:
    other = worded(asked, number)
    names = asked.situation.ruleset.names
    assert text(asked) != text(other)
    assert said(text(asked), names) == said(text(other), names)
    assert question_digest(asked) != question_digest(other)
    assert question_digest(asked) == question_digest(worded(asked, 0))


@pytest.mark.parametrize("name", ["unrelated", "invented"])
def test_roles_are_hidden_in_every_wording(name: str) -> None:
    for number in range(WORDINGS):
        rules = PRESETS["witch"].with_(role_names=DISGUISES[name], wording=number)
        told = disguised("\n".join(rules_text(rules, wording) for wording in get_args(Wording)), rules)
        assert not OWN_WORDS.search(told)


@pytest.mark.parametrize("recipe", ["deductive", "reflective"])
def test_no_wording_tells_what_a_seat_may_not_know(recipe: str) -> None:
    """An order must not depend on roles or on anything else that is hidden."""
    compared, different = differing(PRESETS["witch"].with_(wording=3), RECIPES[recipe], range(1))
    assert compared >= 5
    assert different == 0


# -- a run in several wordings ------------------------------------------------------------------------


WORDED: dict[str, Any] = {
    "name": "t",
    "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "deductive"}},
    "wordings": 5,
    "deals": 6,
    "straw_polls": 1,
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wordings") / "r"
    arms = {"base": {}, "silent": {"fork": {"games_of": "base", "change": "silent", "continuations": 2}}}
    with Store.create(path, build({**WORDED, "conditions": arms})) as store:
        assert play_run(store)
    return path


def test_each_deal_is_played_in_every_wording_and_its_header_says_so(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        base = [row for row in store.games() if row.condition == "base"]
        headers = {(row.deal, row.repeat): store.record(row.id).header["ruleset"] for row in base}
        assert store.experiment.repeats == 5
    for deal in range(6):
        assert sorted(headers[deal, repeat].get("wording", 0) for repeat in range(5)) == [0, 1, 2, 3, 4]
    by_wording = {
        header.get("wording", 0): header.get("player_name", "player_{}") for header in headers.values()
    }
    assert by_wording[0] == "player_{}"
    assert len({*by_wording.values()}) > 3
    single = {headers[place].get("wording", 0) for place in headers if place[0] >= 6}
    assert len(single) > 1  # games in the place of void ones


def test_wording_0_is_the_game_of_an_experiment_without_wordings(played: Path, tmp_path: Path) -> None:
    plain = {name: value for name, value in WORDED.items() if name != "wordings"}
    with Store.create(tmp_path / "r", build(plain | {"conditions": {"base": {}}, "repeats": 5})) as store:
        assert play_run(store)
        lines = {(row.deal, row.repeat): store.record(row.id).lines for row in store.games()}
    with Store.open_for_reading(played) as store:
        for row in store.games():
            if row.condition == "base" and row.deal < 6:
                same = store.record(row.id).lines == lines[row.deal, row.repeat]
                assert same == ((row.deal + row.repeat) % 5 == 0)


def test_a_run_over_http_verifies_in_its_wordings_and_in_no_others(tmp_path: Path) -> None:
    with http_server.running() as server:
        data = over_http(server, deals=1, wordings=3, redraw_void=False)
        with Store.create(tmp_path / "r", build(data)) as store:
            assert play_run(store)
            assert verify_run(store, True).holds
            sent = {
                row.id: "".join(
                    text for call in store.calls_with_prompts(row.id) for _, text in call["messages"]
                )
                for row in store.games()
            }
            called = {row.id: rules_of(store.experiment, Place.of(row)).names for row in store.games()}
    for game, told in sent.items():
        assert all(name in told for name in called[game])
    settings(tmp_path / "r", wordings=1)
    with Store.open_for_reading(tmp_path / "r") as store:
        found = verify_run(store, False)
    assert found.bad == 2
    assert any("is not the one that the run began with" in fault for fault in found.faults)


def test_a_fork_has_the_wording_of_its_parent(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        forks = [row for row in store.games() if row.condition == "silent"]
        assert forks
        for row in forks:
            parent = store.parent(Place.of(row))
            assert parent is not None
            assert store.record(row.id).ruleset == store.record(parent.id).ruleset
        tables = data_rows(DataSource(played), ["games"])
        told = {made["game"]: made["wording"] for _, made in tables}
        assert all(told[row.id] == store.record(row.id).ruleset.wording for row in store.games())


def test_a_game_of_a_wording_is_forked_into_a_run_of_its_own(played: Path, tmp_path: Path) -> None:
    with Store.open_for_reading(played) as store:
        row = next(row for row in store.games("done") if store.record(row.id).ruleset.wording == 2)
        made = forked_experiment(store, row, {"change": "silent"})
        assert rules_of(made, Place.of(row)) == store.record(row.id).ruleset


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wordings": 0}, "wordings: got 0; use 1 or more"),
        ({"repeats": 7}, "7 repeats cannot be shared evenly by 5 wordings"),
        ({"rules": "sheriff", "conditions": {"a": {"rules": {"wording": 2}}}}, "leave out one of the two"),
        (
            {"players": {"others": {"model": "village"}, "player_1": {"recipe": "person"}}},
            "a person plays here",
        ),
        ({"wordings": 101}, "wordings"),
        ({"rules": {"preset": "sheriff", "wording": 100}}, "use 0 to 99"),
    ],
)
def test_what_wordings_cannot_be_is_a_sentence(changes: dict[str, Any], words: str) -> None:
    with pytest.raises((ExperimentError, RulesetError), match=words):
        build(WORDED | changes)


def test_names_of_players_follow_where_rules_scenes_and_places_name_them() -> None:
    named = {"preset": "sheriff", "never_sheriff": ["player_1"], "stops_without": "player_1"}
    made = build(WORDED | {"rules": named, "watched": "player_2"})
    for deal in range(5):
        rules = made.worded_ruleset("all", deal, 0)
        assert rules.never_sheriff == (rules.names[0],)
        assert rules.stops_without == rules.names[0]
    kept = build(WORDED | {"rules": {"preset": "sheriff", "player_name": "Agent {}"}})
    assert {kept.worded_ruleset("all", deal, 0).player_name for deal in range(5)} == {"Agent {}"}


NAMES = names()


@pytest.mark.parametrize("name", slow_except(NAMES[::15], NAMES))
def test_the_built_in_player_plays_alike_whatever_players_are_called(name: str) -> None:
    """So it has no variance between wordings, and all names are read right."""
    village = Player(LanguageAgent(RECIPES["deductive"]), resolve("village"))

    def game(rules: Ruleset) -> list[str]:
        match = Match(rules, lambda _: [village] * rules.players, Draws("1"), Draws("1/0"), {})
        told = [repr(event) for event in run_now(play(match)).log.events]
        for seat, called in enumerate(rules.names):
            told = [re.sub(rf"(?<!\w){called}(?!\w)", f"<{seat}>", one) for one in told]
        return told

    base = PRESETS["witch"].with_(max_rounds=3)
    assert game(base.with_(player_name=name, wording=7)) == game(base)


# -- the error of a result ----------------------------------------------------------------------------


def cells(
    rng: np.random.Generator, deals: int, wordings: int, spread: Sequence[float], missing: float
) -> Floats:
    """(deals × wordings × (sum, count)) with known standard deviations of deals, wordings and the rest."""
    of_deals, of_wordings, rest = spread
    values = (
        2.0
        + of_deals * rng.normal(size=(deals, 1))
        + of_wordings * rng.normal(size=(1, wordings))
        + rest * rng.normal(size=(deals, wordings))
    )
    there = (rng.random((deals, wordings)) >= missing).astype(np.float64)
    return np.stack([values * there, there], axis=-1)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("spread", [(1.0, 1.0, 1.0), (0.5, 0.0, 1.0), (0.8, 0.6, 1.0)])
def test_components_of_error_are_those_that_were_put_in(
    spread: tuple[float, float, float], missing: float
) -> None:
    rng = np.random.default_rng(7)
    found, covered = [], 0
    for _ in range(400):
        linear = ClusteredSums.of(cells(rng, 12, 6, spread, missing)).linearised(quotient)
        assert linear is not None
        parts = error_components(linear)
        assert parts is not None
        found.append((parts.between_deals, parts.between_draws, parts.rest))
        covered += parts.draws_low <= spread[1] ** 2 <= parts.draws_high
    assert np.mean(found, axis=0) == pytest.approx([one**2 for one in spread], rel=0.15, abs=0.06)
    assert covered / 400 > 0.92


def test_more_wordings_help_where_wordings_make_the_error_and_more_deals_do_not() -> None:
    linear = ClusteredSums.of(cells(np.random.default_rng(1), 40, 5, (0.1, 1.0, 0.1), 0)).linearised(quotient)
    assert linear is not None
    parts = error_components(linear)
    assert parts is not None
    assert parts.share_of_draws is not None
    assert parts.share_of_draws > 0.95
    assert parts.error(draws=2) == pytest.approx(parts.error() / math.sqrt(2), rel=0.02)
    assert parts.error(deals=2) == pytest.approx(parts.error(), rel=0.02)


def test_the_report_says_where_the_error_comes_from(played: Path) -> None:
    with Store.open_for_reading(played) as store:
        found = summary(store)
    base = found.conditions[0]
    assert isinstance(base.measures["rounds"], WordedEstimate)
    assert base.measures["rounds"].draws == 5
    page = report_page(found)
    assert "Where the error comes from: base" in page.html
    assert "5 wordings" in page.html
    parts = found.as_dict()["conditions"][0]["components"]["rounds"]
    assert parts["draws"] == 5
    few = [replace(game, wording=game.wording % 4) for game in games_of(played)]
    noted = summarise(few).conditions[0].measures["rounds"]
    assert noted.draws == 0
    assert "fewer than 5 wordings" in noted.note


def games_of(path: Path) -> list[Any]:
    with Store.open_for_reading(path) as store:
        return list(games(store))
