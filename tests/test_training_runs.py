"""Whole trainings, tiny: resumed as if unbroken, alike in any number of processes, and good for playing."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from command_line import called
from marks import with_slow
from policy_helpers import TINY_LEARNER, checkpoint
from wolflab.agents.policy.checkpoint import Source, load_policy, located, save
from wolflab.agents.policy.network import initial
from wolflab.agents.scripts import SCRIPTS
from wolflab.bench import training as bench_training
from wolflab.bench.training import training_lines
from wolflab.cli import app
from wolflab.errors import ExperimentError, ModelError, StoreError
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.plans.specs import PlayerSpec
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.runs.runner import play_run as play_all
from wolflab.lab.storage.store import Place, Store
from wolflab.lab.training import files as training_files
from wolflab.lab.training import run as training_run
from wolflab.lab.training.files import frozen, log_of
from wolflab.lab.training.games import RolloutJob
from wolflab.lab.training.run import FILE, TrainingStep, run_training, start_training, training_in
from wolflab.lab.training.training_plan import (
    FOLDER,
    TrainingSpec,
    best_response,
    load_training,
    make_training,
    resized,
    side_of,
    target_of,
)
from wolflab.match import Draws, Match, play, run_now
from wolflab.models.embedders import resolve_embedder
from wolflab.policy.settings import PPO
from wolflab.policy.train import Learner
from wolflab.rules import DOCTOR, Side
from wolflab.ui.commands.train import curve, render_training, show_training
from wolflab.ui.commands.verify import verify

TINY: dict[str, Any] = {
    **TINY_LEARNER,
    "name": "tiny",
    "training": {
        "updates": 3,
        "ppo": {"epochs": 2, "minibatches": 2},
        "cloning": {"episodes": 4, "epochs": 2, "batch": 16},
        "population": {"checkpoints": 1, "keep": 2},
        "rollouts": {"episodes": 6, "group": 3},
    },
    "evaluation": {"every": 2, "deals": 4, "final": 6, "model": {"model": "village", "phrases": "b"}},
}
TIMES = ("time/", "rate/", "seconds")


class Cut(Exception):
    """The run is killed here."""


def tiny(**changes: Any) -> TrainingSpec:
    return make_training({**TINY, **changes})


def trained(folder: Path, experiment: TrainingSpec, until: int | None = None) -> Path:
    """A run, killed after the update `until`."""
    if not (folder / FILE).exists():
        start_training(experiment, folder)

    def watch(progress: TrainingStep) -> None:
        if progress.what in ("cloning", "update") and progress.update == until:
            raise Cut

    if until is None:
        run_training(folder)
    else:
        with pytest.raises(Cut):
            run_training(folder, watch)
    return folder


def lines(folder: Path, seed: int = 1) -> list[dict[str, float]]:
    """A log without what the clock had to do with."""
    return [
        {name: value for name, value in line.items() if not name.startswith(TIMES)}
        for line in log_of(folder / f"seed-{seed}")
    ]


def numbers(folder: Path, seed: int = 1) -> dict[str, np.ndarray]:
    return dict(load_policy(folder / f"seed-{seed}" / "policy.safetensors").arrays)


def alike(one: Path, other: Path, seed: int = 1) -> bool:
    a, b = numbers(one, seed), numbers(other, seed)
    return all(np.array_equal(a[name], b[name]) for name in a | b)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One training from beginning to end."""
    return trained(tmp_path_factory.mktemp("whole") / "run", tiny())


# -- a run --------------------------------------------------------------------------------------


def test_a_run_leaves_a_log_a_policy_and_a_verdict(whole: Path) -> None:
    log = log_of(whole / "seed-1")
    assert [line["update"] for line in log] == [0, 1, 2, 3]
    assert {"cloning/loss", "cloning/agreement", "evaluation/village"} <= log[0].keys()
    for line in log[1:]:
        wanted = {"loss/policy", "loss/value", "loss/entropy", "ppo/clipped", "ppo/kl", "value/explained"}
        assert wanted <= line.keys()
        assert line["rate/decisions"] > 0
        assert all(0 <= value <= 1 for name, value in line.items() if name.startswith("win/"))
    assert [("evaluation/werewolves" in line) for line in log] == [True, False, True, True]
    result = json.loads((whole / "seed-1" / "evaluation.json").read_text())
    assert set(result) == {"village", "werewolves"}
    for verdict in result.values():
        for one in (verdict, verdict["likeliest"]):
            assert one["gain"]["n"] == 6
            assert one["gain"]["value"] == pytest.approx(one["learner"] - verdict["baseline"])


def test_the_likeliest_candidate_is_judged_beside_the_draw(whole: Path, tmp_path: Path) -> None:
    """What a look tells of it is what an experiment at temperature 0 plays."""
    line = log_of(whole / "seed-1")[-1]
    player = {
        "recipe": {"name": "strategic-004", "propose": {"policy_temperature": 0}},
        "embedder": TINY["embedder"],
        "policy": str(whole / "seed-1" / "policy.safetensors"),
    }
    for side in ("village", "werewolves"):
        won = win_rate(player, side, "look", 4)
        assert line[f"evaluation/{side}/likeliest"] == won
        gain = line[f"evaluation/{side}/likeliest/gain/value"]
        assert gain == pytest.approx(won - line[f"evaluation/{side}/baseline"])


