"""Recorded prompts put to models again: which, in what words, and what becomes of replies known by hand."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import command_line
import http_server
from scripted import Scripted
from wolflab.errors import ServerError, StoreError, WolflabError
from wolflab.lab.results.reply_outcomes import ALL, ModelOutcomes, reply_outcomes
from wolflab.lab.runs.asked_again import (
    AskedAgain,
    RecordedPrompt,
    ReplyOutcome,
    ask_again,
    outcome_of,
    sample_prompts,
)
from wolflab.lab.runs.batch import CallBatch
from wolflab.lab.storage.store import Store
from wolflab.models.base import Request, Response
from wolflab.text.asking.options import labels
from wolflab.text.questions import Decide
from wolflab.text.replies.finish import ANSWERED, Finish, FinishReason, no_fit
from wolflab.usage import Usage

BASE = """
name: base
rules: sheriff
players: {others: {model: village, recipe: RECIPE}}
deals: 6
seed: 3
"""


def played(home: Path, text: str = BASE, recipe: str = "deductive") -> Path:
    (home / "base.yaml").write_text(text.replace("RECIPE", recipe), encoding="utf-8")
    done = command_line.wolflab("run", str(home / "base.yaml"), "--out", str(home / "run"))
    assert done.returncode == 0, done.stderr
    return home / "run"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("run"))


def drawn(run: Path, n: int, seed: int = 1, tasks: Sequence[str] = ()) -> tuple[RecordedPrompt, ...]:
    with Store.open_for_reading(run) as store:
        return sample_prompts(store, n, seed, tasks)


class Replier:
    """A model that waits. say: the prompt's request → reply, or an error to raise."""

    instant = False
    typed = False

    def __init__(self, say: Callable[[Request], str | Exception], name: str = "replier/one") -> None:
        self.say, self.name = say, name
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Response:
        self.requests.append(request)
        await asyncio.sleep(0)
        said = self.say(request)
        if isinstance(said, Exception):
            raise said
        return Response(said, Usage(100, 10, 0, 0.5))

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None:
        pass


def right(request: Request) -> str:
    return json.dumps(Scripted().answer(request))


def put(path: Path, prompts: Sequence[RecordedPrompt], *models: Replier) -> AskedAgain:
    return asyncio.run(ask_again(CallBatch(path, models), prompts))


def whole(found: ModelOutcomes) -> dict[str, tuple[int, int, int, int]]:
    """Task → replies that are legal, illegal, unreadable, none."""
    return {
        row.task: (row.counts["legal"], row.counts["illegal"], row.counts["unreadable"], row.counts["none"])
        for row in found.tasks
    }


# -- which prompts ----------------------------------------------------------------------------


def test_tasks_and_games_take_turns(run: Path) -> None:
    prompts = drawn(run, 60)
    assert len(prompts) == len({prompt.name for prompt in prompts}) == 60
    counts = Counter(prompt.task for prompt in prompts)
    assert {"vote", "statement", "night action", "judgement"} <= set(counts)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len({prompt.game for prompt in drawn(run, 14)}) > 3
    for task in counts:
        games = Counter(prompt.game for prompt in prompts if prompt.task == task)
        assert len(games) == 6


def test_the_same_seed_gives_the_same_prompts_and_fewer_begin_more(run: Path) -> None:
    many = [prompt.name for prompt in drawn(run, 40)]
    assert [prompt.name for prompt in drawn(run, 40)] == many
    assert [prompt.name for prompt in drawn(run, 15)] == many[:15]
    assert [prompt.name for prompt in drawn(run, 40, seed=2)] != many
    assert {prompt.task for prompt in drawn(run, 10, tasks=["vote", "judgement"])} == {"vote", "judgement"}


