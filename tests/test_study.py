"""Studies with people, without a browser: every step, who is lost on the way, and what is kept."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from rich.console import Console

from web_helpers import in_no_time, played
from wolflab.errors import ExperimentError, StoreError
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.people import StudyPeople, StudyPerson, StudyRefused, step_of, steps_of
from wolflab.lab.studies.plan import BLANK, StudyCell, StudyPlan, load_study, study_of
from wolflab.lab.studies.quoting import WITHHELD
from wolflab.rules import ROLES
from wolflab.ui.erasing import erase_words
from wolflab.ui.replay.writing import replay_of
from wolflab.ui.study.app import study_application
from wolflab.ui.study.house import StudyHouse

FILE: dict[str, Any] = {
    "name": "tiny",
    "title": "A tiny study",
    "experiment": {
        "rules": "doctor",
        "players": {"player_1": {"recipe": "person"}, "others": {"model": "village", "recipe": "vanilla"}},
        "seed": 7,
    },
    "people": 3,
    "games": 2,
    "quiz": 3,
    "consent": dict.fromkeys(
        ("responsible", "purpose", "takes", "readers", "kept", "erasable_until"), "told here"
    ),
    "about": [{"ask": "Are you of age?", "options": ["Yes", "No"], "required": True, "screens": ["No"]}],
    "after_game": [{"ask": "How was it?", "scale": 5, "required": True}],
    "interview": [{"ask": "Anything else?"}],
}
SECRET = "the purple heron dances"
"""What a person says, and what must not be found after it was erased."""


def written(folder: Path, **changes: Any) -> Path:
    file = folder / "study.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump({**FILE, **changes}))
    return file


def holding(run: Path) -> list[str]:
    """The files in which the secret stands."""
    return [file.name for file in run.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]


class Visitor:
    """Somebody's browser."""

    def __init__(self, house: StudyHouse, app: Any) -> None:
        self.house = house
        self.client = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://study.test", follow_redirects=True
        )
        self.text = ""

    async def get(self, path: str) -> httpx2.Response:
        return self._kept(await self.client.get(path))

    async def post(self, path: str, **fields: str) -> httpx2.Response:
        return self._kept(await self.client.post(path, data=fields))

    def _kept(self, answer: httpx2.Response) -> httpx2.Response:
        self.text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))
        return answer

    async def begin(self, outside: str = "") -> StudyPerson:
        await self.get(f"/study/?id={outside}")
        await self.post("/study/", id=outside)
        return self.person

    @property
    def person(self) -> StudyPerson:
        key = next(value for name, value in self.client.cookies.items() if name.endswith("_study"))
        found = self.house.people.by_key(key)
        assert found is not None
        return found

    @property
    def step(self) -> str:
        return self.house.advance(self.person)

    async def answer(self, **fields: str) -> httpx2.Response:
        """The step as most would answer it; fields: what is answered otherwise."""
        step = self.step
        usual = {
            "consent": {"agree": "yes"},
            "about": {"q0": "Yes"},
            "quiz": {
                "try": str(self.person.tries.get("quiz", 0)),
                **{f"q{n}": item.answer for n, item in enumerate(self.house.quiz(self.person))},
            }
            if step == "quiz"
            else {},
            "after": {"q0": "4"},
            "number": {"number": "12"},
            "interview": {"q0": SECRET},
        }.get(step.partition("/")[0], {})
        return await self.post("/study/now", **{"step": step, **usual, **fields})

    async def play(self) -> None:
        """The whole game that comes next."""
        step = self.step
        await self.client.post("/study/table", follow_redirects=False)  # its page comes from a thread
        table = self.house.tables.tables[self.person.tables[step]]
        for seat in table.plan.people:
            table.connected(seat)
        await played(table, _answers)

    async def go_to(self, step: str) -> None:
        """Do everything before that step."""
        for _ in range(40):
            now = self.step
            if now == step:
                return
            if now == "training" or now.startswith("game/"):
                await self.play()
            else:
                await self.answer()
        raise AssertionError(f"{step} never came; it is {self.step}")


def _answers(table: Any, seat: int, asked: Any) -> Any:
    from web_helpers import PersonAnswer, first_choice  # type: ignore[attr-defined]

    if asked.ask.options is None and not asked.rates:
        return PersonAnswer(said=f"I say that {SECRET}.")
    return first_choice(table, seat, asked)


def in_study(
    folder: Path,
    work: Callable[[StudyHouse, Callable[[], Visitor]], Coroutine[Any, Any, Any]],
    **changes: Any,
) -> Any:
    """Do it with a study that is served, in no time."""

    async def served() -> Any:
        house = StudyHouse.open(folder / "run", str(written(folder, **changes)))
        app = study_application(house, ["study.test"])
        try:
            async with app.router.lifespan_context(app):
                return await work(house, lambda: Visitor(house, app))
        finally:
            house.close()

    return in_no_time(served())


# -- the way through -----------------------------------------------------------------------------------


