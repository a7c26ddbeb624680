"""Whole prompts to be read by people, exactly as models are sent them.

Players of a recipe play whole games, and what their model is asked is written down as every adapter gets it
(`Request.words`): rules, context, instruction, corrections, the schema of the reply, role names in disguise.
``WOLFLAB_UPDATE_GOLDEN=1`` writes the files under `golden/` anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import http_server
from reflective_helpers import ScriptedReflective, broad_pool
from scripted import number
from test_http_model import make
from test_leaks import Watching
from wolflab.agents.experience import Retriever
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES, Recipe
from wolflab.match import Draws, Match, OpinionProbe, Player, StrawPoll, play, run_now
from wolflab.match.probes import InterviewProbe
from wolflab.models.base import Request
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.rules import DOCTOR, NINE, SHERIFF, TWELVE, WITCH, Ruleset, Said
from wolflab.text.questions import Decide, Plan
from wolflab.text.reading import claimed_against

GOLDEN = Path(__file__).parent / "golden"

OFFICE = {"campaign", "elect", "succeed", "lead"}
DAY = {"statement", "vote"}
POTIONS = {"antidote", "poison", "last-words"}


@dataclass(frozen=True)
class Table:
    """Who plays what. kinds: of asks that have to come about, beside the probes'."""

    recipe: Recipe
    rules: Ruleset
    kinds: frozenset[str]


def _tables() -> Iterator[tuple[str, Table]]:
    assigned = SHERIFF.with_(sheriff="assigned", sheriff_death="stop")
    hidden = SHERIFF.with_(role_names={"Werewolf": "pretty girl", "Seer": "prophet", "Guard": "sentry"})
    office = DAY | OFFICE | {"kill", "see", "protect"}
    witch, doctor = DAY | POTIONS | {"kill", "see", "protect"}, DAY | {"kill", "see", "save"}
    for name, rules, kinds in (
        ("vanilla", SHERIFF, office),
        ("deductive", SHERIFF, office - {"succeed"}),  # its beliefs name the next Sheriff
        ("deductive-002", SHERIFF, office - {"succeed"}),
        ("vanilla", WITCH, witch),
        ("reflective", WITCH, witch),
        ("reflective-003", WITCH, witch),
        ("deductive-004", DOCTOR, doctor),
        ("recon", DOCTOR, doctor),
        ("recon-004", DOCTOR, doctor),
        ("diverse", DOCTOR, doctor),
        ("diverse-004", DOCTOR, doctor),
        ("atomic", DOCTOR, {"statement"}),  # a policy alone takes its other choices
        ("atomic-004", DOCTOR, {"statement"}),
        ("vanilla", NINE, DAY | POTIONS | {"kill", "see", "shoot"}),
        ("react-004", TWELVE, DAY | POTIONS | {"kill", "see", "protect", "shoot"}),
    ):
        recipe = RECIPES[name].with_(retries=1, style="proactive" if name == "deductive-004" else None)
        yield f"{rules.name}-{name}", Table(recipe, rules.with_(max_rounds=2), frozenset(kinds))
    yield (
        "assigned-vanilla",
        Table(RECIPES["vanilla"], assigned.with_(max_rounds=2), frozenset(DAY | {"lead"})),
    )
    shared = RECIPES["diverse"].with_(layout="shared", deduce={"prune": False}, retries=1)
    yield "doctor-diverse-shared", Table(shared, DOCTOR.with_(max_rounds=2), frozenset(doctor))
    dialogue = RECIPES["dialogue"].with_(retries=1)
    yield "doctor-dialogue", Table(dialogue, DOCTOR.with_(max_rounds=2), frozenset(doctor))
    yield "disguised-deductive", Table(RECIPES["deductive"], hidden.with_(max_rounds=2), frozenset(DAY))


TABLES = dict(_tables())
_GAMES = 60
"""How many games are played at most, until every kind of ask has come about."""


def spoiled(request: Request) -> str | None:
    """Some first tries that cannot be used, so that corrections are seen; and plans, which are plain text."""
    if request.key.endswith("|0") and not number(f"{request.key} spoiled", 6):
        return ("I would rather not say.", "")[number(request.key, 2)]
    if isinstance(request.question.task, Plan):
        return "I wait. I think that player_2 is in a hurry."
    return None


def what(request: Request) -> str:
    """Which prompt it is: the step; of an action the kind of ask, of a vote or a statement whose side too."""
    question = request.question
    task, now = question.task, question.situation
    step, kind = re.sub(r"/\d+$", "", request.key.split("|")[-2]), request.key.split("|")[-3].split("/")[1]
    if request.corrections:
        return f"{step}, once more"
    intent = f", to {task.intent.kind}" if isinstance(task, Decide) and task.intent is not None else ""
    side = ", of a Werewolf" if now.pack and kind in DAY else ""
    if step not in ("act", "choose"):
        return f"{step} for a {'statement' if task.ask.options is None else 'choice'}"
    return f"{step}: {kind}{intent}{side}"


