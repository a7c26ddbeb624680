"""Exact patterns of night actions told: checks and their results, shields and potions, for `text.reading`.

Results that they leave go to `text.reading.results`.
"""

from __future__ import annotations

import re

from .vocabulary import COP, FILL, MANY, PRED

CHECKED = (
    r"(?:checked|check|saw|(?<!\bi )see|seen|looked (?:at|into)|inspected|verified|investigated|examined|"
    r"divined|observed|peeked(?: at)?|peeped|scanned|used my (?:ability|power|vision|sight|gift) (?:on|to "
    r"(?:see|check)))"
)

FOUND = r"(?:found(?: out)?|discovered|learn(?:ed|t)|saw|seen|verified|observed|can confirm|" r"confirmed)"

AUX = (
    r"(?:(?: |, )(?:have|had|has|did|also|just|already|then|personally|chose to|decided to|last night|"
    r"tonight|on night \d+|the (?:first|second|third) night|can tell you i|was able to|managed to))*"
)

SHIELDED = (
    r"(?P<verb>protect(?:ed)?|guard(?:ed)?|saved?|shield(?:ed)?|heal(?:ed)?|covered|watched over|used (?:my|"
    r"the) antidote on|used (?:my|the) antidote to save|poison(?:ed)?|used (?:my|the) poison on)"
)

SELF = r"myself|himself|herself|themselves|themself"

CHECK = re.compile(
    rf"(?:\b(?P<who>i|@\d+){AUX} {CHECKED}|(?:^|[,~] ?|\band )(?:checked|inspected|investigated|verified|"
    r"scanned|peeked(?: at)?|looked at))"
    rf" (?P<whom>{MANY}|{SELF})|\b(?:my|the) (?:night )?(?:check|vision|investigation|inspection|result|"
    rf"look|reading|peek|scan)(?: last night)?(?: on| of| at| for| into) (?P<mine>{MANY})"
)

FIND = re.compile(
    rf"(?:\bi{AUX}|(?<=\band)(?: also| then)?) {FOUND}(?: last night)?(?: that)? (?={MANY} (?:{COP}))|"
    r"\b(?:checks?|results?|visions?|peeks?)(?: so far| last night| tonight| today)?"
    rf"(?: (?:is|are|was|were|shows?|showed))?(?: that)?,? (?=@\d+ (?:{COP}))|"
    rf"\bin my (?:vision|dream|check|investigation)s?,? (?={MANY} (?:{COP}))"
)

CHECKED_THEM = re.compile(rf"\bi{AUX} {CHECKED} (?:them|him|her|it)\b")
"""A check told after its result: "… is a Werewolf, because I checked them"."""

PROTECTION = re.compile(r"\bmy (?:protection|shield|guard) (?:of|on|for|over) (?P<whom>@\d+)")

SHIELD = re.compile(rf"\b(?P<who>i|@\d+){AUX} {SHIELDED} (?P<whom>@\d+|{SELF})")

RESULT = re.compile(
    r"(?:^@\d+,|^|\b(?:found|saw|got|is|was|result was|shows?|showed|said|says|read|reads|came (?:back|up|"
    r"out|in)(?: as)?|comes (?:back|up|out)(?: as)?|turned (?:up|out)(?: as| to be)?|result,|"
    rf"night,))(?P<fill>{FILL}) {PRED}"
)
