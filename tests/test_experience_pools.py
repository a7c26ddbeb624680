"""Pools of experience: what records give, which of it is taken, and how near is near enough."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experience_helpers import (
    HASHING,
    NEAR,
    Counting,
    Reflecting,
    built,
    experience,
    game,
    games,
    made_of,
    pool_of,
    unit,
)
from wolflab.agents.experience import Pool, Threshold
from wolflab.errors import ExperimentError, StoreError
from wolflab.lab.experience import pool as lab
from wolflab.lab.experience.from_games import (
    decision_in_words,
    experiences_of,
    gather,
    last_day,
    left_out,
    score,
)
from wolflab.lab.experience.pool import Selection
from wolflab.lab.experience.pool_file import open_pool
from wolflab.lab.plans.loading import build as experiment
from wolflab.lab.storage.packing import pack
from wolflab.lab.storage.store import Store
from wolflab.match import run_now
from wolflab.models.embedders import PAPER_EMBEDDER, share_above
from wolflab.record import GameRecord
from wolflab.rules import (
    LEFT,
    NO,
    PASS,
    ROLES,
    SHERIFF,
    WITCH,
    YES,
    Ask,
    GameEnded,
    Log,
    Pick,
    Say,
    VoteCounted,
    Winner,
    pick,
)
from wolflab.text.masking import mask

GAMES = games()


# -- what a game gives ----------------------------------------------------------------------


def test_the_score_of_the_paper() -> None:
    """003 Eq. 4, and what it is for: win, win soon, else lose late."""
    assert score(True, 5) == 995
    assert score(False, 5) == 5
    order = [score(True, 2), score(True, 7), score(False, 7), score(False, 2)]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize("record", GAMES, ids=range(12))
def test_every_reflected_and_valid_decision_is_an_experience(record: GameRecord) -> None:
    found = experiences_of(record)
    turns = [turn for turn in record.turns if turn.seat >= 0]
    assert [one.ask for one in found] == [turn.ask for turn in turns]
    assert record.outcome is not None
    wolves_won = record.outcome.winner is Winner.WEREWOLVES
    days = sum(isinstance(event, VoteCounted) for event in record.events)
    assert last_day(record) in (days, days + 1)  # it may end at dawn
    for one, turn in zip(found, turns, strict=True):
        assert one.role == record.roles[turn.seat]
        assert one.kind == turn.kind
        assert one.seat == turn.seat
        assert one.game == f"{record.header['condition']}|{record.header['play']}"
        assert one.deal == record.header["deal"]
        # the dead too score as their side
        won = ROLES[one.role].wolf == wolves_won
        assert one.score == (1000 - last_day(record) if won else last_day(record))
        (reflection,) = (note.text for step, note in turn.notes if step == "reflect")
        assert one.reflection == mask(reflection, record.ruleset.names)
        for text in (one.reflection, one.response):
            assert not any(name in text for name in record.ruleset.names)


def test_the_games_of_the_tests_hold_every_case() -> None:
    outcomes = Counter(record.outcome.winner for record in GAMES if record.outcome is not None)
    assert set(outcomes) == {Winner.VILLAGE, Winner.WEREWOLVES}
    kinds = {one.kind for record in GAMES for one in experiences_of(record)}
    assert kinds == {"kill", "protect", "see", "antidote", "poison", "statement", "vote", "last-words"}


def test_what_was_not_reflected_on_or_not_usable_gives_nothing() -> None:
    record = game("s/1", agent=Reflecting(mute=("see", "vote")))
    assert {one.kind for one in experiences_of(record)}.isdisjoint({"see", "vote"})
    record = game("s/1", agent=Reflecting(spoil=("vote", "protect")))
    kinds = {one.kind for one in experiences_of(record)}
    assert kinds.isdisjoint({"vote", "protect"})
    assert {turn.kind for turn in record.turns} >= {"vote", "protect"}
    assert "statement" in kinds


def test_games_that_nobody_won_give_nothing() -> None:
    def idle(view: Any, ask: Any, io: Any) -> Any:
        return None if ask.options is None else (PASS if PASS in ask.options else ask.options[-1])

    drawn = game(ruleset=WITCH.with_(max_rounds=1), agent=Reflecting(idle))
    assert left_out(drawn) == "nobody won"
    assert experiences_of(drawn) == []
    broken = replace(GAMES[0], events=[one for one in GAMES[0].events if not isinstance(one, GameEnded)])
    assert left_out(broken) == "unfinished"
    assert experiences_of(broken) == []
    rules = SHERIFF.with_(sheriff="assigned")

    def attack(view: Any, ask: Any, io: Any) -> Any:
        """Both Werewolves attack seat 0."""
        return None if ask.options is None else ask.options[0 if ask.kind == "kill" else -1]

    agent = Reflecting(attack)
    dealt = (game(f"v/{n}", rules, agent) for n in range(60))
    void = next(one for one in dealt if one.outcome is not None and one.outcome.void)
    assert left_out(void) == "void"
    assert experiences_of(void) == []
    found = gather([drawn, broken, GAMES[0], void, GAMES[0]])
    assert found.games == 1
    assert found.left_out == {"nobody won": 1, "unfinished": 1, "void": 1, "given twice": 1}
    assert found.experiences == tuple(experiences_of(GAMES[0]))
    assert found.runs == ("e, x",)


@pytest.mark.parametrize(
    ("kind", "action", "words"),
    [
        ("protect", pick(2), "I choose to protect Player 3."),
        ("protect", pick(0), "I choose to protect Player 1 (myself)."),
        ("vote", pick(2), "I choose to vote for Player 3."),
        ("vote", PASS, "I choose to pass."),
        ("kill", PASS, "I choose to pass."),
        ("see", pick(6), "I choose to see Player 7."),
        ("antidote", YES, "I choose to use the antidote."),
        ("antidote", NO, "I choose not to use the antidote."),
        ("poison", pick(4), "I choose to poison Player 5."),
        ("lead", LEFT, "I choose to let the player on my left speak first."),
        ("elect", pick(4), "I choose to vote for Player 5."),
        ("succeed", pick(4), "I choose to name Player 5."),
        ("statement", Say("I am the Seer."), "I am the Seer."),
        ("statement", Say(""), "I say nothing."),
    ],
)
def test_decisions_in_words(kind: str, action: Any, words: str) -> None:
    assert decision_in_words(kind, action, 0, WITCH) == words


# -- which games, and what of them ----------------------------------------------------------


def keys(selection: Selection) -> list[str]:
    return list(dict.fromkeys(one.game for one in gather(GAMES, selection).experiences))


def test_pools_are_nested_in_game_order() -> None:
    every = [f"x|s/{n}/0" for n in range(12)]
    assert keys(Selection()) == every
    assert keys(Selection(games=3)) == every[:3]
    assert keys(Selection(games=7)) == every[:7]
    assert keys(Selection(skip=7, games=3)) == every[7:10]
    assert keys(Selection(skip=7)) == every[7:]
    assert gather(GAMES, Selection(games=3)).left_out == {"not asked for": 9}
    with pytest.raises(StoreError, match=r"12 games can be used, and 14 are needed \(skip 4, games 10\)"):
        gather(GAMES, Selection(skip=4, games=10))


def test_one_side_alone() -> None:
    every = gather(GAMES).experiences
    losers = gather(GAMES, Selection(side="losers")).experiences
    winners = gather(GAMES, Selection(side="winners")).experiences
    assert losers == tuple(one for one in every if one.score < 500)
    assert winners == tuple(one for one in every if one.score > 500)
    assert losers
    assert winners


def test_conditions() -> None:
    mixed = [*GAMES[:2], game("s/0", condition="y")]
    assert gather(mixed, Selection(conditions=("y",))).games == 1
    assert gather(mixed, Selection(conditions=("x", "y"))).runs == ("e, x", "e, y")
    with pytest.raises(StoreError, match="no game of a condition 'z'; there are x, y"):
        gather(mixed, Selection(conditions=("z",)))


def test_shuffled_pools_hold_the_same_reflections_and_the_same_answers() -> None:
    every = gather(GAMES).experiences
    selection = Selection(shuffle="1")
    mixed = gather(GAMES, selection).experiences
    assert [(one.reflection, *one.key) for one in mixed] == [(one.reflection, *one.key) for one in every]

    def answers(experiences: Any) -> Counter[Any]:
        return Counter((one.response, one.score, one.id) for one in experiences)

    assert answers(mixed) == answers(every)
    moved = sum(a.id != b.id for a, b in zip(mixed, every, strict=True))
    assert moved > 0.8 * len(every)
    asked = sum(one.kind == one.ask.split("/")[1] for one in mixed)
    assert asked < len(mixed)
    assert gather(GAMES, selection).experiences == mixed
    assert gather(GAMES, Selection(shuffle="2")).experiences != mixed


@pytest.mark.parametrize("wrong", [{"side": "good"}, {"games": 0}, {"skip": -1}])
def test_selections_that_mean_nothing(wrong: Any) -> None:
    with pytest.raises(ExperimentError, match=f"experience, {next(iter(wrong))}: got"):
        Selection(**wrong)


def test_a_selection_says_what_differs() -> None:
    assert Selection().as_dict() == {}
    assert Selection(games=10, side="losers").as_dict() == {"games": 10, "side": "losers"}


# -- building -------------------------------------------------------------------------------


def run_directory(path: Path, records: dict[int, GameRecord]) -> None:
    """A run of eight planned games, these of which are done, one failed, and the rest not begun."""
    data = {
        "name": "e",
        "players": {"others": {"recipe": "random"}},
        "deals": 8,
        "rules": {"preset": "witch"},
    }
    with Store.create(path, experiment(data)) as store:
        store.plan([(next(iter(store.experiment.conditions)), deal, 0) for deal in range(8)])
        for number, record in records.items():
            store.keep(number, "done", pack(record.lines, record.probe_lines))
        store.stop(7, "failed", "it broke")


def test_a_pool_from_runs(tmp_path: Path) -> None:
    run_directory(tmp_path / "one", {2: GAMES[0], 1: GAMES[1], 4: GAMES[2]})
    run_directory(tmp_path / "two", {1: GAMES[3]})
    with (
        Store.open_for_reading(tmp_path / "one") as one,
        Store.open_for_reading(tmp_path / "two") as two,
    ):
        told: list[tuple[int, int]] = []
        pool = built(tmp_path / "p", [one, two], progress=lambda done, of: told.append((done, of)))
    assert pool.digest == built(tmp_path / "q", [GAMES[1], GAMES[0], *GAMES[2:4]]).digest
    assert told[-1][0] == told[-1][1] == len({one.reflection for one in pool.experiences()})
    (origin,) = open_pool(tmp_path / "p").origins
    assert origin["games"] == 4
    assert origin["left_out"] == {"failed": 2, "unfinished": 10}
    assert origin["runs"] == ["e, all"]


def test_a_pool_without_reflections_is_refused(tmp_path: Path) -> None:
    silent = game(agent=Reflecting(mute=[*ROLES, *(turn.kind for turn in GAMES[0].turns)]))
    with pytest.raises(StoreError, match="no experience in 1 games: it comes from players who reflect"):
        built(tmp_path / "p", [silent])
    with pytest.raises(StoreError, match=r"no experience in 0 games \(1 unfinished left out\)"):
        built(tmp_path / "p", [replace(GAMES[0], events=GAMES[0].events[:-1])])
    assert not list(tmp_path.iterdir())


def test_texts_are_embedded_once_and_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "AT_ONCE", 100)
    embedder = Counting()
    pool = pool_of(GAMES, embedder=embedder)
    asked = [text for batch in embedder.asked for text in batch]
    assert sorted(asked) == sorted({one.reflection for one in pool.experiences()})
    assert len(asked) < len(pool)
    assert {len(batch) for batch in embedder.asked[:-1]} == {100}


def test_what_a_player_thinks_now_finds_what_was_thought_before(tmp_path: Path) -> None:
    """From a live reflection to experiences: the masked text of another game of the same cards is found."""
    pool = built(tmp_path / "p")
    record = GAMES[5]
    for turn in record.turns:
        if turn.kind != "vote":
            continue
        reflection = mask(Reflecting.reflection(view_of(record, turn), ask_of(turn)), record.ruleset.names)
        (vector,) = run_now(HASHING.embed([reflection]))
        role, deal = record.roles[turn.seat], record.header["deal"]
        best = pool.search(vector, role, "vote", pool.epsilon)[0]
        assert best.similarity == pytest.approx(1)
        assert best.experience.reflection == reflection
        others = pool.search(vector, role, "vote", pool.epsilon, not_deal=deal)
        assert all(hit.experience.deal != deal for hit in others)


def view_of(record: GameRecord, turn: Any) -> Any:
    log = Log(record.ruleset)
    log.extend(record.events[: turn.at])
    return log.view(turn.seat)


def ask_of(turn: Any) -> Any:
    return Ask(turn.ask, turn.seat, turn.kind, "", turn.round, None)


# -- how near is near enough ----------------------------------------------------------------


def pairs(pool: Pool) -> list[float]:
    """All similarities within role and kind, of different deals."""
    found = []
    for block in pool.blocks.values():
        for a, one in enumerate(block.entries):
            for b, other in enumerate(block.entries[:a]):
                if one.deal != other.deal:
                    found.append(float(block.vectors[block.rows[a]] @ block.vectors[block.rows[b]]))
    return found


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_epsilon_lets_through_the_share_asked_for(share: float) -> None:
    pool = made_of([experience(n, kind=("vote", "protect")[n % 3 == 0]) for n in range(120)]).pool
    found = lab.calibrate(pool, share)
    assert found.share == share
    assert found.reached == pytest.approx(share_above(pairs(pool), found.epsilon), abs=1e-3)
    assert share - 0.001 < found.reached <= share


def test_epsilon_of_a_large_pool_is_set_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = made_of([experience(n) for n in range(400)]).pool
    every = lab.calibrate(pool, 0.2)
    monkeypatch.setattr(lab, "SAMPLE", 150)
    sampled = lab.calibrate(pool, 0.2)
    assert sampled == lab.calibrate(pool, 0.2)
    assert sampled != every
    assert share_above(pairs(pool), sampled.epsilon) == pytest.approx(0.2, abs=0.03)


def test_what_is_the_same_word_for_word_is_always_found() -> None:
    """Otherwise ε would be 1 as soon as more than the share of all pairs are equal, and nothing above it."""
    experiences = [experience(n) for n in range(60)]
    pool = Pool.of(experiences, unit(2)[[0, 1] * 30], {"name": "x"}, NEAR)
    found = lab.calibrate(pool, 0.2)
    assert found.epsilon == lab.SAME
    assert found.reached == pytest.approx(0.5, abs=0.02)
    assert len(pool.search(unit(1)[0], "Guard", "protect", found.epsilon)) == 30


def test_without_pairs_there_is_nothing_to_set_epsilon_by() -> None:
    assert lab.calibrate(made_of([experience(0), experience(1)]).pool) == Threshold(0.85, None, None)


def test_whose_epsilon(tmp_path: Path) -> None:
    assert built(tmp_path / "own").threshold.share == lab.SHARE
    assert built(tmp_path / "less", share=0.01).epsilon > built(tmp_path / "more", share=0.5).epsilon
    given = built(tmp_path / "given", epsilon=0.4)
    assert given.epsilon == 0.4
    assert given.threshold.share is None
    assert given.threshold.reached == pytest.approx(share_above(pairs(given), 0.4))
    paper = pool_of(GAMES, embedder=Counting(PAPER_EMBEDDER))
    assert paper.epsilon == 0.85
    assert paper.threshold.share is None
    assert pool_of(GAMES, embedder=Counting(PAPER_EMBEDDER), share=0.2).threshold.share == 0.2


def test_picks_are_no_players_of_another_seat() -> None:
    """A pick is masked like any name: the same letter in the reflection and in the choice."""
    for record in GAMES[:4]:
        by_ask = {one.ask: one for one in experiences_of(record)}
        for turn in record.turns:
            if turn.kind == "vote" and isinstance(turn.action, Pick) and turn.action.seat == turn.seat:
                one = by_ask[turn.ask]
                own = one.reflection.partition("I am ")[2].partition(".")[0]
                assert one.response == f"I choose to vote for {own} (myself)."
