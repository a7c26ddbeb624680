"""Exploration, and policies learned from recorded games: probabilities as drawn, observations as at play."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted_server import PlantedServer, Table, of_others
from recorded_learning import WORTH, gain, likeliest, planted

from command_line import wolflab
from http_server import FakeServer, Fault, running
from wolflab.agents.choosing import noted_choice
from wolflab.agents.policy.checkpoint import NumpyPolicy, load_policy
from wolflab.agents.policy.features import Batch, features_length, stack
from wolflab.agents.policy.network import Network
from wolflab.agents.policy.policy import Observation, Weights
from wolflab.agents.recipes import RECIPES
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.runs.decisions import recorded_decisions
from wolflab.lab.runs.forecast import Seen, forecast
from wolflab.lab.runs.rehearsal import rehearse
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.lab.training.learning import learn_from
from wolflab.lab.training.recorded import NOTHING_DRAWN, THERE_ALREADY, recorded_choices
from wolflab.lab.training.rounds import load_rounds
from wolflab.lab.training.training_plan import make_training
from wolflab.models.embedders import resolve_embedder
from wolflab.policy.offline import CONTEXTS, as_network, contexts, cross_fitted, learn
from wolflab.rules import PRESETS
from wolflab.text.intents import intents
from wolflab.text.notes import ChoiceDraw, Chosen, Proposed
from wolflab.ui.browse.run_index import RunIndex

EMBEDDER = {"embedder": "hashing", "dimensions": 32}


def run(folder: Path, deals: int, recipe: dict[str, Any], **player: Any) -> Path:
    """A finished run in which everybody plays by this recipe."""
    experiment = build(
        {
            "name": "explored",
            "rules": "doctor",
            "players": {"others": {"model": "village", "recipe": recipe, **player}},
            "deals": deals,
        }
    )
    with Store.create(folder, experiment) as store:
        play_run(store)
    return folder


def notes_of(folder: Path) -> list[tuple[int, int, list[Any]]]:
    """(game, seat, notes) of every turn with candidates."""
    with Store.open_for_reading(folder) as store:
        return [
            (row.id, turn.seat, [note for _, note in turn.notes])
            for row in store.games("done")
            for turn in store.record(row.id).turns
            if any(isinstance(note, Proposed) for _, note in turn.notes)
        ]


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 games in which 4 of 10 choices are explored."""
    recipe = {"name": "diverse", "propose": {"explore": {"share": 0.4}}}
    return run(tmp_path_factory.mktemp("explored") / "run", 30, recipe)


# -- exploration ------------------------------------------------------------------------------------


def test_a_choice_notes_the_probabilities_that_it_was_drawn_from(explored: Path) -> None:
    """Each candidate is taken as often as the notes say."""
    surprises, variances = 0.0, 0.0
    for _, _, notes in notes_of(explored):
        (proposed,) = [note for note in notes if isinstance(note, Proposed)]
        (chosen,) = [note for note in notes if isinstance(note, Chosen)]
        drawn = [note for note in notes if isinstance(note, ChoiceDraw)]
        n = len(proposed.candidates)
        if n == 1:
            assert not drawn
            continue
        (one,) = drawn
        assert one.own is not None
        expected = np.full(n, 0.4 / n)
        expected[one.own] += 0.6
        assert one.shares == pytest.approx(expected, abs=1e-6)
        assert one.explored or chosen.number == one.own
        taken = one.shares[one.own]
        surprises += (chosen.number == one.own) - taken
        variances += taken * (1 - taken)
    assert variances > 50
    assert abs(surprises) < 4 * variances**0.5


def test_games_with_exploration_verify(explored: Path) -> None:
    with Store.open_for_reading(explored) as store:
        for row in store.games("done")[:3]:
            verify_game(store, row, agents=True)


def test_a_seat_explores_no_more_often_than_it_may(tmp_path: Path) -> None:
    recipe = {"name": "diverse", "propose": {"explore": {"share": 0.5, "decisions": 1}}}
    found = notes_of(run(tmp_path / "run", 3, recipe))
    done: Counter[tuple[int, int]] = Counter()
    for game, seat, notes in found:
        drawn = [note for note in notes if isinstance(note, ChoiceDraw)]
        assert not (drawn and done[game, seat])
        done[game, seat] += sum(note.explored for note in drawn)
    assert set(done.values()) == {0, 1}


