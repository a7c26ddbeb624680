"""Strategies of speech: different things to want from a statement, each as a plan of points.

What is said by habit is `speaking_by_habit`'s affair; here stand the alternatives that a player can weigh
against it (004 §4.2, C.6). Each has a sentence by which it is known. A strategy that the situation does not
allow, or that would contradict what the player has said itself, makes no points: who claimed a role keeps to
it, a false Seer adds at most one check for each night, nobody accuses whom they cleared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....rules import ROLES
from ..beliefs.claims import AS_OTHER, AS_SEER, AS_SHIELD
from ..beliefs.worlds import OTHER, PLAIN, SEER, SHIELD, role_class
from ..scene import TableScene
from ..standing import (
    accusers,
    claimants,
    convicted,
    crowd,
    foes,
    in_words,
    likeliest,
    mates,
    may_claim,
    prey,
    top,
    under_fire,
)
from .speaking_by_habit import NAMED, accusation
from .wording import Point

MadeSpeech = tuple[list[Point], str]
"""The points, and what is to be said of them this time."""


@dataclass(frozen=True, slots=True)
class Speech:
    """name: short. mark: the sentence by which it is known. weight: how readily it comes to mind (at most
    1000). lean: the disposition of `Style` by which that changes. make: None where it cannot be followed.
    """

    name: str
    mark: str
    weight: int
    lean: str
    make: Callable[[TableScene], MadeSpeech | None]


def _call(scene: TableScene, target: int, strength: int) -> list[Point]:
    """An accusation and the call for the vote."""
    level = min(3, max(1, strength + min(0, scene.style.edge)))
    return [Point(f"accuse {level}", target), Point("propose", target)]


def _has(scene: TableScene, *classes: int) -> list[str]:
    """The ruleset's roles of these classes."""
    rules = scene.situation.ruleset
    return [role for role in rules.roles if rules.count(role) and role_class(ROLES[role]) in classes]


# -- the village side ---------------------------------------------------------------------------


def knowledge(scene: TableScene) -> list[Point]:
    """The own role and all that its holder has learned by it, the latest first."""
    role = scene.situation.role
    points = [Point("claim", None, role)]
    if role_class(ROLES[role]) == SEER:
        learned = [(seat, what) for seat, what in scene.survey.learned.items() if seat != scene.me]
        for number, (seat, what) in enumerate(reversed(learned)):
            points.append(Point("saw" if number == 0 else "saw before", seat, what))
    shielded = scene.survey.shielded
    if role_class(ROLES[role]) == SHIELD and shielded is not None and shielded != scene.me:
        points.append(Point("protect", shielded))
    return points


def _open(scene: TableScene) -> MadeSpeech | None:
    role, points = scene.situation.role, knowledge(scene)
    found = [s for s, w in scene.survey.learned.items() if w == "Werewolf" and s in scene.others()]
    target = found[-1] if found else likeliest(scene, foes(scene))
    if target is None:
        return points, f"I am the {role}."
    if found:
        points += [Point("propose", target)]
    elif scene.suspicion[target] >= NAMED:
        points += [Point(accusation(scene, scene.suspicion[target]), target), Point("propose", target)]
    return points, f"I am the {role}. {in_words(scene, target)}"


def _conceal(scene: TableScene) -> MadeSpeech | None:
    return [Point("quiet")], f"Nobody needs to learn what the {scene.situation.role} knows."


def _press(scene: TableScene) -> MadeSpeech | None:
    target = likeliest(scene, foes(scene))
    return None if target is None else (_call(scene, target, 3), in_words(scene, target))


def _second(scene: TableScene) -> MadeSpeech | None:
    target = likeliest(scene, foes(scene), 1)
    return None if target is None else (_call(scene, target, 2), in_words(scene, target))


def _vouch(scene: TableScene) -> MadeSpeech | None:
    others = [seat for seat in scene.others() if scene.suspicion[seat] < 500 and seat not in convicted(scene)]
    friend = top(scene, others, lambda seat: -scene.suspicion[seat], "friend")
    if friend is None:
        return None
    points = [Point("defend", friend)]
    if any(a == friend for a, _, _ in scene.node.today):
        points.append(Point("agree", friend))
    return points, in_words(scene, friend)


def _follow(scene: TableScene) -> MadeSpeech | None:
    target = crowd(scene, foes(scene))
    if target is None:
        return None
    before = [seat for seat in accusers(scene, [target]) if seat not in convicted(scene)]
    points = [Point("agree", before[0])] if before else []
    return [*points, Point("propose", target)], f"{under_fire(scene, target)} {in_words(scene, target)}"


