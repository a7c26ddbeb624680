"""The replay page of a game: what it holds, for whom, and that nothing in a record can break out of it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command_line import wolflab
from rules_helpers import Game
from test_rules_views import twins
from wolflab.lab.runs.belief_curve import BeliefMove, belief_curve, turning_points, why_no_curve
from wolflab.lab.runs.counting import rows_of
from wolflab.lab.runs.prompts import PromptShown, prompts_of
from wolflab.lab.storage.store import Store
from wolflab.metrics.days import days_of
from wolflab.metrics.leadership import dc, values_by_day
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import game_value
from wolflab.record import GameRecord, PastTurn
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    NINE,
    SHERIFF,
    WITCH,
    Learned,
    Log,
    Ruleset,
    Said,
    facts_of,
    seats_of,
)
from wolflab.rules.engine import begin, step
from wolflab.text.notes import Belief, Content, Deduced, Proposed, Thought
from wolflab.text.notes import Candidate as OnePossible
from wolflab.ui.mark import icon_link
from wolflab.ui.replay.replay_page import replay_of as page_of_game
from wolflab.ui.replay.replay_page import replay_page
from wolflab.ui.replay.story import packed_prompts, story_of

Story = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "run"
    done = wolflab("run", "quickstart", "--out", str(path), "--set", "deals=2")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def whole(run: Path) -> tuple[Story, GameRecord, list[PromptShown]]:
    with Store.open_for_reading(run) as store:
        game = next(row.id for row in store.games() if row.status == "done")
        record, prompts = store.record(game), list(prompts_of(store, game))
    return story_of(record, "Game", len(prompts)), record, prompts


def within(page: str, name: str) -> str:
    """What a script of the page holds."""
    found = re.search(rf'<script id="{name}" type="[^"]*">(.*?)</script>', page, re.S)
    assert found is not None
    return found[1]


def unpacked(packed: str) -> dict[str, list[tuple[str, int, list[list[str]], str]]]:
    """Prompts as they were packed, their lines put together."""
    told = json.loads(gzip.decompress(base64.b64decode(packed)))
    return {
        ask: [
            (step, attempt, [[role, "\n".join(told["lines"][n] for n in text)] for role, text in said], reply)
            for step, attempt, said, reply in calls
        ]
        for ask, calls in told["asks"].items()
    }


# -- everything is there ----------------------------------------------------------------------------


def test_every_statement_vote_and_death_is_a_line(whole: tuple[Story, GameRecord, Any]) -> None:
    story, record, _ = whole
    said = [event.text for event in record.events if isinstance(event, Said)]
    assert [item["text"] for item in story["items"] if item["kind"] == "said"] == said
    gone = [seat for item in story["items"] for seat in item.get("gone", ())]
    assert gone == [one.seat for one in record.facts.departures]
    assert story["items"][-1]["kind"] == "end"
    assert story["items"][-1]["alive"] == record.facts.alive
    assert [seat["role"] for seat in story["seats"]] == list(record.roles)


def test_every_turn_stands_at_what_it_led_to(whole: tuple[Story, GameRecord, Any]) -> None:
    story, record, _ = whole
    turns = [turn for turn in story["turns"] if "probe" not in turn]
    assert len(turns) == sum(turn.seat >= 0 for turn in record.turns)
    for turn in turns:
        item = story["items"][turn["n"]]
        if turn["kind"] in ("statement", "vote", "kill", "see"):
            assert item["by"] == turn["seat"], turn
    leads = [turn for turn in turns if turn["kind"] == "lead"]
    assert all("first" in story["items"][turn["n"]]["text"] for turn in leads)
    assert leads
    probes = [turn for turn in story["turns"] if "probe" in turn]
    assert len(probes) == len(record.probes) > 0
    straws = [turn for turn in probes if turn["kind"] == "straw"]
    assert all(story["items"][turn["n"]]["time"] == "day" for turn in straws)
    assert any("to" in turn for turn in straws)


def test_prompts_are_those_of_the_game(whole: tuple[Story, GameRecord, list[PromptShown]]) -> None:
    _, record, prompts = whole
    packed, count = packed_prompts(prompts)
    told = unpacked(packed)
    assert count == len(prompts) == sum(map(len, told.values()))
    asked = {turn.ask for turn in (*record.turns, *record.probes) if turn.calls}
    assert set(told) == asked
    first = prompts[0]
    ask, step_of_it, attempt = first.key.split("|")
    assert told[ask][0] == (step_of_it, int(attempt), [list(one) for one in first.messages], first.reply)


def test_what_a_seat_knows_of_cards_comes_when_it_learns_it(whole: tuple[Story, GameRecord, Any]) -> None:
    story, record, _ = whole
    seer = record.roles.index("Seer")
    looks = [
        (at, item["to"])
        for at, item in enumerate(story["items"])
        if item.get("act") == "see" and "what" in item
    ]
    assert looks
    for at, target in looks:
        assert [line for line, seat, _ in story["known"][str(seer)] if seat == target] == [at]
    assert all(line > 0 for line, *_ in story["known"]["-1"])  # nobody's card is public from the beginning


def test_deceptions_stand_at_their_statements(whole: tuple[Story, GameRecord, Any]) -> None:
    story, record, _ = whole
    assert story["deceptions"]
    for one in story["deceptions"]:
        item = story["items"][one["n"]]
        assert (item["kind"], item["by"]) == ("said", one["seat"])
        for act in one["acts"]:
            assert {seat for seat, *_ in act["followed"]} <= set(act["heard"])
            assert one["seat"] not in act["heard"]
    assert story_of(record, "Game", seat=0)["deceptions"] == []


def test_a_reader_knows_its_seat_s_view_and_moves_with_public_events(
    whole: tuple[Story, GameRecord, Any],
) -> None:
    """The next `before` is the last `after`, unless the seat has learned a secret in between."""
    _, record, _ = whole
    wolves = {seat for seat, role in enumerate(record.roles) if role == "Werewolf"}
    curve, last = belief_curve(record), dict[int, tuple[int, float]]()
    for move in curve:
        alive = facts_of(record.ruleset, record.events[: move.at + 1]).alive
        assert {seat for seat, *_ in move.readers} == set(seats_of(alive)) - wolves
        for seat, before, after in move.readers:
            at, latest = last.get(seat, (-1, before))
            secrets = record.events[at + 1 : move.at]
            if not any(event.audience != EVERYONE and event.audience >> seat & 1 for event in secrets):
                assert before == latest
            if seat == move.seat:
                assert after == before  # its own act is no evidence for it
            last[seat] = move.at, after
    assert max(abs(move.move) for move in curve) > 0.05
    seer = record.roles.index("Seer")
    blind = replace(record, events=[event for event in record.events if not isinstance(event, Learned)])
    for move, same in zip(curve, belief_curve(blind), strict=True):  # nobody else knows what the Seer learns
        assert [one for one in move.readers if one[0] != seer] == [
            one for one in same.readers if one[0] != seer
        ]


def test_turning_points_are_the_largest_moves_one_of_a_seat_and_day() -> None:
    def move(at: int, seat: int | None, round: int, by: float) -> BeliefMove:
        return BeliefMove(at, seat, round, ((0, 0.5, 0.5 + by), (1, 0.5, 0.5 + by)))

    curve = [
        move(1, 2, 1, 0.06),
        move(2, 2, 1, -0.2),  # the larger of the same seat and day
        move(3, None, 2, 0.04),  # too small
        move(4, 2, 2, 0.07),
        *(move(5 + seat, seat, 3, 0.1 + seat / 100) for seat in range(5)),
    ]
    found = turning_points(curve)
    assert [one.at for one in found] == [2, 6, 7, 8, 9]
    assert curve[1].moved == curve[1].readers
    assert curve[0].moved == ()


def test_a_game_without_a_curve_says_why(whole: tuple[Story, GameRecord, Any]) -> None:
    _, record, _ = whole
    assert why_no_curve(record) == ""
    assert why_no_curve(replace(record, events=record.events[:-1])) == "The game is not over."
    assert "events; the reader" in why_no_curve(replace(record, events=[*record.events] * 20))
    assert story_of(replace(record, events=record.events[:-1]), "Game")["curve"]["why"]


# -- nothing more is there --------------------------------------------------------------------------


def recorded(game: Game, seat: int, secret: str) -> GameRecord:
    """The game as a record. What others think, and who they are, is the moderator's: `secret` is in it."""
    rules = game.rules
    now, log, turns = begin(rules), Log(rules), []
    log.extend(now.events)
    probes = []
    while now.asks and all(ask.id in game.replies for ask in now.asks):
        at = len(log.events)
        for ask in now.asks:
            own = ask.seat == seat
            text = f"I am in seat {ask.seat}" if own else secret
            other = 0 if ask.seat else 1
            notes: list[tuple[str, Content]] = [
                ("act", Thought(text)),
                ("deduce", Deduced((Belief(other, "Seer", 7, 7, (), text),))),
                ("act", Proposed((OnePossible(text, text),))),
            ]
            turn = PastTurn(ask.id, ask.seat, game.replies[ask.id], None if own else secret, at, notes)
            turns.append(turn)
            if ask.kind == "vote":
                id_ = f"{ask.round}/straw/{ask.seat}"
                probes.append(
                    PastTurn(id_, ask.seat, turn.action if own else None, None, at, notes, [], "straw")
                )
        now = step(now.state, [game.replies[ask.id] for ask in now.asks])
        log.extend(now.events)
    players = [{"model": "m", "recipe": "r" if one == seat else secret} for one in range(rules.players)]
    return GameRecord({"players": players}, rules, list(log.events), turns, probes, [], [])


