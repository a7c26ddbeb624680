"""Who plays: what conditions are called after `--set`, published rows beside them, the table of players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from command_line import wolflab
from wolflab.lab.plans.loading import build, load_experiment
from wolflab.lab.plans.matching import matched_rows
from wolflab.lab.plans.sources import shipped_files
from wolflab.lab.plans.tournament_plan import load_tournament, make_tournament
from wolflab.lab.results.extras import extras_of_tournament
from wolflab.lab.results.players import PlacePlayer, players_of, rules_played
from wolflab.lab.runs.tournament_games import start_tournament
from wolflab.lab.storage.store import Store
from wolflab.metrics.published import published_tables
from wolflab.ui.wording import player_in_words, renaming_in_words, rules_played_in_words

# -- what conditions are called ---------------------------------------------------------------------

MINE = "openai/gpt-4o-mini"
SEVENTEEN = ["GLM-3", "GLM-4", "C3-6B", "B-13B"]
FOUR = ["vanilla", "deductive", "diverse", "ours"]
EIGHT = ["GLM-3", "GLM-4", "GPT-4", "C3-6B", "M-7B", "B-13B", "In-20B", "Yi-34B"]
OBEY = ["obey-0", "obey-0.3", "obey-0.6"]
LAYOUTS = ["paper", "append", "append-own-wording", "append-own-whole", "shared-own-whole"]
ROLES = ["Werewolf", "Villager", "Seer", "Guard"]
CASES = ["deduction-only", "diverse", "strategic"]
PROMPTING = [
    f"{who}-as-{side}" for side in ("village", "werewolves") for who in ("react", "cot", "deductive")
]
PROMPTING += ["strategic"]
TABLES = ["6-players-without-policy", "6-players-with-policy"]


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
"""Conditions that differ in a setting of a model, and in one of a recipe."""


def named(which: str | dict[str, Any], *changes: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    made = load_experiment(which, changes) if isinstance(which, str) else build(which, changes)
    return list(made.conditions), [(became.name, became.of) for became in made.renamed]


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
        # What made two different is gone with the model; the third differs in its recipe still.
        (
            THREE,
            [f"sheriff.model={MINE}"],
            ["gpt-4o-mini", "accuser"],
            [("gpt-4o-mini", ["expert", "novice"])],
        ),
        (THREE, ["others.model.skill=0.5"], ["expert", "novice", "accuser"], []),
        # One that a change adds.
        (
            THREE,
            ["conditions.more={players: {sheriff: {recipe: vanilla}}}"],
            ["expert", "novice", "accuser", "more"],
            [],
        ),
        # What set these apart is gone, so none of their names is right.
        ("layouts", ["others.recipe=vanilla"], ["vanilla"], [("vanilla", LAYOUTS)]),
        ("quickstart", [f"others.model={MINE}"], ["gpt-4o-mini"], [("gpt-4o-mini", OBEY)]),
        (
            "quickstart",
            ["others.model.follow_sheriff=0.5"],
            ["follow_sheriff-0.5"],
            [("follow_sheriff-0.5", OBEY)],
        ),
        ("layouts", [f"others.model={MINE}", "sheriff.recipe=vanilla"], LAYOUTS, []),
        # Conditions that differ in rules.
        ("helmsman-fig2", [f"sheriff.model={MINE}"], ROLES, []),
        ("helmsman-fig2", ["rules.sheriff_role=Seer"], ["Seer"], [("Seer", ROLES)]),
        ("helmsman-fig2", ["rules.sheriff_role=null"], ["sheriff_role-none"], [("sheriff_role-none", ROLES)]),
        # The werewolves' place is nobody's any more: what it says counts no longer.
        (
            "strategic-cases-kill",
            [f"Werewolf.model={MINE}"],
            ["deduction-only"],
            [("deduction-only", CASES)],
        ),
        (
            "strategic-cases-kill",
            ["others.recipe=vanilla"],
            ["vanilla", *CASES[1:]],
            [("vanilla", ["deduction-only"])],
        ),
        # One seat of many is another's: the rows differ as they did.
        ("strategic-tables-6", [f"player_1.model={MINE}"], TABLES, []),
        ("strategic-behaviours", [f"Werewolf.model={MINE}"], FOUR, []),
        # A condition that plays as it did lends its name.
        (
            "strategic-prompting",
            ["werewolves.recipe=cot-004"],
            [*PROMPTING[:3], "cot-as-werewolves"],
            [("cot-as-werewolves", PROMPTING[3:])],
        ),
        # A model that both write, though they do not differ in it.
        (
            "strategic-transfer",
            [f"players.village.model={MINE}"],
            ["gpt-4o-mini-as-village-gpt-4-without-policy", "gpt-4o-mini-as-village-gpt-4-with-policy"],
            [
                ("gpt-4o-mini-as-village-gpt-4-without-policy", ["gpt-4-without-policy"]),
                ("gpt-4o-mini-as-village-gpt-4-with-policy", ["gpt-4-with-policy"]),
            ],
        ),
        # What it writes is in every condition; what sets it apart, only the other one writes.
        (
            "strategic-transfer",
            ["others.recipe=vanilla"],
            ["gpt-4-without-policy", "vanilla-as-village"],
            [("vanilla-as-village", ["gpt-4-with-policy"])],
        ),
        ("own-sheriff", ["others.model=openai/gpt-5"], ["gpt-4o-mini"], []),
        # Names of recipes.
        ("strategic-behaviours", ["others.recipe=cot-004"], ["cot-004"], [("cot-004", FOUR)]),
    ],
)  # fmt: skip
def test_a_condition_is_called_after_who_plays(
    name: str | dict[str, Any],
    changes: list[str],
    conditions: list[str],
    became: list[tuple[str, list[str]]],
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


def test_a_file_of_ones_own_is_told_by_what_sets_its_conditions_apart() -> None:
    """What changes nothing is set apart by what the others change; what the file wrote alike stays two."""
    assert list(build(SMALL, ["others.model=ollama/x"]).conditions) == ["x-first", "x-twin"]
    other = build(SMALL, ["conditions.gpt-4o.players.others.model=openai/o3"])
    assert list(other.conditions) == ["first", "o3", "twin"]
    same = build(SMALL, ["conditions.gpt-4o.players.others.model=openai/gpt-4o-mini"])
    assert list(same.conditions) == ["first", "gpt-4o-mini", "twin"]
    assert list(build(SMALL).conditions) == list(SMALL["conditions"])


def test_what_names_a_condition_names_it_still() -> None:
    data = {
        **SMALL,
        "baseline": "gpt-4o",
        "curve": {
            "x": "size",
            "points": {"gpt-4o": 2, "first": 1},
            "measures": ["rounds"],
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
    assert list(build(THREE, ["sheriff.model.skill=0.5"]).conditions) == ["skill-0.5", "accuser"]


def test_an_entrant_is_called_after_who_plays() -> None:
    made = load_tournament("tournament-004", ["react.recipe=cot-004", "sides.village=[react, atomic]"])
    assert list(made.entrants) == ["cot-004", "recon", "concurrent", "atomic", "strategic"]
    assert made.sides.village == ["cot-004", "atomic"]
    assert made.experiment().renamed == made.renamed
    assert not load_tournament("tournament-004", ["model=village"]).renamed


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
    for table, rows in matched_rows(load_experiment(name), tables).items():
        # A range over agents, which no condition is; a pair of models that the reader names.
        assert rows or table in ("004-communication", "002-table-2")
        for condition, alike in rows.items():
            sides = condition.split(" vs ")
            if table == "004-components-early":
                sides = [called.get(side, side) for side in sides]
            assert letters("vs".join(sides)) == letters(alike.row)
            assert alike.otherwise == ""


EARLY = "004-communication-early"


def test_a_model_of_ones_own_stands_beside_no_row() -> None:
    made = load_experiment("helmsman-table1", [f"sheriff.model={MINE}"])
    assert matched_rows(made, made.published) == {"002-table-1": {}}
    renamed = build(SMALL | {"conditions": {"GLM-3": {}}, "published": ["002-table-1", "002-table-17"]})
    assert matched_rows(renamed, renamed.published) == {"002-table-1": {}, "002-table-17": {}}


def test_a_row_is_known_by_its_model_wherever_that_is_served_and_other_seats_are_told() -> None:
    made = load_experiment(
        "helmsman-table1",
        ["sheriff.model={model: glm-4, base_url: 'http://localhost:1/v1'}", f"others.model={MINE}"],
    )
    (alike,) = matched_rows(made, made.published)["002-table-1"].values()
    assert alike.row == "GLM-4"
    assert alike.otherwise == "gpt-4o-mini plays where the source has glm-3-turbo"
    made = load_experiment("helmsman-table1", ["sheriff.recipe=vanilla"])
    rows = matched_rows(made, made.published)["002-table-1"]
    assert {alike.otherwise for alike in rows.values()} == {
        "vanilla plays where the source has deductive-002"
    }


def test_rules_that_are_not_the_sources_are_told_under_the_row() -> None:
    changes = ["rules.sheriff=elected", "rules.max_rounds=1"]
    made = load_experiment("helmsman-table1", changes)
    rows = matched_rows(made, made.published)["002-table-1"]
    told = "max_rounds is 1, and 6 in the source; sheriff is elected, and assigned in the source"
    assert rows
    assert {alike.otherwise for alike in rows.values()} == {told}


def test_without_communication_one_side_is_silent() -> None:
    """004 Table 8 as it was played: the village says nothing, the Werewolves speak."""
    made = load_experiment("strategic-communication")
    rows = {name: alike.row for name, alike in matched_rows(made, made.published)[EARLY].items()}
    assert rows["vanilla-without-communication"] == "Vanilla without communication"
    assert len(rows) == 8
    nobody = load_experiment("strategic-communication", ["rules.discussion=false"])
    assert matched_rows(nobody, nobody.published)[EARLY] == {}


def test_a_row_about_a_recipe_is_known_by_it() -> None:
    made = load_experiment("strategic-prompting", ["players.village.recipe=vanilla"])
    rows = {alike.row for alike in matched_rows(made, made.published)["004-prompting-early"].values()}
    assert rows == set()  # the others' opponents are no longer the strategic player's village
    made = load_experiment("strategic-components", ["others.model=village"])
    rows_of = matched_rows(made, made.published)["004-components"]
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


def test_the_rules_are_told_with_what_is_not_as_in_their_preset(tmp_path: Path) -> None:
    with Store.create(tmp_path / "one", load_experiment("own-sheriff", ["rules.max_rounds=1"])) as store:
        (told,) = map(rules_played_in_words, rules_played(store))
    assert told == "Rules: sheriff, max_rounds 1, sheriff assigned, sheriff_death stop."
    apart = SMALL | {"rules": "doctor", "conditions": {"a": {}, "b": {"rules": {"max_rounds": 2}}}}
    with Store.create(tmp_path / "two", build(apart)) as store:
        told_of = [rules_played_in_words(rules) for rules in rules_played(store)]
    assert told_of == ["Rules of a: doctor.", "Rules of b: doctor, max_rounds 2."]


def test_a_tournament_names_its_entrants(tmp_path: Path) -> None:
    changes = ["deals=1", "react.recipe=cot-004"]
    with start_tournament(tmp_path / "t", load_tournament("tournament-004", changes, village=True)) as store:
        extra = extras_of_tournament(store)
    assert [player.conditions for player in extra.players] == [
        ("cot-004",), ("recon",), ("concurrent",), ("atomic",), ("strategic",)
    ]  # fmt: skip
    assert [renaming_in_words(became) for became in extra.renamed] == [
        "react of the file is called cot-004 here: --set react.recipe=cot-004 changes who plays."
    ]


def test_an_address_is_not_told() -> None:
    made = load_experiment(
        "helmsman-table1", ["sheriff.model={model: my-own, base_url: 'http://secret:1/v1'}"]
    )
    (became,) = made.renamed
    said = renaming_in_words(became)
    assert said.endswith("are the same after --set sheriff.model={…}: played once, as my-own.")
    assert "secret" not in made.title


def test_terminal_page_and_data_say_so(tmp_path: Path) -> None:
    out, file = tmp_path / "r", tmp_path / "three.yaml"
    file.write_text(yaml.safe_dump(THREE, sort_keys=False), encoding="utf-8")
    ended = wolflab("run", str(file), "--set", "sheriff.model=village", "--set", "deals=1", "--out", str(out))
    said = "expert and novice are the same after --set sheriff.model=village: played once, as expert."
    assert ended.returncode == 0
    assert said in ended.stdout.replace("\n", " ")
    page, data = ((out / f"report.{kind}").read_text() for kind in ("html", "json"))
    assert said in page
    assert said in data
    assert page.index('id="main"') < page.index('id="who"')
    assert "style aggressive_accuser" in page[page.index('id="who"') :]
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
    assert not made.renamed


def among(conditions: dict[str, Any], *changes: str, model: str | None = "zhipu/glm-4") -> list[str]:
    """What conditions are called where the others, and the Sheriff unless it is another, are one model."""
    others = {"recipe": "vanilla"} | ({} if model is None else {"model": model})
    rules = {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop"}
    data = {"name": "x", "rules": rules, "players": {"others": others}, "conditions": conditions, "deals": 1}
    return list(build(data, changes).conditions)


def sheriff(model: str) -> dict[str, Any]:
    return {"players": {"sheriff": {"model": model}}}


def test_a_name_is_after_the_places_in_which_conditions_differ() -> None:
    """Others of the same model, or with the same recipe, do not make it right."""
    sheriffs = {"gpt-4o": sheriff("openai/gpt-4o"), "glm-4": sheriff("zhipu/glm-4")}
    assert among(sheriffs, "sheriff.model=openai/gpt-5") == ["gpt-5"]
    assert among(sheriffs | {"glm-4": {}}, "sheriff.model=openai/gpt-5") == ["gpt-5"]
    assert among(sheriffs, "others.model=openai/gpt-5") == ["gpt-4o", "glm-4"]
    recipes = {name: {"players": {"sheriff": {"recipe": name}}} for name in ("vanilla", "deductive")}
    assert among(recipes, "sheriff.recipe=react-004") == ["react-004"]
    assert among({"glm-4": {}}, "sheriff.model=openai/gpt-5") == ["glm-4"]  # everybody else is


def test_conditions_with_the_same_at_every_seat_are_one_whatever_their_places_are_called() -> None:
    conditions = {"sides": {"players": {side: {"model": "village"} for side in ("village", "werewolves")}}}
    assert among({"all": {}, **conditions}, "others.model=village") == ["sides"]


def test_conditions_that_the_file_wrote_alike_stay_two_in_any_order() -> None:
    conditions = {"gpt-4o": sheriff("openai/gpt-4o"), "first": {}, "twin": {}}
    assert among(conditions, "sheriff.model=zhipu/glm-4") == ["first", "twin"]


def test_rules_are_among_what_sets_conditions_apart() -> None:
    conditions = {
        name: {"rules": {"max_rounds": rounds}, "players": {"others": {"model": f"zhipu/{name}"}}}
        for name, rounds in (("glm-4", 2), ("glm-3", 3))
    }
    assert among(conditions, "others.model=openai/gpt-x") == ["gpt-x-glm-4", "gpt-x-glm-3"]
    assert among(conditions, "rules.max_rounds=3") == ["max_rounds-3", "glm-3"]


def test_no_two_get_one_name() -> None:
    """The old one is put behind; if that is another's, a number."""
    twins = {name: sheriff("openai/o3") for name in ("a", "b")}
    there = {"o4-a": {"players": {"sheriff": {"recipe": "deductive"}}}}
    assert among(twins | there, "sheriff.model=openai/o4") == ["o4-a-2", "o4-b", "o4-a"]
    entrants = {name: {"model": "openai/o3", "recipe": "vanilla"} for name in ("a", "b")}
    entrants |= {"o4-a": {"model": "openai/o5", "recipe": "vanilla"}}
    changes = ["a.model=openai/o4", "b.model=openai/o4"]
    made = make_tournament({"name": "t", "entrants": entrants}, changes)
    assert list(made.entrants) == ["o4-a-2", "o4-b", "o4-a"]


