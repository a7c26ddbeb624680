"""What a question to oneself is about: a handful of topics, found by its words.

The predefined questions of both wordings (003 Table 2), `village`'s own and other authors' are sorted
alike; what fits no topic is "general". It knows words, and no game.
"""

from __future__ import annotations

import re
from functools import lru_cache

_READ = 400
"""Characters of a question that are read."""

_TOPICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "draws eyes",
        (r"(?:suspect|accuse|doubt|trust|believe)s?\b(?: \w+)? me", "on myself", "do i (?:look|seem|stand)"),
    ),
    ("rivals", ("both claim", "one of them (?:is )?l(?:ies|ying)")),
    ("phase", ("phase",)),
    (
        "identity",
        ("who am i", "my (?:player )?name", "my (?:final )?(?:objective|goal)", "reach to win"),
    ),
    (
        "consequences",
        (
            r"(?:reveal|told|tell|disclose|uncover|come out)\b.*\b(?:follow|happen|consequence|come of)",
            r"consequences?\b.*\b(?:reveal|role)",
        ),
    ),
    ("known", ("is my role (?:disclosed|known)", "(?:know|knows|guess|guessed) my role", "give it away")),
    ("found", ("did i find", "(?:players? )?i have (?:identified|checked|looked at|found|seen)")),
    (
        "tell now",
        (
            "(?:time|moment) to (?:tell|reveal|claim|come out)",
            "should i (?:now )?(?:disclose|reveal|tell|claim|come out)",
        ),
    ),
    ("potions", ("antidote", "potions?", "drugs?")),
    (
        "pack's choice",
        (
            r"(?:teammates?|pack|fellow)\b.*\b(?:choose|chose|chosen|kill|killing|vote|want)",
            r"kill\w* by my teammate",
        ),
    ),
    ("pack", ("teammates?", "another werewolf", "fellow", "packmates?")),
    (
        "seer believed",
        (
            r"claim\w*\b.*\bseer\b.*\b(?:believe\w*|trust\w*)",
            r"seer\b.*\b(?:claim|statement)\w*.*\b(?:trust|believe)\w*",
        ),
    ),
    ("seer", (r"seer\b.*\balive", "who (?:is|may be|could be|might be) the seer", r"threaten\w*")),
    ("abilities", (r"special (?:roles?|characters?|abilit\w+)",)),
    (
        "look",
        (
            "whose identity",
            "should i (?:identify|look at|check|verify|investigate)",
            "look at next",
        ),
    ),
    (
        "attack",
        (
            "(?:attack|aggressive)",
            r"werewolves\b.*\b(?:kill|want|target)",
            "kill (?:tonight|next)",
        ),
    ),
    (
        "claims",
        (r"(?:shown|claim\w*|implied|revealed|disclosed|come out)\b.*\broles?", "who (?:has )?claim"),
    ),
    (
        "suspect",
        (
            r"most likely\b.*\bwerewol\w*",
            "suspicious",
            "suspect",
            r"who (?:is|may be|could be|might be|are) (?:the |a )?(?:alive )?werewol\w*",
            "who (?:is )?l(?:ies|ying)",
            "vote (?:for|out|against)",
        ),
    ),
    ("trust", ("who(?:m)? (?:can|should|may) i (?:trust|believe)", "trustworthy", "rely on")),
    ("roles", ("roles?",)),
)
_COMPILED = tuple(
    (name, re.compile("|".join(rf"\b{words}\b" for words in patterns))) for name, patterns in _TOPICS
)


@lru_cache(1 << 12)
def topic_of(question: str) -> str:
    """The first topic whose words are in the question."""
    text = question[:_READ].casefold()
    return next((name for name, pattern in _COMPILED if pattern.search(text)), "general")
