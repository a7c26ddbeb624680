"""What a claim says of the rules, and what the kind of question about the same rule says.

Audits decide claims in small games of their own (`wolflab.wwqa.trials`); building a set answers kinds in
other ones (`wolflab.wwqa.kinds.rules`). The two are set up apart and must agree under every preset, and under
every ruleset that differs from one in a switch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from copy import copy
from dataclasses import replace
from typing import Any

import pytest

from marks import with_slow
from wolflab.rules import PASS, PRESETS, SHERIFF, Ruleset, preset
from wolflab.wwqa import claims
from wolflab.wwqa.building import engine_answer, variants
from wolflab.wwqa.claims import CLAIMS, RuleClaim, holds_under
from wolflab.wwqa.kinds import KINDS
from wolflab.wwqa.kinds.kind import words_of_role
from wolflab.wwqa.situations import GameSituation
from wolflab.wwqa.trials import Trial, trial

Expected = bool | None


def answer(rules: Ruleset, kind: str, /, **asked: str) -> object:
    """The answer of that kind of question; None where these rules give none."""
    words = words_of_role(asked.pop("role")) if "role" in asked else {}
    return engine_answer(KINDS[kind], rules, GameSituation("night", 1, rules.players), words | asked)


def says(kind: str, /, *wanted: object, **asked: str) -> Callable[[Ruleset], Expected]:
    """Whether the answer to that kind is one of those wanted."""

    def expected(rules: Ruleset) -> Expected:
        value = answer(rules, kind, **asked)
        return None if value is None else value in wanted

    return expected


def unless(kind: str, nothing: str, /, *wanted: object, **asked: str) -> Callable[[Ruleset], Expected]:
    """The same, where the answer `nothing` says that these rules know no such thing."""
    return lambda rules: (
        None if answer(rules, kind, **asked) == nothing else says(kind, *wanted, **asked)(rules)
    )


PAIRS: tuple[tuple[str, tuple[str | int, ...], Callable[[Ruleset], Expected]], ...] = (
    *(
        ("acts", (role, "night 1"), says("acts-at-night", True, role=role))
        for role in ("Werewolf", "Seer", "Villager", "Guard", "Doctor", "Hunter")
    ),
    *(
        ("knows_role", (role, role), says("know-each-other", True, role=role))
        for role in ("Werewolf", "Villager")
    ),
    ("shield_saves", ("kill",), says("shield-saves-from", True, how="kill")),
    ("seer_learns", ("role",), says("seer-learns-what", "role")),
    ("split_kills", (0,), says("pack-differs", "nobody", most="no")),
    ("announced", ("role of the voted out",), says("roles-shown", "always")),
    ("announced", ("role of the killed",), says("roles-shown", "always", "first night")),
    ("announced", ("killers",), says("choice-is-public", True, kind="kill", role="Werewolf")),
    ("dead_may", ("vote",), says("has-vote", True, whom="dead")),
    ("must", ("vote",), says("votes-for-whom", False, whom="nobody")),
    ("may", ("player", "vote", "self"), says("votes-for-whom", True, whom="self")),
    ("times", ("speak", 1), says("is-there-discussion", True)),
    ("leads", ("lot",), says("order-of-speech", "drawn once", "drawn daily")),
    ("leads", ("Sheriff",), says("order-of-speech", "neighbour")),
    ("speaks", ("Sheriff", 0), says("sheriff-speaks", True, end="first")),
    ("speaks", ("Sheriff", -1), says("sheriff-speaks", True, end="last")),
    ("sheriff_by", ("vote",), unless("how-sheriff", "none", "election")),
    ("sheriff_by", ("lot",), unless("how-sheriff", "none", "lot")),
    ("ends_without_sheriff", ("vote",), says("sheriff-leaves", "stop")),
    ("wins", ("werewolves", "parity"), says("werewolves-win-when", True, when="parity")),
    ("wins", ("werewolves", "out", "Villager"), says("werewolves-win-when", True, when="no plain")),
    ("wins", ("village", "wolves out"), says("village-wins-when", True, when="last")),
    ("may", ("Guard", "protect", "self"), says("may-choose", True, kind="protect", whom="self")),
    ("may", ("Werewolf", "kill", "self"), says("may-choose", True, kind="kill", whom="self")),
    ("may", ("Werewolf", "kill", "Werewolf"), says("may-choose", True, kind="kill", whom="pack")),
)
"""A claim, and when the kind about the same rule says that it holds."""


@pytest.mark.parametrize("name", with_slow(PRESETS, ["nine", "twelve"]))
def test_claims_and_kinds_say_the_same(name: str) -> None:
    base = preset(name)
    compared: Counter[str] = Counter()
    for rules in (base, *variants(base).values()):
        for kind, about, expected in (*PAIRS, *counts(rules)):
            claim = RuleClaim(kind, about)
            found, wanted = holds_under(claim, rules), expected(rules)
            if found is not None and wanted is not None:
                compared[str(claim)] += 1
                assert found == wanted, f"{rules.name}: {claim}"
    assert len(compared) > len(PAIRS) / 2


def counts(rules: Ruleset) -> Collection[tuple[str, tuple[str | int, ...], Callable[[Ruleset], Expected]]]:
    """Claims with the numbers of these rules."""
    numbers = {role: answer(rules, "role-count", role=role) for role in rules.roles if rules.roles[role]}
    numbers["player"] = answer(rules, "player-count")
    found = [
        ("number_of", (what, "=", n), lambda _: True) for what, n in numbers.items() if isinstance(n, int)
    ]
    rounds = answer(rules, "rounds")
    return [*found, *([("ends_after", (rounds,), lambda _: True)] if isinstance(rounds, int) else [])]


# -- claims that no kind is about -----------------------------------------------------------


@pytest.mark.parametrize(
    ("sheriff", "true"),
    [("elected", "vote"), ("contested", "vote"), ("drawn", "lot"), ("assigned", "moderator"), ("none", None)],
)
def test_how_the_sheriff_comes_into_office(sheriff: Any, true: str | None) -> None:
    order = "sheriff_side" if sheriff != "none" else "ascending"
    rules = SHERIFF.with_(sheriff=sheriff, speaking_order=order)
    for how in ("vote", "lot", "moderator", "night"):
        assert holds_under(RuleClaim("sheriff_by", (how,)), rules) == (None if true is None else how == true)


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

    monkeypatch.setattr(claims, "trial", watched)
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
    assert CLAIMS["dead_may"](rules, deed) is False
    (game,) = played
    (victim,) = {seat for seat in range(rules.players) if not game.alive(seat)}
    assert game.state.round > 2, "there was a day and a night after the death"
    asked = next(ask for ask, _ in game.asks if ask.kind in claims._KINDS[deed])
    late = replace(asked, seat=victim, round=2)
    changes[:] = [lambda game: replace(game, asks=(*game.asks, (late, PASS)))]
    assert CLAIMS["dead_may"](rules, deed) is True
    assert CLAIMS["dead_may"](rules, "kill") is False, "another deed"
    early = replace(asked, seat=victim, round=1)
    changes[:] = [lambda game: replace(game, asks=(*game.asks, (early, PASS)))]
    assert CLAIMS["dead_may"](rules, deed) is (deed != "see"), "a night before the death does not count"


def test_the_dead_return_where_they_are_in_the_game_again(games: Games) -> None:
    """No rules bring anybody back: so a game is given that does."""
    played, changes = games
    assert CLAIMS["dead_return"](SHERIFF) is False
    (game,) = played
    assert sum(not game.alive(seat) for seat in range(SHERIFF.players)) == 1
    assert game.state.round > 2, "there was a day and a night after the death"

    def all_back(game: Trial) -> Trial:
        state = copy(game.state)
        state.alive = (1 << SHERIFF.players) - 1
        return replace(game, state=state)

    changes[:] = [all_back]
    assert CLAIMS["dead_return"](SHERIFF) is True
