"""Interviews of players who had spoken against their role (003 A.4): how many, who, and what they say.

An interview is a probe, so it stands in the record's second chain. Each is told by side and by the role that
was claimed, and a few answers of each kind are quoted: an answer is what a player says of itself, never what
it meant. It knows records and numbers of games, and nothing of the store that they came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ..record import GameRecord
from ..rules import ROLES, Said
from ..stats.intervals import Estimate, mean, share
from ..text.camouflage import claimed_against
from ..text.notes import Interviewed
from .behaviours import SIDES, SideName

KIND = "interview"
"""What the record calls such a probe."""
QUOTED = 4
"""Answers quoted of each condition, of different kinds as far as there are."""


@dataclass(frozen=True, slots=True)
class InterviewGiven:
    """One interview. name, role: of whom; claimed: the role that it had spoken as; said: those words.

    answer: its reason; None where no usable one came.
    """

    round: int
    name: str
    role: str
    claimed: str
    said: str
    answer: str | None

    @property
    def side(self) -> SideName:
        """The side of whoever was asked."""
        return "werewolves" if ROLES[self.role].wolf else "village"


@dataclass(frozen=True, slots=True)
class Quote:
    """An answer to be read, and the game (its number in the run) in which it was given."""

    game: int
    interview: InterviewGiven


@dataclass(frozen=True, slots=True)
class Pairing:
    """How often a holder of `role` was asked about having spoken as `claimed`, and answered usably."""

    role: str
    claimed: str
    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class InterviewRows:
    """Over a condition's games. asked: interviews a game, by side; answered: share with a usable answer.

    pairings: the most frequent first.
    """

    condition: str
    games: int
    total: int
    asked: Mapping[SideName, Estimate]
    answered: Estimate
    pairings: tuple[Pairing, ...]
    quotes: tuple[Quote, ...]


def interviews(record: GameRecord) -> tuple[InterviewGiven, ...]:
    """All interviews of a game, in order."""
    found = []
    for turn in record.probes:
        if turn.kind != KIND:
            continue
        role = record.roles[turn.seat]
        mine = (
            one.text for one in record.events[: turn.at] if isinstance(one, Said) and one.seat == turn.seat
        )
        said = ["", *mine][-1]
        note = next((each for _, each in turn.notes if isinstance(each, Interviewed)), None)
        claimed = note.claimed if note else claimed_against(said, turn.seat, role, record.ruleset) or "?"
        usable = note is not None and turn.invalid is None
        found.append(
            InterviewGiven(
                turn.round,
                record.ruleset.names[turn.seat],
                role,
                claimed,
                said,
                note.text if usable and note is not None else None,
            )
        )
    return tuple(found)


def interview_rows(
    condition: str, found: Sequence[tuple[int, int, Sequence[InterviewGiven]]], seed: int = 0
) -> InterviewRows:
    """(deal, number of the game, its interviews) of each finished game of a condition."""
    every = [(game, one) for _, game, mine in found for one in mine]
    asked = Counter((one.role, one.claimed) for _, one in every)
    answered = Counter((one.role, one.claimed) for _, one in every if one.answer is not None)
    return InterviewRows(
        condition,
        len(found),
        len(every),
        {
            side: mean(
                [(deal, float(sum(one.side == side for one in mine))) for deal, _, mine in found], seed=seed
            )
            for side in SIDES
        },
        share(
            [
                (deal, float(sum(one.answer is not None for one in mine)), float(len(mine)))
                for deal, _, mine in found
            ],
            "interviews",
            seed=seed,
        ),
        tuple(
            Pairing(*key, n, answered[key]) for key, n in sorted(asked.items(), key=lambda i: (-i[1], i[0]))
        ),
        _quoted(every),
    )


def _quoted(every: Sequence[tuple[int, InterviewGiven]]) -> tuple[Quote, ...]:
    """A few answers, one of each pairing in turn; a hash decides which, so that no game is preferred."""
    kinds: dict[tuple[str, str], list[Quote]] = {}
    for game, one in every:
        if one.answer:
            kinds.setdefault((one.role, one.claimed), []).append(Quote(game, one))
    ranked = sorted(kinds.values(), key=lambda quotes: -len(quotes))
    for quotes in ranked:
        quotes.sort(key=_lot)
    turns = range(max(map(len, ranked), default=0))
    kept = [quotes[k] for k in turns for quotes in ranked if k < len(quotes)]
    return tuple(kept[:QUOTED])


def _lot(quote: Quote) -> bytes:
    one = quote.interview
    return blake2b(f"{quote.game}/{one.round}/{one.name}".encode(), digest_size=8).digest()
