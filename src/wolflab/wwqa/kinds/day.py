"""Kinds about a day: who speaks when, who may vote for whom, who is out, and what that brings."""

from __future__ import annotations

import random
from collections.abc import Iterable

from ...rules import CHANCE, Ruleset, VoteCounted, Voted, pick
from ..items import NOBODY
from ..situations import GameSituation, Impossible, Playout, only_first, playout
from .kind import AskedAbout, DrawnFrom, QuestionKind, Value, living, nothing, seats, two_living
from .night import may_shoot, winner_of, winners

VOTE = DrawnFrom("voting", ("voting", "departure"))
BALLOT = DrawnFrom("voting", ("voting",), roles=False)
BEFORE_VOTE = DrawnFrom("voting")
TABLE = DrawnFrom("voting", roles=False)
FLOOR = DrawnFrom("order", ("order",), roles=False)


# -- the order of speech ---------------------------------------------------------------------------------


def speakers(rules: Ruleset, s: GameSituation) -> list[int]:
    """Who speaks in today's discussion, in order; Impossible where nobody does."""
    if rules.speaking_order.startswith("random") and not s.order:
        raise Impossible("the order that was drawn is not told")
    played = playout(rules, s, "order", "discussion")
    order = [ask.seat for ask, _ in played.asks if ask.kind == "statement"]
    if {*order} != {*s.living} or any(ask.phase in ("order", "discussion") for ask in played.unanswered):
        raise Impossible("no order of speech")
    return order


def _place_of(rules: Ruleset, s: GameSituation, seat: int | str) -> int:
    """As which one a seat speaks, from 0; Impossible for one that does not."""
    order = speakers(rules, s)
    if seat not in order:
        raise Impossible("a player who does not speak")
    return order.index(int(seat))


