"""The switches: every rule on which games differ, as plain data (`docs/rules.md`).

What contradicts itself is refused one step up, by `Ruleset`, which knows the roles. The roles' cards are told
from the switches alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Switches:
    """What is true of the game. See ``docs/rules.md`` for every switch and who uses it."""

    name: str
    roles: Mapping[str, int]
    """Role name → number of seats."""
    player_name: str = "player_{}"
    first_player: int = 1
    """The number of seat 0: 002 and 003 count players from 1, 004 from 0."""

    # night
    wolf_agreement: Literal["unanimous", "plurality", "last"] = "unanimous"
    wolves_may_target_self: bool = True
    wolves_may_target_pack: bool = True
    wolves_may_pass: bool = False
    guard_may_shield_self: bool = True
    guard_may_repeat: bool = True
    guard_may_pass: bool = False
    seer_learns: Literal["role", "is_wolf"] = "is_wolf"
    seer_may_see_self: bool = False
    seer_may_pass: bool = False
    witch_may_save_self: bool = True
    witch_may_use_both: bool = True
    shield_and_antidote: Literal["not_asked", "saves", "kills"] = "not_asked"
    """A player whom a shield has saved: the Witch is not asked about it; she is, and with both it lives; or
    dies of both, as the Werewolves wanted."""
    deaths: Literal["simultaneous", "sequential"] = "simultaneous"
    """When the night's dead leave: after every night action, or before the Seer's."""

    unusable_night_reply: Literal["random", "pass"] = "random"
    """What stands in for a night reply that cannot be used: any legal choice, or pass where there is one."""

    # day
    discussion: bool = True
    speaking_order: Literal["ascending", "sheriff_side", "random_game", "random_day"] = "ascending"
    votes: Literal["secret", "open"] = "secret"
    """Secret: collected at once, then announced. Open: one after another, each public at once."""
    may_vote_self: bool = False
    may_abstain: bool = True
    pass_competes: bool = False
    """Whether "pass" is counted like a candidate (003)."""
    tie: Literal["nobody", "random"] = "nobody"
    reveal: Literal["never", "first_night", "always"] = "never"
    """Whose role is made public at death."""
    last_words: Literal["none", "voted_out"] = "none"
    hunter_shoots_when_voted_out: bool = True
    hunter_shoots_when_killed: bool = True
    """By the Werewolves, or by another Hunter."""
    hunter_shoots_when_poisoned: bool = False
    """Of a Hunter who is attacked and poisoned in one night the poison decides."""

    # end
    wolves_win: Literal["parity", "no_villager", "no_villager_or_no_ability", "no_others"] = "parity"
    last_wolf_and_villager: Literal["village", "werewolves"] = "village"
    """Who wins when the last Werewolf and the last others that the Werewolves needed die together."""
    max_rounds: int = 10
    stops_without: str | None = None
    """The player with whom the game stops, by name (002: a person at the table); nobody wins then."""

    # Sheriff
    sheriff: Literal["none", "assigned", "drawn", "elected", "contested"] = "none"
    """assigned: drawn in secret with the deal, announced after night 1; the game is void if that seat
    dies first. drawn: drawn among the living after night 1. elected: by vote on day 1. contested: a seat
    drawn in secret with the deal stands in the election; the game is void unless it wins."""
    sheriff_role: str | None = None
    """Assigned or contested Sheriff: only seats with this role are drawn (002 Fig. 2)."""
    sheriff_death: Literal["succession", "stop"] = "succession"
    tell_stop: bool = False
    """Whether players are told that the game stops with its Sheriff, or with whom `stops_without` names. The
    stop is the experimenter's device (002 §9.1) and stands in no player's rules (§6.1): who knows of it
    values that life otherwise."""
    candidates: int = 3
    """Elected Sheriff: how many are drawn to run."""
    never_sheriff: tuple[str, ...] = ()
    """Players, by name, who neither run for Sheriff nor come into office otherwise, and vote like anybody
    (002 §9.3: a person at the table)."""

    # words
    role_names: Mapping[str, str] = field(default_factory=dict)
    """Role name → what models are told instead (003 §5); empty: the roles' own names. "village" renames
    that side. No rule: the game, its record and all measures keep the roles' own names."""

    def count(self, role: str) -> int:
        """How many seats hold `role`."""
        return self.roles.get(role, 0)
