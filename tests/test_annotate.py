"""Samples for raters: who is drawn, what a rater sees and what stays hidden; labels out and in again."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import Scripted, table_of
from wolflab.errors import RecordError, StoreError, WolflabError
from wolflab.lab.labels.annotate import Sample, read_key, sample, sampled_decisions, write_key
from wolflab.lab.labels.judging import question_of
from wolflab.lab.labels.label_files import (
    REASONS,
    Label,
    guarded,
    joined_labels,
    read_labels,
    unguarded,
)
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.decisions import recorded_decisions
from wolflab.lab.storage.store import Store
from wolflab.match import Draws, Match, Player, play, run_now
from wolflab.record import read_record
from wolflab.rules import WITCH, NightFell, Say, View
from wolflab.text.asking.prompts import messages
from wolflab.text.asking.rules_text import rules_text
from wolflab.text.asking.sentences import sentence
from wolflab.text.clean import clean
from wolflab.text.notes import Mistake, Thought
from wolflab.ui.labelling.annotation import CELL, RaterItem, items_of, write_table

DEALS = 12
ARMS: dict[str, Any] = {
    "okapi": {},
    "zebra": {"players": {"others": {"recipe": {"name": "deductive", "retries": 0}}}},
}


def experiment(arms: dict[str, Any], **changes: Any) -> dict[str, Any]:
    model = {"model": "village", "invalid": 0.15}
    return {
        "name": "savanna",
        "rules": "witch",
        "players": {"others": {"model": model, "recipe": {"name": "vanilla", "retries": 0}}},
        "conditions": arms,
        "deals": DEALS,
        **changes,
    }


def played(path: Path, data: dict[str, Any]) -> Store:
    with Store.create(path, build(data)) as store:
        assert runner.play_run(store)
    return Store.open_for_reading(path)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run of two conditions with twelve games each; one reply in seven is unusable."""
    with played(tmp_path_factory.mktemp("runs") / "r", experiment(ARMS)) as found:
        yield found


@pytest.fixture(scope="module")
def drawn(store: Store) -> Sample:
    return sample(store, 30)


# -- recorded decisions ---------------------------------------------------------------------


def test_decisions_are_what_the_players_met() -> None:
    """Views, notes and options, rebuilt from the record alone, are those of the live game."""
    met: list[tuple[str, Any, Any, Any]] = []
    inner = table_of("deductive", Scripted(spoil=lambda request: "?" if "/vote/" in request.key else None))

    class Spy:
        name, instant = "spy", True

        def __init__(self, agent: Any) -> None:
            self.agent = agent

        async def reply(self, view: View, ask: Any, io: Any) -> Any:
            met.append((ask.id, ask, tuple(view.events), tuple(view.notes)))
            return await self.agent.reply(view, ask, io)

        def describe(self) -> dict[str, Any]:
            return dict(self.agent.describe())

    match = Match(
        WITCH,
        lambda dealing: [Player(Spy(one.agent), one.model) for one in inner(dealing)],
        Draws("d"),
        Draws("p"),
        {},
    )
    writer = run_now(play(match)).writer
    assert writer is not None
    record = read_record(writer.game.lines)
    found = recorded_decisions(record)
    assert [(one.ask.id, one.ask, tuple(one.view.events), tuple(one.view.notes)) for one in found] == met
    assert [one.turn for one in found] == [turn for turn in record.turns if turn.seat >= 0]
    assert any(one.turn.invalid for one in found)


def test_a_record_that_does_not_follow_from_its_draws_has_no_decisions(store: Store) -> None:
    record = store.record(1)
    record.header["deal"] = "another"
    with pytest.raises(RecordError, match="wolflab verify"):
        recorded_decisions(record)


# -- drawing --------------------------------------------------------------------------------


def test_each_condition_gives_as_many_and_the_order_tells_nothing(store: Store, drawn: Sample) -> None:
    rows = drawn.key.rows
    assert [item.id for item in items_of(drawn)] == [row.id for row in rows]
    assert Counter(row.variant for row in rows) == {"okapi": 30, "zebra": 30}
    assert drawn.key.variants == ("okapi", "zebra")
    order = [row.variant for row in rows]
    changes = sum(a != b for a, b in pairwise(order))
    assert 18 <= changes <= 42  # of 59; a fair shuffle gives 29.5 on average, standard deviation 3.8
    games = Counter(row.game for row in rows)
    assert set(games.values()) <= {2, 3}  # games take turns
    assert len(games) == 2 * DEALS
    assert all(row.id.isalpha() and row.id.islower() for row in rows)


