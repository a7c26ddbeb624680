"""What the Atomic agent copies: the deduction-only agent's games, with the intent that each action was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from policy_helpers import DIMENSIONS, checkpoint
from wolflab.agents.language import LanguageAgent
from wolflab.agents.policy.checkpoint import NumpyPolicy
from wolflab.agents.policy.network import small
from wolflab.agents.policy.policy import Policy
from wolflab.agents.recipes import recipe
from wolflab.lab.training.cloning_agent import CloningAgent, intent_of
from wolflab.lab.training.games import LockstepEmbedder
from wolflab.match import Draws, Match, Player, play, run_now
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.models.village import Village
from wolflab.policy.rollout import FirstCandidate, Member, play_episodes
from wolflab.policy.settings import Population
from wolflab.record import Turn
from wolflab.rules import DOCTOR, NO, PASS, WITCH, YES, Action, Ask, Event, Log, Pick, Ruleset, Say
from wolflab.text.intents import HIDE, IDLE, Intent, intents
from wolflab.text.kinds import KINDS

VOTE = Ask("1/vote/2", 2, "vote", "voting", 1, (Pick(0), Pick(1), PASS))
SPEAK = Ask("1/statement/2", 2, "statement", "discussion", 1, None)


class Class:
    """A table at which everybody is taught."""

    def __init__(self) -> None:
        self.model, self.embedder = Village(), LockstepEmbedder(HashingEmbedder(DIMENSIONS))

    def learner(self, policy: Policy) -> Player:
        return Player(CloningAgent(recipe("atomic"), policy), self.model, {"policy": self.embedder})

    def fixed(self, member: Member) -> Player:
        raise AssertionError(member)


def test_a_taught_table_plays_the_deduction_only_agents_games() -> None:
    keys = [f"lesson/{number}" for number in range(4)]
    policy = NumpyPolicy(checkpoint(candidates=13))
    pupils = Class()
    found, ended = play_episodes(
        DOCTOR, pupils, FirstCandidate(), policy.lay_out, Population(learners="all"), (), keys
    )
    assert found is not None
    alone = Player(LanguageAgent(recipe("deductive-004")), pupils.model)
    for key, one in zip(keys, ended, strict=True):
        draws = Draws(key), Draws(f"{key}/0")
        played = run_now(play(Match(DOCTOR, lambda dealing: [alone] * 7, *draws, {}, write=False)))
        assert (played.outcome.winner.value == "village") is one.village
    assert set(found.kind) == set(range(len(KINDS)))
    assert (found.log_p == 0).all()
    assert found.mask[np.arange(len(found.action)), found.action].all()
    # Votes and night actions are for somebody: the candidate taken is not the same each time.
    for kind in range(len(KINDS)):
        assert len(set(found.action[found.kind == kind].tolist())) > 2


@pytest.mark.parametrize(
    ("action", "intent"),
    [(Pick(1), Intent("target", seat=1)), (PASS, IDLE), (NO, None)],
    ids=["a target", "passing", "what no intent means"],
)
def test_an_option_as_an_intent(action: Action, intent: Intent | None) -> None:
    assert intent_of(action, VOTE, DOCTOR) == intent


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("", IDLE),
        ("I am the Seer. player_4 is a Werewolf. Let us vote for player_4.", Intent("claim", role="Seer")),
        ("Last night I checked player_4: a Werewolf.", Intent("claim", role="Seer")),
        ("I am sure that player_5 is a Werewolf.", Intent("target", seat=5)),
        ("I suspect player_3 a little, but let us vote for player_6.", Intent("target", seat=6)),
        ("I trust player_1.", HIDE),
        ("player_1 says that they are the Doctor.", HIDE),
        ("I am not the Seer.", HIDE),
        ("player_1 said that player_3 is a Werewolf.", HIDE),
        ("player_4 suspects player_3. I trust player_3.", HIDE),
    ],
)
def test_a_statement_as_an_intent(text: str, intent: Intent) -> None:
    assert intent_of(Say(text), SPEAK, DOCTOR) == intent


def test_where_no_intent_means_an_answer_it_is_given_without_a_policy() -> None:
    """The Witch's antidote is a yes or no."""
    sizes = {"candidates": len(intents(WITCH)), "network": small(DIMENSIONS, capacity=WITCH.players)}
    policy = NumpyPolicy(checkpoint(**sizes))
    seat = Player(
        LanguageAgent(recipe("atomic"), policy=policy), Village(), {"policy": HashingEmbedder(DIMENSIONS)}
    )
    answers = []

    def watch(events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        answers.extend(turn.action for turn in turns if turn.ask.kind == "antidote")

    for number in range(6):
        draws = Draws(f"witch/{number}"), Draws(f"witch/{number}/0")
        match = Match(WITCH, lambda dealing: [seat] * WITCH.players, *draws, {}, write=False, watch=watch)
        run_now(play(match))
    assert answers
    assert set(answers) <= {YES, NO}


@pytest.mark.parametrize(
    ("text", "ruleset", "role"),
    [
        ("I used my antidote on player_1.", WITCH, "Witch"),
        ("I poisoned player_1 last night.", WITCH, "Witch"),
        ("I protected player_1 last night.", WITCH, "Guard"),
        ("I protected player_1 last night.", DOCTOR, "Doctor"),
        ("I checked player_1 last night: a Werewolf.", WITCH, "Seer"),
    ],
)
def test_a_report_is_a_claim_of_the_role_whose_duty_it_is(text: str, ruleset: Ruleset, role: str) -> None:
    assert intent_of(Say(text), SPEAK, ruleset) == Intent("claim", role=role)
