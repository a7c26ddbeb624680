"""What the Atomic agent is to copy: the deduction-only agent's action, as the fixed intent nearest to it.

Among intents a player has no idea of its own, as it has among candidates that it proposed. So a lesson lets
it act as if it had no policy, and notes which of the intents that was: an option's target; passing as being
idle; of a statement what is read in its words, first a claim (or a report, which is one), then whom it turns
against.
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
from ...agents.policy.base import Observation, Policy, Weights
from ...agents.recipes import Recipe
from ...policy.rollout import LearningSeat
from ...rules import PASS, Action, Ask, Pick, Ruleset, Say
from ...text.intents import HIDE, IDLE, Intent, intent_in_words, intents, possible
from ...text.notes import Candidate, Proposed
from ...text.reading import Accusation, Claim, Report, Suggestion, read


class CloningAgent(LanguageAgent):
    """A learning seat that plays as the deduction-only agent and keeps what it would have had to choose."""

    def __init__(self, recipe: Recipe, policy: Policy) -> None:
        super().__init__(recipe, policy=policy)

    async def answer(self, turn: Deliberation, findings: Findings) -> Reply:
        """Act first; then weigh the intents with all of π on the one that this was."""
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
            await choose_among(turn, findings, candidates, "policy")
        return replace(reply, notes=tuple(turn.notes))


class _Certain:
    """All of π on one candidate, kept as a learning seat's decision."""

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
    """The intent that an action comes nearest to; None for an option that no intent means."""
    if isinstance(action, Pick):
        return Intent("target", seat=action.seat)
    if isinstance(action, Say):
        return _spoken(action.text, ask.seat, ruleset)
    return IDLE if action == PASS else None


def _spoken(text: str, seat: int, ruleset: Ruleset) -> Intent:
    """What a statement is about, as it is read."""
    acts = read(text, ruleset.names, seat)
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
    """The role whose report it is: that of any shield is read as "protect"."""
    duties = ((role, duty) for role in ruleset.cast for duty in role.duties)
    return next((r.name for r, d in duties if d.kind == kind or (d.shields and kind == "protect")), None)
