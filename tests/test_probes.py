"""What players are asked about each of the others: when, by whom answered, and what is counted of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from metrics_helpers import EVERY_OPINION, ONE_DAY, done, game, opinions
from study_helpers import FILE, Arrivals, in_study
from web_helpers import first_choice
from wolflab.errors import ExperimentError
from wolflab.lab.data.rows import DataSource, data_rows
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.game import probes_of
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.match import OpinionProbe
from wolflab.match.probes import BY_NOTE, MOMENTS
from wolflab.metrics import summarise
from wolflab.metrics.rows import game_values, row_of
from wolflab.text.notes import Deduced
from wolflab.text.people import PersonAnswer
from wolflab.text.probes import OPINIONS, PROBES
from wolflab.ui.report.report import report_page
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.refusals import Refused

DATA: dict[str, Any] = {
    "name": "asked",
    "rules": "sheriff",
    "players": {"others": {"model": "village", "recipe": "deductive"}},
    "deals": 3,
    "probes": list(PROBES),
}


def test_every_probe_is_answered_by_a_note_and_has_a_moment() -> None:
    assert set(OPINIONS) == BY_NOTE
    assert {probe.moment for probe in PROBES.values()} == set(MOMENTS)


def test_an_experiment_names_its_probes_and_the_old_field_is_one_of_them() -> None:
    bare = {**DATA, "probes": []}
    assert probes_of(build(bare)) == ()
    assert probes_of(build({**bare, "reliability_probe": True})) == (OpinionProbe(),)
    assert [probe.name for probe in probes_of(build(DATA))] == list(PROBES)
    assert build(bare).identity("all") == build({k: v for k, v in bare.items() if k != "probes"}).identity(
        "all"
    )
    assert build(bare).identity("all") != build(DATA).identity("all")
    with pytest.raises(ExperimentError, match="probes"):
        build({**DATA, "probes": ["mind-reading"]})
    with pytest.raises(ExperimentError, match=r"trust_moved: counted only with probes: \[rate-before"):
        build({**DATA, "probes": ["rate"], "contrasts": ["trust_moved"]})


def test_trust_moves_by_what_was_planted_and_guesses_stand_beside_chance() -> None:
    record = game(opinions, ruleset=ONE_DAY.with_(max_rounds=1), probes=EVERY_OPINION)
    asked = {probe.ask for probe in record.probes}
    assert {f"1/rate-before-sheriff/{seat}" for seat in range(7)} - asked == {"1/rate-before-sheriff/2"}
    assert {f"1/guess-before-speaking/{seat}" for seat in range(7)} <= asked
    values = game_values(row_of(record))
    assert values["trust_moved"] == 2.0
    assert values["trust_moved_others"] == 0.0
    assert values["ratio_before"] == pytest.approx(4 / 5)
    only = [
        probe for probe in EVERY_OPINION if probe.name in ("guess", "guess-before-speaking")
    ]  # all are asked
    values = game_values(row_of(game(opinions, ruleset=ONE_DAY.with_(max_rounds=1), probes=only)))
    villagers, village = record.roles.count("Villager"), [r for r in record.roles if r != "Werewolf"]
    right = sum(villagers - (role == "Villager") for role in village) / (6 * len(village))
    assert values["guesses_right"] == pytest.approx(right)
    chance = 0.0
    for me, role in enumerate(record.roles):
        others = [other for seat, other in enumerate(record.roles) if seat != me]
        chance += sum(others.count(other) / 6 for other in others) * (role != "Werewolf")
    assert values["guesses_by_chance"] == pytest.approx(chance / (6 * len(village)))
    assert values["guesses_above_chance"] == pytest.approx(right - values["guesses_by_chance"])
    page = report_page(summarise([done(record, deal) for deal in range(3)])).html
    assert "Roles guessed, by round" in page
    assert "trust in the Sheriff, moved by its statement" in page


def test_trust_is_not_said_to_move_where_somebody_else_speaks_last() -> None:
    rules = ONE_DAY.with_(max_rounds=1, sheriff="none", speaking_order="ascending")
    values = game_values(row_of(game(opinions, ruleset=rules, probes=EVERY_OPINION)))
    assert "trust_moved" not in values
    assert "guesses_right" in values


def test_the_built_in_player_guesses_above_chance_and_answers_stand_in_the_data(tmp_path: Path) -> None:
    for name, probes in (("run", list(PROBES)), ("bare", [])):
        with Store.create(tmp_path / name, build({**DATA, "probes": probes})) as store:
            assert play_run(store)
    rows = [row for _, row in data_rows(DataSource(tmp_path / "run"), ["judgements"])]
    guesses = [row for row in rows if row["kind"] == "guess"]
    assert {row["kind"] for row in rows} >= set(PROBES)
    assert {row["guess"] for row in guesses} <= {"Werewolf", "Seer", "Guard", "Villager"}
    assert {row["reliability"] for row in guesses} == {None}
    with Store.open_for_reading(tmp_path / "run") as store, Store.open_for_reading(tmp_path / "bare") as bare:
        for row, other in zip(store.games(), bare.games(), strict=True):
            verify_game(store, row, agents=True)
            assert store.record(row.id).lines == bare.record(other.id).lines, "the same game"
        values = [game_values(row_of(store.record(row.id))) for row in store.games()]
    assert sum(one["guesses_above_chance"] for one in values) > 0


def test_people_in_a_study_are_asked_and_what_they_answer_is_counted(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("game/1")
        table = await one.sit()
        (seat,) = table.plan.people
        while table.plan.state == "playing":
            await asyncio.sleep(0.25)
            for asked in table.sessions[seat].shown:
                told = asked.message(table.sessions[seat].kept)
                if told["among"]:
                    wrong = PersonAnswer(guessed=dict.fromkeys(told["rate"], "King"))
                    with pytest.raises(Refused, match="one of the roles in play"):
                        table.give(seat, told["id"], wrong)
                table.give(seat, told["id"], first_choice(table, seat, asked))
        assert "which role" in " ".join(table.plan.declared())

    rules = {"rules": "sheriff", "probes": ["rate-before-sheriff", "rate", "guess"]}
    experiment = {**FILE["experiment"], **rules}
    in_study(tmp_path, work, experiment=experiment, training=False)
    with Store.open_for_reading(tmp_path / "run") as store:
        verify_game(store, store.games()[0], agents=True)
        record = store.record(1)
    seat = next(k for k, player in enumerate(record.header["players"]) if player["recipe"] == "person")
    mine = [turn for turn in record.probes if turn.seat == seat and turn.invalid is None]
    assert {"rate", "guess"} <= {turn.kind for turn in mine}
    first = record.ruleset.cast[0].name
    guessed = [
        belief.role
        for turn in mine
        for _, note in turn.notes
        if isinstance(note, Deduced)
        for belief in note.beliefs
    ]
    assert set(guessed) == {first}
