"""004's experiments as they are shipped: each builds, each plays, and each asks what its table asks.

They are played here with random policies in place of the trained ones, which changes who wins and nothing of
what is measured.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import http_server
from marks import slow_except
from policy_helpers import DIMENSIONS, checkpoint
from wolflab.agents.choosing import drawn, tempered
from wolflab.agents.policy.checkpoint import load_policy, save
from wolflab.agents.policy.checkpoint import shipped_policies as shipped_policies
from wolflab.agents.policy.network import small
from wolflab.agents.recipes import RECIPES, recipe
from wolflab.errors import ExperimentError
from wolflab.lab.plans import tournament_plan as tournament
from wolflab.lab.plans.experiment import Experiment
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.matching import matched_rows
from wolflab.lab.plans.overrides import changes_of
from wolflab.lab.plans.policies import policy_name_of
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.results.extras import extras
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs import runner
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.storage.store import Store
from wolflab.metrics.published import published_table
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.rules import PRESETS, ROLES, SILENCE
from wolflab.text.intents import intents
from wolflab.text.notes import Chosen

STRATEGIC = sorted(name for name in shipped_files() if name.startswith("strategic-"))
ROUND_ROBINS = ("tournament-004", "tournament-components")
TOURNAMENTS = (*ROUND_ROBINS, "tournament-policies")
EXPECTED = {
    "attributes",
    "behaviours",
    "bias-kill",
    "bias-save",
    "bias-seers",
    "candidates",
    "cases-kill",
    "cases-save",
    "cases-seers",
    "communication",
    "components",
    "gain",
    "population",
    "prompting",
    "single",
    "statements",
    "tables-6",
    "tables-8",
    "transfer",
}
HEADLINE = {
    "strategic-components",
    "strategic-gain",
    "strategic-population",
    "strategic-single",
    "strategic-transfer",
    *ROUND_ROBINS,
}


def on_village(name: str) -> Experiment:
    if name in TOURNAMENTS:
        return tournament.load_tournament(name, village=True).experiment()
    return load_experiment(name, village=True)


def policies_of(experiment: Experiment) -> set[str]:
    specs = [one for name in experiment.conditions for one in experiment.cast(name).values()]
    return {policy for one in specs if (policy := policy_name_of(one)) is not None}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A random policy for every name, for the hashing embedder as it comes."""
    folder, embedder = tmp_path_factory.mktemp("policies"), HashingEmbedder()
    made = {}
    for seed, name in enumerate(shipped_policies()):
        fields: dict[str, Any] = {"network": small(512), "embedder": embedder.describe()}
        if name.startswith("small-atomic"):
            fields |= {"source": "intents", "candidates": len(intents(PRESETS["doctor"]))}
        save(checkpoint(seed, **fields), folder / f"{name}.safetensors")
        made[name] = str(folder / f"{name}.safetensors")
    return made


def with_files(experiment: Experiment, files: dict[str, str], **changes: Any) -> Experiment:
    """The same experiment, its policies taken from these files."""
    conditions: dict[str, Any] = {}
    for name, one in experiment.conditions.items():
        players = {}
        for place, spec in experiment.cast(name).items():
            policy = policy_name_of(spec)
            # Said for everybody: a place takes over from `others` what it does not say.
            file = None if policy is None else files[policy]
            players[place] = spec.model_dump(exclude_unset=True) | {"policy": file}
        conditions[name] = one.model_dump(exclude_unset=True) | {"players": players}
    data = experiment.model_dump(exclude_unset=True) | {"players": {}, "conditions": conditions}
    return build(data | {"village": None, "workers": 1} | changes)


# -- as written -------------------------------------------------------------------------------------


def test_the_list_is_whole() -> None:
    assert {name.removeprefix("strategic-") for name in STRATEGIC} == EXPECTED
    assert set(TOURNAMENTS) <= set(shipped_files())


