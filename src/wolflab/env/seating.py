"""The seats of learners (drawn, or named by number, role or side) and the players of the other seats.

Seating depends on the deal and the game's keys alone, so that a reset with the same seed gives the same
seats.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..agents.language import LanguageAgent
from ..agents.own import class_named, own_agent
from ..agents.policy.checkpoint import BY_DEFAULT, NumpyPolicy, check_policy, load_policy
from ..agents.random import Random
from ..agents.recipes import RECIPES, recipe
from ..errors import ExperimentError
from ..match import Casting, Dealing, Draws, Player
from ..models.catalog import Spec, resolve
from ..models.embedders import resolve_embedder
from ..rules import ROLES, Ruleset
from .checks import as_integer, check_type

Learners = int | str | Collection[int | str] | None
"""The seats of the environment's agents: all (None), a number of seats drawn for each game, a list (seats or
agents), or the seats of a role or side ("Seer", "werewolves")."""

Seats = int | str | Sequence[int] | None
"""`Learners` as returned by `checked_seats`, with seats as numbers."""

Others = str | Player | Mapping[str, str | Player] | Casting | None
"""The players of the other seats: a recipe's name (on the built-in player; "random" needs no model), an agent
of your own (``module:Class``), a `match.Player`, a mapping of places ("werewolves", "village", a role's name,
"others") to these, or a casting. A recipe that chooses by a policy takes the shipped one; `player` makes a
player with another."""

OtherPlayers = Callable[[Dealing], Callable[[int], Player]]
"""Dealing → seat → player."""

_SIDES = ("village", "werewolves")


def agents_of(ruleset: Ruleset) -> tuple[str, ...]:
    """The agents' ids by seat, in the form that PettingZoo's tools expect, numbered as the players' names."""
    return tuple(f"player_{seat + ruleset.first_player}" for seat in range(ruleset.players))


def player(
    recipe_name: str = "deductive", model: Spec = "village", policy: str | Path | None = None
) -> Player:
    """A player with that recipe and model, as experiments write them.

    An agent of your own is ``module:Class``, with the defaults of its settings.

    policy: for a recipe that chooses by a policy, a shipped policy's name or a file; None is the shipped
    policy of the recipe. Raises ExperimentError or ModelError for unknown names and wrong combinations.
    """
    if recipe_name == "random":
        return Player(Random())
    if own := class_named(recipe_name):
        agent = own_agent(own, {})
        return Player(agent, resolve(model) if agent.asks_model else None)
    made = recipe(recipe_name)
    weigher: NumpyPolicy | None = None
    reads: str | Mapping[str, Any] = "hashing"
    if made.propose is not None and made.weighs:
        weigher = NumpyPolicy(load_policy(policy or BY_DEFAULT[made.propose.source]))
        reads = weigher.checkpoint.reads
    elif policy is not None:
        raise ExperimentError(f"policy: {policy} was given, and recipe {recipe_name!r} chooses without one")
    embedders = {use: resolve_embedder(reads) for use in made.embeds}
    return Player(LanguageAgent(made, policy=weigher), resolve(model), embedders)


def learner_seats(learners: Seats, dealing: Dealing) -> frozenset[int]:
    """The seats that learn in this game."""
    seats = range(len(dealing.roles))
    match learners:
        case None:
            return frozenset(seats)
        case int():
            draws, left = Draws(dealing.play), list(seats)
            return frozenset(left.pop(draws.below(len(left), f"env|learner {n}")) for n in range(learners))
        case str():
            return frozenset(
                seat for seat in seats if learners in (dealing.roles[seat], _side(dealing, seat))
            )
        case _:
            return frozenset(learners)


