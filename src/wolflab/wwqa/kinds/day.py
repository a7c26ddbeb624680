"""Kinds about a day: the order of speech, votes, who is voted out, and the consequences."""

from __future__ import annotations

import random
from collections.abc import Iterable

from ...rules import CHANCE, Reason, Revealed, Ruleset, VoteCounted, Voted, VotesSet, pick
from ..items import NOBODY
from ..situations import AskedAbout, GameSituation, Impossible, Playout, Query, only_first
from .kind import DrawnFrom, EngineAnswer, Value, entries_of, kinds_of, living, seats, two_living
from .night import may_shoot

VOTE = DrawnFrom("voting", ("voting", "departure"))
BALLOT = DrawnFrom("voting", ("voting",), roles=False)
BEFORE_VOTE = DrawnFrom("voting")
VOTERS = DrawnFrom("voting", roles=False)
SPEAKERS = DrawnFrom("order", ("order",), roles=False)


# -- the order of speech ---------------------------------------------------------------------------------


def _speakers(q: Query) -> list[int]:
    """The speakers of today's discussion, in order; Impossible if there are none."""
    s = q.situation
    if q.rules.speaking_order.startswith("random") and not s.order:
        raise Impossible("the order that was drawn is not told")
    played = q.playout(s, "order", "discussion")
    order = [ask.seat for ask, _ in played.asks if ask.kind == "statement"]
    if {*order} != {*s.living} or any(ask.phase in ("order", "discussion") for ask in played.unanswered):
        raise Impossible("no order of speech")
    return order


def _place(q: Query, seat: int) -> int:
    """A seat's place in the order of speech, from 1; Impossible if it does not speak."""
    order = _speakers(q)
    if seat not in order:
        raise Impossible("a player who does not speak")
    return order.index(seat) + 1


def _next(q: Query) -> Value:
    after = _place(q, q.x)
    return _speakers(q)[after] if after < len(q.situation.living) else NOBODY


def _by_number(rules: Ruleset) -> bool:
    """Whether seat numbers alone give the order of speech, and so the answer."""
    return rules.speaking_order == "ascending" and rules.sheriff == "none"