@pytest.mark.parametrize("name", [*STRATEGIC, *TOURNAMENTS])
def test_it_builds_as_written_and_on_village(name: str) -> None:
    as_written = (
        tournament.load_tournament(name).experiment() if name in TOURNAMENTS else load_experiment(name)
    )
    if not name.startswith("strategic-bias"):
        assert not as_written.built_in
    found = on_village(name)
    assert found.built_in
    assert found.name == name
    assert policies_of(found) <= set(shipped_policies())
    assert found.deals >= (
        3000 if name in HEADLINE else 200 if "-cases-" in name or "-bias-" in name else 300
    )
    assert all(one.deals is None for one in found.conditions.values())


@pytest.mark.parametrize("name", [*STRATEGIC, *TOURNAMENTS])
def test_a_papers_agents_are_taken_as_the_paper_has_them(name: str) -> None:
    """One wording and no second try; the built-in player's run of the file plays the same agents."""
    for experiment in (on_village(name), load_experiment(name)):
        for condition in experiment.conditions:
            for spec in experiment.cast(condition).values():
                made = spec.resolved_recipe()
                assert (made.wording, made.retries) == ("paper", 0)
                assert made.name.endswith("-004")


def test_the_reflective_agent_is_one_whichever_paper_names_it() -> None:
    assert recipe("concurrent-004") == recipe("reflective-003").with_(name="concurrent-004", tips=False)


@pytest.mark.parametrize(
    "name", [name for name in RECIPES if name.endswith("-004") and RECIPES[name].reflect is None]
)
def test_an_agent_as_the_paper_has_it_plays_the_same_games_on_the_built_in_player(
    name: str, files: dict[str, str], tmp_path: Path
) -> None:
    """Where all replies can be used; but for one that reflects, which reads the questions of its wording."""
    ours = {"name": name, "wording": "own", "retries": 2}
    policy = {"policy": files["small-atomic" if name == "atomic-004" else "small"]}
    data = {
        "name": "wordings",
        "rules": "doctor",
        "players": {
            "others": {"model": "village", "recipe": name, **(policy if recipe(name).weighs else {})}
        },
        "conditions": {"paper": {}, "ours": {"players": {"others": {"recipe": ours}}}},
        "deals": 2,
    }
    with Store.create(tmp_path / "r", build(data)) as store:
        assert runner.play_run(store)
        told = {
            (row.condition, row.deal): (
                record.events,
                [(turn.seat, turn.kind, turn.action, turn.notes) for turn in record.turns],
            )
            for row in store.games()
            for record in (store.record(row.id),)
        }
    assert len(told) == 4
    assert all(told["paper", deal] == told["ours", deal] for deal in (0, 1))


def test_at_temperature_0_the_likeliest_candidate_is_taken_and_the_header_says_so(
    files: dict[str, str], tmp_path: Path
) -> None:
    def arm(**propose: float) -> dict[str, Any]:
        recipe = {"name": "strategic", "propose": propose} if propose else "strategic"
        return {"players": {"others": {"model": "village", "recipe": recipe, "policy": files["small"]}}}

    arms = {"trained": arm(), "one": arm(policy_temperature=1), "zero": arm(policy_temperature=0)}
    players = arms["trained"]["players"]
    data = {"name": "t", "rules": "doctor", "players": players, "conditions": arms, "deals": 3}
    taken: dict[str, list[tuple[int, tuple[float, ...]]]] = {}
    headers = {}
    with Store.create(tmp_path / "r", build(data)) as store:
        assert runner.play_run(store)
        for row in store.games("done"):
            record = store.record(row.id)
            headers[row.condition] = record.header["players"][0]["recipe"]["propose"]
            taken.setdefault(row.condition, []).extend(
                (note.number, note.probabilities)
                for turn in record.turns
                for _, note in turn.notes
                if isinstance(note, Chosen)
            )
    best = {name: [pi[number] == max(pi) for number, pi in made] for name, made in taken.items()}
    assert all(best["zero"])
    assert not all(best["one"])
    assert taken["one"] == taken["trained"]  # 1 is what a policy without the field does
    assert headers["one"] == headers["trained"] == {"choose": "policy"}
    assert headers["zero"] == {"choose": "policy", "policy_temperature": 0}


