"""Notes and actions in words, for screens that show a game."""

from __future__ import annotations

from collections.abc import Sequence

from ..rules import Action, Answer, Lead, Pick, Say
from ..text.asking.sentences import a_role, listed
from ..text.notes import (
    Answered,
    Asked,
    ChoiceDraw,
    Chosen,
    Content,
    Deduced,
    Exchanged,
    Interviewed,
    Mistake,
    Planned,
    Proposed,
    Rated,
    Recalled,
    Reflected,
    StoodIn,
    Suggested,
    Thought,
)


def numbers(places: Sequence[int]) -> str:
    """Places of messages as the numbers under which prompts show them: "3 to 9, 12"."""
    runs: list[list[int]] = []
    for number in sorted(place + 1 for place in places):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def message_numbers(places: Sequence[int]) -> str:
    """ "message 3", "messages 3 to 9, 12"."""
    return f"message{'' if len(places) == 1 else 's'} {numbers(places) or '(none)'}"


def note_lines(step: str, content: Content, names: Sequence[str]) -> list[str]:
    """A note as lines of text."""
    match content:
        case Thought(text):
            return [text]
        case Deduced(beliefs):
            return [
                f"{names[b.target]}: {b.role}"
                + (f", confidence {b.confidence}, reliability {b.reliability}" if b.confidence else "")
                + (f": {b.reasoning}" if b.reasoning else "")
                for b in beliefs
            ]
        case Rated(scores):
            return ["trusts " + listed([f"{names[s]} {m}/10" for s, m in sorted(scores.items())])]
        case Mistake(step, attempt, reason, reply, taken):
            last = "the last of them is taken; " if taken else ""
            return [f"✗ {step}, attempt {attempt + 1}: {reason} ({last}it wrote: {reply!r})"]
        case Recalled(recent, informative):
            older = f" and older telling ones {numbers(informative)}" if informative else ""
            return [f"has the latest {message_numbers(recent)} before it{older}"]
        case Asked(chosen, free):
            return [f"asks itself {len(chosen)} of the predefined questions and {len(free)} of its own"]
        case Answered(question, answer, retrieved):
            source = f" [from {message_numbers(retrieved)}]" if retrieved else ""
            return [f"{question} → {answer or '(no usable answer)'}{source}"]
        case Reflected(text):
            return [f"reflects: {text}"]
        case Suggested(text, alike, bad, good, why):
            and_read = f", {1 + len(good)} read" if good else ""
            shown = [f"read as bad: {bad}", f"read as good: {', '.join(good)}"] if good else []
            if not text:
                return [f"finds no advice in past games: {why} ({alike} alike{and_read})", *shown]
            return [f"past games advise ({alike} alike{and_read}): {text}", *shown]
        case Interviewed(claimed, text):
            return [f"on having spoken as {a_role(claimed)}: {text}"]
        case Planned(perspective, text):
            return [
                f"plans: {text}" if perspective == "own" else f"plans, as the others would see it: {text}"
            ]
        case Proposed(candidates, asked):
            few = [f"was asked for {asked} candidates, and has {len(candidates)}"] if asked else []
            return few + [
                f"could {number}. {candidate.action}"
                + (f": {candidate.reasoning}" if candidate.reasoning else "")
                for number, candidate in enumerate(candidates, 1)
            ]
        case Chosen(number, probabilities, value):
            odds = ", ".join(f"{100 * p:.0f} %" for p in probabilities)
            worth = "" if value is None else f", expects {value:+.2f}"
            return [f"takes {number + 1}." + (f" (of {odds}{worth})" if odds else "")]
        case ChoiceDraw(shares, own, explored, stand_in):
            if stand_in:
                return ["its choice was unusable: the first candidate stands in"]
            wanted = "" if own is None else f"; its own choice was {own + 1}."
            drawn = ", ".join(f"{100 * share:.0f} %" for share in shares)
            return [f"{'explores, ' if explored else ''}drawn from {drawn}{wanted}"]
        case Exchanged():
            return []  # its other notes say the same
        case StoodIn():
            return ["has left; the built-in player stands in"]


def acted(action: Action | None, names: Sequence[str]) -> str:
    """An action in a few words."""
    match action:
        case Pick(seat):
            return names[seat]
        case Say(text):
            return repr(text) if text else "silence"
        case Lead(left):
            return "the left neighbour speaks first" if left else "the right neighbour speaks first"
        case Answer(yes):
            return "yes" if yes else "no"
        case _:
            return "nothing chosen"
