"""The day, rule by rule: the order of speech, statements, votes, ties, last words, reveals."""

from __future__ import annotations

import pytest

from rules_helpers import Game, of, one, snapshot
from wolflab.errors import IllegalReply
from wolflab.rules import (
    CHANCE,
    DOCTOR,
    DUTIES,
    EVERYONE,
    NO,
    PASS,
    ROLES,
    SHERIFF,
    SILENCE,
    WITCH,
    YES,
    Ask,
    Outcome,
    Reason,
    Revealed,
    Role,
    Ruleset,
    Said,
    Say,
    Side,
    VoteCounted,
    Voted,
    Winner,
    pick,
)
from wolflab.rules.duties import Duty
from wolflab.rules.engine import step
from wolflab.text.asking.rules_text import rules_text

PLAIN = Ruleset(name="plain", roles={"Werewolf": 2, "Villager": 5}, wolves_may_pass=True, may_vote_self=True)
SEATS = ["Werewolf"] * 2 + ["Villager"] * 5


def quiet(**changes: object) -> Game:
    """A game in the morning after a night without deaths."""
    game = Game(PLAIN.with_(**changes), SEATS)
    while game.asks[0].kind == "speaker" and game.asks[0].round == 0:
        game.reply([game.asks[0].options[-1]])  # type: ignore[index]
    game.night(kill={0: PASS, 1: PASS})
    return game


def to_votes(game: Game) -> Game:
    """Go on, in silence, to the vote."""
    game.play(
        lambda ask: ask.options[0] if ask.options else SILENCE, until=lambda g: g.asks[0].kind == "vote"
    )
    return game


def speakers(game: Game) -> list[int]:
    """Today's speakers, in order."""
    said: list[int] = []
    while game.asks[0].kind != "vote":
        ask = game.asks[0]
        if ask.kind == "statement":
            said.append(ask.seat)
        game.reply([ask.options[-1] if ask.options else SILENCE])
    return said


# -- order of speech ------------------------------------------------------------------------


def test_ascending_order() -> None:
    assert speakers(quiet()) == [0, 1, 2, 3, 4, 5, 6]


def test_one_random_order_for_the_whole_game() -> None:
    """003: drawn once, reused daily without the dead."""
    game = Game(PLAIN.with_(speaking_order="random_game"), SEATS)
    drawn = (3, 1, 2, 6, 4, 0, 5)
    left = set(range(7))
    for seat in drawn:
        (ask,) = game.asks
        assert (ask.kind, ask.seat, ask.options) == ("speaker", CHANCE, tuple(map(pick, sorted(left))))
        assert ask.weights == (1,) * len(left)
        game.reply([pick(seat)])
        left.remove(seat)
    game.night()
    assert speakers(game) == list(drawn)
    game.day(dict.fromkeys(range(7), 2))
    game.night()
    assert speakers(game) == [s for s in drawn if s != 2]


def test_a_random_order_every_day() -> None:
    game = quiet(speaking_order="random_day")
    for seat in (6, 5, 4, 3, 2, 1, 0):
        assert (game.asks[0].kind, game.asks[0].round) == ("speaker", 1)
        game.reply([pick(seat)])
    assert speakers(game) == [6, 5, 4, 3, 2, 1, 0]
    game.day(dict.fromkeys(range(7), 6))
    game.night()
    assert game.asks[0].kind == "speaker"
    assert game.asks[0].options == tuple(map(pick, range(6)))


def test_the_last_speaker_is_still_drawn() -> None:
    """Chance is asked even where one option is left: the record then needs no special case."""
    game = quiet(speaking_order="random_day")
    for seat in range(6):
        game.reply([pick(seat)])
    assert game.asks[0].options == (pick(6),)


def test_no_discussion() -> None:
    assert [ask.kind for ask in quiet(discussion=False).asks] == ["vote"] * 7


