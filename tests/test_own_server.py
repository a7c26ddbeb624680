"""What the commands tell whoever has a model at an address of their own, from the first look at it on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import http_server
from command_line import wolflab
from http_server import FakeServer


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
        ("play", "--pace", "0", "-o", "rules.max_rounds=1", "--recipe", "vanilla", "--model"),
        ("tournament", "--entrant", "random", "--entrant", "vanilla", "--deals", "1", "--model"),
    ],
    ids=lambda words: words[0],
)
def test_a_model_in_braces_is_taken_by_every_command(
    server: FakeServer, words: tuple[str, ...], tmp_path: Path
) -> None:
    told = wolflab(*words, braces(server), cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert words[0] != "models" or told.stdout == "acme: reached\n"
    assert server.calls or words[0] == "models"


def test_braces_that_hold_no_model_say_what_to_write(tmp_path: Path) -> None:
    for given, said in (("{model: acme, base_url", "hold no mapping"), ("{base_url: x}", "need 'model'")):
        told = wolflab("models", "--check", given, cwd=tmp_path)
        assert told.returncode == 2
        assert said in told.stderr
