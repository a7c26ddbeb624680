"""Talk that is not English: it is told apart, and nothing counts as absent from it, in any number or page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

import wolflab
from wolflab.agents import OwnAgent, Reply
from wolflab.agents.base import IO
from wolflab.env import WerewolfAEC
from wolflab.lab.plans.loading import build
from wolflab.lab.results.extras import extras
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.metrics.behaviours import detected_behaviours
from wolflab.metrics.observed import MeasuringOptions
from wolflab.metrics.registry import MEASURES
from wolflab.metrics.rows import row_of
from wolflab.rules import PRESETS, Ask, Said, Say, View
from wolflab.text.reading import can_be_read
from wolflab.ui.replay.story import story_of
from wolflab.ui.report.report import render_report
from wolflab.ui.terminal.tables import print_summary

READING = Path(__file__).with_name("reading")
LABELLED = ("blind", "fresh", "papers", "train", "train2", "train3")
FOREIGN = yaml.safe_load((READING / "unread.yaml").read_text("utf-8"))
SHORT = (
    "ok",
    "Player 3.",
    "...",
    "",
    "P3",
    "Sus!",
    "3",
    "Vote 3!",
    "🐺",
    "hm",
    "No.",
    "player_3 player_4",
    "same",
)


@pytest.mark.parametrize("name", LABELLED)
def test_labelled_english_can_be_read(name: str) -> None:
    texts = [one["text"] for one in yaml.safe_load((READING / f"{name}.yaml").read_text("utf-8"))]
    assert len(texts) > 200
    assert [text for text in texts if not can_be_read(text)] == []


@pytest.mark.parametrize("language", FOREIGN)
def test_other_languages_cannot(language: str) -> None:
    assert [text for text in FOREIGN[language] if can_be_read(text, ("Player 0", "Player 1"))] == []


def test_short_statements_and_names_are_no_other_language() -> None:
    assert [text for text in SHORT if not can_be_read(text)] == []
    names = ("Bürgermeister", "Großmutter", "Rotkäppchen", "Jäger", "Müller")
    assert can_be_read("Rotkäppchen, Großmutter, Jäger and Müller: who lies?", names)
    assert not can_be_read("我验3号狼人")
    assert can_be_read("He called it 狼人, which is the word for Werewolf.")


@pytest.mark.parametrize("rules", PRESETS)
def test_all_that_the_built_in_player_says_can_be_read(rules: str, tmp_path: Path) -> None:
    data = {"name": "x", "rules": rules, "players": {"others": {"model": "village", "recipe": "deductive"}}}
    with Store.create(tmp_path / "run", build({**data, "deals": 3})) as store:
        assert runner.play_run(store)
        records = [store.record(row.id) for row in store.games()]
    said = [event.text for one in records for event in one.events if isinstance(event, Said) and event.text]
    assert len(said) > 10
    assert [text for text in said if not can_be_read(text, PRESETS[rules].names)] == []


# -- a run in which some do not speak English --------------------------------------------------

SAID = {
    "english": "I trust {0}, who is no Werewolf, and I suspect {1}. Let us vote for {1} today.",
    "chinese": "我相信{0}是好人，但是{1}很可疑，今天投{1}。",
    "german": "Ich vertraue {0}, und {1} kommt mir verdächtig vor. Wir sollten heute gegen {1} stimmen.",
}


@dataclass
class Speaker(OwnAgent):
    """Says the same in its language and votes by lot."""

    language: str = "english"

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        if ask.options is not None:
            return Reply(ask.options[io.draw("pick", len(ask.options))])
        others = [view.ruleset.names[seat] for seat in view.facts.living if seat != view.seat]
        return Reply(Say(SAID[self.language].format(*others)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    agents = {name: {"recipe": {"name": f"{__name__}:Speaker", "language": name}} for name in SAID}
    data: dict[str, Any] = {
        "name": "talk",
        "rules": {"preset": "sheriff", "sheriff": "drawn", "max_rounds": 2},
        "players": {"others": {"recipe": f"{__name__}:Speaker"}},
        "conditions": {
            **{name: {"players": {"others": agents[name]}} for name in SAID},
            "one side": {"players": {"Werewolf": agents["chinese"]}},
            "one of many": {"players": {"Seer": agents["chinese"]}},
        },
        "deals": 3,
        "behaviours": True,
        "straw_polls": 1,
    }
    with Store.create(tmp_path_factory.mktemp("unread") / "run", build(data)) as store:
        assert runner.play_run(store)
        yield store


def test_what_was_not_read_is_missing_from_every_measure_of_talk(run: Store) -> None:
    found = {condition.name: condition.measures for condition in summary(run).conditions}
    read = found["english"]
    assert read["unread"].value == 0
    assert read["trust_village"].value
    of_talk = [name for name, measure in MEASURES.items() if measure.section in ("behaviours", "trust")]
    of_talk += ["reasonable", "dc_words", "persuasion"]
    for language in ("chinese", "german"):
        measures = found[language]
        assert measures["unread"].value == 1
        assert measures["unread"].n > 10
        for name in of_talk:
            assert measures[name].value is None, name
            assert measures[name].n == 0, name
        assert measures["trust_village"].missing == 3
        assert measures["dc"].n == read["dc"].n, "votes are counted as ever"


def test_what_a_side_showed_is_missing_where_it_alone_was_not_read(run: Store) -> None:
    found = {condition.name: condition.measures for condition in summary(run).conditions}["one side"]
    village = [name for name in found if name.endswith(("_village", "_village_games"))]
    village = [name for name in village if MEASURES[name].section == "behaviours"]
    assert found["leadership_village"].value
    for name in village:
        other = found[name.replace("_village", "_werewolves")]
        if name.startswith("contradictions"):  # a share of statements, and not a number of each game
            assert found[name].n > 0, name
            assert other.n == 0, name
            continue
        assert (found[name].n, other.n, other.missing) == (3, 0, 3), name
    for name in ("trust_relations", "trust_established", "reasonable"):
        assert found[name].n == 0, name
    page = render_report(summary(run), extras=extras(run, summary(run)))
    lacking = re.findall(r"Not seen in any game \(games: (.*?)\): (.*?)\. ", page)
    assert lacking
    for games, names in lacking:
        assert "one side" not in games or "(the Werewolves)" not in names


def test_nothing_follows_from_what_an_unread_statement_may_have_said(run: Store) -> None:
    """It may have uncovered a role, or said what others cite of it."""
    for row in run.games():
        seen = detected_behaviours(run.record(row.id))
        by_words = [one for one in seen if one.by == "words" and run.record(row.id).roles[one.seat] == "Seer"]
        if row.condition in ("chinese", "german", "one of many"):
            assert by_words == []
    assert any(one.behaviour == "concealment" for one in detected_behaviours(run.record(1)))


def test_page_and_terminal_say_so_and_call_nothing_absent(run: Store) -> None:
    found = summary(run)
    told = extras(run, found)
    n = next(one for one in found.conditions if one.name == "chinese").measures["unread"].n
    out = io.StringIO()
    print_summary(Console(file=out, width=200), found, told)
    page = render_report(found, extras=told)
    for text in (" ".join(out.getvalue().split()), page):
        assert f"chinese: {n:.0f} of {n:.0f}" in text
        assert "could not be read" in text
        assert "english: 0 of" not in text
    assert "Not seen in any game (games: english 3, one of many 3" in page


def test_data_and_replay_say_so(run: Store) -> None:
    rows = [row for row in wolflab.open_run(run.path).statements.with_texts().rows() if row["text"]]
    assert {(row["condition"], row["unread"]) for row in rows} == {
        *((name, False) for name in ("english", "one side", "one of many")),
        *((name, True) for name in ("chinese", "german", "one side", "one of many")),
    }
    for row in run.games():
        items = story_of(run.record(row.id), "x")["items"]
        acts = [item["acts"] for item in items if item.get("act") == "said" and item["text"]]
        assert acts
        unread = {one == [["unread"]] for one in acts}
        told = {"english": {False}, "chinese": {True}, "german": {True}}
        assert unread == told.get(row.condition, {True, False})


def test_a_game_of_which_half_was_read_counts_what_was_read(run: Store) -> None:
    """One unread statement hides nothing, and one that was read does not tell of all the others."""
    table = WerewolfAEC("doctor", record=True)
    for share, known in ((4, True), (2, True), (1, False)):
        table.reset(seed=1)
        count = 0
        while not all(table.terminations.values()):
            if table.infos[table.agent_selection]["ask"] != "statement":
                table.step(table.last()[0]["action_mask"].nonzero()[0][0])
                continue
            count += 1
            text = SAID["german" if count % share == 0 else "english"].format("player_1", "player_2")
            table.step(text)
        assert table.played is not None
        assert table.played.writer is not None
        row = row_of(table.played.writer.record(table.ruleset), MeasuringOptions(behaviours=True))
        unread, statements = row.sums_of("unread")
        assert (unread, statements) == (count // share, count)
        assert (row.sums_of("trust_village")[1] is not None) is known
        assert (row.sums_of("reasonable")[1] is not None) is known
