"""Detects a player without usable replies by its first decisions, before a run is spent on it.

It counts decisions of this process and reads no record. A resumed run counts from zero, because the model or
its server may have been repaired. A decision whose calls were all stored does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...match import Player, TurnWatch
from ...metrics.play import PlayerLabel, player_label
from ...record import Turn

FIRST = 30
"""The number of first decisions that must all be unusable."""


@dataclass(frozen=True, slots=True)
class NeverUsablePlayer:
    """A player (model and recipe) whose first `FIRST` decisions were all stand-ins. reason: the most frequent
    one; often: its number.
    """

    player: str
    reason: str
    often: int

    @property
    def sentence(self) -> str:
        """The player and its problem."""
        times = "once" if self.often == 1 else f"{self.often} times"
        why = f"most often because “{self.reason}” ({times})"
        return f"none of the first {FIRST} decisions of {self.player} had a usable reply, {why}"


def decision_watch(filed: Iterable[str], decided: Callable[[PlayerLabel, str | None], None]) -> TurnWatch:
    """A callback for a game's decisions (`match.Match.answered`). filed: keys of calls that were stored
    before. decided: called for each decision that made a call which was not.
    """
    before = {tuple(key.rsplit("|", 3)[1:]) for key in filed}

    def answered(player: Player, turn: Turn) -> None:
        made = ((turn.ask.id, call.step, str(call.attempt)) for call in turn.calls)
        if any(call not in before for call in made):
            decided(player_label(player.describe()), turn.invalid)

    return answered


class FirstDecisions:
    """Counts the first decisions of each language model in a run, by player, over all conditions. broken: the
    first player without a usable one. keep_going: ignore such players.
    """

    def __init__(self, keep_going: bool = False) -> None:
        self.broken: NeverUsablePlayer | None = None
        self._keep_going = keep_going
        self._reasons: dict[PlayerLabel, Counter[str]] = {}
        self._proved: set[PlayerLabel] = set()

    def further(self) -> bool:
        """Whether another game may begin."""
        return self.broken is None

    @property
    def counting(self) -> bool:
        """Whether decisions are counted now."""
        return not self._keep_going and self.broken is None

    def counted(self, label: PlayerLabel, invalid: str | None) -> NeverUsablePlayer | None:
        """Count a decision. Returns the player if this decision shows that it is broken. invalid: why the
        decision is a stand-in; None where it is not.
        """
        if not self.counting or label in self._proved or not label.speaks:
            return None
        if invalid is None:
            self._proved.add(label)
            return None
        reasons = self._reasons.setdefault(label, Counter())
        reasons[invalid] += 1
        if reasons.total() == FIRST:
            self.broken = NeverUsablePlayer(str(label), *reasons.most_common(1)[0])
        return self.broken


__all__ = ["FIRST", "FirstDecisions", "NeverUsablePlayer", "decision_watch"]
