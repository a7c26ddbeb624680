"""Layouts that begin alike: what everybody knows is one text for all seats, and a dialogue only grows.

The leak tests go over both, as over every recipe (`test_leaks.py`). A run keeps what its recipes meant.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripted import Scripted
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES, Recipe
from wolflab.bench.prompts import LAYOUTS, in_layout, prompts_sent, recorded_games
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.meanings import FIRST, MEANINGS, MEANT_BEFORE, MeantBefore, as_meant
from wolflab.lab.plans.tournament_plan import FILE, load_tournament, make_tournament
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.tournament_games import start_tournament
from wolflab.lab.storage.store import Store
from wolflab.match import Draws, InterviewProbe, Match, OpinionProbe, Player, StrawPoll, play, run_now
from wolflab.models.base import Model, Request, Response
from wolflab.models.village import Village
from wolflab.rules import DOCTOR, SHERIFF, TWELVE, WITCH, Ruleset
from wolflab.text.asking.prompts import blocks, messages, shared_ends
from wolflab.text.questions import Choose, Interview, Propose, Rate

SHARED = RECIPES["deductive"]
PROBES = ("straw", "straw2", "rate", "interview")
DIALOGUE = RECIPES["deductive"].with_(layout="dialogue")
DIVERSE = RECIPES["diverse"].with_(layout="shared", deduce={"prune": False})


class Listening:
    """A model, and every request that it was made."""

    instant = True
    typed = True

    def __init__(self, model: Model | None = None) -> None:
        self.model: Any = model or Village()
        self.name = self.model.name
        self.heard: list[Request] = []

    async def generate(self, request: Request) -> Response:
        self.heard.append(request)
        response: Response = await self.model.generate(request)
        return response

    def describe(self) -> dict[str, Any]:
        described: dict[str, Any] = self.model.describe()
        return described

    async def close(self) -> None:
        """Nothing to close."""


def heard(rules: Ruleset, recipe: Recipe, seed: int = 0, model: Model | None = None) -> list[Request]:
    """Every request of a game with all probes, in order."""
    listening = Listening(model)
    seats = [Player(LanguageAgent(recipe), listening)] * rules.players
    polls = (StrawPoll(2),) if rules.sheriff != "none" else ()
    probes = (*polls, OpinionProbe(), InterviewProbe(lambda *_: True))
    draws = Draws(f"layouts/{seed}"), Draws(f"layouts/{seed}/0")
    run_now(play(Match(rules, lambda _: seats, *draws, {"version": "test"}, probes)))
    return listening.heard


# -- what everybody knows -----------------------------------------------------------------------


@pytest.mark.parametrize("rules", [SHERIFF, WITCH, DOCTOR, TWELVE], ids=lambda rules: rules.name)
@pytest.mark.parametrize("recipe", [SHARED, RECIPES["vanilla"]], ids=lambda recipe: recipe.name)
def test_what_everybody_knows_is_one_text_that_grows(rules: Ruleset, recipe: Recipe) -> None:
    """Whoever asks: it differs between seats in nothing, and later prompts of any seat begin with it."""
    rows: list[str] = []
    systems: set[str] = set()
    for request in heard(rules, recipe):
        rules_told, known, _ = blocks(request.question)
        systems.add(rules_told)
        rows.append(known[: known.index("Living players: ")])
    assert len(systems) == 1
    for before, after in pairwise(rows):
        assert after.startswith(before.removesuffix("(nothing)\n"))
    assert len(set(rows)) > 5


@pytest.mark.parametrize("rules", [SHERIFF, WITCH], ids=lambda rules: rules.name)
def test_each_piece_is_told_once_under_a_number_of_its_own(rules: Ruleset) -> None:
    for request in heard(rules, SHARED, 1):
        now = request.question.situation
        told = "\n".join(message.content for message in messages(request.question))
        numbers = re.findall(r"^\[(S?\d+)\] ", told, re.MULTILINE)
        assert sorted(numbers) == sorted(str(line.cited) for line in now.lines)
        for kind in ("S", ""):
            own = [int(n.removeprefix("S")) for n in numbers if n.startswith("S") == bool(kind)]
            assert own == list(range(1, len(own) + 1))


def test_numbers_that_a_reply_cites_are_read_back() -> None:
    """As text or as a number; what few know has numbers of its own; what is no number is left out."""

    class Citing(Scripted):
        def answer(self, request: Request) -> dict[str, Any]:
            reply = super().answer(request)
            for entry in reply.values():
                if isinstance(entry, dict) and "evidence" in entry:
                    entry["evidence"] = ["S1", 1, "[2]", "S99", "x", True]
            return reply

    seen = 0
    for request in heard(SHERIFF, SHARED, model=Citing()):
        now = request.question.situation
        cited = {line.position: line.cited for line in now.lines}
        for belief in request.question.beliefs:
            assert [cited[position] for position in belief.evidence] in (["S1", 1], ["S1", 1, 2])
            seen += 1
    assert seen > 20


def test_a_judgement_is_one_line_and_reasoned_where_an_action_rests_on_it() -> None:
    lines = {"judged anew": 0, "acted on": 0}
    for request in heard(SHERIFF, SHARED, 2):
        question = request.question
        text = messages(question)[1].content
        for belief in question.beliefs:
            name = question.situation.ruleset.names[belief.target]
            [line] = [one for one in text.splitlines() if one.startswith(f"{name}: ")]
            assert f"sure {belief.confidence}, believed {belief.reliability}" in line or "certain" in line
            anew = type(question.task).__name__ == "Deduce"
            lines["judged anew" if anew else "acted on"] += 1
            if "certain" not in line:
                assert (belief.reasoning in line) is not anew
    assert min(lines.values()) > 10


def test_shared_parts_end_where_the_next_part_begins() -> None:
    renamed = SHERIFF.with_(role_names={"Werewolf": "pretty girl", "Seer": "prophet"})
    for request in heard(renamed, SHARED):
        chat = messages(request.question)
        rules, known = shared_ends(request.question, chat) or ()
        whole = "".join(message.content for message in chat)
        assert whole[rules:].startswith("What everybody knows")
        assert whole[known:].startswith("\n\nYou are player_")
        assert request.words.shared == (rules, known)


@pytest.mark.parametrize(
    ("recipe", "forms"),
    [
        (RECIPES["vanilla"], ["action", "statement"]),
        (RECIPES["deductive"], ["judgement", "action", "statement"]),
        (DIVERSE, ["judgement", "action", "statement", "candidates", "choice"]),
    ],
    ids=["vanilla", "deductive", "diverse"],
)
def test_the_forms_that_a_player_meets_are_told_once_and_no_others(recipe: Recipe, forms: list[str]) -> None:
    named: set[str] = set()
    for request in heard(SHERIFF, recipe):
        rules, _, asked = blocks(request.question)
        assert re.findall(r'^Form "(\w+)"', rules, re.MULTILINE) == forms
        assert rules.count("Write in English.") == 1
        named.update(re.findall(r'Answer in the form "(\w+)"', asked))
    assert named == set(forms)


def test_a_probe_that_is_none_of_a_player_s_own_turns_describes_its_form() -> None:
    [asked, *_] = [
        blocks(request.question)[2]
        for request in heard(SHERIFF, RECIPES["vanilla"])
        if isinstance(request.question.task, Rate)
    ]
    assert 'Its form:\n{"player_' in asked
    assert "Answer in the form" not in asked


def test_what_contradicts_these_layouts_is_refused() -> None:
    for layout in ("shared", "dialogue"):
        with pytest.raises(ExperimentError, match=r"deduce\.prune: false"):
            RECIPES["deductive"].with_(layout=layout, deduce={"prune": True})
        with pytest.raises(ExperimentError, match="is for wording: own"):
            RECIPES["deductive-002"].with_(layout=layout)


# -- a dialogue ---------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [RECIPES["dialogue"], DIALOGUE], ids=["vanilla", "deductive"])
def test_a_dialogue_only_grows_and_holds_usable_replies_alone(recipe: Recipe) -> None:
    before: dict[int, list[Any]] = {}
    grown = 0
    for request in heard(SHERIFF, recipe, 3, Village(invalid=0.2)):
        question = request.question
        seat = question.situation.seat
        *told, asked = messages(question)
        assert [message.role for message in told[1:]] == ["user", "assistant"] * (len(told) // 2)
        assert asked.role == "user"
        if question.task.ask.id.split("/")[1] not in PROBES:  # they branch off
            earlier = before.get(seat, [])
            assert told[: len(earlier)] == earlier
            grown += len(told) > len(earlier) > 1
            before[seat] = told
        replies = [message.content for message in told if message.role == "assistant"]
        assert all(json.loads(reply) for reply in replies)  # a spoilt one is no JSON
    assert grown > 20


def test_of_candidates_only_the_one_taken_stays_and_probes_leave_no_trace() -> None:
    recipe = RECIPES["diverse"].with_(layout="dialogue", deduce=None)
    requests = heard(SHERIFF, recipe, 4)
    asked_of_candidates = [one for one in requests if isinstance(one.question.task, Propose | Choose)]
    assert len(asked_of_candidates) > 20
    for probed in (Rate, Interview):
        assert any(isinstance(one.question.task, probed) for one in requests)
    for request in requests:
        for past in request.question.history:
            reply = json.loads(past.replied)
            assert set(reply) in ({"reasoning", "action"}, {"reasoning", "statement"})
            assert "candidates" not in past.asked.splitlines()[-1]
            assert not re.search("trust|What was your reason", past.asked)
    taken = {past.replied for request in requests for past in request.question.history}
    assert len(taken) > 10


def test_everything_is_told_once_in_a_dialogue() -> None:
    for request in heard(SHERIFF, RECIPES["dialogue"], 5):
        told = "\n".join(m.content for m in messages(request.question) if m.role == "user")
        numbers = re.findall(r"^\[(\d+)\] ", told, re.MULTILINE)
        assert [int(n) for n in numbers] == [line.number for line in request.question.situation.lines]


# -- what names meant ---------------------------------------------------------------------------


def test_a_run_keeps_the_recipes_that_it_was_begun_with(tmp_path: Path) -> None:
    """A run from before `vanilla` and `deductive` had the layout that they have now."""
    data = {
        "name": "before",
        "players": {
            "others": {"model": "village"},
            "sheriff": {"model": "village", "recipe": {"name": "deductive", "style": "quiet_follower"}},
        },
        "conditions": {"plain": {}, "vanilla": {"players": {"others": {"recipe": "vanilla"}}}},
        "deals": 1,
    }
    path = tmp_path / "run"
    with Store.create(path, build(as_meant(data, FIRST))) as store:
        assert runner.play_run(store)
        store._db.execute("DELETE FROM meta WHERE key = 'meanings'")
    (path / "experiment.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    with Store.resume(path) as store:
        for condition in store.experiment.conditions:
            for spec in store.experiment.cast(condition).values():
                assert spec.language is not None
                assert spec.language.layout == "append"
                assert spec.language.deduce is None or spec.language.deduce.prune
        assert store.experiment.cast("plain")["sheriff"].resolved_recipe().style == "quiet_follower"
        for row in store.games():
            verify_game(store, row, agents=True)
    now = build(data)
    assert {spec.resolved_recipe().layout for spec in now.cast("plain").values()} == {"shared"}


@pytest.mark.parametrize("entrants", [False, True])
def test_a_copy_of_a_runs_file_means_what_the_run_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entrants: bool
) -> None:
    """A later version, before which `vanilla` was otherwise than it is there, reads it as it was."""
    plain = {"players": {"others": {"model": "village", "recipe": "vanilla"}}}
    pairs = {"entrants": {"a": "vanilla", "b": {"recipe": "vanilla"}}, "model": "village"}
    data = {"name": "copied", "deals": 1, **(pairs if entrants else plain)}
    path = tmp_path / "run"
    with start_tournament(path, make_tournament(data)) if entrants else Store.create(path, build(data)):
        pass
    copied = tmp_path / "copied.yaml"
    copied.write_bytes((path / (FILE if entrants else "experiment.yaml")).read_bytes())

    def styles() -> set[str | None]:
        made = load_tournament(copied).experiment() if entrants else load_experiment(copied)
        casts = (made.cast(name).values() for name in made.conditions)
        return {spec.resolved_recipe().style for cast in casts for spec in cast}

    assert styles() == {None}
    later = {**MEANT_BEFORE, "later": MeantBefore({"vanilla": {"style": "quiet_follower"}})}
    monkeypatch.setattr("wolflab.lab.plans.meanings.MEANT_BEFORE", later)
    monkeypatch.setattr("wolflab.lab.plans.meanings.MEANINGS", "later")
    assert styles() == {"quiet_follower"}
    copied.write_text(copied.read_text().replace(f"meanings: '{MEANINGS}'", "recipes: '99'"))
    with pytest.raises(ExperimentError, match=r"meant as in '99', which this version .* does not know"):
        styles()


# -- what they cost -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_recorded_games_are_played_alike_in_every_layout() -> None:
    """Every recorded reply is asked for, and none that is not there; the shared layout begins alike most."""
    for game in recorded_games()[::2]:
        known = {}
        for layout in LAYOUTS:
            sent = prompts_sent(game, in_layout(game, layout))
            assert len(sent) == len(game.replies)
            assert all(0 <= one.known <= one.characters for one in sent)
            known[layout] = sum(one.characters - one.known for one in sent)
        assert known["shared"] == min(known.values())