def _two_speakers(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return () if _by_number(rules) else two_living(rules, s, rng)


def _neighbours(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Living players with few numbers between them."""
    alive = s.living
    if _by_number(rules):
        return
    for at in rng.sample(range(len(alive)), min(4, len(alive))):
        x, y = alive[at], alive[(at + rng.choice((1, 1, 2))) % len(alive)]
        if x != y:
            yield {"x": x, "y": y} if rng.random() < 0.5 else {"x": y, "y": x}


# -- the vote ---------------------------------------------------------------------------------------------


def _ballot(q: Query, lot: bool = False) -> Playout:
    """The vote alone, as told. lot: whether a lot may decide it; otherwise that is Impossible."""
    played = q.playout(q.situation, "voting")
    if any(ask.kind == "vote" for ask in played.unanswered):
        raise Impossible("not everybody's vote is told")
    if not lot and any(ask.phase == "voting" for ask in played.unanswered):
        raise Impossible("the lot decides")
    return played


def _voted_out(q: Query) -> int | str:
    """The player voted out, or nobody; Impossible if a lot decides, or if the vote falls on a player who
    stays: some would call that voted out.
    """
    events = _ballot(q).events
    counted = only_first(event for event in events if isinstance(event, VoteCounted))
    if counted.seat is None and any(isinstance(event, Revealed | VotesSet) for event in events):
        raise Impossible("the vote falls on a player who stays")
    return NOBODY if counted.seat is None else counted.seat


def _voted_for(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Every player with votes, others more rarely."""
    named = sorted({target for _, _, target in s.told if isinstance(target, int)})
    for x in {*rng.sample(named, min(3, len(named))), rng.choice(s.living)}:
        yield {"x": x}


def _may_go_out(q: Query) -> Value:
    lots = [ask for ask in _ballot(q, lot=True).unanswered if ask.kind == "tie"]
    if lots and "voted_out" in q.rules.due:
        raise Impossible("the lot may fall on a player who stays")
    return pick(q.x) in (lots[0].options or ()) if lots else _voted_out(q) == q.x


def _votes_for(q: Query) -> Value:
    events = _ballot(q, lot=True).events
    return sum(isinstance(event, Voted) and event.target == q.x for event in events)


def _open_to(q: Query, seat: int) -> tuple[object, ...]:
    """The seat's options in today's vote, regardless of others' votes; empty if it has no vote."""
    s = q.situation
    others = tuple(("vote", other, _some_vote(q, other)) for other in s.living if other != seat)
    for ask, _ in q.playout(s.but(told=others), "voting").asks:
        if ask.kind == "vote" and ask.seat == seat:
            return ask.options or ()
    return ()


def _some_vote(q: Query, seat: int) -> int | str:
    """A vote with little effect: a pass, or else one for another player."""
    return "pass" if q.rules.may_abstain else only_first(s for s in q.situation.living if s != seat)


def _any_two(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for _ in range(4):
        x = rng.choice(s.living)
        for y in {x, rng.randrange(s.players), *s.dead[:1]}:
            yield {"x": x, "y": y}


def _sees_vote(q: Query) -> Value:
    if q.rules.votes == "open" and not {*q.situation.living} <= {*q.situation.order}:
        raise Impossible("the order of the votes is not told")
    played = _ballot(q, lot=True)
    asks = ((ask, known) for ask, known in played.asks if (ask.kind, ask.seat) == ("vote", q.x))
    _, known = only_first(asks)
    return any(isinstance(e, Voted) and e.voter == q.y for e in played.events[:known])


# -- what the vote brings ------------------------------------------------------------------------------------


def _winner(q: Query, s: GameSituation) -> str:
    """The winner after the vote and the leaving players' acts; Impossible if these are not told, or if the
    last round ends the game and the rules' text does not name it.
    """
    played = q.playout(s, "voting", "departure")
    if any(ask.phase in ("voting", "departure") and ask.seat != CHANCE for ask in played.unanswered):
        raise Impossible(f"{played.unanswered[0].id} is asked and not told")
    if any(ask.phase == "voting" for ask in played.unanswered):
        raise Impossible("the lot decides")
    outcome = played.state.outcome
    if outcome is not None and outcome.reason is Reason.ROUND_LIMIT and not q.rules.tell_horizon:
        raise Impossible("the last round, which is not told")
    return played.winner


def _winner_if_out(q: Query) -> str:
    """The same if everybody votes for x, and x for another player."""
    living = q.situation.living
    if len(living) < 3:
        raise Impossible("there are too few votes")
    told = tuple(("vote", seat, _some_vote(q, q.x) if seat == q.x else q.x) for seat in living)
    return _winner(q, q.situation.but(told=told))


def _last_words(q: Query) -> Value:
    return any(ask.kind == "last-words" and ask.seat == q.x for ask, _ in _ballot(q).asks)


def _where_hunters_are(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return _voted_for(rules, s, rng) if "Hunter" in s.roles else ()


KINDS = kinds_of(
    entries_of("day.yaml"),
    {
        "speaks-first": EngineAnswer(lambda q: _speakers(q)[0], setting=SPEAKERS),
        "speaks-last": EngineAnswer(lambda q: _speakers(q)[-1], setting=SPEAKERS),
        "speaks-next": EngineAnswer(_next, living, SPEAKERS),
        "speech-order": EngineAnswer(_speakers, setting=SPEAKERS),
        "speech-place": EngineAnswer(lambda q: _place(q, q.x), living, SPEAKERS),
        "speaks-before": EngineAnswer(lambda q: _place(q, q.x) < _place(q, q.y), _two_speakers, SPEAKERS),
        "speaks-directly-after": EngineAnswer(
            lambda q: _place(q, q.x) == _place(q, q.y) + 1, _neighbours, SPEAKERS
        ),
        "voted-out": EngineAnswer(_voted_out, setting=BALLOT),
        "out-by-vote": EngineAnswer(lambda q: _voted_out(q) == q.x, _voted_for, BALLOT),
        "may-go-out": EngineAnswer(_may_go_out, _voted_for, BALLOT),
        "votes-for": EngineAnswer(_votes_for, _voted_for, BALLOT),
        "may-vote-for": EngineAnswer(lambda q: pick(q.y) in _open_to(q, q.x), _any_two, VOTERS),
        "may-vote": EngineAnswer(lambda q: bool(_open_to(q, q.x)), seats, VOTERS),
        "ballots": EngineAnswer(
            lambda q: sum(bool(_open_to(q, seat)) for seat in range(q.rules.players)), setting=VOTERS
        ),
        "sees-vote": EngineAnswer(_sees_vote, two_living, BALLOT),
        "over-after-vote": EngineAnswer(lambda q: _winner(q, q.situation) != "goes on", setting=VOTE),
        "winner-after-vote": EngineAnswer(lambda q: _winner(q, q.situation), setting=VOTE),
        "over-if-out": EngineAnswer(lambda q: _winner_if_out(q) != "goes on", living, BEFORE_VOTE),
        "winner-if-out": EngineAnswer(_winner_if_out, living, BEFORE_VOTE),
        "last-words": EngineAnswer(_last_words, _voted_for, BALLOT),
        "may-shoot-after-vote": EngineAnswer(
            lambda q: may_shoot(q, _ballot(q)), _where_hunters_are, DrawnFrom("voting", ("voting",))
        ),
    },
)
"""The kinds of `day.yaml`, each with the engine's answer."""