def page_of(record: GameRecord, seat: int | None, secret: str) -> str:
    prompts = [
        PromptShown(
            f"{turn.ask}|act|0", turn.seat, (("user", "say" if turn.seat == seat else secret),), "yes"
        )
        for turn in record.turns
        if turn.seat >= 0
    ]
    packed, calls = packed_prompts(prompts, seat)
    return replay_page(story_of(record, "Game 1", calls, seat), packed)


@pytest.mark.parametrize("rules", [SHERIFF, WITCH, DOCTOR, NINE], ids=["sheriff", "witch", "doctor", "nine"])
def test_a_seat_s_file_depends_on_nothing_that_it_cannot_know(rules: Ruleset) -> None:
    compared = 0
    for seed in range(6):
        for first, twin, seat in twins(rules, seed, limit=2):
            if first.log.view(seat).events != twin.log.view(seat).events or first.over != twin.over:
                continue  # the twin's game stopped earlier
            one, other = recorded(first, seat, "alpha"), recorded(twin, seat, "omega")
            assert page_of(one, seat, "alpha") == page_of(other, seat, "omega")
            assert page_of(one, None, "alpha") != page_of(other, None, "omega")
            compared += 1
    assert compared >= 4


def test_a_page_says_of_each_measure_what_it_counts_and_marks_it(run: Path) -> None:
    """DC's sentence and marks are those of its days; a seat's page tells nothing of the kind."""
    with Store.open_for_reading(run) as store:
        game = next(row for row in store.games() if row.status == "done")
        record, number = store.record(game.id), game.id
        (sums,) = rows_of(store, [game])
        story = json.loads(within(page_of_game(store, number)[0], "game"))
        assert "counted" not in json.loads(within(page_of_game(store, number, 2)[0], "game"))
    assert sums is not None
    every = story["counted"]
    assert {name for name in MEASURES if game_value(sums, name).n} <= set(every)
    for told in every.values():
        assert all(0 <= index < len(story["turns"]) for index, _ in told["turns"])
    values = values_by_day(days_of(record), dc)
    assert f"Counted: {len(values)} of {record.facts.round} day" in every["dc"]["says"]
    assert all(f"Day {day}: {100 * of_day:.1f} %." in every["dc"]["says"] for day, of_day in values.items())
    marked = [story["turns"][index] for index, _ in every["dc"]["turns"]]
    kinds = {(int(turn["ask"].split("/")[0]), turn["ask"].split("/")[1]) for turn in marked}
    assert kinds == {(day, kind) for day in values for kind in ("straw", "statement", "vote")}
    assert every["village_win"]["end"]
    assert "Counted over the whole game." in every["rounds"]["says"]


