"""Interviews of players who had claimed another role than their own (003 A.4).

An interview is a probe, so it is in the record's second chain. Interviews are counted by side and by the
claimed role, and a few answers of each kind are quoted. An answer is what a player says of itself, not what
it meant. This module knows records and numbers of games, and no store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest

from ..record import GameRecord
from ..rules import ROLES, Said
from ..stats.intervals import Estimate, mean, share
from ..text.notes import Interviewed
from ..text.reading import claimed_against
from .behaviours import SIDES, SideName

INTERVIEW = "interview"
"""The probe's kind in the record."""
MOST_QUOTES = 4
"""The number of quoted answers for each condition, of different kinds if possible."""


@dataclass(frozen=True, slots=True)
class InterviewGiven:
    """One interview. name, role: of the player; claimed: the role that it had claimed; said: its statement.

    answer: its reason; None without a usable reply. ask: the id of the question.
    """

    round: int
    name: str
    role: str
    claimed: str
    said: str
    answer: str | None
    ask: str = ""

    @property
    def side(self) -> SideName:
        """The side of the player."""
        return "werewolves" if ROLES[self.role].wolf else "village"


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted answer and the number of its game."""

    game: int
    interview: InterviewGiven


@dataclass(frozen=True, slots=True)
class Pairing:
    """A role and the role claimed: the number of interviews, and of usable answers."""

    role: str
    claimed: str
    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class InterviewRows:
    """The interviews of a condition. asked: interviews per game, by side; answered: the share with a usable
    answer.

    pairings: the most frequent first.
    """

    condition: str
    games: int
    total: int
    asked: Mapping[SideName, Estimate]
    answered: Estimate
    pairings: tuple[Pairing, ...]
    quotes: tuple[Quote, ...]


def interviews_of(record: GameRecord) -> tuple[InterviewGiven, ...]:
    """The interviews of a game, in order."""
    interviews = []
    for probe in record.probes:
        if probe.kind != INTERVIEW:
            continue
        seat, role = probe.seat, record.roles[probe.seat]
        events = record.events[: probe.at]
        statements = [event.text for event in events if isinstance(event, Said) and event.seat == seat]
        said = statements[-1] if statements else ""
        note = next((note for _, note in probe.notes if isinstance(note, Interviewed)), None)
        claimed = note.claimed if note else claimed_against(said, seat, role, record.ruleset) or "?"
        answer = note.text if note is not None and probe.invalid is None else None
        name = record.ruleset.names[seat]
        interviews.append(InterviewGiven(probe.round, name, role, claimed, said, answer, probe.ask))
    return tuple(interviews)


def interview_rows(
    condition: str, games: Sequence[tuple[int, int, Sequence[InterviewGiven]]]
) -> InterviewRows:
    """The interviews of a condition. games: (deal, number of the game, interviews) of each finished game."""
    given = [(number, interview) for _, number, interviews in games for interview in interviews]
    asked = Counter((interview.role, interview.claimed) for _, interview in given)
    answered = Counter(
        (interview.role, interview.claimed) for _, interview in given if interview.answer is not None
    )

    def asked_of(side: SideName) -> Estimate:
        counts = [
            (deal, float(sum(interview.side == side for interview in interviews)))
            for deal, _, interviews in games
        ]
        return mean(counts)

    answers = [
        (
            deal,
            float(sum(interview.answer is not None for interview in interviews)),
            float(len(interviews)),
        )
        for deal, _, interviews in games
    ]
    return InterviewRows(
        condition,
        len(games),
        len(given),
        {side: asked_of(side) for side in SIDES},
        share(answers, "interviews"),
        tuple(
            Pairing(*pairing, n, answered[pairing])
            for pairing, n in sorted(asked.items(), key=lambda item: (-item[1], item[0]))
        ),
        _quoted(given),
    )


def _quoted(given: Sequence[tuple[int, InterviewGiven]]) -> tuple[Quote, ...]:
    """A few answers, from each pairing in turn, chosen by a hash, so that no game is preferred."""
    by_pairing: dict[tuple[str, str], list[Quote]] = {}
    for number, interview in given:
        if interview.answer:
            pairing = interview.role, interview.claimed
            by_pairing.setdefault(pairing, []).append(Quote(number, interview))
    ranked = sorted(by_pairing.values(), key=lambda quotes: -len(quotes))
    in_turn = zip_longest(*(sorted(quotes, key=_lot) for quotes in ranked))
    return tuple([quote for turn in in_turn for quote in turn if quote is not None][:MOST_QUOTES])


def _lot(quote: Quote) -> bytes:
    interview = quote.interview
    return blake2b(f"{quote.game}/{interview.round}/{interview.name}".encode(), digest_size=8).digest()
