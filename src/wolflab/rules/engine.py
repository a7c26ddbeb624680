"""The order of play.

The interface is `begin(ruleset)` and `step(state, replies)`. Both return a `Step`: the new state, the events
that happened, and the asks that the game now waits for. There is no I/O, no clock and no random number. A
random choice is an ask to chance, answered like any other.

A game goes through phases. `PHASES` below lists them: each phase has a function that opens it (it poses asks
or goes on) and one that takes the replies to those asks. A function does the work of its own phase and names
the next phase; the loop goes on until a seat or chance is asked.

    deal → nightfall → night → dawn ⇢ morning → (election | succession) → order → discussion
              ↑                                                                       │
              └── dusk ⇠ voting ←─ (action ⇢ action) ←────────────────────────────────┘

When a player leaves the game (⇢), a *departure* may come in between; then the named phase follows.

- *deal*: chance deals seat by seat, then draws the assigned Sheriff and a fixed order of speech.
- *night*: duties are asked as soon as what they depend on is done (`Duty.after`); the pack one by one.
- *dawn*: attack, shields and strikes are settled; deaths are announced.
- *departure*: the players who have just left are asked, seat by seat, for what their roles may do then. A
  player whom they shoot comes next. Then come the win test, `sheriff_death: stop` and `stops_without`.
- *morning*: void, *election* (round 1) or *succession* (the Sheriff has left): who is Sheriff now.
- *order*, *discussion*: one statement each, the Sheriff last where there is one.
- *action*: the duties of the day, if there are any, asked like those of the night. A player who is shot
  leaves at once.
- *voting*: a ballot of all who have a vote, the tie, the duty of a player who stays when voted out, the last
  words; *dusk*: the round limit.

Succession (002): a Sheriff who has left since the last morning names a successor after dawn, among the
living. Under `sheriff_death: stop` the game ends when the Sheriff leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from ..errors import IllegalReply
from .actions import LEFT, RIGHT, Action, Deal, Lead, Pick, Say, pick
from .asks import CHANCE, Ask
from .events import (
    EVERYONE,
    MODERATOR,
    CandidatesNamed,
    Event,
    FirstSpeaker,
    GameEnded,
    PackMet,
    Revealed,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    only,
)
from .outcome import Outcome, Reason, Winner
from .roles import DUTIES, ROLES
from .rules_cache import RulesCache, day_broke, dealt, night_fell, said, vote_counted, voted
from .ruleset import Ruleset
from .state import State


class Step(NamedTuple):
    """One move of the game: the state after it, what happened, who is asked next."""

    state: State
    events: tuple[Event, ...]
    asks: tuple[Ask, ...]


@lru_cache(maxsize=256)
def rules_cache(ruleset: Ruleset) -> RulesCache:
    """The shared caches of a ruleset."""
    return RulesCache(ruleset)


def begin(ruleset: Ruleset) -> Step:
    """A new game. Nothing is dealt yet; chance is asked for the first card."""
    state = State()
    state.cache = rules_cache(ruleset)
    state.phase, state.round = "deal", 0
    state.roles, state.alive = (), state.cache.everyone_alive
    state.asks, state.outcome = (), None
    state.sheriff, state.intended, state.order, state.queue = None, None, (), ()
    state.memory, state.choices = {}, ()
    state.shielded = state.struck = 0
    state.voted_out, state.candidates, state.tied, state.drawn = None, (), (), ()
    events: list[Event] = []
    _open_deal(state, events)
    return Step(state, tuple(events), state.asks)


def step(state: State, replies: Sequence[Action]) -> Step:
    """The game after `replies`, one for each of ``state.asks`` in their order.

    Raises IllegalReply, and changes nothing, when a reply is missing or not among its ask's options.
    """
    asks = state.asks
    if len(replies) != len(asks):
        raise IllegalReply(f"{len(replies)} replies to {len(asks)} asks: each ask needs one reply")
    for ask, reply in zip(asks, replies):  # noqa: B905 (lengths are checked above)
        options = ask.options
        if (reply not in options) if options is not None else type(reply) is not Say:
            raise IllegalReply(f"ask {ask.id}: {reply!r} is not one of {options or 'a statement'}")
    new = state.copy()
    new.asks = ()
    events: list[Event] = []
    PHASES[new.phase][1](new, events, replies, asks)
    return _advance(new, events)


def advance(state: State) -> Step:
    """Play from a state that was set up by hand, to the next ask or the end."""
    return _advance(state.copy(), [])


def outcome_of_state(state: State) -> Outcome | None:
    """The outcome that a state set up by hand already has by who is alive; None if the game goes on."""
    new = state.copy()
    _end_if_decided(new, [])
    return new.outcome


def _advance(new: State, events: list[Event]) -> Step:
    while not new.asks and new.outcome is None:
        PHASES[new.phase][0](new, events)
    return Step(new, tuple(events), new.asks)


# -- deal -----------------------------------------------------------------------------------


def _open_deal(s: State, events: list[Event]) -> None:
    rules = s.cache.ruleset
    if len(s.roles) < rules.players:
        s.asks = (s.cache.deal_ask(s.roles),)
    elif rules.draws_in_secret and s.intended is None:
        mask = rules.eligible
        if rules.sheriff_role is not None:
            mask &= s.members(ROLES[rules.sheriff_role])
        s.asks = (_chance(s, "sheriff", s.cache.picks(mask, False)),)
    elif rules.speaking_order == "random_game" and _draw_speakers(s, events, s.cache.everyone_alive):
        pass
    else:
        s.phase = "nightfall"


def _take_deal(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    (reply,) = replies
    if isinstance(reply, Deal):
        seat, role = len(s.roles), ROLES[reply.role]
        s.roles = (*s.roles, role)
        events.append(dealt(seat, role.name))
        if len(s.roles) == s.cache.ruleset.players:
            for pack in s.cache.ruleset.cast:
                if pack.pack:
                    members = s.members(pack)
                    events.append(PackMet(s.cache.seats(members), members))
    elif asks[0].kind == "sheriff" and isinstance(reply, Pick):
        s.intended = reply.seat
        events.append(SheriffDrawn(reply.seat, MODERATOR))
    else:
        _take_speaker(s, reply)


def _chance(s: State, kind: str, options: tuple[Action, ...], about: str = "-") -> Ask:
    """An ask to chance for one of `options`, each equally likely."""
    return s.cache.ask(kind, s.phase, s.round, CHANCE, options, (1,) * len(options), about)


def _draw_speakers(s: State, events: list[Event], mask: int) -> bool:
    """Ask chance for the next speaker among `mask`. Once all are drawn, set `order` and return False."""
    left = mask & ~only(*s.drawn)
    if left:
        s.asks = (_chance(s, "speaker", s.cache.picks(left, False), str(len(s.drawn))),)
        return True
    s.order, s.drawn = s.drawn, ()
    events.append(SpeakersDrawn(s.order, MODERATOR))
    return False


def _take_speaker(s: State, reply: Action) -> None:
    assert isinstance(reply, Pick)
    s.drawn = (*s.drawn, reply.seat)


# -- night, and the day's duties -------------------------------------------------------------


def _open_nightfall(s: State, events: list[Event]) -> None:
    s.round += 1
    events.append(night_fell(s.round))
    s.queue = s.cache.duties(s.roles, s.alive, "night")
    s.phase = "night"


def _open_duties(s: State, events: list[Event]) -> None:
    """Pose the next duties whose dependencies are done."""
    if not s.queue:
        if s.phase == "night":
            s.phase = "dawn"
        else:
            s.phase, s.choices = "voting", ()
        return
    sequential = s.phase == "night" and s.cache.ruleset.deaths == "sequential"
    ready, s.queue = s.cache.ready(s.queue, sequential)
    asks = []
    for kind, seat in ready:
        duty = DUTIES[kind]
        if not s.alive >> seat & 1:
            continue  # shot by day, before its turn
        if sequential and duty.reads and s.dying() >> seat & 1:
            continue
        options = duty.options(s, seat)
        if options:
            if duty.prelude is not None:
                events.extend(duty.prelude(s, seat))
            asks.append(s.cache.ask(kind, s.phase, s.round, seat, options))
    s.asks = tuple(asks)


def _take_duties(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    for ask, reply in zip(asks, replies, strict=True):
        s.choices = (*s.choices, (ask.kind, ask.seat, reply))
        came = DUTIES[ask.kind].act(s, ask.seat, reply)
        if not isinstance(came, tuple):
            raise TypeError(f"duty {ask.kind!r}: act returned {came!r}; return a tuple of events")
        events.extend(came)


def _take_action(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    _take_duties(s, events, replies, asks)
    _shots_hit(s, events, "action")


# -- dawn and departures ---------------------------------------------------------------------


def _open_dawn(s: State, events: list[Event]) -> None:
    dying = s.dying()
    s.choices, s.shielded, s.cured, s.struck_last_night, s.struck = (), 0, 0, s.struck, 0
    events.append(day_broke(s.round, s.cache.seats(dying)))
    _remove(s, events, dying, "morning", s.round == 1)


def _remove(s: State, events: list[Event], gone: int, next_phase: str, first_night: bool = False) -> None:
    """Take the seats of the mask out of the game. next_phase: the phase after their last duties."""
    s.phase = s.next_phase = next_phase
    if not gone:
        return
    s.alive &= ~gone
    rules = s.cache.ruleset
    if rules.reveal != "never" and (first_night or rules.reveal == "always"):
        events.extend(Revealed(seat, s.roles[seat].name, EVERYONE) for seat in s.cache.seats(gone))
    if "departure" in rules.due:
        turns = (s.cache.duties(s.roles, 1 << seat, "departure") for seat in s.cache.seats(gone))
        s.leaving = (*chain.from_iterable(turns), *s.leaving)
        s.phase = "departure"
    else:
        _end_if_decided(s, events)


def _open_departure(s: State, events: list[Event]) -> None:
    """Ask for the next duty of the players who have left; go on when all duties are done."""
    while s.leaving:
        (kind, seat), s.leaving = s.leaving[0], s.leaving[1:]
        duty = DUTIES[kind]
        options = duty.options(s, seat)
        if options:
            if duty.prelude is not None:
                events.extend(duty.prelude(s, seat))
            s.asks = (s.cache.ask(kind, "departure", s.round, seat, options),)
            return
    s.phase = s.next_phase
    _end_if_decided(s, events)


def _take_departure(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    """No other duty depends on this choice, so it is not kept among the choices."""
    (ask,), (reply,) = asks, replies
    events.extend(DUTIES[ask.kind].act(s, ask.seat, reply))
    _shots_hit(s, events, s.next_phase)


def _shots_hit(s: State, events: list[Event], next_phase: str) -> None:
    """Players who were just shot leave. Of several shots at one player the first counts."""
    hit: dict[int, int] = {}
    for seat, target in s.shots:
        if s.alive >> target & 1:
            hit.setdefault(target, seat)
    s.shots = ()
    if hit:
        events.extend(Shot(seat, target, EVERYONE) for target, seat in hit.items())
        s.shot_dead |= only(*hit)
        _remove(s, events, only(*hit), next_phase)


def _open_morning(s: State, events: list[Event]) -> None:
    rules = s.cache.ruleset
    if s.round == 1 and rules.sheriff != "none":
        if s.intended is not None and not s.alive >> s.intended & 1:
            _end(s, events, Winner.NOBODY, Reason.VOID)
        elif rules.sheriff == "assigned":
            assert s.intended is not None
            _take_office(s, events, s.intended, "assigned")
        else:
            s.phase = "election"
    elif s.sheriff is not None and not s.alive >> s.sheriff & 1:
        s.phase = "succession"
    else:
        s.phase = "order"


# -- Sheriff --------------------------------------------------------------------------------


def _open_election(s: State, events: list[Event]) -> None:
    """Candidates are drawn one by one, speak in that order, then everybody votes (002 §9.1).

    Without a vote (`drawn`) the first player drawn is the Sheriff.
    """
    if s.cache.ruleset.sheriff == "drawn":
        s.asks = (_chance(s, "drawn", s.cache.picks(_eligible(s), False)),)
    elif len(s.candidates) < _wanted(s):
        s.asks = (_next_candidate(s),)
    elif s.queue:
        s.asks = (s.cache.ask("campaign", "election", s.round, s.queue[0], None),)
    else:
        s.asks = s.cache.vote_asks("elect", "election", s.round, s.voters, only(*s.candidates))


def _next_candidate(s: State) -> Ask:
    """Chance draws the next candidate. The intended seat always runs, in each place with equal chance."""
    left = s.cache.seats(_eligible(s) & ~only(*s.candidates))
    weights = [1] * len(left)
    if s.intended in left:
        places = _wanted(s) - len(s.candidates)
        weights = [len(left) - 1 if seat == s.intended else places - 1 for seat in left]
        if places == 1:
            left, weights = (s.intended,), [1]
    options = tuple(pick(seat) for seat in left)
    return s.cache.ask("candidate", s.phase, s.round, CHANCE, options, tuple(weights), str(len(s.candidates)))


def _wanted(s: State) -> int:
    return min(s.cache.ruleset.candidates, _eligible(s).bit_count())


def _eligible(s: State) -> int:
    """Mask of the living who may be Sheriff. `Ruleset` makes sure that it is never empty."""
    return s.alive & s.cache.ruleset.eligible


def _take_election(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    kind, reply = asks[0].kind, replies[0]
    if kind == "candidate" and isinstance(reply, Pick):
        s.candidates = (*s.candidates, reply.seat)
        if len(s.candidates) == _wanted(s):
            events.append(CandidatesNamed(s.candidates, EVERYONE))
            s.queue = s.candidates
    elif kind == "campaign" and isinstance(reply, Say):
        events.append(said(asks[0].seat, "election", reply.text))
        s.queue = s.queue[1:]
    elif kind == "elect":
        _announce_votes(events, asks, replies, "elect")
        cast = _weighted(s, (ask.seat for ask in asks), replies)
        leaders = _leaders(cast, pass_competes=False) or s.candidates
        if len(leaders) == 1:
            _take_office(s, events, leaders[0], "elected")
        else:
            s.asks = (_chance(s, "elect-tie", s.cache.picks(only(*leaders), False)),)
    elif isinstance(reply, Pick):
        _take_office(s, events, reply.seat, "drawn" if kind == "drawn" else "elected")


def _take_office(s: State, events: list[Event], seat: int, how: str) -> None:
    """Make `seat` the Sheriff. A contested office that another seat wins voids the game."""
    s.sheriff = seat
    events.append(SheriffNamed(seat, how, EVERYONE))
    s.phase = "order"
    if how == "elected" and s.intended not in (None, seat):
        _end(s, events, Winner.NOBODY, Reason.VOID)


def _open_succession(s: State, events: list[Event]) -> None:
    assert s.sheriff is not None
    options = s.cache.picks(_eligible(s), False)
    s.asks = (s.cache.ask("succeed", "succession", s.round, s.sheriff, options),)


def _take_succession(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    (reply,) = replies
    assert isinstance(reply, Pick)
    _take_office(s, events, reply.seat, "succeeded")


# -- day ------------------------------------------------------------------------------------


def _open_order(s: State, events: list[Event]) -> None:
    """Fix the day's order of speech in `queue`."""
    how = s.cache.ruleset.speaking_order
    if how == "sheriff_side":
        assert s.sheriff is not None
        s.asks = (s.cache.ask("lead", "order", s.round, s.sheriff, (LEFT, RIGHT)),)
    elif how == "random_day" and _draw_speakers(s, events, s.alive):
        pass
    else:
        fixed = s.cache.seats(s.alive) if how == "ascending" else s.order
        _fix_order(s, tuple(seat for seat in fixed if s.alive >> seat & 1 and seat != s.sheriff))


