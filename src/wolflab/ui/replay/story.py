"""The data of the replay page: a game's lines, who may see which, and players' thoughts. A seat's data come
from that seat's events, turns and calls alone, so that they reveal nothing else.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import msgspec

from ...lab.runs.belief_curve import (
    LEAST,
    MOVED,
    BeliefMove,
    belief_curve,
    turning_points,
    why_no_curve,
)
from ...lab.runs.prompts import PromptShown
from ...lab.studies.quoting import WITHHELD
from ...metrics.behaviours import BEHAVIOURS, DetectorView, detected_behaviours
from ...metrics.behaviours.deception import ListenerResponse, deceptions
from ...metrics.play import seat_labels
from ...record import GameRecord, PastTurn
from ...rules import (
    EVERYONE,
    ChoiceEvent,
    Chose,
    ClockEvent,
    DayBroke,
    Event,
    FactEvent,
    FirstSpeaker,
    Learned,
    OfficeEvent,
    Pick,
    Ruleset,
    Said,
    Shot,
    TalkEvent,
    VictimShown,
    VoteCounted,
    Voted,
    facts_of,
    only,
    seats_of,
)
from ...text.asking.rules_text import rules_for_people
from ...text.notes import Chosen, Content, Deduced, Proposed, Rated
from ...text.probes import WITHOUT_OPTIONS
from ...text.reading import Accusation, Claim, Defence, Report, can_be_read, read_in
from ...text.transcript import PUBLIC, Transcript
from ..notes import acted, note_lines

_Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A viewer's part of the record. seat: whose view; None for the moderator's, which is everything.

    events: (place in the record, event), in order. items: lines of the log. begins: place of an event → its
    first line.
    """

    seat: int | None
    events: tuple[tuple[int, Event], ...]
    items: list[_Data]
    begins: dict[int, int]

    def line_at(self, place: int) -> int:
        """The first line at that place of the record or later."""
        return next((line for at, line in self.begins.items() if at >= place), len(self.items))


def story_of(record: GameRecord, title: str, calls: int = 0, seat: int | None = None) -> _Data:
    """The game as plain values for the page. title: words. seat: whose view; None for everything. calls: how
    many prompts come with it (see `packed_prompts`).
    """
    ruleset, seen = record.ruleset, _seen(record, seat)
    everything = seat is None
    return {
        "title": title,
        "as": seat,
        "rules": ruleset.name,
        "rules_text": rules_for_people(ruleset),
        "seats": _seats(record, seat),
        "items": seen.items,
        "known": _known(record, seen),
        "turns": list(_turns(record, seen)),
        "calls": calls,
        "signs": _signs(record, seen) if everything else [],
        "behaviours": {name: one.definition for name, one in BEHAVIOURS.items()} if everything else {},
        "deceptions": _deceptions(record, seen) if everything else [],
        "curve": _curve(record, seen) if everything else {},
    }


def _seats(record: GameRecord, seat: int | None) -> list[_Data]:
    """The players' names; for the moderator also who played, and every role."""
    roles = record.facts.roles
    data = []
    for number, name in enumerate(record.ruleset.names):
        one: _Data = {"seat": number, "name": name, "nick": "", "role": "", "who": ""}
        if seat is None:
            one["role"] = roles[number]
            one["who"] = ", later ".join(map(str, seat_labels(record, number)))
        data.append(one)
    return data


# -- lines ------------------------------------------------------------------------------------------


def _seen(record: GameRecord, seat: int | None) -> _Seen:
    transcript = Transcript(record.ruleset, seat)
    events = tuple([(place, event) for place, event in enumerate(record.events) if transcript.sees(event)])
    items: list[_Data] = []
    begins: dict[int, int] = {}
    for place, event in events:
        begins[place] = len(items)
        sees = event.audience if seat is None or event.audience == EVERYONE else only(seat)
        new = [msgspec.to_builtins(item) for item in transcript.items(event)]
        for item in new:
            item |= {"sees": sees, "alive": transcript.facts.alive, "sheriff": transcript.facts.sheriff}
        if new:
            new[-1] |= _drawn(event, record.ruleset)
        items += new
    return _Seen(seat, events, items, begins)


