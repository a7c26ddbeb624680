"""Hashes cover what was asked and nothing else: what no game used breaks no record and stops no run.

A copy of the package is edited as somebody would who adds a switch, a field, a preset or a sentence; what was
played before must verify under it, and go on. What a game did use must be noticed.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import http_server
import wolflab
from marks import slow_except, with_slow
from test_run import over_http
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES, Recipe, recipe
from wolflab.errors import ModelError
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.match import Draws, InterviewProbe, Match, OpinionProbe, Player, StrawPoll, play, run_now
from wolflab.models.base import Chat, Request, Response, Sampling
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.models.village import Village
from wolflab.rules import DOCTOR, PRESETS, SHERIFF, WITCH, Ruleset
from wolflab.text.asking import templates
from wolflab.text.asking.prompts import messages
from wolflab.text.digest import outline, shape
from wolflab.text.questions import Judge, Question

PACKAGE = Path(wolflab.__file__).parent

UNRELATED: dict[str, tuple[str, str]] = {
    "__init__.py": (r'__version__ = ".*"', '__version__ = "9.9"'),
    "rules/switches.py": ("    # words\n", "    fog: bool = False\n    owls: int = 3\n\n    # words\n"),
    "agents/recipes.py": (
        "    hide_reasons: bool = False\n\n    def",
        '    hide_reasons: bool = False\n    tone: str = ""\n\n    def',
    ),
    "models/village/settings.py": (
        "    noise: Chance = 0.0\n",
        "    noise: Chance = 0.0\n    mood: float = 0.5\n",
    ),
    "models/base.py": ("    top_p: float", "    top_k: int | None = None\n    top_p: float"),
    "text/questions.py": ("    tips: bool = False\n", '    tips: bool = False\n    weather: str = ""\n'),
    "lab/plans/experiment.py": (
        "    interview: bool = False\n",
        "    interview: bool = False\n    loud: bool = False\n",
    ),
    "rules/roles/hunter.py": ('"molvek"', '"grimvar"'),
    "text/asking/prompts/judge.txt": (r"\Z", "Take your time.\n"),
    "text/asking/prompts/own/succeed.txt": (r"\Z", "Think of the village.\n"),
    "text/asking/prompts/sections.txt": (r"\Z", "fog: There is fog.\n"),
    "text/asking/prompts/styles.txt": ("quiet_follower: ", "quiet_follower: Hush. "),
}
"""file → (what is replaced once, by what): nothing of it is used by the games below."""
PRESET = (
    "rules/ruleset.py",
    "    TWELVE: ",
    '    WITCH.with_(name="big"): "as large as can be",\n    TWELVE: ',
)


def changed(home: Path, *edits: tuple[str, str, str]) -> Path:
    """A copy of the package in `home` with these edits; each must change its file."""
    copy = home / "wolflab"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.safetensors"))
    if not (copy / "experiments").exists():
        (copy / "experiments").mkdir()
    for file, old, new in edits:
        before = (copy / file).read_text(encoding="utf-8")
        after = re.sub(old, new.replace("\\", r"\\"), before, count=1)
        assert after != before, f"{file}: {old} is not there"
        (copy / file).write_text(after, encoding="utf-8")
    return home


def wolf(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command of the package in `home`."""
    return subprocess.run(
        [sys.executable, "-m", "wolflab", *words],
        env={**os.environ, "PYTHONPATH": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


EDITED = [*((file, *edit) for file, edit in UNRELATED.items()), PRESET]
PLAYERS: dict[str, Any] = {
    "deductive": {"rules": {"preset": "sheriff", "max_rounds": 2}, "straw_polls": 1},
    "reflective": {
        "rules": {"preset": "witch", "max_rounds": 1, "role_names": "invented"},
        "interview": True,
    },
    "diverse": {"rules": {"preset": "doctor", "max_rounds": 1}, "reliability_probe": True},
}


def village(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "players": {"others": {"model": {"model": "village", "invalid": 0.1}, "recipe": name}},
        "deals": 2,
        **PLAYERS[name],
        **changes,
    }


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with everything added that no game here uses."""
    return changed(tmp_path_factory.mktemp("edited"), *EDITED)


def stored(path: Path, data: dict[str, Any]) -> Path:
    with Store.create(path, build(data)) as store:
        assert runner.play_run(store)
    return path


@pytest.mark.parametrize("name", slow_except(["reflective"], PLAYERS))
def test_what_a_game_did_not_use_breaks_none(name: str, edited: Path, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", village(name))
    done = wolf(edited, "verify", str(run), "--agents")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9.9" in wolf(edited, "--version").stdout


@pytest.mark.slow
def test_what_a_game_did_not_use_stops_no_run(edited: Path, tmp_path: Path) -> None:
    """A run that its budget stopped goes on under the edited package, and pays for no call twice."""
    with http_server.running() as server:
        data = over_http(server, budget={"tokens": 6000})
        with Store.create(tmp_path / "run", build(data)) as store:
            assert not runner.play_run(store)
            paid = sum(len(store.calls(row.id)) for row in store.games())
        assert paid >= 5
        file = tmp_path / "run" / "experiment.yaml"
        file.write_text(file.read_text(encoding="utf-8").replace("tokens: 6000", "tokens: 6000000"))
        done = wolf(edited, "run", "--resume", str(tmp_path / "run"))
        assert done.returncode == 0, done.stdout + done.stderr
        asked = [str(body["messages"]) + str(body.get("seed")) for body in server.bodies]
        greetings = sum("Reply with the word OK" in one for one in asked)
        assert len(asked) == len(set(asked)) + max(greetings - 1, 0)
        with Store.open_for_reading(tmp_path / "run") as store:
            assert sum(len(store.calls(row.id)) for row in store.games()) == len(asked) - greetings
    assert wolf(edited, "verify", str(tmp_path / "run"), "--agents").returncode == 0


EDITS = [
    ("deductive", ("text/asking/prompts/own/vote_village.txt", r"\Z", "Think twice.\n")),
    ("deductive", ("text/asking/prompts/sections.txt", "The Sheriff: ", "Our Sheriff: ")),
    ("deductive", ("text/asking/rules_text.py", "Each player is secretly dealt", "Everybody is dealt")),
    ("reflective", ("text/asking/prompts/own/reflect.txt", r"\Z", "Think twice.\n")),
    ("diverse", ("text/asking/prompts/own/strategic.txt", "propose_actions: ", "propose_actions: Now: ")),
    ("deductive", ("rules/ruleset.py", 'seer_learns="role"', 'seer_learns="is_wolf"')),
]


@pytest.mark.parametrize(
    ("name", "edit"),
    slow_except([EDITS[0], EDITS[-1]], EDITS),
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_what_a_game_used_is_noticed(name: str, edit: tuple[str, str, str], tmp_path: Path) -> None:
    run = stored(tmp_path / "run", village(name))
    done = wolf(changed(tmp_path / "changed", edit), "verify", str(run), "--agents")
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_run_of_the_older_format_is_refused_with_the_version_to_use(tmp_path: Path) -> None:
    old = changed(tmp_path / "old", ("lab/storage/call_store.py", 'VERSION = "3"', 'VERSION = "2"'))
    (tmp_path / "e.yaml").write_text("name: e\nplayers: {others: {recipe: random}}\ndeals: 1\n")
    assert wolf(old, "run", str(tmp_path / "e.yaml"), "--out", str(tmp_path / "run")).returncode == 0
    for command in (["verify"], ["report"], ["run", "--resume"]):
        done = wolf(PACKAGE.parent, *command, str(tmp_path / "run"))
        assert done.returncode == 2
        assert f"use wolflab {wolflab.__version__}" in " ".join(done.stderr.split())


# -- what a typed question's hash holds -------------------------------------------------------


class Listening(Village):
    """`village` that keeps what it was asked."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Response:
        self.requests.append(request)
        return await super().generate(request)


def asked(made: Recipe, rules: Ruleset, games: int = 2) -> Iterator[Request]:
    """Everything that is asked in a few games, probes among it."""
    model = Listening(invalid=0.1)
    seats = [Player(LanguageAgent(made), model, {"messages": HashingEmbedder()})] * rules.players
    probes = (StrawPoll(), OpinionProbe(), InterviewProbe(lambda said, role, ruleset: bool(said.text)))
    for number in range(games):
        match = Match(rules, lambda dealing: seats, Draws(f"{number}"), Draws(f"{number}/0"), {}, probes)
        run_now(play(match))
    yield from model.requests
    first = model.requests[0].question
    verdict = Judge(first.task.ask, "I pass.", (("reasonable", "it makes sense"),))
    yield Request(Question(first.situation, verdict), "judge")


MARK = re.compile("⟦([^⟧]*)⟧")
NO_TEMPLATES = ("questionnaire", "random_advice")
"""Files whose phrases reach a prompt as an agent's own words."""


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every template and phrase shows its name where it is used."""
    for file in sorted((PACKAGE / "text" / "asking" / "prompts").rglob("*.txt")):
        path = str(file.relative_to(PACKAGE / "text" / "asking" / "prompts").with_suffix(""))
        if path.rpartition("/")[2] in NO_TEMPLATES:
            continue
        lines = file.read_text(encoding="utf-8").strip("\n").splitlines()
        if all(re.match(r"[\w -]+:", line) for line in lines):
            for key, phrase in templates.phrases(path, 0).items():
                monkeypatch.setattr(phrase, "template", f"⟦{path}:{key}⟧{phrase.template}")
        else:
            one = templates._template(path, 0)
            monkeypatch.setattr(one, "template", f"⟦{path}⟧{one.template}")


TRIED = [
    *((name, SHERIFF) for name in ("vanilla", "dialogue", "deductive-002", "cot", "recon", "diverse")),
    ("deductive", SHERIFF),
    ("deductive-004", DOCTOR),
    ("diverse-004", DOCTOR),
    ("recon-004", DOCTOR),
    ("reflective", WITCH),
    ("reflective-003", WITCH),
    ("concurrent", SHERIFF),
]


@pytest.mark.parametrize(
    ("name", "rules"), with_slow(TRIED, TRIED[-3:]), ids=lambda each: getattr(each, "name", each)
)
def test_a_plain_question_uses_the_templates_of_its_shape(name: str, rules: Ruleset, marked: None) -> None:
    """All of them and no others: so an unrelated one changes no hash, and none that is used goes unseen."""
    seen = 0
    outlines: dict[object, Question] = {}
    for request in asked(recipe(name).with_(style="quiet_follower"), rules):
        question = request.question
        # By its shape an outline's words are remembered: two of one shape would make hashes a matter of luck.
        assert outlines.setdefault(shape(question), outline(question)) == outline(question)
        plain = [replace(one, history=()) for one in (question, outline(question))]
        words = [str(messages(one, request.corrections)) for one in plain]
        used = [set(MARK.findall(text)) for text in words]
        assert used[0] == used[1], question.task
        assert used[0]
        seen += 1
    assert seen > 100
    assert len(outlines) < seen / 2


def test_every_recipe_of_a_model_is_tried_or_like_one_that_is() -> None:
    like = {recipe(name).propose is not None and recipe(name).weighs for name, _ in TRIED}
    assert like == {False}  # a policy's recipes ask what theirs without one do
    alike = {"react", "strategic", "atomic", "concurrent", "deductive", "diverse", "recon"}
    untried = {name.removesuffix("-004") for name in RECIPES} - {name for name, _ in TRIED} - alike
    assert not untried, f"a new recipe is tried here: add {sorted(untried)} to TRIED"


def test_words_and_settings_are_hashed_for_a_model_that_is_told_in_words() -> None:
    chat = Chat((("system", "Be brief."), ("user", "Is it night?")), {"type": "object"})
    base = Request(chat, "k").digest(False)
    assert base == Request(chat, "another key").digest(False) == Request(chat, "k").digest(True)
    for other in (
        Request(chat._replace(messages=(*chat.messages, ("user", "Well?"))), "k"),
        Request(chat._replace(schema=None), "k"),
        Request(chat, "k", Sampling(temperature=0.5)),
        Request(chat, "k", corrections=(("no", "say yes or no"),)),
    ):
        assert other.digest(False) != base


def test_the_built_in_player_refuses_plain_words_with_a_sentence() -> None:
    with pytest.raises(ModelError, match=r"call k: village, .* no plain words; name another model"):
        asyncio.run(Village().generate(Request(Chat((("user", "Is it night?"),)), "k")))


@pytest.mark.parametrize("name", PRESETS)
def test_a_rulesets_name_is_no_part_of_what_is_asked(name: str) -> None:
    rules = PRESETS[name].with_(max_rounds=1)
    pair = [next(asked(recipe("vanilla"), one, 1)) for one in (rules, rules.with_(name="mine"))]
    for typed in (True, False):
        assert pair[0].digest(typed) == pair[1].digest(typed)