def test_a_policy_draws_from_the_noted_probabilities(tmp_path: Path) -> None:
    """After temperature and exploration; the other note has π itself."""
    stage = {"policy_temperature": 0.5, "explore": {"share": 0.3}}
    recipe = {"name": "strategic", "propose": stage}
    for _, _, notes in notes_of(run(tmp_path / "run", 1, recipe, policy="small")):
        (chosen,) = [note for note in notes if isinstance(note, Chosen)]
        drawn = next((note for note in notes if isinstance(note, ChoiceDraw)), None)
        pi = np.array(chosen.probabilities)
        sharper = pi**2 / (pi**2).sum()
        wanted = 0.7 * sharper + 0.3 / len(pi) if len(pi) > 1 else sharper
        assert drawn is not None
        assert drawn.shares == pytest.approx(wanted, abs=1e-5)
        assert drawn.own is None


def test_probabilities_that_an_older_record_does_not_tell_are_not_known() -> None:
    """Before a draw was noted, π stood alone, whatever temperature the choice was drawn at."""
    older = [("choose", Chosen(1, (0.3, 0.7), 0.5))]
    for temperature, known in ((None, (0.3, 0.7)), (0.5, ()), (0, ())):
        stage = {} if temperature is None else {"policy_temperature": temperature}
        assert noted_choice(older, {"name": "strategic", "propose": stage}).shares == known


def test_exploration_without_chance_is_refused() -> None:
    for wrong in ({"share": 0}, {"share": 1.5}, {"decisions": 0}):
        with pytest.raises(ExperimentError, match=r"propose\.explore"):
            RECIPES["diverse"].with_(propose={"explore": wrong})
    with pytest.raises(ExperimentError, match="who learns explores by π"):
        make_training({"name": "x", "recipe": {"name": "strategic-004", "propose": {"explore": {}}}})


# -- what is read from records ----------------------------------------------------------------------


