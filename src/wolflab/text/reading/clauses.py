"""A normalised sentence cut into clauses, and the players each is about; it knows words, and no game."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .spelling import seats_named
from .vocabulary import MANY


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_BOUNDARY = word_set(
    "but while because although though yet since so whereas therefore hence then which cause cuz coz as "
    "given considering unlike until when whenever after before plus except and or ; ,"
)
NEGATIONS = word_set(
    "not never no hardly without nothing nobody none cannot neither nor less barely scarcely rarely seldom "
    "unlikely lacks lack lacking zero impossible refuse doubt"
)
SAYING = word_set(
    "said says say saying claim claims claimed claiming accuse accuses accused accusing suspect suspects "
    "suspected suspecting think thinks thought thinking believe believes believed believing told tells tell "
    "telling wants want wanted call calls called calling defend defends defended defending vouch vouches "
    "vouched trust trusts trusted doubts doubted suggest suggests suggested suggesting report reports "
    "reported insist insists insisted ask asks asked mention mentions mentioned argue argues argued "
    "questioned questions named finds considers considered sees regards"
)
_PREPOSITIONS = word_set(
    "on for against of to with at about from over towards toward by behind around into than like versus "
    "after before onto between in under regarding concerning"
)

_TOKEN = re.compile(rf"{MANY}|@\d+|'s|[a-z]+(?:['-][a-z]+)*|\d+|=|~+|[,;]")


@dataclass(slots=True)
class Clause:
    """Tokens of a clause with its players as one token each; `groups`: index of such a token → seats."""

    tokens: list[str]
    groups: dict[int, tuple[int, ...]]


def clauses(text: str, full: str) -> Iterator[Clause]:
    """Cut a sentence into clauses; a list of players is one token. What other patterns have taken is a
    clause without tokens that tells only of whom it spoke."""
    matches = list(_TOKEN.finditer(text))
    tokens = [match[0] for match in matches]
    now = Clause([], {})
    for at, token in enumerate(tokens):
        if token[0] == "~" or (token in _BOUNDARY and _cuts(tokens, at, now)):
            if now.tokens:
                yield now
            now = Clause([], {})
            struck = (
                re.findall(MANY, full[matches[at].start() : matches[at].end()]) if token[0] == "~" else ()
            )
            if struck:
                yield Clause([], {0: seats_named(struck[0])})
        elif token[0] == "@":
            now.groups[len(now.tokens)] = seats_named(token)
            now.tokens.append("@")
        else:
            now.tokens.append(token)
    if now.tokens:
        yield now


def _cuts(tokens: list[str], at: int, now: Clause) -> bool:
    """Does the boundary word at `at` part two clauses (and not two words of a list)?"""
    token = tokens[at]
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if token == "given" and at and tokens[at - 1] in ("has", "have", "had", "not", "been", "never", "was"):
        return False
    if token == "yet" and after in ("", "to", ",") and at:
        return False
    if token == "as":
        return after in ("i", "he", "she", "they", "we", "it") or after[:1] == "@"
    if token == "," and after[:1] == "@" and not now.groups:  # "my suspects: 2 and 5"
        beyond = tokens[at + 2] if at + 2 < len(tokens) else ","
        return not (now.tokens and beyond in _BOUNDARY and len(now.tokens) < 7)
    if token in ("and", "or"):
        before = tokens[at - 1] if at else ""
        return token == "and" and before not in NEGATIONS
    return True


def is_subject(clause: Clause, at: int) -> bool:
    """Is the player at `at` in the place of a subject, not behind a preposition or a verb?"""
    if at == 0:
        return True
    before = clause.tokens[at - 1]
    if before in _PREPOSITIONS:
        return False
    if (at > 1 and clause.tokens[at - 2] == "to") or (
        before.endswith(("ed", "ing")) and (at > 1 or before[-1] == "d")
    ):
        return False
    return not (before in SAYING and before not in ("think", "believe", "say", "thinks", "feel"))


def spoken_in(clause: Clause) -> tuple[int, ...]:
    """The players whom a clause is about: its first subject, or else its first player."""
    for at, seats in clause.groups.items():
        if is_subject(clause, at):
            return seats
    return next(iter(clause.groups.values()), ())
