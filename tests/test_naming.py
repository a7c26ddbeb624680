"""Who plays: what conditions are called after `-o`, published rows beside them, the table of players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from command_line import wolflab
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.matching import alike_rows
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.plans.tournament import load_tournament, make_tournament
from wolflab.lab.results.extras import extras_of_tournament
from wolflab.lab.results.players import PlacePlayer, players_of
from wolflab.lab.runs.tournament_games import start_tournament
from wolflab.lab.storage.store import Store
from wolflab.metrics.published import published_tables
from wolflab.ui.wording import became_in_words, player_in_words

# -- what conditions are called ---------------------------------------------------------------------

MINE = "openai/gpt-4o-mini"
SEVENTEEN = ["GLM-3", "GLM-4", "C3-6B", "B-13B"]
FOUR = ["vanilla", "deductive", "diverse", "ours"]
EIGHT = ["GLM-3", "GLM-4", "GPT-4", "C3-6B", "M-7B", "B-13B", "In-20B", "Yi-34B"]


THREE: dict[str, Any] = {
    "name": "three",
    "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop"},
    "players": {place: {"model": "village", "recipe": "deductive"} for place in ("others", "sheriff")},
    "conditions": {
        "expert": {},
        "novice": {"players": {"sheriff": {"model": {"model": "village", "skill": 0.2}}}},
        "accuser": {"players": {"sheriff": {"recipe": {"name": "deductive", "style": "aggressive_accuser"}}}},
    },
    "deals": 2,
}
"""Conditions that are not called after anybody's model."""