def test_what_cannot_be_drawn_is_said(run: Path, tmp_path: Path) -> None:
    with pytest.raises(WolflabError, match=r"no prompt has the task 'nap'; its tasks are: .*judgement.*vote"):
        drawn(run, 10, tasks=["nap"])
    silent = played(tmp_path, BASE.replace("model: village, recipe: RECIPE", "recipe: random"))
    with pytest.raises(WolflabError, match="no model was asked anything"):
        drawn(silent, 10)


def test_prompts_of_a_real_models_run_are_its_first_attempts_in_its_words(tmp_path: Path) -> None:
    with http_server.running(models=("my-model",)) as server:
        model = f"{{model: my-model, base_url: '{server.base_url}'}}"
        path = played(tmp_path, BASE.replace("village", model).replace("deals: 6", "deals: 1"))
    with Store.open_for_reading(path) as store:
        calls = {call["key"]: call["messages"] for call in store.calls_with_prompts(1)}
        prompts = sample_prompts(store, 10_000)
    assert len(prompts) == sum(key.endswith("|0") for key in calls) > 10
    for prompt in prompts:
        assert prompt.request.key.endswith("|0")
        assert [tuple(one) for one in calls[prompt.request.key]] == list(prompt.request.words.messages)
        assert prompt.free.request.words.messages == prompt.request.words.messages
        assert prompt.free.request.words.schema is None
        assert prompt.free.name != prompt.name


# -- what becomes of a reply ------------------------------------------------------------------


def dead_of(prompt: RecordedPrompt) -> str | None:
    now = prompt.question.situation
    return next((name for seat, name in enumerate(now.ruleset.names) if seat not in now.alive), None)


@pytest.fixture(scope="module")
def vote(run: Path) -> RecordedPrompt:
    """A vote on a day when somebody is dead."""
    return next(prompt for prompt in drawn(run, 10_000, tasks=["vote"]) if dead_of(prompt))


@pytest.mark.parametrize(
    ("reply", "finish", "outcome"),
    [
        ('{"reasoning": "so", "action": "LEGAL"}', ANSWERED, "legal"),
        ("I think LEGAL is it. {'action': 'LEGAL'}", ANSWERED, "legal"),
        ('{"action": "vote for DEAD"}', ANSWERED, "illegal"),
        ('{"action": "DEAD"}', ANSWERED, "illegal"),
        ('{"action": "vote for player_99"}', ANSWERED, "illegal"),
        ('{"action": "whoever seems right"}', ANSWERED, "unreadable"),
        ('{"action": ""}', ANSWERED, "unreadable"),
        ('{"choose": "nobody knows"}', ANSWERED, "unreadable"),
        ("I vote for DEAD", ANSWERED, "unreadable"),
        ("LEGAL", ANSWERED, "unreadable"),
        ("", ANSWERED, "none"),
        ("", Finish(FinishReason.FILTERED), "none"),
        ("<think>LEGAL it is</think>", ANSWERED, "none"),
        ('<seed:think>{"action": "vote for DEAD"}</seed:think>{"action": "LEGAL"}', ANSWERED, "legal"),
        ('<seed:think>{"action": "LEGAL"}', Finish(FinishReason.CUT), "none"),
        ('{"action": "LEGAL"} No: {"action": "OTHER"}', ANSWERED, "unreadable"),
        ('{"action": "LEGAL"} Yes: {"action": "LEGAL"}', ANSWERED, "legal"),
        ('{"reasoning": "since', Finish(FinishReason.CUT), "none"),
        ("", no_fit("4,096 tokens"), "none"),
    ],
)
def test_outcomes_of_votes(vote: RecordedPrompt, reply: str, finish: Finish, outcome: ReplyOutcome) -> None:
    task = vote.question.task
    assert isinstance(task, Decide)
    legal, other, *_ = labels(task.ask, vote.question.situation.ruleset)
    said = reply.replace("LEGAL", legal).replace("OTHER", other).replace("DEAD", dead_of(vote) or "")
    found, why = outcome_of(vote.question, Response(said, finish=finish))
    assert (found, bool(why)) == (outcome, outcome != "legal"), why


