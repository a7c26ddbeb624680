"""Answers to the questions a player puts to itself, and the reflection that sums them up (003 Eq. 1 and 2).

An answer says what the player sees when it looks at the situation and at the messages retrieved for the
question; a reflection joins the situation with what the answers say. Both carry their judgements in graded
sentences (`graded_words`), which is the only way in which older events reach the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ....rules import DUTIES, ROLES, Ask
from ....text.questions import Pairs
from ....text.reading import normal, seats_of
from ..beliefs.graded_words import grade, judged, together
from ..beliefs.likelihood import HOSTILE
from ..beliefs.outlook import Outlook, joined
from ..beliefs.worlds import OTHER, PLAIN, SEER, SHIELD, role_class
from ..draws import KeyedDraws
from ..speech.wording import worded
from .topics import topic_of

_CONFIDENT = {
    5: "perhaps",
    6: "likely",
    7: "probably",
    8: "very probably",
    9: "almost certainly",
    10: "certainly",
}


class Mind:
    """An outlook put into words. One per answer."""

    def __init__(self, outlook: Outlook, draws: KeyedDraws) -> None:
        self.view, self.draws = outlook, draws
        self.now = outlook.situation
        self.names = outlook.situation.ruleset.names
        self.me = outlook.situation.seat
        self.wolf = ROLES[self.now.role].wolf
        self.role = role_class(ROLES[self.now.role])

    def the(self, role: str) -> str:
        """A role with its article: "the Seer", "a Villager"."""
        return worded(role, self.now.ruleset)

    # -- sentences ------------------------------------------------------------------------

    def suspicions(self, most: int = 9, floor: int = 0) -> list[str]:
        """Graded sentences on the living others' sides, the likeliest Werewolf first, at most so many."""
        groups: dict[str, list[int]] = {}
        for seat in self.view.ranked():
            word = grade(self.view.wolf[seat])
            if word and seat not in self.now.pack and self.view.wolf[seat] >= floor:
                groups.setdefault(word, []).append(seat)
        return [
            judged(word, [self.names[s] for s in sorted(seats)])
            for word, seats in list(groups.items())[:most]
        ]

    def about(self, seat: int) -> str:
        """One sentence on one player's side."""
        word = grade(self.view.wolf[seat])
        name = self.names[seat]
        return judged(word, [name]) if word else f"I cannot tell yet on which side {name} is."

    def roles(self, *classes: int, most: int = 3) -> list[str]:
        """Graded sentences on who holds roles of these classes, as far as it is worth a guess."""
        found = []
        for seat in self.view.others():
            role, level = self.view.thought[seat], self.view.sure[seat]
            if role in ROLES and role_class(ROLES[role]) in classes and seat not in self.now.pack:
                found.append((-level, seat, role))
        return [
            f"{self.names[s]} is {_CONFIDENT[-level]} {self.the(role)}."
            for level, s, role in sorted(found)[:most]
        ]

    def claims(self, most: int = 4) -> list[str]:
        """Who claims what."""
        found = []
        for seat, role in sorted(self.view.claims.items()):
            if seat == self.me:
                found.append(f"I have told everybody that I am {self.the(role)}.")
            elif role != "Werewolf":
                found.append(f"{self.names[seat]} claims to be {self.the(role)}.")
        return found[:most]

    def living(self, seats: Sequence[int]) -> list[int]:
        """Those of them who live."""
        return [seat for seat in seats if seat in self.now.alive]


# -- answers ------------------------------------------------------------------------------------


def answer(ask: Ask, question: str, outlook: Outlook, draws: KeyedDraws) -> str:
    """One or two sentences, as "I"."""
    mind = Mind(outlook, draws)
    topic = topic_of(question)
    about = topic not in _WHOLE and bool(_named(mind, question))
    said = (
        _general(mind, ask, question) if about or topic == "general" else _ANSWERS[topic](mind, ask, question)
    )
    return " ".join(said) if said else "I have nothing to go by yet."


def _phase(mind: Mind, ask: Ask, question: str) -> list[str]:
    duty = DUTIES.get(ask.kind)
    do = f"choose whom to {duty.verb}" if duty else {"vote": "vote"}.get(ask.kind, "speak")
    when = f"night {mind.now.round}" if mind.now.phase == "night" else f"day {mind.now.round}"
    return [f"It is {when}, and I am asked to {do}."]


def _identity(mind: Mind, ask: Ask, question: str) -> list[str]:
    aim = (
        "see the village fall without being found out"
        if mind.wolf
        else "find the Werewolves and vote them out"
    )
    return [f"I am {mind.names[mind.me]}, {mind.the(mind.now.role)}, and I want to {aim}."]


def _consequences(mind: Mind, ask: Ask, question: str) -> list[str]:
    if mind.wolf:
        return ["If they knew what I am, I would be voted out at once."]
    if mind.role == PLAIN:
        return ["Nobody could prove or refute it, and I would hardly be believed for it alone."]
    return ["The Werewolves would want me dead the next night, but the village might follow me today."]


