"""Answers to the questions a player puts to itself, and the reflection that sums them up (003 Eq. 1 and 2).

An answer comes from the situation and the messages retrieved for the question; a reflection joins the
situation with the answers. Both have their judgements in graded sentences (`graded_words`); older events
affect the decision only through these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ....rules import DUTIES, ROLES, Ask
from ....text.asking.sentences import listed
from ....text.questions import Pairs
from ....text.reading import normal, seats_named
from ..beliefs.graded_words import SURE_WORDS, grade_word, graded_sentence
from ..beliefs.likelihood import HOSTILE
from ..beliefs.outlook import Outlook, outlook_with_texts
from ..beliefs.worlds import OTHER, PLAIN, SEER, SHIELD, role_class
from ..draws import KeyedDraws
from ..speech.phrases import role_with_article
from .questions_to_oneself import topic_of

ABLE = (SEER, SHIELD, OTHER)
"""Classes of roles with an ability."""


class AnswerContext:
    """An outlook in words, for one answer. named: the other players in the question."""

    def __init__(self, outlook: Outlook, ask: Ask, question: str = "") -> None:
        self.outlook, self.ask, self.question = outlook, ask, question
        self.now, self.summary = outlook.situation, outlook.posterior.summary
        self.names = outlook.situation.ruleset.names
        self.me = outlook.situation.seat
        self.wolf = ROLES[self.now.role].wolf
        self.role = role_class(ROLES[self.now.role])
        self.named = [seat for seat in _seats_in(question, self.names) if seat != self.me]

    def the(self, role: str) -> str:
        """A role with its article: "the Seer", "a Villager"."""
        return role_with_article(role, self.now.ruleset)

    def list_of(self, seats: Sequence[int]) -> str:
        """Their names: "A, B and C"."""
        return listed([self.names[seat] for seat in seats])

    # -- sentences ------------------------------------------------------------------------

    def suspicions(self, most: int = 9, floor: int = 0) -> list[str]:
        """Graded sentences on the living others' sides, the likeliest Werewolf first, at most `most`."""
        groups: dict[str, list[int]] = {}
        for seat in self.outlook.ranked():
            word = grade_word(self.outlook.wolf[seat])
            if word and seat not in self.now.pack and self.outlook.wolf[seat] >= floor:
                groups.setdefault(word, []).append(seat)
        return [self.graded(word, sorted(seats)) for word, seats in list(groups.items())[:most]]

    def graded(self, word: str, seats: Sequence[int]) -> str:
        """The sentence that gives all these players the grade."""
        return graded_sentence(word, [self.names[seat] for seat in seats])

    def about(self, seat: int) -> str:
        """One sentence on one player's side."""
        word = grade_word(self.outlook.wolf[seat])
        return (
            self.graded(word, [seat]) if word else f"I cannot tell yet on which side {self.names[seat]} is."
        )

    def roles(self, *classes: int, most: int = 3) -> list[str]:
        """Graded sentences on who may hold roles of these classes, where a guess is likely enough."""
        guesses = []
        for seat in self.outlook.others():
            role, level = self.outlook.thought[seat], self.outlook.sure[seat]
            if role in ROLES and role_class(ROLES[role]) in classes and seat not in self.now.pack:
                guesses.append((-level, seat, role))
        return [
            f"{self.names[seat]} is {SURE_WORDS[-level]} {self.the(role)}."
            for level, seat, role in sorted(guesses)[:most]
        ]

    def claim(self, seat: int) -> list[str]:
        """The sentence on another player's claim, if it is one that matters."""
        role = self.outlook.claims.get(seat, "Werewolf")
        return [] if role == "Werewolf" else [f"{self.names[seat]} claims to be {self.the(role)}."]

    def claims(self, most: int = 4) -> list[str]:
        """Sentences on claims, the player's own among them."""
        sentences: list[str] = []
        for seat, role in sorted(self.outlook.claims.items()):
            own = f"I have told everybody that I am {self.the(role)}."
            sentences += [own] if seat == self.me else self.claim(seat)
        return sentences[:most]

    def accusers(self, accused: Sequence[int]) -> list[int]:
        """The players who spoke today against one of these."""
        today = self.summary.node.today
        return sorted({speaker for speaker, seat, stance in today if seat in accused and stance in HOSTILE})


@lru_cache(1 << 12)
def _seats_in(question: str, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(seats_named(normal(question[:300], names))))


# -- answers ------------------------------------------------------------------------------------


def answer_to_oneself(ask: Ask, question: str, outlook: Outlook) -> str:
    """One or two sentences, as "I"."""
    context = AnswerContext(outlook, ask, question)
    topic = topic_of(question)
    about_players = topic not in _WHOLE and context.named
    sentences = (_general if about_players else _ANSWERS.get(topic, _general))(context)
    return " ".join(sentences) if sentences else "I have nothing to go by yet."


