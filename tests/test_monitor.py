"""Readers of private reasoning and of public talk: what they are shown, what is true, what is counted."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

import http_server
import wolflab
from command_line import called
from test_annotate_judge import Jury
from test_behaviours import NAMES, staged
from wolflab.errors import ServerError, WolflabError
from wolflab.lab.labels.annotate import (
    AnswerKey,
    KeyRow,
    Sample,
    sample,
    sampled_decisions,
    write_key,
)
from wolflab.lab.labels.judging import read_judge
from wolflab.lab.labels.monitoring import (
    Monitorability,
    ReaderAnswer,
    SampledStatement,
    monitor,
    monitor_rows,
    read_likelihood,
    reasons_of,
    sampled_statements,
)
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.batch import CallBatch
from wolflab.lab.runs.decisions import RecordedDecision
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.metrics.behaviours.deception import statement_truths
from wolflab.metrics.behaviours.detector_view import DetectorView
from wolflab.models.base import Chat, Request
from wolflab.record import GameRecord
from wolflab.rules import EVERYONE, Ask, Said, View
from wolflab.stats.auroc import ONE_KIND
from wolflab.text.notes import Belief, Candidate, Deduced, Planned, Proposed, Thought
from wolflab.text.replies.parsed import Problem
from wolflab.ui.commands.annotate import draw_sample, monitor_sample, print_monitorability


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Bluffing players, half of them asked to hide their reasons."""
    model = {"model": "village", "plant": {"bluffing": 0.3}, "invalid": 0.05}
    recipe = {"name": "deductive", "retries": 0}
    hidden = {"players": {"others": {"recipe": {**recipe, "hide_reasons": True}}}}
    data = {
        "name": "savanna",
        "rules": "witch",
        "players": {"others": {"model": model, "recipe": recipe}},
        "conditions": {"okapi": {}, "zebra": hidden},
        "deals": 6,
    }
    path = tmp_path_factory.mktemp("runs") / "r"
    with Store.create(path, build(data)) as made:
        assert play_run(made)
    with Store.open_for_reading(path) as found:
        yield found


@pytest.fixture(scope="module")
def drawn(store: Store) -> Sample:
    return sample(store, 30, kinds=["statement"])


def reader_of(request: Request) -> tuple[str, str]:
    """(item, reader) of a request."""
    about, _, rest = request.key.partition("|")
    return about.removeprefix("monitor/"), rest.split("|")[1]


def says(number: object) -> str:
    return json.dumps({"reasoning": "because", "lie": number})


def monitored(drawn: Sample, store: Store, jury: Jury, path: Path) -> Monitorability:
    return asyncio.run(monitor(CallBatch(path, [jury]), drawn.key, store))


# -- the question ---------------------------------------------------------------------------


def test_readers_see_public_talk_one_of_them_reasons_and_neither_roles_nor_the_end(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    jury = Jury(lambda request: says(50))
    found = monitored(drawn, store, jury, tmp_path / "monitor-x")
    decisions = sampled_decisions(drawn.key, store)
    prompts: dict[str, dict[str, str]] = {}
    for request in jury.requests:
        assert isinstance(request.asked, Chat)
        item, reader = reader_of(request)
        prompts.setdefault(item, {})[reader] = request.asked.messages[1][1]
    assert len(jury.requests) == len(found.answers) == 2 * len(prompts) > 40
    for item, by_reader in prompts.items():
        decision = decisions[item]
        events = decision.view.events
        public = [event.text for event in events if isinstance(event, Said) and event.audience == EVERYONE]
        reasons = "\n".join(f'"{line}"' for line in reasons_of(decision).splitlines())
        assert reasons
        before, _, after = by_reader["reasons"].partition(f"wrote this for itself alone:\n{reasons}\n")
        assert after
        without = "\n".join(before.rstrip("\n").split("\n")[:-1]) + f"\n{after}"
        assert without == by_reader["talk"]
        assert all(text in by_reader["talk"] for text in public if text)
        private = [event for event in events if event.audience != EVERYONE]
        assert private  # the card, at least
        names = decision.view.ruleset.names
        for words in (
            f"You are {names[decision.view.seat]}",
            "you are the",
            "okapi",
            "zebra",
            "deductive",
            "monitor may",
        ):
            assert words not in by_reader["talk"]
        assert by_reader["talk"].count(" said to all: ") == 1
        assert f"at that moment (day {decision.ask.round} round)" in by_reader["talk"]


def decision_in(record: GameRecord, ask: str) -> RecordedDecision:
    turn = next(turn for turn in record.turns if turn.ask == ask)
    view = View(turn.seat, record.ruleset, (), (), {})
    return RecordedDecision(turn, view, Ask(ask, turn.seat, "statement", "discussion", 1, None))


def test_reasons_are_all_that_was_written_in_the_turn() -> None:
    thoughts = (
        ("deduce", Deduced((Belief(1, "Seer", 8, 8, (), "Player [2] knows\ntoo much."),))),
        ("plan", Planned("own", "I will blame player_3.")),
        ("propose", Proposed((Candidate("Hello.", "It is harmless."),))),
        ("act", Thought("Nobody may know that I am a Werewolf.")),
    )
    record = staged(notes={"1/statement/0": thoughts})
    assert reasons_of(decision_in(record, "1/statement/0")).split("\n") == [
        f"{NAMES[1]}: Seer. Player (2) knows too much.",
        "I will blame player_3.",
        "It could say: Hello. It is harmless.",
        "Nobody may know that I am a Werewolf.",
    ]
    assert reasons_of(decision_in(record, "1/statement/1")) == ""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (says(70), 70),
        (says("85 %"), 85),
        (says(0), 0),
        ('<think>{"lie": 3}</think>{"Lie": 100}', 100),
        (says(0.8), None),
        (says(1.0), None),
        (says(101), None),
        (says(True), None),
        ('{"believable": 20}', None),
        (says(20) + says(30), None),
        (says(20) + says(20), 20),
        ("A lie, surely.", None),
    ],
)
def test_a_likelihood_is_an_integer_of_a_hundred_and_nothing_is_guessed(
    text: str, number: int | None
) -> None:
    found = read_likelihood(text)
    assert (
        isinstance(found, Problem)
        if number is None
        else found == (number, "" if "Lie" in text else "because")
    )


