"""A player's assessment of the situation before it acts: suspicions, claims, dangers, support.

Suspicion comes from the deduction in the request, or from a reflective player's reflection (or its answers
without one). Without any of these, it comes from first impressions: today's statements, weighted by the
record's partition into truths and falsehoods. Certain knowledge (pack, checks) has precedence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...errors import ModelError
from ...rules import ROLES, Said, VictimShown
from ...text.notes import UNCERTAIN, counted_confidence
from ...text.questions import Aids, Decide, Question, Situation
from ...text.reading import Suggestion, read_in, with_roles_marked
from .beliefs.claims import AS_OTHER, AS_PLAIN, AS_SEER, AS_SHIELD, claim_of
from .beliefs.graded_words import grade_word, graded_sentence, views_of
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
from .beliefs.outlook import pooled_suspicion, suspicion_at_start
from .beliefs.posterior import SituationSummary
from .beliefs.worlds import SEER, role_class
from .draws import KeyedDraws
from .parameters import Parameters
from .styles import STYLES, Style

_IMPRESSION = {
    SAW_WOLF: 400, FLAT: 160, PROPOSED: 130, ACCUSED: 110, HINTED: 40,
    AGREED: -20, DEFENDED: -70, SAW_GOOD: -250,
}  # fmt: skip
"""The change of a first impression (thousandths) by a fully believed stance of today."""

HASTE = 150
"""Noise (thousandths) in all comparisons of a player that does not think first (003 §4.4.1: C removed)."""


@dataclass(slots=True)
class TableScene:
    """The situation as one seat sees it.

    suspicion: P(Werewolf) by seat in thousandths. thought: the role believed, by seat ("" unknown); sure: its
    confidence, 5–10. draws: keyed by the request (wording, noise, whether the Sheriff is followed); table:
    keyed by game, round and seat alone, so that ties break the same in a straw poll and in the vote after it.
    haste: `HASTE`, or 0 for a player that thinks.
    """

    situation: Situation
    summary: SituationSummary
    node: Node
    me: int
    wolf: bool
    suspicion: list[int]
    thought: list[str]
    sure: list[int]
    style: Style
    draws: KeyedDraws
    table: KeyedDraws
    haste: int = 0

    @property
    def pack(self) -> tuple[int, ...]:
        """The seat's pack including itself; empty for the village side."""
        return self.situation.pack

    def name(self, seat: int) -> str:
        """The player's name."""
        return self.situation.ruleset.names[seat]

    # -- the living others --------------------------------------------------------------------

    def others(self) -> list[int]:
        """The living others."""
        return [seat for seat in self.situation.alive if seat != self.me]

    def mates(self) -> list[int]:
        """The living others of the pack."""
        return [seat for seat in self.others() if seat in self.pack]

    def opponents(self) -> list[int]:
        """The living others who are not known to be of the seat's own side."""
        cleared = self.reported_good()
        return [seat for seat in self.others() if self.suspicion[seat] > 0 and seat not in cleared]

    def prey(self) -> list[int]:
        """The living others outside the pack whom the seat has not reported good."""
        cleared = self.reported_good()
        return [seat for seat in self.others() if seat not in self.pack and seat not in cleared]

    def claimants(self, *claims: int) -> list[int]:
        """Living others outside the pack who make one of these claims (see `claims`)."""
        return [seat for seat in self.others() if self.node.claims[seat] in claims and seat not in self.pack]

    def credible_seers(self) -> list[int]:
        """Living others who claim to be the Seer and are believed."""
        return [
            seat for seat in self.others() if self.node.claims[seat] == AS_SEER and self.suspicion[seat] < 500
        ]

    def accusers(self, *accused: int) -> list[int]:
        """Living others who spoke today against one of these, the latest first."""
        hostile = [a for a, b, stance in reversed(self.node.today) if b in accused and stance in HOSTILE]
        living = self.others()
        return [seat for seat in dict.fromkeys(hostile) if seat in living and seat not in accused]

    def highest(self, seats: Sequence[int], score: Callable[[int], int], purpose: str) -> int | None:
        """The seat with the highest score, ties broken by the request's draws; None without seats."""
        scores = {seat: score(seat) for seat in seats}
        highest = max(scores.values(), default=0)
        best = [seat for seat, reached in scores.items() if reached == highest]
        return self.draws.one(purpose, best) if best else None

    def likeliest_wolf(self, seats: Sequence[int], after: int = 0) -> int | None:
        """The likeliest Werewolf of `seats`, or the one `after` places later."""
        jitter = self.draws.many(len(self.suspicion), "likeliest")
        order = sorted(seats, key=lambda seat: (-self.suspicion[seat], jitter[seat]))
        return order[after] if after < len(order) else None

    def most_accused(self, seats: Sequence[int]) -> int | None:
        """The one of `seats` whom most others accused today; None where nobody was accused."""
        target = self.highest(seats, self.support, "crowd")
        return target if target is not None and self.support(target) else None

    # -- one player -----------------------------------------------------------------------------

    def has_vote(self, seat: int) -> bool:
        """Whether the vote of `seat` counts, as far as is known."""
        return self.node.facts.votes[seat] > 0

    def support(self, seat: int) -> int:
        """The number of others with a vote who spoke against `seat` today."""
        return sum(map(self.has_vote, self._hostile_to(seat)))

    def _hostile_to(self, seat: int) -> set[int]:
        """The others who spoke against `seat` today."""
        return {a for a, b, stance in self.node.today if b == seat and stance in HOSTILE and a != self.me}

    def stances_taken(self, seat: int) -> int:
        """The number of others to whom `seat` has taken a stance in the game."""
        return sum(a == seat for a, _ in self.node.stances)

    def danger(self, seat: int) -> int:
        """The danger of `seat` to the pack, in thousandths."""
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
        if any(a == seat and b in self.pack for a, b, result in node.reports if result == "Werewolf"):
            score += 400
        if any(a == seat and b in self.pack and s in HOSTILE for (a, b), s in node.stances.items()):
            score += 150
        return score

    def _plain(self, seat: int) -> int:
        """The chance, in thousandths, that `seat` is a plain Villager, where the pack must kill those."""
        believed = self.thought[seat]
        if believed in ROLES:
            return 85 * self.sure[seat] if ROLES[believed].plain else 0
        return 600 if self.node.claims[seat] == AS_PLAIN else 200

    def suspicion_sentence(self, seat: int) -> str:
        """A sentence on how likely `seat` is a Werewolf."""
        word, name = grade_word(self.suspicion[seat]), self.name(seat)
        return graded_sentence(word, [name]) if word else f"It is open on which side {name} is."

    def support_sentence(self, seat: int) -> str:
        """A sentence on how many speak against `seat`."""
        count = len(self._hostile_to(seat))
        if not count:
            return f"Nobody else has named {self.name(seat)} today."
        return f"{count} other{'s' if count > 1 else ''} spoke against {self.name(seat)} today."

    # -- the seat itself --------------------------------------------------------------------------------

    def reported_good(self) -> set[int]:
        """The seats that this one has reported to be no Werewolves."""
        return {b for a, b, result in self.node.reports if a == self.me and result != "Werewolf"}

    def reported_wolves(self) -> set[int]:
        """The seats that this one has reported to be Werewolves."""
        return {b for a, b, result in self.node.reports if a == self.me and result == "Werewolf"}

    def may_claim(self, role: str) -> bool:
        """Whether `role` is consistent with the seat's claims so far; the truth always is on the village
        side.
        """
        if role == self.situation.role and not self.wolf:
            return True
        return self.node.claims[self.me] in (0, claim_of(role))

    def victim(self) -> int | None:
        """The victim shown to the Witch this night."""
        shown = (line.event for line in reversed(self.situation.facts) if isinstance(line.event, VictimShown))
        return next((event.victim for event in shown), None)

    def recommended(self) -> int | None:
        """The target that the Sheriff's statement of today recommends for the vote, as read from its
        words.
        """
        situation = self.situation
        sheriff, today = (
            situation.sheriff,
            (line for line in situation.lines if line.round == situation.round),
        )
        if sheriff is None:
            return None
        suggested = [
            act.target
            for event in (line.event for line in today)
            if isinstance(event, Said) and event.seat == sheriff and event.where == "discussion"
            for act in read_in(situation.ruleset, event.text, sheriff)
            if isinstance(act, Suggestion) and act.speaker == sheriff and not act.against
        ]
        return suggested[-1] if suggested else None