def win_rate(player: dict[str, Any], side: str, look: str, deals: int) -> float:
    """How often an experiment's player of that side wins against the baseline, on an evaluation's deals."""
    model = {"model": "village", "phrases": "b"}
    other = {"model": model, "recipe": "deductive-004"}
    players = {"others": other, side: {"model": model, **player}}
    cast = PlayerBuilder(build({"name": "t", "rules": "doctor", "players": players})).casting(
        Place("all", 0, 0)
    )
    won = 0
    for number in range(deals):
        key = f"held out/{look}/{number}"
        played = run_now(play(Match(DOCTOR, cast, Draws(key), Draws(f"{key}/0"), {}, write=False)))
        won += played.outcome.village_won is (side == "village")
    return won / deals


def test_the_best_script_is_chosen_on_some_deals_and_judged_on_others(whole: Path, tmp_path: Path) -> None:
    """Without them the verdict is as it was, bit by bit."""
    folder = trained(tmp_path / "run", tiny(evaluation={**TINY["evaluation"], "scripts": 9}))
    file = Path("seed-1", "evaluation.json")
    result = json.loads((folder / file).read_text())
    for side, verdict in result.items():
        beside = verdict.pop("scripts")
        assert beside["chosen_on"] == 3
        assert list(beside["tried"]) == list(SCRIPTS)
        positions = {name: rate for name, rate in beside["tried"].items() if SCRIPTS[name].position}
        for kind, rates in (("script", beside["tried"]), ("position", positions)):
            one = beside[kind]
            assert one["name"] == max(rates, key=rates.__getitem__)
            recipe = {"name": "diverse-004", "propose": {"choose": "script", "script": one["name"]}}
            assert rates[one["name"]] == win_rate({"recipe": recipe}, side, "scripts", 3)
            assert one["wins"] == win_rate({"recipe": recipe}, side, "final", 9)
            for how in ("sampled", "likeliest"):
                gain = one["learner"][how]["gain"]
                assert gain["n"] == 9
                assert gain["value"] == pytest.approx(one["learner"][how]["learner"] - one["wins"])
    assert result == json.loads((whole / file).read_text())
    shown = Console(record=True, width=80)
    show_training(shown, folder)
    assert "were chosen on 3 deals, and are judged on 9 others. These are few" in shown.export_text()
    assert "All scripts, on the deals of the choice" in (folder / "training.html").read_text()


def test_a_verdict_from_before_the_likeliest_was_judged_is_shown(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    file = folder / "seed-1" / "evaluation.json"
    old = json.loads(file.read_text())
    for verdict in old.values():
        del verdict["likeliest"]
    file.write_text(json.dumps(old))
    shown = Console(record=True, width=120)
    show_training(shown, folder)
    text = shown.export_text()
    assert "sampled" in text
    assert "likeliest" not in text


def test_the_policy_has_learned_and_says_how(whole: Path) -> None:
    policy = load_policy(whole / "seed-1" / "policy.safetensors")
    assert policy.training["update"] == 3
    assert policy.training["seed"] == 1
    assert policy.training["settings"]["ppo"]["learning_rate"] == 5e-4
    assert (policy.source, policy.candidates, policy.rules) == ("model", 3, "doctor")
    before = initial(policy.network, 1)
    changed = [name for name, array in policy.arrays.items() if not np.array_equal(array, before[name])]
    assert len(changed) == len(before)


def test_the_population_is_kept_beside_it(whole: Path) -> None:
    files = sorted(path.stem for path in (whole / "seed-1" / "policies").iterdir())
    assert files == ["update-00001", "update-00002", "update-00003"]
    log = log_of(whole / "seed-1")
    against = {name for line in log for name in line if "/against " in name}
    assert any("update-" in name for name in against)
    assert not any("update-" in name for name in log[1])


def test_the_policy_holds_a_seat_in_an_experiment(whole: Path, tmp_path: Path) -> None:
    player = {
        "model": "village",
        "recipe": "strategic",
        "embedder": TINY["embedder"],
        "policy": str(whole / "seed-1" / "policy.safetensors"),
    }
    experiment = build({"name": "plays", "rules": "doctor", "players": {"others": player}, "deals": 2})
    with Store.create(tmp_path / "plays", experiment) as store:
        assert play_all(store)


@pytest.mark.parametrize("until", with_slow([0, 2], [0]))
def test_a_run_that_was_cut_goes_on_as_if_unbroken(whole: Path, tmp_path: Path, until: int) -> None:
    cut = trained(tmp_path / "cut", tiny(), until)
    # What was written between the last state and the cut is dropped.
    with (cut / "seed-1" / "log.jsonl").open("a") as file:
        file.write('{"update": 9}\n')
    trained(cut, tiny())
    assert lines(cut) == lines(whole)
    assert alike(cut, whole)


@pytest.mark.slow
def test_two_processes_train_what_one_does(whole: Path, tmp_path: Path) -> None:
    other = trained(tmp_path / "two", tiny(workers=2))
    assert lines(other) == lines(whole)
    assert alike(other, whole)


@pytest.mark.slow
def test_seeds_differ_and_do_not_touch_each_other(whole: Path, tmp_path: Path) -> None:
    both = trained(tmp_path / "both", tiny(seeds=[2, 1]))
    assert alike(both, whole)
    assert lines(both) == lines(whole)
    assert lines(both, 2) != lines(both)


def test_a_finished_run_plays_nothing_more(whole: Path) -> None:
    before = (whole / "seed-1" / "log.jsonl").read_text()
    seen: list[TrainingStep] = []
    run_training(whole, seen.append)
    assert seen == []
    assert (whole / "seed-1" / "log.jsonl").read_text().count("\n") == before.count("\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"training": {**TINY["training"], "updates": 1, "population": {"learners": "all"}}},
        {"training": {**TINY["training"], "updates": 1, "cloning": {"episodes": 0}}},
        {
            "training": {
                **TINY["training"],
                "updates": 1,
                "rollouts": {"episodes": 8, "sizes": {6: 0.4, 8: 0.4}},
            }
        },
        {"recipe": "atomic", "training": {**TINY["training"], "updates": 1}},
        {"recipe": {"name": "strategic", "propose": {"kinds": ["night", "vote"]}}},
    ],
    ids=["self-play", "without cloning", "6 and 8 players", "intents", "statements without the policy"],
)
def test_other_ways_to_train(changes: dict[str, Any], tmp_path: Path) -> None:
    folder = trained(tmp_path / "run", tiny(**changes))
    assert log_of(folder / "seed-1")[-1]["decisions"] > 0


