"""Exploration, and policies learned from recorded games: probabilities as drawn, observations as at play."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted_server import PlantedServer, Table, of_others
from recorded_learning import BY_GAME, WORTH, gain, likeliest, planted

from command_line import wolflab
from embedding_server import EmbeddingServer
from http_server import FakeServer, Fault, running
from test_run import records
from wolflab.agents.choosing import noted_choice
from wolflab.agents.policy.checkpoint import Checkpoint, NumpyPolicy, load_policy, save
from wolflab.agents.policy.features import CONTEXTS, PHASES, contexts, features_length, stack
from wolflab.agents.policy.network import LinearConfig, probabilities
from wolflab.agents.policy.policy import Observation, Weights
from wolflab.agents.recipes import RECIPES
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.meanings import MEANINGS
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.runs.decisions import recorded_decisions
from wolflab.lab.runs.forecast import Seen, forecast
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.run_files import TRAINING
from wolflab.lab.storage.store import Store
from wolflab.lab.training import embedding
from wolflab.lab.training.learning import learn_from, learned, read_learned
from wolflab.lab.training.recorded import NOTHING_DRAWN, THERE_ALREADY, RecordedChoices, recorded_choices
from wolflab.lab.training.rounds import (
    RoundsSpec,
    learned_after,
    load_rounds,
    rehearse_rounds,
    rounds_in,
    start_rounds,
)
from wolflab.lab.training.training_plan import make_training
from wolflab.match import run_now
from wolflab.models.embedders import resolve_embedder
from wolflab.models.estimates import tokens
from wolflab.policy import offline
from wolflab.policy.offline import LIKELIEST, LoggedChoices, cross_fit, learn, whole_games
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


def choices_in(*folders: Path, reads: Any = "hashing") -> tuple[RecordedChoices, LoggedChoices]:
    """The choices of runs, as read and as arrays."""
    found = recorded_choices(folders)
    vectors = run_now(resolve_embedder(reads).embed(found.texts))
    return found, found.logged(dict(zip(found.texts, vectors, strict=True)))


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
    found, choices = choices_in(folder)
    batch = stack([one for one in seen if len(one.candidates) > 1], 7, found.most)
    for name in ("player", "candidates", "mask"):
        at_play, recorded = getattr(batch, name), getattr(choices, name)
        rows = [sorted(row.tobytes() for row in array) for array in (at_play, recorded)]
        assert rows[0] == rows[1], name
    assert len(choices.won) > 20
    assert found.models == {"village"}


def test_choices_without_known_probabilities_are_refused(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", 1, {"name": "diverse"})
    with pytest.raises(ExperimentError, match=r"propose\.explore") as refused:
        recorded_choices([folder])
    assert NOTHING_DRAWN in str(refused.value)
    alone = run(tmp_path / "alone", 1, {"name": "diverse", "propose": {"candidates": 1, "explore": {}}})
    with pytest.raises(ExperimentError, match=r"play with several candidates"):
        recorded_choices([alone])
    plain = run(tmp_path / "plain", 1, {"name": "deductive"})
    with pytest.raises(ExperimentError, match="no finished game has a choice among candidates"):
        recorded_choices([plain])


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
    once = recorded_choices([tmp_path / "forked"])
    twice = recorded_choices([tmp_path / "forked", tmp_path / "copy"])
    assert any(record.shared for record in records)
    assert len(once.choices) == len(twice.choices) == own
    assert twice.left_out[THERE_ALREADY] == 2 * once.left_out[THERE_ALREADY] + own
    other = run(tmp_path / "other", 2, {"name": "diverse", "propose": {"explore": {"share": 0.2}}})
    _, both = choices_in(tmp_path / "forked", other)
    with Store.open_for_reading(other) as store:
        records += [store.record(row.id) for row in store.games("done")]
    deals = [record.header["deal"] for record in records]
    assert len(np.unique(both.deal)) == len({*deals})


def test_a_policy_has_room_for_all_candidates_of_its_players(tmp_path: Path) -> None:
    """Also for an intent that happened not to be open in any of the games."""
    recipe = {"name": "atomic", "propose": {"explore": {"share": 0.4}}}
    folder = run(tmp_path / "run", 1, recipe, policy="small-atomic")
    found, choices = choices_in(folder)
    assert choices.mask.sum(axis=1).max() < found.most == len(intents(PRESETS["doctor"]))


# -- learning ---------------------------------------------------------------------------------------


def test_a_linear_policy_is_the_same_in_its_file(tmp_path: Path) -> None:
    """A player's π is that of learning, at tables of every size, and the file keeps it to the bit."""
    rng = np.random.default_rng(0)
    weights, n = rng.normal(0, 8, (CONTEXTS, 32)), 3
    arrays = {"weights": weights.astype(np.float32), "value_mean": np.array(12.5, np.float32)}
    reads = resolve_embedder(EMBEDDER).describe()
    network = LinearConfig("linear", 32, 12)
    made = Checkpoint("mine", network, reads, n, "model", "doctor", arrays)
    save(made, tmp_path / "mine.safetensors")
    policy = NumpyPolicy(load_policy(tmp_path / "mine.safetensors"))
    assert policy.checkpoint.digest == made.digest
    assert policy.checkpoint.network == network
    seen = []
    for row in range(60):
        players = 7 if row % 2 else 12
        player = rng.random(features_length(players)).astype(np.float32)
        player[players : players + 4] = np.eye(4)[row % 4]
        player[players + 5 : players + 8] = np.eye(3)[row % 3]
        vectors = rng.normal(size=(n + 1, 32)).astype(np.float32)
        seen.append(Observation(player, vectors[0], vectors[1:], players))
    batch = policy.lay_out(seen)
    logits = np.einsum("tnd,td->tn", batch.candidates, weights[contexts(batch.player)])
    found = policy.weigh_many(seen)
    assert set(contexts(batch.player)) == set(range(CONTEXTS))
    assert np.abs(np.stack([one.probabilities for one in found]) - probabilities(logits)).max() < 1e-4
    assert {one.value for one in found} == {12.5}
    for one, of_batch in zip(seen, found, strict=True):
        assert policy.weigh_many([one])[0].probabilities.tobytes() == of_batch.probabilities.tobytes()