def _drawn(event: Event, ruleset: Ruleset) -> _Data:
    """The data from which the ring draws an event: actor, action, target, and a statement's claims."""
    match event:
        case Chose(seat, kind, action):
            return {"by": seat, "act": kind, "to": action.seat if isinstance(action, Pick) else None}
        case Learned(seat, target, what):
            return {"by": seat, "act": "see", "to": target, "what": what}
        case VictimShown(seat, victim):
            return {"by": seat, "act": "told", "to": victim}
        case Shot(seat, target):
            return {"by": seat, "act": "shot", "to": target, "gone": [target]}
        case Voted(voter, target):
            return {"by": voter, "act": "vote", "to": target}
        case Said(seat, _, text):
            return {"by": seat, "act": "said", "to": None, "acts": _acts(text, seat, ruleset)}
        case DayBroke(_, deaths):
            return {"gone": list(deaths)}
        case VoteCounted(seat):
            return {"gone": [] if seat is None else [seat], "counted": True}
        case FactEvent() | OfficeEvent() | ClockEvent() | ChoiceEvent() | TalkEvent():
            return {}
    assert_never(event)


def _acts(text: str, seat: int, ruleset: Ruleset) -> list[list[Any]]:
    """A statement's acts, as `text.reading` reads them: ["claims", role], ["accuses", seat] and so on; only
    ["unread"] if it could not be read.
    """
    found: dict[tuple[Any, ...], None] = {}
    if not can_be_read(text, ruleset.names):
        return [["unread"]]
    for act in read_in(ruleset, text, seat):
        match act:
            case Claim(speaker, role, False, by) if speaker == by == seat:
                found["claims", role] = None
            case Report(speaker, "see", target, what, by) if speaker == by == seat:
                found["tells", target, what] = None
            case Accusation(speaker, target, _, by) if speaker == by == seat:
                found["accuses", target] = None
            case Defence(speaker, target, _, _, by) if speaker == by == seat:
                found["defends", target] = None
            case _:
                pass
    return [list(one) for one in found]


def _known(record: GameRecord, seen: _Seen) -> dict[str, list[list[Any]]]:
    """The cards that each perspective learns, in order: [line, seat, role or side].

    Perspectives are `PUBLIC` and this story's seats.
    """
    seats = range(record.ruleset.players) if seen.seat is None else (seen.seat,)
    data: dict[str, list[list[Any]]] = {}
    for viewer in (PUBLIC, *seats):
        facts, mine = facts_of(record.ruleset), list[list[Any]]()
        for place, event in seen.events:
            if event.audience != EVERYONE and (viewer == PUBLIC or viewer not in seats_of(event.audience)):
                continue
            before, facts = facts, facts.then(event)
            for target, (role, side) in enumerate(zip(facts.roles, facts.sides, strict=True)):
                if (role, side) != (before.roles[target], before.sides[target]):
                    word = role or ("Werewolf" if side else "no Werewolf")
                    mine.append([seen.begins[place], target, word])
        data[str(viewer)] = mine
    return data


# -- turns ------------------------------------------------------------------------------------------


def _turns(record: GameRecord, seen: _Seen) -> Iterator[_Data]:
    """Answered asks with their thoughts, each at the line of its result; probes at the line before."""
    names, asked = record.ruleset.names, sorted({turn.at for turn in record.turns})
    ends = dict(zip(asked, [*asked[1:], len(record.events)], strict=True))
    for turn in (*record.turns, *record.probes):
        if turn.seat < 0 or (seen.seat is not None and turn.seat != seen.seat):
            continue
        data: _Data = {"ask": turn.ask, "seat": turn.seat, "kind": turn.kind, "n": _line(turn, seen, ends)}
        if turn.probe is not None:
            data["probe"] = turn.probe
        if turn.invalid:
            data["bad"] = turn.invalid
        if turn.kind != "statement" and turn.kind not in WITHOUT_OPTIONS:
            data["did"] = acted(turn.action, names)
            data["to"] = turn.action.seat if isinstance(turn.action, Pick) else None
        yield data | _thoughts(turn.notes, names)


def _line(turn: PastTurn, seen: _Seen, ends: Mapping[int, int]) -> int:
    """The line of a turn. ends: number of events at an ask → number of events at the next ask."""
    if turn.probe is not None:
        return max(seen.line_at(turn.at) - 1, 0)
    for place, event in seen.events:
        if turn.at <= place < ends[turn.at] and turn.seat == _actor(event):
            return seen.begins[place]
    return min(seen.line_at(turn.at), max(len(seen.items) - 1, 0))


def _actor(event: Event) -> int | None:
    """The seat that caused an event."""
    if isinstance(event, Said | Chose | Shot):
        return event.seat
    if isinstance(event, FirstSpeaker):
        return event.sheriff
    return event.voter if isinstance(event, Voted) else None