def test_a_finished_policy_stays_byte_for_byte_as_it_is(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    policy = folder / "seed-1" / "policy.safetensors"
    before = policy.stat()
    run_training(folder)
    assert (policy.stat().st_mtime_ns, policy.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_policy_that_was_exchanged_is_made_anew_from_the_state(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    policy = folder / "seed-1" / "policy.safetensors"
    before = load_policy(policy).digest
    save(replace(load_policy(policy), candidates=2), policy)
    run_training(folder)
    assert load_policy(policy).digest == before


def test_another_training_than_the_one_begun_is_refused(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    told = yaml.safe_load((folder / FILE).read_text())
    (folder / FILE).write_text(yaml.safe_dump(told | {"workers": 1, "title": "Words change nothing"}))
    run_training(folder)
    (folder / FILE).write_text(yaml.safe_dump(told | {"training": told["training"] | {"updates": 9}}))
    with pytest.raises(StoreError, match="was changed since seed 1 began"):
        run_training(folder)


def test_a_line_cut_short_in_the_log_is_no_line(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run")) / "seed-1"
    before = log_of(folder)
    with (folder / "log.jsonl").open("a") as file:
        file.write('{"update": 9')
    assert log_of(folder) == before
    run_training(folder.parent)
    assert log_of(folder) == before


@pytest.mark.slow
def test_a_gain_without_an_interval_is_told_without_one(tmp_path: Path) -> None:
    evaluation = TINY["evaluation"] | {"every": 1, "deals": 1}
    line = log_of(trained(tmp_path / "run", tiny(evaluation=evaluation)) / "seed-1")[-1]
    assert "evaluation/village/gain/value" in line
    assert "evaluation/village/gain/low" not in line
    drawn = curve({1: [line]})
    assert drawn is not None
    assert "<svg" in drawn.svg


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("log.jsonl", None, "log.jsonl: it is missing"),
        ("log.jsonl", b"", "does not hold every update"),
        ("log.jsonl", b'{"update": 0.0}\n[1]\n', "line 2 is not one"),
        ("log.jsonl", b"\xff\n", "line 1 is not one"),
        ("log.jsonl", b'{"update": 0.0, "loss/value": "none"}\n', "line 1 is not one"),
        ("state.safetensors", None, "state.safetensors: it is missing"),
        ("state.safetensors", b"", "state.safetensors: it is damaged"),
        ("state.safetensors", b"x" * 1000, "state.safetensors: it is damaged"),
    ],
)
def test_damaged_files_are_told(
    file: str, text: bytes | None, told: str, whole: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    at = folder / "seed-1" / file
    if text is None:
        at.unlink()
    else:
        at.write_bytes(text)
    with pytest.raises(StoreError, match=told):
        run_training(folder)


def test_a_state_that_does_not_say_whose_it_is(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    policy = folder / "seed-1" / "policy.safetensors"
    shutil.copy(policy, folder / "seed-1" / "state.safetensors")
    with pytest.raises(StoreError, match="is no state of a training"):
        run_training(folder)


def test_a_state_of_another_seed_is_told(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    (folder / FILE).write_text(tiny(seeds=[1, 2]).written())
    shutil.copytree(folder / "seed-1", folder / "seed-2")
    with pytest.raises(StoreError, match=r"seed-2.state\.safetensors: it is not of seed 2; .* folder seed-2"):
        run_training(folder)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (Path.unlink, "it is missing"),
        pytest.param(
            lambda file: file.write_bytes(file.read_bytes()[:-9]),
            "it cannot be played .*it is damaged",
            marks=pytest.mark.slow,
        ),
        (
            lambda file: shutil.copy(file.with_name("update-00001.safetensors"), file),
            "it is another policy than the one that was written",
        ),
        pytest.param(
            lambda file: save(replace(load_policy(file), candidates=2), file),
            "it is another policy than the one that was written",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_earlier_self_that_is_gone_or_exchanged_is_told(
    damage: Callable[[Path], object], told: str, tmp_path: Path
) -> None:
    folder = trained(tmp_path / "run", tiny(), until=2)
    damage(folder / "seed-1" / "policies" / "update-00002.safetensors")
    with pytest.raises(StoreError, match=rf"update-00002\.safetensors: {told}.* remove the folder seed-1"):
        run_training(folder)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"village": {"learner": 1}}',
        '{"village": {"learner": 1, "baseline": 1, "gain": {}, "p": null}}',
        '{"vilage": {"learner": 1, "baseline": 1, "gain": {"value": 0, "low": 0, "high": 0, "n": 1}, "p": 1}}',  # noqa: E501
    ],
)
def test_a_damaged_verdict_is_told(text: str, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    (folder / "seed-1" / "evaluation.json").write_text(text)
    with pytest.raises(StoreError, match="remove it and resume"):
        show_training(Console(quiet=True), folder)
    assert called(verify, folder).returncode == 1


@pytest.mark.parametrize(
    "damage", ["", "policy.safetensors", "log.jsonl", "state.safetensors", "training.yaml"]
)
def test_verify_looks_at_the_files_of_every_seed(damage: str, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    if damage == "policy.safetensors":
        save(replace(load_policy(folder / "seed-1" / damage), candidates=2), folder / "seed-1" / damage)
    elif damage == "training.yaml":
        (folder / damage).write_text((folder / damage).read_text().replace("epochs: 2", "epochs: 4"))
    elif damage:
        (folder / "seed-1" / damage).write_bytes((folder / "seed-1" / damage).read_bytes()[:-200])
    ended = called(verify, folder)
    assert ended.returncode == bool(damage)
    told = ended.stdout
    assert "updates" in told
    assert damage in told


def test_a_full_disk_is_told_and_leaves_no_half_file(whole: Path, tmp_path: Path, monkeypatch: Any) -> None:
    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match=r"verdict\.json: No space left on device"):
        training_files.write(tmp_path / "verdict.json", b"{}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"entropy": 1e300}, r"update 1 of seed 1 diverged .* lower training\.ppo\.learning_rate"),
        (
            {"max_grad_norm": 1e-320, "adam_epsilon": 1e-320},
            r"update 0 of seed 1 diverged .* lower training\.cloning\.learning_rate",
        ),
    ],
)
def test_a_training_that_diverges_says_at_which_update(
    tmp_path: Path, settings: dict[str, float], said: str
) -> None:
    ppo = TINY["training"]["ppo"] | settings
    with pytest.raises(ModelError, match=said):
        trained(tmp_path / "run", tiny(training=TINY["training"] | {"ppo": ppo}))


def test_a_run_of_games_is_no_place_for_a_training(tmp_path: Path) -> None:
    (tmp_path / "run.sqlite").touch()
    with pytest.raises(StoreError, match="already holds a run"):
        start_training(tiny(), tmp_path)


def test_a_training_that_was_never_looked_at_has_a_page(tmp_path: Path) -> None:
    training = TINY["training"] | {"updates": 0, "cloning": {"episodes": 0}}
    folder = trained(tmp_path / "run", tiny(training=training, evaluation={"every": 0, "final": 0}))
    show_training(Console(quiet=True), folder)
    assert "No looks yet" in (folder / "training.html").read_text()


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"recipe": "deductive-004"}, "chooses without a policy"),
        (
            {"recipe": {"name": "strategic", "propose": {"policy_temperature": 0}}},
            "remove propose.policy_temperature",
        ),
        ({"fixed": "strategic"}, "needs a policy"),
        ({"fixed": {"name": "deductive-004", "style": "secretive"}}, "remove `style`"),
        ({"device": "gpu"}, "device"),
        ({"training": {"rollouts": {"sizes": {9: 0.5}}}}, "room for 8 players, and a table has 9"),
        ({"network": "huge"}, "there is no 'huge'"),
        ({"network": {"name": "small", "width": 97}}, "cannot be shared by"),
        ({"name": "a/b"}, "names a folder"),
        ({"seeds": [1, 1]}, "each one once"),
        ({"seeds": []}, "seeds"),
        ({"seeds": [-1]}, "seeds"),
        ({"network": {"name": "small", "foo": 3}}, "there is no field 'foo'"),
        ({"network": {"name": "small", "dimensions": 3}}, "there is no field 'dimensions'"),
        ({"network": {"name": [1]}}, "known are"),
        ({"training": {"ppo": {"learning_rate": float("inf")}}}, "learning_rate"),
        ({"opponent": {"model": "village", "recipe": "vanilla"}}, "set training.population.learners"),
        ({"training": {"ppo": {"lr": 1}}}, "lr"),
        ({"training": {"population": {"learners": 0}}}, "use 1 or more"),
        ({"training": {"population": {"learners": "village", "styles": False}}}, "nobody holds the seats"),
        ({"training": {"rollouts": {"sizes": {6: 0.6, 8: 0.6}}}}, "add up to 1.2"),
        ({"training": {"rollouts": {"sizes": {6: -0.5}}}}, "sizes"),
        ({"rules": "chess"}, "chess"),
        ({"embedder": "sentence-transformers/unheard-of"}, "give its `dimensions`"),
    ],
)
def test_a_training_that_cannot_be_run_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ExperimentError, match=told):
        tiny(**changes)


