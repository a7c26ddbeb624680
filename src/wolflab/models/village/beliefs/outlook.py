"""What a reflective player makes of the situation: the posterior over what it has before it, and its texts.

A reflective player has only some of its messages before it (003 §3.3). Whatever else it knows stands in
texts of its own: earlier reflections among the lines, answers given in this turn. This module joins the
two. Evidence that both rest on is not counted twice: of two judgements that point the same way the
stronger holds, opposite ones are added (as log-odds), and a text that says what is already held adds
nothing. It makes no sentences and takes no decisions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import assert_never

from ....rules import (
    ROLES,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    FirstSpeaker,
    GameEnded,
    Learned,
    NightFell,
    PackMet,
    Revealed,
    Said,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
)
from ....text.notes import Reflected
from ....text.questions import Line, Situation
from .claims import claim_of
from .graded_words import Views, grade, views_of
from .guesses import STANDS_OUT, confidence
from .posterior import Posterior, Survey, Thinker
from .worlds import role_class

KEPT = 0.5
"""Share of an earlier reflection's log-odds that still counts a turn later: it was made for its moment."""
FADED = 0.3
"""… and of one that was retrieved from further back."""

TEMPERED = 0.8
"""Share of the posterior's log-odds that counts: fitted on whole records, it is too sure on parts of one."""

_REMEMBERED = 16


@dataclass(slots=True)
class Outlook:
    """A situation as its player sees it.

    wolf: P(Werewolf) by seat in thousandths, texts included. thought, sure: the role believed ("" unknown)
    and the confidence, 5–10. claims: seat → role claimed in public. certain: seats whose side is known.
    """

    situation: Situation
    survey: Survey
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
        alive = set(self.others())
        return [
            s for s, role in sorted(self.claims.items()) if s in alive and role_class(ROLES[role]) == kind
        ]


class Outlooks:
    """Outlooks by situation, each computed once; holds nothing but caches."""

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker
        self._kept: OrderedDict[int, Outlook] = OrderedDict()

    def outlook(self, situation: Situation) -> Outlook:
        """Of what stands before the player, its latest reflection among it."""
        known = self._kept.get(id(situation))
        if known is not None and known.situation is situation:
            return known
        survey = self._thinker.survey(situation, recalled=True)
        posterior = self._thinker.of(situation, survey)
        texts = [line for line in situation.lines if isinstance(line.event, Reflected)]
        found = _join(situation, survey, posterior, texts[-1:], KEPT)
        self._kept[id(situation)] = found
        if len(self._kept) > _REMEMBERED:
            self._kept.popitem(last=False)
        return found

    def widened(self, situation: Situation, messages: Sequence[Line]) -> Outlook:
        """… and of the messages retrieved for a question, so far as they are not before it anyway."""
        base = self.outlook(situation)
        here = {line.position for line in situation.lines}
        fresh = [line for line in messages if line.position not in here]
        if not fresh:
            return base
        survey = self._further(situation, base.survey, fresh)
        posterior = base.posterior if survey is base.survey else self._thinker.of(situation, survey)
        texts = [line for line in fresh if isinstance(line.event, Reflected)]
        if posterior is base.posterior and not texts:
            return base
        mine = [line for line in situation.lines if isinstance(line.event, Reflected)]
        found = _join(situation, survey, posterior, mine[-1:], KEPT)
        return _pooled(found, [_views(line, situation) for line in texts], FADED) if texts else found

    def _further(self, situation: Situation, survey: Survey, lines: Sequence[Line]) -> Survey:
        """The survey with older events added to it."""
        fold = self._thinker.fold(situation.ruleset)
        node, learned, harmless = survey.node, survey.learned, survey.harmless
        for line in lines:
            event = line.event
            match event:
                case Said() | Voted() | Shot() | Revealed():
                    found = node.after.get(id(event))
                    if found is None:
                        found = node.after[id(event)] = fold.step(node, event)
                    node = found
                case Learned(_, target, what):
                    learned = learned | {target: what}
                case VictimShown(_, victim):
                    if not situation.ruleset.wolves_may_target_pack:
                        harmless |= 1 << victim
                case NightFell() | DayBroke() | VoteCounted() | SheriffNamed() | GameEnded():
                    pass  # the situation knows how things stand now
                case Dealt() | PackMet() | Chose() | Reflected():
                    pass
                case SheriffDrawn() | SpeakersDrawn() | CandidatesNamed() | FirstSpeaker():
                    pass
                case _:
                    assert_never(event)
        if node is survey.node and learned is survey.learned and harmless == survey.harmless:
            return survey
        return replace(survey, node=node, learned=learned, harmless=harmless)