def _thoughts(notes: Sequence[tuple[str, Content]], names: Sequence[str]) -> _Data:
    """Notes as the page shows them: beliefs and candidates as data, the others as lines of text."""
    data: _Data = {}
    lines: list[str] = []
    for step, note in notes:
        match note:
            case Deduced(beliefs):
                data["beliefs"] = [
                    [one.target, one.role, one.confidence, one.reliability, one.reasoning] for one in beliefs
                ]
            case Rated(scores):
                data["beliefs"] = [[target, "", 0, score, ""] for target, score in sorted(scores.items())]
            case Proposed(candidates):
                data["could"] = [[one.action, one.reasoning] for one in candidates]
            case Chosen(number, probabilities, value):
                data |= {"took": number, "odds": [round(p, 4) for p in probabilities]}
                if value is not None:
                    data["worth"] = round(value, 4)
            case _:
                lines += note_lines(step, note, names)
    return data | ({"lines": lines} if lines else {})


def _signs(record: GameRecord, seen: _Seen) -> list[list[Any]]:
    """The findings of behaviour detectors: [line, seat, behaviour, why, in what it showed]."""
    if record.outcome is None:
        return []
    return [
        [seen.line_at(one.at), one.seat, one.behaviour, one.why, one.by]
        for one in detected_behaviours(record)
    ]


def _deceptions(record: GameRecord, seen: _Seen) -> list[_Data]:
    """Statements against what their speakers knew: each with its acts, who heard them, and who followed.

    told: how many listeners the record tells something of. followed: [seat, how, whether it had guessed so
    before] of each that followed.
    """
    if record.outcome is None:
        return []
    found: dict[int, _Data] = {}
    for one in deceptions(DetectorView.of(record)):
        line, wrong = seen.line_at(one.statement.at), one.contradiction
        ways: dict[int, list[ListenerResponse]] = {}
        for response in one.responses:
            if response.follows:
                ways.setdefault(response.seat, []).append(response)
        act = {
            "kind": wrong.kind,
            "about": wrong.about,
            "why": wrong.why,
            "said": wrong.said,
            "knew": wrong.knew,
            "heard": one.listeners,
            "told": len({response.seat for response in one.responses}),
            "followed": [
                [seat, [way.by for way in mine], any(way.before for way in mine)]
                for seat, mine in ways.items()
            ],
        }
        found.setdefault(line, {"n": line, "seat": one.statement.seat, "acts": []})["acts"].append(act)
    return list(found.values())


def _curve(record: GameRecord, seen: _Seen) -> _Data:
    """The built-in reader's belief curve: [line, before, after] of each public event, in percent.

    turns: the turning points, [line, before, after, [seat, before, after] of those who moved]. why: why there
    is no curve; "" if there is one. unread: how many statements the reader could not read.
    """
    why = why_no_curve(record)
    if why:
        return {"why": why}
    curve = belief_curve(record)

    def shown(move: BeliefMove) -> list[Any]:
        at = seen.begins[move.at] + isinstance(record.events[move.at], DayBroke)  # not a dawn's heading
        return [at, _percent(move.before), _percent(move.after)]

    said = [event.text for event in record.events if isinstance(event, Said) and event.text]
    names = record.ruleset.names
    return {
        "why": "",
        "points": [shown(move) for move in curve],
        "turns": [
            [*shown(move), [[seat, _percent(before), _percent(after)] for seat, before, after in move.moved]]
            for move in turning_points(curve)
        ],
        "unread": sum(text == WITHHELD or not can_be_read(text, names) for text in said),
        "least": _percent(LEAST),
        "moved": _percent(MOVED),
    }


def _percent(chance: float) -> float:
    return round(100 * chance, 1)


# -- prompts ----------------------------------------------------------------------------------------


def packed_prompts(prompts: Iterable[PromptShown], seat: int | None = None) -> tuple[str, int]:
    """Prompts and replies, packed (gzip, base64), and their number. seat: only those of that seat.

    Prompts repeat each other, so every line of text is kept once: `lines`, and in `asks` for each ask's id
    its calls [step, attempt, [[role, [line, …]], …], reply].
    """
    numbers: dict[str, int] = {}
    asks: dict[str, list[Any]] = {}
    count = 0

    def lines(text: str) -> list[int]:
        return [numbers.setdefault(line, len(numbers)) for line in text.split("\n")]

    for prompt in prompts:
        if seat is not None and prompt.seat != seat:
            continue
        ask, step, attempt = prompt.key.split("|")
        data = [[role, lines(text)] for role, text in prompt.messages]
        asks.setdefault(ask, []).append([step, int(attempt), data, prompt.reply])
        count += 1
    packed = json.dumps({"lines": list(numbers), "asks": asks}, separators=(",", ":"))
    return base64.b64encode(gzip.compress(packed.encode(), 9, mtime=0)).decode(), count


def in_a_page(value: Mapping[str, Any]) -> str:
    """JSON in ASCII for a page's script element: no text in it can end the element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
