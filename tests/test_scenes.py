"""Scenes, and what is chosen in them (004 Fig. 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.scenes import names, two_seers
from wolflab.lab.results.studies import studied
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.match import Dealing
from wolflab.metrics.choices import STUDIES
from wolflab.rules import PASS, PRESETS, ROLES, Ask, Pick, Say
from wolflab.text.reading import Claim, Report, read
from wolflab.text.replies.chosen_action import read_action

DOCTOR = PRESETS["doctor"]
ROLES_DEALT = ("Villager", "Werewolf", "Seer", "Doctor", "Villager", "Werewolf", "Villager")
SCENE: dict[str, Any] = {
    "name": "scene",
    "rules": {"preset": "doctor", "max_rounds": 1},
    "players": {"others": {"model": "village", "recipe": "deductive-004"}},
    "scene": "two-seers",
    "deals": 12,
    "redraw_void": False,
}


@pytest.mark.parametrize("deal", [f"1/{n}" for n in range(30)])
def test_two_claim_to_be_the_seer_and_accuse_each_other(deal: str) -> None:
    lines = two_seers(DOCTOR, Dealing(ROLES_DEALT, None, deal, deal))
    claimed, accused = set(), {}
    for seat, mine in lines.items():
        said = mine[f"1/statement/{seat}"]
        assert isinstance(said, Say)
        for act in read(said.text, DOCTOR.names, seat):
            if isinstance(act, Claim) and act.role == "Seer" and not act.denied:
                claimed.add(seat)
            if isinstance(act, Report):
                assert act.what == "Werewolf"
                accused[seat] = act.target
    seer = ROLES_DEALT.index("Seer")
    assert seer in claimed
    assert len(claimed) == 2
    (liar,) = claimed - {seer}
    assert ROLES[ROLES_DEALT[liar]].wolf
    assert accused == {seer: liar, liar: seer}
    victims = {mine.get(f"1/kill/{seat}") for seat, mine in lines.items()} - {None}
    assert len(victims) == 1
    (victim,) = victims
    assert isinstance(victim, Pick)
    assert ROLES_DEALT[victim.seat] == "Villager"


def test_wordings_and_seats_vary_with_the_deal() -> None:
    told = {
        str(two_seers(DOCTOR, Dealing(ROLES_DEALT, None, str(n), str(n)))[2]["1/statement/2"])
        for n in range(60)
    }
    assert len(told) > 12


def test_a_scene_is_a_game_like_another(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run", build(SCENE | {"choices": list(STUDIES)})) as store:
        play_run(store)
        assert [game.status for game in store.games()] == ["done"] * 12
        found = {one.study: one.shares for one in studied(store)[0]}
        votes = found["seer_vote"]
        assert list(votes) == list(STUDIES["seer_vote"].categories)
        assert sum(one.value or 0 for one in votes.values()) == pytest.approx(1)
        # Two of three Villagers live to vote in each game.
        assert {one.n for one in votes.values()} == {24}
        assert sum(one.value or 0 for one in found["first_kill"].values()) == pytest.approx(1)
        assert found["first_save"]["itself"].value == 1


def test_a_scene_needs_its_roles() -> None:
    rules = {"preset": "doctor", "roles": {"Werewolf": 2, "Villager": 4, "Doctor": 1}}
    with pytest.raises(ExperimentError, match="two-seers needs a Seer"):
        build(SCENE | {"rules": rules})


# -- the first night --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_whatever_the_players_are_called_is_read(name: str) -> None:
    rules = DOCTOR.with_(player_name=name)
    told = rules.names[3]
    found = read(f"I suspect {told}. I will vote for {told} today.", rules.names, 5)
    assert {getattr(act, "target", None) for act in found} == {3}
    for asked in (f"vote for {told}", f"Vote for {told}."):
        ask = Ask("1/vote/5", 5, "vote", 1, "voting", (PASS, *(Pick(seat) for seat in range(5))))
        assert read_action(asked, ask, rules) == Pick(3)


@pytest.mark.slow
def test_a_first_night_has_many_variants_and_the_same_for_all_conditions(tmp_path: Path) -> None:
    made = load_experiment("strategic-cases-save", ["deals=100", "workers=1"], village=True)
    kept = {name: one for name, one in made.conditions.items() if name in ("deduction-only", "diverse")}
    made = made.model_copy(update={"conditions": kept})
    with Store.create(tmp_path / "run", made) as store:
        play_run(store)
        seen: dict[str, list[tuple[str, int]]] = {}
        for row in store.games():
            record = store.record(row.id)
            doctor = record.roles.index("Doctor")
            seen.setdefault(row.condition, []).append((record.ruleset.player_name, doctor))
            assert row.status == "done"
    both = list(seen.values())
    assert both[0] == both[1]
    assert len(set(both[0])) > 85
    assert len({name for name, _ in both[0]}) > 40


def test_names_that_a_first_night_cannot_give_are_refused_before_it_is_played() -> None:
    made = {**SCENE, "scene": "first-night"}
    with pytest.raises(ExperimentError, match="role_names"):
        build(made | {"rules": {"preset": "doctor", "role_names": {"Seer": "guest"}}})
    with pytest.raises(ExperimentError, match=r"rules\.player_name: scene first-night"):
        build(made | {"rules": {"preset": "doctor", "player_name": "X{}"}})
    with pytest.raises(ExperimentError, match=r"rules\.player_name: scene first-night"):
        build(made | {"conditions": {"a": {"rules": {"player_name": "X{}"}}}})
