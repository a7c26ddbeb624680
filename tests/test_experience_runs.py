"""Runs whose players learn from past games: pools made on the way, frozen or growing, and found again."""

from __future__ import annotations

import asyncio
import copy
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from command_line import called
from embedding_server import EmbeddingServer
from http_server import running
from wolflab.errors import ExperimentError, ModelError, StoreError
from wolflab.lab.experience import pool as experience
from wolflab.lab.experience.run_pools import Pools
from wolflab.lab.plans.loading import build
from wolflab.lab.results.summaries import games, summary
from wolflab.lab.runs import runner
from wolflab.lab.runs.replay import verify_game
from wolflab.lab.runs.retaken_turn import retake_turn
from wolflab.lab.storage.store import Place, Store
from wolflab.metrics.behaviours import trust_tables
from wolflab.models.embedders import resolve_embedder
from wolflab.text.asking.wording import moderator_request
from wolflab.text.notes import Answered, Interviewed, Reflected, Suggested
from wolflab.ui.commands.run import run
from wolflab.ui.commands.show import TRUSTS, show_trust

DATA: dict[str, Any] = {
    "name": "learning",
    "rules": {"preset": "witch", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "reflective"}},
    "conditions": {
        "none": {},
        "frozen": {
            "players": {
                "village": {"experience": {"games_of": "source", "games": 2, "draws": 2, "share": 0.5}}
            }
        },
        "growing": {"players": {"village": {"experience": {"grow": 1, "share": 0.5}}}},
        "source": {"deals": 4, "repeats": 1, "first_deal": 100},
    },
    "deals": 2,
    "repeats": 2,
}


def played(path: Path, **changes: Any) -> Store:
    store = Store.create(path, build(copy.deepcopy(DATA) | changes))
    assert runner.play_run(store)
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return played(tmp_path_factory.mktemp("learning") / "run")


def rows(store: Store, condition: str) -> list[Any]:
    return [row for row in store.games() if row.condition == condition]


def suggestions(store: Store, number: int) -> list[Suggested]:
    record = store.record(number)
    return [note for turn in record.turns for _, note in turn.notes if isinstance(note, Suggested)]


def pool_of(store: Store, number: int) -> dict[str, Any] | None:
    found = [player.get("experience") for player in store.record(number).header["players"]]
    return next((one for one in found if one is not None), None)


def test_every_planned_game_is_played_and_plays_back(store: Store) -> None:
    assert {name: len(rows(store, name)) for name in DATA["conditions"]} == {
        "none": 4, "frozen": 4, "growing": 4, "source": 4,
    }  # fmt: skip
    for row in store.games():
        verify_game(store, row, agents=True)


def test_conditions_keep_step_however_their_pools_let_them_begin(tmp_path: Path) -> None:
    """What others learn from is played first; then a run that is cut off has as many games of each."""
    begun: list[tuple[str, int, int]] = []

    def watch(seen: runner.Progress) -> None:
        if seen.last is not None:
            begun.append((seen.last.condition, seen.last.deal, seen.last.repeat))

    with Store.create(tmp_path / "run", build(copy.deepcopy(DATA))) as store:
        assert runner.play_run(store, watch)
    assert list(dict.fromkeys(begun)) == [
        *[("none", 0, 0), ("growing", 0, 0), ("source", 100, 0), ("growing", 0, 1)],
        *[("source", deal, 0) for deal in (101, 102, 103)],  # the next deal waits for all of these
        *[("frozen", 0, 0), ("none", 0, 1), ("frozen", 0, 1)],
        *[(name, 1, repeat) for repeat in (0, 1) for name in ("none", "frozen", "growing")],
    ]