def test_statements_are_public_and_heard_by_later_speakers() -> None:
    game = quiet()
    game.reply([Say("I saw nothing.")])
    assert Said(0, "discussion", "I saw nothing.", EVERYONE) in game.log.view(1).events
    game.reply([SILENCE])
    assert game.log.view(2).events[-1] == Said(1, "discussion", "", EVERYONE)


def test_a_statement_cannot_be_a_pick() -> None:
    with pytest.raises(IllegalReply):
        quiet().reply([pick(3)])


# -- votes ----------------------------------------------------------------------------------


def test_secret_votes_are_simultaneous_then_announced() -> None:
    game = to_votes(quiet())
    assert [ask.seat for ask in game.asks] == list(range(7))
    assert not of(game.log.view(3).events, Voted)
    events = game.reply([pick(2)] * 6 + [PASS])
    assert [(v.voter, v.target) for v in of(events, Voted)] == [(s, 2) for s in range(6)] + [(6, None)]
    assert all(v.audience == EVERYONE for v in of(events, Voted))


def test_open_votes_are_seen_by_those_who_vote_later() -> None:
    game = to_votes(quiet(votes="open"))
    for seat in range(7):
        assert [ask.seat for ask in game.asks] == [seat]
        assert [v.voter for v in of(game.log.view(seat).events, Voted)] == list(range(seat))
        game.reply([PASS])


def test_open_votes_follow_the_order_of_speech() -> None:
    game = Game(WITCH, ["Werewolf"] * 2 + ["Villager"] * 2 + ["Seer", "Guard", "Witch"])
    for seat in (6, 4, 2, 0, 1, 3, 5):
        game.reply([pick(seat)])
    game.night()
    events = game.day({})
    assert [v.voter for v in of(events, Voted)] == [6, 4, 2, 0, 1, 3, 5]


def test_open_and_secret_votes_count_alike() -> None:
    votes = {0: 2, 1: 3, 2: 3, 3: 2, 4: 2}
    for votes_are in ("secret", "open"):
        assert one(quiet(votes=votes_are).day(votes), VoteCounted).seat == 2


@pytest.mark.parametrize(("allowed", "own"), [(True, True), (False, False)])
def test_self_votes(allowed: bool, own: bool) -> None:
    game = to_votes(quiet(may_vote_self=allowed))
    for ask in game.asks:
        assert ask.options is not None
        assert (pick(ask.seat) in ask.options) is own


def test_abstaining_is_a_switch() -> None:
    assert all(PASS in ask.options for ask in to_votes(quiet()).asks if ask.options)
    assert not any(PASS in ask.options for ask in to_votes(quiet(may_abstain=False)).asks if ask.options)


@pytest.mark.parametrize(
    ("votes", "competes", "out"),
    [
        ({0: 3, 1: 3}, False, 3),  # two votes beat five abstentions
        ({0: 3, 1: 3}, True, None),  # 003: pass leads
        ({0: 3, 1: 3, 2: 3}, True, None),  # four pass
        ({0: 3, 1: 3, 2: 3, 4: 3}, True, 3),  # three pass
        ({0: 3, 1: 3, 2: 3, 4: 5}, True, None),  # three pass, three for 3: a tie with pass
        ({}, False, None),
        ({}, True, None),
    ],
)
def test_abstentions(votes: dict[int, int], competes: bool, out: int | None) -> None:
    counted = one(quiet(pass_competes=competes).day(votes), VoteCounted)
    assert (counted.seat, counted.tied) == (out, ())


def test_a_tie_eliminates_nobody() -> None:
    game = quiet()
    counted = one(game.day({0: 2, 1: 2, 2: 4, 3: 4, 4: 5}), VoteCounted)
    assert (counted.seat, counted.tied) == (None, (2, 4))
    assert game.alive() == tuple(range(7))


def tie_ask(game: Game, votes: dict[int, int]) -> Ask:
    to_votes(game)
    game.reply([pick(votes[ask.seat]) if ask.seat in votes else PASS for ask in game.asks])
    (ask,) = game.asks
    return ask