def _fix_order(s: State, others: tuple[int, ...]) -> None:
    """The day's order of speech: `others`, then the Sheriff if there is one (002: always last)."""
    s.order = others if s.sheriff is None else (*others, s.sheriff)
    s.queue = s.order if s.cache.ruleset.discussion else ()
    s.phase = "discussion"


def _take_order(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    (reply,) = replies
    if isinstance(reply, Lead):
        assert s.sheriff is not None
        order = side_order(s.cache.seats(s.alive), s.sheriff, reply.left)
        events.append(FirstSpeaker(s.sheriff, order[0], EVERYONE))
        events.append(SpeakersDrawn(order, MODERATOR))
        _fix_order(s, order[:-1])
    else:
        _take_speaker(s, reply)


def side_order(alive: tuple[int, ...], sheriff: int, left: bool) -> tuple[int, ...]:
    """The order of speech from the Sheriff's neighbour around to the Sheriff, who comes last.

    Left is the next lower living number and goes down, right the next higher and goes up.
    """
    at = alive.index(sheriff)
    around = (*alive[at + 1 :], *alive[: at + 1])
    return (*around[-2::-1], sheriff) if left else around


def _open_discussion(s: State, events: list[Event]) -> None:
    if s.queue:
        s.asks = (s.cache.ask("statement", "discussion", s.round, s.queue[0], None),)
    else:
        s.phase = "voting"
        if "day" in s.cache.ruleset.due:
            s.phase, s.queue = "action", s.cache.duties(s.roles, s.alive, "day")


def _take_discussion(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    (reply,) = replies
    assert isinstance(reply, Say)
    events.append(said(asks[0].seat, "discussion", reply.text))
    s.queue = s.queue[1:]


def _open_voting(s: State, events: list[Event]) -> None:
    voters = s.voters
    asks = s.cache.vote_asks("vote", "voting", s.round, voters, s.alive)
    if not asks:
        _close_vote(s, events, None, ())
    elif s.cache.ruleset.votes == "secret":
        s.asks = asks
    else:
        if not s.queue:
            late = s.cache.seats(voters & ~only(*s.order))  # back since the order was fixed
            s.queue = (*(seat for seat in s.order if voters >> seat & 1), *late)
        s.asks = tuple(ask for ask in asks if ask.seat == s.queue[0])


def _take_voting(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    kind = asks[0].kind
    if kind == "vote":
        _announce_votes(events, asks, replies, "eliminate")
        voters: Iterable[int] = (ask.seat for ask in asks)
        if s.cache.ruleset.votes == "open":
            s.choices = (*s.choices, ("vote", asks[0].seat, replies[0]))
            s.queue = s.queue[1:]
            if s.queue:
                return
            (_, voters, replies), s.choices = zip(*s.choices, strict=True), ()
        leaders = _leaders(_weighted(s, voters, replies), s.cache.ruleset.pass_competes)
        if len(leaders) > 1 and s.cache.ruleset.tie == "random":
            s.asks = (_chance(s, "tie", s.cache.picks(only(*leaders), False)),)
            s.tied = leaders
        else:
            _close_vote(
                s, events, leaders[0] if len(leaders) == 1 else None, leaders if len(leaders) > 1 else ()
            )
    elif kind == "tie":
        (reply,) = replies
        assert isinstance(reply, Pick)
        _close_vote(s, events, reply.seat, s.tied)
    else:
        (reply,) = replies
        assert isinstance(reply, Say)
        events.append(said(asks[0].seat, "last words", reply.text))
        _remove_voted_out(s, events)


def _announce_votes(
    events: list[Event], asks: tuple[Ask, ...], replies: Sequence[Action], purpose: str
) -> None:
    for ask, reply in zip(asks, replies, strict=True):
        events.append(voted(ask.seat, reply.seat if isinstance(reply, Pick) else None, purpose))


def _weighted(s: State, voters: Iterable[int], replies: Sequence[Action]) -> Sequence[Action]:
    """Each voter's reply, repeated as often as it counts."""
    if not s.votes:
        return replies
    return [reply for seat, reply in zip(voters, replies, strict=True) for _ in range(s.votes[seat])]


def _leaders(replies: Sequence[Action], pass_competes: bool) -> tuple[int, ...]:
    """The seats with most votes, ascending; empty if nobody got a vote.

    If pass competes, the result is also empty when pass has as many votes or more.
    """
    counts: dict[int, int] = {}
    passes = 0
    for reply in replies:
        if isinstance(reply, Pick):
            counts[reply.seat] = counts.get(reply.seat, 0) + 1
        else:
            passes += 1
    top = max(counts.values(), default=0)
    if not top or (pass_competes and passes >= top):
        return ()
    return tuple(sorted(seat for seat, n in counts.items() if n == top))


def _close_vote(s: State, events: list[Event], seat: int | None, tied: tuple[int, ...]) -> None:
    """The vote, or the lot among `tied`, falls on `seat` (None: on nobody)."""
    instead = None if seat is None else _instead_of_leaving(s, seat)
    if instead is not None:
        seat, tied = None, ()
    events.append(vote_counted(seat, tied))
    events.extend(instead or ())
    s.voted_out, s.tied = seat, ()
    if seat is not None and s.cache.ruleset.last_words == "voted_out":
        s.asks = (s.cache.ask("last-words", "voting", s.round, seat, None),)
    else:
        _remove_voted_out(s, events)


def _instead_of_leaving(s: State, seat: int) -> tuple[Event, ...] | None:
    """The events of the duty by which a player who is voted out stays; None if the player leaves."""
    if "voted_out" in s.cache.ruleset.due:
        for kind, _ in s.cache.duties(s.roles, 1 << seat, "voted_out"):
            options = DUTIES[kind].options(s, seat)
            if options:
                return DUTIES[kind].act(s, seat, options[0])
    return None


def _remove_voted_out(s: State, events: list[Event]) -> None:
    """The player who was voted out leaves, if there is one."""
    gone = 0 if s.voted_out is None else 1 << s.voted_out
    s.voted_out = None
    _remove(s, events, gone, "dusk")


def _open_dusk(s: State, events: list[Event]) -> None:
    if s.round >= s.cache.ruleset.max_rounds:
        _end(s, events, Winner.NOBODY, Reason.ROUND_LIMIT)
    else:
        s.phase = "nightfall"


# -- the end --------------------------------------------------------------------------------


def _end_if_decided(s: State, events: list[Event]) -> None:
    """After a departure: end the game if a side has won (002 §6.1, 003 §2, 004 App. B), or if the rules stop
    it without its Sheriff or without a named player.
    """
    rules = s.cache.ruleset
    wolves, others, plain = s.cache.census(s.roles, s.alive)
    needed, reason = others, None
    if rules.wolves_win == "parity":
        reason = Reason.PARITY if wolves >= others else None
    elif rules.wolves_win == "no_others":
        reason = None if others else Reason.OTHERS_GONE
    else:
        reason = None if plain else Reason.VILLAGERS_GONE
        needed = plain
        if plain and rules.wolves_win == "no_villager_or_no_ability":
            needed = others - plain
            reason = None if needed else Reason.ABILITIES_GONE
    if wolves == 0 and (needed or rules.last_wolf_and_villager == "village"):
        _end(s, events, Winner.VILLAGE, Reason.WEREWOLVES_GONE)
    elif reason is not None:
        _end(s, events, Winner.WEREWOLVES, reason)
    elif s.sheriff is not None and rules.sheriff_death == "stop" and not s.alive >> s.sheriff & 1:
        _end(s, events, Winner.NOBODY, Reason.SHERIFF_DIED)
    elif rules.stops_without is not None and not s.alive >> rules.seat(rules.stops_without) & 1:
        _end(s, events, Winner.NOBODY, Reason.PLAYER_LEFT)


def _end(s: State, events: list[Event], winner: Winner, reason: Reason) -> None:
    s.outcome = Outcome(winner, reason)
    s.phase = "over"
    events.append(GameEnded(s.outcome, EVERYONE))


def _no_replies(s: State, events: list[Event], replies: Sequence[Action], asks: tuple[Ask, ...]) -> None:
    raise AssertionError("this phase asks nobody")


class _Phase(NamedTuple):
    open: Callable[[State, list[Event]], None]
    take: Callable[[State, list[Event], Sequence[Action], tuple[Ask, ...]], None]


PHASES: dict[str, _Phase] = {
    "deal": _Phase(_open_deal, _take_deal),
    "nightfall": _Phase(_open_nightfall, _no_replies),
    "night": _Phase(_open_duties, _take_duties),
    "dawn": _Phase(_open_dawn, _no_replies),
    "departure": _Phase(_open_departure, _take_departure),
    "morning": _Phase(_open_morning, _no_replies),
    "election": _Phase(_open_election, _take_election),
    "succession": _Phase(_open_succession, _take_succession),
    "order": _Phase(_open_order, _take_order),
    "discussion": _Phase(_open_discussion, _take_discussion),
    "action": _Phase(_open_duties, _take_action),
    "voting": _Phase(_open_voting, _take_voting),
    "dusk": _Phase(_open_dusk, _no_replies),
}
"""Every phase of the game: how it opens and how it takes replies."""
