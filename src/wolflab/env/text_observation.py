"""The observation as text: one line for each event that a seat has seen, and the request of the ask.

Sentences, requests and the labels of options are those of language agents (`text`). A `Text` space has a
fixed alphabet and length: other characters become "?", and the oldest public lines are left out if the text
is too long. Private lines and the request always stay; `min_limit` is the length that they may need.
`WerewolfAEC.view` has everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from ..agents.memory import remember, situation
from ..errors import ExperimentError
from ..rules import (
    EVERYONE,
    MODERATOR,
    NO,
    NOT_WOLF,
    PASS,
    YES,
    Ask,
    Chose,
    Dealt,
    Event,
    Learned,
    NightFell,
    PackMet,
    Role,
    Ruleset,
    VictimShown,
    View,
    pick,
)
from ..text.asking.sentences import a_role, sentence
from ..text.asking.wording import moderator_request, time_of
from ..text.questions import Line, Situation
from .checks import checked_number
from .vector import kinds, phases

ALPHABET = "\n" + "".join(map(chr, [*range(0x20, 0x7F), *range(0xA1, 0x250)])) + "–—‘’“”…‹›€"
"""ASCII, Latin letters with diacritics, and the punctuation of English prose."""
_KNOWN = frozenset(ALPHABET)

LEFT_OUT = "[Older lines that everybody was told are left out here: {}.]"
"""The first line of a shortened text. No player can say it: statements have no square brackets
(`text.clean`)."""
IDLE = "Nothing is asked of you, for the game ended before your first turn: pass."


def text_observation(view: View, ask: Ask | None, since: int, limit: int) -> str:
    """The view's events from number `since` on, one line each, then the request, in `limit` characters.

    Raises ExperimentError if the lines that must stay are longer, because a role shows its holders more than
    `min_limit` expects.
    """
    lines = [
        (sentence(event, view.seat, view.ruleset, now.round, now.phase), event.audience == EVERYONE)
        for event, now in view.with_facts(since)
        if not isinstance(event, NightFell)  # the lines say when they happened
    ]
    if ask is not None:
        asked = situation(view, remember(view, prune=False), ask, "append")
        lines.append((_request(asked, ask) if ask.kind else IDLE, False))
    text = _fitted(lines, limit)
    return text if _KNOWN.issuperset(text) else "".join(c if c in _KNOWN else "?" for c in text)


def _request(now: Situation, ask: Ask) -> str:
    """The time, the player's name and role, and the request with the labels of the options."""
    who = f"You are {now.ruleset.names[now.seat]}, {a_role(now.role)}."
    return f"It is {time_of(now)}. {who} The moderator asks you to {moderator_request(now, ask)}."


def _fitted(lines: Sequence[tuple[str, bool]], limit: int) -> str:
    """The lines, joined. lines: (text, whether it may be left out). The oldest are left out first."""
    joined = "\n".join(line for line, _ in lines)
    if len(joined) <= limit:
        return joined
    may_go = [len(line) + 1 for line, public in lines if public]
    size, gone = len(joined) + len(LEFT_OUT.format(len(may_go))) + 1, 0
    while size > limit:
        if gone == len(may_go):
            raise ExperimentError(
                f"text_limit: got {limit}; the private lines of a seat need more now: use {size} or more"
            )
        size -= may_go[gone]
        gone += 1
    kept, left = [LEFT_OUT.format(gone)], gone
    for line, public in lines:
        if public and left:
            left -= 1
        else:
            kept.append(line)
    return "\n".join(kept)


# -- what must stay -----------------------------------------------------------------------------


def text_length(limit: int | None, text: str, ruleset: Ruleset) -> int:
    """The length of the text space. ExperimentError for a limit that is too small."""
    needed = min_limit(ruleset) if text != "none" else 1
    if limit is None:
        return max(4096, needed)
    given = checked_number("text_limit", limit, 1)
    if given < needed:
        raise ExperimentError(
            f"text_limit: got {given}; what no text may leave out takes up to {needed} characters under "
            f"these rules: use {needed} or more, or text='none'"
        )
    return given


@lru_cache(64)
def min_limit(ruleset: Ruleset) -> int:
    """The smallest safe `text_limit` in characters: all private lines of a longest game, the longest request,
    and the line about lines that were left out.
    """
    alone = max(_private_length(role, ruleset) for role in ruleset.cast)
    return alone + _longest_question(ruleset) + 1 + len(LEFT_OUT.format(10**5))


def _private_length(role: Role, ruleset: Ruleset) -> int:
    """The length of all lines that only a holder of `role`, or only its pack, may see in a longest game.

    Each round a duty adds a line for each visible choice, one if it learns something, and one if something is
    shown before it. The last seat has the longest name.
    """
    me, last = 0, ruleset.players - 1
    pack = range(ruleset.players - ruleset.count(role.name), ruleset.players) if role.pack else (last,)

    def longest(*events: Event, viewer: int = me) -> int:
        return max(len(sentence(event, viewer, ruleset, ruleset.max_rounds, "night")) + 1 for event in events)

    size = longest(Dealt(last, role.name, MODERATOR), viewer=last)
    if role.pack:
        size += longest(PackMet(tuple(pack), MODERATOR), viewer=pack[0])
    for duty in role.duties:
        who = last if len(pack) > 1 else me
        chosen = [Chose(who, duty.kind, action, MODERATOR) for action in (pick(last), PASS, YES, NO)]
        a_round = len(pack) * longest(*chosen)
        if duty.reads:
            shown = (*(card.name for card in ruleset.cast), NOT_WOLF)
            a_round += longest(*(Learned(me, last, result, MODERATOR) for result in shown))
        if duty.prelude is not None:
            a_round += longest(VictimShown(me, last, MODERATOR))
        size += ruleset.max_rounds * a_round
    return size


def _longest_question(ruleset: Ruleset) -> int:
    seats = tuple(range(ruleset.players))
    role = max((role.name for role in ruleset.cast), key=len)
    victim = Line(1, 1, "night", VictimShown(0, seats[-1], MODERATOR), 0)
    sizes = [len(IDLE)]
    for kind, phase, seat in product(kinds(ruleset), phases(ruleset), seats):
        now = Situation(ruleset, seat, role, (), ruleset.max_rounds, phase, seats, None, (victim,))
        sizes.append(len(_request(now, Ask("", seat, kind, phase, 1, (*map(pick, seats), PASS)))))
    return max(sizes)
