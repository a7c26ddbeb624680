"""Plays the rules alone at random, without agents or a record, to measure their speed."""

from __future__ import annotations

from ..rules import CHANCE, SILENCE, Log, Ruleset
from ..rules.engine import begin, step
from .draws import Draws, draw_option


def play_bare(ruleset: Ruleset, draws: Draws, views: bool = False) -> int:
    """Play one game of uniform choices and return the number of the seats' decisions.

    views: also read the view of every asked seat, as a match does.
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
