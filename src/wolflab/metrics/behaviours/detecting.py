"""A game as the detectors see it: who lived when, what was said and read in it, votes, nights, beliefs.

Everything that detectors share is worked out once here, from the record alone. A statement is read by
`text.reading` (claims, reports, accusations …) and by `signs` (deaths, votes, citations, calls …).
Choices that the rules made in a player's stead (unusable replies) are facts of the game, but nobody's
behaviour: they are marked as not `meant`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from ...record import GameRecord
from ...rules import (
    EVERYONE,
    ROLES,
    SHIELDS,
    Answer,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    Departure,
    Event,
    Facts,
    FirstSpeaker,
    GameEnded,
    Learned,
    LeftBy,
    NightFell,
    PackMet,
    Pick,
    Revealed,
    Said,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    facts_of,
)
from ...text.notes import Belief, Deduced, Mistake, Reflected, Thought
from ...text.reading import Accusation, Act, Claim, Report, Suggestion, read
from .sighting import By, SideName, Sighting
from .signs import ME, Sign, signs_of

ASKED = {"discussion": "statement", "election": "campaign", "last words": "last-words"}
"""Where something was said, to the kind of the ask."""
NIGHTS = {"looked": "see", "shielded": "protect"}
"""Signs that tell of a night action, to the kind of a report."""
SAVES = SHIELDS | {"antidote"}
"""Kinds of night actions that keep a player alive."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One public statement that was not silence.

    acts: what `text.reading` finds; reports: what the speaker tells of their own nights, checks without a
    result included; signs: what `signs` finds, the speaker's seat filled in. public: what all had been told
    by then. alive: who lived then, and the speaker. heard: who had made a statement by then, at any time.
    asked: who had been asked to speak by then, silence included. today: the same for this round's discussion
    or election.
    """

    at: int
    ask: str
    round: int
    seat: int
    where: str
    text: str
    acts: tuple[Act, ...]
    reports: tuple[Report, ...]
    signs: tuple[Sign, ...]
    public: Facts
    alive: frozenset[int]
    heard: frozenset[int]
    asked: frozenset[int]
    today: frozenset[int]

    @property
    def own(self) -> Iterator[Act]:
        """The speaker's own acts, not those that are quoted of others."""
        return (act for act in self.acts if act.speaker == self.seat)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the speaker says of their own role."""
        return tuple(act for act in self.own if isinstance(act, Claim))

    def suspects(self, least: int = 2) -> dict[int, str]:
        """Whom the speaker accuses (at that strength or more), reports as a Werewolf or wants out: how."""
        found: dict[int, str] = {}
        for act in self.own:
            match act:
                case Report(_, "see", target, "Werewolf"):
                    found.setdefault(target, "reports")
                case Suggestion(_, target, False):
                    found.setdefault(target, "proposes the vote against")
                case Accusation(_, target, strength) if strength >= least:
                    found.setdefault(target, "accuses")
                case _:
                    pass
        return found

    def told(self, kind: str) -> Iterator[Sign]:
        """The signs of one kind."""
        return (sign for sign in self.signs if sign.kind == kind)


@dataclass(frozen=True, slots=True)
class Ballot:
    """One public vote. target: None for none. what: "eliminate" or "elect". meant: not a stand-in's."""

    at: int
    ask: str
    round: int
    seat: int
    target: int | None
    what: str
    meant: bool


@dataclass(frozen=True, slots=True)
class Deed:
    """One night choice. kind: the ask's. target: for the antidote, whom it saved. meant: not a stand-in's."""

    at: int
    ask: str
    round: int
    seat: int
    kind: str
    target: int
    meant: bool


@dataclass(frozen=True, slots=True)
class Musing:
    """A private text: a reflection, a thought, or the beginning of a reply that could not be used.

    kind: "reflection", "thought" or "mistake". asked: the kind of the ask at which it was written.
    """

    at: int
    ask: str
    round: int
    seat: int
    kind: str
    asked: str
    text: str


