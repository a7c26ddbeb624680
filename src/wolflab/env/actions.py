"""The fixed table of actions, `Discrete(n)`: the meaning of each number, and the mask of legal ones.

The table follows from the ruleset alone, so a number has the same meaning in every game. For an ask with
options, a number is one of them. For a statement it is an intent, which `words` puts into a sentence, or a
text of the agent's own. The module knows asks, and of a game only who lives.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import IllegalReply
from ..match import Draws
from ..rules import LEFT, NO, PASS, RIGHT, YES, Action, Ask, Ruleset, Say, pick
from .words import SpokenIntent, intent_spoken

Mask = NDArray[np.int8]

_CHOICES: tuple[tuple[str, Action], ...] = (
    ("pass", PASS),
    ("yes", YES),
    ("no", NO),
    ("left", LEFT),
    ("right", RIGHT),
)
WORDS = "own words"
"""The action that speaks the text given to `WerewolfAEC.answer`."""


@dataclass(frozen=True)
class ActionTable:
    """The actions in order (`names` lists them for a ruleset; "each player" is by seat):

    pass, yes, no, left, right · choose each player · stay silent · accuse each player · defend each player ·
    claim each role · with a Seer in the game, report a look at each player that showed a Werewolf, and one
    that did not · own words.
    """

    ruleset: Ruleset

    @cached_property
    def choices(self) -> tuple[tuple[str, Action], ...]:
        """(name, action) of all answers to asks with options."""
        return (*_CHOICES, *((f"choose {name}", pick(seat)) for seat, name in enumerate(self.ruleset.names)))

    @cached_property
    def intents(self) -> tuple[SpokenIntent, ...]:
        """The intents that answer an ask for a statement."""
        seats = range(self.ruleset.players)
        results = [SpokenIntent("found", seat) for seat in seats] + [
            SpokenIntent("cleared", seat) for seat in seats
        ]
        return (
            SpokenIntent("silent"),
            *(SpokenIntent("accuse", seat) for seat in seats),
            *(SpokenIntent("defend", seat) for seat in seats),
            *(SpokenIntent("claim", None, role.name) for role in self.ruleset.cast),
            *(results if self.ruleset.count("Seer") else ()),
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all actions by number."""
        intents = (intent.name(self.ruleset) for intent in self.intents)
        return (*(name for name, _ in self.choices), *intents, WORDS)

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str) -> int:
        """The number of an action; IllegalReply lists the names if there is no such action."""
        if name not in self.names:
            raise IllegalReply(f"there is no action {name!r}; known are {', '.join(self.names)}")
        return self.names.index(name)

    @cached_property
    def at(self) -> dict[Action, int]:
        """The number of every action of `choices`."""
        return {action: number for number, (_, action) in enumerate(self.choices)}

    def mask(self, ask: Ask | None, alive: Collection[int] = (), words: bool = False) -> Mask:
        """int8 (n,): 1 for each legal answer to `ask`; all 0 without an ask.

        alive: the living seats; a statement about a dead player can only report a look. words: whether a text
        of the agent's own is set.
        """
        mask = np.zeros(len(self), np.int8)
        if ask is None:
            return mask
        if ask.options is not None:
            mask[[self.at[option] for option in ask.options]] = 1
            return mask
        first = len(self.choices)
        for number, intent in enumerate(self.intents, first):
            about = intent.seat is None or intent.seat in alive or intent.kind in ("found", "cleared")
            mask[number] = about and intent.seat != ask.seat
        mask[-1] = words
        return mask

    def meant(self, number: int, ask: Ask, statement: str | None, bank: str, draws: Draws) -> Action:
        """The rules' action for a legal `number`. Intents are worded from `bank` by keyed draws."""
        if ask.options is not None:
            return self.choices[number][1]
        if number == len(self) - 1:
            assert statement is not None
            return Say(statement)
        intent = self.intents[number - len(self.choices)]
        return Say(
            intent_spoken(
                intent, self.ruleset, bank, lambda n, purpose: draws.below(n, f"{ask.id}|env|{purpose}")
            )
        )