def test_a_new_name_is_one_that_may_be_given() -> None:
    """A model may be called as no entrant may."""
    entrants = {
        "mine": {"model": "openai/gpt-4o", "recipe": "vanilla"},
        "yours": {"model": "openai/o3", "recipe": "vanilla"},
        "built-in": {"model": "village", "recipe": "vanilla"},
    }
    long = "meta-llama-3.1-405b-instruct-turbo-of-the-third-revision-quantised-to-"
    changes = [f"mine.model=vllm/{long}int4", f"yours.model=vllm/{long}int8"]
    made = make_tournament({"name": "t", "entrants": entrants}, changes)
    assert list(made.entrants) == [
        "meta-llama-3.1-405b-instruct-…ird-revision-quantised-to-int4",
        "meta-llama-3.1-405b-instruct-…ird-revision-quantised-to-int8",
        "built-in",
    ]
    made = make_tournament({"name": "t", "entrants": entrants}, ["mine.model=vllm/a vs b"])
    assert list(made.entrants) == ["a-vs-b", "yours", "built-in"]
    changes = [f"mine.model=vllm/{'x' * 70}", f"yours.model=vllm/{'x' * 71}"]
    made = make_tournament({"name": "t", "entrants": entrants}, changes)
    assert len({*made.entrants}) == 3
    assert max(map(len, made.entrants)) == 60
    (kept,) = load_experiment("own-sheriff", [f"sheriff.model=vllm/{long}int4"]).conditions
    assert len(kept) <= 60


