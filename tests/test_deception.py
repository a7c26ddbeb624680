"""What speakers say against their own knowledge: acts by hand, whole games, and the labelled talk's
program.
"""

from __future__ import annotations

import io
from argparse import Namespace
from contextlib import redirect_stdout
from pathlib import Path

import deception
import pytest

import wolflab
from test_behaviours import SCENE, staged
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.metrics.behaviours.deception import (
    Knowledge,
    contradictions,
    deceptions,
    statement_truths,
    withheld,
)
from wolflab.metrics.behaviours.detector_view import DetectorView
from wolflab.rules import pick
from wolflab.text.notes import Belief, Deduced
from wolflab.text.reading import Accusation, Claim, Defence, Report

SEER_SEAT = SCENE.roles.index("Seer")
WOLF = Knowledge(0, "Werewolf", {0: True, 1: True, 2: False, 3: False}, {})
SEER = Knowledge(2, "Seer", {2: False, 0: True, 3: False}, {("see", 0): "Werewolf", ("see", 3): "Guard"})
VILLAGER = Knowledge(3, "Villager", {3: False}, {})


@pytest.mark.parametrize(
    ("known", "act", "kind"),
    [
        (WOLF, Claim(0, "Villager", False, 0), "role"),
        (WOLF, Claim(0, "Werewolf", True, 0), "role"),
        (WOLF, Claim(0, "Werewolf", False, 0), None),
        (WOLF, Claim(0, "Seer", True, 0), None),
        (WOLF, Claim(2, "Villager", False, 0), None),  # another's words
        (WOLF, Report(0, "see", 2, "Werewolf", 0), "result"),
        (WOLF, Accusation(0, 2, 1, 0), "accusation"),
        (WOLF, Accusation(0, 1, 3, 0), None),
        (WOLF, Defence(0, 1, 2, "", 0), "defence"),
        (WOLF, Defence(0, 3, 2, "", 0), None),
        (SEER, Report(2, "see", 0, "Werewolf", 2), None),
        (SEER, Report(2, "see", 0, "not a Werewolf", 2), "result"),
        (SEER, Report(2, "see", 3, "not a Werewolf", 2), None),
        (SEER, Report(2, "see", 1, "Werewolf", 2), "result"),
        (SEER, Report(2, "see", 3, "", 2), None),
        (SEER, Accusation(2, 3, 2, 2), "accusation"),
        (SEER, Accusation(2, 1, 2, 2), None),  # it may err
        (SEER, Defence(2, 0, 2, "", 2), "defence"),
        (VILLAGER, Accusation(3, 0, 3, 3), None),
        (VILLAGER, Defence(3, 0, 3, "", 3), None),
        (VILLAGER, Claim(3, "Seer", False, 3), "role"),
    ],
)
def test_an_act_contradicts_only_what_its_speaker_knows(
    known: Knowledge, act: Claim | Report | Accusation | Defence, kind: str | None
) -> None:
    assert [one.kind for one in contradictions([act], known)] == ([] if kind is None else [kind])


def test_one_contradiction_for_each_kind_and_player() -> None:
    twice = [
        Accusation(0, 2, 1, 0),
        Accusation(0, 2, 3, 0),
        Accusation(0, 3, 2, 0),
        Claim(0, "Seer", False, 0),
    ]
    assert [(one.kind, one.about) for one in contradictions(twice, WOLF)] == [
        ("accusation", 2),
        ("accusation", 3),
        ("role", 0),
    ]


def test_results_are_withheld_until_they_are_told() -> None:
    assert withheld(SEER, ()) == (0, 3)
    assert withheld(SEER, {0}) == (3,)
    assert withheld(VILLAGER, ()) == ()


LOG = """0,status,1,SEER,ALIVE,x,Anna
0,status,2,WEREWOLF,ALIVE,x,Ben
0,status,3,VILLAGER,ALIVE,x,Cleo
0,status,4,POSSESSED,ALIVE,x,Dora
0,status,5,MEDIUM,ALIVE,x,Emil
0,divine,1,2,WEREWOLF
1,talk,0,0,1,I am the Seer. I checked Ben and Ben is a Werewolf.
1,talk,1,0,2,I am a Villager. Cleo is a Werewolf.
1,talk,2,0,3,I suspect Anna.
1,talk,3,0,4,I am the Seer. I checked Anna and Anna is a Werewolf.
1,talk,4,0,1,Cleo looks fine to me.
"""


def test_the_program_compares_two_hands_with_the_rules(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LOG, encoding="utf-8")
    rows = [
        "file,line,claims_role_a,claims_role_b,false_claim_a,false_claim_b,contradicts_a,contradicts_b,"
        "withholds_a,withholds_b",
        *("a.log,7,SEER,SEER,0,0,0,0,0,0", "a.log,8,VILLAGER,VILLAGER,1,1,1,1,0,0"),
        *("a.log,9,,,0,0,0,0,0,0", "a.log,10,SEER,SEER,1,1,1,1,0,0", "a.log,11,,,0,0,0,1,0,0"),
    ]
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = io.StringIO()
    with redirect_stdout(text):
        options = ["--labels", str(tmp_path / "labels.csv"), "--part", "8", "--resamples", "9"]
        deception.main([str(tmp_path), *options])
    said = text.getvalue()
    assert "5 utterances, 0 could not be read" in said
    assert "contradicts: 2 of 4 (hands differ in 1" in said
    assert "precision 2 of 2, 1.00 (0.34 to 1.00), recall 2 of 2, 1.00 (0.34 to 1.00)" in said
    assert "false_claim: 2 of 5 (hands differ in 0, kappa 1.00)" in said
    assert "no resample has a corrected rate" in said  # four utterances are fewer than five deals