def _views(line: Line, situation: Situation) -> Views:
    assert isinstance(line.event, Reflected)
    return views_of(line.event.text, situation.ruleset.names, situation.seat)


def _join(
    situation: Situation, survey: Survey, posterior: Posterior, texts: Sequence[Line], kept: float
) -> Outlook:
    rules, me = situation.ruleset, situation.seat
    prior = _prior(situation)
    certain = frozenset(
        {
            me,
            *situation.pack,
            *survey.learned,
            *(s for s, p in enumerate(posterior.wolf) if p < 5e-4 or p > 0.9995),
        }
    )
    start = _odds(prior)
    wolf = [
        round(1000 * p) if seat in certain else _thousandths(start + TEMPERED * (_odds(1000 * p) - start))
        for seat, p in enumerate(posterior.wolf)
    ]
    thought, sure = [""] * rules.players, [0] * rules.players
    for seat, row in enumerate(posterior.marginals):
        best = max(range(len(row)), key=row.__getitem__)
        if row[best] >= STANDS_OUT:
            thought[seat], sure[seat] = posterior.roles[best], confidence(row[best])
    claims = {}
    for seat, claim in enumerate(survey.node.claims):
        role = _role_of(claim, posterior.roles)
        if role:
            claims[seat] = role
    found = Outlook(situation, survey, posterior, wolf, thought, sure, claims, certain)
    return _pooled(found, [_views(line, situation) for line in texts], kept) if texts else found


def _role_of(claim: int, roles: Sequence[str]) -> str:
    """The first of `roles` that a claim stands for (see `claims`); empty for none."""
    return next((role for role in roles if claim_of(role) == claim), "")


def joined(outlook: Outlook, texts: Sequence[str]) -> Outlook:
    """The outlook with what texts of this turn say, fully believed."""
    names, me = outlook.situation.ruleset.names, outlook.situation.seat
    return _pooled(outlook, [views_of(text, names, me) for text in texts], 1.0)


def _pooled(outlook: Outlook, views: Sequence[Views], kept: float) -> Outlook:
    prior = _prior(outlook.situation)
    wolf, thought, sure = list(outlook.wolf), list(outlook.thought), list(outlook.sure)
    for seat in range(len(wolf)):
        if seat in outlook.certain:
            continue
        said = [one.wolf[seat] for one in views if seat in one.wolf]
        wolf[seat] = stronger(wolf[seat], said, prior, kept)
    claims = dict(outlook.claims)
    for one in views:
        for seat, (role, level) in one.role.items():
            if seat not in outlook.certain and role in outlook.posterior.roles and level > sure[seat]:
                thought[seat], sure[seat] = role, level
        for seat, role in one.claims.items():
            claims.setdefault(seat, role)
    return replace(outlook, wolf=wolf, thought=thought, sure=sure, claims=claims)


def stronger(own: int, said: Sequence[int], prior: int, kept: float) -> int:
    """P(Werewolf) in thousandths from one's own and what texts say of it; see the module."""
    news = [value for value in said if grade(value) != grade(own)]
    if not news:
        return own
    start = _odds(prior)
    mine = _odds(own) - start
    texts = [kept * (_odds(value) - start) for value in news]
    up, down = max((0.0, mine, *texts)), min((0.0, mine, *texts))
    return _thousandths(start + up + down)


def _prior(situation: Situation) -> int:
    """P(Werewolf) in thousandths of a player of whom nothing is known."""
    return 1000 * situation.ruleset.wolves // (situation.ruleset.players - 1)


def _thousandths(odds: float) -> int:
    return min(999, max(1, round(1000 / (1 + exp(-odds)))))


def _odds(thousandths: float) -> float:
    share = min(0.999, max(0.001, thousandths / 1000))
    return log(share / (1 - share))
