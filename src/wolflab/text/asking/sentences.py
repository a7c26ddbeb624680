"""Each event of the game as a sentence, from one seat's point of view or the moderator's.

These are the facts and statements of prompts, transcripts and screens (002 Table 4, 004 App. E.7). A sentence
says "you" to its viewer. No program reads sentences back: the facts are in the events. The viewer must be in
the event's audience; that is the view's business and not checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ...rules import (
    DUTIES,
    Answer,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    Event,
    FirstSpeaker,
    GameEnded,
    Learned,
    NightFell,
    PackMet,
    Pick,
    Returned,
    Revealed,
    Ruleset,
    Said,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    VotesSet,
    Winner,
)
from ..clean import clean
from ..notes import Reflected
from ..questions import Line


def powers(ruleset: Ruleset, order: str = "determine the order of statements") -> str:
    """The powers of a Sheriff, in the words of 002 §9.1: "who can …, summarize the discussion, and …"; order:
    the words for the power over the order, left out where no Sheriff has it.
    """
    leads = f"{order}, " if ruleset.speaking_order == "sheriff_side" and ruleset.discussion else ""
    return f"who can {leads}summarize the discussion{',' if leads else ''} and provide advice for voting"


def a_role(name: str) -> str:
    """A role with its article: "a Seer"; "not a Werewolf" stays as it is."""
    if name.startswith(("not ", "a ", "an ")):
        return name
    return f"an {name}" if name[:1] in "AEIOU" else f"a {name}"


def listed(names: Sequence[str]) -> str:
    """Names in a row: "player_1, player_2 and player_3"; "nobody" for none."""
    if not names:
        return "nobody"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def when(round: int, phase: str) -> str:
    """The time of an event or an ask: "night 1 round", "day 2 round", "day 2 voting phase"."""
    if phase == "night":
        return f"night {round} round"
    if phase in ("day", "discussion"):
        return f"day {round} round"
    return f"day {round} {phase} phase"


def sentence(
    event: Event | Reflected, seat: int | None, ruleset: Ruleset, round: int = 0, phase: str = ""
) -> str:
    """`event` in words for the player in `seat`; None is the moderator, who sees all.

    round, phase: when it happened, named in front unless `round` is 0 (before the first night) or the event
    names its own time. Statements are cleaned (idempotent), so the result is always one line.
    """
    text = _words(event, seat, ruleset)
    if isinstance(event, DayBroke):
        return f"Day {event.round} announcement: {text}"
    if isinstance(event, (NightFell, GameEnded)) or not round:
        return text[0].upper() + text[1:] if text[:3] in ("you", "the") else text
    return f"In {when(round, phase)}, {text}"


def line_sentence(line: Line, seat: int | None, ruleset: Ruleset) -> str:
    """A line of the information record as a sentence, without its number."""
    return sentence(line.event, seat, ruleset, line.round, line.phase)


def _words(event: Event | Reflected, seat: int | None, ruleset: Ruleset) -> str:
    match event:
        case Reflected(text=text):
            return f'you thought to yourself: "{clean(text, max(len(text), 16))}"'
        case Dealt() | PackMet() | Chose() | Learned() | VictimShown():
            return _secret(event, seat, ruleset)
        case Said():
            return _said(event, seat, ruleset)
        case Voted() | VoteCounted():
            return _vote(event, seat, ruleset)
        case SheriffDrawn() | CandidatesNamed() | SheriffNamed() | FirstSpeaker() | SpeakersDrawn():
            return _office(event, seat, ruleset)
        case NightFell(round):
            return f"Night {round} began."
        case DayBroke(_, deaths):
            names = [ruleset.names[dead] for dead in deaths]
            if not names:
                return "No player was killed."
            return f"{listed(names)} {'was' if len(names) == 1 else 'were'} killed."
        case Shot(shooter, target):
            return _shot(shooter, target, seat, ruleset)
        case Revealed(dead, role):
            return f"it was revealed that {ruleset.names[dead]} was {a_role(role)}."
        case Returned(player):
            return f"{_who(player, seat, ruleset)} {'are' if player == seat else 'is'} back in the game."
        case VotesSet(player, votes):
            return _votes_set(player, votes, seat, ruleset)
        case GameEnded(outcome):
            if outcome.winner is Winner.NOBODY:
                return f"The game is over and nobody wins: {outcome.reason.value}."
            return f"The game is over and the {outcome.winner.value} wins: {outcome.reason.value}.".replace(
                "werewolves wins", "Werewolves win"
            )
    assert_never(event)


def _who(player: int, seat: int | None, ruleset: Ruleset) -> str:
    return "you" if player == seat else ruleset.names[player]


def _secret(
    event: Dealt | PackMet | Chose | Learned | VictimShown, seat: int | None, ruleset: Ruleset
) -> str:
    names = ruleset.names
    match event:
        case Dealt(player, role):
            if player == seat:
                return f"You are {names[player]}. You are {a_role(role)}."
            return f"{names[player]} is {a_role(role)}."
        case PackMet(seats):
            mates = [names[player] for player in seats if player != seat]
            if seat is None:
                return f"The Werewolves are {listed(mates)}."
            if not mates:
                return "You have no teammate among the Werewolves."
            return f"Your teammate{'s are' if len(mates) > 1 else ' is'} {listed(mates)}."
        case Chose(player, kind, action):
            who = _who(player, seat, ruleset)
            if seat is not None and player != seat:
                who = f"your teammate {names[player]}"
            duty = DUTIES[kind]
            if isinstance(action, Pick):
                return f"{who} chose to {duty.verb} {names[action.seat]}."
            if isinstance(action, Answer):
                return f"{who} {duty.past if action.yes else 'did not ' + duty.verb}."
            return f"{who} chose nobody to {duty.verb}."
        case Learned(player, target, what):
            return f"{_who(player, seat, ruleset)} saw that {names[target]} is {a_role(what)}."
        case VictimShown(player, victim):
            passive = "you were" if player == seat else f"{names[player]} was"
            whom = "you" if victim == player == seat else names[victim]
            return f"{passive} told that the Werewolves are killing {whom}."
    assert_never(event)


def _shot(shooter: int, target: int, seat: int | None, ruleset: Ruleset) -> str:
    """A shot: who shot, with the role that it reveals, and the target."""
    who, role = _who(shooter, seat, ruleset), ruleset.shooter
    if role is not None and shooter != seat:
        who += f", {f'the {role.name}' if ruleset.count(role.name) == 1 else a_role(role.name)},"
    out = "you are" if target == seat else f"{ruleset.names[target]} is"
    return f"{who} shot {_who(target, seat, ruleset)}: {out} out of the game."


def _votes_set(player: int, votes: int, seat: int | None, ruleset: Ruleset) -> str:
    """The sentence on a player's new number of votes."""
    if votes == 0:
        have = "have" if player == seat else "has"
        return f"{_who(player, seat, ruleset)} {have} no vote from now on."
    whose = "your" if player == seat else f"{ruleset.names[player]}'s"
    return f"{whose} vote counts {'once' if votes == 1 else f'{votes} times'} from now on."