def test_recorded_observations_are_those_of_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every choice of two games, as its policy saw it when it chose."""
    seen: list[Observation] = []
    weigh = NumpyPolicy.weigh

    async def watched(policy: NumpyPolicy, observation: Observation) -> Weights:
        seen.append(observation)
        return await weigh(policy, observation)

    monkeypatch.setattr(NumpyPolicy, "weigh", watched)
    folder = run(tmp_path / "run", 2, {"name": "strategic"}, policy="small")
    found = recorded_choices([folder], resolve_embedder("hashing"))
    batch = stack([one for one in seen if len(one.candidates) > 1], 7, found.most)
    for name in ("player", "candidates", "mask"):
        at_play, recorded = getattr(batch, name), getattr(found.choices, name)
        rows = [sorted(row.tobytes() for row in array) for array in (at_play, recorded)]
        assert rows[0] == rows[1], name
    assert len(found.choices.won) > 20
    assert found.models == ("village",)


def test_choices_without_known_probabilities_are_refused(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", 1, {"name": "diverse"})
    with pytest.raises(ExperimentError, match=r"propose\.explore") as refused:
        recorded_choices([folder], resolve_embedder(EMBEDDER))
    assert NOTHING_DRAWN in str(refused.value)
    plain = run(tmp_path / "plain", 1, {"name": "deductive"})
    with pytest.raises(ExperimentError, match="no finished game has a choice among candidates"):
        recorded_choices([plain], resolve_embedder(EMBEDDER))


def test_a_choice_counts_once(tmp_path: Path) -> None:
    """Games of a copied run, and what a fork has from its parent, are there already. Runs with one seed share
    their deals.
    """
    recipe = {"name": "diverse", "propose": {"explore": {"share": 0.4}}}
    plan = {
        "name": "forked",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "max_rounds": 1},
        "players": {"others": {"model": "village", "recipe": recipe}},
        "conditions": {"base": {}, "silent": {"fork": {"games_of": "base", "change": "silent"}}},
        "deals": 2,
    }
    with Store.create(tmp_path / "forked", build(plan)) as store:
        play_run(store)
        records = [store.record(row.id) for row in store.games("done")]
    own = sum(
        turn.ask not in record.shared
        and any(isinstance(note, Proposed) and len(note.candidates) > 1 for _, note in turn.notes)
        for record in records
        for turn in record.turns
    )
    shutil.copytree(tmp_path / "forked", tmp_path / "copy")
    once = recorded_choices([tmp_path / "forked"], resolve_embedder(EMBEDDER))
    twice = recorded_choices([tmp_path / "forked", tmp_path / "copy"], resolve_embedder(EMBEDDER))
    assert any(record.shared for record in records)
    assert len(once.choices.won) == len(twice.choices.won) == own
    assert twice.left_out[THERE_ALREADY] == 2 * once.left_out[THERE_ALREADY] + own
    other = run(tmp_path / "other", 2, {"name": "diverse", "propose": {"explore": {"share": 0.2}}})
    both = recorded_choices([tmp_path / "forked", other], resolve_embedder(EMBEDDER))
    with Store.open_for_reading(other) as store:
        records += [store.record(row.id) for row in store.games("done")]
    deals = [record.header["deal"] for record in records]
    assert len(np.unique(both.choices.deal)) == len({*deals})


def test_a_policy_has_room_for_all_candidates_of_its_players(tmp_path: Path) -> None:
    """Also for an intent that happened not to be open in any of the games."""
    recipe = {"name": "atomic", "propose": {"explore": {"share": 0.4}}}
    folder = run(tmp_path / "run", 1, recipe, policy="small-atomic")
    found = recorded_choices([folder], resolve_embedder(EMBEDDER))
    assert found.choices.mask.sum(axis=1).max() < found.most == len(intents(PRESETS["doctor"]))


# -- learning ---------------------------------------------------------------------------------------


def test_a_linear_policy_is_stored_as_a_network() -> None:
    rng = np.random.default_rng(0)
    weights, rows, n = rng.normal(0, 8, (CONTEXTS, 32)), 60, 3
    config, arrays = as_network(weights, 7, 12.5)
    player = rng.random((rows, features_length(7))).astype(np.float32)
    player[:, 7:11] = np.eye(4)[np.arange(rows) % 4]
    player[:, 12:15] = np.eye(3)[np.arange(rows) % 3]
    vectors = rng.normal(size=(rows, n, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    text = rng.normal(size=(rows, 32)).astype(np.float32)
    network = Network(config, arrays)
    out = network.forward(Batch(player, text, vectors, np.ones((rows, n), np.bool_)))
    wanted = np.einsum("tnd,td->tn", vectors, weights[contexts(player)])
    apart = out.logits - wanted
    assert set(contexts(player)) == set(range(CONTEXTS))
    assert np.abs(apart - apart.mean(axis=1, keepdims=True)).max() < 1e-3
    assert out.value * network.value_scale + network.value_mean == pytest.approx(12.5)


def test_a_planted_advantage_is_found_and_none_is_not() -> None:
    choices, _ = planted(600, 1.0, WORTH, 0.0, 3)
    test, true = planted(300, 1.0, WORTH, 0.0, 4)
    found = likeliest(learn(choices).chances(test))
    assert gain(found, test, true) > 0.4 * gain(likeliest(true), test, true)
    equal, nothing = planted(300, 0.3, 0.0, 0.0, 5)
    gains = cross_fitted(equal)
    assert not nothing.any()
    for name, of_choices in gains.items():
        error = of_choices.std() / len(of_choices) ** 0.5
        assert abs(of_choices.mean()) < 4 * error, name


def test_a_learned_policy_plays(explored: Path, tmp_path: Path) -> None:
    """From recorded games to a seat, by commands."""
    out = tmp_path / "learned"
    done = wolflab("train", "--from", str(explored), "--out", str(out))
    assert "Learned from" in done.stdout
    told = json.loads((out / "learned.json").read_text())
    assert told["games"] == 30
    assert {row["where"] for row in told["gains"]} >= {"village", "werewolves", "village, voting"}
    policy = load_policy(out / "policy.safetensors")
    assert policy.training["candidates_of"] == ["village"]
    played = run(tmp_path / "played", 1, {"name": "strategic"}, policy=str(out / "policy.safetensors"))
    with Store.open_for_reading(played) as store:
        (row,) = store.games("done")
        decisions = recorded_decisions(store.record(row.id))
    chances = [
        note.probabilities
        for decision in decisions
        for _, note in decision.turn.notes
        if isinstance(note, Chosen) and len(note.probabilities) > 1
    ]
    assert all(sum(shares) == pytest.approx(1, abs=1e-5) for shares in chances)
    assert any(max(shares) > 1.05 / len(shares) for shares in chances)


def test_a_policy_that_meets_another_models_candidates_says_so() -> None:
    said: list[str] = []
    for model in ("village", "openai/gpt-4o-mini"):
        player = {"model": model, "recipe": "strategic", "policy": "small"}
        experiment = build({"name": "x", "rules": "doctor", "players": {"others": player}, "deals": 1})
        PlayerBuilder(experiment, tell=said.append).cast("all")
    (one,) = said
    assert "policy small learned to choose among candidates of village, and meets those of openai/" in one


def test_too_few_games_and_wrong_flags_are_refused(explored: Path, tmp_path: Path) -> None:
    recipe = {"name": "diverse", "propose": {"explore": {"share": 0.4}}}
    few = run(tmp_path / "few", 2, recipe)
    with pytest.raises(ExperimentError, match="2 games of 2 deals have choices"):
        learn_from([few], tmp_path / "none", EMBEDDER)
    assert not (tmp_path / "none").exists()
    for words, why in (
        (("--from", str(few), "-o", "a=b"), "takes no -o"),
        (("train-small", "--embedder", "x"), "goes with --from"),
    ):
        ended = wolflab("train", *words)
        assert ended.returncode == 2
        assert why in ended.stderr


# -- rounds -----------------------------------------------------------------------------------------


def in_rounds(server: FakeServer, **changes: Any) -> dict[str, Any]:
    """A training in two rounds in which Werewolves learn behind a server."""
    model = {"model": "wolf-1", "base_url": server.base_url, "retries": 3, "longest_wait": 0.01}
    plan = {"name": "two-rounds", "rules": {"preset": "doctor", "max_rounds": 1}, "model": model}
    plan |= {"learners": "werewolves", "rounds": 2, "deals": 30, "explore": {"share": 0.5}}
    return plan | {"embedder": EMBEDDER} | changes


def test_rounds_behind_a_server_go_on_after_a_stop(tmp_path: Path) -> None:
    """A spent budget stops it in a round. The policy is that of an undisturbed training, and no call was made
    twice.
    """
    plan, whole, stopped = tmp_path / "plan.yaml", tmp_path / "whole", tmp_path / "stopped"
    with running() as server:
        plan.write_text(json.dumps(in_rounds(server)))
        ended = wolflab("train", str(plan), "--yes", "--out", str(whole))
        assert ended.returncode == 0, ended.stderr
        undisturbed = server.answered
        server.faults.extend(Fault("status") for _ in range(20))
        ended = wolflab("train", str(plan), "--yes", "--out", str(stopped), "-o", "budget.tokens=150000")
        assert ended.returncode != 0
        assert "training.yaml" in ended.stdout
        assert not (stopped / "policy.safetensors").exists()
        file = stopped / "training.yaml"
        file.write_text(file.read_text().replace("150000", "15000000"))
        ended = wolflab("train", "--resume", str(stopped), "--yes")
        assert ended.returncode == 0, ended.stderr
        assert server.answered - undisturbed == undisturbed + 20  # those that failed
    for name in ("policy-1.safetensors", "policy-2.safetensors", "policy.safetensors"):
        assert load_policy(stopped / name).digest == load_policy(whole / name).digest, name
    policy = load_policy(whole / "policy.safetensors")
    assert policy.training["games"] == 60
    with Store.open_for_reading(whole / "round-2") as store:
        header = store.record(store.games("done")[0].id).header
        first = load_policy(whole / "policy-1.safetensors").digest
        assert {one["policy"]["digest"] for one in header["players"] if "policy" in one} == {first}
        assert {row.deal for row in store.games()} >= set(range(30, 60))
    (stopped / "policy.safetensors").write_bytes((stopped / "policy-1.safetensors").read_bytes())
    (stopped / "policy-1.safetensors").unlink()
    for command, ends, said in (
        (("status",), 0, "round 1: 30 of 30 games over"),
        (("verify",), 1, "not over; go on with: wolflab train --resume"),
        (("train", "--resume"), 0, "Policy of all rounds"),
        (("train", "--show"), 0, "stopped: over"),
        (("verify",), 0, f"policy {policy.digest} holds"),
    ):
        ended = wolflab(*command, str(stopped))
        assert (ended.returncode, said in ended.stdout) == (ends, True), (command, ended)
    assert load_policy(stopped / "policy.safetensors").digest == policy.digest
    listed = {run.path for run in RunIndex((stopped,)).runs()}
    assert listed == {stopped / "round-1", stopped / "round-2"}


def test_the_planted_server_gives_the_same_games_over_http_and_without(tmp_path: Path) -> None:
    server = PlantedServer()
    with running(server):
        games = {}
        for http in (True, False):
            table = Table(tmp_path / str(http), server, http)
            run, _ = table.play(of_others(table.spec(1, 30), 3, {"explore": {"share": 0.3}}), "run")
            with Store.open_for_reading(run) as store:
                games[http] = [store.record(row.id).lines for row in store.games("done")]
            assert server.answered == 3 * 74
    assert games[True] == games[False]
    assert len(games[True]) == 3


def test_games_that_all_end_alike_teach_nothing() -> None:
    choices, _ = planted(40, 1.0, WORTH, 0.0, 1)
    lost = choices._replace(won=np.zeros(len(choices.won)))
    assert not learn(lost).advantage.any()
    assert not cross_fitted(lost)["learned"].any()


def test_a_training_in_rounds_is_checked(tmp_path: Path) -> None:
    for change, why in (
        ({"deals": 5}, "a round has 5 × 1 games"),
        ({"recipe": "deductive"}, "the model must choose among several candidates"),
        ({"recipe": {"name": "diverse", "propose": {"explore": {}}}}, "remove propose.explore"),
        ({"rounds": 0}, "rounds"),
        ({"explore": {"shares": 0.3}}, "explore.shares: there is no such field; did you mean share?"),
        ({"network": "small"}, "network"),
    ):
        file = tmp_path / "plan.yaml"
        file.write_text(json.dumps({"name": "x", "model": "village", "rounds": 2, **change}))
        with pytest.raises(ExperimentError, match=re.escape(why)):
            load_rounds(file)


def test_a_forecast_knows_that_a_policy_chooses_in_later_rounds(tmp_path: Path) -> None:
    """With three rounds, the learner's model is asked for a third of its choices; the others' for all."""
    plan = tmp_path / "plan.yaml"
    with running() as server:
        plan.write_text(json.dumps(in_rounds(server, rounds=3) | {"others": {"recipe": "diverse"}}))
        spec = load_rounds(plan, [f"others.model={json.dumps(in_rounds(server)['model'])}"])
    rehearsed = rehearse(spec.round(1, None), 2)
    calls = rehearsed.calls()
    choices = Counter(call.chooser for call in calls)
    wolves = choices["Werewolf"]
    assert 0 < wolves < sum(choices[role] for role in ("Werewolf", "Villager", "Seer", "Doctor"))
    games = {"round-1": 2}
    usual, fewer = (
        forecast(one, games, Seen()).calls.middle / forecast(rehearsed, games, Seen()).calls.middle
        for one in (rehearsed, replace(rehearsed, choosing=spec.choosing))
    )
    assert usual == 1
    assert fewer == pytest.approx(1 - wolves * (2 / 3) / len(calls))


def test_a_training_in_rounds_is_forecast(tmp_path: Path) -> None:
    """All rounds, before any begins."""
    plan = tmp_path / "plan.yaml"
    with running() as server:
        plan.write_text(json.dumps(in_rounds(server)))
        ended = wolflab("plan", str(plan), "--games", "2")
    assert ended.returncode == 0, ended.stderr
    assert "60 games" in ended.stdout
    assert f"wolflab train {plan}" in ended.stdout.replace("\n", " ")
    refused = wolflab("plan", "train-small")
    assert refused.returncode == 2
    assert "costs nothing" in refused.stderr