def checked_seats(learners: Learners, others: Others, ruleset: Ruleset) -> Seats:
    """The learners with seats as numbers. ExperimentError for learners or others that are not possible."""
    if not callable(others):
        kinds = (str, Player, Mapping, type(None))
        check_type(
            "others", others, kinds, "a recipe's name, a Player, a mapping of places to these, or a casting"
        )
    if learners is None:
        return None
    places = (*_SIDES, *(role.name for role in ruleset.cast))
    agents = agents_of(ruleset)
    meant = _meant(learners, agents, places)
    if meant is None:
        raise ExperimentError(
            f"learners: got {learners!r}; use a number of seats from 1 to {ruleset.players}, a list of "
            f"agents ({agents[0]} to {agents[-1]}) or seats (0 to {ruleset.players - 1}), or one of "
            f"{', '.join(places)}"
        )
    if others is None:
        raise ExperimentError(
            "others: nobody is named for the seats that do not learn; use a recipe such as 'random' or "
            "'deductive', a Player, or a mapping of places"
        )
    return meant


def _meant(learners: Any, agents: Sequence[str], places: Collection[str]) -> Seats:
    """The learners with seats as numbers; None for an invalid value."""
    if isinstance(learners, str):
        return learners if learners in places else None
    if (count := as_integer(learners)) is not None:
        return count if 1 <= count <= len(agents) else None
    if not isinstance(learners, Collection):
        return None
    named = (agents.index(learner) if learner in agents else as_integer(learner) for learner in learners)
    seats = [seat for seat in named if seat is not None and 0 <= seat < len(agents)]
    return seats if seats and len(seats) == len(learners) else None


def casting(learners: Seats, rest: OtherPlayers, me: Player) -> Casting:
    """The casting with `me` in the learners' seats and `rest` in the others."""

    def seat(dealing: Dealing) -> list[Player]:
        mine = learner_seats(learners, dealing)
        seats = range(len(dealing.roles))
        if len(mine) == len(seats):
            return [me] * len(seats)
        other = rest(dealing)
        return [me if number in mine else other(number) for number in seats]

    return seat


def other_players(others: Others, ruleset: Ruleset) -> OtherPlayers:
    """The players of the seats that do not learn. They are made once, for all games.

    Raises ExperimentError for an unknown recipe or place.
    """
    if others is None:
        return lambda dealing: lambda seat: Player(Random())  # everybody learns (`checked_seats`)
    if isinstance(others, str | Player):
        holder = _player(others, ruleset)
        return lambda dealing: lambda seat: holder
    if isinstance(others, Mapping):
        places = (*_SIDES, *(role.name for role in ruleset.cast), "others")
        for place in others:
            if place not in places:
                raise ExperimentError(f"others: there is no place {place!r}; use {', '.join(places)}")
        by_place = {place: _player(who, ruleset) for place, who in others.items()}
        return lambda dealing: lambda seat: _at(by_place, dealing, seat)
    return lambda dealing: _cast(others, dealing)


def _cast(others: Casting, dealing: Dealing) -> Callable[[int], Player]:
    """Seat → player, by the user's casting."""
    players: Any = others(dealing)
    seats = len(dealing.roles)
    if not isinstance(players, Sequence) or len(players) != seats:
        gave = f"{len(players)} players" if isinstance(players, Sequence) else repr(players)
        raise ExperimentError(f"others: the casting gave {gave}; return a list of {seats}, one for each seat")

    def at(seat: int) -> Player:
        held = players[seat]
        if not isinstance(held, Player):
            raise ExperimentError(f"others: the casting gave {held!r} for seat {seat}; return a Player there")
        return held

    return at


def _player(who: str | Player, ruleset: Ruleset) -> Player:
    if not isinstance(who, Player):
        check_type("others", who, str, "a recipe's name or a Player")
        if who != "random" and who not in RECIPES and class_named(who) is None:
            raise ExperimentError(
                f"others: there is no recipe {who!r}; known are random, {', '.join(RECIPES)}, and an agent "
                "of your own, module:Class"
            )
        who = player(who)
    check_policy(who.agent, who.embedders, ruleset)
    return who


def _at(by_place: Mapping[str, Player], dealing: Dealing, seat: int) -> Player:
    for place in (dealing.roles[seat], _side(dealing, seat), "others"):
        if place in by_place:
            return by_place[place]
    raise ExperimentError(
        f"others: nobody is named for seat {seat} ({dealing.roles[seat]}); add an entry 'others'"
    )


def _side(dealing: Dealing, seat: int) -> str:
    return ROLES[dealing.roles[seat]].side.value
