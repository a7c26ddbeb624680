"""Statements by habit: from a scene to a plan of points (`phrases` puts it into words).

The village side says what it believes, and what it knows when that helps. Werewolves lie with a purpose: they
claim to be plain Villagers, direct votes at others, answer a true Seer with a false one, and give up a
teammate who is lost.
"""

from __future__ import annotations

from dataclasses import replace

from ....rules import ROLES
from ....text.advice import CALL, HIDE, TELL
from ..beliefs.claims import AS_SEER
from ..beliefs.worlds import OTHER, PLAIN, SEER, SHIELD, role_class
from ..scene import TableScene
from .phrases import Point

NAMED = 420
"""Suspicion (thousandths) from which a player is named as a suspect."""
_TELLING = ("claim", "saw", "saw before", "protect", "antidote", "poison")
"""Kinds of points that give the speaker's role away."""


def plan_statement(scene: TableScene, kind: str) -> list[Point]:
    """The points of a "statement", a "campaign" speech or "last-words"."""
    claims = _wolf_claims(scene) if scene.wolf else _own_claims(scene, kind)
    if kind == "campaign":
        return [Point("campaign"), *claims]
    points = []
    sheriff = scene.situation.sheriff == scene.me and kind == "statement"
    if kind == "last-words":
        points.append(Point("farewell"))
    elif sheriff:
        points.append(Point("summary"))
    elif scene.draws.chance("open", 500):
        points.append(Point("open"))
    points += [*claims, *_judgements(scene, sheriff, kind)]
    if not any(point.who is not None or point.kind == "claim" for point in points):
        points.append(Point("quiet"))
    elif scene.draws.chance("close", 250):
        points.append(Point("close"))
    return points


def with_own_vote_only(scene: TableScene, points: list[Point]) -> list[Point]:
    """The points of a speaker. Without a vote it announces none: it says whom it suspects."""
    if scene.has_vote(scene.me):
        return points
    accused = {point.who for point in points if point.kind.startswith("accuse")}
    said = [replace(point, kind="accuse 2") if point.kind == "propose" else point for point in points]
    return [new for new, old in zip(said, points, strict=True) if new is old or new.who not in accused]


# -- the village side ---------------------------------------------------------------------------


