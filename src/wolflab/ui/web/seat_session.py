"""The session of one person at a seat: open asks, drafts and answers. Answers are written to disk
(`sessions.json`) before the server confirms them, drafts within half a second, so that they survive a killed
server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ...files import read_json, write
from ...renamed import existing_file
from ...rules import ROLES, Ask, Ruleset
from ...text.asking.options import labels
from ...text.asking.sentences import capitalised
from ...text.clean import LIMIT
from ...text.people import PersonAnswer, TimedAnswer, poll_of, request_for_people
from ...text.probes import Opinion, opinion_asked
from ...text.questions import Deduce, Question, Rate
from .refusals import Refused

SESSIONS = "sessions.json"
NOTES_LIMIT = 10_000
"""The most characters of a person's notes."""
HIDDEN = ("night", "departure", "action")
"""Phases of asks that are secret."""
DRAFT_LIMIT = 4 * LIMIT
"""The most characters of a draft; a statement is cut at `LIMIT` when it is said."""


class StoredSession(msgspec.Struct, omit_defaults=True):
    """A session as stored. answers: by the ask's id. rated, guessed: the person's last ratings and role
    guesses of the others.
    """

    draft: str = ""
    notes: str = ""
    answers: dict[str, TimedAnswer] = {}
    rated: dict[str, int] = {}
    guessed: dict[str, str] = {}


@dataclass(eq=False)
class OpenAsk:
    """An open ask of a person. since, due: when it was shown, and until when it may be answered, by the
    loop's clock; None before. of: its seconds in all.
    """

    question: Question
    answer: asyncio.Future[TimedAnswer]
    since: float | None = None
    due: float | None = None
    of: float = 0.0

    @property
    def ask(self) -> Ask:
        """The ask of the rules or of a probe."""
        return self.question.task.ask

    @property
    def public(self) -> bool:
        """Whether everybody may know that this seat is asked."""
        return self.ask.phase not in HIDDEN

    @property
    def outside(self) -> bool:
        """Whether it is a poll, outside the game."""
        return bool(poll_of(self.ask)) or self.opinion is not None

    @property
    def opinion(self) -> Opinion | None:
        """What is asked about each of the others; None where it is something else."""
        return opinion_asked(self.ask)

    @property
    def rates(self) -> list[str]:
        """The players that it asks about, by name; empty for other asks."""
        task = self.question.task
        names = self.question.situation.ruleset.names
        return [names[seat] for seat in task.targets] if isinstance(task, Rate | Deduce) else []

    def message(self, kept: StoredSession) -> dict[str, Any]:
        """The ask as the page gets it. until: by the loop's clock. among: the possible answers for each
        player; None for a number.
        """
        situation, ask, opinion, rates = self.question.situation, self.ask, self.opinion, self.rates
        before: Mapping[str, Any] = kept.rated
        among: list[str] | None = None
        if opinion is not None:
            text = opinion.asks
            if ask.kind == "guess":
                before, among = kept.guessed, [str(role) for role in opinion.choices(situation.ruleset)]
        elif self.outside:
            text = "If the vote were now, how would you vote?"
        else:
            text = request_for_people(situation, ask)
        free = ask.options is None or bool(rates)
        return {
            "id": ask.id,
            "kind": ask.kind,
            "text": text,
            "options": None if free else list(labels(ask, situation.ruleset)),
            "rate": rates or None,
            "among": among,
            "last": {name: before[name] for name in rates if name in before} if rates else None,
            "outside": self.outside,
            "until": self.due,
            "of": self.of,
            "limit": LIMIT,
        }

    def checked(self, given: PersonAnswer) -> PersonAnswer:
        """The answer in the form to store; Refused if it is invalid."""
        situation, ask, opinion, rates = self.question.situation, self.ask, self.opinion, self.rates
        if opinion is not None:
            judged, choices = opinion.given(given) or {}, opinion.choices(situation.ruleset)
            if set(judged) != set(rates) or not all(each in choices for each in judged.values()):
                raise Refused(422, f"{ask.id}: give each of {', '.join(rates)} {opinion.each}")
            return (
                PersonAnswer(rated=given.rated) if ask.kind == "rate" else PersonAnswer(guessed=given.guessed)
            )
        if ask.options is None:
            if given.said is None:
                raise Refused(422, f"{ask.id}: a statement is asked for; send it as said")
            if len(given.said) > DRAFT_LIMIT:
                raise Refused(422, f"{ask.id}: {len(given.said)} characters; use {LIMIT} at most")
            if not given.said:  # nothing was typed
                return PersonAnswer(said="")
            return PersonAnswer(said=given.said, pasted=given.pasted, away=given.away)
        if given.action(ask, situation.ruleset) is None:
            raise Refused(422, f"{ask.id}: {given.chose!r} is none of the options")
        return PersonAnswer(chose=given.chose)