def test_outcomes_of_statements_and_judgements(run: Path) -> None:
    by_task = {prompt.task: prompt for prompt in drawn(run, 20)}
    for task, reply, outcome in (
        ("statement", '{"statement": "I trust player_2."}', "legal"),
        ("statement", '{"reasoning": "hm"}', "unreadable"),
        ("judgement", '{"player_1": "perhaps"}', "unreadable"),
        ("judgement", "{}", "unreadable"),
        ("judgement", right(by_task["judgement"].request), "legal"),
    ):
        assert outcome_of(by_task[task].question, Response(reply))[0] == outcome, (task, reply)


def test_a_reflective_players_words_have_outcomes_too(tmp_path: Path) -> None:
    path = played(tmp_path, BASE.replace("deals: 6", "deals: 1"), "{name: reflective, wording: paper}")
    prompts = drawn(path, 10_000)
    assert {"questions", "answer to oneself", "reflection"} <= {prompt.task for prompt in prompts}
    [prompt, *_] = [one for one in prompts if one.task == "vote" and dead_of(one)]
    start = "My step-by-step thought process: so. My concise talking content:"
    for said, outcome in ((f"I vote for {dead_of(prompt)}", "illegal"), ("Let us see", "unreadable")):
        assert outcome_of(prompt.question, Response(f"{start} {said}"))[0] == outcome


# -- asking -----------------------------------------------------------------------------------


def careless(request: Request) -> str:
    """Votes for nobody that there is, speaks in prose at night, judges nobody, and is right elsewhere."""
    task = request.question.task
    kind = task.ask.kind
    if not isinstance(task, Decide):
        return ""
    if kind == "vote":
        return '{"action": "vote for player_42"}'
    return "I would rather sleep." if request.question.situation.phase == "night" else right(request)


def test_replies_are_counted_by_task(run: Path, tmp_path: Path) -> None:
    prompts = drawn(run, 40)
    n = Counter(prompt.task for prompt in prompts)
    before = (run / "run.sqlite").read_bytes()
    model = Replier(careless)
    [found] = reply_outcomes(put(tmp_path / "out", prompts, model))
    assert (run / "run.sqlite").read_bytes() == before
    assert [one.words for one in model.requests] == [prompt.request.words for prompt in prompts]
    assert [one.sampling for one in model.requests] == [prompt.request.sampling for prompt in prompts]
    by = whole(found)
    assert by["vote"] == (0, n["vote"], 0, 0)
    assert by["night action"] == (0, 0, n["night action"], 0)
    assert by["judgement"] == (0, 0, 0, n["judgement"])
    assert by["statement"] == (n["statement"], 0, 0, 0)
    lost = n["night action"] + n["judgement"]
    [every] = [row for row in found.tasks if row.task == ALL]
    assert every.valid.value == pytest.approx(1 - lost / 40)
    acting = sum(prompt.acts for prompt in prompts)
    assert every.legal.n == acting
    assert every.legal.value == pytest.approx(1 - (n["vote"] + n["night action"]) / acting)
    assert every.valid.low is not None
    assert every.valid.deals == 6
    assert next(row for row in found.tasks if row.task == "statement").legal.value is None


def test_models_are_compared_on_the_same_prompts(run: Path, tmp_path: Path) -> None:
    prompts = drawn(run, 40, tasks=["vote", "statement"])

    def nobody(request: Request) -> str:
        votes = request.question.task.ask.kind == "vote"
        return '{"action": "vote for player_42"}' if votes else right(request)

    models = Replier(right), Replier(nobody, "replier/two"), Replier(right, "replier/three")
    first, second, third = reply_outcomes(put(tmp_path / "out", prompts, *models))
    assert first.valid is first.legal is None
    assert second.valid is not None
    assert second.legal is not None
    assert (second.valid.difference.value, second.legal.difference.value) == (0, -1)
    assert second.legal.p == pytest.approx(2 / 2**6), "six games, and all of them against it"
    assert third.legal is not None
    assert (third.legal.difference.value, third.legal.p) == (0, 1)