@dataclass(slots=True)
class DetectorView:
    """See the module. Sequences are in the order in which things happened; `wolves` are seats."""

    record: GameRecord
    names: tuple[str, ...]
    roles: tuple[str, ...]
    wolves: frozenset[int]
    statements: list[Statement] = field(default_factory=list)
    ballots: list[Ballot] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    checks: list[tuple[int, Learned]] = field(default_factory=list)
    """(round, what was learned)."""
    debates: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Round → who lived when its discussion began."""
    silences: set[tuple[int, int, str]] = field(default_factory=set)
    """(round, seat, where) of those who were asked to speak and said nothing."""
    musings: list[Musing] = field(default_factory=list)
    beliefs: list[tuple[int, str, int, Belief]] = field(default_factory=list)
    """(index, ask id, rater, judgement)."""

    @classmethod
    def of(cls, record: GameRecord) -> DetectorView:
        """Work one game out; a game that did not end is read as far as it goes."""
        roles = record.roles
        wolves = frozenset(seat for seat, role in enumerate(roles) if ROLES[role].wolf)
        play = cls(record, record.ruleset.names, roles, wolves)
        _Walk(play).run()
        return play

    def side(self, seat: int) -> SideName:
        """The side of a seat."""
        return "werewolves" if seat in self.wolves else "village"

    def fellows(self, one: int, other: int) -> bool:
        """Whether two seats are on the same side."""
        return (one in self.wolves) == (other in self.wolves)

    def packmates(self, one: int, other: int) -> bool:
        """Whether both seats are Werewolves (one may be the other)."""
        return one in self.wolves and other in self.wolves

    def special(self, seat: int) -> bool:
        """Whether that seat has an ability and is of the village side."""
        role = ROLES[self.roles[seat]]
        return not role.wolf and not role.plain

    def name(self, seat: int) -> str:
        """What a seat is called."""
        return self.names[seat]

    def departure(self, seat: int) -> Departure | None:
        """When and how that seat left the game; None where it did not."""
        return next((gone for gone in self.record.facts.departures if gone.seat == seat), None)

    def left(self, round: int, how: LeftBy) -> tuple[int, ...]:
        """Who left in that round in that way."""
        gone = self.record.facts.departures
        return tuple(one.seat for one in gone if one.round == round and one.how == how)

    def before(self, at: int) -> Iterator[Statement]:
        """Statements made before the event at that index."""
        for statement in self.statements:
            if statement.at >= at:
                return
            yield statement

    def spoke(self, seat: int, round: int) -> bool:
        """Whether that seat made a statement in that round."""
        return any(one.seat == seat and one.round == round for one in self.statements)

    def silent(self, seat: int, round: int) -> bool:
        """Whether that seat was asked to speak in that round's discussion and said nothing."""
        return (round, seat, "discussion") in self.silences

    def sighting(
        self,
        behaviour: str,
        one: Statement | Ballot | Deed | Musing,
        why: str,
        target: int | None = None,
    ) -> Sighting:
        """A sighting of what that player said, voted, did or thought."""
        by: By = "words"
        match one:
            case Ballot():
                by = "vote"
            case Deed():
                by = "night"
            case Musing():
                by = "thought"
            case Statement():
                pass
        return Sighting(behaviour, one.seat, one.at, one.ask, target, why, by)


