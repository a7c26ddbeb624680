"""Scripts: each takes what it says, players choose by them without a call, and bad ones are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wolflab.agents.scripts import SCRIPTS, choice_of
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.policies import by_name
from wolflab.lab.runs import runner
from wolflab.lab.runs.verification import verify_game
from wolflab.lab.storage.store import Store
from wolflab.rules import DOCTOR, EVERYONE, Ask, DayBroke, Said, View, pick
from wolflab.text.notes import Candidate, ChoiceDraw, Chosen, Proposed

STATEMENT = Ask("2/statement/2", 2, "statement", "discussion", 2, None)
VOTE = Ask("2/vote/2", 2, "vote", "voting", 2, (pick(1), pick(4), pick(5)))
HEARD = (
    Said(0, "discussion", "I think player_4 is a Werewolf.", EVERYONE),
    DayBroke(2, (3,), EVERYONE),
    Said(0, "discussion", "I think player_5 is a Werewolf.", EVERYONE),
    Said(1, "discussion", "I think player_5 is a Werewolf.", EVERYONE),
)
TALK = (
    "I have nothing to add.",
    "I am the Seer. I trust player_1.",
    "I am the Doctor.",
    "I am the Doctor. player_4 is a Werewolf, and we should vote for player_4.",
    "I suspect player_5.",
)


def chosen(name: str, ask: Ask, *actions: str) -> str:
    view = View(2, DOCTOR, HEARD, (), {})
    return actions[choice_of(name, view, ask, [Candidate(action) for action in actions])]


@pytest.mark.parametrize(
    ("name", "statement", "vote"),
    [
        ("first", 0, 0),
        ("second", 1, 1),
        ("last", 4, 2),
        ("longest", 3, 0),
        ("shortest", 2, 0),
        ("claims-seer", 1, 0),
        ("claims-ability", 2, 0),
        ("claims-and-accuses", 3, 0),
        ("conceals", 0, 0),
        ("accuses", 3, 0),
        ("majority", 4, 2),
    ],
)
def test_a_script_takes_what_it_says(name: str, statement: int, vote: int) -> None:
    assert chosen(name, STATEMENT, *TALK) == TALK[statement]
    votes = ("vote for player_1", "vote for player_4", "vote for player_5")
    assert chosen(name, VOTE, *votes) == votes[vote]
    assert chosen(name, STATEMENT, TALK[0]) == TALK[0]


def test_the_table_above_is_whole() -> None:
    marks = test_a_script_takes_what_it_says.pytestmark  # type: ignore[attr-defined]
    assert [row[0] for row in marks[0].args[1]] == list(SCRIPTS)


def run(folder: Path, recipe: dict[str, Any], deals: int = 4) -> Path:
    players = {"others": {"model": "village", "recipe": recipe}}
    with Store.create(
        folder, build({"name": "x", "rules": "doctor", "players": players, "deals": deals})
    ) as made:
        assert runner.play_run(made)
    return folder


def scripted(name: str, **stage: Any) -> dict[str, Any]:
    return {"name": "diverse-004", "propose": {"choose": "script", "script": name, **stage}}


def test_the_first_candidate_every_time_plays_the_deductive_games_of_village(tmp_path: Path) -> None:
    events = []
    for name, recipe in (("first", scripted("first")), ("deductive", {"name": "deductive-004"})):
        with Store.open_for_reading(run(tmp_path / name, recipe)) as store:
            events.append([store.record(row.id).events for row in store.games("done")])
    assert events[0] == events[1]


def test_a_script_is_asked_nothing_and_explores_with_known_probabilities(tmp_path: Path) -> None:
    """Of K candidates its own has 1 − ε + ε/K, each other one ε/K; a game verifies with its agents."""
    explored = own = 0
    with Store.open_for_reading(run(tmp_path / "x", scripted("last", explore={"share": 0.3}))) as store:
        rows = store.games("done")
        verify_game(store, rows[0], agents=True)
        for turn in (turn for row in rows for turn in store.record(row.id).turns):
            assert not any(call.step.startswith("choose") for call in turn.calls)
            notes = [note for _, note in turn.notes]
            for draw in (note for note in notes if isinstance(note, ChoiceDraw)):
                (proposed,) = [note for note in notes if isinstance(note, Proposed)]
                (taken,) = [note for note in notes if isinstance(note, Chosen)]
                n = len(proposed.candidates)
                assert draw.own == n - 1
                assert draw.shares == pytest.approx([0.3 / n] * (n - 1) + [0.7 + 0.3 / n], abs=1e-6)
                assert draw.explored or taken.number == n - 1
                explored, own = explored + draw.explored, own + (taken.number == n - 1)
    assert explored > 20
    assert own > explored


def test_a_script_is_named_on_the_command_line_as_a_policy_is() -> None:
    assert by_name("accuses@village") == {"recipe": scripted("accuses"), "model": "village"}


# -- a user's own -------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_rules.py").write_text(
        "def shy(view, ask, candidates):\n    sizes = [len(one.action) for one in candidates]\n"
        "    return sizes.index(min(sizes))\n\n"
        "def far(view, ask, candidates):\n    return 9\n"
        "def true(view, ask, candidates):\n    return True\n"
        "def broken(view, ask, candidates):\n    return candidates['x']\n"
    )
    return tmp_path


def test_a_users_function_is_a_script(here: Path) -> None:
    with Store.open_for_reading(run(here / "shy", scripted("own_rules:shy"), deals=1)) as store:
        (row,) = store.games("done")
        assert "own_rules:shy" in str(store.record(row.id).header)
        verify_game(store, row, agents=True)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("own_rules:far", "script own_rules:far gave 9 for 3 candidates; return the index of one, from 0"),
        ("own_rules:true", "script own_rules:true gave True for 3 candidates"),
        ("own_rules:broken", "own_rules.py, line 10"),
    ],
)
def test_a_users_script_that_fails_fails_its_game(here: Path, name: str, told: str) -> None:
    players = {"others": {"model": "village", "recipe": scripted(name)}}
    plan = build({"name": "x", "rules": "doctor", "players": players, "deals": 1})
    with Store.create(here / "x", plan) as store:
        assert not runner.play_run(store)
        (row,) = store.games("failed")
        assert told in str(row)


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        (
            {"choose": "script"},
            "field propose.script: got 'script'; use propose.choose: script and a script's name",
        ),
        ({"script": "first"}, "field propose.script: got 'first'; use propose.choose: script and"),
        (
            {"choose": "script", "script": "frist"},
            "field propose.script: got 'frist'; use one of first, second",
        ),
        ({"choose": "script", "script": "own_rules:none"}, "own_rules.py has no function 'none'"),
        ({"choose": "script", "script": "nowhere:none"}, "there is no module 'nowhere'"),
        (
            {"choose": "script", "script": "own rules:none"},
            "script 'own rules:none': write it as module:function",
        ),
    ],
)
def test_scripts_that_are_not_there_are_told(here: Path, stage: dict[str, Any], told: str) -> None:
    with pytest.raises(ExperimentError) as told_so:
        run(here / "x", {"name": "diverse-004", "propose": stage})
    assert told in str(told_so.value)
