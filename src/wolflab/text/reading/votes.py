"""Patterns of votes announced, proposed, cast and told of, for `text.reading`; nothing that uses them."""

from __future__ import annotations

import re

from .vocabulary import MANY

VOTE_OF = re.compile(r"(@\d+)'s votes? (?:for|against|on) @\d+")

VOTING = re.compile(
    r"\b(?:vot|elimin|lynch|exil|hang|execut|banish|nominat|kick|tak|send|get|focus|cast|choos|chang|mov|"
    r"switch|stick|stay|keep|stand|put|plac|park)"
)
"""Some word of every `VOTE`; without one there is none."""

VOTE = re.compile(
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

BALLOT = re.compile(
    r"\b(?:string|vot(?:e|ing)|hang|kick|throw|boot|send|take|get|run|put|cast)(?:ing)? "
    rf"(?P<whom>{MANY}|him|her|them|you) (?:up|out|off|down|home|away|today|to the (?:gallows|noose|rope|"
    r"stake|chopping block)|on the (?:block|gallows|stake|stand))"
)

OUST = re.compile(
    r"(?P<with>@\d+)(?= and (?:his|her|their)(?: \w+){1,3} (?:have|need|must|should|ought)(?: to)? (?:go|"
    r"leave)\b)|"
    rf"(?P<subj>{MANY}|\bhe|\bshe|\bthey)(?P<neg> (?:should|must|does|do) not)?"
    r"(?: (?:gets?|has|have|is|are) my vote|(?: really| simply)? (?:has|have|needs?|must|should|ought)(?: "
    r"to)? (?:go\b|be (?:eliminated|voted out|hanged|hung|lynched|exiled|executed|banished|removed|out)\b|"
    r"hang\b|leave\b))"
)
"""A vote proposed with its target as the subject."""