class _Walk:
    """One pass over the events, then one over the turns' notes."""

    def __init__(self, play: DetectorView) -> None:
        self.play = play
        self.public = facts_of(play.record.ruleset)
        self.heard: frozenset[int] = frozenset()
        self.asked: frozenset[int] = frozenset()
        self.today: frozenset[int] = frozenset()
        self.where = ""
        self.victims: dict[int, int] = {}
        self.index: dict[str, int] = {}
        self.stand_ins = {turn.ask for turn in play.record.turns if turn.invalid is not None}

    def run(self) -> None:
        for at, event in enumerate(self.play.record.events):
            if event.audience == EVERYONE:
                self.public = self.public.then(event)
            self._event(at, event)
        self._notes()

    def _event(self, at: int, event: Event) -> None:
        match event:
            case NightFell():
                self.where, self.victims = "", {}
            case Chose():
                self._chose(at, event)
            case VictimShown(seat, victim):
                self.victims[seat] = victim
            case Learned():
                self.play.checks.append((self.public.round, event))
            case Said():
                self._said(at, event)
            case Voted():
                self._voted(at, event)
            case Dealt() | PackMet() | DayBroke() | Shot() | Revealed() | SheriffNamed() | VoteCounted():
                pass  # what they say is among the facts
            case GameEnded():
                pass
            case SheriffDrawn() | SpeakersDrawn() | CandidatesNamed() | FirstSpeaker():
                pass  # nobody's behaviour
            case _:
                assert_never(event)

    def _voted(self, at: int, event: Voted) -> None:
        round, voter, what = self.public.round, event.voter, event.what
        ask = f"{round}/{'vote' if what == 'eliminate' else 'elect'}/{voter}"
        self.index[ask] = at
        self.play.ballots.append(Ballot(at, ask, round, voter, event.target, what, ask not in self.stand_ins))

    def _chose(self, at: int, event: Chose) -> None:
        round = self.public.round
        ask = f"{round}/{event.kind}/{event.seat}"
        self.index[ask] = at
        target: int | None = None
        if isinstance(event.action, Pick):
            target = event.action.seat
        elif isinstance(event.action, Answer) and event.action.yes:
            target = self.victims.get(event.seat)
        if target is not None:
            meant = ask not in self.stand_ins
            self.play.deeds.append(Deed(at, ask, round, event.seat, event.kind, target, meant))

    def _said(self, at: int, event: Said) -> None:
        play, seat, round, living = self.play, event.seat, self.public.round, self.public.living
        if event.where != self.where:
            self.where, self.today = event.where, frozenset()
        if event.where == "discussion":
            play.debates.setdefault(round, living)
        ask = f"{round}/{ASKED[event.where]}/{seat}"
        self.index[ask] = at
        if event.text:
            signs = tuple(_mine(sign, seat) for sign in signs_of(event.text, play.names))
            acts = read(event.text, play.names, seat)
            reports = _reports(acts, signs, seat)
            play.statements.append(
                Statement(
                    at, ask, round, seat, event.where, event.text, acts, reports, signs,
                    self.public, frozenset((*living, seat)), self.heard, self.asked, self.today,
                )
            )  # fmt: skip
            self.heard |= {seat}
        else:
            play.silences.add((round, seat, event.where))
        self.asked |= {seat}
        self.today |= {seat}

    def _notes(self) -> None:
        for turn in self.play.record.turns:
            if turn.seat < 0:
                continue
            at = self.index.get(turn.ask, turn.at)
            for _, content in turn.notes:
                match content:
                    case Deduced(beliefs):
                        self.play.beliefs.extend((at, turn.ask, turn.seat, one) for one in beliefs)
                    case Thought(text):
                        self._musing(at, turn.ask, turn.seat, "thought", text)
                    case Mistake(_, _, _, reply):
                        self._musing(at, turn.ask, turn.seat, "mistake", reply)
                    case Reflected(text):
                        self._musing(at, turn.ask, turn.seat, "reflection", text)
                    case _:
                        pass

    def _musing(self, at: int, ask: str, seat: int, kind: str, text: str) -> None:
        round, asked, _ = ask.split("/", 2)
        self.play.musings.append(Musing(at, ask, int(round), seat, kind, asked, text))


def _reports(acts: tuple[Act, ...], signs: tuple[Sign, ...], seat: int) -> tuple[Report, ...]:
    """The speaker's own reports. "I saw player_2 sneaking about last night" is no check."""
    met = {sign.who for sign in signs if sign.kind == "night talk"}
    told = {
        (act.kind, act.target): act
        for act in acts
        if isinstance(act, Report) and act.speaker == seat and not (act.kind == "see" and act.target in met)
    }
    for sign in signs:
        kind = NIGHTS.get(sign.kind)
        if kind is not None:
            told.setdefault((kind, sign.whom), Report(seat, kind, sign.whom, "", seat))
    return tuple(told.values())


def _mine(sign: Sign, seat: int) -> Sign:
    """A sign with the speaker's seat where it says "I"."""
    if ME in (sign.who, sign.whom):
        return replace(
            sign, who=seat if sign.who == ME else sign.who, whom=seat if sign.whom == ME else sign.whom
        )
    return sign


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One kind of behaviour and its detector.

    family: "social" (003 §5), "strategic" (004 App. G), "failure" (004 H.3), "hallucination" (002 Table
    18, 003 A.4). definition: what counts, in one sentence. limits: what the detector cannot see. find:
    a game to its sightings; the same act may be seen twice, `sightings` keeps the first.
    """

    name: str
    family: Literal["social", "strategic", "failure", "hallucination"]
    source: str
    definition: str
    limits: str
    find: Callable[[DetectorView], Iterator[Sighting]]