def test_the_draw_is_a_function_of_the_seed(store: Store, drawn: Sample, tmp_path: Path) -> None:
    assert sample(store, 30) == drawn
    other = sample(store, 30, seed=2)
    assert {row.ask for row in other.key.rows} != {row.ask for row in drawn.key.rows}
    assert not {row.id for row in other.key.rows} & {row.id for row in drawn.key.rows}
    with played(tmp_path / "alone", experiment({"okapi": {}})) as alone:
        mine = {row.id for row in sample(alone, 30).key.rows}
    assert mine == {row.id for row in drawn.key.rows if row.variant == "okapi"}


def test_conditions_meet_the_same_deals(store: Store) -> None:
    """One reply a game: the Seers of the same deals in both conditions."""
    rows = sample(store, DEALS - 4, kinds=["see"]).key.rows
    met = {
        variant: sorted((row.deal, row.ask.split("/")[2]) for row in rows if row.variant == variant)
        for variant in ARMS
    }
    assert met["okapi"] == met["zebra"]
    assert len({deal for deal, _ in met["okapi"]}) == DEALS - 4


def test_kinds_and_recipes_narrow_the_draw(store: Store) -> None:
    votes = sample(store, 10, kinds=["vote"]).key.rows
    assert {row.ask.split("/")[1] for row in votes} == {"vote"}
    only = sample(store, 10, recipes=["deductive"])
    assert {row.variant for row in only.key.rows} == {"zebra"}
    assert only.short == (("okapi", 0),)
    many = sample(store, 10_000)
    asked = [
        turn for row in store.games() for turn in store.record(row.id).turns if turn.seat >= 0 and turn.calls
    ]
    assert len(many.key.rows) == len(many.decisions) == len(asked)
    assert sum(given for _, given in many.short) == len(asked)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kinds": ["dance"]}, "of kind dance; its replies are of the kinds antidote, kill, last-words"),
        ({"recipes": ["reflective"]}, "no reply by reflective; those who play are deductive, vanilla$"),
        (
            {"recipes": ["reflective"], "kinds": ["dance"]},
            "dance by reflective; its replies are of the kinds .*; those who play are deductive, vanilla$",
        ),
        ({"per_condition": 0}, "ask for 1 or more"),
    ],
)
def test_what_cannot_be_drawn_is_said(store: Store, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(WolflabError, match=words):
        sample(store, **changes)


def test_a_run_without_models_has_nothing_to_label(tmp_path: Path) -> None:
    data = {"name": "dice", "players": {"others": {"recipe": "random"}}, "deals": 1}
    with played(tmp_path / "r", data) as found, pytest.raises(WolflabError, match="no model played"):
        sample(found)


# -- what a rater sees ----------------------------------------------------------------------


def test_a_rater_sees_what_the_player_had_seen_and_no_more(store: Store, drawn: Sample) -> None:
    """Counted from the record's events and their audiences, not by the way the items are made."""
    for item, row in zip(items_of(drawn), drawn.key.rows, strict=True):
        record = store.record(row.game)
        turn = next(turn for turn in record.turns if turn.ask == row.ask)
        seat = turn.seat
        seen = [event for event in record.events[: turn.at] if event.audience >> seat & 1]
        told = [event for event in seen if not isinstance(event, NightFell)]
        assert len(item.known) == len(told)
        for line, event in zip(item.known, told, strict=True):
            words = sentence(event, seat, record.ruleset)
            assert line.endswith(words[3:]) or words[3:] in line
        assert item.player == record.ruleset.names[seat]
        assert item.role == record.roles[seat]
        assert item.rules == rules_text(record.ruleset, "own")
        if isinstance(turn.action, Say) and turn.invalid is None:
            assert item.reply == (turn.action.text or "(says nothing)")


def test_nothing_tells_the_variant_the_player_or_its_thoughts(store: Store, drawn: Sample) -> None:
    text = json.dumps([[item.id, item.time, item.known, item.asked, item.reply] for item in items_of(drawn)])
    for word in ("okapi", "zebra", "savanna", "vanilla", "deductive", "village(", "invalid=", "condition"):
        assert word not in text
    shown = items_of(drawn, reasoning=True)
    thoughts = {
        note.text
        for row in store.games()
        for turn in store.record(row.id).turns
        for _, note in turn.notes
        if isinstance(note, Thought)
    }
    assert not any(item.reasoning for item in items_of(drawn))
    assert {item.reasoning for item in shown} - {""} <= thoughts
    assert any(item.reasoning for item in shown)


def test_roles_have_their_own_names_for_raters(drawn: Sample, tmp_path: Path) -> None:
    """Where a variant renames the roles, a rater (and a judge) is told of Werewolves all the same."""
    names = {"Werewolf": "Gardener", "Seer": "Pilot"}
    with played(
        tmp_path / "r", experiment({"plain": {}, "renamed": {"rules": {"role_names": names}}})
    ) as store:
        found = sample(store, 10)
        asked = [question_of(one) for one in sampled_decisions(found.key, store).values()]
    shown = [json.dumps(asdict(item)) for item in items_of(found)]
    shown += [content for question in asked for _, content in messages(question)]
    assert not any(name in text for text in shown for name in names.values())
    assert len({item.rules for item in items_of(found)}) == 1


def test_unusable_replies_are_shown_as_they_began(store: Store, drawn: Sample) -> None:
    found = sampled_decisions(drawn.key, store)
    spoiled = [item for item in items_of(drawn) if found[item.id].turn.invalid is not None]
    assert spoiled
    for item in spoiled:
        written = [note.reply for _, note in found[item.id].turn.notes if isinstance(note, Mistake)]
        assert item.reply.startswith("(no usable reply: ")
        assert clean(written[-1]) in item.reply


# -- the key --------------------------------------------------------------------------------


def test_the_key_is_kept_and_never_overwritten(store: Store, drawn: Sample, tmp_path: Path) -> None:
    write_key(drawn.key, tmp_path)
    assert read_key(tmp_path) == drawn.key
    with pytest.raises(WolflabError, match="already holds a sample"):
        write_key(drawn.key, tmp_path)
    with pytest.raises(WolflabError, match="holds no sample"):
        read_key(tmp_path / "nowhere")
    (tmp_path / "key.json").write_text('{"wolflab annotation key": 9}')
    with pytest.raises(WolflabError, match="format 9"):
        read_key(tmp_path)
    (tmp_path / "key.json").write_text("[")
    with pytest.raises(WolflabError, match="draw the sample again"):
        read_key(tmp_path)


def test_another_run_is_not_taken_for_the_samples(drawn: Sample, tmp_path: Path) -> None:
    other = played(tmp_path / "r", experiment({"okapi": {}}, deals=3))
    with other, pytest.raises(StoreError, match="is not the run that this sample was drawn from"):
        sampled_decisions(drawn.key, other)


def test_a_twin_run_is_not_taken_for_the_samples(store: Store, drawn: Sample, tmp_path: Path) -> None:
    """The same experiment by name, seed, conditions and deals, but its models answered otherwise."""
    model = {"model": "village", "invalid": 0.3}
    players = {"others": {"model": model, "recipe": {"name": "vanilla", "retries": 0}}}
    with played(tmp_path / "r", experiment(ARMS, players=players)) as twin:
        places = [row[:4] for row in store.games()]
        assert [row[:4] for row in twin.games()] == places
        with pytest.raises(StoreError, match=r"was played otherwise .* name the right one with --run"):
            sampled_decisions(drawn.key, twin)
        other = sample(twin, 30)
    mine = {(row.variant, row.deal, row.repeat, row.ask) for row in drawn.key.rows}
    assert mine & {(row.variant, row.deal, row.repeat, row.ask) for row in other.key.rows}
    assert not {row.id for row in other.key.rows} & {row.id for row in drawn.key.rows}
    labels = tmp_path / "anna.csv"
    labels.write_text(f"id,reasonable\n{other.key.rows[0].id},yes\n")
    with pytest.raises(WolflabError, match="is none of this sample's"):
        read_labels(labels, drawn.key)


def test_the_same_run_copied_is_the_samples(store: Store, drawn: Sample, tmp_path: Path) -> None:
    shutil.copytree(store.path, tmp_path / "copy")
    with Store.open_for_reading(tmp_path / "copy") as copy:
        assert set(sampled_decisions(drawn.key, copy)) == {row.id for row in drawn.key.rows}


# -- label files ----------------------------------------------------------------------------

HOSTILE = (
    "=1+1",
    "+49 30",
    "-2",
    "@SUM(A1)",
    "\t=1",
    "＝1",
    "'=1",
    "plain",
    'a "quote", and; more',
    "two\nlines",
)


def test_a_table_comes_back_as_it_went_out(drawn: Sample, tmp_path: Path) -> None:
    items = [
        RaterItem(real.id, "player_1", "Seer", "day 1 round", (text,), "speak", text, text)
        for real, text in zip(drawn.key.rows, HOSTILE, strict=False)
    ]
    path = write_table(items, tmp_path / "items.csv")
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert [unguarded(row["reply"]) for row in rows] == list(HOSTILE)
    assert all(row[name][:1] not in tuple("=+-@\t＝") for row in rows for name in row)
    assert read_labels(path, drawn.key) == ()


@given(st.text())
def test_no_cell_is_a_formula_and_none_is_lost(text: str) -> None:
    cell = guarded(text)
    assert cell[:1] not in tuple("=+-@\t\r\n＝＋－＠")
    assert unguarded(cell) == text


def test_a_cell_holds_no_more_than_a_spreadsheet_does(drawn: Sample, tmp_path: Path) -> None:
    known = tuple(f"[{n}] {'word ' * 150}" for n in range(100))
    item = RaterItem(drawn.key.rows[0].id, "player_1", "Seer", "day 1 round", known, "speak", "yes")
    text = write_table([item], tmp_path / "items.csv").read_text(encoding="utf-8-sig")
    cell = next(csv.DictReader(io.StringIO(text)))["known"]
    assert len(cell) < CELL + 100
    assert cell.startswith("(earlier lines left out")
    assert cell.splitlines()[1] in known
    assert cell.splitlines()[-1] == known[-1]


SAVED = {
    "as written": ("id,reasonable,reason,comment\r\n{0},yes,,\r\n{1},no,hallucination,Ärger\r\n", "utf-8"),
    "with a mark": ("id,reasonable,reason,comment\n{0},YES,,\n{1},No,Hallucination,Ärger\n", "utf-8-sig"),
    "semicolons, Windows": (
        "id;reasonable;reason;comment\r\n{0};TRUE;;\r\n{1};FALSE;hallucination;Ärger\r\n",
        "cp1252",
    ),
    "semicolons, Windows in China": (
        "id;reasonable;reason;comment;评语\r\n{0};yes;;;好\r\n{1};no;hallucination;他昨晚查验了3号，却说没有。;\r\n",
        "gbk",
    ),
    "a cell of 200 KB": (
        'id,reasonable,reason,comment\n{0},yes,,\n{1},no,hallucination,"' + "Ärger " * 30_000 + '"\n',
        "utf-8",
    ),
    "tabs, UTF-16": (
        "ID\tReasonable\treason\tcomment\r\n{0}\t1\t\t\r\n{1}\t0\thallucination\tÄrger\r\n",
        "utf-16",
    ),
    "sep line, other columns, empty rows": (
        'sep=;\r\nreply;id;comment;reasonable;reason\r\n"a\r\nb";{0};;yes;\r\n;;;;\r\nx;{1};Ärger;no;hallucination\r\n',
        "utf-8",
    ),
}


COMMENTS = {
    "semicolons, Windows in China": "他昨晚查验了3号，却说没有。",
    "a cell of 200 KB": ("Ärger " * 30_000).strip(),
}


@pytest.mark.parametrize("how", SAVED)
def test_labels_are_read_however_they_were_saved(drawn: Sample, tmp_path: Path, how: str) -> None:
    text, encoding = SAVED[how]
    one, two = drawn.key.rows[0].id, drawn.key.rows[1].id
    path = tmp_path / "anna.csv"
    path.write_bytes(text.format(one, two).encode(encoding))
    assert read_labels(path, drawn.key) == (
        Label(one, "anna", True),
        Label(two, "anna", False, "hallucination", COMMENTS.get(how, "Ärger")),
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("{0},maybe,,\n", "row 2: {0} is labelled 'maybe'; write yes or no"),
        ("zzzz,yes,,\n", "row 2: the id 'zzzz' is none of this sample's"),
        ("{0},yes,,\n{1},no,,\n{0},no,,\n", "row 4: anna labelled {0} before, in row 2; keep one"),
        ("{0},no,ugly,\n", "row 2: {0} has the reason 'ugly'; use one of hallucination"),
        ("{0},yes,other,\n", "row 2: {0} is called reasonable and has the reason other"),
        ("{0},,other,\n", "row 2: {0} has a reason but no label"),
        ("x,yes,,\ny,yes,,\nz,yes,,\n", r"row 2: .*\(and 2 more rows\)"),
    ],
)
def test_rows_that_cannot_be_understood_are_named(
    drawn: Sample, tmp_path: Path, rows: str, words: str
) -> None:
    ids = drawn.key.rows[0].id, drawn.key.rows[1].id
    path = tmp_path / "anna.csv"
    path.write_text("id,reasonable,reason,comment\n" + rows.format(*ids))
    with pytest.raises(WolflabError, match=words.format(*ids)):
        read_labels(path, drawn.key)


