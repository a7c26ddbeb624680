"""Judges and the rule as raters, and all raters joined with the key."""

from __future__ import annotations

import asyncio
import io
import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

import http_server
from command_line import called, wolflab
from scripted import number
from wolflab.errors import CassetteMismatch, ModelError, ServerError, StoreError, WolflabError
from wolflab.lab.labels import judging
from wolflab.lab.labels.agreeing import SampleAgreement, agree, agreement
from wolflab.lab.labels.annotate import AnswerKey, KeyRow, Sample, sample, write_key
from wolflab.lab.labels.judging import (
    REASONABLE,
    JudgedItem,
    JudgeFile,
    criteria,
    judge,
    judge_directory,
    question_of,
    read_judge,
    rule_labels,
)
from wolflab.lab.labels.label_files import Label, read_labels
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.batch import BatchWatcher, CallBatch
from wolflab.lab.storage.call_store import CallStore
from wolflab.lab.storage.store import Store
from wolflab.metrics.behaviours import BEHAVIOURS, DetectedBehaviour
from wolflab.models.base import Request, Response
from wolflab.text.asking import templates
from wolflab.text.asking.prompts import messages
from wolflab.text.questions import Judge
from wolflab.ui.commands.annotate import draw_sample, judge_sample, print_agreement, run_of, show_agreement
from wolflab.ui.labelling.annotation import items_of
from wolflab.usage import Usage


class Jury:
    """A judge that waits. verdict: request → reply, or an error to raise."""

    instant = False
    typed = False

    def __init__(self, verdict: Callable[[Request], str | Exception], name: str = "jury/one") -> None:
        self.name, self.verdict = name, verdict
        self.requests: list[Request] = []
        self.now = self.most = 0

    async def generate(self, request: Request) -> Response:
        self.requests.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(len(request.key) % 5 + 1):
            await asyncio.sleep(0)
        self.now -= 1
        answer = self.verdict(request)
        if isinstance(answer, Exception):
            raise answer
        return Response(answer, Usage(100, 10, 0, 0.5))

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "temperature": 0.0}

    async def close(self) -> None:
        pass


def said(request: Request, **labels: bool) -> str:
    task = request.question.task
    assert isinstance(task, Judge)
    words = {name: "yes" if labels.get(name, True) else "no" for name, _ in task.criteria}
    return json.dumps({"reasoning": "because", **words})


def judged(
    drawn: Sample,
    store: Store,
    jury: Jury,
    path: Path,
    asked: tuple[judging.Criterion, ...] = (REASONABLE,),
    retries: int = 2,
    **more: Any,
) -> JudgeFile:
    return asyncio.run(judge(CallBatch(path, [jury], **more), drawn.key, store, asked, retries))


def by_command(
    directory: Path, drawn: Sample, store: Store, model: dict[str, Any], **options: Any
) -> tuple[JudgeFile, str]:
    """What `wolflab annotate judge` leaves on file, and what it prints."""
    settings = [f"{name}={json.dumps(value)}" for name, value in model.items() if name != "model"]
    printed = called(judge_sample, directory, model["model"], settings, **options).stdout
    return read_back(next(directory.glob("judge-*")), drawn, store), printed


def put(server: http_server.FakeServer) -> list[tuple[str, int]]:
    """What was asked of the server: the question, and the seed, which is of its key."""
    bodies = [body for body in server.bodies if len(body["messages"]) > 1]  # greetings have one
    return [(body["messages"][1]["content"], body["seed"]) for body in bodies]


def read_back(path: Path, drawn: Sample, store: Store) -> JudgeFile:
    return read_judge(path, drawn.key, judging.sampled_decisions(drawn.key, store))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    model = {"model": "village", "invalid": 0.15}
    players = {"others": {"model": model, "recipe": {"name": "vanilla", "retries": 0}}}
    arms: dict[str, Any] = {"okapi": {}, "zebra": {"players": {"others": {"recipe": "deductive"}}}}
    data = {"name": "savanna", "rules": "witch", "players": players, "conditions": arms, "deals": 8}
    path = tmp_path_factory.mktemp("runs") / "r"
    with Store.create(path, build(data)) as made:
        assert runner.play_run(made)
    with Store.open_for_reading(path) as found:
        yield found


@pytest.fixture(scope="module")
def drawn(store: Store) -> Sample:
    return sample(store, 12)


# -- the judge ------------------------------------------------------------------------------


