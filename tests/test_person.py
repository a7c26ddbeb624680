"""A person at the table: the same view, the same asks, the same record; and the seat in the terminal."""

from __future__ import annotations

import asyncio
import io
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import http_server
from wolflab.agents.person import Person
from wolflab.cli import app, main
from wolflab.errors import ExperimentError, ServerError, StoreError
from wolflab.lab.storage.store import Store
from wolflab.match import Draws, Match, OpinionProbe, Player, StrawPoll, play
from wolflab.metrics.days import days_of
from wolflab.models.base import Request, Response
from wolflab.models.calls import NoCallCache, StoredCall
from wolflab.models.person import PersonModel
from wolflab.record.sealed import ERASED
from wolflab.rules import PRESETS, SHERIFF, Ask, Ruleset, Said, Say, pick
from wolflab.text.asking.options import labels
from wolflab.text.notes import Deduced
from wolflab.text.people import ASKED_ALREADY, PersonAnswer, TimedAnswer, decode_answer, encode_answer
from wolflab.text.probes import PROBES
from wolflab.text.questions import Deduce, Question, Rate
from wolflab.ui.terminal.game import GamePrinter, icon_of
from wolflab.ui.terminal.keyboard import Keyboard, PipedLines
from wolflab.ui.terminal.seat import TerminalTable, chosen_option, ratings


def typed(words: list[str], lines: str) -> str:
    """What `wolflab` prints when these lines come through a pipe."""
    done = CliRunner().invoke(app, words, input=lines, env={"COLUMNS": "80"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def sit_down(out: Path, lines: str, *words: str) -> str:
    return typed(["play", "--human", "1", "--out", str(out), "--pace", "0", *words], lines)


FIRST = "1\n" * 400
"""The first option, and the word "1" as every statement."""


# -- in the terminal, through a pipe -----------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
def test_a_person_plays_a_whole_game_of_every_preset(rules: str, tmp_path: Path) -> None:
    shown = sit_down(tmp_path / "table", FIRST, "--rules", rules)
    assert "kept in" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if str(tmp_path) not in line)
    assert "1 of 1 record holds" in typed(["verify", str(tmp_path / "table"), "--agents"], "")
    with Store.open_for_reading(tmp_path / "table") as store:
        record = store.record(1)
        (seat,) = [k for k, player in enumerate(record.header["players"]) if player["recipe"] == "person"]
        assert record.ruleset.names[seat].endswith("1")
        assert all(turn.invalid is None for turn in record.turns if turn.seat == seat)


@pytest.mark.parametrize("role", ["Werewolf", "Villager", "Seer", "Witch", "Hunter", "Guard"])
def test_any_role_can_be_played(role: str, tmp_path: Path) -> None:
    shown = sit_down(tmp_path / "table", FIRST, "--rules", "twelve", "--role", role.lower())
    assert f"You are player_1, {icon_of(role)} {role}." in shown
    assert "kept in" in shown


def test_who_leaves_goes_on_where_they_left(tmp_path: Path) -> None:
    """The end of the input is a person who leaves. What was answered is not asked again."""
    out = tmp_path / "table"
    shown = sit_down(out, "3\n", "--role", "Seer")
    assert "nobody is at the keyboard any more" in shown
    assert f"go on with: wolflab play --resume {out}" in shown
    with Store.open_for_reading(out) as store:
        (answered,) = [key for key in store.calls(1) if "see" in key]
        assert answered.endswith("|answer|0"), "so it is found when the game goes on, in later versions too"
        assert decode_answer(store.calls(1)[answered].response.text) == PersonAnswer(chose="see player_3")
        assert store.game(1).status == "unfinished"
    shown = typed(["play", "--resume", str(out)], "/quit\n")
    assert "You chose to see player_3" in shown, "what happened before is shown again"
    assert shown.count("Choose the player to see tonight") == 0
    assert "you have left the table" in shown
    assert "kept in" in typed(["play", "--resume", str(out)], FIRST)
    with pytest.raises(StoreError, match="this game is over"):
        typed(["play", "--resume", str(out)], "")


def test_wrong_input_is_asked_again_with_the_reason(tmp_path: Path) -> None:
    shown = sit_down(tmp_path / "table", "9\nplayer\n\nplayer_4\n", "--role", "Seer")
    assert "there is no 9; give a number from 1 to 7" in shown
    assert "'player' is none of them; give a number from 1 to 7" in shown
    assert "You chose to see player_4" in shown


def test_what_is_no_command_is_not_said(tmp_path: Path) -> None:
    shown = sit_down(tmp_path / "table", "1\n/no such thing\n", "--role", "Villager")
    assert "there is no /no, and nothing was said" in shown
    assert "the input has ended" in shown


def test_the_role_and_what_is_known_are_at_hand(tmp_path: Path) -> None:
    shown = sit_down(tmp_path / "table", "/know\n/log\n/rules\n?\n2\n/know\n/log\n", "--role", "Seer")
    assert "Night 1 · you are player_1, 🔮 Seer" in shown
    assert "You are player_1, a Seer." in shown
    assert "Alive: player_1, player_2" in shown
    assert "leave the table; the game is kept" in shown
    assert "You know that player_2 is" in shown
    assert shown.index("Night 1:") < shown.index("Day 1:")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--human", "9"], "--human 9: there is no such player; the players are player_1"),
        (["--human", "1", "--role", "Hunter"], "--role Hunter: nobody is dealt that role here"),
        (["--human", "1", "--thoughts"], "--thoughts shows what the others think"),
        (["--set", "players.others={recipe: person}"], "recipe person for others: one person plays at a"),
        (
            ["--human", "1", "--set", "players.player_2={recipe: person}"],
            "recipe person for player_1, player_2: one",
        ),
        (["--set", "players.Seer={recipe: person}"], "recipe person for Seer: one person plays"),
    ],
)
def test_a_wrong_seat_is_a_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        typed(["play", "--out", str(tmp_path / "table"), *words], "")
    assert not (tmp_path / "table").exists()


