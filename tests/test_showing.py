"""`wolflab show`: a way from advice to the turn it came from, what was before a player, what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import http_server
from command_line import called
from wolflab.errors import ExperimentError, RecordError, ServerError
from wolflab.lab.experience.run_pools import Pools
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.runs.retaken_turn import NEAR, retake_turn
from wolflab.lab.storage.store import GameRow, Store
from wolflab.rules import Said
from wolflab.text.notes import Answered, Interviewed, Recalled, Suggested, Thought
from wolflab.ui.commands.show import show, turn_of
from wolflab.ui.notes import message_numbers, numbers

DATA: dict[str, Any] = {
    "name": "learning",
    "rules": {"preset": "witch", "max_rounds": 2},
    "players": {"others": {"model": "village", "recipe": "reflective"}},
    "conditions": {
        "bare": {"players": {"others": {"recipe": {"name": "reflective", "without": ["recent"]}}}},
        "taught": {"players": {"others": {"experience": {"games_of": "source", "share": 0.6}}}},
        "source": {"deals": 3, "first_deal": 100},
    },
    "deals": 1,
    "interview": True,
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.create(tmp_path_factory.mktemp("showing") / "r", build(DATA)) as made:
        assert runner.play_run(made)
        yield made


def game_of(store: Store, condition: str) -> GameRow:
    return next(row for row in store.games("done") if row.condition == condition)


def printed(store: Store, game: int | None, width: int = 4000, **options: Any) -> str:
    return called(show, store.path, game, width=width, **options).stdout


def advised(store: Store, game: int) -> tuple[str, Suggested]:
    """A turn for which past games gave advice."""
    return next(
        (turn.ask, note)
        for turn in store.record(game).turns
        for _, note in turn.notes
        if isinstance(note, Suggested) and note.text
    )


# -- which games there are, and who sat where ----------------------------------------------------------


def test_without_a_number_the_games_are_listed(store: Store, tmp_path: Path) -> None:
    head, *lines = [line.split() for line in printed(store, None).splitlines()]
    assert head == ["game", "deal", "repeat", "rounds", "won", "by", "condition"]
    games = store.games()
    assert [int(line[0]) for line in lines[:-1]] == [game.id for game in games]
    for line, game in zip(lines, games, strict=False):
        record = store.record(game.id)
        assert record.outcome is not None
        won = {True: "village", False: "Werewolves", None: "nobody"}[record.outcome.village_won]
        assert line[1:4] == [str(game.deal), str(game.repeat), str(record.facts.round)]
        assert won in line
        assert line[-1] == game.condition


def test_a_page_reads_its_own_games_and_names_the_next(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    row_of = Store.stored_row

    def reading(self: Store, game: int) -> Any:
        read.append(game)
        return row_of(self, game)

    every = [line.split() for line in printed(store, None).splitlines()[1:-1]]
    monkeypatch.setattr("wolflab.ui.commands.show._PAGE", 2)
    monkeypatch.setattr(Store, "stored_row", reading)
    pages = [printed(store, None, page=page).splitlines() for page in (1, 2, 3)]
    assert [line.split() for _, *lines, _, _ in pages for line in lines] == every
    assert read == [row.id for row in store.games()]
    assert pages[0][-2] == f"Games 1 to 2 of 5; the next: wolflab show {store.path} --page 2"
    assert pages[2][-2] == "Games 5 to 5 of 5"
    with pytest.raises(ExperimentError, match=r"--page 4: the list of .* has 3 pages"):
        printed(store, None, page=4)


def test_what_became_of_a_game_stands_in_the_list(tmp_path: Path) -> None:
    data = {"name": "x", "players": {"others": {"model": "village"}}, "deals": 3}
    with Store.create(tmp_path / "r", build(data)) as made:
        made.plan([("all", deal, 0) for deal in range(3)])
        made.stop(1, "failed", "Boom: it broke")
        made.stop(2, "unfinished", "the budget is spent")
        listed = printed(made, None)
    for words in ("failed: Boom: it broke", "unfinished: the budget is spent", "planned"):
        assert words in listed


def test_a_flag_of_one_game_needs_its_number(store: Store) -> None:
    with pytest.raises(ExperimentError, match="which game"):
        printed(store, None, thoughts=True)


def test_a_game_begins_with_who_sat_where(store: Store) -> None:
    game = game_of(store, "bare").id
    record = store.record(game)
    for seat, name in enumerate(record.ruleset.names):
        assert f"  {name}, {record.roles[seat]}: village · reflective" in printed(store, game)
    own = printed(store, game, as_=record.ruleset.names[0])
    assert f"  {record.ruleset.names[0]}, {record.roles[0]}: village" in own
    assert f"  {record.ruleset.names[1]}: village · reflective" in own


# -- from advice to the turn that it came from --------------------------------------------------------


def test_advice_names_the_past_turns_it_was_drawn_from_and_how_to_see_them(store: Store) -> None:
    game = game_of(store, "taught").id
    turn, suggested = advised(store, game)
    ids = (suggested.bad, *suggested.good)
    page = printed(store, game, turn=turn)
    commands = re.findall(r"wolflab show (\S+) (\d+) --turn (\S+)", page)
    assert len(commands) == len(ids)
    for (run, number, ask), experience in zip(commands, ids, strict=True):
        assert run == str(store.path)
        past = store.game(int(number))
        header = store.record(past.id).header
        assert experience == f"{header['condition']}|{header['play']}|{ask}"
        assert past.condition == "source"
        assert printed(store, past.id, turn=ask)  # and it is a turn that can be shown
    thoughts = printed(store, game, thoughts=True)
    assert f"read as bad: {suggested.bad}" in thoughts
    assert f"read as good: {', '.join(suggested.good)}" in thoughts


def test_past_turns_of_a_pool_from_a_file_keep_their_own_names(store: Store, tmp_path: Path) -> None:
    """Its games may be of any run: a game of this one by the same name would be another."""
    pools = Pools(store.experiment, store.path)
    source = pools.at(store.experiment.experience("taught")[0], place_of(store))
    assert source is not None
    data = DATA | {
        "conditions": {
            "taught": {"players": {"others": {"experience": {"pool": str(source.path)}}}},
            "source": {"first_deal": 100},
        }
    }
    with Store.create(tmp_path / "r", build(data)) as other:
        assert runner.play_run(other)
        game = game_of(other, "taught").id
        turn, suggested = advised(other, game)
        page = printed(other, game, turn=turn)
    assert "wolflab show" not in page
    past, _, ask = suggested.bad.rpartition("|")
    assert f"bad: game {past} of the runs that the pool was made of, {ask}" in page


def place_of(store: Store) -> Any:
    from wolflab.lab.storage.store import Place

    return Place.of(game_of(store, "taught"))


# -- what a player had before it ----------------------------------------------------------------------


def test_messages_are_named_by_the_numbers_under_which_prompts_show_them(store: Store) -> None:
    game = game_of(store, "source").id
    past = [one for one in store.record(game).turns if one.kind == "vote"][-1]
    page = printed(store, game, turn=past.ask, prompts=True)
    (memory,) = [note for _, note in past.notes if isinstance(note, Recalled)]
    assert f"has the latest {message_numbers(memory.recent)} before it" in page
    retrieved = [note.retrieved for _, note in past.notes if isinstance(note, Answered)]
    assert any(retrieved)
    for places in retrieved:
        assert not places or f"[from {message_numbers(places)}]" in page
    prompt = page.split("act|0", 1)[1]
    shown = {int(number) for number in re.findall(r"^\[(\d+)\] ", prompt, re.MULTILINE)}
    assert shown == {place + 1 for place in (*memory.recent, *memory.informative)}


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ((4,), "message 5"),
        ((2, 0), "messages 1, 3"),
        ((0, 1), "messages 1, 2"),
        ((3, 4, 5, 9), "messages 4 to 6, 10"),
        ((), "messages (none)"),
    ],
)
def test_numbers_of_messages(places: tuple[int, ...], words: str) -> None:
    assert message_numbers(places) == words
    assert numbers(places) in words


def test_prompts_are_narrowed_to_a_step(store: Store) -> None:
    game = game_of(store, "source").id
    turn = next(one for one in store.record(game).turns if one.kind == "vote").ask
    one = printed(store, game, turn=turn, prompts=True, step="answer/3")
    assert one.count("reply\n") == 1
    assert f"{turn}|answer/3|0" in one
    answers = printed(store, game, turn=turn, prompts=True, step="answer")
    assert answers.count("reply\n") == 7
    everywhere = printed(store, game, prompts=True, as_="player_1", step="reflect")
    assert 1 < everywhere.count("reply\n") == everywhere.count("|reflect|0")
    with pytest.raises(
        RecordError, match=r"no such step here; there are questions/choose, .*answer/7, .*act"
    ):
        printed(store, game, turn=turn, prompts=True, step="answer/8")


def test_an_interview_stands_before_the_next_players_thoughts(store: Store) -> None:
    """It is about what has just been said, and whoever thinks next says something else."""
    asked = 0
    for row in store.games("done"):
        record = store.record(row.id)
        text = printed(store, row.id, thoughts=True)
        for probe in record.probes:
            words = [note.text for _, note in probe.notes if isinstance(note, Interviewed)]
            said = record.events[probe.at - 1]
            if not words or not isinstance(said, Said):
                continue
            asked += 1
            after = text.split(said.text, 1)[1]
            nexts = [t for t in record.turns if t.at == probe.at and t.seat >= 0]
            thoughts = [note.text for t in nexts for _, note in t.notes if isinstance(note, Thought)]
            for thought in thoughts:
                assert after.index(words[0]) < after.index(thought)
    assert asked


@pytest.mark.parametrize("options", [{}, {"trust": True}, {"thoughts": True}, {"turn": ""}])
def test_a_game_is_told_by_its_condition_and_its_cards(store: Store, options: dict[str, Any]) -> None:
    row = game_of(store, "source")
    if "turn" in options:
        options = {"turn": next(one.ask for one in store.record(row.id).turns if one.kind == "vote")}
    first = printed(store, row.id, **options).splitlines()[0]
    assert first == f"game {row.id}: condition source, deal {row.deal}, repeat 0"
    assert row.deal >= 100


def test_a_turn_is_named_by_its_player_too(store: Store) -> None:
    """The seat of an ask counts from 0, and no player is called so."""
    game = game_of(store, "source").id
    turn = next(one for one in store.record(game).turns if one.kind == "vote" and one.seat)
    place = turn.ask.rpartition("/")[0]
    page = printed(store, game, turn=turn.ask)
    name = store.record(game).ruleset.names[turn.seat]
    assert f"{name} · {turn.ask}" in page
    for spelled in (name, name.upper(), name.replace(" ", "_")):
        assert printed(store, game, turn=f"{place}/{spelled}") == page
    assert printed(store, game, turn=f"{place}/{name}", as_=name) == page
    assert f"{turn.ask}|" in printed(store, game, turn=f"{place}/{name}", prompts=True)


# -- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trust": True, "as_": "player_1"}, "takes no --as"),
        ({"trust": True, "turn": "1/vote/0"}, "takes no --turn"),
        ({"trust": True, "thoughts": True}, "takes no --thoughts"),
        ({"trust": True, "prompts": True}, "takes no --prompts"),
        ({"without": ["recent"]}, "belongs to --turn"),
        ({"step": "act"}, "add --prompts"),
        ({"page": 2}, "leave it out, or the game's number 1"),
        ({"turn": "1/vote/0", "as_": "player_3"}, "is not a turn of player_3.*has seat 2"),
        ({"turn": "1/vote/0", "as_": "nobody"}, "--as nobody: there is no such player"),
        ({"turn": "1/vote/nobody"}, "--turn nobody: there is no such player; the players are Player 1, "),
    ],
)
def test_options_that_have_nothing_to_say_together(store: Store, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        printed(store, 1, **options)


def test_a_turn_and_its_own_player_go_together(store: Store) -> None:
    game = game_of(store, "source").id
    turn = next(one for one in store.record(game).turns if one.kind == "vote")
    assert printed(store, game, turn=turn.ask, as_=f"player_{turn.seat + 1}")


@pytest.mark.parametrize(
    ("turn", "ask"),
    [("2/vote/player_4", "2/vote/3"), ("2/statement/player_4/2", "2/statement/3/2"), ("2/vote", "2/vote")],
)
def test_a_turn_may_name_its_player(turn: str, ask: str) -> None:
    assert turn_of([f"player_{n}" for n in range(1, 8)], turn) == ask


@pytest.mark.parametrize(("turn", "first"), [("1/vote/9", "1/vote/"), ("vote", "1/vote/"), ("x", "1/")])
def test_a_wrong_turn_is_answered_by_the_turns_most_like_it(store: Store, turn: str, first: str) -> None:
    game = game_of(store, "source").id
    with pytest.raises(RecordError) as error:
        retake_turn(store, store.game(game), turn)
    told = str(error.value).partition("such as ")[2].partition(" (and ")[0].split(", ")
    assert len(told) == NEAR
    assert told[0].startswith(first)
    assert f"(and {len(store.record(game).turns)} more)" not in str(error.value)
    assert re.search(r"\(and \d+ more\)", str(error.value))


@pytest.mark.parametrize(
    ("condition", "component", "words"),
    [
        ("bare", "recent", "plays without recent already"),
        ("bare", "suggestion", "has no suggestions from past games"),
    ],
)
def test_a_component_that_is_not_there_cannot_be_removed(
    store: Store, condition: str, component: str, words: str
) -> None:
    row = game_of(store, condition)
    turn = next(one.ask for one in store.record(row.id).turns if one.kind == "vote")
    with pytest.raises(RecordError, match=words):
        retake_turn(store, row, turn, [component])


def test_a_turn_whose_model_cannot_be_reached_is_not_said_to_be_resumable(tmp_path: Path) -> None:
    with http_server.running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url, "retries": 1, "timeout": 20}
        data = {
            "name": "gone",
            "rules": {"preset": "witch", "max_rounds": 1},
            "players": {
                "others": {"model": "village", "recipe": "vanilla"},
                "Player 1": {"model": model, "recipe": {"name": "reflective", "retries": 0}},
            },
            "deals": 1,
        }
        made = Store.create(tmp_path / "r", build(data))
        assert runner.play_run(made)
        turn = next(one.ask for one in made.record(1).turns if one.seat == 0 and one.calls)
        # It fails only when it is asked for words: what a run is told then is put otherwise, too.
        server.faults.extend([http_server.Fault("status", 503)] * 200)
        with pytest.raises(ServerError, match=r"failed 2 times.*; the turn was not taken again") as error:
            retake_turn(made, made.game(1), turn, ["reasoning"])
        assert "resume" not in str(error.value)
        calls = server.calls
    with pytest.raises(ServerError, match=r"nothing answers at .*; the turn was not taken again"):
        retake_turn(made, made.game(1), turn, ["reasoning"])
    assert server.calls == calls
    made.close()
