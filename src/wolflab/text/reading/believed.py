"""How a claim changes the meaning of the words beside it: a Seer's verdicts are results of checks, and a
speaker who believes a Seer shares them.

For `text.reading`, on acts that are read already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .acts import GOOD, WEREWOLF, Accusation, Act, Claim, Defence, Report
from .sentence import ME

_REASONED = re.compile(
    r"\b(?:so|therefore|hence|must|because|since|means?|thus|claim\w*|certainly|surely|lying|counter\w*|"
    r"think|believe)\b"
)
"""Words of an argument: the verdict beside them need not be a result."""
_CARD = re.compile(
    r"\b(?:clean|clear|cleared|green|good|human|not an? (?:were)?wolf|isn't an? (?:were)?wolf|no "
    r"(?:were)?wolf)\b"
)
"""Verdicts that a Seer gives flatly only after a check."""


def is_flat_verdict(raw: str) -> bool:
    """Whether a Seer's sentence says flatly what somebody's card is."""
    return _CARD.search(raw.lower()) is not None and not _REASONED.search(raw.lower())


def as_seer_results(acts: list[Act], text: str) -> list[Act]:
    """The acts of a sentence in which the speaker comes out as the Seer: a flat verdict is a result."""
    if _REASONED.search(text):
        return acts
    results = list(acts)
    for index, act in enumerate(results):
        if isinstance(act, Accusation | Defence) and act.speaker == ME and act.strength == 3:
            result = WEREWOLF if isinstance(act, Accusation) else act.role or GOOD
            results[index] = Report(ME, "see", act.target, result, act.by)
    return results


def as_results(read: Iterable[Act], me: int) -> Iterator[Act]:
    """The acts, with flat verdicts of players who claim to be the Seer as results of checks."""
    acts = list(read)
    seers = {act.speaker for act in acts if isinstance(act, Claim) and act.role == "Seer" and not act.denied}
    for act in acts:
        if (
            isinstance(act, Accusation | Defence)
            and act.speaker in seers - {me}
            and act.target != act.speaker
        ):
            result = WEREWOLF if isinstance(act, Accusation) else act.role or GOOD
            acts.append(Report(act.speaker, "see", act.target, result, act.by))
            yield acts[-1]
        else:
            yield act
    yield from _shared_opinions(acts, me)


def contested(acts: list[Act]) -> Iterator[Act]:
    """The acts of a sentence; a player who claims in it the role that the speaker claims too is accused of
    lying.
    """
    yield from acts
    own = {act.role for act in acts if isinstance(act, Claim) and act.speaker == ME and not act.denied}
    own -= {"Villager", WEREWOLF}
    if not own:
        return
    judged = {act.target for act in acts if isinstance(act, Accusation | Defence) and act.speaker == ME}
    for act in acts:
        if isinstance(act, Claim) and act.speaker not in judged | {ME} and act.role in own and not act.denied:
            judged.add(act.speaker)
            yield Accusation(ME, act.speaker, 2, ME)


def _shared_opinions(acts: list[Act], me: int) -> Iterator[Act]:
    """A check that is reported by somebody whom the speaker believes is the speaker's opinion too."""
    trusted = {act.target for act in acts if isinstance(act, Defence) and act.speaker == me}
    judged = {act.target for act in acts if isinstance(act, Accusation | Defence) and act.speaker == me}
    for act in acts:
        if (
            isinstance(act, Report)
            and act.kind == "see"
            and act.speaker in trusted
            and act.target not in judged | {me}
        ):
            if act.what == WEREWOLF:
                yield Accusation(me, act.target, 2, me)
            else:
                yield Defence(me, act.target, 2, "", me)