def test_between_the_likeliest_and_a_uniform_draw() -> None:
    pi = np.array([0.2, 0.5, 0.3])
    assert tempered(pi, 1) is pi
    np.testing.assert_array_equal(tempered(pi, 0), [0, 1, 0])
    np.testing.assert_allclose(tempered(pi, 0.5), pi**2 / (pi**2).sum())
    np.testing.assert_allclose(tempered(pi, 1e9), 1 / 3)
    np.testing.assert_array_equal(tempered(pi, 1e-300), [0, 1, 0])
    np.testing.assert_array_equal(tempered(np.array([0.4, 0.2, 0.4]), 0), [1, 0, 0])
    assert {drawn(tempered(pi, 0), step) for step in (0, 1 << 29, (1 << 30) - 1)} == {1}


def test_what_plays_in_each_seat_of_a_side() -> None:
    gain = on_village("strategic-gain")
    assert gain.cast("deductive")["others"].resolved_recipe().name == "deductive-004"
    for side in ("village", "werewolves"):
        cast = gain.cast(f"small-as-{side}")
        assert policy_name_of(cast[side]) == "small"
        assert policy_name_of(cast["others"]) is None
    parts = on_village("strategic-components").cast("without-deduction-as-village")["village"]
    assert parts.resolved_recipe().deduce is None
    assert parts.resolved_recipe().weighs
    said = on_village("strategic-statements").cast("statements-without-policy-as-werewolves")
    stage = said["werewolves"].resolved_recipe().propose
    assert stage is not None
    assert stage.kinds == ("night", "vote")
    asked = on_village("strategic-attributes").cast("role-confidence-as-village")["village"]
    made = asked.resolved_recipe()
    assert made.deduce is not None
    assert (made.deduce.attributes, made.propose) == (("confidence",), None)


def test_a_policy_of_others_is_not_inherited_by_who_chooses_among_other_candidates() -> None:
    experiment = load_experiment("strategic-communication", ["others.policy=small-selfplay"], village=True)
    for condition in experiment.conditions:
        cast = experiment.cast(condition)
        assert policy_name_of(cast["others"]) == "small-selfplay"
        by = condition.partition("-")[0]
        wanted = {"ours": "small-selfplay", "atomic": "small-atomic"}.get(by)
        assert policy_name_of(cast.get("village", cast["others"])) == wanted


def test_one_policy_for_all_leaves_other_policies_and_the_conditions_names_as_they_are() -> None:
    one, other = "one.safetensors", "other.safetensors"
    told = load_experiment("strategic-population", [f"policy={one}", f"self-play.policy={other}"])
    assert (list(told.conditions), told.renamed) == (list(on_village("strategic-population").conditions), [])
    found = {name: {k: policy_name_of(v) for k, v in told.cast(name).items()} for name in told.conditions}
    assert found["population"] == {"others": one}
    assert found["self-play-as-village"] == {"others": one, "village": other}
    rows = matched_rows(told, told.published)["004-selfplay-early"]
    assert {name: row.row for name, row in rows.items()} == {
        "population": "population",
        "self-play-as-village": "self-play as village",
        "self-play-as-werewolves": "self-play as Werewolves",
    }
    atomic = {"model": "village", "recipe": "atomic", "policy": "small-atomic"}
    beside = {"all": {"players": {"werewolves": {"recipe": "strategic-004"}}}}
    made = build({"name": "x", "policy": one, "players": {"others": atomic}, "conditions": beside})
    assert {k: policy_name_of(v) for k, v in made.cast("all").items()} == {
        "others": "small-atomic",
        "werewolves": one,
    }
    with pytest.raises(ExperimentError, match=r"policy: nobody chooses by one\.safetensors; it is for"):
        load_experiment("strategic-candidates", [f"policy={one}"])


