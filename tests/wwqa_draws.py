"""Rulesets and situations drawn at random, for `test_wwqa_oracle.py`: what built questions seldom come to.

Votes and night choices gather on a few players, Hunters among them, so that ties, attacks on the shielded,
poison beside an attack and shots after shots are common. Choices are legal as the oracle reads the rules.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from wolflab.errors import RulesetError
from wolflab.rules import Ruleset
from wolflab.rules.switches import Switches
from wwqa_oracle import CHOICES, PASS, SHIELDING, NoAnswer, Table, may_pass, winner

CASTS = (
    {"Werewolf": 2, "Villager": 2, "Seer": 1, "Guard": 1, "Witch": 1},
    {"Werewolf": 2, "Villager": 2, "Seer": 1, "Witch": 1, "Hunter": 1},
    {"Werewolf": 2, "Villager": 2, "Seer": 1, "Witch": 1, "Hunter": 3},
    {"Werewolf": 3, "Villager": 3, "Seer": 1, "Hunter": 2, "Witch": 1, "Doctor": 1},
    {"Werewolf": 3, "Villager": 2, "Seer": 1, "Hunter": 1, "Witch": 1, "Idiot": 2},
)
HINTS = get_type_hints(Switches)


def drawn_rules(rng: random.Random) -> Ruleset:
    """Every switch at random, on a cast with many roles."""
    while True:
        values: dict[str, Any] = {"name": "drawn", "roles": rng.choice(CASTS), "candidates": 2}
        values["max_rounds"] = rng.randint(3, 5)
        for field in fields(Switches):
            options = (False, True) if HINTS[field.name] is bool else get_args(HINTS[field.name])
            if options and isinstance(options[-1], str | bool):
                values[field.name] = rng.choice(options)
        try:
            return Ruleset(**values)
        except RulesetError:
            continue


def drawn_situation(rules: Ruleset, rng: random.Random, moment: str) -> dict[str, Any] | None:
    """A night or a vote told in full, as an item's facts; None where it is not legal, or the game is over."""
    cards = [role for role, n in rules.roles.items() for _ in range(n)]
    rng.shuffle(cards)
    day = rng.randint(1, rules.max_rounds)
    most = len(cards) - 3
    gone = max(rng.randint(day - 1, most), rng.randint(day - 1, most)) if day > 1 else int(moment == "voting")
    dead = sorted(rng.sample(range(len(cards)), gone))
    alive = [s for s in range(len(cards)) if s not in dead]
    if winner(rules, [cards[s] for s in alive]):
        return None
    facts: dict[str, Any] = {"moment": moment, "round": day, "players": len(cards), "dead": dead}
    facts |= {"roles": cards, "told": []}
    if rules.sheriff != "none" and (day > 1 or moment == "voting"):
        facts["sheriff"] = rng.choice(alive)
    elif rules.sheriff in ("assigned", "contested"):
        facts["intended"] = rng.choice(alive)
    hunters = [s for s in alive if cards[s] == "Hunter"]
    favourites = [*rng.sample(alive, 1 if hunters else 2), *hunters[:2], PASS]

    def tell(kind: str, seat: int, options: Sequence[int | str]) -> None:
        best = [option for option in options if option in favourites]
        if options:
            facts["told"].append([kind, seat, rng.choice(best if best and rng.random() < 0.85 else options)])

    try:
        causes = (tell_vote if moment == "voting" else tell_night)(rules, facts, rng, tell)
    except NoAnswer:
        return None
    left = [s for s in alive if s not in causes]
    for seat in hunters if left else ():
        tell("shoot", seat, [*(s for s in left if s != seat), PASS])
    return facts


def tell_vote(rules: Ruleset, facts: dict[str, Any], rng: random.Random, tell: Any) -> dict[int, str]:
    """Tell all votes; who leaves by them."""
    table = Table(rules, facts)
    row = rng.sample(table.alive, len(table.alive)) if "random" in rules.speaking_order else table.alive
    row = sorted(row, key=lambda seat: seat == table.sheriff)
    if "random" in rules.speaking_order:
        facts["order"] = row
    for seat in row:
        options = [s for s in table.alive if table.may_vote_for(seat, s)]
        tell("vote", seat, [*options, PASS] if rules.may_abstain else options)
    first = Table(rules, facts).drawn_among(Table(rules, facts).ballots().values())
    return {first[0]: "vote"} if len(first) == 1 else {}


def tell_night(rules: Ruleset, facts: dict[str, Any], rng: random.Random, tell: Any) -> dict[int, str]:
    """Tell the potions and shields of the nights before, and all choices; who dies of them."""
    table = Table(rules, facts)
    potions = [[s, what] for s in table.holders("Witch") for what in ("antidote", "poison")]
    facts["spent"] = [potion for potion in potions if rng.random() < 0.25]
    shields = [s for role in SHIELDING for s in table.holders(role)]
    if table.round > 1:
        facts["shielded"] = [[s, rng.choice(table.alive)] for s in shields if rng.random() < 0.5]
    table = Table(rules, facts)
    for role in ("Werewolf", *SHIELDING, "Witch", "Seer"):
        for seat in table.holders(role):
            if role == "Witch":
                tell("antidote", seat, ["yes", "no"])
            options = table.open_to(seat)
            tell(CHOICES[role], seat, [*options, PASS] if may_pass(rules, role) else options)
    return Table(rules, facts).night().causes