def _known(mind: Mind, ask: Ask, question: str) -> list[str]:
    told = mind.view.claims.get(mind.me)
    if told is None:
        return ["I have not told my role, and nobody can know it for sure."]
    true = told == mind.now.role
    return [f"I have told everybody that I am {mind.the(told)}{'' if true else ', which is not true'}."]


def _claims(mind: Mind, ask: Ask, question: str) -> list[str]:
    said = mind.claims() or ["Nobody has clearly told a role so far."]
    return [*said[:2], *([] if mind.wolf else mind.suspicions(1))]


def _roles(mind: Mind, ask: Ask, question: str) -> list[str]:
    if mind.wolf:
        return mind.roles(SEER, SHIELD, OTHER, PLAIN) or ["I cannot tell yet who has which ability."]
    said = [*mind.roles(SEER, SHIELD, OTHER, most=2), *mind.suspicions(2)]
    return said or ["I cannot tell the others' roles apart yet."]


def _packs_choice(mind: Mind, ask: Ask, question: str) -> list[str]:
    if not mind.wolf:
        return ["I have no teammates that I know of."]
    named = mind.view.survey.named_by_mates(mind.me)
    if named is None:
        return ["My teammate has not chosen anybody yet."]
    return [f"My teammate chose {mind.names[named]}."]


def _pack(mind: Mind, ask: Ask, question: str) -> list[str]:
    mates = [seat for seat in mind.now.pack if seat != mind.me]
    if not mates:
        return ["I know of no teammates.", *mind.suspicions(1)]
    living = mind.living(mates)
    told = [f"My teammates are {together([mind.names[s] for s in mates])}."]
    told[0] = told[0].replace("teammates are", "teammate is") if len(mates) == 1 else told[0]
    hunters = {a for a, b, stance in mind.view.survey.node.today if b in living and stance in HOSTILE}
    hunters -= set(mates)
    return (
        [*told, f"{together([mind.names[s] for s in sorted(hunters)])} spoke against us."]
        if hunters
        else told
    )


def _seer(mind: Mind, ask: Ask, question: str) -> list[str]:
    if mind.role == SEER:
        return ["I am the Seer myself."]
    seers = mind.view.claimants(SEER)
    said = [f"{mind.names[s]} claims to be the Seer." for s in seers[:2]]
    guesses = mind.roles(SEER, most=1)
    if not said and not guesses:
        return ["I do not know who the Seer is, nor whether the Seer still lives."]
    return [*said, *guesses] if mind.wolf else [*said, *guesses, *(mind.about(s) for s in seers[:2])]


def _seer_believed(mind: Mind, ask: Ask, question: str) -> list[str]:
    seers = mind.view.claimants(SEER)
    if not seers:
        return ["Nobody who lives claims to be the Seer.", *([] if mind.wolf else mind.suspicions(1))]
    return [part for s in seers[:2] for part in (f"{mind.names[s]} claims to be the Seer.", mind.about(s))]


def _abilities(mind: Mind, ask: Ask, question: str) -> list[str]:
    said = mind.roles(SEER, SHIELD, OTHER)
    return said or ["I have no clue yet to who holds a special role."]


def _look(mind: Mind, ask: Ask, question: str) -> list[str]:
    open_ = [s for s in mind.view.ranked() if s not in mind.view.survey.learned]
    if not open_:
        return ["There is nobody left whom I do not know."]
    return [f"{mind.names[open_[0]]} is the one to look at.", mind.about(open_[0])]


def _found(mind: Mind, ask: Ask, question: str) -> list[str]:
    learned = [(s, what) for s, what in mind.view.survey.learned.items() if s != mind.me]
    if not learned:
        return ["I have looked at nobody yet.", *mind.suspicions(1)]
    wolves = [s for s, what in learned if what == "Werewolf"]
    good = [s for s, what in learned if what != "Werewolf"]
    said = [judged("certainly", [mind.names[s] for s in wolves])] if wolves else []
    return said + ([judged("certainly not", [mind.names[s] for s in good])] if good else [])


def _tell_now(mind: Mind, ask: Ask, question: str) -> list[str]:
    if mind.wolf:
        return ["No, nobody may learn what I am."]
    wolves = [s for s, what in mind.view.survey.learned.items() if what == "Werewolf" and s in mind.now.alive]
    if mind.role == SEER and wolves:
        return ["Yes, the village must hear of it.", judged("certainly", [mind.names[s] for s in wolves])]
    pressed = any(b == mind.me and stance in HOSTILE for _, b, stance in mind.view.survey.node.today)
    return (
        ["Yes, I am being accused and have to defend myself."] if pressed else ["No, I can do more unseen."]
    )


def _potions(mind: Mind, ask: Ask, question: str) -> list[str]:
    return ["The antidote saves a life for certain, the poison only helps if I am sure.", *mind.suspicions(1)]


