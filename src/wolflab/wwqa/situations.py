"""Situations: the state of a game in a question, as data, and the rules engine run from there. A situation is
reached by playing a game. The engine is set to it and plays on with the told actions. A `Query` does this for
one question, and keeps the events.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeVar

import msgspec

from ..rules import (
    CHANCE,
    LEFT,
    NO,
    PASS,
    RIGHT,
    SILENCE,
    YES,
    Action,
    Ask,
    Event,
    Pick,
    Ruleset,
    Said,
    deal,
    pick,
    seats_of,
)
from ..rules.engine import Step, advance, begin, side_order, step
from ..rules.roles import DUTIES, ROLES
from ..rules.state import State
from ..text.asking.options import label
from ..text.asking.sentences import sentence
from .trials import seated

T = TypeVar("T")

GamePoint = Literal["night", "election", "succession", "order", "voting"]
"""The point of the game: before the night's first choice, before the Sheriff's election is decided, when a
Sheriff names the next one, before the order of speech is fixed, before the vote.
"""

ToldAction = tuple[str, int, int | str]
"""A told action: the kind of ask, the seat, and a seat or "pass", "yes", "no", "left", "right"."""

WORDS: dict[str, Action] = {"pass": PASS, "yes": YES, "no": NO, "left": LEFT, "right": RIGHT}


class GameSituation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state that a question tells. Seats are counted from 0. roles: by seat, or empty if they do not
    matter and are not told. sheriff: the present or last holder of the office. intended: the player drawn in
    secret to become Sheriff. order: of speech, as drawn. spent: used potions, (seat, "antidote" or "poison").
    shielded: (seat, whom) of last night. told: the actions in order.
    """

    moment: GamePoint
    round: int
    players: int
    dead: tuple[int, ...] = ()
    roles: tuple[str, ...] = ()
    sheriff: int | None = None
    intended: int | None = None
    candidates: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    spent: tuple[tuple[int, str], ...] = ()
    shielded: tuple[tuple[int, int], ...] = ()
    told: tuple[ToldAction, ...] = ()

    def but(self, **changed: Any) -> GameSituation:
        """The situation with some fields changed."""
        return msgspec.structs.replace(self, **changed)

    @property
    def living(self) -> tuple[int, ...]:
        """The seats that are alive, ascending."""
        return tuple(seat for seat in range(self.players) if seat not in self.dead)

    def holders(self, role: str) -> tuple[int, ...]:
        """The living seats with that role."""
        return tuple(seat for seat in self.living if self.roles[seat] == role)

    @property
    def witches(self) -> tuple[int, ...]:
        """The living Witches, if their potions are told."""
        return self.holders("Witch") if self.moment == "night" and self.roles else ()

    @property
    def actions(self) -> dict[tuple[str, int], Action]:
        """The told choices, by kind of ask and seat."""
        return {
            (kind, seat): pick(target) if isinstance(target, int) else WORDS[target]
            for kind, seat, target in self.told
        }


@dataclass(frozen=True)
class Playout:
    """The play from a situation. asks: all asks, each with the number of events before it. unanswered: the
    asks at which it stopped.
    """

    state: State
    events: tuple[Event, ...]
    asks: tuple[tuple[Ask, int], ...]
    unanswered: tuple[Ask, ...]

    @property
    def winner(self) -> str:
        """ "village", "werewolves" or "nobody" for a finished game, else "goes on"."""
        outcome = self.state.outcome
        return "goes on" if outcome is None else outcome.winner.value


class Impossible(Exception):
    """The rules do not allow the told actions, or need more than is told: there is no answer."""


def only_first(values: Iterable[T]) -> T:
    """The first one; Impossible if there is none."""
    for value in values:
        return value
    raise Impossible("there is none")


