"""Facts that are found in two ways have to agree, and those that no rules make true are still looked for.

Some facts of `wolflab.wwqa.rule_facts` are found by playing on from a situation, others in a game played from
the deal. Where both tell of the same rule they are compared here, under every preset and every ruleset that
differs from one in a switch. `test_wwqa_oracle.py` proves the former by other means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import pytest

from marks import with_slow
from wolflab.rules import PRESETS, SHERIFF, Ruleset, preset
from wolflab.wwqa import rule_facts
from wolflab.wwqa.building import variants
from wolflab.wwqa.rule_claims import RuleClaim
from wolflab.wwqa.rule_facts import DEEDS, FACTS, quiet_game
from wolflab.wwqa.situations import GameSituation, Impossible, Query
from wolflab.wwqa.trials import Trial, trial

Fact = Callable[[Query], object]
PAIRS: dict[str, tuple[Fact, Fact]] = {
    "the dead vote": (lambda q: FACTS["dead_may"](q, "vote"), lambda q: FACTS["has_vote"](q, "dead")),
    "all must vote": (lambda q: FACTS["must"](q, "vote"), lambda q: not FACTS["votes_for"](q, "nobody")),
    "a vote for oneself": (
        lambda q: FACTS["may"](q, "player", "vote", "self"),
        lambda q: FACTS["votes_for"](q, "self"),
    ),
    "the Guard shields itself": (
        lambda q: FACTS["may"](q, "Guard", "protect", "self"),
        lambda q: FACTS["may_choose"](q, "protect", "self"),
    ),
    "a Werewolf kills itself": (
        lambda q: FACTS["may"](q, "Werewolf", "kill", "self"),
        lambda q: FACTS["may_choose"](q, "kill", "self"),
    ),
    "a Werewolf kills another one": (
        lambda q: FACTS["may"](q, "Werewolf", "kill", "Werewolf"),
        lambda q: FACTS["may_choose"](q, "kill", "pack"),
    ),
    "Werewolves act": (lambda q: FACTS["may"](q, "Werewolf", "kill"), lambda q: FACTS["acts"](q, "Werewolf")),
    "Villagers act": (
        lambda q: any(FACTS["may"](q, "Villager", deed, time="night") for deed in DEEDS),
        lambda q: FACTS["acts"](q, "Villager"),
    ),
    "the killers are told": (
        lambda q: FACTS["learns_choice"](q, "player", "kill"),
        lambda q: FACTS["choice_is_public"](q, "kill"),
    ),
    "all speak once": (lambda q: FACTS["speeches"](q) == [1], FACTS["is_there_discussion"]),
    "talk is a phase": (lambda q: "discussion" in FACTS["phases"](q, 2), FACTS["is_there_discussion"]),
    "Werewolves win at parity": (
        lambda q: FACTS["winner"](q, "parity") == "werewolves",
        lambda q: FACTS["wolves_win_when"](q, "parity"),
    ),
    "Werewolves win without Villagers": (
        lambda q: FACTS["winner"](q, "out", "Villager") == "werewolves",
        lambda q: FACTS["wolves_win_when"](q, "no plain"),
    ),
    "the village wins without Werewolves": (
        lambda q: FACTS["winner"](q, "wolves out") == "village",
        lambda q: FACTS["village_wins_when"](q, "last"),
    ),
    "the game stops without its Sheriff": (
        lambda q: FACTS["ends_without_sheriff"](q, "vote"),
        lambda q: FACTS["sheriff_leaves"](q) == "stop",
    ),
    "a Sheriff is elected": (
        lambda q: any(ask.kind == "elect" for ask in quiet_game(q.rules).asks),
        lambda q: FACTS["how_sheriff"](q) == "election",
    ),
}
"""Two ways to find the same."""


def found(fact: Fact, rules: Ruleset) -> object:
    """None where these rules have no such thing."""
    try:
        return fact(Query(rules, GameSituation("night", 1, rules.players), {}))
    except Impossible:
        return None


@pytest.mark.parametrize("name", with_slow(PRESETS, ["nine", "twelve"]))
def test_both_ways_find_the_same(name: str) -> None:
    compared: Counter[str] = Counter()
    base = preset(name)
    for rules in (base, *variants(base).values()):
        for about, (one, other) in PAIRS.items() if is_quiet(rules) else ():
            values = found(one, rules), found(other, rules)
            if None not in values:
                compared[about] += 1
                assert values[0] == values[1], f"{rules.name}: {about}"
    assert len(compared) > len(PAIRS) / 2


def is_quiet(rules: Ruleset) -> bool:
    """Whether nobody has to leave a game of these rules; else a claim decides nothing."""
    return RuleClaim("number_of", ("player",), "=", (rules.players,)).holds_under(rules) is not None


# -- what no kind is about ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sheriff", "true"),
    [
        ("elected", "election"),
        ("contested", "election"),
        ("drawn", "lot"),
        ("assigned", "named"),
        ("none", None),
    ],
)
def test_how_the_sheriff_comes_into_office(sheriff: Any, true: str | None) -> None:
    order = "sheriff_side" if sheriff != "none" else "ascending"
    rules = SHERIFF.with_(sheriff=sheriff, speaking_order=order)
    for how in ("election", "lot", "named", "night"):
        claim = RuleClaim("sheriff_by", (), "=", (how,))
        assert claim.holds_under(rules) == (None if true is None else how == true)


Games = tuple[list[Trial], list[Callable[[Trial], Trial]]]
"""(the games that a claim plays, what is made of the next ones before the claim sees them)."""


@pytest.fixture
def games(monkeypatch: pytest.MonkeyPatch) -> Games:
    played: list[Trial] = []
    changes: list[Callable[[Trial], Trial]] = []

    def watched(*given: Any, **named: Any) -> Trial:
        game = trial(*given, **named)
        for change in changes:
            game = change(game)
        played.append(game)
        return game

    monkeypatch.setattr(rule_facts, "trial", watched)
    return played, changes


SEER_FIRST = SHERIFF.with_(roles={"Seer": 1, "Guard": 1, "Werewolf": 2, "Villager": 3})
"""The Seer dies in the trial; it is asked before, in the same night."""


@pytest.mark.parametrize("rules", [SHERIFF, SEER_FIRST], ids=["sheriff", "Seer first"])
@pytest.mark.parametrize("deed", ["vote", "speak", "see", "elect"])
def test_the_dead_do_what_they_are_asked_for_after_their_death(
    games: Games, rules: Ruleset, deed: str
) -> None:
    """No rules ask the dead for anything: so a game is given in which they are asked."""
    played, changes = games
    assert found(lambda q: FACTS["dead_may"](q, deed), rules) is False
    (game,) = played
    (victim,) = {seat for seat in range(rules.players) if not game.alive(seat)}
    assert game.state.round > 2, "there was a day and a night after the death"
    asked = next(ask for ask in game.asks if ask.kind in DEEDS[deed])
    late = replace(asked, seat=victim, round=2)
    changes[:] = [lambda game: replace(game, asks=(*game.asks, late))]
    assert found(lambda q: FACTS["dead_may"](q, deed), rules) is True
    assert found(lambda q: FACTS["dead_may"](q, "kill"), rules) is False, "another deed"
    early = replace(asked, seat=victim, round=1)
    changes[:] = [lambda game: replace(game, asks=(*game.asks, early))]
    assert found(lambda q: FACTS["dead_may"](q, deed), rules) is (deed != "see"), (
        "a night before the death does not count"
    )


def test_the_dead_return_where_they_are_in_the_game_again(games: Games) -> None:
    """No rules bring anybody back: so a game is given that does."""
    played, changes = games
    assert found(FACTS["dead_return"], SHERIFF) is False
    (game,) = played
    assert sum(not game.alive(seat) for seat in range(SHERIFF.players)) == 1
    assert game.state.round > 2, "there was a day and a night after the death"

    def all_back(game: Trial) -> Trial:
        state = copy(game.state)
        state.alive = (1 << SHERIFF.players) - 1
        return replace(game, state=state)

    changes[:] = [all_back]
    assert found(FACTS["dead_return"], SHERIFF) is True
