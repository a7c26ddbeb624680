"""Replies that cannot be used are counted from what is stored, and a player who gives mostly such is named.

A game that was stopped has no record: its replies are read from its calls, as the players would read them.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

import http_server
from command_line import called, wolflab
from wolflab.lab.data.rows import DataSource, data_rows
from wolflab.lab.plans.loading import build
from wolflab.lab.results.extras import Extras, extras, extras_of_all, extras_of_tournament
from wolflab.lab.results.summaries import compared, summary
from wolflab.lab.results.unusable_players import (
    MANY,
    MANY_DECISIONS,
    UnusablePlayer,
    unusable_players,
    unusable_players_of,
)
from wolflab.lab.results.unusable_replies import ErrorSummary, Tally, of_record
from wolflab.lab.runs import runner
from wolflab.lab.runs.tournament_games import tournament_standings
from wolflab.lab.storage.store import Store
from wolflab.metrics import summarise
from wolflab.metrics.play import PlayerLabel
from wolflab.text.notes import Mistake
from wolflab.text.replies.parse import CUT
from wolflab.ui.commands.common import print_unfinished
from wolflab.ui.commands.run import errors, report_run, run
from wolflab.ui.report.numbers import cost_in_words, number
from wolflab.ui.report.report import render_report, report_page
from wolflab.ui.report.report_page import ReportPage
from wolflab.ui.report.tournament_page import standings_page
from wolflab.ui.terminal.console import ExitCode
from wolflab.ui.terminal.tables import print_summary
from wolflab.ui.wording import SHORT_GAMES_FIRST, UNUSABLE, cut_name, trouble_in_words, troubles_in_words

NONSENSE = http_server.Fault("text", body="Well, I would rather not say.")


def over_http(server: http_server.FakeServer, retries: int = 2, **changes: Any) -> dict[str, Any]:
    model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "timeout": 20}
    return {
        "name": "heard",
        "rules": {"preset": "sheriff", "max_rounds": 2},
        "players": {"others": {"model": model, "recipe": {"name": "vanilla", "retries": retries}}},
        "deals": 2,
        "straw_polls": 1,
        "concurrency": 2,
        **changes,
    }


def quiet() -> Console:
    return Console(width=200, file=io.StringIO())


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def filed(path: Path) -> int:
    with closing(sqlite3.connect(path / "run.sqlite")) as db, db:
        return int(db.execute("SELECT count(*) FROM calls").fetchone()[0])


def stopped(path: Path, retries: int, tokens: int = 40_000) -> None:
    """A run that its budget stops in its first games; every third reply is of no use."""
    with http_server.running() as server:
        for _ in range(400):
            server.faults.append(NONSENSE)
            server.faults.extend([http_server.Fault("parts")] * 2)
        with Store.create(path, build(over_http(server, retries, budget={"tokens": tokens}))) as store:
            assert not runner.play_run(store)
            assert not store.games("done")


@pytest.mark.parametrize("retries", [0, 2])
def test_what_a_stopped_game_holds_is_what_it_notes_once_it_is_over(tmp_path: Path, retries: int) -> None:
    stopped(tmp_path / "r", retries)
    with Store.open_for_reading(tmp_path / "r") as store, ErrorSummary(store) as errors:
        heard = {row.id: errors.unfinished(row) for row in store.games()}
        assert [row.status for row in store.games()] == ["unfinished"] * 2
    found = {
        (game, one.ask, one.step, one.attempt, one.reason) for game in heard for one in heard[game].unusable
    }
    assert len(found) > 5
    read = sum(one.read for one in heard.values())
    assert read == sum(one.filed for one in heard.values()) == filed(tmp_path / "r")
    file = tmp_path / "r" / "experiment.yaml"
    with http_server.running() as server:
        data = over_http(server, retries)
        file.write_text(yaml.safe_dump(data))
        with Store.resume(tmp_path / "r") as store:
            assert runner.play_run(store)
            noted = {
                (row.id, turn.ask, step, note.attempt, note.reason)
                for row in store.games()
                for record in [store.record(row.id)]
                for turn in (*record.turns, *record.probes)
                for step, note in turn.notes
                if isinstance(note, Mistake)
            }
    assert found == noted  # the second server made no mistake


def test_a_check_during_a_run_reads_the_latest_games_and_no_more_than_it_needs(tmp_path: Path) -> None:
    stopped(tmp_path / "r", 0)
    counts = []
    with Store.open_for_reading(tmp_path / "r") as store:
        for enough in (None, 1):
            with ErrorSummary(store, enough=enough) as errors:
                counts.append(sum(tally.replies for tally in errors.tally().values()))
                first, second = (errors.unfinished(row).read for row in store.games())
    assert counts == [first + second, second]
    assert first
    assert second


def test_a_check_of_a_long_run_reads_no_more_finished_games_than_it_needs(tmp_path: Path) -> None:
    with http_server.running() as server:
        data = over_http(server, straw_polls=0, deals=3)
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
            by_game = [sum(len(turn.calls) for turn in store.record(row.id).turns) for row in store.games()]
    with Store.open_for_reading(tmp_path / "r") as store, ErrorSummary(store, enough=1) as errors:
        counts = [sum(tally.replies for tally in errors.tally().values()) for _ in range(4)]
    assert counts == [by_game[2], by_game[2] + by_game[1], sum(by_game), sum(by_game)]


def test_errors_of_a_stopped_run_are_counted_and_listed(tmp_path: Path) -> None:
    stopped(tmp_path / "r", 2)
    text = called(errors, tmp_path / "r").stdout
    with Store.open_for_reading(tmp_path / "r") as store, ErrorSummary(store) as found:
        unusable = [one for row in store.games() for one in found.unfinished(row).unusable]
    assert f"{len(unusable)} unusable replies" in text
    assert len(unusable) > 5
    assert text.count("Well, I would rather not say.") == len(unusable)
    one = unusable[0]
    assert f"{one.ask} · " in text
    assert one.reason in text
    assert "2 games are unfinished: the budget of 40,000 tokens is spent" in text


def test_errors_say_at_which_step_and_attempt_replies_fail(tmp_path: Path) -> None:
    """Nine in ten replies of a reflective player may be usable, and none of its decisions."""

    def fails_to_act(prompt: str) -> str:
        return "Hm." if "concise talking content" in prompt else http_server.answer(prompt)

    with http_server.running() as server:
        server.says = fails_to_act
        data = over_http(server, rules="doctor", straw_polls=0, deals=1)
        data["players"]["others"]["recipe"] = {"name": "reflective-003", "retries": 1}
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
            turns = [turn for turn in store.record(1).turns if turn.calls]
    listed = called(errors, tmp_path / "r", width=200).stdout
    rows = [[cell.strip() for cell in line.split("│")[2:-1]] for line in listed.splitlines() if "│" in line]
    found = {(step, attempt): (int(n), bad, cut) for step, attempt, n, bad, cut in rows}
    decided = len(turns)
    for attempt in "12":
        assert found["act", attempt] == (decided, f"{decided} (100 %)", "0")
    answers = sum(call.step.startswith("answer/") for turn in turns for call in turn.calls)
    assert found["answer", "1"] == (answers, "0 (0 %)", "0")


def torn(prompt: str) -> str:
    """Two answers to every third prompt; another one and the same where it is asked again."""
    said = http_server.answer(prompt)
    return (
        f"{http_server.answer(prompt, 'draft')} No: {said}"
        if http_server.draw(prompt, "torn", 3) == 0
        else said
    )


@pytest.mark.parametrize("retries", [0, 1])
def test_replies_with_several_answers_are_told_apart(tmp_path: Path, retries: int) -> None:
    """In the list of errors, in the data, and from those that cannot be used."""
    with http_server.running() as server:
        server.says = torn
        with Store.create(tmp_path / "r", build(over_http(server, retries))) as store:
            assert runner.play_run(store)
            turns = [
                turn
                for row in store.games()
                for one in [store.record(row.id)]
                for turn in (*one.turns, *one.probes)
            ]
            noted = [note for turn in turns for _, note in turn.notes if isinstance(note, Mistake)]
        rows = [row for _, row in data_rows(DataSource(tmp_path / "r"), ["decisions"])]
    taken = [note for note in noted if note.taken]
    assert taken
    assert {note.reason for note in taken} == {
        "the reply holds several different answers; give one JSON object and nothing else"
    }
    assert bool(len(noted) - len(taken)) == bool(retries)
    assert sum(row["several_answers"] for row in rows) == len(taken)
    assert sum(row["mistakes"] for row in rows) == len(noted) - len(taken)
    with Store.open_for_reading(tmp_path / "r") as store, ErrorSummary(store) as found:
        assert sum(tally.unusable for tally in found.tally().values()) == len(noted) - len(taken)
    text = called(errors, tmp_path / "r").stdout
    assert f"{len(noted) - len(taken)} unusable repl" in text
    assert f"{len(taken)} replies with several answers, of which the last was taken" in text
    assert text.count("(the last of them is taken)") == len(taken)


def test_several_answers_in_a_stopped_game_count_as_they_will(tmp_path: Path) -> None:
    with http_server.running() as server:
        server.says = torn
        data = build(over_http(server, 1, budget={"tokens": 40_000}))
        with Store.create(tmp_path / "r", data) as store:
            assert not runner.play_run(store)
            with ErrorSummary(store) as errors:
                heard = {row.id: errors.unfinished(row).unusable for row in store.games()}
        found = {(game, one.ask, one.step, one.attempt, one.taken) for game in heard for one in heard[game]}
        assert {taken for *_, taken in found} == {True, False}
        file = tmp_path / "r" / "experiment.yaml"
        file.write_text(yaml.safe_dump(over_http(server, 1)))
        with Store.resume(tmp_path / "r") as store:
            assert runner.play_run(store)
            noted = {
                (row.id, turn.ask, step, note.attempt, note.taken)
                for row in store.games()
                for record in [store.record(row.id)]
                for turn in (*record.turns, *record.probes)
                for step, note in turn.notes
                if isinstance(note, Mistake)
            }
    assert {one for one in found if not one[-1]} <= noted
    last = {one for one in found if one[-1]} - noted
    # A game may have stopped right before it would have asked again: each in one batch of asks.
    batches = {(game, ask.rsplit("/", 1)[0]) for game, ask, *_ in last}
    assert len(batches) == len({game for game, *_ in last})


def test_a_spent_budget_is_told_in_one_line_whatever_it_leaves_undone(tmp_path: Path) -> None:
    """Of the games in flight, some of which meet it later and count more, and of those not begun."""
    with http_server.running() as server:
        data = over_http(server, deals=12, concurrency=3, budget={"tokens": 20_000})
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(data))
        ran = called(run, str(tmp_path / "x.yaml"), out=tmp_path / "r")
        assert ran.returncode == ExitCode.NOT_OVER
    with Store.open_for_reading(tmp_path / "r") as store:
        left = [row for row in store.games() if not row.over]
    assert len(left) > 3
    line = f"{len(left)} games are unfinished: the budget of 20,000 tokens is spent ("
    for text in (ran.stdout, called(errors, tmp_path / "r").stdout):
        assert text.count(line) == 1
        assert text.count("unfinished: ") == 1
    told = f"Some games are not over. Go on with a higher budget: wolflab run --resume {tmp_path / 'r'}"
    proposed = re.search(rf"{re.escape(told)} --set budget.tokens=(\d+)", ran.stdout)
    assert proposed is not None, ran.stdout
    assert 40_000 <= int(proposed[1]) < 60_000
    assert ran.stdout.count(SHORT_GAMES_FIRST) == 1
    with Store.open_for_reading(tmp_path / "r") as store:
        assert render_report(summary(store)).count(SHORT_GAMES_FIRST) == 1


def test_a_prompt_that_does_not_fit_names_the_window(tmp_path: Path) -> None:
    with http_server.running() as server:
        data = over_http(server)
        data["players"]["others"]["model"]["context"] = 500
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
        assert server.calls == 0
    listed = called(errors, tmp_path / "r").stdout
    assert "the prompt does not fit into the context of 500 tokens" in " ".join(listed.split())
    assert "the reply is empty" not in listed


def test_games_that_failed_for_reasons_of_their_own_are_named(tmp_path: Path) -> None:
    data = {"name": "t", "players": {"others": {"recipe": "random"}}, "deals": 5}
    with Store.create(tmp_path / "r", build(data)) as store:
        store.plan([("all", deal, 0) for deal in range(5)])
        for game, how, why in (
            (1, "failed", "a <b> mistake"),
            (2, "unfinished", "the server"),
            (3, "unfinished", "the server"),
        ):
            store.stop(game, how, why)
        console = quiet()
        print_unfinished(console, store, "run")
    assert printed(console).splitlines()[:3] == [
        "game 1 (all, deal 0) is failed: a <b> mistake",
        "2 games are unfinished: the server",
        "2 games are planned",
    ]


def test_calls_of_another_version_are_said_to_be_unread(tmp_path: Path) -> None:
    stopped(tmp_path / "r", 2)
    with closing(sqlite3.connect(tmp_path / "r" / "run.sqlite")) as db, db:
        db.execute("UPDATE calls SET request = 'ffffffff'")
    listed = called(errors, tmp_path / "r").stdout
    assert "0 unusable replies" in listed
    unread = f"not among them: {filed(tmp_path / 'r')} replies of games that are not over"
    assert unread in listed


@pytest.mark.parametrize("retries", [0, 1])
def test_a_model_that_never_answers_usably_is_named_once_and_the_run_goes_on(
    tmp_path: Path, retries: int
) -> None:
    with http_server.running() as server:
        server.faults.extend([NONSENSE] * 5_000)
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(over_http(server, retries)))
        ran = called(run, str(tmp_path / "x.yaml"), out=tmp_path / "r")
        assert ran.returncode == ExitCode.UNUSABLE
        assert server.faults  # no reply but nonsense was ever given
    text = ran.stdout
    warning, _, closing = text.partition("See: wolflab errors")
    assert "Most replies of wolf-1 · vanilla cannot be used" in warning
    assert closing.split("\n")[0] == f" {tmp_path / 'r'}"
    assert text.count("See: wolflab errors") == 1
    assert "the reply holds no JSON object" in warning
    top, _, _ = closing.partition("Who plays:")
    assert "Most replies of wolf-1 · vanilla cannot be used" in top
    assert f"Look at them with: wolflab errors {tmp_path / 'r'}\n" in top
    assert text.count("Most replies of") == 2
    told = int(re.findall(r"cannot be used: \d+ of (\d+),", warning)[0])
    assert told <= 2 * MANY  # while the first games are played, not at the end
    page = (tmp_path / "r" / "report.html").read_text()
    assert "<b>Few usable replies.</b>" in page
    assert "Most replies of wolf-1 · vanilla cannot be used" in page
    assert "unusable: wolf-1 · vanilla" in page
    assert "unusable:" in text


def test_few_replies_are_told_at_the_end_and_not_before(tmp_path: Path) -> None:
    """While a run goes on, a few may be bad luck; when it is over, most are most."""
    with http_server.running() as server:
        server.faults.extend([NONSENSE] * 5_000)
        rules = {"preset": "witch", "max_rounds": 1, "discussion": False}
        (tmp_path / "x.yaml").write_text(
            yaml.safe_dump(over_http(server, 0, rules=rules, straw_polls=0, deals=1))
        )
        ended = wolflab("run", str(tmp_path / "x.yaml"), "--out", str(tmp_path / "r"))
    assert filed(tmp_path / "r") < MANY
    assert ended.returncode == ExitCode.UNUSABLE
    assert "See: wolflab errors" not in ended.stdout
    assert "Most replies of wolf-1 · vanilla cannot be used" in ended.stdout


# -- one rule for all --------------------------------------------------------------------------------


def arms(bad: http_server.FakeServer, good: http_server.FakeServer, **changes: Any) -> dict[str, Any]:
    """Three conditions: wolf-1 is everybody in two, and the Werewolves, by way of `bad`, in the third."""
    rules = {"preset": "witch", "max_rounds": 1, "discussion": False}
    data = over_http(good, 0, rules=rules, straw_polls=0, deals=1, **changes)
    failing = over_http(bad, 0)["players"]["others"]
    data["conditions"] = {"a": {}, "b": {}, "c": {"players": {"others": OTHER, "werewolves": failing}}}
    return data


OTHER = {"model": "village", "recipe": "vanilla"}


def test_a_player_who_fails_in_one_condition_of_three_is_told_everywhere_or_nowhere(tmp_path: Path) -> None:
    """Most of its replies over all conditions are of use."""
    with http_server.running() as bad, http_server.running() as good:
        bad.faults.extend([NONSENSE] * 5_000)
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(arms(bad, good)))
        ran = called(run, str(tmp_path / "x.yaml"), out=tmp_path / "my run")
    assert ran.returncode == ExitCode.UNUSABLE
    with Store.open_for_reading(tmp_path / "my run") as store, ErrorSummary(store) as errors:
        (named,) = unusable_players_of(store)
        tallies = errors.tally()
        assert unusable_players(errors) == (named,)
        table, where = summary(store), (store.path / "report.json").read_text()
    mine = {where: tally for (where, player), tally in tallies.items() if player.model == "wolf-1"}
    assert 2 * sum(tally.unusable for tally in mine.values()) < sum(tally.replies for tally in mine.values())
    assert (named.player, named.conditions, named.everywhere) == ("wolf-1 · vanilla", ("c",), False)
    assert named.replies == named.unusable == mine["c"].replies
    top, _, below = ran.stdout.partition("Who plays:")
    told = f"Most replies of wolf-1 · vanilla in c cannot be used: {named.unusable} of {named.replies}, "
    assert told in top
    assert f"Look at them with: wolflab errors '{tmp_path / 'my run'}'\n" in top
    assert below.count("unusable:") == 1
    page = (tmp_path / "my run" / "report.html").read_text()
    assert told in page.split('<div class="tiles">')[0]
    assert page.count("unusable: wolf-1 · vanilla") == 1
    assert '"everywhere": false' in where
    calls = {row.name: row.split("invalid_by_player")["wolf-1 · vanilla",] for row in table.conditions}
    assert [calls[name].value for name in "abc"] == [0, 0, 1]


def test_a_player_who_fails_in_every_condition_is_told_once(tmp_path: Path) -> None:
    with http_server.running() as bad:
        bad.faults.extend([NONSENSE] * 5_000)
        with Store.create(tmp_path / "r", build(arms(bad, bad))) as store:
            assert runner.play_run(store)
            (named,) = unusable_players_of(store)
            with Store.create(tmp_path / "s", build(arms(bad, bad, budget={"tokens": 3_000}))) as other:
                assert not runner.play_run(other)
                (begun,) = unusable_players_of(other)
                both = extras_of_all([store, other], compared([store, other]))
                console = quiet()
                print_summary(console, compared([store, other]), both)
    assert (named.conditions, named.everywhere) == (("a", "b", "c"), True)
    assert begun.conditions == ("a", "b", "c")[: len(begun.conditions)]  # as far as it was heard
    assert [one.conditions for one in both.unusable_players] == [
        ("r: a", "r: b", "r: c"),
        tuple(f"s: {name}" for name in begun.conditions),
    ]
    top, _, below = printed(console).partition("Who plays:")
    assert "wolf-1 · vanilla in r: a, r: b and r: c cannot be used" in top
    for name in "rs":
        assert f"Look at them with: wolflab errors {tmp_path / name}\n" in top
    assert below.count("unusable:") == 3 + len(begun.conditions)


def names_in(page: ReportPage) -> list[str]:
    """All that heads a row or a column of its tables, but for the list of who plays."""
    tables = [
        table for name, table in page.tables.items() if not name.startswith(("who-", "tournament-who-"))
    ]
    rows = [cell.text for table in tables for row in table.rows for cell in row[:1]]
    return rows + [cell.text for table in tables for cell in table.columns]


@pytest.mark.drawn
def test_a_condition_in_which_a_player_fails_is_marked_wherever_conditions_stand_side_by_side(
    tmp_path: Path,
) -> None:
    with http_server.running() as bad, http_server.running() as good:
        bad.faults.extend([NONSENSE] * 5_000)
        data = arms(bad, good, contrasts=["rounds"])
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
            found = summary(store)
            extra, console = extras(store, found), quiet()
            report_run(console, store, None)
    page = report_page(found, extras=extra)
    named = names_in(page)
    assert "c" not in named
    assert {"a", "b", "c (unusable)", "c (unusable) − a", "b − a"} <= {*named}
    (figure,) = [one for one in page.figures.values() if "Win rates" in one.alt]
    assert ">c (unusable)<" in figure.svg
    assert ">a<" in figure.svg
    assert "c (unusable)" in printed(console)
    told = json.loads((tmp_path / "r" / "report.json").read_text())
    failing = {row["name"]: row["unusable"] for row in told["conditions"]}
    assert failing == {"a": [], "b": [], "c": ["wolf-1 · vanilla"]}
    differences = {(row["condition"], row["baseline"]): row["unusable"] for row in told["contrasts"]}
    assert differences == {("b", "a"): [], ("c", "a"): ["wolf-1 · vanilla"]}


def test_compare_marks_the_run_that_is_broken(tmp_path: Path) -> None:
    rules = {"preset": "witch", "max_rounds": 1, "discussion": False}
    with http_server.running() as server:
        data = over_http(server, 0, rules=rules, straw_polls=0, deals=1, contrasts=["rounds"])
        with Store.create(tmp_path / "sound", build(data)) as store:
            assert runner.play_run(store)
        server.faults.extend([NONSENSE] * 5_000)
        with Store.create(tmp_path / "broken", build(data)) as store:
            assert runner.play_run(store)
    out = tmp_path / "compared.html"
    told = wolflab("compare", str(tmp_path / "sound"), str(tmp_path / "broken"), "--out", str(out))
    assert told.returncode == 0, told.stderr
    numbers = json.loads(out.with_suffix(".json").read_text())
    failing = {row["name"]: row["unusable"] for row in numbers["conditions"]}
    assert failing == {"sound: all": [], "broken: all": ["wolf-1 · vanilla"]}
    assert {(*row["unusable"],) for row in numbers["contrasts"]} == {("wolf-1 · vanilla",)}
    assert "broken: all (unusable) − sound: all<" in out.read_text()
    assert "(unusable)" in told.stdout.partition("Who plays:")[2]


@pytest.mark.parametrize("most", [14, 30])
def test_a_mark_is_never_cut_off(most: int) -> None:
    cut = cut_name(f"a-very-long-name-of-a-condition {UNUSABLE}", most)
    assert len(cut) <= most
    assert cut.startswith("a-")
    assert cut.endswith(f"… {UNUSABLE}")


def test_a_few_bad_replies_in_each_of_many_conditions_are_many() -> None:
    """While a run goes on, what a player gave in all conditions in which it fails is put together."""
    player = PlayerLabel("m", "vanilla")

    class Heard:
        class store:
            class experiment:
                conditions = dict.fromkeys("abcdef")

            path = Path("r")

        def tally(self) -> dict[tuple[str, PlayerLabel], Tally]:
            few = {(name, player): Tally(12, Counter({"no": 7})) for name in "edcba"}
            return few | {("f", player): Tally(1_000, Counter({"no": 500}))}

    errors: Any = Heard()
    (named,) = unusable_players(errors, MANY)
    assert (named.conditions, named.replies, named.unusable) == (("a", "b", "c", "d", "e"), 60, 35)
    assert not unusable_players(errors, 61)
    assert trouble_in_words(named).startswith("Most replies of m · vanilla in a, b, c, d and 1 more cannot")


def test_causes_are_told_that_lie_in_the_settings() -> None:
    """A limit that cuts replies; a pool made of games in which a player decided nothing."""
    cut = UnusablePlayer("m · reflective", ("a", "b"), 40, 30, CUT.reason, 20, "r", decisions=True)
    assert trouble_in_words(cut).endswith("(20 times). The limit is max_tokens of the recipe or the model.")
    assert "max_tokens" not in trouble_in_words(replace(cut, reason="no"))
    assert len(troubles_in_words(Extras(unusable_players=(cut,), sources=("c",)))) == 1
    *_, pools = troubles_in_words(Extras(unusable_players=(cut,), sources=("b", "c")))
    assert pools.startswith(
        "Decisions without a usable reply give no experience, so pools of games of b hold"
    )


def test_no_record_is_read_of_a_run_without_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"name": "t", "rules": "witch", "players": {"others": OTHER}, "deals": 2}
    with Store.create(tmp_path / "r", build(data)) as store:
        assert runner.play_run(store)
        monkeypatch.setattr(Store, "record", None)
        assert unusable_players_of(store) == ()


# -- what it cost -----------------------------------------------------------------------------------


def test_a_cost_that_nobody_knows_is_not_nothing(tmp_path: Path) -> None:
    rules = {"preset": "witch", "max_rounds": 1, "discussion": False}
    with http_server.running() as server:
        data = over_http(server, rules=rules, straw_polls=0, deals=1)
        mine = data["players"]["others"]
        priced = {**mine, "model": {**mine["model"], "model": "wolf-2", "price": {"input": 1.0}}}
        free = {**mine, "model": {**mine["model"], "model": "wolf-2", "price": {"input": 0}}}
        data["conditions"] = {
            "unknown": {},
            "known": {"players": {"others": priced}},
            "mixed": {"players": {"village": priced}},
            "village": {"players": {"others": {"model": "village"}}},
        }
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
            found = summary(store)
        data["conditions"] = {"free": {"players": {"others": free}}}
        with Store.create(tmp_path / "f", build(data)) as store:
            assert runner.play_run(store)
            nothing = summary(store)
    unknown, known, mixed, village = found.conditions
    assert (unknown.unpriced, known.unpriced, mixed.unpriced, village.unpriced) == (
        ("wolf-1",), (), ("wolf-1",), ()
    )  # fmt: skip
    assert unknown.measures["cost"].value is mixed.measures["cost"].value is None
    assert (known.measures["cost"].value or 0) > 0 == village.measures["cost"].value
    assert not any(contrast.metric == "cost" for contrast in found.contrasts)
    text, lacking = cost_in_words(found.cost)
    assert text.startswith("at least $")
    assert lacking == "1 of 2 models have no price"
    assert cost_in_words(replace(found, conditions=(unknown,)).cost) == ("unknown", "the model has no price")
    for free_of_charge in (nothing, replace(found, conditions=(village,))):
        assert cost_in_words(free_of_charge.cost) == ("$0.00", "")
    as_data = unknown.as_dict()
    assert as_data["totals"]["wolf-1"]["cost"] is as_data["measures"]["cost"]["value"] is None
    page = render_report(found)
    assert f'<b class="words">{text}</b><span>cost in USD: 1 of 2 models have no price</span>' in page
    assert page.count(">unknown<") >= 2
    console = quiet()
    print_summary(console, found)
    assert f"Cost: {text}; 1 of 2 models have no price" in printed(console)


def test_calls_made_before_their_price_was_known_have_no_known_cost(tmp_path: Path) -> None:
    rules = {"preset": "witch", "max_rounds": 1, "discussion": False}
    with http_server.running() as server:
        data = over_http(server, rules=rules, straw_polls=0, deals=1)
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
        data["players"]["others"]["model"]["price"] = {"input": 1.0}
        (tmp_path / "r" / "experiment.yaml").write_text(yaml.safe_dump(data))
        with Store.open_for_reading(tmp_path / "r") as store:
            (found,) = summary(store).conditions
    assert found.unpriced == ("wolf-1",)


def test_tokens_that_no_server_counted_are_said_to_be_estimated(tmp_path: Path) -> None:
    rules = {"preset": "witch", "max_rounds": 1, "discussion": False}
    with http_server.running() as server:
        server.usage = False
        data = over_http(server, rules=rules, straw_polls=0, deals=1)
        with Store.create(tmp_path / "r", build(data)) as store:
            assert runner.play_run(store)
            found = summary(store)
            more = extras(store, found)
    sentence = "wolf-1: the server counts no tokens; they are estimated, one for every 4 bytes"
    assert more.estimated == (sentence,)
    console = quiet()
    print_summary(console, found, more)
    assert sentence in printed(console)
    page = render_report(found, extras=more)
    assert "tokens, estimated in part" in page
    assert "estimated in part" not in render_report(found)
    assert sentence in called(errors, tmp_path / "r").stdout.splitlines()  # the model is named once


@pytest.mark.slow
def test_a_tournament_names_such_a_model_too(tmp_path: Path) -> None:
    with http_server.running() as server:
        server.faults.extend([NONSENSE] * 5_000)
        model = over_http(server)["players"]["others"]["model"]
        rules = {"preset": "witch", "max_rounds": 2}
        data = {"name": "t", "rules": rules, "model": model, "deals": 2}
        data["entrants"] = {"a": "vanilla", "b": "vanilla"}
        (tmp_path / "t.yaml").write_text(yaml.safe_dump(data))
        ran = wolflab("tournament", str(tmp_path / "t.yaml"), "--out", str(tmp_path / "r"))
    assert ran.returncode == ExitCode.UNUSABLE
    text = ran.stdout
    assert text.count("Most replies of wolf-1 · vanilla ") == 2  # in the run, and at its end
    page = (tmp_path / "r" / "tournament.html").read_text()
    assert "<b>Few usable replies.</b>" in page
    assert text.count("See: wolflab errors") == 1
    with Store.open_for_reading(tmp_path / "r") as store:
        games = [of_record(store.record(row.id)) for row in store.games("done")]
        totals = [each for row in summary(store).conditions for each in row.totals.values()]
    replies, calls = sum(t.replies for game in games for t in game.values()), sum(t.calls for t in totals)
    tokens = sum(each.usage.tokens for each in totals)
    assert f"calls of language models: {number(calls, 'large')}; " in text
    assert f"; replies that could not be used: {replies:,} of {replies:,}; " in text
    assert f"; tokens: {number(tokens, 'large')}; cost in USD: unknown (the model has no price)\n" in text
    assert f"<b>{replies:,} of {replies:,}</b><span>replies that could not be used</span>" in page
    assert "<span>cost in USD: the model has no price</span>" in page


@pytest.mark.slow
def test_a_tournament_marks_the_cells_in_which_a_player_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with http_server.running() as server:
        server.faults.extend([NONSENSE] * 5_000)
        model = over_http(server)["players"]["others"]["model"]
        entrants = {"sound": OTHER, "failing": {"model": model, "recipe": {"name": "vanilla", "retries": 0}}}
        data = {"name": "t", "rules": {"preset": "witch", "max_rounds": 6}, "deals": 2, "entrants": entrants}
        (tmp_path / "t.yaml").write_text(yaml.safe_dump(data))
        ran = wolflab("tournament", str(tmp_path / "t.yaml"), "--out", str(tmp_path / "r"))
    assert ran.returncode == ExitCode.UNUSABLE
    with Store.open_for_reading(tmp_path / "r") as store:
        extra = extras_of_tournament(store)
        pages = standings_page(tournament_standings(store), extra), report_page(summary(store), extras=extra)
    (named,) = extra.unusable_players
    cells = {"sound vs failing", "failing vs sound", "failing vs failing"}
    assert set(named.conditions) == cells
    closing = ran.stdout.split("left 0:00:00")[-1]
    top, _, below = closing.partition("Who plays:")
    assert "Most replies of wolf-1 · vanilla in " in top
    assert f"Look at them with: wolflab errors {tmp_path / 'r'}\n" in top
    mark = "unusable: wolf-1 · vanilla"
    assert named.entrants == ("failing",)
    assert below.count(mark) == 4
    assert (tmp_path / "r" / "tournament.html").read_text().count(mark) == 5
    named = names_in(pages[0]) + names_in(pages[1])
    assert not {"failing", *cells} & {*named}
    assert {"sound", "failing (unusable)", "sound vs failing (unusable)"} <= {*named}
    assert "sound − failing (unusable)" in named or "failing (unusable) − sound" in named
    told = json.loads((tmp_path / "r" / "tournament.json").read_text())
    for row in (*told["scores"], *told["ratings"]["rows"]):
        assert row["unusable"] == (["wolf-1 · vanilla"] if row["name"] == "failing" else [])
    assert [len(row["unusable"]) for row in told["differences"]] == [1] * len(told["differences"])
    assert [bool(row["unusable"]) for row in told["cells"]] == [
        "failing" in (row["village"], row["werewolves"]) for row in told["cells"]
    ]
    assert "failing (unusable)" in below
    tables = pages[0].tables | pages[1].tables
    for name, marks in (
        ("tournament-matrix-the-village-s-win-rate", 3),
        ("tournament-scores-mean-win-rate", 1),
        ("tournament-ratings-strengths", 1),
        ("main-one-row-per-condition", 3),
    ):
        rows = csv.DictReader(io.StringIO(tables[name].to_csv()))
        notes = [row[head] for row in rows for head in row if head.endswith("(note)")]
        assert notes.count(mark) == tables[name].to_latex().count(mark) == marks


def test_a_model_that_answers_is_not_warned_of(tmp_path: Path) -> None:
    with http_server.running() as server:
        server.faults.extend([NONSENSE] * 20)
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(over_http(server)))
        ran = called(run, str(tmp_path / "x.yaml"), out=tmp_path / "r")
        assert ran.returncode == ExitCode.DONE
    assert "cannot be used" not in ran.stdout
    assert "Few usable replies" not in (tmp_path / "r" / "report.html").read_text()


def test_players_that_never_wait_are_heard_game_by_game(tmp_path: Path) -> None:
    """The built-in player, asked to fail, beside one that does not."""
    data = {
        "name": "faulty",
        "rules": {"preset": "witch", "max_rounds": 2},
        "players": {
            "village": {"model": {"model": "village", "invalid": 0.9}, "recipe": "vanilla"},
            "werewolves": {"model": "village", "recipe": "vanilla"},
        },
        "deals": 4,
    }
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(data))
    ran = called(run, str(tmp_path / "x.yaml"), out=tmp_path / "r")
    assert ran.returncode == ExitCode.UNUSABLE
    text = ran.stdout
    assert text.count("See: wolflab errors") == 1
    assert text.count("Most replies of village(invalid=0.9) · vanilla cannot be used") == 2
    with Store.open_for_reading(tmp_path / "r") as store:
        found = extras(store, summary(store))
        record = store.record(1)
        again = quiet()
        report_run(again, store, tmp_path / "again.html")
    assert [one.player for one in found.unusable_players] == ["village(invalid=0.9) · vanilla"]
    mistakes = [note for turn in record.turns for _, note in turn.notes if isinstance(note, Mistake)]
    tallies = of_record(record)
    assert sum(one.unusable for one in tallies.values()) == len(mistakes) > 0
    assert sum(one.replies for one in tallies.values()) == sum(len(turn.calls) for turn in record.turns)
    assert "Most replies of" in printed(again)


def test_a_player_who_decides_nothing_is_named_though_most_of_its_replies_can_be_used(tmp_path: Path) -> None:
    """Whatever it is asked, it answers in one sentence, which is a good answer to nine questions of ten."""
    with http_server.running() as server:
        server.faults.extend([http_server.Fault("text", body="I vote to kill Player 1.")] * 5_000)
        model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "timeout": 20}
        data = over_http(server, rules={"preset": "witch", "max_rounds": 1}, straw_polls=0, deals=4)
        data["players"] = {
            "others": {"model": "village", "recipe": "vanilla"},
            "village": {"model": model, "recipe": "reflective-003"},
        }
        (tmp_path / "x.yaml").write_text(yaml.safe_dump(data))
        ran = called(run, str(tmp_path / "x.yaml"), out=tmp_path / "r")
        assert ran.returncode == ExitCode.UNUSABLE
        assert server.faults
    text = ran.stdout
    assert "Most replies of" not in text
    with Store.open_for_reading(tmp_path / "r") as store:
        found = summary(store)
        (named,) = extras(store, found).unusable_players
        turns = [turn for row in store.games() for turn in store.record(row.id).turns]
    mine = [turn for turn in turns if len(turn.calls) > 1]
    failed = sum(turn.invalid is not None for turn in mine)
    assert named.decisions
    assert (named.player, named.replies, named.unusable) == ("wolf-1 · reflective-003", len(mine), failed)
    assert 2 * failed > len(mine) >= MANY_DECISIONS
    told = f"Most decisions of wolf-1 · reflective-003 are stand-ins: {failed} of {len(mine)} had no usable"
    assert told in text
    assert found.conditions[0].measures["stand_ins"].value == pytest.approx(failed / len(mine))
    assert "stand-ins" in text
    share = found.conditions[0].split("stand_ins_by_player")[named.player,]
    assert (share.value, share.n) == (pytest.approx(failed / len(mine)), len(mine))
    assert found.conditions[0].measures["stand_ins"].n == len(mine)


def test_decisions_of_a_stopped_game_are_counted_as_far_as_they_were_taken(tmp_path: Path) -> None:
    stopped(tmp_path / "r", 0)
    with Store.open_for_reading(tmp_path / "r") as store, ErrorSummary(store) as errors:
        (before,) = errors.tally().values()
        assert 0 < before.stand_ins.total() < before.decisions
        # Without retries a decision is one call; those still waited for, and its batch, are not decided.
        assert before.stand_ins.total() <= before.unusable
        assert before.decisions <= before.replies


def test_reasons_are_escaped_on_the_page(tmp_path: Path) -> None:
    trouble = UnusablePlayer("<model>", ("all",), 60, 60, "a <b>reason</b>", 1, "r")
    page = render_report(summarise([]), extras=Extras(unusable_players=(trouble,)))
    assert "Most replies of &lt;model&gt; cannot be used: 60 of 60" in page
    assert "a &lt;b&gt;reason&lt;/b&gt;” (once)" in page
    assert "<code>wolflab errors RUN</code>" in page


@pytest.mark.parametrize(
    ("all_", "bad", "mostly"), [(50, 26, True), (50, 25, False), (1, 1, True), (0, 0, False)]
)
def test_mostly_is_more_than_half(all_: int, bad: int, mostly: bool) -> None:
    assert Tally(all_, Counter({"no": bad})).mostly_unusable is mostly
    assert Tally(decisions=all_, stand_ins=Counter({"no": bad})).mostly_stood_in_for is mostly
