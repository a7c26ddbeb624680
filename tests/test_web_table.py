"""Tables in the browser, without one: what is sent to whom and when, who vanishes, what is kept."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Callable, Coroutine, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from command_line import called
from web_helpers import Frames, first_choice, in_no_time, now, played, seated, until, wish
from wolflab.errors import BudgetExceeded, ServerError, StoreError
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.storage.store import Store
from wolflab.match.draws import Draws, draw_option
from wolflab.models.village import Village
from wolflab.rules import EVERYONE, PRESETS, Action, Ask, Deal, Said, VotesSet
from wolflab.text.asking.sentences import sentence as words_of
from wolflab.text.notes import StoodIn, Thought
from wolflab.text.people import PersonAnswer
from wolflab.text.transcript import PUBLIC, Transcript
from wolflab.ui.commands.erase import erase
from wolflab.ui.web import table_game, table_state
from wolflab.ui.web.refusals import Refused
from wolflab.ui.web.seat_session import OpenAsk, StoredSession
from wolflab.ui.web.state_messages import _seats, _turn_sentence, device_message
from wolflab.ui.web.table_plan import (
    GRACE,
    LENIENCY,
    BudgetPlan,
    SeatWish,
    night_duties,
    same_secret,
    web_rules,
)
from wolflab.ui.web.table_server import TableServer
from wolflab.ui.web.table_state import Awaited
from wolflab.ui.web.web_table import WebTable


def silent(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
    """Somebody who says nothing."""
    return None


def at_table(folder: Path, work: Callable[[TableServer], Coroutine[Any, Any, Any]]) -> Any:
    """Do it in a server of its own, in no time."""

    async def open_house() -> Any:
        server = TableServer(folder)
        server.open()
        try:
            return await work(server)
        finally:
            server.close()

    return in_no_time(open_house())


# -- whole games ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
def test_three_people_and_agents_play_a_whole_game(rules: str, tmp_path: Path) -> None:
    async def game(server: TableServer) -> Path:
        table = seated(server, wish(rules, people=(0, 2, 4)))
        table.start()
        await played(table)
        assert (table.plan.state, table.plan.why) == ("over", "")
        return table.folder

    folder = at_table(tmp_path, game)
    with Store.open_for_reading(folder) as store:
        verify_game(store, store.game(1), agents=True)
        record = store.record(1)
    people = [turn for turn in (*record.turns, *record.probes) if turn.seat in (0, 2, 4)]
    assert people
    assert all(turn.invalid is None for turn in people)


def test_polls_are_asked_where_the_table_measures_and_the_last_answer_is_filled_in(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def rate(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
        told = asked.message(table.sessions[seat].kept)
        if told["outside"]:
            seen.append(told)
        if told["rate"]:
            return PersonAnswer(rated=dict.fromkeys(told["rate"], 9))
        return first_choice(table, seat, asked)

    async def game(server: TableServer) -> None:
        table = seated(server, wish(people=(0, 2), measure=True))
        table.start()
        await played(table, rate)
        assert table.plan.state == "over"

    at_table(tmp_path, game)
    ids = [told["id"] for told in seen]
    assert ids
    assert len(ids) == len(set(ids)), "nobody is asked the same poll twice"
    assert any(told["options"] for told in seen), "straw polls"
    ratings = [told for told in seen if told["rate"] and told["id"].endswith("/0")]
    assert ratings[0]["last"] == {}, "no number is put into anybody's mouth"
    assert set(ratings[1]["last"].values()) == {9}

    async def plain(server: TableServer) -> None:
        seen.clear()
        table = seated(server, wish())
        table.start()
        await played(table, rate)

    at_table(tmp_path / "plain", plain)
    assert not seen


# -- what goes down -------------------------------------------------------------------------------------


async def _watched(server: TableServer, rules: str, seed: int) -> tuple[WebTable, list[Frames]]:
    table = seated(server, wish(rules, people=(0, 1, 2)), seed)
    frames = [Frames(feed).watch() for feed in (*table.seats, table.public)]
    table.start()
    return table, frames


def leaks(table: WebTable, viewer: Frames) -> list[str]:
    """What a viewer was sent, before the end, that it may not know."""
    running = [
        message for _, message in viewer.sent if message["now"].get("table", {}).get("state") != "over"
    ]
    words = json.dumps(running, ensure_ascii=False)
    found = [word for word in (str(table.plan.seed), table.plan.keeper) if word in words]
    feed, roles = viewer.feed, table.host.facts.roles
    with Store.open_for_reading(table.folder) as store:
        record = store.record(1)
    seat = viewer.feed.viewer
    unseen = [event for event in record.events if seat == PUBLIC or not event.audience >> seat & 1]
    hidden = {words_of(event, None, record.ruleset) for event in unseen if event.audience >= 0}
    hidden |= {note.text for turn in record.turns for _, note in turn.notes if isinstance(note, Thought)}
    items = [item for message in running for item in message["log"]]
    found += sorted({item["text"] for item in items if item["kind"] not in ("said", "vote")} & hidden)
    may_know = {known for known, role in enumerate(feed.facts.roles) if role}
    for message in running:
        for told in message["now"].get("seats", ()):
            if told["role"] and told["seat"] not in may_know:
                found.append(f"{told['name']} is {roles[told['seat']]}")
    numbers = [item["n"] for item in items]
    if numbers != list(range(len(numbers))):
        found.append(f"a gap in the numbers: {numbers}")
    return found


@pytest.mark.parametrize("rules", ["sheriff", "witch", "nine"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_frame_holds_what_its_seat_may_not_know(rules: str, seed: int, tmp_path: Path) -> None:
    async def game(server: TableServer) -> list[str]:
        table, frames = await _watched(server, rules, 4_000_000 + seed)
        await played(table)
        assert table.plan.state == "over"
        assert any(b'"secret"' in item for item in table.host.items), "there was something to be known"
        return [leak for viewer in frames for leak in leaks(table, viewer)]

    assert at_table(tmp_path, game) == []


def test_a_planted_leak_shows_in_the_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def game(server: TableServer) -> list[str]:
        table, frames = await _watched(server, "sheriff", 4_000_001)
        await played(table)
        return [leak for viewer in frames for leak in leaks(table, viewer)]

    monkeypatch.setattr(Transcript, "sees", lambda self, event: True)
    assert at_table(tmp_path, game)


def by_public_facts(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
    """Answers that depend on nothing but what everybody knows: so twins play alike."""
    told, alive = asked.message(StoredSession()), table.public.facts.living
    options = told["options"]
    if options is None:
        return PersonAnswer(said=f"I sit at {seat + 1}.")
    quiet = [
        option for option in options if option in ("no", "pass") or option.startswith(("do not", "pass"))
    ]
    names = {"kill": alive[-1], "elect": alive[0], "protect": alive[0], "save": alive[0]}
    wanted = table.ruleset.names[names.get(asked.ask.kind, alive[1])]
    fitting = [option for option in options if option.endswith(wanted)]
    if asked.ask.kind in names and fitting:
        return PersonAnswer(chose=fitting[0])
    return PersonAnswer(chose=(quiet or fitting or options)[0])


def never_at_night(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
    """As `by_public_facts`, but whoever is asked at night lets the time run out."""
    return by_public_facts(table, seat, asked) if asked.public else None


async def _twin(server: TableServer, rules: str, roles: Sequence[str], choose: Any, ready: bool) -> Any:
    """What seat 1 and those who watch are sent in the first two days of a game with these roles; None where
    it was over sooner.
    """

    def as_given(ask: Ask, draws: Draws) -> Action:
        return Deal(roles[int(ask.id.split("/")[2])]) if ask.kind == "deal" else draw_option(ask, draws)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["wolflab.match.draws"], "draw_option", as_given)
        table = seated(server, wish(rules, people=range(len(roles))))
        frames = Frames(table.seats[0]).watch(), Frames(table.public).watch()
        began = now()
        table.start()
        rounds = asyncio.create_task(played(table, choose, ready))
        while table.plan.state == "playing" and table.public.facts.round < 3 and now() < began + 5000:
            await asyncio.sleep(0.25)
        rounds.cancel()
    assert table.host.facts.roles == tuple(roles)
    sent = [
        [f"{when - began:.2f} {_without(message, table, began)}" for when, message in viewer.sent]
        for viewer in frames
    ]
    whole = table.public.facts.round == 3
    table.close()
    return sent if whole else None


def _without(message: dict[str, Any], table: WebTable, began: float) -> str:
    """A frame without the table's code, its times counted from the start of the game."""

    def at(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: at(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [at(inner) for inner in value]
        return round(value - began, 2) if name in ("until", "clock") and value is not None else value

    return json.dumps(at(message)).replace(table.plan.code, "CODE")


@pytest.mark.parametrize(
    ("rules", "choose", "ready"),
    [
        ("sheriff", by_public_facts, True),
        ("sheriff", by_public_facts, False),
        pytest.param("nine", by_public_facts, True, marks=pytest.mark.slow),
        pytest.param("nine", by_public_facts, False, marks=pytest.mark.slow),
        ("nine", never_at_night, True),  # whoever lets the time run out at night does nothing there
    ],
)
def test_twin_games_send_the_same_frames_at_the_same_times(
    rules: str, choose: Any, ready: bool, tmp_path: Path
) -> None:
    """Games that differ in nothing but what a seat cannot know: who holds which role elsewhere."""
    cards = [role for role, n in PRESETS[rules].roles.items() for _ in range(n)]
    cards.remove("Villager")

    async def games(server: TableServer) -> list[Any]:
        found = []
        for number in range(6):
            others = random.Random(number).sample(cards, len(cards))
            found.append(await _twin(server, rules, ["Villager", *others], choose, ready))
        return [sent for sent in found if sent is not None]

    first, *twins = at_table(tmp_path, games)
    assert len(twins) > 2
    assert all(len(frames) > 20 for frames in first)
    for twin in twins:
        for mine, theirs in zip(first, twin, strict=True):
            differing = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
            assert not differing, _first_difference(*differing[0])
            assert len(mine) == len(theirs)


def _first_difference(mine: str, theirs: str) -> str:
    at = next(k for k, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b)
    return (
        f"{mine[:8]} …{mine[max(0, at - 80) : at + 80]} | {theirs[:8]} …{theirs[max(0, at - 80) : at + 80]}"
    )


# -- time -----------------------------------------------------------------------------------------------


def test_the_night_is_as_long_as_declared_whoever_lives(tmp_path: Path) -> None:
    async def game(server: TableServer) -> list[float]:
        table = seated(server, wish(times={"night": 30}))
        frames = Frames(table.public).watch()
        table.start()
        await played(table, ready=False)
        nights: dict[int, list[float]] = {}
        for when, message in frames.sent:
            for item in message["log"]:
                if item["kind"] == "time" and message["now"]["seats"][0]["alive"]:
                    nights.setdefault(item["round"], []).append(when)
        return [day - night for night, day in (pair for pair in nights.values() if len(pair) == 2)]

    lengths = at_table(tmp_path, game)
    assert lengths
    assert all(length == pytest.approx(30, abs=0.01) for length in lengths)


def test_the_steps_of_a_night_follow_from_the_rules_alone() -> None:
    assert night_duties(web_rules("sheriff")) == {"kill": (2, 2), "see": (1, 1), "protect": (1, 1)}
    steps = {kind: step.last for kind, step in night_duties(web_rules("nine")).items()}
    assert steps == {"kill": 3, "see": 1, "antidote": 4, "poison": 5}


def test_an_answer_a_moment_late_counts_and_one_later_does_not(tmp_path: Path) -> None:
    async def game(server: TableServer) -> list[bool]:
        taken: list[bool] = []
        table = seated(server, wish(people=range(7), times={"speak": 10}))
        table.start()
        late = iter((LENIENCY - 0.6, LENIENCY + 0.6))

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            return first_choice(table, seat, asked) if asked.ask.options is not None else None

        play = asyncio.create_task(played(table, choose))
        for after in late:
            seat, asked = await _asked_for_words(table)
            assert asked.due is not None
            await asyncio.sleep(asked.due + after - now())
            try:
                table.give(seat, asked.ask.id, PersonAnswer(said="at last"))
                taken.append(True)
            except Refused as refused:
                taken.append("too late" not in str(refused))
            await asyncio.sleep(1)
        play.cancel()
        return taken

    assert at_table(tmp_path, game) == [True, False]


async def _asked_for_words(table: WebTable) -> tuple[int, OpenAsk]:
    """The next person who is to speak."""

    def waiting() -> list[tuple[int, OpenAsk]]:
        people = [(seat, asked) for seat in table.plan.people for asked in table.sessions[seat].shown]
        return [(seat, asked) for seat, asked in people if asked.ask.options is None and not asked.outside]

    await until(table, waiting)
    return waiting()[0]


def test_agents_speak_at_the_declared_pace(tmp_path: Path) -> None:
    async def game(server: TableServer) -> list[float]:
        table = seated(server, wish(times={"pace": 4}))
        frames = Frames(table.public).watch()
        table.start()
        await played(table)
        said = [
            (when, item["seat"])
            for when, message in frames.sent
            for item in message["log"]
            if item["kind"] == "said"
        ]
        return [after - before for (before, _), (after, seat) in pairwise(said) if seat != 0]

    gaps = at_table(tmp_path, game)
    assert gaps
    assert all(gap >= 4 for gap in gaps)


# -- who vanishes ---------------------------------------------------------------------------------------


async def _vanished(server: TableServer, vanish: str) -> tuple[WebTable, list[dict[str, Any]], float]:
    """Somebody closes the page when it is their turn to speak; how long the others wait."""
    table = seated(server, wish(people=(0, 2), vanish=vanish))
    frames = Frames(table.public).watch()
    table.start()

    def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
        return first_choice(table, seat, asked) if seat == 2 or not asked.public else None

    play = asyncio.create_task(played(table, choose))
    await until(table, lambda: any(asked.public for asked in table.sessions[0].shown))
    table.disconnected(0)
    began = now()
    while table.sessions[0].shown and table.plan.state == "playing":
        await asyncio.sleep(0.25)
    waited = now() - began
    await play
    return table, [message["now"] for _, message in frames.sent], waited


@pytest.mark.parametrize("vanish", ["pass", "stand-in"])
def test_who_vanishes_is_waited_for_and_then_the_table_does_what_it_declared(
    vanish: str, tmp_path: Path
) -> None:
    async def game(server: TableServer) -> Path:
        table, states, waited = await _vanished(server, vanish)
        assert GRACE <= waited < GRACE + 1.5
        pauses = {now_["pause"]["text"] for now_ in states if now_.get("pause")}
        assert pauses == {"Player 1 (Person 1) has lost the connection; the game waits"}
        assert table.plan.state == "over"
        assert any(now_["seats"][0]["stand_in"] for now_ in states[1:]), "it is disclosed"
        return table.folder

    folder = at_table(tmp_path, game)
    with Store.open_for_reading(folder) as store:
        verify_game(store, store.game(1), agents=True)
        record = store.record(1)
    turns = [turn for turn in record.turns if turn.seat == 0]
    has_stand_in = [turn for turn in turns if any(isinstance(note, StoodIn) for _, note in turn.notes)]
    passed = [turn for turn in turns if turn.invalid == "the person gave no answer: left the table"]
    assert bool(has_stand_in) == (vanish == "stand-in")
    assert bool(passed) == (vanish == "pass")


def test_a_table_can_be_void_when_somebody_vanishes(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table, _, waited = await _vanished(server, "void")
        assert GRACE <= waited < GRACE + 1.5
        assert table.plan.state == "over"
        assert table.plan.why == "Player 1 has left, and this table declares the game void then."
        with Store.open_for_reading(table.folder) as store:
            assert store.game(1).error == f"void: {table.plan.why}"

    at_table(tmp_path, game)


def test_who_comes_back_in_time_goes_on_with_the_time_that_was_left(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish(people=range(7), times={"speak": 20}))
        table.start()

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            return first_choice(table, seat, asked) if asked.ask.options is not None else None

        play = asyncio.create_task(played(table, choose))
        seat, asked = await _asked_for_words(table)
        due = asked.due
        assert due is not None
        table.disconnected(seat)
        await asyncio.sleep(10)
        table.connected(seat)
        assert asked.due == pytest.approx(due + 10, abs=0.01)
        assert asked in table.sessions[seat].shown
        play.cancel()

    at_table(tmp_path, game)


def test_idlers_block_nobody(tmp_path: Path) -> None:
    """Two turns are waited for; then the table does at once what it declared."""

    async def game(server: TableServer) -> list[float]:
        table = seated(server, wish(times={"speak": 30, "vote": 30, "night": 20}))
        table.start()
        waits: dict[str, tuple[float, float]] = {}
        play = asyncio.create_task(played(table, silent, ready=False))
        while table.plan.state == "playing":
            for asked in table.sessions[0].shown:
                if asked.public:
                    first = waits.get(asked.ask.id, (now(), 0.0))[0]
                    waits[asked.ask.id] = first, now()
            await asyncio.sleep(0.25)
        await play
        return [last - first for first, last in waits.values()]

    waits = at_table(tmp_path, game)
    assert [wait > 20 for wait in waits[:2]] == [True, True]
    assert all(wait < 1.5 for wait in waits[2:])


# -- what is kept ---------------------------------------------------------------------------------------


def test_a_killed_server_brings_the_table_back(tmp_path: Path) -> None:
    """With what was answered, what is being typed, and every item under the number that it had."""
    asked_again: list[str] = []

    async def first(server: TableServer) -> tuple[str, list[bytes], str]:
        table = seated(server, wish(people=(0, 2)))
        table.start()

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            return first_choice(table, seat, asked) if asked.ask.round == 1 else None

        play = asyncio.create_task(played(table, choose))
        await until(table, lambda: table.public.facts.round > 1 and table.sessions[0].shown)
        play.cancel()
        table.sessions[0].kept.draft = "I was about to sa"
        table.sessions[0].kept.notes = "Player 4 blinks."
        table.save()
        for session in table.sessions:
            asked_again.extend(session.kept.answers)
        return table.plan.code, list(table.seats[0].items), table.sessions[0].shown[0].ask.id

    code, items, open_ask = at_table(tmp_path, first)

    async def second(server: TableServer) -> None:
        table = server.table(code)
        assert table.sessions[0].kept.draft == "I was about to sa"
        assert table.sessions[0].kept.notes == "Player 4 blinks."
        for seat in (0, 2):
            table.connected(seat)
        seen: list[str] = []

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            seen.append(asked.ask.id)
            return first_choice(table, seat, asked)

        await played(table, choose)
        assert table.plan.state == "over"
        assert open_ask in seen
        assert not set(seen) & set(asked_again), "nobody is asked again"
        assert table.seats[0].items[: len(items)] == items

    at_table(tmp_path, second)


def test_what_was_shown_is_shown_again_at_once(tmp_path: Path) -> None:
    async def first(server: TableServer) -> tuple[str, int]:
        table = seated(server, wish(times={"night": 60, "pace": 5}))
        table.start()
        play = asyncio.create_task(played(table))
        await until(table, lambda: table.public.facts.round > 1)
        play.cancel()
        return table.plan.code, len(table.public.items)

    code, items = at_table(tmp_path, first)

    async def second(server: TableServer) -> None:
        table = server.table(code)
        table.connected(0)
        await asyncio.sleep(1)
        assert len(table.public.items) >= items - 1

    at_table(tmp_path, second)


def test_an_answer_counts_once_it_is_kept(tmp_path: Path) -> None:
    """The server said that it has it, and was killed before the game had it."""

    async def first(server: TableServer) -> tuple[str, str]:
        table = seated(server, wish())
        table.start()
        await until(table, lambda: table.sessions[0].shown)
        asked = table.sessions[0].shown[0]
        answer = first_choice(table, 0, asked)
        assert answer is not None
        table.sessions[0].give(asked.ask.id, answer, now())
        table.save()  # and here it is killed
        return table.plan.code, asked.ask.id

    code, name = at_table(tmp_path, first)

    async def second(server: TableServer) -> None:
        table = server.table(code)
        table.connected(0)

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            assert asked.ask.id != name
            return first_choice(table, seat, asked)

        await played(table, choose)
        assert table.plan.state == "over"

    at_table(tmp_path, second)


@pytest.mark.parametrize(
    "error", [ServerError("village is not there"), BudgetExceeded("the budget is spent")]
)
def test_a_failure_pauses_the_table_and_keeps_what_people_answer(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish(people=(0, 2)))
        with monkeypatch.context() as patch:
            original = Village.generate

            async def failing(self: Village, request: Any) -> Any:
                if "|1/vote/" in request.key:
                    raise error
                return await original(self, request)

            patch.setattr(Village, "generate", failing)
            table.start()
            await played(table)
        assert table.plan.state == "paused"
        assert str(error) in table.plan.why
        kept = {name for session in table.sessions for name in session.kept.answers}
        assert {"1/vote/0", "1/vote/2"} <= kept, "who was voting could finish"
        table.game.resume()
        seen: list[str] = []

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            seen.append(asked.ask.id)
            return first_choice(table, seat, asked)

        await played(table, choose)
        assert table.plan.state == "over"
        assert not kept & set(seen)

    at_table(tmp_path, game)


def test_a_game_that_is_over_is_read_back_from_its_record(tmp_path: Path) -> None:
    async def game(server: TableServer) -> tuple[str, list[list[bytes]]]:
        table = seated(server, wish("witch", people=(0, 3)))
        frames = [Frames(feed).watch() for feed in table.feeds]
        table.start()
        await played(table, never_at_night)
        live = [
            [item for _, message in viewer.sent for item in message["log"] if message["from"] <= item["n"]]
            for viewer in frames
        ]
        items = [feed.items for feed in table.feeds]
        for shown, kept in zip(live, items, strict=True):
            told = {item["n"]: {**item, "n": 0} for item in shown}
            assert [{**json.loads(item), "n": 0} for item in kept] == [told[n] for n in range(len(kept))]
        return table.plan.code, items

    code, items = at_table(tmp_path, game)

    async def later(server: TableServer) -> None:
        assert code not in server.tables
        table = server.table(code)
        assert [feed.items for feed in table.feeds] == items
        assert b'"reveal"' in table.public.items[-1]

    at_table(tmp_path, later)


def test_what_a_person_left_at_the_table_can_be_erased(tmp_path: Path) -> None:
    async def game(server: TableServer) -> Path:
        table = seated(server, wish())
        table.start()
        table.sessions[0].kept.notes = "my neighbour's name is Zebedee"
        await played(table)
        with pytest.raises(StoreError, match="another process"):  # it would write them again
            called(erase, table.folder, "Person 1")
        return table.folder

    folder = at_table(tmp_path, game)
    assert "Zebedee" in (folder / "sessions.json").read_text()
    called(erase, folder, "Person 1")
    assert "Zebedee" not in (folder / "sessions.json").read_text()
    assert "Person 1" not in (folder / "table.json").read_text()
    with Store.open_for_reading(folder) as store:
        said = [event for event in store.record(1).events if isinstance(event, Said) and event.seat == 0]
        assert said
        assert all(event.text == "(erased on request)" for event in said)


# -- the lobby ------------------------------------------------------------------------------------------


def test_a_lobby_does_not_wait_for_ever(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table, _, _ = server.make(wish(people=(0, 1, 2), times={"wait": 3}), host=False)
        table.join("Anna", 1)
        table.connected(1)
        frames = Frames(table.public).watch()
        await asyncio.sleep(179)
        assert table.plan.state == "lobby"
        start = frames.sent[-1][1]["now"]["start"]
        assert start["until"] == pytest.approx(180, abs=1)
        await asyncio.sleep(3)
        assert table.plan.state == "playing", "built-in players take the other seats"
        players = table.plan.experiment().players
        assert players["Player 2"].recipe_name == "person"
        assert {"Player 1", "Player 3"}.isdisjoint(players), "whoever plays for all others plays here"
        assert players["others"].recipe_name == "deductive"

    at_table(tmp_path, game)


def test_a_lobby_with_nobody_in_it_does_not_begin(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table, _, _ = server.make(wish(people=(0, 1), times={"wait": 1}), host=False)
        table.join("Anna", 1)
        table.connected(1)
        table.disconnected(1)
        await asyncio.sleep(600)
        assert table.plan.state == "lobby"
        table.connected(1)
        await asyncio.sleep(2)
        assert table.plan.state == "playing"

    at_table(tmp_path, game)


def test_seats_are_taken_once_and_by_different_names(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table, _, _ = server.make(wish(people=(0, 1)), host=False)
        with pytest.raises(Refused, match="nobody has sat down yet"):
            table.start()
        assert table.join("Anna")[0] == 0
        for name, seat, sentence in (
            ("Ben", 0, "this seat is taken"),
            ("ANNA", 1, "called so; take another name"),
            ("Ben", 5, "this seat is taken"),
            ("\u200b", 1, "say what the others may call you"),
        ):
            with pytest.raises(Refused, match=sentence):
                table.join(name, seat)
        assert table.join("Ben")[0] == 1
        with pytest.raises(Refused, match="all seats for people are taken"):
            table.join("Carl")
        table.leave(1)
        assert table.join("Carl")[0] == 1

    at_table(tmp_path, game)


def test_where_agents_are_not_marked_nobody_can_tell_them_from_people(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish(people=(0, 1, 2), marked=False))
        frames = Frames(table.public).watch()
        table.start()
        await played(table)
        for _, message in frames.sent[1:]:
            if message["now"]["table"]["state"] == "over":
                continue
            alike = {
                (s["kind"], s["nick"], s["open"], s["here"], s["stand_in"], s["agent"])
                for s in message["now"]["seats"]
            }
            assert alike == {("player", "", False, None, False, "")}

    at_table(tmp_path, game)
    seats = set()

    async def order(server: TableServer) -> None:
        with pytest.raises(Refused, match="around a shared device"):
            server.make(
                msgspec.structs.replace(wish(marked=False), seats=[SeatWish("shared")] * 7), host=False
            )
        table, _, _ = server.make(wish(people=(0, 1, 2), marked=False), host=False)
        with pytest.raises(Refused, match="nobody may know"):
            table.join("Anna", 1)
        for _ in range(12):  # whoever gets up and sits down again does not learn where people sit
            seat, _ = table.join("Anna")
            seats.add(seat)
            table.leave(seat)

    at_table(tmp_path / "order", order)
    assert len(seats) > 3


# -- a device that people share -------------------------------------------------------------------------


def test_a_shared_device_asks_for_everybody_alike_at_night(tmp_path: Path) -> None:
    """In every step of the night each living person is called once, whoever has something to do."""

    async def game(server: TableServer) -> None:
        made = wish("witch", people=())
        seats = [{"kind": "shared" if seat in (0, 3, 5) else "agent"} for seat in range(7)]
        made = msgspec.convert({**msgspec.to_builtins(made), "seats": seats}, type(made))
        table, _, _ = server.make(made, host=False)
        assert device_message(table)["text"] == "Give the device to Player 1"
        for seat in (0, 3, 5):
            table.plan.seats[seat].pin = "salt", "hash"
        table.start()
        calls: list[int] = []
        while table.public.facts.phase != "day":
            wanted = [seat["seat"] for seat in device_message(table)["seats"] if seat["wanted"]]
            if wanted and table.public.facts.phase == "night":
                seat = wanted[0]
                calls.append(seat)
                for asked in table.sessions[seat].shown:
                    answer = first_choice(table, seat, asked)
                    assert answer is not None
                    table.give(seat, asked.ask.id, answer)
                for _ in range(2):  # a request that is sent again counts once
                    table.rest(seat, 1, ticket=f"ticket {len(calls)}")
            await asyncio.sleep(1)
        assert calls == [0, 3, 5] * table.plan.night_steps

    at_table(tmp_path, game)


# -- what went wrong once -------------------------------------------------------------------------------


def test_a_table_that_is_restarted_again_and_again_tells_its_people_what_they_are_asked(
    tmp_path: Path,
) -> None:
    async def first(server: TableServer) -> tuple[str, int, str]:
        table = seated(server, wish())
        table.start()
        await until(table, lambda: table.sessions[0].shown)
        await asyncio.sleep(1)
        table.save()
        return table.plan.code, table.plan.shown, table.sessions[0].shown[0].ask.id

    code, shown, name = at_table(tmp_path, first)

    async def again(server: TableServer) -> None:
        table = server.table(code)
        table.connected(0)
        frames = Frames(table.seats[0]).watch()
        await until(table, lambda: table.sessions[0].shown)
        await asyncio.sleep(1)
        assert [ask["id"] for ask in frames.sent[-1][1]["now"]["you"]["asks"]] == [name]
        assert table.plan.shown == shown

    for _ in range(3):
        at_table(tmp_path, again)


def test_an_answer_that_could_not_be_kept_may_be_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish())
        table.start()
        await until(table, lambda: table.sessions[0].shown)
        asked = table.sessions[0].shown[0]
        answer = first_choice(table, 0, asked)
        assert answer is not None
        with monkeypatch.context() as broken:
            broken.setattr(table_state, "write_sessions", _disk_full)
            with pytest.raises(StoreError, match="the disk is full"):
                table.give(0, asked.ask.id, answer)
        assert not asked.answer.done()
        table.give(0, asked.ask.id, answer)
        assert asked.answer.result().answer == answer
        assert asked.ask.id in (table.folder / "sessions.json").read_text()

    at_table(tmp_path, game)


def _disk_full(*given: object) -> None:
    raise StoreError("the disk is full")


def test_a_game_can_be_ended_while_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish())
        table.start()
        await until(table, lambda: table.sessions[0].shown)
        frames = Frames(table.public).watch()
        with monkeypatch.context() as broken:
            broken.setattr(table_state, "write", _disk_full)
            broken.setattr(table_game.Store, "resume", _disk_full)
            table.game.give_up("closed")
            await asyncio.sleep(5)
        assert (table.plan.state, table.plan.why) == ("over", "closed")
        assert frames.sent[-1][1]["now"]["table"]["state"] == "over"

    at_table(tmp_path, game)


def test_the_time_that_a_person_took_is_filed_from_when_they_were_asked(tmp_path: Path) -> None:
    """An ask that waits for what is still being shown is not the person's time."""

    async def game(server: TableServer) -> Path:
        table = seated(server, wish("doctor", people=(6,), times={"pace": 20}))
        table.start()

        def slow(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            assert asked.since is not None
            return None if now() < asked.since + 4 else first_choice(table, seat, asked)

        await played(table, slow)
        return table.folder

    with Store.open_for_reading(at_table(tmp_path, game)) as store:
        taken = [call["latency"] for call in store.calls_with_prompts(1) if "|answer|" in call["key"]]
    assert taken
    assert all(4 <= seconds < 5 for seconds in taken), taken


def test_a_table_outside_a_study_keeps_nothing_of_how_somebody_types(tmp_path: Path) -> None:
    def telling(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
        answer = first_choice(table, seat, asked)
        assert answer is not None
        return msgspec.structs.replace(answer, pasted=True, away=3.0)

    async def game(server: TableServer) -> Path:
        with pytest.raises(msgspec.ValidationError, match="signals"):
            wish("doctor", people=(6,), signals=True)
        table = seated(server, wish("doctor", people=(6,)))
        frames = Frames(table.seats[6]).watch()
        table.start()
        await played(table, telling)
        assert not any("pasted" in sentence for sentence in table.plan.declared())
        assert {
            message["now"]["table"]["signals"] for _, message in frames.sent if "table" in message["now"]
        } == {False}
        return table.folder

    with Store.open_for_reading(at_table(tmp_path, game)) as store:
        kept = [call["text"] for call in store.calls_with_prompts(1) if "|answer|" in call["key"]]
    assert any('"said"' in text for text in kept)
    assert not any("pasted" in text or "away" in text for text in kept)


def test_lost_time_is_given_back_even_where_it_was_nearly_over(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish(people=(0, 2), times={"speak": 20}))
        table.start()

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            return None if asked.ask.options is None else first_choice(table, seat, asked)

        playing = asyncio.create_task(played(table, choose))
        seat, asked = await _asked_for_words(table)
        assert asked.due is not None
        await asyncio.sleep(asked.due - now() - 4)
        table.disconnected(seat)
        await asyncio.sleep(GRACE - 3)
        table.connected(seat)
        assert asked in table.sessions[seat].shown
        assert asked.due - now() == pytest.approx(4, abs=0.1)
        playing.cancel()

    at_table(tmp_path, game)


@pytest.mark.slow
def test_a_game_that_had_ended_and_was_still_being_shown_counts(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish(times={"night": 60, "pace": 30}))
        table.start()
        playing = asyncio.create_task(played(table))

        def is_kept() -> bool:
            with Store.open_for_reading(table.folder) as store:
                return store.game(1).over

        await until(table, lambda: (table.folder / "run.sqlite").exists() and is_kept())
        assert table.plan.state == "playing", "its last scenes are still to come"
        table.game.give_up("Whoever made this table has closed it.")
        await asyncio.sleep(1)
        playing.cancel()
        with Store.open_for_reading(table.folder) as store:
            assert store.game(1).over
        assert (table.plan.state, table.plan.why) == ("over", "")
        assert any(b'"reveal"' in item for item in table.public.items)

    at_table(tmp_path, game)


def test_a_rest_that_a_restart_cuts_short_is_taken_again(tmp_path: Path) -> None:
    """Whether whoever has just died may shoot must not show in how soon the game goes on."""

    async def first(server: TableServer) -> str:
        table = seated(server, wish("nine", people=range(9), times={"hidden": 60}), 8)
        table.start()

        def shows_nothing(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            return None if asked.ask.phase == "departure" else first_choice(table, seat, asked)

        playing = asyncio.create_task(played(table, shows_nothing))
        await until(table, lambda: table.timeline is not None and table.timeline.hidden_until)
        await asyncio.sleep(2)
        playing.cancel()
        return table.plan.code

    code = at_table(tmp_path, first)

    async def again(server: TableServer) -> None:
        table = server.table(code)
        for seat in range(9):
            table.connected(seat)
        await until(table, lambda: table.timeline is not None and not table.timeline.skip)
        await asyncio.sleep(1)
        assert table.timeline is not None
        assert table.timeline.hidden_until == pytest.approx(60, abs=3)

    at_table(tmp_path, again)


def test_agents_who_die_are_rested_for_as_people_are(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish("nine", people=(0,), times={"hidden": 40}), 3)
        table.start()
        playing = asyncio.create_task(played(table))
        await until(table, lambda: table.timeline is not None and table.timeline.hidden_until)
        assert table.public.facts.alive.bit_count() < 9
        assert table.alive(0), "an agent has died"
        playing.cancel()

    at_table(tmp_path, game)


def test_a_lobby_that_all_have_left_waits_for_whoever_comes_next(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table, _, _ = server.make(wish(people=(0, 1), times={"wait": 3}), host=False)
        seat, _ = table.join("Anna")
        await asyncio.sleep(100)
        table.leave(seat)
        await asyncio.sleep(3600)
        seat, _ = table.join("Ben")
        table.connected(seat)
        await asyncio.sleep(100)
        assert table.plan.state == "lobby"
        assert table.starts == pytest.approx(3700 + 180, abs=1)

    at_table(tmp_path, game)


def test_a_table_that_cannot_be_read_stops_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def first(server: TableServer) -> tuple[str, str]:
        good, bad = (seated(server, wish()) for _ in range(2))
        good.start()
        bad.start()
        await until(good, lambda: good.sessions[0].shown)
        return good.plan.code, bad.plan.code

    good, bad = at_table(tmp_path, first)
    (tmp_path / bad / "table.json").write_bytes(b"")

    async def second(server: TableServer) -> None:
        assert server.table(good).plan.state == "playing"
        with pytest.raises(StoreError, match="it cannot be read"):
            server.table(bad)

    at_table(tmp_path, second)
    assert f"{bad}/table.json" in caplog.text


def test_two_servers_do_not_take_the_same_tables(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        with pytest.raises(StoreError, match="another process"):
            TableServer(tmp_path).open()

    at_table(tmp_path, game)


def test_where_agents_are_not_marked_nothing_that_happens_tells_who_is_a_person(tmp_path: Path) -> None:
    async def game(server: TableServer) -> list[float]:
        table = seated(server, wish(people=range(6), vanish="pass"))
        table.plan.marked = False  # seats are not mixed here
        frames = Frames(table.public).watch()
        table.start()

        def choose(table: WebTable, seat: int, asked: OpenAsk) -> PersonAnswer | None:
            return None if asked.ask.options is None else first_choice(table, seat, asked)

        playing = asyncio.create_task(played(table, choose))
        seat, _ = await _asked_for_words(table)
        await asyncio.sleep(3)
        table.disconnected(seat)
        await asyncio.sleep(2)
        table.connected(seat)
        await asyncio.sleep(1)
        playing.cancel()
        assert all(message["now"]["pause"] is None for _, message in frames.sent)
        turns = [message["now"]["turn"] for _, message in frames.sent]
        return [turn["until"] for turn in turns if turn and turn["seats"] == [seat]]

    assert len(set(at_table(tmp_path, game))) == 1, "the clock of a turn stays as it was"


def test_the_same_people_play_again(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish("doctor", people=(0, 2), name="Friday", times={"speak": 33}))
        with pytest.raises(Refused, match="not over yet"):
            server.again(table, host=False)
        table.start()
        await played(table)
        frames = Frames(table.public).watch()
        made, keeper, _ = server.again(table, host=False)
        await asyncio.sleep(1)
        assert frames.sent[-1][1]["now"]["table"]["next"] == made.plan.code
        assert same_secret(keeper, made.plan.keeper)
        assert (made.plan.state, made.plan.name, made.plan.times.speak) == ("lobby", "Friday", 33)
        assert made.plan.free == [0, 2]
        with pytest.raises(Refused, match=made.plan.code):
            server.again(table, host=False)

    at_table(tmp_path, game)


def test_what_was_chosen_for_somebody_is_said_to_be_so(tmp_path: Path) -> None:
    async def game(server: TableServer) -> WebTable:
        table = seated(server, wish("doctor", people=range(7)))
        table.start()
        await played(table, never_at_night, ready=False)
        return table

    table = at_table(tmp_path, game)
    for feed in table.seats:
        texts = [json.loads(item).get("text", "") for item in feed.items]
        chosen = [n for n, text in enumerate(texts) if text.startswith("You chose to")]
        assert all(texts[n - 1].startswith("You gave no answer in time") for n in chosen)
    assert not any(b"no answer in time" in item for item in table.public.items)


def test_a_shared_device_is_here_while_one_of_its_seats_is_open(tmp_path: Path) -> None:
    """Whoever takes their time with the device makes nobody else absent."""

    async def game(server: TableServer) -> None:
        seats = [SeatWish("shared" if seat in (0, 3) else "agent") for seat in range(7)]
        made = msgspec.structs.replace(wish("doctor", people=()), seats=seats, vanish="void")
        table, _, _ = server.make(made, host=False)
        table.plan.seed = 1  # both live to vote
        for seat in (0, 3):
            table.plan.seats[seat].pin = "salt", "hash"
        table.at_device()
        table.start()

        def both_vote() -> bool:
            table.at_device()
            asked = [opened for seat in (0, 3) for opened in table.sessions[seat].shown]
            for opened in asked:
                if opened.ask.kind != "vote":
                    answer = first_choice(table, opened.question.situation.seat, opened)
                    assert answer is not None
                    table.give(opened.question.situation.seat, opened.ask.id, answer)
            return sum(opened.ask.kind == "vote" for opened in asked) == 2

        await until(table, both_vote)
        table.connected(0)
        await asyncio.sleep(2 * GRACE)
        assert table.here(3)
        assert table.plan.state == "playing"
        table.disconnected(0)
        await asyncio.sleep(GRACE - 1)
        assert table.here(3)
        await asyncio.sleep(2)
        assert table.gone(3)

    at_table(tmp_path, game)


def test_a_budget_that_is_raised_leaves_the_other_limit(tmp_path: Path) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish(budget={"usd": 1.0, "tokens": 500}))
        with pytest.raises(Refused, match="not paused"):
            table.game.resume(BudgetPlan(usd=5))
        assert table.plan.budget == BudgetPlan(usd=1.0, tokens=500)
        table.plan.state = "paused"
        table.game.resume(BudgetPlan(usd=5))
        assert table.plan.budget == BudgetPlan(usd=5, tokens=500)

    at_table(tmp_path, game)


def test_a_game_that_could_not_be_kept_has_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def game(server: TableServer) -> None:
        table = seated(server, wish())
        with monkeypatch.context() as broken:
            broken.setattr(table_state, "write", _disk_full)
            with pytest.raises(StoreError, match="the disk is full"):
                table.start()
        assert table.plan.state == "lobby"
        table.start()
        await until(table, lambda: table.sessions[0].shown)

    at_table(tmp_path, game)


def test_a_failure_while_what_was_shown_is_shown_again_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def first(server: TableServer) -> str:
        table = seated(server, wish())
        table.start()
        playing = asyncio.create_task(played(table))
        await until(table, lambda: table.plan.shown > 5)
        playing.cancel()
        return table.plan.code

    code = at_table(tmp_path, first)

    async def failing(*given: object) -> None:
        raise ExceptionGroup("at once", [ServerError("village is not there")])

    monkeypatch.setattr(table_game, "play_table", failing)

    async def second(server: TableServer) -> None:
        table = server.table(code)
        frames = Frames(table.public).watch()
        await asyncio.sleep(5)
        told = frames.sent[-1][1]["now"]["table"]
        assert (told["state"], told["why"]) == ("paused", "village is not there")

    at_table(tmp_path, second)


def test_where_agents_are_not_marked_their_choices_take_time_too(tmp_path: Path) -> None:
    async def game(server: TableServer, marked: bool) -> list[float]:
        table = seated(server, wish(people=(0,), vanish="pass"), 4)
        table.plan.marked = marked  # seats are not mixed here
        frames = Frames(table.public).watch()
        table.start()
        playing = asyncio.create_task(played(table))
        await until(table, lambda: table.public.facts.round > 1 or table.plan.state == "over")
        playing.cancel()
        turns = [(at, message["now"]["turn"]) for at, message in frames.sent]
        spans = []
        for (at, turn), (later, after) in pairwise(turns):
            if turn and turn["what"] == "choose" and turn["seats"] != [0] and after != turn:
                spans.append(later - at)
        return spans

    quick = at_table(tmp_path / "marked", lambda server: game(server, True))
    slow = at_table(tmp_path / "not", lambda server: game(server, False))
    assert quick
    assert max(quick) < 3
    assert slow
    assert min(slow) > 5


def test_who_has_no_vote_lives_and_is_not_said_to_vote(tmp_path: Path) -> None:
    async def told(server: TableServer) -> None:
        table = seated(server, wish(people=(0,)))
        everybody = tuple(range(7))
        assert _turn_sentence(table, Awaited(everybody, "vote", 0, 0)) == "Everybody votes"
        table.public.event(VotesSet(5, 0, EVERYONE))
        sentence = _turn_sentence(table, Awaited((0, 1, 2, 3, 4, 6), "vote", 0, 0))
        assert sentence.endswith(f" and {table.called(6)} vote"), sentence
        assert table.called(5) not in sentence
        assert all(seat["alive"] for seat in _seats(table, table.public))

    at_table(tmp_path, told)
