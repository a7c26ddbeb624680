"""Patterns of votes announced, proposed, cast and told of, for `text.reading`; nothing that uses them."""

from __future__ import annotations

import re

from .vocabulary import MANY

VOTED = re.compile(
    r"(?:@\d+|they|he|she|who)(?: (?:and @\d+|both|all|also|has|have))* vot(?:ed|es)(?: for|"
    r" against| to eliminate)? @\d+"
)

VOTE_OF = re.compile(r"(@\d+)'s votes? (?:for|against|on) @\d+")

VOTING = re.compile(
    r"\b(?:vot|elimin|lynch|exil|hang|execut|banish|nominat|kick|tak|send|get|focus|cast|choos|chang|mov|"
    r"switch|"
    r"stick|stay|keep|stand|put|plac|park)"
)
"""Some word of every `VOTE`; without one there is none."""

VOTE = re.compile(
    r"(?P<lead>let us|we should|we must|we need to|should|i will|i am going to|going to|"
    r"i want to|i would|plan to|i|i am|"
    r"suggest|recommend|propose|urge(?: everyone| you| all)?(?: to)?|advise|please|everyone|"
    r"my|ask you to|call on everyone to|all|better|to|today)?"
    r"(?P<neg>(?: do| should| will| would)? ?(?:not|never|against))?"
    r"(?:(?: (?:all|now|today|also|that we|we|together|be|am|therefore|simply))*) ?"
    r"\b(?P<verb>vot(?:e|es|ing)(?: for| to eliminate| against| out)?|eliminat(?:e|ing)|"
    r"lynch(?:ing)?|exil(?:e|ing)|vote goes to|focus (?:our|your) votes? on|"
    r"cast (?:my|our|your) votes? (?:for|against|on)|hang(?:ing)?|banish(?:ing)?|execut(?:e|ing)|"
    r"(?:vot(?:e|ing)|choose) to (?:kill|hang|lynch|eliminate|exile|remove|banish)|"
    r"(?:chang|mov|switch)(?:e|ing) (?:my vote )?to|(?:stick|stay|keep|stand)(?:ing)? (?:with |by )?my "
    r"vote (?:on|for)|"
    r"(?:put(?:ting)?|plac(?:e|ing)|park(?:ing)?) (?:my|our|"
    r"your) votes? on|"
    r"voting accordingly,|vote(?: today)?(?:,| is)|nominat(?:e|ing)|get(?= @\d+ out)|kick(?:ing)? out|"
    r"take out|send(?:ing)? home|"
    rf"vote (?:is|will be|stays|goes) (?:for|on|against|to|with)|get(?:ting)? rid of)"
    rf" (?P<whom>{MANY}|(?:him|her|them)\b)"
)

BALLOT = re.compile(
    rf"\b(?:string|vot(?:e|ing)|hang|kick|throw|boot|send|take|get|run|put|cast)(?:ing)? (?P<w1>{MANY}|"
    rf"him|her|them|you) "
    r"(?:up|out|off|down|home|away|to the (?:gallows|noose|rope|stake|chopping block)|on the (?:block|"
    r"gallows|stake|stand)|in the ground|today)|"
    rf"\b(?:unite|pool|put|get|stack|place|pile|concentrate|cast|throw|combine|direct|drop|lock|"
    rf"land)(?:ting|ing)? (?:(?:our|your|all|my|the|a|in|those|these|of) )*(?:votes?|ballots?)(?: all| "
    rf"in| down)? "
    rf"(?:on|onto|to|for|against|behind|at|upon) (?P<w2>{MANY}|him|her|them|you)|"
    rf"\b(?:put me down for|count me in (?:for|on)|push(?:ing)? for|let it be|everyone on|everybody on|"
    rf"all aboard|hammer(?:ing)?|(?:i|we) (?:go|vote)(?: for| with)?|"
    rf"(?:noose|rope|gallows|axe|stake) (?:is |goes )?(?:for|to|on)|ballots? (?:goes|is|go|are|says|will "
    rf"(?:go|be))(?: to| on| for| against)?|"
    rf"votes? (?:should|must|ought to|needs? to|will|shall) (?:all )?(?:go|land|fall|be)(?: to| on| for| "
    rf"against)?|"
    rf"vote (?:is|stays|lands|remains|rests|falls|sits|says|will (?:go|be|stay|land|fall))(?: locked| "
    rf"firmly| still)?(?: to| on| for| against| with)?|"
    rf"(?:happy|fine|okay|ok|comfortable|good|ready) (?:with|to see) (?:a )?(?=@\d+ (?:elimination|lynch|"
    rf"exile|hang|wagon|vote|out|gone))|"
    rf"(?:elimination|lynch|exile|execution|removal|banishment) of) (?P<w3>{MANY}|him|her|them|you)|"
    rf"^(?:(?:so|ok|okay|right|fine|well|then|yes|and|alright|settled|voting time|,) ?)*(?P<w4>{MANY}) "
    rf"it is$|"
    rf"(?P<w5>@\d+) (?:needs? to|must|has to|have to|should|gotta|has got to|ought to) (?:go|hang|swing|"
    rf"leave|burn|die)\b|"
    rf"\bgoodbye,? (?P<w6>@\d+)"
)
"""A vote told in other ways; the target in one of the groups."""

OUST = re.compile(
    rf"(?P<with>@\d+)(?= and (?:his|her|their)(?: \w+){{1,3}} (?:have|need|must|should|ought)(?: to)? "
    rf"(?:go|leave)\b)|"
    rf"(?P<subj>{MANY}|\bhe|\bshe|\bthey)(?P<neg> (?:should|must|does|do) not)?"
    r"(?: (?:gets?|has|have|is|are) my vote|(?: really| simply)? (?:has|have|needs?|must|should|"
    r"ought)(?: to)? "
    r"(?:go\b|be (?:eliminated|voted out|hanged|hung|lynched|exiled|executed|banished|removed|out)\b|"
    r"hang\b|leave\b))"
)
"""A vote proposed with its target as the subject."""
