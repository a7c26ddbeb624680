"""Deduction (002 §3.1, 004 §4.1): a player judges others before it acts, and notes its beliefs."""

from __future__ import annotations

from ..rules import Pick
from ..text.notes import UNCERTAIN, Belief, Deduced, trust
from ..text.questions import Deduce, Situation, guessable
from ..text.replies.parsed import Judged, Judgement
from .deliberation import Deliberation, Findings, Notes
from .memory import Memory, situation
from .recipes import Deduction


async def deduce(turn: Deliberation, stage: Deduction) -> Findings:
    """Judge the others, if this kind of ask needs it, and split statements by the new beliefs."""
    group = _targets(turn, stage)
    if not group:
        now = situated(turn, stage)
        return Findings(now, judged=_living(turn.memory.beliefs, now))
    return _findings(turn, stage, await _judged(turn, stage, group))


def _findings(turn: Deliberation, stage: Deduction, beliefs: dict[int, Belief]) -> Findings:
    now = situated(turn, stage, beliefs)
    judged = _living(beliefs, now)
    return Findings(now, judged if stage.show else (), judged=judged)


def recorded_findings(turn: Deliberation, notes: Notes) -> Findings:
    """The findings of a recorded turn, from its notes; nobody is asked. For recipes that do not reflect."""
    stage = turn.recipe.deduce
    made = [belief for _, note in notes if isinstance(note, Deduced) for belief in note.beliefs]
    if stage is not None and any(isinstance(note, Deduced) for _, note in notes):
        return _findings(turn, stage, turn.memory.beliefs | {belief.target: belief for belief in made})
    now = situated(turn, stage)
    return Findings(now, judged=() if stage is None else _living(turn.memory.beliefs, now))


def situated(
    turn: Deliberation, stage: Deduction | None, beliefs: dict[int, Belief] | None = None
) -> Situation:
    """The situation with statements split by reliability (see `memory.situation`). Without a deduction stage
    that asks for confidence they are not split.
    """
    alpha = stage.alpha if stage is not None and "confidence" in stage.attributes else None
    return situation(turn.view, turn.memory, turn.ask, turn.recipe.layout, alpha, beliefs)


def _targets(turn: Deliberation, stage: Deduction) -> tuple[int, ...]:
    """The seats to judge before this ask; none on the first night (004 §4.1)."""
    ask, memory = turn.ask, turn.memory
    if ask.kind in ("campaign", "succeed", "last-words") or (ask.phase == "night" and ask.round == 1):
        return ()
    others = memory.alive
    if ask.kind == "elect" and ask.options is not None:
        others = tuple(option.seat for option in ask.options if isinstance(option, Pick))
    skipped = () if stage.judge_pack else memory.pack
    return tuple(seat for seat in others if seat != memory.seat and seat not in skipped)


async def _judged(turn: Deliberation, stage: Deduction, group: tuple[int, ...]) -> dict[int, Belief]:
    """Judge `group`, in one call or in one for each, gathered. Returns the latest belief about each
    player.
    """
    now, each = situated(turn, stage), stage.calls == "each"
    previous = _living(turn.memory.beliefs, now) if stage.show else ()

    async def judge(some: tuple[int, ...]) -> tuple[Notes, Judged | None]:
        notes: Notes = []
        task = Deduce(turn.ask, some, guessable(turn.view.ruleset), stage.attributes)
        step = f"deduce/{some[0]}" if each else "deduce"
        answer = await turn.put(step, now, task, notes, previous)
        return notes, answer if isinstance(answer, Judged) else None

    groups = [(target,) for target in group] if each else [group]
    places = {line.number: line.position for line in now.lines}
    beliefs: list[Belief] = []
    for notes, judged in await turn.io.gather(judge(some) for some in groups):
        turn.notes += notes
        if judged is not None:
            beliefs += [_belief(judgement, stage, turn.memory, places) for judgement in judged.judgements]
    turn.notes.append(("deduce", Deduced(tuple(beliefs), final=turn.ask.kind == "vote")))
    return turn.memory.beliefs | {belief.target: belief for belief in beliefs}


def _belief(judgement: Judgement, stage: Deduction, memory: Memory, places: dict[int, int]) -> Belief:
    """The belief from a judgement, with its reliability m (002 Eq. 2) and its evidence as positions."""
    if judgement.role == UNCERTAIN and stage.uncertain is not None:
        reliability = stage.uncertain
    else:
        exception = stage.wolf_exception and bool(memory.pack)
        reliability = trust(judgement.role, judgement.confidence, exception)
    evidence = tuple(sorted({places[n] for n in judgement.evidence if n in places}))
    return Belief(
        judgement.target, judgement.role, judgement.confidence, reliability, evidence, judgement.reasoning
    )


def _living(beliefs: dict[int, Belief], now: Situation) -> tuple[Belief, ...]:
    return tuple([belief for target, belief in sorted(beliefs.items()) if target in now.alive])
