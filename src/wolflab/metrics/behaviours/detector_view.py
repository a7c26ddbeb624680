"""A game in the form that detectors need: survivors, statements and their meaning, votes, night actions,
notes.

It is computed once, from the record alone. A statement is read by `text.reading` (claims, reports,
accusations …) and by `signs` (deaths, votes, citations, calls …). Stand-ins for unusable replies are facts of
the game, but no behaviour: they are marked as not `meant`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, assert_never

from ...record import GameRecord, PastTurn
from ...rules import (
    EVERYONE,
    ROLES,
    SHIELDS,
    Answer,
    Chose,
    ClockEvent,
    Departure,
    Event,
    FactEvent,
    Facts,
    Learned,
    LeftBy,
    NightFell,
    OfficeEvent,
    Pick,
    Said,
    VictimShown,
    Voted,
    facts_of,
)
from ...text.notes import Mistake, Reflected, Thought
from ...text.reading import (
    Accusation,
    Act,
    Claim,
    Report,
    Suggestion,
    can_be_read,
    read_in,
    with_roles_marked,
)
from .signs import ME, Sign, signs_of

SideName = Literal["village", "werewolves"]
SIDES: tuple[SideName, ...] = ("village", "werewolves")

ASKED = {"discussion": "statement", "election": "campaign", "last words": "last-words"}
"""Place of a statement → kind of the ask."""
NIGHTS = {"looked": "see", "shielded": "protect"}
"""Kind of a sign of a night action → kind of a report."""
SAVES = SHIELDS | {"antidote"}
"""Kinds of night actions that protect a player."""
SPECIAL = frozenset(name for name, role in ROLES.items() if not role.wolf and not role.plain)
"""Roles of the village side with an ability."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One public statement, not silence.

    unread: it could not be read (it is not English), so it has no acts and no signs. acts: from
    `text.reading`; reports: the speaker's reports of their own nights, including checks without a result;
    signs: from `signs`, with the speaker's seat filled in. public: the public facts by then. alive: the
    living, and the speaker. spoke_before: all who had made a statement by then. asked_before: all who had
    been asked to speak by then. asked_today: the same in this round's discussion or election.
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
    spoke_before: frozenset[int]
    asked_before: frozenset[int]
    asked_today: frozenset[int]
    unread: bool = False

    @property
    def own(self) -> Iterator[Act]:
        """The speaker's own acts, without quotations of others."""
        return (act for act in self.acts if act.speaker == self.seat)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The speaker's claims of their own role."""
        return tuple(act for act in self.own if isinstance(act, Claim))

    @property
    def roles_claimed(self) -> tuple[str, ...]:
        """The roles that the speaker claims to have."""
        return tuple(claim.role for claim in self.claims if not claim.denied)

    def suspects(self, least: int = 2) -> dict[int, str]:
        """Player → how the speaker suspects it: accuses it (at that strength or more), reports it as a
        Werewolf or wants it out.
        """
        suspects: dict[int, str] = {}
        for act in self.own:
            match act:
                case Report(_, "see", target, "Werewolf"):
                    suspects.setdefault(target, "reports")
                case Suggestion(_, target, False):
                    suspects.setdefault(target, "proposes the vote against")
                case Accusation(_, target, strength) if strength >= least:
                    suspects.setdefault(target, "accuses")
                case _:
                    pass
        return suspects

    def signs_of_kind(self, kind: str) -> Iterator[Sign]:
        """The signs of one kind."""
        return (sign for sign in self.signs if sign.kind == kind)


@dataclass(frozen=True, slots=True)
class Ballot:
    """One public vote. target: None for no vote. what: "eliminate" or "elect". meant: it is no stand-in."""

    at: int
    ask: str
    round: int
    seat: int
    target: int | None
    what: str
    meant: bool


@dataclass(frozen=True, slots=True)
class NightAction:
    """One night action. kind: the ask's. target: of the antidote, the saved player. meant: it is no
    stand-in.
    """

    at: int
    ask: str
    round: int
    seat: int
    kind: str
    target: int
    meant: bool


@dataclass(frozen=True, slots=True)
class PrivateText:
    """A private text: a reflection, a thought, or the start of an unusable reply.

    kind: "reflection", "thought" or "mistake". ask_kind: of the ask.
    """

    at: int
    ask: str
    round: int
    seat: int
    kind: str
    ask_kind: str
    text: str


