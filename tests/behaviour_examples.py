"""What each detector must see, and what it must not: one table for the documentation and for the tests.

Every example is set in the same small game, `SCENE`. In it one player, on one day, says a sentence (or
casts a vote, or shields somebody) in place of what the scene has them do. The two of an example differ in
little, so that they show where the line runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

ExampleAct = Literal["says", "votes", "shields"]


@dataclass(frozen=True, slots=True)
class Example:
    """One line drawn. player: number at the table (from 1). shows, spares: the sentence, or whom the vote or
    the shield goes to ("nobody" for no vote)."""

    behaviour: str
    player: int
    day: int
    shows: str
    spares: str
    act: ExampleAct = "says"


@dataclass(frozen=True, slots=True)
class ExampleGame:
    """A game of two days with open facts, seven players in order of speech. Votes: voter → target.

    says: (day, player) → statement; who is not listed says nothing. "nobody" dies in night 1, since the
    Guard shields the victim.
    """

    roles: tuple[str, ...]
    kills: tuple[int, int]
    shields: tuple[int, int]
    checks: tuple[int, int]
    says: Mapping[tuple[int, int], str]
    votes: tuple[Mapping[int, int], Mapping[int, int]]


SCENE = ExampleGame(
    roles=("Werewolf", "Villager", "Seer", "Villager", "Guard", "Villager", "Werewolf"),
    kills=(5, 6),
    shields=(5, 2),
    checks=(1, 2),
    says=MappingProxyType(
        {
            (1, 1): "Good morning, everyone.",
            (1, 2): "I suspect player_7.",
            (1, 3): "I have little to go on yet.",
            (1, 5): "Let us think before we act.",
            (1, 6): "I think player_4 is a Werewolf.",
            (1, 7): "Good day to you all.",
            (2, 1): "This is a sad morning.",
            (2, 2): "I still suspect player_7.",
            (2, 3): "I am the Seer, and I checked player_1: player_1 is a Werewolf.",
            (2, 5): "Let us stay calm.",
            (2, 7): "I have nothing to add.",
        }
    ),
    votes=(
        MappingProxyType({2: 7, 6: 4, 1: 4, 7: 4}),
        MappingProxyType({3: 1}),
    ),
)
"""player_1 and player_7 are the Werewolves, player_3 the Seer, player_5 the Guard. player_4 is silent on
day 1 and voted out; player_6 dies in night 2."""

EXAMPLES: tuple[Example, ...] = (
    Example("trust", 5, 1, "player_2 is on our side.", "player_2 might be innocent."),
    Example(
        "trust", 5, 1,
        "I agree with player_2. I think that player_7 is a Werewolf.",
        "I agree with player_2.",
    ),
    Example("trust", 5, 2, "I trust player_3 and believe the check.", "I heard what player_3 had to say."),
    Example("confrontation", 3, 1, "player_1 is a Werewolf.", "player_1 spoke first today."),
    Example("confrontation", 3, 1, "player_1", "nobody", "votes"),
    Example("camouflage", 7, 1, "As a Villager, I have nothing to share.", "I have nothing to share now."),
    Example(
        "camouflage", 3, 1,
        "I am just a Villager.",
        "I would rather not tell you what I am.",
    ),
    Example(
        "camouflage", 7, 2,
        "I am sure that player_2 is a Werewolf, because player_2 voted for player_6 yesterday.",
        "I am sure that player_2 is a Werewolf, because player_2 voted for player_7 yesterday.",
    ),
    Example("leadership", 5, 2, "Let's all vote for player_1.", "I will vote for player_1."),
    Example("leadership", 7, 1, "Can the Seer tell us more?", "Can anybody tell us more?"),
    Example(
        "concealment", 3, 1,
        "Let us watch who is too eager to accuse.",
        "I am the Seer. Let us watch who is too eager to accuse.",
    ),
    Example("concealment", 1, 1, "nobody", "player_4", "votes"),
    Example("cooperation", 2, 2, "player_1", "player_5", "votes"),
    Example("cooperation", 7, 2, "I trust player_1.", "I trust player_5."),
    Example(
        "bluffing", 7, 1,
        "I am the Seer. I checked player_4 last night, and he is a Werewolf.",
        "I am a Villager. I think that player_4 is a Werewolf.",
    ),
    Example("sacrificing", 1, 1, "player_7", "player_4", "votes"),
    Example("sacrificing", 1, 2, "player_7 is a Werewolf.", "player_2 is a Werewolf."),
    Example(
        "self_exposure", 7, 2,
        "My fellow Werewolf and I chose player_6 last night.",
        "The Werewolves chose player_6 last night.",
    ),
    Example("self_exposure", 7, 1, "As a Werewolf, I will vote for player_4.", "I am not a Werewolf."),
    Example(
        "contradiction", 3, 2,
        "I am the Seer, but I have no special ability.",
        "I am the Seer, but I have nobody to accuse.",
    ),
    Example("night_speech", 4, 1, "I want to explain my silence last night.", "It was a quiet night."),
    Example(
        "night_speech", 2, 1,
        "player_3 said nothing last night.",
        "I have heard that nobody was killed last night.",
    ),
    Example(
        "future_citation", 2, 1,
        "I think player_5's silence is a bit suspicious.",
        "I look forward to hearing player_5's opinion.",
    ),
    Example("future_citation", 3, 1, "I agree with player_6.", "I agree with player_2."),
    Example(
        "confusion", 6, 1,
        "player_4 kept silent yesterday, which could be a sign of fear.",
        "player_4 kept silent today, which could be a sign of fear.",
    ),
    Example(
        "confusion", 7, 2,
        "I will keep an eye on player_2 and player_7.",
        "I will keep an eye on player_2 and player_5.",
    ),
    Example(
        "impossible_ability", 2, 2,
        "As a Villager, I verified that player_1 is a Werewolf.",
        "As a Villager, I believe that player_1 is a Werewolf.",
    ),
    Example(
        "contradicts_record", 2, 2,
        "We should continue to observe player_4 closely.",
        "We should not forget how player_4 was voted out.",
    ),
    Example("contradicts_record", 2, 2, "Nobody died last night.", "Nobody died in night 1."),
    Example(
        "contradicts_record", 5, 2,
        "player_1 voted for player_2 yesterday.",
        "player_1 voted for player_4 yesterday.",
    ),
    Example(
        "contradicts_record", 3, 2,
        "I am the Seer, and I checked player_5: player_5 is not a Werewolf.",
        "I am the Seer, and I checked player_2: player_2 is not a Werewolf.",
    ),
)  # fmt: skip