@dataclass(eq=False)
class SeatSession:
    """One person's session at a seat. connections: open pages of this seat. away_since: when the last of them
    closed. late: asks in a row whose time ran out. rests: how often its person was ready in this night; at a
    shared device, once for each ticket, and rested_with is the last ticket. extra: seconds by which asks of
    this seat were prolonged because of lost connections.
    """

    kept: StoredSession = field(default_factory=StoredSession)
    asks: dict[str, OpenAsk] = field(default_factory=dict)
    connections: int = 0
    away_since: float | None = None
    late: int = 0
    rests: int = 0
    rested_with: str = ""
    extra: float = 0.0

    @property
    def shown(self) -> list[OpenAsk]:
        """The asks that its person may see; those of the game come before probes."""
        asks = [ask for ask in self.asks.values() if ask.due is not None and not ask.answer.done()]
        return sorted(asks, key=lambda ask: ask.outside)

    def give(self, name: str, given: PersonAnswer, now: float) -> bool:
        """Store an answer to an ask; Refused if none is wanted. Returns whether it is new, since pages may
        repeat an answer. now: by the loop's clock.
        """
        timed = self.kept.answers.get(name)
        before = None if timed is None else timed.answer
        open_ask = self.asks.get(name)
        if open_ask is None or open_ask.since is None:
            if before is not None:
                return _again(name, before, given)
            raise Refused(409, f"{name}: you are not asked this; it may be too late")
        checked = open_ask.checked(given)
        if before is not None:
            return _again(name, before, checked)
        if open_ask.answer.done():
            raise Refused(409, f"{name}: the time is over")
        kept = self.kept
        self.kept = msgspec.structs.replace(
            kept,
            answers={**kept.answers, name: TimedAnswer(checked, now - open_ask.since)},
            rated={**kept.rated, **(checked.rated or {})},
            guessed={**kept.guessed, **(checked.guessed or {})},
            draft=kept.draft if checked.said is None else "",
        )
        return True


def _again(name: str, before: PersonAnswer, given: PersonAnswer) -> bool:
    if before == given:
        return False
    raise Refused(409, f"{name}: another answer was sent before, and counts")


def read_sessions(folder: Path, seats: int) -> list[SeatSession]:
    """The stored sessions of a table, or empty ones."""
    file = existing_file(folder / SESSIONS)
    kept: list[StoredSession] = []
    if file.is_file():
        kept = read_json(file, list[StoredSession], "copy it back, or remove it")
    return [SeatSession(kept[seat] if seat < len(kept) else StoredSession()) for seat in range(seats)]


def write_sessions(folder: Path, sessions: list[SeatSession]) -> None:
    """Write the sessions to disk, in place of a file with the old name."""
    old = existing_file(folder / SESSIONS)
    write(folder / SESSIONS, msgspec.json.encode([session.kept for session in sessions]))
    if old.name != SESSIONS:
        old.unlink()


def what_it_does(role: str, ruleset: Ruleset) -> str:
    """A role's card under this game's rules, with its side."""
    if not role:
        return ""
    card = capitalised(ROLES[role].card(ruleset), ruleset)
    side = "the Werewolves" if ROLES[role].wolf else "the village"
    return f"{card}. You win with {side}."