def _when(context: AnswerContext) -> str:
    return f"It is {'night' if context.now.phase == 'night' else 'day'} {context.now.round}, and I am"


def _phase(context: AnswerContext) -> list[str]:
    duty = DUTIES.get(context.ask.kind)
    do = f"choose whom to {duty.verb}" if duty else "vote" if context.ask.kind == "vote" else "speak"
    return [f"{_when(context)} asked to {do}."]


def _identity(context: AnswerContext) -> list[str]:
    aim = "find the Werewolves and vote them out"
    if context.wolf:
        aim = "see the village fall without being found out"
    return [f"I am {context.names[context.me]}, {context.the(context.now.role)}, and I want to {aim}."]


def _consequences(context: AnswerContext) -> list[str]:
    if context.wolf:
        return ["If they knew what I am, I would be voted out at once."]
    if context.role == PLAIN:
        return ["Nobody could prove or refute it, and I would hardly be believed for it alone."]
    return ["The Werewolves would want me dead the next night, but the village might follow me today."]


def _known(context: AnswerContext) -> list[str]:
    role = context.outlook.claims.get(context.me)
    if role is None:
        return ["I have not told my role, and nobody can know it for sure."]
    lie = "" if role == context.now.role else ", which is not true"
    return [f"I have told everybody that I am {context.the(role)}{lie}."]


def _claims(context: AnswerContext) -> list[str]:
    claims = context.claims(2) or ["Nobody has clearly told a role so far."]
    return claims if context.wolf else [*claims, *context.suspicions(1)]


def _roles(context: AnswerContext) -> list[str]:
    if context.wolf:
        return context.roles(*ABLE, PLAIN) or ["I cannot tell yet who has which ability."]
    sentences = [*context.roles(*ABLE, most=2), *context.suspicions(2)]
    return sentences or ["I cannot tell the others' roles apart yet."]


def _packs_choice(context: AnswerContext) -> list[str]:
    if not context.wolf:
        return ["I have no teammates that I know of."]
    target = context.summary.named_by_mates(context.me)
    if target is None:
        return ["My teammate has not chosen anybody yet."]
    return [f"My teammate chose {context.names[target]}."]


def _pack(context: AnswerContext) -> list[str]:
    mates = [seat for seat in context.now.pack if seat != context.me]
    if not mates:
        return ["I know of no teammates.", *context.suspicions(1)]
    verb = "teammate is" if len(mates) == 1 else "teammates are"
    sentences = [f"My {verb} {context.list_of(mates)}."]
    living = [seat for seat in mates if seat in context.now.alive]
    hunters = [seat for seat in context.accusers(living) if seat not in mates]
    return [*sentences, f"{context.list_of(hunters)} spoke against us."] if hunters else sentences


def _seer(context: AnswerContext) -> list[str]:
    if context.role == SEER:
        return ["I am the Seer myself."]
    seers = context.outlook.claimants(SEER)[:2]
    sentences = [f"{context.names[seat]} claims to be the Seer." for seat in seers]
    sentences += context.roles(SEER, most=1)
    if not sentences:
        return ["I do not know who the Seer is, nor whether the Seer still lives."]
    return sentences if context.wolf else [*sentences, *map(context.about, seers)]


def _seer_believed(context: AnswerContext) -> list[str]:
    seers = context.outlook.claimants(SEER)[:2]
    if not seers:
        return ["Nobody who lives claims to be the Seer.", *([] if context.wolf else context.suspicions(1))]
    return [
        sentence
        for seat in seers
        for sentence in (f"{context.names[seat]} claims to be the Seer.", context.about(seat))
    ]


def _abilities(context: AnswerContext) -> list[str]:
    return context.roles(*ABLE) or ["I have no clue yet to who holds a special role."]


def _look(context: AnswerContext) -> list[str]:
    unknown = [seat for seat in context.outlook.ranked() if seat not in context.summary.learned]
    if not unknown:
        return ["There is nobody left whom I do not know."]
    return [f"{context.names[unknown[0]]} is the one to look at.", context.about(unknown[0])]


def _found(context: AnswerContext) -> list[str]:
    learned = {seat: result for seat, result in context.summary.learned.items() if seat != context.me}
    if not learned:
        return ["I have looked at nobody yet.", *context.suspicions(1)]
    wolves = [seat for seat, result in learned.items() if result == "Werewolf"]
    good = [seat for seat in learned if seat not in wolves]
    sides = (("certainly", wolves), ("certainly not", good))
    return [context.graded(word, seats) for word, seats in sides if seats]


def _tell_now(context: AnswerContext) -> list[str]:
    if context.wolf:
        return ["No, nobody may learn what I am."]
    learned = context.summary.learned.items()
    wolves = [seat for seat, result in learned if result == "Werewolf" and seat in context.now.alive]
    if context.role == SEER and wolves:
        return ["Yes, the village must hear of it.", context.graded("certainly", wolves)]
    if context.accusers([context.me]):
        return ["Yes, I am being accused and have to defend myself."]
    return ["No, I can do more unseen."]


