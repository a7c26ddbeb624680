"""What a policy reads: the observation in words, and each candidate, without what would blur vectors."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marks import examples
from rules_helpers import rulesets
from test_text_prompts import FALSE, NOW, SPEAK, TRUE, VOTE
from text_helpers import ask, others, situations
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    LEFT,
    NO,
    PASS,
    RIGHT,
    YES,
    DayBroke,
    Dealt,
    Learned,
    Said,
    Voted,
    pick,
)
from wolflab.text.asking import candidates
from wolflab.text.asking.candidates import candidate_text, observation_text
from wolflab.text.asking.options import labels
from wolflab.text.intents import intent_in_words, intents
from wolflab.text.notes import UNCERTAIN, Belief, Candidate
from wolflab.text.questions import Line, Situation, guessable

KILL = ask("kill", (pick(1), pick(3), pick(4), PASS))
BELIEFS = (
    Belief(3, "Seer", 8, 8, (6,), "It claims to be the Seer (7), by lines 6 and 7."),
    Belief(4, "Werewolf", 6, 5),
)


def said(action: str, one: Any = VOTE, why: str = "") -> str:
    return candidate_text(Candidate(action, why), one, DOCTOR)


# -- candidates -------------------------------------------------------------------------------------


def test_every_action_of_every_kind_has_words_of_its_own() -> None:
    kinds = [
        VOTE,
        KILL,
        ask("see", KILL.options),
        ask("save", KILL.options),
        ask("poison", KILL.options),
        ask("antidote", (YES, NO)),
        ask("lead", (LEFT, RIGHT)),
        ask("elect", VOTE.options, phase="election"),
    ]
    texts = [(one.kind, said(words, one)) for one in kinds for words in labels(one, DOCTOR)]
    votes = [text for kind, text in texts if kind == "vote"]
    rest = [text for kind, text in texts if kind not in ("vote", "elect")]
    assert len({*votes, *rest}) == len(votes) + len(rest)
    assert said("pass", KILL) == "kill: pass"
    assert said("kill player_3", KILL) == "kill player_3"
    assert said("do not vote") == "do not vote"


def test_a_statement_is_told_as_one() -> None:
    assert said("I trust player_3.", SPEAK, "It helps.") == 'It helps. say: "I trust player_3."'
    assert said("", SPEAK) == "say nothing"


def test_an_intent_has_the_kind_of_its_ask() -> None:
    every = [intent_in_words(one, DOCTOR) for one in intents(DOCTOR)]
    texts = {said(one, ask_) for one in every for ask_ in (VOTE, KILL, SPEAK)}
    assert len(texts) == 3 * len(every)
    assert said("target player_3", KILL) == "kill: target player_3"


@pytest.mark.parametrize(
    ("cited", "plain"),
    [
        ("It lies (12).", "It lies."),
        ("It lies (3, 12), and player_3 too.", "It lies, and player_3 too."),
        ("It lies [3 and 4].", "It lies."),
        ("By lines 4 and 7, it lies.", "By, it lies."),
        ("Lines 12 and 15 weigh most for Player 3.", "weigh most for Player 3."),
        ("By evidence 4, 7 it lies.", "By it lies."),
        ("Player 3 and 4 lie, 2 of 7 are left.", "Player 3 and 4 lie, 2 of 7 are left."),
        ("On day 2, players 3, 5 and 7 spoke.", "On day 2, players 3, 5 and 7 spoke."),
    ],
)
def test_numbers_of_lines_are_left_out(cited: str, plain: str) -> None:
    assert said("do not vote", VOTE, cited) == f"{plain} do not vote"


# -- the observation ----------------------------------------------------------------------------------


def test_the_observation_whole() -> None:
    votes = (
        Line(9, 1, "day", Voted(0, 4, "eliminate", EVERYONE), 8),
        Line(10, 1, "day", Voted(1, None, "eliminate", EVERYONE), 9),
        Line(11, 1, "day", Voted(3, 4, "eliminate", EVERYONE), 10),
    )
    today = Line(12, 2, "day", DayBroke(2, (1,), EVERYONE), 11)
    now = replace(NOW, round=2, facts=(*NOW.facts, *votes, today))
    assert observation_text(now, BELIEFS).splitlines() == [
        "player_4 is likely to be a Seer.",
        "player_5 may be a Werewolf.",
        "Round 2:",
        "Day 2 announcement: player_2 was killed.",
        "Round 1:",
        "Night: You chose to kill player_3.",
        "Day 1 announcement: player_3 was killed.",
        "after discussion and a vote, player_4 was selected as the Sheriff, who can determine the order of "
        "statements, summarize the discussion, and provide advice for voting at last.",
        'Credible: player_2 said: "player_7 is odd."',
        'Doubtful: player_4 said: "I am the Seer."',
        'player_5 said: "So am I."',
        "Votes: you and player_4 for player_5; player_2 for nobody.",
        "You are player_1. You are a Werewolf.",
        "Your teammate is player_7.",
        "It claims to be the Seer, by.",
    ]


def test_votes_of_another_game_that_end_alike_are_told_as_they_are() -> None:
    """Equal events are the same objects in all games of a process."""
    last = Voted(3, 4, "eliminate", EVERYONE)

    def told(first: int) -> str:
        votes = (
            Line(9, 1, "day", Voted(1, first, "eliminate", EVERYONE), 8),
            Line(10, 1, "day", last, 9),
        )
        now = replace(NOW, facts=votes, truths=(), falsehoods=(), pending=())
        return next(line for line in observation_text(now, ()).splitlines() if line.startswith("Votes"))

    assert told(5) == "Votes: player_2 for player_6; player_4 for player_5."
    assert told(6) == "Votes: player_2 for player_7; player_4 for player_5."


def test_the_votes_for_a_sheriff_stand_apart() -> None:
    votes = tuple(
        Line(n, 1, "election" if n < 4 else "day", Voted(n, 5, what, EVERYONE), n)
        for n, what in enumerate(["elect", "elect", "elect", "elect", "eliminate"], 1)
    )
    text = observation_text(replace(NOW, facts=votes[2:], truths=(), falsehoods=(), pending=()), ())
    assert text.splitlines() == [
        "Round 1:",
        "Votes for a Sheriff: player_4 and player_5 for player_6.",
        "Votes: player_6 for player_6.",
    ]


def test_what_a_seer_saw_is_confirmed() -> None:
    seen = (
        Line(2, 1, "night", Learned(0, 3, "Werewolf", 1), 1),
        Line(3, 1, "night", Learned(0, 4, "not a Werewolf", 1), 2),
    )
    now = replace(NOW, role="Seer", pack=(), facts=(Line(1, 0, "setup", Dealt(0, "Seer", 1), 0), *seen))
    beliefs = (Belief(3, "Werewolf", 10, 1), Belief(4, UNCERTAIN, 5, 6), Belief(5, UNCERTAIN, 5, 6))
    assert observation_text(now, beliefs).splitlines()[:3] == [
        "player_4 is confirmed to be a Werewolf.",
        "player_5 is confirmed to be not a Werewolf.",
        "player_6 is uncertain.",
    ]
    told = observation_text(now, (Belief(4, "Guard", 8, 8),)).splitlines()[0]
    assert told == "player_5 is confirmed to be not a Werewolf and is likely to be a Guard."


@examples(30)
@given(rulesets(), st.integers(0, 99), st.data())
def test_numbers_and_caches_change_nothing(rules: Any, seed: int, data: st.DataObject) -> None:
    """However lines are numbered, and whatever was told before: the same words, each statement once."""
    one, now = data.draw(st.sampled_from(list(situations(rules, seed, split=1))))
    beliefs = tuple(
        Belief(seat, data.draw(st.sampled_from(guessable(rules))), 7, 7) for seat in others(now)[:3]
    )
    text = observation_text(now, beliefs)
    assert observation_text(renumbered(now, 3), beliefs) == text
    candidates._SENTENCES.clear()
    assert observation_text(now, beliefs) == text
    assert not re.search(r"[\[(]\d+[\])]|^\s*$", text)
    lines = text.splitlines()
    for line in chain(now.truths, now.falsehoods, now.pending):
        assert isinstance(line.event, Said)
        if line.event.text:
            assert any(line.event.text in each for each in lines)
    for action in labels(one, rules):
        assert candidate_text(Candidate(action), one, rules)


def renumbered(now: Situation, by: int) -> Situation:
    blocks = {
        name: tuple(msgspec.structs.replace(line, number=line.number * by) for line in getattr(now, name))
        for name in ("facts", "truths", "falsehoods", "pending")
    }
    return replace(now, **blocks)


def test_what_is_believed_shows() -> None:
    told = {
        observation_text(now, beliefs)
        for now in (NOW, replace(NOW, truths=FALSE, falsehoods=TRUE), replace(NOW, seat=6))
        for beliefs in ((), BELIEFS, BELIEFS[1:], (replace_(BELIEFS[0], role="Guard"),))
    }
    assert len(told) == 12


def replace_(belief: Belief, **changes: Any) -> Belief:
    return Belief(**{name: getattr(belief, name) for name in Belief.__struct_fields__} | changes)