def table_scene(
    question: Question, summary: SituationSummary, parameters: Parameters, key: str
) -> TableScene:
    """The scene of a question. `key`: the request's."""
    situation = question.situation
    me, node, rules = situation.seat, summary.node, situation.ruleset
    suspicion = [suspicion_at_start(rules)] * rules.players
    thought, sure = [""] * rules.players, [0] * rules.players
    aids = question.task.aids if isinstance(question.task, Decide) else None
    if aids is not None and (aids.reflection or aids.answers):
        node = _from_texts(situation, aids, node, suspicion, thought, sure)
    elif question.beliefs:
        for belief in question.beliefs:
            role = belief.role
            group = UNCERTAIN if role not in ROLES else "Werewolf" if ROLES[role].wolf else "other"
            level = min(10, max(5, counted_confidence(belief.confidence)))
            suspicion[belief.target] = parameters.suspicion[group][level - 5]
            if group != UNCERTAIN:
                thought[belief.target], sure[belief.target] = role, level
    else:
        _first_impressions(situation, node, suspicion)
    for seat, result in summary.learned.items():
        suspicion[seat] = 1000 if result == "Werewolf" else 0
        if result in ROLES:
            thought[seat], sure[seat] = result, 10
    for seat in situation.pack:
        suspicion[seat] = 1000
    wolf = ROLES[situation.role].wolf
    suspicion[me] = 1000 if wolf else 0
    style = STYLES.get(question.style or "default")
    if style is None:
        raise ModelError(f"village: there is no style {question.style!r}; known are {', '.join(STYLES)}")
    table = KeyedDraws(f"{key.rsplit('|', 3)[0]}|{situation.round}|{me}")
    return TableScene(
        situation, summary, node, me, wolf, suspicion, thought, sure, style,
        KeyedDraws(key), table, HASTE if aids is not None and not aids.think else 0,
    )  # fmt: skip