def test_a_planted_advantage_is_found_and_none_is_not() -> None:
    choices, _ = planted(600, 1.0, WORTH, 0.0, 3)
    test, true = planted(300, 1.0, WORTH, 0.0, 4)
    found = likeliest(learn(choices).chances(test))
    assert gain(found, test, true) > 0.4 * gain(likeliest(true), test, true)
    equal, nothing = planted(300, 0.3, 0.0, 0.0, 5)
    assert not nothing.any()
    for name, found_for in cross_fit(equal).items():
        error = found_for.gains.std() / len(found_for.gains) ** 0.5
        assert abs(found_for.gains.mean()) < 4 * error, name


def test_a_side_whose_own_choices_are_not_known_is_imitated_and_judged_too() -> None:
    """The village's model was asked for its choice; the Werewolves' policy has probabilities alone."""
    choices, _ = planted(60, explore=0.5, worth=0.0, skill=1.0, seed=1)
    wolf = choices.context >= len(PHASES)
    assert choices.asked.all()
    one_side = choices._replace(own=np.where(wolf, -1, choices.own))
    assert one_side.asked.all()
    some = one_side._replace(own=np.where(np.arange(len(wolf)) % 2, one_side.own, -1))
    np.testing.assert_array_equal(some.asked, wolf | (some.own >= 0))