def test_a_seat_s_file_holds_no_other_seat_s_thoughts(run: Path, tmp_path: Path) -> None:
    with Store.open_for_reading(run) as store:
        game = next(row.id for row in store.games() if row.status == "done")
        roles = store.record(game).roles
    seat = roles.index("Seer")
    done = wolflab(
        "replay", str(run), str(game), "--as", f"player_{seat + 1}", "-o", str(tmp_path / "one.html")
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "one.html").read_text()
    story = json.loads(within(page, "game"))
    assert {turn["seat"] for turn in story["turns"]} == {seat}
    assert set(story["known"]) == {"-1", str(seat)}
    assert [seat["role"] for seat in story["seats"]] == [""] * len(roles)
    assert all(item["sees"] in (-1, 1 << seat) for item in story["items"])
    assert {ask.rpartition("/")[2] for ask in unpacked(within(page, "calls"))} == {str(seat)}


# -- nothing breaks out -----------------------------------------------------------------------------

HOSTILE = "</script><script>alert(1)</script><!-- \x00\x1b[31m\u2028\ud800 & 'quoted' \"twice\" -->"


def test_hostile_text_stays_text(whole: tuple[Story, GameRecord, Any]) -> None:
    story, *_ = whole
    turned = json.loads(json.dumps(story))
    turned["items"][-2]["text"] = HOSTILE
    packed, _ = packed_prompts([PromptShown("1/vote/0|act|0", 0, (("user", HOSTILE),), HOSTILE)])
    page = replay_page(turned, packed)
    assert page.count("<script") == page.count("</script>") == 4
    assert json.loads(within(page, "game"))["items"][-2]["text"] == HOSTILE
    assert unpacked(within(page, "calls"))["1/vote/0"] == [("act", 0, [["user", HOSTILE]], HOSTILE)]
    assert "alert(1)</script>" not in page
    page.encode()


def test_nothing_is_fetched(whole: tuple[Story, GameRecord, Any]) -> None:
    page = replay_page(whole[0], "")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert icon_link() in page
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)
    assert all(
        to.startswith("data:")
        for to in json.loads(page.split('type="importmap">')[1].split("<")[0])["imports"].values()
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["99"], "99"),
        (["1", "--as", "nobody"], "there is no such player"),
        (["1", "-o", "{run}/run.sqlite"], "a page ends in .html"),
        (["1", "-o", "{run}/report.html"], "it lies in the folder replay"),
    ],
)
def test_what_is_not_there_is_told(run: Path, words: list[str], told: str) -> None:
    kept = (run / "run.sqlite").read_bytes()
    done = wolflab("replay", str(run), *[word.format(run=run) for word in words])
    assert (run / "run.sqlite").read_bytes() == kept
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr
