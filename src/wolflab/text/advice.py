"""The gist of advice from past games (003 §3.4): act or hold back, reveal one's role or hide it.

A suggestion is one sentence of a model, such as "The best way for you is to vote for somebody." This reads
its gist from its words, for players that act on it and for measures of whether they do. Nothing is guessed:
random words advise nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..rules import SHIELDS

ACT, HOLD, TELL, HIDE, CALL = "act", "hold", "tell", "hide", "call"
"""Use what one can do, or do not · tell one's role, or do not · call for a vote."""

_CONTRAST = re.compile(r"\b(?:instead of|rather than|and not|but not|as opposed to|unlike)\b[^.;]*+")
_SOMEBODY = r"(?:[^.;]{0,40}?\b(?:some(?:one|body)|player|players|suspects?|them|him|werewol\w+))"
_NOTHING = re.compile(
    r"\b(?:pass|passing|abstain\w*|refrain\w*|hold(?:ing)? (?:back|off|on to|it|your)|do(?:ing)? nothing|"
    r"observe|stay(?:ing)? out of|"
    r"(?:keep|keeping|save|saving|spare|sparing) (?:the |your )?"
    r"(?:potions?|antidote|poison|drugs?|abilit\w+|vote)|"
    r"(?:not|never|avoid|without)(?: to| the)? "
    r"(?:vot\w+|us\w+|protect\w*|guard\w*|check\w*|verify\w*|kill\w*|poison\w*|act\w*))\b"
)
_VOTE = r"\bvot(?:e|ing)\b(?! history| pattern| result| record|s\b)"
_KILL = rf"\b(?:kill|killing|eliminat\w+|attack\w*)\b{_SOMEBODY}"
_SHIELD = (
    rf"\b(?:protect|protecting|guard|guarding|shield|shielding|save|saving)\b{_SOMEBODY}|"
    r"\bsome(?:one|body) to (?:protect|guard|save)"
)
_USE = r"\b(?:use|using)\b[^.;]{0,30}?\b"
_POISON = rf"{_USE}(?:potions?|drugs?|poison)\b|\bpoison(?:ing)?\b{_SOMEBODY}"
_ANTIDOTE = rf"{_USE}(?:potions?|drugs?|antidote)\b"
_CHECK = (
    r"\b(?:verify|verifying|check|checking|investigat\w+|inspect\w*|identify|identifying|uncover\w*|"
    rf"look(?:ing)? at)\b{_SOMEBODY}"
)
_ABILITY = r"\b(?:use|using)\b[^.;]{0,20}?\b(?:abilit\w+|power)\b"
_DOES = {
    "vote": re.compile(rf"{_VOTE}|{_KILL}"),
    "kill": re.compile(rf"{_KILL}|\bvot(?:e|ing) to kill|{_ABILITY}"),
    **dict.fromkeys(SHIELDS, re.compile(rf"{_SHIELD}|{_ABILITY}")),
    "see": re.compile(rf"{_CHECK}|{_ABILITY}"),
    "poison": re.compile(rf"{_POISON}|{_ABILITY}"),
    "antidote": re.compile(rf"{_ANTIDOTE}|{_SHIELD}|{_ABILITY}"),
}
_ROLE = r"[^.;]{0,40}?\b(?:roles?|identity|what you are|who you are)\b"
_HIDE = re.compile(
    rf"\b(?:hid(?:e|ing)|conceal\w*|keep(?:ing)?|not (?:to )?(?:tell|reveal|disclos|claim|announc)\w*|"
    rf"without (?:telling|revealing|disclosing)|avoid (?:telling|revealing|disclosing)){_ROLE}"
)
_TELL = re.compile(rf"\b(?:tell|telling|reveal\w*|disclos\w+|claim\w*|announc\w+|uncover\w*){_ROLE}")
_CALL = re.compile(
    r"\b(?:call\w*|propos\w+|ask\w*|push\w*) (?:for|on)\b[^.;]{0,40}?\bvot|\bvot(?:e|ing) (?:for|out|to)\b"
)


@lru_cache(1 << 12)
def advised(suggestion: str, kind: str) -> str:
    """The advice in a suggestion for an ask of that kind: `ACT`, `HOLD`, …; "" if it has none. Of two
    opposite ones the first counts.
    """
    text = _CONTRAST.sub("", " ".join(suggestion.casefold().split())[:1200])
    if kind in _DOES:
        nothing, does = _NOTHING.search(text), _DOES[kind].search(text)
        if nothing is None or (does is not None and does.start() < nothing.start()):
            return ACT if does is not None else ""
        return HOLD
    if kind in ("statement", "last-words"):
        if _HIDE.search(text):
            return HIDE
        if _TELL.search(text):
            return TELL
        return CALL if _CALL.search(text) else ""
    return ""
