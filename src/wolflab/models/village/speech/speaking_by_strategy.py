"""Strategies of speech: different aims of a statement, each as a plan of points.

These are the alternatives to `speaking_by_habit` that a player can weigh (004 §4.2, C.6). A sentence
identifies each. A strategy that the situation does not allow, or that would contradict the player's own
statements, makes no points: a player keeps its claimed role, a false Seer adds at most one check for each
night, nobody accuses a player whom they cleared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....rules import ROLES
from ..beliefs.claims import AS_OTHER, AS_SEER, AS_SHIELD
from ..beliefs.worlds import OTHER, PLAIN, SEER, SHIELD, role_class
from ..scene import TableScene
from .phrases import Point
from .speaking_by_habit import NAMED, accusation

MadeSpeech = tuple[list[Point], str]
"""The points, and a sentence on them."""


@dataclass(frozen=True, slots=True)
class Speech:
    """name: short. mark: the sentence that identifies it. weight: in draws of the order (at most 1000). lean:
    the disposition of `Style` that changes the weight. make: returns None where it cannot be followed.
    """

    name: str
    mark: str
    weight: int
    lean: str
    make: Callable[[TableScene], MadeSpeech | None]


def _calls_against(scene: TableScene, target: int, strength: int) -> list[Point]:
    """An accusation and the call for the vote."""
    level = min(3, max(1, strength + min(0, scene.style.edge)))
    return [Point(f"accuse {level}", target), Point("propose", target)]


def _accuse(scene: TableScene, target: int | None, strength: int) -> MadeSpeech | None:
    """The village side's accusation and call for a vote; None without a target."""
    if target is None:
        return None
    return _calls_against(scene, target, strength), scene.suspicion_sentence(target)


def _roles_of(scene: TableScene, *classes: int) -> list[str]:
    """The ruleset's roles of these classes."""
    rules = scene.situation.ruleset
    return [role for role in rules.roles if rules.count(role) and role_class(ROLES[role]) in classes]


def _agree_with_accuser(scene: TableScene, target: int) -> list[Point]:
    """Agreement with the last accuser of `target`, if the player has not reported them."""
    before = [seat for seat in scene.accusers(target) if seat not in scene.reported_wolves()]
    return [Point("agree", before[0])] if before else []


# -- the village side ---------------------------------------------------------------------------


def knowledge(scene: TableScene) -> list[Point]:
    """The own role and everything learned by it, the latest first."""
    role, shielded = scene.situation.role, scene.summary.shielded
    points = [Point("claim", None, role)]
    if role_class(ROLES[role]) == SEER:
        learned = [(seat, result) for seat, result in scene.summary.learned.items() if seat != scene.me]
        for number, (seat, result) in enumerate(reversed(learned)):
            points.append(Point("saw" if number == 0 else "saw before", seat, result))
    if role_class(ROLES[role]) == SHIELD and shielded is not None and shielded != scene.me:
        points.append(Point("protect", shielded))
    return points


def _open(scene: TableScene) -> MadeSpeech | None:
    role, points = scene.situation.role, knowledge(scene)
    learned = scene.summary.learned.items()
    wolves = [seat for seat, result in learned if result == "Werewolf" and seat in scene.others()]
    target = wolves[-1] if wolves else scene.likeliest_wolf(scene.opponents())
    if target is None:
        return points, f"I am the {role}."
    if wolves:
        points.append(Point("propose", target))
    elif scene.suspicion[target] >= NAMED:
        points += [Point(accusation(scene, scene.suspicion[target]), target), Point("propose", target)]
    return points, f"I am the {role}. {scene.suspicion_sentence(target)}"


def _conceal(scene: TableScene) -> MadeSpeech | None:
    return [Point("quiet")], f"Nobody needs to learn what the {scene.situation.role} knows."


def _press(scene: TableScene) -> MadeSpeech | None:
    return _accuse(scene, scene.likeliest_wolf(scene.opponents()), 3)


def _second(scene: TableScene) -> MadeSpeech | None:
    return _accuse(scene, scene.likeliest_wolf(scene.opponents(), 1), 2)


