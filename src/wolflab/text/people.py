"""A person's answer at the table, stored where a model's reply would be.

A person chooses among the same options as everybody, says one thing, or rates the others. An answer that did
not come says why, and the rules name the stand-in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from ..rules import Action, Ask, Ruleset, Say
from .asking.options import labels
from .asking.sentences import capitalised
from .asking.wording import moderator_request
from .questions import Situation

Missing = Literal["out of time", "left the table"]
"""Why a person gave no answer."""

ASKED_ALREADY = "the person was asked already"
"""Why a person does not answer a poll that is repeated at the same time: the answer would be a copy."""


ANSWER = "answer"
"""The step of a person's answer; all other steps belong to the player that stands in."""


class PersonAnswer(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One answer; one of its fields is given.

    chose: the words of an option (`asking.options.labels`). said: free text. rated: how far each of the
    others is believed, 1 to 10, by the player's name. guessed: which role each of them has. missing: no
    answer came, and why. stand_in: the built-in player answers in the person's place. salt: of what was said.
    pasted, away: of what was said, where a study's people were told that it is counted: whether something was
    pasted into it, and for how many seconds the page was out of sight while it was due.
    """

    chose: str | None = None
    said: str | None = None
    rated: Mapping[str, int] | None = None
    missing: Missing | None = None
    stand_in: bool = False
    salt: str = ""
    guessed: Mapping[str, str] | None = None
    pasted: bool | None = None
    away: float | None = None

    def action(self, ask: Ask, ruleset: Ruleset) -> Action | None:
        """The choice or the statement as an action; None where it is none of the ask's."""
        if ask.options is None:
            return None if self.said is None else Say(self.said)
        words = labels(ask, ruleset)
        return None if self.chose not in words else ask.options[words.index(self.chose)]


def request_for_people(now: Situation, ask: Ask) -> str:
    """The moderator's request to a person, as a sentence; the options are shown beside it."""
    return f"{capitalised(moderator_request(now, ask, with_options=False), now.ruleset)}."


class TimedAnswer(msgspec.Struct, frozen=True):
    """An answer, and the seconds from when the question was shown until it counted, by the server's clock."""

    answer: PersonAnswer
    seconds: float


def poll_of(ask: Ask) -> str:
    """Which straw poll an ask belongs to: "straw", or "straw2" and so on where it is taken again
    (`match.StrawPoll.times`); "" for any other ask.
    """
    kind = ask.id.split("/")[1]
    return kind if kind.startswith("straw") else ""


def encode_answer(answer: PersonAnswer) -> str:
    """The answer as a response's text."""
    return msgspec.json.encode(answer).decode()


def decode_answer(text: str) -> PersonAnswer | None:
    """The answer that a response's text holds; None where it holds none."""
    try:
        return msgspec.json.decode(text, type=PersonAnswer)
    except msgspec.MsgspecError:
        return None
