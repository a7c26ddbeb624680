"""The questions that people wrote are true: their answers hold in every game that random players play.

A claim looks at one finished game. It says whether the answer held, or None where the game has not come to
what the question is about. What an example tells of players 1 to 5 is looked for with any players.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given

from rules_helpers import Game, of, rulesets, uniform
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    NINE,
    PASS,
    PRESETS,
    ROLES,
    SHERIFF,
    WITCH,
    YES,
    Chose,
    DayBroke,
    NightFell,
    Pick,
    Reason,
    Revealed,
    Ruleset,
    Said,
    Shot,
    VoteCounted,
    Voted,
    VotesSet,
    Winner,
    pick,
)
from wolflab.wwqa.generating import CATEGORIES, FORMS
from wolflab.wwqa.writing import POOL, examples_of

GAMES = 120

VARIANTS = (
    SHERIFF.with_(name="a", tie="random", may_abstain=False, may_vote_self=False, reveal="always"),
    SHERIFF.with_(name="b", wolves_win="no_others", reveal="first_night", deaths="sequential", votes="open"),
    WITCH.with_(name="c", tie="random", wolf_agreement="unanimous", wolves_win="parity"),
    DOCTOR.with_(name="d", sheriff="drawn", sheriff_death="stop", tie="nobody"),
    NINE.with_(name="e", wolves_win="no_villager", shield_and_antidote="kills", last_words="none"),
)
RULESETS = [
    short
    for rules in (*PRESETS.values(), *VARIANTS)
    for short in (rules, rules.with_(name=f"{rules.name}, 2 rounds", max_rounds=2, tell_horizon=True))
]


class Watched(Game):
    """A whole random game, with the living before every event and the asks of every step."""

    def __init__(self, rules: Ruleset, seed: int) -> None:
        super().__init__(rules)
        self.steps: list[tuple[str, ...]] = []
        self.play(uniform(random.Random(seed)), self._watched)
        self.events = self.log.events
        self.roles = [role.name for role in self.state.roles]
        living = set(range(rules.players))
        self.living: list[frozenset[int]] = []
        for event in self.events:
            self.living.append(frozenset(living))
            match event:
                case DayBroke(deaths=deaths):
                    living -= {*deaths}
                case Shot(target=seat) | VoteCounted(seat=int(seat)):
                    living.discard(seat)
        assert living == {*self.alive()}

    def _watched(self, game: Game) -> bool:
        self.steps.append(tuple(ask.kind for ask in game.asks))
        return False

    @property
    def winner(self) -> Winner:
        assert self.state.outcome is not None
        return self.state.outcome.winner

    def wolves(self, living: frozenset[int] | tuple[int, ...]) -> int:
        return sum(ROLES[self.roles[seat]].wolf for seat in living)

    def votes(self) -> Iterator[tuple[frozenset[int], list[Voted], VoteCounted]]:
        """Each day's vote: who lives, the votes, how they were counted. None of a game in which somebody was
        voted out and stayed: what is said of votes in general leaves that card aside.
        """
        if of(self.events, VotesSet):
            return
        cast: list[Voted] = []
        for living, event in zip(self.living, self.events, strict=True):
            if isinstance(event, Voted) and event.what == "eliminate":
                cast.append(event)
            elif isinstance(event, VoteCounted):
                yield living, cast, event
                cast = []

    def first_night(self, kind: str) -> set[int | None]:
        """Whom the seats with that choice chose in the first night; None: nobody."""
        end = next((k for k, event in enumerate(self.events) if isinstance(event, DayBroke)), 0)
        chosen = [event.action for event in of(self.events[:end], Chose) if event.kind == kind]
        return {action.seat if isinstance(action, Pick) else None for action in chosen}

    def first_deaths(self) -> tuple[int, ...]:
        return next((event.deaths for event in of(self.events, DayBroke)), ())


Claim = Callable[[Watched], bool | None]


def all_of(held: Iterator[bool]) -> bool | None:
    """Whether all held; None where there was nothing to look at."""
    found = list(held)
    return all(found) if found else None


def won(by: Winner, condition: Callable[[Watched], bool]) -> Claim:
    """That side has won exactly where the condition holds at the end."""

    def claim(game: Watched) -> bool | None:
        return condition(game) if game.winner is by else None

    return claim


def over(condition: Callable[[Watched, frozenset[int]], bool]) -> Claim:
    """Where the condition holds the Werewolves have won: no night falls any more."""

    def claim(game: Watched) -> bool | None:
        nights = [
            now for now, event in zip(game.living, game.events, strict=True) if isinstance(event, NightFell)
        ]
        if any(condition(game, living) for living in nights):
            return False
        return game.winner is Winner.WEREWOLVES if condition(game, frozenset(game.alive())) else None

    return claim


def plain_left(game: Watched, living: frozenset[int]) -> bool:
    return any(ROLES[game.roles[s]].plain and not ROLES[game.roles[s]].wolf for s in living)


def able_left(game: Watched, living: frozenset[int]) -> bool:
    return any(not ROLES[game.roles[s]].plain and not ROLES[game.roles[s]].wolf for s in living)


def counted(held: Callable[[Counter[int | None], VoteCounted, list[int]], bool | None]) -> Claim:
    """For every vote: its counts (None: did not vote), what came of it, and who has the most."""

    def claim(game: Watched) -> bool | None:
        found = []
        for _, cast, result in game.votes():
            counts = Counter(vote.target for vote in cast)
            most = max((n for seat, n in counts.items() if seat is not None), default=0)
            leading = [seat for seat, n in counts.items() if seat is not None and n == most]
            found.append(held(counts, result, leading))
        return all_of(iter([one for one in found if one is not None]))

    return claim


def tie_leaves_nobody(counts: Counter[int | None], result: VoteCounted, leading: list[int]) -> bool | None:
    return result.seat is None if len(leading) > 1 else None


def tie_is_drawn(counts: Counter[int | None], result: VoteCounted, leading: list[int]) -> bool | None:
    return result.seat in leading if len(leading) > 1 else None


def tie_is_drawn_of_more(counts: Counter[int | None], result: VoteCounted, leading: list[int]) -> bool | None:
    return result.seat in leading if len(leading) > 1 and counts[None] < counts[leading[0]] else None


def pass_wins(counts: Counter[int | None], result: VoteCounted, leading: list[int]) -> bool | None:
    return result.seat is None if leading and counts[None] > counts[leading[0]] else None


def most_leaves(counts: Counter[int | None], result: VoteCounted, leading: list[int]) -> bool | None:
    return result.seat == leading[0] if len(leading) == 1 and not counts[None] else None


def fewer_stays(counts: Counter[int | None], result: VoteCounted, leading: list[int]) -> bool | None:
    fewer = {seat for seat, n in counts.items() if seat is not None and seat not in leading}
    return result.seat not in fewer if fewer else None


def at_most_one(counts: Counter[int | None], result: VoteCounted, leading: list[int]) -> bool | None:
    return result.seat is None or result.seat in leading if len(leading) > 1 else None


def options_of_votes(has: Callable[[int, tuple[object, ...]], bool], wanted: bool) -> Claim:
    def claim(game: Watched) -> bool | None:
        asks = [ask for ask, _ in game.trail if ask.kind == "vote"]
        return all_of(has(ask.seat, ask.options or ()) is wanted for ask in asks)

    return claim


def shielded(game: Watched) -> set[int | None]:
    return game.first_night("protect") | game.first_night("save")


def killed(game: Watched) -> bool | None:
    """The pack agrees, and nobody protects or saves."""
    targets = game.first_night("kill")
    cured = any(ask.kind == "antidote" and action == YES for ask, action in game.trail)
    if len(targets) > 1 or None in targets or targets & shielded(game) or cured:
        return None
    return targets <= {*game.first_deaths()}


def protected(game: Watched) -> bool | None:
    targets = game.first_night("kill")
    return game.first_deaths() == () if len(targets) == 1 and targets == shielded(game) else None


def divided(game: Watched) -> bool | None:
    return game.first_deaths() == () if len(game.first_night("kill") - {None}) > 1 else None


def after_departure(of_kind: type, seat_of: Callable[[object], int | None]) -> Claim:
    """What the dead are never seen to do, where somebody was dead."""

    def claim(game: Watched) -> bool | None:
        seen = [(now, e) for now, e in zip(game.living, game.events, strict=True) if isinstance(e, of_kind)]
        late = [(now, e) for now, e in seen if len(now) < game.rules.players]
        return all_of(seat_of(e) is None or seat_of(e) in now for now, e in late)

    return claim


def departed(game: Watched) -> set[int]:
    return set(range(game.rules.players)) - {*game.alive()}


def votes_are_secret(game: Watched) -> bool | None:
    steps = [step for step in game.steps if "vote" in step]
    living = [len(now) for now, _, _ in game.votes()]
    return [len(step) for step in steps] == living if steps and living else None


def votes_are_open(game: Watched) -> bool | None:
    steps = [step for step in game.steps if "vote" in step]
    public = all(vote.audience == EVERYONE for _, cast, _ in game.votes() for vote in cast)
    return public and all(len(step) == 1 for step in steps) if steps else None


def first_voters(game: Watched) -> bool | None:
    """One player died in the first night, and nobody else was gone at the vote."""
    dead, votes = game.first_deaths(), next(game.votes(), None)
    if len(dead) != 1 or votes is None or len(votes[0]) != game.rules.players - 1:
        return None
    return {vote.voter for vote in votes[1]} == {*range(game.rules.players)} - {*dead}


def no_winner(game: Watched) -> bool | None:
    assert game.state.outcome is not None
    limit = game.state.outcome.reason is Reason.ROUND_LIMIT
    return game.winner is Winner.NOBODY if limit else None


CLAIMS: dict[str, Claim] = {
    "village-wins": won(Winner.VILLAGE, lambda game: not game.wolves(game.alive())),
    "parity": won(Winner.WEREWOLVES, lambda game: 2 * game.wolves(game.alive()) >= len(game.alive())),
    "no-villager": won(Winner.WEREWOLVES, lambda game: not plain_left(game, frozenset(game.alive()))),
    "no-villager-or-no-ability": won(
        Winner.WEREWOLVES,
        lambda game: (
            not (plain_left(game, frozenset(game.alive())) and able_left(game, frozenset(game.alive())))
        ),
    ),
    "no-others": won(Winner.WEREWOLVES, lambda game: game.wolves(game.alive()) == len(game.alive())),
    "tie-nobody": counted(tie_leaves_nobody),
    "tie-random": counted(tie_is_drawn),
    "tie-random-passes": counted(tie_is_drawn_of_more),
    "votes-secret": votes_are_secret,
    "votes-open": votes_are_open,
    "last-round": no_winner,
    "who-votes": lambda game: all_of({v.voter for v in cast} == now for now, cast, _ in game.votes()),
    "vote-self": options_of_votes(lambda seat, options: pick(seat) in options, True),
    "no-vote-self": options_of_votes(lambda seat, options: pick(seat) in options, False),
    "abstain": options_of_votes(lambda seat, options: PASS in options, True),
    "no-abstain": options_of_votes(lambda seat, options: PASS in options, False),
    "revealed": lambda game: departed(game) == {event.seat for event in of(game.events, Revealed)} or None,
    "not-revealed": lambda game: departed(game) > {event.seat for event in of(game.events, Revealed)} or None,
    "dead-vote": after_departure(Voted, lambda event: event.voter),  # type: ignore[attr-defined]
    "night-first": lambda game: isinstance(
        next(e for e in game.events if isinstance(e, NightFell | DayBroke)), NightFell
    ),
    "pack-divided": divided,
    "guarded": protected,
    "doctored": protected,
    "tied-vote": counted(tie_leaves_nobody),
    "tied-lot": counted(tie_is_drawn),
    "most-pass": counted(pass_wins),
    "most-votes": counted(most_leaves),
    "unprotected": killed,
    "one-to-one": over(lambda game, living: len(living) == 2 and game.wolves(living) == 1),
    "villagers-gone": over(lambda game, living: game.wolves(living) > 0 and not plain_left(game, living)),
    "one-left": over(lambda game, living: len(living) > 0 and game.wolves(living) == len(living)),
    "votes-after-night": first_voters,
    "out-of-rounds": no_winner,
    "fewer-votes": counted(fewer_stays),
    "killed-at-night": killed,
    "voted-before": after_departure(Voted, lambda event: event.target),  # type: ignore[attr-defined]
    "tied-both": counted(at_most_one),
    "dead-speaks": after_departure(Said, lambda event: event.seat if event.where == "discussion" else None),  # type: ignore[attr-defined]
}


def shown(rules: Ruleset) -> set[str]:
    """All examples that fit, also those beyond the pools."""
    return {item.kind for c in CATEGORIES for f in FORMS for item in examples_of(rules, c, f, most=100)}


@pytest.fixture(scope="module")
def held() -> dict[tuple[str, str], set[bool | None]]:
    """(ruleset, example) → what its claim said of the games."""
    found: dict[tuple[str, str], set[bool | None]] = {}
    for rules in RULESETS:
        games = [Watched(rules, seed) for seed in range(GAMES)]
        for example in shown(rules):
            found[rules.name, example] = {CLAIMS[example](game) for game in games}
    return found


def test_no_answer_is_wrong_in_any_game(held: dict[tuple[str, str], set[bool | None]]) -> None:
    assert not [where for where, said in held.items() if False in said]


def test_every_example_is_met_in_games(held: dict[tuple[str, str], set[bool | None]]) -> None:
    met = {example for (_, example), said in held.items() if True in said}
    assert met == set(CLAIMS)


@given(rulesets())
def test_all_rules_have_full_pools(rules: Ruleset) -> None:
    for category in CATEGORIES:
        for form in FORMS:
            pool = examples_of(rules, category, form)
            assert len(pool) == POOL
            assert all("$" not in item.question + item.answer for item in pool)
            if form == "yes_no":
                assert {item.answer for item in pool} == {"Yes", "No"}
