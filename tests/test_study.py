"""Studies with people, without a browser: every step, who is lost on the way, and what is kept."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from command_line import called, wolflab
from study_helpers import FILE, SECRET, Arrivals, Visitor, holding, in_study, people_answer, written
from web_helpers import now, played
from wolflab.cli import app
from wolflab.errors import ExperimentError, StoreError, Unavailable
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.results.extras import extras
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import Store, StudySitting
from wolflab.lab.studies.people import StudyPeople, StudyRefused, step_of, steps_of
from wolflab.lab.studies.quoting import WITHHELD
from wolflab.lab.studies.study_plan import BLANK, StudyCell, StudyPlan, load_study, study_of, training_seeds
from wolflab.lab.studies.training import TrainedGame, trained_games
from wolflab.rules import ROLES
from wolflab.text.people import PersonAnswer
from wolflab.ui.commands.erase import erase
from wolflab.ui.replay.replay_page import replay_of
from wolflab.ui.report.notebook import open_run
from wolflab.ui.study import study_server as houses
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.seat_session import OpenAsk
from wolflab.ui.web.web_table import WebTable
from wolflab.ui.wording import trained_in_words

# -- the way through -----------------------------------------------------------------------------------


def test_somebody_goes_through_every_step_and_everything_is_kept(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor(outside="recruit-17")
        for step in steps_of(server.study):
            assert one.step == step
            await (one.play() if step == "training" or step.startswith("game/") else one.answer())
        assert one.step == ""
        await one.get("/study/now")
        assert server.people.completion() in one.text

    in_study(tmp_path, work)
    people = StudyPeople(tmp_path / "run", load_study(tmp_path / "study.yaml")).people
    person = people["p01"]
    assert person.done["after/2"]["How was it?"] == "4"
    assert person.done["quiz"] == {"tries": "1"}
    assert "recruit-17" not in (tmp_path / "run/people/p01.json").read_text()
    with Store.open_for_reading(tmp_path / "run") as store:
        assert [row.status for row in store.games()] == ["done", "done"]
        assert [(one.game, one.seat, one.person, one.place) for one in store.sittings()] == [
            (1, 1, "p01", 1),
            (2, 1, "p01", 2),
        ]
        assert [player["recipe"] for player in store.record(1).header["players"]].count("person") == 1


def test_a_wrong_answer_in_the_quiz_shows_the_rules_again_and_excludes_nobody(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("quiz")
        for k in range(3):
            before = [item.question for item in server.quiz(one.person)]
            first = server.quiz(one.person)[0]
            sent = {"step": "quiz", "try": str(one.person.tries.get("quiz", 0))}
            await one.answer(q0="No" if first.answer == "Yes" else "Yes")
            assert f"1 of {len(before)} were not right" in one.text
            assert one.step == "quiz"
            assert [item.question for item in server.quiz(one.person)] != before
            await one.post("/study/now", **sent)
            assert one.person.tries == {"quiz": k + 1}
        await one.answer()
        assert one.person.done["quiz"] == {"tries": "4"}

    in_study(tmp_path, work)


def test_whoever_must_not_take_part_is_told_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor()
        await one.post("/study/now", step="consent")
        assert "Tick the box" in one.text
        await one.answer()
        await one.post("/study/now", step="about")
        assert "Please answer: Are you of age?" in one.text
        await one.answer(q0="Perhaps")
        assert "is none of the answers" in one.text
        await one.answer(q0="No")
        assert "other people are looked for" in one.text
        assert "about" not in one.person.done

    in_study(tmp_path, work)


# -- who comes back, twice, late ------------------------------------------------------------------------


def test_a_link_that_is_opened_twice_is_one_person(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        await visitor("quiz", outside="same")
        other = await visitor(outside="same")
        assert other.person.name == "p01"
        assert other.step == "quiz"
        assert len(server.people.people) == 1

    in_study(tmp_path, work)


def test_two_windows_count_once(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("after/1")
        await one.post("/study/now", step="after/1", q0="2")
        await one.post("/study/now", step="after/1", q0="5")
        assert one.person.done["after/1"] == {"How was it?": "2"}
        await one.post("/study/table")
        await one.post("/study/table")
        assert len(one.person.games["game/2"]) == 1
        assert len(server.store.games()) == 2

    in_study(tmp_path, work)


def test_a_pause_of_a_week_is_another_session_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def first(server: StudyServer, visitor: Arrivals) -> None:
        await visitor("game/2", outside="week")

    async def later(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor(outside="week")
        assert one.step == "game/2"
        await one.go_to("")

    in_study(tmp_path, first)
    import time

    then = time.time() + 7 * 86_400
    monkeypatch.setattr("wolflab.lab.studies.people.time.time", lambda: then)
    in_study(tmp_path, later)
    with Store.open_for_reading(tmp_path / "run") as store:
        assert [(one.session, one.place) for one in store.sittings()] == [(1, 1), (2, 2)]


def test_whoever_never_comes_back_holds_a_place_for_some_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1e9]
    monkeypatch.setattr("wolflab.lab.studies.people.time.time", lambda: now[0])
    people = StudyPeople(tmp_path, filled(people=1, place_kept=2, place_from="consent"))
    first, _ = people.arrive("first")
    people.finish(first, "consent", {})
    with pytest.raises(StudyRefused, match="all the people"):
        people.arrive("second")
    now[0] += 3 * 86_400
    second, _ = people.arrive("second")
    people.finish(second, "consent", {})
    assert people.arrive("first")[0].name == "p01"
    with pytest.raises(StudyRefused, match="all the people"):
        people.must_have_place(first)
    people.seen(first)  # to report something, say
    with pytest.raises(StudyRefused, match="all the people"):
        people.must_have_place(first)
    second.left = "stopped"
    people.must_have_place(first)
    assert first.place


@pytest.mark.parametrize("step", ["consent", "quiz", "training", "game/1", "after/1", "game/2", "interview"])
def test_whoever_stops_at_a_step_leaves_what_was_done_and_the_next_take_the_place(
    step: str, tmp_path: Path
) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor(step)
        if step == "training" or step.startswith("game/"):
            await one.post("/study/table")  # and leaves in the middle
        await one.post("/study/stop")
        assert one.person.left == f"stopped at {step}"
        await one.get("/study/now")
        assert "You have left this study" in one.text
        assert (await one.post("/study/now", step=step, agree="yes")).status_code == 409
        counted = [row for row in server.store.games() if row.over]
        assert len(counted) == {"after/1": 1, "game/2": 1, "interview": 2}.get(step, 0)
        for k in range(server.study.people):
            await visitor("about", outside=f"next-{k}")
        assert sum(not person.gone for person in server.people.people.values()) == server.study.people
        late = visitor.stranger()
        await late.post("/study/", id="late")
        assert "has all the people that it needs" in late.text

    in_study(tmp_path, work, place_from="consent")


def test_an_abandoned_game_is_kept_and_planned_again(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("game/1")
        await one.post("/study/table")
        table = server.tables.tables[one.person.tables["game/1"]]
        table.game.give_up("the machine was switched off")
        assert one.step == "game/1"
        await one.go_to("after/1")
        rows = [(row.deal, row.repeat, row.status) for row in server.store.games()]
        assert rows == [(rows[0][0], 0, "failed"), (rows[0][0], 1, "done")]
        assert one.person.games["game/1"] == [1, 2]

    in_study(tmp_path, work)


@pytest.mark.parametrize("quote", ["yes", ""])
def test_a_replay_quotes_only_who_has_agreed(quote: str, tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor()
        await one.answer(quote=quote)
        await one.go_to("after/1")

    in_study(tmp_path, work, training=False, games=1)
    with Store.open_for_reading(tmp_path / "run") as store:
        page, missing = replay_of(store, 1)
    assert (SECRET in page) is bool(quote)
    assert ('"counted":{"rounds":' in page) is bool(quote), "without words it would be counted otherwise"
    assert (WITHHELD in page) is not bool(quote)
    assert ("has not agreed to be quoted" in missing) is not bool(quote)


def test_a_player_who_closes_the_browser_has_no_game_that_counts(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("game/1")
        await one.client.post("/study/table", follow_redirects=False)
        table = server.tables.tables[one.person.tables["game/1"]]
        while table.plan.state == "playing":
            await asyncio.sleep(5)
        assert one.step == "game/1"
        assert server.store.games()[0].status == "failed"
        await one.go_to("after/1")

    in_study(tmp_path, work)


@pytest.mark.parametrize("away", [60.0, 8 * 60.0])
def test_a_game_waits_for_whoever_closes_the_browser_and_goes_on_where_it_was(
    away: float, tmp_path: Path
) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("game/1")
        table = await one.sit()
        (seat,) = table.plan.people
        while not table.sessions[seat].shown:
            await asyncio.sleep(0.5)
        asked = [opened.ask.id for opened in table.sessions[seat].shown]
        table.disconnected(seat)
        await asyncio.sleep(away)
        assert table.plan.state == "playing"
        assert (await one.client.post("/study/table", follow_redirects=False)).status_code == 303
        table.connected(seat)
        assert [opened.ask.id for opened in table.sessions[seat].shown] == asked, "it is still to be answered"
        assert all(opened.due - now() > 20 for opened in table.sessions[seat].shown if opened.due is not None)
        words = "60 seconds" if away == 60 else "8 minutes"
        assert [item for item in table.seats[seat].items if f"away for {words}.".encode() in item]
        await played(table, people_answer)
        assert one.step == "after/1"

    in_study(tmp_path, work)
    with Store.open_for_reading(tmp_path / "run") as store:
        assert [row.status for row in store.games()] == ["done"]


def test_whoever_has_stopped_may_still_withdraw_and_is_told_what_it_was(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("training")
        await one.client.post("/study/table", follow_redirects=False)
        await one.post("/study/stop")
        assert "were computer programs in all games" in one.text
        answer = await one.post("/study/code")
        code = re.search(r"<b class=\"code\">([A-Z0-9-]+)</b>", answer.text)
        assert code is not None
        await one.post("/study/withdraw", code=code[1])
        assert "is erased" in one.text

    in_study(tmp_path, work)


def test_every_code_to_withdraw_holds_and_there_are_not_too_many(tmp_path: Path) -> None:
    async def go(server: StudyServer, arrive: Arrivals) -> None:
        one = await arrive(to="quiz")
        codes = []
        while (answer := await one.post("/study/code")).status_code == 200:
            codes.append(re.search(r"[A-Z0-9]{5}(-[A-Z0-9]{5}){2}", answer.text))
        assert "use one" in one.text
        assert len(codes) == 20
        assert all(code and server.people.by_withdrawal(code[0]) == one.person for code in codes)

    in_study(tmp_path, go)


def test_going_back_to_the_beginning_makes_nobody_new(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("quiz")
        await one.begin()
        assert one.step == "quiz"
        await one.go_to("")
        await one.post("/study/stop")
        assert server.people.completion() in one.text
        assert len(server.people.people) == 1
        for path in ("/", "/home", "/t/AAAAAA/host/"):
            assert (await one.client.get(path)).status_code in (200, 404)
        assert (await one.client.post("/tables", json={})).status_code in (404, 405)

    in_study(tmp_path, work)


def test_names_are_not_given_twice_and_people_need_their_salt(tmp_path: Path) -> None:
    people = StudyPeople(tmp_path, filled(people=9))
    for name in ("a", "b", "c"):
        people.arrive(name)
    (tmp_path / "people/p01.json").unlink()
    people = StudyPeople(tmp_path, filled(people=9))
    assert people.arrive("d")[0].name == "p04"
    (tmp_path / "people/salt").unlink()
    with pytest.raises(StoreError, match="salt is missing"):
        StudyPeople(tmp_path, filled(people=9))


# -- who may come, and how often ------------------------------------------------------------------------


def test_requests_that_nobody_stands_behind_fill_no_study(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        for _ in range(2 * server.study.people):
            await visitor("about")
        one = await visitor("game/1")
        assert one.person.place
        assert "A place is yours once you have played the training game." in await consent(visitor)

    in_study(tmp_path, work)


async def consent(visitor: Arrivals) -> str:
    one = await visitor()
    await one.get("/study/now")
    return one.text


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({}, "training"),
        ({"training": False}, "quiz"),
        ({"training": False, "quiz": 0}, "rules"),
        ({"place_from": "about", "about": []}, "consent"),
    ],
)
def test_whoever_comes_to_the_step_of_the_places_too_late_is_told(
    changes: dict[str, Any], step: str, tmp_path: Path
) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        late = await visitor(step)
        first = await visitor("number/1" if server.study.deals == "chosen" else after(server.study, step))
        assert first.person.place
        if step == "training":
            await late.play()
        told = await (late.get("/study/now") if step == "training" else late.answer())
        assert told.status_code == 409
        assert "all the people that it needs" in late.text
        assert "Give me a withdrawal code" in late.text, "something was typed already"
        assert not late.person.place
        await first.post("/study/stop")
        await late.go_to(after(server.study, step))

    in_study(tmp_path, work, people=1, **changes)


def test_who_comes_may_be_changed_while_a_study_goes_on(tmp_path: Path) -> None:
    """Whoever holds a place keeps it, also where places are given at a later step from then on."""

    async def first(server: StudyServer, visitor: Arrivals) -> None:
        await visitor("about", outside="a")
        await visitor("about", outside="b")

    async def then(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("rules", outside="a")
        assert one.person.place
        for _ in range(2):  # more hold a place than there are
            late = visitor.stranger()
            assert (await late.post("/study/", id="late")).status_code == 409

    in_study(tmp_path, first, people=2, place_from="consent")
    in_study(tmp_path, then, people=1, place_from="about", place_kept=7)


def after(study: StudyPlan, step: str) -> str:
    steps = steps_of(study)
    return steps[steps.index(step) + 1]


def test_a_place_that_somebody_else_took_is_not_won_back_at_a_table(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("game/1")
        table = await one.sit()
        one.person.seen -= 15 * 86_400
        other = await visitor("game/1")
        await played(table)  # by the table's own link
        assert (await one.get("/study/now")).status_code == 409
        assert other.person.place
        assert not one.person.place

    in_study(tmp_path, work, people=1, training=False)


def test_cells_are_balanced_over_those_who_take_a_place(tmp_path: Path) -> None:
    """Whoever goes before that leaves no gap: the cell is decided anew with the place."""
    cells = {name: {"condition": "all", "side": name} for name in ("village", "werewolves")}
    study = filled(people=4, cells=cells, games=2, training=False, place_from="rules")
    people = StudyPeople(tmp_path, study)
    came = [people.arrive(f"{k}")[0] for k in range(8)]
    for person in came[::2]:  # all of one cell, as they came
        for step, answers in (("consent", {}), ("about", {}), ("rules", {})):
            people.finish(person, step, answers)
    assert Counter((one.cell, one.row) for one in came if one.place) == {
        (cell, row): 1 for cell in cells for row in range(2)
    }


@pytest.mark.parametrize("way", ["withdrawn", "screened", "stopped", "through"])
@pytest.mark.parametrize("outside", ["me", ""])
def test_one_person_takes_part_one_time(way: str, outside: str, tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("about", outside=outside)
        if way == "withdrawn":
            await one.post("/study/withdraw", code=server.new_withdrawal(one.person))
        elif way == "screened":
            await one.answer(q0="No")
        elif way == "stopped":
            await one.post("/study/stop")
        else:
            await one.go_to("")
        same = one if not outside else visitor.stranger()
        await same.get(f"/study/?id={outside}")
        await same.post("/study/", id=outside)
        assert list(server.people.people) == ["p01"]
        assert "Go on" not in same.text

    in_study(tmp_path, work, training=False, games=1)


def test_whoever_runs_the_study_may_let_somebody_begin_once_more(tmp_path: Path) -> None:
    async def first(server: StudyServer, visitor: Arrivals) -> None:
        await (await visitor("about", outside="me")).answer(q0="No")

    async def again(server: StudyServer, visitor: Arrivals) -> None:
        for _ in range(3):
            one = await visitor(outside="me")
            assert one.person.name == "p02"
            if one.step == "consent":
                await one.go_to("about")
                await one.answer(q0="No")

    in_study(tmp_path, first)
    in_study(tmp_path, again, again=["me"])
    assert "me" not in (tmp_path / "run/study.yaml").read_text().split()


def test_people_who_share_a_browser_are_each_led_to_their_own_page(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("", outside="first")
        code = server.people.completion()
        for outside, name in (("second", "p02"), ("third", "p03"), ("second", "p02")):
            await one.get(f"/study/?id={outside}")
            assert code not in one.text
            await one.post("/study/", id=outside)
            assert one.person.name == name
        await one.begin("first")
        assert code not in one.text, "begins again, for the study says so"
        assert one.person.name == "p04"

    in_study(tmp_path, work, training=False, games=1, again=["first"], people=4)


def test_a_link_without_its_last_slash_keeps_its_id(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = visitor.stranger()
        answer = await one.get("/study?id=a%26b")
        assert 'name="id" value="a&amp;b"' in answer.text

    in_study(tmp_path, work)


def test_a_study_that_names_ids_takes_nobody_else_and_keeps_no_id(tmp_path: Path) -> None:
    named = ["first-Zw3k", "second-Pq9d"]

    async def work(server: StudyServer, visitor: Arrivals) -> None:
        for outside in ("", "third"):
            one = visitor.stranger()
            assert (await one.post("/study/", id=outside)).status_code == 409
            assert "this link is none of theirs" in one.text
        for outside in ("first-Zw3k", "second-Pq9d"):
            await visitor("about", outside=outside)
        for _ in range(8):
            await one.post("/study/", id="guess")
        assert (await one.post("/study/", id="guess")).status_code == 429

    in_study(tmp_path, work, ids=named)
    run = tmp_path / "run"
    for name in named:
        assert not [file for file in run.rglob("*") if file.is_file() and name.encode() in file.read_bytes()]
    (tmp_path / "ids.txt").write_text("third\n\n  fourth \n")
    written(tmp_path, ids="ids.txt")
    StudyServer.open(run, str(tmp_path / "study.yaml")).close()
    StudyServer.open(run, str(run / "study.yaml")).close()  # its own copy changes nothing
    people = StudyPeople(run, load_study(run / "study.yaml"))
    assert [people.arrive(outside)[0].name for outside in ("third", "fourth", named[0])] == [
        "p03",
        "p04",
        "p01",
    ]
    with pytest.raises(StudyRefused, match="none of theirs"):
        people.arrive("fifth")


@pytest.mark.parametrize("held", [None, b"", b"\xff\xfe\x00"])
def test_a_file_of_ids_that_cannot_be_used_is_a_sentence(held: bytes | None, tmp_path: Path) -> None:
    if held is not None:
        (tmp_path / "ids.txt").write_bytes(held)
    with pytest.raises((ExperimentError, StoreError), match=r"ids\.txt|ids: "):
        load_study(written(tmp_path, ids="ids.txt"))


def test_nobody_waits_at_a_pipe_for_ids(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ids.txt")
    with pytest.raises(StoreError, match=r"ids\.txt: it is a pipe and no file"):
        load_study(written(tmp_path, ids="ids.txt"))


# -- leaving no trace ----------------------------------------------------------------------------------


def test_whoever_withdraws_is_erased_from_every_byte(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("debrief", outside="me")
        answer = await one.post("/study/code")
        code = re.search(r"<b class=\"code\">([A-Z0-9-]+)</b>", answer.text)
        assert code is not None
        other = visitor.stranger()
        assert (await other.post("/study/withdraw", code="WRONG-WRONG-WRONG")).status_code == 403
        await other.post("/study/withdraw", code=code[1].lower())
        assert "is erased" in other.text
        assert one.person.left == "withdrawn"

    in_study(tmp_path, work)
    assert holding(tmp_path / "run") == []
    with Store.open_for_reading(tmp_path / "run") as store:
        assert all(store.record(row.id).erased for row in store.games() if row.over)


def test_whoever_withdraws_while_the_run_is_read_can_do_so_again(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("after/1")
        code = server.new_withdrawal(one.person)
        with Store.open_for_reading(tmp_path / "run") as reading:
            reading._db.execute("BEGIN")
            reading.games()
            assert (await one.post("/study/withdraw", code=code)).status_code == 503
            assert "Not all that you have typed could be erased" in one.text
            reading._db.execute("COMMIT")
        assert (await one.post("/study/withdraw", code=code)).status_code == 200
        assert one.person.left == "withdrawn"

    in_study(tmp_path, work)
    assert holding(tmp_path / "run") == []


def test_whoever_withdraws_in_the_middle_of_training_is_erased_too(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("training")
        await one.client.post("/study/table", follow_redirects=False)
        table = server.tables.tables[one.person.tables["training"]]
        (seat,) = table.plan.people
        table.connected(seat)
        while not holding(tmp_path / "run") and table.plan.state == "playing":
            await asyncio.sleep(0.25)
            for asked in table.sessions[seat].shown:
                table.give(seat, asked.ask.id, people_answer(table, seat, asked))
        assert table.plan.state == "playing"
        code = server.new_withdrawal(one.person)
        assert (await one.post("/study/withdraw", code=code)).status_code == 200

    in_study(tmp_path, work, experiment=FILE["experiment"] | {"seed": 2})
    assert holding(tmp_path / "run") == []


def test_the_command_erases_what_somebody_said_in_training_too(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        await visitor("debrief")

    in_study(tmp_path, work)
    run = tmp_path / "run"
    assert "run.sqlite" in holding(run)
    with pytest.raises(StoreError, match="nobody is named p02 there"):
        called(erase, run, "p02")
    for _ in range(2):
        called(erase, run, "p01")
        assert holding(run) == ["p01.json"], "what was answered to the study's questions stays"


def test_a_problem_can_be_reported_from_every_page(tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor()
        await one.post("/study/report", text="A player insulted me")
        assert [report.text for report in one.person.reports] == ["A player insulted me"]

    in_study(tmp_path, work)


def test_exports_go_with_somebody_who_has_answered_and_said_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"

    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("rules")
        wolflab("export", str(run), "--format", "data", "--texts")
        assert [row["answer"] for row in open_run(run).answers.rows()] == ["Yes"]
        await one.post("/study/withdraw", code=server.new_withdrawal(one.person))

    in_study(tmp_path, work)
    assert not (run / "exported").exists()
    assert not list(open_run(run).answers.rows())
    assert [row["left"] for row in open_run(run).people.rows()] == ["withdrawn"]


# -- cards to train with --------------------------------------------------------------------------------


def dealt_to(server: StudyServer, one: Visitor) -> tuple[str, str]:
    """What the draws of somebody's training, and of their first game, are named by."""
    server.tables.tables[one.person.tables["training"]].drop()
    with Store.open_for_reading(server.tables.folder / training(one)) as trained:
        return trained.record(1).header["deal"], server.store.record(1).header["deal"]