def _attack(mind: Mind, ask: Ask, question: str) -> list[str]:
    names = mind.names
    if mind.wolf:
        return mind.roles(SEER, SHIELD, OTHER, most=2) or ["Whoever speaks up most is a danger to us."]
    targets = mind.view.claimants(SEER) or mind.view.claimants(SHIELD) or mind.view.ranked()[-1:]
    if not targets:
        return ["I cannot tell whom they want."]
    return [f"They will want to kill {names[targets[0]]}.", *mind.roles(SEER, most=1)]


def _draws_eyes(mind: Mind, ask: Ask, question: str) -> list[str]:
    against = sorted(
        {a for a, b, stance in mind.view.survey.node.today if b == mind.me and stance in HOSTILE}
    )
    if not against:
        return ["Nobody has spoken against me today."]
    return [f"{together([mind.names[s] for s in against])} spoke against me today.", mind.about(against[0])]


def _rivals(mind: Mind, ask: Ask, question: str) -> list[str]:
    named = _named(mind, question) or mind.view.claimants(SEER)
    return [mind.about(s) for s in sorted(named, key=lambda s: -mind.view.wolf[s])[:2]]


def _trust(mind: Mind, ask: Ask, question: str) -> list[str]:
    if mind.wolf and len(mind.now.pack) > 1:
        return ["I can rely on my own pack alone."]
    ranked = mind.view.ranked()
    return (
        [mind.about(ranked[-1]), *(mind.about(s) for s in _named(mind, question)[:1] if s != ranked[-1])]
        if ranked
        else []
    )


def _suspect(mind: Mind, ask: Ask, question: str) -> list[str]:
    if mind.wolf:
        return _pack(mind, ask, question)
    return mind.suspicions(2, floor=380) or ["Nobody stands out as a Werewolf yet.", *mind.suspicions(1)]


def _general(mind: Mind, ask: Ask, question: str) -> list[str]:
    named = _named(mind, question)
    if any(seat in mind.now.pack for seat in named):
        return _pack(mind, ask, question)
    if named:
        first, told = named[0], mind.view.claims.get(named[0])
        claim = [f"{mind.names[first]} claims to be {mind.the(told)}."] if told and told != "Werewolf" else []
        roles = [
            part
            for part in mind.roles(SEER, SHIELD, OTHER, PLAIN, most=9)
            if part.startswith(mind.names[first])
        ]
        if mind.wolf:
            return [*claim, *roles[:1]] or [f"I cannot tell what role {mind.names[first]} has."]
        return [*claim, *(mind.about(s) for s in named[:2]), *roles[:1]]
    return (
        _roles(mind, ask, question)
        if mind.wolf
        else mind.suspicions(2) or ["I see nothing that stands out yet."]
    )


def _named(mind: Mind, question: str) -> list[int]:
    """The others whom a question names."""
    return [seat for seat in _seats_in(question, mind.names) if seat != mind.me]


@lru_cache(1 << 12)
def _seats_in(question: str, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(seats_of(normal(question[:300], names))))


_WHOLE = ("rivals", "draws eyes", "trust", "found", "pack's choice", "consequences")
"""Topics that are answered as they are though a player may be named."""

_ANSWERS: dict[str, Callable[[Mind, Ask, str], list[str]]] = {
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
    """What the player makes of it all, for itself: claims, sides, roles, and what it wants."""
    mind = Mind(joined(outlook, [text for _, text in answers]) if answers else outlook, draws)
    now, names = mind.now, mind.names
    when = f"night {now.round}" if now.phase == "night" else f"day {now.round}"
    said = [f"It is {when}, and I am {mind.the(now.role)}."]
    mates = [seat for seat in now.pack if seat != mind.me]
    if mates:
        said.append(judged("certainly", [names[seat] for seat in mates]))
    said += mind.claims()
    if mind.wolf:
        said += mind.roles(SEER, SHIELD, OTHER, PLAIN, most=4)
    else:
        said += mind.suspicions()
        said += mind.roles(SEER, SHIELD, OTHER, most=2)
    said.append(_aim(mind, ask))
    return " ".join(said)


def _aim(mind: Mind, ask: Ask) -> str:
    """What follows for what it wants to reach."""
    names, draws = mind.names, mind.draws
    ranked = [seat for seat in mind.view.ranked() if seat not in mind.now.pack]
    if mind.wolf:
        return draws.one(
            "aim",
            (
                "We must not be found out.",
                "The talk should stay away from us.",
                "We need the others to fight each other.",
            ),
        )
    if ranked and mind.view.wolf[ranked[0]] >= 500:
        first = names[ranked[0]]
        return draws.one(
            "aim",
            (
                f"My eye is on {first}.",
                f"It is {first} who has to go.",
                f"I want the village to see through {first}.",
            ),
        )
    if mind.role in (SEER, SHIELD, OTHER) and ask.kind in DUTIES:
        return draws.one("aim", ("I want to make good use of what I can do.", "My ability has to count."))
    return draws.one(
        "aim",
        (
            "I need to hear more before I decide.",
            "It is too early to be sure of anybody.",
            "I will listen for contradictions.",
        ),
    )
