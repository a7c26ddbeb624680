"""Random play against an independent calculation, and trees small enough to count by hand.

`random_play_oracle` knows the rules and not the engine. Presets: 6,000 games each (or as many as
`WOLFLAB_RANDOM_GAMES` says), half for the large, must lie within 4.5 standard deviations of it. Tiny games:
the engine's whole tree is walked, and the probabilities must be the oracle's as fractions, without any
tolerance.
"""

from __future__ import annotations

import dataclasses
import os
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, product
from math import factorial, prod, sqrt
from typing import Any

import pytest

import random_play_oracle as oracle
from marks import slow_except
from rules_helpers import Game, leaves, uniform
from wolflab.rules import DOCTOR, NINE, SHERIFF, TWELVE, WITCH, Outcome, Ruleset, preset
from wolflab.rules.engine import begin, step

GAMES = int(os.environ.get("WOLFLAB_RANDOM_GAMES", "6000"))

PRESETS = {
    "sheriff elected": (SHERIFF, oracle.SHERIFF),
    "sheriff assigned": (SHERIFF.with_(sheriff="assigned", sheriff_death="stop"), oracle.ASSIGNED),
    "witch": (WITCH, oracle.WITCH),
    "doctor": (DOCTOR, oracle.DOCTOR),
    "nine": (NINE, oracle.NINE),
    "ten": (preset("ten"), oracle.TEN),
    "twelve": (TWELVE, oracle.TWELVE),
}


def end(outcome: Outcome) -> oracle.End:
    return outcome.winner.name.lower(), outcome.reason.name.lower()


@pytest.mark.parametrize("name", slow_except(["doctor"], PRESETS))
def test_random_play_ends_as_often_as_the_oracle_says(name: str) -> None:
    rules, spec = PRESETS[name]
    expected = oracle.ends(spec)
    assert sum(expected.values()) == pytest.approx(1, abs=1e-12)
    choose, start = uniform(random.Random(f"known counts, {name}")), begin(rules).state
    seen: Counter[oracle.End] = Counter()
    games = GAMES if rules.players < 9 else GAMES // 2  # of the large ones a second simulation plays more
    for _ in range(games):
        state = start
        while state.outcome is None:
            state = step(state, [choose(ask) for ask in state.asks]).state
        seen[end(state.outcome)] += 1
    assert set(seen) <= set(expected)
    for what, p in expected.items():
        p = float(p)
        sigma = sqrt(p * (1 - p) / games)
        # A rare end is a handful of games: half a game of slack stands for the step of the count.
        assert abs(seen[what] / games - p) <= 4.5 * sigma + 0.5 / games, (what, seen[what] / games, p)


@pytest.mark.slow
def test_the_oracle_tells_the_presets_apart() -> None:
    village = {
        name: sum(p for (winner, _), p in oracle.ends(spec).items() if winner == "village")
        for name, (_, spec) in PRESETS.items()
    }
    values = sorted(float(v) for v in village.values())
    assert all(b - a > 4.5 * sqrt(0.5 / GAMES) for a, b in pairwise(values)), village


@pytest.mark.parametrize(
    "change",
    [
        {"agreement": "last"},
        {"shield_may_pass": True},
        {"wolf_may_hit_pack": False},
        {"wolf_may_pass": True},
        {"pass_competes": True},
        {"tie_random": True},
        {"goal": "no_villager"},
        {"rounds": 5},
    ],
    ids=str,
)
def test_each_switch_moves_the_probabilities(change: dict[str, Any]) -> None:
    # A known count that a wrong switch would not change could not find the mistake. Random play cannot
    # see `guard_may_repeat` (less than 3e-5 in `witch`, by symmetry): tests/test_rules_night.py does.
    before = oracle.ends(oracle.SHERIFF)
    after = oracle.ends(dataclasses.replace(oracle.SHERIFF, **change))
    moves = [abs(float(before.get(end, 0)) - float(after.get(end, 0))) for end in {*before, *after}]
    assert max(moves) > 1e-3


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(
    "how",
    [
        {"self_vote": own, "abstain": abstain, "pass_competes": competes}
        for own in (True, False)
        for abstain, competes in ((False, False), (True, False), (True, True))
    ],
    ids=str,
)
def test_convolved_tallies_are_the_listed_ones(n: int, how: dict[str, bool]) -> None:
    ballots = [[t for t in range(n) if t != v or how["self_vote"]] + [-1] * how["abstain"] for v in range(n)]
    hits = total = 0
    for votes in product(*ballots):
        mine, *others = (votes.count(t) for t in range(n))
        hits += mine > max(others) and not (how["pass_competes"] and votes.count(-1) >= mine)
        total += 1
    assert oracle.voted_out(oracle.Spec("WVVVV", rounds=1, **how), n) == Fraction(hits, total)


