"""How it is now, as each viewer of a table is told of it.

Beside what a seat's own feed holds, everything here follows from public facts, from what the table declares,
and by day from who is connected.
"""

from __future__ import annotations

from typing import Any

from ...text.asking.rules_text import rules_for_people
from ...text.asking.sentences import listed
from .feed import Feed, encode
from .seat_session import what_it_does
from .table_state import Awaited, Room
from .timeline import clock

_Told = dict[str, Any]
"""What a message holds, by the names that the page knows. Times are by the loop's clock."""


def first_told(room: Room) -> _Told:
    """What only the first message of a connection says."""
    return {"rules_text": rules_for_people(room.ruleset), "declared": room.plan.declared()}


def tell_everybody(room: Room) -> None:
    """Tell everybody how it is; who would be told nothing new is sent nothing (`Feed.publish`)."""
    common = _common(room)
    for seat, feed in (*enumerate(room.seats), (None, room.public), (None, room.host)):
        you = None if seat is None else _you(room, seat, feed)
        feed.publish(encode({**common, "seats": _seats(room, feed), "you": you}))


def _common(room: Room) -> _Told:
    plan, facts = room.plan, room.public.facts
    start = None
    if room.starts is not None and plan.state == "lobby":
        text = "Built-in players take the open seats, and the game begins"
        start = {"until": room.starts, "text": text}
    return {
        "table": {
            "code": plan.code,
            "name": plan.name,
            "rules": plan.rules,
            "state": plan.state,
            "why": plan.why,
            "vanish": plan.vanish,
            "marked": plan.marked,
            "measure": plan.measure,
            "listed": plan.listed,
            "times": plan.times,
            "night": plan.night_seconds,
            "free": len(plan.free),
            "next": plan.next,
            "way": plan.way,
            "signals": plan.signals,
        },
        "time": facts.phase,
        "round": facts.round,
        "turn": _turn(room),
        "pause": _pause(room),
        "start": start,
        "spectators": room.spectators,
    }


def _turn(room: Room) -> _Told | None:
    """Whose turn it is, what they do, and by when; None where nobody is waited for."""
    timeline, awaited = room.timeline, room.awaited
    if timeline is None or room.plan.state != "playing":
        return None
    seats: tuple[int, ...] = ()
    what, text = "night", "It is night"
    until: float | None
    seconds: float | None
    if timeline.night_began is not None:
        until, seconds = timeline.night_began + timeline.night, timeline.night
    elif awaited is not None:
        seats, what, text = awaited.seats, awaited.what, _turn_sentence(room, awaited)
        until = seconds = None  # an agent's time tells nothing that anybody has to know
        if not room.plan.marked or not all(room.of_agent(seat) for seat in seats):
            dues = [ask.due for seat in seats for ask in room.desks[seat].shown if ask.due is not None]
            if not room.plan.marked:
                dues = []  # all turns are as long as each other
            until, seconds = max([awaited.since + awaited.seconds, *dues]), awaited.seconds
    elif timeline.hidden_until is not None:
        what, text = "wait", "The game rests for a moment"
        until, seconds = timeline.hidden_until, room.plan.times.hidden
    else:
        return None
    return {"seats": seats, "what": what, "text": text, "until": until, "of": seconds}


def _turn_sentence(room: Room, awaited: Awaited) -> str:
    if awaited.what == "vote" and awaited.seats == room.public.facts.living and len(awaited.seats) > 1:
        return "Everybody votes"
    verb = awaited.what if len(awaited.seats) > 1 else f"{awaited.what}s"
    return f"{listed([room.called(seat) for seat in awaited.seats])} {verb}"


def _pause(room: Room) -> _Told | None:
    """Somebody whose turn it is has lost the connection: by day alone, and where people are marked."""
    plan = room.plan
    quiet = room.public.facts.phase == "night" or not plan.marked
    if room.awaited is None or plan.state != "playing" or quiet:
        return None
    for seat in room.awaited.seats:
        lost = room.lost_for(seat)
        if room.desks[seat].shown and not room.here(seat) and lost < plan.patience:
            text = f"{room.called(seat)} has lost the connection; the game waits"
            return {"text": text, "until": clock() - lost + plan.patience}
    return None


def _seats(room: Room, feed: Feed) -> list[_Told]:
    plan, facts = room.plan, feed.facts
    playing, lobby, over = plan.state == "playing", plan.state == "lobby", plan.state == "over"
    quiet = playing and room.public.facts.phase == "night"
    roles = room.host.facts.roles if over else facts.roles
    told = []
    for number, seat in enumerate(plan.seats):
        person = seat.taken or (lobby and seat.of_person)
        told.append(
            {
                "seat": number,
                "name": room.ruleset.names[number],
                "nick": seat.nick if plan.marked or over else "",
                "kind": (seat.kind if person else "agent") if plan.marked else "player",
                "open": plan.marked and lobby and number in plan.free,
                "alive": bool(facts.alive >> number & 1),
                "sheriff": facts.sheriff == number,
                "here": room.here(number) if plan.marked and person and not quiet else None,
                "stand_in": plan.marked and playing and not quiet and room.stood_in(number),
                "role": roles[number] if number < len(roles) else "",
                "agent": "" if person or not plan.marked else f"{seat.model}, {seat.recipe}",
            }
        )
    return told


def _you(room: Room, seat: int, feed: Feed) -> _Told:
    desk, facts = room.desks[seat], feed.facts
    playing = room.plan.state == "playing"
    night = playing and facts.phase == "night" and room.alive(seat)
    role = facts.roles[seat]
    return {
        "seat": seat,
        "nick": room.plan.seats[seat].nick,
        "role": role,
        "about": what_it_does(role, room.ruleset),
        "pack": list(facts.pack_of(seat)),
        "known": feed.known,
        "asks": [ask.told(desk.kept) for ask in desk.shown],
        "may_rest": night and not desk.shown,
        "rested": night and desk.rests > 0,
        "stand_in": playing and room.alive(seat) and room.idle(seat),
    }


def device_told(room: Room) -> _Told:
    """What the shared device shows while it is locked: public facts alone."""
    facts, wanted = room.public.facts, _wanted(room)
    text = f"Give the device to {room.called(wanted[0])}" if wanted else "Nobody is asked now"
    seats = [
        {
            "seat": seat,
            "name": room.ruleset.names[seat],
            "nick": room.plan.seats[seat].nick,
            "pin_set": room.plan.seats[seat].pin is not None,
            "wanted": seat in wanted,
        }
        for seat in room.plan.shared
    ]
    return {
        "seats": seats,
        "time": facts.phase,
        "round": facts.round,
        "state": room.plan.state,
        "text": text,
    }


def _wanted(room: Room) -> list[int]:
    """Whose seats of the shared device are to be opened. At night all take part, equally often."""
    plan, timeline, desks = room.plan, room.timeline, room.desks
    if plan.state == "lobby":
        return [seat for seat in plan.shared if plan.seats[seat].pin is None]
    if plan.state != "playing" or timeline is None:
        return []
    if timeline.night_began is not None:
        living = [seat for seat in plan.shared if room.alive(seat)]
        least = min((desks[seat].rests for seat in living), default=0)
        return [s for s in living if desks[s].rests == least and least < plan.night_steps]
    if room.awaited is None and timeline.hidden_until is not None:
        return [seat for seat in plan.shared if seat in room.just_gone]
    return [seat for seat in plan.shared if any(opened.public for opened in desks[seat].shown)]