@pytest.mark.parametrize("column", ["id", "reasonable", "reason", "comment", "rater", "reply"])
def test_a_huge_cell_makes_no_huge_message(drawn: Sample, tmp_path: Path, column: str) -> None:
    """Also where the row is wrong for another reason, such as a label given twice."""
    cells = {
        "id": drawn.key.rows[0].id,
        "reasonable": "yes",
        "reason": "",
        "comment": "",
        "rater": "",
        "reply": "",
    }
    path = tmp_path / "anna.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(cells))
        writer.writeheader()
        writer.writerows([cells | {column: "x" * 100_000}] * 2)
    with pytest.raises(WolflabError) as refused:
        read_labels(path, drawn.key)
    assert len(str(refused.value)) < 400 + len(str(path))
    if column in ("id", "reasonable", "reason", "rater"):
        assert "(100,000 characters)" in str(refused.value)


def test_files_that_are_no_tables_are_refused(drawn: Sample, tmp_path: Path) -> None:
    for data, words in (
        (b"", "no column 'id'"),
        (b"a,b\n1,2\n", "no column 'id'"),
        (b"id,reply\nx,y\n", "no column 'reasonable'"),
        (b"id,reasonable,Reasonable\nx,yes,no\n", "column 'reasonable' stands 2 times"),
        (b'id,reasonable\n"x,yes\n', "not a table"),
        (b"\xff\xfe\x00", "not a text file"),
    ):
        path = tmp_path / "a.csv"
        path.write_bytes(data)
        with pytest.raises(WolflabError, match=words):
            read_labels(path, drawn.key)
    with pytest.raises(WolflabError, match="there is no label file"):
        read_labels(tmp_path / "nobody.csv", drawn.key)