def _speak_up_for(scene: TableScene, friend: int) -> list[Point]:
    """Trust in `friend`, and agreement with what they said today."""
    spoke = any(speaker == friend for speaker, _, _ in scene.node.today)
    return [Point("defend", friend), *([Point("agree", friend)] if spoke else [])]


def _vouch(scene: TableScene) -> MadeSpeech | None:
    trusted = [seat for seat in scene.others() if scene.suspicion[seat] < 500]
    open_to_praise = [seat for seat in trusted if seat not in scene.reported_wolves()]
    friend = scene.highest(open_to_praise, lambda seat: -scene.suspicion[seat], "friend")
    return None if friend is None else (_speak_up_for(scene, friend), scene.suspicion_sentence(friend))


def _follow(scene: TableScene) -> MadeSpeech | None:
    target = scene.most_accused(scene.opponents())
    if target is None:
        return None
    points = [*_agree_with_accuser(scene, target), Point("propose", target)]
    return points, f"{scene.support_sentence(target)} {scene.suspicion_sentence(target)}"


def _pass_for_plain(scene: TableScene) -> MadeSpeech | None:
    plain, role = _roles_of(scene, PLAIN), scene.situation.role
    if not plain or ROLES[role].plain or not scene.may_claim(plain[0]):
        return None
    points, target = [Point("claim", None, plain[0])], scene.likeliest_wolf(scene.opponents())
    if target is not None and scene.suspicion[target] >= NAMED:
        points.append(Point("accuse 1", target))
    return points, f"The Werewolves shall not look for the {role} in me."


def _answer(scene: TableScene) -> MadeSpeech | None:
    against = [seat for seat in scene.accusers(scene.me) if seat in scene.opponents()]
    if not against:
        return None
    points = [Point("claim", None, scene.situation.role), *_calls_against(scene, against[0], 2)]
    return points, scene.suspicion_sentence(against[0])


def _doubt(scene: TableScene) -> MadeSpeech | None:
    target = scene.likeliest_wolf([seat for seat in scene.claimants(AS_SEER) if seat in scene.opponents()])
    if target is None:
        return None
    return [Point("liar", target), Point("propose", target)], scene.suspicion_sentence(target)


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


def _attack(scene: TableScene, target: int | None) -> MadeSpeech | None:
    """A Werewolf's flat accusation and call for a vote; None without a target."""
    return None if target is None else (_calls_against(scene, target, 3), scene.support_sentence(target))


def false_check(scene: TableScene, result: str, target: int | None) -> list[Point]:
    """A false Seer's report: the claim, the earlier checks, and one more where a night allows it."""
    before = [(seat, shown) for speaker, seat, shown in scene.node.reports if speaker == scene.me]
    points = [Point("claim", None, "Seer")]
    if target is not None and len(before) < scene.situation.round:
        points.append(Point("saw", target, result))
    return [*points, *(Point("saw before", seat, shown) for seat, shown in reversed(before))]


def false_shield(scene: TableScene, role: str) -> list[Point]:
    """The claim of a role; for one that shields, also the credit for the pack's failed attack."""
    points, spared = [Point("claim", None, role)], scene.summary.spared
    if role_class(ROLES[role]) == SHIELD and scene.wolf and spared in scene.others():
        points.append(Point("protect", spared))
    return points


def false_check_target(scene: TableScene) -> int | None:
    """The best target of a false check: dangerous to the pack and under accusation; for the village side, a
    suspect.
    """
    marks = [seat for seat in scene.prey() if seat not in scene.reported_wolves()]
    if not scene.wolf:
        return scene.likeliest_wolf(marks)
    return scene.highest(marks, lambda seat: scene.danger(seat) + 150 * scene.support(seat), "mark")


def _may_lie(scene: TableScene) -> bool:
    """Whether it can claim the Seer: no teammate does already, and it claimed nothing else."""
    taken = any(seat in scene.pack for seat in scene.node.claimants(AS_SEER) if seat != scene.me)
    return bool(_roles_of(scene, SEER)) and scene.may_claim("Seer") and not taken


