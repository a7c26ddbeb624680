"""Strategies of choice: different reasons for one option or another, each leading to an action or to none.

What is chosen by habit is `choosing_by_habit`'s affair; here stand the alternatives that a player can weigh
against it (004 §4.2, C.6): whom to kill, look at, save, poison or vote for, and why. A strategy that leads to
nobody, or to what is not among the options, is passed over. On the first night most of them lead to nobody,
and any seat is as good as another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ....rules import NO, PASS, SHIELDS, YES, Action, Pick
from ..beliefs.claims import AS_ABLE, AS_OTHER, AS_SEER, AS_SHIELD
from ..scene import TableScene
from ..standing import accusers, claimants, crowd, in_words, likeliest, stances, top, under_fire


@dataclass(frozen=True, slots=True)
class Choice:
    """name: short. mark: the sentence by which it is known. weight: how readily it comes to mind (at most
    1000). make: which of these seats or which other action it leads to; None for nothing.
    """

    name: str
    mark: str
    weight: int
    make: Callable[[TableScene, list[int]], int | Action | None]


def _others(scene: TableScene, seats: list[int]) -> list[int]:
    return [seat for seat in seats if seat != scene.me]


def _prey(scene: TableScene, seats: list[int]) -> list[int]:
    return [seat for seat in seats if seat not in scene.mates]


# -- votes --------------------------------------------------------------------------------------


def _first(scene: TableScene, seats: list[int]) -> int | None:
    return likeliest(scene, _others(scene, seats))


def _second(scene: TableScene, seats: list[int]) -> int | None:
    return likeliest(scene, _others(scene, seats), 1)


def _third(scene: TableScene, seats: list[int]) -> int | None:
    return likeliest(scene, _others(scene, seats), 2)


def _majority(scene: TableScene, seats: list[int]) -> int | None:
    return crowd(scene, _others(scene, seats))


def _accuser(scene: TableScene, seats: list[int]) -> int | None:
    return next((seat for seat in accusers(scene, [scene.me]) if seat in seats), None)


def _doubtful_seer(scene: TableScene, seats: list[int]) -> int | None:
    return likeliest(scene, [seat for seat in claimants(scene, AS_SEER) if seat in seats])


def _silent(scene: TableScene, seats: list[int]) -> int | None:
    return top(scene, _prey(scene, _others(scene, seats)), lambda seat: -stances(scene, seat), "silent")


def _nothing(scene: TableScene, seats: list[int]) -> Action | None:
    return PASS


def _victim(scene: TableScene, seats: list[int]) -> int | None:
    return crowd(scene, _prey(scene, seats))


def _seer(scene: TableScene, seats: list[int]) -> int | None:
    return top(scene, [s for s in claimants(scene, AS_SEER) if s in seats], scene.danger, "seer")


def _able(scene: TableScene, seats: list[int]) -> int | None:
    able = claimants(scene, AS_SHIELD, AS_OTHER)
    return top(scene, [s for s in able if s in seats], scene.danger, "able")


def _mate(scene: TableScene, seats: list[int]) -> int | None:
    return top(scene, [s for s in seats if s in scene.mates and s != scene.me], scene.support, "mate")


def _packs_accuser(scene: TableScene, seats: list[int]) -> int | None:
    return next((seat for seat in accusers(scene, list(scene.mates)) if seat in seats), None)


def _harmless(scene: TableScene, seats: list[int]) -> int | None:
    return top(scene, _prey(scene, seats), lambda seat: -scene.danger(seat), "harmless")


VILLAGE_VOTES = (
    Choice("first", "I vote for the likeliest Werewolf.", 900, _first),
    Choice("second", "I vote for the runner-up among my suspects.", 800, _second),
    Choice("majority", "I vote with the majority, so that the votes come together.", 800, _majority),
    Choice("accuser", "I vote for my accuser in return.", 500, _accuser),
    Choice("nothing", "I abstain until there is better evidence.", 600, _nothing),
    Choice("doubt", "I vote for the self-proclaimed Seer, who may be an impostor.", 500, _doubtful_seer),
    Choice("silent", "I vote for the most silent player, who hides something.", 300, _silent),
    Choice("third", "I vote for an outsider whom nobody expects.", 200, _third),
)
WOLF_VOTES = (
    Choice("victim", "I vote with the village for its most suspected player.", 900, _victim),
    Choice("seer", "I vote out the self-proclaimed Seer, our worst enemy.", 800, _seer),
    Choice("mate", "I sacrifice my teammate to look honest.", 500, _mate),
    Choice("nothing", "I abstain and leave no trace.", 600, _nothing),
    Choice("accuser", "I vote for the accuser of our pack.", 600, _packs_accuser),
    Choice("able", "I vote for the one who claims an ability.", 400, _able),
    Choice("harmless", "I vote for an easy victim without friends.", 400, _harmless),
)

# -- the night ----------------------------------------------------------------------------------


def _agreed(scene: TableScene, seats: list[int]) -> int | None:
    return scene.survey.named_by_mates(scene.me)


def _dangerous(scene: TableScene, seats: list[int]) -> int | None:
    target = top(scene, _prey(scene, seats), scene.danger, "danger")
    return target if target is not None and scene.danger(target) > 150 else None


def _unguarded(scene: TableScene, seats: list[int]) -> int | None:
    """Whom a shield is unlikely to stand over: no claim, and not chosen in vain last night."""
    open_ = [s for s in _prey(scene, seats) if s != scene.survey.spared and not scene.node.claims[s]]
    target = top(scene, open_, scene.danger, "unguarded")
    return target if scene.situation.round > 1 else None


def _quiet(scene: TableScene, seats: list[int]) -> int | None:
    target = top(scene, _prey(scene, _others(scene, seats)), lambda seat: -stances(scene, seat), "quiet")
    return target if scene.situation.round > 1 else None


def _trusted(scene: TableScene, seats: list[int]) -> int | None:
    """Of those who claim no ability, which are another strategy's."""
    open_ = [s for s in _prey(scene, _others(scene, seats)) if scene.node.claims[s] not in AS_ABLE]
    target = top(scene, open_, lambda seat: -scene.suspicion[seat] - 100 * scene.support(seat), "trusted")
    return target if scene.situation.round > 1 else None


