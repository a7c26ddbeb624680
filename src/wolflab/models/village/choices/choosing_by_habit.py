"""Choosing among an ask's options: first-order judgement, no search.

Each kind of ask scores its options from the scene; the best is chosen, with ties and jitter drawn from the
table's key. Kinds without a rule (a new role's, but for shields) are answered at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....rules import LEFT, NO, PASS, RIGHT, SHIELDS, YES, Action, Ask, Pick
from ..beliefs.claims import AS_OTHER, AS_SEER, AS_SHIELD
from ..draws import KeyedDraws
from ..scene import TableScene
from ..speech.speaking_by_habit import push_score

ChosenOption = tuple[Action, str]
"""The action and the reason."""


def choose_by_habit(scene: TableScene, ask: Ask) -> ChosenOption:
    """One of the ask's options, and the reason."""
    options = ask.options or ()
    plan = _PLANS.get(ask.kind)
    choice = plan(scene, options) if plan is not None else None
    if choice is None or choice[0] not in options:
        return scene.draws.one("any", options), "Nothing speaks for one choice over another."
    return choice


def hold_back(ask: Ask) -> ChosenOption | None:
    """The option of doing nothing, if there is one."""
    nothing = NO if ask.kind == "antidote" else PASS
    return (nothing, "I would rather hold back this time.") if nothing in (ask.options or ()) else None


def choose_to_act(scene: TableScene, ask: Ask) -> ChosenOption:
    """The best option other than doing nothing."""
    options = tuple(option for option in ask.options or () if option != PASS)
    if ask.kind == "antidote" and YES in options:
        return YES, "I use what I have."
    seats = [seat for seat in _seats(options) if seat != scene.me and seat not in scene.pack]
    if ask.kind in ("poison", "shoot") and seats:
        target = _best(scene, seats, lambda seat: scene.suspicion[seat], ask.kind)
        return Pick(target), f"{scene.name(target)} is the likeliest Werewolf."
    return choose_by_habit(scene, replace(ask, options=options) if options else ask)


def favoured_seat(scene: TableScene, ask: Ask, seat: int, rate: float) -> ChosenOption | None:
    """A planted bias: `seat` on the first night with chance `rate`, where it may be chosen.

    The draw is by the game, not by the seat, so that a pack has the bias together, at that rate.
    """
    if seat in scene.pack or not _bias_applies(scene, ask, seat, f"favour {ask.kind}", rate):
        return None
    return Pick(seat), f"I have a feeling about {scene.name(seat)}."


def without_shunned(scene: TableScene, ask: Ask, seat: int, rate: float) -> Ask:
    """The ask without `seat` on the first night with chance `rate` (drawn by the game, as for
    `favoured_seat`).
    """
    options = tuple(option for option in ask.options or () if option != Pick(seat))
    return replace(ask, options=options) if options and _bias_applies(scene, ask, seat, "shun", rate) else ask


def _bias_applies(scene: TableScene, ask: Ask, seat: int, purpose: str, rate: float) -> bool:
    if scene.situation.round != 1 or Pick(seat) not in (ask.options or ()):
        return False
    return KeyedDraws(scene.table.key.rsplit("|", 2)[0]).chance(purpose, 1000 * rate)


def _seats(options: tuple[Action, ...]) -> list[int]:
    return [option.seat for option in options if isinstance(option, Pick)]


def _best(
    scene: TableScene, seats: list[int], score: Callable[[int], int], purpose: str, jitter: int = 25
) -> int:
    jitter += scene.haste
    return max(seats, key=lambda seat: (score(seat) + scene.table.below(jitter, f"{purpose} {seat}"), -seat))