def _false_seer(scene: TableScene) -> MadeSpeech | None:
    if not _may_lie(scene):
        return None
    points = false_check(scene, "Werewolf", false_check_target(scene))
    accused = [point.who for point in points if point.what == "Werewolf" and point.who in scene.others()]
    if not accused or accused[0] is None:
        return None
    rival = scene.node.claims[accused[0]] == AS_SEER
    why = "against the one who claims to be the Seer" if rival else "against"
    return [*points, Point("propose", accused[0])], f"It is a false check {why} {scene.name(accused[0])}."


def _false_clear(scene: TableScene) -> MadeSpeech | None:
    checked = scene.reported_good() | scene.reported_wolves()
    friends = [seat for seat in scene.mates() if seat not in checked]
    if not _may_lie(scene) or not friends or len(checked) >= scene.situation.round:
        return None
    return false_check(scene, "not a Werewolf", friends[0]), f"It clears {scene.name(friends[0])}."


def _false_shield(scene: TableScene) -> MadeSpeech | None:
    shields = [role for role in _roles_of(scene, SHIELD, OTHER) if scene.may_claim(role)]
    if not shields:
        return None
    points = false_shield(scene, shields[0])
    saved = points[-1].who
    if saved is None:
        return points, f"The village will want to keep the {shields[0]}."
    return points, f"As the {shields[0]} I take the credit for saving {scene.name(saved)}."


def _blend(scene: TableScene) -> MadeSpeech | None:
    plain = _roles_of(scene, PLAIN)
    if not plain or not scene.may_claim(plain[0]):
        return None
    points = [Point("claim", None, plain[0])]
    target = scene.most_accused(scene.prey())
    if target is not None:
        points += [*_agree_with_accuser(scene, target), Point("accuse 1", target)]
    return points, f"I am one {plain[0]} among others."


def _push(scene: TableScene) -> MadeSpeech | None:
    """Against the most accused player, or a believable target without danger to the pack."""
    targets = scene.prey()
    target = scene.most_accused(targets)
    if target is None:
        target = scene.highest(targets, lambda seat: -scene.danger(seat), "victim")
    return _attack(scene, target)


_DREADED = {AS_SEER: "as the Seer", AS_SHIELD: "with the power to protect", AS_OTHER: "with an ability"}
"""Words for players who claim an ability, by claim."""


def _strike(scene: TableScene) -> MadeSpeech | None:
    target = scene.highest(scene.prey(), scene.danger, "danger")
    if target is None:
        return None
    role = _DREADED.get(scene.node.claims[target], "")
    points = [Point("liar" if role else "accuse 2", target), Point("propose", target)]
    return points, f"{scene.name(target)} {role} is the greatest danger to us."


def _sacrifice(scene: TableScene) -> MadeSpeech | None:
    return _attack(scene, next((seat for seat in scene.mates() if seat in scene.opponents()), None))


def _shield_mate(scene: TableScene) -> MadeSpeech | None:
    friends = [seat for seat in scene.mates() if seat not in scene.reported_wolves()]
    friend = scene.highest(friends, scene.support, "mate")
    if friend is None:
        return None
    against = [seat for seat in scene.accusers(friend) if seat in scene.prey()]
    points = [Point("accuse 2", against[0])] if against else []
    return [Point("defend", friend), *points], scene.support_sentence(friend)


def _lie_low(scene: TableScene) -> MadeSpeech | None:
    return [Point("quiet")], f"{len(scene.accusers(scene.me))} speak against me."


def _flatter(scene: TableScene) -> MadeSpeech | None:
    others = [seat for seat in scene.prey() if seat not in scene.reported_wolves()]
    seers = [seat for seat in others if scene.node.claims[seat] == AS_SEER]
    friend = scene.highest(seers or others, lambda seat: -scene.support(seat), "friend")
    if friend is None:
        return None
    return _speak_up_for(scene, friend), f"{scene.name(friend)} shall think well of me."


def _hit_back(scene: TableScene) -> MadeSpeech | None:
    against = [seat for seat in scene.accusers(scene.me) if seat in scene.prey()]
    return (_calls_against(scene, against[0], 3), scene.support_sentence(scene.me)) if against else None


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