def _pass_for_plain(scene: TableScene) -> MadeSpeech | None:
    plain = _has(scene, PLAIN)
    if not plain or ROLES[scene.situation.role].plain or not may_claim(scene, plain[0]):
        return None
    points, target = [Point("claim", None, plain[0])], likeliest(scene, foes(scene))
    if target is not None and scene.suspicion[target] >= NAMED:
        points.append(Point("accuse 1", target))
    return points, f"The Werewolves shall not look for the {scene.situation.role} in me."


def _answer(scene: TableScene) -> MadeSpeech | None:
    against = [seat for seat in accusers(scene, [scene.me]) if seat in foes(scene)]
    role = scene.situation.role
    if not against:
        return None
    return [Point("claim", None, role), *_call(scene, against[0], 2)], in_words(scene, against[0])


def _doubt(scene: TableScene) -> MadeSpeech | None:
    seers = [seat for seat in claimants(scene, AS_SEER) if seat in foes(scene)]
    target = likeliest(scene, seers)
    if target is None:
        return None
    return [Point("liar", target), Point("propose", target)], in_words(scene, target)


HONEST: tuple[Speech, ...] = (
    Speech("open", "I come out openly and tell the village all that I know.", 1000, "reveal", _open),
    Speech("press", "I press my main suspect hard and call for the vote.", 900, "accuse", _press),
    Speech("conceal", "I conceal my role, stay quiet and listen.", 700, "agree", _conceal),
    Speech("follow", "I join the majority and back its suspicion.", 600, "agree", _follow),
    Speech("vouch", "I protect the reputation of the most trustworthy player.", 600, "defend", _vouch),
    Speech("second", "I direct attention to another suspect whom nobody watches.", 500, "accuse", _second),
    Speech("plain", "I disguise my ability and pretend to have none.", 600, "agree", _pass_for_plain),
    Speech("answer", "I defend myself and strike back at my accuser.", 900, "accuse", _answer),
    Speech("doubt", "I challenge the self-proclaimed Seer as an impostor.", 500, "accuse", _doubt),
)

# -- Werewolves ---------------------------------------------------------------------------------


def false_check(scene: TableScene, what: str, target: int | None) -> list[Point]:
    """A false Seer's report: the claim, the earlier checks, and one more where a night allows it."""
    before = [(b, said) for a, b, said in scene.node.reports if a == scene.me]
    points = [Point("claim", None, "Seer")]
    if target is not None and len(before) < scene.situation.round:
        points.append(Point("saw", target, what))
    return [*points, *(Point("saw before", seat, said) for seat, said in reversed(before))]


def _may_lie(scene: TableScene) -> bool:
    """Whether it can stand as the Seer: no partner does already, and nothing else was claimed."""
    taken = any(seat in scene.mates for seat in scene.node.claimants(AS_SEER) if seat != scene.me)
    return bool(_has(scene, SEER)) and may_claim(scene, "Seer") and not taken


def _checked(scene: TableScene) -> set[int]:
    return {b for a, b, _ in scene.node.reports if a == scene.me}


def mark_for(scene: TableScene) -> int | None:
    """Whom a false check would hurt most: who endangers the pack and is under fire; of the village side, whom
    it suspects.
    """
    marks = [seat for seat in prey(scene) if seat not in _checked(scene)]
    if not scene.wolf:
        return likeliest(scene, marks)
    return top(scene, marks, lambda seat: scene.danger(seat) + 150 * scene.support(seat), "mark")


def _false_seer(scene: TableScene) -> MadeSpeech | None:
    if not _may_lie(scene):
        return None
    target = mark_for(scene)
    points = false_check(scene, "Werewolf", target)
    accused = [point.who for point in points if point.what == "Werewolf" and point.who in scene.others()]
    if not accused or accused[0] is None:
        return None
    rival = scene.node.claims[accused[0]] == AS_SEER
    why = "against the one who claims to be the Seer" if rival else "against"
    return [*points, Point("propose", accused[0])], f"It is a false check {why} {scene.name(accused[0])}."


def _false_clear(scene: TableScene) -> MadeSpeech | None:
    friends = [seat for seat in mates(scene) if seat not in _checked(scene)]
    if not _may_lie(scene) or not friends or len(_checked(scene)) >= scene.situation.round:
        return None
    return false_check(scene, "not a Werewolf", friends[0]), f"It clears {scene.name(friends[0])}."


def _false_shield(scene: TableScene) -> MadeSpeech | None:
    shields = [role for role in _has(scene, SHIELD, OTHER) if may_claim(scene, role)]
    if not shields:
        return None
    role, spared = shields[0], scene.survey.spared
    points = [Point("claim", None, role)]
    if role_class(ROLES[role]) == SHIELD and spared is not None and spared in scene.others():
        points.append(Point("protect", spared))
        return points, f"As the {role} I take the credit for saving {scene.name(spared)}."
    return points, f"The village will want to keep the {role}."