def put_back(rules: Ruleset, situation: GameSituation) -> State:
    """The situation as the engine's state, before the told actions."""
    check_fits(rules, situation)
    state = begin(rules).state.copy()
    state.asks = ()
    state.phase, state.round = situation.moment, situation.round
    if situation.moment == "night":
        state.phase, state.round = "nightfall", situation.round - 1
    roles = situation.roles or seated(rules)
    state.roles = tuple(ROLES[role] for role in roles)
    for seat in situation.dead:
        state.alive &= ~(1 << seat)
    state.sheriff, state.intended = situation.sheriff, situation.intended
    state.candidates, state.order = situation.candidates, situation.order or tuple(range(rules.players))
    memory: dict[tuple[int, str], object] = {(seat, f"{what} used"): True for seat, what in situation.spent}
    for seat, target in situation.shielded:
        memory[seat, "shielded"] = (situation.round - 1, target)
    state.memory = memory
    return state


def check_fits(rules: Ruleset, s: GameSituation) -> None:
    """Raise Impossible for a situation that contradicts these rules."""
    if s.players != rules.players or (s.roles and len(s.roles) != s.players):
        raise Impossible(f"{s.players} players where these rules seat {rules.players}")
    named = {*s.dead, *s.candidates, *s.order, *chain.from_iterable(s.shielded)}
    named |= (
        {seat for seat, _ in s.spent} | {seat for _, seat, _ in s.told} | {s.sheriff or 0, s.intended or 0}
    )
    if not named <= {*range(s.players)} or not ROLES.keys() >= {*s.roles}:
        raise Impossible("a player or a role that there is not")
    before_office = s.round == 1 and s.moment in ("night", "election")
    if (s.sheriff is not None) != (rules.sheriff != "none" and not before_office):
        raise Impossible("the Sheriff's office does not fit these rules and this time")
    if (s.intended is not None) != (rules.draws_in_secret and before_office):
        raise Impossible("the secret draw of a Sheriff does not fit these rules and this time")
    if (s.moment == "order" and s.sheriff in s.dead) or (
        s.moment == "succession" and s.sheriff not in s.dead
    ):
        raise Impossible("the Sheriff does not fit this time")
    if s.moment == "succession" and rules.sheriff_death != "succession":
        raise Impossible("these rules know no next Sheriff")
    if (s.moment == "election" and not rules.elects) or (s.candidates and s.moment != "election"):
        raise Impossible("these rules hold no such election")
    if {*s.candidates} & {*s.dead}:
        raise Impossible("a dead candidate")
    if not {*s.candidates, s.sheriff, s.intended} <= {None, *seats_of(rules.eligible)}:
        raise Impossible("a Sheriff or candidate whom these rules bar")
    if rules.stops_without is not None and rules.seat(rules.stops_without) in s.dead:
        raise Impossible("the game stopped when that player left")
    running = [seat for seat in s.living if rules.eligible >> seat & 1]
    if s.candidates and len(s.candidates) != min(rules.candidates, len(running)):
        raise Impossible("another number of candidates than these rules have")
    if s.order and s.moment == "voting" and s.order not in _rows(rules, s):
        raise Impossible("another order of turns than these rules give")


def _rows(rules: Ruleset, s: GameSituation) -> Collection[tuple[int, ...]]:
    """The possible orders of turns of a day in that situation."""
    if rules.speaking_order == "sheriff_side":
        alive, sheriff = s.living, s.sheriff
        return [side_order(alive, sheriff, left) for left in (True, False)] if sheriff in alive else ()
    others = [seat for seat in s.living if seat != s.sheriff]
    last = [seat for seat in s.living if seat == s.sheriff]
    if rules.speaking_order == "ascending":
        return [(*others, *last)]
    return [s.order] if sorted(s.order) == [*s.living] and [*s.order[len(others) :]] == last else ()


def steps(
    rules: Ruleset, situation: GameSituation, replies: Callable[[Step], Sequence[Action] | None]
) -> Iterator[Step]:
    """The engine's steps from a situation on with these replies, until they are None."""
    now: Step | None = advance(put_back(rules, situation))
    while now is not None:
        yield now
        given = replies(now) if now.asks else None
        now = None if given is None else step(now.state, given)


def dealing(rules: Ruleset, roles: Sequence[str] = ()) -> Iterator[Step]:
    """The deal step by step with these roles; other draws take their first option. Impossible: a card that
    these rules do not deal.
    """
    now = begin(rules)
    while now.asks and now.asks[0].phase == "deal":
        ask = now.asks[0]
        assert ask.options is not None
        told = roles and ask.kind == "deal"
        now = step(now.state, [_allowed(ask, deal(roles[len(now.state.roles)]) if told else ask.options[0])])
        yield now


