"""The design of an experiment with a Sheriff: how often the Sheriff is a Werewolf.

How far a Sheriff is believed depends above all on its side. With `stratify: sheriff_side` deals have two
strata: the Sheriff is of the village, or a Werewolf. If the Sheriff is drawn with the cards, strata follow
from the seed and the deal's number alone, by systematic sampling: of n consecutive deals for n seats, exactly
as many have a Werewolf as Sheriff as there are Werewolves. (Do not split deals by even and odd numbers: the
pattern may follow these.) So shards, further deals and resumed runs agree. If the office is decided in the
game (an election, a draw among the living), games are only weighted (post-stratification).
"""

from __future__ import annotations

from ...match import Draws
from ...metrics.shapes import SheriffDesign
from ...rules import Ruleset, Side
from .experiment import Experiment


def sheriff_side(experiment: Experiment, condition: str, deal: int) -> Side | None:
    """The side that the Sheriff of a deal is drawn from; None: any."""
    rules = experiment.ruleset(condition)
    if experiment.stratify is None or not _drawn_freely(rules):
        return None
    wolves = sum(rules.count(role.name) for role in rules.cast if role.wolf)
    start = Draws(f"{experiment.seed}/strata").below(rules.players, "start")
    is_wolf = (start + deal * wolves) % rules.players < wolves
    return Side.WEREWOLVES if is_wolf else Side.VILLAGE


def sheriff_design(experiment: Experiment, condition: str) -> SheriffDesign | None:
    """The shares of the Sheriff's roles; None without a Sheriff, or if its role is fixed."""
    rules = experiment.ruleset(condition)
    if rules.sheriff == "none" or rules.sheriff_role is not None:
        return None
    shares = {role.name: rules.count(role.name) / rules.players for role in rules.cast}
    return SheriffDesign(shares, _drawn_freely(rules), experiment.stratify is not None)


def _drawn_freely(rules: Ruleset) -> bool:
    """Whether the Sheriff is drawn with the cards among all seats."""
    return rules.draws_in_secret and rules.sheriff_role is None and not rules.never_sheriff