def told_much(request: Request) -> tuple[bool, bool, int]:
    """Prompts that show more come first, the shorter ones of them before the others."""
    now = request.question.situation
    length = sum(len(text) for _, text in request.words.messages)
    return not (now.truths and now.falsehoods), not now.pending, length


@cache
def sent(name: str) -> dict[str, Request]:
    """A telling prompt of each sort at that table, by what it is."""
    table, model = TABLES[name], ScriptedReflective(spoil=spoiled)
    policy = Watching([]) if table.recipe.weighs else None
    asks = sorted({*table.kinds, *DAY})
    retriever = Retriever(broad_pool(table.rules, asks)) if table.recipe.reflect is not None else None
    embedder = HashingEmbedder()
    embedders = {"messages": embedder, "experience": embedder, "policy": embedder}
    player = Player(LanguageAgent(table.recipe, retriever, policy), model, embedders)  # type: ignore[arg-type]

    def camouflaged(said: Said, role: str, rules: Ruleset) -> bool:
        return claimed_against(said.text, said.seat, role, rules) is not None

    probes = (StrawPoll(), OpinionProbe(), InterviewProbe(camouflaged))
    for game in range(_GAMES):
        draws = Draws(f"golden/{game}")
        run_now(
            play(Match(table.rules, lambda dealing: [player] * len(dealing.roles), draws, draws, {}, probes))
        )
        if table.kinds <= {request.question.task.ask.kind for request in model.requests} and game:
            break
    asked = {request.question.task.ask.kind for request in model.requests}
    assert asked >= table.kinds, f"no game brought about {', '.join(table.kinds - asked)}"
    found: dict[str, list[Request]] = {}
    for request in model.requests:
        found.setdefault(what(request), []).append(request)
    return {name: min(requests, key=told_much) for name, requests in sorted(found.items())}


@pytest.mark.parametrize("name", TABLES)
def test_prompts_after_a_failed_try_are_among_them(name: str) -> None:
    assert any(request.corrections for request in sent(name).values())


@pytest.mark.parametrize("name", TABLES)
def test_golden_prompts(name: str) -> None:
    """The rules once, as they are the same in all; then each prompt with what follows it."""
    ((_, rules),) = {request.words.messages[0] for request in sent(name).values()}
    parts = [f"===== rules =====\n{rules}"]
    for title, request in sent(name).items():
        _, *chat = request.words.messages
        turns = [f"--- {role} ---\n{text}" for role, text in chat]
        form = json.dumps(request.words.schema, ensure_ascii=False)
        parts.append("\n".join([f"===== {title} =====", *turns, f"--- schema ---\n{form}"]))
    compare_golden(GOLDEN / f"sent-{name}.txt", "\n\n".join(parts))


def compare_golden(path: Path, found: str) -> None:
    """Compare with a file under `golden/`, or write it."""
    if os.environ.get("WOLFLAB_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found + "\n", encoding="utf-8")
    assert path.exists(), f"{path.name} is missing; run with WOLFLAB_UPDATE_GOLDEN=1 to write it"
    assert found + "\n" == path.read_text(encoding="utf-8"), (
        f"the prompt changed; if that is meant, run with WOLFLAB_UPDATE_GOLDEN=1, and read the diff of "
        f"{path.name}"
    )


def test_no_prompt_names_the_last_round_or_a_stand_in() -> None:
    """Both are the experimenter's (002 §6.1, 003 A.5 and 004 C.1 name neither)."""
    names = re.compile(r"at most \w+ rounds|last round|cannot be understood|random legal|is replaced by")
    files = list(GOLDEN.glob("*.txt"))
    assert len(files) > 20
    for file in files:
        assert not names.search(" ".join(file.read_text(encoding="utf-8").split())), file.name


def test_a_server_is_sent_what_the_golden_files_show() -> None:
    """Over a real socket: the messages to the letter."""
    requests = [
        request for name in ("witch-vanilla", "disguised-deductive") for request in sent(name).values()
    ]
    with http_server.running() as server:
        model = make(server)

        async def ask_all() -> None:
            for request in requests:
                await model.generate(request)
            await model.close()

        asyncio.run(ask_all())
        got = [[(one["role"], one["content"]) for one in body["messages"]] for body in server.bodies]
    assert got == [list(request.words.messages) for request in requests]
