"""The present state of a table, as messages for each viewer. Apart from a seat's own feed, all of it follows
from public facts, from what the table declares, and by day from who is connected.
"""

from __future__ import annotations

from typing import Any

from ...text.asking.rules_text import rules_for_people
from ...text.asking.sentences import listed
from .feed import Feed, encode
from .seat_session import what_it_does
from .table_state import Awaited, TableState
from .timeline import clock

_Message = dict[str, Any]
"""A message's fields, by the page's names for them. Times are by the loop's clock."""


def first_message_fields(state: TableState) -> _Message:
    """The fields that only the first message of a connection has."""
    return {"rules_text": rules_for_people(state.ruleset), "declared": state.plan.declared()}


def publish_state(state: TableState) -> None:
    """Publish the state to all feeds; viewers for whom nothing changed are sent nothing (`Feed.publish`)."""
    common = _common(state)
    for seat, feed in (*enumerate(state.seats), (None, state.public), (None, state.host)):
        you = None if seat is None else _you(state, seat, feed)
        feed.publish(encode({**common, "seats": _seats(state, feed), "you": you}))


def _common(state: TableState) -> _Message:
    plan, facts = state.plan, state.public.facts
    start = None
    if state.starts is not None and plan.state == "lobby":
        text = "Built-in players take the open seats, and the game begins"
        start = {"until": state.starts, "text": text}
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
        "turn": _turn(state),
        "pause": _pause(state),
        "start": start,
        "spectators": state.spectators,
    }


def _turn(state: TableState) -> _Message | None:
    """Whose turn it is, what they do, and by when; None if the game waits for nobody."""
    timeline, awaited = state.timeline, state.awaited
    if timeline is None or state.plan.state != "playing":
        return None
    seats: tuple[int, ...] = ()
    what, text = "night", "It is night"
    until: float | None
    seconds: float | None
    if timeline.night_began is not None:
        until, seconds = timeline.night_began + timeline.night, timeline.night
    elif awaited is not None:
        seats, what, text = awaited.seats, awaited.what, _turn_sentence(state, awaited)
        until = seconds = None  # nobody needs to know an agent's time
        if not state.plan.marked or not all(state.of_agent(seat) for seat in seats):
            dues = [ask.due for seat in seats for ask in state.sessions[seat].shown if ask.due is not None]
            if not state.plan.marked:
                dues = []  # all turns look equally long
            until, seconds = max([awaited.since + awaited.seconds, *dues]), awaited.seconds
    elif timeline.hidden_until is not None:
        what, text = "wait", "The game rests for a moment"
        until, seconds = timeline.hidden_until, state.plan.times.hidden
    else:
        return None
    return {"seats": seats, "what": what, "text": text, "until": until, "of": seconds}


def _turn_sentence(state: TableState, awaited: Awaited) -> str:
    if awaited.what == "vote" and awaited.seats == state.public.facts.living and len(awaited.seats) > 1:
        return "Everybody votes"
    verb = awaited.what if len(awaited.seats) > 1 else f"{awaited.what}s"
    return f"{listed([state.called(seat) for seat in awaited.seats])} {verb}"


def _pause(state: TableState) -> _Message | None:
    """The notice that somebody whose turn it is has lost the connection: only by day, and only if people are
    marked.
    """
    plan = state.plan
    quiet = state.public.facts.phase == "night" or not plan.marked
    if state.awaited is None or plan.state != "playing" or quiet:
        return None
    for seat in state.awaited.seats:
        lost = state.seconds_disconnected(seat)
        if state.sessions[seat].shown and not state.here(seat) and lost < plan.patience:
            text = f"{state.called(seat)} has lost the connection; the game waits"
            return {"text": text, "until": clock() - lost + plan.patience}
    return None


def _seats(state: TableState, feed: Feed) -> list[_Message]:
    plan, facts = state.plan, feed.facts
    playing, lobby, over = plan.state == "playing", plan.state == "lobby", plan.state == "over"
    quiet = playing and state.public.facts.phase == "night"
    roles = state.host.facts.roles if over else facts.roles
    told = []
    for number, seat in enumerate(plan.seats):
        person = seat.taken or (lobby and seat.of_person)
        told.append(
            {
                "seat": number,
                "name": state.ruleset.names[number],
                "nick": seat.nick if plan.marked or over else "",
                "kind": (seat.kind if person else "agent") if plan.marked else "player",
                "open": plan.marked and lobby and number in plan.free,
                "alive": bool(facts.alive >> number & 1),
                "sheriff": facts.sheriff == number,
                "here": state.here(number) if plan.marked and person and not quiet else None,
                "stand_in": plan.marked and playing and not quiet and state.has_stand_in(number),
                "role": roles[number] if number < len(roles) else "",
                "agent": "" if person or not plan.marked else f"{seat.model}, {seat.recipe}",
            }
        )
    return told


def _you(state: TableState, seat: int, feed: Feed) -> _Message:
    session, facts = state.sessions[seat], feed.facts
    playing = state.plan.state == "playing"
    night = playing and facts.phase == "night" and state.alive(seat)
    role = facts.roles[seat]
    return {
        "seat": seat,
        "nick": state.plan.seats[seat].nick,
        "role": role,
        "about": what_it_does(role, state.ruleset),
        "pack": list(facts.pack_of(seat)),
        "known": feed.known,
        "asks": [ask.message(session.kept) for ask in session.shown],
        "may_rest": night and not session.shown,
        "rested": night and session.rests > 0,
        "stand_in": playing and state.alive(seat) and state.idle(seat),
    }


def device_message(state: TableState) -> _Message:
    """The message for a locked shared device: public facts alone."""
    facts, wanted = state.public.facts, _wanted(state)
    text = f"Give the device to {state.called(wanted[0])}" if wanted else "Nobody is asked now"
    seats = [
        {
            "seat": seat,
            "name": state.ruleset.names[seat],
            "nick": state.plan.seats[seat].nick,
            "pin_set": state.plan.seats[seat].pin is not None,
            "wanted": seat in wanted,
        }
        for seat in state.plan.shared
    ]
    return {
        "seats": seats,
        "time": facts.phase,
        "round": facts.round,
        "state": state.plan.state,
        "text": text,
    }


def _wanted(state: TableState) -> list[int]:
    """The seats of the shared device that are to be opened next. At night all take part equally often."""
    plan, timeline, sessions = state.plan, state.timeline, state.sessions
    if plan.state == "lobby":
        return [seat for seat in plan.shared if plan.seats[seat].pin is None]
    if plan.state != "playing" or timeline is None:
        return []
    if timeline.night_began is not None:
        living = [seat for seat in plan.shared if state.alive(seat)]
        least = min((sessions[seat].rests for seat in living), default=0)
        return [s for s in living if sessions[s].rests == least and least < plan.night_steps]
    if state.awaited is None and timeline.hidden_until is not None:
        return [seat for seat in plan.shared if seat in state.just_gone]
    return [seat for seat in plan.shared if any(opened.public for opened in sessions[seat].shown)]
