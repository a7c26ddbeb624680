"""Votes that the speaker announces or proposes; not those that were cast or that others want.

Written for normalised sentences (see `spelling`). It knows words, and no game.
"""

from __future__ import annotations

import re

from .acts import Suggestion
from .sentence import Sentence, meant
from .vocabulary import MANY

_VOTING = re.compile(
    r"\b(?:vot|elimin|lynch|exil|hang|execut|banish|nominat|kick|tak|send|get|focus|cast|choos|chang|mov|"
    r"switch|stick|stay|keep|stand|put|plac|park)"
)
"""Some word of every `_VOTE`; without one there is none."""

_VOTE = re.compile(
    r"(?P<lead>let us|we should|we must|we need to|should|i will|i am going to|going to|i want to|i would|"
    r"plan to|i|i am|suggest|recommend|propose|urge(?: everyone| you| all)?(?: to)?|advise|please|everyone|"
    r"my|ask you to|call on everyone to|all|better|to|today)?"
    r"(?P<neg>(?: do| should| will| would)? ?(?:not|never|against))?"
    r"(?:(?: (?:all|now|today|also|that we|we|together|be|am|therefore|simply))*) ?"
    r"\b(?P<verb>vot(?:e|es|ing)(?: for| to eliminate| against| out)?|eliminat(?:e|ing)|lynch(?:ing)?|"
    r"exil(?:e|ing)|vote goes to|focus (?:our|your) votes? on|cast (?:my|our|your) votes? (?:for|against|"
    r"on)|hang(?:ing)?|banish(?:ing)?|execut(?:e|ing)|(?:vot(?:e|ing)|choose) to (?:kill|hang|lynch|"
    r"eliminate|exile|remove|banish)|(?:chang|mov|switch)(?:e|ing) (?:my vote )?to|(?:stick|stay|keep|"
    r"stand)(?:ing)? (?:with |by )?my vote (?:on|for)|(?:put(?:ting)?|plac(?:e|ing)|park(?:ing)?) (?:my|our|"
    r"your) votes? on|voting accordingly,|vote(?: today)?(?:,| is)|nominat(?:e|ing)|get(?= @\d+ out)|"
    r"kick(?:ing)? out|take out|send(?:ing)? home|vote (?:is|will be|stays|goes) (?:for|on|against|to|with)|"
    r"get(?:ting)? rid of)"
    rf" (?P<whom>{MANY}|(?:him|her|them)\b)"
)

_BALLOT = re.compile(
    r"\b(?:string|vot(?:e|ing)|hang|kick|throw|boot|send|take|get|run|put|cast)(?:ing)? "
    rf"(?P<whom>{MANY}|him|her|them|you) (?:up|out|off|down|home|away|today|to the (?:gallows|noose|rope|"
    r"stake|chopping block)|on the (?:block|gallows|stake|stand))"
)

_OUST = re.compile(
    r"(?P<with>@\d+)(?= and (?:his|her|their)(?: \w+){1,3} (?:have|need|must|should|ought)(?: to)? (?:go|"
    r"leave)\b)|"
    rf"(?P<subj>{MANY}|\bhe|\bshe|\bthey)(?P<neg> (?:should|must|does|do) not)?"
    r"(?: (?:gets?|has|have|is|are) my vote|(?: really| simply)? (?:has|have|needs?|must|should|ought)(?: "
    r"to)? (?:go\b|be (?:eliminated|voted out|hanged|hung|lynched|exiled|executed|banished|removed|out)\b|"
    r"hang\b|leave\b))"
)
"""A vote proposed with its target as the subject."""
_THEIRS = re.compile(
    r"'s $|\b(?:his|her|their) $|\bwhy (?:we|you)|"
    r"\b(?:wants?|wanted|trying|tried) (?:us |you |me )?(?:all )?(?:to )?$|"
    r"\b(?:@\d+|he|she|they|who)(?: (?:and|also|all|both))* $"
)
"""Before a vote: it is somebody else's."""
_OTHERS_BALLOT = re.compile(
    r"\b(?:want(?:s|ed)?|tr(?:ying|ied)) |\b(?:he|she|they|you|who)(?: \w+)? $|@\d+(?: \w+)? $"
)


def votes(sentence: Sentence) -> None:
    """Read the votes that the speaker announces or proposes, or advises against."""
    me = sentence.me
    for match in sentence.each(_VOTE) if _VOTING.search(sentence.text) else ():
        head = sentence.text[max(0, match.start() - 25) : match.start()]
        against = bool(match["neg"]) or bool(re.search(r"\b(?:not|never|against|before)\b[^,]*$", head))
        if match["verb"] in ("vote against", "voting against"):
            against = bool(re.search(r"\b(?:not|never)\b", match["neg"] or ""))
        against = against or bool(re.search(r"\b(?:mistake|wrong|unwise|hasty|foolish)(?: to)? $", head))
        if not _THEIRS.search(head):
            for seat in meant(match["whom"], sentence.named_before(match.start())):
                sentence.acts.append(Suggestion(me, seat, against, me))
    for match in sentence.each(_BALLOT):
        head = sentence.text[max(0, match.start() - 30) : match.start()]
        if not _OTHERS_BALLOT.search(head):
            against = bool(re.search(r"\b(?:not|never|against)\b", head))
            for seat in meant(match["whom"], sentence.named_before(match.start())):
                sentence.acts.append(Suggestion(me, seat, against, me))
    for match in sentence.each(_OUST):
        for seat in meant(match["subj"] or match["with"], sentence.last):
            sentence.acts.append(Suggestion(me, seat, bool(match["neg"]), me))