def _potions(context: AnswerContext) -> list[str]:
    return [
        "The antidote saves a life for certain, the poison only helps if I am sure.",
        *context.suspicions(1),
    ]


def _attack(context: AnswerContext) -> list[str]:
    if context.wolf:
        return context.roles(*ABLE, most=2) or ["Whoever speaks up most is a danger to us."]
    claimants = context.outlook.claimants(SEER) or context.outlook.claimants(SHIELD)
    targets = claimants or context.outlook.ranked()[-1:]
    if not targets:
        return ["I cannot tell whom they want."]
    return [f"They will want to kill {context.names[targets[0]]}.", *context.roles(SEER, most=1)]


def _draws_eyes(context: AnswerContext) -> list[str]:
    against = context.accusers([context.me])
    if not against:
        return ["Nobody has spoken against me today."]
    return [f"{context.list_of(against)} spoke against me today.", context.about(against[0])]


def _rivals(context: AnswerContext) -> list[str]:
    rivals = context.named or context.outlook.claimants(SEER)
    return [context.about(seat) for seat in sorted(rivals, key=lambda seat: -context.outlook.wolf[seat])[:2]]


def _trust(context: AnswerContext) -> list[str]:
    if context.wolf and len(context.now.pack) > 1:
        return ["I can rely on my own pack alone."]
    trusted = context.outlook.ranked()[-1:]
    named = [seat for seat in context.named[:1] if trusted and seat not in trusted]
    return [context.about(seat) for seat in (*trusted, *named)]


def _suspect(context: AnswerContext) -> list[str]:
    if context.wolf:
        return _pack(context)
    return context.suspicions(2, floor=380) or [
        "Nobody stands out as a Werewolf yet.",
        *context.suspicions(1),
    ]


def _general(context: AnswerContext) -> list[str]:
    if any(seat in context.now.pack for seat in context.named):
        return _pack(context)
    if not context.named:
        if context.wolf:
            return _roles(context)
        return context.suspicions(2) or ["I see nothing that stands out yet."]
    name, claim = context.names[context.named[0]], context.claim(context.named[0])
    role = [sentence for sentence in context.roles(*ABLE, PLAIN, most=9) if sentence.startswith(name)][:1]
    if context.wolf:
        return [*claim, *role] or [f"I cannot tell what role {name} has."]
    return [*claim, *map(context.about, context.named[:2]), *role]


_WHOLE = ("rivals", "draws eyes", "trust", "found", "pack's choice", "consequences")
"""Topics that are answered in general, also if the question names a player."""

_ANSWERS: dict[str, Callable[[AnswerContext], list[str]]] = {
    "phase": _phase,
    "identity": _identity,
    "consequences": _consequences,
    "known": _known,
    "claims": _claims,
    "roles": _roles,
    "pack's choice": _packs_choice,
    "pack": _pack,
    "seer": _seer,
    "seer believed": _seer_believed,
    "abilities": _abilities,
    "look": _look,
    "found": _found,
    "tell now": _tell_now,
    "potions": _potions,
    "attack": _attack,
    "draws eyes": _draws_eyes,
    "rivals": _rivals,
    "trust": _trust,
    "suspect": _suspect,
}


# -- the reflection -----------------------------------------------------------------------------


def reflection(ask: Ask, answers: Pairs, outlook: Outlook, draws: KeyedDraws) -> str:
    """The player's reflection: claims, sides, roles, and its aims."""
    context = AnswerContext(outlook_with_texts(outlook, [text for _, text in answers]), ask)
    mates = [seat for seat in context.now.pack if seat != context.me]
    sentences = [f"{_when(context)} {context.the(context.now.role)}."]
    sentences += [context.graded("certainly", mates)] if mates else []
    sentences += context.claims()
    if context.wolf:
        sentences += context.roles(*ABLE, PLAIN, most=4)
    else:
        sentences += [*context.suspicions(), *context.roles(*ABLE, most=2)]
    return " ".join([*sentences, draws.one("aim", _aims(context))])


def _aims(context: AnswerContext) -> tuple[str, ...]:
    """The player's aims, in several wordings."""
    if context.wolf:
        return (
            "We must not be found out.",
            "The talk should stay away from us.",
            "We need the others to fight each other.",
        )
    suspects = context.outlook.ranked()
    if suspects and context.outlook.wolf[suspects[0]] >= 500:
        first = context.names[suspects[0]]
        return (
            f"My eye is on {first}.",
            f"It is {first} who has to go.",
            f"I want the village to see through {first}.",
        )
    if context.role in ABLE and context.ask.kind in DUTIES:
        return ("I want to make good use of what I can do.", "My ability has to count.")
    return (
        "I need to hear more before I decide.",
        "It is too early to be sure of anybody.",
        "I will listen for contradictions.",
    )