def test_several_raters(drawn: Sample, tmp_path: Path) -> None:
    one = drawn.key.rows[0].id
    (tmp_path / "anna.csv").write_text(f"id,reasonable\n{one},yes\n")
    (tmp_path / "ben.csv").write_text(f"id,reasonable\n{one},no\n")
    (tmp_path / "more.csv").write_text(f"id,rater,reasonable\n{one},carla,no\n{one},dan,yes\n")
    files = [tmp_path / name for name in ("anna.csv", "ben.csv", "more.csv")]
    assert {
        (label.rater, label.reasonable)
        for label in joined_labels(files, lambda path: read_labels(path, drawn.key))
    } == {
        ("anna", True),
        ("ben", False),
        ("carla", False),
        ("dan", True),
    }
    (tmp_path / "again.csv").write_text(f"id,rater,reasonable\n{one},ben,yes\n")
    with pytest.raises(WolflabError, match=f"ben labelled {one} in .*ben.csv too"):
        joined_labels([*files, tmp_path / "again.csv"], lambda path: read_labels(path, drawn.key))


def test_reasons_are_those_of_the_docs() -> None:
    page = (Path(__file__).parent.parent / "docs" / "annotating.md").read_text(encoding="utf-8")
    assert [name for name in REASONS if f"| `{name}` |" not in page] == []