def test_what_a_file_leaves_open_is_not_what_it_is_called_after() -> None:
    """A change without which it cannot be is part of the file; the others are changes of it."""
    sheriffs = {"gpt-4o": sheriff("openai/gpt-4o"), "first": {}}
    changes = ["others.model=openai/o3", "sheriff.model=openai/gpt-5"]
    assert among(sheriffs, changes[0], model=None) == ["gpt-4o", "first"]
    assert among(sheriffs, *changes, model=None) == ["gpt-5"]
    assert among(sheriffs, *changes[::-1], model=None) == ["gpt-5"]
    entrants = {"cot": {"recipe": "cot-004"}, "gpt-4o": {"recipe": "vanilla", "model": "openai/gpt-4o"}}
    made = make_tournament(
        {"name": "t", "entrants": entrants}, ["model=openai/o3", "gpt-4o.model=openai/gpt-5"]
    )
    assert list(made.entrants) == ["cot", "gpt-5"]
    entrants["diverse"] = {"recipe": "diverse-004"}
    changes = ["cot.model=openai/o3", "diverse.model=openai/o3", "gpt-4o.model=openai/gpt-5"]
    assert list(make_tournament({"name": "t", "entrants": entrants}, changes).entrants) == [
        "cot",
        "gpt-5",
        "diverse",
    ]


