"""Studies in which several people sit at one table: who waits, who sits where, who leaves, who is erased."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from study_helpers import FILE, SECRET, Arrivals, Visitor, in_study, people_answer
from web_helpers import played
from wolflab.errors import ExperimentError
from wolflab.lab.plans.specs import PERSON
from wolflab.lab.results.summaries import games as counted_games
from wolflab.lab.runs.verification import verify_run
from wolflab.lab.studies.study_plan import load_study, study_of
from wolflab.rules import Said
from wolflab.ui.study import study_server as houses
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.web_table import WebTable

SEATS = ("player_2", "player_5", "player_6")
GROUP: dict[str, Any] = {
    "experiment": {
        **FILE["experiment"],
        "players": {
            **{seat: {"recipe": PERSON} for seat in SEATS},
            "others": {"model": "village", "recipe": "vanilla"},
        },
        "watched": "player_1",
    },
    "seat": SEATS[0],
    "together": list(SEATS[1:]),
    "people": 6,
    "games": 2,
    "training": False,
}


async def ask_for_a_seat(one: Visitor) -> None:
    await one.client.post("/study/table", follow_redirects=False)


async def sit(people: list[Visitor]) -> WebTable:
    """All of them go to the table; the last one makes it, and then each of them opens it."""
    for one in (*people, *people):
        await ask_for_a_seat(one)
    codes = {one.person.tables[one.step] for one in people}
    assert len(codes) == 1
    table = people[0].server.tables.tables[codes.pop()]
    for seat in table.plan.people:
        table.connected(seat)
    return table


async def play_together(people: list[Visitor]) -> WebTable:
    table = await sit(people)
    await played(table, people_answer)
    return table


def test_a_table_is_made_when_all_have_come(tmp_path: Path) -> None:
    async def come(server: StudyServer, arrive: Arrivals) -> None:
        people = [await arrive("game/1") for _ in range(3)]
        await ask_for_a_seat(people[0])
        answer = await people[0].get("/study/now")
        assert "1 of 3 people are here" in people[0].text
        assert answer.headers["refresh"] == "4"
        assert "refresh" not in (await people[1].get("/study/now")).headers
        assert not server.store.games()  # who has not asked for a seat does not wait
        table = await sit(people)
        assert table.plan.people == [2, 5, 6]
        assert "refresh" not in (await people[0].get("/study/now")).headers
        assert {server.seat_of(one.person, table.plan.game) for one in people} == {2, 5, 6}
        way = f"/t/{table.plan.code}/s/{table.plan.people[0]}"
        for refused in (f"{way}/leave", f"{way}/name", f"/t/{table.plan.code}/join"):
            assert (await people[0].post(refused)).status_code in (404, 405), refused
        called = [seat.nick for seat in table.plan.seats if seat.taken]
        assert called == ["Person 1", "Person 2", "Person 3"]

    in_study(tmp_path, come, **GROUP)


def test_somebody_whose_page_is_closed_no_longer_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def come(server: StudyServer, arrive: Arrivals) -> None:
        people = [await arrive("game/1") for _ in range(3)]
        monkeypatch.setattr(houses, "_WAITS", -1.0)
        for one in people:
            await ask_for_a_seat(one)
        assert not server.store.games()

    in_study(tmp_path, come, **GROUP)


def test_games_of_groups_are_of_the_run_and_nobody_meets_a_deal_twice(tmp_path: Path) -> None:
    async def go(server: StudyServer, arrive: Arrivals) -> list[str]:
        people = [await arrive("game/1") for _ in range(3)]
        late = await arrive("game/1")
        first = await play_together(people)
        for one in people:
            await one.go_to("game/2")
        second = await play_together([late, people[0], people[1]])
        seats = [server.seat_of(people[0].person, at.plan.game) for at in (first, second)]
        assert seats[0] != seats[1]
        assert [(row.deal, row.status) for row in server.store.games()] == [(0, "done"), (1, "done")]
        assert not verify_run(server.store, agents=True).faults
        sat = server.store.sittings()
        assert len(sat) == 6
        assert {one.place for one in sat if one.game == second.plan.game} == {1, 2}
        return [game.person for game in counted_games(server.store)]

    assert in_study(tmp_path, go, **GROUP) == ["p01+p02+p03", "p01+p02+p04"]


@pytest.mark.parametrize(("vanish", "status"), [("void", "failed"), ("stand-in", "done")])
def test_who_stops_is_stood_in_for_or_makes_the_game_void(tmp_path: Path, vanish: str, status: str) -> None:
    async def leave(server: StudyServer, arrive: Arrivals) -> None:
        people = [await arrive("game/1") for _ in range(3)]
        table = await sit(people)
        left = server.seat_of(people[0].person, table.plan.game)
        await people[0].post("/study/stop")
        table.disconnected(left)
        await played(table, lambda at, seat, asked: None if seat == left else people_answer(at, seat, asked))
        assert server.store.game(table.plan.game).status == status
        next_step = "after/1" if status == "done" else "game/1"  # that is played again, with others
        assert [one.step for one in people[1:]] == [next_step] * 2

    in_study(tmp_path, leave, **GROUP, vanish=vanish, pause=0)


def test_one_of_them_is_erased_and_what_the_others_said_stays(tmp_path: Path) -> None:
    async def withdraw(server: StudyServer, arrive: Arrivals) -> None:
        people = [await arrive("game/1") for _ in range(3)]
        table = await play_together(people)
        game = table.plan.game
        before = [event for event in server.store.record(game).events if isinstance(event, Said)]
        said = {event.seat for event in before if SECRET in event.text}
        assert len(said) > 1
        seats = {server.seat_of(one.person, game): one for one in people}
        gone = min(said)
        code = re.search(r"[A-Z0-9]{5}(-[A-Z0-9]{5}){2}", (await seats[gone].post("/study/code")).text)
        assert code is not None
        await seats[gone].post("/study/withdraw", code=code[0])
        after = [event for event in server.store.record(game).events if isinstance(event, Said)]
        assert {event.seat for event in after if SECRET in event.text} == said - {gone}
        assert not verify_run(server.store, agents=False).faults

    in_study(tmp_path, withdraw, **GROUP)


def test_a_server_that_is_killed_while_people_sit_down(tmp_path: Path) -> None:
    """A game without a table is given up; a table that some do not know of is theirs all the same."""

    async def sit_down(server: StudyServer, arrive: Arrivals) -> None:
        people = [await arrive("game/1") for _ in range(3)]
        (await sit(people)).drop()
        for one in people[1:]:
            person = one.person
            person.tables, person.games = {}, {}
            server.people.keep(person)
        first = people[0].person
        server.people.group_game(server.store, [first])
        first.games = {"game/1": first.games["game/1"][:1]}
        server.people.keep(first)

    in_study(tmp_path, sit_down, **GROUP)

    async def go_on(server: StudyServer, arrive: Arrivals) -> None:
        people = list(server.people.people.values())
        assert len({one.tables["game/1"] for one in people}) == 1
        assert [one.games["game/1"] for one in people] == [[1], [1], [1]]
        assert server.store.game(2).status == "failed"

    in_study(tmp_path, go_on, **GROUP)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"together": ["player_9"]}, "there is no 'player_9'"),
        ({"together": ["player_3"]}, "player_3 has to be {recipe: person}"),
        ({"together": [SEATS[1]]}, "player_6 is a person too; name that seat in together"),
        ({"deals": "chosen"}, "people who sit together have deals: shared"),
        ({"together": [*SEATS[1:], SEATS[1]]}, "a seat each"),
        ({"people": 2}, "3 sit at a table"),
        ({"cells": {"a": {"condition": "all", "side": "village"}}}, "for one person at a table"),
    ],
)
def test_a_group_that_cannot_sit_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ExperimentError, match=re.escape(told)):
        study_of({**FILE, **GROUP, **changes}, "s.yaml")


def test_a_stand_in_is_for_groups() -> None:
    with pytest.raises(ExperimentError, match="for people who play together"):
        study_of({**FILE, "vanish": "stand-in"}, "s.yaml")


def test_the_shipped_group_has_six_people_and_one_agent() -> None:
    study = load_study("strategic-group")
    assert len(study.seats) == 6
    assert study.played.watched == "player_0"
    assert study.played.cast("all")["others"].recipe == "strategic-004"
