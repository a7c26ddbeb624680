"""Whoever withdraws from a study is erased before they are told so: in mid-game too, and after a kill."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from random_study import random_study
from study_helpers import FILE, SECRET, Arrivals, Visitor, holding, in_study, people_answer
from test_study_groups import GROUP, play_together, sit
from web_helpers import now
from wolflab.errors import StoreError, Unavailable
from wolflab.files import atomic_write
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.people import kept_person
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.web_table import WebTable


def seat_of(one: Visitor, table: WebTable) -> int:
    return next(seat for at, seat in one.server.tables_of(one.person) if at is table)


async def said(table: WebTable) -> None:
    """Play until the words of everybody who sits there are on the disk."""
    for _ in range(400):
        for seat in table.plan.people:
            for asked in table.sessions[seat].shown:
                answer = people_answer(table, seat, asked)
                if answer is not None:
                    table.give(seat, asked.ask.id, answer)
        if table.plan.state == "playing" and "run.sqlite" in "".join(holding(table.game.run.store.path)):
            return
        await asyncio.sleep(0.25)
    raise AssertionError("nothing was said")


@pytest.mark.parametrize("vanish", ["void", "stand-in"])
def test_a_game_of_several_ends_at_once_and_the_others_play_another_one(tmp_path: Path, vanish: str) -> None:
    async def work(server: StudyServer, arrive: Arrivals) -> None:
        people = [await arrive("game/1") for _ in range(3)]
        table = await sit(people)
        await said(table)
        began = now()
        for one in people:  # all but one, so that what is left is nobody's
            table.disconnected(seat_of(one, table))
        codes = [server.new_withdrawal(one.person) for one in people[:2]]
        for code in codes:
            assert (await arrive.stranger().post("/study/withdraw", code=code)).status_code == 200
        assert now() - began < 5, "by the game's clock"
        assert server.store.game(table.plan.game).status == "failed"
        assert server.store.said(table.plan.game, seat_of(people[0], table)) == {}
        assert people[2].step == "game/1"
        again = await play_together([people[2], await arrive("game/1"), await arrive("game/1")])
        assert server.store.game(again.plan.game).status == "done"
        assert not verify_run(server.store, agents=True).faults

    in_study(tmp_path, work, **GROUP, vanish=vanish)


def test_training_ends_at_once_where_stand_ins_play_on(tmp_path: Path) -> None:
    async def work(server: StudyServer, arrive: Arrivals) -> None:
        one = await arrive("training")
        table = await one.sit()
        table.disconnected(table.plan.people[0])
        began = now()
        code = server.new_withdrawal(one.person)
        assert (await one.post("/study/withdraw", code=code)).status_code == 200
        assert now() - began < 5

    in_study(tmp_path, work, **{**GROUP, "training": True}, vanish="stand-in")


def test_a_server_that_is_killed_before_it_has_erased_does_so_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is copied once the wish is on file: so it is found after a kill."""
    left = tmp_path / "left"
    erase = StudyServer.erase_played

    async def work(server: StudyServer, arrive: Arrivals) -> None:
        one = await arrive("game/1")
        table = await one.sit()
        await said(table)
        code = server.new_withdrawal(one.person)

        async def killed(server: StudyServer, *given: Any) -> Any:
            shutil.copytree(tmp_path / "run", left / "run")
            return await erase(server, *given)

        monkeypatch.setattr(StudyServer, "erase_played", killed)
        assert (await one.post("/study/withdraw", code=code)).status_code == 200
        monkeypatch.setattr(StudyServer, "erase_played", erase)

    async def go_on(server: StudyServer, arrive: Arrivals) -> None:
        assert holding(left / "run") == [], "before anybody has come"
        assert not any(table.plan.state == "playing" for table in server.tables.tables.values())
        assert not server.people.people["p01"].erase

    in_study(tmp_path, work, training=False)
    assert "run.sqlite" in "".join(holding(left / "run"))
    person = kept_person(left / "run", "p01")
    assert person is not None
    assert (person.left, person.erase) == ("withdrawn", True)
    killed = ExitStack()  # never closed: it was writing these
    for file in (left / "run/people/p01.json", next(left.glob("run/tables/*/sessions.json"))):
        killed.enter_context(atomic_write(file)).write_text(SECRET)
    assert {".p01.json", ".sessions.json"} <= {name[:-22] for name in holding(left / "run")}
    in_study(left, go_on, training=False)