def test_a_random_tie_is_broken_by_chance() -> None:
    """004: uniform among the tied."""
    game = quiet(tie="random")
    ask = tie_ask(game, {0: 4, 1: 2, 2: 4, 3: 2, 5: 6})
    assert (ask.kind, ask.seat, ask.options, ask.weights) == ("tie", CHANCE, (pick(2), pick(4)), (1, 1))
    events = game.reply([pick(4)])
    assert one(events, VoteCounted) == VoteCounted(4, (2, 4), EVERYONE)
    assert 4 not in game.alive()


def test_the_same_replies_give_the_same_victim_at_a_tie() -> None:
    outs = []
    for _ in range(3):
        game = quiet(tie="random")
        tie_ask(game, {0: 4, 1: 2, 2: 4, 3: 2})
        outs.append(one(game.reply([pick(2)]), VoteCounted))
    assert outs == [VoteCounted(2, (2, 4), EVERYONE)] * 3


def test_random_tie_with_no_votes_eliminates_nobody() -> None:
    assert one(quiet(tie="random").day({}), VoteCounted) == VoteCounted(None, (), EVERYONE)


def test_random_tie_yields_to_a_pass_that_competes() -> None:
    assert one(quiet(tie="random", pass_competes=True).day({0: 2, 1: 3}), VoteCounted).seat is None
    game = quiet(tie="random", pass_competes=True)
    ask = tie_ask(game, {0: 4, 1: 4, 2: 4, 3: 2, 5: 2, 6: 2})
    assert ask.options == (pick(2), pick(4))


@pytest.mark.parametrize("bad", [pick(7), pick(-1), SILENCE, "player_3", None, 3])
def test_an_illegal_vote_is_refused_and_changes_nothing(bad: object) -> None:
    game = to_votes(quiet())
    before = snapshot(game.state)
    with pytest.raises(IllegalReply, match="1/vote/6"):
        step(game.state, [*[pick(2)] * 6, bad])  # type: ignore[list-item]
    assert snapshot(game.state) == before
    assert one(game.reply([pick(2)] * 7), VoteCounted).seat == 2


def test_a_missing_reply_is_refused() -> None:
    game = to_votes(quiet())
    with pytest.raises(IllegalReply, match="6 replies to 7 asks"):
        step(game.state, [pick(2)] * 6)


def test_a_vote_for_the_dead_is_refused() -> None:
    game = quiet()
    game.day(dict.fromkeys(range(7), 3))
    game.night()
    to_votes(game)
    with pytest.raises(IllegalReply):
        game.reply([pick(3)] * 6)


# -- leaving --------------------------------------------------------------------------------


def test_last_words_before_leaving() -> None:
    """003: the player voted out speaks once more, publicly, and is then gone; nobody is revealed."""
    game = to_votes(quiet(last_words="voted_out"))
    game.reply([pick(3)] * 7)
    assert game.kinds() == [("last-words", 3)]
    assert 3 in game.alive()
    events = game.reply([Say("It was not me.")])
    assert one(events, Said) == Said(3, "last words", "It was not me.", EVERYONE)
    assert 3 not in game.alive()
    assert not of(game.log.events, Revealed)


def test_no_last_words_for_nobody_and_none_at_night() -> None:
    game = quiet(last_words="voted_out")
    game.day({})
    assert "last-words" not in {ask.kind for ask, _ in game.trail}
    game.night(kill={0: 3, 1: 3})
    assert "last-words" not in {ask.kind for ask, _ in game.trail}


def test_last_words_come_even_from_the_player_whose_exit_ends_the_game() -> None:
    game = quiet(last_words="voted_out")
    game.day(dict.fromkeys(range(7), 0))
    game.night(kill={1: PASS})
    game.day(dict.fromkeys(range(7), 1), **{"last-words": Say("Well played.")})
    assert game.over
    assert game.trail[-1][0].kind == "last-words"


@pytest.mark.parametrize(
    ("reveal", "shown"), [("never", []), ("first_night", []), ("always", [(3, "Villager")])]
)
def test_reveal_of_the_player_voted_out(reveal: str, shown: list[tuple[int, str]]) -> None:
    events = quiet(reveal=reveal).day(dict.fromkeys(range(7), 3))
    assert [(e.seat, e.role) for e in of(events, Revealed)] == shown


