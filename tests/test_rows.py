"""Rows: what a game contributes is counted once, kept small, and the same however it is come by."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import pytest

from marks import with_slow
from metrics_helpers import game as scripted
from metrics_helpers import records
from wolflab.errors import RecordError, StoreError
from wolflab.lab.plans.loading import build
from wolflab.lab.results.summaries import games, summary
from wolflab.lab.runs import counting, game_workers, runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.packing import pack
from wolflab.lab.storage.store import Store, StoredRow
from wolflab.metrics import Estimate, MeasuringOptions, rows
from wolflab.metrics.registry import MEASURES, SPLITS
from wolflab.metrics.tally import MeasureTally
from wolflab.record import GameRecord, read_record
from wolflab.rules import SHERIFF, Action, Ask, Say, View, pick

GOLDEN = Path(__file__).with_name("counted_rows.txt")
SAID = (
    "I am a Villager and I trust player_3.",
    "I suspect player_1. Let us vote for player_1.",
    "I am the Seer. I checked player_1 last night: player_1 is a Werewolf.",
    "I trust player_2, and I agree with player_3 that player_1 is a Werewolf.",
    "I heard a noise last night.",
)
LARGEST = 1500
"""Bytes of a row."""
VILLAGE = {"model": "village", "recipe": "deductive"}
EVERYTHING: dict[str, Any] = {
    "behaviours": True,
    "straw_polls": 2,
    "choices": ["first_kill", "first_save", "seer_vote"],
    "watched": "player_3",
}
RULES = {
    "sheriff": {"preset": "sheriff", "sheriff": "drawn", "deaths": "simultaneous"},
    "witch": "witch",
    "doctor": "doctor",
}


def played(path: Path, **changes: Any) -> Store:
    data = {"name": "r", "rules": RULES["sheriff"], "players": {"others": VILLAGE}, "deals": 3, **changes}
    store = Store.create(path, build(data))
    assert runner.play_run(store)
    return store


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which everything is counted that can be."""
    path = tmp_path_factory.mktemp("rows") / "r"
    changes = {"expert": {}, "random": {"players": {"werewolves": {"model": None, "recipe": "random"}}}}
    played(path, conditions=changes, **EVERYTHING).close()
    return path


def change(path: Path, words: str) -> None:
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        db.execute(words)


def copy(path: Path, to: Path) -> Path:
    to.mkdir()
    for name in ("experiment.yaml", "run.sqlite"):
        (to / name).write_bytes((path / name).read_bytes())
    return to


def numbers(path: Path) -> dict[str, Any]:
    with Store.open_for_reading(path) as store:
        return summary(store).as_dict()


# -- from play and from the record --------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["random", "vanilla", "deductive", "reflective", "strategic"])
@pytest.mark.parametrize("rules", with_slow(RULES, ["sheriff"]))
def test_the_row_of_a_game_as_played_is_that_of_its_record(tmp_path: Path, rules: str, recipe: str) -> None:
    player = {"recipe": recipe} if recipe == "random" else {"model": "village", "recipe": recipe}
    asked = EVERYTHING | {"watched": "Player 3" if rules == "witch" else "player_3"}
    with played(tmp_path / "r", rules=RULES[rules], players={"others": player}, deals=1, **asked) as store:
        for game in store.games():
            kept = store.stored_row(game.id)
            assert kept is not None
            calls = store.game_totals(game.id)
            assert (
                counting.row_from_record(store.experiment, game.condition, store.record(game.id), calls)
                == kept
            )
            assert 100 < len(kept.data) <= LARGEST


