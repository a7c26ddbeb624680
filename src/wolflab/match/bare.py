"""The rules alone, driven at random: no agents, no record. For measuring them, and for nothing else."""

from __future__ import annotations

from ..rules import CHANCE, SILENCE, Log, Ruleset
from ..rules.engine import begin, step
from .draws import Draws, draw_option


def play_bare(ruleset: Ruleset, draws: Draws, views: bool = False) -> int:
    """Play one game of uniform choices; returns how many decisions seats made.

    views: read the view of every asked seat, as a match would.
    """
    decisions = 0
    below = draws.below
    log = Log(ruleset)
    now = begin(ruleset)
    while now.asks:
        replies = []
        for ask in now.asks:
            options = ask.options
            if ask.seat == CHANCE:
                replies.append(draw_option(ask, draws))
                continue
            decisions += 1
            replies.append(SILENCE if options is None else options[below(len(options), ask.id)])
            if views:
                log.view(ask.seat)
        now = step(now.state, replies)
        if views:
            log.extend(now.events)
    return decisions