def test_a_seat_can_be_named_and_the_role_holds_beside_a_seed(tmp_path: Path) -> None:
    for seed in (3, 4, 5):
        out = tmp_path / str(seed)
        sit_down(out, "", "--role", "Seer", "--set", f"seed={seed}", "--set", "player_1.person=anna")
        with Store.open_for_reading(out) as store:
            assert store.experiment.seed >= seed
            assert store.experiment.cast(store.game(1).condition)["player_1"].person == "anna"
        assert "1 · you are player_1, 🔮 Seer" in typed(["play", "--resume", str(out)], "")


def test_a_table_that_waits_is_taken_up_by_play(tmp_path: Path) -> None:
    out = tmp_path / "table"
    sit_down(out, "3\n", "--role", "Seer")
    assert "0 unusable replies" in typed(["errors", str(out)], "")
    with pytest.raises(StoreError, match=f"go on with: wolflab play --resume {out}"):
        typed(["show", str(out), "1"], "")
    refused = typed(["play", "--resume", str(out), "--human", "3", "--set", "seed=4"], "")
    assert "--resume takes a run as it is" in refused


def test_a_server_that_fails_names_the_way_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = 'players.others.model={model: m, base_url: "http://127.0.0.1:9/v1", retries: 0}'
    monkeypatch.setattr(
        "sys.argv", ["wolflab", "play", "--human", "1", "--out", str(tmp_path / "table"), "--set", nobody]
    )
    with pytest.raises(SystemExit):
        main()
    told = capsys.readouterr()
    assert "nothing answers at http://127.0.0.1:9/v1" in told.err
    assert f"The game is kept; go on with: wolflab play --resume {tmp_path / 'table'}" in told.out