def test_every_item_is_judged_once_and_kept(store: Store, drawn: Sample, tmp_path: Path) -> None:
    jury = Jury(said)
    path = judge_directory(tmp_path, jury.name)
    seen: list[tuple[int, int]] = []

    class Watching(BatchWatcher):
        def progress(self, who: str, over: int, planned: int) -> None:
            seen.append((over, planned))

    found = judged(drawn, store, jury, path, watcher=Watching())
    assert {verdict.item for verdict in found.verdicts} == {row.id for row in drawn.key.rows}
    assert len(jury.requests) == 24
    assert jury.most > 1
    assert seen == [(n, 24) for n in range(25)]
    assert found.usage == Usage(2400, 240, 0, 12.0)
    assert (found.rater, found.invalid, found.waiting) == ("judge jury/one", 0, 0)
    assert read_back(path, drawn, store) == found
    lines = [json.loads(line) for line in (path / judging.FILE).read_text().splitlines()]
    assert [line["item"] for line in lines] == [verdict.item for verdict in found.verdicts]
    again = Jury(said)
    assert judged(drawn, store, again, path) == found
    assert not again.requests


def test_the_judge_is_told_what_the_player_knew_and_nothing_of_who_it_was(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    jury = Jury(said)
    judged(drawn, store, jury, tmp_path / "judge-x")
    prompts = {
        request.key.split("|")[0].removeprefix("judge/"): "\n".join(
            content for _, content in messages(request.question)
        )
        for request in jury.requests
    }
    for item in items_of(drawn):
        prompt = prompts[item.id]
        assert f'The reply: "{item.reply}"' in prompt
        assert all(line in prompt for line in item.known)
        assert item.role in prompt
        for word in ("okapi", "zebra", "savanna", "vanilla", "deductive", "village(", "invalid="):
            assert word not in prompt


def test_unusable_verdicts_are_asked_again_with_the_reason_then_counted(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    ids = [row.id for row in drawn.key.rows]

    def verdict(request: Request) -> str:
        item = request.key.split("|")[0].removeprefix("judge/")
        attempt = int(request.key.rsplit("|", 1)[1])
        if item == ids[0] or (item == ids[1] and attempt < 2):
            return '{"reasonable": "perhaps"}'
        return said(request)

    jury = Jury(verdict)
    found = judged(drawn, store, jury, tmp_path / "judge-x")
    by_item = {one.item: one for one in found.verdicts}
    assert found.invalid == 1
    assert (by_item[ids[0]].labels, by_item[ids[0]].attempts) == (None, 3)
    assert "yes or no" in by_item[ids[0]].invalid
    assert (by_item[ids[1]].labels, by_item[ids[1]].attempts) == ({"reasonable": True}, 3)
    assert found.usage.prompt_tokens == 100 * len(jury.requests) == 2800
    last = [request for request in jury.requests if ids[1] in request.key][-1]
    assert [reply for reply, _ in last.corrections] == ['{"reasonable": "perhaps"}'] * 2
    assert all("yes or no" in reason for _, reason in last.corrections)
    again = Jury(said)
    judged(drawn, store, again, tmp_path / "judge-x")
    assert not again.requests  # an unusable verdict is a result


def test_a_verdict_of_two_minds_is_asked_again_and_thoughts_are_no_verdict(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    ids = [row.id for row in drawn.key.rows]
    yes, no = (json.dumps({"reasonable": word}) for word in ("yes", "no"))

    def verdict(request: Request) -> str:
        item = request.key.split("|")[0].removeprefix("judge/")
        attempt = int(request.key.rsplit("|", 1)[1])
        if item == ids[0] or (item == ids[1] and attempt < 1):
            return f"{yes} No: {no}"
        return f"<seed:think>{no}</seed:think>{yes}" if item == ids[1] else said(request)

    jury = Jury(verdict)
    found = judged(drawn, store, jury, tmp_path / "judge-x")
    by_item = {one.item: one for one in found.verdicts}
    assert found.invalid == 1
    assert (by_item[ids[0]].labels, by_item[ids[0]].attempts) == (None, 3)
    assert by_item[ids[0]].invalid.startswith("the reply holds several different answers")
    assert (by_item[ids[1]].labels, by_item[ids[1]].attempts) == ({"reasonable": True}, 2)


@pytest.mark.parametrize("error", [ServerError("it is down"), ModelError("no such model")])
def test_a_failing_judge_loses_nothing(
    store: Store, drawn: Sample, tmp_path: Path, error: ModelError
) -> None:
    path = tmp_path / "judge-x"
    good = [row.id for row in drawn.key.rows][:7]

    def verdict(request: Request) -> str | Exception:
        return said(request) if any(item in request.key for item in good) else error

    if isinstance(error, ServerError):  # the others may go on, and these be asked again
        found = judged(drawn, store, Jury(verdict), path)
        assert (len(found.verdicts), found.waiting, found.why) == (7, 17, "it is down")
    else:
        with pytest.raises(WolflabError, match="no such model"):
            judged(drawn, store, Jury(verdict), path)
    assert {one.item for one in read_back(path, drawn, store).verdicts} == set(good)
    rest = Jury(said)
    judged(drawn, store, rest, path)
    assert len(rest.requests) == 24 - len(good)


def test_an_item_broken_off_goes_on_from_its_last_call(store: Store, drawn: Sample, tmp_path: Path) -> None:
    """What is lost with a judge that is cut off is the call in flight, and no attempt before it."""
    first = drawn.key.rows[0].id

    def verdict(request: Request) -> str | Exception:
        if first not in request.key:
            return said(request)
        return "perhaps" if request.key.endswith("|0") else ServerError("it is down")

    jury = Jury(verdict)
    found = judged(drawn, store, jury, tmp_path / "judge-x")
    assert found.waiting == 1
    rest = Jury(said)
    found = judged(drawn, store, rest, tmp_path / "judge-x")
    (request,) = rest.requests
    assert request.key.endswith("|1")
    assert request.corrections[0][0] == "perhaps"
    assert next(one for one in found.verdicts if one.item == first).attempts == 2
    asked = [one.key for one in (*jury.requests, *rest.requests)]
    assert len(asked) == len(set(asked)) + 1  # the call that the server failed


def test_other_prompts_are_noticed(
    store: Store, drawn: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judge-x"
    judged(drawn, store, Jury(said), path)
    template = templates._template("judge", 0)
    monkeypatch.setattr(template, "template", template.template + " Take your time.")
    idle = Jury(said)
    with pytest.raises(WolflabError, match="the request differs from the recorded one"):
        judged(drawn, store, idle, path)
    assert not idle.requests
    with pytest.raises(CassetteMismatch):
        read_back(path, drawn, store)


def test_verdicts_of_another_kind_never_share_a_directory(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    path = tmp_path / "judge-x"
    judged(drawn, store, Jury(said), path)
    for words, jury, more in (
        (r"otherwise \(criteria\)", Jury(said), {"asked": criteria(behaviours=["bluffing"])}),
        (r"otherwise \(model", Jury(said, "jury/two"), {}),
        (r"otherwise \(retries\)", Jury(said), {"retries": 0}),
    ):
        with pytest.raises(StoreError, match=words):
            judged(drawn, store, jury, path, **more)  # type: ignore[arg-type]
    other = sample(store, 12, seed=9)
    with pytest.raises(StoreError, match=r"otherwise \(sample"):
        judged(other, store, Jury(said), path)
    with pytest.raises(StoreError, match="another sample"):
        read_back(path, other, store)
    with pytest.raises(StoreError, match="no judge's directory"):
        read_judge(store.path, drawn.key, {})


@pytest.mark.parametrize(("name", "value"), [("criteria", "none"), ("typed", "[["), ("retries", "many")])
def test_a_judge_whose_file_was_changed_is_a_sentence(
    name: str, value: str, store: Store, drawn: Sample, tmp_path: Path
) -> None:
    path = tmp_path / "judge-x"
    judged(drawn, store, Jury(said), path)
    with closing(sqlite3.connect(path / "run.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (value, name))
    with pytest.raises(StoreError, match="judge-x: it is damaged"):
        read_back(path, drawn, store)


def test_one_process_judges_at_a_time(store: Store, drawn: Sample, tmp_path: Path) -> None:
    path = tmp_path / "judge-x"
    tried: list[str] = []

    def verdict(request: Request) -> str:
        if not tried:
            tried.append("tried")
            with pytest.raises(StoreError, match="being run by another process"):
                CallStore.begin(path, {})
        return said(request)

    judged(drawn, store, Jury(verdict), path)
    assert tried


def test_a_judge_keeps_within_its_budget(store: Store, drawn: Sample, tmp_path: Path) -> None:
    """A spent budget stops it cleanly; with a larger one it goes on, and pays for no call twice."""
    with http_server.running() as server:
        price = {"input": 1.0, "output": 1.0}
        model = {"model": "wolf-1", "base_url": server.base_url, "price": price, "max_tokens": 64}
        server.faults.extend([http_server.Fault("text", body='{"reasonable": "yes"}')] * 24)
        write_key(drawn.key, tmp_path)
        first, told = by_command(tmp_path, drawn, store, model, tokens=3000)
        spent = first.usage.prompt_tokens + first.usage.completion_tokens
        assert 0 < len(first.verdicts) < 24
        assert f"{24 - len(first.verdicts)} replies are not judged yet" in told
        assert "the budget of 3,000 tokens is spent" in told
        paid = server.answered
        again, _ = by_command(tmp_path, drawn, store, model, tokens=3000)
        assert (server.answered, again.verdicts) == (paid, first.verdicts)
        assert 1500 < spent <= 3000
        dearer, told = by_command(tmp_path, drawn, store, model, usd=spent * 1e-6)
        assert (server.answered, dearer.verdicts) == (paid, first.verdicts)
        assert "USD is spent" in told
        whole, _ = by_command(tmp_path, drawn, store, model)
    assert len(whole.verdicts) == 24
    assert len(put(server)) == len(set(put(server))) == 24


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"tokens": -1}, "tokens: got -1; use a number above 0"),
        ({"tokens": 0}, "tokens: got 0; use a number above 0"),
        ({"usd": -1.0}, "usd: got -1.0; use a number above 0"),
        ({"usd": nan}, "usd: got nan; use a number"),
    ],
)
def test_a_budget_that_is_none_is_refused(
    limits: dict[str, Any], words: str, drawn: Sample, tmp_path: Path
) -> None:
    write_key(drawn.key, tmp_path)
    with pytest.raises(WolflabError, match=f"the judge's budget: {words}"):
        judge_sample(tmp_path, "village", **limits)


def test_a_killed_judge_asks_nothing_twice(store: Store, drawn: Sample, tmp_path: Path) -> None:
    """kill -9 in the midst of its calls: those that were answered and committed are never made again."""
    write_key(drawn.key, tmp_path)
    home = judge_directory(tmp_path, "custom/wolf-1")
    with http_server.running(latency=0.05) as server:
        server.faults.extend([http_server.Fault("text", body='{"reasonable": "yes"}')] * 60)
        command = [sys.executable, "-m", "wolflab", "annotate", "judge", str(tmp_path)]
        command += [
            "--model",
            "custom/wolf-1",
            "--set",
            f"base_url={server.base_url}",
            "--set",
            "max_in_flight=2",
        ]
        begun = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            committed = 0
            while committed < 5 and begun.poll() is None:
                time.sleep(0.02)
                if (home / "run.sqlite").is_file():
                    with closing(sqlite3.connect(f"file:{home / 'run.sqlite'}?mode=ro", uri=True)) as db:
                        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
                            committed = db.execute("SELECT count(*) FROM calls").fetchone()[0]
        finally:
            begun.send_signal(signal.SIGKILL)
            begun.wait()
        with closing(sqlite3.connect(home / "run.sqlite")) as db:
            kept = {key for (key,) in db.execute("SELECT key FROM calls")}
        assert 5 <= len(kept) < 24
        before = len(put(server))
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    assert "24 verdicts" in done.stdout
    assert len(put(server)) == before + 24 - len(kept)
    assert len(set(put(server))) == 24


def test_behaviours_can_be_judged_as_well(store: Store, drawn: Sample, tmp_path: Path) -> None:
    every = criteria(behaviours=True)
    assert [name for name, _ in every] == ["reasonable", *BEHAVIOURS]
    assert criteria() == (REASONABLE,)
    with pytest.raises(WolflabError, match="no behaviour 'dancing'; known are trust"):
        criteria(["dancing"])
    two = criteria(["trust", "bluffing"])
    jury = Jury(lambda request: said(request, trust=False))
    found = judged(drawn, store, jury, judge_directory(tmp_path, jury.name, two), two)
    assert found.path.name == "judge-jury-one-behaviours"
    assert all(v.labels == {"reasonable": True, "trust": False, "bluffing": True} for v in found.verdicts)
    prompt = messages(jury.requests[0].question)[1].content
    assert BEHAVIOURS["bluffing"].definition in prompt


def test_a_judge_behind_http(store: Store, drawn: Sample, tmp_path: Path) -> None:
    """Through the real client: the schema goes out, verdicts come in, two unusable ones among them."""
    words = ['{"reasoning": "fine", "reasonable": "yes"}'] * 22 + ["I would say so.", ""]
    with http_server.running() as server:
        server.faults.extend(http_server.Fault("text", body=text) for text in words)
        model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "timeout": 20}
        write_key(drawn.key, tmp_path)
        batch = judging.judge_batch(tmp_path, model, (REASONABLE,))
        found = asyncio.run(judge(batch, drawn.key, store, retries=0))
        forms = [body["response_format"]["json_schema"]["schema"] for body in server.bodies]
    assert (len(found.verdicts), found.invalid, len(forms)) == (24, 2, 24)
    assert all(form["properties"]["reasonable"]["enum"] == ["yes", "no"] for form in forms)
    assert found.path == tmp_path / "judge-wolf-1"
    assert found.usage.prompt_tokens > 0


AHEAD = re.compile(
    r"wolf-1: ([\d,]+) to ([\d,]+) calls, at most about ([\d,]+) prompt tokens, "
    r"at most ([\d,]+) reply tokens; at most ([\d,.]+) USD\n"
)


USABLE = http_server.Fault("text", body='{"reasoning": "fine", "reasonable": "yes"}')


def forecast_in(printed: str) -> list[float]:
    """Calls at least and at most, tokens of prompts and replies, USD, as they were told."""
    found = AHEAD.search(printed)
    assert found is not None, printed
    return [float(number.replace(",", "")) for number in found.groups()]


@pytest.mark.parametrize("bad", [0, 60])
def test_what_a_judge_takes_at_most_is_told_before_and_holds(
    store: Store, drawn: Sample, tmp_path: Path, bad: int
) -> None:
    price = {"input": 10.0, "output": 20.0}
    with http_server.running() as server:
        server.faults.extend([http_server.Fault("text", body="I would say so. " * 15)] * bad)
        server.faults.extend([USABLE] * 24)
        model = {"model": "wolf-1", "base_url": server.base_url, "price": price, "max_tokens": 64}
        write_key(drawn.key, tmp_path)
        found, told = by_command(tmp_path, drawn, store, model)
        least, most, prompt, reply, usd = forecast_in(told)
        calls = len(put(server))
        _, again = by_command(tmp_path, drawn, store, model)
    assert (least, most) == (24, 72)
    assert calls == 24 if not bad else 60 <= calls <= 72
    assert calls / 72 * prompt / 2 < found.usage.prompt_tokens <= prompt
    assert found.usage.completion_tokens <= reply == 72 * 64
    assert found.usage.cost <= usd
    assert "prompt tokens" not in again


def test_a_judge_that_goes_on_is_told_what_is_left(store: Store, drawn: Sample, tmp_path: Path) -> None:
    """Of the item that was broken off, too: one of its three attempts is on file."""
    price = {"input": 1.0}
    with http_server.running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url, "price": price, "max_tokens": 64}
        server.faults.extend([USABLE] * 5 + [http_server.Fault("text", body="Yes.")])
        server.faults.extend([http_server.Fault("status", 401)] * 100)
        write_key(drawn.key, tmp_path)
        first, _ = by_command(tmp_path, drawn, store, model | {"max_in_flight": 1})
        server.faults.clear()
        _, told = by_command(tmp_path, drawn, store, model | {"max_in_flight": 1})
    left, filed = 24 - len(first.verdicts), 6 - len(first.verdicts)
    assert first.verdicts
    assert filed
    assert forecast_in(told)[:2] == [left, 3 * left - filed]


def test_a_dear_judge_begins_with_a_yes_or_a_budget(store: Store, drawn: Sample, tmp_path: Path) -> None:
    write_key(drawn.key, tmp_path)
    price = {"input": 5_000.0, "output": 5_000.0}
    with http_server.running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url, "price": price, "max_tokens": 64}
        words = ["annotate", "judge", str(tmp_path), "--model", json.dumps(model)]
        refused = wolflab(*words)
        assert refused.returncode == 2
        asked = r"This may take up to [\d,.]+ USD: begin it with wolflab annotate judge .*--yes"
        assert re.search(asked, refused.stderr)
        assert server.calls == 0
        assert not judge_directory(tmp_path, "wolf-1").exists()
        bounded = wolflab(*words, "--usd", "9")
        assert bounded.returncode == 1
        assert "may take up to" not in bounded.stderr
        assert wolflab(*words, "--yes").returncode == 0


