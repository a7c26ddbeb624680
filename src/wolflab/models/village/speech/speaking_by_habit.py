"""What to say: from a scene to a plan of points (`wording` words it).

The village side says what it believes and what it knows when that helps; Werewolves lie with a
purpose: they pass for plain Villagers, push votes on others, answer a true Seer with a false one, and
give up a teammate who is lost.
"""

from __future__ import annotations

from ....rules import ROLES
from ....text.advice import CALL, HIDE, TELL
from ..beliefs.claims import AS_SEER
from ..beliefs.likelihood import HOSTILE
from ..beliefs.worlds import OTHER, PLAIN, SEER, SHIELD, role_class
from ..scene import TableScene
from .wording import Point

NAMED = 420
"""Suspicion (thousandths) from which a player is spoken of as a suspect."""
TELLING = ("claim", "saw", "saw before", "protect", "antidote", "poison")
"""Kinds of points that give the speaker's role away."""


def plan(scene: TableScene, kind: str) -> list[Point]:
    """The points of a "statement", a "campaign" speech or "last-words"."""
    if kind == "campaign":
        points = [Point("campaign")]
        points += _wolf_claims(scene) if scene.wolf else _own_claims(scene, kind)
        return points
    points = []
    sheriff = scene.situation.sheriff == scene.me and kind == "statement"
    if kind == "last-words":
        points.append(Point("farewell"))
    elif sheriff:
        points.append(Point("summary"))
    elif scene.draws.chance("open", 500):
        points.append(Point("open"))
    points += _wolf_claims(scene) if scene.wolf else _own_claims(scene, kind)
    points += _judgements(scene, sheriff, kind)
    if not any(point.who is not None or point.kind == "claim" for point in points):
        points.append(Point("quiet"))
    elif scene.draws.chance("close", 250):
        points.append(Point("close"))
    return points


# -- the village side ---------------------------------------------------------------------------


