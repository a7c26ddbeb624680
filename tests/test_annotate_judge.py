"""Judges and the rule as raters, and all raters joined with the key."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

import http_server
from scripted import number
from wolflab.errors import ModelError, ServerError, StoreError, WolflabError
from wolflab.lab import judging, runner
from wolflab.lab.agreeing import Agreement, agree, agreement
from wolflab.lab.annotate import Key, KeyRow, Sample, sample, write_key
from wolflab.lab.experiment import build
from wolflab.lab.judging import (
    REASONABLE,
    JudgedItem,
    JudgeFile,
    criteria,
    judge,
    judge_file,
    question_of,
    read_verdicts,
    rule_labels,
)
from wolflab.lab.label_files import Label
from wolflab.lab.store import Store
from wolflab.metrics.behaviours import BEHAVIOURS, Sighting
from wolflab.models.base import Request, Response, Usage
from wolflab.text.prompts import messages
from wolflab.text.questions import Judge
from wolflab.ui.annotating import draw_sample, judge_sample, print_agreement, run_of, show_agreement


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


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    model = {"model": "village", "invalid": 0.15}
    players = {"others": {"model": model, "recipe": {"name": "vanilla", "retries": 0}}}
    arms: dict[str, Any] = {"okapi": {}, "zebra": {"players": {"others": {"recipe": "deductive"}}}}
    data = {"name": "savanna", "rules": "witch", "players": players, "conditions": arms, "deals": 8}
    path = tmp_path_factory.mktemp("runs") / "r"
    with Store.create(path, build(data)) as made:
        assert runner.run(made)
    with Store.open_for_reading(path) as found:
        yield found


@pytest.fixture(scope="module")
def drawn(store: Store) -> Sample:
    return sample(store, 12)


# -- the judge ------------------------------------------------------------------------------


def test_every_item_is_judged_once_and_kept(store: Store, drawn: Sample, tmp_path: Path) -> None:
    jury = Jury(said)
    path = judge_file(tmp_path, jury.name)
    seen: list[tuple[int, int]] = []
    found = asyncio.run(
        judge(drawn.key, store, jury, path, at_once=5, watch=lambda over, all_: seen.append((over, all_)))
    )
    assert {verdict.item for verdict in found.verdicts} == {item.id for item in drawn.items}
    assert len(jury.requests) == 24
    assert 1 < jury.most <= 5
    assert seen == [(n, 24) for n in range(25)]
    assert found.usage == Usage(2400, 240, 0, 12.0)
    assert (found.rater, found.invalid) == ("judge jury/one", 0)
    assert read_verdicts(path, drawn.key) == found
    again = Jury(said)
    assert asyncio.run(judge(drawn.key, store, again, path)) == found
    assert not again.requests


def test_the_judge_is_told_what_the_player_knew_and_nothing_of_who_it_was(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    jury = Jury(said)
    asyncio.run(judge(drawn.key, store, jury, tmp_path / "judge-x.jsonl"))
    prompts = {
        request.key.split("|")[0].removeprefix("judge/"): "\n".join(
            content for _, content in messages(request.question)
        )
        for request in jury.requests
    }
    for item in drawn.items:
        prompt = prompts[item.id]
        assert f'The reply: "{item.reply}"' in prompt
        assert all(line in prompt for line in item.known)
        assert item.role in prompt
        for word in ("okapi", "zebra", "savanna", "vanilla", "deductive", "village(", "invalid="):
            assert word not in prompt


def test_unusable_verdicts_are_asked_again_with_the_reason_then_counted(
    store: Store, drawn: Sample, tmp_path: Path
) -> None:
    ids = [item.id for item in drawn.items]

    def verdict(request: Request) -> str:
        item = request.key.split("|")[0].removeprefix("judge/")
        attempt = int(request.key.rsplit("|", 1)[1])
        if item == ids[0] or (item == ids[1] and attempt < 2):
            return '{"reasonable": "perhaps"}'
        return said(request)

    jury = Jury(verdict)
    found = asyncio.run(judge(drawn.key, store, jury, tmp_path / "judge-x.jsonl", retries=2))
    by_item = {one.item: one for one in found.verdicts}
    assert found.invalid == 1
    assert (by_item[ids[0]].labels, by_item[ids[0]].attempts) == (None, 3)
    assert "yes or no" in by_item[ids[0]].invalid
    assert (by_item[ids[1]].labels, by_item[ids[1]].attempts) == ({"reasonable": True}, 3)
    assert by_item[ids[1]].usage.prompt_tokens == 300
    last = [request for request in jury.requests if ids[1] in request.key][-1]
    assert [reply for reply, _ in last.corrections] == ['{"reasonable": "perhaps"}'] * 2
    assert all("yes or no" in reason for _, reason in last.corrections)
    again = Jury(said)
    asyncio.run(judge(drawn.key, store, again, tmp_path / "judge-x.jsonl"))
    assert not again.requests  # an unusable verdict is a result


@pytest.mark.parametrize("error", [ServerError("it is down"), ModelError("no such model")])
def test_a_failing_judge_loses_nothing(
    store: Store, drawn: Sample, tmp_path: Path, error: ModelError
) -> None:
    path = tmp_path / "judge-x.jsonl"
    good = [item.id for item in drawn.items][:7]

    def verdict(request: Request) -> str | Exception:
        return said(request) if any(item in request.key for item in good) else error

    with pytest.raises(type(error), match=str(error)):
        asyncio.run(judge(drawn.key, store, Jury(verdict), path, at_once=100))
    assert {one.item for one in read_verdicts(path, drawn.key).verdicts} == set(good)
    rest = Jury(said)
    asyncio.run(judge(drawn.key, store, rest, path))
    assert len(rest.requests) == 24 - len(good)


def test_a_line_cut_short_is_judged_anew(store: Store, drawn: Sample, tmp_path: Path) -> None:
    path = tmp_path / "judge-x.jsonl"
    found = asyncio.run(judge(drawn.key, store, Jury(said), path))
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rfind(b"\n", 0, -1) + 20])
    assert len(read_verdicts(path, drawn.key).verdicts) == 23
    rest = Jury(said)
    mended = asyncio.run(judge(drawn.key, store, rest, path))
    assert len(rest.requests) == 1
    assert set(map(str, mended.verdicts)) == set(map(str, found.verdicts))
    lines = whole.splitlines()
    path.write_bytes(b"\n".join([lines[0], b'{"item": 3}', *lines[2:]]) + b"\n")
    with pytest.raises(WolflabError, match="line 2: not a verdict"):
        asyncio.run(judge(drawn.key, store, rest, path))


def test_a_verdict_given_twice_is_refused(store: Store, drawn: Sample, tmp_path: Path) -> None:
    """Two files joined by hand, say: each verdict would count twice, in tokens and in what was unusable."""
    path = tmp_path / "judge-x.jsonl"
    asyncio.run(judge(drawn.key, store, Jury(said), path))
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(whole + lines[3])
    words = rf"line 26: {drawn_item(lines[3])} was judged before, in line 4; remove one"
    with pytest.raises(WolflabError, match=words):
        read_verdicts(path, drawn.key)
    idle = Jury(said)
    with pytest.raises(WolflabError, match=words):
        asyncio.run(judge(drawn.key, store, idle, path))
    assert not idle.requests


def drawn_item(line: bytes) -> str:
    return str(json.loads(line)["item"])


@pytest.mark.parametrize(
    ("line", "change", "words"),
    [
        (2, {"item": "x" * 5000}, "line 3: 'x+' is none of this sample's items"),
        (
            2,
            {"labels": {"good": True}},
            r"line 3: its labels are not those that were asked for \(reasonable\)",
        ),
        (0, {"criteria": None}, "line 1: not the head of a file of verdicts"),
        (0, {"model": 3}, "line 1: not the head of a file of verdicts"),
    ],
)
def test_verdicts_that_do_not_belong_here_are_named(
    store: Store, drawn: Sample, tmp_path: Path, line: int, change: dict[str, Any], words: str
) -> None:
    path = tmp_path / "judge-x.jsonl"
    asyncio.run(judge(drawn.key, store, Jury(said), path))
    lines = path.read_bytes().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | change).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(WolflabError, match=words) as refused:
        read_verdicts(path, drawn.key)
    assert len(str(refused.value)) < 400 + len(str(path))


def test_verdicts_of_another_kind_never_share_a_file(store: Store, drawn: Sample, tmp_path: Path) -> None:
    path = tmp_path / "judge-x.jsonl"
    asyncio.run(judge(drawn.key, store, Jury(said), path))
    with pytest.raises(WolflabError, match="another criteria"):
        asyncio.run(judge(drawn.key, store, Jury(said), path, criteria(behaviours=["bluffing"])))
    with pytest.raises(WolflabError, match="another model"):
        asyncio.run(judge(drawn.key, store, Jury(said, "jury/two"), path))
    other = sample(store, 12, seed=9)
    with pytest.raises(WolflabError, match="another sample"):
        asyncio.run(judge(other.key, store, Jury(said), path))
    with pytest.raises(WolflabError, match="another sample"):
        read_verdicts(path, other.key)
    path.write_text("{}\n")
    with pytest.raises(WolflabError, match="not a file of verdicts"):
        read_verdicts(path, drawn.key)


def test_one_process_writes_at_a_time(store: Store, drawn: Sample, tmp_path: Path) -> None:
    path = tmp_path / "judge-x.jsonl"
    inner: list[str] = []

    def verdict(request: Request) -> str:
        if not inner:
            inner.append("tried")
            second = judging._verdicts(path, {})
            with pytest.raises(WolflabError, match="being written by another process"), second:
                pass
        return said(request)

    asyncio.run(judge(drawn.key, store, Jury(verdict), path))
    assert inner


def test_behaviours_can_be_judged_as_well(store: Store, drawn: Sample, tmp_path: Path) -> None:
    every = criteria(behaviours=True)
    assert [name for name, _ in every] == ["reasonable", *BEHAVIOURS]
    assert criteria() == (REASONABLE,)
    with pytest.raises(WolflabError, match="no behaviour 'dancing'; known are trust"):
        criteria(["dancing"])
    two = criteria(["trust", "bluffing"])
    jury = Jury(lambda request: said(request, trust=False))
    found = asyncio.run(judge(drawn.key, store, jury, judge_file(tmp_path, jury.name, two), two))
    assert found.path.name == "judge-jury-one-behaviours.jsonl"
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
        found = judge_sample(Console(quiet=True), tmp_path, model, retries=0)
        forms = [body["response_format"]["json_schema"]["schema"] for body in server.bodies]
    assert (len(found.verdicts), found.invalid, len(forms)) == (24, 2, 24)
    assert all(form["properties"]["reasonable"]["enum"] == ["yes", "no"] for form in forms)
    assert found.path == tmp_path / "judge-wolf-1.jsonl"
    assert found.usage.prompt_tokens > 0


# -- the rule -------------------------------------------------------------------------------


def test_the_rule_minds_hallucinations_and_failures_that_show(
    store: Store, drawn: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judging.sampled_moments(drawn.key, store)
    usable = [row for row in drawn.key.rows if found[row.id].turn.invalid is None]
    by_family = {one.family: name for name, one in BEHAVIOURS.items()}
    plan = dict(zip(("hallucination", "failure", "social", "strategic"), usable, strict=False))
    thought = usable[4]

    def sighted(record: Any) -> tuple[Sighting, ...]:
        game = next(row.id for row in store.games() if store.record(row.id).lines == record.lines)
        shown = [
            Sighting(by_family[family], 0, 0, row.ask, None, "planted")
            for family, row in plan.items()
            if row.game == game
        ]
        if thought.game == game:
            shown.append(Sighting(by_family["hallucination"], 0, 0, thought.ask, None, "planted", "thought"))
        return tuple(shown)

    monkeypatch.setattr(judging, "sightings", sighted)
    labels = rule_labels(drawn.key, store)
    bad = {item for item, reasonable in labels.items() if not reasonable}
    unusable = {row.id for row in drawn.key.rows if found[row.id].turn.invalid is not None}
    assert unusable
    assert bad == unusable | {plan["hallucination"].id, plan["failure"].id}
    assert not rule_labels(drawn.key, store, thoughts=True)[thought.id]


# -- raters joined --------------------------------------------------------------------------


def key_of(variants: dict[str, int], deals: int = 10) -> Key:
    rows = [
        KeyRow(f"{variant}{n}", variant, 1 + n, n % deals, 0, f"1/vote/{n}", "m · r")
        for variant, count in variants.items()
        for n in range(count)
    ]
    return Key("run", "e", 1, tuple(rows))


def labels_of(rater: str, given: dict[str, bool], reason: str = "") -> list[Label]:
    return [Label(item, rater, ok, "" if ok else reason) for item, ok in given.items()]


def test_shares_and_pairs_are_what_they_are_by_hand() -> None:
    key = key_of({"full": 20, "bare": 20})
    anna = {f"full{n}": n >= 2 for n in range(20)} | {f"bare{n}": n >= 10 for n in range(20)}
    ben = {item: ok for item, ok in anna.items() if item != "full5"} | {"bare11": False}
    given = labels_of("anna", anna, "other") + labels_of("ben", ben, "hallucination")
    rule = dict.fromkeys(anna, True)
    found = agreement(key, given, [], rule)
    assert [rater.name for rater in found.raters] == ["anna", "ben", "people", "rule"]
    assert {rater.name: rater.labelled for rater in found.raters} == {
        "anna": 40,
        "ben": 39,
        "people": 39,
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
    assert shares["bare", "people"].reasonable.value == 9 / 19  # bare11 is a tie
    assert shares["bare", "rule"].reasonable.low is not None
    pairs = {(row.one, row.other): row.found for row in found.pairs}
    assert set(pairs) == {("anna", "ben"), ("anna", "rule"), ("ben", "rule"), ("people", "rule")}
    two = pairs["anna", "ben"]
    assert two.agreed.value == pytest.approx(38 / 39)
    assert two.agreed.missing == 1
    equal, chance = 38 / 39, (27 * 26 + 12 * 13) / 39**2
    assert two.kappa.value == pytest.approx((equal - chance) / (1 - chance))
    assert found.alpha is not None
    assert found.alpha.n == 39


def test_judges_count_what_they_could_not_say() -> None:
    key = key_of({"full": 12})
    asked = criteria(["trust"])
    verdicts = tuple(
        JudgedItem(f"full{n}", None if n == 0 else {"reasonable": n > 3, "trust": n % 2 == 0})
        for n in range(12)
    )
    one = JudgeFile(Path("judge-a.jsonl"), "m", asked, verdicts)
    seen = {f"full{n}": frozenset({"trust"} if n < 6 else ()) for n in range(12)}
    found = agreement(key, [], [one], None, seen)
    assert [(rater.name, rater.labelled, rater.invalid) for rater in found.raters] == [("judge m", 11, 1)]
    (row,) = found.behaviours
    assert (row.behaviour, row.by_judge, row.by_rule) == ("trust", 5, 5)
    assert row.found.agreed.value == pytest.approx(5 / 11)
    twice = agreement(key, [], [one, JudgeFile(Path("judge-b.jsonl"), "m", (REASONABLE,), verdicts)])
    assert [rater.name for rater in twice.raters] == ["judge m (judge-a)", "judge m (judge-b)"]


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
    console = Console(width=160, record=True, file=io.StringIO())
    there = tmp_path / "labels"
    drawn = draw_sample(console, store.path, there, per_condition=8)
    assert {path.name for path in there.iterdir()} == {"key.json", "items.csv", "annotate.html"}
    with pytest.raises(WolflabError, match="already holds a sample"):
        draw_sample(console, store.path, there, per_condition=8)
    for name, wrong in (("anna", 3), ("ben", 4)):
        rows = [f"{item.id},{'no' if n % wrong == 0 else 'yes'}" for n, item in enumerate(drawn.items)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,reasonable", *rows]))
    jury = Jury(said)
    asyncio.run(judge(drawn.key, store, jury, judge_file(there, jury.name)))
    found = show_agreement(console, there, [tmp_path / "anna.csv", tmp_path / "ben.csv"])
    assert [rater.kind for rater in found.raters] == ["person", "person", "people", "judge", "rule"]
    assert agree(there, [tmp_path / "anna.csv", tmp_path / "ben.csv"], store) == found
    kept = msgspec.json.decode((there / "agreement.json").read_bytes())
    assert kept["raters"][0] == {
        "name": "anna",
        "kind": "person",
        "labelled": 16,
        "invalid": 0,
        "instrument": False,
    }
    text = console.export_text()
    for words in ("okapi", "zebra", "anna – ben", "judge jury/one", "Krippendorff's alpha", "Keep away"):
        assert words in text


def test_an_empty_table_is_named_and_a_table_given_twice_is_refused(store: Store, tmp_path: Path) -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    there = tmp_path / "labels"
    drawn = draw_sample(Console(quiet=True), store.path, there, per_condition=8)
    (tmp_path / "anna.csv").write_text("\n".join(["id,reasonable", f"{drawn.items[0].id},yes"]))
    found = show_agreement(console, there, [there / "items.csv", tmp_path / "anna.csv"])
    assert found.unfilled == (str(there / "items.csv"),)
    assert [rater.name for rater in found.raters] == ["anna", "rule"]
    assert f"{there / 'items.csv'}: 0 of 16 labelled" in console.export_text()
    twice = [tmp_path / "anna.csv", there / ".." / "anna.csv"]
    with pytest.raises(WolflabError, match=r"anna\.csv is named 2 times"):
        show_agreement(console, there, twice)


def test_a_run_that_was_moved_is_found_or_named(store: Store, drawn: Sample, tmp_path: Path) -> None:
    key = drawn.key
    there = tmp_path / "labels"
    there.mkdir()
    assert run_of(key, there) == store.path.absolute()
    gone = Key(str(tmp_path / "old" / "r"), key.experiment, key.seed, key.rows)
    beside = tmp_path / "r"
    beside.mkdir()
    (beside / "run.sqlite").touch()
    assert run_of(gone, there) == beside
    assert run_of(gone, there, tmp_path / "named") == tmp_path / "named"
    (beside / "run.sqlite").unlink()
    write_key(gone, there)
    with pytest.raises(StoreError, match="is not a run directory"):
        show_agreement(Console(quiet=True), there)


def test_the_built_in_player_judges_offline_and_is_marked(store: Store, tmp_path: Path) -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    drawn = draw_sample(Console(quiet=True), store.path, tmp_path / "labels", per_condition=20)
    found = judge_sample(
        console, tmp_path / "labels", {"model": "village", "skill": 0.5}, behaviours=["bluffing"]
    )
    assert (len(found.verdicts), found.invalid) == (40, 0)
    unusable = {
        item
        for item, one in judging.sampled_moments(drawn.key, store).items()
        if one.turn.invalid is not None and one.ask.options is not None
    }
    refused = {one.item for one in found.verdicts if one.labels and not one.labels["reasonable"]}
    assert unusable
    assert unusable <= refused
    joined = show_agreement(console, tmp_path / "labels")
    assert [rater.instrument for rater in joined.raters] == [True, False]
    assert "an instrument check" in console.export_text()
    with pytest.raises(WolflabError, match="model 'nobody' is not known"):
        judge_sample(console, tmp_path / "labels", "nobody")


def test_tables_are_printed_for_one_rater_too() -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    found: Agreement = agreement(key_of({"full": 3}), labels_of("anna", {"full0": True}), [])
    print_agreement(console, found)
    assert "1 of 3" in console.export_text()


def test_the_question_keeps_nothing_of_the_players_own_notes(store: Store, drawn: Sample) -> None:
    for moment in judging.sampled_moments(drawn.key, store).values():
        question = question_of(moment)
        assert not question.beliefs
        assert not question.situation.pending
        assert len(question.situation.lines) == len(
            [event for event in moment.view.events if type(event).__name__ != "NightFell"]
        )
