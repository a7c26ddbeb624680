"""Where the living others stand, as strategies ask for it: who is under fire, who claims what, who is quiet.

Ties are broken by draws from the request's key, so that no seat is preferred for its number. It decides
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .beliefs.claims import claim_of
from .beliefs.graded_words import grade, judged
from .beliefs.likelihood import HOSTILE
from .scene import TableScene


def top(scene: TableScene, seats: Sequence[int], score: Callable[[int], int], purpose: str) -> int | None:
    """The seat with the highest score; None of none."""
    if not seats:
        return None
    scores = [score(seat) for seat in seats]
    best = max(scores)
    return scene.draws.one(
        purpose, [seat for seat, reached in zip(seats, scores, strict=True) if reached == best]
    )


def foes(scene: TableScene) -> list[int]:
    """The living others that one might turn on: not known to be of one's own side."""
    return [seat for seat in scene.others() if scene.suspicion[seat] > 0 and seat not in cleared(scene)]


def prey(scene: TableScene) -> list[int]:
    """The living others outside the pack whom its member has not itself called good."""
    return [seat for seat in scene.others() if seat not in scene.mates and seat not in cleared(scene)]


def mates(scene: TableScene) -> list[int]:
    """The living others of the pack."""
    return [seat for seat in scene.others() if seat in scene.mates]


def cleared(scene: TableScene) -> set[int]:
    """Whom the player has itself reported to be no Werewolf."""
    return {b for a, b, what in scene.node.reports if a == scene.me and what != "Werewolf"}


def convicted(scene: TableScene) -> set[int]:
    """Whom the player has itself reported to be a Werewolf."""
    return {b for a, b, what in scene.node.reports if a == scene.me and what == "Werewolf"}


def likeliest(scene: TableScene, seats: Sequence[int], after: int = 0) -> int | None:
    """The likeliest Werewolf of `seats`, or the one `after` so many others."""
    jitter = scene.draws.many(len(scene.suspicion), "likeliest")
    order = sorted(seats, key=lambda seat: (-scene.suspicion[seat], jitter[seat]))
    return order[after] if after < len(order) else None


def crowd(scene: TableScene, seats: Sequence[int]) -> int | None:
    """The one of `seats` against whom most others spoke today; None where nobody was spoken against."""
    target = top(scene, seats, scene.support, "crowd")
    return target if target is not None and scene.support(target) else None


def accusers(scene: TableScene, of: Sequence[int]) -> list[int]:
    """Living others who spoke today against one of these, the latest first."""
    spoken = [a for a, b, stance in reversed(scene.node.today) if b in of and stance in HOSTILE]
    living = scene.others()
    return [seat for seat in dict.fromkeys(spoken) if seat in living and seat not in of]


def claimants(scene: TableScene, *claims: int) -> list[int]:
    """Living others outside the pack who make one of these claims (see `claims`)."""
    return [s for s in scene.others() if scene.node.claims[s] in claims and s not in scene.mates]


def stances(scene: TableScene, seat: int) -> int:
    """To how many others `seat` has taken a stance in the game."""
    return sum(a == seat for a, _ in scene.node.stances)


def may_claim(scene: TableScene, role: str) -> bool:
    """Whether `role` goes with what the player has claimed so far; the village side's truth always does."""
    told = scene.node.claims[scene.me]
    if role == scene.situation.role and not scene.wolf:
        return True
    return not told or told == claim_of(role)


def in_words(scene: TableScene, seat: int) -> str:
    """A sentence on how likely a Werewolf `seat` is."""
    word, name = grade(scene.suspicion[seat]), scene.name(seat)
    return judged(word, [name]) if word else f"It is open on which side {name} is."


def under_fire(scene: TableScene, seat: int) -> str:
    """A sentence on how many speak against `seat`."""
    count = scene.support(seat)
    if not count:
        return f"Nobody else has named {scene.name(seat)} today."
    return f"{count} other{'s' if count > 1 else ''} spoke against {scene.name(seat)} today."
