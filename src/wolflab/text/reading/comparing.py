"""One player set above another: "@2 sounds more honest than @4", "nobody is shadier", "I trust @2 over @4".

Written for normalised sentences (see `text.reading.tokens`); used by `text.reading.shapes`. It knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lexicon import TONE
from .shape import WHO, Shape, denied
from .tokens import seats_of
from .vocabulary import MANY

_COMPARED = re.compile(
    rf"{WHO}(?:'s (?:[\w-]+ ){{0,3}}?[\w-]+)?,? (?:is|are|was|were|seems?|seemed|looks?|looked|sounds?|"
    rf"sounded|"
    r"feels?|felt|has been|reads?|strikes me as|appears?|does|did|comes? (?:across|over|off) as|"
    r"(?:makes|made)(?= (?:\w+ )?(?:more|less) sense))"
    r"(?: (?:to me|so|much|far|way|a lot|even|still|clearly|definitely|a bit|a little|slightly|just|"
    r"somewhat|"
    r"infinitely|considerably|significantly|marginally|no|any|like|as|to be|being|been|a|the))*"
    r" (?:(?P<more>more|less|not as|not so|nowhere near as|nowhere as|nearly as) (?P<adj>[\w-]+)(?: \w+)?|"
    rf"(?P<er>[\w-]+er|worse)) (?:than|as) (?:that of |what )?(?P<than>{MANY}|he|she|they|anyone|anybody|"
    rf"everyone|"
    r"everybody|most|the (?:others?|rest))(?:'s(?: \w+)?| (?:is|was|does|did))?"
)
_PREFERRED = re.compile(
    rf"\b(?:(?P<verb>trust|believe|prefer|back|follow|side with|pick|choose|take|listen to) "
    rf"(?P<who>{MANY})(?:'s "
    rf"[\w-]+)? (?:over|above|before|rather than|more than|instead of|any day over) (?:i would |i |i will "
    rf")?(?:trust |believe )?(?P<than>{MANY})(?:'s [\w-]+)?)"
)
_TOPPED = re.compile(
    r"\b(?:nobody|no-one|no one|none of (?:you|us|them)|few)(?: else)?(?: here)? (?:is|looks|seems|sounds|"
    r"acts|has been|are|"
    rf"strikes me as) more (?P<word>[a-z-]+)(?: to me)? than {WHO}"
)
"""Nobody is more so than somebody."""


def comparisons(text: str) -> Iterator[Shape]:
    """The stances of a statement that sets one player above another."""
    if " more " in text:
        for match in _TOPPED.finditer(text):
            if (tone := TONE.get(match["word"])) is not None:
                yield Shape(seats_of(match["who"]), tone, 2, match.start(), match.end())
    for match in _COMPARED.finditer(text):
        if match["er"]:
            bad = TONE.get(match["er"], TONE.get(match["er"][:-2], TONE.get(match["er"][:-3] + "y")))
        else:
            bad = TONE.get(match["adj"])
            if bad is not None and match["more"] != "more":
                bad = not bad
        if bad is not None and re.search(r"\bno $", text[: match.start("more")] if match["more"] else ""):
            yield Shape((), bad, 1, match.start(), match.end())
        elif bad is not None:
            yield Shape(seats_of(match["who"]), bad, 2, match.start(), match.end())
    for match in _PREFERRED.finditer(text):
        if not denied(text[: match.start()]):
            yield Shape(seats_of(match["who"]), False, 2, match.start(), match.end())