def test_whole_games_are_weighted_by_what_a_policy_would_choose() -> None:
    """Two candidates, of which the second wins 4 of 5 games: π takes it more often than the player does."""
    rng = np.random.default_rng(0)
    n = 2000
    choices, _ = planted(n, 1.0, 0.0, 0.0, 1)
    choices = choices.rows(np.arange(len(choices.won)) % BY_GAME == 0)
    action = rng.integers(2, size=n)
    choices = choices._replace(won=(rng.random(n) < 0.2 + 0.6 * action).astype(float))
    games = whole_games(choices, np.where(action == 1, 1.6, 0.4))
    assert games.effective == pytest.approx(n / 1.36, rel=0.03)
    assert (games.weights * games.won).sum() / games.weights.sum() == pytest.approx(0.68, abs=0.03)
    assert whole_games(choices, np.ones(n)).effective == pytest.approx(n)


def test_weights_that_are_clipped_are_counted(monkeypatch: pytest.MonkeyPatch, explored: Path) -> None:
    """With 4 of 10 choices explored no weight is above 7.5, and with all weights clipped none is lost."""
    found, choices = choices_in(explored, reads=EMBEDDER)
    reads = resolve_embedder(EMBEDDER)
    _, result = learned(found, choices, "x", reads, 4)
    assert not result.clipped
    monkeypatch.setattr(offline, "CLIP", 2.0)
    _, result = learned(found, choices, "x", reads, 4)
    likeliest_taken = cross_fit(choices, 4)[LIKELIEST].weights > 2
    assert result.clipped[LIKELIEST] == likeliest_taken.sum() > 0


def test_a_learned_policy_plays(explored: Path, tmp_path: Path) -> None:
    """From recorded games to a seat, by commands."""
    out = tmp_path / "learned"
    reads = {"embedder": "hashing", "dimensions": 64}
    words = ("--from", str(explored), "--embedder", "{embedder: hashing, dimensions: 64}")
    done = wolflab("train", *words, "--out", str(out))
    assert "Learned from" in done.stdout
    told = json.loads((out / "learned.json").read_text())
    assert told["games"] == 30
    assert {row["where"] for row in told["gains"]} >= {"village", "werewolves", "village, voting"}
    policy = load_policy(out / "policy.safetensors")
    assert (policy.training["candidates_of"], policy.reads) == (["village"], reads)
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
    begun = wolflab("train", "train-small", "--set", f"start={out / 'policy.safetensors'}")
    assert "was learned from recorded games and is linear" in begun.stderr.replace("\n", " ")


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
        (("--from", str(few), "--set", "a=b"), "takes no --set"),
        (("train-small", "--tokens", "0"), "goes with --from"),
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
    """A spent budget stops it in a round, which two workers play. Games and policy are those of an
    undisturbed training in one process, and no call was made twice.
    """
    plan, whole, stopped = tmp_path / "plan.yaml", tmp_path / "whole", tmp_path / "stopped"
    with running() as server:
        plan.write_text(json.dumps(in_rounds(server)))
        ended = wolflab("train", str(plan), "--yes", "--out", str(whole))
        assert ended.returncode == 0, ended.stderr
        undisturbed = server.answered
        server.faults.extend(Fault("status") for _ in range(20))
        changes = "--set", "budget.tokens=150000", "--set", "workers=2"
        ended = wolflab("train", str(plan), "--yes", "--out", str(stopped), *changes)
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
    for number in ("round-1", "round-2"):
        with Store.open_for_reading(stopped / number) as store:
            assert store.experiment.workers == 2
    assert records(stopped / "round-1") == records(whole / "round-1")
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
        (("status",), 0, "round 1: 30 of 30 games"),
        (("verify",), 1, "not over; go on with: wolflab train --resume"),
        (("train", "--resume"), 0, "Policy of all rounds"),
        (("train", "--show"), 0, "stopped: finished"),
        (("verify",), 0, f"policy {policy.digest} holds"),
    ):
        ended = wolflab(*command, str(stopped))
        assert (ended.returncode, said in ended.stdout) == (ends, True), (command, ended)
    assert load_policy(stopped / "policy.safetensors").digest == policy.digest
    assert "is a training in rounds" in wolflab("exploit", "--resume", str(stopped)).stderr
    listed = {run.path for run in RunIndex((stopped,)).runs()}
    assert listed == {stopped / "round-1", stopped / "round-2"}