@pytest.mark.parametrize("deals", ["shared", "roles"])
def test_training_has_cards_of_its_own(deals: str, tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("after/1")
        trained, played = dealt_to(server, one)
        assert trained != played
        assert not trained_games(server.store)

    in_study(tmp_path, work, deals=deals, games=1)
    assert [row["trained"] for row in open_run(tmp_path / "run").games.rows()] == [False]


@pytest.mark.parametrize("there", [True, False])
def test_games_whose_cards_were_trained_with_are_marked(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As earlier versions dealt them."""
    run = tmp_path / "run"

    async def work(server: StudyServer, visitor: Arrivals) -> None:
        trained, played = dealt_to(server, await visitor("after/1"))
        assert trained == played
        await visitor("after/1")

    with monkeypatch.context() as earlier:
        earlier.setattr(houses, "training_seeds", lambda seed, person: (seed + person, seed + person))
        in_study(tmp_path, work, games=1)
    if not there:
        shutil.rmtree(run / "tables")
    with Store.open_for_reading(run) as store:
        assert trained_games(store) == [TrainedGame(1, "p01", there)]
        told = trained_in_words(extras(store, summary(store)).trained)
    assert told.startswith(f"Game 1 (p01{'' if there else ', perhaps'}) had the cards")
    assert [row["trained"] for row in open_run(run).games.rows()] == [True if there else None, False]
    report = CliRunner().invoke(app, ["report", str(run)], env={"COLUMNS": "400"})
    assert told in report.output
    assert "had the cards with which" in (run / "report.html").read_text()


# -- what is kept of typing ----------------------------------------------------------------------------


def pasted(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
    """A statement that was pasted while the page was out of sight for some seconds."""
    answer = people_answer(table, seat, asked)
    assert answer is not None
    return msgspec.structs.replace(answer, pasted=True, away=3.5)


@pytest.mark.parametrize("signals", [False, True])
def test_pasting_and_time_away_are_kept_where_people_were_told_so(signals: bool, tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor()
        await one.get("/study/now")
        assert ("whether you pasted something into it" in one.text) is signals
        await one.go_to("training")
        await one.play(pasted)
        await one.play(pasted)
        for step, told in (("training", False), ("game/1", signals)):
            plan = server.tables.tables[one.person.tables[step]].plan
            assert plan.signals is told
            assert any("pasted" in sentence for sentence in plan.declared()) is told
        typed = [row for row in open_run(tmp_path / "run").statements.rows() if row["person"]]
        assert typed
        assert {(row["pasted"], row["away"]) for row in typed} == {(True, 3.5) if signals else (None, None)}
        server.tables.tables[one.person.tables["training"]].drop()
        for store in (server.store, Store.open_for_reading(tmp_path / "run/tables" / training(one))):
            kept = [call["text"] for call in store.calls_with_prompts(1) if "|answer|" in call["key"]]
            assert any("away" in text for text in kept) is (signals and store is server.store)
            assert not any("away" in text for text in kept if '"said"' not in text)
        verify_game(server.store, server.store.game(1), agents=True)
        await one.post("/study/withdraw", code=server.new_withdrawal(one.person))
        assert {(row["pasted"], row["away"]) for row in open_run(tmp_path / "run").statements.rows()} == {
            (None, None)
        }

    in_study(tmp_path, work, signals=signals)


def training(one: Visitor) -> str:
    """The code of somebody's table of training."""
    return one.person.tables["training"]


@pytest.mark.parametrize("signals", [False, True])
def test_what_a_page_sends_of_typing_is_kept_with_the_words_alone(signals: bool, tmp_path: Path) -> None:
    async def work(server: StudyServer, visitor: Arrivals) -> None:
        one = await visitor("game/1")
        table = await one.sit()
        (seat,) = table.plan.people
        sent = []
        while not sent:
            await asyncio.sleep(0.5)
            for asked in table.sessions[seat].shown:
                answer = people_answer(table, seat, asked)
                body = {"ask": asked.ask.id, "pasted": False, "away": 2.0, **msgspec.to_builtins(answer)}
                path = f"/t/{table.plan.code}/s/{seat}/answer"
                for _ in range(2):  # as a page whose line was lost
                    assert (await one.client.post(path, json=body)).json() == {"kept": True}
                kept = table.sessions[seat].kept.answers[asked.ask.id].answer
                words = signals and kept.said is not None
                assert (kept.pasted, kept.away) == ((False, 2.0) if words else (None, None))
                sent += [kept.said] if kept.said is not None else []
        refused = await one.client.post(path, json={**body, "away": -1})
        assert refused.status_code in (400, 422)

    in_study(tmp_path, work, signals=signals, training=False)


# -- what a study may be -------------------------------------------------------------------------------


def test_a_study_with_blanks_in_its_consent_does_not_begin(tmp_path: Path) -> None:
    consent = {**FILE["consent"], "kept": BLANK}
    with pytest.raises(StoreError, match=r"nobody has filled in consent\.kept;"):
        StudyServer.open(tmp_path / "run", str(written(tmp_path, consent=consent)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"seat": "player_99"}, "there is no 'player_99'"),
        ({"seat": "player_2"}, r"player_2 has to be \{recipe: person\}"),
        ({"cells": {"a": {"condition": "none"}}}, "there is no condition 'none'"),
        ({"blind": {"approval": ""}}, "approval"),
        ({"gamez": 3}, "gamez"),
    ],
)
def test_a_study_that_cannot_be_is_refused_with_its_place(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ExperimentError, match=says):
        study_of({**FILE, **changes}, "tiny.yaml")