def _allowed(ask: Ask, reply: Action) -> Action:
    """The reply; Impossible if the rules do not allow it."""
    if ask.options is not None and reply not in ask.options:
        raise Impossible(f"{ask.id}: {reply} is not allowed")
    return reply


# -- one question ----------------------------------------------------------------------------------

AskedAbout = Mapping[str, int | str]
"""The arguments of a question: "x" and "y" are seats, others are words."""


class Query:
    """One question put to the engine, and the engine's steps to answer it. situation: the told state;
    `asked`: the question's arguments.
    """

    def __init__(self, rules: Ruleset, situation: GameSituation, asked: AskedAbout) -> None:
        self.rules, self.situation, self.asked = rules, situation, asked
        self._steps: list[str | Event | Ask] = []

    @property
    def x(self) -> int:
        """The first seat in question."""
        return int(self.asked["x"])

    @property
    def y(self) -> int:
        """The second seat in question."""
        return int(self.asked["y"])

    def playout(self, situation: GameSituation, *phases: str) -> Playout:
        """Play on from a situation: asks of these phases get the told actions, speech is silence. It stops at
        the first asks of other phases, of chance (except the order of speech), or without a told action. The
        events are kept, and the asks at which it stopped. Impossible: a told action is not allowed.
        """
        told = situation.actions

        def reply(ask: Ask, state: State) -> Action | None:
            if ask.seat == CHANCE:
                left = [s for s in situation.order if s not in state.drawn and state.alive >> s & 1]
                return pick(left[0]) if ask.kind == "speaker" and left else None
            if ask.options is None:
                return SILENCE
            given = told.get((ask.kind, ask.seat))
            return None if given is None else _allowed(ask, given)

        def replies(now: Step) -> list[Action] | None:
            given = [reply(ask, now.state) for ask in now.asks]
            complete = [one for one in given if one is not None]
            return complete if now.asks[0].phase in phases and len(complete) == len(given) else None

        events: list[Event] = []
        asks: list[tuple[Ask, int]] = []
        for now in steps(self.rules, situation, replies):
            events.extend(now.events)
            asks.extend((ask, len(events)) for ask in now.asks)
        ahead = now.asks
        self.keep(*events)
        if phases == ("none",) or (ahead and (ahead[0].phase in phases or ahead[0].seat == CHANCE)):
            self.keep(*ahead)
        return Playout(now.state, tuple(events), tuple(asks), ahead)

    def ask_tonight(self, situation: GameSituation, kind: str, seat: int) -> Ask | None:
        """The ask of that kind to that seat; None if the night passes without it. Other seats without a told
        action take their last option; earlier asks of that seat have to be told.
        """
        told = situation.actions
        blind = self.rules.deaths == "sequential" and DUTIES[kind].reads and seat in situation.living

        def reply(ask: Ask) -> Action:
            assert ask.options is not None
            if (ask.kind, ask.seat) in told:
                return _allowed(ask, told[ask.kind, ask.seat])
            if ask.seat == seat and ask.kind in DUTIES[kind].after:
                raise Impossible(f"{ask.id} is asked and not told")
            if blind and not DUTIES[ask.kind].reads:
                raise Impossible(f"who has died by then hangs on {ask.id}, which is not told")
            return ask.options[-1]

        def replies(now: Step) -> list[Action] | None:
            return [reply(ask) for ask in now.asks] if now.asks[0].phase == "night" else None

        for now in steps(self.rules, situation, replies):
            for ask in now.asks:
                if (ask.kind, ask.seat) == (kind, seat):
                    self.keep(ask)
                    return ask
        self.keep(f"{self.rules.names[seat]} is not asked ({kind}).")
        return None

    def keep(self, *steps: str | Event | Ask) -> None:
        """Keep events, asks, or a sentence for the derivation."""
        self._steps.extend(steps)

    @property
    def derivation(self) -> tuple[str, ...]:
        """The engine's steps so far, a sentence each, as the moderator sees them."""
        return tuple(dict.fromkeys(map(self._in_words, self._steps)))

    def _in_words(self, step: str | Event | Ask) -> str:
        if isinstance(step, str):
            return step
        if isinstance(step, Said):
            return f"{self.rules.names[step.seat]} speaks."
        if not isinstance(step, Ask):
            return sentence(step, None, self.rules)
        who = "Chance" if step.seat == CHANCE else self.rules.names[step.seat]
        may = [label(option, step.kind, self.rules) for option in step.options or ()]
        return f"{who} is asked ({step.kind}): {', '.join(may) or 'to speak'}."