def test_nothing_is_asked_twice_and_more_may_join(run: Path, tmp_path: Path) -> None:
    prompts = drawn(run, 20)
    replies = iter(range(100))
    failing = Replier(lambda request: ServerError("it rests") if next(replies) >= 7 else right(request))
    asked = put(tmp_path / "out", prompts, failing)
    assert (asked.waiting, asked.why) == (13, "it rests")
    [row, *_] = reply_outcomes(asked)[0].tasks
    assert (row.waiting, row.valid.n, row.valid.missing) == (13, 7, 13)
    other = Replier(right, "replier/two")
    again = put(tmp_path / "out", drawn(run, 30), well := Replier(right), other)
    assert (len(well.requests), len(other.requests), again.waiting) == (23, 30, 0)
    silent = Replier(lambda request: AssertionError("asked again"))
    assert put(tmp_path / "out", prompts, silent).waiting == 0
    free = [prompt.free for prompt in prompts]
    put(tmp_path / "out", free, freely := Replier(lambda request: "no"))
    assert len(freely.requests) == 20
    assert all(request.words.schema is None for request in freely.requests)


def test_other_settings_and_doubles_are_refused(run: Path, tmp_path: Path) -> None:
    prompts = drawn(run, 3)
    put(tmp_path / "out", prompts, Replier(right))
    other = Replier(right)
    other.describe = lambda: {"name": "replier/one", "temperature": 1.0}  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="asked with other settings"):
        put(tmp_path / "out", prompts, other)
    with pytest.raises(WolflabError, match="'village' is named 2 times"):
        CallBatch.of(None, ["village", "village"])


# -- the command ------------------------------------------------------------------------------


def test_the_command_prints_numbers_and_leaves_a_page(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with http_server.running(models=("my-model",)) as server:
        model = f"{{model: my-model, base_url: '{server.base_url}'}}"
        words = ["ask-again", str(run), "-n", "20", "-o", str(out), "--model", model]
        short = command_line.wolflab(*words, "--tokens", "1", cwd=tmp_path)
        assert short.returncode != 0
        assert "Go on, with a higher --tokens" in short.stdout
        both = [*words[:-2], "--model", "village", "--model", model]
        done = command_line.wolflab(*both, cwd=tmp_path)
        numbers = json.loads((out / "report.json").read_text())
        n = server.calls
        assert command_line.wolflab(*both, cwd=tmp_path).returncode == 0
        assert server.calls == n
        assert command_line.wolflab(*words, "--free", cwd=tmp_path).returncode == 0
        assert server.calls == n + 20
        assert "leave out --free" in command_line.wolflab(*both, "--free", cwd=tmp_path).stderr
    assert done.returncode == 0, done.stderr
    assert "my-model − village" in done.stdout
    assert [one["model"] for one in numbers["fates"]] == ["village", "my-model"]
    assert numbers["fates"][0]["tasks"][0]["counts"]["legal"] == 20
    lines = [json.loads(line) for line in (out / "replies.jsonl").read_text().splitlines()]
    assert {line["fate"] for line in lines} <= {"legal", "illegal", "unreadable", "none"}
    assert "Outcomes of the replies" in (out / "report.html").read_text()


def test_a_model_that_is_not_known_leaves_nothing_behind(run: Path, tmp_path: Path) -> None:
    done = command_line.wolflab("ask-again", str(run), "--model", "nosuch", cwd=tmp_path)
    assert done.returncode != 0
    assert "'nosuch' is not known" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_prompt_is_what_it_asks(run: Path) -> None:
    """Two runs of one experiment have the same keys; a prompt in other words is another one."""
    [prompt] = drawn(run, 1)
    other = replace(prompt.request, asked=replace(prompt.question, tips=True))
    assert replace(prompt, request=other).name != prompt.name
