"""The parts of a request that a server refuses, and their replacements: learned once, kept for later calls.

A refusal often says little, so a part is given up on suspicion. The suspicion is logged once the refused call
is answered without the part. If the call is refused for good, later calls have the part again. No request's
hash depends on this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..base import SAMPLED
from .dialect import (
    FORMAT,
    LIST_LENGTHS,
    OPTIONAL_KEYWORDS,
    STREAM,
    STREAM_OPTIONS,
    SYSTEM,
    TIER,
)
from .faults import Fault, limit_in_error
from .providers import Format, Provider


class SentRequest(NamedTuple):
    """A request as it is sent.

    form: how a reply with a schema is asked for. limit: the cap on the reply's tokens, if any. keywords:
    those of its schema that can be left out. tried: keywords that are left out on trial. features: everything
    that can be given up if the server refuses it, with the keywords. timed_out: an earlier attempt timed out.
    """

    body: dict[str, Any]
    headers: dict[str, str]
    form: Format
    limit: int | None
    keywords: frozenset[str]
    tried: frozenset[str]
    features: frozenset[str]
    timed_out: bool


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A part of requests that a server seems to refuse, so that it is not sent any more.

    what: feature (name: which) · form (how a schema is asked for) · limit (the name of the cap on the reply)
    · longer (a cap above `above` tokens) · unstreamed (a reply that is no stream).
    """

    what: Literal["feature", "form", "limit", "longer", "unstreamed"]
    name: str = ""
    above: int = 0

    def was_in(self, sent: SentRequest) -> bool:
        """Whether a request had it."""
        match self.what:
            case "form":
                return FORMAT in sent.features and sent.form == self.name
            case "longer":
                return sent.limit is not None and sent.limit > self.above
            case "unstreamed":
                return STREAM not in sent.features
        return self.name in sent.features


@dataclass(slots=True)
class CallHistory:
    """The attempts of one call. emptied: the last answer had no reply. given_up: the parts of refused
    attempts that were given up then. trial: likewise keywords of its schema.
    """

    emptied: bool = False
    given_up: set[GivenUp] = field(default_factory=set)
    trial: frozenset[str] = frozenset()