def test_whoever_withdraws_while_nothing_can_be_written_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any) -> None:
        raise Unavailable("the disk is full")

    async def work(server: StudyServer, arrive: Arrivals) -> None:
        one = await arrive("about")
        code = server.new_withdrawal(one.person)
        with monkeypatch.context() as disk:
            disk.setattr("wolflab.lab.studies.people.write", full)
            assert (await one.post("/study/withdraw", code=code)).status_code == 503
        assert "could not be written down" in one.text
        assert not one.person.gone
        assert (await one.post("/study/withdraw", code=code)).status_code == 200
        kept = kept_person(tmp_path / "run", "p01")
        assert kept is not None
        assert (kept.left, kept.erase) == ("withdrawn", False)

    in_study(tmp_path, work)


def test_what_cannot_be_erased_is_tried_again_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scrub, locked = Store.scrub, [True]

    def scrubbed(store: Store) -> None:
        if locked[0]:
            raise StoreError("another program reads it")
        scrub(store)

    async def work(server: StudyServer, arrive: Arrivals) -> None:
        monkeypatch.setattr(Store, "scrub", scrubbed)
        one = await arrive("after/1")
        assert (await one.post("/study/withdraw", code=server.new_withdrawal(one.person))).status_code == 503
        assert one.person.left == "withdrawn", "nobody plays on"
        await asyncio.sleep(130)
        assert one.person.erase
        locked[0] = False
        await asyncio.sleep(130)
        assert not one.person.erase
        assert holding(tmp_path / "run") == []

    in_study(tmp_path, work)


def test_games_that_were_abandoned_are_erased_with_their_tables(tmp_path: Path) -> None:
    """Training and a game, each begun twice: the first tables are no step's any more."""

    async def work(server: StudyServer, arrive: Arrivals) -> None:
        one = await arrive("training")
        for step in ("training", "game/1"):
            table = await one.sit()
            seat = table.plan.people[0]
            await one.client.post(f"/t/{table.plan.code}/s/{seat}/draft", json={"notes": SECRET})
            for _ in range(40):
                await asyncio.sleep(0.25)
                for asked in table.sessions[seat].shown:
                    table.give(seat, asked.ask.id, people_answer(table, seat, asked))
            table.game.give_up("the machine was switched off")
            await table.game.stopped()
            assert one.step == step
            await one.play()
        assert holding(tmp_path / "run").count("sessions.json") >= 2
        assert (await one.post("/study/withdraw", code=server.new_withdrawal(one.person))).status_code == 200
        assert holding(tmp_path / "run") == []

    in_study(tmp_path, work, experiment=FILE["experiment"] | {"seed": 2})


def test_an_erased_seat_takes_nothing_any_more(tmp_path: Path) -> None:
    """Not even what was on its way: a request whose body comes after the answer to the withdrawal."""

    async def work(server: StudyServer, arrive: Arrivals) -> None:
        one = await arrive("game/1")
        table = await one.sit()
        await said(table)
        way = f"/t/{table.plan.code}/s/{table.plan.people[0]}"
        erased = asyncio.Event()

        async def late(body: bytes) -> AsyncIterator[bytes]:
            yield body[:5]
            await erased.wait()
            yield body[5:]

        notes = b'{"notes": "%b"}' % SECRET.encode()
        form = b"step=game/1&text=" + SECRET.replace(" ", "+").encode()
        kinds = {"content-type": "application/json"}, {"content-type": "application/x-www-form-urlencoded"}
        sent = [
            asyncio.create_task(one.client.post(path, content=late(body), headers=kind))
            for path, body, kind in (
                (f"{way}/draft", notes, kinds[0]),
                ("/study/report", form, kinds[1]),
                ("/study/now", form, kinds[1]),
            )
        ]
        await asyncio.sleep(1)
        assert (
            await arrive.stranger().post("/study/withdraw", code=server.new_withdrawal(one.person))
        ).status_code == 200
        erased.set()
        assert [(await task).status_code for task in sent] == [401, 409, 409]
        assert (await one.client.post(f"{way}/draft", json={"notes": SECRET})).status_code == 401
        await asyncio.sleep(5)
        assert holding(tmp_path / "run") == []

    in_study(tmp_path, work, training=False)
    assert holding(tmp_path / "run") == []


def test_people_come_leave_withdraw_and_come_back_at_random(tmp_path: Path) -> None:
    for seed in range(2):
        found = random_study(tmp_path / str(seed), seed, people=5)
        assert found.faults == []
        assert found.withdrawn
        assert found.killed
