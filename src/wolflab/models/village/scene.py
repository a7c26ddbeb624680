"""What a player makes of the situation before it acts: suspicions, claims, dangers, support.

With a deduction in the request, suspicion comes from it, and so it does from a reflective player's
reflection, or from its answers where there is none; without either it comes from first impressions: what
was said today, believed as far as the record's partition into truths and falsehoods goes. Whatever the
seat knows for certain (its pack, its looks) comes before all that.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import ModelError
from ...rules import ROLES, Said, VictimShown
from ...text.notes import UNCERTAIN, counted
from ...text.questions import Aids, Decide, Question, Situation
from ...text.reading import Suggestion, read
from .beliefs.claims import AS_OTHER, AS_PLAIN, AS_SEER, AS_SHIELD
from .beliefs.graded_words import views_of
from .beliefs.likelihood import (
    ACCUSED,
    AGREED,
    DEFENDED,
    FLAT,
    HINTED,
    HOSTILE,
    PROPOSED,
    SAW_GOOD,
    SAW_WOLF,
    Node,
    with_claims,
)
from .beliefs.outlook import stronger
from .beliefs.posterior import Survey
from .beliefs.worlds import SEER, role_class
from .draws import KeyedDraws
from .parameters import Parameters
from .styles import STYLES, Style

_IMPRESSION = {
    SAW_WOLF: 400, FLAT: 160, PROPOSED: 130, ACCUSED: 110, HINTED: 40,
    AGREED: -20, DEFENDED: -70, SAW_GOOD: -250,
}  # fmt: skip
"""By how much (thousandths) a stance taken today moves a first impression, fully believed."""

HASTE = 150
"""Thousandths that blur every comparison of a player that is not to think first (003 §4.4.1: C removed)."""


@dataclass(slots=True)
class TableScene:
    """The situation as one seat sees it.

    suspicion: P(Werewolf) by seat in thousandths. thought: the role believed, by seat ("" unknown).
    draws: keyed by the request (what is said, noise, whether the Sheriff is followed); table: keyed by
    game, round and seat alone, so that ties break alike in a straw poll and in the vote after it.
    haste: `HASTE`, or 0 for a player that thinks.
    """

    question: Question
    situation: Situation
    survey: Survey
    node: Node
    me: int
    wolf: bool
    mates: frozenset[int]
    suspicion: list[int]
    thought: list[str]
    sure: list[int]
    style: Style
    draws: KeyedDraws
    table: KeyedDraws
    haste: int = 0

    def name(self, seat: int) -> str:
        """What the player is called."""
        return self.situation.ruleset.names[seat]

    def others(self) -> list[int]:
        """The living others."""
        return [seat for seat in self.situation.alive if seat != self.me]

    def support(self, seat: int) -> int:
        """How many living others spoke against `seat` today."""
        return len(
            {a for a, b, stance in self.node.today if b == seat and stance in HOSTILE and a != self.me}
        )

    def credible_seers(self) -> list[int]:
        """Living others who claim to be the Seer and are believed well enough."""
        return [s for s in self.others() if self.node.claims[s] == AS_SEER and self.suspicion[s] < 500]

    def danger(self, seat: int) -> int:
        """To the pack: how much `seat` can hurt it, in thousandths."""
        node, score = self.node, 100
        claim = node.claims[seat]
        if claim == AS_SEER:
            score = 900
        elif claim in (AS_SHIELD, AS_OTHER):
            score = 500
        believed = self.thought[seat]
        if believed in ROLES and not ROLES[believed].plain:
            score = max(score, (85 if role_class(ROLES[believed]) == SEER else 60) * self.sure[seat])
        if self.situation.ruleset.wolves_win == "no_villager":
            score = score // 2 + self._plain(seat)
        if any(a == seat and b in self.mates for a, b, what in node.reports if what == "Werewolf"):
            score += 400
        if any(a == seat and b in self.mates and s in HOSTILE for (a, b), s in node.stances.items()):
            score += 150
        return score

    def _plain(self, seat: int) -> int:
        """How far `seat` is taken for a plain Villager, in thousandths, where the pack must kill those."""
        believed = self.thought[seat]
        if believed in ROLES:
            return 85 * self.sure[seat] if ROLES[believed].plain else 0
        return 600 if self.node.claims[seat] == AS_PLAIN else 200

    def victim(self) -> int | None:
        """Whom the Witch was shown this night."""
        for line in reversed(self.situation.facts):
            if isinstance(line.event, VictimShown):
                return line.event.victim
        return None

    def recommended(self) -> int | None:
        """Whom the Sheriff's statement of today recommends to vote out, as read from its words."""
        sheriff = self.situation.sheriff
        if sheriff is None:
            return None
        found = None
        for line in self.situation.lines:
            event = line.event
            if (
                isinstance(event, Said)
                and event.seat == sheriff
                and event.where == "discussion"
                and line.round == self.situation.round
            ):
                for act in read(event.text, self.situation.ruleset.names, sheriff):
                    if isinstance(act, Suggestion) and act.speaker == sheriff and not act.against:
                        found = act.target
        return found