class Quirks:
    """The quirks learned of one model at one endpoint.

    formats: those left to try for a schema, best first. limit: likewise for the name of the reply's cap;
    empty: it takes none. longest_reply: the largest cap. dropped: features that it refuses: settings,
    keywords of schemas, marks, "system" (a role of its own for the rules). streams: it only sends streams.
    trial: keywords that are left out to see whether they were the cause. seconds: the time of a reply that
    took longer than the timeout. log: the server's behaviour, one clause each.

    has_limit: the dialect requires a cap.
    """

    def __init__(self, provider: Provider, has_limit: bool) -> None:
        self.provider, self.has_limit = provider, has_limit
        self.formats, self.limit, self.dropped = provider.formats, provider.limit, set(provider.spared)
        self.longest_reply: int | None = None
        self.streams = False
        self.trial: frozenset[str] = frozenset()
        self.seconds = 0.0
        self.log: list[str] = []
        self._answered: set[str] = set()
        """The features of answered requests: a later 400 is not about them."""
        self._suspected: dict[GivenUp, str] = {}
        """Parts that were given up → the log's clause."""
        self._elsewhere = False
        """Replies are in another field, whatever form is asked for."""

    def note(self, what: str) -> None:
        """Log a clause about the server, once."""
        if what not in self.log:
            self.log.append(what)

    # -- results of attempts ------------------------------------------------------------

    def answered(self, sent: SentRequest, history: CallHistory) -> None:
        """The server takes the attempt's features, and refuses those that its call gave up before."""
        self._answered |= sent.features
        for one in [one for one in self._suspected if one in history.given_up and not one.was_in(sent)]:
            self.note(self._suspected.pop(one))
        if refused := sent.tried & self.trial & history.trial:
            self.trial = frozenset()
            for keyword in sorted(refused):
                self.dropped.add(keyword)
                self.note(f"refuses {keyword} in a schema; it is left out from now on")

    def refused_for_good(self, history: CallHistory) -> None:
        """The parts that the call gave up were not the cause of its refusal."""
        if history.trial:
            self.trial = frozenset()
        wrong = history.given_up & self._suspected.keys()
        for one in wrong:
            del self._suspected[one]
        self.dropped -= {one.name for one in wrong if one.what == "feature"}
        forms = [form for form in self.provider.formats if GivenUp("form", form) in wrong]
        self.formats = (*forms, *self.formats)
        limits = [name for name in self.provider.limit if GivenUp("limit", name) in wrong]
        self.limit = (*limits, *self.limit)
        if any(one.what == "longer" for one in wrong):
            self.longest_reply = None
        if GivenUp("unstreamed") in wrong:
            self.streams = False

    def suspect(self, sent: SentRequest) -> str:
        """The feature that an unclear refusal is probably about: one that was never accepted, the least
        needed first; "" where there is none.
        """
        caching = self.provider.caching
        suspects = [name for name in (*(caching.mark or ())[:1], caching.key) if name]
        if len(self.formats) > 1 or self._unsure(sent):
            suspects.append(FORMAT)
        suspects += ["logprobs", SYSTEM]
        new = [name for name in suspects if name in sent.features and name not in self._answered]
        return new[0] if new else FORMAT if self._unsure(sent) else ""

    def _unsure(self, sent: SentRequest) -> frozenset[str]:
        """Keywords of the schema that many servers refuse, and this one never accepted."""
        return (sent.keywords & LIST_LENGTHS) - self._answered

    # -- giving up --------------------------------------------------------------------------

    def adapt(self, fault: Fault, sent: SentRequest, history: CallHistory) -> bool:
        """Give up the part that the server refused; False where nothing is left to give up.

        Many calls are refused at once: only the first one changes anything, the others just try again.
        """
        if not self._adapt(fault, sent):
            return False
        history.given_up |= {one for one in self._suspected if one.was_in(sent)}
        history.trial |= sent.keywords & self.trial
        return True

    def _adapt(self, fault: Fault, sent: SentRequest) -> bool:
        caching, setting = self.provider.caching, fault.setting
        mark = caching.mark[0] if caching.mark else None
        if setting in (FORMAT, "output_config"):
            return self._step_down(sent)
        if setting == STREAM:
            return self._stream(sent)
        if setting == STREAM_OPTIONS:
            return self._drop(setting, f"refuses {setting}; it is left out from now on")
        if setting == SYSTEM:
            return self._drop(SYSTEM, "takes no system role; that text is put before the user's from now on")
        if setting in ("max_tokens", "max_completion_tokens"):
            return self._limit_refused(fault, sent)
        if setting in ("logprobs", "top_logprobs"):
            return self._drop("logprobs", "refuses logprobs; they are left out from now on")
        if setting in OPTIONAL_KEYWORDS:
            return self._drop(setting, f"refuses {setting} in a schema; it is left out from now on")
        if setting == mark or setting in dict(caching.along):
            return self._drop(mark or setting, f"refuses {mark}; it is left out from now on")
        if setting == caching.key:
            return self._drop(setting, f"refuses {setting}; it is left out from now on")
        if setting == TIER or (setting in sent.body and setting in SAMPLED):
            refused = f"refuses {setting} = {sent.body[setting]}"
            return self._drop(setting, f"{refused}; it is left out from now on")
        return False

    def _step_down(self, sent: SentRequest) -> bool:
        """Ask for less: a schema without the keywords that many servers refuse, then in another form."""
        if sent.form != self.formats[0]:
            return True
        if sent.keywords & (self.dropped | self.trial):
            return True
        if self._unsure(sent):
            self.trial = LIST_LENGTHS
            return True
        return self._next_form("refuses replies as {}")

    def _next_form(self, why: str) -> bool:
        """Ask for a schema in the next form, if there is one. why: the log's clause, with "{}" for the
        current form.
        """
        refused, *rest = self.formats
        if not rest:
            return False
        self.formats, self.trial = tuple(rest), frozenset()
        self._answered -= {FORMAT, *OPTIONAL_KEYWORDS}
        clause = f"{why.format(refused)}; asked for as {rest[0]} from now on"
        self._suspected[GivenUp("form", refused)] = clause
        return True

    def ask_otherwise(self, elsewhere: str, sent: SentRequest, history: CallHistory) -> bool:
        """Ask for the reply in a lesser form, since it is in another field; False where that was tried."""
        if FORMAT not in sent.features or self._elsewhere:
            return False
        changed = sent.form != self.formats[0]
        if changed or self._next_form(f"puts replies that are asked for as {{}} into {elsewhere}"):
            history.given_up |= {one for one in self._suspected if one.was_in(sent)}
            return True
        self._elsewhere = True
        return False

    def _stream(self, sent: SentRequest) -> bool:
        """Ask for streams if the server sends nothing else, and for none if it refuses them."""
        if STREAM in sent.features:
            return self._drop(STREAM, "refuses streams; replies are asked for in one piece from now on")
        if not self.streams:
            self.streams = True
            self._suspected[GivenUp("unstreamed")] = "answers streams alone; they are asked for from now on"
        return True

    def _limit_refused(self, fault: Fault, sent: SentRequest) -> bool:
        """Send the cap on the reply as the server accepts it: lower, under its other name, or not at all."""
        setting, most = fault.setting, limit_in_error(fault.words)
        if most is not None and sent.limit is not None and most < sent.limit:
            if self.longest_reply is None or most < self.longest_reply:
                self.longest_reply = most
                clause = f"takes at most {most:,} tokens of reply; that is sent from now on"
                self._suspected[GivenUp("longer", above=most)] = clause
            return True
        if self.has_limit:
            return False
        if self.limit[:1] == (setting,):
            self.limit = self.limit[1:]
            instead = f"{self.limit[0]} is sent instead" if self.limit else "it is left out"
            self._suspected[GivenUp("limit", setting)] = f"refuses {setting}; {instead} from now on"
        return True

    def _drop(self, name: str, what: str) -> bool:
        """Leave a feature out from now on. what: the log's clause, for when a request without it is
        answered.
        """
        if name not in self.dropped:
            self.dropped.add(name)
            self._suspected[GivenUp("feature", name)] = what
        return True