# -- whole trees of tiny games --------------------------------------------------------------

TINY = Ruleset(
    name="tiny",
    roles={"Werewolf": 1, "Villager": 4},
    wolves_may_target_self=False,
    wolves_may_target_pack=False,
    discussion=False,
    may_abstain=False,
    max_rounds=1,
)


def deals(rules: Ruleset) -> int:
    """How many ways there are to deal: the multinomial coefficient."""
    return factorial(rules.players) // prod(factorial(n) for n in rules.roles.values())


def winning_or_tied(votes: tuple[int, ...]) -> int:
    top = max(votes.count(v) for v in votes)
    return sum(votes.count(v) == top for v in set(votes))


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        # the deal × the victim × what the four survivors vote
        ({}, 5 * 4 * 3**4),
        ({"may_abstain": True}, 5 * 4 * 4**4),
        ({"may_vote_self": True}, 5 * 4 * 4**4),
        ({"may_vote_self": True, "may_abstain": True}, 5 * 4 * 5**4),
        ({"votes": "open"}, 5 * 4 * 3**4),
        # nobody may die in the night: then five vote
        ({"wolves_may_pass": True}, 5 * (4 * 3**4 + 4**5)),
        # the Werewolf may kill itself, which ends the game at once
        ({"wolves_may_target_self": True}, 5 * (4 * 3**4 + 1)),
        # the Seer looks at any of the four others
        ({"roles": {"Werewolf": 1, "Villager": 3, "Seer": 1}}, 20 * 4 * 4 * 3**4),
        # the Guard shields any of five: one of them is the victim, then five vote
        pytest.param(
            {"roles": {"Werewolf": 1, "Villager": 3, "Guard": 1}},
            20 * 4 * (4 * 3**4 + 4**5),
            marks=pytest.mark.slow,
        ),
        # chance orders the four survivors
        ({"speaking_order": "random_day"}, 5 * 4 * 24 * 3**4),
    ],
)
def test_number_of_leaves(changes: dict[str, object], count: int) -> None:
    rules = TINY.with_(**changes)
    total, found = Fraction(0), 0
    for probability, _ in leaves(rules):
        total += probability
        found += 1
    assert found == count
    assert total == 1


def test_number_of_leaves_with_random_ties() -> None:
    ballots = [[t for t in range(4) if t != v] for v in range(4)]
    ways = sum(winning_or_tied(votes) for votes in product(*ballots))
    rules = TINY.with_(tie="random")
    assert sum(1 for _ in leaves(rules)) == 5 * 4 * ways