def texts_of(server: EmbeddingServer) -> Counter[str]:
    """How often each text was embedded, without the word that asks whether the server answers."""
    return Counter(text for body in server.bodies for text in body["input"] if text != "werewolf")


def test_texts_of_rounds_are_embedded_once_whatever_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spent budget and a server that fails stop learning, and it goes on. The policy is that of an
    undisturbed training, whose later rounds and forecast count the same texts.
    """
    plan = tmp_path / "plan.yaml"
    monkeypatch.setattr(embedding, "_AT_ONCE", 16)
    with running(EmbeddingServer(dimensions=8)) as server:
        embedder = {"embedder": "em", "base_url": server.base_url, "retries": 0}
        rules = {"preset": "doctor", "max_rounds": 1}
        data = {"name": "x", "model": "village", "rules": rules, "rounds": 2, "deals": 30}
        plan.write_text(json.dumps({**data, "learners": "werewolves", "embedder": embedder}))
        ended = wolflab("train", str(plan), "--out", str(tmp_path / "whole"))
        assert ended.returncode == 0, ended
        undisturbed = texts_of(server)
        server.bodies.clear()
        for name in ("policy-2.safetensors", "policy.safetensors"):
            (tmp_path / "whole" / name).unlink()
        assert wolflab("train", "--resume", str(tmp_path / "whole")).returncode == 0
        assert not server.bodies
        with plan.open() as file, RoundsSpec(**json.load(file)).ahead() as (experiment, games):
            rehearsal = rehearse_rounds(experiment, 60)
        (texts,) = forecast(rehearsal, games, Seen()).models.values()
        assert texts.prompt.low < sum(map(tokens, undisturbed.elements())) < texts.prompt.high

        stopped = tmp_path / "stopped"
        server.bodies.clear()
        server.faults.extend([(500, {}, {})] * 2)
        ended = wolflab("train", str(plan), "--out", str(stopped))
        assert "failed 2 times" in ended.stderr
        assert not stopped.exists()
        server.bodies.clear()
        ended = wolflab("train", str(plan), "--out", str(stopped), "--set", "budget.tokens=5000")
        assert (ended.returncode, "What was embedded is kept" in ended.stdout) == (1, True), ended
        assert texts_of(server)
        file = stopped / TRAINING
        file.write_text(file.read_text().replace("5000", "5000000"))
        server.faults.extend([(500, {}, {})] * 2)
        ended = wolflab("train", "--resume", str(stopped))
        assert "failed 2 times" in ended.stdout.replace("\n", " ")
        ended = wolflab("train", "--resume", str(stopped))
        assert ended.returncode == 0, ended
        assert texts_of(server) == undisturbed
    assert re.search(r"embedded to learn from them: \d", wolflab("status", str(stopped)).stdout)
    digests = [load_policy(one / "policy.safetensors").digest for one in (tmp_path / "whole", stopped)]
    assert digests[0] == digests[1]


def test_texts_of_recorded_games_are_embedded_once(explored: Path, tmp_path: Path) -> None:
    """The command that was stopped is given again, and every other one says so."""
    out = tmp_path / "out"
    with running(EmbeddingServer(dimensions=8)) as server:
        embedder = f"{{embedder: em, base_url: {server.base_url}}}"
        command = ("train", "--from", str(explored), "--embedder", embedder, "--out", str(out))
        ended = wolflab(*command, "--tokens", "20000")
        assert (ended.returncode, f"--out {out}" in ended.stdout.replace("\n", " ")) == (1, True), ended
        assert "go on with the command that began it" in wolflab("status", str(out)).stderr
        assert wolflab(*command).returncode == 0
        assert set(texts_of(server).values()) == {1}
    shown = wolflab("train", "--show", str(out))
    assert "Whole games are not weighted: of 30 games of the village" in shown.stdout
    assert (
        f"policy {load_policy(out / 'policy.safetensors').digest} holds" in wolflab("verify", str(out)).stdout
    )
    for words in (("train", "--resume"), ("exploit", "--resume"), ("serve",), ("report",)):
        assert "nothing to go on with" in wolflab(*words, str(out)).stderr, words
    assert "already holds a policy" in wolflab(*command).stderr


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
    assert not cross_fit(lost)["learned"].gains.any()


def test_rounds_learn_from_the_learner_alone(tmp_path: Path) -> None:
    """Not from other players that draw among candidates too, here among fixed intents."""
    plan, out = tmp_path / "plan.yaml", tmp_path / "out"
    data = {"name": "x", "rules": {"preset": "doctor", "max_rounds": 1}, "model": "village", "rounds": 1}
    others = {"model": {"model": "village", "phrases": "b"}, "recipe": "atomic"}
    plan.write_text(json.dumps(data | {"deals": 30, "learners": "werewolves", "others": others}))
    ended = wolflab("train", str(plan), "--out", str(out))
    assert ended.returncode == 0, ended.stderr
    found = read_learned(learned_after(out, 1))
    assert found.models == ("village",)
    assert {gain.where.partition(",")[0] for gain in found.gains} == {"werewolves"}


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


def test_all_rounds_play_by_the_rules_of_the_first_day(tmp_path: Path) -> None:
    """A folder keeps the version of what names meant; one of before it was kept has that of its time."""
    plan = {"name": "x", "model": "village", "rounds": 2}
    for version, tells in (({"meanings": "2"}, True), ({}, False)):
        (tmp_path / TRAINING).write_text(json.dumps(plan | version))
        spec = rounds_in(tmp_path)
        assert spec is not None
        assert spec.round(2, None).ruleset("round-2").tell_horizon is tells
    begun = start_rounds(load_rounds(tmp_path / TRAINING), tmp_path / "begun")
    assert f"meanings: '{MEANINGS}'" in (begun / TRAINING).read_text()


def test_a_training_in_rounds_is_forecast(tmp_path: Path) -> None:
    """All rounds, before any begins: both players' models, and the texts of an embedder that both policies
    read with, whose server alone knows the length of its vectors. No server is asked.
    """
    plan, own = tmp_path / "plan.yaml", tmp_path / "own.safetensors"
    with running() as server, running(EmbeddingServer(dimensions=8)) as vectors:
        reads = {"embedder": "em", "base_url": vectors.base_url}
        arrays = {"weights": np.zeros((CONTEXTS, 8), np.float32), "value_mean": np.float32(0)}
        network, described = LinearConfig("linear", 8, 12), resolve_embedder(reads).describe()
        save(Checkpoint("own", network, described, 3, "model", "doctor", arrays), own)
        other = {"model": "wolf-2", "base_url": server.base_url}
        others = {"model": other, "recipe": "strategic", "policy": str(own), "embedder": reads}
        plan.write_text(json.dumps(in_rounds(server, others=others, embedder=reads)))
        ended = wolflab("plan", str(plan), "--games", "2")
        assert (server.calls, vectors.bodies) == (0, [])
    assert ended.returncode == 0, ended.stderr
    assert "60 games. Forecast with 90 % intervals" in ended.stdout
    for row in ("wolf-1", "wolf-2", "em (texts)"):
        assert f"│ {row} " in ended.stdout
    assert f"wolflab train {plan}" in ended.stdout.replace("\n", " ")
    refused = wolflab("plan", "train-small")
    assert refused.returncode == 2
    assert "costs nothing" in refused.stderr