# -- the rule -------------------------------------------------------------------------------


def test_the_rule_minds_hallucinations_and_failures_that_show(
    store: Store, drawn: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judging.sampled_decisions(drawn.key, store)
    usable = [row for row in drawn.key.rows if found[row.id].turn.invalid is None]
    by_family = {one.family: name for name, one in BEHAVIOURS.items()}
    plan = dict(zip(("hallucination", "failure", "social", "strategic"), usable, strict=False))
    thought = usable[4]

    def sighted(record: Any) -> tuple[DetectedBehaviour, ...]:
        game = next(row.id for row in store.games() if store.record(row.id).lines == record.lines)
        shown = [
            DetectedBehaviour(by_family[family], 0, 0, row.ask, None, "planted")
            for family, row in plan.items()
            if row.game == game
        ]
        if thought.game == game:
            shown.append(
                DetectedBehaviour(by_family["hallucination"], 0, 0, thought.ask, None, "planted", "thought")
            )
        return tuple(shown)

    monkeypatch.setattr(judging, "detected_behaviours", sighted)
    labels = rule_labels(judging.seen_by_rule(drawn.key, store), found)
    bad = {item for item, reasonable in labels.items() if not reasonable}
    unusable = {row.id for row in drawn.key.rows if found[row.id].turn.invalid is not None}
    assert unusable
    assert bad == unusable | {plan["hallucination"].id, plan["failure"].id}
    assert labels[thought.id]  # raters do not see it either


# -- raters joined --------------------------------------------------------------------------


def key_of(variants: dict[str, int], deals: int = 10) -> AnswerKey:
    rows = [
        KeyRow(f"{variant}{n}", variant, 1 + n, n % deals, 0, f"1/vote/{n}", "m · r")
        for variant, count in variants.items()
        for n in range(count)
    ]
    return AnswerKey("run", "e", 1, tuple(rows))


def labels_of(rater: str, given: dict[str, bool], reason: str = "") -> list[Label]:
    return [Label(item, rater, ok, "" if ok else reason) for item, ok in given.items()]


def test_shares_and_pairs_are_what_they_are_by_hand() -> None:
    key = key_of({"full": 20, "bare": 20})
    anna = {f"full{n}": n >= 2 for n in range(20)} | {f"bare{n}": n >= 10 for n in range(20)}
    ben = {item: ok for item, ok in anna.items() if item != "full5"} | {"bare11": False}
    given = labels_of("anna", anna, "other") + labels_of("ben", ben, "hallucination")
    rule = dict.fromkeys(anna, True)
    found = agreement(key, given, [], rule)
    assert [rater.name for rater in found.raters] == ["anna", "ben", "rule"]
    assert {rater.name: rater.labelled for rater in found.raters} == {
        "anna": 40,
        "ben": 39,
        "rule": 40,
    }
    shares = {(row.variant, row.rater): row for row in found.shares}
    assert shares["full", "anna"].reasonable.value == 18 / 20
    assert shares["bare", "anna"].reasonable.value == 10 / 20
    assert shares["bare", "anna"].over is not None
    assert shares["bare", "anna"].over.value == pytest.approx(-0.4)
    assert shares["bare", "anna"].over.excludes(0.0)
    assert shares["full", "anna"].over is None
    assert shares["full", "ben"].reasonable.value == 17 / 19
    assert shares["full", "ben"].reasonable.missing == 1
    assert shares["bare", "ben"].reasons == {"hallucination": 11}
    assert shares["bare", "rule"].reasonable.low is not None
    pairs = {(row.one, row.other): row.found for row in found.pairs}
    assert set(pairs) == {("anna", "ben"), ("anna", "rule"), ("ben", "rule")}
    two = pairs["anna", "ben"]
    assert two.agreed.value == pytest.approx(38 / 39)
    assert two.agreed.missing == 1
    equal, chance = 38 / 39, (27 * 26 + 12 * 13) / 39**2
    assert two.kappa.value == pytest.approx((equal - chance) / (1 - chance))
    assert found.alpha is not None
    assert found.alpha.n == 39


def saying(rater: str, refused: set[int], of: range = range(12)) -> list[Label]:
    """Labels of the items of that number: all reasonable but those."""
    return labels_of(rater, {f"full{n}": n not in refused for n in of})


def reasonable_by(labels: list[Label]) -> dict[str, tuple[float | None, int, int]]:
    """By rater: the share of reasonable replies, of how many, and how many have no label."""
    rows = agreement(key_of({"full": 12}), labels, []).shares
    return {row.rater: (row.reasonable.value, row.reasonable.n, row.reasonable.missing) for row in rows}


def test_two_people_have_no_majority() -> None:
    """75 % and 83 %: of the seven replies on which they agree, all are reasonable, and that is no verdict."""
    two = saying("anna", {0, 1, 2}) + saying("ben", {3, 4})
    assert reasonable_by(two) == {"anna": (0.75, 12, 0), "ben": (10 / 12, 12, 0)}
    found = agreement(key_of({"full": 12}), two, [])
    (pair,) = found.pairs
    assert (pair.one, pair.other, pair.found.agreed.value) == ("anna", "ben", pytest.approx(7 / 12))
    assert found.alpha is not None
    console = Console(width=160, record=True, file=io.StringIO())
    print_agreement(console, found)
    shares, told = console.export_text().split("Agreement between raters")
    assert "75.0 %" in shares
    assert "83.3 %" in shares
    assert "100.0 %" not in shares.replace("to 100.0 %", "")  # but as the end of an interval
    assert "No reply was labelled by 3 people or more: no majority can be told" in told


def test_one_person_is_no_majority_either() -> None:
    assert reasonable_by(saying("anna", {0, 1, 2})) == {"anna": (0.75, 12, 0)}


def test_three_people_have_one_where_three_of_them_labelled() -> None:
    """The third labelled half of the items: of the others there is no verdict, though two people agree."""
    three = saying("anna", {0, 1, 2}) + saying("ben", {1, 3, 4}) + saying("carla", {1, 2, 5}, range(6))
    assert reasonable_by(three)["people"] == (4 / 6, 6, 6)  # full1 and full2 are refused
    four = three + saying("dan", {0, 1, 2}, range(6))
    assert reasonable_by(four)["people"] == (3 / 5, 5, 7)  # full0 is a tie now
    apart = (
        saying("anna", {0}, range(4)) + saying("ben", {4}, range(4, 8)) + saying("carla", set(), range(8, 12))
    )
    assert set(reasonable_by(apart)) == {"anna", "ben", "carla"}
    console = Console(width=160, record=True, file=io.StringIO())
    print_agreement(console, agreement(key_of({"full": 12}), three, []))
    assert "no majority" not in console.export_text()


def test_judges_count_what_they_could_not_say() -> None:
    key = key_of({"full": 12})
    asked = criteria(["trust"])
    verdicts = tuple(
        JudgedItem(f"full{n}", None if n == 0 else {"reasonable": n > 3, "trust": n % 2 == 0})
        for n in range(12)
    )
    one = JudgeFile(path=Path("judge-a"), model="m", criteria=asked, verdicts=verdicts)
    seen = {f"full{n}": frozenset({"trust"} if n < 6 else ()) for n in range(12)}
    found = agreement(key, [], [one], None, seen)
    assert [(rater.name, rater.labelled, rater.invalid) for rater in found.raters] == [("judge m", 11, 1)]
    (row,) = found.behaviours
    assert (row.behaviour, row.by_judge, row.by_rule) == ("trust", 5, 5)
    assert row.found.agreed.value == pytest.approx(5 / 11)
    twice = agreement(key, [], [one, replace(one, path=Path("judge-b"), criteria=(REASONABLE,))])
    assert [rater.name for rater in twice.raters] == ["judge m (judge-a)", "judge m (judge-b)"]


def test_shares_are_corrected_by_the_labels_that_people_gave() -> None:
    """Of 40 replies the judge calls 30 reasonable; the labelled half of them says that it misses some."""
    key = key_of({"full": 40, "bare": 12})
    asked = criteria(["trust"])
    verdicts = tuple(
        JudgedItem(row.id, {"reasonable": n % 4 > 0, "trust": n % 2 == 0}) for n, row in enumerate(key.rows)
    )
    judge = JudgeFile(path=Path("judge-a"), model="m", criteria=asked, verdicts=verdicts)
    anna = [
        Label(f"full{n}", "anna", n % 8 > 0, behaviours={"trust": n % 4 == 0} if n < 12 else {})
        for n in range(20)
    ] + labels_of("anna", {f"bare{n}": True for n in range(12)})
    found = agreement(key, anna, [judge], dict.fromkeys((row.id for row in key.rows), True))
    rows = {(row.variant, row.criterion, row.judge): row.found for row in found.corrected}
    assert set(rows) == {  # all replies of "bare" have a person's label: nothing is to be corrected
        ("full", "reasonable", "judge m"),
        ("full", "reasonable", "rule"),
        ("full", "trust", "judge m"),
    }
    row = rows["full", "reasonable", "judge m"]
    assert (row.sensitivity.value, row.specificity.value) == (15 / 17, 1.0)
    assert row.judged.value == 30 / 40
    assert row.rate.value == pytest.approx(0.75 * 15 / 15 + 0.25 * 2 / 5)
    assert (row.rate.n, row.rate.missing) == (20, 20)
    assert rows["full", "trust", "judge m"].rate.value == pytest.approx(0.5 * 3 / 6)
    assert "single label" in rows["full", "reasonable", "rule"].rate.note
    console = Console(width=160, record=True, file=io.StringIO())
    print_agreement(console, found)
    told = console.export_text()
    assert "Shares corrected for the judge's errors" in told
    assert "by labels of anna" in told


def test_behaviours_are_labelled_in_columns_of_their_names(tmp_path: Path) -> None:
    key, table = key_of({"full": 3}), tmp_path / "anna.csv"
    table.write_text("id,reasonable,bluffing\nfull0,yes,no\nfull1,no,TRUE\nfull2,yes,\n")
    assert [label.behaviours for label in read_labels(table, key)] == [
        {"bluffing": False},
        {"bluffing": True},
        {},
    ]
    for row, words in (
        ("full0,yes,perhaps", "'perhaps' for bluffing"),
        ("full0,,yes", "a label for bluffing"),
    ):
        table.write_text(f"id,reasonable,bluffing\n{row}\n")
        with pytest.raises(WolflabError, match=f"row 2: full0 has {words}"):
            read_labels(table, key)


def test_a_person_called_like_the_rule_is_refused() -> None:
    key = key_of({"full": 2})
    with pytest.raises(WolflabError, match="two raters are called 'rule'"):
        agreement(key, labels_of("rule", {"full0": True}), [], {"full0": True})


def test_people_of_known_skill_are_found_to_have_it() -> None:
    """Labels by coin: two raters who each tell the truth with chance 0.9 agree with kappa near 0.64."""
    key = key_of({"full": 600}, deals=60)
    truth = {row.id: n % 2 == 0 for n, row in enumerate(key.rows)}

    def rater(name: str) -> list[Label]:
        return labels_of(name, {item: ok != (number(name + item, 10) == 0) for item, ok in truth.items()})

    found = agreement(key, rater("anna") + rater("ben"), [])
    kappa = found.pairs[0].found.kappa
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < 0.64 < kappa.high
    assert kappa.high - kappa.low < 0.2


# -- the commands ---------------------------------------------------------------------------


def test_from_a_run_to_the_tables(store: Store, tmp_path: Path) -> None:
    there = tmp_path / "labels"
    told = called(draw_sample, store.path, there, per_condition=8).stdout
    drawn = sample(store, 8)
    assert {path.name for path in there.iterdir()} == {"key.json", "items.csv", "annotate.html"}
    with pytest.raises(WolflabError, match="already holds a sample"):
        draw_sample(store.path, there, per_condition=8)
    for name, wrong in (("anna", 3), ("ben", 4)):
        rows = [f"{item.id},{'no' if n % wrong == 0 else 'yes'}" for n, item in enumerate(drawn.key.rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,reasonable", *rows]))
    jury = Jury(said)
    judged(drawn, store, jury, judge_directory(there, jury.name))
    tables = [tmp_path / "anna.csv", tmp_path / "ben.csv"]
    told += called(show_agreement, there, tables, width=160).stdout
    found = agree(there, tables, store)
    assert [rater.kind for rater in found.raters] == ["person", "person", "judge", "rule"]
    kept = msgspec.json.decode((there / "agreement.json").read_bytes())
    assert kept["raters"][0] == {
        "name": "anna",
        "kind": "person",
        "labelled": 16,
        "invalid": 0,
        "instrument": False,
    }
    for words in ("okapi", "zebra", "anna – ben", "judge jury/one", "Krippendorff's alpha", "Keep away"):
        assert words in told


def test_an_empty_table_is_named_and_a_table_given_twice_is_refused(store: Store, tmp_path: Path) -> None:
    there = tmp_path / "labels"
    called(draw_sample, store.path, there, per_condition=8)
    drawn = sample(store, 8)
    (tmp_path / "anna.csv").write_text("\n".join(["id,reasonable", f"{drawn.key.rows[0].id},yes"]))
    tables = [there / "items.csv", tmp_path / "anna.csv"]
    found = agree(there, tables, store)
    assert found.unfilled == (str(there / "items.csv"),)
    assert [rater.name for rater in found.raters] == ["anna", "rule"]
    assert f"{there / 'items.csv'}: 0 of 16 labelled" in called(show_agreement, there, tables).stdout
    twice = [tmp_path / "anna.csv", there / ".." / "anna.csv"]
    with pytest.raises(WolflabError, match=r"anna\.csv is named 2 times"):
        show_agreement(there, twice)


def test_a_run_that_was_moved_is_found_or_named(store: Store, drawn: Sample, tmp_path: Path) -> None:
    key = drawn.key
    there = tmp_path / "labels"
    there.mkdir()
    assert run_of(key, there) == store.path.absolute()
    gone = AnswerKey(str(tmp_path / "old" / "r"), key.experiment, key.seed, key.rows)
    beside = tmp_path / "r"
    beside.mkdir()
    (beside / "run.sqlite").touch()
    assert run_of(gone, there) == beside
    assert run_of(gone, there, tmp_path / "named") == tmp_path / "named"
    (beside / "run.sqlite").unlink()
    write_key(gone, there)
    with pytest.raises(StoreError, match="is not a run directory"):
        show_agreement(there)


def test_the_built_in_player_judges_offline_and_is_marked(store: Store, tmp_path: Path) -> None:
    there, drawn = tmp_path / "labels", sample(store, 20)
    called(draw_sample, store.path, there, per_condition=20)
    found, _ = by_command(there, drawn, store, {"model": "village", "skill": 0.5}, behaviours=True)
    assert (len(found.verdicts), found.invalid) == (40, 0)
    assert all(one.labels and one.labels.keys() > {"bluffing"} for one in found.verdicts)
    unusable = {
        item
        for item, one in judging.sampled_decisions(drawn.key, store).items()
        if one.turn.invalid is not None and one.ask.options is not None
    }
    refused = {one.item for one in found.verdicts if one.labels and not one.labels["reasonable"]}
    assert unusable
    assert unusable <= refused
    assert [rater.instrument for rater in agree(there, [], store).raters] == [True, False]
    assert "an instrument check" in called(show_agreement, there).stdout
    with pytest.raises(WolflabError, match="model 'nobody' is not known"):
        judge_sample(there, "nobody")


def test_tables_are_printed_for_one_rater_too() -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    found: SampleAgreement = agreement(key_of({"full": 3}), labels_of("anna", {"full0": True}), [])
    print_agreement(console, found)
    assert "1 of 3" in console.export_text()


def test_the_question_keeps_nothing_of_the_players_own_notes(store: Store, drawn: Sample) -> None:
    for decision in judging.sampled_decisions(drawn.key, store).values():
        question = question_of(decision)
        assert not question.beliefs
        assert not question.situation.pending
        assert len(question.situation.lines) == len(
            [event for event in decision.view.events if type(event).__name__ != "NightFell"]
        )
