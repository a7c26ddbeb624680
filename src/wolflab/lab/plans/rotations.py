"""Rotations: who sits where at the mixed tables of a tournament, as in duplicate bridge.

There are as many rotations as entrants, and each one moves everybody on by one entrant: in rotation r seat s
has entrant (pattern[s] + r) mod E. All rotations play the same deals. So over the rotations every entrant
sits on every seat exactly once, and holds every card of a deal exactly once, for any pattern and any number
of entrants and seats. This holds for a deal if all its games are over and none is void.

The pattern is uneven on purpose. An entrant's seats in the village and in the pack add up to its seats. If
everybody had as many seats as everybody else, one of the two numbers would follow from the other, and games
could not tell strength as village from strength as Werewolves (with seven entrants on seven seats not at
all). So at each table one entrant has the majority of the seats, and others sit between: one or two seats
each. With more entrants than that, the pattern is chosen so that any two meet about equally often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Rotations = Mapping[str, tuple[str, ...]]
"""Rotation → the entrant on each seat."""
_MOST_EACH = 2
"""The most seats at a table of an entrant that does not have its majority."""


def rotations(entrants: Sequence[str], seats: int) -> Rotations:
    """The rotations of a tournament; see the module."""
    number = len(entrants)
    pattern = _pattern(number, seats)
    return {
        f"rotation {turn + 1}": tuple(entrants[(place + turn) % number] for place in pattern)
        for turn in range(number)
    }


def _pattern(number: int, seats: int) -> list[int]:
    """The entrant on each seat of the first rotation. Entrant 0 has the majority; others sit on seats 1, 3 …,
    as far as there are any.
    """
    minority = min(seats - seats // 2 - 1, _MOST_EACH * (number - 1))
    others = _spread(number, 1 + min(minority, number - 1))[1:]
    pattern = [0] * seats
    for place in range(minority):
        pattern[1 + 2 * place] = others[place % len(others)]
    return pattern


def _spread(number: int, size: int) -> list[int]:
    """Different places of `number` in a circle, the first one 0. Each next one keeps the distances between
    all places as even as possible, because two entrants meet once for each pair of places at their distance.
    """
    chosen, distances = [0], [0] * number

    def with_one_more(place: int) -> list[int]:
        more = [*distances]
        for other in chosen:
            more[(place - other) % number] += 1
            more[(other - place) % number] += 1
        return more

    while len(chosen) < size:
        free = [place for place in range(number) if place not in chosen]
        best = min(free, key=lambda place: (max(more := with_one_more(place)), sum(n * n for n in more)))
        distances = with_one_more(best)
        chosen.append(best)
    return chosen


__all__ = ["Rotations", "rotations"]
