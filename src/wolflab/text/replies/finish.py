"""How a call ended: one typed reason for each call, which agents, errors, reports and budgets read.

A store keeps it in one text (`Finish.stored`); `Finish.read` also knows the words of older stores.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class FinishReason(StrEnum):
    """Why a call ended."""

    ANSWERED = "answered"
    """There is a complete reply. Its reader decides whether it can be used."""
    EMPTY = "empty"
    """The server answered, and the reply is empty."""
    CUT = "cut"
    """The server cut the reply at the limit of its length."""
    CUT_THINKING = "cut while thinking"
    """The same, before the answer began."""
    FILTERED = "filtered"
    """A content filter held the prompt or the reply back."""
    REFUSED = "refused"
    """The model refused in a form of its own, and not in its answer."""
    ELSEWHERE = "elsewhere"
    """The reply stands in another field than the one for answers."""
    NO_FIT = "no fit"
    """The prompt does not fit into the context, and was not answered."""
    UNREAD = "not read"
    """The reply is longer than the limit, and was not read."""
    TIMED_OUT = "timed out"
    """The reply was not complete in time. It may have been paid for."""
    LOST = "connection lost"
    """The connection broke before the reply was complete. It may have been paid for."""
    STOPPED = "stopped"
    """The program stopped while it waited for the reply. It may have been paid for."""


_OLDER = {
    "stop": FinishReason.ANSWERED,
    "length": FinishReason.CUT,
    "filter": FinishReason.FILTERED,
}
"""Texts in stores before 0.2.0."""
_OLDER_WORDS = {
    "the prompt does not fit into the context": FinishReason.NO_FIT,
    "the reply is longer than": FinishReason.UNREAD,
}
"""Beginnings of sentences in older stores."""


class Finish(NamedTuple):
    """How a call ended. words: a sentence without a full stop for people, and for a model that has to correct
    something; "" where the reason is enough.
    """

    reason: FinishReason = FinishReason.ANSWERED
    words: str = ""

    @property
    def stored(self) -> str:
        """Reason and words in one text."""
        return f"{self.reason}: {self.words}" if self.words else str(self.reason)

    @classmethod
    def read(cls, stored: str) -> Finish:
        """The finish in a stored text. A text that no version of Wolflab wrote, such as why a person gave no
        answer, is `ANSWERED` with these words.
        """
        reason, _, words = stored.partition(": ")
        if reason in _REASONS:
            return cls(FinishReason(reason), words)
        if stored in _OLDER:
            return cls(_OLDER[stored])
        older = next((why for begun, why in _OLDER_WORDS.items() if stored.startswith(begun)), None)
        return cls(older or FinishReason.ANSWERED, stored)


_REASONS = frozenset(FinishReason)
NO_REPLY = frozenset(
    (
        FinishReason.NO_FIT,
        FinishReason.UNREAD,
        FinishReason.TIMED_OUT,
        FinishReason.LOST,
        FinishReason.STOPPED,
        FinishReason.ELSEWHERE,
    )
)
"""Reasons for which there is no reply to read."""
ANSWERED = Finish()


def no_fit(context: str) -> Finish:
    """The finish of a prompt that does not fit. context: "the model", "8,192 tokens"."""
    return Finish(FinishReason.NO_FIT, f"the prompt does not fit into the context of {context}")