# -- situations reached by play -----------------------------------------------------------------


_GAMES = 200
"""After this many games without reaching a point, the rules are assumed never to reach it."""


class Games:
    """Random games under one ruleset, and the situations that they pass. Their players agree more often than
    by chance: otherwise hardly anybody would leave.
    """

    def __init__(self, rules: Ruleset, seed: str) -> None:
        self.rules, self.rng = rules, random.Random(seed)
        self._waiting: dict[GamePoint, list[GameSituation]] = {}
        self._never: set[GamePoint] = set()

    def draw(self, moment: GamePoint) -> GameSituation | None:
        """One more situation at that point; None if these rules never reach it."""
        waiting = self._waiting.setdefault(moment, [])
        for _ in range(0 if moment in self._never else _GAMES):
            if waiting:
                return waiting.pop(self.rng.randrange(len(waiting)))
            for _, found in reached(self.rules, self.rng):
                self._waiting.setdefault(found.moment, []).append(found)
        self._never.add(moment)
        return None


def reached(rules: Ruleset, rng: random.Random) -> Iterator[tuple[State, GameSituation]]:
    """The situations of one random game, each with the engine's state. They end once a vote counts otherwise:
    a situation does not tell that.
    """
    now = begin(rules)
    before, favourites = ("deal", 0), (0.0, 0.0)
    while now.asks:
        moment = _moment(now.asks[0], now.state, before)
        if moment is not None and not now.state.votes:
            yield now.state, _snapshot(now.state, moment)
        if before != (now.state.phase, now.state.round):
            favourites = (rng.random(), rng.random())
        before = (now.state.phase, now.state.round)
        now = step(now.state, random_replies(now.asks, rng, favourites))


def random_replies(
    asks: tuple[Ask, ...], rng: random.Random, favourites: tuple[float, float]
) -> list[Action]:
    """Random replies. favourites: the targets of most players, as fractions of the list of options. Witches
    mostly keep their poison.
    """
    replies: list[Action] = []
    for ask in asks:
        if ask.options is None:
            replies.append(SILENCE)
        elif ask.weights is not None:
            replies.append(rng.choices(ask.options, ask.weights)[0])
        else:
            players = [option for option in ask.options if isinstance(option, Pick)]
            if players and rng.random() < (0.3 if ask.kind == "poison" else 0.9):
                at = rng.choice(favourites) if rng.random() < 0.75 else rng.random()
                replies.append(players[int(at * len(players))])
            else:
                replies.append(rng.choice(ask.options))
    return replies


def _moment(ask: Ask, state: State, before: tuple[str, int]) -> GamePoint | None:
    first = (ask.phase, state.round) != before
    if ask.phase == "night" and first and not state.choices:
        return "night"
    if ask.kind == "elect":
        return "election"
    if ask.kind == "succeed":
        return "succession"
    if ask.kind == "vote" and not state.choices:
        return "voting"
    if ask.phase in ("order", "discussion") and before[0] not in ("order", "discussion"):
        return "order"
    return None


def _snapshot(state: State, moment: GamePoint) -> GameSituation:
    """An engine's state as a situation."""
    night = state.round - 1
    shields = [
        (seat, value[1])
        for (seat, word), value in state.memory.items()
        if word == "shielded" and isinstance(value, tuple) and value[0] == night
    ]
    spent = [(seat, word.removesuffix(" used")) for (seat, word) in state.memory if word.endswith(" used")]
    rules = state.ruleset
    drawn = {"order": rules.speaking_order == "random_game", "voting": rules.votes == "open"}
    return GameSituation(
        moment,
        state.round,
        rules.players,
        tuple(seat for seat in range(rules.players) if not state.alive >> seat & 1),
        tuple(role.name for role in state.roles),
        state.sheriff,
        state.intended if state.sheriff is None else None,
        state.candidates if moment == "election" else (),
        state.order if drawn.get(moment) else (),
        tuple(sorted(spent)) if moment == "night" else (),
        tuple(sorted(shields)) if moment == "night" else (),
    )