class Evidence(NamedTuple):
    """An act that shows a behaviour.

    why: the evidence, in one sentence. target: the player concerned, if any.
    """

    act: Statement | Ballot | NightAction | PrivateText
    why: str
    target: int | None = None


@dataclass(slots=True)
class DetectorView:
    """See the module. Sequences are in the order of the game; `wolves` are seats."""

    record: GameRecord
    names: tuple[str, ...]
    roles: tuple[str, ...]
    wolves: frozenset[int]
    statements: list[Statement] = field(default_factory=list)
    ballots: list[Ballot] = field(default_factory=list)
    night_actions: list[NightAction] = field(default_factory=list)
    checks: list[tuple[int, Learned]] = field(default_factory=list)
    """(round, result) of each check."""
    alive_in_discussion: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Round → the living at the start of its discussion."""
    silences: set[tuple[int, int, str]] = field(default_factory=set)
    """(round, seat, place) of players who were asked to speak and said nothing."""
    private_texts: list[PrivateText] = field(default_factory=list)

    @classmethod
    def of(cls, record: GameRecord | DetectorView) -> DetectorView:
        """The view of a record, also of an unfinished one; a view is returned as it is."""
        if isinstance(record, DetectorView):
            return record
        wolves = frozenset(seat for seat, role in enumerate(record.roles) if ROLES[role].wolf)
        view = cls(record, record.ruleset.names, record.roles, wolves)
        _Walk(view).run()
        return view

    def side(self, seat: int) -> SideName:
        """The side of a seat."""
        return "werewolves" if seat in self.wolves else "village"

    def same_side(self, seat: int, other: int) -> bool:
        """Whether two seats are on the same side."""
        return (seat in self.wolves) == (other in self.wolves)

    def packmates(self, seat: int, other: int) -> bool:
        """Whether both seats are Werewolves (they may be equal)."""
        return seat in self.wolves and other in self.wolves

    def name(self, seat: int) -> str:
        """The name of a seat."""
        return self.names[seat]

    @property
    def read_sides(self) -> frozenset[SideName]:
        """The sides of which at least half of the statements could be read."""
        unread = Counter[SideName]()
        for statement in self.statements:
            unread[self.side(statement.seat)] += 1 if statement.unread else -1
        return frozenset(side for side in SIDES if unread[side] <= 0)

    def departure(self, seat: int) -> Departure | None:
        """When and how a seat left the game; None for a survivor."""
        return next((departure for departure in self.record.facts.departures if departure.seat == seat), None)

    def left(self, round: int, how: LeftBy) -> tuple[int, ...]:
        """The seats that left in that round in that way."""
        departures = self.record.facts.departures
        return tuple(
            departure.seat for departure in departures if departure.round == round and departure.how == how
        )

    def before(self, at: int) -> Iterator[Statement]:
        """Statements made before the event at that index."""
        for statement in self.statements:
            if statement.at >= at:
                return
            yield statement

    def votes_against(self, seat: int, at: int) -> Iterator[Ballot]:
        """Votes to eliminate that seat, cast before the event at that index."""
        for ballot in self.ballots:
            if ballot.target == seat and ballot.what == "eliminate" and ballot.at < at:
                yield ballot

    def spoke(self, seat: int, round: int) -> bool:
        """Whether a seat made a statement in that round."""
        return any(statement.seat == seat and statement.round == round for statement in self.statements)

    def silent(self, seat: int, round: int) -> bool:
        """Whether a seat was asked to speak in that round's discussion and said nothing."""
        return (round, seat, "discussion") in self.silences