def scene(question: Question, survey: Survey, parameters: Parameters, key: str) -> TableScene:
    """Look around. `key`: the request's."""
    situation = question.situation
    me, node, rules = situation.seat, survey.node, situation.ruleset
    mates = frozenset(situation.pack)
    prior = 1000 * rules.wolves // (rules.players - 1)
    suspicion = [prior] * rules.players
    thought, sure = [""] * rules.players, [0] * rules.players
    wolf = ROLES[situation.role].wolf
    aids = question.task.aids if isinstance(question.task, Decide) else None
    if aids is not None and (aids.reflection or aids.answers):
        node = _from_texts(situation, aids, node, suspicion, thought, sure)
    elif question.beliefs:
        for belief in question.beliefs:
            role = belief.role
            group = UNCERTAIN if role not in ROLES else "Werewolf" if ROLES[role].wolf else "other"
            level = min(10, max(5, counted(belief.confidence)))
            suspicion[belief.target] = parameters.suspicion[group][level - 5]
            if group != UNCERTAIN:
                thought[belief.target], sure[belief.target] = role, level
    else:
        _first_impressions(situation, node, suspicion)
    for seat, what in survey.learned.items():
        suspicion[seat] = 1000 if what == "Werewolf" else 0
        if what in ROLES:
            thought[seat], sure[seat] = what, 10
    for seat in mates:
        suspicion[seat] = 1000
    suspicion[me] = 1000 if wolf else 0
    style = STYLES.get((question.style or "default").replace(" ", "_"))
    if style is None:
        raise ModelError(f"village: there is no style {question.style!r}; known are {', '.join(STYLES)}")
    table = f"{key.rsplit('|', 3)[0]}|{situation.round}|{me}"
    return TableScene(
        question, situation, survey, node, me, wolf, mates, suspicion, thought, sure, style,
        KeyedDraws(key), KeyedDraws(table), HASTE if aids is not None and not aids.think else 0,
    )  # fmt: skip


def _from_texts(
    situation: Situation, aids: Aids, node: Node, suspicion: list[int], thought: list[str], sure: list[int]
) -> Node:
    """Fill in what the reflection says, or what the answers say together; the node with the claims they tell.

    Who is not spoken of stays as suspect as at the start.
    """
    names, me = situation.ruleset.names, situation.seat
    texts = (aids.reflection,) if aids.reflection else tuple(text for _, text in aids.answers)
    views = [views_of(text, names, me) for text in texts]
    for seat, prior in enumerate(suspicion):
        said = [one.wolf[seat] for one in views if seat in one.wolf]
        suspicion[seat] = said[0] if len(said) == 1 else stronger(prior, said, prior, 1.0)
    claims: dict[int, str] = {}
    for one in views:
        for seat, (role, level) in one.role.items():
            if level > sure[seat]:
                thought[seat], sure[seat] = role, level
        claims |= one.claims
    return with_claims(node, claims)


def _first_impressions(situation: Situation, node: Node, suspicion: list[int]) -> None:
    """Move `suspicion` by today's talk: speakers rated honest count more (the partition)."""
    trust = {line.event.seat: 1000 for line in situation.truths if isinstance(line.event, Said)}
    for line in situation.falsehoods:
        if isinstance(line.event, Said) and line.event.seat not in trust:
            trust[line.event.seat] = 250
    for a, b, stance in node.today:
        if a != situation.seat:
            suspicion[b] += _IMPRESSION.get(stance, 0) * trust.get(a, 600) // 1000
    for seat, claim in enumerate(node.claims):
        if claim == AS_SEER:
            suspicion[seat] += -100 if len(node.claimants(AS_SEER)) == 1 else 60
    for seat in range(len(suspicion)):
        suspicion[seat] = min(990, max(10, suspicion[seat]))