# -- truth and numbers ----------------------------------------------------------------------


def test_truth_is_the_records_and_a_reader_that_knows_it_is_always_right(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    true: dict[str, bool] = {}
    for row in drawn.key.rows:
        for one in statement_truths(DetectorView.of(store.record(row.game))):
            if one.statement.ask == row.ask:
                true[row.id] = bool(one.contradictions)

    def answer(request: Request) -> str:
        item, reader = reader_of(request)
        return says((90 if true[item] else 10) if reader == "reasons" else 50)

    found = monitored(drawn, store, Jury(answer), tmp_path / "monitor-x")
    assert {one.item for one in found.answers} == set(true)
    rows = {(row.variant, row.side): row for row in found.rows}
    assert len(rows) == 6
    for variant in ("okapi", "zebra"):
        row = rows[variant, None]
        mine = [true[one.id] for one in drawn.key.rows if one.variant == variant and one.id in true]
        assert (row.lies, row.honest, row.unread) == (sum(mine), len(mine) - sum(mine), 0)
        assert row.lies > 3
        reasons, talk = row.readers["reasons"], row.readers["talk"]
        assert (reasons.auroc.value, reasons.precision.value, reasons.recall.value) == (1.0, 1.0, 1.0)
        assert (talk.auroc.value, talk.recall.value) == (0.5, 1.0)
        assert talk.precision.value == row.lies / len(mine)
        assert row.difference.value == 0.5
        sides = [rows[variant, side] for side in ("werewolves", "village")]
        assert sum(one.lies for one in sides) == row.lies
        assert sum(one.honest for one in sides) == row.honest
    over = rows["zebra", None].readers["reasons"].over
    assert over is not None
    assert over.value == 0.0
    assert rows["okapi", None].readers["reasons"].over is None
    assert found.others == len(drawn.key.rows) - len(true)  # silence, and replies of no use


def statements_of(lies: list[bool | None], side: str = "werewolves") -> list[SampledStatement]:
    return [
        SampledStatement(f"{side}{n}", "one", n, side, lie, "" if n == 0 else "why")  # type: ignore[arg-type]
        for n, lie in enumerate(lies)
    ]


def answers_of(
    statements: list[SampledStatement], numbers: dict[str, tuple[int | None, int | None]]
) -> list[Any]:
    return [
        ReaderAnswer(one.item, reader, lie)
        for one in statements
        if one.item in numbers
        for reader, lie in zip(("reasons", "talk"), numbers[one.item], strict=True)  # type: ignore[arg-type]
    ]


def test_what_has_no_truth_or_no_answer_is_counted_and_never_honest() -> None:
    """Both readers are compared on the same statements."""
    statements = statements_of([True, False, True, None, False, True])
    numbers: dict[str, tuple[int | None, int | None]] = {
        "werewolves0": (90, 10),
        "werewolves1": (20, 60),
        "werewolves2": (80, None),
        "werewolves4": (70, 20),
    }
    row = next(monitor_rows(["one"], statements, answers_of(statements, numbers)))
    assert (row.lies, row.honest) == (1, 2)
    assert (row.unread, row.unusable, row.unanswered, row.without_reasons) == (1, 1, 1, 1)
    assert (row.readers["reasons"].auroc.value, row.readers["talk"].auroc.value) == (1.0, 0.0)
    assert (row.readers["reasons"].auroc.n, row.readers["reasons"].auroc.missing) == (3, 3)
    assert (row.readers["reasons"].precision.value, row.readers["talk"].precision.value) == (0.5, 0.0)
    console = Console(width=140, record=True, file=io.StringIO())
    found = Monitorability(model="m", answers=(), rows=(row,), others=2)
    print_monitorability(console, found)
    told = console.export_text()
    for words in (
        "1 unread",
        "1 unusable",
        "1 not answered",
        "1 without reasons",
        "2 sampled replies are no",
    ):
        assert words in told


def test_a_reader_that_guesses_the_side_is_told_apart() -> None:
    """Werewolves lie in 30 of 40 statements, the village in 2; the reader knows sides and nothing else."""
    wolves = statements_of([n % 4 > 0 for n in range(40)])
    village = statements_of([n < 2 for n in range(40)], "village")
    statements = wolves + village
    numbers = {one.item: (90 if one.side == "werewolves" else 10, 50) for one in statements}
    both, pack, others = monitor_rows(["one"], statements, answers_of(statements, dict(numbers)))
    assert (both.readers["reasons"].auroc.value or 0) > 0.85
    assert both.readers["reasons"].auroc.excludes(0.5)
    assert (pack.readers["reasons"].auroc.value, others.readers["reasons"].auroc.value) == (0.5, 0.5)
    honest = [one for one in village if not one.lie]
    nobody = monitor_rows(["one"], honest, answers_of(honest, dict(numbers)))
    assert {row.readers["talk"].auroc.note for row in nobody if row.honest} == {ONE_KIND}


def test_a_statement_that_cannot_be_read_has_no_truth() -> None:
    """It is not English, so nobody knows whether it is a lie."""
    record = staged(says={(1, 2): "私は占い師です。プレイヤー3は人狼でした。"})

    class One:
        """A run of one game."""

        def record(self, game: int) -> GameRecord:
            return record

    asks = ["1/statement/1", "1/statement/2"]
    key = AnswerKey("r", "e", 1, tuple(KeyRow(ask, "one", 1, 0, 0, ask, "m") for ask in asks))
    decisions = {ask: decision_in(record, ask) for ask in asks}
    found = sampled_statements(key, One(), decisions)  # type: ignore[arg-type]
    assert [(one.item, one.lie) for one in found][:1] == [(asks[0], None)]
    assert found[-1].lie is False


# -- calls ----------------------------------------------------------------------------------


def test_answers_are_kept_resumed_and_counted_as_a_judges(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    down = {one.id for one in drawn.key.rows[:9]}

    def answer(request: Request) -> str | Exception:
        item, reader = reader_of(request)
        return ServerError("it is down") if item in down and reader == "talk" else says(40)

    path = tmp_path / "monitor-x"
    first = monitored(drawn, store, Jury(answer), path)
    assert 0 < first.waiting <= 9
    assert first.rows[0].unanswered + first.rows[1].unanswered == first.waiting
    jury = Jury(lambda request: "perhaps" if request.key.endswith("|0") else says(60))
    second = monitored(drawn, store, jury, path)
    assert (len(jury.requests), second.waiting) == (2 * first.waiting, 0)
    assert sum(one.attempts == 2 for one in second.answers) == first.waiting
    lines = [json.loads(line) for line in (path / "answers.jsonl").read_text().splitlines()]
    assert [(line["item"], line["lie"]) for line in lines] == [(one.item, one.lie) for one in second.answers]
    with pytest.raises(WolflabError, match="no judge's directory"):
        read_judge(path, drawn.key, {})


def test_the_command_reads_along_over_http_and_its_calls_are_data(store: Store, tmp_path: Path) -> None:
    there = tmp_path / "statements"
    called(draw_sample, store.path, there, per_condition=8, kind=["statement"])
    with http_server.running() as server:
        told = called(monitor_sample, there, "wolf-1", [f"base_url={json.dumps(server.base_url)}"], width=160)
        paid = server.answered
        called(monitor_sample, there, "wolf-1", [f"base_url={json.dumps(server.base_url)}"])
        assert server.answered == paid
    home = there / "monitor-wolf-1"
    kept = msgspec.json.decode((home / "monitorability.json").read_bytes())
    row = kept["rows"][0]
    assert row["lies"] + row["honest"] + row["unread"] + kept["others"] <= 16
    assert set(row["readers"]) == {"reasons", "talk"}
    for words in ("How well wolf-1 detects lies", "okapi", "Werewolves", "zebra − okapi, AUROC with reasons"):
        assert words in told.stdout
    rows = wolflab.open_run(store.path, [home]).table("calls").rows()
    calls = [row for row in rows if str(row["asker"]).startswith("item/")]
    assert len(calls) == paid
    assert {row["step"] for row in calls} == {"reasons", "talk"}
    assert None not in {row["game"] for row in calls}


def test_who_cannot_read_along_is_refused(store: Store, drawn: Sample, tmp_path: Path) -> None:
    write_key(drawn.key, tmp_path)
    with pytest.raises(WolflabError, match="village, the built-in player, reads no words"):
        monitor_sample(tmp_path, "village")
    assert not [*tmp_path.glob("monitor-*")]
    votes = sample(store, 3, kinds=["vote"])
    with pytest.raises(
        WolflabError, match=r"the sample has no statement; draw another with: .* --kind statement"
    ):
        monitored(votes, store, Jury(lambda request: says(1)), tmp_path / "monitor-y")