@pytest.mark.parametrize(("name", "players"), [("strategic-tables-6", 6), ("strategic-tables-8", 8)])
def test_tables_of_other_sizes(name: str, players: int) -> None:
    experiment = on_village(name)
    for condition in experiment.conditions:
        assert experiment.ruleset(condition).players == players
        assert experiment.ruleset(condition).roles["Werewolf"] == 2


def test_conditions_are_called_as_the_rows_that_they_stand_beside() -> None:
    """Each published row of these files is found again among their conditions."""

    def plain(name: str) -> str:
        return "".join(char for char in name.lower() if char.isalnum())

    unrun = {
        "strategic-communication": "004-communication",
        "strategic-single": "human",
        "strategic-tables-6": "8",
        "strategic-tables-8": "6",
    }
    for name in STRATEGIC:
        experiment = on_village(name)
        conditions = {plain(one) for one in experiment.conditions}
        for table in experiment.published:
            rows = published_table(table).rows
            if table == unrun.get(name):
                continue  # a range over all agents, which no condition is
            kept = [row for row in rows if not row.startswith(unrun.get(name, "no row"))]
            assert {plain(row) for row in kept} <= conditions, (name, table)


def test_a_village_of_another_kind_differs_in_skill_style_and_words() -> None:
    experiment = on_village("strategic-transfer")
    for condition in ("with-policy", "without-policy"):
        cast = experiment.cast(condition)
        assert cast["village"].model == {"model": "village", "skill": 0.6, "phrases": "b"}
        assert cast["village"].resolved_recipe().style == "active_contributor"
        assert cast["others"].model == "village"
    assert policy_name_of(experiment.cast("with-policy")["village"]) == "small"
    assert policy_name_of(experiment.cast("without-policy")["village"]) is None


# -- played -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    slow_except(
        {"strategic-candidates", "strategic-transfer", "tournament-policies"}, [*STRATEGIC, *TOURNAMENTS]
    ),
)
def test_it_plays(name: str, files: dict[str, str], tmp_path: Path) -> None:
    experiment = with_files(on_village(name), files, deals=2)
    with Store.create(tmp_path / "run", experiment) as store:
        assert runner.play_run(store)
        rows = store.games()
        assert {row.status for row in rows} <= {"done", "void"}
        assert len([row for row in rows if row.status == "done"]) == 2 * len(experiment.conditions)
        found = summary(store)
        assert [one.name for one in found.conditions] == list(experiment.conditions)
        assert found.instrument
        told = extras(store, found)
    if experiment.choices:
        assert [one.condition for one in told.choices] == list(experiment.conditions)
        assert all(one.missing == 0 for row in told.choices for one in row.shares.values())
    else:
        assert told.choices == ()
    assert bool(told.diversity) is experiment.diversity


OF_TABLES = (
    *("strategic-attributes", "strategic-behaviours", "strategic-candidates", "strategic-communication"),
    *("strategic-cases-kill", "strategic-cases-save", "strategic-cases-seers"),
    *("strategic-population", "strategic-prompting", "tournament-components"),
)
"""004's tables 5 to 9 and figures 4, 6 and 7."""


@pytest.mark.parametrize("name", slow_except({"strategic-communication", "strategic-cases-seers"}, OF_TABLES))
def test_a_table_is_played_by_any_model_with_a_policy_and_an_embedder_of_ones_own(
    name: str, tmp_path: Path
) -> None:
    """Whoever chooses by a policy has it, but for those of Table 6 and the Atomic agent."""
    reads = {"embedder": "hashing", "dimensions": DIMENSIONS}
    mine = save(checkpoint(0, training={"candidates_of": ["wolf-1"]}), tmp_path / "mine.safetensors")
    with http_server.running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url}
        changes: dict[str, Any] = {"deals": 1, "policy": str(tmp_path / "mine.safetensors")}
        changes |= {"others.embedder": reads} if name == "strategic-communication" else {}
        if name == "strategic-candidates":
            changes = {"deals": 1, "others.embedder": "hashing"}
        if name == "tournament-components":
            plan = tournament.load_tournament(name, changes_of(changes | {"model": model})).experiment()
        else:
            plan = load_experiment(name, changes_of(changes | {"others.model": model}))
        said: list[str] = []
        PlayerBuilder(plan, tell=said.append).all_models()
        with Store.create(tmp_path / "run", plan) as store:
            assert runner.play_run(store)
            played = [store.record(row.id).header["players"] for row in store.games("done")]
    assert len(played) == len(plan.conditions)
    told = {one["digest"] for players in played for who in players if (one := who.get("policy"))}
    others = {"strategic-population": ["small-selfplay"], "strategic-communication": ["small-atomic"]}
    wanted = {mine.digest} if "policy" in changes else set()
    assert told == wanted | {load_policy(one).digest for one in others.get(name, ())}
    # Those never saw what this model says.
    assert [one.split(" learned")[0] for one in said] == [f"policy {one}" for one in others.get(name, ())]