def test_a_study_without_a_training_game_is_still_a_study(tmp_path: Path) -> None:
    assert not load_study(written(tmp_path, training=False)).training


def test_a_study_goes_on_with_another_budget(tmp_path: Path) -> None:
    for tokens in (1000, 5000):
        file = written(tmp_path, experiment=FILE["experiment"] | {"budget": {"tokens": tokens}})
        server = StudyServer.open(tmp_path / "run", str(file))
        assert server.store.experiment.budget.tokens == tokens
        server.close()
    assert load_study(tmp_path / "run" / "study.yaml").played.budget.tokens == 5000


def test_all_tables_of_a_study_share_its_budget(tmp_path: Path) -> None:
    async def sit(server: StudyServer, arrive: Arrivals) -> None:
        tables = [await (await arrive(to="game/1")).sit() for _ in range(2)]
        first, second = (table.game.run for table in tables)
        assert first is second is not None
        assert first.budget.tokens == 1000

    in_study(tmp_path, sit, experiment=FILE["experiment"] | {"budget": {"tokens": 1000}})


def test_another_study_cannot_go_on_in_the_same_folder(tmp_path: Path) -> None:
    StudyServer.open(tmp_path / "run", str(written(tmp_path))).close()
    StudyServer.open(tmp_path / "run", str(written(tmp_path))).close()
    with pytest.raises(StoreError, match="a study with other settings"):
        StudyServer.open(tmp_path / "run", str(written(tmp_path, games=3)))