def _kill(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    named = scene.summary.named_by_mates(scene.me)
    if named is not None and Pick(named) in options and named not in scene.pack:
        return Pick(named), f"My teammate chose {scene.name(named)}; together we are sure of the kill."
    prey = [seat for seat in _seats(options) if seat not in scene.pack]
    if not prey:
        return None
    guarded = scene.table.chance("feint", 500)

    def worth(seat: int) -> int:
        """Danger, less where a shield is to be expected."""
        score, claim = scene.danger(seat), scene.node.claims[seat]
        if seat == scene.summary.spared:
            score -= 500
        if claim in (AS_SHIELD, AS_OTHER) or (claim == AS_SEER and guarded):
            score //= 2
        return score

    target = _best(scene, prey, worth, "kill", 120)
    return Pick(target), f"{scene.name(target)} is the most dangerous to us."


def _protect(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    seats = _seats(options)
    if not seats:
        return None
    if scene.situation.round == 1 and scene.me in seats:
        return Pick(scene.me), "On the first night nobody is known to me, so I look after myself."
    seers = scene.credible_seers()

    def worth(seat: int) -> int:
        if seat == scene.me:
            return 450
        if seat in seers:
            return 1100 - scene.suspicion[seat]
        if scene.thought[seat] == "Seer":
            return 300 + 60 * scene.sure[seat]
        return (1000 - scene.suspicion[seat]) * 2 // 5

    target = _best(scene, seats, worth, "protect", 120)
    return Pick(target), f"The Werewolves would gain most from the death of {scene.name(target)}."


def _see(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    unknown = [seat for seat in _seats(options) if seat != scene.me and seat not in scene.summary.learned]
    if not unknown:
        return (PASS, "There is nobody left to look at.") if PASS in options else None

    def worth(seat: int) -> int:
        suspicion = scene.suspicion[seat]
        return min(suspicion, 1000 - suspicion) * 2 + suspicion // 2

    target = _best(scene, unknown, worth, "see", 60)
    return Pick(target), f"A look at {scene.name(target)} tells me most."


def _antidote(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    victim = scene.victim()
    if victim is not None and victim != scene.me and scene.suspicion[victim] > 650:
        return NO, "The victim is not worth the antidote."
    return YES, "A life saved now is worth more than an antidote kept."


def _poison(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    seats = [seat for seat in _seats(options) if seat != scene.me]
    if seats:
        target = _best(scene, seats, lambda seat: scene.suspicion[seat], "poison")
        if scene.suspicion[target] >= (700 if scene.situation.round < 3 else 600):
            return Pick(target), f"I am sure enough that {scene.name(target)} is a Werewolf."
    return PASS, "I am not sure enough of anybody to use the poison."


def _shoot(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    seats = _seats(options)
    if seats:
        target = _best(scene, seats, lambda seat: scene.suspicion[seat], "shoot")
        if scene.suspicion[target] >= 500:
            return Pick(target), f"{scene.name(target)} is more likely a Werewolf than not."
    return PASS, "Whomever I shot, it would more likely be one of us."


def _elect(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    seats = _seats(options)
    if not seats:
        return None
    if scene.wolf:
        pack = [seat for seat in seats if seat in scene.pack]
        if pack and scene.table.chance("elect pack", 700):
            return Pick(pack[0]), f"{scene.name(pack[0])} with the badge is worth a lot to us."
        target = _best(scene, seats, lambda seat: -scene.danger(seat), "elect", 120)
        return Pick(target), f"{scene.name(target)} will not lead the village far."
    seers = scene.credible_seers()
    target = _best(scene, seats, lambda s: -scene.suspicion[s] + (300 if s in seers else 0), "elect", 40)
    return Pick(target), f"{scene.name(target)} seems the most trustworthy candidate."


def _succeed(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    seats = _seats(options)
    if not seats:
        return None
    if scene.wolf:
        mates = [seat for seat in seats if seat in scene.pack and scene.support(seat) == 0]
        if mates:
            return Pick(mates[0]), "The badge stays with us."
        target = _best(scene, seats, lambda seat: -scene.danger(seat), "succeed")
    else:
        target = _best(scene, seats, lambda seat: -scene.suspicion[seat], "succeed")
    return Pick(target), f"I trust {scene.name(target)} most with the badge."


def _lead(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    """Let the more suspect neighbour speak first, before it can follow others."""
    alive = scene.situation.alive
    if scene.me not in alive or len(alive) < 3:
        return None
    at = alive.index(scene.me)
    left, right = alive[at - 1], alive[(at + 1) % len(alive)]
    first = _best(scene, [left, right], lambda seat: scene.suspicion[seat], "lead", 60)
    return (LEFT if first == left else RIGHT), f"{scene.name(first)} shall commit before the others."


def _vote(scene: TableScene, options: tuple[Action, ...]) -> ChosenOption | None:
    seats = [seat for seat in _seats(options) if seat != scene.me]
    if not seats:
        return None
    if scene.wolf:
        target = _best(scene, seats, lambda seat: push_score(scene, seat), "suspect", 40)
        return Pick(target), f"The vote is best turned on {scene.name(target)}."

    def worth(seat: int) -> int:
        weighs = not scene.haste and 250 <= scene.suspicion[seat] < 1000
        backing = 30 * min(scene.support(seat), 4) if weighs else 0
        return scene.suspicion[seat] + backing

    target = _best(scene, seats, worth, "suspect", 40)
    if PASS in options and scene.suspicion[target] + scene.style.bold < 220:
        return PASS, "I have no good reason to vote anybody out today."
    return Pick(target), f"{scene.name(target)} is the likeliest Werewolf."


_PLANS: dict[str, Callable[[TableScene, tuple[Action, ...]], ChosenOption | None]] = {
    "kill": _kill,
    **dict.fromkeys(SHIELDS, _protect),
    "see": _see,
    "antidote": _antidote,
    "poison": _poison,
    "shoot": _shoot,
    "elect": _elect,
    "succeed": _succeed,
    "lead": _lead,
    "vote": _vote,
}