def _own_claims(scene: TableScene, kind: str) -> list[Point]:
    role, style, draws = scene.situation.role, scene.style, scene.draws
    one = role_class(ROLES[role])
    pressed = scene.node.contexts[scene.me] in (1, 2, 5) or scene.support(scene.me) >= 2
    told = scene.node.claims[scene.me]
    last = kind == "last-words"
    if one == SEER:
        return _seer(scene, pressed or last, bool(told))
    if one == PLAIN:
        wanted = style.claim * (2 if pressed else 1)
        return [Point("claim", None, role)] if not told and draws.chance("claim", wanted) else []
    if not (last or pressed or told or draws.chance("reveal", style.reveal // 3)):
        return []
    points = [] if told else [Point("claim", None, role)]
    if one == SHIELD and scene.survey.shielded is not None and scene.survey.shielded != scene.me:
        points.append(Point("protect", scene.survey.shielded))
    return points


def _seer(scene: TableScene, pressed: bool, told: bool) -> list[Point]:
    """Tell of a Werewolf found, answer a false Seer, or wait."""
    learned = [(s, w) for s, w in scene.survey.learned.items() if s != scene.me]
    wolves = [s for s, w in learned if w == "Werewolf"]
    rival = any(s != scene.me for s in scene.node.claimants(AS_SEER))
    style, draws = scene.style, scene.draws
    fresh = [s for s in wolves if s in scene.situation.alive]
    out = pressed or told or rival or len(learned) >= 3
    if not out:
        out = draws.chance("tell", style.tell) if fresh else draws.chance("reveal", style.reveal)
    if not out:
        return []
    points = [] if told and draws.chance("repeat", 600) else [Point("claim", None, "Seer")]
    before = {(b, w) for a, b, w in scene.node.reports if a == scene.me}
    for number, (seat, what) in enumerate(reversed(learned)):
        if (seat, what) not in before or (what == "Werewolf" and seat in fresh):
            points.append(Point("saw" if number == 0 else "saw before", seat, what))
    return points


# -- Werewolves ---------------------------------------------------------------------------------


def _wolf_claims(scene: TableScene) -> list[Point]:
    node, style, draws, rules = scene.node, scene.style, scene.draws, scene.situation.ruleset
    told = node.claims[scene.me]
    if told == AS_SEER:
        return _false_report(scene, [])
    exposed = [b for a, b, what in node.reports if what == "Werewolf" and b in scene.mates]
    seers = [s for s in node.claimants(AS_SEER) if s not in scene.mates]
    partner = any(s in scene.mates for s in node.claimants(AS_SEER))
    if rules.count("Seer") and not partner:
        rate = 500 if scene.me in exposed else 80 if exposed else 2 * style.bluff if seers else style.bluff
        if draws.chance("bluff", rate):
            return _false_report(scene, [Point("claim", None, "Seer")])
    shields = [r for r in rules.roles if role_class(ROLES[r]) in (SHIELD, OTHER) and rules.count(r)]
    pressed = scene.support(scene.me) >= 1
    if told:
        return []
    if pressed and shields and draws.chance("fake shield", style.bluff):
        return [Point("claim", None, draws.one("which", shields))]
    plain = [r for r in rules.roles if ROLES[r].plain and rules.count(r)]
    if plain and draws.chance("claim", style.claim * (2 if pressed else 1)):
        return [Point("claim", None, plain[0])]
    return []


def _false_report(scene: TableScene, points: list[Point]) -> list[Point]:
    """A false check: against the rival Seer, an accuser, or anyone who can be sold as a Werewolf."""
    before = {b for a, b, _ in scene.node.reports if a == scene.me}
    marks = [s for s in scene.others() if s not in scene.mates and s not in before]
    if not marks:
        return points
    if scene.draws.chance("false clear", 250):
        helpers = [s for s in scene.others() if s not in before and s not in scene.mates]
        return [*points, Point("saw", scene.draws.one("cleared", helpers), "not a Werewolf")]
    target = max(
        marks, key=lambda s: (scene.danger(s) // 300 + scene.support(s), scene.table.below(997, f"mark {s}"))
    )
    return [*points, Point("saw", target, "Werewolf")]


# -- judgements ---------------------------------------------------------------------------------


def suspects(scene: TableScene) -> list[tuple[int, int]]:
    """Living others with how suspect they are (or are to be made), the most suspect first."""
    scored = []
    for seat in scene.others():
        score = pushed(scene, seat) if scene.wolf else scene.suspicion[seat] + scene.style.bold
        scored.append((score, scene.table.below(40, f"suspect {seat}"), seat))
    return [(score, seat) for score, _, seat in sorted(scored, key=lambda x: -(x[0] + x[1]))]


def pushed(scene: TableScene, seat: int) -> int:
    """How much a Werewolf wants `seat` voted out: whoever is already under fire, and the dangerous.

    A teammate is given up when lost, and sometimes hit early, because two who never touch each other
    are soon seen through.
    """
    support = scene.support(seat)
    if seat in scene.mates:
        lost = any(b == seat and what == "Werewolf" for _, b, what in scene.node.reports)
        crowd = support * 3 > len(scene.situation.alive)
        if scene.table.chance(f"give up {seat}", 700 if lost else 500 if crowd else 120):
            return 760 if lost or crowd else 480
        return 0
    return 300 + 90 * support + scene.danger(seat) // 5


def shown(scene: TableScene, seat: int, score: int) -> int:
    """The suspicion that a speaker lets be seen: a Werewolf shows what a plain Villager might feel."""
    if not scene.wolf:
        return score
    reported = any(b == seat and what == "Werewolf" for _, b, what in scene.node.reports)
    return 400 + 60 * scene.support(seat) + 350 * reported + scene.draws.below(320, "shown")


def _judgements(scene: TableScene, sheriff: bool, kind: str) -> list[Point]:
    style, draws = scene.style, scene.draws
    ranked = suspects(scene)
    points: list[Point] = []
    if not ranked:
        return points
    score, first = ranked[0]
    score = shown(scene, first, score)
    named = score >= NAMED
    if (named or sheriff) and draws.chance("accuse", 1000 if sheriff else style.accuse):
        seer = scene.node.claims[first] == AS_SEER and not scene.wolf
        points.append(Point("liar" if seer and score > 700 else accusation(scene, score), first))
    if kind != "last-words" and sheriff:
        points.append(Point("recommend", first))
    elif kind != "last-words" and named and draws.chance("propose", style.propose):
        points.append(Point("propose", first))
    friend = _friend(scene, first)
    if friend is not None and draws.chance("defend", style.defend):
        points.append(Point("defend", friend))
    spoken = [
        a for a, b, stance in scene.node.today
        if a != scene.me and a != first and a in scene.situation.alive and b == first and stance in HOSTILE
    ]  # fmt: skip
    if spoken and (scene.wolf or scene.suspicion[spoken[-1]] < 500) and draws.chance("agree", style.agree):
        points.append(Point("agree", spoken[-1]))
    return points


def accusation(scene: TableScene, score: int) -> str:
    """The kind of phrase that accuses as strongly as the suspicion (thousandths) allows in the style."""
    strength = 3 if score >= 850 else 2 if score >= 480 else 1
    return f"accuse {min(3, max(1, strength + scene.style.edge))}"


def _friend(scene: TableScene, suspect: int) -> int | None:
    """Whom to speak up for: the most trusted; a Werewolf now and then shields a teammate."""
    others = [s for s in scene.others() if s != suspect]
    if not others:
        return None
    if scene.wolf:
        mates = [s for s in others if s in scene.mates]
        if mates and scene.draws.chance("mate", 120):
            return mates[0]
        seers = [s for s in others if scene.node.claims[s] == AS_SEER and s not in scene.mates]
        if seers and scene.draws.chance("flatter", 500):
            return seers[0]
        return scene.draws.one("friend", others) if scene.draws.chance("any friend", 100) else None
    seers = [s for s in scene.credible_seers() if s != suspect]
    if seers:
        return min(seers, key=lambda s: scene.suspicion[s])
    best = min(others, key=lambda s: (scene.suspicion[s], scene.table.below(997, f"friend {s}")))
    return best if scene.suspicion[best] <= 200 else None


# -- advice from past games ------------------------------------------------------------------------


def advised_plan(scene: TableScene, points: list[Point], says: str) -> list[Point]:
    """The plan bent to what past games advise: a role told or hidden, a vote called for."""
    if says == HIDE:
        kept = [point for point in points if point.kind not in TELLING]
        return kept or [Point("quiet")]
    kinds = {point.kind for point in points}
    if says == TELL and "claim" not in kinds:
        plain = [r for r in scene.situation.ruleset.roles if ROLES[r].plain]
        role = scene.situation.role if not scene.wolf else plain[0] if plain else ""
        return [Point("claim", None, role), *points] if role else points
    if says == CALL and not kinds & {"propose", "recommend"}:
        ranked = suspects(scene)
        return [*points, Point("propose", ranked[0][1])] if ranked else points
    return points
