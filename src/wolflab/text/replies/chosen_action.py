"""Reading a chosen action back: another spelling of a name, a bare number, a negation, a refusal to choose.

`read_action` never returns an action that the ask does not list; `read_player` and `mentions` find players
in any text. The words of the options stand in `asking.options`. It knows the ask and the ruleset, and nothing
of the game.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from ...rules import DUTIES, PASS, SHIELDS, Action, Answer, Ask, Deal, Lead, Pick, Ruleset, Say
from ..asking.options import NUMBER_WORDS, labels
from ..clean import clean

_SYNONYMS: dict[str, tuple[str, ...]] = {
    "kill": ("kill", "eliminate", "attack", "murder", "bite", "hunt"),
    **dict.fromkeys(SHIELDS, ("protect", "save", "guard", "shield", "heal", "defend")),
    "see": ("see", "check", "inspect", "investigate", "look at", "verify", "examine"),
    "poison": ("poison", "kill", "use the poison on", "use poison on"),
    "shoot": ("shoot", "shoot down", "fire at", "kill", "eliminate", "take down", "take with me"),
    "vote": ("vote", "eliminate", "lynch", "expel", "remove", "banish"),
    "elect": ("vote", "elect", "support"),
    "succeed": ("name", "appoint", "hand over", "pass"),
}
"""Verbs that mean the same choice. Guard and Doctor shield under two names, and both count for all who
shield."""

_ANY_VERB = ("choose", "pick", "select", "target", "action")
_READ = 2000
"""Characters read of a chosen action: beyond that it is an essay, not a choice."""

_NOT_LEGAL = "is not a legal choice now"
_CHOOSE = "; choose one of: "
"""Parts of the sentence about a choice that cannot be taken. Records hold it, so these words stay."""

_NEAR = 60
"""Characters before a name within which its verb is looked for."""


@lru_cache(1 << 13)
def read_action(text: str, ask: Ask, ruleset: Ruleset) -> Action | str:
    """The option of `ask` that `text` chooses, or a sentence saying why none was understood.

    Exact labels are taken as they stand, and so is a label that was cut short where it can be no other.
    Else, in this order: a choice that follows its verb ("kill player_3"), the first legal player named, a
    refusal where passing is legal. Names may be spelled
    freely ("Player 3", "player_3.", "3"); what is negated ("not Player 2") is not chosen; "myself"
    is the asked seat. Free-text asks give the statement, cleaned.
    """
    if ask.options is None:
        return Say(clean(text))
    flat = _flat(text)
    for option, labelled in zip(ask.options, labels(ask, ruleset), strict=True):
        if flat.strip(" .!'") == _flat(labelled):
            return option
    choice = _cut_short(flat, ask, ruleset) or _understand(flat, ask, ruleset)
    if choice is None:
        return _problem(text, "names none of the options", ask, ruleset)
    if isinstance(choice, str):
        return _problem(text, choice, ask, ruleset)
    if choice not in ask.options:
        return _problem(text, _NOT_LEGAL, ask, ruleset)
    return choice


def is_illegal(reason: str) -> bool:
    """Whether a reply was unusable because its choice was not legal then (a vote for a dead player). reason:
    as `read_action` gave it. False where no choice could be read.
    """
    return reason.rpartition(_CHOOSE)[0].endswith(f'" {_NOT_LEGAL}')


def _cut_short(flat: str, ask: Ask, ruleset: Ruleset) -> Action | None:
    """The one option whose label begins with the text, if the text has at least half of it; else None.

    Where the text ends in a number that the label goes on with, it names another player ("player_1" is not
    the beginning of "player_12").
    """
    said = flat.strip(" .!'…")
    begun = [
        (option, label)
        for option, label in zip(ask.options or (), map(_flat, labels(ask, ruleset)), strict=True)
        if said and label.startswith(said)
    ]
    if len(begun) != 1:
        return None
    option, label = begun[0]
    rest = label[len(said) :]
    number_goes_on = said[-1:].isdigit() and rest[:1].isdigit()
    return option if 2 * len(said) >= len(label) and not number_goes_on else None


def _understand(flat: str, ask: Ask, ruleset: Ruleset) -> Action | str | None:
    options = ask.options or ()
    if any(isinstance(option, Answer) for option in options):
        return _yes_or_no(flat)
    if any(isinstance(option, Lead) for option in options):
        return _side(flat)
    if any(isinstance(option, Deal) for option in options):
        return None
    return _player(flat, ask, ruleset)


@lru_cache(1 << 13)
def _flat(text: str) -> str:
    """Lower case, plain quotes, single spaces, bounded: the form in which actions are compared."""
    text = unicodedata.normalize("NFKC", text[:_READ]).casefold()
    text = re.sub(r"[‘’`´\"“”„*]", "'", text)
    return re.sub(r"\s+", " ", text).strip(" '")


def _problem(text: str, why: str, ask: Ask, ruleset: Ruleset) -> str:
    shown = clean(text, 80) or "(nothing)"
    return f'the action "{shown}" {why}{_CHOOSE}{", ".join(labels(ask, ruleset))}'


# -- yes or no, left or right -----------------------------------------------------------------

_NO = re.compile(r"\b(?:no|not|never|nope|don't|won't|cannot|can't|refuse|decline|pass)\b")
_YES = re.compile(r"\b(?:yes|yeah|yep|sure|save|use|will)\b")


def _yes_or_no(flat: str) -> Action | None:
    first = re.match(r"\W*(yes|no|true|false)\b", flat)
    if first:
        return Answer(first[1] in ("yes", "true"))
    if _NO.search(flat):
        return Answer(False)
    return Answer(True) if _YES.search(flat) else None


def _side(flat: str) -> Action | str | None:
    sides = [(m[0], _negated(flat, m.start(), 0)) for m in re.finditer(r"\b(?:left|right)\b", flat)]
    wanted = {word for word, negated in sides if not negated}
    if len(wanted) == 2:
        return "names both sides"
    if wanted:
        return Lead(wanted == {"left"})
    barred = {word for word, _ in sides}
    return Lead("right" in barred) if len(barred) == 1 else None


# -- players ----------------------------------------------------------------------------------


class Mention(NamedTuple):
    """A player named in a text: `seat` is None for a number that no player has."""

    start: int
    end: int
    seat: int | None


@lru_cache(256)
def _name_pattern(ruleset: Ruleset) -> re.Pattern[str]:
    """The ruleset's own names and "player N", spaced or joined in any way."""
    before, after = ruleset.player_name.casefold().split("{}")
    number = r"(?:no\.?\s*)?#?\s*(?:(?P<{0}>\d{{1,3}})(?!\d)|(?P<w{0}>" + "|".join(NUMBER_WORDS) + r")\b)"
    own = _loose(before) + number.format("a") + _loose(after)
    if not re.search(r"\w", before):
        own = r"(?!)" + number.format("a")  # names that begin with the number would match every number
    return re.compile(
        rf"(?:(?<![^\W_])|(?<=\bfor))(?:{own}|players?[\s_#-]*{number.format('b')})", re.IGNORECASE
    )