def test_a_record_from_its_writer_is_the_one_read_from_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events, turns, probes and lines, field by field."""
    seen = 0
    whole = counting.finished

    def compare(experiment: Any, condition: str, played: Any, *rest: Any) -> Any:
        nonlocal seen
        seen += 1
        writer = played.writer
        ours = writer.record(played.log.ruleset)
        theirs = read_record(writer.game.lines, writer.probes.lines)
        assert [getattr(ours, one.name) for one in fields(ours)] == [
            getattr(theirs, one.name) for one in fields(theirs)
        ]
        return whole(experiment, condition, played, *rest)

    monkeypatch.setattr(game_workers, "finished", compare)
    data = {
        "name": "r",
        "rules": "witch",
        "players": {"others": {"model": "village", "recipe": "reflective"}},
        "deals": 2,
        "workers": 1,
        "interview": True,
    }
    with Store.create(tmp_path / "r", build(data)) as store:
        assert runner.play_run(store)
    assert seen == 2


def test_what_a_row_says_survives_as_bytes(run: Path) -> None:
    with Store.open_for_reading(run) as store:
        for game in store.games("done"):
            row = counting.decode_row(store.stored_row(game.id).data)  # type: ignore[union-attr]
            calls = store.game_totals(game.id)
            asked = counting.measuring_options(store.experiment, game.condition)
            whole = rows.row_of(store.record(game.id), asked, calls)
            assert (row.sums, row.groups, row.players, row.ratio_null) == (
                whole.sums,
                whole.groups,
                whole.players,
                whole.ratio_null,
            )
            assert row.choices == whole.choices
            assert {n: dict(part) for n, part in row.parts.items()} == {
                n: dict(part) for n, part in whole.parts.items()
            }


# -- what is counted -------------------------------------------------------------------------------------


def test_a_measure_that_is_counted_otherwise_raises_the_count() -> None:
    """The sums of every measure in games by script, as a file to read. Kept rows are counted again when
    `COUNTED` is raised, and only then; WOLFLAB_UPDATE_GOLDEN=1 writes the file anew.
    """
    asked = MeasuringOptions(behaviours=True, watched=2)
    effects = {"obey": 0.4, "wise": 0.5, "noise": 0.3, "bad": 0.1}
    played = [record for _, _, record in records("golden", 5, rounds=2, **effects)]
    played += [record for _, _, record in records("asked", 1, rounds=2, asked=True, **effects)]
    totals: dict[str, Any] = {}
    for number, row in enumerate(rows.row_of(record, asked) for record in [*played, talk()]):
        for name in MEASURES:
            totals.setdefault(name, []).append(_short(row.sums_of(name)))
        for place, (name, _) in enumerate(SPLITS.items()):
            for key, sums in row.parts.get(place, ()):
                part = f"{name} {' '.join(map(str, key))}"
                totals.setdefault(part, {})[number] = None if sums is None else _short(sums)
    assert set(MEASURES) <= set(totals)
    assert set(SPLITS) <= {name.split(" ", 1)[0] for name in totals}
    lines = [f"{name}: {json.dumps(values)}" for name, values in totals.items()]
    text = "\n".join((f"COUNTED = {rows.COUNTED}", *lines)) + "\n"
    before = GOLDEN.read_text(encoding="utf-8")
    if before != text and before.startswith(f"COUNTED = {rows.COUNTED}\n"):
        kept = set(before.splitlines())
        others = [line.split(":", 1)[0] for line in lines if line not in kept]
        known = {line.split(":", 1)[0] for line in kept}
        changed = [name for name in others if name in known]
        assert not changed, f"counted otherwise: {changed}; raise COUNTED in metrics/rows.py"
    if os.environ.get("WOLFLAB_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    same = GOLDEN.read_text(encoding="utf-8") == text
    assert same, "new or removed measures: WOLFLAB_UPDATE_GOLDEN=1 pytest tests/test_rows.py"


def _short(sums: Sequence[float | None]) -> list[float | None]:
    return [one if one is None else round(one, 6) for one in sums]


def talk() -> GameRecord:
    """A game in which people say something."""

    def script(view: View, ask: Ask, io: Any) -> Action | None:
        if ask.kind == "statement":
            return Say(SAID[ask.seat % len(SAID)])
        if ask.kind == "vote":
            return pick(
                (ask.seat + 1) % 7 if (ask.seat + 1) % 7 in view.facts.living else view.facts.living[0]
            )
        return None

    return scripted(script, ruleset=SHERIFF.with_(sheriff="none", speaking_order="ascending", max_rounds=2))


# -- kept, and counted again -----------------------------------------------------------------------------


def test_rows_that_are_missing_or_of_another_version_are_counted_again_and_kept(
    run: Path, tmp_path: Path
) -> None:
    before = numbers(run)
    path = copy(run, tmp_path / "copy")
    change(path, "DELETE FROM rows WHERE game < 3")
    change(path, "UPDATE rows SET version = 'older', data = x'00' WHERE game = 3")
    assert numbers(path) == before
    with Store.open_for_reading(run) as one, Store.open_for_reading(path) as other:
        games = [row.id for row in one.games() if row.over]
        assert all(one.version(game) for game in games)
        assert all(other.stored_row(game) == one.stored_row(game) for game in games)


def test_a_row_that_cannot_be_read_is_counted_again(run: Path, tmp_path: Path) -> None:
    path = copy(run, tmp_path / "copy")
    change(path, "UPDATE rows SET data = x'0102' WHERE game = 2")
    assert numbers(path) == numbers(run)


def test_a_row_of_another_width_is_counted_again(run: Path, tmp_path: Path) -> None:
    path = copy(run, tmp_path / "copy")
    with Store.open_for_reading(path) as store:
        kept = store.stored_row(2)
        assert kept is not None
        row = rows.decode_row(kept.data)
    short = rows.encode_row(msgspec.structs.replace(row, sums=row.sums[:20]))
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        db.execute("UPDATE rows SET data = ? WHERE game = 2", (short,))
    assert numbers(path) == numbers(run)


def test_a_record_that_is_missing_is_said(run: Path, tmp_path: Path) -> None:
    path = copy(run, tmp_path / "copy")
    change(path, "DELETE FROM records WHERE game = 3")
    assert numbers(path) == numbers(run)
    change(path, "DELETE FROM rows")
    with pytest.raises(StoreError, match=r"game 3: its record is missing from run.sqlite; copy the run back"):
        numbers(path)


def test_a_run_that_cannot_be_written_is_counted_each_time(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copy(run, tmp_path / "copy")
    change(path, "DELETE FROM rows")

    def refused(path: Path) -> Any:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr("wolflab.lab.storage.store.writer", refused)
    assert numbers(path) == numbers(run)
    with Store.open_for_reading(path) as store:
        assert not any(store.version(row.id) for row in store.games())


def test_what_an_experiment_asks_for_later_is_counted_then(tmp_path: Path) -> None:
    """Another count is another version."""
    assert (
        rows.row_version(MeasuringOptions())
        != rows.row_version(MeasuringOptions(behaviours=True))
        != rows.row_version(MeasuringOptions(watched=0))
    )
    played(tmp_path / "r").close()
    file = tmp_path / "r" / "experiment.yaml"
    with Store.open_for_reading(tmp_path / "r") as store:
        assert "reasonable" not in summary(store).conditions[0].measures
    file.write_text(file.read_text() + "behaviours: true\n")
    with Store.open_for_reading(tmp_path / "r") as store:
        assert summary(store).conditions[0].measures["reasonable"].n > 0


def test_many_rows_are_counted_by_several_processes(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copy(run, tmp_path / "copy")
    change(path, "DELETE FROM rows")
    monkeypatch.setattr(counting, "_CHUNK", 1)
    text = (path / "experiment.yaml").read_text()
    (path / "experiment.yaml").write_text(text + "workers: 2\n")
    assert numbers(path) == numbers(run)


def test_verify_compares_the_row_with_the_record(run: Path, tmp_path: Path) -> None:
    path = copy(run, tmp_path / "copy")
    with Store.open_for_reading(path) as store:
        (first, second, *_) = store.games("done")
        verify_game(store, first, agents=False)
        other = store.stored_row(second.id)
        assert other is not None
        with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
            db.execute("UPDATE rows SET data = ? WHERE game = ?", (other.data, first.id))
    with (
        Store.open_for_reading(path) as store,
        pytest.raises(RecordError, match="numbers kept for reports are not those of the record"),
    ):
        verify_game(store, first, agents=False)


def test_rows_are_alike_though_last_digits_and_bytes_differ(run: Path) -> None:
    """Other machines add and compress otherwise."""
    with Store.open_for_reading(run) as store:
        row = rows.decode_row(store.stored_row(1).data)  # type: ignore[union-attr]
    sums = [one if one is None else one * (1 + 1e-14) for one in row.sums]
    assert rows.rows_alike(row, msgspec.structs.replace(row, sums=sums))
    place = next(k for k, one in enumerate(sums) if one)
    sums[place] = (sums[place] or 0.0) + 1
    assert not rows.rows_alike(row, msgspec.structs.replace(row, sums=sums))
    assert not rows.rows_alike(row, msgspec.structs.replace(row, groups=()))


def test_a_game_that_is_not_over_has_no_row(tmp_path: Path) -> None:
    with Store.create(
        tmp_path / "r", build({"name": "r", "players": {"others": VILLAGE}, "deals": 2})
    ) as store:
        store.plan([("all", 0, 0)])
        assert [game.row for game in games(store)] == [None]
        store.keep(1, "done", pack([b"{}"], []), StoredRow("older", b""))
        with pytest.raises(RecordError):
            list(games(store))


# -- intervals of rare things ------------------------------------------------------------------------------


def rarely(deals: int, often: int) -> dict[str, Estimate]:
    """Estimates where one game in each deal is like the others, and few have any camouflage or persuasion."""
    width = rows.WIDTH
    tally = MeasureTally()
    for deal in range(deals):
        sums: list[float | None] = [None] * width
        sums[rows.COLUMNS["camouflage_werewolves"]] = [float(deal < 2), 1.0]
        if deal < often:
            sums[rows.COLUMNS["persuasion"]] = [6.0, float(deal % 3), float(deal % 3 + deal % 2), 0.0]
        tally.add(rows.MeasureRow("sheriff", ("x",), True, ("conduct", "every", "sheriff"), sums, {}), deal)
    return tally.estimates()[0]


def test_what_is_rare_has_no_negative_ends_and_the_same_interval_with_many_deals() -> None:
    few, many = rarely(1000, 16), rarely(1001, 16)
    assert few["camouflage_werewolves"].low == 0
    assert many["camouflage_werewolves"].low == 0
    a, b = few["persuasion"], many["persuasion"]
    assert (a.value, a.n, a.deals) == (b.value, b.n, b.deals)
    assert a.low is not None
    assert a.high is not None
    assert b.low == pytest.approx(a.low, abs=0.06 * (a.high - a.low))
    assert b.high == pytest.approx(a.high, abs=0.06 * (a.high - a.low))
