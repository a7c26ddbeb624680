"""A chat model behind a server: it sends requests, reads responses and handles faults.

It knows its dialect, the provider's row and what a server may refuse. It may not know the game: it reads
words, and the agent judges the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple

from annotated_types import Gt

from ...errors import ModelError, ServerError
from ...fields import Amount
from ...text.replies.finish import Finish, FinishReason, no_fit
from ...usage import Usage
from ..base import SAMPLED, Request, Response, Sampling, WordSettings, seed_of_call
from ..budget import BATCH, Price
from ..calls import open_call
from ..estimates import UNCOUNTED, estimate_texts, tokens, too_few
from .chat_completions import CHAT_COMPLETIONS
from .dialect import (
    FORMAT,
    STREAM,
    STREAM_OPTIONS,
    SYSTEM,
    TIER,
    ChatMessages,
    ChatRequest,
    Dialect,
    ServerAnswer,
    TokenCounts,
    decoded,
    ends_without_system,
    optional_keywords,
    without_keywords,
)
from .endpoints import Connection
from .faults import Fault, of_status
from .http import HttpReply, HttpRequest, NoReply
from .keys import public_url, refused_key
from .messages import MESSAGES
from .providers import DialectName, Provider
from .quirks import CallHistory, Quirks, SentRequest
from .served import (
    HEALTH_CHECK,
    LONGER,
    NO_SIZE,
    AttemptInfo,
    CallSize,
    Failed,
    HttpAnswer,
    Served,
    ServerSettings,
    masked_fault,
)

DIALECTS: Mapping[DialectName, Dialect] = {"chat-completions": CHAT_COMPLETIONS, "messages": MESSAGES}

FLEX_TIMEOUT = 900.0
"""Minimum seconds for one attempt in a named tier: cheaper tiers are slow."""
LONGEST_TEXT = 2**20
"""Maximum characters of a reply: no model writes so many, and other players wait while it is read."""
_NO_REPLY = "an answer without choices, which holds no reply"
_LONG, _CUT = 1500, 0.5
"""Estimated tokens of a long prompt, and the minimum share of them that a server has to count."""
_CUT_WORDS = (
    "counted less than half of a prompt's tokens: it may cut prompts without a word; give it a larger window "
    "(Ollama: OLLAMA_CONTEXT_LENGTH), and name that here as context"
)
_TOO_FEW = "counted fewer tokens than a text can have; they are estimated, one for every 4 bytes"
_REFUSABLE = frozenset((*SAMPLED, TIER, "logprobs", "top_logprobs", STREAM_OPTIONS)) - {"max_tokens"}
"""Fields of a body that a server may refuse and that can be left out."""
HELLO = ({"role": "user", "content": "Reply with the word OK."},)
"""The messages of a health check."""
_LONGEST_NAME = 300
"""Maximum characters of a model's name; longer entries of a server's list are ignored."""
_SHORT_TIMEOUT = 60.0
"""Seconds within which a working server answers a health check."""


@dataclass(frozen=True, slots=True)
class HttpSettings(WordSettings, ServerSettings):
    """The settings of a model behind HTTP. Raises ModelError, naming the setting.

    context: the model's window in tokens; a longer prompt is an unusable reply, not a call.
    max_tokens_after_timeout: of the reply, in attempts after one that timed out. stream: ask for replies as
    streams; None: only where the server takes nothing else. cache: tell the server which prompts begin alike,
    where it has a field for that. tier: the server's name of a service tier, such as "flex", which is cheaper
    and slower. tier_wait: seconds for which a call waits for that tier; then it takes the usual one.
    """

    max_tokens_after_timeout: Annotated[int, Gt(0)] | None = None
    stream: bool | None = None
    cache: bool = True
    tier: str | None = None
    tier_wait: Amount = 900.0


class _Call(NamedTuple):
    """The parts of a request, the same for all its attempts.

    sampled: settings by name. shape: the reply's JSON schema. ends: see `Chat.shared`. game: an id that the
    requests of one game share; "": none.
    """

    messages: ChatMessages
    sampled: Mapping[str, Any]
    shape: dict[str, Any] | None = None
    top_logprobs: int | None = None
    ends: tuple[int, ...] = ()
    game: str = ""
    size: CallSize = NO_SIZE


class BatchedCall(NamedTuple):
    """A request for a vendor's batch. sent: with its body. most: what it may use at most, at the batch's
    price. limited: something limits its reply.
    """

    call: _Call
    sent: SentRequest
    most: Usage
    limited: bool


class ServerModel(Served[HttpSettings]):
    """One chat model at one endpoint; see `Served`."""

    typed = False

    def __init__(
        self, name: str, model: str, provider: Provider, settings: HttpSettings, **shared: Any
    ) -> None:
        super().__init__(name, model, provider, settings, **shared)
        self.dialect = DIALECTS[provider.dialect]

    @property
    def _quirks(self) -> Quirks:
        return self.endpoint.quirks(self.model, self.provider, self.dialect.longest is not None)

    @property
    def adaptations(self) -> list[str]:
        """The changes that this endpoint forced for this model, and what it does not report: sentences, in
        order.
        """
        return [f"{self.name}: the server {what}" for what in self._quirks.log]

    def describe(self) -> dict[str, Any]:
        """Everything that decides the replies: names and settings. No key, no host, no price."""
        return {
            "kind": self.dialect.kind,
            "name": self.name,
            "provider": self.provider.name,
            "model": self.model,
            **self.settings.given((*SAMPLED, "context", "extra")),
        }

    # -- one request ------------------------------------------------------------------------

    async def generate(self, request: Request) -> Response:
        """Ask the server. See `models.base.Model` for what is raised and what is returned."""
        reply = await self._asked(self._call_of(request), self.settings.tier)
        return reply._replace(prompt=request.words.messages)

    def _call_of(self, request: Request) -> _Call | Response:
        """The parts of a request; or its response, if it is longer than the model's window."""
        chat = request.words
        messages = [{"role": role, "content": text} for role, text in chat.messages]
        sampling = request.sampling
        if sampling.seed is None:
            sampling = replace(sampling, seed=seed_of_call(request.key))
        game = blake2b(request.key.partition("|")[0].encode(), digest_size=16).hexdigest()
        return self._call(messages, sampling, chat.schema, ends=chat.ends, game=game, kind=request.kind)

    def batched(self, request: Request) -> BatchedCall | Response:
        """The request with the body that `generate` would send, but in one piece and in the usual tier.

        Or its response, if it is longer than the model's window.
        """
        call = self._call_of(request)
        if isinstance(call, Response):
            return call._replace(prompt=request.words.messages)
        sent = self._written(call, None, False, whole=True)
        prompt, reply = self._sizes.most(*call.size)
        cost = (self.settings.price or Price()).cost(prompt, reply or 0, written=prompt, tier=BATCH)
        return BatchedCall(call, sent, Usage(prompt, reply or 0, 0, cost), call.size.limit is not None)

    def batch_reply(
        self, request: Request, one: BatchedCall, reply: HttpReply, history: CallHistory
    ) -> Response | Failed:
        """What a vendor's batch answered to a request. Failed: it is to be asked again. Raises as `generate`
        does for an error that no retry can solve. reply: as the server would have sent it to a single
        request.
        """
        connection = self._connection()

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            return self._fault(status, error, headers, one.sent)

        answer = self._answer_in(connection, reply, classify, self.dialect.field, None)
        if isinstance(answer, Fault):
            answer = masked_fault(answer, connection)
        outcome = self._outcome(connection, answer, one.call, one.sent, history, tier=BATCH)
        history.emptied = isinstance(outcome, Failed) and outcome.reason is FinishReason.EMPTY
        if not isinstance(outcome, Failed):
            return outcome._replace(prompt=request.words.messages)
        if not outcome.again:
            self._raise_if_hopeless(outcome.fault)
        return outcome

    async def converse(
        self,
        messages: ChatMessages,
        sampling: Sampling,
        shape: dict[str, Any] | None = None,
        *,
        ends: tuple[int, ...] = (),
        game: str = "",
        kind: str = "",
        retries: int | None = None,
    ) -> Response:
        """The same for messages that are already in words (`retries`: instead of the setting).

        ends, game: shared with other requests; see `_Call`. kind: the kind of call.
        """
        call = self._call(messages, sampling, shape, ends=ends, game=game, kind=kind)
        return await self._asked(call, None if retries is not None else self.settings.tier, retries)

    def _call(
        self,
        messages: ChatMessages,
        sampling: Sampling,
        shape: dict[str, Any] | None,
        *,
        ends: tuple[int, ...],
        game: str,
        kind: str,
    ) -> _Call | Response:
        """See `_call_of`."""
        asked = self.settings.sampled(sampling)
        limit = asked["max_tokens"] or self.dialect.longest
        window, estimated = self.settings.context, estimate_texts(one["content"] for one in messages)
        if window is not None and estimated + (asked["max_tokens"] or 0) > window:
            return Response("", finish=no_fit(f"{window:,} tokens"))
        size = CallSize(estimated, kind, limit)
        return _Call(messages, asked, shape, sampling.top_logprobs, ends, game, size)

    async def _asked(self, asked: _Call | Response, tier: str | None, retries: int | None = None) -> Response:
        """Make a call. tier: for which it waits first."""
        if isinstance(asked, Response):
            return asked
        call, connection, history = asked, self._connection(), CallHistory()

        async def attempt(info: AttemptInfo) -> Response | Failed:
            sent = self._written(call, self.settings.tier if info.graced else None, info.timed_out)
            outcome = await self._attempt(connection, call, sent, info.seconds, history)
            history.emptied = isinstance(outcome, Failed) and outcome.reason is FinishReason.EMPTY
            return outcome

        async def endless(seconds: float) -> Response | None:
            sign = await self._health_check(connection)
            if sign is None:
                return None
            words = f"the reply did not end within {seconds:g} s; give a shorter one"
            return Response("", sign.usage, Finish(FinishReason.TIMED_OUT, words))

        grace = 0.0 if tier is None else self.settings.tier_wait
        return await self._until_over(
            connection,
            attempt,
            call.size,
            retries=retries,
            grace=grace,
            timeout=self._seconds,
            endless=endless,
        )

    @property
    def _seconds(self) -> float:
        """The time limit of a call's first attempt: more than the setting where replies took longer."""
        usual = max(self.settings.timeout, 0.0 if self.settings.tier is None else FLEX_TIMEOUT)
        return float(max(usual, min(2 * self._quirks.seconds, 2**LONGER * self.settings.timeout)))

    async def _health_check(self, connection: Connection) -> Response | None:
        """The answer to a short request, None without one. If there is one, the server works, and only the
        call's reply does not end.
        """
        size = CallSize(estimate_texts(one["content"] for one in HELLO), HEALTH_CHECK, 16)
        call = _Call(HELLO, dict.fromkeys(SAMPLED) | {"max_tokens": 16}, size=size)

        async def attempt(info: AttemptInfo) -> Response | Failed:
            return await self._attempt(
                connection, call, self._written(call, None, False), info.seconds, CallHistory()
            )

        outcome = await self._paid(
            connection, open_call(), attempt, lambda: AttemptInfo(self._short_timeout), size
        )
        return outcome if isinstance(outcome, Response) else None

    @property
    def _short_timeout(self) -> float:
        return float(min(_SHORT_TIMEOUT, self.settings.timeout))

    async def beside(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """The server's answer at an address outside the protocol ("/tokenize").

        None where it has no such address, or refuses the request. Raises as `generate` does.
        """
        connection = self._connection()
        root = self.endpoint.base_url.rstrip("/").removesuffix("/v1")

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            fault = of_status(status, error, headers, sent=())
            none = status in (400, 404, 405, 422, 501)
            return Fault("model", fault.words, status) if none else fault

        async def attempt(info: AttemptInfo) -> HttpAnswer | Failed:
            answer = await self._post(connection, root + path, body, classify, info.seconds)
            if isinstance(answer, Fault):
                return HttpAnswer({}, 0.0) if answer.kind == "model" else Failed(answer)
            return answer

        return (await self._until_over(connection, attempt)).body or None

    async def listed(self) -> tuple[str, ...]:
        """The names of models that the server lists; empty where it has no list, or one that is too long to
        be read.

        Raises ModelError for a refused key and for an address that cannot be used, ServerError where nothing
        answers.
        """
        connection = self._connection()
        url = self._address(connection, self.dialect.models_path)
        request = HttpRequest("GET", url, {**self.dialect.headers, **connection.headers})
        reply = await connection.client.request(request, self._short_timeout)
        at = f"model {self.name!r}"
        if isinstance(reply, NoReply):
            words = connection.secrets.masked_text(reply.words)
            where = public_url(self.endpoint.base_url)
            if reply.lacking == "address":
                raise ModelError(f"{at}: the server at {where} cannot be used: {words}")
            if reply.lacking == "end":
                return ()  # a request to the model itself shows more
            raise ServerError(
                f"{at}: nothing answers at {where}; start the server or correct base_url ({words})"
            )
        if reply.status in (401, 403):
            raise ModelError(f"{self.at()} {refused_key(self.endpoint.variable, reply.status)}")
        page = decoded(connection.secrets.masked(reply.body)) if reply.status == 200 else None
        rows = page.get("data") if isinstance(page, dict) else None
        names = (row.get("id") for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()
        masked = connection.secrets.masked_text
        return tuple(masked(name) for name in names if isinstance(name, str) and len(name) <= _LONGEST_NAME)

    # -- what goes out ----------------------------------------------------------------------

    def _written(self, call: _Call, tier: str | None, timed_out: bool, whole: bool = False) -> SentRequest:
        """The call as a request to this endpoint, without the features that it refused. whole: never as a
        stream.
        """
        quirks, sampled = self._quirks, {}
        extra = dict(self.settings.extra or {})
        for name in ("temperature", "top_p", "seed"):
            if name not in quirks.dropped:
                sampled[name] = call.sampled[name]
        if sampled.get("temperature") == 0 and self.provider.greedy:
            sampled["temperature"] = None
            extra = dict(self.provider.greedy) | extra
        form, shape = quirks.formats[0], call.shape
        keywords = tried = frozenset[str]()
        if shape is not None and form != "text":
            keywords = optional_keywords(shape) if "schema" in form else keywords
            tried = keywords & quirks.trial - quirks.dropped
            left_out = tried | (keywords & quirks.dropped)
            shape = without_keywords(shape, left_out) if left_out else shape
            keywords -= left_out
        limit = self._limit(call, timed_out)
        system = SYSTEM not in quirks.dropped
        wanted = ChatRequest(
            self.model,
            call.messages,
            sampled,
            (quirks.limit[0], limit) if limit is not None and quirks.limit else None,
            form,
            shape,
            None if "logprobs" in quirks.dropped else call.top_logprobs,
            call.ends if system else ends_without_system(call.ends, call.messages),
            self._mark(),
            self.provider.caching.along,
            system,
            self._streams and not whole,
            None if TIER in quirks.dropped else tier,
            extra,
        )
        body = self.dialect.written(wanted)
        if STREAM_OPTIONS in quirks.dropped:
            body.pop(STREAM_OPTIONS, None)
        headers, key = self._key_of_game(call, body)
        features = keywords | key | (body.keys() & _REFUSABLE)
        if wanted.limit is not None:
            features |= {wanted.limit[0]}
        if shape is not None and form != "text":
            features |= {FORMAT}
        if wanted.mark is not None and wanted.ends:
            features |= {wanted.mark[0], *dict(wanted.along)}
        if system and _has_system(call.messages):
            features |= {SYSTEM}
        if wanted.stream:
            features |= {STREAM}
        return SentRequest(
            body, headers, form, None if wanted.limit is None else limit, keywords, tried, features, timed_out
        )

    def _limit(self, call: _Call, timed_out: bool) -> int | None:
        """The cap on the reply's tokens that this server accepts."""
        limit: int | None = call.size.limit
        if timed_out and self.settings.max_tokens_after_timeout is not None:
            limit = min(self.settings.max_tokens_after_timeout, limit or 10**9)
        most = self._quirks.longest_reply
        return limit if limit is None or most is None else min(limit, most)

    @property
    def _streams(self) -> bool:
        if STREAM in self._quirks.dropped:
            return False
        return self._quirks.streams if self.settings.stream is None else self.settings.stream

    def _mark(self) -> tuple[str, Mapping[str, str]] | None:
        mark = self.provider.caching.marks(self.model)
        return None if mark is None or not self.settings.cache or mark[0] in self._quirks.dropped else mark

    def _key_of_game(self, call: _Call, body: dict[str, Any]) -> tuple[dict[str, str], frozenset[str]]:
        """Mark the calls of one game for the server. Returns headers, and the name of the feature."""
        key, headers = self.provider.caching.key, dict[str, str]()
        if not self.settings.cache or not call.game or key is None or key in self._quirks.dropped:
            return headers, frozenset()
        (headers if key.startswith("x-") else body)[key] = call.game
        return headers, frozenset((key,))

    # -- what comes back --------------------------------------------------------------------

    async def _attempt(
        self, connection: Connection, call: _Call, sent: SentRequest, seconds: float, history: CallHistory
    ) -> Response | Failed:
        """One HTTP exchange. All its errors come back as Failed. history: of the call's attempts so far."""

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            return self._fault(status, error, headers, sent)

        answer = await self._post(
            connection,
            self.dialect.path,
            sent.body,
            classify,
            seconds,
            wanted=self.dialect.field,
            dialect=self.dialect,
            headers={**self.dialect.headers, **sent.headers},
        )
        return self._outcome(connection, answer, call, sent, history)

    def _outcome(
        self,
        connection: Connection,
        answer: HttpAnswer | Fault,
        call: _Call,
        sent: SentRequest,
        history: CallHistory,
        tier: str | None = None,
    ) -> Response | Failed:
        """What an answer means. tier: in which it was served; None: as the answer says."""
        spent = None
        if isinstance(answer, HttpAnswer):
            said = self.dialect.read(answer.body)
            if said.error is None:
                masked = connection.secrets.masked_text
                said = said._replace(
                    text=masked(said.text),
                    tier=masked(said.tier) if tier is None else tier,
                    finish=said.finish._replace(words=masked(said.finish.words)),
                    likeliest=tuple((masked(token), value) for token, value in said.likeliest),
                )
                return self._response(said, call, sent, answer.seconds, history)
            if said.counts is not None:
                spent = self._spend(said.counts, call.size, said.tier)
            answer = masked_fault(self._fault(said.error["code"], said.error, {}, sent), connection)
        match answer.kind:
            case "long":
                self._quirks.answered(sent, history)
                return self._too_long(call)
            case "broken":
                self._quirks.answered(sent, history)
                written = TokenCounts(call.size.estimated, tokens(answer.reply))
                return Response(answer.reply, self._spend(written, call.size))
            case "context":
                return Response("", finish=no_fit("the model"))
            case "filter":
                return Response("", finish=Finish(FinishReason.FILTERED))
            case "setting" if self._may_adapt(answer) and self._quirks.adapt(answer, sent, history):
                return Failed(answer, spent, again=True)
        if answer.kind in ("setting", "request"):
            self._quirks.refused_for_good(history)
        reason = FinishReason.TIMED_OUT if answer.timed_out else FinishReason.LOST
        return Failed(answer, spent, reason=reason)

    def _response(
        self, said: ServerAnswer, call: _Call, sent: SentRequest, seconds: float, history: CallHistory
    ) -> Response | Failed:
        counts, finish = said.counts, said.finish
        lost = finish.reason is FinishReason.LOST
        if lost or (said.empty and not (history.emptied and counts)):
            spent = None if counts is None else self._spend(counts, call.size, said.tier)
            words = _NO_REPLY if said.empty else "the server did not bring its reply to an end"
            fault = Fault("retry", words, possibly_paid=spent is None and lost)
            return Failed(fault, spent, reason=FinishReason.EMPTY if said.empty else FinishReason.LOST)
        usage = self._spend(self._counted(said, call), call.size, said.tier)
        if len(said.text) > LONGEST_TEXT:
            words = f"the reply is longer than {LONGEST_TEXT:,} characters"
            said, finish = said._replace(text=""), Finish(FinishReason.UNREAD, words)
        if seconds > self.settings.timeout:
            self._quirks.seconds = max(self._quirks.seconds, seconds)
        complete = finish.reason is FinishReason.ANSWERED
        if complete and said.elsewhere and self._quirks.ask_otherwise(said.elsewhere, sent, history):
            fault = Fault("retry", f"the reply stands in {said.elsewhere}")
            return Failed(fault, usage, again=True, reason=FinishReason.ELSEWHERE)
        self._quirks.answered(sent, history)
        if self.settings.tier is not None and said.tier not in (self.settings.tier, BATCH):
            self._quirks.note(f"served some calls in its usual tier, not in {self.settings.tier}")
        finish = self._finish(said, sent, finish)
        return Response(said.text, usage, finish, seconds, likeliest=said.likeliest, tier=said.tier)

    def _finish(self, said: ServerAnswer, sent: SentRequest, finish: Finish) -> Finish:
        """How the call ended, with the words that belong to the reason."""
        if not said.text.strip():
            if finish.reason is FinishReason.CUT:
                finish = Finish(FinishReason.CUT_THINKING)
            elif finish.reason is FinishReason.ANSWERED:
                finish = Finish(FinishReason.EMPTY)
                if said.elsewhere:
                    words = (
                        f"the reply stands in the field {said.elsewhere}, and nothing in the one for answers"
                    )
                    finish = Finish(FinishReason.ELSEWHERE, words)
                    self._quirks.note(
                        f"puts replies into the field {said.elsewhere}, and nothing into the one for answers"
                    )
        after = self.settings.max_tokens_after_timeout
        if after is not None and sent.timed_out and sent.limit == after and not finish.words:
            finish = finish._replace(
                words=f"asked with at most {after:,} tokens, after an attempt without an end"
            )
        return finish

    def _counted(self, said: ServerAnswer, call: _Call) -> TokenCounts:
        """The tokens of an answer: as the server counted them, or estimated where it did not count or counted
        too few.
        """
        counts, size = said.counts, call.size
        written = f"{said.text}{said.thoughts}"
        if counts is None or (said.text and not counts.completion):
            # A server that does not count must not make a budget endless, neither now nor after a resume.
            self._quirks.note(UNCOUNTED)
            return TokenCounts(size.estimated, tokens(written))
        prompt, completion = counts.prompt, counts.completion
        if too_few(completion, written):
            completion = tokens(written)
        if too_few(prompt, max((one["content"] for one in call.messages), key=len)):
            prompt = size.estimated
        if (prompt, completion) != (counts.prompt, counts.completion):
            self._quirks.note(_TOO_FEW)
        elif size.estimated > _LONG and max(prompt, counts.cached or 0) < _CUT * size.estimated:
            self._quirks.note(_CUT_WORDS)
        if counts.cached is None and call.game:
            self._quirks.note("gave no count of cached prompt tokens with a reply; 0 is counted there")
        return counts._replace(prompt=prompt, completion=completion)

    def _too_long(self, call: _Call) -> Response:
        """The response for a reply that is too long. Its tokens are not known: those that were read are
        counted.
        """
        largest = self.settings.max_reply_bytes
        self._quirks.note(f"sent a reply of more than {largest:,} bytes; its tokens are estimated")
        spent = self._spend(TokenCounts(call.size.estimated, largest // 4), call.size)
        return Response("", spent, Finish(FinishReason.UNREAD, f"the reply is longer than {largest:,} bytes"))

    def _may_adapt(self, fault: Fault) -> bool:
        """Whether the settings allow to change what was refused."""
        return fault.setting != STREAM or self.settings.stream is not False

    def _fault(self, status: int, body: object, headers: Mapping[str, str], sent: SentRequest) -> Fault:
        fault = of_status(
            status,
            body,
            headers,
            sent=sent.features - sent.keywords,
            keywords=sent.keywords,
            filtered=self.provider.filtered,
        )
        if fault.kind == "request" and status in (400, 422) and (suspect := self._quirks.suspect(sent)):
            return replace(fault, kind="setting", setting=suspect)
        return fault


def _has_system(messages: ChatMessages) -> bool:
    return any(message["role"] == "system" for message in messages)
