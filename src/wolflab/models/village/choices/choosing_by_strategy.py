"""Strategies of choice: different reasons for one option or another, each with an action or none.

These are the alternatives to `choosing_by_habit` that a player can weigh (004 §4.2, C.6): whom to kill,
check, save, poison or vote for, and why. A strategy without a target, or with one that is not among the
options, is skipped. On the first night most of them have none, and all seats are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ....rules import NO, PASS, SHIELDS, YES, Action, Pick
from ..beliefs.claims import AS_ABLE, AS_OTHER, AS_SEER, AS_SHIELD
from ..scene import TableScene

Making = Callable[[TableScene, list[int]], int | Action | None]
"""Chooses one of these seats or another action for the scene; None for nothing."""


@dataclass(frozen=True, slots=True)
class Choice:
    """name: short. mark: the sentence that identifies it. weight: in draws of the order (at most 1000). make:
    chooses the target or action. later: whether it is not for the first night.
    """

    name: str
    mark: str
    weight: int
    make: Making
    later: bool = False

    def action(self, scene: TableScene, seats: list[int]) -> Action | None:
        """The strategy's action. seats: those that may be chosen."""
        if self.later and scene.situation.round == 1:
            return None
        choice = self.make(scene, seats)
        return Pick(choice) if isinstance(choice, int) else choice


def _always(action: Action) -> Making:
    return lambda scene, seats: action


def _suspect(place: int) -> Making:
    """The likeliest Werewolf, or the one `place` places after."""
    return lambda scene, seats: scene.likeliest_wolf(_others(scene, seats), place)


def _others(scene: TableScene, seats: list[int]) -> list[int]:
    return [seat for seat in seats if seat != scene.me]


def _prey(scene: TableScene, seats: list[int]) -> list[int]:
    return [seat for seat in seats if seat not in scene.pack]


# -- votes --------------------------------------------------------------------------------------


def _majority(scene: TableScene, seats: list[int]) -> int | None:
    return scene.most_accused(_others(scene, seats))


def _accuser(scene: TableScene, seats: list[int]) -> int | None:
    return next((seat for seat in scene.accusers(scene.me) if seat in seats), None)


def _doubtful_seer(scene: TableScene, seats: list[int]) -> int | None:
    return scene.likeliest_wolf([seat for seat in scene.claimants(AS_SEER) if seat in seats])


def _least_heard(purpose: str) -> Making:
    """A player outside the pack who took the fewest stances; ties are broken by a draw for that purpose."""

    def make(scene: TableScene, seats: list[int]) -> int | None:
        strangers = _prey(scene, _others(scene, seats))
        return scene.highest(strangers, lambda seat: -scene.stances_taken(seat), purpose)

    return make


def _victim(scene: TableScene, seats: list[int]) -> int | None:
    return scene.most_accused(_prey(scene, seats))


def _claimant(purpose: str, *claims: int) -> Making:
    """The most dangerous of those who make one of these claims."""

    def make(scene: TableScene, seats: list[int]) -> int | None:
        claimants = [seat for seat in scene.claimants(*claims) if seat in seats]
        return scene.highest(claimants, scene.danger, purpose)

    return make


def _mate(scene: TableScene, seats: list[int]) -> int | None:
    mates = [seat for seat in _others(scene, seats) if seat in scene.pack]
    return scene.highest(mates, scene.support, "mate")


def _packs_accuser(scene: TableScene, seats: list[int]) -> int | None:
    return next((seat for seat in scene.accusers(*scene.pack) if seat in seats), None)


def _harmless(scene: TableScene, seats: list[int]) -> int | None:
    return scene.highest(_prey(scene, seats), lambda seat: -scene.danger(seat), "harmless")


