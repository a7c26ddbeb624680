"""Candidates (004 §4.2, C.6): several different actions, one of which is then taken.

Secret actions and votes are proposed in one call; statements one after the other, each seeing those before.
Too few different legal ones are normal (a pack of one has few targets): what is there is weighed.
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
from .deliberation import Deliberation, Found
from .recipes import Proposal


async def act(turn: Deliberation, found: Found, stage: Proposal) -> Reply:
    """Propose, choose, and reply with the chosen candidate."""
    if stage.source == "intents":
        return await _intended(turn, found)
    proposed = await _proposals(turn, found, stage)
    if isinstance(proposed, Problem):
        return Reply(Invalid(proposed.reason), tuple(turn.notes))
    ruleset, kind = found.now.ruleset, turn.ask.kind
    told = tuple(Candidate(label(one.action, kind, ruleset), one.reasoning) for one in proposed)
    turn.notes.append(("propose", Proposed(told)))
    taken = proposed[await choose_among(turn, found, told, stage.choose)]
    if turn.recipe.think == "before_statements" and turn.ask.options is None and taken.reasoning:
        # 004 H.3: the words come from a call that is not to reason as what the speaker is.
        return await turn.respond(replace(found, plan=taken.reasoning))
    if taken.reasoning:
        turn.notes.append(("act", Thought(taken.reasoning)))
    return Reply(taken.action, tuple(turn.notes))


async def _proposals(turn: Deliberation, found: Found, stage: Proposal) -> tuple[Decided, ...] | Problem:
    """The different candidates, at least one; a Problem where not even one is usable."""
    if turn.ask.options is not None:
        count = min(stage.candidates, len(turn.ask.options))
        answer = await turn.put("propose", found.now, Propose(turn.ask, count), turn.notes, found.beliefs)
        if isinstance(answer, Problem):
            return answer
        assert isinstance(answer, Proposals)
        return answer.candidates
    made: dict[Action, Decided] = {}
    problem = Problem("no usable reply")
    for number in range(1, stage.candidates + 1):
        earlier = tuple(
            Candidate(label(one.action, turn.ask.kind, found.now.ruleset), one.reasoning)
            for one in made.values()
        )
        task = Propose(turn.ask, 1, earlier)
        answer = await turn.put(f"propose/{number}", found.now, task, turn.notes, found.beliefs)
        if isinstance(answer, Proposals):
            made.setdefault(answer.candidates[0].action, answer.candidates[0])
        elif isinstance(answer, Problem):
            problem = answer
    return tuple(made.values()) or problem


async def _intended(turn: Deliberation, found: Found) -> Reply:
    """004's Atomic agent: a policy picks an intent, and the model words it where words are needed."""
    ruleset, ask = found.now.ruleset, turn.ask
    open_: list[Intent] = [one for one in intents(ruleset) if possible(one, ask, found.now.alive)]
    if not open_:
        return await turn.respond(found)  # the Witch's antidote is a yes or no that no intent means
    told = tuple(Candidate(intent_in_words(one, ruleset)) for one in open_)
    turn.notes.append(("propose", Proposed(told)))
    intent = open_[await choose_among(turn, found, told, "policy")]
    if ask.options is not None:
        action = chosen(intent, ask)
        assert action is not None
        return Reply(action, tuple(turn.notes))
    return await turn.respond(found, Decide(ask, intent=intent))