def test_rules_that_are_never_wrong_need_no_correction() -> None:
    given = Namespace(part=20, resamples=20)
    told = deception.corrected([(n < 12, n < 12) for n in range(40)], given)
    assert "rate 0.300, by the rules 0.300; corrected by 20 of 40 labels" in told
    assert "of 20 resamples" in told


def test_the_labels_have_both_hands_and_no_words() -> None:
    lines = deception.LABELS.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 301
    assert all(len(line.split(",")) == 10 for line in lines)
    assert all(set(line.split(",")[4:]) <= {"0", "1"} for line in lines[1:])


def test_a_game_statement_by_statement() -> None:
    """The scene's Seer checks; a Werewolf claims to be the Seer; the Seer keeps a result to itself, then
    tells it.
    """
    record = staged(
        says={(1, 1): "I am the Seer.", (2, SEER_SEAT + 1): "I checked player_1. player_1 is a Werewolf."}
    )
    view = DetectorView.of(record)
    truths = list(statement_truths(view))
    assert [truth.statement.at for truth in truths] == [one.at for one in view.statements if not one.unread]
    claims = [truth for truth in truths if truth.statement.seat == 0 and truth.statement.round == 1]
    assert [one.kind for one in claims[0].contradictions] == ["role"]
    by_seer = [truth for truth in truths if truth.statement.seat == SEER_SEAT]
    assert all(truth.has_results for truth in by_seer)
    assert all(not truth.withheld for truth in truths if not truth.has_results)
    village = [truth for truth in truths if truth.statement.seat not in view.wolves | {SEER_SEAT}]
    assert not any(
        one.kind in ("result", "accusation", "defence") for truth in village for one in truth.contradictions
    )


def test_who_heard_a_contradiction_and_whose_vote_and_guess_followed_it() -> None:
    """A Werewolf accuses the Guard falsely. Its pack knows better; of two Villagers one follows."""
    fooled, doubting = [seat for seat, role in enumerate(SCENE.roles) if role == "Villager"][:2]
    about = SCENE.roles.index("Guard")
    notes = {
        f"1/vote/{seat}": (("deduce", Deduced((Belief(about, role, 8, 3),))),)
        for seat, role in ((fooled, "Werewolf"), (doubting, "Uncertain"))
    }
    record = staged(
        says={(1, 1): f"player_{about + 1} is a Werewolf."},
        chooses={f"1/vote/{fooled}": pick(about), f"1/vote/{doubting}": pick(0)},
        notes=notes,
    )
    (found,) = (
        one
        for one in deceptions(DetectorView.of(record))
        if (one.statement.round, one.statement.seat, one.contradiction.about) == (1, 0, about)
    )
    assert (found.contradiction.kind, found.contradiction.knew) == ("accusation", "pack")
    assert {fooled, doubting} <= set(found.listeners)
    assert not any(SCENE.roles[seat] in ("Werewolf", "Guard") for seat in found.listeners)
    told = {(one.seat, one.by): one.follows for one in found.responses if one.seat in (fooled, doubting)}
    assert told == {
        (fooled, "vote"): True,
        (fooled, "guess"): True,
        (doubting, "vote"): False,
        (doubting, "guess"): False,
    }


def test_the_table_has_who_was_told_and_how_they_judged_the_speaker(tmp_path: Path) -> None:
    """The next day's judgements are counted again from their own table."""
    players = {"others": {"model": {"model": "village", "plant": {"bluffing": 0.5}}, "recipe": "deductive"}}
    with Store.create(tmp_path / "r", build({"name": "told", "players": players, "deals": 8})) as store:
        assert play_run(store)
    run = wolflab.open_run(tmp_path / "r")
    contradictions, judgements, players_ = (
        list(run.table(name).rows()) for name in ("contradictions", "judgements", "players")
    )
    pack = {(row["game"], row["seat"]) for row in players_ if row["role"] == "Werewolf"}
    last = {
        (row["game"], row["round"], row["seat"], row["target_seat"]): row["reliability"] for row in judgements
    }
    counted = of_roles = 0
    for row in contradictions:
        game, round, speaker = row["game"], row["round"], row["seat"]
        after = [
            score
            for (at, when, seat, target), score in last.items()
            if (at, when, target) == (game, round + 1, speaker)
            and not {(game, seat), (game, speaker)} <= pack
        ]
        assert row["judging_speaker"] <= min(row["audience"], len(after))
        if row["judging_speaker"] == len(after) > 0:
            counted += 1
            assert row["speaker_after"] == pytest.approx(sum(after) / len(after))
        if row["kind"] == "role":  # the words are about the speaker
            of_roles += 1
            assert [
                row[name] for name in ("audience", "judging_speaker", "speaker_before", "speaker_after")
            ] == [row[name] for name in ("listeners", "judging", "reliability_before", "reliability_after")]
    assert counted > 5
    assert of_roles > 5
