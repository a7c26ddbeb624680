"""Advice from past games, drawn from their responses (003 Eq. 7).

It works from words: past responses are short sentences ("I choose to pass.", "I protect Player B tonight.")
or statements, advice is one sentence. `text.advice` reads the gist of advice.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ....rules import SHIELDS
from ....text.advice import ACT, CALL, HIDE, HOLD, TELL
from ....text.masking import LETTERS
from ....text.questions import Extract
from ....text.reading import Claim, Report, Suggestion, read
from ..draws import KeyedDraws

NONE = "No useful experience can be used."
CLEAR = 0.6
"""Minimum share of good responses that do what the bad one does not, for advice."""

# -- the gist of past responses ----------------------------------------------------------------------

_MASKS = tuple(f"Player {letter}" for letter in LETTERS)
_PASSED = re.compile(
    r"\b(?:pass|passed|abstain\w*|do nothing|nobody|no one|no-one|hold back|keep (?:the|my) \w+|"
    r"(?:not|never|won't|don't)(?: to)? (?:vot\w+|us\w+|protect|poison|check|kill|see|save|look|shoot))\b|"
    r"\bno\W*$"
)


def _acted(response: str) -> str:
    """The gist of a choice: `ACT` or `HOLD`."""
    return HOLD if _PASSED.search(" ".join(response[:300].casefold().split())) else ACT


@lru_cache(1 << 12)
def _gists_of(response: str) -> frozenset[str]:
    """The gist of a statement: `TELL` where it claims a role or reports a night action, `CALL` where it calls
    for a vote.
    """
    me = len(_MASKS)
    acts = [act for act in read(response, _MASKS, me) if act.speaker == me]
    gists = set()
    if any(isinstance(act, Claim | Report) for act in acts):
        gists.add(TELL)
    if any(isinstance(act, Suggestion) and not act.against for act in acts):
        gists.add(CALL)
    return frozenset(gists)


def suggestion_from(task: Extract, draws: KeyedDraws) -> str:
    """The gist of the good responses that the bad one lacks, as advice in one sentence; or `NONE`."""
    advice = _advice(task)
    return draws.one("advice", _OPENINGS) + advice if advice else NONE


def _advice(task: Extract) -> str:
    kind, good = task.ask.kind, max(1, len(task.good))
    if kind in _WAYS:
        other = HOLD if _acted(task.bad) == ACT else ACT
        share = sum(_acted(response) == other for response in task.good) / good
        return _WAYS[kind][other] if share >= CLEAR else ""
    if kind in ("statement", "last-words"):
        for way, opposite in ((TELL, HIDE), (CALL, "")):
            share = sum(way in _gists_of(response) for response in task.good) / good
            if way not in _gists_of(task.bad) and share >= CLEAR:
                return _TALK[way]
            if way in _gists_of(task.bad) and opposite and share <= 1 - CLEAR:
                return _TALK[opposite]
    return ""


_OPENINGS = (
    "The best way for you in such a situation is to ",
    "The best way for you to do under such reflection is to ",
    "The best way for you now is to ",
)
_WAYS = {
    "vote": {ACT: "vote for somebody instead of passing.", HOLD: "pass and observe the others for now."},
    "kill": {ACT: "kill somebody instead of passing.", HOLD: "pass and let the night go by."},
    **{
        kind: {
            ACT: "choose somebody to protect instead of passing.",
            HOLD: "pass and protect nobody tonight.",
        }
        for kind in SHIELDS
    },
    "see": {
        ACT: "verify the identity of some player instead of passing.",
        HOLD: "pass and verify nobody tonight.",
    },
    "poison": {ACT: "use your poison on a suspect instead of passing.", HOLD: "pass and keep your poison."},
    "shoot": {ACT: "shoot a suspect instead of passing.", HOLD: "pass and shoot nobody."},
    "antidote": {ACT: "use your antidote.", HOLD: "hold back and keep your antidote."},
}
_TALK = {
    TELL: "tell the others your role openly.",
    HIDE: "hide your role from the others.",
    CALL: "call for a vote against the one whom you suspect.",
}