def test_each_repeat_has_its_own_draw_and_the_header_names_the_pool(store: Store) -> None:
    digests: dict[int, set[str]] = {0: set(), 1: set()}
    for row in rows(store, "frozen"):
        described = pool_of(store, row.id)
        assert described is not None
        digests[row.repeat].add(described["digest"])
        players = store.record(row.id).header["players"]
        wolves = [seat for seat, role in enumerate(store.record(row.id).roles) if role == "Werewolf"]
        assert all("experience" not in players[seat] for seat in wolves)
    assert len(digests[0]) == len(digests[1]) == 1
    assert digests[0] != digests[1]
    assert all(pool_of(store, row.id) is None for row in rows(store, "none"))


def test_draws_part_the_games_and_smaller_pools_are_nested(store: Store) -> None:
    pools = Pools(store.experiment, store.path)
    every = store.games()
    (spec,) = store.experiment.experience("frozen")
    taken = {
        repeat: [row.id for row in pools.sources(every, spec, Place("frozen", 0, repeat))]
        for repeat in (0, 1)
    }
    assert len(taken[0]) == len(taken[1]) == 2
    assert not set(taken[0]) & set(taken[1])
    smaller = spec.model_copy(update={"games": 1})
    assert pools.sources(every, smaller, Place("frozen", 0, 0))[0].id == taken[0][0]


def test_a_growing_pool_has_the_earlier_deals_alone(store: Store) -> None:
    for row in rows(store, "growing"):
        if row.deal == 0:
            assert pool_of(store, row.id) is None
            assert suggestions(store, row.id) == []
        else:
            described = pool_of(store, row.id)
            assert described is not None
            earlier = [one for one in rows(store, "growing") if one.deal == 0]
            reflected = sum(
                isinstance(note, Reflected)
                for one in earlier
                for turn in store.record(one.id).turns
                if turn.invalid is None
                for _, note in turn.notes
            )
            assert described["experiences"] == reflected


def test_nothing_is_found_from_the_own_deal(tmp_path: Path) -> None:
    """A pool of the very games that the condition plays again: only other deals may be found in it."""
    first = played(tmp_path / "first", conditions={"none": {}})
    pool = tmp_path / "all.pool"
    asyncio.run(experience.build_pool([first], resolve_embedder("hashing"), pool, share=1.0))
    for same, expected in ((False, False), (True, True)):
        again_ = played(
            tmp_path / f"again-{same}",
            conditions={"all": {}},
            players={
                "others": {
                    "model": "village",
                    "recipe": "reflective",
                    "experience": {"pool": str(pool), "epsilon": -1.0, "same_deal": same, "limit": 500},
                }
            },
        )
        own = 0
        for row in again_.games():
            for one in suggestions(again_, row.id):
                sources = [*one.good, one.bad]
                own += sum(f"|1/{row.deal}/" in id for id in sources if id)
        assert (own > 0) is expected
        again_.close()
    first.close()


@pytest.mark.slow
def test_the_records_are_the_same_with_workers(store: Store, tmp_path: Path) -> None:
    other = played(tmp_path / "workers", workers=2)
    for one, two in zip(store.games(), other.games(), strict=True):
        ours, theirs = store.record(one.id).lines, other.record(two.id).lines
        assert ours[1:] == theirs[1:]
        assert one[1:] == two[1:]
    other.close()


def test_a_run_can_be_taken_up_between_its_stages(store: Store, tmp_path: Path) -> None:
    """As if it had been killed after the source's games: pools are made then, and the games are the same."""
    broken = Store.create(tmp_path / "broken", build(copy.deepcopy(DATA)))
    assert runner.play_run(broken)
    for row in broken.games():
        if row.condition != "source":
            broken._db.execute("UPDATE games SET status = 'unfinished' WHERE id = ?", (row.id,))
    for path in (broken.path / "pools").iterdir():
        path.unlink()
    broken.close()
    resumed = Store.resume(tmp_path / "broken")
    assert runner.play_run(resumed)
    for row in store.games():
        assert resumed.record(row.id).lines == store.record(row.id).lines
    resumed.close()


