"""The error for a refused request, with a status and a sentence."""

from __future__ import annotations

import logging

from ...errors import StoreError, WolflabError

_log = logging.getLogger("wolflab")


class Refused(WolflabError):
    """A request is refused. status: of HTTP; the message is for the person at the page."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def sentence_of(error: WolflabError) -> tuple[int, str]:
    """The status and the sentence of an error. Messages that name files of this machine go only to the
    log.
    """
    if isinstance(error, Refused):
        return error.status, str(error)
    if isinstance(error, StoreError):
        _log.error("%s", error)
        return 500, "the server cannot read or write this table; its log says why"
    return 422, str(error)
