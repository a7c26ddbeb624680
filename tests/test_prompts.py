"""What players were sent and what they replied: the same from what was kept and from playing again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import http_server
from wolflab.cli import app
from wolflab.errors import CassetteMismatch, RecordError, WolflabError
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import prompts, runner
from wolflab.lab.runs.prompts import PromptShown, prompts_of
from wolflab.lab.runs.replay import requests
from wolflab.lab.storage.store import Store


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two games at which a model behind a server sits among built-in players, and one that was not begun."""
    with http_server.running() as server:
        model = {"model": "wolf-1", "base_url": server.base_url}
        fields: dict[str, Any] = {
            "name": "mixed",
            "rules": {"preset": "witch", "max_rounds": 1},
            "players": {
                "others": {"model": "village", "recipe": "deductive"},
                "Player 1": {"model": model, "recipe": "reflective"},
            },
            "straw_polls": 1,
            "deals": 2,
        }
        path = tmp_path_factory.mktemp("prompts") / "r"
        with Store.create(path, build(fields)) as store:
            assert runner.play_run(store)
            store.plan([("all", 9, 0)])
            yield store


def test_every_call_is_there_once_with_what_was_sent_and_what_came(mixed: Store) -> None:
    for game in (1, 2):
        shown = {f"{mixed.record(game).header['play']}|{one.key}": one for one in prompts_of(mixed, game)}
        calls = list(mixed.calls_with_prompts(game))
        again = {request.key: request.words.messages for request in requests(mixed, mixed.game(game))}
        assert len(list(prompts_of(mixed, game))) == len(calls) == len(shown)
        assert {bool(call.get("messages")) for call in calls} == {True, False}, "kept, and played again"
        for call in calls:
            one = shown[call["key"]]
            assert one.reply == call["text"]
            assert one.messages == again[call["key"]]
            assert one.key == f"{one.ask}|{one.step}|{call['key'].rpartition('|')[2]}"
            assert one.seat == int(one.ask.rpartition("/")[2])


def test_asks_stand_as_they_began_and_their_calls_as_they_were_made(mixed: Store) -> None:
    record = mixed.record(1)
    asks = [ask for ask, _ in groupby(prompts_of(mixed, 1), lambda one: one.ask)]
    assert len(asks) == len(set(asks)), "those of one ask stand together"
    begun = {turn.ask: turn.at for turn in (*record.turns, *record.probes)}
    assert [begun[ask] for ask in asks] == sorted(begun[ask] for ask in asks)
    steps = [one.step for one in prompts_of(mixed, 1) if one.seat == 0 and one.ask.startswith("1/vote/")]
    assert steps[0].startswith("questions")
    assert steps[-1] == "act"


def test_a_game_that_is_not_over_shows_what_was_kept(mixed: Store) -> None:
    assert list(prompts_of(mixed, 3)) == []


def test_where_it_cannot_be_played_again_the_rest_is_shown(
    mixed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> object:
        raise CassetteMismatch("the request differs")

    whole = {one.key: one for one in prompts_of(mixed, 1)}
    monkeypatch.setattr(prompts, "requests", refused)
    left = list(prompts_of(mixed, 1))
    assert {one.key for one in left} == set(whole)
    assert all(one in (whole[one.key], whole[one.key]._replace(messages=())) for one in left)
    assert {one.seat for one in left if one.messages} == {0}
    monkeypatch.setattr(Store, "calls_with_prompts", lambda store, game: iter([_bare(whole)]))
    with pytest.raises(CassetteMismatch, match="the request differs"):
        list(prompts_of(mixed, 1))


def _bare(whole: dict[str, PromptShown]) -> dict[str, Any]:
    return {"key": f"1/1|{next(iter(whole))}", "model": "village", "text": ""}


def test_a_persons_call_has_no_prompt_and_erased_words_leave_none(tmp_path: Path) -> None:
    def typed(words: list[str], lines: str = "") -> None:
        done = CliRunner().invoke(app, words, input=lines, env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.output

    out, secret = tmp_path / "table", "owls lie at noon"
    lines = "1\n" + f"{secret}\n" * 5 + "1\n" * 400
    typed(["play", "--human", "1", "--out", str(out), "--pace", "0", "--role", "Villager"], lines)
    with Store.open_for_reading(out) as store:
        shown = list(prompts_of(store, 1))
        assert {bool(one.messages) for one in shown if one.seat == 0} == {False}
        assert {bool(one.messages) for one in shown if one.seat != 0} == {True}
        assert any(secret in text for one in shown for _, text in one.messages)
    typed(["erase", str(out), "--seat", "1"])
    with Store.open_for_reading(out) as store, pytest.raises(RecordError, match="erased on request"):
        list(prompts_of(store, 1))
    words = ["ask-again", str(out), "--model", "village", "-o", str(tmp_path / "again")]
    assert "words of all of them were erased" in str(CliRunner().invoke(app, words).exception)


def test_a_game_that_is_not_there_is_a_sentence(mixed: Store) -> None:
    with pytest.raises(WolflabError, match="has no game 9"):
        list(prompts_of(mixed, 9))
