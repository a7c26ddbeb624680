"""How talk is spelt: contractions, typing habits, and where a bare number is a player; no reading here.

Used by `text.reading.tokens`, in which order it says.
"""

from __future__ import annotations

import re

APART = re.compile(
    r"\b((?:trust|believe|like|support|defend|doubt|suspect|with|for|against) (@\d+))(?:,? and|, (?!\2\b)) "
    r"?(@\d+)"
    r"(?= (?:is|was|has|had|must|looks|seems|does|sounds|claims|says|tells|thinks|wants|keeps|knows|accuses|"
    r"suspects|defends|lies|acts)\b)"
)
"""No list of players: "I trust @2, and @3 is lying"."""
REWRITES = (
    ("can", re.compile(r"\bcan(?:not|'t)\b"), "can not"),
    ("won't", re.compile(r"\bwon't\b"), "will not"),
    ("'s", re.compile(r"\b(something|everything|nothing|everyone|nobody)'s\b"), r"\1 is"),
    ("", re.compile(r"\b(?:far from|anything but)\b"), "not"),
    ("n't", re.compile(r"n't\b"), " not"),
    ("let's", re.compile(r"\blet's\b"), "let us"),
    ("its @", re.compile(r"\bits (?=@\d)"), "it is "),
    ("more and", re.compile(r"\bmore and more\b"), "more"),
    ("ain", re.compile(r"\bi ain'?t\b"), "i am not"),
    ("ain", re.compile(r"\bain'?t\b"), "is not"),
    ("", re.compile(r"\b(?:i'm|im)\b"), "i am"),
    ("i, @", re.compile(r"\bi, @\d+, (?=am\b|was\b|have\b|did\b|do\b|will\b|say\b|claim\b)"), "i "),
    (" u", re.compile(r"\bu (?:r|are)\b|\bur (?=a\b|the\b|so\b|lying|not\b|acting|too\b)"), "you are "),
    (" u", re.compile(r"\bu\b"), "you"),
    (" ur", re.compile(r"\bur\b"), "your"),
    (
        "least ",
        re.compile(r"\b(?:by far |probably |one of |among )*(?:the )?least (?=likely|suspicious)"),
        "not ",
    ),
    (
        "what @",
        re.compile(
            r"\bwhat (@\d+) (?:has )?(?:said|announced|claimed|told us|says|revealed)(?: \w+){0,2} (?:was|"
            r"is) that\b"
        ),
        r"\1 said that",
    ),
    (
        ", who ",
        re.compile(
            r"(@\d+), who (is|was|might be|may be|could be|must be|seems|looks|appears|sounds) "
            r"(?![^~]*\bthan\b)(?!claim|say|the one|accus|still|\w+ed\b)([^,;~@]*)$"
        ),
        r"\1 ; \1 \2 \3",
    ),
    (
        "neither @",
        re.compile(r"\bneither (@\d+) nor (@\d+) (is|are|was|were|seems?|looks?|has|have|sounds?|does|do)\b"),
        r"\1 and \2 \3 not",
    ),
    ("ive", re.compile(r"\b(?:ive)\b"), "i have"),
    ("nt", re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should)nt\b"), r"\1 not"),
    ("nt", re.compile(r"\bcant\b"), "can not"),
    ("nt", re.compile(r"\bwont\b"), "will not"),
    ("gotta", re.compile(r"\bgotta\b"), "has to"),
    (
        "'s",
        re.compile(
            r"\b(vote|suspect|pick|target|choice|wolf|werewolf|liar|money|problem|answer|claim|story|"
            r"silence|guess|read|voting|there|here|what|card|role|logic|time|man|guy|play|behaviou?r)'s "
            r"(?=(?:a|an|the|not|on|that|too|so|very|full|been|going|got|definitely|probably|likely|clearly|"
            r"suspicious|off|for|with|no|all|@|just|obviously|really)\b|@)"
        ),
        r"\1 is ",
    ),
    ("'re", re.compile(r"'re\b"), " are"),
    ("'ve", re.compile(r"'ve\b"), " have"),
    ("'ll", re.compile(r"'ll\b"), " will"),
    ("'d", re.compile(r"'d\b"), " would"),
    ("'s got", re.compile(r"\b(it|he|she|that)'s got\b"), r"\1 has got"),
    ("'s", re.compile(r"\b(he|she|it|that|who|what|how|why|where)'s\b"), r"\1 is"),
    (
        "'s",
        re.compile(
            r"(@\d+)'s (?=(?:a|an|the|not|definitely|probably|likely|clearly|suspicious|innocent|lying|"
            r"alright|clear|clean|good|innocent|suspicious|sus|town|wolf|werewolf|fine|our|my|been|so|too|"
            r"very|really|just|also|obviously|acting|being|trying|playing|hiding|getting|going|up|one|no|"
            r"red|scum|safe|on)\b)"
        ),
        r"\1 is ",
    ),
    ("", re.compile(r"[\"“”*()\[\]`]"), " "),
    ("", re.compile(r"[:—–]|(?<= )-(?= )"), ","),
    ("", re.compile(r"\s+"), " "),
    (" ,", re.compile(r" ,"), ","),
    (" @", APART, r"\1 ; and \3"),
)
"""Rewritings, in order: letters that a text must have for it, the pattern, what stands for it."""

