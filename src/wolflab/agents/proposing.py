"""Candidates (004 §4.2, C.6): the model proposes several different actions, and one is chosen.

Secret actions and votes are proposed in one call; statements one after the other, with the earlier ones
shown. No more candidates are asked for than there are options. If the model gives fewer after all retries,
the choice is among these, and the note has the number asked for.
"""

from __future__ import annotations

from dataclasses import replace

from ..rules import Action
from ..text.asking.options import label
from ..text.intents import Intent, chosen, intent_in_words, intents, possible
from ..text.notes import Candidate, Proposed, Thought
from ..text.questions import Decide, Propose
from ..text.replies.parsed import Decided, Problem, Proposals
from .base import Invalid, Reply
from .choosing import choose_among
from .deliberation import Deliberation, Findings
from .recipes import Proposal


async def act(turn: Deliberation, findings: Findings, stage: Proposal) -> Reply:
    """Propose, choose, and reply with the chosen candidate."""
    if stage.source == "intents":
        return await _intended(turn, findings)
    proposed = await _proposals(turn, findings, stage)
    if isinstance(proposed, Problem):
        return Reply(Invalid(proposed.reason), tuple(turn.notes))
    ruleset, kind = findings.now.ruleset, turn.ask.kind
    candidates = tuple(
        Candidate(label(decided.action, kind, ruleset), decided.reasoning) for decided in proposed
    )
    asked = _asked(turn, stage)
    turn.notes.append(("propose", Proposed(candidates, asked if len(candidates) < asked else 0)))
    number = await choose_among(turn, findings, candidates)
    taken = proposed[number]
    if turn.recipe.think == "before_statements" and turn.ask.options is None and taken.reasoning:
        # 004 H.3: another call words the statement, which does not reason as the speaker's role.
        return await turn.respond(replace(findings, plan=taken.reasoning))
    if turn.recipe.layout == "dialogue":
        turn.notes.append(("act", turn.taken(findings, candidates[number])))
    if taken.reasoning:
        turn.notes.append(("act", Thought(taken.reasoning)))
    return Reply(taken.action, tuple(turn.notes))


def _asked(turn: Deliberation, stage: Proposal) -> int:
    """The number of candidates to ask for: N, or the number of options if it is smaller."""
    return stage.candidates if turn.ask.options is None else min(stage.candidates, len(turn.ask.options))


async def _proposals(
    turn: Deliberation, findings: Findings, stage: Proposal
) -> tuple[Decided, ...] | Problem:
    """The different candidates, at least one; a Problem if none is usable."""
    if turn.ask.options is not None:
        task = Propose(turn.ask, _asked(turn, stage))
        answer = await turn.put("propose", findings.now, task, turn.notes, findings.beliefs)
        if isinstance(answer, Problem):
            return answer
        assert isinstance(answer, Proposals)
        return answer.candidates
    made: dict[Action, Decided] = {}
    problem = Problem("no usable reply")
    for number in range(1, stage.candidates + 1):
        earlier = tuple(
            Candidate(label(decided.action, turn.ask.kind, findings.now.ruleset), decided.reasoning)
            for decided in made.values()
        )
        task = Propose(turn.ask, 1, earlier)
        answer = await turn.put(f"propose/{number}", findings.now, task, turn.notes, findings.beliefs)
        if isinstance(answer, Proposals):
            made.setdefault(answer.candidates[0].action, answer.candidates[0])
        elif isinstance(answer, Problem):
            problem = answer
    return tuple(made.values()) or problem


async def _intended(turn: Deliberation, findings: Findings) -> Reply:
    """004's Atomic agent: a policy picks an intent, and for a statement the model words it."""
    ruleset, ask = findings.now.ruleset, turn.ask
    open_: list[Intent] = [intent for intent in intents(ruleset) if possible(intent, ask, findings.now.alive)]
    if not open_:
        return await turn.respond(findings)  # no intent means yes or no (the Witch's antidote)
    candidates = tuple(Candidate(intent_in_words(intent, ruleset)) for intent in open_)
    turn.notes.append(("propose", Proposed(candidates)))
    intent = open_[await choose_among(turn, findings, candidates)]
    if ask.options is not None:
        action = chosen(intent, ask)
        assert action is not None
        return Reply(action, tuple(turn.notes))
    return await turn.respond(findings, Decide(ask, intent=intent))
