"""A reflective player's beliefs: the posterior from the messages in its context, joined with its texts.

A reflective player has only some of its messages in its context (003 §3.3). It knows the rest from its own
texts: earlier reflections among the lines, answers given in this turn. Evidence behind both is not counted
twice: of two judgements in the same direction the stronger counts, opposite ones are added (as log-odds), and
a text that repeats a belief adds nothing. This module makes no sentences and takes no decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log

from ....rules import ROLES, Learned, Revealed, Ruleset, Said, Shot, VictimShown, Voted
from ....text.notes import Reflected
from ....text.questions import Line, Situation
from ....text.reading import with_roles_marked
from .claims import claim_of
from .graded_words import grade_word, views_of
from .guesses import STANDS_OUT, confidence
from .posterior import Posterior, PosteriorEstimator, SituationSummary
from .worlds import role_class

KEPT = 0.5
"""Share of an earlier reflection's log-odds that still counts a turn later."""
FADED = 0.3
"""… and of one that was retrieved from further back."""

TEMPERED = 0.8
"""Share of the posterior's log-odds that counts: it was fitted on complete records, and is too sure on parts
of one."""


@dataclass(slots=True)
class Outlook:
    """A situation as its player sees it.

    wolf: P(Werewolf) by seat in thousandths, texts included. thought, sure: the role believed ("" unknown)
    and the confidence, 5–10. claims: seat → role claimed in public. certain: seats whose side is known.
    """

    situation: Situation
    posterior: Posterior
    wolf: list[int]
    thought: list[str]
    sure: list[int]
    claims: dict[int, str]
    certain: frozenset[int]

    def others(self) -> list[int]:
        """The living others."""
        return [seat for seat in self.situation.alive if seat != self.situation.seat]

    def ranked(self) -> list[int]:
        """The living others, the likeliest Werewolf first."""
        return sorted(self.others(), key=lambda seat: (-self.wolf[seat], seat))

    def claimants(self, kind: int) -> list[int]:
        """Living others who claim a role of that class (`worlds`)."""
        claims = sorted(self.claims.items())
        return [seat for seat, role in claims if seat in self.others() and role_class(ROLES[role]) == kind]


def outlook_of(estimator: PosteriorEstimator, situation: Situation) -> Outlook:
    """The outlook from the player's context, with its latest reflection."""
    summary = estimator.summary(situation, recalled=True)
    return _with_reflection(situation, estimator.of(situation, summary))


def widened(estimator: PosteriorEstimator, situation: Situation, messages: Sequence[Line]) -> Outlook:
    """The same with the messages retrieved for a question that are not in its context anyway."""
    before = {line.position for line in situation.lines}
    fresh = [line for line in messages if line.position not in before]
    summary = _further(estimator, estimator.summary(situation, recalled=True), fresh)
    outlook = _with_reflection(situation, estimator.of(situation, summary))
    reflections = [line.event.text for line in fresh if isinstance(line.event, Reflected)]
    return outlook_with_texts(outlook, reflections, FADED)


def _further(
    estimator: PosteriorEstimator, summary: SituationSummary, lines: Sequence[Line]
) -> SituationSummary:
    """The summary with the evidence of older events; the situation itself knows the present state."""
    fold = estimator.fold(summary.rules)
    further = replace(summary, learned=dict(summary.learned))
    for line in lines:
        if isinstance(line.event, Said | Voted | Shot | Revealed):
            further.node = fold.after(further.node, line.event)
        elif isinstance(line.event, Learned | VictimShown):
            further.learn(line.event)
    return further


def _with_reflection(situation: Situation, posterior: Posterior) -> Outlook:
    """The posterior as an outlook, joined with the latest reflection."""
    rules, summary = situation.ruleset, posterior.summary
    sides_known = (seat for seat, chance in enumerate(posterior.wolf) if chance < 5e-4 or chance > 0.9995)
    certain = frozenset({situation.seat, *situation.pack, *summary.learned, *sides_known})
    start = _odds(suspicion_at_start(rules))
    wolf = [
        round(1000 * chance)
        if seat in certain
        else _thousandths(start + TEMPERED * (_odds(1000 * chance) - start))
        for seat, chance in enumerate(posterior.wolf)
    ]
    thought, sure = [""] * rules.players, [0] * rules.players
    for seat, row in enumerate(posterior.marginals):
        best = max(row)
        if best >= STANDS_OUT:
            thought[seat], sure[seat] = posterior.roles[row.index(best)], confidence(best)
    role_of = _role_of(posterior.roles)
    claims = {seat: role_of[claim] for seat, claim in enumerate(summary.node.claims) if claim in role_of}
    outlook = Outlook(situation, posterior, wolf, thought, sure, claims, certain)
    reflections = [line.event.text for line in situation.lines if isinstance(line.event, Reflected)]
    return outlook_with_texts(outlook, reflections[-1:], KEPT)


@lru_cache(64)
def _role_of(roles: tuple[str, ...]) -> dict[int, str]:
    """The first of the cast's roles with each claim, for which the claim stands."""
    return {claim_of(role): role for role in reversed(roles)}


def outlook_with_texts(outlook: Outlook, texts: Sequence[str], kept: float = 1.0) -> Outlook:
    """The outlook with the judgements of texts. kept: the share of their log-odds that counts."""
    if not texts:
        return outlook
    rules = outlook.situation.ruleset
    views = [views_of(with_roles_marked(text, rules), rules.names, outlook.situation.seat) for text in texts]
    wolf, thought, sure = list(outlook.wolf), list(outlook.thought), list(outlook.sure)
    at_start = suspicion_at_start(rules)
    for seat in range(rules.players):
        said = [view.wolf[seat] for view in views if seat in view.wolf]
        if said and seat not in outlook.certain:
            wolf[seat] = pooled_suspicion(wolf[seat], said, at_start, kept)
    claims = dict(outlook.claims)
    for view in views:
        for seat, (role, level) in view.role.items():
            if seat not in outlook.certain and role in outlook.posterior.roles and level > sure[seat]:
                thought[seat], sure[seat] = role, level
        claims = view.claims | claims
    return Outlook(outlook.situation, outlook.posterior, wolf, thought, sure, claims, outlook.certain)


def pooled_suspicion(own: int, said: Sequence[int], at_start: int, kept: float) -> int:
    """P(Werewolf) in thousandths from the player's own value and those of texts; see the module."""
    news = [value for value in said if grade_word(value) != grade_word(own)]
    if not news:
        return own
    start = _odds(at_start)
    moves = [0.0, _odds(own) - start, *(kept * (_odds(value) - start) for value in news)]
    return _thousandths(start + max(moves) + min(moves))


def suspicion_at_start(ruleset: Ruleset) -> int:
    """P(Werewolf) in thousandths of a player about whom nothing is known."""
    return 1000 * ruleset.wolves // (ruleset.players - 1)


def _thousandths(odds: float) -> int:
    return min(999, max(1, round(1000 / (1 + exp(-odds)))))


def _odds(thousandths: float) -> float:
    share = min(0.999, max(0.001, thousandths / 1000))
    return log(share / (1 - share))
