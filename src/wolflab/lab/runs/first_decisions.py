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

    def listener(self, filed: Iterable[str], tell: Callable[[NeverUsablePlayer], None]) -> TurnWatch:
        """A callback that counts a game's decisions (`match.Match.answered`). filed: keys of calls that were
        stored before. tell: called with the first broken player.
        """
        before = {tuple(key.rsplit("|", 3)[1:]) for key in filed}

        def answered(player: Player, turn: Turn) -> None:
            made = ((turn.ask.id, call.step, str(call.attempt)) for call in turn.calls)
            if any(call not in before for call in made) and (broken := self._counted(player, turn)):
                tell(broken)

        return answered

    def _counted(self, player: Player, turn: Turn) -> NeverUsablePlayer | None:
        """Count a decision. Returns the player if this decision shows that it is broken."""
        if self._keep_going or self.broken is not None:
            return None
        label = player_label(player.describe())
        if label in self._proved or not label.speaks:
            return None
        if turn.invalid is None:
            self._proved.add(label)
            return None
        reasons = self._reasons.setdefault(label, Counter())
        reasons[turn.invalid] += 1
        if reasons.total() == FIRST:
            self.broken = NeverUsablePlayer(str(label), *reasons.most_common(1)[0])
        return self.broken


__all__ = ["FIRST", "FirstDecisions", "NeverUsablePlayer"]