# -- endings --------------------------------------------------------------------------------


def outcome(game: Game) -> tuple[Winner, Reason]:
    assert game.state.outcome is not None
    return game.state.outcome.winner, game.state.outcome.reason


def test_village_wins_when_the_last_werewolf_is_voted_out() -> None:
    game = quiet()
    game.day(dict.fromkeys(range(7), 0))
    game.night()
    game.day(dict.fromkeys(range(7), 1))
    assert outcome(game) == (Winner.VILLAGE, Reason.WEREWOLVES_GONE)
    assert game.asks == ()


def test_parity_is_tested_after_the_night_and_after_the_vote() -> None:
    game = quiet()
    for victim in (2, 3):
        game.day({})
        game.night(kill={0: victim, 1: victim})
        assert not game.over
    game.day(dict.fromkeys(range(7), 4))
    assert outcome(game) == (Winner.WEREWOLVES, Reason.PARITY)
    game = quiet()
    game.day(dict.fromkeys(range(7), 2))
    game.night(kill={0: 3, 1: 3})
    game.day({})
    game.night(kill={0: 4, 1: 4})
    assert outcome(game) == (Winner.WEREWOLVES, Reason.PARITY)
    assert game.alive() == (0, 1, 5, 6)


def test_more_wolves_than_others_is_parity_too() -> None:
    """Two deaths in one night may jump over equality."""
    roles = ["Werewolf", "Werewolf", "Witch", "Villager", "Villager"]
    rules = PLAIN.with_(roles={"Werewolf": 2, "Witch": 1, "Villager": 2})
    game = Game(rules, roles)
    game.night(kill={0: 3, 1: 3}, antidote={2: NO}, poison={2: 4})
    assert game.alive() == (0, 1, 2)
    assert outcome(game) == (Winner.WEREWOLVES, Reason.PARITY)


WITCH_SEATS = ["Werewolf", "Werewolf", "Villager", "Villager", "Seer", "Guard", "Witch"]


def witch(**changes: object) -> Game:
    return Game(WITCH.with_(**{"speaking_order": "ascending", **changes}), WITCH_SEATS)


def test_wolves_win_when_no_villager_is_left_whatever_else_lives() -> None:
    """003: parity is irrelevant; two dead Villagers are enough with five alive."""
    game = witch()
    game.night(kill={0: 2, 1: 2}, antidote={6: NO}, poison={6: 3})
    assert game.alive() == (0, 1, 4, 5, 6)
    assert outcome(game) == (Winner.WEREWOLVES, Reason.VILLAGERS_GONE)


def test_parity_does_not_end_a_game_that_counts_villagers() -> None:
    game = witch()
    game.night(kill={0: 4, 1: 4}, antidote={6: NO}, poison={6: 5})
    game.day(dict.fromkeys(range(7), 6))
    assert not game.over
    assert game.alive() == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("switch", "winner", "reason"),
    [
        ("village", Winner.VILLAGE, Reason.WEREWOLVES_GONE),
        ("werewolves", Winner.WEREWOLVES, Reason.VILLAGERS_GONE),
    ],
)
def test_last_wolf_and_last_villager_together(switch: str, winner: Winner, reason: Reason) -> None:
    game = witch(last_wolf_and_villager=switch)
    game.night(kill={0: PASS, 1: PASS})
    game.day(dict.fromkeys(range(7), 0))
    game.night(kill={1: PASS})
    game.day(dict.fromkeys(range(7), 2))
    game.night(kill={1: 3}, antidote={6: NO}, poison={6: 1})
    assert game.alive() == (4, 5, 6)
    assert outcome(game) == (winner, reason)