def _self(scene: TableScene, seats: list[int]) -> int | None:
    return scene.me


def _true_seer(scene: TableScene, seats: list[int]) -> int | None:
    seers = [seat for seat in scene.credible_seers() if seat in seats]
    believed = [s for s in _others(scene, seats) if scene.thought[s] == "Seer"]
    return top(scene, seers or believed, lambda seat: -scene.suspicion[seat], "seer")


def _target(scene: TableScene, seats: list[int]) -> int | None:
    """Whom else the Werewolves would want dead: who accuses many, or can do something."""
    seers = scene.credible_seers()
    open_ = [seat for seat in _others(scene, seats) if seat not in seers]
    score = {seat: scene.danger(seat) + 60 * stances(scene, seat) - scene.suspicion[seat] for seat in open_}
    target = top(scene, list(score), lambda seat: score[seat], "target")
    return target if scene.situation.round > 1 else None


def _again(scene: TableScene, seats: list[int]) -> int | None:
    return scene.survey.shielded


def _undecided(scene: TableScene, seats: list[int]) -> int | None:
    unknown = [seat for seat in _others(scene, seats) if seat not in scene.survey.learned]
    target = top(scene, unknown, lambda seat: -abs(500 - scene.suspicion[seat]), "undecided")
    return target if scene.situation.round > 1 else None


def _suspect(scene: TableScene, seats: list[int]) -> int | None:
    unknown = [seat for seat in _others(scene, seats) if seat not in scene.survey.learned]
    return likeliest(scene, unknown) if scene.situation.round > 1 else None


def _influential(scene: TableScene, seats: list[int]) -> int | None:
    unknown = [seat for seat in _others(scene, seats) if seat not in scene.survey.learned]
    target = top(scene, unknown, lambda s: stances(scene, s) + 3 * bool(scene.node.claims[s]), "influence")
    return target if scene.situation.round > 1 else None


