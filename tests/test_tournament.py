"""Tournaments: everybody meets everybody on the same deals, and stops at barriers alone."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

import http_server
from report_helpers import Page, section
from wolflab import __version__
from wolflab.agents.policy.checkpoint import load_policy, located
from wolflab.cli import app
from wolflab.errors import ExperimentError, ModelError, StoreError
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.tournament_plan import (
    FILE,
    Stop,
    Tournament,
    from_flags,
    load_tournament,
    make_tournament,
)
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.tournament_games import (
    is_tournament,
    plan_of,
    play_tournament,
    progress_of_tournament,
    start_tournament,
    tournament_standings,
)
from wolflab.lab.storage import call_store
from wolflab.lab.storage import store as store_module
from wolflab.lab.storage.call_store import RunStart
from wolflab.lab.storage.store import Store
from wolflab.metrics.published import MatchedRow
from wolflab.metrics.standings import CellGame, Standings, standings
from wolflab.ui.commands.tournament import print_standings
from wolflab.ui.report.tournament_page import standings_page
from wolflab.ui.wording import begun_in_words

TWO: dict[str, Any] = {"name": "t", "entrants": {"a": "random", "b": "random"}, "deals": 4}
PAIRS = tuple(product("ab", "ab"))


def records(path: Path) -> list[tuple[str, int, int, list[bytes]]]:
    with Store.open_for_reading(path) as store:
        rows = sorted(store.games(), key=lambda row: (row.condition, row.deal, row.repeat))
        return [(row.condition, row.deal, row.repeat, store.record(row.id).lines) for row in rows]


def played(path: Path, **changes: Any) -> Standings:
    with start_tournament(path, make_tournament({**TWO, **changes})) as store:
        assert play_tournament(store)
        return tournament_standings(store)


def test_the_page_says_when_what_was_run_and_what_it_took(tmp_path: Path) -> None:
    flags = "tournament --entrant random --entrant vanilla --model village --deals 2 --out"
    told = CliRunner().invoke(app, [*flags.split(), str(tmp_path / "cup")])
    assert told.exit_code == 0, told.output
    page = (tmp_path / "cup/tournament.html").read_text(encoding="utf-8")
    today = datetime.now(UTC).date().isoformat()
    assert f"Begun on {today} with Wolflab {__version__}." in section(page, "who")
    assert "entrants:" in section(page, "tournament")
    assert 'class="tiles"' not in page
    assert "cost" not in told.output
    assert "vanilla vs random" in section(page, "replies")
    assert "Days" not in section(page, "reading")
    assert "main table" not in section(page, "reading")
    extra = json.loads((tmp_path / "cup/tournament.json").read_text(encoding="utf-8"))["extras"]
    assert extra["begun"] == [{"run": "", "wolflab": __version__, "date": today}]


@pytest.mark.parametrize("source", ["own-tournament", "cup.yaml"])
def test_a_tournament_is_not_run_as_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cup.yaml").write_text(yaml.safe_dump(TWO), encoding="utf-8")
    told = CliRunner().invoke(app, ["run", source, "--village", "--out", "r"])
    assert isinstance(told.exception, ExperimentError)
    assert f"wolflab tournament {source}" in str(told.exception)
    assert not Path("r").exists()


def test_what_an_older_run_does_not_say_is_left_out(tmp_path: Path) -> None:
    played(tmp_path / "old")
    with closing(sqlite3.connect(tmp_path / "old/run.sqlite")) as db, db:
        db.execute("DELETE FROM meta WHERE key = 'begun'")
    with Store.open_for_reading(tmp_path / "old") as store:
        assert begun_in_words(store.begun) == f"Begun with Wolflab {__version__}."
    assert begun_in_words(RunStart("r", "", "2026-01-31")) == "r was begun on 2026-01-31."
    assert begun_in_words(RunStart("r", "", "")) == ""


# -- the file -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("village", "other"), [(False, "gpt-4o-mini"), (True, "random")])
def test_a_model_of_ones_own_meets_the_built_in_player_at_its_best(village: bool, other: str) -> None:
    made = load_tournament("own-tournament", village=village)
    assert list(made.entrants) == [other, "built-in"]
    assert (made.entrants["built-in"].model, made.entrants["built-in"].recipe) == ("village", "deductive")


def test_a_model_of_ones_own_as_sheriff_is_compared_with_one_of_the_others() -> None:
    reference = load_experiment("own-sheriff", village=True)
    cast = reference.cast("built-in")
    assert cast["sheriff"] == cast["others"]
    assert reference.contrasts == ["ratio_over_peers", "dc_over_others"]


def test_cells_are_conditions_and_sides_hold_one_entrant_each() -> None:
    made = make_tournament(
        {
            "name": "t",
            "entrants": {
                "plain": "vanilla",
                "deep": {
                    "recipe": {"name": "deductive", "style": "proactive"},
                    "model": {"model": "village", "skill": 0.5},
                },
                "dice": "random",
            },
            "model": "village",
        }
    )
    assert made.pairs == tuple(product(("plain", "deep", "dice"), repeat=2))
    experiment = made.experiment()
    assert list(experiment.conditions) == [f"{a} vs {b}" for a, b in made.pairs]
    cast = experiment.cast("deep vs dice")
    assert set(cast) == {"village", "werewolves"}
    assert cast["village"].model == {"model": "village", "skill": 0.5}
    assert (cast["werewolves"].recipe, cast["werewolves"].model) == ("random", None)
    assert experiment.cast("plain vs deep")["village"].model == "village"
    assert experiment.ruleset("plain vs deep").name == "doctor"


def test_sides_and_mirror() -> None:
    three = {**TWO, "entrants": {"a": "random", "b": "random", "c": "random"}}
    assert make_tournament({**three, "mirror": False}).pairs == tuple(
        p for p in product("abc", "abc") if p[0] != p[1]
    )
    assert make_tournament({**three, "sides": {"werewolves": ["c"]}}).pairs == (
        ("a", "c"),
        ("b", "c"),
        ("c", "c"),
    )
    both = {"village": ["b", "a"], "werewolves": ["c", "a"]}
    assert make_tournament({**three, "sides": both}).pairs == (("b", "c"), ("b", "a"), ("a", "c"), ("a", "a"))


def test_rows_and_columns_stand_in_the_order_of_the_file_where_cells_are_missing(tmp_path: Path) -> None:
    three = {"entrants": {"c": "random", "a": "random", "b": "random"}, "mirror": False, "deals": 1}
    found = played(tmp_path / "r", **three)
    assert found.village == found.werewolves == ("c", "a", "b")
    (tmp_path / "r" / FILE).unlink()
    with Store.open_for_reading(tmp_path / "r") as store:
        assert tournament_standings(store) == found
    sided = played(tmp_path / "s", **three, sides={"village": ["b", "a"], "werewolves": ["b", "c", "a"]})
    assert (sided.village, sided.werewolves) == (("b", "a"), ("b", "c", "a"))
    once = played(tmp_path / "o", **three, sides={"village": ["b"]})
    assert (once.werewolves, once.opponents_differ) == (("c", "a"), False)


def test_it_is_told_where_opponents_differ() -> None:
    games = results(4, lambda *_: True)
    for pairs, told in ((PAIRS, False), (PAIRS[1:3], True)):
        stream = io.StringIO()
        found = standings([one for one in games if one.pair in pairs], pairs)
        print_standings(Console(file=stream, width=300), found)
        page = standings_page(found)
        table = page.tables["tournament-scores-mean-win-rate"]
        for text in (stream.getvalue(), page.html, table.to_latex()):
            assert ("Entrants met different opponents" in text) is told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"entrants": {"a": "random"}}, "a tournament needs two or more, and there is 1"),
        ({"entrants": {}}, "a tournament needs two or more, and there is none"),
        ({"entrants": {"a": "random", "b": "brilliant"}}, "entrants.b: there is no recipe 'brilliant'"),
        ({"entrants": {"a": "random", "b": "vanilla"}}, "entrants.b: a model is missing"),
        ({"entrants": {"a": "random", "b vs c": "random"}}, "'b vs c' cannot be a name"),
        ({"entrants": {"a": "random", "b\nc": "random"}}, "cannot be a name"),
        ({"sides": {"village": []}}, "sides.village: nobody plays this side"),
        ({"sides": {"village": ["a", "z"]}}, "sides.village: there is no entrant 'z'; known are a, b"),
        ({"sides": {"werewolves": ["a", "a"]}}, "sides.werewolves: a is named twice"),
        ({"sides": {"village": ["a"], "werewolves": ["a"]}}, "b would not play at all"),
        ({"sides": {"village": ["a"], "werewolves": ["a"]}, "mirror": False}, "nobody meets anybody"),
        ({"stop": {}}, "use one of width"),
        ({"stop": {"width": 0.1, "decide": ["a", "b"]}}, "use one of width"),
        ({"stop": {"width": 0}}, "stop.width"),
        ({"stop": {"decide": ["a", "a"]}}, "name two different entrants"),
        ({"stop": {"decide": ["a", "z"]}}, "stop.decide: there is no entrant 'z'"),
        (
            {"stop": {"decide": ["a", "b"]}, "sides": {"werewolves": ["a"]}},
            "stop.decide: b does not play the side werewolves",
        ),
        ({"published": ["005-table-1"]}, "there is no table '005-table-1'"),
        ({"rules": "poker"}, "poker"),
        ({"players": {}}, "players: there is no such field"),
        ({"deals": 0}, "deals"),
    ],
)
def test_a_mistake_is_one_sentence(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        make_tournament({**TWO, **change}, where="my.yaml")
    assert words in str(caught.value)
    assert str(caught.value).startswith("my.yaml")
    assert "\n" not in str(caught.value)


def test_files_names_and_overrides(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: t\nentrants:\n  a: random\n  b: random\n  a: vanilla\n")
    with pytest.raises(ExperimentError, match="'a' stands twice in the mapping at line 3"):
        load_tournament(file)
    file.write_text("name: t\nplayers: {others: {recipe: random}}\n")
    with pytest.raises(ExperimentError, match="a tournament is a mapping with entrants"):
        load_tournament(file)
    file.write_text("name: t\nentrants:\n")
    with pytest.raises(ExperimentError, match="entrants is None; use a mapping"):
        load_tournament(file, ["x.model=village"])
    with pytest.raises(ExperimentError, match=r"no file 'nothing\.yaml'"):
        load_tournament("nothing.yaml")
    file.write_text(yaml.safe_dump({**TWO, "village": {"deals": 9, "model": "village"}, "model": "openai/m"}))
    assert load_tournament(file).deals == 4
    assert load_tournament(file, village=True).deals == 9
    changed = load_tournament(file, ["b.recipe=vanilla", "deals=7", "rules.max_rounds=3"])
    assert (changed.deals, changed.entrants["b"].recipe, changed.entrants["b"].model) == (
        7,
        "vanilla",
        "openai/m",
    )
    rules = changed.experiment().ruleset("a vs b")
    assert (rules.name, rules.max_rounds) == ("doctor", 3)
    with pytest.raises(ExperimentError, match="'c' is neither a field of a tournament nor an entrant"):
        load_tournament(file, ["c.recipe=vanilla"])
    file.write_text(
        yaml.safe_dump({**TWO, "entrants": {"a": "random", "b": {"recipe": "vanilla", "model": "openai/m"}}})
    )
    with pytest.raises(ExperimentError, match="with --village everybody is the built-in player"):
        load_tournament(file, village=True)
    with pytest.raises(ExperimentError, match="with --village everybody is the built-in player"):
        make_tournament(from_flags(["a=vanilla@ollama/llama3", "b=vanilla"], None, None, None), village=True)
    flags = from_flags(["vanilla", "cot"], None, None, None)
    assert make_tournament(flags, village=True).experiment().built_in


def test_without_a_key_the_command_that_needs_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = CliRunner().invoke(app, ["tournament", "tournament-components", "--out", "t"])
    assert isinstance(told.exception, ModelError)
    assert "built-in player: wolflab tournament tournament-components --village" in str(told.exception)


def test_flags_are_a_tournament_too() -> None:
    made = make_tournament(from_flags(["vanilla", "x=vanilla@openai/gpt-x", "random"], None, "witch", 3))
    assert made.entrants["vanilla"].model == "village"
    assert made.entrants["x"].model == "openai/gpt-x"
    assert made.entrants["random"].model is None
    assert (made.rules, made.deals) == ("witch", 3)
    policies = make_tournament(
        from_flags(["small", "a=small-atomic@openai/gpt-x"], None, None, None)
    ).entrants
    assert (policies["small"].recipe, policies["small"].policy) == ("strategic-004", "small")
    assert (policies["a"].recipe, policies["a"].policy) == ("atomic-004", "small-atomic")
    assert policies["a"].model == "openai/gpt-x"
    braces = "{model: acme, base_url: 'http://localhost:9101/v1?a=b'}"
    acme = {"model": "acme", "base_url": "http://localhost:9101/v1?a=b"}
    served = make_tournament(
        from_flags([f"a=vanilla@{braces}", f"vanilla@{braces}", "react"], braces, None, 1)
    ).entrants
    assert {name: spec.model for name, spec in served.items()} == {
        "a": acme,
        "vanilla@acme": acme,
        "react": acme,
    }
    for bad, words in (
        (["vanilla", "vanilla"], "vanilla is there already"),
        (["=vanilla"], "write it as"),
        (["vanilla@"], "write it as"),
    ):
        with pytest.raises(ExperimentError, match=words):
            from_flags(bad, None, None, None)


# -- runs ---------------------------------------------------------------------------------------


def test_every_pair_meets_the_same_deals_and_one_player_under_two_names_plays_one_game(
    tmp_path: Path,
) -> None:
    players = {"a": "vanilla", "again": "vanilla", "b": "random"}
    with start_tournament(
        tmp_path / "r", make_tournament({**TWO, "entrants": players, "model": "village"})
    ) as store:
        assert play_tournament(store)
        by_cell: dict[str, list[Any]] = {}
        for row in store.games():
            verify_game(store, row, agents=True)
            record = store.record(row.id)
            by_cell.setdefault(row.condition, []).append((record.header["deal"], record.roles, record.events))
        cards = {cell: [(deal, roles) for deal, roles, _ in games] for cell, games in by_cell.items()}
        assert len(cards) == 9
        assert len({str(one) for one in cards.values()}) == 1
        assert (
            by_cell["a vs a"] == by_cell["a vs again"] == by_cell["again vs a"] == by_cell["again vs again"]
        )
        assert by_cell["a vs b"] != by_cell["a vs a"]
        found = tournament_standings(store)
    names = ("a", "again")
    for one in found.differences:
        if (one.first, one.second) == names:
            assert one.difference.value == 0
    assert found.instrument


def test_a_run_is_an_ordinary_run_and_its_cells_can_be_read_without_its_file(tmp_path: Path) -> None:
    first = played(tmp_path / "r")
    (tmp_path / "r" / "tournament.yaml").unlink()
    with Store.open_for_reading(tmp_path / "r") as store:
        assert plan_of(store).pairs == PAIRS
        assert tournament_standings(store) == first
    plain = build({"name": "p", "players": {"others": {"recipe": "random"}}, "deals": 1})
    with Store.create(tmp_path / "p", plain) as store, pytest.raises(StoreError, match="'all' is no pair"):
        plan_of(store)


STOPS = ({"width": 0.55, "every": 20}, {"decide": ["a", "b"], "part": "village", "every": 15})


@pytest.mark.slow
@pytest.mark.parametrize("stop", STOPS)
def test_a_run_cut_anywhere_and_taken_up_ends_as_an_unbroken_one(
    tmp_path: Path, stop: dict[str, Any]
) -> None:
    players = {"a": "deductive-004", "b": "random"}
    changes = {"entrants": players, "model": "village", "deals": 60, "stop": stop}
    unbroken = played(tmp_path / "whole", **changes)
    assert unbroken.decisions
    assert any(one.stopped for one in unbroken.decisions)
    made = make_tournament({**TWO, **changes})
    cut = 0
    start_tournament(tmp_path / "cut", made).close()
    for wait in (3, 50, 17, 200):
        with Store.resume(tmp_path / "cut") as store:
            whole = store.experiment
            try:
                play_tournament(store, stopping_after(wait))
            except Stopped:
                cut += 1
            assert store.experiment is whole
    with Store.resume(tmp_path / "cut") as store:
        assert play_tournament(store)
        assert tournament_standings(store) == unbroken
    assert cut >= 2
    assert records(tmp_path / "cut") == records(tmp_path / "whole")


class Stopped(Exception):
    """Stands for Ctrl-C."""


def stopping_after(games: int) -> Callable[[runner.Progress], None]:
    left = [games]

    def watch(seen: runner.Progress) -> None:
        if seen.last is not None:
            left[0] -= 1
            if left[0] < 0:
                raise Stopped

    return watch


@pytest.mark.parametrize("cut", ["writer", "make_tables", "load_experiment"])
def test_a_run_that_is_cut_while_it_begins_is_none_or_keeps_its_rule(
    tmp_path: Path, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_tournament({**TWO, "deals": 8, "stop": {"decide": ["a", "b"], "every": 2}})
    with monkeypatch.context() as broken:
        broken.setattr(store_module if cut == "load_experiment" else call_store, cut, raising)
        with pytest.raises(Stopped):
            start_tournament(tmp_path / "r", made)
    with start_tournament(tmp_path / "r", made) as store:
        assert is_tournament(store)
        assert plan_of(store).stop == made.stop
        assert play_tournament(store)
        assert tournament_standings(store) == played(
            tmp_path / "whole", deals=8, stop={"decide": ["a", "b"], "every": 2}
        )


def raising(*_: Any, **__: Any) -> None:
    raise Stopped


def test_the_beginning_of_a_run_is_no_run(tmp_path: Path) -> None:
    path = begun(tmp_path / "r")
    (path / "run.sqlite").write_bytes(b"")  # as a process leaves it that is killed at this moment
    for opened in (Store.resume, Store.open_for_reading):
        with pytest.raises(StoreError, match=r"holds no run yet, .* remove the directory and start"):
            opened(path)


def test_what_a_tournament_left_that_never_began_makes_no_tournament_of_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(call_store, "writer", raising)
        with pytest.raises(Stopped):
            start_tournament(tmp_path / "r", make_tournament(TWO))
    assert (tmp_path / "r" / FILE).exists()
    pairs = {"a vs b": {}, "b vs a": {}}
    experiment = build({"name": "x", "players": {"others": {"recipe": "random"}}, "conditions": pairs})
    with Store.create(tmp_path / "r", experiment) as store:
        assert not is_tournament(store)
        assert plan_of(store).pairs == (("a", "b"), ("b", "a"))


def test_a_run_goes_on_with_the_policy_that_it_began_with(tmp_path: Path) -> None:
    mine = tmp_path / "mine.safetensors"
    shutil.copy(located("small"), mine)
    players = {"a": {"recipe": "strategic-004", "policy": str(mine)}, "b": "random"}
    made = make_tournament({**TWO, "entrants": players, "model": "village"})
    with start_tournament(tmp_path / "r", made) as store, pytest.raises(Stopped):
        play_tournament(store, stopping_after(2))
    shutil.copy(located("small-selfplay"), mine)
    with Store.resume(tmp_path / "r") as store, pytest.raises(Stopped):
        play_tournament(store, stopping_after(1))
    digests = tmp_path / "r" / "policies" / "policy_digests.json"
    (kept,) = (tmp_path / "r" / "policies").glob("mine-*.safetensors")
    assert load_policy(kept).digest == load_policy("small").digest
    for exchange, told in (
        (lambda: shutil.copy(mine, kept), "it is another policy than the one that was written"),
        (lambda: kept.write_bytes(kept.read_bytes()[:-9]), "it cannot be played .* it is damaged"),
        (kept.unlink, "it is missing; copy it back"),
        (lambda: digests.write_text("[]"), r"policy_digests\.json: it is damaged; copy it back"),
        (lambda: (shutil.copy(located("small"), kept), digests.unlink()), "json: it does not tell of mine-"),
    ):
        exchange()
        with Store.resume(tmp_path / "r") as store, pytest.raises(StoreError, match=told):
            play_tournament(store)
        with Store.open_for_reading(tmp_path / "r") as store, pytest.raises(StoreError, match=told):
            verify_game(store, store.games("done")[0], agents=True)
    shutil.copy(located("small"), mine)  # a run that was cut before it wrote the digests
    with Store.resume(tmp_path / "r") as store:
        assert play_tournament(store)
    assert digests.exists()


@pytest.mark.slow
def test_two_workers_decide_as_one_does(tmp_path: Path) -> None:
    changes = {"stop": {"width": 0.5, "every": 25}, "deals": 50}
    one, two = (played(tmp_path / str(n), workers=n, **changes) for n in (1, 2))
    assert one == two
    assert records(tmp_path / "1") == records(tmp_path / "2")


def test_concurrency_decides_nothing(tmp_path: Path) -> None:
    """Over real sockets, games finish in another order at every concurrency; they stop at the same deal."""
    with http_server.running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "timeout": 20}
        changes = {
            "entrants": {"a": {"recipe": "vanilla", "model": model}, "b": "random"},
            "rules": {"preset": "doctor", "max_rounds": 1},
            "deals": 24,
            "sides": {"werewolves": ["b"]},
            "stop": {"width": 0.6, "every": 6},
        }
        one, many = (played(tmp_path / str(n), concurrency=n, **changes) for n in (1, 32))
    assert one == many
    assert any(decision.stopped for decision in one.decisions)
    assert records(tmp_path / "1") == records(tmp_path / "32")


# -- a file that no longer says what the run began with -------------------------------------------

SETTLING = {"decide": ["a", "b"], "every": 2}


def begun(path: Path, **changes: Any) -> Path:
    with start_tournament(path, make_tournament({**TWO, **changes})) as store:
        assert play_tournament(store)
    return path


def rewrite(file: Path, **changes: Any) -> None:
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | changes, sort_keys=False))


@pytest.mark.parametrize(
    ("stop", "changes", "words"),
    [
        (None, {"entrants": {"a": "random", "c": "random"}}, "'a vs b' is a pair only in one of them"),
        (None, {"entrants": {"b": "random", "a": "random"}}, "stand in another order"),
        (None, {"mirror": False}, "'a vs a' is a pair only in one"),
        (None, {"sides": {"village": ["a"]}}, "'b vs a' is a pair only in one"),
        (None, {"deals": 5}, "deals is 5 here and 4 in experiment.yaml"),
        (None, {"repeats": 2}, "repeats is 2 here and 1 in experiment.yaml"),
        (None, {"seed": 2}, "entrants, rules or seed of 'a vs a'"),
        (None, {"rules": "witch"}, "entrants, rules or seed of 'a vs a'"),
        (None, {"entrants": {"a": "random", "b": {"recipe": "vanilla", "model": "village"}}}, "of 'a vs b'"),
        (None, {"stop": SETTLING}, "it began with no stop"),
        (SETTLING, {"stop": {**SETTLING, "every": 1}}, '"every": 2'),
        (SETTLING, {"stop": {**SETTLING, "level": 0.9}}, "the deals of interim analyses cannot change"),
        (SETTLING, {"stop": {"width": 0.5, "every": 2}}, "the deals of interim analyses cannot change"),
        (SETTLING, {"stop": None}, "entrants, rules or seed|the deals of interim analyses cannot change"),
    ],
)
def test_a_file_that_no_longer_fits_is_refused(
    tmp_path: Path, stop: dict[str, Any] | None, changes: dict[str, Any], words: str
) -> None:
    path = begun(tmp_path / "r", **({} if stop is None else {"stop": stop}))
    rewrite(path / FILE, **changes)
    for opened, used in ((Store.open_for_reading, tournament_standings), (Store.resume, play_tournament)):
        with opened(path) as store, pytest.raises(StoreError, match=words) as caught:
            used(store)
        assert str(caught.value).startswith(f"{path / FILE}: ")
        assert "\n" not in str(caught.value)


def test_more_deals_can_be_played_where_nothing_was_looked_at(tmp_path: Path) -> None:
    path = begun(tmp_path / "r")
    for name in (FILE, "experiment.yaml"):
        rewrite(path / name, deals=6)
    with Store.resume(path) as store:
        assert play_tournament(store)
        assert len(store.games("done")) == 4 * 6


def test_more_deals_would_be_other_looks(tmp_path: Path) -> None:
    path = begun(tmp_path / "r", stop=SETTLING)
    for name in (FILE, "experiment.yaml"):
        rewrite(path / name, deals=6)
    with Store.resume(path) as store, pytest.raises(StoreError, match=r'began with \{"deals": 4, '):
        play_tournament(store)


def test_what_only_decides_how_it_is_shown_may_change(tmp_path: Path) -> None:
    vanilla = {"recipe": "react-004", "model": "village"}
    path = begun(tmp_path / "r", entrants={"a": vanilla, "b": "random"}, deals=1)
    # A file of before says what the entrants are called in the table; who plays tells that now.
    rewrite(path / FILE, published=["004-components-early"], called={"b": "Vanilla"})
    with Store.open_for_reading(path) as store:
        (found,) = tournament_standings(store).beside
    assert (found.village, found.werewolves, found.value) == ("a", "a", 0.22)
    assert found.otherwise == "village plays where the source has gpt-3.5-turbo"


def test_a_run_without_its_file_still_knows_where_it_looked(tmp_path: Path) -> None:
    path = begun(tmp_path / "r", stop=SETTLING)
    with Store.open_for_reading(path) as store:
        before = plan_of(store)
        found = tournament_standings(store)
        (path / FILE).unlink()
        assert plan_of(store) == replace(before, werewolves=())  # the order of columns stands in the file
        assert tournament_standings(store) == found
    assert found.level == 0.95


# -- stopping -----------------------------------------------------------------------------------


def results(deals: int, won: Callable[..., bool]) -> list[CellGame]:
    return [
        CellGame(a, b, deal, 0, "village" if won(a, b, deal) else "werewolves")
        for deal in range(deals)
        for a, b in PAIRS
    ]


def by_luck(deals: int, seed: int) -> list[CellGame]:
    luck = random.Random(seed)
    return results(deals, lambda *_: luck.random() < 0.4)


class Row:
    """A game that is over, as far as `progress` looks at it."""

    def __init__(self, one: CellGame) -> None:
        self.condition = f"{one.village} vs {one.werewolves}"
        self.deal, self.repeat, self.over = one.deal, one.repeat, True


def walked(stop: Stop, games: list[CellGame], deals: int = 400) -> Any:
    made = make_tournament({**TWO, "deals": deals, "stop": stop.model_dump(exclude_unset=True)})
    plan = plan_like(made)
    rows: Any = [Row(one) for one in games]
    return progress_of_tournament(plan, stop, made.experiment(), rows, games)


def plan_like(made: Tournament) -> Any:
    from wolflab.lab.runs.tournament_games import TournamentPlan

    return TournamentPlan(made.pairs, made.stop)


def test_decisions_are_taken_at_barriers_on_all_games_up_to_them() -> None:
    """Whatever has been played beyond a barrier, and in whatever order, changes no decision before it."""
    stop = Stop(decide=["a", "b"], part="village", every=40)
    luck = random.Random(3)
    games = results(400, lambda a, b, deal: luck.random() < (0.75 if a == "a" else 0.25))
    ahead = walked(stop, games)
    assert ahead.over
    ended = ahead.deals["a", "a"]
    assert ended % 40 == 0
    assert ended < 400
    exact = walked(stop, [one for one in games if one.deal < ended])
    assert exact == ahead
    shuffled = random.Random(1).sample(games, len(games))
    assert walked(stop, shuffled) == ahead
    one_short = [one for one in games if one.deal < ended][:-1]
    waiting = walked(stop, one_short)
    assert not waiting.over
    assert set(waiting.deals.values()) == {ended}
    assert not waiting.decisions
    assert set(walked(stop, []).deals.values()) == {40}


def test_cells_stop_one_by_one_when_narrow_enough() -> None:
    luck = random.Random(5)
    games = results(400, lambda a, b, deal: luck.random() < (0.01 if a == b == "a" else 0.5))
    found = walked(Stop(width=0.2, every=50), games)
    assert found.over
    assert found.deals["a", "a"] < found.deals["b", "b"] < 400
    assert all(one.stopped for one in found.decisions)
    never = walked(Stop(width=0.01, every=150), games)
    assert set(never.deals.values()) == {400}
    assert not any(one.stopped for one in never.decisions)
    assert "not the 0.01 asked for" in never.decisions[0].what


@pytest.mark.slow
def test_equal_players_are_seldom_told_apart_however_often_one_looks() -> None:
    """60 tournaments of two equal players, looked at 20 times each: at most one in twenty may be settled."""
    stop = Stop(decide=["a", "b"], every=20)
    settled = 0
    for seed in range(60):
        settled += any(one.stopped for one in walked(stop, by_luck(400, seed)).decisions)
    assert settled <= 3


# -- numbers ------------------------------------------------------------------------------------


def by_hand(**more: Any) -> Standings:
    """Four deals: a's village wins on deals 0 and 1, b's on deal 0, whoever the Werewolves are."""
    return standings(results(4, lambda a, b, deal: deal < (2 if a == "a" else 1)), PAIRS, **more)


def test_numbers_by_hand() -> None:
    found = by_hand()
    assert [cell.village_win.value for cell in found.cells] == [0.5, 0.5, 0.25, 0.25]
    scores = {one.name: one for one in found.scores}
    a, b = scores["a"], scores["b"]
    assert a.village is not None
    assert a.werewolves is not None
    assert a.both is not None
    assert b.both is not None
    assert (a.village.value, a.werewolves.value, a.both.value) == (0.5, 0.625, 0.5625)
    assert b.both.value == (0.25 + 0.625) / 2
    assert (a.village.n, a.both.n) == (8, 12)  # the mirror's games are a's on both sides, and counted once
    by_part = {one.part: one.difference for one in found.differences}
    assert by_part["village"].value == pytest.approx(0.25)
    assert by_part["werewolves"].value == pytest.approx(0.0)
    assert by_part["both"].value == pytest.approx(0.125)
    assert by_part["village"].n == 4


def test_games_that_nobody_wins_are_not_won_and_do_not_rate() -> None:
    games = [one._replace(winner=None) if one.deal == 3 else one for one in results(8, lambda *_: True)]
    found = standings(games, PAIRS)
    assert found.cells[0].village_win.value == 7 / 8
    assert found.cells[0].nobody == 1
    assert found.ratings.side is not None
    assert found.ratings.side.n == 28


def test_early_stops_leave_no_interval_that_needs_a_fixed_number() -> None:
    luck = random.Random(2)
    games = results(60, lambda *_: luck.random() < 0.5)
    fixed, anytime = standings(games, PAIRS), standings(games, PAIRS, level=0.95)
    for before, after in zip(fixed.cells, anytime.cells, strict=True):
        assert before.village_win.value == pytest.approx(after.village_win.value)
        assert after.village_win.note.startswith("confidence sequence")
        assert width(after.village_win) > width(before.village_win)
    for row in anytime.ratings.rows:
        assert row.overall is not None
        assert row.overall.value is not None
        assert row.overall.low is None
        assert row.ranks is None
    assert all(one.p is None and width(one.difference) > 0 for one in anytime.differences)
    for loss in (*anytime.prediction.losses, *anytime.prediction.differences):
        assert loss.log_loss.value is not None
        assert (loss.log_loss.low, loss.brier.low) == (None, None)


def width(one: Any) -> float:
    assert one.low is not None
    return float(one.high - one.low)


def test_published_figures_stand_beside_the_cells_that_they_are_of() -> None:
    names = {"a": "Ours", "b": "+ded"}
    pairs = product(names, repeat=2)
    rows = {f"{a} vs {b}": MatchedRow(f"{names[a]} vs {names[b]}") for a, b in pairs}
    found = by_hand(published={"004-components-early": rows})
    beside = {(one.village, one.werewolves): one for one in found.beside}
    assert {pair: one.value for pair, one in beside.items()} == {
        ("a", "a"): 0.30,
        ("a", "b"): 0.39,
        ("b", "a"): 0.23,
        ("b", "b"): 0.29,
    }
    assert all(one.version == "early" for one in found.beside)
    out = io.StringIO()
    print_standings(Console(file=out, width=200), found)
    assert "Beside Xu et al., early version" in out.getvalue()
    for (a, b), value in {pair: one.value for pair, one in beside.items()}.items():
        assert re.search(rf"│ {a} vs {b} +│ +{value:.2f} │", out.getvalue())


# -- what is shown ------------------------------------------------------------------------------


@pytest.mark.drawn
def test_the_page_is_whole_and_marked() -> None:
    luck = random.Random(2)
    games = [
        CellGame({"a": "<i>a", "b": "b"}[one.village], {"a": "<i>a", "b": "b"}[one.werewolves], *one[2:])
        for one in results(30, lambda *_: luck.random() < 0.5)
    ]
    pairs = list(product(("<i>a", "b"), repeat=2))
    alike = {
        "<i>a vs b": MatchedRow("Vanilla vs +ded", "<x> plays"),
        "b vs <i>a": MatchedRow("+ded vs Vanilla"),
    }
    published = {"004-components-early": alike}
    found = standings(games, pairs, title="A & B", instrument=True, missing=2, published=published)
    page = standings_page(found).html
    assert ("As Werewolves" in page, "As werewolves" in page) == (True, False)
    parsed = Page(page)
    assert parsed.open == []
    assert all(link.startswith("#") and link[1:] in parsed.ids for link in parsed.links)
    assert parsed.badges == parsed.tables
    assert len(parsed.svgs) == 2
    assert "<i>a" not in page
    assert "published 0.33" in section(page, "matrix")
    assert "early version" in section(page, "published")
    assert "Left out, because not over yet: 2 planned games" in page
    assert standings_page(found).html == page
    for outside in ("http://", "https://", "<script", "@import"):
        assert outside not in page.replace("http://www.w3.org/", "")


def test_the_terminal_shows_the_matrix_and_what_was_decided() -> None:
    stream = io.StringIO()
    luck = random.Random(2)
    found = standings(results(30, lambda *_: luck.random() < 0.5), PAIRS, title="T", instrument=True)
    print_standings(Console(file=stream, width=120), found)
    shown = stream.getvalue()
    assert "village win rate (instrument check)" in shown
    assert re.search(r"\d+\.\d to \d+\.\d %", shown)
    assert "Instrument check: no language model played." in shown


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call = CliRunner().invoke
    done = call(
        app, ["tournament", "--entrant", "random", "--entrant", "b=random", "--deals", "6", "--out", "r"]
    )
    assert done.exit_code == 0, done.output
    assert "random" in done.output
    assert (tmp_path / "r" / "tournament.html").is_file()
    again = call(app, ["tournament", "--show", "r"])
    assert again.exit_code == 0, again.output
    assert call(app, ["tournament", "--resume", "r"]).exit_code == 0
    assert call(app, ["tournament", "--resume", "r", "--deals", "3"]).exit_code == 2
    with pytest.raises(ExperimentError, match="one of the two"):
        call(app, ["tournament"], catch_exceptions=False)


# -- the page of the documentation --------------------------------------------------------------

DOCS = (Path(__file__).parent.parent / "docs" / "tournament.md").read_text(encoding="utf-8")


def test_every_field_is_explained_and_the_examples_are_tournaments() -> None:
    explained = {
        name
        for line in re.findall(r"^\| (`[^|]*) \|", DOCS, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", line)
    }
    assert explained == set(Tournament.model_fields) | set(Stop.model_fields)
    examples = re.findall(r"^```yml[^\n]*\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL)
    assert examples
    for text in examples:
        made = make_tournament(yaml.safe_load(text))
        assert made.pairs or made.rotations