def test_a_resumed_table_counts_what_was_spent_before(tmp_path: Path) -> None:
    out = tmp_path / "table"
    with http_server.running() as server:
        model = f"{{model: wolf-1, base_url: {server.base_url}}}"
        others = f"players.others={{recipe: vanilla, model: {model}}}"
        with pytest.raises(ExceptionGroup):
            sit_down(out, FIRST, "--role", "Villager", "--set", others, "--set", "budget.tokens=5000")
        with Store.open_for_reading(out) as store:
            stopped, before = store.game(1).error, store.spent()
        with pytest.raises(ExceptionGroup):
            typed(["play", "--resume", str(out)], FIRST)
    with Store.open_for_reading(out) as store:
        assert f"the budget of 5,000 tokens is spent ({before[0]:,} used" in (stopped or "")
        assert "the budget of 5,000 tokens is spent" in (store.game(1).error or "")
        assert store.spent() == before, "no further call was made"


def test_a_run_without_a_table_says_where_people_play(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("name: e\nplayers: {others: {recipe: random}, player_1: {recipe: person}}\n")
    with pytest.raises(ExperimentError, match="people sit at a table; use wolflab play --human SEAT"):
        typed(["run", str(file), "--out", str(tmp_path / "run")], "")


# -- polls ------------------------------------------------------------------------------------------


class Polled:
    """Answers everything at once and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def put(self, question: Question, key: str) -> TimedAnswer:
        ask = question.task.ask
        self.asked.append(ask.id)
        if isinstance(question.task, Rate):
            names = question.situation.ruleset.names
            return TimedAnswer(PersonAnswer(rated={names[seat]: 3 for seat in question.task.targets}), 1.0)
        if isinstance(question.task, Deduce):
            names = question.situation.ruleset.names
            guessed = dict.fromkeys((names[seat] for seat in question.task.targets), question.task.guesses[0])
            return TimedAnswer(PersonAnswer(guessed=guessed), 1.0)
        if ask.options is None:
            return TimedAnswer(PersonAnswer(said="I say so."), 1.0)
        return TimedAnswer(PersonAnswer(chose=labels(ask, question.situation.ruleset)[-1]), 1.0)


class SaysNothing(Polled):
    """Says nothing."""

    async def put(self, question: Question, key: str) -> TimedAnswer:
        answer = await super().put(question, key)
        return answer if answer.answer.said is None else TimedAnswer(PersonAnswer(said=""), 1.0)


def match_with(table: Any, rules: Ruleset = SHERIFF, **more: Any) -> Match:
    """A game in which all are people at one table."""
    players = [
        Player(Person("anna" if seat == 0 else ""), PersonModel(table)) for seat in range(rules.players)
    ]
    return Match(rules, lambda dealing: players, Draws("deal"), Draws("play"), {}, **more)


def test_probes_are_answered_and_stay_outside_the_game() -> None:
    plain = asyncio.run(play(match_with(Polled())))
    probed = asyncio.run(play(match_with(Polled(), probes=(StrawPoll(), OpinionProbe()))))
    assert plain.writer is not None
    assert probed.writer is not None
    said = [turn.notes for turn in probed.writer.record(SHERIFF).probes if turn.kind == "rate"]
    assert said
    assert all(set(notes[0][1].scores.values()) == {3} for notes in said)  # type: ignore[union-attr]
    assert plain.log.events == probed.log.events
    assert probed.writer.record(SHERIFF).header["players"][0]["person"] == "anna"


def terminal(lines: str) -> tuple[TerminalTable, Console]:
    console = Console(file=io.StringIO(), width=80, force_terminal=False)
    return TerminalTable(console, GamePrinter(console, SHERIFF, 0), lines=io.StringIO(lines)), console


def test_a_poll_that_is_taken_twice_is_asked_and_counted_once() -> None:
    async def game() -> str:
        table, console = terminal(FIRST)
        everybody = Polled()
        players = [Player(Person(), PersonModel(table if seat == 0 else everybody)) for seat in range(7)]
        rules = SHERIFF.with_(sheriff="none", speaking_order="ascending")
        match = Match(rules, lambda dealing: players, Draws("a"), Draws("b"), {}, (StrawPoll(times=2),))
        played = await play(match)
        assert played.writer is not None
        polls = [turn for turn in played.writer.record(rules).probes if turn.seat == 0]
        assert polls
        assert all((turn.invalid == ASKED_ALREADY) == (turn.kind == "straw2") for turn in polls)
        days = days_of(played.writer.record(rules))
        assert any(0 in day.straws.get("straw", ()) for day in days)
        assert not any(0 in day.straws.get("straw2", ()) for day in days)
        asked: str = console.file.getvalue()  # type: ignore[attr-defined]
        assert asked.count("Outside the game") == len(polls) / 2
        return asked

    assert "Outside the game: if the vote were now" in asyncio.run(game())


def test_all_are_rated_in_one_line_and_the_last_answer_is_filled_in() -> None:
    names = ["player_2", "player_3"]
    before = {"player_2": 5, "player_3": 8}
    assert ratings("player_2 9", names, before) == {"player_2": 9, "player_3": 8}
    assert ratings("", names, before) == before
    assert ratings("PLAYER_3=1, player_2: 2", names, before) == {"player_2": 2, "player_3": 1}
    for wrong in ("player_9 3", "player_2 11", "player_2", "7", "player_2 " + "1" * 5000):
        assert isinstance(ratings(wrong, names, before), str), wrong


def test_roles_are_guessed_one_player_after_another() -> None:
    async def game() -> None:
        table, console = terminal(FIRST)
        everybody = Polled()
        players = [Player(Person(), PersonModel(table if seat == 0 else everybody)) for seat in range(7)]
        probe = OpinionProbe(*PROBES["guess-before-speaking"][:3])
        played = await play(Match(SHERIFF, lambda dealing: players, Draws("a"), Draws("b"), {}, (probe,)))
        assert played.writer is not None
        mine = [turn for turn in played.writer.record(SHERIFF).probes if turn.seat == 0]
        notes = [note for turn in mine for _, note in turn.notes]
        assert all(isinstance(note, Deduced) and len(note.beliefs) > 1 for note in notes)
        roles = {belief.role for note in notes for belief in note.beliefs}  # type: ignore[union-attr]
        assert roles == {SHERIFF.cast[0].name}
        assert "Which role do you think" in console.file.getvalue()  # type: ignore[attr-defined]

    asyncio.run(game())


# -- what is kept -----------------------------------------------------------------------------------


def test_words_are_sealed_and_can_be_erased(tmp_path: Path) -> None:
    out = tmp_path / "table"
    secret = "my mother once told me that owls lie"
    shown = sit_down(out, "1\n" + f"{secret}\n" * 5 + FIRST, "--role", "Villager")
    assert secret in shown
    with Store.open_for_reading(out) as store:
        record = store.record(1)
        assert secret in [event.text for event in record.events if isinstance(event, Said)]
        assert not [line for line in record.lines if secret.encode() in line], "the lines name it by its seal"
    with pytest.raises(StoreError, match="no person sat at player_2"):
        typed(["erase", str(out), "--seat", "player_2"], "")
    assert "1 of 1 record holds" in typed(["verify", str(out), "--agents"], ""), "nothing was touched"
    with Store.open_for_reading(out) as reading:  # the file cannot be emptied while somebody reads
        reading._db.execute("BEGIN")
        reading.games()
        with pytest.raises(StoreError, match="another program reads"):
            typed(["erase", str(out), "--seat", "player_1"], "")
        reading._db.execute("COMMIT")
    assert "nothing is left to erase" in typed(["erase", str(out), "--seat", "player_1"], "")
    for file in out.glob("run.sqlite*"):
        assert secret.encode() not in file.read_bytes()
    assert "1 of 1 record holds" in typed(["verify", str(out)], "")
    with Store.open_for_reading(out) as store:
        assert store.record(1).erased
        assert ERASED in [event.text for event in store.record(1).events if isinstance(event, Said)]
    assert "words were erased on request" in " ".join(typed(["verify", str(out), "--agents"], "").split())


def test_erasing_says_what_else_may_hold_the_words(tmp_path: Path) -> None:
    out, to = tmp_path / "table", tmp_path / "files"
    sit_down(out, "1\n" + "so be it\n" * 5 + FIRST, "--role", "Villager", "--set", "straw_polls=1")
    typed(["export", str(out), "-o", str(to)], "")
    holding = [file.name for file in to.iterdir() if "so be it" in file.read_text()]
    assert holding == ["game-1.words.jsonl"], "village keeps no prompts"
    said = " ".join(typed(["erase", str(out), "--seat", "1"], "").split())
    assert "made from the run and lie elsewhere (export, annotate, reports) may still hold" in said
    typed(["export", str(out), "-o", str(to)], "")
    assert not (to / "game-1.words.jsonl").exists()


def test_words_of_a_game_that_waits_are_erased_and_the_game_is_given_up(tmp_path: Path) -> None:
    out = tmp_path / "table"
    secret = "owls lie"
    sit_down(out, "1\n" + f"{secret}\n" * 3, "--role", "Villager")
    assert secret.encode() in b"".join(file.read_bytes() for file in out.glob("run.sqlite*"))
    with pytest.raises(StoreError, match="nobody who sat there is named anna"):
        typed(["erase", str(out), "--person", "anna"], "")
    assert "erased from" in typed(["erase", str(out), "--seat", "1"], "")
    assert secret.encode() not in b"".join(file.read_bytes() for file in out.glob("run.sqlite*"))
    with Store.open_for_reading(out) as store:
        assert store.game(1)[4:] == ("failed", "given up: words were erased on request")
        assert not store.calls(1)
    assert "nothing is left to erase" in typed(["erase", str(out), "--seat", "1"], "")
    with pytest.raises(StoreError, match="given up"):
        typed(["play", "--resume", str(out)], "")


def test_what_looks_like_erased_words_is_verified_and_silence_has_no_seal(tmp_path: Path) -> None:
    out = tmp_path / "table"
    sit_down(out, "1\n" + f"{ERASED}\n" * 5 + FIRST, "--role", "Villager")
    assert "1 of 1 record holds" in typed(["verify", str(out), "--agents"], "")
    silent = asyncio.run(play(match_with(SaysNothing())))
    assert silent.writer is not None
    assert silent.writer.words == {}
    assert not silent.writer.record(SHERIFF).erased


def test_words_that_were_changed_do_not_fit_their_seal(tmp_path: Path) -> None:
    out = tmp_path / "table"
    sit_down(out, "1\n" + "so be it\n" * 5 + FIRST, "--role", "Villager")
    with closing(sqlite3.connect(out / "run.sqlite")) as db:
        db.execute("UPDATE words SET text = 'so be it not' WHERE text = 'so be it'")
        db.commit()
    assert "are not those that the record seals" in " ".join(typed(["verify", str(out)], "").split())


class Slow:
    """Answers after the model at the other seats has failed."""

    def __init__(self) -> None:
        self.answered: list[str] = []

    async def put(self, question: Question, key: str) -> TimedAnswer:
        await asyncio.sleep(0.05)
        self.answered.append(key)
        return TimedAnswer(PersonAnswer(chose=labels(question.task.ask, question.situation.ruleset)[0]), 1.0)


class Failing(PersonModel):
    async def generate(self, request: Request) -> Response:
        raise ServerError("the model's server is gone")


class Kept(NoCallCache):
    """A file that keeps what is put on it."""

    def __init__(self) -> None:
        self.filed: dict[str, StoredCall] = {}

    def get(self, request: Request) -> StoredCall | None:
        return self.filed.get(request.key)

    async def put(self, request: Request, digest: str, response: Response, model: object) -> None:
        self.filed[request.key] = StoredCall(digest, response)


def test_a_model_that_fails_loses_nothing_of_what_a_person_is_typing() -> None:
    table, file = Slow(), Kept()
    rules = SHERIFF.with_(sheriff="none", speaking_order="ascending", discussion=False)
    players = [Player(Person(), PersonModel(table) if seat == 0 else Failing(None)) for seat in range(7)]
    match = Match(rules, lambda dealing: players, Draws("a"), Draws("b"), {}, call_cache=file)
    with pytest.raises(ServerError, match="server is gone"):
        asyncio.run(play(match))
    assert len(table.answered) == len(file.filed) <= 1
    assert {*file.filed} == {*table.answered}


def test_no_answer_in_time_is_stood_in_for_and_recorded() -> None:
    class Idle(Polled):
        async def put(self, question: Question, key: str) -> TimedAnswer:
            return TimedAnswer(PersonAnswer(missing="out of time"), 1.0)

    played = asyncio.run(play(match_with(Idle())))
    assert played.writer is not None
    turns = [turn for turn in played.writer.record(SHERIFF).turns if turn.seat >= 0]
    assert turns
    assert {turn.invalid for turn in turns} == {"the person gave no answer: out of time"}


def test_answers_come_back_from_what_is_kept() -> None:
    for answer in (
        PersonAnswer(chose="x"),
        PersonAnswer(said="", salt="ab"),
        PersonAnswer(missing="out of time"),
    ):
        assert decode_answer(encode_answer(answer)) == answer
    assert decode_answer("no JSON") is None
    ask = Ask("1/vote/0", 0, "vote", "voting", 1, (pick(1), pick(2)))
    assert PersonAnswer(chose="vote for player_3").action(ask, SHERIFF) == pick(2)
    assert PersonAnswer(chose="vote for player_9").action(ask, SHERIFF) is None
    assert PersonAnswer(said="so").action(
        Ask("1/statement/0", 0, "statement", "discussion", 1, None), SHERIFF
    ) == Say("so")


def test_what_was_typed_names_one_option() -> None:
    options = ("vote for player_1", "vote for player_10", "do not vote")
    assert chosen_option("2", options) == 1
    assert chosen_option("player_1", options) == 0
    assert chosen_option("not", options) == 2
    for wrong in ("", "vote", "4", "0", "player_2", "1" * 5000):
        assert isinstance(chosen_option(wrong, options), str), wrong


# -- at the keyboard --------------------------------------------------------------------------------


def keys(sent: str, *, line: bool = False) -> str:
    """What comes of these keys at a menu of three options, or at a line."""
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    with create_pipe_input() as pipe:
        pipe.send_text(sent)
        keyboard = Keyboard(pipe, DummyOutput())
        task = keyboard.line("> ", "bar", "") if line else keyboard.choose(["one", "two", "three"], "bar")
        return asyncio.run(asyncio.wait_for(task, 10))


DOWN, UP, ENTER = "\x1b[B", "\x1b[A", "\r"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (ENTER + ENTER, "one"),
        (DOWN + ENTER + ENTER, "two"),
        (UP + ENTER + ENTER, "three"),
        ("2" + ENTER + ENTER, "two"),
        ("2" + ENTER + "u" + DOWN + ENTER + ENTER, "three"),
        ("k", "/know"),
        ("q", "/quit"),
    ],
)
def test_options_are_chosen_by_arrow_or_number_and_taken_back(sent: str, expected: str) -> None:
    assert keys(sent) == expected


def test_ctrl_d_leaves_the_table() -> None:
    assert keys("\x04", line=True) == "/quit"
    assert keys("\x04") == "/quit"


def test_lines_through_a_pipe_hold_nobody_up() -> None:
    async def read() -> list[str]:
        out, into = os.pipe()
        lines, beside = PipedLines(out), asyncio.Event()

        async def later() -> None:
            await asyncio.sleep(0.05)
            beside.set()
            os.write(into, b"one\ntwo \xff")
            os.close(into)

        task = asyncio.create_task(later())
        found = [await asyncio.wait_for(lines.readline(), 10)]
        assert beside.is_set(), "it waited, and the other went on"
        found += [await lines.readline(), await lines.readline()]
        await task
        os.close(out)
        return found

    assert asyncio.run(read()) == ["one\n", "two \ufffd", ""]


def test_a_file_can_be_the_input(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("one\n")
    with (tmp_path / "lines").open() as file:
        lines = PipedLines(file.fileno())
        assert asyncio.run(lines.readline()) == "one\n"
        assert asyncio.run(lines.readline()) == ""


def test_a_line_can_be_changed_before_it_is_sent() -> None:
    assert keys("hello" + ENTER + ENTER, line=True) == "hello"
    assert keys("hello" + ENTER + "u" + " there" + ENTER + ENTER, line=True) == "hello there"
    assert keys("/know" + ENTER, line=True) == "/know"
