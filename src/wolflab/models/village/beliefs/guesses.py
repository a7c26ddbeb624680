"""Answers to `Deduce` and `Rate`: the posterior in the form of a model's reply.

The guess is the likeliest role, "Uncertain" where none stands out; the confidence is the bin (see below) of
the guess's probability. The bins are calibrated on self-play (tested).
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import Any

from ....rules import ROLES, Ruleset
from ....text.notes import UNCERTAIN
from ....text.questions import Deduce, Rate, Situation
from .posterior import Posterior
from .worlds import SHIELD, role_class

BINS = (0.5, 0.65, 0.8, 0.9, 0.97)
"""Lower bounds of P(guess) for the confidences 6, 7, 8, 9, 10; below the first it is 5."""

STANDS_OUT = 0.4
"""A guess less probable than this is "Uncertain"."""

LEAD = 0.06
"""… and so is one that leads the next role by less."""


def confidence(probability: float) -> int:
    """5 … 10 for the probability of a guess."""
    return 5 + bisect_right(BINS, probability)


def guessed_roles(now: Situation, task: Deduce, posterior: Posterior) -> dict[str, Any]:
    """The reply to `task`: by player's name, the guess and the attributes asked for."""
    rules = now.ruleset
    guesses = _written_as(posterior.roles, task.guesses)
    numbers_of = {line.position: line.cited for line in now.lines}
    reply: dict[str, Any] = {}
    for target in task.targets:
        name = rules.names[target]
        role, sure, chance = _guess(posterior, target, guesses, rules, UNCERTAIN in task.guesses)
        evidence = [numbers_of[position] for position in posterior.summary.evidence(target)]
        entry: dict[str, Any] = {}
        if "reasoning" in task.attributes:
            entry["reasoning"] = _reason(name, role, chance, posterior.wolf[target], evidence)
        entry["role"] = role
        if "confidence" in task.attributes:
            entry["confidence"] = sure
        if "evidence" in task.attributes:
            entry["evidence"] = evidence
        reply[name] = entry
    return reply


@lru_cache(1 << 10)
def _written_as(roles: tuple[str, ...], guesses: tuple[str, ...]) -> tuple[str | None, ...]:
    """The name in `guesses` of each role of the cast (Guard and Doctor are one duty)."""
    shield = next((g for g in guesses if g in ROLES and role_class(ROLES[g]) == SHIELD), None)
    return tuple(
        name if name in guesses else shield if role_class(ROLES[name]) == SHIELD else None for name in roles
    )


def _guess(
    posterior: Posterior, target: int, guesses: tuple[str | None, ...], rules: Ruleset, unsure: bool = True
) -> tuple[str, int, float]:
    """The role, the confidence, and P(the likeliest role). unsure: whether “Uncertain” may be answered."""
    chances = posterior.marginals[target]
    second, chance = sorted((0.0, *chances))[-2:]
    role = guesses[chances.index(chance)]
    if not unsure and role is not None:
        return role, confidence(chance), chance
    if role is None or chance < STANDS_OUT or chance - second < LEAD:
        at_start = rules.wolves / (rules.players - 1)
        return UNCERTAIN, 5 if posterior.wolf[target] >= at_start else 6, chance
    return role, confidence(chance), chance


def _reason(name: str, role: str, chance: float, wolf: float, numbers: list[int | str]) -> str:
    where = ""
    if len(numbers) > 1:
        where = f" Lines {numbers[-2]} and {numbers[-1]} weigh most."
    elif numbers:
        where = f" Line {numbers[0]} weighs most."
    if role == UNCERTAIN:
        lean = "a little more" if wolf > 0.34 else "no more"
        return f"Too little is known of {name}, who is {lean} likely to be a Werewolf than others.{where}"
    how = ("may well be", "is probably", "is very likely", "must be")[
        (chance >= 0.5) + (chance >= 0.8) + (chance >= 0.97)
    ]
    article = "a" if ROLES[role].wolf or ROLES[role].plain else "the"
    return f"By what {name} said and did, and what others made of it, {name} {how} {article} {role}.{where}"


def rated_reliability(now: Situation, task: Rate, posterior: Posterior) -> dict[str, Any]:
    """The reply to `task`: 1 (never believe) … 10 (always), falling with P(Werewolf)."""
    names = now.ruleset.names
    return {names[target]: 1 + round(9 * (1 - posterior.wolf[target])) for target in task.targets}