@pytest.mark.slow
def test_void_games_of_a_source_are_replaced_before_a_pool_is_made_after_a_cut(tmp_path: Path) -> None:
    """A run cut between a source's last planned game and the replacement of its void ones."""
    changes: dict[str, Any] = {
        "rules": {"preset": "sheriff", "sheriff": "contested", "max_rounds": 2},
        "conditions": {
            "source": {"deals": 4, "first_deal": 100},
            "pool": {"players": {"others": {"experience": {"games_of": "source"}}}},
        },
        "deals": 1,
        "repeats": 1,
    }
    whole = played(tmp_path / "whole", **changes)
    sources = rows(whole, "source")
    assert len(sources) > 4  # some were void and replaced
    cut = Store.create(tmp_path / "cut", build(copy.deepcopy(DATA) | changes))
    assert runner.play_run(cut)
    later = [row.id for row in cut.games() if row.condition == "pool" or row.deal >= 104]
    for number in later:
        cut._db.execute("DELETE FROM records WHERE game = ?", (number,))
        cut._db.execute("DELETE FROM games WHERE id = ?", (number,))
    for path in (cut.path / "pools").iterdir():
        path.unlink()
    cut.close()
    resumed = Store.resume(tmp_path / "cut")
    assert runner.play_run(resumed)
    ours, theirs = ({r[1:]: store.record(r.id).lines for r in store.games()} for store in (whole, resumed))
    assert ours == theirs
    whole.close()
    resumed.close()


def test_games_that_teach_nothing_leave_their_players_without_experience(tmp_path: Path) -> None:
    """With one round nobody wins, so there is nothing to learn; the run goes on all the same."""
    rules = {"preset": "witch", "max_rounds": 1}
    store = played(tmp_path / "run", rules=rules)
    assert all(pool_of(store, row.id) is None for row in store.games())
    for row in store.games():
        verify_game(store, row, agents=True)
    store.close()


def test_conditions_alike_in_name_have_pools_of_their_own() -> None:
    data = copy.deepcopy(DATA)
    for name in ("grow-a", "grow_a"):
        data["conditions"][name] = {"players": {"village": {"experience": {"grow": 1}}}}
    experiment = build(data)
    pools = Pools(experiment, Path("run"))
    paths = {pools.at(experiment.experience(name)[0], Place(name, 1, 0)) for name in ("grow-a", "grow_a")}
    assert len(paths) == 2


def test_vectors_of_a_server_are_kept_with_the_run(tmp_path: Path) -> None:
    """Each text is embedded once; with the server gone, the run still plays back, prompts and notes."""
    with running(EmbeddingServer(dimensions=16)) as server:
        embedder = {"embedder": "vectors-1", "base_url": server.base_url}
        spec = {"games_of": "source", "embedder": embedder, "share": 0.9}
        player = {"model": "village", "recipe": "reflective", "embedder": embedder}
        store = played(
            tmp_path / "run",
            players={"others": player},
            conditions={
                "source": {"first_deal": 100},
                "pool": {"players": {"village": {"experience": spec}}},
            },
            deals=2,
            repeats=1,
        )
        sent = [text for body in server.bodies for text in body["input"]]
        assert len(sent) == len(set(sent)) > 50
    assert any(suggestions(store, row.id) for row in rows(store, "pool"))
    for row in store.games():
        verify_game(store, row, agents=True)
    store.close()


def reflecting(embedder: str) -> dict[str, Any]:
    player = {"model": "village", "recipe": "reflective", "embedder": embedder}
    return {"name": "no", "rules": "witch", "players": {"others": player}, "deals": 2}