def test_somebody_goes_through_every_step_and_everything_is_kept(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin("recruit-17")
        for step in steps_of(house.study):
            assert one.step == step
            await (one.play() if step == "training" or step.startswith("game/") else one.answer())
        assert one.step == ""
        await one.get("/study/now")
        assert house.people.completion() in one.text

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
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("quiz")
        for k in range(3):
            before = [item.question for item in house.quiz(one.person)]
            first = house.quiz(one.person)[0]
            sent = {"step": "quiz", "try": str(one.person.tries.get("quiz", 0))}
            await one.answer(q0="No" if first.answer == "Yes" else "Yes")
            assert f"1 of {len(before)} were not right" in one.text
            assert one.step == "quiz"
            assert [item.question for item in house.quiz(one.person)] != before
            await one.post("/study/now", **sent)
            assert one.person.tries == {"quiz": k + 1}
        await one.answer()
        assert one.person.done["quiz"] == {"tries": "4"}

    in_study(tmp_path, work)


def test_whoever_must_not_take_part_is_told_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
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
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one, other = visitor(), visitor()
        await one.begin("same")
        await one.go_to("quiz")
        await other.begin("same")
        assert other.person.name == "p01"
        assert other.step == "quiz"
        assert len(house.people.people) == 1

    in_study(tmp_path, work)


def test_two_windows_count_once(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("after/1")
        await one.post("/study/now", step="after/1", q0="2")
        await one.post("/study/now", step="after/1", q0="5")
        assert one.person.done["after/1"] == {"How was it?": "2"}
        await one.post("/study/table")
        await one.post("/study/table")
        assert len(one.person.games["game/2"]) == 1
        assert len(house.store.games()) == 2

    in_study(tmp_path, work)


def test_a_pause_of_a_week_is_another_session_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def first(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin("week")
        await one.go_to("game/2")

    async def later(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin("week")
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
    people = StudyPeople(tmp_path, filled(people=1, place_kept=2))
    people.arrive("first")
    with pytest.raises(StudyRefused, match="all the people"):
        people.arrive("second")
    now[0] += 3 * 86_400
    people.arrive("second")
    assert people.arrive("first")[0].name == "p01"


@pytest.mark.parametrize("step", ["consent", "quiz", "training", "game/1", "after/1", "game/2", "interview"])
def test_whoever_stops_at_a_step_leaves_what_was_done_and_the_next_take_the_place(
    step: str, tmp_path: Path
) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to(step)
        if step == "training" or step.startswith("game/"):
            await one.post("/study/table")  # and leaves in the middle
        await one.post("/study/stop")
        assert one.person.left == f"stopped at {step}"
        await one.get("/study/now")
        assert "You have left this study" in one.text
        assert (await one.post("/study/now", step=step, agree="yes")).status_code == 409
        counted = [row for row in house.store.games() if row.over]
        assert len(counted) == {"after/1": 1, "game/2": 1, "interview": 2}.get(step, 0)
        for k in range(house.study.people):
            await visitor().begin(f"next-{k}")
        assert sum(not person.gone for person in house.people.people.values()) == house.study.people
        late = visitor()
        await late.post("/study/", id="late")
        assert "has all the people that it needs" in late.text

    in_study(tmp_path, work)


def test_an_abandoned_game_is_kept_and_planned_again(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("game/1")
        await one.post("/study/table")
        table = house.tables.tables[one.person.tables["game/1"]]
        table.give_up("the machine was switched off")
        assert one.step == "game/1"
        await one.go_to("after/1")
        rows = [(row.deal, row.repeat, row.status) for row in house.store.games()]
        assert rows == [(rows[0][0], 0, "failed"), (rows[0][0], 1, "done")]
        assert one.person.games["game/1"] == [1, 2]

    in_study(tmp_path, work)


@pytest.mark.parametrize("quote", ["yes", ""])
def test_a_replay_quotes_only_who_has_agreed(quote: str, tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.answer(quote=quote)
        await one.go_to("after/1")

    in_study(tmp_path, work, training=False, games=1)
    with Store.open_for_reading(tmp_path / "run") as store:
        page, missing = replay_of(store, 1)
    assert (SECRET in page) is bool(quote)
    assert (WITHHELD in page) is not bool(quote)
    assert ("has not agreed to be quoted" in missing) is not bool(quote)


def test_a_player_who_closes_the_browser_has_no_game_that_counts(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("game/1")
        await one.client.post("/study/table", follow_redirects=False)
        table = house.tables.tables[one.person.tables["game/1"]]
        while table.plan.state == "playing":
            await asyncio.sleep(5)
        assert one.step == "game/1"
        assert house.store.games()[0].status == "failed"
        await one.go_to("after/1")

    in_study(tmp_path, work)


def test_whoever_has_stopped_may_still_withdraw_and_is_told_what_it_was(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("training")
        await one.client.post("/study/table", follow_redirects=False)
        await one.post("/study/stop")
        assert "were computer programs in all games" in one.text
        answer = await one.post("/study/code")
        code = re.search(r"<b class=\"code\">([A-Z0-9-]+)</b>", answer.text)
        assert code is not None
        await one.post("/study/withdraw", code=code[1])
        assert "is erased" in one.text

    in_study(tmp_path, work)


def test_going_back_to_the_beginning_makes_nobody_new(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("quiz")
        await one.begin()
        assert one.step == "quiz"
        await one.go_to("")
        await one.post("/study/stop")
        assert house.people.completion() in one.text
        assert len(house.people.people) == 1
        for path in ("/", "/house", "/t/AAAAAA/host/"):
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


# -- leaving no trace ----------------------------------------------------------------------------------


def test_whoever_withdraws_is_erased_from_every_byte(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin("me")
        await one.go_to("debrief")
        answer = await one.post("/study/code")
        code = re.search(r"<b class=\"code\">([A-Z0-9-]+)</b>", answer.text)
        assert code is not None
        other = visitor()
        assert (await other.post("/study/withdraw", code="WRONG-WRONG-WRONG")).status_code == 403
        await other.post("/study/withdraw", code=code[1].lower())
        assert "is erased" in other.text
        assert one.person.left == "withdrawn"

    in_study(tmp_path, work)
    assert holding(tmp_path / "run") == []
    with Store.open_for_reading(tmp_path / "run") as store:
        assert all(store.record(row.id).erased for row in store.games() if row.over)


def test_whoever_withdraws_while_the_run_is_read_can_do_so_again(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("after/1")
        code = house.new_withdrawal(one.person)
        with Store.open_for_reading(tmp_path / "run") as reading:
            reading._db.execute("BEGIN")
            reading.games()
            assert (await one.post("/study/withdraw", code=code)).status_code == 500
            reading._db.execute("COMMIT")
        assert (await one.post("/study/withdraw", code=code)).status_code == 200
        assert one.person.left == "withdrawn"

    in_study(tmp_path, work)
    assert holding(tmp_path / "run") == []


def test_whoever_withdraws_in_the_middle_of_training_is_erased_too(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.go_to("training")
        await one.client.post("/study/table", follow_redirects=False)
        table = house.tables.tables[one.person.tables["training"]]
        (seat,) = table.plan.people
        table.connected(seat)
        while not holding(tmp_path / "run") and table.plan.state == "playing":
            await asyncio.sleep(0.25)
            for asked in table.desks[seat].shown:
                table.give(seat, asked.ask.id, _answers(table, seat, asked))
        assert table.plan.state == "playing"
        code = house.new_withdrawal(one.person)
        assert (await one.post("/study/withdraw", code=code)).status_code == 200

    in_study(tmp_path, work)
    assert holding(tmp_path / "run") == []


def test_the_command_erases_what_somebody_said_in_training_too(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        await (one := visitor()).begin()
        await one.go_to("debrief")

    in_study(tmp_path, work)
    run = tmp_path / "run"
    assert "run.sqlite" in holding(run)
    with pytest.raises(StoreError, match="nobody is named p02 there"):
        erase_words(Console(quiet=True), run, "p02", None)
    for _ in range(2):
        erase_words(Console(quiet=True), run, "p01", None)
        assert holding(run) == ["p01.json"], "what was answered to the study's questions stays"


def test_a_problem_can_be_reported_from_every_page(tmp_path: Path) -> None:
    async def work(house: StudyHouse, visitor: Callable[[], Visitor]) -> None:
        one = visitor()
        await one.begin()
        await one.post("/study/report", text="A player insulted me")
        assert [report.text for report in one.person.reports] == ["A player insulted me"]

    in_study(tmp_path, work)


# -- what a study may be -------------------------------------------------------------------------------


def test_a_study_with_blanks_in_its_consent_does_not_begin(tmp_path: Path) -> None:
    consent = {**FILE["consent"], "kept": BLANK}
    with pytest.raises(StoreError, match=r"nobody has filled in consent\.kept;"):
        StudyHouse.open(tmp_path / "run", str(written(tmp_path, consent=consent)))
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


def test_another_study_cannot_go_on_in_the_same_folder(tmp_path: Path) -> None:
    StudyHouse.open(tmp_path / "run", str(written(tmp_path))).close()
    StudyHouse.open(tmp_path / "run", str(written(tmp_path))).close()
    with pytest.raises(StoreError, match="a study with other settings"):
        StudyHouse.open(tmp_path / "run", str(written(tmp_path, games=3)))


@pytest.mark.parametrize("name", shipped_files("studies"))
def test_shipped_studies_are_drafts_with_blanks_and_whole_otherwise(name: str) -> None:
    study = load_study(name)
    assert study.consent.blanks == ["responsible", "purpose", "takes", "readers", "kept", "erasable_until"]
    assert study.source


# -- who plays what ------------------------------------------------------------------------------------


def filled(**changes: Any) -> StudyPlan:
    return study_of({**FILE, **changes}, "tiny.yaml")


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
