"""Behaviour cloning for the Atomic agent: the deduction-only agent's action, as the nearest fixed intent.

Fixed intents have no first choice to copy, unlike candidates that a player proposed. So the agent acts
without a policy, and the intent of its action is noted: an option's target; idle for passing; for a statement
the first of a claim (or report), then the player that it is against.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...agents.base import Invalid, Reply
from ...agents.choosing import choose_among
from ...agents.deliberation import Deliberation, Findings
from ...agents.language import LanguageAgent
from ...agents.planning import plan
from ...agents.policy.policy import Observation, Policy, Weights
from ...agents.recipes import Recipe
from ...policy.rollout import LearningSeat
from ...rules import PASS, Action, Ask, Pick, Ruleset, Say
from ...text.intents import HIDE, IDLE, Intent, intent_in_words, intents, possible
from ...text.notes import Candidate, Proposed
from ...text.reading import Accusation, Claim, Report, Suggestion, read_in


class CloningAgent(LanguageAgent):
    """A learning seat that plays as the deduction-only agent and notes the intent to choose."""

    def __init__(self, recipe: Recipe, policy: Policy) -> None:
        super().__init__(recipe, policy=policy)

    async def answer(self, turn: Deliberation, findings: Findings) -> Reply:
        """Act first; then note a decision with all of π on the action's intent."""
        if turn.proposal is None:
            return await super().answer(turn, findings)
        findings = await plan(turn, findings)
        reply = await turn.respond(findings)
        if isinstance(reply.action, Invalid):
            return reply
        ask, ruleset = turn.ask, turn.view.ruleset
        open_ = [intent for intent in intents(ruleset) if possible(intent, ask, findings.now.alive)]
        meant = intent_of(reply.action, ask, ruleset)
        if meant in open_:
            seat = self.policy
            assert isinstance(seat, LearningSeat)
            turn.policy = _Certain(seat, open_.index(meant))
            candidates = tuple(Candidate(intent_in_words(intent, ruleset)) for intent in open_)
            turn.notes.append(("propose", Proposed(candidates)))
            await choose_among(turn, findings, candidates)
        return replace(reply, notes=tuple(turn.notes))


class _Certain:
    """A policy with all of π on one candidate, recorded as a learning seat's decision."""

    instant = True
    name = "certain"

    def __init__(self, seat: LearningSeat, number: int) -> None:
        self._seat, self._number = seat, number

    async def weigh(self, observation: Observation) -> Weights:
        """See `Policy`."""
        shares = np.zeros(len(observation.candidates))
        shares[self._number] = 1.0
        return self._seat.keep(observation, Weights(shares, 0.0))

    def describe(self) -> dict[str, Any]:
        """See `Policy`."""
        return {"name": self.name}


def intent_of(action: Action, ask: Ask, ruleset: Ruleset) -> Intent | None:
    """The intent nearest to an action; None for an option without an intent."""
    if isinstance(action, Pick):
        return Intent("target", seat=action.seat)
    if isinstance(action, Say):
        return _spoken(action.text, ask.seat, ruleset)
    return IDLE if action == PASS else None


def _spoken(text: str, seat: int, ruleset: Ruleset) -> Intent:
    """The intent of a statement, as it is read."""
    acts = read_in(ruleset, text, seat)
    roles = [role.name for role in ruleset.cast]
    for act in acts:
        role = None
        if isinstance(act, Claim) and act.speaker == seat and not act.denied:
            role = act.role
        elif isinstance(act, Report) and act.speaker == seat:
            role = _reporting(act.kind, ruleset)
        if role in roles:
            return Intent("claim", role=role)
    for kind in (Suggestion, Accusation):
        for act in acts:
            if isinstance(act, kind) and act.speaker == seat and not getattr(act, "against", False):
                return Intent("target", seat=act.target)
    return HIDE if acts else IDLE


def _reporting(kind: str, ruleset: Ruleset) -> str | None:
    """The role of a report: that of any shield is read as "protect"."""
    duties = ((role, duty) for role in ruleset.cast for duty in role.duties)
    return next((r.name for r, d in duties if d.kind == kind or (d.shields and kind == "protect")), None)