def test_without_communication_one_side_says_nothing(files: dict[str, str], tmp_path: Path) -> None:
    """The agents of the row "always return an empty string" (004 E.4); their Werewolves speak."""
    whole = on_village("strategic-communication")
    kept = ("ours-with-communication", "vanilla-without-communication")
    part = with_files(whole, files, deals=2, published=[])
    part = part.model_copy(update={"conditions": {name: part.conditions[name] for name in kept}})
    with Store.create(tmp_path / "run", part) as store:
        assert runner.play_run(store)
        spoken: dict[str, set[tuple[bool, bool, bool]]] = {}
        for row in store.games("done"):
            record = store.record(row.id)
            for turn in record.turns:
                if turn.kind == "statement":
                    wolf, said = ROLES[record.roles[turn.seat]].wolf, turn.action != SILENCE
                    spoken.setdefault(row.condition, set()).add((wolf, said, bool(turn.calls)))
    aloud, silent = (True, True), (False, False)
    assert spoken == {kept[0]: {(False, *aloud), (True, *aloud)}, kept[1]: {(False, *silent), (True, *aloud)}}


# -- the biases that are put in ---------------------------------------------------------------------

DEALS = 80


def shares(name: str, condition: str, files: dict[str, str], path: Path, **model: Any) -> dict[str, float]:
    """What is chosen in one condition. model: settings of every model that is a mapping."""
    whole = with_files(on_village(name), files, deals=DEALS)
    chosen = whole.conditions[condition]
    players = {
        place: {
            **spec,
            "model": {**spec["model"], **model} if isinstance(spec["model"], dict) else spec["model"],
        }
        for place, spec in chosen.players.items()
    }
    one = whole.model_copy(
        update={"conditions": {condition: chosen.model_copy(update={"players": players})}, "baseline": None}
    )
    with Store.create(path, one) as store:
        assert runner.play_run(store)
        (found,) = extras(store, summary(store)).choices
    return {name: each.value or 0.0 for name, each in (found.where_open or found.shares).items()}


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["deduction-only", "diverse"])
def test_the_favoured_seat_is_killed_first_and_without_favour_is_not(
    condition: str, files: dict[str, str], tmp_path: Path
) -> None:
    """By chance ½ on top of about 1 in 5."""
    biased = shares("strategic-bias-kill", condition, files, tmp_path / "biased")
    assert max(biased, key=lambda seat: biased[seat]) == "player_3"
    assert 0.4 < biased["player_3"] < 0.8
    null = shares("strategic-bias-kill", condition, files, tmp_path / "null", favour_rate=0.0)
    assert null["player_3"] < 0.4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "category", "null"),
    [
        ("strategic-bias-save", "another", {"expect_rate": 0.0}),
        ("strategic-bias-seers", "nobody", {"idle": 0.0}),
    ],
)
def test_the_other_biases_show_before_training_and_not_without_them(
    name: str, category: str, null: dict[str, float], files: dict[str, str], tmp_path: Path
) -> None:
    biased = shares(name, "deduction-only", files, tmp_path / "biased")
    assert 0.25 < biased[category] < 0.8
    assert shares(name, "deduction-only", files, tmp_path / "null", **null)[category] == 0