@pytest.mark.parametrize(
    ("embedder", "missing"),
    [
        (
            "minilm",
            r"'minilm' needs a package that is not installed: pip install 'wolflab\[minilm\]'",
        ),
        ("sentence-transformers/all-mpnet-base-v2", r"not installed .*: pip install 'wolflab\[embeddings\]'"),
        ("openai/text-embedding-3-small", r"embedder 'openai/text-embedding-3-small': .*OPENAI_API_KEY"),
    ],
)
def test_what_an_embedder_lacks_is_said_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: str, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setattr("wolflab.models.embedders.sentences.MINILM_PACKAGE", "no_such_package")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file, to = tmp_path / "x.yaml", tmp_path / "run"
    file.write_text(json.dumps(reflecting(embedder)))
    with pytest.raises(ModelError, match=missing):
        called(run, str(file), out=to)
    assert not to.exists()
    with Store.create(to, build(reflecting(embedder))) as store:
        with pytest.raises(ModelError, match=missing):  # nor is a resumed run tried game by game
            runner.play_run(store)
        assert {row.status for row in store.games()} == {"planned"}


@pytest.mark.parametrize("counting", [True, False])
def test_what_embedding_cost_before_a_stop_counts_after_it(tmp_path: Path, counting: bool) -> None:
    """A spent budget stays spent, also where the server counts no tokens and they are estimated."""
    with running(EmbeddingServer(dimensions=16, usage=counting)) as server:
        embedder = {"embedder": "vectors-1", "base_url": server.base_url}
        data = {
            "name": "thrift",
            "rules": {"preset": "witch", "max_rounds": 2},
            "players": {"others": {"model": "village", "recipe": "reflective", "embedder": embedder}},
            "deals": 2,
            "budget": {"tokens": 400},
        }
        with Store.create(tmp_path / "run", build(data)) as store:
            assert not runner.play_run(store)
            assert any("budget of 400 tokens" in (row.error or "") for row in store.games("unfinished"))
            spent = store.spent().tokens
        asked = len(server.bodies)
        assert 200 < spent <= 400
        with Store.resume(tmp_path / "run") as store:
            assert not runner.play_run(store)
            assert store.spent().tokens == spent
        assert len(server.bodies) == asked > 0
        text = (tmp_path / "run" / "experiment.yaml").read_text()
        (tmp_path / "run" / "experiment.yaml").write_text(text.replace("tokens: 400", "tokens: 4000000"))
        with Store.resume(tmp_path / "run") as store:
            assert runner.play_run(store)
            assert store.spent().tokens > spent
        sent = [one for body in server.bodies for one in body["input"]]
        assert len(sent) == len(set(sent))


def test_one_games_trust_is_drawn_day_by_day(store: Store) -> None:
    out = io.StringIO()
    row = store.games()[0]
    show_trust(Console(file=out, width=100), store.record(row.id))
    printed = out.getvalue()
    tables = trust_tables(store.record(row.id))
    assert [f"day {table.day}" in printed for table in tables] == [True] * len(tables)
    marks = sum(len(table.relations) for table in tables)
    assert printed.count(TRUSTS) == marks + 1  # and one in the legend


def test_a_turn_is_taken_again_without_a_component(store: Store) -> None:
    row = rows(store, "frozen")[0]
    turn = next(turn.ask for turn in store.record(row.id).turns if turn.kind == "vote")
    whole = retake_turn(store, row, turn)
    assert whole.notes is None
    assert "vote for the player" in moderator_request(whole.decision.situation, whole.decision.ask)
    less = retake_turn(store, row, turn, ["reflection"])
    assert less.notes is not None
    kinds = {type(note) for _, note in less.notes}
    assert Answered in kinds
    assert Reflected not in kinds
    assert Suggested not in kinds
    with pytest.raises(ExperimentError, match="without"):
        retake_turn(store, row, turn, ["nonsense"])