def test_village_wins_with_a_villager_alive_whatever_that_switch_says() -> None:
    game = witch(last_wolf_and_villager="werewolves")
    for wolf in (0, 1):
        game.night(kill={w: PASS for w in (0, 1) if w >= wolf})
        game.day(dict.fromkeys(range(7), wolf))
    assert outcome(game) == (Winner.VILLAGE, Reason.WEREWOLVES_GONE)


def test_no_others_needs_every_other_player_gone() -> None:
    game = Game(PLAIN.with_(wolves_win="no_others"), SEATS)
    for victim in (2, 3, 4, 5, 6):
        assert not game.over
        game.night(kill={0: victim, 1: victim})
        if not game.over:
            game.day({})
    assert outcome(game) == (Winner.WEREWOLVES, Reason.OTHERS_GONE)
    assert game.alive() == (0, 1)


def test_round_limit() -> None:
    game = Game(PLAIN.with_(max_rounds=2), SEATS)
    for _ in range(2):
        assert not game.over
        game.night(kill={0: PASS, 1: PASS})
        game.day({})
    assert outcome(game) == (Winner.NOBODY, Reason.ROUND_LIMIT)


def test_a_win_at_the_last_vote_is_a_win_and_not_the_limit() -> None:
    game = Game(
        PLAIN.with_(max_rounds=1, roles={"Werewolf": 1, "Villager": 6}), ["Werewolf"] + ["Villager"] * 6
    )
    game.night(kill={0: PASS})
    game.day(dict.fromkeys(range(7), 0))
    assert outcome(game) == (Winner.VILLAGE, Reason.WEREWOLVES_GONE)


def person(seat: int, **changes: object) -> Game:
    """A quiet game that stops without that seat's player."""
    return quiet(stops_without=f"player_{seat + 1}", **changes)


def test_the_game_stops_when_the_player_named_for_it_is_voted_out() -> None:
    """002's human evaluation: at once when the person is eliminated, and nobody has won."""
    game = person(3)
    game.day(dict.fromkeys(range(7), 2))
    assert not game.over
    game.night(kill={0: PASS, 1: PASS})
    game.day(dict.fromkeys(range(7), 3))
    assert outcome(game) == (Winner.NOBODY, Reason.PLAYER_LEFT)
    assert game.state.round == 2


def test_the_game_stops_before_the_day_when_that_player_is_killed() -> None:
    game = person(3)
    game.day({})
    game.night(kill={0: 3, 1: 3})
    assert outcome(game) == (Winner.NOBODY, Reason.PLAYER_LEFT)
    assert game.state.round == 2


@pytest.mark.parametrize(
    ("seat", "gone", "ends"),
    [
        (1, (0, 1), (Winner.VILLAGE, Reason.WEREWOLVES_GONE)),
        (4, (2, 3, 4), (Winner.WEREWOLVES, Reason.PARITY)),
    ],
)
def test_a_win_at_that_moment_is_a_win(seat: int, gone: tuple[int, ...], ends: tuple[Winner, Reason]) -> None:
    game = person(seat)
    for out in gone:
        assert not game.over
        if game.state.round > 1 or game.asks[0].phase == "night":
            game.night(kill=dict.fromkeys([s for s in (0, 1) if s in game.alive()], PASS))
        game.day(dict.fromkeys(range(7), out))
    assert outcome(game) == ends


def test_the_last_words_come_before_the_stop() -> None:
    game = person(3, last_words="voted_out")
    events = game.day(dict.fromkeys(range(7), 3))
    assert [event.where for event in of(events, Said)][-1] == "last words"
    assert outcome(game) == (Winner.NOBODY, Reason.PLAYER_LEFT)


def test_only_a_void_game_is_void() -> None:
    assert Outcome(Winner.NOBODY, Reason.VOID).void
    assert not any(Outcome(Winner.NOBODY, reason).void for reason in Reason if reason is not Reason.VOID)


@pytest.mark.parametrize(("rules", "limit"), [(SHERIFF, 6), (WITCH, 12), (DOCTOR, 10)])
def test_the_presets_limits(rules: Ruleset, limit: int) -> None:
    assert rules.max_rounds == limit