def named(which: str | dict[str, Any], *changes: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    made = load_experiment(which, changes) if isinstance(which, str) else build(which, changes)
    return list(made.conditions), [(became.name, became.of) for became in made.became]


@pytest.mark.parametrize(
    ("name", "changes", "conditions", "became"),
    [
        # Everybody who was tested is another model: one row, after that model.
        ("helmsman-table1", [f"sheriff.model={MINE}"], ["gpt-4o-mini"], [("gpt-4o-mini", EIGHT)]),
        ("helmsman-table17", [f"others.model={MINE}"], ["gpt-4o-mini"], [("gpt-4o-mini", SEVENTEEN)]),
        # It is one of them: that one's name stays.
        ("helmsman-table17", ["others.model=zhipu/glm-4"], ["GLM-4"], [("GLM-4", SEVENTEEN)]),
        # The Sheriffs are who they were: so are the names.
        ("helmsman-table1", [f"others.model={MINE}"], EIGHT, []),
        ("helmsman-table1", ["sheriff.model.temperature=0.5", "deals=2"], EIGHT, []),
        # One condition alone.
        (
            "helmsman-table1",
            ["conditions.GPT-4.players.sheriff.model=openai/gpt-5"],
            [*EIGHT[:2], "gpt-5", *EIGHT[3:]],
            [("gpt-5", ["GPT-4"])],
        ),
        # The Sheriff is none of what they are named after.
        ("quickstart", [f"sheriff.model={MINE}"], ["obey-0", "obey-0.3", "obey-0.6"], []),
        ("own-sheriff", ["sheriff.model=ollama/llama3.1"], ["llama3.1"], [("llama3.1", ["gpt-4o-mini"])]),
        # That two are one is told, and the name of nobody stays.
        (THREE, [f"sheriff.model={MINE}"], ["expert", "accuser"], [("expert", ["expert", "novice"])]),
        (THREE, ["others.model.skill=0.5"], ["expert", "novice", "accuser"], []),
        # One that a change adds.
        (
            THREE,
            ["conditions.more={players: {sheriff: {recipe: vanilla}}}"],
            ["expert", "novice", "accuser", "more"],
            [],
        ),
        # Names of recipes.
        ("strategic-behaviours", ["others.recipe=cot-004"], ["cot-004"], [("cot-004", FOUR)]),
    ],
)  # fmt: skip
def test_a_condition_is_called_after_who_plays(
    name: str | dict[str, Any], changes: list[str], conditions: list[str], became: list[tuple[str, list[str]]]
) -> None:
    assert named(name, *changes) == (conditions, became)


SMALL: dict[str, Any] = {
    "name": "small",
    "players": {"others": {"model": "village", "recipe": "deductive"}},
    "conditions": {
        "first": {},
        "gpt-4o": {"players": {"others": {"model": "openai/gpt-4o"}}},
        "twin": {},
    },
    "deals": 1,
}


def test_a_file_of_ones_own_is_told_by_its_words() -> None:
    """A name that stands in its model's is the model's; conditions that the file wrote alike stay two."""
    assert list(build(SMALL, ["others.model=ollama/x"]).conditions) == ["first", "twin"]
    other = build(SMALL, ["conditions.gpt-4o.players.others.model=openai/o3"])
    assert list(other.conditions) == ["first", "o3", "twin"]
    same = build(SMALL, ["conditions.gpt-4o.players.others.model=openai/gpt-4o-mini"])
    assert list(same.conditions) == ["first", "gpt-4o", "twin"]
    assert list(build(SMALL).conditions) == list(SMALL["conditions"])


def test_what_names_a_condition_names_it_still() -> None:
    data = {
        **SMALL,
        "baseline": "gpt-4o",
        "curve": {
            "x": "size",
            "points": {"gpt-4o": 2, "first": 1},
            "measures": ["days"],
            "baseline": "gpt-4o",
        },
        "players": {"others": {"model": "village", "recipe": "reflective"}},
        "conditions": {
            **SMALL["conditions"],
            "taught": {"players": {"village": {"experience": {"games_of": "gpt-4o"}}}},
        },
    }
    made = build(data, ["conditions.gpt-4o.players.others.model=openai/o3"])
    assert made.baseline == "o3"
    assert made.curve is not None
    assert made.curve.points == {"o3": 2, "first": 1}
    assert made.experience("taught")[0].games_of == "o3"
    # Two points that are one condition are one point.
    made = build(data, ["conditions.gpt-4o.players.others.model=village"])
    assert made.baseline == "first"
    assert made.curve is not None
    assert made.curve.points == {"first": 1}


def test_what_is_set_wins_over_a_condition_with_a_model_of_its_own() -> None:
    made = load_experiment("helmsman-table1", ["sheriff.model.temperature=0.5"])
    for condition in made.conditions:
        model = made.cast(condition)["sheriff"].model
        assert isinstance(model, dict)
        assert model["temperature"] == 0.5
    assert list(build(THREE, ["sheriff.model.skill=0.5"]).conditions) == [
        "expert",
        "accuser",
    ]


def test_an_entrant_is_called_after_who_plays() -> None:
    made = load_tournament("tournament-004", ["react.recipe=cot-004", "sides.village=[react, atomic]"])
    assert list(made.entrants) == ["cot-004", "recon", "concurrent", "atomic", "strategic"]
    assert made.sides.village == ["cot-004", "atomic"]
    assert made.experiment().became == made.became
    assert not load_tournament("tournament-004", ["model=village"]).became


# -- published rows ---------------------------------------------------------------------------------


def test_each_row_says_of_whom_it_is() -> None:
    for table in published_tables().values():
        assert table.who.keys() <= table.rows.keys(), table.name
        for row, who in table.who.items():
            assert who.cast or who.rules, (table.name, row)


@pytest.mark.parametrize("name", [name for name, text in shipped_files().items() if "\npublished:" in text])
def test_shipped_conditions_stand_beside_the_rows_of_their_names(name: str) -> None:
    """Found by who plays alone; that the names agree shows that both were written down rightly."""

    def letters(text: str) -> str:
        return "".join(letter for letter in text.lower() if letter.isalnum())

    tournament = "\nentrants:" in shipped_files()[name]
    tables = load_tournament(name).published if tournament else load_experiment(name).published
    called = {"deductive": "+ded", "diverse": "+{ded, div}", "strategic": "Ours"}
    for table, rows in alike_rows(load_experiment(name), tables).items():
        assert rows or table == "004-communication"  # a range over agents, which no condition is
        for condition, alike in rows.items():
            sides = condition.split(" vs ")
            if table == "004-components-early":
                sides = [called.get(side, side) for side in sides]
            assert letters("vs".join(sides)) == letters(alike.row)
            assert alike.otherwise == ""


def test_a_model_of_ones_own_stands_beside_no_row() -> None:
    made = load_experiment("helmsman-table1", [f"sheriff.model={MINE}"])
    assert alike_rows(made, made.published) == {"002-table-1": {}}
    renamed = build(SMALL | {"conditions": {"GLM-3": {}}, "published": ["002-table-1", "002-table-17"]})
    assert alike_rows(renamed, renamed.published) == {"002-table-1": {}, "002-table-17": {}}


def test_a_row_is_known_by_its_model_wherever_that_is_served_and_other_seats_are_told() -> None:
    made = load_experiment(
        "helmsman-table1",
        ["sheriff.model={model: glm-4, base_url: 'http://localhost:1/v1'}", f"others.model={MINE}"],
    )
    (alike,) = alike_rows(made, made.published)["002-table-1"].values()
    assert alike.row == "GLM-4"
    assert alike.otherwise == "gpt-4o-mini plays where the source has glm-3-turbo"
    made = load_experiment("helmsman-table1", ["sheriff.recipe=vanilla"])
    rows = alike_rows(made, made.published)["002-table-1"]
    assert {alike.otherwise for alike in rows.values()} == {
        "vanilla plays where the source has deductive-002"
    }


def test_a_row_about_a_recipe_is_known_by_it() -> None:
    made = load_experiment("strategic-prompting", ["players.village.recipe=vanilla"])
    rows = {alike.row for alike in alike_rows(made, made.published)["004-prompting-early"].values()}
    assert rows == set()  # the others' opponents are no longer the strategic player's village
    made = load_experiment("strategic-components", ["others.model=village"])
    rows_of = alike_rows(made, made.published)["004-components"]
    assert len(rows_of) == 7
    assert rows_of["full"].otherwise == "village plays where the source has gpt-3.5-turbo"


# -- who plays --------------------------------------------------------------------------------------


def test_every_player_is_named_with_what_matters(tmp_path: Path) -> None:
    made = load_experiment("helmsman-table1")
    with Store.create(tmp_path / "r", made) as store:
        lines = list(map(player_in_words, players_of(store)))
    settings = "(temperature 0.0, temperature of statements 0.1)"
    assert lines[0] == f"others: zhipu/glm-3-turbo · deductive-002 {settings}"
    assert f"GLM-4, sheriff: zhipu/glm-4 · deductive-002 {settings}" in lines
    assert len(lines) == 1 + 8


def test_places_where_nobody_sits_are_left_out_and_addresses_are_not_told(tmp_path: Path) -> None:
    mine = {"model": "own", "base_url": "http://localhost:1/v1", "temperature": 0.7, "price": {"input": 1}}
    data = SMALL | {
        "players": {
            "others": {"recipe": "random"},
            "village": {"model": mine},
            "werewolves": {"model": "village"},
        },
        "conditions": {"all": {}},
    }
    with Store.create(tmp_path / "r", build(data)) as store:
        village, werewolves = players_of(store)
    assert village == PlacePlayer((), "village", "own", "deductive", {"temperature": 0.7})
    assert werewolves.settings["version"].startswith("Wolflab ")


def test_a_tournament_names_its_entrants(tmp_path: Path) -> None:
    changes = ["deals=1", "react.recipe=cot-004"]
    with start_tournament(tmp_path / "t", load_tournament("tournament-004", changes, village=True)) as store:
        extra = extras_of_tournament(store)
    assert [player.conditions for player in extra.players] == [
        ("cot-004",), ("recon",), ("concurrent",), ("atomic",), ("strategic",)
    ]  # fmt: skip
    assert [became_in_words(became) for became in extra.became] == [
        "react is called cot-004, after who plays in it since -o react.recipe=cot-004."
    ]


def test_an_address_is_not_told() -> None:
    made = load_experiment(
        "helmsman-table1", ["sheriff.model={model: my-own, base_url: 'http://secret:1/v1'}"]
    )
    (became,) = made.became
    said = became_in_words(became)
    assert said.endswith("are the same after -o sheriff.model={…}: played once, as my-own.")
    assert "secret" not in made.title


def test_terminal_page_and_data_say_so(tmp_path: Path) -> None:
    out, file = tmp_path / "r", tmp_path / "three.yaml"
    file.write_text(yaml.safe_dump(THREE, sort_keys=False), encoding="utf-8")
    ended = wolflab("run", str(file), "-o", "sheriff.model=village", "-o", "deals=1", "--out", str(out))
    said = "expert and novice are the same after -o sheriff.model=village: played once, as expert."
    assert ended.returncode == 0
    assert said in ended.stdout.replace("\n", " ")
    page, data = ((out / f"report.{kind}").read_text() for kind in ("html", "json"))
    assert said in page
    assert said in data
    assert page.index('id="who"') < page.index('id="main"')
    assert "style aggressive_accuser" in page[page.index('id="who"') : page.index('id="main"')]
    assert "accuser, sheriff: village · deductive (version Wolflab" in ended.stdout


def test_two_entrants_that_would_get_one_name_keep_their_old_ones_behind_it() -> None:
    entrants = {
        "glm-4": {"model": "zhipu/glm-4", "recipe": "vanilla"},
        "glm-3": {"model": "zhipu/glm-3", "recipe": "vanilla"},
    }
    changes = ["glm-4.model=openai/gpt-x", "glm-3.model=openai/gpt-x"]
    made = make_tournament({"name": "t", "entrants": entrants}, changes)
    assert list(made.entrants) == ["gpt-x-glm-4", "gpt-x-glm-3"]


def test_an_entrant_called_after_who_serves_its_model_keeps_its_name_where_the_model_is_the_same() -> None:
    entrants = {
        "zhipu": {"model": "zhipu/glm-4", "recipe": "vanilla"},
        "b": {"model": "village", "recipe": "vanilla"},
    }
    made = make_tournament({"name": "t", "entrants": entrants}, ["zhipu.model=openrouter/glm-4"])
    assert list(made.entrants) == ["zhipu", "b"]
    assert not made.became


def test_two_conditions_that_would_get_one_name_keep_their_old_ones_behind_it() -> None:
    conditions = {
        name: {"rules": {"max_rounds": rounds}, "players": {"others": {"model": f"zhipu/{name}"}}}
        for name, rounds in (("glm-4", 2), ("glm-3", 3))
    }
    others = {"model": "zhipu/glm-5", "recipe": "vanilla"}
    data = {"name": "x", "players": {"others": others}, "conditions": conditions}
    made = build(data, ["others.model=openai/gpt-x"])
    assert list(made.conditions) == ["gpt-x-glm-4", "gpt-x-glm-3"]