def _loose(part: str) -> str:
    return re.sub(r"(?:\\?[\s_-])+", lambda _: r"[\\s_-]*", re.escape(part)) if part else ""


def mentions(text: str, ruleset: Ruleset) -> tuple[Mention, ...]:
    """Every player named in `text`, in order; "player_12" is never player_1."""
    named = []
    for m in _name_pattern(ruleset).finditer(text):
        digits, word = m["a"] or m["b"], m["wa"] or m["wb"]
        number = int(digits) if digits else NUMBER_WORDS.index(word.casefold()) + 1
        named.append(Mention(m.start(), m.end(), _seat(number, ruleset)))
    return tuple(named)


def _seat(number: int, ruleset: Ruleset) -> int | None:
    seat = number - ruleset.first_player
    return seat if 0 <= seat < ruleset.players else None


@lru_cache(1 << 13)
def read_player(text: str, ruleset: Ruleset) -> int | None:
    """The seat of the one player that `text` names ("Player 3", "player_3:", "3"), else None."""
    flat = _flat(text)
    for seat, name in enumerate(ruleset.names):
        if flat == _flat(name):
            return seat
    seats = {m.seat for m in mentions(flat, ruleset)}
    if not seats:
        bare = re.fullmatch(r"\W*#?(\d{1,3})\W*", flat)
        seats = {_seat(int(bare[1]), ruleset)} if bare else set()
    return seats.pop() if len(seats) == 1 else None


