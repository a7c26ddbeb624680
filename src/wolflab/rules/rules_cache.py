"""Caches for one ruleset: options, asks, agreement.

A `RulesCache` holds no game. Equal asks share one object, so that pure Python makes hundreds of thousands of
decisions a second.
"""

from __future__ import annotations

from functools import lru_cache

from .actions import PASS, Action, Pick, deal, pick
from .asks import CHANCE, Ask
from .duties import Role, When
from .events import EVERYONE, DayBroke, Dealt, Event, NightFell, Said, VoteCounted, Voted, seats_of
from .roles import DUTIES
from .ruleset import Ruleset

DutyTurn = tuple[str, int]
"""A duty's kind and the seat that has it."""

_CACHE = 1 << 16
"""Entries kept per kind: far more than a 7-seat game needs, bounded for odd rulesets."""


class RulesCache:
    """Caches for one ruleset; see the module."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.everyone_alive = (1 << ruleset.players) - 1
        self.seats = seats_of
        self.picks = lru_cache(_CACHE)(self._picks)
        self.agreed = lru_cache(_CACHE)(self._agreed)
        self.ask = lru_cache(_CACHE)(_ask)
        self.vote_asks = lru_cache(_CACHE)(self._vote_asks)
        self.members = lru_cache(_CACHE)(_members)
        self.sides = lru_cache(_CACHE)(_sides)
        self.voting = lru_cache(_CACHE)(_voting)
        self.deal_ask = lru_cache(_CACHE)(self._deal_ask)
        self.duties = lru_cache(_CACHE)(self._duties)
        self.ready = lru_cache(_CACHE)(_ready)

    def _picks(self, mask: int, may_pass: bool) -> tuple[Action, ...]:
        options: tuple[Action, ...] = tuple(pick(seat) for seat in seats_of(mask))
        return (*options, PASS) if may_pass else options

    def _deal_ask(self, dealt: tuple[Role, ...]) -> Ask:
        """Chance deals the next seat one of the cards that are left; weights are their counts."""
        names = [role.name for role in dealt]
        left = [(name, n - names.count(name)) for name, n in self.ruleset.roles.items()]
        left = [(name, n) for name, n in left if n > 0]
        options = tuple(deal(name) for name, _ in left)
        return self.ask("deal", "deal", 0, CHANCE, options, tuple(n for _, n in left), str(len(dealt)))

    def census(self, roles: tuple[Role, ...], alive: int) -> tuple[int, int, int]:
        """The number of living Werewolves, of other living players, and of plain Villagers among these."""
        wolf, plain = self.sides(roles)
        wolves = (alive & wolf).bit_count()
        return wolves, alive.bit_count() - wolves, (alive & plain).bit_count()

    def _duties(self, roles: tuple[Role, ...], holders: int, when: When) -> tuple[DutyTurn, ...]:
        """The duties of the seats in the mask `holders`, in the order of the cast."""
        return tuple(
            (duty.kind, seat)
            for role in self.ruleset.cast
            for duty in role.duties
            if duty.when == when
            for seat in seats_of(_members(roles, role) & holders)
        )

    def _vote_asks(self, kind: str, phase: str, round: int, voters: int, options: int) -> tuple[Ask, ...]:
        """The asks of one secret ballot. voters, options: masks."""
        rules = self.ruleset
        asks = []
        for seat in seats_of(voters):
            mask = options if rules.may_vote_self or kind == "elect" else options & ~(1 << seat)
            asks.append(
                self.ask(kind, phase, round, seat, self.picks(mask, rules.may_abstain or kind == "elect"))
            )
        return tuple(asks)

    def _agreed(self, choices: tuple[Action, ...]) -> int | None:
        """Whom the pack kills, given its members' choices in order."""
        if not choices:
            return None
        how = self.ruleset.wolf_agreement
        if how == "last":
            decided = choices[-1]
        elif how == "unanimous":
            decided = choices[0] if len(set(choices)) == 1 else PASS
        else:
            counts = {c: choices.count(c) for c in choices}
            top = max(counts.values())
            leaders = [c for c, n in counts.items() if n == top]
            decided = leaders[0] if len(leaders) == 1 else PASS
        return decided.seat if isinstance(decided, Pick) else None


def _members(roles: tuple[Role, ...], role: Role) -> int:
    """Mask of all seats, dead or alive, that were dealt `role`."""
    mask = 0
    for seat, other in enumerate(roles):
        if other is role:
            mask |= 1 << seat
    return mask


def _voting(votes: tuple[int, ...]) -> int:
    """Mask of the seats that have a vote. votes: by seat, how often each vote counts."""
    return sum(1 << seat for seat, held in enumerate(votes) if held)


def _sides(roles: tuple[Role, ...]) -> tuple[int, int]:
    """Masks of the Werewolves and of the plain Villagers, dead or alive."""
    wolf = plain = 0
    for seat, role in enumerate(roles):
        if role.wolf:
            wolf |= 1 << seat
        elif role.plain:
            plain |= 1 << seat
    return wolf, plain


def _ready(
    queue: tuple[DutyTurn, ...], reads_last: bool
) -> tuple[tuple[DutyTurn, ...], tuple[DutyTurn, ...]]:
    """Split a queue into the turns that can be asked now and those that must wait.

    reads_last: duties that only learn wait for all others (sequential deaths).
    """
    pending = {kind for kind, _ in queue}
    acting = any(not DUTIES[kind].reads for kind in pending)
    now: list[DutyTurn] = []
    later: list[DutyTurn] = []
    begun: set[str] = set()
    for kind, seat in queue:
        duty = DUTIES[kind]
        blocked = (
            any(other in pending for other in duty.after)
            or (duty.chained and kind in begun)
            or (reads_last and duty.reads and acting)
        )
        begun.add(kind)
        (later if blocked else now).append((kind, seat))
    return tuple(now), tuple(later)


def _ask(
    kind: str,
    phase: str,
    round: int,
    seat: int,
    options: tuple[Action, ...] | None,
    weights: tuple[int, ...] | None = None,
    about: str = "",
) -> Ask:
    """An ask with its id. about: distinguishes repeated asks of one kind to chance."""
    return Ask(f"{round}/{kind}/{about or seat}", seat, kind, phase, round, options, weights)


# Public events that recur in every game are shared, not rebuilt.
dealt = lru_cache(_CACHE)(lambda seat, role: Dealt(seat, role, 1 << seat))
voted = lru_cache(_CACHE)(lambda voter, target, what: Voted(voter, target, what, EVERYONE))
vote_counted = lru_cache(_CACHE)(lambda seat, tied: VoteCounted(seat, tied, EVERYONE))
night_fell = lru_cache(_CACHE)(lambda round: NightFell(round, EVERYONE))
day_broke = lru_cache(_CACHE)(lambda round, deaths: DayBroke(round, deaths, EVERYONE))
silence = lru_cache(_CACHE)(lambda seat, where: Said(seat, where, "", EVERYONE))


def said(seat: int, where: str, text: str) -> Event:
    """A public statement."""
    return Said(seat, where, text, EVERYONE) if text else silence(seat, where)