def _first(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return speakers(rules, s)[0]


def _last(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return speakers(rules, s)[-1]


def _order(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return speakers(rules, s)


def _next(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    after = _place_of(rules, s, asked["x"]) + 1
    return speakers(rules, s)[after] if after < len(s.living) else NOBODY


def _before(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _place_of(rules, s, asked["x"]) < _place_of(rules, s, asked["y"])


def _directly_after(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _place_of(rules, s, asked["x"]) == _place_of(rules, s, asked["y"]) + 1


def _by_number(rules: Ruleset) -> bool:
    """Whether numbers alone give the order of speech: they alone would tell the answer."""
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


def _place(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _place_of(rules, s, asked["x"]) + 1


# -- the vote ---------------------------------------------------------------------------------------------


def vote(rules: Ruleset, s: GameSituation) -> Playout:
    """The vote and what those who leave do at once, as told; Impossible where something that is asked is not
    told.
    """
    played = playout(rules, s, "voting", "departure")
    if any(ask.phase in ("voting", "departure") and ask.seat != CHANCE for ask in played.unanswered):
        raise Impossible(f"{played.unanswered[0].id} is asked and not told")
    return played


def _ballot(rules: Ruleset, s: GameSituation) -> Playout:
    """The vote alone."""
    played = playout(rules, s, "voting")
    if any(ask.kind == "vote" for ask in played.unanswered):
        raise Impossible("not everybody's vote is told")
    return played


def _counted(rules: Ruleset, s: GameSituation) -> int | str:
    """Who is voted out, or nobody; Impossible where the lot decides."""
    for event in _ballot(rules, s).events:
        if isinstance(event, VoteCounted):
            return NOBODY if event.seat is None else event.seat
    raise Impossible("the lot decides")


def _voted_out(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _counted(rules, s)


def _out_by_vote(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _counted(rules, s) == asked["x"]


def _voted_for(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Whoever has votes, the others more rarely."""
    named = sorted({target for _, _, target in s.told if isinstance(target, int)})
    for x in {*rng.sample(named, min(3, len(named))), rng.choice(s.living)}:
        yield {"x": x}


def _may_go(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    played = _ballot(rules, s)
    lots = [ask for ask in played.unanswered if ask.kind == "tie"]
    if lots:
        return pick(int(asked["x"])) in (lots[0].options or ())
    return _counted(rules, s) == asked["x"]


def _votes_for(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    events = _ballot(rules, s).events
    return sum(isinstance(event, Voted) and event.target == asked["x"] for event in events)


def _may_vote_for(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return pick(int(asked["y"])) in _open_to(rules, s, int(asked["x"]))


def _may_vote(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return bool(_open_to(rules, s, int(asked["x"])))


def _ballots(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return sum(bool(_open_to(rules, s, seat)) for seat in range(s.players))


def _open_to(rules: Ruleset, s: GameSituation, seat: int) -> tuple[object, ...]:
    """What that seat may vote today, others' votes left aside; empty where it has no vote."""
    others = tuple(("vote", other, _some_vote(rules, other, s)) for other in s.living if other != seat)
    for ask, _ in playout(rules, s.but(told=others), "voting").asks:
        if ask.kind == "vote" and ask.seat == seat:
            return ask.options or ()
    return ()


def _some_vote(rules: Ruleset, seat: int, s: GameSituation) -> int | str:
    return "pass" if rules.may_abstain else only_first(other for other in s.living if other != seat)


def _any_two(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for _ in range(4):
        x = rng.choice(s.living)
        for y in {x, rng.randrange(s.players), *s.dead[:1]}:
            yield {"x": x, "y": y}


def _sees_vote(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    if rules.votes == "open" and not {*s.living} <= {*s.order}:
        raise Impossible("the order of the votes is not told")
    played = _ballot(rules, s)
    for ask, known in played.asks:
        if ask.kind == "vote" and ask.seat == asked["x"]:
            return any(isinstance(e, Voted) and e.voter == asked["y"] for e in played.events[:known])
    raise Impossible("x has no vote")


# -- what the vote brings ------------------------------------------------------------------------------------


def _over(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _winner(rules, s, asked) != "goes on"


def _winner(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    played = vote(rules, s)
    if any(ask.phase == "voting" for ask in played.unanswered):
        raise Impossible("the lot decides")
    return winner_of(played)


def _all_against(rules: Ruleset, s: GameSituation, x: int) -> GameSituation:
    """Everybody votes for x, who votes for somebody else; Impossible where that may be a tie."""
    if len(s.living) < 3:
        raise Impossible("there are too few votes")
    own: int | str = "pass" if rules.may_abstain else only_first(seat for seat in s.living if seat != x)
    return s.but(told=tuple(("vote", seat, own if seat == x else x) for seat in s.living))


def _over_if_out(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _over(rules, _all_against(rules, s, int(asked["x"])), asked)


def _winner_if_out(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return _winner(rules, _all_against(rules, s, int(asked["x"])), asked)


def _last_words(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    played = _ballot(rules, s)
    if any(ask.phase == "voting" for ask in played.unanswered):
        raise Impossible("the lot decides")
    return any(ask.kind == "last-words" and ask.seat == asked["x"] for ask, _ in played.asks)


def _may_shoot(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    played = _ballot(rules, s)
    if any(ask.phase == "voting" for ask in played.unanswered):
        raise Impossible("the lot decides")
    return may_shoot(s, asked, played)


def _where_hunters_are(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return _voted_for(rules, s, rng) if "Hunter" in s.roles else ()


KINDS = (
    QuestionKind(
        "speaks-first",
        "Who speaks first in today's discussion.",
        (
            "Who speaks first in today's discussion?",
            "Which player begins the discussion of this day?",
            "Who is the first to speak in the discussion phase?",
            "With whose statement does the discussion open?",
            "Name the player who has the first word today.",
        ),
        _first,
        nothing,
        FLOOR,
        "open",
        "player",
    ),
    QuestionKind(
        "speaks-last",
        "Who speaks last in today's discussion.",
        (
            "Who speaks last in today's discussion?",
            "Which player closes the discussion of this day?",
            "Who is the last to speak in the discussion phase?",
            "With whose statement does the discussion end?",
            "Name the player who has the final word of the discussion.",
        ),
        _last,
        nothing,
        FLOOR,
        "open",
        "player",
    ),
    QuestionKind(
        "speaks-next",
        "Who speaks directly after x today; nobody where x is the last.",
        (
            "Who speaks right after {x} today?",
            "Whose turn to speak comes directly after that of {x}?",
            "Which player follows {x} in the discussion?",
            "Once {x} has spoken, who is next?",
            "Name the player whose statement comes straight after that of {x}.",
        ),
        _next,
        living,
        FLOOR,
        "open",
        "player",
    ),
    QuestionKind(
        "speech-order",
        "Everybody who speaks today, in order.",
        (
            "In what order do the players speak today?",
            "What is the order of speech in the discussion of this day?",
            "List the speakers of this day, the first one first.",
            "Name the players in the order in which they speak.",
            "Who speaks today, one after another?",
        ),
        _order,
        nothing,
        FLOOR,
        "open",
        "order",
    ),
    QuestionKind(
        "speech-place",
        "As which number x speaks today (1 is the first).",
        (
            "As which number does {x} speak today? The first speaker has number 1.",
            "What place has {x} in the order of speech, counted from 1?",
            "Counting speakers from 1, which one is {x}?",
            "If the first speaker counts as 1, what is the number of {x}?",
            "Which place, 1 being the first, does {x} take among those who speak?",
        ),
        _place,
        living,
        FLOOR,
        "open",
        "number",
    ),
    QuestionKind(
        "speaks-before",
        "Whether x speaks at some time before y today.",
        (
            "Does {x} speak before {y} today?",
            "Is {x} heard earlier than {y} in the discussion?",
            "When {y} speaks, has {x} spoken already?",
            "Does the turn of {x} come before that of {y}?",
            "In the order of speech, is {x} ahead of {y}?",
        ),
        _before,
        _two_speakers,
        FLOOR,
        same_seats=True,
    ),
    QuestionKind(
        "speaks-directly-after",
        "Whether x speaks directly after y today.",
        (
            "Does {x} speak directly after {y} today?",
            "Is {x} the next to speak once {y} has spoken?",
            "Does {x} take the turn right behind {y}?",
            "Is the statement of {x} the one that comes straight after that of {y}?",
            "In the order of speech, does {x} come immediately after {y}?",
        ),
        _directly_after,
        _neighbours,
        FLOOR,
        same_seats=True,
    ),
    QuestionKind(
        "voted-out",
        "Who is voted out; nobody where the votes decide so. No question where the lot decides.",
        (
            "Who is out of the game by this vote?",
            "Whom do these votes put out of the game?",
            "Which player is eliminated by this vote, if any?",
            "What player leaves the game after these votes?",
            "Whom does the village vote out with these votes?",
        ),
        _voted_out,
        nothing,
        BALLOT,
        "open",
        "player",
    ),
    QuestionKind(
        "out-by-vote",
        "Whether x is voted out. No question where the lot decides.",
        (
            "Is {x} voted out?",
            "Do these votes put {x} out of the game?",
            "Is {x} the player who leaves after this vote?",
            "!Does {x} survive this vote?",
            "Is {x} eliminated by these votes?",
            "!Is {x} still in the game after this vote?",
        ),
        _out_by_vote,
        _voted_for,
        BALLOT,
    ),
    QuestionKind(
        "may-go-out",
        "Whether it is possible that x is voted out by these votes: for certain, or as one of those among "
        "whom the lot decides.",
        (
            "Is it possible that {x} is out after this vote?",
            "Can these votes, with a lot where the rules want one, put {x} out of the game?",
            "Could {x} be the one who leaves after these votes?",
            "!Is {x} safe from leaving by these votes?",
            "Is there a chance that {x} is eliminated by this vote?",
            "!Is it ruled out that {x} leaves after these votes?",
        ),
        _may_go,
        _voted_for,
        BALLOT,
    ),
    QuestionKind(
        "votes-for",
        "How many votes x has.",
        (
            "How many votes has {x}?",
            "How many players voted for {x}?",
            "What is the number of votes for {x}?",
            "Count the votes: how many name {x}?",
            "How many of these votes go to {x}?",
        ),
        _votes_for,
        _voted_for,
        BALLOT,
        "open",
        "number",
    ),
    QuestionKind(
        "may-vote-for",
        "Whether x may vote for y today (y may be dead, or x).",
        (
            "May {x} vote for {y} today?",
            "Do the rules allow {x} to give {y} a vote?",
            "Is {y} somebody for whom {x} can vote now?",
            "!Would a vote of {x} for {y} be against the rules?",
            "Can {x} legally vote to put {y} out?",
            "Is a vote of {x} for {y} allowed?",
        ),
        _may_vote_for,
        _any_two,
        TABLE,
    ),
    QuestionKind(
        "may-vote",
        "Whether x has a vote today.",
        (
            "May {x} vote today?",
            "Has {x} a vote in this voting phase?",
            "Does a vote of {x} count today?",
            "Is {x} asked for a vote on this day?",
            "Can {x} take part in the vote of this day?",
        ),
        _may_vote,
        seats,
        TABLE,
    ),
    QuestionKind(
        "ballots",
        "How many players have a vote today.",
        (
            "How many players may vote today?",
            "How many votes can be cast at most today?",
            "What is the number of players who are asked for a vote?",
            "How many players take part in the vote of this day?",
            "Counted by the rules, how many have a vote now?",
        ),
        _ballots,
        nothing,
        TABLE,
        "open",
        "number",
    ),
    QuestionKind(
        "sees-vote",
        "Whether x, when asked for a vote, has already been told how y voted.",
        (
            "When {x} votes, does {x} already know how {y} voted?",
            "Has the vote of {y} been made public before {x} votes?",
            "Does {x} hear the vote of {y} before giving a vote?",
            "Is the vote of {y} known to {x} at the time when {x} votes?",
            "Before {x} decides, has it been told how {y} voted?",
        ),
        _sees_vote,
        two_living,
        BALLOT,
        same_seats=True,
    ),
    QuestionKind(
        "over-after-vote",
        "Whether the game is over once the vote, and what follows at once from it, is settled. After the "
        "last round it is.",
        (
            "Is the game over after this vote?",
            "Does the game end with these votes?",
            "Has the game come to its end once this vote is counted?",
            "!Does another night follow after this vote?",
            "When the votes are counted, is the game finished?",
            "!Does the game go on after these votes?",
        ),
        _over,
        nothing,
        VOTE,
    ),
    QuestionKind(
        "winner-after-vote",
        "Who has won once the vote, and what follows at once from it, is settled.",
        (
            "How does the game stand after this vote?",
            "What follows from these votes for the game?",
            "Does this vote decide the game, and for whom?",
            "What do these votes mean for the game?",
            "Which of these is true once the votes are counted?",
        ),
        _winner,
        nothing,
        VOTE,
        "choice",
        options=winners,
    ),
    QuestionKind(
        "over-if-out",
        "Whether the game is over if all the others vote for x now.",
        (
            "Suppose all the others vote for {x} now. Is the game over then?",
            "If {x} is voted out by all the others, does the game end?",
            "Would the game be over once everybody else votes {x} out?",
            "!If everybody else votes {x} out, does the game go on?",
            "Does a vote of all the others for {x} end the game?",
            "!Is the game still open after all the others vote for {x}?",
        ),
        _over_if_out,
        living,
        BEFORE_VOTE,
    ),
    QuestionKind(
        "winner-if-out",
        "Who has won if all the others vote for x now.",
        (
            "Suppose all the others vote for {x} now. How does the game stand then?",
            "If {x} is voted out by all the others, what follows for the game?",
            "What happens to the game once everybody else votes {x} out?",
            "All the others vote for {x}: which of these is true then?",
            "What does it mean for the game if everybody else votes for {x}?",
        ),
        _winner_if_out,
        living,
        BEFORE_VOTE,
        "choice",
        options=winners,
    ),
    QuestionKind(
        "last-words",
        "Whether x says last words after this vote.",
        (
            "Does {x} say last words after this vote?",
            "Is {x} given last words now?",
            "After these votes, may {x} speak a last time to all?",
            "Do the rules give {x} last words after this vote?",
            "Is {x} heard once more before leaving the game today?",
        ),
        _last_words,
        _voted_for,
        BALLOT,
    ),
    QuestionKind(
        "may-shoot-after-vote",
        "Whether x may shoot somebody at once after this vote.",
        (
            "May {x} shoot somebody after this vote?",
            "Once the votes are counted, is {x} asked whether to shoot?",
            "Do the rules allow {x} a shot after this vote?",
            "Can {x} take somebody along by a shot now?",
            "Does the result of this vote give {x} a shot?",
        ),
        _may_shoot,
        _where_hunters_are,
        DrawnFrom("voting", ("voting",)),
    ),
)