@pytest.mark.parametrize("name", shipped_files("studies"))
def test_shipped_studies_are_drafts_with_blanks_and_whole_otherwise(name: str) -> None:
    study = load_study(name)
    assert study.consent.blanks == ["responsible", "purpose", "takes", "readers", "kept", "erasable_until"]
    assert study.source


# -- who plays what ------------------------------------------------------------------------------------


def filled(**changes: Any) -> StudyPlan:
    return study_of({**FILE, **changes}, "tiny.yaml")


@pytest.mark.parametrize("name", shipped_files("studies"))
def test_nobody_trains_with_the_cards_of_a_shipped_study(name: str) -> None:
    study = load_study(name)
    seed, people = study.played.seed, range(study.people)
    deals = (
        {f"{seed}/{deal}" for deal in range(1_000_000)}
        if study.deals == "chosen"
        else {
            f"{seed}/{study.deal(cell, person, place)}"
            for cell in study.all_cells.values()
            for person in range(study.rows(cell))
            for place in range(1, study.games + 1)
        }
    )
    trained = [f"{training_seeds(seed, person)[-1]}/0" for person in people]
    assert len(set(trained)) == len(people)
    assert deals.isdisjoint(trained)


def test_roles_are_a_latin_square() -> None:
    study = filled(deals="roles", games=4)
    cell = StudyCell(condition="all")
    roles = study.roles("all")
    table = []
    for person in range(len(roles)):
        deals = [study.deal(cell, person, place) for place in range(1, len(roles) + 1)]
        table.append([dealt_role(study, deal) for deal in deals])
    assert all(sorted(row) == sorted(roles) for row in table)
    assert all(sorted(column) == sorted(roles) for column in zip(*table, strict=True))


