"""What a claim says of the rules, and what the kind of question about the same rule says.

Audits decide claims in small games of their own (`wolflab.wwqa.trials`); building a set answers kinds in
other ones (`wolflab.wwqa.kinds.rules`). The two are set up apart and must agree under every preset, and under
every ruleset that differs from one in a switch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

import pytest

from wolflab.rules import PRESETS, Ruleset, preset
from wolflab.wwqa.building import engine_answer, variants
from wolflab.wwqa.claims import RuleClaim, decided
from wolflab.wwqa.kinds import KINDS
from wolflab.wwqa.kinds.kind import words_of_role
from wolflab.wwqa.situations import GameSituation

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


@pytest.mark.parametrize("name", PRESETS)
def test_claims_and_kinds_say_the_same(name: str) -> None:
    base = preset(name)
    compared: Counter[str] = Counter()
    for rules in (base, *variants(base).values()):
        for kind, about, expected in (*PAIRS, *counts(rules)):
            claim = RuleClaim(kind, about)
            found, wanted = decided(claim, rules), expected(rules)
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