def test_files_and_overrides(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(TINY))
    assert load_training(file, ["training.updates=7", "training.ppo.clip=0.1"]).training.updates == 7
    file.write_text("[1]")
    with pytest.raises(ExperimentError, match="a training is a mapping"):
        load_training(file)
    file.write_text("{")
    with pytest.raises(ExperimentError, match="not YAML"):
        load_training(file)
    with pytest.raises(ExperimentError, match="there is no file"):
        load_training("nowhere.yaml")


def test_shipped_trainings_can_be_built() -> None:
    for name in shipped_files(FOLDER):
        made = load_training(name)
        assert made.name == name
        if name == "train-served":  # who runs it names the model
            continue
        # It is judged on sentences that it has not been trained on.
        judged = made.judged()["learner"].model
        assert isinstance(judged, dict)
        assert isinstance(made.model, dict)
        assert judged["phrases"] != made.model["phrases"]
    # What is compared with others is trained more than once.
    assert len(load_training("train-small").seeds) >= 3


def test_a_changed_training_does_not_pass_for_the_one_that_ships() -> None:
    for name in shipped_files(FOLDER):
        assert "ship" not in load_training(name).title
    whole = load_training("train-small")
    changed = load_training("train-small", ["training.updates=5", "workers=1", "start=small"])
    assert changed.title == f"{whole.title}, changed: training.updates=5, start=small"
    assert f"<h1>{changed.title}</h1>" in render_training(changed, None, {1: []}, {1: {}})
    assert yaml.safe_load(changed.written())["title"] == changed.title
    assert load_training("train-small", ["workers=1", "seeds=[4]"]).title == whole.title
    assert load_training("train-small", ["training.updates=5", "title=Mine"]).title == "Mine"