_BARE_NUMBER = re.compile(r"(?<![\w.])#?(\d{1,3})(?!\w|\.\d)")
_TIME = re.compile(r"\b(?:night|day|round|turn|no|number|option|step)\s*#?$")
_SELF = re.compile(r"\b(?:myself|me|self)\b")
_CLAUSE = re.compile(r"[,.;:!?()]|\b(?:but|because|since|as|so|then|while|although)\b")
_NEGATION = re.compile(
    r"\b(?:not|never|no|without|except|avoid|nor|neither)\b|n't\b|\b(?:instead of|rather than)\b"
)
_PASSING = re.compile(
    r"\b(?:abstain(?:s|ed|ing)?|pass(?:es|ing)?|skip(?:s|ping)?|"
    r"nobody|no[ -]?one|no player|none|nothing|no vote|no kill)\b"
)
_REFUSING = re.compile(
    r"(?:\b(?:not|no|never)|n't)\s+(?:to\s+)?(?:vot\w*|kill\w*|protect\w*|sav\w*|see|poison\w*|check\w*|choos\w*|act|use|target\w*|attack\w*|shoot\w*|fire)\b"
)


def _player(flat: str, ask: Ask, ruleset: Ruleset) -> Action | None:
    named = _named(flat, ask, ruleset)
    governing = _governing(ask.kind)
    wanted: list[tuple[int, Action, bool]] = []
    negated = False
    end = 0
    for mention in named:
        joined = re.fullmatch(r"[\s,']*(?:or|nor|and|,)?\s*", flat[end : mention.start])
        negated = negated if end and joined else _negated(flat, mention.start, end)
        if not negated and not _aside(flat, mention.start):
            seat = -1 if mention.seat is None else mention.seat
            wanted.append(
                (mention.start, Pick(seat), governing.search(_just_before(flat, mention.start)) is not None)
            )
        end = mention.end
    refused = _refusal(flat, named)
    options = ask.options or ()
    first = _first_choice(wanted, options)
    if refused is not None and (PASS in options or not wanted) and (first is None or refused < first[0]):
        return PASS
    return first[1] if first else None


def _first_choice(
    wanted: list[tuple[int, Action, bool]], options: tuple[Action, ...]
) -> tuple[int, Action] | None:
    """The first player governed by the ask's verb, legal or not; else the first legal player named."""
    for at, action, governed in wanted:
        if governed:
            return at, action
    for at, action, _ in wanted:
        if action in options:
            return at, action
    return wanted[0][:2] if wanted else None


def _named(flat: str, ask: Ask, ruleset: Ruleset) -> tuple[Mention, ...]:
    """Players named, the speaker's "myself", and bare numbers where no name is given."""
    named = list(mentions(flat, ruleset))
    governing = _governing(ask.kind)
    for m in _SELF.finditer(flat):
        if m[0] == "myself" or m[0] == flat.strip(" .!'") or governing.search(_just_before(flat, m.start())):
            named.append(Mention(m.start(), m.end(), ask.seat))
    if not named:
        for m in _BARE_NUMBER.finditer(flat):
            if not _TIME.search(flat[: m.start()]):
                named.append(Mention(m.start(), m.end(), _seat(int(m[1]), ruleset)))
    return tuple(sorted(named))


def _just_before(flat: str, at: int) -> str:
    return flat[max(0, at - _NEAR) : at]


@lru_cache(64)
def _governing(kind: str) -> re.Pattern[str]:
    """Matches a text that ends with a verb of this kind, waiting for its object."""
    own = (DUTIES[kind].verb,) if kind in DUTIES else ()
    verbs = "|".join(map(re.escape, (*_SYNONYMS.get(kind, ()), *own, *_ANY_VERB)))
    filler = (
        r"(?:for|out|against|on|at|to|is|the|with|eliminate|elect|kill|protect|save|see|name|[:'=\-\[\](])"
    )
    return re.compile(rf"\b(?:{verbs})(?:s|es|ing)?(?:\s*{filler})*\s*$")


def _negated(flat: str, at: int, after: int) -> bool:
    """Whether a negation stands before `at` in the same clause (and after position `after`)."""
    before = flat[after:at]
    breaks = [m.end() for m in _CLAUSE.finditer(before)]
    return _NEGATION.search(before[breaks[-1] :] if breaks else before) is not None


def _aside(flat: str, at: int) -> bool:
    """Whether the player named at `at` is who speaks: "as player_1", "I am player_1"."""
    return re.search(r"\b(?:as|i am|i'm|my name is|since i am)\s+(?:the\s+)?$", flat[:at]) is not None


def _refusal(flat: str, named: tuple[Mention, ...]) -> int | None:
    """The position at which the text first refuses to choose."""
    places = []
    for m in _PASSING.finditer(flat):
        if m[0].startswith("no") or not _negated(flat, m.start(), 0):
            places.append(m.start())
    for m in _REFUSING.finditer(flat):
        stop = _CLAUSE.search(flat, m.end())
        clause_end = stop.start() if stop else len(flat)
        if not any(m.end() <= mention.start < clause_end for mention in named):
            places.append(m.start())
    return min(places, default=None)