def _said(event: Said, seat: int | None, ruleset: Ruleset) -> str:
    who = _who(event.seat, seat, ruleset)
    text = clean(event.text, max(len(event.text), 16))
    how = {"election": " when running for Sheriff", "last words": " as last words"}.get(event.where, "")
    return f'{who} said{how}: "{text}"' if text else f"{who} said nothing{how}."


def _vote(event: Voted | VoteCounted, seat: int | None, ruleset: Ruleset) -> str:
    names = ruleset.names
    match event:
        case Voted(voter, target, what):
            who = _who(voter, seat, ruleset)
            purpose = " to be the Sheriff" if what == "elect" else ""
            if target is None:
                return f"{who} did not vote{' for a Sheriff' if what == 'elect' else ''}."
            return f"{who} voted for {names[target]}{purpose}."
        case VoteCounted(out, tied):
            shared = listed([names[t] for t in tied])
            if out is None:
                why = f", because {shared} had equally many votes" if tied else ""
                return f"no player was voted out{why}."
            if tied:
                return f"{names[out]} was voted out, drawn by lot because {shared} had equally many votes."
            return f"{names[out]} had the most votes and was voted out."
    assert_never(event)


def _office(
    event: SheriffDrawn | CandidatesNamed | SheriffNamed | FirstSpeaker | SpeakersDrawn,
    seat: int | None,
    ruleset: Ruleset,
) -> str:
    names, can = ruleset.names, f"{powers(ruleset)} at last"
    match event:
        case SheriffDrawn(player):
            return f"the moderator secretly drew {names[player]} to become the Sheriff."
        case CandidatesNamed(seats):
            row = listed([names[player] for player in seats])
            return f"{row} {'is' if len(seats) == 1 else 'are'} running for Sheriff, to speak in this order."
        case SheriffNamed(player, "succeeded"):
            return f"the previous Sheriff selected {names[player]} as the next Sheriff, {can}."
        case SheriffNamed(player, "drawn"):
            return f"{names[player]} was drawn by lot as the Sheriff, {can}."
        case SheriffNamed(player, "assigned"):  # 002 §9.1 has the next sentence here too: there was no vote
            return f"the moderator announced that {names[player]} is the Sheriff, {can}."
        case SheriffNamed(player):
            return f"after discussion and a vote, {names[player]} was selected as the Sheriff, {can}."
        case FirstSpeaker(sheriff, first):
            return f"the Sheriff ({names[sheriff]}) chose {names[first]} to make a statement first."
        case SpeakersDrawn(seats):
            return f"the order of speech is {', '.join(names[player] for player in seats)}."
    assert_never(event)


def capitalised(sentence: str, ruleset: Ruleset) -> str:
    """`sentence` with a capital letter; a player's name at its beginning stays as it is."""
    return sentence if sentence.startswith(ruleset.names) else sentence[:1].upper() + sentence[1:]
