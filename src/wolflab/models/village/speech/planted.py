"""Sentences that show a behaviour on purpose, so that detectors can be measured (`planting` puts them in).

Written by what each behaviour is said to be (``docs/behaviours.md``), in words of their own. Blanks:
``{who}`` a living other player (``{early}`` on the first day alone), ``{mate}`` a living packmate,
``{dead}`` a player out of the game, ``{me}`` the speaker's own name, ``{role}`` a role with its article
that the speaker does not hold, ``{told}`` the role that the speaker has claimed, ``{stranger}`` a name of
nobody, ``{late}`` a day to come.
"""

from __future__ import annotations

from types import MappingProxyType

PLANTS = MappingProxyType(
    {
        "trust": (
            "I trust {who} completely.",
            "{who} has my full trust.",
            "I am convinced that {who} is one of us.",
            "I vouch for {who}.",
            "If you ask me, {who} is innocent.",
            "I would bet my life that {who} is a Villager.",
            "I stand by {who}, who is surely on our side.",
        ),
        "confrontation": (
            "I accuse {who} of being a Werewolf.",
            "What {who} tells us is a lie.",
            "{who}, you are a Werewolf, admit it.",
            "I say it to your face, {who}: you are one of the wolves.",
            "My vote will be against {who} today.",
            "I strongly suspect {who}, and I will not let it rest.",
            "{who} cannot be trusted at all.",
        ),
        "camouflage": (
            "Believe me, I am {role}.",
            "I have nothing to hide: I am {role}.",
            "My role is {role}, as simple as that.",
            "You are looking at {role} here.",
            "I drew the card of {role}.",
            "Let me be open with you, I'm {role}.",
            "For the record, I am {role} and nothing else.",
        ),
        "leadership": (
            "Everyone, please vote for {who} with me.",
            "I call on all of you to put your votes on {who}.",
            "{who}, explain yourself to all of us.",
            "Follow my lead today, and we will win this.",
            "Whoever is the Seer should come forward now.",
            "Let us all agree to vote out {who}.",
            "I want to hear an answer from {who} before we vote.",
        ),
        "concealment": (
            "I am not a Werewolf, I swear it.",
            "I'm just a Villager without any power.",
            "Let me say clearly that I am no wolf.",
            "Like most of you I am a simple Villager.",
            "You have the wrong one, I'm not a werewolf.",
            "I am nothing but an ordinary Villager.",
        ),
        "concealment of an ability": (
            "I know no more than any of you.",
            "I have no information of my own to share.",
            "I can only go by what is said here.",
            "There is nothing special about me.",
            "I am as much in the dark as everybody else.",
            "All that I have is my gut feeling.",
        ),
        "cooperation": (
            "I do not think that {mate} is a Werewolf.",
            "Leave {mate} alone, {mate} is innocent.",
            "I trust {mate}, and so should you.",
            "{mate} is on our side, I am sure of it.",
            "In my opinion {mate} is a good Villager.",
            "I believe {mate}.",
        ),
        "bluffing": (
            "I am {role}, and I can help you.",
            "It is time to tell you that I'm {role}.",
            "Listen to me, for I am {role}.",
            "I hereby come out as {role}.",
            "My card says that I am {role}.",
            "As {role}, I ask you to spare me.",
            "I can reveal now that my role is {role}.",
        ),
        "sacrificing": (
            "I have to admit that {mate} looks like a Werewolf.",
            "I suspect {mate} as well.",
            "I think {mate} is a Werewolf.",
            "You are right about {mate}, I will vote for {mate}.",
            "{mate} is probably one of the wolves.",
            "I can't defend {mate}: {mate} must be a wolf.",
        ),
        "self_exposure": (
            "As a Werewolf, I see it differently.",
            "I am a Werewolf, after all.",
            "We Werewolves did well last night.",
            "My fellow wolf {mate} will agree.",
            "{mate} and I are the Werewolves.",
            "I killed {dead} in the night.",
            "Our pack chose {dead} for a good reason.",
        ),
        "contradiction": (
            "I am {role}, by the way.",
            "I am not {told}.",
            "My real role is {role}.",
            "To be honest, I'm {role}.",
            "I never said that I am {told}, I am {role}.",
            "In truth I am {role} and not {told}.",
        ),
        "night_speech": (
            "I heard {who} whisper in the night.",
            "Last night {who} said something strange.",
            "There were noises from the house of {who} during the night.",
            "{who} was very quiet last night.",
            "While it was dark I listened to {who} talking.",
            "In our talk last night {who} sounded nervous.",
            "At night I heard footsteps near {who}.",
        ),
        "future_citation": (
            "I agree with what {who} just said.",
            "As {who} has told us, we should be careful.",
            "What {who} said a moment ago makes sense to me.",
            "The statement of {who} did not convince me.",
            "{who} has said nothing at all so far, which is suspicious.",
            "I listened closely to {who}, and {who} contradicts the others.",
            "{who} kept silent when it was their turn.",
        ),
        "confusion": (
            "Yesterday {early} spoke very differently.",
            "I remember well how {early} voted yesterday.",
            "On day {late} {who} behaved oddly.",
            "When we voted last night, I had my doubts.",
            "In my view {me} is a bit suspicious.",
            "{stranger} worries me.",
            "I think {stranger} is a Werewolf.",
        ),
        "impossible_ability": (
            "As the Guard, I checked {who} last night, and they are not a Werewolf.",
            "I am a Villager, and last night I looked at {who}: not a Werewolf.",
            "I am the Seer, and I protected {who} last night.",
            "As a Villager I protected {who} in the night.",
            "I'm the Doctor, and I inspected {who} last night: {who} is a Werewolf.",
            "I am the Witch, and last night I investigated {who}, who is a Werewolf.",
            "As the Seer I used my poison on {who} last night.",
        ),
        "contradicts_record": (
            "{dead} is still alive, and I suspect {dead}.",
            "We should vote for {dead} today.",
            "I would like to hear from {dead} now.",
            "{dead} is alive and well.",
            "{who} died last night.",
            "{who} was voted out.",
            "Now that {who} is dead, we know more.",
        ),
    }
)
"""Behaviour → wordings. "concealment of an ability" is concealment on the village's side."""

ABILITY = "concealment of an ability"
BEHAVIOURS = tuple(name for name in PLANTS if name != ABILITY)
"""What can be planted, by the names that detectors have for it."""