@pytest.mark.parametrize(
    ("changes", "spec"),
    [
        ({}, oracle.Spec("WVVVV", 1, wolf_may_hit_pack=False, self_vote=False, abstain=False)),
        (
            {"tie": "random"},
            oracle.Spec("WVVVV", 1, wolf_may_hit_pack=False, self_vote=False, abstain=False, tie_random=True),
        ),
        (
            {"may_abstain": True, "pass_competes": True},
            oracle.Spec("WVVVV", 1, wolf_may_hit_pack=False, self_vote=False, pass_competes=True),
        ),
        ({"max_rounds": 2}, oracle.Spec("WVVVV", 2, wolf_may_hit_pack=False, self_vote=False, abstain=False)),
        ({"wolves_may_target_self": True, "may_vote_self": True}, oracle.Spec("WVVVV", 1, abstain=False)),
        pytest.param(
            {"roles": {"Werewolf": 1, "Villager": 3, "Guard": 1}, "guard_may_pass": True},
            oracle.Spec(
                "WVVVG", 1, wolf_may_hit_pack=False, self_vote=False, abstain=False, shield_may_pass=True
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"roles": {"Werewolf": 2, "Villager": 3}, "wolf_agreement": "plurality", "wolves_may_pass": True},
            oracle.Spec(
                "WWVVV",
                1,
                "plurality",
                wolf_may_hit_pack=False,
                wolf_may_pass=True,
                self_vote=False,
                abstain=False,
            ),
            marks=pytest.mark.slow,
        ),
        (
            {"roles": {"Werewolf": 2, "Villager": 3}, "wolf_agreement": "last"},
            oracle.Spec("WWVVV", 1, "last", wolf_may_hit_pack=False, self_vote=False, abstain=False),
        ),
        (
            {"roles": {"Werewolf": 1, "Villager": 3, "Witch": 1}},
            oracle.Spec("WVVVX", 1, wolf_may_hit_pack=False, self_vote=False, abstain=False),
        ),
        (
            {"sheriff": "assigned", "sheriff_death": "stop"},
            oracle.Spec(
                "WVVVV", 1, wolf_may_hit_pack=False, self_vote=False, abstain=False, stops_at_sheriff=True
            ),
        ),
    ],
)
def test_whole_tree_has_exactly_the_oracles_probabilities(
    changes: dict[str, object], spec: oracle.Spec
) -> None:
    found: dict[oracle.End, Fraction] = defaultdict(Fraction)
    for probability, state in leaves(TINY.with_(**changes)):
        assert state.outcome is not None
        found[end(state.outcome)] += probability
    expected = {what: p for what, p in oracle.ends(spec, exact=True).items() if p}
    assert dict(found) == expected


