"""The Idiot: voted out it turns over its card and stays, without a vote; what comes after, and who knows."""

from __future__ import annotations

import random

import pytest

from rules_helpers import Game, of, one, uniform
from wolflab.env.vector import VectorLayout, encode, kinds
from wolflab.errors import RulesetError
from wolflab.rules import (
    EVERYONE,
    PASS,
    PRESETS,
    SILENCE,
    Departure,
    Event,
    Outcome,
    Reason,
    Returned,
    Revealed,
    Ruleset,
    Said,
    SheriffNamed,
    VoteCounted,
    VotesSet,
    Winner,
    facts_of,
    pick,
)
from wolflab.text.reading import Claim, claims_of, read_in

TEN = PRESETS["ten"]
SEATS = ["Werewolf"] * 3 + ["Villager"] * 3 + ["Seer", "Witch", "Hunter", "Idiot"]
WITCH, HUNTER, IDIOT = 7, 8, 9


def ten(**changes: object) -> Game:
    return Game(TEN.with_(discussion=False, **changes), SEATS)


def night(game: Game, victim: int | None = None, **others: dict[int, object]) -> tuple[Event, ...]:
    wolves = [s for s in game.alive() if game.state.roles[s].wolf]
    target = PASS if victim is None else pick(victim)
    return game.night(kill=dict.fromkeys(wolves, target), **others)  # type: ignore[arg-type]


def vote_out(game: Game, seat: int) -> tuple[Event, ...]:
    return game.day({voter: seat for voter in game.alive() if voter != seat})


def shown(**changes: object) -> Game:
    """A game whose Idiot was voted out on the first day."""
    game = ten(**changes)
    night(game)
    vote_out(game, IDIOT)
    return game


def test_voted_out_it_turns_over_its_card_and_stays() -> None:
    game = ten(reveal="always")
    night(game)
    events = vote_out(game, IDIOT)
    told = [event for event in events if isinstance(event, VoteCounted | Revealed | VotesSet)]
    assert told == [
        VoteCounted(None, (), EVERYONE),
        Revealed(IDIOT, "Idiot", EVERYONE),
        VotesSet(IDIOT, 0, EVERYONE),
    ]
    assert not of(events, Said)  # no last words
    for seat in range(10):
        facts = game.log.view(seat).facts
        assert (facts.roles[IDIOT], facts.votes[IDIOT], facts.left(IDIOT)) == ("Idiot", 0, None)


def test_it_is_asked_for_no_vote_any_more_and_speaks_on() -> None:
    game = Game(TEN, SEATS)
    night(game)
    vote_out(game, IDIOT)
    night(game)
    spoke = {ask.seat for ask, _ in game.trail if ask.kind == "statement" and ask.round == 1}
    while game.asks[0].kind == "statement":
        spoke -= {game.asks[0].seat}
        game.reply([SILENCE])
    assert not spoke
    assert [ask.seat for ask in game.asks] == [s for s in range(10) if s != IDIOT]
    assert all(pick(IDIOT) in (ask.options or ()) for ask in game.asks)


def test_the_second_time_it_leaves_with_last_words_and_its_card_is_not_shown_again() -> None:
    game = shown()
    night(game)
    events = vote_out(game, IDIOT)
    assert one(events, VoteCounted).seat == IDIOT
    assert one(events, Said).where == "last words"
    assert not of(events, Revealed)
    assert game.log.facts.left(IDIOT) == Departure(IDIOT, 2, "vote")


@pytest.mark.parametrize("shown_before", [False, True])
def test_killed_poisoned_or_shot_it_leaves_like_anybody(shown_before: bool) -> None:
    for way in ("kill", "poison", "shot"):
        game = shown() if shown_before else ten()
        events = (
            night(game, IDIOT)
            if way == "kill"
            else night(game, poison={WITCH: IDIOT} if way == "poison" else {})
        )
        if way == "shot":
            game.reply([pick(HUNTER) if ask.seat != HUNTER else PASS for ask in game.asks])
            game.reply([SILENCE])
            events = game.reply([pick(IDIOT)])
        assert IDIOT not in game.alive()
        assert not of(events, Revealed) + of(events, VotesSet) + of(events, Returned)