LISTED = re.compile(
    r"(@\d+(?:,| and| or|, and|, or| &|/) ?)(\d+)\b(?! (?:votes?|days?|nights?|players?|rounds?|wol|were|"
    r"vill))"
)

BARE = re.compile(
    r"\b(protected|guarded|saved|checked|saw|inspected|verified|vote for|voting for|suspect|trust|seat|"
    r"number|no\.|vote|voting|voted for|peeked|investigated|hang|on|against|about|believe|for|with|for|out|"
    r"eliminate|lynch) (\d+)\b"
    r"(?! (?:votes?|days?|nights?|players?|rounds?|wol|were|vill|of|times))"
)

SUBJECT = re.compile(
    r"(?:^|(?<=[,.:;] )|(?<=\band )|(?<=\bthat )|(?<=\bbut )|(?<=\bthink )|(?<=\bso )|(?<=\bbecause ))(\d+)"
    r"(?=(?:'s| is| was| are| and \d+ (?:is|are|were)| has| looks| seems| reads| claims| claimed| said| "
    r"says|, \d+)\b)"
)
"""A bare number as the subject of a sentence."""

LONE = re.compile(
    r"(?<![\w@'.:/%=-])(?<!night )(?<!nights )(?<!day )(?<!round )(?<!days )(?<!game )(?<!phase )(?<!turn )"
    r"(?<!only )(?<!least )(?<!most )(?<!top )(?<!about )(?<!the )(?<!first )(?<!last )(?<!next )(?<!just )"
    r"(?<!those )(?<!these )(?<!all )(?<!we have )(?<!we had )(?<!there are )(?<!there were )(?<!a "
    r")(?<!number of )"
    r"(?<!got )(?<!another )(?<!other )(?<!than )(?<!every )(?<!our )(?<!option )(?<!point )(?<!step "
    r")(?<!wins )"
    r"(?<!in )(?<!within )(?<!after )(?<!chance )(?<!part )(?<!rule )(?<!no )(?<!my )(?<!level )(?<!into )"
    r"(\d{1,2})(?![\w%:./)-]\w|\w)"
    r"(?! ?(?:votes?|of|out|players?|people|person|wolf|wolves|were\w+|villag\w+|town\w*|days?|nights?|"
    r"rounds?|left|remain\w*|more|dead|alive|minutes?|seconds?|times?|against|to \d|v \d|vs|percent|%|"
    r"things?|names?|votes|for player|for @|for \d|reasons?|points?|checks?|results?|others|seers?|"
    r"suspects?|potions?|cards?|roles?|deaths?|kills?|living|survivors|hours?|words?|candidates|claims?|-|"
    r"am|pm)\b)"
)
"""A number standing alone where nothing says that it counts something: a player."""

ASIDE = re.compile(
    r"\b((?:unlike|between @\d+ and|compared (?:with|to)|in contrast to|as opposed to|like|apart from|"
    r"besides) @\d+), (?=@)"
)
"""A comparison in front of a player is no list of players."""
