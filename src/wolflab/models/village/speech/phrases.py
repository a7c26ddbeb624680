"""From a plan of `Point`s to a statement in English.

There are two disjoint banks of phrases, by kind of point. ``{who}`` is a player's name, ``{role}`` a role
with its article ("the Seer", "a Villager"), ``{what}`` the result of a check ("a Werewolf", "not a Werewolf",
"the Guard"). Every phrase must be understood by `text.reading` (tested phrase by phrase). Bank "b" is
separate so that wording can be held out. The modules beside it decide what to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ....rules import ROLES, Ruleset
from ....text.asking.sentences import a_role
from ..draws import KeyedDraws

_A = {
    "open": (
        "Good morning, everyone.",
        "Hello, all.",
        "Let me share my view.",
        "Here is what I make of it so far.",
        "Let us go through this carefully.",
    ),
    "quiet": (
        "I have little to go on yet.",
        "I will listen to the others first.",
        "It is too early for me to name anyone.",
        "We need more information before we decide anything.",
    ),
    "claim": (
        "I am {role}.",
        "As {role}, I want to be open with you.",
        "I'm {role}, and I say so openly.",
        "I have to tell you that I am {role}.",
    ),
    "deny": ("I am not {role}.",),
    "saw": (
        "I checked {who} last night, and they are {what}.",
        "Last night I looked at {who}: {what}.",
        "I saw {who} in the night, and {who} is {what}.",
        "My check on {who} showed that {who} is {what}.",
    ),
    "saw before": (
        "Earlier I checked {who}, and they are {what}.",
        "I inspected {who} before, and {who} is {what}.",
    ),
    "protect": (
        "I protected {who} last night.",
        "Last night I chose to protect {who}.",
    ),
    "antidote": ("I used my antidote on {who}.",),
    "poison": ("I used my poison on {who}.",),
    "accuse 3": (
        "{who} is a Werewolf.",
        "I am certain that {who} is a Werewolf.",
        "There is no doubt left: {who} must be a Werewolf.",
    ),
    "accuse 2": (
        "I think {who} is a Werewolf.",
        "I suspect {who}.",
        "I am suspicious of {who}, whose words do not add up.",
        "In my eyes {who} is very suspicious.",
    ),
    "accuse 1": (
        "{who} might be a Werewolf.",
        "I am keeping an eye on {who}.",
        "{who} seems a bit suspicious to me.",
    ),
    "liar": (
        "{who} is lying to all of us.",
        "I do not believe {who}. {who} is a Werewolf.",
    ),
    "defend": (
        "I trust {who}.",
        "I don't think {who} is a Werewolf.",
        "{who} is probably innocent.",
        "To me {who} looks trustworthy.",
    ),
    "propose": (
        "Let's vote for {who}.",
        "I will vote for {who} today.",
        "We should vote for {who}.",
        "I suggest that we vote for {who}.",
    ),
    "agree": (
        "I agree with {who}.",
        "{who} makes a good point.",
    ),
    "campaign": (
        "I am running for Sheriff because I want to bring order to our talk.",
        "As Sheriff I would weigh every statement and lead us to a clear vote.",
        "Choose me as Sheriff, and I will sum up our discussion fairly.",
    ),
    "summary": (
        "As your Sheriff, let me sum up.",
        "Thank you all for speaking; here is my summary as Sheriff.",
        "I have listened to everyone, and as Sheriff I must now recommend something.",
    ),
    "recommend": (
        "My recommendation is clear: let's vote for {who}.",
        "I recommend that we all vote for {who}.",
        "As Sheriff, I ask you to vote for {who}.",
    ),
    "close": (
        "Let's work together.",
        "Please share what you know.",
        "I would like to hear what the others think.",
        "Stay watchful.",
    ),
    "farewell": (
        "These are my last words.",
        "Remember what I said when I am gone.",
    ),
}

_B = {
    "open": (
        "Morning, friends.",
        "All right, my turn.",
        "I have thought about the night.",
        "A few thoughts from me.",
    ),
    "quiet": (
        "Nothing stands out to me at the moment.",
        "For now I would rather hear you out.",
        "I cannot point at anybody with good reason.",
    ),
    "claim": (
        "You should know that I'm {role}.",
        "My role is {role}.",
        "Speaking as {role}, I will be frank.",
    ),
    "deny": ("Let me be clear that I'm not {role}.",),
    "saw": (
        "During the night I inspected {who} and found that {who} is {what}.",
        "I verified {who} tonight, and {who} turned out to be {what}.",
        "I investigated {who} last night and discovered that {who} is {what}.",
    ),
    "saw before": (
        "On an earlier night I verified {who}, and {who} is {what}.",
        "I looked at {who} some time ago, and they are {what}.",
    ),
    "protect": (
        "I guarded {who} last night.",
        "In the night I decided to protect {who}.",
    ),
    "antidote": ("I used the antidote on {who}.",),
    "poison": ("I used the poison on {who}.",),
    "accuse 3": (
        "Without question {who} is one of the wolves.",
        "I know that {who} is a Werewolf.",
    ),
    "accuse 2": (
        "I believe {who} is a wolf.",
        "My main suspect is {who}.",
        "{who} is probably a Werewolf.",
    ),
    "accuse 1": (
        "Perhaps {who} is a wolf.",
        "I am a little wary of {who}.",
        "{who} could be a Werewolf.",
    ),
    "liar": (
        "{who} is a liar, mark my words.",
        "Do not trust {who}: {who} is lying.",
    ),
    "defend": (
        "I believe {who} is on our side.",
        "I would vouch for {who}.",
        "{who} is not a Werewolf in my opinion.",
    ),
    "propose": (
        "My vote goes to {who}.",
        "We must eliminate {who}.",
        "I propose to vote for {who}.",
    ),
    "agree": (
        "I side with {who} here.",
        "{who} has a fair point.",
    ),
    "campaign": (
        "Give me the badge, and I will keep the talk honest.",
        "I want to be Sheriff so that no statement is forgotten.",
    ),
    "summary": (
        "Let me draw this together, as is a Sheriff's duty.",
        "Everyone has spoken, so the summing up is mine.",
    ),
    "recommend": (
        "I urge everyone to vote for {who}.",
        "We should all vote for {who} today.",
        "I advise eliminating {who}.",
    ),
    "close": (
        "Think it over.",
        "Let us keep our heads.",
        "The village needs every voice.",
    ),
    "farewell": (
        "So this is where I leave you.",
        "Keep this in mind after I am out.",
    ),
}

BANKS = MappingProxyType(
    {
        "a": _A,
        "b": _B,
        "ab": {kind: (*phrases, *_B[kind]) for kind, phrases in _A.items()},
    }
)
"""Phrases by bank and kind."""


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to say: a kind of phrase, perhaps a player, perhaps a role or a check's result."""

    kind: str
    who: int | None = None
    what: str = ""


def role_with_article(role: str, ruleset: Ruleset) -> str:
    """A role with its article: "a Villager", but "the Seer" where there is one; results as they are."""
    if role not in ROLES:
        return role
    return f"the {role}" if ruleset.count(role) == 1 and not ROLES[role].wolf else a_role(role)


def phrase(point: Point, template: str, ruleset: Ruleset) -> str:
    """`template` with its blanks filled."""
    who = "" if point.who is None else ruleset.names[point.who]
    what = role_with_article(point.what, ruleset)
    return template.replace("{who}", who).replace("{role}", what).replace("{what}", what)


def speak(points: Sequence[Point], ruleset: Ruleset, bank: str, draws: KeyedDraws) -> str:
    """The statement with these points, one sentence or two each."""
    sentences = []
    for number, point in enumerate(points):
        template = draws.one(f"phrase {number}", BANKS[bank][point.kind])
        sentence = phrase(point, template, ruleset)
        sentences.append(sentence if template[0] == "{" else sentence[0].upper() + sentence[1:])
    return " ".join(sentences)