def test_of_two_that_begin_in_one_directory_one_is_refused(tmp_path: Path) -> None:
    """What the one wrote down is what it trains, whoever comes while it does."""
    folder = tmp_path / "run"

    def late(experiment: TrainingSpec, at: Path) -> None:
        with pytest.raises(StoreError, match="is being run by another process"):
            start_training(tiny(seeds=[2]), at)
        keep(experiment, at)

    with pytest.MonkeyPatch.context() as patch:
        keep = training_files.keep_frozen
        patch.setattr(training_files, "keep_frozen", late)
        start_training(tiny(), folder)
    assert training_in(folder) == tiny()
    with pytest.raises(StoreError, match="already holds a training"):
        start_training(tiny(seeds=[2]), folder)
    with pytest.raises(StoreError, match="already holds a training"):
        Store.create(folder, build({"name": "run", "players": {"others": {"recipe": "random"}}}))


def test_a_directory_that_is_no_training_or_holds_one_already(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no training"):
        training_in(tmp_path)
    with pytest.raises(StoreError, match="already holds a training"):
        start_training(tiny(), whole)


def test_tables_of_other_sizes_have_more_or_fewer_villagers() -> None:
    assert resized(DOCTOR, 8).roles["Villager"] == DOCTOR.roles["Villager"] + 1
    assert resized(DOCTOR, 6).players == 6
    assert resized(DOCTOR, 7) is DOCTOR


# -- going on from a policy ----------------------------------------------------------------------


@pytest.mark.slow
def test_going_on_from_a_policy_takes_its_numbers_and_clones_nothing(whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "given.safetensors"
    shutil.copy(whole / "seed-1" / "policy.safetensors", file)
    given = load_policy(file).arrays
    made = tiny(start=str(file))
    folder = trained(tmp_path / "run", made, until=0)
    file.unlink()  # the run keeps its own
    assert all(np.array_equal(given[name], array) for name, array in numbers(folder).items())
    assert "cloning/loss" not in log_of(folder / "seed-1")[0]
    run_training(folder)
    assert not all(np.array_equal(given[name], array) for name, array in numbers(folder).items())
    shutil.copy(whole / "seed-1" / "policy.safetensors", file)
    assert alike(folder, trained(tmp_path / "uncut", made))


def test_the_critic_goes_on_in_its_own_units(whole: Path) -> None:
    given = load_policy(whole / "seed-1" / "policy.safetensors")
    learner = Learner(given.network, PPO(), device="cpu")
    learner.begin(given.arrays)
    assert learner.returns.mean == float(given.arrays["value_mean"]) != 0
    assert learner.returns.scale == pytest.approx(float(given.arrays["value_scale"]))


@pytest.mark.parametrize(
    ("start_from", "problem"),
    [
        ("nobody", "start: there is no policy 'nobody'"),
        ("small", "start: policy 'small' was made with another 'hashing'"),
        ("small-atomic", "use it with the recipe atomic"),
    ],
)
def test_a_policy_that_does_not_fit_is_no_start(start_from: str, problem: str, tmp_path: Path) -> None:
    changes = {"embedder": "hashing"} if "recipe" in problem else {}
    with pytest.raises(ModelError, match=problem):
        start_training(tiny(start=start_from, **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_another_shape_of_network_is_no_start(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="another shape; set network to"):
        start_training(tiny(start="small", embedder="hashing"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# -- exploitability -----------------------------------------------------------------------------


@pytest.mark.parametrize("side", with_slow(Side, [Side.VILLAGE]))
def test_a_best_response_learns_on_one_side_alone(side: Side, tmp_path: Path) -> None:
    given = {name: value for name, value in TINY.items() if name != "name"}
    made = best_response(target_of("deductive-004"), side, given, ["training.updates=1"])
    folder = trained(tmp_path / "exploit", made)
    log = log_of(folder / "seed-1")
    other = {Side.VILLAGE: Side.WEREWOLVES, Side.WEREWOLVES: Side.VILLAGE}[side]
    assert f"win/{side.value}" in log[1]
    assert f"win/{side.value}/against target" in log[1]
    assert f"win/{other.value}" not in log[1]
    result = json.loads((folder / "seed-1" / "evaluation.json").read_text())
    assert set(result) == {side.value}


def test_a_trained_policy_can_be_the_target(whole: Path, tmp_path: Path) -> None:
    target = target_of(str(whole / "seed-1" / "policy.safetensors"))
    assert (target.recipe, target.embedder) == ("strategic-004", TINY["embedder"])
    given = {name: value for name, value in TINY.items() if name != "name"}
    made = best_response(target, Side.VILLAGE, given, ["training.updates=0", "training.cloning.episodes=0"])
    result = trained(tmp_path / "exploit", made) / "seed-1" / "evaluation.json"
    # Nothing was learned: what an untrained policy wins is told all the same.
    assert json.loads(result.read_text())["village"]["gain"]["n"] == 6


def test_a_target_that_cannot_play_is_refused_before_anything_is_played(whole: Path, tmp_path: Path) -> None:
    given = {name: value for name, value in TINY.items() if name != "name"}
    target = target_of(str(whole / "seed-1" / "policy.safetensors"))
    target = target.model_copy(update={"embedder": "hashing"})  # it reads with other vectors
    with pytest.raises(ModelError, match="was made with another 'hashing'"):
        start_training(best_response(target, Side.VILLAGE, given), tmp_path / "exploit")
    assert not (tmp_path / "exploit").exists()


def test_a_recipes_own_policy_is_frozen_too(tmp_path: Path) -> None:
    """Another policy may ship under that name before the run is resumed."""
    given = {name: value for name, value in TINY.items() if name != "name"}
    made = best_response(target_of("strategic"), Side.VILLAGE, given)
    start_training(made, tmp_path / "exploit")
    assert load_policy(tmp_path / "exploit" / frozen("target")).digest == load_policy("small").digest


@pytest.mark.parametrize(
    ("change", "field", "made"),
    [
        ("network.capacity=9", "network", {"name": "small", "capacity": 9}),
        ("embedder.dimensions=64", "embedder", {"embedder": "hashing", "dimensions": 64}),
        ("recipe.propose.candidates=5", "recipe", {"name": "strategic-004", "propose": {"candidates": 5}}),
        ("fixed_model.skill=0.5", "fixed_model", {"model": "village", "skill": 0.5}),
        ("evaluation.model.skill=0.5", "evaluation", {"model": {"model": "village", "skill": 0.5}}),
        (
            "evaluation.baseline.retries=1",
            "evaluation",
            {"baseline": {"name": "deductive-004", "retries": 1}},
        ),
    ],
)
def test_what_is_a_name_alone_has_fields_to_change(change: str, field: str, made: dict[str, Any]) -> None:
    assert make_training({"name": "mine"}, [change]).model_dump(exclude_unset=True)[field] == made


def test_a_model_that_stood_for_the_trainings_is_changed_alone() -> None:
    model = {"model": "village", "phrases": "a"}
    made = make_training(
        {"name": "mine", "model": model}, ["fixed_model.skill=0.5", "evaluation.model.phrases=b"]
    )
    assert made.model == model
    assert made.fixed_model == {**model, "skill": 0.5}
    assert made.evaluation.model == {"model": "village", "phrases": "b"}


def test_a_baseline_is_frozen_and_sits_at_the_usual_table_alone(tmp_path: Path) -> None:
    sizes = {"rollouts": {"episodes": 6, "group": 3, "sizes": {9: 0.5}}}
    made = tiny(
        network={**TINY["network"], "capacity": 9},
        training={**TINY["training"], **sizes},
        evaluation={"every": 0, "deals": 2, "final": 2, "baseline": "strategic"},
    )
    start_training(made, tmp_path / "run")  # small has room for 8 players
    assert load_policy(tmp_path / "run" / frozen("baseline")).digest == load_policy("small").digest


def test_a_baseline_that_cannot_play_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    made = tiny(
        rules={"preset": "doctor", "roles": {"Werewolf": 2, "Villager": 5, "Seer": 1, "Doctor": 1}},
        network={**TINY["network"], "capacity": 9},
        evaluation={"every": 0, "deals": 2, "final": 2, "baseline": "strategic"},
    )
    with pytest.raises(ModelError, match="policy 'small' has room for 8 players, and the table has 9"):
        start_training(made, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_frozen_policy_that_is_gone_is_missed(tmp_path: Path) -> None:
    given = {name: value for name, value in TINY.items() if name not in ("name", "embedder", "network")}
    out = tmp_path / "exploit"
    start_training(best_response(target_of("small"), Side.VILLAGE, given), out)
    target = out / frozen("target")
    shutil.copy(located("small-selfplay"), target)
    with pytest.raises(StoreError, match=r"target\.safetensors: it is another policy"):
        run_training(out)
    target.unlink()
    with pytest.raises(StoreError, match=r"target\.safetensors: it is missing; copy it back"):
        run_training(out)
    (out / "policy_digests.json").unlink()
    with pytest.raises(StoreError, match=r"policy_digests\.json: it is missing; copy it back"):
        run_training(out)


def test_the_target_itself_is_what_its_best_response_is_compared_with() -> None:
    made = best_response(target_of("vanilla"), Side.WEREWOLVES)
    assert made.judged()["baseline"] == made.judged()["target"]
    other = best_response(target_of("vanilla"), Side.WEREWOLVES, {"evaluation": {"baseline": "cot"}})
    assert other.judged()["baseline"].recipe == "cot"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"recipe": "foo"}, "recipe: "),
        ({"fixed": "foo"}, "fixed: "),
        ({"evaluation": {"baseline": "foo"}}, r"evaluation\.baseline: "),
        ({"model": "foo"}, "model: "),
        ({"evaluation": {"model": "foo"}}, r"evaluation\.model: "),
    ],
)
def test_whoever_cannot_be_made_is_named_by_the_field(values: dict[str, Any], field: str) -> None:
    with pytest.raises(ExperimentError, match=rf"training: (.* )?{field}.*'foo'"):
        make_training({"name": "mine", **values})


@pytest.mark.slow
def test_the_command_that_exploits(tmp_path: Path) -> None:
    out = tmp_path / "exploit"
    words = ["exploit", "deductive-004", "--side", "village", "--out", str(out)]
    words += ["--updates", "1", "--episodes", "3", "--deals", "3"]
    for change in ("training.cloning.episodes=3", "evaluation.every=0", "workers=1"):
        words += ["--set", change]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "Lower bound" in done.output
    assert "It is never below 0" in done.output
    assert "Gain over scripts as village" in done.output
    verdict = json.loads((out / "seed-1" / "evaluation.json").read_text())["village"]
    assert verdict.pop("scripts")["script"]["gain"]["n"] == 4
    verdict["gain"]["value"], verdict["likeliest"]["gain"]["value"] = -0.25, 0.125
    console = Console(record=True, width=140)
    (out / "seed-1" / "evaluation.json").write_text(json.dumps({"village": verdict}))
    show_training(console, out)
    rows = [line.split("│")[1:-1] for line in console.export_text().splitlines() if line.startswith("│")]
    told = {row[1].strip(): (row[4].strip(), row[6].strip()) for row in rows}
    assert told == {"sampled": ("-0.250", "0.000"), "likeliest": ("+0.125", "0.125")}
    assert "It is never below 0" in (out / "training.html").read_text()
    more = CliRunner().invoke(app, ["exploit", "--resume", str(out), "--updates", "2"])
    assert more.exit_code == 2
    assert "takes a run as it is" in more.output


def test_too_few_episodes_are_told(tmp_path: Path) -> None:
    rollouts = {"episodes": 1, "group": 1}
    training = {**TINY["training"], "updates": 60, "rollouts": rollouts, "cloning": {"episodes": 0}}
    training["population"] = {"learners": 1, "checkpoints": 0}
    training["ppo"] = {"epochs": 1}
    made = tiny(training=training, evaluation={"every": 0, "deals": 1, "final": 0})
    start_training(made, tmp_path / "run")
    with pytest.raises(ExperimentError, match="no learning seat chose among candidates"):
        run_training(tmp_path / "run")


def test_a_target_that_would_learn_from_past_games_is_refused(tmp_path: Path) -> None:
    past = {"model": "village", "recipe": "reflective", "experience": {"pool": "old.pool"}}
    made = best_response(PlayerSpec(**past), Side.VILLAGE)
    with pytest.raises(ExperimentError, match=r"opponent\.experience: nobody in a training learns"):
        start_training(made, tmp_path / "exploit")
    assert not (tmp_path / "exploit").exists()


@pytest.mark.parametrize(
    ("source", "candidates", "recipe"),
    [
        ("model", 3, "strategic-004"),
        ("model", 5, {"name": "strategic-004", "propose": {"candidates": 5}}),
        ("intents", 13, "atomic-004"),
    ],
)
def test_a_policys_file_says_how_it_plays(
    source: Source, candidates: int, recipe: object, tmp_path: Path
) -> None:
    made = checkpoint(candidates=candidates, source=source)
    save(made, tmp_path / "one.safetensors")
    target = target_of(str(tmp_path / "one.safetensors"))
    assert target.recipe == recipe
    assert resolve_embedder(target.embedder).describe() == made.embedder


def test_a_best_response_learns_as_the_shipped_policies_do() -> None:
    target = target_of("vanilla")
    assert best_response(target, Side.VILLAGE).training.ppo == load_training("train-small").training.ppo
    changed = best_response(target, Side.VILLAGE, overrides=["training.ppo.minibatches=2"])
    assert changed.training.ppo.minibatches == 2
    population = best_response(target, Side.WEREWOLVES).training.population
    assert (population.learners, population.styles, population.checkpoints) == ("werewolves", False, 0)


@pytest.mark.slow
def test_a_target_is_as_it_was_when_the_training_began(whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.safetensors"
    shutil.copy(whole / "seed-1" / "policy.safetensors", file)
    given = {name: value for name, value in TINY.items() if name != "name"}
    begun = start_training(best_response(target_of(str(file)), Side.VILLAGE, given), tmp_path / "exploit")
    file.unlink()
    run_training(begun)
    assert (begun / "seed-1" / "evaluation.json").is_file()


def test_a_target_that_is_no_player() -> None:
    with pytest.raises(ExperimentError, match=r"nonesuch: there is no recipe and no policy 'nonesuch'"):
        target_of("nonesuch")
    assert target_of("random").model is None


@pytest.mark.slow
def test_a_player_that_moves_at_random_may_be_the_baseline_and_the_population(tmp_path: Path) -> None:
    folder = trained(
        tmp_path / "run", tiny(fixed="random", evaluation=TINY["evaluation"] | {"baseline": "random"})
    )
    assert (folder / "seed-1" / "evaluation.json").is_file()


def test_a_policys_file_may_stand_in_a_folder_of_any_name(tmp_path: Path) -> None:
    file = tmp_path / "a@b" / "mine.safetensors"
    save(checkpoint(), file)
    assert (target_of(str(file)).policy, target_of(str(file)).model) == (str(file), "village")
    assert (target_of(f"{file}@openai/x").policy, target_of(f"{file}@openai/x").model) == (
        str(file),
        "openai/x",
    )


def test_targets_by_name() -> None:
    assert target_of("vanilla").recipe == "vanilla"
    assert target_of("vanilla@village").model == "village"
    assert (target_of("small").recipe, target_of("small").policy) == ("strategic-004", "small")
    with pytest.raises(ExperimentError, match="use one of village, werewolves"):
        side_of("wolves")


# -- what is shown ------------------------------------------------------------------------------


@pytest.mark.drawn
def test_the_page_and_the_table(whole: Path) -> None:
    console = Console(record=True, width=120)
    show_training(console, whole)
    text = console.export_text()
    assert "Win rate as village" in text
    assert "Win rate as werewolves" in text
    page = (whole / "training.html").read_text()
    assert page.count("<svg") == 1
    assert "://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "")
    assert "Gain as village" in page
    assert "Instrument check" in page


@pytest.mark.drawn
def test_the_curve_is_a_picture_of_its_own(whole: Path) -> None:
    show_training(Console(quiet=True), whole)
    picture = ElementTree.parse(whole / "curve.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in (whole / "curve.svg").read_text()  # colours of its own


def test_the_styled_players_may_have_a_model_of_their_own() -> None:
    made = tiny(model={"model": "village", "favour": 3}, fixed_model={"model": "village", "expect": 3})
    assert made.learner().model == {"model": "village", "favour": 3}
    assert made.styled("secretive").model == {"model": "village", "expect": 3}
    assert tiny(model="village").styled("secretive").model == "village"


def test_a_page_before_the_last_look() -> None:
    logs = {1: [{"update": 0.0, "loss/entropy": 1.0}]}
    assert "still to come" in render_training(tiny(), curve(logs), logs, {1: {}})


def test_the_commands(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({**TINY, "evaluation": {"every": 0, "deals": 2, "final": 2}}))
    out = tmp_path / "run"
    runner = CliRunner()
    done = runner.invoke(
        app, ["train", str(file), "--seed", "5", "--set", "training.updates=1", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert (out / "seed-5" / "policy.safetensors").is_file()
    shown = runner.invoke(app, ["train", "--show", str(out)])
    assert shown.exit_code == 0, shown.output
    assert "Lower bound" not in shown.output  # of what can be exploited
    assert runner.invoke(app, ["train"]).exit_code == 2
    assert runner.invoke(app, ["train", "--resume", str(out), "--seed", "1"]).exit_code == 2
    assert runner.invoke(app, ["exploit"]).exit_code == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("trainng.updates=20", "did you mean training.updates=20?"),
        ("updates=20", "did you mean training.updates=20?"),
        ("rollouts.episodes=8", "did you mean training.rollouts.episodes=8?"),
        ("epochs=3", "did you mean training.ppo.epochs=3 or training.cloning.epochs=3?"),
        ("nonsense=3", "known are name, title"),
    ],
)
def test_a_change_to_a_field_that_does_not_exist_names_the_one_that_does(change: str, said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        make_training({"name": "tiny"}, [change])
    name = change.partition("=")[0].partition(".")[0]
    assert f"override {change!r}: there is no field {name!r}; {said}" in str(caught.value)


def test_without_torch_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_run, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"training needs PyTorch.*wolflab\[train\]"):
        start_training(tiny(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_benchmark_of_rollouts_plays_what_a_training_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[RolloutJob] = []

    def job(*fields: Any) -> RolloutJob:
        played.append(RolloutJob(*fields))
        return played[-1]

    monkeypatch.setattr(bench_training, "RolloutJob", job)
    rows = {what: (figure, unit) for what, figure, unit in training_lines(games=8, workers=1)}
    assert rows["… of processor time"][0] > 0
    kinds = Counter(member.kind for member in played[-1].pool)
    assert kinds == {"style": 6, "checkpoint": load_training("train-small").training.population.keep}


def test_a_training_is_no_run_of_games(whole: Path) -> None:
    with pytest.raises(StoreError, match="is a training; show it by: wolflab train --show"):
        Store.open_for_reading(whole)
