"""General truths about wolves applied to somebody, and questions whose answer is plain.

"No wolf would do that", "how did @4 know?", "am I the only one who finds @3 odd?": for `text.reading`, for
normalised sentences (see `text.reading.spelling`). It knows words, and no game.
"""

from __future__ import annotations

import re

from .sentence import Sentence, last_named
from .spelling import seats_named
from .vocabulary import MANY

_WOLF = r"(?:wol(?:f|ves)|werewol(?:f|ves)|mafia|scum|packmates?|baddies?|traitors?|liars?|evil|guilty)"
_TRUTHS: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
    (re.compile(pattern), bad)
    for pattern, bad in (
        (
            rf"\b(?:no|not a|what kind of|never a|hardly a) (?:\w+ )?{_WOLF} (?:\w+ )?"
            r"(?:would|could|does|do|will|ever|goes|votes|says|risks?|acts?|talks?|plays?)\b",
            False,
        ),
        (
            rf"\b{_WOLF} (?:\w+ )?(?:would|could|do|does|will|should|can) ?"
            r"(?:not|never|hardly|rarely|seldom)\b",
            False,
        ),
        (
            rf"\b(?:only|just|exactly what|what|how|like|the way|as|something) (?:a|an|the|any)? ?{_WOLF} "
            r"(?:\w+ )?(?:would|could|does|do|will|wants?|says?|acts?|knows?|needs?|might|ought|talks?|"
            r"behaves?|loves?)\b",
            True,
        ),
        (
            r"\bspeaks volumes\b|\bsays it all\b|\btells you (?:everything|all)\b|\bsee the pattern\b|"
            r"\bdraw your own conclusions?\b|\bdo the math\b",
            True,
        ),
    )
)
_RHETORIC = re.compile(
    r"\bhow (?:on earth |the hell |else |exactly |in the world )?(?:did|could|would|does|can|is it that) "
    rf"(?:(?P<knew>{MANY})|he|she|they|you) (?:possibly |already |even |ever )*(?:know|knew|guess|predict|"
    r"be so (?:sure|certain)|find out|have known)\b|"
    rf"\bwhy (?:is|was|are) (?P<lives>{MANY}) (?:still |even )*(?:alive|breathing|here|not dead|so (?:quiet|"
    r"nervous|defensive|silent|eager|keen|quick|sure|afraid|scared|worried|desperate|interested))"
)
"""Questions that only somebody suspicious gives cause for."""
_STATING = re.compile(
    r"^(?:and |but |so )?(?:am i (?:the only one|alone)(?: here)?(?: who| that| in| to)?(?: has| is)?"
    r"(?:(?P<mine>(?= (?:thinks?\b|finds?\b|finding|thinking|suspects?\b|doubts?\b|distrusts?\b)))| noticed|"
    r" notices?| noticing| sees?| seeing)?|(?:has|did|have|does)(?: \w+){0,2} (?:anyone|anybody|nobody|"
    r"no-one|you|everyone|we|noone)(?: of you| all)?(?: else)?(?: also| not)? (?:noticed?|see|seen|catch|"
    r"caught|hear|heard|realise|realize|find it \w+)(?: how| that| the way)"
    r"(?! anything)|can you believe(?: how| that)?|(?:do|did) you (?:all |not )?(?:see|notice|realise|"
    r"realize|hear)(?: how| that)|is it just me,? or(?: is| does| has| was)?|you know (?:who|what)) ?"
    r"(?P<what>(?!anything|whether|if).*)$"
)
"""Questions that state what they ask."""


def asked_plainly(text: str) -> str:
    """The statement in a question ("am I the only one who finds @3 odd" → "i finds @3 odd"), or ""."""
    match = _STATING.match(text)
    if match is None:
        return ""
    clause = match["what"].rstrip("?!. ")
    return f"i {clause}" if match["mine"] is not None else clause


def rhetoric(sentence: Sentence) -> None:
    """Read a question, which has a meaning only where its answer is plain."""
    match = _RHETORIC.search(sentence.text)
    if match is not None:
        named = seats_named(match["knew"] or match["lives"] or "")
        sentence.judge(named or sentence.named_before(match.start()), True)


def truths(sentence: Sentence) -> None:
    """Read the first general truth about wolves, applied to the player whom the sentence is about."""
    for pattern, bad in _TRUTHS:
        if (match := pattern.search(sentence.text)) is not None:
            named = last_named(sentence.text, ()) if "@" in sentence.text else sentence.last
            seats = last_named(sentence.text[: match.start()], named)
            sentence.judge(seats, bad)
            if seats:
                sentence.strike(*match.span())
            return
