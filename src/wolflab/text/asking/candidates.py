"""A policy's input in words: the observation, and each candidate (004 §4.3, D.1).

The words are for an embedder alone, so what would only blur a vector is left out: the numbers of lines, which
mean nothing outside one prompt, and figures that the player vector holds anyway (Table 3). What an embedder
of bounded length would cut off stands last: old rounds, and the reasons of beliefs. A line of the record
keeps its words from turn to turn.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from ...rules import Answer, Ask, Event, Lead, Learned, Ruleset, Voted
from ..clean import uncited
from ..notes import UNCERTAIN, Belief, Candidate, Reflected
from ..questions import Line, Situation
from .options import label
from .prompts import opinion
from .sentences import a_role, listed, sentence

_KEPT = 1 << 16
"""Sentences in the cache."""


def observation_text(now: Situation, beliefs: tuple[Belief, ...]) -> str:
    """The text observation: deduction and information record (004 D.1), one piece a line.

    First what is believed of whom; then the record, the latest round first and each round in order, with
    statements by how far their speakers are believed (004 §4.1); then why it is believed.
    """
    confirmed = {line.event.target: line.event.what for line in now.facts if isinstance(line.event, Learned)}
    lines = [_believed(now.ruleset, belief, confirmed.get(belief.target)) for belief in beliefs]
    lines += _record(now)
    lines += [uncited(belief.reasoning) for belief in beliefs if belief.reasoning]
    return "\n".join(lines)


def candidate_text(candidate: Candidate, ask: Ask, ruleset: Ruleset) -> str:
    """The text of one candidate: reasoning, then action (004 D.1), which names the kind of action it is.

    A statement is named as such, an option by its label. A label without a kind ("pass", "yes") has the ask's
    kind before it, and so has an intent (`text.intents`).
    """
    return f"{uncited(candidate.reasoning)} {_act(candidate.action, ask, ruleset)}".strip()


def _act(action: str, ask: Ask, ruleset: Ruleset) -> str:
    labels = _labels(ask, ruleset)
    if action in labels:
        return labels[action]
    if ask.options is not None:
        return f"{ask.kind}: {action}"
    return f'say: "{action}"' if action else "say nothing"


@lru_cache(1 << 12)
def _labels(ask: Ask, ruleset: Ruleset) -> dict[str, str]:
    """Each option's label with the words for an embedder."""
    labels = {}
    for option in ask.options or ():
        text = label(option, ask.kind, ruleset)
        labels[text] = f"{ask.kind}: {text}" if isinstance(option, Answer | Lead) or text == "pass" else text
    return labels


# -- the record ---------------------------------------------------------------------------------

_Key = tuple[int, ...]
_SENTENCES: dict[_Key, tuple[object, Ruleset, str]] = {}
"""A cache of sentences, by the identity of ruleset and events (kept here, so that it stays theirs) and by
seat: every decision of a game uses the same ones. Equal events, votes above all, are one object in all games.
"""


def _event_text(events: list[Event | Reflected], now: Situation) -> str:
    """One event without its time, or all votes of one occasion."""
    key = id(now.ruleset), now.seat, *map(id, events)
    known = _SENTENCES.get(key)
    if known is None:
        if len(_SENTENCES) >= _KEPT:
            _SENTENCES.clear()
        votes = [event for event in events if isinstance(event, Voted)]
        text = _votes(votes, now) if votes else sentence(events[-1], now.seat, now.ruleset)
        known = _SENTENCES[key] = tuple(events), now.ruleset, text
    return known[2]


def _votes(votes: list[Voted], now: Situation) -> str:
    """The votes of one occasion, by target: "Votes: you and player_2 for player_4; player_5 for nobody."."""
    names, voters = now.ruleset.names, dict[int | None, list[str]]()
    for vote in votes:
        voters.setdefault(vote.target, []).append("you" if vote.voter == now.seat else names[vote.voter])
    shares = [f"{listed(who)} for {'nobody' if of is None else names[of]}" for of, who in voters.items()]
    return f"Votes{' for a Sheriff' if votes[0].what == 'elect' else ''}: {'; '.join(shares)}."


def _record(now: Situation) -> list[str]:
    """The lines of the record in words, the latest round first."""
    prefixes = dict.fromkeys([line.position for line in now.truths], "Credible: ")
    prefixes |= dict.fromkeys([line.position for line in now.falsehoods], "Doubtful: ")
    rounds: dict[int, list[str]] = {}
    for _, group in groupby(now.lines, _occasion):
        lines = list(group)
        line, prefix = lines[-1], prefixes.get(lines[-1].position, "")
        text = _event_text([line.event for line in lines], now)
        night = "Night: " if line.phase == "night" else ""
        rounds.setdefault(line.round, []).append(night + prefix + text)
    pieces: list[str] = []
    for round in sorted(rounds, reverse=True):
        pieces += [f"Round {round}:", *rounds[round]] if round else rounds[round]
    return pieces


def _occasion(line: Line) -> tuple[int, str]:
    """The key by which lines share a sentence: all votes of one occasion do, every other line has its own."""
    return (-line.round, line.event.what) if type(line.event) is Voted else (line.position, "")


# -- beliefs ------------------------------------------------------------------------------------


def _believed(ruleset: Ruleset, belief: Belief, checked: str | None) -> str:
    name = ruleset.names[belief.target]
    if checked is not None and belief.role in (checked, UNCERTAIN):
        return f"{name} is confirmed to be {a_role(checked)}."
    sure = f" is confirmed to be {a_role(checked)} and" if checked is not None else ""
    return f"{name}{sure}{opinion(belief)}."
