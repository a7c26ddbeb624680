"""Which decision a reward belongs to: the seat's most recent one before the event; the end of the game to its
last. What happens before a seat has decided anything is lost on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..match.rewards import Gain


def credited(found: Sequence[Gain], seat: int, decided: Sequence[int]) -> NDArray[np.float32]:
    """What each decision of a seat has earned: float32 (T,).

    decided: for each of its T decisions, in order, how many events had happened when it was made.
    """
    earned = np.zeros(len(decided), np.float32)
    for gain in found:
        number = bisect_left(decided, gain.position + 1) - 1
        if number >= 0:
            earned[number] += gain.seats[seat]
    return earned