# One deal stands for all below: random play treats the seats alike, and the trees grow with the deals.
HUNTED = TINY.with_(wolf_agreement="plurality")
HUNTERS = oracle.Spec("", 1, "plurality", wolf_may_hit_pack=False, self_vote=False, abstain=False)
LETTERS = {"W": "Werewolf", "V": "Villager", "S": "Seer", "G": "Guard", "X": "Witch", "H": "Hunter"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cast", "changes", "spec"),
    [
        ("WVVVH", {}, {}),
        ("WVVVH", {"max_rounds": 2}, {"rounds": 2}),
        ("WVVVH", {"hunter_shoots_when_voted_out": False}, {"hunter_at_vote": False}),
        ("WVVVH", {"hunter_shoots_when_killed": False}, {"hunter_at_kill": False}),
        ("WVVVH", {"may_abstain": True, "votes": "open"}, {"abstain": True}),
        ("WVVVH", {"wolves_win": "no_villager"}, {"goal": "no_villager"}),
        ("WVVVH", {"wolves_win": "no_villager_or_no_ability"}, {"goal": "no_villager_or_no_ability"}),
        (
            "WVVVH",
            {"wolves_may_target_self": True, "wolves_may_target_pack": True},
            {"wolf_may_hit_pack": True},
        ),
        ("WVVVH", {"sheriff": "assigned", "sheriff_death": "stop"}, {"stops_at_sheriff": True}),
        ("WVVHH", {}, {}),
        ("WVVHH", {"hunter_shoots_when_killed": False}, {"hunter_at_kill": False}),
        ("WVVHH", {"wolves_win": "no_villager_or_no_ability"}, {"goal": "no_villager_or_no_ability"}),
        ("WWVVH", {"wolves_may_pass": True}, {"wolf_may_pass": True}),
        ("WWVVH", {"wolves_win": "no_villager_or_no_ability"}, {"goal": "no_villager_or_no_ability"}),
        ("WVVXH", {}, {}),
        ("WVVXH", {"hunter_shoots_when_poisoned": True}, {"hunter_at_poison": True}),
        (
            "WVVXH",
            {"witch_may_use_both": False, "wolves_win": "no_villager_or_no_ability"},
            {"both_potions": False, "goal": "no_villager_or_no_ability"},
        ),
        ("WVXHH", {"hunter_shoots_when_poisoned": True}, {"hunter_at_poison": True}),
        ("WVGXH", {}, {}),
        ("WVGXH", {"shield_and_antidote": "saves"}, {"shield_and_antidote": "saves"}),
        ("WVGXH", {"shield_and_antidote": "kills"}, {"shield_and_antidote": "kills"}),
        (
            "WVGXH",
            {"shield_and_antidote": "kills", "guard_may_pass": True, "witch_may_use_both": False},
            {"shield_and_antidote": "kills", "shield_may_pass": True, "both_potions": False},
        ),
    ],
    ids=str,
)
def test_whole_tree_of_a_deal_with_hunters_has_exactly_the_oracles_probabilities(
    cast: str, changes: dict[str, object], spec: dict[str, Any]
) -> None:
    roles = [LETTERS[letter] for letter in cast]
    rules = HUNTED.with_(roles=Counter(roles), **changes)
    found: dict[oracle.End, Fraction] = defaultdict(Fraction)
    for probability, state in leaves(rules, None if rules.sheriff == "assigned" else roles):
        assert state.outcome is not None
        found[end(state.outcome)] += probability
    spec = dataclasses.asdict(HUNTERS) | {"cast": cast} | spec
    assert dict(found) == {what: p for what, p in oracle.ends(oracle.Spec(**spec), exact=True).items() if p}


@pytest.mark.parametrize(
    "change",
    [
        {"hunter_at_vote": False},
        {"hunter_at_kill": False},
        {"hunter_at_poison": True},
        {"both_potions": False},
        {"shield_and_antidote": "kills"},  # "saves" only spends the antidote: tests/test_rules_hunter.py
        {"goal": "no_villager"},
        {"goal": "no_villager_or_no_ability"},
    ],
    ids=str,
)
def test_each_switch_of_the_hunters_games_moves_the_probabilities(change: dict[str, Any]) -> None:
    spec = dataclasses.replace(HUNTERS, cast="WVGXH")
    before, after = oracle.ends(spec), oracle.ends(dataclasses.replace(spec, **change))
    moves = [abs(float(before.get(end, 0)) - float(after.get(end, 0))) for end in {*before, *after}]
    assert max(moves) > 1e-2


# The deals of `twelve` are too many to walk.
@pytest.mark.parametrize(
    "rules", [r.with_(max_rounds=1) for r, _ in PRESETS.values() if r is not TWELVE], ids=str
)
def test_every_deal_is_as_likely(rules: Ruleset) -> None:
    """Chance deals seat by seat, with weights; all arrangements must come out equal."""
    stack, found = [(Fraction(1), begin(rules).state)], []
    while stack:
        chance, state = stack.pop()
        if len(state.roles) == rules.players:
            found.append((chance, tuple(role.name for role in state.roles)))
            continue
        (ask,) = state.asks
        assert ask.options is not None
        assert ask.weights is not None
        for option, weight in zip(ask.options, ask.weights, strict=True):
            stack.append((chance * Fraction(weight, sum(ask.weights)), step(state, [option]).state))
    assert len(found) == len({roles for _, roles in found}) == deals(rules)
    assert {chance for chance, _ in found} == {Fraction(1, deals(rules))}


def test_a_game_is_reproduced_by_its_replies() -> None:
    first = Game(WITCH)
    first.play(uniform(random.Random(5)))
    again = Game(WITCH)
    again.play(lambda ask: first.replies[ask.id])
    assert again.log.events == first.log.events