def _use(scene: TableScene, seats: list[int]) -> Action | None:
    return YES


def _keep(scene: TableScene, seats: list[int]) -> Action | None:
    return NO


_KILLS = (
    Choice("agreed", "I agree with my teammate's target.", 500, _agreed),
    Choice("dangerous", "I kill the most dangerous player first.", 800, _dangerous),
    Choice("seer", "I kill the self-proclaimed Seer.", 800, _seer),
    Choice("able", "I kill the one who claims to protect others.", 600, _able),
    Choice("accuser", "I silence the accuser of our pack.", 600, _packs_accuser),
    Choice("unguarded", "I kill somebody over whom no shield stands.", 600, _unguarded),
    Choice("quiet", "I kill a quiet player, which nobody can trace.", 400, _quiet),
    Choice("trusted", "I kill the most trusted player and keep the suspects alive.", 600, _trusted),
)
_SAVES = (
    Choice("self", "I protect myself, since my ability must survive.", 700, _self),
    Choice("seer", "I protect the credible Seer.", 900, _true_seer),
    Choice("target", "I protect the likeliest target of an attack.", 800, _target),
    Choice("trusted", "I protect the most trustworthy player.", 600, _trusted),
    Choice("again", "I protect the same player again.", 300, _again),
)
_LOOKS = (
    Choice("undecided", "I check the player about whom I am most undecided.", 800, _undecided),
    Choice("suspect", "I check my main suspect for certainty.", 800, _suspect),
    Choice("influential", "I check the most influential speaker.", 600, _influential),
    Choice("accuser", "I check my accuser.", 500, _accuser),
    Choice("quiet", "I check a quiet player who escapes attention.", 400, _quiet),
)
_POISONS = (
    Choice("nothing", "I keep the poison until I am sure.", 900, _nothing),
    Choice("first", "I poison the likeliest Werewolf.", 900, _first),
    Choice("second", "I poison the runner-up among my suspects.", 500, _second),
    Choice("doubt", "I poison the self-proclaimed Seer, who may be an impostor.", 400, _doubtful_seer),
    Choice("accuser", "I poison my accuser.", 300, _accuser),
)
_SHOTS = (
    Choice("nothing", "I do not shoot where I am not sure.", 900, _nothing),
    Choice("first", "I shoot the likeliest Werewolf.", 900, _first),
    Choice("second", "I shoot the runner-up among my suspects.", 500, _second),
    Choice("doubt", "I shoot the self-proclaimed Seer, who may be an impostor.", 400, _doubtful_seer),
    Choice("accuser", "I shoot my accuser.", 300, _accuser),
)
_ANTIDOTES = (
    Choice("use", "I save the victim at once.", 900, _use),
    Choice("keep", "I keep the antidote for a later night.", 900, _keep),
)
CHOICES: Mapping[str, tuple[Choice, ...]] = MappingProxyType(
    {
        "kill": _KILLS,
        **dict.fromkeys(SHIELDS, _SAVES),
        "see": _LOOKS,
        "poison": _POISONS,
        "shoot": _SHOTS,
        "antidote": _ANTIDOTES,
    }
)
"""By the ask's kind, but for votes, where the sides differ (`strategies`)."""


def strategies(scene: TableScene, kind: str) -> tuple[Choice, ...]:
    """The strategies for an ask of that kind; none for a kind that `village` has no plan for."""
    if kind == "vote":
        return WOLF_VOTES if scene.wolf else VILLAGE_VOTES
    return CHOICES.get(kind, ())


def chance(scene: TableScene, action: Action) -> str:
    """The reasoning of a choice for which no strategy stands."""
    if isinstance(action, Pick):
        return f"I choose {scene.name(action.seat)} by chance, so that nobody can foresee it."
    return "I try what is left." if action != PASS else "I do nothing this time."


def detail(scene: TableScene, kind: str, action: Action) -> str:
    """What is to be said of the chosen one."""
    if not isinstance(action, Pick) or action.seat == scene.me:
        return ""
    if scene.wolf:
        return under_fire(scene, action.seat) if kind == "vote" else ""
    return in_words(scene, action.seat)
