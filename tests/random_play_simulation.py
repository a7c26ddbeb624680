"""The games of nine and of twelve at random play, played without the engine: what a second pair of eyes made
of their rules.

It imports nothing of Wolflab and shares no idea with it: no asks, no events, no phases, no masks; names in
lists, and a coin for everything. Slow and plain on purpose.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

NINE = ("Wolf", "Wolf", "Wolf", "Plain", "Plain", "Plain", "Seer", "Witch", "Hunter")
TWELVE = (*NINE, "Wolf", "Plain", "Guard")
ROUNDS = 12


@dataclass
class Table:
    """A game in progress. players: name → card, of those who are alive."""

    coin: random.Random
    players: dict[str, str]
    hunter_armed_by_poison: bool
    antidote: bool = True
    poison: bool = True
    guarded: str = ""
    shots: int = 0

    def anybody(self, *extra: str) -> str:
        """Somebody alive, or one of `extra`."""
        return self.coin.choice([*self.players, *extra])

    def holder(self, card: str) -> str:
        """Who lives and holds that card; "" if nobody does."""
        for name, held in self.players.items():
            if held == card:
                return name
        return ""

    def winner(self) -> str:
        """The side that has won, "" while none has."""
        cards = list(self.players.values())
        if "Wolf" not in cards:
            return "village"
        villagers = cards.count("Plain")
        masters = len(cards) - villagers - cards.count("Wolf")
        return "" if villagers and masters else "werewolves"


def most_named(names: list[str]) -> str:
    """The name that stands in the list more often than any other; "" if there is none."""
    best = [one for one in set(names) if names.count(one) == max(map(names.count, names))]
    return best[0] if len(best) == 1 else ""


def bury(table: Table, dead: list[str], unarmed: str = "") -> None:
    """The dead leave together. A Hunter among them, but the one named `unarmed`, may take somebody along."""
    hunter = table.holder("Hunter")
    for name in dead:
        del table.players[name]
    if hunter in dead and hunter != unarmed and table.players:
        target = table.anybody("nobody")
        if target != "nobody":
            table.shots += 1
            del table.players[target]


def night(table: Table) -> None:
    """Werewolves, Guard and Witch (the Seer's look changes nothing at random)."""
    wolves = [name for name, card in table.players.items() if card == "Wolf"]
    victim = most_named([table.anybody("nobody") for _ in wolves]).replace("nobody", "")
    guarded = ""
    if table.holder("Guard"):
        guarded = table.coin.choice([*(name for name in table.players if name != table.guarded), ""])
    table.guarded = guarded
    witch, cured, poisoned = table.holder("Witch"), False, ""
    # Without a Guard nobody is guarded. With one she is told of the victim all the same.
    if witch and table.antidote and victim:
        cured = table.coin.random() < 0.5
        table.antidote = not cured
    if witch and table.poison and not cured:
        poisoned = table.anybody("nobody").replace("nobody", "")
        table.poison = not poisoned
    dead = [poisoned] if poisoned else []
    # Guarded or cured lives; neither dies, and both die of too much care.
    if victim and (victim == guarded) == cured and victim not in dead:
        dead.append(victim)
    bury(table, dead, unarmed="" if table.hunter_armed_by_poison else poisoned)


def day(table: Table) -> None:
    """Everybody votes for somebody else, or not at all; votes not cast do not count, and a tie spares all."""
    votes = []
    for voter in table.players:
        votes.append(table.coin.choice([*(name for name in table.players if name != voter), ""]))
    cast = [vote for vote in votes if vote]
    out = most_named(cast) if cast else ""
    if out:
        bury(table, [out])


def game(
    cards: tuple[str, ...], coin: random.Random, hunter_armed_by_poison: bool = False
) -> tuple[str, int, int]:
    """(who won, "nobody" for neither; in which round; how many shots fell) in one game."""
    table = Table(coin, {str(i): card for i, card in enumerate(cards)}, hunter_armed_by_poison)
    for number in range(1, ROUNDS + 1):
        for part in (night, day):
            part(table)
            if winner := table.winner():
                return winner, number, table.shots
    return "nobody", ROUNDS, table.shots