def test_conduct_is_counted_and_draws_are_told(tmp_path: Path) -> None:
    counted = played(
        tmp_path / "counted", behaviours=True, interview=True, contrasts=["rounds", "votes_passed"]
    )
    found = summary(counted)
    named = {one.name: one for one in found.conditions}
    assert named["frozen"].measures["decisions_advised"].n > 0
    assert named["frozen"].measures["reasonable"].n > 0
    assert {game.draw for game in games(counted)} == {0, 1}
    assert {one.metric for one in found.contrasts} >= {"rounds", "votes_passed"}
    answers = [
        note
        for row in counted.games()
        for turn in counted.record(row.id).probes
        for _, note in turn.notes
        if isinstance(note, Interviewed)
    ]
    assert answers
    assert all(one.text for one in answers)
    counted.close()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "use one of pool, games_of, grow"),
        ({"grow": 2, "games_of": "source"}, "use one of pool, games_of, grow"),
        ({"grow": 2, "games": 3}, "games and draws belong to games_of"),
        ({"games_of": "sorce"}, "no condition 'sorce'; known are none, frozen, growing, source$"),
        ({"games_of": "source", "games": 3, "draws": 2}, "which plays 4"),
        ({"games_of": "growing"}, "use a condition without experience"),
        ({"games_of": "source", "embedder": "nothing"}, "nothing"),
        ({"pool": "x.pool", "of": "losers"}, "taken as it is"),
        ({"games_of": "source", "draws": 4}, "multiple of draws"),
        ({"games_of": "source", "window": [995, 993]}, "backwards"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(spec: dict[str, Any], words: str) -> None:
    data = copy.deepcopy(DATA)
    data["conditions"]["frozen"]["players"]["village"]["experience"] = spec
    with pytest.raises(ExperimentError, match=words):
        build(data)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"planted": {"player": "nobody", "conditions": ["none"]}}, "nobody is called 'nobody'"),
        ({"curve": {"x": "x", "points": {"none": float("nan")}, "measures": ["rounds"]}}, "use a number"),
        ({"curve": {"x": "x", "points": {"nowhere": 1}, "measures": ["rounds"]}}, "nowhere"),
        ({"curve": {"x": "x", "points": {"none": 1}, "measures": ["beauty"]}}, "beauty"),
        ({"contrasts": ["beauty"]}, "beauty"),
        ({"deals": 10**12}, "deals"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_the_first_game(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        build(copy.deepcopy(DATA) | changes)


def test_a_source_that_does_not_reflect_is_refused() -> None:
    data = copy.deepcopy(DATA)
    data["conditions"]["source"]["players"] = {"others": {"recipe": "vanilla"}}
    with pytest.raises(ExperimentError, match="nobody in source writes reflections"):
        build(data)


def test_experience_is_for_players_that_reflect() -> None:
    data = copy.deepcopy(DATA)
    data["players"]["others"]["recipe"] = "deductive"
    with pytest.raises(ExperimentError, match="does not reflect"):
        build(data)


def test_a_missing_pool_and_another_embedder_are_told_before_the_first_game(tmp_path: Path) -> None:
    players = {"others": {"model": "village", "recipe": "reflective", "experience": {"pool": "missing.pool"}}}
    with pytest.raises(StoreError, match=r"missing\.pool"):
        played(tmp_path / "a", players=players, conditions={"all": {}})
    first = played(tmp_path / "first", conditions={"none": {}}, deals=1, repeats=1)
    pool = tmp_path / "wide.pool"
    wide = {"embedder": "hashing", "dimensions": 64}
    asyncio.run(experience.build_pool([first], resolve_embedder(wide), pool))
    players["others"]["experience"] = {"pool": str(pool)}
    with pytest.raises(ModelError, match="dimensions"):
        played(tmp_path / "b", players=players, conditions={"all": {}})
    players["others"]["experience"] = {"pool": str(pool), "embedder": wide}
    taken = played(tmp_path / "c", players=players, conditions={"all": {}}, deals=1, repeats=1)
    pool.unlink()  # the run has a copy of its own
    for row in taken.games():
        verify_game(taken, row, agents=True)
    taken.close()
    first.close()