class _Walk:
    """Builds a view: one pass over the events, then one over the turns' notes."""

    def __init__(self, view: DetectorView) -> None:
        self.view = view
        self.public = facts_of(view.record.ruleset)
        self.spoke: frozenset[int] = frozenset()
        self.asked: frozenset[int] = frozenset()
        self.asked_today: frozenset[int] = frozenset()
        self.where = ""
        self.victims: dict[int, int] = {}
        self.index: dict[str, int] = {}
        self.stand_ins = {turn.ask for turn in view.record.turns if turn.invalid is not None}
        self.asks: dict[tuple[str, int], list[PastTurn]] = defaultdict(list)
        for turn in view.record.turns:
            self.asks[turn.kind, turn.seat].append(turn)

    def run(self) -> None:
        for at, event in enumerate(self.view.record.events):
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
                self.view.checks.append((self.public.round, event))
            case Said():
                self._said(at, event)
            case Voted():
                self._voted(at, event)
            case FactEvent() | OfficeEvent() | ClockEvent():
                pass  # no behaviour of a player
            case _:
                assert_never(event)

    def _ask(self, at: int, kind: str, seat: int) -> str:
        """The id of the ask whose answer caused the event at that index."""
        ask = next(turn.ask for turn in reversed(self.asks[kind, seat]) if turn.at <= at)
        self.index[ask] = at
        return ask

    def _voted(self, at: int, event: Voted) -> None:
        round, voter, what = self.public.round, event.voter, event.what
        ask = self._ask(at, "vote" if what == "eliminate" else "elect", voter)
        self.view.ballots.append(Ballot(at, ask, round, voter, event.target, what, ask not in self.stand_ins))

    def _chose(self, at: int, event: Chose) -> None:
        round = self.public.round
        ask = self._ask(at, event.kind, event.seat)
        target: int | None = None
        if isinstance(event.action, Pick):
            target = event.action.seat
        elif isinstance(event.action, Answer) and event.action.yes:
            target = self.victims.get(event.seat)
        if target is not None:
            meant = ask not in self.stand_ins
            self.view.night_actions.append(NightAction(at, ask, round, event.seat, event.kind, target, meant))

    def _said(self, at: int, event: Said) -> None:
        view, seat, round, living = self.view, event.seat, self.public.round, self.public.living
        if event.where != self.where:
            self.where, self.asked_today = event.where, frozenset()
        if event.where == "discussion":
            view.alive_in_discussion.setdefault(round, living)
        ask = self._ask(at, ASKED[event.where], seat)
        if event.text:
            unread = not can_be_read(event.text, view.names)
            rules = view.record.ruleset
            found = () if unread else signs_of(with_roles_marked(event.text, rules), view.names)
            signs = tuple(_with_seat(sign, seat) for sign in found)
            acts = () if unread else read_in(rules, event.text, seat)
            reports = _reports(acts, signs, seat)
            view.statements.append(
                Statement(
                    at, ask, round, seat, event.where, event.text, acts, reports, signs,
                    self.public, frozenset((*living, seat)), self.spoke, self.asked, self.asked_today, unread,
                )
            )  # fmt: skip
            self.spoke |= {seat}
        else:
            view.silences.add((round, seat, event.where))
        self.asked |= {seat}
        self.asked_today |= {seat}

    def _notes(self) -> None:
        for turn in self.view.record.turns:
            at = self.index.get(turn.ask, turn.at)
            for _, content in turn.notes:
                match content:
                    case Thought(text):
                        kind = "thought"
                    case Mistake(_, _, _, text, False):
                        kind = "mistake"
                    case Reflected(text):
                        kind = "reflection"
                    case _:
                        continue
                private = PrivateText(at, turn.ask, turn.round, turn.seat, kind, turn.kind, text)
                self.view.private_texts.append(private)


def _reports(acts: tuple[Act, ...], signs: tuple[Sign, ...], seat: int) -> tuple[Report, ...]:
    """The speaker's own reports. "I saw player_2 sneaking about last night" is no check."""
    heard_at_night = {sign.who for sign in signs if sign.kind == "night talk"}
    reports = {
        (act.kind, act.target): act
        for act in acts
        if isinstance(act, Report)
        and act.speaker == seat
        and not (act.kind == "see" and act.target in heard_at_night)
    }
    for sign in signs:
        kind = NIGHTS.get(sign.kind)
        if kind is not None:
            reports.setdefault((kind, sign.whom), Report(seat, kind, sign.whom, "", seat))
    return tuple(reports.values())


def _with_seat(sign: Sign, seat: int) -> Sign:
    """A sign with the speaker's seat instead of "I"."""
    who, whom = (seat if player == ME else player for player in (sign.who, sign.whom))
    return replace(sign, who=who, whom=whom)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One kind of behaviour and its detector.

    family: "social" (003 §5), "strategic" (004 App. G), "failure" (004 H.3), "hallucination" (002 Table 18,
    003 A.4). definition: what counts, in one sentence. limits: what the detector misses. find: yields the
    evidence in a game; `detected_behaviours` drops duplicates.
    """

    name: str
    family: Literal["social", "strategic", "failure", "hallucination"]
    source: str
    definition: str
    limits: str
    find: Callable[[DetectorView], Iterator[Evidence]]