def _own_claims(scene: TableScene, kind: str) -> list[Point]:
    role, style, draws = scene.situation.role, scene.style, scene.draws
    kind_of_role = role_class(ROLES[role])
    pressed = scene.node.contexts[scene.me] in (1, 2, 5) or scene.support(scene.me) >= 2
    claimed = bool(scene.node.claims[scene.me])
    last = kind == "last-words"
    if kind_of_role == SEER:
        return _seer(scene, pressed or last, claimed)
    claim = [] if claimed else [Point("claim", None, role)]
    if kind_of_role == PLAIN:
        return claim if draws.chance("claim", style.claim * (2 if pressed else 1)) else []
    if not (last or pressed or claimed or draws.chance("reveal", style.reveal // 3)):
        return []
    shielded = scene.summary.shielded
    tells_shielded = kind_of_role == SHIELD and shielded is not None and shielded != scene.me
    return [*claim, Point("protect", shielded)] if tells_shielded else claim


def _seer(scene: TableScene, pressed: bool, claimed: bool) -> list[Point]:
    """Report a Werewolf, answer a false Seer, or wait."""
    learned = [(seat, result) for seat, result in scene.summary.learned.items() if seat != scene.me]
    living_wolves = [
        seat for seat, result in learned if result == "Werewolf" and seat in scene.situation.alive
    ]
    rival = any(seat != scene.me for seat in scene.node.claimants(AS_SEER))
    style, draws = scene.style, scene.draws
    speaks = pressed or claimed or rival or len(learned) >= 3
    if not speaks:
        speaks = draws.chance("tell", style.tell) if living_wolves else draws.chance("reveal", style.reveal)
    if not speaks:
        return []
    points = [] if claimed and draws.chance("repeat", 600) else [Point("claim", None, "Seer")]
    before = {(seat, result) for speaker, seat, result in scene.node.reports if speaker == scene.me}
    for number, (seat, result) in enumerate(reversed(learned)):
        if (seat, result) not in before or seat in living_wolves:
            points.append(Point("saw" if number == 0 else "saw before", seat, result))
    return points


# -- Werewolves ---------------------------------------------------------------------------------


def _wolf_claims(scene: TableScene) -> list[Point]:
    node, style, draws, rules = scene.node, scene.style, scene.draws, scene.situation.ruleset
    claim = node.claims[scene.me]
    if claim == AS_SEER:
        return _false_report(scene)
    exposed = [seat for _, seat, result in node.reports if result == "Werewolf" and seat in scene.pack]
    seers = node.claimants(AS_SEER)
    if rules.count("Seer") and not any(seat in scene.pack for seat in seers):
        rate = 500 if scene.me in exposed else 80 if exposed else 2 * style.bluff if seers else style.bluff
        if draws.chance("bluff", rate):
            return [Point("claim", None, "Seer"), *_false_report(scene)]
    if claim:
        return []
    pressed = scene.support(scene.me) >= 1
    roles = [role for role in rules.roles if rules.count(role)]
    shields = [role for role in roles if role_class(ROLES[role]) in (SHIELD, OTHER)]
    if pressed and shields and draws.chance("fake shield", style.bluff):
        return [Point("claim", None, draws.one("which", shields))]
    plain = [role for role in roles if ROLES[role].plain]
    if plain and draws.chance("claim", style.claim * (2 if pressed else 1)):
        return [Point("claim", None, plain[0])]
    return []


def _false_report(scene: TableScene) -> list[Point]:
    """A false check: against the rival Seer, an accuser, or another believable target."""
    reported = scene.reported_good() | scene.reported_wolves()
    marks = [seat for seat in scene.others() if seat not in scene.pack and seat not in reported]
    if not marks:
        return []
    if scene.draws.chance("false clear", 250):
        return [Point("saw", scene.draws.one("cleared", marks), "not a Werewolf")]

    def worth(seat: int) -> tuple[int, int]:
        return scene.danger(seat) // 300 + scene.support(seat), scene.table.below(997, f"mark {seat}")

    return [Point("saw", max(marks, key=worth), "Werewolf")]


# -- judgements ---------------------------------------------------------------------------------


def suspects(scene: TableScene) -> list[tuple[int, int]]:
    """(suspicion, felt or pretended; seat) of the living others, the most suspect first."""
    scores = {
        seat: push_score(scene, seat) if scene.wolf else scene.suspicion[seat] + scene.style.bold
        for seat in scene.others()
    }
    ranked = sorted(scores, key=lambda seat: -(scores[seat] + scene.table.below(40, f"suspect {seat}")))
    return [(scores[seat], seat) for seat in ranked]


def _reported(scene: TableScene, seat: int) -> bool:
    """Whether anybody reported a check of `seat` as a Werewolf."""
    return any(target == seat and result == "Werewolf" for _, target, result in scene.node.reports)


def push_score(scene: TableScene, seat: int) -> int:
    """How much a Werewolf wants `seat` voted out: more for players under accusation, and for dangerous ones.

    A teammate is given up when lost, and sometimes accused early, because two who never accuse each other
    look like a pack.
    """
    support = scene.support(seat)
    if seat not in scene.pack:
        return 300 + 90 * support + scene.danger(seat) // 5
    lost = _reported(scene, seat)
    crowd = support * 3 > sum(map(scene.has_vote, scene.situation.alive))
    if scene.table.chance(f"give up {seat}", 700 if lost else 500 if crowd else 120):
        return 760 if lost or crowd else 480
    return 0


def _suspicion_shown(scene: TableScene, seat: int, score: int) -> int:
    """The suspicion that a speaker shows: a Werewolf shows that of a plain Villager."""
    if not scene.wolf:
        return score
    jitter = scene.draws.below(320, "shown")
    return 400 + 60 * scene.support(seat) + 350 * _reported(scene, seat) + jitter


def _judgements(scene: TableScene, sheriff: bool, kind: str) -> list[Point]:
    style, draws = scene.style, scene.draws
    ranked = suspects(scene)
    points: list[Point] = []
    if not ranked:
        return points
    score, first = ranked[0]
    score = _suspicion_shown(scene, first, score)
    named = score >= NAMED
    if (named or sheriff) and draws.chance("accuse", 1000 if sheriff else style.accuse):
        rival = scene.node.claims[first] == AS_SEER and not scene.wolf and score > 700
        points.append(Point("liar" if rival else accusation(scene, score), first))
    if kind != "last-words" and sheriff:
        points.append(Point("recommend", first))
    elif kind != "last-words" and named and draws.chance("propose", style.propose):
        points.append(Point("propose", first))
    friend = _friend(scene, first)
    if friend is not None and draws.chance("defend", style.defend):
        points.append(Point("defend", friend))
    accusers = scene.accusers(first)
    if accusers and (scene.wolf or scene.suspicion[accusers[0]] < 500) and draws.chance("agree", style.agree):
        points.append(Point("agree", accusers[0]))
    return points


def accusation(scene: TableScene, score: int) -> str:
    """The strongest kind of accusing phrase for this suspicion (thousandths) in the style."""
    strength = 3 if score >= 850 else 2 if score >= 480 else 1
    return f"accuse {min(3, max(1, strength + scene.style.edge))}"


def _friend(scene: TableScene, suspect: int) -> int | None:
    """Whom to defend: the most trusted; a Werewolf sometimes defends a teammate."""
    others = [seat for seat in scene.others() if seat != suspect]
    if not others:
        return None
    if scene.wolf:
        mates = [seat for seat in others if seat in scene.pack]
        if mates and scene.draws.chance("mate", 120):
            return mates[0]
        seers = [seat for seat in scene.claimants(AS_SEER) if seat != suspect]
        if seers and scene.draws.chance("flatter", 500):
            return seers[0]
        return scene.draws.one("friend", others) if scene.draws.chance("any friend", 100) else None
    seers = [seat for seat in scene.credible_seers() if seat != suspect]
    if seers:
        return min(seers, key=lambda seat: scene.suspicion[seat])
    best = min(others, key=lambda seat: (scene.suspicion[seat], scene.table.below(997, f"friend {seat}")))
    return best if scene.suspicion[best] <= 200 else None


# -- advice from past games ------------------------------------------------------------------------


def follow_advice(scene: TableScene, points: list[Point], advice: str) -> list[Point]:
    """The plan changed by advice from past games: a role revealed or hidden, a call for a vote."""
    if advice == HIDE:
        return hide_role(points)
    kinds = {point.kind for point in points}
    if advice == TELL and "claim" not in kinds:
        plain = [role for role in scene.situation.ruleset.roles if ROLES[role].plain]
        role = scene.situation.role if not scene.wolf else plain[0] if plain else ""
        return [Point("claim", None, role), *points] if role else points
    if advice == CALL and not kinds & {"propose", "recommend"}:
        return [*points, *(Point("propose", seat) for _, seat in suspects(scene)[:1])]
    return points


def hide_role(points: list[Point]) -> list[Point]:
    """The points without those that give the speaker's role away."""
    return [point for point in points if point.kind not in _TELLING] or [Point("quiet")]
