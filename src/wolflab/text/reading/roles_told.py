"""Exact patterns of role claims and denials, for `text.reading`, in the order in which it tries them.

What they leave goes to `text.reading.claims`.
"""

from __future__ import annotations

import re

from .vocabulary import MANY, ROLE

_CARD = (
    r"(?:(?: |, )(?:a|an|the|your|our|just|only|really|actually|plain|simple|ordinary|regular|humble|true|"
    r"real|one|no|not|and))*"
)

OWN = re.compile(
    rf"(?:^|[,~] ?)(?:a |your |the |just a |plain |simple )*(?P<r1>{ROLE})(?: (?:here|claim|speaking))(?=$|"
    r"[,.~])|"
    r"\bi (?:do not |never |did not )?(?:hold|have|got|get|drew|pulled|play|carry|am holding|have got|was "
    r"dealt|was given|was assigned|received|am playing|claim|am claiming|hard ?claim|will claim|came up)"
    rf"(?: (?:the|a|my))?(?: (?:role|card|part|job)(?: of| as|,))?{_CARD} (?P<r2>{ROLE})(?= (?:card|role)\b|"
    r"$|[,.~]| and i\b)|"
    rf"\bi (?:hold|have|got|drew|was dealt|was given|play) the (?:role|card|part) of{_CARD} (?P<r3>{ROLE})|"
    r"\bmy (?:own |true |real |actual |secret )?(?:role|card|identity|position|claim)(?: is| says| reads| "
    rf"was|,){_CARD} (?P<r4>{ROLE})|"
    rf"\b(?:the|your) (?:real |true |actual )?(?P<r5>{ROLE})(?: is|, that is|, it is) me\b|"
    r"\b(?:you are looking at|you are talking to|it is me,|i,|i have been|i was|i have always been|i can "
    r"not be|i could not be)"
    rf"{_CARD} (?P<r6>{ROLE})(?=$|[,.~]| all along| from| since| and\b)|"
    rf"\bno more (?:the|a) (?P<r7>{ROLE}) than i am|"
    r"\bi (?:am|was|have|can|could|would|do|did)(?: (?:definitely|certainly|really|honestly|simply|"
    r"absolutely|clearly|also|even|been|have|be))*"
    r" (?:not|neither|no|never)(?: (?:a|an|the|your|one of the|been|be|was|even|some|any|more|ever|have|"
    r"hold|and))*"
    rf" (?P<r8>{ROLE})|\bnor(?: am i)?(?: (?:a|an|the))? (?P<r10>{ROLE})|(?<=~)(?:,| and|, and)? not(?: "
    rf"(?:a|an|the|your))? (?P<r11>{ROLE})|^(?:(?:just|only|a|plain|vanilla|simple|regular|ordinary) "
    rf")+(?P<r12>{ROLE})(?=$|,)|"
    rf"(?:^|[,~] ?)(?:@\d+ here|i am @\d+),{_CARD} (?P<r9>{ROLE})(?=,|$)"
)
"""The speaker's own role, in other words than "I am the Seer"."""

CLAIMED = re.compile(
    rf"(?P<who>{MANY}|\bhe|\bshe)(?:,? who)?(?: (?:has|have|both|all|just|also|now|then|had|is|are|was|were|"
    r"still|already|openly))*"
    r" (?:counter-?)?(?:claim(?:s|ed|ing)?|c(?:ame|ome|omes|oming) out|reveal(?:s|ed)|declare[sd]?|"
    r"announce[sd]|outed|says?|said|insist(?:s|ed)|swears|swore|pretend(?:s|ed|ing)?|pos(?:es|ing|ed)|"
    r"introduced|present(?:s|ed)|told us|calls)"
    r"(?: (?:today|yesterday|that|to be|himself|herself|themselves|themself|as|he|she|they|is|are|was|were|"
    r"being|a|an|the|our|your|not|real|true|only))*"
    rf" (?P<role>{ROLE})(?!'s)(?! (?:should|must|will|would|has|is|was|can|could|might|saved|check))"
)

CLAIM_OF = re.compile(rf"(?P<who>{MANY})'s (?:\w+ )?(?P<role>{ROLE})(?: |-)claim")
"""What others say of themselves."""

FOREIGN = re.compile(
    r"(?:\b(?:he|she|they|you|we|@\d+|everyone|people|somebody|nobody|some|who|anyone)(?: \w+)? (?:think|"
    r"thinks|thought|say|says|said|saying|believe|believes|claims?|assumes?|suspects?|calls?|wants?)(?: "
    r"that| me| to)*|"
    r"\b(?:wish|pretend|imagine|would say|could say|could claim|like|though|not say|not saying|never said|"
    r"said)(?: that)?|\b(?:yeah|oh),? (?:right|sure),?(?: and)?|^sure,?(?: and)?) $"
)
"""Before "I am the Seer": these are not the speaker's own words for themself."""

MINE = re.compile(
    r"(?:that )?i am (?:not |probably |definitely )*(?:a |an |the |one of the )?(?:real )?(?:wol|werewol|"
    r"liar|lying|suspicious|evil|guilty|innocent|good)"
)

CLAIM = re.compile(
    r"(?P<head>\bi am|\bi was dealt|\bmy (?:true |real |actual )?role is|\bi claim to be|"
    r"\bi (?:reveal|declare) myself (?:as|to be)|"
    r"\bi come out as|\bi have been dealt|(?<!@)\b(?:speaking |here )?as)"
    r"(?P<fill>(?: (?:not|never|a|an|the|your|our|just|only|really|actually|in fact|indeed|plain|ordinary|"
    r"simple|regular|normal|humble|true|real|fellow|being|merely|truly|both|innocent|loyal|proud|vanilla|"
    rf"village's|good|honest|no))*) (?P<role>{ROLE})"
    r"(?:(?=(?P<tail>(?: myself| of this village| here| too| as well)?(?:$|,? (?:and|i|so|my|it|we|who|but|"
    r"with|last|the|today)\b|[,.]| of this game)))|)"
)

OPENS = re.compile(
    r"(?:^|[,;~]|\b(?:and|but|so|that|since|because|i|i am|ability|power|speaking|role|position|duty|"
    r"myself))\s*$"
)
"""What may stand before an "as the Seer" that speaks of oneself."""
