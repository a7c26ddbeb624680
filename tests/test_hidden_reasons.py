"""The switch by which players are asked to hide their reasons: it changes prompts, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from wolflab.agents.recipes import RECIPES, recipe
from wolflab.errors import ExperimentError
from wolflab.lab.plans.loading import build
from wolflab.lab.runs.runner import play_run
from wolflab.lab.storage.store import Store
from wolflab.models.base import Request, Response
from wolflab.models.village.player import Village
from wolflab.record import GameRecord
from wolflab.text.asking.prompts import messages
from wolflab.text.asking.templates import phrases
from wolflab.text.asking.wording import gives_reasons
from wolflab.text.notes import Exchanged

SENTENCE = phrases("sections", 0)["hide_reasons"].template
Prompts = dict[str, tuple[bool, list[str]]]
"""Key of a call → whether its reply holds reasons, and the texts of its messages."""


def played(
    path: Path, recipe: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[GameRecord, Prompts, str]:
    """A game of one recipe with a probe for trust: its record, its prompts, and the recipe in its header."""
    prompts: Prompts = {}
    generate = Village.generate

    async def noted(self: Village, request: Request) -> Response:
        texts = [content for _, content in messages(request.question, request.corrections)]
        prompts[request.key] = gives_reasons(request.question.task), texts
        return await generate(self, request)

    data = {
        "name": "hiding",
        "rules": {"preset": "witch", "max_rounds": 2},
        "players": {"others": {"model": "village", "recipe": recipe}},
        "probes": ["rate"],
        "deals": 1,
    }
    with monkeypatch.context() as patched, Store.create(path, build(data)) as store:
        patched.setattr(Village, "generate", noted)
        assert play_run(store)
        record = store.record(store.games()[0].id)
    return record, prompts, str(record.header["players"])


@pytest.mark.parametrize(
    "name", ["vanilla", "deductive", "dialogue", "deductive-004", "recon", "diverse", "reflective"]
)
def test_one_sentence_in_prompts_for_reasons_and_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The built-in player reads no prompts, so the games are the same, reasons too."""
    record, prompts, header = played(tmp_path / "open", {"name": name}, monkeypatch)
    hidden, asked, told = played(tmp_path / "hidden", {"name": name, "hide_reasons": True}, monkeypatch)
    assert ("hide_reasons" in header, "hide_reasons" in told) == (False, True)
    assert record.events == hidden.events
    for one, other in zip(record.turns, hidden.turns, strict=True):
        assert [note for _, note in one.notes if not isinstance(note, Exchanged)] == [
            note for _, note in other.notes if not isinstance(note, Exchanged)
        ]
    assert prompts.keys() == asked.keys()
    assert {reasons for reasons, _ in asked.values()} == {True, False}
    for key, (reasons, texts) in asked.items():
        assert (SENTENCE in texts[-1]) == reasons, key
        assert [text.replace(f"{SENTENCE}\n\n", "") for text in texts] == prompts[key][1]


def test_a_recipe_without_reasons_has_nothing_to_hide() -> None:
    for name in RECIPES:
        assert recipe(name).with_(hide_reasons=True).stated()["hide_reasons"] is True
    bare = recipe("reflective").with_(without=["questions", "reflection", "reasoning"])
    with pytest.raises(ExperimentError, match="field hide_reasons: got True; use false: without questions"):
        bare.with_(hide_reasons=True)