def test_a_side_is_kept_in_every_game_and_deals_are_shared() -> None:
    study = filled(games=5)
    for side in ("village", "werewolves"):
        cell = StudyCell(condition="all", side=side)
        seen = Counter()
        for person in range(5):
            deals = [study.deal(cell, person, place) for place in range(1, 6)]
            assert len(set(deals)) == 5
            assert all(ROLES[dealt_role(study, deal)].wolf == (side == "werewolves") for deal in deals)
            seen.update(deals)
        assert set(seen.values()) == {5}


def dealt_role(study: StudyPlan, deal: int) -> str:
    return study._cards("all", deal).roles[study.number("all")]


def test_the_square_is_balanced_in_each_cell(tmp_path: Path) -> None:
    cells = {name: {"condition": "all", "side": name} for name in ("village", "werewolves")}
    people = StudyPeople(tmp_path, filled(people=20, games=5, cells=cells))
    for k in range(20):
        people.arrive(f"{k}")
    for cell in cells:
        assert Counter(one.row for one in people.people.values() if one.cell == cell) == dict.fromkeys(
            range(5), 2
        )


def test_cells_are_filled_evenly_by_those_who_stay(tmp_path: Path) -> None:
    study = filled(
        people=8,
        cells={name: {"condition": "all", "side": name} for name in ("village", "werewolves")},
    )
    people = StudyPeople(tmp_path, study)
    for k in range(8):
        person, _ = people.arrive(f"{k}")
        if k in (0, 2):
            person.left = "stopped"
            people.keep(person)
    for k in range(2):
        people.arrive(f"late {k}")
    here = Counter(person.cell for person in people.people.values() if not person.gone)
    assert here == {"village": 4, "werewolves": 4}
    assert all(step_of(study, person) == "consent" for person in people.people.values())


def test_a_game_that_cannot_be_kept_with_its_person_is_not_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object, **more: object) -> None:
        raise Unavailable("the disk is full")

    async def work(server: StudyServer, arrive: Arrivals) -> None:
        one = await arrive("game/1")
        with monkeypatch.context() as patch:
            patch.setattr(StudySitting, "_replace", full)
            for _ in range(2):
                answer = await one.client.post("/study/table", follow_redirects=False)
                assert answer.status_code == 500
        assert server.store.games() == []
        await one.go_to("debrief")
        assert [(row.deal, row.repeat) for row in server.store.games()] == [(0, 0), (1, 0)]

    in_study(tmp_path, work)