def _from_texts(
    situation: Situation, aids: Aids, node: Node, suspicion: list[int], thought: list[str], sure: list[int]
) -> Node:
    """Fill in the judgements of the reflection, or of all answers together. Returns the node with the claims
    that they report. Players who are not mentioned stay as suspect as at the start.
    """
    texts = (aids.reflection,) if aids.reflection else tuple(text for _, text in aids.answers)
    rules = situation.ruleset
    views = [views_of(with_roles_marked(text, rules), rules.names, situation.seat) for text in texts]
    for seat, at_start in enumerate(suspicion):
        said = [view.wolf[seat] for view in views if seat in view.wolf]
        suspicion[seat] = said[0] if len(said) == 1 else pooled_suspicion(at_start, said, at_start, 1.0)
    claims: dict[int, str] = {}
    for view in views:
        for seat, (role, level) in view.role.items():
            if level > sure[seat]:
                thought[seat], sure[seat] = role, level
        claims |= view.claims
    return with_claims(node, claims)


def _first_impressions(situation: Situation, node: Node, suspicion: list[int]) -> None:
    """Change `suspicion` by today's talk: speakers rated honest count more (the partition)."""
    trust = {line.event.seat: 250 for line in situation.falsehoods if isinstance(line.event, Said)}
    trust |= {line.event.seat: 1000 for line in situation.truths if isinstance(line.event, Said)}
    for speaker, target, stance in node.today:
        if speaker != situation.seat:
            suspicion[target] += _IMPRESSION.get(stance, 0) * trust.get(speaker, 600) // 1000
    seers = node.claimants(AS_SEER)
    for seat in seers:
        suspicion[seat] += -100 if len(seers) == 1 else 60
    for seat, impression in enumerate(suspicion):
        suspicion[seat] = min(990, max(10, impression))
