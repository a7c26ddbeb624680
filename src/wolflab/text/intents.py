"""The fixed intents of 004's Atomic agent: what to do, without the words for it.

Idle; one intent a player to target; one a role to claim; hiding one's role: 13 in the game of seven with
four roles (004 §5.1). A policy picks one; for a statement the model then words it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..rules import PASS, Action, Ask, Ruleset, pick


@dataclass(frozen=True, slots=True)
class Intent:
    """kind: "idle", "target" (a `seat`), "claim" (a `role`) or "hide" (one's role)."""

    kind: Literal["idle", "target", "claim", "hide"]
    seat: int | None = None
    role: str | None = None


IDLE, HIDE = Intent("idle"), Intent("hide")


@lru_cache(64)
def intents(ruleset: Ruleset) -> tuple[Intent, ...]:
    """Every intent of a ruleset, always in the same order: idle, targets by seat, claims, hide."""
    targets = (Intent("target", seat=seat) for seat in range(ruleset.players))
    claims = (Intent("claim", role=role.name) for role in ruleset.cast)
    return (IDLE, *targets, *claims, HIDE)


def possible(intent: Intent, ask: Ask, alive: tuple[int, ...]) -> bool:
    """Whether an intent can be carried out as the answer to `ask`: another living player is targeted in a
    statement, a legal option in a choice; claims are for statements alone.
    """
    if ask.options is not None:
        return chosen(intent, ask) is not None
    return intent.seat is None or (intent.seat in alive and intent.seat != ask.seat)


def chosen(intent: Intent, ask: Ask) -> Action | None:
    """The option that an intent means, where `ask` offers a choice; None if it means none of them."""
    assert ask.options is not None
    if intent.kind == "idle":
        return PASS if PASS in ask.options else None
    action = None if intent.seat is None else pick(intent.seat)
    return action if action in ask.options else None


def intent_in_words(intent: Intent, ruleset: Ruleset) -> str:
    """The intent in a few words, as a policy embeds it and a prompt names it."""
    match intent.kind:
        case "idle":
            return "idle"
        case "target":
            assert intent.seat is not None
            return f"target {ruleset.names[intent.seat]}"
        case "claim":
            return f"claim to be the {intent.role}"
        case "hide":
            return "do not reveal your role"