# -- who has a vote -------------------------------------------------------------------------


def with_votes(counts: dict[int, int], **changes: object) -> Game:
    """A game at its last statement, in which these seats' votes count so often."""
    game = quiet(**changes)
    for _ in range(6):
        game.reply([SILENCE])
    game.state = game.state.copy()
    game.log.extend([game.state.set_votes(seat, n) for seat, n in counts.items()])
    return game


def test_who_has_no_vote_is_not_asked_and_can_be_voted_out() -> None:
    game = with_votes({2: 0, 5: 0})
    game.reply([SILENCE])
    assert [ask.seat for ask in game.asks] == [0, 1, 3, 4, 6]
    assert game.log.facts.voters == (0, 1, 3, 4, 6)
    assert one(game.day(dict.fromkeys((0, 1, 3), 2)), VoteCounted).seat == 2
    assert game.log.facts.votes[2] == 0


@pytest.mark.parametrize("votes", ["secret", "open"])
def test_a_vote_may_count_several_times_and_so_may_a_pass(votes: str) -> None:
    game = with_votes({6: 3}, votes=votes)
    game.reply([SILENCE])
    assert one(game.day({0: 2, 1: 2, 6: 3}), VoteCounted).seat == 3
    game = with_votes({6: 3}, votes=votes, pass_competes=True)
    game.reply([SILENCE])
    assert one(game.day(dict.fromkeys(range(4), 2)), VoteCounted).seat is None


@pytest.mark.parametrize("votes", ["secret", "open"])
def test_where_nobody_has_a_vote_nobody_is_voted_out(votes: str) -> None:
    game = with_votes(dict.fromkeys(range(7), 0), votes=votes)
    events = game.reply([SILENCE])
    assert one(events, VoteCounted).seat is None
    assert game.state.round == 2


def test_who_is_back_after_the_order_was_fixed_votes_last_in_an_open_vote() -> None:
    game = with_votes({}, votes="open")
    game.state.alive &= ~(1 << 1)
    game.state.order = (0, 2, 3, 4, 5, 6)
    game.log.extend([game.state.bring_back(1)])
    game.reply([SILENCE])
    asked = []
    while game.asks[0].kind == "vote":
        asked.append(game.asks[0].seat)
        game.reply([PASS])
    assert asked == [0, 2, 3, 4, 5, 6, 1]


@pytest.mark.parametrize("votes", ["secret", "open"])
def test_a_duty_at_the_vote_keeps_its_holder_in_the_game(votes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A martyr stays the first time. Nobody is asked whether it does, and it says no last words."""
    duty = Duty(
        "linger",
        "linger",
        "lingered",
        lambda state, seat: () if (seat, "lingered") in state.memory else (YES, NO),
        lambda state, seat, action: state.remember(seat, "lingered", action) or (),  # type: ignore[func-returns-value]
        when="voted_out",
    )
    martyr = Role("Martyr", "Martyrs", Side.VILLAGE, lambda rules: "a Martyr stays once", (duty,))
    monkeypatch.setitem(ROLES, "Martyr", martyr)
    monkeypatch.setitem(DUTIES, "linger", duty)
    rules = PLAIN.with_(
        name=f"martyrs, {votes}",
        roles={"Werewolf": 2, "Villager": 3, "Martyr": 2},
        votes=votes,
        last_words="voted_out",
        discussion=False,
        reveal="always",
    )
    game = Game(rules, [*SEATS[:5], "Martyr", "Martyr"])
    for times in (1, 2):
        game.night(kill={0: PASS, 1: PASS})
        events = game.day(dict.fromkeys(game.alive(), 5))
        assert game.state.memory[5, "lingered"] == YES
        assert one(events, VoteCounted).seat == (None, 5)[times - 1]
        assert len(of(events, Said)) == len(of(events, Revealed)) == times - 1
        assert (5 in game.alive()) == (times == 1)
    assert "unless that player's card says otherwise" in rules_text(rules)
    assert "but for any without a vote" in rules_text(rules)