def test_the_lot_may_fall_on_it() -> None:
    game = ten(tie="random")
    night(game)
    events = game.day({0: IDIOT, IDIOT: 0}, tie=pick(IDIOT))
    assert one(events, VoteCounted) == VoteCounted(None, (), EVERYONE)
    assert one(events, Revealed).seat == IDIOT


def test_an_idiot_who_is_sheriff_keeps_the_office_until_it_leaves() -> None:
    for death in ("succession", "stop"):
        game = ten(sheriff="assigned", sheriff_role="Idiot", sheriff_death=death)
        game.reply([pick(IDIOT)])
        night(game)
        vote_out(game, IDIOT)
        assert game.log.facts.sheriff == IDIOT
        assert not game.over
        assert not of(night(game), SheriffNamed)
        vote_out(game, IDIOT)
        assert game.over == (death == "stop")


def test_with_its_card_open_it_still_counts_as_one_with_an_ability() -> None:
    game = shown()
    for victim in (6, WITCH, HUNTER):
        night(game, victim)
        game.play(lambda ask: PASS, lambda now: now.asks[0].phase == "night")
    assert not game.over
    night(game, IDIOT)
    assert game.state.outcome == Outcome(Winner.WEREWOLVES, Reason.ABILITIES_GONE)


def test_random_games_of_it_come_to_an_end() -> None:
    """With two Idiots, in secret and open votes; nobody without a vote is ever asked for one."""
    choose, stayed = uniform(random.Random(5)), 0
    for number in range(60):
        rules: Ruleset = TEN.with_(
            roles={**TEN.roles, "Idiot": 2},
            votes=("open", "secret")[number % 2],
            sheriff="elected",
            tie="random",
        )
        game = Game(rules)
        while not game.over:
            voteless = [
                seat for seat, votes in enumerate(facts_of(rules, game.log.events).votes) if not votes
            ]
            assert not [ask for ask in game.asks if ask.kind in ("vote", "elect") and ask.seat in voteless]
            game.reply([choose(ask) for ask in game.asks])
        cards = of(game.log.events, VotesSet)
        stayed += len(cards)
        assert len({event.seat for event in cards}) == len(cards)
    assert stayed > 20


def test_everybody_sees_in_the_vector_of_the_environment_that_it_is_shown_and_lives() -> None:
    layout, role = VectorLayout(TEN), list(TEN.roles).index("Idiot")
    before = ten()
    night(before)
    for game, known in ((before, 0), (shown(), 1)):
        for seat in range(9):
            vector = encode(game.log.view(seat), None, layout)
            assert layout.part(vector, "known role")[IDIOT, role] == known
            assert layout.part(vector, "alive")[IDIOT] == 1
    assert [name for name in PRESETS if "stay" in kinds(PRESETS[name])] == []


ABUSE = (
    "player_3 is an idiot, and I am the Seer.",
    "I am the Idiot.",
    "You idiot! player_2 claims to be the Idiot.",
    "As an idiot I trust player_4. Idiots vote for player_5.",
)


@pytest.mark.parametrize("name", PRESETS)
def test_its_name_is_read_as_a_role_in_games_that_have_it_alone(name: str) -> None:
    rules = PRESETS[name].with_(player_name="player_{}", first_player=1)
    for text in ABUSE:
        other = text.replace("Idiot", "Nitwit").replace("idiot", "nitwit")
        if name != "ten":
            assert read_in(rules, text, 0) == read_in(rules, other, 0)
    if name == "ten":
        assert claims_of(ABUSE[1], 0, rules) == ("Idiot",)
        assert Claim(1, "Idiot", False, 0) in read_in(rules, ABUSE[2], 0)
        assert claims_of("I am not the idiot here.", 0, rules) == ()


def test_its_name_is_free_for_other_roles_in_games_without_it() -> None:
    named = {"Villager": "idiot"}
    assert PRESETS["nine"].with_(role_names=named).role_names == named
    with pytest.raises(RulesetError, match="is what Idiot is called"):
        TEN.with_(role_names=named)
