"""What the commands tell whoever has a model at an address of their own, from the first look at it on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import http_server
from command_line import wolflab
from http_server import FakeServer, Fault
from wolflab.models.servers import served


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with http_server.running(models=("acme",)) as made:
        yield made


def braces(server: FakeServer) -> str:
    return f'{{model: acme, base_url: "{server.base_url}"}}'


@pytest.mark.parametrize(
    "words",
    [
        ("models", "--check"),
        ("play", "--pace", "0", "--set", "rules.max_rounds=1", "--recipe", "vanilla", "--model"),
        ("tournament", "--entrant", "random", "--entrant", "vanilla", "--deals", "1", "--model"),
    ],
    ids=lambda words: words[0],
)
def test_a_model_in_braces_is_taken_by_every_command(
    server: FakeServer, words: tuple[str, ...], tmp_path: Path
) -> None:
    told = wolflab(*words, braces(server), cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert words[0] != "models" or told.stdout.startswith("acme: reached\n")
    assert server.calls, "a word is asked for though the server lists the model"


def test_braces_that_hold_no_model_say_what_to_write(tmp_path: Path) -> None:
    for given, said in (("{model: acme, base_url", "hold no mapping"), ("{base_url: x}", "need 'model'")):
        told = wolflab("models", "--check", given, cwd=tmp_path)
        assert told.returncode == 2
        assert said in told.stderr


# -- keys ---------------------------------------------------------------------------------------


def test_a_server_that_wants_a_key_and_got_none_says_how_to_name_one(
    server: FakeServer, tmp_path: Path
) -> None:
    server.key = "secret"
    for words in (("models", "--check"), ("play", "--pace", "0", "--model")):
        told = wolflab(*words, braces(server), cwd=tmp_path)
        assert told.returncode == 2
        assert "wants a key, and none was sent (HTTP status 401)" in told.stderr
        assert "api_key_env: MY_KEY" in told.stderr


def test_whoever_lacks_a_key_may_be_given_another_model(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ZHIPUAI_API_KEY", raising=False)
    told = wolflab("run", "helmsman-table1", "--set", f"others.model={braces(server)}", cwd=tmp_path)
    assert told.returncode == 2
    assert "set ZHIPUAI_API_KEY" in told.stderr
    assert "; or name another model: --set sheriff.model=…; to try it without one, on the" in told.stderr
    assert not server.calls


# -- going on -----------------------------------------------------------------------------------


def test_a_run_that_is_over_says_that_nothing_was_left(server: FakeServer, tmp_path: Path) -> None:
    fields = {
        "name": "t",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "max_rounds": 1},
        "players": {"others": {"model": {"model": "acme", "base_url": server.base_url}, "recipe": "vanilla"}},
        "straw_polls": 2,
        "deals": 1,
    }
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(fields))
    first = wolflab("run", "t.yaml", "--out", "r", cwd=tmp_path)
    again = wolflab("run", "--resume", "r", cwd=tmp_path)
    notice, nothing = "The straw poll is taken twice", "All games were over before: nothing was left to play"
    assert (first.returncode, again.returncode) == (0, 0), first.stderr
    assert notice in first.stdout
    assert nothing not in first.stdout
    assert notice not in again.stdout
    assert nothing in again.stdout


def test_a_server_that_stops_answering_is_told_of_once_and_so_is_its_return(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "FIRST_WAIT", 0.01)
    model = {"model": "acme", "base_url": server.base_url, "max_in_flight": 1}
    fields = {"name": "t", "players": {"others": {"model": model, "recipe": "vanilla"}}, "deals": 1}
    fields["rules"] = {"preset": "doctor", "max_rounds": 1}
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(fields))
    server.faults.extend([Fault("status", 503)] * 5)
    told = wolflab("run", "t.yaml", "--out", "r", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    lines = [line for line in told.stdout.splitlines() if line.startswith("The server at")]
    assert len(lines) == 2
    assert lines[0].startswith(f"The server at {server.base_url} gives no answer (The server had")
    assert "one of them is tried 6 times more, with waits of up to 3 s in all" in lines[0]
    assert lines[1] == f"The server at {server.base_url} answers again"
    server.faults.extend([Fault("status", 503)] * 2)
    brief = wolflab("run", "t.yaml", "--out", "s", cwd=tmp_path)
    assert "The server at" not in brief.stdout