def _blend(scene: TableScene) -> MadeSpeech | None:
    plain = _has(scene, PLAIN)
    if not plain or not may_claim(scene, plain[0]):
        return None
    points = [Point("claim", None, plain[0])]
    target = crowd(scene, prey(scene))
    if target is not None:
        before = [seat for seat in accusers(scene, [target]) if seat not in convicted(scene)]
        points += [Point("agree", before[0])] if before else []
        points.append(Point("accuse 1", target))
    return points, f"I am one {plain[0]} among others."


def _push(scene: TableScene) -> MadeSpeech | None:
    targets = prey(scene)
    target = crowd(scene, targets)
    if target is None:
        target = likely_victim(scene, targets)
    return None if target is None else (_call(scene, target, 3), under_fire(scene, target))


def likely_victim(scene: TableScene, seats: list[int]) -> int | None:
    """Who can be sold as a Werewolf: without a claim, and no danger to look at."""
    return top(scene, seats, lambda seat: -scene.danger(seat), "victim")


_DREADED = {AS_SEER: "as the Seer", AS_SHIELD: "with the power to protect", AS_OTHER: "with an ability"}
"""Words for who claims an ability, by claim."""


def _strike(scene: TableScene) -> MadeSpeech | None:
    target = top(scene, prey(scene), scene.danger, "danger")
    if target is None:
        return None
    role = _DREADED.get(scene.node.claims[target], "")
    first = Point("liar" if role else "accuse 2", target)
    return [first, Point("propose", target)], f"{scene.name(target)} {role} is the greatest danger to us."


def _sacrifice(scene: TableScene) -> MadeSpeech | None:
    friends = [seat for seat in mates(scene) if seat in foes(scene)]
    if not friends:
        return None
    return _call(scene, friends[0], 3), under_fire(scene, friends[0])


def _shield_mate(scene: TableScene) -> MadeSpeech | None:
    friends = [seat for seat in mates(scene) if seat not in convicted(scene)]
    friend = top(scene, friends, scene.support, "mate")
    if friend is None:
        return None
    against = [seat for seat in accusers(scene, [friend]) if seat in prey(scene)]
    points = [Point("accuse 2", against[0])] if against else []
    return [Point("defend", friend), *points], under_fire(scene, friend)


def _lie_low(scene: TableScene) -> MadeSpeech | None:
    return [Point("quiet")], f"{len(accusers(scene, [scene.me]))} speak against me."


def _flatter(scene: TableScene) -> MadeSpeech | None:
    others = [seat for seat in prey(scene) if seat not in convicted(scene)]
    seers = [seat for seat in others if scene.node.claims[seat] == AS_SEER]
    friend = top(scene, seers or others, lambda seat: -scene.support(seat), "friend")
    if friend is None:
        return None
    spoke = any(a == friend for a, _, _ in scene.node.today)
    points = [Point("defend", friend), *([Point("agree", friend)] if spoke else [])]
    return points, f"{scene.name(friend)} shall think well of me."


def _hit_back(scene: TableScene) -> MadeSpeech | None:
    against = [seat for seat in accusers(scene, [scene.me]) if seat in prey(scene)]
    if not against:
        return None
    return _call(scene, against[0], 3), under_fire(scene, scene.me)


LYING: tuple[Speech, ...] = (
    Speech("seer", "I pose as the Seer and invent a check.", 1000, "bluff", _false_seer),
    Speech("push", "I accuse the easiest victim loudly and call for the vote.", 900, "accuse", _push),
    Speech("strike", "I discredit the most dangerous opponent before the others.", 700, "accuse", _strike),
    Speech("low", "I lie low and stay silent.", 600, "agree", _lie_low),
    Speech("blend", "I blend in among the Villagers and agree with them.", 700, "claim", _blend),
    Speech(
        "sacrifice", "I sacrifice my teammate to win the trust of the village.", 500, "accuse", _sacrifice
    ),
    Speech("mate", "I defend my teammate against all suspicion.", 500, "defend", _shield_mate),
    Speech("shield", "I pretend to be one with a useful ability.", 600, "bluff", _false_shield),
    Speech("clear", "I pose as the Seer and vouch for my teammate.", 400, "bluff", _false_clear),
    Speech("flatter", "I flatter an honest player to gain a friend.", 400, "agree", _flatter),
    Speech("back", "I strike back at my accuser and turn the tables.", 700, "accuse", _hit_back),
)


def turned_on(scene: TableScene, target: int) -> list[Point]:
    """For want of a strategy that is left: one player more to be named."""
    return [Point("accuse 2", target), Point("propose", target)]
