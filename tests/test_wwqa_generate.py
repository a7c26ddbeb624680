"""A model that writes questions on the rules: rounds, examples, answers, garbage, kills and budgets."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import http_server
from command_line import wolflab
from scripted import number
from wolflab.errors import CassetteMismatch, ModelError, StoreError, WolflabError
from wolflab.lab.runs.batch import BatchWatcher, CallBatch
from wolflab.models.base import Chat, Request, Response
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.rules import PRESETS, SHERIFF, WITCH
from wolflab.text.replies.parsed import Problem
from wolflab.usage import Usage
from wolflab.wwqa import writing
from wolflab.wwqa.building import build_items
from wolflab.wwqa.generating import (
    CATEGORIES,
    FACTS,
    FORMS,
    NEAR,
    PAIRS,
    TO_LABEL,
    Generation,
    GenerationPlan,
    generate,
    generate_by_name,
)
from wolflab.wwqa.question_files import read_questions
from wolflab.wwqa.writing import examples_of, read_written

WORDS = [
    "amber",
    "basil",
    "cedar",
    "dune",
    "ember",
    "fjord",
    "grove",
    "heron",
    "iris",
    "jade",
    "kelp",
    "lotus",
    "maple",
    "nectar",
    "olive",
    "pearl",
]


class Author:
    """A model that waits and writes questions in its own words. spoil: request → another reply or error."""

    instant, typed = False, False

    def __init__(
        self, spoil: Callable[[Request], str | Exception | None] = lambda request: None, name: str = "author"
    ) -> None:
        self.name, self.spoil = name, spoil
        self.requests: list[Request] = []
        self.now = self.most = 0

    async def generate(self, request: Request) -> Response:
        self.requests.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(number(request.key + "wait", 5) + 1):
            await asyncio.sleep(0)
        self.now -= 1
        said = self.spoil(request)
        if isinstance(said, Exception):
            raise said
        return Response(json.dumps(self.answer(request)) if said is None else said, Usage(90, 10, 0, 0.5))

    def answer(self, request: Request) -> dict[str, str]:
        names, step = fields(request), step_of(request)
        if step == "write":
            return {name: question(request.key + name) for name in names}
        if step == "answer":
            return {
                "answer": "Yes" if "yes_no" in request.key else f"Because of {question(request.key)[:-1]}"
            }
        found = dict(line.split(": ", 1) for line in told(request).splitlines() if line.startswith('"'))
        return {name: json.loads(found[f'"{name}"'].rstrip(",")) for name in names}

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None:
        pass


def question(key: str) -> str:
    """Ten thousands of them, of which hardly two are alike."""
    return f"Does {' '.join(WORDS[number(f'{key}/{place}', len(WORDS))] for place in range(4))}?"


def told(request: Request) -> str:
    """The prompt, without corrections."""
    assert isinstance(request.asked, Chat)
    return request.asked.messages[0][1]


def fields(request: Request) -> list[str]:
    assert isinstance(request.asked, Chat)
    assert request.asked.schema is not None
    return request.asked.schema["required"]


def asker_of(request: Request) -> str:
    return request.key.split("|")[1]


def step_of(request: Request) -> str:
    return request.key.split("|")[2]


def attempt_of(request: Request) -> int:
    return int(request.key.split("|")[3])


def examples_in(request: Request) -> list[str]:
    block = told(request).split("Examples of such questions:\n")[1]
    return block.split("\n\n")[0].splitlines()


def plan(**changes: Any) -> GenerationPlan:
    return GenerationPlan(**{"ruleset": SHERIFF, "questions": 20, "forms": ("open",), "near": None} | changes)


def made(path: Path, plan: GenerationPlan, *models: Author, **more: Any) -> Generation:
    embedder = None if plan.near is None else HashingEmbedder()
    return asyncio.run(generate(plan, CallBatch(path, models, **more), embedder))


def files(path: Path) -> list[bytes]:
    return [(path / name).read_bytes() for name in (PAIRS, TO_LABEL, FACTS)]


# -- the pipeline -----------------------------------------------------------------------------


def test_questions_are_written_revised_and_answered(tmp_path: Path) -> None:
    author, critic = Author(), Author(name="critic")
    seen: list[tuple[int, int]] = []

    class Watching(BatchWatcher):
        def progress(self, who: str, over: int, planned: int) -> None:
            seen.append((over, planned))

    done = made(tmp_path, plan(), author, critic, watcher=Watching())
    assert [(c.category, c.wanted, c.rounds, c.written, c.revised, c.kept) for c in done.chains] == [
        ("rule", 10, 1, 10, 10, 10),
        ("situation", 10, 1, 10, 10, 10),
    ]
    assert [step_of(request) for request in author.requests].count("write") == 2
    assert {step_of(request) for request in critic.requests} == {"revise"}
    assert len(author.requests) == len(critic.requests) == 2 + 20
    assert (seen[0], seen[-1]) == ((0, 40), (40, 40)), "the bar is there from the beginning"
    items = read_questions(tmp_path / PAIRS).items
    assert tuple(items) == done.pairs
    assert len({item.id for item in items}) == 20
    assert all(item.form == "open" and not item.kind for item in items)
    assert all(item.rules == {"preset": "sheriff"} for item in items)
    assert [item.category for item in items] == ["rule"] * 10 + ["situation"] * 10
    assert (tmp_path / TO_LABEL).read_bytes() == b""
    facts = json.loads((tmp_path / FACTS).read_text())
    assert (facts["model"], facts["reviser"], facts["seed"]) == ({"name": "author"}, {"name": "critic"}, 1)
    assert facts["finished"] is True
    assert facts["near duplicates"] is None
    assert facts["prompts"] == writing.prompt_hashes()
    assert len(facts["prompts"]) == 6
    assert facts["usage"]["prompt_tokens"] == 90 * 44


def test_later_rounds_show_two_human_and_three_generated_examples(tmp_path: Path) -> None:
    """002 §8: the first three iterations show all five initial examples."""
    author = Author()
    done = made(tmp_path, plan(questions=140), author)
    rounds = {asker_of(request): request for request in author.requests if step_of(request) == "write"}
    human = {item.question for item in examples_of(SHERIFF, "rule", "open")}
    pool = [item.question for item in done.pairs if item.category == "rule"]
    assert len([name for name in rounds if name.startswith("rule")]) == 7
    for place in range(1, 8):
        examples = examples_in(rounds[f"rule/open/round/{place}"])
        assert len(examples) == len(set(examples)) == 5
        if place <= 3:
            assert set(examples) == human
        else:
            generated = [example for example in examples if example not in human]
            assert len(generated) == 3
            assert set(generated) <= set(pool[: 30 if place <= 6 else 60])
    assert len({tuple(examples_in(request)) for request in rounds.values()}) > 10
    assert all(request.sampling.temperature == 1.0 for request in rounds.values())
    assert author.most > 5, "independent work is done at once"


def test_what_a_model_is_told(tmp_path: Path) -> None:
    author = Author()
    made(tmp_path, plan(ruleset=WITCH, forms=("open", "yes_no"), label=True), author)
    for request in author.requests:
        assert told(request).startswith("You are playing a game called Werewolf")
        assert "Player 7" in told(request)
        assert "$" not in told(request)
    answers = [request for request in author.requests if step_of(request) == "answer"]
    assert all(item.answer in told(answers[0]) for item in examples_of(WITCH, "rule", "open"))
    yes_no = next(request for request in answers if "yes_no" in request.key)
    assert isinstance(yes_no.asked, Chat)
    assert yes_no.asked.schema is not None
    assert yes_no.asked.schema["properties"]["answer"]["enum"] == ["Yes", "No"]


def test_yes_or_no_questions_are_left_for_people(tmp_path: Path) -> None:
    author = Author()
    done = made(tmp_path / "a", plan(forms=("yes_no",)), author)
    assert done.pairs == ()
    assert len(done.to_label) == 20
    left = read_questions(tmp_path / "a" / TO_LABEL, unanswered=True).items
    assert {(item.form, item.answer) for item in left} == {("yes_no", "")}
    assert {step_of(request) for request in author.requests} == {"write", "revise"}
    proposed = made(tmp_path / "b", plan(forms=("yes_no",), label=True), Author())
    assert [item.answer for item in proposed.to_label] == ["Yes"] * 20
    assert [item.question for item in proposed.to_label] == [item.question for item in done.to_label]


def test_the_revision_corrects_and_drops(tmp_path: Path) -> None:
    def spoil(request: Request) -> str | None:
        if step_of(request) != "revise":
            return None
        if "round" in request.key:
            names = fields(request)
            return json.dumps(
                {name: "drop" if k < 4 else f"Is it {name} {k}?" for k, name in enumerate(names)}
            )
        first = "Is it question_5 4?" in told(request)
        return json.dumps({"verdict": "drop" if first else "keep", "answer": "corrected"})

    done = made(tmp_path, plan(questions=6), Author(spoil))
    rule = done.chains[0]
    assert (rule.written, rule.revised, rule.kept, rule.answered, rule.dropped) == (10, 6, 3, 2, 1)
    assert {item.answer for item in done.pairs} == {"corrected"}


# -- what was asked before --------------------------------------------------------------------


def alike(request: Request) -> str | None:
    """Each round asks four: one of its own, one like it, an example, and one that every round asks."""
    if step_of(request) != "write":
        return None
    own = question(asker_of(request))
    listed = [own, f"{own[:-1]}, then?", examples_in(request)[0], "Does the moderator ever speak at night?"]
    return json.dumps({"questions": listed})


def test_near_duplicates_are_left_out_and_can_be_kept(tmp_path: Path) -> None:
    near = made(tmp_path / "near", plan(questions=12, near=("hashing", 0.8)), Author(alike)).chains[0]
    kept = made(tmp_path / "off", plan(questions=12), Author(alike)).chains[0]
    assert (near.rounds, near.same, near.near, near.kept) == (3, 5, 3, 4)
    assert (kept.rounds, kept.same, kept.near, kept.kept) == (3, 5, 0, 6)
    with pytest.raises(StoreError, match=r"begun otherwise .*near-duplicate search"):
        made(tmp_path / "near", plan(questions=12), Author(alike))


def test_the_threshold_finds_rewordings_and_keeps_other_situations() -> None:
    told = "The Guard protects player_3, and the Werewolves choose {}. Who dies?"
    texts = ["May a player vote for themselves?", "Can a player vote for themselves?"]
    texts += [told.format(name) for name in ("player_3", "player_4")]
    vectors = asyncio.run(HashingEmbedder().embed(texts))
    assert vectors[0] @ vectors[1] > NEAR > vectors[2] @ vectors[3]


# -- invalid output ---------------------------------------------------------------------------


def test_unusable_replies_are_asked_again_with_the_reason(tmp_path: Path) -> None:
    def spoil(request: Request) -> str | None:
        return "I would rather not." if attempt_of(request) < 2 and "rule/" in request.key else None

    author = Author(spoil)
    done = made(tmp_path, plan(), author)
    assert len(done.pairs) == 20
    assert len(done.unusable) == 2 * (2 + 20)
    last = [request for request in author.requests if attempt_of(request) == 2]
    assert all(len(request.corrections) == 2 for request in last)
    assert all("no JSON object" in reason for request in last for _, reason in request.corrections)
    facts = json.loads((tmp_path / FACTS).read_text())
    assert facts["unusable"][0]["why"] == done.unusable[0].why


def test_replies_of_two_minds_are_asked_again_and_thoughts_hold_no_question(tmp_path: Path) -> None:
    """Where no try helps, nothing is taken of them."""
    torn = '{"verdict": "keep", "answer": "So."} No: {"verdict": "drop", "answer": "Not so."}'
    lists = [{f"question_{n}": f"What does {who} do?" for n in (1, 2)} for who in ("the Seer", "the Guard")]

    def spoil(request: Request) -> str | None:
        if step_of(request) == "write":
            return " No: ".join(map(json.dumps, lists)) if attempt_of(request) == 0 else None
        if step_of(request) == "revise" and "/answer/" in request.key:
            return torn if attempt_of(request) < 2 or "situation/" in request.key else None
        return None

    done = made(tmp_path, plan(forms=("open",)), Author(spoil))
    reasons = {reply.why for reply in done.unusable}
    assert reasons == {"the reply holds several different answers; give one JSON object and nothing else"}
    assert {reply.attempt for reply in done.unusable if reply.step == "write"} == {1}
    assert all("rule" in pair.category for pair in done.pairs)
    assert done.pairs


def test_one_object_for_each_question_is_a_list_of_them() -> None:
    asked = ["Does the Seer wake at night?", "Does the Guard wake at night?"]
    row = "\n".join(json.dumps({"question": question}) for question in asked)
    assert read_written(row, "yes_no", 5) == tuple(asked)


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "no",
        "[]",
        "{}",
        '{"questions": []}',
        '{"question_1": 3}',
        '{"answer": ""}',
        '{"a": {"a": [{}]}}',
        "\ud800",
    ],
)
def test_garbage_stops_nothing(garbage: str, tmp_path: Path) -> None:
    author = Author(lambda request: garbage)
    done = made(tmp_path, plan(forms=("open", "yes_no")), author)
    assert done.pairs == done.to_label == ()
    assert not done.why
    assert [(chain.rounds, chain.lost_rounds, chain.kept) for chain in done.chains] == [(3, 3, 0)] * 4
    assert len(author.requests) == len(done.unusable) == 4 * 3 * 3


def test_lost_revisions_and_answers_are_counted(tmp_path: Path) -> None:
    def spoil(request: Request) -> str | None:
        lost = "situation/open/round/1" in request.key and step_of(request) == "revise"
        return "?" if lost or "rule/open/answer" in request.key else None

    rule, situation = made(tmp_path, plan(), Author(spoil)).chains
    assert (rule.kept, rule.answered, rule.lost_answers) == (10, 0, 10)
    assert (situation.rounds, situation.lost_rounds, situation.kept, situation.answered) == (2, 1, 10, 10)


ECHO = ") Question: Who dies? Answer with one JSON object and nothing else: who?"
READ = [
    ('{"question_1": "1. Who wins it?", "question_2": "No question."}', "open", ("Who wins it?",)),
    ('{"questions": ["Q2: Is it so?", {"question": "Is it so?"}, "Why not?"]}', "open", ("Is it so?",)),
    ('Sure!\n```json\n{"question_1": "May I pass here?"}\n```', "yes_no", ("May I pass here?",)),
    (
        '{"question_1": "Ann, who is old, dies. Is she out?"}',
        "yes_no",
        ("Ann, who is old, dies. Is she out?",),
    ),
    ('{"question_1": "Ann dies. Who else is out?"}', "yes_no", None),
    ('{"question_1": "a question"}', "open", None),
    ('{"question_1": "drop"}', "open", None),
    (f'{{"question_1": "{ECHO}"}}', "open", None),
    (f'{{"question_1": "{ECHO}", "question_2": "Who is it then?"}}', "open", ("Who is it then?",)),
    (
        '{"question_1": "Who wins if nothing else follows from the rules above?"}',
        "open",
        ("Who wins if nothing else follows from the rules above?",),
    ),
]


@pytest.mark.parametrize(("text", "form", "questions"), READ)
def test_questions_are_read(text: str, form: Any, questions: tuple[str, ...] | None) -> None:
    found = writing.read_written(text, form, 10)
    assert isinstance(found, Problem) if questions is None else found == questions


def test_a_model_that_repeats_its_prompt_is_asked_again(tmp_path: Path) -> None:
    def spoil(request: Request) -> str | None:
        echoes = step_of(request) == "write" and attempt_of(request) == 0
        return json.dumps({"question_1": ECHO}) if echoes else None

    done = made(tmp_path, plan(), Author(spoil))
    assert [chain.kept for chain in done.chains] == [10, 10]
    assert [(reply.step, reply.attempt) for reply in done.unusable] == [("write", 1)] * 2
    assert all("repeats the instructions" in reply.why for reply in done.unusable)


@pytest.mark.slow
def test_real_questions_do_not_repeat_the_instructions() -> None:
    asked = {
        item.question
        for rules in PRESETS.values()
        for category in CATEGORIES
        for form in FORMS
        for item in examples_of(rules, category, form)
    }
    asked |= {item.question for item in build_items(SHERIFF, 200, 1).items}
    texts = [text for text in asked if text.endswith("?") and len(text) < writing.QUESTION]
    assert len(texts) > 100
    for text in texts:
        found = writing.read_written(json.dumps({"question": text}), "open", 1)
        assert not isinstance(found, Problem), text


def test_a_revision_may_drop_everything() -> None:
    assert writing.read_written('{"question_1": "drop"}', "open", 10, may_drop=True) == ()


# -- on file ----------------------------------------------------------------------------------


def test_calls_on_file_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(tmp_path, plan(questions=80, near=("hashing", 0.8)), Author())
    before, again = files(tmp_path), Author()
    assert made(tmp_path, plan(questions=80, near=("hashing", 0.8)), again) == first
    assert files(tmp_path) == before
    assert not again.requests
    monkeypatch.setattr("wolflab.wwqa.generating.AT_ONCE", 1)
    elsewhere = made(tmp_path / "b", plan(questions=80, near=("hashing", 0.8)), Author())
    assert (elsewhere.pairs, elsewhere.chains) == (first.pairs, first.chains)
    other = made(tmp_path / "c", plan(questions=80, near=("hashing", 0.8), seed=2), Author())
    assert other.pairs != first.pairs


def test_more_questions_can_be_asked_for(tmp_path: Path) -> None:
    few = made(tmp_path / "a", plan(questions=16), Author())
    author = Author()
    more = made(tmp_path / "a", plan(questions=110), author)
    whole = Author()
    assert more.pairs == made(tmp_path / "b", plan(questions=110), whole).pairs
    assert {item.id for item in few.pairs} <= {item.id for item in more.pairs}
    assert len(author.requests) + 2 * (2 + 16) == len(whole.requests)


def test_another_model_or_prompt_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, plan(), Author())
    with pytest.raises(StoreError, match=r"begun otherwise .*model"):
        made(tmp_path, plan(), Author(name="another"))
    with pytest.raises(StoreError, match=r"begun otherwise .*seed"):
        made(tmp_path, plan(seed=3), Author())
    monkeypatch.setattr(writing, "_words", lambda: dict.fromkeys(("rule", "situation", "open"), "Anything."))
    with pytest.raises(WolflabError, match="the request differs from the recorded one"):
        made(tmp_path, plan(), Author())
    assert issubclass(CassetteMismatch, WolflabError)


def test_a_model_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="'village' answers questions of the game alone and does not read"):
        asyncio.run(generate_by_name(plan(), "village", tmp_path))
    assert not list(tmp_path.iterdir())
    with pytest.raises(WolflabError, match="it broke"):
        made(tmp_path, plan(), Author(lambda request: ModelError("it broke")))


# -- the command ------------------------------------------------------------------------------


def words_of(server: http_server.FakeServer, out: Path, *more: str) -> list[str]:
    place = f"base_url={server.base_url}"
    return ["wwqa", "generate", "--model", "wolf-1", "--set", place, "-o", str(out), "--n", "40", *more]


def asked_of(server: http_server.FakeServer) -> list[str]:
    """What was asked; greetings have other words."""
    bodies = [body["messages"] for body in server.bodies]
    return [json.dumps(messages) for messages in bodies if "game called Werewolf" in messages[0]["content"]]


def test_a_budget_stops_cleanly_and_more_goes_on(tmp_path: Path) -> None:
    with http_server.running() as server:
        stopped = wolflab(*words_of(server, tmp_path / "a", "--tokens", "20000"))
        assert stopped.returncode == 1, stopped.stderr
        assert "the budget of 20,000 tokens is spent" in stopped.stdout
        assert json.loads((tmp_path / "a" / FACTS).read_text())["finished"] is False
        done = wolflab(*words_of(server, tmp_path / "a", "--tokens", "2000000"))
        assert done.returncode == 0, done.stderr
        asked = asked_of(server)
        assert len(set(asked)) == len(asked), "a call was made twice"
        whole = wolflab(*words_of(server, tmp_path / "b"))
        assert "20 questions with answers" in whole.stdout
        assert "20 questions for people" in whole.stdout
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_what_people_answer_is_not_counted_as_unanswered(tmp_path: Path) -> None:
    with http_server.running() as server:
        words = words_of(server, tmp_path, "--set", "max_in_flight=2")
        left, proposed = wolflab(*words).stdout, wolflab(*words, "--label").stdout
    assert answered(left) == ["10", "10", "–", "–"]
    assert answered(proposed) == ["10", "10", "10", "10"]


def answered(printed: str) -> list[str]:
    """The row of that name, over the tables that a narrow terminal needs."""
    rows = [line.split("│") for line in printed.splitlines() if line.startswith("│ answered")]
    return [cell.strip() for row in rows for cell in row[2:-1]]


def test_money_needs_a_price(tmp_path: Path) -> None:
    with http_server.running() as server:
        refused = wolflab(*words_of(server, tmp_path, "--usd", "1"))
        assert refused.returncode == 2
        assert "needs price for a budget in USD" in refused.stderr
        price = ("--set", "price={input: 1000, output: 1000}")
        stopped = wolflab(*words_of(server, tmp_path, *price, "--usd", "5"))
    assert stopped.returncode == 1
    assert "the budget of 5 USD is spent" in stopped.stdout


AHEAD = re.compile(
    r"(wolf-\d): ([\d,]+) to ([\d,]+) calls, at most about ([\d,]+) prompt tokens, "
    r"at most ([\d,]+) reply tokens; at most ([\d,.]+) USD"
)
LIMITED = ("--set", "max_tokens=400", "--set", "price={input: 1, output: 2}")


def ahead_in(printed: str) -> dict[str, list[float]]:
    """Model → calls at least and at most, tokens of prompts and replies, USD, as they were told."""
    found = AHEAD.findall(" ".join(printed.split()))
    return {model: [float(one.replace(",", "")) for one in numbers] for model, *numbers in found}


@pytest.mark.parametrize("every", [0, 2, 1], ids=["all usable", "every second unusable", "none usable"])
def test_what_it_takes_at_most_is_told_before_and_holds(tmp_path: Path, every: int) -> None:
    asked: list[str] = []

    def says(prompt: str) -> str:
        asked.append(prompt)
        if every and "game called Werewolf" in prompt and len(asked) % every == 0:
            return "I would rather not say. " * 60
        return http_server.answer(prompt, salt=prompt)

    with http_server.running(says=says) as server:
        done = wolflab(*words_of(server, tmp_path, *LIMITED))
        assert done.returncode == 0, done.stderr
        made = len(asked_of(server))
    least, most, prompt, reply, usd = ahead_in(done.stdout)["wolf-1"]
    usage = json.loads((tmp_path / FACTS).read_text())["usage"]
    assert (least, most) == (8 + 40, 3 * (2 * 12 + 40))
    assert made <= most
    assert every or made >= least
    assert usage["prompt_tokens"] <= prompt
    assert usage["completion_tokens"] <= reply == 400 * most
    assert usage["cost"] <= usd


def test_what_is_left_is_told_of_a_generation_that_goes_on(tmp_path: Path) -> None:
    with http_server.running() as server:
        words = words_of(server, tmp_path, *LIMITED)
        whole = ahead_in(wolflab(*words, "--tokens", "30000").stdout)["wolf-1"]
        before = len(asked_of(server))
        done = wolflab(*words)
        assert done.returncode == 0, done.stderr
        made = len(asked_of(server)) - before
        least, most, *_ = ahead_in(done.stdout)["wolf-1"]
        assert before > 0
        assert least <= made <= most <= whole[1] - before
        assert made == pytest.approx(least, abs=10)
        assert "prompt tokens" not in wolflab(*words).stdout
        more = ahead_in(wolflab(*words, "--n", "60").stdout)["wolf-1"]
    assert 0 < more[0] < whole[0]


def test_two_models_are_told_apart(tmp_path: Path) -> None:
    with http_server.running() as server:
        settings = (f"base_url={server.base_url}", "max_tokens=100", "price={input: 1}")
        other = ["--revise-model", "wolf-2", *(word for one in settings for word in ("--revise-set", one))]
        told = ahead_in(wolflab(*words_of(server, tmp_path, *LIMITED, *other)).stdout)
    assert [told[name][:2] for name in ("wolf-1", "wolf-2")] == [[4 + 20, 3 * (12 + 20)]] * 2
    assert told["wolf-1"][3] == 4 * told["wolf-2"][3]


def test_a_dear_generation_begins_with_a_yes_or_a_budget(tmp_path: Path) -> None:
    with http_server.running() as server:
        words = words_of(server, tmp_path / "a", "--set", "max_tokens=99", "--set", "price={input: 200}")
        refused = wolflab(*words)
        assert refused.returncode == 2
        asked = r"This may take up to [\d,.]+ USD: begin it with wolflab wwqa generate .*--yes"
        assert re.search(asked, refused.stderr)
        assert server.calls == 0
        assert not (tmp_path / "a").exists()
        bounded = wolflab(*words, "--usd", "3")
        assert bounded.returncode == 1, bounded.stderr
        assert "may take up to" not in bounded.stderr
        assert wolflab(*words, "--yes").returncode == 0


def test_a_killed_run_goes_on_and_repeats_no_call(tmp_path: Path) -> None:
    with http_server.running(latency=0.03) as server:
        words = words_of(server, tmp_path / "a", "--set", "max_in_flight=2")
        command = [sys.executable, "-m", "wolflab", *words]
        begun = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while committed(tmp_path / "a") < 9 and begun.poll() is None:
                time.sleep(0.02)
        finally:
            begun.send_signal(signal.SIGKILL)
            begun.wait()
        kept, before = committed(tmp_path / "a"), len(asked_of(server))
        server.latency = 0
        assert wolflab(*words).returncode == 0
        after = len(asked_of(server))
        assert wolflab(*words_of(server, tmp_path / "b")).returncode == 0
        needed = len(asked_of(server)) - after
    assert 9 <= kept < needed
    assert after - before == needed - kept
    assert files(tmp_path / "a")[:2] == files(tmp_path / "b")[:2]


def committed(path: Path) -> int:
    if not (path / "run.sqlite").is_file():
        return 0
    with closing(sqlite3.connect(f"file:{path / 'run.sqlite'}?mode=ro", uri=True)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
            return 0
        return int(db.execute("SELECT count(*) FROM calls").fetchone()[0])


def test_a_garbage_server_ends_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "answer", lambda prompt, salt="": "Bla bla bla.")
    with http_server.running() as server:
        done = wolflab(*words_of(server, tmp_path))
    assert done.returncode == 0, done.stderr
    assert "36 replies were unusable" in done.stdout
    assert "0 questions with answers" in done.stdout


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("--n 0", "--n 0: ask for one question or more"),
        ("--form essay", "--form essay: use open or yes_no"),
        ("--threshold 1.5", "--threshold 1.5: a similarity is above 0 and at most 1"),
        ("--rules chess", "there is no preset 'chess'"),
        ("--near fast", "embedder 'fast' is not known"),
        ("--tokens 0", "the budget"),
        ("--model village", "does not read"),
    ],
)
def test_mistakes_are_told_in_a_sentence(flags: str, sentence: str, tmp_path: Path) -> None:
    words = ["wwqa", "generate", "--model", "openai/x", "-o", str(tmp_path / "d"), *shlex.split(flags)]
    told = wolflab(*words)
    assert told.returncode == 2
    assert sentence in told.stderr
    assert "Traceback" not in told.stderr
    assert not told.stdout.strip(), "no bar is left behind"
    assert not (tmp_path / "d").exists()
