"""The switches: every rule on which games differ, as plain data (`docs/rules.md`).

`Ruleset`, which knows the roles, refuses contradictions. The text of a role's card follows from the switches
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Switches:
    """The rules of a game. ``docs/rules.md`` explains every switch and says which preset uses it."""

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
    """The Werewolves' victim is shielded. not_asked: the Witch is not asked about it. saves, kills: she is
    asked, and with both the victim lives or dies."""
    deaths: Literal["simultaneous", "sequential"] = "simultaneous"
    """When the night's dead leave: after every night action, or before the Seer's."""

    unusable_night_reply: Literal["random", "pass"] = "random"
    """What stands in for an unusable night reply: any legal choice, or pass if it is legal."""
    tell_stand_in: bool = True
    """Whether the players' rules say what stands in for an unusable night reply. No preset tells it: the
    papers' players do not know of it. The default is what records meant before this switch."""

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
    """A Hunter who is both attacked and poisoned in one night counts as poisoned."""

    # end
    wolves_win: Literal["parity", "no_villager", "no_villager_or_no_ability", "no_others"] = "parity"
    last_wolf_and_villager: Literal["village", "werewolves"] = "village"
    """Who wins when the last Werewolf dies together with the last of those whom the Werewolves had to
    kill."""
    max_rounds: int = 10
    tell_horizon: bool = True
    """Whether the players' rules say that `max_rounds` is the last round, and that nobody wins after it. No
    preset tells it: the papers' players do not know of it, and a known last round changes play. The default
    is what records meant before this switch."""
    stops_without: str | None = None
    """A player's name: the game stops without a winner when that player leaves (002: the person)."""

    # Sheriff
    sheriff: Literal["none", "assigned", "drawn", "elected", "contested"] = "none"
    """assigned: drawn in secret with the deal, announced after night 1; the game is void if that seat dies
    first. drawn: drawn among the living after night 1. elected: by vote on day 1. contested: a seat drawn in
    secret with the deal runs in the election; the game is void unless it wins."""
    sheriff_role: str | None = None
    """Assigned or contested Sheriff: only seats with this role are drawn (002 Fig. 2)."""
    sheriff_death: Literal["succession", "stop"] = "succession"
    tell_stop: bool = False
    """Whether the players' rules say that the game stops without its Sheriff or the player of
    `stops_without`. By default they do not (002 §6.1, §9.1): a player who knows it plays differently."""
    candidates: int = 3
    """Elected Sheriff: the number of candidates."""
    never_sheriff: tuple[str, ...] = ()
    """Names of players who never become Sheriff; they vote like the others (002 §9.3: the person)."""

    # words
    role_names: Mapping[str, str] = field(default_factory=dict)
    """Role name → the name that models are shown (003 §5); empty: the roles' own names. "village" renames
    that side. This is no rule: the game, its record and all measures keep the roles' own names."""
    wording: int = 0
    """The number of the wording in which models read their prompts (`text.asking.rewording`); 0: as written.
    This is no rule either: every wording says the same."""

    def count(self, role: str) -> int:
        """How many seats hold `role`."""
        return self.roles.get(role, 0)
