"""Scenes, and what is chosen in them (004 Fig. 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wolflab.errors import ExperimentError
from wolflab.lab.experiment import build
from wolflab.lab.runner import run
from wolflab.lab.scenes import two_seers
from wolflab.lab.store import Store
from wolflab.lab.studies import studied
from wolflab.match import Dealing
from wolflab.metrics.choices import STUDIES
from wolflab.rules import PRESETS, ROLES, Pick, Say
from wolflab.text.reading import Claim, Report, read

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
        run(store)
        assert [game.status for game in store.games()] == ["done"] * 12
        found = {one.study: one.shares for one in studied(store)[0]}
        votes = found["seer_vote"]
        assert list(votes) == list(STUDIES["seer_vote"][1])
        assert sum(one.value or 0 for one in votes.values()) == pytest.approx(1)
        # Two of three Villagers live to vote in each game.
        assert {one.n for one in votes.values()} == {24}
        assert sum(one.value or 0 for one in found["first_kill"].values()) == pytest.approx(1)
        assert found["first_save"]["itself"].value == 1


def test_a_scene_needs_its_roles() -> None:
    rules = {"preset": "doctor", "roles": {"Werewolf": 2, "Villager": 4, "Doctor": 1}}
    with pytest.raises(ExperimentError, match="two-seers needs a Seer"):
        build(SCENE | {"rules": rules})