def with_choices(rules: Ruleset, situation: GameSituation, rng: random.Random, *phases: str) -> GameSituation:
    """The situation with a random told action for every ask of these phases."""
    favourites = (rng.random(), rng.random())
    return _filled(rules, situation, phases, lambda now: random_replies(now.asks, rng, favourites))


def with_rest(rules: Ruleset, situation: GameSituation, *phases: str) -> GameSituation:
    """The situation with the last option as told action for every other ask of these phases."""
    told = situation.actions

    def reply(ask: Ask) -> Action:
        last = SILENCE if ask.options is None else ask.options[-1]
        return _allowed(ask, told.get((ask.kind, ask.seat), last))

    return _filled(rules, situation, phases, lambda now: list(map(reply, now.asks)))


def _filled(
    rules: Ruleset,
    situation: GameSituation,
    phases: tuple[str, ...],
    replies: Callable[[Step], Sequence[Action]],
) -> GameSituation:
    """The situation with the replies of these phases as told actions."""
    told = {(kind, seat): target for kind, seat, target in situation.told}

    def kept(now: Step) -> Sequence[Action] | None:
        if now.asks[0].phase not in phases or now.asks[0].seat == CHANCE:
            return None
        given = replies(now)
        for ask, reply in zip(now.asks, given, strict=True):
            if ask.options is not None:
                words = (word for word, action in WORDS.items() if action == reply)
                told[ask.kind, ask.seat] = reply.seat if isinstance(reply, Pick) else next(words)
        return given

    for _ in steps(rules, situation, kept):
        pass
    return situation.but(told=tuple((kind, seat, target) for (kind, seat), target in told.items()))


# -- the same with one fact changed ----------------------------------------------------------------


def changes(rules: Ruleset, s: GameSituation) -> Iterator[list[GameSituation]]:
    """For each told fact, the situations in which only that fact differs."""

    def with_other(field: str, at: int, others: Iterable[object]) -> list[GameSituation]:
        """The situations with other members of a field at that index."""
        members = getattr(s, field)
        return [s.but(**{field: (*members[:at], other, *members[at + 1 :])}) for other in others]

    for seat in range(s.players):
        yield [s.but(dead=tuple(sorted({*s.dead} ^ {seat})))]
    for seat, role in enumerate(s.roles):
        yield with_other("roles", seat, [name for name, n in rules.roles.items() if n and name != role])
    yield [s.but(round=n) for n in (s.round - 1, s.round + 1) if 1 <= n <= rules.max_rounds]
    for office, holder in (("sheriff", s.sheriff), ("intended", s.intended)):
        if holder is not None:
            yield [s.but(**{office: seat}) for seat in s.living if seat != holder]
    for witch in s.witches:
        for what in ("antidote", "poison"):
            yield [s.but(spent=tuple(sorted({*s.spent} ^ {(witch, what)})))]
    for at, (seat, target) in enumerate(s.shielded):
        yield with_other("shielded", at, [(seat, x) for x in range(s.players) if x != target])
    for at, (kind, seat, chosen) in enumerate(s.told):
        yield with_other("told", at, [(kind, seat, other) for other in _others(chosen, s)])
    for at in range(len(s.candidates)):
        yield with_other("candidates", at, [x for x in s.living if x not in s.candidates])
    for at in range(len(s.order) - 1):
        yield [s.but(order=(*s.order[:at], s.order[at + 1], s.order[at], *s.order[at + 2 :]))]


def _others(target: int | str, s: GameSituation) -> list[int | str]:
    if target in ("yes", "no"):
        return ["no" if target == "yes" else "yes"]
    if target in ("left", "right"):
        return ["right" if target == "left" else "left"]
    everybody: list[int | str] = [*s.living, "pass"]
    return [other for other in everybody if other != target]