VILLAGE_VOTES = (
    Choice("first", "I vote for the likeliest Werewolf.", 900, _suspect(0)),
    Choice("second", "I vote for the runner-up among my suspects.", 800, _suspect(1)),
    Choice("majority", "I vote with the majority, so that the votes come together.", 800, _majority),
    Choice("accuser", "I vote for my accuser in return.", 500, _accuser),
    Choice("nothing", "I abstain until there is better evidence.", 600, _always(PASS)),
    Choice("doubt", "I vote for the self-proclaimed Seer, who may be an impostor.", 500, _doubtful_seer),
    Choice("silent", "I vote for the most silent player, who hides something.", 300, _least_heard("silent")),
    Choice("third", "I vote for an outsider whom nobody expects.", 200, _suspect(2)),
)
WOLF_VOTES = (
    Choice("victim", "I vote with the village for its most suspected player.", 900, _victim),
    Choice("seer", "I vote out the self-proclaimed Seer, our worst enemy.", 800, _claimant("seer", AS_SEER)),
    Choice("mate", "I sacrifice my teammate to look honest.", 500, _mate),
    Choice("nothing", "I abstain and leave no trace.", 600, _always(PASS)),
    Choice("accuser", "I vote for the accuser of our pack.", 600, _packs_accuser),
    Choice("able", "I vote for the one who claims an ability.", 400, _claimant("able", AS_SHIELD, AS_OTHER)),
    Choice("harmless", "I vote for an easy victim without friends.", 400, _harmless),
)

# -- the night ----------------------------------------------------------------------------------


def _agreed(scene: TableScene, seats: list[int]) -> int | None:
    return scene.summary.named_by_mates(scene.me)


def _dangerous(scene: TableScene, seats: list[int]) -> int | None:
    target = scene.highest(_prey(scene, seats), scene.danger, "danger")
    return target if target is not None and scene.danger(target) > 150 else None


def _unguarded(scene: TableScene, seats: list[int]) -> int | None:
    """A player who is probably not shielded: without a claim, and not attacked in vain last night."""
    spared, claims = scene.summary.spared, scene.node.claims
    unguarded = [seat for seat in _prey(scene, seats) if seat != spared and not claims[seat]]
    return scene.highest(unguarded, scene.danger, "unguarded")


def _trusted(scene: TableScene, seats: list[int]) -> int | None:
    """The most trusted player who claims no ability; those are for other strategies."""
    plain = [seat for seat in _prey(scene, _others(scene, seats)) if scene.node.claims[seat] not in AS_ABLE]
    return scene.highest(plain, lambda seat: -scene.suspicion[seat] - 100 * scene.support(seat), "trusted")


def _self(scene: TableScene, seats: list[int]) -> int | None:
    return scene.me


def _true_seer(scene: TableScene, seats: list[int]) -> int | None:
    seers = [seat for seat in scene.credible_seers() if seat in seats]
    believed = [seat for seat in _others(scene, seats) if scene.thought[seat] == "Seer"]
    return scene.highest(seers or believed, lambda seat: -scene.suspicion[seat], "seer")


def _target(scene: TableScene, seats: list[int]) -> int | None:
    """Another likely target of the Werewolves: who accuses many, or has an ability."""
    seers = scene.credible_seers()

    def worth(seat: int) -> int:
        return scene.danger(seat) + 60 * scene.stances_taken(seat) - scene.suspicion[seat]

    return scene.highest([seat for seat in _others(scene, seats) if seat not in seers], worth, "target")


def _again(scene: TableScene, seats: list[int]) -> int | None:
    return scene.summary.shielded


def _unknown(scene: TableScene, seats: list[int]) -> list[int]:
    return [seat for seat in _others(scene, seats) if seat not in scene.summary.learned]


def _undecided(scene: TableScene, seats: list[int]) -> int | None:
    return scene.highest(_unknown(scene, seats), lambda seat: -abs(500 - scene.suspicion[seat]), "undecided")


def _main_suspect(scene: TableScene, seats: list[int]) -> int | None:
    return scene.likeliest_wolf(_unknown(scene, seats))