def test_names_that_a_change_gives_stay() -> None:
    given = "conditions={glm-4: {players: {sheriff: {model: openai/gpt-5}}}, b: {}}"
    assert among({"glm-4": {}, "gpt-4o": sheriff("openai/gpt-4o")}, given) == ["glm-4", "b"]
    added = "conditions.more.players.sheriff.model=openai/gpt-5"
    assert among({"glm-4": {}}, added) == ["glm-4", "more"]


def test_a_point_of_a_curve_is_none_where_several_became_one() -> None:
    made = load_experiment("experience-dose", ["players.village.model.act_on_suggestion=0.5"])
    assert made.curve is not None
    assert made.curve.points == {"act-0.5": 0.5}
    made = load_experiment("experience-dose", ["players.village.model.act_on_suggestion=0.7"])
    assert made.curve is None
    assert made.planted is not None


def test_a_setting_of_a_recipe_wins_over_a_condition_that_has_it_too() -> None:
    conditions = {
        name: {"players": {"others": {"recipe": {"name": "deductive-002", "layout": name, "wording": "own"}}}}
        for name in ("paper", "append")
    }
    assert among(conditions, "others.recipe.layout=append") == ["append"]


def test_a_primary_contrast_follows_its_conditions() -> None:
    plan = {**THREE, "primary": {"measure": "village_win", "between": [*THREE["conditions"]][1::-1]}}
    first, second = [*THREE["conditions"]][:2]
    assert build(plan).primary is not None
    merged = build(plan, ["others.model=openai/gpt-4o-mini", "sheriff.model=openai/gpt-4o-mini"])
    assert (first in merged.conditions, second in merged.conditions, merged.primary) == (False, False, None)
