"""The rules of a game in one of the wordings of an experiment: its prompts and the names of its players.

Wordings are a factor crossed with deals: every deal is played in each of them. Wording 0 is the text as
written; the others are drawn (`text.asking.rewording`). They are a sample of all the words in which the same
could be asked, so an interval over deals and wordings holds for other wordings too (`stats.clusters`).
"""

from __future__ import annotations

from functools import lru_cache

from ...rules import Ruleset
from ...text.asking.rewording import ordered
from .scenes import names


@lru_cache(1 << 10)
def rules_in_wording(rules: Ruleset, wording: int, renames: bool = True) -> Ruleset:
    """The rules in the wording of that number. renames: players are called otherwise, with the same numbers;
    switches that name a player follow.
    """
    if not wording:
        return rules
    if not renames:
        return rules.with_(wording=wording)
    name = ordered(names(), wording, "player_name")[0]
    called = {old: name.format(seat + rules.first_player) for seat, old in enumerate(rules.names)}
    return rules.with_(
        wording=wording,
        player_name=name,
        stops_without=rules.stops_without and called[rules.stops_without],
        never_sheriff=tuple(called[old] for old in rules.never_sheriff),
    )