def _influential(scene: TableScene, seats: list[int]) -> int | None:
    def influence(seat: int) -> int:
        return scene.stances_taken(seat) + 3 * bool(scene.node.claims[seat])

    return scene.highest(_unknown(scene, seats), influence, "influence")


_KILLS = (
    Choice("agreed", "I agree with my teammate's target.", 500, _agreed),
    Choice("dangerous", "I kill the most dangerous player first.", 800, _dangerous),
    Choice("seer", "I kill the self-proclaimed Seer.", 800, _claimant("seer", AS_SEER)),
    Choice(
        "able", "I kill the one who claims to protect others.", 600, _claimant("able", AS_SHIELD, AS_OTHER)
    ),
    Choice("accuser", "I silence the accuser of our pack.", 600, _packs_accuser),
    Choice("unguarded", "I kill somebody over whom no shield stands.", 600, _unguarded, later=True),
    Choice("quiet", "I kill a quiet player, which nobody can trace.", 400, _least_heard("quiet"), later=True),
    Choice(
        "trusted", "I kill the most trusted player and keep the suspects alive.", 600, _trusted, later=True
    ),
)
_SAVES = (
    Choice("self", "I protect myself, since my ability must survive.", 700, _self),
    Choice("seer", "I protect the credible Seer.", 900, _true_seer),
    Choice("target", "I protect the likeliest target of an attack.", 800, _target, later=True),
    Choice("trusted", "I protect the most trustworthy player.", 600, _trusted, later=True),
    Choice("again", "I protect the same player again.", 300, _again),
)
_LOOKS = (
    Choice("undecided", "I check the player about whom I am most undecided.", 800, _undecided, later=True),
    Choice("suspect", "I check my main suspect for certainty.", 800, _main_suspect, later=True),
    Choice("influential", "I check the most influential speaker.", 600, _influential, later=True),
    Choice("accuser", "I check my accuser.", 500, _accuser),
    Choice("quiet", "I check a quiet player who escapes attention.", 400, _least_heard("quiet"), later=True),
)


def _against(verb: str) -> tuple[Choice, ...]:
    """Strategies for whom to poison or to shoot."""
    return (
        Choice("first", f"I {verb} the likeliest Werewolf.", 900, _suspect(0)),
        Choice("second", f"I {verb} the runner-up among my suspects.", 500, _suspect(1)),
        Choice("doubt", f"I {verb} the self-proclaimed Seer, who may be an impostor.", 400, _doubtful_seer),
        Choice("accuser", f"I {verb} my accuser.", 300, _accuser),
    )


_POISONS = (Choice("nothing", "I keep the poison until I am sure.", 900, _always(PASS)), *_against("poison"))
_SHOTS = (Choice("nothing", "I do not shoot where I am not sure.", 900, _always(PASS)), *_against("shoot"))
_ANTIDOTES = (
    Choice("use", "I save the victim at once.", 900, _always(YES)),
    Choice("keep", "I keep the antidote for a later night.", 900, _always(NO)),
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
"""Strategies by the ask's kind, but for votes, where the sides differ (`strategies`)."""


def strategies(scene: TableScene, kind: str) -> tuple[Choice, ...]:
    """The strategies for an ask of that kind; none for an unknown kind."""
    if kind == "vote":
        return WOLF_VOTES if scene.wolf else VILLAGE_VOTES
    return CHOICES.get(kind, ())


def reason_of_chance(scene: TableScene, action: Action) -> str:
    """The reasoning for a choice without a strategy."""
    if isinstance(action, Pick):
        return f"I choose {scene.name(action.seat)} by chance, so that nobody can foresee it."
    return "I try what is left." if action != PASS else "I do nothing this time."


def target_detail(scene: TableScene, kind: str, action: Action) -> str:
    """A sentence about the target."""
    if not isinstance(action, Pick) or action.seat == scene.me:
        return ""
    if scene.wolf:
        return scene.support_sentence(action.seat) if kind == "vote" else ""
    return scene.suspicion_sentence(action.seat)
